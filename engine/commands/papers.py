"""The commands that write what officers and auditors get: papers to go on writing in, an auditor's bundle."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from engine import texts
from engine.commands.command import Answer, Commands
from engine.commands.people import add_person, sign_in
from engine.commands.values import existing_ledger, ledger_path, pair, register_named


def add_commands(add: Commands) -> None:
    """Add ``papers``, ``describe`` and ``auditor``."""
    papers = add("papers", papers_command, _papers_lines)
    auditor = add("auditor", auditor_command, _auditor_lines)
    for parser in (papers, auditor):
        parser.add_argument("folder", metavar="BUNDLE")
        parser.add_argument("--out", required=True, metavar="FOLDER", help="absent_or_empty")
        parser.add_argument("--ledger", metavar="FILE")
    describe = add("describe", describe_command, _describe_lines)
    describe.add_argument("register")
    describe.add_argument(
        "--set",
        metavar="NAME=TEXT",
        action="append",
        default=[],
        help="answer",
    )
    describe.add_argument("--ledger", metavar="FILE")
    add_person(describe)


def papers_command(options: argparse.Namespace) -> Answer:
    """Write the papers of a bundle; return what became of each."""
    from engine.release.papers import write_papers

    ledger = existing_ledger(options)
    found = write_papers(Path(options.folder), Path(options.out), ledger=ledger, language=options.language)
    return {"folder": options.out, "papers": [asdict(one) for one in found]}, 0


def _papers_lines(answer: dict[str, object], language: str) -> Iterator[str]:
    yield texts.text("commands.papers_written", language=language, folder=answer["folder"])
    papers = answer["papers"]
    assert isinstance(papers, list)
    for one in papers:
        title = texts.text(f"papers.{one['paper']}.title", language=language)
        if one["why_not"]:
            reason = texts.text(f"papers.why_not.{one['why_not']}", language=language)
            yield texts.text("commands.paper_not", language=language, title=title, reason=reason)
        else:
            said = {"file": one["file"], "filled": one["filled"], "fields": one["fields"]}
            yield texts.text("commands.paper", language=language, title=title, **said)


def describe_command(options: argparse.Namespace) -> Answer:
    """Return what was answered about a register for officers' papers; answer some of it where asked."""
    from engine.ledger import Ledger
    from engine.ledger.register import QUESTIONS

    ledger = Ledger(ledger_path(options), read_only=not options.set)
    holding = register_named(ledger, options.register)
    if options.set:
        sign_in(options, ledger)
        ledger.answer(holding.id, dict(map(pair, options.set)))
    known = ledger.answers(holding.id)
    answers = {name: known.get(name, "") for name in QUESTIONS}
    return {"register": holding.name, "answers": answers}, 0


def _describe_lines(answer: dict[str, object], language: str) -> Iterator[str]:
    answers = answer["answers"]
    assert isinstance(answers, dict)
    for name, said in answers.items():
        label = texts.text(f"papers.questions.{name}.label", language=language)
        if said:
            yield f"{name}: {label}: {said}"
        else:
            asked = texts.text(f"papers.questions.{name}.help", language=language)
            yield texts.text("commands.unanswered", language=language, name=name, label=label, help=asked)


def auditor_command(options: argparse.Namespace) -> Answer:
    """Write the bundle for an auditor; return what is in it and what is not."""
    from engine.release.auditor import write_auditor

    return write_auditor(
        Path(options.folder),
        Path(options.out),
        ledger=existing_ledger(options),
        language=options.language,
    ), 0


def _auditor_lines(answer: dict[str, object], language: str) -> Iterator[str]:
    yield texts.text("commands.auditor_written", language=language, **answer)
