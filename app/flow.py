"""The steps of the window without a window: which comes next, whether one is complete, and why not.

Interface, all of it pure functions of a `State`::

    STEPS                      ids in their order; the screen of a step is ``app/pages/ID.py``
    following("load")          "columns"          preceding("load")   "start"
    why_not("load", state)     None when the step is complete, else a Text with the reason
    reachable("risk", state)   every step before it is complete
    state = study.state        the only place that makes a State in the program

"releases" stands beside the steps and can always be opened.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date

from engine.methods.parameters import Problem
from engine.methods.protocol import MAIN
from engine.release.plan import Plan
from engine.table.schema import Role
from engine.views import Text

STEPS = (
    "start",
    "load",
    "columns",
    "risk",
    "purpose",
    "method",
    "budget",
    "preview",
    "release",
    "report",
)
BESIDE = ("releases",)
ROWS_PER_PERSON = "rows_per_person"
BUDGET = "budget"  # problems that name it belong to the budget step, all others to the method


@dataclass(frozen=True)
class State:
    """What the flow may know.

    Parameters
    ----------
    plan
        Every decision.
    results
        Names of the results that hold for this very plan (see `app.study.RESULTS`).
    open_questions
        What a suggestion may not decide: ``"column:NAME"``, and `ROWS_PER_PERSON`.
    problems
        Why the chosen method cannot run yet.
    refused
        The ledger would refuse the release as it stands.
    new_holding
        The register of people is not in the ledger yet, so that it needs a budget.
    question
        What the ledger asks about the people of the table and nobody has answered yet: an end of an id.
    """

    plan: Plan = field(default_factory=Plan)
    results: frozenset[str] = frozenset()
    open_questions: frozenset[str] = frozenset()
    problems: tuple[Problem, ...] = ()
    refused: bool = False
    new_holding: bool = False
    question: str = ""


def following(step: str) -> str | None:
    """Return the step after this one, or None after the last."""
    place = STEPS.index(step) + 1 if step in STEPS else len(STEPS)
    return STEPS[place] if place < len(STEPS) else None


def preceding(step: str) -> str | None:
    """Return the step before this one; what stands beside the steps leads back to the start."""
    if step in BESIDE:
        return STEPS[0]
    place = STEPS.index(step)
    return STEPS[place - 1] if place else None


def complete(step: str, state: State) -> bool:
    """Say whether nothing is missing from a step."""
    return why_not(step, state) is None


def why_not(step: str, state: State) -> Text | None:
    """Return what is missing from a step, or None when it is complete."""
    check = _CHECKS.get(step)
    return check(state) if check is not None else None


def reachable(step: str, state: State) -> bool:
    """Say whether a step may be opened: all steps before it are complete."""
    if step in BESIDE:
        return True
    return all(complete(earlier, state) for earlier in STEPS[: STEPS.index(step)])


def furthest(state: State) -> str:
    """Return the first step that is not complete: where a plan that was opened goes on."""
    return next((step for step in STEPS if not complete(step, state)), STEPS[-1])


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
    if state.new_holding and state.plan.holding_budget is None:
        return _missing("no_holding_budget")
    return None


def _method(state: State) -> Text | None:
    if not state.plan.method:
        return _missing("no_method")
    own = [problem for problem in state.problems if problem.parameter != BUDGET]
    return _missing("method_problems", count=len(own)) if own else None


def _budget(state: State) -> Text | None:
    if state.plan.budget is None or state.plan.budget.epsilon <= 0:
        return _missing("no_budget")
    return _missing("budget_problems") if any(one.parameter == BUDGET for one in state.problems) else None


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
    "budget": _budget,
    "preview": _preview,
    "release": _released,
    "report": _released,
}
