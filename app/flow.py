"""The steps of the window without a window: which there are, which comes next, and what one still misses.

Which steps there are follows from what the chosen method declares: a table for each source that it reads, a
budget only where somebody chooses one, terms where a promise has them or a level follows from parameters,
visits for a service. Interface, all of it pure functions of a `State`::

    path(state)                ids in their order; the screen of a step is ``app/pages/ID.py``
    following("load", state)   "columns"          preceding("load", state)   "start"
    why_not("load", state)     None when the step is complete, else a Text with the reason
    reachable("risk", state)   every step before it is complete
    state = study.state        the only place that makes a State in the program

"start" comes before the numbered steps; what is `BESIDE` them can always be opened.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import date

from engine.methods.parameters import Parameter, ParameterKind, Problem
from engine.methods.protocol import MAIN, Method, Source, Spends
from engine.privacy.promise import promise_kind
from engine.release.plan import Plan
from engine.table.schema import Role
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
BESIDE = ("explore", "releases")
ROWS_PER_PERSON = "rows_per_person"
_OF_COLUMNS = (ParameterKind.COLUMN, ParameterKind.COLUMNS)  # what is released is decided with the method
BUDGET = "budget"  # problems that name it belong to the budget step


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
        Names of the results that hold for this very plan (see `app.study.RESULTS`).
    open_questions
        What a suggestion may not decide: ``"column:NAME"``, and `ROWS_PER_PERSON`.
    problems
        Why the chosen method cannot run yet.
    refused
        The ledger would refuse the release as it stands.
    new_holding
        The register of people is not in the ledger yet, so that it needs a budget where something is spent.
    question
        What the ledger asks about the people of the table and nobody has answered yet: an end of an id.
    """

    plan: Plan = field(default_factory=Plan)
    method: Method | None = None
    without_table: bool = False
    resumed: bool = False
    results: frozenset[str] = frozenset()
    open_questions: frozenset[str] = frozenset()
    problems: tuple[Problem, ...] = ()
    refused: bool = False
    new_holding: bool = False
    question: str = ""


# --- what follows from a declaration ----------------------------------------------------------------


def reads_people(method: Method | None) -> bool:
    """Say whether the table of people is read, which is loaded and marked before a method is chosen."""
    return method is None or any(source.name == MAIN for source in method.sources)


def further_sources(method: Method | None) -> tuple[Source, ...]:
    """Return the other tables that a method reads: asked for once it is chosen."""
    return () if method is None else tuple(source for source in method.sources if source.name != MAIN)


def only_what_is_read(plan: Plan, method: Method | None) -> Plan:
    """Return the plan without tables that the method does not read: they have no part in the release."""
    if method is None:
        return plan
    read = {source.name for source in method.reads(plan.step)}
    return replace(
        plan,
        files={name: file for name, file in plan.files.items() if name.split(".")[0] in read},
        schemas={name: schema for name, schema in plan.schemas.items() if name in read},
        preparation=tuple(step for step in plan.preparation if step.get("source", MAIN) in read),
    )


def term_names(method: Method) -> tuple[str, ...]:
    """Return the names of what the promises of a method state besides a loss, each once."""
    return tuple(dict.fromkeys(term for kind in method.promises for term in promise_kind(kind).terms))


def thresholds(method: Method) -> tuple[Parameter, ...]:
    """Return the parameters that are asked for with the terms: those that a promise states by their name."""
    stated = term_names(method)
    return tuple(one for one in method.parameters if one.name in stated and one.kind not in _OF_COLUMNS)


def has_terms(method: Method) -> bool:
    """Say whether terms are shown in the place of a budget."""
    follows = method.spends is Spends.FOLLOWS
    return follows or (method.spends is Spends.NOTHING and bool(term_names(method)))


def spends(method: Method | None) -> bool:
    """Say whether a release takes a privacy level from its register: only where it reads rows of people."""
    reads = method is not None and any(source.shape.is_private for source in method.sources)
    return method is not None and reads and method.spends is not Spends.NOTHING


def pays_at(state: State) -> str:
    """Return the step on which the level, and what it costs, is decided."""
    return "budget" if state.method is None or state.method.spends is Spends.CHOSEN else "terms"


