"""Release: made while one looks on; then what it says, how exact it is, what it spent, what it protects."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, QTimer, QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication, QKeySequence, QResizeEvent, QShortcut
from PySide6.QtWidgets import QLineEdit, QProgressBar, QWidget

from app import words
from app.parts.asked_card import AskedCard
from app.parts.cards import Card, NumberCard, pill
from app.parts.figures import Figures
from app.parts.guard import guard_words
from app.parts.layouts import ColumnLayout, RowLayout
from app.parts.lines import alike, weakest
from app.parts.making import (
    STRETCH,
    add,
    ask_file,
    empty,
    make_button,
    make_column,
    make_field,
    make_row,
    name_widget,
    turn,
)
from app.parts.panel import Explanation, Part, three, three_parts
from app.parts.people import SecondPerson
from app.parts.prose import Heading, Prose
from app.parts.signing_key import SigningSecret
from app.parts.table import DataTable
from app.parts.view_stack import ViewStack
from app.parts.views import explain
from app.parts.views.table import TableBody
from app.parts.wrapping import Wrapping
from app.screens.base import Page, Pieces
from app.screens.release.first_screen import GoodCard, LeftCard, PointsCard, StaysCard
from app.screens.release.looking import points
from app.screens.release.spread_beside import SpreadBeside
from app.screens.release.summary import SHOWN, alone, measured, readable, unit_of_margin, widest_margin
from app.state import flow
from app.theme import polish
from app.words.money import level, money, percent, size, written_day
from app.work.people import prepare_release
from app.work.registers import takes
from app.work.releasing import SPENT, Outcome, Watch, release
from app.work.sealing import seals_known
from engine import texts
from engine.methods.keeping import KeyKeeper
from engine.privacy.promise import Neighbours
from engine.protected import agreeing
from engine.views import TableView, Text, View

# --- Original rows beside the released ones, with what changed marked in both ---------------------------

BESIDE, HIGHEST, ROW = 640, 400, 34
SIDES = ("before", "after")


class RowsBeside(Card):
    """Two tables that scroll and select together."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(words.say("app.release.beside.heading"), parent=parent)
        self.setObjectName("rows-beside")
        self.note = name_widget(Prose(tone="quiet", pixels=12), "rows-beside-note")
        self.body.addWidget(self.note)
        self._sides = make_row(spacing=14)
        self.body.addLayout(self._sides)
        self.tables: dict[str, DataTable] = {}
        for name in SIDES:
            column = make_column(spacing=4)
            said = words.say(f"app.release.beside.{name}")
            column.addWidget(Heading(said, size="small", tone="quiet"))
            table = self.tables[name] = DataTable(said)
            table.setObjectName(f"rows-{name}")
            column.addWidget(table)
            self._sides.addLayout(column, 1)
        before, after = self.tables.values()
        for one, other in ((before, after), (after, before)):
            one.verticalScrollBar().valueChanged.connect(other.verticalScrollBar().setValue)
            one.horizontalScrollBar().valueChanged.connect(other.horizontalScrollBar().setValue)
        self.hide()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        turn(self._sides, self.width() >= BESIDE)

    def show_rows(self, found: Any) -> None:
        """Show what was released beside what it was made from; hide where nothing is known of it."""
        self.setVisible(found is not None)
        if found is None:
            return
        rows, columns = range(len(found.after)), range(len(found.columns))
        marked = {(row, column) for row in rows for column in columns if found.changed(row, column)}
        cells = sum(cell is not None for row in found.before for cell in row)
        told = {"rows": len(rows), "of": found.rows, "changed": len(marked), "cells": cells}
        self.note.say(words.say("app.release.beside.note", **told))
        written = {
            "before": [["–" if cell is None else cell for cell in row] for row in found.before],
            "after": [list(row) for row in found.after],
        }
        for name, table in self.tables.items():
            table.show_rows(found.columns, written[name], marked=marked)
            table.setFixedHeight(min(HIGHEST, 36 + ROW * len(rows) + 14))
        before, after = self.tables.values()
        for column in columns:  # the same widths, so that they scroll as one
            width = max(table.columnWidth(column) for table in (before, after))
            for table in (before, after):
                table.setColumnWidth(column, width)
        for one, other in ((before, after), (after, before)):
            one.selectionModel().currentRowChanged.connect(
                lambda now, then, other=other: (
                    other.selectRow(now.row()) if other.currentIndex().row() != now.row() else None
                )
            )


