"""The releases screen, and what the report says of a decision, through what a person uses."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QLineEdit, QPushButton

from app import words
from app.frame.window import Window
from app.parts.prose import Prose
from app.state import draft
from app.state.settings import Settings
from app.theme import text_font
from app.work.releasing import Outcome, Watch
from app.work.releasing import release as make_release
from engine.ledger import Ledger
from engine.release import signing
from engine.release.signature import in_groups
from tests.app.hands import Hands
from tests.app.walking import missing_texts, settle, write


def test_releases_are_listed_withdrawn_and_opened_again(
    released: Outcome, window: Window, qtbot: Any, tmp_path: Path
) -> None:
    window.go("releases")
    settle(qtbot, window)
    page = window.page("releases")
    model = page.table.model()
    row = [model.index(0, column).data() for column in range(model.columnCount())]
    assert row[0] == "Readmission by age and gender" and row[3] == "31 December 2027"
    assert row[4:] == ["0.50", words.say("app.releases.state.complete")]
    assert page.left.bars[0].value == "ε\u00a01.50"
    page.table.selectRow(0)
    assert not page.withdraw.isEnabled(), "a reason is asked for"
    qtbot.keyClicks(page.reason, "Wrong recipient")
    qtbot.mouseClick(page.withdraw, Qt.MouseButton.LeftButton)
    settle(qtbot, window)
    ledger = Ledger(window.study.ledger_path)
    assert [entry.state for entry in ledger.entries()] == ["withdrawn"]
    assert ledger.status("Diabetes register (sample)").epsilon_spent == Fraction(1, 2), "nothing is refunded"
    assert page.table.model().index(0, 5).data() == words.say("app.releases.state.withdrawn")
    page._verify(str(tmp_path / "out"))
    settle(qtbot, window)
    assert page.verify.answer.text().startswith("Yes.")
    page._again(str(tmp_path / "out"))
    settle(qtbot, window)
    assert window.step == "load"
    plan = window.study.plan
    assert (
        plan.method == "statistics.counts"
        and plan.files == {}
        and plan.holding == "Diabetes register (sample)"
    )
    assert window.study.result("bundle") is None


def test_a_release_whose_folder_is_known_is_verified_without_asking_for_it(
    released: Outcome, window: Window, qtbot: Any, tmp_path: Path
) -> None:
    window.go("releases")
    settle(qtbot, window)
    page = window.page("releases")
    asked: list[Any] = []
    page._ask = asked.append
    page.verify.button.click()
    assert len(asked) == 1, "no release is selected"
    page.table.selectRow(0)
    known = page._folder()
    if known is None:  # made by an earlier session: only where files are to be remembered
        window.settings.keep_list(True)
        window.settings.remember_bundle(released.bundle.entry, str(tmp_path / "out"))
        page._select(0)
    assert page.verify.button.text() == words.say("app.releases.verify_known")
    page.verify.button.click()
    settle(qtbot, window)
    assert page.verify.answer.text().startswith("Yes.") and len(asked) == 1


def test_folders_are_remembered_only_where_files_are(tmp_path: Path) -> None:
    from app.state.settings import Settings

    (tmp_path / "out" / "release").mkdir(parents=True)
    settings = Settings(tmp_path)
    settings.remember_bundle("entry", str(tmp_path / "out"))
    assert settings.bundle("entry") is None
    settings.keep_list(True)
    settings.remember_bundle("entry", str(tmp_path / "out"))
    assert Settings(tmp_path).bundle("entry") == tmp_path / "out"
    settings.keep_list(False)
    assert Settings(tmp_path).bundle("entry") is None


def test_a_release_of_an_earlier_session_is_opened_from_the_start_page(
    released: Outcome, window: Window, make_window: Any, qtbot: Any, tmp_path: Path
) -> None:
    """Asked for on the report; the other window has nothing of the session but what is remembered."""
    plan = window.study.plan
    window.go("report")
    settle(qtbot, window)
    page = window.page("report")
    assert not page.keep.isChecked()
    qtbot.mouseClick(page.keep, Qt.MouseButton.LeftButton, pos=QPoint(8, page.keep.height() // 2))
    assert page.keep.isChecked()
    window.save_draft()  # what a pause does, too
    later = make_window()
    later.settings = Settings(window.settings.path.parent)
    later.study.ledger_path = window.study.ledger_path
    later.page("start").enter()
    settle(qtbot, later)
    before = later.study.plan
    assert Hands(qtbot, later).part(QPushButton, "release-1").text() == "out"
    Hands(qtbot, later).click("release-1")
    assert later.step == "report" and later.study.plan == replace(plan, files={})
    assert "Readmission by age and gender" in later.page("report").page.toPlainText()
    later.save_draft()
    assert [one.table for one in draft.drafts(folder=later.data)] == ["diabetes_encounters.csv"]
    later.go("release")
    settle(qtbot, later)
    assert later.step == "release"
    Hands(qtbot, later).click("further-tables")
    assert later.page("release").views.views
    later.go("releases")
    settle(qtbot, later)
    releases = later.page("releases")
    releases.table.selectRow(0)
    assert releases.report.text() == words.say("app.releases.show_report_known")
    later.undoing.undo()
    settle(qtbot, later)
    assert later.study.plan == before
    qtbot.mouseClick(releases.report, Qt.MouseButton.LeftButton)
    settle(qtbot, later)
    assert later.step == "report" and len(later.study.finished) == 1


def test_a_folder_that_is_no_bundle_is_refused_in_words(window: Window, qtbot: Any, tmp_path: Path) -> None:
    window.go("releases")
    settle(qtbot, window)
    page = window.page("releases")
    assert page.nothing.isVisible() and not page.table.isVisible()
    page._verify(str(tmp_path))
    settle(qtbot, window)
    assert "is not a bundle" in window.notice.words()
    page._again(str(tmp_path))
    settle(qtbot, window)
    assert "is not a bundle" in window.notice.words() and window.step == "releases"


def test_releases_are_not_cut_and_have_their_three_texts(
    released: Outcome, window: Window, qtbot: Any
) -> None:
    window.go("releases")
    settle(qtbot, window)
    page = window.page("releases")
    assert window.width() == 1366
    model, metrics = page.table.model(), QFontMetrics(text_font())
    assert model.rowCount() == 1
    for column in range(model.columnCount()):
        room = page.table.columnWidth(column) - 24
        text = model.index(0, column).data()
        place = metrics.boundingRect(0, 0, room, 1000, int(Qt.TextFlag.TextWordWrap), text)
        assert place.width() <= room and place.height() <= page.table.rowHeight(0), text
        head = model.headerData(column, Qt.Orientation.Horizontal)
        assert QFontMetrics(text_font(12, 600)).horizontalAdvance(head) <= room, head
    whole = page.table.horizontalHeader().length()
    assert page.table.viewport().width() - 6 <= whole <= page.table.viewport().width()
    assert page.left.bars[0].share == 0.25, (
        "filled is what is spent, as in the block at the left and on Visit"
    )
    for number in (page.left, page.table):
        assert missing_texts(page, [number]) == []


ENDS_IN_THE_MIDDLE = """
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from engine.ledger import Ledger
from engine.release import signing
from engine.release.signature import in_groups
from engine.privacy.mechanisms import DiscreteLaplace
from engine.privacy.promise import Loss, Neighbours, Promise, Unit

