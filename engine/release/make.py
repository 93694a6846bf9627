"""From the tables that were read to a release: lots, cap, the method, and what must hold of its result.

Nothing is written here, so that candidates can be made and thrown away.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.errors import InputRefused
from engine.methods.earlier import NOTHING, Earlier
from engine.methods.protocol import (
    Artefact,
    Context,
    FileArtefact,
    Method,
    ModelArtefact,
    Release,
    Service,
    SlotOf,
    TableArtefact,
)
from engine.methods.shared import onnx_file, workbook_file
from engine.methods.shared.view import View
from engine.privacy.draw import Draw
from engine.privacy.mechanisms.integers import is_listened
from engine.privacy.noise import Noise, ordinary_generator
from engine.progress import SILENT, Progress
from engine.release import promised, reading
from engine.release.reading import PreparedTable
from engine.release.working import new_folder
from engine.table.declared import key_texts
from engine.table.table import Table

if TYPE_CHECKING:
    from collections import Counter


HELD_OUT = Fraction(1, 5)
"""Share of the people who are kept from a method that asks for it."""

OWN_NAMES = frozenset(
    (
        *("sha256sums", "evidence.json", "data-dictionary.json", "readme.txt", "verify.html"),
        *("datapackage.json", "read.py", "read.r", "ro-crate-metadata.json", "healthdcat.json"),
        "croissant.json",
    )
)
PLAIN = {onnx_file.MEDIA_TYPE: onnx_file.is_plain, workbook_file.MEDIA_TYPE: workbook_file.is_plain}
"""What looks a file through that people cannot read."""
PICKLES = (b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05")


@dataclass(frozen=True)
class Draft:
    """A release that was made and not written.

    Parameters
    ----------
    release
        What the method returned.
    used
        By source, the very rows that the method got.
    held_out
        By source, the rows of the people who were kept from it, capped as those used are; empty where nobody
        was.
    drawn
        What the noise door was asked for by the method.
    """

    release: Release
    used: Mapping[str, Table]
    held_out: Mapping[str, Table] = field(default_factory=dict)
    drawn: Mapping[Draw, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Split:
    """Which people are kept from a method: a coin each, from a key that the noise door drew once.

    Notes
    -----
    The coin of a person is the keyed digest of the person key, below the share or not: it depends on nobody
    else, and all rows of a person, in every source, go the same way. Adding a person moves nobody else.
    """

    key: bytes
    share: Fraction = HELD_OUT

    @staticmethod
    def drawn(noise: Noise) -> Split:
        """Return a new split."""
        return Split(noise.random_keys(4).tobytes())

    def is_held_out(self, person: str) -> bool:
        """Toss the coin of a person."""
        digest = hashlib.blake2b(person.encode(), key=self.key, digest_size=8).digest()
        return int.from_bytes(digest, "big") < self.share * 2**64

    def apart(self, prepared: PreparedTable, noise: Noise) -> tuple[PreparedTable, Table]:
        """Return a source without the people who are held out, and their rows."""
        rows, key = prepared.table.rows(), prepared.schema.person_key
        if key is None:
            away = noise.bernoulli(self.share, len(rows))
        else:
            texts = key_texts(rows[key.name])
            coins = {person: self.is_held_out(person) for person in set(texts)}
            away = np.array([coins[person] for person in texts], dtype=bool)
        return replace(prepared, table=prepared.table.with_rows(rows[~away])), prepared.table.with_rows(
            rows[away]
        )


def make(
    design: Method,
    prepared: Mapping[str, PreparedTable],
    noise: Noise,
    *,
    folder: Path,
    split: Split | None = None,
    progress: Progress = SILENT,
    passphrase: str | None = None,
    earlier: Earlier = NOTHING,
    key: bytes | None = None,
) -> Draft:
    """Make a release from the tables that were read; nothing is written.

    Parameters
    ----------
    design
        What is to be made.
    prepared
        By source.
    noise
        The door; the entry of the ledger is spent by its first draw, or has been.
    folder
        Working folder of the run, see `engine.release.working`.
    split
        Of the people who are held out, so that candidates are measured on the same ones; drawn where the
        method asks for one and None is given.
    passphrase
        For a key that stays inside.
    earlier
        Earlier releases of the register for a method that compares with them.
    key
        Of an earlier release, where the method goes on with it.

    Raises
    ------
    InputRefused
        ``run.promise_differs``: the method did not do what it had declared. ``run.artefact``: something in
        the release may not leave. ``run.not_as_promised``: the cap did not hold.
    """
    assert not is_listened(), "somebody could see sums without their noise"
    private = set(design.request.private)
    away: dict[str, Table] = {}
    if design.held_out:
        split = split or Split.drawn(noise)
        parts = {name: split.apart(one, noise) for name, one in prepared.items() if name in private}
        prepared = {**prepared, **{name: kept for name, (kept, _) in parts.items()}}
        away = {name: apart for name, (_, apart) in parts.items()}
    progress.step(0.0, "run.capping")
    secret = earlier.secret if design.compares else b""
    slot = design.slot_of
    used = {name: _rows_of(one, name in private, noise, secret, slot) for name, one in prepared.items()}
    for name in private & set(used):
        promised.refuse_uncapped(prepared[name].schema, used[name])
    # people not used stand beside those used: as many rows of each of them, under the same conditions
    away = {
        name: _rows_of(replace(prepared[name], table=one), True, noise, slot=slot)
        for name, one in away.items()
    }
    for name, one in away.items():
        promised.refuse_uncapped(prepared[name].schema, one)
    tried = away if design.scores else {}
    before = noise.counted
    context = Context(
        noise,
        ordinary_generator() if design.cost.loss is None else None,  # only where nothing bounds the loss
        new_folder(folder),
        progress.part(0.1, 1.0),
        passphrase if design.keeps_key else None,
        earlier,
        key,
        tried,
        _whole(design, prepared),
    )
    release = _make(design, used, context)
    drawn = noise.counted
    drawn.subtract(before)
    refuse_lies(design, release, +drawn)
    return Draft(release, used, away, +drawn)


def _rows_of(
    prepared: PreparedTable,
    is_private: bool,
    noise: Noise,
    secret: bytes = b"",
    slot: SlotOf | None = None,
) -> Table:
    if not is_private:
        return reading.filter_source(prepared)
    return reading.cap_rows(prepared, noise, secret, slot)


def _whole(design: Method, prepared: Mapping[str, PreparedTable]) -> dict[str, Table]:
    """Return all rows of everybody for a method that counts people, each once however many rows there are."""
    if not design.counts_people:
        return {}
    keyed = {name: one for name, one in prepared.items() if one.schema.person_key is not None}
    return {name: reading.of_somebody(one) for name, one in keyed.items() if name in design.request.private}


def _make(design: Method, used: Mapping[str, Table], context: Context) -> Release:
    request = design.request
    shown = {name: View(one, design.needs) if name in request.private else one for name, one in used.items()}
    if isinstance(design, Service) and request.step:
        return design.step(request.step, shown, request.state or b"", context)
    return design.run(shown, context)


def refuse_lies(design: Method, release: Release, drawn: Counter[Draw]) -> None:
    """Refuse a release that is not what was declared, or that has something in it that may not leave.

    Notes
    -----
    What was drawn is what was promised: the same mechanisms, with the same numbers, as often. A service that
    is opened reserves what its visits will draw, and draws nothing yet.
    """
    opens = bool(design.steps) and not design.request.step
    declared = design.cost.drawn()
    fits = drawn == declared or (opens and drawn <= declared)
    if release.promise != design.cost or not fits:
        part = "noise" if release.promise == design.cost else "promise"
        raise InputRefused("run.promise_differs", method=design.id, part=part)
    names: set[str] = set()
    for artefact in release.artefacts:
        for name in artefact.files:
            if name.casefold() in names or not _is_name(name):  # some file systems know no capitals
                raise InputRefused("run.artefact", method=design.id, file=name[:100])
            names.add(name.casefold())
        _refuse_content(design, artefact)


def _is_name(name: str) -> bool:
    plain = bool(name) and name == Path(name).name and not name.startswith(".") and name.isprintable()
    own = name.casefold()
    return plain and own not in OWN_NAMES and not own.startswith("report-external.")


def _refuse_content(design: Method, artefact: Artefact) -> None:
    """Refuse pickles, seeds, files that hold more than they need, and an index that still names rows."""
    if isinstance(artefact, FileArtefact):
        fits = not artefact.content.startswith(PICKLES)
        if fits and artefact.media_type == "application/json":
            fits = not _names_a_seed(json.loads(artefact.content))
        plain = PLAIN.get(artefact.media_type)
        fits = fits and (plain is None or plain(artefact.content))
    elif isinstance(artefact, ModelArtefact):
        fits = not _names_a_seed(artefact.content)
    elif isinstance(artefact, TableArtefact):
        columns = {entry.name for entry in artefact.dictionary}
        fits = all(
            list(frame.index) == list(range(len(frame))) and set(map(str, frame.columns)) == columns
            for frame in artefact.frames
        )
    else:
        fits = True
    if not fits:
        raise InputRefused("run.artefact", method=design.id, file=artefact.files[0])


def _names_a_seed(tree: Any) -> bool:
    """Whether anything in JSON values is called a seed or the state of a generator."""
    if isinstance(tree, Mapping):
        called = any(word in str(name).casefold() for name in tree for word in ("seed", "random_state"))
        return called or any(map(_names_a_seed, tree.values()))
    return isinstance(tree, list | tuple) and any(map(_names_a_seed, tree))
