"""How sure one can be that the privacy loss of one mechanism stays within a level."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.analyses.protocol import Analysis, Answer, Context
from engine.analyses.shared import (
    MECHANISM,
    finite_or_null,
    levels,
    line,
    mechanism_of,
    number,
    reach,
    thesis,
)
from engine.privacy.at_risk import published
from engine.privacy.at_risk.statement import PUBLISHED_FOR, Statement, loss_by_level, state
from engine.views import CurveView, Mark, Text, View

if TYPE_CHECKING:
    from engine.table.table import Table


class AtRisk(Analysis):
    """Published, exact and certified figures side by side; of level, ε and confidence two are given."""

    id = "at_risk"
    published = thesis("chapter 8, theorem 3")
    parameters = (*MECHANISM, number("epsilon"), number("confidence"))

    def run(self, values: Mapping[str, Any], tables: Mapping[str, Table], context: Context) -> Answer:
        given = mechanism_of(values)
        found = state(**given, epsilon=values["epsilon"], confidence=values["confidence"])
        views: list[View] = [self.sentences(self._sentences(found))]
        if found.asked in ("epsilon", "confidence"):
            views.append(self._curve(found, given))
        return Answer(tuple(views), found.to_json())

    def _sentences(self, found: Statement) -> list[Text]:
        asked = found.asked
        own = "scale" if found.epsilon0 is None else "epsilon0"
        level = self.word(f"symbol.{own}", value=finite_or_null(getattr(found, own)))
        named = self.word(f"parameters.mechanism.choices.{found.mechanism.replace('-', '_')}")
        values = {"mechanism": named, "own": level}
        values |= {name: getattr(found, name) for name in ("epsilon", "confidence")}
        lines = [self.word(f"asked_{asked}", **values)]

        def said(value: float | None) -> Text:
            return self.word(f"symbol.{asked}", value=finite_or_null(value))

        if found.mechanism in PUBLISHED_FOR:
            lines.append(self.word("published", value=said(found.published), dimensions=found.dimensions))
        else:
            lines.append(self.word("no_published"))
        lines.append(self.word("exact", value=said(found.exact.one_sided)))
        lines.append(self.word("exact_two_sided", value=said(found.exact.two_sided)))
        if asked == "confidence":
            lines.append(self.word("certified", delta=found.delta, epsilon=found.epsilon))
        else:
            lines.append(self.word("certified_level", delta=found.delta, value=said(found.certified)))
        return lines + [self.word(warning) for warning in found.warnings]

    def _curve(self, found: Statement, given: Mapping[str, Any]) -> CurveView:
        known = {name: given[name] for name in ("mechanism", "epsilon0", "scale", "sensitivity", "answers")}
        loss, own = loss_by_level(**known)
        # Up to just below the level itself, where everything jumps to 1.
        xs = levels(min(np.nextafter(reach(loss), 0), 1e6))
        series = [
            line(self.word("curve.exact"), xs, loss.confidences(xs), "accent"),
            line(self.word("curve.exact_two_sided"), xs, loss.confidences(xs, two_sided=True), "dotted"),
            line(self.word("curve.certified"), xs, 1 - loss.deltas(xs)),
        ]
        if found.mechanism in PUBLISHED_FOR:
            ys = published.confidences(xs, epsilon0=own, dimensions=found.dimensions)
            series.append(line(self.word("curve.published"), xs, ys, "dashed"))
        at = found.epsilon if found.asked == "confidence" else found.exact.one_sided
        sure = found.exact.one_sided if found.asked == "confidence" else found.confidence
        marks: tuple[Mark, ...] = ()
        if at is not None and sure is not None and math.isfinite(at) and at > 0:
            marks = (Mark(at, sure, self.word("curve.asked")),)
        return CurveView(
            self.word("curve.title"),
            self.word("curve.epsilon"),
            self.word("curve.confidence"),
            tuple(series),
            marks,
        )
