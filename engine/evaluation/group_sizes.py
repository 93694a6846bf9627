"""How many people stood alone, or among few, before anything was released."""

from __future__ import annotations

from dataclasses import asdict

from engine.evaluation.protocol import InternalMeasure, InternalMeasured, Need, Private
from engine.methods.protocol import Method
from engine.risk.group_sizes import GroupSizes, group_sizes
from engine.table.schema import Role
from engine.views import BarsView, NumberView, TableView, Text, View

ID = "risk.group_sizes"
WORDS = f"measures.{ID}"


class GroupSizesBefore(InternalMeasure):
    """Counts of people by their identifying attributes, in the whole table as the plan prepares it.

    Notes
    -----
    It describes the table, not the release: released statistics name no row that could be found.
    """

    id = ID
    needs = frozenset({Need.TABLE})

    def further_applies(self, subject: Method) -> bool:
        # Without such a column everybody would be in one group, and "0 alone" would flatter.
        return bool(subject.request.schema.with_role(Role.IDENTIFYING, Role.TIME, Role.PLACE))

    def evaluate(self, context: Private) -> InternalMeasured:
        sizes = group_sizes(context.table, context.schema, people=context.people, progress=context.progress)
        return InternalMeasured(_views(sizes), asdict(sizes))


def _views(sizes: GroupSizes) -> tuple[View, ...]:
    columns = ", ".join(sizes.columns)
    values = {"people": sizes.people, "columns": columns}
    views: list[View] = [
        NumberView(Text(f"{WORDS}.numbers.alone.label"), sizes.alone, Text(f"{WORDS}.numbers.alone", values))
    ]
    rows = tuple(
        (Text(f"{WORDS}.views.under.row", {"k": k}), count, _per_hundred(count, sizes.people))
        for k, count in sizes.under.items()
    )
    names = ("under", "share")
    headings = (
        Text(f"{WORDS}.views.under.group"),
        *(Text(f"{WORDS}.numbers.{name}.label") for name in names),
    )
    views.append(
        TableView(Text(f"{WORDS}.views.under.title"), headings, rows, Text(f"{WORDS}.views.under.note"))
    )
    if any(sizes.because_of.values()):
        causes = sorted(sizes.because_of.items(), key=lambda entry: -entry[1])
        views.append(
            BarsView(
                Text(f"{WORDS}.views.because.title"),
                tuple(name for name, _ in causes),
                tuple(float(count) for _, count in causes),
                Text(f"{WORDS}.numbers.because_of.label"),
                note=Text(f"{WORDS}.views.because.note"),
            )
        )
    return tuple(views)


def _per_hundred(part: int, whole: int) -> float | None:
    return round(100 * part / whole, 1) if whole else None
