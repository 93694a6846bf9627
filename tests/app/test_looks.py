"""Light and dark: the change is quick, and screens that were hidden meanwhile take it too."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QApplication, QPushButton, QWidget

from app.frame.window import Window
from app.theme import DARK, theme
from tests.app.hands import Hands
from tests.app.walking import settle


class Styled(QObject):
    """Counts how often widgets are told of another style."""

    def __init__(self) -> None:
        super().__init__()
        self.times = 0

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.StyleChange and isinstance(watched, QWidget):
            self.times += 1
        return False


def test_every_widget_is_styled_a_few_times_however_deep_it_lies(
    warm_window: Window, qapp: QApplication, qtbot: Any
) -> None:
    hands, counted = Hands(qtbot, warm_window), Styled()
    look = warm_window.findChild(QPushButton, "look")
    before, changes = theme.tokens(), 0
    qapp.installEventFilter(counted)
    for _ in range(3):
        hands.click(look)
        changes += theme.tokens() is not before
        before = theme.tokens()
    qapp.removeEventFilter(counted)
    widgets = len(qapp.allWidgets())
    assert changes >= 2 and widgets > 500
    assert counted.times <= 2.5 * changes * widgets, "each is told twice: of no style, and of the other one"


@pytest.mark.guarantee
def test_a_hidden_screen_takes_the_look_too(warm_window: Window, qtbot: Any) -> None:
    window = warm_window
    window.go("start")
    settle(qtbot, window)
    theme.choose("dark")
    window.stack.setCurrentWidget(window.page("load"))
    at_once = window.grab().toImage()
    theme.choose("light")
    theme.choose("dark")  # in view
    qtbot.waitUntil(lambda: window.grab().toImage() == at_once)
    assert at_once.pixelColor(window.width() // 2, 4).name().upper() == DARK.background.upper()
