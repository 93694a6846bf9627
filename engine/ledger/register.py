"""The ledger's file, its holdings, the tables attached to them, and its journal."""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from engine.errors import InputRefused, VerificationFailed
from engine.ledger import (
    cipher,
    entries,
    holdings,
    journal,
    locks,
    people_key,
    remembered,
    store,
    told,
    traces,
)
from engine.ledger import staff as persons
from engine.ledger.fields import check_currency, check_words, exact, hexadecimal, write_fraction
from engine.ledger.values import NEIGHBOURS, UNITS, Compose, Head, Holding
from engine.policy import default_path, keys_folder, policy, sealing_place

SIGNING_KEY, PSEUDONYM_KEY = "signing_key", "pseudonym_key"
"""The kind of an event that names the key of a holding."""

ANSWERED = "answered"
QUESTIONS = (
    *("basis", "roles", "countries", "security", "officer"),
    *("information", "place", "codings", "keyholder"),
)
"""What officers' papers ask of every register, and no plan says; answered once."""
TOLD_OUTSIDE = ("basis", "roles", "countries", "officer", "codings")
"""The answers that may stand in a paper that is handed over."""


@dataclass(frozen=True)
class KeyChange:
    """The keys of a holding while nobody else can change them."""

    _db: journal.Connection
    holding: str
    named: tuple[str, ...]
    """The fingerprints, the present one last."""

    def name(self, fingerprint: str, reason: str) -> None:
        """Journal which key signs from now on, and why."""
        why = check_words(reason, "reason", required=True)
        journal.note(self._db, SIGNING_KEY, holding=self.holding, fingerprint=fingerprint, reason=why)


