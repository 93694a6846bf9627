"""The promises of methods: who is protected, between which data sets, and under which assumptions."""

from __future__ import annotations

from dataclasses import replace

from engine.methods.budget import is_replace_one, required_budget
from engine.methods.protocol import Request
from engine.privacy.events import Event
from engine.privacy.promise import Loss, Promise, Term, Unit
from engine.views import Text


def promise(
    request: Request,
    events: Event,
    *,
    kind: str = "pure_dp",
    further: tuple[str, ...] = (),
    bounded: str = "rows_capped",
) -> Promise:
    """Return the promise that costs exactly the budget of the request, ``further`` assumptions included.

    ``bounded`` is the assumption that says how much one person can add.
    """
    budget = required_budget(request)
    person = request.unit is Unit.PERSON
    assumptions = (
        "choices_made_with_sight",
        "replace_one" if is_replace_one(request) else "add_remove",
        bounded if person else "row_is_person",
        "declared_domains",
        *further,
    )
    loss = Loss(budget.epsilon, budget.delta, budget.neighbours, events)
    found = Promise(kind, loss, request.unit, request.rows_per_person)
    noise = ("exact_integer_noise",) if found.drawn() else ()
    return replace(found, assumptions=(*assumptions, *noise, "trusted_machine"))


def promise_without_bound(
    request: Request, kind: str, *, assumptions: tuple[str, ...] = (), **terms: Term
) -> Promise:
    """Return a promise that bounds no loss: what it says stands in its terms, if its ``assumptions`` hold."""
    return Promise(
        kind,
        None,
        request.unit,
        request.rows_per_person,
        terms=terms,
        assumptions=(*assumptions, "trusted_machine"),
    )


def counted_unit(request: Request) -> str:
    """Return what one count counts: people in the custodian's word, or rows, at most the cap of each."""
    if request.unit is Unit.ROW:
        return "rows"
    cap, word = request.rows_per_person, request.schema.words
    return word.several if cap == 1 else f"rows, at most {cap} of {word.said('a person')}"


def cap_notes(request: Request) -> list[Text]:
    """Say for whom a statistic of capped rows answers; nothing where every row is a person."""
    if request.unit is not Unit.PERSON:
        return []
    cap = request.rows_per_person
    return [Text(f"statistics.notes.{'capped_one' if cap == 1 else 'capped'}", {"cap": cap})]
