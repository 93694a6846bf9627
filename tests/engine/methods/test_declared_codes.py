"""Every method gives for a declared missing code, as the file writes it, what it gives for an empty cell."""

from __future__ import annotations

import csv
import hashlib
import os
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from engine.methods.catalogue import methods
from engine.methods.protocol import MAIN, Method, TableArtefact
from engine.privacy.noise import Noise
from engine.release import reading
from engine.release.check import check
from engine.release.examples import plans
from engine.release.make import make
from engine.release.plan import FileReference, Plan
from engine.table.schema import Kind, Role
from tests.engine.methods.audit.audits import agreed

EXAMPLES = Path(__file__).parents[3] / "resources" / "examples"
CODES = {Kind.INTEGER: "0999.00", Kind.NUMBER: "+9.99e2", Kind.DATE: "1900/1/1"}
EVERY = 17
APART = (Role.PERSON_KEY, Role.WEIGHT, Role.DROPPED, Role.DIRECT_IDENTIFIER)


def of_people(method: Method) -> Plan | None:
    """Return the first worked example that reads a file of people, with codes declared for all columns."""
    for plan in plans(method):
        if not plan.step and MAIN in plan.files and plan.files[MAIN].path.endswith(".csv"):
            schema = plan.schemas[MAIN]
            columns = tuple(
                one if one.role in APART else replace(one, missing=(*one.missing, CODES.get(one.kind, "?? ")))
                for one in schema.columns
            )
            return agreed(plan.with_schema(replace(schema, columns=columns)))
    return None


def with_cells(plan: Plan, cell: Callable[[Kind], str], folder: Path) -> Plan:
    """Return the plan for a copy of its file in which some cells of every column are others."""
    reference = plan.files[MAIN]
    mark = str(reference.options.get("delimiter") or ",")
    with (EXAMPLES / reference.path).open(newline="", encoding="utf-8") as file:
        head, *rows = csv.reader(file, delimiter=mark)
    changed = [one for one in plan.schemas[MAIN].columns if one.role not in APART and one.name in head]
    for place, column in enumerate(changed):
        for row in rows[place % EVERY :: EVERY]:
            row[head.index(column.name)] = cell(column.kind)
    folder.mkdir()
    with (folder / "people.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter=mark, lineterminator="\n").writerows([head, *rows])
    own = {MAIN: FileReference(str(folder / "people.csv"), reference.options)}
    return replace(plan, files={**plan.files, **own})


def left(plan: Plan, folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Return what leaves, with the same chance in every run."""
    counted = iter(range(10**9))
    same = lambda size: hashlib.shake_256(str(next(counted)).encode()).digest(size)  # noqa: E731
    monkeypatch.setattr(os, "urandom", same)
    monkeypatch.setattr(random, "_urandom", same)
    design = check(plan, base=EXAMPLES)
    prepared = reading.read_all(plan, design.sources_read, base=EXAMPLES)
    found = make(design, prepared, Noise(same), folder=folder).release
    tables = [one for one in found.artefacts if isinstance(one, TableArtefact)]
    return [*(one.frame.to_csv() for one in tables), repr(found.views), repr(found.inside.figures)]


@pytest.mark.parametrize("method", methods(), ids=lambda one: one.id)
def test_a_code_is_an_empty_cell(method: Method, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = of_people(method)
    if plan is None:
        pytest.skip("no worked example reads a file of people")
    coded = with_cells(plan, lambda kind: CODES.get(kind, " ??"), tmp_path / "coded")
    empty = with_cells(plan, lambda kind: "", tmp_path / "empty")
    with monkeypatch.context() as first:
        one = left(coded, tmp_path / "coded", first)
    with monkeypatch.context() as second:
        other = left(empty, tmp_path / "empty", second)
    assert one == other and len(one) >= 2
