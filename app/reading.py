"""Reading in one job: find out, read, prepare. Orders engine calls; computes nothing itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from engine.methods.protocol import MAIN
from engine.progress import SILENT, Progress
from engine.release.plan import Plan


@dataclass(frozen=True)
class Reading:
    """A table as it was read, as it was prepared, and how it was understood."""

    detection: Any
    raw: Any
    table: Any


def read(plan: Plan, *, raw: Any = None, detection: Any = None, progress: Progress = SILENT) -> Reading:
    """Read and prepare the table of a plan; one that was read already is only prepared anew."""
    from engine.table.options import ReadOptions
    from engine.table.readers import detect, read_table

    file = plan.files[MAIN]
    options = ReadOptions.from_json(file.options, file=file.path)
    if raw is None:
        detection = detect(file.path, options=options)
        raw = read_table(file.path, options=options, progress=progress.part(0.05, 0.8))
    if not plan.preparation:
        return Reading(detection, raw, raw)
    from engine.table.preparation import prepare

    return Reading(detection, raw, prepare(raw, plan.preparation, progress=progress.part(0.8, 1.0)))
