"""Group sizes against counting by hand and against pandas."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from engine.errors import InputRefused
from engine.risk.disclosure import disclosure
from engine.risk.encoding import encode
from engine.risk.group_sizes import group_sizes
from engine.table.schema import Column, Kind, Role, Schema
from engine.table.table import Table

AGE, SEX = Column("age", Role.IDENTIFYING), Column("sex", Role.IDENTIFYING)


def test_by_hand():
    frame = pd.DataFrame({"age": [30, 30, 41, 41, 41], "sex": ["f", "f", "m", "m", "f"], "other": range(5)})
    found = group_sizes(Table(frame), Schema((AGE, SEX)), thresholds=(2, 3))
    assert (found.people, found.groups, found.alone) == (5, 3, 1)
    assert found.under == {2: 1, 3: 5} and found.sizes == {1: 1, 2: 4}
    # Without age: f×3, m×2, nobody alone; without sex: 30×2, 41×3, nobody alone.
    assert found.because_of == {"age": 1, "sex": 1}


def test_a_missing_value_distinguishes():
    frame = pd.DataFrame({"age": [30, 30, np.nan, np.nan]})
    assert group_sizes(Table(frame), Schema((AGE,))).sizes == {2: 4}


def test_an_empty_cell_and_a_declared_missing_code_are_one_value():
    frame = pd.DataFrame({"age": [30, 30, 99, np.nan], "sex": ["f", "f", "?", None]})
    marked = (replace(AGE, kind=Kind.INTEGER, missing=("99",)), replace(SEX, missing=("?",)))
    found = group_sizes(Table(frame), Schema(marked))
    assert (found.groups, found.alone, found.sizes) == (2, 0, {2: 4})
    today = disclosure(encode(Table(frame), Schema(marked)))
    assert (today.groups.count, today.alone, today.groups.distribution) == (2, 0, {2: 4})


def test_people_not_rows():
    frame = pd.DataFrame(
        {
            "p": [1, 1, 2, 2, 3, 4, np.nan],
            "age": [30, 31, 31, 30, 30, 30, 55],
        }
    )
    schema = Schema((AGE, Column("p", Role.PERSON_KEY)))
    found = group_sizes(Table(frame), schema)
    # Persons 1 and 2 have {30, 31}, 3 and 4 have {30}, the row without a key is a person of its own.
    assert (found.people, found.alone, found.sizes) == (5, 1, {1: 1, 2: 4})


def test_a_repeated_row_of_a_person_changes_nothing():
    frame = pd.DataFrame({"p": [1, 2, 3], "age": [30, 30, 41]})
    schema = Schema((AGE, Column("p", Role.PERSON_KEY)))
    twice = pd.concat([frame, frame.iloc[[0, 0]]])
    assert group_sizes(Table(twice), schema) == group_sizes(Table(frame), schema)


@pytest.mark.parametrize("seed", range(5))
def test_against_sets_of_combinations(seed):
    made = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {"p": made.integers(0, 60, 200), "age": made.integers(0, 3, 200), "sex": made.choice(["f", "m"], 200)}
    )
    schema = Schema((AGE, SEX, Column("p", Role.PERSON_KEY)))
    found = group_sizes(Table(frame), schema)
    described = frame.groupby("p").apply(lambda rows: frozenset(zip(rows["age"], rows["sex"], strict=True)))
    counts = described.value_counts()
    assert (found.people, found.groups, found.alone) == (
        len(described),
        len(counts),
        int((counts == 1).sum()),
    )
    assert found.under[5] == int(counts[counts < 5].sum())


@pytest.mark.parametrize(("people", "ages"), [(3000, 5), (100, 2), (40, 10**9), (900, 10**9), (400, 2)])
def test_people_with_many_rows_and_columns_with_many_values(people, ages):
    """Lists of any length are compared, packed into one number or not; some people are copies of others."""
    made = np.random.default_rng(people)
    frame = pd.DataFrame({"p": made.integers(0, people, 3000), "sex": made.choice(["f", "m"], 3000)})
    frame["age"] = made.integers(0, ages, 3000)
    copies = frame[frame["p"] < people // 2].sample(frac=1, random_state=1)
    frame = pd.concat([frame, copies.assign(p=copies["p"] + people)], ignore_index=True)
    found = group_sizes(Table(frame), Schema((AGE, SEX, Column("p", Role.PERSON_KEY))))
    for columns, more in ((["age", "sex"], 0), (["sex"], found.because_of["age"])):
        sets = frame.groupby("p")[columns].apply(lambda rows: frozenset(rows.itertuples(index=False)))
        counts = sets.value_counts()
        assert found.alone - more == int((counts == 1).sum())
    assert found.people == len(sets)


def test_against_pandas_by_row():
    made = np.random.default_rng(3)
    frame = pd.DataFrame({"age": made.integers(0, 90, 3000), "sex": made.choice(["f", "m"], 3000)})
    found = group_sizes(Table(frame), Schema((AGE, SEX)))
    counts = frame.groupby(["age", "sex"]).size()
    assert (found.groups, found.alone) == (len(counts), int((counts == 1).sum()))


def test_the_sample():
    from importlib.resources import files

    from engine.table.reading.readers import read_table

    table = read_table(str(files("resources") / "sample" / "diabetes_encounters.csv"))
    key = Column("patient_nbr", Role.PERSON_KEY)
    marked = tuple(Column(name, Role.IDENTIFYING) for name in ("race", "gender", "age"))
    found = group_sizes(table, Schema((key, *marked)))
    assert found.people == 4259 and sum(found.sizes.values()) == 4259
    assert group_sizes(table, Schema(marked)).people == 4999


def test_no_identifying_column_and_no_such_column():
    table = Table(pd.DataFrame({"x": [1, 2, 3]}))
    found = group_sizes(table, Schema())
    assert (found.people, found.alone, found.groups, found.because_of) == (3, 0, 1, {})
    with pytest.raises(InputRefused):
        group_sizes(table, Schema((AGE,)))


def test_people_with_few_and_with_many_rows_are_compared_by_their_sets():
    made = np.random.default_rng(4)
    people = np.repeat(np.arange(400), made.integers(1, 12, 400))
    frame = pd.DataFrame({"p": people, "age": made.integers(0, 4, len(people)), "sex": people % 2})
    frame = frame.sample(frac=1, random_state=1)
    sets = frame.groupby("p").apply(lambda rows: frozenset(zip(rows["age"], rows["sex"], strict=True)))
    expected = sets.value_counts()
    found = group_sizes(Table(frame), Schema((AGE, SEX, Column("p", Role.PERSON_KEY))))
    assert (found.people, found.groups, found.alone) == (400, len(expected), int((expected == 1).sum()))
    assert found.sizes == {int(size): int(expected[expected == size].sum()) for size in set(expected)}
