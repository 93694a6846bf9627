"""What was noticed in the rows: one line per kind of remark, with its count and its columns; internal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from app import words
from app.parts.cards import Card, Rule
from app.parts.making import add, empty, left, make_button, make_column
from app.parts.prose import Heading, Prose
from engine import texts

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
        add(self.body, self._lines, left(self.more))
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
