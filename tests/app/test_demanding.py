"""A measure that takes long has a tick on the Method page, and is asked of the release once it is ticked."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QCheckBox

from app import words
from app.frame.window import Window
from app.parts.prose import Prose
from app.work.releasing import Watch, release
from engine.evaluation.catalogue import measures
from engine.release.plan import Plan
from tests.app.walking import example_plan, settle

SHADOWS, GAMES = "risk.synthetic_shadows", "utility.synthetic_games"
FEW = 500


def few_people(folder: Path) -> Plan:
    """Return the example of a synthetic table over its first rows."""
    plan = example_plan("datasets.imputation", folder)
    table = Path(plan.files["people"].path)
    table.write_text("".join(table.read_text(encoding="utf-8").splitlines(keepends=True)[: FEW + 1]), "utf-8")
    return replace(plan, parameters={**plan.parameters, "copies": 1})


def at_method(window: Window, qtbot: Any, plan: Plan) -> Any:
    window.study.open_plan(plan)
    for step in ("load", "columns", "method"):
        window.go(step)
        settle(qtbot, window, timeout=60_000)
    assert window.step == "method", (window.step, window.notice.words())
    return window.page("method").demand.card


def tick(qtbot: Any, box: QCheckBox) -> None:
    qtbot.mouseClick(box, Qt.MouseButton.LeftButton, pos=QPoint(14, box.height() // 2))


def test_a_tick_asks_the_release_and_says_what_it_costs(window: Window, qtbot: Any, tmp_path: Path) -> None:
    card = at_method(window, qtbot, few_people(tmp_path))
    assert card.isVisible() and list(card.boxes) == [SHADOWS, GAMES]
    box = card.boxes[SHADOWS]
    assert box.text() == words.say(f"measures.{SHADOWS}.title") and not box.isChecked()
    costs = [one.plain() for one in card.findChildren(Prose)]
    assert any("as long as twelve releases" in one for one in costs)
    tick(qtbot, box)
    settle(qtbot, window)
    assert window.study.plan.measures == (SHADOWS,)
    plan = window.study.plan_as_read
    made = release(plan, tmp_path / "out", watch=Watch(), ledger_path=window.study.ledger_path)
    assert made.error is None, made.error
    inside = json.loads((made.bundle.folder / "internal" / "evidence.json").read_text("utf-8"))["internal"]
    assert inside["measures"][SHADOWS]["runs"] == 12 and "utility.synthetic_kept" in inside["measures"]
    tick(qtbot, box)
    settle(qtbot, window)
    assert window.study.plan.measures == ()


def test_it_is_offered_where_it_applies_alone(window: Window, qtbot: Any, tmp_path: Path) -> None:
    card = at_method(window, qtbot, example_plan("datasets.marginals", tmp_path))
    assert list(card.boxes) == [GAMES]  # a bound says what the best attack can tell
    assert not at_method(window, qtbot, example_plan("datasets.k_anonymity", tmp_path)).isVisible()


def test_one_that_does_not_apply_any_more_can_be_taken_away(
    window: Window, qtbot: Any, tmp_path: Path
) -> None:
    plan = replace(example_plan("datasets.marginals", tmp_path), measures=(SHADOWS,))
    card = at_method(window, qtbot, plan)
    assert card.isVisible() and card.boxes[SHADOWS].isChecked()
    assert words.say("app.method.demand.unfit") in [one.plain() for one in card.findChildren(Prose)]
    tick(qtbot, card.boxes[SHADOWS])
    settle(qtbot, window)
    assert window.study.plan.measures == () and list(card.boxes) == [GAMES]


def test_another_method_begins_without_them(window: Window, qtbot: Any, tmp_path: Path) -> None:
    at_method(window, qtbot, replace(few_people(tmp_path), measures=(SHADOWS,)))
    page = window.page("method")
    page.another.click()
    page.selected = "datasets.marginals"
    page._use()
    settle(qtbot, window)
    assert window.study.plan.method == "datasets.marginals" and window.study.plan.measures == ()


def test_every_measure_on_demand_says_what_it_costs() -> None:
    for one in measures():
        if one.on_demand:
            assert "long" in words.say(f"measures.{one.id}.summary")
