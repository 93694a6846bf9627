"""One release from memory, from a coded store, and from every engine that groups cells: the same to the byte.

The table has odd and missing cells in every column, and no cap binds: the lots of a cap fall in another way
on every engine. An engine that is not on this computer is skipped by its name.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from engine.methods.protocol import MAIN, Method
from engine.privacy.noise import Noise
from engine.release import reading
from engine.release.check import check
from engine.release.make import Draft, make
from engine.release.plan import FileReference, Plan
from engine.table.grouped import Grouped
from engine.table.stored import Store, Stored
from engine.table.table import Held
from tests.engine.connector import postgres_here, spark_here, test_postgres, test_spark
from tests.engine.connector.alike import on_server
from tests.engine.release.test_grouped import GROUPED
from tests.engine.release.test_stored import EXAMPLES, assert_same, spoilt
from tests.examples import few_on_a_commit
from tests.noise_source import seeded_noise


def as_parquet(plan: Plan, folder: Path, engine: object) -> Plan:
    test_spark.filled(folder, test_spark.whole(plan, folder))
    options = plan.files[MAIN].options
    kept = {"missing": options["missing"]} if "missing" in options else {}
    return replace(plan, files={MAIN: FileReference("parts", {"format": "parquet"} | kept)})


def on_postgresql(plan: Plan, folder: Path, engine: postgres_here.Postgres) -> Plan:
    test_postgres.filled(engine, test_postgres.whole(plan, folder))
    return on_server(plan, test_postgres.address(engine, folder))


def on_spark(plan: Plan, folder: Path, engine: spark_here.Spark) -> Plan:
    test_spark.filled(folder, test_spark.whole(plan, folder))
    return on_server(plan, test_spark.address(engine, folder))


def no_duckdb() -> str:
    return "" if importlib.util.find_spec("duckdb") else "there is no DuckDB"


def no_postgresql() -> str:
    return postgres_here.why_not() or ("" if importlib.util.find_spec("pg8000") else "there is no pg8000")


ENGINES: dict[str, tuple[type[Held], Callable[..., Plan], Callable[[], str]]] = {
    "store": (Stored, lambda plan, folder, engine: plan, str),
    "duckdb": (Grouped, as_parquet, no_duckdb),
    "postgresql": (Grouped, on_postgresql, no_postgresql),
    "spark": (Grouped, on_spark, spark_here.why_not),
}
STARTED = {"postgresql": postgres_here.running, "spark": spark_here.running}


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(name, marks=pytest.mark.before_release) if name == "spark" else name for name in ENGINES
    ],
)
def engine(request: pytest.FixtureRequest):
    """Give the name of an engine and what was started of it; servers run as long as this file does."""
    name = request.param
    reason = ENGINES[name][2]()
    if reason:
        pytest.skip(reason)
    if name not in STARTED:
        yield name, None
        return
    with STARTED[name]() as started:
        yield name, started


def made(plan: Plan, folder: Path, kind: type[Held] | None) -> Draft:
    """Make a release whose rows are held in a way, with noise that is always the same."""
    design = check(plan, base=EXAMPLES)
    room = folder / f"room of {'memory' if kind is None else kind.__name__}"
    room.mkdir(mode=0o700)
    lots = np.random.Generator(np.random.Philox(key=1))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(
            Noise, "random_keys", lambda noise, count: lots.integers(1 << 63, size=count).astype("u8")
        )
        prepared = reading.read_all(
            plan,
            design.sources_read,
            base=folder,
            design=design,
            stores={} if kind is None else {MAIN: Store(room, design.uses[MAIN], plan.schema.person_key)},
            grouped=[MAIN] if kind is Grouped else [],
            password=postgres_here.PASSWORD,
        )
        table = prepared[MAIN].table
        assert isinstance(table, kind) if kind is not None else not isinstance(table, Held)
        draft = make(design, prepared, seeded_noise(5), folder=folder)
        reading.confirm(prepared)
        reading.let_go(prepared)
    return draft


@pytest.mark.parametrize(("way", "plan"), few_on_a_commit(GROUPED, 1))
def test_every_way_says_the_same_on_every_engine(
    way: type[Method], plan: Plan, engine: tuple[str, object], tmp_path: Path
) -> None:
    name, started = engine
    kind, put, _ = ENGINES[name]
    spoiled = spoilt(plan, tmp_path)
    if spoiled.schema.person_key is not None:
        spoiled = replace(spoiled, schemas={MAIN: replace(spoiled.schema, rows_per_person=400)})
    memory = made(spoiled, tmp_path, None)
    assert_same([memory, made(put(spoiled, tmp_path, started), tmp_path, kind)])
