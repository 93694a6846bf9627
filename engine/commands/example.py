"""The command that writes and runs the worked examples of a method."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from engine import texts
from engine.commands.command import Answer, Commands


def add_commands(add: Commands) -> None:
    """Add ``example``."""
    parser = add("example", example_command, _lines)
    parser.add_argument("method", metavar="METHOD")
    parser.add_argument("--out", required=True, metavar="FOLDER")


def example_command(options: argparse.Namespace) -> Answer:
    """Run the examples of a method over tables that come with the program."""
    from engine.methods.catalogue import method
    from engine.release.examples import run_examples

    ran = run_examples(
        method(options.method), out=Path(options.out), language=options.language, progress=options.progress
    )
    return {"bundles": [str(one.bundle.folder) for one in ran]}, 0


def _lines(answer: dict[str, Any], language: str) -> Iterator[str]:
    for folder in answer["bundles"]:
        yield texts.text("commands.run_done", language=language, folder=folder)
