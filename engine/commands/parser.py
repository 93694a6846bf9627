"""The parser of ``custos`` (in a checkout ``python -m engine``) with every command."""

from __future__ import annotations

import argparse
import sys

from engine import texts
from engine.commands import (
    analyse,
    completion,
    computer,
    connect,
    example,
    ledger,
    papers,
    people,
    plan,
    risk,
    study,
    table,
)
from engine.commands.command import Commands, Parser
from engine.policy import language_set
from engine.version import __version__

PROGRAM = "custos" if __package__ != "engine.commands" or hasattr(sys, "frozen") else "python -m engine"
"""How it is started: installed or built, or from a checkout."""


def make_parser(language: str = texts.FALLBACK) -> Parser:
    """Return the parser with every command, whose help is in a language."""
    Parser.language = language
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--json", action="store_true", help="json")
    spoken = texts.languages()
    common.add_argument("--language", default=argparse.SUPPRESS, choices=spoken, help="language")
    parser = Parser(prog=PROGRAM, description="commands.headings.program")
    parser.add_argument("--version", action="version", version=f"Custos {__version__}", help="version")
    parser.set_defaults(root=parser)
    parser.add_argument(
        "--language", default=language_set() or texts.FALLBACK, choices=spoken, help="language"
    )
    subparsers = parser.add_subparsers(
        title="commands.headings.commands", metavar="COMMAND", required=True, parser_class=Parser
    )
    every = (
        table,
        risk,
        plan,
        people,
        example,
        ledger,
        papers,
        study,
        connect,
        computer,
        analyse,
        completion,
    )
    for module in every:
        module.add_commands(Commands(subparsers, common))
    return parser
