"""The model: shares as by brute force, tables reproduced, rows as even as their number allows."""

from itertools import combinations, permutations, product
from math import prod

import numpy as np
import pytest

from engine.methods.datasets.marginal_model.coarse import groups
from engine.methods.datasets.marginal_model.fitting import Measured, Model, Propagation
from engine.methods.datasets.marginal_model.junction_tree import cells_joined, cells_with, junction_tree
from engine.methods.datasets.marginal_model.sampling import rows_of
from tests.noise_source import seeded_noise


def some_graph(seed, columns=6):
    chance = np.random.default_rng(seed)
    sizes = tuple(int(size) for size in chance.integers(2, 5, columns))
    pairs = [pair for pair in combinations(range(columns), 2) if chance.random() < 0.4]
    potentials = {pair: chance.normal(size=[sizes[one] for one in pair]) * 3 for pair in pairs}
    potentials |= {(one,): chance.normal(size=sizes[one]) for one in range(columns)}
    return sizes, pairs, potentials


def brute_force(sizes, potentials):
    table = np.zeros(sizes)
    for cell in product(*(range(size) for size in sizes)):
        table[cell] = sum(value[tuple(cell[one] for one in name)] for name, value in potentials.items())
    table = np.exp(table - table.max())
    return table / table.sum()


@pytest.mark.parametrize("seed", range(12))
def test_shares_are_those_of_the_whole_table(seed):
    sizes, pairs, potentials = some_graph(seed)
    tree = junction_tree(sizes, pairs)
    shares, tables = Propagation(tree, potentials).run(potentials)
    whole = brute_force(sizes, potentials)
    assert set(tables) == set(potentials)
    for columns, own in [*zip(tree.cliques, shares, strict=True), *tables.items()]:
        away = tuple(one for one in range(len(sizes)) if one not in columns)
        np.testing.assert_allclose(own, whole.sum(axis=away), rtol=0, atol=1e-12)
    assert all(set(pair) <= set(tree.cliques[tree.home(pair)]) for pair in pairs)


@pytest.mark.parametrize("seed", range(8))
def test_the_tree_keeps_what_cliques_share_on_the_way_between_them(seed):
    sizes, pairs, _ = some_graph(seed, columns=9)
    tree = junction_tree(sizes, pairs)
    seen: set[int] = set()
    for clique, parent in zip(tree.cliques, tree.parents, strict=True):
        above = set(tree.cliques[parent]) if parent >= 0 else set()
        assert set(clique) & seen <= above  # what was met before is in the parent
        seen |= set(clique)
    assert seen == set(range(9))


def test_a_share_of_nothing_stays_nothing():
    tree = junction_tree((2, 2, 2), [(0, 1), (1, 2)])
    impossible = np.array([[0.0, -np.inf], [0.0, 0.0]])
    potentials = {(0, 1): impossible, (1, 2): np.zeros((2, 2))}
    shares, _ = Propagation(tree, potentials).run(potentials)
    assert shares[tree.home((0, 1))][0, 1] == 0 and np.isfinite(shares[0]).all()


def test_a_cap_on_cells_is_kept():
    assert cells_with((10, 10, 10), [(0, 1), (1, 2)], most=100)
    assert not cells_with((10, 10, 10), [(0, 1), (1, 2), (0, 2)], most=999)


@pytest.mark.parametrize("seed", range(8))
def test_the_cells_that_suffice_to_join_two_columns_do(seed):
    """Some tree of the joined graph has no larger changed clique than is said; each pair is looked at."""
    sizes, pairs, _ = some_graph(seed, columns=5)
    tree = junction_tree(sizes, pairs)
    said, together = cells_joined(tree), {p for c in tree.cliques for p in combinations(c, 2)}
    had = max(prod(tree.shape(clique)) for clique in tree.cliques)
    for pair in combinations(range(5), 2):
        assert (said.get(pair) == 0) == (pair in together)
        orders = (_widest_of(sizes, [*pairs, pair], order) for order in permutations(range(5)))
        if pair in said:
            assert min(orders) <= max(said[pair], had)


def _widest_of(sizes, pairs, order):
    near = {one: {b for pair in pairs if one in pair for b in pair} - {one} for one in range(len(sizes))}
    widest = 0
    for one in order:
        around = near.pop(one)
        widest = max(widest, prod(sizes[b] for b in around | {one}))
        for b in around:
            near[b] = (near[b] | around) - {b, one}
    return widest


# --- fitting --------------------------------------------------------------------------------------


def measured(table, attributes, sizes, deviation=0.01, grouped=()):
    away = tuple(one for one in range(len(sizes)) if one not in attributes)
    counts = table.sum(axis=away)
    fine = tuple(np.arange(sizes[one]) for one in attributes)
    return Measured(attributes, grouped or fine, counts, deviation)


def test_exact_tables_are_reproduced():
    chance = np.random.default_rng(1)
    sizes = (3, 4, 2, 3)
    whole = chance.gamma(1, size=sizes) * 100
    wanted = [(0,), (1,), (2,), (3,), (0, 1), (1, 2), (2, 3)]
    found = [measured(whole, one, sizes) for one in wanted]
    model = Model(sizes, whole.sum())
    model.fit(found, steps=3000)
    for one in found:
        np.testing.assert_allclose(model.table(one.attributes), one.counts, rtol=2e-3)


@pytest.mark.parametrize("seed", range(4))
def test_tables_of_any_number_of_columns_are_reproduced_together(seed):
    """One within another, and those that overlap; what the tree says is what its tables say."""
    chance = np.random.default_rng(seed)
    sizes = (3, 4, 2, 3, 2)
    whole = chance.gamma(1, size=sizes) * 100
    wanted = [(0,), (4,), (0, 1), (0, 1, 2), (1, 2, 3), (0, 2, 3, 4), (3, 4)]
    found = [measured(whole, one, sizes) for one in wanted]
    model = Model(sizes, whole.sum())
    model.fit(found, steps=4000)
    for one in found:
        np.testing.assert_allclose(model.table(one.attributes), one.counts, rtol=5e-3)


