"""Columns: what each says about a person; suggestions to accept or change, one or several at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QItemSelectionModel, Qt, QTimer, Signal
from PySide6.QtGui import QKeySequence, QResizeEvent, QShortcut
from PySide6.QtWidgets import QButtonGroup, QLabel, QMenu, QPushButton, QWidget

from app import words
from app.parts.cards import Card, row
from app.parts.form.coarsening import read_hierarchy
from app.parts.form.hierarchy_editor import HierarchyEditor
from app.parts.layouts import RowLayout
from app.parts.making import (
    add,
    align_left,
    empty,
    hidden,
    make_button,
    make_field,
    make_row,
    name_widget,
    turn,
)
from app.parts.panel import Explanation, Part
from app.parts.prose import Prose
from app.parts.values_line import ValuesLine
from app.screens.base import Page, Pieces
from app.screens.columns import figures as column_figures
from app.screens.columns.asking_unit import UnitQuestion
from app.screens.columns.column_editor import ColumnEditor
from app.screens.columns.column_table import ANSWER_KEYS, GROUPS, ColumnsTable, Line
from app.screens.columns.declaring import Values
from app.screens.columns.unit_card import UnitCard
from app.state.flow import ROWS_PER_PERSON, UNIT
from app.theme import polish
from app.words.columns import names_people, outside_words, values_words, what_if_words, why
from app.work import marking
from app.work.marking import question
from engine.table.schema import Column, Kind, Role, Schema
from engine.views import Text

# --- The editor of a column's coarser steps on the columns screen, in the place of the table ------------


class CoarseningCard(Card):
    """``decided`` tells a column's hierarchy, None for none; ``done`` that the table is wanted again."""

    decided = Signal(object)
    done = Signal()

    def __init__(self) -> None:
        super().__init__(" ")
        self.setObjectName("coarsening")
        self.column = Column("")
        self.editor: HierarchyEditor | None = None
        self.hide()

    def edit(self, column: Column, schema: Schema) -> None:
        """Show the steps of a column; those of others can be taken over."""
        self.column = column
        empty(self.body)
        title = Prose(f"**{words.say('app.coarsening.title', column=column.name)}**", pixels=15)
        others = {one.name: one.hierarchy for one in schema.columns if one.name != column.name}
        known = {name: one.to_json() for name, one in others.items() if one is not None}
        now = column.hierarchy.to_json() if column.hierarchy is not None else None
        self.editor = HierarchyEditor(column, now, known)
        self.editor.changed.connect(self._changed)
        done = make_button(words.say("app.coarsening.done"), "coarsening_done", self.done.emit)
        add(
            self.body,
            title,
            Prose(words.say("app.coarsening.why"), tone="quiet"),
            self.editor,
            align_left(done),
        )
        self.show()
        self.editor.form.setFocus()

    def refresh(self, schema: Schema) -> None:
        """Show the steps as they are by now, after an edit was undone; what is being typed stays."""
        if self.isHidden() or self.editor is None or self.column.name not in schema:
            return
        found, wrong = read_hierarchy(self.editor.told, self.column)
        now = schema.column(self.column.name).hierarchy
        if not wrong and found != now:
            self.editor.show_value(now.to_json() if now is not None else None)

    def _changed(self, tree: Mapping[str, Any] | None) -> None:
        found, wrong = read_hierarchy(tree, self.column)
        if not wrong:
            self.decided.emit(found)


ALL, OPEN, SILENT = "all", "open", "silent"
NAMING = (Role.PERSON_KEY, Role.DIRECT_IDENTIFIER)
LOW = 520  # height of the page under which what stands above the table makes room for it
AIR, LOW_AIR = 8, 6  # pixels between what stands on the page
LOW_MARGIN = 12  # pixels below the table
LEAST_FIELD = 110  # width of the field that finds