def compose(parts):
    return sum((Fraction(part["epsilon"]) for part in parts), Fraction(0)), Fraction(0)

ledger = Ledger(Path(sys.argv[1]))
event = DiscreteLaplace(Fraction(4, 3), Fraction(1))
guarantee = Promise(
    "pure_dp", Loss(Fraction(3, 4), Fraction(0), Neighbours.ADD_REMOVE, event), Unit.PERSON, 1
)
entry = ledger.reserve(
    "Patients", plan_fingerprint="0" * 64, title="Ended in the middle", recipient="University of Example",
    guarantee_json=guarantee.to_json(), epsilon="3/4", delta=0, unit="person", neighbours="add_remove",
    compose=compose,
)
if sys.argv[2]:
    ledger.spend(entry)
"""


@pytest.mark.parametrize("noise", [False, True])
def test_what_the_program_left_unclear_is_resolved(window: Window, qtbot: Any, noise: bool) -> None:
    ledger = Ledger(window.study.ledger_path)
    ledger.create_holding("Patients", unit="person", neighbours="add_remove", epsilon="3")
    # A process of its own, which ends in the middle.
    ended = [
        sys.executable,
        "-c",
        ENDS_IN_THE_MIDDLE,
        str(window.study.ledger_path),
        "noise" if noise else "",
    ]
    subprocess.run(ended, check=True, timeout=60, cwd=Path(__file__).parents[2])
    window.go("releases")
    settle(qtbot, window)
    page = window.page("releases")
    page.table.selectRow(0)
    assert page.table.model().index(0, 5).data() == words.say("app.releases.state.abandoned")
    assert page.resolve.isVisible() and not page.withdraw.isVisible() and not page.resolve.isEnabled()
    assert words.say("app.releases.abandoned_words") in page.chosen_words.plain()
    qtbot.keyClicks(page.reason, "The power failed")
    qtbot.mouseClick(page.resolve, Qt.MouseButton.LeftButton)
    settle(qtbot, window)
    (found,) = ledger.entries()
    assert (found.state, found.reason) == ("failed" if noise else "freed", "The power failed")
    assert page.left.bars[0].value == ("ε\u00a02.25" if noise else "ε\u00a03.00")
    assert page.table.model().index(0, 5).data() == words.say(f"app.releases.state.{found.state}")


def test_the_defended_point_is_printed_in_the_report(
    at: Any, window: Window, qtbot: Any, tmp_path: Path
) -> None:
    page = at("budget", parameters={"columns": ["gender"], "extra_cells": "left_out"})
    page.further.unfold()
    write(qtbot, page.further.at, "1")
    write(qtbot, page.further.share, "10")
    page.further.use.click()
    plan, out = window.study.plan, tmp_path / "out"
    outcome = make_release(plan, out, watch=Watch(), ledger_path=window.study.ledger_path)
    assert outcome.error is None
    report = (out / "internal" / "report-internal.html").read_text(encoding="utf-8").replace("\u00a0", " ")
    assert "at ε = 1 a share of 0.1 of the liability is accepted" in report
    outside = (out / "release" / "report-external.html").read_text(encoding="utf-8")
    assert "was defended" in report and "was defended" not in outside, "money and its reasons stay inside"


def test_the_budget_of_a_register_is_changed_with_a_reason(
    released: Outcome, window: Window, qtbot: Any
) -> None:
    before = window.study.plan
    window.go("releases")
    settle(qtbot, window)
    card = window.page("releases").register
    said = card.figures.plain()
    assert "Budget ε 2.00, spent 0.50, left 1.50; releases: 1." in said
    assert "at most 88.1\u00a0% sure" in said, said  # e² / (1 + e²)
    qtbot.mouseClick(card.change.line, Qt.MouseButton.LeftButton)
    write(qtbot, card.change.fields["epsilon"], "3")
    assert not card.change.button.isEnabled(), "a reason is asked for"
    qtbot.keyClicks(card.change.reason, "Decision 7 of the board")
    qtbot.mouseClick(card.change.button, Qt.MouseButton.LeftButton)
    settle(qtbot, window)
    ledger = Ledger(window.study.ledger_path)
    assert ledger.holding("Diabetes register (sample)").epsilon == 3
    assert ledger.journal()[-1]["details"]["reason"] == "Decision 7 of the board"
    assert "left 2.50" in card.figures.plain()
    assert "ε from 2 to 3" in card.changes.plain() and "Decision 7 of the board" in card.changes.plain()
    assert not card.change.form.isVisible()
    assert window.study.plan == before, "the ledger is no edit of the plan"


def test_a_budget_below_what_was_spent_is_refused_in_words(
    released: Outcome, window: Window, qtbot: Any
) -> None:
    window.go("releases")
    settle(qtbot, window)
    change = window.page("releases").register.change
    change.line.setChecked(True)
    write(qtbot, change.fields["epsilon"], "lots")
    change.reason.setText("Less")
    qtbot.mouseClick(change.button, Qt.MouseButton.LeftButton)
    assert change.wrong.isVisible() and words.say("app.releases.new_budget.epsilon") in change.wrong.plain()
    write(qtbot, change.fields["epsilon"], "0.25")
    qtbot.mouseClick(change.button, Qt.MouseButton.LeftButton)
    settle(qtbot, window)
    assert "cannot be lowered" in window.notice.words() and "0.5" in window.notice.words()
    assert Ledger(window.study.ledger_path).holding("Diabetes register (sample)").epsilon == 2


def test_a_passphrase_is_handed_on_as_it_was_written_and_not_kept(window: Window, qtbot: Any) -> None:
    """What locks here is asked for on other screens, which take every blank as it is written."""
    window.go("releases")
    settle(qtbot, window)
    page, written, heard = window.page("releases"), " four words and more ", []
    key, people, behind = page.register.key, page.register.people, page.behind
    for fold in (key, people):
        fold.wanted.disconnect()
        fold.wanted.connect(lambda what, said: heard.append(said))
        for field in fold.fields.values():
            field.setText(written)
    key.buttons["lock"].click()
    people.buttons["sign_in"].click()
    for field in behind.fields.values():
        field.setText(written)
    heard.append(behind.asked())
    secrets = [
        (name, said[name])
        for said in heard
        for name in ("opens", "locks", "passphrase", "new", "again")
        if name in said
    ]
    assert len(heard) == 3 and len(secrets) == 6 and {said for _, said in secrets} == {written}
    kept = [field for part in (key, people, behind) for field in part.fields.values()]
    hidden = [field for field in kept if field.echoMode() is QLineEdit.EchoMode.Password]
    assert len(hidden) == 7 and not any(field.text() for field in hidden)
    assert {said["reason"] for said in heard} == {written.strip()}


def test_a_signing_key_is_locked_changed_and_asked_for_where_it_is_needed(
    released: Outcome, window: Window, qtbot: Any, tmp_path: Path
) -> None:
    ledger = Ledger(window.study.ledger_path)
    (holding,) = ledger.holdings()
    first = signing.open_key(ledger, holding)
    window.go("releases")
    settle(qtbot, window)
    page, key = window.page("releases"), window.page("releases").register.key
    key.line.click()
    assert in_groups(first.fingerprint) in key.said.plain() and key.fields["opens"].isHidden()
    page._do_with_key("sheets", {"opens": ""}, str(tmp_path / "sheets"))
    settle(qtbot, window)
    assert {path.name for path in (tmp_path / "sheets").iterdir()} >= {"signing-key.pdf", "verify.html"}
    key.line.setChecked(True)
    key.fields["locks"].setText("four words and more")
    qtbot.mouseClick(key.buttons["lock"], Qt.MouseButton.LeftButton)
    settle(qtbot, window)
    assert signing.state(ledger, holding)["locked"] and not key.fields["locks"].text()
    key.line.setChecked(True)
    assert not key.fields["opens"].isHidden() and not key.buttons["renew"].isEnabled()
    key.fields["opens"].setText("four words and more")
    key.fields["reason"].setText("a new officer")
    qtbot.mouseClick(key.buttons["renew"], Qt.MouseButton.LeftButton)
    settle(qtbot, window)
    assert signing.open_key(ledger, holding, "four words and more").earlier
    outcome = make_release(
        window.study.plan, tmp_path / "more", watch=Watch(), ledger_path=window.study.ledger_path
    )
    assert outcome.error is not None and outcome.error.code == "signing.passphrase" and not outcome.state
    field = window.page("release").signing
    assert field.isHidden()
    field.ask_after(outcome.error)
    assert not field.isHidden()
    qtbot.keyClicks(field, "four words and more")
    outcome = make_release(
        window.study.plan,
        tmp_path / "more",
        watch=Watch(),
        ledger_path=window.study.ledger_path,
        signing=field.taken(),
    )
    assert outcome.state == "complete" and not field.text()
    card = page.verify
    said = lambda: " ".join(one.plain() for one in card.findChildren(Prose) if one.isVisibleTo(card))  # noqa: E731
    card.fingerprint.setText("0" * 39)
    page._verify(str(tmp_path / "more"))
    qtbot.waitUntil(lambda: words.say("app.verify.known_wrong") in said())
    for written, passes in ((in_groups(first.fingerprint).upper(), True), ("0" * 40, False)):
        card.fingerprint.setText(written)
        page._verify(str(tmp_path / "more"))
        settle(qtbot, window)
        assert card.answer.text().startswith("Yes." if passes else "No.")
    assert "trusted" not in said()
