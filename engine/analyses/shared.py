"""Parameters and words that several analyses have in common."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from engine import arrays
from engine.methods.parameters import Parameter, ParameterKind
from engine.methods.protocol import Reference
from engine.privacy.at_risk.loss import PrivacyLoss
from engine.privacy.at_risk.mechanisms import MECHANISMS
from engine.table import coding
from engine.table.declared import people_of_rows
from engine.table.schema import Column, Kind, Schema
from engine.views import Series, Text

if TYPE_CHECKING:
    from engine.table.table import Table

EVENTS = (Kind.MOMENT, Kind.DATE)
NUMBER, INTEGER, TEXTS = ParameterKind.NUMBER, ParameterKind.INTEGER, ParameterKind.TEXTS
POINTS = 200


def thesis(place: str) -> Reference:
    """Return a place in the source of most analyses."""
    return Reference("A. Dandekar, Privacy risk of releasing data and models, NUS 2019", place)


def number(name: str, **more: Any) -> Parameter:
    """Return a number that may stay unsaid."""
    return Parameter(name, NUMBER, optional=True, **more)


MECHANISM = (
    Parameter("mechanism", ParameterKind.CHOICE, default="laplace", choices=MECHANISMS),
    number("epsilon0"),
    number("scale"),
    Parameter("sensitivity", NUMBER, default=1),
    Parameter("dimensions", INTEGER, default=1),
    Parameter(
        "answers", INTEGER, default=2, minimum=2, when=("mechanism", ("randomised_response",)), optional=True
    ),
)
"""Which noise, by its level or its scale."""


def mechanism_of(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of `MECHANISM` as the engine's functions take them."""
    found = {parameter.name: values[parameter.name] for parameter in MECHANISM}
    return found | {"answers": found["answers"] or 2}


def finite_or_null(value: float | None) -> float:
    """Return a figure for a sentence; JSON writes an infinite one as null."""
    return math.inf if value is None else value


def levels(top: float) -> np.ndarray:
    """Return the levels at which curves up to ``top`` are drawn."""
    return np.linspace(top / POINTS, top, POINTS)


def line(label: Text, xs: Any, ys: Any, style: str = "plain") -> Series:
    """Return one line of a drawing."""
    return Series(label, tuple(map(float, xs)), tuple(map(float, ys)), style)


def reach(loss: PrivacyLoss) -> float:
    """Return up to which level a drawing shows a loss: its own, or where hardly any of it is left."""
    if math.isfinite(loss.largest):
        return loss.largest
    return float(loss.epsilon_for_confidence(0.9999).value)


@dataclass(frozen=True)
class Events:
    """Events of people, each person's in their order: numbers from 0 on, and minutes since 1970.

    ``names`` are those of the places.
    """

    person: arrays.Integers
    place: arrays.Integers
    minutes: arrays.Integers
    names: tuple[str, ...]


def read_events(table: Table, schema: Schema, place: Column, moment: Column | None) -> Events:
    """Return the events of a table that say who, where and when; without moments in the order of the rows."""
    rows = table.rows()
    person = people_of_rows(table, schema.person_key).astype(np.int64)
    where, names = pd.factorize(rows[place.name])
    kept, minutes = (person >= 0) & (where >= 0), np.arange(len(rows))
    if moment is not None:
        read = coding.dates if moment.kind is Kind.DATE else coding.moments
        found = read(rows[moment.name], moment).astype("datetime64[m]")
        kept, minutes = kept & ~np.isnat(found), found.astype(np.int64)
    order = np.lexsort((minutes[kept], person[kept]))
    numbers = np.unique(person[kept][order], return_inverse=True)[1].astype(np.int64)
    return Events(numbers, where[kept][order].astype(np.int64), minutes[kept][order], tuple(map(str, names)))
