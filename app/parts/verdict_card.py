"""Whether a release can say something: a sentence, a bar, and what would say more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QPushButton, QWidget

from app import words
from app.parts.cards import Card
from app.parts.layouts import GridLayout
from app.parts.making import add, empty, make_column, make_grid, name_widget
from app.parts.plot import ShareBar
from app.parts.prose import Prose
from app.parts.wrapping import Wrapping
from app.theme import polish, text_font
from app.words.money import level, size

HEIGHT = 18


def make_bar(thick: int) -> ShareBar:
    """Return a bar of how much can say something: a full part, and the rest."""
    bar = ShareBar(thick)
    bar.setMinimumWidth(72)
    return bar


def show_share(bar: ShareBar, share: float) -> None:
    """Show a share on such a bar; what cannot say anything stands out."""
    bar.show_share(share, colours=("care_pale" if share < 1 else "line_pale", "accent"))


class VerdictCard(Card):
    """Emits ``chosen`` with the changes of a remedy, and ``jump`` with a step where more can be changed."""

    chosen = Signal(dict)
    jump = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(" ", parent=parent)
        self.setObjectName("verdict")
        self._shown: Any = None
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.sentence = name_widget(Prose(), "verdict-sentence")
        self.bar = make_bar(HEIGHT)
        add(self.body, self.sentence, self.bar)
        self._legend = GridLayout()
        self.says, self.silent = Prose(tone="quiet", pixels=12), Prose(tone="care", pixels=12)
        self._legend.addWidget(self.says, 0, 0)
        self._legend.addWidget(self.silent, 0, 1)
        self.body.addLayout(self._legend)
        self._remedies = make_column(spacing=8)
        self.body.addLayout(self._remedies)
        self.hide()

    def show_verdict(
        self, verdict: Any, remedies: Sequence[Any] = (), *, jumps: Sequence[str] = (), lead: str = ""
    ) -> None:
        """Show a verdict, or hide where there is none.

        ``jumps`` are steps where it can be mended; ``lead`` says before it what it holds for.
        """
        self.setVisible(verdict is not None)
        shown = (verdict, remedies, lead, tuple(jumps))
        if verdict is None or self._shown == shown:
            return
        self._shown = shown
        empty(self._remedies)
        bad = verdict.is_useless
        self._set_tone("care" if bad or getattr(verdict, "care", None) else "accent")
        if hasattr(verdict, "said"):
            self._show_judged(verdict)
        else:
            self._show_filling(verdict)
        if lead:
            self.sentence.say(f"{lead} {self.sentence.said()}")
        said = [self.sentence.plain(), *([self.silent.plain()] if not self.silent.isHidden() else [])]
        self.setAccessibleName(f"{self.heading.text()}. {' '.join(said)}")
        if bad:
            self._show_remedies(remedies, jumps)

    def show_promise(self, title: str, sentence: str) -> None:
        """Show what is promised where nothing is counted before."""
        self._shown = None
        empty(self._remedies)
        self._say(title, sentence, tone="accent")

    def show_named(self, sentence: str, *, is_noise: bool) -> None:
        """Say first that a column names people; noise stays below it, with what says more."""
        more = f"\n\n**{self.heading.text()}** {self.sentence.said()}" if is_noise else ""
        self._shown = None
        if not is_noise:
            empty(self._remedies)
        self._say(words.say("app.preview.verdict.named"), sentence + more, tone="wrong")

    def _say(self, title: str, sentence: str, *, tone: str) -> None:
        self.show()
        self._set_tone(tone)
        self.heading.setText(title)
        self.sentence.say(sentence)
        for one in (self.bar, self.says, self.silent):
            one.hide()
        self.setAccessibleName(f"{title}. {self.sentence.plain()}")

    def _set_tone(self, tone: str) -> None:
        """Say by colour too how it stands: it can be read, most of it is noise, or it names people."""
        self.setProperty("card", tone)
        self.heading.setProperty("tone", tone)
        for one in (self, self.heading):
            polish(one)
        self.heading.setFont(text_font(16, 600))

    def _show_judged(self, verdict: Any) -> None:
        """Show what a method without cells says of itself."""
        name = "mostly_noise" if verdict.is_useless else "judged"
        self.heading.setText(words.say(f"app.preview.verdict.{name}"))
        self.sentence.say(words.label(verdict.said))
        self.says.hide()
        self.silent.setVisible(verdict.care is not None)
        self.silent.setAlignment(Qt.AlignmentFlag.AlignLeft)
        self.silent.say(words.label(verdict.care) if verdict.care is not None else "")
        self.bar.show()
        show_share(self.bar, verdict.share)

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
        name = "readable" if not bad else "mostly_noise" if all_can else "noise"
        self.heading.setText(words.say(f"app.preview.verdict.{name}", **values))
        said = words.say(f"app.preview.verdict.{'all' if all_can else 'some'}", **values)
        if verdict.silent_tried is not None:
            tried = "tried" if verdict.silent_tried else "tried_all"
            said += " " + words.say(f"app.preview.verdict.{tried}", silent=verdict.silent_tried, **values)
        self.sentence.say(said)
        self.says.say(words.say("app.preview.verdict.says", **values))
        self.silent.say(words.say("app.preview.verdict.silent", **values))
        self.silent.setAlignment(Qt.AlignmentFlag.AlignRight)
        for one in (self.bar, self.says, self.silent):
            one.setVisible(not all_can)
        show_share(self.bar, verdict.share)

    def _show_remedies(self, remedies: Sequence[Any], jumps: Sequence[str]) -> None:
        grid = QWidget()
        lines = make_grid(grid, across=16, down=8, margins=(0, 6, 0, 0))
        lines.setColumnStretch(1, 1)
        for place, remedy in enumerate(remedies):
            button = QPushButton(remedy_words(remedy))
            button.setObjectName(f"remedy-{remedy.kind}-{remedy.value}")
            button.setFont(text_font(13, 600))
            button.clicked.connect(lambda checked=False, one=remedy: self.chosen.emit(one.changes))
            bar = make_bar(6)
            show_share(bar, remedy.verdict.share)
            bar.setMaximumWidth(120)
            said = Prose(_count(remedy.verdict))
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
        add(self._remedies, grid, links)


def remedy_words(remedy: Any) -> str:
    """Return what a remedy does, as its button says it."""
    value = level(remedy.value) if remedy.kind == "level" else remedy.value
    return words.say(f"app.preview.verdict.remedy.{remedy.kind}", value=value)


def _count(verdict: Any) -> str:
    if hasattr(verdict, "said"):
        return words.label(verdict.said)
    return words.say(
        "app.preview.verdict.counted",
        cells=verdict.cells,
        per_cell=size(verdict.per_cell),
        above=verdict.above,
        limit=size(verdict.limit),
    )
