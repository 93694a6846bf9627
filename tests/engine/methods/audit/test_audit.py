"""Every method of the catalogue keeps its promise as far as an audit can see, and no sabotaged copy does."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest

from engine.errors import InputRefused
from engine.methods.catalogue import method as find_method
from engine.methods.catalogue import methods
from engine.methods.datasets import grouping
from engine.methods.datasets.conditions import distinct
from engine.methods.datasets.whole_orders import Foreseen
from engine.methods.parameters import value_of
from engine.methods.protocol import Method, TableArtefact
from engine.methods.shared import site_files
from engine.methods.shared.division import Division
from engine.methods.shared.histories import GRID, Weighing
from engine.methods.shared.site_files import Member
from engine.methods.statistics.mean_forms import VALUE, PlainSum
from engine.privacy.events import Sequential
from engine.privacy.mechanisms import SeededRows
from engine.privacy.noise import Noise
from engine.privacy.promise import WEIGHED, promise_kinds
from engine.release import studies
from engine.release.check import check
from engine.release.examples import plans
from engine.release.plan import Plan
from engine.release.signing import SigningKey
from engine.table.schema import Kind
from tests.engine.battery.distributions import CheckFailed
from tests.engine.battery.replay import Recorder
from tests.engine.methods.audit import recount, replay, seeds
from tests.engine.methods.audit.audits import (
    A_DELTA,
    PEOPLE,
    agreed,
    audit_of,
    audited,
    choices_audited,
    choices_of,
    moves_audited,
    other_choices,
)
from tests.engine.methods.audit.sabotage import RECOUNTED, Sabotage, cap_forgotten, last_exact, sabotages
from tests.engine.methods.audit.tables import Bench, Neighbour, bench, changed, neighbours


def weighs(method: Method, plan: Plan) -> bool:
    """Say whether people are counted by all of their rows, however many."""
    return plan.budget is not None and not plan.step and WEIGHED in check(plan).cost.assumptions


CHOOSES = pytest.mark.parametrize(
    "method",
    [one for one in methods() if any(plan.budget and not plan.step for plan in plans(one))],
    ids=lambda one: one.id,
)
LAST_OF_MISSING = [
    "statistics.means",
    *(f"models.{name}" for name in ("additive", "linear", "logistic", "naive_bayes")),
]
"""Methods whose example has its last number from those who lack a cell."""
EVERY = pytest.mark.parametrize("method", methods(), ids=lambda one: one.id)
SABOTAGED = pytest.mark.parametrize(
    ("method", "sabotage"),
    [pytest.param(one, done, id=f"{one.id} {done.__name__}") for one in methods() for done in sabotages(one)],
)


@pytest.mark.guarantee
@EVERY
def test_a_method_keeps_its_promise(method: Method) -> None:
    assert list(audited(method)) == []


@pytest.mark.guarantee
@pytest.mark.parametrize("round_", [2, 3])
def test_a_later_round_of_a_study_keeps_its_promise(round_: int, tmp_path: Path) -> None:
    """Whatever a coordinator says that the totals were; who pays for less than is drawn is caught."""
    plan, share = later_round(round_), next(one for one in methods() if one.id == "exchanges.share")
    replay.audit(bench(share, plan, tmp_path / "honest", people=PEOPLE), False)
    of_all = Division.asked

    def of_less(division: Division, *names: str) -> Sequential:
        return of_all(replace(division, epsilon=division.epsilon / 2), *names)

    with patch.object(Division, "asked", of_less), pytest.raises(InputRefused, match=r"run\.promise_differs"):
        replay.audit(bench(share, plan, tmp_path / "less", people=PEOPLE), False)


def later_round(round_: int) -> Plan:
    """Return the plan of a site's share in a later round of a tree, with made-up totals before it."""
    tree = plans(next(one for one in methods() if one.id == "models.tree"))[0]
    assert tree.budget is not None
    budget = replace(tree.budget, delta=Fraction(0))
    tree = replace(tree, parameters={**tree.parameters, "depth": 2}, budget=budget)
    key = SigningKey("h1", bytes([1]) * 32, "")
    roster = [
        Member(name, SigningKey(name, bytes([place]) * 32, "").public) for place, name in enumerate("AB", 2)
    ]
    found = site_files.read_study(studies.make_study(tree, roster, "Centre", key))
    chance = np.random.default_rng(round_)
    while found.round < round_:
        totals = [chance.integers(-20, 200, size) for size in found.cells]
        found = replace(found, round=found.round + 1, heard=(*found.heard, *totals))
        found = replace(found, cells=studies.try_out(found, 2))
    content = site_files.written("study", found.head, key.sign, found.numbers)
    return studies.plan_of_site(content, "A", tree)


