"""Reading in one job: find out, read, suggest, prepare. Orders engine calls; computes nothing itself."""

from __future__ import annotations

from dataclasses import dataclass, replace
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
    ``part`` says what the table is a sample of; None for all of it.
    """

    detection: Any
    raw: Any
    suggestions: tuple[Any, ...]
    table: Any
    keys: tuple[Any, ...]
    schema: Schema
    questions: frozenset[str]
    digest: str = ""
    part: Any = None


def read(
    plan: Plan,
    questions: frozenset[str],
    *,
    known: tuple[Any, Any, tuple[Any, ...], Any] | None = None,
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
    """
    from engine.release.looking import look
    from engine.table.preparation.prepare import prepare
    from engine.table.suggest.keys import key_candidates

    digest = ""
    if known is None:
        key = plan.schema.person_key
        looked = look(
            plan.files[MAIN], key="" if key is None else key.name, progress=progress.part(0.05, 0.7)
        )
        digest, found = looked.digest, looked.suggestions(progress.part(0.7, 0.9))
        known = (looked.detection, looked.table, found, looked.part)
    detection, raw, suggestions, part = known
    made = {str(step["to"]) for step in plan.preparation if step.get("to")}
    schema, asked = marking.start(plan, questions, (*raw.names, *made), suggestions)
    if not plan.preparation:
        keys = key_candidates(raw, suggestions)
        return Reading(detection, raw, suggestions, raw, keys, schema, asked, digest, part)
    # What a step makes is declared by the step; what the custodian said about it since goes before.
    bare = replace(schema, columns=tuple(column for column in schema.columns if column.name not in made))
    table, declared = prepare(raw, plan.preparation, bare, progress=progress.part(0.9, 1.0))
    for column in declared.columns:
        if column.name in made and column.name not in schema:
            schema = schema.with_column(column)
    keys = key_candidates(table, suggestions)
    return Reading(detection, raw, suggestions, table, keys, schema, asked, digest, part)
