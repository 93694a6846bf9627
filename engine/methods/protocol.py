"""What a way of releasing is: screens, command line, help, evidence and report are made from declarations.

Four things are declared independently of each other: what a method *reads* (`Source`), who decides what it
*spends* (`Spends`), what it *promises* (`engine.privacy.promise.Promise`), and what *leaves* (`Artefact`).
A new method is one module below ``engine/methods/`` with one subclass of `Method`, one file of texts, its
examples and its tests. Nothing else changes.

Every method is audited through its examples, by what it promises (``tests/engine/methods/audit``): with noise
its releases are replayed on neighbouring tables with the same answers, so that all that leaves is a function
of what is paid for; without noise its promise is counted again from the released rows by other code.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import FrozenInstanceError, dataclass, field, replace
from fractions import Fraction
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from engine import strict_json
from engine.methods import option
from engine.methods.earlier import NOTHING, Earlier
from engine.methods.filling import Counted, Judged
from engine.methods.kinds import Family as Family
from engine.methods.kinds import Held as Held
from engine.methods.kinds import Leaving
from engine.methods.kinds import Reads as Reads
from engine.methods.kinds import Rows as Rows
from engine.methods.kinds import Shape as Shape
from engine.methods.kinds import Spends as Spends
from engine.methods.parameters import Parameter, Problem
from engine.methods.trying import Triable
from engine.methods.values import columns_named, resolve
from engine.once import once
from engine.privacy.events import Event
from engine.privacy.promise import Neighbours, Promise, Unit
from engine.progress import SILENT, Progress
from engine.table.schema import PEOPLE, Role, Schema
from engine.views import Text, View

if TYPE_CHECKING:
    import numpy as np
    import pandas

    from engine import arrays
    from engine.privacy.noise import Noise
    from engine.table.table import Table

SlotOf = Callable[["pandas.DataFrame"], "arrays.Integers"]
"""Rows → the number of a slot for each, from 0 on."""

# --- what stays with the custodian -----------------------------------------------------------------------


@dataclass(frozen=True)
class Inside:
    """What stays with the custodian.

    Parameters
    ----------
    views, figures
        Shown, and kept in the evidence for inside. A figure called ``sentence``, with ``id`` and ``values``
        of a text, stands on the first page of the report that stays.
    files
        Name → content of what stays with the auditor's folder.
    keys
        Name → content of what has to be kept apart from all else: keys of pseudonyms, say.
    untested
        Rows as they were before a test let some of them through: for measures, never written.
    """

    views: tuple[View, ...] = ()
    figures: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[str, bytes] = field(default_factory=dict)
    keys: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    untested: pandas.DataFrame | None = field(default=None, repr=False, compare=False)


# --- what a method reads, asks and returns ---------------------------------------------------------------


DECLARED_SIZES = (5, 20, 100, 1000)
POINTS, PERCENT = "percentage points", "%"
"""Units: how far a share is from another share; a part of something that is named."""
LOG_ODDS = "log-odds"
MOST_ROUNDS = 3
"""Of a study of several sites: beyond, an engine is for it that carries files by itself."""
MAIN = PEOPLE
"""What most methods call their only source."""


@dataclass(frozen=True)
class Source:
    """A table that a method reads.

    Parameters
    ----------
    name
        Key of the plan's files and schemas, and of the tables that the method gets.
    shape
        What its rows are.
    required
        Whether a plan without it is refused.
    many
        Whether it may come in several files with the same columns (``name``, ``name.2``, ``name.3`` …), whose
        rows are read one after the other.
    """

    name: str = MAIN
    shape: Shape = Shape.PEOPLE
    required: bool = True
    many: bool = False


@dataclass(frozen=True)
class Step:
    """A later visit of a service, or a round of an exchange: what it reads and asks besides the state."""

    name: str
    sources: tuple[Source, ...] = ()
    parameters: tuple[Parameter, ...] = ()


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

    def __post_init__(self) -> None:
        # A whole number is exact, too: noise would refuse it only once it is paid.
        for name in ("epsilon", "delta"):
            value = getattr(self, name)
            if isinstance(value, int) and not isinstance(value, bool):
                object.__setattr__(self, name, Fraction(value))


@dataclass(frozen=True)
class Request:
    """Everything that decides a release, and nothing of the rows. Made by `Method.make_request`.

    Parameters
    ----------
    schemas
        What was declared about each source, by the source's name.
    values
        By parameter name: checked, converted, defaults filled in; see `engine.methods.values.resolve`.
    budget
        None while nobody has chosen one, and for methods that ask for none.
    sizes
        Group sizes (people) for which the forecast states the error; declared, never counted.
    private
        Names of the sources that hold the custodian's people, in the order of their declaration.
    wrong
        What is wrong with what was filled in; the values that belong to it are absent.
    step
        Name of the step of a service; empty for the release itself.
    state
        What the last visit of the service left: only what was released or declared, never a private value.
    preparation
        The recorded steps that the schemas are the result of, as in the plan.
    """

    schemas: Mapping[str, Schema]
    values: Mapping[str, Any] = field(default_factory=dict)
    budget: Budget | None = None
    sizes: tuple[int, ...] = DECLARED_SIZES
    private: tuple[str, ...] = (MAIN,)
    wrong: tuple[Problem, ...] = ()
    step: str = ""
    state: bytes | None = None
    preparation: tuple[Mapping[str, Any], ...] = ()

    @property
    def schema(self) -> Schema:
        """The schema of the people: of the first private source; empty where none is read."""
        return self.schemas[self.private[0]] if self.private else Schema(())

    @property
    def unit(self) -> Unit:
        """A person where every private source has a person key, otherwise a row."""
        schemas = [self.schemas[name] for name in self.private if name in self.schemas]
        is_person = schemas and all(schema.person_key is not None for schema in schemas)
        return Unit.PERSON if is_person else Unit.ROW

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
class Expected:
    """How far one kind of released number will be from the truth.

    Parameters
    ----------
    quantity
        What it is called.
    of
        What the error is of: ``"group"``, ``"coefficient"``, ``"cell"``, ``"invented"`` (a count that rows
        are drawn from) …, or ``"whole"``; a text ``preview.errors.OF`` says the sentence.
    size
        For a group, how many people it has; declared, never counted.
    median, limit
        The median absolute error, and what 95 of 100 releases stay within.
    unit
        Of the released number; what is counted of one person stands behind a comma, see `unit_parts`.
    """

    quantity: Text
    of: str
    size: int | None
    median: float
    limit: float
    unit: str = ""

    @property
    def is_count(self) -> bool:
        """Whether people or rows are counted, so that a group of some size is right to a part of it."""
        return (
            bool(self.unit) and self.of in ("group", "whole") and self.unit.strip() not in (POINTS, PERCENT)
        )


def unit_parts(unit: str) -> tuple[str, str]:
    """Return a unit as it stands behind a number, and all of it where that is shorter.

    Examples
    --------
    >>> unit_parts("rows, at most 3 of a person"), unit_parts(" people"), unit_parts("")
    ((' rows', 'rows, at most 3 of a person'), (' people', ''), ('', ''))
    """
    unit = unit.strip()
    short, comma, _ = unit.partition(",")
    return (f" {short}" if short else "", unit if comma else "")


@dataclass(frozen=True)
class Forecast:
    """What to expect before anything is spent: from formulas and declared sizes alone. It may say nothing.

    ``main`` is the error that stands for all; by default the first, for the group size that was asked for.
    ``counted`` says what is counted, for a method that counts rows in cells.
    """

    errors: tuple[Expected, ...] = ()
    main: Expected | None = None
    views: tuple[View, ...] = ()
    notes: tuple[Text, ...] = ()
    counted: Counted | None = None


@dataclass(frozen=True)
class DictionaryEntry:
    """One column of a released table for its recipient, declared: ``values`` are what its cells read."""

    name: str
    meaning: Text
    kind: str
    unit: str = ""
    values: tuple[str, ...] = ()


@dataclass(frozen=True)
class TableArtefact:
    """Tables that leave, written as CSV: one, or several alike with one dictionary.

    ``name`` has no ending and names nothing of the rows. ``origins``: the used row that each row of the first
    was made from, where it was; for the custodian's eyes, never written. ``further``: those of the others.
    ``redrawn``: whether each synthetic table was drawn with parameters of its own. ``key``: the column by
    which rows of other tables name a row of this one; ``links``: by column, the table and column it names.
    """

    name: str
    frames: tuple[pandas.DataFrame, ...]
    dictionary: tuple[DictionaryEntry, ...]
    origins: np.ndarray | None = field(default=None, repr=False, compare=False)
    further: tuple[np.ndarray, ...] = field(default=(), repr=False, compare=False)
    redrawn: bool = False
    key: str = ""
    links: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    @property
    def frame(self) -> pandas.DataFrame:
        """The first of them."""
        return self.frames[0]

    @property
    def files(self) -> tuple[str, ...]:
        """The names of the files: ``name.csv``, or ``name-1.csv``, ``name-2.csv`` …"""
        if len(self.frames) == 1:
            return (f"{self.name}.csv",)
        return tuple(f"{self.name}-{place}.csv" for place in range(1, len(self.frames) + 1))


@dataclass(frozen=True)
class ModelArtefact:
    """A model that leaves, written as JSON.

    Parameters
    ----------
    name
        Without an ending.
    content
        JSON values: everything that a recipient needs to predict.
    predict
        From rows (declared columns) to predictions, for measures.
    target
        The column that is predicted.
    meaning
        What it is.
    """

    name: str
    content: Mapping[str, Any]
    predict: Callable[[pandas.DataFrame], np.ndarray]
    target: str
    meaning: Text

    @property
    def files(self) -> tuple[str, ...]:
        """The name of the file."""
        return (f"{self.name}.json",)


@dataclass(frozen=True)
class DocumentArtefact:
    """A document for people, such as a model card, written as HTML in the language of the reader.

    ``parts`` are texts and views, one below the other; the first text is the title. ``name`` has no ending.
    """

    name: str
    parts: tuple[Text | View, ...]
    meaning: Text

    @property
    def files(self) -> tuple[str, ...]:
        """The name of the file."""
        return (f"{self.name}.html",)


@dataclass(frozen=True)
class FileArtefact:
    """Any other file that leaves; ``name`` has its ending."""

    name: str
    media_type: str
    content: bytes
    meaning: Text

    @property
    def files(self) -> tuple[str, ...]:
        """The name of the file."""
        return (self.name,)


Artefact = TableArtefact | ModelArtefact | DocumentArtefact | FileArtefact


@dataclass(frozen=True)
class Release:
    """What a method made.

    Parameters
    ----------
    artefacts, promise, views, notes
        What leaves, what is promised about it (exactly as `Method.cost` said), and how it is shown.
    inside
        What stays.
    state
        What a service has to remember for its next step; its hash enters the ledger's chain. None for none.
    """

    artefacts: tuple[Artefact, ...]
    promise: Promise
    views: tuple[View, ...] = ()
    notes: tuple[Text, ...] = ()
    inside: Inside = field(default_factory=Inside)
    state: bytes | None = None

    @property
    def leaving(self) -> Release:
        """The release without what stays: nothing inside, no state, no row that a released one is from."""
        artefacts = tuple(
            replace(one, origins=None, further=()) if isinstance(one, TableArtefact) else one
            for one in self.artefacts
        )
        return replace(self, artefacts=artefacts, inside=Inside(), state=None)


@dataclass(frozen=True)
class Context:
    """What a running method may use.

    Parameters
    ----------
    noise
        The noise door.
    chance
        An ordinary generator, from the operating system's randomness, without a seed that anybody knows;
        given only where the promise bounds no loss.
    folder
        For its work, empty, and gone afterwards.
    progress
        Told where the work is; it also stops.
    passphrase, key
        Locks a key that stays inside; the key of an earlier release: see `engine.methods.keeping`.
    earlier
        Earlier releases of the register by this method; given only to a method that `compares`.
    held_out
        By source, the capped rows of the people who were held out, for a method that `scores` on them.
    whole
        By source, all rows of everybody, uncapped, for a method that `counts_people`.
    """

    noise: Noise
    chance: np.random.Generator | None
    folder: Path
    progress: Progress = SILENT
    passphrase: str | None = field(default=None, repr=False)
    earlier: Earlier = NOTHING
    key: bytes | None = field(default=None, repr=False)
    held_out: Mapping[str, Table] = field(default_factory=dict, repr=False)
    whole: Mapping[str, Table] = field(default_factory=dict, repr=False)


class Method(Triable, Leaving, ABC):
    """One way of releasing. The class is the declaration; an object of it is the *design* of one release.

    A design is made from a request, holds all that the request decides (cells, mechanism, cost, forecast …),
    works each of them out once, at its first use, and reads no row; `run` makes the release from the tables.

    Parameters
    ----------
    request
        Everything that decides the release, see `Method.make_request`.

    Examples
    --------
    >>> from engine.methods.catalogue import method
    >>> counts = method("statistics.counts")
    >>> counts.family.value
    'statistics'
    >>> design = counts(counts.make_request({"people": Schema(())}, {}))
    >>> [problem.code for problem in design.problems]
    ['parameters.unfilled']
    """

    id: ClassVar[str]
    version: ClassVar[int] = 1
    family: ClassVar[Family]
    promises: ClassVar[tuple[str, ...]]
    """Ids of the kinds of promise that it makes; which one is a matter of the parameters."""
    published: ClassVar[Reference]
    published_by_fit: ClassVar[Mapping[str, Reference]] = {}
    """Where another choice of ``fit`` was published, by the choice; `published` holds of the others."""
    published_by_promise: ClassVar[Mapping[str, Reference]] = {}
    """Where what another kind of promise rests on was published, by the kind."""
    sources: ClassVar[tuple[Source, ...]] = (Source(),)
    parameters: ClassVar[tuple[Parameter, ...]] = ()
    steps: ClassVar[tuple[Step, ...]] = ()
    spends: ClassVar[Spends] = Spends.CHOSEN
    held_out: ClassVar[bool] = False
    """Whether some people are kept from the method, for measures to compare with."""
    keeps_key: ClassVar[bool] = False
    """Whether a secret key stays inside, so that a passphrase is asked for when it is made."""
    counts_people: ClassVar[bool] = False
    """Whether it counts people by all of their rows, each once, so that it gets rows beyond the cap, too."""
    compares: ClassVar[bool] = False
    """Whether it has to see its own earlier releases of the register, which could be subtracted."""
    summable: ClassVar[bool] = False
    """Whether one answer can be made of the noisy sums of several sites: it asks rows for sums alone, once or
    in a few rounds, and says of its noise only what `engine.privacy.accuracy` says, which can be theirs."""
    libraries: ClassVar[tuple[str, ...]] = ()
    """Distributions whose versions belong in the evidence, beyond those that every release uses."""
    variants: ClassVar[tuple[Mapping[str, Any], ...]] = ()  # worth comparing with what was chosen

    Options: ClassVar[type[option.Options]] = option.Options
    """What it asks; ``parameters`` are its declarations. A method has a nested class of this name."""

    request: Request
    options: option.Options
    """What was chosen, as typed attributes."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.parameters = cls.Options.parameters

    def __init__(self, request: Request) -> None:
        object.__setattr__(self, "request", request)
        object.__setattr__(self, "options", self.Options(request.values))

    def __setattr__(self, name: str, value: object) -> None:
        raise FrozenInstanceError(f"a design is decided: {name} cannot be set")

    @classmethod
    def in_hands(cls) -> Held:
        """Return what a recipient holds: what is declared, or what follows from family and rows."""
        if cls.held is not None:
            return cls.held
        if cls.family is Family.DATASET:
            return {Rows.SYNTHETIC: Held.INVENTED, Rows.COARSER: Held.COARSER}.get(cls.rows, Held.REAL)
        return {
            Family.STATISTICS: Held.COUNTS,
            Family.MODEL: Held.MODEL,
            Family.SERVICE: Held.ANSWERS,
            Family.EXCHANGE: Held.SURVEY,
        }[cls.family]

    @classmethod
    def step_named(cls, name: str) -> Step | None:
        """Return a step by its name; None for the release itself."""
        return next((step for step in cls.steps if step.name == name), None)

    @classmethod
    def reads(cls, step: str = "") -> tuple[Source, ...]:
        """Return the sources of the release, or of a step."""
        return cls.sources if (found := cls.step_named(step)) is None else found.sources

    def but(self, **changes: Any) -> Self:
        """Return the design of the same request with other parts, such as another ``budget``."""
        return type(self)(replace(self.request, **changes))

    @property
    def values(self) -> Mapping[str, Any]:
        """What was chosen, by the name of the parameter: checked, converted, defaults filled in."""
        return self.request.values

    @property
    def followed(self) -> Reference:
        """Where what was chosen is published: what a report of its release cites."""
        if self.published_by_promise:
            return self.published_by_promise.get(self.cost.kind, self.published)
        return self.published_by_fit.get(str(self.values.get("fit", "")), self.published)

    @property
    def schema(self) -> Schema:
        """What is declared about the people; see `Request.schema`."""
        return self.request.schema

    @property
    def sources_read(self) -> tuple[Source, ...]:
        """What this release, or this step of a service, reads."""
        return self.reads(self.request.step)

    @classmethod
    def asks(cls, step: str = "") -> tuple[Parameter, ...]:
        """Return the parameters of the release, or of a step."""
        return cls.parameters if (found := cls.step_named(step)) is None else found.parameters

    @classmethod
    def make_request(
        cls,
        schemas: Mapping[str, Schema],
        given: Mapping[str, Any],
        *,
        budget: Budget | None = None,
        sizes: tuple[int, ...] = DECLARED_SIZES,
        step: str = "",
        state: bytes | None = None,
        preparation: tuple[Mapping[str, Any], ...] = (),
    ) -> Request:
        """Return what decides a release: what was filled in, checked, converted and completed once.

        Parameters
        ----------
        schemas
            By the name of the source.
        given
            JSON values by parameter name, as filled in the form or given by ``--set``.
        budget, sizes, step, state, preparation
            As in `Request`.
        """
        values, wrong = resolve(cls.asks(step), given, schemas)
        private = tuple(source.name for source in cls.reads(step) if source.shape.is_private)
        return Request(schemas, values, budget, sizes, private, tuple(wrong), step, state, preparation)

    @once
    def problems(self) -> list[Problem]:
        """Say why the method cannot run yet, from declarations only; empty when it can."""
        return list(self.request.wrong) or self.further_problems

    @once
    def further_problems(self) -> list[Problem]:
        """Say what is wrong beyond the parameters' own declarations (they have been checked by now)."""
        return []

    @once
    @abstractmethod
    def cost(self) -> Promise:
        """Say exactly what the ledger reserves, from declarations only."""

    @once
    def taken(self) -> Mapping[str, Any]:
        """Return settings as they were taken where that is not what was filled in; None: it had no part."""
        return {}

    @once
    def stated(self) -> Promise:
        """Say what the files promise: what everything that lies in them tells together.

        That is what the release costs, but for a service whose files hold more than a visit pays for.
        """
        return self.cost

    @once
    def priced(self) -> Promise:
        """Say what compensation is modelled for: for a visit all that its service may ever tell."""
        return self.cost

    @property
    def asks_once(self) -> bool:
        """Whether with these settings no sum hangs on an answer that came before; asked where `summable`."""
        return True

    @property
    def rounds(self) -> tuple[Event, ...]:
        """Return what each round draws, where sums hang on answers before; asked where `summable`.

        At most `MOST_ROUNDS`, and Laplace noise alone: a round is paid by itself, before it starts. Empty
        where it asks once, and where it cannot be made in so few.
        """
        return ()

    @once
    def uses(self) -> Mapping[str, tuple[str, ...]]:
        """Return, by source, the columns that have a part in the release; by default those that are named.

        A person key has a part where it decides which rows belong together.
        """
        named = columns_named(self.asks(self.request.step), self.values)
        found = {name: list(columns) for name, columns in named.items()}
        for name in self.request.private:
            key = self.request.schemas[name].person_key if name in self.request.schemas else None
            if key is not None and key.name not in found.setdefault(name, []):
                found[name].append(key.name)
        return {name: tuple(columns) for name, columns in found.items()}

    @once
    def needs(self) -> Reads:
        """Return what is asked of the tables with a part that is private: whoever asks for more gets nothing.

        Known before anything is reserved, for what holds the rows may not be able to answer it.
        """
        return Reads.ROWS

    @once
    def keeps(self) -> tuple[str, ...]:
        """Return the columns whose values leave in rows of people as the table holds them.

        By default all that have a part, but for the person key. Where rows are made coarser, what others may
        know of a person is no such column; where every row is invented, none is.
        """
        if self.rows not in (Rows.REAL, Rows.COARSER):
            return ()
        key = self.schema.person_key
        coarser = (Role.IDENTIFYING, Role.TIME, Role.PLACE) if self.rows is Rows.COARSER else ()
        return tuple(
            name
            for name in self.uses.get(MAIN, ())
            if (key is None or name != key.name) and self.schema.column(name).role not in coarser
        )

    @once
    def forecast(self) -> Forecast:
        """State what to expect from formulas and declared sizes; reads no private value."""
        return Forecast()

    @property
    def slot_of(self) -> SlotOf | None:
        """Gives the slot of rows: a person has one row in each, by lot, before the cap; None: no slots."""
        return None

    def judged(self, people: int | None) -> Judged | None:
        """Say how much a release can say that counts nothing in cells; None where nobody can tell."""
        return None

    @classmethod
    def examples(cls) -> tuple[Mapping[str, Any], ...]:
        """Return plans over tables that come with the program, as JSON: ``resources/examples/ID*.json``.

        ``engine.release.examples`` makes plans of them and runs them.
        """
        return example_plans(cls.id)

    @abstractmethod
    def run(self, tables: Mapping[str, Table], context: Context) -> Release:
        """Make the release: the only place that reads private values for it.

        The tables have been prepared, capped to ``request.rows_per_person`` and filtered by
        `engine.release.make`.
        """

    @once
    def scores(self) -> bool:
        """Say whether something about the people who were held out leaves, and is paid for."""
        return False


