"""The questions about a request: groups that unfold, a threshold that is never silent, answers said again."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QLineEdit, QWidget

from app import words
from app.frame.window import Window
from app.state import purposes
from app.state.purposes import GROUPS, REMEMBERED, REQUEST
from app.work.releasing import Outcome
from engine.release.plan import Purpose
from engine.risk.thresholds import CONTROLS, MOTIVES, SIZES
from tests.app.walking import settle, walk_to, write, write_people


@pytest.fixture
def page(window: Window, qtbot: Any, tmp_path: Path) -> Any:
    """The purpose with a title, a recipient and a register."""
    walk_to(qtbot, window, write_people(tmp_path / "people.csv"), "purpose")
    return window.page("purpose")


def pick(qtbot: Any, field: QComboBox, data: str) -> None:
    """Choose an entry of a list."""
    place = field.findData(data)
    assert place >= 0, data
    field.setCurrentIndex(place)
    field.activated.emit(place)
    qtbot.wait(1)


def test_every_answer_of_the_purpose_can_be_given(page: Any) -> None:
    for part in fields(Purpose):
        assert page.findChild(QWidget, f"purpose_{part.name}") is not None, part.name
        assert words.say(f"app.purpose.field.{part.name}.help"), part.name


def test_what_is_asked_at_once_is_short_and_the_rest_unfolds(page: Any, window: Window, qtbot: Any) -> None:
    visible = [name for name, field in page.fields.items() if field.isVisible()]
    assert set(visible) <= set(REQUEST)
    for group, names in GROUPS.items():
        fold = page.form.folds[group]
        assert "0 of" in fold.line.text(), group
        qtbot.mouseClick(fold.line, Qt.MouseButton.LeftButton)
        assert all(page.findChild(QWidget, f"purpose_{name}").isVisible() for name in names)
    field = page.findChild(QLineEdit, "purpose_legal_basis")
    write(qtbot, field, "Article 9(2)(j)")
    settle(qtbot, window)
    assert window.study.plan.purpose.legal_basis == "Article 9(2)(j)"
    assert "1 of 5" in page.form.folds["basis"].line.text()


def test_two_answers_propose_a_size_and_a_click_takes_it(page: Any, window: Window, qtbot: Any) -> None:
    page.form.folds["limits"].unfold()
    limits = page.form.limits
    assert not limits.take.isVisible()
    pick(qtbot, limits.fields["motive"], "curious")
    assert not limits.take.isVisible(), "one answer proposes nothing"
    pick(qtbot, limits.fields["control"], "published")
    assert window.study.plan.purpose.threshold == "", "nothing is chosen by itself"
    assert "0.09" in limits.proposal.plain() and "European Medicines Agency" in limits.proposal.plain()
    qtbot.mouseClick(limits.take, Qt.MouseButton.LeftButton)
    assert window.study.plan.purpose.threshold.startswith("11 (0.09): ")
    assert limits.fields["threshold"].currentData() == "11" and not limits.take.isVisible()


def test_an_own_policy_is_written_in_words(page: Any, window: Window, qtbot: Any) -> None:
    page.form.folds["limits"].unfold()
    limits = page.form.limits
    pick(qtbot, limits.fields["threshold"], "own")
    assert limits.own.isVisible()
    write(qtbot, limits.own, "7: our statutes")
    settle(qtbot, window)
    assert window.study.plan.purpose.threshold == "7: our statutes"
    window.go("load")
    settle(qtbot, window)
    window.go("purpose")
    settle(qtbot, window)
    assert limits.own.isVisible() and limits.own.text() == "7: our statutes"
    pick(qtbot, limits.fields["threshold"], "")
    assert window.study.plan.purpose.threshold == ""


def test_answers_and_sizes_have_their_words() -> None:
    for name, known in (("motive", MOTIVES), ("control", CONTROLS), ("threshold", SIZES)):
        assert all(words.say(f"app.purpose.field.{name}.{one}") for one in known)
    assert all(words.say(f"app.purpose.source.{size}") for size in SIZES)


SAID = Purpose(title="A", recipient="B", organisation="Records office", approver="Head", retention="2030")


def test_what_belongs_to_one_release_is_never_remembered(tmp_path: Path) -> None:
    everything = Purpose(**{part.name: f"said {part.name}" for part in fields(Purpose)})
    purposes.remember(everything, folder=tmp_path)
    kept = json.loads(purposes.path_of(tmp_path).read_text())[0]
    assert set(kept) == set(REMEMBERED)
    assert not {"title", "recipient", "threshold", "motive", "control", "expires"} & set(kept)


def test_answers_are_offered_for_the_same_organisation_alone(tmp_path: Path) -> None:
    purposes.remember(SAID, folder=tmp_path)
    purposes.remember(Purpose(organisation="Registry", approver="Director"), folder=tmp_path)
    offered = purposes.remembered_answers(Purpose(organisation="records OFFICE"), folder=tmp_path)
    assert offered == {"approver": "Head", "retention": "2030"}
    assert purposes.remembered_answers(Purpose(), folder=tmp_path)["organisation"] == "Registry", (
        "the last one"
    )
    assert purposes.remembered_answers(Purpose(organisation="Another"), folder=tmp_path) == {}
    filled = replace(SAID, organisation="Records office")
    assert purposes.remembered_answers(filled, folder=tmp_path) == {}


def test_nothing_is_remembered_without_an_organisation(tmp_path: Path) -> None:
    purposes.remember(Purpose(title="A", approver="Head"), folder=tmp_path)
    assert not purposes.path_of(tmp_path).exists()


def test_a_file_that_cannot_be_read_offers_nothing(tmp_path: Path) -> None:
    for text in ("{broken", "{}", '["text", 3]'):
        purposes.path_of(tmp_path).write_text(text)
        assert purposes.remembered_answers(Purpose(), folder=tmp_path) == {}


def test_a_finished_release_is_remembered_and_fills_the_next_by_a_click(
    released: Outcome, window: Window, qtbot: Any, tmp_path: Path
) -> None:
    purpose = window.study.plan.purpose
    window.study.decide(purpose=Purpose(title="Another", recipient="Somebody"))
    window.go("purpose")
    settle(qtbot, window)
    page = window.page("purpose")
    assert page.form.fill.isVisible() and purpose.organisation in page.form.fill.text()
    qtbot.mouseClick(page.form.fill, Qt.MouseButton.LeftButton)
    settle(qtbot, window)
    now = window.study.plan.purpose
    assert (now.title, now.recipient) == ("Another", "Somebody")
    assert now.legal_basis == purpose.legal_basis and page.fields["approver"].text() == purpose.approver
    assert now.threshold == "" and not page.form.fill.isVisible()
    window.undoing.undo()
    assert window.study.plan.purpose.organisation == ""


def test_what_else_is_made_is_wished_for_by_ticks_and_kept_in_the_plan(page: Any, window: Window) -> None:
    page.also["sav"].click()
    page.also["croissant"].click()
    assert window.study.plan.also == ("sav", "croissant")
    page.also["sav"].click()
    assert window.study.plan.also == ("croissant",)
    window.study.decide(also=("dta",))
    page.enter()
    assert [name for name, box in page.also.items() if box.isChecked()] == ["dta"]
    assert words.say("app.purpose.help.also.title") == page.explain("also").title


@pytest.mark.parametrize("amount", ["1e999", "9999999999999999"])
def test_an_amount_beyond_all_money_is_said_to_be_too_large(
    page: Any, window: Window, qtbot: Any, amount: str
) -> None:
    """It was taken, and every screen that turned it into a level said that something had gone wrong."""
    plan = window.study.plan
    window.study.decide(price=replace(plan.price, compensation=Fraction(500), people=40))
    settle(qtbot, window)
    page._money_decided({"register": Fraction(amount)})
    settle(qtbot, window)
    assert words.say("app.window.unexpected.what") not in window.notice.words()
    assert window.study.plan.price.register == Fraction(amount)
