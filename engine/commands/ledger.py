"""The commands that look at what was released."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

from engine import texts
from engine.commands.command import Answer, Commands
from engine.commands.telling import heads, table_lines
from engine.commands.values import first_line


def add_commands(add: Commands) -> None:
    """Add ``verify``, ``ledger`` and ``reidentify``."""
    verify = add("verify", verify_command, _verify_lines)
    verify.add_argument("folder")
    verify.add_argument("--ledger", metavar="FILE")
    ledger = add("ledger", ledger_command, _ledger_lines)
    ledger.add_argument("--ledger", metavar="FILE")
    behind = add("reidentify", reidentify_command, lambda answer, language: [answer["person"]])
    behind.add_argument("folder", help="the bundle, with its internal folder")
    behind.add_argument("--table", required=True, metavar="FILE", help="the table it was released from")
    behind.add_argument("--pseudonym", required=True)
    behind.add_argument("--reason", required=True, help="why it has to be known; enters the ledger")
    behind.add_argument("--passphrase-file", metavar="FILE", help="its first line opens the key")
    behind.add_argument("--ledger", metavar="FILE")


def verify_command(options: argparse.Namespace) -> Answer:
    """Check a bundle; status 1 when anything is wrong."""
    from engine.ledger import Ledger
    from engine.release.verify import verify

    path = ledger_path(options)
    ledger = None if path is None else Ledger(path, read_only=True)
    found = verify(Path(options.folder), ledger=ledger)
    problems = [
        {"file": problem.values.get("file", ""), "code": problem.code}
        | dict(zip(("what", "do"), texts.explain(problem, language=options.language), strict=True))
        for problem in found.problems
    ]
    answer = {
        "passed": found.passed,
        "chain_checked": found.chain_checked,
        "compared": found.compared,
        "unchecked": list(found.unchecked),
        "signed": list(found.signed),
        "fingerprint": found.fingerprint,
        "problems": problems,
    }
    return answer, 0 if found.passed else 1


def ledger_command(options: argparse.Namespace) -> Answer:
    """Return every register of people, what was given from it, and what is left."""
    from engine.ledger import Ledger
    from engine.release.charge import composer

    ledger = Ledger(ledger_path(options), read_only=True)
    head = ledger.verify_chain()
    by_holding = {one.id: composer(one) for one in ledger.holdings()}
    return ledger.to_json(by_holding) | {"head": {"sequence": head.sequence, "hash": head.hash}}, 0


def reidentify_command(options: argparse.Namespace) -> Answer:
    """Return the number of the person behind a pseudonym; that it was asked stays in the ledger."""
    from engine.ledger import Ledger
    from engine.release.pseudonyms import reidentified

    person = reidentified(
        Path(options.folder),
        table=Path(options.table),
        pseudonym=options.pseudonym,
        reason=options.reason,
        ledger=Ledger(ledger_path(options)),
        passphrase=first_line(Path(options.passphrase_file)) if options.passphrase_file else None,
    )
    return {"person": person}, 0


def _verify_lines(answer: dict[str, Any], language: str) -> Iterator[str]:
    for problem in answer["problems"]:
        yield f"{problem['what']} {problem['do']}"
    if answer["passed"]:
        name = "verify_passed" if answer["chain_checked"] else "verify_agrees"
        yield texts.text(f"commands.{name}", language=language)
    if answer["unchecked"]:
        files = ", ".join(answer["unchecked"])
        yield texts.text("commands.verify_not_compared", language=language, files=files)
    if answer["signed"]:
        yield texts.text("commands.verify_signed", language=language, files=", ".join(answer["signed"]))
    if not answer["chain_checked"]:
        found = answer["fingerprint"]
        yield texts.text("commands.verify_without_ledger", language=language, fingerprint=found)


def _ledger_lines(answer: dict[str, Any], language: str) -> Iterator[str]:
    """Say of each register what there was, is spent and left; and what was given from it."""
    registers = [
        (one["name"], *(_level(one[name]) for name in ("budget", "spent", "left")))
        for one in answer["holdings"]
    ]
    yield from table_lines(heads("holding budget spent left", language), registers)
    given = [
        (one["reserved_at"][:10], entry["name"], one["id"], one["state"], _level(one["spent"]), one["title"])
        for entry in answer["holdings"]
        for one in entry["releases"]
    ]
    if given:
        yield ""
        yield from table_lines(heads("released holding entry state epsilon title", language), given)


def _level(loss: dict[str, str] | None) -> str:
    """Write a privacy level of the ledger; a dash where there is none."""
    return "–" if not loss or loss.get("epsilon") is None else texts.number(Fraction(loss["epsilon"]))


def ledger_path(options: argparse.Namespace) -> Path | None:
    return None if options.ledger is None else Path(options.ledger)


def existing_ledger(options: argparse.Namespace) -> Any:
    """Open the ledger for looking only; None where there is none yet."""
    from engine.ledger import Ledger, default_path

    path = ledger_path(options) or default_path()
    return Ledger(path, read_only=True) if path.exists() else None
