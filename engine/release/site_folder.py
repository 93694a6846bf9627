"""The folder of a study on one computer: which files lie there, who they are from, and which comes next.

Nothing is kept beside the files themselves but whose fingerprints were compared: that lies with the keys of
the ledger and holds for every study.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from engine import bounded, strict_json
from engine.errors import EngineError, InputRefused
from engine.ledger import Ledger
from engine.methods.shared import site_files
from engine.methods.shared.site_files import CARD, MASK, ONE, OWN, ROSTER, SHARE, STUDY, Member, Study
from engine.policy import keys_folder
from engine.release import signing
from engine.release.studies import content_of

COORDINATOR, SITE, HOLDER = "coordinator", "site", "holder"
PARTS = (COORDINATOR, SITE, HOLDER)
ENDING = ".custos"
RELEASED = "release"
"""The folder of a bundle that leaves: its bundle is made once it is there."""


@dataclass(frozen=True)
class Sent:
    """A card and who signed it."""

    path: Path
    member: Member


@dataclass(frozen=True)
class Files:
    """What lies in a folder.

    Parameters
    ----------
    folder
        Where.
    cards
        Of whoever introduced themselves.
    study, study_file
        The last attempt at the study, in its last round, and its file; None where there is none yet.
    shares, masks
        Of this round, by the name of who sent it.
    roster
        What the holders are asked about; None where there is none yet.
    refused
        What is wrong with other files, in words.
    """

    folder: Path
    cards: tuple[Sent, ...] = ()
    study: Study | None = None
    study_file: Path | None = None
    shares: Mapping[str, Path] = field(default_factory=dict)
    masks: Mapping[str, Path] = field(default_factory=dict)
    roster: Path | None = None
    refused: tuple[EngineError, ...] = ()

    @property
    def content(self) -> bytes:
        """The file of the study."""
        assert self.study_file is not None
        return content_of(self.study_file)

    def bundle(self, part: str, name: str) -> Path:
        """Return where the bundle of a part lies once it is made."""
        assert self.study is not None
        return self.folder / plain_name(part, self.study.short, "" if part == COORDINATOR else name)

    def is_made(self, part: str, name: str) -> bool:
        """Say whether the bundle of a part is there."""
        return self.study is not None and (self.bundle(part, name) / RELEASED).is_dir()


@dataclass(frozen=True)
class Next:
    """What comes next: an id, what it waits for, and the file that is to be sent, to whom.

    Parameters
    ----------
    id
        ``few``, ``cards``, ``study``, ``shares``, ``roster``, ``masks``, ``round``, ``result``, ``done``;
        for a site and a holder ``card``, ``wait_study``, ``stranger``, ``compare``, ``share``,
        ``wait_roster``, ``mask``, ``sent``.
    send
        The file that goes to the others now, where there is one.
    names
        Who is waited for, or has not been compared yet.
    """

    id: str
    send: Path | None = None
    names: tuple[str, ...] = ()


def plain_name(*parts: str) -> str:
    """Return parts as a name of a file or folder that every system takes.

    Examples
    --------
    >>> plain_name("card", "St. Mary / North", "MZUH")
    'card-St-Mary-North-MZUH'
    """
    return "-".join(re.sub(r"[^\w]+", "-", one).strip("-")[:60] for one in parts if one)


# --- what lies there ---------------------------------------------------------------------------------------


def read_sent(content: bytes, file: str) -> tuple[str, Member, site_files.SiteFile]:
    """Return what a file is, who signed it, and what it says, once it is known to be genuine.

    Raises
    ------
    InputRefused
        As `site_files.read`.
    """
    kind = site_files.kind_of(content, file)
    one = site_files.read(content, kind, file)
    if kind == CARD:
        return kind, site_files.read_card(content, file), one
    name = one.head.get("coordinator" if kind == STUDY else "name", "")
    return kind, Member(str(name)[: site_files.MOST_LETTERS], str(one.head["key"])), one


def look(folder: Path) -> Files:
    """Return what lies in a folder; a file that is not what was signed is named and counts for nothing."""
    cards, studies, others, refused = list[Sent](), [], [], list[EngineError]()
    for path in sorted(folder.glob(f"*{ENDING}")) if folder.is_dir() else ():
        try:
            content = content_of(path)
            kind, member, one = read_sent(content, path.name)
            if kind == STUDY:
                studies.append((path, site_files.read_study(content, path.name)))
            elif kind == CARD:
                cards.append(Sent(path, member))
            else:
                others.append((path, kind, member, one))
        except EngineError as error:
            refused.append(error)
    if not studies:
        return Files(folder, tuple(cards), refused=tuple(refused))
    place, study = max(studies, key=lambda found: (found[1].attempt, found[1].round))
    shares: dict[str, Path] = {}
    masks: dict[str, Path] = {}
    roster = None
    for path, kind, member, one in others:
        if one.head.get("study") != study.id:
            continue
        try:
            _refuse_stranger(study, kind, member, path.name)
        except EngineError as error:
            refused.append(error)
            continue
        if kind == ROSTER:
            roster = path
        else:
            (shares if kind == SHARE else masks)[member.name] = path
    return Files(folder, tuple(cards), study, place, shares, masks, roster, tuple(refused))


def _refuse_stranger(study: Study, kind: str, member: Member, file: str) -> None:
    """Refuse a file that is not signed with the key that the study has for whoever it names."""
    known = {SHARE: study.roster, MASK: study.holders, ROSTER: (study.coordinator,)}[kind]
    named = (study.coordinator,) if kind == ROSTER else [one for one in known if one.name == member.name]
    if not named or named[0].key != member.key:
        raise InputRefused("sites.stranger", file=file, name=member.name or study.coordinator.name)


def take(folder: Path, path: Path) -> Path:
    """Copy a file that came into the folder of its study, under a name that says what it is.

    Raises
    ------
    InputRefused
        As `read_sent`; ``sites.no_study`` (a file of a study that is not here), ``sites.other_study`` (the
        folder is of another one), ``sites.foreign``, ``sites.old``, ``sites.stranger``, ``sites.doubled``.
    """
    content = content_of(path)
    kind, member, one = read_sent(content, path.name)
    now = look(folder)
    if kind == CARD:
        name = plain_name(kind, member.name, member.fingerprint[:4])
    elif kind == STUDY:
        study = site_files.read_study(content, path.name)
        if now.study is not None and now.study.series != study.series:
            raise InputRefused("sites.other_study", file=path.name, title=now.study.called)
        name = plain_name(kind, study.short)
    else:
        name = plain_name(kind, _own_study(now, kind, member, one, path.name), member.name)
    return put(folder, name, content, path.name)


def _own_study(now: Files, kind: str, member: Member, one: site_files.SiteFile, file: str) -> str:
    """Return the short name of the study that a file belongs to, or refuse it."""
    if now.study is None:
        raise InputRefused("sites.no_study", file=file)
    if one.head.get("study") != now.study.id:
        if kind == SHARE:
            site_files.refuse_foreign(now.study, one.head, file, member.name)
        is_attempt = one.head.get("series") == now.study.series
        raise InputRefused("sites.old" if is_attempt else "sites.foreign", file=file, name=member.name)
    _refuse_stranger(now.study, kind, member, file)
    return now.study.short


def put(folder: Path, name: str, content: bytes, file: str = "") -> Path:
    """Write a file of a study into its folder; the same is left as it is, another of the name refused.

    Raises
    ------
    InputRefused
        ``sites.doubled``, ``commands.not_writable``.
    """
    place = folder / f"{name}{ENDING}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not place.exists():
            place.write_bytes(content)
    except OSError as error:
        raise InputRefused("commands.not_writable", file=place.name, reason=error.strerror or "") from error
    if content_of(place) != content:
        raise InputRefused("sites.doubled", file=file or place.name, first=place.name, name=name)
    return place


def fingerprint_of_card(content: bytes) -> str:
    """Return the fingerprint of whoever introduces themselves."""
    return site_files.read_card(content, CARD).fingerprint


def short_of(content: bytes) -> str:
    """Return the letters by which people tell a study apart."""
    return site_files.read_study(content).short


# --- whose fingerprints were compared ----------------------------------------------------------------------


def _compared_file(ledger: Ledger) -> Path:
    return keys_folder(ledger.path) / "compared.json"


def compared(ledger: Ledger) -> dict[str, str]:
    """Return the keys whose fingerprints were compared over another way, each with the name it had then.

    Raises
    ------
    InputRefused
        ``sites.compared_damaged``.
    """
    place = _compared_file(ledger)
    try:
        found = strict_json.loads(bounded.read_bytes(place)) if place.exists() else {}
        return {strict_json.text(key, "key"): strict_json.text(name, "name") for key, name in found.items()}
    except (OSError, ValueError, AttributeError) as error:
        raise InputRefused("sites.compared_damaged", file=place.name, folder=str(place.parent)) from error


def note_compared(ledger: Ledger, key: str, name: str, is_so: bool) -> None:
    """Keep that the fingerprint of somebody's key was compared, or that it was not after all."""
    known = {other: told for other, told in compared(ledger).items() if other != key}
    if is_so:
        known[key] = name
    signing.write_key(_compared_file(ledger), json.dumps(known, indent=2).encode(), replaces=True)


