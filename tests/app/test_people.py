"""The people of a register in the window: named, signed in, and a release of two from request to bundle."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox

from app import words
from app.frame.window import Window
from app.work.releasing import Outcome
from engine.ledger import Ledger, staff
from engine.privacy import keys
from tests.app.walking import missing_texts, settle

WORDS = "a long passphrase"


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stretch passphrases less: how long that takes is not what is tried here."""
    monkeypatch.setattr(keys, "_ARGON2", {"iterations": 1, "lanes": 1, "memory_cost": 64})


@pytest.fixture
def page(released: Outcome, window: Window, qtbot: Any) -> Any:
    window.go("releases")
    settle(qtbot, window)
    found = window.page("releases")
    found.register.people.line.click()
    return found


def press(page: Any, what: str, window: Window, qtbot: Any, **written: str) -> None:
    """Fill fields of the people, and press a button."""
    people = page.register.people
    for field, text in written.items():
        people.fields[field].setText(text)
    assert people.buttons[what].isVisible() and people.buttons[what].isEnabled()
    qtbot.mouseClick(people.buttons[what], Qt.MouseButton.LeftButton)
    settle(qtbot, window)


def sign_in(page: Any, name: str, window: Window, qtbot: Any) -> None:
    people = page.register.people
    if people.buttons["sign_out"].isVisible():
        press(page, "sign_out", window, qtbot)
    people.choices["person"].setCurrentText(name)
    press(page, "sign_in", window, qtbot, passphrase=f"{WORDS} {name}")


def test_without_persons_the_page_says_so_and_asks_for_one_who_approves(page: Any) -> None:
    people = page.register.people
    assert people.said.plain() == words.say("app.staff.nobody")
    assert people.choices["role"].currentData() == "approve" and not people.choices["role"].isEnabled()
    assert not people.here.isVisible() and not people.grown.isVisible() and not people.two.isVisible()
    assert words.say("app.staff.limits")
    people.fields["name"].setText("Ada")
    people.fields["new"].setText("one passphrase")
    people.fields["again"].setText("another one")
    assert not people.buttons["name"].isEnabled()


def test_a_release_of_two_from_naming_to_the_bundle(
    page: Any, window: Window, qtbot: Any, tmp_path: Path, at: Any
) -> None:
    people, ledger = page.register.people, Ledger(window.study.ledger_path)
    for name, role in (("Ada", "approve"), ("Bea", "prepare")):
        people.choices["role"].setCurrentIndex(staff.ROLES.index(role))
        said = {"name": name, "new": f"{WORDS} {name}", "again": f"{WORDS} {name}"}
        press(page, "name", window, qtbot, **said)
    holding = ledger.holdings()[0].id
    assert [one.role for one in ledger.staff().persons(holding)] == ["approve", "prepare"]
    assert all(not field.text() for name, field in people.fields.items() if "pass" in name or name == "new")
    press(page, "rule", window, qtbot, epsilon="0.01", reason="two persons")
    assert people.fields["epsilon"].text() == "0.01"
    assert ledger.staff().rule(holding).epsilon == Fraction(1, 100)
    assert "0.01" in people.said.plain() and "Ada" in people.said.plain()

    people.fields["epsilon"].setText("")
    press(page, "rule", window, qtbot, reason="one is enough")
    assert ledger.staff().rule(holding).epsilon == Fraction(1, 100), "two decide that"

    press(page, "sign_out", window, qtbot)
    people.choices["person"].setCurrentText("Bea")
    press(page, "sign_in", window, qtbot, passphrase="something else")
    assert people.here.isVisible(), "another passphrase opens nothing"
    sign_in(page, "Bea", window, qtbot)
    assert not people.deciding.isVisible() and not people.buttons["approve"].isVisible()

    preview = at("preview", parameters={"columns": ["age"], "extra_cells": "left_out"})
    assert preview.second.isVisible()
    assert window.footer.next.text() == words.say("app.staff.to_second")
    window.study.target = tmp_path / "two"
    window.go("release")
    settle(qtbot, window)
    release = window.page("release")
    assert release.second.isVisible()
    assert not preview.commits() and not release.commits(), "one person alone can make no release"
    assert not window.footer.next.isVisible() and not release.waiting.isVisible()
    assert release.second.prepare.property("look") == "primary"
    window._turn_page()
    settle(qtbot, window)
    assert release.watch is None and len(ledger.entries()) == 1, "and no key tries it"
    release._prepare(str(tmp_path / "request.json"))
    settle(qtbot, window)
    assert ledger.entries()[-1].state == "prepared"

    window.go("releases")
    settle(qtbot, window)
    page.table.selectRow(0)
    assert page.table.model().index(0, 5).data() == words.say("app.releases.state.prepared")
    sign_in(page, "Ada", window, qtbot)
    page.people._show_request(str(tmp_path / "request.json"))
    settle(qtbot, window)
    box = page.findChild(QMessageBox, "approve-request")
    assert box is not None and "Bea" in box.text() and "Readmission" in box.text()
    assert box.textFormat() is Qt.TextFormat.PlainText
    assert "Settings: " in box.text() and "Passed for a reason: –" in box.text()
    shown = (tmp_path / "request.json").read_bytes()
    (tmp_path / "request.json").write_bytes(b"another, put there meanwhile")
    approve = next(one for one in box.buttons() if one.text() == words.say("app.staff.approve_now"))
    approve.click()
    settle(qtbot, window)
    approval = tmp_path / "request-approved.json"
    assert json.loads(approval.read_bytes())["plan"] == json.loads(shown)["plan_fingerprint"]

    sign_in(page, "Bea", window, qtbot)
    window.go("preview")
    settle(qtbot, window)
    window.study.target = tmp_path / "two"
    window.go("release")
    settle(qtbot, window)
    release._begin(approval)
    settle(qtbot, window)
    assert ledger.entries()[-1].state == "complete"
    assert window.study.result("bundle") is not None
    assert not window.footer.undo.isVisible(), "it cannot be undone, wherever its plan was opened"
    assert not missing_texts(page, [])


def test_a_counter_sheet_is_written_and_compared(
    page: Any, window: Window, qtbot: Any, tmp_path: Path
) -> None:
    sheet = tmp_path / "sheet.txt"
    page.people._write_sheet(str(sheet))
    settle(qtbot, window)
    assert sheet.read_text().startswith("custos counter sheet 1")
    page.people._compare(str(sheet))
    settle(qtbot, window)
    assert window.notice._what.text().startswith("The ledger goes on from this sheet")
    sheet.write_text(sheet.read_text().replace("row: ", "row: 9"))
    page.people._compare(str(sheet))
    settle(qtbot, window)
    assert window.notice._what.text().startswith("The ledger was put back")
