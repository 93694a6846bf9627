"""The values of all rows of a server's table, of which the screens have a sample: read while nobody waits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from app.state.study import Study
from app.work.jobs import BEHIND, JobRunner
from engine.errors import EngineError
from engine.methods.protocol import MAIN
from engine.progress import SILENT, Progress
from engine.release.plan import FileReference

SLOT = "values"
READING, KNOWN, STOPPED, REFUSED = "reading", "known", "stopped", "refused"


@dataclass(frozen=True)
class Values:
    """How far it has come: one of the states above, how much is read, of how many columns all is known."""

    state: str
    percent: int = 0
    known: int = 0
    columns: int = 0
    error: EngineError | None = None


def read_values(
    file: FileReference, looked: Any, *, password: str | None, progress: Progress = SILENT
) -> tuple[Any, tuple[Any, ...]]:
    """Return the sample with the different cells of all rows, and how its columns are understood by them."""
    from engine.release import looking

    found = looking.read_values(file, looked, password=password, progress=progress.part(0.0, 0.95))
    return found, found.suggestions(progress.part(0.95, 1.0))


def of_part(part: Any, columns: int) -> Values | None:
    """Return what is known of a sample once all its files were read; nothing where all rows are here."""
    return Values(KNOWN, known=len(part.cells), columns=columns) if part is not None else None


def start_values(study: Study, runner: JobRunner) -> None:
    """Read the values of all rows in a thread of its own; what was declared meanwhile stays."""
    plan, looked = study.plan, study.result("looked")

    def tell(values: Values) -> None:
        if values != study.result(SLOT):
            study.store(SLOT, values, plan)

    def take(found: tuple[Any, tuple[Any, ...]]) -> None:
        now, suggestions = found
        if study.result("looked") is not looked:
            return  # another sample has been drawn since
        with study.by_itself(), study.together():
            study.asked.append(now.asked)
            for name, value in (("looked", now), ("part", now.part), ("suggestions", suggestions)):
                study.store(name, value, plan)
            tell(Values(KNOWN, known=len(now.part.cells), columns=len(now.table.names)))

    def fail(error: Exception) -> None:
        tell(Values(REFUSED, error=error if isinstance(error, EngineError) else None))

    tell(Values(READING))
    runner.start(
        read_values,
        plan.files[MAIN],
        looked,
        password=study.password,
        done=take,
        failed=fail,
        cancelled=lambda: tell(Values(STOPPED)),
        progressed=lambda share, stage: tell(Values(READING, percent=int(100 * share))),
        slot=SLOT,
        lane=BEHIND,
    )
