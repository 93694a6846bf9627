"""Load: the table as it was read, first of all; then how it was read, and the cells that did not fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFileDialog, QLineEdit, QWidget

from app import words
from app.parts.asked_card import AskedCard
from app.parts.cards import Card, Rule
from app.parts.exact_field import ExactField
from app.parts.making import (
    STRETCH,
    add,
    align_left,
    empty,
    hidden,
    make_button,
    make_column,
    make_label,
    make_row,
    name_widget,
)
from app.parts.panel import Explanation, Part
from app.parts.prose import Heading, Prose
from app.parts.table import DataTable
from app.parts.values_line import ValuesLine
from app.screens.base import Page
from app.screens.load.asks import (
    Reading,
    has_connector,
    list_tables,
    read,
    read_address,
    write_server,
)
from app.screens.load.preparation import PreparationSteps
from app.screens.load.reading_options import ReadingOptions
from app.screens.load.server_card import ServerCard
from app.screens.load.together_card import TogetherCard
from app.state.files import is_plan, is_release
from app.state.flow import ROWS_PER_PERSON, UNIT
from app.state.settings import data_folder
from app.work import marking
from app.work.jobs import SHORT
from app.work.together import (
    PARTS,
    Together,
    count,
    of_plan,
    plan_of,
    read_together,
    sheets_of,
    with_cap,
    with_part,
    with_person,
    with_record,
)
from app.work.values import SLOT as VALUES
from app.work.values import of_part, start_values
from engine import texts
from engine.errors import EngineError
from engine.methods.protocol import MAIN
from engine.release.plan import FileReference
from engine.table.schema import Role

# --- What was noticed in the rows -----------------------------------------------------------------------

FIRST = 3
NAMED = 4


class Findings(Card):
    """Remarks about the table that was read; hidden when there are none."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("", parent=parent)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.title = Heading(size="card")
        self.body.addWidget(self.title)
        self._lines = make_column(spacing=10)
        self.more = make_button("", "more_findings", lambda: self._show(everything=True), look="link")
        add(self.body, self._lines, align_left(self.more))
        self._groups: list[tuple[Any, ...]] = []

    def show_findings(self, findings: Sequence[Any]) -> None:
        """Show the findings of a table."""
        groups: dict[tuple[str, Any], list[Any]] = {}
        for finding in findings:
            groups.setdefault((finding.code, finding.more.get("code")), []).append(finding)
        self._groups = [tuple(group) for group in groups.values()]
        self.setVisible(bool(self._groups))
        self.title.setText(words.say("app.load.findings", count=len(self._groups)))
        self.setAccessibleName(self.title.text())
        self._show(everything=False)

    def _show(self, *, everything: bool) -> None:
        empty(self._lines)
        shown = self._groups if everything else self._groups[:FIRST]
        for place, group in enumerate(shown):
            if place:
                self._lines.addWidget(Rule())
            self._lines.addWidget(_line(group))
        hidden = len(self._groups) - len(shown)
        self.more.setVisible(hidden > 0)
        self.more.setText(words.say("app.load.more_findings", count=hidden))


def _line(group: tuple[Any, ...]) -> QWidget:
    part = QWidget()
    column = make_column(inside=part, spacing=2, margins=0)
    first = group[0]
    what, do = texts.sentences(first.code, first.values, language=words.language())
    column.addWidget(Prose(what))
    if len(group) > 1:
        named = [
            words.say("app.load.column_count", column=finding.column, count=finding.count)
            for finding in group[1 : 1 + NAMED]
        ]
        more = len(group) - 1 - len(named)
        text = words.say(
            "app.load.also_in" if not more else "app.load.also_in_more", columns=", ".join(named), count=more
        )
        column.addWidget(Prose(text))
    column.addWidget(Prose(do, tone="quiet"))
    return part


TABLE = (190, 360)  # pixels at least: the table is what somebody came to see, and what follows is in sight

DRAWN = 2  # milliseconds after which a turn of the event loop has passed


