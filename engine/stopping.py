"""Work of another process that cannot be asked to stop: it is ended instead."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from engine.errors import Cancelled
from engine.progress import SILENT, Progress

_LOOK_EVERY = 0.2  # seconds


@contextmanager
def ended_by_stop(progress: Progress, end: Callable[[], object], broken: type[Exception]) -> Iterator[None]:
    """Let Stop end another process within a block, whatever it is busy with.

    Parameters
    ----------
    progress
        Asked several times a second whether Stop was pressed.
    end
        Ends the process.
    broken
        What the block raises where its process ends; after Stop that was wished.

    Raises
    ------
    Cancelled
        Stop was pressed.

    Examples
    --------
    >>> with ended_by_stop(Progress(stopped=lambda: True), lambda: None, ValueError):
    ...     raise ValueError("nothing came any more")
    Traceback (most recent call last):
        ...
    engine.errors.Cancelled
    """
    over = threading.Event()

    def watch() -> None:
        with suppress(Cancelled):
            while not over.wait(_LOOK_EVERY):
                progress.refuse_stopped()
            return
        end()

    watching = threading.Thread(target=watch, name="stop", daemon=True)
    if progress is not SILENT:
        watching.start()
    try:
        yield
    except broken:
        progress.refuse_stopped()
        raise
    finally:
        over.set()
        if progress is not SILENT:
            watching.join()
