"""The release as it will look, made of people that nobody has: from declarations alone, never from rows.

The method itself runs, on a table that is invented here from what was declared, so that every kind of
artefact gets its true shape without a word of code of its own. Nothing is written, charged or kept.
"""

from __future__ import annotations

import math
import tempfile
from dataclasses import dataclass
from datetime import date, timedelta
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd

from engine.errors import Cancelled
from engine.methods.kinds import Shape
from engine.methods.protocol import Artefact, Source
from engine.numbers import written
from engine.privacy.noise import Noise
from engine.progress import SILENT, Progress
from engine.release.check import check
from engine.release.make import make
from engine.release.plan import Plan
from engine.release.reading import PreparedTable
from engine.table import coding
from engine.table.declared import as_declared
from engine.table.fingerprint import Fingerprints
from engine.table.schema import Column, Kind, Role, Schema
from engine.table.table import Table
from engine.views import View

UNKNOWN, MOST = 1_000, 50_000
"""How many people are invented where nobody declared a number, and at most."""
MOST_ROWS = 1_000  # where rows leave, a short table shows as much
WORDS = 3  # different words in a column of which nothing was declared


@dataclass(frozen=True)
class Mock:
    """What a recipient would get, with invented numbers.

    Parameters
    ----------
    artefacts, views
        As a release of invented people has them.
    people
        How many were invented.
    """

    artefacts: tuple[Artefact, ...]
    views: tuple[View, ...]
    people: int


def mock(plan: Plan, *, base: Path = Path(), progress: Progress = SILENT) -> Mock | None:
    """Return what a plan would release, made of invented people.

    Parameters
    ----------
    plan
        Its files are not opened.
    base
        Folder that the state of a service is relative to.
    progress
        Told where the work is.

    Returns
    -------
    Mock or None
        None where no shape can be shown: the plan is not complete, or invented rows are none that the method
        can work with.

    Notes
    -----
    Values of declared columns are spread unevenly over what was declared; columns of which nothing was
    declared hold words that stand for any. No figure says anything about the table.
    """
    try:
        checked = check(plan, base=base)
        received = [source for source in checked.sources if source.shape is Shape.RECEIVED]
        if received or plan.step:
            return (
                None  # what others protected, and visits that go on from an earlier one, cannot be invented
            )
        people = _people(plan, leaves_rows=checked.method.rows != "none")
        read = [one for one in checked.sources if one.required or one.name in plan.schemas]
        prepared = {
            one.name: _prepared(one, plan.prepared(one.name), people if one.shape.is_private else 10 * people)
            for one in read  # a public table is of more people than the custodian's
        }
        with tempfile.TemporaryDirectory(prefix="custos-") as folder:
            release = make(checked, prepared, Noise(), folder=Path(folder), progress=progress).release
    except Cancelled:
        raise
    except Exception:
        return None  # a picture that fails must never stand in the way
    return Mock(release.artefacts, release.views, people)


def _people(plan: Plan, *, leaves_rows: bool) -> int:
    people = UNKNOWN if plan.people is None else plan.people
    return max(1, min(people, MOST_ROWS if leaves_rows else MOST))


def _prepared(source: Source, schema: Schema, people: int) -> PreparedTable:
    columns = {
        column.name: _cells(column, people, place)
        for place, column in enumerate(schema.columns)
        if column.role is not Role.DROPPED
    }
    invented = as_declared(Table(pd.DataFrame(columns, dtype="str"), source=source.name), schema)
    nobody = Fingerprints("", np.empty(0, dtype=np.uint64), np.empty(0, dtype=np.uint64))
    return PreparedTable(invented, schema, (), source.name, "", people, nobody, invented.names)


def _cells(column: Column, people: int, place: int) -> list[str]:
    """Return invented cells, as written. Each column goes its own way through its values."""
    if column.role in (Role.PERSON_KEY, Role.DIRECT_IDENTIFIER):
        return [str(100_001 + row) for row in range(people)]
    share = np.modf(np.arange(1, people + 1) * math.sqrt(_PRIMES[place % len(_PRIMES)]))[0]
    share = share**1.5  # early values are more frequent than late ones
    values = _values(column)
    return [values[at] for at in np.minimum((share * len(values)).astype(int), len(values) - 1)]


_PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53)


def _values(column: Column) -> list[str]:
    """Return values that a column may have by its declaration; words that stand for any where it has none."""
    domain = column.domain if column.is_declared else None
    if column.kind is Kind.DATE:
        first = _day(None if domain is None else domain.minimum, date(2020, 1, 1))
        last = _day(None if domain is None else domain.maximum, date(2020, 12, 31))
        days = max((last - first).days, 0)
        return [(first + timedelta(days=days * step // 50)).isoformat() for step in range(51)]
    if domain is not None and domain.values is None and domain.code_list is None:
        low, high = Fraction(domain.minimum or 0), Fraction(domain.maximum or 0)
        step = domain.step or (Fraction(1) if column.kind is Kind.INTEGER else (high - low) / 100)
        count = min(int((high - low) / step) if step else 0, 1_000)
        return [str(written(low + step * at)) for at in range(count + 1)]
    if domain is not None:
        return list(coding.levels(column))
    if column.kind in (Kind.INTEGER, Kind.NUMBER):
        return [str(number) for number in range(1, 101)]
    return [f"{column.name} {letter}" for letter in "ABC"[:WORDS]]


def _day(written_day: object, otherwise: date) -> date:
    try:
        return date.fromisoformat(str(written_day))
    except ValueError:
        return otherwise
