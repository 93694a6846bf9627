"""The draft: the plan as it stands, kept on this computer so that nothing is lost. No rows.

One draft a table: another table puts the former draft on a shelf, from which it can be opened again.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from app.state.flow import STEPS
from app.state.settings import data_folder, write_aside
from engine import strict_json
from engine.bounded import read_text
from engine.errors import InputRefused
from engine.release.plan import Plan
from engine.table.schema import Column, Origin, Schema

MOST = 5  # drafts, of as many tables


@dataclass(frozen=True)
class Draft:
    """A draft that can be opened: its place among the drafts, the name of its table, when it was saved."""

    number: int
    table: str
    saved_at: datetime


def path_of(folder: Path | None = None, number: int = 1) -> Path:
    """Return where a draft stands: the last one, or an earlier one by its number."""
    name = "draft.json" if number == 1 else f"draft-{number}.json"
    return (folder if folder is not None else data_folder()) / name


def drafts(*, folder: Path | None = None) -> list[Draft]:
    """Return the drafts that can be opened, the last one first."""
    found = []
    for number in range(1, MOST + 1):
        loaded = load(folder=folder, number=number)
        if loaded is not None:
            at = datetime.fromtimestamp(path_of(folder, number).stat().st_mtime)
            found.append(Draft(number, Path(_table(loaded[0])).name, at))
    return found


def _table(plan: Plan) -> str:
    return next((file.path for file in plan.files.values()), "")


def _make_room(plan: Plan, folder: Path | None) -> None:
    """Put drafts of other tables back by one, so that the first place is free for this plan."""
    last = load(folder=folder)
    if last is None or _table(last[0]) == _table(plan):
        return
    others = (load(folder=folder, number=number) for number in range(2, MOST))
    same = (place for place, one in enumerate(others, start=2) if one and _table(one[0]) == _table(plan))
    for number in range(next(same, MOST), 1, -1):
        before = path_of(folder, number - 1)
        if before.exists():
            before.replace(path_of(folder, number))


def without_copies(schema: Schema) -> Schema:
    """Return a schema without anything that was copied from rows: a draft holds no cell."""
    return replace(schema, columns=tuple(map(_without_copies, schema.columns)))


def _without_copies(column: Column) -> Column:
    """Return a column without copied values, and without what is said of them.

    Missing codes are proposed from a fixed list alone, so they tell no cell.
    """
    if column.domain_origin is not Origin.COPIED:
        return column
    copied = set((column.domain.values if column.domain is not None else None) or ())
    tree = column.hierarchy.tree if column.hierarchy is not None else None
    return replace(
        column,
        domain=None,
        domain_origin=None,
        labels={value: label for value, label in column.labels.items() if value not in copied},
        hierarchy=None if tree is not None and not copied.isdisjoint(tree) else column.hierarchy,
    )


def _without_found(plan: Plan) -> dict[str, Any]:
    """Return the parameters without those that stay inside, where they may name values found in the rows.

    Where the values of every column are declared, what is ticked names declared values alone.
    """
    if not plan.method:
        return dict(plan.parameters)
    from engine.methods.catalogue import method  # on first use: it brings the methods along

    try:
        inside = {one.name for one in method(plan.method).parameters if one.inside}
    except InputRefused:  # a plan of another version
        return dict(plan.parameters)
    named = [one for one in plan.schema.columns if one.name in plan.parameters.get("columns", ())]
    if all(one.is_declared for one in named):
        return dict(plan.parameters)
    return {name: value for name, value in plan.parameters.items() if name not in inside}


def save(plan: Plan, questions: frozenset[str], *, folder: Path | None = None, step: str = "") -> None:
    """Write the draft, whole or not at all, and on which step it stopped.

    Raises
    ------
    OSError
        The folder cannot be written: the window says so in its footer.
    """
    _make_room(plan, folder)
    schemas = {name: without_copies(schema) for name, schema in plan.schemas.items()}
    kept = replace(plan, schemas=schemas, parameters=_without_found(plan))
    tree = {"plan": kept.to_json(), "open_questions": sorted(questions), "step": step}
    write_aside(path_of(folder), json.dumps(tree, indent=2, ensure_ascii=False) + "\n")


def load(*, folder: Path | None = None, number: int = 1) -> tuple[Plan, frozenset[str]] | None:
    """Return a draft, or None when there is none that can be read."""
    try:
        tree = strict_json.loads(read_text(path_of(folder, number)))
        strict_json.members(tree, "", must=("plan", "open_questions"), may=("step",))
        questions = strict_json.items(tree["open_questions"], "open_questions", strict_json.text)
        return Plan.loads(json.dumps(tree["plan"])), frozenset(questions)
    except (OSError, ValueError, KeyError, TypeError, InputRefused):
        return None


def step_of(*, folder: Path | None = None, number: int = 1) -> str:
    """Return the step on which a draft stopped; "" where none is known, as in older drafts."""
    try:
        tree = strict_json.loads(read_text(path_of(folder, number)))
        step = tree.get("step", "")
    except (OSError, ValueError, AttributeError, InputRefused):
        return ""
    return step if isinstance(step, str) and step in STEPS else ""


def discard(*, folder: Path | None = None) -> None:
    """Remove the draft."""
    path_of(folder).unlink(missing_ok=True)
