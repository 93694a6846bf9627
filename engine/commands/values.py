"""What commands read from their options and write to files."""

from __future__ import annotations

import argparse
import getpass
import os
import sys
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine import bounded, strict_json
from engine.errors import InputRefused

if TYPE_CHECKING:
    from engine.release.plan import Plan


def read_schema(path: Path) -> Any:
    """Return the schema of a file, or refuse in words."""
    from engine.table.schema import Schema

    return Schema.loads(read_text(path, "schema.not_readable"), file=path.name)


def budget(epsilon: str | None, delta: str, neighbours: str) -> Any:
    from engine.methods.protocol import Budget
    from engine.privacy.promise import Neighbours

    if epsilon is None:
        return None
    return Budget(
        number_option(epsilon, "--epsilon"), number_option(delta, "--delta"), Neighbours(neighbours)
    )


def number_option(written: str, option: str) -> Fraction:
    """Return the number of an option exactly as it is written, or refuse in words."""
    from engine.numbers import exact

    try:
        return exact(written)
    except (ValueError, ZeroDivisionError) as error:
        raise InputRefused("commands.not_a_number", option=option) from error


def pair(written: str) -> tuple[str, str]:
    name, equals, value = written.partition("=")
    if not equals or not name:
        raise InputRefused("commands.not_a_pair")
    return name, value


def json_pair(written: str) -> tuple[str, Any]:
    """Return the name and the JSON value of NAME=JSON, or refuse in words."""
    name, value = pair(written)
    try:
        return name, strict_json.loads(value)
    except ValueError as error:
        raise InputRefused("commands.not_json", name=name) from error


def json_object(written: str, option: str) -> dict[str, Any]:
    """Return the object that an option holds, or refuse in words."""
    try:
        found = strict_json.loads(written)
    except ValueError as error:
        raise InputRefused("commands.not_json", name=option) from error
    if not isinstance(found, dict):
        raise InputRefused("commands.not_json", name=option)
    return found


def sizes(written: str) -> tuple[int, ...]:
    """Return whole numbers that are separated by commas, or refuse in words."""
    from engine.numbers import whole

    try:
        return tuple(whole(one) for one in written.split(","))
    except (ValueError, ZeroDivisionError) as error:
        raise InputRefused("commands.not_a_number", option="--sizes") from error


def json_file(path: Path) -> Any:
    text = read_text(path, "commands.not_readable")
    try:
        return strict_json.loads(text)
    except ValueError as error:
        raise InputRefused("commands.not_json", name=path.name) from error


def first_line(path: Path) -> str:
    """Return the first line of a file, for what must not stand on a command line."""
    return read_text(path, "commands.not_readable").split("\n", 1)[0].rstrip("\r")


def password_for(plan: Plan, base: Path, variable: str | None) -> str | None:
    """Return the password for the server that a plan names: from an environment variable, or asked for.

    Nobody is asked where no terminal is there; it stands nowhere afterwards.
    """
    from engine.table.server import Address

    files = [base / one.path for one in plan.files.values() if one.names_server]
    return password_of(Address.read(files[0]), variable) if files else None


def password_of(address: Any, variable: str | None) -> str | None:
    """Return the password for an address, see `password_for`."""
    if variable is not None:
        return os.environ.get(variable)
    if not sys.stdin.isatty():
        return None
    return getpass.getpass(f"{address.user}@{address.said}: ")


def content(path: Path) -> bytes:
    """Return the bytes of a small file, or refuse in words."""
    try:
        return bounded.read_bytes(path)
    except OSError as error:
        raise InputRefused("commands.not_readable", file=path.name) from error


def read_text(path: Path, code: str) -> str:
    """Return the text of a file, or refuse in words."""
    try:
        return bounded.read_text(path, encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputRefused(code, file=path.name) from error


def write_text(path: Path, written: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(written, encoding="utf-8")
    except OSError as error:
        raise InputRefused("commands.not_writable", file=path.name, reason=error.strerror or "") from error


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file, or refuse in words."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    except OSError as error:
        raise InputRefused("commands.not_writable", file=path.name, reason=error.strerror or "") from error


def relative(file: Path, folder: Path) -> str:
    try:
        return Path(os.path.relpath(file.resolve(), folder.resolve())).as_posix()
    except (ValueError, OSError, RuntimeError):  # another drive, or links that lead back to themselves
        return str(file.absolute())


def register_named(ledger: Any, name: str) -> Any:
    """Return a register by its name, or refuse in words."""
    from engine.ledger.holdings import called

    found = called(ledger.holdings(), name)
    if found is None:
        raise InputRefused("signing.no_register", register=name[:100])
    return found


def ledger_path(options: argparse.Namespace) -> Path | None:
    """Return the ledger that was named.

    Raises
    ------
    InputRefused
        ``ledger.cannot_open``: it is a folder as a whole, such as ``.``.
    """
    if options.ledger is None:
        return None
    path = Path(options.ledger)
    if not path.name:
        raise InputRefused("ledger.cannot_open", file=str(path), folder=str(path.absolute()))
    return path


SECRET_FILE = "CUSTOS_SEAL_PASSPHRASE_FILE"
"""In the environment: the first line of this file opens what is encrypted of a ledger."""


def open_people(options: argparse.Namespace) -> None:
    """Open what is encrypted of the ledger of a command, where the environment says with what."""
    place = os.environ.get(SECRET_FILE)
    if not place or not hasattr(options, "ledger"):
        return
    from engine.policy import default_path, sealing_place

    path = ledger_path(options) or default_path()
    try:
        is_locked = path.exists() and sealing_place(path).is_file()
    except OSError:  # who opens the ledger says so
        return
    if is_locked:
        from engine.release.sealing import open_ledger

        open_ledger(path, first_line(Path(place)), read_only=True)


def ledger_and_sealer(options: argparse.Namespace) -> tuple[Any, Any]:
    """Return the ledger, and what encrypts what stays; its passphrase opens an encrypted ledger too."""
    from engine.ledger import Ledger
    from engine.policy import default_path
    from engine.release import sealing

    path, seals = ledger_path(options) or default_path(), options.seal_passphrase_file
    if not seals:
        return Ledger(ledger_path(options)), None
    if not path.exists():
        raise InputRefused("sealing.not_set_up")
    return sealing.open_ledger(path, first_line(Path(seals)))


def existing_ledger(options: argparse.Namespace) -> Any:
    """Open the ledger for looking only; None where there is none yet."""
    from engine.ledger import Ledger, default_path, is_there

    path = ledger_path(options) or default_path()
    return Ledger(path, read_only=True) if is_there(path) else None
