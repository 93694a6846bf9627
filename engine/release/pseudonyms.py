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
from engine.release import reading
from engine.release.bundle import INTERNAL, KEY, RELEASE
from engine.release.plan import FileReference, Plan
from engine.table.schema import Schema

DECISION = "reidentified"


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
