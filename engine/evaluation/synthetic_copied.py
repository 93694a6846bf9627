"""What invented rows tell of the people they were made from, and of others. Stays inside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from engine.evaluation.protocol import InternalMeasure, InternalMeasured, Need, Private, Subject
from engine.evaluation.synthetic_kept import released_table, scales_of
from engine.methods.protocol import Rows
from engine.risk.copies import MOST_COMPARED, Rate, coordinates, copied_rows, membership, nearest, told
from engine.table.schema import Role, Schema
from engine.utility.distances import Scale, classes_of
from engine.views import Cell, NumberView, TableView, Text

ID = "risk.synthetic_copied"
WORDS = f"measures.{ID}"
KNOWN = (Role.IDENTIFYING, Role.TIME, Role.PLACE)
Classes = Mapping[str, npt.NDArray[np.int64]]


class SyntheticCopied(InternalMeasure):
    """Copies of rows, guesses of sensitive values and nearness, for people used and for people not used.

    Notes
    -----
    What is told of people who had no part is knowledge of the population; what is told of members beyond
    that is the leak. The same attacks against the original itself stand beside them.
    """

    id = ID
    needs = frozenset({Need.USED, Need.HELD_OUT, Need.RELEASE})

    def further_applies(self, subject: Subject) -> bool:
        return subject.method.rows is Rows.SYNTHETIC

    def evaluate(self, context: Private) -> InternalMeasured:
        released = released_table(context.release)
        if released is None or context.held_out is None or not len(context.held_out.rows()):
            return InternalMeasured()
        used, unused = context.used.rows(), context.held_out.rows()
        tables = (released, used, unused)
        scales = scales_of(released, used, context.schema)
        names = [Scale.of_names(used[one.column.name], one.column) for one in scales]
        rates = _rates([classes_of(table, names) for table in tables], context.schema)
        made, own, fresh = (classes_of(table, scales) for table in tables)
        near = _nearness(made, own, fresh, {one.column.name: one.cuts is not None for one in scales})
        figures = {
            **{name: [round(rate.share, 4) for rate in group] for name, group in rates.items()},
            **{name: round(value, 4) for name, value in near.items()},
        }
        numbers = [
            NumberView(
                Text(f"{WORDS}.numbers.{name}.label"), round(value, 3), Text(f"{WORDS}.numbers.{name}")
            )
            for name, value in near.items()
        ]
        return InternalMeasured((_table(rates), *numbers), figures)


def _rates(tables: Sequence[Classes], schema: Schema) -> dict[str, tuple[Rate, ...]]:
    """Return by attack its rate for the release, for people not used, and for the original itself."""
    made, own, fresh = tables
    found: dict[str, tuple[Rate, ...]] = {
        "copies": (copied_rows(made, own), copied_rows(fresh, own), copied_rows(own, own))
    }
    known = [name for name in made if schema.column(name).role in KNOWN]
    for name in made:
        if known and schema.column(name).role is Role.SENSITIVE:
            found[f"told.{name}"] = (
                told(made, own, known=known, asked=name),
                told(made, fresh, known=known, asked=name),
                told(own, own, known=known, asked=name),
            )
    return found


def _nearness(made: Classes, own: Classes, fresh: Classes, is_amount: Mapping[str, bool]) -> dict[str, float]:
    sizes = {name: int(max(part[name].max(initial=0) for part in (made, own, fresh))) + 1 for name in made}
    count = min(MOST_COMPARED, len(next(iter(own.values()))), len(next(iter(fresh.values()))))
    release = coordinates(made, sizes, is_amount)

    def of(table: Classes) -> npt.NDArray[np.float64]:
        length = len(next(iter(table.values())))
        some = np.linspace(0, length - 1, count).astype(np.int64)
        return nearest(release, coordinates({n: codes[some] for n, codes in table.items()}, sizes, is_amount))

    members, others = of(own), of(fresh)
    ratio = float(members.mean() / others.mean()) if others.mean() > 0 else 1.0
    return {"membership": membership(members, others), "nearness": ratio}


def _table(rates: Mapping[str, tuple[Rate, ...]]) -> TableView:
    rows: list[tuple[Cell, ...]] = []
    for name, group in rates.items():
        attack, _, column = name.partition(".")
        shares = (f"{100 * rate.share:.1f} %" for rate in group)
        low, high = group[0].interval
        interval = f"{100 * low:.1f} – {100 * high:.1f} %"
        rows.append(
            (Text(f"{WORDS}.views.attacks.{attack}", {"column": column}), *shares, interval, group[0].attacks)
        )
    headings = tuple(
        Text(f"{WORDS}.views.attacks.{name}")
        for name in ("attack", "made", "unused", "original", "interval", "count")
    )
    return TableView(
        Text(f"{WORDS}.views.attacks.title"), headings, tuple(rows), Text(f"{WORDS}.views.attacks.note")
    )
