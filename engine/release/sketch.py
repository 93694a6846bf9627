"""Ways of releasing, tried on invented people before one is chosen: how far off, how long.

From declarations alone, with stand-ins where there are none yet (`engine.methods.fitting`): what is found
says something about the way, nothing about the people of the table.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
import pandas as pd

from engine.errors import Cancelled
from engine.methods.fitting import NUMBERS, OF_COLUMNS, fitting_columns, usable_columns
from engine.methods.parameters import ParameterKind
from engine.methods.protocol import MAIN, PERCENT, POINTS, Budget, Method, ModelArtefact, Rows, TableArtefact
from engine.privacy.noise import Noise
from engine.progress import SILENT, Progress
from engine.release.check import check
from engine.release.examples import plans
from engine.release.make import make
from engine.release.mock import invented_people, told_by
from engine.release.plan import Plan
from engine.table import coding
from engine.table.schema import Column, Kind, Schema
from engine.utility.distances import Scale, classes_of, distances

PEOPLE = 1_000
MOST_COLUMNS = 5
# --- Tried on invented people ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Sketch:
    """What a way did to people who were invented.

    Parameters
    ----------
    seconds
        How long it took on this computer.
    off
        How far off, of 1,000; None where nothing is known.
    of
        What that is of, as only like is compared with like: ``"cells"`` that read otherwise, ``"values"``
        that would have to change, wrong ``"predictions"``, ``"people"`` that a count is off by, the
        ``"range"`` of a number, or a ``"share"`` of what is told.
    """

    seconds: float
    off: float | None = None
    of: str = ""


def sketch(
    method: type[Method], schema: Schema, *, epsilon: Fraction = Fraction(1), progress: Progress = SILENT
) -> Sketch | None:
    """Try a way on invented people with this table's columns; None where it asks for more than columns."""
    plan = fill_plan(method, schema, epsilon)
    if plan is None:
        return None
    try:
        design = check(plan)
        prepared = {
            one.name: invented_people(one, plan.prepared(one.name), PEOPLE, alike=True)
            for one in design.sources_read
        }
        began = time.perf_counter()
        with tempfile.TemporaryDirectory(prefix="custos-") as folder:
            release = make(design, prepared, Noise(), folder=Path(folder), progress=progress).release
        seconds = time.perf_counter() - began
        rows = prepared[MAIN].table.rows() if MAIN in prepared else pd.DataFrame()
        return Sketch(seconds, *_off(design, release.artefacts, rows))
    except Cancelled:
        raise
    except Exception:
        return None  # what cannot be sketched can still be chosen


def fill_plan(method: type[Method], schema: Schema, epsilon: Fraction) -> Plan | None:
    """Return a plan for a way with the settings of its example and columns of another table."""
    example = next(iter(plans(method)), None)
    columns = usable_columns(schema)
    if example is None or not columns or [one.name for one in method.sources] != [MAIN]:
        return None
    chosen = _some(columns)
    schemas = {MAIN: Schema(chosen, one_row_each=True)}
    given, used = dict(example.parameters), set[str]()
    for one in sorted(method.parameters, key=lambda one: one.kind is ParameterKind.COLUMNS):
        if one.kind not in OF_COLUMNS or one.name not in given:
            continue
        free = [name for name in fitting_columns(one, schemas) if name not in used]
        if one.kind is ParameterKind.COLUMN:
            value: Any = next(iter(free), None)
        else:
            value = free[: min(len(given[one.name]), MOST_COLUMNS)] or None
        given[one.name] = value
        used |= {value} if isinstance(value, str) else set(value or ())
    given |= {name: PEOPLE for name in ("about_rows", "people") if name in given}
    budget = example.budget and replace(example.budget, epsilon=epsilon)
    plan = Plan(
        method=method.id,
        method_version=method.version,
        schemas=schemas,
        parameters={name: value for name, value in given.items() if value is not None},
        declared_sizes=(PEOPLE,),
        budget=budget or (Budget(epsilon) if example.budget else None),
        files={MAIN: example.files[MAIN]},
        purpose=example.purpose,
        holding=example.holding,
    )
    records = {one.name for one in method.parameters if one.kind is ParameterKind.RECORDS}
    for _ in range(3):  # what the example says of its own columns cannot hold here
        problems = {str(one.parameter) for one in plan.design.problems}
        said = set(plan.parameters)
        wrong = (problems & said) or (records & said if problems else set())
        if not wrong:
            break
        kept = {name: value for name, value in plan.parameters.items() if name not in wrong}
        plan = replace(plan, parameters=kept)
    return None if plan.design.problems else plan


