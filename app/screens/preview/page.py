"""Preview: the forecast, what the ledger will say, what will be in the folder, what cannot be undone."""

from __future__ import annotations

from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QFileDialog,
    QGridLayout,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app import words
from app.parts.cards import Card, NumberCard
from app.parts.panel import Explanation, Part, three
from app.parts.prose import Prose, tell_whole
from app.parts.trial.solution import steps_words
from app.parts.verdict_card import VerdictCard
from app.screens.base import Page
from app.screens.preview.asks import Ahead, error_lines, look_ahead
from app.screens.preview.auditing import AuditCard, audit
from app.screens.preview.reasons import Reasons
from app.screens.preview.shape_card import ShapeCard
from app.state import flow
from app.state.settings import MOST_PLACES
from app.words.money import level, size
from app.work.registers import takes
from app.work.releasing import proposed_folder
from engine.methods.protocol import Expected, Rows, unit_parts
from engine.methods.trying import SolutionMap
from engine.pricing.beyond import ASKED
from engine.release.decisions import called, taken
from engine.views import Text

INSIDE = ("release", "internal")
WIDE = 860  # pixels: from here on there is room for two columns


class PreviewPage(Page):
    """The eighth screen."""

    id = "preview"

    def build(self) -> None:
        self.ahead = Ahead(None)
        self._shown: Any = None
        self._warned = ""
        self.wrong = Card()
        self.wrong.setProperty("card", "care")
        self.wrong_words = Prose()
        self.wrong_words.setObjectName("refusal")
        self.wrong.body.addWidget(self.wrong_words)
        self.body.addWidget(self.wrong)
        self.verdict = VerdictCard()
        self.verdict.chosen.connect(self._take_remedy)
        self.verdict.jump.connect(lambda step: self.frame.go(step))
        self.topic(self.verdict, "verdict")
        self.body.addWidget(self.verdict)
        self.shape = ShapeCard(self.runner)
        self.topic(self.shape, "shape")
        self.exact = Card(words.say("app.preview.exact.heading"))
        self.exact.setObjectName("exact")
        self.exact_words = Prose()
        self.exact_words.setObjectName("exact-words")
        self.exact.body.addWidget(self.exact_words)
        self.topic(self.exact, "exact")
        self.rows_used = Card(words.say("app.preview.rows_used"))
        self.rows_used.setObjectName("rows-used")
        self.rows_words = Prose()
        self.rows_used.body.addWidget(self.rows_words)
        self.sentence = Card(words.say("app.preview.sentence"))
        self.sentence_words = Prose()
        self.sentence_words.setObjectName("sentence")
        self.sentence.body.addWidget(self.sentence_words)
        self._parts = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._parts.setSpacing(14)
        said = QVBoxLayout()
        said.setSpacing(14)
        said.addWidget(self.exact)
        said.addWidget(self.sentence)
        said.addWidget(self.rows_used)
        said.addStretch(1)
        self._parts.addWidget(self.shape, 3)
        self._parts.addLayout(said, 2)
        self.body.addLayout(self._parts)
        line = QGridLayout()
        line.setSpacing(14)
        self.numbers: dict[str, NumberCard] = {}
        for place, name in enumerate(("before", "spends", "after")):
            card = NumberCard(words.say(f"app.preview.{name}.heading"))
            card.setObjectName(f"number-{name}")
            self.topic(card, name)
            self.numbers[name] = card
            line.addWidget(card, 0, place)
            line.setColumnStretch(place, 1)
        self.body.addLayout(line)
        self.audit = AuditCard()
        self.audit.ask.clicked.connect(lambda checked=False: self._audit())
        self.topic(self.audit, "audit")
        self.body.addWidget(self.audit)
        self.entered = Card(words.say("app.preview.entered"))
        self.entered_words = Prose()
        self.entered_words.setObjectName("entered")
        self.entered.body.addWidget(self.entered_words)
        self.body.addWidget(self.entered)
        self.reasons = Reasons()
        self.reasons.given.connect(self._give_reason)
        self.topic(self.reasons, "reasons")
        self.body.addWidget(self.reasons)
        self._build_folder()
        self.undone = Card(words.say("app.preview.undone"), tone="care")
        self.undone_words = Prose()
        self.undone.body.addWidget(self.undone_words)
        self.body.addWidget(self.undone)
        self.body.addStretch(1)

    def _lay(self) -> None:
        """Put what is said of the table beside it, or below where it is short or there is little room."""
        beside, below = QBoxLayout.Direction.LeftToRight, QBoxLayout.Direction.TopToBottom
        self._parts.setDirection(beside if self._has_room else below)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._lay()

    @property
    def _has_room(self) -> bool:
        return self.viewport().width() >= WIDE and not self.shape.is_drawn and not self.exact.isHidden()

    def _build_folder(self) -> None:
        """Where the bundle goes, and what will be in its two folders."""
        card = Card(words.say("app.preview.folder"))
        row = QHBoxLayout()
        row.setSpacing(8)
        self.folder = QLineEdit()
        self.folder.setObjectName("target")
        tell_whole(self.folder)
        self.folder.setAccessibleName(words.say("app.preview.folder"))
        self.folder.editingFinished.connect(self._typed)
        self.topic(self.folder, "folder")
        self.choose = QPushButton(words.say("app.preview.choose"))
        self.choose.setObjectName("choose-target")
        self.choose.clicked.connect(lambda checked=False: self._ask())
        self.topic(self.choose, "folder")
        row.addWidget(self.folder, 1)
        row.addWidget(self.choose)
        card.body.addLayout(row)
        grid = QGridLayout()
        grid.setHorizontalSpacing(20)
        self.bodies: dict[str, Prose] = {}
        for place, name in enumerate(INSIDE):
            part = QVBoxLayout()
            part.setSpacing(4)
            part.addWidget(Prose(f"**{words.say(f'app.preview.{name}.heading')}**"))
            self.bodies[name] = Prose(tone="quiet")
            part.addWidget(self.bodies[name])
            part.addStretch(1)
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
        self.wrong.setVisible(preview is not None and preview.refusal is not None)
        known = preview is not None and preview.promise is not None
        pays = known and flow.spends(self.study.method) and preview.promise.loss is not None
        self.sentence.setVisible(known)
        self.entered.setVisible(known and not pays)
        for card in self.numbers.values():
            card.setVisible(pays)
        if preview is None:
            return
        if preview.refusal is not None:
            self.wrong_words.say("\n\n".join(" ".join(words.explain(one)) for one in preview.problems))
        if preview.promise is not None:
            if pays:
                self._show_numbers(preview)
            sentence = self.ahead.statement.get("sentence")
            if sentence:
                self.sentence_words.say(words.label(Text(sentence["id"], sentence["values"])))
        asked = {name: values for name, values in self.ahead.beyond.items() if name in ASKED}
        asked |= self.ahead.unknown | self.ahead.named
        said = {called(one): str(one.get("reason", "")) for one in self.study.plan.decisions}
        self.reasons.show_decisions(asked, said, self.study.plan.price.currency)
        if self._shown is not preview:
            self._shown = preview
            self._show_ahead(preview)

    def _show_ahead(self, preview: Any) -> None:
        """Show the verdict, the table that leaves, and how far its numbers will be off."""
        found = self.ahead if self.ahead.preview is preview else Ahead(preview)
        method = self.study.method
        jumps = [step for step in ("columns", "method", "budget") if step in flow.path(self.study.state)]
        self.verdict.show_verdict(found.verdict, found.remedies, jumps=jumps)
        bounded = preview.promise is None or preview.promise.loss is not None
        rows = method.rows if method is not None else Rows.NONE
        self.shape.show_shape(found.mock, rows=rows, is_bounded=bounded, tried=self._tried())
        errors = preview.forecast.errors if preview.forecast is not None else ()
        self.exact.setVisible(bool(errors))
        self.rows_used.setVisible(bool(preview.rows))
        self.rows_words.say(" ".join(words.label(one) for one in preview.rows))
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
        others = tuple(one for one in self.study.plan.decisions if called(one) != decision)
        entry = ({**taken(decision), "reason": reason},) if reason else ()
        if (*others, *entry) != self.study.plan.decisions:
            self.study.decide(decisions=(*others, *entry))

    def _take_remedy(self, changes: dict[str, Any]) -> None:
        """Take another plan that says more, and look at it."""
        self.study.decide(**changes)
        self.opened()

    def _show_words(self) -> None:
        """Say everything in the words that fit what is promised."""
        self.title.setText(self.say("title"))
        self.setAccessibleName(self.title.text())
        self.subtitle.say(self.say("subtitle"))
        self.undone_words.say(self.say("undone_words"))
        for name, body in self.bodies.items():
            body.say(self.say(f"{name}.body"))
        self.entered_words.say(self.say("entered_words", holding=self.study.plan.holding))

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

    def explain(self, topic: str) -> Explanation:
        preview = self.study.result("ledger")
        if topic in self.numbers:
            return three(f"app.preview.three.{topic}", words.say(f"app.preview.{topic}.heading"))
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
        preview = self.study.result("ledger")
        if preview is None or preview.refusal is not None or preview.promise is None:
            return ""
        loss, useless = preview.promise.loss, "_useless" if self._is_useless else ""
        if loss is None or not flow.spends(self.study.method):
            return words.say(f"app.preview.release_button_free{useless}")
        return words.say(f"app.preview.release_button{useless}", epsilon=level(loss.epsilon))

    @property
    def _is_useless(self) -> bool:
        verdict = self.ahead.verdict
        return verdict is not None and verdict.is_useless

    def commits(self) -> str:
        return self.next_words()

    def go_next(self) -> None:
        self._typed()
        unsaid = self.reasons.missing() if self.next_words() else None
        if unsaid is not None:
            self.notify(words.say("app.preview.beyond.asked"), words.say("app.preview.beyond.asked_do"))
            unsaid.setFocus()
            return
        fingerprint = self.study.plan.fingerprint
        if self.next_words() and self._is_useless and self._warned != fingerprint:
            self._warned = fingerprint  # asked once: the second press releases
            found = self.ahead.verdict
            counts = not hasattr(found, "said")
            silent = max(found.below, found.silent_tried or 0) if counts else 0
            name = "_noise" if not counts else "_tried" if silent > found.below else ""
            said = {"below": silent, "cells": found.cells} if counts else {}
            self.notify(
                words.say(f"app.preview.verdict.asked{name}", **said),
                words.say("app.preview.verdict.asked_do"),
            )
            return
        if self.next_words():
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


def _error_sentence(quantity: Text, kind: str, small: Expected, large: Expected) -> str:
    unit = unit_parts(small.unit)[0]
    return words.say(
        f"app.preview.exact.{kind}",
        name=words.label(quantity),
        limit=f"{size(small.limit)}{unit}",
        least=f"{size(large.limit)}{unit}",
        small=small.size or 0,
        large=large.size or 0,
    )


def _level(value: Fraction | None, *, up: bool = False, down: bool = False) -> str:
    return "–" if value is None else f"ε\u00a0{level(value, up=up, down=down)}"


PAGE = PreviewPage
