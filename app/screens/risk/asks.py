"""What the screen of risk asks the engine, and people by fixed classes of group sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from app.work.exploring import read_beside
from engine.errors import InputRefused
from engine.methods.protocol import MAIN
from engine.progress import SILENT, Progress
from engine.views import Text, TextView

POPULATION, INTRUDER = "population", "intruder"
CLASSES = ((1, 1), (2, 4), (5, 10), (11, 19), (20, 49), (50, None))
"""Group sizes from, to: the same for every table, so that pictures can be compared."""


def group_sizes(table: Any, schema: Any, *, progress: Progress = SILENT) -> Any:
    """Return how many people are alone or among few."""
    from engine.risk.group_sizes import group_sizes as count

    return count(table, schema, causes=False, progress=progress)


def measure(table: Any, schema: Any, *, limit: int, progress: Progress = SILENT) -> Any:
    """Return what each column causes, and whom few values single out."""
    from engine.risk.trying import risk_today

    return risk_today(table, schema, limit=limit, progress=progress)


def count_again(today: Any, changes: Mapping[str, int], *, progress: Progress = SILENT) -> Any:
    """Return who stands out with columns changed."""
    return today.trials.count(changes, limit=today.limit)


def find_ways(today: Any, *, progress: Progress = SILENT) -> Any:
    """Return the shortest ways to groups of the limit."""
    from engine.risk.shortest import shortest_ways

    return shortest_ways(today.table, limit=today.limit, trials=today.trials, progress=progress)


def count_matching(today: Any, *, progress: Progress = SILENT) -> Any:
    """Return who stands out if a missing value agrees with every value."""
    from engine.risk.trying import tried_matching

    return tried_matching(today.table, limit=today.limit, progress=progress)


def describe_population(
    name: str,
    given: Path | Fraction,
    *,
    table: Any,
    schema: Any,
    steps: Sequence[Mapping[str, Any]],
    progress: Progress = SILENT,
) -> tuple[Text, ...]:
    """Return in sentences what a population, its size, or somebody else's file changes."""
    from engine.analyses.catalogue import analysis, ask
    from engine.risk.encoding import IDENTIFYING

    tables, schemas = {MAIN: table}, {MAIN: schema}
    if isinstance(given, Path):
        tables[name] = read_beside(given, schema, steps)
    rest = progress.part(0.2, 1.0)
    if name == POPULATION:
        values = {} if isinstance(given, Path) else {"population_size": int(given)}
        answer = ask(analysis("disclosure"), values, tables=tables, schemas=schemas, progress=rest)
        return population_sentences(answer.figures)
    names = [one.name for one in schema.with_role(*IDENTIFYING) if one.name in tables[name].names]
    if not names:
        raise InputRefused("risk.nothing_to_compare")
    answer = ask(analysis("linkage"), {"columns": names}, tables=tables, schemas=schemas, progress=rest)
    said = answer.views[0]
    return said.paragraphs[:-1] if isinstance(said, TextView) else ()


def population_sentences(figures: Mapping[str, Any]) -> tuple[Text, ...]:
    """Return what is known of a population beside the table, with three digits."""

    def line(name: str, /, **values: float) -> Text:
        return Text(f"risk.lines.{name}", {key: float(f"{value:.3g}") for key, value in values.items()})

    risk = line("journalist", highest=figures["journalist_highest"], average=figures["journalist_average"])
    found = [
        Text(risk.id, {**risk.values, "population": figures["population"]}),
        line("journalist_marketer", share=figures["journalist_marketer"]),
    ]
    estimated = figures.get("population_uniqueness")
    if estimated is not None:
        found.append(line("uniqueness", low=estimated["low"], high=estimated["high"]))
    if "presence" in figures:
        found.append(line("presence", **figures["presence"]))
    told = ("not_in_population",)
    found += [
        Text(f"risk.findings.{one['code']}", one["values"])
        for one in figures["findings"]
        if one["code"] in told
    ]
    return tuple(found)


def classes(sizes: Mapping[int, int]) -> list[int]:
    """Return the people of each of the fixed classes of group sizes.

    Examples
    --------
    >>> classes({1: 3, 4: 8, 13: 13, 60: 60})
    [3, 8, 0, 13, 0, 60]
    """
    return [
        sum(people for size, people in sizes.items() if low <= size and (high is None or size <= high))
        for low, high in CLASSES
    ]
