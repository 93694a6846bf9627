"""A table on a real PostgreSQL, from its address to a verified bundle; what goes wrong is said."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QLineEdit

from app.frame.window import Window
from app.screens.load import page as load_page
from engine.ledger import Ledger
from engine.methods.protocol import MAIN, Budget
from engine.release import looking
from engine.release.verify import verify
from engine.table.dialects import DIALECTS
from engine.table.schema import Domain, Kind, Origin, Role
from engine.table.server import Address
from tests.app.hands import Hands
from tests.app.walking import decide_columns, fill_purpose, settle, write_people
from tests.engine.connector.postgres_here import PASSWORD, USER, Postgres, running, why_not

pytest.importorskip("pg8000")
needs_server = pytest.mark.skipif(bool(why_not()), reason=why_not() or "there is one")
PEOPLE = 400


def ask(postgres: Postgres, *queries: str) -> None:
    """Ask the server as its owner, in another process: this one must not connect."""
    program = (
        "import json, sys, pg8000.native as p; said = json.loads(sys.stdin.read());"
        "c = p.Connection(said['user'], '127.0.0.1', 'postgres', said['port'], said['password']);"
        "[c.run(one) for one in said['queries']]"
    )
    said = {"user": USER, "port": postgres.port, "password": PASSWORD, "queries": queries}
    subprocess.run([sys.executable, "-c", program], input=json.dumps(said), text=True, check=True)


def fill(postgres: Postgres, folder: Path) -> None:
    """Put the people of the walks into a table of their own."""
    head, *lines = write_people(folder / "all.csv", people=PEOPLE).read_text().splitlines()
    columns = ", ".join(f"{name} {'int' if name == 'patient_nbr' else 'text'}" for name in head.split(","))
    rows = ", ".join("(" + ", ".join(f"'{cell}'" for cell in line.split(",")) + ")" for line in lines)
    ask(
        postgres,
        "DROP TABLE IF EXISTS stays",
        "DROP SCHEMA IF EXISTS other CASCADE",
        f"CREATE TABLE stays ({columns})",
        f"INSERT INTO stays VALUES {rows}",
        "CREATE SCHEMA other",
        "CREATE TABLE other.wards (ward text)",
        "CREATE OR REPLACE VIEW seen AS SELECT 1 AS x",
    )


@pytest.fixture(scope="module")
def postgres() -> Iterator[Postgres]:
    with running() as found:
        yield found


@pytest.fixture
def stays(postgres: Postgres, tmp_path: Path) -> Postgres:
    fill(postgres, tmp_path)
    return postgres


@pytest.fixture
def small_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a sample have about 200 of the 600 rows."""
    monkeypatch.setattr(looking, "ROWS", 200)


def connect(hands: Hands, port: int, *, password: str = PASSWORD, user: str = USER) -> None:
    """Type where the server is, and ask for its tables."""
    if hands.window.step != "load":
        hands.window.study.decide(method="")
        hands.window.go("load")
        settle(hands.qtbot, hands.window)
    if not hands.window.page("load").server.isVisible():
        hands.click("choose_server")
    said = {"host": "127.0.0.1", "port": str(port), "database": "postgres", "user": user}
    for name, text in said.items():
        type_into(hands, name, text)
    type_into(hands, "password", password)
    hands.click("server-connect")


def type_into(hands: Hands, name: str, text: str) -> None:
    field = hands.part(QLineEdit, f"server-{name}")
    field.setFocus()
    field.selectAll()
    hands.qtbot.keyClicks(field, text)
    hands.keys += len(text) + 1


def choose(hands: Hands, name: str) -> None:
    """Choose a table of the list, and open it with Enter."""
    listed = hands.window.page("load").server.relations
    row = next(at for at in range(listed.count()) if listed.item(at).text().startswith(name))
    listed.setCurrentRow(row)
    hands.key(Qt.Key.Key_Return, listed)


@pytest.fixture
def hands(window: Window, qtbot: Any) -> Hands:
    return Hands(qtbot, window)


