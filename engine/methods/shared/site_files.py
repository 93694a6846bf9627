"""The files that go between sites: each signed, bound to its study, round and roster, named by what it is.

A file is lines of text: what it is, its head (JSON, in base64), the signature of the head, and the numbers
whose digest the head names. There is one way to write a file, so that one changed bit makes another file,
which nobody signed. A key that comes with a file proves nothing by itself: the fingerprints of a study's
roster are compared over another way, by telephone or from paper, before anybody takes part.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, NoReturn

import numpy as np

from engine import ed25519, strict_json, texts
from engine.errors import InputRefused
from engine.methods.protocol import MOST_ROUNDS, Budget
from engine.numbers import shortest_json
from engine.privacy import masks
from engine.privacy.mechanisms.integers import Integers
from engine.privacy.promise import Neighbours
from engine.table.schema import Schema

VERSION = 1
CARD, STUDY, SHARE, ROSTER, MASK = "card", "study", "share", "roster", "mask"
KINDS = (CARD, STUDY, SHARE, ROSTER, MASK)
OWN, ONE = "own", "one"
"""Each site adds noise of its own, or all add shares of one noise, hidden by masks."""
MOST_HOLDERS = 3
PIECE = 1 << 16
"""Letters of a line of numbers."""
MOST_SITES = 200
MOST_LETTERS = 100
LEAST_SITES = 2

_FIRST = re.compile(r"custos-([a-z]{1,20})-([1-9]\d{0,3})")
_SERIES, _SIGNATURE = re.compile(r"[0-9a-f]{16}"), re.compile(r"ed25519:[0-9a-f]{128}")


@dataclass(frozen=True)
class SiteFile:
    """A file between sites whose signature is genuine under the key that it names.

    Parameters
    ----------
    kind
        What it is, one of `KINDS`.
    head
        What was signed.
    numbers
        What the digest in the head is of; empty for files without numbers.
    file
        How it is called, for messages.
    signature
        Of the head.
    """

    kind: str
    head: Mapping[str, Any]
    numbers: bytes = field(default=b"", repr=False)
    file: str = ""
    signature: str = ""

    @property
    def id(self) -> str:
        """SHA-256 of what was signed."""
        return hashlib.sha256(_signed(self.kind, self.head)).hexdigest()


@dataclass(frozen=True)
class Member:
    """Somebody who takes part: a name, and the public key of the register that signs.

    ``exchange`` is the public key by which a site agrees with a key holder on masks, of X25519 alone or of
    ML-KEM besides, and ``card`` the signature of the card that names both keys.
    """

    name: str
    key: str
    exchange: str = field(default="", compare=False)
    card: str = field(default="", compare=False)

    @property
    def fingerprint(self) -> str:
        """What is compared over another way before anybody takes part; see `fingerprint_of`."""
        return fingerprint_of(self.key)

    def to_json(self) -> dict[str, str]:
        """Return it as JSON values."""
        return {"name": self.name, "key": self.key}

    @property
    def as_holder(self) -> dict[str, str]:
        """It as JSON values, with the key for masks and the signature of both."""
        return {**self.to_json(), "exchange": self.exchange, "card": self.card}


@dataclass(frozen=True)
class Study:
    """What all sites of a study do: public, the same for everybody, named by the digest of its file.

    Parameters
    ----------
    title, coordinator
        What it is called, and who puts the sums together.
    roster
        The sites, in their order.
    method, method_version, parameters, budget, schemas, sizes
        Of the release, as in a plan; the columns as they are after each site's own preparation.
    cells
        How many numbers each noisy sum has that sites tell in this round.
    series, attempt
        The same for all attempts at one study, and which attempt this is: a new one is paid for anew.
    rehearsal
        Whether rows are invented everywhere: nothing of it may be put together with real shares.
    way, least, holders
        `OWN` or `ONE`; how many shares of noise are one noise, and who adds up masks, where it is `ONE`.
    rounds, round
        How many rounds there are, and which this is: each is a study by itself, which every site pays anew.
    heard
        The totals of all sums of the rounds before, which this file carries.
    """

    title: str
    coordinator: Member
    roster: tuple[Member, ...]
    method: str
    method_version: int
    parameters: Mapping[str, Any]
    budget: Budget
    schemas: Mapping[str, Schema]
    sizes: tuple[int, ...]
    cells: tuple[int, ...]
    series: str
    attempt: int = 1
    rehearsal: bool = False
    way: str = OWN
    least: int = 1
    holders: tuple[Member, ...] = ()
    rounds: int = 1
    round: int = 1
    heard: tuple[Integers, ...] = field(default=(), compare=False, repr=False)

    @property
    def is_last(self) -> bool:
        """Whether the sums of this round are all that is still needed."""
        return self.round == self.rounds

    @property
    def numbers(self) -> bytes:
        """What the file carries besides its head."""
        return _bytes_of(self.heard)

    @property
    def head(self) -> dict[str, Any]:
        """What the coordinator signs."""
        budget = self.budget
        return {
            "title": self.title,
            "key": self.coordinator.key,
            "coordinator": self.coordinator.name,
            "roster": [one.to_json() for one in self.roster],
            "method": self.method,
            "method_version": self.method_version,
            "parameters": dict(self.parameters),
            "budget": {
                "epsilon": shortest_json(budget.epsilon),
                "delta": shortest_json(budget.delta),
                "neighbours": budget.neighbours.value,
            },
            "schemas": {name: one.to_json() for name, one in self.schemas.items()},
            "sizes": list(self.sizes),
            "cells": list(self.cells),
            "rounds": self.rounds,
            "series": self.series,
            "attempt": self.attempt,
            "rehearsal": self.rehearsal,
            "way": self.way,
            "least": self.least,
            "holders": [one.as_holder for one in self.holders],
            **self._later,
        }

    @property
    def _later(self) -> dict[str, Any]:
        """What the head of a later round says besides."""
        if self.round == 1:
            return {}
        digest = hashlib.sha256(self.numbers).hexdigest()
        return {"round": self.round, "heard": [one.size for one in self.heard], "numbers": digest}

    @property
    def id(self) -> str:
        """What every share of it names: it changes with everything that was decided."""
        return SiteFile(STUDY, self.head).id

    @property
    def are_both(self) -> list[bool]:
        """Of each holder, whether masks are agreed on by ML-KEM besides X25519, as its card says."""
        return [masks.is_both(one.exchange) for one in self.holders]

    @property
    def roster_digest(self) -> str:
        """What every share names of the roster."""
        return hashlib.sha256(_canonical([one.to_json() for one in self.roster])).hexdigest()

    @property
    def short(self) -> str:
        """Six letters and digits by which people tell studies apart."""
        return base64.b32encode(bytes.fromhex(self.id)).decode()[:6]

    @property
    def called(self) -> str:
        """What people call the study: its title, or its letters and digits where it has none."""
        return texts.in_one_line(self.title) or self.short

    def member(self, name: str) -> Member | None:
        """Return a site by its name."""
        return next((one for one in self.roster if one.name == name), None)

    def share_of(
        self, member: Member, sums: Sequence[Integers], ephemeral: str = ""
    ) -> tuple[dict[str, Any], bytes]:
        """Return the head of a site's share, and its numbers."""
        numbers = _bytes_of(sums)
        return {
            "study": self.id,
            "series": self.series,
            "attempt": self.attempt,
            "round": self.round,
            "roster": self.roster_digest,
            "name": member.name,
            "key": member.key,
            "ephemeral": ephemeral,
            "numbers": hashlib.sha256(numbers).hexdigest(),
        }, numbers

    def noise_in(self, sites: int) -> Fraction:
        """Return how many times the noise of the method lies in the sums of so many sites."""
        return Fraction(sites, self.least)


