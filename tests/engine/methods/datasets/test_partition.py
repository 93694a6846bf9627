"""Partition: groups by a slow form of the same, at least k everywhere, and ranges that hold their rows."""

import numpy as np
import pandas as pd
import pytest

from engine.errors import InputRefused
from engine.methods.catalogue import method
from engine.methods.datasets.conditions import Condition
from engine.methods.datasets.partition import mondrian
from engine.methods.datasets.recoding import Ladder, Members
from engine.methods.protocol import Context
from engine.privacy.noise import Noise, ordinary_generator
from engine.risk.encoding import encode_column
from engine.table.hierarchies import Hierarchy
from engine.table.schema import Column, Domain, Kind, Role, Schema
from engine.table.table import Table
from tests.engine.methods.datasets.test_conditions import CASES, illnesses, shares
from tests.engine.methods.datasets.test_recoding import drawn, prepared

ID = "datasets.partition"
SCHEMA = Schema(
    (
        Column("age", Role.IDENTIFYING, Kind.INTEGER, hierarchy=Hierarchy(bands=(10, 20))),
        Column("town", Role.PLACE, Kind.CATEGORY, hierarchy=Hierarchy(prefix=(2, 1))),
        Column("seen", Role.TIME, Kind.DATE),
        Column(
            "stage", Role.IDENTIFYING, Kind.ORDINAL, domain=Domain(values=("none", "early", "late", "last"))
        ),
        Column("ill", Role.SENSITIVE, Kind.CATEGORY),
    )
)
COLUMNS = ["age", "town", "seen", "stage", "ill"]


def people(rows=500, seed=3):
    chance = np.random.default_rng(seed)
    age = chance.integers(1, 100, rows).astype(float)
    age[chance.random(rows) < 0.05] = np.nan
    return pd.DataFrame(
        {
            "age": age,
            "town": chance.choice(["8010", "8020", "8130", "1010", ""], rows),
            "seen": pd.to_datetime("2021-01-01") + pd.to_timedelta(chance.integers(0, 300, rows), "D"),
            "stage": chance.choice(["none", "early", "late", "last"], rows),
            "ill": chance.choice(["v", "w", "x"], rows, p=[0.7, 0.2, 0.1]),
        }
    )


def made(rows, tmp_path, **given):
    found = method(ID)
    request = found.make_request({"people": SCHEMA}, {"columns": COLUMNS, **given})
    assert not found(request).problems, found(request).problems
    return found(request).run({"people": Table(rows)}, Context(Noise(), ordinary_generator(), tmp_path))


# --- the cuts -------------------------------------------------------------------------------------


def slowly(table, ladders, ordered, k):
    """Return the groups as sets of rows, cut one after the other by the definition."""

    def cut(rows):
        widths = []
        for place, ladder in enumerate(ladders):
            codes = [table[row][place] for row in rows]
            low, high = min(codes), max(codes)
            if ordered[place]:
                width = (high - low) / max(1, len(ladder.values) - 1)
            else:
                step = next(
                    s for s in range(len(ladder.groups)) if len({ladder.groups[s][c] for c in codes}) == 1
                )
                width = max(ladder.losses[step][low], 1e-12) if step else 0.0
            widths.append(width)
        for place in sorted(range(len(ladders)), key=lambda one: -widths[one]):
            if widths[place] == 0:
                continue
            sides = split(rows, place)
            if len(sides) > 1 and min(map(len, sides)) >= k:
                return [group for side in sides for group in cut(side)]
        return [frozenset(rows)]

    def split(rows, place):
        codes = np.array([table[row][place] for row in rows])
        if ordered[place]:
            best = max(sorted(set(codes)), key=lambda c: min((codes <= c).sum(), (codes > c).sum()))
            sides = [codes <= best, codes > best]
        else:
            groups = ladders[place].groups
            step = next(s for s in range(len(groups)) if len(set(groups[s][codes])) == 1)
            child = groups[step - 1][codes]
            large = sorted((one for one in set(child) if (child == one).sum() >= k), key=lambda c: -c)
            rest = (~np.isin(child, large)).sum()
            if 0 < rest < k and large:
                large.remove(min(large, key=lambda c: ((child == c).sum(), c)))
            sides = [*(child == one for one in large), ~np.isin(child, large)]
        return [[row for row, own in zip(rows, side, strict=True) if own] for side in sides if side.any()]

    return set(cut(list(range(len(table)))))


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("ordered", [(False, False, False), (False, True, False), (True, True, True)])
@pytest.mark.parametrize("few", [0, 10**9])
def test_groups_are_those_of_the_definition(seed, ordered, few, monkeypatch):
    """Counting every cell or sorting the rows gives the same cuts."""
    monkeypatch.setattr("engine.methods.datasets.partition._DENSE", few)
    table, _ = drawn(seed)
    person = np.arange(len(table[0]))
    codes, members, ladders, number = prepared(table, person)
    found = mondrian(codes, members, ladders, k=3, ordered=ordered)
    rows = [tuple(codes[one]) for one in number]
    groups = {frozenset(np.flatnonzero(found[number] == one).tolist()) for one in set(found)}
    assert groups == slowly(rows, ladders, ordered, 3)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("name", CASES)