def test_what_was_not_measured_is_independent_given_what_was():
    chance = np.random.default_rng(2)
    whole = chance.gamma(1, size=(2, 3, 2)) * 100
    model = Model((2, 3, 2), whole.sum())
    model.fit([measured(whole, pair, (2, 3, 2)) for pair in ((0, 1), (1, 2))], steps=3000)
    first, second = (model.tree.table(model.shares, pair) for pair in ((0, 1), (1, 2)))
    middle = first.sum(axis=0)
    joint = first[:, :, None] * second[None] / middle[None, :, None]
    expected = joint.sum(axis=1)
    rows = rows_of(model, 200_000, seeded_noise(1))
    counts = np.bincount(rows[0] * 2 + rows[2], minlength=4).reshape(2, 2) / 200_000
    np.testing.assert_allclose(counts, expected, atol=0.004)


def test_a_coarse_table_tells_only_about_its_groups():
    counts = np.array([[30.0, 10.0], [20.0, 40.0]])
    group = (np.array([0, 0, 1]), np.array([0, 1]))
    model = Model((3, 2), 100.0)
    model.fit([Measured((0, 1), group, counts, 0.01)], steps=2000)
    table = model.table((0, 1))
    np.testing.assert_allclose(table[:2].sum(axis=0), counts[0], rtol=1e-3)
    np.testing.assert_allclose(table[0], table[1], rtol=1e-6)


def test_potentials_outlive_a_new_tree():
    chance = np.random.default_rng(3)
    sizes, whole = (3, 3, 3), chance.gamma(1, size=(3, 3, 3)) * 100
    model = Model(sizes, whole.sum())
    model.fit([measured(whole, pair, sizes) for pair in ((0, 1), (1, 2))], steps=1500)
    before = model.table((0, 1))
    model.potentials[0, 2] = np.zeros((3, 3))
    model._grow()
    np.testing.assert_allclose(model.table((0, 1)), before, rtol=1e-9)


def test_a_fit_to_noisy_tables_ends_where_no_direction_is_left():
    """Among all models of the tree, none is nearer: the loss of 300 steps is that of 3,000."""
    chance = np.random.default_rng(4)
    sizes = (4, 5, 3)
    whole = chance.gamma(0.5, size=sizes) * 100
    found = [measured(whole, one, sizes, deviation=3.0) for one in [(0,), (1,), (2,), (0, 1), (1, 2)]]
    for one in found:
        one.counts[...] += chance.normal(0, 3, one.counts.shape)
    losses = []
    for steps in (300, 3000):
        model = Model(sizes, whole.sum())
        model.fit(found, steps=steps)
        off = [(model.table(one.attributes) - one.counts) / one.deviation for one in found]
        losses.append(sum(float((one**2).sum()) for one in off) / 2)
    assert losses[1] <= losses[0] < 1.01 * losses[1]


@pytest.mark.parametrize("total", [1.0, 1e-3])
def test_counts_that_are_all_noise_leave_shares(total):
    """Many fits in a row to noise far above the total: logarithms stay where shares can be computed."""
    chance = np.random.default_rng(5)
    sizes, model = (3, 6, 2), Model((3, 6, 2), total)
    found = []
    for name in [(0,), (1,), (2,), (0, 1), (1, 2), (0, 2)] * 3:
        shape = [sizes[one] for one in name]
        fine = tuple(np.arange(size) for size in shape)
        found.append(Measured(name, fine, chance.normal(0, 50, shape), 50.0))
        model.fit(found, steps=60)
        assert all(np.isfinite(one).all() for one in model.shares)


# --- rows -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_counts_are_within_one_of_what_is_expected_in_every_group(seed):
    sizes, _, potentials = some_graph(seed, columns=4)
    model = Model(sizes, 1.0, dict(potentials))
    n = 777
    rows = rows_of(model, n, seeded_noise(seed))
    first = model.tree.cliques[0]
    share = model.tree.table(model.shares, first[:1])
    assert (np.abs(np.bincount(rows[first[0]], minlength=sizes[first[0]]) - n * share) < 1 + 1e-9).all()
    if len(first) > 1:
        table = model.tree.table(model.shares, first[:2])
        given = table / table.sum(axis=1, keepdims=True)
        for value in range(sizes[first[0]]):
            group = rows[first[1]][rows[first[0]] == value]
            counts = np.bincount(group, minlength=sizes[first[1]])
            assert (np.abs(counts - len(group) * given[value]) < 1 + 1e-9).all()


@pytest.mark.parametrize("n", [1, 2, 50])
def test_few_rows_can_be_drawn(n):
    sizes, _, potentials = some_graph(5)
    rows = rows_of(Model(sizes, 1.0, dict(potentials)), n, seeded_noise(2))
    assert rows.shape == (6, n) and all((row < size).all() for row, size in zip(rows, sizes, strict=True))


# --- coarse maps ----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
def test_groups_are_contiguous_where_there_is_an_order_and_few(seed):
    chance = np.random.default_rng(seed)
    counts = chance.gamma(0.3, size=40) * 100 - 5
    for most, ordered in product((2, 4, 8), (0, 39, 40)):
        found = groups(counts, most, ordered=ordered)
        assert set(found) == set(range(found.max() + 1)) and found.max() < most
        assert (np.diff(found[:ordered]) >= 0).all() and (np.diff(found[:ordered]) <= 1).all()
    assert prod(groups(counts, 40, ordered=0).shape) == 40