class LoadPage(Page):
    """The second screen."""

    id = "load"
    counts_rows = True

    def build(self) -> None:
        self._shown: Any = None
        self.drop = self._build_drop()
        self.server = self._build_server()
        self._wants_server = False
        self._shown_together: Any = None
        self._addressed = ""  # the file of a server that is shown
        self._listed: Any = None  # what was asked for the list of tables
        add(self.body, (self.drop, 1), (self.server, 1))
        self.loaded = QWidget()
        column = make_column(inside=self.loaded, spacing=16, margins=0)
        self.values = ValuesLine(self.study, self.runner)
        self.topic(self.values.button, "values")
        column.addWidget(self.values)
        self.together = TogetherCard()
        self.together.part.connect(lambda name, part: self._hang(with_part, name, part))
        self.together.person.connect(lambda name, column: self._hang(with_person, name, column))
        self.together.record.connect(lambda part, column: self._hang(with_record, part, column))
        self.together.cap.connect(self._take_cap)
        self.together.alone.connect(self._go_alone)
        column.addWidget(self.together)
        self.sheets = hidden(make_button("", "all_sheets", self._take_sheets, look="chip"))
        self.topic(self.sheets, "together")
        add(column, align_left(self.sheets))
        self.rows = name_widget(DataTable(words.say("app.load.first_rows")), "first_rows")
        self.rows.setMinimumHeight(TABLE[0])
        self.topic(self.rows, "rows")
        column.addWidget(self.rows, 1)
        self.options = ReadingOptions()
        self.options.changed.connect(self._override)
        for name, field in self.options.fields.items():
            self.topic(field, f"option.{name}")
        self.findings = Findings()
        self.topic(self.findings, "findings")
        self.preparation = PreparationSteps()
        self.preparation.changed.connect(self._prepare)
        self.topic(self.preparation, "preparation")
        self.asked = AskedCard()
        self.topic(self.asked.fold.line, "asked")
        self.release_sample = self._build_sample()
        add(column, self.options, self.findings, self.preparation, self.release_sample, self.asked)
        self.body.addWidget(self.loaded, 1)

    def _build_drop(self) -> QWidget:
        card = name_widget(Card(), "drop")
        card.setMinimumHeight(240)
        heading = Heading(words.say("app.load.drop_heading"), size="side")
        heading.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        formats = Prose(words.say("app.load.formats"), tone="quiet")
        formats.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        add(card.body, STRETCH, heading, formats, 8)
        self.choose = make_button(words.say("app.load.choose"), "choose", look="primary")
        self.choose.clicked.connect(self._ask)
        folder = make_button(words.say("app.load.choose_folder"), "choose_folder", self._ask_folder)
        line = make_row(STRETCH, self.choose, folder, STRETCH)
        server = make_button(
            words.say("app.load.server.button"), "choose_server", self._ask_server, look="link"
        )
        self.topic(server, "server")
        add(card.body, line, make_row(STRETCH, server, STRETCH), STRETCH)
        return card

    def _build_server(self) -> ServerCard:
        card = hidden(ServerCard())
        card.listed.connect(self._list_tables)
        card.chosen.connect(self._open_server)
        card.left.connect(self._leave_server)
        for widget in (card.kind, *card.fields.values(), card.relations):
            self.topic(widget, "server")
        return card

    # --- a table on a server ------------------------------------------------------------------------

    def _ask_server(self) -> None:
        """Ask where the server is; where the part that connects is missing, say what has to be installed."""
        if not has_connector():
            self.notify(words.say("app.load.server.missing"), words.say("app.load.server.missing_do"))
            return
        self._wants_server = True
        self.enter()
        self.server.fields["host"].setFocus(Qt.FocusReason.OtherFocusReason)

    def _leave_server(self) -> None:
        """Go back to where a file is chosen."""
        self._wants_server = False
        self.server.forget_password()
        if self._needs_password:
            self._give_up(self.study.plan)
        self.enter()

    def _list_tables(self, said: dict[str, Any], password: str) -> None:
        self.clear_notice()
        self.work(
            list_tables,
            said,
            password,
            done=self._tables_listed,
            doing=words.say("app.load.server.connecting", address=said["host"]),
        )

    def _tables_listed(self, listed: Any) -> None:
        self._listed = listed.about
        self.server.show_relations(listed.relations)
        if not listed.relations:
            self.notify(words.say("app.load.server.none"), words.say("app.load.server.none_do"))

    def _open_server(self, said: dict[str, Any], password: str) -> None:
        """Open a table on a server: the file that names it is the program's, the password nobody's."""
        try:
            path = write_server(said, (self.frame.data or data_folder()) / "servers")
        except (EngineError, OSError) as error:
            self.refuse(error)
            return
        self._wants_server = False
        self.open_path(str(path), password=password)

    @property
    def _needs_password(self) -> bool:
        """Whether the table is on a server whose password nobody has typed since the plan was opened."""
        main = self.study.plan.files.get(MAIN)
        return main is not None and self.study.password is None and main.names_server

    def _build_sample(self) -> QWidget:
        card = name_widget(Card(), "release_sample")
        self.sample = name_widget(ExactField(words.say("app.load.sample"), smallest=0, largest=100), "sample")
        self.sample.setPlaceholderText("100")
        self.sample.decided.connect(self._take_sample)
        said = Prose(words.say("app.load.sample_note"), tone="quiet")
        add(
            card.body,
            make_row(make_label(words.say("app.load.sample"), buddy=self.sample), self.sample, STRETCH),
            said,
        )
        self.topic(self.sample, "sample")
        return card

    def _take_sample(self, percent: Fraction | None) -> None:
        share = percent / 100 if percent is not None and 0 < percent < 100 else None
        self.study.decide(sample=share)
        self.enter()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.rows.setMinimumHeight(max(TABLE[0], min(TABLE[1], event.size().height() // 2)))

    def enter(self) -> None:
        raw = self.study.result("raw")
        table = self.study.table or raw  # a step that was refused leaves the table as it was read
        if raw is None and self._needs_password:
            self._show_address()
        self.server.setVisible(raw is None and (self._wants_server or self._needs_password))
        self.drop.setVisible(MAIN not in self.study.plan.files and not self._wants_server)
        self.asked.show_asked(self.study.asked)
        self.release_sample.setVisible(self.study.password is None)  # a server is asked for all of them
        if raw is None:
            self.loaded.hide()
            self.subtitle.say(words.say("app.load.subtitle"))
            self._shown = None
            return
        self.values.show_values()
        self._show_together()
        if self._shown is not table:
            self._shown = table
            self._show(raw, table)
        share = self.study.plan.sample
        self.sample.show_number(None if share is None else 100 * share)
        self.preparation.show_steps(self.study.plan.preparation, table.names)
        for field in self.findChildren(QLineEdit):
            field.setAcceptDrops(False)  # a file is for the window, wherever it falls
        self.loaded.show()  # last: what it holds is laid out once

    def opened(self) -> None:
        if MAIN in self.study.plan.files and self.study.table is None:
            self._ask_password() if self._needs_password else self._read()

    def _ask_password(self) -> None:
        """Ask for the password of the server that a plan names, where its file can be read."""
        self._addressed = ""
        self.enter()

    def _show_address(self) -> None:
        """Show where the table of the plan is, once: what is typed afterwards stays."""
        path = self.study.plan.files[MAIN].path
        if path == self._addressed:
            return
        self._addressed = path
        try:
            self.server.show_address(read_address(path))
        except EngineError as error:
            self.refuse(error)
            self._give_up(self.study.plan)

    def read_again(self) -> None:
        """Draw the sample anew, by the column that is now said to tell people apart."""
        if not self.runner.busy(self.id):
            self._read()

    def leave(self) -> None:
        self.server.forget_password()

    def first_focus(self) -> QWidget | None:
        return self.choose if self.study.table is None else None

    def explain(self, topic: str) -> Explanation:
        detection = self.study.result("detection")
        if topic.startswith("option.") and detection is not None:
            return self._explain_option(topic.removeprefix("option."), detection)
        if not topic and self.study.table is not None:
            return super().explain("loaded")
        return super().explain(topic)

    def take_file(self) -> Callable[[str], None]:
        return self._dropped

    def take_files(self) -> Callable[[list[str]], None]:
        return self.open_paths

    def _dropped(self, path: str) -> None:
        """A plan or release is opened as on the first screen; anything else is another table for this one."""
        opens = is_plan(path) or is_release(path)
        (self.frame.open_file if opens else self.open_path)(path)

    def open_path(self, path: str, password: str | None = None) -> None:
        """Take another file; its columns keep what was said about columns of the same name."""
        self.clear_notice()
        self.study.forget_opened()
        self.study.password = password
        before = self.study.plan.files.get(MAIN)
        self.study.decide(files={**self.study.plan.files, MAIN: FileReference(path)}, preparation=())
        if before is not None and before.path == path:  # chosen again: it may hold something else now
            self.study.forget_file()
        self._ask_password() if self._needs_password else self._read()

    # --- several tables at once -----------------------------------------------------------------------

    def open_paths(self, paths: Sequence[str]) -> None:
        """Take several files as tables of one register; one alone as ever."""
        if len(paths) == 1:
            self.open_path(paths[0])
        elif paths:
            self._open_together([FileReference(path) for path in sorted(paths)])

    def _take_sheets(self) -> None:
        self._open_together(sheets_of(self.study.plan.files[MAIN].path, self._sheets_there))

    @property
    def _sheets_there(self) -> Sequence[str]:
        """The sheets of a workbook that is open."""
        found: Sequence[str] = getattr(self.study.result("detection"), "sheets", ())
        return found

    def _open_together(self, references: Sequence[FileReference]) -> None:
        self.clear_notice()
        self.work(
            read_together,
            references,
            done=self._opened_together,
            doing=words.say("app.load.together.reading", count=len(references)),
        )

    def _opened_together(self, together: Together) -> None:
        self.study.forget_opened()
        for one in together.tables.values():
            self.study.looked[one.file.path] = one.digest
        self._take_together(together)

    def _hang(self, change: Callable[..., Together], *said: str) -> None:
        """Take another way in which the tables hang together, and count what hangs on what."""
        self._take_together(change(self.study.linked, *said))

    def _take_together(self, together: Together) -> None:
        plan = plan_of(self.study.plan, together)
        is_other = plan.files.get(MAIN) != self.study.plan.files.get(MAIN)
        self.study.linked = together
        steps = () if is_other else self.study.plan.preparation
        linked = self._linked(together)
        self.study.decide(files=plan.files, schemas=plan.schemas, parameters=linked, preparation=steps)
        self._recount()
        if is_other and MAIN in plan.files:
            self._read()
        self.enter()

    def _linked(self, together: Together) -> dict[str, Any]:
        """Return the parameters, with the columns by which tables hang where the method asks for them."""
        plan, method = self.study.plan, self.study.method
        names = set() if method is None else {one.name for one in method.parameters}
        return {
            **plan.parameters,
            **{name: one for name, one in together.parameters.items() if name in names},
        }

    def _recount(self) -> None:
        self.runner.start(
            count,
            self.study.linked,
            done=self._counted,
            failed=self.refuse,
            slot="load.together",
            lane=SHORT,
        )

    def _counted(self, together: Together) -> None:
        if self.study.linked is not None and self.study.linked.hanging == together.hanging:
            self.study.linked = together
            self.enter()

    def _show_together(self) -> None:
        """Show the tables as the plan says; what was undone there is counted again."""
        together, plan = self.study.linked, self.study.plan
        if together is not None:
            now = of_plan(together, plan)
            if now.hanging != together.hanging:
                self.study.linked = together = now
                self._recount()
        shown = (together, plan.schemas)
        if shown != self._shown_together:
            self._shown_together = shown
            self.together.show_together(together, plan)
            for field in self.together.fields:
                self.topic(field, "together")
        sheets = self._sheets_there
        self.sheets.setVisible(together is None and len(sheets) > 1)
        self.sheets.setText(words.say("app.load.together.sheets", count=len(sheets)))

    def _take_cap(self, part: str, rows: int) -> None:
        self.study.decide(schemas=with_cap(self.study.plan, part, rows).schemas)
        self.enter()

    def _go_alone(self) -> None:
        """Keep the table of the people alone."""
        self.study.linked = None
        files = {MAIN: self.study.plan.files[MAIN]}
        schemas = {name: one for name, one in self.study.plan.schemas.items() if name not in PARTS[1:]}
        self.study.decide(files=files, schemas=schemas)
        self.enter()

    def _read(self) -> None:
        self.runner.cancel(VALUES)  # of the sample before
        plan = self.study.plan
        if MAIN not in plan.files:  # it was taken back, or another plan was opened, while one was read
            return
        name = Path(plan.files[MAIN].path).name
        raw = self.study.result("raw")
        known = (self.study.result("detection"), raw, self.study.result("suggestions"), self.study.part)
        self.work(
            read,
            plan,
            self.study.open_questions,
            known=known if raw is not None and not self.study.is_other_part else None,
            password=self.study.password,
            doing=words.say("app.load.reading", file=name),
            done=lambda reading: self._read_done(reading, plan),
            failed=lambda error: self._read_failed(error, plan),
            cancelled=lambda: self._not_read(plan),
        )

    def _read_done(self, reading: Reading, plan: Any) -> None:
        if plan != self.study.plan:
            self._read()  # something was decided meanwhile
            return
        self.clear_notice()
        with self.study.by_itself(), self.study.together():
            schema = self._with_person(reading.schema)
            if schema != plan.schema:
                self.study.decide(schemas=plan.with_schema(schema).schemas)
            asked = {ROWS_PER_PERSON} if schema.person_key != reading.schema.person_key else set()
            self.study.replace_questions((reading.questions - ({UNIT} if asked else set())) | asked)
            now = self.study.plan
            if reading.looked is not None:
                self.study.forget_file()
                self.study.looked[now.files[MAIN].path] = reading.looked.digest
                if reading.looked.asked:
                    self.study.asked += [*filter(None, (self._listed,)), reading.looked.asked]
                    self._listed = None
                    self.server.forget_password()
                self.study.store("looked", reading.looked, now)
            for part in ("part", "detection", "raw", "suggestions", "table", "keys"):
                self.study.store(part, getattr(reading, part), now)
            known = of_part(reading.part, len(reading.raw.names))
            if reading.looked is not None and known is not None:
                self.study.store(VALUES, known, now)
        if reading.looked is not None and reading.part is not None and reading.looked.asked:
            start_values(self.study, self.runner)
        self.refresh_explanation()

    def _with_person(self, schema: Any) -> Any:
        """Return what is declared of the people with the column by which other tables hang on them."""
        together = self.study.linked
        own = None if together is None else together.at(MAIN)
        name = "" if own is None else together.hanging.person.get(own.name, "")
        known = schema.person_key
        if not name or name not in schema or (known is not None and known.name == name):
            return schema
        return marking.with_roles(schema, [name], Role.PERSON_KEY)

    def _read_failed(self, error: Exception, plan: Any) -> None:
        self.refuse(error)
        if plan.files[MAIN].names_server or not plan.files[MAIN].options:
            self._not_read(plan)

    def _not_read(self, plan: Any) -> None:
        """Ask for the password of a server anew; else go back to no file, so that another can be chosen."""
        if self.study.result("raw") is None and plan.files[MAIN].names_server:
            self.study.password = None
            self._ask_password()
        else:
            self._give_up(plan)

    def _give_up(self, plan: Any) -> None:
        """Go back to no file, so that another can be chosen; not where another has been meanwhile."""
        if self.study.result("raw") is None and self.study.plan.files.get(MAIN) == plan.files[MAIN]:
            others = {name: file for name, file in self.study.plan.files.items() if name != MAIN}
            with self.study.by_itself():
                self.study.decide(files=others)

    def _show(self, raw: Any, table: Any) -> None:
        detection = self.study.result("detection")
        path = Path(self.study.plan.files[MAIN].path)
        self.subtitle.say(
            words.say(
                "app.load.subtitle_read",
                file=path.name,
                rows=table.n_rows,
                columns=len(table.names),
                format=words.say(f"app.load.format.{raw.options.format}"),
            )
        )
        self.options.show_options(self.study.plan.files[MAIN].options, raw.options, detection)
        self.findings.show_findings(raw.findings)
        # The rest of the screen is drawn first: the two together take longer than a person should wait.
        QTimer.singleShot(DRAWN, self, lambda: self._show_rows(raw, table))

    def _show_rows(self, raw: Any, table: Any) -> None:
        if self._shown is not table:
            return
        marked = frozenset(
            (row, finding.column) for finding in raw.findings if finding.column for row in finding.rows
        )
        self.rows.show_frame(table.rows(), marked if table is raw else frozenset())

    def _override(self, options: dict[str, Any]) -> None:
        file = self.study.plan.files[MAIN]
        self.study.decide(
            files={**self.study.plan.files, MAIN: FileReference(file.path, options)},
        )
        self._read()

    def _prepare(self, steps: tuple[Any, ...]) -> None:
        self.study.decide(preparation=steps)
        self._read()

    def _explain_option(self, name: str, detection: Any) -> Explanation:
        parts = [Part(body=words.say(f"app.load.option.{name}.help"))]
        code, values = detection.reasons.get(name, ("", {}))
        for place in (f"errors.table.reason.{code}", f"app.load.reason.{code}"):
            if code and words.has(place):
                parts.append(Part(words.say("app.load.why_found"), words.say(place, **values)))
                break
        return Explanation(words.say(f"app.load.option.{name}.label"), tuple(parts))

    def _ask(self) -> None:
        dialog = QFileDialog(self, words.say("app.load.choose"), "", words.say("app.load.filter"))
        dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.filesSelected.connect(self.open_paths)
        dialog.open()

    def _ask_folder(self) -> None:
        dialog = QFileDialog(self, words.say("app.load.choose_folder"))
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(self.open_path)
        dialog.open()


PAGE = LoadPage