def decided(hands: Hands) -> None:
    """Decide everything up to counts of one column."""
    window, qtbot = hands.window, hands.qtbot
    decide_columns(qtbot, window)
    window.go("risk")
    settle(qtbot, window)
    fill_purpose(qtbot, window)
    study = window.study
    gender = replace(study.plan.schema.column("gender"), role=Role.IDENTIFYING, kind=Kind.CATEGORY)
    gender = replace(gender, domain=Domain(values=("Female", "Male")), domain_origin=Origin.DECLARED)
    ways = {"method": "statistics.counts", "parameters": {"columns": ["gender"], "extra_cells": "left_out"}}
    study.decide(**ways, budget=Budget(Fraction(1)), schemas={MAIN: study.plan.schema.with_column(gender)})


def release(hands: Hands) -> Any:
    """Go on from Preview until there is a release, or a reason why there is none."""
    hands.window.go("preview")
    settle(hands.qtbot, hands.window)
    assert hands.window.step == "preview", hands.window.notice.words()
    hands.click(hands.window.footer.findChild(QAbstractButton, "next"))
    if hands.window.footer.asks:
        hands.click("commit")
    hands.qtbot.waitUntil(lambda: not hands.window.runner.busy("release"), timeout=120_000)
    settle(hands.qtbot, hands.window)
    return hands.window.study.result("bundle")


def said(window: Window) -> str:
    return str(window.notice.words())


@needs_server
@pytest.mark.guarantee
def test_from_an_address_to_a_verified_bundle(
    hands: Hands, stays: Postgres, tmp_path: Path, small_sample: None
) -> None:
    window, study = hands.window, hands.window.study
    connect(hands, stays.port)
    listed = window.page("load").server.relations
    found = [listed.item(at).text().split()[0] for at in range(listed.count())]
    assert found == ["other.wards", "public.stays"]  # a view is no table
    choose(hands, "public.stays")
    part = study.part
    assert part is not None and part.rows == 600 and part.column == "patient_nbr", said(window)
    rows = study.table.rows()
    whole = (tmp_path / "all.csv").read_text().splitlines()[1:]
    people = set(rows["patient_nbr"].astype(str))
    assert 100 < len(rows) < 350 and len(rows) == sum(line.split(",")[0] in people for line in whole)
    page = window.page("load")
    assert "From a sample of" in page.part.plain() and not page.release_sample.isVisible()
    assert not page.server.isVisible() and page.server.fields["password"].text() == ""
    asked = page.asked.said.plain()
    assert f"127.0.0.1:{stays.port}/postgres" in asked and "3 connections" in asked
    hands.click("asked-fold")
    assert '"public"."stays"' in page.asked.queries.toPlainText()
    # meanwhile the values of all rows were read: those that the sample lacks can be declared
    values = study.result("values")
    assert (values.state, values.known, values.columns) == ("known", 6, 6)
    assert {one.split(",")[0] for one in whole} == set(study.part.cells["patient_nbr"].astype(str))
    (ward,) = [one for one in study.result("suggestions") if one.column == "ward"]
    assert set(ward.domain.values) == {one.split(",")[3] for one in whole}
    decided(hands)
    assert window.page("columns").all_values.said.plain() == "The values of all rows are known."
    outcome = release(hands)
    assert outcome is not None and outcome.state == "complete", said(window)
    made = Path(outcome.bundle.folder)
    assert verify(made, ledger=Ledger(study.ledger_path)).passed
    read = json.loads((made / "internal" / "evidence.json").read_text())["internal"]["input"]
    assert read["rows"] == 600 and read["held"] == "server" and len(read["asked_before"]) >= 2
    shown = window.page("release").asked
    assert shown.isVisible() and f"{len(read['asked_before']) + 1} connections" in shown.said.plain()
    for query in [one["sql"] for one in read["asked"]]:
        assert query in shown.queries.toPlainText()
    kept = [one for place in (made, tmp_path / "data", tmp_path / "home") for one in place.rglob("*")]
    assert kept and not any(PASSWORD.encode() in one.read_bytes() for one in kept if one.is_file())
    assert b"127.0.0.1" not in b"".join(one.read_bytes() for one in (made / "release").iterdir())
    print(f"{hands.clicks} clicks, {hands.keys} keys")


