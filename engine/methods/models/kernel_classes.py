"""Which of two values a column has, by votes of similar rows: noisy sums of waves, chosen before any row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from hashlib import shake_256
from math import prod, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from engine import arrays
from engine.methods import option
from engine.methods.budget import NOISE, budget_problems, is_replace_one, noise_notes, takes_gaussian
from engine.methods.filling import Judged
from engine.methods.models.design import bounds_of
from engine.methods.models.held_out import PERCENT, ScoredModel, fit_budget
from engine.methods.models.invented import SPREAD
from engine.methods.models.leaving import make_artefacts, number_views, privacy_text
from engine.methods.models.linear_model import Effect, effects_picture, effects_table
from engine.methods.models.points import PER_SIDE, Points
from engine.methods.models.targets import Target, privacy_told, target_problems
from engine.methods.parameters import Problem
from engine.methods.protocol import (
    MAIN,
    POINTS,
    Context,
    Expected,
    Family,
    Forecast,
    Reads,
    Reference,
    Release,
)
from engine.methods.shared.cells import level_problems
from engine.methods.shared.division import Division, Query, cover_exchange
from engine.methods.shared.promise import cap_notes
from engine.methods.shared.view import view_of
from engine.once import once
from engine.privacy.accuracy import NORMAL_MEDIAN, NORMAL_WITHIN
from engine.privacy.events import Event
from engine.table import coding
from engine.table.schema import Column, Domain, Kind
from engine.views import Text, View

if TYPE_CHECKING:
    from engine.privacy.mechanisms import Integers
    from engine.table.table import Table

ID = "models.kernel_classes"
WORDS = f"methods.{ID}"
FORMAT = "custos.kernel_classes"
VOTES = "votes"
NUMBER, LEVELS = "number", "levels"
WIDTHS = {"narrow": 0.15, "medium": 0.25, "wide": 0.4}
"""How far rows that count as similar are apart: times the root of the number of predictors, in halves of the
declared range."""
APART = 0.5
"""How far a level lies from the middle of all levels, in halves of the range of a number."""
FINE = 1024
"""Steps of a wave."""
TURN = 4096
"""Places of a whole turn."""
PER_TURN = 1024
"""A frequency is so many whole parts of a turn."""
MOST_COORDINATES = 500

Floats = arrays.Floats


@cache
def waves() -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return cosine and sine of every place of a turn, in whole steps."""
    angles = np.arange(TURN) * (2 * np.pi / TURN)
    return tuple(np.rint(FINE * one(angles)).astype(np.int64) for one in (np.cos, np.sin))


def drawn_frequencies(count: int, coordinates: int, width: float) -> npt.NDArray[np.int64]:
    """Return normal frequencies in whole parts of a turn, shape (coordinates, count), the same ever after.

    Notes
    -----
    Public: from the name of the format alone, by Box and Muller. Their waves are the kernel exp(−d²/2h²) of
    rows a distance d apart on average (Rahimi and Recht 2007); of so many waves the mean is a kernel too. The
    first is even: it tells which value is more frequent, and that is what decides where no row is similar.
    """
    size = count * coordinates
    drawn = np.frombuffer(shake_256(FORMAT.encode()).digest(16 * size), dtype=">u8").reshape(2, size)
    first, second = (drawn + 0.5) / 2.0**64
    normal = np.sqrt(-2 * np.log(first)) * np.cos(2 * np.pi * second)
    found = np.rint(normal * PER_TURN / (2 * np.pi * width)).astype(np.int64).reshape(coordinates, count)
    found[:, 0] = 0
    return found


