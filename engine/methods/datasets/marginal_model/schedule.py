"""How a budget is divided: from public numbers alone, before a row is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from math import ceil, floor, log, prod, sqrt
from statistics import NormalDist

from engine.methods.datasets.marginal_model.junction_tree import Attributes
from engine.methods.shared.margins import MARGINS, smallest_margin
from engine.once import once
from engine.privacy.accuracy import (
    LAPLACE_WITHIN,
    NORMAL_WITHIN,
    Accuracy,
    gaussian_accuracy,
    laplace_accuracy,
)
from engine.privacy.events import Event, Sequential
from engine.privacy.gaussian import concentrated_budget, gaussian_level
from engine.privacy.mechanisms import DiscreteGaussian, DiscreteLaplace, Exponential, root_above

FEWEST_FOR_PAIRS = 30
"""Rows for each standard deviation of a pair's noise below which only single columns are measured."""
FEW_FOR_PAIRS = 100
"""Rows for each standard deviation of a pair's noise below which measuring pairs gains little."""
SELECTION = Fraction(3, 50)
"""Share of what is left after single columns that choosing pairs costs.

45,000 rows of 14 columns, a tenth in brackets: ε = 1/5 pairs off by .0478 (.0485), without δ and ε = 1 .0298
(.0305); 5,000 rows .0483 (.0481), where one run differs from the next by .002.
"""
CODES = Fraction(1, 4)
"""What the table of all codes of one column costs, as a part of what everything else costs.

Adult with 10,000 codes in 150 groups, ε = 1: rows in a wrong code .316, .290, .261, .239 for 1/16, 1/8, 1/4
and 1/2, pairs of the 14 others off by .0227, .0235, .0237, .0253.
"""
FREQUENT, MOST_FOR_FREQUENT = Fraction(1, 40), Fraction(1, 8)
"""What the table of all values of one column costs, as CODES, and what all such tables cost at most.

Adult by its bounds alone, ε = 1: pairs off by .0283 with 1/40, .0289 with 1/20, and .3147 without.
"""
ROWS_PER_CELL, ROWS_PER_CELL_GAUSSIAN = 4, 2
"""Rows for each standard deviation of a pair's noise and each of its cells, below which few pairs are chosen.

Below given columns, where every drawn one needs some. 20,000 people, 34,000 records and 77,000 details of an
invented hospital, without δ, wards beside the next one and codes beside wards off by, with one pair a column
and one more (two a column): ε = 1 .14, .16 (.21, .16), ε = 4 .08, .06 (.09, .06).
"""
ALL_SINGLE = 0.15
"""Share of the budget for single columns where every pair is measured: they only say which cells are rare."""
PRECISION = 2**20
LEAST_COMPOSED = Fraction(1, 10**12)
"""δ from which composition rounds off nothing that matters."""


