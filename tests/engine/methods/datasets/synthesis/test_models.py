"""Every kind of model: relations stay, draws stay inside, parameters move as their posterior says."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from engine.methods.datasets.synthesis import chain
from engine.methods.datasets.synthesis.design import MOST_INDICATORS, Design, bins
from engine.methods.datasets.synthesis.models import Synthesiser, forest, learning
from engine.methods.datasets.synthesis.regression import Shares, linear, logistic
from engine.methods.datasets.synthesis.variables import Amounts, Levels

KINDS = tuple(Synthesiser)


@pytest.fixture(autouse=True)
def seeded():
    """Make repeatable what scikit-learn draws: the order of equal cuts, the first weights of a network."""
    np.random.seed(1)


def levels(codes):
    codes = np.asarray(codes, dtype=np.int64)
    return Levels(codes, tuple(f"v{place}" for place in range(codes.max() + 1)))


def amounts(values, step="1/100", **more):
    return Amounts(np.asarray(values, dtype=float), Fraction(step), **more)


def drawn(kind, variables, order, n, *, given=(), known=None, seed=1, smallest=20):
    chance = np.random.default_rng(seed)
    learn = learning(kind, smallest=smallest, chance=chance)
    found = chain.fit(variables, order, smallest=smallest, learn=learn, given=given)
    return found.redrawn(chance).draw(n, chance, known=known)


@pytest.fixture(scope="module")
def people():
    chance = np.random.default_rng(5)
    sex = chance.integers(0, 2, 4000)
    ward = np.where(chance.random(4000) < 0.7, sex, 2)
    height = 165 + 12 * sex + chance.normal(size=4000) * 6
    weight = height - 100 + chance.normal(size=4000) * 8
    weight[chance.random(4000) < np.where(sex == 1, 0.3, 0.1)] = np.nan
    return {"sex": levels(sex), "ward": levels(ward), "height": amounts(height), "weight": amounts(weight)}


@pytest.mark.parametrize("kind", KINDS)
def test_what_belongs_together_stays_together(people, kind):
    made = drawn(kind, people, tuple(people), 4000)
    both = ~np.isnan(made["weight"])
    kept = np.corrcoef(made["height"][both], made["weight"][both])[0, 1]
    assert abs(kept - 0.73) < (0.1 if kind is Synthesiser.NETWORK else 0.05)  # which sees intervals alone
    gap = made["height"][made["sex"] == 1].mean() - made["height"][made["sex"] == 0].mean()
    assert abs(gap - 12) < 1
    for level in (0, 1):
        share = (made["ward"] == 2)[made["sex"] == level].mean()
        assert abs(share - 0.3) < 0.05 and not (made["ward"] == 1 - level)[made["sex"] == level].mean() > 0.02
        assert abs(np.isnan(made["weight"])[made["sex"] == level].mean() - (0.1, 0.3)[level]) < 0.05


@pytest.mark.parametrize("kind", KINDS)
def test_draws_are_on_the_steps_within_the_bounds(kind):
    chance = np.random.default_rng(6)
    group = chance.integers(0, 3, 900)
    hours = np.round(np.clip(chance.normal(20, 20, 900) + 10 * group, 0, 60) / 5) * 5
    found = {"group": levels(group), "hours": amounts(hours, "5", low=0.0, high=60.0)}
    made = drawn(kind, found, ("group", "hours"), 900)["hours"]
    assert made.min() >= 0 and made.max() <= 60 and not (made % 5).any()
    assert len(set(made)) >= 3


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "odd",
    [levels([0] * 60), amounts([7.0] * 60), amounts([np.nan] * 60), amounts([np.nan, 7.0] * 30)],
    ids=["one level", "one number", "all missing", "one number or missing"],
)
def test_a_column_without_variety_is_drawn_and_predicted_from(kind, odd):
    found = {"a": levels(np.arange(60) % 2), "odd": odd, "b": amounts(np.arange(60.0))}
    for order in (("a", "odd", "b"), ("odd", "b", "a"), ("b", "a", "odd")):
        made = drawn(kind, found, order, 60, smallest=5)
        own = made["odd"][~np.isnan(made["odd"])]
        assert set(own) <= {0.0} if isinstance(odd, Levels) else set(own) <= {7.0}
        assert set(made["a"]) <= {0, 1} and np.isfinite(made["b"]).all()


def test_coefficients_are_drawn_as_least_squares_says():
    """Means within 5 and spreads within 10 standard errors of 2,000 draws; the formulas of one predictor."""
    chance = np.random.default_rng(7)
    x = chance.normal(size=300)
    y = 2 + 3 * x + chance.normal(size=300) * 1.5
    found = linear(amounts(y, "1/1000000"), [amounts(x)], np.arange(300), smallest=20)
    fitted = stats.linregress((x - x.mean()) / x.std(), y)
    draws = [found.redrawn(chance) for _ in range(2000)]
    slopes = np.array([one.coefficients[1] for one in draws])
    assert slopes.mean() == pytest.approx(fitted.slope * 300 / 301, abs=5 * fitted.stderr / 2000**0.5)
    assert slopes.std() == pytest.approx(fitted.stderr, rel=0.16)
    deviations = np.array([one.deviation for one in draws])
    assert deviations.mean() == pytest.approx(found.deviation, rel=0.02)
    assert deviations.std() / found.deviation == pytest.approx((2 * 298) ** -0.5, rel=0.16)


def test_levels_are_drawn_with_the_uncertainty_of_logistic_regression():
    """The spread of the log odds ratio of a two by two table is known: √(Σ 1/count)."""
    chance = np.random.default_rng(8)
    x = np.repeat([0, 1], 400)
    y = np.concatenate([np.arange(400) < 100, np.arange(400) < 240]).astype(int)
    found = logistic(levels(y), [levels(x)], np.arange(800), smallest=20)
    slopes = np.array([found.redrawn(chance).model.coef_[0, 0] for _ in range(100)])
    assert abs(slopes.mean()) == pytest.approx(np.log(3 * 1.5), abs=0.06)
    assert slopes.std() == pytest.approx((1 / 100 + 1 / 300 + 1 / 240 + 1 / 160) ** 0.5, rel=0.3)


def test_shares_without_predictors_are_drawn_as_dirichlet():
    chance = np.random.default_rng(9)
    found = logistic(levels([0] * 30 + [1] * 70), [], np.arange(100), smallest=5)
    assert isinstance(found, Shares)
    shares = np.array([(one := found.redrawn(chance).counts)[0] / one.sum() for _ in range(4000)])
    assert shares.mean() == pytest.approx(0.3, abs=0.005)
    assert shares.std() == pytest.approx((0.3 * 0.7 / 101) ** 0.5, rel=0.06)


def test_a_regression_without_a_declared_bound_shows_nobody_at_the_end():
    values = np.append(np.arange(1000.0), 1e6)
    found = linear(amounts(values, least_people=5), [], np.arange(1001), smallest=20)
    assert found.high == pytest.approx((1e6 + 999 + 998 + 997 + 996) / 5)
    assert found.low == 2.0 and found.beyond > 0
    made = found.draw([], 20_000, np.random.default_rng(1))
    outside = ((made == 2.0) | (made == round(found.high, 2))).mean()
    assert outside == pytest.approx(found.beyond, abs=0.015)


def test_ranks_keep_heaps_and_move_rare_numbers():
    chance = np.random.default_rng(10)
    values = np.where(chance.random(3000) < 0.4, 0.0, np.round(chance.lognormal(5, 1, 3000), 2))
    found = linear(amounts(values, least_people=5), [], np.arange(3000), smallest=20, ties=chance)
    made = found.draw([], 3000, chance)
    assert abs((made == 0).mean() - 0.4) < 0.03
    assert np.isin(made[made > 0], values).mean() < 0.5
    assert stats.ks_2samp(made, values).pvalue > 1e-3


def test_no_leaf_of_a_forest_has_fewer_different_rows():
    chance = np.random.default_rng(11)
    x = amounts(chance.normal(size=1000))
    y = amounts(x.values + chance.normal(size=1000))
    found = forest(y, [x], np.arange(1000), smallest=15, trees=5, chance=chance)
    assert len(found.trees) == 5
    assert all(tree.leaves.count[tree.leaves.count > 0].min() >= 15 for tree in found.trees)
    cuts = [tree.leaves.tree.tree_.threshold[0] for tree in found.trees]
    assert len(set(cuts)) > 1  # each saw other rows


def test_intervals_have_enough_rows_and_heaps_stand_alone():
    chance = np.random.default_rng(13)
    values = np.where(chance.random(2000) < 0.5, 40.0, np.round(chance.normal(40, 12, 2000)))
    cuts = bins(values, smallest=30)
    counts = np.bincount(np.searchsorted(cuts, values, side="right"))
    assert counts.min() >= 30 and len(counts) <= 25
    assert 40.0 in cuts and 41.0 in cuts


def test_rare_levels_of_predictors_are_not_told_apart():
    many = levels(np.concatenate([np.repeat(np.arange(100), 30), [100, 101]]))
    rows = np.arange(3002)
    design = Design.fitted([many], rows, smallest=20)
    seen = design.matrix([many.codes.astype(float)])
    assert seen.shape == (3002, MOST_INDICATORS) and not seen[-2:].any()
    few = Design.fitted([levels([0, 1] * 20 + [2] * 3)], np.arange(43), smallest=5)
    assert few.matrix([np.array([0.0, 1.0, 2.0])]).tolist() == [[0], [1], [0]]
