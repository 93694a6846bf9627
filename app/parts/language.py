"""Which language the program speaks, and Qt with it."""

from __future__ import annotations

from PySide6.QtCore import QLibraryInfo, QLocale, QTranslator
from PySide6.QtWidgets import QApplication

from app import words
from engine import texts
from engine.policy import language_set


def use_language(wanted: str) -> None:
    """Speak a language: that of the computer's rules, else the wanted one, the system's, or English."""
    application = QApplication.instance()
    chosen = language_set() or wanted or QLocale.system().name()[:2]
    words.choose_language(chosen if chosen in texts.languages() else texts.FALLBACK)
    # Numbers and dates are written as the texts write them; Qt's own words (in file dialogs) follow along.
    english = QLocale(QLocale.Language.English, QLocale.Country.UnitedKingdom)
    QLocale.setDefault(english if words.language() == texts.FALLBACK else QLocale(words.language()))
    if application is None:
        return
    for before in application.findChildren(QTranslator):
        application.removeTranslator(before)
        before.deleteLater()
    if words.language() != texts.FALLBACK:
        translator = QTranslator(application)
        folder = QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)
        if translator.load(f"qtbase_{words.language()}", folder):
            application.installTranslator(translator)