def test_people_with_several_rows_and_conditions(name, seed):
    table, person = drawn(seed)
    ill = illnesses(seed, len(person))
    codes, members, ladders, number = prepared(table, person)
    column, demand, holds = CASES[name]
    encoded = encode_column(pd.Series(ill), column)
    asked = [Condition.of(number, encoded, [demand(encoded)])]
    found = mondrian(codes, members, ladders, k=2, ordered=(False, True, False), conditions=asked)
    everybody = shares(ill)
    if found is None:
        assert not holds(ill, everybody)
        return
    for one in set(found):
        rows = found[number] == one
        assert len(set(person[rows])) >= 2
        assert holds([value for value, own in zip(ill, rows, strict=True) if own], everybody)


def test_one_value_everywhere_is_one_group_and_too_few_are_none():
    ladder = Ladder.of(["x"], Hierarchy())
    alike = Members(np.zeros(5, int), np.arange(5))
    assert mondrian(np.array([[0]]), alike, [ladder], k=5, ordered=[True]).tolist() == [0]
    assert mondrian(np.array([[0]]), alike, [ladder], k=6, ordered=[True]) is None
    nobody = Members(np.zeros(0, int), np.zeros(0, int))
    assert mondrian(np.zeros((0, 1), int), nobody, [ladder], k=2, ordered=[True]) is None


# --- the release ----------------------------------------------------------------------------------


def test_every_group_has_k_rows_and_ranges_hold_their_rows(tmp_path):
    rows = people().assign(ill=[f"person {place}" for place in range(500)])
    frame = made(rows, tmp_path, k=7).artefacts[0].frame
    assert frame.groupby(["age", "town", "seen", "stage"]).size().min() >= 7
    assert len(frame) == 500 and frame["ill"].tolist() != rows["ill"].tolist()
    both = frame.merge(rows, on="ill", suffixes=("", "_true"))
    stages = ["none", "early", "late", "last"]
    for line in both.itertuples():
        assert inside(line.age, "" if np.isnan(line.age_true) else line.age_true, float)
        assert inside(line.seen, line.seen_true.strftime("%Y-%m-%d"), str)
        assert inside(line.stage, line.stage_true, lambda one: stages.index(one))
        assert line.town == "*" or all(a in (b, "*") for a, b in zip(line.town, line.town_true, strict=True))
    written = frame["age"].str.startswith("[").mean()
    assert written > 0.5, "ranges, and not stars"


def inside(text, value, order):
    if text == "*" or value == "" or not text.startswith("["):
        return text == "*" or text == "" or order(text) == order(value)
    low, high = text[1:-1].split(", ")
    return order(low) <= order(value) <= order(high)


