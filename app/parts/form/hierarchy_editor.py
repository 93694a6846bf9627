"""How a column grows coarser: intervals, first characters, periods, groups by hand or from a file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QSignalBlocker, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QBrush, QDropEvent, QKeyEvent, QKeySequence
from PySide6.QtWidgets import (
    QAbstractItemView,
    QCheckBox,
    QFileDialog,
    QHeaderView,
    QLineEdit,
    QPushButton,
    QTableView,
    QTreeWidget,
    QTreeWidgetItem,
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
    read_hierarchy,
    shown_values,
    start_hierarchy,
    steps_of,
)
from app.parts.making import (
    add,
    hidden,
    make_button,
    make_choice,
    make_column,
    make_field,
    make_label,
    make_row,
    name_widget,
)
from app.parts.prose import Prose
from app.parts.table import LinesDelegate, RowsModel
from app.theme import mono_font, text_font, theme
from engine.bounded import read_text
from engine.errors import EngineError
from engine.table.code_systems import code_systems
from engine.table.hierarchies import Hierarchy, from_csv, to_csv
from engine.table.schema import Column

# --- Groups of values as a tree -------------------------------------------------------------------------

NODE = Qt.ItemDataRole.UserRole + 1  # (step, group): the step is -1 for a value
MOST_LEAVES, GROUP_TREE_ROW, HIGHEST = 50, 30, 420


class GroupTree(QTreeWidget):
    """``regrouped`` tells the groups after an edit.

    ``F2`` renames, to the name of another group merges the two; ``Ctrl X`` and ``Ctrl V`` move what is
    selected into the group in focus, as dragging does; ``Del`` dissolves a group.
    """

    regrouped = Signal(object)

    def __init__(self, column: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("group_tree")
        self.setAccessibleName(words.say("app.coarsening.tree.name", column=column))
        self.setHeaderLabels([words.say("app.coarsening.value"), words.say("app.coarsening.tree.values")])
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setDragDropMode(QAbstractItemView.DragDropMode.InternalMove)
        self.setEditTriggers(
            QAbstractItemView.EditTrigger.EditKeyPressed | QAbstractItemView.EditTrigger.DoubleClicked
        )
        self.setUniformRowHeights(True)
        self.header().setStretchLastSection(False)
        self.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.header().setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        self.headerItem().setTextAlignment(1, right)
        self.groups = Groups({})
        self.cut: tuple[tuple[int, str], ...] = ()
        self.itemChanged.connect(self._renamed)

    # --- showing -----------------------------------------------------------------------------------

    def show_groups(self, groups: Groups) -> None:
        """Show groups; what was open stays open, and the focus where it was."""
        opened = {self._node(one) for one in self._items() if one.isExpanded()}
        known = {self._node(one) for one in self._items()}
        current = self.currentItem()
        focus = self._node(current) if current is not None else None
        self.groups = groups
        with QSignalBlocker(self):
            self.clear()
            self._add(None, groups.height - 1, list(groups.paths))
            for item in self._items():
                node = self._node(item)
                item.setExpanded(node in opened or (node not in known and node[0] >= 0))
                if node == focus:
                    self.setCurrentItem(item)
        rows = sum(1 for _ in self._items())
        self.setFixedHeight(min(HIGHEST, GROUP_TREE_ROW * (rows + 1) + 16))

    def _add(self, parent: QTreeWidgetItem | None, step: int, values: list[str]) -> None:
        if step < 0:
            for value in values[:MOST_LEAVES]:
                self._item(parent, value, -1, value, "")
            if len(values) > MOST_LEAVES:
                more = words.say("app.coarsening.tree.more", count=len(values) - MOST_LEAVES)
                self._item(parent, more, -2, "", "").setFlags(Qt.ItemFlag.NoItemFlags)
            return
        inside: dict[str, list[str]] = {}
        for value in values:
            inside.setdefault(self.groups.paths[value][step], []).append(value)
        for group, own in inside.items():
            said = group or words.say("app.coarsening.tree.none")
            self._add(self._item(parent, said, step, group, words.number(len(own))), step - 1, own)

    def _item(
        self, parent: QTreeWidgetItem | None, said: str, step: int, group: str, count: str
    ) -> QTreeWidgetItem:
        item = QTreeWidgetItem([said, count])
        item.setData(0, NODE, (step, group))
        item.setFont(0, text_font(13, 600) if step >= 0 else mono_font())
        item.setTextAlignment(1, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        flags = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsDragEnabled
        if step >= 0:
            flags |= Qt.ItemFlag.ItemIsDropEnabled
            if group:
                flags |= Qt.ItemFlag.ItemIsEditable
            else:
                item.setForeground(0, QBrush(theme.tokens().colour("care")))
        item.setFlags(flags)
        item.setSizeHint(0, QSize(0, GROUP_TREE_ROW))
        (self.addTopLevelItem if parent is None else parent.addChild)(item)
        return item

    def _items(self) -> Iterable[QTreeWidgetItem]:
        waiting = [self.topLevelItem(place) for place in range(self.topLevelItemCount())]
        while waiting:
            item = waiting.pop(0)
            if item is not None:
                yield item
                waiting = [item.child(place) for place in range(item.childCount())] + waiting

    def _node(self, item: QTreeWidgetItem) -> tuple[int, str]:
        step, group = item.data(0, NODE)
        return int(step), str(group)

    # --- editing -----------------------------------------------------------------------------------

    def _renamed(self, item: QTreeWidgetItem, column: int) -> None:
        step, group = self._node(item)
        name = item.text(0).strip()
        renamed = self.groups
        if not column and step >= 0 and name:
            renamed = self.groups.renamed(step, group, name)
        # The field in which it was typed closes first: the tree is made anew.
        QTimer.singleShot(0, self, lambda: self._tell(renamed))

    def move_nodes(self, nodes: Iterable[tuple[int, str]], target: tuple[int, str]) -> None:
        """Move values and groups into a group one step above them; others stay where they are."""
        step, group = target
        groups = self.groups
        for one, name in nodes:
            if one == step - 1 and group:
                groups = groups.put(groups.members(one, name), step, group)
        if groups != self.groups:
            self._tell(groups)

    def _tell(self, groups: Groups) -> None:
        changed, self.cut = groups != self.groups, ()
        self.show_groups(groups)
        if changed:
            self.regrouped.emit(groups)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        current = self.currentItem()
        if event.matches(QKeySequence.StandardKey.Cut):
            self.cut = tuple(self._node(item) for item in self.selectedItems())
        elif event.matches(QKeySequence.StandardKey.Paste) and current is not None:
            self.move_nodes(self.cut, self._node(current))
        elif event.key() == Qt.Key.Key_Delete and current is not None and self._node(current)[0] >= 0:
            step, group = self._node(current)
            if group:
                self._tell(self.groups.renamed(step, group, ""))
        else:
            super().keyPressEvent(event)

    def dropEvent(self, event: QDropEvent) -> None:
        """Move what was dragged into the group that it was dropped on."""
        target = self.itemAt(event.position().toPoint())
        nodes = [self._node(item) for item in self.selectedItems()]
        event.ignore()  # the tree is made anew from the groups
        if target is not None:
            self.move_nodes(nodes, self._node(target))


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
        box = make_column(inside=self, spacing=8, margins=0)
        self.form = make_choice("hierarchy_form", words.say("app.coarsening.form"))
        for name in ("none", *forms(column)):
            form, _, codes = name.partition(":")
            said = code_systems()[codes].title if codes else ""
            self.form.addItem(
                words.say(f"app.coarsening.forms.{form}", **({"name": said} if codes else {})), name
            )
        for name in self.others:
            self.form.addItem(words.say("app.coarsening.like", column=name), f"like:{name}")
        self.form.activated.connect(lambda place: self._choose(str(self.form.currentData())))
        self.file = make_button(words.say("app.coarsening.file"), "hierarchy_file", self._ask_file)
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
        self.group_tree = GroupTree(column.name)
        self.group_tree.regrouped.connect(self._regroup)
        add(box, self.table, self.group_tree)
        self._build_groups(box)
        self.note = name_widget(Prose(tone="quiet", pixels=12), "hierarchy_note")
        self.wrong = hidden(name_widget(Prose(tone="wrong", pixels=12), "hierarchy_wrong"))
        add(box, self.note, self.wrong)
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
        line = make_row(inside=part, margins=0)
        for word in CALENDAR:
            tick = name_widget(QCheckBox(words.say(f"app.coarsening.periods.{word}")), f"period_{word}")
            tick.clicked.connect(lambda checked=False: self._typed())
            self.periods[word] = tick
            line.addWidget(tick)
        line.addStretch(1)
        self._parts[PERIODS] = part
        for one in self._parts.values():
            box.addWidget(one)

    def _line(self, name: str, *, width: int = 150) -> QLineEdit:
        edit = make_field(name, edited=self._typed)
        edit.setFixedWidth(width)
        edit.textEdited.connect(lambda text: self._typed(finished=False))
        return edit

    def _together(self, *fields: tuple[str, QLineEdit]) -> QWidget:
        part = QWidget()
        line = make_row(inside=part, spacing=8, margins=0)
        for name, edit in fields:
            label = make_label(words.say(f"app.coarsening.{name}"), buddy=edit)
            edit.setAccessibleName(label.text())
            add(line, label, edit)
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
        button = make_button(words.say(f"app.coarsening.{name}"), f"hierarchy_{name}")
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
        hierarchy, wrong = read_hierarchy(self.tree, self.column)
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
            self._take(start_hierarchy(form, self.column) if form != "none" else None, as_it_is=True)

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
        hierarchy, _ = read_hierarchy(self.tree, self.column)
        if hierarchy is None:
            return
        try:
            Path(path).write_text(to_csv(hierarchy, shown_values(self.column, hierarchy)), encoding="utf-8")
        except OSError:
            self._refuse(words.say("app.coarsening.not_writable", file=Path(path).name))

    def _refuse(self, said: str) -> None:
        self.wrong.say(said)
        self.wrong.show()
