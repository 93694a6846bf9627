"""Tables for tests of masking, and one step on one of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

import engine.methods.datasets.masking as masking
from engine.methods.catalogue import method
from engine.methods.protocol import Context, Release, Request
from engine.privacy.noise import Noise
from engine.table.schema import Column, Schema
from engine.table.table import Table

ID = "datasets.masking"


def generator(seed: int) -> np.random.Generator:
    """Return a repeatable generator in place of the one of the noise door."""
    return np.random.Generator(np.random.Philox(key=seed))


def request(columns: list[Column], steps: list[dict[str, Any]], *, rows_per_person: int = 1) -> Request:
    """Return what decides a release of all these columns but the person key."""
    schema = Schema(tuple(columns), rows_per_person)
    key = schema.person_key
    leaving = [column.name for column in columns if column is not key]
    return method(ID).make_request({"people": schema}, {"columns": leaving, "steps": steps})


def problems(columns: list[Column], *steps: dict[str, Any]) -> list[str]:
    """Return the codes of what is wrong with steps."""
    return [
        problem.code.removeprefix(f"{ID}.") for problem in method(ID)(request(columns, list(steps))).problems
    ]


def released(frame: pd.DataFrame, columns: list[Column], *steps: dict[str, Any], seed: int = 1) -> Release:
    """Mask a table; the steps are refused where the check would refuse them."""
    asked = request(columns, list(steps), rows_per_person=1000)
    assert method(ID)(asked).problems == []
    context = Context(Noise(), generator(seed), None)  # type: ignore[arg-type]
    return masking.Masking(asked).run({"people": Table(frame)}, context)


def masked(frame: pd.DataFrame, columns: list[Column], *steps: dict[str, Any], seed: int = 1) -> pd.DataFrame:
    """Mask a table and return what leaves."""
    return released(frame, columns, *steps, seed=seed).artefacts[0].frame
