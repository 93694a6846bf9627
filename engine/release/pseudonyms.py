"""Pseudonyms beyond one release: the key of an earlier one used again, and the person behind a pseudonym."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from unicodedata import normalize

from engine import strict_json
from engine.bounded import EVIDENCE, SUMS, read_bytes, read_text
from engine.errors import InputRefused
from engine.ledger import Ledger
from engine.methods.catalogue import method as find_method
from engine.methods.keeping import KEY_FILE, KeyKeeper, person_texts
from engine.methods.protocol import Method
from engine.privacy.keys import unlock_key
from engine.progress import SILENT, Progress
from engine.release import charge, reading
from engine.release.bundle import INTERNAL, KEY, RELEASE
from engine.release.plan import FileReference, Plan
from engine.table.schema import Schema

DECISION = "reidentified"
KEY_ELSEWHERE = "key_elsewhere"
"""The decision to go on with a key of another register, or that another recipient has pseudonyms of."""


def open_earlier_key(design: Method, earlier_key: bytes | None, passphrase: str | None) -> bytes | None:
    """Return the key of an earlier release where the plan goes on with it, None elsewhere.

    Raises
    ------
    InputRefused
        ``keys.none_given``, ``keys.not_wanted``, ``keys.damaged``, ``keys.passphrase``: before anything is
        reserved.
    """
    wanted = isinstance(design, KeyKeeper) and design.uses_earlier_key
    if wanted is (earlier_key is None):
        raise InputRefused("keys.none_given" if wanted else "keys.not_wanted", file=KEY_FILE)
    return None if earlier_key is None else unlock_key(earlier_key, passphrase, file=KEY_FILE)


def refuse_elsewhere(plan: Plan, ledger: Ledger, key: bytes | None) -> None:
    """Refuse a key from elsewhere without a reason: with it two recipients can join what they were given.

    Raises
    ------
    InputRefused
        ``keys.not_of_register``: no release of the register is known to have pseudonyms of this key;
        ``keys.other_recipient``: those that have went to others.
    """
    if key is None or charge.reason_of(plan, KEY_ELSEWHERE):
        return
    found = _recipients(plan, ledger, key)
    if not found:
        raise InputRefused("keys.not_of_register", holding=plan.holding.strip(), decision=KEY_ELSEWHERE)
    if _folded(plan.purpose.recipient) not in map(_folded, found):
        recipients = [one[:100] for one in dict.fromkeys(found)]
        told = {"recipients": recipients, "recipient": plan.purpose.recipient.strip()[:100]}
        raise InputRefused("keys.other_recipient", **told, decision=KEY_ELSEWHERE)


def elsewhere(
    plan: Plan, ledger: Ledger | None, design: Method, *, was_refused: bool = False
) -> dict[str, Any]:
    """Return what is asked before a key is there: the recipient, where no key can be known for them.

    Empty where a release of the register to the same recipient has pseudonyms whose key the ledger knows,
    unless the key that was given is another one and ``was_refused``; and where no earlier key is wanted.
    """
    if not isinstance(design, KeyKeeper) or not design.uses_earlier_key:
        return {}
    found = () if ledger is None else _recipients(plan, ledger, None)
    recipient = plan.purpose.recipient
    is_known = _folded(recipient) in map(_folded, found)
    return {} if is_known and not was_refused else {"recipient": recipient.strip() or "–"}


def keep(
    plan: Plan, ledger: Ledger, entry: str, keys: Mapping[str, bytes], passphrase: str | None, *, again: bool
) -> None:
    """Keep with an entry which key its pseudonyms are of, and the reason for one from elsewhere.

    Parameters
    ----------
    keys
        Files that are kept apart, as the release holds them.
    again
        Whether the key is that of an earlier release.
    """
    if KEY_FILE not in keys:
        return
    key, reason = unlock_key(keys[KEY_FILE], passphrase), charge.reason_of(plan, KEY_ELSEWHERE)
    if again and reason:
        ledger.decide(KEY_ELSEWHERE, reason, entry=entry)
    ledger.keep_pseudonym_key(entry, key)


def _recipients(plan: Plan, ledger: Ledger, key: bytes | None) -> list[str]:
    """Return who got pseudonyms of a key, or of any, from the register of the plan."""
    holding = charge.known_holding(plan, ledger)
    kept = set(ledger.pseudonym_releases(key))
    return [] if holding is None else [e.recipient for e in ledger.entries(holding.id) if e.id in kept]


def _folded(recipient: str) -> str:
    return " ".join(recipient.casefold().split())


def keeps_key(folder: Path) -> bool:
    """Say whether a bundle holds a key that tells who is behind its pseudonyms."""
    return _key_of(folder) is not None


def _key_of(folder: Path) -> Path | None:
    """Return the file of the key: in its own folder, or where earlier versions put it."""
    places = (folder / part / KEY_FILE for part in (KEY, INTERNAL))
    return next((path for path in places if path.is_file()), None)


def reidentify_person(
    folder: Path,
    *,
    table: Path,
    pseudonym: str,
    reason: str,
    ledger: Ledger,
    passphrase: str | None = None,
    progress: Progress = SILENT,
) -> str:
    """Return the number of the person behind a pseudonym that a recipient gave back.

    Parameters
    ----------
    folder
        The bundle, with its internal folder and its key folder.
    table
        The custodian's table, in the form in which it was released from.
    pseudonym
        As it stands in the release.
    reason
        Why it has to be known; it enters the ledger.
    ledger
        Where the act is written down, before anything is looked up.
    passphrase
        Opens the key where it is locked.

    Raises
    ------
    InputRefused
        ``keys.no_key``: the bundle holds none; ``keys.passphrase``, ``keys.damaged``; ``keys.nobody``:
        nobody in the table has the pseudonym. ``ledger.*`` where no reason was given.

    Notes
    -----
    A pseudonym cannot be turned back: those of all people of the table are computed and compared. That the
    act took place stays in the ledger, also where nobody was found; the number of the person does not.
    """
    path = _key_of(folder)
    if path is None:
        raise InputRefused("keys.no_key", file=folder.name)
    key = unlock_key(read_bytes(path, SUMS), passphrase, file=KEY_FILE)
    inside, outside = _evidence(folder, INTERNAL), _evidence(folder, RELEASE)
    plan = Plan.loads(json.dumps(inside["plan"]), file="evidence.json")
    method, (name, file) = find_method(plan.method), next(iter(plan.files.items()))
    column = plan.schema.person_key
    if not issubclass(method, KeyKeeper) or column is None:
        raise InputRefused("keys.no_key", file=folder.name)
    ledger.decide(f"{DECISION} {pseudonym.strip()[:40]}", reason, entry=str(outside["ledger"]["entry"]))
    # The person key alone is read, and as it stands: no step changes who is who
    alone = replace(
        plan,
        files={name: FileReference(str(table.absolute()), file.options)},
        schemas={name: Schema((column,))},
        preparation=(),
    )
    rows = reading.read(alone, source=name, progress=progress).table.rows()
    texts = person_texts(rows[column.name])
    # In earlier versions a key with letters and accents apart was another one than with both as one sign
    forms = {normalize("NFD", text): text for text in texts} | {text: text for text in texts}
    found = method(plan.request).stand_ins(list(forms), key=key)
    for text, stands_for in zip(forms.values(), found, strict=True):
        if stands_for == pseudonym.strip():
            return text
    raise InputRefused("keys.nobody", file=table.name)


def _evidence(folder: Path, side: str) -> Mapping[str, Any]:
    try:
        tree = strict_json.loads(read_text(folder / side / "evidence.json", EVIDENCE))
        return dict(tree["internal"] if side == INTERNAL else tree)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputRefused("keys.no_key", file=folder.name) from error
