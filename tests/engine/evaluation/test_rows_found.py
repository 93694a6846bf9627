"""Released rows beside the original ones: who is found again, what is still said, whom it cost most."""

import numpy as np
import pandas as pd
import pytest

from engine.evaluation.protocol import Private
from engine.evaluation.rows_found import RowsFound
from engine.evaluation.rows_kept import RowsKept
from engine.methods.catalogue import method, methods
from engine.methods.protocol import Context, Rows
from engine.privacy.noise import Noise, ordinary_generator
from engine.risk.released_rows import found_again
from engine.table.hierarchies import Hierarchy
from engine.table.schema import Column, Kind, Role, Schema
from engine.table.table import Table

AGE = Column("age", Role.IDENTIFYING, Kind.INTEGER, hierarchy=Hierarchy(bands=(10,)))
TOWN = Column("town", Role.PLACE, Kind.CATEGORY)


def looked(original, released, columns, origin, person=None):
    names = [one.name for one in columns]
    person = np.arange(len(original)) if person is None else np.array(person)
    return found_again(
        pd.DataFrame(original, columns=names),
        pd.DataFrame(released, columns=names),
        columns,
        origin=np.array(origin),
        person=person,
    )


def test_cells_that_mean_the_same_and_are_written_in_two_ways_tell_people_apart():
    rows = [["1"], ["01"], ["1.0"], ["1E2"], ["100"]]
    for column in (TOWN, AGE):
        columns = [Column("cell", column.role, column.kind)]
        assert looked(rows, rows, columns, range(5)).right == 1
        written = [["2.0"], ["3.0"]]  # as a release may write 2 and 3: still read as theirs
        assert looked([["2"], ["3"]], written, columns, range(2)).exactly == 1


def test_rows_as_they_are_are_found_and_rows_that_all_read_alike_by_lot():
    rows = [["31", "a"], ["38", "a"], ["44", "b"], ["47", "c"]]
    same = looked(rows, rows[::-1], [AGE, TOWN], [3, 2, 1, 0])
    assert (same.right, same.alone_right, same.alone_wrong, same.exactly, same.blind) == (1, 1, 0, 1, 0.25)
    none = looked(rows, [["*", "*"]] * 4, [AGE, TOWN], [0, 1, 2, 3])
    assert (none.right, none.alone_right, none.exactly) == (0.25, 0, 0)


def test_groups_ranges_and_numbers_by_hand():
    """Two of the thirties in one group, 44 and 47 in a range: each is found with a chance of half."""
    rows = [["31"], ["38"], ["44"], ["47"]]
    groups = looked(rows, [["[30, 40)"], ["[30, 40)"], ["[44, 47]"], ["[44, 47]"]], [AGE], [0, 1, 2, 3])
    assert (groups.right, groups.alone_right, groups.alone_wrong) == (0.5, 0, 0)
    # 31 became 36, which is nearer to 38; 38 became 30, which is nearer to 31: both are taken for the other
    swapped = looked(rows, [["36"], ["30"], ["44"], ["47"]], [AGE], [0, 1, 2, 3])
    assert (swapped.right, swapped.alone_right, swapped.alone_wrong, swapped.exactly) == (0.5, 0.5, 0.5, 0.5)


def test_who_was_left_out_is_looked_for_and_another_row_of_the_person_counts():
    rows = [["31"], ["31"], ["60"]]
    left_out = looked(rows, [["31"], ["31"]], [AGE], [0, 1])
    assert left_out.records == 3 and left_out.right == pytest.approx(1 / 3) and left_out.alone_wrong == 0
    one_person = looked(rows, [["31"], ["31"]], [AGE], [0, 1], person=[0, 0, 1])
    assert (one_person.records, one_person.right) == (2, 0.5)  # two people, however many rows they have


def test_a_share_of_people_counts_each_of_them_once_however_many_rows_they_have():
    """Six rows of two people were called six people, and whoever has five of them weighed five times."""
    rows = [["31"]] * 5 + [["60"]]
    found = looked(rows, rows[:5], [AGE], range(5), person=[0, 0, 0, 0, 0, 1])
    assert (found.records, found.right, found.blind) == (2, 0.5, 0.5)


@pytest.mark.parametrize("seed", range(4))
def test_against_a_slow_reader(seed):
    """Numbers with noise and a category that may read *: every pair of rows compared one by one."""
    chance = np.random.default_rng(seed)
    ages, towns = chance.integers(20, 60, 30), chance.choice(["a", "b", "c"], 30)
    noisy = ages + chance.integers(-8, 9, 30)
    shown = np.where(chance.random(30) < 0.4, "*", towns)
    rows = [[str(a), t] for a, t in zip(ages, towns, strict=True)]
    made = [[str(a), t] for a, t in zip(noisy, shown, strict=True)]
    width = ages.max() - ages.min()
    right = 0.0
    for place, (age, town) in enumerate(zip(ages, towns, strict=True)):
        apart = [
            min(2, abs(int(other) - int(age)) / width) + (0 if text == town else 1 if text == "*" else 2)
            for other, text in zip(noisy, shown, strict=True)
        ]
        near = [row for row, one in enumerate(apart) if one <= min(apart) + 1e-6]
        right += (place in near) / len(near)
    assert looked(rows, made, [AGE, TOWN], range(30)).right == pytest.approx(right / 30)


