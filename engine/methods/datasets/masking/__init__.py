"""The rows of people, masked column by column: a list of declared steps in the order that was chosen."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from engine import arrays
from engine.errors import InputRefused
from engine.methods import option
from engine.methods.datasets.masking.catalogue import STEPS, fields, problems
from engine.methods.datasets.masking.step import ID, WORDS, Told
from engine.methods.datasets.masking.steps.dates import ShiftDates, refuse_told_days
from engine.methods.datasets.masking.working import Form, Working
from engine.methods.kinds import Changes
from engine.methods.parameters import Problem
from engine.methods.protocol import (
    Context,
    DictionaryEntry,
    Family,
    FileArtefact,
    Inside,
    Method,
    Reference,
    Release,
    Rows,
    Spends,
)
from engine.methods.shared.promise import promise_without_bound
from engine.methods.shared.rows import entry, leaving
from engine.methods.trying import Standing, Tried
from engine.methods.values import to_json
from engine.numbers import of_hundred
from engine.once import once
from engine.privacy.promise import Promise
from engine.progress import SILENT, Progress
from engine.table.schema import Kind
from engine.table.table import Table
from engine.views import TableView, Text

RECORD = "masking.json"


class Masking(Method):
    """Steps on columns and rows, recorded: coarser, changed at random, swapped, left out.

    Notes
    -----
    The steps are public, their chance is not: nothing of it is kept. Nothing bounds what can be learnt. Who
    knows some values of a person looks for the nearest row (linkage of records: J. Domingo-Ferrer and
    V. Torra, 2001), and correlated columns let noise be filtered away (H. Kargupta et al., 2003).
    """

    id = ID
    family = Family.DATASET
    promises = ("masked",)
    spends = Spends.NOTHING
    rows = Rows.REAL
    changes = (Changes.COARSER, Changes.MASKED, Changes.PERTURBED)
    tries = ("columns",)
    libraries = ("scipy",)
    published = Reference(
        "Hundepool et al.: Statistical Disclosure Control (2012)",
        "chapter 3",
        "doi:10.1002/9781118348239",
    )

    class Options(option.Options):
        columns: option.Names = option.columns(minimum=1, maximum=500)
        steps: option.Records = option.records(*fields(), minimum=1, maximum=200)

    options: Options

    @once
    def further_problems(self) -> list[Problem]:
        return list(problems(self.options.steps, self.request.schema, self.options.columns))

    @once
    def keeps(self) -> tuple[str, ...]:
        leaves = self.options.columns
        steps = [(STEPS[options["step"]], options) for options in self.options.steps]
        changed = {
            name
            for step, options in steps
            if not step.keeps_values
            for name in step.columns(options, self.request.schema, leaves)
        }
        return tuple(name for name in leaves if name not in changed)

    @once
    def cost(self) -> Promise:
        return promise_without_bound(self.request, "masked")

    def run(self, tables: Mapping[str, Table], context: Context) -> Release:
        table, schema = next(iter(tables.values())), self.request.schema
        assert context.chance is not None  # nothing bounds the loss
        working = Working(table, schema, self.options.columns, context.chance)
        alone = [alone_in(working)]
        done: dict[str, list[Text]] = {name: [] for name in working.columns}
        told: list[Told] = []
        steps = self.options.steps
        for place, options in enumerate(steps):
            context.progress.step(place / len(steps), "datasets.masking")
            step = STEPS[options["step"]]
            changed = step.columns(options, schema, tuple(working.columns))
            for name in changed:
                working.declared[name] = step.declared(working.declared[name], options, schema.column(name))
            told.append(step.apply(working, options))
            for name in changed:
                done[name].append(told[-1].done or step.done(options))
        if not len(working):
            raise InputRefused(f"{ID}.no_rows")
        moved = [name for one in steps if one["step"] == ShiftDates.id for name in one["columns"]]
        if moved:
            refuse_told_days(working, moved, [working.days_as_read(name) for name in moved])
        alone.append(alone_in(working))
        entries = tuple(_entry(self, name, done[name]) for name in working.columns)
        frame = working.written().set_axis(working.places)
        artefact = leaving("table", frame, entries, context.chance)
        views = tuple(view for one in told for view in one.views)
        return Release(
            (artefact, _record(steps, told)), self.cost, views, inside=_inside(working, alone, told)
        )

    def tried(
        self,
        tables: Mapping[str, Table],
        *,
        chance: np.random.Generator,
        progress: Progress = SILENT,
    ) -> tuple[Tried, ...]:
        working = Working(next(iter(tables.values())), self.request.schema, self.options.columns, chance)
        people, before = len(arrays.distinct(working.people)), alone_in(working)
        names = tuple(working.identifying())
        steps = self.values.get("steps") or ()
        after = []
        for place, options in enumerate(steps):
            progress.step(place / len(steps), "datasets.masking")
            STEPS[options["step"]].apply(working, options)
            after.append((_step_words(options, self), alone_in(working)))
        return (Standing(names, people, before, tuple(after)),)


def _step_words(options: Mapping[str, Any], design: Masking) -> Text:
    """Return a step with its columns, for the custodian."""
    step = STEPS[options["step"]]
    columns = step.columns(options, design.schema, design.options.columns)
    name = Text(f"{WORDS}.parameters.steps.fields.step.choices.{step.id}")
    return Text(f"{WORDS}.trial.{'step' if columns else 'rows'}", {"step": name, "columns": columns})


def alone_in(working: Working) -> int:
    """Return how many people stand alone in the identifying columns that leave."""
    names = working.identifying()
    if not names:
        return 0
    key = np.zeros(len(working), dtype=np.int64)
    for name in names:
        own = pd.factorize(working.ranked_or_places(name), use_na_sentinel=False)[0]
        key = pd.factorize(key * (int(own.max(initial=0)) + 1) + own)[0].astype(np.int64)
    width = int(working.people.max(initial=0)) + 1
    key, people = np.divmod(arrays.distinct(key * width + working.people), width)
    return len(arrays.distinct(people[np.bincount(key)[key] == 1]))


def _entry(design: Masking, name: str, done: list[Text]) -> DictionaryEntry:
    column = design.schema.column(name)
    if not done:
        return entry(column, "as_it_is")
    meaning = done[0]
    for text in done[1:]:
        meaning = Text(f"{WORDS}.done.and_then", {"first": meaning, "then": text})
    is_text = column.kind in (Kind.CATEGORY, Kind.ORDINAL, Kind.TEXT) or not _reads_texts(design, name)
    return DictionaryEntry(name, meaning, str(column.kind if is_text else Kind.CATEGORY))


def _reads_texts(design: Masking, name: str) -> bool:
    """Say whether a step leaves texts in a column, a range or ``*`` for instance, whatever it held before."""
    given = [(STEPS[options["step"]], options) for options in design.options.steps]
    return any(
        step.leaves is Form.TEXTS and name in step.columns(options, design.schema, design.options.columns)
        for step, options in given
    )


def _record(steps: tuple[Mapping[str, Any], ...], told: list[Told]) -> FileArtefact:
    """Return what was done, for a recipient's program: the steps, and what undoes them on average."""
    listed = [
        {**to_json(options), **({"found": one.public} if one.public else {})}
        for options, one in zip(steps, told, strict=True)
    ]
    tree = {"version": 1, "masked": listed}  # “steps” would make it a pipeline to readers of data packages
    content = (json.dumps(tree, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode()
    return FileArtefact(RECORD, "application/json", content, Text(f"{WORDS}.record"))


def _inside(working: Working, alone: list[int], told: list[Told]) -> Inside:
    changed = {name: round(working.changed(name), 6) for name in working.columns}
    figures = {
        "alone_before": alone[0],
        "alone_after": alone[1],
        "rows": len(working),
        "changed": changed,
        "steps": [dict(one.inside) for one in told],
    }
    words = f"{WORDS}.views.inside"
    rows: list[tuple[Any, ...]] = [(Text(f"{words}.{name}"), figures[name]) for name in list(figures)[:3]]
    rows += [
        (Text(f"{words}.changed", {"column": name}), of_hundred(share)) for name, share in changed.items()
    ]
    headings = (Text(f"{words}.figure"), Text(f"{words}.value"))
    view = TableView(Text(f"{words}.title"), headings, tuple(rows), Text(f"{words}.note"))
    return Inside((view,), figures)
