"""Steps that give values to other rows: all of them stay in the table, and whose they are changes."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from engine.methods import option
from engine.methods.datasets.masking.step import COLUMN, COLUMNS, Before, MaskingStep, Options, Told, Wrong
from engine.methods.datasets.masking.working import Form, Places, Working
from engine.table.schema import Kind

_COARSE = 65_535
_MOST_SORTED = 1_000


class RankSwap(MaskingStep):
    """Values change places with others of nearly the same rank.

    Notes
    -----
    Moore (1996), with pairs drawn in blocks: ranks are cut into blocks of the declared share of all rows,
    the first one ending at random, and within a block all pairings are equally likely. No value moves by more
    than the share. The order of categories is the declared one; equal values are ranked at random.
    """

    id = "rank_swap"
    keeps_values = True
    fields = (
        COLUMN,
        option.number(name="distance", minimum=Fraction(1, 10**6), maximum=1),
    )

    def wrong(self, options: Options, before: Before) -> Wrong | None:
        name = options["column"]
        ordered = before.columns[name].kind is Kind.ORDINAL and before.declared[name] is not None
        if before.forms[name] is Form.TEXTS and not ordered:
            return Wrong("no_order", {"column": name})
        return None

    def apply(self, working: Working, options: Options) -> Told:
        name = options["column"]
        there = np.flatnonzero(~working.is_missing(name))
        ranked = working.ranked(name)[there]
        numbers = ranked.astype(np.int64) if ranked.dtype.kind == "M" else ranked  # days, counted
        size = min(len(there), max(2, int(options["distance"] * len(there))))
        begin = int(working.chance.integers(0, size)) if size else 0
        order = _in_blocks(numbers, np.arange(begin, len(there), max(1, size)), working.chance)
        partner = np.arange(len(working), dtype=np.int64)
        one, other = _pairs_in_blocks(there[order], begin, size, working.chance)
        partner[one], partner[other] = other, one
        working.take(name, partner)
        return Told(inside={"swapped": _share(2 * len(one), len(working))})


class SwapSimilar(MaskingStep):
    """People drawn at random change values, all the named ones together, with people alike in others.

    Notes
    -----
    Dalenius and Reiss (1982). Who has several rows changes with somebody who has as many, row by row in the
    order of the table, so that what is the same in all rows of a person stays so.
    """

    id = "swap_similar"
    keeps_values = True
    fields = (
        COLUMNS,
        option.columns(name="alike", optional=True),
        option.number(name="rate", minimum=Fraction(1, 10**6), maximum=1),
    )

    def wrong(self, options: Options, before: Before) -> Wrong | None:
        both = set(options["columns"]) & set(options["alike"])
        if both:
            return Wrong("both", {"column": min(both)})
        absent = [name for name in options["alike"] if name not in before.columns]
        return Wrong("not_leaving", {"column": absent[0]}) if absent else None

    def apply(self, working: Working, options: Options) -> Told:
        person = working.people
        order = np.argsort(person, kind="stable")  # rows of a person together
        rows_of = np.bincount(person)
        first = np.concatenate([[0], np.cumsum(rows_of)[:-1]])
        drawn = np.flatnonzero(working.chance.random(len(rows_of)) < float(options["rate"]))
        drawn = drawn[working.chance.permutation(len(drawn))]
        key = rows_of[drawn]
        for name in options["alike"]:
            values = pd.factorize(working.ranked_or_places(name), use_na_sentinel=False)[0]
            key = key * (int(values.max(initial=0)) + 1) + values[order[first[drawn]]]
            key = pd.factorize(key)[0]
        one, other = _pairs_alike(drawn, key)
        partner = np.arange(len(working), dtype=np.int64)
        for step in range(int(rows_of[one].max(initial=0))):
            more = rows_of[one] > step
            left, right = order[first[one[more]] + step], order[first[other[more]] + step]
            partner[left], partner[right] = right, left
        for name in options["columns"]:
            working.take(name, partner)
        return Told(
            inside={
                "swapped": _share(2 * len(one), len(rows_of)),
                "without_partner": _share(len(drawn) - 2 * len(one), len(rows_of)),
            }
        )


class Resample(MaskingStep):
    """Every value of the column is drawn anew from all its values, with replacement.

    Notes
    -----
    All relations to other columns are lost, and the other columns identify as before.
    """

    id = "resample"
    keeps_values = True

    def apply(self, working: Working, options: Options) -> Told:
        if len(working):
            working.take(options["column"], working.chance.integers(0, len(working), len(working)))
        return Told()


def _in_blocks(ranked: npt.NDArray[Any], cuts: Places, chance: np.random.Generator) -> Places:
    """Order rows so that none before a cut has a higher rank than one behind it, equal ones by lot.

    Between two cuts the order is any: pairs are drawn there. So a coarse order of 2^16 steps will do, but for
    the steps with a cut inside, which are sorted; ten times as fast as sorting all.
    """
    if not len(ranked):
        return np.zeros(0, dtype=np.int64)
    low, width = ranked.min(), float(ranked.max()) - float(ranked.min())
    coarse = np.zeros(len(ranked), dtype=np.uint16)
    if 0 < width < np.inf:
        coarse = ((ranked - low) * (_COARSE / width)).astype(np.uint16)
    order = np.argsort(coarse, kind="stable")
    ends = np.concatenate([[0], np.cumsum(np.bincount(coarse, minlength=_COARSE + 1))])
    inside = np.searchsorted(ends, cuts, side="right") - 1
    inside = np.unique(inside[ends[inside] < cuts])
    spans = zip(ends[inside], ends[inside + 1], strict=True)
    for first, last in spans if len(inside) <= _MOST_SORTED else [(0, len(ranked))]:
        part = order[first:last]
        lots = part[chance.permutation(len(part))]  # then a stable sort: equal values are in random order
        order[first:last] = lots[np.argsort(ranked[lots], kind="stable")]
    return order


def _pairs_in_blocks(
    order: Places, begin: int, size: int, chance: np.random.Generator
) -> tuple[Places, Places]:
    """Pair rows at random within blocks of a size; in a block of odd size one row stays alone."""
    if len(order) < 2:
        return order[:0], order[:0]
    blocks = (len(order) - begin) // size
    parts = [order[:begin], order[begin + blocks * size :]]
    pairs = [_halves(chance.permutation(part)[None, :]) for part in parts]
    middle = order[begin : begin + blocks * size].reshape(blocks, size)
    pairs.append(_halves(chance.permuted(middle, axis=1)))
    return np.concatenate([one for one, _ in pairs]), np.concatenate([other for _, other in pairs])


def _halves(blocks: Places) -> tuple[Places, Places]:
    half = blocks.shape[1] // 2
    return blocks[:, :half].reshape(-1), blocks[:, half : 2 * half].reshape(-1)


def _pairs_alike(drawn: Places, key: Places) -> tuple[Places, Places]:
    """Pair those who share a key, in the random order in which they were drawn."""
    order = np.argsort(key, kind="stable")
    sizes = np.bincount(key)
    first = np.concatenate([[0], np.cumsum(sizes)[:-1]]) if len(sizes) else sizes
    within = np.arange(len(key)) - first[key[order]]
    one = np.flatnonzero((within % 2 == 0) & (within + 1 < sizes[key[order]]))
    return drawn[order[one]], drawn[order[one + 1]]


def _share(part: int, whole: int) -> float:
    return round(part / whole, 6) if whole else 0.0
