"""Rules that must not be found: cells are left out where this costs other rules least."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from math import ceil, floor

import numpy as np
import numpy.typing as npt

from engine.methods.datasets.association_rules import Baskets, Found, Item, Items, Places, Rule, having, rules

_MOST_ROUNDS = 20


@dataclass(frozen=True)
class Thresholds:
    """From when on a rule is found.

    Parameters
    ----------
    support
        Least share of all rows that have all its values.
    confidence
        Least share of those with its first values that have the others.
    longest
        Most values of a rule.
    margin
        How far below a threshold a hidden rule has to be, as a share of it.
    """

    support: float
    confidence: float
    longest: int
    margin: float

    def least_rows(self, total: int) -> int:
        """Return how many rows a rule needs to be found."""
        return max(1, ceil(self.support * total - 1e-9))

    def hides(self, found: Found, total: int) -> bool:
        """Say whether a rule is hidden by the margin."""
        enough = 1 - self.margin
        rare = found.both < max(1.0, self.support * total * enough)
        return rare or found.confidence < self.confidence * enough


@dataclass(frozen=True)
class Hidden:
    """What was left out, and what that did to rules.

    Parameters
    ----------
    codes
        Shape (rows, columns): −1 where a cell was left out.
    before, after
        The rules that are found, with their counts.
    failures
        Sensitive rules that are still found.
    absent
        Sensitive rules that were not found in the first place.
    """

    codes: Places
    before: dict[Rule, Found]
    after: dict[Rule, Found]
    failures: tuple[Rule, ...]
    absent: tuple[Rule, ...]
    lost: tuple[Rule, ...]
    ghosts: tuple[Rule, ...]


def hidden(
    codes: Places, sensitive: Sequence[Rule], limits: Thresholds, *, chance: np.random.Generator
) -> Hidden | None:
    """Leave cells out until no sensitive rule is found.

    Parameters
    ----------
    codes
        Shape (rows, columns): places of values, −1 for none.
    sensitive
        The rules to hide.
    limits
        From when on a rule is found.
    chance
        Draws among rows that are alike.

    Returns
    -------
    Hidden or None
        None where more sets of values are frequent than can be looked at.

    Notes
    -----
    After V. Verykios, A. Elmagarmid, E. Bertino, Y. Saygin and E. Dasseni, "Association rule hiding", 2004,
    with a value left out in place of one removed. For each rule every value is tried: the rows that cost
    other rules least lose it, as many as bring the rule below its support or its confidence, and rows drawn
    by lot are tried as well. A row costs 1/(r + 1) for every rule that it helps and that can lose r more
    rows, and likewise for every set of values that is no rule yet and becomes one when more rows lose the
    value. What changes the fewest other rules is taken; nothing says that there is no better one.
    """
    first = Baskets(codes)
    counts = first.frequent(limits.least_rows(first.total), limits.longest)
    if counts is None:
        return None
    before = rules(counts, limits.confidence)
    near = rules(counts, 0.0)  # of the same sets, also those that do not hold often enough
    codes = codes.copy()
    for _ in range(_MOST_ROUNDS):  # what hides one rule can make another one more certain
        open_ones = [rule for rule in sensitive if not limits.hides(Baskets(codes).found(rule), len(codes))]
        if not open_ones:
            break
        for rule in open_ones:
            others = [one for one in near if one not in sensitive]
            _hide(codes, rule, others, limits, chance, before=before, ignored=sensitive)
    last = Baskets(codes)
    left = last.frequent(limits.least_rows(last.total), limits.longest) or {}
    after = rules(left, limits.confidence)
    return Hidden(
        codes,
        before,
        after,
        failures=tuple(rule for rule in sensitive if not limits.hides(last.found(rule), len(codes))),
        absent=tuple(rule for rule in sensitive if limits.hides(first.found(rule), len(codes))),
        lost=tuple(rule for rule in before if rule not in after and rule not in sensitive),
        ghosts=tuple(rule for rule in after if rule not in before and rule not in sensitive),
    )


def _hide(
    codes: Places,
    rule: Rule,
    others: Sequence[Rule],
    limits: Thresholds,
    chance: np.random.Generator,
    *,
    before: Collection[Rule],
    ignored: Collection[Rule],
) -> None:
    """Leave one value of a rule out of as few rows as hide it, where that costs other rules least."""
    baskets = Baskets(codes)
    found = baskets.found(rule)
    if limits.hides(found, len(codes)):
        return
    combos = np.flatnonzero(baskets.having(rule.both))
    best: tuple[int, int] | None = None
    chosen = codes
    for column, value in sorted(rule.both):
        needed = _needed(found, limits, len(codes), first=(column, value) in rule.when)
        costs = _costs(baskets, combos, (column, value), others, limits)
        lots = chance.random(len(combos))
        for order in (np.lexsort((lots, costs)), np.argsort(lots)):  # what is cheap one by one, and by lot
            rows = np.diff(np.minimum(np.cumsum(baskets.rows[combos[order]]), needed), prepend=0)
            tried = _without(codes, column, baskets.codes[combos[order]], rows, chance)
            effect = (_changed(tried, before, ignored, limits), needed)
            if best is None or effect < best:
                best, chosen = effect, tried
    codes[:] = chosen


def _without(codes: Places, column: int, combos: Places, rows: Places, chance: np.random.Generator) -> Places:
    """Leave a column out of some rows of each combination."""
    tried = codes.copy()
    for combo, number in zip(combos, rows, strict=True):
        if number:
            alike = np.flatnonzero((codes == combo).all(axis=1))
            tried[chance.permutation(alike)[:number], column] = -1
    return tried


def _changed(codes: Places, before: Collection[Rule], ignored: Collection[Rule], limits: Thresholds) -> int:
    """Count the rules that come or go."""
    baskets = Baskets(codes)
    counts = baskets.frequent(limits.least_rows(baskets.total), limits.longest) or {}
    return len((set(before) ^ set(rules(counts, limits.confidence))) - set(ignored))


def _needed(found: Found, limits: Thresholds, total: int, *, first: bool) -> int:
    """Return how many rows have to lose a value of a rule; ``first``: it is one that the rule begins with."""
    enough = 1 - limits.margin
    for_support = found.both - ceil(max(1.0, limits.support * total * enough) - 1e-9) + 1
    limit = limits.confidence * enough
    if not first:  # (n − k) / m < c
        for_confidence = found.both - ceil(limit * found.when - 1e-9) + 1
    elif limit < 1:  # (n − k) / (m − k) < c
        for_confidence = floor((found.both - limit * found.when) / (1 - limit) + 1e-9) + 1
    else:
        for_confidence = found.both
    return max(1, min(for_support, for_confidence, found.both))


def _costs(
    baskets: Baskets, combos: Places, item: Item, others: Sequence[Rule], limits: Thresholds
) -> npt.NDArray[np.float64]:
    """Return what other rules lose when a row of each combination loses a value."""
    costs = np.zeros(len(combos))
    least = limits.least_rows(baskets.total)
    rows = baskets.codes[combos]
    counted: dict[Items, int] = {}

    def count(items: Items) -> int:
        if items not in counted:
            counted[items] = baskets.count(items)
        return counted[items]

    for rule in others:
        if item not in rule.both:
            continue
        found = Found(count(rule.both), count(rule.when))
        if found.both < least:
            continue
        helps = having(rows, rule.both)
        if found.confidence >= limits.confidence:
            left = min(found.both - least, floor(found.both - limits.confidence * found.when + 1e-9))
            costs += helps / (max(0, left) + 1)
        elif item in rule.when:  # fewer rows to begin with make it more certain
            missing = ceil(found.when - found.both / limits.confidence - 1e-9)
            costs += (having(rows, rule.when) & ~helps) / (max(1, missing) + 1)
    return costs
