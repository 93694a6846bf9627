"""Unreachable objects are found in the interface thread, and in no other."""

from __future__ import annotations

import gc
import threading
import weakref
from typing import Any

from app.work.tidying import Tidying


class Ring:
    """Unreachable as soon as nobody holds it, and freed by looking for it alone."""

    def __init__(self) -> None:
        self.itself = self


def test_a_busy_thread_frees_nothing_and_the_interface_does(qtbot: Any) -> None:
    where: list[int] = []
    tidying = Tidying()
    try:

        def work() -> None:
            for _ in range(20_000):  # many times what makes Python look by itself
                weakref.finalize(Ring(), lambda: where.append(threading.get_ident()))

        worker = threading.Thread(target=work)
        worker.start()
        worker.join()
        assert where == []
        qtbot.waitUntil(lambda: len(where) == 20_000, timeout=10_000)
        assert set(where) == {threading.get_ident()}
    finally:
        tidying.stop()
    assert gc.isenabled()


def test_old_garbage_is_found_too(qtbot: Any) -> None:
    tidying = Tidying()
    try:
        ring = Ring()
        gc.collect(0)
        gc.collect(1)  # in the oldest generation now
        gone = weakref.ref(ring)
        del ring
        limits = gc.get_threshold()
        gc.set_threshold(1, 1, 1)
        try:
            for _ in range(12):
                kept = [[] for _ in range(50)]
                tidying.tidy()
            assert gone() is None and len(kept) == 50
        finally:
            gc.set_threshold(*limits)
    finally:
        tidying.stop()