def shows_money(step: str, state: State) -> bool:
    """Say whether a step comes after the one on which money was decided, and something is spent."""
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
    """Return the step after this one, or None after the last."""
    steps = path(state)
    place = steps.index(step) + 1 if step in steps else len(steps)
    return steps[place] if place < len(steps) else None


def preceding(step: str, state: State) -> str | None:
    """Return the step before this one; what stands beside the steps leads back to the start."""
    steps = path(state)
    if step not in steps:
        return START
    place = steps.index(step)
    return steps[place - 1] if place else None


def complete(step: str, state: State) -> bool:
    """Say whether nothing is missing from a step."""
    return why_not(step, state) is None


def why_not(step: str, state: State) -> Text | None:
    """Return what is missing from a step, or None when it is complete."""
    check = _CHECKS.get(step)
    return check(state) if check is not None else None


def reachable(step: str, state: State) -> bool:
    """Say whether a step may be opened: it is on the path, and all steps before it are complete."""
    if step in BESIDE:
        return True
    steps = path(state)
    return step in steps and all(complete(earlier, state) for earlier in steps[: steps.index(step)])


def furthest(state: State) -> str:
    """Return the first step that is not complete: where a plan that was opened goes on."""
    steps = path(state)
    return next((step for step in steps if not complete(step, state)), steps[-1])


# --- what is missing --------------------------------------------------------------------------------


def _missing(name: str, **values: object) -> Text:
    return Text(f"app.flow.{name}", values)


def _load(state: State) -> Text | None:
    if MAIN not in state.plan.files:
        return _missing("no_file")
    return None if "table" in state.results else _missing("not_read")


def _columns(state: State) -> Text | None:
    asked = {name.removeprefix("column:") for name in state.open_questions if name.startswith("column:")}
    columns = len(asked | {column.name for column in state.plan.schema.with_role(Role.NOT_RECOGNISED)})
    if not state.plan.schema.columns:
        return _missing("no_columns")
    if columns:
        return _missing("undecided_column" if columns == 1 else "undecided_columns", count=columns)
    if ROWS_PER_PERSON in state.open_questions and state.plan.schema.person_key is not None:
        return _missing("rows_per_person")
    return None


def _risk(state: State) -> Text | None:
    return None if "group_sizes" in state.results else _missing("risk_not_computed")


def _purpose(state: State) -> Text | None:
    purpose = state.plan.purpose
    for name in ("title", "recipient"):
        if not getattr(purpose, name).strip():
            return _missing(f"purpose_{name}")
    if purpose.expires and _day(purpose.expires) is None:
        return _missing("purpose_expires")
    if not state.plan.holding.strip():
        return _missing("no_holding")
    if state.question:
        return _missing(state.question)
    # Without a method nobody knows yet whether anything will be spent.
    if state.new_holding and state.plan.holding_budget is None and spends(state.method):
        return _missing("no_holding_budget")
    return None


def _method(state: State) -> Text | None:
    if state.method is None:
        return _missing("no_method")
    elsewhere = {BUDGET, *(one.name for one in thresholds(state.method) if has_terms(state.method))}
    own = [problem for problem in state.problems if problem.parameter not in elsewhere]
    return _missing("method_problems", count=len(own)) if own else None


def _tables(state: State) -> Text | None:
    for source in further_sources(state.method):
        if source.required and source.name not in state.plan.schemas:
            return _missing("no_further_table", source=source.name)
    return None


def _budget(state: State) -> Text | None:
    if state.plan.budget is None or state.plan.budget.epsilon <= 0:
        return _missing("no_budget")
    return _missing("budget_problems") if any(one.parameter == BUDGET for one in state.problems) else None


def _terms(state: State) -> Text | None:
    return _missing("terms_problems") if state.problems else None


def _preview(state: State) -> Text | None:
    if "forecast" not in state.results:
        return _missing("not_forecast")
    return _missing("refused") if state.refused else None


def _released(state: State) -> Text | None:
    return None if "bundle" in state.results else _missing("not_released")


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
    "release": _released,
    "report": _released,
}
