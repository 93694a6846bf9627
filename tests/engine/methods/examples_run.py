"""The worked examples of every method, run once for all tests that look at what they leave."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

from engine.ledger import Ledger
from engine.methods.protocol import Context, Method, Release, Request
from engine.release import examples, make
from engine.release.checked import Checked
from engine.release.plan import Plan
from engine.release.run import run
from engine.table.schema import Role, Schema
from engine.table.table import Table

KEPT: list[TemporaryDirectory[str]] = []
made = make._made


def _new_folder() -> Path:
    KEPT.append(TemporaryDirectory())
    return Path(KEPT[-1].name) / "examples"


def named_columns(tables: Mapping[str, Table], method: Method, request: Request) -> dict[str, Table]:
    """Return the tables without the columns that the method does not say it uses."""
    uses = method.uses(request)
    return {
        name: table.with_rows(table.rows()[[c for c in table.rows().columns if c in uses.get(name, ())]])
        for name, table in tables.items()
    }


def _made_of_named_columns(checked: Checked, used: Mapping[str, Table], context: Context) -> Release:
    return made(checked, named_columns(used, checked.method, checked.request), context)


@cache
def ran(method: Method) -> tuple[tuple[Any, Path], ...]:
    """Run the examples of a method on nothing but the columns it names; gives each plan with its bundle."""
    with patch.object(make, "_made", _made_of_named_columns):
        found = examples.run_examples(method, out=_new_folder())
    return tuple((one.plan, one.bundle.folder) for one in found)


@cache
def ran_by_row(method: Method) -> tuple[tuple[Any, Path], ...]:
    """The same without a person key, so that a row is what is protected; visits are left out."""
    found = []
    for plan in examples.plans(method):
        bare = replace(plan, schemas={name: _without_key(one) for name, one in plan.schemas.items()})
        if not plan.step and bare.schemas != plan.schemas:
            found.append((bare, _run(bare)))
    return tuple(found)


def _without_key(schema: Schema) -> Schema:
    columns = tuple(
        replace(column, role=Role.DROPPED) if column.role is Role.PERSON_KEY else column
        for column in schema.columns
    )
    return replace(schema, columns=columns, rows_per_person=1)


def _run(plan: Plan) -> Path:
    folder = _new_folder()
    folder.mkdir()
    ledger = Ledger(folder / "ledger.sqlite")
    return run(examples._brought(plan, folder), out=folder / "out", ledger=ledger, base=folder).folder


def evidence(folder: Path) -> dict[str, Any]:
    """Return the public evidence of a bundle."""
    return dict(json.loads((folder / "release" / "evidence.json").read_text()))
