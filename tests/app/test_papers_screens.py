"""Officers' papers and the auditor's bundle from the screen Report; nine answers on Releases."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton

from app import words
from app.frame.window import Window
from app.work.releasing import Outcome
from engine.ledger import Ledger
from engine.ledger.register import QUESTIONS
from engine.release.verify import verify
from tests.app.walking import settle


def body_of(paper: Path) -> str:
    with zipfile.ZipFile(io.BytesIO(paper.read_bytes())) as file:
        return file.read("word/document.xml").decode()


def test_answers_are_asked_once_and_stand_in_the_papers(
    released: Outcome, window: Window, qtbot: Any, tmp_path: Path
) -> None:
    window.go("releases")
    settle(qtbot, window)
    page = window.page("releases")
    answers = page.register.answers
    assert set(answers.fields) == set(QUESTIONS)
    answers.line.click()
    assert answers.form.isVisible() and not answers.button.isEnabled()
    qtbot.keyClicks(answers.fields["roles"], "Sole controller")
    qtbot.keyClicks(answers.fields["security"], "Two locks")
    qtbot.mouseClick(answers.button, Qt.MouseButton.LeftButton)
    settle(qtbot, window)
    holding = "Diabetes register (sample)"
    assert Ledger(window.study.ledger_path).answers(holding) == {
        "roles": "Sole controller",
        "security": "Two locks",
    }
    assert answers.fields["roles"].text() == "Sole controller" and not answers.button.isEnabled()
    assert answers.form.isVisible(), "what was opened stays open"

    window.go("report")
    settle(qtbot, window)
    page = window.page("report")
    asked: list[Any] = []
    page._ask_place = asked.append
    for what in ("papers", "auditor"):
        button = page.findChild(QPushButton, f"write-{what}")
        assert (
            button.isVisible() and words.say("app.report.help.papers.title") == page.explain("papers").title
        )
    place = tmp_path / "officers"
    place.mkdir()
    for what in ("papers", "papers", "auditor"):
        page._write(what, place)
        settle(qtbot, window)
    name = released.bundle.folder.name
    assert {one.name for one in place.iterdir()} == {
        f"{name}-{end}" for end in ("papers", "papers-2", "auditor")
    }
    annex = body_of(place / f"{name}-papers" / "internal" / "dpia-annex.docx")
    given = body_of(place / f"{name}-papers" / "to-hand-over" / "data-sharing-annex.docx")
    assert "Two locks" in annex and "Sole controller" in given
    assert "Two locks" not in given
    assert verify(place / f"{name}-auditor", ledger=Ledger(window.study.ledger_path)).passed
    assert "AUDITOR.txt" in window.notice._do.text()


def test_papers_are_not_put_into_a_release(released: Outcome, window: Window, qtbot: Any) -> None:
    window.go("report")
    settle(qtbot, window)
    folder = released.bundle.folder / "internal"
    before = set(folder.iterdir())
    window.page("report")._write("papers", folder)
    settle(qtbot, window)
    assert set(folder.iterdir()) == before
    assert "release that was made before" in window.notice._what.text()
