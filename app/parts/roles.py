"""What painted widgets, and cards that are read, are to a screen reader: the toolkit cannot know it."""

from __future__ import annotations

from PySide6.QtCore import QObject
from PySide6.QtGui import QAccessible, QAccessibleInterface
from PySide6.QtWidgets import QAccessibleWidget, QWidget

Role = QAccessible.Role


def install_roles() -> None:
    """Have every widget whose class says ``SPOKEN_AS`` be that."""
    QAccessible.installFactory(_face)


def _face(key: str, thing: QObject) -> QAccessibleInterface | None:
    role = getattr(type(thing), "SPOKEN_AS", None)
    return QAccessibleWidget(thing, role) if role is not None and isinstance(thing, QWidget) else None
