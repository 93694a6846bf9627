"""What the screen of releases does about the people of a register, and files that are carried."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox

from app import words
from app.parts.making import ask_file
from app.work.people import approve_request, compare_sheet, show_request, work_on_people, write_sheet


class PeopleWork:
    """Joins the fold of the people to the engine; ``page`` shows what came of it."""

    def __init__(self, page: Any) -> None:
        self.page = page
        fold = page.register.people
        fold.wanted.connect(self._work)
        fold.carried.connect(self._carry)
        for part in (fold.line, fold.unbounded, *fold.fields.values(), *fold.choices.values()):
            page.topic(part, "people")
        for button in fold.buttons.values():
            page.topic(button, "people")

    def _work(self, what: str, said: dict[str, Any]) -> None:
        page, holding = self.page, self.page.register.holding
        if holding is None:
            return

        def done(tree: dict[str, Any]) -> None:
            page.show_again(tree, holding["id"])
            if what not in ("sign_in", "sign_out"):
                page.notify(words.say("app.staff.changed"), tone="accent")

        page.work(
            work_on_people,
            holding["id"],
            what,
            said,
            ledger_path=page.study.ledger_path,
            done=done,
            doing=words.say("app.staff.working"),
            stoppable=False,
        )

    def _carry(self, what: str) -> None:
        writes = what == "sheet"
        name = {"approve": "which_request", "sheet": "where_sheet", "compare": "which_sheet"}[what]
        act = {"approve": self._show_request, "sheet": self._write_sheet, "compare": self._compare}[what]
        title = words.say(f"app.staff.{name}")
        ask_file(self.page, title, act, writes="counter-sheet.txt" if writes else "")

    def _start(self, function: Any, file: str, done: Any, **more: Any) -> None:
        self.page.work(
            function, Path(file), done=done, doing=words.say("app.staff.reading"), stoppable=False, **more
        )

    def _show_request(self, file: str) -> None:
        more = {"ledger_path": self.page.study.ledger_path, "language": words.language()}
        self._start(show_request, file, partial(self._ask_approval, file), **more)

    def _ask_approval(self, file: str, found: tuple[bytes, dict[str, Any]]) -> None:
        content, asked = found
        told = {name: asked[name] or "–" for name in ("title", "register", "recipient", "preparer")}
        box = QMessageBox(self.page)
        box.setObjectName("approve-request")
        box.setTextFormat(Qt.TextFormat.PlainText)  # a title must not be able to hide the rest
        box.setText(words.say("app.staff.request", says=asked["says"], **told))
        approve = box.addButton(words.say("app.staff.approve_now"), QMessageBox.ButtonRole.AcceptRole)
        box.addButton(QMessageBox.StandardButton.Cancel)
        approve.clicked.connect(lambda checked=False: self._approve(file, content))
        box.open()

    def _approve(self, file: str, content: bytes) -> None:
        said, more = partial(self._notify, "app.staff.approved"), self.page.study.ledger_path
        self._start(partial(approve_request, content=content), file, said, ledger_path=more)

    def _write_sheet(self, file: str) -> None:
        more = {"ledger_path": self.page.study.ledger_path, "language": words.language()}
        self._start(write_sheet, file, partial(self._notify, "app.staff.sheet_written"), **more)

    def _compare(self, file: str) -> None:
        self._start(compare_sheet, file, self._compared, ledger_path=self.page.study.ledger_path)

    def _compared(self, found: Any) -> None:
        said = words.say(f"app.staff.compared.{found.state}", row=found.sheet.row, last=found.last)
        self.page.notify(said, tone="accent" if found.passed else "care")

    def _notify(self, text_id: str, file: Path) -> None:
        self.page.notify(words.say(text_id, file=file.name), tone="accent")
