"""The register of people that pays, in view from its choice to the end: name, what is left, what is spent."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QFrame

from app import words
from app.parts.making import add, make_column, make_label
from app.parts.plot import ShareBar
from app.parts.prose import Prose
from app.words.money import level
from app.work.registers import Standing

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
        add(column, self.name, self.left, self.bar, self.care)
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
        self.left.say(said)
        self.bar.setVisible(found.whole is not None)
        self.bar.show_share(float(found.spent / found.whole) if found.whole else 0.0)
        self.care.setVisible(not found.bounds_all)
        spoken = f"{found.name}: {said}"
        self.setAccessibleName(spoken if found.bounds_all else f"{spoken} {self.care.plain()}")

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.clicked.emit()
