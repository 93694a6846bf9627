"""Preview: the forecast, what the ledger will say, what will be in the folder, what cannot be undone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFileDialog, QLineEdit, QWidget

from app import words
from app.parts.cards import Card, NumberCard, pill
from app.parts.guard import guard_words
from app.parts.making import (
    STRETCH,
    add,
    align_left,
    empty,
    hidden,
    make_button,
    make_column,
    make_field,
    make_grid,
    make_row,
    name_widget,
    turn,
)
from app.parts.panel import Explanation, Part, three
from app.parts.prose import Heading, Prose, name_label, tell_whole
from app.parts.trial.solution import steps_words
from app.parts.verdict_card import VerdictCard, remedy_words
from app.parts.views import make_view
from app.parts.views.table import TableBody
from app.screens.base import Page
from app.screens.preview.asks import Ahead, Lines, error_lines, look_ahead, shapes
from app.screens.preview.auditing import AuditCard, audit
from app.state import flow
from app.state.settings import MOST_PLACES
from app.theme import mono_font
from app.words.money import level, money, size
from app.work.jobs import JobRunner
from app.work.registers import takes
from app.work.releasing import proposed_folder
from engine import texts
from engine.ledger import Entry
from engine.methods.filling import Judged
from engine.methods.protocol import DocumentArtefact, Expected, FileArtefact, ModelArtefact, Rows, unit_parts
from engine.methods.trying import SolutionMap
from engine.pricing.beyond import ASKED
from engine.protected import agreeing
from engine.release.decisions import name_decision, read_decision
from engine.views import NumberView, Text

# --- The release as it will look, with invented numbers -------------------------------------------------

MOST_DRAWN = 2
MOST_NUMBERS = 4  # each a line


def _number(view: NumberView) -> str:
    from engine.report.words import cell

    return f"{cell(view.value, words.language())} {view.unit}".strip()


class ShapeCard(Card):
    """Says "invented" beside everything that it shows."""

    def __init__(self, runner: JobRunner, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.setObjectName("shape")
        self._runner = runner
        self.is_drawn = False  # something is drawn, which needs the whole width
        title = Heading(words.say("app.preview.shape.heading"), size="card")
        self.pill = pill(words.say("app.preview.shape.invented"))
        self.body.addLayout(make_row((title, 1), self.pill))
        self.note = name_widget(Prose(tone="quiet", pixels=12), "shape-note")
        self._parts = make_column(spacing=8)
        add(self.body, self.note, self._parts, STRETCH)
        self.hide()

    def show_shape(self, mock: Any, *, rows: Any, is_bounded: bool = True, tried: str = "") -> None:
        """Show what a release of invented people looks like; hide where none could be made.

        Only what a loss is bounded of has its shape from declarations alone; elsewhere the rows decide about
        it too, and ``tried`` says what is known of them.
        """
        self.setVisible(mock is not None)
        empty(self._parts)
        name = "follows" if rows is Rows.NONE else "follows_rows"
        self.pill.setText(words.say(f"app.preview.shape.{'invented' if is_bounded else name}"))
        told = [] if is_bounded else [words.say(f"app.preview.shape.{name}_note")]
        told += [words.say("app.preview.shape.tried", steps=tried)] if tried else []
        self.note.say("\n\n".join(told))
        self.note.setVisible(bool(told))
        if mock is None:
            return
        tables, drawn = shapes(mock, rows=rows)
        self.is_drawn = bool(drawn)
        if mock.kept is not None:
            self._kept(mock)
        for lines in tables:
            self._table(lines)
        numbers = [one for one in drawn if isinstance(one, NumberView)][:MOST_NUMBERS]
        for view in [*[one for one in drawn if one not in numbers][:MOST_DRAWN], *numbers]:
            title = words.label(view.title)
            if isinstance(view, NumberView):
                self._parts.addWidget(Prose(f"**{title}**: {_number(view)}"))
                continue
            add(self._parts, Prose(f"**{title}**", tone="quiet", pixels=12), make_view(view, self._runner))
        for artefact in mock.artefacts:
            if isinstance(artefact, ModelArtefact | DocumentArtefact | FileArtefact):
                meaning = words.label(artefact.meaning)
                text = words.say("app.preview.shape.file", file=artefact.files[0], meaning=meaning)
                self._parts.addWidget(Prose(text))

    def _kept(self, mock: Any) -> None:
        """Say how far the method was off where all is known: on the people who were invented."""
        shares = {name: words.percent(getattr(mock.kept, name)) for name in ("one_way", "two_way", "apart")}
        name = ("relates" if mock.kept.relates else "apart") + ("_named" if mock.kept.is_named else "")
        said = Prose(words.say(f"app.preview.shape.kept.{name}", people=mock.people, **shares), pixels=13)
        said.setObjectName("shape-kept")
        self._parts.addWidget(said)

    def _table(self, lines: Lines) -> None:
        name = name_label(lines.file)
        name.setFont(mono_font(12))
        name.setProperty("tone", "quiet")
        table = name_widget(TableBody(lines.view), f"shape-{lines.file}")
        add(self._parts, name, table)
        last = lines.first + len(lines.view.rows) - 1
        said = words.say("app.preview.shape.lines", first=lines.first, last=last, all=lines.of)
        if lines.view.note is not None:
            said = f"{said} {words.label(lines.view.note)}"
        self._parts.addWidget(Prose(said, tone="quiet", pixels=12))


# --- Why a release goes beyond what was stated ----------------------------------------------------------


class Reasons(Card):
    """Emits ``given`` with a decision and its reason."""

    given = Signal(str, str)

    def __init__(self) -> None:
        super().__init__(words.say("app.preview.beyond.heading"), tone="care")
        self.setObjectName("reasons")
        self.setProperty("card", "care")
        self._lines = make_column(spacing=8)
        self.body.addLayout(self._lines)
        self.fields: dict[str, QLineEdit] = {}
        self.hide()

    def show_decisions(
        self, found: Mapping[str, Mapping[str, Any]], said: Mapping[str, str], unit: str
    ) -> None:
        """Ask for the reason of each decision; hide where there is none."""
        self.setVisible(bool(found))
        if set(found) != set(self.fields):
            empty(self._lines)
            self.fields = {}
            for name, values in found.items():
                add(self._lines, Prose(_sentence(name, values, unit)), self._field(name))
        for name, field in self.fields.items():
            if not field.hasFocus():
                field.setText(said.get(name, ""))

    def missing(self) -> QLineEdit | None:
        """Return the first field without a reason."""
        return next((field for field in self.fields.values() if not field.text().strip()), None)

    def _field(self, name: str) -> QLineEdit:
        field = self.fields[name] = QLineEdit()
        field.setObjectName(f"reason-{name}")
        field.setPlaceholderText(words.say("app.preview.beyond.reason"))
        field.setAccessibleName(words.say("app.preview.beyond.reason"))
        field.editingFinished.connect(lambda: self.given.emit(name, field.text().strip()))
        return field


AS_THEY_ARE = ("count", "titles", "folders", "recipient", "column", "releases", "listed", "row", "last")


def _sentence(name: str, values: Mapping[str, Any], unit: str) -> str:
    written = {key: money(values[key], unit) for key in ("price", "budget") if key in values}
    written |= {key: level(values[key]) for key in ("epsilon", "lower", "second") if key in values}
    written |= {"error": size(float(values["error"]))} if "error" in values else {}
    written |= {key: values[key] for key in AS_THEY_ARE if key in values}
    what = "_".join((name.partition(":")[0], *([values["why"]] if "why" in values else [])))
    return words.say(f"app.preview.beyond.{what}", **written)


INSIDE = ("release", "internal")
# Where a refusal is mended, by its code. Others say in words what to do.
MENDED = {
    "budget": (
        "ledger.over_budget",
        "ledger.over_delta",
        "charge.over_budget_exchanged",
        "charge.over_delta_exchanged",
        "policy.epsilon",
        "policy.delta",
    ),
    "purpose": ("charge.no_holding", "charge.no_budget", "run.no_contract"),
}
WIDE = 860  # pixels: from here on there is room for two columns


class PreviewPage(Page):
    """The eighth screen."""

    id = "preview"

    def build(self) -> None:
        self.ahead = Ahead(None)
        self._shown: Any = None
        self.wrong = Card()
        self.wrong.setProperty("card", "care")
        self.wrong_words = name_widget(Prose(), "refusal")
        self.mend = {
            step: make_button(
                words.say(f"app.preview.verdict.jump.{step}"),
                f"mend-{step}",
                partial(self.frame.go, step),
            )
            for step in MENDED
        }
        add(self.wrong.body, self.wrong_words, *map(align_left, self.mend.values()))
        self.verdict = VerdictCard()
        self.verdict.chosen.connect(self._take_remedy)
        self.verdict.jump.connect(lambda step: self.frame.go(step))
        self.topic(self.verdict, "verdict")
        line = make_grid(across=14, down=14)
        self.numbers: dict[str, NumberCard] = {}
        for place, name in enumerate(("before", "spends", "after")):
            card = name_widget(NumberCard(words.say(f"app.preview.{name}.heading")), f"number-{name}")
            self.topic(card, name)
            self.numbers[name] = card
            line.addWidget(card, 0, place)
            line.setColumnStretch(place, 1)
        self.reasons = Reasons()
        self.reasons.given.connect(self._give_reason)
        self.topic(self.reasons, "reasons")
        # What stops it and what it takes are in view before what leaves.
        add(self.body, self.wrong, self.verdict, self.reasons, line)
        self.shape = ShapeCard(self.runner)
        self.topic(self.shape, "shape")
        self.exact = name_widget(Card(words.say("app.preview.exact.heading")), "exact")
        self.exact_words = name_widget(Prose(), "exact-words")
        self.exact.body.addWidget(self.exact_words)
        self.topic(self.exact, "exact")
        self.attack = hidden(name_widget(Card(words.say("app.preview.attack"), tone="care"), "attack"))
        self.attack_words = name_widget(Prose(), "attack-words")
        self.attack.body.addWidget(self.attack_words)
        self.rows_used = name_widget(Card(words.say("app.preview.rows_used")), "rows-used")
        self.rows_words = Prose()
        self.rows_used.body.addWidget(self.rows_words)
        self.sentence = Card(words.say("app.preview.sentence"))
        self.sentence_words = name_widget(Prose(), "sentence")
        self.sentence.body.addWidget(self.sentence_words)
        self._parts = make_row(spacing=14)
        said = make_column(self.exact, self.sentence, self.attack, self.rows_used, STRETCH, spacing=14)
        add(self._parts, (self.shape, 3), (said, 2))
        self.body.addLayout(self._parts)
        self.audit = AuditCard()
        self.audit.ask.clicked.connect(lambda checked=False: self._audit())
        self.topic(self.audit, "audit")
        self.body.addWidget(self.audit)
        self.entered = Card(words.say("app.preview.entered"))
        self.entered_words = name_widget(Prose(), "entered")
        self.entered.body.addWidget(self.entered_words)
        self.body.addWidget(self.entered)
        self._build_folder()
        self.undone = Card(words.say("app.preview.undone"), tone="care")
        self.undone_words = Prose()
        self.undone.body.addWidget(self.undone_words)
        self.second = hidden(
            name_widget(Prose(words.say("app.staff.needs_second_preview"), tone="care"), "second-note")
        )
        add(self.body, self.second, self.undone, STRETCH)

    def _lay(self) -> None:
        """Put what is said of the table beside it, or below where it is short or there is little room."""
        turn(self._parts, self._has_room)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._lay()

    @property
    def _has_room(self) -> bool:
        return self.viewport().width() >= WIDE and not self.shape.is_drawn and not self.exact.isHidden()

    def _build_folder(self) -> None:
        """Where the bundle goes, and what will be in its two folders."""
        card = self.place = Card(words.say("app.preview.folder"))
        row = make_row(spacing=8)
        self.folder = make_field("target")
        tell_whole(self.folder)
        self.folder.setAccessibleName(words.say("app.preview.folder"))
        self.folder.editingFinished.connect(self._typed)
        self.topic(self.folder, "folder")
        self.choose = make_button(words.say("app.preview.choose"), "choose-target", self._ask)
        self.topic(self.choose, "folder")
        add(row, (self.folder, 1), self.choose)
        card.body.addLayout(row)
        grid = make_grid(across=20)
        self.bodies: dict[str, Prose] = {}
        for place, name in enumerate(INSIDE):
            part = make_column(Prose(f"**{words.say(f'app.preview.{name}.heading')}**"), spacing=4)
            self.bodies[name] = Prose(tone="quiet")
            add(part, self.bodies[name], STRETCH)
            grid.addLayout(part, 0, place)
            grid.setColumnStretch(place, 1)
        card.body.addLayout(grid)
        self.body.addWidget(card)

    # --- showing -----------------------------------------------------------------------------------

    def opened(self) -> None:
        # Another window may have spent from the same register: the ledger is asked each time.
        plan = self.study.plan
        target = self.study.target
        if target is None or target == self.study.proposed or target.exists():  # titles and days change
            self.study.target = self.study.proposed = proposed_folder(plan, date.today())
        self.work(
            look_ahead,
            self.study.plan_as_read,
            self.study.ledger_path,
            self._places(),
            self.study.table,
            frozenset(self.study.refused),
            done=lambda found: self._looked(found, plan),
            doing=words.say("app.preview.looking"),
        )
        self.enter()

    def _places(self) -> tuple[Path, ...]:
        """Return where earlier releases may lie: beside the new one, and where they were made lately."""
        target = self.study.target
        beside = () if target is None else (Path(target).absolute().parent,)
        return (*beside, *self.frame.settings.bundles(MOST_PLACES))

    def _looked(self, found: Ahead, plan: Any) -> None:
        self.ahead = found
        preview = found.preview
        if preview.forecast is not None:
            self.study.store("forecast", preview.forecast, plan)
        self.study.store("ledger", preview, plan)
        self.frame.update_frame()
        self.enter()
        self.refresh_explanation("")

    def enter(self) -> None:
        preview = self.study.result("ledger")
        self._show_words()
        self.audit.show_study(self.study)
        if self.study.target is not None and not self.folder.hasFocus():
            self.folder.setText(str(self.study.target))
        refused = preview is not None and preview.refusal is not None
        self.wrong.setVisible(refused and not self._is_made)
        known = preview is not None and preview.promise is not None
        pays = known and flow.spends(self.study.method) and preview.promise.loss is not None
        self.sentence.setVisible(known and not self.sentence.property("above"))
        self.entered.setVisible(known and not pays and not self._is_made)
        for card in self.numbers.values():
            card.setVisible(pays and not self._is_made)
        for part in (self.place, self.undone):  # of what is still to be made
            part.setVisible(not self._is_made)
        self.second.setVisible(self.study.needs_second)
        if preview is None:
            return
        if preview.refusal is not None:
            self.wrong_words.say("\n\n".join(" ".join(words.explain(one)) for one in preview.problems))
            found, steps = {one.code for one in preview.problems}, flow.path(self.study.state)
            for step, button in self.mend.items():
                button.setVisible(step in steps and not found.isdisjoint(MENDED[step]))
        if preview.promise is not None:
            if pays:
                self._show_numbers(preview)
            sentence = self.ahead.statement.get("sentence")
            if sentence:
                self.sentence_words.say(words.label(Text(sentence["id"], sentence["values"])))
        asked = {name: values for name, values in self.ahead.beyond.items() if name in ASKED}
        asked |= self.ahead.unknown | self.ahead.named
        said = {name_decision(one): str(one.get("reason", "")) for one in self.study.plan.decisions}
        self.reasons.show_decisions({} if self._is_made else asked, said, self.study.plan.price.currency)
        if self._shown != (preview, self._is_made):
            self._shown = (preview, self._is_made)
            self._show_ahead(preview)

    def _show_ahead(self, preview: Any) -> None:
        """Show the verdict, the table that leaves, and how far its numbers will be off."""
        found = self.ahead if self.ahead.preview is preview else Ahead(preview)
        method = self.study.method
        jumps = [step for step in ("columns", "method", "budget") if step in flow.path(self.study.state)]
        currency = self.study.plan.price.currency
        named = [_sentence(name, values, currency) for name, values in found.named.items()]
        said = found.statement.get("sentence")
        remedies = found.remedies
        if self._is_made:  # nothing would help any more
            jumps, remedies = [], ()
        if found.verdict is not None or not (named or said):  # hidden in between, it would lose the focus
            self.verdict.show_verdict(found.verdict, remedies, jumps=jumps)
        if named:
            is_noise = found.verdict is not None and found.verdict.is_useless
            self.verdict.show_named("\n\n".join(named), is_noise=is_noise)
        elif found.verdict is None and said:
            sentence = words.label(Text(said["id"], said["values"]))
            self.verdict.show_promise(words.say("app.preview.sentence"), sentence)
        self.sentence.setProperty("above", not named and found.verdict is None)  # it stands there already
        self.sentence.setVisible(bool(said) and not self.sentence.property("above"))
        bounded = preview.promise is None or preview.promise.loss is not None
        rows = method.rows if method is not None else Rows.NONE
        self.shape.show_shape(found.mock, rows=rows, is_bounded=bounded, tried=self._tried())
        errors = preview.forecast.errors if preview.forecast is not None else ()
        self.exact.setVisible(bool(errors))
        self.rows_used.setVisible(bool(preview.rows))
        self.rows_words.say(" ".join(words.label(one) for one in (*preview.rows, *found.held)))
        self.attack.setVisible(found.attack is not None)
        self.attack_words.say("" if found.attack is None else words.label(found.attack))
        self._lay()
        self.exact_words.say("\n\n".join(_error_sentence(*line) for line in error_lines(errors)))

    def _tried(self) -> str:
        """Return the steps that the columns take, where they were found on the rows before."""
        known = self.study.result("trial")
        maps = [one for one in known.answers if isinstance(one, SolutionMap)] if known is not None else []
        return next((steps_words(one, one.candidates[one.taken]) for one in maps), "")

    def _audit(self) -> None:
        """Measure the noise of this plan on rows that are no person's; nothing is spent."""
        plan = self.study.plan
        self.work(
            audit,
            plan,
            done=lambda answer: self.audit.show_answer(plan, answer),
            doing=words.say("app.preview.audit.doing"),
            slot="preview.audit",
        )

    def _give_reason(self, decision: str, reason: str) -> None:
        others = tuple(one for one in self.study.plan.decisions if name_decision(one) != decision)
        entry = ({**read_decision(decision), "reason": reason},) if reason else ()
        if (*others, *entry) != self.study.plan.decisions:
            self.study.decide(decisions=(*others, *entry))

    def _take_remedy(self, changes: dict[str, Any]) -> None:
        """Take another plan that says more, and look at it."""
        self.study.decide(**changes)
        self.opened()

    def _show_words(self) -> None:
        """Say everything in the words that fit what is promised."""
        self.title.setText(words.say("app.preview.made.title") if self._is_made else self.say("title"))
        self.setAccessibleName(self.title.text())
        self.subtitle.say(" ".join(self._followed()))
        self.undone_words.say(self.say("undone_words"))
        for name, body in self.bodies.items():
            body.say(self.say(f"{name}.body"))
        self.entered_words.say(self.say("entered_words", holding=self.study.plan.holding))

    @property
    def _is_made(self) -> bool:
        """Whether a release of this very plan was made, so that nothing on this screen is ahead any more."""
        return self.study.result("bundle") is not None

    def _followed(self) -> Iterator[str]:
        """Yield what the screen follows from, and what this very plan has spent already."""
        read = "subtitle" if self.ahead.attack is None else "subtitle_attacked"
        begun = self.ahead.begun if self.ahead.preview is self.study.result("ledger") else ()
        if self._is_made:
            made = self.study.result("bundle").facts["public"]["statement"].get("epsilon")
            spent = level(Fraction(made)) if made is not None and flow.spends(self.study.method) else ""
            yield words.say(f"app.preview.made.{'spent' if spent else 'free'}", epsilon=spent)
            yield self.say(read)
            return
        yield self.say(read)
        if not begun and self.ahead.preview is not None and flow.spends(self.study.method):
            yield words.say("app.preview.unspent")
        for ended in ("released", "failed", "stopped", "underway"):
            found = [one for one in begun if _ended(one) == ended]
            if found:
                epsilon = "" if found[-1].epsilon is None else level(found[-1].epsilon)
                name = f"app.preview.begun.{'paid' if epsilon else 'free'}.{ended}"
                yield words.say(name, times=len(found), epsilon=epsilon)

    def _show_numbers(self, preview: Any) -> None:
        found = takes(self.study.plan, preview)
        whole = "–" if found.whole is None else level(found.whole)
        values = {"holding": self.study.plan.holding, "whole": whole}
        self.numbers["before"].show_number(
            _level(found.before, down=True), words.say("app.preview.before.sentence", **values)
        )
        self.numbers["spends"].show_number(
            _level(found.spends, up=True), words.say("app.preview.spends.sentence", **values)
        )
        self.numbers["after"].show_number(
            _level(found.after, down=True),
            words.say(f"app.preview.after.{found.share or 'sentence'}", **values),
            tone="wrong" if preview.refusal is not None else "care" if found.share else "",
        )

    def first_focus(self) -> QWidget | None:
        spends = self.numbers["spends"]
        return self.verdict if self.verdict.isVisible() else spends if spends.isVisible() else None

    def _text(self, name: str) -> str:
        """Return the id of a text: where no level is spent, nobody is told that one is."""
        other, method = f"app.preview.unbounded.{name}", self.study.method
        is_free = method is not None and not flow.spends(method) and name != "entered_words"
        return other if is_free and words.has(other) else super()._text(name)

    def explain(self, topic: str) -> Explanation:
        preview = self.study.result("ledger")
        if topic == "verdict" and self.ahead.verdict is None:
            topic = ""  # the card says what is promised, as the page does
        if topic == "verdict" and isinstance(self.ahead.verdict, Judged):
            topic = "judged"
        if topic in self.numbers:
            return three(f"app.preview.three.{topic}", words.say(f"app.preview.{topic}.heading"))
        if not topic and self._is_made:
            help_id = "app.preview.made.help"
            return Explanation(words.say(f"{help_id}.title"), (Part(body=words.say(f"{help_id}.body")),))
        explanation = super().explain(topic)
        if topic or preview is None or preview.promise is None:
            return explanation
        assumed = [Part(body=words.say(f"assumptions.{one}")) for one in preview.promise.assumptions]
        if assumed:
            head = Part(words.say("app.preview.assumed"), assumed[0].body)
            return Explanation(explanation.title, (*explanation.parts, head, *assumed[1:]))
        return explanation

    # --- deciding ----------------------------------------------------------------------------------

    def next_words(self) -> str:
        if self._remedy is not None:
            return remedy_words(self._remedy)
        return words.say("app.staff.to_second") if self.study.needs_second else self.commits()

    def other_words(self) -> str:
        return words.say("app.preview.as_it_is") if self._remedy is not None else ""

    @property
    def _is_useless(self) -> bool:
        verdict = self.ahead.verdict
        return verdict is not None and verdict.is_useless

    @property
    def _remedy(self) -> Any:
        """What says more, where as it is most would say nothing and something helps."""
        useless = self._is_useless and self.ahead.preview is self.study.result("ledger") and self.commits()
        return self.ahead.remedies[0] if useless and self.ahead.remedies else None

    def commits(self) -> str:
        preview = self.study.result("ledger")
        if preview is None or preview.refusal is not None or preview.promise is None:
            return ""
        if self.study.needs_second or self._is_made:
            return ""
        loss, useless = preview.promise.loss, "_useless" if self._is_useless else ""
        if loss is None or not flow.spends(self.study.method):
            return words.say(f"app.preview.release_button_free{useless}")
        return words.say(f"app.preview.release_button{useless}", epsilon=level(loss.epsilon))

    def waits(self) -> Text | None:
        unsaid = self.commits() and self._remedy is None and self.reasons.missing() is not None
        return Text("app.preview.beyond.asked") if unsaid else None

    def guard_tone(self) -> str:
        return "wrong" if self.ahead.named else "care"

    def guard(self) -> tuple[str, str] | None:
        if self._is_made or self.reasons.missing() is not None:
            return None  # in the second case that is said instead
        found = self.ahead.verdict
        named = tuple(one["column"] for one in self.ahead.named.values())
        asked = guard_words(self.study, named)
        if not self._is_useless:
            return asked
        counts = not hasattr(found, "said")
        silent = max(found.below, found.silent_tried or 0) if counts else 0
        name = "_noise" if not counts else "_tried" if silent > found.below else ""
        said = {"below": silent, "cells": found.cells} if counts else {}
        noise = words.say(f"app.preview.verdict.asked{name}", **said)
        if named and asked is not None:  # the worse is asked first
            return asked[0], f"{asked[1]} {noise}"
        return words.say("app.preview.verdict.asked_title"), noise

    def go_next(self) -> None:
        if self._remedy is not None:
            self._take_remedy(self._remedy.changes)
        else:
            self.commit()

    def commit(self) -> None:
        self._typed()
        unsaid = self.reasons.missing() if self.commits() or self.study.needs_second else None
        if unsaid is not None:
            self.notify(words.say("app.preview.beyond.asked"), words.say("app.preview.beyond.asked_do"))
            self.point_to(unsaid.objectName())
            return
        if self.commits():
            self.study.release_asked = self.study.plan.fingerprint
        self.frame.go_next()

    def _typed(self) -> None:
        text = self.folder.text().strip()
        if text:
            self.study.target = Path(text)

    def _ask(self) -> None:
        dialog = QFileDialog(self, words.say("app.preview.choose"))
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setDirectory(str(self.study.target.parent) if self.study.target is not None else "")
        dialog.fileSelected.connect(self._chosen)
        dialog.open()

    def _chosen(self, folder: str) -> None:
        name = self.study.target.name if self.study.target is not None else "release"
        self.study.target = Path(folder) / name
        self.enter()


def _ended(entry: Entry) -> str:
    """Return how an entry ended: with a release, without a file, not yet, or nobody knows."""
    if entry.state in ("complete", "withdrawn"):
        return "released"
    if entry.running and entry.state == "spent":
        return "underway"
    return "stopped" if entry.may_have_left else "failed"


def _agreeing(unit: str, written: str) -> str:
    return texts.say_unit(agreeing(unit, written, texts.spoken()), words.language())


def _error_sentence(quantity: Text, kind: str, small: Expected, large: Expected) -> str:
    unit = unit_parts(small.unit)[0]
    return words.say(
        f"app.preview.exact.{kind}",
        name=words.label(quantity),
        limit=f"{size(small.limit)}{_agreeing(unit, size(small.limit))}",
        least=f"{size(large.limit)}{_agreeing(unit, size(large.limit))}",
        small=small.size or 0,
        large=large.size or 0,
    )


def _level(value: Fraction | None, *, up: bool = False, down: bool = False) -> str:
    return "–" if value is None else f"ε\u00a0{level(value, up=up, down=down)}"


PAGE = PreviewPage
