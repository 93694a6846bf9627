"""Earlier releases of a register, from which a new one could be subtracted: found, proven unchanged."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import pandas as pd

from engine import strict_json
from engine.ledger import Entry, Holding, Ledger
from engine.methods.earlier import NOTHING, Earlier, EarlierRelease
from engine.methods.protocol import Method
from engine.release.bundle import RELEASE, SUMS

LEFT = ("complete", "withdrawn", "spent")


def earlier(ledger: Ledger, holding: Holding, method: Method, *, places: Iterable[Path]) -> Earlier:
    """Return the tables that a method released of a register before, and how many were not found.

    Parameters
    ----------
    ledger, holding
        Which releases there were; the hash of its sums proves a folder to be one of them.
    method
        Of the new release; only its own earlier releases are looked for.
    places
        Folders of releases, and folders that may hold some: the ledger does not know where they lie.

    Notes
    -----
    What the recipient was told to delete (a withdrawn release) may be kept all the same, so it is looked at
    too.
    """
    if not method.compares:
        return NOTHING
    wanted = [entry for entry in ledger.entries(holding.id) if _is_of(entry, method)]
    secret = ledger.register_key(holding.id)
    if not wanted:
        return Earlier(secret=secret)
    lying = dict(_bundles(places))
    found = [_read(lying[entry.release_sums], entry) for entry in wanted if entry.release_sums in lying]
    tables = tuple(one for one in found if one is not None and one.method == method.id)
    others = sum(one is not None and one.method != method.id for one in found)
    return Earlier(tables, len(wanted) - len(tables) - others, secret)


def _is_of(entry: Entry, method: Method) -> bool:
    """Say whether an entry can be a release of the method: of its kinds of promise, and it has left."""
    return entry.state in LEFT and entry.release_sums is not None and (
        entry.guarantee.get("kind") in method.promises
    )  # fmt: skip


def _bundles(places: Iterable[Path]) -> Iterator[tuple[str, Path]]:
    """Give the folders of releases by the hash of their sums."""
    for place in places:
        with suppress(OSError):
            for folder in (place, *sorted(place.iterdir())):
                sums = folder / RELEASE / SUMS
                if sums.is_file():
                    yield hashlib.sha256(sums.read_bytes()).hexdigest(), folder


def _read(folder: Path, entry: Entry) -> EarlierRelease | None:
    """Read the tables of a release whose files are those that its sums name; None where they are not."""
    try:
        lines = (folder / RELEASE / SUMS).read_text(encoding="utf-8").splitlines()
        listed = {name: digest for digest, _, name in (line.partition("  ") for line in lines)}
        content = {name: (folder / RELEASE / name).read_bytes() for name in listed if _is_read(name)}
        if any(hashlib.sha256(data).hexdigest() != listed[name] for name, data in content.items()):
            return None
        tree = strict_json.loads(content["evidence.json"])
        frames = {
            name: pd.read_csv(folder / RELEASE / name, dtype="str", keep_default_na=False)
            for name in content
            if name.endswith(".csv")
        }
        return EarlierRelease(
            entry.title, str(tree["method"]["id"]), dict(tree["decided"]["parameters"]), frames
        )
    except (OSError, KeyError, TypeError, ValueError):
        return None


def _is_read(name: str) -> bool:
    return name == "evidence.json" or (name.endswith(".csv") and "/" not in name and "\\" not in name)
