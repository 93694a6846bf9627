"""Encrypting what stays: whether it is set up, the first passphrase, another one. Computes nothing itself."""

from __future__ import annotations

from pathlib import Path

from engine.policy import default_path, policy, sealing_place


def seals_known(ledger_path: Path | None = None) -> bool:
    """Say whether encryption of what stays was set up for a ledger."""
    place = ledger_path if ledger_path is not None else default_path()
    return place.exists() and sealing_place(place).is_file()


def people_known(ledger_path: Path | None = None) -> str:
    """Return what can be done with the key by which a ledger knows people: ``lock``, ``open``, or nothing."""
    if not seals_known(ledger_path):
        return ""
    from engine.ledger import people_key

    place = ledger_path if ledger_path is not None else default_path()
    return "open" if people_key.is_closed(place) else "" if people_key.locked_at(place) else "lock"


def use_people(secret: str, *, ledger_path: Path | None = None) -> str:
    """Open the key by which a ledger knows people, or lock it where it lies open; say which."""
    from engine.ledger import Ledger
    from engine.release import sealing

    what, ledger = people_known(ledger_path), Ledger(ledger_path)
    sealer = sealing.opened(ledger, secret)
    if what == "lock":
        ledger.lock_people(sealer.people)
    return what


def seals_wanted() -> bool:
    """Say whether the administrator wants what stays to be encrypted."""
    return policy().sealed


def set_up_seals(passphrase: str, code: Path, *, ledger_path: Path | None = None) -> str:
    """Set up encryption before any release, and return the name of the file with the recovery code."""
    from engine.ledger import Ledger
    from engine.release import sealing

    sealing.set_up(Ledger(ledger_path), passphrase, lambda found: sealing.write_code(code, found))
    return code.name


def change_seals(secret: str, passphrase: str, *, ledger_path: Path | None = None) -> str:
    """Take another passphrase; ``secret`` is the earlier one or the recovery code."""
    from engine.ledger import Ledger
    from engine.release import sealing

    sealing.change(Ledger(ledger_path), secret, passphrase)
    return ""
