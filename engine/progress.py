"""How long work says where it is and learns that it should stop. No threads and no Qt in here."""

from __future__ import annotations

from collections.abc import Callable

from engine.errors import Cancelled


class Progress:
    """Passed to every long engine call as ``progress=``.

    Parameters
    ----------
    report
        Called with the share done (0 to 1) and the id of the stage, for instance ``"run.noise"``.
        The sentence of a stage stands in ``resources/texts/LANG/stages.toml``.
    stopped
        Asked at every step; true makes the step raise `Cancelled`.
    """

    def __init__(
        self,
        report: Callable[[float, str], None] | None = None,
        stopped: Callable[[], bool] | None = None,
    ) -> None:
        self._report = report
        self._stopped = stopped

    def step(self, share: float, stage: str) -> None:
        """Say that ``share`` of the work is done; raise `Cancelled` when Stop was pressed."""
        self.refuse_stopped()
        if self._report is not None:
            self._report(min(max(share, 0.0), 1.0), stage)

    def refuse_stopped(self) -> None:
        """Raise `Cancelled` when Stop was pressed; nothing is said."""
        if self._stopped is not None and self._stopped():
            raise Cancelled

    def part(self, start: float, end: float) -> Progress:
        """Return a progress for a piece of the work that runs from ``start`` to ``end`` of this one."""
        return Progress(lambda share, stage: self.step(start + share * (end - start), stage), self._stopped)


SILENT = Progress()
