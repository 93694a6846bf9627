"""The left-hand side, or one line above the page: name, steps, look, and the one promise."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QCursor,
    QFontMetrics,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPolygonF,
)
from PySide6.QtWidgets import (
    QAbstractButton,
    QFrame,
    QMenu,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QWidget,
)

from app import words
from app.parts.layouts import ColumnLayout
from app.parts.making import (
    add,
    align_left,
    hidden,
    make_button,
    make_column,
    make_label,
    make_row,
    name_widget,
)
from app.parts.plot import ShareBar
from app.parts.prose import Prose
from app.parts.wrapping import Wrapping
from app.state import flow
from app.theme import MODES, polish, text_font, theme
from app.words.money import level, money
from app.work.registers import Standing, Takes, in_money, money_left
from engine.policy import language_set
from engine.release.plan import Plan

QWIDGETSIZE_MAX = 16_777_215  # what the toolkit takes for no limit

# --- The steps on the left ------------------------------------------------------------------------------

BEFORE_NAME, AFTER_NAME = 40, 4  # pixels
STEP, LOW_STEP = 36, 25  # pixels of a step, and where there are many


class StepButton(QAbstractButton):
    """One step: a circle with its number or a tick, and its name."""

    def __init__(self, step: str, number: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.step, self.number = step, number
        self.setText(words.say(f"app.steps.{step}"))
        self.setObjectName(f"step-{step}")
        self.setCheckable(True)
        self.setSizePolicy(QSizePolicy.Policy.Minimum, QSizePolicy.Policy.Maximum)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.done = False
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        name = QFontMetrics(text_font(13, 600)).horizontalAdvance(self.text())
        return QSize(BEFORE_NAME + name + AFTER_NAME, STEP)

    def minimumSizeHint(self) -> QSize:
        """Return the room below which the list scrolls: many steps stand closer together before."""
        return QSize(self.sizeHint().width(), LOW_STEP)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.click()
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        tokens, painter = theme.tokens(), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        current = self.isChecked()
        whole = QRectF(self.rect())
        if current or self.hasFocus():
            painter.setPen(QPen(tokens.colour("accent"), 1.5) if self.hasFocus() else Qt.PenStyle.NoPen)
            painter.setBrush(tokens.colour("accent_soft") if current else Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(whole.adjusted(1, 1, -1, -1), 8, 8)
        circle = QRectF(8, (whole.height() - 22) / 2, 22, 22)
        filled = current or self.done
        painter.setPen(Qt.PenStyle.NoPen if filled else QPen(tokens.colour("line"), 1.2))
        soft = tokens.colour("accent_soft")
        painter.setBrush(tokens.colour("accent") if current else soft if self.done else Qt.BrushStyle.NoBrush)
        painter.drawEllipse(circle)
        if self.done and not current:
            painter.setPen(QPen(tokens.colour("accent"), 1.6))
            middle = circle.center()
            tick = [QPointF(-3.6, 0.2), QPointF(-1.0, 2.8), QPointF(3.8, -2.8)]
            painter.drawPolyline(QPolygonF([middle + point for point in tick]))
        else:
            painter.setFont(text_font(11, 600 if current else 500))
            painter.setPen(tokens.colour("on_accent" if current else "quiet"))
            painter.drawText(circle, Qt.AlignmentFlag.AlignCenter, str(self.number))
        painter.setFont(text_font(13, 600 if current else 400))
        ready = self.isEnabled() and (current or self.done)
        painter.setPen(tokens.colour("text" if ready else "quiet"))
        place = whole.adjusted(BEFORE_NAME, 0, -AFTER_NAME, 0)
        painter.drawText(place, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, self.text())
        painter.end()


class StepList(QWidget):
    """The numbered steps; asks the window to open the one that was chosen."""

    chosen = Signal(str)

    def __init__(self, steps: tuple[str, ...], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(words.say("app.window.steps"))
        column = make_column(inside=self, spacing=0, margins=0)
        self.buttons: dict[str, StepButton] = {}
        for number, step in enumerate(steps, start=1):
            button = StepButton(step, number)
            button.clicked.connect(lambda checked=False, step=step: self.chosen.emit(step))
            self.buttons[step] = button
            column.addWidget(button)
        column.addStretch(1)

    def update_steps(self, current: str, steps: tuple[str, ...], done: set[str], reachable: set[str]) -> None:
        """Show the steps there are, which one is open, which are complete, and which may be opened."""
        for step, button in self.buttons.items():
            button.setVisible(step in steps)
            if step not in steps:
                continue
            button.number = steps.index(step) + 1
            button.setChecked(step == current)
            button.done = step in done
            button.setEnabled(step in reachable or step == current)
            state = "current" if step == current else "done" if step in done else "to_come"
            button.setAccessibleName(
                words.say(f"app.window.step_{state}", number=button.number, name=button.text())
            )
            button.update()


# --- The steps in one line, where there is little room --------------------------------------------------

DASH, DASH_HIGH = 28, 6  # pixels of the mark of a step


class StepMarks(QWidget):
    """One mark a step: filled up to the one that is open."""

    def __init__(self) -> None:
        super().__init__()
        self.at, self.many = 0, 0
        theme.changed.connect(self.update)

    def show_marks(self, at: int, many: int) -> None:
        """Show which step is open, of how many."""
        self.at, self.many = at, many
        self.setFixedSize(max(many, 1) * (DASH + 4), 22)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter, tokens = QPainter(self), theme.tokens()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        for place in range(self.many):
            painter.setBrush(tokens.colour("accent" if place < self.at else "line"))
            mark = QRectF(place * (DASH + 4), (self.height() - DASH_HIGH) / 2, DASH, DASH_HIGH)
            painter.drawRoundedRect(mark, 3, 3)
        painter.end()


class StepLine(QWidget):
    """The name, the open step with a menu of all that the tall side has, and how far one has come."""

    chosen = Signal(str)

    def __init__(self, *beside: QPushButton) -> None:
        super().__init__()
        self._beside = beside
        line = self._line = make_row(inside=self, spacing=14, margins=(20, 4, 20, 4))
        self.open = make_button("", "step-menu", look="link")
        self.menu = QMenu(self.open)
        self.open.setMenu(self.menu)
        self.menu.aboutToShow.connect(self._name_beside)  # the look has another name once it is chosen
        self.marks = StepMarks()
        self.register = name_widget(Prose(tone="quiet", pixels=12), "register-line")
        self.register.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        name = make_label(words.say("app.window.name"), pixels=15, weight=700)
        add(line, name, self.open, self.marks, (self.register, 1))

    def update_steps(self, current: str, steps: tuple[str, ...], done: set[str], reachable: set[str]) -> None:
        """Name the open step, and have the menu open the others; see `StepList.update_steps`."""
        at = steps.index(current) + 1 if current in steps else 0
        name = words.say(f"app.steps.{current}")
        said = words.say("app.window.step_of", number=at, count=len(steps), name=name) if at else f"{name}  ▾"
        self.open.setText(said)
        self.open.setAccessibleName(said)
        self.marks.setVisible(bool(at))
        self.marks.show_marks(at, len(steps))
        self.menu.clear()
        self._offer(flow.START, words.say(f"app.steps.{flow.START}"), possible=True)
        for number, step in enumerate(steps, start=1):
            named = f"{number}  {words.say(f'app.steps.{step}')}{'  ✓' if step in done else ''}"
            self._offer(step, named, possible=step in reachable or step == current)
        self.menu.addSeparator()
        for step in flow.BESIDE:
            self._offer(step, words.say(f"app.steps.{step}"), possible=True)
        self.menu.addSeparator()
        for button in self._beside:
            self.menu.addAction(button.text()).triggered.connect(button.click)

    def _name_beside(self) -> None:
        last = self.menu.actions()[-len(self._beside) :]
        for action, button in zip(last, self._beside, strict=True):
            action.setText(button.text())

    def _offer(self, step: str, named: str, *, possible: bool) -> None:
        action = self.menu.addAction(named)
        action.setEnabled(possible)
        action.triggered.connect(lambda checked=False: self.chosen.emit(step))


# --- The register of people that pays, in view from its choice to the end -------------------------------

BAR = 6


class RegisterBlock(QFrame):
    """``clicked`` asks for the releases of the register."""

    clicked = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("register")
        column = make_column(inside=self, spacing=4, margins=(8, 0, 8, 10))
        self.name = make_label(pixels=12, weight=600)
        self.name.setTextFormat(Qt.TextFormat.PlainText)
        self.left = Prose(tone="quiet", pixels=12)
        self.bar = ShareBar(BAR, least=BAR)
        self.care = Prose(words.say("app.window.register.unbounded"), tone="care", pixels=11)
        self.takes = hidden(name_widget(Prose(tone="care", pixels=11), "register-takes"))
        self._said = ""
        add(column, self.name, self.left, self.bar, self.takes, self.care)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.hide()

    def show_register(self, found: Standing | None) -> None:
        """Show another register, or none."""
        self.setVisible(found is not None)
        if found is None:
            return
        metrics = self.name.fontMetrics()
        self.name.setText(metrics.elidedText(found.name, Qt.TextElideMode.ElideMiddle, 148))
        self.name.setToolTip(words.tip(found.name))
        is_empty = found.whole is not None and not found.left
        if found.whole is None:
            said = words.say("app.window.register.no_budget", count=found.releases)
        elif is_empty:
            said = words.say("app.window.register.nothing_left", whole=level(found.whole))
        elif not found.spent:
            said = words.say("app.window.register.nothing_spent", left=level(found.left, down=True))
        else:
            said = words.say(
                "app.window.register.left", left=level(found.left, down=True), whole=level(found.whole)
            )
        self.left.set_tone("care" if is_empty else "quiet")
        self.left.say(said)
        self.bar.setVisible(found.whole is not None)
        spent = float(found.spent / found.whole) if found.whole else 0.0
        self.bar.show_share(spent, colours=("line", "care" if is_empty else "accent"))
        self.care.setVisible(not found.bounds_all)
        self._said = words.pair(found.name, said)
        self._speak()

    def show_takes(self, share: str, amounts: str = "") -> None:
        """Say that the release in view takes ``more`` than is left, ``all`` or ``half`` of it, or little.

        ``amounts`` says how much it takes and how much stays.
        """
        said = [words.say(f"app.window.register.takes_{share}")] if share else []
        said += [amounts] if amounts else []
        self.takes.setVisible(bool(said))
        self.takes.set_tone("care" if share else "quiet")
        self.takes.say("\n\n".join(said))
        self._speak()

    def _speak(self) -> None:
        parts = [one.plain() for one in (self.takes, self.care) if not one.isHidden()]
        self.setAccessibleName(" ".join([self._said, *parts]))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.clicked.emit()


def takes_words(plan: Plan, found: Takes) -> str:
    """Return what a release takes from its register and what stays, in ε and, where it is known, in money."""
    if found.spends is None or found.after is None or found.share == "more":
        return ""
    takes, stays = f"ε\u00a0{level(found.spends, up=True)}", f"ε\u00a0{level(found.after, down=True)}"
    claims, rest = in_money(plan, found.spends), money_left(plan, found)
    takes += "" if claims is None else f" · {money(claims, plan.price.currency)}"
    stays += "" if rest is None else f" · {money(rest, plan.price.currency)}"
    return words.say("app.window.register.takes", takes=takes, stays=stays)


WIDE, LOW = 196, 44  # pixels: of the side as a column, and as one line above the page
MARGIN = 16


class Side(QFrame):
    """Emits ``chosen`` with a step, ``look_chosen`` with system, light or dark, ``language_chosen``."""

    chosen = Signal(str)
    look_chosen = Signal(str)
    language_chosen = Signal(str)
    help_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("side")
        self._current = ""
        both = make_column(inside=self, spacing=0, margins=0)
        self.tall = QWidget()
        column = ColumnLayout(self.tall)
        column.setContentsMargins(MARGIN, 26, MARGIN, 20)
        column.setSpacing(0)
        self.name = make_label(words.say("app.window.name"), pixels=18, weight=700)
        self.name.setIndent(8)
        self.links: dict[str, QPushButton] = {}
        add(column, self.name, 10, align_left(self._link(flow.START)), 4)
        self.steps = StepList(flow.STEPS[1:])
        self.steps.chosen.connect(self.chosen)
        self.list = name_widget(QScrollArea(), "steps", self.steps.accessibleName())
        self.list.setWidgetResizable(True)
        self.list.setFrameShape(QFrame.Shape.NoFrame)
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setWidget(self.steps)
        self.register = RegisterBlock()
        self.register.clicked.connect(lambda: self.chosen.emit("releases"))
        add(column, (self.list, 1), 8, self.register)
        beside = Wrapping(spacing=4)
        for step in flow.BESIDE:
            beside.addWidget(self._link(step))
        column.addLayout(beside)
        self.look = make_button("", "look", self._next_look, look="link")
        theme.changed.connect(self._name_look)
        self._name_look()
        self.offline = Prose(words.say("app.window.offline"), tone="quiet", pixels=12)
        self.offline.setContentsMargins(8, 0, 0, 0)
        self.help = make_button(words.say("app.help.open"), "help-open", self.help_wanted.emit, look="link")
        self.language = make_button("", "language", self._offer_languages, look="link")
        self.language.setText(words.language_name(words.language()))
        self.language.setAccessibleName(words.say("app.window.language", name=self.language.text()))
        last = Wrapping(spacing=14)
        for button in (self.look, self.help, self.language):
            last.addWidget(button)
        column.addLayout(last)
        if len(words.languages()) == 1:
            self.language.hide()
        if language_set():
            self.language.setEnabled(False)
            self.language.setToolTip(words.say("policy.language_set"))
            self.language.setAccessibleDescription(words.say("policy.language_set"))
        add(column, 8, self.offline)
        self.line = StepLine(*(one for one in (self.look, self.help, self.language) if not one.isHidden()))
        self.line.chosen.connect(self.chosen)
        add(both, self.line, (self.tall, 1))
        self.set_line(False)

    def _link(self, step: str) -> QPushButton:
        """What stands outside the numbered steps."""
        button = QPushButton(words.say(f"app.window.to_{step}"))
        button.setObjectName(f"step-{step}")
        button.setAccessibleName(words.say(f"app.steps.{step}"))
        button.setProperty("look", "link")
        button.setProperty("place", "side")
        button.clicked.connect(lambda checked=False: self.chosen.emit(step))
        self.links[step] = button
        return button

    def update_steps(self, current: str, steps: tuple[str, ...], done: set[str], reachable: set[str]) -> None:
        """Show the steps there are; see `StepList.update_steps`."""
        self.steps.update_steps(current, steps, done, reachable)
        self.line.update_steps(current, steps, done, reachable)
        if current in steps:
            self.list.ensureWidgetVisible(self.steps.buttons[current])
        self._current = current
        self._show_links()
        for step, button in self.links.items():
            if button.property("current") == (step == current):
                continue
            button.setProperty("current", step == current)
            polish(button)

    def show_register(self, found: Standing | None) -> None:
        """Show the register that pays, or none."""
        self.register.show_register(found)
        self.line.register.say("" if found is None else self.register.left.plain())

    def set_line(self, wanted: bool) -> None:
        """Be one line above the page, or a column beside it."""
        self.line.setVisible(wanted)
        self.tall.setVisible(not wanted)
        self.setProperty("line", wanted)
        polish(self)
        if wanted:
            self.setMinimumWidth(0)
            self.setMaximumWidth(QWIDGETSIZE_MAX)
            self.setFixedHeight(LOW)
        else:
            self.setFixedWidth(WIDE)
            self.setMinimumHeight(0)
            self.setMaximumHeight(QWIDGETSIZE_MAX)

    def _show_links(self) -> None:
        """Show what stands outside the steps once: the first page has buttons of its own for it."""
        for step, button in self.links.items():
            button.setVisible(not (self._current == flow.START and step in flow.BESIDE))

    def _offer_languages(self) -> None:
        """Show the languages that there are, each by its own name."""
        menu = QMenu(self)
        for code in words.languages():
            action = menu.addAction(words.language_name(code, reviewed=True))
            action.setCheckable(True)
            action.setChecked(code == words.language())
            action.triggered.connect(lambda checked=False, code=code: self.language_chosen.emit(code))
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(QCursor.pos())

    def _next_look(self) -> None:
        self.look_chosen.emit(MODES[(MODES.index(theme.mode) + 1) % len(MODES)])

    def _name_look(self) -> None:
        self.look.setText(words.say(f"app.window.look_{theme.mode}"))
        self.look.setAccessibleName(words.say("app.window.look_name", look=self.look.text()))
