"""Tables besides that of the people, and visits of a service. Orders engine calls; computes nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from app.work.releasing import is_sealed
from engine import strict_json
from engine.bounded import EVIDENCE, read_bytes, read_text
from engine.errors import EngineError, InputRefused
from engine.methods.parameters import Parameter, Problem
from engine.methods.protocol import Cheaper, Request, Service, Source
from engine.progress import SILENT, Progress
from engine.release.plan import FileReference, Plan
from engine.table.schema import Column, Role, Schema
from engine.views import Text


@dataclass(frozen=True)
class Further:
    """A table of a source: how it is read, what is declared about it for now, and the digest of its file."""

    source: str
    file: FileReference
    schema: Schema
    rows: int
    digest: str


def read_further(
    source: Source,
    path: str,
    declared: Schema | None = None,
    before: FileReference | None = None,
    *,
    progress: Progress = SILENT,
) -> Further:
    """Read a table of a source, as ``before`` was read, and say what its columns are unless that is declared.

    A folder of small files is written as one table first, beside it.

    In a private one, the column that seems to name people is proposed as the person key; in any other, no
    column is about the custodian's people.
    """
    from engine.release.reading import hash_unchanged
    from engine.table.reading.gathering import gather
    from engine.table.reading.options import ReadOptions
    from engine.table.reading.readers import detect, read_table
    from engine.table.suggest.suggest import suggest

    if Path(path).is_dir():
        path = str(gather(Path(path)).path)
    said = ReadOptions() if before is None else ReadOptions.from_json(before.options, file=Path(path).name)
    found = detect(path, options=said)
    with hash_unchanged(Path(path)) as digest:
        table = read_table(path, options=found.options, progress=progress.part(0.0, 0.7))
    options = replace(table.options, date_order=table.options.date_order or "ymd")
    file = FileReference(path, options.to_json())
    if declared is not None:
        return Further(source.name, file, declared, table.n_rows, digest)
    columns = []
    for one in suggest(table, progress=progress.part(0.7, 1.0)):
        role = one.role if source.shape.is_private and one.role is Role.PERSON_KEY else Role.OTHER
        columns.append(Column(one.column, role, one.kind))
    return Further(source.name, file, Schema(tuple(columns)), table.n_rows, digest)


def hang_together(plan: Plan, *, progress: Progress = SILENT) -> Any:
    """Return a view of how the tables of a plan hang together; it stays here."""
    from engine.release import table_links

    return table_links.hang_together(plan, progress=progress)


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
    lost
        Tables that were not found where they lay, by the name of their source: how they were read.
    """

    plan: Plan
    entry: str
    folder: Path
    lost: Mapping[str, FileReference] = field(default_factory=dict)

    @property
    def state(self) -> Path:
        """The file that the last visit left."""
        return self.folder / "internal" / "state"