@dataclass(frozen=True)
class Cheaper:
    """Another way to what a step asks, found from its questions and the state alone.

    Parameters
    ----------
    said
        What it is.
    epsilon
        What the step then takes.
    given
        The parameters of that step, as JSON values; None where nothing is left to be asked.
    """

    said: Text
    epsilon: Fraction
    given: Mapping[str, Any] | None = None


class Service(Method):
    """A method that goes on after its release: visits of a service, rounds of an exchange.

    Its release opens it and is reserved once; a design of a step goes on from ``request.state``.
    """

    same_tables: ClassVar[bool] = False
    """Whether every visit of a service has to read the very tables that were there when it was opened."""

    @once
    def questions(self) -> tuple[str, ...]:
        """Return fingerprints of the questions that a visit pays for, so that none is paid for twice."""
        return ()

    @once
    def offered(self) -> Mapping[str, tuple[str, ...]]:
        """Return, by source, the columns that a step may name where it may not name all; from the state."""
        return {}

    @once
    def takes_each(self) -> tuple[Fraction, ...]:
        """Return what each record of a step's table adds to what it takes: 0 for what was paid for before."""
        return ()

    @once
    def within_each(self) -> tuple[float | None, ...]:
        """Return what 95 of 100 answers to each record are within, the widest of its groups; reads no row.

        In the units of the answer; None where it is not known before, or is no distance of numbers.
        """
        return ()

    @once
    def cheaper(self) -> tuple[Cheaper, ...]:
        """Return ways to what a step asks that take less, or give more for the same; reads no row."""
        return ()

    @once
    def so_far(self) -> tuple[View, ...]:
        """Return what a service has released until now, newest first: from its state, reading no row."""
        return ()

    def step(self, step: str, tables: Mapping[str, Table], state: bytes, context: Context) -> Release:
        """Go on from a state; for methods with `steps`."""
        raise NotImplementedError(step)


# --- worked examples -------------------------------------------------------------------------------------


def example_plans(method_id: str) -> tuple[Mapping[str, Any], ...]:
    """Return the plans of ``resources/examples/ID*.json``, by their names."""
    folder = files("resources") / "examples"
    named = sorted(entry.name for entry in folder.iterdir() if entry.name.startswith(f"{method_id}."))
    return tuple(strict_json.loads((folder / name).read_bytes()) for name in named)