@pytest.mark.before_release
@EVERY
def test_a_method_keeps_its_promise_with_other_caps_and_many_neighbours(method: Method) -> None:
    assert list(audited(method, many=True)) == []


@pytest.mark.slow
@pytest.mark.guarantee
@CHOOSES
def test_a_method_keeps_its_promise_whatever_is_chosen(method: Method) -> None:
    assert list(choices_audited(method)) == []


@pytest.mark.before_release
@CHOOSES
def test_a_method_keeps_its_promise_whatever_is_chosen_in_every_example(method: Method) -> None:
    assert list(choices_audited(method, many=True)) == []


@CHOOSES
def test_every_choice_is_audited(method: Method) -> None:
    """A further way to draw is tried by being offered, or is missed here."""
    shown = [one for one in plans(method) if one.budget and not one.step]
    tried = [*shown, *(varied for plan in shown for _, varied in other_choices(method, plan))]
    found = {
        (name, value_of(method.parameters, plan.parameters, name))
        for plan in tried
        for name, _ in choices_of(method)
    }
    assert set(choices_of(method)) <= found


def averaged(form: PlainSum, sums: Any, counts: Any, noise: Any) -> dict[str, Any]:
    """Draw twice, and let the mean leave."""
    once, again = (HONEST(form, sums, counts, noise) for _ in range(2))
    return once | {VALUE: (once[VALUE] + again[VALUE]) / 2}


def of_less(form: PlainSum, sums: Any, counts: Any, noise: Any) -> dict[str, Any]:
    """Draw once, half as much."""
    return HONEST(replace(form, epsilon=2 * form.epsilon), sums, counts, noise)


def of_clipped(form: PlainSum, sums: Any, counts: Any, noise: Any) -> dict[str, Any]:
    """Draw what was declared, and add it to sums that move twice as far."""
    return HONEST(form, 2 * sums, counts, noise)


HONEST = PlainSum.numbers


@pytest.mark.guarantee
@pytest.mark.parametrize("wrong", [averaged, of_less, of_clipped])
def test_what_is_wrong_in_a_way_to_draw_that_no_example_takes_is_caught(wrong: Any) -> None:
    means = next(one for one in methods() if one.id == "statistics.means")
    assert not any(isinstance(check(plan).form, PlainSum) for plan in plans(means))  # type: ignore[attr-defined]
    with patch.object(PlainSum, "numbers", wrong):
        assert next(choices_audited(means)).startswith("statistic is sum: ")


def with_whole_orders(delta: Fraction) -> tuple[Method, Plan]:
    """Return the plan of invented histories for so many people that whole orders are counted."""
    traces = next(one for one in methods() if one.id == "datasets.traces")
    plan = plans(traces)[0]
    assert plan.budget is not None and plan.holding_budget is not None
    budget, holding = replace(plan.budget, delta=delta), replace(plan.holding_budget, delta=delta)
    parameters = {**plan.parameters, "about_people": 4000, "whole": 3}
    plan = replace(plan, parameters=parameters, budget=budget, holding_budget=holding)
    design = check(plan)
    assert design.orders is not None and (design.unforeseen is not None) == bool(delta)  # type: ignore[attr-defined]
    return traces, plan


@pytest.mark.guarantee
@pytest.mark.parametrize("delta", [Fraction(0), A_DELTA])
def test_whole_orders_that_no_example_counts_keep_their_promise(delta: Fraction, tmp_path: Path) -> None:
    """Foreseen ones, and with a δ others. Who is counted among both is caught; so is who is counted twice."""
    traces, plan = with_whole_orders(delta)
    replay.audit(bench(traces, plan, tmp_path / "honest", people=PEOPLE), False)
    counts = Foreseen.counts

    def twice(own: Foreseen, cells: Any, found: Any) -> Any:
        return 2 * counts(own, cells, found)

    def never(own: Foreseen, cells: Any) -> Any:
        return np.zeros(len(cells), dtype=bool)

    wrong = {"counts": twice} if not delta else {"has": never, "counts": counts_whatever}
    with patch.multiple(Foreseen, **wrong), pytest.raises(CheckFailed, match="answers tell"):
        replay.audit(bench(traces, plan, tmp_path / "wrong", people=PEOPLE), False)


def counts_whatever(own: Foreseen, cells: Any, found: Any) -> Any:
    """Count foreseen orders, whatever is said of which they are."""
    there = np.isin(cells, own.cells)
    counts = np.zeros(len(own.cells), dtype=np.int64)
    counts[np.searchsorted(own.cells, cells[there])] = found[there]
    return counts