def visit(
    opened: Opened, step: str, given: Mapping[str, Any], further: Mapping[str, Further], *, name: str
) -> Plan:
    """Return the plan of a visit: the opening's, with what this step asks and reads."""
    from engine.methods.catalogue import method

    plan, found = opened.plan, method(opened.plan.method)
    read = {source.name for source in found.reads(step)}
    files = {key: file for key, file in plan.files.items() if key.split(".")[0] in read}
    schemas = {key: schema for key, schema in plan.schemas.items() if key in read}
    for one in further.values():
        files[one.source], schemas[one.source] = one.file, one.schema
    return replace(
        plan,
        method_version=found.version,  # a state of an earlier one is read, or refused, by the method
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


@dataclass(frozen=True)
class Visit:
    """What is known about a visit before it is made.

    Parameters
    ----------
    problems
        Why it cannot be made yet.
    promise
        What it promises where it can; None otherwise.
    """

    problems: tuple[Problem, ...] = ()
    promise: Any = None


def look(plan: Plan) -> Visit:
    """Return what is known about a visit; reads the state and no row."""
    from engine.methods.catalogue import method

    try:
        design = method(plan.method)(_request(plan))
        problems = tuple(design.problems)
        return Visit(problems, None if problems else design.cost)
    except (EngineError, OSError) as error:
        code = error.code if isinstance(error, EngineError) else "plan.not_readable"
        values = error.values if isinstance(error, EngineError) else {"file": "state"}
        return Visit((Problem(code, values),))


def _visit(plan: Plan) -> Service | None:
    """Return the design of a visit, going on from its state; None where the method has no visits."""
    from engine.methods.catalogue import method

    design = method(plan.method)(_request(plan))
    return design if isinstance(design, Service) else None


def _request(plan: Plan) -> Request:
    return plan.request_from(read_bytes(Path(plan.state)))


@dataclass(frozen=True)
class Remembered:
    """What a state says: it is the same for all that is asked until a visit has left another one.

    Parameters
    ----------
    offered
        By source, the columns that a step may name; a source that is not in it offers all.
    so_far
        Views of what the service has released until now.
    """

    offered: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    so_far: tuple[Any, ...] = ()


def read_remembered(plan: Plan) -> Remembered:
    """Return what the state of a service says; nothing where it cannot be read, which `look` tells."""
    try:
        design = _visit(plan)
    except (EngineError, OSError):
        return Remembered()
    return Remembered() if design is None else Remembered(design.offered, design.so_far)


@dataclass(frozen=True)
class Prices:
    """What each record adds to what a visit takes, and ways to take less.

    Parameters
    ----------
    each
        0 for one that was paid for before or stands above in the same visit; None for one with a problem.
    margins
        What 95 of 100 answers to each are within; None where it is not known before.
    cheaper
        Ways to the same, or to nearly the same.
    within
        What the only record takes for each of `WIDTHS`, where it counts and can be answered so exactly.
    """

    each: tuple[Fraction | None, ...] = ()
    margins: tuple[float | None, ...] = ()
    cheaper: tuple[Cheaper, ...] = ()
    within: tuple[tuple[int, Fraction], ...] = ()


WIDTHS = (30, 15, 6)
"""Margins that a count is offered with."""
WORTH = Fraction(95, 100)
"""Less than this part of a level for the same margin is worth being said."""


def prices(plan: Plan, parameter: Parameter, *, progress: Progress = SILENT) -> Prices:
    """Return what the records of a parameter cost, and what would cost less; reads the state and no row."""
    records = plan.parameters.get(parameter.name) or ()
    each: list[Fraction | None] = [None] * len(records)
    fits = []
    for place, record in enumerate(records):
        progress.step(place / len(records), "table.prepare")
        if _takes(_with(plan, parameter, [record])):
            fits.append(place)
    within = _priced_widths(plan, parameter, records)
    margins: list[float | None] = [None] * len(records)
    if not fits:
        return Prices(tuple(each), tuple(margins), within=within)
    plan = _with(plan, parameter, [records[place] for place in fits])
    for place, epsilon in zip(fits, _takes(plan), strict=True):
        each[place] = epsilon
    design = _visit(plan)
    if design is None:
        return Prices(tuple(each), tuple(margins), within=within)
    for place, margin in zip(fits, design.within_each, strict=False):
        margins[place] = margin
    if len(fits) < len(records):
        return Prices(tuple(each), tuple(margins), within=within)
    same = _same_margin(plan, parameter, within, each[0], margins[0])
    return Prices(tuple(each), tuple(margins), (*same, *design.cheaper), within)


def _same_margin(
    plan: Plan,
    parameter: Parameter,
    within: Sequence[tuple[int, Fraction]],
    takes: Fraction | None,
    margin: float | None,
) -> tuple[Cheaper, ...]:
    """Return the way to ask by its margin what is asked by a level, where that takes clearly less."""
    (record,) = plan.parameters[parameter.name] if within else (None,)
    for width, less in within:
        if record is not None and takes and margin == width and less < WORTH * takes:
            bare = {name: value for name, value in record.items() if name != "epsilon"}
            given = {**plan.parameters, parameter.name: [bare | {"margin": width}]}
            return (Cheaper(Text("app.visit.cheaper.by_margin", {"margin": width}), less, given),)
    return ()


def _priced_widths(
    plan: Plan, parameter: Parameter, records: Sequence[Mapping[str, Any]]
) -> tuple[tuple[int, Fraction], ...]:
    """Return what one question how many takes, by how exactly it is answered.

    Nothing where it was answered before: asked again it is the same number, however exactly it is wanted.
    """
    names = {one.name for one in parameter.fields}
    if len(records) != 1 or not {"margin", "epsilon"} <= names or records[0].get("kind", "count") != "count":
        return ()
    bare = {name: value for name, value in records[0].items() if name != "epsilon"}
    taken = [(width, _takes(_with(plan, parameter, [bare | {"margin": width}]))) for width in WIDTHS]
    within = tuple((width, found[0]) for width, found in taken if found)
    return within if any(epsilon for _, epsilon in within) else ()


def _with(plan: Plan, parameter: Parameter, records: list[Any]) -> Plan:
    return replace(plan, parameters={**plan.parameters, parameter.name: records})


def _takes(plan: Plan) -> tuple[Fraction, ...]:
    """Return what each record takes; nothing where one of them has a problem."""
    try:
        design = _visit(plan)
        return () if design is None or design.request.wrong else design.takes_each
    except (EngineError, OSError):
        return ()


@dataclass(frozen=True)
class Taken:
    """What was reserved for a service and what its visits took, in their order."""

    reserved: Fraction | None
    visits: tuple[tuple[str, Fraction], ...] = ()

    @property
    def left(self) -> Fraction:
        """What further visits can take."""
        used = sum((epsilon for _, epsilon in self.visits), Fraction(0))
        return max((self.reserved or Fraction(0)) - used, Fraction(0))


def taken_by_service(opened: Opened, ledger_path: Path | None, *, progress: Progress = SILENT) -> Taken:
    """Ask the ledger what a service has taken until now."""
    import engine.pricing.statement  # noqa: F401  - for the money, which the interface asks
    from engine.ledger import Ledger, default_path

    place = ledger_path if ledger_path is not None else default_path()
    if not place.exists():
        return Taken(None)
    service = Ledger(place, read_only=True).service(opened.entry)
    drawn = [one for one in service.visits if one.counts and one.epsilon]
    return Taken(service.opening.epsilon, tuple((one.title, one.epsilon or Fraction(0)) for one in drawn))


def resume(folder: Path, *, ledger_path: Path | None = None, progress: Progress = SILENT) -> Opened:
    """Return what a visit goes on from, given the bundle of the opening or of the last visit.

    Tables are looked for where they lay, seen from the bundle; one that is not found is asked for.

    Raises
    ------
    InputRefused
        ``bundle.no_bundle``, ``bundle.no_state``; ``ledger.no_entry``: another ledger;
        ``ledger.other_state``: a later visit has left another state.
    """
    from engine.ledger import Ledger, default_path
    from engine.release.reading import file_hash

    plan, entry = _read_plan(folder)
    state = folder / "internal" / "state"
    if not state.is_file():
        raise InputRefused("bundle.no_state", folder=folder.name)
    opening = plan.continues or entry
    place = ledger_path if ledger_path is not None else default_path()
    service = Ledger(place, read_only=place.exists()).service(opening)
    if service.state_hash != file_hash(state):
        raise InputRefused("ledger.other_state", title=service.opening.title, entry=opening)
    beside = folder.absolute().parent  # an absolute path stays what it is
    files = {name: replace(file, path=str(beside / file.path)) for name, file in plan.files.items()}
    found = {name: file for name, file in files.items() if Path(file.path).is_file()}
    bare = replace(
        plan,
        files=found,
        purpose=replace(plan.purpose, title=service.opening.title),
        parameters={},
        step="",
        continues="",
        state="",
    )
    return Opened(bare, opening, folder, {name: files[name] for name in files.keys() - found.keys()})


def _read_plan(folder: Path) -> tuple[Plan, str]:
    """Return the plan and the ledger entry of a bundle, as its evidence says them."""
    place = folder / "internal" / "evidence.json"
    if is_sealed(folder):
        raise InputRefused("sealing.is_sealed", folder=folder.name)
    try:
        tree = strict_json.loads(read_text(place, EVIDENCE))
        return Plan.loads(json.dumps(tree["internal"]["plan"]), file=place.name), str(tree["ledger"]["entry"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputRefused("bundle.no_bundle", folder=folder.name, file="internal/evidence.json") from error


def opened_from(folder: Path, plan: Plan) -> Opened:
    """Return what a visit goes on from, given the bundle of the opening or of a visit."""
    tree = strict_json.loads(read_text(folder / "release" / "evidence.json", EVIDENCE))
    return Opened(plan, plan.continues or str(tree["ledger"]["entry"]), folder)


def next_folder(first: Path, step: str) -> Path:
    """Return a folder beside the opening's that does not exist yet."""
    for number in range(1, 10_000):
        place = first.with_name(f"{first.name}-{step}-{number}")
        if not place.exists():
            return place
    return first.with_name(f"{first.name}-{step}")
