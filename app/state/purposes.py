"""What the purpose screen asks, in groups, and what it remembers of an organisation's last release. No Qt.

What belongs to one release alone (title, recipient, dates, thresholds) is never remembered.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path

from app.state.settings import data_folder, write_aside
from engine import strict_json
from engine.bounded import SUMS, read_text
from engine.release.plan import Purpose

REQUEST = (
    *("title", "recipient", "organisation", "use"),
    *("request_number", "agreement", "approver", "expires"),
)
"""Asked for at once; all else lies folded below."""
GROUPS: Mapping[str, tuple[str, ...]] = {
    "basis": ("legal_basis", "assessment", "checker", "officer", "contact"),
    "people": ("population", "period", "inclusion"),
    "place": ("setting", "attackers", "withdrawal", "review", "states_total"),
    "limits": ("motive", "control", "threshold"),
    "inside": ("reason", "retention"),
}
DATES = ("expires", "review")
REMEMBERED = (
    *("organisation", "approver", "contact", "legal_basis", "population", "inclusion"),
    *("attackers", "withdrawal", "retention"),
)
MOST = 10  # organisations

assert {*REQUEST, *(name for group in GROUPS.values() for name in group)} == {
    part.name for part in fields(Purpose)
}


def path_of(folder: Path | None = None) -> Path:
    """Return where the answers lie that are offered again."""
    return (folder if folder is not None else data_folder()) / "last-purposes.json"


def remember(purpose: Purpose, *, folder: Path | None = None) -> None:
    """Keep what the next release of the same organisation will say again; one that cannot be kept is not."""
    said = {name: getattr(purpose, name) for name in REMEMBERED if getattr(purpose, name).strip()}
    if not purpose.organisation.strip():
        return
    others = [one for one in _all(folder) if not _same(one, purpose.organisation)]
    try:
        write_aside(path_of(folder), json.dumps([said, *others][:MOST], indent=2, ensure_ascii=False) + "\n")
    except OSError:
        return


def remembered_answers(purpose: Purpose, *, folder: Path | None = None) -> dict[str, str]:
    """Return what an earlier release said and this one leaves open.

    Of the organisation that is named, or of the last one while none is; nothing where that fills no field.
    """
    known = _all(folder)
    if purpose.organisation.strip():
        known = [one for one in known if _same(one, purpose.organisation)]
    found = known[0] if known else {}
    return {name: value for name, value in found.items() if not getattr(purpose, name).strip()}


def _same(answers: Mapping[str, str], organisation: str) -> bool:
    return answers.get("organisation", "").strip().casefold() == organisation.strip().casefold()


def _all(folder: Path | None) -> list[dict[str, str]]:
    try:
        tree = strict_json.loads(read_text(path_of(folder), SUMS))
    except (OSError, ValueError):
        return []
    if not isinstance(tree, list):
        return []
    return [
        {name: one[name] for name in REMEMBERED if isinstance(one.get(name), str)}
        for one in tree
        if isinstance(one, dict)
    ]
