"""Asking analyses: which there are, on which table, and the answer as a report. Orders engine calls."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from app.state.settings import open_own
from engine.errors import InputRefused
from engine.methods.protocol import MAIN
from engine.progress import SILENT, Progress
from engine.table.schema import Schema

NONE, OWN, SHIPPED = "none", "own", "shipped"


@dataclass(frozen=True)
class Choice:
    """An analysis, and its example: the values that it can be asked with at once."""

    analysis: Any
    values: Mapping[str, Any]
    table: Path | None
    schema: Schema | None


def catalogue() -> tuple[Choice, ...]:
    """Return every analysis with its example; brings numpy and pandas along, so it runs as a job."""
    from engine.analyses.catalogue import analyses, example

    found = []
    for one in analyses():
        shown = example(one)
        found.append(Choice(one, shown.values, shown.table, shown.schema))
    return tuple(found)


def ask(
    choice: Choice,
    given: Mapping[str, Any],
    *,
    table: Any = None,
    schema: Schema | None = None,
    shipped: bool = False,
    others: Mapping[str, Path] | None = None,
    steps: Sequence[Mapping[str, Any]] = (),
    progress: Progress = SILENT,
) -> Any:
    """Ask an analysis about a table, the shipped one of its example, or none.

    Parameters
    ----------
    choice, given
        The analysis and what was filled in.
    table, schema
        The open table as it was prepared, and what is declared about it.
    shipped
        Whether the table of the example is meant.
    others
        Further files by the name of their source.
    steps
        How the table was prepared; other files are prepared alike, see `read_beside`.
    progress
        Told about the work.
    """
    from engine.analyses.catalogue import ask as ask_analysis
    from engine.table.reading.readers import read_table

    if shipped and choice.table is not None:
        table, schema = read_table(choice.table, progress=progress.part(0.0, 0.2)), choice.schema
    tables = {} if table is None else {MAIN: table}
    for source, path in (others or {}).items():
        tables[source] = read_beside(path, schema or Schema(), steps)
    schemas = {} if table is None or schema is None else {MAIN: schema}
    rest = progress.part(0.2, 1.0)
    return ask_analysis(choice.analysis, given, tables=tables, schemas=schemas, progress=rest)


def read_beside(path: Path, schema: Schema, steps: Sequence[Mapping[str, Any]]) -> Any:
    """Return a second file as comparable with the prepared table as it can be.

    A step of preparation is repeated where the file has the columns that it reads and does not have yet what
    it makes: whoever holds dates of birth is compared with a table of ages.
    """
    from engine.table.preparation.prepare import prepare
    from engine.table.reading.readers import read_table

    table = read_table(path, schema=schema)
    for step in steps:
        reads = {step[name] for name in ("column", "date_column") if step.get(name)}
        made = step.get("to")
        if step.get("step") == "drop_people" or not reads <= set(table.names) or made in table.names:
            continue
        table, _ = prepare(table, [step], _of_the_file(schema, table))
    return table


def _of_the_file(schema: Schema, table: Any) -> Schema:
    """Return what is declared about the columns that a file has."""
    return replace(schema, columns=tuple(one for one in schema.columns if one.name in table.names))


def save(
    choice: Choice, given: Mapping[str, Any], answer: Any, path: Path, *, language: str, stays: bool
) -> Path:
    """Write an answer as a PDF report, with its values and figures attached.

    Raises
    ------
    InputRefused
        ``analyses.stays``: it was computed from rows and the place is the folder of a release for outside;
        ``plan.not_writable``.
    """
    from engine.report.document import Document, Section
    from engine.report.pdf import render
    from engine.views import Text

    if stays and _is_outside(path):
        raise InputRefused("analyses.stays", folder=path.parent.name)
    sentences, *views = answer.views
    number, moment = uuid.uuid4().hex, datetime.now().astimezone().isoformat(timespec="seconds")
    side = "internal" if stays else "public"
    document = Document(
        title=Text(f"analyses.{choice.analysis.id}.title"),
        subtitle=Text(f"app.explore.report.subtitle_{side}"),
        audience=Text(f"app.explore.report.audience_{side}"),
        stays=stays,
        bundle_id=number,
        made_at=moment,
        cover=(Text(f"analyses.{choice.analysis.id}.summary"), *sentences.paragraphs),
        sections=(Section(Text("app.explore.report.figures"), tuple(views)),) if views else (),
    )
    tree = {
        "analysis": {"id": choice.analysis.id, "version": choice.analysis.version},
        "values": dict(given),
        "figures": dict(answer.figures),
        "made_at": moment,
    }
    evidence = json.dumps(tree, indent=2, ensure_ascii=False, default=str).encode()
    try:
        with open_own(path, mode=0o600 if stays else 0o666) as file:
            file.write(render(document, evidence=evidence, language=language))
    except OSError as error:
        raise InputRefused("plan.not_writable", file=path.name, folder=str(path.parent)) from error
    return path


def _is_outside(path: Path) -> bool:
    """Say whether a place is, or lies in, the folder of a bundle that leaves."""
    places = path.absolute().parents
    return any(one.name == "release" and (one / "SHA256SUMS").exists() for one in places)