def _bytes_of(sums: Sequence[Integers]) -> bytes:
    return b"".join(np.asarray(one, dtype="<i8").tobytes() for one in sums)


def fingerprint_of(key: str) -> str:
    """Return 24 letters and digits of a public key in groups of four, to be read out.

    Examples
    --------
    >>> fingerprint_of("00" * 32)
    'MZUH VLPY MK6X O3EP YGFY 5H4O'
    """
    digits = base64.b32encode(hashlib.sha256(bytes.fromhex(key)).digest()).decode()[:24]
    return " ".join(digits[at : at + 4] for at in range(0, len(digits), 4))


# --- writing and reading -----------------------------------------------------------------------------------


def written(kind: str, head: Mapping[str, Any], sign: Callable[[bytes], str], numbers: bytes = b"") -> bytes:
    """Return a file as it is sent, signed."""
    return _lines(kind, _canonical(head), sign(_signed(kind, head)), numbers)


def _lines(kind: str, head: bytes, signature: str, numbers: bytes) -> bytes:
    told = base64.b64encode(numbers).decode()
    pieces = [told[at : at + PIECE] for at in range(0, len(told), PIECE)]
    lines = [f"custos-{kind}-{VERSION}", base64.b64encode(head).decode(), f"ed25519:{signature}", *pieces]
    return ("\n".join(lines) + "\n").encode()


