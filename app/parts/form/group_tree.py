"""Groups of values as a tree: renamed, merged, moved or dissolved, with the keyboard or by dragging."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QSignalBlocker, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QBrush, QDropEvent, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTreeWidget, QTreeWidgetItem, QWidget

from app import words
from app.parts.form.coarsening import Groups
from app.theme import mono_font, text_font, theme

NODE = Qt.ItemDataRole.UserRole + 1  # (step, group): the step is -1 for a value
MOST_LEAVES, ROW, HIGHEST = 50, 30, 420


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
        self.setFixedHeight(min(HIGHEST, ROW * (rows + 1) + 16))

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
            self._add(self._item(parent, said, step, group, f"{len(own):,}"), step - 1, own)

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
        item.setSizeHint(0, QSize(0, ROW))
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
