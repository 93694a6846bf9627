"""Reading in one job: find out, read, suggest, prepare. Orders engine calls; computes nothing itself."""

from __future__ import annotations

import gc
from dataclasses import dataclass, replace
from typing import Any

from app import marking
from engine.methods.protocol import MAIN
from engine.progress import SILENT, Progress
from engine.release.plan import Plan
from engine.table.schema import Schema


def load_engine() -> None:
    """Import what the first table, the budget and the release need, so that nobody waits for the imports."""
    import dp_accounting.pld.pld_pmf  # noqa: F401
    import fpdf  # noqa: F401
    import matplotlib.backends.backend_agg  # noqa: F401
    import pyarrow.csv  # noqa: F401
    import scipy.optimize  # noqa: F401

    import engine.release.choice_curve
    import engine.release.report.pdf
    import engine.release.run
    import engine.risk.group_sizes
    import engine.table.preparation
    import engine.table.suggest  # noqa: F401
    from engine.evaluation.catalogue import measures
    from engine.methods.catalogue import methods
    from engine.release.report.figures import draw
    from engine.views import BarsView

    methods()
    measures()
    # matplotlib loads much of itself, and its fonts, on the first drawing.
    draw(BarsView("", ("",), (1.0,), ""))
    # What was loaded stays; looking through it for rubbish would stop the window for 0.2 s each time.
    gc.freeze()


@dataclass(frozen=True)
class Reading:
    """A table as it was read and as it was prepared, how it was understood, and how it may be marked."""

    detection: Any
    raw: Any
    suggestions: tuple[Any, ...]
    table: Any
    schema: Schema
    questions: frozenset[str]


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
    from engine.table.options import ReadOptions
    from engine.table.preparation import prepare
    from engine.table.readers import detect, read_table
    from engine.table.suggest import suggest

    file = plan.files[MAIN]
    if known is None:
        options = ReadOptions.from_json(file.options, file=file.path)
        detection = detect(file.path, options=options)
        raw = read_table(file.path, options=options, progress=progress.part(0.05, 0.7))
        known = (detection, raw, suggest(raw, progress=progress.part(0.7, 0.9)))
    detection, raw, suggestions = known
    made = {str(step["to"]) for step in plan.preparation if step.get("to")}
    schema, asked = marking.start(plan, questions, (*raw.names, *made), suggestions)
    if not plan.preparation:
        return Reading(detection, raw, suggestions, raw, schema, asked)
    # What a step makes is declared by the step; what the custodian said about it since goes before.
    bare = replace(schema, columns=tuple(column for column in schema.columns if column.name not in made))
    table, declared = prepare(raw, plan.preparation, bare, progress=progress.part(0.9, 1.0))
    for column in declared.columns:
        if column.name in made and column.name not in schema:
            schema = schema.with_column(column)
    return Reading(detection, raw, suggestions, table, schema, asked)
