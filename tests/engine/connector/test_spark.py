"""A table on a real Spark, asked by Spark Connect, gives the release that it gives from memory."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from engine.errors import InputRefused
from engine.ledger import Ledger
from engine.methods.protocol import MAIN
from engine.privacy.noise import Noise
from engine.progress import SILENT
from engine.release import looking, reading
from engine.release.check import check
from engine.release.plan import FileReference, Plan
from engine.release.run import run_through
from engine.table.grouped import Grouped
from engine.table.schema import Schema
from engine.table.self_test import try_server
from engine.table.server import Address, Server, list_relations
from engine.table.stored import Store
from engine.texts import sentences
from tests.engine.adversarial.requests import ODD_ROWS, ROWS, plan_for, table
from tests.engine.connector.alike import assert_same_draft, on_server
from tests.engine.connector.spark_here import Spark, running, why_not
from tests.engine.release.test_grouped import STEPS, keyed, rows_of
from tests.engine.release.test_stored import EXAMPLES, NAMED, UNLIKE
from tests.noise_source import seeded_noise

pytestmark = [
    pytest.mark.before_release,
    pytest.mark.skipif(bool(why_not()), reason=why_not() or "there is one"),
]


@pytest.fixture(scope="module")
def spark() -> Iterator[Spark]:
    with running() as found:
        yield found


def asked_by_another(spark: Spark, *queries: str) -> None:
    """Have somebody else's session do something."""
    program = (
        "import sys, json; from pyspark.sql.connect.session import SparkSession;"
        "s = SparkSession.builder.remote(sys.argv[1]).create();"
        "[s.sql(one).collect() for one in json.loads(sys.stdin.read())]"
    )
    command = [sys.executable, "-c", program, f"sc://127.0.0.1:{spark.port}"]
    subprocess.run(command, input=json.dumps(queries), text=True, check=True, capture_output=True)


def address(spark: Spark, folder: Path, **other: object) -> str:
    """Write the file that names the server and a folder of Parquet, and return its name."""
    said = {
        "kind": "spark",
        "host": "127.0.0.1",
        "port": spark.port,
        "database": "spark_catalog",
        "user": "keeper",
        "relation": f"parquet:{folder / 'parts'}",
    }
    (folder / "lake.server").write_text(json.dumps(said | other))
    return "lake.server"


def filled(folder: Path, frame: pd.DataFrame, *, parts: int = 2) -> None:
    """Write a table as a folder of Parquet files."""
    (folder / "parts").mkdir(exist_ok=True)
    for part in range(parts):
        frame.iloc[part::parts].to_parquet(folder / "parts" / f"{part}.parquet", index=False)


def whole(plan: Plan, folder: Path) -> pd.DataFrame:
    return reading.read(replace(plan, schemas={MAIN: Schema()}, preparation=()), base=folder).table.rows()


def assert_released_alike(plan: Plan, spark: Spark, folder: Path) -> None:
    """Make a release from the file in memory and from the server, with the same noise.

    The server has the columns that are looked at alone: every other one would be two more queries.
    """
    looked = {name for step in plan.steps_of(MAIN) for name in (step.get("column"), step.get("date_column"))}
    looked |= set(check(plan, base=EXAMPLES).uses[MAIN])
    declared = tuple(one for one in plan.schema.columns if one.name in looked)
    plan, frame = replace(plan, schemas={MAIN: replace(plan.schema, columns=declared)}), whole(plan, folder)
    filled(folder, frame[[name for name in frame.columns if name in looked]])
    assert_same_draft(plan, address(spark, folder), folder)


