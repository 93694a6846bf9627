"""Original beside synthetic for any column or pair, as a picture and as a table: for the custodian alone."""

from __future__ import annotations

from typing import Any

import numpy as np
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QComboBox, QWidget

from app import words
from app.parts.cards import Card
from app.parts.making import add, hidden, left, make_button, make_choice, make_column, named
from app.parts.prose import Heading, Prose
from app.parts.table import DataTable
from app.screens.release.spread_picture import SIDES, SpreadPicture, percent

SIDE_BY_SIDE, HIGHEST, ROW = 420, 420, 34
NAMES = ("column", "second")


class SpreadBeside(Card):
    """Opens on the column that is kept worst; a second column makes it a pair."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(words.say("app.release.spread.heading"), parent=parent)
        self.setObjectName("spread-beside")
        self._found: Any = None
        self.note = named(Prose(tone="quiet", pixels=12), "spread-note")
        self.body.addWidget(self.note)
        self._choices = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._choices.setSpacing(14)
        self.fields = {name: self._field(name) for name in NAMES}
        self.told = named(Prose(), "spread-told")
        self.picture = named(SpreadPicture(), "spread-picture")
        add(self.body, self._choices, self.told, self.picture)
        self.as_table = make_button(
            words.say("app.release.spread.as_table"), "spread-as-table", look="link", checkable=True
        )
        self.as_table.toggled.connect(self._open_table)
        self.table = hidden(named(DataTable(words.say("app.release.spread.heading")), "spread-table"))
        self.table.setProperty("look", "plain")
        add(self.body, left(self.as_table), self.table)
        self.hide()

    def _field(self, name: str) -> QComboBox:
        column = make_column(spacing=4)
        said = words.say(f"app.release.spread.{name}")
        field = make_choice(f"spread-{name}", said)
        field.setMinimumContentsLength(12)
        field.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        field.currentIndexChanged.connect(lambda place: self._show())
        add(column, Heading(said, size="small", tone="quiet"), field)
        self._choices.addLayout(column, 1)
        return field

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        across, down = QBoxLayout.Direction.LeftToRight, QBoxLayout.Direction.TopToBottom
        self._choices.setDirection(across if self.width() >= SIDE_BY_SIDE else down)

    def show_spread(self, found: Any) -> None:
        """Show other tables; hide where there is nothing to compare."""
        self._found = None
        self.setVisible(found is not None)
        if found is None:
            return
        names = list(found.columns)
        for field, offered in zip(
            self.fields.values(), (names, [words.say("app.release.spread.none"), *names]), strict=True
        ):
            field.clear()
            field.addItems(offered)
        said = "note" if found.copies == 1 else "note_of_several"
        original, synthetic = found.rows
        self.note.say(
            words.say(
                f"app.release.spread.{said}", original=original, synthetic=synthetic, copies=found.copies
            )
        )
        worst = max(names, key=found.apart)
        self.fields["column"].setCurrentIndex(names.index(worst))
        self._found = found
        self._show()

    @property
    def chosen(self) -> tuple[str, ...]:
        """The column or the pair that is shown."""
        first, second = self.fields.values()
        names = [first.currentText()]
        if second.currentIndex() > 0 and second.currentText() != names[0]:
            names.append(second.currentText())
        return tuple(names)

    def _show(self) -> None:
        if self._found is None:
            return
        names = self.chosen
        classes = [self._found.columns[name] for name in names]
        labels = tuple(tuple(words.label(label) for label in one.labels) for one in classes)
        shares = self._found.shares(*names)
        apart, chance = (percent(one(*names)) for one in (self._found.apart, self._found.by_chance))
        told = words.say("app.release.spread.told", apart=apart, chance=chance)
        self.told.say(told)
        self.picture.show_shares(labels, shares, is_amount=classes[0].is_amount)
        named = words.say("app.release.spread.named", columns=" × ".join(names))
        self.picture.setAccessibleName(named)
        self.table.setAccessibleName(named)
        rows = _rows(labels, shares, in_order=len(names) == 1)
        self.picture.setAccessibleDescription(f"{told} {_spoken(rows, len(names))}")
        headings = [*names, *(words.say(f"app.release.spread.{name}") for name in SIDES)]
        headings.append(words.say("app.release.spread.difference"))
        numeric = frozenset(range(len(names), len(headings)))
        self.table.show_rows(headings, rows, numeric=numeric)
        self.table.setFixedHeight(min(HIGHEST, 36 + ROW * len(rows) + 14))

    def _open_table(self, on: bool) -> None:
        self.table.setVisible(on)
        self.as_table.setText(words.say(f"app.release.spread.{'no_table' if on else 'as_table'}"))


def _rows(labels: tuple[tuple[str, ...], ...], shares: Any, *, in_order: bool) -> list[list[str]]:
    """Return a line a class, or a pair of classes, that some row has; the pairs that differ most first."""
    original, synthetic = shares
    places = [tuple(map(int, place)) for place in np.argwhere((original > 0) | (synthetic > 0))]
    if not in_order:
        places.sort(key=lambda place: -abs(float(synthetic[place] - original[place])))
    return [
        [
            *(own[at] for own, at in zip(labels, place, strict=True)),
            percent(float(original[place])),
            percent(float(synthetic[place])),
            f"{100 * float(synthetic[place] - original[place]):+.2f}".replace("-", "−"),
        ]
        for place in places
    ]


MOST_SPOKEN = 20


def _spoken(rows: list[list[str]], names: int) -> str:
    return "; ".join(
        words.say(
            "app.release.spread.said", label=", ".join(row[:names]), original=row[names], synthetic=row[-2]
        )
        for row in rows[:MOST_SPOKEN]
    )
