"""Releases: what was given, to whom, until when, what it spent, what is left; verify, withdraw, again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QLineF, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QFocusEvent, QFontMetrics, QPainter, QPen, QResizeEvent
from PySide6.QtWidgets import QHeaderView, QLineEdit, QMessageBox, QPushButton, QStyleOptionViewItem, QWidget

from app import words
from app.parts.cards import Card
from app.parts.making import (
    STRETCH,
    add,
    align_left,
    ask_file,
    make_button,
    make_field,
    make_row,
    name_widget,
)
from app.parts.panel import Explanation, Part, three_parts
from app.parts.plot import LEFTWARDS, Painted, cut, make_bars
from app.parts.prose import Heading, Prose
from app.parts.register_card import RegisterCard
from app.parts.sealing import ask_secret
from app.parts.table import HEADING_EDGE, DataTable, Index, LinesDelegate
from app.parts.verify_card import VerifyCard
from app.screens.base import Page
from app.state.files import is_release
from app.theme import mono_font, text_font, theme
from app.words.money import level, written_day
from app.work.people import approve_request, compare_sheet, show_request, work_on_people, write_sheet
from app.work.releasing import (
    answer_register,
    behind,
    change_budget,
    check_bundle,
    is_sealed,
    listing,
    open_what_stays,
    plan_of,
    reopen,
    resolve,
    withdraw,
    work_on_key,
)
from app.work.visiting import resume
from engine.privacy.promises.pseudonymous import Pseudonymous
from engine.views import View

# --- The people of a register, and files that are carried -----------------------------------------------


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
        chosen = ("method", "files", "columns", "steps", "settings", "reasons")
        lines = [words.pair(words.say(f"signing.request.{name}"), asked[name] or "–") for name in chosen]
        said = words.say("app.staff.request", says=asked["says"], **told)
        box.setText("\n\n".join((said, "\n".join(lines))))
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


# --- The table of releases ------------------------------------------------------------------------------

PADDING = 26  # left and right of a text in its cell
LOWEST, AIR = 34, 14  # height of a row of one line, and what a row has around its lines
MOST_LINES = 12  # of text before the table scrolls


class WrappingDelegate(LinesDelegate):
    """Every text on as many lines as it needs."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        self.paint_ground(painter, option, index)
        self.paint_text(painter, option.rect, index, str(index.data() or ""), wrap=True)


class ReleasesTable(DataTable):
    """``chosen`` tells the row that the person is on."""

    chosen = Signal(int)

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(name, parent)
        self.setItemDelegate(WrappingDelegate(self))
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self._limits: dict[int, int] = {}

    def show_releases(
        self,
        headings: Sequence[str],
        rows: Sequence[Sequence[str]],
        *,
        numeric: frozenset[int],
        narrow: dict[int, int],
    ) -> None:
        """Show the rows; ``narrow`` says how wide a column may become at most, by its place."""
        self._limits = narrow
        self.show_rows(headings, rows, numeric=numeric)
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.selectionModel().currentRowChanged.connect(lambda now, before: self.chosen.emit(now.row()))
        self.fit()

    def fit(self) -> None:
        """Share the width out: what each column needs if there is room, else the long ones give way."""
        model, width = self.model(), self.viewport().width()
        if model is None or width < 50 or not model.rowCount():
            return
        needed = [self._needed(column) for column in range(model.columnCount())]
        narrow = sum(needed[column] for column in self._limits)
        wide = [column for column in range(len(needed)) if column not in self._limits]
        rest, wanted = max(width - narrow, 60 * len(wide)), sum(needed[column] for column in wide)
        # In proportion to what they hold, but none below the others' half.
        floor = rest / (2 * len(wide))
        shares = {column: max(needed[column] * rest / wanted, floor) for column in wide}
        whole = sum(shares.values())
        sizes = {column: int(share * rest / whole) for column, share in shares.items()}
        for column in wide:  # a heading is never cut: the widest gives
            lacking = max(self._heading(column) - sizes[column], 0)
            sizes[max(sizes, key=lambda one: sizes[one])] -= lacking
            sizes[column] += lacking
        for column in range(len(needed)):
            self.horizontalHeader().resizeSection(column, sizes.get(column, needed[column]))
        self._fit_rows()

    def _needed(self, column: int) -> int:
        """Return the width at which a column shows everything on one line, within its limit."""
        model = self.model()
        metrics = QFontMetrics(text_font())
        texts = [str(model.index(row, column).data() or "") for row in range(model.rowCount())]
        longest = max(metrics.horizontalAdvance(text) for text in texts) + PADDING
        return max(self._heading(column), min(longest, self._limits.get(column, longest)))

    def _heading(self, column: int) -> int:
        """Return the width of a column's heading."""
        head = str(self.model().headerData(column, Qt.Orientation.Horizontal))
        return QFontMetrics(text_font(12, 600)).horizontalAdvance(head) + PADDING + HEADING_EDGE

    def _fit_rows(self) -> None:
        model, metrics = self.model(), QFontMetrics(text_font())
        flags = int(Qt.TextFlag.TextWordWrap)
        for row in range(model.rowCount()):
            heights = [
                metrics.boundingRect(
                    0, 0, self.columnWidth(column) - 24, 10_000, flags, str(model.index(row, column).data())
                ).height()
                for column in range(model.columnCount())
            ]
            self.setRowHeight(row, max(LOWEST, max(heights) + AIR))
        most = MOST_LINES * LOWEST
        self.setFixedHeight(self.horizontalHeader().height() + min(self.verticalHeader().length(), most) + 2)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit()


