"""A4 paper: embedded fonts, lines of text placed by their baseline, marks for screen readers, page ends."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any

from fpdf import FPDF

from engine.release.report.tags import Tags
from engine.release.report.theme import LIGHT, resource, rgb

WIDTH, HEIGHT = 595.28, 841.89
SIDE, TOP, BOTTOM = 56.7, 56.7, 68.0
FACES = {
    "plain": ("report", "InterReport-Regular.ttf"),
    "bold": ("report", "InterReport-Bold.ttf"),
    "code": ("DejaVuSansMono.ttf",),
    "fallback": ("DejaVuSans.ttf",),
}
LEADING = 1.45
RIGHT_TO_LEFT = ("R", "AL", "AN")


@dataclass(frozen=True)
class Type:
    """How a line is set: face, size in points, colour, distance of baselines as a multiple of the size."""

    face: str = "plain"
    size: float = 9.5
    colour: str = LIGHT.text
    leading: float = LEADING

    @property
    def step(self) -> float:
        """Distance from one baseline to the next, in points."""
        return self.size * self.leading


BODY = Type()
QUIET = Type(size=8.5, colour=LIGHT.quiet)
NOTE = Type(size=8.5)
SMALL = Type(size=7.5, colour=LIGHT.quiet)
STRONG = Type("bold")
CODE = Type("code", size=8.2)
TITLE = Type("bold", 22, leading=1.2)
SECTION = Type("bold", 14, leading=1.25)
HEADING = Type("bold", 10.5, leading=1.35)
KEY = Type("bold", 19, leading=1.25)


class Paper(FPDF):
    """A tagged PDF/A-3 in points. Page ends are decided by the writer (`need`), never by the library."""

    def __init__(self, *, title: str, language: str, made_at: datetime, footer: tuple[str, str, str]) -> None:
        super().__init__(unit="pt", format=(WIDTH, HEIGHT), enforce_compliance="PDF/A-3U")
        self.struct_builder = Tags()
        self.set_auto_page_break(False)
        self.set_margins(SIDE, TOP, SIDE)
        self.c_margin = 0
        for face, names in FACES.items():
            self.add_font(face, "", resource("fonts", *names))
        self.set_title(title)
        self.set_lang(language)
        self.set_creation_date(made_at)
        self.viewer_preferences = _show_title()
        self._left, self._middle, self._page_of = footer
        self._tagging = True
        self._runs = lru_cache(maxsize=20_000)(self._split_runs)

    @property
    def tags(self) -> Tags:
        """The logical structure."""
        tree = self.struct_builder
        assert isinstance(tree, Tags)
        return tree

    @property
    def floor(self) -> float:
        """Lowest position that content may reach."""
        return HEIGHT - BOTTOM

    def need(self, height: float) -> bool:
        """Start a new page unless this much fits below; say whether one was started."""
        if self.y + height <= self.floor or self.y <= TOP:
            return False
        self.add_page()
        return True

    # Words

    def _split_runs(self, text: str, face: str) -> tuple[tuple[str, str], ...]:
        """Return (face, words) pairs: what a face lacks comes from the fallback, or as its number."""
        if any(unicodedata.bidirectional(letter) in RIGHT_TO_LEFT for letter in text):
            from fpdf.bidi import BidiParagraph

            text = BidiParagraph(text).get_reordered_string()
        fonts: Any = self.fonts
        own, other = fonts[face].cmap, fonts["fallback"].cmap
        runs: list[tuple[str, str]] = []
        for letter in text:
            if ord(letter) in own:
                chosen, shown = face, letter
            elif ord(letter) in other:
                chosen, shown = "fallback", letter
            else:
                chosen, shown = face, f"[U+{ord(letter):04X}]"
            if runs and runs[-1][0] == chosen:
                runs[-1] = (chosen, runs[-1][1] + shown)
            else:
                runs.append((chosen, shown))
        return tuple(runs)

    def width_of(self, text: str, kind: Type) -> float:
        """Return how wide a line is, in points."""
        return sum(
            float(self.fonts[face].get_text_width(run, kind.size, None)[1])
            for face, run in self._runs(text, kind.face)
        )

    def wrap(self, text: str, kind: Type, width: float) -> list[str]:
        """Break a text into lines: at spaces, in long words after / - _ . and as a last resort anywhere."""
        lines: list[str] = []
        line = ""
        for word in filter(None, text.split(" ")):
            tried = f"{line} {word}" if line else word
            if self.width_of(tried, kind) <= width:
                line = tried
                continue
            if line:
                lines.append(line)
            *full, line = self._pieces(word, kind, width)
            lines.extend(full)
        return [*lines, line] if line or not lines else lines

    def _pieces(self, word: str, kind: Type, width: float) -> list[str]:
        pieces: list[str] = []
        while self.width_of(word, kind) > width and len(word) > 1:
            end = len(word) - 1
            while end > 1 and self.width_of(word[:end], kind) > width:
                end -= 1
            nice = max(word.rfind(mark, end // 2, end) for mark in "/-_.,·")
            end = nice + 1 if nice > 0 else end
            pieces.append(word[:end])
            word = word[end:]
        return [*pieces, word]

    def place(self, x: float, baseline: float, text: str, kind: Type) -> None:
        """Write one line with its baseline at a height; nothing is marked here."""
        self.set_text_color(*rgb(kind.colour))
        for face, run in self._runs(text, kind.face):
            self.set_font(face, size=kind.size)
            self.text(x, baseline, run)
            x += float(self.fonts[face].get_text_width(run, kind.size, None)[1])

    def block(self, x: float, y: float, lines: list[str], kind: Type) -> float:
        """Write lines from a top edge; return the bottom edge."""
        for number, line in enumerate(lines):
            self.place(x, y + number * kind.step + kind.step / 2 + kind.size * 0.36, line, kind)
        return y + len(lines) * kind.step

    # Marks for screen readers

    @contextmanager
    def mark(self, kind: str, *, alt: str | None = None, scope: str = "") -> Iterator[None]:
        """Everything written inside is one element of this kind (P, H1, TD, Figure …)."""
        piece, parents = self.tags.leaf(kind, self.page, alt=alt, scope=scope)
        self.pages[self.page].struct_parents = parents
        self._out(f"/{kind} <</MCID {piece}>> BDC")
        yield
        self._out("EMC")

    @contextmanager
    def decoration(self) -> Iterator[None]:
        """Everything written inside is no content: lines, boxes, the foot of the page."""
        self._out("/Artifact BMC")
        yield
        self._out("EMC")

    @contextmanager
    def group(self, kind: str) -> Iterator[None]:
        """Elements written inside belong together (Table, TR, L)."""
        with self.tags.group(kind, self.page):
            yield

    def rule(self, x: float, y: float, width: float, colour: str = LIGHT.line, weight: float = 0.6) -> None:
        """Draw a horizontal line."""
        with self.decoration():
            self.set_draw_color(*rgb(colour))
            self.set_line_width(weight)
            self.line(x, y, x + width, y)

    def box(self, x: float, y: float, width: float, height: float, colour: str, radius: float = 4) -> None:
        """Fill a rounded box."""
        with self.decoration():
            self.set_fill_color(*rgb(colour))
            self.rect(x, y, width, height, style="F", round_corners=radius > 0, corner_radius=radius)

    def footer(self) -> None:
        """Print on every page: the bundle, whether it may leave, the page."""
        page = self._page_of.replace("#", str(self.page_no()))
        with self.decoration():
            self.set_draw_color(*rgb(LIGHT.line))
            self.set_line_width(0.6)
            self.line(SIDE, HEIGHT - 48, WIDTH - SIDE, HEIGHT - 48)
            self.place(SIDE, HEIGHT - 34, self._left, SMALL)
            middle = Type("bold", SMALL.size, SMALL.colour)
            self.place((WIDTH - self.width_of(self._middle, middle)) / 2, HEIGHT - 34, self._middle, middle)
            self.place(WIDTH - SIDE - self.width_of(page, SMALL), HEIGHT - 34, page, SMALL)


def _show_title() -> Any:
    from fpdf.prefs import ViewerPreferences

    return ViewerPreferences(display_doc_title=True)
