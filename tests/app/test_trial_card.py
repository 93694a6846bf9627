"""What the settings give on the table: counted as they are chosen, taken by a click, told in the evidence."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QLineEdit, QProgressBar, QPushButton

from app import words
from app.frame.window import Window
from app.parts.table import LinesDelegate
from app.parts.trial.count_view import interval
from app.parts.trial.solution import best_first, neighbours, steps_words
from app.state import draft, flow
from app.theme import text_font
from app.work.releasing import Watch, release
from engine.methods.trying import Candidate, MapLadder, SolutionMap
from engine.release import trial as trials
from engine.table.schema import Domain, Origin
from tests.app.hands import Hands
from tests.app.walking import example_plan, settle, write

KA = "datasets.k_anonymity"


def at_trial(window: Window, qtbot: Any, method_id: str, folder: Path, **parameters: Any) -> Any:
    """Open the example of a method where its settings are tried on the rows."""
    window.study.open_plan(example_plan(method_id, folder))
    for step in ("load", "columns", "risk", "purpose", "method", "terms"):
        if step in flow.path(window.study.state):
            window.go(step)
            settle(qtbot, window, timeout=60_000)
        if step == flow.tried_on(window.study.method):
            break
    if parameters:
        window.study.decide_parameters(**parameters)
        settle(qtbot, window, timeout=60_000)
    assert window.step in (step, "method"), window.notice.words()
    return window.page(window.step)


def answer_of(page: Any) -> Any:
    """Return the only widget of the card."""
    (view,) = page.trial.card._views.values()
    return view


def click(qtbot: Any, plot: Any, place: int) -> None:
    point = plot.points()[place]
    qtbot.mouseClick(plot, Qt.MouseButton.LeftButton, pos=QPoint(round(point.x()), round(point.y())))


def far_apart(view: Any) -> int:
    """Return a combination that holds, is not taken, and lies far from all others in the picture."""
    points, found = view.plot.points(), view.shown.candidates

    def room(place: int) -> float:
        return min(
            (points[place] - point).manhattanLength() for at, point in enumerate(points) if at != place
        )

    return max((at for at, one in enumerate(found) if one.holds and at != view.place), key=room)


@pytest.mark.guarantee
def test_a_click_on_the_map_takes_a_combination(window: Window, qtbot: Any, tmp_path: Path) -> None:
    page = at_trial(window, qtbot, KA, tmp_path)
    view = answer_of(page)
    assert page.trial.card.isVisible() and view.place == view.shown.best
    assert view.numbers["left_out"][0].text() == "61 people" and "15 → 1" in view.numbers["alone"][0].text()
    finer, coarser = neighbours(view.shown, view.place)
    assert view.finer.count() == len(finer) + 1 and view.coarser.count() == len(coarser) + 1
    assert "144 left out" in view.finer.itemAt(1).widget().plain()
    wanted = far_apart(view)
    click(qtbot, view.plot, wanted)
    settle(qtbot, window)
    steps = dict(view.shown.candidates[wanted].changes["steps"])
    assert window.study.plan.parameters["steps"] == steps
    assert view.place == wanted and not view.best.isHidden()
    for ladder, group in enumerate(view.groups):
        assert group.checkedId() == view.shown.candidates[wanted].steps[ladder]
    window.undoing.undo()
    settle(qtbot, window)
    assert "steps" not in window.study.plan.parameters and view.place == view.shown.best


def test_rows_and_map_are_in_view_and_no_figure_contradicts_another(
    window: Window, qtbot: Any, tmp_path: Path
) -> None:
    page = at_trial(window, qtbot, KA, tmp_path)
    window.resize(1366, 768)
    qtbot.wait(30)
    view = answer_of(page)
    low = page.viewport().height()
    for part, seen in ((view.before, 8 * 22), (view.after, 8 * 22), (view.plot, 150)):
        assert part.isVisible() and part.mapTo(page.viewport(), QPoint(0, 0)).y() + seen <= low, part
    for table in (view.before, view.after):
        assert table.horizontalScrollBar().maximum() == 0, "no column is cut"
    window.resize(1920, 1080)
    qtbot.wait(60)
    for table in (view.before, view.after):  # where there is room, no value is cut either
        model, letters = table.model(), QFontMetrics(text_font())
        for column in range(model.columnCount()):
            cells = [model.written(row, column) for row in range(model.rowCount())]
            widest = max(letters.horizontalAdvance(one) for one in cells)
            assert widest + 2 * LinesDelegate.padding <= table.columnWidth(column), cells
    found, note = view.shown.candidates, view.numbers["lost"][1]
    least = found[view.shown.best]
    assert least.holds and not [one for one in found if one.holds and one.lost < least.lost]
    assert [one for one in found if one.lost < least.lost], "one that cannot leave loses less"
    assert note.plain() == "of those that can leave, the least is 5.5\u00a0%"


def test_a_step_and_the_arrows_move_the_point(window: Window, qtbot: Any, tmp_path: Path) -> None:
    page = at_trial(window, qtbot, KA, tmp_path)
    view = answer_of(page)
    view.groups[0].button(2).click()
    settle(qtbot, window)
    assert window.study.plan.parameters["steps"] == {"age": 2, "gender": 0, "race": 1}
    before = view.shown.candidates[view.place]
    qtbot.keyClick(view.plot, Qt.Key.Key_Right)
    settle(qtbot, window)
    after = view.shown.candidates[view.place]
    assert after.holds and after.lost >= before.lost and after != before
    assert window.study.plan.parameters["steps"] == dict(after.changes["steps"])
    view.best.click()
    settle(qtbot, window)
    assert "steps" not in window.study.plan.parameters and view.place == view.shown.best
    view.as_table.click()
    assert view.table.isVisible() and not view.plot.isVisible()
    view.table.selectRow(1)
    settle(qtbot, window)
    second = view.shown.candidates[best_first(view.shown)[1]]
    assert window.study.plan.parameters["steps"] == dict(second.changes["steps"])


def test_what_does_not_hold_is_looked_at_and_not_taken(window: Window, qtbot: Any, tmp_path: Path) -> None:
    page = at_trial(window, qtbot, KA, tmp_path)
    view = answer_of(page)
    view.groups[0].button(0).click()  # one step finer: 144 people left out, 85 are allowed
    settle(qtbot, window)
    assert "144" in view.why.plain() and "85" in view.why.plain()
    assert "steps" not in window.study.plan.parameters


@pytest.mark.guarantee
def test_nobody_goes_on_past_a_combination_that_cannot_leave(
    window: Window, qtbot: Any, tmp_path: Path
) -> None:
    page = at_trial(window, qtbot, KA, tmp_path)
    view = answer_of(page)
    assert view.barred.isHidden()
    hands = Hands(qtbot, window)
    hands.click("step-age-0")
    assert view.is_barred and view.barred_words.isVisible() and "cannot leave" in view.barred_words.plain()
    assert steps_words(view.shown, view.shown.candidates[view.shown.taken]) in view.barred_words.plain()
    steps = window.findChild(QPushButton, "step-age-0")
    below = view.barred_words.mapTo(view, QPoint(0, 0)).y() - steps.mapTo(view, QPoint(0, 0)).y()
    assert 0 < below < view.plot.mapTo(view, QPoint(0, 0)).y(), "beside the steps, not under the picture"
    hands.click("next")
    assert window.step == "terms" and words.say("app.trying.map.barred") in window.notice.words()
    assert window.focusWidget() is view.back
    for size in ((1366, 768), (911, 512)):
        window.resize(*size)
        qtbot.wait(30)
        page.hold_back(page.trial.why_not())
        qtbot.wait(30)
        top = page.title.mapTo(page.viewport(), QPoint(0, 0)).y()
        assert top >= 0 or top + page.title.height() <= 0, "the notice lies over no part of the title"
        back = view.back.mapTo(page.viewport(), QPoint(0, 0)).y()
        assert back >= 0 and back + view.back.height() <= page.viewport().height()
    hands.click("map-back")
    assert view.place == view.shown.taken and not view.is_barred and view.barred.isHidden()
    hands.click("step-age-0")
    window.go("method")
    settle(qtbot, window)
    assert not view.is_barred, "another screen shows what leaves"


def test_a_changed_setting_is_counted_again(window: Window, qtbot: Any, tmp_path: Path) -> None:
    page = at_trial(window, qtbot, KA, tmp_path)
    view = answer_of(page)
    before = view.shown
    write(qtbot, page.form.lines["k"].field.findChild(QLineEdit), "40")
    settle(qtbot, window, timeout=60_000)
    assert answer_of(page) is view and view.shown is not before
    assert view.shown.candidates[view.shown.best].steps != before.candidates[before.best].steps
    window.study.decide_parameters(k=None)
    settle(qtbot, window)
    assert not page.trial.card._parts.isVisible() and page.trial.card.note.plain()


def test_how_many_settings_were_looked_at_is_in_the_evidence(
    window: Window, qtbot: Any, tmp_path: Path
) -> None:
    page = at_trial(window, qtbot, KA, tmp_path)
    view = answer_of(page)
    view.groups[0].button(2).click()
    settle(qtbot, window)
    view.groups[0].button(1).click()  # the first one again, written out: one more setting
    settle(qtbot, window)
    window.undoing.undo()
    settle(qtbot, window)
    plan = window.study.plan_as_read
    assert plan.tried == 3 and "3" in page.trial.card.note.plain()
    made = release(plan, tmp_path / "out", watch=Watch(), ledger_path=window.study.ledger_path)
    assert made.error is None, made.error
    assert made.facts["public"]["decided"]["tried"] == 3
    assert made.facts["public"]["decided"]["parameters"]["steps"] == {"age": 2, "gender": 0, "race": 1}


@pytest.mark.guarantee
def test_a_method_with_a_bound_shows_nothing_of_the_rows(window: Window, qtbot: Any, tmp_path: Path) -> None:
    page = at_trial(window, qtbot, "statistics.counts", tmp_path)
    assert page.trial.card.isHidden()
    assert "Nothing is computed on the rows" in page.subtitle.plain()
    assert not [button for button in page.findChildren(QPushButton) if button.objectName() == "map-as-table"]


def test_masking_counts_who_stands_alone_after_the_steps_so_far(
    window: Window, qtbot: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = at_trial(window, qtbot, "datasets.masking", tmp_path)
    view = answer_of(page)
    steps = window.study.plan.parameters["steps"]
    assert view.figure.text().startswith("15 → ") and view.lines.rowCount() == len(steps) + 1
    threads, shown = list[str](), list[str]()
    counted = trials.trial
    told = view.show_answer

    def watched(*args: Any, **kwargs: Any) -> Any:
        threads.append(threading.current_thread().name)
        return counted(*args, **kwargs)

    monkeypatch.setattr(trials, "trial", watched)
    monkeypatch.setattr(view, "show_answer", lambda answer: (told(answer), shown.append(view.figure.text())))
    window.study.decide_parameters(steps=steps[:7])
    window.study.decide_parameters(steps=[{"step": "drop", "column": "age"}])  # takes its place
    settle(qtbot, window)
    assert threads and set(threads) == {"engine"}  # nothing is counted where the window is drawn
    assert shown == ["15 → 0"] and "age" in view.lines.itemAtPosition(1, 0).widget().plain()
    page.form.lines["steps"].field.add.click()
    settle(qtbot, window)
    assert view.figure.text() == "15 → 0" and "Without the last 1" in page.trial.card.note.plain()


def test_a_trial_that_takes_long_says_how_far_it_is_and_can_be_stopped(
    window: Window, qtbot: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page, reached = at_trial(window, qtbot, KA, tmp_path), threading.Event()

    def endless(plan: Any, table: Any, *, progress: Any) -> Any:
        while True:
            progress.step(0.25, "datasets.search")
            reached.set()
            time.sleep(0.01)

    monkeypatch.setattr(trials, "trial", endless)
    window.study.decide_parameters(k=7)
    card = page.trial.card
    qtbot.waitUntil(lambda: reached.is_set() and card.under_way.isVisible())
    (bar,) = card.under_way.findChildren(QProgressBar)
    qtbot.waitUntil(lambda: bar.value() == 250)
    (stop,) = (one for one in card.under_way.findChildren(QPushButton) if one.isVisible())
    qtbot.mouseClick(stop, Qt.MouseButton.LeftButton)
    settle(qtbot, window)
    assert not card.under_way.isVisible() and card.note.plain() == words.say("app.trying.asked")
    assert card.ask.isVisible() and window.footer.next.isEnabled(), "it is no condition of going on"
    monkeypatch.undo()
    qtbot.mouseClick(card.ask, Qt.MouseButton.LeftButton)
    settle(qtbot, window, timeout=60_000)
    assert answer_of(page).shown is not None and not card.ask.isVisible()


def test_rules_are_ticked(window: Window, qtbot: Any, tmp_path: Path) -> None:
    page = at_trial(window, qtbot, "datasets.rule_hiding", tmp_path, rules=None)
    view = answer_of(page)
    assert len(view.ticks) == 100 and not any(tick.isChecked() for tick in view.ticks)
    view.search.setText("insulin = down change = ch")
    first = next(tick for tick in view.ticks if not tick.isHidden())
    others = [tick for tick in view.ticks if tick.isHidden()]
    assert others and "insulin = Down" in first.text()
    first.click()
    settle(qtbot, window)
    (record,) = window.study.plan.parameters["rules"]
    assert record == {"when": "insulin is Down", "then": "change is Ch"} and first.isChecked()
    assert not window.study.problems()
    first.click()
    settle(qtbot, window)
    assert "rules" not in window.study.plan.parameters and not first.isChecked()
    window.undoing.undo()
    settle(qtbot, window)
    assert first.isChecked()


def test_a_draft_holds_no_value_that_was_found_in_the_rows(tmp_path: Path) -> None:
    plan = example_plan("datasets.rule_hiding", tmp_path)
    rules = [{"when": "insulin is Down", "then": "change is Ch"}]
    plan = replace(plan, parameters={**plan.parameters, "rules": rules})
    named = set(plan.parameters["columns"])
    for is_declared in (True, False):
        columns = tuple(
            replace(
                one,
                domain=Domain(values=("Down", "Ch")) if is_declared else None,
                domain_origin=Origin.DECLARED if is_declared else None,
            )
            if one.name in named
            else one
            for one in plan.schema.columns
        )
        schema = replace(plan.schema, columns=columns)
        draft.save(plan.with_schema(schema), frozenset(), folder=tmp_path)
        text = draft.path_of(tmp_path).read_text(encoding="utf-8")
        assert ("insulin is Down" in text) is is_declared


def test_cells_are_looked_at_with_what_can_be_worked_out(window: Window, qtbot: Any, tmp_path: Path) -> None:
    page = at_trial(window, qtbot, "statistics.protected_table", tmp_path)
    card = page.trial.card
    assert card.ask.isVisible() and not card._views  # it may take long: only when asked
    card.ask.click()
    settle(qtbot, window, timeout=60_000)
    view = answer_of(page)
    assert not card.ask.isVisible() and "Too small: 5" in view.summary.plain()
    view.table.setCurrentIndex(view.table.model().index(0, 0))
    assert view.cell_name.text() == "[0-10), NO" and "14 to 40" in view.why.plain()
    qtbot.keyClick(view.table, Qt.Key.Key_N)
    index = view.table.currentIndex()
    model = view.table.model()
    assert model.cell(index).state == "small" and "1 to 12" in view.why.plain()
    spoken = model.data(index, Qt.ItemDataRole.AccessibleTextRole)
    assert spoken == "[0-10), <30: too small, 1 to 12"
    assert "1 to 12" in model.data(index, Qt.ItemDataRole.ToolTipRole)
    view.ways.button(1).click()  # as the recipient sees it: one sign for all, and nothing else
    model = view.table.model()
    hidden = [model.index(row, column) for row in range(3) for column in range(3)]
    told = {model.data(one, Qt.ItemDataRole.AccessibleTextRole).split(": ")[1] for one in hidden}
    assert "hidden" in told and not view.side.isVisible()
    assert not any("to" in one or "small" in one for one in told)
    view.ways.button(2).click()
    assert view.table.model().data(hidden[1]) == "1"
    window.study.decide_parameters(threshold=3)
    settle(qtbot, window)
    assert card.ask.isVisible() and not card._parts.isVisible()  # what was shown belongs to other settings
    window.resize(1000, 700)  # the page gets narrower with its window
    settle(qtbot, window)
    card.ask.click()
    settle(qtbot, window, timeout=60_000)
    window.resize(911, 600)
    settle(qtbot, window)
    assert page.widget().width() <= page.viewport().width()


def test_interval_and_word_of_a_hidden_cell_stand_apart(window: Window, qtbot: Any, tmp_path: Path) -> None:
    page = at_trial(window, qtbot, "statistics.protected_table", tmp_path)
    if page.trial.card.ask.isVisible():
        page.trial.card.ask.click()
        settle(qtbot, window, timeout=60_000)
    table = answer_of(page).table
    model, small, strong = table.model(), QFontMetrics(text_font(11)), QFontMetrics(text_font(13, 600))
    hidden = [one for line in model.table.cells for one in line if one is not None and one.state != "printed"]
    assert hidden
    for cell in hidden:
        words_wide = small.horizontalAdvance(interval(cell)) + strong.horizontalAdvance(model.said(cell))
        assert words_wide + 2 * (3 + 8) < table.horizontalHeader().defaultSectionSize()


def test_a_trial_says_that_the_release_draws_rows_anew(window: Window, qtbot: Any, tmp_path: Path) -> None:
    """Of people with several rows: what is counted here is one of many draws."""
    page = at_trial(window, qtbot, KA, tmp_path)
    plan, table = window.study.plan, window.study.table
    rows = table.rows()
    assert rows["patient_nbr"].duplicated().any()
    assert "first row of each" in page.trial.card.note.plain() and "anew" in page.trial.card.note.plain()
    alone = trials.trial(plan, table.with_rows(rows.drop_duplicates("patient_nbr")))
    page.trial._asked_for = plan
    page.trial._done(plan, alone)
    assert "anew" not in page.trial.card.note.plain()


def test_steps_show_how_a_value_reads(window: Window, qtbot: Any, tmp_path: Path) -> None:
    """Not how many values there are: what a recipient would read."""
    view = answer_of(at_trial(window, qtbot, KA, tmp_path))
    own = next(one for one in view.shown.ladders if one.column == "age")
    group = view.groups[view.shown.ladders.index(own)]
    said = [button.text() for button in group.buttons()]
    assert said[-1] == words.say("app.trying.map.nothing")
    assert all(
        text == read[: len(text.rstrip("…"))] + text[len(text.rstrip("…")) :]
        for text, read in zip(said[:-1], own.reads, strict=False)
    )
    assert len(set(said)) == len(said) and not any("values" in text for text in said)


def test_the_best_is_searched_within_the_locks(window: Window, qtbot: Any, tmp_path: Path) -> None:
    page, hands = at_trial(window, qtbot, KA, tmp_path), Hands(qtbot, window)
    view = answer_of(page)
    found, best = view.shown.candidates, view.shown.best
    ladder, other = next(
        (ladder, one.steps[ladder])
        for one in found
        for ladder in range(len(one.steps))
        if one.holds and one.steps[ladder] != found[best].steps[ladder]
    )
    wanted = min(
        (at for at, one in enumerate(found) if one.holds and one.steps[ladder] == other),
        key=lambda at: found[at].lost,
    )
    start = next(
        at for at, one in enumerate(found) if one.holds and one.steps[ladder] == other and at != wanted
    )
    view.choose(start)
    settle(qtbot, window)
    page.ensureWidgetVisible(view.locks[ladder])
    hands.click(view.locks[ladder])
    assert view.best.text() == words.say("app.trying.map.take_best_locked")
    page.ensureWidgetVisible(view.best)
    hands.click(view.best)
    assert view.place == wanted and view.best.isHidden()
    assert window.study.plan.parameters["steps"] == dict(found[wanted].changes["steps"])
    view.locks[ladder].setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.keyClick(view.locks[ladder], Qt.Key.Key_L)
    assert not view.locks[ladder].isChecked()
    qtbot.keyClick(view.locks[ladder], Qt.Key.Key_B)
    assert view.place == best


def test_arrows_turn_a_column_finer_and_coarser(window: Window, qtbot: Any, tmp_path: Path) -> None:
    view = answer_of(at_trial(window, qtbot, KA, tmp_path))
    ladder = next(at for at, own in enumerate(view.shown.ladders) if own.column == "age")

    def step() -> int:
        return view.shown.candidates[view.place].steps[ladder]

    first, last = step(), len(view.shown.ladders[ladder].sizes) - 1
    view.groups[ladder].button(first).setFocus(Qt.FocusReason.TabFocusReason)
    for _ in range(last - first + 1):  # one more than there are: the end stays the end
        qtbot.keyClick(window.focusWidget(), Qt.Key.Key_Right)
    assert step() == last and view.groups[ladder].button(last).hasFocus()
    qtbot.keyClick(window.focusWidget(), Qt.Key.Key_Left)
    assert step() == last - 1
    view.locks[ladder].setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.keyClick(view.locks[ladder], Qt.Key.Key_Right)
    assert step() == last and view.locks[ladder].hasFocus()


def test_locks_that_let_nothing_leave_name_the_one_to_open(
    window: Window, qtbot: Any, tmp_path: Path
) -> None:
    page, hands = at_trial(window, qtbot, KA, tmp_path), Hands(qtbot, window)
    view = answer_of(page)
    finest = tuple(min(one.steps[at] for one in view.shown.candidates) for at in range(len(view.groups)))
    at = next(place for place, one in enumerate(view.shown.candidates) if one.steps == finest)
    assert not view.shown.candidates[at].holds
    view.choose(at)
    for lock in view.locks:
        lock.click()
    assert view.impossible.isVisible() and view.best.isHidden()
    assert window.footer.next.property("waiting") is True, "Next is pale"
    for _ in view.locks:
        if view.impossible.isHidden():
            break
        page.ensureWidgetVisible(view.open_lock)
        named = view.impossible_words.plain()
        shut = [lock.column for lock in view.locks if lock.isChecked()]
        hands.click("open-lock")
        opened = set(shut) - {lock.column for lock in view.locks if lock.isChecked()}
        assert len(opened) == len(shut) or all(f"“{column}”" in named for column in opened)
    assert view.impossible.isHidden() and view.shown.candidates[view.place].holds
    assert not view.is_barred and window.footer.next.property("waiting") is False


def test_ten_rows_stand_as_they_are_and_as_they_would_leave(
    window: Window, qtbot: Any, tmp_path: Path
) -> None:
    view = answer_of(at_trial(window, qtbot, KA, tmp_path))
    names = [own.column for own in view.shown.ladders]
    path = next(iter(window.study.plan.files.values())).path
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)[names].replace("?", "—")
    combinations = {tuple(row) for row in frame.itertuples(index=False)}

    def written(table: Any) -> list[tuple[str, ...]]:
        model = table.model()
        assert list(model.headings) == names
        return [tuple(model.written(row, at) for at in range(len(names))) for row in range(model.rowCount())]

    before = written(view.before)
    assert len(before) == 10 and set(before) <= combinations and view.before.isVisible()
    for place in range(0, len(view.shown.candidates), 5):
        view.choose(place)
        settle(qtbot, window)
        one = view.shown.candidates[place]
        assert written(view.before) == before
        assert written(view.after) == [
            tuple(
                own.rows[step + 1][row] or "—"
                for own, step in zip(view.shown.ladders, one.steps, strict=True)
            )
            for row in range(10)
        ]


def coarse_map(columns: int) -> SolutionMap:
    """Return a map of some columns with five steps each, as long as those of dates and places are."""
    reads = ("15 Jun 1941", "Jun 1941", "1941", "1940s", "")
    sizes = (900, 300, 80, 9, 1)
    rows = tuple((said or "*",) * 10 for said in ("15 Jun 1941", *reads))
    names = [f"date_of_birth_{at}" for at in range(columns)]
    own = tuple(MapLadder(name, sizes, reads, 1.0, rows) for name in names)
    steps = [tuple((at + turn) % 4 for at in range(columns)) for turn in range(4)]
    points = tuple(
        Candidate(one, {"steps": dict(zip(names, one, strict=True))}, lost, left, left, left < 5)
        for one, lost, left in zip(steps, (0.1, 0.5, 0.6, 0.9), (9, 3, 2, 1), strict=True)
    )
    return SolutionMap(own, points, 1, 1, 4, 10, 7, True, 4, True, "weights")


@pytest.mark.guarantee
def test_rows_map_and_steps_are_in_view_with_any_number_of_columns(
    window: Window, qtbot: Any, tmp_path: Path
) -> None:
    page = at_trial(window, qtbot, KA, tmp_path)
    for width, height in ((1366, 768), (911, 512), (1920, 1080)):
        window.resize(width, height)
        for columns in range(1, 13):
            page.trial.card.show_answers([coarse_map(columns)], "")
            view, high = answer_of(page), page.viewport().height()
            area = view._room
            qtbot.wait(60)
            qtbot.waitUntil(lambda area=area: area.widget().height() == max(area.needed(), area.height()))
            said = f"{columns} columns at {width} × {height}"
            whole = view.plot.height() if columns > 3 else 150
            rows = {4: 7, 5: 6}.get(columns, 8) * 22
            parts = ((view.before, rows), (view.after, rows), (view.plot, whole))

            def down(part: Any) -> int:
                return part.mapTo(page.viewport(), QPoint(0, 0)).y()

            page.verticalScrollBar().setValue(0)
            if height < 700:  # the rows and the map together, once the page is scrolled to them
                page.verticalScrollBar().setValue(down(view.rows_part))
            before = -1
            while before != (before := down(view.plot)):  # until the lowest part stays where it is
                qtbot.wait(20)
            for part, seen in parts:
                assert part.isVisible() and down(part) >= 0, said
                assert down(part) + seen <= high, (said, part.objectName(), down(part) + seen, high)
            tops = [part.mapTo(page.widget(), QPoint(0, 0)) for part, _ in parts]
            for (left, right), (part, _) in zip(pairwise(tops), parts, strict=False):
                assert left.x() + part.width() <= right.x(), f"{said}: beside, not on, one another"
            room = area.height() / (area.widget().height() / (columns + 1))
            least = 500 if columns <= 5 and height > 700 else 120  # at the usual size no line is cut
            assert area.height() >= min(area.needed(), least), f"{said}: only {room:.1f} lines of steps"
            for group in view.groups:  # every line is reached by the keyboard, and comes into view
                button = group.checkedButton()
                button.setFocus(Qt.FocusReason.TabFocusReason)
                area.ensureWidgetVisible(button)
                place = QRect(button.mapTo(area.viewport(), QPoint(0, 0)), button.size())
                assert area.viewport().rect().contains(place), said


def test_what_matters_is_taken_and_searched_again(window: Window, qtbot: Any, tmp_path: Path) -> None:
    view = answer_of(at_trial(window, qtbot, KA, tmp_path))
    slider, column = view.sliders[0], view.shown.ladders[0].column
    before = view.shown.candidates[view.shown.best].lost
    qtbot.keyClick(slider, Qt.Key.Key_Right)
    qtbot.keyClick(slider, Qt.Key.Key_Right)
    settle(qtbot, window)
    assert window.study.plan.parameters["weights"] == {column: 4}
    assert view.sliders[0] is slider and view.shown.ladders[0].weight == 4
    assert view.shown.candidates[view.shown.best].lost != before
    qtbot.keyClick(slider, Qt.Key.Key_Left)
    qtbot.keyClick(slider, Qt.Key.Key_Left)
    settle(qtbot, window)
    assert not window.study.plan.parameters.get("weights")
