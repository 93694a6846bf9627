"""An answer desk: counts under conditions, from a budget that is reserved once and drawn in visits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from engine.errors import InputRefused
from engine.methods import option
from engine.methods.budget import SMALLEST, budget_problems, required
from engine.methods.conditions import parse
from engine.methods.filling import Judged, judged_by_margin
from engine.methods.once import once
from engine.methods.parameters import Problem
from engine.methods.protocol import (
    MAIN,
    Budget,
    Cheaper,
    Context,
    DictionaryEntry,
    Expected,
    Family,
    Forecast,
    Reference,
    Release,
    Request,
    Service,
    Source,
    Step,
    TableArtefact,
)
from engine.methods.services.asked import ID, Asked, cells_of, level_of
from engine.methods.services.cheaper import ways
from engine.methods.services.desk import Answer, Desk, declared
from engine.methods.services.questions import NOWHERE, Question, axis_of
from engine.methods.shared.cells import Extra, LevelAxis, level_problems
from engine.methods.shared.promise import cap_notes, counted_unit, promise
from engine.methods.shared.tables import marked_weak, with_weak
from engine.privacy.events import Sequential
from engine.privacy.mechanisms import LaplaceCounts, Stated
from engine.privacy.promise import Promise
from engine.texts import plainly
from engine.views import BarsView, TableView, Text, View, aside, share

if TYPE_CHECKING:
    from engine.table.schema import Schema
    from engine.table.table import Table

VISIT, CLOSE = "visit", "close"
_IN_TURN = ("questions_in_turn",)
MOST_CELLS, MOST_BARS = 10_000, 60


class PrivateQueries(Service):
    """Counts under conditions, each with noise added once, in visits.

    Notes
    -----
    *One answer.* A row is in at most one cell of a question, and at most k rows of a person are read, so that
    the vector of counts moves by at most k in L1 (2k where a person is exchanged). Discrete Laplace noise of
    scale k/ε on every cell loses ε (Dwork, McSherry, Nissim and Smith 2006, proposition 1; with whole numbers
    Ghosh, Roughgarden and Sundararajan 2012).

    *Which rows of a person.* They are drawn anew in every visit, and are the same for all questions of one
    visit. For every outcome of the lots of everybody else, neighbouring tables differ by at most k rows in
    each visit, so each answer loses ε given the lots of all visits; a mixture over lots that one person does
    not influence loses no more. No lot has to be kept, and none is: the state holds nothing private.

    *All answers.* With pure ε the levels of all answers add up, however questions and levels were chosen in
    the light of earlier answers, as long as the sum stays within what was reserved (Rogers, Roth, Ullman and
    Vadhan 2016, "Privacy odometers and filters", theorem 3.6, for δ = 0; by hand: the ratio of probabilities
    of a whole conversation is the product of the ratios of its answers). An answer that is shown again is
    computed from what was released, and loses nothing.
    """

    id = ID
    family = Family.SERVICE
    usual = True
    promises = ("pure_dp",)
    published = Reference(
        "Rogers, Roth, Ullman, Vadhan: Privacy odometers and filters (2016)",
        "basic composition with levels chosen on the way, for δ = 0",
        "arXiv:1605.08294",
    )

    class Options(option.Options):
        columns: option.Names = option.columns(minimum=1, maximum=500, needs_domain=True)
        questions: int = option.integer(default=20, minimum=1, maximum=10_000)

    options: Options
    same_tables = True
    steps = (
        Step(
            VISIT,
            (Source(),),
            (
                option.records(
                    option.where(name="where", optional=True),
                    option.column(name="by", optional=True),
                    option.number(name="epsilon", optional=True, minimum=SMALLEST),
                    option.integer(name="margin", optional=True, minimum=1, maximum=10**9),
                    name="questions",
                    minimum=1,
                    maximum=100,
                ),
            ),
        ),
        Step(CLOSE),
    )

    # --- declarations -------------------------------------------------------------------------------

    @once
    def further_problems(self) -> list[Problem]:
        if self.request.step:
            return self._visit_problems
        return self._column_problems or budget_problems(self.request, uses_delta=False)

    @once
    def _column_problems(self) -> list[Problem]:
        for name in self.options.columns:
            try:
                _ = axis_of(self.request.schema, name).described  # refuses a code list that nobody knows
            except InputRefused as refused:
                return [Problem(refused.code, refused.values, "columns")]
        return []

    @once
    def _visit_problems(self) -> list[Problem]:
        """Say why a visit cannot be paid for or answered: from its questions and the state alone."""
        desk = Desk.loads(self.request.state)
        if desk is None:
            return [Problem(f"{ID}.no_state")]
        if desk.closed:
            return [Problem(f"{ID}.closed")]
        if self.request.budget is not None:
            return [Problem(f"{ID}.own_budget")]
        if self.request.step == CLOSE:
            return []
        if any(name not in self.request.schema for name in desk.columns) or desk.declared != declared(
            self.request, desk.columns
        ):
            return [Problem(f"{ID}.other_meaning")]
        try:
            asked = self.asked
        except InputRefused as refused:
            return [Problem(refused.code, refused.values, "questions")]
        return _unpayable(desk, asked)

    @once
    def asked(self) -> tuple[Asked, ...]:
        """Return the questions of a visit with what each costs; the second of two that are the same is free.

        Raises
        ------
        InputRefused
            ``services.private_queries.*``: a question that cannot be understood or answered.
        """
        desk = _desk(self.request)
        paid: set[str] = set()
        found = []
        for record in self.values["questions"]:
            where = record["where"] or ""
            question = Question(parse(where), self.request.schema, record["by"])
            _refuse_question(question, desk)
            known = desk.answer(question.key)
            free = known is not None or question.key in paid
            epsilon = Fraction(0) if free else level_of(record, _opened(self.request).units_moved)
            paid.add(question.key)
            found.append(Asked(question, where, epsilon, known, record["margin"]))
        return tuple(found)

    @once
    def questions(self) -> tuple[str, ...]:
        if self.request.step != VISIT:
            return ()
        return tuple(one.question.key for one in self.asked if one.epsilon)

    @once
    def uses(self) -> Mapping[str, tuple[str, ...]]:
        if self.request.step == CLOSE:
            return {}
        if self.request.step != VISIT:
            return super().uses
        names = [name for one in self.asked for name in one.question.columns]
        key = self.schema.person_key
        return {MAIN: tuple(dict.fromkeys([*names, *([] if key is None else [key.name])]))}

    def mechanism(self, epsilon: Fraction) -> LaplaceCounts:
        """Return the noise of one answer in a visit."""
        return LaplaceCounts(_opened(self.request).units_moved, epsilon)

    @once
    def cost(self) -> Promise:
        if not self.request.step:
            return _opening(self.request)
        asked = self.asked if self.request.step == VISIT else ()
        return self._adding_up([one.epsilon for one in asked if one.epsilon])

    @once
    def stated(self) -> Promise:
        """Say what all answers in the folder tell together, those that were paid for before included."""
        return self._adding_up(self._in_folder) if self.request.step else self.cost

    @once
    def priced(self) -> Promise:
        """Return the promise of the opening: prices of visits do not add up, that of the desk bounds all."""
        return _opening(_opened(self.request)) if self.request.step else self.cost

    @once
    def _in_folder(self) -> list[Fraction]:
        """Return the level of every answer that the folder of a visit or of the closing holds, each once."""
        if self.request.step == CLOSE:
            return [answer.epsilon for answer in _desk(self.request).answers]
        found = {one.question.key: one for one in reversed(self.asked)}
        return [one.epsilon if one.known is None else one.known.epsilon for one in found.values()]

    def _adding_up(self, levels: Sequence[Fraction]) -> Promise:
        """Return the promise of answers at these levels."""
        budget = Budget(sum(levels, Fraction(0)), neighbours=_desk(self.request).neighbours)
        events = Sequential(tuple(self.mechanism(epsilon).event for epsilon in levels))
        found = promise(replace(_opened(self.request), budget=budget), events, further=_IN_TURN)
        return found if levels else _undrawn(found)

    def _told_together(self, desk: Desk) -> Text:
        """Say what the folder tells in all, what of it is new, and what the desk has told until now."""
        here, new = (sum(part, Fraction(0)) for part in (self._in_folder, self.takes_each))
        so_far = desk.epsilon - desk.left
        values = {"here": here, "new": new, "so_far": so_far, "reserved": desk.epsilon}
        return Text(f"methods.{ID}.notes.together", {name: _level(one) for name, one in values.items()})

    @once
    def forecast(self) -> Forecast:
        if self.request.step == CLOSE:
            return Forecast()
        label, unit = Text(f"methods.{ID}.numbers.count.label"), counted_unit(self.request)
        if self.request.step == VISIT:
            levels = [one.epsilon for one in self.asked if one.epsilon]
            found = [self.mechanism(epsilon).accuracy() for epsilon in levels]
            errors = tuple(Expected(label, "whole", None, one.median, one.limit, unit) for one in found)
            return Forecast(errors, notes=tuple(cap_notes(self.request)))
        share = required(self.request).epsilon / self.options.questions
        one = LaplaceCounts(self.request.units_moved, share).accuracy()
        errors = tuple(
            Expected(label, "group", size, one.median, one.limit, unit) for size in self.request.sizes
        )
        note = Text(f"methods.{ID}.notes.shared", {"questions": self.options.questions})
        return Forecast(errors, notes=(note, *cap_notes(self.request)))

    def judged(self, people: int | None) -> Judged | None:
        if people is None or self.request.step:
            return None
        limit, questions = self.forecast.errors[0].limit, self.options.questions
        return judged_by_margin(limit, people, f"methods.{ID}.judged", questions=questions)

    # --- rows ---------------------------------------------------------------------------------------

    def run(self, tables: Mapping[str, Table], context: Context) -> Release:
        """Open the desk: nothing is drawn, and no row decides anything."""
        columns, budget = self.options.columns, required(self.request)
        desk = Desk(
            declared(self.request, columns),
            budget.epsilon,
            budget.neighbours,
            self.options.questions,
        )
        notes = (_left(desk), Text(f"methods.{ID}.notes.adds_up"), *cap_notes(self.request))
        return Release((_columns(self.request, columns),), self.cost, notes=notes, state=desk.dumps())

    def step(self, step: str, tables: Mapping[str, Table], state: bytes, context: Context) -> Release:
        desk = _desk(self.request)
        if step == CLOSE:
            return self.closed(desk)
        asked = self.asked
        context.progress.step(0.0, "run.reading")
        rows = tables[MAIN].rows()
        new = []
        for one in asked:
            if one.epsilon:
                noisy = self.mechanism(one.epsilon).release(one.count(rows), context.noise)
                counts = tuple(int(count) for count in noisy)
                by = one.question.by
                new.append(Answer(one.question.key, one.where, by, one.epsilon, counts, desk.visits + 1))
        return self.released(asked, desk.visited(tuple(new)))

    def released(self, asked: tuple[Asked, ...], desk: Desk) -> Release:
        """Make the artefact from answers that the desk knows: nothing after this line has seen a row."""
        told = [(one.where, answer) for one in asked if (answer := desk.answer(one.question.key)) is not None]
        table = self.told(told)
        notes = (
            self._told_together(desk),
            _left(desk),
            Text(f"methods.{ID}.notes.adds_up"),
            *_short(asked, table.frame),
            *cap_notes(self.request),
        )
        return Release((table,), self.cost, _views(table.frame, desk.schema), notes, state=desk.dumps())

    def closed(self, desk: Desk) -> Release:
        """Close the desk: everything that it answered, once more."""
        table = self.told([(answer.where, answer) for answer in desk.answers])
        notes = (
            Text(f"methods.{ID}.notes.closed", {"answers": len(desk.answers)}),
            self._told_together(desk),
            *cap_notes(_opened(self.request)),
        )
        state = replace(desk, closed=True).dumps()
        return Release((table,), self.cost, _views(table.frame, desk.schema), notes, state=state)

    @once
    def offered(self) -> Mapping[str, tuple[str, ...]]:
        return {MAIN: _desk(self.request).columns}

    @once
    def takes_each(self) -> tuple[Fraction, ...]:
        return tuple(one.epsilon for one in self.asked) if self.request.step == VISIT else ()

    @once
    def cheaper(self) -> tuple[Cheaper, ...]:
        if self.request.step != VISIT:
            return ()
        return ways(self.asked, self.values["questions"], _desk(self.request), _opened(self.request))

    @once
    def so_far(self) -> tuple[View, ...]:
        answers = _desk(self.request).answers
        if not answers:
            return ()
        frame = self.told([(answer.where, answer) for answer in answers]).frame.iloc[::-1]
        pairs = zip(frame["count"], frame["within_95"], strict=True)
        parts = [share(within / count if count > 0 else 1) for count, within in pairs]
        frame.insert(list(frame.columns).index("within_95") + 1, "share", parts)
        return _views(frame, _desk(self.request).schema)[:1]

    def told(self, answers: Sequence[tuple[str, Answer]]) -> TableArtefact:
        """Return answers as a table, each below the words in which it was asked for."""
        frames = [self._answer(place, *one) for place, one in enumerate(answers, 1)]
        frame = pd.concat(frames) if frames else pd.DataFrame(columns=list(_ANSWERS))
        unit = counted_unit(_opened(self.request))
        entries = tuple(
            DictionaryEntry(name, _meaning(name), kind, unit if name in ("count", "within_95") else "")
            for name, kind in _ANSWERS.items()
        )
        return TableArtefact("answers", (frame.reset_index(drop=True),), entries)

    def _answer(self, place: int, where: str, answer: Answer) -> pd.DataFrame:
        cells = cells_of(_desk(self.request).schema, answer.by)
        values = [" · ".join(cell) for cell in cells.labels()]
        limit = self.mechanism(answer.epsilon).accuracy().limit
        columns: dict[str, Any] = {
            "question": place,
            "where": where,
            "by": answer.by or "",
            "value": values,
            "count": list(answer.counts),
            "within_95": limit,
            "epsilon": str(answer.epsilon),
            "visit": answer.visit,
        }
        texts = {name: "str" for name, kind in _ANSWERS.items() if kind != "integer"}
        return pd.DataFrame(columns).astype(texts)


_ANSWERS = {
    "question": "integer",
    "where": "text",
    "by": "category",
    "value": "category",
    "count": "integer",
    "within_95": "integer",
    "epsilon": "text",
    "visit": "integer",
}


def _desk(request: Request) -> Desk:
    desk = Desk.loads(request.state)
    if desk is None:
        raise InputRefused(f"{ID}.no_state")
    return desk


def _opened(request: Request) -> Request:
    """Return the request of a visit with unit, cap and relation of the opening, whatever the visit reads."""
    desk = _desk(request)
    budget = Budget(desk.epsilon, neighbours=desk.neighbours)
    return replace(request, schemas={MAIN: desk.schema}, private=(MAIN,), budget=budget)


def _opening(request: Request) -> Promise:
    """Return the promise of all that a desk may ever tell.

    Which mechanisms will draw it is not known yet; the theorem covers any that add up to it.
    """
    level = required(request).epsilon
    return _undrawn(promise(request, Stated("adaptive_composition", level), further=_IN_TURN))


def _undrawn(found: Promise) -> Promise:
    """Return a promise without what is said of noise: where none is drawn, nothing is to be assumed of it."""
    left = tuple(name for name in found.assumptions if name != "exact_integer_noise")
    return replace(found, assumptions=left)


def _refuse_question(question: Question, desk: Desk) -> None:
    """Refuse a question about other columns than the desk's, and one that nobody could be counted in."""
    for name in question.columns:
        if name not in desk.columns:
            raise InputRefused(f"{ID}.not_at_desk", column=name[:100], columns=", ".join(desk.columns))
    if question.by is not None:
        column = question.schema.column(question.by)
        for problem in level_problems([column], parameter="questions"):
            raise InputRefused(problem.code, **problem.values)
        size = LevelAxis(column, Extra.SEPARATE)
        if len(size.labels) > MOST_CELLS:
            raise InputRefused(f"{ID}.too_many_cells", cells=len(size.labels), most=MOST_CELLS)
    if question.canonical == NOWHERE:
        raise InputRefused(f"{ID}.nobody")


