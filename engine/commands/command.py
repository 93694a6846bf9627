"""What a command is, and how it is added to the parser of ``python -m engine``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NoReturn

from engine import texts

REFUSED = 2
Answer = tuple[dict[str, Any], int]
Lines = Callable[[dict[str, Any], str], Iterable[str]]


class Parser(argparse.ArgumentParser):
    """An argument parser whose refusals are one line for people."""

    def error(self, message: str) -> NoReturn:
        sys.stderr.write(f"{message}\n{self.format_usage()}")
        sys.exit(REFUSED)


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
