"""The persons of a register: signing in, naming, withdrawing, rule, requests, approvals, sheets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from app.work.releasing import beside_its_table, listing
from engine.bounded import SUMS, read_text
from engine.errors import InputRefused
from engine.ledger import Holding, Ledger, staff
from engine.progress import SILENT, Progress
from engine.release.plan import Plan

Said = Mapping[str, Any]


def work_on_people(holding: str, what: str, said: Said, *, ledger_path: Path | None = None) -> dict[str, Any]:
    """Do something about the persons of a register, and return the listing; ``what`` is one of `WORK`."""
    from engine.release import seconded

    ledger = Ledger(ledger_path)
    register = ledger.holding(holding)
    second = None
    if said.get("second"):
        person = seconded.find_person(ledger, register, said["second"])
        second = seconded.opened(ledger, register, person, said.get("second_passphrase", ""))
    with staff.countersigned(ledger.path, second):
        WORK[what](ledger, register, said)
    return listing(ledger_path)


def _sign_in(ledger: Ledger, register: Holding, said: Said) -> None:
    from engine.release import seconded

    person = seconded.find_person(ledger, register, said["person"])
    staff.sign_in(ledger.path, seconded.opened(ledger, register, person, said["passphrase"]))


def _sign_out(ledger: Ledger, register: Holding, said: Said) -> None:
    staff.sign_out(ledger.path, register.id)


def _name(ledger: Ledger, register: Holding, said: Said) -> None:
    from engine.release import seconded

    named = {part: said[part] for part in ("name", "role")}
    seconded.name_person(ledger, register, **named, passphrase=said["new"])


def _withdraw(ledger: Ledger, register: Holding, said: Said) -> None:
    from engine.release import seconded

    gone = seconded.find_person(ledger, register, said["gone"])
    ledger.withdraw_person(register.id, gone.id, said["reason"])


def _set_rule(ledger: Ledger, register: Holding, said: Said) -> None:
    from engine.release.seconded import threshold

    amounts = {name: threshold(said[name]) if said[name].strip() else None for name in ("epsilon", "money")}
    ledger.set_rule(register.id, staff.Rule(**amounts, unbounded=said["unbounded"]), said["reason"])


WORK: dict[str, Callable[[Ledger, Holding, Said], None]] = {
    "sign_in": _sign_in,
    "sign_out": _sign_out,
    "name": _name,
    "withdraw": _withdraw,
    "rule": _set_rule,
}

# --- Files that are carried -----------------------------------------------------------------------------


def prepare_release(
    plan: Plan,
    file: Path,
    *,
    ledger_path: Path | None = None,
    signing: str = "",
    known: tuple[Path, ...] = (),
    password: str | None = None,
    progress: Progress = SILENT,
) -> Path:
    """Reserve a release for a second person, write the request and return its place."""
    from engine.release.run import prepare

    moved, base = beside_its_table(plan)
    opens = signing or None
    ledger = Ledger(ledger_path)
    prepare(
        moved,
        ledger=ledger,
        base=base,
        known=known,
        progress=progress,
        signing_passphrase=opens,
        password=password,
        write=partial(_write, file),
    )
    return file


def show_request(
    file: Path, *, ledger_path: Path | None = None, language: str = "en"
) -> tuple[bytes, dict[str, Any]]:
    """Return a request, and what it asks for."""
    from engine.release import seconded

    content = seconded.read_carried(file)
    asked = seconded.read_request(content, file=file.name)
    return content, asked.told(Ledger(ledger_path, read_only=True), language=language)


def approve_request(file: Path, content: bytes, *, ledger_path: Path | None = None) -> Path:
    """Approve the request that was shown, with the key of whoever is signed in; return where that is."""
    from engine.release import seconded

    asked = seconded.read_request(content, file=file.name)
    there = staff.present(Ledger(ledger_path, read_only=True).path).get(str(asked.tree["holding"]), ())
    if not there:
        raise InputRefused("staff.nobody_acts")
    return _write(file.with_name(f"{file.stem}-approved.json"), seconded.approve(content, there[0]))


def write_sheet(file: Path, *, ledger_path: Path | None = None, language: str = "en") -> Path:
    """Write the counter sheet of the ledger and return its place."""
    from engine.release import counter_sheet

    ledger = Ledger(ledger_path, read_only=True)
    return _write(file, counter_sheet.write(ledger, language=language).encode())


def compare_sheet(file: Path, *, ledger_path: Path | None = None) -> Any:
    """Return what the ledger is beside a counter sheet."""
    from engine.release import counter_sheet

    try:
        written = read_text(file, SUMS)
    except (OSError, ValueError) as error:
        raise InputRefused("staff.sheet_damaged", file=file.name) from error
    sheet = counter_sheet.read(written, file=file.name)
    return counter_sheet.compare(Ledger(ledger_path, read_only=True), sheet)


def _write(file: Path, content: bytes) -> Path:
    try:
        file.write_bytes(content)
    except OSError as error:
        reason = error.strerror or ""
        raise InputRefused("commands.not_writable", file=file.name, reason=reason) from error
    return file
