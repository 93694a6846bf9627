"""Jobs: fast, slow, failing, stopped, replaced, forgotten, closed while running."""

from __future__ import annotations

import inspect
import threading
import time
import weakref
from typing import Any

import pytest
from PySide6.QtCore import QTimer

from app.work.jobs import LONG, SHORT, JobRunner
from engine.errors import InputRefused
from engine.progress import SILENT, Progress
from tests.ratios import slack


def steps(count: int = 1000, seconds: float = 0.005, *, progress: Progress = SILENT) -> int:
    for index in range(count):
        progress.step(index / count, "table.read")
        time.sleep(seconds)
    return count


class Heard:
    """Collects what a job says, and in which thread."""

    def __init__(self) -> None:
        self.news: list[tuple[str, Any]] = []
        self.threads: set[int] = set()

    def handlers(self) -> dict[str, Any]:
        def note(kind: str) -> Any:
            def hear(*values: Any) -> None:
                self.threads.add(threading.get_ident())
                self.news.append((kind, values))

            return hear

        return {kind: note(kind) for kind in ("done", "failed", "cancelled", "progressed")}

    def kinds(self) -> list[str]:
        return [kind for kind, _ in self.news if kind != "progressed"]


def test_a_fast_job_is_heard_every_time(runner: JobRunner, qtbot: Any) -> None:
    for turn in range(50):
        heard = Heard()
        runner.start(lambda turn=turn: turn, **heard.handlers())
        qtbot.waitUntil(lambda heard=heard: bool(heard.kinds()), timeout=2000)
        assert heard.news == [("done", (turn,))]
        assert heard.threads == {threading.get_ident()}


def test_progress_reaches_the_interface_thread(runner: JobRunner, qtbot: Any) -> None:
    heard = Heard()
    runner.start(steps, 40, **heard.handlers())
    qtbot.waitUntil(lambda: heard.kinds() == ["done"], timeout=5000)
    shares = [values[0] for kind, values in heard.news if kind == "progressed"]
    assert shares == sorted(shares) and len(shares) >= 2
    assert heard.threads == {threading.get_ident()}


def test_a_failing_job_hands_over_its_error(runner: JobRunner, qtbot: Any) -> None:
    def refuse() -> None:
        raise InputRefused("table.empty_file", file="people.csv")

    heard = Heard()
    runner.start(refuse, **heard.handlers())
    qtbot.waitUntil(lambda: heard.kinds() == ["failed"], timeout=2000)
    assert heard.news[0][1][0].code == "table.empty_file"
    assert not runner.busy()


def test_cancel_frees_the_screen_at_once(runner: JobRunner, qtbot: Any) -> None:
    heard = Heard()
    runner.start(steps, **heard.handlers())
    qtbot.waitUntil(lambda: bool(heard.news), timeout=2000)
    runner.cancel()
    assert heard.kinds() == ["cancelled"] and not runner.busy()
    qtbot.wait(60)
    assert heard.kinds() == ["cancelled"]


def test_stop_is_heard_when_the_work_really_ended(runner: JobRunner, qtbot: Any) -> None:
    ended = threading.Event()

    def work(*, progress: Progress = SILENT) -> None:
        try:
            steps(progress=progress)
        finally:
            time.sleep(0.05)
            ended.set()

    heard = Heard()
    runner.start(work, **heard.handlers())
    qtbot.waitUntil(lambda: bool(heard.news), timeout=2000)
    runner.stop()
    assert heard.kinds() == [] and runner.busy()
    qtbot.waitUntil(lambda: heard.kinds() == ["cancelled"], timeout=2000)
    assert ended.is_set()


class Given:
    """Says where it goes."""

    def __init__(self, gone: list[bool]) -> None:
        self.gone = gone

    def __del__(self) -> None:
        self.gone.append(threading.current_thread() is threading.main_thread())


def test_what_a_forgotten_job_was_given_goes_in_the_interface_thread(runner: JobRunner, qtbot: Any) -> None:
    gone: list[bool] = []
    begun, go_on = threading.Event(), threading.Event()

    def work(given: Given) -> None:
        begun.set()
        go_on.wait(5)

    runner.start(work, Given(gone), slot="side")
    assert begun.wait(5)
    runner.cancel("side")
    go_on.set()
    qtbot.waitUntil(lambda: bool(gone), timeout=5000)
    assert gone == [True]


def test_a_job_lets_a_slow_window_draw_first(runner: JobRunner, qtbot: Any) -> None:
    begun, drawn = threading.Event(), []
    runner.start(begun.set, after_drawing=True)
    QTimer.singleShot(0, lambda: drawn.append(not begun.is_set()))
    time.sleep(0.3)  # the window is at work, as long as it may be
    qtbot.waitUntil(begun.is_set, timeout=5000)
    assert drawn == [True]


