"""The commands for the persons of a register, and for releases that two of them make."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from engine import texts
from engine.commands.command import Answer, Commands
from engine.commands.telling import heads, table_lines
from engine.commands.values import (
    existing_ledger,
    first_line,
    ledger_path,
    pair,
    password_for,
    register_named,
    write_bytes,
)
from engine.errors import InputRefused

YES, NO, NONE = "yes", "no", "none"


def add_commands(add: Commands) -> None:
    """Add ``people``, ``prepare`` and ``approve``."""
    several: dict[str, Any] = {"action": "append", "default": []}
    people = add("people", people_command, _people_lines)
    people.add_argument("register")
    people.add_argument("--ledger", metavar="FILE")
    people.add_argument("--name", metavar="NAME", help="name_person")
    people.add_argument("--role", choices=("prepare", "approve", "audit"))
    people.add_argument("--new-passphrase-file", metavar="FILE", help="locks_new")
    people.add_argument("--withdraw", metavar="NAME", help="withdraw")
    people.add_argument(
        "--rule",
        metavar="NAME=VALUE",
        help="rule",
        **several,
    )
    people.add_argument("--why", metavar="TEXT", help="why")
    add_person(people)
    people.add_argument("--second-person", metavar="NAME", help="second_person")
    people.add_argument("--second-passphrase-file", metavar="FILE")
    prepare = add("prepare", prepare_command, _prepare_lines)
    prepare.add_argument("plan", metavar="PLAN.json")
    prepare.add_argument("--out", required=True, metavar="REQUEST.json")
    prepare.add_argument("--ledger", metavar="FILE")
    prepare.add_argument("--known", metavar="FOLDER", help="known", **several)
    prepare.add_argument("--reason", metavar="NAME=TEXT", help="reason_as_for_run", **several)
    prepare.add_argument("--signing-passphrase-file", metavar="FILE", help="opens_signing")
    prepare.add_argument("--server-password-from", metavar="VARIABLE", help="server_password")
    add_person(prepare)
    approve = add("approve", approve_command, _approve_lines)
    approve.add_argument("request", metavar="REQUEST.json")
    approve.add_argument("--out", metavar="APPROVAL.json", help="approve_out")
    approve.add_argument("--ledger", metavar="FILE")
    add_person(approve)


def add_person(parser: argparse.ArgumentParser) -> None:
    """Add the options that say who acts."""
    parser.add_argument("--person", metavar="NAME", help="person")
    parser.add_argument("--person-passphrase-file", metavar="FILE", help="opens_theirs")
    parser.add_argument("--person-key", metavar="FILE", help="person_key")


def sign_in(options: argparse.Namespace, ledger: Any) -> list[Any]:
    """Let the person act whom the options name, in every register that their key is for."""
    from engine.ledger import staff
    from engine.release import seconded

    if options.person is None:
        return []
    found, refused = [], InputRefused("staff.unknown")
    file = Path(options.person_key) if options.person_key else None
    for holding in ledger.holdings():
        try:
            person = seconded.find_person(ledger, holding, options.person)
        except InputRefused:
            continue
        try:
            found.append(seconded.opened(ledger, holding, person, _passphrase(options), file))
        except InputRefused as error:
            refused = error
    if not found:
        raise refused
    for signer in found:
        staff.sign_in(ledger.path, signer)
    return found


def _passphrase(options: argparse.Namespace) -> str:
    return first_line(Path(options.person_passphrase_file)) if options.person_passphrase_file else ""


def people_command(options: argparse.Namespace) -> Answer:
    """Return the persons and the rule of a register; name or withdraw one, or set the rule, where asked."""
    from engine.ledger import Ledger
    from engine.ledger.staff import countersigned
    from engine.release import seconded

    changes = options.name is not None or options.withdraw is not None or bool(options.rule)
    ledger = Ledger(ledger_path(options), read_only=not changes)
    holding = register_named(ledger, options.register)
    sign_in(options, ledger)
    second = None
    if options.second_person is not None:
        person = seconded.find_person(ledger, holding, options.second_person)
        opens = options.second_passphrase_file
        second = seconded.opened(ledger, holding, person, first_line(Path(opens)) if opens else "")
    with countersigned(ledger.path, second):
        if options.name is not None:
            locks = options.new_passphrase_file
            seconded.name_person(
                ledger,
                holding,
                name=options.name,
                role=options.role or "prepare",
                passphrase=first_line(Path(locks)) if locks else "",
            )
        if options.withdraw is not None:
            gone = seconded.find_person(ledger, holding, options.withdraw)
            ledger.withdraw_person(holding.id, gone.id, options.why or "")
        if options.rule:
            rule = ledger.staff().rule(holding.id)
            for name, value in map(pair, options.rule):
                rule = replace(rule, **_part(name, value))
            ledger.set_rule(holding.id, rule, options.why or "")
    return {"register": holding.name} | seconded.staff_json(ledger, holding), 0


def _part(name: str, value: str) -> dict[str, Any]:
    from engine.release import seconded

    if name == "unbounded" and value in (YES, NO):
        return {name: value == YES}
    if name not in ("epsilon", "money"):
        raise InputRefused("staff.no_threshold", found=f"{name}={value}"[:100])
    return {name: None if value == NONE else seconded.threshold(value)}


def _people_lines(answer: dict[str, Any], language: str) -> Iterator[str]:
    from engine.release.seconded import rule_words
    from engine.release.signature import in_groups

    if not answer["persons"]:
        yield texts.text("commands.people_none", language=language, register=answer["register"])
        return
    rows = [
        (
            one["name"],
            texts.text(
                f"signing.roles.{'withdrawn' if one['withdrawn'] else one['role']}", language=language
            ),
            in_groups(one["fingerprint"]),
        )
        for one in answer["persons"]
    ]
    yield from table_lines(heads("person role fingerprint", language), rows)
    yield from rule_words(answer["rule"], language=language)


def prepare_command(options: argparse.Namespace) -> Answer:
    """Reserve a release for a second person to approve, and write the request that is carried to them."""
    from engine.ledger import Ledger
    from engine.release.plan import Plan
    from engine.release.reasons import with_reasons
    from engine.release.run import prepare
    from engine.release.seconded import read_request

    path = Path(options.plan)
    plan = with_reasons(Plan.read(path), dict(map(pair, options.reason)))
    ledger = Ledger(ledger_path(options))
    sign_in(options, ledger)
    opens = options.signing_passphrase_file
    request = prepare(
        plan,
        ledger=ledger,
        base=path.parent,
        known=tuple(map(Path, options.known)),
        progress=options.progress,
        signing_passphrase=first_line(Path(opens)) if opens else None,
        password=password_for(plan, path.parent, options.server_password_from),
        wants_reasons=True,
        write=partial(write_bytes, Path(options.out)),
    )
    asked = read_request(request).tree  # its plan says of lists beside it which ones they are
    return {"request": options.out, "plan_fingerprint": asked["plan_fingerprint"]}, 0


def _prepare_lines(answer: dict[str, Any], language: str) -> Iterator[str]:
    yield texts.text("commands.prepared", language=language, file=answer["request"])


def approve_command(options: argparse.Namespace) -> Answer:
    """Show what was prepared, and approve it where asked."""
    from engine.release import seconded

    path = Path(options.request)
    content = seconded.read_carried(path)
    asked = seconded.read_request(content, file=path.name)
    ledger = existing_ledger(options)
    answer = asked.told(ledger) | {"approval": ""}
    if options.out is None:
        return answer, 0
    if options.person_key:
        signer, _ = seconded.open_file(Path(options.person_key), _passphrase(options))
    else:
        if ledger is None or options.person is None:
            raise InputRefused("staff.nobody_acts")
        holding = ledger.holding(str(asked.tree["holding"]))
        person = seconded.find_person(ledger, holding, options.person)
        signer = seconded.opened(ledger, holding, person, _passphrase(options))
    write_bytes(Path(options.out), seconded.approve(content, signer, file=path.name))
    return answer | {"approval": options.out}, 0


def _approve_lines(answer: dict[str, Any], language: str) -> Iterator[str]:
    told = ("files", "columns", "steps", "settings", "reasons")
    for name in ("register", "title", "recipient", "preparer", "method", *told):
        label = texts.text(f"signing.request.{name}", language=language)
        yield f"{label}: {answer[name] or '–'}"
    yield texts.text("signing.request.fingerprint", language=language, fingerprint=answer["plan_fingerprint"])
    yield (
        answer["says"]
        if not answer["approval"]
        else texts.text("commands.approved", language=language, file=answer["approval"])
    )
