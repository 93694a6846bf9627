"""What is seen side by side of an original and synthetic rows: counted by loops, for odd columns too."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from engine.methods.protocol import Release, Rows, TableArtefact
from engine.privacy.promise import Promise, Unit
from engine.release.synthetic_spread import MOST_INTERVALS, MOST_NAMES, spread
from engine.table.schema import Column, Domain, Kind, Schema
from engine.table.table import Table
from engine.views import Text

SCHEMA = Schema(
    (
        Column("stage", kind=Kind.ORDINAL, domain=Domain(values=("low", "middle", "high"))),
        Column("ward", kind=Kind.CATEGORY, missing=("?",)),
        Column("age", kind=Kind.INTEGER),
        Column("dose", kind=Kind.NUMBER),
        Column("seen", kind=Kind.DATE),
    )
)


def people(rows: int, seed: int) -> pd.DataFrame:
    chance = np.random.default_rng(seed)
    wards = [f"ward {place}" for place in range(20)] + ["?"]
    dose = np.round(chance.exponential(3, rows), 2)
    return pd.DataFrame(
        {
            "stage": chance.choice(["high", "low", "middle"], rows, p=[0.6, 0.1, 0.3]),
            "ward": chance.choice(wards, rows, p=np.arange(21, 0, -1) / 231),
            "age": chance.integers(18, 90, rows),
            "dose": np.where(chance.random(rows) < 0.1, np.nan, dose),
            "seen": pd.Timestamp("2020-01-01") + pd.to_timedelta(chance.integers(0, 700, rows), "D"),
        }
    )


def beside(original: pd.DataFrame, *copies: pd.DataFrame, rows: Rows = Rows.SYNTHETIC):
    release = Release((TableArtefact("table", copies, ()),), Promise("none", None, Unit.ROW, 1))
    return spread(release, {"people": Table(original)}, {"people": SCHEMA}, rows)


def test_shares_agree_with_plain_loops() -> None:
    original, synthetic = people(900, 1), people(700, 2)
    found = beside(original, synthetic, synthetic.head(5))
    assert found is not None and found.rows == (900, 700) and found.copies == 2
    wards = found.columns["ward"].labels
    assert len(wards) == MOST_NAMES + 1 and wards[-1] == Text("spread.missing")
    for side, table in zip(found.shares("stage", "ward"), (original, synthetic), strict=True):
        assert side.sum() == pytest.approx(1)
        for line, stage in enumerate(("low", "middle", "high")):
            of_stage = table[table["stage"] == stage]
            for place, ward in enumerate(wards[: MOST_NAMES - 1]):
                assert side[line, place] == pytest.approx((of_stage["ward"] == ward).sum() / len(table))
            rest = ~of_stage["ward"].isin([*wards[: MOST_NAMES - 1], "?"])
            assert side[line, MOST_NAMES - 1] == pytest.approx(rest.sum() / len(table))
            assert side[line, MOST_NAMES] == pytest.approx((of_stage["ward"] == "?").sum() / len(table))


def test_intervals_say_what_they_count() -> None:
    original, synthetic = people(900, 1), people(700, 2)
    found = beside(original, synthetic)
    assert found is not None
    ages = found.columns["age"].labels
    assert ages[0] == Text("spread.below", {"value": "20"}) or ages[0] == "15 – 19"
    assert 5 < len(ages) <= MOST_INTERVALS + 2
    middle = ages.index("40 – 44")
    assert found.shares("age")[0][middle] == pytest.approx(original["age"].between(40, 44).mean())
    doses = found.columns["dose"]
    assert doses.labels[-1] == Text("spread.missing") and isinstance(doses.labels[-2], Text)
    start = float(doses.labels[-2].values["value"])
    shares = found.shares("dose")[1]
    assert shares[-2] == pytest.approx((synthetic["dose"] >= start).mean())
    assert shares[-1] == pytest.approx(synthetic["dose"].isna().mean())
    days = str(found.columns["seen"].labels[1]).split(" – ")
    assert found.shares("seen")[0][1] == pytest.approx(original["seen"].between(*days).mean())


def test_the_distance_of_the_original_drawn_again_is_what_chance_makes() -> None:
    original = people(900, 1)
    itself = beside(original, original)
    assert itself is not None and itself.apart("ward", "age") == 0
    chance = np.random.default_rng(3)
    for names in (("ward",), ("stage", "age")):
        again = [beside(original, original.iloc[chance.integers(0, 900, 600)]) for _ in range(40)]
        drawn = np.array([one.apart(*names) for one in again if one is not None])
        # Names and intervals are those of both tables, and rare ones are not normal: within 7 % of the mean.
        foretold = again[0].by_chance(*names) if again[0] is not None else math.nan
        assert abs(drawn.mean() - foretold) < 3 * drawn.std() / math.sqrt(40) + 0.07 * foretold


def test_odd_columns_are_shown_too() -> None:
    original = people(50, 1).assign(age=40, dose=np.nan, ward="?", seen=pd.NaT)
    synthetic = original.assign(stage=["low"] * 49 + ["unheard of"])
    found = beside(original, synthetic)
    assert found is not None
    assert found.columns["age"].labels == ("40",)
    for name in ("dose", "ward", "seen"):
        assert found.columns[name].labels == (Text("spread.missing"),)
        assert found.apart(name) == 0
    assert found.columns["stage"].labels == ("low", "middle", "high", "unheard of")
    assert found.shares("stage")[1][-1] == pytest.approx(1 / 50)


def test_only_synthetic_rows_are_shown() -> None:
    original = people(50, 1)
    assert beside(original, original, rows=Rows.REAL) is None
    assert beside(original, original.head(0)) is None
    assert beside(original.head(0), original) is None


@pytest.mark.parametrize(
    "cells",
    [
        (-1e308, 1e308, 5.0),
        (1.7e308, -1.7e308),
        (1e308, 1e308),
        (0.0, 5e-324),
        (1e16, 1e16 + 2),
        (-1e308, np.inf, np.nan),
        (0.0, 1e-310, 3e-310),
    ],
    ids=str,
)
@pytest.mark.parametrize("name", ["dose", "age"])
def test_numbers_of_every_size_have_an_interval(cells: tuple[float, ...], name: str) -> None:
    """A release is complete by then: whatever stands in a cell, the view of it is made."""
    original = people(4 * len(cells), 1).assign(**{name: cells * 4})
    synthetic = people(60, 2)
    found = beside(original, synthetic)
    assert found is not None
    own, made = found.shares(name)
    assert own.sum() == pytest.approx(1) and made.sum() == pytest.approx(1)
    known = np.isfinite(cells).mean()
    missing = found.columns[name].labels[-1] == Text("spread.missing")
    assert (own[:-1] if missing and known < 1 else own).sum() == pytest.approx(known)
