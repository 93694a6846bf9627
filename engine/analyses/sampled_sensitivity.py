"""How far an answer moves between drawn neighbours, and what noise scaled to that gives away."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.analyses.drawn import DRAWS, LEVEL, MECHANISM, QUERY, Asked, asked_of, question_of
from engine.analyses.protocol import PEOPLE, Analysis, Answer, Context, InternalAnswer
from engine.analyses.shared import INTEGER, POINTS, finite_or_null, line, number, thesis
from engine.methods.parameters import Parameter
from engine.risk.sampled_risk import Question, SampledRisk, sampled_risk
from engine.views import CurveView, Mark, Text

if TYPE_CHECKING:
    from engine.table.table import Table


class SampledSensitivity(Analysis):
    """Implicit (theorem 4) and with the noise (theorem 5), each as printed and corrected; and measured."""

    id = "sampled_sensitivity"
    published = thesis("chapter 8, theorems 4 and 5")
    sources = (PEOPLE,)
    parameters = (
        *QUERY,
        *DRAWS,
        MECHANISM,
        number("epsilon"),
        number("epsilon0"),
        number("confidence"),
        number("scale", when=("mechanism", ("gaussian",))),
        Parameter("draws", INTEGER, optional=True),
        LEVEL,
    )

    def run(self, values: Mapping[str, Any], tables: Mapping[str, Table], context: Context) -> Answer:
        question = question_of(values)
        return self.answer(asked_of(values, tables, context.schemas), question, context)

    def answer(self, asked: Asked, question: Question, context: Context) -> Answer:
        """Return the answer about any query on any population; internal where it was made from own rows."""
        found = sampled_risk(
            asked.query,
            asked.population,
            question,
            generator=context.chance,
            proved=asked.proved.get(question.norm),
            outputs=asked.outputs,
            progress=context.progress,
        )
        figures = {**asked.about, "population": asked.source.value} | found.to_json()
        views = self.sentences(self._sentences(figures)), self._curve(found)
        return InternalAnswer(views, figures) if asked.source.origin.internal else Answer(views, figures)

    def _sentences(self, figures: Mapping[str, Any]) -> list[Text]:
        implicit, about = figures["implicit"], {name: figures[name] for name in ("query", "pairs", "records")}
        population = self.word(f"populations.{figures['population'].replace('-', '_')}")
        name = "sampled_by" if figures["by"] else "sampled"
        lines = [self.word(name, by=", ".join(figures["by"]), population=population, **about)]
        if figures.get("left_out"):
            lines.append(self.word("left_out", rows=figures["left_out"]))
        lines.append(self.word("quantile", **implicit))
        if implicit["proved"] is not None:
            lines.append(self.word("proved", proved=implicit["proved"], norm=figures["norm"]))
        lines += [
            self.word("implicit_published", **implicit["published"]),
            self.word("implicit_exact", **implicit["exact"]),
            self.word("implicit_order", **implicit["order_statistic"]),
        ]
        return lines + self._with_noise(figures)

    def _with_noise(self, figures: Mapping[str, Any]) -> list[Text]:
        asked = {
            f"asked_{name}": figures[name]
            for name in ("epsilon", "epsilon0", "confidence")
            if name in figures
        }
        lines = []
        for name, found in figures.get("both", {}).items():
            exact = found["exact"]
            lines.append(
                self.word(
                    f"both_{name}",
                    eta=finite_or_null(found["eta"]),
                    published=found["published"]["confidence"],
                    exact=exact["confidence"],
                    two_sided=exact["confidence_two_sided"],
                    probability=exact["probability"],
                    **asked,
                )
            )
        for name, found in figures.get("recalibrated", {}).items():
            levels = {
                "published": found["published"]["epsilon0"],
                "exact": found["exact"]["epsilon0"],
                "two_sided": found["exact"]["epsilon0_two_sided"],
            }
            said = {key: self.word("no_level") if x is None else x for key, x in levels.items()}
            lines.append(self.word(f"recalibrated_{name}", **said, **asked))
        for name, found in figures.get("direct", {}).items():
            one = found["one_sided"]
            measured = {name: one[name] for name in ("share", "at_least", "level")}
            measured |= {name: found[name] for name in ("scale", "draws")}
            lines.append(
                self.word(f"direct_{name}", two_sided=found["two_sided"]["share"], **measured, **asked)
            )
        if "noise" in figures:
            noise = figures["noise"]
            name = "noise_none" if noise["guarantee"] == "none" else "noise_known"
            lines.append(self.word(name, scale=noise["scale"], epsilon=finite_or_null(noise["epsilon"])))
        return [*lines, self.word("stays_inside" if figures["audience"] == "internal" else "no_guarantee")]

    def _curve(self, found: SampledRisk) -> CurveView:
        top = max(float(found.sample.values[-1]), found.proved or 0.0) or 1.0
        xs = np.linspace(0.0, top, POINTS)
        marks = [Mark(found.sensitivity, found.question.quantile, self.word("curve.quantile"))]
        if found.proved:
            marks.append(Mark(found.proved, 1.0, self.word("curve.proved")))
        return CurveView(
            self.word("curve.title"),
            self.word("curve.change"),
            self.word("curve.share"),
            (line(self.word("curve.sampled"), xs, found.sample.distribution(xs), "accent"),),
            tuple(marks),
        )
