"""Views on screen, none of which knows a method: numbers, tables and texts, and a drawing for all others.

card = ViewCard(view, runner)         # title, drawing or table, note
explain(view)                         # the three texts of every number in it, for the right-hand side
"""

from __future__ import annotations

from typing import Any

from PySide6.QtWidgets import QWidget

from app import words
from app.parts.cards import Card
from app.parts.panel import Explanation, Part, three_parts
from app.parts.prose import Prose
from app.parts.views.figure import FigureView
from app.parts.views.number import NumberWidget
from app.parts.views.table import TableWidget
from app.parts.views.text import TextWidget
from app.work.jobs import JobRunner
from engine.views import Label, NumberView, TableView, Text, TextView, View, as_table

LABEL = ".label"
WIDGETS: dict[type, Any] = {NumberView: NumberWidget, TableView: TableWidget, TextView: TextWidget}


def make_view(view: View, runner: JobRunner, *, stays: bool = True) -> QWidget:
    """Return the widget of a view, by its kind; ``stays`` unless it may leave, which a saved picture says."""
    own = WIDGETS.get(type(view))
    widget: QWidget = own(view, runner) if own is not None else FigureView(view, runner, stays=stays)
    widget.setObjectName(f"view-{view.kind}")
    return widget


class ViewCard(Card):
    """A view on a surface of its own, with its title and its note."""

    def __init__(self, view: View, runner: JobRunner, *, stays: bool = True) -> None:
        super().__init__("" if isinstance(view, NumberView) else words.label(view.title))
        self.view = view
        self.content = make_view(view, runner, stays=stays)
        self.body.addWidget(self.content)
        note = getattr(view, "note", None)
        if note is not None:
            self.body.addWidget(Prose(words.label(note), tone="quiet", pixels=12))


def explain(view: View) -> Explanation | None:
    """Return the three texts of every number that a view shows; None where it shows none.

    A heading ``methods.ID.numbers.NAME.label`` has its three texts beside it, at ``methods.ID.numbers.NAME``.
    """
    title = words.label(view.title)
    if isinstance(view, NumberView):
        return Explanation(title, three_parts(view.three.id, **view.three.values))
    parts: list[Part] = []
    for label in labels(view):
        if isinstance(label, Text) and three_of(label):
            parts.append(Part(words.label(label), tone="accent"))
            parts += three_parts(label.id.removesuffix(LABEL), **label.values)
    return Explanation(title, tuple(parts)) if parts else None


def labels(view: View) -> list[Label]:
    """Return what a view names: headings, axes, and the quantities in its first column; each once."""
    named: list[Any] = [*as_table(view).headings]
    for name in ("axis", "x_axis", "y_axis"):
        if hasattr(view, name):
            named.append(getattr(view, name))
    named += [row[0] for row in as_table(view).rows if row and isinstance(row[0], Text)]
    return list({repr(label): label for label in named}.values())


def three_of(label: Text) -> bool:
    """Say whether a label is the name of a number with three texts."""
    base = label.id.removesuffix(LABEL)
    return label.id.endswith(LABEL) and all(words.has(f"{base}.{name}") for name in ("what", "how", "change"))