def test_a_new_job_takes_the_place_of_the_old_one_of_its_slot(runner: JobRunner, qtbot: Any) -> None:
    first, second, other = Heard(), Heard(), Heard()
    runner.start(steps, slot="a", **first.handlers())
    runner.start(steps, 3, slot="b", **other.handlers())
    runner.start(steps, 2, slot="a", **second.handlers())
    qtbot.waitUntil(lambda: other.kinds() == ["done"] and second.kinds() == ["done"], timeout=5000)
    assert first.kinds() == ["cancelled"]


def test_a_job_may_start_the_next_one(runner: JobRunner, qtbot: Any) -> None:
    last = Heard()
    runner.start(lambda: 1, done=lambda value: runner.start(lambda: value + 1, **last.handlers()))
    qtbot.waitUntil(lambda: last.kinds() == ["done"], timeout=2000)
    assert last.news == [("done", (2,))]


def test_closing_while_it_runs_ends_the_thread(qapp: Any, qtbot: Any) -> None:
    runner, heard = JobRunner(), Heard()
    runner.start(steps, **heard.handlers())
    qtbot.waitUntil(lambda: bool(heard.news), timeout=2000)
    assert runner.shutdown(2000)
    qtbot.wait(30)
    assert heard.kinds() == []


@pytest.mark.benchmark
def test_work_does_not_hold_the_interface_up(runner: JobRunner, qtbot: Any, watchdog: Any) -> None:
    def python_loop() -> int:
        return sum(index * index for index in range(3_000_000))

    heard = Heard()
    with watchdog.watching():
        runner.start(python_loop, **heard.handlers())
        qtbot.waitUntil(lambda: heard.kinds() == ["done"], timeout=20_000)
    assert watchdog.worst < 0.100 * slack()


@pytest.mark.parametrize("name", ["done", "failed", "cancelled", "progressed"])
def test_no_handler_is_needed(runner: JobRunner, qtbot: Any, name: str) -> None:
    heard = Heard()
    handlers = heard.handlers()
    del handlers[name]
    runner.start(steps, 2, 0.0, **handlers)
    qtbot.waitUntil(lambda: not runner.busy(), timeout=2000)


def test_nothing_that_was_handed_over_is_kept_after_the_work(runner: JobRunner, qtbot: Any) -> None:
    class Secret:
        pass

    given, heard = Secret(), Heard()
    kept = weakref.ref(given)
    runner.start(lambda secret: None, given, **heard.handlers())
    del given
    qtbot.waitUntil(lambda: not runner.busy())
    qtbot.waitUntil(lambda: kept() is None, timeout=1000)


def test_no_thread_is_the_last_to_hold_a_job(runner: JobRunner, qtbot: Any) -> None:
    """It would take apart the widgets in it. Seen once in 100,000 jobs of lanes that ended together."""
    gone: list[str] = []
    begun, go_on = threading.Event(), threading.Event()
    lines, first = inspect.getsourcelines(JobRunner._work)
    letting_go = first + next(place for place, line in enumerate(lines) if line.strip().startswith("del job"))

    class Held:
        def __del__(self) -> None:
            gone.append(threading.current_thread().name)

    def wait_before_letting_go(frame: Any, event: str, _value: Any) -> Any:
        if frame.f_code is not JobRunner._work.__code__:
            return None
        if event == "line" and frame.f_lineno == letting_go:
            begun.set()
            go_on.wait(20)
        return wait_before_letting_go

    threading.settrace(wait_before_letting_go)
    runner.start(lambda held: None, Held(), slot="long", lane=LONG)
    threading.settrace(None)  # type: ignore[arg-type]
    try:
        assert begun.wait(5)
        runner.start(lambda held: None, Held(), slot="short", lane=SHORT)
        qtbot.waitUntil(lambda: not runner.busy())
        qtbot.wait(30)
    finally:
        go_on.set()
    qtbot.waitUntil(lambda: len(gone) == 2, timeout=5000)
    assert gone == ["MainThread"] * 2


@pytest.mark.parametrize("forgotten", [False, True])
def test_what_takes_a_moment_never_waits_behind_what_takes_long(
    runner: JobRunner, qtbot: Any, forgotten: bool
) -> None:
    """Even where the long one never asks whether it should stop, and is not wanted any more."""
    begun, go_on, long, short = threading.Event(), threading.Event(), Heard(), Heard()

    def deaf() -> None:
        begun.set()
        go_on.wait(20)

    runner.start(deaf, slot="release", lane=LONG, **long.handlers())
    assert begun.wait(5)
    if forgotten:
        runner.cancel("release")
    runner.start(lambda: 2, slot="drawing", lane=SHORT, **short.handlers())
    try:
        qtbot.waitUntil(lambda: short.kinds() == ["done"], timeout=5000)
        assert long.kinds() == (["cancelled"] if forgotten else [])
    finally:
        go_on.set()
    qtbot.waitUntil(lambda: not runner.busy(), timeout=5000)
