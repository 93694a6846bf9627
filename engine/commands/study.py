"""The commands for a study of several sites: cards, the study, shares, and the result of them."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from engine import texts
from engine.commands.command import Answer, Commands
from engine.commands.people import add_person, sign_in
from engine.commands.plan import check_lines
from engine.commands.telling import heads, say_view, table_lines
from engine.commands.values import (
    existing_ledger,
    first_line,
    ledger_and_sealer,
    ledger_path,
    number_option,
    pair,
    register_named,
    write_bytes,
)
from engine.errors import InputRefused


def add_commands(add: Commands) -> None:
    """Add the actions of ``study``: from a card to the result."""
    words = "commands.study"
    actions = add.subparsers.add_parser("study", help=words, description=words).add_subparsers(
        title="commands.headings.actions", metavar="ACTION", required=True
    )

    def action(name: str, command: Any, lines: Any) -> argparse.ArgumentParser:
        told = f"commands.study_{name}"
        parser: argparse.ArgumentParser = actions.add_parser(
            name, parents=[add.common], help=told, description=told
        )
        parser.set_defaults(command=command, lines=lines)
        return parser

    card = _of_register(action("card", card_command, _card_lines))
    card.add_argument("--name", required=True, metavar="NAME", help="site_name")
    card.add_argument("--out", required=True, metavar="CARD")
    card.add_argument("--epsilon", metavar="E", help="site_budget")
    card.add_argument("--delta", default="0", metavar="D")
    card.add_argument("--unit", choices=("person", "row"), default="person")
    new = action("new", new_command, _new_lines)
    new.add_argument("plan", metavar="PLAN.json")
    new.add_argument("cards", metavar="CARD", nargs="+")
    _of_register(new, "--register", required=True)
    new.add_argument("--name", required=True, metavar="NAME", help="coordinator")
    new.add_argument("--out", required=True, metavar="STUDY")
    new.add_argument("--after", metavar="STUDY", help="after")
    new.add_argument(
        "--holder",
        metavar="CARD",
        action="append",
        default=[],
        help="holder",
    )
    new.add_argument("--least", type=int, metavar="N", help="least")
    new.add_argument("--rehearsal", action="store_true", help="rehearsal")
    ways = action("forecast", forecast_command, None)
    ways.add_argument("plan", metavar="PLAN.json")
    ways.add_argument("--sites", required=True, type=int, metavar="N", help="sites")
    show = action("show", show_command, _show_lines)
    show.add_argument("study", metavar="STUDY")
    tried = action("try", try_command, check_lines)
    share = action("share", share_command, _share_lines)
    for parser in (tried, share):
        parser.add_argument("study", metavar="STUDY")
        parser.add_argument("--plan", required=True, metavar="PLAN.json", help="own_plan")
        parser.add_argument("--site", required=True, metavar="NAME", help="this_site")
    tried.add_argument("--ledger", metavar="FILE")
    share.add_argument("--out", required=True, metavar="FOLDER", help="share_out")
    share.add_argument("--send", required=True, metavar="FILE", help="share_send")
    share.add_argument("--reason", metavar="NAME=TEXT", action="append", default=[], help="reason_stays")
    share.add_argument("--without-reason", action="store_true", help="without_reason")
    later = action("next", next_command, _next_lines)
    later.add_argument("study", metavar="STUDY")
    later.add_argument("shares", metavar="SHARE", nargs="+")
    _of_register(later, "--register", required=True)
    later.add_argument("--out", required=True, metavar="STUDY", help="next_out")
    combine = action("combine", combine_command, _combine_lines)
    combine.add_argument("study", metavar="STUDY")
    combine.add_argument("shares", metavar="SHARE", nargs="+")
    _of_register(combine, "--register", required=True)
    combine.add_argument("--out", required=True, metavar="FOLDER")
    for parser in (later, combine):
        parser.add_argument("--without", metavar="NAME", action="append", default=[], help="without_site")
        parser.add_argument("--mask", metavar="MASK", action="append", default=[], help="mask")
    _signs(share)
    roster = action("roster", roster_command, _roster_lines)
    roster.add_argument("study", metavar="STUDY")
    roster.add_argument("shares", metavar="SHARE", nargs="+")
    _of_register(roster, "--register", required=True)
    roster.add_argument("--without", metavar="NAME", action="append", default=[])
    roster.add_argument("--out", required=True, metavar="ROSTER")
    mask = action("mask", mask_command, _mask_lines)
    mask.add_argument("study", metavar="STUDY")
    mask.add_argument("roster", metavar="ROSTER")
    _of_register(mask, "--register", required=True)
    mask.add_argument("--out", required=True, metavar="MASK")
    for parser in (share, combine):
        add_person(parser)
        parser.add_argument("--seal-passphrase-file", metavar="FILE", help="encrypts_inside")


def _of_register(
    parser: argparse.ArgumentParser, name: str = "register", **how: Any
) -> argparse.ArgumentParser:
    parser.add_argument(name, **how)
    return _signs(parser)


def _signs(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    parser.add_argument("--ledger", metavar="FILE")
    parser.add_argument("--signing-passphrase-file", metavar="FILE", help="opens_signing")
    return parser


def card_command(options: argparse.Namespace) -> Answer:
    """Write the card with which a site introduces itself."""
    from engine.ledger import Ledger
    from engine.methods.shared.site_files import read_card
    from engine.release import studies

    ledger = Ledger(ledger_path(options))
    try:
        holding = register_named(ledger, options.register)
    except InputRefused:
        if options.epsilon is None:
            raise
        holding = ledger.create_holding(
            options.register.strip(),
            unit=options.unit,
            neighbours="add_remove",
            epsilon=number_option(options.epsilon, "--epsilon"),
            delta=number_option(options.delta, "--delta"),
        )
    content = studies.write_card(ledger, holding, options.name, _passphrase(options))
    write_bytes(Path(options.out), content)
    member = read_card(content, options.out)
    return {"name": member.name, "fingerprint": member.fingerprint, "file": options.out}, 0


def new_command(options: argparse.Namespace) -> Answer:
    """Write the study that a plan and the cards of its sites make."""
    from engine.ledger import Ledger
    from engine.methods.shared.site_files import read_card, read_study
    from engine.release import signing, studies
    from engine.release.plan import Plan

    plan = Plan.read(Path(options.plan))
    roster = [read_card(studies.content_of(Path(card)), Path(card).name) for card in options.cards]
    before = None
    if options.after is not None:
        before = read_study(studies.content_of(Path(options.after)), Path(options.after).name)
    ledger = Ledger(ledger_path(options))
    key = signing.open_key(ledger, _coordination(ledger, options.register), _passphrase(options))
    holders = [read_card(studies.content_of(Path(card)), Path(card).name) for card in options.holder]
    content = studies.make_study(
        plan,
        roster,
        options.name,
        key,
        before=before,
        rehearsal=options.rehearsal,
        holders=holders,
        least=options.least,
    )
    write_bytes(Path(options.out), content)
    return _study_json(read_study(content)) | {"file": options.out}, 0


def forecast_command(options: argparse.Namespace) -> Answer:
    """Return the errors of either way to add noise, before a study is written."""
    from engine.release import studies
    from engine.release.plan import Plan
    from engine.report.words import word

    view = studies.forecast_ways(Plan.read(Path(options.plan)), options.sites)
    verdict = view.note
    assert verdict is not None, "it says which way pays"
    options.lines = lambda answer, language: [*say_view(view, language), word(verdict, language)]
    rows = [{"people": size, "own": own, "one": one} for _, size, own, one in view.rows]
    return {"sites": options.sites, "errors": rows, "way": verdict.id.rpartition(".")[2]}, 0


def _coordination(ledger: Any, name: str) -> Any:
    """Return the register of a coordinator, made without a budget where it is not there: it pays nothing."""
    try:
        return register_named(ledger, name)
    except InputRefused:
        return ledger.create_holding(name.strip(), unit="person", neighbours="add_remove")


def show_command(options: argparse.Namespace) -> Answer:
    """Return what a study asks of whom, before anybody takes part."""
    from engine.methods.shared.site_files import read_study
    from engine.release import studies

    path = Path(options.study)
    return _study_json(read_study(studies.content_of(path), path.name)) | {"file": options.study}, 0


def try_command(options: argparse.Namespace) -> Answer:
    """Return what the share of a site would cost and whether its columns fit, tried on invented rows."""
    from engine.release import studies
    from engine.release.plan import Plan
    from engine.release.preview import preview_json

    path = Path(options.plan)
    study = studies.content_of(Path(options.study))
    plan = studies.plan_of_site(study, options.site, Plan.read(path))
    answer = preview_json(plan, existing_ledger(options), base=path.parent, language=options.language)
    if not answer["problems"]:
        answer["numbers"] = studies.rehearse(plan, path.parent)
    return answer, 0 if not answer["problems"] else 2


def share_command(options: argparse.Namespace) -> Answer:
    """Make the share of a site and write the file that is sent; a bundle that is there is signed again."""
    from engine.release import sealing, signing, studies
    from engine.release.bundle import INTERNAL
    from engine.release.plan import Plan
    from engine.release.reasons import with_reasons
    from engine.release.run import run
    from engine.release.working import sweep

    path, out = Path(options.plan), Path(options.out)
    study = studies.content_of(Path(options.study))
    own = with_reasons(Plan.read(path), dict(map(pair, options.reason)))
    plan = studies.plan_of_site(study, options.site, own)
    (ledger, sealer), passphrase = ledger_and_sealer(options), _passphrase(options)
    sign_in(options, ledger)
    is_new = not (out / "release").exists()
    key = signing.open_key(ledger, register_named(ledger, plan.holding), passphrase)
    if is_new:
        studies.refuse_other_key(study, options.site, key)
        made = run(
            plan,
            out=out,
            ledger=ledger,
            base=path.parent,
            language=options.language,
            progress=options.progress,
            wants_reasons=not options.without_reason,
            signing_passphrase=passphrase,
            seals=sealer is not None,
        )
        out = made.folder  # another one where somebody else was first
    else:
        sweep(ledger)  # a process that was killed may have made it, and left its entry open
    write_bytes(Path(options.send), studies.sign_share(study, options.site, out, key))
    if sealer is not None and (out / INTERNAL).is_dir():
        sealing.seal(out, sealer)
    return {"bundle": str(out), "file": options.send, "paid": is_new, "site": options.site}, 0


def next_command(options: argparse.Namespace) -> Answer:
    """Write the study of the next round, with the totals of those before."""
    from engine.ledger import Ledger
    from engine.methods.shared.site_files import read_study
    from engine.release import signing, studies

    ledger = Ledger(ledger_path(options))
    key = signing.open_key(ledger, register_named(ledger, options.register), _passphrase(options))
    study = studies.content_of(Path(options.study))
    shares = [studies.read_share(Path(one)) for one in options.shares]
    answers = [studies.read_mask(Path(one)) for one in options.mask]
    content = studies.next_round(study, shares, key, options.without, answers)
    write_bytes(Path(options.out), content)
    return _study_json(read_study(content)) | {"file": options.out}, 0


def combine_command(options: argparse.Namespace) -> Answer:
    """Put the shares of a study together to one release."""
    from engine.release import sealing, studies
    from engine.release.run import run

    study = studies.content_of(Path(options.study))
    shares = {str(Path(one).absolute()): Path(one) for one in options.shares}
    if len(shares) < len(options.shares):
        raise InputRefused("sites.same_file")
    answers = {str(Path(one).absolute()): Path(one) for one in options.mask}
    plan = studies.plan_of_result(study, shares, options.without, answers)
    ledger, sealer = ledger_and_sealer(options)
    sign_in(options, ledger)
    register = _coordination(ledger, options.register)
    bundle = run(
        replace(plan, holding=register.name),
        out=Path(options.out),
        ledger=ledger,
        language=options.language,
        progress=options.progress,
        signing_passphrase=_passphrase(options),
        seals=sealer is not None,
    )
    if sealer is not None:
        sealing.seal(bundle.folder, sealer)
    return {"bundle": str(bundle.folder), "entry": bundle.entry, "sites": len(shares)}, 0


def roster_command(options: argparse.Namespace) -> Answer:
    """Write what the coordinator sends to the holders once all shares are there."""
    from engine.ledger import Ledger
    from engine.release import signing, studies

    ledger = Ledger(ledger_path(options))
    key = signing.open_key(ledger, register_named(ledger, options.register), _passphrase(options))
    study = studies.content_of(Path(options.study))
    shares = [studies.read_share(Path(one)) for one in options.shares]
    write_bytes(Path(options.out), studies.write_roster(study, shares, key, options.without))
    return {"file": options.out, "sites": len(shares)}, 0


def mask_command(options: argparse.Namespace) -> Answer:
    """Write a holder's answer to a roster: once for each study."""
    from engine.ledger import Ledger
    from engine.release import studies

    ledger = Ledger(ledger_path(options))
    holding = register_named(ledger, options.register)
    study, roster = (studies.content_of(Path(one)) for one in (options.study, options.roster))
    name = Path(options.roster).name
    content = studies.write_mask(study, roster, name, ledger, holding, _passphrase(options))
    write_bytes(Path(options.out), content)
    return {"file": options.out}, 0


