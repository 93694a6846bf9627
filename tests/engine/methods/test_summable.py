"""Which methods can be made of the sums of several sites: decided over the whole catalogue, not by hand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.methods.catalogue import methods
from engine.methods.protocol import MOST_ROUNDS, Context, Method, Release
from engine.methods.shared.ratio import RatioNoise, ratio_and_margin, ratio_errors
from engine.methods.shared.sums import MOST, SAMPLERS, add_up, put_in_place, tell_sums
from engine.privacy.accuracy import noise_of
from engine.privacy.mechanisms.integers import Integers, listening, noisy
from engine.privacy.noise import Noise
from engine.release import make
from engine.release.examples import plans
from engine.release.plan import Plan
from engine.table.table import Table
from tests.engine.methods.audit.replay import leaves_of, lots
from tests.engine.methods.audit.tables import bench
from tests.noise_source import seeded_bytes, seeded_noise

SITES, PEOPLE = 3, 240
CLEAR = 100
"""Times the budget at which answers say something of so few people."""
MANY = 10**6
Sums = list[tuple[Integers, Integers]]


def _with(plan: Plan, further: dict[str, Any]) -> Plan:
    return replace(plan, parameters={**plan.parameters, **further})


NOISY = [
    pytest.param(one, plan, id=f"{one.id} {place}")
    for one in methods()
    for place, plan in enumerate(plans(one))
    if not plan.step and plan.budget is not None
]
SETTINGS: dict[str, list[dict[str, Any]]] = {
    "models.linear": [{"fit": "sums"}],
    "models.logistic": [{"fit": "sums"}],
    "datasets.gaussians": [{"group_rows": 10**6}],
    "datasets.traces": [{"whole": 0}],
    "statistics.means": [{"strategy": "perturb"}, {"strategy": "compose"}, {"statistic": "sum"}],
}
"""Further ones in which a method asks in another way than its examples do."""
FEW_ROUNDS: dict[str, list[dict[str, Any]]] = {
    "models.tree": [{"depth": 1}, {"depth": 2}],
    "models.k_means": [{"turns": 1}, {"turns": 2}],
    "models.additive": [{"fit": "sums", "cells": "equal"}, {"fit": "sums"}],
}
"""Those in which few rounds are enough."""
NOISY += [
    pytest.param(one, _with(plan, further), id=f"{one.id} {further}")
    for one in methods()
    for plan in plans(one)[:1]
    for further in SETTINGS.get(one.id, ())
]


class Apart(Noise):
    """A door that draws the noise of sums beside all else, so that the same rows are drawn without it."""

    def __init__(self, seed: int) -> None:
        super().__init__(seeded_bytes(seed))
        sums = seeded_noise(1000 + seed)
        for sampler in SAMPLERS:
            setattr(self, sampler, getattr(sums, sampler))


def context(seed: int, folder: Path) -> Context:
    return Context(Apart(seed), None, folder)


def heard(design: Method, tables: dict[str, Table], seed: int, folder: Path) -> tuple[Release, Sums]:
    """Run a method and keep every exact sum and the noise that it got."""
    sums: Sums = []

    def hear(values: Integers, draws: Integers) -> Integers:
        sums.append((np.array(values), np.array(draws)))
        return noisy(values, draws)

    with listening(hear):
        release = design.run(tables, context(seed, folder))
    return release, sums


def tables_of(method: type[Method], plan: Plan, folder: Path) -> tuple[Method, dict[str, Table], str]:
    made = bench(method, plan, folder, people=PEOPLE)
    private = made.design.request.private
    prepared = made.prepared(made.rows)
    used = {name: make._rows_of(one, name in private, lots(3)) for name, one in prepared.items()}
    return made.design, used, private[0]


def parts(design: Method, tables: dict[str, Table], main: str) -> list[dict[str, Table]]:
    """Give every person to one of the sites."""
    rows, key = tables[main].rows(), design.request.schemas[main].person_key
    whose = (
        range(len(rows)) if key is None else rows[key.name].map({p: i for i, p in enumerate(rows[key.name])})
    )
    site = np.array(list(whose)) % SITES
    return [{**tables, main: tables[main].with_rows(rows[site == place])} for place in range(SITES)]


def is_alike(design: Method, tables: dict[str, Table], main: str, folder: Path) -> bool:
    """Whether the sums of sites take the place of one's, and the release is the same to the byte.

    Every site has other noise, so a sum that hangs on an answer before it is seen.
    """
    pooled, sums = heard(design, tables, 5, folder)
    sites = [
        heard(design, one, 100 + place, folder)[1] for place, one in enumerate(parts(design, tables, main))
    ]
    if any([exact.shape for exact, _ in one] != [exact.shape for exact, _ in sums] for one in sites):
        return False
    totals = add_up([[exact.ravel() for exact, _ in one] for one in sites])
    exact = [one.ravel() for one, _ in sums]
    if not sums or any((one != total).any() for one, total in zip(exact, totals, strict=True)):
        return False
    noise: Sequence[Integers] = [draws.ravel() for _, draws in sums]
    told = [noisy(total, draws) for total, draws in zip(totals, noise, strict=True)]
    return leaves_of(put_in_place(design, tables, told, context(5, folder))) == leaves_of(pooled)


@pytest.mark.parametrize(("method", "plan"), NOISY)
def test_what_is_said_to_be_summable_is(method: type[Method], plan: Plan, tmp_path: Path) -> None:
    """The other way round: what would be, and says the noise of several sites, is declared to be."""
    design = method(plan.request)
    adds = {draw.sampler for draw in design.cost.drawn()} <= SAMPLERS
    if not method.summable and not (adds and is_told(design)):
        return  # what it says of its errors would be those of one site
    louder = {times: louder_by(plan, times) for times in (1, CLEAR)}
    declared = [one for one in louder if method.summable and method(louder[one].request).asks_once]
    alike = [one for one in louder if adds and alike_in(method, louder[one], tmp_path / str(one))]
    if declared:
        assert alike == declared, f"{method.id}: `summable`, but the sums of sites give another release"
    else:
        assert len(alike) < len(louder), f"{method.id}: sums of sites give the same release; set `summable`"
    assert 1 not in declared or is_told(design)


def louder_by(plan: Plan, times: int) -> Plan:
    """The same at so many times the budget: in too much noise nothing hangs on an answer."""
    assert plan.budget is not None
    return replace(plan, budget=replace(plan.budget, epsilon=times * plan.budget.epsilon))


def alike_in(method: type[Method], plan: Plan, folder: Path) -> bool:
    design, tables, main = tables_of(method, plan, folder)
    return is_alike(design, tables, main, folder)


def is_told(design: Method) -> bool:
    """Whether what a method says of its errors follows the noise of several sites.

    Of many people, so that no error is as large as what was declared allows.
    """
    many = {"sizes": (MANY,)}
    with noise_of(SITES):
        other = design.but(**many).forecast
    pairs = list(zip(design.but(**many).forecast.errors, other.errors, strict=True))
    return bool(pairs) and all(1.2 * one.limit < more.limit <= SITES * one.limit for one, more in pairs)


@pytest.mark.parametrize("method", [one for one in methods() if one.summable], ids=lambda one: one.id)
def test_a_summable_method_is_so_with_some_settings_and_says_the_noise_of_all_sites(
    method: type[Method],
) -> None:
    settings = ({}, *SETTINGS.get(method.id, ()), *FEW_ROUNDS.get(method.id, ()))
    designs = [method(pure(_with(plan, one)).request) for plan in plans(method)[:1] for one in settings]
    asked = [one for one in designs if one.asks_once or one.rounds]
    assert asked and all(map(is_told, asked))


def pure(plan: Plan) -> Plan:
    """The same without δ, with its budget as ε."""
    assert plan.budget is not None
    return replace(plan, budget=replace(plan.budget, delta=Fraction(0)))


IN_ROUNDS = [
    pytest.param(one, plan, id=f"{one.id} {place}")
    for one in methods()
    if one.summable
    for place, plan in enumerate(
        pure(_with(plans(one)[0], further)) for further in ({}, *FEW_ROUNDS.get(one.id, ()))
    )
    if one(plan.request).rounds
]


def test_some_methods_take_rounds() -> None:
    assert len(IN_ROUNDS) >= 4


@pytest.mark.parametrize(("method", "plan"), IN_ROUNDS)
def test_what_is_said_to_take_rounds_is_one_answer_after_these(
    method: type[Method], plan: Plan, tmp_path: Path
) -> None:
    """Every site has other noise, so that within a round no sum hangs on an answer; rounds pay for all."""
    design, tables, main = tables_of(method, louder_by(plan, CLEAR), tmp_path)
    pooled, sums = heard(design, tables, 5, tmp_path)
    assert 2 <= len(design.rounds) <= MOST_ROUNDS and design.cost.loss is not None
    sizes = [sum(event.drawn().values()) for event in design.rounds]
    assert sum(sizes) == len(sums)
    assert sum(event.epsilon() for event in design.rounds) <= design.cost.loss.epsilon
    drawn = sum((event.drawn() for event in design.rounds), Counter())
    assert drawn == design.cost.drawn()
    totals: list[Integers] = []
    at = parts(design, tables, main)
    for size in sizes:
        exact = []
        for place, one in enumerate(at):
            told, release = tell_silently(design, one, context(100 + place, tmp_path), totals, size)
            assert release is None or len(totals) + size == len(sums)
            exact.append(told)
        own = sums[len(totals) : len(totals) + size]
        for total, (wanted, draws) in zip(add_up(exact), own, strict=True):
            assert (total == wanted.ravel()).all()
            totals.append(noisy(wanted, draws).ravel())
    assert leaves_of(put_in_place(design, tables, totals, context(5, tmp_path))) == leaves_of(pooled)


def tell_silently(
    design: Method, tables: dict[str, Table], context: Context, known: Sequence[Integers], most: int
) -> tuple[list[Integers], Release | None]:
    """Return the exact sums that a site would tell in a round; what goes on inside hears its noise."""
    exact: list[Integers] = []

    def hear(values: Integers, draws: Integers) -> Integers:
        exact.append(np.array(values).ravel())
        return noisy(values, draws)

    with listening(hear):
        told, release = tell_sums(design, tables, context, known, most)
    assert len(told) == len(exact) == most
    return exact, release


def test_a_site_tells_its_noisy_sums_alone(tmp_path: Path) -> None:
    (method,) = (one for one in methods() if one.id == "statistics.counts")
    design, tables, _ = tables_of(method, plans(method)[0], tmp_path / "people")
    _, sums = heard(design, tables, 5, tmp_path)
    told, release = tell_sums(design, tables, context(5, tmp_path))
    assert [one.tolist() for one in told] == [noisy(exact, draws).ravel().tolist() for exact, draws in sums]
    assert release is not None
    (frame,) = release.artefacts[0].frames  # type: ignore[union-attr]
    assert (frame["count"].to_numpy() == np.maximum(told[0], 0)).all() or design.values[
        "no_negatives"
    ] is False


def test_margins_of_several_sites_are_those_of_the_sum_of_their_noise() -> None:
    """By convolution, number for number."""
    from engine.privacy.accuracy import laplace_accuracy

    q, reach = np.exp(-1 / 4), 400
    one = (1 - q) / (1 + q) * q ** np.abs(np.arange(-reach, reach + 1.0))
    all_three = np.convolve(np.convolve(one, one), one)
    middle = len(all_three) // 2
    within = all_three[middle] + 2 * np.cumsum(all_three[middle + 1 :])
    with noise_of(3):
        found = laplace_accuracy(Fraction(4))
    assert found.limit == 1 + int(np.searchsorted(within, 0.95))
    assert found.median == 1 + int(np.searchsorted(within, 0.5))
    assert laplace_accuracy(Fraction(4)).limit < found.limit


@pytest.mark.parametrize("count", [None, Fraction(3)])
def test_means_of_several_sites_lie_within_what_is_said(count: Fraction | None) -> None:
    """By drawing the noise of three sites, for a place inside the range."""
    draws, place, total = np.random.default_rng(4), 0.3, 4000.0
    first, second = (
        sum(discrete(draws, scale) for _ in range(SITES)) for scale in (20, 20 if not count else 3)
    )
    noise = RatioNoise(Fraction(20), count, reach=5, sites=Fraction(SITES))
    if count is None:
        above, below = place * total + first, (1 - place) * total + second
    else:
        whole = total + 5 * second
        above, below = (
            (whole + (2 * place - 1) * total + first) / 2,
            (whole - (2 * place - 1) * total - first) / 2,
        )
    ratio, margin = ratio_and_margin(above, below, noise)
    off = np.abs(ratio - place)
    assert 0.945 < np.mean(off <= margin) < 0.956  # .95 ± 4 deviations
    (said,) = ratio_errors(noise, (4000,))
    assert 0.94 < np.mean(off <= said.limit) < 0.985  # of the least favourable place
    (alone,) = ratio_errors(replace(noise, sites=Fraction(1)), (4000,))
    assert np.mean(off <= alone.limit) < 0.9


def discrete(draws: np.random.Generator, scale: int) -> Any:
    """Draw discrete Laplace noise as a difference of two geometric numbers."""
    stop = 1 - np.exp(-1 / scale)
    return draws.geometric(stop, 30_000) - draws.geometric(stop, 30_000)


SUMMABLE = [
    pytest.param(one, pure(_with(plans(one)[0], further)), id=f"{one.id} {further}")
    for one in methods()
    if one.summable
    for further in ({}, *SETTINGS.get(one.id, ()), *FEW_ROUNDS.get(one.id, ()))
]


@pytest.mark.parametrize(("method", "plan"), SUMMABLE)
def test_whatever_totals_somebody_sent_an_answer_comes_out(
    method: type[Method], plan: Plan, tmp_path: Path
) -> None:
    """A site may send what it likes, and nobody notices; it ends nobody's program."""
    design = method(plan.request)
    if design.problems or not (design.asks_once or design.rounds):
        return
    design, tables, _ = tables_of(method, plan, tmp_path)
    _, sums = heard(design, tables, 5, tmp_path)
    chance = np.random.default_rng(1)
    for low, high in ((MOST, MOST), (-MOST, -MOST), (-MOST, MOST), (0, 0), (-(10**6), 10**6)):
        totals = [chance.integers(low, high, exact.size, endpoint=True) for exact, _ in sums]
        with np.errstate(all="ignore"):
            release = put_in_place(design, tables, totals, context(5, tmp_path))
        assert release.artefacts
