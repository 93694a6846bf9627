"""A table whose cells DuckDB groups gives the release that it gives from memory, and DuckDB is locked."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from engine.errors import InputRefused
from engine.ledger import Ledger
from engine.methods.protocol import MAIN, Method
from engine.methods.shared.cells import Cells
from engine.methods.shared.quantity import WIDEST, Grid, Quantity
from engine.methods.shared.view import View
from engine.progress import SILENT
from engine.release import reading, served
from engine.release.check import check
from engine.release.make import Draft, make
from engine.release.plan import FileReference, Plan
from engine.release.preview import preview_json
from engine.release.run import run_through
from engine.table.grouped import Grouped
from engine.table.reading import duck
from engine.table.reading.duck import Duck
from engine.table.reading.options import ReadOptions
from engine.table.reading.readers import detect, read_table
from engine.table.schema import Column, Domain, Kind, Role, Schema
from engine.table.stored import Store, Stored
from engine.texts import sentences
from tests.engine.adversarial.requests import ODD_ROWS, PARAMETERS, ROWS, plan_for, table
from tests.engine.release.test_stored import ANSWERED, EXAMPLES, NAMED, UNLIKE, assert_same, spoilt
from tests.examples import few_on_a_commit
from tests.noise_source import seeded_noise

duckdb = pytest.importorskip("duckdb", minversion="2")

GROUPED = [(way, plan) for way, plan in ANSWERED if served.is_grouped(check(plan, base=EXAMPLES))]
HELD = ("memory", "store", "parquet", "duckdb")


def as_files(plan: Plan, folder: Path, *, parts: int = 1) -> dict[str, Plan]:
    """Write the table of a plan, as it is written, as a text, as Parquet and as a table of a DuckDB file."""
    frame = reading.read(replace(plan, schemas={MAIN: Schema()}, preparation=()), base=folder).table.rows()
    (folder / "parts").mkdir()
    for part in range(parts):
        frame.iloc[part::parts].to_parquet(folder / "parts" / f"{part}.parquet", index=False)
    made = duckdb.connect(str(folder / "made.duckdb"))
    made.register("given", pa.Table.from_pandas(frame, preserve_index=False))
    made.sql('CREATE SCHEMA "odd ""name"; CREATE TABLE "odd ""name"."a visit" AS SELECT * FROM given')
    made.sql("CREATE TABLE other (x INTEGER)")
    made.close()
    options = dict(plan.files[MAIN].options)
    kept = {"missing": options["missing"]} if "missing" in options else {}
    parquet = FileReference("parts", {"format": "parquet"} | kept)
    database = FileReference("made.duckdb", {"format": "duckdb", "sheet": 'odd "name.a visit'} | kept)
    whole = replace(plan, files={MAIN: parquet})
    return {
        "memory": whole,
        "store": whole,
        "parquet": whole,
        "duckdb": replace(plan, files={MAIN: database}),
    }


def made_by_each(plan: Plan, folder: Path, *, parts: int = 1) -> Iterator[Draft]:
    """Make a release from memory, from a store, and by groups of Parquet and of a DuckDB file."""
    for name, own in as_files(plan, folder, parts=parts).items():
        design = check(own, base=EXAMPLES)
        (folder / name).mkdir(mode=0o700)
        store = Store(folder / name, design.uses[MAIN], own.schema.person_key)
        prepared = reading.read_all(
            own,
            design.sources_read,
            base=folder,
            design=design,
            stores={} if name == "memory" else {MAIN: store},
            grouped=[] if name in ("memory", "store") else [MAIN],
        )
        kind = {"memory": False, "store": Stored}.get(name, Grouped)
        assert isinstance(prepared[MAIN].table, kind) if kind else True
        yield make(design, prepared, seeded_noise(5), folder=folder)


def test_most_ways_that_add_up_are_grouped() -> None:
    assert len(GROUPED) >= 6


@pytest.mark.usefixtures("same_lots")
@pytest.mark.parametrize(("way", "plan"), few_on_a_commit(GROUPED, 2))
def test_the_release_is_the_same_to_the_byte(way: type[Method], plan: Plan, tmp_path: Path) -> None:
    """Odd and missing cells in every column; where a person has few rows enough, the cap keeps them all."""
    spoiled = spoilt(plan, tmp_path)
    schemas = {MAIN: replace(spoiled.schema, rows_per_person=max(spoiled.schema.rows_per_person, 400))}
    has_key = spoiled.schema.person_key is not None
    drafts = list(made_by_each(replace(spoiled, schemas=schemas) if has_key else spoiled, tmp_path))
    for other in drafts[1:]:
        assert_same([drafts[0], other])


STEPS = (
    {"step": "keep_rows_where", "column": "sex", "is": "not_missing"},
    {"step": "bands", "column": "weight", "edges": [0, 2, 4], "to": "heavy"},
    {"step": "recode", "column": "sex", "map": {"x": "f"}},
    {"step": "keep_rows_where", "column": "heavy", "is": "in", "values": ["[0-2)", "[2-4)"]},
)


@pytest.mark.usefixtures("same_lots")
@pytest.mark.parametrize("cap", [None, 200])
@pytest.mark.parametrize("case", few_on_a_commit(sorted(set(PARAMETERS) - {"counts of a slot"}), 2))
def test_odd_rows_count_the_same(case: str, cap: int | None, tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_bytes(table((*ROWS, *ODD_ROWS.values()) * 9))
    drafts = list(made_by_each(plan_for(case, cap=cap, preparation=STEPS), tmp_path, parts=3))
    for other in drafts[1:]:
        assert_same([drafts[0], other])


# --- the cap ---------------------------------------------


def grouped(
    folder: Path, frame: pd.DataFrame, schema: Schema, uses: tuple[str, ...]
) -> reading.PreparedTable:
    """Return a table of a Parquet file by groups."""
    frame.to_parquet(folder / "people.parquet", index=False)
    plan = plan_for("counts", files={MAIN: FileReference("people.parquet", {"format": "parquet"})})
    room = folder / "room"
    room.mkdir(exist_ok=True)
    found = reading.read(
        replace(plan, schemas={MAIN: schema}),
        base=folder,
        store=Store(room, uses, schema.person_key),
        grouped=True,
    )
    assert isinstance(found.table, Grouped)
    return found


def keyed(cap: int) -> Schema:
    cells = Domain(values=("a", "b", "c"))
    return Schema((Column("person", Role.PERSON_KEY), Column("x", kind=Kind.CATEGORY, domain=cells)), cap)


def rows_of(used: reading.Table) -> Counter[str]:
    found = Counter[str]()
    for frame, often in used.tallied(["x"]):
        assert often is not None
        found.update(dict(zip(frame["x"].astype("object").fillna(""), often.tolist(), strict=True)))
    return found


@pytest.mark.parametrize("cap", [1, 2, 3])
def test_every_query_of_a_release_keeps_the_same_rows(cap: int, tmp_path: Path) -> None:
    """A key of a person in several forms is one person, and nobody's rows are left out."""
    made = np.random.default_rng(cap)
    numbers = made.integers(0, 30, 400)
    forms = ("{}", " {}", "+{}.0", "{} ", "\u200b{}")
    keys = [forms[place % 5].format(number) for place, number in enumerate(numbers)]
    cells = pd.Series(made.choice(["a", "b", "c", "odd", None], 400), dtype="str")
    frame = pd.DataFrame({"person": [*keys, None, "", "  "], "x": [*cells, "a", "b", "c"]})
    prepared = grouped(tmp_path, frame, keyed(cap), ("x",))
    assert prepared.count_people() == {"people": 30, "rows_without_key": 3}
    used = reading.cap_rows(prepared, seeded_noise(cap))
    assert isinstance(used, Grouped)
    expected = int(np.minimum(np.bincount(numbers), cap).sum())
    assert used.n_rows == expected < 400 and used.most_rows() == cap
    assert rows_of(used) == rows_of(used)
    assert rows_of(used).total() == expected
    other = reading.cap_rows(prepared, seeded_noise(cap + 10))
    assert rows_of(other) != rows_of(used)


