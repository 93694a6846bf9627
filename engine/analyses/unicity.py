"""What a log of events gives away, and what in it cannot be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from engine.analyses.disclosure import own_table
from engine.analyses.protocol import Analysis, Answer, Context, InternalAnswer
from engine.analyses.shared import EVENTS
from engine.errors import InputRefused
from engine.methods.parameters import Parameter, ParameterKind
from engine.methods.protocol import MAIN, Reference, Shape, Source
from engine.risk.histories import SingledOut, alone_by_order, look_for_wrong, single_out
from engine.table import coding
from engine.table.declared import people_of_rows
from engine.table.schema import Domain, Kind
from engine.views import IntervalsView, TableView, Text

if TYPE_CHECKING:
    import numpy.typing as npt

    from engine.table.schema import Column
    from engine.table.table import Table

POINTS = (1, 2, 3, 4)
HOUR = 60


class Unicity(Analysis):
    """How many people a few of their own places and times single out, and the order of places alone."""

    id = "unicity"
    published = Reference(
        "de Montjoye, Hidalgo, Verleysen, Blondel: Unique in the crowd (2013)",
        "the uniqueness of traces",
        "doi:10.1038/srep01376",
    )
    sources = (Source(MAIN, Shape.EVENTS),)
    parameters = (
        Parameter("place", ParameterKind.COLUMN),
        Parameter("moment", ParameterKind.COLUMN, column_kinds=EVENTS),
        Parameter("left", ParameterKind.COLUMN, column_kinds=EVENTS, optional=True),
        Parameter("slot", ParameterKind.INTEGER, default=24, minimum=1, maximum=24 * 366, unit="hours"),
        Parameter("people", ParameterKind.INTEGER, default=1000, minimum=10, maximum=100_000),
    )

    def run(self, values: Mapping[str, Any], tables: Mapping[str, Table], context: Context) -> Answer:
        table, schema = own_table(tables, context)
        moment = schema.column(values["moment"])
        if moment.kind is Kind.DATE and values["slot"] % 24:
            raise InputRefused("analyses.no_hours", column=moment.name)
        rows = table.rows()
        person = people_of_rows(table, schema.person_key).astype(np.int64)
        place = pd.factorize(rows[values["place"]])[0].astype(np.int64)
        start = _minutes(rows[moment.name], moment)
        left = values["left"]
        end = np.full(len(rows), _NOTHING) if left is None else _minutes(rows[left], schema.column(left))
        low, high = _bounds(moment)
        wrong = look_for_wrong(person, place, start, end, low=low, high=high)
        kept = start != _NOTHING
        order = np.lexsort((place[kept], start[kept], person[kept]))
        person, place, start = (one[kept][order] for one in (person, place, start))
        person = np.unique(person, return_inverse=True)[1].astype(np.int64)
        slot = start // (values["slot"] * HOUR)
        slot -= slot.min(initial=0)
        place -= place.min(initial=0)
        point = slot * (int(place.max(initial=0)) + 1) + place
        point = np.unique(point, return_inverse=True)[1].astype(np.int64)
        found = single_out(person, point, points=POINTS, people=values["people"], chance=context.chance)
        alone = alone_by_order(person, place)
        return self._answer(found, alone, vars(wrong), slot=values["slot"])

    def _answer(
        self, found: tuple[SingledOut, ...], alone: SingledOut, wrong: Mapping[str, int], *, slot: int
    ) -> Answer:
        ends = [one.interval for one in found]
        known = IntervalsView(
            self.word("known.title"),
            tuple(self.word("known.points", points=one.points) for one in found),
            tuple(100 * one.share if one.people else 0.0 for one in found),
            tuple(100 * low for low, _ in ends),
            tuple(100 * high for _, high in ends),
            self.word("known.axis"),
            self.word("known.note", slot=slot),
        )
        headings = tuple(self.word(f"looked.{name}") for name in ("points", "people", "alone", "left_out"))
        looked = tuple((one.points, one.people, one.alone, one.left_out) for one in found)
        said = {
            "alone": alone.alone,
            "people": alone.people,
            "percent": round(100 * alone.share) if alone.people else 0,
        }
        checks = tuple((self.word(f"wrong.{name}"), count) for name, count in wrong.items())
        figures = {
            "audience": "internal",
            "order_alone": alone.alone,
            "people": alone.people,
            "points": [vars(one) | {"interval": list(one.interval)} for one in found],
            "wrong": dict(wrong),
        }
        return InternalAnswer(
            (
                self.sentences([self.word("said", **said), self.word("no_safety"), Text("risk.lines.stays")]),
                known,
                TableView(self.word("looked.title"), headings, looked, self.word("looked.note")),
                TableView(
                    self.word("wrong.title"),
                    (self.word("wrong.what"), self.word("wrong.rows")),
                    checks,
                    self.word("wrong.note"),
                ),
            ),
            figures,
        )


_NOTHING = int(np.iinfo(np.int64).min)


def _minutes(values: pd.Series, column: Column) -> npt.NDArray[np.int64]:
    """Return moments in minutes, whatever the bounds; the smallest number of all where there is none."""
    if column.kind is Kind.DATE:
        found = coding.dates(values, column).astype("datetime64[m]")
    else:
        zone = "" if column.domain is None else column.domain.zone
        bare = type(column)(column.name, kind=Kind.MOMENT, domain=Domain(zone=zone), missing=column.missing)
        found = coding.moments(values, bare)
    return np.asarray(found.astype(np.int64))


def _bounds(column: Column) -> tuple[int | None, int | None]:
    domain = column.domain or Domain()
    ends = (domain.minimum, domain.maximum)
    low, high = (
        None if one is None else int(np.datetime64(str(one).replace(" ", "T"), "m").astype(np.int64))
        for one in ends
    )
    return low, high