@pytest.mark.parametrize("odd", ["nan", "inf", "-inf", "other", ""])
def test_an_undeclared_value_of_an_ordinal_column_stands_somewhere(odd, tmp_path):
    rows = people()
    rows.loc[rows.index[::50], "stage"] = odd
    frame = made(rows, tmp_path, k=5).artefacts[0].frame
    assert len(frame) == 500 and frame.groupby(COLUMNS[:4], dropna=False).size().min() >= 5


def test_nodes_are_steps_of_the_hierarchies(tmp_path):
    frame = made(people(), tmp_path, k=7, written="nodes").artefacts[0].frame
    steps = [{*Hierarchy(bands=(10, 20)).at([str(a) for a in range(1, 100)], s)} for s in range(4)]
    assert set(frame["age"]) <= set().union(*steps) | {""}
    assert frame.groupby(["age", "town", "seen", "stage"]).size().min() >= 7


@pytest.mark.parametrize(("rows", "given", "code"), [
    (20, {"k": 30}, "grouping.too_few"),
    (0, {"k": 2}, "grouping.too_few"),
    (100, {"k": 2, "distinct_l": 5}, "grouping.not_fulfilled"),
])  # fmt: skip
def test_refused_in_words(rows, given, code, tmp_path):
    with pytest.raises(InputRefused) as caught:
        made(people(rows), tmp_path, **given)
    assert caught.value.code == code


# --- widths ---------------------------------------------------------------------------------------


def test_a_column_is_as_wide_as_its_numbers_and_not_as_their_ranks(tmp_path):
    """One far value: by ranks the crowded column would be the widest, and cut first."""
    rows = people(400)
    rows["age"] = [*range(1, 41)] * 9 + [99] * 40
    rows[["town", "seen", "stage"]] = ["8010", pd.Timestamp("2021-01-01"), "none"]
    release = made(rows, tmp_path, k=40, columns=["age"])
    lost = 0.0
    for text in release.artefacts[0].frame["age"]:
        first, last = (text.strip("[]").split(", ") * 2)[:2]
        lost += (float(last) - float(first)) / 98
    assert lost > 0 and release.inside.figures["loss"] == pytest.approx(lost / 400, abs=1e-6)


@pytest.mark.parametrize(
    ("values", "numbers", "low", "high", "share"),
    [
        (["1", "2", "11"], [1.0, 2.0, 11.0], 0, 1, 0.1),
        (["1", "2", "11", ""], [1.0, 2.0, 11.0, np.nan], 2, 3, 1.0),
        (["", " "], [np.nan, np.nan], 0, 1, 0.0),
        (["5", "x"], [5.0, np.nan], 0, 1, 1.0),
        (["a", "b", "c"], None, 0, 1, 0.5),
    ],
)
def test_widths_are_in_declared_units_and_a_missing_value_is_far_from_all(values, numbers, low, high, share):
    ladder = Ladder.in_order(values, numbers=None if numbers is None else np.array(numbers))
    assert ladder.wide(np.array([low]), np.array([high])).tolist() == pytest.approx([share])


def test_the_widest_column_by_numbers_is_cut_first():
    """Ages of which one is far off, and years spread evenly: by ranks both are as wide."""
    ages = Ladder.in_order(["1", "2", "3", "100"], numbers=np.array([1.0, 2.0, 3.0, 100.0]))
    years = Ladder.in_order(["1", "34", "67", "100"], numbers=np.array([1.0, 34.0, 67.0, 100.0]))
    codes = np.array([[0, 0], [1, 1], [2, 2], [0, 3], [1, 3], [2, 0]])  # the far age has nobody
    people = Members(np.arange(6), np.arange(6))
    found = mondrian(codes, people, [ages, years], k=3, ordered=[True, True])
    assert found.tolist() == mondrian(codes[:, 1:], people, [years], k=3, ordered=[True]).tolist()
