"""Communities of people by where and when they are, and what traces invented from them give away."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from engine.analyses.disclosure import own_table
from engine.analyses.protocol import Analysis, Answer, Context, InternalAnswer
from engine.analyses.shared import line, thesis
from engine.errors import InputRefused
from engine.methods.parameters import Parameter, ParameterKind
from engine.methods.protocol import MAIN, Shape, Source
from engine.risk.communities import (
    AVERAGED,
    DRAWN,
    FORMS,
    INVENTED,
    MOST_WORK,
    Communities,
    Likeness,
    Transport,
    Visits,
    invent,
    learn,
    likeness,
    utility,
)
from engine.table import coding
from engine.table.declared import people_of_rows
from engine.table.schema import Kind
from engine.views import CurveView, TableView, Text

if TYPE_CHECKING:
    from engine.table.table import Table

EVENTS = (Kind.MOMENT, Kind.DATE)
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
SHOWN = 3


class TopicModel(Analysis):
    """A topic model of traces: by place, time or both; invented traces, and how like real ones they are."""

    id = "communities"
    published = thesis("chapter 5, models of places, of times and of both; sampled with all shares drawn")
    sources = (Source(MAIN, Shape.EVENTS),)
    parameters = (
        Parameter("place", ParameterKind.COLUMN),
        Parameter("form", ParameterKind.CHOICE, default="place", choices=FORMS),
        Parameter("moment", ParameterKind.COLUMN, column_kinds=EVENTS, when=("form", ("time", "place_time"))),
        Parameter("communities", ParameterKind.INTEGER, default=5, minimum=2, maximum=100),
        Parameter("sweeps", ParameterKind.INTEGER, default=200, minimum=AVERAGED, maximum=5000),
        Parameter("traces", ParameterKind.CHOICE, default=DRAWN, choices=INVENTED),
    )

    def run(self, values: Mapping[str, Any], tables: Mapping[str, Table], context: Context) -> Answer:
        table, schema = own_table(tables, context)
        rows, form = table.rows(), values["form"]
        person = people_of_rows(table, schema.person_key).astype(np.int64)
        place, names = pd.factorize(rows[values["place"]])
        kept = (person >= 0) & (place >= 0)
        time = np.zeros(len(rows), dtype=np.int64)
        of_time: tuple[str, ...] = ("",)
        minutes = np.arange(len(rows))  # without moments, events are in the order of the rows
        if form != "place":
            column = schema.column(values["moment"])
            is_day = column.kind is Kind.DATE
            read = coding.dates if is_day else coding.moments
            found = read(rows[column.name], column).astype("datetime64[m]")
            minutes = found.astype(np.int64)
            time = (minutes // (24 * 60) + 3) % 7 if is_day else minutes // 60 % 24
            of_time = DAYS if is_day else tuple(f"{hour:02d}:00" for hour in range(24))
            kept &= ~np.isnat(found)
        work = int(kept.sum()) * values["communities"] * values["sweeps"]
        if not kept.any() or work > MOST_WORK:
            raise InputRefused("analyses.communities_size", visits=int(kept.sum()), work=work, most=MOST_WORK)
        ordered = np.flatnonzero(kept)[np.argsort(minutes[kept], kind="stable")]
        person = np.unique(person[ordered], return_inverse=True)[1]
        visits = Visits(person.astype(np.int64), place[ordered].astype(np.int64), time[ordered])
        model = learn(
            visits,
            values["communities"],
            form=form,
            sweeps=values["sweeps"],
            chance=context.chance,
            progress=context.progress.part(0, 0.9),
        )
        invented = invent(model, visits, values["traces"], context.chance)
        alike = likeness(invented, visits, chance=context.chance)
        kept_share = utility(model, invented, form=form)
        moves = Transport.of(model, visits)
        return self._answer(model, moves, alike, kept_share, [str(one) for one in names], of_time, form)

    def _answer(
        self,
        model: Communities,
        moves: Transport,
        alike: Likeness,
        kept: float,
        names: list[str],
        of_time: tuple[str, ...],
        form: str,
    ) -> Answer:
        largest = float(np.median(alike.largest))
        sizes = np.bincount(model.chosen, minlength=len(model.places))
        said = {"people": len(model.people), "communities": len(sizes), "filled": int((sizes > 0).sum())}
        risk = {
            "unlike": f"{100 * alike.unlike.share:.1f}",
            "largest": f"{largest:.2f}",
            "copies": alike.copies.successes,
            "alone": alike.alone,
            "compared": len(alike.largest),
            "traces": alike.copies.attacks,
        }
        lines = [
            self.word("said", **said),
            self.word("settled", split=f"{model.split:.2f}", averaged=AVERAGED),
            self.word("kept", percent=round(100 * kept)),
            self.word("unlike", **risk),
            self.word("blind", **risk),
            self.word("no_guarantee"),
            Text("risk.lines.stays"),
        ]
        order = np.argsort(-sizes, kind="stable")
        headings = tuple(
            self.word(f"table.{name}") for name in ("community", "people", "places", "times", "moves")
        )
        rows = tuple(
            (
                number,
                int(sizes[community]),
                _most(model.places[community], names) if form != "time" else None,
                _most(model.times[community], of_time) if form != "place" else None,
                ", ".join(
                    f"{names[one]} → {names[to]} ({n})" for one, to, n in moves.usual(community, SHOWN)
                ),
            )
            for number, community in enumerate(order.tolist(), 1)
        )
        swept = np.arange(1, len(model.likelihood) + 1)
        curve = CurveView(
            self.word("curve.title"),
            self.word("curve.sweep"),
            self.word("curve.likelihood"),
            (line(self.word("curve.likelihood"), swept, model.likelihood),),
        )
        figures = {
            "audience": "internal",
            "sizes": sizes[order].tolist(),
            "split": model.split,
            "utility": kept,
            "unlike": alike.unlike.share,
            "largest": largest,
            "copies": alike.copies.successes,
            "alone": alike.alone,
            "traces": alike.copies.attacks,
        }
        views = (
            self.sentences(lines),
            TableView(self.word("table.title"), headings, rows, self.word("table.note", shown=SHOWN)),
            curve,
        )
        return InternalAnswer(views, figures)


def _most(shares: np.ndarray, names: list[str] | tuple[str, ...]) -> str:
    """Return the names with the largest shares, in per cent."""
    order = np.argsort(-shares, kind="stable")[:SHOWN]
    return ", ".join(f"{names[at]} ({100 * shares[at]:.0f} %)" for at in order.tolist())
