"""Explore: questions about a mechanism, a price or a table that make no release; one screen for all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtGui import QFontMetrics, QResizeEvent
from PySide6.QtWidgets import (
    QButtonGroup,
    QComboBox,
    QFileDialog,
    QRadioButton,
    QWidget,
)

from app import words
from app.parts.bundle_list import BundleList
from app.parts.cards import Card, Fold, row
from app.parts.form.parameter_form import ParameterForm
from app.parts.making import (
    STRETCH,
    add,
    align_left,
    empty,
    hidden,
    make_button,
    make_choice,
    make_column,
    make_grid,
    name_widget,
)
from app.parts.panel import Explanation, Part
from app.parts.prose import Heading, Prose
from app.parts.second_file import SecondFile
from app.parts.view_stack import ViewStack
from app.parts.views import explain
from app.screens.base import Page
from app.work.exploring import NONE, OWN, SHIPPED, Choice, ask, catalogue, figures_of, read_bundles, save
from engine import texts
from engine.methods.parameters import Problem
from engine.methods.protocol import MAIN
from engine.methods.values import resolve
from engine.table.schema import Schema

ACROSS, WIDE = 2, 880  # questions side by side, and the pixels that take them
GAP = 70  # pixels beside a question: its circle, the space between two, and its part of the margins
ABOVE = 120  # pixels of the question that stay in view above its answer
OF_BUNDLES = {"source", "figure", "group"}  # chosen with the bundles, not in the form


EVERYDAY = (
    "disclosure",
    "price",
    "at_risk",
    "composition",
    "matching",
    "linkage",
    "published_sums",
    "column_sets",
    "unicity",
    "free_text",
    "meta_analysis",
)
"""Questions that a custodian asks, in this order. Those of whoever looks into a mechanism are folded."""


class ExplorePage(Page):
    """Beside the steps: nothing here is decided, spent or released."""

    id = "explore"
    counts_rows = True

    def build(self) -> None:
        self.choices: dict[str, Choice] = {}
        self.chosen = ""
        self.values: dict[str, dict[str, Any]] = {}
        self.others: dict[str, dict[str, Path]] = {}  # further files, by analysis and source
        self.read: tuple[Any, ...] = ()  # released bundles
        self.answer: Any = None
        self._asked: tuple[Choice, dict[str, Any]] | None = None
        self.list = QWidget()
        self.further = Fold("", "further-questions")
        self._lists = (
            make_grid(self.list, across=2, down=6, margins=0),
            make_grid(self.further.form, across=2, down=6, margins=0),
        )
        self.group = QButtonGroup(self)
        self.group.buttonClicked.connect(lambda button: self._choose(button.property("analysis")))
        add(self.body, self.list, self.further, self._build_form(), self._build_answer(), STRETCH)

    def _build_form(self) -> Card:
        self.card = Card()
        self.card.body.setSpacing(14)
        self.name = Heading(size="side")
        self.summary = Prose(tone="quiet")
        self.about = make_choice("about", words.say("app.explore.about"), lambda place: self._show_form())
        self.about.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.topic(self.about, "about")
        self.about_name = Heading(words.say("app.explore.about"), size="card")
        add(self.card.body, self.name, self.summary, self.about_name, align_left(self.about))
        self.seconds: dict[str, SecondFile] = {}
        self._seconds = make_column(spacing=14)
        self.bundles = hidden(name_widget(BundleList(), "bundles"))
        self.bundles.wanted.connect(self.add_bundles)
        self.bundles.removed.connect(self._remove_bundle)
        self.bundles.picked.connect(self._pick)
        for widget in (self.bundles.button, self.bundles.figure, self.bundles.group):
            self.topic(widget, "bundles")
        self.form = ParameterForm()
        self.form.changed.connect(self._filled)
        self.fill = make_button(words.say("app.explore.fill"), "fill-example", self._fill, look="link")
        self.topic(self.fill, "fill")
        add(self.card.body, self._seconds, self.bundles, self.form, row(self.fill))
        return self.card

    def _build_answer(self) -> QWidget:
        self.answered = QWidget()
        column = make_column(inside=self.answered, spacing=14, margins=0)
        self.stays = name_widget(Card(tone="care"), "stays")
        self.stays.setProperty("card", "care")
        self.stays.body.addWidget(Prose(words.say("app.explore.stays")))
        self.views = ViewStack(
            self.runner, lambda widget, place: self.topic(widget, f"view.{place}"), few_digits=True
        )
        self.save = make_button(words.say("app.explore.save"), "save-report", self._ask_where)
        self.topic(self.save, "save")
        add(column, self.stays, self.views, align_left(self.save))
        return self.answered

    # --- showing -----------------------------------------------------------------------------------

    def opened(self) -> None:
        if not self.choices:
            self.work(catalogue, done=self._found, doing=words.say("app.explore.finding"), stoppable=False)

    def _found(self, found: tuple[Choice, ...]) -> None:
        self.choices = {choice.analysis.id: choice for choice in found}
        others = sorted(set(self.choices) - set(EVERYDAY))
        for name in (*EVERYDAY, *others):
            question = words.say(f"analyses.{name}.question")
            button = name_widget(QRadioButton(), f"analysis-{name}", question)
            button.setProperty("analysis", name)
            self.group.addButton(button)
            self.topic(button, f"analysis.{name}")
        self.further.line.setText(words.say("app.explore.further", count=len(others)))
        self.further.line.toggled.connect(lambda on: self._lay_questions())
        self._lay_questions()
        first = self.group.buttons()[0]
        first.setChecked(True)
        self._choose(first.property("analysis"))

    def _lay_questions(self) -> None:
        """Put the questions side by side where there is room for two; long ones go on in a second line."""
        buttons = self.group.buttons()
        across = ACROSS if self.viewport().width() >= WIDE else 1
        room = self.viewport().width() // across - GAP
        everyday, others = buttons[: len(EVERYDAY)], buttons[len(EVERYDAY) :]
        # What is asked stays in view, marked, where the others are folded.
        kept = [one for one in others if one.isChecked() and not self.further.line.isChecked()]
        everyday, others = everyday + kept, [one for one in others if one not in kept]
        for grid, shown in zip(self._lists, (everyday, others), strict=True):
            for column in range(ACROSS):
                grid.setColumnStretch(column, 1 if column < across else 0)
            for place, button in enumerate(shown):
                button.setText(_on_two_lines(button.accessibleName(), button.fontMetrics(), room))
                grid.addWidget(button, place // across, place % across)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._lay_questions()

    def first_focus(self) -> QWidget | None:
        return self.group.checkedButton()

    def enter(self) -> None:
        for part in (self.list, self.further, self.card):
            part.setVisible(bool(self.choices))
        self.answered.setVisible(self.answer is not None)
        if self.chosen:
            self._offer_tables()
            self._show_form()

    def _choose(self, name: str) -> None:
        self.chosen, self.answer, self._asked = name, None, None
        self._lay_questions()
        self.name.setText(words.say(f"analyses.{name}.question"))
        title, summary = (words.say(f"analyses.{name}.{part}") for part in ("title", "summary"))
        self.summary.say(f"**{title}.** {summary}")
        self.views.show_views(())
        self._offer_files()
        self._show_bundles()
        self.enter()
        self.refresh_explanation(f"analysis.{name}")
        self.frame.update_frame()

    def _offer_tables(self) -> None:
        """Offer the open table, the shipped one of the example, and none."""
        choice = self.choices[self.chosen]
        reads = bool(choice.analysis.sources)
        for part in (self.about, self.about_name):
            part.setVisible(reads)
        offered = [NONE] if not reads or not choice.analysis.sources[0].required else []
        if reads and self.study.table is not None:
            offered.append(OWN)
        if reads and choice.table is not None:
            offered.append(SHIPPED)
        if [self.about.itemData(place) for place in range(self.about.count())] == offered:
            return
        before = self.about.currentData()
        self.about.clear()
        for name in offered:
            self.about.addItem(words.say(f"app.explore.table.{name}"), name)
        self.about.setCurrentIndex(max(0, self.about.findData(before)))

    def _offer_files(self) -> None:
        """Show a line for each further file that the analysis can read."""
        empty(self._seconds)
        self.seconds = {}
        for source in self.choices[self.chosen].analysis.sources[1:]:
            base, name = f"analyses.{self.chosen}.sources.{source.name}", source.name
            line = SecondFile(name, words.say(f"{base}.label"), words.say(f"{base}.help"))
            line.chosen.connect(lambda path, name=name: self.take_second(name, path))
            line.removed.connect(lambda name=name: self.take_second(name, ""))
            line.show_file(self.others.get(self.chosen, {}).get(name))
            self._seconds.addWidget(line)
            self.seconds[name] = line

    def take_second(self, source: str, path: str) -> None:
        """Ask with a further file from now on, or with none."""
        files = self.others.setdefault(self.chosen, {})
        files.pop(source, None)
        if path:
            files[source] = Path(path)
        self.seconds[source].show_file(files.get(source))
        self._forget()
        self.frame.update_frame()

    def add_bundles(self, folder: str) -> None:
        """Read the bundle, or every bundle, of a folder, and ask about it from now on."""
        self.clear_notice()
        self.work(
            read_bundles,
            (Path(folder),),
            beside=self.read,
            done=lambda found: self._ask_about((*self.read, *found)),
            doing=words.say("app.explore.bundles.reading"),
        )

    def _remove_bundle(self, place: int) -> None:
        self._ask_about((*self.read[:place], *self.read[place + 1 :]))

    def _ask_about(self, bundles: tuple[Any, ...]) -> None:
        """Take the figures of these bundles; of none, the numbers that are typed."""
        self.read = bundles
        given = self.values.setdefault(self.chosen, {})
        for name in OF_BUNDLES:
            given.pop(name, None)
        if bundles:
            given["source"] = "bundles"
        self._show_bundles()
        self._pick(*self.bundles.chosen())

    def _show_bundles(self) -> None:
        reads, given = self.choices[self.chosen].analysis.reads_bundles, self.values.get(self.chosen, {})
        self.bundles.setVisible(reads)
        if reads:
            names, figures = figures_of(self.read)
            chosen = (given.get("figure") or "", given.get("group") or "")
            self.bundles.show_bundles(self.read, names, figures, chosen)

    def _pick(self, figure: str, group: str) -> None:
        given = self.values.setdefault(self.chosen, {})
        for name, value in (("figure", figure), ("group", group)):
            given.pop(name, None)
            if value:
                given[name] = value
        self._forget()
        self._show_form()
        self.frame.update_frame()

    def _schema(self) -> Schema | None:
        if self.about.currentData() == OWN:
            return self.study.plan.prepared(MAIN)
        return self.choices[self.chosen].schema if self.about.currentData() == SHIPPED else None

    def _show_form(self) -> None:
        given, analysis = self.values.setdefault(self.chosen, {}), self.choices[self.chosen].analysis
        schema = self._schema()
        schemas = {} if schema is None else {MAIN: schema}
        before = set(self.form.lines)
        self.form.show_form(
            f"analyses.{self.chosen}", analysis.asked(given), given, schemas, self._problems(schemas)
        )
        if set(self.form.lines) != before or not any(
            line.part in self._topics for line in self.form.lines.values()
        ):
            for name, line in self.form.lines.items():
                for widget in (line.part, *line.field.findChildren(QWidget)):
                    self.topic(widget, f"parameter.{name}")

    def _problems(self, schemas: dict[str, Schema]) -> list[Problem]:
        given = self.values.get(self.chosen, {})
        return resolve(self.choices[self.chosen].analysis.parameters, given, schemas)[1]

    # --- asking ------------------------------------------------------------------------------------

    def _filled(self, name: str, value: Any) -> None:
        given = self.values[self.chosen]
        if value is None:
            given.pop(name, None)
        else:
            given[name] = value
        self._forget()
        self._show_form()
        self.frame.update_frame()

    def _fill(self) -> None:
        choice = self.choices[self.chosen]
        self.values[self.chosen] = dict(choice.values)
        if choice.analysis.reads_bundles:
            self.read = ()
            self._show_bundles()
        place = self.about.findData(SHIPPED if choice.table is not None else NONE)
        self.about.setCurrentIndex(max(0, place))
        self._forget()
        self._show_form()
        self.frame.update_frame()

    def _forget(self) -> None:
        """An answer belongs to what it was asked with."""
        self.answer = self._asked = None
        self.answered.hide()

    def next_words(self) -> str:
        return words.say("app.explore.compute") if self.chosen else ""

    def go_next(self) -> None:
        if not self.chosen:
            return
        choice, given = self.choices[self.chosen], dict(self.values[self.chosen])
        own = self.about.currentData() == OWN and bool(choice.analysis.sources)
        self.clear_notice()
        self.work(
            ask,
            choice,
            given,
            table=self.study.table if own else None,
            schema=self._schema() if own else None,
            shipped=self.about.currentData() == SHIPPED and bool(choice.analysis.sources),
            others=self.others.get(self.chosen, {}),
            bundles=self.read if choice.analysis.reads_bundles else (),
            steps=self.study.plan.preparation if own else (),
            done=lambda answer: self._show_answer(choice, given, answer),
            doing=words.say("app.explore.computing"),
        )

    def _show_answer(self, choice: Choice, given: dict[str, Any], answer: Any) -> None:
        if choice.analysis.id != self.chosen:
            return
        self.answer, self._asked = answer, (choice, given)
        self.answered.show()
        self.stays.setVisible(answer.stays)
        self.views.show_views(answer.views)
        self.save.setFocus()
        QTimer.singleShot(0, self._to_answer)

    def _to_answer(self) -> None:
        """Bring the beginning of the answer into view: it stands below what was asked."""
        self._column.activate()
        top = self.answered.mapTo(self.inner, QPoint(0, 0)).y()
        self.verticalScrollBar().setValue(top - ABOVE)

    # --- saving ------------------------------------------------------------------------------------

    def _ask_where(self) -> None:
        dialog = QFileDialog(self, words.say("app.explore.save"), "", words.say("app.explore.report.filter"))
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix("pdf")
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(self.save_as)
        dialog.open()

    def save_as(self, path: str) -> None:
        """Write the answer as a report."""
        if self._asked is None:
            return
        choice, given = self._asked
        self.work(
            save,
            choice,
            given,
            self.answer,
            Path(path),
            language=words.language(),
            stays=self.answer.stays,
            done=lambda written: self.notify(
                words.say("app.explore.saved", file=written.name), tone="accent"
            ),
            doing=words.say("app.explore.saving"),
            stoppable=False,
        )

    # --- the right-hand side -----------------------------------------------------------------------

    def explain(self, topic: str) -> Explanation:
        kind, _, name = topic.partition(".")
        if kind == "parameter" and name in self.form.lines:
            return Explanation(self.form.labels()[name], (Part(body=self.form.help(name)),))
        if kind == "view" and int(name) < len(self.views.views):
            found = explain(self.views.views[int(name)])
            if found is not None:
                return found
        if kind in ("analysis", "view", "") and self.chosen:
            shown = self.choices[name if kind == "analysis" else self.chosen].analysis
            source = shown.published
            place = words.label(texts.say_known(f"places.analyses.{shown.id}", source.place))
            where = ", ".join(part for part in (source.document, place, source.identifier) if part)
            general = super().explain("")
            return Explanation(
                words.say(f"analyses.{shown.id}.title"),
                (
                    Part(body=words.say(f"analyses.{shown.id}.summary")),
                    *general.parts,
                    Part(words.say("app.method.source"), where),
                ),
            )
        return super().explain(topic)


def _on_two_lines(text: str, metrics: QFontMetrics, room: int) -> str:
    """Return a text that is wider than so many pixels on two lines that are about as long."""
    if metrics.horizontalAdvance(text) <= room:
        return text
    parts = text.split(" ")
    halves = [(" ".join(parts[:at]), " ".join(parts[at:])) for at in range(1, len(parts))]
    return "\n".join(min(halves, key=lambda half: max(map(metrics.horizontalAdvance, half)), default=(text,)))


PAGE = ExplorePage
