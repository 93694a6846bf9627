"""Plan → bundle: the one orchestrator, for the window and for the command line alike.

The order is the guarantee: everything that can be refused is refused, the ledger *reserves*, the first noise
marks the entry *spent* (or `run` itself where none is drawn), and only then can a row decide anything that
leaves.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from engine import policy
from engine.errors import EngineError, InputRefused
from engine.evaluation import catalogue as measures
from engine.evaluation.evaluate import Evaluation, evaluate, views
from engine.evaluation.protocol import Private
from engine.ledger import Holding, Ledger
from engine.memory import give_back
from engine.methods.protocol import MAIN, Method
from engine.privacy.noise import Noise
from engine.progress import SILENT, Progress
from engine.release import (
    bundle,
    charge,
    each_row,
    naming,
    nearby,
    promised,
    pseudonyms,
    reading,
    sealing,
    seconded,
    signing,
    write,
)
from engine.release.beside import pair_with_originals
from engine.release.bundle import INTERNAL, KEY, RELEASE, Bundle
from engine.release.check import check, check_and_foresee, refuse_language
from engine.release.earlier import earlier, read_told, refuse_missing
from engine.release.make import Draft, make
from engine.release.plan import Plan
from engine.release.reading import PreparedTable, of_somebody
from engine.release.reasons import refuse_unexplained
from engine.release.rows_beside import refuse_rows_beside
from engine.release.served import Tier, served
from engine.release.signature import SIGNATURE
from engine.release.signing import SigningKey
from engine.release.synthetic_spread import spread
from engine.release.working import (
    give_room,
    hold_interrupts,
    make_working_folder,
    name_for,
    new_folder,
    rows_on_disk,
    sweep,
)
from engine.release.write import Made
from engine.table.stored import Store
from engine.table.table import Held

Door = Callable[[Callable[[], None]], Noise]


def run(
    plan: Plan,
    *,
    out: Path,
    ledger: Ledger,
    base: Path = Path(),
    language: str = "en",
    progress: Progress = SILENT,
    passphrase: str | None = None,
    known: tuple[Path, ...] = (),
    earlier_key: bytes | None = None,
    wants_reasons: bool = False,
    signing_passphrase: str | None = None,
    approval: bytes | None = None,
    seals: bool = False,
    seen: Mapping[str, str] | None = None,
    password: str | None = None,
    asked: Sequence[Mapping[str, Any]] = (),
) -> Bundle:
    """Make the release that a plan decides, and everything that proves it.

    Parameters
    ----------
    plan
        Complete: `engine.release.check.check` finds nothing.
    out
        Folder that becomes the bundle; absent or empty. Should another release take the name meanwhile, the
        next free one is taken.
    ledger
        Pays for it.
    base
        Folder that the plan's paths are relative to.
    language
        Of the reports.
    progress
        Told where the work is; Stop before the entry is spent frees the reservation, after it the budget
        stays spent.
    passphrase
        Locks the key that stays inside, for methods that keep one; it is kept nowhere. It also opens an
        earlier key.
    known
        Folders of earlier releases beyond those beside ``out``: for methods that compare with them, where the
        ledger did not keep what they told, and to notice that an older copy of the ledger was put back.
    earlier_key
        Content of the key file of an earlier release, for a release that is to be joined with it.
    wants_reasons
        Refuse decisions that want a reason and have none (``run.no_reason``); for callers that have not asked
        for it themselves.
    signing_passphrase
        Opens the key that signs the releases of the register, where it is locked.
    approval
        Content of the file with which a second person approved the release, see `engine.release.seconded`.
    seals
        Whether the caller encrypts what stays as soon as it is there, see `engine.release.sealing`.
    seen
        SHA-256 of the files of the plan when a person looked at them, by path: others are refused.
    password
        Of the user whom the file of a server names; it is kept nowhere.
    asked
        What was asked of that server before, when a person looked at the table: it is told to the evidence.

    Returns
    -------
    Bundle
        The folder, its ledger entry and the hashes of both sum files.

    Raises
    ------
    InputRefused
        Whatever is wrong with plan, file, folder or budget, before anything is spent where that is possible.
    Cancelled
        The person pressed Stop. The ledger knows whether noise had been drawn.
    """
    door: Door = lambda spend: Noise(on_first_draw=spend)  # noqa: E731
    more = (
        passphrase,
        known,
        earlier_key,
        wants_reasons,
        signing_passphrase,
        approval,
        seals,
        seen,
        password,
        asked,
    )
    return run_through(plan, out, ledger, base, language, progress, door, *more)


def run_through(
    plan: Plan,
    out: Path,
    ledger: Ledger,
    base: Path,
    language: str,
    progress: Progress,
    door: Door,
    passphrase: str | None = None,
    known: tuple[Path, ...] = (),
    earlier_key: bytes | None = None,
    wants_reasons: bool = False,
    signing_passphrase: str | None = None,
    approval: bytes | None = None,
    seals: bool = False,
    seen: Mapping[str, str] | None = None,
    password: str | None = None,
    asked: Sequence[Mapping[str, Any]] = (),
) -> Bundle:
    """Do what `run` says with a noise door of the caller's: the tests' seam, used by nothing else."""
    progress.step(0.0, "run.checking")
    if approval is not None:
        plan = reading.pin_beside(plan, base=base)
    sweep(ledger)
    sealing.sweep(out.absolute().parent)
    design = check(plan, base=base)
    foreseen = check_and_foresee(plan, design)
    policy.refuse_open_key(is_locked=bool(passphrase) or not design.keeps_key)
    policy.refuse_unsealed(seals=seals)
    if wants_reasons or policy.policy().reasons:
        each_row.refuse_undeclared(plan, design)
        refuse_unexplained(plan, design, foreseen.price, locks=bool(passphrase))
    refuse_language(language)
    bundle.check_target(out)
    money = seconded.money_of(foreseen.price)
    approved = None if approval is None else seconded.approved(approval, plan, ledger)
    if approved is None:
        seconded.refuse_alone(plan, ledger, design, money)
    places = (out.absolute().parent, *known)
    key = pseudonyms.open_earlier_key(design, earlier_key, passphrase)
    pseudonyms.refuse_elsewhere(plan, ledger, key)
    with rows_on_disk(ledger) as make_folder, ExitStack() as at_end:
        prepared = _read(plan, ledger, design, base, places, progress, seen, make_folder, password)
        at_end.callback(reading.let_go, prepared)
        if MAIN in prepared and (wants_reasons or policy.policy().reasons):
            each_row.refuse_undeclared(plan, design, prepared[MAIN].columns)
        folder = name_for(out)
        holding, signs, fingerprints = _attach(plan, ledger, design, prepared, signing_passphrase)
        if approved is None:
            entry = charge.reserve(plan, ledger, design, holding, fingerprints, folder, money)
        else:
            entry = seconded.go_on(approved, plan, ledger, design, fingerprints, folder)
        give_back()
        has_name = False
        try:
            with make_working_folder(folder):
                main = prepared.get(MAIN)
                refuse_rows_beside(plan, ledger, holding, design, main, entry=entry, places=places)
                told = earlier(plan, ledger, holding, type(design), main, entry=entry, places=places)
                spend = _once(lambda: ledger.spend(entry))
                noise = _door(door, spend)
                opens = bool(design.steps) and not plan.step
                if opens or not design.cost.drawn():
                    spend()  # no noise will do it: the entry is spent before the method sees a row
                making = progress.part(0.35, 0.7)
                draft = make(
                    design,
                    prepared,
                    noise,
                    folder=folder,
                    progress=making,
                    passphrase=passphrase,
                    earlier=told,
                    key=key,
                )
                spend()  # whatever the method drew: nothing that was made is written while it is not paid
                give_back()
                naming.refuse_unchanged(plan, design, prepared, draft.used, draft.release)
                keys = draft.release.inside.keys
                pseudonyms.keep(plan, ledger, entry, keys, passphrase, again=key is not None)
                reading.confirm(prepared)
                evaluated = _evaluate(plan, design, prepared, draft, folder, progress.part(0.7, 0.8))
                made = Made(
                    plan,
                    design,
                    foreseen,
                    prepared,
                    draft,
                    ledger,
                    holding,
                    entry,
                    language,
                    evaluated,
                    asked,
                )
                sums = _write(folder, made, signs, progress)
                with hold_interrupts():
                    out = bundle.give_name(folder, out)
                    has_name = True
                    _complete(ledger, entry, out, sums, draft.release.state)
            shown = (*draft.release.views, *views(evaluated.public))
            inside = (*draft.release.inside.views, *views(evaluated.internal))
            held = {name: one for name, one in draft.used.items() if not isinstance(one, Held)}
            rows = pair_with_originals(draft.release, held, design.request.schemas)
            spreads = spread(draft.release, held, design.request.schemas, design.rows)
            findings = tuple(finding for one in prepared.values() for finding in one.table.findings)
            return Bundle(out, entry, *sums, shown, inside, rows, spreads, findings)
        except BaseException:
            # else it has been paid for and is there: whoever sweeps next completes its entry
            if not has_name:
                with hold_interrupts():
                    _close(ledger, entry)
            raise


def prepare(
    plan: Plan,
    *,
    ledger: Ledger,
    base: Path = Path(),
    known: tuple[Path, ...] = (),
    progress: Progress = SILENT,
    signing_passphrase: str | None = None,
    password: str | None = None,
    wants_reasons: bool = False,
    write: Callable[[bytes], object] = lambda request: None,
) -> bytes:
    """Reserve a release for a second person to approve, and return the request that is carried to them.

    Everything is looked at as `run` looks at it, so that no reason is missing which could not be given once
    the plan is approved; what it would spend is reserved from now on, and neither noise is drawn nor anything
    written.

    Parameters
    ----------
    plan, ledger, base, known, progress, signing_passphrase, password, wants_reasons
        As for `run`.
    write
        Puts the request where it is carried from. What was reserved is given back where that fails: nobody
        could approve it.

    Raises
    ------
    InputRefused
        As `run`; ``staff.nobody_acts``: nobody of the register is signed in. What ``write`` raises.
    """
    progress.step(0.0, "run.checking")
    plan = reading.pin_beside(plan, base=base)
    design = check(plan, base=base)
    foreseen = check_and_foresee(plan, design)
    asks = wants_reasons or policy.policy().reasons
    if asks:
        each_row.refuse_undeclared(plan, design)
        refuse_unexplained(
            plan, design, foreseen.price, locks=True
        )  # of a key it is asked when it is written
    person = seconded.who_prepares(plan, ledger)
    with rows_on_disk(ledger) as make_folder, ExitStack() as at_end:
        prepared = _read(plan, ledger, design, base, known, progress, None, make_folder, password)
        at_end.callback(reading.let_go, prepared)
        if asks and MAIN in prepared:
            each_row.refuse_undeclared(plan, design, prepared[MAIN].columns)
        holding, _, fingerprints = _attach(plan, ledger, design, prepared, signing_passphrase)
        refuse_missing(plan, ledger, holding, places=known)
        refuse_rows_beside(plan, ledger, holding, design, prepared.get(MAIN), places=known)
    money = seconded.money_of(foreseen.price)
    entry = charge.reserve(plan, ledger, design, holding, fingerprints, None, money)
    try:
        request = seconded.request(plan, ledger, entry, person)
        write(request)
    except BaseException:
        with hold_interrupts(), suppress(EngineError):
            ledger.free(entry)
        raise
    return request


def _read(
    plan: Plan,
    ledger: Ledger,
    design: Method,
    base: Path,
    places: tuple[Path, ...],
    progress: Progress,
    seen: Mapping[str, str] | None,
    make_folder: Callable[[], Path],
    password: str | None,
) -> dict[str, PreparedTable]:
    """Return the tables, once nothing about ledger, plan and rows stands against the release.

    What memory does not hold is coded in a folder that is made for it.
    """
    policy.refuse_place(ledger.path)
    nearby.refuse_put_back(plan, ledger, places)
    nearby.refuse_older(plan, ledger)
    tiers = {name: one.tier for name, one in served(plan, design, base=base).items()}
    stores = {
        name: Store(make_folder(), design.uses[name], design.request.schemas[name].person_key)
        for name, tier in tiers.items()
        if tier is not Tier.MEMORY
    }
    prepared = reading.read_all(
        plan,
        design.sources_read,
        base=base,
        progress=progress.part(0.0, 0.3),
        design=design,
        stores=stores,
        grouped=[name for name, tier in tiers.items() if tier in (Tier.GROUPED, Tier.SERVER)],
        password=password,
        sample=None if plan.sample is None else reading.Sample(plan.sample, ledger.sample_key()),
    )
    try:
        reading.refuse_unseen(plan, prepared, seen or {})
        promised.refuse_other(plan, design, prepared)
        each_row.refuse_counted(plan, design, prepared)
        naming.refuse_named(plan, design, prepared)
        progress.step(0.3, "run.reserving")
    except BaseException:
        reading.let_go(prepared)  # a server would keep the connection, and its rows as they are
        raise
    return prepared


def _attach(
    plan: Plan,
    ledger: Ledger,
    design: Method,
    prepared: Mapping[str, PreparedTable],
    signing_passphrase: str | None,
) -> tuple[Holding, SigningKey, tuple[str, ...]]:
    """Return who pays, with which key it is signed, and the fingerprints of the tables that it pays for."""
    private = [one for name, one in prepared.items() if name in design.request.private]
    shown = [
        charge.trace_table(ledger, one.table, one.schema, one.fingerprints, one.columns) for one in private
    ]
    fingerprints = tuple(dict.fromkeys(one.fingerprints.fingerprint for one in private))
    charge.refuse_other_tables(plan, ledger, design, fingerprints)
    # A table that belongs to a known register is refused before a new one is made in vain.
    for table in shown:
        charge.refuse_known(plan, ledger, table)
    holding = charge.holding_of(plan, ledger, design)
    for table in shown:
        charge.attach(plan, ledger, holding, table)
    signs = signing.open_key(ledger, holding, signing_passphrase, locks=policy.policy().locked_keys)
    policy.refuse_open_key(is_locked=signing.state(ledger, holding)["locked"])
    return holding, signs, fingerprints


def _once(spend: Callable[[], None]) -> Callable[[], None]:
    """Return a call that spends the first time and does nothing afterwards."""
    spent: list[None] = []

    def first() -> None:
        if not spent:
            spend()
            spent.append(None)

    return first


def _door(door: Door, spend: Callable[[], None]) -> Noise:
    """Open the noise door and look at it: no relative of it, and nothing without noise, makes a release."""
    noise = door(spend)
    if type(noise) is not Noise:
        raise TypeError("a release draws from engine.privacy.noise.Noise and nothing else")
    return noise


def _evaluate(
    plan: Plan,
    design: Method,
    prepared: Mapping[str, PreparedTable],
    draft: Draft,
    folder: Path,
    progress: Progress,
) -> Evaluation:
    """Ask the measures of the plan about the finished release, which nothing changes any more."""
    main = next((name for name in design.request.private if name in prepared), None)
    if main is None:
        return Evaluation()
    one = prepared[main]
    keyed = {name: prepared[name] for name in design.request.private if name in prepared and name != main}
    others = {name: of_somebody(more) for name, more in keyed.items() if more.schema.person_key is not None}
    context = Private(
        design,
        one.table,
        one.schema,
        draft.used[main],
        draft.release,
        progress,
        new_folder(folder),
        draft.held_out.get(main),
        one.people,
        others,
    )
    return evaluate(measures.choose_measures(plan.measures, design), context)


def _write(aside: Path, made: Made, signs: SigningKey, progress: Progress) -> tuple[str, str]:
    progress.step(0.8, "run.writing")
    with bundle.explain_disk_errors(aside):
        give_room(aside)
        bundle.begin(aside)
        evidence = write.write_release(aside / RELEASE, made)
        progress.step(0.9, "run.reports")
        write.write_internal(aside / INTERNAL, evidence, made)
        write.write_keys(aside / KEY, made)
        progress.step(1.0, "run.done")
        sums = bundle.write_sums(aside / RELEASE), bundle.write_sums(aside / INTERNAL)
        signed = signs.sign_bundle(sums[0], evidence.ledger["head"])
        bundle.write(aside / RELEASE / SIGNATURE, signed)
        return sums


def _complete(
    ledger: Ledger,
    entry: str,
    out: Path,
    sums: tuple[str, str],
    state: bytes | None,
) -> None:
    left = None if state is None else hashlib.sha256(state).hexdigest()
    told = read_told(out)
    try:
        ledger.complete(
            entry,
            release_sums_hash=sums[0],
            internal_sums_hash=sums[1],
            state_hash=left,
            told=told,
        )
    except EngineError as error:
        raise InputRefused("run.not_closed", folder=out.name[:100]) from error


def _close(ledger: Ledger, entry: str) -> None:
    """Free what was only reserved; what saw noise stays spent. A ledger that fails here stays as it is."""
    with suppress(EngineError):
        state = ledger.entry(entry).state
        if state == "reserved":
            ledger.free(entry)
        elif state == "spent":
            ledger.fail(entry)
