"""Parents by correlation: entropies by their sensitivity, merits by the definition, no circles, no excess."""

from fractions import Fraction
from itertools import combinations
from math import e, log2

import numpy as np
import pytest

from engine.methods.datasets.bayes_network.correlation import (
    CorrelationShares,
    Entropies,
    by_correlation,
    correlations,
    parents_of,
)
from engine.methods.datasets.bayes_network.learning import learn
from engine.methods.datasets.bayes_network.structure import Rows
from tests.engine.methods.datasets.bayes_network.test_network_model import SIZES, some
from tests.noise_source import seeded_noise


def entropy(counts):
    """H in bits, by the definition."""
    shares = np.asarray(counts)[np.asarray(counts) > 0] / np.sum(counts)
    return float(-(shares * np.log2(shares)).sum())


def compositions(n, cells):
    """Give every way in which n rows can lie in so many cells."""
    if cells == 1:
        yield (n,)
        return
    for first in range(n + 1):
        for others in compositions(n - first, cells - 1):
            yield (first, *others)


# --- entropies ------------------------------------------------------------------------------------


@pytest.mark.parametrize("declared", [2, 5, 12, 1000])
def test_one_row_moves_an_entropy_by_no_more_than_it_claims_on_any_small_table(declared):
    """Every table of up to 12 rows in three cells and every row more, few and many rows declared."""
    unit, furthest = Entropies(declared), 0
    for n in range(12):
        for counts in compositions(n, 3):
            before = unit.steps(np.array(counts))
            for place in range(3):
                more = np.array(counts)
                more[place] += 1
                furthest = max(furthest, abs(unit.steps(more) - before))
    assert furthest <= unit.sensitivity
    assert furthest > 0.999 * unit.sensitivity - 10  # an equal row among none: half the steepest step


@pytest.mark.parametrize("declared", [2, 300, 45_000, 10**9])
def test_nor_on_large_ones_whatever_was_declared(declared):
    unit, chance, furthest = Entropies(declared), np.random.default_rng(3), 0
    for _ in range(3000):
        counts = chance.poisson(chance.choice([0.3, 30, 3000, 3e6], 4)).astype(np.int64)
        more = counts.copy()
        more[chance.integers(4)] += 1
        furthest = max(furthest, abs(unit.steps(more) - unit.steps(counts)))
    assert furthest <= unit.sensitivity


def test_the_sensitivity_is_not_idle():
    """Somebody alone in a cell beside as many as declared, and one more of those."""
    for declared in (2000, 45_000, 10**6):
        unit = Entropies(declared)
        full, alone, more = (
            unit.steps(np.array(counts)) for counts in ((declared, 0), (declared, 1), (declared + 1, 0))
        )
        assert unit.sensitivity * (1 - 1e-5) < alone - full <= unit.sensitivity
        assert unit.sensitivity * (1 - 1e-5) < full - more <= unit.sensitivity


def test_no_bound_holds_for_every_number_of_rows_without_the_straight_line():
    """n H itself: the more rows there are, the more one moves it, and for one row more than log₂ n."""
    for n in (10, 1000, 10**6):
        moved = (n + 1) * entropy([n, 1]) - n * entropy([n, 0])
        assert log2(n) < moved <= log2(n + 1) + log2(e)


def test_a_noisy_number_of_rows_that_is_too_large_makes_the_published_sensitivity_too_small():
    """Lemma A.1 at 40 rows, where there are 3: what an exchanged one really moves is above it."""

    def published(n):
        return (2 + 1 / np.log(2) + 2 * log2(n)) / n

    really = entropy([2, 1]) - entropy([3, 0])
    assert published(40) < really <= published(3)


@pytest.mark.parametrize("declared", [50, 200, 10**6])
def test_without_noise_entropies_are_exact_up_to_the_declared_number(declared):
    unit, counts = Entropies(declared), np.array([17, 0, 30, 3])
    found = float(unit.bits(np.array([unit.steps(counts)], dtype=float), counts.sum())[0])
    assert found == pytest.approx(entropy(counts), abs=1e-5)


# --- correlations and parents ---------------------------------------------------------------------


def test_correlations_are_those_of_the_definition():
    codes = some(3000)
    own = [entropy(np.bincount(one)) for one in codes]
    both = [entropy(np.bincount(codes[a] * 4 + codes[b])) for a, b in combinations(range(4), 2)]
    found = correlations(np.array(own), np.array(both), SIZES)
    for (a, b), joint in zip(combinations(range(4), 2), both, strict=True):
        assert found[a, b] == found[b, a] == pytest.approx(2 - 2 * joint / (own[a] + own[b]))
    assert (np.diag(found) == 1).all()


@pytest.mark.parametrize("value", [-1e9, 0.0, 1e9])
def test_entropies_that_none_can_be_give_correlations_that_are_some(value):
    for single, joint in ((value, value), (value, 1.0), (1.0, value)):
        found = correlations(np.full(3, single), np.full(3, joint), (2, 4, 8))
        assert ((found >= 0) & (found <= 1)).all() and np.isfinite(found).all()


