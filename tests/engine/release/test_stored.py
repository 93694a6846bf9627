"""A table that is coded on the disk gives the release that it gives from memory, and leaves nothing."""

from __future__ import annotations

import csv
import json
import os
import stat
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from engine.errors import InputRefused
from engine.ledger import Ledger
from engine.methods.catalogue import methods
from engine.methods.protocol import MAIN, Method, Service
from engine.methods.shared.view import View
from engine.privacy.noise import Noise
from engine.progress import SILENT
from engine.release import reading, served, working
from engine.release.check import check
from engine.release.examples import plans
from engine.release.make import Draft, make
from engine.release.plan import FileReference, Plan
from engine.release.preview import preview_json
from engine.release.run import run_through
from engine.table import stored
from engine.table.reading import text
from engine.table.schema import Column, Role, Schema
from engine.table.stored import Store, Stored
from engine.table.table import Table
from tests.engine.adversarial.requests import HEADER, ODD_ROWS, OPTIONS, PARAMETERS, ROWS, plan_for, table
from tests.engine.methods.shared.test_view import contents
from tests.noise_source import seeded_noise

EXAMPLES = Path("resources/examples")
ODD = (
    *("", " ", "?", "-9", "99", "zzz", " f", "6.0", "+7", "1e1", "1,5", "nan", "inf", "=1+1", "2020-02-30"),
    *("[70-80) ", "9" * 30, "Köln"),
)


def answered() -> list[tuple[type[Method], Plan]]:
    """Return an example of every way of the catalogue that a store answers."""
    found = {}
    for way in methods():
        if way.sources and not issubclass(way, Service):
            for plan in plans(way):
                if served.is_answered(check(plan, base=EXAMPLES)):
                    found.setdefault(way.id, (way, plan))
    return list(found.values())


ANSWERED = answered()


def spoilt(plan: Plan, folder: Path, rows: int = 400) -> Plan:
    """Return a plan about a part of its table, with odd and missing cells in every column."""
    reference = plan.files[MAIN]
    options = reading.options_of_reading(reference)
    with (EXAMPLES / reference.path).open(encoding=options.encoding, newline="") as file:
        names, *lines = list(csv.reader(file, delimiter=options.delimiter or ","))[: rows + 1]
    key = plan.schema.person_key
    for place, name in enumerate(names):
        for row, line in enumerate(lines):
            odd = (row * 7 + place * 3) % 5 == 0
            if key is not None and name == key.name:
                line[place] = "" if odd and row % 3 == 0 else f"person number {row}" if row % 2 else str(row)
            elif odd:
                line[place] = ODD[(row + place) % len(ODD)]
    with (folder / "spoilt.csv").open("w", encoding=options.encoding, newline="") as file:
        csv.writer(file, delimiter=options.delimiter or ",", lineterminator="\n").writerows([names, *lines])
    said = {**reference.options, "line_ends": "\n", "multiline": False}
    return replace(plan, files={MAIN: FileReference("spoilt.csv", said)})


def both(plan: Plan, folder: Path, *, cut: bool = True) -> list[Draft]:
    """Make a release from memory and from a store, with the same noise."""
    design = check(plan, base=EXAMPLES)
    room, found = folder / "rows", []
    room.mkdir(mode=0o700)
    store = Store(room, design.uses[MAIN], plan.schema.person_key)
    with pytest.MonkeyPatch.context() as patched:
        for stores in ({}, {MAIN: store}):
            prepared = reading.read_all(plan, design.sources_read, base=folder, design=design, stores=stores)
            assert isinstance(prepared[MAIN].table, Stored) == bool(stores)
            found.append(make(design, prepared, seeded_noise(5), folder=folder))
            patched.setattr(text, "_PART", 2000 if cut else text._PART)
    assert len(store.lengths) > 1 or not cut
    return found


def assert_same(drafts: list[Draft]) -> None:
    memory, disk = drafts
    assert contents(memory.release) == contents(disk.release) and contents(memory.release)
    assert memory.release.promise == disk.release.promise
    assert memory.release.notes == disk.release.notes
    assert memory.release.views == disk.release.views
    assert memory.drawn == disk.drawn
    assert len(memory.used[MAIN]) == len(disk.used[MAIN]) > 0


