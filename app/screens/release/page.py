"""Release: made while one looks on; then what it says, how exact it is, what it spent, what it protects."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QFileDialog,
    QHBoxLayout,
    QLineEdit,
    QProgressBar,
    QVBoxLayout,
    QWidget,
)

from app import words
from app.parts.cards import Card, NumberCard, pill
from app.parts.figures import Figures
from app.parts.making import (
    STRETCH,
    add,
    empty,
    make_button,
    make_column,
    make_label,
    make_row,
    named,
    turn,
)
from app.parts.panel import Explanation, Part, three, three_parts
from app.parts.prose import Heading, Prose
from app.parts.signing_key import SigningSecret
from app.parts.table import DataTable
from app.parts.view_stack import ViewStack
from app.parts.views import explain
from app.parts.views.table import TableBody
from app.screens.base import Page, Pieces
from app.screens.release.looking import Point, points
from app.screens.release.spread_beside import SpreadBeside
from app.state import flow
from app.theme import polish
from app.words.money import level, percent, written_day
from app.work.releasing import SPENT, Outcome, Watch, release
from engine import texts
from engine.methods.keeping import KeyKeeper
from engine.privacy.promise import Neighbours
from engine.views import TableView, Text, View

# --- Original rows beside the released ones, with what changed marked in both ---------------------------

BESIDE, HIGHEST, ROW = 640, 400, 34
SIDES = ("before", "after")


class RowsBeside(Card):
    """Two tables that scroll and select together."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(words.say("app.release.beside.heading"), parent=parent)
        self.setObjectName("rows-beside")
        self.note = named(Prose(tone="quiet", pixels=12), "rows-beside-note")
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


# --- What to look at, worst first -----------------------------------------------------------------------


