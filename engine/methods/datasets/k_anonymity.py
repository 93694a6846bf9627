"""The rows of people, made coarser until each agrees with k − 1 others in its identifying attributes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pandas as pd

from engine.errors import InputRefused
from engine.methods.datasets.ascending import ascending
from engine.methods.datasets.full_domain import Lattice, search
from engine.methods.datasets.losses import Loss
from engine.methods.datasets.recoding import Codes, Ladder, Members, group_numbers
from engine.methods.parameters import Parameter, ParameterKind, Problem
from engine.methods.protocol import (
    Context,
    DictionaryEntry,
    Family,
    Inside,
    Method,
    Reference,
    Release,
    Request,
    Rows,
    Spends,
    TableArtefact,
)
from engine.methods.shared.rows import entry, shuffled, written_cells
from engine.privacy.promise import Promise
from engine.progress import Progress
from engine.table.hierarchies import CALENDAR, Hierarchy
from engine.table.schema import Column, Kind, Role
from engine.table.table import Table
from engine.views import TableView, Text

ID = "datasets.k_anonymity"
WORDS = f"methods.{ID}"
MOST_COMBINATIONS = 1_000_000
MOST_SECONDS = 600.0
COLUMNS, GROUPS = "whole_columns", "groups"
IDENTIFYING = (Role.IDENTIFYING, Role.TIME, Role.PLACE)


class KAnonymity(Method):
    """Recoding by hierarchies with little loss: of whole columns, or of each group as far as it needs.

    Notes
    -----
    Definition: L. Sweeney, k-anonymity (2002), definition 3; recoding of whole columns by hierarchies: P.
    Samarati (2001). Whole columns: the combination of steps with the least loss, exactly; people whose groups
    stay small are left out. Groups: nobody is left out and far less detail is lost, but a value then stands
    on several steps, and which groups were made depends on the rows (downcoding: A. Cohen, 2022). Sizes of
    groups count people. It does not bound what somebody learns who knows more about a person than the
    identifying attributes; a sensitive value that a whole group shares is told about each of them; two such
    tables of the same people, or the knowledge that the least coarse one was chosen, can undo it.
    """

    id = ID
    version = 2
    family = Family.DATASET
    promises = ("k_anonymity",)
    spends = Spends.NOTHING
    rows = Rows.COARSER
    published = Reference(
        "Sweeney: k-anonymity: a model for protecting privacy (2002)",
        "definition 3",
        "doi:10.1142/S0218488502001648",
    )
    parameters = (
        Parameter("columns", ParameterKind.COLUMNS, minimum=1, maximum=200),
        Parameter("k", ParameterKind.INTEGER, minimum=2, maximum=100_000),
        Parameter("recoding", ParameterKind.CHOICE, default=COLUMNS, choices=(COLUMNS, GROUPS)),
        Parameter(
            "most_left_out",
            ParameterKind.NUMBER,
            default=0.05,
            minimum=Fraction(0),
            maximum=Fraction(1, 2),
            when=("recoding", (COLUMNS,)),
        ),
        Parameter(
            "loss",
            ParameterKind.CHOICE,
            default=Loss.CERTAINTY.value,
            choices=tuple(Loss),
            when=("recoding", (COLUMNS,)),
        ),
    )

    def further_problems(self, request: Request) -> list[Problem]:
        identifying = identifying_columns(request)
        if not identifying:
            return [Problem(f"{ID}.nothing_identifying", {}, "columns")]
        combinations = 1
        for column in identifying:
            combinations *= hierarchy_of(column).height + 1
        if combinations > MOST_COMBINATIONS:
            return [
                Problem(
                    f"{ID}.too_many", {"combinations": combinations, "most": MOST_COMBINATIONS}, "columns"
                )
            ]
        return []

    def cost(self, request: Request) -> Promise:
        names = ", ".join(column.name for column in identifying_columns(request))
        return Promise(
            "k_anonymity",
            None,
            request.unit,
            request.rows_per_person,
            terms={"k": request.values["k"], "columns": names},
            assumptions=("trusted_machine",),
        )

    def run(self, tables: Mapping[str, Table], request: Request, context: Context) -> Release:
        table = next(iter(tables.values()))
        columns = [request.schema.column(name) for name in request.values["columns"]]
        identifying = identifying_columns(request)
        cells = {column.name: written_cells(table.rows()[column.name], column) for column in columns}
        rows = pd.DataFrame(cells, dtype="str")
        ladders, codes = _ladders(rows, identifying)
        distinct, number = np.unique(codes, axis=0, return_inverse=True)
        members = _members(number.reshape(-1), table, request)
        enough = members.people >= request.values["k"]
        progress = context.progress.part(0.1, 0.9)
        made = _made(distinct, members, ladders, request, progress) if enough else None
        if made is None:
            raise InputRefused(f"{ID}.too_few", k=request.values["k"])
        group = made.group[number]
        coarse = _coarser(rows, identifying, made, group)[group >= 0]
        assert context.chance is not None  # nothing bounds the loss
        steps = made.steps[:, np.unique(group[group >= 0])]
        artefact = TableArtefact(
            "table",
            (shuffled(coarse, context.chance),),
            tuple(_entry(column, identifying, steps) for column in columns),
        )
        return Release(
            (artefact,),
            self.cost(request),
            (_steps_view(identifying, made.steps[:, group[group >= 0]]),),
            inside=_inside(made, members),
        )


@dataclass(frozen=True)
class Made:
    """What one form of recoding made.

    Parameters
    ----------
    group
        For every combination of values its group, -1 where it is left out.
    steps
        Shape (columns, groups).
    figures
        Computed from the rows, for inside.
    """

    group: Codes
    steps: Codes
    figures: Mapping[str, float]


def _made(
    codes: Codes, members: Members, ladders: list[Ladder], request: Request, progress: Progress
) -> Made | None:
    k = request.values["k"]
    if request.values["recoding"] == GROUPS:
        groups = ascending(codes, members, ladders, k=k, progress=progress)
        return None if groups is None else Made(groups.group, groups.steps, {"loss": round(groups.loss, 6)})
    lattice = Lattice(
        codes,
        members,
        ladders,
        k=k,
        most_left_out=int(members.people * request.values["most_left_out"]),
        loss=Loss(request.values["loss"]),
    )
    found = search(lattice, seconds=MOST_SECONDS, progress=progress)
    if found is None:
        return None
    number = group_numbers(codes, ladders, found.steps)
    sizes = members.sizes(number)
    figures = {
        "loss": round(found.loss, 6),
        "least_loss": round(found.least, 6),
        "combinations_possible": found.possible,
        "combinations_tried": found.tried,
    }
    steps = np.repeat(np.array(found.steps)[:, None], len(sizes), axis=1)
    return Made(np.where(sizes[number] >= k, number, -1), steps, figures)


def identifying_columns(request: Request) -> list[Column]:
    """Return the released columns by which somebody could be known."""
    columns = (request.schema.column(name) for name in request.values["columns"])
    return [column for column in columns if column.role in IDENTIFYING]


def hierarchy_of(column: Column) -> Hierarchy:
    """Return the declared hierarchy, the calendar for dates, else only the step from the value to all."""
    if column.hierarchy is not None:
        return column.hierarchy
    return Hierarchy(calendar=CALENDAR) if column.kind is Kind.DATE else Hierarchy()


def _ladders(rows: pd.DataFrame, identifying: list[Column]) -> tuple[list[Ladder], Codes]:
    ladders, codes = [], []
    for column in identifying:
        found, uniques = pd.factorize(rows[column.name].to_numpy(dtype=object))
        values = [str(value) for value in uniques]
        ladders.append(Ladder.of(values, hierarchy_of(column)))
        codes.append(ladders[-1].place(values)[found])
    return ladders, np.column_stack(codes).astype(np.int64)


def _members(number: np.ndarray, table: Table, request: Request) -> Members:
    """Say who has which combination; every row is a person of its own where there is no key."""
    key = request.schema.person_key
    if key is None or key.name not in table:
        return Members(number, np.arange(len(number)))
    person = pd.factorize(table.rows()[key.name], use_na_sentinel=False)[0]
    pairs = pd.DataFrame({"number": number, "person": person}).drop_duplicates()
    return Members(pairs["number"].to_numpy(), pairs["person"].to_numpy())


def _coarser(rows: pd.DataFrame, identifying: list[Column], made: Made, group: Codes) -> pd.DataFrame:
    coarse = rows.copy()
    for place, column in enumerate(identifying):
        hierarchy = hierarchy_of(column)
        codes, uniques = pd.factorize(rows[column.name].to_numpy(dtype=object))
        values = [str(value) for value in uniques]
        reads = np.array([hierarchy.at(values, step) for step in range(hierarchy.height + 1)], dtype=object)
        coarse[column.name] = reads[made.steps[place][group], codes]
    return coarse


def _entry(column: Column, identifying: list[Column], steps: Codes) -> DictionaryEntry:
    if column not in identifying:
        return entry(column, "as_it_is")
    own = steps[identifying.index(column)]
    low, high = int(own.min()), int(own.max())
    if high == 0:
        return entry(column, "as_it_is")
    height = hierarchy_of(column).height
    if low == high:
        return entry(column, "coarser", step=high, steps=height)
    return entry(column, "coarser_by_group", low=low, high=high, steps=height)


def _steps_view(identifying: list[Column], steps: Codes) -> TableView:
    """Say how coarse the released rows are: one line for a column and step, with its share of the rows."""
    rows = []
    for column, own in zip(identifying, steps, strict=True):
        shares = np.bincount(own) / len(own)
        height = hierarchy_of(column).height
        rows += [(column.name, step, height, round(share, 3)) for step, share in enumerate(shares) if share]
    headings = tuple(Text(f"{WORDS}.views.steps.{name}") for name in ("column", "step", "of", "share"))
    return TableView(
        Text(f"{WORDS}.views.steps.title"), headings, tuple(rows), Text(f"{WORDS}.views.steps.note")
    )


def _inside(made: Made, members: Members) -> Inside:
    kept = made.group >= 0
    sizes = members.sizes(np.where(kept, made.group, made.steps.shape[1]))[: made.steps.shape[1]]
    sizes = sizes[np.unique(made.group[kept])]
    figures = {
        "people": members.people,
        "left_out": members.left_out(kept),
        "smallest_group": int(sizes.min()),
        "groups": len(sizes),
        **made.figures,
    }
    headings = (Text(f"{WORDS}.views.inside.figure"), Text(f"{WORDS}.views.inside.value"))
    rows = tuple((Text(f"{WORDS}.views.inside.{name}"), value) for name, value in figures.items())
    return Inside(
        (TableView(Text(f"{WORDS}.views.inside.title"), headings, rows, Text(f"{WORDS}.views.inside.note")),),
        figures,
    )
