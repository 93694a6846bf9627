"""The commands that ask and release nothing: ``analyse`` for any analysis, ``at-risk`` and ``price``.

The options of the last two are the names of parameters. Values stay text until the engine reads them: 0.6
then means six tenths, and a bad value is refused with the engine's own sentence.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine import texts
from engine.commands.command import Answer, Commands
from engine.commands.telling import say_view
from engine.commands.values import json_pair, pair, read_schema
from engine.errors import InputRefused

if TYPE_CHECKING:
    from engine.analyses.protocol import Answer as Found

_MECHANISM = ("mechanism", "epsilon0", "scale", "sensitivity", "dimensions", "answers")
_AT_RISK = (*_MECHANISM, "epsilon", "confidence")
_PAIRS = ("pairs", "tolerance", "probability")
_SAMPLED = (
    *("query", "penalty", "population", "pairs", "records", "quantile", "tolerance", "draws", "level"),
    *("mechanism", "epsilon", "epsilon0", "confidence", "scale"),
)
_PRICE = (
    *("people", "compensation", *_MECHANISM, "c", "calibrate_epsilon", "calibrate_share", "minimum"),
    *("budget", "max_error", "prior", "neighbours", "delta", "fine", "incident"),
)
_RANGES = ("c", "people", "compensation")


def add_commands(add: Commands) -> None:
    """Add ``analyse``, ``at-risk`` and ``price``."""
    analyse = add("analyse", analyse_command, _lines)
    analyse.add_argument("id", nargs="?", metavar="ID")
    analyse.add_argument("file", nargs="?", metavar="FILE")
    analyse.add_argument("--schema", metavar="SCHEMA.json")
    analyse.add_argument("--set", action="append", default=[], metavar="NAME=JSON")
    analyse.add_argument("--plan", metavar="PLAN.json", help="commands.help_audited_plan")
    analyse.add_argument("--source", action="append", default=[], metavar="NAME=FILE")
    analyse.add_argument(
        "--bundle", action="append", default=[], metavar="FOLDER", help="commands.help_pooled_bundle"
    )
    analyse.add_argument("--save", metavar="FILE", help="commands.help_save_answer")
    at_risk = add("at-risk", at_risk_command, _lines)
    _add_options(at_risk, {*_AT_RISK, *_SAMPLED, *_PAIRS, "delta"})
    at_risk.add_argument("--release", action="append", metavar="MECHANISM:LEVEL[:COUNT]")
    at_risk.add_argument("--by", action="append", metavar="COLUMN")
    at_risk.add_argument("--distribution", action="append", metavar="COLUMN=JSON")
    at_risk.add_argument("--table", metavar="FILE")
    at_risk.add_argument("--schema", metavar="SCHEMA.json")
    at_risk.add_argument("--plan", metavar="PLAN.json", help="commands.help_plan")
    at_risk.add_argument("--plan-pairs", action="store_true", help="commands.help_plan_pairs")
    at_risk.add_argument("--one-sided", action="store_true")
    price = add("price", price_command, _lines)
    _add_options(price, set(_PRICE))
    price.add_argument("--release", action="append", metavar="MECHANISM:LEVEL[:COUNT]")
    price.add_argument("--releases", metavar="NUMBER", help="commands.help_releases")
    price.add_argument("--printed-minimum", action="store_true")
    for name in _RANGES:
        price.add_argument(f"--{name}-range", nargs=2, metavar=("LOW", "HIGH"))
    price.add_argument("--anchor", metavar="NAME", help="commands.help_anchor")
    price.add_argument("--anchors", action="store_true", help="commands.help_anchors")
    price.add_argument("--anchors-file", metavar="FILE.toml")


def analyse_command(options: argparse.Namespace) -> Answer:
    """Return the catalogue of analyses, one declaration, or with values or a table the answer of one."""
    from engine.analyses.catalogue import analyses, analysis, declaration

    if options.id is None:
        return {"analyses": [declaration(one, language=options.language) for one in analyses()]}, 0
    if options.plan is not None:
        return _answer(_audit(options), options)
    if not options.set and not options.bundle and options.file is None:
        return declaration(analysis(options.id), language=options.language), 0
    given = dict(json_pair(one) for one in options.set)
    if options.bundle:
        given = {"source": "bundles"} | given
    found = _ask(options.id, given, options, options.file)
    if options.save:
        from engine.analyses.saving import save_answer

        save_answer(
            analysis(options.id),
            given,
            found,
            Path(options.save),
            language=options.language,
            stays=found.stays,
        )
    return _answer(found, options)


def _audit(options: argparse.Namespace) -> Found:
    """Audit the noise that a plan asks for; reads its declarations alone."""
    from engine.analyses.noise_audit import NoiseAudit
    from engine.methods.values import resolve
    from engine.release.check import check
    from engine.release.plan import Plan

    audit = NoiseAudit()
    runs = [one for one in audit.parameters if one.name == "runs"]
    given = dict(json_pair(one) for one in options.set)
    if options.id != audit.id or set(given) - {"runs"}:
        raise InputRefused("analyses.plan_alone", analysis=options.id)
    path = Path(options.plan)
    design = check(Plan.read(path), base=path.parent)
    values, wrong = resolve(tuple(runs), given, {})
    for problem in wrong:
        raise InputRefused(problem.code, **problem.values)
    return audit.of_plan(design, runs=values["runs"])


def at_risk_command(options: argparse.Namespace) -> Answer:
    """Return privacy at risk of a mechanism, of several releases, or of a query on drawn neighbours."""
    if options.plan_pairs:
        given = _give(options, _PAIRS) | {"one_sided": options.one_sided}
        return _answer(_ask("pairs", given, options), options)
    if options.plan:
        return _answer(_of_plan(options), options)
    if options.query:
        given = _give(options, _SAMPLED) | {
            "by": options.by or [],
            "distributions": options.distribution or [],
        }
        return _answer(_ask("sampled_sensitivity", given, options, options.table), options)
    if options.release:
        if any(value is not None for value in (options.epsilon0, options.confidence, options.scale)):
            raise InputRefused("at_risk.release_or_level")
        given = _give(options, ("delta", "epsilon")) | {"releases": options.release}
        return _answer(_ask("composition", given, options), options)
    if options.delta is not None:
        raise InputRefused("at_risk.delta_alone")
    return _answer(_ask("at_risk", _give(options, _AT_RISK), options), options)


def price_command(options: argparse.Namespace) -> Answer:
    """Return the price of one release or of several together, or the precedents."""
    from engine.pricing.anchors import read_anchors

    anchors = read_anchors(None if options.anchors_file is None else _existing(options.anchors_file))
    if options.anchors:
        return _list(anchors.anchors, options), 0
    if options.people is None or (options.compensation is None) == (options.anchor is None):
        raise InputRefused("price.people_and_compensation")
    given = _give(options, _PRICE) | {"printed_minimum": options.printed_minimum}
    if options.anchor is not None:
        anchor = anchors.named(options.anchor)
        if anchor.quantity != "compensation" or anchor.amount is None:
            raise InputRefused("price.anchor_quantity", found=anchor.name, quantity=anchor.quantity)
        given["compensation"] = anchor.amount
    for name in _RANGES:
        ends = getattr(options, f"{name}_range")
        given |= {} if ends is None else {f"{name}_low": ends[0], f"{name}_high": ends[1]}
    given |= {"releases": options.release or [], "division": options.releases}
    return _answer(_ask("price", given, options), options)


def _add_options(parser: argparse.ArgumentParser, names: set[str]) -> None:
    for name in sorted(names):
        parser.add_argument(f"--{name.replace('_', '-')}", metavar="VALUE")


def _give(options: argparse.Namespace, names: tuple[str, ...]) -> dict[str, Any]:
    found = {name: getattr(options, name) for name in names if getattr(options, name) is not None}
    if "mechanism" in found:
        found["mechanism"] = found["mechanism"].replace("-", "_")
    return found


def _ask(name: str, given: Mapping[str, Any], options: argparse.Namespace, file: str | None = None) -> Found:
    from engine.analyses.catalogue import analysis, ask
    from engine.methods.protocol import MAIN
    from engine.table.reading.readers import read_table

    schema = getattr(options, "schema", None)
    schemas = {} if schema is None else {MAIN: read_schema(Path(schema))}
    tables = {} if file is None else {MAIN: read_table(Path(file), schema=schemas.get(MAIN))}
    known = {source.name for source in analysis(name).sources}
    for other, path in map(pair, getattr(options, "source", ())):
        if other not in known:
            raise InputRefused("analyses.no_source", analysis=name, source=other)
        tables[other] = read_table(Path(path), schema=schemas.get(MAIN))
    if not (folders := getattr(options, "bundle", ())):
        return ask(analysis(name), given, tables=tables, schemas=schemas)
    from engine.release.released_bundle import read_bundles

    bundles = read_bundles([Path(folder) for folder in folders])
    return ask(analysis(name), given, tables=tables, schemas=schemas, bundles=bundles)


def _of_plan(options: argparse.Namespace) -> Found:
    """Ask the method of a plan without noise, on the rows as the plan prepares them."""
    from engine.analyses.method_query import ask_method
    from engine.release import reading
    from engine.release.check import check
    from engine.release.plan import Plan

    if options.query or options.table or options.schema or options.by:
        raise InputRefused("queries.plan_alone")
    path = Path(options.plan)
    plan = Plan.read(path)
    design = check(plan)
    table = None
    if options.population != "simulated":
        held = reading.read(plan, base=path.parent)
        table = reading.filter_source(held)
    if options.epsilon is not None:
        raise InputRefused("queries.plan_has_no_noise")
    given = _give(options, _SAMPLED) | {"distributions": options.distribution or []}
    subject = design
    return ask_method(subject, given, table=table)


def _answer(found: Found, options: argparse.Namespace) -> Answer:
    """Return the figures; in sentences the views that have words, which `say_view` says."""
    options.lines = lambda answer, language: [
        line for view in found.views for line in say_view(view, language)
    ]
    return dict(found.figures), 0


def _list(anchors: Any, options: argparse.Namespace) -> dict[str, Any]:
    from dataclasses import asdict

    trees = [
        asdict(one)
        | {"amount": None if one.amount is None else float(one.amount), "read": one.read.isoformat()}
        for one in anchors
    ]
    options.lines = lambda answer, language: [
        texts.text("commands.anchor", language=language, **_anchor_words(tree, language)) for tree in trees
    ]
    return {"anchors": trees}


def _anchor_words(tree: Mapping[str, Any], language: str) -> dict[str, str]:
    values = {name: str(tree[name]) for name in ("name", "jurisdiction", "case", "source", "read", "check")}
    values["amount"] = "" if tree["amount"] is None else f"{tree['amount']:,.2f} {tree['currency']}"
    no_year = texts.text("commands.no_year", language=language)
    return values | {"year": no_year if tree["year"] is None else str(tree["year"])}


def _existing(name: str) -> Path:
    path = Path(name)
    if not path.is_file():
        raise InputRefused("price.anchors_missing", file=path.name)
    return path


def _lines(answer: dict[str, Any], language: str) -> Iterator[str]:
    """Return a catalogue or a declaration as lines; an answer brings its own."""
    for one in answer.get("analyses", [answer]):
        yield f"{one['id']}: {one['title']}. {one['summary']}"
        if "analyses" not in answer:
            yield from (
                f"  {parameter['name']} ({parameter['kind']}): {parameter['label']}. {parameter['help']}"
                for parameter in one["parameters"]
            )
