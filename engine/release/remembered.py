"""What this computer remembers of each ledger, outside its folder: an older copy is noticed when put back.

Kept is the hash of the first row of a ledger, which is random, and where its journal and its releases ended
when a release was last made under it. No name, no path, no id of a release. The file is its owner's alone;
where it is missing, cannot be read or cannot be written, nothing is remembered and nothing refused.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from engine import strict_json
from engine.bounded import SUMS, read_text
from engine.errors import EngineError, InputRefused
from engine.ledger import Ledger
from engine.release import charge
from engine.release.plan import Plan

OLDER = "ledger_older"
"""The decision to release from a ledger that has less in it than is remembered; it needs a reason."""
MOST_KEPT = 1_000


@dataclass(frozen=True)
class Remembered:
    """Where a ledger ended: its last row with its hash, and how many releases it listed."""

    sequence: int
    hash: str
    releases: int


def place() -> Path:
    """Return where it is remembered: in the user's state folder, in none that a ledger lies in."""
    from platformdirs import user_state_path

    return user_state_path("custos-remembered", appauthor=False) / "ledgers.json"


def keep(ledger: Ledger) -> None:
    """Remember where a ledger ends now, in the place of what was remembered of it; nothing fails over it."""
    with suppress(EngineError):
        head, chain, found = ledger.head(), ledger.chain(), _read()
        found.pop(chain, None)  # the latest stand last
        found[chain] = asdict(Remembered(head.sequence, head.hash, len(ledger.entries())))
        _write(dict(list(found.items())[-MOST_KEPT:]))


def older(ledger: Ledger) -> dict[str, Any]:
    """Return what a ledger lacks of what is remembered of it, or nothing.

    Returns
    -------
    dict
        ``row``, ``last``: the last row that is remembered, and that it has; ``releases``, ``listed``: how
        many releases were listed, and are. Empty where it continues what is remembered, where a reason for
        this very state stands in its journal, and where nothing is remembered of it.
    """
    known = _known(_read().get(ledger.chain()))
    if known is None or ledger.continues(known.sequence, known.hash) or _decide(known) in _reasons(ledger):
        return {}
    return {
        "row": known.sequence,
        "last": ledger.head().sequence,
        "releases": known.releases,
        "listed": len(ledger.entries()),
    }


def refuse_older(plan: Plan, ledger: Ledger) -> None:
    """Refuse to spend from a ledger in which rows are missing that this computer saw.

    Raises
    ------
    InputRefused
        ``run.ledger_older`` says what is missing. With a reason in the plan it is journalled instead.
    """
    lacks = older(ledger)
    if not lacks:
        return
    reason = charge.reason_of(plan, OLDER)
    if not reason:
        raise InputRefused("run.ledger_older", file=ledger.path.name, **lacks, decision=OLDER)
    known = _known(_read().get(ledger.chain()))
    if known is not None:
        ledger.decide(_decide(known), reason)


def _decide(known: Remembered) -> str:
    return f"{OLDER} {known.hash}"


def _reasons(ledger: Ledger) -> set[str]:
    events = (event for event in ledger.journal() if event["kind"] == "decision")
    return {str(event.get("details", {}).get("decision")) for event in events}


def _known(tree: Any) -> Remembered | None:
    """Return what a file says of one ledger; nothing where it is not what was written."""
    if not isinstance(tree, Mapping) or set(tree) != {"sequence", "hash", "releases"}:
        return None
    is_right = type(tree["sequence"]) is int and type(tree["releases"]) is int and type(tree["hash"]) is str
    fits = is_right and 0 <= tree["sequence"] < 1 << 62 and tree["releases"] >= 0
    return Remembered(**tree) if fits else None


def _read() -> dict[str, Any]:
    try:
        tree = strict_json.loads(read_text(place(), SUMS))
    except (OSError, ValueError):
        return {}
    return tree if isinstance(tree, dict) else {}


def _write(tree: Mapping[str, Any]) -> None:
    """Replace the file as a whole; let be what cannot be written."""
    path = place()
    new = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    with suppress(OSError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
                json.dump(tree, file)
            if not path.exists() or os.access(path, os.W_OK):  # a file that was made read-only stays
                new.replace(path)
        finally:
            new.unlink(missing_ok=True)
