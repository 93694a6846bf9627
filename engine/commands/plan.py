"""The commands that make, check and run a plan."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from engine import texts
from engine.commands.ledger import existing_ledger, ledger_path
from engine.commands.parser import Answer, Commands
from engine.commands.values import (
    budget,
    first_line,
    json_file,
    json_pair,
    pair,
    read_schema,
    relative,
    write_text,
)


def add_commands(add: Commands) -> None:
    """Add ``plan new``, ``plan check`` and ``run``."""
    words = texts.text("commands.plan")
    actions = add.subparsers.add_parser("plan", help=words, description=words).add_subparsers(
        title="actions", metavar="ACTION", required=True
    )
    new = actions.add_parser("new", parents=[add.common], help=texts.text("commands.plan_new"))
    new.set_defaults(command=plan_new_command, lines=_plan_lines)
    new.add_argument("file", nargs="?", help="the table, for a method that reads one")
    new.add_argument("--schema", metavar="SCHEMA.json", help="what is declared about it")
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
    check = actions.add_parser("check", parents=[add.common], help=texts.text("commands.plan_check"))
    check.set_defaults(command=plan_check_command, lines=_check_lines)
    check.add_argument("plan", metavar="PLAN.json")
    check.add_argument("--ledger", metavar="FILE")
    run = add("run", run_command, _run_lines)
    run.add_argument("plan", metavar="PLAN.json")
    run.add_argument("--out", required=True, metavar="FOLDER")
    run.add_argument("--ledger", metavar="FILE")
    run.add_argument("--passphrase-file", metavar="FILE", help="its first line locks a key that stays inside")


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
        files={MAIN: FileReference(relative(Path(options.file), out.parent))} if options.file else {},
        schemas={MAIN: read_schema(Path(options.schema))} if options.schema else {},
        parameters=dict(json_pair(one) for one in options.set),
        budget=budget(options.epsilon, options.delta, options.neighbours),
        holding=options.holding,
        holding_budget=budget(options.holding_epsilon, options.holding_delta, options.neighbours),
        preparation=tuple(json_file(Path(options.prepare))) if options.prepare else (),
    )
    tree = plan.to_json()
    tree["purpose"] |= dict(pair(one) for one in options.purpose)
    tree["price"] |= dict(json_pair(one) for one in options.price)
    written = Plan.loads(json.dumps(tree), file=out.name)
    written = pinned(written, base=out.parent) if options.file or found.sources else written
    write_text(out, written.dumps())
    return {"plan": out.name, "fingerprint": written.fingerprint}, 0


def plan_check_command(options: argparse.Namespace) -> Answer:
    """Return what a plan would cost, how accurate it would be and what the ledger would say."""
    from engine.release.plan import Plan
    from engine.release.preview import preview_json

    plan = Plan.read(Path(options.plan))
    base = Path(options.plan).parent
    answer = preview_json(plan, existing_ledger(options), base=base, language=options.language)
    return answer, 0 if not answer["problems"] else 2


def run_command(options: argparse.Namespace) -> Answer:
    """Run a plan to its bundle."""
    from engine.ledger import Ledger
    from engine.release.plan import Plan
    from engine.release.run import run

    path = Path(options.plan)
    plan = Plan.read(path)
    ledger = Ledger(ledger_path(options))
    passphrase = first_line(Path(options.passphrase_file)) if options.passphrase_file else None
    bundle = run(
        plan,
        out=Path(options.out),
        ledger=ledger,
        base=path.parent,
        language=options.language,
        passphrase=passphrase,
    )
    return {
        "bundle": str(options.out),
        "entry": bundle.entry,
        "release_sums": bundle.release_sums,
        "internal_sums": bundle.internal_sums,
    }, 0


def _run_lines(answer: dict[str, Any], language: str) -> Iterator[str]:
    yield texts.text("commands.run_done", language=language, folder=answer["bundle"])


def _plan_lines(answer: dict[str, Any], language: str) -> Iterator[str]:
    yield texts.text("commands.plan_written", language=language, file=answer["plan"])


def _check_lines(answer: dict[str, Any], language: str) -> Iterator[str]:
    for problem in answer["problems"]:
        yield f"{problem['what']} {problem['do']}"
    yield from answer["sentences"]
