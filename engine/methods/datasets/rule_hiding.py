"""Rows in which declared association rules can no longer be found: some cells are left out."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import ceil, floor
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from engine import arrays
from engine.errors import InputRefused
from engine.methods import option
from engine.methods.conditions import All, Comparison, parse, write_condition
from engine.methods.kinds import Changes
from engine.methods.parameters import Problem
from engine.methods.protocol import (
    Context,
    DictionaryEntry,
    Family,
    Inside,
    Method,
    Reference,
    Release,
    Rows,
    Spends,
)
from engine.methods.shared.promise import promise_without_bound
from engine.methods.shared.rows import leaving, written_cells
from engine.methods.trying import Choices, Tried
from engine.once import once
from engine.privacy.promise import Promise
from engine.progress import SILENT, Progress
from engine.table.coding import text_of
from engine.table.schema import Kind
from engine.table.table import Table
from engine.views import TableView, Text

# --- association rules: which values come together often, and one with the other ------------------------

Places = arrays.Integers
Item = tuple[int, int]
"""A column and the place of a value in it."""
Items = frozenset[Item]
MOST_SETS = 20_000


@dataclass(frozen=True)
class Rule:
    """Who has all of ``when`` has all of ``then``, too."""

    when: Items
    then: Items

    @property
    def both(self) -> Items:
        """All its values."""
        return self.when | self.then


@dataclass(frozen=True)
class Found:
    """How many rows have all values of a rule, and how many those that it begins with."""

    both: int
    when: int

    @property
    def confidence(self) -> float:
        """The share of those who have the first values that have the others."""
        return self.both / self.when if self.when else 0.0


class Baskets:
    """The rows of a table as combinations of values, each with its number of rows.

    Parameters
    ----------
    codes
        Shape (rows, columns): places of values, −1 for none.
    """

    def __init__(self, codes: Places) -> None:
        self.codes, self.rows = np.unique(codes, axis=0, return_counts=True)
        self.total = len(codes)

    def having(self, items: Items) -> npt.NDArray[np.bool_]:
        """Return which combinations have all the values."""
        return having(self.codes, items)

    def count(self, items: Items) -> int:
        """Return how many rows have all the values."""
        return int(self.rows[self.having(items)].sum())

    def found(self, rule: Rule) -> Found:
        """Return how often a rule holds."""
        return Found(self.count(rule.both), self.count(rule.when))

    def frequent(self, least: int, longest: int) -> dict[Items, int] | None:
        """Return every set of values that at least so many rows have, with their number.

        Parameters
        ----------
        least
            Rows, at least 1.
        longest
            Values in a set.

        Returns
        -------
        dict or None
            None where there are more than `MOST_SETS`.

        Notes
        -----
        R. Agrawal and R. Srikant, "Fast algorithms for mining association rules", VLDB 1994: a set is
        frequent only if all its parts are.
        """
        masks: dict[Items, npt.NDArray[np.bool_]] = {}
        counts: dict[Items, int] = {}
        for column in range(self.codes.shape[1]):
            own = self.codes[:, column]
            sizes = np.bincount(own + 1, weights=self.rows)[1:]
            for value in np.flatnonzero(sizes >= least).tolist():
                one: Items = frozenset({(column, value)})
                masks[one], counts[one] = own == value, int(sizes[value])
        single, level = dict(masks), dict(masks)
        for _ in range(longest - 1):
            level = self._longer(level, single, counts, least)
            if len(counts) > MOST_SETS:
                return None
        return counts

    def _longer(
        self,
        level: dict[Items, npt.NDArray[np.bool_]],
        single: dict[Items, npt.NDArray[np.bool_]],
        counts: dict[Items, int],
        least: int,
    ) -> dict[Items, npt.NDArray[np.bool_]]:
        longer: dict[Items, npt.NDArray[np.bool_]] = {}
        for items, mask in level.items():
            last = max(items)
            for one, own in single.items():
                (item,) = one
                # Each set is made once, from the part without its last value
                if item[0] <= last[0] or any(items - {part} | one not in counts for part in items):
                    continue
                both = mask & own
                count = int(self.rows[both].sum())
                if count >= least:
                    longer[items | one], counts[items | one] = both, count
                    if len(counts) > MOST_SETS:
                        return longer
        return longer


def having(codes: Places, items: Items) -> npt.NDArray[np.bool_]:
    """Return which rows have all the values."""
    found = np.ones(len(codes), dtype=bool)
    for column, value in items:
        found &= codes[:, column] == value
    return found


def rules(counts: dict[Items, int], confidence: float) -> dict[Rule, Found]:
    """Return the rules of frequent sets that hold with at least a confidence.

    Examples
    --------
    >>> baskets = Baskets(np.array([[0, 0], [0, 0], [0, 1], [1, 1]]))
    >>> found = rules(baskets.frequent(2, 2), 0.9)
    >>> [(sorted(rule.when), sorted(rule.then), one.confidence) for rule, one in found.items()]
    [([(1, 0)], [(0, 0)], 1.0)]
    """
    found = {}
    for items, count in counts.items():
        for rule in splits(items):
            one = Found(count, counts[rule.when])
            if one.confidence >= confidence:
                found[rule] = one
    return found


def splits(items: Items) -> Sequence[Rule]:
    """Return every rule that a set of values can be read as."""
    listed = sorted(items)
    return [
        Rule(frozenset(part), items - frozenset(part))
        for size in range(1, len(listed))
        for part in combinations(listed, size)
    ]


ID = "datasets.rule_hiding"
WORDS = f"methods.{ID}"
MOST_SHOWN = 100
_SHARE: dict[str, Any] = {"minimum": Fraction(1, 1000), "maximum": 1}


class RuleHiding(Method):
    """Association rules that the custodian names are found no more with the declared support and confidence.

    Notes
    -----
    V. Verykios et al. (2004). A rule is hidden for who looks with the declared support and confidence, by
    leaving out cells of rows that support it, where this costs other rules least. Who looks with lower
    thresholds may find it; rows are those of people, and nothing hides a person.
    """

    id = ID
    family = Family.DATASET
    promises = ("rules_hidden",)
    spends = Spends.NOTHING
    rows = Rows.REAL
    changes = (Changes.MASKED,)
    tries = ("columns", "support", "confidence", "longest")
    published = Reference(
        "Verykios, Elmagarmid, Bertino, Saygin, Dasseni: Association rule hiding (2004)",
        "section 4",
        "doi:10.1109/TKDE.2004.1269668",
    )

    class Options(option.Options):
        columns: option.Names = option.columns(
            minimum=2, maximum=50, column_kinds=(Kind.CATEGORY, Kind.ORDINAL, Kind.INTEGER)
        )
        support: Fraction = option.number(**_SHARE)
        confidence: Fraction = option.number(**_SHARE)
        rules: option.Records = option.records(
            option.where(name="when"), option.where(name="then"), minimum=1, maximum=100, inside=True
        )
        longest: int = option.integer(default=3, minimum=2, maximum=5)
        margin: Fraction = option.number(default=0, minimum=0, maximum=Fraction(9, 10))

    options: Options

    @once
    def further_problems(self) -> list[Problem]:
        longest = self.options.longest
        for place, (when, then) in enumerate(_named(self), 1):
            if when is None or then is None:
                return [Problem(f"{ID}.no_values", {"place": place}, "rules")]
            columns = [column for column, _ in (*when, *then)]
            absent = [column for column in columns if column not in self.options.columns]
            if absent:
                return [Problem(f"{ID}.not_leaving", {"place": place, "column": absent[0]}, "rules")]
            if len(set(columns)) < len(columns):
                return [Problem(f"{ID}.column_twice", {"place": place}, "rules")]
            if len(columns) > longest:
                return [Problem(f"{ID}.too_long", {"place": place, "longest": longest}, "rules")]
        return []

    @once
    def cost(self) -> Promise:
        return promise_without_bound(self.request, "rules_hidden")

    def run(self, tables: Mapping[str, Table], context: Context) -> Release:
        rows, names = next(iter(tables.values())).rows(), list(self.options.columns)
        codes, texts = _code([written_cells(rows[name], self.schema.column(name)) for name in names])
        sensitive = [Rule(*one) for one in _place(self, names, texts)]
        context.progress.step(0.2, "datasets.rules")
        assert context.chance is not None  # nothing bounds the loss
        limits = Thresholds(
            float(self.options.support),
            float(self.options.confidence),
            self.options.longest,
            float(self.options.margin),
        )
        found = hidden(codes, sensitive, limits, chance=context.chance)
        if found is None:
            raise InputRefused(f"{ID}.too_many", most=MOST_SETS)
        cells = {
            name: np.array([*texts[place], ""], dtype=object)[found.codes[:, place]]
            for place, name in enumerate(names)
        }
        frame = pd.DataFrame(cells, dtype="str")
        entries = tuple(
            DictionaryEntry(name, Text(f"{WORDS}.done"), str(self.schema.column(name).kind)) for name in names
        )
        inside = _inside(found, codes, _Named(names, texts))
        return Release((leaving("table", frame, entries, context.chance),), self.cost, inside=inside)

    def tried(
        self,
        tables: Mapping[str, Table],
        *,
        chance: np.random.Generator,
        progress: Progress = SILENT,
    ) -> tuple[Tried, ...]:
        rows, names = next(iter(tables.values())).rows(), list(self.options.columns)
        codes, texts = _code([written_cells(rows[name], self.schema.column(name)) for name in names])
        baskets = Baskets(codes)
        confidence, longest = float(self.options.confidence), self.options.longest
        limits = Thresholds(float(self.options.support), confidence, longest, 0.0)
        progress.step(0.2, "datasets.rules")
        counts = baskets.frequent(limits.least_rows(baskets.total), longest)
        if counts is None:
            raise InputRefused(f"{ID}.too_many", most=MOST_SETS)
        given = [_sides(record) for record in self.values.get("rules") or ()]
        return (_choices(rules(counts, confidence), _Named(names, texts), given),)


class _Named:
    """Rules as people read them."""

    def __init__(self, names: Sequence[str], texts: Sequence[Sequence[str]]) -> None:
        self.names, self.texts = names, texts

    def items(self, items: Items) -> str:
        """Return values with their columns."""
        return ", ".join(
            f"{self.names[column]} = {self.texts[column][value]}" for column, value in sorted(items)
        )

    def condition(self, items: Items) -> str:
        """Return values as a condition that they fulfil."""
        parts = tuple(
            Comparison(self.names[column], "in", (self.texts[column][value],))
            for column, value in sorted(items)
        )
        return write_condition(All(parts))

    def rule(self, rule: Rule) -> str:
        """Return a rule in one line."""
        return f"{self.items(rule.when)} → {self.items(rule.then)}"


Named = list[tuple[str, str]]


def _named(design: RuleHiding) -> Iterator[tuple[Named | None, Named | None]]:
    """Give the values of each rule, as column and text; None where a side says something else."""
    for record in design.options.rules:
        yield _values(record["when"]), _values(record["then"])


def _sides(record: Mapping[str, Any]) -> tuple[frozenset[tuple[str, str]], ...]:
    """Return what a rule says, however it is written."""
    return tuple(frozenset(_values(record[side]) or ()) for side in ("when", "then"))


def _choices(found: Mapping[Rule, Found], named: _Named, given: Sequence[Any]) -> Choices:
    """Return rules as lines to be ticked, those with the highest confidence first; what is given is kept."""
    lines = sorted(found.items(), key=lambda one: (-one[1].confidence, -one[1].both, named.rule(one[0])))
    records = [{"when": named.condition(rule.when), "then": named.condition(rule.then)} for rule, _ in lines]
    taken = [given.index(sides) if (sides := _sides(one)) in given else None for one in records]
    shown = [at for at in range(len(lines)) if at < MOST_SHOWN or taken[at] is not None]
    told = [(named.rule(rule), one.both, round(one.confidence, 3)) for rule, one in lines]
    words = f"{WORDS}.views.rules"
    return Choices(
        "rules",
        tuple(Text(f"{words}.{name}") for name in ("rule", "rows", "confidence")),
        tuple(told[at] for at in shown),
        tuple(records[at] for at in shown),
        tuple(taken[at] for at in shown),
        len(lines),
    )


def _values(said: str) -> Named | None:
    try:
        condition = parse(said)
    except InputRefused:
        return None
    parts = condition.parts if isinstance(condition, All) else (condition,)
    found = []
    for part in parts:
        if not isinstance(part, Comparison) or part.operator != "in" or len(part.values) != 1:
            return None
        found.append((part.column, text_of(part.values[0])))
    return found or None


def _code(cells: Sequence[Sequence[str]]) -> tuple[np.ndarray, list[list[str]]]:
    """Return the places of the values of each column, −1 for an empty one, and the values."""
    codes, texts = [], []
    for column in cells:
        found, values = pd.factorize(np.array(["", *column], dtype=object))
        codes.append(found[1:] - 1)
        texts.append([str(value) for value in values[1:]])
    return np.column_stack(codes).astype(np.int64), texts


def _place(design: RuleHiding, names: Sequence[str], texts: list[list[str]]) -> Iterator[tuple[Items, Items]]:
    """Give each rule by places; a value that no row has gets a place of its own, which no row has."""
    places = [{text: place for place, text in enumerate(column)} for column in texts]
    for rule in _named(design):
        sides = []
        for side in rule:
            items = []
            for column, text in side or ():
                at = names.index(column)
                if text not in places[at]:
                    places[at][text] = len(texts[at])
                    texts[at].append(text)
                items.append((at, places[at][text]))
            sides.append(frozenset(items))
        yield sides[0], sides[1]


def _inside(found: Hidden, codes: np.ndarray, named: _Named) -> Inside:
    left_out = int((found.codes != codes).sum())
    figures = {
        "rules_before": len(found.before),
        "rules_after": len(found.after),
        "failures": len(found.failures),
        "absent": len(found.absent),
        "lost": len(found.lost),
        "ghosts": len(found.ghosts),
        "cells_left_out": left_out,
        "share_left_out": round(left_out / codes.size, 6) if codes.size else 0.0,
    }
    words = f"{WORDS}.views"
    rows = tuple((Text(f"{words}.effects.{name}"), value) for name, value in figures.items())
    headings = (Text(f"{words}.effects.figure"), Text(f"{words}.effects.value"))
    effects = TableView(Text(f"{words}.effects.title"), headings, rows, Text(f"{words}.effects.note"))
    return Inside((effects, *_lists(found, named)), figures)


def _lists(found: Hidden, named: _Named) -> Iterator[TableView]:
    """List the rules that were found, by their confidence, and those that were lost or came up."""
    words = f"{WORDS}.views.rules"
    headings = tuple(Text(f"{words}.{name}") for name in ("rule", "rows", "confidence"))
    parts: dict[str, dict[Rule, Found]] = {
        "before": found.before,
        "lost": {rule: found.before[rule] for rule in found.lost},
        "ghosts": {rule: found.after[rule] for rule in found.ghosts},
    }
    for name, listed in parts.items():
        ordered = sorted(
            listed.items(), key=lambda one: (-one[1].confidence, -one[1].both, named.rule(one[0]))
        )
        rows = tuple(
            (named.rule(rule), one.both, round(one.confidence, 3)) for rule, one in ordered[:MOST_SHOWN]
        )
        most = Text(f"{words}.most", {"shown": len(rows), "rows": len(ordered)})
        if rows:
            cut = most if len(ordered) > len(rows) else None
            yield TableView(Text(f"{words}.{name}"), headings, rows, cut)


# --- which cells are left out ----------------------------------------------------------------------------
# Those whose loss costs other rules least.


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
            effect = (_change(tried, before, ignored, limits), needed)
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


def _change(codes: Places, before: Collection[Rule], ignored: Collection[Rule], limits: Thresholds) -> int:
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
