"""Fixtures: no network, no dialogs, own settings, nothing outlives a test, no stall."""

from __future__ import annotations

import hashlib
import logging
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

if not os.environ.get("DISPLAY"):
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6 import QtWidgets
from PySide6.QtCore import QCoreApplication, QEvent, Qt, QTimer
from PySide6.QtWidgets import QApplication, QDialog, QFileDialog, QInputDialog, QMessageBox, QWidget

from app.application import make_application
from app.frame.window import Window
from app.state.settings import Settings
from app.theme import theme
from app.work.jobs import JobRunner
from app.work.releasing import Outcome, Watch
from app.work.releasing import release as make_release
from engine import texts
from engine.protected import Protected
from engine.table.reading import readers
from engine.table.suggest import suggest as suggesting
from tests.app.walking import sample_plan, settle

STALL = 0.100  # seconds: what a person notices
SHOWING = {"show", "setVisible", "setHidden", "showNormal", "showMaximized", "showFullScreen"}


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every attempt to reach another computer fail."""
    import socket

    def refuse(*args: object, **kwargs: object) -> None:
        raise AssertionError("the window tried to reach the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket.socket, "connect_ex", refuse)


@pytest.fixture(autouse=True)
def no_dialogs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Turn a modal dialog, which would hang the run, into a failure."""

    def refuse(*args: object, **kwargs: object) -> None:
        raise AssertionError("a modal dialog was opened")

    monkeypatch.setattr(QDialog, "exec", refuse)
    for name in ("information", "warning", "critical", "question"):
        monkeypatch.setattr(QMessageBox, name, refuse)
    for name in ("getOpenFileName", "getOpenFileNames", "getSaveFileName", "getExistingDirectory"):
        monkeypatch.setattr(QFileDialog, name, refuse)
    for name in ("getText", "getInt", "getItem"):
        monkeypatch.setattr(QInputDialog, name, refuse)


@pytest.fixture(autouse=True)
def isolated_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Give every test folders of its own for settings, drafts and the ledger."""
    home = tmp_path / "home"
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(home / name.lower()))
    monkeypatch.setenv("HOME", str(home))
    return home


@pytest.fixture(autouse=True)
def protected_words() -> Iterator[None]:
    """Let no test hear how another one called those who are protected."""
    yield
    texts.speak(Protected())


@pytest.fixture(autouse=True)
def fail_on_logging(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Fail when anything is logged at warning or above."""
    with caplog.at_level(logging.WARNING):
        yield
    found = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert not found, [(record.name, record.levelname, record.msg) for record in found]


@pytest.fixture(scope="session")
def qapp(tmp_path_factory: pytest.TempPathFactory) -> QApplication:
    """Return the application as the program makes it."""
    return make_application(["custos"], Settings(tmp_path_factory.mktemp("settings")), look="light")


@pytest.fixture
def runner(qapp: QApplication) -> Iterator[JobRunner]:
    """Return a job runner, and fail if its thread outlives the test."""
    made = JobRunner()
    yield made
    assert made.shutdown(5000), "a job outlived the test"


def watch_strays(patch: pytest.MonkeyPatch) -> list[str]:
    """Return where widgets are told that become windows of their own, shown before they have a parent.

    What a program calls to show a widget is watched, not each event: there are ten thousand in a test.
    """
    found: list[str] = []

    def watched(kind: type[QWidget], name: str) -> None:
        show = getattr(kind, name)

        def shown(widget: QWidget, *given: bool) -> None:
            show(widget, *given)
            flags = widget.windowFlags() & Qt.WindowType.WindowType_Mask
            if widget.isVisible() and flags == Qt.WindowType.Window and not isinstance(widget, Window):
                found.append(f"{type(widget).__name__} {widget.objectName()}")

        patch.setattr(kind, name, shown)

    for kind in [
        one for one in vars(QtWidgets).values() if isinstance(one, type) and issubclass(one, QWidget)
    ]:
        for name in SHOWING & vars(kind).keys():
            watched(kind, name)
    return found


@pytest.fixture
def make_window(
    qtbot: Any, qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[], Window]]:
    """Return a function that opens a window with an empty study; their jobs must end with the test."""
    theme.choose("light")
    made: list[Window] = []
    strays = watch_strays(monkeypatch)

    def make() -> Window:
        settings = Settings(tmp_path / "settings")
        settings.set(began=True)
        window = Window(settings=settings, data=tmp_path / "data")
        window.warm = True  # screens are made when they are opened; `warm_window` makes them ahead
        window.study.ledger_path = tmp_path / "ledger.sqlite"
        window.resize(1366, 768)
        window.show()
        window.activateWindow()
        qtbot.waitUntil(window.isActiveWindow, timeout=5000)
        made.append(window)
        return window

    yield make
    for window in made:
        window.close()
        assert window.runner.shutdown(5000), "a job outlived the test"
        window.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    assert strays == [], "shown before they had a parent"


