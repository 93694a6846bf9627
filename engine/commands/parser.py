"""The parser of ``python -m engine`` with every command."""

from __future__ import annotations

import argparse

from engine import texts
from engine.commands import analyse, example, ledger, plan, risk, table
from engine.commands.command import Commands, Parser
from engine.version import __version__


def make_parser() -> Parser:
    """Return the parser with every command."""
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--json", action="store_true", help="JSON on standard output")
    common.add_argument("--language", default="en", choices=texts.languages(), help="language of messages")
    parser = Parser(prog="python -m engine", description="Custos, the engine.")
    parser.add_argument("--version", action="version", version=f"Custos {__version__}")
    subparsers = parser.add_subparsers(
        title="commands", metavar="COMMAND", required=True, parser_class=Parser
    )
    for module in (table, risk, plan, example, ledger, analyse):
        module.add_commands(Commands(subparsers, common))
    return parser
