"""A command line that cannot be read is refused in the language that it asks for."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.__main__ import main
from engine.commands.command import REFUSALS
from tests.engine.languages import trial

WORD = re.compile(r"(?<![\w.'/{,-])[A-Za-z]{2,}(?![\w.'/,}-])")
BY_DEVELOPERS = re.compile(
    r"usage: |%\(prog\)s|show this help|^(positional arguments|options|subcommands)$|conflict"
    r"|cannot have multiple"
    r"|not defined|invalid (argument|option string)|dest= is|must be optional|not callable|cannot merge"
    r"|with mode|can't open|unknown parser|unexpected option|unrecognized|'required'"
)
"""What argparse says of a parser, not of a command line, or what `Parser` and `Help` say in its place."""


@pytest.fixture(scope="module")
def spoken(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with trial.spoken(tmp_path_factory.mktemp("texts")) as code:
        yield code


@pytest.mark.parametrize(
    "arguments",
    [
        *("qqq", "plan qqq x", "plan chekc x", "run", "run x --out", "run x --out y --legder z"),
        *(
            "run x --out y --l z",
            "run --json=3",
            "study new --least x",
            "risk x --schema y --missing own_vale",
        ),
    ],
)
def test_nothing_english_is_in_a_refused_command_line(
    capsys: pytest.CaptureFixture[str], spoken: str, arguments: str
) -> None:
    with pytest.raises(SystemExit) as left:
        main([*arguments.split(), "--language", spoken])
    assert left.value.code == 2
    said = capsys.readouterr().err.splitlines()[0]
    named = re.findall(r"[\w-]+(?=\))", said)  # the last of the choices
    own = {*arguments.split(), "check", "own_value", *named, *re.findall(r"[A-Z]{3,}", said)}
    assert not {word for word in WORD.findall(said) if word not in own}, said
    assert re.search(r"[\u0430-\u044f]", said)


def test_all_that_argparse_says_of_a_command_line_is_translated() -> None:
    source = Path(argparse.__file__).read_text(encoding="utf-8")
    said = [first or second for first, second in re.findall(r"\b_\(\s*(?:'([^']+)'|\"([^\"]+)\")", source)]
    assert len(said) > 20
    left = {one for one in said if not BY_DEVELOPERS.search(one)}
    assert left <= REFUSALS.keys(), left - REFUSALS.keys()


@pytest.mark.parametrize("command", ["", "run", "study", "people"])
def test_every_colon_of_french_help_stands_apart(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([*command.split(), "--help", "--language", "fr"])
    said = capsys.readouterr().out
    assert ":" in said and not re.findall(r"[^\s\u00a0]+:(?=\s|$)", said, re.MULTILINE)