def test_losses_that_add_up_have_the_law_of_their_sum() -> None:
    """Lots with two outcomes and a Gaussian, by hand; and a choice, as what it is."""
    epsilon, count = 0.1, 10
    told = sum((replay.Told.purely(epsilon) for _ in range(count)), replay.Told())
    chance = math.exp(epsilon) / (1 + math.exp(epsilon))
    for level in (0.2, 0.5, 0.8):
        exact = sum(
            math.comb(count, place)
            * chance**place
            * (1 - chance) ** (count - place)
            * max(0.0, 1 - math.exp(level - (2 * place - count) * epsilon))
            for place in range(count + 1)
        )
        assert replay.delta_of(told, level) == pytest.approx(exact, rel=2e-3)
    gaussian = replay.Told(concentrated=0.01)
    assert replay.delta_of(gaussian, 0.5) == pytest.approx(float(replay.gaussian_delta(0.01, 0.5)))
    before, now = np.log([0.5, 0.3, 0.2]), np.log([0.45, 0.33, 0.22])
    chosen = replay.Told.chosen(before, now)
    exact = sum(max(0.0, p - math.exp(0.05) * q) for p, q in ((0.5, 0.45), (0.3, 0.33), (0.2, 0.22)))
    back = sum(max(0.0, q - math.exp(0.05) * p) for p, q in ((0.5, 0.45), (0.3, 0.33), (0.2, 0.22)))
    assert replay.delta_of(chosen, 0.05) == pytest.approx(max(exact, back), rel=1e-3)
    assert replay.delta_of(chosen + gaussian, 0.5) > replay.delta_of(gaussian, 0.5)


@pytest.mark.guarantee
@SABOTAGED
def test_a_sabotaged_method_does_not(method: Method, sabotage: Sabotage) -> None:
    with sabotage(method):
        assert next(audited(method), None) is not None


@pytest.mark.guarantee
@pytest.mark.parametrize(
    "method",
    [
        one
        for one in methods()
        if any(audit_of(one, plan)[0] is replay.audit for plan in plans(one) if not plan.step)
    ],
    ids=lambda one: one.id,
)
def test_noise_covers_all_rows_of_a_person_and_an_exchange(method: Method) -> None:
    assert list(moves_audited(method)) == []
    with cap_forgotten(method):
        assert next(moves_audited(method)).startswith("three rows a person: a person with twelve rows: ")


@pytest.mark.guarantee
@pytest.mark.parametrize("name", LAST_OF_MISSING)
def test_an_exact_number_of_those_who_lack_a_cell_is_caught(name: str, tmp_path: Path) -> None:
    """Whoever has all cells moves none of these numbers, and who has none of them has no part at all."""
    method = next(one for one in methods() if one.id == name)
    made = bench(method, plans(method)[0], tmp_path / "people", people=PEOPLE)
    lacking = next(one for one in neighbours(made) if one.name == "a cell missing, each with somebody")
    replay.check_neighbour(made, lacking, *replay.recorded(made, made.rows))
    with last_exact(method), pytest.raises(CheckFailed, match="other bytes leave"):
        replay.check_neighbour(made, lacking, *replay.recorded(made, made.rows))


NOISY = [
    (one, plan)
    for one in methods()
    for plan in plans(one)
    if not plan.step and audit_of(one, plan)[0] is replay.audit
]


@pytest.mark.parametrize(
    ("method", "plan"), NOISY, ids=lambda one: one.id if isinstance(one, type) else one.purpose.title
)
def test_a_smaller_claim_would_be_seen_by_what_is_drawn_alone(
    method: Method, plan: Plan, tmp_path: Path
) -> None:
    """Whatever is declared: neighbours reach two thirds of it, by sums, scores and noise as it was drawn."""
    made = bench(method, plan, tmp_path / "people", people=PEOPLE)
    tape, _ = replay.recorded(made, made.rows)
    found = [replay.replayed(made, one.rows, tape)[0] for one in neighbours(made) if one.apart == 1]
    promise = made.design.cost
    assert promise.loss is not None
    modest = replace(promise, loss=replace(promise.loss, epsilon=promise.loss.epsilon * Fraction(2, 3)))
    assert all(replay.within(one, promise, apart=1) for one in found)
    assert not all(replay.within(one, modest, apart=1) for one in found)


