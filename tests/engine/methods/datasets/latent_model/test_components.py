"""Points of few dimensions: moments by their sensitivity, likelihoods by the definition, the theorem."""

import math
from fractions import Fraction

import numpy as np
import pytest

from engine.methods.datasets.latent_model.components import LOG_GRID, components_of, normal
from engine.methods.datasets.latent_model.moments import Moments, counted
from engine.methods.datasets.seeds.making import made, score
from engine.methods.datasets.seeds.models import GRID
from engine.privacy.mechanisms import SeededRows
from tests.engine.methods.datasets.seeds.universe import beyond, everything, is_of_definition, released
from tests.noise_source import seeded_noise

SIZES = (2, 3, 2)
UNIVERSE = everything(SIZES)


def components(seed=1, dimensions=2):
    chance = np.random.default_rng(seed)
    shares = [chance.dirichlet(np.ones(size)) for size in SIZES]
    spread = chance.normal(size=(7, 7))
    return components_of(shares, spread + spread.T, dimensions)


def shares_of(model, seed):
    """Return the shares of every cell by the definition: mean + (x − mean) W Wᵀ, clipped, made to add up."""
    x = np.concatenate([np.eye(size)[cell] for size, cell in zip(SIZES, seed, strict=True)])
    read = model.mean + (x - model.mean) @ model.axes @ model.axes.T
    parts = np.split(np.maximum(read, 0.001), np.cumsum(SIZES)[:-1])
    return [part / part.sum() for part in parts]


def likelihood(model, seed, row):
    return math.prod(part[cell] for part, cell in zip(shares_of(model, seed), row, strict=True))


def test_likelihoods_are_those_of_the_definition():
    model = components()
    cells = np.array(
        [np.concatenate([np.eye(n)[c] for n, c in zip(SIZES, row, strict=True)]) for row in UNIVERSE]
    )
    found = np.exp(cells @ model.logs(UNIVERSE).T / LOG_GRID)
    exact = [[likelihood(model, seed, row) for seed in UNIVERSE] for row in UNIVERSE]
    assert found == pytest.approx(np.array(exact), rel=1e-5)
    assert found.sum(axis=0) == pytest.approx(np.ones(len(UNIVERSE)))


def test_logarithms_are_whole_numbers_whose_sums_are_exact():
    logs = components().logs(UNIVERSE)
    assert (logs == np.rint(logs)).all() and 60 * np.abs(logs).max() < 2**53


def test_rows_are_drawn_with_that_likelihood():
    model, seed, n = components(), UNIVERSE[5], 40_000
    rows = model.made(np.repeat(seed[None, :], n, axis=0), seeded_noise(2))
    exact = np.array([likelihood(model, seed, row) for row in UNIVERSE])
    counts = np.bincount(rows @ [6, 2, 1], minlength=len(UNIVERSE))
    assert (np.abs(counts - n * exact) <= 5 * np.sqrt(n * exact)).all()


@pytest.mark.parametrize("ratio", [Fraction(3, 2), Fraction(4)])
def test_crowds_are_those_of_the_definition(ratio):
    model, chance = components(), np.random.default_rng(3)
    seeds = UNIVERSE[chance.integers(0, len(UNIVERSE), 15)]
    test = SeededRows(3, 1, Fraction(1), ratio, Fraction(1), Fraction(0))
    rows = model.made(seeds, seeded_noise(1))
    for row, seed, size in zip(rows, seeds, score(model.crowds(seeds)(rows, seeds), test), strict=True):
        p = [likelihood(model, one, row) for one in seeds]
        assert is_of_definition(size, test, p, next(d for d, s in enumerate(seeds) if (s == seed).all()))


@pytest.mark.parametrize("ratio", [Fraction(3, 2), Fraction(4)])
def test_one_more_seed_moves_no_set_of_rows_beyond_the_claim(ratio):
    chance = np.random.default_rng(5)
    test = SeededRows(6, 2, Fraction(1, 2), ratio, Fraction(1, 2), Fraction(0))
    epsilon, delta = map(float, test.each())
    alone = np.full(len(UNIVERSE), 1 / len(UNIVERSE))
    for place in range(12):
        model = components(place)
        seeds = UNIVERSE[chance.integers(0, 4, 7) * 3]
        p = np.array([[likelihood(model, seed, row) for row in UNIVERSE] for seed in seeds])
        more, fewer = released(seeds, p, alone, test), released(seeds[:-1], p[:-1], alone, test)
        assert max(beyond(more, fewer, epsilon), beyond(fewer, more, epsilon)) <= delta + 1e-12


def test_without_a_seed_points_are_normal():
    drawn = normal(seeded_noise(1), (50_000, 2))
    assert np.abs(drawn.mean(axis=0)).max() < 0.03 and drawn.std(axis=0) == pytest.approx([1, 1], abs=0.02)
    assert (np.abs(drawn) < 1.96).mean() == pytest.approx(0.95, abs=0.005)
    rows = components().alone(1000, seeded_noise(2))
    assert rows.shape == (1000, 3) and (rows.max(axis=0) < SIZES).all()


@pytest.mark.parametrize("n", [0, 1])
def test_it_ends_whoever_the_seeds_are(n):
    test = SeededRows(500, 100, Fraction(1, 10), Fraction(2), Fraction(1, 20), Fraction(0), count=5)
    found = made(components(), UNIVERSE[:n], test, seeded_noise(n))
    assert found.rows.shape == (5, 3) and found.alone == 5


# --- moments --------------------------------------------------------------------------------------


def test_one_row_adds_as_many_ones_as_is_claimed():
    chance = np.random.default_rng(0)
    codes = np.array([chance.integers(0, size, 30) for size in SIZES])
    moments = Moments(SIZES, Fraction(1), Fraction(1, 10**6), 2, 30)
    more, fewer = counted(codes, SIZES), counted(codes[:, :-1], SIZES)
    moved = np.concatenate([(more[place] - fewer[place]).ravel() for place in more])
    assert set(moved) == {0, 1} and moved.sum() == moments.squared == 6
    assert float(moments.event.concentrated()) == pytest.approx(6 / (2 * float(moments.scale) ** 2))


def test_with_little_noise_the_axes_are_those_of_the_rows():
    chance = np.random.default_rng(1)
    first = chance.integers(0, 2, 5000)
    codes = np.array([first, np.where(chance.random(5000) < 0.9, 2 * first, 1), first])
    noise = seeded_noise(1)
    moments = Moments(SIZES, Fraction(50), Fraction(1, 10**6), 1, 5000)
    found = moments.learnt(codes, noise)
    assert noise.counted == moments.event.drawn()
    x = np.concatenate([np.eye(size)[one] for size, one in zip(SIZES, codes, strict=True)], axis=1)
    assert found.mean == pytest.approx(x.mean(axis=0), abs=0.01)
    exact = np.linalg.eigh(np.cov(x.T))[1][:, -1]
    assert abs(float(exact @ found.axes[:, 0])) == pytest.approx(1, abs=0.01)
    # a row is read back as what belongs to it
    assert likelihood(found, np.array([1, 2, 1]), np.array([1, 2, 1])) > 0.5


def test_parts_of_the_grid_add_up():
    for edges in components().edges(np.array([[-5.0, 9, 0, 0, 0, 1e-9, 1]])):
        assert edges[0, -1] == GRID and (np.diff(edges[0], prepend=0) > 0).all()