def _passphrase(options: argparse.Namespace) -> str | None:
    opens = options.signing_passphrase_file
    return first_line(Path(opens)) if opens else None


def _study_json(study: Any) -> dict[str, Any]:
    from engine.release.studies import level_of_round

    of_round = float(f"{float(level_of_round(study)):.6g}")
    members = [(study.coordinator, "coordinates"), *((one, "site") for one in study.roster)]
    members += [(one, "holder") for one in study.holders]
    return {
        "study": study.short,
        "id": study.id,
        "title": study.title,
        "called": study.called,
        "method": study.method,
        "parameters": dict(study.parameters),
        "epsilon": study.head["budget"]["epsilon"] if study.rounds == 1 else of_round,
        "delta": study.head["budget"]["delta"],
        "attempt": study.attempt,
        "round": study.round,
        "rounds": study.rounds,
        "rehearsal": study.rehearsal,
        "numbers": sum(study.cells),
        "way": study.way,
        "least": study.least,
        "coordinator": study.coordinator.name,
        "members": [
            {"name": one.name, "fingerprint": one.fingerprint, "part": part} for one, part in members
        ],
    }


def _card_lines(answer: dict[str, Any], language: str) -> Iterator[str]:
    yield texts.text("commands.study_card_done", language=language, file=answer["file"])
    yield texts.text("commands.study_fingerprint", language=language, fingerprint=answer["fingerprint"])