@pytest.mark.parametrize("most", [1, 7, 401])
def test_keys_that_are_asked_for_in_parts_are_all_asked_for_once(
    most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 43 million keys DuckDB's memory did not hold the list: they come some at a time."""
    made = np.random.default_rng(1)
    keys = [" {}" if place % 3 else "{}" for place in range(400)]
    keys = [key.format(number) for key, number in zip(keys, made.integers(0, 90, 400), strict=True)]
    frame = pd.DataFrame({"person": [*keys, None, "", "  "], "x": ["a"] * 403})
    found, queries = [], []
    for number, some in enumerate((1 << 24, most)):
        monkeypatch.setattr(duck, "MOST_DIFFERENT", some)
        (tmp_path / str(number)).mkdir()
        prepared = grouped(tmp_path / str(number), frame, keyed(1), ("x",))
        parts = [part.to_pylist() for part in prepared.table.key_parts()]
        told = {key for part in parts for key in part if key is not None}
        found.append((told, prepared.count_people(), prepared.fingerprints.fingerprint))
        assert isinstance(prepared.table, Grouped)
        queries.append(prepared.table.about["queries"])
    assert found[0] == found[1] and found[0][1]["people"] == len(set(map(str.strip, keys)))
    assert queries[1] == queries[0] + 3 * (-(-403 // most) - 1)  # as they are written, as people, and counted


def test_alike_rows_have_a_lot_each(tmp_path: Path) -> None:
    """Of nine alike rows and another one the other is kept one time in ten, not one in two."""
    people = [f"p{number}" for number in range(2000) for _ in range(10)]
    frame = pd.DataFrame({"person": people, "x": (["a"] * 9 + ["b"]) * 2000})
    prepared = grouped(tmp_path, frame, keyed(1), ("x",))
    kept = rows_of(reading.cap_rows(prepared, seeded_noise(3)))
    assert kept.total() == 2000
    # Binomial(2000, 1/10): six standard deviations are 80; fails by chance one time in 5·10^8
    assert abs(kept["b"] - 200) <= 80


def test_lots_do_not_follow_from_the_place_of_a_row(tmp_path: Path) -> None:
    """Removing a person leaves the rows of everybody else as they were."""
    made = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"person": made.integers(0, 50, 400).astype(str), "x": made.choice(["a", "b", "c"], 400)}
    )
    without = frame[frame["person"] != "7"].reset_index(drop=True)
    kept = [
        rows_of(reading.cap_rows(grouped(tmp_path, one, keyed(2), ("x",)), seeded_noise(1)))
        for one in (frame, without)
    ]
    assert 0 < (kept[0] - kept[1]).total() <= 2 and not kept[1] - kept[0]


# --- pitfalls of other engines: none of them reads a cell ---------------------------------------------


def written(folder: Path, columns: dict[str, pa.Array]) -> Path:
    pq.write_table(pa.table(columns), folder / "typed.parquet")
    return folder / "typed.parquet"


def counted_by_both(path: Path, schema: Schema, names: list[str]) -> list[Counter[tuple[object, ...]]]:
    """Return how often every combination of prepared cells occurs, from memory and by groups."""
    plan = plan_for("counts", files={MAIN: FileReference(path.name, {"format": "parquet"})})
    plan, found = replace(plan, schemas={MAIN: schema}), []
    room = path.parent / "room"
    room.mkdir(exist_ok=True)
    for grouped in (False, True):
        store = Store(room, tuple(names), None) if grouped else None
        read = reading.read(plan, base=path.parent, store=store, grouped=grouped).table
        assert isinstance(read, Grouped) == grouped
        times = Counter[tuple[object, ...]]()
        for frame, often in read.tallied(names):
            rows = frame.astype("str").astype("object").where(frame.notna(), "")
            for row, count in zip(
                rows.itertuples(index=False), np.ones(len(rows)) if often is None else often, strict=True
            ):
                times[tuple(row)] += int(count)
        found.append(times)
    return found


def test_every_type_that_is_grouped_is_read_as_from_the_file(tmp_path: Path) -> None:
    """Missing numbers, −0, NaN, infinity, long whole numbers, tabs, capitals, days out of the calendar."""
    far = pa.array([10**9, None, 0, 1, 0], pa.int32()).cast(pa.date32())
    text = ["f", "F", "f\t", "a\0b", "ä"]
    columns = {
        "text": pa.array(text),
        "empty": pa.array(["", None, " ", "\u00a0", "x"], pa.large_string()),
        "coded": pa.array(["x", "y", None, "x", "x"]).dictionary_encode(),
        "double": pa.array([-0.0, 0.0, float("nan"), float("inf"), None]),
        "single": pa.array([0.1, 2.5, -0.0, 0.0, None], pa.float32()),
        "long": pa.array([2**53 + 1, 2**53, None, 1, 1]),
        "longest": pa.array([2**64 - 1, 1, 1, 0, 0], pa.uint64()),
        "whole": pa.array([1, None, 3, -4, 5], pa.int8()),
        "yes": pa.array([True, None, False, True, True]),
        "day": far,
        "moment": pa.array([1, 2, None, -(10**15), 5], pa.timestamp("ms")),
        "zone": pa.array([1, 2, None, 4, 5], pa.timestamp("us", tz="Europe/Zurich")),
        "decimal": pa.array([1, 2, None, 4, 5]).cast(pa.decimal128(38, 2)),
        "text ": pa.array(["another", "column", None, "of the name", ""]),
        'q"uote; --': pa.array(["'", '"', ";", "--", "\\"]),
    }
    path = written(tmp_path, columns)
    names = list(read_table(path).names)
    for name in names:
        memory, other = counted_by_both(path, Schema(), [name])
        assert memory == other and memory.total() == 5, name
    memory, other = counted_by_both(path, Schema(), names)
    assert memory == other and len(memory) == 5
    pq.write_table(pa.table({"age": [1, 2], "Age": [3, 4]}), path)
    with pytest.raises(AssertionError):
        counted_by_both(path, Schema(), ["age"])  # by the store: DuckDB knows no capitals of names


def test_what_is_found_in_cells_is_counted_by_rows(tmp_path: Path) -> None:
    columns = {
        "number": pa.array([float("inf"), 1.0, float("inf"), float("-inf"), None]),
        "day": pa.array([10**9, 10**9, None, 1, 10**8], pa.int32()).cast(pa.date32()),
        "zone": pa.array([1, 1, None, 4, 5], pa.timestamp("us", tz="Europe/Zurich")),
    }
    path = written(tmp_path, columns)
    memory = {(one.code, one.column): one.count for one in read_table(path).findings}
    plan = replace(plan_for("counts"), schemas={MAIN: Schema()})
    plan = replace(plan, files={MAIN: FileReference(path.name, {"format": "parquet"})})
    (tmp_path / "room").mkdir()
    store = Store(tmp_path / "room", ("number",), None)
    found = reading.read(plan, base=tmp_path, store=store, grouped=True).table.findings
    assert {(one.code, one.column): one.count for one in found} == memory
    assert sorted(memory.values()) == [3, 3, 5]


def test_what_the_ledger_knows_a_column_by_is_the_same(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_bytes(table((*ROWS, *ODD_ROWS.values()) * 3))
    plans = as_files(plan_for("counts"), tmp_path)
    room = tmp_path / "room"
    room.mkdir()
    whole = reading.read(plans["memory"], base=tmp_path).fingerprints
    for name in ("parquet", "duckdb"):
        found = reading.read(plans[name], base=tmp_path, store=Store(room, ("sex",), None), grouped=True)
        assert isinstance(found.table, Grouped)
        assert found.fingerprints.contents.tolist() == whole.contents.tolist() and len(whole.contents) == 6
        assert not len(found.fingerprints.rows)


@pytest.mark.parametrize(
    "kind", ["duration", "time", "list", "nanoseconds as a key", "bytes that are no text"]
)
def test_what_an_engine_tells_apart_otherwise_goes_to_the_store(kind: str, tmp_path: Path) -> None:
    stamps = pa.array([1, 2], pa.timestamp("ns"))
    odd = {
        "duration": pa.array([1, 2], pa.duration("s")),
        "time": pa.array([1, 2], pa.time64("ns")),
        "list": pa.array([[1], [2]]),
        "nanoseconds as a key": stamps,
        "bytes that are no text": pa.Array.from_buffers(
            pa.string(), 2, pa.array([b"ok", b"\xff\xfe"]).buffers()
        ),
    }[kind]
    path = written(tmp_path, {"x": odd, "y": pa.array(["a", "b"])})
    column = Column("x", Role.PERSON_KEY if "key" in kind else Role.OTHER)
    plan = plan_for("counts", files={MAIN: FileReference(path.name, {"format": "parquet"})})
    plan = replace(plan, schemas={MAIN: Schema((column, Column("y")), 1)})
    design = replace_uses(check(plan_for("counts")), ("x", "y"))
    if kind != "bytes that are no text":  # its type does not tell
        assert not served._can_group(
            plan, design, MAIN, [(path, reading.options_of_reading(plan.files[MAIN]))]
        )
        return
    (tmp_path / "room").mkdir()
    store = Store(tmp_path / "room", ("x", "y"), None)
    found = reading.read(plan, base=tmp_path, store=store, grouped=True)
    assert isinstance(found.table, Stored) and [one.code for one in found.table.findings] == [
        "table.cells_undecodable"
    ]


def replace_uses(design: Method, names: tuple[str, ...]) -> Method:
    class Using:
        uses = {MAIN: names}  # noqa: RUF012

    return Using()  # type: ignore[return-value]


def test_a_collation_joins_no_cells(tmp_path: Path) -> None:
    made = duckdb.connect(str(tmp_path / "made.duckdb"))
    made.sql("CREATE TABLE t (s VARCHAR COLLATE NOCASE, u UUID, t TIME, h HUGEINT, i INTERVAL)")
    values = "'6a48374a-53d5-4dc4-b099-96c57dd9676e', '10:00', 1, INTERVAL 1 month"
    other = values.replace("1 month", "30 days")
    made.sql(f"INSERT INTO t VALUES ('f', {values}), ('F', {other}), ('f ', {values})")
    made.close()
    asked = Duck([tmp_path / "made.duckdb"], is_database=True)
    for name, number in (("s", 3), ("i", 2), ("u", 1), ("t", 1), ("h", 1)):
        sql = f"SELECT {asked.cells[name]} AS c0, count(*) AS n FROM {asked.source} GROUP BY 1"
        assert sum(len(cells[0]) for cells, _ in asked.answers(sql, (name,))) == number, name
    asked.close()


def test_sums_beyond_64_bits_are_exact() -> None:
    """What one combination stands for is multiplied: it never wraps."""
    steps, often = np.array([WIDEST, -WIDEST, WIDEST]), np.array([10**9, 1, 10**9])

    class Big(View):
        def _tallied(self, names: object) -> Iterator[object]:
            for _ in range(3):
                yield pd.DataFrame({"x": steps.astype(float)}), often

    column = Column(
        "x", kind=Kind.INTEGER, domain=Domain(minimum=Fraction(-WIDEST), maximum=Fraction(WIDEST))
    )
    grid = Grid(column, -WIDEST, WIDEST, Fraction(1))
    view = Big(reading.Table(pd.DataFrame({"x": [0.0]})), check(plan_for("sum")).needs)  # type: ignore[arg-type]
    sums, counts = view.sums(Quantity(value=grid), Cells(()))
    assert sums.tolist() == [3 * (2 * 10**9 - 1) * WIDEST] and counts.tolist() == [3 * (2 * 10**9 + 1)]
    assert sums.tolist()[0] > 2**63


# --- locked ---------------------------------------------

FORBIDDEN = (
    "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT * FROM read_text('{other}')",
    "SELECT * FROM glob('/etc/*')",
    "SELECT * FROM read_parquet('https://example.org/a.parquet')",
    "INSTALL httpfs",
    "LOAD httpfs",
    "ATTACH '{other}' AS more",
    "COPY (SELECT 1) TO '{folder}/out.csv'",
    "EXPORT DATABASE '{folder}/exported'",
    "SET enable_external_access = true",
    "SET threads = 1",
    "SET autoload_known_extensions = true",
)


@pytest.mark.parametrize("kind", ["parquet", "duckdb"])
def test_duckdb_is_locked(kind: str, tmp_path: Path) -> None:
    made = duckdb.connect(str(tmp_path / "made.duckdb"))
    made.sql("CREATE TABLE t AS SELECT 1 AS x")
    made.sql(f"COPY t TO '{tmp_path}/made.parquet'")
    made.close()
    (tmp_path / "other").write_text("secret")
    (tmp_path / "spill").mkdir()
    asked = Duck([tmp_path / f"made.{kind}"], is_database=kind == "duckdb", temporary=tmp_path / "spill")
    there = set(tmp_path.rglob("*"))
    for one in FORBIDDEN:
        sql = one.format(other=tmp_path / "other", folder=tmp_path)
        with pytest.raises(InputRefused, match=r"table\.duck_failed"):
            list(asked.answers(sql, ()))
    with pytest.raises(InputRefused), asked._explained():
        asked._run(f"INSERT INTO {asked.source} VALUES (2)")
    assert set(tmp_path.rglob("*")) == there and asked.rows == 1
    asked.close()


@pytest.mark.parametrize("name", sorted({**duck.LOCKED, **duck.SHUT}))
def test_a_setting_that_is_not_taken_stops_everything(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path, {"x": pa.array([1])})
    run = Duck._run

    def forgets(asked: Duck, sql: str) -> list[tuple[object, ...]]:
        found = run(asked, sql)
        return [(one, "?" if one == name else value) for one, value in found] if "settings" in sql else found

    monkeypatch.setattr(Duck, "_run", forgets)
    with pytest.raises(InputRefused, match=r"table\.duck_not_locked"):
        Duck([path])


def test_without_duckdb_a_sentence_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = duckdb.connect(str(tmp_path / "made.duckdb"))
    made.sql("CREATE TABLE t AS SELECT 1 AS x")
    made.close()
    monkeypatch.setattr(duck, "PACKAGE", "a-package-that-nobody-has")
    with pytest.raises(InputRefused, match=r"table\.no_duckdb") as refused:
        read_table(tmp_path / "made.duckdb")
    assert any(
        "pip install custos[duckdb]" in one for one in sentences(refused.value.code, refused.value.values)
    )


# --- DuckDB files as any other file ---------------------------------------------


def test_a_table_of_a_duckdb_file_is_read_and_its_name_is_pinned(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_bytes(table(ROWS))
    plans = as_files(plan_for("counts", cap=2), tmp_path)
    own = replace(plans["duckdb"], files={MAIN: FileReference("made.duckdb", {})})
    with pytest.raises(InputRefused, match=r"reading\.options_open"):
        reading.refuse_open(own, check(plans["duckdb"]).sources)
    said = reading.pin_reading(own, base=tmp_path).files[MAIN].options
    assert said["sheet"] == "other" and said["format"] == "duckdb"
    found = detect(tmp_path / "made.duckdb")
    assert found.sheets == ("other", 'odd "name.a visit') and found.names == ("x",)
    first = read_table(tmp_path / "parts" / "0.parquet").rows()
    options = ReadOptions(format="duckdb", sheet='odd "name.a visit')
    pd.testing.assert_frame_equal(read_table(tmp_path / "made.duckdb", options=options).rows(), first)
    with pytest.raises(InputRefused, match=r"table\.no_such_sheet"):
        read_table(tmp_path / "made.duckdb", options=ReadOptions(sheet="missing"))


@pytest.mark.parametrize("harm", ["another has it open", "changes wait", "cut off", "no table"])
def test_a_duckdb_file_that_cannot_be_read_is_explained(harm: str, tmp_path: Path) -> None:
    path = tmp_path / "made.duckdb"
    made = duckdb.connect(str(path))
    if harm != "no table":
        made.sql("CREATE TABLE t AS SELECT range AS x FROM range(100000)")
    if harm != "another has it open":
        made.close()
    if harm == "changes wait":
        (tmp_path / "made.duckdb.wal").write_bytes(b"x")
    if harm == "cut off":
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    codes = {"cut off": "duck_failed", "no table": "empty_file"}
    with pytest.raises(InputRefused, match=rf"table\.{codes.get(harm, 'duck_open')}"):
        read_table(path)
    made.close()


# --- whole runs ---------------------------------------------


def run_each(plans: dict[str, Plan], folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    """Run a plan from memory and by groups, each with a ledger of its own and the same noise."""
    found = {}
    for name in ("memory", "parquet", "duckdb"):
        monkeypatch.setattr(served, "most_memory", lambda name=name: 1 << 40 if name == "memory" else 0)
        (folder / name).mkdir()
        made = run_through(
            plans[name],
            folder / name / "bundle",
            Ledger(folder / name / "ledger.sqlite"),
            folder,
            "en",
            SILENT,
            lambda spend: seeded_noise(4, on_first_draw=spend),
        )
        assert [one.name for one in (folder / name).iterdir() if one.name.startswith(".")] == []
        found[name] = made.folder
    return found


@pytest.mark.parametrize("cap", [None, 300])
def test_the_bundle_is_the_same_to_the_byte(
    cap: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    if cap is not None:
        request.getfixturevalue("same_lots")
    (tmp_path / "people.csv").write_bytes(table((*ROWS, *ODD_ROWS.values()) * 6))
    plan = plan_for("weighted mean", cap=cap, preparation=STEPS[:1])
    made = run_each(as_files(plan, tmp_path), tmp_path, monkeypatch)
    released = {
        name: {one.name: one.read_bytes() for one in (at / "release").iterdir()} for name, at in made.items()
    }
    first = released.pop("memory")
    for other in released.values():
        assert set(other) == set(first)
        assert all(name.startswith(NAMED) for name in first if first[name] != other[name])
        said = [json.loads(one["evidence.json"]) for one in (first, other)]
        assert {**said[0], **UNLIKE} == {**said[1], **UNLIKE}
    inside = {
        name: json.loads((at / "internal" / "evidence.json").read_text())["internal"]
        for name, at in made.items()
    }
    memory = inside.pop("memory")
    for other in inside.values():
        read = other["input"]
        about = {
            "held": "grouped",
            "engine": f"DuckDB {duckdb.__version__}",
            "known_by": ["people", "contents"],
        }
        assert {name: read[name] for name in about} == about
        # cells of the answer at most, the distinct cells of every column twice, and some numbers
        assert 6 < read["queries"] < 40 and read["fetched"] < 6 * len(ROWS + tuple(ODD_ROWS)) + 100
        same = ("rows", "rows_used", *(("people", "rows_without_key") if cap else ()))
        assert {name: read[name] for name in same} == {name: memory["input"][name] for name in same}
        assert other["findings"] == memory["findings"]
        error = "utility.released_error"
        assert other["measures"][error] == memory["measures"][error]
        assert not any("failed" in one for one in other["measures"].values())


def test_a_plan_check_says_that_duckdb_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "people.csv").write_bytes(table(ROWS * 5))
    plan = as_files(plan_for("counts", cap=2), tmp_path, parts=2)["parquet"]
    said = []
    for most, there in ((1 << 40, True), (0, True), (0, False)):
        monkeypatch.setattr(served, "most_memory", lambda most=most: most)
        monkeypatch.setattr(served, "has_duckdb", lambda there=there: there)
        (found,) = preview_json(plan, None, base=tmp_path)["served"]
        assert found["rows"] == 5 * len(ROWS)
        said.append(found["tier"])
    assert said == ["memory", "grouped", "store"]


def test_a_file_that_changes_under_the_queries_ends_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between reserving and the first noise: nothing is spent."""
    (tmp_path / "people.csv").write_bytes(table(ROWS * 5))
    plan = as_files(plan_for("counts", cap=2), tmp_path)["parquet"]
    monkeypatch.setattr(served, "most_memory", lambda: 0)
    capped = Grouped.capped

    def changes(used: Grouped, *given: object) -> Grouped:
        path = tmp_path / "parts" / "0.parquet"
        path.write_bytes(path.read_bytes())
        return capped(used, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(Grouped, "capped", changes)
    ledger = Ledger(tmp_path / "ledger.sqlite")
    with pytest.raises(InputRefused, match=r"reading\.changed"):
        run_through(
            plan,
            tmp_path / "out",
            ledger,
            tmp_path,
            "en",
            SILENT,
            lambda spend: seeded_noise(4, on_first_draw=spend),
        )
    (entry,) = ledger.entries()
    assert entry.state == "failed" and not (tmp_path / "out").exists()  # the lots of the cap were drawn


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not there")
def test_a_run_by_groups_opens_no_socket(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_bytes(table(ROWS * 5))
    plan = as_files(plan_for("counts", cap=2), tmp_path)["parquet"]
    (tmp_path / "plan.json").write_text(plan.dumps())
    code = (
        "import sys; from engine.release import served; served.most_memory = lambda: 0;"
        "from engine.__main__ import main; sys.exit(main(sys.argv[1:]))"
    )
    command = [sys.executable, "-c", code, "run", str(tmp_path / "plan.json"), "--without-reason"]
    command += ["--out", str(tmp_path / "out"), "--ledger", str(tmp_path / "ledger.sqlite")]
    traced = ["strace", "-f", "-qq", "-e", "trace=socket", "-o", str(tmp_path / "trace")]
    subprocess.run([*traced, *command], check=True, capture_output=True)
    read = json.loads((tmp_path / "out" / "internal" / "evidence.json").read_text())["internal"]["input"]
    assert read["held"] == "grouped"
    assert "AF_INET" not in (tmp_path / "trace").read_text()
