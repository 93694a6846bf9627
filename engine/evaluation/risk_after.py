"""What somebody could find or learn in the released rows, beside the same in the original ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from engine import arrays
from engine.evaluation.protocol import InternalMeasure, InternalMeasured, Need, Private
from engine.methods.protocol import Family, Method, Rows, TableArtefact
from engine.numbers import brief
from engine.risk.combinations import Numbers, dense
from engine.risk.encoding import IDENTIFYING, EncodedTable, encode_column
from engine.risk.groups import group_rows
from engine.risk.reidentification import prosecutor
from engine.risk.sensitive import closeness, counts_as_read, diversity, sensitive_counts
from engine.table.declared import people_of_rows
from engine.table.schema import Column, Kind, Role, Schema
from engine.views import NumberView, TableView, Text, View

ID = "risk.after"
LINKED = "pseudonymous"
"""The promise whose rows of one person carry one name."""
WORDS = f"measures.{ID}"
UNDER = 5  # named by the label
COMPUTED = (str(Kind.INTEGER), str(Kind.NUMBER))
OF_ROWS = ("rows", "smallest", "alone", "under", "highest", "average")
OF_PEOPLE = ("smallest_once", "smallest_set")  # where somebody has several rows
OF_VALUES = ("distinct", "entropy", "known", "distance", "gain")


class RiskAfter(InternalMeasure):
    """Group sizes, chances to be found, diversity and closeness of what leaves beside the original.

    Notes
    -----
    Rows are counted in both tables: which rows are one person's does not leave. Where somebody has several
    rows and it is known which row each released one was, groups are counted in people too: by everybody who
    has a row in the group, and by who has the same set of rows. The measures are those of `engine.risk`, over
    the identifying columns that both tables have. First of all it is counted who is alone by everything that
    leaves: which columns somebody knows is not for the custodian to choose.
    """

    id = ID
    families = frozenset({Family.DATASET})
    needs = frozenset({Need.USED, Need.RELEASE})

    def further_applies(self, subject: Method) -> bool:
        return subject.rows in (Rows.COARSER, Rows.REAL)

    def evaluate(self, context: Private) -> InternalMeasured:
        artefact = next((one for one in context.release.artefacts if isinstance(one, TableArtefact)), None)
        if artefact is None:
            return InternalMeasured()
        schema, after = context.subject.request.schema, artefact.frame
        columns = [name for name in after.columns if name in schema and name in context.used]
        identifying = [name for name in columns if schema.column(name).role in IDENTIFYING]
        person = people_of_rows(context.used, schema.person_key)
        by_all: dict[str, int] = {}
        # What was computed from a row is the row's own; a pseudonym or the name of a group is nothing known.
        told = columns + [
            one.name for one in artefact.dictionary if one.name not in schema and one.kind in COMPUTED
        ]
        if told and len(after):
            theirs = np.arange(len(after)) if artefact.origins is None else person[artefact.origins]
            linked = context.subject.cost.kind == LINKED
            by_all = _alone_by_all(after[told], theirs, linked=linked)
        if not identifying:
            return InternalMeasured(_by_all_view(by_all), by_all)
        before = _figures(context.used.rows(), columns, schema)
        found = {"original": before, "released": _figures(after, columns, schema)}
        if artefact.origins is not None and len(after) and len(arrays.distinct(person)) < len(person):
            found["original"] |= _people(context.used.rows(), identifying, schema, person)
            found["released"] |= _people(after, identifying, schema, person[artefact.origins])
        views = (*_by_all_view(by_all), *_views(found, identifying))
        return InternalMeasured(views, found | by_all)


def _alone_by_all(released: pd.DataFrame, person: Numbers, *, linked: bool) -> dict[str, int]:
    """Return how many people have a row as nobody else has; where rows are linked, a set of rows."""
    reads = released.groupby(list(released), sort=False, dropna=False).ngroup()
    rows = pd.DataFrame({"person": person, "row": reads})
    if linked:
        # A set of rows is told from another one by the sum of 64-bit hashes of its rows.
        hashed = rows.assign(row=pd.util.hash_array(reads.to_numpy() + 1))
        own = hashed.groupby("person")["row"].sum()
        alone = int((~own.duplicated(keep=False)).sum())
    else:
        people = rows.groupby("row")["person"].transform("nunique")
        alone = int(rows["person"][people == 1].nunique())
    return {"alone_by_all": alone, "people_released": int(rows["person"].nunique())}


def _by_all_view(by_all: Mapping[str, int]) -> tuple[NumberView, ...]:
    if not by_all:
        return ()
    three = Text(f"{WORDS}.numbers.alone_by_all")
    of_all = f"/ {by_all['people_released']}"
    return (NumberView(_label("alone_by_all"), by_all["alone_by_all"], three, of_all),)


def _figures(rows: pd.DataFrame, columns: list[str], schema: Schema) -> dict[str, Any]:
    """Return the figures of a table by name, and below ``sensitive`` those of each sensitive column."""
    encoded = {name: encode_column(*_typed(rows[name], schema.column(name))) for name in columns}
    table = EncodedTable(len(rows), encoded)
    groups = group_rows(table)
    sizes = groups.rows[groups.number]
    risk = prosecutor(sizes, thresholds=())
    figures: dict[str, Any] = {
        "rows": len(rows),
        "smallest": groups.smallest,
        "alone": groups.alone,
        "under": int((sizes < UNDER).sum()),
        "highest": round(risk.highest, 6),
        "average": round(risk.average, 6),
        "sensitive": {},
    }
    for name in columns:
        if schema.column(name).role is Role.SENSITIVE and len(rows):
            own = table.columns[name]
            counts = sensitive_counts(groups, own)
            diverse = diversity(counts_as_read(groups, own, counts), groups)
            close = closeness(counts)
            figures["sensitive"][name] = {
                "distinct": diverse.distinct,
                "entropy": round(diverse.entropy, 6),
                "known": diverse.homogeneous_people,
                "distance": round(close.t, 6),
                "gain": round(close.beta, 6),
            }
    return figures


def _people(
    rows: pd.DataFrame, identifying: list[str], schema: Schema, person: Numbers
) -> dict[str, int | float]:
    """Return the smallest group in people: of all who have a row in it, and of who has the same rows."""
    encoded = {name: encode_column(*_typed(rows[name], schema.column(name))) for name in identifying}
    reads = group_rows(EncodedTable(len(rows), encoded)).number
    person = dense(person, int(person.max()) + 1)[0]
    sets = group_rows(EncodedTable(len(rows), encoded, people=person))
    width = int(person.max()) + 1
    pairs = arrays.distinct(reads * width + person)
    return {"smallest_once": int(np.bincount(pairs // width).min()), "smallest_set": sets.smallest}


def _typed(values: pd.Series, column: Column) -> tuple[pd.Series, Column]:
    """Return released texts of numbers as numbers again, so that they have their order."""
    if column.kind not in (Kind.NUMBER, Kind.INTEGER) or pd.api.types.is_numeric_dtype(values):
        return values, column
    numbers = pd.to_numeric(values.replace("", np.nan), errors="coerce")
    return (numbers if (numbers.isna() == (values == "")).all() else values), column


def _views(found: Mapping[str, Any], identifying: list[str]) -> tuple[View, ...]:
    original, released = found["original"], found["released"]
    shown = [name for name in (*OF_ROWS, *OF_PEOPLE) if name in original]
    lines = [(_label(name), brief(original[name]), brief(released[name])) for name in shown]
    note = Text(f"{WORDS}.views.rows.note", {"columns": ", ".join(identifying)})
    views: list[View] = [
        NumberView(_label("alone"), released["alone"], Text(f"{WORDS}.numbers.alone")),
        TableView(Text(f"{WORDS}.views.rows.title"), _headings("figure"), tuple(lines), note),
    ]
    of_values = [
        (column, _label(name), brief(original["sensitive"][column][name]), brief(after[name]))
        for column, after in released["sensitive"].items()
        for name in OF_VALUES
    ]
    if of_values:
        base = f"{WORDS}.views.values"
        headings = _headings("column", "figure")
        views.append(TableView(Text(f"{base}.title"), headings, tuple(of_values), Text(f"{base}.note")))
    return tuple(views)


def _label(name: str) -> Text:
    return Text(f"{WORDS}.numbers.{name}.label")


def _headings(*first: str) -> tuple[Text, ...]:
    return tuple(Text(f"{WORDS}.views.{name}") for name in (*first, "original", "released"))
