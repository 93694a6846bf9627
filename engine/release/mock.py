"""The release as it will look, made of people that nobody has: from declarations alone, never from rows.

The method itself runs, on a table that is invented here from what was declared, so that every kind of
artefact is there without a word of code of its own. Where a loss is bounded, its shape is the true one: it
follows from declarations. Elsewhere the rows decide about it too, and whoever shows it says so. Nothing
is written, charged or kept.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Collection
from dataclasses import dataclass
from datetime import date, timedelta
from fractions import Fraction
from pathlib import Path
from statistics import mean

import numpy as np
import pandas as pd

from engine.errors import Cancelled
from engine.methods.kinds import Shape
from engine.methods.protocol import MAIN, Artefact, Rows, Source, TableArtefact
from engine.numbers import shortest_json
from engine.privacy.noise import Noise
from engine.progress import SILENT, Progress
from engine.release.check import check
from engine.release.make import make
from engine.release.plan import Plan
from engine.release.reading import PreparedTable
from engine.table import coding
from engine.table.declared import as_declared
from engine.table.fingerprint import Fingerprints
from engine.table.schema import Column, Domain, Kind, Role, Schema, read_moment
from engine.table.table import Table
from engine.utility import scattered
from engine.utility.distances import Scale, classes_of, distances
from engine.views import View

UNKNOWN, MOST = 1_000, 50_000
"""How many people are invented where nobody declared a number, and at most."""
MOST_ROWS = 1_000  # where rows leave, a short table shows as much
YEAR = "2020-01-01", "2020-12-31"
"""Between these are moments of which nothing was declared."""
WORDS = 3  # different words in a column of which nothing was declared


@dataclass(frozen=True)
class Kept:
    """How far rows that the method invented are from the people whom it was tried on, nobody's either.

    Parameters
    ----------
    one_way, two_way
        Mean total variation distance of single columns and of pairs, 0 to 1.
    apart
        That of pairs, had every column been drawn exactly and by itself.
    is_named
        Whether the pairs are those that the plan names; else all.
    """

    one_way: float
    two_way: float
    apart: float
    is_named: bool = False

    @property
    def relates(self) -> bool:
        """Whether pairs are nearer than without any relation between columns, beyond what chance does."""
        return self.two_way < 0.9 * self.apart


@dataclass(frozen=True)
class Mock:
    """What a recipient would get, with invented numbers.

    Parameters
    ----------
    artefacts, views
        As a release of invented people has them.
    people
        How many were invented.
    kept
        For rows that are invented under a privacy level: how far they were off.
    """

    artefacts: tuple[Artefact, ...]
    views: tuple[View, ...]
    people: int
    kept: Kept | None = None


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
    declared hold words that stand for any. No figure says anything about the table. Where rows are invented
    under a privacy level, every second person has the same rank in all columns, so that there is something
    to keep: how far the method is off then depends on sizes, level and number of people, as it will.
    """
    try:
        design = check(plan, base=base)
        received = [source for source in design.sources_read if source.shape is Shape.RECEIVED]
        if received or plan.step:
            return (
                None  # what others protected, and visits that go on from an earlier one, cannot be invented
            )
        is_tried = design.rows is Rows.SYNTHETIC and design.cost.loss is not None
        people = _people(plan, leaves_rows=design.rows is not Rows.NONE and not is_tried)
        read = [one for one in design.sources_read if one.required or one.name in plan.schemas]
        prepared = {
            one.name: invented_people(
                one, plan.prepared(one.name), people if one.shape.is_private else 10 * people, alike=is_tried
            )
            for one in read  # a public table is of more people than the custodian's
        }
        with tempfile.TemporaryDirectory(prefix="custos-") as folder:
            release = make(design, prepared, Noise(), folder=Path(folder), progress=progress).release
    except Cancelled:
        raise
    except Exception:
        return None  # a picture that fails must never stand in the way
    named = design.pairs_named if is_tried else ()
    # An invented person has one row: a method of histories, of many rows each, is not compared with that.
    is_alike = is_tried and any(one.name == MAIN and one.shape is Shape.PEOPLE for one in read)
    kept = _keep(prepared[MAIN], release.artefacts, named) if is_alike else None
    return Mock(release.artefacts, release.views, people, kept)