def read(content: bytes, kind: str, file: str) -> SiteFile:
    """Return what a file says, once it is known to be genuine and what was asked for.

    Parameters
    ----------
    content
        Of the file.
    kind
        What it should be.
    file
        How it is called, for messages.

    Raises
    ------
    InputRefused
        ``sites.no_file``: not a file of this form. ``sites.kind``: another kind of it. ``sites.newer``: of a
        newer version. ``sites.changed``: not what was signed with the key that it names.
    """
    found = _first_line(content, file)
    if int(found[2]) > VERSION:
        raise InputRefused("sites.newer", file=file, found=int(found[2]), expected=VERSION)
    if found[1] != kind:
        raise InputRefused("sites.kind", file=file, found=found[1], expected=kind)
    try:
        _, head, signature, *pieces, end = content.decode("ascii").split("\n")
        told, numbers = (
            base64.b64decode(head, validate=True),
            base64.b64decode("".join(pieces), validate=True),
        )
        tree = strict_json.loads(told)
        signature = signature.removeprefix("ed25519:")  # a colon is in no other line
        genuine = (
            not end
            and isinstance(tree, dict)
            and _canonical(tree) == told
            and _lines(kind, told, signature, numbers) == content
            and isinstance(tree.get("key"), str)
            and ed25519.is_signed(tree["key"], signature, _signed(kind, tree))
            and tree.get("numbers", _EMPTY) == hashlib.sha256(numbers).hexdigest()
        )
    except (ValueError, binascii.Error) as error:
        raise InputRefused("sites.changed", file=file) from error
    if not genuine:
        raise InputRefused("sites.changed", file=file)
    return SiteFile(kind, tree, numbers, file, signature)


def kind_of(content: bytes, file: str) -> str:
    """Return what a file says that it is, by its first line alone.

    Raises
    ------
    InputRefused
        ``sites.no_file``.
    """
    return _first_line(content, file)[1]


def _first_line(content: bytes, file: str) -> re.Match[str]:
    first, _, _ = content[:100].partition(b"\n")
    found = _FIRST.fullmatch(first.decode("ascii", "replace"))
    if found is None or found[1] not in KINDS:
        raise InputRefused("sites.no_file", file=file)
    return found


_EMPTY = hashlib.sha256(b"").hexdigest()


def is_signature(line: str) -> bool:
    """Say whether a line is a signature: no line of a head or of numbers has a colon."""
    return _SIGNATURE.fullmatch(line) is not None


