"""Bands of additive models: what the noise does to a curve, by itself and through others."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from engine.methods.models import additive_bands, additive_steps
from engine.methods.models.additive_bands import HIDDEN, Followed, correlations, count_together, slope_left
from engine.methods.models.additive_grids import Grid
from engine.methods.models.additive_schedule import RESIDUAL_STEPS, Schedule
from engine.methods.models.additive_steps import fit
from tests.noise_source import seeded_noise

SMALL = Fraction(1, 10**6)
REPETITIONS = 30


def curve(rows, effects=None):
    """A curve of which the order of its cells alone matters here."""
    size, kept = len(rows), np.array(rows, float)
    plain, whole = np.zeros(size) if effects is None else np.array(effects), np.eye(size)
    return Followed(kept, plain, whole, whole, [], [], np.arange(size), whole)


def columns(n=4000, seed=1, going=0.9):
    """Four columns of which two say nearly the same, and one by names; the target of both kinds."""
    chance = np.random.default_rng(seed)
    first = chance.normal(size=n)
    second = going * first + np.sqrt(1 - going**2) * chance.normal(size=n)
    cells = [np.clip(np.floor(one * 2 + 5), 0, 9).astype(int) for one in (first, second)]
    named = np.array([3, 0, 4, 1, 2])[
        np.clip(np.floor(second + chance.normal(size=n) / 3 + 2.5), 0, 4).astype(int)
    ]
    cells += [named, chance.integers(0, 8, n)]
    return cells, first + 0.5 * np.sin(cells[3]), chance


def covered(plan, codes, target, ordered, grids=()):
    """Return how often bands hold the mean over releases of the same rows, in cells that have a band."""
    effects, spreads, rows = [], [], []
    for seed in range(REPETITIONS):
        fitted = fit(codes, target, plan, ordered=ordered, grids=grids, noise=seeded_noise(seed))
        curves = fitted.pairs if grids else fitted.curves
        effects.append(np.concatenate([one.effects for one in curves]))
        spreads.append(np.concatenate([one.spread for one in curves]))
        rows.append(np.concatenate([one.rows for one in curves]))
    off = np.abs(np.array(effects) - np.mean(effects, axis=0)) * np.sqrt(REPETITIONS / (REPETITIONS - 1))
    shown = np.array(rows) > 2 * plan.deviation(plan.count_scale)
    return float((off <= 1.96 * np.array(spreads))[shown].mean())


@pytest.mark.parametrize("delta", [SMALL, Fraction(0)])
@pytest.mark.parametrize("classes", [True, False])
@pytest.mark.parametrize("going", [0.0, 0.97])
@pytest.mark.guarantee
def test_bands_hold_where_columns_go_together_as_where_they_do_not(going, classes, delta):
    """30 fits of some thirty cells: before, 55 to 85 of 100 held in columns that go together."""
    codes, score, chance = columns(going=going)
    if classes:
        target = (chance.random(len(score)) < 1 / (1 + np.exp(-score))) * RESIDUAL_STEPS
    else:
        target = np.rint(np.clip(score / 4 + chance.normal(size=len(score)) / 8, -1, 1) * RESIDUAL_STEPS)
    plan = Schedule((10, 10, 5, 8), Fraction(1), delta, 1, False, len(score), classes).borne_out()
    assert 0.92 < covered(plan, codes, target.astype(np.int32), (10, 10, 0, 8)) < 0.985


SIZES, IN_ORDER = (2, 3, 4, 5, 6, 8, 12, 5, 4), (0, 0, 0, 5, 6, 8, 0, 5, 0)


def nine_columns(n, going, seed=5):
    """Nine columns with one thing behind them, so much of it in each, and a number that they explain."""
    chance = np.random.default_rng(seed)
    behind, codes, score = chance.normal(size=n), [], np.zeros(n)
    for size in SIZES:
        own = going * behind + np.sqrt(1 - going**2) * chance.normal(size=n)
        codes.append(np.digitize(own, np.quantile(own, np.arange(1, size) / size)))
        score += chance.normal(size=size)[codes[-1]]
    score = (score - score.mean()) / score.std()
    target = (0.9 * score + 0.43 * chance.normal(size=n)) / 5
    return codes, np.rint(np.clip(target, -1, 1) * RESIDUAL_STEPS).astype(np.int32)


def test_where_the_noise_hides_what_goes_together_bands_are_wider_than_if_nothing_did(monkeypatch):
    """At ε = 1/3 without δ the 36 sums say nothing of 4,000 rows; before, no two columns were taken to."""
    codes, target = nine_columns(4000, 0.95)
    plan = Schedule(SIZES, Fraction(1, 3), Fraction(0), 1, False, 4000, False).borne_out()
    own = fit(codes, target, plan, ordered=IN_ORDER, noise=seeded_noise(1))
    monkeypatch.setattr(additive_steps, "correlations", lambda *_: np.eye(9))
    bare = fit(codes, target, plan, ordered=IN_ORDER, noise=seeded_noise(1))
    effects = (np.concatenate([one.effects for one in found.curves]) for found in (own, bare))
    assert np.array_equal(*effects)
    wide, narrow = (np.concatenate([one.spread for one in found.curves]) for found in (own, bare))
    assert (wide > 0.99 * narrow).all() and np.median(wide / narrow) > 1.1


@pytest.mark.before_release
@pytest.mark.parametrize("delta", [SMALL, Fraction(0)])
@pytest.mark.parametrize("going", [0.0, 0.95])
@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1, 3), Fraction(1)])
def test_bands_of_nine_columns_hold_at_small_levels(epsilon, going, delta):
    """Where the noise hides what goes together they may be wider than they need be, never narrower."""
    codes, target = nine_columns(4000, going)
    plan = Schedule(SIZES, epsilon, delta, 1, False, 4000, False).borne_out()
    assert covered(plan, codes, target, IN_ORDER) > 0.92


@pytest.mark.guarantee
def test_noise_that_is_not_followed_is_missed(monkeypatch):
    """Without what was bought, as if no column went with another: what the test above would find."""
    codes, score, chance = columns(going=0.97)
    target = np.rint(np.clip(score / 4 + chance.normal(size=len(score)) / 8, -1, 1) * RESIDUAL_STEPS)
    plan = Schedule((10, 10, 5, 8), Fraction(1), SMALL, 1, False, len(score), False).borne_out()
    monkeypatch.setattr(additive_steps, "correlations", lambda *_: np.eye(4))
    assert covered(plan, codes, target.astype(np.int32), (10, 10, 0, 8)) < 0.9


@pytest.mark.guarantee
def test_bands_of_many_cells_follow_groups_of_them():
    chance = np.random.default_rng(2)
    first = chance.integers(0, 60, 6000)
    codes = [first, np.clip(first + chance.integers(-5, 6, 6000), 0, 59), chance.integers(0, 4, 6000)]
    target = (chance.random(6000) < 1 / (1 + np.exp(-(first - 30) / 15))) * RESIDUAL_STEPS
    plan = Schedule((60, 60, 4), Fraction(1), SMALL, 1, False, 6000, True).borne_out()
    assert covered(plan, codes, target.astype(np.int32), (60, 60, 4)) > 0.92


@pytest.mark.guarantee
def test_bands_of_a_table_of_points():
    """A pair stands alone in them: a first approximation, as its note says."""
    chance = np.random.default_rng(3)
    first, second = chance.integers(0, 5, 4000), chance.integers(0, 4, 4000)
    target = (chance.random(4000) < 0.3 + 0.4 * ((first > 2) == (second > 1))) * RESIDUAL_STEPS
    plan = Schedule((5, 4, 20), Fraction(1), SMALL, 1, False, 4000, True, pairs=1).borne_out()
    codes = [first, second, first * 4 + second]
    held = covered(plan, codes, target.astype(np.int32), (5, 4), [Grid((5, 4), (5, 4))])
    assert held > 0.9


def test_of_many_curves_those_that_go_with_it_are_followed(monkeypatch):
    """The same bands whether all are followed at once or each with its nearest, where the rest do nothing."""
    codes, score, _ = columns(n=3000)
    target = np.rint(np.clip(score / 4, -1, 1) * RESIDUAL_STEPS).astype(np.int32)
    plan = Schedule((10, 10, 5, 8), Fraction(2), SMALL, 1, False, 3000, False).borne_out()
    whole = fit(codes, target, plan, ordered=(10, 10, 0, 8), noise=seeded_noise(1))
    monkeypatch.setattr(additive_bands, "MOST_BESIDE", 3)
    parts = fit(codes, target, plan, ordered=(10, 10, 0, 8), noise=seeded_noise(1))
    for one, other in zip(whole.curves, parts.curves, strict=True):
        assert (one.effects == other.effects).all()
        assert other.spread == pytest.approx(one.spread, rel=0.15)


def test_equal_halves_by_hand():
    """Rows (0, 0), (0, 1), (1, 1), (1, 1) of two columns; a third has the first one's halves exchanged."""
    codes = [np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1]), np.array([1, 1, 0, 0])]
    curves = [curve([2, 2]), curve([1, 3]), curve([2, 2])]
    assert count_together(codes, curves).tolist() == [2, -4, -2]