class Register:
    """What of a ledger is not about single releases; see `engine.ledger.Ledger`."""

    def __init__(self, path: Path | None = None, *, read_only: bool = False, timeout: float = 10) -> None:
        self.path = Path(path) if path is not None else default_path()
        if not self.path.name:  # a folder as a whole: nothing lies beside it
            raise InputRefused("ledger.cannot_open", file=str(self.path), folder=str(self.path.absolute()))
        if path is None and not read_only and policy().registers is None:
            with suppress(OSError):  # an earlier version left the program's own folder open to others
                self.path.parent.chmod(0o700)
        self.read_only = read_only
        self._timeout = timeout
        self._copy: TemporaryDirectory[str] | None = None  # of an older ledger that may only be read
        self._make_or_find()
        if store.older(self.path, read_only=read_only, timeout=timeout):
            self._carry_over()
        with self._transaction():
            pass

    def _carry_over(self) -> None:
        """Bring a ledger of an older format into this one, or read a copy that was."""
        from engine.ledger import carried

        if self.read_only:
            self._copy = carried.copy_carried(self.path, timeout=self._timeout)
        else:
            carried.carry_over(self.path, timeout=self._timeout)

    def _make_or_find(self) -> None:
        try:
            cipher.finish(self.path)
            size = self.path.stat().st_size if self.path.exists() else None
        except OSError as error:
            raise InputRefused(
                "ledger.cannot_open", file=self.path.name, folder=str(self.path.parent)
            ) from error
        if size == 0:
            raise VerificationFailed("ledger.empty_file", file=self.path.name)
        if size is not None:
            return
        # SQLite leaves this file when a process is killed while writing; alone, it means that the ledger
        # itself was removed.
        if self.path.with_name(f"{self.path.name}-journal").exists():
            raise VerificationFailed("ledger.removed", file=self.path.name, folder=str(self.path.parent))
        keys = keys_folder(self.path)
        if _holds_any(keys):  # made with the first release, and never before the ledger
            folder = str(self.path.parent)
            raise VerificationFailed(
                "ledger.removed_keys", file=self.path.name, folder=folder, keys=keys.name
            )
        if self.read_only:
            raise InputRefused("ledger.missing", file=self.path.name, folder=str(self.path.parent))
        store.make(self.path)

    @contextmanager
    def _transaction(self, *, write: bool = False) -> Iterator[journal.Connection]:
        if write and self.read_only:
            raise InputRefused("ledger.read_only", file=self.path.name, folder=str(self.path.parent))
        path = self.path if self._copy is None else Path(self._copy.name) / self.path.name
        with store.transaction(path, write=write, read_only=self.read_only, timeout=self._timeout) as db:
            yield db
            ends = remembered.with_end(db) if write else None
        if ends is not None:
            remembered.keep(ends)

    # Holdings

    def create_holding(
        self,
        name: str,
        *,
        unit: str,
        neighbours: str,
        epsilon: Fraction | int | str | None = None,
        delta: Fraction | int | str = 0,
        money: Fraction | int | str | None = None,
        currency: str = "",
    ) -> Holding:
        """Name a register of people and the budget that all releases about them share.

        Parameters
        ----------
        name
            As the custodian calls it; no second holding may have it, whatever its capitals.
        unit
            ``"row"`` or ``"person"``.
        neighbours
            ``"add_remove"`` or ``"replace_one"``.
        epsilon, delta
            The budget, exact: ε > 0, 0 ≤ δ < 1. Never a float. Without ε no release that states a loss is
            entered until `change_budget` sets one.
        money, currency
            What can be afforded in compensation, > 0; kept, not enforced: the price of a total ε is
            computed elsewhere.

        Raises
        ------
        InputRefused
            ``ledger.name_taken``, ``ledger.bad_epsilon``, ``ledger.bad_delta``, ``ledger.bad_money``,
            ``ledger.bad_unit``, ``ledger.bad_neighbours``, ``ledger.no_name``.
        """
        row = {
            "name": check_words(name, "name", required=True),
            "unit": _one_of(unit, UNITS, "ledger.bad_unit"),
            "neighbours": _one_of(neighbours, NEIGHBOURS, "ledger.bad_neighbours"),
            "epsilon": None if epsilon is None else write_fraction(exact(epsilon, "ledger.bad_epsilon")),
            "delta": write_fraction(exact(delta, "ledger.bad_delta", zero=True, below_one=True)),
            "money": None if money is None else write_fraction(exact(money, "ledger.bad_money")),
            "currency": check_currency(currency),
            "created": journal.now(),
        }
        with self._transaction(write=True) as db:
            known = holdings.called(holdings.all_holdings(db), str(row["name"]))
            if known is not None:  # also one that only looks the same: it would pay in the other's place
                raise InputRefused("ledger.name_taken", holding=known.name)
            identity = f"h{secrets.token_hex(8)}"
            journal.change(db, "holding_made", "holding", identity, row)
            return holdings.find(db, identity)

    def change_budget(
        self,
        holding: str,
        reason: str,
        *,
        accountant: Callable[[Holding], Compose] | None = None,
        epsilon: Fraction | int | str | None = None,
        delta: Fraction | int | str | None = None,
        money: Fraction | int | str | None = None,
        currency: str | None = None,
        unit: str | None = None,
        neighbours: str | None = None,
    ) -> Holding:
        """Raise or lower the budget of a register; what it was, what it is and why is journalled.

        Parameters
        ----------
        holding
            Id or name.
        reason
            Why; an auditor reads it.
        accountant
            Holding → accountant, as `Ledger.status` takes it; it is asked at the new δ. Without it ε and δ of
            all releases are added up.
        epsilon, delta, money, currency
            The new values; None leaves a value as it is.
        unit, neighbours
            Only while no release with a stated loss counts.

        Returns
        -------
        Holding
            As it is now.

        Raises
        ------
        InputRefused
            ``ledger.no_reason``, ``ledger.below_spent``, ``ledger.kind_is_fixed``, and those of
            `create_holding`.
        """
        why = check_words(reason, "reason", required=True)
        changes: dict[str, str | None] = {
            "epsilon": None if epsilon is None else write_fraction(exact(epsilon, "ledger.bad_epsilon")),
            "delta": None
            if delta is None
            else write_fraction(exact(delta, "ledger.bad_delta", zero=True, below_one=True)),
            "money": None if money is None else write_fraction(exact(money, "ledger.bad_money")),
            "currency": None if currency is None else check_currency(currency),
            "unit": None if unit is None else _one_of(unit, UNITS, "ledger.bad_unit"),
            "neighbours": None
            if neighbours is None
            else _one_of(neighbours, NEIGHBOURS, "ledger.bad_neighbours"),
        }
        with self._transaction(write=True) as db:
            found = holdings.find(db, holding)
            stored = dict(db.execute("SELECT * FROM holding WHERE id = ?", (found.id,)).fetchone())
            new = {name: value for name, value in changes.items() if value not in (None, stored[name])}
            if not new:
                return found
            before = {name: stored[name] for name in new}
            journal.change(db, "budget_changed", "holding", found.id, new, reason=why, before=before)
            return holdings.refuse_unpaid(db, found.id, {"unit", "neighbours"} & new.keys(), accountant)

    def holdings(self) -> list[Holding]:
        """Return every holding in the order of its name."""
        with self._transaction() as db:
            return holdings.all_holdings(db)

    def holding(self, holding: str) -> Holding:
        """Return a holding by its id or its name; refuse with ``ledger.no_holding`` when there is none."""
        with self._transaction() as db:
            return holdings.find(db, holding)

    # Names and the journal

    def input_name(self, digest: str, *, entry: str = "") -> str:
        """Return the name under which an input may be mentioned outside.

        Parameters
        ----------
        digest
            SHA-256 of the input file, hexadecimal. Itself it would confirm a guess of the file.
        entry
            Id of the ledger entry that it is mentioned with. Named in two releases alike, an input would tell
            whether a single row had changed between them.

        Returns
        -------
        str
            HMAC-SHA-256 under the ledger's random key, hexadecimal: the same for the same file, entry and
            ledger, and telling nothing to anyone without the ledger.
        """
        text = hexadecimal(digest, "digest")
        return hmac.new(self._key(), f"input\0{text}\0{entry}".encode(), hashlib.sha256).hexdigest()

    def register_key(self, holding: str) -> bytes:
        """Return a secret of 32 bytes of one register, the same for all of its releases; it stays inside.

        Parameters
        ----------
        holding
            Id or name.
        """
        known = self.holding(holding).id
        return hmac.new(self._key(), f"register\0{known}".encode(), hashlib.sha256).digest()

    def sample_key(self) -> bytes:
        """Return a secret of 32 bytes that decides who is in a sample of people; it stays inside.

        The same for all releases: samples are parts of one another, and no further one tells of others.
        """
        return hmac.new(self._key(), b"sample", hashlib.sha256).digest()

    def keep_pseudonym_key(self, entry: str, key: bytes) -> None:
        """Journal by which key a release has pseudonyms: a digest that tells nothing without the ledger."""
        digest = self._pseudonym_digest(key)
        with self._transaction(write=True) as db:
            journal.note(db, PSEUDONYM_KEY, entry=entry, digest=digest)

    def pseudonym_releases(self, key: bytes | None = None) -> list[str]:
        """Return the ids of the entries with pseudonyms by this key; without one, by any that was kept."""
        digest = None if key is None else self._pseudonym_digest(key)
        kept = (event["details"] for event in self.journal() if event["kind"] == PSEUDONYM_KEY)
        return [str(one["entry"]) for one in kept if digest in (None, one["digest"])]

    def _pseudonym_digest(self, key: bytes) -> str:
        return hmac.new(self._key(), b"pseudonyms\0" + key, hashlib.sha256).hexdigest()

    def decide(
        self, decision: str, reason: str, *, holding: str | None = None, entry: str | None = None
    ) -> None:
        """Journal a decision or an override, with its reason; it changes nothing else."""
        what = check_words(decision, "decision", required=True)
        why = check_words(reason, "reason", required=True)
        with self._transaction(write=True) as db:
            owner = None if holding is None else holdings.find(db, holding).id
            journal.note(db, "decision", decision=what, reason=why, holding=owner, entry=entry)

    def answer(self, holding: str, answers: Mapping[str, str]) -> None:
        """Keep what was answered to some of `QUESTIONS` about a holding; an empty answer takes one away.

        Raises
        ------
        InputRefused
            ``ledger.unknown_question``, ``ledger.bad_text``.
        """
        for name in answers:
            if name not in QUESTIONS:
                raise InputRefused("ledger.unknown_question", given=name[:100], known=", ".join(QUESTIONS))
        said = {name: check_words(value, name) for name, value in answers.items()}
        with self._transaction(write=True) as db:
            owner = holdings.find(db, holding).id
            before = _answers(journal.events(db)).get(owner, {})
            changed = {name: value for name, value in said.items() if value != before.get(name, "")}
            if changed:
                journal.note(db, ANSWERED, holding=owner, answers=changed)

    def answers(self, holding: str) -> dict[str, str]:
        """Return what was answered last to each of `QUESTIONS` about a holding."""
        with self._transaction() as db:
            return _answers(journal.events(db)).get(holdings.find(db, holding).id, {})

    def name_key(self, holding: str, fingerprint: str, reason: str) -> None:
        """Journal which key signs the releases of a holding from now on, and why."""
        with self.change_keys(holding) as change:
            change.name(fingerprint, reason)

    @contextmanager
    def change_keys(self, holding: str) -> Iterator[KeyChange]:
        """Give the keys of a holding as they stand; nobody else changes them, or their files, until it ends.

        What is named enters with the end of the block, or not at all where it fails.
        """
        with self._transaction(write=True) as db:
            owner = holdings.find(db, holding).id
            yield KeyChange(db, owner, tuple(_keys(journal.events(db)).get(owner, ())))

    def keys(self) -> dict[str, list[str]]:
        """Return the fingerprints of the signing keys of each holding by its id, the present one last."""
        return _keys(self.journal())

    def was_signed(self, entry: str) -> bool:
        """Say whether a release left with a signature: one whose register had a key when it was closed."""
        signing, owner = set[str](), ""
        for event in self.journal():
            if event["kind"] == SIGNING_KEY:
                signing.add(event["details"]["holding"])
            elif event.get("table") == "entry" and event["row"] == entry:
                owner = event["changes"].get("holding", owner)
                if "release_sums" in event["changes"]:
                    return owner in signing
        return False

    # Who works with a register; what is refused, and why: `engine.ledger.staff`

    def staff(self) -> persons.Staff:
        """Return the persons and rules of every register."""
        with self._transaction() as db:
            return db.staff

    def name_person(self, holding: str, person: persons.Person, proof: str) -> None:
        """Name somebody who works with a register; ``proof`` is by their key, see `proof_message`.

        Raises
        ------
        InputRefused
            ``ledger.underway``: a release of a register without persons is being made, which nobody signs.
        """
        with self._transaction(write=True) as db:
            said = {
                "name": check_words(person.name, "name", required=True),
                "role": person.role,
                "key": person.key,
            }
            owner = holdings.find(db, holding).id
            if not db.staff.persons(owner):
                entries.refuse_underway(db, owner)
            journal.note(db, persons.NAMED, holding=owner, person=person.id, proof=proof, **said)

    def withdraw_person(self, holding: str, person: str, reason: str) -> None:
        """Let somebody act for a register no more; what they signed stays signed."""
        why = check_words(reason, "reason", required=True)
        with self._transaction(write=True) as db:
            owner = holdings.find(db, holding).id
            journal.note(db, persons.WITHDRAWN, holding=owner, person=person, reason=why)

    def set_rule(self, holding: str, rule: persons.Rule, reason: str) -> None:
        """Set beyond what a release of a register needs a second person."""
        why = check_words(reason, "reason", required=True)
        with self._transaction(write=True) as db:
            owner = holdings.find(db, holding).id
            journal.note(db, persons.RULED, holding=owner, rule=rule.to_json(), reason=why)

    def note_sheet(self, holding: str) -> None:
        """Journal that somebody of a register took a counter sheet, or compared the ledger with one."""
        with self._transaction(write=True) as db:
            journal.note(db, persons.SHEET, holding=holdings.find(db, holding).id)

    def refuse_without_locks(self) -> None:
        """Refuse a ledger on a drive that keeps no locks; see `engine.ledger.locks`."""
        with self._transaction(write=True):
            locks.refuse_without(self.path)

    def journal(self) -> list[dict[str, Any]]:
        """Return every event, oldest first."""
        with self._transaction() as db:
            return list(journal.events(db))

    def head(self) -> Head:
        """Return the last row of the journal, for the evidence of a bundle."""
        with self._transaction() as db:
            return journal.head(db)

    def chain(self) -> str:
        """Return the hash of the first row: random, and the same as long as the ledger lives."""
        with self._transaction() as db:
            return journal.chain(db)

    def lacks(self) -> remembered.Remembered | None:
        """Return what this computer remembers of the ledger where it has less; see `remembered.lacked`."""
        with self._transaction() as db:
            return remembered.lacked(db)

    def continues(self, sequence: int, head_hash: str) -> bool:
        """Say whether this ledger is the one, or a continuation of the one, whose `head` a bundle names."""
        with self._transaction() as db:
            row = db.execute("SELECT hash FROM journal WHERE sequence = ?", (sequence,)).fetchone()
        return row is not None and hmac.compare_digest(str(row["hash"]), head_hash)

    def verify_chain(self) -> Head:
        """Check everything that the ledger can tell about itself, and return its head.

        Raises
        ------
        VerificationFailed
            ``ledger.chain_broken`` with the first row that was altered, removed or reordered;
            ``ledger.holding_differs``, ``ledger.attached_differs``, ``ledger.entry_differs`` where a row is
            not what the journal says; ``ledger.key_differs``;
            ``ledger.people_differ`` where the people of a holding were changed; ``ledger.told_differs``
            where what a release told was; ``ledger.corrupted``.

        Notes
        -----
        The chain proves that the rows still follow from each other. It cannot prove that there were no
        later ones: a whole file replaced by an older copy of itself, or written anew by someone who
        computes every hash again, is consistent in itself. That shows only from outside: each bundle names
        the `head` it was made under, and `continues` says whether this ledger contains it.
        """
        with self._transaction() as db:  # the transaction itself follows the chain
            if [row[0] for row in db.execute("PRAGMA quick_check")] != ["ok"]:
                raise VerificationFailed("ledger.corrupted", file=self.path.name)
            traces.known_tables(db, self.path)
            told.check(db, self.path)
            return journal.head(db)

    def _key(self) -> bytes:
        with self._transaction() as db:
            return people_key.key_of(db, self.path, journal.key_hash(db))

    def lock_people(self, wrapping: bytes) -> None:
        """Lock the key by which people are known with a key of 32 bytes, which `open_people` wants then.

        In the files of older formats that lie beside the ledger it is locked too, and first.
        """
        from engine.ledger import carried

        for place in carried.earlier_files(self.path):
            with (
                store.say_failures(place),
                store.open_connection(place, read_only=False, timeout=self._timeout) as old,
            ):
                people_key.lock(old, place, wrapping)
        with self._transaction(write=True) as db:
            people_key.lock(db, self.path, wrapping)

    def encrypt(self, wrapping: bytes, key: bytes) -> None:
        """Lock the key by which people are known, and encrypt the whole file of the ledger (SQLCipher).

        The files of older formats that lie beside the ledger are encrypted too, and first.

        Parameters
        ----------
        wrapping
            A key of 32 bytes, as for `lock_people`.
        key
            Another one, for the file. Each process that reads the ledger has to be given it,
            see `engine.ledger.cipher.use_key`.

        Raises
        ------
        InputRefused
            ``sealing.not_set_up``: nothing beside the ledger holds the locks of the key.
            ``ledger.locked``: somebody else uses the ledger; ``ledger.underway``: a release is being made,
            whose process could not close it any more; ``ledger.disk_full`` and its like. The ledger stays as
            it was.
        """
        from engine.ledger import carried

        if self.read_only:
            raise InputRefused("ledger.read_only", file=self.path.name, folder=str(self.path.parent))
        if not sealing_place(self.path).is_file():  # no passphrase would ever open it again
            raise InputRefused("sealing.not_set_up")
        with self._transaction() as db:
            entries.refuse_underway(db)
        self.lock_people(wrapping)
        for place in (*carried.earlier_files(self.path), self.path):
            store.encrypt(place, key, timeout=self._timeout)
        cipher.mark_whole(self.path)

    def open_people(self, wrapping: bytes) -> None:
        """Let this process know people; nothing is needed where the key is not locked.

        Raises
        ------
        VerificationFailed
            ``ledger.key_differs``: it was locked with another key.
        """
        with self._transaction() as db:
            people_key.open_with(db, self.path, wrapping, journal.key_hash(db))


