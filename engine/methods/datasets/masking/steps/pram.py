"""Post-randomisation (PRAM): values of a column are changed at random by a matrix that the recipient gets."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from engine.methods import option
from engine.methods.datasets.masking.estimators import Floats, counts_before
from engine.methods.datasets.masking.step import (
    COLUMN,
    WORDS,
    Before,
    MaskingStep,
    Options,
    Told,
    Values,
    Wrong,
)
from engine.methods.datasets.masking.working import Form, Places, Texts, Working
from engine.texts import plainly
from engine.views import TableView, Text

MOST_VALUES = 500


class Pram(MaskingStep):
    """Every value stays with a declared probability and otherwise becomes one of the other declared values.

    Notes
    -----
    Gouweleeuw, Kooiman, Willenborg and de Wolf (1998). The invariant form is drawn by R = P · Q with
    Q_kl = P_lk t_l / Σ_m P_mk t_m, t the true counts: t R = t, so that released counts are right on average
    as they are. R then tells the true shares of the values, as released counts nearly do.
    """

    id = "pram"
    keeps_values = True
    fields = (
        COLUMN,
        option.number(name="stay", minimum=Fraction(1, 1000), maximum=Fraction(999, 1000)),
        option.boolean(name="invariant", default=False),
    )
    leaves = Form.TEXTS

    def wrong(self, options: Options, before: Before) -> Wrong | None:
        name = options["column"]
        values = before.declared[name]
        if values is None or len(values) < 2:
            return Wrong("no_values", {"column": name})
        if len(values) > MOST_VALUES:
            return Wrong("many_values", {"column": name, "count": len(values), "most": MOST_VALUES})
        if options["stay"] * len(values) <= 1:
            return Wrong("stay", {"column": name, "count": len(values)})
        return None

    def apply(self, working: Working, options: Options) -> Told:
        name = options["column"]
        values = working.declared[name] or ()
        held = working.texts(name)
        place = {value: at for at, value in enumerate(values)}
        # What was not declared has no row in the matrix, and must not stay exact
        known = np.array([*(place.get(value, -1) for value in held.values), -1], dtype=np.int64)[held.places]
        matrix = staying(len(values), float(options["stay"]))
        true = np.bincount(known[known >= 0], minlength=len(values)).astype(np.float64)
        drawn_by = invariant(matrix, true) if options["invariant"] else matrix
        released = _change(working, name, known, drawn_by)
        working.set(name, Texts(values, released))
        counts = np.bincount(released[released >= 0], minlength=len(values)).astype(np.float64)
        if options["invariant"]:
            estimate, error = counts_before(counts, np.eye(len(values)), drawn_by=drawn_by)
        else:
            estimate, error = counts_before(counts, matrix)
        public = {
            "values": list(values),
            "matrix": [[float(f"{cell:.12g}") for cell in row] for row in drawn_by],
            "counts_before": [round(float(one), 3) for one in estimate],
            "standard_errors": [round(float(one), 3) for one in error],
        }
        level = None
        if not options["invariant"]:  # whose matrix is read off the rows
            level = {"epsilon": plainly(epsilon_of(matrix), up=True), "factor": central_factor(matrix, error)}
            public |= level
        undeclared = np.count_nonzero((held.places >= 0) & (known < 0))
        inside = {"undeclared": round(undeclared / (len(known) or 1), 6)}
        done = _really_stayed(drawn_by, true) if options["invariant"] else None
        return Told(public, (_view(name, values, counts, estimate, error, level),), inside, done)


def staying(values: int, stay: float) -> Floats:
    """Return the matrix of values that stay with one probability and else become any other alike."""
    matrix = np.full((values, values), (1 - stay) / (values - 1))
    np.fill_diagonal(matrix, stay)
    return matrix


def invariant(matrix: Floats, counts: Floats) -> Floats:
    """Return the matrix R = P · Q that leaves counts as they are on average.

    Examples
    --------
    >>> counts = np.array([30.0, 10.0])
    >>> (counts @ invariant(staying(2, 0.8), counts)).round(9).tolist()
    [30.0, 10.0]
    """
    both = matrix * counts[:, None]  # P_lk t_l, row l
    columns = both.sum(axis=0)
    back = np.divide(both.T, columns[:, None], out=np.eye(len(counts)), where=columns[:, None] > 0)
    return np.asarray(matrix @ back)


def epsilon_of(matrix: Floats) -> float:
    """Return ε of one declared value that was changed by a matrix, by itself.

    Examples
    --------
    >>> round(epsilon_of(staying(2, 0.75)), 4)
    1.0986
    """
    return float(np.log(matrix.max(axis=0) / matrix.min(axis=0)).max())


def central_factor(matrix: Floats, error: Floats) -> float:
    """Return how many times as exact counts with central noise would be, at the ε of the matrix.

    Counts of all values, two of which change where one value does, with geometric noise at ε/2 each.
    """
    kept = math.exp(-epsilon_of(matrix) / 2)
    central = math.sqrt(2 * kept) / (1 - kept)
    return plainly(math.sqrt(float((error**2).mean())) / central, digits=2)


def _really_stayed(matrix: Floats, true: Floats) -> Text:
    """Return how probably the values of the column stayed, by the matrix that leaves in the record."""
    held = true > 0
    stayed = np.diag(matrix)[held if held.any() else slice(None)]
    low, high = (round(float(one), 2) for one in (stayed.min(), stayed.max()))
    return Text(f"{WORDS}.done.pram_invariant", {"least": low, "most": high})


def _change(working: Working, name: str, known: Places, matrix: Floats) -> Places:
    """Draw what each value becomes; −1 stays −1."""
    places, count = working.alike(name)
    if places is None:
        return _draw(known, matrix, working.chance)
    first = np.zeros(count, dtype=np.int64)
    first[places] = known
    return _draw(first, matrix, working.chance)[places]


def _draw(known: Places, matrix: Floats, chance: np.random.Generator) -> Places:
    """Draw by a matrix, all rows of one value together."""
    uniform = chance.random(len(known))
    small: npt.NDArray[np.int16] = known.astype(np.int16)
    order = np.argsort(small, kind="stable")  # by counting, as the places are small
    ends = np.cumsum(np.bincount(small + 1, minlength=len(matrix) + 1))
    drawn = np.full(len(known), -1, dtype=np.int64)
    sums = np.cumsum(matrix, axis=1)
    sums[:, -1] = 1.0
    for value, row in enumerate(sums):
        rows = order[ends[value] : ends[value + 1]]
        drawn[rows] = np.searchsorted(row, uniform[rows], side="right")
    return drawn


def _view(
    name: str,
    values: Values,
    counts: Floats,
    estimate: Floats,
    error: Floats,
    level: Mapping[str, float] | None,
) -> TableView:
    rows = tuple(
        (value, int(count), round(float(before), 1), round(float(wide), 1))
        for value, count, before, wide in zip(values, counts, estimate, error, strict=True)
    )
    headings = tuple(Text(f"{WORDS}.views.pram.{one}") for one in ("value", "released", "before", "error"))
    return TableView(
        Text(f"{WORDS}.views.pram.title", {"column": name}),
        headings,
        rows,
        Text(f"{WORDS}.views.pram.{'note' if level is None else 'level'}", level or {}),
    )
