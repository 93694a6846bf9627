"""The form of recorded steps, checked without reading a row; see `engine.table.preparation`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from engine.errors import InputRefused
from engine.table.schema import Kind, Schema, exact, written

Step = Mapping[str, Any]
STEPS = ("keep_rows_where", "drop_people", "age_at", "bands", "recode")
CONDITIONS = ("in", "not_in", "at_least", "at_most", "between", "missing", "not_missing")
OTHERS = ("keep", "missing", "label")


def check(steps: Sequence[Step], schema: Schema, *, file: str = "plan") -> None:
    """Refuse steps that are not written as the module says; reads no rows and no list.

    Raises
    ------
    InputRefused
        ``preparation.bad_step``, ``preparation.bad_value``, ``preparation.edges_not_increasing``,
        ``preparation.labels_do_not_match``.
    """
    for place, step in enumerate(steps, 1):
        kind = step.get("step") if isinstance(step, Mapping) else None
        if kind not in STEPS:
            raise InputRefused("preparation.bad_step", file=file, place=place, known=", ".join(STEPS))
        _checked(step, place, file, schema)


def band_labels(step: Step) -> tuple[str, ...]:
    """Return the labels of a step of bands: its own, or the bands in brackets.

    Examples
    --------
    >>> band_labels({"edges": [0, 17.5, 65]})
    ('[0-17.5)', '[17.5-65)')
    """
    if step.get("labels"):
        return tuple(str(label) for label in step["labels"])
    edges = [written(exact(edge)) for edge in step["edges"]]
    return tuple(f"[{low}-{high})" for low, high in pairwise(edges))


def _checked(step: Step, place: int, file: str, schema: Schema) -> None:
    def refuse_unless(good: bool, name: str) -> None:
        if not good:
            raise InputRefused("preparation.bad_value", file=file, place=place, name=name)

    kind = step["step"]
    if kind != "drop_people":
        refuse_unless(isinstance(step.get("column"), str) and bool(step["column"]), "column")
    refuse_unless(step.get("to") is None or (isinstance(step["to"], str) and bool(step["to"])), "to")
    if kind == "keep_rows_where":
        _check_condition(step, schema, refuse_unless)
    elif kind == "drop_people":
        refuse_unless(isinstance(step.get("file"), str) and bool(step["file"]), "file")
    elif kind == "age_at":
        fixed = _is_date(step.get("date"))
        refuse_unless(fixed != isinstance(step.get("date_column"), str), "date")
        refuse_unless(
            all(_is_number(step[name]) for name in ("minimum", "maximum") if name in step), "minimum"
        )
    elif kind == "bands":
        edges = step.get("edges")
        refuse_unless(
            isinstance(edges, list | tuple) and len(edges) >= 2 and all(map(_is_number, edges)), "edges"
        )
        exact_edges = [exact(edge) for edge in step["edges"]]
        if any(low >= high for low, high in pairwise(exact_edges)):
            raise InputRefused("preparation.edges_not_increasing", place=place, column=step["column"])
        labels = band_labels(step)
        if len(set(labels)) != len(exact_edges) - 1:
            expected = len(exact_edges) - 1
            raise InputRefused(
                "preparation.labels_do_not_match",
                place=place,
                column=step["column"],
                found=len(set(labels)),
                expected=expected,
            )
    elif kind == "recode":
        given = isinstance(step.get("map"), Mapping) and bool(step.get("map"))
        refuse_unless(given != isinstance(step.get("file"), str), "map")
        refuse_unless(step.get("others", "keep") in OTHERS, "others")
        refuse_unless(step.get("others") != "label" or isinstance(step.get("label"), str), "label")


def _check_condition(step: Step, schema: Schema, refuse_unless: Callable[[bool, str], None]) -> None:
    condition = step.get("is")
    refuse_unless(condition in CONDITIONS, "is")
    if condition in ("in", "not_in"):
        refuse_unless(isinstance(step.get("values"), list | tuple), "values")
        return
    good = _is_date if schema.column(step["column"]).kind is Kind.DATE else _is_number
    if condition in ("at_least", "at_most"):
        refuse_unless(good(step.get("value")), "value")
    if condition == "between":
        refuse_unless(good(step.get("minimum")), "minimum")
        refuse_unless(good(step.get("maximum")), "maximum")


def _is_number(value: Any) -> bool:
    try:
        exact(value)
    except (ValueError, TypeError, ZeroDivisionError):
        return False
    return True


def _is_date(value: Any) -> bool:
    try:
        return isinstance(value, str) and not np.isnat(np.datetime64(value, "D"))
    except ValueError:
        return False
