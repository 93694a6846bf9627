"""Ends of lines: one of them ends a row, as the options say; any other one is content of its cell.

The readers below take every end of line for the end of a row. What is content is therefore hidden from them
behind signs of its own, and shown again in the cells.
"""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa
import pyarrow.compute as pc

from engine.table.cells import Cells
from engine.table.reading.options import ReadOptions

_CONTROLS = "\x01\x02\x03\x04\x05\x06\x07\x0e\x0f"
_CONTENT = {"\n": r"\r(?!\n)", "\r": r"(?<!\r)\n", "\r\n": r"\r(?!\n)|(?<!\r)\n"}
_PIECE = 1 << 20
_SPELT = dict.fromkeys(map(ord, "\r\n"), "\ufffd")


@dataclass(frozen=True)
class LineEnds:
    """Which end of line ends a row, and the signs that stand for those that do not.

    A carriage return with a newline behind it is one end, whichever of its two halves ends rows: a line of
    Windows among others is a line.

    Examples
    --------
    >>> ends = LineEnds.of(ReadOptions(line_ends="\\n"))
    >>> hidden = ends.hidden("a,x\\ry\\r\\nb,z\\n")
    >>> hidden.splitlines(), ends.shown(hidden) == "a,x\\ry\\r\\nb,z\\n"
    (['a,x\\x01\\x03y', 'b,z'], True)
    """

    end: str
    mark: str
    itself: str
    carriage: str
    newline: str

    @staticmethod
    def of(options: ReadOptions) -> LineEnds:
        """Return the end of lines that options say; a newline where they say none."""
        marks = (options.delimiter or "", options.quote or "", options.escape or "")
        return LineEnds(options.line_ends or "\n", *[sign for sign in _CONTROLS if sign not in marks][:4])

    def has_content(self, piece: bytes) -> bool:
        """Say whether some ends of lines end no row."""
        carriages, newlines = piece.count(b"\r"), piece.count(b"\n") if self.end != "\n" else 0
        if not carriages and not newlines:
            return False
        pairs = piece.count(b"\r\n")
        return (carriages > pairs and self.end != "\r") or newlines > pairs

    def hidden(self, text: str) -> str:
        """Return text with every end of line hidden that ends no row."""
        whole = text.replace(self.mark, self.mark + self.itself)
        return re.sub(_CONTENT[self.end], lambda found: self._sign(found.group()), whole)

    def hidden_bytes(self, piece: bytes) -> bytes:
        """Do the same with bytes; a piece does not end between the halves of one end."""
        mark = self.mark.encode()
        whole = piece.replace(mark, mark + self.itself.encode())
        pattern = _CONTENT[self.end].encode()
        return re.sub(pattern, lambda found: self._sign(found.group().decode()).encode(), whole)

    def shown(self, text: str) -> str:
        """Return text as it was before it was hidden."""
        if self.mark not in text:
            return text
        for sign, meant in self._signs():
            text = text.replace(sign, meant)
        return text

    def shown_cells(self, cells: Cells) -> tuple[Cells, Cells]:
        """Return cells of bytes as they were, and which of them hold an end of line that ends no row."""
        held = pc.or_(*(pc.match_substring(cells, sign.encode()) for sign, _ in self._signs()[:2]))
        for sign, meant in self._signs():
            cells = pc.replace_substring(cells, sign.encode(), meant.encode())
        return cells, held

    def _sign(self, end: str) -> str:
        return self.mark + (self.carriage if end == "\r" else self.newline)

    def _signs(self) -> tuple[tuple[str, str], ...]:
        return (self._sign("\r"), "\r"), (self._sign("\n"), "\n"), (self.mark + self.itself, self.mark)


def run_over(columns: list[pa.ChunkedArray]) -> bool:
    """Say whether a cell runs over the end of its line: an end that is not hidden is one that ends rows."""
    return any(
        _has_end(chunk) and pc.any(pc.match_substring(chunk, end)).as_py()
        for column in columns
        for chunk in column.chunks
        for end in (b"\n", b"\r")
    )


def _has_end(chunk: pa.Array) -> bool:
    """Say whether the bytes behind cells hold an end of line: a tenth of the time of asking every cell."""
    data = chunk.buffers()[-1]
    if data is None:
        return False
    content = data.to_pybytes()
    return b"\n" in content or b"\r" in content


