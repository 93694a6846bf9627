"""What every screen is. A screen is ``app/screens/ID/page.py`` with a class `Page` and ``PAGE = ThatClass``::

    class BudgetPage(Page):
        id = "budget"                        # title and subtitle: texts app.budget.title, .subtitle

        def build(self) -> None:             # once: fill self.body (a QVBoxLayout); may yield between parts
        def enter(self) -> None:             # every time it is shown or the study changed: read the study
        def explain(self, topic): ...        # → Explanation for the right; topic "" is the page itself
        def next_words(self) -> str: ...     # the Next button says what happens; "" is plain Next
        def go_next(self) -> None: ...       # what Next does; by default the following step opens

    PAGE = BudgetPage

Given to it: ``self.study`` (see `app.state.study`), ``self.runner`` (see `app.work.jobs`), ``self.frame``
(the window). Pages write through ``self.study.decide…`` and keep no copy; they never import each other
and compute nothing.

- ``self.work(function, …, done=…, doing="…")`` runs an engine call with the busy line and Stop; a refusal
  goes to the notice bar.
- ``self.topic(widget, "epsilon")`` makes the right-hand side show ``explain("epsilon")`` while the widget has
  focus or pointer; ``self.show_explanation(…)`` shows one at once; ``self.refresh_explanation()`` asks again.
- ``self.notify(what, do, tone="care")``, ``self.refuse(error)``, ``self.clear_notice()``.
- Texts: ``words.say("app.budget.name")`` from ``resources/texts/en/app/budget.toml``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar, Protocol

from PySide6.QtCore import QEvent, QObject, QPoint, QSize, Qt, QTimer
from PySide6.QtGui import QFocusEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QSizePolicy, QSpacerItem, QWidget
from shiboken6 import isValid

from app import words
from app.parts.busy import Busy
from app.parts.making import add, hidden, make_column, make_row, name_widget
from app.parts.panel import Explanation, Part
from app.parts.prose import Heading, Prose
from app.state.settings import Settings
from app.state.study import Study
from app.theme import theme
from app.work.jobs import LONG, JobRunner
from engine.errors import EngineError
from engine.views import Text

Pieces = Iterator[None]  # what `build` returns where it yields between its parts
_MADE = object()
_ASKS = (QEvent.Type.Enter, QEvent.Type.FocusIn)


class Frame(Protocol):
    """What a page may ask of the window."""

    settings: Settings
    step: str  # the screen in view
    data: Path | None  # where the draft lies; None: the user's data folder

    def open_file(self, path: str) -> None: ...
    def open_files(self, paths: list[str]) -> None: ...
    def save_plan(self, path: str) -> None: ...
    def notify(self, what: str, do: str = "", *, tone: str = "wrong") -> None: ...
    def unexpected(self, error: BaseException) -> None: ...
    def clear_notice(self) -> None: ...
    def show_explanation(self, explanation: Explanation) -> None: ...
    def topic_soon(self, page: Page, topic: str, *, at_once: bool) -> None: ...
    def go(self, step: str) -> None: ...
    def go_to(self, step: str, place: str) -> None: ...
    def go_next(self) -> None: ...
    def open_where_it_stopped(self, step: str) -> None: ...
    def update_frame(self) -> None: ...
    def use_language(self, code: str) -> None: ...


class _Body(QWidget):
    """What is scrolled: as high as its layout needs at the width that there is, not at the smallest one."""

    def minimumSizeHint(self) -> QSize:
        return QSize(super().minimumSizeHint().width(), 0)


class Page(QScrollArea):
    """A screen: title, subtitle, busy line, and whatever `build` puts into ``self.body``."""

    id: ClassVar[str] = ""
    counts_rows: ClassVar[bool] = False  # whether something on it was computed from the table that was opened

    def __init__(self, study: Study, runner: JobRunner, frame: Frame, parent: QWidget | None = None) -> None:
        # In its stack from the start: to move all its parts there takes a third of the time to make them.
        super().__init__(parent)
        self.study, self.runner, self.frame = study, runner, frame
        self._topics: dict[QObject, str] = {}
        self.setObjectName(f"page-{self.id}")
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        inner = _Body()
        inner.setObjectName("pageBody")
        column = make_column(inside=inner, spacing=0, margins=(32, 28, 32, 24))
        self.title = name_widget(Heading("", size="title"), "title")
        self.subtitle = name_widget(Prose("", tone="quiet"), "subtitle")
        self.part = hidden(name_widget(Prose("", tone="accent"), "part"))
        self.busy = Busy()
        self.body = make_column(spacing=16)
        self.head = make_row((self.title, 1), spacing=12)
        fixed, least = QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Minimum
        self._air = tuple(QSpacerItem(0, pixels, least, fixed) for pixels in (6, 16))
        add(column, self.head)
        column.addSpacerItem(self._air[0])
        add(column, self.subtitle, self.part)
        column.addSpacerItem(self._air[1])
        add(column, self.busy, (self.body, 1))
        column.addStretch(0)  # takes the room where nothing is shown yet, so that the words stay together
        self.setWidget(inner)
        self.inner, self._column = inner, column
        self._margin = 32
        self.verticalScrollBar().rangeChanged.connect(lambda low, high: self._keep_margin())
        theme.changed.connect(self._keep_margin)
        self.show_words()
        self._pieces = self.build() or iter(())

    def make_piece(self) -> bool:
        """Make the next piece of the screen; say whether there was one."""
        return next(self._pieces, _MADE) is not _MADE

    def show_words(self) -> None:
        """Show title and subtitle in the words for who is protected."""
        self.title.setText(words.say(f"app.{self.id}.title"))
        self.subtitle.say(words.say(f"app.{self.id}.subtitle"))
        self.setAccessibleName(self.title.text())

    def show_part(self) -> None:
        """Say of figures that they are of a sample, where the table is too large for the screens."""
        part = self.study.part if self.counts_rows else None
        self.part.setVisible(part is not None)
        if part is not None:
            from engine.utility.sampled import percent

            name = "anew" if self.study.is_other_part else "by_column" if part.column else "by_row"
            values = {"share": percent(part.share), "column": part.column, "rows": part.rows}
            self.part.say(words.say(f"app.window.part.{name}", **values))

    def build(self) -> Pieces | None:
        """Make the widgets, once; what takes longer than a glance yields between its parts."""
        return None

    def say(self, name: str, **values: Any) -> str:
        """Return a text of this page, ``app.ID.NAME``, in the words that fit what is promised."""
        return words.say(self._text(name), **values)

    def _text(self, name: str) -> str:
        """Return the id of a text: where there is one, of what came in, or where nothing bounds the loss."""
        sides = {"received": self.study.draws_elsewhere, "unbounded": not self.study.is_bounded}
        others = (f"app.{self.id}.{side}.{name}" for side, holds in sides.items() if holds)
        return next(filter(words.has, others), f"app.{self.id}.{name}")

    def enter(self) -> None:
        """Show the study as it is; called whenever the page is shown and whenever the study changed."""

    def opened(self) -> None:
        """Called once each time the page is opened, after `enter`: start what has to be computed."""

    def prepare(self) -> None:
        """Called once after the window opened: have ready what takes long, while nobody waits for it."""

    def leave(self) -> None:
        """Called when another page is opened."""

    def explain(self, topic: str) -> Explanation:
        """Return what the right-hand side says about a topic; "" is the page itself."""
        name = f"help.{topic}" if topic else "help"
        # All parts come from one place, so that the two ways of saying it never mix.
        first = next((end for end in ("what", "part1.body") if words.has(self._text(f"{name}.{end}"))), "")
        base = self._text(f"{name}.{first}").removesuffix(f".{first}")
        if first == "what":
            from app.parts.panel import three

            return three(base)
        parts = []
        number = 1
        while words.has(f"{base}.part{number}.body"):
            heading = f"{base}.part{number}.heading"
            parts.append(
                Part(words.say(heading) if words.has(heading) else "", words.say(f"{base}.part{number}.body"))
            )
            number += 1
        title = words.say(f"{base}.title") if words.has(f"{base}.title") else ""
        return Explanation(title or words.say("app.window.what_this_means"), tuple(parts))

    def next_words(self) -> str:
        """Return what the button for the next step says, or nothing for plain Next."""
        return ""

    def waits(self) -> Text | None:
        """Return what the page waits for although one may go on: Next is pale and says so."""
        return None

    def shows_next(self) -> bool:
        """Say whether there is anything to go on to."""
        return True

    def commits(self) -> str:
        """Return what the button for the next step would do for good, with its amount; or nothing.

        No key that turns pages does it: only the button, and a key of its own that asks with the amount.
        """
        return ""

    def guard(self) -> tuple[str, str] | None:
        """Return what is asked before `commit`, title and sentence; None where one press is enough."""
        return None

    def guard_tone(self) -> str:
        """Return the tone of that question: ``"wrong"`` where people are named."""
        return "care"

    def commit(self) -> None:
        """Do for good what `commits` says."""
        self.go_next()

    def other_words(self) -> str:
        """Return what a button beside Next says, which commits where Next does what is better; or nothing."""
        return ""

    def go_next(self) -> None:
        """Do what the button for the next step says."""
        self.frame.go_next()

    def first_focus(self) -> QWidget | None:
        """Return what gets the focus when the page opens."""
        return None

    def show_from(self, part: QWidget) -> None:
        """Scroll, once it has its place, so that a part that was opened begins at the top."""

        def scroll() -> None:
            whole = self.widget()
            if whole is not None and part.isVisibleTo(self):
                self.verticalScrollBar().setValue(part.mapTo(whole, QPoint(0, 0)).y() - 16)

        QTimer.singleShot(0, self, scroll)

    def point_to(self, place: str) -> None:
        """Bring what is missing into view and give it the focus; ``place`` as in `app.state.flow.Missing`."""
        found = self.field_at(place)
        if found is None or not found.isVisibleTo(self):
            return
        self.ensureWidgetVisible(found, 0, 48)
        takes = [found, *found.findChildren(QWidget)] if found.isEnabled() else []
        target = next((one for one in takes if one.focusPolicy() & Qt.FocusPolicy.TabFocus), None)
        if target is not None and not target.isHidden():
            target.setFocus(Qt.FocusReason.OtherFocusReason)

    def field_at(self, place: str) -> QWidget | None:
        """Return the field of a name, unfolded if it was folded."""
        return self.findChild(QWidget, place)

    def take_file(self) -> Callable[[str], None] | None:
        """Return what is done with a file that is dropped on the window, or None where none is wanted."""
        return None

    def take_files(self) -> Callable[[list[str]], None] | None:
        """Return what is done with several files that are dropped at once, or None where none are wanted."""
        return None

    def work(
        self,
        function: Callable[..., Any],
        *args: Any,
        done: Callable[[Any], object],
        doing: str,
        failed: Callable[[Exception], None] | None = None,
        cancelled: Callable[[], None] | None = None,
        slot: str | None = None,
        lane: str = LONG,
        stoppable: bool = True,
        **kwargs: Any,
    ) -> int:
        """Run an engine call off the interface thread, with the busy line; see `app.work.jobs`."""
        place = slot if slot is not None else self.id

        def finish(value: Any) -> None:
            self.busy.end()
            done(value)

        def fail(error: Exception) -> None:
            self.busy.end()
            (failed or self.refuse)(error)

        def stopped() -> None:
            self.busy.end()
            if cancelled is not None:
                cancelled()

        number = self.runner.start(
            function,
            *args,
            done=finish,
            failed=fail,
            cancelled=stopped,
            progressed=self.busy.step,
            slot=place,
            lane=lane,
            after_drawing=True,
            **kwargs,
        )
        self.busy.begin(doing, (lambda: self.runner.stop(place)) if stoppable else None)
        return number

    def refuse(self, error: Exception) -> None:
        """Show an error: sentences for what a person can act on, a calm line for anything else."""
        if isinstance(error, EngineError):
            self.frame.notify(*words.explain(error))
        else:
            self.frame.unexpected(error)

    def notify(self, what: str, do: str = "", *, tone: str = "care") -> None:
        """Show a notice above the page."""
        self.frame.notify(what, do, tone=tone)

    def hold_back(self, found: tuple[str, str, QWidget]) -> None:
        """Say why nobody can go on, and lead to what leads on."""
        what, do, where = found
        self.notify(what, do)
        QTimer.singleShot(0, self, lambda: self._bring(where))  # the notice takes its place before that
        where.setFocus(Qt.FocusReason.OtherFocusReason)

    def _bring(self, where: QWidget) -> None:
        """Scroll to a part of the page so that its title is whole or gone, not cut below the notice."""
        if not isValid(where):
            return
        self._column.activate()
        self.ensureWidgetVisible(where, 0, 24)
        bar, ends = self.verticalScrollBar(), self.subtitle.geometry().bottom() + 8
        if 0 < bar.value() < ends:
            fits = where.mapTo(self.inner, where.rect().bottomLeft()).y() <= self.viewport().height() - 8
            bar.setValue(0 if fits else ends)

    def clear_notice(self) -> None:
        """Hide the notice."""
        self.frame.clear_notice()

    def topic(self, widget: QWidget, topic: str) -> None:
        """Have the right-hand side explain a topic while a widget has the focus or the pointer."""
        self._topics[widget] = topic
        widget.installEventFilter(self)

    def show_explanation(self, explanation: Explanation) -> None:
        """Show an explanation on the right at once."""
        self.frame.show_explanation(explanation)

    def refresh_explanation(self, topic: str = "") -> None:
        """Ask `explain` again and show the answer."""
        self.frame.show_explanation(self.explain(topic))

    def _keep_margin(self) -> None:
        self.set_margin(self._margin)

    def set_air(self, above: int, below: int) -> None:
        """Set the air between the title and what is said under it, and below that."""
        for gap, pixels in zip(self._air, (above, below), strict=True):
            gap.changeSize(0, pixels, QSizePolicy.Policy.Minimum, QSizePolicy.Policy.Fixed)
        self._column.invalidate()

    def set_margin(self, pixels: int) -> None:
        """Set the air around the page: 32, less where there is little room."""
        self._margin = pixels
        # The bar takes its room from the margin, so that nothing moves when it appears.
        bar = self.verticalScrollBar()
        right = pixels - (bar.sizeHint().width() if bar.maximum() > 0 else 0)
        above, below = (28, 24) if pixels >= 32 else (12, 12)
        self._column.setContentsMargins(pixels, above, right, below)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        topic, kind = self._topics.get(watched), event.type()
        if isinstance(event, QFocusEvent) and event.reason() == Qt.FocusReason.ActiveWindowFocusReason:
            return False  # the window came to the front: nobody chose this field just now
        if topic is not None and kind in _ASKS:
            self.frame.topic_soon(self, topic, at_once=kind == QEvent.Type.FocusIn)
        return False
