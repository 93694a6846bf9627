"""The same release from a file in memory and from a server, for servers of every kind."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from engine.methods.protocol import MAIN
from engine.release import reading
from engine.release.check import check
from engine.release.make import make
from engine.release.plan import FileReference, Plan
from engine.table.grouped import Grouped
from engine.table.stored import Store
from tests.engine.release.test_stored import EXAMPLES, assert_same
from tests.noise_source import seeded_noise


def on_server(plan: Plan, name: str) -> Plan:
    """Keep how a day is written: what else is said of a text file is not said of a server."""
    days = {key: value for key, value in plan.files[MAIN].options.items() if key == "date_order"}
    return replace(plan, files={MAIN: FileReference(name, days)})


def quoted(value: object) -> str:
    """Return a cell as SQL writes it."""
    return "NULL" if value is None or value != value else "'" + str(value).replace("'", "''") + "'"


def assert_same_draft(plan: Plan, server: str, folder: Path, *, password: str = "") -> None:
    """Make a release from the file in memory and from the server, with the same noise."""
    drafts = []
    for own in (plan, on_server(plan, server)):
        design = check(own, base=EXAMPLES)
        (folder / f"room {len(drafts)}").mkdir(mode=0o700)
        store = Store(folder / f"room {len(drafts)}", design.uses[MAIN], own.schema.person_key)
        prepared = reading.read_all(
            own,
            design.sources_read,
            base=folder,
            design=design,
            stores={MAIN: store} if drafts else {},
            grouped=[MAIN] if drafts else [],
            password=password,
        )
        assert isinstance(prepared[MAIN].table, Grouped) == bool(drafts)
        drafts.append(make(design, prepared, seeded_noise(5), folder=folder))
        reading.confirm(prepared)
        reading.let_go(prepared)
    assert_same(drafts)