def to_compare(study: Study, part: str, own: str, known: Collection[str]) -> tuple[Member, ...]:
    """Return whose fingerprints have still to be compared before somebody takes part.

    Notes
    -----
    Whoever adds noise of their own trusts nobody with it, and has to know who asks. Where all add shares of
    one noise, as many sites as that counts on must be real, and the holders: a coordinator who invents them
    would see a share alone. A site is one of them itself.
    """
    asks = [study.coordinator]
    if study.way == OWN:
        return tuple(one for one in asks if one.key not in (own, *known))
    asks += [one for one in study.holders if one.key != own]
    missing = [one for one in asks if one.key not in known]
    others = [one for one in study.roster if one.key != own]
    wanted = study.least + 1 - (part == SITE)
    lacking = wanted - sum(one.key in known for one in others)
    if lacking > 0:
        missing += [one for one in others if one.key not in known]
    return tuple(missing)


def refuse_uncompared(study: Study, part: str, own: str, known: Collection[str]) -> None:
    """Refuse to take part before enough fingerprints were compared.

    Raises
    ------
    InputRefused
        ``sites.compare``.
    """
    missing = to_compare(study, part, own, known)
    if missing:
        raise InputRefused("sites.compare", names=", ".join(one.name for one in missing))


# --- what comes next ---------------------------------------------------------------------------------------


