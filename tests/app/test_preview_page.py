"""The preview: the table that leaves with invented numbers, and what could still prevent a waste."""

from __future__ import annotations

from dataclasses import fields, replace
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QAbstractButton, QLineEdit

from app import words
from app.frame.window import Window
from app.parts.prose import Prose
from app.parts.trial.solution import steps_words
from app.parts.verdict_card import VerdictCard
from app.parts.views.table import TableBody
from app.screens.preview.asks import look_ahead
from app.screens.preview.page import MENDED, ShapeCard
from app.state import flow
from app.theme import theme
from engine import texts
from engine.errors import InputRefused
from engine.ledger import Entry
from engine.methods.catalogue import methods
from engine.methods.filling import Filling
from engine.methods.protocol import Budget, Method, Rows
from engine.release.examples import plans
from engine.release.plan import Plan
from tests.app.test_trial_card import at_trial
from tests.app.walking import SAMPLE, example_plan, settle

THIN = Budget(Fraction(1, 200))
SMALL = {"columns": ["gender"], "extra_cells": "left_out"}


def entry(state: str, reason: str) -> Entry:
    """Return a row of the ledger that ended so."""
    ended = {"state": state, "reason": reason, "running": False, "epsilon": Fraction(1, 4)}
    return Entry(**{one.name: None for one in fields(Entry)} | ended)


def cells(table: TableBody) -> list[list[str]]:
    """Return what a table shows."""
    model = table.model()
    return [
        [str(model.index(row, column).data()) for column in range(model.columnCount())]
        for row in range(model.rowCount())
    ]


