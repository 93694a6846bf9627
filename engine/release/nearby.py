"""What is known of a ledger outside it: by bundles that lie where one looks, and by this computer."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine import strict_json
from engine.bounded import EVIDENCE, read_bytes, sha256
from engine.errors import InputRefused
from engine.ledger import Ledger, remembered
from engine.release import charge
from engine.release.bundle import INTERNAL, RELEASE, SUMS
from engine.release.plan import Plan

PUT_BACK = "ledger_put_back"
"""The decision to release although bundles are known that the ledger has forgotten; it needs a reason."""
MOST_ENTRIES = 5_000
MOST_BUNDLES = 500
LARGEST_SUMS = 1 << 20
LARGEST = 1 << 24
MOST_READ = 1 << 27


def find_bundles(places: Iterable[Path]) -> Iterator[tuple[Path, str]]:
    """Give the folders of releases in some places, each with the hash of its sums; so many at most.

    Parameters
    ----------
    places
        Folders of releases, and folders that may hold some.
    """
    seen: set[Path] = set()
    for place in places:
        for folder in (place, *_folders(place)):
            sums = folder / RELEASE / SUMS
            if folder in seen or len(seen) >= MOST_BUNDLES:
                continue
            with suppress(OSError):
                if sums.is_file() and sums.stat().st_size <= LARGEST_SUMS:
                    seen.add(folder)
                    yield folder, sha256(sums)


def _folders(place: Path) -> list[Path]:
    """Return the folders in a place, those that were changed last first."""
    found: list[tuple[float, Path]] = []
    with suppress(OSError):
        for number, entry in enumerate(place.iterdir()):
            if number >= MOST_ENTRIES:
                break
            with suppress(OSError):
                if (entry / RELEASE).is_dir():
                    found.append((entry.stat().st_mtime, entry))
    return [entry for _, entry in sorted(found, key=lambda one: (-one[0], one[1].name))]


@dataclass(frozen=True)
class Forgotten:
    """A bundle of this ledger that the ledger does not know: the folder, its entry, the head it names."""

    folder: str
    entry: str
    sequence: int


def forgotten(ledger: Ledger, places: Iterable[Path]) -> tuple[Forgotten, ...]:
    """Return the bundles that were made under this very ledger, at a head that it does not have.

    Parameters
    ----------
    ledger
        Perhaps an older copy of itself that was put back.
    places
        As of `find_bundles`. Bundles of other ledgers, and what cannot be read, are passed over.
    """
    chain, room = ledger.chain(), MOST_READ
    found = []
    for folder, _ in find_bundles(places):
        size = _size(folder / RELEASE / "evidence.json")
        if size > min(LARGEST, room):
            continue
        room -= size
        public = _evidence(folder / RELEASE)
        named = public.get("ledger")
        head = named.get("head") if isinstance(named, dict) else None
        if not isinstance(named, dict) or not isinstance(head, dict):
            continue
        entry, sequence = str(named.get("entry", "")), head.get("sequence")
        if type(sequence) is not int or not 0 <= sequence < 1 << 62:
            continue
        if ledger.continues(sequence, str(head.get("hash", ""))):
            continue
        if named.get("chain") == chain or ("chain" not in named and _is_of(ledger, folder, public, entry)):
            found.append(Forgotten(folder.name, entry, sequence))
    return tuple(found)


def refuse_put_back(plan: Plan, ledger: Ledger, places: Iterable[Path]) -> None:
    """Refuse to spend from a ledger that has forgotten releases which lie where one looks.

    Raises
    ------
    InputRefused
        ``run.ledger_put_back``: names the folders. With a reason in the plan it is journalled instead, and
        these bundles are not asked about again.
    """
    found = unexplained_bundles(ledger, places)
    if not found:
        return
    reason = charge.reason_of(plan, PUT_BACK)
    if not reason:
        raise InputRefused(
            "run.ledger_put_back",
            file=ledger.path.name,
            **describe_forgotten(found),
            last=ledger.head().sequence,
            decision=PUT_BACK,
        )
    for one in found:
        ledger.decide(f"{PUT_BACK} {one.entry}", reason, entry=one.entry)


def older(ledger: Ledger) -> dict[str, Any]:
    """Return what a ledger lacks of what this computer remembers of it, or nothing.

    Returns
    -------
    dict
        ``row``, ``last``: the last row that is remembered, and that it has; ``releases``, ``listed``: how
        many releases were listed, and are. Empty where it continues what is remembered, where a reason for
        this very state stands in its journal, and where nothing is remembered of it.
    """
    known = ledger.lacks()
    return {} if known is None else _told_of(known, ledger)


def _told_of(known: remembered.Remembered, ledger: Ledger) -> dict[str, Any]:
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
    known = ledger.lacks()
    if known is None:
        return
    reason = charge.reason_of(plan, remembered.OLDER)
    if not reason:
        told = _told_of(known, ledger)
        raise InputRefused("run.ledger_older", file=ledger.path.name, **told, decision=remembered.OLDER)
    ledger.decide(remembered.decision_about(known), reason)


def unexplained_bundles(ledger: Ledger, places: Iterable[Path]) -> tuple[Forgotten, ...]:
    """Return the forgotten bundles for which no reason stands in the journal yet."""
    found = forgotten(ledger, places)
    if not found:
        return ()
    said = {
        event.get("details", {}).get("decision") for event in ledger.journal() if event["kind"] == "decision"
    }
    return tuple(one for one in found if f"{PUT_BACK} {one.entry}" not in said)


def describe_forgotten(found: tuple[Forgotten, ...]) -> dict[str, Any]:
    """Return what is said of forgotten bundles: how many, some of their folders, the latest head."""
    return {
        "count": len(found),
        "folders": [one.folder[:100] for one in found],
        "row": max(one.sequence for one in found),
    }


def _is_of(ledger: Ledger, folder: Path, public: Mapping[str, Any], entry: str) -> bool:
    """Say whether a bundle that does not name its chain was made under this ledger.

    Its input is named outside by a hash under the ledger's own key, which can be computed again from the
    folder that stays; without that folder, and where no input was read, nobody can tell.
    """
    if not public.get("input_name") or _size(folder / INTERNAL / "evidence.json") > LARGEST:
        return False
    inside = _evidence(folder / INTERNAL).get("internal")
    read = inside.get("input") if isinstance(inside, dict) else None
    if not isinstance(read, dict):
        return False
    others = read.get("others")
    parts = [read, *(others.values() if isinstance(others, dict) else ())]
    digests = sorted(str(one["sha256"]) for one in parts if isinstance(one, dict) and "sha256" in one)
    if not digests:
        return False
    digest = digests[0] if len(digests) == 1 else hashlib.sha256("".join(digests).encode()).hexdigest()
    try:
        return public["input_name"] == ledger.input_name(digest, entry=entry)
    except InputRefused:
        return False


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return LARGEST + 1


def _evidence(part: Path) -> dict[str, Any]:
    try:
        tree = strict_json.loads(read_bytes(part / "evidence.json", EVIDENCE))
    except (OSError, ValueError):
        return {}
    return tree if isinstance(tree, dict) else {}
