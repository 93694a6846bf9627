"""A noisy network: scores by their sensitivity, parents before children, tables that reproduce."""

from fractions import Fraction

import numpy as np
import pytest

from engine.methods.datasets.bayes_network.learning import learn, project_counts
from engine.methods.datasets.bayes_network.shares import SCORE_MOVES, Shares
from engine.methods.datasets.bayes_network.structure import Node, Rows, score, structure
from tests.noise_source import seeded_noise


def test_one_row_moves_a_score_by_less_than_it_claims():
    chance = np.random.default_rng(0)
    largest = 0.0
    for _ in range(4000):
        shape = tuple(chance.integers(1, 6, 2))
        table = chance.poisson(chance.choice([0.2, 2.0, 20.0, 2000.0]), shape)
        more = table.copy()
        more[chance.integers(shape[0]), chance.integers(shape[1])] += 1
        largest = max(largest, abs(l1(more) - l1(table)) / 2)
        assert abs(score(more) - score(table)) <= SCORE_MOVES
        assert l1(table) / 2 - 1 < score(table) <= l1(table) / 2 + 1e-9
    assert largest < SCORE_MOVES
    # and the bound is not idle: the first row of its kind among a thousand
    assert l1(np.diag([1000, 1])) / 2 - l1(np.diag([1000, 0])) / 2 > 1.99


def l1(table):
    n = max(table.sum(), 1)
    return float(np.abs(table - table.sum(1, keepdims=True) * table.sum(0, keepdims=True) / n).sum())


def some(n=4000, seed=1):
    chance = np.random.default_rng(seed)
    first = chance.integers(0, 4, n)
    second = np.where(chance.random(n) < 0.9, first, chance.integers(0, 4, n))
    return np.array([chance.integers(0, 3, n), first, second, (first + second) % 2])


SIZES = (3, 4, 4, 2)


def test_parents_come_first_and_what_belongs_together_is_found():
    codes = some()
    found = learn(codes, Shares(SIZES, Fraction(20), 1), ordered=(0,) * 4, noise=seeded_noise(3))
    known = []
    for node in found.nodes:
        assert set(node.parents) <= set(known)
        known.append(node.column)
    assert sorted(known) == [0, 1, 2, 3]
    places = {node.column: node.parents for node in found.nodes}
    assert 1 in places[2] or 2 in places[1]
    drawn = found.rows(4000, seeded_noise(4))
    for one, other in ((1, 2), (2, 3)):
        exact = np.bincount(codes[one] * 4 + codes[other], minlength=16) / 4000
        made = np.bincount(drawn[one] * 4 + drawn[other], minlength=16) / 4000
        assert np.abs(exact - made).sum() / 2 < 0.05


def test_tables_are_no_larger_than_noise_allows():
    codes = some(200)
    shares = Shares(SIZES, Fraction(1, 2), 1)
    rows = Rows(codes, codes, SIZES, SIZES)
    nodes = structure(rows, shares, total=200.0, noise=seeded_noise(2))
    assert all(rows.table(node).size <= shares.room(200.0) for node in nodes if node.parents)
    assert shares.room(200.0) < 16 and rows.table(Node(2, (1,))).shape == (4, 4)


@pytest.mark.parametrize("moved", [1, 3])
def test_what_is_drawn_is_what_is_reserved(moved):
    shares = Shares(SIZES, Fraction(1), moved)
    noise = seeded_noise(1)
    learn(some(50), shares, ordered=(0, 4, 4, 2), noise=noise)
    assert noise.counted == shares.event.drawn()
    assert shares.event.epsilon() == 1
    assert shares.tables.sensitivity == 4 * moved and shares.event.parts[1].sensitivity == 2 * moved


@pytest.mark.parametrize("n", [0, 1, 2])
@pytest.mark.parametrize("sizes", [(3,), (3, 4, 4, 2)])
def test_few_rows_and_few_columns_are_enough(n, sizes):
    codes = some(n)[: len(sizes)]
    noise = seeded_noise(n)
    found = learn(codes, Shares(sizes, Fraction(1, 10), 1), ordered=(0,) * len(sizes), noise=noise)
    drawn = found.rows(20, noise)
    assert drawn.shape == (len(sizes), 20) and (drawn >= 0).all() and (drawn.max(axis=1) < sizes).all()


def test_projection_is_the_nearest_point():
    chance = np.random.default_rng(2)
    for _ in range(50):
        counts, total = chance.normal(size=6) * 10, chance.uniform(1, 30)
        found = project_counts(counts, total)
        assert found.min() >= 0 and found.sum() == pytest.approx(total)
        shift = (counts - found)[found > 0]
        assert np.ptp(shift) < 1e-9 and (counts[found == 0] <= shift[0] + 1e-9).all()
