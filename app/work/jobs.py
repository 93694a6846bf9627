"""Engine calls off the interface thread: progress, stop, error. Three threads, each one call at a time.

    runner.start(read_table, path, options=options, done=self._read, failed=self.show_error, slot="load")

- Handlers are given to `start`, before the work begins, and always run in the interface thread.
- A function with a parameter called ``progress`` gets an `engine.progress.Progress`.
- What takes a moment (a drawing, a forecast) has the lane ``SHORT`` and never waits behind a release, a
  search or a table that is read; those have the lane ``LONG``. What nobody waits for has ``BEHIND``.
- A new job of the same ``slot`` takes the place of the old one, whose news is ignored from then on.
- `cancel` forgets a job at once; `stop` asks it to stop and waits for its news (``cancelled`` follows when it
  really ended: what a release needs, which has to say whether noise was drawn).
"""

from __future__ import annotations

import inspect
import itertools
import queue
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from PySide6.QtCore import QObject, Qt, QTimer, Signal

from engine.errors import Cancelled
from engine.progress import Progress

Handler = Callable[..., object]  # what it returns is of no interest
SWITCH = 0.0005  # seconds until a busy thread lets the interface go on
DRAWING = 60  # milliseconds without a new order after which a job begins that waits for the window to draw
LONG, SHORT, BEHIND = "engine", "engine-short", "engine-behind"
"""The lanes: names of their threads."""
_DONE, _FAILED, _CANCELLED, _PROGRESS, _OVER = "done", "failed", "cancelled", "progress", "over"


@dataclass
class _Job:
    number: int
    slot: str
    work: Callable[[Progress], Any]
    handlers: dict[str, Handler | None]
    stopping: threading.Event = field(default_factory=threading.Event)
    last_report: float = 0.0
    last_stage: str = ""


class JobRunner(QObject):
    """Owns the threads and the channel; the window owns the runner, so that no page can take it away."""

    busy_changed = Signal(bool)
    _news = Signal(int, str, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._numbers = itertools.count(1)
        self._current: dict[str, _Job] = {}
        self._waiting: dict[str, queue.SimpleQueue[_Job | None]] = {
            lane: queue.SimpleQueue() for lane in (LONG, SHORT, BEHIND)
        }
        # A job holds widgets, which must not go in the thread: the interface lets go of it last, once the
        # thread has said that it does not hold this very job any more.
        self._held: dict[int, _Job] = {}
        self._threads: dict[str, threading.Thread] = {}
        self._closed = threading.Event()
        self._news.connect(self._hear, Qt.ConnectionType.QueuedConnection)

    def start(
        self,
        function: Callable[..., Any],
        *args: Any,
        done: Handler | None = None,
        failed: Handler | None = None,
        cancelled: Handler | None = None,
        progressed: Handler | None = None,
        slot: str = "",
        lane: str = LONG,
        after_drawing: bool = False,
        **kwargs: Any,
    ) -> int:
        """Run ``function(*args, **kwargs)`` in the thread of a lane and return the number of the job.

        ``after_drawing`` gives the window a moment first: what a person did is drawn before work begins that
        would share the interpreter with it. The moment is counted by the event loop, so that a slow computer
        has drawn, too.

        ``done(value)``, ``failed(exception)``, ``cancelled()``, ``progressed(share, stage id)``.
        """
        self.cancel(slot)
        takes_progress = "progress" in inspect.signature(function).parameters

        def work(progress: Progress) -> Any:
            return function(*args, **kwargs, **({"progress": progress} if takes_progress else {}))

        handlers = {_DONE: done, _FAILED: failed, _CANCELLED: cancelled, _PROGRESS: progressed}
        job = _Job(next(self._numbers), slot, work, handlers)
        was_busy = self.busy()
        self._current[slot] = self._held[job.number] = job
        self._ensure_thread(lane)
        if after_drawing:
            QTimer.singleShot(DRAWING, self, lambda: self._waiting[lane].put(job))
        else:
            self._waiting[lane].put(job)
        if not was_busy:
            self.busy_changed.emit(True)
        return job.number

    def busy(self, slot: str | None = None, *, beside: str | None = None) -> bool:
        """Say whether a job (of one slot, or of any ``beside`` one) is under way."""
        return bool(self._current.keys() - {beside}) if slot is None else slot in self._current

    def stop(self, slot: str = "") -> None:
        """Ask a job to stop at its next step; one of its handlers still follows."""
        if slot in self._current:
            self._current[slot].stopping.set()

    def cancel(self, slot: str = "") -> None:
        """Forget a job at once; its thread ends at its next step and is not heard any more."""
        job = self._current.pop(slot, None)
        if job is None:
            return
        job.stopping.set()
        handler = job.handlers[_CANCELLED]
        if handler is not None:
            handler()
        if not self._current:
            self.busy_changed.emit(False)

    def shutdown(self, milliseconds: int = 5000) -> bool:
        """Stop everything and wait; say whether the threads ended in time."""
        self._closed.set()
        for job in self._current.values():
            job.stopping.set()
        self._current.clear()
        until = time.monotonic() + milliseconds / 1000
        for lane in self._threads:
            self._waiting[lane].put(None)
        for thread in self._threads.values():
            thread.join(max(0.0, until - time.monotonic()))
        ended = not any(thread.is_alive() for thread in self._threads.values())
        if ended:
            self._held.clear()
        return ended

    def _ensure_thread(self, lane: str) -> None:
        if lane not in self._threads:
            # Most calls into Qt let go of the interpreter; beside busy work each waits 5 ms to get it back.
            sys.setswitchinterval(SWITCH)
            self._threads[lane] = threading.Thread(target=self._work, args=(lane,), name=lane, daemon=True)
            self._threads[lane].start()

    def _work(self, lane: str) -> None:
        while (job := self._waiting[lane].get()) is not None:
            number = job.number
            self._do(job)
            del job  # what was handed over, a passphrase for instance, does not wait for the next job
            if not self._closed.is_set():
                self._news.emit(number, _OVER, (None,))

    def _do(self, job: _Job) -> None:
        if job.stopping.is_set():
            self._say(job, _CANCELLED, None)
            return
        progress = Progress(lambda share, stage: self._report(job, share, stage), job.stopping.is_set)
        try:
            self._say(job, _DONE, job.work(progress))
        except Cancelled:
            self._say(job, _CANCELLED, None)
        except Exception as error:
            self._say(job, _FAILED, error)

    def _report(self, job: _Job, share: float, stage: str) -> None:
        # Twenty a second are enough for a bar, and do not flood the event loop.
        now = time.monotonic()
        if stage != job.last_stage or now - job.last_report > 0.05:
            job.last_report, job.last_stage = now, stage
            self._say(job, _PROGRESS, (share, stage))

    def _say(self, job: _Job, kind: str, value: Any) -> None:
        if not self._closed.is_set():
            self._news.emit(job.number, kind, (value,))

    def _hear(self, number: int, kind: str, wrapped: tuple[Any]) -> None:
        if kind == _OVER:
            self._held.pop(number, None)
            return
        job = next((job for job in self._current.values() if job.number == number), None)
        if job is None:
            return
        handler, value = job.handlers[kind], wrapped[0]
        if kind == _PROGRESS:
            if handler is not None:
                handler(*value)
            return
        del self._current[job.slot]
        try:
            if handler is not None:
                handler(*(() if kind == _CANCELLED else (value,)))
        finally:
            if not self._current:
                self.busy_changed.emit(False)
