"""The register of people that pays, in view from its choice to the end: name, what is left, what is spent."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QLabel, QVBoxLayout, QWidget

from app import words
from app.parts.prose import Prose
from app.theme import text_font, theme
from app.words.money import level
from app.work.registers import Standing

BAR = 6


class _Bar(QWidget):
    """How much of the budget is spent."""

    def __init__(self) -> None:
        super().__init__()
        self.share = 0.0
        self.is_care = False
        self.setFixedHeight(BAR)
        theme.changed.connect(self.update)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter, tokens = QPainter(self), theme.tokens()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        whole = QRectF(self.rect())
        painter.setBrush(tokens.colour("line"))
        painter.drawRoundedRect(whole, BAR / 2, BAR / 2)
        if self.share > 0:
            painter.setBrush(tokens.colour("care" if self.is_care else "accent"))
            whole.setWidth(max(whole.width() * self.share, BAR))
            painter.drawRoundedRect(whole, BAR / 2, BAR / 2)
        painter.end()


class RegisterBlock(QFrame):
    """``clicked`` asks for the releases of the register."""

    clicked = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("register")
        column = QVBoxLayout(self)
        column.setContentsMargins(8, 0, 8, 10)
        column.setSpacing(4)
        self.name = QLabel()
        self.name.setFont(text_font(12, 600))
        self.name.setTextFormat(Qt.TextFormat.PlainText)
        self.left = Prose(tone="quiet", pixels=12)
        self.bar = _Bar()
        self.care = Prose(words.say("app.window.register.unbounded"), tone="care", pixels=11)
        self.takes = Prose(tone="care", pixels=11)
        self.takes.setObjectName("register-takes")
        self.takes.hide()
        self._said = ""
        for part in (self.name, self.left, self.bar, self.takes, self.care):
            column.addWidget(part)
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
        if found.whole is None:
            said = words.say("app.window.register.no_budget", count=found.releases)
        elif not found.spent:
            said = words.say("app.window.register.nothing_spent", left=level(found.left, down=True))
        else:
            said = words.say(
                "app.window.register.left", left=level(found.left, down=True), whole=level(found.whole)
            )
        is_empty = found.whole is not None and not found.left
        if is_empty:
            said = words.say("app.window.register.nothing_left", whole=level(found.whole))
        tone = "care" if is_empty else "quiet"
        if self.left.property("tone") != tone:
            self.left.setProperty("tone", tone)
            self.left.style().unpolish(self.left)
            self.left.style().polish(self.left)
        self.left.say(said)
        self.bar.setVisible(found.whole is not None)
        self.bar.share = float(min(found.spent / found.whole, 1)) if found.whole else 0.0
        self.bar.is_care = is_empty
        self.bar.update()
        self.care.setVisible(not found.bounds_all)
        self._said = f"{found.name}: {said}"
        self._speak()

    def show_takes(self, share: str) -> None:
        """Say that the release in view takes ``all`` or more than ``half`` of what is left, or nothing."""
        self.takes.setVisible(bool(share))
        self.takes.say(words.say(f"app.window.register.takes_{share}") if share else "")
        self._speak()

    def _speak(self) -> None:
        parts = [one.plain() for one in (self.takes, self.care) if not one.isHidden()]
        self.setAccessibleName(" ".join([self._said, *parts]))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.clicked.emit()
