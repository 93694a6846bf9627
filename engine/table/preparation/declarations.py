"""The kinds of preparation steps, each by what it declares; see `prepare.py` for what they do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

Step = Mapping[str, Any]
CONDITIONS = ("in", "not_in", "at_least", "at_most", "between", "missing", "not_missing")
OTHERS = ("keep", "missing", "label")


class Holds(StrEnum):
    """What a member of a step holds: what is checked of it, and the field that the window shows."""

    COLUMN = "column"
    NAME = "name"
    HEADING = "heading"  # a column of a list; "" is none
    FILE = "file"
    CHOICE = "choice"
    NUMBER = "number"
    DAY = "day"
    END = "end"  # a number, or a day where the column holds days
    CELLS = "cells"
    EDGES = "edges"
    MAP = "map"


@dataclass(frozen=True)
class Member:
    """One thing to say about a step.

    Parameters
    ----------
    name
        Key in the JSON of the step.
    holds
        What is written there.
    optional
        May be left out.
    choices
        For a choice; without a word the first.
    when
        ``(name, values)``: is asked for and checked only while another member has one of the values.
    instead
        Another member that may be given in its place: exactly one of both.
    suggested
        What the window writes where nothing was filled in; ``{column}`` is the column of the step.
    shown
        Whether the window asks for it.
    """

    name: str
    holds: Holds
    optional: bool = False
    choices: tuple[str, ...] = ()
    when: tuple[str, tuple[str, ...]] | None = None
    instead: str = ""
    suggested: str = ""
    shown: bool = True

    def applies(self, step: Step) -> bool:
        """Say whether it is asked for, given the others."""
        return self.when is None or step.get(self.when[0], "") in self.when[1]


_COLUMN, _SHA256 = Member("column", Holds.COLUMN), Member("sha256", Holds.NAME, optional=True, shown=False)


def _to(suggested: str) -> Member:
    return Member("to", Holds.NAME, optional=True, suggested=suggested)


STEPS: Mapping[str, tuple[Member, ...]] = {
    "keep_rows_where": (
        _COLUMN,
        Member("is", Holds.CHOICE, choices=CONDITIONS),
        Member("values", Holds.CELLS, when=("is", ("in", "not_in"))),
        Member("value", Holds.END, when=("is", ("at_least", "at_most"))),
        Member("minimum", Holds.END, when=("is", ("between",))),
        Member("maximum", Holds.END, when=("is", ("between",))),
    ),
    "drop_people": (
        Member("file", Holds.FILE),
        Member("column", Holds.HEADING, optional=True),
        _SHA256,
    ),
    "age_at": (
        _COLUMN,
        Member("date", Holds.DAY, instead="date_column"),
        Member("date_column", Holds.COLUMN, optional=True),
        _to("age"),
        Member("minimum", Holds.NUMBER, optional=True),
        Member("maximum", Holds.NUMBER, optional=True),
    ),
    "bands": (
        _COLUMN,
        Member("edges", Holds.EDGES),
        Member("labels", Holds.CELLS, optional=True),
        _to("{column}_band"),
    ),
    "recode": (
        _COLUMN,
        Member("map", Holds.MAP, instead="file"),
        Member("file", Holds.FILE, optional=True),
        _SHA256,
        Member("others", Holds.CHOICE, optional=True, choices=OTHERS),
        Member("label", Holds.NAME, when=("others", ("label",))),
        _to("{column}_recoded"),
    ),
}
"""Every kind of step by what it declares: its check and its form in the window are made from it."""
MAKING = tuple(kind for kind, members in STEPS.items() if any(member.name == "to" for member in members))
