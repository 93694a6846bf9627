"""What a decision is called: by its name alone, or with the column where there is one for each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

ONE_ROW_EACH = "one_row_each"
"""The decision that every row is another person although a column could tell whose a row is."""
NAMES_PEOPLE = "names_people"
"""The decision to let a column leave that names people; it is taken for each column and needs a reason."""


def reason_for(decisions: Iterable[Mapping[str, Any]], name: str) -> str:
    """Return the reason of a decision; nothing where it was not taken or no reason was given.

    Examples
    --------
    >>> reason_for([{"decision": "one_row_each", "reason": " a registry "}], ONE_ROW_EACH)
    'a registry'
    """
    return next((str(one.get("reason", "")).strip() for one in decisions if name_decision(one) == name), "")


def decision_about(column: str) -> str:
    """Return the name under which the reason for a column is given.

    Examples
    --------
    >>> decision_about("case")
    'names_people:case'
    """
    return f"{NAMES_PEOPLE}:{column}"


def read_decision(name: str) -> dict[str, str]:
    """Return the decision that a name stands for, as a plan has it, without its reason.

    Examples
    --------
    >>> read_decision("names_people:case"), read_decision("key_unlocked")
    ({'decision': 'names_people', 'column': 'case'}, {'decision': 'key_unlocked'})
    """
    if name.startswith(decision_about("")):
        return {"decision": NAMES_PEOPLE, "column": name.removeprefix(decision_about(""))}
    return {"decision": name}


def name_decision(decision: Mapping[str, Any]) -> str:
    """Return the name of a decision, with the column where there is one for each."""
    name = str(decision.get("decision", ""))
    return decision_about(str(decision.get("column", ""))) if name == NAMES_PEOPLE else name
