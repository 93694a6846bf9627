"""The commands that look at what was released."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

from engine import texts
from engine.commands.command import Answer, Commands
from engine.commands.people import add_person, sign_in
from engine.commands.telling import heads, table_lines
from engine.commands.values import content as file_content
from engine.commands.values import (
    existing_ledger,
    first_line,
    ledger_path,
    read_text,
    register_named,
    write_text,
)
from engine.errors import InputRefused

AMOUNTS = ("epsilon", "delta", "money", "currency")
"""What a register can have for its releases, each an option of ``ledger budget``."""


def add_commands(add: Commands) -> None:
    """Add ``verify``, ``pack``, ``unpack``, ``ledger``, ``key``, ``seal``, ``unseal`` and ``reidentify``."""
    several: dict[str, Any] = {"action": "append", "default": []}
    verify = add("verify", verify_command, _verify_lines)
    verify.add_argument("folder")
    verify.add_argument("--ledger", metavar="FILE")
    verify.add_argument(
        "--fingerprint",
        metavar="[NAME=]DIGITS",
        help="fingerprint",
        **several,
    )
    verify.add_argument("--revoked", metavar="CODE", help="revoked", **several)
    pack = add("pack", pack_command, _pack_lines)
    pack.add_argument("folder", help="certify_folder")
    pack.add_argument("--out", required=True, metavar="FILE.custos-release")
    unpack = add("unpack", unpack_command, _pack_lines)
    unpack.add_argument("file", metavar="FILE.custos-release", help="unpack_file")
    unpack.add_argument("--out", required=True, metavar="FOLDER")
    key = add("key", key_command, _key_lines)
    key.add_argument("register")
    key.add_argument("--ledger", metavar="FILE")
    key.add_argument("--out", metavar="FOLDER", help="key_out")
    key.add_argument("--passphrase-file", metavar="FILE", help="opens_key")
    key.add_argument("--lock", metavar="FILE", help="locks_key")
    key.add_argument("--new", metavar="REASON", help="new_key")
    key.add_argument("--lost", action="store_true", help="lost_key")
    add_person(key)
    ledger = add("ledger", ledger_command, _ledger_lines)
    ledger.add_argument("action", nargs="?", choices=("list", "check", "sheet", "budget"), default="list")
    ledger.add_argument("--ledger", metavar="FILE")
    ledger.add_argument("--out", metavar="FILE", help="sheet_out")
    ledger.add_argument("--against", metavar="SHEET", help="sheet_against")
    ledger.add_argument("--register", metavar="NAME", help="budget_of")
    for amount in AMOUNTS:
        ledger.add_argument(f"--{amount}", help="budget_changed")
    ledger.add_argument("--reason", default="", help="budget_reason")
    add_person(ledger)
    seal = add("seal", seal_command, _seal_lines)
    seal.add_argument("folder", nargs="?", help="seal_folder")
    seal.add_argument("--passphrase-file", required=True, metavar="FILE", help="encrypts")
    once = seal.add_mutually_exclusive_group()
    once.add_argument("--set-up", metavar="FILE", help="set_up")
    once.add_argument("--new-passphrase-file", metavar="FILE", help="replaces")
    seal.add_argument("--people", action="store_true", help="seal_people")
    seal.add_argument("--whole-ledger", action="store_true", help="seal_ledger")
    seal.add_argument("--ledger", metavar="FILE")
    unseal = add("unseal", unseal_command, _seal_lines)
    unseal.add_argument("folder")
    unseal.add_argument("--passphrase-file", required=True, metavar="FILE", help="opens_sealed")
    unseal.add_argument("--ledger", metavar="FILE", help="where_changed")
    certify = add("certify", certify_command, _certify_lines)
    certify.add_argument("folder", help="certify_folder")
    certify.add_argument("--p12", required=True, metavar="FILE", help="p12")
    certify.add_argument("--passphrase-file", metavar="FILE", help="opens_p12")
    behind = add("reidentify", reidentify_command, lambda answer, language: [answer["person"]])
    behind.add_argument("folder", help="with_internal")
    behind.add_argument("--table", required=True, metavar="FILE", help="released_from")
    behind.add_argument("--pseudonym", required=True)
    behind.add_argument("--reason", required=True, help="why_known")
    behind.add_argument("--passphrase-file", metavar="FILE", help="opens_key")
    behind.add_argument("--ledger", metavar="FILE")
    add_person(behind)


def verify_command(options: argparse.Namespace) -> Answer:
    """Check a bundle; status 1 when anything is wrong."""
    from engine.ledger import Ledger
    from engine.release.verify import verify

    path = ledger_path(options)
    ledger = None if path is None else Ledger(path, read_only=True)
    found = verify(
        Path(options.folder),
        ledger=ledger,
        fingerprints=dict(map(_fingerprint, options.fingerprint)),
        revocations=tuple(code.strip().lower() for code in options.revoked),
    )
    problems = [
        {"file": problem.values.get("file", ""), "code": problem.code}
        | dict(zip(("what", "do"), texts.explain(problem, language=options.language), strict=True))
        for problem in found.problems
    ]
    answer = {
        "passed": found.passed,
        "chain_checked": found.chain_checked,
        "compared": found.compared,
        "unchecked": list(found.unchecked),
        "signed": list(found.signed),
        "signature": _signature_json(found),
        "unsigned": found.unsigned,
        "fingerprint": found.fingerprint,
        "problems": problems,
    }
    return answer, 0 if found.passed else 1


def pack_command(options: argparse.Namespace) -> Answer:
    """Write what leaves of a bundle as one file."""
    from engine.release.one_file import pack_release

    return {"file": str(pack_release(Path(options.folder), Path(options.out)))}, 0


def unpack_command(options: argparse.Namespace) -> Answer:
    """Write the folder ``release`` of such a file into a new folder."""
    from engine.release.one_file import unpack_release

    return {"folder": str(unpack_release(Path(options.file), Path(options.out)))}, 0


def _pack_lines(answer: dict[str, Any], language: str) -> Iterator[str]:
    name = "packed" if "file" in answer else "unpacked"
    yield texts.text(f"commands.{name}", language=language, **answer)


def ledger_command(options: argparse.Namespace) -> Answer:
    """Return every register of people, what was given from it, and what is left; or see `_sheet_answer`.

    ``budget`` changes what one register has first.
    """
    from engine.ledger import Ledger
    from engine.release.charge import make_composer

    if options.action not in ("list", "budget"):
        return _sheet_answer(options)
    ledger = Ledger(ledger_path(options), read_only=options.action == "list")
    if options.action == "budget":
        holding = register_named(ledger, options.register or "")
        sign_in(options, ledger)
        amounts = {name: value for name in AMOUNTS if (value := getattr(options, name)) is not None}
        if not amounts:
            listed = [f"--{name}" for name in AMOUNTS]
            raise InputRefused("commands.no_amount", register=holding.name, list=listed)
        ledger.change_budget(holding.id, options.reason, accountant=make_composer, **amounts)
    head = ledger.verify_chain()
    by_holding = {one.id: make_composer(one) for one in ledger.holdings()}
    return ledger.to_json(by_holding) | {"head": {"sequence": head.sequence, "hash": head.hash}}, 0


def _sheet_answer(options: argparse.Namespace) -> Answer:
    """Write a counter sheet, or check a ledger, against a sheet from elsewhere where one is named.

    Status 1 where it was put back, written anew, or is another one. Who audits signs that they did.
    """
    from engine.ledger import Ledger
    from engine.release import counter_sheet

    ledger = Ledger(ledger_path(options), read_only=options.person is None)
    answer: dict[str, Any] = {"action": options.action, "state": ""}
    if options.action == "check" and options.against:
        path = Path(options.against)
        sheet = counter_sheet.read(read_text(path, "commands.not_readable"), file=path.name)
        found = counter_sheet.compare(ledger, sheet)
        answer |= {"state": found.state, "row": sheet.row, "date": sheet.date}
    head = ledger.verify_chain()
    answer |= {"head": {"sequence": head.sequence, "hash": head.hash}}
    if answer["state"] not in ("", counter_sheet.CONTINUES):
        return answer, 1
    for signer in sign_in(options, ledger):
        ledger.note_sheet(signer.holding)
    if options.action == "sheet":
        answer["sheet"] = counter_sheet.write(ledger, language=options.language)
        if options.out:
            write_text(Path(options.out), answer["sheet"])
        answer["file"] = options.out or ""
    return answer, 0


def _sheet_lines(answer: dict[str, Any], language: str) -> Iterator[str]:
    if answer["action"] == "sheet":
        file = answer["file"]
        yield texts.text("commands.sheet_written", language=language, file=file) if file else answer["sheet"]
        return
    last, state = answer["head"]["sequence"], answer["state"]
    told = {"row": answer["row"], "date": answer["date"][:10]} if state else {}
    yield texts.text(f"commands.ledger_{state or 'whole'}", language=language, last=last, **told)


def _fingerprint(written: str) -> tuple[str, str]:
    """Return a fingerprint and the name under which it is known."""
    from engine.release.signature import in_groups, plain_fingerprint

    name, _, digits = written.rpartition("=")
    found = plain_fingerprint(digits)
    if not found:
        raise InputRefused("commands.no_fingerprint", given=digits[:100])
    return found, name.strip() or in_groups(found)


def _signature_json(found: Any) -> dict[str, Any] | None:
    if found.signature is None:
        return None
    one = found.signature
    return {
        "fingerprint": one.fingerprint,
        "register": one.register,
        "time": one.time,
        "known_as": found.known_as,
        "by_an_earlier_key": bool(found.known_by) and found.known_by != one.fingerprint,
    }


def key_command(options: argparse.Namespace) -> Answer:
    """Return the signing key of a register; write its sheets, lock it or make another where asked."""
    from engine.ledger import Ledger
    from engine.release import signing

    ledger = Ledger(ledger_path(options))
    holding = register_named(ledger, options.register)
    sign_in(options, ledger)
    if not signing.state(ledger, holding)["fingerprint"]:
        raise InputRefused("signing.no_key", register=holding.name)
    passphrase = first_line(Path(options.passphrase_file)) if options.passphrase_file else None
    if options.new is not None:
        signing.renew(ledger, holding, reason=options.new, passphrase=passphrase, is_lost=options.lost)
    if options.lock is not None:
        new = first_line(Path(options.lock))
        signing.lock(ledger, holding, passphrase=passphrase, new=new)
        passphrase = new or None
    if options.out is not None:
        from engine.release.sheets import write_sheets

        key = signing.open_key(ledger, holding, passphrase)
        write_sheets(key, holding.name, Path(options.out), language=options.language)
    answer = {"register": holding.name, "folder": options.out or ""}
    return answer | signing.state(ledger, holding), 0


def _key_lines(answer: dict[str, Any], language: str) -> Iterator[str]:
    from engine.release.signature import in_groups

    said = {"register": answer["register"], "fingerprint": in_groups(answer["fingerprint"])}
    yield texts.text("commands.key_is", language=language, **said)
    yield texts.text(f"commands.key_{'locked' if answer['locked'] else 'open'}", language=language)
    if answer["folder"]:
        yield texts.text("commands.key_written", language=language, folder=answer["folder"])


def seal_command(options: argparse.Namespace) -> Answer:
    """Encrypt what stays of a bundle; set that up where asked."""
    from engine.ledger import Ledger, default_path
    from engine.release import sealing

    path, secret = ledger_path(options) or default_path(), first_line(Path(options.passphrase_file))
    if options.set_up:
        place, ledger = Path(options.set_up), Ledger(path)
        sealer = sealing.set_up(ledger, secret, lambda code: sealing.write_code(place, code))
    else:
        ledger, sealer = sealing.open_ledger(path, secret)
        if options.new_passphrase_file:
            sealer = sealing.change(ledger, secret, first_line(Path(options.new_passphrase_file)))
    if options.people:
        ledger.lock_people(sealer.people)
    if options.whole_ledger:
        sealer.encrypt(ledger)
    if options.folder:
        sealing.seal(Path(options.folder), sealer)
    return {
        "folder": options.folder or "",
        "is_sealed": True,
        "set_up": options.set_up or "",
        "is_changed": bool(options.new_passphrase_file),
        "people": options.people,
        "ledger": options.whole_ledger,
    }, 0


def unseal_command(options: argparse.Namespace) -> Answer:
    """Open what stays of a bundle again."""
    from engine.release import sealing

    secret = first_line(Path(options.passphrase_file))
    sealing.unseal(Path(options.folder), secret, ledger=existing_ledger(options))
    return {
        "folder": options.folder,
        "set_up": "",
        "is_changed": False,
        "is_sealed": False,
        "people": False,
        "ledger": False,
    }, 0


def _seal_lines(answer: dict[str, Any], language: str) -> Iterator[str]:
    if answer["set_up"]:
        yield texts.text("commands.seal_set_up", language=language, file=answer["set_up"])
    if answer["is_changed"]:
        yield texts.text("signing.sealing.before", language=language)
    if answer["people"]:
        yield texts.text("signing.sealing.people", language=language)
    if answer["ledger"]:
        yield texts.text("signing.sealing.ledger", language=language)
    if answer["folder"]:
        name = "sealed" if answer["is_sealed"] else "unsealed"
        yield texts.text(f"commands.{name}", language=language, folder=answer["folder"])
    yield texts.text("signing.sealing.limits", language=language)


def certify_command(options: argparse.Namespace) -> Answer:
    """Sign the sums of a release with a certificate: a detached CMS beside them."""
    from engine.release.foreign_signatures import certify
    from engine.release.verify import verify

    if problems := verify(Path(options.folder)).problems:  # a good signature over what is not genuine
        raise problems[0]
    words = first_line(Path(options.passphrase_file)) if options.passphrase_file else ""
    path, name = certify(Path(options.folder), file_content(Path(options.p12)), words)
    return {"file": str(path), "certificate": name}, 0


def _certify_lines(answer: dict[str, Any], language: str) -> Iterator[str]:
    yield texts.text("commands.certified", language=language, **answer)


def reidentify_command(options: argparse.Namespace) -> Answer:
    """Return the number of the person behind a pseudonym; that it was asked stays in the ledger."""
    from engine.ledger import Ledger
    from engine.release.pseudonyms import reidentify_person

    ledger = Ledger(ledger_path(options))
    sign_in(options, ledger)
    person = reidentify_person(
        Path(options.folder),
        table=Path(options.table),
        pseudonym=options.pseudonym,
        reason=options.reason,
        ledger=ledger,
        passphrase=first_line(Path(options.passphrase_file)) if options.passphrase_file else None,
    )
    return {"person": person}, 0


def _verify_lines(answer: dict[str, Any], language: str) -> Iterator[str]:
    for problem in answer["problems"]:
        yield f"{problem['what']} {problem['do']}"
    if answer["passed"]:
        signed = "verify_release_signed" if answer["unsigned"] else "verify_agrees_signed"
        agrees = signed if _is_known(answer) else "verify_agrees"
        name = "verify_passed" if answer["chain_checked"] else agrees
        yield texts.text(f"commands.{name}", language=language, part=answer["unsigned"])
    if answer["unchecked"]:
        files = ", ".join(answer["unchecked"])
        yield texts.text("commands.verify_not_compared", language=language, files=files)
    if answer["signed"]:
        yield texts.text("commands.verify_signed", language=language, files=", ".join(answer["signed"]))
    yield from _signature_lines(answer["signature"], language)
    if not answer["chain_checked"] and not _is_known(answer):
        found = answer["fingerprint"]
        yield texts.text("commands.verify_without_ledger", language=language, fingerprint=found)


def _is_known(answer: dict[str, Any]) -> bool:
    return bool(answer["signature"] and answer["signature"]["known_as"])


def _signature_lines(signature: dict[str, Any] | None, language: str) -> Iterator[str]:
    if signature is None:
        yield texts.text("commands.verify_unsigned", language=language)
    elif signature["known_as"]:
        name = "verify_known_earlier" if signature["by_an_earlier_key"] else "verify_known"
        yield texts.text(f"commands.{name}", language=language, name=signature["known_as"])
    else:
        from engine.release.signature import in_groups

        print_ = in_groups(signature["fingerprint"])
        yield texts.text("commands.verify_unknown", language=language, fingerprint=print_)


def _ledger_lines(answer: dict[str, Any], language: str) -> Iterator[str]:
    """Say of each register what there was, is spent and left; and what was given from it."""
    if "action" in answer:
        yield from _sheet_lines(answer, language)
        return
    registers = [
        (one["name"], *(_level(one[name], language) for name in ("budget", "spent", "left")))
        for one in answer["holdings"]
    ]
    yield from table_lines(heads("holding budget spent left", language), registers)
    given = [
        (
            one["reserved_at"][:10],
            entry["name"],
            one["id"],
            texts.text(f"app.releases.state.{one['state']}", language=language),
            _level(one["spent"], language),
            one["title"],
        )
        for entry in answer["holdings"]
        for one in entry["releases"]
    ]
    if given:
        yield ""
        yield from table_lines(heads("released holding entry state epsilon title", language), given)


def _level(loss: dict[str, str] | None, language: str) -> str:
    """Write a privacy level of the ledger; a dash where there is none."""
    return (
        "–"
        if not loss or loss.get("epsilon") is None
        else texts.number(Fraction(loss["epsilon"]), language=language)
    )
