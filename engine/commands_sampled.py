"""``at-risk`` about a query on a table: implicit, with its noise, and measured; and the planner of pairs."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.commands import json_pair, read_schema
from engine.errors import InputRefused
from engine.privacy.at_risk.inputs import positive, share, whole
from engine.privacy.noise import Noise
from engine.privacy.sampled_sensitivity import Sides, plan_pairs
from engine.risk.sampled_risk import Question, sampled_risk
from engine.risk.sources import Source
from engine.texts import text

if TYPE_CHECKING:
    from engine.table.schema import Schema
    from engine.table.table import Table

MOST = 10**7


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options about pairs and queries to ``at-risk``."""

    def words(name: str) -> str:
        return text(f"commands.at_risk.help_{name}")

    parser.add_argument("--query", metavar="QUERY", help=words("query"))
    parser.add_argument("--by", action="append", default=[], metavar="COLUMN", help=words("by"))
    parser.add_argument("--plan", metavar="PLAN.json", help=words("plan"))
    parser.add_argument("--table", metavar="FILE")
    parser.add_argument("--schema", metavar="SCHEMA.json")
    parser.add_argument("--population", default="private", choices=[source.value for source in Source])
    parser.add_argument(
        "--distribution", action="append", default=[], metavar="COLUMN=JSON", help=words("distribution")
    )
    parser.add_argument("--penalty", default="0.01", metavar="NUMBER", help=words("penalty"))
    parser.add_argument("--pairs", metavar="NUMBER", help=words("pairs"))
    parser.add_argument("--records", default="1000", metavar="NUMBER", help=words("records"))
    parser.add_argument("--quantile", default="0.9", metavar="SHARE", help=words("quantile"))
    parser.add_argument("--tolerance", metavar="NUMBER", help=words("tolerance"))
    parser.add_argument("--draws", metavar="NUMBER", help=words("draws"))
    parser.add_argument("--level", default="0.95", metavar="SHARE", help=words("level"))
    parser.add_argument("--plan-pairs", action="store_true", help=words("plan_pairs"))
    parser.add_argument("--probability", metavar="SHARE", help=words("probability"))
    parser.add_argument("--one-sided", action="store_true", help=words("one_sided"))


def asks_about_pairs(arguments: argparse.Namespace) -> bool:
    """Say whether ``at-risk`` is about drawn neighbours rather than a mechanism alone."""
    return bool(arguments.plan_pairs or arguments.query or arguments.plan)


def pairs_command(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the answer of ``at-risk`` about drawn neighbours as JSON values.

    Raises
    ------
    InputRefused
        A value, a query, a column or a file cannot be used.
    """
    if arguments.plan_pairs:
        return _planned(arguments)
    if arguments.epsilon is None and (arguments.epsilon0 is not None or arguments.confidence is not None):
        raise InputRefused("queries.needs_epsilon")
    if arguments.epsilon0 is not None and arguments.confidence is not None:
        raise InputRefused("queries.level_or_confidence")
    question = _question(arguments)
    source = Source(arguments.population)
    drawn = _of_plan(arguments, source) if arguments.plan else _of_query(arguments, source, question.records)
    answer, population, about, proved, outputs = drawn
    found = sampled_risk(
        answer,
        population,
        question,
        generator=Noise().internal_generator(),
        proved=proved.get(question.norm),
        outputs=outputs,
    )
    return about | {"population": source.value} | found.to_json()


def _planned(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the third of pairs, tolerance and probability, for both sides and for the one that is needed."""
    given: dict[str, Any] = {
        "pairs": None if arguments.pairs is None else whole(arguments.pairs, name="pairs", largest=10**15),
        "tolerance": _share_or_none(arguments.tolerance, "tolerance"),
        "probability": _share_or_none(arguments.probability, "probability"),
    }
    sides = Sides.ONE if arguments.one_sided else Sides.TWO
    found = plan_pairs(**given, sides=sides)
    asked = next(name for name, value in given.items() if value is None)
    return {
        "planned": asked,
        "pairs": found.pairs,
        "tolerance": found.tolerance,
        "probability": found.probability,
        "sides": int(sides),
    }


def _question(arguments: argparse.Namespace) -> Question:
    pairs = whole("10000" if arguments.pairs is None else arguments.pairs, name="pairs", largest=MOST)
    tolerance = _share_or_none(arguments.tolerance, "tolerance")
    if tolerance is None:
        # Chosen from the number of pairs alone, never from what they show: α = 95 % on one side.
        tolerance = plan_pairs(pairs=pairs, probability=0.95, sides=Sides.ONE).tolerance
    one = arguments.quantile.strip() in ("1", "1.0")
    levels = {
        name: None if getattr(arguments, name) is None else positive(getattr(arguments, name), name=name)
        for name in ("epsilon", "epsilon0", "scale")
    }
    return Question(
        pairs=pairs,
        records=whole(arguments.records, name="records", largest=MOST),
        quantile=1.0 if one else float(share(arguments.quantile, name="quantile")),
        tolerance=tolerance,
        confidence=None if arguments.confidence is None else share(arguments.confidence, name="confidence"),
        mechanism=arguments.mechanism.replace("-", "_"),
        draws=pairs if arguments.draws is None else whole(arguments.draws, name="draws", largest=MOST),
        level=float(share(arguments.level, name="level")),
        **levels,
    )


def _of_query(arguments: argparse.Namespace, source: Source, records: int) -> tuple[Any, ...]:
    from engine.risk.populations import population_for
    from engine.risk.queries import read_query

    if arguments.schema is None:
        raise InputRefused("queries.needs_schema")
    schema: Schema = read_schema(Path(arguments.schema))
    penalty: Fraction = positive(arguments.penalty, name="penalty")
    query = read_query(arguments.query, schema, records=records, by=arguments.by, penalty=penalty)
    table = None if source is Source.SIMULATED else _table(arguments.table, schema)
    drawn = population_for(query, source, table=table, distributions=_distributions(arguments))
    about: dict[str, Any] = {"query": query.written, "by": list(arguments.by)}
    if source.origin.internal:
        about["left_out"] = drawn.left_out
    return query.answer, drawn.population, about, query.proved, query.outputs


def _of_plan(arguments: argparse.Namespace, source: Source) -> tuple[Any, ...]:
    """Ask the method of a plan without noise, on the rows as the plan prepares them."""
    from engine.evaluation.method_query import method_query
    from engine.evaluation.protocol import Subject
    from engine.release import reading
    from engine.release.plan import Plan
    from engine.release.run import check
    from engine.table import preparation

    if arguments.query or arguments.table or arguments.schema or arguments.by:
        raise InputRefused("queries.plan_alone")
    path = Path(arguments.plan)
    plan = Plan.read(path)
    checked = check(plan)
    table = None
    if source is not Source.SIMULATED:
        held = reading.read(plan, base=path.parent)
        table = preparation.filtered(held.table, held.filters, held.schema)
    subject = Subject(checked.method, checked.request, checked.promise)
    query, population = method_query(subject, source, table=table, distributions=_distributions(arguments))
    if arguments.epsilon is not None:
        raise InputRefused("queries.plan_has_no_noise")
    return query, population, {"query": checked.method.id, "by": []}, {}, 1


def _table(file: str | None, schema: Schema) -> Table | None:
    from engine.table.reading.readers import read_table

    return None if file is None else read_table(Path(file), schema=schema)


def _distributions(arguments: argparse.Namespace) -> Mapping[str, Any]:
    return dict(json_pair(written) for written in arguments.distribution)


def _share_or_none(written: str | None, name: str) -> float | None:
    return None if written is None else float(share(written, name=name))
