"""Communities of people by where and when they are, and what traces invented from them give away."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.analyses.disclosure import own_table
from engine.analyses.protocol import Analysis, Answer, Context, InternalAnswer
from engine.analyses.shared import EVENTS, line, read_events, thesis
from engine.errors import InputRefused
from engine.methods.parameters import Parameter, ParameterKind
from engine.methods.protocol import MAIN, Shape, Source
from engine.methods.shared.histories import names_of_time, part_of_time
from engine.risk.communities import (
    AVERAGED,
    DRAWN,
    FORMS,
    INVENTED,
    JOINED,
    MOST_WORK,
    Communities,
    Likeness,
    Transport,
    Visits,
    agreement,
    find_groups,
    invent,
    learn,
    likeness,
    share_places,
    utility,
)
from engine.table.schema import Kind
from engine.views import CurveView, GraphView, Label, TableView, Text, View

if TYPE_CHECKING:
    from engine.table.table import Table

SHOWN = 3
MOST_EDGES = 20
"""Moves that a drawing shows of each of the largest communities."""


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
        form = values["form"]
        column = None if form == "place" else schema.column(values["moment"])
        events = read_events(table, schema, schema.column(values["place"]), column)
        time = np.zeros_like(events.place)
        of_time: tuple[Label, ...] = ("",)
        if column is not None:
            weekly = column.kind is Kind.DATE
            time, of_time = part_of_time(events.minutes, weekly=weekly), names_of_time(weekly=weekly)
        n = len(time)
        work = n * values["communities"] * values["sweeps"]
        if not 0 < work <= MOST_WORK:
            raise InputRefused("analyses.communities_size", visits=n, work=work, most=MOST_WORK)
        visits = Visits(events.person, events.place, time)
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
        drawn = np.sort(context.chance.permutation(len(model.people))[:JOINED])
        groups = find_groups(share_places(visits, drawn), context.chance)
        beside = {
            "joined": len(drawn),
            "groups": int(groups.max()) + 1,
            "single": int((np.bincount(groups) == 1).sum()),
            "alike": round(agreement(groups, model.chosen[drawn]), 2),
        }
        return self._answer(model, moves, alike, kept_share, beside, list(events.names), of_time, form)

    def _answer(
        self,
        model: Communities,
        moves: Transport,
        alike: Likeness,
        kept: float,
        beside: Mapping[str, float],
        names: list[str],
        of_time: tuple[Label, ...],
        form: str,
    ) -> Answer:
        largest = float(np.median(alike.largest))
        sizes = np.bincount(model.chosen, minlength=len(model.places))
        said = {"people": len(model.people), "communities": len(sizes), "filled": int((sizes > 0).sum())}
        risk = {
            "unlike": round(100 * alike.unlike.share, 1),
            "largest": round(largest, 2),
            "copies": alike.copies.successes,
            "alone": alike.alone,
            "compared": len(alike.largest),
            "traces": alike.copies.attacks,
        }
        lines = [
            self.word("said", **said),
            self.word(model.settling, split=round(model.split, 2), averaged=AVERAGED),
            self.word("louvain", **beside),
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
            "louvain": dict(beside),
        }
        views: tuple[View, ...] = (
            self.sentences(lines),
            TableView(self.word("table.title"), headings, rows, self.word("table.note", shown=SHOWN)),
            *self._graphs(moves, order[:SHOWN].tolist(), names),
            curve,
        )
        return InternalAnswer(views, figures)

    def _graphs(self, moves: Transport, communities: list[int], names: list[str]) -> Iterator[GraphView]:
        """Yield for each of some communities which places its members join by their moves."""
        for number, community in enumerate(communities, 1):
            usual, every = moves.usual(community, MOST_EDGES), len(moves.own(community))
            nodes = sorted({place for one, to, _ in usual for place in (one, to)})
            at = {place: where for where, place in enumerate(nodes)}
            edges = tuple((at[one], at[to], float(n)) for one, to, n in usual)
            if edges:
                title = self.word("graph.title", number=number)
                note = self.word("graph.note", shown=len(edges), all=every)
                yield GraphView(title, tuple(names[place] for place in nodes), edges, note)


def _most(shares: np.ndarray, names: Sequence[Label]) -> Text:
    """Return the names with the largest shares, in per cent."""
    order = np.argsort(-shares, kind="stable")[:SHOWN].tolist()
    shown = [(names[at], round(100 * float(shares[at]))) for at in order]
    said = [Text("views.named_share", {"name": name, "percent": percent}) for name, percent in shown]
    return Text("views.listed", {"all": said})
