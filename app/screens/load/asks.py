"""Reading in one job: find out, read, suggest, prepare. Orders engine calls; computes nothing itself."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from app.work import marking
from engine.methods.protocol import MAIN
from engine.progress import SILENT, Progress
from engine.release.plan import Plan
from engine.table.schema import Schema


@dataclass(frozen=True)
class Reading:
    """A table as it was read and as it was prepared, how it was understood, and how it may be marked.

    ``digest`` is that of the file, where it was read now: by it is known what the custodian looked at.
    """

    detection: Any
    raw: Any
    suggestions: tuple[Any, ...]
    table: Any
    keys: tuple[Any, ...]
    schema: Schema
    questions: frozenset[str]
    digest: str = ""


def read(
    plan: Plan,
    questions: frozenset[str],
    *,
    known: tuple[Any, Any, tuple[Any, ...]] | None = None,
    progress: Progress = SILENT,
) -> Reading:
    """Read and prepare the table of a plan.

    Parameters
    ----------
    plan, questions
        As the study has them.
    known
        Detection, raw table and suggestions when the file was read before: then it is only prepared anew.
    """
    from engine.release.reading import unchanged
    from engine.table.preparation.prepare import prepare
    from engine.table.reading.options import ReadOptions
    from engine.table.reading.readers import detect, read_table
    from engine.table.suggest.keys import key_candidates
    from engine.table.suggest.suggest import suggest

    file, digest = plan.files[MAIN], ""
    if known is None:
        options = ReadOptions.from_json(file.options, file=file.path)
        detection = detect(file.path, options=options)
        with unchanged(Path(file.path)) as digest:
            raw = read_table(file.path, options=options, progress=progress.part(0.05, 0.7))
        # Whether cells run over several lines is known when all were read.
        known_now = replace(detection.options, multiline=raw.options.multiline)
        detection = replace(detection, options=known_now)
        known = (detection, raw, suggest(raw, progress=progress.part(0.7, 0.9)))
    detection, raw, suggestions = known
    made = {str(step["to"]) for step in plan.preparation if step.get("to")}
    schema, asked = marking.start(plan, questions, (*raw.names, *made), suggestions)
    if not plan.preparation:
        keys = key_candidates(raw, suggestions)
        return Reading(detection, raw, suggestions, raw, keys, schema, asked, digest)
    # What a step makes is declared by the step; what the custodian said about it since goes before.
    bare = replace(schema, columns=tuple(column for column in schema.columns if column.name not in made))
    table, declared = prepare(raw, plan.preparation, bare, progress=progress.part(0.9, 1.0))
    for column in declared.columns:
        if column.name in made and column.name not in schema:
            schema = schema.with_column(column)
    keys = key_candidates(table, suggestions)
    return Reading(detection, raw, suggestions, table, keys, schema, asked, digest)
