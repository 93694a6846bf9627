"""What the cap on the rows of one person left out, and what it did to the columns that were released."""

from __future__ import annotations

from dataclasses import asdict

from engine.evaluation.protocol import InternalMeasure, InternalMeasured, Need, Private
from engine.methods.protocol import Method
from engine.methods.values import columns_named
from engine.numbers import brief
from engine.privacy.promise import Unit
from engine.risk.cap_figures import CAPS, CapFigures, Shift, cap_figures
from engine.views import NumberView, TableView, Text, View

ID = "utility.cap"
WORDS = f"measures.{ID}"


class RowsLeftOut(InternalMeasure):
    """Rows that the cap and other caps keep, and means and shares by cap, from the table before the cap.

    Notes
    -----
    Exact, and so inside only: how many rows people have is not in the release.
    """

    id = ID
    needs = frozenset({Need.TABLE})

    def further_applies(self, subject: Method) -> bool:
        return subject.request.unit is Unit.PERSON and not subject.cost.weighs

    def evaluate(self, context: Private) -> InternalMeasured:
        request = context.subject.request
        named = columns_named(context.subject.parameters, request.values)
        columns = tuple(dict.fromkeys(name for names in named.values() for name in names))
        chosen = request.rows_per_person
        caps = tuple(sorted({*CAPS, chosen}))
        found = cap_figures(context.table, context.schema, columns=columns, caps=caps, people=context.people)
        return InternalMeasured(_views(found, chosen), asdict(found))


def _views(found: CapFigures, chosen: int) -> tuple[View, ...]:
    rows = tuple(
        (
            Text(f"{WORDS}.views.kept.{'chosen' if cap == chosen else 'row'}", {"cap": cap}),
            kept,
            found.rows - kept,
            round(100 * (found.rows - kept) / found.rows, 1) if found.rows else None,
        )
        for cap, kept in found.kept.items()
    )
    left_out = Text(f"{WORDS}.numbers.left_out")
    views: list[View] = [
        NumberView(Text(f"{left_out.id}.label"), found.rows - found.kept[chosen], left_out),
        TableView(
            Text(f"{WORDS}.views.kept.title"),
            (
                Text(f"{WORDS}.views.kept.cap"),
                *(Text(f"{WORDS}.numbers.{name}.label") for name in ("kept", "left_out", "share")),
            ),
            rows,
            Text(f"{WORDS}.views.kept.note", {"people": found.people, "most": found.most}),
        ),
    ]
    if found.shifts:
        views.append(
            TableView(
                Text(f"{WORDS}.views.shifts.title"),
                (
                    Text(f"{WORDS}.views.shifts.column"),
                    *(Text(f"{WORDS}.numbers.{name}.label") for name in ("uncapped", "capped", "change")),
                ),
                tuple(_shift(shift, chosen) for shift in found.shifts),
                Text(f"{WORDS}.views.shifts.note", {"cap": chosen}),
            )
        )
    return tuple(views)


def _shift(shift: Shift, cap: int) -> tuple[Text, float | None, float | None, float | None]:
    kind = "mean" if shift.level is None else "level"
    what = Text(f"{WORDS}.views.shifts.{kind}", {"column": shift.column, "level": shift.level or ""})
    before, after = shift.uncapped, shift.by_cap[cap]
    change = None if before is None or after is None else after - before
    return what, brief(before), brief(after), brief(change)
