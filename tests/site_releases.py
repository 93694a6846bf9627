"""Releases of several invented sites, each with a ledger of its own and seeded noise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from engine.ledger import Ledger
from engine.methods.catalogue import method as find_method
from engine.methods.protocol import MAIN, Budget
from engine.pricing.price import Price
from engine.privacy.noise import Noise
from engine.progress import SILENT
from engine.release.plan import FileReference, Plan, Purpose
from engine.release.reading import pin_reading
from engine.release.run import run_through
from engine.table.schema import Column, Domain, Kind, Origin, Role, Schema
from tests.noise_source import seeded_noise

NAMES = ("North", "South", "Town", "Coast", "Hills", "Lake")
EPSILON = Fraction(1)


@dataclass(frozen=True)
class Table:
    """The rows of one site, one a person; people are numbered from ``first``."""

    stay: Any
    age: Any
    sex: Any
    ended: Any
    first: int = 0

    def write(self, path: Path) -> None:
        """Write them as CSV."""
        parts = zip(self.stay, self.age, self.sex, self.ended, strict=True)
        lines = [f"P{number};{';'.join(map(str, row))}" for number, row in enumerate(parts, self.first)]
        path.write_text("patient;stay;age;sex;ended\n" + "\n".join(lines) + "\n")


def invent(place: int, *, people: int = 800) -> Table:
    """Return the rows of a site; sites differ in how long people stay."""
    lots = np.random.default_rng(100 + place)
    stay = np.clip(np.rint(lots.gamma(4.0, 2.5 + 0.1 * place, people)), 0, 30).astype(int)
    age = lots.integers(18, 91, people)
    sex = np.where(lots.random(people) < 0.4 + 0.03 * place, "f", "m")
    ended = np.where(lots.random(people) < 0.7, "home", "other")
    return Table(stay, age, sex, ended, 10_000 * place)


def columns(**changes: Column) -> tuple[Column, ...]:
    """Return what is declared, with other columns in place of those that are named."""
    number = Domain(minimum=Fraction(0), maximum=Fraction(30), step=Fraction(1))
    years = Domain(minimum=Fraction(18), maximum=Fraction(90), step=Fraction(1))
    usual = (
        Column("patient", Role.PERSON_KEY, Kind.TEXT),
        Column("stay", Role.SENSITIVE, Kind.INTEGER, number, Origin.DECLARED, unit="d"),
        Column("age", Role.IDENTIFYING, Kind.INTEGER, years, Origin.DECLARED),
        Column("sex", Role.IDENTIFYING, Kind.CATEGORY, Domain(values=("f", "m")), Origin.DECLARED),
        Column("ended", Role.OTHER, Kind.CATEGORY, Domain(values=("home", "other")), Origin.DECLARED),
    )
    return tuple(changes.get(one.name, one) for one in usual)


MEANS = ("statistics.means", {"statistic": "mean", "value": "stay", "by": ["sex"]})
COUNTS = ("statistics.counts", {"columns": ["sex", "ended"], "extra_cells": "missing"})
LIFE = (
    "statistics.life_table",
    {
        "time": "stay",
        "edges": [0, 5, 10, 20, 30],
        "event": "ended",
        "happened": [{"value": "home"}],
        "by": [],
    },
)
QUANTILES = ("statistics.quantiles", {"value": "stay", "quantiles": ["1/4", "1/2", "3/4"], "by": []})
LINEAR = (
    "models.linear",
    {"target": "stay", "predictors": ["age", "sex"], "about_rows": 800, "fit": "sums", "held_out_percent": 0},
)


def release(
    folder: Path,
    asked: tuple[str, dict[str, Any]],
    *,
    name: str,
    seed: int,
    table: Table | None = None,
    ledger: Ledger | None = None,
    register: str = "",
    declared: tuple[Column, ...] = (),
    epsilon: Fraction = EPSILON,
    **changes: Any,
) -> Path:
    """Release what a plan asks of one site; return the folder of the bundle.

    Parameters
    ----------
    folder
        For its table, ledger and bundle.
    asked
        Method and parameters.
    name
        Of the site: who releases.
    seed
        Of the noise.
    table
        Its rows.
    ledger, register
        Its own, unless it is another one that goes on; the name of the register of people.
    declared
        Other columns than the usual ones.
    changes
        Of the plan.
    """
    folder.mkdir(parents=True, exist_ok=True)
    file = f"{name}-{seed}.csv"
    (table or invent(seed)).write(folder / file)
    method, parameters = asked
    purpose = Purpose(f"Stays of {name}", "R-1", "University", "DUA 1", "2027-12-31", "DPO")
    plan = Plan(
        method=method,
        method_version=find_method(method).version,
        files={MAIN: FileReference(file)},
        schemas={MAIN: Schema(declared or columns(), 1)},
        parameters=parameters,
        budget=Budget(epsilon),
        purpose=replace(purpose, organisation=name),
        price=Price(people=800, compensation=Fraction(500), budget=Fraction(10**6)),
        holding=register or f"Register of {name}",
        holding_budget=Budget(Fraction(100), Fraction(1, 100)),
    )
    plan = pin_reading(replace(plan, **changes), base=folder)

    def door(spend: Callable[[], None]) -> Noise:
        return seeded_noise(seed, on_first_draw=spend)

    book = ledger or Ledger(folder / f"ledger-{name}.sqlite")
    out = folder / f"{name}-{method}-{seed}"
    return run_through(plan, out, book, folder, "en", SILENT, door).folder


def release_each(folder: Path, asked: tuple[str, dict[str, Any]], **changes: Any) -> list[Path]:
    """Release the same of all six sites."""
    return [
        release(folder / name, asked, name=name, seed=place, **changes) for place, name in enumerate(NAMES)
    ]