# --- Who is behind a pseudonym that came back -----------------------------------------------------------

FIELDS = ("pseudonym", "reason", "passphrase")


class PseudonymCard(Card):
    """Three fields, a button that asks for the table, and the number of the person."""

    def __init__(self, ask: Callable[[], None]) -> None:
        super().__init__(words.say("app.releases.behind.heading"))
        self.setObjectName("behind-card")
        self.body.addWidget(Prose(words.say("app.releases.behind.body"), tone="quiet"))
        self.fields: dict[str, QLineEdit] = {}
        for name in FIELDS:
            said = words.say(f"app.releases.behind.{name}")
            secret = name == "passphrase"
            field = make_field(f"behind-{name}", said, placeholder=said, width=480, secret=secret)
            field.textChanged.connect(lambda text: self._enable())
            self.fields[name] = field
            self.body.addWidget(field)
        self.button = make_button(words.say("app.releases.behind.button"), "behind", lambda: ask())
        self.answer = name_widget(Heading(size="side"), "behind-answer")
        add(self.body, align_left(self.button), self.answer)
        self.forget()

    def forget(self) -> None:
        """Show neither an answer nor what was asked."""
        self.answer.hide()
        self.answer.setText("")
        for field in self.fields.values():
            field.clear()
        self._enable()

    def asked(self) -> dict[str, str]:
        """Return what was said, and forget the passphrase."""
        found = {name: self.fields[name].text().strip() for name in ("pseudonym", "reason")}
        found["passphrase"] = self.fields["passphrase"].text()
        self.fields["passphrase"].clear()
        return found

    def show_person(self, person: str) -> None:
        """Show the number of the person."""
        self.answer.setText(words.say("app.releases.behind.answer", person=person))
        self.answer.show()

    def _enable(self) -> None:
        said = all(self.fields[name].text().strip() for name in ("pseudonym", "reason"))
        self.button.setEnabled(said)


# --- Rows of a name, a bar and a number, worst first ----------------------------------------------------

LINE = 36
VALUE, GAP = 64, 24  # pixels of the number at the end of a bar, and between it and the note
NARROWEST_BAR = 60


@dataclass(frozen=True)
class Bar:
    """One row: ``share`` of the longest bar in [0, 1], and what is written at its end."""

    name: str
    share: float
    value: str
    note: str = ""