@needs_server
def test_a_plan_that_is_opened_again_asks_for_its_password_alone(
    hands: Hands, stays: Postgres, make_window: Callable[[], Window], qtbot: Any, tmp_path: Path
) -> None:
    connect(hands, stays.port)
    choose(hands, "public.stays")
    plan = hands.window.study.plan
    assert hands.window.study.part is None and len(hands.window.study.table) == 600  # few rows: all of them
    other = Hands(qtbot, make_window())
    other.window.open_file(plan.files[MAIN].path)
    settle(qtbot, other.window)
    card = other.window.page("load").server
    assert card.isVisible() and card.fields["user"].text() == USER and not card.fields["password"].text()
    assert "public.stays" in card.connect_to.text() and not card.connect_to.isEnabled()
    type_into(other, "password", PASSWORD)
    other.click("server-connect")
    assert other.window.study.table is not None and not card.isVisible()
    # another table forgets the password; what is undone asks for it again
    study = other.window.study
    study.history.end_edit()
    other.window.page("load").open_path(str(tmp_path / "all.csv"))
    settle(qtbot, other.window)
    assert study.password is None and not study.asked and not card.isVisible()
    study.undo()
    settle(qtbot, other.window)
    assert card.isVisible() and card.fields["database"].text() == "postgres"
    assert card.fields["password"].text() == "" and "public.stays" in card.connect_to.text()


@needs_server
@pytest.mark.parametrize("what", ["password", "address", "again"])
def test_who_is_not_let_in_reads_why_and_loses_nothing(what: str, hands: Hands, stays: Postgres) -> None:
    if what == "again":
        connect(hands, stays.port)
        type_into(hands, "password", "wrong")  # changed after the tables were listed: they are hidden again
        assert not hands.window.page("load").server.found.isVisible()
        hands.click("server-connect")
    else:
        wrong = {"port": 1} if what == "address" else {"port": stays.port, "password": "wrong"}
        connect(hands, **wrong)
    window = hands.window
    expected = "does not answer" if what == "address" else "lets nobody in"
    assert expected in said(window)
    card = window.page("load").server
    assert card.isVisible() and card.fields["database"].text() == "postgres"
    assert window.study.table is None and not Ledger(window.study.ledger_path).entries()
    type_into(hands, "port", str(stays.port))
    type_into(hands, "password", PASSWORD)
    hands.click("server-connect")
    choose(hands, "public.stays")
    assert window.study.table is not None


@needs_server
@pytest.mark.guarantee
def test_a_row_that_came_since_the_table_was_looked_at_stops_the_release(
    hands: Hands, stays: Postgres, small_sample: None
) -> None:
    connect(hands, stays.port)
    choose(hands, "public.stays")
    decided(hands)
    ask(stays, "UPDATE stays SET gender = 'Female' WHERE ctid = (SELECT min(ctid) FROM stays)")
    assert release(hands) is None and "has changed since it was loaded" in said(hands.window)
    assert [one.state for one in Ledger(hands.window.study.ledger_path).entries()] == []


@needs_server
def test_a_server_that_goes_down_is_said_and_nothing_is_spent(hands: Hands, tmp_path: Path) -> None:
    with running() as own:
        fill(own, tmp_path)
        connect(hands, own.port)
        choose(hands, "public.stays")
        decided(hands)
        own.stop()
        assert release(hands) is None and "does not answer" in said(hands.window)
    assert [one.state for one in Ledger(hands.window.study.ledger_path).entries()] == []


