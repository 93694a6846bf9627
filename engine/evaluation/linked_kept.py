"""How far invented tables hang together as the own ones do: relations across tables, beside chance."""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np

from engine import arrays
from engine.evaluation.protocol import InternalMeasure, InternalMeasured, Need, Private
from engine.methods.protocol import MAIN, Method, Rows, TableArtefact
from engine.utility import scattered
from engine.views import NumberView, TableView, Text

if TYPE_CHECKING:
    import pandas as pd

    from engine.methods.shared.linked_rows import LinkedRows

ID = "utility.linked_kept"
WORDS = f"measures.{ID}"
MOST_SHOWN = 40


class Linking(Protocol):
    """What is asked of a design whose tables hang together."""

    @property
    def intervals(self) -> int:
        """Into how many intervals numbers and days are cut, where rows are counted in cells."""

    def read(self, rows: Mapping[str, pd.DataFrame]) -> LinkedRows:
        """Return the rows of tables as they hang together."""

    def relations(self, rows: LinkedRows) -> list[tuple[Text, Text, Text, arrays.Integers]]:
        """Return the counts of pairs of columns of different rows: the model, both columns, the table."""


def is_linked(subject: Method) -> bool:
    """Whether invented tables leave that hang together."""
    return subject.rows is Rows.SYNTHETIC and len(subject.request.private) > 1


def tables_of(context: Private) -> tuple[dict[str, pd.DataFrame], dict[str, pd.DataFrame]]:
    """Return the rows that a release was made from and those that leave, by table."""
    used = {MAIN: context.used.rows()} | {name: one.rows() for name, one in context.others.items()}
    made = {one.name: one.frame for one in context.release.artefacts if isinstance(one, TableArtefact)}
    return used, made


class LinkedKept(InternalMeasure):
    """Total variation between relations across tables, beside that between two halves of the people.

    Notes
    -----
    Half the sum of the differences of all shares. Of n people it is as large by chance between two samples as
    between two halves of them divided by √2, which is shown beside it.
    """

    id = ID
    needs = frozenset({Need.USED, Need.OTHERS, Need.RELEASE})
    less_is_better = ("mean", "worst")

    def further_applies(self, subject: Method) -> bool:
        return is_linked(subject)

    def evaluate(self, context: Private) -> InternalMeasured:
        design = cast(Linking, context.subject)
        used, made = tables_of(context)
        if len(used[MAIN]) < 2:
            return InternalMeasured()
        order = scattered.order(len(used[MAIN]))
        halves = [
            design.relations(design.read(used | {MAIN: used[MAIN].iloc[part]}))
            for part in np.array_split(order, 2)
        ]
        own, invented = design.read(used), design.read(made)
        lines = []
        both = zip(design.relations(own), design.relations(invented), *halves, strict=True)
        for (model, one, other, mine), theirs, first, second in both:
            chance = variation(first[3], second[3]) / sqrt(2)
            lines.append((model, one, other, variation(mine, theirs[3]), chance))
        lines.sort(key=lambda line: -line[3])
        off = [line[3] for line in lines]
        orphans = {
            name: len(rows) - found
            for side, rows_of, linked in (("before", used, own), ("made", made, invented))
            for name, rows, found in (
                (f"{side}.records", rows_of["records"], len(linked.person)),
                *(
                    [(f"{side}.details", rows_of["details"], len(linked.record))]
                    if "details" in linked.cells
                    else []
                ),
            )
        }
        figures: dict[str, Any] = {
            "mean": float(np.mean(off)),
            "worst": max(off),
            "chance": float(np.mean([line[4] for line in lines])),
            "without_parent": orphans,
        }
        shown = tuple((*line[:3], _percent(line[3]), _percent(line[4])) for line in lines[:MOST_SHOWN])
        headings = tuple(
            Text(f"{WORDS}.views.relations.{name}") for name in ("table", "one", "other", "off", "chance")
        )
        note = Text(f"{WORDS}.views.relations.note", {"left": max(0, len(lines) - MOST_SHOWN)})
        views = (
            _number("mean", _percent(figures["mean"]), "%"),
            _number(
                "without_parent", sum(count for name, count in orphans.items() if name.startswith("made"))
            ),
            _number(
                "without_parent_before", sum(n for name, n in orphans.items() if name.startswith("before"))
            ),
            TableView(Text(f"{WORDS}.views.relations.title"), headings, shown, note),
        )
        return InternalMeasured(views, figures)


def variation(one: arrays.Integers, other: arrays.Integers) -> float:
    """Return the total variation between two tables of counts; 1 where only one of them is empty.

    Examples
    --------
    >>> variation(np.array([1, 1, 0]), np.array([2, 0, 2])), variation(np.array([0]), np.array([0]))
    (0.5, 0.0)
    """
    first, second = int(one.sum()), int(other.sum())
    if not first or not second:
        return float(first != second)
    return float(np.abs(one / first - other / second).sum() / 2)


def _percent(share: float) -> float:
    return float(f"{100 * share:.3g}")


def _number(name: str, value: float, unit: str = "") -> NumberView:
    words = f"{WORDS}.numbers.{name}"
    return NumberView(Text(f"{words}.label"), value, Text(words), unit)