@pytest.fixture
def window(make_window: Callable[[], Window]) -> Window:
    """Return an open window with an empty study."""
    return make_window()


@pytest.fixture
def warm_window(window: Window, qtbot: Any) -> Window:
    """Return a window a moment later: all screens made, the engine loaded."""
    return warmed(window, qtbot)


def warmed(window: Window, qtbot: Any) -> Window:
    """Have a window make all its screens and load the engine, as it does a moment after it opens."""
    window.warm = False
    window.hide()
    window.show()
    qtbot.waitUntil(lambda: window.warm, timeout=20_000)
    qtbot.waitUntil(lambda: not window.runner.busy(), timeout=20_000)
    return window


def kept_waiting() -> float:
    """Return for how many seconds this thread could have run and the computer ran something else instead.

    0 where the system does not count it; Linux does (``Documentation/scheduler/sched-stats.rst``).
    """
    try:
        return int(Path("/proc/thread-self/schedstat").read_text().split()[1]) / 1e9
    except OSError:
        return 0.0


class Watchdog:
    """Measures the longest time in which the interface did not answer: a timer of 10 ms that should tick.

    What other programs on the same computer take is not counted: a busy machine is no fault of a screen.
    """

    def __init__(self) -> None:
        self.worst = 0.0
        self._last = self._now()
        self._timer = QTimer()
        self._timer.setInterval(10)
        self._timer.timeout.connect(self._tick)

    @staticmethod
    def _now() -> float:
        return time.perf_counter() - kept_waiting()

    def _tick(self) -> None:
        now = self._now()
        self.worst = max(self.worst, now - self._last - 0.010)
        self._last = now

    @contextmanager
    def watching(self) -> Iterator[Watchdog]:
        """Watch a piece of a test."""
        self.worst, self._last = 0.0, self._now()
        self._timer.start()
        yield self
        self._timer.stop()


@pytest.fixture
def watchdog(qapp: QApplication) -> Watchdog:
    """Return a watchdog; assert ``watchdog.worst < STALL`` after the piece."""
    return Watchdog()


class ReadOnce:
    """The sample as it was read: once for all tests that only begin with it, by its content and options."""

    def __init__(self) -> None:
        self._known: dict[Any, Any] = {}

    def _once(self, ask: Callable[..., Any]) -> Callable[..., Any]:
        def asked(path: str | Path, *, options: Any, **more: Any) -> Any:
            key = ask, hashlib.sha256(Path(path).read_bytes()).digest(), options
            if key not in self._known:
                self._known[key] = ask(path, options=options, **more)
            return self._known[key]

        return asked

    def _once_of_a_table(self, ask: Callable[..., Any]) -> Callable[..., Any]:
        def asked(table: Any, **more: Any) -> Any:
            key = ask, id(table)
            if key not in self._known:
                self._known[key] = (
                    table,
                    ask(table, **more),
                )  # the table stays, so that no other has its number
            return self._known[key][1]

        return asked

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Answer with what was read before, where it is the same."""
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(readers, "detect", self._once(readers.detect))
            patched.setattr(readers, "read_table", self._once(readers.read_table))
            patched.setattr(suggesting, "suggest", self._once_of_a_table(suggesting.suggest))
            yield


@pytest.fixture(scope="session")
def read_once() -> ReadOnce:
    """Return what was read in this session."""
    return ReadOnce()


@pytest.fixture
def at(window: Window, qtbot: Any, tmp_path: Path, read_once: ReadOnce) -> Callable[..., Any]:
    """Open the sample plan at a step, with changes to the plan."""

    def go(step: str, **changes: Any) -> Any:
        window.study.open_plan(replace(sample_plan(tmp_path), **changes))
        for one in ("load", "risk", step):
            with read_once.reading():
                window.go(one)
                settle(qtbot, window)
        assert window.step == step, (window.step, window.notice.words())
        return window.page(step)

    return go


@pytest.fixture
def released(at: Any, window: Window, qtbot: Any, tmp_path: Path) -> Outcome:
    """Have a small release of the sample, made by the engine, in the study."""
    at("budget", parameters={"columns": ["gender"], "extra_cells": "left_out"})
    plan = window.study.plan
    outcome = make_release(plan, tmp_path / "out", watch=Watch(), ledger_path=window.study.ledger_path)
    assert outcome.error is None and outcome.state == "complete"
    window.go("preview")
    settle(qtbot, window)
    window.study.store("bundle", outcome, plan)
    return outcome
