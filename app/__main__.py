"""``python -m app [PLAN, TABLE OR RELEASE] [--lang LANG] [--theme NAME] [--debug]``: open the window."""

from __future__ import annotations

import multiprocessing
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from PySide6.QtWidgets import QApplication

    from app.state.settings import Settings

REOPEN = 64  # what an event loop returns where the window is to be opened again
COMMAND = "python -m app" if __package__ == "app" and not hasattr(sys, "frozen") else "custos-desktop"
"""How it is started: from a checkout, or installed or built."""


def main(arguments: list[str] | None = None) -> int:
    """Show the window and return its exit status."""
    words = sys.argv[1:] if arguments is None else arguments
    given = make_parser(words).parse_args(words)

    from app.application import make_application
    from app.log import DEBUG
    from app.state.settings import Settings
    from engine.memory import leave_no_core

    if given.debug:
        os.environ[DEBUG] = "1"
    else:
        leave_no_core()
    settings = Settings()
    application = make_application(sys.argv[:1], settings, language=given.lang, look=given.theme)
    return open_window(application, settings, given.file)


def make_parser(words: list[str]) -> argparse.ArgumentParser:
    """Return what reads the command line, and says its help in the language that the line names."""
    from engine.commands.command import Parser, spoken_in

    Parser.language = spoken_in(words, "--lang")
    parser = Parser(prog=COMMAND, description="commands.desktop.program")
    parser.add_argument("file", nargs="?", help="commands.desktop.file")
    parser.add_argument("--lang", help="commands.desktop.lang")
    parser.add_argument("--theme", choices=("system", "light", "dark"), help="commands.desktop.theme")
    parser.add_argument("--debug", action="store_true", help="commands.desktop.debug")
    return parser


def open_window(application: QApplication, settings: Settings, file: str | None = None) -> int:
    """Show the window until it is closed, and return the exit status.

    Where everything is to be drawn in another size, an application and its window are made again over the
    same study: the toolkit reads the size once. Nothing is read or asked a second time.
    """
    from functools import partial

    from shiboken6 import delete

    from app import words
    from app.application import make_application
    from app.frame.window import Window
    from app.theme import theme
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


if __name__ == "__main__":
    multiprocessing.freeze_support()
    sys.exit(main())