def _unpayable(desk: Desk, asked: tuple[Asked, ...]) -> list[Problem]:
    new = [one.epsilon for one in asked if one.epsilon]
    total, left = sum(new, Fraction(0)), desk.left
    if total > left:
        values: dict[str, Any] = {
            "asked": _level(total),
            "left": _level(left, down=True),
            "reserved": _level(desk.epsilon),
        }
        return [Problem(f"{ID}.over_reserve", values, "questions")]
    if len(desk.answers) + len(new) > desk.questions:
        values = {"asked": len(new), "left": desk.questions - len(desk.answers), "most": desk.questions}
        return [Problem(f"{ID}.too_many_questions", values, "questions")]
    return []


def _columns(request: Request, names: tuple[str, ...]) -> TableArtefact:
    """Return what may be asked about: declarations only."""
    columns = [request.schema.column(name) for name in names]
    cells = {
        "column": [column.name for column in columns],
        "kind": [column.kind.value for column in columns],
        "values": [axis_of(request.schema, column.name).described for column in columns],
    }
    kinds = {"column": "category", "kind": "category", "values": "text"}
    entries = tuple(DictionaryEntry(name, _meaning(name), kind) for name, kind in kinds.items())
    return TableArtefact("columns", (pd.DataFrame(cells, dtype="str"),), entries)


