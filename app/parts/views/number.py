"""One key number; its three texts stand on the right when it has the focus."""

from __future__ import annotations

from app import words
from app.parts.cards import NumberCard
from engine import texts
from engine.views import NumberView


class NumberWidget(NumberCard):
    """A number with its unit."""

    def __init__(self, view: NumberView, runner: object = None) -> None:
        super().__init__(words.label(view.title))
        from engine.report.words import cell

        written = cell(view.value, words.language())
        self.show_number(f"{written} {texts.say_unit(view.unit, words.language())}".strip())
        self.sentence.hide()
