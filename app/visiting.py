"""Tables besides that of the people, and visits of a service. Orders engine calls; computes nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from engine.errors import EngineError
from engine.methods.parameters import Problem
from engine.methods.protocol import Source
from engine.progress import SILENT, Progress
from engine.release.plan import FileReference, Plan
from engine.table.schema import Column, Role, Schema


@dataclass(frozen=True)
class Further:
    """A table of a source: how it is read, and what is declared about it for now."""

    source: str
    file: FileReference
    schema: Schema
    rows: int


def read_further(source: Source, path: str, *, progress: Progress = SILENT) -> Further:
    """Read a table of a source and say what its columns are.

    In a private one, the column that seems to name people is proposed as the person key; in any other, no
    column is about the custodian's people.
    """
    from engine.table.reading.readers import detect, read_table
    from engine.table.suggest.suggest import suggest

    found = detect(path)
    table = read_table(path, options=found.options, progress=progress.part(0.0, 0.7))
    columns = []
    for one in suggest(table, progress=progress.part(0.7, 1.0)):
        role = one.role if source.shape.is_private and one.role is Role.PERSON_KEY else Role.OTHER
        columns.append(Column(one.column, role, one.kind))
    options = replace(found.options, date_order=found.options.date_order or "ymd")
    file = FileReference(path, options.to_json())
    return Further(source.name, file, Schema(tuple(columns)), table.n_rows)


@dataclass(frozen=True)
class Opened:
    """What a visit goes on from.

    Parameters
    ----------
    plan
        That opened the service.
    entry
        Of the opening in the ledger.
    folder
        Bundle of the opening or of the last visit; its state is what a visit goes on from.
    """

    plan: Plan
    entry: str
    folder: Path

    @property
    def state(self) -> Path:
        """The file that the last visit left."""
        return self.folder / "internal" / "state"


def visit(
    opened: Opened, step: str, given: Mapping[str, Any], further: Mapping[str, Further], *, name: str
) -> Plan:
    """Return the plan of a visit: the opening's, with what this step asks and reads."""
    from engine.methods.catalogue import method

    plan = opened.plan
    read = {source.name for source in method(plan.method).reads(step)}
    files = {key: file for key, file in plan.files.items() if key.split(".")[0] in read}
    schemas = {key: schema for key, schema in plan.schemas.items() if key in read}
    for one in further.values():
        files[one.source], schemas[one.source] = one.file, one.schema
    return replace(
        plan,
        step=step,
        continues=opened.entry,
        state=str(opened.state.absolute()),
        parameters=dict(given),
        files=files,
        schemas=schemas,
        preparation=tuple(one for one in plan.preparation if one.get("source", "people") in read),
        budget=None,
        candidates=(),
        purpose=replace(plan.purpose, title=name),
    )


def problems_of(plan: Plan) -> tuple[tuple[Problem, ...], Any]:
    """Return why a visit cannot be made yet, and what it promises where it can; reads no row."""
    from engine.methods.catalogue import method

    try:
        request = plan.request_from(Path(plan.state).read_bytes())
        found = method(plan.method)
        problems = tuple(found.problems(request))
        return problems, None if problems else found.cost(request)
    except (EngineError, OSError) as error:
        code = error.code if isinstance(error, EngineError) else "plan.not_readable"
        values = error.values if isinstance(error, EngineError) else {"file": "state"}
        return (Problem(code, values),), None


def opened_from(folder: Path, plan: Plan) -> Opened:
    """Return what a visit goes on from, given the bundle of the opening or of a visit."""
    tree = json.loads((folder / "release" / "evidence.json").read_text(encoding="utf-8"))
    return Opened(plan, plan.continues or str(tree["ledger"]["entry"]), folder)


def next_folder(first: Path, step: str) -> Path:
    """Return a folder beside the opening's that does not exist yet."""
    for number in range(1, 10_000):
        place = first.with_name(f"{first.name}-{step}-{number}")
        if not place.exists():
            return place
    return first.with_name(f"{first.name}-{step}")
