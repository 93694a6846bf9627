"""Method: what the recipient should be able to do, the ways that fit, and the form of the chosen one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from PySide6.QtCore import Qt, QTimer, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QKeySequence, QResizeEvent, QShortcut
from PySide6.QtWidgets import (
    QAbstractButton,
    QButtonGroup,
    QHBoxLayout,
    QPlainTextEdit,
    QPushButton,
    QRadioButton,
    QVBoxLayout,
    QWidget,
)

from app import words
from app.parts.cards import Card
from app.parts.form.parameter_columns import AddedColumns
from app.parts.form.parameter_form import ParameterForm
from app.parts.making import (
    STRETCH,
    add,
    empty,
    hidden,
    left,
    make_button,
    make_column,
    make_field,
    make_grid,
    make_group,
    make_row,
    named,
    turn,
)
from app.parts.panel import Explanation, Part, three
from app.parts.prose import Heading, Prose
from app.parts.trial.trial_card import TrialCard
from app.parts.trial.trying import MethodTrial
from app.parts.verdict_card import VerdictCard
from app.parts.views.table import TableBody
from app.screens.base import Page, Pieces
from app.screens.method.declare_card import DeclareCard
from app.screens.method.demand_card import DemandCard
from app.screens.method.demanding import MeasuresOnDemand
from app.screens.method.judging import MethodVerdict
from app.screens.method.said import explanation, none_fits, way, which_rule_out
from app.screens.method.ways import WayRow, Ways
from app.state import flow
from app.state.flow import BUDGET
from app.state.study import Study
from app.theme import mono_font
from app.words.columns import naming_words
from app.work import marking
from app.work.choosing import (
    QUESTIONS,
    Offer,
    is_never_offered,
    matches,
    offers,
    ordered,
    ruled_out_by,
    title,
)
from app.work.comparing import variants
from app.work.deciding import kind_of_promise
from app.work.releasing import example
from engine.bounded import PAPER, read_text
from engine.methods.protocol import MAIN, Spends
from engine.numbers import surely
from engine.table.schema import Domain
from engine.views import TableView, Text

# --- What a recipient gets, shown on a bundle that was made from a table that comes with the program


class ExampleCard(Card):
    """``closed`` tells that the person has seen enough; ``failed`` that nothing could open a file."""

    closed = Signal()
    failed = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("example")
        self.folder = Path()
        self.name = Heading(size="side")
        add(self.body, self.name, Prose(words.say("app.method.example.body"), tone="quiet"))
        self.buttons: dict[str, QPushButton] = {}
        row = make_row(spacing=8)
        for name, act in (
            ("report", lambda: self._open(self.folder / "release" / "report-external.pdf")),
            ("folder", lambda: self._open(self.folder / "release")),
            ("back", self.closed.emit),
        ):
            button = QPushButton(words.say(f"app.method.example.{name}"))
            button.setObjectName(f"example-{name}")
            button.clicked.connect(lambda checked=False, act=act: act())
            row.addWidget(button)
            self.buttons[name] = button
        row.addStretch(1)
        self.body.addLayout(row)
        self._files = QVBoxLayout()
        self.cover = named(QPlainTextEdit(), "example-cover", words.say("app.method.example.cover"))
        self.cover.setReadOnly(True)
        self.cover.setFont(mono_font(12))
        self.cover.setMinimumHeight(260)
        add(self.body, self._files, Heading(words.say("app.method.example.cover"), size="card"), self.cover)

    def show_bundle(self, title: str, folder: Path, files: list[tuple[str, int, str]]) -> None:
        """Show a bundle by its folder and the files of its part for outside."""
        self.folder = folder
        self.name.setText(words.say("app.method.example.title", way=title))
        empty(self._files)
        headings = (Text("app.report.column.file"), Text("app.report.column.bytes"))
        rows = tuple((name, size) for name, size, _ in files)
        table = TableBody(TableView(words.say("app.method.example.files"), headings, rows))
        table.setObjectName("example-files")
        self._files.addWidget(table)
        self.cover.setPlainText(read_text(folder / "release" / "README.txt", PAPER))

    def _open(self, path: Path) -> None:
        if not QDesktopServices.openUrl(QUrl.fromLocalFile(str(path))):
            self.failed.emit(str(path))


# --- Declaring a column where a form misses it ----------------------------------------------------------


class DeclareHere:
    """Keeps card, form and study at one; ``opened`` is called when the card has a question."""

    def __init__(
        self, form: ParameterForm, card: DeclareCard, study: Study, opened: Callable[[], None]
    ) -> None:
        self.form, self.card, self.study, self._opened = form, card, study, opened
        self._asked: dict[str, tuple[str, Any]] = {}  # the parameter that misses a column, and its value then
        form.declare_wanted.connect(self.ask)
        card.declared.connect(self._declared)

    def _source(self, parameter: str) -> str:
        return next((one.source for one in self.form.parameters() if one.name == parameter), "")

    def ask(self, parameter: str, name: str, value: Any) -> None:
        """Ask for the values of a column; ``value`` is what the parameter becomes with it."""
        from engine.table.code_lists import code_lists

        self._asked[name] = parameter, value
        source = self._source(parameter)
        column = self.study.plan.schemas[source].column(name)
        suggestions = self.study.result("suggestions") or ()
        found = next((one for one in suggestions if source == MAIN and one.column == name), None)
        self.card.open_editor(column, marking.seen(column, found), code_lists())
        self._opened()

    def refresh(self) -> None:
        """Take questions away that the form, or the table, no longer asks."""
        for name in self.card.columns:
            schema = self.study.plan.schemas.get(self._source(self._asked[name][0]))
            if schema is None or name not in schema or schema.column(name).is_declared:
                self.card.close_editor(name)

    def _declared(self, name: str, domain: Domain, from_rows: bool) -> None:
        """Take the declaration, and the column for the parameter that missed it, as one edit."""
        parameter, value = self._asked[name]
        plan, source = self.study.plan, self._source(parameter)
        field = self.form.lines[parameter].field
        if isinstance(field, AddedColumns):
            value = field.with_column(name)  # others may have been added since it was asked
        schema = plan.schemas[source]
        schema = schema.with_column(marking.declared(schema.column(name), domain))
        reason = words.say("app.columns.vouched")
        self.card.close_editor(name)
        self.study.decide(
            schemas={**plan.schemas, source: schema},
            parameters={**plan.parameters, parameter: value},
            decisions=marking.vouched(plan.decisions, name, reason) if from_rows else plan.decisions,
        )


# --- Keeping settings to be compared --------------------------------------------------------------------


class CandidateLinks(QWidget):
    """Two links; ``said`` tells how many candidates there are now."""

    said = Signal(str)

    def __init__(self, study: Any) -> None:
        super().__init__()
        self.study = study
        line = make_row(inside=self, spacing=20, margins=0)
        self.keep = self._link("keep", "keep-candidate", self._keep)
        self.usual = self._link("usual", "usual-candidates", self._keep_usual)
        add(line, self.keep, self.usual)

    def _link(self, text: str, name: str, act: Callable[[], None]) -> QPushButton:
        return make_button(words.say(f"app.method.{text}"), name, lambda: act(), look="link")

    def renew(self, method: Any) -> None:
        """Offer what a method has."""
        for link in (self.keep, self.usual):
            link.setEnabled(not self.study.problems())
        self.usual.setVisible(method is not None and bool(method.variants))

    def _keep(self) -> None:
        """Keep these settings beside those that are filled in from now on."""
        plan = self.study.plan
        self._add([{"method": plan.method, "parameters": dict(plan.parameters)}], "kept")

    def _keep_usual(self) -> None:
        """Put what the method proposes beside these settings."""
        self._add(variants(self.study.plan), "usual_kept")

    def _add(self, further: Any, said: str) -> None:
        kept = self.study.plan.candidates
        plan = replace(self.study.plan, candidates=kept)
        known = [(one.method, one.settings) for one in plan.candidate_plans()[1:]]
        tried = [(one, replace(plan, candidates=(), **one)) for one in further]
        new = [one for one, its in tried if (its.method, its.settings) not in known]
        if new:
            self.study.decide(candidates=(*kept, *new))
        self.said.emit(words.say(f"app.method.{said}", count=len(self.study.plan.candidates)))


# --- Questions with one answer each, or none ------------------------------------------------------------


class Questions(QWidget):
    """``answered`` tells that an answer was given or taken back; texts at ``BASE.QUESTION`` and below it."""

    answered = Signal()

    def __init__(self, base: str, questions: Mapping[str, tuple[str, ...]]) -> None:
        super().__init__()
        self.groups: dict[str, QButtonGroup] = {}
        outer = make_column(inside=self, spacing=0, margins=0)
        self._grid = make_grid(across=24, down=12)
        outer.addLayout(self._grid)
        self._parts = [self._part(base, name, answers) for name, answers in questions.items()]
        self._columns = 0
        self.lay(1)
        self.clear = make_button(words.say("app.method.clear"), "clear-answers", self.take_back, look="link")
        add(outer, 8, left(self.clear), STRETCH)
        self.clear.setEnabled(False)

    def _part(self, base: str, question: str, answers: tuple[str, ...]) -> QWidget:
        part = QWidget()
        column = make_column(inside=part, spacing=0, margins=0)
        asked = words.say(f"{base}.{question}.question")
        column.addWidget(Heading(asked, size="card"))
        group = QButtonGroup(self)
        for answer in answers:
            button = named(QRadioButton(words.say(f"{base}.{question}.{answer}")), f"{question}-{answer}")
            button.setAccessibleName(f"{asked}: {button.text()}")
            button.setProperty("answer", answer)
            group.addButton(button)
            column.addWidget(button)
        column.addStretch(1)
        group.buttonClicked.connect(lambda button: self._answered())
        self.groups[question] = group
        return part

    def lay(self, columns: int) -> None:
        """Put the questions below each other, or several side by side."""
        if columns != self._columns:
            self._columns = columns
            for place, part in enumerate(self._parts):
                self._grid.addWidget(part, place // columns, place % columns)

    def answers(self) -> dict[str, str]:
        """Return the answers that were given, by question."""
        given = {name: group.checkedButton() for name, group in self.groups.items()}
        return {name: button.property("answer") for name, button in given.items() if button is not None}

    def take_back(self) -> None:
        """Leave every question without an answer."""
        for group in self.groups.values():
            group.setExclusive(False)
            for button in group.buttons():
                button.setChecked(False)
            group.setExclusive(True)
        self._answered()

    def _answered(self) -> None:
        self.clear.setEnabled(bool(self.answers()))
        self.answered.emit()


SIDE_BY_SIDE = 680  # width of the page from which the parts of a chosen way stand beside each other
QUESTIONS_BESIDE = 886  # and from which the questions stand beside the ways
QUESTIONS_IN_THREE = 700  # … or, above the ways, three in a line
QUESTIONS_WIDE = 240
QUESTIONS_HIGH = 600  # height of the page from which questions above the ways leave room for some


class MethodPage(Page):
    """In two parts: choosing among all ways, and what the chosen one still needs."""

    id = "method"

    def build(self) -> Pieces:
        self.offers: tuple[Offer, ...] = ()
        self.choosing = True
        self.selected = ""
        self._shows_example = False
        self._has_room = True
        self._kept: dict[str, dict[str, Any]] = {}  # what was filled in for ways that were left again
        self._examples: list[TemporaryDirectory[str]] = []
        self._build_choice()
        yield
        self._build_chosen()
        self._build_form()
        self.example = ExampleCard()
        self.example.closed.connect(self._close_example)
        self.example.failed.connect(
            lambda path: self.notify(
                words.say("app.report.cannot_open"), words.say("app.report.cannot_open_do", path=path)
            )
        )
        add(self.body, self.example, STRETCH)
        find = QShortcut(QKeySequence.StandardKey.Find, self)
        find.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        find.activated.connect(self._find)

    def _build_choice(self) -> None:
        self.choice = QWidget()
        self._choice_row = make_row(inside=self.choice, spacing=24, margins=0)
        self.questions = Questions("app.method.ask", QUESTIONS)
        self.questions.answered.connect(self._answered)
        for group in self.questions.groups.values():
            for button in group.buttons():
                self.topic(button, "questions")
        self.ask = make_button(words.say("app.method.ask_first"), "ask-first", look="link", checkable=True)
        self.ask.toggled.connect(lambda shown: self._fold_questions())
        self._choice_row.addLayout(make_column(left(self.ask), self.questions, STRETCH, spacing=8))
        column = make_column(self._build_search(), spacing=12)
        self.ways = Ways()
        self.ways.chosen.connect(self._select)
        self.ways.used.connect(self._use)
        self.ways.example.connect(self._ask_example)
        self.ways.made.connect(self._topics_of)
        self.none = named(Prose(), "no-way")
        self.others = make_button("", "others", lambda: self._show_all(True), look="link")
        self.why = named(Prose(tone="quiet", pixels=12), "why-others")
        add(column, self.ways, self.none, left(self.others), self.why, STRETCH)
        self._choice_row.addLayout(column, 1)
        self.body.addWidget(self.choice)

    def _build_search(self) -> QHBoxLayout:
        row = make_row(spacing=8)
        self.search = make_field(
            "search", words.say("app.method.search"), placeholder=words.say("app.method.search"), width=320
        )
        self.search.setClearButtonEnabled(True)
        self.search.textChanged.connect(lambda text: self._show_ways())
        self.topic(self.search, "search")
        add(row, (self.search, 3), STRETCH)
        self.which = QButtonGroup(self)
        self.chips: dict[str, QPushButton] = {}
        for name in ("fit", "all"):
            chip = make_button("", f"show-{name}", look="chip", checkable=True)
            self.which.addButton(chip)
            self.chips[name] = chip
            row.addWidget(chip)
        self.chips["fit"].setChecked(True)
        self.which.buttonClicked.connect(lambda button: self._show_ways())
        return row

    def _build_chosen(self) -> None:
        """What the chosen way promises, and what the recipient can and cannot do."""
        self.another = make_button(
            words.say("app.method.another"), "another-way", self._choose_again, look="link"
        )
        self.candidates = CandidateLinks(self.study)
        self.candidates.said.connect(lambda said: self.notify(said, tone="accent"))
        for link in (self.candidates.keep, self.candidates.usual):
            self.topic(link, "keep")
        self.links = make_group(make_row(self.another, self.candidates, STRETCH, spacing=20, margins=0))
        self.body.addWidget(self.links)
        self.chosen = QWidget()
        self._chosen_row = make_row(inside=self.chosen, spacing=14, margins=0)
        self.says: dict[str, Prose] = {}
        for name in ("guarantee", "recipient_can", "recipient_cannot"):
            card = Card(words.say(f"app.method.{name}"))
            self.says[name] = Prose()
            add(card.body, self.says[name], STRETCH)
            self._chosen_row.addWidget(card, 1)
        self.body.addWidget(self.chosen)

    def _build_form(self) -> None:
        self.card = Card()
        self.card.body.setSpacing(18)
        self.form = ParameterForm()
        self.form.changed.connect(lambda name, value: self.study.decide_parameters(**{name: value}))
        self.declare = DeclareCard()
        self.declaring = DeclareHere(self.form, self.declare, self.study, self._asks_to_declare)
        self.topic(self.declare.cancel, "declare")
        self.general = named(Prose(tone="wrong"), "problem-general")
        self.naming = named(Prose(tone="wrong"), "names-people")
        add(self.card.body, self.form, self.declare, self.general, self.naming)
        self.sizes_part = QWidget()
        column = make_column(
            Heading(words.say("app.method.sizes"), size="card"), inside=self.sizes_part, spacing=6, margins=0
        )
        self.sizes = make_field("declared_sizes", words.say("app.method.sizes"), width=260)
        self.sizes.textEdited.connect(self._decide_sizes)
        self.topic(self.sizes, "sizes")
        self.sizes_wrong = hidden(Prose(words.say("app.method.sizes_wrong"), tone="wrong", pixels=12))
        add(column, self.sizes, self.sizes_wrong)
        self.card.body.addWidget(self.sizes_part)
        self.body.addWidget(self.card)
        card = VerdictCard()
        self.topic(card, "verdict")
        self.verdict = MethodVerdict(card, self.study, self.runner)
        tried = TrialCard()
        self.topic(tried, "trial")
        self.trial = MethodTrial(tried, self.id, self.study, self.runner)
        further = DemandCard()
        self.topic(further, "demand")
        self.demand = MeasuresOnDemand(further, self.study, self.runner)
        add(self.body, card, tried, further)

    def resizeEvent(self, event: QResizeEvent) -> None:
        wide = self.viewport().width() >= SIDE_BY_SIDE
        turn(self._chosen_row, wide)
        wide = self.viewport().width() >= QUESTIONS_BESIDE
        turn(self._choice_row, wide)
        columns = 3 if self.viewport().width() >= QUESTIONS_IN_THREE else 2
        self.questions.lay(1 if wide else columns)
        self.questions.setMaximumWidth(QUESTIONS_WIDE if wide else 16_777_215)
        self._has_room = wide or self.viewport().height() >= QUESTIONS_HIGH
        self._fold_questions()
        super().resizeEvent(event)  # last: it lays out what stands beside each other now

    def _fold_questions(self) -> None:
        """Keep the ways in view: where the questions would push them out, they stand behind a link."""
        asks = self._has_room or self.ask.isChecked() or bool(self.questions.answers())
        self.ask.setVisible(not self._has_room)
        self.ask.setText(words.say(f"app.method.ask_first{'_shown' if asks else ''}"))
        self.questions.setVisible(asks)

    # --- showing -----------------------------------------------------------------------------------

    def opened(self) -> None:
        if not self.offers:
            self.work(offers, done=self._found, doing=words.say("app.method.finding"), stoppable=False)
        if self.choosing != (self.study.method is None):
            self.choosing = self.study.method is None
            self.enter()
            self.frame.update_frame()

    def prepare(self) -> None:
        if not self.offers:
            self.runner.start(offers, done=self._prepared, failed=lambda error: None, slot="method.ready")

    def _prepared(self, found: tuple[Offer, ...]) -> None:
        if self.offers:
            return  # asked for meanwhile
        self.offers = found
        self.ways.make_ready([way(one, self.questions.answers()) for one in ordered(list(found), {})])

    def _found(self, found: tuple[Offer, ...]) -> None:
        self.offers = found
        self.enter()
        self.frame.update_frame()

    def first_focus(self) -> QWidget | None:
        return self.search if self.choosing else self.another

    def enter(self) -> None:
        method = self.study.method
        if method is None:
            self.choosing = True
        picks, example = self.choosing and not self._shows_example, self._shows_example
        named = method is not None and not self.choosing
        self.title.setText(
            words.say("app.method.title") if not named or method is None else words.firm(title(method))
        )
        form = "subtitle_tried" if self.trial.applies else "subtitle_form"
        self.subtitle.say(words.say(f"app.method.{form if named else 'subtitle'}"))
        self.setAccessibleName(self.title.text())
        self.example.setVisible(example)
        self.choice.setVisible(picks and bool(self.offers))
        self.candidates.renew(method)
        for part in (self.links, self.chosen, self.card):
            part.setVisible(named and not example)
        if picks:
            self._show_ways()
        if named and method is not None and not example:
            self.verdict.show()
            self.trial.show()
            self.demand.show()
        else:
            self.verdict.card.hide()
            self.trial.hide()
            self.demand.hide()
        if named and method is not None:
            self._show_method(method)

    # --- choosing ----------------------------------------------------------------------------------

    def _show_ways(self) -> None:
        answers, wanted = self.questions.answers(), self.search.text()
        found = ordered([one for one in self.offers if matches(one, wanted)], answers)
        fitting = [one for one in found if not ruled_out_by(one, answers)]
        shown = found if self.chips["all"].isChecked() else fitting
        self.chips["fit"].setText(words.say("app.method.fit", count=len(fitting)))
        self.chips["all"].setText(words.say("app.method.all", count=len(found)))
        if self.selected not in {one.method.id for one in shown}:
            current = self.study.plan.method
            self.selected = current if current in {one.method.id for one in shown} else ""
        self.ways.show_ways([way(one, answers) for one in shown], self.selected)
        self.ways.setVisible(bool(shown))
        self._show_others(found, fitting, answers)
        if self.isVisible():
            self.frame.update_frame()

    def _topics_of(self, row: WayRow) -> None:
        for widget in (row, *row.findChildren(QAbstractButton)):  # what gets the pointer or the focus
            self.topic(widget, f"method.{row.way.id}")

    def _show_others(self, found: list[Offer], fitting: list[Offer], answers: dict[str, str]) -> None:
        """Say how many do not fit, by which answer, and what to do where nothing fits."""
        others = [one for one in found if one not in fitting]
        hidden = bool(others) and not self.chips["all"].isChecked()
        self.others.setVisible(hidden)
        self.others.setText(words.say("app.method.others", count=len(others)))
        self.why.setVisible(hidden)
        self.why.say(which_rule_out(others, answers))
        never = is_never_offered(self.search.text())
        self.none.setVisible(never or not fitting)
        if never:
            self.none.say(words.say("app.method.not_offered.sentence"))
        elif not found:
            self.none.say(words.say("app.method.not_found", wanted=self.search.text()))
        elif not fitting:
            self.none.say(none_fits(found, answers))

    def _answered(self) -> None:
        self.chips["fit"].setChecked(True)
        self._show_ways()

    def _show_all(self, wanted: bool) -> None:
        self.chips["all" if wanted else "fit"].setChecked(True)
        self._show_ways()

    def _select(self, method_id: str) -> None:
        self.selected = method_id
        self.refresh_explanation(f"method.{method_id}")
        self.frame.update_frame()
        QTimer.singleShot(0, self, self._form_ahead)

    def _form_ahead(self) -> None:
        """Make the form of the selected way while its words are read: half of what it takes to open it."""
        method = next((one.method for one in self.offers if one.method.id == self.selected), None)
        if method is not None and self.choosing:
            self.form.make_ready(f"methods.{method.id}", flow.asked(method), self.study.plan.schemas)

    def _find(self) -> None:
        if self.choosing:
            self.search.setFocus(Qt.FocusReason.ShortcutFocusReason)
            self.search.selectAll()

    def _choose_again(self) -> None:
        self.choosing, self.selected = True, self.study.plan.method
        self.enter()
        self.frame.update_frame()
        self.search.setFocus()

    def _use(self) -> None:
        """Take the selected way; what was filled in for it before comes back."""
        method = next((one.method for one in self.offers if one.method.id == self.selected), None)
        if method is None:
            return
        self.choosing = False
        plan, former = self.study.plan, self.study.method
        if former is None or former.id != method.id:
            if former is not None:
                self._kept[former.id] = dict(plan.parameters)
            kept = {parameter.name: parameter.kind for parameter in method.parameters}
            same = {
                parameter.name
                for parameter in (former.parameters if former is not None else ())
                if kept.get(parameter.name) == parameter.kind
            }
            values = {name: value for name, value in plan.parameters.items() if name in same}
            values = self._kept.get(method.id, values)
            taken = {"method": method.id, "method_version": method.version, "parameters": values}
            self.study.decide(**taken, measures=())  # those that were named are about the former one
        else:
            self.enter()  # else the study asked already
        self.verticalScrollBar().setValue(0)
        self.refresh_explanation(f"method.{method.id}")
        self.frame.update_frame()
        self.another.setFocus()

    def next_words(self) -> str:
        if self._shows_example:
            return words.say("app.method.example.back")
        if not self.choosing:
            return ""
        return words.say("app.method.use") if self.selected else ""

    def go_next(self) -> None:
        if self._shows_example:
            self._close_example()
        elif self.choosing and self.selected:
            self._use()
        elif (found := self.trial.why_not()) is not None:
            self.hold_back(found)
        else:
            self.frame.go_next()

    # --- an example --------------------------------------------------------------------------------

    def _ask_example(self, method_id: str) -> None:
        folder = TemporaryDirectory(prefix="custos-example-")
        self._examples.append(folder)
        self.work(
            example,
            method_id,
            Path(folder.name) / "example",
            language=words.language(),
            done=lambda found: self._show_example(method_id, *found),
            doing=words.say("app.method.example.making"),
        )

    def _show_example(self, method_id: str, folder: Path, files: list[tuple[str, int, str]]) -> None:
        method = next(one.method for one in self.offers if one.method.id == method_id)
        self.example.show_bundle(title(method), folder, files)
        self._shows_example = True
        self.enter()
        self.verticalScrollBar().setValue(0)
        self.frame.update_frame()
        self.example.buttons["report"].setFocus()

    def _close_example(self) -> None:
        self._shows_example = False
        self.enter()
        self.frame.update_frame()

    def leave(self) -> None:
        self._shows_example = False
        self.trial.look_at_taken()
        if self.study.plan.schema.columns and not self.study.open_questions:
            marking.keep_last_schema(self.study.plan.schema, folder=self.frame.data)  # declared here too

    # --- the form ----------------------------------------------------------------------------------

    def _show_method(self, method: Any) -> None:
        base = f"methods.{method.id}"
        kind = kind_of_promise(self.study.plan)
        self.says["guarantee"].say(words.say(f"promises.{kind}.sentence"))
        for name in ("recipient_can", "recipient_cannot"):
            self.says[name].say(words.say(f"{base}.{name}"))
        asked = flow.asked(method)
        later = {one.name for one in method.parameters if one not in asked}
        problems = [one for one in self.study.problems() if one.parameter not in {BUDGET, *later}]
        plan = self.study.plan
        before = set(self.form.lines)
        self.form.show_form(base, asked, plan.parameters, plan.schemas, problems)
        if set(self.form.lines) != before or not self._topics_of_form():
            for name, line in self.form.lines.items():
                for widget in (line.part, *line.field.findChildren(QWidget)):
                    self.topic(widget, f"parameter.{name}")
        self.declaring.refresh()
        general = [problem for problem in problems if problem.parameter not in self.form.lines]
        self.general.setVisible(bool(general))
        self.general.say("\n\n".join(" ".join(words.explain(problem)) for problem in general))
        said = naming_words(plan, method, self.study.result("suggestions") or ())
        self.naming.setVisible(bool(said))
        self.naming.say(said)
        self.sizes_part.setVisible(method.spends is Spends.CHOSEN)
        self.card.setVisible(bool(asked or general) and not self._shows_example)
        if not self.sizes.hasFocus():
            self.sizes.setText(", ".join(f"{one}" for one in plan.declared_sizes))
            self.sizes_wrong.hide()

    def _topics_of_form(self) -> bool:
        return any(line.part in self._topics for line in self.form.lines.values())

    def _decide_sizes(self, text: str) -> None:
        parts = [part for part in text.replace(";", ",").split(",") if part.strip()]
        numbers = [surely(part) for part in parts]
        sizes = [int(one) for one in numbers if one is not None and one > 0 and one.denominator == 1]
        right = bool(parts) and len(sizes) == len(parts)
        self.sizes_wrong.setVisible(not right)
        if right:
            self.study.decide(declared_sizes=tuple(sizes))

    def _asks_to_declare(self) -> None:
        self.ensureWidgetVisible(self.declare, 0, 24)
        self.refresh_explanation("declare")

    def field_at(self, place: str) -> QWidget | None:
        kind, _, name = place.partition(":")
        return self.form.part(name) if kind == "parameter" else super().field_at(place)

    # --- the right-hand side -----------------------------------------------------------------------

    def explain(self, topic: str) -> Explanation:
        if topic == "verdict":
            return three("app.preview.help.verdict", words.say("app.preview.verdict.heading"))
        if topic == "trial":
            return three("app.trying.help", words.say("app.trying.heading"))
        kind, _, name = topic.partition(".")
        if kind == "parameter" and name in self.form.lines:
            return Explanation(self.form.labels()[name], (Part(body=self.form.help(name)),))
        if kind == "method":
            offer = next((one for one in self.offers if one.method.id == name), None)
            if offer is not None:
                return explanation(offer, lambda: self._ask_example(offer.method.id))
        return super().explain(topic)


PAGE = MethodPage
