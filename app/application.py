"""Making the application: fonts, colours, language, and what happens to an error nobody foresaw."""

from __future__ import annotations

import os
import sys
from importlib.resources import files
from types import TracebackType
from typing import Protocol, runtime_checkable

from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QApplication

from app import log, words
from app.parts.first_things import MARKS
from app.parts.language import use_language
from app.parts.reading_numbers import read_as_at
from app.parts.roles import install_roles
from app.state.settings import Settings
from app.theme import has_real_font, load_fonts, text_font, theme


@runtime_checkable
class Notifies(Protocol):
    """A window that says what went wrong; a page hands that on to its window, so it is none itself."""

    def notify(self, what: str, do: str = "", *, tone: str = "wrong") -> None: ...

    def unexpected(self, error: BaseException) -> None: ...


def make_application(
    arguments: list[str], settings: Settings, *, language: str | None = None, look: str | None = None
) -> QApplication:
    """Return the application, ready for its first window.

    Parameters
    ----------
    arguments
        As Qt wants them, the name of the program first.
    settings
        What the person chose before; ``language`` and ``look`` of the command line go before it.
    """
    existing = QApplication.instance()
    percent = settings.get("zoom", 100)
    if existing is None and percent != 100:  # read once by the toolkit, before there is a window
        os.environ.setdefault("QT_SCALE_FACTOR", str(percent / 100))
    application = existing if isinstance(existing, QApplication) else QApplication(arguments)
    application.setApplicationName("custos")
    application.setApplicationDisplayName("Custos")
    application.setStyle("Fusion")
    install_roles()
    application.setWindowIcon(QIcon(str(files("resources") / "icons" / "custos.svg")))
    load_fonts()
    if has_real_font():
        application.setFont(text_font())
    use_language(language or settings.get("language", ""))
    read_as_at(MARKS.get(settings.get("numbers", "ask"), ""))
    if existing is None:
        theme.begin()
    theme.choose(look or settings.get("theme", "system"))
    sys.excepthook = _excepthook
    return application


def _excepthook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Neither the screen nor the log gets the text of an exception: it may quote a cell."""
    if issubclass(kind, KeyboardInterrupt):
        sys.exit(130)
    error = error.with_traceback(trace)
    log.keep(error)
    for window in QApplication.topLevelWidgets():
        if isinstance(window, Notifies):
            window.notify(words.say("app.window.unexpected.what"), words.say("app.window.unexpected.do"))
