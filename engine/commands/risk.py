"""The command ``risk``: what a table discloses today."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine import texts
from engine.commands.command import Answer, Commands
from engine.commands.values import number_option, read_schema
from engine.errors import InputRefused
from engine.protected import Protected

if TYPE_CHECKING:
    from engine.table.schema import Schema
    from engine.table.table import Table


def add_commands(add: Commands) -> None:
    """Add ``risk``."""
    risk = add("risk", risk_command, _lines)
    risk.add_argument("file")
    risk.add_argument("--schema", required=True, metavar="SCHEMA.json")
    risk.add_argument("--missing", choices=("own_value", "matches"), default="own_value")
    risk.add_argument("--population", metavar="FILE", help="commands.help_population")
    risk.add_argument("--population-size", metavar="NUMBER")
    risk.add_argument("--threshold", action="append", metavar="PROBABILITY")


def risk_command(options: argparse.Namespace) -> Answer:
    """Return what a table discloses by its identifying and sensitive columns. Internal."""
    from engine.risk.disclosure import disclosure
    from engine.risk.encoding import IDENTIFYING, encode
    from engine.risk.group_sizes import group_sizes
    from engine.risk.groups import Missing
    from engine.risk.reidentification import THRESHOLDS
    from engine.table.reading.readers import read_table
    from engine.table.schema import Role

    if options.population and options.population_size:
        raise InputRefused("risk.population_twice")
    schema = read_schema(Path(options.schema))
    if not schema.with_role(*IDENTIFYING):
        raise InputRefused("risk.nothing_identifying")
    if len(schema.with_role(Role.PERSON_KEY)) > 1:
        raise InputRefused("plan.two_keys")
    if len(schema.with_role(Role.WEIGHT)) > 1:
        raise InputRefused("schema.weights_twice")
    reading, looking = options.progress.part(0, 0.4), options.progress.part(0.4, 1)
    table = read_table(Path(options.file), schema=schema, progress=reading)
    _refuse_twofold(table, schema)
    for column in schema.columns:
        if column.name not in table and column.role is not Role.DROPPED:
            raise InputRefused("table.no_such_column", file=table.source, column=column.name)
    encoded, people = encode(table, schema), None
    if options.population:
        other = read_table(Path(options.population), schema=schema)
        _refuse_twofold(other, schema)
        people = encode(other, schema, columns=encoded.identifying, beside=True)
    size = options.population_size
    found = disclosure(
        encoded,
        missing=Missing(options.missing),
        thresholds=[float(number_option(each, "--threshold")) for each in options.threshold or ()]
        or THRESHOLDS,
        population=people,
        progress=looking,
        population_size=None if size is None else _whole(size, "--population-size"),
    )
    answer = found.to_json() | {"group_sizes": asdict(group_sizes(table, schema))}
    answer["protected"] = asdict(schema.words)
    with texts.speaking(schema.words):
        for finding in answer["findings"]:
            finding["sentence"] = texts.text(
                f"risk.findings.{finding['code']}", language=options.language, **finding["values"]
            )
    return answer, 0


def _refuse_twofold(table: Table, schema: Schema) -> None:
    """Refuse a name that several columns of the file have, where the schema knows but one of them."""
    for found in table.findings:
        if found.code == "table.name_twice" and found.column in schema and found.more["new"] not in schema:
            raise InputRefused("risk.which_column", file=found.file, column=found.column)


def _whole(written: str, option: str) -> int:
    value = number_option(written, option)
    if value.denominator != 1:
        raise InputRefused("commands.not_a_number", option=option)
    return int(value)


def _lines(answer: dict[str, Any], language: str) -> list[str]:
    """Say the answer of ``risk`` in sentences, with the schema's words for who is protected."""
    with texts.speaking(Protected(**answer["protected"])):
        return list(_sentences(answer, language))


def _sentences(answer: dict[str, Any], language: str) -> Iterator[str]:
    for name in ("groups", "smallest", "prosecutor", "marketer", "journalist", "uniqueness"):
        values = _spoken(answer).get(name)
        if values is not None:
            yield texts.text(f"risk.lines.{name}", language=language, **values)
    for column, found in answer["sensitive"].items():
        yield texts.text("risk.lines.sensitive", language=language, column=column, **found)
    for column, share in sorted(answer["columns"].items(), key=lambda entry: -entry[1]):
        yield texts.text("risk.lines.column", language=language, column=column, share=share)
    yield from (finding["sentence"] for finding in answer["findings"])
    yield texts.text("risk.lines.stays", language=language)


def _spoken(answer: dict[str, Any]) -> dict[str, dict[str, Any]]:
    columns = ", ".join(answer["identifying"])
    said: dict[str, dict[str, Any]] = {
        "groups": {"people": answer["people"], "groups": answer["groups"], "columns": columns},
        "smallest": {"smallest": answer["smallest_group"], "alone": answer["alone"]},
        "prosecutor": {
            "highest": answer["prosecutor_highest"],
            "average": answer["prosecutor_average"],
        },
        "marketer": {"share": answer["marketer"]},
    }
    if "population" in answer:
        said["journalist"] = {
            "population": answer["population"],
            "highest": answer["journalist_highest"],
            "average": answer["journalist_average"],
        }
    if "population_uniqueness" in answer:
        said["uniqueness"] = {name: answer["population_uniqueness"][name] for name in ("low", "high")}
    return said
