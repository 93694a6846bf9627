"""Load: the table as it was read, first of all; then how it was read, and the cells that did not fit."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QLineEdit, QPushButton, QVBoxLayout, QWidget

from app import words
from app.parts.cards import Card
from app.parts.panel import Explanation, Part
from app.parts.prose import Heading, Prose
from app.parts.table import DataTable
from app.screens.base import Page
from app.screens.load.asks import Reading, read
from app.screens.load.findings import Findings
from app.screens.load.preparation import PreparationSteps
from app.screens.load.reading_options import ReadingOptions
from engine.methods.protocol import MAIN
from engine.release.plan import FileReference

TABLE = (190, 360)  # pixels at least: the table is what somebody came to see, and what follows is in sight

DRAWN = 2  # milliseconds after which a turn of the event loop has passed


class LoadPage(Page):
    """The second screen."""

    id = "load"

    def build(self) -> None:
        self._shown: Any = None
        self.drop = self._build_drop()
        self.body.addWidget(self.drop, 1)
        self.loaded = QWidget()
        column = QVBoxLayout(self.loaded)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(16)
        self.rows = DataTable(words.say("app.load.first_rows"))
        self.rows.setObjectName("first_rows")
        self.rows.setMinimumHeight(TABLE[0])
        self.topic(self.rows, "rows")
        column.addWidget(self.rows, 1)
        self.options = ReadingOptions()
        self.options.changed.connect(self._override)
        for name, field in self.options.fields.items():
            self.topic(field, f"option.{name}")
        column.addWidget(self.options)
        self.findings = Findings()
        self.topic(self.findings, "findings")
        column.addWidget(self.findings)
        self.preparation = PreparationSteps()
        self.preparation.changed.connect(self._prepare)
        self.topic(self.preparation, "preparation")
        column.addWidget(self.preparation)
        self.body.addWidget(self.loaded, 1)

    def _build_drop(self) -> QWidget:
        card = Card()
        card.setObjectName("drop")
        card.setMinimumHeight(240)
        card.body.addStretch(1)
        heading = Heading(words.say("app.load.drop_heading"), size="side")
        heading.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        card.body.addWidget(heading)
        formats = Prose(words.say("app.load.formats"), tone="quiet")
        formats.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        card.body.addWidget(formats)
        card.body.addSpacing(8)
        self.choose = QPushButton(words.say("app.load.choose"))
        self.choose.setObjectName("choose")
        self.choose.setProperty("look", "primary")
        self.choose.clicked.connect(self._ask)
        line = QHBoxLayout()
        line.addStretch(1)
        line.addWidget(self.choose)
        line.addStretch(1)
        card.body.addLayout(line)
        card.body.addStretch(1)
        return card

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.rows.setMinimumHeight(max(TABLE[0], min(TABLE[1], event.size().height() // 2)))

    def enter(self) -> None:
        raw = self.study.result("raw")
        table = self.study.table or raw  # a step that was refused leaves the table as it was read
        self.drop.setVisible(MAIN not in self.study.plan.files)
        if raw is None:
            self.loaded.hide()
            self.subtitle.say(words.say("app.load.subtitle"))
            self._shown = None
            return
        if self._shown is not table:
            self._shown = table
            self._show(raw, table)
        self.preparation.show_steps(self.study.plan.preparation, table.names)
        for field in self.findChildren(QLineEdit):
            field.setAcceptDrops(False)  # a file is for the window, wherever it falls
        self.loaded.show()  # last: what it holds is laid out once

    def opened(self) -> None:
        if MAIN in self.study.plan.files and self.study.table is None:
            self._read()

    def first_focus(self) -> QWidget | None:
        return self.choose if self.study.table is None else None

    def explain(self, topic: str) -> Explanation:
        detection = self.study.result("detection")
        if topic.startswith("option.") and detection is not None:
            return self._explain_option(topic.removeprefix("option."), detection)
        if not topic and self.study.table is not None:
            return super().explain("loaded")
        return super().explain(topic)

    def take_file(self) -> Callable[[str], None]:
        return self._dropped

    def _dropped(self, path: str) -> None:
        """A plan is opened as on the first screen; anything else is another table for this one."""
        (self.frame.open_file if path.lower().endswith(".json") else self.open_path)(path)

    def open_path(self, path: str) -> None:
        """Take another file; its columns keep what was said about columns of the same name."""
        self.clear_notice()
        self.study.decide(files={**self.study.plan.files, MAIN: FileReference(path)}, preparation=())
        self._read()

    def _read(self) -> None:
        plan = self.study.plan
        name = Path(plan.files[MAIN].path).name
        raw = self.study.result("raw")
        known = (self.study.result("detection"), raw, self.study.result("suggestions"))
        self.work(
            read,
            plan,
            self.study.open_questions,
            known=known if raw is not None else None,
            doing=words.say("app.load.reading", file=name),
            done=lambda reading: self._read_done(reading, plan),
            failed=lambda error: self._read_failed(error, plan),
            cancelled=lambda: self._give_up(plan),
        )

    def _read_done(self, reading: Reading, plan: Any) -> None:
        if plan != self.study.plan:
            self._read()  # something was decided meanwhile
            return
        self.clear_notice()
        with self.study.by_itself(), self.study.together():
            if reading.schema != plan.schema:
                self.study.decide(schemas=plan.with_schema(reading.schema).schemas)
            self.study.replace_questions(reading.questions)
            now = self.study.plan
            for part in ("detection", "raw", "suggestions", "table", "keys"):
                self.study.store(part, getattr(reading, part), now)
        self.refresh_explanation()

    def _read_failed(self, error: Exception, plan: Any) -> None:
        self.refuse(error)
        if not plan.files[MAIN].options:
            self._give_up(plan)

    def _give_up(self, plan: Any) -> None:
        """Go back to no file, so that another can be chosen; not where another has been meanwhile."""
        if self.study.result("raw") is None and self.study.plan.files.get(MAIN) == plan.files[MAIN]:
            others = {name: file for name, file in self.study.plan.files.items() if name != MAIN}
            with self.study.by_itself():
                self.study.decide(files=others)

    def _show(self, raw: Any, table: Any) -> None:
        detection = self.study.result("detection")
        path = Path(self.study.plan.files[MAIN].path)
        self.subtitle.say(
            words.say(
                "app.load.subtitle_read",
                file=path.name,
                rows=table.n_rows,
                columns=len(table.names),
                format=words.say(f"app.load.format.{raw.options.format}"),
            )
        )
        self.options.show_options(self.study.plan.files[MAIN].options, raw.options, detection)
        self.findings.show_findings(raw.findings)
        # The rest of the screen is drawn first: the two together take longer than a person should wait.
        QTimer.singleShot(DRAWN, self, lambda: self._show_rows(raw, table))

    def _show_rows(self, raw: Any, table: Any) -> None:
        if self._shown is not table:
            return
        marked = frozenset(
            (row, finding.column) for finding in raw.findings if finding.column for row in finding.rows
        )
        self.rows.show_frame(table.rows(), marked if table is raw else frozenset())

    def _override(self, options: dict[str, Any]) -> None:
        file = self.study.plan.files[MAIN]
        self.study.decide(
            files={**self.study.plan.files, MAIN: FileReference(file.path, options)},
        )
        self._read()

    def _prepare(self, steps: tuple[Any, ...]) -> None:
        self.study.decide(preparation=steps)
        self._read()

    def _explain_option(self, name: str, detection: Any) -> Explanation:
        parts = [Part(body=words.say(f"app.load.option.{name}.help"))]
        code, values = detection.reasons.get(name, ("", {}))
        for place in (f"errors.table.reason.{code}", f"app.load.reason.{code}"):
            if code and words.has(place):
                parts.append(Part(words.say("app.load.why_found"), words.say(place, **values)))
                break
        return Explanation(words.say(f"app.load.option.{name}.label"), tuple(parts))

    def _ask(self) -> None:
        dialog = QFileDialog(self, words.say("app.load.choose"), "", words.say("app.load.filter"))
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(self.open_path)
        dialog.open()


PAGE = LoadPage
