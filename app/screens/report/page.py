"""Report: finished. What to hand over, what stays, what next; open, verify, every file with its sum."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QSignalBlocker, Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QCheckBox, QPlainTextEdit, QPushButton, QVBoxLayout, QWidget

from app import words
from app.parts.cards import BehindLink, Card
from app.parts.making import STRETCH, add, ask_file, empty, make_button, make_grid, name_widget
from app.parts.panel import Explanation, Part
from app.parts.prose import Prose
from app.parts.sealing import SealingFold
from app.parts.verify_card import VerifyCard
from app.parts.views.table import TableBody
from app.parts.wrapping import Wrapping
from app.screens.base import Page
from app.state.files import RELEASE
from app.theme import mono_font
from app.work.releasing import check_bundle, is_sealed, open_what_stays, pack, seal_what_stays, write_beside
from app.work.sealing import seals_known
from engine.bounded import PAPER, read_bytes, read_text
from engine.bounded import SUMS as LARGEST_SUMS
from engine.views import TableView, Text

NEXT = {"withdraw": "releases", "another": "method"}
PARTS = {"release": "report-external", "internal": "report-internal"}


class ReportPage(Page):
    """The tenth screen."""

    id = "report"

    def build(self) -> None:
        self._shown: Any = None
        self.tables: dict[str, QVBoxLayout] = {}
        self.bodies: dict[str, Prose] = {}
        self.folds: dict[str, BehindLink] = {}
        self.where = name_widget(Prose(tone="quiet"), "where")
        for part in PARTS:
            self.body.addWidget(self._build_part(part))
        self.verify = VerifyCard()
        self.verify.button.clicked.connect(lambda checked=False: self._verify())
        self.topic(self.verify.button, "verify")
        self.keep = name_widget(QCheckBox(words.say("app.report.keep")), "keep")
        self.keep.toggled.connect(self._keep_list)
        self.topic(self.keep, "keep")
        add(self.body, self._build_next(), self.verify, self.keep)
        self.cover = BehindLink(words.say("app.report.cover"))
        self.page = name_widget(QPlainTextEdit(), "cover", words.say("app.report.cover"))
        self.page.setReadOnly(True)
        self.page.setFont(mono_font(12))
        self.page.setFixedHeight(220)
        self.topic(self.page, "cover")
        self.cover.body.addWidget(self.page)
        add(self.body, self.cover, STRETCH)

    def _build_part(self, part: str) -> Card:
        card = Card(words.say(f"app.report.{part}.heading"), tone="" if part == "release" else "care")
        card.setObjectName(f"part-{part}")
        self.bodies[part] = Prose(tone="quiet")
        card.body.addWidget(self.bodies[part])
        if part == "release":
            card.body.addWidget(self.where)
        row = Wrapping()
        for name, path in (("open_folder", self._folder), ("open_report", self._report)):
            button = QPushButton(words.say(f"app.report.{name}"))
            button.setObjectName(f"{name}-{part}")
            button.setAccessibleName(
                words.say(f"app.report.{name}_name", part=words.say(f"app.report.{part}.heading"))
            )
            button.clicked.connect(lambda checked=False, path=path: self._open(path(part)))
            self.topic(button, part)
            row.addWidget(button)
        card.body.addLayout(row)
        fold = self.folds[part] = BehindLink(words.say("app.report.sums"), bare=True)
        fold.link.setObjectName(f"sums-{part}")
        fold.link.setAccessibleName(
            words.say("app.report.sums_name", part=words.say(f"app.report.{part}.heading"))
        )
        self.topic(fold.link, "sums")
        self.tables[part] = fold.body
        card.body.addWidget(fold)
        if part == "release":
            button = make_button(words.say("app.report.one_file"), "one-file", self._ask_file)
            self.topic(button, "one_file")
            row.addWidget(button)
        else:
            for what, said in (("papers", "write"), ("auditor", "auditor")):
                button = make_button(
                    words.say(f"app.papers.{said}"), f"write-{what}", partial(self._ask_place, what)
                )
                self.topic(button, "papers")
                row.addWidget(button)
            self.sealing = SealingFold()
            self.sealing.wanted.connect(self._seal)
            card.body.addWidget(self.sealing)
        return card

    def _build_next(self) -> Card:
        """What to do now that it is finished, each in one line with the place where it is done."""
        card = name_widget(Card(words.say("app.report.next.heading"), tone=""), "what-next")
        grid = make_grid(across=20, down=10)
        grid.setColumnStretch(0, 1)
        self.fingerprint = name_widget(Prose(), "fingerprint")
        self.fingerprint.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        grid.addWidget(self.fingerprint, 0, 0, 1, 2)
        for place, (name, step) in enumerate(NEXT.items(), start=1):
            button = QPushButton(words.say(f"app.report.next.{name}.button"))
            button.setObjectName(f"next-{name}")
            button.clicked.connect(lambda checked=False, step=step: self.frame.go(step))
            grid.addWidget(Prose(words.say(f"app.report.next.{name}.body")), place, 0)
            grid.addWidget(button, place, 1, Qt.AlignmentFlag.AlignTop)
        card.body.addLayout(grid)
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

    def _keep_list(self, wanted: bool) -> None:
        """Have the start page name this release and later ones, or none."""
        outcome = self.study.result("bundle")
        self.frame.settings.keep_list(wanted)
        if wanted and outcome is not None:
            self.frame.settings.remember_bundle(outcome.bundle.entry, str(outcome.bundle.folder))

    def enter(self) -> None:
        with QSignalBlocker(self.keep):
            self.keep.setChecked(self.frame.settings.get("remember_files", False))
        outcome = self.study.result("bundle")
        if outcome is None or outcome is self._shown:
            return
        self._shown = outcome
        for part, body in self.bodies.items():
            body.say(self.say(f"{part}.body"))
        self.verify.forget()
        self._show_sealing()
        self.where.say(words.say("app.report.where", folder=str(outcome.bundle.folder / "release")))
        # On first use: they bring pandas along, which takes longer than making all screens.
        from engine.release.bundle import SUMS
        from engine.release.readme import fingerprint

        sums = fingerprint(read_bytes(outcome.bundle.folder / "release" / SUMS, LARGEST_SUMS))
        self.fingerprint.say(words.say("app.report.next.hand_over", fingerprint=sums))
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
        for fold in (*self.folds.values(), self.cover):
            fold.close_up()
        self.page.setPlainText(read_text(outcome.bundle.folder / "release" / "README.txt", PAPER))

    def first_focus(self) -> QWidget | None:
        return self.findChild(QPushButton, "open_folder-release")

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
                count=words.number(sum(len(found) for found in outcome.facts["files"].values())),
            ),
        )
        return Explanation(explanation.title, (*explanation.parts, entry))

    def _ask_file(self) -> None:
        """Ask where what leaves is written as one file."""
        assert self.folder is not None
        title, name = words.say("app.report.where_file"), f"{self.folder.name}{RELEASE}"
        ask_file(self, title, lambda place: self._pack(Path(place)), writes=name)

    def _pack(self, file: Path) -> None:
        def done(name: str) -> None:
            told = words.say("app.report.packed", file=name)
            self.notify(told, words.say("app.report.packed_do"), tone="accent")

        self.work(pack, self.folder, file, done=done, doing=words.say("app.report.packing"), stoppable=False)

    def _ask_place(self, what: str) -> None:
        """Ask for the folder in which papers, or the auditor's bundle, are put."""
        title = words.say(f"app.papers.{'where' if what == 'papers' else 'where_auditor'}")
        ask_file(self, title, lambda place: self._write(what, Path(place)), folder=True)

    def _write(self, what: str, place: Path) -> None:
        said = "written" if what == "papers" else "auditor_written"

        def done(found: tuple[Path, int]) -> None:
            told = words.say(f"app.papers.{said}", folder=str(found[0]), count=found[1])
            self.notify(told, words.say(f"app.papers.{said}_do"), tone="accent")

        self.work(
            write_beside,
            what,
            self.folder,
            place,
            ledger_path=self.study.ledger_path,
            done=done,
            doing=words.say(f"app.papers.{'writing' if what == 'papers' else 'writing_auditor'}"),
            stoppable=False,
        )

    def _show_sealing(self) -> None:
        if self.folder is not None:
            known = seals_known(self.study.ledger_path)
            self.sealing.show_state(is_sealed=is_sealed(self.folder), is_set_up=known)

    def _seal(self, seals: bool, secret: str) -> None:
        if not seals:
            self._work_on_seal(open_what_stays, secret, None)
        elif seals_known(self.study.ledger_path):
            self._work_on_seal(seal_what_stays, secret, None)
        else:
            where = partial(self._work_on_seal, seal_what_stays, secret)
            ask_file(self, words.say("app.sealing.where_code"), where, writes="recovery-code.txt")

    def _work_on_seal(self, function: Any, secret: str, code: str | None) -> None:
        name = "opened" if function is open_what_stays else "sealed" if code is None else "set_up"
        file = "" if code is None else Path(code).name

        def done(value: object) -> None:
            self._show_sealing()
            self.notify(words.say(f"app.sealing.{name}", file=file), tone="accent")

        self.work(
            function,
            self.folder,
            secret,
            code=None if code is None else Path(code),
            ledger_path=self.study.ledger_path,
            done=done,
            doing=words.say("app.sealing.working"),
            stoppable=False,
        )

    def _open(self, path: Path) -> None:
        """Have the desktop open a file or folder of this computer."""
        if not path.exists() and self.folder is not None and is_sealed(self.folder):
            self.notify(words.say("app.sealing.is_sealed"), words.say("app.sealing.is_sealed_do"))
            self.sealing.line.setChecked(True)
            return
        if not path.exists() or not QDesktopServices.openUrl(QUrl.fromLocalFile(str(path))):
            self.notify(
                words.say("app.report.cannot_open"), words.say("app.report.cannot_open_do", path=str(path))
            )

    def _verify(self) -> None:
        assert self.folder is not None
        known = self.verify.known()
        if known is None:
            return
        self.work(
            check_bundle,
            self.folder,
            ledger_path=self.study.ledger_path,
            fingerprints=known,
            done=self.verify.show_verification,
            doing=words.say("app.verify.verifying"),
        )


PAGE = ReportPage
