"""Light and dark: the change is quick, and screens that were hidden meanwhile take it too."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QPushButton, QWidget

from app.frame.window import Window
from app.parts.prose import Wrapped
from app.state.settings import Settings
from app.theme import DARK, LIGHT, theme
from tests.app.hands import Hands
from tests.app.walking import settle, write_people
from tests.ratios import slack

ROOT = Path(__file__).parents[2]


class Styled(QObject):
    """Counts how often widgets are told of another style."""

    def __init__(self) -> None:
        super().__init__()
        self.times = 0

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.StyleChange and isinstance(watched, QWidget):
            self.times += 1
        return False


def test_every_widget_is_styled_a_few_times_however_deep_it_lies(
    warm_window: Window, qapp: QApplication, qtbot: Any
) -> None:
    hands, counted = Hands(qtbot, warm_window), Styled()
    look = warm_window.findChild(QPushButton, "look")
    before, changes = theme.tokens(), 0
    qapp.installEventFilter(counted)
    for _ in range(3):
        hands.click(look)
        changes += theme.tokens() is not before
        before = theme.tokens()
    qapp.removeEventFilter(counted)
    widgets = len(qapp.allWidgets())
    seen = sum(one.isVisible() for one in qapp.allWidgets())
    assert changes >= 2 and widgets > 500 and seen < widgets / 4
    assert counted.times <= changes * widgets / 2, "what nobody sees waits until it is shown"


@pytest.mark.benchmark
def test_the_look_changes_within_a_tenth_of_a_second(warm_window: Window, qapp: QApplication) -> None:
    took = []
    for mode in ("dark", "light", "dark", "light"):
        begun = time.process_time()
        theme.choose(mode)
        qapp.processEvents()
        took.append(time.process_time() - begun)
    print(f"to change the look takes {1000 * min(took):.0f} ms")
    assert min(took) <= 0.1 * slack(), took


def test_another_look_measures_no_text_anew_and_each_keeps_its_height(
    warm_window: Window, qapp: QApplication
) -> None:
    theme.choose("light")
    qapp.processEvents()
    texts = [one for one in warm_window.findChildren(Wrapped) if one.isVisible() and one._heights]
    before = [dict(one._heights) for one in texts]
    theme.choose("dark")
    assert len(texts) > 3
    assert all(was.items() <= one._heights.items() for was, one in zip(before, texts, strict=True))
    qapp.processEvents()
    for one in texts:
        fresh = QLabel.heightForWidth(one, one.width())
        assert one.heightForWidth(one.width()) == fresh, one.text()


@pytest.mark.guarantee
def test_a_hidden_screen_takes_the_look_too(warm_window: Window, qtbot: Any) -> None:
    window = warm_window
    window.go("start")
    settle(qtbot, window)
    theme.choose("dark")
    window.stack.setCurrentWidget(window.page("load"))
    at_once = window.grab().toImage()
    theme.choose("light")
    theme.choose("dark")  # in view
    qtbot.waitUntil(lambda: window.grab().toImage() == at_once)
    assert at_once.pixelColor(window.width() // 2, 4).name().upper() == DARK.background.upper()


@pytest.mark.parametrize("step", ["start", "releases", "explore", "sites"])
@pytest.mark.guarantee
def test_what_was_hidden_looks_as_what_was_in_view(warm_window: Window, qtbot: Any, step: str) -> None:
    window = warm_window

    def seen() -> Any:
        qtbot.wait(20)  # its background is put in a moment after it is shown
        return window.page(step).grab().toImage()

    window.go(step)
    settle(qtbot, window)
    assert window.step == step
    for look in ("dark", "light"):
        window.stack.setCurrentWidget(window.page("load"))
        theme.choose(look)
        window.stack.setCurrentWidget(window.page(step))
        hidden = seen()
        theme.choose("dark" if look == "light" else "light")
        theme.choose(look)
        assert seen() == hidden, look


@pytest.mark.parametrize("step", ["start", "releases", "load"])
@pytest.mark.guarantee
def test_a_screen_takes_the_look_after_it_changed_twice_while_it_was_hidden(
    warm_window: Window, qtbot: Any, step: str
) -> None:
    window = warm_window

    def seen() -> Any:
        qtbot.wait(20)
        return window.page(step).grab().toImage()

    theme.choose("light")
    window.go(step)
    settle(qtbot, window)
    window.stack.setCurrentWidget(window.page("explore"))
    for look in ("dark", "light"):
        theme.choose(look)
        qtbot.wait(20)
    window.stack.setCurrentWidget(window.page(step))
    for look, ground in (("dark", DARK.background), ("light", LIGHT.background)):
        theme.choose(look)
        assert seen().pixelColor(3, 3).name().upper() == ground.upper(), look


def test_everything_is_drawn_larger_when_the_window_is_opened_again(
    make_window: Callable[[], Window], qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = make_window()
    monkeypatch.setattr(window, "screen", lambda: SimpleNamespace(size=lambda: QSize(1366, 768)))
    for _ in range(6):
        qtbot.keyClick(window, Qt.Key.Key_Plus, Qt.KeyboardModifier.ControlModifier)
    assert window.settings.get("zoom", 100) == 150, "the window has 660 × 440 at least: 175 % has no room"
    assert "150" in window.notice.words()
    code = (
        "import sys\nfrom pathlib import Path\nfrom app.application import make_application\n"
        "from app.state.settings import Settings\n"
        "print(make_application(['custos'], Settings(Path(sys.argv[1]))).devicePixelRatio())"
    )
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    environment.pop("QT_SCALE_FACTOR", None)

    def drawn_at() -> float:
        folder = str(window.settings.path.parent)
        done = subprocess.run(
            [sys.executable, "-c", code, folder], env=environment, capture_output=True, text=True, check=True
        )
        return float(done.stdout)

    assert drawn_at() == 1.5
    qtbot.keyClick(window, Qt.Key.Key_Minus, Qt.KeyboardModifier.ControlModifier)
    assert window.settings.get("zoom", 100) == 125
    qtbot.keyClick(window, Qt.Key.Key_0, Qt.KeyboardModifier.ControlModifier)
    assert drawn_at() == 1.0
    window.settings.path.write_text('{"zoom": 4000}', encoding="utf-8")
    assert Settings(window.settings.path.parent).get("zoom", 100) == 100, (
        "what nobody can choose is not taken"
    )


DRIVEN = """
import json, sys, threading
from PySide6.QtCore import QTimer, Qt
from PySide6.QtTest import QTest
from app import __main__ as program
from app.frame import window as frame

