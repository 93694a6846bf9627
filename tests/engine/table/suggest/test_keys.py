"""Which columns could tell whose a row is: found by counting, ranked, and no category among them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from engine.table.schema import Role
from engine.table.suggest.keys import key_candidates
from engine.table.suggest.suggest import suggest
from engine.table.table import Table

ROWS, PEOPLE = 1500, 1400


def stays(seed: int = 5, **more: Any) -> pd.DataFrame:
    """Return invented stays: some of the people have several, and keep their sex and their year of birth."""
    drawn = np.random.default_rng(seed)
    who = drawn.integers(0, PEOPLE, ROWS)
    sex, born = drawn.choice(["f", "m"], PEOPLE), drawn.integers(1930, 2010, PEOPLE)
    return pd.DataFrame(
        {
            "zz": 700_000 + who * 7,
            "sex": pd.array(sex[who], dtype="str"),
            "birth_year": born[who],
            "amount": drawn.integers(100, 1200, ROWS),
            "ward": pd.array(drawn.choice(["a", "b", "c"], ROWS), dtype="str"),
            "rating": drawn.integers(1, 400, ROWS),
            **more,
        }
    )


def found(frame: pd.DataFrame) -> list[tuple[str, int, int]]:
    table = Table(frame)
    return [(one.column, one.people, one.rows) for one in key_candidates(table, suggest(table))]


def test_a_number_that_no_name_gives_away_is_found_by_its_counts_and_proposed_as_key() -> None:
    frame = stays()
    assert found(frame) == [("zz", frame.zz.nunique(), ROWS)]
    table = Table(frame)
    roles = {one.column: (one.role, one.reason) for one in suggest(table)}
    assert roles["zz"] == (Role.PERSON_KEY, "counted")
    assert [name for name, (role, _) in roles.items() if role is Role.PERSON_KEY] == ["zz"]
    [only] = key_candidates(table, suggest(table))
    assert only.repeats and set(only.constant) == {"sex", "birth_year"}


def test_the_same_numbers_dealt_to_rows_by_chance_are_no_candidate() -> None:
    frame = stays()
    frame["zz"] = np.random.default_rng(1).permutation(frame["zz"].to_numpy())
    assert found(frame) == []
    assert all(one.role is not Role.PERSON_KEY for one in suggest(Table(frame)))


def test_letters_count_as_numbers_do_and_few_values_or_one_a_row_do_not() -> None:
    frame = stays()
    coded = frame.assign(zz=pd.array([f"Q{value:x}" for value in frame.zz], dtype="str"))
    assert [name for name, *_ in found(coded)] == ["zz"]
    assert found(frame.assign(zz=frame.zz % 7)) == []
    assert found(frame.drop_duplicates("zz").reset_index(drop=True)) == []


def test_what_is_recognised_stands_before_what_is_only_counted() -> None:
    frame = stays()
    frame["patient_nbr"] = frame["zz"] * 3 + 1
    names = [name for name, *_ in found(frame)]
    assert names == ["patient_nbr", "zz"]


def test_what_agrees_by_chance_counts_for_nothing() -> None:
    drawn = np.random.default_rng(2)
    rare = pd.array(np.where(drawn.random(ROWS) < 0.01, "yes", "no"), dtype="str")
    frame = pd.DataFrame({"zz": drawn.integers(0, PEOPLE, ROWS), "flag": rare, "other": rare})
    assert found(frame) == []


def test_a_large_table_is_looked_at_in_whole_groups(monkeypatch: Any) -> None:
    monkeypatch.setattr("engine.table.suggest.keys._ROWS", 100)
    assert [name for name, *_ in found(stays())] == ["zz"]
