"""What a command is, and how it is added to the parser of ``custos`` (in a checkout ``python -m engine``)."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NoReturn

from engine import texts
from engine.commands.telling import meant

REFUSED = 2
Answer = tuple[dict[str, Any], int]
Lines = Callable[[dict[str, Any], str], Iterable[str]]


class Parser(argparse.ArgumentParser):
    """An argument parser whose refusals are one line for people."""

    def error(self, message: str) -> NoReturn:
        sys.stderr.write(f"{message}\n{self.format_usage()}")
        sys.exit(REFUSED)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Ask what was meant by a misspelt command or choice, beside the list of those that there are."""
        try:
            super()._check_value(action, value)
        except argparse.ArgumentError as error:
            error.message += _ask(str(value), list(action.choices or ()))
            raise

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Read the command line; a misspelt option asks what was meant."""
        found, rest = self.parse_known_args(args, namespace)
        if rest:
            asked = next(
                (_ask(one.split("=")[0], _options_below(self)) for one in rest if one[0:1] == "-"), ""
            )
            self.error(f"unrecognized arguments: {' '.join(rest)}{asked}")
        return found


def _ask(given: str, known: list[str]) -> str:
    question = meant({"given": given, "known": known})
    return f" {question}" if question else ""


def _options_below(parser: argparse.ArgumentParser) -> list[str]:
    found = [word for action in parser._actions for word in action.option_strings]
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            found += [word for further in action.choices.values() for word in _options_below(further)]
    return found


@dataclass(frozen=True)
class Commands:
    """Adds commands to the parser: ``add(name, function, lines)``.

    ``function`` returns a JSON answer and an exit status, ``lines`` the same answer in sentences.
    """

    subparsers: Any
    common: argparse.ArgumentParser

    def __call__(
        self, name: str, function: Callable[[argparse.Namespace], Answer], lines: Lines | None = None
    ) -> argparse.ArgumentParser:
        words = texts.text(f"commands.{name.replace('-', '_')}")
        parser: argparse.ArgumentParser = self.subparsers.add_parser(
            name, parents=[self.common], help=words, description=words
        )
        parser.set_defaults(command=function, lines=lines)
        return parser
