"""Study: the one mutable object of the window. No Qt.

It holds the immutable Plan, replaces it on every edit, and keeps results beside the fingerprint of the inputs
that made them, so that nothing stale can be shown::

    study.decide(method="statistics.counts")           # any fields of Plan
    study.decide_part("purpose", title="Readmissions") # fields of plan.purpose or plan.price
    study.decide_parameters(columns=["age"])           # keys of plan.parameters; None takes one away

    plan = study.plan                                  # the plan that a job starts with …
    runner.start(work, plan, done=lambda value: study.store("forecast", value, plan))
    study.result("forecast")                           # … None as soon as one of its inputs has changed

    study.listen(callback)                             # callback(names of what changed)

    study.undo(); study.redo()                         # every edit, whatever the screen (`app.state.history`)
    with study.by_itself(): …                          # what follows from a file or a number is no edit

`RESULTS` says which decisions each result depends on. To add one, add a line there.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from app.state.flow import ROWS_PER_PERSON, State, only_what_is_read
from app.state.history import History, Moment
from app.state.holdings import Holdings
from engine.errors import EngineError
from engine.methods.parameters import Problem
from engine.methods.protocol import MAIN, Method
from engine.privacy.promise import promise_kind
from engine.release.plan import Plan
from engine.table.schema import Role

_JSON = Callable[[Mapping[str, Any]], Any]


def _parts(*names: str) -> _JSON:
    return lambda tree: [tree[name] for name in names]


def _grouping(tree: Mapping[str, Any]) -> Any:
    """What group sizes depend on: the rows, and which columns identify people or say who they are."""
    marked = [
        (column["name"], column["role"], column.get("missing"))
        for column in _columns(tree)
        if column["role"] in (Role.IDENTIFYING, Role.PERSON_KEY, Role.PLACE, Role.TIME)
    ]
    return [_prepare(tree), marked]


def _prepare(tree: Mapping[str, Any]) -> Any:
    """What a prepared table depends on: steps may need the person key and read cells by their kind."""
    marks = [
        (column["name"], column["role"] == Role.PERSON_KEY, column["kind"], column.get("missing"))
        for column in _columns(tree)
    ]
    steps = [step for step in tree["preparation"] if step.get("source", MAIN) == MAIN]
    return [_file(tree), steps, marks if steps else []]


def _file(tree: Mapping[str, Any]) -> Any:
    """The file of the people: what other tables there are changes nothing about theirs."""
    return tree["files"].get(MAIN)


def _columns(tree: Mapping[str, Any]) -> Any:
    schema = tree["schemas"].get(MAIN)
    return () if schema is None else schema["columns"]


_DECLARED = ("schemas", "preparation")  # what a method sees of the rows: declarations after the steps
_REQUEST = (*_DECLARED, "method", "method_version", "parameters", "declared_sizes", "budget", "step", "state")
_LEDGER = (*_REQUEST, "files", "holding", "holding_budget", "continues")

RESULTS: Mapping[str, _JSON] = {
    "detection": _file,  # what was found out about the file
    "raw": _file,  # the table as it was read
    "suggestions": _file,
    "part": _file,  # what the table is a sample of
    "looked": _file,  # the same with all that is needed to ask for the values of the whole table
    "values": _file,  # how far that has come
    "keys": _prepare,  # which columns could tell whose a row is
    "table": _prepare,  # … and as it was prepared
    "bars": lambda tree: [
        _prepare(tree),
        tree["schemas"].get(MAIN),
    ],  # the key is a column
    "caps": _grouping,  # what each cap on the rows of a person would leave out
    "pictures": _prepare,  # how each column is spread
    "group_sizes": _grouping,
    "risk_today": lambda tree: [_prepare(tree), tree["schemas"], tree["purpose"].get("threshold")],
    "what_if": _grouping,  # group sizes with one column more; the key is its name
    "matches": lambda tree: [
        _prepare(tree),
        tree["schemas"].get(MAIN),
    ],  # which registers share people with this table
    "price": _parts("price", "budget"),
    "promised": _parts(*_REQUEST, "price"),  # what the level promises and costs
    "forecast": _parts(*_REQUEST),
    "ledger": _parts(*_LEDGER),
    "trial": _parts(*_REQUEST, "files"),  # what the settings give on the rows
    "bundle": lambda tree: tree,  # every decision
}


# A register has less left than is asked for, as it was planned or counted as exchange.
OVER = (
    "ledger.over_budget",
    "ledger.over_delta",
    "charge.over_budget_exchanged",
    "charge.over_delta_exchanged",
)
_COMES_BACK = frozenset({"detection", "suggestions", "group_sizes", "forecast", "bundle"})
"""Small results that are kept when a decision drops them, for when that decision is undone."""


def fingerprint(name: str, plan: Plan) -> str:
    """Return the SHA-256 of what a result depends on."""
    return _digest(RESULTS[name](plan.to_json()))


def _digest(value: Any) -> str:
    canonical = json.dumps(value, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(canonical.encode()).hexdigest()


class Study:
    """Plan, open questions, and the results that hold for them."""

    def __init__(self, plan: Plan | None = None) -> None:
        self._plan = plan if plan is not None else Plan()
        self._open: frozenset[str] = frozenset()
        self._results: dict[tuple[str, str], tuple[str, Any]] = {}
        self._former: dict[tuple[str, str, str], Any] = {}  # by what they depend on, see _COMES_BACK
        self.acts_alone = False  # what changes now follows by itself
        self.place = ""  # the screen in view, so that an edit that is undone can be shown
        self._prints: dict[str, str] = {}
        self._problems: tuple[str, tuple[Problem, ...]] = ("", ())
        self._tree: tuple[Plan | None, dict[str, Any]] = (None, {})
        self._held: set[str] | None = None
        self._listeners: list[Callable[[frozenset[str]], None]] = []
        self.ledger_path: Path | None = None  # None: where the ledger lies unless one is named
        self.registers = Holdings()  # what the ledger knows, once it was asked
        self.saved_at: datetime | None = None
        self.target: Path | None = None  # the folder that becomes the bundle
        self.proposed: Path | None = None  # the target, where nobody chose another one
        self.resumed: Any = None  # a service that was opened some other day, see app.visiting.Opened
        self.without_table = False  # begun with the purpose, for what reads no table
        self.release_asked = ""  # fingerprint of the plan whose release was asked for, until it begins
        self.refused: set[str] = set()  # decisions without whose reason a release was refused
        self.looked: dict[str, str] = {}  # digests of the files that were read, by path
        self.linked: Any = None  # tables that were opened together, see `app.work.together`
        self.password: str | None = None  # of the server that the plan names; it is written nowhere
        self.asked: list[Mapping[str, Any]] = []  # what that server was asked, one after the other
        self.finished: list[tuple[Plan, Any]] = []  # releases of this session, with the plans that made them
        self.history = History(self._moment(frozenset()))
        self.shown_again: Plan | None = None  # of a release that was opened from the list of all
        self._trials: set[str] = set()  # settings that were looked at on the rows

    @property
    def plan(self) -> Plan:
        """Every decision so far."""
        return self._plan

    @property
    def open_questions(self) -> frozenset[str]:
        """What the custodian has yet to decide: ``"column:NAME"``, ``"rows_per_person"``."""
        return self._open

    @property
    def table(self) -> Any:
        """The prepared table, or None."""
        return self.result("table")

    @property
    def part(self) -> Any:
        """What the table on the screens is a sample of; None where it is all of it."""
        return self.result("part")

    @property
    def is_other_part(self) -> bool:
        """Whether the sample was drawn by another column than now says whose a row is."""
        key = self._plan.schema.person_key
        return self.part is not None and key is not None and key.name != self.part.column

    @property
    def method(self) -> type[Method] | None:
        """The declaration of the chosen method, or None."""
        return _method(self._plan.method)

    @property
    def is_bounded(self) -> bool:
        """Whether something may bound the privacy loss of the release; so while no method is chosen."""
        return self.method is None or any(promise_kind(kind).bounded for kind in self.method.promises)

    @property
    def draws_elsewhere(self) -> bool:
        """Whether no rows of people are read here: lots or noise are drawn where answers are given."""
        if self.method is None:
            return False
        read = [*self.method.sources, *(source for step in self.method.steps for source in step.sources)]
        return not any(source.shape.is_private for source in read)

    @property
    def has_all_tables(self) -> bool:
        """Whether all that the method must read was opened together, so that it asks about it itself."""
        sources = () if self.method is None else self.method.sources
        needed = [source.name for source in sources if source.required]
        return self.linked is not None and all(name in self._plan.files for name in needed)

    @property
    def needs_second(self) -> bool:
        """Whether nobody alone may make the release of the plan, so that it can only be prepared."""
        preview = self.result("ledger")
        return preview is not None and preview.needs_second and self.result("bundle") is None

    def suggestions_of(self, source: str) -> tuple[Any, ...]:
        """Return how the columns of a table were understood; nothing where it was not opened on Load."""
        if source == MAIN:
            return self.result("suggestions") or ()
        found = None if self.linked is None else self.linked.at(source)
        return () if found is None else found.suggestions

    @property
    def state(self) -> State:
        """What the flow may know."""
        preview = self.result("ledger")
        return State(
            plan=self._plan,
            method=self.method,
            without_table=self.without_table,
            resumed=self.resumed is not None,
            results=frozenset(name for name, _ in self._results),
            open_questions=self._open,
            problems=self.problems(),
            refused=getattr(preview, "refusal", None) is not None,
            too_much=getattr(getattr(preview, "refusal", None), "code", "") in OVER,
            finished=self.result("bundle") is not None,
            new_holding=bool(self._plan.holding)
            and self._plan.holding.casefold() not in {name.casefold() for name in self.registers.names},
            question=self.registers.question(self._plan),
            keys=self.result("keys") or (),
            together=self.has_all_tables,
        )

    def listen(self, callback: Callable[[frozenset[str]], None]) -> None:
        """Have a function called after every change, with the names of what changed."""
        self._listeners.append(callback)

    def tell_nobody(self) -> None:
        """Forget who listens: their window is gone, and another one is about to be opened."""
        self._listeners.clear()

    def decide(self, **changes: Any) -> None:
        """Replace fields of the plan; drop exactly the results whose inputs changed."""
        before = self._plan
        after = replace(before, **changes)
        changed = {
            part.name for part in fields(Plan) if getattr(before, part.name) != getattr(after, part.name)
        }
        if not changed:
            return
        self._plan = after
        self._remember(changed)
        self._tell(changed | self._drop_stale())

    def decide_part(self, part: str, **changes: Any) -> None:
        """Replace fields of ``plan.purpose`` or ``plan.price``."""
        self.decide(**{part: replace(getattr(self._plan, part), **changes)})

    def decide_parameters(self, **changes: Any) -> None:
        """Fill in parameters of the method; None empties one."""
        merged = {**self._plan.parameters, **changes}
        self.decide(parameters={name: value for name, value in merged.items() if value is not None})

    def answer(self, *questions: str) -> None:
        """Take questions from the open ones."""
        self._ask(self._open - frozenset(questions))

    def ask(self, *questions: str) -> None:
        """Add open questions."""
        self._ask(self._open | frozenset(questions))

    def replace_questions(self, questions: frozenset[str]) -> None:
        """Set all open questions at once, after a file was read."""
        self._ask(questions)

    def open_plan(
        self, plan: Plan, questions: frozenset[str] = frozenset(), *, without_table: bool = False
    ) -> None:
        """Start again from a plan that was saved; only undoing leads back to the former one."""
        was_empty = self._plan == Plan()
        self._plan, self._open, self.without_table, self.resumed = plan, questions, without_table, None
        self._results.clear()
        self._prints.clear()
        self._trials.clear()
        self.looked.clear()
        self.refused.clear()
        self.forget_opened()
        if was_empty:
            self.history = History(self._moment(frozenset()))
        else:
            self.history.end_edit()
            self._remember({"files"})
        self.history.end_edit()
        self._tell({part.name for part in fields(Plan)} | set(RESULTS) | {"open_questions"})

    def forget_opened(self) -> None:
        """Forget the password, what was asked, and what was opened together: another table is opened."""
        self.linked = None
        self.password = None
        self.asked.clear()

    def resume(self, opened: Any) -> None:
        """Go on with a service that was opened some other day: nothing but its visits is asked for."""
        self.open_plan(opened.plan)
        self.resumed = opened
        self._tell({"plan"})

    # --- undoing -----------------------------------------------------------------------------------

    def undo(self) -> Moment | None:
        """Go back before the last edit and return it, if there is one. Nothing paid for is undone."""
        if self.history.undone_next is None:
            return None
        undone = self.history.now
        self._return_to(self.history.back())
        return undone

    def redo(self) -> Moment | None:
        """Make again what was undone last and return it; None where there is nothing."""
        if self.history.made_next is None:
            return None
        self._return_to(self.history.forward())
        return self.history.now

    @contextmanager
    def by_itself(self) -> Iterator[None]:
        """Let what changes inside belong to the edit before it: nobody decided it."""
        before, self.acts_alone = self.acts_alone, True
        try:
            yield
        finally:
            self.acts_alone = before

    def _moment(self, changed: frozenset[str]) -> Moment:
        return Moment(self._plan, self._open, self.without_table, self.place, changed, time.monotonic())

    def _remember(self, changed: set[str]) -> None:
        moment = self._moment(frozenset(changed))
        (self.history.amend if self.acts_alone else self.history.record)(moment)

    def _return_to(self, moment: Moment) -> None:
        before, questions = self._plan, self._open
        self._plan, self._open, self.without_table = moment.plan, moment.questions, moment.without_table
        self.resumed = None
        changed = {
            part.name for part in fields(Plan) if getattr(before, part.name) != getattr(self._plan, part.name)
        }
        if questions != self._open:
            changed.add("open_questions")
        changed |= self._drop_stale()
        self._tell(changed | self._bring_back())

    # --- results -----------------------------------------------------------------------------------

    def store(self, name: str, value: Any, plan: Plan, *, key: str = "") -> bool:
        """Keep a result that was computed for a plan; say whether it was still wanted.

        A result whose inputs have changed since is refused: nothing stale is ever shown.
        """
        if plan is not self._plan and fingerprint(name, plan) != self._current(name):
            return False
        self._results[(name, key)] = (self._current(name), value)
        if name == "bundle" and all(value is not made for _, made in self.finished):
            self.finished.append((self._plan, value))
        self._tell({name})
        return True

    @property
    def is_reopened(self) -> bool:
        """Whether the plan is that of a release of an earlier session, without its table."""
        return self.result("bundle") is not None and not self._plan.files and not self.without_table

    def reopen(self, plan: Plan, outcome: Any) -> None:
        """Show a release of an earlier session, with the plan that made it."""
        entries = [one.bundle.entry for _, one in self.finished if one.bundle is not None]
        if outcome.bundle.entry not in entries:
            self.finished.append((plan, outcome))
            entries.append(outcome.bundle.entry)
        self.show_finished(entries.index(outcome.bundle.entry))

    def show_finished(self, place: int) -> None:
        """Go back to the plan of a release that was finished, which undoing leads away from again."""
        plan, outcome = self.finished[place]
        self.history.end_edit()
        self.decide(**{part.name: getattr(plan, part.name) for part in fields(Plan)})
        self.shown_again = self._plan
        self.history.end_edit()
        self._tell(self._bring_back())
        if self.result("bundle") is None:
            self.store("bundle", outcome, self._plan)

    def count_trial(self, plan: Plan) -> None:
        """Remember that settings were looked at on the rows; undoing does not make that undone."""
        self._trials.add(_digest([plan.method, plan.to_json()["parameters"]]))

    @property
    def plan_with_trials(self) -> Plan:
        """The plan with how many settings were looked at on the rows, each counted once."""
        return replace(self._plan, tried=self._plan.tried + len(self._trials))

    @property
    def plan_as_read(self) -> Plan:
        """The plan with every reading option said as it was found: what is saved for others and released.

        What a run found out by itself would follow from the rows of that run.
        """
        plan = only_what_is_read(self.plan_with_trials, self.method)
        detection = self.result("detection")
        if detection is None or MAIN not in plan.files:
            return plan
        from engine.release.reading import pin_options

        # The beginning of a workbook does not tell how wide it is: whoever read all of it knows.
        raw = self.result("raw")
        return pin_options(plan, detection.options if raw is None else raw.options)

    def result(self, name: str, key: str = "") -> Any:
        """Return a result that holds for the plan as it is now, or None."""
        made_for, value = self._results.get((name, key), ("", None))
        return value if made_for and made_for == self._current(name) else None

    def forget(self, name: str) -> None:
        """Drop a result whose inputs outside the plan changed, the ledger for instance."""
        for entry in [entry for entry in self._results if entry[0] == name]:
            del self._results[entry]
        self._tell({name})

    def forget_file(self) -> None:
        """Drop all that follows from the rows, also for undoing: the file is read again as it is now."""
        bare = replace(self._plan, files={}).to_json()
        gone = {name for name, select in RESULTS.items() if _digest(select(bare)) != self._current(name)}
        self._results = {entry: one for entry, one in self._results.items() if entry[0] not in gone}
        self._former = {entry: one for entry, one in self._former.items() if entry[0] not in gone}
        self._tell(gone)

    def problems(self) -> tuple[Problem, ...]:
        """Return why the chosen method cannot run yet, from declarations only."""
        method = self.method
        sources = () if method is None else method.reads(self._plan.step)
        waits = any(source.required and source.name not in self._plan.schemas for source in sources)
        if not self._plan.method or waits:
            return ()
        made_for = self._digest_of("problems", _parts(*_REQUEST))
        if self._problems[0] != made_for:
            self._problems = (made_for, _problems(self._plan))
        return self._problems[1]

    def _current(self, name: str) -> str:
        return self._digest_of(name, RESULTS[name])

    def _digest_of(self, name: str, select: _JSON) -> str:
        # The plan is written as JSON once for all results: fifty columns take their time.
        if name not in self._prints:
            if self._tree[0] is not self._plan:
                self._tree = (self._plan, self._plan.to_json())
            self._prints[name] = _digest(select(self._tree[1]))
        return self._prints[name]

    def _drop_stale(self) -> set[str]:
        self._prints.clear()
        stale = [
            entry for entry, (made_for, _) in self._results.items() if made_for != self._current(entry[0])
        ]
        for entry in stale:
            made_for, value = self._results.pop(entry)
            if entry[0] in _COMES_BACK:
                self._former[(*entry, made_for)] = value
        return {name for name, _ in stale}

    def _bring_back(self) -> set[str]:
        back = [one for one in self._former if one[2] == self._current(one[0])]
        for name, key, made_for in back:
            self._results[name, key] = (made_for, self._former.pop((name, key, made_for)))
        return {name for name, _, _ in back}

    def _ask(self, questions: frozenset[str]) -> None:
        if questions != self._open:
            self._open = questions
            self._remember({"open_questions"})
            self._tell({"open_questions"})

    @contextmanager
    def together(self) -> Iterator[None]:
        """Let what changes inside be told once, when all of it is done: every telling draws a page anew."""
        if self._held is not None:
            yield
            return
        self._held = set()
        try:
            yield
        finally:
            held, self._held = self._held, None
            if held:
                self._tell(held)

    def _tell(self, names: set[str]) -> None:
        if self._held is not None:
            self._held |= names
            return
        for callback in list(self._listeners):
            callback(frozenset(names))


def _method(method_id: str) -> type[Method] | None:
    if not method_id:
        return None
    from engine.methods.catalogue import method  # on first use: the methods bring numpy and pandas along

    try:
        return method(method_id)
    except EngineError:  # a plan of another version: the method is chosen anew
        return None


def _problems(plan: Plan) -> tuple[Problem, ...]:

    try:
        return tuple(plan.design.problems)
    except EngineError as error:
        return (Problem(error.code, error.values),)


__all__ = ["RESULTS", "ROWS_PER_PERSON", "Study", "fingerprint"]
