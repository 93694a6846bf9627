"""Several tables of one register: read, how they hang together, what the plan says. Orders engine calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from app.work.marking import with_person_key
from engine.errors import InputRefused
from engine.methods.protocol import MAIN
from engine.progress import SILENT, Progress
from engine.release.plan import FileReference, Plan
from engine.table.schema import LINKED, RECORDS, Column, Role, Schema

PARTS = (*LINKED, "population")
"""What a table may be, by the name of its source in a plan: what methods that read several call them."""


@dataclass(frozen=True)
class One:
    """A table as it was read: how, what it holds, what its columns seem to be, and the digest of its file.

    ``given`` is how it was asked for, ``file`` says all that was found out about it.
    """

    name: str
    given: FileReference
    file: FileReference
    table: Any = field(repr=False)
    suggestions: tuple[Any, ...] = field(repr=False)
    digest: str

    def schema(self, person: str = "") -> Schema:
        """Return what is declared of it for now: one column may say whose a row is, nothing else is known."""
        return Schema(
            tuple(
                Column(one.column, Role.PERSON_KEY if one.column == person else Role.OTHER, one.kind)
                for one in self.suggestions
            )
        )


@dataclass(frozen=True)
class Together:
    """The tables that were opened together, by their names, how they hang together, and that counted."""

    tables: Mapping[str, One]
    hanging: Any
    counted: Mapping[str, Any] = field(default_factory=dict)

    @property
    def parameters(self) -> dict[str, str]:
        """What a method that reads records and their details asks of how these hang together."""
        found = {"record": self.hanging.record, "record_of": self.hanging.record_of}
        return {name: column for name, column in found.items() if column}

    def at(self, part: str) -> One | None:
        """Return the table that is something, or None."""
        return self.tables.get(self.hanging.named(part))


def read_together(files: Sequence[FileReference], *, progress: Progress = SILENT) -> Together:
    """Read several tables and propose how they hang together.

    Raises
    ------
    InputRefused
        Whatever the reader refuses; ``reading.together_too_large``: one does not go into memory.
    """
    from engine.release.looking import look

    tables = dict[str, One]()
    for place, file in enumerate(files):
        share = progress.part(place / len(files), (place + 0.9) / len(files))
        looked = look(file, progress=share.part(0.0, 0.8))
        name = str(file.options.get("sheet") or Path(file.path).name)
        if looked.part is not None:
            raise InputRefused("reading.together_too_large", file=name)
        found = looked.suggestions(share.part(0.8, 1.0))
        options = replace(looked.table.options, date_order=looked.table.options.date_order or "ymd")
        said = FileReference(file.path, options.to_json())
        name = name if name not in tables else f"{Path(file.path).parent.name}/{name}"
        tables[name] = One(name, file, said, looked.table, found, looked.digest)
    return propose(tables)


def sheets_of(path: str, sheets: Sequence[str]) -> list[FileReference]:
    """Return the sheets of a workbook, each as a table of its own."""
    return [FileReference(path, {"sheet": sheet}) for sheet in sheets]


def propose(tables: Mapping[str, One]) -> Together:
    """Return how tables may hang together, counted."""
    from engine.table.suggest.links import propose_links

    return count(Together(tables, propose_links({name: one.table for name, one in tables.items()})))


def count(together: Together) -> Together:
    """Return the same with what hangs on what counted; it stays here."""
    from engine.table.suggest.links import count_links

    tables = {name: one.table for name, one in together.tables.items()}
    return replace(together, counted=count_links(tables, together.hanging))


def with_part(together: Together, name: str, part: str) -> Together:
    """Return the same with a table that is something else; what was that before is what this one was."""
    parts = dict(together.hanging.parts)
    before, other = parts.pop(name, ""), together.hanging.named(part) if part else ""
    if other:
        parts.pop(other)
        parts |= {other: before} if before else {}
    parts |= {name: part} if part else {}
    return _hanging(together, parts=parts)


def with_person(together: Together, name: str, column: str) -> Together:
    """Return the same with another column of a table that says whose a row is."""
    return _hanging(together, person={**together.hanging.person, name: column})


def with_record(together: Together, part: str, column: str) -> Together:
    """Return the same with another column that numbers records, or that says of which one details are."""
    return _hanging(together, **{"record" if part == RECORDS else "record_of": column})


def _hanging(together: Together, **changes: Any) -> Together:
    return replace(together, hanging=replace(together.hanging, **changes))


def plan_of(plan: Plan, together: Together) -> Plan:
    """Return the plan with these tables, each under what it is; what was declared of a table stays."""
    known = {_key(file): plan.schemas.get(name) for name, file in plan.files.items()}
    files, schemas = dict[str, FileReference](), dict(plan.schemas)
    for part in PARTS:
        one = together.at(part)
        former = None if one is None else known.get(_key(one.given if part == MAIN else one.file))
        schemas.pop(part, None)
        if one is None:
            continue
        files[part] = one.given if part == MAIN else one.file
        person = together.hanging.person.get(one.name, "") if part in LINKED else ""
        schema = former if former is not None and former.columns else one.schema() if part != MAIN else None
        if schema is not None:
            former_role = Role.DIRECT_IDENTIFIER if part == MAIN else Role.OTHER
            schemas[part] = with_person_key(schema, person, former=former_role)
    return replace(plan, files=files, schemas=schemas)


def _key(file: FileReference) -> tuple[str, Any]:
    return file.path, file.options.get("sheet")


def of_plan(together: Together, plan: Plan) -> Together:
    """Return the same as the plan says it now: what was undone is undone here, too."""
    named = {_key(one.file): name for name, one in together.tables.items()}
    parts, person = dict[str, str](), dict(together.hanging.person)
    for part, file in plan.files.items():
        name = _found(named, file)
        if name is None or part not in PARTS:
            continue
        parts[name] = part
        key = plan.schemas.get(part, Schema()).person_key
        if part != MAIN and part in LINKED:
            person[name] = "" if key is None else key.name
    return _hanging(together, parts=parts, person=person)


def _found(named: Mapping[tuple[str, Any], str], file: FileReference) -> str | None:
    """Return the name of a table by its file, where one sheet of a workbook may go without its name."""
    name = named.get(_key(file))
    alone = [one for (path, _), one in named.items() if path == file.path]
    return name if name is not None or len(alone) != 1 else alone[0]


def with_cap(plan: Plan, part: str, rows: int) -> Plan:
    """Return the plan with how many rows of a person count in a further table."""
    return replace(plan, schemas={**plan.schemas, part: replace(plan.schemas[part], rows_per_person=rows)})
