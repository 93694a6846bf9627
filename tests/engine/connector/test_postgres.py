"""A table on a real PostgreSQL gives the release that it gives from memory, and no more is asked of it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from engine.commands import values
from engine.errors import Cancelled, InputRefused
from engine.ledger import Ledger
from engine.methods.protocol import MAIN
from engine.privacy.noise import Noise
from engine.progress import SILENT, Progress
from engine.release import looking, reading, served
from engine.release.check import check
from engine.release.plan import FileReference, Plan
from engine.release.preview import preview_json
from engine.release.run import run_through
from engine.table import server
from engine.table.grouped import Grouped
from engine.table.schema import Schema
from engine.table.server import Address, Server
from engine.table.stored import Store
from engine.texts import sentences
from tests.engine.adversarial.requests import ODD_ROWS, PARAMETERS, ROWS, plan_for, table
from tests.engine.connector.alike import assert_same_draft, on_server, quoted
from tests.engine.connector.postgres_here import PASSWORD, USER, Postgres, running, why_not
from tests.engine.release.test_grouped import STEPS, keyed, rows_of
from tests.engine.release.test_stored import NAMED, UNLIKE
from tests.examples import few_on_a_commit
from tests.noise_source import seeded_noise

pytest.importorskip("pg8000")
pytestmark = pytest.mark.skipif(bool(why_not()), reason=why_not() or "there is one")


@pytest.fixture(scope="module")
def postgres() -> Iterator[Postgres]:
    with running() as found:
        yield found


def filled(postgres: Postgres, frame: pd.DataFrame, name: str = "visits") -> None:
    """Put texts into a new table; PostgreSQL has no sign for 0 within a text."""
    columns = ", ".join('"' + column.replace('"', '""') + '" text' for column in frame.columns)
    rows = [f"({', '.join(map(quoted, row))})" for row in frame.itertuples(index=False)]
    with postgres.asked() as owner:
        owner.run(f"DROP TABLE IF EXISTS {name}")
        owner.run(f"CREATE TABLE {name} ({columns})")
        if rows:
            owner.run(f"INSERT INTO {name} VALUES {', '.join(rows)}")


def address(postgres: Postgres, folder: Path, **other: object) -> str:
    """Write the file that names the server, and return its name."""
    said = {
        "kind": "postgresql",
        "host": "127.0.0.1",
        "port": postgres.port,
        "database": "postgres",
        "user": USER,
        "relation": "public.visits",
    }
    (folder / "dwh.server").write_text(json.dumps(said | other))
    return "dwh.server"


def whole(plan: Plan, folder: Path) -> pd.DataFrame:
    frame = reading.read(replace(plan, schemas={MAIN: Schema()}, preparation=()), base=folder).table.rows()
    return frame.astype("object").where(frame.notna(), None)


def assert_released_alike(plan: Plan, postgres: Postgres, folder: Path) -> None:
    """Make a release from the file in memory and from the server, with the same noise."""
    filled(postgres, whole(plan, folder))
    assert_same_draft(plan, address(postgres, folder), folder, password=PASSWORD)


@pytest.mark.usefixtures("same_lots")
@pytest.mark.parametrize("case", few_on_a_commit(sorted(set(PARAMETERS) - {"counts of a slot"}), 2))
def test_odd_rows_count_the_same(case: str, postgres: Postgres, tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_bytes(table((*ROWS, *ODD_ROWS.values()) * 9))
    cap = 200 if len(case) % 2 else None
    assert_released_alike(plan_for(case, cap=cap, preparation=STEPS), postgres, tmp_path)


# --- the cap ---------------------------------------------


def read_keyed(postgres: Postgres, folder: Path, frame: pd.DataFrame, cap: int) -> reading.PreparedTable:
    filled(postgres, frame.astype("object").where(frame.notna(), None))
    plan = on_server(plan_for("counts"), address(postgres, folder))
    (folder / "room").mkdir(exist_ok=True)
    store = Store(folder / "room", ("x",), keyed(cap).person_key)
    return reading.read(
        replace(plan, schemas={MAIN: keyed(cap)}), base=folder, store=store, grouped=True, password=PASSWORD
    )


@pytest.mark.parametrize("cap", [1, 3])
def test_every_query_keeps_the_same_rows_without_a_word_written(
    cap: int, postgres: Postgres, tmp_path: Path
) -> None:
    made = np.random.default_rng(cap)
    numbers = made.integers(0, 30, 400)
    forms = ("{}", " {}", "+{}.0", "{} ", "\u200b{}")
    keys = [forms[place % 5].format(number) for place, number in enumerate(numbers)]
    cells = pd.Series(made.choice(["a", "b", "c", "odd", None], 400), dtype="str")
    frame = pd.DataFrame({"person": [*keys, None, "", "  "], "x": [*cells, "a", "b", "c"]})
    prepared = read_keyed(postgres, tmp_path, frame, cap)
    assert prepared.count_people() == {"people": 30, "rows_without_key": 3}
    used = reading.cap_rows(prepared, seeded_noise(cap))
    assert isinstance(used, Grouped)
    assert used.n_rows == int(np.minimum(np.bincount(numbers), cap).sum()) and used.most_rows() == cap
    assert rows_of(used) == rows_of(used)
    assert rows_of(reading.cap_rows(prepared, seeded_noise(cap + 10))) != rows_of(used)
    said = json.dumps(used.about["asked"])  # what opens the connection was sent before any key was read
    assert "{pairs 1}" in said and not any(f"'{key}'" in said for key in keys)  # no key in the evidence
    reading.let_go({MAIN: prepared})


@pytest.mark.parametrize("name", ["{pairs 1}", "{pairs 2}", 'a"b', "a'; --", "$1", "%s", ":x", "\\"])
def test_no_name_of_a_column_and_no_key_is_read_as_part_of_a_query(
    name: str, postgres: Postgres, tmp_path: Path
) -> None:
    """Keys that have another form stand in a query: they end no name, and no name takes their place."""
    keys = [' 7" AS c0 --', '7" AS c0 --', " '); COMMIT; --", "{pairs 1}", " {pairs 1}", " {pairs 2} "]
    frame = pd.DataFrame({"person": keys, name: ["a", "b", "c", "a", "b", "c"]}, dtype="str")
    filled(postgres, frame)
    schema = Schema((keyed(2).columns[0], replace(keyed(2).columns[1], name=name)), 2)
    plan = replace(on_server(plan_for("counts"), address(postgres, tmp_path)), schemas={MAIN: schema})
    (tmp_path / "room").mkdir()
    store = Store(tmp_path / "room", (name,), schema.person_key)
    prepared = reading.read(plan, base=tmp_path, store=store, grouped=True, password=PASSWORD)
    used = reading.cap_rows(prepared, seeded_noise(1))
    found = Counter[str]()
    for rows, often in used.tallied([name]):
        assert often is not None
        found.update(dict(zip(rows[name], often.tolist(), strict=True)))
    assert found == Counter({"a": 2, "b": 2, "c": 2}) and prepared.count_people()["people"] == 4
    reading.let_go({MAIN: prepared})


def test_alike_rows_have_a_lot_each(postgres: Postgres, tmp_path: Path) -> None:
    people = [f"p{number}" for number in range(2000) for _ in range(10)]
    frame = pd.DataFrame({"person": people, "x": (["a"] * 9 + ["b"]) * 2000})
    prepared = read_keyed(postgres, tmp_path, frame, 1)
    kept = rows_of(reading.cap_rows(prepared, seeded_noise(3)))
    # Binomial(2000, 1/10): six standard deviations are 80; fails by chance one time in 5·10^8
    assert kept.total() == 2000 and abs(kept["b"] - 200) <= 80
    reading.let_go({MAIN: prepared})


# --- pitfalls ---------------------------------------------


def test_no_type_and_no_collation_joins_cells_or_stops_a_query(postgres: Postgres, tmp_path: Path) -> None:
    with postgres.asked() as owner:
        owner.run("DROP TABLE IF EXISTS visits")
        owner.run(
            "CREATE COLLATION IF NOT EXISTS alike"
            " (provider = icu, locale = 'und-u-ks-level1', deterministic = false)"
        )
        owner.run(
            'CREATE TABLE visits (t text COLLATE alike, "odd ""name; --" varchar(9), n numeric, d date,'
            " m timestamp, z timestamptz, f float8, r real, b bool, c char(4), j jsonb, w smallint)"
        )
        owner.run(
            "INSERT INTO visits VALUES"
            " ('f', '''', 1.50, '2020-01-01', '2020-01-01 10:00:00.123456', '2020-01-01 10:00+02', '-0', 0.1,"
            " true, 'ab', '{\"a\": 1}', 5),"
            " ('F', 'a:b', 1.5, 'infinity', '-infinity', 'infinity', 'NaN', '-0', null, 'ab  ', null, null),"
            " ('é', ';', 'NaN', '0044-01-01 BC', '0044-01-01 BC', null, 'inf', 'NaN', false, null, null, -7),"
            " ('e', '', 1e40, null, null, null, 0, 0, false, '', null, -7)"
        )
    asked = Server(tmp_path / address(postgres, tmp_path), PASSWORD)
    expected = {
        "t": 4, 'odd "name; --': 4, "n": 4, "d": 3, "m": 3, "z": 2, "f": 3, "r": 3, "b": 3, "c": 3, "j": 2,
        "w": 3,
    }  # fmt: skip
    found = {}
    for name, cell in asked.cells.items():
        sql = f"SELECT {cell} AS c0, count(*) AS n FROM {asked.source} GROUP BY 1"
        parts = list(asked.answers(sql, (name,)))
        found[name] = sum(len(cells[0]) for cells, _ in parts)
        assert sum(sum(often.to_pylist()) for _, (often,) in parts) == 4
    assert found == expected
    asked.close()
    plan = replace(on_server(plan_for("counts"), "dwh.server"), schemas={MAIN: Schema()})
    (tmp_path / "room").mkdir()
    store = Store(tmp_path / "room", tuple(expected), None)
    prepared = reading.read(plan, base=tmp_path, store=store, grouped=True, password=PASSWORD)
    codes = {(one.code, one.column): one.count for one in prepared.table.findings}
    assert codes[("table.dates_outside", "d")] == 1 and codes[("table.infinite_numbers", "f")] == 1
    rows = [row for frame, _ in prepared.table.tallied(["f", "w"]) for row in frame.to_numpy().tolist()]
    assert Counter(map(str, rows)) == Counter(["['0', '5']", "[nan, nan]", "[nan, '-7']", "['0', '-7']"])
    reading.let_go({MAIN: prepared})


@pytest.mark.parametrize("kind", ["view", "missing", "other schema"])
def test_only_a_table_is_asked(kind: str, postgres: Postgres, tmp_path: Path) -> None:
    with postgres.asked() as owner:
        owner.run("CREATE OR REPLACE VIEW seen AS SELECT random() AS x")
        owner.run('CREATE SCHEMA IF NOT EXISTS "a b"; CREATE TABLE IF NOT EXISTS "a b"."c.d" (x int)')
    relation = {"view": "public.seen", "missing": "public.nothing", "other schema": "public.c"}[kind]
    with pytest.raises(InputRefused, match=r"server\.no_relation"):
        Server(tmp_path / address(postgres, tmp_path, relation=relation), PASSWORD)


@pytest.mark.parametrize(
    "sql",
    [
        "INSERT INTO public.visits DEFAULT VALUES",
        "SELECT 1 AS n INTO public.made",
        "SELECT nextval('public.counter') AS n",
        "SELECT count(*) AS n FROM pg_read_file('/etc/passwd')",
    ],
)
def test_the_session_only_reads(sql: str, postgres: Postgres, tmp_path: Path) -> None:
    """Whatever the role may do itself, and whatever it set for itself."""
    with postgres.asked() as owner:
        owner.run("CREATE TABLE IF NOT EXISTS visits (x text); CREATE SEQUENCE IF NOT EXISTS counter")
        owner.run("DROP ROLE IF EXISTS reader")
        owner.run(f"CREATE ROLE reader LOGIN PASSWORD '{PASSWORD.replace(chr(39), chr(39) * 2)}'")
        owner.run("GRANT ALL ON visits TO reader; GRANT ALL ON counter TO reader")
        owner.run(
            "ALTER ROLE reader SET default_transaction_read_only = off;"
            " ALTER ROLE reader SET search_path = evil"
        )
    try:
        asked = Server(tmp_path / address(postgres, tmp_path, user="reader"), PASSWORD)
        with pytest.raises(InputRefused, match=r"server\.failed"):
            list(asked.answers(sql, ()))
        asked.close()
    finally:
        with postgres.asked() as owner:
            owner.run("DROP OWNED BY reader; DROP ROLE reader")


def test_all_queries_see_the_same_rows(postgres: Postgres, tmp_path: Path) -> None:
    filled(postgres, pd.DataFrame({"x": ["a", "b"]}))
    asked = Server(tmp_path / address(postgres, tmp_path), PASSWORD)
    counts = []
    for _ in range(2):
        ((_, (often,)),) = asked.answers(f"SELECT count(*) AS n FROM {asked.source}", ())
        counts.append(often.to_pylist())
        with postgres.asked() as owner:
            owner.run("INSERT INTO visits VALUES ('c'); DELETE FROM visits WHERE x IN ('a', 'b')")
    assert counts == [[2], [2]] and asked.rows == 2
    asked.close()


# --- what goes wrong ---------------------------------------------


def spoken(refused: pytest.ExceptionInfo[InputRefused]) -> str:
    said = " ".join(sentences(refused.value.code, refused.value.values))
    assert PASSWORD not in said and "{" not in said
    return said


def test_a_wrong_password_is_said(postgres: Postgres, tmp_path: Path) -> None:
    path = tmp_path / address(postgres, tmp_path)
    for password, code in (("wrong", "password"), (None, "no_password")):
        with pytest.raises(InputRefused, match=rf"server\.{code}\b") as refused:
            Server(path, password)
        assert f"127.0.0.1:{postgres.port}/postgres" in spoken(refused)


def test_an_address_that_does_not_answer_is_said(postgres: Postgres, tmp_path: Path) -> None:
    with pytest.raises(InputRefused, match=r"server\.unreachable") as refused:
        Server(tmp_path / address(postgres, tmp_path, port=1), PASSWORD)
    assert "127.0.0.1:1/postgres" in spoken(refused)


def test_without_tls_no_other_computer_is_asked(postgres: Postgres, tmp_path: Path) -> None:
    """The server of the tests has none; asked for it, nothing but that wish is sent."""
    with pytest.raises(InputRefused, match=r"server\.tls") as refused:
        Server(tmp_path / address(postgres, tmp_path, tls=True), PASSWORD)
    spoken(refused)
    from engine.connector.session import is_loopback

    hosts = [
        "127.0.0.1",
        "::1",
        "localhost",
        "10.0.0.1",
        "db.example",
        "127.0.0.1.example",
        "localhost.example",
    ]
    assert [is_loopback(host) for host in hosts] == [True, True, True, False, False, False, False]


def certificate(folder: Path, host: str) -> tuple[Path, Path]:
    """Write a certificate that signs itself, and its key."""
    import datetime
    import ipaddress

    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(host))]), critical=True
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem, secret = folder / "server.crt", folder / "server.key"
    pem.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    plain = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    secret.write_bytes(key.private_bytes(serialization.Encoding.PEM, *plain))
    return pem, secret


def test_a_certificate_has_to_be_trusted_and_of_that_host(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    own, other = certificate(tmp_path, "127.0.0.1"), certificate(tmp_path / "other", "127.0.0.9")
    with running(tls=own) as secured:
        filled(secured, pd.DataFrame({"x": ["a"]}))
        asked = Server(tmp_path / address(secured, tmp_path, tls=True, ca="server.crt"), PASSWORD)
        assert asked.rows == 1 and len(asked.about["certificate"]) == 64
        asked.close()
        for ca in ("", "other/server.crt", "missing.crt"):
            more = {"ca": ca} if ca else {}
            with pytest.raises(InputRefused, match=r"server\.tls"):
                Server(tmp_path / address(secured, tmp_path, tls=True, **more), PASSWORD)
    with running(tls=other) as elsewhere, pytest.raises(InputRefused, match=r"server\.tls"):
        name = address(elsewhere, tmp_path, tls=True, ca="other/server.crt")
        Server(tmp_path / name, PASSWORD)  # trusted, but of another host


SLOW = "SELECT count(*) AS n FROM generate_series(1, 1000000000)"


@pytest.mark.parametrize("how", ["the server goes down", "the network is cut", "too slow"])
def test_a_query_that_breaks_off_is_said(how: str, tmp_path: Path) -> None:
    with running() as own:
        filled(own, pd.DataFrame({"x": ["a"]}))
        more: dict[str, object] = {"seconds": 1} if how == "too slow" else {}
        asked = Server(tmp_path / address(own, tmp_path, **more), PASSWORD)

        def cut() -> None:
            time.sleep(0.5)
            own.stop() if how == "the server goes down" else asked._process.kill()

        thread = threading.Thread(target=cut) if how != "too slow" else threading.Thread()
        thread.start()
        with pytest.raises(InputRefused, match=r"server\.(lost|failed)") as refused:
            list(asked.answers(SLOW, ()))
        thread.join()
        assert refused.value.code == ("server.failed" if how == "too slow" else "server.lost")
        spoken(refused)
        asked.close()


@pytest.mark.parametrize("when", ["before the first noise", "behind it"])
def test_a_server_that_goes_down_spends_nothing_or_what_was_drawn(
    when: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "people.csv").write_bytes(table(ROWS * 3))
    cap = 2 if when == "behind it" else None  # the lots of a cap are noise
    plan = plan_for("counts", cap=cap)
    with running() as own:
        filled(own, whole(plan, tmp_path))
        capped = Grouped.capped

        def stopped(used: Grouped, *given: Any) -> Grouped:
            own.stop()
            return capped(used, *given)

        monkeypatch.setattr(Grouped, "capped", stopped)
        ledger = Ledger(tmp_path / "ledger.sqlite")
        with pytest.raises(InputRefused, match=r"server\.lost"):
            run_it(on_server(plan, address(own, tmp_path)), tmp_path, ledger)
    (entry,) = ledger.entries()
    assert entry.state == {"before the first noise": "freed", "behind it": "failed"}[when]
    assert not (tmp_path / "bundle").exists() and not list(tmp_path.glob(".rows-*"))


# --- whole runs ---------------------------------------------


def run_it(plan: Plan, folder: Path, ledger: Ledger, *, password: str | None = PASSWORD) -> Path:
    door: Callable[[Callable[[], None]], Noise] = lambda spend: seeded_noise(4, on_first_draw=spend)  # noqa: E731
    return run_through(plan, folder / "bundle", ledger, folder, "en", SILENT, door, password=password).folder


def test_the_bundle_is_the_same_and_says_all_that_was_asked(postgres: Postgres, tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_bytes(table((*ROWS, *ODD_ROWS.values()) * 6))
    plan = plan_for("weighted mean", preparation=STEPS[:1])
    filled(postgres, whole(plan, tmp_path))
    made = []
    for own in (plan, on_server(plan, address(postgres, tmp_path))):
        folder = tmp_path / str(len(made))
        folder.mkdir()
        for name in ("people.csv", "dwh.server"):
            shutil.copy(tmp_path / name, folder) if (tmp_path / name).exists() else None
        made.append(run_it(own, folder, Ledger(folder / "ledger.sqlite")))
    first, second = ({one.name: one.read_bytes() for one in (at / "release").iterdir()} for at in made)
    assert set(first) == set(second)
    assert all(name.startswith(NAMED) for name in first if first[name] != second[name])
    said = [json.loads(one["evidence.json"]) for one in (first, second)]
    assert {**said[0], **UNLIKE} == {**said[1], **UNLIKE}
    assert b"127.0.0.1" not in b"".join(second.values())  # where the table is stays inside
    read = json.loads((made[1] / "internal" / "evidence.json").read_text())["internal"]["input"]
    assert read["held"] == "server" and read["address"] == f"127.0.0.1:{postgres.port}/postgres"
    assert read["engine"].startswith("PostgreSQL ") and read["snapshot"] and read["user"] == USER
    assert read["queries"] == len(read["asked"]) > 6 and read["sent"] > 0 < read["received"]
    assert sum(one["rows"] for one in read["asked"]) == read["fetched"]
    assert all(len(one["sha256"]) == 64 and one["sql"].startswith("SELECT") for one in read["asked"])
    kept = b"".join(one.read_bytes() for one in tmp_path.rglob("*") if one.is_file())
    assert PASSWORD.encode() not in kept


def test_the_command_line_asks_one_address_and_says_so(postgres: Postgres, tmp_path: Path) -> None:
    """Under strace: this program opens no internet socket, the connector only the named one."""
    (tmp_path / "people.csv").write_bytes(table(ROWS * 3))
    plan = plan_for("counts", cap=2)
    filled(postgres, whole(plan, tmp_path))
    plan = on_server(plan, address(postgres, tmp_path))
    (tmp_path / "plan.json").write_text(plan.dumps())
    command = [sys.executable, "-m", "engine", "run", str(tmp_path / "plan.json"), "--without-reason"]
    command += ["--out", str(tmp_path / "out"), "--ledger", str(tmp_path / "ledger.sqlite")]
    command += ["--server-password-from", "OF_THE_TESTS"]
    traced = ["strace", "-f", "-qq", "-e", "trace=socket,connect,execve", "-o", str(tmp_path / "trace")]
    has_strace = shutil.which("strace") is not None
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
    assert f"127.0.0.1:{postgres.port}/postgres" in done.stdout and PASSWORD not in done.stdout + done.stderr
    if not has_strace:
        pytest.skip("strace is not there: which sockets are opened was not looked at")
    lines = (tmp_path / "trace").read_text().splitlines()
    connector = {line.split()[0] for line in lines if "execve" in line and "engine.connector" in line}
    internet = [line for line in lines if "AF_INET" in line]
    assert len(connector) == 1 and internet
    assert {line.split()[0] for line in internet} == connector
    connected = [line for line in internet if "connect(" in line]
    assert connected and all(
        f"htons({postgres.port})" in line and '"127.0.0.1"' in line for line in connected
    )
    assert not any(PASSWORD in line for line in lines)


@pytest.mark.guarantee
def test_a_plan_check_connects_to_nothing(
    postgres: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server.subprocess, "Popen", lambda *_, **__: pytest.fail("somebody was asked"))
    plan = on_server(plan_for("counts", cap=2), address(postgres, tmp_path))
    answer = preview_json(plan, None, base=tmp_path)
    (found,) = answer["served"]
    assert found["tier"] == "server" and found["address"] == f"127.0.0.1:{postgres.port}/postgres"
    assert found["address"] in found["what"]
    assert not [one for one in answer["problems"] if one["code"].startswith(("server", "reading", "table"))]
    for other in (
        on_server(plan_for("counts of a slot", cap=2), "dwh.server"),
        replace(plan, preparation=({"step": "drop_people", "file": "objected.csv"},)),
    ):
        with pytest.raises(InputRefused, match=r"server\.only_groups"):
            served.served(
                other,
                check(plan_for("counts of a slot", cap=2)) if other.preparation == () else check(plan),
                base=tmp_path,
            )


@pytest.mark.parametrize(
    "other",
    [
        {"password": "x"},
        {"kind": "mysql"},
        {"port": "5432"},
        {"port": 0},
        {"host": ""},
        {"seconds": 0},
        {"tls": "no"},
    ],
)
def test_a_file_that_says_more_or_less_than_an_address_is_refused(
    other: dict[str, object], postgres: Postgres, tmp_path: Path
) -> None:
    with pytest.raises(InputRefused, match=r"server\.bad_file"):
        Address.read(tmp_path / address(postgres, tmp_path, **other))


def test_without_the_connector_a_sentence_says_what_to_install(
    postgres: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "_CONNECTOR", "engine.nothing")
    with pytest.raises(InputRefused, match=r"server\.no_connector") as refused:
        Server(tmp_path / address(postgres, tmp_path), PASSWORD)
    assert "custos-connector" in spoken(refused)


def test_the_other_process_gets_no_more_than_it_needs(
    postgres: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGPASSWORD", "of somebody")
    filled(postgres, pd.DataFrame({"x": ["a"]}))
    asked = Server(tmp_path / address(postgres, tmp_path), PASSWORD)
    place = Path(f"/proc/{asked._process.pid}")
    if place.exists():
        seen = (place / "environ").read_bytes() + (place / "cmdline").read_bytes()
        assert b"PGPASSWORD" not in seen and PASSWORD.encode() not in seen
    asked.close()
    assert asked._process.poll() is not None


def test_a_password_is_asked_for_on_a_terminal_alone(
    postgres: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, asked = on_server(plan_for("counts"), address(postgres, tmp_path)), list[str]()
    monkeypatch.setattr(values.getpass, "getpass", lambda prompt: asked.append(prompt) or "typed")
    monkeypatch.setenv("OF_THE_TESTS", "kept")
    assert values.password_for(plan, tmp_path, "OF_THE_TESTS") == "kept"
    assert values.password_for(plan, tmp_path, "MISSING_OF_THE_TESTS") is None
    monkeypatch.setattr(values.sys.stdin, "isatty", lambda: False, raising=False)
    assert values.password_for(plan, tmp_path, None) is None and not asked
    monkeypatch.setattr(values.sys.stdin, "isatty", lambda: True, raising=False)
    assert values.password_for(plan, tmp_path, None) == "typed"
    assert asked == [f"{USER}@127.0.0.1:{postgres.port}/postgres: "]
    assert values.password_for(plan_for("counts"), tmp_path, None) is None and len(asked) == 1


# --- looking at a table ---------------------------------------------


@pytest.mark.parametrize("key", ["person", ""])
@pytest.mark.guarantee
def test_a_sample_has_whole_people_however_their_keys_are_written(
    key: str, postgres: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(looking, "ROWS", 300)
    made = np.random.default_rng(3)
    forms = ("{}", " {}", "+{}.0", "{} ")
    numbers = made.integers(0, 250, 1000)
    keys = [forms[place % 4].format(number) for place, number in enumerate(numbers)]
    frame = pd.DataFrame({"person": [*keys, None], "x": [*made.choice(["a", "b"], 1000), "only once"]})
    filled(postgres, frame.astype("object").where(frame.notna(), None))
    if not key:  # nothing looks like whose a row is: every row has a lot of its own
        monkeypatch.setattr(looking, "key_candidates", lambda *given: [])
    found = looking.look(
        FileReference(str(tmp_path / address(postgres, tmp_path))), key=key, password=PASSWORD
    )
    assert found.part is not None and found.part.rows == 1001 and found.part.column == key
    chosen = found.table.rows()
    assert 150 < len(chosen) < 450
    if key:
        people = {int(float(one)) for one in chosen["person"]}
        assert len(chosen) == int(np.isin(numbers, list(people)).sum()) and 0 < len(people) < 250
    assert len(found.asked["asked"]) > 1 and found.asked["received"] > found.asked["sent"] > 0
    # what the sample did not see is found in all rows
    reference = FileReference(str(tmp_path / "dwh.server"))
    known = looking.read_values(reference, found, password=PASSWORD)
    assert known.part is not None and set(known.part.cells["x"]) == {"a", "b", "only once"}
    with postgres.asked() as owner:
        owner.run("UPDATE visits SET x = 'c' WHERE x = 'only once'")
    with pytest.raises(InputRefused, match=r"reading\.not_as_seen"):
        looking.read_values(reference, found, password=PASSWORD)


@pytest.mark.guarantee
def test_any_row_that_is_another_one_is_another_content(postgres: Postgres, tmp_path: Path) -> None:
    filled(postgres, pd.DataFrame({"x": ["a", "b", "b"], "y": ["1", "2", None]}))
    path, seen = tmp_path / address(postgres, tmp_path), list[str]()
    changes = (
        "SELECT 1",
        "INSERT INTO visits VALUES ('b', NULL)",
        "UPDATE visits SET y = '' WHERE y IS NULL",
    )
    changes += ("DELETE FROM visits WHERE x = 'a'", "DELETE FROM visits", "UPDATE visits SET x = 'a'")
    for change in changes:
        with postgres.asked() as owner:
            owner.run(change)
        asked = Server(path, PASSWORD)
        seen.append(asked.content)
        asked.close()
    assert len(set(seen)) == len(seen) - 1 and seen[-1] == seen[-2]  # nothing is left to change


def test_the_tables_that_may_be_read_are_listed(postgres: Postgres, tmp_path: Path) -> None:
    filled(postgres, pd.DataFrame({"x": ["a"]}))
    with postgres.asked() as owner:
        owner.run("DROP ROLE IF EXISTS few; DROP SCHEMA IF EXISTS mine CASCADE; CREATE SCHEMA mine")
        owner.run(
            'CREATE TABLE mine.seen (x int); CREATE TABLE mine.no (x int); CREATE TABLE mine."p.q" (x int)'
        )
        owner.run(
            "CREATE VIEW mine.view AS SELECT 1 AS x; CREATE MATERIALIZED VIEW mine.kept AS SELECT 1 AS x"
        )
        owner.run(f"CREATE ROLE few LOGIN PASSWORD '{PASSWORD.replace(chr(39), chr(39) * 2)}'")
        owner.run(
            'GRANT USAGE ON SCHEMA mine TO few; GRANT SELECT ON mine.seen, mine.kept, mine."p.q" TO few'
        )
    where = replace(Address.read(tmp_path / address(postgres, tmp_path)), user="few")
    listed = server.list_relations(where, PASSWORD)
    assert [name for name, _ in listed.relations] == ["mine.kept", "mine.seen"]
    assert listed.about["opened"] and PASSWORD not in json.dumps(listed.about)
    with postgres.asked() as owner:
        owner.run("DROP OWNED BY few; DROP ROLE few; DROP SCHEMA mine CASCADE")


def test_stop_ends_what_the_server_is_busy_with(postgres: Postgres, tmp_path: Path) -> None:
    filled(postgres, pd.DataFrame({"x": ["a"]}))
    began, progress = time.monotonic(), Progress(None, lambda: time.monotonic() - began > 0.5)
    asked = Server(tmp_path / address(postgres, tmp_path), PASSWORD)
    with pytest.raises(Cancelled), asked.stopped_by(progress):
        list(asked.answers(SLOW, ()))
    asked.close()
    assert_nobody_is_connected(postgres)


def assert_nobody_is_connected(postgres: Postgres) -> None:
    """Wait a moment: the server notices it when it looks next."""
    sql, until = (
        "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'custos'",
        time.monotonic() + 15,
    )
    with postgres.asked() as owner:
        while owner.run(sql) != [[0]] and time.monotonic() < until:
            time.sleep(0.1)
        assert owner.run(sql) == [[0]]


@pytest.mark.guarantee
def test_a_release_that_is_refused_leaves_no_connection(postgres: Postgres, tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_bytes(table(ROWS * 3))
    plan = plan_for("counts")
    filled(postgres, whole(plan, tmp_path))
    plan = on_server(plan, address(postgres, tmp_path))
    door: Callable[[Callable[[], None]], Noise] = lambda spend: seeded_noise(4, on_first_draw=spend)  # noqa: E731
    ledger, seen = Ledger(tmp_path / "ledger.sqlite"), {"dwh.server": "of other rows"}
    given = (plan, tmp_path / "bundle", ledger, tmp_path, "en", SILENT, door)
    with pytest.raises(InputRefused, match=r"reading\.not_as_seen") as refused:
        run_through(*given, seen=seen, password=PASSWORD)
    assert_nobody_is_connected(postgres)  # while the error is still there, and all that it holds
    assert refused.value.code and not ledger.entries()
