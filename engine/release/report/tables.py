"""Tables on paper: widths from their content, numbers aligned at the point, headings on every page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from engine.release.report.paper import NOTE, QUIET, SIDE, TOP, WIDTH, Paper, Type
from engine.release.report.theme import LIGHT
from engine.release.report.words import cell, number_columns, word
from engine.views import TableView

GAP = 14.0
PAD = 4.0
NARROWEST, WIDEST = 34.0, 240.0
LONGEST_WORD = 118.0
HEAD = Type("bold", 8, LIGHT.quiet, 1.3)
CELL = Type(size=8.8, leading=1.35)


@dataclass(frozen=True)
class Column:
    """Where a column stands and how it is aligned; ``decimals`` is the room right of the decimal point."""

    x: float
    width: float
    numeric: bool
    decimals: float


@dataclass(frozen=True)
class Grid:
    """A table ready for paper: words broken into lines, columns placed."""

    columns: tuple[Column, ...]
    head: tuple[list[str], ...]
    rows: tuple[tuple[list[str], ...], ...]

    @property
    def head_height(self) -> float:
        """Height of the headings in points."""
        return _height(self.head, HEAD)

    def row_height(self, index: int) -> float:
        """Height of a row in points."""
        return _height(self.rows[index], CELL)

    @property
    def first(self) -> float:
        """Height of what must not be torn apart at the start: the headings and two rows."""
        return self.head_height + sum(self.row_height(index) for index in range(min(2, len(self.rows))))

    @property
    def height(self) -> float:
        """Height of the whole table on one page."""
        return self.head_height + sum(self.row_height(index) for index in range(len(self.rows)))


def _height(cells: tuple[list[str], ...], kind: Type) -> float:
    return max((len(lines) for lines in cells), default=1) * kind.step + 2 * PAD


def grids(paper: Paper, table: TableView, language: str) -> Iterator[Grid]:
    """Give a table in as many grids as its width needs; every grid repeats the first column."""
    heads = [word(heading, language) for heading in table.headings]
    words = [[cell(value, language) for value in row] for row in table.rows]
    numeric = number_columns(table)
    least = [_least(paper, heads[c], [row[c] for row in words]) for c in range(len(heads))]
    for chosen in _blocks(least):
        yield _grid(paper, heads, words, numeric, least, chosen)


def _least(paper: Paper, head: str, cells: list[str]) -> float:
    """Return the width that the longest single word of a column needs, within reason."""
    widest = max((paper.width_of(part, HEAD) for part in head.split(" ")), default=0.0)
    distinct = {part for words in cells for part in words.split(" ")}
    widest = max([widest, *(paper.width_of(part, CELL) for part in distinct)])
    return min(max(widest, NARROWEST), LONGEST_WORD)


def _blocks(least: list[float]) -> Iterator[list[int]]:
    """Share the columns out so that each block fits the page; the first column stands in every block."""
    room = WIDTH - 2 * SIDE
    block = [0] if least else []
    used = least[0] if least else 0.0
    for column in range(1, len(least)):
        if used + GAP + least[column] > room and len(block) > 1:
            yield block
            block, used = [0], least[0]
        block.append(column)
        used += GAP + least[column]
    yield block


def _grid(
    paper: Paper,
    heads: list[str],
    words: list[list[str]],
    numeric: tuple[bool, ...],
    least: list[float],
    chosen: list[int],
) -> Grid:
    natural = [
        min(
            max(
                paper.width_of(heads[c], HEAD),
                *(paper.width_of(text, CELL) for text in {row[c] for row in words} or {""}),
                least[c],
            ),
            max(WIDEST, least[c]),
        )
        for c in chosen
    ]
    widths = _widths([least[c] for c in chosen], natural, [numeric[c] for c in chosen])
    columns, x = [], SIDE
    for c, width in zip(chosen, widths, strict=True):
        decimals = max((_decimals(paper, row[c]) for row in words), default=0.0) if numeric[c] else 0.0
        columns.append(Column(x, width, numeric[c], decimals))
        x += width + GAP
    return Grid(
        tuple(columns),
        tuple(paper.wrap(heads[c], HEAD, column.width) for c, column in zip(chosen, columns, strict=True)),
        tuple(
            tuple(
                [row[c]] if column.numeric else paper.wrap(row[c], CELL, column.width)
                for c, column in zip(chosen, columns, strict=True)
            )
            for row in words
        ),
    )


def _widths(least: list[float], natural: list[float], numeric: list[bool]) -> list[float]:
    """Share the width of the page: enough for every column, the rest to the columns of words."""
    room = WIDTH - 2 * SIDE - GAP * (len(least) - 1)
    spare = room - sum(natural)
    if spare >= 0:
        extra = [min(spare / len(natural), 30.0) if number else 0.0 for number in numeric]
        wordy = [index for index, number in enumerate(numeric) if not number] or [0]
        rest = (spare - sum(extra)) / len(wordy)
        return [width + extra[i] + (rest if i in wordy else 0.0) for i, width in enumerate(natural)]
    wanted = [have - need for have, need in zip(natural, least, strict=True)]
    share = max(room - sum(least), 0.0) / (sum(wanted) or 1.0)
    found = [need + share * want for need, want in zip(least, wanted, strict=True)]
    over = sum(found) / room
    return [width / over for width in found] if over > 1 else found


def _decimals(paper: Paper, text: str) -> float:
    return paper.width_of(text[text.index(".") :], CELL) if "." in text else 0.0


def write(paper: Paper, grid: Grid) -> None:
    """Write a grid from the current height on, over as many pages as it takes."""
    with paper.group("Table"):
        _head(paper, grid)
        for index in range(len(grid.rows)):
            last_two = grid.row_height(index + 1) if index == len(grid.rows) - 2 else 0.0
            for piece in _pieces(grid.rows[index]):
                height = _height(piece, CELL)
                if paper.y + height + last_two > paper.floor and paper.y > TOP + grid.head_height + 1:
                    paper.add_page()
                    _head(paper, grid)
                _row(paper, grid, piece, CELL, "TD")
                paper.rule(SIDE, paper.y, WIDTH - 2 * SIDE, weight=0.4)


def _pieces(row: tuple[list[str], ...]) -> Iterator[tuple[list[str], ...]]:
    """Give a row that is taller than a page in pieces that are not."""
    most = 40
    count = max(len(lines) for lines in row)
    for start in range(0, count, most):
        yield tuple(lines[start : start + most] or [""] for lines in row)


def _head(paper: Paper, grid: Grid) -> None:
    if any(line for lines in grid.head for line in lines):
        _row(paper, grid, grid.head, HEAD, "TH")
    paper.rule(SIDE, paper.y, WIDTH - 2 * SIDE, colour=LIGHT.quiet, weight=0.8)


def _row(paper: Paper, grid: Grid, cells: tuple[list[str], ...], kind: Type, tag: str) -> None:
    height = _height(cells, kind)
    tallest = max(len(lines) for lines in cells)
    top = paper.y + PAD
    with paper.group("TR"):
        for column, lines in zip(grid.columns, cells, strict=True):
            with paper.mark(tag, scope="Column" if tag == "TH" else ""):
                y = top + (tallest - len(lines)) * kind.step if tag == "TH" else top
                if not column.numeric:
                    paper.block(column.x, y, lines, kind)
                    continue
                for number, line in enumerate(lines):
                    x = _aligned(paper, column, line, kind, tag)
                    paper.block(x, y + number * kind.step, [line], kind)
    paper.set_y(paper.y + height)


def _aligned(paper: Paper, column: Column, line: str, kind: Type, tag: str) -> float:
    """Return where a line of a number column begins: headings to the right, numbers by the point."""
    right = column.x + column.width
    if tag == "TH":
        return right - paper.width_of(line, kind)
    whole = line.split(".", 1)[0]
    return right - column.decimals - paper.width_of(whole, kind)


Pair = tuple[list[str], list[str], Type, list[str]]


def pair_height(pair: Pair) -> float:
    """Height of one named value: (name, value, its type, note) as lines."""
    names, values, kind, notes = pair
    return max(len(names) * QUIET.step, len(values) * kind.step + len(notes) * NOTE.step) + 2 * PAD


def pairs_height(pairs: list[Pair]) -> float:
    """Height of named values on one page."""
    return sum(pair_height(pair) for pair in pairs)


def key_values(paper: Paper, pairs: list[Pair], label: float) -> None:
    """Write names at the left and values at the right; the last two stay together."""
    with paper.group("Table"):
        for index, pair in enumerate(pairs):
            height = pair_height(pair)
            last_two = pair_height(pairs[index + 1]) if index == len(pairs) - 2 else 0.0
            if paper.y + height + last_two > paper.floor and paper.y > TOP:
                paper.add_page()
            _pair(paper, pair, paper.y + PAD, label)
            paper.set_y(paper.y + height)
            paper.rule(SIDE, paper.y, WIDTH - 2 * SIDE, weight=0.4)


def _pair(paper: Paper, pair: Pair, top: float, label: float) -> None:
    names, values, kind, notes = pair
    with paper.group("TR"):
        with paper.mark("TH", scope="Row"):
            paper.block(SIDE, top + (kind.step - QUIET.step) / 2, names, QUIET)
        with paper.mark("TD"):
            end = paper.block(SIDE + label, top, values, kind)
            paper.block(SIDE + label, end, notes, replace(NOTE, colour=LIGHT.quiet))
