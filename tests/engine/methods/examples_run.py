"""The worked examples of every method, run once for all tests of all workers that look at what they leave."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import Any
from unittest.mock import patch

from engine.ledger import Ledger
from engine.methods.protocol import Context, Method, Release
from engine.release import examples, make
from engine.release.plan import Plan
from engine.release.run import run
from engine.report import html, pdf
from engine.table.schema import Role, Schema
from engine.table.table import Table
from tests.noise_source import same_noise
from tests.paper import empty_page
from tests.tiers import made_for_all

LONGEST_WAIT = 600  # seconds for another worker's examples, then they are made here
KEPT: list[TemporaryDirectory[str]] = []
made = make._make
page = html.render  # as it is: a test that asks first may have put another in its place


def shared_folder() -> Path | None:
    """Return the folder that all workers of one run share; None where one process runs all tests."""
    name = os.environ.get("PYTEST_XDIST_TESTRUNUID")
    return Path(gettempdir()) / f"custos-examples-{name}" if name else None


def _made_once(name: str, made_in: Callable[[Path], None]) -> Path:
    """Return a folder that is made by whichever worker asks first; the others wait for it."""
    shared = shared_folder()
    if shared is None:
        KEPT.append(TemporaryDirectory())
        with same_noise(name):
            made_in(Path(KEPT[-1].name) / "examples")
        return Path(KEPT[-1].name) / "examples"
    done, turn = shared / name, shared / f"{name}.turn"
    shared.mkdir(mode=0o700, exist_ok=True)
    end = time.monotonic() + LONGEST_WAIT
    while not done.exists() and not _is_taken(turn) and time.monotonic() < end:
        time.sleep(0.05)
    try:
        if done.exists():  # also where it was made between the last look and taking the turn
            return done
        aside = shared / f"{name}.{os.getpid()}"
        with same_noise(name):
            made_in(aside)
        with suppress(OSError):  # another worker that did not wait any longer was first
            aside.rename(done)
            return done
        return aside
    finally:
        shutil.rmtree(turn, ignore_errors=True)


def _is_taken(turn: Path) -> bool:
    """Take the turn, and say whether that worked: nobody else has it."""
    try:
        turn.mkdir()
    except FileExistsError:
        return False
    return True


def named_columns(tables: Mapping[str, Table], design: Method) -> dict[str, Table]:
    """Return the tables without the columns that the method does not say it uses."""
    uses = design.uses
    return {
        name: table.with_rows(table.rows()[[c for c in table.rows().columns if c in uses.get(name, ())]])
        for name, table in tables.items()
    }


def _made_of_named_columns(design: Method, used: Mapping[str, Table], context: Context) -> Release:
    whole = named_columns(context.whole, design)
    return made(design, named_columns(used, design), replace(context, whole=whole))


def run_on_named_columns(method: Method, folder: Path) -> None:
    """Run the examples of a method into a folder, on nothing but the columns it names; no PDF is typeset."""
    with (
        patch.object(make, "_make", _made_of_named_columns),
        patch.object(pdf, "render", empty_page),
        patch.object(html, "render", page),
    ):
        examples.run_examples(method, out=folder)


@cache
def ran(method: Method) -> tuple[tuple[Any, Path], ...]:
    """Run the examples of a method on nothing but the columns it names; gives each plan with its bundle."""
    with made_for_all():  # the contract of methods looks at all of them in every set of tests
        folder = _made_once(method.id, lambda folder: run_on_named_columns(method, folder))
    names = ["example", *(f"example-{place}" for place in range(2, 1 + len(examples.plans(method))))]
    return tuple((_plan_in(folder, name), folder / name) for name in names)


def _plan_in(folder: Path, name: str) -> Plan:
    return Plan.loads((folder / f"{name}.plan.json").read_text(encoding="utf-8"), file=name)


@cache
def ran_by_row(method: Method) -> tuple[tuple[Any, Path], ...]:
    """The same without a person key, so that a row is what is protected; visits are left out."""
    found = []
    for place, plan in enumerate(examples.plans(method)):
        bare = replace(plan, schemas={name: _without_key(one) for name, one in plan.schemas.items()})
        if "study" in plan.parameters:
            continue  # a study of several sites says itself which rows belong together
        if not plan.step and bare.schemas != plan.schemas:
            folder = _made_once(f"{method.id}-by-row-{place}", lambda folder, bare=bare: _run(bare, folder))
            found.append((bare, folder / "out"))
    return tuple(found)


def _without_key(schema: Schema) -> Schema:
    columns = tuple(
        replace(column, role=Role.DROPPED) if column.role is Role.PERSON_KEY else column
        for column in schema.columns
    )
    return replace(schema, columns=columns, rows_per_person=1)


def _run(plan: Plan, folder: Path) -> None:
    folder.mkdir()
    ledger = Ledger(folder / "ledger.sqlite")
    run(examples._bring(plan, folder), out=folder / "out", ledger=ledger, base=folder)


def evidence(folder: Path) -> dict[str, Any]:
    """Return the public evidence of a bundle."""
    return dict(json.loads((folder / "release" / "evidence.json").read_text()))
