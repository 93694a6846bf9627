"""Features in the place of rows: what they tell of a label, of another to be hidden, and of the rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from engine import arrays
from engine.analyses.disclosure import own_table
from engine.analyses.protocol import Analysis, Answer, Context, InternalAnswer
from engine.analyses.shared import line
from engine.errors import InputRefused
from engine.methods.datasets.features import LABELS, LEAST_ROWS, Coordinates
from engine.methods.parameters import Parameter, ParameterKind
from engine.methods.protocol import MAIN, Reference, Source
from engine.numbers import of_hundred
from engine.risk import features as risk
from engine.table import coding
from engine.table.schema import Kind
from engine.views import Cell, CurveView, TableView, Text

if TYPE_CHECKING:
    from engine.table.table import Table

Floats = arrays.Floats
STRAIGHT, WAVES = "straight", "waves"
DRAWN = 300
"""Random waves of the kernel form."""
MOST_ROWS, MOST_COORDINATES, MOST_COUNTS = 2_000, 500, 6
UTILITY, HIDDEN = "utility", "hidden"


class FeatureCurves(Analysis):
    """Utility, privacy and reconstruction over the number of features, by principal components, DCA and MDR.

    Notes
    -----
    The published curves show how often a support vector machine reads a label rightly. Where one value of a
    label is frequent that says nothing, and a label may be hidden from straight lines alone; so the area
    under the ROC curve and boosted trees stand beside it. Every figure is of rows not learnt from.
    """

    id = "features"
    published = Reference(
        "Chang, Zhuang, Samaraweera: Privacy-preserving machine learning (2023)",
        "section 9.3, with the scatter between classes corrected",
        "isbn:9781617298042",
    )
    sources = (Source(MAIN),)
    parameters = (
        Parameter(
            "columns",
            ParameterKind.COLUMNS,
            minimum=2,
            maximum=200,
            column_kinds=(*LABELS, Kind.INTEGER, Kind.NUMBER),
            needs_domain=True,
        ),
        Parameter(UTILITY, ParameterKind.COLUMN, column_kinds=LABELS, needs_domain=True),
        Parameter(HIDDEN, ParameterKind.COLUMN, column_kinds=LABELS, needs_domain=True),
        Parameter("most", ParameterKind.INTEGER, default=6, minimum=1, maximum=100),
        Parameter("form", ParameterKind.CHOICE, default=STRAIGHT, choices=(STRAIGHT, WAVES)),
        Parameter("ridge", ParameterKind.NUMBER, default="0.02", minimum=0, maximum=100),
        Parameter("beside", ParameterKind.NUMBER, default=0, minimum=-1, maximum=1),
    )

    def run(self, values: Mapping[str, Any], tables: Mapping[str, Table], context: Context) -> Answer:
        table, schema = own_table(tables, context)
        named = (*values["columns"], values[UTILITY], values[HIDDEN])
        if twice := [name for name in named if named.count(name) > 1]:
            raise InputRefused("analyses.features_twice", column=twice[0])
        coordinates = Coordinates(tuple(schema.column(name) for name in values["columns"]))
        size = sum(coordinates.sizes)
        if size > MOST_COORDINATES:
            raise InputRefused("analyses.features_size", coordinates=size, most=MOST_COORDINATES)
        frame = table.rows()
        labels = {
            name: coding.codes(frame[values[name]], schema.column(values[name])) for name in (UTILITY, HIDDEN)
        }
        told = np.ones(len(frame), dtype=bool)
        for name, codes in labels.items():
            told &= codes < len(coding.levels(schema.column(values[name])))
        places = np.flatnonzero(told)
        if len(places) < LEAST_ROWS or any(len(np.unique(codes[places])) < 2 for codes in labels.values()):
            raise InputRefused("analyses.features_few", rows=LEAST_ROWS)
        places = context.chance.permutation(places)[:MOST_ROWS]
        learnt, others = places[: len(places) * 4 // 5], places[len(places) * 4 // 5 :]
        rows = coordinates.of(frame)
        read = _Curves(rows, labels, learnt, others, values, context).found()
        classes = len(np.unique(labels[UTILITY][learnt]))
        guess = {name: of_hundred(risk.most_frequent(codes[others])) for name, codes in labels.items()}
        return self._answer(read, guess, classes, len(others), values)

    def _answer(
        self,
        read: Mapping[str, list[dict[str, Any]]],
        guess: Mapping[str, float],
        classes: int,
        rows: int,
        values: Mapping[str, Any],
    ) -> Answer:
        hides = read[risk.HIDING]
        at = min(classes - 1, hides[-1]["features"])
        shown = max((one for one in hides if one["features"] <= at), key=lambda one: one["features"])
        said = {name: values[name] for name in (UTILITY, HIDDEN)}
        lines = [
            self.word("said", rows=rows, enough=classes - 1, **said),
            self.word(
                "hides",
                features=shown["features"],
                linear=round(shown["hidden_linear_area"], 2),
                boosted=round(shown["hidden_boosted_area"], 2),
                **said,
            ),
            self.word("guess", guess=guess[HIDDEN], **said),
            self.word("no_guarantee"),
            Text("risk.lines.stays"),
        ]
        curves = [
            self._curve(read, UTILITY, "right", guess[UTILITY]),
            self._curve(read, HIDDEN, "right", guess[HIDDEN]),
            self._curve(read, HIDDEN, "area", 0.5),
            self._rebuilt(read),
        ]
        figures = {"audience": "internal", "curves": read, "guess": dict(guess), "rows": rows}
        return InternalAnswer((self.sentences(lines), *curves, self._table(read)), figures)

    def _curve(
        self, read: Mapping[str, list[dict[str, Any]]], label: str, part: str, guess: float
    ) -> CurveView:
        """Return how well a label is read over the number of features, by each kind and each adversary."""
        counts = [one["features"] for one in read[risk.COMPONENTS]]
        series = [
            line(
                self.word(f"by.{adversary}", kind=self.word(f"kinds.{kind}")),
                counts,
                [one[f"{label}_{adversary}_{part}"] for one in found],
                "plain" if adversary == risk.BOOSTED else "dotted",
            )
            for kind, found in read.items()
            for adversary in risk.ADVERSARIES
        ]
        series.append(line(self.word("guessing"), counts, [guess] * len(counts), "dashed"))
        words = f"curves.{label}_{part}"
        return CurveView(
            self.word(f"{words}.title"), self.word("features"), self.word(f"{words}.axis"), tuple(series)
        )

    def _rebuilt(self, read: Mapping[str, list[dict[str, Any]]]) -> CurveView:
        series = tuple(
            line(
                self.word(f"kinds.{kind}"),
                [one["features"] for one in found],
                [one["rebuilt"] for one in found],
            )
            for kind, found in read.items()
        )
        words = "curves.rebuilt"
        return CurveView(
            self.word(f"{words}.title"), self.word("features"), self.word(f"{words}.axis"), series
        )

    def _table(self, read: Mapping[str, list[dict[str, Any]]]) -> TableView:
        parts = ("right", "area")
        names = [
            f"{label}_{adversary}_{part}"
            for label in (UTILITY, HIDDEN)
            for adversary in risk.ADVERSARIES
            for part in parts
        ]
        names += ["rebuilt", *(["error"] if "error" in read[risk.COMPONENTS][0] else [])]
        rows: list[tuple[Cell, ...]] = [
            (self.word(f"kinds.{kind}"), one["features"], *(float(f"{one[name]:.4g}") for name in names))
            for kind, found in read.items()
            for one in found
        ]
        headings = tuple(self.word(f"headings.{name}") for name in ("kind", "features", *names))
        return TableView(self.word("table"), headings, tuple(rows), self.word("note"))


class _Curves:
    """What is read of features of some rows, by kind and number of features."""

    def __init__(
        self,
        rows: Floats,
        labels: Mapping[str, arrays.Integers],
        learnt: arrays.Integers,
        others: arrays.Integers,
        values: Mapping[str, Any],
        context: Context,
    ) -> None:
        self.rows, self.labels, self.learnt, self.others = rows, labels, learnt, others
        self.values, self.context = values, context
        self.is_straight = values["form"] == STRAIGHT
        form = (lambda some: some) if self.is_straight else risk.waves(rows[learnt], DRAWN, context.chance)
        mean = form(rows[learnt]).mean(axis=0)
        self.known, self.met = form(rows[learnt]) - mean, form(rows[others]) - mean

    def found(self) -> dict[str, list[dict[str, Any]]]:
        """Return the figures of each kind, for each number of features."""
        most = min(self.values["most"], self.known.shape[1])
        counts = np.unique(np.geomspace(1, most, min(most, MOST_COUNTS)).round().astype(int)).tolist()
        read: dict[str, list[dict[str, Any]]] = {}
        for at, kind in enumerate(risk.KINDS):
            along = risk.directions(
                self.known,
                *(self.labels[name][self.learnt] for name in (UTILITY, HIDDEN)),
                kind=kind,
                count=most,
                ridge=float(self.values["ridge"]),
                beside=float(self.values["beside"]),
            )
            read[kind] = []
            for place, count in enumerate(counts):
                self.context.progress.step((at + place / len(counts)) / len(risk.KINDS), "risk.attacking")
                read[kind].append(self._of(along[:count]))
        return read

    def _of(self, along: Floats) -> dict[str, Any]:
        known, met = self.known @ along.T, self.met @ along.T
        told: dict[str, Any] = {"features": len(along)}
        for name, codes in self.labels.items():
            for adversary, one in risk.read_label(known, codes[self.learnt], met, codes[self.others]).items():
                told |= {f"{name}_{adversary}_right": 100 * one.right, f"{name}_{adversary}_area": one.area}
        told["rebuilt"] = 100 * risk.rebuilt(known, self.rows[self.learnt], met, self.rows[self.others])
        if self.is_straight:
            told["error"] = risk.rebuilding_error(self.met, along)
        return told
