"""The rows of people, made coarser until each agrees with k − 1 others in its identifying attributes."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np
import pandas as pd

from engine.errors import InputRefused
from engine.methods.datasets.recoding import Found, Ladder, Members, group_numbers, search
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
from engine.table.hierarchies import CALENDAR, Hierarchy
from engine.table.schema import Column, Kind, Role
from engine.table.table import Table
from engine.views import TableView, Text

ID = "datasets.k_anonymity"
WORDS = f"methods.{ID}"
MOST_COMBINATIONS = 100_000
IDENTIFYING = (Role.IDENTIFYING, Role.TIME, Role.PLACE)


class KAnonymity(Method):
    """Global recoding by hierarchies with the least loss, people in groups that stay small left out.

    Notes
    -----
    Definition: L. Sweeney, k-anonymity (2002), definition 3; recoding of whole columns by hierarchies: P.
    Samarati (2001). The loss is the normalised certainty penalty. Sizes of groups count people. It does not
    bound what somebody learns who knows more about a person than the identifying attributes; a sensitive
    value that a whole group shares is told about each of them; two such tables of the same people, or the
    knowledge that the least coarse one was chosen, can undo it.
    """

    id = ID
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
        Parameter(
            "most_left_out",
            ParameterKind.NUMBER,
            default=0.05,
            minimum=Fraction(0),
            maximum=Fraction(1, 2),
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
        k = request.values["k"]
        allowed = int(members.people * request.values["most_left_out"])
        found = search(
            distinct, members, ladders, k=k, most_left_out=allowed, progress=context.progress.part(0.1, 0.9)
        )
        if found is None:
            raise InputRefused(f"{ID}.too_few", k=k)
        coarse = _coarser(rows, identifying, found)[found.kept[number]]
        assert context.chance is not None  # nothing bounds the loss
        artefact = TableArtefact(
            "table",
            (shuffled(coarse, context.chance),),
            tuple(_entry(column, identifying, found) for column in columns),
        )
        sizes = members.sizes(group_numbers(distinct, ladders, found.steps))
        return Release(
            (artefact,),
            self.cost(request),
            (_steps_view(identifying, found),),
            inside=_inside(found, sizes[sizes >= k], members.people),
        )


def identifying_columns(request: Request) -> list[Column]:
    """Return the released columns by which somebody could be known."""
    columns = (request.schema.column(name) for name in request.values["columns"])
    return [column for column in columns if column.role in IDENTIFYING]


def hierarchy_of(column: Column) -> Hierarchy:
    """Return the declared hierarchy, the calendar for dates, else only the step from the value to all."""
    if column.hierarchy is not None:
        return column.hierarchy
    return Hierarchy(calendar=CALENDAR) if column.kind is Kind.DATE else Hierarchy()


def _ladders(rows: pd.DataFrame, identifying: list[Column]) -> tuple[list[Ladder], np.ndarray]:
    ladders, codes = [], []
    for column in identifying:
        found, uniques = pd.factorize(rows[column.name].to_numpy(dtype=object))
        ladders.append(Ladder.of([str(value) for value in uniques], hierarchy_of(column)))
        codes.append(found)
    return ladders, np.column_stack(codes).astype(np.int64)


def _members(number: np.ndarray, table: Table, request: Request) -> Members:
    """Say who has which combination; every row is a person of its own where there is no key."""
    key = request.schema.person_key
    if key is None or key.name not in table:
        return Members(number, np.arange(len(number)))
    person = pd.factorize(table.rows()[key.name], use_na_sentinel=False)[0]
    pairs = pd.DataFrame({"number": number, "person": person}).drop_duplicates()
    return Members(pairs["number"].to_numpy(), pairs["person"].to_numpy())


def _coarser(rows: pd.DataFrame, identifying: list[Column], found: Found) -> pd.DataFrame:
    coarse = rows.copy()
    for column, step in zip(identifying, found.steps, strict=True):
        codes, uniques = pd.factorize(rows[column.name].to_numpy(dtype=object))
        steps = hierarchy_of(column).at([str(value) for value in uniques], step)
        coarse[column.name] = np.array(steps, dtype=object)[codes]
    return coarse


def _entry(column: Column, identifying: list[Column], found: Found) -> DictionaryEntry:
    if column not in identifying:
        return entry(column, "as_it_is")
    step = found.steps[identifying.index(column)]
    return entry(column, "coarser" if step else "as_it_is", step=step, steps=hierarchy_of(column).height)


def _steps_view(identifying: list[Column], found: Found) -> TableView:
    rows = tuple(
        (column.name, step, hierarchy_of(column).height)
        for column, step in zip(identifying, found.steps, strict=True)
    )
    headings = tuple(Text(f"{WORDS}.views.steps.{name}") for name in ("column", "step", "of"))
    return TableView(Text(f"{WORDS}.views.steps.title"), headings, rows, Text(f"{WORDS}.views.steps.note"))


def _inside(found: Found, sizes: np.ndarray, total: int) -> Inside:
    figures = {
        "people": total,
        "left_out": found.left_out,
        "loss": round(found.loss, 6),
        "smallest_group": int(sizes.min()),
        "groups": len(sizes),
        "combinations_possible": found.possible,
        "combinations_tried": found.tried,
    }
    headings = (Text(f"{WORDS}.views.inside.figure"), Text(f"{WORDS}.views.inside.value"))
    rows = tuple((Text(f"{WORDS}.views.inside.{name}"), value) for name, value in figures.items())
    return Inside(
        (TableView(Text(f"{WORDS}.views.inside.title"), headings, rows, Text(f"{WORDS}.views.inside.note")),),
        figures,
    )
