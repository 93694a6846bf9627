"""The steps of the window without a window: which there are, which comes next, and what one still misses.

Which steps there are follows from what the chosen method declares: a table for each source that it reads, a
budget only where somebody chooses one, terms where a promise has them or a level follows from parameters,
visits for a service. Interface, all of it pure functions of a `State`::

    path(state)                ids in their order; the screen of a step is ``app/screens/ID/page.py``
    following("load", state)   "columns"          preceding("load", state)   "start"
    why_not("load", state)     None when the step is complete, else the first thing that is missing
    missing("load", state)     all of it, each with the field that it is about
    reachable("risk", state)   every step before it is complete
    state = study.state        the only place that makes a State in the program

"start" comes before the numbered steps; what is `BESIDE` them can always be opened.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date

from engine.methods.parameters import Parameter, ParameterKind, Problem
from engine.methods.protocol import MAIN, Method, Source, Spends
from engine.privacy.promise import promise_kind
from engine.release import decisions
from engine.release.decisions import reason_for
from engine.release.plan import Plan
from engine.table.schema import Role
from engine.table.suggest.key_candidate import KeyCandidate
from engine.views import Text

START = "start"
STEPS = (
    START,
    "load",
    "columns",
    "risk",
    "purpose",
    "method",
    "tables",
    "budget",
    "terms",
    "compare",
    "preview",
    "release",
    "visit",
    "report",
)
"""Every step that any path has."""
BESIDE = ("explore", "sites", "releases")
MADE = ("release", "report")  # show a release that is finished
DONE_FOR_GOOD = ("release", "visit", "report")  # once it is made, nothing that they show can be undone
SHOW_WHAT_IS_MADE = ("preview", *DONE_FOR_GOOD)
ROWS_PER_PERSON = "rows_per_person"
UNIT = "unit"
ONE_ROW_EACH = "unit_reason"  # where it is answered why every row is another person
_OF_COLUMNS = (ParameterKind.COLUMN, ParameterKind.COLUMNS)  # what is released is decided with the method
BUDGET = "budget"  # problems that name it belong to the budget step


REQUIRED = ("title", "recipient")  # of the purpose
QUESTIONS = {"register_question": "same_people", "key_question": "key_reason"}  # and what answers them
UNFILLED_CODE = "parameters.unfilled"


@dataclass(frozen=True)
class Missing(Text):
    """What a step still needs; by ``place`` its page finds the field, see `Page.point_to`."""

    place: str = ""


@dataclass(frozen=True)
class State:
    """What the flow may know.

    Parameters
    ----------
    plan
        Every decision.
    method
        The declaration of the chosen method; None while none is chosen.
    without_table
        The person began without a table, and has not chosen a method that reads one.
    resumed
        A service that was opened some other day is gone on with: it has visits and nothing else.
    results
        Names of the results that hold for this very plan (see `app.state.study.RESULTS`).
    open_questions
        What a suggestion may not decide: ``"column:NAME"``, `UNIT` and
        `ROWS_PER_PERSON`.
    problems
        Why the chosen method cannot run yet.
    refused
        The ledger would refuse the release as it stands.
    too_much
        … because the register has less left than it would spend.
    finished
        A release was made of this very plan.
    new_holding
        The register of people is not in the ledger yet, so that it needs a budget where something is spent.
    question
        What the ledger asks about the people of the table and nobody has answered yet: an end of an id.
    keys
        Columns that could tell whose a row is, counted.
    together
        All tables that the method must read were opened at once: it asks about them itself.
    """

    plan: Plan = field(default_factory=Plan)
    method: type[Method] | None = None
    without_table: bool = False
    resumed: bool = False
    results: frozenset[str] = frozenset()
    open_questions: frozenset[str] = frozenset()
    problems: tuple[Problem, ...] = ()
    refused: bool = False
    too_much: bool = False
    finished: bool = False
    new_holding: bool = False
    question: str = ""
    keys: tuple[KeyCandidate, ...] = ()
    together: bool = False


# --- what follows from a declaration ----------------------------------------------------------------


def reads_people(method: type[Method] | None) -> bool:
    """Say whether the table of people is read, which is loaded and marked before a method is chosen."""
    return method is None or any(source.name == MAIN for source in method.sources)


def further_sources(method: type[Method] | None) -> tuple[Source, ...]:
    """Return the other tables that a method reads: asked for once it is chosen."""
    return () if method is None else tuple(source for source in method.sources if source.name != MAIN)


def of_tables(method: type[Method], *, together: bool = False) -> tuple[Parameter, ...]:
    """Return the parameters that name columns of further tables: asked for once these are there.

    There are none where all tables were opened ``together``: the method asks for them itself.
    """
    if together:
        return ()
    names = {source.name for source in further_sources(method)}
    return tuple(one for one in method.parameters if one.source in names)


def only_what_is_read(plan: Plan, method: type[Method] | None) -> Plan:
    """Return the plan without tables that the method does not read: they have no part in the release.

    A schema without columns is no table: it says what those are called whose rows others have read.
    """
    if method is None:
        return plan
    read = {source.name for source in method.reads(plan.step)}
    return replace(
        plan,
        files={name: file for name, file in plan.files.items() if name.split(".")[0] in read},
        schemas={name: schema for name, schema in plan.schemas.items() if name in read or not schema.columns},
        preparation=tuple(step for step in plan.preparation if step.get("source", MAIN) in read),
    )


def term_names(method: type[Method]) -> tuple[str, ...]:
    """Return the names of what the promises of a method state besides a loss, each once."""
    kinds = [promise_kind(kind) for kind in method.promises]
    return tuple(dict.fromkeys(term for kind in kinds for term in (*kind.terms, *kind.conditions)))


def thresholds(method: type[Method]) -> tuple[Parameter, ...]:
    """Return the parameters that are asked for with the terms: those that a promise states by their name.

    What is asked for only beside another parameter stays with that one.
    """
    stated = term_names(method)
    return tuple(
        one
        for one in method.parameters
        if one.name in stated and one.kind not in _OF_COLUMNS and one.when is None
    )


def asked_parameters(method: type[Method], *, together: bool = False) -> tuple[Parameter, ...]:
    """Return the parameters that are asked for with the method itself, see `of_tables`."""
    later = (*(thresholds(method) if has_terms(method) else ()), *of_tables(method, together=together))
    return tuple(one for one in method.parameters if one not in later)


def has_terms(method: type[Method]) -> bool:
    """Say whether terms are shown in the place of a budget."""
    follows = method.spends is Spends.FOLLOWS
    return follows or (method.spends is Spends.NOTHING and bool(term_names(method)))


def tried_on(method: type[Method] | None) -> str:
    """Return the step on which settings can be tried on the rows: where all of them are asked; or none."""
    if method is None or not method.tries:
        return ""
    return "terms" if {one.name for one in thresholds(method)} & set(method.tries) else "method"


def spends(method: type[Method] | None) -> bool:
    """Say whether a release takes a privacy level from its register: only where it reads rows of people."""
    reads = method is not None and any(source.shape.is_private for source in method.sources)
    return method is not None and reads and method.spends is not Spends.NOTHING


def pays_at(state: State) -> str:
    """Return the step on which the level, and what it costs, is decided."""
    return "budget" if state.method is None or state.method.spends is Spends.CHOSEN else "terms"


def shows_money(step: str, state: State) -> bool:
    """Say whether a step comes after the one on which money was decided, and something is yet to be spent."""
    if step in SHOW_WHAT_IS_MADE and state.finished:
        return False  # it says itself what was spent, and nothing can be changed
    steps, place = path(state), pays_at(state)
    if not spends(state.method) or place not in steps or step not in steps or state.problems:
        return False
    return steps.index(step) > steps.index(place) and complete(place, state)


# --- the path ---------------------------------------------------------------------------------------


def path(state: State) -> tuple[str, ...]:
    """Return the steps from the start to the end, as the chosen method declares them."""
    method = state.method
    if state.resumed:
        return (START, "visit")
    steps = [START]
    if reads_people(method) and not (method is None and state.without_table):
        steps += ["load", "columns", "risk"]
    steps += ["purpose", "method"]
    if further_sources(method):
        steps.append("tables")
    if method is None or method.spends is Spends.CHOSEN:
        steps.append("budget")
    elif has_terms(method):
        steps.append("terms")
    if state.plan.candidates:
        steps.append("compare")
    steps += ["preview", "release"]
    if method is not None and method.steps:
        steps.append("visit")
    return (*steps, "report")


def following(step: str, state: State) -> str | None:
    """Return the step after this one, or None after the last; tables that were opened together are past."""
    steps = path(state)
    place = steps.index(step) + 1 if step in steps else len(steps)
    place += _are_past(steps, place, state)
    return steps[place] if place < len(steps) else None


def preceding(step: str, state: State) -> str | None:
    """Return the step before this one; what stands beside the steps leads back to the start."""
    steps = path(state)
    if step not in steps:
        return START
    place = steps.index(step)
    place -= _are_past(steps, place - 1, state)
    return steps[place - 1] if place else None


def _are_past(steps: tuple[str, ...], place: int, state: State) -> bool:
    """Say whether a step asks for tables that are all there."""
    return state.together and steps[place : place + 1] == ("tables",) and complete("tables", state)


def complete(step: str, state: State) -> bool:
    """Say whether nothing is missing from a step."""
    return why_not(step, state) is None


def missing(step: str, state: State) -> tuple[Missing, ...]:
    """Return all that is missing from a step, in the order of its page."""
    check = _CHECKS.get(step)
    return tuple(check(state)) if check is not None else ()


def why_not(step: str, state: State) -> Missing | None:
    """Return the first thing that is missing from a step, or None when it is complete."""
    return next(iter(missing(step, state)), None)


def reachable(step: str, state: State) -> bool:
    """Say whether a step may be opened: it is on the path, and all steps before it are complete."""
    if step in BESIDE:
        return True
    steps = path(state)
    if step in MADE and step in steps and state.finished:
        return True  # made for this very plan: what it was made from is complete
    return step in steps and all(complete(earlier, state) for earlier in steps[: steps.index(step)])


def furthest(state: State) -> str:
    """Return the first step that is not complete: where a plan that was opened goes on."""
    steps = path(state)
    return next((step for step in steps if not complete(step, state)), steps[-1])


# --- what is missing --------------------------------------------------------------------------------


def _missing(name: str, place: str = "", **values: object) -> Missing:
    return Missing(f"app.flow.{name}", values, place)


def _load(state: State) -> Iterator[Missing]:
    if MAIN not in state.plan.files:
        yield _missing("no_file", "choose")
    elif "table" not in state.results:
        yield _missing("not_read")


def denied_by(plan: Plan, keys: Sequence[KeyCandidate]) -> tuple[KeyCandidate, ...]:
    """Return the columns whose counts contradict that every row is another person, where that is said."""
    said = plan.schema.one_row_each and plan.schema.person_key is None
    return tuple(one for one in keys if one.repeats) if said else ()


def _columns(state: State) -> Iterator[Missing]:
    asked = {name.removeprefix("column:") for name in state.open_questions if name.startswith("column:")}
    open_ = asked | {column.name for column in state.plan.schema.with_role(Role.NOT_RECOGNISED)}
    key = state.plan.schema.person_key
    if not state.plan.schema.columns:
        yield _missing("no_columns")
    elif open_:
        known = [column.name for column in state.plan.schema.columns if column.name in open_]
        first = next(iter(known), min(open_))
        name = "undecided_column" if len(open_) == 1 else "undecided_columns"
        yield _missing(name, f"column:{first}", count=len(open_), column=first)
    elif UNIT in state.open_questions and key is None:
        yield _missing("unit", "unit_each")
    elif denied_by(state.plan, state.keys) and not reason_for(state.plan.decisions, decisions.ONE_ROW_EACH):
        yield _missing("one_row_each", ONE_ROW_EACH)
    elif ROWS_PER_PERSON in state.open_questions and key is not None:
        yield _missing("rows_per_person", f"column:{key.name}")


def _risk(state: State) -> Iterator[Missing]:
    if "group_sizes" not in state.results:
        yield _missing("risk_not_computed")


def _purpose(state: State) -> Iterator[Missing]:
    purpose = state.plan.purpose
    for name in REQUIRED:
        if not getattr(purpose, name).strip():
            yield _missing(f"purpose_{name}", f"purpose_{name}")
    for name in ("expires", "review"):
        if getattr(purpose, name) and _day(getattr(purpose, name)) is None:
            yield _missing(f"purpose_{name}", f"purpose_{name}")
    if not state.plan.holding.strip():
        yield _missing("no_holding", "holding_name")
    if state.question:
        yield _missing(state.question, QUESTIONS[state.question])
    # Without a method nobody knows yet whether anything will be spent.
    price = state.plan.price
    if state.new_holding and state.plan.holding_budget is None and price.register is not None:
        if price.compensation is None:  # money was said, and no ε follows from it alone
            yield _missing("no_compensation", "holding_compensation")
        if price.people is None:
            yield _missing("no_people_owed", "holding_people")
    elif state.new_holding and state.plan.holding_budget is None and spends(state.method):
        yield _missing("no_holding_budget", "holding_money")


def _method(state: State) -> Iterator[Missing]:
    method = state.method
    if method is None:
        yield _missing("no_method", "search")
        return
    elsewhere = {BUDGET, *(one.name for one in thresholds(method) if has_terms(method))}
    elsewhere |= {one.name for one in of_tables(method, together=state.together)}
    yield from _of_parameters(method, [one for one in state.problems if one.parameter not in elsewhere])


def _of_parameters(
    method: type[Method], problems: list[Problem], otherwise: str = "method_problems"
) -> Iterator[Missing]:
    """Name the parameters that are missing or do not fit, each once."""
    names = {parameter.name for parameter in method.parameters}
    named = {one.parameter: one for one in reversed(problems) if one.parameter in names}
    for name, problem in reversed(named.items()):
        label = Text(f"methods.{method.id}.parameters.{name}.label")
        kind = "unfilled" if problem.code == UNFILLED_CODE else "unfit"
        yield _missing(f"parameter_{kind}", f"parameter:{name}", field=label)
    if problems and not named:
        yield _missing(otherwise, "problem-general", count=len(problems))


def _tables(state: State) -> Iterator[Missing]:
    absent = [
        source.name
        for source in further_sources(state.method)
        if source.required and source.name not in state.plan.schemas
    ]
    for name in absent:
        yield _missing("no_further_table", f"choose-{name}", source=name)
    if state.method is not None and not absent:
        names = {one.name for one in of_tables(state.method, together=state.together)}
        yield from _of_parameters(state.method, [one for one in state.problems if one.parameter in names])


def _budget(state: State) -> Iterator[Missing]:
    if state.plan.budget is None or state.plan.budget.epsilon <= 0:
        yield _missing("no_budget", "exact-learnt")
    elif any(one.parameter == BUDGET for one in state.problems):
        yield _missing("budget_problems", "problem-budget")
    elif state.too_much or _beyond_new_register(state):
        yield _missing("too_much", "exact-learnt", holding=state.plan.holding)


def _beyond_new_register(state: State) -> bool:
    whole, asked = state.plan.holding_budget, state.plan.budget
    pays = state.new_holding and spends(state.method)
    return pays and whole is not None and asked is not None and asked.epsilon > whole.epsilon


def _terms(state: State) -> Iterator[Missing]:
    if state.method is not None and state.problems:
        yield from _of_parameters(state.method, list(state.problems), "terms_problems")


def _preview(state: State) -> Iterator[Missing]:
    if "forecast" not in state.results:
        yield _missing("not_forecast")
    elif state.refused:
        yield _missing("refused", "refusal")


def _release(state: State) -> Iterator[Missing]:
    if "bundle" not in state.results:
        yield _missing("not_released")


def _day(written: str) -> date | None:
    try:
        return date.fromisoformat(written)
    except ValueError:
        return None


_CHECKS = {
    "load": _load,
    "columns": _columns,
    "risk": _risk,
    "purpose": _purpose,
    "method": _method,
    "tables": _tables,
    "budget": _budget,
    "terms": _terms,
    "preview": _preview,
    "release": _release,
    "report": _release,
}
