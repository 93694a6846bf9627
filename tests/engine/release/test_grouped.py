"""A table whose cells DuckDB groups gives the release that it gives from memory, and DuckDB is locked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from engine.methods.protocol import MAIN, Method
from engine.privacy.noise import Noise
from engine.release import reading, served
from engine.release.check import check
from engine.release.make import Draft, make
from engine.release.plan import FileReference, Plan
from engine.table.grouped import Grouped
from engine.table.schema import Column, Domain, Kind, Role, Schema
from engine.table.stored import Store, Stored
from tests.engine.adversarial.requests import ODD_ROWS, PARAMETERS, ROWS, plan_for, table
from tests.engine.release.test_stored import ANSWERED, EXAMPLES, assert_same, spoilt
from tests.noise_source import seeded_noise

duckdb = pytest.importorskip("duckdb", minversion="2")

GROUPED = [(way, plan) for way, plan in ANSWERED if served.is_grouped(check(plan, base=EXAMPLES))]
HELD = ("memory", "store", "parquet", "duckdb")


@pytest.fixture
def same_lots(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the lots of the cap take nothing from the noise: each way of holding rows draws other ones."""
    lots = np.random.Generator(np.random.Philox(key=1))
    monkeypatch.setattr(
        Noise, "random_keys", lambda noise, count: lots.integers(1 << 63, size=count).astype("u8")
    )


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
    return {
        "memory": replace(plan, files={MAIN: parquet}),
        "store": replace(plan, files={MAIN: parquet}),
        "parquet": replace(plan, files={MAIN: parquet}),
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
@pytest.mark.parametrize(("way", "plan"), GROUPED, ids=[way.id for way, _ in GROUPED])
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
@pytest.mark.parametrize("case", sorted(set(PARAMETERS) - {"counts of a slot"}))
def test_odd_rows_count_the_same(case: str, cap: int | None, tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_bytes(table((*ROWS, *ODD_ROWS.values()) * 9))
    drafts = list(made_by_each(plan_for(case, cap=cap, preparation=STEPS), tmp_path, parts=3))
    for other in drafts[1:]:
        assert_same([drafts[0], other])


# --- the cap -----------------------------------------------------------------------------------------------


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