def _meaning(name: str) -> Text:
    return Text(f"methods.{ID}.dictionary.{name}")


def _level(epsilon: Fraction, *, down: bool = False) -> float:
    """Return a level as people read it: what was lost is never told smaller, what is left never larger."""
    return plainly(float(epsilon), up=not down, down=down)


def _left(desk: Desk) -> Text:
    values = {
        "left": _level(desk.left, down=True),
        "reserved": _level(desk.epsilon),
        "questions": desk.questions - len(desk.answers),
    }
    return Text(f"methods.{ID}.notes.left", values)


def _short(asked: tuple[Asked, ...], frame: pd.DataFrame) -> tuple[Text, ...]:
    """Say when an answer that was given before is less exact than was asked for now."""
    limits = frame.drop_duplicates("question").set_index("question")["within_95"]
    places = [
        place
        for place, one in enumerate(asked, 1)
        if one.known is not None and one.margin is not None and limits[place] > one.margin
    ]
    if not places:
        return ()
    return (Text(f"methods.{ID}.notes.less_exact", {"questions": ", ".join(map(str, places))}),)


def _views(frame: pd.DataFrame, schema: Schema) -> tuple[View, ...]:
    headings = tuple(Text(f"methods.{ID}.headings.{name}") for name in frame.columns)
    told = frame.assign(epsilon=[_level(Fraction(one)) for one in frame["epsilon"]])
    shown = marked_weak(told, value="count", taken=())
    asides = {name: cells_of(schema, name).asides[name] for name in set(frame["by"]) if name}
    pairs = zip(frame["by"], frame["value"], strict=True)
    named = [aside(value) if value in asides.get(by, ()) else value for by, value in pairs]
    shown["value"] = pd.Series(named, shown.index, dtype=object)
    rows = tuple(tuple(row) for row in shown.itertuples(index=False, name=None))
    words = f"methods.{ID}.views"
    note = with_weak(Text(f"{words}.table.note"), rows)
    views: list[View] = [TableView(Text(f"{words}.table.title"), headings, rows, note)]
    if 0 < len(frame) <= MOST_BARS:
        counts, limits = (frame[name].to_numpy(dtype=np.float64) for name in ("count", "within_95"))
        labels = tuple(
            f"{place} · {value}" if value else str(place)
            for place, value in zip(frame["question"], frame["value"], strict=True)
        )
        views.append(
            BarsView(
                Text(f"{words}.bars.title"),
                labels,
                tuple(counts.tolist()),
                Text(f"methods.{ID}.numbers.count.label"),
                tuple((counts - limits).tolist()),
                tuple((counts + limits).tolist()),
                Text(f"{words}.bars.note"),
            )
        )
    return tuple(views)
