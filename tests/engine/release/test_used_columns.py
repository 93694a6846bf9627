"""A release reads a file in pieces and keeps the columns that it uses; the table stays the same."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from engine.errors import InputRefused
from engine.methods.catalogue import method
from engine.release import reading
from engine.release.check import check
from engine.release.examples import plans
from engine.release.plan import FileReference
from engine.table import coding
from engine.table.declared import as_declared
from engine.table.fingerprint import fingerprints
from engine.table.reading import parquet as parquet_reader
from engine.table.reading.options import ReadOptions
from engine.table.reading.readers import read_pieces, read_table
from engine.table.schema import Column, Kind, Role, Schema
from tests.engine.adversarial.requests import HEADER, OPTIONS, plan_for

LONG = 2**53 + 1
ODD = {
    "person": pa.array(["7", " 7.0", None, "", "x", "7 ", "y"]),
    "gap": pa.array([1, None, 3, 4, 5, 6, 7]),
    "gap only": pa.array([None] * 6 + [7], pa.int64()),
    "long with a gap": pa.array([LONG, 2, None, 4, 5, 6, -LONG]),
    "long": pa.array([LONG, 2, 3, 4, 5, 6, -LONG]),
    "beyond 63 bits": pa.array([2**64 - 1, 2, 3, 4, 5, 6, 7], pa.uint64()),
    "number": pa.array([0.5, None, float("nan"), float("inf"), -0.0, 1e300, 3.0]),
    "text": pa.array([" f", "f", "6.0", "+7", "1e1", "-9", None]),
    "listed": pa.array(["a", None, "b", "a", "", " b", "c"]).dictionary_encode(),
    "listed numbers": pa.array([LONG, None, 3, 3, 1, 1, 2]).dictionary_encode(),
    "yes": pa.array([True, None, False, True, True, False, None]),
    "day": pa.array([0, None, 10**7, 1, 2, 3, 4], pa.int32()).cast(pa.date32()),
    "moment": pa.array([datetime.datetime(2020, 1, 1, 5)] * 6 + [None], pa.timestamp("us", "UTC")),
    "exact": pa.array([decimal.Decimal("1.50")] * 6 + [None], pa.decimal128(20, 2)),
    "bytes": pa.array([b"\xff", b"a", None, b"", b"b", b"c", b"d"]),
    "nothing": pa.nulls(7),
    "nested": pa.array([[1], None, [], [2, 3], [None], [1], [4]]),
}


def odd_file(folder: Path) -> Path:
    path = folder / "odd.parquet"
    parquet.write_table(pa.table(ODD), path, row_group_size=3)
    return path


@pytest.mark.parametrize("rows", [1, 2, 5, 7])
def test_pieces_are_the_table(rows: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = odd_file(tmp_path)
    whole = read_table(path)
    monkeypatch.setattr(parquet_reader, "_ROWS", rows)
    pieces = list(read_pieces(path))
    assert sum(map(len, pieces)) == len(whole) and max(map(len, pieces)) <= rows
    plan = dataclasses.replace(
        plan_for("counts", cap=1),
        files={"people": FileReference(path.name)},
        schemas={"people": Schema((Column("person", Role.PERSON_KEY),))},
        parameters={},
    )
    held = reading.read(plan, base=tmp_path)
    kinds = [Kind.TEXT, Kind.NUMBER, Kind.INTEGER, Kind.DATE, Kind.CATEGORY]
    for kind in kinds:  # every column by every kind, odd and missing cells in each
        schema = Schema(tuple(Column(name, kind=kind) for name in ODD))
        joined = type(whole).joined([as_declared(piece, schema) for piece in pieces])
        pd.testing.assert_frame_equal(joined.rows(), as_declared(whole, schema).rows())
    expected = fingerprints(whole)
    assert held.fingerprints.fingerprint == expected.fingerprint
    assert np.array_equal(held.fingerprints.rows, expected.rows)
    assert np.array_equal(held.fingerprints.contents, expected.contents)
    said = {(one.code, one.column): (one.count, one.rows) for one in held.table.findings}
    assert said == {(one.code, one.column): (one.count, one.rows) for one in whole.findings}


def test_small_groups_of_rows_are_put_together(tmp_path: Path) -> None:
    """A file that was written a few rows at a time, or with lists in it, does not come in as many pieces."""
    path = tmp_path / "groups.parquet"
    parquet.write_table(pa.table({"a": range(5000), "b": [[1]] * 5000}), path, row_group_size=7)
    assert [len(piece) for piece in read_pieces(path)] == [5000]


def test_what_is_long_in_one_piece_is_long_in_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_reader, "_ROWS", 2)
    stored = [piece.storage["long with a gap"] for piece in read_pieces(odd_file(tmp_path))]
    assert set(stored) == {"text"}


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_only_columns_that_the_plan_uses_are_coded(
    ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [*HEADER.split(","), "noted", "other"]
    frame = pd.DataFrame([[1, "f", 1, 0.5, 1, None, 0.25, "x"], [2, "m", 2, 1.0, 2, None, 0.5, "y"]])
    frame.columns = pd.Index(names)
    path = tmp_path / f"people.{ending}"
    frame.to_csv(path, index=False) if ending == "csv" else frame.to_parquet(path)
    plan = plan_for("counts", cap=1)
    schema = dataclasses.replace(plan.schema, columns=(*plan.schema.columns, Column("other")))
    options = {**OPTIONS, "width": len(names)} if ending == "csv" else {}
    step = {"step": "keep_rows_where", "column": "other", "is": "not_missing"}
    plan = dataclasses.replace(
        plan, files={"people": FileReference(path.name, options)}, schemas={"people": schema}
    )
    seen: list[tuple[str, ...]] = []
    coded = as_declared
    monkeypatch.setattr(
        reading,
        "as_declared",
        lambda table, schema, **more: seen.append(table.names) or coded(table, schema, **more),
    )
    for preparation, further in (((), set()), ((step,), {"other"})):
        asked = dataclasses.replace(plan, preparation=preparation)
        design = check(asked)
        marked = {one.name for one in schema.columns if one.role is not Role.OTHER}
        held = reading.read_all(asked, design.sources_read, base=tmp_path, design=design)["people"]
        expected = marked | {"sex", "visits"} | further
        assert set(seen.pop()) == set(held.table.names) == expected
        assert not expected & {"score", "noted"}
        assert held.columns == tuple(frame.columns)  # the ledger knows them all
        assert held.fingerprints.fingerprint == fingerprints(read_table(path)).fingerprint


def test_every_column_is_read_where_one_may_deny_that_rows_are_people() -> None:
    """Nothing bounds what is lost and nobody said whose a row is: a column left out could have told."""
    loss = plan_for("counts")
    assert reading.columns_used(loss, check(loss), "people") == {"sex", "visits", "weight", "seen"}
    kept = plans(method("datasets.k_anonymity"))[0]
    keyless = [one for one in kept.schema.columns if one.role is not Role.PERSON_KEY]
    free = dataclasses.replace(kept, schemas={"people": Schema(tuple(keyless), one_row_each=True)})
    assert reading.columns_used(free, check(free), "people") is None


def test_numbers_are_written_as_one_by_one() -> None:
    made = np.random.default_rng(23)
    numbers = np.concatenate(
        [
            made.normal(size=2000) * 10.0 ** made.integers(-12, 20, 2000),
            np.round(made.normal(size=1000) * 1000, 3),
            made.integers(-(10**12), 10**12, 1000).astype(float),
            [0.0, -0.0, 1e-4, 9.999e-5, 1e10, -1e10, 1e15, 1e16, 1e22, 2.0**53, 5e-324, 1e308],
            [np.nan, np.inf, -np.inf],
        ]
    )
    for values in (numbers, pd.Series(numbers), pd.Index(numbers), numbers[:2000].astype(np.float32)):
        assert coding.texts_of(values) == [coding.text_of(one) for one in values.tolist()]
    assert coding.texts_of(np.zeros(0)) == []


def test_files_of_one_name_with_other_columns_are_refused(tmp_path: Path) -> None:
    """Two years of one export lie in two folders under one name; one lacks a column that nothing uses."""
    for year, names in (("2024", ["person", "sex", "noted"]), ("2025", ["person", "sex"])):
        (tmp_path / year).mkdir()
        pd.DataFrame([[1] * len(names)], columns=names).to_parquet(tmp_path / year / "people.parquet")
    plan = dataclasses.replace(
        plan_for("counts", cap=1),
        files={
            "people": FileReference("2024/people.parquet"),
            "people.2": FileReference("2025/people.parquet"),
        },
        schemas={"people": Schema((Column("person", Role.PERSON_KEY), Column("sex")))},
    )
    for columns in (None, frozenset({"person", "sex"})):
        with pytest.raises(InputRefused, match=r"reading\.other_columns"):
            reading.read(plan, base=tmp_path, columns=columns)


def test_options_of_reading_pass_through_the_pieces(tmp_path: Path) -> None:
    for piece in read_pieces(odd_file(tmp_path), options=ReadOptions(decimal=",")):
        assert piece.options.format == "parquet" and piece.options.decimal == ","