class BarList(Painted):
    """A list of bars with lines between."""

    OPENS = True

    def __init__(self, name: str, parent: QWidget | None = None, *, mono: bool = True) -> None:
        super().__init__(parent)
        self.setAccessibleName(name)
        self.bars: tuple[Bar, ...] = ()
        self._mono = mono

    def show_bars(self, bars: Sequence[Bar]) -> None:
        """Show other bars."""
        self.bars = tuple(bars)
        self.setFixedHeight(max(1, LINE * len(self.bars)))
        spoken = "; ".join(words.pair(bar.name, f"{bar.value} {bar.note}".strip()) for bar in self.bars)
        self.setAccessibleDescription(spoken)
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(400, LINE * max(1, len(self.bars)))

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.update()

    def picture(self) -> View | None:
        labels, shares = [one.name for one in self.bars], [100 * one.share for one in self.bars]
        return make_bars(self.accessibleName(), labels, [shares], axis="%") if self.bars else None

    def widths(self, width: float) -> tuple[float, float]:
        """Return how wide names and bars are: the bar gives way where a name or a note would be cut."""
        names = QFontMetrics(mono_font() if self._mono else text_font())
        name = max((names.horizontalAdvance(bar.name) for bar in self.bars), default=0) + 4.0
        note = max((QFontMetrics(text_font()).horizontalAdvance(bar.note) for bar in self.bars), default=0)
        name = max(width * 0.26, min(name, width * 0.4))
        room = width - name - width * 0.02 - VALUE - GAP - note - 4
        return name, max(NARROWEST_BAR, min(width * 0.30, room))

    def paint(self, painter: QPainter) -> None:
        tokens = theme.tokens()
        width, value_width = self.width(), VALUE
        name_width, bar_width = self.widths(width)
        bar_left = name_width + width * 0.02
        note_left = bar_left + bar_width + value_width + GAP
        for place, bar in enumerate(self.bars):
            top = place * LINE
            middle = top + LINE / 2
            painter.setFont(mono_font() if self._mono else text_font())
            painter.setPen(tokens.colour("text"))
            self._text(painter, QRectF(0, top, name_width, LINE), bar.name)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(tokens.colour("line"))
            painter.drawRoundedRect(QRectF(bar_left, middle - 4, bar_width, 8), 4, 4)
            painter.setBrush(tokens.colour("accent"))
            if bar.share > 0:
                painter.drawRoundedRect(
                    QRectF(bar_left, middle - 4, max(8.0, bar_width * bar.share), 8), 4, 4
                )
            painter.setFont(text_font())
            painter.setPen(tokens.colour("text"))
            right = QRectF(bar_left + bar_width, top, value_width, LINE)
            painter.drawText(right, LEFTWARDS, bar.value)
            painter.setPen(tokens.colour("quiet"))
            self._text(painter, QRectF(note_left, top, width - note_left, LINE), bar.note)
            if place < len(self.bars) - 1:
                painter.setPen(QPen(tokens.colour("line"), 1))
                painter.drawLine(QLineF(0, top + LINE - 0.5, width, top + LINE - 0.5))

    def _text(self, painter: QPainter, place: QRectF, written: str) -> None:
        left = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        painter.drawText(place, left, cut(painter, written, place.width()))


COLUMNS = ("title", "recipient", "agreement", "until", "spent", "state")
NARROW = {"until": 164, "spent": 96, "state": 124}  # pixels at most; longer texts are wrapped
SPENT_COLUMN = COLUMNS.index("spent")


