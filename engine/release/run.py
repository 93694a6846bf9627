"""Plan → bundle: the one orchestrator, for the window and for the command line alike.

The order is the guarantee: everything that can be refused is refused, the ledger *reserves*, the first noise
marks the entry *spent*, and only then can a row decide anything that leaves.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from engine import texts
from engine.errors import EngineError, InputRefused
from engine.evaluation import catalogue as measures
from engine.evaluation.evaluate import Evaluation, evaluate, views
from engine.evaluation.protocol import Private, Subject
from engine.ledger import Holding, Ledger
from engine.methods.catalogue import method as find_method
from engine.methods.protocol import MAIN, Context, Release, Spends
from engine.pricing.statement import price_statement, refuse_amounts
from engine.privacy.noise import Noise, ordinary_generator
from engine.privacy.promise import Promise
from engine.progress import SILENT, Progress
from engine.release import bundle, charge, describe, promised, reading
from engine.release.bundle import INTERNAL, RELEASE, Bundle
from engine.release.describe import Checked, Made
from engine.release.foreseen import Foreseen, foresee, worked_out
from engine.release.plan import Plan
from engine.release.reading import Held
from engine.release.working import name_for, new_folder, sweep, working
from engine.table.schema import Role
from engine.table.table import Table

if TYPE_CHECKING:
    from numpy.random import Generator

Door = Callable[[Callable[[], None]], Noise]


def run(
    plan: Plan,
    *,
    out: Path,
    ledger: Ledger,
    base: Path = Path(),
    language: str = "en",
    progress: Progress = SILENT,
) -> Bundle:
    """Make the release that a plan decides, and everything that proves it.

    Parameters
    ----------
    plan
        Complete: `check` finds nothing.
    out
        Folder that becomes the bundle; absent or empty.
    ledger
        Pays for it.
    base
        Folder that the plan's paths are relative to.
    language
        Of the reports.
    progress
        Told where the work is; Stop before the first noise frees the reservation, after it the budget stays
        spent.

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
    return run_through(plan, out, ledger, base, language, progress, lambda spend: Noise(on_first_draw=spend))


def check(plan: Plan) -> Checked:
    """Check a plan without reading a row.

    Raises
    ------
    InputRefused
        The first thing that is wrong; `problems` lists all of a method's.
    """
    method = find_method(plan.method)
    if plan.method_version != method.version:
        raise InputRefused(
            "plan.method_version", method=method.id, found=plan.method_version, expected=method.version
        )
    if any(source.required and source.name not in plan.schemas for source in method.sources):
        raise InputRefused("plan.no_schema")
    refusal = charge.budget_error(plan) if method.spends is Spends.CHOSEN else None
    if refusal is not None:
        raise refusal
    if len(plan.schema.with_role(Role.PERSON_KEY)) > 1:
        raise InputRefused("plan.two_keys")
    request = plan.request
    with worked_out("problems"):
        for problem in method.problems(request):
            raise InputRefused(problem.code, **problem.values)
    with worked_out("cost"):
        checked = Checked(method, request, method.cost(request))
    with worked_out("price"):  # amounts that fit no curve, before spending
        refuse_amounts(plan.price)
        price_statement(checked.promise, plan.price, readings=False)
    measures.chosen(plan.measures, _subject(checked))
    return checked


def ready(plan: Plan, checked: Checked) -> Foreseen:
    """Check what a plan needs further to be run from its file, and work out all that is said of it.

    Still without reading a row: what passes here is refused later only for what is in the files, in the
    ledger or in the folder of the bundle.

    Raises
    ------
    InputRefused
        ``reading.*``, ``charge.*``, ``ledger.*`` about single fields, or ``run.not_computable``.
    """
    reading.refuse_open(plan)
    charge.refuse_unfit(plan)
    return foresee(plan, checked)


def refuse_language(language: str) -> None:
    """Refuse a language without texts: it would be noticed when the reports are written."""
    if language not in texts.languages():
        raise InputRefused("run.unknown_language", language=language, known=", ".join(texts.languages()))


