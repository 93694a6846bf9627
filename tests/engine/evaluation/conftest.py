"""Releases of every method with seeded noise, and everything a measure may be given about them."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from engine.evaluation.protocol import Private, Subject
from engine.methods.catalogue import method
from engine.methods.protocol import Budget, Context
from engine.table.schema import Column, Domain, Kind, Origin, Role, Schema
from engine.table.table import Table
from tests.engine.release.conftest import folder, ledger, plan, run  # noqa: F401
from tests.noise_source import seeded_noise

SEX = Column("sex", Role.IDENTIFYING, Kind.CATEGORY, Domain(values=("f", "m")), Origin.DECLARED)
WARD = Column("ward", Role.OTHER, Kind.CATEGORY, Domain(values=("a", "b")), Origin.DECLARED)
STAY = Column(
    "stay", Role.SENSITIVE, Kind.NUMBER, Domain(Fraction(0), Fraction(14), Fraction(1, 2)), Origin.DECLARED
)
SCHEMA = Schema((SEX, WARD, STAY))
ROWS = Table(
    pd.DataFrame(
        {
            "sex": ["f", "f", "f", "m", "m", "f"],
            "ward": ["a", "a", "b", "b", "b", "a"],
            "stay": [1.0, 3.0, 5.0, 2.5, 14.0, 7.0],
        }
    )
)
PERSON = Column("person", Role.PERSON_KEY, Kind.TEXT)
PANEL = Table(ROWS.rows().assign(person=pd.Series(["a", "a", "a", "b", "b", "c"], dtype="str")))
CAPPED = Schema((*SCHEMA.columns, PERSON), 2)
ASKED: dict[str, dict[str, Any]] = {
    "statistics.counts": {"columns": ["sex", "ward"], "totals": True, "extra_cells": "left_out"},
    "statistics.histogram": {"column": "stay", "edges": [0, 5, 14], "by": ["sex"]},
    "statistics.margins": {"columns": ["sex", "ward"], "extra_cells": "left_out"},
    "statistics.means": {"statistic": "mean", "value": "stay", "by": ["sex"], "extra_cells": "left_out"},
    "statistics.quantiles": {
        "value": "stay",
        "by": ["sex"],
        "quantiles": ["1/2"],
        "extra_cells": "left_out",
    },
}

Maker = Callable[..., Private]


@pytest.fixture
def made() -> Maker:
    """Release the rows by a method and return what an internal measure gets."""

    def maker(
        name: str = "statistics.counts",
        *,
        rows: Table = ROWS,
        schema: Schema = SCHEMA,
        epsilon: Fraction = Fraction(1),
        seed: int = 1,
        **parameters: Any,
    ) -> Private:
        way = method(name)
        request = way.request({"people": schema}, ASKED[name] | parameters, budget=Budget(epsilon))
        assert way.problems(request) == []
        release = way.run({"people": rows}, request, Context(seeded_noise(seed), None, Path("unused")))
        subject = Subject(way, request, way.cost(request))
        return Private(subject, rows, schema, rows, release)

    return maker