def _new_lines(answer: dict[str, Any], language: str) -> Iterator[str]:
    yield texts.text("commands.study_new_done", language=language, file=answer["file"])
    yield from _show_lines(answer, language)


def _show_lines(answer: dict[str, Any], language: str) -> Iterator[str]:
    said = "study_rehearsed" if answer["rehearsal"] else "study_says"
    names = ("study", "attempt", "method", "epsilon", "numbers")
    values = {"title": answer["called"]} | {name: answer[name] for name in names}
    yield texts.text(f"commands.{said}", language=language, **values)
    if answer["rounds"] > 1:
        places = {name: answer[name] for name in ("round", "rounds")}
        yield texts.text("commands.study_round", language=language, **places)
    rows = [
        (one["name"], one["fingerprint"], texts.text(f"commands.study_{one['part']}", language=language))
        for one in answer["members"]
    ]
    yield from table_lines(heads("member fingerprint part", language), rows)
    yield texts.text("commands.study_compare", language=language)


def _next_lines(answer: dict[str, Any], language: str) -> Iterator[str]:
    yield texts.text("commands.study_next_done", language=language, file=answer["file"])
    yield from _show_lines(answer, language)


def _share_lines(answer: dict[str, Any], language: str) -> Iterator[str]:
    done = "study_share_done" if answer["paid"] else "study_share_again"
    yield texts.text(f"commands.{done}", language=language, file=answer["file"], folder=answer["bundle"])


def _combine_lines(answer: dict[str, Any], language: str) -> Iterator[str]:
    yield texts.text("commands.run_done", language=language, folder=answer["bundle"])


def _roster_lines(answer: dict[str, Any], language: str) -> Iterator[str]:
    yield texts.text("commands.study_roster_done", language=language, file=answer["file"])


def _mask_lines(answer: dict[str, Any], language: str) -> Iterator[str]:
    yield texts.text("commands.study_mask_done", language=language, file=answer["file"])
