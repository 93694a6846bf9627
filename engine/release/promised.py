"""What the guarantee says is what runs: compared here, once, with the prepared and the capped table.

The ledger pays for a unit, a cap and declarations that stand in the plan. A step of the preparation, an
option of a reader or a method that went its own way would let the evidence say one thing and the rows
another.
"""

from __future__ import annotations

import pandas as pd

from engine.errors import InputRefused
from engine.methods.protocol import MAIN, Request
from engine.privacy.promise import Promise
from engine.release.plan import Plan
from engine.release.reading import Held, said
from engine.table.table import TEXT, Table


def refuse_other(plan: Plan, request: Request, promise: Promise, held: Held) -> None:
    """Refuse a prepared table that is not the one that the guarantee is about. Before anything is reserved.

    Raises
    ------
    InputRefused
        ``run.not_as_promised`` names what differs: ``unit``, ``rows_per_person``, ``neighbours``,
        ``schema``, ``person_key`` or ``options``.
    """
    key, options = request.schema.person_key, said(plan.files[MAIN])
    same = {
        "unit": promise.unit is request.unit,
        "rows_per_person": promise.rows_per_person == request.rows_per_person,
        "neighbours": request.budget is None
        or promise.loss is None
        or promise.loss.neighbours is request.budget.neighbours,
        "schema": held.schema == request.schema == plan.prepared_schema,
        "person_key": key == plan.schema.person_key
        and (key is None or held.table.storage.get(key.name) == TEXT),
        "options": options.over(held.options) == held.options,
    }
    _refuse_unless(same)


def refuse_uncapped(request: Request, used: Table) -> None:
    """Refuse rows for a method in which somebody has more than the guarantee says. Before the method runs.

    Raises
    ------
    InputRefused
        ``run.not_as_promised``: somebody exceeds the cap, or a row is nobody's.
    """
    key = request.schema.person_key
    if key is None:
        return
    people: pd.Series = used.rows()[key.name]
    most = people.value_counts(sort=False).max() if len(people) else 0
    _refuse_unless({"rows_per_person": bool(most <= request.rows_per_person and not people.isna().any())})


def _refuse_unless(same: dict[str, bool]) -> None:
    for part, is_same in same.items():
        if not is_same:
            raise InputRefused("run.not_as_promised", part=part)