seen, made = [], frame.Window.__init__

def press(window, key):
    QTest.keyClick(window, key, Qt.KeyboardModifier.ControlModifier)

def follow(window, at):
    if window.runner.busy() or not window.warm:
        QTimer.singleShot(50, lambda: follow(window, at))
    elif at == 0 and window.step != "columns":
        window.go("columns")
        follow(window, at)
    else:
        rows = window.study.table.n_rows
        seen.append([window.devicePixelRatio(), window.step, rows, window.width(), window.notice.words()])
        if at < 2:
            press(window, (Qt.Key.Key_Plus, Qt.Key.Key_0)[at])
        else:
            window.close()

def begin(window, *given, **named):
    made(window, *given, **named)
    follow(window, len(windows))
    windows.append(1)

windows = []
frame.Window.__init__ = begin
status = program.main([sys.argv[1]])
print(json.dumps([status, seen]))
"""


def test_everything_is_drawn_larger_at_once_over_the_same_study(tmp_path: Path) -> None:
    table = write_people(tmp_path / "people.csv")
    homes = {name: str(tmp_path / name) for name in ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME")}
    environment = {**os.environ, **homes, "QT_QPA_PLATFORM": "offscreen", "PYTHONPATH": str(ROOT)}
    environment.pop("QT_SCALE_FACTOR", None)
    command = [sys.executable, "-c", DRIVEN, str(table)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]
    status, seen = json.loads(done.stdout.splitlines()[-1])
    assert status == 0 and [one[:3] for one in seen] == [
        [1.0, "columns", 60],
        [1.1, "columns", 60],
        [1.0, "columns", 60],
    ]
    assert seen[0][3] == seen[2][3] > seen[1][3], "the window keeps its size on the screen"
    assert "110" in seen[1][4] and "100" in seen[2][4]


def test_a_field_that_was_out_of_sight_is_told_about_in_the_look_it_is_shown_in(qtbot: Any) -> None:
    theme.choose("light")
    box = QWidget()
    qtbot.addWidget(box)
    field = QLineEdit(box)
    field.setPlaceholderText("Name")
    box.show()
    for look in ("dark", "light", "dark"):
        field.hide()
        theme.choose(look)
        field.show()
        found = field.palette().color(QPalette.ColorRole.PlaceholderText)
        assert found == QColor(theme.tokens().quiet), look
