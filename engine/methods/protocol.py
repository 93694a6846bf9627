"""What a way of releasing is. Screens, command line, help and report are made from these declarations.

A new method is one module below ``engine/methods/`` with one subclass of `Method`, one file of texts and
its tests. Nothing else changes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from engine.methods.parameters import Parameter, Problem, check_parameters
from engine.privacy.guarantee import Guarantee, Neighbours, Unit
from engine.privacy.guarantee import Kind as GuaranteeKind
from engine.progress import SILENT, Progress
from engine.table.schema import Schema
from engine.views import Text, View

if TYPE_CHECKING:
    import pandas

    from engine.privacy.noise import Noise
    from engine.table.table import Table

DECLARED_SIZES = (5, 20, 100, 1000)
MAIN = "people"


class Family(StrEnum):
    """Grouping on screen only."""

    STATISTICS = "statistics"
    DATASET = "dataset"
    MODEL = "model"


class Shape(StrEnum):
    """What the rows of a source are."""

    PEOPLE = "people"
    EVENTS = "events"
    PUBLIC = "public"
    RECEIVED = "received"


@dataclass(frozen=True)
class Source:
    """A table that a method needs."""

    name: str = MAIN
    shape: Shape = Shape.PEOPLE
    required: bool = True


@dataclass(frozen=True)
class Reference:
    """Where a method was published: document, place in it, identifier."""

    document: str
    place: str
    identifier: str = ""


@dataclass(frozen=True)
class Budget:
    """What a release may spend, and between which data sets that is measured."""

    epsilon: Fraction
    delta: Fraction = Fraction(0)
    neighbours: Neighbours = Neighbours.ADD_REMOVE


@dataclass(frozen=True)
class Request:
    """Everything that decides a release, and nothing of the rows.

    Parameters
    ----------
    schemas
        What was declared about each source, by the source's name.
    parameters
        JSON values by parameter name, as filled in the form or given by ``--set``.
    declared_sizes
        Group sizes (people) for which the forecast states the error; declared, never counted.
    budget
        None while nobody has chosen one.
    """

    schemas: Mapping[str, Schema]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    declared_sizes: tuple[int, ...] = DECLARED_SIZES
    budget: Budget | None = None

    @property
    def schema(self) -> Schema:
        """The schema of the people."""
        return self.schemas[MAIN]

    @property
    def unit(self) -> Unit:
        """A person where a person key is marked, otherwise a row."""
        return Unit.PERSON if self.schema.person_key is not None else Unit.ROW

    @property
    def rows_per_person(self) -> int:
        """The cap on rows of one person: 1 where every row is a unit of its own."""
        return self.schema.rows_per_person if self.unit is Unit.PERSON else 1

    @property
    def units_moved(self) -> int:
        """How many rows can differ between neighbouring data sets: twice the cap under replace-one."""
        factor = 2 if self.budget is not None and self.budget.neighbours is Neighbours.REPLACE_ONE else 1
        return factor * self.rows_per_person


@dataclass(frozen=True)
class ErrorForecast:
    """How far one kind of released number will be from the truth, for a group of a declared size.

    ``median`` is the median absolute error, ``limit`` the error that 95 of 100 releases stay within.
    """

    quantity: Text
    group_size: int | None
    median: float
    limit: float
    unit: str = ""


@dataclass(frozen=True)
class Forecast:
    """What to expect before anything is spent: from formulas and declared sizes alone."""

    errors: tuple[ErrorForecast, ...]
    views: tuple[View, ...] = ()
    notes: tuple[Text, ...] = ()


@dataclass(frozen=True)
class DictionaryEntry:
    """One column of a released table for its recipient: declared things only."""

    name: str
    meaning: Text
    kind: str
    unit: str = ""
    values: tuple[str, ...] = ()


@dataclass(frozen=True)
class TableArtefact:
    """A table that leaves, written as CSV. ``name`` has no ending and names nothing of the rows."""

    name: str
    frame: pandas.DataFrame
    dictionary: tuple[DictionaryEntry, ...]


@dataclass(frozen=True)
class FileArtefact:
    """Any other file that leaves."""

    name: str
    media_type: str
    content: bytes
    meaning: Text


Artefact = TableArtefact | FileArtefact


@dataclass(frozen=True)
class Release:
    """What a method made: computed from paid noise, public by construction. Never its own evaluation."""

    artefacts: tuple[Artefact, ...]
    guarantee: Guarantee
    views: tuple[View, ...] = ()
    notes: tuple[Text, ...] = ()


@dataclass(frozen=True)
class Context:
    """What a running method may use: the noise door, progress (which also stops), a work folder."""

    noise: Noise
    work_folder: Path
    progress: Progress = SILENT


class Method(ABC):
    """One way of releasing."""

    id: ClassVar[str]
    version: ClassVar[int] = 1
    family: ClassVar[Family]
    guarantee: ClassVar[GuaranteeKind]
    source: ClassVar[Reference]
    sources: ClassVar[tuple[Source, ...]] = (Source(),)
    parameters: ClassVar[tuple[Parameter, ...]] = ()

    def problems(self, request: Request) -> list[Problem]:
        """Say why the method cannot run yet, from declarations only; empty when it can."""
        found = check_parameters(self.parameters, request.parameters, request.schema)
        return found or self.further_problems(request)

    def further_problems(self, request: Request) -> list[Problem]:
        """Say what is wrong beyond the parameters' own declarations (they have been checked by now)."""
        return []

    @abstractmethod
    def cost(self, request: Request) -> Guarantee:
        """Say exactly what the ledger reserves, from declarations only."""

    @abstractmethod
    def forecast(self, request: Request) -> Forecast:
        """State the expected error from formulas and declared sizes; reads no private value."""

    @abstractmethod
    def run(self, tables: Mapping[str, Table], request: Request, context: Context) -> Release:
        """Make the release: the only place that reads private values for it.

        The tables have been prepared, capped to ``request.rows_per_person`` and filtered by
        `engine.release.run`.
        """