LOOK_EVERY = 50  # milliseconds
FIGURES = 4  # on the first screen
MOST_CELLS, MOST_COLUMNS = 30, 6  # of the first lines of a table, on the first screen
FEW = 3  # names that stand in the place of a figure: of more their number does
WIDE = 760  # pixels: from here on the parts stand side by side
SLOT = "release"  # the window asks for it before it closes
SEALING_REFUSED = ("policy.sealed", "sealing.secret")
MOST_KNOWN = 1_000  # earlier releases that a new one is compared with


class ReleasePage(Page):
    """The ninth screen."""

    id = "release"
    counts_rows = True

    def build(self) -> Pieces:
        self.watch: Watch | None = None
        self._count = 0  # of tables and pictures behind the link
        self._unfilled: Outcome | None = None  # whose tables nobody has asked for yet
        self._plan: Any = None
        self._spends = ""
        self._shown: Any = None
        self.waiting = Prose(words.say("app.release.waiting"))
        self.body.addWidget(self.waiting)
        self._build_secret()
        self._build_running()
        self.ended = name_widget(Card(), "ended")
        self.ended.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.ended_title, self.ended_words = Heading(size="side"), Prose()
        add(self.ended.body, self.ended_title, self.ended_words)
        self.body.addWidget(self.ended)
        self._outcome: Outcome | None = None
        yield from self._build_made()
        self.body.addStretch(1)
        self._timer = QTimer(self)
        self._timer.setInterval(LOOK_EVERY)
        self._timer.timeout.connect(self._look)

    def _build_secret(self) -> None:
        """For a method that keeps a key: a passphrase that locks it, asked each time and kept nowhere."""
        self.secret = name_widget(Card(words.say("app.release.secret.heading")), "secret")
        self.secret.body.addWidget(Prose(words.say("app.release.secret.body"), tone="quiet"))
        self.passphrases: list[QLineEdit] = []
        for name in ("first", "again"):
            said = words.say(f"app.release.secret.{name}")
            field = make_field(f"passphrase-{name}", said, placeholder=said, width=360, secret=True)
            self.topic(field, "secret")
            self.passphrases.append(field)
            self.secret.body.addWidget(field)
        self.earlier_key: Path | None = None
        self._warned = ""  # the plan whose key would not be locked
        self.choose_key = make_button(words.say("app.release.secret.earlier"), "earlier-key", self._ask_key)
        self.topic(self.choose_key, "secret")
        self.secret.body.addWidget(self.choose_key, 0, Qt.AlignmentFlag.AlignLeft)
        self.signing = SigningSecret()
        self.sealing = SigningSecret("sealing-passphrase", "app.sealing.at_release", SEALING_REFUSED)
        self.second = SecondPerson()
        self.second.asked.connect(self._ask_second)
        add(self.body, self.secret, self.signing, self.sealing, self.second)

    def _ask_key(self) -> None:
        """Ask for the key of an earlier release, with which this one is to be joined."""
        ask_file(self, words.say("app.release.secret.earlier"), self._take_key)

    def _take_key(self, file: str) -> None:
        self.earlier_key = Path(file)
        self.choose_key.setText(words.say("app.release.secret.earlier_chosen"))

    def _build_running(self) -> None:
        self.running = name_widget(Card(), "running")
        self.stage = name_widget(Heading(size="side"), "stage")
        self.running.body.addWidget(self.stage)
        self.bar = QProgressBar()
        self.bar.setRange(0, 1000)
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName(words.say("app.release.progress"))
        self.spending = name_widget(Prose(), "spending")
        add(self.running.body, self.bar, 4, self.spending)
        row = RowLayout()
        self.stop = make_button("", "stop-release", self._stop)
        self.topic(self.stop, "stop")
        add(row, self.stop, STRETCH)
        self.running.body.addLayout(row)
        self.body.addWidget(self.running)

    def _build_made(self) -> Pieces:
        self.made = QWidget()
        column = make_column(inside=self.made, spacing=12, margins=0)
        self.figures = name_widget(Figures(), "four-figures")
        self.numbers: dict[str, NumberCard] = {}
        self.left, self.good, self.never = LeftCard(), GoodCard(), StaysCard()
        self.never.withdraw.clicked.connect(lambda checked=False: self._withdraw())
        for name, card in self._parts().items():
            card.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            card.setAccessibleName(words.say(f"app.release.part.{name}"))
            self.topic(card, name)
        self.topic(self.never.withdraw, "withdraw")
        self._sides = make_row(spacing=12)
        add(self._sides, (self.left, 3), (make_column(self.good, (self.never, 1), spacing=12), 2))
        self.asked = AskedCard()
        self.topic(self.asked.fold.line, "asked")
        add(column, self.figures, self._build_strip(), self._sides, self.asked)
        self.further = QWidget()
        column.addWidget(self.further)
        yield
        self._build_further()
        yield
        self.body.addWidget(self.made)
        keys: dict[str, Callable[[], object]] = {"T": self.open_further.click, "Ctrl+C": self._copy}
        keys |= {str(place): one.setFocus for place, one in enumerate(self._parts().values(), start=1)}
        for key, act in keys.items():
            shortcut = QShortcut(QKeySequence(key), self.made)
            shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            shortcut.activated.connect(act)

    def _parts(self) -> dict[str, Card]:
        return {"leaves": self.left, "good": self.good, "never": self.never}

    def _build_strip(self) -> Card:
        """One line that every screen has room for: all the rest behind one link, the figures, the folder."""
        strip = name_widget(Card(), "strip")
        strip.setProperty("card", "bare")
        strip.body.setContentsMargins(0, 0, 0, 0)
        self.open_further = make_button("", "further-tables", self._fold, look="link", checkable=True)
        self.topic(self.open_further, "further")
        copy = make_button(words.say("app.release.copy"), "copy-figures", self._copy, look="link")
        folder = make_button(words.say("app.release.open_folder"), "open-release", self._open, look="link")
        line = Wrapping()
        for widget in (self.open_further, copy, folder):
            line.addWidget(widget)
        strip.body.addLayout(line)
        self.topic(copy, "copy")
        self.topic(folder, "leaves")
        return strip

    def _build_further(self) -> None:
        """What an auditor asks for: everything else, hidden until it is asked for."""
        column = make_column(inside=self.further, spacing=14, margins=0)
        self.more_figures, self.points = Figures(), PointsCard()
        self.topic(self.points, "good")
        self.nothing, self.files = Prose(words.say("app.release.no_numbers")), Prose(tone="quiet")
        self._first = ColumnLayout()
        self.views = ViewStack(
            self.runner, lambda widget, place: self.topic(widget, f"view.{place}"), stays=False
        )
        self.stays = _part("stays")
        self.internal = Prose(tone="quiet")
        self.inside = ViewStack(self.runner, lambda widget, place: self.topic(widget, f"inside.{place}"))
        self.beside, self.spread = RowsBeside(), SpreadBeside()
        add(
            column,
            self.points,
            self.more_figures,
            _part("leaves"),
            self.nothing,
            self._first,
            self.views,
            self.files,
        )
        add(column, self.stays, self.internal, self.inside)
        beside: tuple[tuple[str, Card], ...] = (("beside", self.beside), ("spread", self.spread))
        for name, part in beside:
            for widget in (part, *part.findChildren(QWidget)):
                self.topic(widget, name)
            column.addWidget(part)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if hasattr(self, "_sides"):
            turn(self._sides, self.viewport().width() >= WIDE)

    def _fold(self) -> None:
        """Show or hide everything else."""
        opened = self.open_further.isChecked()
        if opened and self._unfilled is not None:
            outcome, self._unfilled = self._unfilled, None
            self._fill_further(outcome)
        self.further.setVisible(opened)
        self.open_further.setText(
            words.say("app.release.fold" if opened else "app.release.unfold", count=self._count)
        )
        if opened:
            self.show_from(self.further)

    def _copy(self) -> None:
        """Put the four figures on the clipboard, in words."""
        QGuiApplication.clipboard().setText("\n".join(one.accessibleName() for one in self.figures.cards))
        self.notify(words.say("app.release.copied"), tone="accent")

    def _open(self) -> None:
        outcome = self.study.result("bundle")
        if outcome is not None:
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(outcome.bundle.folder / "release")))

    def _withdraw(self) -> None:
        """Open this release among all, where it is marked as withdrawn and the reason is kept."""
        outcome = self.study.result("bundle")
        if outcome is not None:
            self.frame.go_to("releases", outcome.bundle.entry)

    # --- showing -----------------------------------------------------------------------------------

    def opened(self) -> None:
        asked, self.study.release_asked = self.study.release_asked, ""
        wanted = asked == self.study.plan.fingerprint and self.study.result("bundle") is None
        if wanted and not self._keeps_key:
            self._begin()

    @property
    def _keeps_key(self) -> bool:
        return bool(getattr(self.study.method, "keeps_key", False))

    @property
    def _uses_earlier_key(self) -> bool:
        """Whether the plan goes on with the key of an earlier release."""
        if not self._keeps_key:
            return False
        design = self.study.plan.design
        return isinstance(design, KeyKeeper) and design.uses_earlier_key

    @property
    def _is_local(self) -> bool:
        """Whether people changed their answers themselves, so that no table was there to be in."""
        outcome = self.study.result("bundle")
        return outcome is not None and outcome.facts["public"]["promise"]["kind"] == "local_dp"

    @property
    def _epsilon(self) -> str:
        """The level that this release spends, written; nothing where it spends none."""
        preview = self.study.result("ledger")
        promise = None if preview is None else preview.promise
        if promise is None or promise.loss is None or not flow.spends(self.study.method):
            return ""
        return level(promise.loss.epsilon)

    def leave(self) -> None:
        self._forget_secret()
        self.signing.clear()
        self.sealing.clear()

    def _forget_secret(self) -> None:
        self.earlier_key = None
        self.choose_key.setText(words.say("app.release.secret.earlier"))
        for field in self.passphrases:
            field.clear()

    def enter(self) -> None:
        outcome = self.study.result("bundle")
        running = self.watch is not None
        ended = self._outcome if not running and outcome is None else None
        if ended is not None and (ended.bundle is not None or self._plan != self.study.plan):
            ended = None  # it was about another plan
        self.running.setVisible(running)
        self.made.setVisible(outcome is not None and not running)
        self.ended.setVisible(ended is not None)
        waits = not running and outcome is None
        second = waits and self.study.needs_second
        self.waiting.setVisible(waits and ended is None and not second and self._is_foreseen)
        self.secret.setVisible(waits and self._keeps_key)
        if waits and seals_known(self.study.ledger_path):
            self.sealing.show()
        self.choose_key.setVisible(self._uses_earlier_key)
        self.second.setVisible(second)
        if outcome is None:
            self.title.setText(self.say("title_running" if running else "title"))
            self.subtitle.say(self.say("subtitle"))
        elif self._shown is not outcome:
            self._shown = outcome
            self._show(outcome)
        self.setAccessibleName(self.title.text())

    def next_words(self) -> str:
        if self.watch is not None:
            return ""
        if self.study.result("bundle") is not None:
            return words.say("app.release.make_report")
        if self.study.needs_second or not flow.reachable(self.id, self.study.state):
            return ""  # what one person may do stands on the page
        if not self._is_foreseen:
            return self.say("to_preview")
        return self.say("button", epsilon=self._epsilon) if self._epsilon else self.say("button_free")

    @property
    def _is_foreseen(self) -> bool:
        """Whether the ledger was asked about this very plan: only then is it known what a release takes."""
        return self.study.result("ledger") is not None

    def shows_next(self) -> bool:
        """Nothing goes on from here before two people made it."""
        return not self.study.needs_second

    def commits(self) -> str:
        if not self._is_foreseen or self.watch is not None or self.study.result("bundle") is not None:
            return ""
        return self.next_words()

    def guard(self) -> tuple[str, str] | None:
        return guard_words(self.study)

    def go_next(self) -> None:
        if self.watch is not None or self.study.result("bundle") is not None:
            self.frame.go_next()
        elif not self._is_foreseen:
            self.frame.go("preview")
        elif not self.study.needs_second:
            self._begin()

    # --- running -----------------------------------------------------------------------------------

    def _ask_second(self, what: str) -> None:
        """Ask where a request is written, or for the approval that came back."""
        if what == "prepare":
            ask_file(self, words.say("app.staff.where_request"), self._prepare, writes="request.json")
        else:
            ask_file(self, words.say("app.staff.which_approval"), lambda file: self._begin(Path(file)))

    def _is_underway(self) -> bool:
        """Say that a release is being made, where one is.

        Another one in its place would stop it, and leave what it spent for nothing.
        """
        if not self.runner.busy(SLOT):
            return False
        self.notify(words.say("app.release.underway"), words.say("app.release.underway_do"), tone="care")
        return True

    def _prepare(self, file: str) -> None:
        if self._is_underway():
            return
        self.work(
            prepare_release,
            self.study.plan_as_read,
            Path(file),
            ledger_path=self.study.ledger_path,
            signing=self.signing.taken(),
            known=self.frame.settings.bundles(MOST_KNOWN),
            password=self.study.password,
            done=self._prepared,
            failed=self._refuse_for_reason,
            doing=words.say("app.staff.working"),
        )

    def _refuse_for_reason(self, error: Exception) -> None:
        """Show why nothing leaves; Preview asks for the reason from now on, where one would let it."""
        self.study.refused.add(str(getattr(error, "values", {}).get("decision", "")))
        self.refuse(error)

    def _prepared(self, file: Path) -> None:
        self.notify(words.say("app.staff.prepared", file=file.name), tone="accent")
        self.enter()

    def _begin(self, approval: Path | None = None) -> None:
        if self._is_underway():
            return
        if self.study.target is None:
            self.frame.go("preview")
            return
        passphrase = self.passphrases[0].text() if self._keeps_key else ""
        if self._keeps_key and passphrase != self.passphrases[1].text():
            self.notify(words.say("app.release.secret.differs"), words.say("app.release.secret.differs_do"))
            self.passphrases[1].setFocus()
            return
        if self._keeps_key and not passphrase and self._warned != self.study.plan.fingerprint:
            self._warned = self.study.plan.fingerprint  # asked once: the second press releases
            self.notify(words.say("app.release.secret.unlocked"), words.say("app.release.secret.unlocked_do"))
            self.passphrases[0].setFocus()
            return
        earlier_key = self.earlier_key if self._uses_earlier_key else None
        self._forget_secret()
        self.clear_notice()
        self._outcome = None
        self.watch, self._plan, self._spends = Watch(), self.study.plan, self._epsilon
        self.stop.setEnabled(True)
        self.bar.setValue(0)
        self._stage("run.checking")
        self._look()
        self._timer.start()
        self.runner.start(
            release,
            self.study.plan_as_read,
            Path(self.study.target),
            watch=self.watch,
            ledger_path=self.study.ledger_path,
            language=words.language(),
            passphrase=passphrase,
            signing=self.signing.taken(),
            earlier_key=earlier_key,
            approval=approval,
            sealing=self.sealing.taken(),
            seen=dict(self.study.looked),
            password=self.study.password,
            asked=tuple(self.study.asked),
            said_left=takes(self.study.plan, self.study.result("ledger")).before
            if approval is None
            else None,
            known=self.frame.settings.bundles(MOST_KNOWN),
            done=self._ended,
            failed=self._failed,
            cancelled=lambda: self._ended(Outcome(stopped=True)),
            progressed=self._step,
            slot=SLOT,
        )
        self.frame.update_frame()
        self.enter()
        self.stop.setFocus()

    def _step(self, share: float, stage: str) -> None:
        self.bar.setValue(round(1000 * share))
        self._stage(stage)

    def _stage(self, stage: str) -> None:
        text_id = f"stages.{stage}"
        self.stage.setText(words.say(text_id) if words.has(text_id) else words.say("stages.run.noise"))

    def _look(self) -> None:
        """Say whether stopping still gives the budget back; the button says so too."""
        if self.watch is None:
            return
        spent = self.watch.state == SPENT
        self.stop.setText(self.say("stop_spent" if spent else "stop_free"))
        sentence = self.say("is_spent" if spent else "is_free", epsilon=self._spends)
        if self.spending.plain() != sentence:
            self.spending.setProperty("tone", "care" if spent else "")
            polish(self.spending)
            self.spending.say(sentence)

    def _stop(self) -> None:
        self.stop.setEnabled(False)
        self.stage.setText(words.say("app.release.stopping"))
        self.runner.stop(SLOT)

    def _failed(self, error: Exception) -> None:
        watch = self.watch if self.watch is not None else Watch()
        self.refuse(error)
        self._ended(Outcome(state=watch.state, is_there=watch.is_there))

    def _ended(self, outcome: Outcome) -> None:
        self._timer.stop()
        self.watch = None
        self._outcome = outcome
        # What the ledger says has changed, whatever became of the release.
        self.study.forget("ledger")
        if outcome.bundle is not None:
            self.frame.settings.remember_bundle(outcome.bundle.entry, str(outcome.bundle.folder))
        if outcome.bundle is None:
            self._say_ended(outcome)
        elif not self.study.store("bundle", outcome, self._plan):
            self._say_made_before()
        self.frame.update_frame()
        self.enter()
        self.refresh_explanation("")
        if outcome.bundle is not None and outcome.error is not None:
            said = " ".join(words.explain(outcome.error))
            self.notify(
                words.say("app.sealing.stays_open"), words.say("app.sealing.stays_open_do", said=said)
            )
        first = next(iter(self.figures.cards), self.left)
        (first if outcome.bundle is not None else self.ended).setFocus()

    def _say_ended(self, outcome: Outcome) -> None:
        self.ended_title.setText(words.say(f"app.release.{outcome.ending}"))
        kept = self.say(outcome.kept, epsilon=self._spends, holding=self._plan.holding)
        self.ended_words.say(kept)
        self.ended.setProperty("card", "true" if outcome.kept == "freed" else "care")
        polish(self.ended)
        self.ended.setAccessibleName(f"{self.ended_title.text()} {kept}")
        if self._plan != self.study.plan:  # the card is of the plan that was released, and is not shown
            what, do = ("", "") if outcome.error is None else words.explain(outcome.error)
            self.notify(f"{self.ended_title.text()} {what}".strip(), f"{kept} {do}".strip())
        elif outcome.error is not None:
            self._refuse_for_reason(outcome.error)
        if outcome.error is not None:
            self.signing.ask_after(outcome.error)
            self.sealing.ask_after(outcome.error)

    def _say_made_before(self) -> None:
        """Say that a release was made whose plan has been changed meanwhile: it is not what stands here."""
        values = {"epsilon": self._spends, "holding": self._plan.holding}
        spent = words.say("app.release.made_before_spent", **values) if self._spends else ""
        self.notify(
            words.say("app.release.made_before", title=self._plan.purpose.title),
            f"{spent} {words.say('app.release.made_before_do')}".strip(),
        )

    # --- what was made -----------------------------------------------------------------------------

    def _show(self, outcome: Outcome) -> None:
        public, internal = outcome.facts["public"], outcome.facts["internal"]
        self.title.setText(words.say("app.release.title_made"))
        method = words.say(f"methods.{public['method']['id']}.title")
        self.subtitle.say(
            words.say(
                "app.release.subtitle_made",
                day=written_day(public["made_at"]),
                method=method,
                recipient=public["purpose"].get("recipient", ""),
            )
        )
        self.internal.say(self.say("internal"))
        self.asked.show_asked(_asked(internal))
        self._show_figures(outcome)
        found = weakest(outcome.bundle.views)
        title, lines = ("", ()) if found is None else (words.label(found[0].title), found[1])
        effects = next((one.silent for one in outcome.came if one.what == "effects"), None)
        self.left.show_lines(title, lines, effects)
        first = outcome.facts.get("first", ())
        is_rows = not lines and bool(first)
        empty(self.left.rows)
        if is_rows:
            self.left.rows.addWidget(self._table_of(first[0], few=True))
        views = tuple(view for view in outcome.bundle.views if not _is_counted(view))
        if not lines and not is_rows:
            self.left.rows.addWidget(self._shown_small(views))
        seen = points(outcome.facts, outcome.came)
        self.good.show_measured(measured(internal), seen)
        self.points.show_points(seen)
        self.never.show_made(*self._stays_here(outcome))
        kept = sum(one is not None for one in (outcome.bundle.beside, outcome.bundle.spread))
        self._count = len(views) + len(outcome.bundle.internal_views) + kept + len(first)
        self._unfilled = outcome
        self.open_further.setChecked(False)
        self._fold()

    def _fill_further(self, outcome: Outcome) -> None:
        """Make everything else, once somebody wants to see it."""
        first = outcome.facts.get("first", ())
        empty(self._first)
        for table in first:
            self._first.addWidget(self._table_of(table))
        views = tuple(view for view in outcome.bundle.views if not _is_counted(view))
        self.views.show_views(views)
        self.nothing.setVisible(not views and not first)
        names = [name for name, _, _ in outcome.facts["files"].get("release", ())]
        self.files.say(words.say("app.release.files", files=", ".join(names)))
        self.inside.show_views(outcome.bundle.internal_views)
        for one in (self.stays, self.internal):
            one.setVisible(bool(self.inside.views))
        self.beside.show_rows(outcome.bundle.beside)
        self.spread.show_spread(outcome.bundle.spread)

    def _shown_small(self, views: Sequence[View]) -> QWidget:
        """Return the first lines of what left where no number has a margin; files where there is no table."""
        found = next((view for view in views if isinstance(view, TableView)), None)
        if found is None:
            outcome = self.study.result("bundle")
            names = [name for name, _, _ in outcome.facts["files"].get("release", ())]
            return Prose(words.say("app.release.files", files=", ".join(names)))
        return TableBody(replace(found, rows=found.rows[:SHOWN]))

    def _stays_here(self, outcome: Outcome) -> tuple[list[str], str]:
        """Return what must not be handed over, and what is spent for good."""
        lines = [words.say(f"app.release.never.{name}") for name in ("measured", "internal")]
        lines += [words.say("app.release.never.key")] if self._keeps_key else []
        if outcome.facts["public"]["statement"].get("posterior") is None or not flow.spends(
            self.study.method
        ):
            return lines, words.say("app.release.gone_free")
        spent = _fraction(outcome.facts["public"]["statement"]["epsilon"])
        return lines, words.say("app.release.gone", epsilon=level(spent))

    def _show_figures(self, outcome: Outcome) -> None:
        """Show the four that matter most of all that is known; the others stand with the further tables."""
        for figures in (self.figures, self.more_figures):
            for card in list(figures.cards):
                figures.remove(card)
        self.numbers = {}
        for place, (name, heading, number, sentence, tone) in enumerate(self._told(outcome)):
            card = name_widget(NumberCard(heading), f"number-{name}")
            card.show_number(number, sentence, tone=tone)
            self.topic(card, name)
            self.numbers[name] = (self.figures if place < FIGURES else self.more_figures).add(card)
        for figures in (self.figures, self.more_figures):
            figures.arrange()

    def _told(self, outcome: Outcome) -> Iterator[tuple[str, str, str, str, str]]:
        """Yield name, heading, number, sentence and tone of what is known of a release, in this order."""
        public, internal = outcome.facts["public"], outcome.facts["internal"]
        statement, say = public["statement"], words.say

        def heading(name: str) -> str:
            return say(f"app.release.{name}.heading")

        read = readable(outcome.bundle.views, outcome.came, outcome.foreseen)
        if read is not None:
            number = say("app.release.figure.of", can=read.can, of=read.of)
            said = say(f"app.release.readable.{read.what}")
            if read.forecast is not None:
                said = say("app.release.readable.forecast", what=said, forecast=read.forecast)
            yield "readable", heading("readable"), number, said, "care" if read.is_poor else ""
        held: Mapping[str, Any] = next(
            iter(internal.get("measures", {}).get("utility.held_out_score", {}).values()), {}
        )
        expected = next((one for one in public.get("expected", ()) if one.get("limit") is not None), None)
        if held.get("error") is not None:
            off, guess = alike([held["error"], held.get("guess") or 0.0])
            yield "off", heading("off"), off, say("app.release.off.held_out", guess=guess), ""
        elif expected is not None:
            widest = widest_margin(outcome.bundle.views)
            limit = size(float(expected["limit"]))
            name = "forecast" if widest is None or size(widest) == limit else "printed"
            limit = limit if widest is None else size(widest)
            unit = unit_of_margin(public["expected"], limit)
            unit = agreeing(f" {unit}", limit, texts.spoken()).strip() if unit else ""
            said = say(f"app.release.off.{name}", unit=unit).strip()
            yield "off", heading("off"), f"±\u00a0{limit}", said, ""
        posterior, holding = statement.get("posterior"), internal.get("holding", {})
        if posterior is not None and flow.spends(self.study.method):
            epsilon, price = _fraction(statement["epsilon"]), internal.get("price", {})
            said = say("app.release.spent.sentence", holding=holding.get("name", ""))
            currency = self.study.plan.price.currency
            if price.get("budget") is not None:
                said = say("app.release.spent.money", money=money(price["budget"], currency))
            yield "spent", heading("spent"), f"ε {level(epsilon)}", said, ""
            left, whole = _left(holding), _fraction(holding.get("epsilon") or "0")
            number = f"ε {level(left, down=True)}" if left is not None else "–"
            said = say("app.release.left.sentence", whole=level(whole))
            yield "left", heading("left"), number, said, "care" if left is not None and not left else ""
        for name, value in public["promise"]["terms"].items():
            base = f"promises.{public['promise']['kind']}.terms.{name}"
            # Names of many columns are no figure: their number is, and the right side names them.
            told = words.number(len(names)) if len(names := _names(value)) > FEW else words.term(value)
            yield f"term.{name}", say(f"{base}.label"), told, say(f"{base}.what"), ""
        rows = next((one for one in public["artefacts"] if one.get("rows") and outcome.facts["first"]), None)
        if rows is not None:
            said = say("app.release.rows.sentence", file=rows["file"], columns=len(rows.get("columns", ())))
            yield "rows", heading("rows"), words.number(rows["rows"]), said, ""
        sizes, groups = self.study.result("group_sizes"), alone(internal)
        if groups is not None:  # by what left, as part 2 counts it: two counts by other columns puzzle
            both = " → ".join(map(texts.number, groups))
            yield "alone.both", heading("alone.both"), both, say("app.release.alone.both.sentence"), ""
        elif sizes is not None:
            said = say("app.release.alone.sentence", people=sizes.people)
            yield "alone", heading("alone"), words.number(sizes.alone), said, ""
        if posterior is not None:
            add_remove = statement["neighbours"] == Neighbours.ADD_REMOVE
            shown = posterior["presence" if add_remove else "value"]
            said = say(
                f"app.release.learnt.sentence{'_local' if self._is_local else ''}",
                value=percent(posterior["value"]),
            )
            yield "learnt", heading("learnt"), f"50 % → {percent(shown)}", said, ""

    def _table_of(self, first: tuple[str, list[list[str]], int], *, few: bool = False) -> QWidget:
        """Return the first lines of a table that leaves row by row, with labels of the code book.

        ``few`` keeps what is read at a glance: of many columns the first ones, on fewer lines.
        """
        name, lines, rows = first
        columns = len(lines[0])
        if few:
            across = min(columns, MOST_COLUMNS)
            lines = [line[:across] for line in lines[: 1 + MOST_CELLS // across]]
        card = name_widget(QWidget(), f"first-{name}")
        table = TableBody(TableView(name, tuple(lines[0]), tuple(map(tuple, self._labelled(lines)))))
        told = {"file": name, "count": len(lines) - 1, "rows": rows}
        said = words.say("app.release.first", **told)
        if len(lines[0]) < columns:
            said = words.say("app.release.first_few", **told, shown=len(lines[0]), columns=columns)
        add(make_column(inside=card, spacing=6, margins=0), Prose(said, tone="quiet", pixels=12), table)
        self.topic(table, "first")
        return card

    def _labelled(self, lines: list[list[str]]) -> list[list[str]]:
        """Return lines below their headings with the labels that the code book has for the codes."""
        schema = self.study.plan.schema
        labels = [schema.column(name).labels if name in schema else {} for name in lines[0]]
        return [
            [known.get(value, value) for value, known in zip(line, labels, strict=False)]
            for line in lines[1:]
        ]

    def explain(self, topic: str) -> Explanation:
        outcome = self.study.result("bundle")
        kind, _, place = topic.partition(".")
        if outcome is not None and kind in ("view", "inside"):
            views = (self.views if kind == "view" else self.inside).views
            found = explain(views[int(place)]) if int(place) < len(views) else None
            return found or self.explain("")
        if topic.startswith("term.") and outcome is not None:
            base = f"promises.{outcome.facts['public']['promise']['kind']}.terms.{place}"
            said, value = words.say(f"{base}.what"), outcome.facts["public"]["promise"]["terms"][place]
            listed = f"{value}. {said}" if len(_names(value)) > FEW else said
            what = Part(words.say("app.window.three_what"), listed)
            return Explanation(words.say(f"{base}.label"), (what, *three_parts("app.release.three.term")[1:]))
        if topic in ("leaves", "good", "never", "withdraw", "further", "copy", "asked"):
            return super().explain(topic)
        if topic == "learnt" and self._is_local:
            return three("app.release.three.learnt_local", words.say("app.release.learnt.heading"))
        if topic in self.numbers:
            return three(
                self._text(f"three.{topic}.what").removesuffix(".what"),
                words.say(f"app.release.{topic}.heading"),
            )
        if outcome is None or topic:
            return super().explain(topic)
        sentence = outcome.facts["public"]["statement"]["sentence"]
        notes = [Part(body=words.label(Text(note["id"], note["values"]))) for note in _notes(outcome)]
        return Explanation(
            words.say("app.release.in_one_sentence"),
            (Part(body=words.label(Text(sentence["id"], sentence["values"]))), *notes),
        )


def _part(name: str) -> QWidget:
    """Return the head of a part: what it is, and whether it leaves or stays."""
    line = QWidget()
    row = make_row(inside=line, margins=(0, 10, 0, 0))
    add(row, (Heading(words.say(f"app.release.part.{name}"), size="side"), 1))
    row.addWidget(pill(words.say(f"app.release.pill.{name}")))
    return line


def _asked(internal: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    """Return what a server was asked, for the screens and for the release, from the evidence that stays."""
    read = internal.get("input", {})
    return (*read.get("asked_before", ()), read) if "asked" in read else ()


def _is_counted(view: View) -> bool:
    """Say whether a view is said in words among what to look at."""
    title = view.title
    return isinstance(title, Text) and title.id.startswith("measures.utility.small_groups.numbers.")


def _notes(outcome: Outcome) -> list[dict[str, Any]]:
    return [note for note in outcome.facts["public"].get("notes", ()) if isinstance(note, dict)]


def _names(value: Any) -> list[str]:
    """Return the names that a promise lists; empty where it is about something else."""
    return value.split(", ") if isinstance(value, str) else []


def _fraction(written: Any) -> Any:
    from fractions import Fraction

    return Fraction(str(written))


def _left(holding: dict[str, Any]) -> Any:
    if holding.get("epsilon") is None:
        return None
    return max(_fraction(holding["epsilon"]) - _fraction(holding["epsilon_spent"]), 0)


PAGE = ReleasePage