class _Source(Protocol):
    def read(self, size: int = -1, /) -> bytes: ...


class Readable(io.RawIOBase):
    """A stream of bytes that says by `read` alone what it gives."""

    def readable(self) -> bool:
        """Say that it can be read."""
        return True

    def readinto(self, buffer: object) -> int:
        """Read into a buffer."""
        view = memoryview(buffer).cast("B")  # type: ignore[arg-type]
        piece = self.read(len(view))
        view[: len(piece)] = piece
        return len(piece)


class Lines(Readable):
    """Bytes of a text as the readers take them: a superset of ASCII, with what ends no row hidden.

    Parameters
    ----------
    source
        The file.
    ends
        What ends a row.
    hides
        Whether the others are hidden; if not, ``has_content`` says at the end whether there were some.
    encoding
        Of a text in which not every byte below 128 stands for itself: it is turned into UTF-8.
    sought
        Bytes that are looked for; ``has_sought`` says at the end whether they went by.
    closes
        Whether the last line gets an end if it has none.
    """

    def __init__(
        self,
        source: _Source,
        ends: LineEnds,
        *,
        hides: bool,
        encoding: str | None = None,
        sought: bytes = b"",
        closes: bool = False,
    ) -> None:
        self._source, self._ends, self._hides = source, ends, hides
        self._decode = None if encoding is None else decoder_of(encoding)
        self._ready, self._held, self._is_over = b"", b"", False
        self._sought, self._before = sought, b""
        self._closes, self._last = closes, b""
        self.has_content = self.has_sought = False

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes."""
        wanted = size if size > 0 else _PIECE
        while not self._ready and not self._is_over:
            piece = self._source.read(wanted)
            self._is_over = not piece
            self._ready = self._closed(self._prepared(piece))
            if self._sought and not self.has_sought:
                self.has_sought = self._sought in self._before + self._ready
                self._before = self._ready[-len(self._sought) :]
        # Arrow takes a piece that is nothing but the second half of an end for the end of the file.
        cut = wanted - (wanted > 1 and self._ready[wanted - 1 : wanted + 1] == b"\r\n")
        found, self._ready = self._ready[:cut], self._ready[cut:]
        return found

    def _closed(self, piece: bytes) -> bytes:
        self._last = piece[-1:] or self._last
        missing = self._closes and self._is_over and self._last not in (b"", b"\n", b"\r")
        return piece + self._ends.end.encode() if missing else piece

    def _prepared(self, piece: bytes) -> bytes:
        if self._decode is not None:
            piece = self._decode(piece).encode("utf-8", "replace")
        if self._held:
            piece, self._held = self._held + piece, b""
        if piece.endswith(b"\r") and not self._is_over:  # its other half may come
            piece, self._held = piece[:-1], b"\r"
        if self._hides:
            return self._ends.hidden_bytes(piece)
        self.has_content = self.has_content or self._ends.has_content(piece)
        return piece


def decoder_of(encoding: str) -> Callable[[bytes], str]:
    """Return what turns pieces of a file into text, the last one being empty.

    Notes
    -----
    Where a line ends can be told from its bytes, each line is decoded by itself: in some encodings a cell can
    otherwise change how all that follows is understood. UTF-16 and UTF-32 have no such bytes.
    """
    if codecs.lookup(encoding).name.startswith(("utf-16", "utf-32")):
        whole = codecs.getincrementaldecoder(encoding)(errors="replace")
        return lambda piece: whole.decode(piece, final=not piece)
    begun: list[bytes] = []
    ends_by_bytes = b"\r\n".decode(encoding, "replace") == "\r\n"

    def decoded(part: bytes) -> str:
        text = part.decode(encoding, "replace")
        # One that is spelt out, as UTF-7 and escapes can, is content: it would make rows out of one cell.
        return text if part[:1] in b"\r\n" or not ends_by_bytes else text.translate(_SPELT)

    def decode(piece: bytes) -> str:
        upto = max(piece.rfind(b"\n"), piece.rfind(b"\r")) + 1 if piece else 0
        if piece and not upto:
            begun.append(piece)
            return ""
        lines = b"".join([*begun, piece[:upto]])
        begun[:] = [piece[upto:]]
        # The ends apart: what begins a character of two bytes must not take one of them.
        return "".join(decoded(part) for part in re.findall(rb"[^\r\n]+|[\r\n]+", lines))

    return decode
