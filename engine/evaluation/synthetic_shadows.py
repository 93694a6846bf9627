"""Membership told by shadows: the method is run again without each person. Stays inside; on demand."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from engine import arrays
from engine.evaluation.invented import Sides, kept_columns, released_tables
from engine.evaluation.protocol import InternalMeasure, InternalMeasured, Need, Private
from engine.evaluation.synthetic_copied import membership_view
from engine.methods.protocol import MAIN, Context, Method, Rows
from engine.privacy.noise import Noise
from engine.risk.copies import MOST_COMPARED, coordinates, nearest
from engine.risk.membership import telling
from engine.table.declared import people_of_rows
from engine.table.table import Table
from engine.utility import scattered
from engine.utility.distances import AMOUNTS, Scale, classes_of
from engine.views import NumberView, Text

ID = "risk.synthetic_shadows"
WORDS = f"measures.{ID}"
SHADOWS = 12

Floats = arrays.Floats


class SyntheticShadows(InternalMeasure):
    """How well somebody tells who was used who can run the method on similar people.

    Notes
    -----
    Score: the distance to the nearest released row, less the mean of that distance over releases made from
    random halves of all people in which the person was not. Where a loss is bounded, its bound says what the
    best such attack can tell, and no shadow is drawn.

    Source: T. Stadler, B. Oprisanu, C. Troncoso, USENIX Security (2022), for shadows of synthetic tables.
    """

    id = ID
    needs = frozenset({Need.USED, Need.HELD_OUT, Need.RELEASE})
    less_is_better = ("shadows",)
    on_demand = True

    def further_applies(self, subject: Method) -> bool:
        return (
            subject.rows is Rows.SYNTHETIC and subject.cost.loss is None and len(subject.request.schemas) == 1
        )

    def evaluate(self, context: Private) -> InternalMeasured:
        sides = Sides.of(context)
        if sides is None or sides.unused is None or len(sides.unused) < 20:
            return InternalMeasured()
        points = _Points(sides, kept_columns(sides, context.release))
        pool = pd.concat([sides.used, sides.unused], ignore_index=True)
        people = people_of_rows(context.used.with_rows(pool), context.schema.person_key)
        count = min(MOST_COMPARED, len(sides.used), len(sides.unused))
        members = scattered.order(len(sides.used))[:count]
        others = len(sides.used) + scattered.order(len(sides.unused))[:count]
        sought = np.concatenate([members, others])
        asked = points.of(pool.iloc[sought])
        total, runs = np.zeros(len(sought)), np.zeros(len(sought))
        chance = Noise().internal_generator()
        for place in range(SHADOWS):
            context.progress.step(place / SHADOWS, "run.evaluating")
            is_in = chance.random(people.max() + 1)[people] < 0.5
            shadow = _made(context, context.used.with_rows(pool[is_in].reset_index(drop=True)), chance)
            without = ~is_in[sought]
            total[without] += nearest(points.of(shadow), asked[without])
            runs[without] += 1
        plain = nearest(points.of(sides.copies[0]), asked)
        seen = runs > 0
        scores = np.where(seen, plain - total / np.maximum(runs, 1), np.nan)
        is_member = np.arange(len(sought)) < count
        found = {
            "shadows": telling(scores[is_member & seen], scores[~is_member & seen]),
            "plain": telling(plain[is_member], plain[~is_member]),
        }
        figures = {"shadows": round(found["shadows"].area, 3), "runs": SHADOWS}
        numbers = [
            NumberView(Text(f"{WORDS}.numbers.{name}.label"), value, Text(f"{WORDS}.numbers.{name}"))
            for name, value in figures.items()
        ]
        kept = {name: {"area": one.area, "found": one.found.share} for name, one in found.items()}
        return InternalMeasured((*numbers, membership_view(found, WORDS)), figures | {"scores": kept})


class _Points:
    """Rows as points, with the same classes for all tables: by columns that were kept, where some were."""

    def __init__(self, sides: Sides, kept: tuple[str, ...]) -> None:
        columns = [column for column in sides.columns if not kept or column.name in kept]
        self._scales = [Scale.of(sides.used[column.name], column) for column in columns]
        self._is_amount = {column.name: column.kind in AMOUNTS for column in sides.columns}
        self._sizes = {scale.column.name: _size(scale) for scale in self._scales}

    def of(self, table: pd.DataFrame) -> Floats:
        classes: Mapping[str, npt.NDArray[np.int64]] = classes_of(table, self._scales)
        return coordinates(classes, self._sizes, self._is_amount)


def _size(scale: Scale) -> int:
    """Return how many classes a column has, with those of missing and unknown values."""
    return len(scale.cuts) + 2 if scale.cuts is not None else len(scale.places or ()) + 2


def _made(context: Private, rows: Table, chance: np.random.Generator) -> pd.DataFrame:
    """Run the method on other rows and return the first table; it is thrown away."""
    subject = context.subject
    with tempfile.TemporaryDirectory(prefix="custos-", dir=context.work_folder) as folder:
        own = Context(Noise(), chance, Path(folder), context.progress.part(0.0, 0.0))
        values = subject.request.values
        one = {"copies": 1} if "copies" in values else {}  # no other copy is looked at
        again = subject.but(values={**values, **one})
        return released_tables(again.run({MAIN: rows}, own))[0]
