"""What the administrator of this computer has set for everybody on it. A policy only ever forbids.

One TOML file that only an administrator can write. Without it nothing changes. One that cannot be read, or
that asks for what this version does not know, stops every release: no limit is ignored.
"""

from __future__ import annotations

import os
import sys
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields
from fractions import Fraction
from importlib.resources import files
from pathlib import Path
from typing import Any

from engine.bounded import SUMS, read_text
from engine.errors import InputRefused
from engine.numbers import exact

_samples = ContextVar("samples", default=False)


def default_path() -> Path:
    """Return where the ledger lies unless one is named: in the user's folder, or where all have to."""
    from platformdirs import user_data_dir

    folder = policy().registers or Path(user_data_dir("custos", appauthor=False))
    return folder / "ledger.sqlite"


def keys_folder(ledger: Path) -> Path:
    """Return where the keys of the registers of a ledger lie, and what belongs to them."""
    return ledger.with_name(f"{ledger.name}-keys")


def sealing_place(ledger: Path) -> Path:
    """Return where the locks lie of the key that encrypts what stays of the releases of a ledger."""
    return keys_folder(ledger) / "sealing.json"


@dataclass(frozen=True)
class Policy:
    """What is set; a field with its default value is not.

    Parameters
    ----------
    registers
        Folder in which every ledger has to lie; that of whoever names none lies there too.
    largest_epsilon
        That one release may spend, as its register counts it.
    largest_delta
        Likewise; 0 lets only pure differential privacy leave.
    bounded_loss
        Whether only releases leave whose loss is bounded.
    locked_keys
        Whether signing keys and keys of pseudonyms have to be locked with a passphrase.
    sealed
        Whether what stays of a release has to be encrypted.
    reasons
        Whether decisions that want a reason have to have one on the command line and in programs too.
    second_epsilon, second_money
        That all releases of a register may spend and cost together without a second person.
    second_unbounded
        Whether each release whose loss is not bounded needs a second person.
    language
        Code of the language that the window speaks, and the command line where it names none.
    contact
        Whom to ask; shown.
    """

    registers: Path | None = None
    largest_epsilon: Fraction | None = None
    largest_delta: Fraction | None = None
    bounded_loss: bool = False
    locked_keys: bool = False
    sealed: bool = False
    reasons: bool = False
    second_epsilon: Fraction | None = None
    second_money: Fraction | None = None
    second_unbounded: bool = False
    language: str = ""
    contact: str = ""

    def named(self) -> dict[str, str]:
        """Return what is set, by its name, as text."""
        found = {}
        for one in fields(self):
            value = getattr(self, one.name)
            if value is not None and value is not False and value != "":
                found[one.name] = "yes" if value is True else str(value)
        return found


def place() -> Path:
    """Return where the policy of this computer lies; no setting of a user leads elsewhere."""
    if sys.platform == "win32":
        return Path(_program_data()) / "Custos" / "custos.toml"
    if sys.platform == "darwin":
        return Path("/Library/Application Support/Custos/custos.toml")
    return Path("/etc/custos/custos.toml")


def _program_data() -> str:
    """Return the folder of all users from the registry, where an administrator alone writes.

    It stands there as ``%SystemDrive%\\ProgramData``, and a variable of that name is the user's to change: so
    what it means is looked up there, too.
    """
    if sys.platform != "win32":
        return ""
    import winreg

    windows = r"SOFTWARE\Microsoft\Windows NT\CurrentVersion"
    found = []
    for key, name in ((windows, "SystemRoot"), (rf"{windows}\ProfileList", "ProgramData")):
        with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, key) as opened:
            found.append(str(winreg.QueryValueEx(opened, name)[0]))
    root, folder = found
    for variable, meaning in (("%SystemDrive%", root[:2]), ("%SystemRoot%", root)):
        if folder.casefold().startswith(variable.casefold()):
            folder = meaning + folder[len(variable) :]
    if "%" in folder:
        raise InputRefused("policy.not_readable", file=folder)
    return folder


@contextmanager
def without_rules() -> Iterator[None]:
    """Set nothing within a block: for tables that come with the program, and ledgers of their own."""
    before = _samples.set(True)
    try:
        yield
    finally:
        _samples.reset(before)


def policy() -> Policy:
    """Return what is set on this computer.

    Raises
    ------
    InputRefused
        ``policy.not_readable``, ``policy.unknown``, ``policy.wrong``.
    """
    if _samples.get():
        return Policy()
    path = place()
    try:
        written = read_text(path, SUMS)
    except (OSError, ValueError) as error:
        if isinstance(error, FileNotFoundError) and _is_absent(path):
            return Policy()
        raise InputRefused("policy.not_readable", file=str(path)) from error
    try:
        tree = tomllib.loads(written, parse_float=str)
    except (ValueError, RecursionError) as error:
        raise InputRefused("policy.not_readable", file=str(path)) from error
    return _read(tree, str(path))


