"""Every screen: names for screen readers, keyboard, room, no text cut."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractScrollArea,
    QComboBox,
    QFrame,
    QHeaderView,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QWidget,
)

from app import words
from app.frame.tabbing import read_stops
from app.frame.window import Window
from app.state import flow
from tests.app.conftest import STALL, Watchdog
from tests.app.fitting import faults, wrong_steps_of_tab
from tests.app.walking import settle, walk_to, write_people
from tests.ratios import slack

ROOT = Path(__file__).parents[2]
MINE = ("start", "load", "columns", "risk", "purpose")
STEPS = [step for step in flow.STEPS if step in MINE and find_spec(f"app.screens.{step}.page") is not None]
SIZES = [(1366, 768), (683, 467)]  # a small laptop, and 1024 × 700 at 150 %
INNER = ("QTableCornerButton", "QComboBoxListView", "QComboBoxPrivateContainer")  # parts that Qt names
CONTROLS = (QAbstractButton, QComboBox, QLineEdit, QPlainTextEdit, QAbstractScrollArea)


@pytest.fixture(params=STEPS)
def step(request: pytest.FixtureRequest, window: Window, qtbot: Any, tmp_path: Path) -> str:
    """Open every screen with a table behind it."""
    wanted: str = request.param
    walk_to(qtbot, window, write_people(tmp_path / "people.csv"), wanted)
    assert window.step == wanted
    if wanted == "columns":
        window.page("columns").every.click()
        window.page("columns").select("ward")
        settle(qtbot, window)
        window.page("columns")._editor.change.click()
        qtbot.wait(20)
    return wanted


def shown(root: QWidget, kind: type) -> list[Any]:
    return [one for one in root.findChildren(kind) if one.isVisible()]


def test_every_control_has_a_name(step: str, window: Window) -> None:
    unnamed = []
    for kind in CONTROLS:
        for control in shown(window, kind):
            if isinstance(control, QHeaderView) or control.objectName().startswith("qt_"):
                continue
            if type(control).__name__ in (
                "QTableCornerButton",
                "QComboBoxListView",
                "QComboBoxPrivateContainer",
            ):
                continue
            if control.parent() is not None and isinstance(control.parent(), QLineEdit):
                continue  # the button that clears a field
            face = QAccessible.queryAccessibleInterface(control)
            if face is None or not face.text(QAccessible.Text.Name).strip():
                unnamed.append(f"{type(control).__name__} {control.objectName()}")
    assert unnamed == []


def test_whatever_tab_stops_at_says_what_it_is(step: str, window: Window) -> None:
    """A name, and a role that screen readers know: not the blank surface that painted widgets are."""
    blank = {QAccessible.Role.NoRole, QAccessible.Role.Client, QAccessible.Role.Border, QAccessible.Role.Pane}
    wrong = []
    for stop in shown(window, QWidget):
        is_inside = stop.objectName().startswith("qt_") or isinstance(stop, QAbstractScrollArea)
        if is_inside or stop.focusProxy() or not stop.focusPolicy() & Qt.FocusPolicy.TabFocus:
            continue
        face = QAccessible.queryAccessibleInterface(stop)
        if face.role() in blank or not face.text(QAccessible.Text.Name).strip():
            wrong.append(f"{type(stop).__name__} {stop.objectName()} {face.role().name}")
    assert wrong == []


def test_what_goes_on_is_reached_within_three_keys(step: str, window: Window, qtbot: Any) -> None:
    """From wherever the keyboard is: F6 takes it to Next, or to what stands in its place, and back."""
    page = window.page(step)
    stops = [one for one in read_stops(page.widget()) if one.isEnabled()]
    assert stops
    for stop in (page.first_focus(), stops[0], stops[len(stops) // 2], stops[-1]):
        if stop is None:
            continue
        stop.setFocus()
        if not window.footer.next.isVisible() or not window.footer.next.isEnabled():
            continue
        qtbot.keyClick(stop, Qt.Key.Key_F6)
        assert window.focusWidget() is window.footer.next, stop.objectName()
        qtbot.keyClick(window.footer.next, Qt.Key.Key_F6)
        assert page.first_focus() is None or window.focusWidget() is not window.footer.next
    reached = window.footer.next.isEnabled() or window.footer.why.isVisible()
    assert reached or page.first_focus() is not None


def test_every_control_is_reached_by_tab(step: str, window: Window, qtbot: Any) -> None:
    start = window.focusWidget() or window
    reached: set[int] = set()
    current: QWidget | None = start
    for _ in range(400):
        if current is None:
            break
        current = current.nextInFocusChain()
        if current is start:
            break
        if current is not None and current.focusPolicy() & Qt.FocusPolicy.TabFocus:
            reached.add(id(current))
    # The same object may have several Python names; compare by address in Qt.
    wanted = [
        control
        for control in (*shown(window, QAbstractButton), *shown(window, QComboBox), *shown(window, QLineEdit))
        if control.isEnabled()
        and not control.objectName().startswith("qt_")
        and not isinstance(control.parent(), QLineEdit)
        and type(control).__name__ != "QTableCornerButton"
    ]
    missed = [
        control.objectName() for control in wanted if not control.focusPolicy() & Qt.FocusPolicy.TabFocus
    ]
    assert missed == []
    assert len(reached) >= len({id(control) for control in wanted}) - 1


def test_tab_goes_in_the_order_of_reading(step: str, window: Window, qtbot: Any) -> None:
    qtbot.wait(50)
    assert wrong_steps_of_tab(qtbot, window.page(step).widget()) == []


@pytest.mark.parametrize("size", SIZES, ids=["1366x768", "1024x700 at 150 %"])
def test_it_fits_and_no_text_is_cut(step: str, window: Window, qtbot: Any, size: tuple[int, int]) -> None:
    window.resize(*size)
    qtbot.wait(50)
    assert (window.width(), window.height()) == size
    page = window.page(step)
    assert page.horizontalScrollBar().maximum() == 0
    body = page.widget()
    assert body.width() <= page.viewport().width()
    outside, cut = [], []
    for part in shown(body, QWidget):
        if any(isinstance(parent, QAbstractScrollArea) for parent in _parents(part, body)):
            continue  # a table or a field scrolls by itself
        place = QRect(part.mapTo(body, QPoint(0, 0)), part.size())
        if place.left() < 0 or place.right() > body.width():
            outside.append(f"{type(part).__name__} {part.objectName()} {place}")
    for root in (body, window.side, window.footer, window.panel.widget()):
        if not root.isVisible():
            continue
        for button in shown(root, QAbstractButton):
            if button.text() and button.width() < button.sizeHint().width() - 1 and _is_plain(button):
                cut.append(f"{button.objectName()} {button.text()}")
        for label in shown(root, QLabel):
            if not label.text():
                continue
            needed = label.heightForWidth(label.width()) if label.wordWrap() else label.sizeHint().height()
            wide = not label.wordWrap() and label.sizeHint().width() > label.width() + 1
            if label.height() < needed - 1 or wide:
                cut.append(f"{label.objectName()} {label.text()[:60]} {label.size()} {needed}")
        for field in shown(root, QComboBox):
            metrics = field.fontMetrics()
            if metrics.horizontalAdvance(field.currentText()) > field.width() - 36 and not field.toolTip():
                cut.append(f"{field.objectName()} {field.currentText()}")
    assert outside == []
    assert cut == []


def test_targets_are_large_enough(step: str, window: Window) -> None:
    small = [
        f"{type(control).__name__} {control.objectName()} {control.height()}"
        for kind in (QAbstractButton, QComboBox, QLineEdit)
        for control in shown(window, kind)
        if control.height() < 32
        and not control.objectName().startswith("qt_")
        and not isinstance(control.parent(), QLineEdit)
        and type(control).__name__ != "QTableCornerButton"
    ]
    assert small == []


def test_one_button_is_filled(step: str, window: Window) -> None:
    filled = [
        one.objectName()
        for one in shown(window, QAbstractButton)
        if one.property("look") == "primary" and not one.property("waiting")
    ]
    assert len(filled) <= 1, filled


@pytest.mark.parametrize("size", [(1366, 768), (911, 512)])
def test_what_next_waits_for_stands_beside_it(step: str, window: Window, qtbot: Any, size: Any) -> None:
    window.resize(*size)
    settle(qtbot, window)
    missing, waits = flow.missing(step, window.study.state), window.page(step).waits()
    wanted = waits if window.page(step).next_words() else next(iter(missing), waits)
    said = window.footer.waits
    assert said.isVisible() == (wanted is not None and window.footer.next.isVisible())
    if said.isVisible():
        assert said.plain() == words.label(wanted) and not faults(window.footer)
        assert said.height() >= said.heightForWidth(said.width())


def test_the_page_itself_is_named_and_explained(step: str, window: Window) -> None:
    page = window.page(step)
    assert page.accessibleName() == page.title.text() != ""
    assert window.windowTitle().startswith(page.title.text())
    explained = page.explain("")
    assert explained.title and explained.parts


def test_numbers_can_be_focused(step: str, window: Window) -> None:
    from app.parts.cards import NumberCard

    for card in shown(window, NumberCard):
        assert isinstance(card, QFrame)
        assert card.focusPolicy() & Qt.FocusPolicy.TabFocus
        assert card.accessibleName()


@pytest.mark.benchmark
def test_making_the_screens_ahead_does_not_stall(
    make_window: Callable[[], Window], qtbot: Any, watchdog: Watchdog
) -> None:
    best = 1.0
    for _ in range(3):  # a stall of the program's own is there every time
        window = make_window()
        window.warm = False
        window.hide()
        window.show()
        with watchdog.watching():
            qtbot.waitUntil(lambda window=window: window.warm, timeout=20_000)
            settle(qtbot, window)
        best = min(best, watchdog.worst)
        if best < STALL:
            break
    print(f"warming up: {1000 * best:.0f} ms")
    assert best < STALL * slack()


def _is_plain(button: QAbstractButton) -> bool:
    return type(button).__name__ in ("QPushButton", "QCheckBox", "QRadioButton")


def _parents(part: QWidget, top: QWidget) -> list[QWidget]:
    found, parent = [], part.parentWidget()
    while parent is not None and parent is not top:
        found.append(parent)
        parent = parent.parentWidget()
    return found


def test_no_screen_brings_along_what_is_slow_to_load() -> None:
    """Screens are made while nobody waits, but in the thread that draws: tables are loaded in another one."""
    pages = [
        step for step in (*flow.STEPS, *flow.BESIDE) if find_spec(f"app.screens.{step}.page") is not None
    ]
    code = (
        "import importlib, sys\n"
        f"for name in {pages}: importlib.import_module(f'app.screens.{{name}}.page')\n"
        "print([name for name in ('pandas', 'pyarrow', 'sklearn', 'scipy', 'typst') if name in sys.modules])"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=120, check=True
    )
    assert found.stdout.strip() == "[]"


def test_what_screens_need_is_loaded_where_nobody_waits_for_it(tmp_path: Path) -> None:
    code = """
import builtins, sys, threading
from pathlib import Path
from PySide6.QtWidgets import QApplication
from app.application import make_application
from app.state.settings import Settings
from app.frame.window import Window
class Finder:
    def find_spec(self, name, path=None, target=None):
        if threading.current_thread() is threading.main_thread() and name.partition(".")[0] != "app":
            waited.add(name.partition(".")[0])
waited, folder = set(), Path(sys.argv[1])
application = make_application(["custos"], Settings(folder), look="light")
window = Window(settings=Settings(folder), data=folder)
window.show()
QApplication.processEvents()
sys.meta_path.insert(0, Finder())
while not (window.warm and window.runner.busy()):
    QApplication.processEvents()
print(*waited)
print(len(window.screens.made))
window.runner.shutdown(60_000)
"""
    found = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    waited, made = found.stdout.splitlines()
    assert set(waited.split()) & {"numpy", "pandas", "pyarrow", "scipy", "sklearn", "typst"} == set()
    assert int(made) > 10
