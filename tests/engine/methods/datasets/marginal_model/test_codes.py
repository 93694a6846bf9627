"""Columns of very many codes: groups for the model, codes drawn within them, whatever the rows hold."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from engine.methods.datasets.marginal_model.codes import MISSED, Coded, as_coded, shares_within
from engine.methods.datasets.marginal_model.fitting import Measured
from engine.methods.datasets.marginal_model.rounds import code_table
from engine.methods.datasets.marginal_model.schedule import CODES, Schedule
from engine.methods.shared.column_cells import Named
from engine.table.hierarchies import Hierarchy
from engine.table.schema import Column, Domain, Kind, Origin
from tests.noise_source import seeded_noise


def listed(values, hierarchy=None, kind=Kind.CATEGORY, missing=("?",)):
    return Column(
        "c",
        kind=kind,
        domain=Domain(values=tuple(values)),
        domain_origin=Origin.DECLARED,
        hierarchy=hierarchy,
        missing=missing,
    )


FIVE = listed(["A1", "B1", "A2", "C1", "B2"], Hierarchy(prefix=(1,)))


def five(shares=None):
    return Coded(FIVE, 1, np.array([0, 1, 0, 2, 1]), None if shares is None else np.array(shares))


def measured(counts, deviation):
    return Measured((0,), (np.arange(len(counts)),), np.array(counts, dtype=float), deviation)


def cells_of_letters(codes):
    return ["ABC".index(code[0]) for code in codes]


def test_the_finest_step_with_few_enough_groups_is_taken():
    codes = [f"{letter}{one}{two}" for letter in "ABC" for one in range(10) for two in range(10)]
    column = listed(codes, Hierarchy(prefix=(2, 1)))
    for most, step, groups in ((299, 1, 30), (30, 1, 30), (29, 2, 3)):
        cells = as_coded(Named(column), most=most)
        assert isinstance(cells, Coded) and (cells.step, cells.count, cells.size) == (
            step,
            groups,
            groups + 2,
        )
    assert [cells.column.domain.values[place] for place in np.flatnonzero(cells.groups == 1)] == codes[
        100:200
    ]
    for cells in (as_coded(Named(column), most=302), as_coded(Named(column), most=2)):
        assert type(cells) is Named  # small enough, or no step is coarse enough
    assert type(as_coded(Named(listed(codes)), most=9)) is Named
    tree = Hierarchy(tree={code: (code[0],) for code in codes})
    assert as_coded(Named(listed(codes, tree)), most=9).groups.tolist() == cells_of_letters(codes)


def test_every_row_is_in_the_cell_of_its_group_whatever_it_holds():
    values = pd.Series(["A2", "B2", "C1", " A1 ", "C9", "", None, "?", "c1"])
    assert five().codes(values).tolist() == [0, 1, 2, 0, 3, 4, 4, 4, 3]
    assert five().fine_codes(values).tolist() == [2, 4, 3, 0, 5, 6, 6, 6, 5]
    assert five().written(np.array([3, 4]), np.zeros(2)) == ["other", ""]
    assert five().written(np.array([], dtype=int), np.array([])) == []
    assert as_coded(Named(listed("a")), most=0).size == 3


def test_an_order_is_kept_where_groups_follow_each_other():
    bands = Hierarchy(bands=(Fraction(10),))
    numbers = listed(map(str, range(100)), bands, Kind.INTEGER)
    assert as_coded(Named(numbers), most=20).ordered == 10
    mixed = listed(["3", "14", "5"], bands, Kind.INTEGER)
    assert as_coded(Named(mixed), most=2).ordered == 0 and five().ordered == 0


def test_what_is_seen_keeps_its_count_and_the_rest_is_even():
    groups = np.array([0, 0, 0, 1, 1, 2, 2])
    table = measured([50, 5, -3, -1, 2, 40, 60, 999, 999], 2.0)
    found = shares_within(groups, table, np.array([70.0, 10, 50, 7, 7]))
    # 50 are seen of 70, and 20 are for the two others; nothing is seen; more are seen than there are rows
    assert found == pytest.approx([50 / 70, 10 / 70, 10 / 70, 0.5, 0.5, 0.4, 0.6])
    empty = shares_within(groups, table, np.zeros(5))
    assert empty == pytest.approx([1, 0, 0, 0.5, 0.5, 0.4, 0.6])


def test_codes_are_drawn_in_numbers_within_one_of_what_is_expected():
    chance = np.random.default_rng(1)
    groups = chance.integers(0, 40, 1000)
    groups[:40] = np.arange(40)
    shares = chance.random(1000) ** 4
    shares /= np.bincount(groups, shares)[groups]
    cells = Coded(listed([f"v{place}" for place in range(1000)]), 1, groups, shares)
    own = chance.integers(0, 42, 30_000)
    drawn = cells.written(own, chance.random(len(own)))
    assert np.array_equal(cells.codes(pd.Series(drawn)), own)
    found = np.bincount(cells.fine_codes(pd.Series(drawn)), minlength=1002)[:1000]
    expected = shares * np.bincount(own, minlength=42)[groups]
    assert np.abs(found - expected).max() < 1 + 1e-9


def test_which_row_gets_which_code_is_chance():
    cells = five([0.5, 1, 0.5, 1, 0])
    own = np.zeros(1000, dtype=int)
    drawn = np.array(cells.written(own, np.random.default_rng(2).random(1000))) == "A1"
    assert drawn.sum() == 500 and 200 < drawn[:500].sum() < 300  # 16 deviations
    single = [cells.written(np.array([0]), np.array([place]))[0] for place in (0.0, 0.49, 0.51, 1 - 2**-53)]
    assert single == ["A1", "A1", "A2", "A2"]
    assert set(cells.written(np.ones(9, dtype=int), np.full(9, 1 - 2**-53))) == {"B1"}  # B2 has no share


@pytest.mark.parametrize("delta", [0, Fraction(1, 10**6)])
def test_the_table_of_codes_is_noise_of_the_scale_that_is_paid_for(delta):
    """With 20,000 cells the variance is within 5 % of what is claimed, and the mean 0 (4 deviations)."""
    schedule = Schedule((5, 4), Fraction(1), Fraction(delta), 2, 4, 10_000, codes=1)
    table = code_table(np.zeros(0, dtype=int), 20_000, schedule, seeded_noise(3))
    deviation = schedule.deviation(schedule.code)
    assert table.counts.var() == pytest.approx(deviation**2, rel=0.05)
    assert abs(table.counts.mean()) < 4 * deviation / np.sqrt(20_000)
    filled = code_table(np.array([7] * 5000), 20_000, schedule, seeded_noise(3))
    assert np.flatnonzero(filled.counts - table.counts).tolist() == [7]


@pytest.mark.parametrize("delta", [0, Fraction(1, 10**6)])
def test_tables_of_codes_are_paid_for_with_everything_else(delta):
    """Their part is what the declaration says, and all parts together are the budget."""
    plain = Schedule((50, 40, 9), Fraction(1), Fraction(delta), 1, 1, 100_000)
    coded = Schedule((50, 40, 9), Fraction(1), Fraction(delta), 1, 1, 100_000, codes=2)
    assert coded.budget * float(1 + 2 * CODES) == pytest.approx(plain.budget)
    scale = float(coded.code)
    spent = 1 / (2 * scale**2) if delta else 1 / scale
    assert spent == pytest.approx(coded.budget * float(CODES), rel=1e-5)
    own = [leaf for leaf, _ in coded.events.leaves() if getattr(leaf, "scale", None) == coded.code]
    counts = sum(getattr(leaf, "count", 0) for leaf, _ in coded.events.leaves())
    before = sum(getattr(leaf, "count", 0) for leaf, _ in plain.events.leaves())
    assert len(own) == 1 and own[0].count == 2 and counts == before + 2


@pytest.mark.parametrize(("delta", "chance"), [(0, 0.00718), (Fraction(1, 10**6), 0.00135)])
def test_noise_alone_is_seldom_taken_for_codes_and_prefers_none(delta, chance):
    """Of 40,000 codes that nobody has: as many are seen as three deviations let through (4 deviations)."""
    count, groups = 40_000, np.arange(40_000) // 200
    schedule = Schedule((202, 4), Fraction(1), Fraction(delta), 1, 1, 10**6, codes=1)
    table = code_table(np.zeros(0, dtype=int), count + 2, schedule, seeded_noise(4))
    shares = shares_within(groups, table, np.full(202, 10.0**6))
    assert np.bincount(groups, shares) == pytest.approx(np.ones(200))
    seen = np.flatnonzero(table.counts[:count] > 3 * table.deviation)
    assert abs(len(seen) - count * chance) < 4 * np.sqrt(count * chance)
    assert abs(np.sign(seen % 200 - 99.5).sum()) < 4 * np.sqrt(len(seen))
    shares[seen] = np.nan  # all others of a group are alike
    assert np.nanmax(np.ptp(np.ma.masked_invalid(shares.reshape(200, 200)), axis=1)) < 1e-12


@pytest.mark.parametrize("kind", ["gaussian", "laplace"])
@pytest.mark.parametrize("size", [0, 2, 3, 4, 5, 8])
def test_95_of_100_counts_of_codes_lie_within_what_is_said_of_them(kind, size):
    """A code of some deviations of the noise, among rare ones of its group: it may not be seen at all."""
    scale, noise, groups = Fraction(15), seeded_noise(size), np.zeros(60, dtype=np.int64)
    exact = np.array([15 * size, 2000] + [1] * 58)
    deviation, off = (15.0 if kind == "gaussian" else 15 * np.sqrt(2)), []
    for _ in range(400):
        drawn = (
            noise.discrete_gaussian(scale**2, 60) if kind == "gaussian" else noise.discrete_laplace(scale, 60)
        )
        table = Measured((0,), (np.arange(60),), (exact + drawn).astype(float), deviation)
        found = shares_within(groups, table, np.array([exact.sum()]))
        off.append(abs(found[0] * exact.sum() - exact[0]))
    assert np.mean(np.array(off) <= MISSED * deviation) >= 0.94
