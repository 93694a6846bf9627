"""Releases: what was given, to whom, until when, what it spent, what is left; verify, withdraw, again."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QLineEdit, QPushButton, QWidget

from app import words
from app.parts.cards import Card
from app.parts.panel import Explanation, Part, three_parts
from app.parts.prose import Heading, Prose
from app.parts.register_card import RegisterCard
from app.parts.verify_card import VerifyCard
from app.screens.base import Page
from app.screens.releases.bar_list import Bar, BarList
from app.screens.releases.pseudonym_card import PseudonymCard
from app.screens.releases.releases_table import ReleasesTable
from app.words.money import level, written_day
from app.work.releasing import (
    behind,
    change_budget,
    check_bundle,
    listing,
    plan_of,
    reopen,
    resolve,
    withdraw,
)
from app.work.visiting import resume
from engine.privacy.promises.pseudonymous import Pseudonymous

COLUMNS = ("title", "recipient", "agreement", "until", "spent", "state")
NARROW = {"until": 164, "spent": 96, "state": 124}  # pixels at most; longer texts are wrapped
SPENT_COLUMN = COLUMNS.index("spent")


class ReleasesPage(Page):
    """Beside the steps."""

    id = "releases"

    def build(self) -> None:
        self.entries: list[tuple[dict[str, Any], dict[str, Any]]] = []
        self.nothing = Prose(words.say("app.releases.nothing"))
        self.body.addWidget(self.nothing)
        self.left_card = Card(words.say("app.releases.left"))
        self.left = BarList(words.say("app.releases.left"), mono=False)
        self.left.setObjectName("left-bars")
        self.topic(self.left, "left")
        self.left_card.body.addWidget(self.left)
        self.body.addWidget(self.left_card)
        self.register = RegisterCard()
        self.register.change.wanted.connect(self._change_budget)
        for widget in (self.register.choice, self.register.change.line, self.register.change.button):
            self.topic(widget, "register")
        self.body.addWidget(self.register)
        self.table = ReleasesTable(words.say("app.releases.title"))
        self.table.setObjectName("releases-table")
        self.table.chosen.connect(self._select)
        self.topic(self.table, "table")
        self.body.addWidget(self.table)
        self._build_chosen()
        self.verify = VerifyCard()
        self.verify.button.setText(words.say("app.releases.verify"))
        self.verify.button.clicked.connect(lambda checked=False: self._where(self._verify))
        self.topic(self.verify.button, "verify")
        again = Card(words.say("app.releases.again_heading"))
        again.body.addWidget(Prose(words.say("app.releases.again_words"), tone="quiet"))
        self.again = QPushButton(words.say("app.releases.again"))
        self.again.setObjectName("again")
        self.again.clicked.connect(lambda checked=False: self._where(self._again))
        self.topic(self.again, "again")
        again.body.addWidget(self.again, 0, Qt.AlignmentFlag.AlignLeft)
        again.body.addStretch(1)
        line = QHBoxLayout()
        line.setSpacing(14)
        line.addWidget(self.verify, 1)
        line.addWidget(again, 1)
        self.body.addLayout(line)
        self.body.addStretch(1)

    def _build_chosen(self) -> None:
        """The release that is selected, and what can be done about it."""
        self.chosen = Card()
        self.chosen.setObjectName("chosen")
        self.chosen_title = Heading(size="side")
        self.chosen_words = Prose()
        self.chosen.body.addWidget(self.chosen_title)
        self.chosen.body.addWidget(self.chosen_words)
        self.act = QWidget()
        row = QHBoxLayout(self.act)
        row.setContentsMargins(0, 4, 0, 0)
        row.setSpacing(8)
        self.reason = QLineEdit()
        self.reason.setObjectName("reason")
        self.reason.setAccessibleName(words.say("app.releases.reason"))
        self.reason.setPlaceholderText(words.say("app.releases.reason"))
        self.reason.textChanged.connect(lambda text: self._enable())
        self.withdraw = QPushButton(words.say("app.releases.withdraw"))
        self.withdraw.setObjectName("withdraw")
        self.withdraw.clicked.connect(lambda checked=False: self._act(withdraw))
        self.resolve = QPushButton(words.say("app.releases.resolve"))
        self.resolve.setObjectName("resolve")
        self.resolve.clicked.connect(lambda checked=False: self._act(resolve))
        for widget, topic in (
            (self.reason, "withdraw"),
            (self.withdraw, "withdraw"),
            (self.resolve, "resolve"),
        ):
            self.topic(widget, topic)
        row.addWidget(self.reason, 1)
        row.addWidget(self.withdraw)
        row.addWidget(self.resolve)
        self.chosen.body.addWidget(self.act)
        self.visit = QPushButton(words.say("app.releases.visit"))
        self.visit.setObjectName("visit")
        self.visit.clicked.connect(lambda checked=False: self._go_on())
        self.topic(self.visit, "visit")
        self.chosen.body.addWidget(self.visit, 0, Qt.AlignmentFlag.AlignLeft)
        self.report = QPushButton(words.say("app.releases.show_report"))
        self.report.setObjectName("show-report")
        self.report.setProperty("look", "link")
        self.report.clicked.connect(lambda checked=False: self._show_report())
        self.topic(self.report, "report")
        self.chosen.body.addWidget(self.report, 0, Qt.AlignmentFlag.AlignLeft)
        self.chosen.hide()
        self.body.addWidget(self.chosen)
        self.behind = PseudonymCard(lambda: self._where(self._ask_table))
        self.topic(self.behind.button, "behind")
        self.behind.hide()
        self.body.addWidget(self.behind)

    # --- showing -----------------------------------------------------------------------------------

    def opened(self) -> None:
        self.verify.forget()
        self.work(
            listing,
            self.study.ledger_path,
            done=self._listed,
            doing=words.say("app.releases.reading"),
        )

    def _listed(self, tree: dict[str, Any]) -> None:
        holdings = tree["holdings"]
        self.entries = [(holding, entry) for holding in holdings for entry in reversed(holding["releases"])]
        self.nothing.setVisible(not holdings)
        self.left_card.setVisible(bool(holdings))
        self.left.show_bars([_bar(one) for one in holdings if one["budget"]["epsilon"] is not None])
        self.register.show_registers(holdings)
        paying = self.study.plan.holding.casefold()
        self.register.show_register(
            next((one["id"] for one in holdings if one["name"].casefold() == paying), "")
        )
        self.table.setVisible(bool(self.entries))
        self._fill()
        self.chosen.hide()
        self._name_buttons()

    def _fill(self) -> None:
        rows = [[_cell(name, entry) for name in COLUMNS] for _, entry in self.entries]
        headings = [words.say(f"app.releases.column.{name}") for name in COLUMNS]
        narrow = {COLUMNS.index(name): limit for name, limit in NARROW.items()}
        self.table.show_releases(headings, rows, numeric=frozenset({SPENT_COLUMN}), narrow=narrow)

    def _entry(self) -> dict[str, Any] | None:
        place = self.table.currentIndex().row()
        return self.entries[place][1] if 0 <= place < len(self.entries) else None

    def _select(self, place: int) -> None:
        if not 0 <= place < len(self.entries):
            return
        holding, entry = self.entries[place]
        self.register.show_register(holding["id"])
        self.chosen.show()
        self.chosen_title.setText(entry["title"] or words.say("app.releases.untitled"))
        self.chosen_words.say(_sentence(holding, entry))
        self.reason.clear()
        possible = entry["state"] == "complete" or entry["abandoned"]
        self.act.setVisible(possible)
        self.withdraw.setVisible(entry["state"] == "complete")
        self.report.setVisible(entry["state"] == "complete")
        self.resolve.setVisible(entry["abandoned"])
        self.visit.setVisible(entry["state"] == "complete" and bool(entry["state_hash"]))
        self.behind.forget()
        self.behind.setVisible(entry["state"] == "complete" and _has_pseudonyms(entry))
        self._enable()
        self._name_buttons()

    def _name_buttons(self) -> None:
        """Say whether a folder will be asked for."""
        known = "" if self._folder() is None else "_known"
        self.verify.button.setText(words.say(f"app.releases.verify{known}"))
        self.again.setText(words.say(f"app.releases.again{known}"))
        self.report.setText(words.say(f"app.releases.show_report{known}"))

    def _finished(self, entry: dict[str, Any] | None) -> int | None:
        """Return which release of this session an entry is, or None."""
        made = [getattr(outcome, "bundle", None) for _, outcome in self.study.finished]
        known = (place for place, one in enumerate(made) if one and entry and one.entry == entry["id"])
        return next(known, None)

    def _show_report(self) -> None:
        place = self._finished(self._entry())
        if place is not None:
            self.study.show_finished(place)
            self.frame.go("report")
        else:
            self._where(self._reopen)

    def _reopen(self, folder: str) -> None:
        self.work(reopen, Path(folder), done=self._reopened, doing=words.say("app.releases.reading"))

    def _reopened(self, found: Any) -> None:
        self.study.reopen(*found)
        self.frame.go("report")

    def _enable(self) -> None:
        said = bool(self.reason.text().strip())
        self.withdraw.setEnabled(said)
        self.resolve.setEnabled(said)

    def explain(self, topic: str) -> Explanation:
        explanation = super().explain(topic)
        if topic in ("left", "table"):
            base = f"app.releases.three.{'left' if topic == 'left' else 'spent'}"
            return Explanation(explanation.title, (*explanation.parts, *three_parts(base)))
        if not topic and any(not holding["bounds_all"] for holding, _ in self.entries):
            care = Part(body=words.say("app.releases.not_bounded"), tone="care")
            return Explanation(explanation.title, (care, *explanation.parts))
        return explanation

    # --- deciding ----------------------------------------------------------------------------------

    def _change_budget(self, amounts: dict[str, Fraction], reason: str) -> None:
        holding = self.register.holding
        if holding is None:
            return
        currency = {"currency": self.study.plan.price.currency} if "money" in amounts else {}
        self.work(
            change_budget,
            holding["id"],
            amounts | currency,
            reason,
            ledger_path=self.study.ledger_path,
            done=self._acted,
            doing=words.say("app.releases.writing"),
            stoppable=False,
        )

    def _act(self, function: Any) -> None:
        entry = self._entry()
        if entry is None:
            return
        self.work(
            function,
            entry["id"],
            self.reason.text().strip(),
            ledger_path=self.study.ledger_path,
            done=self._acted,
            doing=words.say("app.releases.writing"),
            stoppable=False,
        )

    def _acted(self, tree: dict[str, Any]) -> None:
        self.study.forget("ledger")
        self._listed(tree)
        self.notify(words.say("app.releases.written"), tone="accent")

    def _folder(self) -> Path | None:
        """Return the folder of the selected release, where it is known."""
        entry = self._entry()
        place = self._finished(entry)
        if place is not None:
            return self.study.finished[place][1].bundle.folder
        return None if entry is None else self.frame.settings.bundle(entry["id"])

    def _where(self, act: Any) -> None:
        """Do something with the folder of the selected release; ask for it where nobody knows it."""
        known = self._folder()
        if known is not None:
            act(str(known))
        else:
            self._ask(act)

    def _ask(self, act: Any) -> None:
        dialog = QFileDialog(self, words.say("app.releases.which"))
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setOption(QFileDialog.Option.ShowDirsOnly, True)
        dialog.fileSelected.connect(act)
        dialog.open()

    def _go_on(self) -> None:
        """Go on with a service: from the folder of its last visit, asked for where nobody knows it."""
        entry = self._entry()
        if entry is None:
            return
        known = self.frame.settings.desks().get(entry["parent"] or entry["id"], "")
        if known and Path(known).is_dir():
            self._resume(known)
        else:
            self._ask(self._resume)

    def _resume(self, folder: str) -> None:
        self.work(
            resume,
            Path(folder),
            ledger_path=self.study.ledger_path,
            done=self._resumed,
            doing=words.say("app.releases.reading"),
        )

    def _resumed(self, opened: Any) -> None:
        self.study.resume(opened)
        self.frame.settings.remember_desk(opened.entry, str(opened.folder))
        self.frame.go("visit")

    def _ask_table(self, folder: str) -> None:
        """Ask for the table in which the person behind a pseudonym is looked for."""
        dialog = QFileDialog(self, words.say("app.releases.behind.which"))
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.fileSelected.connect(lambda table: self._look_behind(folder, table))
        dialog.open()

    def _look_behind(self, folder: str, table: str) -> None:
        self.work(
            behind,
            Path(folder),
            table=Path(table),
            ledger_path=self.study.ledger_path,
            **self.behind.asked(),
            done=self.behind.show_person,
            doing=words.say("app.releases.writing"),
            stoppable=False,
        )

    def _verify(self, folder: str) -> None:
        self.work(
            check_bundle,
            Path(folder),
            ledger_path=self.study.ledger_path,
            done=self.verify.show_verification,
            doing=words.say("app.verify.verifying"),
        )

    def _again(self, folder: str) -> None:
        self.work(plan_of, Path(folder), done=self._open_again, doing=words.say("app.releases.reading"))

    def _open_again(self, plan: Any) -> None:
        self.study.open_plan(plan)
        self.frame.go("load")
        self.notify(words.say("app.releases.again_opened"), tone="accent")


def _has_pseudonyms(entry: dict[str, Any]) -> bool:
    return bool(entry["guarantee"].get("kind") == Pseudonymous.id)


def _bar(holding: dict[str, Any]) -> Bar:
    spent, whole = Fraction(holding["spent"]["epsilon"]), Fraction(holding["budget"]["epsilon"])
    left = Fraction(holding["left"]["epsilon"])
    return Bar(
        holding["name"],
        float(min(max(spent / whole, 0), 1)),  # as the block at the left has it
        f"ε\u00a0{level(left, down=True)}",
        words.say(
            "app.releases.left_of",
            whole=level(whole),
            spent=level(spent, up=True),
            count=len(holding["releases"]),
        ),
    )


def _state(entry: dict[str, Any]) -> str:
    if entry["abandoned"]:
        return words.say("app.releases.state.abandoned")
    if entry["state"] == "complete" and entry["expired"]:
        return words.say("app.releases.state.expired")
    return words.say(f"app.releases.state.{entry['state']}")


def _cell(name: str, entry: dict[str, Any]) -> str:
    if name == "until":
        return written_day(entry["expires"], time=False) if entry["expires"] else "–"
    if name == "spent":
        if entry["unbounded"]:
            return words.say("app.releases.unbounded")
        if entry["spent"]["epsilon"] is None:
            return words.say("app.releases.no_loss")
        return level(Fraction(entry["spent"]["epsilon"]), up=True) if entry["counts"] else "0"
    if name == "state":
        return _state(entry)
    return entry[name] or "–"


def _sentence(holding: dict[str, Any], entry: dict[str, Any]) -> str:
    moment = entry["closed_at"] or entry["reserved_at"]
    sentence = words.say(
        "app.releases.sentence",
        recipient=entry["recipient"] or "–",
        agreement=entry["agreement"] or "–",
        day=written_day(moment),
        holding=holding["name"],
        entry=entry["id"],
        approver=entry["approver"] or "–",
    )
    parts = [sentence]
    if entry["abandoned"]:
        parts.append(words.say("app.releases.abandoned_words"))
    elif entry["state"] == "complete" and entry["expired"]:
        parts.append(words.say("app.releases.expired_words"))
    if entry["reason"]:
        parts.append(words.say("app.releases.reason_words", reason=entry["reason"]))
    return "\n\n".join(parts)


PAGE = ReleasesPage
