"""The fingerprints of a table depend on no order and no storage, and those of its rows on no name either."""

import numpy as np
import pandas as pd
import pytest

from engine.table import fingerprint as module
from engine.table.fingerprint import _hash, fingerprints
from engine.table.table import Table

FRAME = pd.DataFrame({"a": [1, 2, 2, 5], "b": ["x", None, "y", "x"], "c": [0.5, np.nan, 1.0, 2.0]})


def fingerprint(frame):
    return fingerprints(Table(frame)).fingerprint


def test_order_of_rows_and_columns_does_not_matter():
    other = FRAME.sample(frac=1, random_state=1)[["c", "a", "b"]]
    assert fingerprint(other) == fingerprint(FRAME)
    assert fingerprint(FRAME.astype({"a": float})) == fingerprint(FRAME)


@pytest.mark.parametrize(
    "other",
    [
        FRAME.iloc[:3],
        pd.concat([FRAME, FRAME.iloc[:1]]),
        FRAME.assign(a=[1, 2, 2, 6]),
        FRAME.assign(a=[2, 1, 2, 5]),
        FRAME.rename(columns={"a": "z"}),
        FRAME.rename(columns={"a": "c", "c": "a"}),
        FRAME.assign(b=["x", "", "y", "z"]),
    ],
)
def test_any_other_table_has_another(other):
    assert fingerprint(other) != fingerprint(FRAME)


def test_it_is_kept_across_versions():
    # Ledgers on disk hold fingerprints: a change of this figure makes known tables unknown.
    assert fingerprint(FRAME) == EXPECTED


def mixed(value):
    """The finaliser of SplitMix64, in whole numbers of any size."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        value = ((value ^ value >> shift) * factor) % (1 << 64)
    return value ^ value >> 31


def cell(value):
    """The hash of one cell by the function that the whole column goes through."""
    return mixed(int(_hash(pd.Series([value]))[0]))


def test_parts_of_rows_and_contents_by_hand():
    frame = pd.DataFrame({f"c{place}": [place, f"x{place}", None, place] for place in range(9)}).astype("str")
    frame = frame.mask(frame == "nan")
    parts = []
    for row in frame.itertuples(index=False):
        hashes = [cell(value) for value in row if isinstance(value, str)]
        for part in range(4):
            belong = [one for one in hashes if one >> part & 1]
            if len(belong) >= 3:
                parts.append(mixed(sum(belong) % (1 << 64)))
    once = sorted(one for one in parts if parts.count(one) == 1)  # rows 0 and 3 are alike
    contents = []
    for name in frame:
        hashes = [cell(value) for value in frame[name]]
        squares = sum(one * one for one in hashes)
        contents.append((mixed(sum(hashes) % (1 << 64)) + squares) % (1 << 64))
    found = fingerprints(Table(frame))
    assert once and found.rows.tolist() == once
    assert found.contents.tolist() == sorted(contents)


def test_marks_are_the_same_where_distinct_cells_are_known(monkeypatch):
    monkeypatch.setattr(module, "_PIECE", 7)
    cells = ["1", "1.0", "01", "+1", "-0", "1e5", "x", " x", "ä", None, "123456789012345", "1234567890123456"]
    made = np.random.default_rng(1)
    frame = pd.DataFrame(
        {f"c{place}": pd.Series(made.choice(np.array(cells, object), 90), dtype="str") for place in range(5)}
    )
    plain, known = fingerprints(Table(frame)), Table(frame)
    assert known.encoded("c1").cells().to_pylist() == [
        None if cell is np.nan else cell for cell in frame["c1"]
    ]
    found = fingerprints(known)
    assert found.fingerprint == plain.fingerprint
    assert np.array_equal(found.rows, plain.rows) and np.array_equal(found.contents, plain.contents)


def test_marks_depend_on_no_name_no_order_and_no_storage():
    wide = pd.DataFrame({f"c{place}": range(place, 900 + place) for place in range(9)})
    other = wide.sample(frac=1, random_state=1)[[f"c{place}" for place in range(8, -1, -1)]]
    other.columns = [f"v{place}" for place in range(9)]
    for found in (other, other.astype(str), other.astype(float)):
        assert np.array_equal(
            fingerprints(Table(found.reset_index(drop=True))).rows, fingerprints(Table(wide)).rows
        )
        assert np.array_equal(fingerprints(Table(found)).contents, fingerprints(Table(wide)).contents)
    assert fingerprints(Table(other)).fingerprint != fingerprints(Table(wide)).fingerprint


def test_pieces_of_a_table_make_no_difference(monkeypatch):
    frame = pd.DataFrame({f"c{place}": np.arange(500) % (7 + place) for place in range(9)})
    whole = fingerprints(Table(frame))
    monkeypatch.setattr(module, "_PIECE", 37)
    pieces = fingerprints(Table(frame))
    assert pieces.fingerprint == whole.fingerprint
    assert np.array_equal(pieces.rows, whole.rows) and np.array_equal(pieces.contents, whole.contents)


def test_a_large_table_keeps_a_sample_that_its_hashes_choose(monkeypatch):
    frame = pd.DataFrame({f"c{place}": np.arange(4000) * (place + 1) for place in range(9)})
    whole = fingerprints(Table(frame)).rows
    monkeypatch.setattr(module, "_KEPT", 1000)
    sample = fingerprints(Table(frame)).rows
    assert 400 < sample.size <= 1000
    assert np.array_equal(sample, whole[: sample.size])  # the smallest, so that every table keeps the same


def test_constant_columns_and_empty_tables_say_nothing():
    assert fingerprints(Table(pd.DataFrame({"a": [1, 1], "b": ["x", "x"]}))).contents.size == 0
    empty = fingerprints(Table(pd.DataFrame({"a": pd.Series([], dtype="str")})))
    assert empty.rows.size == empty.contents.size == 0 and len(empty.fingerprint) == 64


EXPECTED = "e694d11288e0070952cd54723b483e07c87a1afffc7172643fd837f690d2c5b4"
