"""The commands about tables, plans, bundles and the ledger. Each returns a JSON answer and an exit status."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import asdict
from fractions import Fraction
from pathlib import Path
from typing import Any

from engine import strict_json, texts
from engine.errors import InputRefused

Answer = tuple[dict[str, Any], int]
Lines = Callable[[dict[str, Any], str], Iterator[str]]


def add_commands(subparsers: Any, common: argparse.ArgumentParser) -> None:
    """Add every command of this module to the parser."""

    def command(
        name: str, function: Callable[[argparse.Namespace], Answer], lines: Lines | None = None
    ) -> Any:
        words = texts.text(f"commands.{name.replace(' ', '_')}")
        parser = subparsers.add_parser(name, parents=[common], help=words, description=words)
        parser.set_defaults(command=function, lines=lines)
        return parser

    command("methods", methods_command).add_argument("id", nargs="?", help="one method")
    inspect = command("inspect", inspect_command)
    inspect.add_argument("file")
    inspect.add_argument("--out", metavar="SCHEMA.json", help="write the suggested schema")
    risk = command("risk", risk_command)
    risk.add_argument("file")
    risk.add_argument("--schema", required=True, metavar="SCHEMA.json")
    _add_plan(subparsers, common)
    run = command("run", run_command, _run_lines)
    run.add_argument("plan", metavar="PLAN.json")
    run.add_argument("--out", required=True, metavar="FOLDER")
    run.add_argument("--ledger", metavar="FILE")
    verify = command("verify", verify_command, _verify_lines)
    verify.add_argument("folder")
    verify.add_argument("--ledger", metavar="FILE")
    ledger = command("ledger", ledger_command)
    ledger.add_argument("--ledger", metavar="FILE")


def _add_plan(subparsers: Any, common: argparse.ArgumentParser) -> None:
    words = texts.text("commands.plan")
    actions = subparsers.add_parser("plan", help=words, description=words).add_subparsers(
        title="actions", metavar="ACTION", required=True
    )
    new = actions.add_parser("new", parents=[common], help=texts.text("commands.plan_new"))
    new.set_defaults(command=plan_new_command, lines=_plan_lines)
    new.add_argument("file")
    new.add_argument("--schema", required=True, metavar="SCHEMA.json")
    new.add_argument("--method", required=True, metavar="ID")
    new.add_argument(
        "--set", action="append", default=[], metavar="NAME=JSON", help="a parameter of the method"
    )
    new.add_argument("--purpose", action="append", default=[], metavar="NAME=TEXT")
    new.add_argument("--price", action="append", default=[], metavar="NAME=JSON")
    new.add_argument("--epsilon")
    new.add_argument("--delta", default="0")
    new.add_argument("--neighbours", default="add_remove", choices=("add_remove", "replace_one"))
    new.add_argument("--holding", default="", help="register of people that pays")
    new.add_argument("--holding-epsilon", help="its whole budget, if the ledger does not know it yet")
    new.add_argument("--holding-delta", default="0")
    new.add_argument("--prepare", metavar="STEPS.json", help="recorded preparation")
    new.add_argument("--out", required=True, metavar="PLAN.json")
    check = actions.add_parser("check", parents=[common], help=texts.text("commands.plan_check"))
    check.set_defaults(command=plan_check_command, lines=_check_lines)
    check.add_argument("plan", metavar="PLAN.json")
    check.add_argument("--ledger", metavar="FILE")


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
        _write_text(Path(options.out), json.dumps(schema, indent=2, ensure_ascii=False) + "\n")
    return inspect_table(table, language=options.language), 0


def risk_command(options: argparse.Namespace) -> Answer:
    """Return what a table could disclose by the group sizes of its identifying attributes. Internal."""
    from engine.risk.group_sizes import group_sizes
    from engine.table.reading.readers import read_table

    schema = read_schema(Path(options.schema))
    table = read_table(Path(options.file), schema=schema)
    return {"audience": "internal", "group_sizes": asdict(group_sizes(table, schema))}, 0


def plan_new_command(options: argparse.Namespace) -> Answer:
    """Write a plan from a file, a schema, a method and what was set."""
    from engine.methods.catalogue import method
    from engine.methods.protocol import MAIN
    from engine.release.plan import FileReference, Plan
    from engine.release.reading import pinned

    out = Path(options.out)
    found = method(options.method)
    plan = Plan(
        method=found.id,
        method_version=found.version,
        files={MAIN: FileReference(_relative(Path(options.file), out.parent))},
        schemas={MAIN: read_schema(Path(options.schema))},
        parameters=dict(json_pair(pair) for pair in options.set),
        budget=_budget(options.epsilon, options.delta, options.neighbours),
        holding=options.holding,
        holding_budget=_budget(options.holding_epsilon, options.holding_delta, options.neighbours),
        preparation=tuple(_json_file(Path(options.prepare))) if options.prepare else (),
    )
    tree = plan.to_json()
    tree["purpose"] |= dict(_pair(pair) for pair in options.purpose)
    tree["price"] |= dict(json_pair(pair) for pair in options.price)
    written = pinned(Plan.loads(json.dumps(tree), file=out.name), base=out.parent)
    _write_text(out, written.dumps())
    return {"plan": out.name, "fingerprint": written.fingerprint}, 0


def plan_check_command(options: argparse.Namespace) -> Answer:
    """Return what a plan would cost, how accurate it would be and what the ledger would say."""
    from engine.release.plan import Plan
    from engine.release.preview import preview_json

    plan = Plan.read(Path(options.plan))
    answer = preview_json(plan, _existing_ledger(options), language=options.language)
    return answer, 0 if not answer["problems"] else 2


def run_command(options: argparse.Namespace) -> Answer:
    """Run a plan to its bundle."""
    from engine.ledger import Ledger
    from engine.release.plan import Plan
    from engine.release.run import run

    path = Path(options.plan)
    plan = Plan.read(path)
    ledger = Ledger(_ledger_path(options))
    bundle = run(plan, out=Path(options.out), ledger=ledger, base=path.parent, language=options.language)
    return {
        "bundle": str(options.out),
        "entry": bundle.entry,
        "release_sums": bundle.release_sums,
        "internal_sums": bundle.internal_sums,
    }, 0


def verify_command(options: argparse.Namespace) -> Answer:
    """Check a bundle; status 1 when anything is wrong."""
    from engine.ledger import Ledger
    from engine.release.verify import verify

    path = _ledger_path(options)
    ledger = None if path is None else Ledger(path, read_only=True)
    found = verify(Path(options.folder), ledger=ledger)
    problems = [
        {"file": problem.values.get("file", ""), "code": problem.code}
        | dict(zip(("what", "do"), texts.explain(problem, language=options.language), strict=True))
        for problem in found.problems
    ]
    answer = {
        "passed": found.passed,
        "chain_checked": found.chain_checked,
        "compared": found.compared,
        "fingerprint": found.fingerprint,
        "problems": problems,
    }
    return answer, 0 if found.passed else 1


def ledger_command(options: argparse.Namespace) -> Answer:
    """Return every register of people, what was given from it, and what is left."""
    from engine.ledger import Ledger
    from engine.release.charge import composer

    ledger = Ledger(_ledger_path(options), read_only=True)
    head = ledger.verify_chain()
    by_holding = {one.id: composer(one) for one in ledger.holdings()}
    return ledger.to_json(by_holding) | {"head": {"sequence": head.sequence, "hash": head.hash}}, 0


def _run_lines(answer: dict[str, Any], language: str) -> Iterator[str]:
    yield texts.text("commands.run_done", language=language, folder=answer["bundle"])


def _verify_lines(answer: dict[str, Any], language: str) -> Iterator[str]:
    for problem in answer["problems"]:
        yield f"{problem['what']} {problem['do']}"
    if answer["passed"]:
        name = "verify_passed" if answer["chain_checked"] else "verify_agrees"
        yield texts.text(f"commands.{name}", language=language)
        if not answer["compared"]:
            yield texts.text("commands.verify_not_compared", language=language)
    if not answer["chain_checked"]:
        found = answer["fingerprint"]
        yield texts.text("commands.verify_without_ledger", language=language, fingerprint=found)


def _plan_lines(answer: dict[str, Any], language: str) -> Iterator[str]:
    yield texts.text("commands.plan_written", language=language, file=answer["plan"])


def _check_lines(answer: dict[str, Any], language: str) -> Iterator[str]:
    for problem in answer["problems"]:
        yield f"{problem['what']} {problem['do']}"
    yield from answer["sentences"]


def read_schema(path: Path) -> Any:
    """Return the schema of a file, or refuse in words."""
    from engine.table.schema import Schema

    return Schema.loads(_read_text(path, "schema.not_readable"), file=path.name)


def _budget(epsilon: str | None, delta: str, neighbours: str) -> Any:
    from engine.methods.protocol import Budget
    from engine.privacy.promise import Neighbours

    if epsilon is None:
        return None
    return Budget(_fraction(epsilon, "--epsilon"), _fraction(delta, "--delta"), Neighbours(neighbours))


def _fraction(written: str, option: str) -> Fraction:
    from engine.table.schema import exact

    try:
        return exact(written)
    except (ValueError, ZeroDivisionError) as error:
        raise InputRefused("commands.not_a_number", option=option) from error


def _pair(written: str) -> tuple[str, str]:
    name, equals, value = written.partition("=")
    if not equals or not name:
        raise InputRefused("commands.not_a_pair")
    return name, value


def json_pair(written: str) -> tuple[str, Any]:
    """Return the name and the JSON value of NAME=JSON, or refuse in words."""
    name, value = _pair(written)
    try:
        return name, strict_json.loads(value)
    except ValueError as error:
        raise InputRefused("commands.not_json", name=name) from error


def _json_file(path: Path) -> Any:
    try:
        return strict_json.loads(_read_text(path, "commands.not_readable"))
    except ValueError as error:
        raise InputRefused("commands.not_json", name=path.name) from error


def _read_text(path: Path, code: str) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputRefused(code, file=path.name) from error


def _write_text(path: Path, written: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(written, encoding="utf-8")
    except OSError as error:
        raise InputRefused("commands.not_writable", file=path.name, reason=error.strerror or "") from error


def _relative(file: Path, folder: Path) -> str:
    try:
        return Path(os.path.relpath(file.resolve(), folder.resolve())).as_posix()
    except ValueError:  # another drive
        return str(file.resolve())


def _ledger_path(options: argparse.Namespace) -> Path | None:
    return None if options.ledger is None else Path(options.ledger)


def _existing_ledger(options: argparse.Namespace) -> Any:
    """Open the ledger for looking only; None where there is none yet."""
    from engine.ledger import Ledger, default_path

    path = _ledger_path(options) or default_path()
    return Ledger(path, read_only=True) if path.exists() else None
