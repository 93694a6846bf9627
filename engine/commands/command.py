"""What a command is, and how it is added to the parser of ``custos`` (in a checkout ``python -m engine``)."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NoReturn

from engine import texts
from engine.commands.telling import meant
from engine.policy import language_set

REFUSED = 2
Answer = tuple[dict[str, Any], int]
Lines = Callable[[dict[str, Any], str], Iterable[str]]


def spoken_in(words: Sequence[str], option: str = "--language") -> str:
    """Return the language that a command line names, else that of the computer's rules, else English.

    Help is said before the line is read.

    Examples
    --------
    >>> spoken_in(["run", "--language", "fr"]), spoken_in(["--lang=de"], "--lang"), spoken_in(["run"])
    ('fr', 'de', 'en')
    >>> spoken_in([])
    'en'
    """
    named = [
        word.partition("=")[2] or after
        for word, after in pairwise([*words, ""])
        if word.partition("=")[0] == option
    ]
    return named[-1] if named and named[-1] in texts.languages() else language_set() or texts.FALLBACK


class Help(argparse.HelpFormatter):
    """Says help by ids of texts: of an option ``commands.options.ID``, of a command and a heading in full."""

    def _get_help_string(self, action: argparse.Action) -> str | None:
        return _say(action.help).replace("%", "%%") if action.help else action.help

    def add_text(self, text: str | None) -> None:
        """Add a description, which is named by its id."""
        super().add_text(_say(text) if text else text)

    def start_section(self, heading: str | None) -> None:
        """Begin a part of the help under a heading, which is named by its id."""
        super().start_section(_say(heading) if heading else heading)

    def add_usage(self, usage: Any, actions: Any, groups: Any, prefix: str | None = None) -> None:
        """Add how a command is written."""
        super().add_usage(
            usage, actions, groups, _say("commands.headings.usage") if prefix is None else prefix
        )


def _say(text_id: str) -> str:
    """Return the words of an id in the language of the command line; any other text as it is."""
    for one in (text_id, f"commands.options.{text_id}"):
        if texts.has(one):
            return texts.text(one, language=Parser.language)
    return text_id


REFUSALS = {
    "argument %(argument_name)s: %(message)s": (
        "argument",
        {"name": "%(argument_name)s", "message": "%(message)s"},
    ),
    "invalid choice: %(value)r (choose from %(choices)s)": (
        "choice",
        {"value": "%(value)s", "choices": "%(choices)s"},
    ),
    "invalid %(type)s value: %(value)r": ("number", {"value": "%(value)s"}),
    "the following arguments are required: %s": ("required", {"names": "%s"}),
    "one of the arguments %s is required": ("one_of", {"names": "%s"}),
    "not allowed with argument %s": ("not_with", {"name": "%s"}),
    "ignored explicit argument %r": ("takes_none", {"value": "%s"}),
    "ambiguous option: %(option)s could match %(matches)s": (
        "ambiguous",
        {"option": "%(option)s", "matches": "%(matches)s"},
    ),
    "expected one argument": ("expected_one", {}),
    "expected at most one argument": ("expected_one_at_most", {}),
    "expected at least one argument": ("expected_one_at_least", {}),
}
"""What argparse says of a command line: the id of our words for it, and the places of its values in them."""


def _translate(message: str) -> str:
    """Return a sentence of argparse, with its places, in the language of the command line."""
    if message not in REFUSALS:
        return message
    name, places = REFUSALS[message]
    return texts.text(f"commands.refusals.{name}", language=Parser.language, **places)


vars(argparse)["_"] = _translate  # where argparse looks for translations: gettext would want a compiled file


class Parser(argparse.ArgumentParser):
    """An argument parser whose refusals are one line for people, and whose help is said by `Help`."""

    language = texts.FALLBACK
    """Of the help of all parsers: a command line is read in one."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**{"formatter_class": Help, **settings})
        self._positionals.title = "commands.headings.positional"
        self._optionals.title = "commands.headings.optional"
        for action in self._actions:
            if isinstance(action, argparse._HelpAction):
                action.help = "help"

    def error(self, message: str) -> NoReturn:
        sys.stderr.write(f"{message}\n{self.format_usage()}")
        sys.exit(REFUSED)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Ask what was meant by a misspelt command or choice, beside the list of those that there are."""
        try:
            super()._check_value(action, value)
        except argparse.ArgumentError as error:
            known = list(action.choices or ())
            quoted = ", ".join(map(repr, known))  # as Python quotes, whatever language is spoken
            error.message = error.message.replace(quoted, ", ".join(map(str, known)))
            error.message += _ask(str(value), known)
            raise

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Read the command line; a misspelt option asks what was meant."""
        found, rest = self.parse_known_args(args, namespace)
        if rest:
            asked = next(
                (_ask(one.split("=")[0], _options_below(self)) for one in rest if one[0:1] == "-"), ""
            )
            unknown = texts.text("commands.refusals.unknown", language=self.language, names=" ".join(rest))
            self.error(f"{unknown}{asked}")
        return found


def _ask(given: str, known: list[str]) -> str:
    question = meant({"given": given, "known": known}, language=Parser.language)
    return f". {question}" if question else ""


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
        words = f"commands.{name.replace('-', '_')}"
        parser: argparse.ArgumentParser = self.subparsers.add_parser(
            name, parents=[self.common], help=words, description=words
        )
        parser.set_defaults(command=function, lines=lines)
        return parser
