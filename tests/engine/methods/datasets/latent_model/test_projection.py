"""Points of few dimensions, by axes and by a network: likelihoods by the definition, crowds, the theorem."""

import math
from fractions import Fraction

import numpy as np
import pytest

from engine.methods.datasets.latent_model.moments import Components, components_of
from engine.methods.datasets.latent_model.projection import LOG_GRID, normal
from engine.methods.datasets.latent_model.teaching import Autoencoder, Layer
from engine.methods.datasets.seeds.making import make_rows, score
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


def autoencoder(seed=1, dimensions=2):
    chance = np.random.default_rng(seed)

    def layer(into, out):
        return Layer(chance.normal(size=(into, out)), chance.normal(size=out))

    encoder, decoder = (layer(7, 4), layer(4, dimensions)), (layer(dimensions, 4), layer(4, 7))
    return Autoencoder(SIZES, encoder, decoder, chance.normal(size=(50, dimensions)))


MODELS = pytest.mark.parametrize("of", [components, autoencoder])


def read_back(model, x):
    """Mean + (x − mean) W Wᵀ; or the softmax of each column of tanh(z W₃ + b₃) W₄ + b₄."""
    if isinstance(model, Components):
        return model.mean + (x - model.mean) @ model.axes @ model.axes.T
    (one, two), (three, four) = model.encoder, model.decoder
    z = np.tanh(x @ one.weights + one.bias) @ two.weights + two.bias
    out = np.exp(np.tanh(z @ three.weights + three.bias) @ four.weights + four.bias)
    return np.concatenate([part / part.sum() for part in np.split(out, np.cumsum(SIZES)[:-1])])


def shares_of(model, seed):
    """Return the shares of every cell by the definition: read back, clipped, made to add up."""
    x = np.concatenate([np.eye(size)[cell] for size, cell in zip(SIZES, seed, strict=True)])
    parts = np.split(np.maximum(read_back(model, x), 0.001), np.cumsum(SIZES)[:-1])
    return [part / part.sum() for part in parts]


def likelihood(model, seed, row):
    return math.prod(part[cell] for part, cell in zip(shares_of(model, seed), row, strict=True))


@MODELS
def test_likelihoods_are_those_of_the_definition(of):
    model = of()
    cells = np.array(
        [np.concatenate([np.eye(n)[c] for n, c in zip(SIZES, row, strict=True)]) for row in UNIVERSE]
    )
    found = np.exp(cells @ model.logs(UNIVERSE).T / LOG_GRID)
    exact = [[likelihood(model, seed, row) for seed in UNIVERSE] for row in UNIVERSE]
    assert found == pytest.approx(np.array(exact), rel=1e-5)
    assert found.sum(axis=0) == pytest.approx(np.ones(len(UNIVERSE)))


@MODELS
def test_logarithms_are_whole_numbers_whose_sums_are_exact(of):
    logs = of().logs(UNIVERSE)
    assert (logs == np.rint(logs)).all() and 60 * np.abs(logs).max() < 2**53


@MODELS
def test_rows_are_drawn_with_that_likelihood(of):
    model, seed, n = of(), UNIVERSE[5], 40_000
    rows = model.made(np.repeat(seed[None, :], n, axis=0), seeded_noise(2))
    exact = np.array([likelihood(model, seed, row) for row in UNIVERSE])
    counts = np.bincount(rows @ [6, 2, 1], minlength=len(UNIVERSE))
    assert (np.abs(counts - n * exact) <= 5 * np.sqrt(n * exact)).all()


@MODELS
@pytest.mark.parametrize("ratio", [Fraction(3, 2), Fraction(4)])
def test_crowds_are_those_of_the_definition(of, ratio):
    model, chance = of(), np.random.default_rng(3)
    seeds = UNIVERSE[chance.integers(0, len(UNIVERSE), 15)]
    test = SeededRows(3, 1, Fraction(1), ratio, Fraction(1), Fraction(0))
    rows = model.made(seeds, seeded_noise(1))
    for row, seed, size in zip(rows, seeds, score(model.crowds(seeds)(rows, seeds), test), strict=True):
        p = [likelihood(model, one, row) for one in seeds]
        assert is_of_definition(size, test, p, next(d for d, s in enumerate(seeds) if (s == seed).all()))


@MODELS
@pytest.mark.parametrize("ratio", [Fraction(3, 2), Fraction(4)])
def test_one_more_seed_moves_no_set_of_rows_beyond_the_claim(of, ratio):
    chance = np.random.default_rng(5)
    test = SeededRows(6, 2, Fraction(1, 2), ratio, Fraction(1, 2), Fraction(0))
    epsilon, delta = map(float, test.each())
    alone = np.full(len(UNIVERSE), 1 / len(UNIVERSE))
    for place in range(12):
        model = of(place)
        seeds = UNIVERSE[chance.integers(0, 4, 7) * 3]
        p = np.array([[likelihood(model, seed, row) for row in UNIVERSE] for seed in seeds])
        more, fewer = released(seeds, p, alone, test), released(seeds[:-1], p[:-1], alone, test)
        assert max(beyond(more, fewer, epsilon), beyond(fewer, more, epsilon)) <= delta + 1e-12


@MODELS
def test_no_bit_of_a_row_depends_on_who_else_is_there(of):
    """Likelihoods have to be the same whoever is asked about: one more seed moves a crowd by one."""
    model = of()
    whole = model.read_back(UNIVERSE)
    for n in (1, 2, 3, 5, 8, 11):
        assert (model.read_back(UNIVERSE[:n]) == whole[:n]).all()
        assert (model.read_back(UNIVERSE[n:]) == whole[n:]).all()
    many = np.tile(UNIVERSE, (400, 1))
    assert (model.read_back(many).reshape(400, *whole.shape) == whole).all()


def test_without_a_seed_points_are_normal():
    drawn = normal(seeded_noise(1), (50_000, 2))
    assert np.abs(drawn.mean(axis=0)).max() < 0.03 and drawn.std(axis=0) == pytest.approx([1, 1], abs=0.02)
    assert (np.abs(drawn) < 1.96).mean() == pytest.approx(0.95, abs=0.005)
    rows = components().alone(1000, seeded_noise(2))
    assert rows.shape == (1000, 3) and (rows.max(axis=0) < SIZES).all()


@MODELS
@pytest.mark.parametrize("n", [0, 1])
def test_it_ends_whoever_the_seeds_are(of, n):
    test = SeededRows(500, 100, Fraction(1, 10), Fraction(2), Fraction(1, 20), Fraction(0), count=5)
    found = make_rows(of(), UNIVERSE[:n], test, seeded_noise(n))
    assert found.rows.shape == (5, 3) and found.alone == 5


def test_parts_of_the_grid_add_up():
    for edges in components().edges(np.array([[-5.0, 9, 0, 0, 0, 1e-9, 1]])):
        assert edges[0, -1] == GRID and (np.diff(edges[0], prepend=0) > 0).all()
