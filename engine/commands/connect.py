"""The commands about servers that hold a table: which there are, and whether one tells cells apart."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from engine import texts
from engine.commands.command import Answer, Commands
from engine.commands.telling import heads, table_lines
from engine.commands.values import password_of, write_text


def add_commands(add: Commands) -> None:
    """Add ``connect kinds`` and ``connect selftest``."""
    words = "commands.connect"
    actions = add.subparsers.add_parser("connect", help=words, description=words).add_subparsers(
        title="commands.headings.actions", metavar="ACTION", required=True
    )
    kinds = actions.add_parser("kinds", parents=[add.common], help="commands.connect_kinds")
    kinds.set_defaults(command=kinds_command, lines=_kinds_lines)
    test = actions.add_parser("selftest", parents=[add.common], help="commands.connect_selftest")
    test.set_defaults(command=selftest_command, lines=_selftest_lines)
    test.add_argument("file", metavar="FILE.server")
    test.add_argument("--server-password-from", metavar="VARIABLE", help="server_password")
    test.add_argument("--out", metavar="FILE.json", help="selftest_out")


def kinds_command(options: argparse.Namespace) -> Answer:
    """Return the kinds of servers, whether what connects to each is installed, and whether it was tried."""
    from engine.table.dialects import DIALECTS
    from engine.table.server import has_connector

    found = [
        {
            "kind": one.kind,
            "name": one.name,
            "oldest": one.oldest,
            "installed": has_connector(one.kind),
            "tried": one.is_tried,
        }
        for one in DIALECTS.values()
    ]
    return {"kinds": found}, 0


def selftest_command(options: argparse.Namespace) -> Answer:
    """Ask a server about a table that stands in the queries; status 1 where an answer is another one.

    No table of the server is asked for, and nothing is written there.
    """
    from engine.table.self_test import try_server
    from engine.table.server import Address

    path = Path(options.file)
    password = password_of(Address.read(path), options.server_password_from)
    found = try_server(path, password, progress=options.progress)
    answer = found.to_json()
    if options.out:
        write_text(Path(options.out), json.dumps(answer, indent=2, ensure_ascii=False) + "\n")
    return answer, 0 if found.passed else 1


def _kinds_lines(answer: dict[str, Any], language: str) -> Iterator[str]:
    said = ("installed", "tried")
    rows = [
        (one["kind"], f"{one['name']} {one['oldest']}", *(_yes(one[name], language) for name in said))
        for one in answer["kinds"]
    ]
    yield from table_lines(heads("kind server installed tried", language), rows)


def _selftest_lines(answer: dict[str, Any], language: str) -> Iterator[str]:
    rows = [
        (texts.text(f"self_test.pitfalls.{name}", language=language), _yes(passed, language))
        for name, passed in answer["answers"].items()
    ]
    yield from table_lines(heads("pitfall alike", language), rows)
    yield texts.text(f"self_test.{'one_state' if answer['one_state'] else 'compared'}", language=language)
    done = "passed" if answer["passed"] else "failed"
    values = {"engine": answer["engine"], "queries": len(answer["asked"])}
    yield texts.text(f"self_test.{done}", language=language, **values)


def _yes(passed: bool | None, language: str) -> str:
    name = "none" if passed is None else "yes" if passed else "no"
    return texts.text(f"self_test.{name}", language=language)
