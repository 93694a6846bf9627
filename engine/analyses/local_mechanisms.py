"""Local mechanisms side by side: what each tells, counted over cells, and how far its estimates are off."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from engine.analyses.protocol import Analysis, Answer, Context
from engine.methods.parameters import Parameter, ParameterKind
from engine.methods.protocol import Reference
from engine.numbers import finite
from engine.privacy.accuracy import NORMAL_WITHIN
from engine.privacy.channels.choosing import bound
from engine.privacy.channels.specimens import CHOICES, MANY, NUMBERS, PRINTED, TRUTH, Specimen
from engine.views import CurveView, Mark, Series, TableView, View

if TYPE_CHECKING:
    from engine.table.table import Table

FAMILIES = {"choice": CHOICES, "number": NUMBERS, "many": MANY}
STEPS = 16
LEAST, MOST = 0.25, 4.0  # ε of the picture
SIZES = {"choice": (2, 3, 5, 8, 12, 20, 40, 80, 150), "many": (1, 2, 3, 4, 6, 8, 10, 15, 20)}


class LocalMechanisms(Analysis):
    """Every system of the literature by its exact channel and closed-form variance; nothing is drawn."""

    id = "local_mechanisms"
    published = Reference(
        "Wang, Blocki, Li, Jha: Locally differentially private protocols for frequency estimation (2017)",
        "sections 3 and 4",
    )
    parameters = (
        Parameter("question", ParameterKind.CHOICE, default="choice", choices=tuple(FAMILIES)),
        Parameter(
            "answers",
            ParameterKind.INTEGER,
            default=10,
            minimum=2,
            maximum=10_000,
            when=("question", ("choice",)),
        ),
        Parameter(
            "numbers", ParameterKind.INTEGER, default=4, minimum=1, maximum=20, when=("question", ("many",))
        ),
        Parameter("epsilon", ParameterKind.NUMBER, default=1, minimum=Fraction(1, 4), maximum=4),
    )

    def run(self, values: Mapping[str, Any], tables: Mapping[str, Table], context: Context) -> Answer:
        question, epsilon = values["question"], float(values["epsilon"])
        size = int(values["answers"] or values["numbers"] or 1)
        specimens = FAMILIES[question]
        errors = {one.word: one.variance(size, epsilon) for one in specimens}
        least = bound(size, epsilon) / size if question == "choice" else min(errors.values())
        rows = [self._row(one, size, epsilon, errors[one.word] / least) for one in specimens]
        rows.sort(key=lambda row: row[1])
        taken = min((errors[one.word], one.word) for one in specimens if one.taken)
        best = min((error, word) for word, error in errors.items())
        said = {
            "taken": self.word(f"names.{taken[1]}"),
            "best": self.word(f"names.{best[1]}"),
            "more": round(100 * (taken[0] / best[0] - 1), 1),
            "people": math.ceil(taken[0] * (NORMAL_WITHIN / 0.05) ** 2),
        }
        lines = [self.word(f"said.{question}", **said), self.word("told")]
        figures = {
            "audience": "public",
            "question": question,
            "epsilon": epsilon,
            "size": size,
            "variances": errors,
            "told": {one.word: one.told(size, epsilon) for one in specimens},
            "printed": {one.word: finite(one.told(epsilon)) for one in PRINTED},
            "estimated": {one.word: one.estimated and one.estimated(epsilon) for one in PRINTED},
        }
        names = ("mechanism", "variance", "ratio", "epsilon", "bits", "taken")
        headings = tuple(self.word(f"headings.{name}") for name in names)
        table = TableView(self.word("headings.title"), headings, tuple(rows), self.word(f"notes.{question}"))
        views: list[View] = [self.sentences(lines), table, self._over_epsilon(specimens, size, epsilon)]
        if question in SIZES:
            views.append(self._over_sizes(specimens, question, epsilon, size))
        views.append(self._print(epsilon))
        return Answer(tuple(views), figures)

    def _row(self, one: Specimen, size: int, epsilon: float, ratio: float) -> tuple[Any, ...]:
        told = one.told(size, epsilon)
        counted = None if told is None else float(f"{told:.4f}")
        bits = None if one.bits is None else round(one.bits(size, epsilon))
        taken = self.word("yes" if one.taken else "no")
        name = self.word(f"names.{one.word}")
        return name, float(f"{one.variance(size, epsilon):.4g}"), float(f"{ratio:.4g}"), counted, bits, taken

    def _series(self, one: Specimen, xs: list[float], ys: list[float]) -> Series:
        return Series(
            self.word(f"names.{one.word}"), tuple(xs), tuple(ys), "accent" if one.taken else "plain"
        )

    def _over_epsilon(self, specimens: tuple[Specimen, ...], size: int, epsilon: float) -> CurveView:
        xs = [LEAST * (MOST / LEAST) ** (step / STEPS) for step in range(STEPS + 1)]
        lines = tuple(
            self._series(one, xs, [math.log10(one.variance(size, x)) for x in xs]) for one in specimens
        )
        taken = next(one for one in specimens if one.taken)
        mark = Mark(epsilon, math.log10(taken.variance(size, epsilon)), self.word("curve.asked"))
        return self._curve(("over_epsilon", "epsilon"), lines, (mark,))

    def _over_sizes(
        self, specimens: tuple[Specimen, ...], question: str, epsilon: float, size: int
    ) -> CurveView:
        xs = sorted({*SIZES[question], size} if size <= SIZES[question][-1] else {*SIZES[question]})
        lines = tuple(
            self._series(one, [float(x) for x in xs], [math.log10(one.variance(x, epsilon)) for x in xs])
            for one in specimens
        )
        return self._curve((f"over_{question}", question), lines)

    def _curve(
        self, names: tuple[str, str], lines: tuple[Series, ...], marks: tuple[Mark, ...] = ()
    ) -> CurveView:
        title, axis = (self.word(f"curve.{name}") for name in names)
        return CurveView(title, axis, self.word("curve.variance"), lines, marks)

    def _print(self, epsilon: float) -> TableView:
        """Return forms in print that tell more than they state, or estimate something else."""
        rows = []
        for one in PRINTED:
            told = one.told(epsilon)
            counted = self.word("printed.everything") if math.isinf(told) else round(told, 4)
            estimated = None if one.estimated is None else round(one.estimated(epsilon), 4)
            rows.append((self.word(f"names.{one.word}"), epsilon, counted, estimated))
        names = ("form", "stated", "counted", "estimated")
        headings = tuple(self.word(f"printed.{name}", truth=TRUTH) for name in names)
        return TableView(self.word("printed.title"), headings, tuple(rows), self.word("printed.note"))
