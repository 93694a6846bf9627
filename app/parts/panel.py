"""What this means: the right-hand side, in sentences about whatever has the focus or the pointer.

A page answers ``explain(topic)`` with an `Explanation`; the window shows it here::

    Explanation("diag_1", (
        part("Sensitive", "Known only here. A release must not let anyone learn it about one person."),
        Part(widget=chart),                                  # any widget: a plot, a small form
        Part("Allowed values", "ICD-9.", link="Change", follow=self.edit),
    ))
    three("app.risk.alone", alone=260, people=4259)          # the three texts of a number
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QFrame, QLabel, QPushButton, QScrollArea, QVBoxLayout, QWidget
from shiboken6 import isValid

from app import words
from app.parts.making import add, make_column, name_widget
from app.parts.prose import Heading, Prose
from app.theme import mono_font


@dataclass(frozen=True)
class Part:
    """A heading with a paragraph, a link below it, or a widget. ``tone`` is "", quiet, care or wrong."""

    heading: str = ""
    body: str = ""
    tone: str = ""
    link: str = ""
    follow: Callable[[], None] | None = None
    widget: QWidget | None = None
    kept: bool = False  # the widget outlives what the panel shows next; its page shows it again


@dataclass(frozen=True)
class Explanation:
    """What the panel shows. ``mono`` writes the title in the face of column names."""

    title: str
    parts: tuple[Part, ...] = ()
    mono: bool = False


def three(text_id: str, title: str = "", **values: Any) -> Explanation:
    """Return the three texts of a number: what it is, how it was computed, what would change it.

    They stand at ``TEXT_ID.what``, ``.how`` and ``.change``.
    """
    return Explanation(title or words.say("app.window.what_this_means"), three_parts(text_id, **values))


def three_parts(text_id: str, **values: Any) -> tuple[Part, ...]:
    """Return the three texts of a number as parts of a longer explanation."""
    return (
        Part(words.say("app.window.three_what"), words.say(f"{text_id}.what", **values)),
        Part(words.say("app.window.three_how"), words.say(f"{text_id}.how", **values)),
        Part(words.say("app.window.three_change"), words.say(f"{text_id}.change", **values)),
    )


class Panel(QScrollArea):
    """Shows one explanation, from the top; scrolls when it is long."""

    WIDTH = 272

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("panel")
        self.setFixedWidth(self.WIDTH)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setAccessibleName(words.say("app.window.what_this_means"))
        self._shown: Explanation | None = None
        self._made: Explanation | None = None
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(0)
        self._soon.timeout.connect(self._make)
        self._title = Heading(size="side")
        self._body = QWidget()
        self.setWidget(self._body)

    def shown(self) -> Explanation | None:
        """Return what is shown, or is about to be."""
        return self._shown

    def show_explanation(self, explanation: Explanation) -> None:
        """Replace what is shown: after what the page itself had to do, and once for all that it said."""
        former, self._shown = self._shown, explanation
        if explanation == former:
            return
        made = self._made
        if made is not None and (made.parts, made.mono) == (explanation.parts, explanation.mono):
            # Only another title: to make the parts anew takes longer than a person should wait.
            self._soon.stop()
            self._made = explanation
            self._title.setText(words.firm(explanation.title))
            self.verticalScrollBar().setValue(0)
        else:
            self._soon.start()

    def _make(self) -> None:
        """Make what is to be shown."""
        former, explanation = self._made, self._shown
        if explanation is None:
            return
        self._made = explanation
        body = name_widget(QWidget(), "panelBody")
        column = make_column(inside=body, spacing=0, margins=(24, 30, 24, 24))
        title = Heading(words.firm(explanation.title), size="side")
        if explanation.mono:
            face = mono_font(14)
            face.setBold(True)
            title.setFont(face)
        self._title = title
        add(column, title, 14)
        for part in former.parts if former is not None else ():
            if part.kept and part.widget is not None and isValid(part.widget):
                part.widget.hide()
                part.widget.setParent(self)
        for part in explanation.parts:
            _add(column, part)
        column.addStretch(1)
        # A widget of the page must outlive the panel's former body.
        old = self.takeWidget()
        self.setWidget(body)
        self._body = body
        if old is not None:
            old.hide()
            old.deleteLater()
        self.verticalScrollBar().setValue(0)


def _add(column: QVBoxLayout, part: Part) -> None:
    if part.heading:
        add(column, Heading(part.heading, size="card", tone=part.tone), 3)
    if part.body:
        column.addWidget(Prose(part.body))
    if part.widget is not None:
        column.addWidget(part.widget)
        if part.kept:
            part.widget.show()
    if part.link:
        column.addWidget(_link(part), 0, Qt.AlignmentFlag.AlignLeft)
    column.addSpacing(14)


def _link(part: Part) -> QWidget:
    if part.follow is None:
        return QLabel(part.link)
    button = QPushButton(part.link)
    button.setProperty("look", "link")
    button.setCursor(Qt.CursorShape.PointingHandCursor)
    button.clicked.connect(lambda checked=False: part.follow() if part.follow is not None else None)
    return button
