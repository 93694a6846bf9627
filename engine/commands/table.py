"""The commands about methods and tables."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from engine import texts
from engine.commands.command import Answer, Commands
from engine.commands.telling import heads, table_lines
from engine.commands.values import pair, write_text
from engine.errors import InputRefused
from engine.table.schema import Schema


def add_commands(add: Commands) -> None:
    """Add ``methods``, ``inspect`` and ``gather``."""
    add("methods", methods_command, _methods_lines).add_argument("id", nargs="?", help="one_method")
    inspect = add("inspect", inspect_command, _inspect_lines)
    inspect.add_argument("file")
    inspect.add_argument("--out", metavar="SCHEMA.json", help="suggested_schema")
    inspect.add_argument("--code-book", metavar="FILE", help="code_book")
    for name, form in (("meaning", "TEXT"), ("unit", "TEXT"), ("labels", "CODE=LABEL; …")):
        inspect.add_argument(f"--{name}", metavar=f"COLUMN={form}", action="append", default=[], help=name)
    gathered = add("gather", gather_command, _gather_lines)
    gathered.add_argument("folder")
    gathered.add_argument("--out", metavar="REPORTS.csv", help="gathered")


def methods_command(options: argparse.Namespace) -> Answer:
    """Return the catalogue, or one declaration."""
    from engine.methods.listing import listed

    if options.id:
        from engine.methods.catalogue import method
        from engine.methods.declaration import declaration

        return declaration(method(options.id), language=options.language), 0
    found = [
        {
            "id": one.id,
            "version": one.version,
            "family": one.family,
            "promises": list(one.promises),
            "title": texts.text(f"methods.{one.id}.title", language=options.language),
        }
        for one in listed()
    ]
    return {"methods": found}, 0


def inspect_command(options: argparse.Namespace) -> Answer:
    """Return kinds, suggested roles and problems of a file; write the suggested schema where asked."""
    from engine.table.inspection import inspect_table, suggested_schema
    from engine.table.reading.readers import read_table

    table = read_table(Path(options.file), progress=options.progress)
    if options.out:
        schema = _described(suggested_schema(table), options).to_json()
        write_text(Path(options.out), json.dumps(schema, indent=2, ensure_ascii=False) + "\n")
    return inspect_table(table, language=options.language), 0


def _described(schema: Schema, options: argparse.Namespace) -> Schema:
    """Return a schema with what a code book, and then the options, say that columns mean."""
    from engine.table.code_book import read_code_book, read_labels, with_code_book

    if options.code_book:
        schema, _ = with_code_book(schema, read_code_book(Path(options.code_book)))
    tree = schema.to_json()
    lines = {line["name"]: line for line in tree["columns"]}
    for name in ("meaning", "unit", "labels"):
        for column, text in map(pair, getattr(options, name)):
            if column not in lines:
                known = ", ".join(lines)
                raise InputRefused("commands.not_of_table", option=f"--{name}", column=column, known=known)
            if name == "labels" and not read_labels(text):
                raise InputRefused("commands.no_labels", column=column)
            lines[column][name] = read_labels(text) if name == "labels" else text
    return Schema.from_json(tree)


def gather_command(options: argparse.Namespace) -> Answer:
    """Write a folder of small files, one report each, as one table."""
    from engine.table.reading.gathering import gather

    folder = Path(options.folder)
    if not folder.is_dir():
        raise InputRefused("reading.not_there", file=folder.name)
    found = gather(folder, Path(options.out) if options.out else None)
    said = {"files": found.files, "lines": found.lines, "odd": found.odd}
    return {"file": str(found.path)} | said, 0


def _gather_lines(answer: dict[str, Any], language: str) -> Iterator[str]:
    yield texts.text("commands.gathered", language=language, **answer)


def _say_promises(kinds: Sequence[str], language: str) -> str:
    """Name promises as people do: without what a name adds after its colon."""
    names = (texts.text(f"promises.{one}.name", language=language) for one in kinds)
    return "; ".join(name.partition(":")[0].strip() for name in names) or "–"


def _methods_lines(answer: dict[str, Any], language: str) -> Iterator[str]:
    if "methods" in answer:
        rows = [
            (one["id"], one["title"], _say_promises(one["promises"], language)) for one in answer["methods"]
        ]
        yield from table_lines(heads("id title promises", language), rows)
        return
    yield f"{answer['id']}: {answer['title']}. {answer['summary']}"
    for one in answer["parameters"]:
        yield f"  {one['name']} ({one['kind']}): {one['label']}. {one['help']}"
        yield from (f"    {name}: {words}" for name, words in one.get("choices", {}).items())


def _inspect_lines(answer: dict[str, Any], language: str) -> Iterator[str]:
    rows = [
        (
            one["name"],
            texts.text(f"report.kinds_of_column.{one['kind']}", language=language),
            texts.text(f"report.roles.{one['role']}", language=language),
            one["reason"],
        )
        for one in answer["columns"]
    ]
    yield from table_lines(heads("name kind role reason", language), rows)
    yield from (f"{one['what']} {one['do']}" for one in answer["problems"])
    yield texts.text("commands.stays", language=language)
