"""Preview: the forecast, what the ledger will say, what will be in the folder, what cannot be undone."""

from __future__ import annotations

from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

from PySide6.QtWidgets import (
    QFileDialog,
    QGridLayout,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app import flow, words
from app.deciding import existing
from app.money import level
from app.pages.base import Page
from app.releasing import proposed_folder
from app.widgets.cards import Card, NumberCard
from app.widgets.panel import Explanation, Part, three
from app.widgets.prose import Prose
from app.widgets.view_stack import ViewStack
from app.widgets.views import explain
from engine.views import Text

INSIDE = ("release", "internal")


def look_ahead(plan: Any, ledger_path: Path | None) -> tuple[Any, dict[str, Any]]:
    """Return the preview of a plan and its statement; nothing is reserved, spent or read."""
    from engine.pricing.statement import privacy_statement
    from engine.release.preview import preview

    found = preview(plan, existing(ledger_path))
    guarantee = found.promise
    return found, {} if guarantee is None else privacy_statement(guarantee, read_at=plan.price.bound)


class PreviewPage(Page):
    """The eighth screen."""

    id = "preview"

    def build(self) -> None:
        self.statement: dict[str, Any] = {}
        self._shown: Any = None
        self.wrong = Card()
        self.wrong.setProperty("card", "care")
        self.wrong_words = Prose()
        self.wrong_words.setObjectName("refusal")
        self.wrong.body.addWidget(self.wrong_words)
        self.body.addWidget(self.wrong)
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
        self.entered = Card(words.say("app.preview.entered"))
        self.entered_words = Prose()
        self.entered_words.setObjectName("entered")
        self.entered.body.addWidget(self.entered_words)
        self.body.addWidget(self.entered)
        self.sentence = Card(words.say("app.preview.sentence"))
        self.sentence_words = Prose()
        self.sentence_words.setObjectName("sentence")
        self.sentence.body.addWidget(self.sentence_words)
        self.body.addWidget(self.sentence)
        self.views = ViewStack(self.runner, lambda widget, place: self.topic(widget, f"view.{place}"))
        self.body.addWidget(self.views)
        self._build_folder()
        self.undone = Card(words.say("app.preview.undone"), tone="care")
        self.undone_words = Prose()
        self.undone.body.addWidget(self.undone_words)
        self.body.addWidget(self.undone)
        self.body.addStretch(1)

    def _build_folder(self) -> None:
        """Where the bundle goes, and what will be in its two folders."""
        card = Card(words.say("app.preview.folder"))
        row = QHBoxLayout()
        row.setSpacing(8)
        self.folder = QLineEdit()
        self.folder.setObjectName("target")
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
            grid.addLayout(part, 0, place)
            grid.setColumnStretch(place, 1)
        card.body.addLayout(grid)
        self.body.addWidget(card)

    # --- showing -----------------------------------------------------------------------------------

    def opened(self) -> None:
        # Another window may have spent from the same register: the ledger is asked each time.
        plan = self.study.plan
        self.work(
            look_ahead,
            self.study.plan_as_read,
            self.study.ledger_path,
            done=lambda found: self._looked(found, plan),
            doing=words.say("app.preview.looking"),
        )
        if self.study.target is None or self.study.target.exists():
            self.study.target = proposed_folder(plan, date.today())
        self.enter()

    def _looked(self, found: tuple[Any, dict[str, Any]], plan: Any) -> None:
        preview, self.statement = found
        if preview.forecast is not None:
            self.study.store("forecast", preview.forecast, plan)
        self.study.store("ledger", preview, plan)
        self.frame.update_frame()
        self.enter()
        self.refresh_explanation("")

    def enter(self) -> None:
        preview = self.study.result("ledger")
        self._show_words()
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
            sentence = self.statement.get("sentence")
            if sentence:
                self.sentence_words.say(words.label(Text(sentence["id"], sentence["values"])))
        if self._shown is not preview.forecast:
            self._shown = preview.forecast
            self.views.show_views(preview.forecast.views if preview.forecast is not None else ())

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
        before, spends, after, whole = self._amounts(preview)
        values = {"holding": self.study.plan.holding, "whole": level(whole) if whole is not None else "–"}
        self.numbers["before"].show_number(_level(before), words.say("app.preview.before.sentence", **values))
        self.numbers["spends"].show_number(_level(spends), words.say("app.preview.spends.sentence", **values))
        self.numbers["after"].show_number(
            _level(after),
            words.say("app.preview.after.sentence", **values),
            tone="wrong" if preview.refusal is not None else "",
        )

    def _amounts(self, preview: Any) -> tuple[Any, Any, Any, Any]:
        """What is left before, what this release spends, what is left after, and the whole budget."""
        spends, ledger = (
            None if preview.promise.loss is None else preview.promise.loss.epsilon,
            preview.ledger,
        )
        if ledger is not None:
            before = ledger.before
            return before.epsilon_left, spends, ledger.epsilon_after, before.holding.epsilon
        budget = self.study.plan.holding_budget
        if budget is None or spends is None:
            return None, spends, None, None
        return budget.epsilon, spends, max(budget.epsilon - spends, Fraction(0)), budget.epsilon

    def first_focus(self) -> QWidget | None:
        return self.numbers["spends"] if self.numbers["spends"].isVisible() else self.folder

    def explain(self, topic: str) -> Explanation:
        preview = self.study.result("ledger")
        kind, _, name = topic.partition(".")
        if kind == "view" and int(name) < len(self.views.views):
            found = explain(self.views.views[int(name)])
            if found is not None:
                return found
        if topic in self.numbers:
            return three(f"app.preview.three.{topic}", words.say(f"app.preview.{topic}.heading"))
        explanation = super().explain("" if kind == "view" else topic)
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
        loss = preview.promise.loss
        if loss is None or not flow.spends(self.study.method):
            return words.say("app.preview.release_button_free")
        return words.say("app.preview.release_button", epsilon=level(loss.epsilon))

    def go_next(self) -> None:
        self._typed()
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


def _level(value: Fraction | None) -> str:
    return "–" if value is None else f"ε\u00a0{level(value)}"


PAGE = PreviewPage