def merit(column, parents, correlation):
    """Equation 6.14, by its sums."""
    if not parents:
        return 0.0
    among = sum(correlation[a, b] for a in parents for b in parents if a != b)
    return sum(correlation[column, one] for one in parents) / np.sqrt(len(parents) + among)


def some_correlation(columns, seed):
    found = np.random.default_rng(seed).random((columns, columns)) ** 2
    found = (found + found.T) / 2
    np.fill_diagonal(found, 1)
    return found


def greedy(correlation, sizes, groups, room, most):
    """Add the parent that gains most among all columns, by the definition, until none gains."""
    columns = range(len(sizes))
    parents = dict.fromkeys(columns, ())

    def ancestors(column):
        return {column}.union(*(ancestors(one) for one in parents[column]))

    while True:
        best = None
        for column in columns:
            for one in columns:
                more = (*parents[column], one)
                lines = np.prod([groups[other] for other in more])
                if one in parents[column] or column in ancestors(one):
                    continue
                if lines > most or lines * sizes[column] > room:
                    continue
                gain = merit(column, more, correlation) - merit(column, parents[column], correlation)
                if gain > 0 and (best is None or gain > best[0] + 1e-12):
                    best = gain, column, more
        if best is None:
            return {column: tuple(sorted(found)) for column, found in parents.items()}
        parents[best[1]] = best[2]


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("room", [0.0, 40.0, 1e9])
def test_parents_are_those_of_the_definition_in_an_order_without_circles(seed, room):
    sizes = tuple(np.random.default_rng(seed).integers(2, 12, 7).tolist())
    groups = tuple(min(8, size) for size in sizes)
    correlation = some_correlation(7, seed)
    nodes = parents_of(correlation, sizes=sizes, groups=groups, room=room)
    assert {node.column: node.parents for node in nodes} == greedy(correlation, sizes, groups, room, 512)
    placed = set()
    for node in nodes:
        assert placed.issuperset(node.parents)
        placed.add(node.column)
    assert len(nodes) == 7 and (room > 0 or not any(node.parents for node in nodes))


def test_columns_that_say_nothing_get_no_parents():
    nodes = parents_of(np.eye(5), sizes=(2,) * 5, groups=(2,) * 5, room=1e9)
    assert [node.parents for node in nodes] == [()] * 5


# --- the network ----------------------------------------------------------------------------------


@pytest.mark.parametrize("moved", [1, 3])
def test_what_is_drawn_is_what_is_reserved(moved):
    shares = CorrelationShares(SIZES, Fraction(1), moved, 50)
    noise = seeded_noise(1)
    learn(some(50), shares, ordered=(0, 4, 4, 2), noise=noise)
    assert noise.counted == shares.event.drawn()
    assert shares.event.epsilon() == 1
    assert shares.entropies.sensitivity == 10 * moved * Entropies(50).sensitivity
    assert shares.tables.sensitivity == shares.single.sensitivity == 4 * moved


@pytest.mark.parametrize("n", [0, 1, 2])
@pytest.mark.parametrize("sizes", [(3,), (3, 4, 4, 2)])
def test_few_rows_and_few_columns_are_enough(n, sizes):
    noise, shares = seeded_noise(n), CorrelationShares(sizes, Fraction(1, 10), 1, 10)
    found = learn(some(n)[: len(sizes)], shares, ordered=(0,) * len(sizes), noise=noise)
    drawn = found.rows(20, noise)
    assert drawn.shape == (len(sizes), 20) and (drawn >= 0).all() and (drawn.max(axis=1) < sizes).all()


def test_what_belongs_together_is_found_and_stays_together():
    codes = some()
    shares = CorrelationShares(SIZES, Fraction(20), 1, 4000)
    found = learn(codes, shares, ordered=(0,) * 4, noise=seeded_noise(3))
    drawn = found.rows(4000, seeded_noise(4))
    for one, other in ((1, 2), (2, 3)):
        exact = np.bincount(codes[one] * 4 + codes[other], minlength=16) / 4000
        made = np.bincount(drawn[one] * 4 + drawn[other], minlength=16) / 4000
        assert np.abs(exact - made).sum() / 2 < 0.05


def test_tables_are_no_larger_than_noise_allows():
    codes, shares = some(200), CorrelationShares(SIZES, Fraction(1, 2), 1, 200)
    rows = Rows(codes, codes, SIZES, SIZES)
    nodes = by_correlation(rows, shares, total=200.0, noise=seeded_noise(2))
    assert all(rows.table(node).size <= shares.room(200.0) for node in nodes if node.parents)
    louder = CorrelationShares(SIZES, Fraction(50), 1, 200)
    assert any(node.parents for node in by_correlation(rows, louder, total=200.0, noise=seeded_noise(2)))