class KernelClasses(ScoredModel):
    """Votes of similar rows, as noisy sums of waves of the coordinates.

    Notes
    -----
    A support vector machine of the hinge loss whose weight C on the loss is 1 at most, with a kernel of
    k(x, x) = 1, needs no solver: no row is classified with a margin of more than 1, so that it is
    (C/n) Σ ± φ(x) (Hall, Rinaldo and Wasserman 2013, section 4, have its sensitivity). Here φ are D pairs of
    waves cos 2πωx, sin 2πωx of frequencies that are drawn before and for everybody, so that the sum is 2D
    numbers and any number of predictions is made from them. Every phase is a whole number and its waves are
    looked up in a table: what a row adds is exact, and the most that it can be is read off the table.

    The noise of a prediction does not hang on D where it is Gaussian; vector noise grows with its root. With
    few waves rows far away still count as similar by about 1/√2D, one way or the other.
    """

    id = ID
    summable = True
    family = Family.MODEL
    promises = ("pure_dp", "approximate_dp")
    held_out = True
    published = Reference(
        "Hall, Rinaldo, Wasserman: Differential privacy for functions and functional data (2013)",
        "section 4, the support vector machine, as noise on the coefficients of waves chosen before",
        "jmlr:v14/hall13a",
    )

    class Options(ScoredModel.Options):
        target: str = option.column(column_kinds=(Kind.CATEGORY, Kind.ORDINAL), needs_domain=True)
        predictors: option.Names = option.columns(
            minimum=1,
            maximum=50,
            column_kinds=(Kind.CATEGORY, Kind.ORDINAL, Kind.INTEGER, Kind.NUMBER),
            needs_domain=True,
        )
        similar: str = option.choice(*WIDTHS, default="medium")
        waves: int = option.integer(default=100, minimum=5, maximum=500)
        noise: str = NOISE
        held_out_percent: int = PERCENT

    options: Options

    # --- declarations ------------------------------------------------------------------------------

    @once
    def further_problems(self) -> list[Problem]:
        found = target_problems(self.request, method=ID)
        listed = [column for column in self.predictors if bounds_of(column) is None]
        found = found or level_problems(listed, parameter="predictors")
        if not found and (size := sum(self.sizes)) > MOST_COORDINATES:
            values = {"coordinates": size, "most": MOST_COORDINATES}
            found = [Problem(f"{ID}.too_many", values, "predictors")]
        return found or budget_problems(self.request, uses_delta=takes_gaussian(self.request))

    @once
    def predictors(self) -> tuple[Column, ...]:
        """Return the columns that are predicted from."""
        return tuple(self.schema.column(name) for name in self.options.predictors)

    @once
    def sizes(self) -> tuple[int, ...]:
        """Return how many coordinates every predictor has."""
        return tuple(1 if bounds_of(one) else len(coding.cells(one)) for one in self.predictors)

    @once
    def frequencies(self) -> tuple[npt.NDArray[np.int64], ...]:
        """Return those of every predictor, shape (coordinates, waves), in whole parts of a turn."""
        width = WIDTHS[self.options.similar] * sqrt(len(self.predictors))
        drawn = drawn_frequencies(self.options.waves, sum(self.sizes), width)
        parts = np.split(drawn, np.cumsum(self.sizes)[:-1])
        return tuple(
            part if bounds_of(column) else np.rint(part * APART).astype(np.int64)
            for column, part in zip(self.predictors, parts, strict=True)
        )

    @property
    def sums(self) -> float:
        return 2 * self.options.waves

    @property
    def asks_once(self) -> bool:
        """A score of the model hangs on noisy numbers of the site itself."""
        return not self.scores

    @once
    def division(self) -> Division:
        """Return the noise of the sums, from the most that a row can add."""
        count, rows, budget = self.options.waves, self.request.rows_per_person, fit_budget(self.paid)
        cosine, sine = waves()
        ones, squared = int(np.max(abs(cosine) + abs(sine))), int(np.max(cosine**2 + sine**2))
        together = None if budget.delta else 2 * count
        query = Query(VOTES, count * ones * rows, count * squared * rows**2, 1.0, together=together)
        replaced = is_replace_one(self.request)
        query = cover_exchange(query, replace_one=replaced)
        return Division((query,), budget.epsilon, budget.delta, replaced).borne_out()

    @once
    def fit_events(self) -> Event:
        return self.division.events

    @once
    def votes_of_noise(self) -> float:
        """Return the standard deviation of the noise of a prediction, in votes of one row at its place."""
        return self.division.deviation(VOTES) / (FINE * sqrt(self.options.waves))

    # --- forecast ----------------------------------------------------------------------------------

    @once
    def alike(self) -> float:
        """Return the mean similarity of two invented rows: which share of all rows a prediction rests on."""
        means = []
        for column, own in zip(self.predictors, self.frequencies, strict=True):
            angles = own * (2 * np.pi / PER_TURN)
            declared = angles if bounds_of(column) else angles[: len(coding.levels(column))]
            spread = np.exp(-((declared[0] * SPREAD) ** 2))
            means.append(spread if bounds_of(column) else abs(np.exp(1j * declared).mean(axis=0)) ** 2)
        return float(prod(means)[1:].mean())

    @once
    def forecast(self) -> Forecast:
        label = Text(f"{WORDS}.numbers.share.label")
        errors = []
        for size in self.request.sizes:
            off = 50 * self.votes_of_noise / (max(size, 1) * self.alike)
            errors.append(
                Expected(
                    label,
                    "coefficient",
                    size,
                    min(100.0, NORMAL_MEDIAN * off),
                    min(100.0, NORMAL_WITHIN * off),
                    POINTS,
                )
            )
        errors += self.score_errors
        return Forecast(
            tuple(errors), notes=(*cap_notes(self.request), *noise_notes(self.request, self.sums))
        )

    def judged(self, people: int | None) -> Judged | None:
        if people is None:
            return None
        limit, alike = NORMAL_WITHIN * self.votes_of_noise, people * self.alike
        told = {"people": people, "alike": round(alike), "limit": float(f"{limit:.2g}")}
        return Judged(max(0.0, 1 - limit / max(alike, 1e-9)), Text(f"{WORDS}.judged", told))

    # --- release -----------------------------------------------------------------------------------

    @once
    def needs(self) -> Reads:
        return Reads.ROWS if self.scores else Reads.CODED

    def run(self, tables: Mapping[str, Table], context: Context) -> Release:
        context.progress.step(0.0, "run.reading")
        exact = self.exact(tables[MAIN])
        context.progress.step(0.6, "run.noise")
        noisy = self.division.noisy(VOTES, exact, context.noise)
        context.progress.step(0.9, "run.writing")
        return self._released(self.with_score(self.content(noisy), predict, context))

    def exact(self, table: Table) -> Integers:
        """Return Σ ± cosines, then Σ ± sines, in whole steps, of rows with one of the two values."""
        columns = (*self.predictors, self.schema.column(self.options.target))
        found = np.zeros(2 * self.options.waves, dtype=np.int64)
        for part in view_of(table).parts([column.name for column in columns]):
            for signs, places in self._places(Points.of(part, columns)):
                found += np.concatenate([signs @ own[places] for own in waves()])
        return found

    def _places(self, points: Points) -> Iterator[tuple[Integers, Integers]]:
        """Yield, a block of rows at a time, −1, 1 or 0 by class, and the place of every wave in its turn."""
        numbers = [own[0] for own in self.frequencies if len(own) == 1]
        by_number = np.array(numbers, dtype=np.float64).reshape(-1, self.options.waves)
        by_cell = [own for own in self.frequencies if len(own) > 1]
        signs = np.array([-1, 1], dtype=np.int64)
        for _, rows in points.parts():
            phase = (rows.numbers @ by_number).astype(np.int64)  # whole numbers below 2^53: exact in doubles
            *cells, classes = rows.cells
            for own, codes in zip(by_cell, cells, strict=True):
                phase += PER_SIDE * own[codes]
            yield np.append(signs, [0, 0])[classes], _in_turn(phase)

    def content(self, noisy: Integers) -> dict[str, Any]:
        """Return the model as JSON values: everything that predicts, made from noisy sums alone."""
        predictors = []
        for column, own in zip(self.predictors, self.frequencies, strict=True):
            one: dict[str, Any] = {"name": column.name, "missing": list(column.without_copied().missing)}
            if bounds := bounds_of(column):
                one |= {"kind": NUMBER, "minimum": bounds.low, "maximum": bounds.high}
                one |= {"turns": (own[0] / PER_TURN).tolist()}
            else:
                one |= {"kind": LEVELS, "levels": list(coding.levels(column))}
                one |= {"turns": (own / PER_TURN).tolist()}
            predictors.append(one)
        cosines, sines = np.split(noisy / (FINE * self.options.waves), 2)
        return {
            "format": FORMAT,
            "version": 1,
            "target": Target(self.schema.column(self.options.target)).described,
            "predictors": predictors,
            "cosines": cosines.tolist(),
            "sines": sines.tolist(),
            "noise": {
                "distribution": self.division.word(VOTES),
                "deviation_of_votes": f"{self.votes_of_noise:.6g}",
            },
            "privacy": privacy_told(self.paid),
            "method": {"id": self.id, "version": self.version},
        }

    def _released(self, model: dict[str, Any]) -> Release:
        """Make the artefacts from the model: nothing after this line has seen a row."""
        target, words = model["target"], f"{WORDS}.views"
        shown = self._shown(model)
        named = {"target": target["name"], "first": target["values"][0], "second": target["values"][1]}
        views: tuple[View, ...] = (
            effects_picture(shown, words, Text(f"{words}.axis", {"second": named["second"]})),
            effects_table(shown, words),
            *number_views({"noise": float(f"{self.votes_of_noise:.4g}")}, WORDS),
        )
        card = (
            Text(f"{WORDS}.card.predicts", named),
            Text(f"{WORDS}.card.not_for"),
            privacy_text(self.paid, WORDS),
            Text(f"{WORDS}.card.use"),
        )
        return make_artefacts(
            model, self.request, words=WORDS, predict=predict, promise=self.cost, card=card, views=views
        )

    def _shown(self, model: Mapping[str, Any]) -> list[Effect]:
        """Return the votes at some values of each predictor, the others in the middle or at their first."""
        base = {
            one["name"]: one["levels"][0] if one["kind"] == LEVELS else (one["minimum"] + one["maximum"]) / 2
            for one in model["predictors"]
        }
        found, within = [], NORMAL_WITHIN * self.votes_of_noise
        for one in model["predictors"]:
            at = one.get("levels") or np.linspace(one["minimum"], one["maximum"], 5).tolist()
            for value, own in zip(
                at, votes(model, pd.DataFrame([{**base, one["name"]: value} for value in at])), strict=True
            ):
                label = value if one["kind"] == LEVELS else _place(value)
                found.append(Effect(one["name"], label, float(own), within))
        return found