def test_after_the_release_it_says_what_was_spent_and_offers_nothing(
    released: Any, window: Window, qtbot: Any
) -> None:
    window.go("release")
    settle(qtbot, window)
    window.go("preview")
    settle(qtbot, window)
    page = window.page("preview")
    assert page.title.text() == "This release is made"
    assert "ε 0.50 is spent for good" in page.subtitle.plain()
    assert words.say("app.preview.unspent") not in page.subtitle.plain()
    assert page.shape.isVisible() and page.commits() == "" and page.guard() is None
    ahead = (*page.numbers.values(), page.entered, page.reasons, page.place, page.undone, page.second)
    assert not any(one.isVisible() for one in ahead)
    assert not window.money.isVisible() and "before the release" in page.explain("").parts[0].body
    assert window.footer.next.text() == "Next" and not window.footer.undo.isEnabled()
    before = window.study.plan
    begun = look_ahead(window.study.plan_as_read, window.study.ledger_path).begun
    assert [one.state for one in begun] == ["complete"]  # so it is known in another session, too
    qtbot.keyClick(window, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    settle(qtbot, window)
    assert window.study.plan is before and "cannot be undone" in window.notice.words()
    window.study.decide(budget=THIN)  # another plan is another release
    page.opened()
    settle(qtbot, window)
    assert page.title.text() != "This release is made" and page.commits()


@pytest.mark.parametrize(
    "state, name", [("complete", "released"), ("withdrawn", "released"), ("failed", "failed")]
)
def test_what_this_very_plan_has_spent_is_said(
    at: Any, window: Window, qtbot: Any, state: str, name: str
) -> None:
    page = at("preview", parameters=SMALL)
    page.ahead = replace(page.ahead, begun=tuple(entry(state, "") for _ in range(2)))
    page.enter()
    assert words.say(f"app.preview.begun.paid.{name}", times=2, epsilon="0.25") in page.subtitle.plain()
    assert words.say("app.preview.unspent") not in page.subtitle.plain()
    page.ahead = replace(page.ahead, begun=(entry("failed", "nobody knows"), entry("spent", "")))
    page.enter()
    assert words.say("app.preview.begun.paid.stopped", times=2, epsilon="0.25") in page.subtitle.plain()


def test_what_a_release_says_of_itself_is_quoted_before_it(at: Any) -> None:
    page = at("preview", parameters=SMALL)
    said = [one.plain() for one in page.shape.findChildren(Prose) if "Noise was added" in one.plain()]
    quoted = words.say("app.preview.shape.says", note="Noise was added to every number.")
    assert said and all(quoted in one for one in said)


@pytest.mark.parametrize("size", [(1366, 768), (911, 512), (1920, 1080)])
def test_what_it_takes_of_the_register_is_in_view(
    at: Any, window: Window, qtbot: Any, size: tuple[int, int]
) -> None:
    window.resize(*size)
    page = at("preview")
    settle(qtbot, window)
    page.verticalScrollBar().setValue(0)
    qtbot.wait(30)
    for name, card in page.numbers.items():
        assert card.isVisible(), name
        number = card.number
        low = number.mapTo(page.viewport(), QPoint(0, number.height())).y()
        assert low <= page.viewport().height(), (name, low, page.viewport().height())


def test_the_table_is_shown_with_invented_numbers(at: Any) -> None:
    page = at("preview", parameters={"columns": ["gender", "readmitted"], "extra_cells": "left_out"})
    assert page.shape.isVisible() and "invented" in page.shape.pill.text()
    table = page.shape.findChild(TableBody, "shape-counts.csv")
    shown = cells(table)
    assert [row[:2] for row in shown] == [
        [gender, later] for gender in ("Female", "Male") for later in ("NO", "<30", ">30")
    ]
    assert {row[3] for row in shown} == {"6"}, "the margins are the true ones"
    assert "6 people" in page.exact_words.plain() and page.exact_words.plain().count("Count") == 1
    assert page.verdict.property("card") != "care"


def test_a_useless_release_offers_the_remedy_and_asks_before_it_goes_as_it_is(
    at: Any, window: Window, qtbot: Any
) -> None:
    price = replace(Plan.read(SAMPLE / "plan.json").price, largest_error=None)
    page = at("preview", budget=THIN, price=price)
    assert page.verdict.isVisible() and page.verdict.property("card") == "care"
    assert (
        "no information" in page.verdict.sentence.plain() and "will be noise" in page.verdict.heading.text()
    )
    footer, before = window.footer, window.study.plan
    assert footer.next.property("look") == "primary" and footer.next.text().startswith("Leave out")
    assert footer.other.isVisible() and "as it is" in footer.other.text()
    footer.other.click()
    assert footer.asks and footer.not_yet.hasFocus() and not footer.next.isVisible()
    assert "no information" in footer.asked_more.plain() and window.step == "preview"
    qtbot.keyClick(footer.not_yet, Qt.Key.Key_Space)
    assert not footer.asks and footer.next.isVisible() and not window.study.release_asked
    footer.next.click()  # the remedy, not the release
    settle(qtbot, window)
    assert window.step == "preview" and window.study.plan != before and not window.study.release_asked
    window.study.undo()
    page.opened()
    settle(qtbot, window)
    footer.other.click()
    footer.commit.click()
    assert window.step == "release"
    qtbot.waitUntil(lambda: not window.runner.busy("release"), timeout=60_000)


@pytest.mark.parametrize(("register", "asks"), [("2", False), ("1.9", True), ("0.5", True)])
def test_more_than_a_quarter_of_what_is_left_is_asked_in_the_footer(
    at: Any, window: Window, qtbot: Any, register: str, asks: bool
) -> None:
    at("preview", holding_budget=Budget(Fraction(register)))
    footer = window.footer
    footer.next.click()
    assert footer.asks == asks
    if asks:
        assert window.step == "preview" and footer.not_yet.hasFocus() and "ε 0.50" in footer.asked.text()
        assert ("All" in footer.asked_more.plain()) == (register == "0.5")
        qtbot.keyClick(footer.not_yet, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
        qtbot.keyClick(footer.not_yet, Qt.Key.Key_Right, Qt.KeyboardModifier.AltModifier)
        assert window.step == "preview" and not window.study.release_asked
        window.study.decide(purpose=replace(window.study.plan.purpose, title="Another"))
        assert not footer.asks, "it was about another plan"
        settle(qtbot, window)
        footer.next.click()
        assert footer.asks
        footer.commit.click()
    assert window.step == "release"
    qtbot.waitUntil(lambda: not window.runner.busy("release"), timeout=60_000)


def test_a_column_that_names_people_stands_before_noise_and_the_remedy_stays(
    at: Any, window: Window, qtbot: Any
) -> None:
    price = replace(Plan.read(SAMPLE / "plan.json").price, largest_error=None)
    page, footer = at("preview", budget=THIN, price=price), window.footer
    noise = page.verdict.heading.text()
    page.ahead = replace(page.ahead, named={"names_people:ward": {"column": "ward", "why": "each_row"}})
    page._show_ahead(page.ahead.preview)
    card = page.verdict
    assert card.property("card") == "wrong" and "names people" in card.heading.text()
    said = card.sentence.plain()
    assert said.index("ward") < said.index(noise), "worst first"
    found = [one for one in card.findChildren(QAbstractButton) if one.objectName().startswith("remedy-")]
    assert found and all(one.isVisible() for one in found)
    assert footer.next.text().startswith("Leave out"), "the remedy first"
    footer.other.click()
    assert footer.asks and "name" in footer.asked.text()
    more = footer.asked_more.plain()
    assert more.index("ward") < more.index("no information"), "both are asked, the worse first"


@pytest.mark.parametrize("code", sorted(one for codes in MENDED.values() for one in codes))
def test_a_refusal_leads_to_where_it_is_mended(at: Any, window: Window, qtbot: Any, code: str) -> None:
    page = at("preview")
    step = next(step for step, codes in MENDED.items() if code in codes)
    pattern = " ".join(texts.catalogue()[f"errors.{code}.{part}"] for part in ("what", "do"))
    values = dict.fromkeys(texts.placeholders(pattern), "x")
    refused = replace(page.ahead.preview, problems=(InputRefused(code, **values),))
    window.study.store("ledger", refused, window.study.plan)
    page.enter()
    assert page.wrong.isVisible() and [name for name, one in page.mend.items() if one.isVisible()] == [step]
    qtbot.mouseClick(page.mend[step], Qt.MouseButton.LeftButton)
    settle(qtbot, window)
    assert window.step == step


@pytest.mark.parametrize("look", ["light", "dark"])
def test_what_names_people_is_asked_in_red_and_money_in_amber(
    at: Any, window: Window, qtbot: Any, look: str
) -> None:
    page, footer = at("preview", holding_budget=Budget(Fraction("0.5"))), window.footer
    theme.choose(look)
    named = {"names_people.ward": {"column": "ward"}}
    for found, ground in ((named, "wrong_soft"), ({}, "care_soft"), (named, "wrong_soft")):
        page.ahead = replace(page.ahead, named=found)
        footer.next.click()
        assert footer.asks and ("ward" in footer.asked_more.plain()) == bool(found)
        qtbot.wait(1)
        shown = footer.grab().toImage().pixelColor(4, footer.height() // 2)
        assert shown == QColor(getattr(theme.tokens(), ground))
        footer.not_yet.click()


@pytest.mark.parametrize("method", ["datasets.k_anonymity", "datasets.pseudonyms"])
def test_the_verdict_stands_above_releases_without_cells_too(
    window: Window, qtbot: Any, tmp_path: Path, method: str
) -> None:
    window.study.open_plan(example_plan(method, tmp_path))
    window.study.replace_questions(frozenset())
    for step in ("load", "columns", "risk", "preview"):
        window.go(step)
        settle(qtbot, window)
    page = window.page("preview")
    assert window.step == "preview" and page.verdict.isVisible() and page.verdict.sentence.plain()
    assert not page.sentence.isVisible(), "what is promised is said once"
    for step in ("terms" if "terms" in flow.path(window.study.state) else "risk", "preview"):
        window.go(step)
        settle(qtbot, window)
    inside = window.focusWidget()
    assert inside is page or page.isAncestorOf(inside), "seen again, the focus stays on the page"


@pytest.mark.parametrize(("register", "said"), [("0.25", "more"), ("0.5", "all"), ("0.8", "half"), ("2", "")])
def test_a_release_that_takes_its_whole_register_says_so(
    at: Any, window: Window, qtbot: Any, register: str, said: str
) -> None:
    """On the page and in the block at the left, in words and not by the number alone."""
    page = at("preview")
    window.study.decide(holding_budget=Budget(Fraction(register)))  # Budget lets nobody on with too little
    page.opened()
    settle(qtbot, window)
    after, block = page.numbers["after"], window.side.register.takes
    assert (after.number.property("tone") or "") == {"more": "wrong", "": ""}.get(said, "care")
    warned = "This release" in block.plain()  # how much it takes stands there beside
    assert ("takes" in after.sentence.plain()) == bool(said) == warned
    if said:
        expected = {"more": "more than is left", "all": "all that is left", "half": "more than half"}[said]
        assert expected in after.sentence.plain() and expected in block.plain()
        assert ("0.00 stay" in block.plain()) == (said == "all"), "what is refused takes nothing"
        assert block.plain() in window.side.register.accessibleName()
    else:
        assert "This release" not in window.side.register.accessibleName()


def test_a_folder_is_named_by_the_title_that_stands(at: Any, window: Window, qtbot: Any) -> None:
    page = at("preview")
    plan = window.study.plan
    window.go("purpose")
    settle(qtbot, window)
    window.study.decide(purpose=replace(plan.purpose, title="Another request"))
    window.go("preview")
    settle(qtbot, window)
    assert "another-request" in page.folder.text()
    own = str(Path(page.folder.text()).with_name("of-my-own"))
    page.folder.setText(own)
    page.folder.editingFinished.emit()
    window.go("purpose")
    window.study.decide(purpose=replace(plan.purpose, title="A third one"))
    window.go("preview")
    settle(qtbot, window)
    assert page.folder.text() == own, "what somebody chose stays"


def test_a_remedy_changes_the_plan_and_is_looked_at(at: Any, window: Window, qtbot: Any) -> None:
    page = at("preview", budget=THIN)
    share = page.ahead.verdict.share
    remedies = [one for one in page.verdict.findChildren(QAbstractButton) if "remedy" in one.objectName()]
    without = next(one for one in remedies if "remedy-without" in one.objectName())
    before = window.study.plan.parameters["columns"]
    without.click()
    settle(qtbot, window)
    assert len(window.study.plan.parameters["columns"]) == len(before) - 1
    assert page.ahead.verdict.share > share and window.step == "preview"


def test_the_way_to_what_would_help_is_a_link(at: Any, window: Window, qtbot: Any) -> None:
    page = at("preview", budget=THIN)
    page.verdict.findChild(QAbstractButton, "jump-budget").click()
    settle(qtbot, window)
    assert window.step == "budget"


@pytest.mark.parametrize("name", ["over_money", "over_error"])
def test_going_beyond_what_was_stated_asks_for_a_reason(
    at: Any, window: Window, qtbot: Any, name: str
) -> None:
    price = Plan.read(SAMPLE / "plan.json").price
    changed = {"over_money": {"budget": Fraction(1000)}, "over_error": {"largest_error": Fraction(1, 2)}}
    page = at("preview", price=replace(price, **changed[name]))
    field = page.reasons.findChild(QLineEdit, f"reason-{name}")
    assert page.reasons.isVisible() and field is not None
    window.footer.next.click()
    assert window.step == "preview" and "reason" in window.notice.words()
    qtbot.keyClicks(field, "Agreed with the board")
    field.editingFinished.emit()
    recorded = {one["decision"]: one["reason"] for one in window.study.plan.decisions}
    assert recorded[name] == "Agreed with the board"
    assert page.ahead.preview is not None and page.shape.isVisible(), "a reason changes nothing else"


@pytest.mark.parametrize("size", [(1366, 768), (911, 512)])
def test_a_reason_that_a_release_waits_for_is_asked_where_it_is_read(
    at: Any, window: Window, qtbot: Any, size: tuple[int, int]
) -> None:
    window.resize(*size)
    price = Plan.read(SAMPLE / "plan.json").price
    page = at("preview", price=replace(price, largest_error=Fraction(1, 2)))
    field = page.reasons.findChild(QLineEdit, "reason-over_error")
    below = field.mapTo(page.viewport(), field.rect().bottomLeft()).y()
    assert below <= page.viewport().height(), (below, page.viewport().height())
    assert window.footer.next.property("waiting") and window.footer.waits.plain()
    page.verticalScrollBar().setValue(page.verticalScrollBar().maximum())
    window.footer.next.click()
    settle(qtbot, window)
    assert field.hasFocus() and field.visibleRegion().boundingRect() == field.rect()
    qtbot.wait(10)  # a turn later, as it is when somebody has read what was said
    qtbot.keyClicks(field, "Agreed with the board")
    qtbot.keyClick(field, Qt.Key.Key_Return)
    settle(qtbot, window)
    assert not window.footer.next.property("waiting") and not window.notice.words()


def test_a_useless_level_is_said_on_the_budget_too(at: Any, window: Window, qtbot: Any) -> None:
    page = at("budget")
    settle(qtbot, window)
    assert not page.verdict.isVisible()
    page = at("budget", budget=THIN)
    settle(qtbot, window)
    assert page.verdict.isVisible() and "no information" in page.verdict.sentence.plain()
    page.verdict.findChild(QAbstractButton, "jump-columns").click()
    settle(qtbot, window)
    assert window.step == "columns"


def test_a_table_without_a_forecast_has_the_whole_width(window: Window, qtbot: Any, tmp_path: Path) -> None:
    window.study.open_plan(example_plan("datasets.pseudonyms", tmp_path))
    for step in flow.path(window.study.state):
        window.go(step)
        settle(qtbot, window)
        if step == "preview":
            break
    page = window.page("preview")
    assert page.exact.isHidden() and page.shape.width() == page.sentence.width() == page.entered.width()


def test_what_is_said_beside_the_table_begins_where_it_begins(at: Any) -> None:
    page = at("preview", parameters={"columns": ["gender", "readmitted"], "extra_cells": "left_out"})
    assert page.exact.isVisible() and page.exact.x() > page.shape.x() + page.shape.width() // 2
    assert page.exact.y() == page.shape.y()


@pytest.mark.parametrize("few", [True, False])
def test_invented_rows_are_tried_before_they_are_paid_for(
    window: Window, qtbot: Any, tmp_path: Path, few: bool
) -> None:
    """A sentence says what can be released usefully, another how far off it was on invented people."""
    plan = example_plan("datasets.network", tmp_path)
    window.study.open_plan(plan)
    window.study.decide(budget=replace(plan.budget, epsilon=Fraction(1, 20) if few else Fraction(1, 2)))
    for step in flow.path(window.study.state):
        window.go(step)
        settle(qtbot, window)
        if step == "preview":
            break
    page = window.page("preview")
    about = f"{plan.parameters['about_rows']:,}"
    assert page.verdict.sentence.plain().startswith(f"With about {about} rows and ε = ")
    assert ("only single columns" in page.verdict.sentence.plain()) == few
    said = page.shape.findChild(Prose, "shape-kept").plain()
    assert f"{about} invented people" in said and ("is lost" in said) == few


def test_the_noise_of_a_model_is_measured_before_it_is_spent(
    at: Any, window: Window, qtbot: Any, tmp_path: Path, monkeypatch: Any
) -> None:
    page = at("preview")
    assert not page.audit.isVisible(), "only models are audited"
    plan = example_plan("models.naive_bayes", tmp_path)
    page = at(
        "preview",
        **{name: getattr(plan, name) for name in ("method", "files", "schemas")},
        parameters=dict(plan.parameters),
        budget=plan.budget,
        preparation=plan.preparation,
    )
    assert page.audit.isVisible() and "No row" in page.audit.told.plain()
    page.audit.ask.click()
    qtbot.waitUntil(lambda: "ε =" in page.audit.told.plain(), timeout=60_000)
    assert "not more than promised" in page.audit.told.plain() and page.audit.property("card") == ""
    window.study.decide(budget=Budget(Fraction(1, 2)))
    page.enter()
    assert "ε =" not in page.audit.told.plain(), "an answer is about its own plan"


@pytest.mark.parametrize("asked", methods(), ids=lambda one: one.id)
def test_a_true_shape_is_claimed_only_where_it_follows_from_declarations(
    asked: Method, window: Window, qtbot: Any
) -> None:
    """A mock whose rows, steps or hidden cells would be others on the custodian's rows does not claim it."""
    found = look_ahead(plans(asked)[0], None)
    if found.preview.promise is None:
        pytest.skip("what others protected has no preview of its own")
    bounded = found.preview.promise.loss is not None
    page = window.page("preview")
    page.ahead = found
    window.study.decide(method=asked.id)
    page._show_ahead(found.preview)
    says_true = "true shape" in page.shape.pill.text()
    assert says_true == bounded
    assert page.shape.note.isHidden() == bounded
    if asked.rows in (Rows.REAL, Rows.COARSER):
        assert not says_true and "follow from your rows" in page.shape.note.plain()


@pytest.mark.parametrize("asked", methods(), ids=lambda one: one.id)
def test_nobody_is_told_that_a_level_is_spent_where_none_is(
    asked: Method, window: Window, qtbot: Any
) -> None:
    """Also where people protected their own answers: their bound is not paid from a register."""
    page = window.page("preview")
    window.study.decide(method=asked.id)
    page._show_words()
    pays = flow.spends(asked) and window.study.is_bounded
    assert ("budget is spent" in page.undone_words.plain()) == pays
    helped = page.explain("")
    assert any("paid for again" in part.body for part in helped.parts) == pays


def test_what_is_explained_of_a_verdict_is_of_its_kind(window: Window, qtbot: Any) -> None:
    """Cells are counted in tables; a way of releasing that judges itself has no cells."""
    page = window.page("preview")
    for method_id, cells_counted in (("statistics.counts", True), ("datasets.network", False)):
        asked = next(one for one in methods() if one.id == method_id)
        page.ahead = look_ahead(plans(asked)[0], None)
        assert page.ahead.verdict is not None
        told = " ".join(part.body for part in page.explain("verdict").parts)
        assert ("How many cells" in told) == cells_counted and told


def test_the_steps_that_were_tried_stand_beside_invented_rows(
    window: Window, qtbot: Any, tmp_path: Path
) -> None:
    page = at_trial(window, qtbot, "datasets.k_anonymity", tmp_path)
    shown = page.trial._found.answers[0]
    window.page("preview")._show_ahead(look_ahead(window.study.plan, None).preview)
    note = window.page("preview").shape.note.plain()
    assert steps_words(shown, shown.candidates[shown.taken]) in note


def test_what_an_attack_on_the_rows_reads_stands_beside_features_of_them(
    window: Window, qtbot: Any, tmp_path: Path
) -> None:
    page = at_trial(window, qtbot, "datasets.features", tmp_path)
    (view,) = page.trial.card._views.values()
    preview, study = window.page("preview"), window.study
    preview.ahead = look_ahead(study.plan, None, (), study.table)
    preview._show_ahead(preview.ahead.preview)
    said = preview.attack_words.plain()
    assert said == view.said.plain() and "reads “time_in_hospital” rightly for" in said
    assert not preview.attack.isHidden()
    preview._show_words()
    assert "Only for the attack were your rows read" in preview.subtitle.plain()
    preview._show_ahead(look_ahead(study.plan, None).preview)  # nothing is said of other rows
    assert preview.attack.isHidden()


def test_what_is_to_be_chosen_with_open_eyes_stands_in_amber(qtbot: Any) -> None:
    """However exact a survey is: what made-up reports move far, as a number."""
    found = plans(next(one for one in methods() if one.id == "exchanges.survey"))
    card = VerdictCard()
    qtbot.addWidget(card)
    for place, tone in ((2, "care"), (0, "accent")):
        judged = next(one for one in methods() if one.id == "exchanges.survey")(found[place].request).judged(
            None
        )
        assert not judged.is_useless
        card.show_verdict(judged)
        assert card.property("card") == tone and card.silent.isHidden() == (tone == "accent")
        if tone == "care":
            assert f"up to {judged.care.values['points']:g} percentage points" in card.silent.plain()
            assert card.silent.plain() in card.accessibleName()


@pytest.mark.parametrize(
    ("silent", "said"),
    [(6, "Most of what this says would be noise."), (0, "Up to 6 of 6 cells can be read.")],
)
def test_a_verdict_counts_no_nothing(qtbot: Any, silent: int, said: str) -> None:
    """Where only people whom nobody has leave all cells silent, none is counted before."""
    card = VerdictCard()
    qtbot.addWidget(card)
    filled = Filling(1_200, 1_200, 6, 28.0, silent_tried=silent)
    assert filled.below == 0 and filled.is_useless == bool(silent)
    card.show_verdict(filled)
    assert card.heading.text() == said


def test_numbers_do_not_crowd_each_other_out(qtbot: Any, runner: Any) -> None:
    """What all times of a survey prove stands beside what one proves, whatever tables are drawn."""
    found = plans(next(one for one in methods() if one.id == "exchanges.survey"))[0]
    request = replace(found, parameters={**found.parameters, "waves": 3}).request
    released = next(one for one in methods() if one.id == "exchanges.survey")(request).run({}, None)
    card = ShapeCard(runner)
    qtbot.addWidget(card)
    mock = SimpleNamespace(artefacts=(), views=released.views, kept=None)
    card.show_shape(mock, rows=Rows.NONE)
    said = [one.plain() for one in card.findChildren(Prose)]
    assert [one for one in said if one.startswith("Reports of all times prove at most: ")]
