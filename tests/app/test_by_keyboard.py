"""From the first screen to a verified release by keys alone, and what a screen reader says on the way."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QApplication, QComboBox, QWidget
from shiboken6 import getCppPointer

from app.frame.window import Window
from engine.ledger import Ledger
from engine.release.verify import verify
from tests.app.walking import settle

Text, Key = QAccessible.Text, Qt.Key
STATES = ("disabled", "checked", "expanded", "readOnly")
LONGEST_SAID = 400  # letters at one stop: what is longer is not listened to
PATH = ("load", "columns", "risk", "purpose", "method", "budget", "preview", "release", "report")


def said_at(stop: QWidget) -> str:
    """Return what a screen reader says where the keyboard comes to: name, kind, value and state."""
    face = QAccessible.queryAccessibleInterface(stop)
    kind, state = face.role().name, face.state()
    states = [name for name in STATES if getattr(state, name)]
    name = face.text(Text.Name)
    if isinstance(stop, QComboBox):  # on Linux its name is what is chosen; a label or description names it
        labels = [one.text(Text.Name) for one, _ in face.relations(QAccessible.RelationFlag.Label)]
        name = next(iter([*labels, face.text(Text.Description)]), "")
    parts = (name, kind, face.text(Text.Value), *states)
    return ", ".join(" ".join(part.split()) for part in parts if part.strip())


class Listener:
    """Somebody who has keys and ears: presses what has the keyboard, and keeps what was said."""

    def __init__(self, qtbot: Any, window: Window) -> None:
        self.qtbot, self.window = qtbot, window
        self.transcript: list[str] = []
        self.unsaid: list[str] = []

    def at(self) -> QWidget:
        """Return what has the keyboard."""
        found = self.window.focusWidget()
        assert found is not None, f"nothing has the keyboard on {self.window.step}"
        return found

    def press(self, key: Key, *held: Qt.KeyboardModifier) -> None:
        """Press one key where the keyboard is."""
        pressed = Qt.KeyboardModifier.NoModifier
        for one in held:
            pressed |= one
        self.qtbot.keyClick(self.at(), key, pressed)
        settle(self.qtbot, self.window)

    def listen(self) -> list[str]:
        """Go once around by Tab and return what is said, the title of the window first."""
        met: list[int] = []
        said = [self.window.windowTitle()]
        for _ in range(200):
            stop = self.at()
            place = getCppPointer(stop)[0]
            if place in met[:-1] and place != met[-1]:
                break
            met.append(place)  # a date keeps the keyboard for day, month and year
            if met[-2:-1] != [place]:
                self.hear(said, stop)
            self.qtbot.keyClick(stop, Key.Key_Tab)
        else:
            raise AssertionError(f"Tab does not come around on {self.window.step}: {said[-5:]}")
        self.transcript += said
        return said

    def hear(self, said: list[str], stop: QWidget) -> None:
        """Keep what a stop says, and note one that says nothing of its own, or more than is listened to."""
        heard = said_at(stop)
        kind = QAccessible.queryAccessibleInterface(stop).role().name
        if heard.startswith(kind) or heard in said or len(heard) > LONGEST_SAID:
            self.unsaid.append(f"{self.window.step}: {type(stop).__name__} {stop.objectName()}: {heard}")
        said.append(heard)

    def tab_to(self, name: str) -> None:
        """Press Tab until something with this object name has the keyboard."""
        for _ in range(200):
            if self.at().objectName() == name:
                return
            self.qtbot.keyClick(self.at(), Key.Key_Tab)
        raise AssertionError(f"{name} is not reached by Tab on {self.window.step}")


@pytest.mark.slow
@pytest.mark.guarantee
def test_the_sample_is_released_and_verified_by_keys_and_ears(
    window: Window, qtbot: Any, tmp_path: Any, monkeypatch: Any
) -> None:
    """Every stop has something to say; where to go on is among it; nobody fills in anything."""
    monkeypatch.setenv("HOME", str(tmp_path))
    control, shift = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
    one = Listener(qtbot, window)
    one.listen()
    one.tab_to("open_sample")
    one.press(Key.Key_Space)
    heard = []
    for step in PATH:
        if step == "release":
            one.press(Key.Key_Return, control)
            assert window.step == "preview", "the key that turns pages spends nothing"
            one.press(Key.Key_Return, control, shift)
            one.press(Key.Key_Return, control, shift)
        elif step != PATH[0]:
            one.press(Key.Key_Return, control)
        assert window.step == step, (step, window.step, window.notice.words())
        title, *said = one.listen()
        heard.append(title)
        on = window.footer.next.text()
        assert step == "report" or any(line.startswith(f"{on}, Button") for line in said), "\n".join(
            [step, on, *said]
        )
    assert one.unsaid == [], "\n".join([*one.unsaid, *one.transcript])
    assert len(set(heard)) == len(PATH), "each page is told from the others by the title that is said"
    folder = window.study.result("bundle").bundle.folder
    assert verify(folder, ledger=Ledger(window.study.ledger_path)).passed
    assert QApplication.activeWindow() is window, "\n".join(one.transcript)