@pytest.mark.usefixtures("same_lots")
@pytest.mark.parametrize("case", ["counts", "days", "weighted sum", "mean", "quantiles"])
def test_odd_rows_count_the_same(case: str, spark: Spark, tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_bytes(table((*ROWS, *ODD_ROWS.values()) * 9))
    cap = 200 if len(case) % 2 else None
    assert_released_alike(plan_for(case, cap=cap, preparation=STEPS), spark, tmp_path)


def read_keyed(spark: Spark, folder: Path, frame: pd.DataFrame, cap: int, used: str) -> reading.PreparedTable:
    filled(folder, frame)
    schema = keyed(cap)
    schema = Schema((schema.columns[0], replace(schema.columns[1], name=used)), cap)
    plan = replace(on_server(plan_for("counts"), address(spark, folder)), schemas={MAIN: schema})
    (folder / "room").mkdir(exist_ok=True)
    return reading.read(
        plan, base=folder, store=Store(folder / "room", (used,), schema.person_key), grouped=True
    )


@pytest.mark.parametrize("cap", [1, 3])
def test_every_query_keeps_the_same_rows(cap: int, spark: Spark, tmp_path: Path) -> None:
    made = np.random.default_rng(cap)
    numbers = made.integers(0, 30, 400)
    forms = ("{}", " {}", "+{}.0", "{} ", "\u200b{}")
    keys = [forms[place % 5].format(number) for place, number in enumerate(numbers)]
    cells = pd.Series(made.choice(["a", "b", "c", "odd", None], 400), dtype="str")
    frame = pd.DataFrame({"person": [*keys, None, "", "  "], "x": [*cells, "a", "b", "c"]})
    prepared = read_keyed(spark, tmp_path, frame, cap, "x")
    assert prepared.count_people() == {"people": 30, "rows_without_key": 3}
    used = reading.cap_rows(prepared, seeded_noise(cap))
    assert isinstance(used, Grouped)
    assert used.n_rows == int(np.minimum(np.bincount(numbers), cap).sum()) and used.most_rows() == cap
    assert rows_of(used) == rows_of(used)
    assert rows_of(reading.cap_rows(prepared, seeded_noise(cap + 10))) != rows_of(used)
    said = json.dumps(used.about["asked"])
    odd = [key for key in keys if not key.isdigit()]  # which go back within the queries
    assert "{pairs 1}" in said and not any(f"'{key}'" in said for key in odd)  # no key in the evidence
    reading.let_go({MAIN: prepared})


NAMES = ("${env:HOME}", "a`b", "\\")


@pytest.mark.parametrize("name", NAMES)
def test_no_name_of_a_column_and_no_key_is_read_as_part_of_a_query(
    name: str, spark: Spark, tmp_path: Path
) -> None:
    """A backslash begins another sign there, and ``${…}`` is a setting of the server."""
    keys = [" \\' --", "\\' --", " ${env:HOME}", "${env:HOME}", " 7\\n", "7\\n"]
    frame = pd.DataFrame({"person": keys, name: ["a", "b", "c", "a", "b", "c"]}, dtype="str")
    prepared = read_keyed(spark, tmp_path, frame, 2, name)
    used = reading.cap_rows(prepared, seeded_noise(1))
    found = Counter[str]()
    for rows, often in used.tallied([name]):
        assert often is not None
        found.update(dict(zip(rows[name], often.tolist(), strict=True)))
    assert found == Counter({"a": 2, "b": 2, "c": 2}) and prepared.count_people()["people"] == 3
    reading.let_go({MAIN: prepared})


def test_types_of_a_table_of_the_catalogue_are_told_apart(spark: Spark, tmp_path: Path) -> None:
    asked_by_another(
        spark,
        "DROP TABLE IF EXISTS visits",
        "CREATE TABLE visits (t STRING COLLATE UNICODE_CI, n DECIMAL(20, 2), d DATE, m TIMESTAMP,"
        " z TIMESTAMP_NTZ, f DOUBLE, r FLOAT, b BOOLEAN, w SMALLINT, a ARRAY<INT>) USING parquet",
        "INSERT INTO visits VALUES"
        " ('f', 1.5, DATE '2020-01-01', TIMESTAMP '2020-01-01 10:00:00.123456', TIMESTAMP_NTZ '2020-01-01"
        " 10:00:00', -0D, 0.1F, true, 5, array(1)),"
        " ('F', 1.50, DATE '1969-12-31', NULL, NULL, double('NaN'), -0F, NULL, NULL, NULL),"
        " ('f ', NULL, NULL, TIMESTAMP '1969-12-31 23:59:59', TIMESTAMP_NTZ '0044-01-01 00:00:00',"
        " double('inf'), float('NaN'), false, -7, NULL), ('', 7, NULL, NULL, NULL, 0D, 0F, NULL, -7, NULL)",
        "CREATE OR REPLACE TEMPORARY VIEW seen AS SELECT 1 AS x",
    )
    asked = Server(tmp_path / address(spark, tmp_path, relation="default.visits"), None)
    found = {}
    for name, cell in asked.cells.items():
        told = f"SELECT {cell} AS c0 FROM {asked.source}"
        parts = list(asked.answers(f"SELECT c0, count(*) AS n FROM ({told}) told GROUP BY c0", (name,)))
        found[name] = sum(len(cells[0]) for cells, _ in parts)
        assert sum(sum(often.to_pylist()) for _, (often,) in parts) == 4
    expected = {"t": 4, "n": 3, "d": 3, "m": 3, "z": 3, "f": 3, "r": 3, "b": 3, "w": 3, "a": 1}
    assert found == expected
    asked.close()
    listed = list_relations(Address.read(tmp_path / "lake.server"), "")
    assert [name for name, _ in listed.relations] == ["default.visits"]
    with pytest.raises(InputRefused, match=r"server\.no_relation"):
        Server(tmp_path / address(spark, tmp_path, relation="default.nothing"), None)


def test_a_folder_in_the_place_of_a_catalogue_is_listed(spark: Spark, tmp_path: Path) -> None:
    filled(tmp_path, pd.DataFrame({"x": ["a"]}))
    path = tmp_path / address(spark, tmp_path, database=str(tmp_path / "parts"))
    assert [name for name, _ in list_relations(Address.read(path), "").relations] == [
        f"parquet:{tmp_path / 'parts'}"
    ]


def test_a_row_that_comes_between_two_queries_stops_the_release(
    spark: Spark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spark shows no one state of the rows: they are compared behind the last query, and what was drawn is
    spent."""
    (tmp_path / "people.csv").write_bytes(table(ROWS * 3))
    plan = plan_for("counts", cap=2)
    frame = whole(plan, tmp_path)
    filled(tmp_path, frame)
    capped = Grouped.capped

    def changed(used: Grouped, *given: object) -> Grouped:
        frame.head(1).to_parquet(tmp_path / "parts" / "late.parquet", index=False)
        return capped(used, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(Grouped, "capped", changed)
    ledger = Ledger(tmp_path / "ledger.sqlite")
    with pytest.raises(InputRefused, match=r"server\.changed") as refused:
        run_it(on_server(plan, address(spark, tmp_path)), tmp_path, ledger)
    assert spoken(refused)
    (entry,) = ledger.entries()
    assert entry.state == "failed" and not (tmp_path / "bundle").exists()


def test_a_sample_has_whole_people(spark: Spark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looking, "ROWS", 300)
    made = np.random.default_rng(3)
    keys = [
        ("{}", " {}")[place % 2].format(number) for place, number in enumerate(made.integers(0, 250, 1000))
    ]
    filled(tmp_path, pd.DataFrame({"person": keys, "x": made.choice(["a", "b"], 1000)}))
    found = looking.look(FileReference(address(spark, tmp_path)), base=tmp_path, key="person")
    people = found.table.rows()["person"].str.strip()
    assert 150 < len(people) < 500 and found.part is not None and found.part.rows == 1000
    every = pd.Series(keys).str.strip()
    assert len(people) == int(every.isin(set(people)).sum())


def spoken(refused: pytest.ExceptionInfo[InputRefused]) -> str:
    said = " ".join(sentences(refused.value.code, refused.value.values))
    assert "{" not in said
    return said


def run_it(plan: Plan, folder: Path, ledger: Ledger) -> Path:
    door: Callable[[Callable[[], None]], Noise] = lambda spend: seeded_noise(4, on_first_draw=spend)  # noqa: E731
    return run_through(plan, folder / "bundle", ledger, folder, "en", SILENT, door).folder


def test_the_bundle_is_the_same_and_says_all_that_was_asked(spark: Spark, tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_bytes(table((*ROWS, *ODD_ROWS.values()) * 6))
    plan = plan_for("weighted mean", preparation=STEPS[:1])
    filled(tmp_path, whole(plan, tmp_path))
    made = []
    for own in (plan, on_server(plan, address(spark, tmp_path))):
        folder = tmp_path / str(len(made))
        folder.mkdir()
        for name in ("people.csv", "lake.server"):
            (folder / name).write_bytes((tmp_path / name).read_bytes())
        made.append(run_it(own, folder, Ledger(folder / "ledger.sqlite")))
    first, second = ({one.name: one.read_bytes() for one in (at / "release").iterdir()} for at in made)
    assert set(first) == set(second)
    assert all(name.startswith(NAMED) for name in first if first[name] != second[name])
    said = [json.loads(one["evidence.json"]) for one in (first, second)]
    assert {**said[0], **UNLIKE} == {**said[1], **UNLIKE}
    read = json.loads((made[1] / "internal" / "evidence.json").read_text())["internal"]["input"]
    assert read["held"] == "server" and read["kind"] == "spark" and read["engine"].startswith("Apache Spark ")
    assert read["queries"] == len(read["asked"]) > 6 and read["sent"] > 0 < read["received"]
    assert sum(one["rows"] for one in read["asked"]) == read["fetched"]


def test_the_self_test_finds_every_pitfall_closed(spark: Spark, tmp_path: Path) -> None:
    found = try_server(tmp_path / address(spark, tmp_path), None)
    assert found.passed and len(found.answers) > 20, found.to_json()


def test_a_query_that_takes_too_long_is_stopped(spark: Spark, tmp_path: Path) -> None:
    from engine.connector.session import Refused
    from engine.connector.spark import Spark as Session

    filled(tmp_path, pd.DataFrame({"x": ["a"]}))
    said = json.loads((tmp_path / address(spark, tmp_path)).read_text())
    session = Session({"password": "", "seconds": 600, **said})
    session._seconds = 1
    with pytest.raises(Refused) as refused:
        list(session.answer("SELECT count(*) AS n FROM range(0, 1000000000000) a", ["int64"]))
    assert (refused.value.code, refused.value.reason) == ("server.failed", "seconds")
    with pytest.raises(Refused):
        list(session.answer("DROP TABLE IF EXISTS visits", []))


def test_a_session_that_wraps_numbers_around_is_refused(tmp_path: Path) -> None:
    filled(tmp_path, pd.DataFrame({"x": ["a"]}))
    with (
        running(spark__sql__ansi__enabled="false") as wraps,
        pytest.raises(InputRefused, match=r"server\.no_ansi") as refused,
    ):
        Server(tmp_path / address(wraps, tmp_path), None)
    assert "spark.sql.ansi.enabled" in spoken(refused)


def test_a_server_that_goes_down_is_said(tmp_path: Path) -> None:
    filled(tmp_path, pd.DataFrame({"x": ["a"]}))
    with running() as own:
        asked = Server(tmp_path / address(own, tmp_path), None)
        own.stop()
        with pytest.raises(InputRefused, match=r"server\.lost") as refused:
            list(asked.answers(f"SELECT count(*) AS n FROM {asked.source}", ()))
        asked.close()
        with pytest.raises(InputRefused, match=r"server\.unreachable"):
            Server(tmp_path / "lake.server", None)
    assert f"127.0.0.1:{own.port}" in spoken(refused)
