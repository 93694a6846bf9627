"""Columns that name people: none leaves in rows of people as it stands without a reason.

Read from the rows, so for releases only that no bounded loss is promised of: there a refusal tells nobody
anything that the release would not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from engine.errors import InputRefused
from engine.methods.protocol import MAIN, Method
from engine.privacy.promise import Promise
from engine.release.decisions import NAMES_PEOPLE, decision_about
from engine.release.plan import Plan
from engine.release.reading import PreparedTable
from engine.table.schema import Role
from engine.table.suggest.profile import profile
from engine.table.suggest.suggest import suggest_from
from engine.table.table import Table
from engine.views import Text


class Why(StrEnum):
    """Why a column is taken to name people."""

    RECOGNISED = "recognised"
    EACH_ROW = "each_row"


@dataclass(frozen=True)
class Naming:
    """A column that leaves and names people.

    Parameters
    ----------
    column
        Its name.
    why
        Whether it was recognised as an identifier, or has a value of its own in every row.
    """

    column: str
    why: Why


def is_asked(method: Method, promise: Promise) -> bool:
    """Say whether the question arises: rows of people leave, and nothing bounds what they tell."""
    return promise.loss is None and bool(method.rows.value != "none")


def naming(table: Table, design: Method) -> tuple[Naming, ...]:
    """Find the columns that name people among those that leave as they stand.

    Parameters
    ----------
    table
        The custodian's table as it is prepared.
    design
        What is to be released.

    Returns
    -------
    tuple of Naming
        In the order of the columns.

    Notes
    -----
    A column names people that is recognised as an identifier by its name or the form of its cells, or that
    has another value in every filled cell, of twenty at least. It does not find a column of few values that
    somebody knows by heart.
    """
    found = []
    frame = table.rows()
    for name in design.keeps:
        if name not in table.names:
            continue
        looked = profile(table, name, frame[name])
        (suggested,) = suggest_from([looked])
        if suggested.role in (Role.DIRECT_IDENTIFIER, Role.PERSON_KEY):
            found.append(Naming(name, Why.RECOGNISED))
        elif looked.unique:
            found.append(Naming(name, Why.EACH_ROW))
    return tuple(found)


def refuse_named(plan: Plan, design: Method, prepared: Mapping[str, PreparedTable]) -> None:
    """Refuse rows with a column that names people and no reason for it. Before anything is reserved.

    Raises
    ------
    InputRefused
        ``run.names_people`` names the first such column, and why.
    """
    if MAIN not in prepared or not is_asked(design, design.cost):
        return
    found = naming(prepared[MAIN].table, design)
    without = [one for one in found if not reason_for(plan, one.column)]
    if without:
        first = without[0]
        raise InputRefused(
            f"run.names_people_{first.why.value}",
            column=first.column,
            count=len(without),
            decision=decision_about(first.column),
        )


def reason_for(plan: Plan, column: str) -> str:
    """Return why a column may leave that names people; nothing where no reason was given."""
    taken = (
        str(one.get("reason", ""))
        for one in plan.decisions
        if one.get("decision") == NAMES_PEOPLE and one.get("column") == column
    )
    return next(taken, "").strip()


def notes(plan: Plan, design: Method) -> tuple[Text, ...]:
    """Return what the recipient is told of the columns that leave for a reason although they name people."""
    if not is_asked(design, design.cost):
        return ()
    kept = design.keeps
    return tuple(
        Text("report.columns.names_people", {"column": name}) for name in kept if reason_for(plan, name)
    )
