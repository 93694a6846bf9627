"""Encrypting what stays: whether it is set up, the first passphrase, another one. Computes nothing itself."""

from __future__ import annotations

from pathlib import Path

from engine.policy import default_path, policy, sealing_place


def seals_known(ledger_path: Path | None = None) -> bool:
    """Say whether encryption of what stays was set up for a ledger."""
    place = ledger_path if ledger_path is not None else default_path()
    return place.exists() and sealing_place(place).is_file()


def ledger_state(ledger_path: Path | None = None) -> str:
    """Return what can be done with the file of a ledger: ``encrypt`` it, ``open`` it, or nothing.

    ``open`` also where by what it knows people is encrypted alone, as earlier versions did.
    """
    if not seals_known(ledger_path):
        return ""
    from engine.ledger import cipher, people_key

    place = ledger_path if ledger_path is not None else default_path()
    if cipher.is_closed(place) or people_key.is_closed(place):
        return "open"
    return "" if cipher.is_encrypted(place) else "encrypt"


def use_ledger(secret: str, *, ledger_path: Path | None = None) -> str:
    """Open an encrypted ledger, or encrypt one that lies open; say which."""
    from engine.release import sealing

    what, place = ledger_state(ledger_path), ledger_path if ledger_path is not None else default_path()
    ledger, sealer = sealing.open_ledger(place, secret)
    if what == "encrypt":
        sealer.encrypt(ledger)
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
    from engine.release import sealing

    ledger, _ = sealing.open_ledger(ledger_path if ledger_path is not None else default_path(), secret)
    sealing.change(ledger, secret, passphrase)
    return ""
