"""What can be asked at a desk: each kind of question with what is measured for it, and how exactly.

Counts, sums, means and shares are answered from whole numbers with noise that are linear in the rows
(`Query.numbers`), so that answers can be combined (`engine.methods.services.combining`). A quantile is a
choice, and *is it above* a comparison: they stand by themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil, prod
from typing import Any

import numpy as np
import pandas as pd

from engine import arrays, strict_json
from engine.errors import InputRefused
from engine.methods.budget import LARGEST, SMALLEST
from engine.methods.conditions import EVERYBODY, All, Comparison, Condition, parse
from engine.methods.services.grouping import Part, Room, Steps, count_groups
from engine.methods.services.questions import NOWHERE, Axis, Coded, Question, axis_of, digest
from engine.methods.shared.cells import LEFT_OUT, Cells, Extra, LevelAxis, level_problems
from engine.methods.shared.quantity import WIDEST, Grid, grid_of
from engine.methods.shared.rank_accuracy import any_limits
from engine.methods.shared.rank_choices import RankChoice, choices, choose_quantiles
from engine.methods.shared.ratio import GaussianRatioNoise, RatioNoise, ratio_errors
from engine.methods.shared.sensitivity import squared_sum_sensitivity, sum_sensitivity
from engine.once import once
from engine.privacy.accuracy import MOST
from engine.privacy.events import Event, rounded_up
from engine.privacy.fixed_point import grouped_sum
from engine.privacy.gaussian import concentrated_epsilon
from engine.privacy.mechanisms import ConcentratedCounts, LaplaceCounts, PermuteAndFlip
from engine.privacy.mechanisms.permute_and_flip import written_rates
from engine.table.schema import Kind, Schema

ID = "services.private_queries"
MOST_TOGETHER = (1 << 16) - 1
"""Cells that all tables of a plan tell apart together, at most, where they are counted in one pass."""
COUNT, SUM, MEAN, SHARE, QUANTILE, ABOVE, TABLE = (
    "count",
    "sum",
    "mean",
    "share",
    "quantile",
    "above",
    "table",
)
KINDS = (COUNT, SUM, MEAN, SHARE, QUANTILE)
ROWS, PEOPLE = "rows", "people"
MOST_CELLS, MOST_CANDIDATES, MOST_CHOICES = 10_000, 20_000, 500_000
FINEST = 10**6
"""Levels that follow from a margin are whole millionths."""
Integers = arrays.Integers
Floats = arrays.Floats


@dataclass(frozen=True)
class Terms:
    """What holds for all questions of a desk.

    Parameters
    ----------
    schema
        What was declared when it was opened.
    rows
        How many rows of one person count at most: 1 where every row is a unit of its own.
    replace_one
        Whether neighbouring tables exchange a person.
    by_person
        Whether the table says whose a row is.
    delta
        0 at a desk with Laplace noise, where levels add up; otherwise noise is Gaussian, and squares of
        levels do.
    """

    schema: Schema
    rows: int
    replace_one: bool
    by_person: bool
    delta: Fraction = Fraction(0)

    @property
    def is_gaussian(self) -> bool:
        """Whether a δ is there, so that noise is Gaussian."""
        return self.delta > 0

    def takes(self, levels: Iterable[Fraction]) -> Fraction:
        """Return what adds up of levels, however they are chosen: themselves, or their squares, 2ρ."""
        return sum((level**2 if self.is_gaussian else level for level in levels), Fraction(0))

    def together(self, levels: Iterable[Fraction]) -> Fraction:
        """Return the ε of measurements with these levels, at the δ of the desk, rounded up."""
        taken = self.takes(levels)
        if not (self.is_gaussian and taken):
            return taken
        rho = float(rounded_up(float(taken / 2)))
        return rounded_up(concentrated_epsilon(rho=rho, delta=float(self.delta)))

    @property
    def moved(self) -> int:
        """How many rows differ between neighbouring tables, at most."""
        return self.rows * (2 if self.replace_one else 1)


@dataclass(frozen=True)
class Side:
    """One column of a table, cut where its comparisons cut it; cells that they do not tell apart are one."""

    schema: Schema
    column: str
    cuts: tuple[Comparison, ...]

    @once
    def axis(self) -> Axis:
        return axis_of(self.schema, self.column, self.cuts)

    @once
    def classes(self) -> Mapping[tuple[bool, ...], int]:
        """The number of a cell by what its comparisons say of it."""
        return {truths: place for place, truths in enumerate(dict.fromkeys(truths_of(self.axis, self.cuts)))}

    @property
    def size(self) -> int:
        """How many cells there are."""
        return len(self.classes)

    def places(self, axis: Axis) -> Integers:
        """Return which one every cell of an axis is that is cut by these comparisons and others."""
        return np.array([self.classes[truths] for truths in truths_of(axis, self.cuts)], dtype=np.int64)

    def within(self, finer: Side) -> Integers:
        """Return the cell that every cell of a side is in that is cut by these comparisons and others."""
        own = [finer.cuts.index(cut) for cut in self.cuts]
        found = [self.classes[tuple(truths[at] for at in own)] for truths in finer.classes]
        return np.array(found, dtype=np.int64)

    def part(self, rows: Coded) -> Part:
        """Return the column of the rows as it was read, and in which cell that is."""
        codes = self.axis.stored(rows.read(self.column, self.axis.read))
        return Part(codes, self._steps)

    @once
    def _steps(self) -> Steps:
        return Steps(self.places(self.axis)[self.axis.stored_cells], self.size)


def truths_of(axis: Axis, asked: tuple[Comparison, ...]) -> list[tuple[bool, ...]]:
    """Return, for every cell of an axis, which comparisons hold there."""
    taken = [axis.cells(one) for one in asked]
    return [tuple(cell in cells for cells in taken) for cell in range(axis.size)]


@dataclass(frozen=True)
class Query:
    """One question, or one table that is measured for several.

    Parameters
    ----------
    schema
        What was declared when the desk was opened.
    kind
        One of `KINDS`, `ABOVE`, or `TABLE`: counts in every combination of the cells of ``cuts``.
    of
        `ROWS`; `PEOPLE`: people with at least one such row, all of whose rows are looked at.
    where
        The condition as it was written first.
    by
        Columns whose declared values are told apart.
    part
        For a share: the condition whose share among those who fulfil ``where`` is asked.
    value
        For a sum, a mean and a quantile: the column of numbers.
    quantile
        In (0, 1).
    threshold
        For *is it above*.
    cuts
        For a table: its columns, each with the comparisons that cut it, as texts.
    """

    schema: Schema = field(repr=False)
    kind: str = COUNT
    of: str = ROWS
    where: str = ""
    by: tuple[str, ...] = ()
    part: str = ""
    value: str = ""
    quantile: Fraction | None = None
    threshold: int | None = None
    cuts: tuple[tuple[str, tuple[str, ...]], ...] = ()

    # --- meaning ------------------------------------------------------------------------------------

    @once
    def question(self) -> Question:
        """Whom it is about."""
        return Question(parse(self.where), self.schema, self.by)

    @once
    def within(self) -> Question:
        """For a share: those of them who are counted."""
        return Question(All((self.question.condition, parse(self.part))), self.schema, self.by)

    @once
    def sides(self) -> tuple[Side, ...]:
        """The columns of a table."""
        found = []
        for column, texts in self.cuts:
            cuts = tuple(one for text in texts for one in (parse(text),) if isinstance(one, Comparison))
            found.append(Side(self.schema, column, cuts))
        return tuple(found)

    @once
    def key(self) -> str:
        """The fingerprint of the question: the same for every way of writing it."""
        if (self.kind, self.of) == (COUNT, ROWS):
            return self.question.key
        part = self.within.canonical if self.kind == SHARE else ""
        more = [
            self.value,
            str(self.quantile),
            str(self.threshold),
            [list(map(str, one)) for one in self.cuts],
        ]
        return digest([self.kind, self.of, self.question.canonical, sorted(self.by), part, *more])

    @once
    def columns(self) -> tuple[str, ...]:
        """The columns that have a part, in the order of their names."""
        named = {*self.question.columns, *(column for column, _ in self.cuts)}
        named |= set(self.within.columns) if self.kind == SHARE else set()
        return tuple(sorted(named | ({self.value} if self.value else set())))

    @once
    def comparisons(self) -> tuple[Condition, ...]:
        """Every condition that has a part in it."""
        asked = [self.within.condition if self.kind == SHARE else self.question.condition]
        asked += [cut for side in self.sides for cut in side.cuts]
        return (*asked, *((Comparison(self.value, "missing"),) if self.value else ()))

    @once
    def grid(self) -> Grid:
        """The declared grid of the column of numbers."""
        found = grid_of(self.schema.column(self.value), digits=3 if self.kind == QUANTILE else 5)
        if found is None:
            raise InputRefused(f"{ID}.no_bounds", column=self.value)
        return found

    @property
    def step(self) -> Fraction:
        """What one whole step of its numbers is worth."""
        return self.grid.step if self.value else Fraction(1)

    @property
    def reach(self) -> int:
        """The declared range in steps, by which a pair of numbers is divided; 1 for a share."""
        return self.grid.high - self.grid.low if self.value else 1

    @once
    def cells(self) -> Cells:
        """The groups that are told apart, one where there are none."""
        return Cells(tuple(LevelAxis(self.schema.column(name), Extra.SEPARATE) for name in self.by))

    @property
    def groups(self) -> int:
        """How many of them there are."""
        return int(np.prod([side.size for side in self.sides])) if self.kind == TABLE else self.cells.size

    @property
    def is_linear(self) -> bool:
        """Whether its numbers are sums over rows or people, which can be combined with others."""
        return self.kind not in (QUANTILE, ABOVE)

    @property
    def is_pair(self) -> bool:
        """Whether its answer is a ratio A / (A + B) of two of its numbers."""
        return self.kind in (MEAN, SHARE)

    @property
    def size(self) -> int:
        """How many whole numbers are measured for it."""
        return self.groups * (2 if self.is_pair else 1)

    def refuse(self, columns: tuple[str, ...], terms: Terms) -> None:
        """Refuse a question that cannot be answered: by declarations alone.

        Raises
        ------
        InputRefused
            ``services.private_queries.*``, ``table.no_levels``.
        """
        for name in self.columns:
            if name not in columns:
                raise InputRefused(f"{ID}.not_at_desk", column=name[:100], columns=", ".join(columns))
        sides = [self.schema.column(name) for name in self.by]
        for problem in level_problems(sides, parameter="questions"):
            raise InputRefused(problem.code, **problem.values)
        if self.cells.size > MOST_CELLS:
            raise InputRefused(f"{ID}.too_many_cells", cells=self.cells.size, most=MOST_CELLS)
        if NOWHERE in (self.question.canonical, self.within.canonical if self.kind == SHARE else ""):
            raise InputRefused(f"{ID}.nobody")
        if self.kind == SHARE and self.within.canonical == self.question.canonical:
            raise InputRefused(f"{ID}.whole_share")
        if self.of == PEOPLE and (self.by or not terms.by_person):
            raise InputRefused(f"{ID}.{'people_by' if self.by else 'no_people'}")
        if self.value:
            self._refuse_value(terms)

    def _refuse_value(self, terms: Terms) -> None:
        grid, column = self.grid, self.schema.column(self.value)
        if column.kind not in (Kind.INTEGER, Kind.NUMBER):
            raise InputRefused(f"{ID}.no_bounds", column=self.value)
        if terms.moved * max(abs(grid.low), abs(grid.high)) > WIDEST:
            raise InputRefused(f"{ID}.too_wide", column=self.value)
        candidates = grid.high - grid.low + 1
        if self.kind != QUANTILE:
            return
        if self.quantile is None or not 0 < self.quantile < 1 or self.quantile.denominator > 1000:
            raise InputRefused(f"{ID}.not_a_quantile")
        if candidates > MOST_CANDIDATES or candidates * self.cells.size > MOST_CHOICES:
            raise InputRefused(f"{ID}.too_fine", column=self.value, steps=candidates)

    # --- noise --------------------------------------------------------------------------------------

    def sensitivity(self, terms: Terms) -> int:
        """Return the largest L1 distance between its numbers on neighbouring tables, in whole steps.

        Notes
        -----
        A row is in one cell at most; it adds exactly the declared range to the pair of a mean, whatever its
        value, and 1 to the pair of a share. A person has at least one row of some kind or has none, whoever
        else is there: one number moves by 1 at most, also where a person is exchanged.
        """
        if self.of == PEOPLE:
            return 2 if self.kind == SHARE and terms.replace_one else 1
        if self.kind == SUM:
            grid = self.grid
            return sum_sensitivity(
                grid.low, grid.high, rows=terms.rows, replace_one=terms.replace_one, groups=self.groups
            )
        return terms.moved * (self.reach if self.kind == MEAN else 1)

    def squared_sensitivity(self, terms: Terms) -> int:
        """Return the largest squared L2 distance between its numbers on neighbouring tables.

        Notes
        -----
        All rows of a person add to the same number at worst. Where somebody is exchanged, what they took
        and what the other brings are vectors without negative numbers, so that squares of lengths add up.
        """
        if self.kind == SUM:
            grid = self.grid
            return squared_sum_sensitivity(
                grid.low, grid.high, rows=terms.rows, replace_one=terms.replace_one, groups=self.groups
            )
        if self.of == PEOPLE:
            return self.sensitivity(terms)  # by one each
        one = terms.rows * (self.reach if self.kind == MEAN else 1)
        return one**2 * (2 if terms.replace_one and self.size > 1 else 1)

    def noise(self, epsilon: Fraction, terms: Terms) -> LaplaceCounts | ConcentratedCounts:
        """Return the noise of its numbers at a level."""
        if terms.is_gaussian:
            return ConcentratedCounts(self.squared_sensitivity(terms), epsilon, self.step)
        return LaplaceCounts(self.sensitivity(terms), epsilon, self.step)

    def choice(self, epsilon: Fraction, terms: Terms) -> tuple[RankChoice, ...]:
        """Return how a quantile is chosen at a level."""
        assert self.quantile is not None
        asked = (self.quantile,)
        return choices(asked, epsilon, rows=terms.rows, groups=self.cells.size, replace_one=terms.replace_one)

    def event(self, epsilon: Fraction, terms: Terms) -> Event:
        """Return what the accountant counts."""
        if self.kind != QUANTILE:
            return self.noise(epsilon, terms).event
        rates = [rate for root in self.choice(epsilon, terms) for rate in root.rates(parts=1)]
        return PermuteAndFlip(epsilon, written_rates(rates), groups=self.cells.size)

    def rank_limit(self, epsilon: Fraction, terms: Terms) -> int:
        """Return how many rows stand on the wrong side of a chosen value, in 95 of 100 releases at most."""
        candidates, roots = self.grid.high - self.grid.low + 1, self.choice(epsilon, terms)
        return ceil(any_limits(roots, candidates=candidates, parts=1, share=MOST)[0])

    def limit(self, epsilon: Fraction, terms: Terms, *, size: int | None = None) -> float:
        """Return what 95 of 100 answers at a level are within, in the units of the answer.

        Parameters
        ----------
        size
            For a mean or a share: the declared number of those of whom it is taken.
        """
        if self.kind == QUANTILE:
            return self.rank_limit(epsilon, terms)
        noise = self.noise(epsilon, terms)
        if self.is_pair:
            totals, kind = (max(1, size or 1) * self.reach,), ratio_noise(terms)
            return ratio_errors(kind(noise.scale), totals)[0].limit * float(self.reach * self.step)
        return noise.accuracy().limit * float(self.step)

    # --- rows ---------------------------------------------------------------------------------------

    def codes(self, rows: Coded) -> Integers:
        """Return the cell of every row, `LEFT_OUT` for those that are not asked about."""
        flat = np.zeros(len(rows), dtype=np.int64)
        for axis in self.cells.axes:
            flat = flat * len(axis.labels) + rows.read(("by", axis.name), axis.codes)
        if self.question.condition != EVERYBODY:
            flat[~self.question.mask(rows)] = LEFT_OUT
        return flat

    def numbers(self, rows: Coded) -> Integers:
        """Return the exact numbers, shape (size,). For `PEOPLE`, of all rows of everybody."""
        if self.of == PEOPLE:
            return self._people(rows)
        if self.kind == TABLE:
            return Together((self,)).count(rows)[0]
        if self.groups == 1 and not self.value:
            among = self.question.mask(rows)
            both = np.count_nonzero(among & self.within.mask(rows)) if self.kind == SHARE else 0
            whole = np.count_nonzero(among)
            return np.array([both, whole - both] if self.kind == SHARE else [whole], dtype=np.int64)
        codes, count = self.codes(rows), self.groups
        if self.kind == SHARE:
            inside = self.within.mask(rows)
            return np.concatenate([_count(codes, inside, count), _count(codes, ~inside, count)])
        if not self.value:
            return _count(codes, None, count)
        grid = self.grid
        steps, missing = rows.read(("steps", self.value, grid.step), grid.steps)
        codes[missing] = LEFT_OUT
        if self.kind == QUANTILE:
            width = grid.high - grid.low + 1
            return _count(
                np.where(codes < 0, LEFT_OUT, codes * width + steps - grid.low), None, count * width
            )
        if self.kind == SUM:
            return grouped_sum(steps, codes, count)
        above = grouped_sum(np.where(codes < 0, 0, steps - grid.low), codes, count)
        return np.concatenate([above, self.reach * _count(codes, None, count) - above])

    def _people(self, rows: Coded) -> Integers:
        key = self.schema.person_key
        assert key is not None
        people = rows.read(("person", key.name), lambda frame: pd.factorize(frame[key.name])[0])
        among = [arrays.distinct(people[self.question.mask(rows)]).size]
        if self.kind == SHARE:
            inside = arrays.distinct(people[self.within.mask(rows)]).size
            among = [inside, among[0] - inside]
        return np.array(among, dtype=np.int64)

    def chosen(self, counts: Integers, epsilon: Fraction, terms: Terms, noise: Any) -> Integers:
        """Choose the quantile of every group from the counts on its candidates; in steps of the grid."""
        roots, width = self.choice(epsilon, terms), self.grid.high - self.grid.low + 1
        groups = counts.reshape(-1, width)
        found = [choose_quantiles(roots, group, parts=1, noise=noise)[0] for group in groups]
        return np.array(found, dtype=np.int64) + self.grid.low

    # --- JSON ---------------------------------------------------------------------------------------

    def to_json(self) -> dict[str, Any]:
        """Return the question as JSON values; what is not said has its default."""
        tree = {
            "kind": self.kind, "of": self.of, "where": self.where, "by": list(self.by), "part": self.part,
            "value": self.value, "quantile": None if self.quantile is None else str(self.quantile),
            "threshold": self.threshold,
            "cuts": [[column, list(texts)] for column, texts in self.cuts],
        }  # fmt: skip
        kept = ("kind", "of", "where")
        return {name: one for name, one in tree.items() if name in kept or one not in ("", None, [])}

    @staticmethod
    def from_json(value: Any, name: str, schema: Schema) -> Query:
        """Read what `to_json` wrote."""
        may = ("by", "part", "value", "quantile", "threshold", "cuts")
        tree = strict_json.members(value, name, must=("kind", "of", "where"), may=may)
        text = strict_json.text
        level, limit = tree.get("quantile"), tree.get("threshold")
        found = Query(
            schema,
            strict_json.word(tree["kind"], f"{name}.kind", [*KINDS, ABOVE, TABLE]),
            strict_json.word(tree["of"], f"{name}.of", [ROWS, PEOPLE]),
            text(tree["where"], f"{name}.where"),
            strict_json.items(tree.get("by", []), f"{name}.by", text),
            text(tree.get("part", ""), f"{name}.part"),
            text(tree.get("value", ""), f"{name}.value"),
            None if level is None else strict_json.number(level, f"{name}.quantile"),
            None if limit is None else strict_json.whole(limit, f"{name}.threshold"),
            strict_json.items(tree.get("cuts", []), f"{name}.cuts", _cut),
        )
        for condition in (found.where, found.part):
            parse(condition)  # refuses what would be found out only when it is asked
        return found


def _cut(value: Any, name: str) -> tuple[str, tuple[str, ...]]:
    column, texts = value
    return strict_json.text(column, name), strict_json.items(texts, name, strict_json.text)


def _count(codes: Integers, among: Any, size: int) -> Integers:
    kept = codes if among is None else np.where(among, codes, LEFT_OUT)
    kept = kept[kept >= 0] if kept.size and int(kept.min()) < 0 else kept
    return np.bincount(kept, minlength=size).astype(np.int64)


@dataclass(frozen=True)
class Together:
    """Tables about the same rows that are counted in one pass over them.

    Notes
    -----
    Rows are grouped once by what any of the tables tells apart; each table adds up the groups. Tables that
    tell too many apart together are counted one by one. What follows from declarations is worked out once.
    """

    tables: tuple[Query, ...]

    @once
    def joint(self) -> Mapping[str, Side]:
        """Every column, cut where any of the tables cuts it."""
        cuts: dict[str, dict[Comparison, None]] = {}
        for side in (side for one in self.tables for side in one.sides):
            cuts.setdefault(side.column, {}).update(dict.fromkeys(side.cuts))
        return {name: Side(self.tables[0].schema, name, tuple(own)) for name, own in cuts.items()}

    @once
    def shape(self) -> tuple[int, ...]:
        """How many cells each column has."""
        return tuple(side.size for side in self.joint.values())

    @once
    def cells(self) -> tuple[Integers, ...]:
        """The cell of every table that each group is in."""
        found = []
        for one in self.tables:
            cells = np.zeros((1,) * len(self.shape), dtype=np.int64)
            for side in one.sides:
                along = [1] * len(self.shape)
                along[list(self.joint).index(side.column)] = -1
                cells = cells * side.size + side.within(self.joint[side.column]).reshape(along)
            found.append(np.broadcast_to(cells, self.shape).ravel())
        return tuple(found)

    def count(self, rows: Coded) -> list[Integers]:
        """Return the exact numbers of every table."""
        if len(self.tables) > 1 and prod(self.shape) > MOST_TOGETHER:
            return [Together((one,)).count(rows)[0] for one in self.tables]
        room = rows.read("room", lambda frame: Room(len(frame)))
        counts = count_groups([side.part(rows) for side in self.joint.values()], room)
        return [
            np.bincount(cells, weights=counts, minlength=one.size).astype(np.int64)
            for one, cells in zip(self.tables, self.cells, strict=True)
        ]


def query_of(record: Mapping[str, Any], schema: Schema) -> Query:
    """Return what a record of a visit asks."""
    kind = record.get("kind") or COUNT
    return Query(
        schema,
        kind,
        record.get("of") or ROWS,
        record["where"] or "",
        tuple(sorted(record.get("by") or ())),  # so that the same question has the same cells
        (record.get("part") or "") if kind == SHARE else "",
        (record.get("value") or "") if kind in (SUM, MEAN, QUANTILE) else "",
        record.get("quantile") if kind == QUANTILE else None,
        record.get("threshold") if kind == ABOVE else None,
    )


@dataclass(frozen=True)
class Asked:
    """A question of a visit with what is paid for it: nothing where it follows from what is known."""

    query: Query
    epsilon: Fraction
    margin: Fraction | None = None
    size: int | None = None


def ratio_noise(terms: Terms) -> type[RatioNoise]:
    """Return of which kind the noise of means and shares is."""
    return GaussianRatioNoise if terms.is_gaussian else RatioNoise


def level_of(record: Mapping[str, Any], query: Query, terms: Terms, place: int) -> Fraction:
    """Return the level that a new question asks for; ``place`` is its number in the visit.

    Raises
    ------
    InputRefused
        ``services.private_queries.level_or_margin``, ``services.private_queries.size_needed``: a mean or a
        share with a margin, and not said of how many; ``budget.out_of_range``.
    """
    epsilon, margin = record.get("epsilon"), record.get("margin")
    if (epsilon is None) == (margin is None):
        raise InputRefused(f"{ID}.level_or_margin", question=place)
    if epsilon is not None:
        found = Fraction(epsilon)
    else:
        size = record.get("size")
        if query.is_pair and size is None:
            raise InputRefused(f"{ID}.size_needed", question=place)
        assert margin is not None
        found = level_for(Fraction(margin), lambda level: query.limit(level, terms, size=size))
    if found > LARGEST:
        raise InputRefused("budget.out_of_range", minimum=SMALLEST, maximum=LARGEST)
    return found


def level_for(margin: Fraction | int, limit: Callable[[Fraction], float]) -> Fraction:
    """Return the smallest level at which 95 of 100 answers are within a margin, in whole millionths.

    Parameters
    ----------
    margin
        Largest error, in the units of the answer.
    limit
        What 95 of 100 answers at a level are within: the smaller, the larger the level.

    Examples
    --------
    >>> from engine.privacy.accuracy import laplace_error
    >>> level_for(10, lambda level: laplace_error(1 / level, share=MOST))
    Fraction(284349, 1000000)
    """
    wanted = float(margin) * (1 + 1e-12)

    def is_enough(millionths: int) -> bool:
        return limit(Fraction(millionths, FINEST)) <= wanted

    low, high = 0, 1
    while not is_enough(high):
        low, high = high, 2 * high
        if high > LARGEST * FINEST:
            return LARGEST + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return max(Fraction(high, FINEST), SMALLEST)
