"""Colour, type and space: one set of tokens, light and dark, and the style sheet made from them.

    theme.tokens().accent            the colour that is right now
    theme.changed.connect(repaint)   light ↔ dark
    theme.text_font(13, 600), theme.mono_font(12)

Widgets never name a colour: they take a token, or are styled by ``resources/style/window.qss``, in which
``@accent`` stands for the token of that name.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from functools import lru_cache
from importlib.resources import as_file, files
from typing import Any

from PySide6.QtCore import QObject, QRegularExpression, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontDatabase, QFontInfo, QPalette
from PySide6.QtWidgets import QApplication, QLineEdit, QPlainTextEdit, QWidget

from engine.report import theme as drawn

MODES = ("system", "light", "dark")
TEXT_FAMILY, MONO_FAMILY = "Inter", "DejaVu Sans Mono"


@dataclass(frozen=True)
class Tokens(drawn.Theme):
    """The colours of a drawing, and what only a window needs, as ``#RRGGBB``."""

    accent_hover: str
    on_accent: str
    wrong_soft: str
    edge: str  # of what is pressed or written into: at least 3 to 1 on surface and background
    is_dark: bool = False

    def colour(self, name: str) -> QColor:
        """Return a token as a colour of Qt."""
        return QColor(_colour(getattr(self, name)))


@lru_cache(maxsize=64)
def _colour(written: str) -> QColor:
    return QColor(written)


LIGHT = Tokens(
    **vars(drawn.LIGHT), accent_hover="#0B5757", on_accent="#FFFFFF", wrong_soft="#FBE9E7", edge="#8A8478"
)
DARK = Tokens(
    **vars(drawn.DARK),
    accent_hover="#7AD3CE",
    on_accent="#12201F",
    wrong_soft="#3A2120",
    edge="#7A8494",
    is_dark=True,
)


class _Told(QObject):
    """What others hear of; ends with its application, as every object of the toolkit does."""

    changed = Signal()


class Theme:
    """The tokens in use; follows the system unless the person chose."""

    def __init__(self) -> None:
        self._mode = "system"
        self._tokens = LIGHT
        self.only_colours = False  # while widgets are styled anew and keep their sizes
        self._told = _Told()

    def begin(self) -> None:
        """Begin for an application that has just been made: nobody listens yet."""
        self._told = _Told()
        QApplication.styleHints().colorSchemeChanged.connect(lambda scheme: self.refresh())

    @property
    def changed(self) -> Any:
        """The signal that other tokens are right now."""
        return self._told.changed

    @property
    def mode(self) -> str:
        """``system``, ``light`` or ``dark``."""
        return self._mode

    def tokens(self) -> Tokens:
        """Return the colours in use."""
        return self._tokens

    def choose(self, mode: str) -> None:
        """Follow the system, or stay light or dark."""
        self._mode = mode if mode in MODES else "system"
        self.refresh()

    def refresh(self) -> None:
        """Take the tokens that are right now and style the application with them."""
        dark = self._mode == "dark"
        if self._mode == "system":
            dark = QApplication.styleHints().colorScheme() == Qt.ColorScheme.Dark
        self._tokens = DARK if dark else LIGHT
        application = QApplication.instance()
        if isinstance(application, QApplication):
            application.setPalette(palette(self._tokens))
            restyle(application, style_sheet(self._tokens))
        self.changed.emit()


theme = Theme()


def restyle(application: QApplication, sheet: str) -> None:
    """Give the application another style sheet.

    Where one sheet follows another, Qt styles every widget once for each widget that it lies in; from no
    sheet at all it styles each once, which is several times as fast. Nine of ten widgets lie on screens that
    nobody sees: marked as having a style of their own, they are passed over, and, as not polished, they are
    styled when they are shown.
    """
    if application.styleSheet() == sheet:
        return
    own, polished = Qt.WidgetAttribute.WA_SetStyle, Qt.WidgetAttribute.WA_WState_Polished
    grounds, plain = _grounds(application), QPalette()
    unseen, fields = list[QWidget](), list[QWidget]()
    for one in application.allWidgets():
        visible = one.isVisible()
        marked = not visible and not one.testAttribute(own)
        if marked:
            unseen.append(one)
        if (visible or marked) and (isinstance(one, QLineEdit | QPlainTextEdit) or one in grounds):
            fields.append(one)
    for one in unseen:
        one.setAttribute(own, True)
        one.setAttribute(polished, False)
    theme.only_colours = bool(application.styleSheet())
    try:
        application.setStyleSheet("")
        for one in fields:
            if one.isVisible():
                one.setPalette(plain)  # else it keeps its colour where the look changed twice while hidden
        application.setStyleSheet(sheet)
        for one in unseen:
            one.setAttribute(own, False)
        for one in fields:
            if not one.isVisible():
                one.setPalette(plain)  # else a ground keeps its colour, a field that of what it says empty
    finally:
        theme.only_colours = False


