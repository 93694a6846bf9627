"""What a table gives away today, asked as an analysis."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from engine.analyses.protocol import Analysis, Answer, Context, InternalAnswer
from engine.errors import InputRefused
from engine.methods.parameters import Parameter, ParameterKind
from engine.methods.protocol import MAIN, Reference, Source
from engine.risk.disclosure import Disclosure, disclosure
from engine.risk.encoding import encode
from engine.risk.groups import Missing
from engine.views import BarsView, TableView, Text, View

if TYPE_CHECKING:
    from engine.table.table import Table

POPULATION = "population"
BANDS = ((1, 1), (2, 2), (3, 4), (5, 10), (11, 19), (20, 49), (50, 99))


class DisclosureToday(Analysis):
    """Groups of the identifying columns, three intruders, sensitive columns and what causes it."""

    id = "disclosure"
    published = Reference(
        "El Emam: Guide to the De-Identification of Personal Health Information", "chapter 16"
    )
    sources = (Source(MAIN), Source(POPULATION, required=False))
    parameters = (
        Parameter("missing", ParameterKind.CHOICE, default="own_value", choices=tuple(Missing)),
        Parameter("population_size", ParameterKind.INTEGER, optional=True, minimum=1, maximum=10**10),
    )

    def run(self, values: Mapping[str, Any], tables: Mapping[str, Table], context: Context) -> Answer:
        table, schema = own_table(tables, context)
        encoded = encode(table, schema)
        people = tables.get(POPULATION)
        if people is not None and values["population_size"] is not None:
            raise InputRefused("risk.population_twice")
        names = encoded.identifying
        found = disclosure(
            encoded,
            missing=Missing(values["missing"]),
            population=None if people is None else encode(people, schema, columns=names, beside=True),
            population_size=values["population_size"],
            progress=context.progress,
        )
        views: list[View] = [self.sentences(_sentences(found)), self._sizes(found), self._causes(found)]
        if found.diversity:
            views.append(self._sensitive(found))
        return InternalAnswer(tuple(views), found.to_json())

    def _sizes(self, found: Disclosure) -> BarsView:
        bands = people_by_band(found.groups.distribution)
        return BarsView(
            self.word("sizes.title"),
            tuple(label for label, _ in bands),
            tuple(float(count) for _, count in bands),
            self.word("sizes.people"),
        )

    def _causes(self, found: Disclosure) -> TableView:
        ordered = sorted(found.uniques.contribution.items(), key=lambda entry: -entry[1])
        rows = tuple((name, round(share, 4)) for name, share in ordered)
        headings = (self.word("causes.column"), self.word("causes.share"))
        return TableView(self.word("causes.title"), headings, rows, self.word("causes.note"))

    def _sensitive(self, found: Disclosure) -> TableView:
        names = ("column", "distinct", "entropy", "worst_share", "homogeneous", "t", "beta")
        rows = tuple(
            (
                name,
                each.distinct,
                round(each.entropy, 4),
                round(each.worst_share, 4),
                each.homogeneous_people,
                round(found.closeness[name].t, 4),
                round(found.closeness[name].beta, 4),
            )
            for name, each in found.diversity.items()
        )
        headings = tuple(self.word(f"sensitive.{name}") for name in names)
        return TableView(self.word("sensitive.title"), headings, rows, self.word("sensitive.note"))


def own_table(tables: Mapping[str, Table], context: Context) -> tuple[Table, Any]:
    """Return the custodian's table and its schema, or refuse."""
    if MAIN not in tables or MAIN not in context.schemas:
        raise InputRefused("risk.needs_table")
    return tables[MAIN], context.schemas[MAIN]


def people_by_band(distribution: Mapping[int, int]) -> list[tuple[str, int]]:
    """Return people by the size of their group, in bands that grow.

    Examples
    --------
    >>> people_by_band({1: 3, 4: 8, 120: 120})
    [('1', 3), ('2', 0), ('3–4', 8), ('5–10', 0), ('11–19', 0), ('20–49', 0), ('50–99', 0), ('100–120', 120)]
    """
    largest = max(distribution, default=0)
    last = [(BANDS[-1][1] + 1, largest)] if largest > BANDS[-1][1] else []
    return [
        (
            f"{low}" if low == high else f"{low}–{high}",
            sum(distribution.get(k, 0) for k in range(low, high + 1)),
        )
        if high <= BANDS[-1][1]
        else (f"{low}–{high}", sum(count for size, count in distribution.items() if size >= low))
        for low, high in (*BANDS, *last)
    ]


def _sentences(found: Disclosure) -> list[Text]:
    columns = ", ".join(found.groups.columns)
    lines = [
        Text("risk.lines.groups", {"people": found.people, "groups": found.groups.count, "columns": columns}),
        Text("risk.lines.smallest", {"smallest": found.smallest, "alone": found.alone}),
        Text(
            "risk.lines.prosecutor",
            {"highest": found.prosecutor.highest, "average": found.prosecutor.average},
        ),
        Text("risk.lines.marketer", {"share": found.marketer}),
    ]
    if found.population is not None:
        risk = found.population.journalist
        values = {"population": found.population.people, "highest": risk.highest, "average": risk.average}
        lines.append(Text("risk.lines.journalist", values))
    if found.uniqueness is not None:
        values = {"low": found.uniqueness.low, "high": found.uniqueness.high}
        lines.append(Text("risk.lines.uniqueness", values))
    lines += [Text(f"risk.findings.{one.code}", one.values) for one in found.findings]
    lines.append(Text(f"risk.lines.missing_{found.missing.value}"))
    return [*lines, Text("risk.lines.stays")]
