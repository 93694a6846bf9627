"""The counter sheet: where a ledger ends, on paper outside it, so that rewriting and rollback show.

Its first lines are for `compare`, in one form for every language, and short enough to type them from a print.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

from engine import texts
from engine.errors import InputRefused
from engine.ledger import Ledger, journal
from engine.release.seconded import fingerprint
from engine.release.signature import in_groups

FIRST_LINE = "custos counter sheet 1"
CONTINUES, ROLLED_BACK, REWRITTEN, OTHER = "continues", "rolled_back", "rewritten", "other"
_LINES = ("date", "ledger", "row", "hash")
_DIGITS = re.compile(r"[0-9a-f]{64}")
_MOST_LINES = 20


@dataclass(frozen=True)
class Sheet:
    """Where a ledger ended: the hash of its first row, number and hash of its last one, and when that was."""

    date: str
    ledger: str
    row: int
    hash: str


@dataclass(frozen=True)
class Compared:
    """What a ledger is beside a sheet, and how many rows came after it."""

    state: str
    sheet: Sheet
    last: int

    @property
    def passed(self) -> bool:
        """Whether the ledger is the one of the sheet, or goes on from it."""
        return self.state == CONTINUES


def write(ledger: Ledger, *, language: str = "en") -> str:
    """Return the sheet of a ledger as it is now: a text to print, to sign by hand and to keep elsewhere."""
    head = ledger.verify_chain()
    lines = [
        FIRST_LINE,
        f"date: {journal.now()}",
        f"ledger: {in_groups(ledger.chain())}",
        f"row: {head.sequence}",
        f"hash: {in_groups(head.hash)}",
        "",
        texts.text("signing.counter.use", language=language),
        "",
    ]
    staff = ledger.staff()
    for one in ledger.holdings():
        count = sum(entry.counts for entry in ledger.entries(one.id))
        name = " ".join(one.name.split())
        lines.append(texts.text("signing.counter.register", language=language, register=name, count=count))
        for person in staff.persons(one.id):
            said = {"name": " ".join(person.name.split()), "fingerprint": in_groups(fingerprint(person))}
            role = texts.text(f"signing.roles.{person.role}", language=language)
            sentence = f"signing.counter.{'person' if person.is_active else 'withdrawn'}"
            lines.append("  " + texts.text(sentence, language=language, role=role, **said))
    lines += ["", texts.text("signing.counter.signature", language=language), ""]
    return "\n".join(lines)


def read(text: str, *, file: str = "sheet") -> Sheet:
    """Read the first lines of a sheet, as printed or as typed.

    Raises
    ------
    InputRefused
        ``staff.sheet_damaged``.
    """
    lines = [line.strip() for line in text.lstrip("\ufeff").splitlines()[:_MOST_LINES] if line.strip()]
    found = dict(line.partition(":")[::2] for line in lines[1 : 1 + len(_LINES)])
    values = {name.strip().casefold(): value.strip() for name, value in found.items()}
    try:
        if lines[0].casefold() != FIRST_LINE or set(values) != set(_LINES):
            raise ValueError("no sheet of this form")
        ledger, hash_ = (re.sub(r"\s+", "", values[name]).lower() for name in ("ledger", "hash"))
        date = datetime.fromisoformat(values["date"])
        if not _DIGITS.fullmatch(ledger) or not _DIGITS.fullmatch(hash_) or not values["row"].isdecimal():
            raise ValueError("no sheet of this form")
        row = int(values["row"][:18])
    except (ValueError, IndexError) as error:
        raise InputRefused("staff.sheet_damaged", file=file) from error
    return Sheet(date.isoformat(timespec="seconds"), ledger, row, hash_)


def compare(ledger: Ledger, sheet: Sheet) -> Compared:
    """Say what a ledger is beside a sheet.

    Raises
    ------
    VerificationFailed
        The ledger is not what it says of itself.
    """
    head = ledger.verify_chain()
    if ledger.chain() != sheet.ledger:
        state = OTHER
    elif head.sequence < sheet.row:
        state = ROLLED_BACK
    else:
        state = CONTINUES if ledger.continues(sheet.row, sheet.hash) else REWRITTEN
    return Compared(state, sheet, head.sequence)
