"""The privacy loss, measured: neighbours drawn from a population, noise drawn from a mechanism."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.analyses.drawn import LEVEL, MECHANISM, MOST, QUERY, asked_of
from engine.analyses.protocol import PEOPLE, Analysis, Answer, Context, InternalAnswer
from engine.analyses.shared import INTEGER, NUMBER, levels, line, thesis
from engine.methods.parameters import Parameter
from engine.privacy.at_risk.inputs import positive, share, whole
from engine.privacy.direct import MeasuredLosses, direct_losses
from engine.privacy.sampled_sensitivity import Sides, plan_pairs
from engine.risk.sampled_risk import mechanism_named
from engine.views import CurveView, Mark, Series

if TYPE_CHECKING:
    from engine.table.table import Table


class Direct(Analysis):
    """The share of losses within ε, with limits that assume nothing; the reference for every formula."""

    id = "direct"
    published = thesis("chapter 8, definition 6")
    sources = (PEOPLE,)
    parameters = (
        *QUERY,
        MECHANISM,
        Parameter("scale", NUMBER),
        Parameter("epsilon", NUMBER),
        Parameter("records", INTEGER, default=1000),
        Parameter("draws", INTEGER, default=10_000),
        LEVEL,
    )

    def run(self, values: Mapping[str, Any], tables: Mapping[str, Table], context: Context) -> Answer:
        asked = asked_of(values, tables, context.schemas)
        scale = float(positive(values["scale"], name="scale", largest=10**30))
        epsilon = float(positive(values["epsilon"], name="epsilon"))
        level = float(share(values["level"], name="level"))
        losses = direct_losses(
            asked.query,
            asked.population,
            mechanism_named(values["mechanism"], scale),
            draws=whole(values["draws"], name="draws", largest=MOST),
            records=whole(values["records"], name="records", largest=MOST),
            generator=context.chance,
            progress=context.progress,
        )
        one, two = (losses.within(epsilon, level=level, two_sided=sides) for sides in (False, True))
        figures = {
            **asked.about,
            "population": asked.source.value,
            "audience": "internal" if losses.internal else "public",
            "mechanism": values["mechanism"].replace("_", "-"),
            "scale": scale,
            "epsilon": epsilon,
            "records": values["records"],
            "draws": losses.draws,
            "one_sided": asdict(one),
            "two_sided": asdict(two),
        }
        lines = [
            self.word(
                "measured",
                query=figures["query"],
                scale=scale,
                draws=losses.draws,
                epsilon=epsilon,
                share=one.share,
                two_sided=two.share,
                at_least=one.at_least,
                level=level,
            ),
            self.word("stays_inside" if losses.internal else "no_guarantee"),
        ]
        views = self.sentences(lines), self._curve(losses, epsilon, one.share)
        return InternalAnswer(views, figures) if losses.internal else Answer(views, figures)

    def _curve(self, losses: MeasuredLosses, epsilon: float, within: float) -> CurveView:
        kept = losses.losses[np.isfinite(losses.losses)]
        xs = levels(max(2 * epsilon, float(np.abs(kept).max()) if kept.size else 0.0))
        tolerance = plan_pairs(pairs=losses.draws, probability=0.95, sides=Sides.ONE).tolerance
        series: list[Series] = []
        for name, two_sided, style in (("one_sided", False, "accent"), ("two_sided", True, "dotted")):
            shares, band, _ = losses.curve(xs, tolerance=tolerance, two_sided=two_sided)
            series.append(line(self.word(f"curve.{name}"), xs, shares, style))
            if not two_sided:
                series.append(line(self.word("curve.at_least"), xs, band, "dashed"))
        mark = Mark(epsilon, within, self.word("curve.asked"))
        return CurveView(
            self.word("curve.title"),
            self.word("curve.epsilon"),
            self.word("curve.share"),
            tuple(series),
            (mark,),
        )
