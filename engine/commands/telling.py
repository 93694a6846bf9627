"""How commands speak to people: tables, how far long work is, and what a misspelt name may have meant."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, TextIO

from engine import texts
from engine.progress import Progress

if TYPE_CHECKING:
    from engine.views import View

BETWEEN = "  "
NARROWEST = 12
LIKE = 0.6
SOONEST, OFTEN = 1.0, 0.1
"""Seconds after which time left is told, and between two lines of progress."""


def table_lines(headings: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    """Yield a table for people: columns below each other, the last one cut where the terminal ends.

    Examples
    --------
    >>> list(table_lines(("id", "n"), [("counts", 2), ("means", 10)]))
    ['id      n', 'counts  2', 'means   10']
    """
    # a title of two lines would stand there as another row
    lines = [[" ".join(str(cell).splitlines()) for cell in row] for row in (headings, *rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    left = shutil.get_terminal_size((120, 24)).columns - sum(widths[:-1]) - len(BETWEEN) * (len(widths) - 1)
    widths[-1] = max(min(widths[-1], left), NARROWEST) if sys.stdout.isatty() else widths[-1]
    for line in lines:
        cells = [cell.ljust(width) for cell, width in zip(line, widths, strict=True)]
        if len(line[-1]) > widths[-1]:
            cells[-1] = line[-1][: widths[-1] - 1] + "…"
        yield BETWEEN.join(cells).rstrip()


def heads(names: str, language: str) -> tuple[str, ...]:
    """Return the headings of a table by their names."""
    return tuple(texts.text(f"commands.heads.{name}", language=language) for name in names.split())


def say_view(view: View, language: str) -> Iterator[str]:
    """Return a view as lines: paragraphs, rows; a drawing has none."""
    from engine.report.words import FIRM_SPACE, cell, word
    from engine.views import TableView, TextView

    def plain(words: str) -> str:
        return words.replace(FIRM_SPACE, " ")

    if isinstance(view, TextView):
        yield from (plain(word(paragraph, language)) for paragraph in view.paragraphs)
    elif isinstance(view, TableView):
        yield plain(word(view.title, language))
        for row in (view.headings, *view.rows):
            yield "  " + " | ".join(plain(cell(one, language)) for one in row)


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the name that is most like a misspelt one; None where none is like it, or it is there.

    Examples
    --------
    >>> nearest("colums", ("columns", "noise")), nearest("statistics.count", ["statistics.counts"])
    ('columns', 'statistics.counts')
    >>> nearest("columns", ("columns",)), nearest("zzz", ("columns",))
    (None, None)
    """
    names = {one.casefold(): one for one in known}
    if name in names.values():
        return None
    found = get_close_matches(name.casefold(), names, n=1, cutoff=LIKE)
    return names[found[0]] if found else None


def meant(values: Mapping[str, Any], *, language: str = "en") -> str:
    """Return the question what was meant, from an error's values; empty where there is nothing to ask.

    The names that there are stand under ``known``; the misspelt one is another of its values.

    Examples
    --------
    >>> meant({"method": "statistics.cuonts", "known": "statistics.counts, statistics.means"})
    'Did you mean “statistics.counts”?'
    """
    known = values.get("known", "")
    names = known.split(", ") if isinstance(known, str) else list(known)
    words = [value for name, value in values.items() if name not in ("known", "file")]
    given = [value for value in words if isinstance(value, str)]
    found = [one for one in (nearest(value, names) for value in given) if one is not None]
    return texts.text("commands.did_you_mean", language=language, name=found[0]) if found else ""


class Telling:
    """Says on standard error how far work is and how long it will take, where somebody sits at a terminal.

    Parameters
    ----------
    stream
        Written to if it is a terminal; a program that reads it gets nothing.

    Examples
    --------
    >>> import io
    >>> with Telling("en", io.StringIO()) as telling:
    ...     telling.progress.step(0.5, "run.noise")
    >>> telling.stream.getvalue()
    ''
    """

    def __init__(self, language: str, stream: TextIO | None = None) -> None:
        self.language, self.stream = language, stream or sys.stderr
        self.is_seen = self.stream.isatty()
        self.progress = Progress(self._say if self.is_seen else None)
        self._started = self._last = time.monotonic()

    def __enter__(self) -> Telling:
        return self

    def __exit__(self, *how: object) -> None:
        if self.is_seen:
            self.stream.write("\r\x1b[K")  # the line is taken back
            self.stream.flush()

    def _say(self, share: float, stage: str) -> None:
        now = time.monotonic()
        if now - self._last < OFTEN:
            return
        self._last, gone = now, now - self._started
        text_id = f"stages.{stage}"
        words = texts.text(text_id, language=self.language) if texts.has(text_id) else ""
        if share > 0 and gone >= SOONEST:
            left = texts.text("commands.time_left", language=self.language, time=_clock(gone / share - gone))
            words = f"{words} · {left}"
        width = shutil.get_terminal_size().columns - 1
        self.stream.write(f"\r\x1b[K{f'{share:4.0%} {words}'[:width]}")
        self.stream.flush()


def _clock(seconds: float) -> str:
    """Write a time, rounded up to what one cares for.

    >>> _clock(0.2), _clock(75), _clock(4000)
    ('1 s', '1:15', '1:06:40')
    """
    whole = max(1, round(seconds))
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
