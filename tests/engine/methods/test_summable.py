"""Which methods can be made of the sums of several sites: decided over the whole catalogue, not by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from engine.methods.catalogue import methods
from engine.methods.protocol import Context, Method, Release
from engine.methods.shared.sums import SAMPLERS, add_up, put_in_place, tell_sums
from engine.privacy.accuracy import noise_of
from engine.privacy.mechanisms.integers import Integers, listening, noisy
from engine.release import make
from engine.release.examples import plans
from engine.release.plan import Plan
from engine.table.table import Table
from tests.engine.methods.audit.replay import leaves_of, lots
from tests.engine.methods.audit.tables import bench
from tests.noise_source import seeded_noise

SITES, PEOPLE = 3, 240
CLEAR = 100
"""Times the budget at which answers say something of so few people."""
Sums = list[tuple[Integers, Integers]]
NOISY = [
    pytest.param(one, plan, id=f"{one.id} {place}")
    for one in methods()
    for place, plan in enumerate(plans(one))
    if not plan.step and plan.budget is not None
]


def context(seed: int, folder: Path) -> Context:
    return Context(seeded_noise(seed), None, folder)


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
    declared = method.summable and design.asks_once
    assert declared == (adds and all(alike_at(method, plan, times, tmp_path) for times in (1, CLEAR)))
    assert not declared or is_told(design)


def alike_at(method: type[Method], plan: Plan, times: int, folder: Path) -> bool:
    """The same at so many times the budget: in too much noise nothing hangs on an answer."""
    assert plan.budget is not None
    louder = replace(plan, budget=replace(plan.budget, epsilon=times * plan.budget.epsilon))
    design, tables, main = tables_of(method, louder, folder / str(times))
    return is_alike(design, tables, main, folder)


def is_told(design: Method) -> bool:
    """Whether what a method says of its errors follows the noise of several sites."""
    with noise_of(SITES):
        other = design.but().forecast
    pairs = list(zip(design.but().forecast.errors, other.errors, strict=True))
    return bool(pairs) and all(1.2 * one.limit < more.limit <= SITES * one.limit for one, more in pairs)


@pytest.mark.parametrize("method", [one for one in methods() if one.summable], ids=lambda one: one.id)
def test_a_summable_method_says_the_noise_of_all_sites(method: type[Method]) -> None:
    (plan, *_) = plans(method)
    design = method(plan.request)
    assert is_told(design)


def test_a_site_tells_its_noisy_sums_alone(tmp_path: Path) -> None:
    (method,) = (one for one in methods() if one.id == "statistics.counts")
    design, tables, _ = tables_of(method, plans(method)[0], tmp_path / "people")
    _, sums = heard(design, tables, 5, tmp_path)
    told, release = tell_sums(design, tables, context(5, tmp_path))
    assert [one.tolist() for one in told] == [noisy(exact, draws).ravel().tolist() for exact, draws in sums]
    (frame,) = release.artefacts[0].frames  # type: ignore[union-attr]
    assert (frame["count"].to_numpy() == np.maximum(told[0], 0)).all() or design.values[
        "no_negatives"
    ] is False


def test_margins_of_several_sites_are_those_of_the_sum_of_their_noise() -> None:
    """By convolution, number for number."""
    from fractions import Fraction

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
