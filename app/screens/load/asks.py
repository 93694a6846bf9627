"""Reading in one job: find out, read, suggest, prepare. Orders engine calls; computes nothing itself."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from app.state.settings import write_aside
from app.work import marking
from engine import bounded
from engine.methods.protocol import MAIN
from engine.progress import SILENT, Progress
from engine.release.plan import Plan
from engine.table.reading.options import SERVER_ENDING
from engine.table.schema import Schema


@dataclass(frozen=True)
class Reading:
    """A table as it was read and as it was prepared, how it was understood, and how it may be marked.

    ``part`` says what the table is a sample of; None for all of it. ``looked`` is the table as it was read
    now, and what a server was asked for it; None where it had been read before.
    """

    detection: Any
    raw: Any
    suggestions: tuple[Any, ...]
    table: Any
    keys: tuple[Any, ...]
    schema: Schema
    questions: frozenset[str]
    part: Any = None
    looked: Any = None


def read(
    plan: Plan,
    questions: frozenset[str],
    *,
    known: tuple[Any, Any, tuple[Any, ...], Any] | None = None,
    password: str | None = None,
    progress: Progress = SILENT,
) -> Reading:
    """Read and prepare the table of a plan.

    Parameters
    ----------
    plan, questions
        As the study has them.
    known
        Detection, raw table, suggestions and what it is a part of when the file was read before: then it is
        only prepared anew.
    password
        Of the user whom the file of a server names.
    """
    from engine.release.looking import look
    from engine.table.preparation.prepare import prepare
    from engine.table.suggest.keys import key_candidates

    looked = None
    if known is None:
        key = plan.schema.person_key
        name = "" if key is None else key.name
        looked = look(plan.files[MAIN], key=name, progress=progress.part(0.05, 0.7), password=password)
        found = looked.suggestions(progress.part(0.7, 0.9))
        known = (looked.detection, looked.table, found, looked.part)
    detection, raw, suggestions, part = known
    made = {str(step["to"]) for step in plan.preparation if step.get("to")}
    schema, asked = marking.start(plan, questions, (*raw.names, *made), suggestions)
    if not plan.preparation:
        keys = key_candidates(raw, suggestions)
        return Reading(detection, raw, suggestions, raw, keys, schema, asked, part, looked)
    # What a step makes is declared by the step; what the custodian said about it since goes before.
    bare = replace(schema, columns=tuple(column for column in schema.columns if column.name not in made))
    table, declared = prepare(raw, plan.preparation, bare, progress=progress.part(0.9, 1.0))
    for column in declared.columns:
        if column.name in made and column.name not in schema:
            schema = schema.with_column(column)
    keys = key_candidates(table, suggestions)
    return Reading(detection, raw, suggestions, table, keys, schema, asked, part, looked)


def list_tables(said: Mapping[str, Any], password: str, *, progress: Progress = SILENT) -> Any:
    """Return the tables of a database that a user may read, see `engine.table.server.Listed`."""
    from engine.table.server import Address, list_relations

    return list_relations(Address.of(said, str(said["host"])), password, progress=progress)


def write_server(said: Mapping[str, Any], folder: Path) -> Path:
    """Write the file that names a table on a server, without a password, and return its place."""
    from engine.table.server import Address

    address = Address.of(said, str(said["host"]))
    written = json.dumps(address.to_json(), indent=2, ensure_ascii=False) + "\n"
    name = re.sub(r"[^\w.-]+", "-", f"{address.database}.{address.relation}")[:80]
    for number in range(1, 1000):
        place = folder / f"{name}{'' if number == 1 else f'-{number}'}{SERVER_ENDING}"
        if not place.exists():
            break
        if place.stat().st_size <= 2 * len(written.encode()) and bounded.read_text(place) == written:
            break  # chosen before
    write_aside(place, written)
    return place


def read_address(path: str) -> Any:
    """Return where the file of a server leads to, see `engine.table.server.Address`."""
    from engine.table.server import Address

    return Address.read(Path(path))


def has_connector() -> bool:
    """Say whether the part that connects to servers is installed."""
    from engine.table import server

    return server.has_connector()
