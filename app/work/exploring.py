"""Asking analyses: which there are, on which table, and the answer as a report. Orders engine calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

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
    bundles: Sequence[Any] = (),
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
    bundles
        Releases of any sites, from `read_bundles`.
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
    return ask_analysis(
        choice.analysis, given, tables=tables, schemas=schemas, bundles=tuple(bundles), progress=rest
    )


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
    """Write an answer as a PDF report or its table as CSV; see `engine.analyses.saving.save_answer`."""
    from engine.analyses.saving import save_answer

    return save_answer(choice.analysis, given, answer, path, language=language, stays=stays)


def read_bundles(
    folders: Sequence[Path], *, beside: Sequence[Any] = (), progress: Progress = SILENT
) -> tuple[Any, ...]:
    """Return releases of any sites, verified; see `engine.release.released_bundle.read_bundles`."""
    from engine.release.released_bundle import read_bundles as read

    return read(folders, beside=tuple(beside), progress=progress)


def figures_of(bundles: Sequence[Any]) -> tuple[tuple[str, ...], dict[str, tuple[Any, tuple[str, ...]]]]:
    """Return how each site is called, and the figures that most of the releases have."""
    from engine.analyses.pooled_bundles import shared_figures, site_names

    return site_names(bundles), shared_figures(bundles)
