"""Whether a release can say something: a sentence, a bar, and what would say more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QGridLayout, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from app import words
from app.parts.cards import Card
from app.parts.form.parameter_fields import empty
from app.parts.prose import Prose
from app.parts.wrapping import Wrapping
from app.theme import text_font, theme
from app.words.money import level, size

HEIGHT = 18


class ShareBar(QWidget):
    """How much of something can say something: a full part, and the rest. Words beside it say it too."""

    def __init__(self, parent: QWidget | None = None, *, height: int = HEIGHT) -> None:
        super().__init__(parent)
        self.share = 0.0
        self.setFixedHeight(height)
        self.setMinimumWidth(72)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.update)

    def show_share(self, share: float) -> None:
        """Show another share, in [0, 1]."""
        self.share = min(max(share, 0.0), 1.0)
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(180, self.height())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter, tokens = QPainter(self), theme.tokens()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        rest = tokens.colour("care" if self.share < 1 else "line")
        rest.setAlphaF(0.35)
        painter.setBrush(rest)
        painter.drawRoundedRect(QRectF(self.rect()), 3, 3)
        painter.setBrush(tokens.colour("accent"))
        painter.drawRoundedRect(QRectF(0, 0, self.width() * self.share, self.height()), 3, 3)


class VerdictCard(Card):
    """Emits ``chosen`` with the changes of a remedy, and ``jump`` with a step where more can be changed."""

    chosen = Signal(dict)
    jump = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(" ", parent=parent)
        self.setObjectName("verdict")
        self._shown: Any = None
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.sentence = Prose()
        self.sentence.setObjectName("verdict-sentence")
        self.body.addWidget(self.sentence)
        self.bar = ShareBar()
        self.body.addWidget(self.bar)
        self._legend = QGridLayout()
        self.says, self.silent = Prose(tone="quiet", pixels=12), Prose(tone="care", pixels=12)
        self.silent.setAlignment(Qt.AlignmentFlag.AlignRight)
        self._legend.addWidget(self.says, 0, 0)
        self._legend.addWidget(self.silent, 0, 1)
        self.body.addLayout(self._legend)
        self._remedies = QVBoxLayout()
        self._remedies.setSpacing(8)
        self.body.addLayout(self._remedies)
        self.hide()

    def show_verdict(
        self, verdict: Any, remedies: Sequence[Any] = (), *, jumps: Sequence[str] = (), lead: str = ""
    ) -> None:
        """Show a verdict, or hide where there is none.

        ``jumps`` are steps where it can be mended; ``lead`` says before it what it holds for.
        """
        self.setVisible(verdict is not None)
        if verdict is None or self._shown == (verdict, remedies, lead):
            return
        self._shown = (verdict, remedies, lead)
        empty(self._remedies)
        bad = verdict.is_useless
        self.setProperty("card", "care" if bad else "true")
        self.heading.setProperty("tone", "care" if bad else "quiet")
        for one in (self, self.heading):
            one.style().unpolish(one)
            one.style().polish(one)
        if hasattr(verdict, "said"):
            self._show_judged(verdict)
        else:
            self._show_filling(verdict)
        if lead:
            self.sentence.say(f"{lead} {self.sentence.said()}")
        self.setAccessibleName(f"{self.heading.text()}. {self.sentence.plain()}")
        if bad:
            self._show_remedies(remedies, jumps)

    def _show_judged(self, verdict: Any) -> None:
        """Show what a method without cells says of itself."""
        name = "mostly_noise" if verdict.is_useless else "heading"
        self.heading.setText(words.say(f"app.preview.verdict.{name}"))
        self.sentence.say(words.label(verdict.said))
        self.says.hide()
        self.silent.hide()
        self.bar.show()
        self.bar.show_share(verdict.share)

    def _show_filling(self, verdict: Any) -> None:
        bad = verdict.is_useless
        values = {
            "people": verdict.people,
            "cells": verdict.cells,
            "limit": size(verdict.limit),
            "above": verdict.above,
            "below": verdict.below,
            "per_cell": size(verdict.per_cell),
            "margin": verdict.margin,
        }
        all_can = verdict.below == 0
        self.heading.setText(words.say(f"app.preview.verdict.{'useless' if bad else 'heading'}"))
        said = words.say(f"app.preview.verdict.{'all' if all_can else 'some'}", **values)
        if verdict.silent_tried is not None:
            tried = "tried" if verdict.silent_tried else "tried_all"
            said += " " + words.say(f"app.preview.verdict.{tried}", silent=verdict.silent_tried, **values)
        self.sentence.say(said)
        self.says.say(words.say("app.preview.verdict.says", **values))
        self.silent.say(words.say("app.preview.verdict.silent", **values))
        for one in (self.bar, self.says, self.silent):
            one.setVisible(not all_can)
        self.bar.show_share(verdict.share)

    def _show_remedies(self, remedies: Sequence[Any], jumps: Sequence[str]) -> None:
        grid = QWidget()
        lines = QGridLayout(grid)
        lines.setContentsMargins(0, 6, 0, 0)
        lines.setHorizontalSpacing(16)
        lines.setVerticalSpacing(8)
        lines.setColumnStretch(1, 1)
        for place, remedy in enumerate(remedies):
            button = QPushButton(_named(remedy))
            button.setObjectName(f"remedy-{remedy.kind}-{remedy.value}")
            button.setFont(text_font(13, 600))
            button.clicked.connect(lambda checked=False, one=remedy: self.chosen.emit(one.changes))
            bar = ShareBar(height=6)
            bar.show_share(remedy.verdict.share)
            bar.setMaximumWidth(120)
            said = Prose(_counted(remedy.verdict))
            said.setMinimumWidth(160)
            button.setAccessibleDescription(said.plain())
            lines.addWidget(button, place, 0)
            lines.addWidget(said, place, 1)
            lines.addWidget(bar, place, 2)
        links = QWidget()
        beside = Wrapping(links)
        for step in jumps:
            link = QPushButton(words.say(f"app.preview.verdict.jump.{step}"))
            link.setObjectName(f"jump-{step}")
            link.setProperty("look", "link")
            link.clicked.connect(lambda checked=False, one=step: self.jump.emit(one))
            beside.addWidget(link)
        self._remedies.addWidget(grid)
        self._remedies.addWidget(links)


def _named(remedy: Any) -> str:
    value = level(remedy.value) if remedy.kind == "level" else remedy.value
    return words.say(f"app.preview.verdict.remedy.{remedy.kind}", value=value)


def _counted(verdict: Any) -> str:
    if hasattr(verdict, "said"):
        return words.label(verdict.said)
    return words.say(
        "app.preview.verdict.counted",
        cells=verdict.cells,
        per_cell=size(verdict.per_cell),
        above=verdict.above,
        limit=size(verdict.limit),
    )
