"""Columns by their distinct cells: nothing gets lost, and a table forgets them where rows change."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from engine import short_texts
from engine.methods.datasets.grouping import members_of
from engine.short_texts import words_of
from engine.table import encoded
from engine.table.declared import as_declared, numbered_people, people_of, people_of_rows
from engine.table.encoded import Encoded
from engine.table.schema import Column, Role, Schema
from engine.table.table import Table

CELLS = ["b", None, "a", " b", "b", "", None]


@pytest.mark.parametrize("pieces", [[CELLS], [CELLS[:3], [], CELLS[3:]], [[]], []])
def test_cells_come_back(pieces):
    cells = pa.chunked_array(pieces, pa.large_string())
    found = Encoded.of(cells)
    assert found.cells().to_pylist() == cells.to_pylist()
    assert len(set(found.distinct.to_pylist())) == len(found.distinct) and found.distinct.null_count == 0


def test_changed_cells_that_become_alike_are_one():
    found = Encoded.of(pa.array(CELLS)).mapped(pc.utf8_trim_whitespace)
    assert found.distinct.to_pylist() == ["b", "a", ""] and found.places.tolist() == [0, -1, 1, 0, 0, 2, -1]
    assert found.mapped(pc.utf8_trim_whitespace) is found
    none = found.mapped(lambda cells: pa.nulls(len(cells), cells.type))
    assert none.distinct.to_pylist() == [] and set(none.places.tolist()) == {-1}


def test_people_are_those_of_the_rows_that_are_there():
    key = Column("person", Role.PERSON_KEY, missing=("-9",))
    raw = Table(pd.DataFrame({"person": pd.Series(["7", " 7.0", "-9", "x", "y"], dtype="str")}))
    table = as_declared(raw, Schema((key,)))
    assert table.rows()["person"].fillna("").tolist() == ["7", "7", "", "x", "y"]
    assert people_of(table, key).places.tolist() == [0, 0, -1, 1, 2]
    fewer = table.with_rows(table.rows().iloc[[4, 2, 1]])
    assert fewer.encodings == frozenset()
    people = people_of(fewer, key)
    assert people.distinct.to_pylist() == ["y", "7"] and people.places.tolist() == [0, -1, 1]


def test_a_new_column_forgets_only_the_one_that_it_replaces():
    table = Table(pd.DataFrame({"a": ["x", "y"], "b": ["u", "v"]}))
    table.encoded("a"), table.encoded("b")
    other = table.with_column("a", np.array(["y", "y"], dtype=object))
    assert other.encodings == {"b"} and other.encoded("a").distinct.to_pylist() == ["y"]


def test_who_may_not_see_rows_may_not_see_distinct_cells(monkeypatch):
    table = Table(pd.DataFrame({"a": ["x", "y"]}))
    table.encoded("a")
    monkeypatch.setattr(Table, "rows", lambda self: pytest.fail("rows were read"))
    with pytest.raises(pytest.fail.Exception):
        table.encoded("a")


@pytest.mark.parametrize(
    "cells",
    [
        [f"P{place % 997:08d}" for place in range(3000)],
        [str(place * place % 7919) for place in range(3000)],
        ["", "a", "a\0", "\0a", "ä", "a", "", "fifteen letters"] * 300,
    ],
)
def test_short_texts_are_looked_up_as_numbers_with_the_same_result(monkeypatch, cells):
    chunked = pa.chunked_array([cells[:7], [], cells[7:]], pa.large_string()).slice(3)
    plain = Encoded.of(chunked)
    monkeypatch.setattr(encoded, "_MANY", 1)
    monkeypatch.setattr(encoded, "differ", lambda cells: True)
    monkeypatch.setattr(encoded.pc, "dictionary_encode", lambda cells: pytest.fail("the slow way"))
    for some in (chunked, chunked.combine_chunks(), chunked.cast(pa.string())):
        found = Encoded.of(some)
        assert found.distinct.to_pylist() == plain.distinct.to_pylist()
        assert np.array_equal(found.places, plain.places)


def test_texts_that_share_a_hash_are_told_apart(monkeypatch):
    monkeypatch.setattr(encoded, "_MANY", 1)
    monkeypatch.setattr(encoded, "differ", lambda cells: True)
    monkeypatch.setattr(short_texts, "hash_pairs", lambda words: words[0] * np.uint64(0))
    assert Encoded.of(pa.array(["a", "b", "a"])).cells().to_pylist() == ["a", "b", "a"]


@pytest.mark.parametrize("cells", [["a", None], ["a", "sixteen letters!"]])
def test_long_and_missing_texts_are_no_pairs_of_numbers(cells):
    assert words_of(pa.array(cells)) is None


def test_rows_without_a_key_are_about_one_person_wherever_people_protect_each_other():
    key = Column("person", Role.PERSON_KEY, missing=("-9",))
    raw = Table(pd.DataFrame({"person": pd.Series([None, "-9", "x", " x", ""], dtype="str")}))
    table = as_declared(raw, Schema((key,)))
    assert numbered_people(table, key).tolist() == [1, 1, 0, 0, 1]
    same = np.zeros(5, dtype=np.int64)
    assert members_of(same, table, key).sizes(same).tolist() == [2]
    assert numbered_people(table, None) is None and people_of_rows(table, None).tolist() == [0, 1, 2, 3, 4]
