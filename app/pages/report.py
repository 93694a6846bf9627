"""Report: what may be handed over and what stays, with every file's sum; open, read, verify."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QHBoxLayout, QPlainTextEdit, QPushButton, QVBoxLayout, QWidget

from app import words
from app.pages.base import Page
from app.releasing import check_bundle
from app.theme import mono_font
from app.widgets.cards import Card
from app.widgets.panel import Explanation, Part
from app.widgets.parameter_fields import empty
from app.widgets.prose import Prose
from app.widgets.verify_card import VerifyCard
from app.widgets.views.table import TableBody
from engine import texts
from engine.views import TableView, Text

PARTS = {"release": "report-external", "internal": "report-internal"}


class ReportPage(Page):
    """The tenth screen."""

    id = "report"

    def build(self) -> None:
        self._shown: Any = None
        self.where = Prose(tone="quiet")
        self.where.setObjectName("where")
        self.body.addWidget(self.where)
        self.tables: dict[str, QVBoxLayout] = {}
        self.bodies: dict[str, Prose] = {}
        for part in PARTS:
            self.body.addWidget(self._build_part(part))
        self.cover = Card(words.say("app.report.cover"))
        self.page = QPlainTextEdit()
        self.page.setObjectName("cover")
        self.page.setAccessibleName(words.say("app.report.cover"))
        self.page.setReadOnly(True)
        self.page.setFont(mono_font(12))
        self.page.setFixedHeight(220)
        self.topic(self.page, "cover")
        self.cover.body.addWidget(self.page)
        self.verify = VerifyCard()
        self.verify.button.clicked.connect(lambda checked=False: self._verify())
        self.topic(self.verify.button, "verify")
        self.body.addWidget(self.verify)
        self.body.addWidget(self.cover)
        self.body.addStretch(1)

    def _build_part(self, part: str) -> Card:
        card = Card(words.say(f"app.report.{part}.heading"), tone="" if part == "release" else "care")
        card.setObjectName(f"part-{part}")
        self.bodies[part] = Prose(tone="quiet")
        card.body.addWidget(self.bodies[part])
        row = QHBoxLayout()
        row.setSpacing(8)
        for name, path in (("open_report", self._report), ("open_folder", self._folder)):
            button = QPushButton(words.say(f"app.report.{name}"))
            button.setObjectName(f"{name}-{part}")
            button.setAccessibleName(
                words.say(f"app.report.{name}_name", part=words.say(f"app.report.{part}.heading"))
            )
            button.clicked.connect(lambda checked=False, path=path: self._open(path(part)))
            self.topic(button, part)
            row.addWidget(button)
        row.addStretch(1)
        card.body.addLayout(row)
        self.tables[part] = QVBoxLayout()
        card.body.addLayout(self.tables[part])
        return card

    @property
    def folder(self) -> Path | None:
        """The bundle, or None."""
        outcome = self.study.result("bundle")
        return None if outcome is None else outcome.bundle.folder

    def _folder(self, part: str) -> Path:
        assert self.folder is not None
        return self.folder / part

    def _report(self, part: str) -> Path:
        return self._folder(part) / f"{PARTS[part]}.pdf"

    def enter(self) -> None:
        outcome = self.study.result("bundle")
        if outcome is None or outcome is self._shown:
            return
        self._shown = outcome
        for part, body in self.bodies.items():
            body.say(self.say(f"{part}.body"))
        self.verify.forget()
        self.where.say(words.say("app.report.where", folder=str(outcome.bundle.folder)))
        for part, layout in self.tables.items():
            empty(layout)
            found = outcome.facts["files"].get(part, [])
            headings = tuple(Text(f"app.report.column.{name}") for name in ("file", "bytes", "sum"))
            rows = tuple((name, size, digest) for name, size, digest in found)
            table = TableBody(TableView(words.say(f"app.report.{part}.heading"), headings, rows))
            table.setObjectName(f"files-{part}")
            table.setMaximumWidth(16_777_215)
            table.setColumnWidth(2, 556)
            self.topic(table, "sums")
            layout.addWidget(table)
        self.page.setPlainText((outcome.bundle.folder / "release" / "README.txt").read_text(encoding="utf-8"))

    def first_focus(self) -> QWidget | None:
        return self.findChild(QPushButton, "open_report-release")

    def explain(self, topic: str) -> Explanation:
        outcome = self.study.result("bundle")
        explanation = super().explain(topic)
        if topic or outcome is None:
            return explanation
        entry = Part(
            words.say("app.report.entry"),
            self.say(
                "entry_words",
                entry=outcome.bundle.entry,
                count=texts.number(sum(len(found) for found in outcome.facts["files"].values())),
            ),
        )
        return Explanation(explanation.title, (*explanation.parts, entry))

    def _open(self, path: Path) -> None:
        """Have the desktop open a file or folder of this computer."""
        if not path.exists() or not QDesktopServices.openUrl(QUrl.fromLocalFile(str(path))):
            self.notify(
                words.say("app.report.cannot_open"), words.say("app.report.cannot_open_do", path=str(path))
            )

    def _verify(self) -> None:
        assert self.folder is not None
        self.work(
            check_bundle,
            self.folder,
            ledger_path=self.study.ledger_path,
            done=self.verify.show_verification,
            doing=words.say("app.verify.verifying"),
        )


PAGE = ReportPage
