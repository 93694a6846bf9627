"""The guarantee of a statistic: who is protected, between which data sets, and under which assumptions."""

from __future__ import annotations

from engine.methods.budget import is_replace_one, required
from engine.methods.protocol import Request
from engine.privacy.guarantee import Event, Guarantee, Kind, Unit


def promise(request: Request, events: Event, *, kind: Kind = Kind.PURE_DP) -> Guarantee:
    """Return the guarantee that costs exactly the budget of the request."""
    budget = required(request)
    person = request.unit is Unit.PERSON
    assumptions = (
        "choices_made_with_sight",
        "replace_one" if is_replace_one(request) else "add_remove",
        "rows_capped" if person else "row_is_person",
        "declared_domains",
        "exact_integer_noise",
        "trusted_machine",
    )
    return Guarantee(
        kind,
        budget.epsilon,
        budget.delta,
        request.unit,
        request.rows_per_person,
        budget.neighbours,
        assumptions,
        events,
    )


def counted_unit(request: Request) -> str:
    """Return what one count counts: people, or rows where a person may have several."""
    return "people" if request.rows_per_person == 1 else "rows"