def _some(columns: tuple[Column, ...]) -> tuple[Column, ...]:
    """Return a few columns of different kinds, in their order."""
    levels = [one for one in columns if one.kind in (Kind.CATEGORY, Kind.ORDINAL)]
    levels.sort(key=lambda one: len(coding.levels(one)))  # stable: the shortest lists first
    numbers = [one for one in columns if one.kind in NUMBERS]
    dates = [one for one in columns if one.kind is Kind.DATE]
    kept = {one.name for one in (*levels[:3], *numbers[:2], *dates[:1])}
    return tuple(one for one in columns if one.name in kept)


def _off(design: Method, artefacts: Iterable[Any], rows: pd.DataFrame) -> tuple[float | None, str]:
    for made in artefacts:
        if isinstance(made, ModelArtefact) and made.target:
            return _wrong(made, design.schema.column(made.target), rows), "predictions"
        if isinstance(made, TableArtefact) and design.rows is Rows.SYNTHETIC:
            return _apart(made.frame, design.schema, rows), "values"
        if isinstance(made, TableArtefact) and design.rows is not Rows.NONE:
            return _change(made, rows), "cells"
    return _foreseen(design)


def _wrong(model: ModelArtefact, column: Column, rows: pd.DataFrame) -> float | None:
    said = np.asarray(model.predict(rows))
    span = _span(column)
    if span:
        truth = coding.numbers(rows[column.name], column)
        return 1000 * float(np.mean(np.abs(said.astype(float) - truth))) / span
    truth = np.array([coding.text_of(one) for one in rows[column.name]], dtype=object)
    return 1000 * float(np.mean(said.astype(object) != truth))


def _apart(made: pd.DataFrame, schema: Schema, rows: pd.DataFrame) -> float | None:
    names = told_by(made, schema)
    if not names or not len(made):
        return None
    scales = [Scale.of(rows[name], schema.column(name)) for name in names]
    found = distances(classes_of(made, scales), classes_of(rows, scales))
    return 1000 * (mean(found.two_way.values()) if found.two_way else found.mean_one_way)


def _change(made: TableArtefact, rows: pd.DataFrame) -> float | None:
    names = [name for name in made.frame if name in rows]
    if made.origins is None or not names:
        return None
    before = rows[names].iloc[made.origins]
    same = sum(
        coding.text_of(one) == coding.text_of(other)
        for name in names
        for one, other in zip(made.frame[name], before[name], strict=True)
    )
    return 1000 * (1 - same / (len(rows) * len(names)))


def _foreseen(design: Method) -> tuple[float | None, str]:
    """Return the first error that is of people, of a part of something, or of the range of a number."""
    for one in design.forecast.errors:
        if one.size not in (None, PEOPLE):
            continue
        if one.unit.strip() in (PERCENT, POINTS):
            return 10 * one.limit, "share"
        if one.is_count:
            return one.limit, "people"
        span = _span(design.schema.column(str(design.values.get("value") or "")))
        if span and one.of == "group":
            return 1000 * one.limit / span, "range"
    return None, ""


def _span(column: Column) -> float:
    """Return how far the declared ends of a number are apart; 0 for what is no number."""
    if column.kind not in NUMBERS or column.domain is None:
        return 0.0
    return float(Fraction(column.domain.maximum or 0) - Fraction(column.domain.minimum or 0))