SCHEMA = Schema(
    (
        AGE,
        TOWN,
        Column("ill", Role.SENSITIVE, Kind.CATEGORY),
        Column("pay", Role.OTHER, Kind.INTEGER),
    )
)
GIVEN = {
    "datasets.k_anonymity": {"k": 4, "most_left_out": 0.1},
    "datasets.partition": {"k": 4},
    "datasets.microaggregation": {"k": 4},
    "datasets.masking": {"steps": [{"step": "sample", "share": "0.5"}]},
    "datasets.pseudonyms": {},
    "datasets.anatomy": {"sensitive": "ill", "l": 2},
}


def private(method_id, tmp_path, rows=200):
    chance = np.random.default_rng(5)
    pay = chance.integers(10, 90, rows)
    table = Table(
        pd.DataFrame(
            {
                "age": pay + chance.integers(0, 5, rows),
                "town": chance.choice(["a", "b", "c"], rows, p=[0.55, 0.4, 0.05]),
                "ill": chance.choice(["x", "y", "z"], rows),
                "pay": pay,
            }
        )
    )
    found = method(method_id)
    names = ["age", "town", "pay"] if method_id == "datasets.anatomy" else ["age", "town", "ill", "pay"]
    request = found.make_request({"people": SCHEMA}, {"columns": names, **GIVEN[method_id]})
    assert not found(request).problems, found(request).problems
    release = found(request).run({"people": table}, Context(Noise(), ordinary_generator(), tmp_path))
    subject = found(request)
    return Private(subject, table, SCHEMA, table, release), release, table


@pytest.mark.parametrize("method_id", GIVEN)
def test_every_released_row_says_which_row_it_was(method_id, tmp_path):
    """Pay leaves as it is, or nearly: the rows that are named are those that it was made of."""
    context, release, table = private(method_id, tmp_path)
    frame, origin = release.artefacts[0].frame, release.artefacts[0].origins
    assert len(frame) == len(origin) == len(set(origin.tolist()))
    assert frame["pay"].astype(int).tolist() == table.rows()["pay"].to_numpy()[origin].tolist()
    assert origin.tolist() != sorted(origin.tolist())  # the order itself tells nothing
    for measure in (RowsFound(), RowsKept()):
        assert measure.applies(context.subject)
        answer = measure.evaluate(context.only(measure.needs))
        assert answer.views and answer.figures
    assert answer.figures["left_out"] == pytest.approx(1 - len(frame) / 200, abs=1e-6)


def test_what_is_still_said_and_whom_it_cost(tmp_path):
    context, release, table = private("datasets.k_anonymity", tmp_path)
    answer = RowsKept().evaluate(context)
    titles = {view.title.id.split(".")[-2]: view for view in answer.views if hasattr(view, "rows")}
    origin = release.artefacts[0].origins
    mean = next(row for row in titles["singles"].rows if row[0] == "pay" and row[1].id.endswith("mean"))
    assert mean[2] == pytest.approx(table.rows()["pay"].mean(), rel=1e-3)
    assert mean[3] == pytest.approx(table.rows()["pay"].iloc[origin].mean(), rel=1e-3)
    gone = 1 - len(origin) / 200
    by_town = {row[1]: row for row in titles["subgroups"].rows if row[0] == "town"}
    lost = sum(row[2] * row[3] / 100 for row in by_town.values())
    assert lost == pytest.approx(200 * gone, abs=0.5)
    order = [(row[3], row[4]) for row in titles["subgroups"].rows]
    assert order == sorted(order, reverse=True)


def test_k_anonymous_rows_hide_people_among_k(tmp_path):
    context, _, _ = private("datasets.k_anonymity", tmp_path)
    found = RowsFound().evaluate(context).figures
    assert found["right"] <= 1 / 4 and found["exactly"] == 0 < found["blind"] <= found["right"]
    real, _, table = private("datasets.pseudonyms", tmp_path)
    groups = table.rows().groupby(["age", "town"]).ngroups  # somebody of each is found
    assert RowsFound().evaluate(real).figures["right"] == pytest.approx(groups / 200, abs=1e-6)


def test_methods_whose_rows_are_invented_are_not_asked():
    for one in methods():
        subject = one(one.make_request({"people": SCHEMA}, {}))
        expected = one.rows in (Rows.COARSER, Rows.REAL)
        assert RowsFound().applies(subject) == RowsKept().applies(subject) == expected