def test_most_ways_that_ask_for_answers_are_served() -> None:
    assert len(ANSWERED) >= 13


@pytest.mark.parametrize(("way", "plan"), ANSWERED, ids=[way.id for way, _ in ANSWERED])
def test_the_release_is_the_same_to_the_byte(way: type[Method], plan: Plan, tmp_path: Path) -> None:
    assert_same(both(spoilt(plan, tmp_path), tmp_path))


@pytest.mark.parametrize("cap", [None, 2])
@pytest.mark.parametrize("case", PARAMETERS)
def test_odd_rows_count_the_same(case: str, cap: int | None, tmp_path: Path) -> None:
    """With a cap that binds too: the lots fall in the order of the rows, for all people at a time."""
    (tmp_path / "people.csv").write_bytes(table((*ROWS, *ODD_ROWS.values()) * 9))
    steps = (
        {"step": "keep_rows_where", "column": "sex", "is": "not_missing"},
        {"step": "bands", "column": "weight", "edges": [0, 2, 4], "to": "heavy"},
    )
    plan = plan_for(case, cap=cap, preparation=steps)
    assert_same(both(plan, tmp_path))


def test_looking_for_everybodys_rows_reads_each_row_once_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many groups people are looked at in: else the work would grow with the square of the rows."""
    monkeypatch.setattr(stored, "_TOGETHER", 10)
    monkeypatch.setattr(stored, "_BLOCK", 50)
    keys = [f"p{number % 60}" if number % 7 else None for number in range(300)]
    key = Column("person", Role.PERSON_KEY)
    store = Store(tmp_path, (), key)
    store.add(Table(pd.DataFrame({"person": pd.Series(keys, dtype="str")})), np.ones(300, bool))
    read, counted = Store.read, list[tuple[str, int]]()

    def counting(self: Store, name: str, kind: type, start: int, count: int, width: int = 1) -> object:
        counted.append((name, count))
        return read(self, name, kind, start, count, width)

    monkeypatch.setattr(Store, "read", counting)
    for kept in (None, np.arange(300) < 150):
        found: dict[int, set[str | None]] = {}
        for group, (places, people) in enumerate(store.by_person(kept)):
            for place, person in zip(places.tolist(), people.tolist(), strict=True):
                found.setdefault(group * 1000 + person, set()).add(keys[place])
        assert all(len(names) == 1 for names in found.values()) and len(found) == len({*keys} - {None})
    rows = sum(key is not None for key in keys)
    assert sum(count for name, count in counted if name == "people") == 300
    assert sum(count for name, count in counted if name == "groups") == 2 * rows


@pytest.mark.parametrize("together", [1, 3, 10**6])
def test_the_cap_holds_however_many_people_are_looked_at(
    together: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = np.random.default_rng(1)
    keys = [
        f"a key of a person that is long {number}" if number % 3 else f"P{number}" for number in range(40)
    ]
    rows = [f"{keys[one]},f,1,1,1," for one in made.integers(0, 40, 300)]
    (tmp_path / "people.csv").write_text("\n".join([HEADER, *rows, ",f,1,1,1,", ",m,1,1,1,"]) + "\n")
    columns = plan_for("counts", cap=3).schema.columns
    schema = replace(
        plan_for("counts", cap=3).schema, columns=(Column("person", Role.PERSON_KEY), *columns[1:])
    )
    plan = replace(plan_for("counts", cap=3), schemas={MAIN: schema})
    monkeypatch.setattr(stored, "_TOGETHER", together)
    memory, disk = both(plan, tmp_path)
    rows_of = pd.Series([row.split(",")[0] for row in rows]).value_counts()
    assert len(disk.used[MAIN]) == len(memory.used[MAIN]) == rows_of.clip(upper=3).sum() < 300
    used = disk.used[MAIN]
    assert isinstance(used, Stored)
    assert max(np.bincount(people).max() for _, people in used.by_person() if len(people)) == 3
    assert used.count_people() == (rows_of.size, 2)
    assert {one for part in used.key_parts() for one in part.to_pylist()} == set(rows_of.index)


def test_one_row_of_a_person_counts_in_a_slot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = np.random.default_rng(2)
    rows = [f"{made.integers(1, 30)},{made.choice(['f', 'm', 'x'])},1,1,1," for _ in range(300)]
    (tmp_path / "people.csv").write_text("\n".join([HEADER, *rows]) + "\n")
    monkeypatch.setattr(stored, "_TOGETHER", 40)
    used = both(plan_for("counts of a slot", cap=3), tmp_path)[1].used[MAIN]
    assert isinstance(used, Stored)
    assert len(used) == len({tuple(row.split(",")[:2]) for row in rows}) > 60


# --- whole runs --------------------------------------------------------------------------------------------

NAMED = (
    "README", "SHA256SUMS", "datapackage", "evidence", "report-external", "ro-crate-metadata", "signature"
)  # fmt: skip
"""Files of a bundle in which its number, its time (README: to the minute) or its ledger stands."""
UNLIKE = dict.fromkeys(("bundle_id", "input_name", "ledger", "made_at"))


def folder_of(tmp_path: Path, kind: str, parts: int = 3) -> str:
    """Write the odd table as several files in a folder, and return its name."""
    folder, lines = tmp_path / "parts", (*ROWS, *ODD_ROWS.values()) * 6
    folder.mkdir()
    (folder / "_SUCCESS").write_text("")
    if kind == "csv":
        for place in range(parts):
            (folder / f"part-{place}.csv").write_bytes(table(lines[place::parts]))
        return folder.name
    (tmp_path / "whole.csv").write_bytes(table(lines))
    plan = plan_for(
        "counts", cap=2, files={MAIN: FileReference("whole.csv", OPTIONS)}, schemas={MAIN: Schema()}
    )
    frame = reading.read(plan, base=tmp_path).table.rows()
    for place in range(parts):
        frame.iloc[place::parts].to_parquet(folder / f"part-{place}.parquet", index=False)
    return folder.name


def run_both(plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Run a plan from memory, then from a store, each with a ledger of its own and the same noise."""
    found = []
    monkeypatch.setattr(served, "has_duckdb", lambda: False)
    for name, most in (("memory", 1 << 40), ("store", 0)):
        monkeypatch.setattr(served, "most_memory", lambda most=most: most)
        (tmp_path / name).mkdir()
        ledger = Ledger(tmp_path / name / "ledger.sqlite")
        made = run_through(
            plan,
            tmp_path / name / "bundle",
            ledger,
            tmp_path,
            "en",
            SILENT,
            lambda spend: seeded_noise(4, on_first_draw=spend),
        )
        assert not list((tmp_path / name).glob(f"{working.ROWS}*"))
        found.append(made.folder)
    return found


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_folder_is_released_alike_from_memory_and_disk(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reference = FileReference(folder_of(tmp_path, kind), OPTIONS if kind == "csv" else {})
    plan = reading.pin_reading(plan_for("weighted mean", cap=2, files={MAIN: reference}), base=tmp_path)
    assert kind == "csv" or not reading.contradictions(plan, tmp_path)
    stores: list[Path] = []
    add = Store._add

    def noted(store: Store, *given: object) -> None:
        add(store, *given)  # type: ignore[arg-type]
        stores.append(store.folder)
        assert stat.S_IMODE(store.folder.stat().st_mode) == 0o700
        assert {stat.S_IMODE(one.stat().st_mode) for one in store.folder.iterdir()} == {0o600}
        names = " ".join(one.name for one in store.folder.iterdir())
        assert not any(cell in names for cell in ("oops", "0x1", "1+1", "9999"))

    monkeypatch.setattr(Store, "_add", noted)
    memory, disk = run_both(plan, tmp_path, monkeypatch)
    assert len(stores) == 3 and not stores[0].exists()
    first, second = (
        {one.name: one.read_bytes() for one in (at / "release").iterdir()} for at in (memory, disk)
    )
    assert set(first) == set(second)
    differing = {name for name in first if first[name] != second[name]}
    assert all(name.startswith(NAMED) for name in differing)
    said = [json.loads(one["evidence.json"]) for one in (first, second)]
    assert {**said[0], **UNLIKE} == {**said[1], **UNLIKE}
    inside = [json.loads((at / "internal" / "evidence.json").read_text()) for at in (memory, disk)]
    internal = [one["internal"] for one in inside]
    read = [one["input"] for one in internal]
    assert read[0] | {"held": "store"} == read[1] and read[0]["rows_without_key"] > 0
    assert internal[0]["findings"] == internal[1]["findings"]
    assert bool(internal[0]["findings"]) == (kind == "csv")
    measured = [one["measures"] for one in internal]
    error = "utility.released_error"
    assert measured[0][error] == measured[1][error] and "failed" not in measured[0][error]
    for name in set(measured[0]) - {error}:
        same = measured[0][name] == measured[1][name]
        assert same or measured[1][name] == {"not_asked": "needs_all_rows"}
    assert measured[1]["utility.cap"] == {"not_asked": "needs_all_rows"} != measured[0]["utility.cap"]


def test_invented_rows_are_written_from_a_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = next(plan for way, plan in ANSWERED if way.id == "datasets.network")
    monkeypatch.setattr(served, "most_memory", lambda: 0)
    ledger = Ledger(tmp_path / "ledger.sqlite")
    made = run_through(
        spoilt(plan, tmp_path),
        tmp_path / "bundle",
        ledger,
        tmp_path,
        "en",
        SILENT,
        lambda spend: seeded_noise(4, on_first_draw=spend),
    )
    read = json.loads((made.folder / "internal" / "evidence.json").read_text())["internal"]
    assert read["input"]["held"] == "store" and made.spread is None and made.beside is None
    not_asked = [name for name, one in read["measures"].items() if "not_asked" in one]
    assert not_asked and not any("failed" in one for one in read["measures"].values())
    listed = replace(plan, preparation=({"step": "drop_people", "file": "objected.csv"},))
    monkeypatch.setattr(served, "most_memory", lambda: 1)
    with pytest.raises(InputRefused, match=r"reading\.needs_all_rows"):
        served.served(spoilt(listed, tmp_path), check(plan, base=EXAMPLES), base=tmp_path)


def test_what_needs_all_rows_is_refused_before_anything_is_reserved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "people.csv").write_bytes(table(ROWS * 50))
    monkeypatch.setattr(served, "most_memory", lambda: 100)
    ledger = Ledger(tmp_path / "ledger.sqlite")
    plan = plan_for("counts", cap=2)
    held = replace(plan, measures=("utility.cap",))
    monkeypatch.setattr(reading, "read_all", lambda *_, **__: pytest.fail("rows were read"))
    with pytest.raises(InputRefused, match=r"reading\.measure_needs_all_rows"):
        run_through(held, tmp_path / "out", ledger, tmp_path, "en", SILENT, lambda spend: Noise())
    monkeypatch.setattr(served, "is_answered", lambda design: False)
    with pytest.raises(InputRefused, match=r"reading\.needs_all_rows") as refused:
        run_through(plan, tmp_path / "out", ledger, tmp_path, "en", SILENT, lambda spend: Noise())
    assert refused.value.values["most"] < 3 < refused.value.values["rows"]
    assert not ledger.entries() and not list(tmp_path.glob(".*"))


