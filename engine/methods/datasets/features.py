"""Rows as a few features that tell one label: for a contract alone, with the attack on them beside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from engine import arrays
from engine.errors import InputRefused
from engine.methods import option
from engine.methods.kinds import Changes
from engine.methods.parameters import Problem
from engine.methods.protocol import (
    MAIN,
    Context,
    DictionaryEntry,
    Family,
    Inside,
    Method,
    Reference,
    Release,
    Rows,
    Spends,
)
from engine.methods.shared.bounds import bounds_of
from engine.methods.shared.cells import level_problems
from engine.methods.shared.promise import promise_without_bound
from engine.methods.shared.rows import entry, leaving, written_cells
from engine.methods.trying import Attacked, Tried
from engine.numbers import of_hundred
from engine.once import once
from engine.privacy.promise import Promise
from engine.progress import SILENT, Progress
from engine.risk import features as risk
from engine.table import coding
from engine.table.schema import Column, Kind
from engine.views import Cell, TableView, Text

if TYPE_CHECKING:
    from engine.table.table import Table

ID = "datasets.features"
WORDS = f"methods.{ID}"
Floats = arrays.Floats
Codes = arrays.Integers

GROUPS, NUMBERS = "groups", "numbers"
LABELS = (Kind.CATEGORY, Kind.ORDINAL)
DIGITS = 6
LEAST_ROWS = 100
"""Half of them are learnt from by who attacks, half are read."""
MOST_ATTACKED, MOST_TRIED = 2_000, 32
"""People whose values are read, evenly spaced, and values that are tried of a number."""
MOST_LEARNT = 20_000
MOST_COORDINATES = 1_000
APART = 1e6
"""How far rows with different labels are apart to who searches, beyond any distance of features."""


# --- columns as coordinates, and features of them -------------------------------------------------------


@dataclass(frozen=True)
class Coordinates:
    """Columns between −1 and 1: numbers by declared bounds, 0 where missing; else a cell for each value."""

    columns: tuple[Column, ...]

    @property
    def sizes(self) -> list[int]:
        """How many coordinates each column has."""
        return [1 if bounds_of(one) else len(coding.cells(one)) for one in self.columns]

    def place(self, at: int) -> slice:
        """Return the coordinates of a column."""
        start = sum(self.sizes[:at])
        return slice(start, start + self.sizes[at])

    def of(self, frame: pd.DataFrame) -> Floats:
        """Return the coordinates of every row, shape (n, size)."""
        found = []
        for column in self.columns:
            bounds = bounds_of(column)
            if bounds is None:
                found.append(np.eye(len(coding.cells(column)))[coding.codes(frame[column.name], column)])
            else:
                scaled = bounds.scaled(coding.numbers(frame[column.name], column))
                found.append(np.where(np.isnan(scaled), 0.0, scaled)[:, None])
        return np.column_stack(found)


@dataclass(frozen=True)
class Features:
    """What a row becomes: where it lies along each direction, as a number or as its group.

    Parameters
    ----------
    mean, along
        Of all coordinates; the directions, one a row.
    edges
        Between groups of about as many rows each, a row for every direction; None for numbers.
    """

    mean: Floats
    along: Floats
    edges: Floats | None

    def of(self, rows: Floats) -> Floats:
        """Return the features of rows as they leave, shape (n, directions)."""
        found = (rows - self.mean) @ self.along.T
        if self.edges is None:
            return np.asarray(np.round(found, DIGITS) + 0.0)
        placed = [
            np.searchsorted(edge, own, side="right") for edge, own in zip(self.edges, found.T, strict=True)
        ]
        return np.column_stack(placed) + 1.0


@dataclass(frozen=True)
class Read:
    """A table read for features: its coordinates, its two labels, the features of each row.

    ``beside`` has a column for each value of the label that leaves with the features; none where none does.
    """

    coordinates: Coordinates
    rows: Floats
    labels: Mapping[str, Codes]
    features: Features
    made: Floats
    beside: Floats

    @property
    def leaves(self) -> Floats:
        """All that a recipient sees of each row."""
        return np.column_stack([self.made, self.beside])


# --- the method -----------------------------------------------------------------------------------------


class ProjectedRows(Method):
    """Compressive privacy: rows as a few features that tell a utility label and, if wanted, hide another.

    Notes
    -----
    The directions are read off the exact rows and stay here. Nothing bounds what features tell of one person:
    a hidden label is hidden from straight lines alone, nearly every row of features as numbers is unique, and
    who knows all values of a person but one reads the last off their features. That is why the attack runs
    with every release, on the custodian's own rows, why features leave in a few groups unless somebody says
    otherwise, and why they leave under an agreement alone. Directions with a promise: ``models.directions``.
    """

    id = ID
    family = Family.DATASET
    promises = ("none",)
    spends = Spends.NOTHING
    rows = Rows.COARSER
    changes = (Changes.MASKED,)
    contracted = True
    tries = ("columns", "utility", "hidden")
    libraries = ("scikit-learn", "scipy")
    published = Reference(
        "Chang, Zhuang, Samaraweera: Privacy-preserving machine learning (2023)",
        "section 9.2, with the scatter between classes corrected",
        "isbn:9781617298042",
    )

    class Options(option.Options):
        columns: option.Names = option.columns(
            minimum=2, maximum=200, column_kinds=(*LABELS, Kind.INTEGER, Kind.NUMBER), needs_domain=True
        )
        utility: str = option.column(column_kinds=LABELS, needs_domain=True)
        hidden: str = option.column(column_kinds=LABELS, needs_domain=True)
        kind: str = option.choice(risk.TELLING, risk.HIDING, default=risk.TELLING)
        features: int = option.integer(default=1, minimum=1, maximum=20)
        written: str = option.choice(GROUPS, NUMBERS, default=GROUPS)
        groups: int = option.integer(default=10, minimum=2, maximum=100, when=("written", (GROUPS,)))
        label: bool = option.boolean(default=True)

    options: Options

    # --- declarations ---------------------------------------------------------------------------------

    @once
    def further_problems(self) -> list[Problem]:
        options, taken = self.options, set(self.options.columns)
        for name in ("utility", "hidden"):
            column = self.schema.column(self.values[name])
            if column.name in taken:
                return [Problem(f"{ID}.label_twice", {"column": column.name}, name)]
            if found := level_problems([column], parameter=name):
                return found
            if len(coding.levels(column)) < 2:
                return [Problem(f"{ID}.one_value", {"column": column.name}, name)]
            taken.add(column.name)
        if options.features >= (values := len(coding.levels(self.schema.column(options.utility)))):
            return [Problem(f"{ID}.too_many_features", {"values": values, "most": values - 1}, "features")]
        if found := level_problems(
            [one for one in self.columns if bounds_of(one) is None], parameter="columns"
        ):
            return found
        if (size := sum(Coordinates(self.columns).sizes)) > MOST_COORDINATES:
            return [Problem(f"{ID}.coordinates", {"coordinates": size, "most": MOST_COORDINATES}, "columns")]
        if clash := [one for one in self.names if one in taken]:
            return [Problem(f"{ID}.name_taken", {"column": clash[0]}, "features")]
        return []

    @once
    def columns(self) -> tuple[Column, ...]:
        """Return the columns that features are made of."""
        return tuple(self.schema.column(name) for name in self.options.columns)

    @once
    def names(self) -> tuple[str, ...]:
        """Return what the features are called."""
        return tuple(f"feature_{place}" for place in range(1, self.options.features + 1))

    @once
    def keeps(self) -> tuple[str, ...]:
        return (self.options.utility,) if self.options.label else ()

    @once
    def cost(self) -> Promise:
        return promise_without_bound(self.request, "none")

    # --- release --------------------------------------------------------------------------------------

    def read(self, frame: pd.DataFrame) -> Read:
        """Return rows, labels and features of a table."""
        coordinates, options = Coordinates(self.columns), self.options
        labels = {
            name: coding.codes(frame[one.name], one)
            for name in ("utility", "hidden")
            for one in [self.schema.column(self.values[name])]
        }
        told = labels["utility"] < len(coding.levels(self.schema.column(options.utility)))
        if told.sum() < LEAST_ROWS or len(np.unique(labels["utility"][told])) <= options.features:
            raise InputRefused(f"{ID}.too_few", rows=LEAST_ROWS, values=options.features + 1)
        rows = coordinates.of(frame)
        along = risk.directions(
            rows[told],
            labels["utility"][told],
            labels["hidden"][told],
            kind=options.kind,
            count=options.features,
        )
        if len(along) < options.features:
            raise InputRefused(f"{ID}.too_few", rows=LEAST_ROWS, values=options.features + 1)
        mean = rows.mean(axis=0)
        edges = None
        if options.written == GROUPS:
            parts = np.arange(1, options.groups) / options.groups
            edges = np.quantile((rows - mean) @ along.T, parts, axis=0).T
        features = Features(mean, along, edges)
        cells = len(coding.cells(self.schema.column(options.utility)))
        beside = np.eye(cells)[labels["utility"]] if options.label else np.zeros((len(rows), 0))
        return Read(coordinates, rows, labels, features, features.of(rows), beside)

    def run(self, tables: Mapping[str, Table], context: Context) -> Release:
        frame, options = tables[MAIN].rows(), self.options
        assert context.chance is not None  # nothing bounds the loss
        context.progress.step(0.0, "run.reading")
        read = self.read(frame)
        context.progress.step(0.3, "risk.attacking")
        attack = attacked(self, read, frame)
        is_group = options.written == GROUPS
        made = [
            [f"{cell:.0f}" if is_group else f"{cell:.{DIGITS}f}" for cell in own]
            for own in read.made.T.tolist()
        ]
        cells = dict(zip(self.names, made, strict=True))
        meaning = Text(f"{WORDS}.dictionary.{options.written}", {"groups": options.groups})
        entries = [DictionaryEntry(name, meaning, "integer" if is_group else "number") for name in self.names]
        if options.label:
            label = self.schema.column(options.utility)
            cells[label.name] = written_cells(frame[label.name], label)
            entries.append(entry(label, "as_it_is"))
        artefact = leaving("features", pd.DataFrame(cells, dtype="str"), tuple(entries), context.chance)
        notes = (Text(f"{WORDS}.notes.directions"), Text(f"{WORDS}.notes.not_anonymous"))
        inside = Inside((*attack.views, made_of(read)), attack.figures)
        return Release((artefact,), self.cost, (), notes, inside=inside)

    def tried(
        self,
        tables: Mapping[str, Table],
        *,
        chance: np.random.Generator,
        progress: Progress = SILENT,
    ) -> tuple[Tried, ...]:
        frame = tables[MAIN].rows()
        progress.step(0.0, "risk.attacking")
        found = attacked(self, self.read(frame), frame)
        return (Attacked(found.said, found.views),)


# --- the attack -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Attack:
    """What who attacks the features reads: in a sentence, as views, and as JSON values."""

    said: Text
    views: tuple[TableView, ...]
    figures: Mapping[str, Any]


def attacked(design: ProjectedRows, read: Read, frame: pd.DataFrame) -> Attack:
    """Attack what leaves of a table, knowing how it was made and all but one value of each person."""
    seen = {"utility": read.made, "hidden": read.leaves}  # the told label is read where it does not stand
    labels = {name: _label_read(seen[name], codes) for name, codes in read.labels.items()}
    known = {
        one.name: attribute_read(read, place, frame) for place, one in enumerate(read.coordinates.columns)
    }
    worst = max(known, key=lambda name: (known[name].known - known[name].blind, known[name].known))
    learnt, others = _halves(len(read.rows))
    figures: dict[str, Any] = {
        "labels": labels,
        "attributes": {name: {k: round(v, 6) for k, v in asdict(one).items()} for name, one in known.items()},
        "worst": worst,
        "alone": round(risk.alone(read.leaves), 6),
        "rebuilt": round(
            risk.rebuilt(read.leaves[learnt], read.rows[learnt], read.leaves[others], read.rows[others]), 6
        ),
    }
    values = {
        "column": worst,
        "known": of_hundred(known[worst].known),
        "blind": of_hundred(known[worst].blind),
        "alone": of_hundred(figures["alone"]),
    }
    said = Text(f"{WORDS}.attack", values)
    figures["sentence"] = {"id": said.id, "values": dict(said.values)}
    return Attack(said, (_attributes_view(known, figures), _labels_view(design, labels)), figures)


def _halves(rows: int) -> tuple[Codes, Codes]:
    """Return the rows that an attacker learns from and those that are read: every other one, of many some."""
    places = np.unique(np.linspace(0, rows - 1, MOST_LEARNT).astype(np.int64))
    return places[::2], places[1::2]


def _label_read(seen: Floats, codes: Codes) -> dict[str, Any]:
    learnt, others = _halves(len(codes))
    found = risk.read_label(seen[learnt], codes[learnt], seen[others], codes[others])
    told = {
        f"{name}_{part}": round(getattr(one, part), 6)
        for name, one in found.items()
        for part in ("right", "area")
    }
    return {"blind": round(risk.most_frequent(codes[others]), 6), **told}


def attribute_read(read: Read, place: int, frame: pd.DataFrame) -> risk.AttributeRead:
    """Return how often one column of known people is read off their features.

    A number with more values than are tried is read as lying above its middle value or not.
    """
    column, own = read.coordinates.columns[place], read.coordinates.place(place)
    looked = np.unique(np.linspace(0, len(read.rows) - 1, MOST_ATTACKED).astype(np.int64))
    rows = read.rows[looked]
    if bounds_of(column) is None:
        cells = coding.codes(frame[column.name], column).astype(np.float64)
        kinds, counts = np.unique(cells, return_counts=True)
        values = np.eye(own.stop - own.start)[kinds.astype(np.int64)]
    else:
        cells = read.rows[:, own.start]
        kinds, counts = np.unique(cells, return_counts=True)
        values = kinds[:, None]
    truth, classes = np.searchsorted(kinds, cells[looked]), list(range(len(kinds)))
    weights = counts / counts.sum()
    if bounds_of(column) is not None and len(kinds) > MOST_TRIED:
        tried, middle = np.unique(np.quantile(cells, np.linspace(0, 1, MOST_TRIED))), float(np.median(cells))
        values, weights = tried[:, None], np.full(len(tried), 1 / len(tried))
        truth, classes = (cells[looked] > middle).astype(np.int64), (tried > middle).astype(int).tolist()

    def of_value(at: int) -> Floats:
        would = rows.copy()
        would[:, own] = values[at]
        return np.column_stack([read.features.of(would), APART * read.beside[looked]])

    seen = np.column_stack(
        [read.made, APART * read.beside]
    )  # a row with another label is nobody's who has this
    return risk.read_attribute(truth, weights, classes, seen, looked, of_value)


def _attributes_view(known: Mapping[str, risk.AttributeRead], figures: Mapping[str, Any]) -> TableView:
    words = f"{WORDS}.views.attributes"
    headings = tuple(Text(f"{words}.{name}") for name in ("column", "blind", "searched", "known"))
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (name, *map(of_hundred, (one.blind, one.searched, one.known))) for name, one in known.items()
    )
    values = {name: of_hundred(figures[name]) for name in ("alone", "rebuilt")}
    return TableView(Text(f"{words}.title"), headings, rows, Text(f"{words}.note", values))


def _labels_view(design: ProjectedRows, labels: Mapping[str, Mapping[str, Any]]) -> TableView:
    words = f"{WORDS}.views.labels"
    parts = ("blind", *(f"{one}_{part}" for one in risk.ADVERSARIES for part in ("right", "area")))
    headings = (Text(f"{words}.label"), *(Text(f"{words}.{name}") for name in parts))
    rows: list[tuple[Cell, ...]] = []
    for name, found in labels.items():
        told = [of_hundred(found[one]) if not one.endswith("area") else round(found[one], 2) for one in parts]
        rows.append((Text(f"{words}.{name}", {"label": design.values[name]}), *told))
    return TableView(Text(f"{words}.title"), headings, tuple(rows), Text(f"{words}.note"))


def made_of(read: Read) -> TableView:
    """Return what each feature is made of, for the custodian alone."""
    words = f"{WORDS}.views.weights"
    names = [Text(f"{words}.feature", {"place": place}) for place in range(1, len(read.features.along) + 1)]
    rows: list[tuple[Cell, ...]] = []
    for place, column in enumerate(read.coordinates.columns):
        own = read.coordinates.place(place)
        labels: Sequence[Cell] = [None]
        if bounds_of(column) is None:
            labels = [*coding.levels(column), Text(f"{words}.other"), Text(f"{words}.missing")]
        for label, weights in zip(labels, read.features.along[:, own].T.tolist(), strict=True):
            rows.append((column.name, label, *(round(one, 3) + 0.0 for one in weights)))
    headings = (Text(f"{words}.column"), Text(f"{words}.value"), *names)
    return TableView(Text(f"{words}.title"), headings, tuple(rows), Text(f"{words}.note"))