def next_of(
    part: str, files: Files, own: str, known: Collection[str] = (), without: Sequence[str] = ()
) -> Next:
    """Return what comes next for a coordinator, a site or a holder.

    Parameters
    ----------
    part
        One of `PARTS`.
    files
        What lies in the folder.
    own
        The public key of whoever asks; empty while they have none.
    known
        Keys whose fingerprints were compared.
    without
        Names of sites that the coordinator leaves out.
    """
    if part == COORDINATOR:
        return _next_of_coordinator(files, known, without)
    card = next((one.path for one in files.cards if one.member.key == own), None)
    if files.study is None:
        return Next("card") if card is None else Next("wait_study", card)
    study = files.study
    member = next((one for one in (study.roster if part == SITE else study.holders) if one.key == own), None)
    if member is None:
        return Next("stranger")
    if part == SITE:
        if member.name in files.shares:
            return Next("sent", files.shares[member.name])
    elif member.name in files.masks:
        return Next("sent", files.masks[member.name])
    elif files.roster is None:
        return Next("wait_roster")
    missing = to_compare(study, part, own, known)
    if missing:
        return Next("compare", names=tuple(one.name for one in missing))
    return Next("share" if part == SITE else "mask")


def _next_of_coordinator(files: Files, known: Collection[str], without: Sequence[str]) -> Next:
    study = files.study
    if study is None:
        missing = tuple(one.member.name for one in files.cards if one.member.key not in known)
        if missing:
            return Next("cards", names=missing)
        return Next("few" if len(files.cards) < site_files.LEAST_SITES else "study")
    if files.is_made(COORDINATOR, ""):
        return Next("done")
    missing = tuple(one.name for one in study.roster if one.name not in {*files.shares, *without})
    if missing:
        return Next("shares", files.study_file, missing)
    if study.way == ONE:
        lacking = tuple(one.name for one in study.holders if one.name not in files.masks)
        if files.roster is None:
            return Next("roster")
        if lacking:
            return Next("masks", files.roster, lacking)
    return Next("result" if study.is_last else "round")
