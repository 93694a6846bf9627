"""Moments: declared bounds, step and zone; each cell read by itself, the same by every way."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from engine.errors import InputRefused
from engine.table.coding import moments
from engine.table.declared import stored_as_declared
from engine.table.reading.options import ReadOptions
from engine.table.schema import Column, Domain, Kind, Origin, Schema

YEAR = Domain("2026-01-01T00:00", "2026-12-31T23:59", Fraction(30), zone="Europe/Zurich")
SEEN = Column(
    "seen", kind=Kind.MOMENT, domain=YEAR, domain_origin=Origin.DECLARED, missing=("2026-09-09T09:09",)
)
CELLS = {
    "2026-07-01T10:59": "2026-07-01T10:30",
    "2026-07-01 10:59:59": "2026-07-01T10:30",
    "2026-07-01T08:59:00Z": "2026-07-01T10:30",
    "2026-01-01T08:59+00:00": "2026-01-01T09:30",
    "2026-07-01T05:14-04:00": "2026-07-01T11:00",
    "2026-07-01": "2026-07-01T00:00",
    "2026-09-09T09:09": "NaT",
    "2025-12-31T23:59": "NaT",
    "2027-01-01T00:00": "NaT",
    "soon": "NaT",
    "": "NaT",
    "1/2/2026 10:00": "NaT",
}


def test_cells_are_moments_in_the_clock_of_the_zone() -> None:
    found = moments(pd.Series(list(CELLS), dtype="str"), SEEN)
    assert dict(zip(CELLS, found.astype(str).tolist(), strict=True)) == CELLS
    for cell, read in CELLS.items():
        assert moments(pd.Series([cell], dtype="str"), SEEN).astype(str).tolist() == [read]
    assert len(moments(pd.Series([], dtype="str"), SEEN)) == 0


@pytest.mark.parametrize("cell", ["9999-12-31T23:59Z", "9999-12-31T12:00+01:00", "0001-01-01T00:00+00:00"])
def test_a_cell_at_either_end_of_the_calendar_reads_as_missing_in_every_zone(cell: str) -> None:
    for zone in ("Europe/Zurich", "Africa/Cairo", "Pacific/Auckland", "America/New_York", "Asia/Kathmandu"):
        seen = Column("seen", kind=Kind.MOMENT, domain=Domain(zone=zone))
        alone, together = (moments(pd.Series([*more, "2026-07-01T08:59Z"]), seen) for more in ([], [cell]))
        assert np.isnat(together[0]) and together[1] == alone[0]


def test_a_stored_column_says_the_same() -> None:
    stored = stored_as_declared(pd.Series(list(CELLS), dtype="str"), SEEN, ReadOptions())
    assert stored.dtype.kind == "M"
    again = moments(stored, replace(SEEN, missing=()))
    assert dict(zip(CELLS, again.astype(str).tolist(), strict=True)) == CELLS
    german = stored_as_declared(pd.Series(["1.2.2026 10:40"]), SEEN, ReadOptions(date_order="dmy"))
    assert moments(german, SEEN).astype(str).tolist() == ["2026-02-01T10:30"]
    numbers = moments(pd.Series([1.0, np.nan]), SEEN)
    assert np.isnat(numbers).all()


def test_declared_moments_are_kept_in_the_schema() -> None:
    schema = Schema((replace(SEEN),))
    assert Schema.from_json(schema.to_json()) == schema


@pytest.mark.parametrize(
    "domain",
    [
        {"minimum": "2026-13-01T00:00", "maximum": "2026-12-31"},
        {"minimum": "2026-12-31", "maximum": "2026-01-01"},
        {"minimum": "2026-01-01", "maximum": "2026-12-31", "step": 0.5},
        {"minimum": "2026-01-01", "maximum": "2026-12-31", "zone": "Mars/Olympus"},
        {"minimum": "2026-01-01", "maximum": "2026-12-31", "zone": "../../etc/passwd"},
        {"minimum": "2026-01-01", "maximum": "2026-12-31", "zone": "Europe"},
        {"minimum": "2026-01-01", "maximum": "2026-12-31", "zone": "é" * 200},
        {"minimum": "2026-01-01", "maximum": "2026-12-31", "zone": 7},
        {"minimum": 3, "maximum": 4},
    ],
)
def test_what_is_no_range_of_moments_is_refused(domain: dict[str, object]) -> None:
    tree = {"columns": [{"name": "seen", "kind": "moment", "domain": domain, "domain_origin": "declared"}]}
    with pytest.raises(InputRefused, match=r"schema\.bad_moments|document"):
        Schema.from_json(tree)
