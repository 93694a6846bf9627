"""The commands for those who look after this computer."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from engine import texts
from engine.commands.command import Answer, Commands
from engine.commands.telling import heads, table_lines
from engine.commands.values import ledger_path, write_bytes


def add_commands(add: Commands) -> None:
    """Add ``check``, ``policy``, ``support``, ``update`` and ``manual``."""
    manual = add(
        "manual",
        manual_command,
        lambda answer, language: [
            texts.text("commands.manual_written", language=language, file=answer["file"])
        ],
    )
    manual.add_argument("--out", required=True, metavar="FILE.pdf")
    add("policy", policy_command, _policy_lines)
    support = add("support", support_command, _support_lines)
    support.add_argument("--out", required=True, metavar="FILE.json")
    support.add_argument("--ledger", metavar="FILE")
    update = add("update", update_command, _update_lines)
    update.add_argument("file", metavar="FILE.update.json", help="update_file")
    update.add_argument("--into", metavar="FOLDER", help="update_into")
    update.add_argument("--key", metavar="HEX", default="", help="update_key")
    check = add("check", check_command, _check_lines)
    check.add_argument("--ledger", metavar="FILE")
    check.add_argument("--pdf", metavar="FILE", help="check_pdf")


def manual_command(options: argparse.Namespace) -> Answer:
    """Write the program's help as a PDF: its pages, each way of releasing, promises and words."""
    from engine.manual import write_manual

    now = datetime.now().astimezone().isoformat(timespec="seconds")
    content = write_manual(made_at=now, language=options.language)
    write_bytes(Path(options.out), content)
    return {"file": options.out, "bytes": len(content)}, 0


def policy_command(options: argparse.Namespace) -> Answer:
    """Return what the administrator has set; refuses a policy that cannot be understood."""
    from engine.policy import place, policy

    return {"file": str(place()), "set": policy().named()}, 0


def _policy_lines(answer: dict[str, Any], language: str) -> Iterator[str]:
    yield texts.text(f"policy.{'set' if answer['set'] else 'none'}", language=language)
    for name, value in answer["set"].items():
        yield "  " + texts.text(f"policy.names.{name}", language=language, value=value)


def support_command(options: argparse.Namespace) -> Answer:
    """Write a file for whoever helps: checks, versions, rules and the log; never a cell or a name."""
    from engine.computer.support import support

    content = support(ledger=ledger_path(options), progress=options.progress)
    write_bytes(Path(options.out), content)
    return {"file": options.out, "bytes": len(content)}, 0


def _support_lines(answer: dict[str, Any], language: str) -> Iterator[str]:
    yield texts.text("commands.support_written", language=language, file=answer["file"])


def update_command(options: argparse.Namespace) -> Answer:
    """Check a newer version that came on a stick, and lay it beside this one where asked."""
    from engine.computer.update import lay_beside, read_update

    found = read_update(Path(options.file), key=options.key)
    place = str(lay_beside(found, Path(options.into))) if options.into else ""
    return {"number": found.number, "packages": sorted(found.files), "folder": place}, 0


def _update_lines(answer: dict[str, Any], language: str) -> Iterator[str]:
    yield texts.text("commands.update_genuine", language=language, number=answer["number"])
    yield from (f"  {name}" for name in answer["packages"])
    if answer["folder"]:
        yield texts.text("commands.update_unpacked", language=language, folder=answer["folder"])


def check_command(options: argparse.Namespace) -> Answer:
    """Check program and computer; status 1 when anything is wrong."""
    from engine.computer.checks import check_computer
    from engine.computer.page import page

    report = check_computer(ledger=ledger_path(options), progress=options.progress)
    if options.pdf is not None:
        write_bytes(Path(options.pdf), page(report, language=options.language))
    answer = report.to_json()
    for line, one in zip(answer["checks"], report.checks, strict=True):
        line["what"] = texts.text(one.text_id, language=options.language, **one.values)
    return answer, 0 if report.passed else 1


def _check_lines(answer: dict[str, Any], language: str) -> Iterator[str]:
    rows = [
        (
            texts.text(f"computer.names.{one['id']}", language=language),
            texts.text(f"computer.states.{one['state']}", language=language),
            one["what"],
        )
        for one in answer["checks"]
    ]
    yield from table_lines(heads("check result found", language), rows)
    yield texts.text(f"computer.{'passed' if answer['passed'] else 'failed'}", language=language)
