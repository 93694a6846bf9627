"""Masking steps: cells a second of each, and the time of ten times the rows."""

from __future__ import annotations

from time import process_time

import numpy as np
import pandas as pd
import pytest

from engine.methods.datasets.masking.catalogue import STEPS
from engine.methods.datasets.masking.working import Working
from engine.table.hierarchies import Hierarchy
from engine.table.schema import Column, Domain, Kind, Origin, Role, Schema
from engine.table.table import Table
from tests.engine.methods.datasets.masked import generator

WARDS = tuple(f"ward {place}" for place in range(20))
SCHEMA = Schema(
    (
        Column("age", Role.IDENTIFYING, Kind.INTEGER, hierarchy=Hierarchy(bands=(5, 10))),
        Column("ward", Role.IDENTIFYING, Kind.ORDINAL, Domain(values=WARDS), Origin.DECLARED),
        Column("sugar", Role.SENSITIVE, Kind.NUMBER),
        Column("seen", Role.TIME, Kind.DATE),
        Column("code", Role.SENSITIVE, Kind.CATEGORY),
    )
)
OPTIONS = {
    "code_ends": {"column": "sugar", "lowest": "40", "highest": "300"},
    "code_ends_at_percentiles": {"column": "sugar", "below": 1, "above": 99},
    "correlated_noise": {"columns": ("age", "sugar"), "relative_variance": 0.1},
    "drop": {"column": "code"},
    "free_text": {"column": "code", "treatment": "flagged"},
    "generalise": {"column": "age", "level": 1},
    "multiplicative_noise": {"column": "sugar", "relative_deviation": 0.1},
    "noise": {"column": "sugar", "distribution": "normal", "standard_deviation": 10},
    "pram": {"column": "ward", "stay": 0.8, "invariant": False},
    "rank_swap": {"column": "sugar", "distance": 0.05},
    "resample": {"column": "code"},
    "round_to": {"column": "sugar", "base": 5, "way": "nearest"},
    "sample": {"share": 0.5},
    "shift_dates": {"columns": ("seen",), "most_days": 90, "whole_weeks": False},
    "suppress_cells": {"k": 5},
    "swap_similar": {"columns": ("code",), "alike": ("ward",), "rate": 0.1},
    "truncate": {"column": "code", "keep": 3},
}
BELOW = {"suppress_cells": 2.5, "rank_swap": 5.0, "code_ends_at_percentiles": 5.0, "correlated_noise": 2.0}
"""Million cells a second of the steps that sort, look for groups or hold covariances; all others pass ten."""


def table(rows: int) -> Table:
    chance = generator(1)
    return Table(
        pd.DataFrame(
            {
                "age": chance.integers(0, 100, rows),
                "ward": np.array(WARDS, dtype=object)[chance.integers(0, 20, rows)],
                "sugar": chance.normal(120, 40, rows),
                "seen": np.datetime64("2015-01-01") + chance.integers(0, 3000, rows),
                "code": np.array([f"I{place:03}" for place in range(500)], dtype=object)[
                    chance.integers(0, 500, rows)
                ],
            }
        )
    )


def seconds(name: str, held: Table) -> tuple[float, int]:
    """Return the least of three times, and how many cells the step looks at."""
    names = [column.name for column in SCHEMA.columns]
    best, step = float("inf"), STEPS[name]
    options = {"step": name, **OPTIONS[name]}
    changed = step.columns(options, SCHEMA, tuple(names))
    for _ in range(3):
        working = Working(held, SCHEMA, names, generator(2))
        begun = process_time()
        step.apply(working, options)
        best = min(best, process_time() - begun)
    return best, len(held) * max(1, len(changed) or len(names))


@pytest.mark.benchmark
def test_every_step_takes_a_time_that_grows_with_the_rows(capsys: pytest.CaptureFixture[str]) -> None:
    assert set(OPTIONS) == set(STEPS)
    small, large = table(100_000), table(1_000_000)
    slow, bent, lines = [], [], []
    for name in STEPS:
        first, _ = seconds(name, small)
        last, cells = seconds(name, large)
        speed = cells / max(last, 1e-6) / 1e6
        lines.append(
            f"{name:26} {speed:9.1f} million cells a second, ten times the rows {last / first:6.1f} ×"
        )
        if speed < BELOW.get(name, 10.0):
            slow.append(name)
        if last > 0.02 and last > 20 * first:
            bent.append(name)
    with capsys.disabled():
        print("\n" + "\n".join(lines))
    assert not slow and not bent