def language_set() -> str:
    """Return the language that is set for everybody; empty where none is or can be understood."""
    try:
        return policy().language
    except InputRefused:  # said before each release
        return ""


def _is_absent(path: Path) -> bool:
    """Say whether nothing has this name: a link to nowhere, of the file or a folder above, is something."""
    try:
        os.lstat(path)
    except FileNotFoundError:
        return path.parent.is_dir() or _is_absent(path.parent)
    except OSError:
        return False
    return False


def _read(tree: Mapping[str, Any], file: str) -> Policy:
    known = {one.name for one in fields(Policy)}
    found: dict[str, Any] = {}
    for name, value in tree.items():
        if name not in known:
            raise InputRefused("policy.unknown", file=file, name=name[:100], known=", ".join(sorted(known)))
        try:
            found[name] = _value(name, value)
        except (ValueError, ZeroDivisionError) as error:
            raise InputRefused("policy.wrong", file=file, name=name) from error
    return Policy(**found)


def _value(name: str, value: Any) -> Any:
    if name in ("second_epsilon", "second_money"):
        if isinstance(value, bool) or not isinstance(value, int | str) or (amount := exact(str(value))) < 0:
            raise ValueError("no amount")
        return amount
    if name in ("largest_epsilon", "largest_delta"):
        if isinstance(value, bool) or not isinstance(value, int | str):
            raise ValueError("no level")
        level = exact(str(value))
        if not (level > 0 if name == "largest_epsilon" else 0 <= level < 1):
            raise ValueError("no level")
        return level
    if name == "language":
        if not isinstance(value, str) or value not in _languages():
            raise ValueError("no language")
        return value
    if name in ("registers", "contact"):
        if (
            not isinstance(value, str)
            or not value.strip()
            or (name == "registers" and ("\0" in value or not Path(value).is_absolute()))
        ):
            raise ValueError("no text")
        return Path(value) if name == "registers" else " ".join(value.split())
    if not isinstance(value, bool):
        raise ValueError("neither true nor false")
    return value


def _languages() -> set[str]:
    """Return the codes of the languages in which everything is said; of others a survey alone is."""
    return {one.name for one in (files("resources") / "texts").iterdir() if (one / "errors").is_dir()}


def refuse_level(epsilon: Fraction | None, delta: Fraction | None = None) -> None:
    """Refuse a release that would spend more than one may, or whose loss is not bounded where it has to be.

    Parameters
    ----------
    epsilon, delta
        What the release spends; None where its loss is not bounded.

    Raises
    ------
    InputRefused
        ``policy.epsilon``, ``policy.delta``, ``policy.bounded``, and what `policy` says.
    """
    found = policy()
    if epsilon is None:
        if found.bounded_loss:
            raise InputRefused("policy.bounded", file=str(place()), contact=_contact(found))
        return
    for name, asked, most in (
        ("epsilon", epsilon, found.largest_epsilon),
        ("delta", delta or Fraction(0), found.largest_delta),
    ):
        if most is not None and asked > most:
            named = {name: asked, "largest": most, "contact": _contact(found)}
            raise InputRefused(f"policy.{name}", file=str(place()), **named)


def refuse_place(ledger: Path) -> None:
    """Refuse a ledger outside the folder in which all have to lie.

    Raises
    ------
    InputRefused
        ``policy.registers``.
    """
    found = policy()
    if found.registers is None:
        return
    if not Path(os.path.realpath(ledger)).is_relative_to(os.path.realpath(found.registers)):
        raise InputRefused(
            "policy.registers", file=str(place()), folder=str(found.registers), contact=_contact(found)
        )


def refuse_open_key(*, is_locked: bool) -> None:
    """Refuse a release with a key that no passphrase locks, where keys have to be locked.

    Raises
    ------
    InputRefused
        ``policy.locked_keys``.
    """
    found = policy()
    if found.locked_keys and not is_locked:
        raise InputRefused("policy.locked_keys", file=str(place()), contact=_contact(found))


def refuse_unsealed(*, seals: bool) -> None:
    """Refuse a release of which what stays is not going to be encrypted, where it has to be.

    Raises
    ------
    InputRefused
        ``policy.sealed``.
    """
    found = policy()
    if found.sealed and not seals:
        raise InputRefused("policy.sealed", file=str(place()), contact=_contact(found))


def _contact(found: Policy) -> str:
    return found.contact or "–"