def _place(value: float) -> Text:
    """Name a value of a number as it is written in tables: 2010, and not 2,010."""
    return Text(f"{WORDS}.views.place", {"value": coding.text_of(float(f"{value:.6g}"))})


def _in_turn(phase: Integers) -> Integers:
    """Return the nearest place of a turn for phases in parts of 1/(`PER_SIDE` · `PER_TURN`)."""
    step = PER_SIDE * PER_TURN // TURN
    return np.asarray((phase + step // 2) // step % TURN)


# --- the model: what predicts ------------------------------------------------------------------------


def votes(model: Mapping[str, Any], frame: pd.DataFrame) -> Floats:
    """Return by how many votes of a row at its place the second value is ahead, shape (n,)."""
    turns = np.zeros((len(frame), len(model["cosines"])))
    for one in model["predictors"]:
        missing, own = tuple(one["missing"]), np.array(one["turns"])
        if one["kind"] == LEVELS:
            domain = Domain(values=tuple(one["levels"]))
            column = Column(one["name"], kind=Kind.CATEGORY, domain=domain, missing=missing)
            turns += own[coding.codes(frame[one["name"]], column)]
            continue
        numbers = coding.numbers(frame[one["name"]], Column(one["name"], kind=Kind.NUMBER, missing=missing))
        middle, half = (one["minimum"] + one["maximum"]) / 2, (one["maximum"] - one["minimum"]) / 2
        scaled = (np.clip(numbers, one["minimum"], one["maximum"]) - middle) / half
        turns += np.outer(np.where(np.isnan(scaled), 0.0, scaled), own)
    angles = 2 * np.pi * turns
    return np.asarray(np.cos(angles) @ model["cosines"] + np.sin(angles) @ model["sines"])


def predict(model: Mapping[str, Any], frame: pd.DataFrame) -> npt.NDArray[Any]:
    """Return which of two values similar rows mostly have, for every row, whatever it holds."""
    return np.array(model["target"]["values"], dtype=object)[(votes(model, frame) > 0).astype(np.int64)]
