"""The commands that make, check and run a plan."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from engine import texts
from engine.commands import plan_new
from engine.commands.command import Answer, Commands
from engine.commands.ledger import existing_ledger, ledger_path
from engine.commands.values import content, first_line, pair
from engine.errors import EngineError


def add_commands(add: Commands) -> None:
    """Add ``plan new``, ``plan check`` and ``run``."""
    words = texts.text("commands.plan")
    actions = add.subparsers.add_parser("plan", help=words, description=words).add_subparsers(
        title="actions", metavar="ACTION", required=True
    )
    plan_new.add_command(actions, add.common)
    check = actions.add_parser("check", parents=[add.common], help=texts.text("commands.plan_check"))
    check.set_defaults(command=plan_check_command, lines=_check_lines)
    check.add_argument("plan", metavar="PLAN.json")
    check.add_argument("--ledger", metavar="FILE")
    several: dict[str, Any] = {"action": "append", "default": []}
    check.add_argument(
        "--reason", metavar="NAME=TEXT", help="why a decision was taken, as for run", **several
    )
    run = add("run", run_command, _run_lines)
    run.add_argument("plan", metavar="PLAN.json")
    run.add_argument("--out", required=True, metavar="FOLDER")
    run.add_argument("--ledger", metavar="FILE")
    run.add_argument("--passphrase-file", metavar="FILE", help="its first line locks a key that stays inside")
    run.add_argument(
        "--signing-passphrase-file",
        metavar="FILE",
        help="its first line opens the signing key",
    )
    run.add_argument("--known", metavar="FOLDER", help="an earlier release, or a folder of some", **several)
    run.add_argument("--reason", metavar="NAME=TEXT", help="why a decision was taken; stays", **several)
    run.add_argument("--without-reason", action="store_true", help="release although reasons are missing")
    run.add_argument("--key", metavar="FILE", help="the key of an earlier release, from its folder key")


def plan_check_command(options: argparse.Namespace) -> Answer:
    """Return what a plan would cost, how accurate it would be and what the ledger would say."""
    from engine.release.plan import Plan
    from engine.release.preview import preview_json
    from engine.release.reasons import with_reasons

    plan = with_reasons(Plan.read(Path(options.plan)), dict(map(pair, options.reason)))
    base = Path(options.plan).parent
    answer = preview_json(plan, existing_ledger(options), base=base, language=options.language)
    answer["fitness"] = _fitness(plan, base, options.language)
    return answer, 0 if not answer["problems"] else 2


def _fitness(plan: Any, base: Path, language: str) -> list[dict[str, Any]]:
    """Return what spoils the release, from declarations: with sentences and remedies."""
    from engine.evaluation.fitness import fitness
    from engine.release.check import check
    from engine.release.foreseen import worked_out

    try:
        with worked_out("forecast"):
            design = check(plan, base=base)
            found = fitness(design, people=plan.people)
    except EngineError:  # stands among the problems already
        return []
    where = "evaluation.fitness"
    return [
        {
            "code": remark.code,
            "weight": remark.weight.value,
            "what": texts.text(f"{where}.{remark.code}", language=language, **remark.values),
            "remedies": [
                texts.text(f"{where}.remedies.{name}", language=language) for name in remark.remedies
            ],
        }
        for remark in found.remarks
    ]


def run_command(options: argparse.Namespace) -> Answer:
    """Run a plan to its bundle."""
    from engine.ledger import Ledger
    from engine.release.bundle import KEY
    from engine.release.plan import Plan
    from engine.release.reasons import with_reasons
    from engine.release.run import run

    path = Path(options.plan)
    plan = with_reasons(Plan.read(path), dict(map(pair, options.reason)))
    ledger = Ledger(ledger_path(options))
    passphrase = first_line(Path(options.passphrase_file)) if options.passphrase_file else None
    opens = options.signing_passphrase_file
    signing = first_line(Path(opens)) if opens else None
    bundle = run(
        plan,
        out=Path(options.out),
        ledger=ledger,
        base=path.parent,
        language=options.language,
        passphrase=passphrase,
        known=tuple(map(Path, options.known)),
        wants_reasons=not options.without_reason,
        earlier_key=content(Path(options.key)) if options.key else None,
        progress=options.progress,
        signing_passphrase=signing,
    )
    return {
        "bundle": str(bundle.folder),
        "entry": bundle.entry,
        "release_sums": bundle.release_sums,
        "internal_sums": bundle.internal_sums,
        "key": (bundle.folder / KEY).is_dir(),
    }, 0


def _run_lines(answer: dict[str, Any], language: str) -> Iterator[str]:
    yield texts.text("commands.run_done", language=language, folder=answer["bundle"])
    if answer["key"]:
        yield texts.text("commands.run_key", language=language)


def _check_lines(answer: dict[str, Any], language: str) -> Iterator[str]:
    for problem in answer["problems"]:
        yield f"{problem['what']} {problem['do']}"
    yield from answer["sentences"]
    yield from (way["what"] for way in answer.get("cheaper", ()))
    for remark in answer["fitness"]:
        yield " ".join((remark["what"], *remark["remedies"]))