def _grounds(application: QApplication) -> set[QObject]:
    """Return the grounds of the screens: each page, what it scrolls, and what lies directly in it."""
    found: set[QObject] = set()
    for window in application.topLevelWidgets():
        found.update(window.findChildren(QWidget, "pageBody"))
        for page in window.findChildren(QWidget, QRegularExpression("^page-")):
            found.update((page, *page.children()))
    return found


@lru_cache(maxsize=4)
def style_sheet(tokens: Tokens) -> str:
    """Return the style sheet with every ``@token`` filled in."""
    written = (files("resources") / "style" / "window.qss").read_text(encoding="utf-8")
    values = asdict(tokens)
    values["icons"] = icon_folder()
    values["shade"] = "dark" if tokens.is_dark else "light"
    return re.sub(r"@([a-z_]+)", lambda match: str(values[match.group(1)]), written)


def polish(*widgets: QWidget) -> None:
    """Style widgets anew after a property changed that the style sheet looks at."""
    for widget in widgets:
        style = widget.style()
        style.unpolish(widget)
        style.polish(widget)


def icon_folder() -> str:
    """Return the folder of the icons as the style sheet wants it."""
    return str(files("resources") / "icons").replace("\\", "/")


def palette(tokens: Tokens) -> QPalette:
    """Return the colours for what no style sheet reaches: placeholders, selections, links, disabled text."""
    made = QPalette()
    role = QPalette.ColorRole
    for target, name in (
        (role.Window, "background"),
        (role.Base, "surface"),
        (role.AlternateBase, "background"),
        (role.Button, "surface"),
        (role.WindowText, "text"),
        (role.Text, "text"),
        (role.ButtonText, "text"),
        (role.ToolTipBase, "surface"),
        (role.ToolTipText, "text"),
        (role.PlaceholderText, "quiet"),
        (role.Highlight, "accent_soft"),
        (role.HighlightedText, "text"),
        (role.Link, "accent"),
        (role.LinkVisited, "accent"),
        (role.Accent, "accent"),
    ):
        made.setColor(target, tokens.colour(name))
    for target in (role.WindowText, role.Text, role.ButtonText):
        made.setColor(QPalette.ColorGroup.Disabled, target, tokens.colour("quiet"))
    return made


def load_fonts() -> None:
    """Register the fonts that ship with the program; no font of the system is needed."""
    with as_file(files("resources") / "fonts") as folder:
        for entry in sorted(folder.iterdir()):
            if entry.suffix in (".otf", ".ttf"):
                QFontDatabase.addApplicationFont(str(entry))


def text_font(pixels: int = 13, weight: int = 400, *, tabular: bool = True) -> QFont:
    """Return the text face; figures are tabular so that columns of numbers align, large ones are not."""
    return QFont(_text_font(pixels, weight, tabular))  # a copy: a face that is given out may be changed


@lru_cache(maxsize=64)
def _text_font(pixels: int, weight: int, tabular: bool) -> QFont:
    font = QFont(TEXT_FAMILY)
    font.setPixelSize(pixels)
    font.setWeight(QFont.Weight(weight))
    if tabular:
        font.setFeature(QFont.Tag("tnum"), 1)
    font.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
    return font


def mono_font(pixels: int = 12) -> QFont:
    """Return the face of column names and codes."""
    font = QFont(MONO_FAMILY)
    font.setPixelSize(pixels)
    return font


def has_real_font() -> bool:
    """Say whether letters will be drawn; without any font Qt draws empty boxes and says nothing."""
    return QFontInfo(text_font()).family() != ""
