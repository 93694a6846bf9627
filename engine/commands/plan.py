"""The commands that make, check and run a plan."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from engine import texts
from engine.commands.command import Answer, Commands
from engine.commands.people import add_person, sign_in
from engine.commands.telling import table_lines
from engine.commands.values import (
    budget,
    content,
    existing_ledger,
    first_line,
    json_file,
    json_object,
    json_pair,
    ledger_and_sealer,
    number_option,
    pair,
    password_for,
    read_schema,
    read_text,
    relative,
    sizes,
    write_text,
)
from engine.errors import EngineError, InputRefused


def add_commands(add: Commands) -> None:
    """Add ``plan new``, ``plan check`` and ``run``."""
    words = "commands.plan"
    actions = add.subparsers.add_parser("plan", help=words, description=words).add_subparsers(
        title="commands.headings.actions", metavar="ACTION", required=True
    )
    add_command(actions, add.common)
    check = actions.add_parser("check", parents=[add.common], help="commands.plan_check")
    check.set_defaults(command=plan_check_command, lines=check_lines)
    check.add_argument("plan", metavar="PLAN.json")
    check.add_argument("--ledger", metavar="FILE")
    several: dict[str, Any] = {"action": "append", "default": []}
    check.add_argument("--reason", metavar="NAME=TEXT", help="reason_as_for_run", **several)
    links = actions.add_parser("links", parents=[add.common], help="commands.plan_links")
    links.set_defaults(command=plan_links_command, lines=_link_lines)
    links.add_argument("plan", metavar="PLAN.json")
    run = add("run", run_command, _run_lines)
    run.add_argument("plan", metavar="PLAN.json")
    run.add_argument("--out", required=True, metavar="FOLDER")
    run.add_argument("--ledger", metavar="FILE")
    run.add_argument("--passphrase-file", metavar="FILE", help="locks_inside")
    run.add_argument(
        "--signing-passphrase-file",
        metavar="FILE",
        help="opens_signing",
    )
    run.add_argument("--known", metavar="FOLDER", help="known", **several)
    run.add_argument("--reason", metavar="NAME=TEXT", help="reason_stays", **several)
    run.add_argument("--without-reason", action="store_true", help="without_reason")
    run.add_argument("--approval", metavar="FILE", help="approval")
    add_person(run)
    run.add_argument("--seal-passphrase-file", metavar="FILE", help="encrypts_inside")
    run.add_argument("--key", metavar="FILE", help="earlier_key")
    run.add_argument("--server-password-from", metavar="VARIABLE", help="server_password")


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


def plan_links_command(options: argparse.Namespace) -> Answer:
    """Return how the tables of a plan hang together, counted from their rows."""
    from engine.release.plan import Plan
    from engine.release.table_links import HEADINGS, hang_together

    path = Path(options.plan)
    view = hang_together(Plan.read(path), base=path.parent, progress=options.progress)
    return {"tables": [dict(zip(HEADINGS, row, strict=True)) for row in view.rows]}, 0


def _link_lines(answer: dict[str, Any], language: str) -> Iterator[str]:
    rows = [tuple(map(str, one.values())) for one in answer["tables"]]
    names = [texts.text(f"linked.hanging.{name}", language=language) for name in answer["tables"][0]]
    yield from table_lines(names, rows)
    yield texts.text("linked.hanging.note", language=language)


def run_command(options: argparse.Namespace) -> Answer:
    """Run a plan to its bundle."""
    from engine.release import sealing
    from engine.release.bundle import KEY
    from engine.release.plan import Plan
    from engine.release.reasons import with_reasons
    from engine.release.run import run
    from engine.release.seconded import read_carried

    path = Path(options.plan)
    plan = with_reasons(Plan.read(path), dict(map(pair, options.reason)))
    ledger, sealer = ledger_and_sealer(options)
    sign_in(options, ledger)
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
        approval=read_carried(Path(options.approval)) if options.approval else None,
        seals=sealer is not None,
        password=password_for(plan, path.parent, options.server_password_from),
    )
    asked = _asked(bundle.folder)
    has_key = (bundle.folder / KEY).is_dir()
    why = ""
    try:
        if sealer is not None:
            sealing.seal(bundle.folder, sealer)
    except EngineError as error:  # made and counted all the same
        why = " ".join(texts.explain(error, language=options.language))
    return {
        "bundle": str(bundle.folder),
        "entry": bundle.entry,
        "release_sums": bundle.release_sums,
        "internal_sums": bundle.internal_sums,
        "key": has_key,
        "lists": [
            " ".join(texts.sentences(finding.code, finding.values, language=options.language))
            for finding in bundle.findings
            if finding.code in ("preparation.people_not_found", "preparation.first_of_list")
        ],
        "sealed": sealer is not None and not why,
        "not_sealed": why,
        **asked,
    }, 2 if why else 0


def _asked(folder: Path) -> dict[str, Any]:
    """Return what a run asked of a server, from the evidence that stays; nothing where none was asked."""
    from engine import strict_json
    from engine.bounded import EVIDENCE, read_bytes
    from engine.release.bundle import INTERNAL

    evidence = strict_json.loads(read_bytes(folder / INTERNAL / "evidence.json", EVIDENCE))
    read = evidence["internal"]["input"]
    if "address" not in read:
        return {}
    about = {name: read[name] for name in ("address", "queries", "sent", "received")}
    return {"asked": {**about, "rows": read["fetched"]}}


def _run_lines(answer: dict[str, Any], language: str) -> Iterator[str]:
    done = "run_sealed" if answer["sealed"] else "run_open" if answer["not_sealed"] else "run_done"
    yield texts.text(f"commands.{done}", language=language, folder=answer["bundle"])
    if "asked" in answer:
        yield texts.text("commands.run_asked", language=language, **answer["asked"])
    if answer["key"] and not answer["sealed"]:
        yield texts.text("commands.run_key", language=language)
    yield from answer["lists"]
    if answer["not_sealed"]:
        yield answer["not_sealed"]


def check_lines(answer: dict[str, Any], language: str) -> Iterator[str]:
    """Yield what checking a plan found, in sentences."""
    for problem in answer["problems"]:
        yield f"{problem['what']} {problem['do']}"
    yield from answer["sentences"]
    yield from answer.get("rows", ())  # of whom: a cap and people kept apart can halve the rows
    yield from (way["what"] for name in ("cheaper", "served") for way in answer.get(name, ()))
    for remark in answer.get("fitness", ()):
        yield " ".join((remark["what"], *remark["remedies"]))


# --- writing a plan --------------------------------------------------------------------------------------
# Every field of it can be named.


_SEVERAL = {
    "--table": ("NAME=FILE", "table"),
    "--table-schema": ("NAME=SCHEMA.json", "declared"),
    "--read": ("NAME=JSON", "read"),
    "--hierarchy": ("COLUMN=FILE", "hierarchy"),
    "--set": ("NAME=JSON", "parameter"),
    "--purpose": ("NAME=TEXT", "purpose"),
    "--price": ("NAME=JSON", "price"),
    "--candidate": ("JSON", "candidate"),
    "--measure": ("ID", "measure"),
    "--reason": ("NAME=TEXT", "reason_stays"),
    "--also": (
        "NAME",
        "also",
    ),
}


def add_command(actions: Any, common: argparse.ArgumentParser) -> None:
    """Add ``plan new``."""
    new = actions.add_parser("new", parents=[common], help="commands.plan_new")
    new.set_defaults(
        command=plan_new_command,
        lines=lambda answer, language: [
            texts.text("commands.plan_written", language=language, file=answer["plan"])
        ],
    )
    new.add_argument("file", nargs="?", help="table_of_method")
    new.add_argument("--schema", metavar="SCHEMA.json", help="declared")
    new.add_argument("--method", required=True, metavar="ID")
    for option, (form, words) in _SEVERAL.items():
        new.add_argument(option, action="append", default=[], metavar=form, help=words)
    new.add_argument("--epsilon")
    new.add_argument("--delta", default="0")
    new.add_argument("--neighbours", default="add_remove", choices=("add_remove", "replace_one"))
    new.add_argument("--holding", default="", help="holding")
    new.add_argument("--holding-epsilon", help="holding_epsilon")
    new.add_argument("--holding-delta", default="0")
    new.add_argument("--sizes", metavar="N,N", help="sizes")
    new.add_argument("--prepare", metavar="STEPS.json", help="prepare")
    new.add_argument("--sample", metavar="N", help="sample")
    new.add_argument("--step", default="", metavar="NAME", help="step")
    new.add_argument("--continues", default="", metavar="ENTRY", help="continues")
    new.add_argument("--state", metavar="FILE", help="state")
    new.add_argument("--out", required=True, metavar="PLAN.json")


def plan_new_command(options: argparse.Namespace) -> Answer:
    """Write a plan from tables, schemas, a method and what was set."""
    from engine.methods.catalogue import method
    from engine.release.plan import Plan
    from engine.release.reading import pin_reading
    from engine.release.reasons import with_reasons

    out, found = Path(options.out), method(options.method)
    if options.step and found.step_named(options.step) is None:
        raise InputRefused("plan.unknown_step", method=found.id, step=options.step)
    names = [source.name for source in found.reads(options.step)]
    schemas = _schemas(options, names)
    plan = Plan(
        method=found.id,
        method_version=found.version,
        files=_files(options, names, out.parent),
        schemas=schemas,
        parameters=_parameters(options, found, schemas),
        budget=budget(options.epsilon, options.delta, options.neighbours),
        holding=options.holding,
        holding_budget=budget(options.holding_epsilon, options.holding_delta, options.neighbours),
        preparation=tuple(json_file(Path(options.prepare))) if options.prepare else (),
        candidates=tuple(json_object(one, "--candidate") for one in options.candidate),
        measures=tuple(options.measure),
        also=tuple(options.also),
        step=options.step,
        continues=options.continues,
        state=relative(Path(options.state), out.parent) if options.state else "",
    )
    if options.sizes is not None:
        plan = replace(plan, declared_sizes=sizes(options.sizes))
    tree = plan.to_json()
    tree["purpose"] |= dict(pair(one) for one in options.purpose)
    tree["price"] |= dict(json_pair(one) for one in options.price)
    if options.sample is not None:
        tree["sample"] = _sample(options.sample, tree["parameters"].get("people") or tree["price"]["people"])
    written = with_reasons(Plan.loads(json.dumps(tree), file=out.name), dict(map(pair, options.reason)))
    if written.files or any(source.required for source in found.reads(options.step)):
        written = pin_reading(written, base=out.parent)
    written = _with_received(written, found.reads(options.step), out.parent)
    write_text(out, written.dumps())
    return {"plan": out.name, "fingerprint": written.fingerprint}, 0


def _sample(written: str, people: Any) -> str:
    """Return the share of the people who are in a sample, from that share or from their number.

    A number is made a share of how many there are as declared: who is in it must not hang on the rows.
    """
    found = number_option(written, "--sample")
    if found >= 1:
        if not isinstance(people, int) or people <= found:
            raise InputRefused("commands.sample_of_how_many", found=written)
        found /= people
    if found <= 0:
        raise InputRefused("commands.not_a_number", option="--sample")
    return str(found)


def _with_received(plan: Any, sources: Sequence[Any], base: Path) -> Any:
    """Describe tables that nobody described and that are about none of the custodian's people, as they look.

    Of a table of people everything is declared. What was sent in was protected before, so that its columns
    may be read off the file, as the window does.
    """
    from engine.table.reading.options import ReadOptions
    from engine.table.reading.readers import read_table
    from engine.table.schema import Column, Role, Schema
    from engine.table.suggest.suggest import suggest

    described = dict(plan.schemas)
    for source in sources:
        file = plan.files.get(source.name)
        if source.shape.is_private or file is None or source.name in described:
            continue
        options = ReadOptions.from_json(file.options, file=Path(file.path).name)
        table = read_table(base / file.path, options=options)
        columns = (Column(one.column, Role.OTHER, one.kind) for one in suggest(table))
        described[source.name] = Schema(tuple(columns))
    return replace(plan, schemas=described)


def _parameters(options: argparse.Namespace, method: Any, schemas: dict[str, Any]) -> dict[str, Any]:
    """Return what was set, or refuse at once a name that the method or the schema does not have."""
    from engine.methods.values import columns_named

    declared = method.asks(options.step)
    names = [one.name for one in declared]
    for name, _ in map(pair, options.set):
        if name not in names:
            known = ", ".join(names)
            raise InputRefused("commands.no_such_parameter", name=name, method=method.id, known=known)
    values = dict(_set(one, declared) for one in options.set)
    try:
        asked = {} if options.prepare else columns_named(declared, values)  # a step may make a column
    except (TypeError, AttributeError, KeyError):  # not of its kind, which `plan check` says in its own words
        return values
    for source, columns in asked.items():
        for column in columns if source in schemas else ():
            if column not in schemas[source]:
                known = ", ".join(one.name for one in schemas[source].columns)
                raise InputRefused("commands.no_such_column", column=str(column), known=known)
    return values


def _set(given: str, declared: Sequence[Any]) -> tuple[str, Any]:
    """Return the name of a parameter and its value: JSON, or the records of a file."""
    from engine.methods.parameters import ParameterKind
    from engine.methods.records import read_records

    name, value = pair(given)
    parameter = next((one for one in declared if one.name == name), None)
    if value.startswith("@") and parameter is not None and parameter.kind is ParameterKind.RECORDS:
        return name, read_records(Path(value[1:]), parameter)
    return json_pair(given)


def _files(options: argparse.Namespace, names: Sequence[str], folder: Path) -> dict[str, Any]:
    """Return the files by name: ``people``, and ``people.2`` for a further file of the same table."""
    from engine.release.plan import FileReference

    given = [(_main(names), options.file)] if options.file else []
    given += [pair(one) for one in options.table]
    paths: dict[str, str] = {}
    for source, file in given:
        _refuse_unread(source, names)
        before = sum(name.split(".")[0] == source for name in paths)
        paths[f"{source}.{before + 1}" if before else source] = relative(Path(file), folder)
    how = dict(json_pair(one) for one in options.read)
    for name in how:
        _refuse_unread(name, list(paths))
    return {name: FileReference(path, how.get(name, {})) for name, path in paths.items()}


def _schemas(options: argparse.Namespace, names: Sequence[str]) -> dict[str, Any]:
    """Return the schemas by source, with the hierarchies that were named beside them."""
    given = [(_main(names), options.schema)] if options.schema else []
    found = {}
    for source, file in given + [pair(one) for one in options.table_schema]:
        _refuse_unread(source, names)
        found[source] = read_schema(Path(file))
    for column, file in (pair(one) for one in options.hierarchy):
        owners = [name for name, schema in found.items() if column in schema]
        if not owners:
            raise InputRefused(
                "commands.no_such_column",
                column=column,
                known=", ".join(
                    dict.fromkeys(one.name for schema in found.values() for one in schema.columns)
                ),
            )
        hierarchy = _hierarchy(Path(file), column)
        for owner in owners:
            known = found[owner].column(column)
            found[owner] = found[owner].with_column(replace(known, hierarchy=hierarchy))
    return found


def _hierarchy(path: Path, column: str) -> Any:
    from engine.table.hierarchies import Hierarchy, from_csv

    if path.suffix.lower() == ".json":
        return Hierarchy.from_json(json_file(path), column=column, file=path.name)
    return from_csv(read_text(path, "commands.not_readable"), column=column, file=path.name)


def _main(names: Sequence[str]) -> str:
    """Return the table that is meant where none is named: the people, else the first that is read."""
    from engine.methods.protocol import MAIN

    return MAIN if MAIN in names or not names else names[0]


def _refuse_unread(name: str, names: Sequence[str]) -> None:
    if name not in names:
        raise InputRefused("commands.not_read", name=name, known=", ".join(names) or "–")
