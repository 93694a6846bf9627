"""Columns that follow from another: the way is found from declarations, and every row keeps to it."""

from fractions import Fraction
from time import process_time

import numpy as np
import pandas as pd
import pytest

from engine.methods.shared.column_cells import cells_of
from engine.methods.shared.derived import Derived
from engine.table.hierarchies import Hierarchy
from engine.table.schema import Column, Domain, Kind, Origin
from tests.ratios import TIMED, slack


def made(name, kind=Kind.CATEGORY, *, values=None, low=None, high=None, **options):
    domain = Domain(low, high, None, values)
    return Column(name, kind=kind, domain=domain, domain_origin=Origin.DECLARED, **options)


DISEASES = made("diag", values=("E11.9", "E11.65", "I10", "E66.0"), hierarchy=Hierarchy(codes="icd10"))


@pytest.mark.parametrize(
    ("follows", "wanted"),
    [
        (made("c", values=("E11", "I10", "E66", "Z99")), ["E11", "E11", "I10", "E66"]),
        (
            made("c", values=("E10-E14", "I10-I15", "E65-E68")),
            ["E10-E14", "E10-E14", "I10-I15", "E65-E68"],
        ),
        (made("c", values=("E00-E90", "I00-I99")), ["E00-E90", "E00-E90", "I00-I99", "E00-E90"]),
        (made("c", values=("E00-E90",)), None),
        (made("c", Kind.INTEGER, low=Fraction(0), high=Fraction(9)), None),
    ],
)
def test_the_step_is_the_one_whose_groups_were_declared(follows, wanted):
    one = Derived(follows, DISEASES)
    assert [*one.reads.values()] == (wanted or [])
    if wanted:
        values = pd.Series(["I10", "", "other", "E66.0", "X99"])
        assert one.written(values).tolist() == [wanted[2], "", "other", wanted[3], "other"]


def test_a_number_follows_from_a_degree_by_a_declared_tree_or_by_meanings():
    tree = Hierarchy(tree={"Bachelors": ("13", "high"), "9th": ("5", "low")})
    number = made("n", Kind.INTEGER, low=Fraction(1), high=Fraction(16))
    for source in (
        made("e", values=("9th", "Bachelors"), hierarchy=tree),
        made("e", values=("9th", "Bachelors"), labels={"9th": "5", "Bachelors": "13"}),
    ):
        found = Derived(number, source).written(pd.Series(["Bachelors", "9th", "", "other"]))
        assert found.tolist() == ["13", "5", "", ""]  # a column of numbers has no name for others
    few = made("n", Kind.INTEGER, low=Fraction(1), high=Fraction(12))
    assert not Derived(few, source).reads


def test_groups_of_numbers_and_days_follow_from_their_declared_bounds():
    bands = Hierarchy(bands=(Fraction(50),))
    age = made("age", Kind.INTEGER, low=Fraction(0), high=Fraction(99), hierarchy=bands)
    group = made("group", values=("[0, 50)", "[50, 100)"))
    assert Derived(group, age).written(pd.Series(["49", "50", "", "100"])).tolist() == [
        "[0, 50)",
        "[50, 100)",
        "",
        "other",
    ]
    born = made(
        "born", Kind.DATE, low="2020-12-30", high="2021-01-02", hierarchy=Hierarchy(calendar=("year",))
    )
    year = made("year", Kind.INTEGER, low=Fraction(1900), high=Fraction(2030))
    assert Derived(year, born).written(pd.Series(["2020-12-31", "2021-01-01"])).tolist() == ["2020", "2021"]


def test_steps_without_an_end_as_decimals_follow_as_they_are_written():
    """Bounds 0 to 6 and a step of a third: rows hold 0.3333333333333333, never 1/3."""
    bands = Hierarchy(bands=(Fraction(3),))
    domain = Domain(Fraction(0), Fraction(6), Fraction(1, 3))
    dose = Column("dose", kind=Kind.NUMBER, domain=domain, domain_origin=Origin.DECLARED, hierarchy=bands)
    group = made("group", values=("[0, 3)", "[3, 6)", "[6, 9)"))
    cells = cells_of(dose, bins=4)
    rows = np.arange(200) % 4
    written = pd.Series(cells.written(rows, np.arange(200) / 200))
    assert "0.3333333333333333" in set(written)
    assert set(Derived(group, dose).written(written)) == {"[0, 3)", "[3, 6)", "[6, 9)"}


@pytest.mark.parametrize(
    ("kind", "bounds", "meanings", "fits"),
    [
        (Kind.NUMBER, (Fraction(0), Fraction(9)), ("0.5", "9"), True),
        (Kind.NUMBER, (Fraction(0), Fraction(9)), ("1/3", "9"), False),
        (Kind.INTEGER, (Fraction(0), Fraction(9)), ("0.5", "9"), False),
        (Kind.INTEGER, (Fraction(0), Fraction(9)), ("-1", "9"), True),
        (Kind.DATE, ("2020-01-01", "2020-12-31"), ("2020-02-01", "2020-03-01"), True),
        (Kind.DATE, ("2020-01-01", "2020-12-31"), ("2020-02-01", "2021-03-01"), False),
        (Kind.DATE, ("2020-01-01", "2020-12-31"), ("2020-02-01", "20200301"), False),
    ],
)
def test_what_follows_is_written_as_rows_hold_it(kind, bounds, meanings, fits):
    """A third is a number to the plan and none to whoever reads the rows; −1 is what is missing."""
    column = made("n", kind, low=bounds[0], high=bounds[1], missing=("-1",))
    source = made("e", values=("a", "b"), labels=dict(zip("ab", meanings, strict=True)))
    assert [*Derived(column, source).reads.values()] == (list(meanings) if fits else [])


@TIMED
def test_thousands_of_groups_are_looked_up_at_once(timed):
    """The plan is checked at every key; group by group this took 4 seconds."""
    codes = made("c", values=tuple(f"{n:05}" for n in range(50_000)), hierarchy=Hierarchy(prefix=(4,)))
    groups = made("g", values=tuple(f"{n:04}*" for n in range(5000)))
    begun = process_time()
    assert len(Derived(groups, codes).reads) == 50_000
    assert not timed or process_time() - begun < 1.5 * slack()