def masked_share(delta: Fraction = Fraction(0)) -> Plan:
    """Return the example of a share with one noise for all sites, and a holder of masks."""
    share = next(one for one in methods() if one.id == "exchanges.share")
    (plan,) = plans(share)
    key = SigningKey("h", bytes([8]) * 32, "")
    if delta:
        study = site_files.read_study(plan.parameters["study"].encode())
        noisy = {**study.parameters, "noise": "gaussian"}
        study = replace(study, budget=replace(study.budget, delta=delta), parameters=noisy)
        content = site_files.written(site_files.STUDY, study.head | {"key": key.public}, key.sign)
        assert plan.holding_budget is not None
        plan = replace(
            plan,
            parameters={**plan.parameters, "study": content.decode()},
            holding_budget=replace(plan.holding_budget, delta=delta),
        )
    card = site_files.card("Holder", key.public, "09" + 31 * "00")
    holder = site_files.read_card(site_files.written(site_files.CARD, card, key.sign), "card")
    return agreed(plan, holders=[holder])


@pytest.mark.parametrize(
    ("sampler", "delta"), [("laplace_share", Fraction(0)), ("gaussian_share", Fraction(1, 10**6))]
)
def test_a_share_of_one_noise_keeps_its_promise_with_those_of_the_others(
    sampler: str, delta: Fraction, tmp_path: Path
) -> None:
    """Masks hide nothing that is not paid for: what leaves follows from the noisy sums and from lots."""
    plan = masked_share(delta)
    share = next(one for one in methods() if one.id == "exchanges.share")
    made = bench(share, plan, tmp_path / "people", people=PEOPLE)
    assert {draw.sampler for draw in made.design.cost.drawn()} == {sampler}
    replay.audit(made, many=False)
    whole = getattr(Noise, sampler)
    halved = lambda self, scale, parts, size: whole(self, scale, parts, size) // 2  # noqa: E731
    replay._measured.cache_clear()
    with patch.object(Noise, sampler, halved), pytest.raises(CheckFailed):
        replay.audit(made, many=False)
    replay._measured.cache_clear()


@pytest.mark.parametrize("ratio", [1, 2])
def test_crowds_are_counted_at_once_as_they_are_defined(ratio: int) -> None:
    lots = np.random.default_rng(4)
    steps = np.array([0, 0.02, 0.05, 0.05 + 1e-9, 0.11, 0.4])  # none, and of the same size or nearly
    p, people = lots.choice(steps, size=(9, 60)), np.array([40, 39, 1, 0, 40, 2, 40, 7, 40])
    test = SeededRows(
        threshold=2,
        least=1,
        rate=Fraction(1, 4),
        ratio=Fraction(ratio),
        alone=Fraction(1, 9),
        slack=Fraction(0),
    )
    found = seeds.sizes_of_crowds(p, people, test)
    for own, row in np.argwhere((p > 0) & (people > 0)[:, None]):
        assert found[own, row] == seeds.size_of_crowd(p[:, row], people, own, test)
    assert not found[(p == 0) | (people == 0)[:, None]].any() and len(np.unique(found)) > 9


def test_a_sharp_threshold_of_crowds_is_seen(tmp_path: Path) -> None:
    """The last of a crowd decides then whether its row leaves."""
    chosen = next(one for one in methods() if one.id == "datasets.seedbased")
    made = bench(chosen, plans(chosen)[0], tmp_path / "people", people=PEOPLE)
    recorder = seeds._coins(Recorder(3))
    seen, _, _ = seeds._run(
        made, made.rows, recorder, replay.Hearing(lambda: recorder.calls), seeds._Making(None)
    )
    seeds.check_rows(seen)
    found = seeds.chances(seen)
    people = np.full(len(found.seeds), seeds.ALIKE)
    own = int(np.argmax(found.p.max(axis=1)))
    row = found.p[:, int(np.argmax(found.p[own]))]
    crowd = seeds.size_of_crowd(row, people, own, seen.test)
    sharp = replace(seen, test=replace(seen.test, threshold=crowd))
    with (
        patch.object(SeededRows, "chance", lambda self, size: float(size >= self.threshold)),
        patch.object(SeededRows, "each", lambda self: (Fraction(1, 10), Fraction(1, 10**6))),
        pytest.raises(CheckFailed, match="one seed moves"),
    ):
        seeds.check_rows(sharp)


@pytest.mark.parametrize(
    ("cells", "key", "links", "is_new"),
    [
        (["1", "2", "3"], "who", {}, True),
        (["1", "1", "3"], "", {"who": ("people", "who")}, True),
        (["1", "2", "3"], "", {}, False),
        (["1", "3", "2"], "who", {}, False),
        (["1", "1", "2"], "who", {}, False),
        (["3", "1", "2"], "", {"who": ("people", "who")}, False),
        (["s1", "s2", "s3"], "who", {}, False),
    ],
)
def test_a_column_that_names_people_leaves_with_numbers_counted_up_alone(
    cells: list[str], key: str, links: dict[str, tuple[str, str]], is_new: bool
) -> None:
    table = TableArtefact("people", (pd.DataFrame({"who": cells}, dtype="str"),), (), key=key, links=links)
    assert recount.is_counted_up(table, "who") is is_new


