"""Whether a server of a custodian's tells cells apart as this program does, tried on a table of its own.

The odd table stands in the queries themselves: no relation is read, and nothing is written. What the server
answers is compared with what is read of the same table from a file, cell by cell.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
from pyarrow import parquet

from engine.errors import InputRefused
from engine.progress import SILENT, Progress
from engine.table.declared import as_declared, people_of
from engine.table.grouped import Asking, Grouped, learn_forms
from engine.table.reading.options import SERVER_FORMATS, ReadOptions
from engine.table.reading.readers import read_table
from engine.table.schema import Column, Kind, Role, Schema
from engine.table.server import Server
from engine.table.table import Table

TEXTS: Mapping[str, tuple[str | None, ...]] = {
    "capitals": ("f", "F"),
    "accents": ("a", "ä", "á", "Köln", "Koln"),
    "blanks_behind": ("x", "x ", "x  "),
    "blanks_before": (" x", "\tx", "\u200bx"),
    "empty": ("", None),
    "quotes": ("no one's", "''", '"', "`", "]"),
    "backslashes": ("\\", "\\n", "a\\\nb", "\\'"),
    "line_ends": ("a\nb", "a\r\nb"),
    "wide_signs": ("😀", "日本"),
    "placeholders": ("${env:HOME}", "{pairs 1}", "%s", ":x", "?", "&y", "--", ";"),
    "written_numbers": ("1", "1.0", "1e1", "+7", "01"),
    "long_texts": ("n" * 900, "n" * 901),
}
"""What one server or another joins, drops or reads as something else, by the name of the pitfall."""
NUMBERS: Mapping[str, tuple[str, str, tuple[str | None, ...]]] = {
    "whole_numbers": ("whole", "whole", ("0", "-1", "9007199254740993", "-9007199254740993", None)),
    "decimal_numbers": ("decimal", "decimal", ("1.5", "1.50", "0.1", "-0.25", "12345678901234.5678", None)),
    "double_numbers": ("double", "double", ("0", "-0.0", "0.1", "1e308", "1e-300", "-2.5", None)),
    "endless_numbers": ("endless", "endless", ("NaN", "Infinity", "-Infinity", "1", None)),
    "truth_values": ("yes_no", "yes_no", ("true", "false", None)),
    "days": ("day", "day", ("1970-01-01", "1969-12-31", "0001-01-01", "9999-12-31", "2020-02-29", None)),
    "moments": (
        "moment",
        "moment",
        ("2020-01-01 10:00:00.123456", "2020-01-01 10:00:00.123457", "1969-12-31 23:59:59.5", None),
    ),
}
"""The same of other types: name of the column, what it holds, and its cells."""
KEYS = (" 7", "7", "+7.0", "7 ", "p1", "P1", "p1 ", "it's", "\\", None, "", "  ", "ä", "a", "7.5", "${x}")
"""Person keys, of which some are the same written otherwise."""
KEY, TEXT = "person", "text"
_CAP, _ROWS = 3, 96
_KINDS = {
    "whole": Kind.INTEGER,
    "decimal": Kind.NUMBER,
    "double": Kind.NUMBER,
    "endless": Kind.NUMBER,
    "day": Kind.DATE,
}


@dataclass(frozen=True)
class SelfTest:
    """What a server was asked, and for each pitfall whether it answers as a file does.

    ``answers`` has None where the server has nothing of the kind. ``has_one_state`` says whether all its
    queries see one state of the rows; where not, a release compares them.
    """

    engine: str
    answers: Mapping[str, bool | None]
    has_one_state: bool
    asked: tuple[Mapping[str, Any], ...]

    @property
    def passed(self) -> bool:
        """Whether no pitfall is open."""
        return False not in self.answers.values()

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "engine": self.engine,
            "passed": self.passed,
            "one_state": self.has_one_state,
            "answers": dict(self.answers),
            "asked": list(self.asked),
        }


def odd_columns() -> list[tuple[str, str, list[str | None]]]:
    """Return the odd table: of each column its name, what it holds and its cells as they are written."""
    told = [cell for cells in TEXTS.values() for cell in cells]
    columns = [(KEY, "text", KEYS), (TEXT, "text", tuple(told))]
    columns += [(name, family, cells) for name, family, cells in NUMBERS.values()]
    # strides without a common divisor: other cells stand beside each other in every row
    return [
        (name, family, [cells[(row * (1 + place)) % len(cells)] for row in range(_ROWS)] if place > 1 else
         [cells[row % len(cells)] for row in range(_ROWS)])
        for place, (name, family, cells) in enumerate(columns)
    ]  # fmt: skip


def try_server(path: Path, password: str | None, *, progress: Progress = SILENT) -> SelfTest:
    """Ask a server about the odd table, and compare every answer with what is read from a file.

    Parameters
    ----------
    path
        The file that names the server; the relation in it is not asked.
    password
        Of the user that it names.

    Raises
    ------
    InputRefused
        What `Server` refuses.
    """
    columns = odd_columns()
    answers, asked = dict[str, bool | None](), list[Mapping[str, Any]]()
    progress.step(0.0, "server.connecting")
    while True:  # a query that the server cannot answer ends the connection: the others have one of their own
        with closing(Server(path, password, progress, inline=columns)) as server:
            known = [one for one in columns if one[0] in server.cells]
            checks = _Compared(server, _read_from_file(known), _schema(known)).checks()
            try:
                for name in [name for name in checks if name not in answers]:
                    progress.step(len(answers) / len(checks), "server.values")
                    answers[name] = False
                    with server.stopped_by(progress):
                        answers[name] = checks[name]()
            except InputRefused as refused:
                if refused.code != "server.failed":
                    raise
                continue
            finally:
                asked += server.queries
        missing = {name: None for name, (column, *_) in NUMBERS.items() if column not in server.cells}
        return SelfTest(server.engine, answers | missing, server.has_one_state, tuple(asked))


def _schema(columns: Sequence[tuple[str, str, Any]], *, cap: int = 1) -> Schema:
    told = [
        Column(name, Role.PERSON_KEY if name == KEY else Role.OTHER, _KINDS.get(family, Kind.TEXT))
        for name, family, _ in columns
    ]
    return Schema(tuple(told), cap)


_ARROW: Mapping[str, tuple[pa.DataType, Callable[[str], Any]]] = {
    "text": (pa.string(), str),
    "whole": (pa.int64(), int),
    "decimal": (pa.decimal128(20, 4), lambda cell: Decimal(cell).quantize(Decimal("1.0000"))),
    "double": (pa.float64(), float),
    "endless": (pa.float64(), float),
    "yes_no": (pa.bool_(), lambda cell: cell == "true"),
    "day": (pa.date32(), date.fromisoformat),
    "moment": (pa.timestamp("us"), datetime.fromisoformat),
}


def _read_from_file(columns: Sequence[tuple[str, str, Sequence[str | None]]]) -> Table:
    """Return the odd table as it is read from a Parquet file, which is removed."""
    made = {}
    for name, family, cells in columns:
        kind, of = _ARROW[family]
        made[name] = pa.array([None if cell is None else of(cell) for cell in cells], kind)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "odd.parquet"
        parquet.write_table(pa.table(made), path)
        return as_declared(read_table(path), _schema(columns))


class _Compared:
    """The answers of a server beside the table from a file."""

    def __init__(self, server: Server, expected: Table, schema: Schema) -> None:
        self._server, self._expected, self._schema = server, expected, schema
        options = ReadOptions(format=SERVER_FORMATS[0])
        used = tuple(server.cells)
        asking = Asking(server, schema, schema, schema, (), (), Path(), options, used)
        self._asking = asking
        self._grouped: Grouped | None = None

    def checks(self) -> dict[str, Callable[[], bool]]:
        """Return a check for each pitfall."""
        found: dict[str, Callable[[], bool]] = {}
        for name, cells in TEXTS.items():
            found[name] = lambda cells=cells: self._is_alike(TEXT, cells)  # type: ignore[misc]
        for name, (column, _, _) in NUMBERS.items():
            if column in self._server.cells:
                found[name] = lambda column=column: self._is_alike(column)  # type: ignore[misc]
        found["together"] = self._are_alike_together
        found["keys"] = self._has_the_people
        found["same_rows"] = self._keeps_the_same_rows
        found["sums"] = self._adds_up
        found["first_rows"] = self._takes_the_first
        found["draws"] = self._draws
        return found

    @property
    def _table(self) -> Grouped:
        if self._grouped is None:
            self._asking = learn_forms(self._asking)
            self._grouped = Grouped(self._asking)
        return self._grouped

    def _is_alike(self, column: str, cells: Sequence[str | None] | None = None) -> bool:
        """Compare how often each cell of a column occurs; of a text the named ones alone."""
        expected, found = Counter[str](), Counter[str]()
        for value in self._expected.rows()[column]:
            expected[_said(value)] += 1
        for frame, often in Grouped(self._without_key()).tallied([column]):
            assert often is not None
            for value, times in zip(frame[column], often.tolist(), strict=True):
                found[_said(value)] += times
        if cells is None:
            return expected == found
        named = {_said(cell or None) for cell in cells}
        return {one: expected[one] for one in named} == {one: found[one] for one in named} and len(
            expected
        ) == len(found)

    def _without_key(self) -> Asking:
        plain = Schema(tuple(one for one in self._schema.columns if one.name != KEY))
        used = tuple(name for name in self._asking.used if name != KEY)
        server = self._server
        options = self._asking.options
        return Asking(server, plain, plain, plain, (), (), Path(), options, used)

    def _are_alike_together(self) -> bool:
        names = [TEXT, "whole", "double"]
        expected = Counter(
            tuple(map(_said, row)) for row in self._expected.rows()[names].itertuples(index=False)
        )
        return _counted(Grouped(self._without_key()), names) == expected

    def _people(self) -> Counter[str]:
        people = people_of(self._expected, self._schema.columns[0]).cells().to_pylist()
        return Counter(str(one) for one in people if one is not None)

    def _has_the_people(self) -> bool:
        people = self._people()
        return self._table.count_people() == (len(people), _ROWS - people.total())

    def _keeps_the_same_rows(self) -> bool:
        """Ask twice which rows of each person are used: no more than the cap, and the same ones."""
        used = self._table.capped(_CAP, (1, (1 << 64) - 2))
        total = sum(min(_CAP, rows) for rows in self._people().values())
        first, second = (_counted(used, [TEXT, "whole"]) for _ in range(2))
        return first == second and used.n_rows == first.total() == total and used.most_rows() == _CAP

    def _adds_up(self) -> bool:
        """Ask twice for the sum of a hash of all rows, whose numbers are as large as there are."""
        first, second = self._server.content, self._server.content
        return first == second and int(first.split("/")[0]) == _ROWS

    def _takes_the_first(self) -> bool:
        told = f"SELECT {self._server.cells[TEXT]} AS c0 FROM {self._server.source}"
        answers = self._server.answers(self._server.first(told, 3), (TEXT,), 0)
        return sum(len(cells[0]) for cells, _ in answers) == 3

    def _draws(self) -> bool:
        """Take each row by a coin: neither all nor none but once in 2^95."""
        told = f"SELECT {self._server.cells[TEXT]} AS c0 FROM {self._server.source}"
        sql = f"SELECT c0 FROM ({told}) told WHERE {self._server.chance(Fraction(1, 2))}"
        return 0 < sum(len(cells[0]) for cells, _ in self._server.answers(sql, (TEXT,), 0)) < _ROWS


def _counted(table: Grouped, names: list[str]) -> Counter[tuple[str, ...]]:
    found = Counter[tuple[str, ...]]()
    for frame, often in table.tallied(names):
        assert often is not None
        for row, times in zip(frame[names].itertuples(index=False), often.tolist(), strict=True):
            found[tuple(map(_said, row))] += times
    return found


def _said(value: Any) -> str:
    """Return a value as a text; 0 and −0 are one, as they are to every method."""
    if pd.isna(value):
        return ""
    return str(value + 0.0 if isinstance(value, float) else value)
