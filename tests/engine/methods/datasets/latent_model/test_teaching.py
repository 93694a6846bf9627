"""An autoencoder that noisy tables taught: its slopes, its steps, what it carries and what it costs."""

from fractions import Fraction

import numpy as np
import pytest

from engine.methods.datasets.latent_model import teaching
from engine.methods.datasets.latent_model.projection import normal
from engine.methods.datasets.latent_model.teaching import Adam, Teaching, gradients, loss, teach_autoencoder
from engine.methods.datasets.seeds.learning import Learning
from tests.engine.methods.datasets.on_adult import adult, pairs_off
from tests.noise_source import seeded_noise

SIZES = (2, 3, 2)


def some_rows(n=2000, seed=1):
    """Columns that belong together: the second follows the first, the third the second."""
    chance = np.random.default_rng(seed)
    first = chance.integers(0, 2, n)
    second = np.where(chance.random(n) < 0.9, 2 * first, 1)
    return np.column_stack([first, second, second // 2])


def placed(n):
    """Return the places of the cells of rows among all cells."""
    return some_rows(n) + np.array([0, 2, 5])


def test_slopes_are_those_of_the_loss():
    chance, noise = np.random.default_rng(2), seeded_noise(1)
    shapes = [(7, 5), (5,), (5, 2), (2,), (2, 5), (5,), (5, 7), (7,)]
    weights = [chance.normal(size=shape) for shape in shapes]
    given = placed(40), normal(noise, (40, 2)), SIZES
    for weight, slope in zip(weights, gradients(weights, *given), strict=True):
        for place in np.ndindex(weight.shape):
            kept, step, sides = weight[place], 1e-5, []
            for sign in (1, -1):
                weight[place] = kept + sign * step
                sides.append(loss(weights, *given))
            weight[place] = kept
            assert slope[place] == pytest.approx((sides[0] - sides[1]) / (2 * step), rel=1e-5, abs=1e-7)


def test_the_loss_by_hand(monkeypatch):
    """Weights of 0: every cell of a column equally likely, and points without any spread."""
    monkeypatch.setattr(teaching, "_SMALLEST_SPREAD", 1.0)
    weights = [np.zeros(shape) for shape in [(7, 5), (5,), (5, 2), (2,), (2, 5), (5,), (5, 7), (7,)]]
    found = loss(weights, placed(10), np.zeros((10, 2)), SIZES)
    assert found == pytest.approx(np.log(2) + np.log(3) + np.log(2))
    weights[3][:] = 2.0  # points at 2 in both dimensions: ½ · 2² each, times C
    again = loss(weights, placed(10), np.zeros((10, 2)), SIZES)
    assert again - found == pytest.approx(2 * 2 * teaching.NORMALITY)


def test_steps_are_those_of_another_library(monkeypatch):
    from sklearn.neural_network._stochastic_optimizers import AdamOptimizer

    monkeypatch.setattr(teaching, "LAST_RATE", teaching.RATE)
    chance = np.random.default_rng(3)
    own, other = ([np.ones((3, 2)), np.zeros(4)] for _ in range(2))
    steps, theirs = Adam(own, 50), AdamOptimizer(other, learning_rate_init=teaching.RATE)
    for _ in range(50):
        slopes = [chance.normal(size=(3, 2)), chance.normal(size=4)]
        steps.step(slopes)
        theirs.update_params(other, slopes)
    for one, two in zip(own, other, strict=True):
        assert one == pytest.approx(two, rel=1e-6)


def test_a_row_is_read_back_as_what_belongs_to_it():
    found = teach_autoencoder(some_rows(teaching.ROWS), SIZES, 2, seeded_noise(1))
    read = found.read_back(np.array([[0, 0, 0], [1, 2, 1]]))
    assert read[0, [0, 2, 5]].min() > 0.8 and read[1, [1, 4, 6]].min() > 0.8
    # points are about normal, and without a seed rows are like those that taught
    assert found.points.mean(axis=0) == pytest.approx([0, 0], abs=0.2)
    assert ((found.points.std(axis=0) > 0.7) & (found.points.std(axis=0) < 1.5)).all()
    assert pairs_off(some_rows().T, found.alone(5000, seeded_noise(2)).T, SIZES) < 0.06


def test_it_costs_what_the_tables_cost_that_taught_it():
    source = Learning("pairs", SIZES, (0, 0, 0), Fraction(1), Fraction(1, 10**6), 2000)
    whole = Teaching(source, 2)
    assert whole.event == source.event and whole.deviation == source.deviation
    noise = seeded_noise(1)
    found = whole.learnt(some_rows().T, noise)
    assert noise.counted == whole.event.drawn()
    assert found.sizes == SIZES and found.points.shape == (teaching.ROWS, 2)
    # columns are in the order of the table, whichever the model draws first
    assert np.abs(found.read_back(some_rows(500)).mean(axis=0)[:2] - 0.5).max() < 0.1


@pytest.mark.parametrize(("sizes", "dimensions"), [((1,), 1), ((1, 1), 3), ((2,), 50)])
def test_there_is_always_something_to_learn(sizes, dimensions):
    rows = np.zeros((teaching.BATCH, len(sizes)), dtype=np.int64)
    found = teach_autoencoder(rows, sizes, dimensions, seeded_noise(1)).read_back(rows[:3])
    assert np.isfinite(found).all() and found[:, 0] == pytest.approx(np.ones(3), abs=0.05)


@pytest.mark.slow
def test_rows_of_adult_are_nearer_than_by_principal_components():
    """Half of 45,000 people teach at ε = 1, the other half are seeds; `components` have .080."""
    codes, sizes, ordered = adult()
    noise = seeded_noise(1)
    apart = noise.bernoulli(Fraction(1, 2), codes.shape[1])
    source = Learning("pairs", sizes, ordered, Fraction(1), Fraction(1, 10**9), 22_500)
    model = Teaching(source, 3).learnt(codes[:, apart], noise)
    off = pairs_off(codes, model.made(np.ascontiguousarray(codes[:, ~apart].T), noise).T, sizes)
    print(f"pairs off by {off:.4f}")
    assert off <= 0.065
