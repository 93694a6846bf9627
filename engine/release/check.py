"""Whether a plan can be run: everything that is refused without reading a row, as strictly as a run does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from engine import policy, texts
from engine.bounded import read_bytes
from engine.errors import InputRefused
from engine.evaluation import catalogue as measures
from engine.methods.catalogue import method as find_method
from engine.methods.protocol import MAIN, Method, Source, Spends
from engine.pricing.statement import price_statement, refuse_amounts
from engine.privacy.accounting import total
from engine.privacy.promise import promise_kind
from engine.release import charge, reading
from engine.release.foreseen import Foreseen, foresee, worked_out
from engine.release.levels import size_of_all
from engine.release.plan import Plan
from engine.risk.thresholds import PUBLISHED
from engine.table.schema import Role, Schema


def check(plan: Plan, *, base: Path = Path()) -> Method:
    """Check a plan without reading a row. What the register says is asked by `engine.release.preview`.

    Parameters
    ----------
    plan
        In any state.
    base
        Folder that the plan's paths are relative to; the state of a service is read from there.

    Raises
    ------
    InputRefused
        The first thing that is wrong.
    """
    method = find_method(plan.method)
    if plan.method_version != method.version:
        raise InputRefused(
            "plan.method_version", method=method.id, found=plan.method_version, expected=method.version
        )
    if plan.step and method.step_named(plan.step) is None:
        raise InputRefused("plan.unknown_step", method=method.id, step=plan.step)
    if bool(plan.step) != bool(plan.continues):
        raise InputRefused("plan.step_alone")
    _refuse_sources(plan, method.reads(plan.step))
    refusal = charge.budget_error(plan) if method.spends is Spends.CHOSEN and not plan.step else None
    if refusal is not None:
        raise refusal
    plan.candidate_plans()  # candidates that are none
    request = plan.request_from(state_of(plan, base))
    whole = size_of_all(plan)
    if whole is not None:  # no groups: the forecast is about what is released
        request = replace(request, sizes=(whole,))
    design = method(request)
    if plan.sample is not None:
        reading.refuse_sample(design)
    with worked_out("problems"):
        for problem in design.problems:
            raise InputRefused(problem.code, **problem.values)
    with worked_out("cost"):
        _refuse_promise(design)
    loss = design.cost.loss
    policy.refuse_level(*((None, None) if loss is None else (loss.epsilon, loss.delta)))
    with worked_out("price"):  # amounts that fit no curve, before spending
        refuse_amounts(plan.price)
        price_statement(design.priced, plan.price, readings=False)
    measures.choose_measures(plan.measures, design)
    return design


def check_and_foresee(plan: Plan, design: Method) -> Foreseen:
    """Check what a plan needs further to be run from its file, and work out all that is said of it.

    Still without reading a row: what passes here is refused later only for what is in the files, in the
    ledger or in the folder of the bundle.

    Raises
    ------
    InputRefused
        ``reading.*``, ``charge.*``, ``ledger.*`` about single fields, ``run.no_contract``, or
        ``run.not_computable``.
    """
    reading.refuse_open(plan, design.sources_read)
    charge.refuse_unfit(plan)
    refuse_without_contract(plan, design)
    return foresee(plan, design)


def refuse_without_contract(plan: Plan, design: Method) -> None:
    """Refuse what leaves only under an agreement where the purpose names none, or says that it is published.

    Raises
    ------
    InputRefused
        ``run.no_contract``.
    """
    if design.contracted and (not plan.purpose.agreement.strip() or plan.purpose.control == PUBLISHED):
        raise InputRefused("run.no_contract")


def refuse_language(language: str) -> None:
    """Refuse a language without texts: it would be noticed when the reports are written."""
    if language not in texts.languages():
        raise InputRefused("run.unknown_language", wanted=language, known=", ".join(texts.languages()))


def state_of(plan: Plan, base: Path) -> bytes | None:
    """Return what the last visit of a service left, or None for a release that goes on from nothing."""
    if not plan.state:
        return None
    path = base / plan.state
    reading.file_hash(path)  # refuses in words what cannot be read
    return read_bytes(path)


def _refuse_sources(plan: Plan, sources: tuple[Source, ...]) -> None:
    """Refuse sources that are missing, twofold or unknown, and two person keys in one of them."""
    for source in sources:
        schema = plan.schemas.get(source.name)
        if schema is None and source.required:
            raise InputRefused("plan.no_schema")
        if len(plan.files_of(source.name)) > 1 and not source.many:
            raise InputRefused("plan.many_files", source=source.name)
        if schema is not None and len(schema.with_role(Role.PERSON_KEY)) > 1:
            raise InputRefused("plan.two_keys")
        plan.prepared(source.name)  # steps that could not be applied
    known = {source.name for source in sources}
    for step in plan.preparation:
        about = step.get("source", MAIN)
        if not isinstance(about, str) or about not in known:
            raise InputRefused("plan.unknown_source", source=str(about)[:100])
        if step["step"] == "keep_rows_where":
            column = plan.schemas.get(about, Schema()).column(step["column"])
            if column.role is Role.NOT_RECOGNISED:
                raise InputRefused("plan.not_recognised", column=column.name)


def _refuse_promise(design: Method) -> None:
    """Refuse a promise that its events do not bear out, or that is of another kind than was declared."""
    promise = design.cost
    kind = promise_kind(promise.kind)
    fits = promise.kind in design.promises and kind.bounded == (promise.loss is not None)
    if not fits or set(promise.terms) - set(kind.conditions) != set(kind.terms):
        raise InputRefused("run.promise_differs", method=design.id, part="promise")
    if promise.loss is not None:
        total([promise], delta=promise.loss.delta)
