"""Several views under each other, made one after the other so that the window never stands still."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import isfinite
from typing import Any

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QWidget

from app.parts.cards import NumberCard
from app.parts.figures import Figures
from app.parts.making import empty, laid, make_column
from app.parts.views import ViewCard
from app.work.jobs import JobRunner
from engine.texts import plainly
from engine.views import BarsView, IntervalsView, NumberView, TableView, Text, TextView, View


class ViewStack(QWidget):
    """Cards of views. ``named(widget, place)`` is called for each widget, for its topic on the right.

    What is released does not stay; a picture of anything else that is saved says that it ``stays``.
    ``few_digits`` is for figures that are read and compared: a report and copied data keep all digits.
    """

    def __init__(
        self,
        runner: JobRunner,
        named: Callable[[QWidget, int], None],
        *,
        stays: bool = True,
        few_digits: bool = False,
    ) -> None:
        super().__init__()
        self._stays, self._few_digits = stays, few_digits
        self.runner, self._named = runner, named
        self._column = make_column(inside=self, spacing=14, margins=0)
        self._waiting: list[tuple[int, View]] = []
        self.views: tuple[View, ...] = ()
        self._timer = QTimer(self)
        self._timer.setInterval(0)
        self._draws = True  # in every second turn, what was made is drawn and the window answers
        self._timer.timeout.connect(self._make_one)

    def show_views(self, views: Sequence[View]) -> None:
        """Show other views."""
        self.views = tuple(views)
        empty(self._column)
        self._waiting, self._draws = list(enumerate(self.views)), True
        self._timer.start()

    def _beside(self, number: NumberCard) -> None:
        """Put numbers that follow one another on one surface."""
        figures: QWidget | None = dict(laid(self._column)).get(self._column.count() - 1)
        if not isinstance(figures, Figures):
            figures = Figures()
            self._column.addWidget(figures)
        number.setParent(figures)
        figures.add(number)
        number.show()
        figures.arrange()

    def _make_one(self) -> None:
        if not self._waiting:
            self._timer.stop()
            return
        self._draws = not self._draws
        if not self._draws:
            return
        place, view = self._waiting.pop(0)
        from engine.report.content.results import MOST_BARS, compact

        if isinstance(view, BarsView | IntervalsView) and len(view.labels) > MOST_BARS:
            return  # the numbers stand in the table, as in the reports
        shown = compact(view) if isinstance(view, TableView) else view
        card = ViewCard(shorten(shown) if self._few_digits else shown, self.runner, stays=self._stays)
        if isinstance(card.content, NumberCard):
            self._beside(card.content)
            self._named(card.content, place)
            card.deleteLater()
            return
        self._column.addWidget(card)
        for widget in (card, card.content, *card.content.findChildren(QWidget)):
            self._named(widget, place)


def shorten(view: View) -> View:
    """Return numbers, tables and sentences with four significant digits; whole numbers and drawings stay.

    Examples
    --------
    >>> shorten(TableView("t", ("a", "b"), ((0.118328, 12345.678), (41, "x")))).rows
    ((0.1183, 12346.0), (41, 'x'))
    """
    if isinstance(view, TableView):
        return replace(view, rows=tuple(tuple(map(_shorten, row)) for row in view.rows))
    if isinstance(view, TextView):
        return replace(view, paragraphs=tuple(map(_shorten, view.paragraphs)))
    return replace(view, value=_shorten(view.value)) if isinstance(view, NumberView) else view


def _shorten(value: Any) -> Any:
    if isinstance(value, Text):
        return replace(value, values={name: _shorten(one) for name, one in value.values.items()})
    if not isinstance(value, float) or not isfinite(value):
        return value
    return float(round(value)) if abs(value) >= 1000 else plainly(value)
