"""The draft: the plan as it stands, kept on this computer so that nothing is lost. No rows."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from app.settings import data_folder, write_aside
from engine.errors import InputRefused
from engine.release.plan import Plan
from engine.table.schema import Origin, Schema


def path_of(folder: Path | None = None) -> Path:
    """Return where the draft stands."""
    return (folder if folder is not None else data_folder()) / "draft.json"


def without_copies(schema: Schema) -> Schema:
    """Return a schema without the domains that were copied from rows: a draft holds no cell."""
    return replace(
        schema,
        columns=tuple(
            replace(column, domain=None, domain_origin=None)
            if column.domain_origin is Origin.COPIED
            else column
            for column in schema.columns
        ),
    )


def save(plan: Plan, questions: frozenset[str], *, folder: Path | None = None) -> None:
    """Write the draft, whole or not at all.

    Raises
    ------
    OSError
        The folder cannot be written: the window says so in its footer.
    """
    kept = replace(plan, schemas={name: without_copies(schema) for name, schema in plan.schemas.items()})
    tree = {"plan": kept.to_json(), "open_questions": sorted(questions)}
    write_aside(path_of(folder), json.dumps(tree, indent=2, ensure_ascii=False) + "\n")


def load(*, folder: Path | None = None) -> tuple[Plan, frozenset[str]] | None:
    """Return the draft, or None when there is none that can be read."""
    try:
        tree = json.loads(path_of(folder).read_text(encoding="utf-8"))
        return Plan.loads(json.dumps(tree["plan"])), frozenset(map(str, tree["open_questions"]))
    except (OSError, ValueError, KeyError, TypeError, InputRefused):
        return None


def discard(*, folder: Path | None = None) -> None:
    """Remove the draft."""
    path_of(folder).unlink(missing_ok=True)
