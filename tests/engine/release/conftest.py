"""A small register of stays, a plan about it and a ledger of its own: where every release test starts."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from engine.ledger import Ledger
from engine.methods.protocol import MAIN, Budget
from engine.pricing.price import Price
from engine.privacy.noise import Noise
from engine.progress import SILENT
from engine.release.bundle import Bundle, write_sums
from engine.release.plan import FileReference, Plan, Purpose
from engine.release.reading import pin_reading
from engine.release.run import run_through
from engine.release.signature import SIGNATURE
from engine.table.schema import Column, Domain, Kind, Origin, Role, Schema
from tests.noise_source import seeded_noise

ROWS = """patient;sex;ward;stay
P1;f;north;3
P1;f;south;4
P2;m;north;1
P3;f;south;9
P4;m;south;2
P5;m;north;
P6;x;north;5
"""

SECRETS = ("P1", "P2", "P3", "P4", "P5", "P6")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "stays.csv").write_text(ROWS)
    return tmp_path


@pytest.fixture
def plan(folder: Path) -> Plan:
    return plan_in(folder)


def plan_in(folder: Path) -> Plan:
    """Return the plan about the table in a folder."""
    columns = (
        Column("patient", Role.PERSON_KEY, Kind.TEXT),
        Column("sex", Role.IDENTIFYING, Kind.CATEGORY, Domain(values=("f", "m")), Origin.DECLARED),
        Column("ward", Role.OTHER, Kind.CATEGORY, Domain(values=("north", "south")), Origin.DECLARED),
        Column(
            "stay",
            Role.SENSITIVE,
            Kind.INTEGER,
            Domain(minimum=Fraction(0), maximum=Fraction(30), step=Fraction(1)),
            Origin.DECLARED,
        ),
    )
    decided = Plan(
        method="statistics.counts",
        files={MAIN: FileReference("stays.csv")},
        schemas={MAIN: Schema(columns, 1)},
        parameters={"columns": ["sex", "ward"], "extra_cells": "separate"},
        budget=Budget(Fraction(1, 2)),
        purpose=Purpose("Stays by sex and ward", "R-1", "University", "DUA 1", "2027-12-31", "DPO"),
        price=Price(people=6, compensation=Fraction(500), budget=Fraction(1000)),
        holding="Register of stays",
        holding_budget=Budget(Fraction(2)),
    )
    return pin_reading(decided, base=folder)


@pytest.fixture
def ledger(folder: Path) -> Ledger:
    return Ledger(folder / "ledger.sqlite")


Runner = Callable[..., Bundle]


@pytest.fixture
def run(plan: Plan, folder: Path, ledger: Ledger) -> Runner:
    """Run the plan, or a change of it, with seeded noise."""

    def runner(
        name: str = "bundle", *, seed: int = 1, progress=SILENT, door=None, **changes: object
    ) -> Bundle:
        changed = replace(plan, **changes)
        open_door = door or (lambda spend: seeded_noise(seed, on_first_draw=spend))
        return run_through(changed, folder / name, ledger, folder, "en", progress, open_door)

    return runner


def release_once(folder: Path) -> Bundle:
    """Make the release; its ledger lies beside it."""
    (folder / "stays.csv").write_text(ROWS)
    ledger = Ledger(folder / "ledger.sqlite")

    def door(spend: Callable[[], None]) -> Noise:
        return seeded_noise(1, on_first_draw=spend)

    return run_through(plan_in(folder), folder / "bundle", ledger, folder, "en", SILENT, door)


@pytest.fixture(scope="session")
def typeset(tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    """Make the release once for the tests that are marked ``with_reports``."""
    return release_once(tmp_path_factory.mktemp("typeset"))


@pytest.fixture(scope="session")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    """Make the release once for all others, with an empty page in the place of its reports."""
    return release_once(tmp_path_factory.mktemp("plain"))


@pytest.fixture
def made(request: pytest.FixtureRequest, folder: Path) -> Bundle:
    """Return a copy of the release that a test may change, with a copy of its ledger."""
    once: Bundle = request.getfixturevalue("typeset" if "with_reports" in request.keywords else "plain")
    shutil.copytree(once.folder, folder / "bundle")
    shutil.copy(once.folder.parent / "ledger.sqlite", folder)
    shutil.copytree(once.folder.parent / "ledger.sqlite-keys", folder / "ledger.sqlite-keys")
    return replace(once, folder=folder / "bundle")


def forge_sums(folder: Path) -> None:
    """Do what somebody does who changed a file: write sums that fit, and take away what cannot fit."""
    (folder / SIGNATURE).unlink(missing_ok=True)
    write_sums(folder)
