"""What stays is encrypted and opened on the screen Report, and asked for where it is opened again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QInputDialog, QLabel, QLineEdit

from app.frame.window import Window
from app.state.flow import STEPS
from app.work.releasing import Outcome, Watch, seal_what_stays
from app.work.releasing import release as make_release
from app.work.sealing import ledger_state, seals_known
from engine import policy
from engine.errors import InputRefused
from engine.ledger import Ledger, cipher, people_key
from engine.privacy import keys
from engine.release import sealing
from tests.app.walking import settle

WORDS = "a long passphrase"


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keys, "_ARGON2", {"iterations": 1, "lanes": 1, "memory_cost": 64})


def test_whether_it_is_set_up_is_seen_without_reading_the_ledger(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.sqlite"
    ledger.write_bytes(b"what no program reads as a ledger")
    assert not seals_known(ledger)
    place = policy.sealing_place(ledger)
    place.parent.mkdir()
    place.write_bytes(b"{}")
    assert seals_known(ledger)


def test_what_stays_is_encrypted_and_opened_on_the_report(
    released: Outcome, window: Window, qtbot: Any, tmp_path: Path
) -> None:
    window.go("report")
    settle(qtbot, window)
    page, folder, code = window.page("report"), released.bundle.folder, tmp_path / "code.txt"
    page.sealing.line.click()
    assert page.sealing.again.isVisible() and not page.sealing.button.isEnabled()
    page.sealing.secret.setText(WORDS)
    page.sealing.again.setText("another")
    assert not page.sealing.button.isEnabled()
    page._work_on_seal(seal_what_stays, WORDS, str(code))
    settle(qtbot, window)
    assert sealing.is_sealed(folder) and not page.sealing.again.isVisible()
    page._open(folder / "internal")
    assert "encrypted" in window.notice._what.text()

    page.sealing.secret.setText("another passphrase")
    qtbot.mouseClick(page.sealing.button, Qt.MouseButton.LeftButton)
    settle(qtbot, window)
    assert sealing.is_sealed(folder) and not page.sealing.secret.text()
    page.sealing.secret.setText(code.read_text().splitlines()[0])
    qtbot.mouseClick(page.sealing.button, Qt.MouseButton.LeftButton)
    settle(qtbot, window)
    assert (folder / "internal" / "evidence.json").is_file() and not sealing.is_sealed(folder)

    page.sealing.secret.setText(WORDS)
    qtbot.mouseClick(page.sealing.button, Qt.MouseButton.LeftButton)
    settle(qtbot, window)
    assert sealing.is_sealed(folder)
    window.go("releases")
    settle(qtbot, window)
    releases = window.page("releases")
    releases._reopen(str(folder))
    asked = releases.findChild(QInputDialog, "sealing-secret-asked")
    assert asked is not None
    asked.setTextValue(WORDS)
    asked.accept()
    settle(qtbot, window)
    assert window.step == "report" and not sealing.is_sealed(folder)


def test_where_the_computer_wants_it_the_window_encrypts_at_once(
    released: Outcome, window: Window, qtbot: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, plan = window.study.ledger_path, window.study.plan
    seal_what_stays(released.bundle.folder, WORDS, code=tmp_path / "code.txt", ledger_path=path)
    rules = tmp_path / "custos.toml"
    rules.write_text("sealed = true\n")
    monkeypatch.setattr(policy, "place", lambda: rules)
    refused = make_release(plan, tmp_path / "two", watch=Watch(), ledger_path=path)
    assert refused.error is not None and refused.error.code == "policy.sealed"
    page = window.page("release")
    page.sealing.ask_after(refused.error)
    assert not page.sealing.isHidden()
    made = make_release(plan, tmp_path / "two", watch=Watch(), ledger_path=path, sealing=WORDS)
    assert made.error is None and made.facts["internal"]
    assert sealing.is_sealed(made.bundle.folder)


def test_a_release_whose_encrypting_fails_is_shown_and_says_so(
    released: Outcome, window: Window, qtbot: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*args: object) -> None:
        raise OSError(28, "No space left on device")

    path, plan = window.study.ledger_path, window.study.plan
    seal_what_stays(released.bundle.folder, WORDS, code=tmp_path / "code.txt", ledger_path=path)
    monkeypatch.setattr(sealing, "_write", full)
    made = make_release(plan, tmp_path / "two", watch=Watch(), ledger_path=path, sealing=WORDS)
    assert made.state == "complete" and made.bundle.folder == tmp_path / "two" and made.facts["public"]
    assert made.error is not None and made.error.code == "sealing.not_writable"
    assert not sealing.is_sealed(made.bundle.folder)
    page = window.page("release")
    page._plan = plan
    page._ended(made)
    settle(qtbot, window)
    said = f"{window.notice._what.text()} {window.notice._do.text()}"
    assert "not encrypted yet" in said and "No space left" in said
    assert window.study.result("bundle") is made
    window.go("preview")
    settle(qtbot, window)
    assert "spent for good" in window.page("preview").subtitle.plain()


def test_encryption_is_offered_at_first_start_until_somebody_answers(
    window: Window, qtbot: Any, tmp_path: Path
) -> None:
    window.study.ledger_path = tmp_path / "ledger.sqlite"
    window.go("start")
    settle(qtbot, window)
    offer = window.page("start").sealing
    window.page("start").enter()
    window.page("start").first.fold.line.click()
    assert offer.offer.isVisible() and offer.later.isVisible() and not offer.form.isVisible()
    qtbot.mouseClick(offer.later, Qt.MouseButton.LeftButton)
    settle(qtbot, window)
    assert not offer.offer.isVisible() and offer.line.isVisible()
    assert window.settings.get("answered_sealing", False) and not seals_known(window.study.ledger_path)


def test_a_passphrase_is_chosen_at_first_start_and_changed_later(
    window: Window, qtbot: Any, tmp_path: Path
) -> None:
    path = window.study.ledger_path = tmp_path / "ledger.sqlite"
    window.go("start")
    settle(qtbot, window)
    page, code = window.page("start"), tmp_path / "recovery-code.txt"
    page.enter()
    page.first.fold.line.click()
    offer = page.sealing
    qtbot.mouseClick(offer.line, Qt.MouseButton.LeftButton)
    assert not offer.fields["old"].isVisible() and not offer.button.isEnabled()
    for name in ("new", "new_again"):
        qtbot.keyClicks(offer.fields[name], WORDS)
    assert all(field.echoMode() is QLineEdit.EchoMode.Password for field in offer.fields.values())
    qtbot.mouseClick(offer.button, Qt.MouseButton.LeftButton)
    dialog = page.findChild(QFileDialog)
    assert dialog is not None and dialog.acceptMode() is QFileDialog.AcceptMode.AcceptSave
    dialog.fileSelected.emit(str(code))
    dialog.close()
    settle(qtbot, window)
    assert (
        seals_known(path)
        and not offer.offer.isVisible()
        and "recovery-code.txt" in window.notice._what.text()
    )

    qtbot.mouseClick(offer.line, Qt.MouseButton.LeftButton)
    assert offer.fields["old"].isVisible()
    for wrong, right in (("not the passphrase", False), (WORDS, True)):
        for name, written in (("old", wrong), ("new", "another one"), ("new_again", "another one")):
            qtbot.keyClicks(offer.fields[name], written)
        qtbot.mouseClick(offer.button, Qt.MouseButton.LeftButton)
        settle(qtbot, window)
        assert not any(field.text() for field in offer.fields.values())
        if right:
            assert sealing.opened(Ledger(path), "another one").key
        else:
            with pytest.raises(InputRefused, match=r"sealing\.secret"):
                sealing.opened(Ledger(path), "another one")
    assert sealing.opened(Ledger(path), code.read_text().splitlines()[0]).key


def press_with(window: Window, qtbot: Any, secret: str) -> None:
    page = window.page("start")
    page.enter()
    qtbot.mouseClick(page.sealing.of_ledger, Qt.MouseButton.LeftButton)
    dialog = page.findChild(QInputDialog, "sealing-secret-asked")
    dialog.textValueSelected.emit(secret)
    dialog.close()
    dialog.deleteLater()
    settle(qtbot, window)


def start_anew() -> None:
    people_key._opened.clear()
    cipher.forget_keys()


def test_the_whole_ledger_is_encrypted_and_opened_on_start(
    window: Window, qtbot: Any, tmp_path: Path
) -> None:
    path = window.study.ledger_path = tmp_path / "ledger.sqlite"
    ledger = Ledger(path)
    ledger.create_holding("Oncology register", unit="person", neighbours="add_remove")
    sealing.set_up(ledger, WORDS, lambda code: None)
    page = window.page("start")
    press_with(window, qtbot, WORDS)
    assert ledger_state(path) == "" and cipher.is_encrypted(path) and b"Oncology" not in path.read_bytes()
    assert not page.sealing.of_ledger.isVisible(), "it is open as long as the program runs"
    start_anew()
    press_with(window, qtbot, "not the passphrase")
    assert ledger_state(path) == "open" and page.sealing.of_ledger.isVisible()
    press_with(window, qtbot, WORDS)
    assert ledger_state(path) == "" and len(Ledger(path).person_digests(["7"])) == 1


def test_where_earlier_versions_encrypted_only_the_key_it_is_opened_too(
    window: Window, qtbot: Any, tmp_path: Path
) -> None:
    path = window.study.ledger_path = tmp_path / "ledger.sqlite"
    ledger = Ledger(path)
    ledger.lock_people(sealing.set_up(ledger, WORDS, lambda code: None).people)
    start_anew()
    assert ledger_state(path) == "open"
    press_with(window, qtbot, WORDS)
    assert ledger_state(path) == "encrypt" and len(Ledger(path).person_digests(["7"])) == 1


@pytest.mark.guarantee
def test_no_page_breaks_while_the_ledger_is_closed(window: Window, qtbot: Any, tmp_path: Path) -> None:
    path = window.study.ledger_path = tmp_path / "ledger.sqlite"
    ledger = Ledger(path)
    sealing.set_up(ledger, WORDS, lambda code: None).encrypt(ledger)
    start_anew()
    for name in STEPS:
        window.go(name)
        settle(qtbot, window)
    window.go("releases")
    settle(qtbot, window)
    said = " ".join(label.text() for label in window.findChildren(QLabel) if label.isVisible())
    assert "is encrypted" in said, said
    page = window.page("releases")
    for part in (page.register, page.left_card, page.table, page.nothing):
        assert not part.isVisible(), "nothing is shown of a ledger that nobody could read"


def test_where_the_administrator_wants_it_the_offer_stays(
    window: Window, qtbot: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = tmp_path / "custos.toml"
    rules.write_text("sealed = true\n")
    monkeypatch.setattr(policy, "place", lambda: rules)
    window.study.ledger_path = tmp_path / "ledger.sqlite"
    window.settings.set(answered_sealing=True)
    window.go("start")
    window.page("start").enter()
    offer = window.page("start").sealing
    assert "administrator" in offer.offer.plain() and not offer.later.isVisible() and offer.offer.isVisible()
