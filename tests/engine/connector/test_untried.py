"""SQL Server and Oracle, of which no server runs here.

Their queries are read by a parser of their language, and their sessions answered by a stand-in for the
library; ``custos connect selftest`` tries the real thing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

from engine.table.dialects import DIALECTS
from engine.table.grouped import Asking
from engine.table.preparation.declarations import Step
from engine.table.reading.options import ReadOptions
from engine.table.schema import Column, Kind, Role, Schema
from engine.table.self_test import odd_columns

SAID = {
    "host": "127.0.0.1",
    "port": 1,
    "database": "dwh",
    "user": "keeper",
    "password": "no one's",
    "relation": "dbo.visits",
    "seconds": 60,
}
PARSED = {
    "sqlserver": "tsql",
    "oracle": "oracle",
    "trino": "trino",
    "spark": "spark",
    "postgresql": "postgres",
}


def grouper(kind: str, cells: dict[str, str], source: str) -> Any:
    """Return what a server of a kind is asked by, without one."""
    dialect = DIALECTS[kind]
    return SimpleNamespace(
        cells=cells,
        source=source,
        count=dialect.count,
        lot=dialect.lot,
        file="x.server",
        kinds=dict.fromkeys(cells, pa.large_string()),
    )


def queries(kind: str, cells: dict[str, str], source: str, text: str) -> list[str]:
    """Return every shape of query that a release asks."""
    dialect, given = DIALECTS[kind], grouper(kind, cells, source)
    key, other = text, next(name for name in cells if name != text)
    schema = Schema((Column(key, Role.PERSON_KEY, Kind.TEXT), Column(other, Role.OTHER, Kind.TEXT)), 2)
    pairs = dialect.pairs([(dialect.literal(" 7'", "text"), dialect.literal("7", "text")),
                           (dialect.literal("a\\\nb", "text"), dialect.literal(None, "text"))])  # fmt: skip
    unlike = dialect.typed_pairs(pairs, "text")
    steps: tuple[Step, ...] = ()
    asking = Asking(given, schema, schema, schema, steps, steps, None, ReadOptions(), (other,), unlike=unlike)  # type: ignore[arg-type]
    count, told = dialect.count, asking.told()
    kept = asking.kept(2, (1, (1 << 64) - 1))
    lots = dialect.lot((0, 0), list(cells.values()))
    return [
        told,
        f"SELECT c0, {count}(*) AS n FROM ({kept}) used GROUP BY c0",
        f"SELECT {count}(DISTINCT p) AS n0, {count}(*) - {count}(p) AS n1 FROM ({told}) told",
        dialect.content(lots, source),
        dialect.first(f"SELECT DISTINCT {cells[key]} AS c0 FROM {source}", 3),
        f"SELECT c0 FROM ({told}) told WHERE {dialect.chance(Fraction(1, 3))}",
    ]


def session_of(kind: str) -> Any:
    """Return the class of the connections to a kind of server."""
    package = {"sqlserver": "pytds", "oracle": "oracledb", "trino": "trino", "spark": "grpc"}.get(
        kind, "pg8000"
    )
    pytest.importorskip(package)
    if kind == "spark":
        pytest.importorskip("pyspark")
        from engine.connector.spark import Spark as Found
    elif kind == "trino":
        from engine.connector.trino import Trino as Found  # type: ignore[assignment]
    elif kind == "sqlserver":
        from engine.connector.sqlserver import SqlServer as Found  # type: ignore[assignment]
    elif kind == "oracle":
        from engine.connector.oracle import Oracle as Found  # type: ignore[assignment]
    else:
        from engine.connector.postgresql import Postgresql as Found  # type: ignore[assignment]
    return Found


def inline(kind: str) -> tuple[str, dict[str, str]]:
    """Return the odd table of the self-test as it stands in the queries of a kind of server."""
    found = session_of(kind)
    bare = found.__new__(found)
    bare.rows = lambda sql: [(96,)]
    told = bare._look_at_inline([list(one) for one in odd_columns()])
    return told["source"], told["cells"]


@pytest.mark.parametrize("kind", list(DIALECTS))
@pytest.mark.guarantee
def test_every_query_is_one_of_its_language(kind: str) -> None:
    """No part of a query is read as something else: one SELECT, whose texts are those that were put in."""
    sqlglot = pytest.importorskip("sqlglot")
    source, cells = inline(kind)
    texts = {cell for _, family, column in odd_columns() if family == "text" for cell in column}
    for sql in queries(kind, cells, source, "person"):
        (tree,) = sqlglot.parse(sql, dialect=PARSED[kind])
        assert isinstance(tree, sqlglot.exp.Select)
        if kind != "sqlserver":  # where a text of two lines is written in two parts
            read = {one.this for one in tree.find_all(sqlglot.exp.Literal) if one.is_string}
            assert texts - read <= {None, ""}
        else:
            read = {one.this for one in tree.find_all(sqlglot.exp.National)}
            assert {one for one in texts - read if one} <= {"a\\\nb"}


@pytest.mark.parametrize("kind", list(DIALECTS))
def test_every_kind_has_an_order_of_its_rows_and_counts_without_running_over(kind: str) -> None:
    lot = DIALECTS[kind].lot((5, (1 << 64) - 7), ["p", "c0"])
    assert "5" in lot and "-7" in lot and "p" in lot and "c0" in lot
    assert DIALECTS[kind].lot((5, 6), ["p", "c0"]) != lot != DIALECTS[kind].lot((5, 7), ["c0", "p"])
    assert (
        "row_number() OVER (PARTITION BY p, c0 ORDER BY p)"
        in queries(kind, {"p": "p", "x": "x"}, "t", "p")[1]
    )
    assert (DIALECTS["sqlserver"].count, DIALECTS["oracle"].count) == ("COUNT_BIG", "count")


def test_a_row_of_many_columns_fits_in_a_text_of_oracle() -> None:
    """A text there has 4,000 bytes: hashes are joined in groups."""
    lot = DIALECTS["oracle"].lot((1, 2), [f"c{place}" for place in range(400)])
    bare = re.sub(r"NVL\(RAWTOHEX\(STANDARD_HASH\(c\d+, 'MD5'\)\), '-'\)", "H", lot)
    groups = re.findall(r"STANDARD_HASH\((H(?: \|\| H)*), 'MD5'\)", bare)
    assert sum(group.count("H") for group in groups) == 400
    assert max(group.count("H") for group in groups) * 32 <= 4000


# --- SQL Server ---------------------------------------------


class Cursor:
    """A cursor that answers from a list of beginnings of queries."""

    def __init__(self, answers: Sequence[tuple[str, Any]], asked: list[str]) -> None:
        self._answers, self._asked, self._rows = answers, asked, list[Any]()

    def __enter__(self) -> Cursor:
        return self

    def __exit__(self, *given: object) -> None: ...

    def execute(self, sql: str) -> None:
        self._asked.append(sql)
        self._rows = []
        for begins, rows in self._answers:
            if begins in sql:
                if isinstance(rows, Exception):
                    raise rows
                self._rows = list(rows)
                return

    def fetchmany(self, most: int) -> list[Any]:
        rows, self._rows = self._rows[:most], self._rows[most:]
        return rows


USUAL = (
    ("ProductVersion", [("16.0.1000.6",)]),
    ("SESSIONPROPERTY", [(1,)]),
    ("snapshot_isolation_state", [(1,)]),
    (
        "sys.tables",
        [
            ("person", "nvarchar", 0, 0),
            ("cost", "decimal", 20, 4),
            ("paid", "money", 19, 4),
            ("map", "geography", 0, 0),
        ],
    ),
    ("HAS_PERMS_BY_NAME(N'", [(0,)]),
    ("COUNT_BIG(*) AS n FROM", [(7,)]),
)


def sql_server(
    monkeypatch: pytest.MonkeyPatch, *other: tuple[str, Any], asked: list[str] | None = None
) -> Any:
    """Open a session against a stand-in for the library."""
    pytds = pytest.importorskip("pytds")
    from engine.connector import sqlserver

    said = asked if asked is not None else []
    connection = SimpleNamespace(cursor=lambda: Cursor((*other, *USUAL), said))
    monkeypatch.setattr(sqlserver.socket, "create_connection", lambda *given: SimpleNamespace())
    monkeypatch.setattr(pytds, "connect", lambda **given: connection)
    return sqlserver.SqlServer(SAID)


def test_sql_server_reads_in_a_snapshot_and_adds_a_sign_to_every_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []
    session = sql_server(monkeypatch, ("SELECT c0", [("a .", 2), (".", 1), (None, 3)]), asked=asked)
    assert session.one_state and session.about["rows"] == 7
    assert "SET TRANSACTION ISOLATION LEVEL SNAPSHOT; BEGIN TRANSACTION;" in asked
    cells = session.about["cells"]
    assert cells["person"] == "(CAST([person] AS nvarchar(max)) + N'.') COLLATE Latin1_General_100_BIN2"
    assert "decimal(19, 4)" in cells["paid"] and session.about["kinds"]["map"] == "other"
    (answer,) = session.answer("SELECT c0, n", ["text", "int64"])
    table = pa.ipc.open_stream(answer).read_all()
    assert table.to_pydict() == {"c0": ["a ", "", None], "c1": [2, 1, 3]}
    without = sql_server(monkeypatch, ("snapshot_isolation_state", [(0,)]))
    assert not without.one_state and not without.about["one_state"]


@pytest.mark.parametrize(
    ("other", "code"),
    [
        (("ProductVersion", [("12.0.1",)]), "server.old"),
        (("SESSIONPROPERTY('ARITHABORT')", [(0,)]), "server.not_read_only"),
        (("'UPDATE'", [(1,)]), "server.may_write"),
        (("'INSERT'", [(None,)]), "server.may_write"),
        (("sys.tables", []), "server.no_relation"),
    ],
)
def test_sql_server_is_refused(other: tuple[str, Any], code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pytds")
    from engine.connector.session import Refused

    with pytest.raises(Refused) as refused:
        sql_server(monkeypatch, other)
    assert refused.value.code == code


def test_an_error_of_sql_server_is_a_number_and_no_word(monkeypatch: pytest.MonkeyPatch) -> None:
    pytds = pytest.importorskip("pytds")
    from engine.connector.session import Refused

    for error, code in (
        (pytds.OperationalError("Conversion failed for 'a cell'"), "server.failed"),
        (pytds.ClosedConnectionError(), "server.lost"),
        (TimeoutError(), "server.failed"),
        (ConnectionResetError(), "server.lost"),
    ):
        session = sql_server(monkeypatch, ("SELECT c0", error))
        with pytest.raises(Refused) as refused:
            list(session.answer("SELECT c0", ["text"]))
        assert refused.value.code == code and "cell" not in refused.value.reason


# --- Oracle ---------------------------------------------

NLS = [
    ("NLS_COMP", "BINARY"),
    ("NLS_SORT", "BINARY"),
    ("NLS_NUMERIC_CHARACTERS", ".,"),
    ("NLS_CALENDAR", "GREGORIAN"),
    ("NLS_TERRITORY", "AMERICA"),
]
OF_ORACLE = (
    ("nls_session_parameters", NLS),
    ("nls_database_parameters", [("AL32UTF8",)]),
    ("all_tables", [(1,)]),
    (
        "all_tab_columns",
        [
            ("PERSON", "VARCHAR2", None, None, "USING_NLS_COMP"),
            ("NAME", "VARCHAR2", None, None, "BINARY_CI"),
            ("VISITS", "NUMBER", 5, 0, None),
            ("KEY", "NUMBER", 30, 0, None),
            ("COST", "NUMBER", None, None, None),
            ("SEEN", "DATE", None, None, None),
            ("AT", "TIMESTAMP(9) WITH TIME ZONE", None, None, None),
            ("NOTE", "CLOB", None, None, None),
        ],
    ),
    ("count(*) AS n FROM", [(7,)]),
)


def oracle(
    monkeypatch: pytest.MonkeyPatch, *other: tuple[str, Any], version: str = "19.3", asked: Any = None
) -> Any:
    """Open a session against a stand-in for the library."""
    oracledb = pytest.importorskip("oracledb")
    from engine.connector import oracle as module

    said = asked if asked is not None else []
    connection = SimpleNamespace(cursor=lambda: Cursor((*other, *OF_ORACLE), said), version=version)
    monkeypatch.setattr(module, "try_address", lambda *given: "")
    monkeypatch.setattr(oracledb, "connect", lambda **given: connection)
    return module.Oracle({**SAID, "relation": "DWH.VISITS"})


def test_oracle_reads_one_state_and_tells_types_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    moments = [(" 2020-01-01 10:00:00.123456", 1), ("-0044-03-15 00:00:00.000000", 1), (None, 2)]
    session = oracle(monkeypatch, ("SELECT c0", moments), asked=asked)
    assert session.one_state and "SET TRANSACTION READ ONLY" in asked and session.about["rows"] == 7
    kinds, cells = session.about["kinds"], session.about["cells"]
    assert kinds == {
        "PERSON": "text", "NAME": "text", "VISITS": "int64", "KEY": "text", "COST": "text",
        "SEEN": "moment", "AT": "moment_utc", "NOTE": "other",
    }  # fmt: skip
    assert cells["NAME"].endswith("COLLATE BINARY") and "COLLATE" not in cells["PERSON"]
    (answer,) = session.answer("SELECT c0, n", ["moment", "int64"])
    ticks = pa.ipc.open_stream(answer).read_all().column(0).cast(pa.int64()).to_pylist()
    assert ticks == [1577872800123456, 1 << 62, None]  # a year before the first is outside every calendar


@pytest.mark.parametrize(
    ("other", "version", "code"),
    [
        ((), "11.2", "server.old"),
        (
            (("nls_session_parameters", [("NLS_COMP", "LINGUISTIC"), *NLS[1:]]),),
            "19.3",
            "server.not_read_only",
        ),
        ((("nls_database_parameters", [("WE8ISO8859P15",)]),), "19.3", "server.encoding"),
        ((("all_tables", []),), "19.3", "server.no_relation"),
    ],
)
def test_oracle_is_refused(other: Any, version: str, code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("oracledb")
    from engine.connector.session import Refused

    with pytest.raises(Refused) as refused:
        oracle(monkeypatch, *other, version=version)
    assert refused.value.code == code


def test_an_error_of_oracle_is_a_number_and_no_word(monkeypatch: pytest.MonkeyPatch) -> None:
    oracledb = pytest.importorskip("oracledb")
    from engine.connector.session import Refused

    for number, code in ((1722, "server.failed"), (3113, "server.lost")):
        error = oracledb.DatabaseError(SimpleNamespace(code=number, message="invalid number: a cell"))
        session = oracle(monkeypatch, ("SELECT c0", error))
        with pytest.raises(Refused) as refused:
            list(session.answer("SELECT c0", ["text"]))
        assert (refused.value.code, refused.value.reason) == (code, f"ORA-{number:05}")