def _keys(events: Iterable[Mapping[str, Any]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for event in events:
        if event["kind"] == SIGNING_KEY:
            found.setdefault(event["details"]["holding"], []).append(event["details"]["fingerprint"])
    return found


def _answers(events: Iterable[dict[str, Any]]) -> dict[str, dict[str, str]]:
    """Return the last answers about each holding by its id."""
    found: dict[str, dict[str, str]] = {}
    for event in events:
        if event["kind"] == ANSWERED:
            details = event["details"]
            found.setdefault(details["holding"], {}).update(details["answers"])
    return {owner: {name: said for name, said in one.items() if said} for owner, one in found.items()}


def is_there(path: Path) -> bool:
    """Say whether there is a ledger, or was one that is gone: opening it then says what became of it.

    Also where this user may not look.

    Examples
    --------
    >>> is_there(Path("no-such-folder") / "ledger.sqlite")
    False
    """
    try:
        journals = path.with_name(f"{path.name}-journal").exists()
        return path.exists() or journals or _holds_any(keys_folder(path))
    except OSError:
        return True


def _holds_any(folder: Path) -> bool:
    """Say whether there is anything in a folder; of one that is closed to this user nobody can say no."""
    try:
        with os.scandir(folder) as found:
            return any(True for _ in found)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True


def _one_of(value: str, allowed: Sequence[str], code: str) -> str:
    if value not in allowed:
        raise InputRefused(code)
    return str(value)
