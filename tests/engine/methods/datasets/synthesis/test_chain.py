"""Column by column: donors come from their leaf, numbers keep their shape, missing stays as frequent."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from engine.methods.datasets.synthesis import chain
from engine.methods.datasets.synthesis.chain import few_levels_first
from engine.methods.datasets.synthesis.models import Synthesiser, learning
from engine.methods.datasets.synthesis.partition import Tree, leaves
from engine.methods.datasets.synthesis.variables import (
    POOLED,
    Amounts,
    Levels,
    values_of,
    variable,
    write_drawn,
)
from engine.table.declared import numbered_people
from engine.table.schema import Column, Domain, Kind, Origin
from engine.table.table import Table


def levels(codes, size=None):
    codes = np.asarray(codes, dtype=np.int64)
    return Levels(codes, tuple(f"v{place}" for place in range(size or codes.max() + 1)))


def fit(variables, order, *, smallest, **more):
    """Fit trees."""
    chance = np.random.default_rng(0)
    learn = learning(Synthesiser.TREE, smallest=smallest, chance=chance)
    return chain.fit(variables, order, smallest=smallest, learn=learn, **more)


def amounts(values, step="1"):
    return Amounts(np.asarray(values, dtype=float), Fraction(step))


def test_no_leaf_is_smaller_than_declared_and_every_row_is_in_one():
    chance = np.random.default_rng(1)
    x, y = amounts(chance.normal(size=3000), "0.001"), levels(chance.integers(0, 9, 3000))
    for target, other in ((y, x), (x, y)):
        found = leaves(target, [other], np.arange(3000), smallest=30)
        assert found.count[found.count > 0].min() >= 30
        assert sorted(found.rows) == list(range(3000)) and found.count.sum() == 3000


def test_of_two_cuts_that_are_as_good_the_same_one_is_made():
    """Which is no draw: what leaves follows from the rows and from what is drawn by the one source."""
    first, second = np.tile([0, 0, 1, 1], 10), np.tile([0, 1, 0, 1], 10)
    target, predictors = amounts(first + second), [levels(first), levels(second)]
    made = [leaves(target, predictors, np.arange(40), smallest=20) for _ in range(30)]
    seen = [values_of(one) for one in predictors]
    assert len({tuple(one.leaf(seen, 40)) for one in made}) == 1 and len(set(made[0].leaf(seen, 40))) == 2


def test_donors_of_a_leaf_are_drawn_evenly():
    """Chi-square over 200 cells: exceeded by chance in 1 of 10,000 runs; the seed is fixed."""
    chance = np.random.default_rng(2)
    group = np.repeat([0, 1], 200)
    target = levels(np.concatenate([np.zeros(200), np.ones(200)]))
    found = leaves(target, [levels(group)], np.arange(400), smallest=20)
    leaf = found.leaf([np.zeros(100_000)], 100_000)
    donors = Tree(levels(np.arange(400)), found).drawn_in(leaf, chance).astype(int)  # each by its number
    assert set(donors) == set(range(200)) and len(set(leaf)) == 1
    counts = np.bincount(donors)
    assert stats.chisquare(counts).pvalue > 1e-4


def test_two_levels_divide_as_the_gini_index_does():
    from sklearn.tree import DecisionTreeClassifier

    chance = np.random.default_rng(3)
    x = chance.normal(size=2000)
    y = (x + chance.normal(size=2000) > 0).astype(np.int64)
    found = leaves(levels(y), [amounts(x, "0.0001")], np.arange(2000), smallest=50)
    other = DecisionTreeClassifier(min_samples_leaf=50, random_state=0)
    leaf_of = other.fit(np.column_stack([x, np.zeros(2000)]).astype(np.float32), y).apply(
        np.column_stack([x, np.zeros(2000)]).astype(np.float32)
    )
    own = np.repeat(np.arange(len(found.count)), found.count)
    pairs = {(a, b) for a, b in zip(own, leaf_of[found.rows], strict=True)}
    assert len(pairs) == len(set(leaf_of)) == (found.count > 0).sum()


def test_atoms_stay_and_other_numbers_move_between_neighbours():
    chance = np.random.default_rng(4)
    values = np.where(chance.random(5000) < 0.3, 0.0, np.round(chance.lognormal(5, 1, 5000), 2))
    money = amounts(values, "0.01")
    found = leaves(money, [], np.arange(5000), smallest=20)
    made = Tree(money, found).draw([], 5000, chance)
    assert abs((made == 0).mean() - 0.3) < 0.03
    assert np.isin(made[made > 0], values).mean() < 0.5
    assert values.min() <= made.min() and made.max() <= values.max()
    assert stats.ks_2samp(made, values).pvalue > 1e-3
    assert np.allclose(made * 100, np.round(made * 100))


def test_what_belongs_together_stays_together():
    chance = np.random.default_rng(5)
    sex = chance.integers(0, 2, 8000)
    height = np.round(165 + 12 * sex + chance.normal(size=8000) * 6)
    weight = np.round(height - 100 + chance.normal(size=8000) * 8)
    found = {"sex": levels(sex), "height": amounts(height), "weight": amounts(weight)}
    made = fit(found, few_levels_first(found), smallest=20).draw(8000, chance)
    assert abs(np.corrcoef(made["height"], made["weight"])[0, 1] - np.corrcoef(height, weight)[0, 1]) < 0.03
    gap = made["height"][made["sex"] == 1].mean() - made["height"][made["sex"] == 0].mean()
    assert abs(gap - 12) < 1


def test_missing_is_as_frequent_in_every_group_and_names_no_number():
    chance = np.random.default_rng(6)
    old = chance.integers(0, 2, 6000)
    value = np.where(chance.random(6000) < np.where(old == 1, 0.3, 0.08), np.nan, chance.normal(size=6000))
    found = {"old": levels(old), "value": amounts(value, "0.01")}
    made = fit(found, ("old", "value"), smallest=50).draw(6000, chance)
    absent = np.isnan(made["value"])
    assert abs(absent[made["old"] == 1].mean() - 0.3) < 0.03
    assert abs(absent[made["old"] == 0].mean() - 0.08) < 0.03


@pytest.mark.parametrize("values", [[np.nan] * 60, [7.0] * 60, [np.nan, 7.0] * 30])
def test_a_column_without_variety_is_drawn(values):
    found = {"a": amounts(values), "b": levels(np.arange(60) % 2)}
    made = fit(found, ("a", "b"), smallest=5).draw(60, np.random.default_rng(0))
    assert set(made["a"][~np.isnan(made["a"])]) <= {7.0} and set(made["b"]) == {0, 1}


def test_models_are_fitted_on_the_rows_inside_alone():
    inside = np.arange(200) < 100
    found = {"x": levels(np.arange(200) % 2), "y": levels(np.where(inside, 0, 1))}
    made = fit(found, ("y",), smallest=5, given=("x",), inside={"y": inside}).draw(
        50, np.random.default_rng(0), known={"x": np.zeros(50)}
    )
    assert set(made["y"]) == {0}


# --- cells ----------------------------------------------------------------------------------------


def test_a_level_that_too_few_people_have_never_shows():
    column = Column("ward", kind=Kind.CATEGORY)
    values = pd.Series(["a"] * 20 + ["b"] * 6 + ["secret"] * 4)
    people = np.array([*range(20), *range(20, 26), 30, 30, 30, 30])  # one person has "secret" four times
    found = variable(values, column, people=people, least_people=2)
    cells = write_drawn(found, found.codes.astype(float), np.random.default_rng(0)).tolist()
    assert "secret" not in cells and cells.count(POOLED) == 4


def test_a_rare_declared_level_is_replaced_by_any_that_could_stand_there():
    domain = Domain(values=("a", "b", "c", "d"))
    column = Column("ward", kind=Kind.CATEGORY, domain=domain, domain_origin=Origin.DECLARED)
    found = variable(pd.Series(["a"] * 30 + ["b"] * 300), column, people=np.arange(330), least_people=50)
    cells = write_drawn(found, found.codes.astype(float), np.random.default_rng(0)).tolist()
    assert set(cells[:30]) == {"a", "c", "d"} and set(cells[30:]) == {"b"}


@pytest.mark.parametrize(
    ("kind", "values", "expected"),
    [
        (Kind.INTEGER, [3.0, None], ["3", ""]),
        (Kind.NUMBER, [1.25, 7.5], ["1.25", "7.5"]),
        (Kind.DATE, pd.to_datetime(["2020-02-29", None]), ["2020-02-29", ""]),
    ],
)
def test_amounts_are_written_as_people_write_them(kind, values, expected):
    found = variable(pd.Series(values), Column("x", kind=kind), people=np.arange(2), least_people=1)
    assert write_drawn(found, found.values, np.random.default_rng(0)).tolist() == expected


def gains(rows=6000, seed=11):
    """Return a group and an amount that is 0 in most rows, else around 5,000 or 15,000 by the group."""
    chance = np.random.default_rng(seed)
    group = chance.integers(0, 2, rows)
    has = chance.random(rows) < np.where(group == 1, 0.12, 0.05)
    middle = np.where(group == 1, 15_000, 5_000)
    return group, np.where(has, np.round(chance.normal(middle, 400)), 0.0)


def test_an_amount_that_most_rows_have_is_decided_first_and_moves_no_other():
    """Where 0 and 5,000 shared leaves, a drawn 5,000 moved towards 0: no value lies between them now."""
    group, amount = gains()
    found = {"group": levels(group), "amount": amounts(amount)}
    drawn = fit(found, ("group", "amount"), smallest=20).draw(6000, np.random.default_rng(1))
    for one in (0, 1):
        own, made = amount[group == one], drawn["amount"][drawn["group"] == one]
        assert abs((own == 0).mean() - (made == 0).mean()) < 3 * (0.1 * 0.9 * 2 / 2800) ** 0.5
        assert made[made > 0].min() >= own[own > 0].min() and made.max() <= own.max()
        assert abs(made[made > 0].mean() - own[own > 0].mean()) < 3 * 400 * (2 / (own > 0).sum()) ** 0.5


def test_a_usual_amount_goes_with_missing_ones_and_needs_enough_others():
    group, amount = gains()
    chance = np.random.default_rng(2)
    absent = chance.random(6000) < np.where(group == 1, 0.3, 0.1)
    found = {"group": levels(group), "amount": amounts(np.where(absent, np.nan, amount))}
    made = fit(found, ("group", "amount"), smallest=20)
    link = made.links[1]
    assert link.usual == 0 and link.pattern is not None
    drawn = made.draw(6000, chance)
    for one in (0, 1):
        its = drawn["amount"][drawn["group"] == one]
        assert np.isnan(its).mean() == pytest.approx(absent[group == one].mean(), abs=0.035)
        shown = amount[(group == one) & ~absent]
        assert (its[~np.isnan(its)] == 0).mean() == pytest.approx((shown == 0).mean(), abs=0.025)
    few = np.where(np.arange(6000) < 15, amount.max() + np.arange(6000), 0.0)
    (alone,) = fit({"amount": amounts(few)}, ("amount",), smallest=20).links
    assert alone.pattern is None and np.isnan(alone.usual)  # fewer others than a leaf needs


def test_no_amount_is_usual_unless_most_rows_have_it():
    half = np.where(np.arange(1000) < 500, 40.0, np.arange(1000))
    (alone,) = fit({"hours": amounts(half)}, ("hours",), smallest=20).links
    assert alone.pattern is None and np.isnan(alone.usual)


def test_rows_that_are_people_of_their_own_need_no_numbers():
    chance = np.random.default_rng(4)
    cells = pd.Series(chance.integers(0, 60, 400))
    for kind in (Kind.CATEGORY, Kind.INTEGER):
        one, other = (
            variable(cells, Column("x", kind=kind), people=people, least_people=6)
            for people in (None, chance.permutation(400))
        )
        if isinstance(one, Levels):
            assert one.texts == other.texts and (one.codes == other.codes).all() and one.rare >= 0
        else:
            assert (one.is_rare == other.is_rare).all() and 0 < one.is_rare.mean() < 1
            assert (one.is_atom == other.is_atom).all() and one.is_atom.any()
    table = Table(pd.DataFrame({"key": ["a", "b", None], "x": [1, 2, 3]}))
    assert numbered_people(table, Column("key", kind=Kind.TEXT)) is None
    twice = Table(pd.DataFrame({"key": ["a", "a", None], "x": [1, 2, 3]}))
    assert len(set(numbered_people(twice, Column("key", kind=Kind.TEXT)))) == 2


def test_numbers_are_written_alike_whether_all_are_small_or_not():
    whole = Amounts(np.array([1.0]), Fraction(1))
    drawn = np.array([0.0, -7.0, 1e6, np.nan, 123_456_789_012.0])
    few = write_drawn(whole, drawn, np.random.default_rng(0)).tolist()
    many = write_drawn(whole, np.append(drawn, 1e16), np.random.default_rng(0)).tolist()
    assert few == many[:-1] == ["0", "-7", "1000000", "", "123456789012"]