def run_through(
    plan: Plan, out: Path, ledger: Ledger, base: Path, language: str, progress: Progress, door: Door
) -> Bundle:
    """Do what `run` says with a noise door of the caller's: the tests' seam, used by nothing else."""
    progress.step(0.0, "run.checking")
    sweep(ledger)
    checked = check(plan)
    foreseen = ready(plan, checked)
    refuse_language(language)
    bundle.check_target(out)
    held = reading.read(plan, base=base, progress=progress.part(0.0, 0.3))
    promised.refuse_other(plan, checked.request, checked.promise, held)
    progress.step(0.3, "run.reserving")
    folder = name_for(out)
    holding, entry = _reserve(plan, ledger, checked.promise, held, folder)
    try:
        with working(folder):
            spend = _once(lambda: ledger.spend(entry))
            noise = _door(door, spend)
            if not checked.promise.drawn():
                spend()  # no noise will do it: the entry is spent before the method sees a row
            progress.step(0.35, "run.capping")
            table = reading.capped(held, checked.request, noise)
            promised.refuse_uncapped(checked.request, table)
            release = _released(checked, table, noise, folder, progress.part(0.4, 0.7))
            evaluated = _evaluated(plan, checked, held, table, release, folder, progress.part(0.7, 0.8))
            made = Made(
                plan, checked, foreseen, held, table, release, ledger, holding, entry, language, evaluated
            )
            sums = _write(folder, made, progress)
            bundle.give_name(folder, out)
        _complete(ledger, entry, out, sums)
        shown = (*release.views, *views(evaluated.public))
        return Bundle(out, entry, *sums, views=shown, internal_views=views(evaluated.internal))
    except BaseException:
        _close(ledger, entry)
        raise


def _reserve(plan: Plan, ledger: Ledger, promise: Promise, held: Held, folder: Path) -> tuple[Holding, str]:
    shown = charge.shown(ledger, held.table, held.schema, held.marks, held.columns)
    # A table that belongs to a known register is refused before a new one is made in vain.
    charge.refuse_known(plan, ledger, shown)
    holding = charge.holding_of(plan, ledger, promise)
    charge.attach(plan, ledger, holding, shown)
    return holding, charge.reserve(plan, ledger, promise, holding, held.marks.fingerprint, folder)


def _released(checked: Checked, table: Table, noise: Noise, folder: Path, progress: Progress) -> Release:
    context = Context(noise, _chance(checked.promise), new_folder(folder), progress)
    release = checked.method.run({MAIN: table}, checked.request, context)
    if release.promise != checked.promise or noise.counted != checked.promise.drawn():
        raise InputRefused("run.promise_differs", method=checked.method.id)
    return release


def _chance(promise: Promise) -> Generator | None:
    """Return an ordinary generator where nothing bounds the loss; the operating system keys it."""
    return ordinary_generator() if promise.loss is None else None


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


def _subject(checked: Checked) -> Subject:
    return Subject(checked.method, checked.request, checked.promise)


def _evaluated(
    plan: Plan, checked: Checked, held: Held, used: Table, release: Release, folder: Path, progress: Progress
) -> Evaluation:
    """Ask the measures of the plan about the finished release, which nothing changes any more."""
    subject = _subject(checked)
    context = Private(subject, held.table, held.schema, used, release, progress, new_folder(folder))
    return evaluate(measures.chosen(plan.measures, subject), context)


def _write(aside: Path, made: Made, progress: Progress) -> tuple[str, str]:
    progress.step(0.8, "run.writing")
    with bundle.written(aside):
        bundle.begin(aside)
        evidence = describe.write_release(aside / RELEASE, made)
        progress.step(0.9, "run.reports")
        describe.write_internal(aside / INTERNAL, evidence, made)
        progress.step(1.0, "run.done")
        return bundle.write_sums(aside / RELEASE), bundle.write_sums(aside / INTERNAL)


def _complete(ledger: Ledger, entry: str, out: Path, sums: tuple[str, str]) -> None:
    try:
        ledger.complete(entry, release_sums_hash=sums[0], internal_sums_hash=sums[1])
    except BaseException:
        bundle.remove(out)
        raise


def _close(ledger: Ledger, entry: str) -> None:
    """Free what was only reserved; what saw noise stays spent. A ledger that fails here stays as it is."""
    with suppress(EngineError):
        state = ledger.entry(entry).state
        if state == "reserved":
            ledger.free(entry)
        elif state == "spent":
            ledger.fail(entry)