def test_every_promise_without_noise_is_recounted_and_broken() -> None:
    kinds = {kind.id for kind in promise_kinds() if not kind.bounded}
    assert kinds == recount.KINDS.keys()
    made = {kind for method in methods() for kind in method.promises} & kinds
    assert made - RECOUNTED.keys() <= {"cell_keys"}  # of which no example is shipped


@pytest.mark.parametrize("name", ["datasets.k_anonymity", "datasets.partition"])
@pytest.mark.parametrize(
    ("asked", "values"),
    [
        ("distinct_l", {"distinct_l": 3}),
        ("entropy_l", {"entropy_l": 2}),
        ("recursive_l", {"recursive_l": 2, "recursive_c": 2}),
        ("t", {"t": "1/5"}),
        ("t", {"t": "1/5", "distance": "equal"}),
        ("beta", {"beta": 2}),
    ],
)
def test_every_condition_on_sensitive_values_is_recounted(
    name: str, asked: str, values: dict[str, Any], tmp_path: Path
) -> None:
    """No example asks for most of them; a method that leaves one out is caught."""
    plan = plans(find_method(name))[0]
    given = {"columns": plan.parameters["columns"], "k": 2, "sensitive": ["readmitted"], **values}
    made = bench(find_method(name), replace(plan, parameters=given), tmp_path / "kept", people=300)
    recount.audit(made, many=False)
    left_out = patch.dict(grouping._ASKED, {asked: lambda *_: distinct(1)})
    with left_out, pytest.raises(CheckFailed, match=f"not as promised|farther than {asked}"):
        recount.audit(replace(made, _designs=[]), many=False)


WEIGHS = pytest.mark.parametrize(
    "method",
    [one for one in methods() if any(weighs(one, plan) for plan in plans(one))],
    ids=lambda one: one.id,
)


def wanderer(of: Bench, events: int) -> tuple[dict[str, str], ...]:
    """Return the rows of a new person who is in another place at every event, all over the declared time."""
    schema, found = of.plan.schemas[of.varied], []
    for nth in range(events):
        cells = {}
        for column in schema.columns:
            domain = column.domain
            if domain is None or column.name not in of.rows[0]:
                continue
            if domain.values:
                cells[column.name] = domain.values[(nth + nth // len(domain.values)) % len(domain.values)]
            elif column.kind in (Kind.DATE, Kind.MOMENT):
                low, high = (np.datetime64(str(one), "m") for one in (domain.minimum, domain.maximum))
                moment = low + (high - low) * nth // events
                cells[column.name] = str(moment.astype("M8[D]") if column.kind is Kind.DATE else moment)
        found.append(changed(of, of.rows[0], cells, 500))
    return tuple(found)


def with_many_rows(of: Bench, events: int) -> Bench:
    """Return a bench in which a new person has so many rows in every further table, by those of others."""
    tables = dict(of.tables)
    for source in of.further:
        key = of.plan.schemas[source].person_key
        assert key is not None
        shown = tables[source]
        stranger = tuple(shown[nth % len(shown)] | {key.name: "1"} for nth in range(events))
        tables[source] = (*(row for row in shown if row[key.name] != "1"), *stranger)
    return replace(of, tables=tables)


@pytest.mark.guarantee
@WEIGHS
def test_a_person_of_five_hundred_events_tells_no_more_than_is_paid_for(
    method: Method, tmp_path: Path
) -> None:
    """Nor one of a single event. Somebody whose events all count whole is caught."""
    for place, plan in enumerate(plans(method)):
        if not weighs(method, plan):
            continue
        of = bench(method, plan, tmp_path / str(place), people=PEOPLE)
        tape, leaves = replay.recorded(of, of.rows)
        for events in (1, 500):
            seen = with_many_rows(of, events)
            own = wanderer(of, 1 if of.further else events)
            beside = Neighbour(f"{events} events", (*of.rows, *own), 1)
            replay.check_neighbour(seen, beside, tape, leaves)
    whole = patch.object(
        Weighing, "weights", lambda own, lengths: np.full_like(lengths, GRID * own.top // own.cap)
    )
    with whole, pytest.raises(CheckFailed, match="answers tell"):
        replay.check_neighbour(seen, beside, *replay.recorded(of, of.rows))
