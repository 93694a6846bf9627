"""No text is cut on any screen, at three sizes of window, on a sum with noise and on rows that leave.

911 × 512 is the room that a screen of 1366 × 768 pixels leaves at 150 %. The scale itself belongs to the
process and is not changed here: what is compared are lengths in the units that a layout reckons in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QLabel, QLineEdit, QPushButton, QVBoxLayout, QWidget

from app import words
from app.frame.window import Window
from app.parts.prose import Prose
from app.parts.signing_key import SigningSecret
from app.state import flow
from app.work.releasing import Watch, release
from engine.methods.kinds import Held
from engine.methods.protocol import Budget
from engine.release.plan import Plan
from tests.app.fitting import faults
from tests.app.walking import example_plan, open_table, sample_plan, settle, write_people

pytestmark = pytest.mark.slow
SIZES = ((1366, 768), (1920, 1080), (911, 512))
ROWS = "datasets.k_anonymity"
PAGES, WHOLE = (*flow.STEPS, *flow.BESIDE), 10_000  # no most width


def test_what_does_not_fit_is_found(qtbot: Any) -> None:
    box = QWidget()
    qtbot.addWidget(box)
    box.resize(300, 300)
    column = QVBoxLayout(box)
    parts = [QLabel("A text on one line"), Prose("A text on several lines, " * 5), QPushButton("A button")]
    parts += [QLineEdit("Written into a field"), QLineEdit(placeholderText="Wanted in a field")]
    for part in parts:
        column.addWidget(part)
    box.show()
    qtbot.waitExposed(box)
    assert faults(box) == []
    for part in parts:
        part.setFixedSize(40, 20)
    assert len(faults(box)) == len(parts)
    parts[0].setToolTip(parts[0].text())  # shortened, and said in full elsewhere
    assert len(faults(box)) == len(parts) - 1
    column.removeWidget(parts[0])
    parts[0].move(290, 0)
    assert [one for one in faults(box) if "sticks out" in one]


@pytest.mark.parametrize("language", ["en", "de", "fr"])
def test_no_field_is_narrower_than_what_it_asks(window: Window, qtbot: Any, language: str) -> None:
    words.choose_language(language)
    try:
        known = [SigningSecret(), SigningSecret("sealing-passphrase", "app.sealing.at_release")]
        for one in known:
            qtbot.addWidget(one)
        known += [one for step in PAGES for one in window.page(step).findChildren(QLineEdit)]
        asked = [one for one in known if one.placeholderText() and one.maximumWidth() < WHOLE]
        needed = {one: one.fontMetrics().horizontalAdvance(one.placeholderText()) for one in asked}
        cut = [one.placeholderText() for one in asked if one.maximumWidth() < needed[one] + 24]
        assert len(asked) > 8 and cut == []
    finally:
        words.choose_language("en")


def at_all_sizes(window: Window, qtbot: Any, state: str) -> list[str]:
    """Return what is cut in what the window shows now."""
    found = []
    for size in SIZES:
        window.resize(*size)
        assert (window.width(), window.height()) == size
        found += [f"{state} {size[0]} × {size[1]}: {one}" for one in _at_rest(window, qtbot)]
    window.resize(*SIZES[0])
    qtbot.wait(5)
    return found


def _at_rest(window: Window, qtbot: Any) -> list[str]:
    """Return what is cut once the layout has settled: while it is on its way much is, for a moment."""
    found: list[str] = []
    for _ in range(8):
        qtbot.wait(15)
        found = faults(window)
        if not found:
            break
        qtbot.wait(60)
    return found


def states(page: Any) -> Iterator[str]:
    """Bring a page into each state that it has beside the one that it opens with."""
    further: dict[str, Callable[[], Iterator[str]]] = {
        "columns": lambda: _of_columns(page),
        "method": lambda: _of_method(page),
        "budget": lambda: _of_budget(page),
        "compare": lambda: _of_compare(page),
        "releases": lambda: _of_releases(page),
        "explore": lambda: _of_explore(page),
        "sites": lambda: _of_sites(page),
    }
    yield ""
    if page.id in further:
        yield from further[page.id]()


def _of_columns(page: Any) -> Iterator[str]:
    page.every.click()
    for name in [column.name for column in page.study.plan.schema.columns[:6]]:
        page.select(name)
        yield name


def _of_method(page: Any) -> Iterator[str]:
    if page.another.isVisible():
        form = page.study.plan.method
        page.another.click()
        yield "things"
        page.answers.answer("rows", "none")
        yield "answered"
        page.answers.chips["rows"].click()
        for held in Held:
            page._open_ways(held)
            yield f"ways to {held}"
        page._open_ways(None)
        yield "all ways"
        page._select(form)
        page._use()


def _of_budget(page: Any) -> Iterator[str]:
    page.further.unfold()
    page.further.band.setChecked(True)
    yield "further"
    for epsilon in ("0.005", "1.235", "0.5"):
        page._epsilon_chosen(Fraction(epsilon))
        yield f"ε {epsilon}"


def _of_compare(page: Any) -> Iterator[str]:
    page.choose(1)
    yield "second"


def _of_releases(page: Any) -> Iterator[str]:
    page.table.selectRow(0)
    yield "chosen"


def _of_explore(page: Any) -> Iterator[str]:
    page.fill.click()
    page.frame.footer.next.click()
    yield "answered"


def _of_sites(page: Any) -> Iterator[str]:
    page.training.click()
    yield "training"
    for who in ("North", "South", "Centre"):
        page.who.setCurrentIndex(page.who.findData(who))
        page._play()
        yield who
        page.frame.footer.next.click()
        yield f"{who} done"


def walked(window: Window, qtbot: Any, plan: Plan, folder: Path) -> list[str]:
    """Walk from the first step to the report and what lies beside, and return what is cut."""
    window.study.open_plan(plan)
    found: list[str] = []
    steps = flow.path(window.study.state)
    for step in (*steps, *flow.BESIDE):
        if step == "release":
            _release(window, folder)
        window.go(step)
        settle(qtbot, window, timeout=60_000)
        assert window.step == step, (step, window.step, window.notice.words())
        for state in states(window.page(step)):
            settle(qtbot, window)
            found += at_all_sizes(window, qtbot, f"{step} {state}".strip())
    return found


def _release(window: Window, folder: Path) -> None:
    plan = window.study.plan
    made = release(
        window.study.plan_as_read, folder / "out", watch=Watch(), ledger_path=window.study.ledger_path
    )
    assert made.error is None, made.error
    window.study.store("bundle", made, plan)


def test_no_text_of_a_sum_with_noise_is_cut(window: Window, qtbot: Any, tmp_path: Path) -> None:
    plan = replace(sample_plan(tmp_path), parameters={"columns": ["gender"], "extra_cells": "left_out"})
    found = walked(window, qtbot, plan, tmp_path)
    assert not found, "\n".join(found)


def test_no_text_of_rows_that_leave_is_cut(window: Window, qtbot: Any, tmp_path: Path) -> None:
    plan = example_plan(ROWS, tmp_path)
    other = {"parameters": {**plan.parameters, "k": 3, "most_left_out": 0.02}}
    found = walked(window, qtbot, replace(plan, candidates=(other,)), tmp_path)
    assert not found, "\n".join(found)


def test_no_text_of_a_visit_is_cut(window: Window, qtbot: Any, tmp_path: Path) -> None:
    plan = replace(example_plan("services.private_queries", tmp_path), holding_budget=Budget(Fraction(2)))
    found = walked(window, qtbot, plan, tmp_path)
    assert not found, "\n".join(found)


def test_no_text_of_a_table_of_ones_own_is_cut(window: Window, qtbot: Any, tmp_path: Path) -> None:
    found = at_all_sizes(window, qtbot, "start")
    window.go("load")
    settle(qtbot, window)
    found += at_all_sizes(window, qtbot, "load without a table")
    open_table(qtbot, window, write_people(tmp_path / "people.csv"))
    for step in ("load", "columns", "risk", "purpose"):
        window.go(step)
        settle(qtbot, window)
        if window.step == "columns" and step == "columns":
            found += at_all_sizes(window, qtbot, step)
            window.page("columns").accept.click()
            settle(qtbot, window)
        found += at_all_sizes(window, qtbot, window.step)
    assert not found, "\n".join(found)