class Points(Card):
    """The first part of a release that was made."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(words.say("app.release.look_at"), tone="", parent=parent)
        self.setObjectName("look-at")
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._lines = make_column(spacing=8)
        self.body.addLayout(self._lines)

    def show_points(self, points: Sequence[Point]) -> None:
        """Show other points; a quiet sentence where there is none."""
        empty(self._lines)
        worst = points[0].tone if points else "quiet"
        self.setProperty("card", "care" if worst in ("wrong", "care") else "true")
        polish(self)
        spoken = []
        for point in points:
            sentence = words.say(f"app.release.point.{point.name}", **point.values)
            mark = words.say(f"app.release.mark.{point.tone}")
            self._lines.addWidget(_line(mark, sentence, point.tone))
            spoken.append(f"{mark}: {sentence}")
        if not points:
            spoken.append(words.say("app.release.point.nothing"))
            self._lines.addWidget(Prose(spoken[0]))
        self.setAccessibleName(f"{self.heading.text()}. {' '.join(spoken)}")


def _line(mark: str, sentence: str, tone: str) -> QWidget:
    line = QWidget()
    row = make_row(inside=line, spacing=12, margins=0)
    label = make_label(mark, pixels=12, weight=600, tone=tone)
    label.setFixedWidth(72)
    add(row, (label, 0, Qt.AlignmentFlag.AlignTop), (Prose(sentence), 1))
    return line


LOOK_EVERY = 50  # milliseconds
SLOT = "release"  # the window asks for it before it closes
MOST_KNOWN = 1_000  # earlier releases that a new one is compared with


class ReleasePage(Page):
    """The ninth screen."""

    id = "release"

    def build(self) -> Pieces:
        self.watch: Watch | None = None
        self._plan: Any = None
        self._spends = ""
        self._shown: Any = None
        self.waiting = Prose(words.say("app.release.waiting"))
        self.body.addWidget(self.waiting)
        self._build_secret()
        self._build_running()
        self.ended = named(Card(), "ended")
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
        self.secret = named(Card(words.say("app.release.secret.heading")), "secret")
        self.secret.body.addWidget(Prose(words.say("app.release.secret.body"), tone="quiet"))
        self.passphrases: list[QLineEdit] = []
        for name in ("first", "again"):
            field = QLineEdit()
            field.setObjectName(f"passphrase-{name}")
            field.setEchoMode(QLineEdit.EchoMode.Password)
            field.setAccessibleName(words.say(f"app.release.secret.{name}"))
            field.setPlaceholderText(words.say(f"app.release.secret.{name}"))
            field.setMaximumWidth(360)
            self.topic(field, "secret")
            self.passphrases.append(field)
            self.secret.body.addWidget(field)
        self.earlier_key: Path | None = None
        self._warned = ""  # the plan whose key would not be locked
        self.choose_key = make_button(words.say("app.release.secret.earlier"), "earlier-key", self._ask_key)
        self.topic(self.choose_key, "secret")
        self.secret.body.addWidget(self.choose_key, 0, Qt.AlignmentFlag.AlignLeft)
        self.signing = SigningSecret()
        add(self.body, self.secret, self.signing)

    def _ask_key(self) -> None:
        """Ask for the key of an earlier release, with which this one is to be joined."""
        dialog = QFileDialog(self, words.say("app.release.secret.earlier"))
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.fileSelected.connect(self._take_key)
        dialog.open()

    def _take_key(self, file: str) -> None:
        self.earlier_key = Path(file)
        self.choose_key.setText(words.say("app.release.secret.earlier_chosen"))

    def _build_running(self) -> None:
        self.running = named(Card(), "running")
        self.stage = named(Heading(size="side"), "stage")
        self.running.body.addWidget(self.stage)
        self.bar = QProgressBar()
        self.bar.setRange(0, 1000)
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName(words.say("app.release.progress"))
        self.spending = named(Prose(), "spending")
        add(self.running.body, self.bar, 4, self.spending)
        row = QHBoxLayout()
        self.stop = make_button("", "stop-release", self._stop)
        self.topic(self.stop, "stop")
        add(row, self.stop, STRETCH)
        self.running.body.addLayout(row)
        self.body.addWidget(self.running)

    def _build_made(self) -> Pieces:
        self.made = QWidget()
        column = make_column(inside=self.made, spacing=14, margins=0)
        self.figures = Figures()
        self.numbers: dict[str, NumberCard] = {}
        for name in ("learnt", "alone", "spent", "left"):
            card = named(NumberCard(words.say(f"app.release.{name}.heading")), f"number-{name}")
            self.topic(card, name)
            self.numbers[name] = self.figures.add(card)
        self._terms: list[NumberCard] = []
        self.points = Points()
        self.topic(self.points, "points")
        add(column, self.points, self.figures, _part("leaves"))
        self.nothing, self.files = Prose(words.say("app.release.no_numbers")), Prose(tone="quiet")
        column.addWidget(self.nothing)
        self._first = QVBoxLayout()
        self.views = ViewStack(
            self.runner, lambda widget, place: self.topic(widget, f"view.{place}"), stays=False
        )
        add(column, self._first, self.views, self.files)
        self.stays = _part("stays")
        self.internal = Prose(tone="quiet")
        add(column, self.stays, self.internal)
        yield
        self.inside = ViewStack(self.runner, lambda widget, place: self.topic(widget, f"inside.{place}"))
        column.addWidget(self.inside)
        self.beside, self.spread = RowsBeside(), SpreadBeside()
        beside: tuple[tuple[str, Card], ...] = (("beside", self.beside), ("spread", self.spread))
        for name, part in beside:
            for widget in (part, *part.findChildren(QWidget)):
                self.topic(widget, name)
            column.addWidget(part)
        self.body.addWidget(self.made)

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
        self.waiting.setVisible(waits and ended is None)
        self.secret.setVisible(waits and self._keeps_key)
        self.choose_key.setVisible(self._uses_earlier_key)
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
        if not flow.reachable(self.id, self.study.state):
            return ""
        return self.say("button", epsilon=self._epsilon) if self._epsilon else self.say("button_free")

    def commits(self) -> str:
        return self.next_words() if self.watch is None and self.study.result("bundle") is None else ""

    def go_next(self) -> None:
        if self.watch is None and self.study.result("bundle") is None:
            self._begin()
        else:
            self.frame.go_next()

    # --- running -----------------------------------------------------------------------------------

    def _begin(self) -> None:
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
            seen=dict(self.study.looked),
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
        state = self.watch.state if self.watch is not None else ""
        self.refuse(error)
        self._ended(Outcome(state=state))

    def _ended(self, outcome: Outcome) -> None:
        self._timer.stop()
        self.watch = None
        self._outcome = outcome
        # What the ledger says has changed, whatever became of the release.
        self.study.forget("ledger")
        if outcome.bundle is not None:
            self.frame.settings.remember_bundle(outcome.bundle.entry, str(outcome.bundle.folder))
        if outcome.bundle is None or not self.study.store("bundle", outcome, self._plan):
            self._say_ended(outcome)
        self.frame.update_frame()
        self.enter()
        self.refresh_explanation("")
        made = self.numbers["learnt"] if self.numbers["learnt"].isVisible() else self.numbers["alone"]
        (made if outcome.bundle is not None else self.ended).setFocus()

    def _say_ended(self, outcome: Outcome) -> None:
        spent = outcome.state in (SPENT, "failed", "complete")
        name = "stopped" if outcome.stopped else "failed"
        self.ended_title.setText(words.say(f"app.release.{name}"))
        kept = self.say("stays_spent" if spent else "freed", epsilon=self._spends, holding=self._plan.holding)
        self.ended_words.say(kept)
        self.ended.setProperty("card", "care" if spent else "true")
        polish(self.ended)
        self.ended.setAccessibleName(f"{self.ended_title.text()} {kept}")
        if outcome.error is not None:
            self.study.refused.add(str(getattr(outcome.error, "values", {}).get("decision", "")))
            self.refuse(outcome.error)
            self.signing.ask_after(outcome.error)

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
        self._show_numbers(public["statement"], internal)
        self._show_terms(public)
        self.figures.arrange()
        self.points.show_points(points(outcome.facts, outcome.came))
        self.views.show_views(tuple(view for view in outcome.bundle.views if not _is_counted(view)))
        first = outcome.facts.get("first", ())
        self.nothing.setVisible(not self.views.views and not first)
        empty(self._first)
        for name, lines, rows in first:
            self._show_first(name, lines, rows)
        names = [name for name, _, _ in outcome.facts["files"].get("release", ())]
        self.files.say(words.say("app.release.files", files=", ".join(names)))
        self.inside.show_views(outcome.bundle.internal_views)
        for one in (self.stays, self.internal):
            one.setVisible(bool(self.inside.views))
        self.beside.show_rows(outcome.bundle.beside)
        self.spread.show_spread(outcome.bundle.spread)

    def _show_numbers(self, statement: dict[str, Any], internal: dict[str, Any]) -> None:
        sizes = self.study.result("group_sizes")
        alone = "–" if sizes is None else texts.number(sizes.alone)
        people = "" if sizes is None else words.say("app.release.alone.sentence", people=sizes.people)
        self.numbers["alone"].show_number(alone, people)
        self.numbers["alone"].setVisible(sizes is not None)
        posterior = statement.get("posterior")
        if posterior is not None:
            add_remove = statement["neighbours"] == Neighbours.ADD_REMOVE
            shown = posterior["presence" if add_remove else "value"]
            said = f"app.release.learnt.sentence{'_local' if self._is_local else ''}"
            self.numbers["learnt"].show_number(
                f"50\u00a0% → {percent(shown)}", words.say(said, value=percent(posterior["value"]))
            )
        holding = internal.get("holding", {})
        pays = posterior is not None and flow.spends(self.study.method)
        for name, visible in (("learnt", posterior is not None), ("spent", pays), ("left", pays)):
            self.numbers[name].setVisible(visible)
        if not pays:
            return
        self.numbers["spent"].show_number(
            f"ε\u00a0{level(_fraction(statement['epsilon']))}",
            words.say("app.release.spent.sentence", holding=holding.get("name", "")),
        )
        left = _left(holding)
        self.numbers["left"].show_number(
            f"ε\u00a0{level(left, down=True)}" if left is not None else "–",
            words.say("app.release.left.sentence", whole=level(_fraction(holding.get("epsilon") or "0"))),
        )

    def _show_first(self, name: str, lines: list[list[str]], rows: int) -> None:
        """Show the first lines of a table that leaves row by row."""
        card = named(Card(name), f"first-{name}")
        table = TableBody(TableView(name, tuple(lines[0]), tuple(map(tuple, lines[1:]))))
        card.body.addWidget(table)
        said = words.say("app.release.first", count=len(lines) - 1, rows=rows)
        card.body.addWidget(Prose(said, tone="quiet", pixels=12))
        self.topic(table, "first")
        self._first.addWidget(card)

    def _show_terms(self, public: dict[str, Any]) -> None:
        """Show what was promised besides a loss, as many cards as there are terms."""
        for card in self._terms:
            self.figures.remove(card)
        self._terms = []
        for name, value in public["promise"]["terms"].items():
            base = f"promises.{public['promise']['kind']}.terms.{name}"
            card = named(NumberCard(words.say(f"{base}.label")), f"number-term.{name}")
            card.show_number(words.term(value), words.say(f"{base}.what"))
            self.topic(card, f"term.{name}")
            self._terms.append(self.figures.add(card))

    def explain(self, topic: str) -> Explanation:
        outcome = self.study.result("bundle")
        kind, _, place = topic.partition(".")
        if outcome is not None and kind in ("view", "inside"):
            views = (self.views if kind == "view" else self.inside).views
            found = explain(views[int(place)]) if int(place) < len(views) else None
            return found or self.explain("")
        if topic.startswith("term.") and outcome is not None:
            base = f"promises.{outcome.facts['public']['promise']['kind']}.terms.{place}"
            what = Part(words.say("app.window.three_what"), words.say(f"{base}.what"))
            return Explanation(words.say(f"{base}.label"), (what, *three_parts("app.release.three.term")[1:]))
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
    add(row, Heading(words.say(f"app.release.part.{name}"), size="side"), STRETCH)
    row.addWidget(pill(words.say(f"app.release.pill.{name}")))
    return line


def _is_counted(view: View) -> bool:
    """Say whether a view is said in words among what to look at."""
    title = view.title
    return isinstance(title, Text) and title.id.startswith("measures.utility.small_groups.numbers.")


def _notes(outcome: Outcome) -> list[dict[str, Any]]:
    return [note for note in outcome.facts["public"].get("notes", ()) if isinstance(note, dict)]


def _fraction(written: Any) -> Any:
    from fractions import Fraction

    return Fraction(str(written))


def _left(holding: dict[str, Any]) -> Any:
    if holding.get("epsilon") is None:
        return None
    return max(_fraction(holding["epsilon"]) - _fraction(holding["epsilon_spent"]), 0)


PAGE = ReleasePage
