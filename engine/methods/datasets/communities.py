"""Invented traces by a topic model: what communities do is learnt from the log as it is. No guarantee."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from engine.errors import InputRefused
from engine.methods import option
from engine.methods.parameters import Problem
from engine.methods.protocol import (
    MAIN,
    Context,
    DictionaryEntry,
    Family,
    Inside,
    Method,
    Reference,
    Release,
    Rows,
    Shape,
    Source,
    Spends,
    TableArtefact,
)
from engine.methods.shared.cells import Extra, LevelAxis
from engine.methods.shared.histories import event_problems, part_of_time, read_histories
from engine.methods.shared.promise import promise_without_bound
from engine.once import once
from engine.privacy.promise import WHOLE, Promise
from engine.risk.communities import (
    AVERAGED,
    FORMS,
    INVENTED,
    MOST_WORK,
    WALKED,
    Communities,
    Likeness,
    Visits,
    invent,
    learn,
    likeness,
    utility,
)
from engine.table.schema import Kind
from engine.views import Text, TextView

if TYPE_CHECKING:
    from engine.table.table import Table

ID = "datasets.communities"
WORDS = f"methods.{ID}"
TRACE, VISIT, HOUR = "trace", "visit", "hour"
NAMES = (TRACE, VISIT, HOUR)


class InventedCommunities(Method):
    """Invented traces of places and hours, by communities that a topic model finds in a log.

    Notes
    -----
    A. Dandekar (2019), chapter 5: each trace is walked along the moves that members of its community made, or
    each visit drawn by itself. Nothing bounds what the traces tell of one person: some are exactly
    somebody's, unseen where likeness is measured over all pairs. Copies are counted, and the count stays.
    """

    id = ID
    family = Family.DATASET
    promises = ("none",)
    spends = Spends.NOTHING
    sources = (Source(MAIN, Shape.EVENTS),)
    rows = Rows.SYNTHETIC
    invented = True
    counts_people = True
    libraries = ("scikit-learn",)
    published = Reference(
        "A. Dandekar, Privacy risk of releasing data and models, NUS 2019",
        "chapter 5, models of places, of times and of both",
    )

    class Options(option.Options):
        place: str = option.column(column_kinds=(Kind.CATEGORY, Kind.ORDINAL), needs_domain=True)
        moment: str = option.column(column_kinds=(Kind.MOMENT,), needs_domain=True)
        form: str = option.choice(*FORMS, default="place_time")
        communities: int = option.integer(default=5, minimum=2, maximum=100)
        sweeps: int = option.integer(default=200, minimum=AVERAGED, maximum=5000)
        traces: str = option.choice(*INVENTED, default=WALKED)

    options: Options

    @once
    def further_problems(self) -> list[Problem]:
        own = self.options
        if self.schema.person_key is None:
            return [Problem(f"{ID}.no_person_key")]
        found = event_problems(
            self.schema, place=own.place, moment=own.moment, left=None, stays=(), method=ID
        )
        if own.place in NAMES:
            found.append(Problem(f"{ID}.name_taken", {"names": ", ".join(NAMES)}, "place"))
        return found

    @once
    def axis(self) -> LevelAxis:
        """Return the places, and one cell for what was not declared: no trace is torn by it."""
        return LevelAxis(self.schema.column(self.options.place), Extra.TOGETHER)

    @once
    def cost(self) -> Promise:
        return promise_without_bound(self.request, "none", assumptions=(WHOLE,))

    def run(self, tables: Mapping[str, Table], context: Context) -> Release:
        assert context.chance is not None  # nothing bounds the loss
        own, form = self.options, self.options.form
        context.progress.step(0.0, "run.reading")
        events = read_histories(
            tables, context, self.schema, self.axis, moment=own.moment, left=None, session=None
        )
        work = len(events.person) * own.communities * own.sweeps
        if not 0 < work <= MOST_WORK:
            raise InputRefused(f"{ID}.size", visits=len(events.person), work=work, most=MOST_WORK)
        person = np.unique(events.person, return_inverse=True)[1].astype(np.int64)
        visits = Visits(person, events.place, part_of_time(events.start, weekly=False))
        progress = context.progress.part(0.1, 0.8)
        model = learn(
            visits, own.communities, form=form, sweeps=own.sweeps, chance=context.chance, progress=progress
        )
        invented = invent(model, visits, own.traces, context.chance)
        context.progress.step(0.9, "run.writing")
        alike = likeness(invented, visits, chance=context.chance)
        artefact = self._table(invented, context.chance)
        notes = (Text(f"{WORDS}.notes.copies"),)
        kept = utility(model, invented, form=form)
        return Release((artefact,), self.cost, notes=notes, inside=_inside(alike, kept, model))

    def _table(self, invented: Visits, chance: np.random.Generator) -> TableArtefact:
        """Write the traces in an order by lot, so that no number of a trace says whom it stands for."""
        lengths = np.bincount(invented.person)
        number = chance.permutation(len(lengths))[invented.person]
        visit = np.arange(len(number)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        order = np.argsort(number, kind="stable")
        labels = np.array([*self.axis.labels[: self.axis.declared], ""], dtype=object)
        columns = {
            TRACE: (number[order] + 1).astype(str),
            VISIT: (visit[order] + 1).astype(str),
            self.options.place: labels[invented.place[order]],
            HOUR: invented.time[order].astype(str),
        }
        frame = pd.DataFrame({name: pd.array(cells, dtype="str") for name, cells in columns.items()})
        kinds = zip(columns, (TRACE, VISIT, "place", HOUR), ("category", "integer") * 2, strict=True)
        entries = tuple(
            DictionaryEntry(name, Text(f"{WORDS}.dictionary.{meaning}"), kind)
            for name, meaning, kind in kinds
        )
        return TableArtefact("traces", (frame,), entries)


def _inside(alike: Likeness, kept: float, model: Communities) -> Inside:
    """Return what the traces give away, and whether the model settled: it stays."""
    figures = {
        "unlike": alike.unlike.share,
        "largest": float(np.median(alike.largest)),
        "copies": alike.copies.successes,
        "alone": alike.alone,
        "traces": alike.copies.attacks,
        "utility": kept,
        "split": model.split,
    }
    said = {
        **figures,
        "unlike": round(100 * alike.unlike.share, 1),
        "largest": round(figures["largest"], 2),
        "percent": round(100 * kept),
        "split": round(model.split, 2),
        "averaged": AVERAGED,
        "compared": len(alike.largest),
    }
    names = ("unlike", "blind", "kept", model.settling)
    lines = tuple(Text(f"analyses.communities.{name}", said) for name in names)
    return Inside((TextView(Text(f"{WORDS}.views.inside.title"), lines),), figures)
