"""Making the application: fonts, colours, language, and what happens to an error nobody foresaw."""

from __future__ import annotations

import os
import sys
from functools import partial
from importlib.resources import files
from types import TracebackType
from typing import Protocol, runtime_checkable

from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QApplication
from shiboken6 import delete

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


REOPEN = 64  # what an event loop returns where the window is to be opened again


def open_window(application: QApplication, settings: Settings, file: str | None = None) -> int:
    """Show the window until it is closed, and return the exit status.

    Where everything is to be drawn in another size, an application and its window are made again over the
    same study: the toolkit reads the size once. Nothing is read or asked a second time.
    """
    from app.frame.window import Window
    from app.work.tidying import Tidying

    study, step = None, ""
    while True:
        tidying = Tidying()
        window = Window(study, settings, reopen=partial(application.exit, REOPEN))
        window.resize(settings.get("width", 1366), settings.get("height", 768))
        if settings.get("maximised", False):
            window.showMaximized()
        else:
            window.show()
        if step:
            window.go(step)
            window.say_zoom()
        elif file:
            window.open_file(file)
        status = application.exec()
        tidying.stop()
        if status != REOPEN:
            return status
        study, step = window.study, window.step
        study.tell_nobody()
        drawn, wanted = float(os.environ.get("QT_SCALE_FACTOR", "1")), settings.get("zoom", 100) / 100
        window.close()
        settings.set(
            width=round(window.width() * drawn / wanted), height=round(window.height() * drawn / wanted)
        )
        os.environ["QT_SCALE_FACTOR"] = str(wanted)
        delete(window)
        delete(application)
        application = make_application(sys.argv[:1], settings, language=words.language(), look=theme.mode)
