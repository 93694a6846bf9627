"""The commands about methods and tables."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from engine import texts
from engine.commands.command import Answer, Commands
from engine.commands.values import write_text


def add_commands(add: Commands) -> None:
    """Add ``methods`` and ``inspect``."""
    add("methods", methods_command).add_argument("id", nargs="?", help="one method")
    inspect = add("inspect", inspect_command)
    inspect.add_argument("file")
    inspect.add_argument("--out", metavar="SCHEMA.json", help="write the suggested schema")


def methods_command(options: argparse.Namespace) -> Answer:
    """Return the catalogue, or one declaration."""
    from engine.methods.catalogue import method, methods
    from engine.methods.declaration import declaration

    if options.id:
        return declaration(method(options.id), language=options.language), 0
    listed = [
        {
            "id": one.id,
            "version": one.version,
            "family": one.family.value,
            "promises": list(one.promises),
            "title": texts.text(f"methods.{one.id}.title", language=options.language),
        }
        for one in methods()
    ]
    return {"methods": listed}, 0


def inspect_command(options: argparse.Namespace) -> Answer:
    """Return kinds, suggested roles and problems of a file; write the suggested schema where asked."""
    from engine.table.inspection import inspect_table, suggested_schema
    from engine.table.reading.readers import read_table

    table = read_table(Path(options.file))
    if options.out:
        schema = suggested_schema(table).to_json()
        write_text(Path(options.out), json.dumps(schema, indent=2, ensure_ascii=False) + "\n")
    return inspect_table(table, language=options.language), 0
