"""Which promise is audited how, for every method of the catalogue: nothing is private because it says so.

What is audited follows from what is promised, never from a list of methods:

* a bounded loss with noise of ours (``pure_dp``, ``approximate_dp``): **replay** (`replay`). Whole releases
  from neighbouring files with the same answers forced: the questions, every byte that leaves, and the loss of
  the noise as it was drawn beside the claim;
* a bounded loss whose events have rows from seeds (``plausible_deniability``, and ``approximate_dp`` with
  them): **enumeration** (`seeds`). The learning is replayed, and of the row that leaves the probability of
  every row there can be is worked out on both neighbours by the definition of the test;
* a bounded loss that others paid for before their numbers came (no people are read): nothing is drawn, the
  same files always give the same, and no less is claimed than the study says;
* a service: what opens it draws nothing and is a function of declarations, and every visit among its
  examples is replayed with the state that the last one left;
* a bounded loss that people bring about themselves (``local_dp``): the **channel** (`channel`) is enumerated
  from the numbers that the page draws by, and nothing reads the custodian's people;
* a promise that bounds no loss: a **recount** (`recount`) from the released files and the rows that they were
  made from, by code of its own. Every kind has its recount, and every term that is promised has one.

A method without an example, a kind without a recount, or a term that nobody recounts fails.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from engine.errors import InputRefused
from engine.methods.parameters import ParameterKind, value_of
from engine.methods.protocol import MAIN, Method
from engine.methods.shared.site_files import Member, Study, read_study
from engine.privacy.mechanisms import SeededRows
from engine.privacy.promise import Neighbours, promise_kind
from engine.release import studies
from engine.release.check import check
from engine.release.examples import plans
from engine.release.make import make
from engine.release.plan import Plan
from engine.release.reading import read_all
from engine.release.signing import SigningKey
from tests.engine.battery.distributions import CheckFailed
from tests.engine.methods.audit import channel, recount, replay, seeds
from tests.engine.methods.audit.tables import Bench, bench
from tests.noise_source import seeded_noise

PEOPLE = 60
"""People of a table that is replayed."""
RECOUNTED = 400
"""People of a table that is recounted: enough for groups and cells of every size."""
EVERYBODY = 10**6
"""For a method that refuses so small a part of the table."""

A_DELTA = Fraction(1, 10**6)
BESIDE: Mapping[tuple[str, str, str | bool], Mapping[str, Any]] = {
    ("statistics.means", "statistic", "proportion"): {"answer": "readmitted", "counted": [{"value": "<30"}]},
}
"""What a choice asks for that no example says."""

Audit = Callable[[Bench, bool], None]


def audit_of(method: Method, plan: Plan) -> tuple[Audit, int]:
    """Return how the promise of a plan is audited, and on how many people."""
    promise = check(plan).cost
    kind = promise_kind(promise.kind)
    if promise.loss is None:
        return recount.audit, RECOUNTED
    if kind.local:
        return channel.audit, 0
    if any(isinstance(leaf, SeededRows) for leaf, _ in promise.loss.events.leaves()):
        return seeds.audit, PEOPLE
    if not any(source.shape.is_private for source in method.reads()):
        return audit_received, 0
    if method.steps:
        return replay.audit_opening, PEOPLE
    return replay.audit, PEOPLE


def audit_received(bench: Bench, many: bool) -> None:
    """Fail where numbers that are paid for get noise, decide nothing alone, or are said to cost less.

    Raises
    ------
    CheckFailed
    """
    design = bench.design
    prepared = read_all(bench.plan, design.sources_read, base=Path(str(files("resources") / "examples")))
    found = []
    for seed in (1, 2):
        noise = seeded_noise(seed)
        with TemporaryDirectory() as folder:
            release = make(design, prepared, noise, folder=Path(folder)).release
        if noise.drawn:
            raise CheckFailed("noise is drawn that nobody pays for")
        found.append(replay.leaves_of(release))
    if found[0] != found[1]:
        raise CheckFailed("the same files give something else")
    study, loss = read_study(bench.plan.parameters["study"].encode()), design.cost.loss
    if loss is None or loss.epsilon < study.budget.epsilon or loss.delta < study.budget.delta:
        raise CheckFailed(f"{loss} is claimed, and every site paid {study.budget}")


def audited(method: Method, *, many: bool = False) -> Iterator[str]:
    """Audit every example of a method; yield what was found in words: nothing, where it keeps its promise.

    Parameters
    ----------
    method
        Of the catalogue, or a sabotaged one.
    many
        Whether to take more neighbours, and every example once more with other caps and neighbours.
    """
    found = plans(method)
    if not any(not plan.step for plan in found):
        yield "there is no example to audit"
    for place, plan in enumerate(found):
        if plan.step:
            continue
        visits = []
        for further in found[place + 1 :]:
            if not further.step:
                break
            visits.append(further)
        for name, varied in further_plans(plan, many=many):
            with TemporaryDirectory() as folder:
                yield from _findings(name, method, varied, visits, Path(folder), many)


def study_of(plan: Plan) -> Study | None:
    """Return the study that decides what a plan does with its people; None where there is none."""
    if MAIN not in plan.files or "study" not in plan.parameters:
        return None
    return read_study(plan.parameters["study"].encode())


def agreed(plan: Plan, *, neighbours: Neighbours | None = None, holders: Sequence[Member] = ()) -> Plan:
    """Return a plan whose study, if there is one, declares columns and cap as the plan does."""
    own = study_of(plan)
    if own is None:
        return plan
    of_all = Plan(
        own.method,
        schemas={MAIN: plan.prepared(MAIN)},
        parameters=own.parameters,
        budget=replace(own.budget, neighbours=neighbours or own.budget.neighbours),
        purpose=replace(plan.purpose, title=own.title),
    )
    key = SigningKey("centre", bytes([9]) * 32, "")
    study = studies.make_study(of_all, own.roster, own.coordinator.name, key, holders=holders)
    return replace(plan, parameters={**plan.parameters, "study": study.decode()})


def further_plans(plan: Plan, *, many: bool) -> Iterator[tuple[str, Plan]]:
    """Yield a plan, and with ``many`` the same with three rows a person, and with one person exchanged."""
    yield plan.purpose.title, plan
    if not many or (plan.budget is None and study_of(plan) is None):
        return
    several = {name: replace(one, rows_per_person=3) for name, one in plan.schemas.items() if one.person_key}
    both = {
        name: replace(one, neighbours=Neighbours.REPLACE_ONE)
        for name, one in (("budget", plan.budget), ("holding_budget", plan.holding_budget))
        if one is not None
    }
    choices = {
        "three rows a person": agreed(replace(plan, schemas={**plan.schemas, **several})),
        "one person exchanged": agreed(replace(plan, **both), neighbours=Neighbours.REPLACE_ONE),
    }
    for name, varied in choices.items():
        try:
            check(varied)
        except InputRefused:
            continue  # the method says that it cannot
        yield name, varied


def moves_audited(method: Method) -> Iterator[str]:
    """Audit how far one person moves the answers of a method; yield what was found in words.

    The examples have one row a person and one more or less of them: here the first that can be made so has a
    person with more rows than its cap, and one who is exchanged for another.
    """
    plan = next(one for one in plans(method) if (one.budget or study_of(one)) and not one.step)
    for name, varied in [*further_plans(plan, many=True)][1:]:
        with TemporaryDirectory() as folder:
            made = bench(method, varied, Path(folder), people=PEOPLE)
            try:
                replay.audit_moves(made)
            except CheckFailed as found:
                yield f"{name}: {found}"


def choices_audited(method: Method, *, many: bool = False) -> Iterator[str]:
    """Audit every choice that a method with a bounded loss offers; yield what was found in words.

    A choice is audited once, with the first example that can be made with it and does not show it already;
    its release is replayed on one neighbour of each kind. With ``many`` every such example is taken, on all
    neighbours.
    """
    seen: set[str] = set()
    files: set[replay.Files] = set()
    for plan in plans(method):
        for name, varied in other_choices(method, plan):
            if name in seen and not many:
                continue
            seen.add(name)
            with TemporaryDirectory() as folder:
                yield from _findings(name, method, varied, [], Path(folder), False, None if many else files)


def other_choices(method: Method, plan: Plan) -> Iterator[tuple[str, Plan]]:
    """Yield a plan with every other choice that its method offers, one at a time: each may draw its own way.

    A choice is tried with a δ where it is refused without one. One that asks for more than the plan says is
    left out.
    """
    if plan.step or plan.budget is None:
        return
    budgets = {"budget": plan.budget, "holding_budget": plan.holding_budget}
    failing = {name: replace(one, delta=A_DELTA) for name, one in budgets.items() if one and not one.delta}
    for name, choice in choices_of(method):
        if choice == value_of(method.parameters, plan.parameters, name):
            continue
        beside = BESIDE.get((method.id, name, choice), {})
        chosen = replace(plan, parameters={**plan.parameters, **beside, name: choice})
        for varied in (chosen, replace(chosen, **failing)):
            try:
                check(varied)
            except InputRefused:
                continue
            yield f"{name} is {choice}", varied
            break


def choices_of(method: Method) -> Iterator[tuple[str, str | bool]]:
    """Yield every choice that a method offers: the name of the setting, and the value."""
    for parameter in method.parameters:
        if parameter.kind is ParameterKind.CHOICE:
            yield from ((parameter.name, str(choice)) for choice in parameter.choices)
        elif parameter.kind is ParameterKind.BOOLEAN:
            yield from ((parameter.name, choice) for choice in (False, True))


def _findings(
    name: str,
    method: Method,
    plan: Plan,
    visits: list[Plan],
    folder: Path,
    many: bool,
    files: set[replay.Files] | None = None,
) -> Iterator[str]:
    try:
        audit, people = audit_of(method, plan)
        if files is not None and audit is replay.audit:
            audit = lambda made, _: replay.audit_choice(made, files)  # noqa: E731
        made = bench(method, plan, folder / "first", people=people)
        try:
            audit(made, many)
        except InputRefused:
            if people != RECOUNTED:
                raise  # nothing with a bounded loss may refuse rows
            made = bench(method, plan, folder / "whole", people=EVERYBODY)
            audit(made, many)
        if made.plan.files and method.steps:
            replay.audit_visits(made, visits, folder, many, is_varied=name != plan.purpose.title)
    except (CheckFailed, InputRefused) as found:
        yield f"{name}: {found}"
