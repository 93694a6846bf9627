"""What was tried on Risk today, carried into the plan of a coarser table. No Qt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from engine.methods.protocol import MAIN
from engine.release.plan import Plan
from engine.table.schema import Role

COARSER_TABLE = "datasets.k_anonymity"
LEFT_OUT = -1
LEAVES = (Role.IDENTIFYING, Role.TIME, Role.PLACE, Role.SENSITIVE)


def kept(plan: Plan, changes: Mapping[str, int], *, limit: int) -> dict[str, Any]:
    """Return what to decide so that a coarser table is made with what was tried.

    Parameters
    ----------
    plan
        As it is.
    changes
        Column → step of its hierarchy, -1 for left out.
    limit
        The smallest group that counts as enough.

    Returns
    -------
    dict
        Fields of the plan: the method, its parameters, and the hierarchies that were tried, declared. What
        was filled in for this method before stays, but for the columns that were tried.
    """
    from engine.methods.catalogue import method
    from engine.risk.trying import hierarchy_to_try

    prepared, schema = plan.prepared(MAIN), plan.schema
    for name, step in changes.items():
        if step > 0:
            declared = prepared.column(name)
            schema = schema.with_column(replace(declared, hierarchy=hierarchy_to_try(declared)))
    found = method(COARSER_TABLE)
    before = plan.parameters if plan.method == found.id else {}
    leaving = before.get("columns") or [one.name for one in prepared.with_role(*LEAVES)]
    steps = {**before.get("least_steps", {}), **changes}
    parameters = {
        "k": max(limit, 2),
        **{name: value for name, value in before.items() if name != "steps"},
        "columns": [name for name in leaving if changes.get(name) != LEFT_OUT],
        "least_steps": {name: step for name, step in steps.items() if step > 0},
    }
    return {
        "schemas": plan.with_schema(schema).schemas,
        "method": found.id,
        "method_version": found.version,
        "parameters": {name: value for name, value in parameters.items() if value},
    }