def _canonical(tree: Any) -> bytes:
    return json.dumps(tree, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def _signed(kind: str, head: Mapping[str, Any]) -> bytes:
    return f"custos {kind} {VERSION}\n".encode() + _canonical(head)


# --- what is in them ---------------------------------------------------------------------------------------


def card(name: str, key: str, exchange: str) -> dict[str, Any]:
    """Return the head of a card: how somebody introduces themselves before a study is made."""
    return {"name": name, "key": key, "exchange": exchange}


def read_card(content: bytes, file: str) -> Member:
    """Return who introduces themselves.

    Raises
    ------
    InputRefused
        As `read`; ``document.*``: something in it is missing or of the wrong kind.
    """
    found = read(content, CARD, file)
    return replace(_told(lambda: _holder(found.head, ""), file), card=found.signature)


def read_study(content: bytes, file: str = "study") -> Study:
    """Return a study.

    Raises
    ------
    InputRefused
        As `read`; ``document.*``: something in it is missing or of the wrong kind. ``sites.roster``: somebody
        stands in it twice, or there are too few or too many sites.
    """
    found = read(content, STUDY, file)
    study = _told(lambda: _study(found.head, found.numbers), file)
    refuse_roster(study.roster, file)
    refuse_holders(study, file)
    for one in study.holders:
        said = _signed(CARD, card(one.name, one.key, one.exchange))
        if not ed25519.is_signed(one.key, one.card, said):  # else masks would be agreed with whoever made it
            raise InputRefused("sites.holder_key", file=file, name=one.name)
    if study.head != dict(found.head):
        raise InputRefused("sites.changed", file=file)
    return study


def refuse_roster(roster: Sequence[Member], file: str) -> None:
    """Refuse a roster in which somebody stands twice, or that has too few or too many sites."""
    names, keys = {one.name.strip().casefold() for one in roster}, {one.key for one in roster}
    if not LEAST_SITES <= len(roster) <= MOST_SITES or len(names) < len(roster) or len(keys) < len(roster):
        raise InputRefused("sites.roster", file=file, least=LEAST_SITES, most=MOST_SITES)


def refuse_holders(study: Study, file: str) -> None:
    """Refuse holders that keep nothing apart, and shares of which too few would be one noise.

    With two sites every share would have to be a whole noise, as each of them knows its own.
    """
    sites, keys = len(study.roster), {one.key for one in study.holders}
    if study.way == OWN:
        fits = study.least == 1 and not study.holders
    else:
        fits = 2 <= study.least < sites and 1 <= len(study.holders) <= MOST_HOLDERS
        fits = fits and len(keys) == len(study.holders) and study.coordinator.key not in keys
    if not fits:
        raise InputRefused("sites.holders", file=file, most=MOST_HOLDERS)


def accept(
    study: Study, shares: Sequence[SiteFile], without: Sequence[str] = ()
) -> dict[str, list[Integers]]:
    """Return the sums of every site of a study by its name, once all files are known to belong to it.

    Parameters
    ----------
    study
        What the shares should be of.
    shares
        As `read` returned them.
    without
        Names of sites that do not take part after all.

    Raises
    ------
    InputRefused
        Naming the file: ``sites.old`` (an earlier or later attempt at the study), ``sites.other_round``
        (another round of it), ``sites.foreign`` (another study), ``sites.other_roster``, ``sites.stranger``
        (not signed with the key that the roster has for the site), ``sites.doubled``, ``sites.other_cells``;
        ``sites.missing`` and ``sites.too_few``.
    """
    found: dict[str, SiteFile] = {}
    for one in shares:
        head = one.head
        name = str(head.get("name", ""))
        if head.get("study") != study.id:
            refuse_foreign(study, head, one.file, name)
        member = study.member(name)
        if member is None or member.key != head["key"]:
            raise InputRefused("sites.stranger", file=one.file, name=name[:MOST_LETTERS])
        if head.get("roster") != study.roster_digest or head.get("round") != study.round:
            raise InputRefused("sites.other_roster", file=one.file, name=name)
        if name in found:
            raise InputRefused("sites.doubled", file=one.file, first=found[name].file, name=name)
        if name in without:
            raise InputRefused("sites.left_out", file=one.file, name=name)
        if len(one.numbers) != 8 * sum(study.cells):
            raise InputRefused("sites.other_cells", file=one.file, name=name)
        if not _is_written_so(study, member, head):
            raise InputRefused("sites.changed", file=one.file)
        found[name] = one
    unknown = [name for name in without if study.member(name) is None]
    if unknown:
        raise InputRefused("sites.unknown", name=unknown[0][:MOST_LETTERS])
    missing = [one.name for one in study.roster if one.name not in found and one.name not in without]
    if missing:
        raise InputRefused("sites.missing", names=", ".join(missing))
    least = LEAST_SITES if study.way == OWN else study.least + 1
    if len(found) < least:
        raise InputRefused("sites.too_few", least=least)
    return {one.name: sums_of(study, found[one.name].numbers) for one in study.roster if one.name in found}


def _is_written_so(study: Study, member: Member, head: Mapping[str, Any]) -> bool:
    """Say whether the head of a share says what a site writes into it, and nothing besides."""
    said = head.get("ephemeral")
    expected, _ = study.share_of(member, [], said if isinstance(said, str) else "")
    is_right = isinstance(said, str) and bool(said) == (study.way == ONE)
    return is_right and _canonical(expected | {"numbers": head.get("numbers")}) == _canonical(dict(head))


def refuse_foreign(study: Study, head: Mapping[str, Any], file: str, name: str) -> NoReturn:
    """Refuse a file that names another study: another attempt, another round, or quite another.

    Raises
    ------
    InputRefused
        ``sites.old``, ``sites.other_round``, ``sites.foreign``.
    """
    told: dict[str, Any] = {"file": file, "name": name[:MOST_LETTERS]}
    if head.get("series") != study.series:
        raise InputRefused("sites.foreign", **told)
    if head.get("attempt") == study.attempt and head.get("round") not in (None, study.round):
        raise InputRefused("sites.other_round", **told, round=study.round)
    raise InputRefused("sites.old" if head.get("attempt") != study.attempt else "sites.foreign", **told)


# --- masks -------------------------------------------------------------------------------------------------


def roster_of(study: Study, shares: Sequence[SiteFile]) -> dict[str, Any]:
    """Return the head of the roster that a coordinator sends to the holders: heads alone, no number."""
    order = {one.name: place for place, one in enumerate(study.roster)}
    heads = sorted(shares, key=lambda one: order[one.head["name"]])
    told = [{"head": dict(one.head), "signature": one.signature} for one in heads]
    return {"study": study.id, "key": study.coordinator.key, "heads": told}


def add_masks(study: Study, roster: SiteFile, holder: Member, private: bytes) -> masks.Words:
    """Return the sum of the masks of a holder with all sites of a roster.

    Raises
    ------
    InputRefused
        Naming the file: ``sites.foreign``, ``sites.impostor`` (not of the coordinator), ``sites.no_holder``;
        ``sites.forged``: a head in it was not signed by the site that it names, or stands there twice, or
        two have one key for masks, or there are too few of them.

    Notes
    -----
    Two sites with one key have one mask, and a mask that is added often enough is none in the last bits: what
    is left of these would be the other sites' alone.
    """
    if roster.head.get("study") != study.id:
        raise InputRefused("sites.foreign", file=roster.file, name=study.coordinator.name)
    if roster.head["key"] != study.coordinator.key:
        raise InputRefused("sites.stranger", file=roster.file, name=study.coordinator.name)
    if holder not in study.holders:
        raise InputRefused("sites.no_holder", name=holder.name)
    total = np.zeros(sum(study.cells), dtype=np.uint64)
    names, keys = set[str](), set[str]()
    entries = _told(
        lambda: strict_json.items(
            roster.head["heads"],
            "heads",
            lambda one, place: strict_json.members(one, place, must=("head", "signature")),
        ),
        roster.file,
    )
    for entry in entries:
        head, signature = entry["head"], entry["signature"]
        member = study.member(str(head.get("name", ""))) if isinstance(head, dict) else None
        genuine = (
            member is not None
            and member.name not in names
            and head.get("study") == study.id
            and head.get("key") == member.key
            and ed25519.is_signed(member.key, signature, _signed(SHARE, head))
        )
        if not genuine or member is None:
            raise InputRefused("sites.forged", file=roster.file)
        said = str(head.get("ephemeral", ""))
        if said in keys:
            raise InputRefused("sites.forged", file=roster.file)
        names.add(member.name)
        keys.add(said)
        try:
            secret = masks.agreed(private, said, holder.exchange, study.holders.index(holder))
            total += masks.mask(secret, study=study.id, said=said, holder=holder.exchange, size=total.size)
        except ValueError as error:
            raise InputRefused("sites.forged", file=roster.file) from error
    if len(names) <= study.least:
        raise InputRefused("sites.too_few", least=study.least + 1)
    return total


def mask_of(study: Study, roster: str, holder: Member, total: masks.Words) -> tuple[dict[str, Any], bytes]:
    """Return the head of a holder's answer to a roster, and its numbers."""
    numbers = total.astype("<u8").tobytes()
    digest = hashlib.sha256(numbers).hexdigest()
    return {"study": study.id, "roster": roster, **holder.to_json(), "numbers": digest}, numbers


def unmask(study: Study, shares: Sequence[SiteFile], answers: Sequence[SiteFile]) -> list[Integers]:
    """Return the totals of masked shares, less the masks that every holder added up for these very shares.

    Raises
    ------
    InputRefused
        ``sites.foreign``, ``sites.stranger``, ``sites.doubled``, ``sites.other_masks`` (of other shares),
        ``sites.missing``.
    """
    roster = SiteFile(ROSTER, roster_of(study, shares)).id
    found: dict[str, SiteFile] = {}
    for one in answers:
        name = str(one.head.get("name", ""))
        if one.head.get("study") != study.id:
            raise InputRefused("sites.foreign", file=one.file, name=name[:MOST_LETTERS])
        holder = next((each for each in study.holders if each.name == name), None)
        if holder is None or holder.key != one.head["key"]:
            raise InputRefused("sites.stranger", file=one.file, name=name[:MOST_LETTERS])
        if name in found:
            raise InputRefused("sites.doubled", file=one.file, first=found[name].file, name=name)
        if one.head.get("roster") != roster or len(one.numbers) != 8 * sum(study.cells):
            raise InputRefused("sites.other_masks", file=one.file, name=name)
        found[name] = one
    missing = [one.name for one in study.holders if one.name not in found]
    if missing:
        raise InputRefused("sites.missing", names=", ".join(missing))
    sent = [np.frombuffer(one.numbers, dtype="<i8").astype(np.int64) for one in shares]
    told = [np.frombuffer(one.numbers, dtype="<u8").astype(np.uint64) for one in found.values()]
    return np.split(masks.unmasked(sent, told), np.cumsum(study.cells)[:-1])


def sums_of(study: Study, numbers: bytes) -> list[Integers]:
    """Return the sums that numbers hold."""
    return list(_sums_of(study.cells, numbers))


def _sums_of(cells: Sequence[int], numbers: bytes) -> tuple[Integers, ...]:
    told = np.frombuffer(numbers, dtype="<i8").astype(np.int64)
    return tuple(np.split(told, np.cumsum(cells)[:-1])) if cells else ()


def _told(made: Callable[[], Any], file: str) -> Any:
    """Return what is made of a head, or say in words which part of it is not as it should be."""
    try:
        return made()
    except strict_json.Wrong as error:
        raise error.refusal(file) from error
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise InputRefused("sites.no_file", file=file) from error


def _member(tree: Any, place: str) -> Member:
    tree = strict_json.members(tree, place, must=("name", "key"))
    name, key = strict_json.text(tree["name"], "name"), strict_json.text(tree["key"], "key")
    if not name.strip() or len(name) > MOST_LETTERS or not name.isprintable() or not ed25519.is_key(key):
        raise strict_json.Wrong("text", "name")
    return Member(name, key)


def _holder(tree: Any, place: str) -> Member:
    tree = strict_json.members(tree, place, must=("name", "key", "exchange"))
    exchange = strict_json.text(tree.pop("exchange"), "exchange")
    if not masks.is_public(exchange):
        raise strict_json.Wrong("text", "exchange")
    found = _member(tree, place)
    return Member(found.name, found.key, exchange)


def _holder_with_card(tree: Any, place: str) -> Member:
    tree = strict_json.members(tree, place, must=("name", "key", "exchange", "card"))
    signature = strict_json.text(tree.pop("card"), "card")
    return replace(_holder(tree, place), card=signature)


_PARTS = (
    *("title", "key", "coordinator", "roster", "method", "method_version", "parameters", "budget"),
    *("schemas", "sizes", "cells", "rounds", "series", "attempt", "rehearsal"),
    *("way", "least", "holders"),
)


_LATER = ("round", "heard", "numbers")


def _study(head: Mapping[str, Any], numbers: bytes) -> Study:
    tree = strict_json.members(head, "", must=_PARTS, may=_LATER)
    budget = strict_json.members(tree["budget"], "budget", must=("epsilon", "delta", "neighbours"))
    whole = lambda value, place: strict_json.whole(value, place, least=1)  # noqa: E731
    rounds, place = whole(tree["rounds"], "rounds"), whole(tree.get("round", 1), "round")
    heard = strict_json.items(tree.get("heard", []), "heard", whole)
    if not place <= rounds <= MOST_ROUNDS or bool(heard) != (place > 1) or len(numbers) != 8 * sum(heard):
        raise strict_json.Wrong("whole", "rounds")
    if not _SERIES.fullmatch(strict_json.text(tree["series"], "series")):
        raise strict_json.Wrong("text", "series")
    return Study(
        strict_json.text(tree["title"], "title"),
        _member({"name": tree["coordinator"], "key": tree["key"]}, "coordinator"),
        strict_json.items(tree["roster"], "roster", _member),
        strict_json.text(tree["method"], "method"),
        whole(tree["method_version"], "method_version"),
        strict_json.read_named(tree["parameters"], "parameters"),
        Budget(
            strict_json.number(budget["epsilon"], "budget.epsilon"),
            strict_json.number(budget["delta"], "budget.delta"),
            Neighbours(
                strict_json.word(budget["neighbours"], "budget.neighbours", [one.value for one in Neighbours])
            ),
        ),
        {
            name: Schema.from_json(one, file="study")
            for name, one in strict_json.read_named(tree["schemas"], "schemas").items()
        },
        strict_json.items(tree["sizes"], "sizes", whole),
        strict_json.items(tree["cells"], "cells", whole),
        tree["series"],
        whole(tree["attempt"], "attempt"),
        strict_json.truth(tree["rehearsal"], "rehearsal"),
        strict_json.word(tree["way"], "way", (OWN, ONE)),
        whole(tree["least"], "least"),
        strict_json.items(tree["holders"], "holders", _holder_with_card),
        rounds,
        place,
        _sums_of(heard, numbers),
    )