class ColumnsPage(Page):
    """The third screen."""

    id = "columns"
    counts_rows = True
    _is_low = False  # asked as soon as the page gets its size, which may be before it is built

    def build(self) -> Pieces:
        self._shown = ALL
        self._sticky: frozenset[str] = frozenset()
        self._places: dict[str, str] = {}  # the group that each column stands in, while the page is open
        self._apart: frozenset[str] = frozenset()  # columns that look alike, but are shown one by one
        self._silent_before: frozenset[str] = frozenset()
        self.body.setSpacing(AIR)
        self.set_air(6, 12)
        self._editor = self._make_editor()
        self.values = Values(self, self._editor)
        self.card = UnitCard()
        self.unit = UnitQuestion(self.card, self.study, self.runner)
        self.all_values = ValuesLine(self.study, self.runner)
        self.topic(self.all_values.button, "")
        add(self.body, self.all_values, self.card)
        yield
        self._selecting = False
        self._tried: tuple[Any, ...] = ()
        self.search = make_field(
            "find", words.say("app.columns.find"), placeholder=words.say("app.columns.find_here"), width=170
        )
        self.search.setClearButtonEnabled(True)
        self.search.setMinimumWidth(LEAST_FIELD)
        self.search.textChanged.connect(lambda text: self._fill())
        self.every = self._chip("all")
        self.open = self._chip("open")
        self.silent = self._chip("silent")
        group = QButtonGroup(self)
        self._filters = {ALL: self.every, OPEN: self.open, SILENT: self.silent}
        for name, chip in self._filters.items():
            chip.setCheckable(True)
            chip.clicked.connect(lambda checked=False, name=name: self._choose(name))
            group.addButton(chip)
        self.every.setChecked(True)
        self.last = self._chip("last")
        self.last.clicked.connect(lambda checked=False: self._reuse())
        self.first_open = make_button("", "first-open", self._lead_to_open, look="link")
        self.mark = make_button(words.say("app.columns.mark"), "mark", self._menu)
        self.accept = make_button("", "accept", self._accept)
        self._lines = RowLayout()
        self._lines.setSpacing(10)
        chips = tuple(self._filters.values())
        self._buttons = (self.search, *chips, self.last, self.mark, self.accept)
        self._chips = row(self.search, *chips, stretch=False)
        self._lines.addLayout(self._chips)
        second = row(self.last)
        add(second, self.mark, self.accept)
        self._lines.addLayout(second, 1)
        self.body.addLayout(self._lines)
        self.outside = name_widget(Prose(tone="care", pixels=12), "outside")
        self.body.addLayout(make_row((self.first_open, 0), (self.outside, 1), spacing=12))
        self.table = name_widget(ColumnsTable(words.say("app.columns.table")), "columns")
        self.table.selectionModel().selectionChanged.connect(lambda *_: self._selected())
        self.table.accepted.connect(self._accept_selected)
        self.table.answered.connect(self._set_role)
        self.table.answered_by_key.connect(self._answer_by_key)
        self.table.menu_wanted.connect(self._menu)
        self.table.unit_wanted.connect(self.card.change.click)
        self.table.all_accepted.connect(lambda: self._accept_all())
        self.table.unfolded.connect(self._unfold)
        find = QShortcut(QKeySequence(QKeySequence.StandardKey.Find), self)
        find.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        find.activated.connect(self._find)
        self.body.addWidget(self.table, 1000)
        yield
        self.steps = CoarseningCard()
        self.steps.decided.connect(self._set_steps)
        self.steps.done.connect(lambda: self._show_steps(False))
        self.body.addWidget(self.steps)
        self._build_answers()
        self.body.addStretch(1)

    def _build_answers(self) -> None:
        """Buttons that answer all selected lines, each with its letter."""
        self.answers_for = QLabel()
        self.answers: dict[Role, QPushButton] = {}
        for key, role in ANSWER_KEYS.items():
            name = words.say(f"app.roles.{role.value}.name")
            button = QPushButton(
                words.say("app.columns.answer", role=name, key=key.name.removeprefix("Key_"))
            )
            button.setObjectName(f"answer_{role.value}")
            button.setAccessibleName(name)
            button.clicked.connect(lambda checked=False, role=role: self._set_role(role))
            self.answers[role] = button
        self.body.addLayout(row(self.answers_for, *self.answers.values()))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        low = self.viewport().height() < LOW
        if low != self._is_low:
            self._is_low = low
            self._lay_low(low)
            self._say_waiting()
            self._show_tools()
            self._name_accept()
        self._turn_buttons()
        margins = self._column.contentsMargins()
        self.card.lay(self.viewport().width() - margins.left() - margins.right())

    def _lay_low(self, low: bool) -> None:
        """Give the lines of a low window to the table: what is not asked stands beside the title."""
        self.table.set_low(low)
        self.card.set_low(low)
        self.body.setSpacing(LOW_AIR if low else AIR)
        self.set_air(0 if low else 6, LOW_AIR if low else 12)
        self.title.set_size("side" if low else "title")
        if low:
            self.head.addWidget(self.silent)
        else:
            self._chips.addWidget(self.silent)
        self.silent.setProperty("low", low)
        polish(self.silent)
        self._keep_margin()

    def set_margin(self, pixels: int) -> None:
        super().set_margin(pixels)
        margins = self._column.contentsMargins()
        above, below = (LOW_AIR, LOW_AIR) if self._is_low else (margins.top(), LOW_MARGIN)
        self._column.setContentsMargins(margins.left(), above, margins.right(), below)

    def _show_tools(self) -> None:
        """Show what finds and filters; in a low window the lines go to the table, and Ctrl+F still finds."""
        for part in (self.every, self.open, self.search):
            part.setHidden(self._is_low and not (part is self.search and part.text()))
        self.silent.setHidden(not (self._silent() or self._shown == SILENT))
        self.last.setHidden(self._is_low or marking.last_schema(folder=self.frame.data) is None)
        self._turn_buttons()

    def _find(self) -> None:
        self.search.show()
        self.search.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _turn_buttons(self) -> None:
        """Lay the buttons on two lines where one has not enough room."""
        shown = [part for part in self._buttons if not part.isHidden()]
        for part in shown:
            part.ensurePolished()  # before that, its letters are those of no style
        needed = [LEAST_FIELD if part is self.search else part.sizeHint().width() for part in shown]
        margins = self._column.contentsMargins()
        room = self.viewport().width() - margins.left() - margins.right()
        turn(self._lines, sum(needed) + 10 * (len(needed) - 1) <= room)

    def _say_waiting(self) -> None:
        """Say how many columns wait and what nobody was asked; a low window says it beside Next and title."""
        columns, silent = self._columns(), self._silent()
        waiting = sum(self._undecided(column) for column in columns)
        self.outside.setVisible(bool(silent) and not self._is_low)
        self.outside.say(outside_words(silent))
        self.silent.setToolTip(words.tip(outside_words(silent)) if silent else "")
        self.silent.setAccessibleDescription(outside_words(silent))
        self.subtitle.setHidden(self._is_low)
        self.subtitle.say(
            words.say(
                f"app.columns.subtitle_{'done' if not waiting else 'one' if waiting == 1 else 'open'}",
                columns=len(columns),
                waiting=waiting,
            )
        )

    def _chip(self, name: str) -> QPushButton:
        return make_button(words.say(f"app.columns.{name}", count=0), f"filter_{name}", look="chip")

    # --- showing -----------------------------------------------------------------------------------

    def opened(self) -> None:
        self.unit.fold()
        self._draw()
        self._sticky = frozenset(column.name for column in self._columns() if self._undecided(column))
        self._places = self._groups()
        self._show(ALL)
        if not self.table.selected() and self.table.columns.lines:
            self.select(self.table.columns.lines[0].name)

    def _draw(self) -> None:
        """Have the small pictures of all columns made."""
        if self.study.table is None or self.study.result("pictures") is not None:
            return
        plan = self.study.plan
        self.runner.start(
            column_figures.pictures,
            self.study.table,
            self._columns(),
            done=lambda found: self.study.store("pictures", found, plan),
            failed=lambda error: None,  # the lines say the same in words
            slot="columns.pictures",
            after_drawing=True,
        )

    def leave(self) -> None:
        self._show_steps(False)
        if not self.study.open_questions and self.study.plan.schema.columns:
            marking.keep_last_schema(self.study.plan.schema, folder=self.frame.data)

    def first_focus(self) -> QWidget | None:
        return self.table

    def enter(self) -> None:
        self.all_values.show_values()
        self._fill()
        columns = self._columns()
        waiting = sum(self._undecided(column) for column in columns)
        self.open.setText(words.say("app.columns.open", count=waiting))
        silent = self._silent()
        self.silent.setText(words.say("app.columns.silent", count=len(silent)))
        self.every.setText(words.say("app.columns.all", count=len(columns)))
        self._show_tools()
        self._say_waiting()
        self._name_accept()
        self.unit.show()
        self._show_editor()
        self.steps.refresh(self.study.plan.schema)

    def _columns(self) -> list[Column]:
        """The columns of the table as they are marked; what the schema does not list is other."""
        table = self.study.table
        names = table.names if table is not None else ()
        schema = self.study.plan.schema
        return [schema.column(name) for name in names]

    def _undecided(self, column: Column) -> bool:
        questions = self.study.open_questions
        cap = column.role is Role.PERSON_KEY and ROWS_PER_PERSON in questions
        return cap or question(column.name) in questions or column.role is Role.NOT_RECOGNISED

    def _proposed(self) -> list[str]:
        """The columns whose suggestion waits to be accepted; what nobody recognised has none."""
        return [
            column.name
            for column in self._columns()
            if question(column.name) in self.study.open_questions and column.role is not Role.NOT_RECOGNISED
        ]

    def _suggestions(self) -> dict[str, Any]:
        return {entry.column: entry for entry in self.study.result("suggestions") or ()}

    def _silent(self) -> tuple[str, ...]:
        return marking.never_asked(self._columns(), self._suggestions())

    def _fill(self) -> None:
        wanted, suggestions = self.search.text().strip().lower(), self._suggestions()
        pictures = self.study.result("pictures") or {}
        lines = []
        columns = [column for column in self._columns() if self._is_shown(column, wanted)]
        asked = [column for column in columns if self._group(column) == "asked"]
        groups = {} if wanted or self._shown == SILENT else marking.alike(asked, suggestions)
        groups = {name: alike for name, alike in groups.items() if name not in self._apart}
        behind = {name for names in groups.values() for name in names}
        silent = frozenset(self._silent())
        shown = [column for column in columns if column.name not in behind]
        shown.sort(key=lambda column: list(GROUPS).index(self._group(column)))
        before, has_bands = "", not wanted and len({self._group(column) for column in shown}) > 1
        for column in shown:
            group = self._group(column)
            band, before = group if has_bands and group != before else "", group
            suggestion = suggestions.get(column.name)
            said = values_words(column, suggestion), why(column, suggestion)
            alike, bars = groups.get(column.name, ()), pictures.get(column.name, ())
            guarded = names_people(column, suggestion) or column.role in NAMING
            proposed = self._undecided(column) or column.name in silent
            lines.append(Line(column, *said, proposed, alike, bars, guarded, band))
        self.table.columns.show_lines(lines)

    def _groups(self) -> dict[str, str]:
        """Return the group of each column: nobody can guess it, it names people, proposed, or settled.

        They are found when the page opens, so that nothing jumps away when it is answered.
        """
        suggestions, found = self._suggestions(), {}
        for column in self._columns():
            guarded = names_people(column, suggestions.get(column.name)) or column.role in NAMING
            unknown = column.role is Role.NOT_RECOGNISED
            rest = "guarded" if guarded else "proposed" if self._undecided(column) else "settled"
            found[column.name] = "asked" if unknown else rest
        return found

    def _group(self, column: Column) -> str:
        return self._places.get(column.name, "settled")

    def _unfold(self, name: str, wanted: bool) -> None:
        """Show the columns that look alike one by one, to answer single ones, or as one line again."""
        groups = marking.alike(self._columns(), self._suggestions())
        first = next((one for one, others in groups.items() if name in (one, *others)), None)
        if first is not None and wanted != (first in self._apart):
            changed = frozenset((first, *groups[first]))
            self._apart = self._apart | changed if wanted else self._apart - changed
            self._fill()
            self.select(name if wanted else first)

    def _is_shown(self, column: Column, wanted: str) -> bool:
        if wanted:
            return wanted in column.name.lower()
        if self._shown == SILENT:
            return column.name in self._silent_before
        return self._shown == ALL or column.name in self._sticky or self._undecided(column)

    def _choose(self, which: str) -> None:
        """Show the columns of a chip; in a low window, where it stands alone, pressed again all of them."""
        self._show(ALL if self._is_low and which == self._shown else which)

    def _show(self, which: str) -> None:
        self._shown = which
        self._silent_before = frozenset(self._silent())
        self._filters[which].setChecked(True)
        self._fill()

    def _name_accept(self) -> None:
        every = self._proposed()
        selected = [name for name in self.table.selected() if name in every]
        if len(selected) > 1:
            self.accept.setText(words.say("app.columns.accept", count=len(selected)))
        else:
            self.accept.setText(words.say("app.columns.accept_all", count=len(every)))
        self.accept.setVisible(bool(every) and not self._is_low)  # A accepts, and so does Next
        chosen = self.table.selected()
        self.mark.setEnabled(bool(chosen))
        self.mark.setVisible(not self._is_low)  # M opens the same, and so does the right button
        self.answers_for.setText(words.say("app.columns.answer_for", count=len(chosen)))
        several = len(chosen) > 1 and self.steps.isHidden()  # one line has its own pills
        for part in (self.answers_for, *self.answers.values()):
            part.setVisible(several)
        unknown = self._unknown()
        self.first_open.setVisible(bool(unknown) and not self._is_low)  # Next leads there, too
        self.first_open.setText(words.say("app.columns.waits", count=len(unknown)))
        self._turn_buttons()

    # --- going on ----------------------------------------------------------------------------------

    def _unknown(self) -> list[str]:
        """Return the columns that nobody can guess, and nobody has answered."""
        return [column.name for column in self._columns() if column.role is Role.NOT_RECOGNISED]

    def next_words(self) -> str:
        waiting = len(self._proposed())
        return words.say("app.columns.accept_next", count=waiting) if waiting else ""

    def waits(self) -> Text | None:
        unknown = self._unknown()
        if unknown:
            return Text("app.columns.waits", {"count": len(unknown)})
        rest = self.study.open_questions - {question(name) for name in self._proposed()}
        return Text("app.columns.waits_unit") if rest else None

    def go_next(self) -> None:
        """Accept what is proposed and go on; a column without an answer is led to first."""
        if self._unknown():
            self._lead_to_open()
            return
        self._take(self._proposed())
        self.frame.go_next()

    def _lead_to_open(self) -> None:
        unknown = self._unknown()
        self.notify(words.say("app.columns.leads", column=unknown[0]), words.say("app.columns.waits_do"))
        self.point_to(f"column:{unknown[0]}")

    # --- the right-hand side -----------------------------------------------------------------------

    def explain(self, topic: str) -> Explanation:
        names = self.table.selected()
        if not names:
            return super().explain(topic)
        schema = self.study.plan.schema
        self._editor.show_columns([schema.column(name) for name in names])
        self._show_editor()
        title = names[0] if len(names) == 1 else words.say("app.columns.several", count=len(names))
        return Explanation(title, (Part(widget=self._editor, kept=True),), mono=len(names) == 1)

    def _make_editor(self) -> ColumnEditor:
        """Return what stands on the right: one for all columns, filled anew for those that are selected."""
        editor = hidden(ColumnEditor(self))
        editor.role_chosen.connect(self._set_role)
        editor.accepted.connect(self._accept_selected)
        editor.kind_chosen.connect(self._set_kind)
        editor.steps_wanted.connect(lambda: self._show_steps(True))
        editor.cap_given.connect(self._set_cap)
        return editor

    def _selected(self) -> None:
        if self._selecting:
            return
        self.unit.fold()
        self._name_accept()
        self.refresh_explanation()

    def _show_editor(self) -> None:
        editor, schema = self._editor, self.study.plan.schema
        if not editor.names or any(name not in schema for name in editor.names):
            return  # nothing is selected, or what was selected belongs to the table before this one
        columns = [schema.column(name) for name in editor.names]
        editor.show_columns(columns)
        proposed = self._proposed()
        editor.show_accept(any(name in proposed for name in editor.names))
        first = self._suggestions().get(columns[0].name) if len(columns) == 1 else None
        reason = why(columns[0], first) if len(columns) == 1 else ""
        editor.show_why(reason, is_warning=names_people(columns[0], first))
        editor.show_proposals(() if first is None or columns[0].is_declared else first.proposals)
        asked = ROWS_PER_PERSON in self.study.open_questions
        editor.show_cap(None if asked else schema.rows_per_person)
        if len(columns) != 1:
            editor.show_what_if("", "")
            return
        name = columns[0].name
        bars = self.study.result("bars", name)
        editor.show_bars(bars)
        what_if = self.study.result("what_if", name)
        editor.show_what_if(*what_if_words(columns[0], self.study.result("group_sizes"), what_if))
        if self.study.table is not None and (bars is None or what_if is None):
            self._compute(columns[0])

    def _compute(self, column: Column) -> None:
        """Have bars and group sizes computed, once for each state of the plan."""
        plan = self.study.plan
        if self._tried == (column.name, plan):
            return
        self._tried = (column.name, plan)

        def keep(found: Any) -> None:
            with self.study.together():
                self.study.store("group_sizes", found.now, plan)
                self.study.store("what_if", found.then, plan, key=column.name)
                self.study.store("bars", found.bars, plan, key=column.name)

        self.runner.start(
            column_figures.figures,
            self.study.table,
            plan.schema,
            column,
            now=self.study.result("group_sizes"),
            done=keep,
            failed=self.refuse,
            slot="columns.side",
            after_drawing=True,
        )

    def point_to(self, place: str) -> None:
        if place == SILENT:
            self._show(SILENT)
            self.table.setFocus(Qt.FocusReason.OtherFocusReason)
            return
        name = place.removeprefix("column:")
        if name == place or not self.table.columns.lines:
            super().point_to(place)
            return
        if name not in {line.name for line in self.table.columns.lines}:
            self._show(ALL)
        self.select(name)
        self.table.setFocus(Qt.FocusReason.OtherFocusReason)

    # --- deciding ----------------------------------------------------------------------------------

    def _decide(self, schema: Schema, *answered: str) -> None:
        with self.study.together():
            self.study.decide(schemas=self.study.plan.with_schema(schema).schemas)
            self.study.answer(*(question(name) for name in answered))

    def _accept_selected(self) -> None:
        """Accept the suggestions of the selected columns."""
        self._take([name for name in self.table.selected() if name in self._proposed()])

    def _take(self, names: list[str]) -> None:
        """Take suggestions as they stand, with the code lists whose codes are their own meaning."""
        schema, suggestions = self.study.plan.schema, self._suggestions()
        for name in names:
            schema = schema.with_column(marking.with_plain_list(schema.column(name), suggestions.get(name)))
        self._decide(schema, *names)

    def _accept(self) -> None:
        """Accept the suggestions of several selected columns, or all of them."""
        every = self._proposed()
        if sum(name in every for name in self.table.selected()) > 1:
            self._accept_selected()
            return
        self._accept_all()

    def _accept_all(self) -> None:
        """Accept all suggestions, and ask next how many rows of each count."""
        self._take(self._proposed())
        key = self.study.plan.schema.person_key
        if key is not None and ROWS_PER_PERSON in self.study.open_questions:
            self.select(key.name)
            self._editor.cap.setFocus(Qt.FocusReason.OtherFocusReason)

    def select(self, *names: str) -> None:
        """Select columns in the table."""
        model, before = self.table.selectionModel(), self.table.selected()
        flags = QItemSelectionModel.SelectionFlag.Select | QItemSelectionModel.SelectionFlag.Rows
        self._selecting = True  # told once, when all of it is done
        try:
            model.clearSelection()
            for place, line in enumerate(self.table.columns.lines):
                if line.name in names:
                    model.setCurrentIndex(self.table.columns.index(place, 0), flags)
        finally:
            self._selecting = False
        if self.table.selected() != before:
            self._selected()
        # After the table knows how high its rows are.
        QTimer.singleShot(0, lambda: self.table.scrollTo(self.table.currentIndex()))

    def _menu(self) -> None:
        names = self.table.selected()
        if not names:
            return
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for role in marking.ANSWERS:
            action = menu.addAction(words.say(f"app.roles.{role.value}.name"))
            action.triggered.connect(lambda checked=False, role=role: self._set_role(role))
            action.setEnabled(role is not Role.PERSON_KEY or len(names) == 1)
        menu.popup(self.mark.mapToGlobal(self.mark.rect().bottomLeft()))

    def _set_role(self, role: Role) -> None:
        names = self.table.selected()
        if not names or role is Role.NOT_RECOGNISED:
            return
        if role is Role.PERSON_KEY and len(names) != 1:
            self.notify(words.say("app.columns.one_key"))
            return
        schema = self.study.plan.schema
        had_key = schema.person_key
        if role is Role.PERSON_KEY and (had_key is None or had_key.name != names[0]):
            self.study.ask(ROWS_PER_PERSON)
        with self.study.together():
            self._decide(marking.with_roles(schema, names, role), *names)
            made = self.study.plan.schema
            if made.person_key is not None:
                self.study.answer(UNIT)
            elif had_key is not None:
                self.study.answer(ROWS_PER_PERSON)
                self.study.ask(*(() if made.one_row_each else (UNIT,)))

    def _answer_by_key(self, role: Role) -> None:
        """Answer by a letter, and go on to the next column that nobody could guess."""
        asked = set(self.table.selected()) & set(self._unknown())
        self._set_role(role)
        lines, waiting = [line.name for line in self.table.columns.lines], set(self._unknown())
        if asked and not asked & waiting:
            last = max(place for place, name in enumerate(lines) if name in self.table.selected())
            following = [name for name in (*lines[last + 1 :], *lines[:last]) if name in waiting]
            self.select(*(following[:1] or self.table.selected()))

    def _set_kind(self, kind: Kind) -> None:
        schema = self.study.plan.schema
        for name in self.table.selected():
            schema = schema.with_column(marking.with_kind(schema.column(name), kind))
        self._decide(schema)

    def _set_cap(self, rows: int | None) -> None:
        if rows is None:
            self.study.ask(ROWS_PER_PERSON)
            return
        self.unit.choose_cap(rows)

    def _show_steps(self, wanted: bool) -> None:
        """Show the coarser steps of the selected column in the place of the table, or the table again."""
        if wanted:
            self.steps.edit(self.study.plan.schema.column(self._editor.names[0]), self.study.plan.schema)
        self.steps.setVisible(wanted)
        self.table.setVisible(not wanted)
        self._name_accept()

    def _set_steps(self, found: Any) -> None:
        column = self.study.plan.schema.column(self.steps.column.name)
        self._decide(self.study.plan.schema.with_column(replace(column, hierarchy=found)))

    def _reuse(self) -> None:
        last = marking.last_schema(folder=self.frame.data)
        if last is None:
            return
        schema, decided = marking.reuse(self.study.plan.schema, last)
        self._decide(schema, *decided)
        if schema.person_key is not None and schema.person_key.name in decided:
            self.study.answer(UNIT, ROWS_PER_PERSON)
        elif schema.one_row_each:
            self.study.answer(UNIT)
        self.notify(words.say("app.columns.reused", count=len(decided)), tone="accent")


PAGE = ColumnsPage
