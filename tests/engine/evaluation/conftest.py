"""Releases of every method with seeded noise, and everything a measure may be given about them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from engine.evaluation.protocol import Private
from engine.methods.catalogue import method
from engine.methods.protocol import Budget, Context, Method
from engine.release.check import check
from engine.release.examples import plans
from engine.release.make import make
from engine.release.reading import of_somebody, read_all
from engine.release.working import new_folder
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
BY_HAND: dict[str, dict[str, Any]] = {
    "statistics.counts": {"columns": ["sex", "ward"], "totals": True, "extra_cells": "left_out"},
    "statistics.histogram": {"column": "stay", "edges": [0, 5, 14], "by": ["sex"]},
    "statistics.means": {"statistic": "mean", "value": "stay", "by": ["sex"], "extra_cells": "left_out"},
    "statistics.quantiles": {
        "value": "stay",
        "by": ["sex"],
        "quantiles": ["1/2"],
        "extra_cells": "left_out",
    },
}

EXAMPLES = Path(__file__).parents[3] / "resources" / "examples"

Maker = Callable[..., Private]


@cache
def subject_of(name: str) -> Method:
    """Return what the first example of a method promises and decides; no row is read."""
    return check(plans(method(name))[0], base=EXAMPLES)


@pytest.fixture
def made() -> Maker:
    """Release the rows above by one of some methods and return what an internal measure gets."""

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
        request = way.make_request({"people": schema}, BY_HAND[name] | parameters, budget=Budget(epsilon))
        assert way(request).problems == []
        release = way(request).run({"people": rows}, Context(seeded_noise(seed), None, Path("unused")))
        subject = way(request)
        return Private(subject, rows, schema, rows, release)

    return maker


@pytest.fixture
def example(tmp_path: Path) -> Callable[..., Private]:
    """Release the first example of any method, with another budget or of no rows where that is asked for."""

    def maker(name: str, *, epsilon: Fraction | None = None, empty: bool = False) -> Private:
        given = plans(method(name))[0]
        if epsilon is not None and given.budget is not None:
            given = replace(given, budget=replace(given.budget, epsilon=epsilon))
        design = check(given, base=EXAMPLES)
        held = read_all(given, design.sources_read, base=EXAMPLES)
        if empty:
            held = {
                source: replace(one, table=one.table.with_rows(one.table.rows().head(0)))
                for source, one in held.items()
            }
        draft = make(design, held, seeded_noise(1), folder=tmp_path)
        main = design.request.private[0]
        one, away = held[main], draft.held_out.get(main)
        context = Private(design, one.table, one.schema, draft.used[main], draft.release)
        keyed = {name: held[name] for name in design.request.private[1:] if name in held}
        others = {name: of_somebody(more) for name, more in keyed.items()}
        return replace(
            context, work_folder=new_folder(tmp_path), held_out=away, people=one.people, others=others
        )

    return maker
