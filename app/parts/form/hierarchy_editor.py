"""How a column grows coarser: intervals, first characters, periods, groups by hand or from a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QCheckBox,
    QComboBox,
    QFileDialog,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QLineEdit,
    QPushButton,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from app import words
from app.parts.cards import row
from app.parts.form.coarsening import (
    BANDS,
    CALENDAR,
    CODES,
    CUTS,
    MOST_SHOWN,
    PERIODS,
    PREFIX,
    SUFFIX,
    TREE,
    Groups,
    forms,
    listed_values,
    numbers,
    read,
    shown_values,
    started,
    steps_of,
)
from app.parts.form.group_tree import GroupTree
from app.parts.prose import Prose
from app.parts.table import LinesDelegate, RowsModel
from engine.bounded import read_text
from engine.errors import EngineError
from engine.table.code_systems import code_systems
from engine.table.hierarchies import Hierarchy, from_csv, to_csv
from engine.table.schema import Column

Index = QModelIndex | QPersistentModelIndex
ROW, MOST_HEIGHT, MOST_NAMED = 32, 300, 4
LARGEST_FILE = 20_000_000


class GroupsModel(RowsModel):
    """Values beside their groups; a group can be typed where groups are made by hand."""

    edited = Signal(int, int, str)

    def __init__(self, headings: Sequence[str], rows: Sequence[Sequence[str]], *, by_hand: bool) -> None:
        super().__init__(headings, rows)
        self._by_hand = by_hand

    def flags(self, index: Index) -> Qt.ItemFlag:
        found = super().flags(index)
        return found | Qt.ItemFlag.ItemIsEditable if self._by_hand and index.column() else found

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        if role == Qt.ItemDataRole.EditRole and str(value).strip() != self.written(
            index.row(), index.column()
        ):
            self.edited.emit(index.row(), index.column() - 1, str(value).strip())
        return True

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role == Qt.ItemDataRole.EditRole:
            return self.written(index.row(), index.column())
        return super().data(index, role)


class HierarchyEditor(QWidget):
    """``changed`` tells the hierarchy as a schema writes it, or None."""

    changed = Signal(object)

    def __init__(
        self, column: Column, value: Mapping[str, Any] | None, others: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__()
        self.column, self.others = column, dict(others or {})
        self.setObjectName(f"hierarchy-{column.name}")
        self.tree: Mapping[str, Any] | None = None
        self.told: Mapping[str, Any] | None = None  # what was last said to have been decided
        self.groups = Groups.of(listed_values(column))
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(8)
        self.form = QComboBox()
        self.form.setObjectName("hierarchy_form")
        self.form.setAccessibleName(words.say("app.coarsening.form"))
        for name in ("none", *forms(column)):
            form, _, codes = name.partition(":")
            said = code_systems()[codes].title if codes else ""
            self.form.addItem(
                words.say(f"app.coarsening.forms.{form}", **({"name": said} if codes else {})), name
            )
        for name in self.others:
            self.form.addItem(words.say("app.coarsening.like", column=name), f"like:{name}")
        self.form.activated.connect(lambda place: self._choose(str(self.form.currentData())))
        self.file = QPushButton(words.say("app.coarsening.file"))
        self.file.setObjectName("hierarchy_file")
        self.file.clicked.connect(lambda checked=False: self._ask_file())
        self.save = self._button("save", self._ask_save)
        box.addLayout(row(self.form, self.file, self.save))
        self._build_fields(box)
        self.table = QTableView()
        self.table.setObjectName("hierarchy_table")
        self.table.setAccessibleName(words.say("app.coarsening.table", column=column.name))
        self.table.setShowGrid(False)
        self.table.setItemDelegate(LinesDelegate(self.table))
        self.table.setProperty("look", "plain")
        self.table.setTabKeyNavigation(False)
        self.table.verticalHeader().hide()
        self.table.verticalHeader().setDefaultSectionSize(ROW)
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectItems)
        box.addWidget(self.table)
        self.group_tree = GroupTree(column.name)
        self.group_tree.regrouped.connect(self._regroup)
        box.addWidget(self.group_tree)
        self._build_groups(box)
        self.note = Prose(tone="quiet", pixels=12)
        self.note.setObjectName("hierarchy_note")
        box.addWidget(self.note)
        self.wrong = Prose(tone="wrong", pixels=12)
        self.wrong.setObjectName("hierarchy_wrong")
        self.wrong.hide()
        box.addWidget(self.wrong)
        self.show_value(value)

    def _build_fields(self, box: QVBoxLayout) -> None:
        self.widths = self._line("hierarchy_bands")
        self.start = self._line("hierarchy_start")
        self.kept = self._line("hierarchy_prefix")
        self.last = self._line("hierarchy_suffix")
        self.cuts = self._line("hierarchy_cuts", width=260)
        self._parts: dict[str, QWidget] = {
            BANDS: self._together(("widths", self.widths), ("start", self.start)),
            PREFIX: self._together(("kept", self.kept)),
            SUFFIX: self._together(("last_kept", self.last)),
            CUTS: self._together(("cuts", self.cuts)),
        }
        self.periods: dict[str, QCheckBox] = {}
        part = QWidget()
        line = QHBoxLayout(part)
        line.setContentsMargins(0, 0, 0, 0)
        for word in CALENDAR:
            tick = QCheckBox(words.say(f"app.coarsening.periods.{word}"))
            tick.setObjectName(f"period_{word}")
            tick.clicked.connect(lambda checked=False: self._typed())
            self.periods[word] = tick
            line.addWidget(tick)
        line.addStretch(1)
        self._parts[PERIODS] = part
        for one in self._parts.values():
            box.addWidget(one)

    def _line(self, name: str, *, width: int = 150) -> QLineEdit:
        edit = QLineEdit()
        edit.setObjectName(name)
        edit.setFixedWidth(width)
        edit.textEdited.connect(lambda text: self._typed(finished=False))
        edit.editingFinished.connect(self._typed)
        return edit

    def _together(self, *fields: tuple[str, QLineEdit]) -> QWidget:
        part = QWidget()
        line = QHBoxLayout(part)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(8)
        for name, edit in fields:
            label = QLabel(words.say(f"app.coarsening.{name}"))
            label.setBuddy(edit)
            edit.setAccessibleName(label.text())
            line.addWidget(label)
            line.addWidget(edit)
        line.addStretch(1)
        return part

    def _build_groups(self, box: QVBoxLayout) -> None:
        self.group = QLineEdit()
        self.group.setObjectName("hierarchy_group")
        self.group.setFixedWidth(150)
        self.group.setPlaceholderText(words.say("app.coarsening.group"))
        self.group.setAccessibleName(words.say("app.coarsening.group"))
        self.group.returnPressed.connect(self._put_selected)
        self.put = self._button("put", self._put_selected)
        self.more = self._button("more", lambda: self._regroup(self.groups.higher()))
        self.fewer = self._button("fewer", lambda: self._regroup(self.groups.lower()))
        part = QWidget()
        self.as_tree = self._button("as_tree", self._show)
        self.as_tree.setCheckable(True)
        line = row(self.group, self.put, self.more, self.fewer, self.as_tree)
        line.setContentsMargins(0, 0, 0, 0)
        part.setLayout(line)
        self._parts[TREE] = part
        box.addWidget(part)

    def _button(self, name: str, act: Any) -> QPushButton:
        button = QPushButton(words.say(f"app.coarsening.{name}"))
        button.setObjectName(f"hierarchy_{name}")
        if name != "put":
            button.setProperty("look", "link")
        button.clicked.connect(lambda checked=False: act())
        return button

    # --- showing -----------------------------------------------------------------------------------

    def show_value(self, value: Mapping[str, Any] | None) -> None:
        """Show a hierarchy without saying that it changed."""
        if value == self.tree and self.tree is not None:
            return
        self.tree = self.told = value
        form = next(iter(value), "none") if value else "none"
        if form == CODES and value is not None:
            form = f"{CODES}:{value[CODES]}"
        if form == TREE and value is not None:
            self.groups = Groups.of(listed_values(self.column), value[TREE])
        with QSignalBlocker(self.form):
            self.form.setCurrentIndex(max(self.form.findData(form), 0))
        self._fill_fields(form, value or {})
        self._show()

    def _fill_fields(self, form: str, value: Mapping[str, Any]) -> None:
        if form == BANDS:
            self.widths.setText(", ".join(map(str, value[BANDS])))
            self.start.setText(str(value.get("start", 0)))
        if form == PREFIX:
            self.kept.setText(", ".join(map(str, value[PREFIX])))
        if form == SUFFIX:
            self.last.setText(", ".join(map(str, value[SUFFIX])))
        if form == CUTS:
            self.cuts.setText("; ".join(", ".join(map(str, step)) for step in value[CUTS]))
        if form == PERIODS:
            for word, tick in self.periods.items():
                tick.setChecked(word in value[PERIODS])

    def _show(self) -> None:
        form = str(self.form.currentData())
        for name, part in self._parts.items():
            part.setVisible(name == form)
        self.fewer.setVisible(self.groups.height > 1)
        hierarchy, wrong = read(self.tree, self.column)
        self.wrong.setVisible(bool(wrong))
        self.wrong.say(wrong)
        if form == TREE:
            rows = [[value, *path] for value, path in list(self.groups.paths.items())[:MOST_SHOWN]]
            height = self.groups.height
        else:
            values = shown_values(self.column, hierarchy)[:MOST_SHOWN]
            rows = steps_of(hierarchy, values) if hierarchy is not None else []
            height = hierarchy.height - 1 if hierarchy is not None else 0
        is_tree = form == TREE and self.as_tree.isChecked()
        self.save.setVisible(hierarchy is not None)
        self.group_tree.setVisible(is_tree)
        if is_tree:
            self.group_tree.show_groups(self.groups)
        for part in (self.group, self.put):
            part.setVisible(not is_tree)
        self.table.setVisible(bool(rows) and not is_tree)
        if rows:
            self._fill_table(rows, height, by_hand=form == TREE)
        self.note.say(self._note(form, hierarchy))
        self.note.setVisible(form != "none" and not wrong)

    def _fill_table(self, rows: list[list[str]], height: int, *, by_hand: bool) -> None:
        steps = [words.say("app.coarsening.step", number=step) for step in range(1, height + 1)]
        model = GroupsModel([words.say("app.coarsening.value"), *steps], rows, by_hand=by_hand)
        model.edited.connect(self._edited)
        model.setParent(self.table)
        kept = self.table.verticalScrollBar().value()
        self.table.setModel(model)
        self.table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        self.table.setFixedHeight(min(MOST_HEIGHT, ROW * (len(rows) + 1) + 12))
        self.table.verticalScrollBar().setValue(kept)

    def _note(self, form: str, hierarchy: Hierarchy | None) -> str:
        if form != TREE:
            values = shown_values(self.column)
            missed = () if hierarchy is None else hierarchy.misses(values)
            if not missed:
                return words.say("app.coarsening.last")
            named = ", ".join(missed[:MOST_NAMED]) + (" …" if len(missed) > MOST_NAMED else "")
            return words.say("app.coarsening.without", count=len(missed), every=len(values), values=named)
        if self.as_tree.isChecked() and not self.groups.without:
            return words.say("app.coarsening.tree.keys")
        if not self.groups.paths:
            return words.say("app.coarsening.no_values")
        without, every = self.groups.without, len(self.groups.paths)
        if without:
            named = ", ".join(without[:MOST_NAMED]) + (" …" if len(without) > MOST_NAMED else "")
            return words.say("app.coarsening.without", count=len(without), every=every, values=named)
        return words.say("app.coarsening.last")

    # --- deciding ----------------------------------------------------------------------------------

    def _choose(self, form: str) -> None:
        if form.startswith("like:"):
            self._take(dict(self.others[form.removeprefix("like:")]), as_it_is=True)
        elif form == TREE:
            self._regroup(self.groups)
        else:
            self._take(started(form, self.column) if form != "none" else None, as_it_is=True)

    def _take(self, value: Mapping[str, Any] | None, *, as_it_is: bool = False) -> None:
        if as_it_is:
            told, self.tree = self.told, None
            self.show_value(value)
            self.told = told
        self.tree = value
        self._show()
        self._tell()

    def _tell(self) -> None:
        if self.tree != self.told:
            self.told = self.tree
            self.changed.emit(self.tree)

    def _typed(self, *, finished: bool = True) -> None:
        """Show what is written while it is written, and tell it once it is finished."""
        form, start = str(self.form.currentData()), numbers(self.start.text())
        made: dict[str, dict[str, Any]] = {
            BANDS: {BANDS: numbers(self.widths.text()), "start": start[0] if start else 0},
            PREFIX: {PREFIX: numbers(self.kept.text())},
            SUFFIX: {SUFFIX: numbers(self.last.text())},
            CUTS: {CUTS: [numbers(step) for step in self.cuts.text().split(";") if step.strip()]},
            PERIODS: {PERIODS: [word for word, tick in self.periods.items() if tick.isChecked()]},
        }
        if form not in made:
            return
        if made[form] != self.tree:
            self.tree = made[form]
            self._show()
        if finished:
            self._tell()

    def _regroup(self, groups: Groups) -> None:
        self.groups = groups
        self._take(groups.tree())

    def _edited(self, place: int, step: int, group: str) -> None:
        value = list(self.groups.paths)[place]
        self._regroup(self.groups.put([value], step, group))

    def _put_selected(self) -> None:
        """Put the selected values into the group that is named, on the step of the selection."""
        chosen = self.table.selectionModel().selectedIndexes() if self.table.model() is not None else []
        if not chosen:
            return
        values = list(self.groups.paths)
        step = max(max(index.column() for index in chosen) - 1, 0)
        self._regroup(
            self.groups.put([values[index.row()] for index in chosen], step, self.group.text().strip())
        )
        self.group.clear()

    def _ask_file(self) -> None:
        dialog = QFileDialog(self, words.say("app.coarsening.file"), "", words.say("app.coarsening.filter"))
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(self.read_file)
        dialog.open()

    def read_file(self, path: str) -> None:
        """Read groups from a file: one line for each value, as other tools write them."""
        place = Path(path)
        try:
            text = read_text(place, LARGEST_FILE, encoding="utf-8-sig")
            found = from_csv(text, column=self.column.name, file=place.name).to_json()
        except EngineError as error:
            self._refuse(" ".join(words.explain(error)))
        except (OSError, ValueError):
            self._refuse(words.say("app.coarsening.not_readable", file=place.name))
        else:
            self._take(found, as_it_is=True)

    def _ask_save(self) -> None:
        dialog = QFileDialog(self, words.say("app.coarsening.save"), "", words.say("app.coarsening.filter"))
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix("csv")
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(self.write_file)
        dialog.open()

    def write_file(self, path: str) -> None:
        """Write the declared values with their groups, as other tools read them."""
        hierarchy, _ = read(self.tree, self.column)
        if hierarchy is None:
            return
        try:
            Path(path).write_text(to_csv(hierarchy, shown_values(self.column, hierarchy)), encoding="utf-8")
        except OSError:
            self._refuse(words.say("app.coarsening.not_writable", file=Path(path).name))

    def _refuse(self, said: str) -> None:
        self.wrong.say(said)
        self.wrong.show()
