"""The steps on the left: done, current, to come. Keys: up and down, then Enter."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QKeyEvent, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QAbstractButton, QWidget

from app import words
from app.parts.making import make_column
from app.theme import text_font, theme

BEFORE_NAME, AFTER_NAME = 40, 4  # pixels


class StepButton(QAbstractButton):
    """One step: a circle with its number or a tick, and its name."""

    def __init__(self, step: str, number: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.step, self.number = step, number
        self.setText(words.say(f"app.steps.{step}"))
        self.setObjectName(f"step-{step}")
        self.setCheckable(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.done = self.narrow = False
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        name = QFontMetrics(text_font(13, 600)).horizontalAdvance(self.text())
        return QSize(36 if self.narrow else BEFORE_NAME + name + AFTER_NAME, 36)

    minimumSizeHint = sizeHint

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
        circle = QRectF((self.width() - 22) / 2 if self.narrow else 8, 7, 22, 22)
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
        if not self.narrow:
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

    def set_narrow(self, narrow: bool) -> None:
        """Show the circles alone."""
        for button in self.buttons.values():
            button.narrow = narrow
            button.setToolTip(button.text() if narrow else "")
            button.updateGeometry()
