"""Released bundles that a question is asked about: those that were added, and which of their figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QWidget

from app import words
from app.parts.cards import row
from app.parts.making import (
    add,
    align_left,
    ask_file,
    empty,
    hidden,
    make_button,
    make_choice,
    make_column,
    name_widget,
)
from app.parts.prose import Heading, Prose
from engine.release.signature import in_groups


class BundleList(QWidget):
    """``wanted`` tells a folder that was chosen, ``removed`` the place of a bundle, ``picked`` a figure.

    ``picked`` gives the name of the figure and of the group.
    """

    wanted = Signal(str)
    removed = Signal(int)
    picked = Signal(str, str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._figures: Mapping[str, tuple[Any, tuple[str, ...]]] = {}
        column = make_column(inside=self, spacing=8, margins=0)
        self.button = make_button(words.say("app.explore.bundles.add"), "add-bundles", self._ask)
        self.lines = make_column(spacing=4)
        add(
            column,
            Heading(words.say("app.explore.bundles.title"), size="card"),
            Prose(words.say("app.explore.bundles.about"), tone="quiet", pixels=12),
            align_left(self.button),
        )
        column.addLayout(self.lines)
        self.which = hidden(name_widget(QWidget(), "which-figure"))
        inner = make_column(inside=self.which, spacing=4, margins=0)
        self.figure = self._choice("figure", lambda place: self._show_groups())
        self.group = self._choice("group", lambda place: self._pick())
        self.group_name = Heading(words.say("app.explore.bundles.group"), size="card")
        add(
            inner,
            Heading(words.say("app.explore.bundles.figure"), size="card"),
            align_left(self.figure),
            self.group_name,
            align_left(self.group),
        )
        column.addWidget(self.which)

    def _choice(self, name: str, act: Any) -> QComboBox:
        found = make_choice(f"bundle-{name}", words.say(f"app.explore.bundles.{name}"), act)
        found.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        return found

    def _ask(self) -> None:
        ask_file(self, words.say("app.explore.bundles.add"), self.wanted.emit, folder=True)

    def show_bundles(
        self,
        bundles: Sequence[Any],
        names: Sequence[str],
        figures: Mapping[str, tuple[Any, tuple[str, ...]]],
        chosen: tuple[str, str],
    ) -> None:
        """Show which bundles were added, and the figures that they have in common.

        Parameters
        ----------
        bundles, names
            As they were read, and how each site is called.
        figures
            Words and groups of every figure, by its name.
        chosen
            Name and group of the figure that is meant.
        """
        empty(self.lines)
        for place, (name, bundle) in enumerate(zip(names, bundles, strict=True)):
            self.lines.addWidget(self._line(place, name, bundle))
        self._figures = figures
        self.which.setVisible(bool(figures))
        self.figure.blockSignals(True)
        self.figure.clear()
        for key, (label, _) in figures.items():
            self.figure.addItem(words.label(label), key)
        self.figure.setCurrentIndex(max(0, self.figure.findData(chosen[0])))
        self.figure.blockSignals(False)
        self._fill_groups(chosen[1])

    def _line(self, place: int, name: str, bundle: Any) -> QWidget:
        signed = "signed" if bundle.keys else "unsigned"
        key = in_groups(bundle.keys[0]) if bundle.keys else ""
        said = words.say(f"app.explore.bundles.{signed}", site=name, title=bundle.title, key=key)
        remove = make_button(
            words.say("app.explore.second.remove"),
            f"remove-bundle-{place}",
            lambda: self.removed.emit(place),
            look="link",
        )
        remove.setAccessibleName(words.say("app.explore.second.remove_name", source=name))
        part = name_widget(QWidget(), f"bundle-{place}")
        line = row(Prose(said), remove, stretch=False)
        line.setStretch(0, 1)
        make_column(line, inside=part, spacing=0, margins=0)
        return part

    def _fill_groups(self, chosen: str) -> None:
        groups = self._figures.get(str(self.figure.currentData()), (None, ()))[1]
        self.group.blockSignals(True)
        self.group.clear()
        for one in groups:
            self.group.addItem(one or words.say("app.explore.bundles.everybody"), one)
        self.group.setCurrentIndex(max(0, self.group.findData(chosen)))
        self.group.blockSignals(False)
        for part in (self.group, self.group_name):
            part.setVisible(len(groups) > 1)

    def _show_groups(self) -> None:
        self._fill_groups(str(self.group.currentData() or ""))
        self._pick()

    def _pick(self) -> None:
        self.picked.emit(*self.chosen())

    def chosen(self) -> tuple[str, str]:
        """Return the names of the figure and the group that are shown as chosen; empty without any."""
        return str(self.figure.currentData() or ""), str(self.group.currentData() or "")