@pytest.mark.parametrize("known", [-0.9, 0.0, 0.5, 0.98])
def test_correlations_of_normal_columns_are_found_from_their_halves(known):
    chance = np.random.default_rng(4)
    first = chance.normal(size=100_000)
    second = known * first + np.sqrt(1 - known**2) * chance.normal(size=100_000)
    codes = [(first > 0.3).astype(int), np.digitize(second, [-1, 0, 2])]
    curves = [curve(np.bincount(one)) for one in codes]
    found = correlations(count_together(codes, curves).astype(float), 0.0, 100_000.0, curves)
    assert found[0, 1] == pytest.approx(known, abs=0.02) and found[0, 0] == 1


def test_what_noise_hides_may_go_together_and_no_variance_is_negative():
    curves = [curve([50, 50])] * 3
    hidden = correlations(np.array([90.0, -90.0, 90.0]), 500.0, 100.0, curves)
    assert hidden == pytest.approx(np.where(np.eye(3) == 1, 1.0, HIDDEN))
    found = correlations(np.array([98.0, -98.0, 98.0]), 1.0, 100.0, curves)  # no three columns can be so
    assert np.linalg.eigvalsh(found).min() > -1e-9 and np.diag(found) == pytest.approx(1)


def test_the_slope_of_clipped_residuals_by_hand():
    """At p = .2 of the model .2 / .7 are of the class: of .2 · .8 the other 5/7 are left."""
    odds = np.log(0.2 / 0.8)
    assert slope_left(np.array([odds, -odds])) == pytest.approx(0.16 * 5 / 7)
    assert slope_left(np.array(-1e-9)) == pytest.approx(0.125)  # at one half half of them are clipped
    with np.errstate(all="raise"):
        assert slope_left(np.array([-1100.0, 1100.0])) == pytest.approx(0.0)


@pytest.mark.parametrize("delta", [SMALL, Fraction(0)])
@pytest.mark.parametrize("replace_one", [False, True])
def test_what_one_person_moves_which_columns_go_together_is_paid_for(delta, replace_one):
    """Two rows of a person, or those of two people: each moves every sum by 1, the other way round by 2."""
    plan = Schedule((4, 4, 4), Fraction(1), delta, 2, replace_one, 1000, True)
    event = next(one for one in plan.events.parts if one.scale == plan.together_scale)
    moved = 2 * (2 if replace_one else 1)
    assert float(event.sensitivity) == pytest.approx(moved * (np.sqrt(3) if delta else 3))
    assert replace(plan, pairs=2).compared == 0 and replace(plan, mean_alone=True).compared == 0