@dataclass(frozen=True)
class Schedule:
    """Which noise everything gets.

    Parameters
    ----------
    sizes
        Cells of every column.
    epsilon, delta
        Of the whole release; δ = 0 for noise of the Laplace kind.
    moved
        Largest number of rows by which neighbouring tables differ, in one cell or in several.
    squared
        Largest squared distance between tables of counts of neighbouring tables.
    about_rows
        Roughly how many rows there are; public.
    named
        Tables that are measured beside the single columns; then none is chosen. None where pairs are chosen.
    codes
        How many columns are counted once more by all of their codes; `sizes` holds the groups of these.
    margin
        How far below μ of one continuous normal noise all of it together stays; see `borne_out`. None: ρ
        alone bounds it, which always holds.
    frequent
        How many columns are counted by all of their values too, before everything else.
    most_sizes
        Cells by which the budget of single columns is divided where `sizes` were found with noise; else None.
    has_target
        Whether what is to be predicted was declared: its pairs are measured first, and no choice is paid.
    share
        Part of the budget that is spent here, of ρ for Gaussian noise: several models may share one.
    given
        How many of the first columns are known when rows are drawn, and are not measured: only the others
        are, and pairs with one of these.
    firsts
        Pairs that are measured first, by declarations alone: no choice is paid for them.
    each_once
        Whether no more pairs are counted than there are: the same one again, by other cells, is less exact
        than once with all of its budget.
    slot, slots
        The place of a column of whose every value a person has one row at most, and the largest squared
        distance between tables that hold it: each row is in a cell of its own there. Where pairs are chosen,
        those with it are measured first and never chosen, so that which noise a pair gets follows from
        declarations alone. None: there is none.

    Notes
    -----
    Gaussian noise costs ρ = S/2σ² a table. Without a margin a choice costs ε²/8 (bounded range: Cesar and
    Rogers 2021), all is added up and turned into δ (Canonne, Kamath and Steinke 2020, proposition 12).

    With one, the whole may cost μ²/2, and a choice is counted with ε²/6: the loss that dominates it (Dong,
    Durfee and Rogers 2020) lies nearly evenly between −ε and ε, a variance of ε²/3, where that of normal
    noise is 2ρ. That is a division, no bound: what is claimed is what the accountant makes of the events.
    Which pair is counted, and by which cells, follows from earlier answers; with which noise does not, so
    that losses compose (Zhu, Dong and Wang 2022, theorem 10). Normal noise on all scores in place of choices
    would be three times as wide.

    Laplace noise: everything adds up. The budget of single columns and named tables is divided by
    cells^(2/3) for ρ (of those with slots, cells times what a person moves less), by √cells for ε: that makes
    the sum of their errors least.
    """

    sizes: tuple[int, ...]
    epsilon: Fraction
    delta: Fraction
    moved: int
    squared: int
    about_rows: int
    named: tuple[Attributes, ...] | None = None
    codes: int = 0
    margin: float | None = None
    frequent: int = 0
    most_sizes: tuple[int, ...] | None = None
    has_target: bool = False
    share: Fraction = Fraction(1)
    given: int = 0
    firsts: tuple[Attributes, ...] = ()
    each_once: bool = False
    slot: int | None = None
    slots: int = 0

    def borne_out(self) -> Schedule:
        """Return the schedule with the smallest margin that the accountant accepts; itself if there is none.

        About a tenth more of ρ. A δ below some 10⁻¹⁴ is too small for what composition rounds; then the
        accountant goes by ρ too, and nothing is gained.
        """
        return _borne_out(self) if self.is_gaussian else self

    def expected(self) -> Schedule:
        """Return what `borne_out` returns but for odd cases, without the second that the accountant takes.

        For forecasts, of which a search asks dozens. Where a person has many rows and there is hardly any
        noise, it can be up to 3 % too little.
        """
        if self.is_gaussian and self.delta > LEAST_COMPOSED:
            return replace(self, margin=MARGINS[0])
        return self.borne_out()

    @property
    def is_gaussian(self) -> bool:
        """Whether the noise is Gaussian, so that a δ is spent."""
        return self.delta > 0

    @once
    def budget(self) -> float:
        """ρ for Gaussian noise, ε for Laplace noise, of everything but tables of codes and of values."""
        return self.whole / float(1 + CODES * self.codes + self._for_frequent)

    @property
    def _for_frequent(self) -> Fraction:
        return min(FREQUENT * self.frequent, MOST_FOR_FREQUENT)

    @property
    def whole(self) -> float:
        """ρ for Gaussian noise, ε for Laplace noise; a hair below what was given."""
        share = float(self.share)
        if not self.is_gaussian:
            return share * float(self.epsilon) * (1 - 1e-9)
        epsilon, delta = float(self.epsilon), float(self.delta)
        if self.margin is None:
            return share * concentrated_budget(epsilon, delta) * (1 - 1e-8)  # the accountant rounds ε up
        return share * (gaussian_level(epsilon, delta) * (1 - self.margin)) ** 2 / 2

    @once
    def rows_per_deviation(self) -> float:
        """How many rows stand against a standard deviation of the noise of one pair."""
        share = 0.9 * 0.8 * self.budget / (2 * self.drawn)
        return self.about_rows / self._deviation(share)

    @property
    def drawn(self) -> int:
        """How many columns are drawn."""
        return len(self.sizes) - self.given

    @property
    def of_slot(self) -> tuple[Attributes, ...]:
        """Return the pairs with the column of slots, where pairs are chosen: they have less noise."""
        if self.slot is None or self.named is not None:
            return ()
        return tuple(
            (min(one, self.slot), max(one, self.slot)) for one in range(len(self.sizes)) if one != self.slot
        )

    @once
    def _only_of_slot(self) -> bool:
        """Whether pairs with the column of slots stand against their noise, and no others do."""
        if not self.of_slot or self.rows_per_deviation >= FEWEST_FOR_PAIRS:
            return False
        return self.rows_per_deviation * sqrt(self.squared / self._squared_of_slot) >= FEWEST_FOR_PAIRS

    @property
    def _squared_of_slot(self) -> int:
        """Largest squared distance between tables of a pair with the column of slots."""
        return self.slots if self.is_gaussian else self.squared

    @property
    def _links(self) -> int:
        """How many pairs it takes at least for every drawn column to hang on another one."""
        return self.drawn if self.given else self.drawn - 1

    @property
    def only_single(self) -> bool:
        """Whether no pair is chosen: tables are named, or pairs would be nothing but noise."""
        is_named = self.named is not None
        if is_named or len(self.sizes) < 2 or self._only_of_slot:
            return is_named or len(self.sizes) < 2
        return self.rows_per_deviation < FEWEST_FOR_PAIRS

    @property
    def is_thin(self) -> bool:
        """Whether pairs are hardly worth their noise."""
        return self.rows_per_deviation < FEW_FOR_PAIRS

    @once
    def single_share(self) -> float:
        """Share of the budget for single columns."""
        if self.only_single:
            return 1.0
        if self.has_all:
            return ALL_SINGLE
        return min(max(0.15 * sqrt(1200 / self.rows_per_deviation), 0.1), 0.8)

    @property
    def resolutions(self) -> tuple[int, ...]:
        """Numbers of groups at which columns are offered besides all their cells."""
        if self.given:
            return (16, 8)
        if self.rows_per_deviation > 600:
            return ()
        return (8,) if self.rows_per_deviation > 60 else (8, 4, 2)

    @property
    def batch(self) -> int:
        """Pairs measured in one round."""
        return max(1, self._links // 2)

    @property
    def rounds(self) -> int:
        """How many rounds there are."""
        return 0 if self.only_single else ceil(self._wanted / self.batch)

    @property
    def _wanted(self) -> int:
        """Pairs that are worth their noise."""
        worth = 3 * self._links
        if self.given:
            enough = ROWS_PER_CELL_GAUSSIAN if self.is_gaussian else ROWS_PER_CELL
            worth = self.drawn + 1 if self.rows_per_deviation < enough * self.usual_cells else 2 * self.drawn
        return min(worth, self._different) if self.each_once or self.of_slot else worth

    @property
    def usual_cells(self) -> float:
        """Cells of a pair, on average."""
        drawn = self.sizes[self.given :]
        if not self.given:
            pairs = [one * other for one, other in combinations(drawn, 2)] or list(drawn)
            return sum(pairs) / len(pairs)
        known = self.sizes[: self.given]
        return sum(known) / len(known) * sum(drawn) / len(drawn)

    @property
    def _different(self) -> int:
        """How many pairs there are that hold a drawn column."""
        return self.drawn * (self.drawn - 1) // 2 + self.drawn * self.given

    @property
    def has_all(self) -> bool:
        """Whether every pair that there is is measured first, so that none is chosen."""
        return len(self.firsts) == self._different > 0 and not self.only_single

    @property
    def pairs(self) -> int:
        """How many pairs are measured."""
        if self.has_all:
            return len(self.firsts)
        return len(self.of_slot) if self._only_of_slot else self.rounds * self.batch

    @property
    def star(self) -> int:
        """Pairs known beforehand: those of a declared target, those of the slot, or `firsts`."""
        if not self.pairs:
            return 0
        if self._only_of_slot:
            return len(self.of_slot)
        others = len(self.sizes) - 1
        if self.has_target:
            return 2 * others - 1 if self.of_slot else others
        return len(self.of_slot) or len(self.firsts)

    @property
    def choices(self) -> int:
        """Pairs that are chosen."""
        return self.pairs - self.star

    @property
    def _selection(self) -> float:
        """Share of what is left after single columns that all choices cost."""
        return float(SELECTION) * self.choices / self.pairs

    @property
    def most_cells(self) -> int:
        """Cells that a clique of the model may have."""
        return 200_000 if self.rows_per_deviation > 2000 else 50_000

    @once
    def cells(self) -> tuple[int, ...]:
        """Cells of every table that is known beforehand: single columns, then named tables."""
        sizes = self.most_sizes or self.sizes
        return (*sizes[self.given :], *(prod(sizes[one] for one in table) for table in self.named or ()))

    @once
    def single(self) -> tuple[Fraction, ...]:
        """Scale of the noise of every single column that is drawn."""
        return self._beforehand[: self.drawn]

    @once
    def together(self) -> tuple[Fraction, ...]:
        """Scale of the noise of every named table."""
        return self._beforehand[self.drawn :]

    @property
    def _moves(self) -> tuple[int, ...]:
        """Largest squared distance between each of the tables that are known beforehand."""
        tables = [*((one,) for one in range(self.given, len(self.sizes))), *(self.named or ())]
        return tuple(self.slots if self.slot in table else self.squared for table in tables)

    @once
    def _beforehand(self) -> tuple[Fraction, ...]:
        if self.is_gaussian:
            weights = [
                (size * sqrt(moved / self.squared)) ** (2 / 3)
                for size, moved in zip(self.cells, self._moves, strict=True)
            ]
        else:
            weights = [sqrt(size) for size in self.cells]
        each = self.single_share * self.budget / sum(weights)
        return tuple(
            self._scale(each * weight, moved) for weight, moved in zip(weights, self._moves, strict=True)
        )

    @once
    def code(self) -> Fraction:
        """Scale of the noise of every table of codes."""
        return self._scale(self.budget * float(CODES))

    @once
    def value(self) -> Fraction:
        """Scale of the noise of every table of all values of a column."""
        return self._scale(self.budget * float(self._for_frequent / self.frequent))

    def standing_out(self, values: int) -> float:
        """Return the rows above which noise alone lifts one value of a column in every second release."""
        if self.is_gaussian:
            return float(self.value) * NormalDist().inv_cdf(1 - 1 / (2 * values))
        return float(self.value) * log(values)

    def found(self, sizes: tuple[int, ...]) -> Schedule:
        """Return the same noise for cells that were found with noise: nothing is divided anew."""
        return replace(self, sizes=sizes, most_sizes=self.sizes)

    @once
    def pair(self) -> Fraction:
        """Scale of the noise of every pair."""
        left = (1 - self.single_share) * self.budget * (1 - self._selection)
        return self._scale(left / self.pairs)

    @once
    def of_firsts(self) -> Mapping[Attributes, Fraction]:
        """Scale of the noise of every pair of `firsts`: by its cells where there are no others."""
        if not self.pairs:
            return {}
        if not self.has_all:
            return dict.fromkeys(self.firsts, self.pair)
        cells = [self.sizes[one] * self.sizes[other] for one, other in self.firsts]
        weights = [size ** (2 / 3 if self.is_gaussian else 1 / 2) for size in cells]
        left = (1 - self.single_share) * self.budget / sum(weights)
        scales = (self._scale(left * weight) for weight in weights)
        return dict(zip(self.firsts, scales, strict=True))

    @once
    def pair_of_slot(self) -> Fraction:
        """Scale of the noise of every pair with the column of slots: it costs what another pair does."""
        left = (1 - self.single_share) * self.budget * (1 - self._selection)
        return self._scale(left / self.pairs, self._squared_of_slot)

    def scale_of(self, pair: Attributes) -> Fraction:
        """Return the scale of the noise of a pair that is known beforehand, or of any other."""
        return self.pair_of_slot if pair in self.of_slot else self.of_firsts.get(pair, self.pair)

    @once
    def rate(self) -> Fraction:
        """Of every choice: P ∝ exp(rate · score)."""
        left = (1 - self.single_share) * self.budget * float(SELECTION) / self.pairs
        epsilon = sqrt((8 if self.margin is None else 6) * left) if self.is_gaussian else left
        return Fraction(floor(epsilon / (2 * self.moved) * PRECISION**2), PRECISION**2)

    def deviation(self, scale: Fraction) -> float:
        """Return the standard deviation of noise of a scale."""
        return float(scale) if self.is_gaussian else sqrt(2) * float(scale)

    def accuracy(self, scale: Fraction) -> Accuracy:
        """Return the accuracy of one count with noise of a scale, as it is drawn: in whole numbers."""
        return gaussian_accuracy(scale**2, count=1) if self.is_gaussian else laplace_accuracy(scale, count=1)

    def within(self, deviation: float) -> int:
        """Return how close to nothing 95 of 100 draws of noise lie: 1.96 σ, for Laplace noise ln(20)/√2 σ."""
        return ceil(deviation * (NORMAL_WITHIN if self.is_gaussian else LAPLACE_WITHIN))

    @property
    def events(self) -> Event:
        """What the ledger reserves."""
        counts: dict[tuple[Fraction, int], int] = {}
        beside = [self.code] * self.codes + ([self.value] * self.frequent if self.frequent else [])
        known = [
            *zip((*self.single, *self.together), self._moves, strict=True),
            *((scale, self.squared) for scale in beside),
        ]
        for one in known:
            counts[one] = counts.get(one, 0) + 1
        if self.has_all:
            for scale in self.of_firsts.values():
                counts[scale, self.squared] = counts.get((scale, self.squared), 0) + 1
        elif self.pairs:
            cheap = len(self.of_slot)
            chosen = self.pair, self.squared
            counts[chosen] = counts.get(chosen, 0) + self.pairs - cheap
            if cheap:
                of_slot = self.pair_of_slot, self._squared_of_slot
                counts[of_slot] = counts.get(of_slot, 0) + cheap
        parts: list[Event] = [
            self._noise(scale, moved, count) for (scale, moved), count in counts.items() if count
        ]
        if self.choices:
            parts.append(Exponential(1 / self.rate, Fraction(self.moved), count=self.choices))
        return parts[0] if len(parts) == 1 else Sequential(tuple(parts))

    def _noise(self, scale: Fraction, squared: int, count: int) -> Event:
        if self.is_gaussian:
            return DiscreteGaussian(scale, root_above(squared), count=count)
        return DiscreteLaplace(scale, Fraction(self.moved), count=count)

    def _deviation(self, budget: float) -> float:
        return self.deviation(self._scale(budget))

    def _scale(self, budget: float, squared: int | None = None) -> Fraction:
        """Return the scale that costs a part of the budget, rounded up."""
        exact = sqrt((squared or self.squared) / (2 * budget)) if self.is_gaussian else self.moved / budget
        return Fraction(ceil(exact * PRECISION), PRECISION)


@lru_cache(maxsize=64)
def _borne_out(schedule: Schedule) -> Schedule:
    def events_of(margin: float) -> Event:
        return replace(schedule, margin=margin).events

    # The last margin would leave less than ρ does.
    margin = smallest_margin(events_of, schedule.epsilon, schedule.delta, margins=MARGINS[:-1])
    return replace(schedule, margin=margin)