class ReleasesPage(Page):
    """Beside the steps."""

    id = "releases"

    def build(self) -> None:
        self.entries: list[tuple[dict[str, Any], dict[str, Any]]] = []
        self._wanted = ""  # an entry that somebody came for
        self.nothing = Prose(words.say("app.releases.nothing"))
        self.body.addWidget(self.nothing)
        self.left_card = Card(words.say("app.releases.left"))
        self.left = name_widget(BarList(words.say("app.releases.left"), mono=False), "left-bars")
        self.topic(self.left, "left")
        self.left_card.body.addWidget(self.left)
        self.body.addWidget(self.left_card)
        self.register = RegisterCard()
        self.register.change.wanted.connect(self._change_budget)
        self.register.key.wanted.connect(self._work_on_key)
        self.register.answers.wanted.connect(self._answer)
        self.people = PeopleWork(self)
        for widget in (self.register.choice, self.register.change.line, self.register.change.button):
            self.topic(widget, "register")
        self.table = name_widget(ReleasesTable(words.say("app.releases.title")), "releases-table")
        self.table.chosen.connect(self._select)
        self.topic(self.table, "table")
        add(self.body, self.register, self.table)
        self._build_chosen()
        self.verify = VerifyCard()
        self.verify.button.setText(words.say("app.releases.verify"))
        self.verify.button.clicked.connect(lambda checked=False: self._verify_meant())
        self._file: Path | None = None
        self.topic(self.verify.button, "verify")
        again = Card(words.say("app.releases.again_heading"))
        self.again = make_button(words.say("app.releases.again"), "again", lambda: self._where(self._again))
        self.topic(self.again, "again")
        add(
            again.body,
            Prose(words.say("app.releases.again_words"), tone="quiet"),
            align_left(self.again),
            STRETCH,
        )
        line = make_row((self.verify, 1), (again, 1), spacing=14)
        add(self.body, line, STRETCH)

    def _build_chosen(self) -> None:
        """The release that is selected, and what can be done about it."""
        self.chosen = name_widget(Card(), "chosen")
        self.chosen_title = Heading(size="side")
        self.chosen_words = Prose()
        add(self.chosen.body, self.chosen_title, self.chosen_words)
        self.act = QWidget()
        row = make_row(inside=self.act, spacing=8, margins=(0, 4, 0, 0))
        self.reason = make_field(
            "reason", words.say("app.releases.reason"), placeholder=words.say("app.releases.reason")
        )
        self.reason.textChanged.connect(lambda text: self._enable())
        self.withdraw = QPushButton(words.say("app.releases.withdraw"))
        self.withdraw.setObjectName("withdraw")
        self.withdraw.clicked.connect(lambda checked=False: self._act(withdraw))
        self.resolve = make_button(words.say("app.releases.resolve"), "resolve", lambda: self._act(resolve))
        for widget, topic in (
            (self.reason, "withdraw"),
            (self.withdraw, "withdraw"),
            (self.resolve, "resolve"),
        ):
            self.topic(widget, topic)
        add(row, (self.reason, 1), self.withdraw, self.resolve)
        self.visit = make_button(words.say("app.releases.visit"), "visit", self._go_on)
        self.topic(self.visit, "visit")
        self.report = make_button(
            words.say("app.releases.show_report"), "show-report", self._show_report, look="link"
        )
        self.topic(self.report, "report")
        add(self.chosen.body, self.act, align_left(self.visit), align_left(self.report))
        self.chosen.hide()
        self.behind = PseudonymCard(lambda: self._where(self._ask_table))
        self.topic(self.behind.button, "behind")
        self.behind.hide()
        add(self.body, self.chosen, self.behind)

    # --- showing -----------------------------------------------------------------------------------

    def opened(self) -> None:
        self.verify.forget()
        self._file = None
        self.work(
            listing,
            self.study.ledger_path,
            done=self._listed,
            failed=self._unread,
            doing=words.say("app.releases.reading"),
        )

    def _unread(self, error: Exception) -> None:
        """Show nothing of a ledger that cannot be read, also not that it holds nothing."""
        self._listed({"holdings": []})
        self.nothing.hide()
        self.refuse(error)

    def _listed(self, tree: dict[str, Any]) -> None:
        holdings = tree["holdings"]
        self.entries = [(holding, entry) for holding in holdings for entry in reversed(holding["releases"])]
        self.nothing.setVisible(not holdings)
        bars = [_bar(one) for one in holdings if one["budget"]["epsilon"] is not None]
        self.left_card.setVisible(bool(bars))
        self.left.show_bars(bars)
        self.register.show_registers(holdings)
        paying = self.study.plan.holding.casefold()
        self.register.show_register(
            next((one["id"] for one in holdings if one["name"].casefold() == paying), "")
        )
        self.table.setVisible(bool(self.entries))
        self._fill()
        self.chosen.hide()
        self._name_buttons()
        self._select_wanted()

    def show_again(self, tree: dict[str, Any], register: str) -> None:
        """Show what is listed now, with the register in view that was."""
        self.study.forget("ledger")
        self._listed(tree)
        self.register.show_register(register)

    def point_to(self, place: str) -> None:
        """Select the release of an entry, once the ledger was read."""
        self._wanted = place
        self._select_wanted()
        super().point_to(place)

    def _select_wanted(self) -> None:
        found = next((at for at, (_, entry) in enumerate(self.entries) if entry["id"] == self._wanted), None)
        if found is not None:
            self._wanted = ""
            self.table.selectRow(found)
            self.reason.setFocus()

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
        self._file = None
        self.register.show_register(holding["id"])
        self.chosen.show()
        self.chosen_title.setText(entry["title"] or words.say("app.releases.untitled"))
        self.chosen_words.say(_sentence(holding, entry))
        self.reason.clear()
        waits = entry["abandoned"] or entry["state"] == "prepared"
        possible = entry["state"] == "complete" or waits
        self.act.setVisible(possible)
        self.withdraw.setVisible(entry["state"] == "complete")
        self.report.setVisible(entry["state"] == "complete")
        self.resolve.setVisible(waits)
        self.visit.setVisible(entry["state"] == "complete" and bool(entry["state_hash"]))
        self.behind.forget()
        self.behind.setVisible(entry["state"] == "complete" and _has_pseudonyms(entry))
        self._enable()
        self._name_buttons()

    def _name_buttons(self) -> None:
        """Say whether a folder will be asked for."""
        known = "" if self._folder() is None else "_known"
        if self._file is not None:
            self.verify.button.setText(words.say("app.releases.verify_file", file=self._file.name))
        else:
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
        if is_sealed(Path(folder)):
            ask_secret(self, lambda secret: self._open_sealed(folder, secret))
            return
        self.work(reopen, Path(folder), done=self._reopened, doing=words.say("app.releases.reading"))

    def _open_sealed(self, folder: str, secret: str) -> None:
        self.work(
            open_what_stays,
            Path(folder),
            secret,
            done=lambda value: self._reopen(folder),
            doing=words.say("app.sealing.working"),
            stoppable=False,
        )

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

    def _answer(self, answers: dict[str, str]) -> None:
        """Keep what was answered for the officers' papers of the register in view."""
        holding = self.register.holding
        if holding is None:
            return

        def done(tree: dict[str, Any]) -> None:
            self.show_again(tree, holding["id"])
            self.notify(words.say("app.papers.kept"), tone="accent")

        self.work(
            answer_register,
            holding["id"],
            answers,
            ledger_path=self.study.ledger_path,
            done=done,
            doing=words.say("app.releases.writing"),
            stoppable=False,
        )

    def _work_on_key(self, what: str, said: dict[str, Any]) -> None:
        if what != "sheets":
            self._do_with_key(what, said, "")
            return
        title = words.say("app.signing.where")
        ask_file(self, title, lambda folder: self._do_with_key(what, said, folder), folder=True)

    def _do_with_key(self, what: str, said: dict[str, Any], folder: str) -> None:
        holding = self.register.holding
        if holding is None:
            return

        def done(tree: dict[str, Any]) -> None:
            self.show_again(tree, holding["id"])
            self.notify(words.say(f"app.signing.{'sheets_written' if what == 'sheets' else 'changed'}"))

        self.work(
            work_on_key,
            holding["id"],
            what,
            said,
            Path(folder),
            ledger_path=self.study.ledger_path,
            done=done,
            doing=words.say("app.signing.working"),
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
        ask_file(self, words.say("app.releases.which"), act, folder=True)

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
        title = words.say("app.releases.behind.which")
        ask_file(self, title, lambda table: self._look_behind(folder, table))

    def _look_behind(self, folder: str, table: str) -> None:
        asked = self.behind.asked()
        self.work(
            behind,
            Path(folder),
            table=Path(table),
            ledger_path=self.study.ledger_path,
            pseudonym=asked["pseudonym"],
            reason=asked["reason"],
            passphrase=asked["passphrase"],
            done=self.behind.show_person,
            doing=words.say("app.releases.writing"),
            stoppable=False,
        )

    def _verify(self, folder: str) -> None:
        known = self.verify.known()
        if known is None:
            return
        self._file = Path(folder) if is_release(folder) else None
        self.work(
            check_bundle,
            Path(folder),
            ledger_path=self.study.ledger_path,
            fingerprints=known,
            done=self._verified,
            doing=words.say("app.verify.verifying"),
            slot="releases-verify",  # the register is read beside it
        )

    def _verify_meant(self) -> None:
        """Verify the file that is in view, or the selected release, or a folder that is asked for."""
        if self._file is not None:
            self._verify(str(self._file))
        else:
            self._where(self._verify)

    def verify_file(self, file: Path) -> None:
        """Verify a release that came as one file, and show what was found."""
        self._verify(str(file))
        self._name_buttons()

    def _verified(self, found: Any) -> None:
        self.verify.show_verification(found)
        if self._file is not None:  # nobody has scrolled to where the answer stands
            QTimer.singleShot(0, lambda: self.ensureWidgetVisible(self.verify))

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
        min(max(float(spent / whole), 0.0), 1.0),  # as the block at the left has it
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
