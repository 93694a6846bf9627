"""A sheet that shapes and words are put on, and that is written as SVG. All lengths are points."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from html import escape
from itertools import accumulate

from engine.report.fonts import width_of
from engine.report.theme import Theme
from engine.report.words import word
from engine.views import Label

RISE = 0.36  # of the size: from the middle of a line of letters down to its baseline
DASHES = {"plain": "", "dashed": "5 2.5", "dotted": "1.2 2", "long": "9 2.5", "mixed": "9 2 1.2 2"}
MARKERS = ("circle", "square", "triangle", "diamond")
Point = tuple[float, float]


@dataclass(frozen=True)
class Style:
    """What every painter needs: colours, language, size of letters in points, families of letters."""

    theme: Theme
    language: str
    size: float
    families: tuple[str, ...]

    def lines(self, label: Label, room: float, *, bold: bool = False) -> tuple[str, ...]:
        """Return a label in at most two lines that fit a room, cut with an ellipsis after that."""
        words = word(label, self.language)
        if self.width(words, bold) <= room:
            return (words,)
        first, rest = self._cut(words, room, bold)
        if self.width(rest, bold) > room:
            rest = self._fit(rest, room - self.width("…", bold), bold) + "…"
        return first, rest

    def width(self, words: str, bold: bool = False) -> float:
        """Return the width of a line of words."""
        return width_of(words, self.size, bold=bold)

    def _fit(self, words: str, room: float, bold: bool) -> str:
        # Letter by letter from the front: a cell of the table may have a hundred thousand of them
        taken = accumulate(self.width(letter, bold) for letter in words)
        return words[: next((place for place, width in enumerate(taken) if width > room), len(words))]

    def _cut(self, words: str, room: float, bold: bool) -> tuple[str, str]:
        first = self._fit(words, room, bold) or words[:1]
        cut = max(first.rfind(mark) for mark in " ,·/-")
        if cut > len(first) / 3:
            first = words[: cut + 1]
        return first.rstrip(), words[len(first) :].lstrip()


@dataclass
class Canvas:
    """What was drawn so far, as SVG elements."""

    width: float
    height: float
    style: Style
    parts: list[str] = field(default_factory=list)
    words: list[str] = field(default_factory=list)

    def line(self, start: Point, end: Point, colour: str, width: float = 0.6) -> None:
        """Draw a straight line."""
        self.path((start, end), colour, width)

    def path(self, points: Iterable[Point], colour: str, width: float, dash: str = "plain") -> None:
        """Draw a line through points."""
        places = " ".join(f"{x:.2f},{y:.2f}" for x, y in points)
        dashes = f' stroke-dasharray="{DASHES[dash]}"' if DASHES[dash] else ""
        self.parts.append(
            f'<polyline points="{places}" fill="none" stroke="{colour}" stroke-width="{width:g}"'
            f' stroke-linejoin="round"{dashes}/>'
        )

    def area(self, points: Iterable[Point], colour: str, edge: str = "none") -> None:
        """Fill the area within points."""
        places = " ".join(f"{x:.2f},{y:.2f}" for x, y in points)
        self.parts.append(f'<polygon points="{places}" fill="{colour}" stroke="{edge}" stroke-width="1.1"/>')

    def box(self, left: float, top: float, width: float, height: float, colour: str, part: float = 1) -> None:
        """Fill a rectangle; ``part`` is how much of the colour covers what lies below."""
        self.parts.append(self.rectangle(left, top, width, height, colour, part))

    @staticmethod
    def rectangle(left: float, top: float, width: float, height: float, colour: str, part: float = 1) -> str:
        """Return a filled rectangle, for what has to lie below all that was drawn."""
        shade = f' fill-opacity="{part:.3f}"' if part < 1 else ""
        return (
            f'<rect x="{left:.2f}" y="{top:.2f}" width="{max(width, 0):.2f}" height="{max(height, 0):.2f}"'
            f' fill="{colour}"{shade}/>'
        )

    def mark(self, place: Point, kind: str, colour: str, edge: str, radius: float = 3) -> None:
        """Draw a marker of one of the kinds in `MARKERS`."""
        x, y = place
        if kind == "circle":
            self.parts.append(
                f'<circle cx="{x:.2f}" cy="{y:.2f}" r="{radius:g}" fill="{colour}" stroke="{edge}"'
                ' stroke-width="1.1"/>'
            )
            return
        corners = {
            "square": ((-1, -1), (1, -1), (1, 1), (-1, 1)),
            "triangle": ((-1, 0.8), (1, 0.8), (0, -1)),
            "diamond": ((-1.2, 0), (0, -1.2), (1.2, 0), (0, 1.2)),
        }[kind]
        self.area(tuple((x + radius * a, y + radius * b) for a, b in corners), colour, edge)

    def text(
        self,
        x: float,
        middle: float,
        lines: str | tuple[str, ...],
        colour: str,
        *,
        anchor: str = "start",
        bold: bool = False,
        turned: bool = False,
    ) -> None:
        """Put one or more lines of words around a height; ``anchor`` is start, middle or end."""
        size = self.style.size
        found = (lines,) if isinstance(lines, str) else lines
        families = escape(", ".join(self.style.families))
        weight = ' font-weight="700"' if bold else ""
        turn = f' transform="rotate(-40 {x:.2f} {middle:.2f})"' if turned else ""
        for number, line in enumerate(found):
            baseline = middle + RISE * size + (number - (len(found) - 1) / 2) * 1.25 * size
            self.parts.append(
                f'<text x="{x:.2f}" y="{baseline:.2f}" font-family="{families}" font-size="{size:g}"'
                f'{weight} fill="{colour}" text-anchor="{anchor}"{turn}>{escape(line, quote=False)}</text>'
            )
        self.words.append(" ".join(found))

    def svg(self) -> str:
        """Return the drawing as SVG text, the same from the same view."""
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width:g}" height="{self.height:g}"'
            f' viewBox="0 0 {self.width:g} {self.height:g}">{"".join(self.parts)}</svg>'
        )
