"""A table behind the protocol of Trino, which a stand-in speaks, gives the release that memory gives."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from engine.errors import InputRefused
from engine.methods.protocol import MAIN, Method
from engine.release import reading
from engine.release.plan import Plan
from engine.table.schema import Schema
from engine.table.self_test import try_server
from engine.table.server import Address, Server, list_relations
from engine.texts import sentences
from tests.engine.adversarial.requests import ODD_ROWS, ROWS, plan_for, table
from tests.engine.connector.alike import assert_same_draft, quoted
from tests.engine.release.test_grouped import GROUPED, STEPS
from tests.engine.release.test_stored import spoilt
from tests.examples import few_on_a_commit

pytest.importorskip("trino")
pytest.importorskip("duckdb", minversion="2")

from tests.engine.connector.trino_here import PASSWORD, USER, Trino, running


@pytest.fixture(scope="module")
def trino() -> Iterator[Trino]:
    with running() as found:
        yield found


def address(trino: Trino, folder: Path, **other: object) -> str:
    """Write the file that names the server, and return its name."""
    said = {
        "kind": "trino",
        "host": "127.0.0.1",
        "port": trino.port,
        "database": "memory",
        "user": USER,
        "relation": "main.visits",
    }
    (folder / "lake.server").write_text(json.dumps(said | other))
    return "lake.server"


def filled(trino: Trino, frame: pd.DataFrame) -> None:
    """Put texts into a new table."""
    columns = ", ".join('"' + column.replace('"', '""') + '" text' for column in frame.columns)
    rows = [f"({', '.join(map(quoted, row))})" for row in frame.itertuples(index=False)]
    trino.run("DROP TABLE IF EXISTS visits")
    trino.run(f"CREATE TABLE visits ({columns})")
    trino.run(f"INSERT INTO visits VALUES {', '.join(rows)}")


def assert_released_alike(plan: Plan, trino: Trino, folder: Path) -> None:
    """Make a release from the file in memory and from the server, with the same noise."""
    bare = replace(plan, schemas={MAIN: Schema()}, preparation=())
    frame = reading.read(bare, base=folder).table.rows()
    filled(trino, frame.astype("object").where(frame.notna(), None))
    assert_same_draft(plan, address(trino, folder), folder, password=PASSWORD)


@pytest.mark.usefixtures("same_lots")
@pytest.mark.parametrize(("way", "plan"), few_on_a_commit(GROUPED, 2))
@pytest.mark.guarantee
def test_the_release_is_the_same_to_the_byte(
    way: type[Method], plan: Plan, trino: Trino, tmp_path: Path
) -> None:
    spoiled = spoilt(plan, tmp_path)
    if spoiled.schema.person_key is not None:
        spoiled = replace(spoiled, schemas={MAIN: replace(spoiled.schema, rows_per_person=400)})
    assert_released_alike(spoiled, trino, tmp_path)


@pytest.mark.usefixtures("same_lots")
@pytest.mark.parametrize("case", ["counts", "weighted sum", "quantiles"])
@pytest.mark.guarantee
def test_odd_rows_count_the_same(case: str, trino: Trino, tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_bytes(table((*ROWS, *ODD_ROWS.values()) * 9))
    cap = 200 if len(case) % 2 else None
    assert_released_alike(plan_for(case, cap=cap, preparation=STEPS), trino, tmp_path)


@pytest.mark.guarantee
def test_the_self_test_asks_nothing_of_the_tables(trino: Trino, tmp_path: Path) -> None:
    filled(trino, pd.DataFrame({"x": ["a secret"]}))
    begun = len(trino.asked)
    found = try_server(tmp_path / address(trino, tmp_path), PASSWORD)
    assert found.passed and len(found.answers) > 20, found.to_json()
    assert not [one for one in trino.asked[begun:] if "visits" in one]
    assert all(one.startswith("SELECT") for one in trino.asked[begun:])


@pytest.mark.guarantee
def test_a_pitfall_that_is_open_is_said_and_the_others_are_tried(tmp_path: Path) -> None:
    """A query that the server cannot answer ends the connection: the others have one of their own."""
    with running() as joins:
        honest = joins.begin

        def joined(sql: str) -> dict[str, Any]:
            """Group capitals together, and stop every query that keeps some rows of a person."""
            sql = sql.replace('SELECT CAST("text" AS varchar) AS c', 'SELECT lower("text") AS c')
            return honest(sql.replace("row_number()", "no_such_function()"))

        joins.begin = joined  # type: ignore[method-assign]
        found = try_server(tmp_path / address(joins, tmp_path), PASSWORD)
    assert not found.passed
    assert (found.answers["capitals"], found.answers["same_rows"]) == (False, False)
    assert (found.answers["days"], found.answers["keys"], found.answers["draws"]) == (True, True, True)


def spoken(refused: pytest.ExceptionInfo[InputRefused]) -> str:
    said = " ".join(sentences(refused.value.code, refused.value.values))
    assert PASSWORD not in said and "{" not in said
    return said


@pytest.mark.guarantee
def test_only_tables_of_the_catalogue_are_listed_and_asked(trino: Trino, tmp_path: Path) -> None:
    filled(trino, pd.DataFrame({"x": ["a"]}))
    trino.run("CREATE OR REPLACE VIEW seen AS SELECT random() AS x")
    path = tmp_path / address(trino, tmp_path)
    assert [name for name, _ in list_relations(Address.read(path), PASSWORD).relations] == ["main.visits"]
    for relation in ("main.seen", "main.nothing"):
        with pytest.raises(InputRefused, match=r"server\.no_relation"):
            Server(tmp_path / address(trino, tmp_path, relation=relation), PASSWORD)


@pytest.mark.guarantee
def test_a_wrong_password_and_an_old_server_are_said(trino: Trino, tmp_path: Path) -> None:
    with pytest.raises(InputRefused, match=r"server\.password\b") as refused:
        Server(tmp_path / address(trino, tmp_path), "wrong")
    spoken(refused)
    with running(version="399") as old, pytest.raises(InputRefused, match=r"server\.old") as refused:
        Server(tmp_path / address(old, tmp_path), PASSWORD)
    assert "Trino" in spoken(refused) and "400" in spoken(refused)


def test_an_answer_that_lies_elsewhere_is_not_fetched(trino: Trino, tmp_path: Path) -> None:
    """A server says where its answer is: another address than the one that was named is none."""
    with (
        running(elsewhere=f"127.0.0.1:{trino.port}") as leads,
        pytest.raises(InputRefused, match=r"server\.elsewhere") as refused,
    ):
        Server(tmp_path / address(leads, tmp_path), PASSWORD)
    spoken(refused)


@pytest.mark.guarantee
def test_no_answer_is_wished_from_a_storage_of_its_own(trino: Trino, tmp_path: Path) -> None:
    filled(trino, pd.DataFrame({"x": ["a"]}))
    Server(tmp_path / address(trino, tmp_path), PASSWORD).close()
    assert trino.headers and not [one for one in trino.headers if "X-Trino-Query-Data-Encoding" in one]


@pytest.mark.guarantee
def test_nothing_but_a_select_is_sent(trino: Trino, tmp_path: Path) -> None:
    """The server would do what it is told: its sessions are not held to reading."""
    filled(trino, pd.DataFrame({"x": ["a"]}))
    asked = Server(tmp_path / address(trino, tmp_path), PASSWORD)
    begun = len(trino.asked)
    with pytest.raises(InputRefused, match=r"server\.failed"):
        list(asked.answers("DELETE FROM visits", ()))
    asked.close()
    assert trino.asked[begun:] == []


@pytest.mark.guarantee
def test_a_row_that_comes_between_two_queries_is_noticed(trino: Trino, tmp_path: Path) -> None:
    filled(trino, pd.DataFrame({"x": ["a", "b", "c"]}))
    asked = Server(tmp_path / address(trino, tmp_path), PASSWORD)
    asked.confirm()
    trino.run("UPDATE visits SET x = 'd' WHERE x = 'a'")
    with pytest.raises(InputRefused, match=r"server\.changed") as refused:
        asked.confirm()
    spoken(refused)
    asked.close()


@pytest.mark.guarantee
def test_a_server_that_goes_down_is_said(tmp_path: Path) -> None:
    own = Trino()
    filled(own, pd.DataFrame({"x": ["a"]}))
    asked = Server(tmp_path / address(own, tmp_path), PASSWORD)
    assert asked.about["sent"] > 0 < asked.about["received"]
    own.stop()
    with pytest.raises(InputRefused, match=r"server\.lost") as refused:
        list(asked.answers(f"SELECT count(*) AS n FROM {asked.source}", ()))
    spoken(refused)
    asked.close()
    with pytest.raises(InputRefused, match=r"server\.unreachable"):
        Server(tmp_path / "lake.server", PASSWORD)


@pytest.mark.guarantee
def test_the_command_line_tries_one_address_and_says_so(trino: Trino, tmp_path: Path) -> None:
    """Under strace: this program opens no internet socket, the connector only one to what was named."""
    traced = ["strace", "-f", "-qq", "-e", "trace=socket,connect,execve", "-o", str(tmp_path / "trace")]
    has_strace = shutil.which("strace") is not None
    command = [
        sys.executable,
        "-m",
        "engine",
        "connect",
        "selftest",
        str(tmp_path / address(trino, tmp_path)),
    ]
    command += ["--server-password-from", "OF_THE_TESTS", "--out", str(tmp_path / "told.json")]
    done = subprocess.run(
        [*(traced if has_strace else ()), *command],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "OF_THE_TESTS": PASSWORD, "PYTHONPATH": str(Path.cwd())},
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "blanks at the end of a text" in done.stdout and "Trino 476" in done.stdout
    told = json.loads((tmp_path / "told.json").read_text())
    assert told["passed"] and told["answers"]["draws"] is True and len(told["asked"]) > 20
    assert PASSWORD not in done.stdout + done.stderr + json.dumps(told)
    if not has_strace:
        pytest.skip("strace is not there: which sockets are opened was not looked at")
    lines = (tmp_path / "trace").read_text().splitlines()
    connector = {line.split()[0] for line in lines if "execve" in line and "engine.connector" in line}
    connected = [line for line in lines if "connect(" in line and "AF_INET" in line]
    assert len(connector) == 1 and connected
    assert {line.split()[0] for line in lines if "AF_INET" in line} == connector
    assert all(f"htons({trino.port})" in line and '"127.0.0.1"' in line for line in connected)