def _keep(
    tried: PreparedTable, artefacts: tuple[Artefact, ...], named: Collection[frozenset[str]]
) -> Kept | None:
    """Compare invented rows with those that they were invented from, by all pairs or named ones."""
    made = next((one.frame for one in artefacts if isinstance(one, TableArtefact)), None)
    rows = tried.table.rows()
    names = [] if made is None else told_by(made, tried.schema)
    if made is None or len(names) < 2 or not len(made):
        return None
    scales = [Scale.of(rows[name], tried.schema.column(name)) for name in names]
    own = classes_of(rows, scales)
    mixed = {name: codes[scattered.order(len(rows), at)] for at, (name, codes) in enumerate(own.items())}
    found, alone = distances(classes_of(made, scales), own), distances(mixed, own)
    pairs = [pair for pair in found.two_way if frozenset(pair) in named] or list(found.two_way)
    two_way, apart = (mean([one.two_way[pair] for pair in pairs] or [0.0]) for one in (found, alone))
    return Kept(found.mean_one_way, two_way, apart, bool(named))


def told_by(made: pd.DataFrame, schema: Schema) -> list[str]:
    """Return the columns of invented rows that say something: an invented person's number does not."""
    found = [schema.column(name) for name in map(str, made) if name in schema]
    return [one.name for one in found if one.role not in _NAMING]


def _people(plan: Plan, *, leaves_rows: bool) -> int:
    told = plan.parameters.get("about_rows")  # what a method that invents rows was told of
    people = told if isinstance(told, int) and told > 0 else plan.people or UNKNOWN
    return max(1, min(people, MOST_ROWS if leaves_rows else MOST))


def invented_people(source: Source, schema: Schema, people: int, *, alike: bool = False) -> PreparedTable:
    """Return a table of invented people; ``alike`` gives every second one the same rank in all columns."""
    columns = {
        column.name: _cells(column, people, place, alike=alike)
        for place, column in enumerate(schema.columns)
        if column.role is not Role.DROPPED
    }
    invented = as_declared(Table(pd.DataFrame(columns, dtype="str"), source=source.name), schema)
    nobody = Fingerprints("", np.empty(0, dtype=np.uint64), np.empty(0, dtype=np.uint64))
    return PreparedTable(invented, schema, (), source.name, "", people, nobody, invented.names)


def _cells(column: Column, people: int, place: int, *, alike: bool = False) -> list[str]:
    """Return invented cells, as written. Each column goes its own way through its values.

    ``alike``: but for every second person, who has the same rank in all of them.
    """
    if column.role in _NAMING:
        return [str(100_001 + row) for row in range(people)]
    rows = np.arange(1, people + 1)
    share = np.modf(rows * math.sqrt(_PRIMES[place % len(_PRIMES)]))[0]
    if alike:
        share[::2] = np.modf(rows[::2] * _GOLDEN)[0]
    share = share**1.5  # early values are more frequent than late ones
    values = _values(column)
    return [values[at] for at in np.minimum((share * len(values)).astype(int), len(values) - 1)]


_NAMING = (Role.PERSON_KEY, Role.DIRECT_IDENTIFIER)
_GOLDEN = (math.sqrt(5) - 1) / 2
_PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53)


def _values(column: Column) -> list[str]:
    """Return values that a column may have by its declaration; words that stand for any where it has none."""
    domain = column.domain if column.is_declared else None
    if column.kind is Kind.DATE:
        first = _day(None if domain is None else domain.minimum, date(2020, 1, 1))
        last = _day(None if domain is None else domain.maximum, date(2020, 12, 31))
        days = max((last - first).days, 0)
        return [(first + timedelta(days=days * step // 50)).isoformat() for step in range(51)]
    if column.kind is Kind.MOMENT:
        return _moments(domain)
    if domain is not None and domain.values is None and domain.code_list is None:
        low, high = Fraction(domain.minimum or 0), Fraction(domain.maximum or 0)
        step = domain.step or (Fraction(1) if column.kind is Kind.INTEGER else (high - low) / 100)
        count = min(int((high - low) / step) if step else 0, 1_000)
        return [str(shortest_json(low + step * at)) for at in range(count + 1)]
    if domain is not None:
        return list(coding.levels(column))
    if column.kind in (Kind.INTEGER, Kind.NUMBER):
        return [str(number) for number in range(1, 101)]
    return [f"{column.name} {letter}" for letter in "ABC"[:WORDS]]


def _moments(domain: Domain | None) -> list[str]:
    """Return moments between declared ends; of one year where none are declared."""
    ends = (None, None) if domain is None else (domain.minimum, domain.maximum)
    first, last = (read_moment(str(end or other)) for end, other in zip(ends, YEAR, strict=True))
    length = max(last - first, timedelta())
    return [(first + length * step / 50).isoformat(timespec="minutes") for step in range(51)]


def _day(written_day: object, otherwise: date) -> date:
    try:
        return date.fromisoformat(str(written_day))
    except ValueError:
        return otherwise
