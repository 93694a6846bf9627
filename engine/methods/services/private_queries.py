"""An answer desk: questions of many kinds, from a budget that is reserved once and drawn in visits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import compress
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from engine.errors import InputRefused
from engine.methods import option
from engine.methods.budget import (
    A_DELTA,
    LEAST_GAIN,
    SMALLEST,
    budget_problems,
    is_replace_one,
    required_budget,
)
from engine.methods.filling import Judged, judged_by_margin
from engine.methods.parameters import Problem
from engine.methods.protocol import (
    MAIN,
    Budget,
    Cheaper,
    Context,
    Expected,
    Family,
    FileArtefact,
    Forecast,
    Reference,
    Release,
    Request,
    Service,
    Source,
    Step,
)
from engine.methods.services.asked import (
    ABOVE,
    ID,
    KINDS,
    MEAN,
    PEOPLE,
    QUANTILE,
    ROWS,
    SHARE,
    SUM,
    TABLE,
    Asked,
    Query,
    Terms,
    Together,
    level_of,
    query_of,
)
from engine.methods.services.asking import NAME, STAMP, page, refuse_stamps
from engine.methods.services.cheaper import cheaper_ways
from engine.methods.services.combining import Answer, Follows, answer, follow, variances, widest
from engine.methods.services.desk import Desk, Measurement, declare_meanings
from engine.methods.services.planning import Wanted, is_planned, plan_for
from engine.methods.services.questions import Coded, axis_of, digest
from engine.methods.services.told import (
    answers_table,
    columns_table,
    paid_table,
    rounded_level,
    views_of,
)
from engine.methods.shared.promise import counted_unit, promise
from engine.once import once
from engine.privacy.accuracy import Accuracy
from engine.privacy.events import Event, Sequential
from engine.privacy.mechanisms import AboveThresholds, Integers, Stated
from engine.privacy.promise import Promise, Unit
from engine.table.schema import Kind
from engine.views import Text, View

if TYPE_CHECKING:
    from engine.privacy.noise import Noise
    from engine.table.table import Table

VISIT, SCREEN, CLOSE = "visit", "screen", "close"
_ROUNDING = 1e-6
"""By so much of itself a variance that is worked out may lie beside the true one."""
_IN_TURN, _SQUARES_IN_TURN = ("questions_in_turn",), ("squares_in_turn",)
_NUMBERS = (Kind.INTEGER, Kind.NUMBER)
_OF = option.choice(PEOPLE, ROWS, name="of", default=ROWS, when=("kind", ("count", SHARE)))


class PrivateQueries(Service):
    """Questions of many kinds under conditions, each with noise drawn once, in visits.

    Notes
    -----
    *One answer.* A row is in at most one cell of a question, and at most k rows of a person are read, so that
    a vector of counts moves by at most k in L1 (2k where a person is exchanged); sums, and the pairs that
    means and shares are made of, move by what `Query.sensitivity` says. Discrete Laplace noise of scale Δ/ε
    on every number loses ε (Dwork, McSherry, Nissim and Smith 2006, proposition 1; with whole numbers Ghosh,
    Roughgarden and Sundararajan 2012). A quantile is chosen by permute-and-flip (McKenna and Sheldon 2020).

    *People.* People with at least one row of some kind: one more person moves the number by one at most,
    however many rows they have, so that all of their rows are read and nothing is drawn by lot.

    *Which rows of a person.* Where rows are counted they are drawn anew in every visit, and are the same for
    all questions of one visit. For every outcome of the lots of everybody else, neighbouring tables differ
    by at most k rows in each visit, so each answer loses ε given the lots of all visits; a mixture over lots
    that one person does not influence loses no more. No lot has to be kept, and none is: the state holds
    nothing private.

    *A list of thresholds* is compared in one visit by the sparse vector technique (Lyu, Su and Li 2017): it
    pays for the few answers that are above, not for the many that are not. Its noisy threshold is private, so
    that the list runs whole within one visit, and no number is given.

    *All answers.* With pure ε the levels of all measurements add up, however questions and levels were chosen
    in the light of earlier answers, as long as the sum stays within what was reserved (Rogers, Roth, Ullman
    and Vadhan 2016, "Privacy odometers and filters", theorem 3.6, for δ = 0; by hand: the ratio of
    probabilities of a whole conversation is the product of the ratios of its answers). At a desk with a δ
    noise is Gaussian, and squares of levels (2ρ) add up to what was fixed at the opening (Feldman and Zrnic
    2021, theorem 3.1; a pure answer of level ε has ρ = ε²/2). What is said is worked
    out from all numbers that were released (`engine.methods.services.combining`), which loses nothing.
    """

    id = ID
    version = 2
    family = Family.SERVICE
    usual = True
    promises = ("pure_dp", "approximate_dp")
    published = Reference(
        "Rogers, Roth, Ullman, Vadhan: Privacy odometers and filters (2016)",
        "basic composition with levels chosen on the way, for δ = 0",
        "arXiv:1605.08294",
    )
    published_by_promise: ClassVar[Mapping[str, Reference]] = {
        "approximate_dp": Reference(
            "Feldman, Zrnic: Individual privacy accounting via a Rényi filter (2021)",
            "theorem 3.1",
            "arXiv:2008.11193",
        )
    }

    class Options(option.Options):
        columns: option.Names = option.columns(minimum=1, maximum=500, needs_domain=True)
        questions: int = option.integer(default=20, minimum=1, maximum=10_000)

    options: Options
    same_tables = True
    counts_people = True
    steps = (
        Step(
            VISIT,
            (Source(),),
            (
                option.records(
                    option.choice(*KINDS, name="kind", default=KINDS[0]),
                    option.column(name="value", column_kinds=_NUMBERS, when=("kind", (SUM, MEAN, QUANTILE))),
                    option.number(
                        name="quantile", default="1/2", minimum=0, maximum=1, when=("kind", (QUANTILE,))
                    ),
                    _OF,
                    option.where(name="where", optional=True),
                    option.where(name="part", when=("kind", (SHARE,))),
                    option.columns(name="by", optional=True, maximum=3),
                    option.number(name="epsilon", optional=True, minimum=SMALLEST),
                    option.number(name="margin", optional=True, minimum=SMALLEST, maximum=10**12),
                    option.integer(
                        name="size", optional=True, minimum=1, maximum=10**12, when=("kind", (MEAN, SHARE))
                    ),
                    option.text(name=STAMP, optional=True, by_file=True),
                    name="questions",
                    minimum=1,
                    maximum=100,
                ),
                option.boolean(name="planned", default=False),
            ),
        ),
        Step(
            SCREEN,
            (Source(),),
            (
                option.records(
                    option.where(name="where", optional=True),
                    option.choice(PEOPLE, ROWS, name="of", default=ROWS),
                    option.integer(name="threshold", minimum=0, maximum=10**12),
                    name="listed",
                    minimum=1,
                    maximum=1000,
                ),
                option.number(name="level", minimum=SMALLEST),
                option.integer(name="most", default=3, minimum=1, maximum=100),
            ),
        ),
        Step(CLOSE),
    )

    # --- declarations -------------------------------------------------------------------------------

    @once
    def further_problems(self) -> list[Problem]:
        if self.request.step:
            return self._visit_problems
        return self._column_problems or budget_problems(self.request, uses_delta=self._is_gaussian)

    @property
    def _is_gaussian(self) -> bool:
        """Whether a desk with Gaussian noise is opened: one that has a δ."""
        return self.request.budget is not None and bool(self.request.budget.delta)

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
        if any(name not in self.request.schema for name in desk.columns) or desk.declared != declare_meanings(
            self.request, desk.columns
        ):
            return [Problem(f"{ID}.other_meaning")]
        parameter = "questions" if self.request.step == VISIT else "listed"
        try:
            new = self.new
        except InputRefused as refused:
            return [Problem(refused.code, refused.values, parameter)]
        return _unpayable(desk, new, parameter)

    # --- what is asked, and what is paid for it -----------------------------------------------------

    @once
    def desk(self) -> Desk:
        """Return what the last visit left; refuse what is no state of a desk."""
        desk = Desk.loads(self.request.state)
        if desk is None:
            raise InputRefused(f"{ID}.no_state")
        return desk

    @once
    def terms(self) -> Terms:
        """Return what holds for all questions of the desk."""
        return self.desk.terms

    @once
    def asked(self) -> tuple[Asked, ...]:
        """Return the questions of a visit with what each costs; the second of two that are the same is free.

        Raises
        ------
        InputRefused
            ``services.private_queries.*``: a question that cannot be understood or answered.
        """
        if self.request.step != VISIT:
            return ()
        desk, records = self.desk, self.values["questions"]
        refuse_stamps(records, desk)
        queries = [query_of(record, desk.schema) for record in records]
        for query in queries:
            query.refuse(desk.columns, self.terms)
        known = {one.key for measurement in desk.measured for one in measurement.queries}
        told = follow(queries, desk.measured, self.terms)
        found, left = [], []
        for at, (query, record, how) in enumerate(zip(queries, records, told, strict=True), 1):
            margin, size = record["margin"], record.get("size")
            is_said = record["epsilon"] is not None or margin is not None
            free = query.key in known or (how is not None and self._is_enough(query, how, record, at))
            if not free and not is_said:
                left.append((at, query))
            epsilon = level_of(record, query, self.terms, at) if is_said and not free else Fraction(0)
            known |= {query.key} if epsilon else set()
            found.append(Asked(query, epsilon, margin, size))
        new = [Measurement((one.query,), one.epsilon, visit=desk.visits + 1) for one in found if one.epsilon]
        for (place, _), how in zip(
            left, follow([query for _, query in left], (*desk.measured, *new), self.terms), strict=True
        ):
            if how is None:
                raise InputRefused(f"{ID}.level_or_margin", question=place)
        return tuple(found)

    def _is_enough(self, query: Query, how: Follows, record: Mapping[str, Any], place: int) -> bool:
        """Say whether what follows from earlier answers is as exact as is asked for."""
        margin, measured = record["margin"], self.desk.measured
        if margin is None and record["epsilon"] is None:
            return True
        if margin is not None and max(answer(query, how, measured, self.terms).within) <= margin:
            return True
        alone = (Measurement((query,), level_of(record, query, self.terms, place)),)
        bought = variances(query, Follows({0: None}), alone, self.terms)
        return bool((variances(query, how, measured, self.terms) <= bought * (1 + _ROUNDING)).all())

    @once
    def listed(self) -> tuple[Query, ...]:
        """Return what a list compares with thresholds."""
        if self.request.step != SCREEN:
            return ()
        desk = self.desk
        found = [query_of({**record, "kind": ABOVE}, desk.schema) for record in self.values["listed"]]
        for query in found:
            query.refuse(desk.columns, self.terms)
        return tuple(found)

    @once
    def new(self) -> tuple[Measurement, ...]:
        """Return what the visit pays for, without its numbers."""
        visit = self.desk.visits + 1
        apart = [one for one in self.asked if one.epsilon and not (self.plan and is_planned(one.query))]
        paid = [*self.plan, *(Measurement((one.query,), one.epsilon, visit=visit) for one in apart)]
        told = follow(self.listed, self.desk.measured, self.terms)
        left = {query.key: query for query, known in zip(self.listed, told, strict=True) if known is None}
        if left:
            level, most = self.values["level"], self.values["most"]
            every = tuple(left.values())
            paid.append(Measurement(every, level, (), visit, most=min(most, len(every))))
        return tuple(paid)

    @once
    def plan(self) -> tuple[Measurement, ...]:
        """Return the tables that answer the questions of a visit together, where that is wanted and less."""
        if not self.values.get("planned"):
            return ()
        wanted = [Wanted(one.query, one.epsilon) for one in self.asked if one.epsilon]
        tabled = [one for one in wanted if is_planned(one.query)]
        return plan_for(tabled, self.terms, visit=self.desk.visits + 1)

    @once
    def shown(self) -> tuple[Query, ...]:
        """Return the questions whose answers lie in the folder."""
        if self.request.step == CLOSE:
            return self.desk.asked
        return (*(one.query for one in self.asked), *self.listed)

    @once
    def _told(self) -> tuple[Follows | None, ...]:
        return follow(self.shown, self._every, self.terms)

    @once
    def questions(self) -> tuple[str, ...]:
        if self.request.step not in (VISIT, SCREEN):
            return ()
        return tuple(_fingerprint(one) for one in self.new)

    @once
    def uses(self) -> Mapping[str, tuple[str, ...]]:
        if self.request.step == CLOSE:
            return {}
        if not self.request.step:
            return super().uses
        names = [name for query in self.shown for name in query.columns]
        key = self.schema.person_key
        return {MAIN: tuple(dict.fromkeys([*names, *([] if key is None else [key.name])]))}

    # --- loss ---------------------------------------------------------------------------------------

    @once
    def cost(self) -> Promise:
        return self._adding_up(self.new) if self.request.step else _opening(self.request)

    @once
    def stated(self) -> Promise:
        """Say what all answers in the folder tell together, those that were paid for before included.

        With Gaussian noise a sum of levels that were chosen on the way bounds nothing unless it was fixed
        before: answers of several visits have what was reserved when the desk was opened.
        """
        if not self.request.step:
            return self.cost
        several = len({one.visit for one in self._in_folder}) > 1
        return self.priced if self.terms.is_gaussian and several else self._adding_up(self._in_folder)

    @once
    def priced(self) -> Promise:
        """Return the promise of the opening: prices of visits do not add up, that of the desk bounds all."""
        return _opening(self._opened) if self.request.step else self.cost

    @once
    def _in_folder(self) -> tuple[Measurement, ...]:
        return tuple(self._every[place] for place in self._places)

    @once
    def _every(self) -> tuple[Measurement, ...]:
        return (*self.desk.measured, *self.new)

    @once
    def _places(self) -> tuple[int, ...]:
        """Return the places of what the answers in the folder rest on, and of what is paid for beside."""
        new = range(len(self.desk.measured), len(self._every))
        told = {place for one in self._told if one is not None for place in one.places}
        return tuple(sorted({*told, *new}))

    @once
    def _opened(self) -> Request:
        """Return the request of a visit with unit, cap and relation of the opening, whatever it reads."""
        desk = self.desk
        budget = Budget(desk.epsilon, desk.delta, desk.neighbours)
        return replace(self.request, schemas={MAIN: desk.schema}, private=(MAIN,), budget=budget)

    def _adding_up(self, measured: Sequence[Measurement]) -> Promise:
        """Return the promise of measurements."""
        level = self._level(measured)
        budget = Budget(level, self.desk.delta if level else Fraction(0), self.desk.neighbours)
        events = Sequential(tuple(self.event(one) for one in measured))
        found = _promise(replace(self._opened, budget=budget), events)
        return found if measured else _undrawn(found)

    def _level(self, measured: Sequence[Measurement]) -> Fraction:
        """Return the ε of measurements."""
        return self.terms.together(one.epsilon for one in measured)

    def comparison(self, listed: Measurement) -> AboveThresholds:
        """Return how a list is compared with its thresholds."""
        terms = self.terms
        moved = max(terms.rows if one.of == ROWS else 1 for one in listed.queries)
        return AboveThresholds(
            moved, listed.epsilon, listed.most, len(listed.queries), one_way=not terms.replace_one
        )

    def event(self, measured: Measurement) -> Event:
        """Return what the accountant counts of a measurement."""
        if measured.query.kind == ABOVE:
            return self.comparison(measured).event
        return measured.query.event(measured.epsilon, self.terms)

    def _told_together(self, desk: Desk) -> Text:
        """Say what the folder tells in all, what of it is new, and what the desk has told until now."""
        loss = self.stated.loss
        assert loss is not None
        values = {
            "here": loss.epsilon,
            "new": self._level(self.new),
            "so_far": self._level(desk.measured),
            "reserved": desk.epsilon,
        }
        said: dict[str, Any] = {name: rounded_level(one) for name, one in values.items()}
        if not desk.delta:
            return Text(f"methods.{ID}.notes.together", said)
        return Text(f"methods.{ID}.notes.together_delta", said | {"delta": float(desk.delta)})

    # --- forecast -----------------------------------------------------------------------------------

    @once
    def forecast(self) -> Forecast:
        if self.request.step == CLOSE:
            return Forecast()
        unit, notes = counted_unit(self.request), _cap_notes(self.request)
        if self.request.step:
            return Forecast(tuple(self._expected(unit)), notes=(*_twice(self.asked), *notes))
        one = self._equal_shares(required_budget(self.request))
        errors = tuple(
            Expected(_label("count"), "group", size, one.median, one.limit, unit)
            for size in self.request.sizes
        )
        note = Text(f"methods.{ID}.notes.shared", {"questions": self.options.questions})
        return Forecast(errors, notes=(note, *self._other_noise(one), *notes))

    def _equal_shares(self, budget: Budget) -> Accuracy:
        """Return how exact a count is if all questions of a desk with a budget get the same share."""
        desk = Desk({}, budget.epsilon, budget.neighbours, 1, delta=budget.delta)
        request = self.request
        terms = Terms(
            request.schema, request.units_moved // (2 if is_replace_one(request) else 1),
            is_replace_one(request), by_person=False, delta=budget.delta,
        )  # fmt: skip
        level = desk.share_of(self.options.questions)
        return Query(request.schema).noise(level, terms).accuracy()

    def _other_noise(self, own: Accuracy) -> tuple[Text, ...]:
        """Say what the other noise would do for so many questions, where it would do better."""
        budget = required_budget(self.request)
        delta = Fraction(0) if budget.delta else A_DELTA
        other = self._equal_shares(replace(budget, delta=delta))
        if own.limit < LEAST_GAIN * other.limit:
            return ()
        name = "less_without_delta" if budget.delta else "less_with_delta"
        return (Text(f"methods.{ID}.notes.{name}", {"limit": other.limit, "delta": float(delta)}),)

    def _expected(self, unit: str) -> list[Expected]:
        """Return how far the answers will be from the truth, as far as that does not hang on the truth."""
        found, people = [], self.schema.words.several
        for one in self.asked:  # a plan makes none of them less exact
            query, level = one.query, one.epsilon
            if not level or (query.is_pair and one.size is None):
                continue
            limit = query.limit(level, self.terms, size=one.size)
            counted = query.kind not in (SUM, MEAN, SHARE)
            named = "" if query.kind == SHARE or not query.value else query.schema.column(query.value).unit
            own = people if query.kind == "count" and query.of == PEOPLE else unit
            size = "" if query.is_pair else own if counted else named
            found.append(Expected(_label(query.kind), "whole", one.size, limit / 3, limit, size))
        for measured in self.new:
            if measured.query.kind == ABOVE:
                half, most = (self.comparison(measured).gap(share=share) for share in (0.5, 0.95))
                own = people if all(one.of == PEOPLE for one in measured.queries) else unit
                found.append(Expected(_label(ABOVE), "whole", None, half, most, own))
        return found

    def judged(self, people: int | None) -> Judged | None:
        if people is None or self.request.step:
            return None
        limit, questions = self.forecast.errors[0].limit, self.options.questions
        return judged_by_margin(limit, people, f"methods.{ID}.judged", questions=questions)

    # --- rows ---------------------------------------------------------------------------------------

    def run(self, tables: Mapping[str, Table], context: Context) -> Release:
        """Open the desk: nothing is drawn, and no row decides anything."""
        columns, budget = self.options.columns, required_budget(self.request)
        desk = Desk(
            declare_meanings(self.request, columns),
            budget.epsilon,
            budget.neighbours,
            self.options.questions,
            delta=budget.delta,
        )
        notes = (_left(desk), *_adds_up(desk), *_cap_notes(self.request))
        table = columns_table(self.request.schema, columns)
        written = FileArtefact(NAME, "text/html", page(desk), Text(f"methods.{ID}.page_file"))
        return Release((table, written), self.cost, notes=notes, state=desk.dumps())

    def step(self, step: str, tables: Mapping[str, Table], state: bytes, context: Context) -> Release:
        desk = self.desk
        if step == CLOSE:
            return self.closed(desk)
        context.progress.step(0.0, "run.reading")
        rows = Coded(tables[MAIN].rows())
        whole = Coded(context.whole[MAIN].rows()) if MAIN in context.whole else rows
        planned = {one.query.key: one.query for one in self.new if one.query.kind == TABLE}
        counts = Together(tuple(planned.values())).count(rows) if planned else []
        counted = dict(zip(planned, counts, strict=True))
        measured = tuple(self.measured(one, rows, whole, context.noise, counted) for one in self.new)
        return self.released(desk.visited(measured, self.shown))

    def measured(
        self, one: Measurement, rows: Coded, whole: Coded, noise: Noise, counted: Mapping[str, Integers]
    ) -> Measurement:
        """Draw the noise of a measurement: the only place that sees exact numbers.

        ``counted`` are those of tables by their fingerprints, which were counted in one pass.
        """
        exact = [
            counted[query.key]
            if query.key in counted
            else query.numbers(whole if query.of == PEOPLE else rows)
            for query in one.queries
        ]
        query, found = one.query, exact[0]
        if query.kind == ABOVE:
            thresholds = np.array([listed.threshold for listed in one.queries], dtype=np.int64)
            found = self.comparison(one).compare(np.concatenate(exact), thresholds, noise).astype(np.int64)
        elif query.kind == QUANTILE:
            found = query.chosen(exact[0], one.epsilon, self.terms, noise)
        else:
            found = query.noise(one.epsilon, self.terms).release(exact[0], noise)
        return replace(one, numbers=tuple(int(number) for number in found))

    # --- what leaves: nothing from here on has seen a row -------------------------------------------

    def answers(self, desk: Desk) -> list[tuple[Query, Answer | None]]:
        """Return the answers in the folder, from all that was measured; None for what was not reached."""
        told = follow(self.shown, desk.measured, self.terms)
        return [
            (query, None if how is None else answer(query, how, desk.measured, self.terms))
            for query, how in zip(self.shown, told, strict=True)
        ]

    def released(self, desk: Desk) -> Release:
        """Make the artefacts of a visit."""
        answers = self.answers(desk)
        notes = (
            self._told_together(desk),
            _left(desk),
            *_adds_up(desk),
            *_short(self.asked, answers),
            *_twice(self.asked),
            *_cap_notes(self.request),
        )
        return self._release(desk, answers, notes)

    def closed(self, desk: Desk) -> Release:
        """Close the desk: everything that it answered, once more."""
        notes = (
            Text(f"methods.{ID}.notes.closed", {"answers": len(desk.asked)}),
            self._told_together(desk),
            *_cap_notes(self._opened),
        )
        return self._release(replace(desk, closed=True), self.answers(desk), notes)

    def _release(self, desk: Desk, answers: Any, notes: tuple[Text, ...]) -> Release:
        paid = [(place + 1, self._every[place]) for place in self._places]
        tables = (answers_table(answers), paid_table(paid))
        return Release(tables, self.cost, self._views(answers), notes, state=desk.dumps())

    def _views(self, told: Any, *, newest_first: bool = False) -> tuple[View, ...]:
        return views_of(told, by_visit=self.terms.by_person, newest_first=newest_first)

    @once
    def offered(self) -> Mapping[str, tuple[str, ...]]:
        return {MAIN: self.desk.columns}

    @once
    def takes_each(self) -> tuple[Fraction, ...]:
        """Return what each question takes; of a plan its part, as it would be of the sum alone."""
        takes = self.terms.takes
        each = [takes([one.epsilon]) for one in self.asked]
        if self.plan:
            tabled = [is_planned(one.query) for one in self.asked]
            part = takes(one.epsilon for one in self.plan) / sum(compress(each, tabled))
            each = [one * (part if planned else 1) for one, planned in zip(each, tabled, strict=True)]
        whole = sum(each, Fraction(0))
        level = self._level(self.new) if self.terms.is_gaussian else whole
        return tuple(one * level / whole if whole else one for one in each)

    @once
    def within_each(self) -> tuple[float | None, ...]:
        if self.request.step != VISIT:
            return ()
        return tuple(
            widest(one.query, how, self._every, self.terms)
            for one, how in zip(self.asked, self._told, strict=True)
        )

    @once
    def cheaper(self) -> tuple[Cheaper, ...]:
        if self.request.step != VISIT:
            return ()
        return cheaper_ways(
            self.asked, self.values["questions"], self.desk, self.terms, is_planned=bool(self.plan)
        )

    @once
    def so_far(self) -> tuple[View, ...]:
        desk = self.desk
        if not desk.asked:
            return ()
        told = follow(desk.asked, desk.measured, self.terms)
        found = [
            (query, None if how is None else answer(query, how, desk.measured, self.terms))
            for query, how in zip(desk.asked, told, strict=True)
        ]
        return self._views(found, newest_first=True)[:1]


def _label(kind: str) -> Text:
    return Text(f"methods.{ID}.numbers.{kind}.label")


def _fingerprint(measured: Measurement) -> str:
    """Return the fingerprint of what is paid for; a list or a table is one of its own in every visit."""
    if measured.query.kind not in (ABOVE, TABLE):
        return measured.query.key
    return digest([measured.visit, sorted(one.key for one in measured.queries)])


def _opening(request: Request) -> Promise:
    """Return the promise of all that a desk may ever tell.

    Which mechanisms will draw it is not known yet; the theorem covers any that add up to it.
    """
    budget = required_budget(request)
    return _undrawn(_promise(request, Stated("adaptive_composition", budget.epsilon, budget.delta)))


def _promise(request: Request, events: Event) -> Promise:
    is_gaussian = bool(required_budget(request).delta)
    kind = "approximate_dp" if is_gaussian else "pure_dp"
    return promise(request, events, kind=kind, further=_SQUARES_IN_TURN if is_gaussian else _IN_TURN)


def _undrawn(found: Promise) -> Promise:
    """Return a promise without what is said of noise: where none is drawn, nothing is to be assumed of it."""
    left = tuple(name for name in found.assumptions if name != "exact_integer_noise")
    return replace(found, assumptions=left)


def _unpayable(desk: Desk, new: tuple[Measurement, ...], parameter: str) -> list[Problem]:
    levels = [one.epsilon for one in new]
    if desk.terms.takes(levels) > desk.left:
        values: dict[str, Any] = {
            "asked": rounded_level(desk.level(desk.terms.takes(levels))),
            "left": rounded_level(desk.level(desk.left), down=True),
            "reserved": rounded_level(desk.level(desk.reserved)),
        }
        return [Problem(f"{ID}.over_reserve{'_delta' if desk.delta else ''}", values, parameter)]
    asked = sum(one.questions for one in new)
    if desk.paid + asked > desk.questions:
        values = {"asked": asked, "left": desk.questions - desk.paid, "most": desk.questions}
        return [Problem(f"{ID}.too_many_questions", values, parameter)]
    return []


def _left(desk: Desk) -> Text:
    values = {
        "left": rounded_level(desk.level(desk.left), down=True),
        # What an answer could have had is left as well: at the opening both are one number.
        "reserved": rounded_level(desk.level(desk.reserved), down=bool(desk.delta)),
        "questions": desk.questions - desk.paid,
    }
    return Text(f"methods.{ID}.notes.left{'_delta' if desk.delta else ''}", values)


def _cap_notes(request: Request) -> tuple[Text, ...]:
    """Say what the cap is of: of rows alone, as people are counted by all of theirs."""
    if request.unit is not Unit.PERSON:
        return ()
    return (Text(f"methods.{ID}.notes.capped", {"cap": request.rows_per_person}),)


def _adds_up(desk: Desk) -> tuple[Text, Text]:
    """Say what levels add up to, and which numbers an answer is worked out from."""
    levels = f"adds_up{'_delta' if desk.delta else ''}"
    combined = f"combined{'_by_visit' if desk.terms.by_person else ''}"
    return Text(f"methods.{ID}.notes.{levels}"), Text(f"methods.{ID}.notes.{combined}")


def _twice(asked: tuple[Asked, ...]) -> tuple[Text, ...]:
    """Say which questions of a visit ask the same as one before them, in whatever words."""
    keys = [one.query.key for one in asked]
    places = [str(place + 1) for place, key in enumerate(keys) if key in keys[:place]]
    return (Text(f"methods.{ID}.notes.twice", {"questions": ", ".join(places)}),) if places else ()


def _short(asked: tuple[Asked, ...], answers: Sequence[tuple[Query, Answer | None]]) -> tuple[Text, ...]:
    """Say when an answer that was given before is less exact than was asked for now."""
    places = [
        place
        for place, (one, (_, found)) in enumerate(zip(asked, answers, strict=False), 1)
        if not one.epsilon and one.margin is not None and found is not None and max(found.within) > one.margin
    ]
    if not places:
        return ()
    return (Text(f"methods.{ID}.notes.less_exact", {"questions": ", ".join(map(str, places))}),)