def test_what_a_killed_process_left_is_taken_away(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.sqlite")
    with working.rows_on_disk(ledger) as make_folder:
        running = make_folder()
        dead = make_folder()
        process = json.loads((dead / working.PROCESS).read_text())
        (dead / working.PROCESS).write_text(json.dumps(process | {"started": "0"}))
        (dead / "piece 0").write_text("a cell")
        half = tmp_path / f"{working.ROWS}half"
        half.mkdir()
        working.sweep(ledger)
        assert running.exists() and half.exists() and not dead.exists()
        os.utime(half, (1, 1))
        working.sweep(ledger)
        assert running.exists() and not half.exists()
    assert not running.exists()


def test_a_plan_check_says_how_a_table_is_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = 4000
    (tmp_path / "people.csv").write_bytes(table(("1,f,1,0.5,1,01/02/2020",) * rows))
    plan, said = plan_for("counts", cap=2), []
    for most in (1 << 40, 0):
        monkeypatch.setattr(served, "most_memory", lambda most=most: most)
        (found,) = preview_json(plan, None, base=tmp_path)["served"]
        assert abs(found["rows"] - rows) < 0.05 * rows and found["files"] == 1
        assert found["columns"] == len(reading.columns_used(plan, check(plan), MAIN) or ())
        said.append((found["tier"], found["disk"] > 0))
    assert said == [("memory", False), ("store", True)]
    monkeypatch.setattr(served, "is_answered", lambda design: False)
    problems = preview_json(plan, None, base=tmp_path)["problems"]
    assert "reading.needs_all_rows" in [one["code"] for one in problems]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_plan_check_is_right_about_the_disk(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """About: between what is taken and twice as much, where cells and keys are not long."""
    folder, rows = tmp_path / "parts", 30_000
    folder.mkdir()
    made = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "person": [f"P{one:06d}" for one in made.integers(0, rows // 2, rows)],
            "sex": made.choice(["f", "m"], rows),
            "visits": made.integers(1, 3, rows).astype(str),
            "score": made.choice(["0.5", "1.0"], rows),
            "weight": "1",
            "seen": "01/02/2020",
        }
    )
    for place in range(3):
        part, path = frame.iloc[place::3], folder / f"part-{place}.{kind}"
        part.to_csv(path, index=False) if kind == "csv" else part.to_parquet(path, index=False)
    reference = FileReference("parts", OPTIONS if kind == "csv" else {"format": "parquet"})
    plan = reading.pin_reading(plan_for("counts", cap=2, files={MAIN: reference}), base=tmp_path)
    key = Column("person", Role.PERSON_KEY)
    plan = replace(plan, schemas={MAIN: Schema((key, *plan.schema.columns[1:]), 2)})
    monkeypatch.setattr(served, "has_duckdb", lambda: False)
    monkeypatch.setattr(served, "most_memory", lambda: 0)
    (said,) = preview_json(plan, None, base=tmp_path)["served"]
    assert (said["tier"], said["files"]) == ("store", 3) and abs(said["rows"] - rows) < 0.01 * rows
    assert said["size"] == sum(one.stat().st_size for one in folder.iterdir())
    taken: list[int] = []
    keep = Stored.keep

    def noted(used: Stored, kept: np.ndarray) -> Stored:
        taken.append(sum(one.stat().st_size for one in used._store.folder.iterdir()))
        return keep(used, kept)

    monkeypatch.setattr(Stored, "keep", noted)
    run_through(
        plan,
        tmp_path / "out",
        Ledger(tmp_path / "ledger.sqlite"),
        tmp_path,
        "en",
        SILENT,
        lambda spend: seeded_noise(4, on_first_draw=spend),
    )
    assert 0.5 * said["disk"] < taken[0] < said["disk"]


def test_a_store_answers_no_more_than_was_declared(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_bytes(table(ROWS))
    _, disk = both(plan_for("counts", cap=2), tmp_path, cut=False)
    used = disk.used[MAIN]
    for ask in (
        used.rows,
        lambda: used.only(["sex"]),
        lambda: used.encoded("sex"),
        lambda: used.with_findings(()),
    ):
        with pytest.raises(InputRefused, match=r"reading\.not_in_memory"):
            ask()
    with pytest.raises(PermissionError):
        View(used, check(plan_for("counts", cap=2)).needs).rows()


def test_a_folder_without_a_table_is_refused(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "notes.pdf").write_text("")
    plan = plan_for("counts", files={MAIN: FileReference("parts", OPTIONS)})
    with pytest.raises(InputRefused, match=r"reading\.empty_folder"):
        reading.read(plan, base=tmp_path)