def test_each_kind_of_server_asks_for_what_it_wants(hands: Hands) -> None:
    """The usual port, the word for a database, whether a password has to be there, and what nobody tried."""
    hands.window.without_table = False
    hands.window.go("load")
    settle(hands.qtbot, hands.window)
    hands.click("choose_server")
    card = hands.window.page("load").server
    assert [card.kind.itemData(at) for at in range(card.kind.count())] == list(DIALECTS)
    asked: list[tuple[dict[str, Any], str]] = []
    card.listed.disconnect()
    card.listed.connect(lambda said, password: asked.append((said, password)))
    for name, text in {"host": "127.0.0.1", "database": "lake", "user": "keeper"}.items():
        type_into(hands, name, text)
    for place, (kind, dialect) in enumerate(DIALECTS.items()):
        card.kind.setFocus()
        hands.key(Qt.Key.Key_Home, card.kind)
        for _ in range(place):
            hands.key(Qt.Key.Key_Down, card.kind)
        assert card.dialect.kind == kind and card.fields["port"].text() == str(dialect.port)
        assert card.untried.isVisible() == (not dialect.is_tried)
        assert dialect.is_tried or "custos connect selftest" in card.untried.plain()
        assert card.connect_to.isEnabled() == (not dialect.needs_password)
    assert "Service" in card.labels["database"].text()  # as Oracle calls it
    type_into(hands, "port", "15210")
    type_into(hands, "password", PASSWORD)
    hands.click("server-connect")
    hands.key(Qt.Key.Key_Home, card.kind)
    assert card.fields["port"].text() == "15210"  # what somebody typed stays
    ((said, password),) = asked
    assert Address.of(said, "x").kind == "oracle" and password == PASSWORD


def test_where_the_connector_is_missing_one_sentence_says_what_to_install(
    hands: Hands, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(load_page, "has_connector", lambda: False)
    hands.window.without_table = False
    hands.window.go("load")
    settle(hands.qtbot, hands.window)
    hands.click("choose_server")
    page = hands.window.page("load")
    assert "custos-connector" in said(hands.window)
    assert page.drop.isVisible() and not page.server.isVisible()


@needs_server
def test_the_values_of_all_rows_are_read_while_one_goes_on(
    hands: Hands, stays: Postgres, small_sample: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reading them holds nobody up, Stop stops it, once more reads them, and a changed row is said."""
    window, study = hands.window, hands.window.study
    held, real = threading.Event(), looking.read_values

    def slowly(*given: Any, progress: Any, **more: Any) -> Any:
        progress.step(0.5, "server.values")
        while not held.wait(0.02):
            progress.refuse_stopped()
        return real(*given, progress=progress, **more)

    monkeypatch.setattr(looking, "read_values", slowly)
    hands.qtbot.waitUntil(lambda: not window.runner.busy())
    monkeypatch.setattr("tests.app.hands.settle", lambda qtbot, window: until_idle_but_values(qtbot, window))
    connect(hands, stays.port)
    choose(hands, "public.stays")
    assert study.table is not None and study.result("values").state == "reading"
    assert next(one for one in study.result("suggestions") if one.column == "ward").domain is None
    window.go("columns")
    line = window.page("columns").all_values
    hands.qtbot.waitUntil(lambda: "47 %" in line.said.plain(), timeout=5_000)
    assert window.step == "columns" and line.isVisible()
    line.button.click()
    hands.qtbot.waitUntil(lambda: study.result("values").state == "stopped", timeout=5_000)
    ask(stays, "INSERT INTO stays VALUES (1, 'x', 'Other', 'ward 99', '1', 'E1')")
    held.set()
    line.button.click()
    hands.qtbot.waitUntil(lambda: study.result("values").state == "refused", timeout=20_000)
    assert "has changed since it was loaded" in line.said.plain()
    assert next(one for one in study.result("suggestions") if one.column == "ward").domain is None


def until_idle_but_values(qtbot: Any, window: Window) -> None:
    qtbot.waitUntil(lambda: not [one for one in window.runner._current if one != "values"], timeout=20_000)
    qtbot.wait(10)
