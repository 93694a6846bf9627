"""Looks for unreachable objects in the interface thread alone, between two events.

Python looks for them in whichever thread happens to make objects, and wherever it stands. A thread that works
must not take widgets apart, and in the midst of laying out a window the toolkit's bindings hold what Python
counts as unreachable: the window then crashed now and then, with a method of a label emptied in a call.
"""

from __future__ import annotations

import gc

from PySide6.QtCore import QObject, QTimer

PAUSE = 500  # milliseconds between two looks: one over what was made since takes a few


class Tidying(QObject):
    """From its making until it is stopped, garbage is collected here and nowhere else."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        gc.disable()
        self._timer = QTimer(self)
        self._timer.setInterval(PAUSE)
        self._timer.timeout.connect(self.tidy)
        self._timer.start()

    def tidy(self) -> None:
        """Collect the oldest generation that is due, as Python would have done."""
        limits = gc.get_threshold()
        due = [place for place, count in enumerate(gc.get_count()) if count > limits[place] > 0]
        if due:
            gc.collect(due[-1])

    def stop(self) -> None:
        """Leave it to Python again."""
        self._timer.stop()
        gc.enable()
