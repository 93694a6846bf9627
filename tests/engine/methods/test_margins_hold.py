"""Margins that stand in a table hold about the value without noise, also among what a method shows of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest

from engine.evaluation.numbers import LIMIT
from engine.evaluation.without_noise import WithoutNoise
from engine.methods.catalogue import method, methods
from engine.methods.protocol import Context, Method, Release, TableArtefact
from engine.methods.statistics.counts import Counts
from engine.privacy.mechanisms.integers import Integers, listening, noisy
from engine.release import make
from engine.release.examples import plans
from engine.release.plan import Plan
from tests.engine.methods.audit.replay import lots
from tests.engine.methods.audit.tables import bench
from tests.noise_source import seeded_noise

PEOPLE, RUNS, LEVEL = 400, 60, 0.95
SURE = 5
"""Standard errors below its level at which a margin fails: by chance less than once in a million."""
Misses = dict[str, list[tuple[int, int]]]
"""By number, for each release how many of its margins missed, and of how many."""
PLANS = [
    pytest.param(one, plan, id=f"{one.id} {place}")
    for one in methods()
    if not one.steps
    for place, plan in enumerate(plans(one))
    if plan.budget is not None and plan.files
]


def margins(frame: pd.DataFrame) -> Iterator[tuple[str, str]]:
    """Yield every number that has a margin, with its margin: `within_95` is of the number before it."""
    for before, name in zip(frame.columns, frame.columns[1:], strict=False):
        if str(name) == LIMIT or str(name) == f"{before}_{LIMIT}":
            yield str(before), str(name)


def named(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table with its rows called by the cells that are no numbers and no limits."""
    numbers = {name for pair in margins(frame) for name in pair} | {
        name for name in frame if LIMIT in str(name) or pd.api.types.is_float_dtype(frame[name])
    }
    keys = frame[[name for name in frame if name not in numbers]].astype(str)
    return frame.set_axis(pd.Index(keys.agg("\x1f".join, axis=1) if len(keys.columns) else range(len(frame))))


def tables_of(release: Release) -> dict[str, pd.DataFrame]:
    return {
        one.name: named(one.frames[0])
        for one in release.artefacts
        if isinstance(one, TableArtefact) and one.frames and any(True for _ in margins(one.frames[0]))
    }


def released(design: Method, used: Any, noise: Any, folder: Path) -> tuple[Release, list[Any]]:
    """Make a release and keep every exact sum and what came out of it."""
    heard: list[tuple[Integers, Integers]] = []

    def hear(values: Integers, draws: Integers) -> Integers:
        answer = noisy(values, draws)
        heard.append((np.ravel(values), np.ravel(answer)))
        return answer

    with listening(hear):
        return design.run(used, Context(noise, None, folder)), heard


def nearest_exact(value: float, heard: list[Any]) -> float:
    """Return the exact sum behind a released one, the nearest where several came out the same; else NaN."""
    found = [exact[answers == value] for exact, answers in heard]
    sums = np.concatenate(found) if found else np.zeros(0)
    return float(sums[np.argmin(np.abs(sums - value))]) if len(sums) else float("nan")


def misses_of(one: type[Method], plan: Plan, folder: Path, *, people: int = PEOPLE) -> Misses:
    """Return how often margins missed the value without noise, by number, in each of some releases."""
    made = bench(one, plan, folder, people=people)
    design, prepared = made.design, made.prepared(made.rows)
    private = design.request.private
    used = {name: make._rows_of(table, name in private, lots(3)) for name, table in prepared.items()}
    found: Misses = defaultdict(list)
    try:
        exact = tables_of(released(design, used, WithoutNoise(), folder)[0])
    except AttributeError:  # there is no value without noise behind rows that lots invented
        assert not tables_of(released(design, used, seeded_noise(0), folder)[0])
        return found
    if not exact:
        return found
    for seed in range(RUNS):
        release, heard = released(design, used, seeded_noise(seed), folder)
        for name, table in tables_of(release).items():
            truth = exact[name]
            for number, limit in margins(table):
                places = [truth[number].get(key, float("nan")) for key in table.index]
                values, limits = (table[part].to_numpy(dtype=float) for part in (number, limit))
                right = np.array(
                    [
                        nearest_exact(value, heard) if np.isnan(place) else place
                        for place, value in zip(np.asarray(places, dtype=float), values, strict=True)
                    ]
                )
                known = ~np.isnan(right) & ~np.isnan(values) & ~np.isnan(limits)
                off = np.abs(values - right)[known] > limits[known] * (1 + 1e-9) + 1e-9
                found[f"{name}.{number}"].append((int(off.sum()), int(known.sum())))
    return found


def too_narrow(found: Misses) -> list[str]:
    """Return the numbers whose margins miss more often than they say, releases being independent."""
    wrong = []
    for number, lines in found.items():
        missed, counted = (np.array(part, dtype=float) for part in zip(*lines, strict=True))
        if not counted.sum():
            continue
        rate = missed.sum() / counted.sum()
        off = missed - rate * counted
        error = np.sqrt((off**2).sum()) / counted.sum()
        if rate - SURE * error > 1 - LEVEL:
            wrong.append(f"{number}: {rate:.3f} ± {error:.3f}")
    return wrong


@pytest.mark.slow
@pytest.mark.guarantee
@pytest.mark.parametrize(("one", "plan"), PLANS)
def test_margins_cover_as_often_as_they_say(one: type[Method], plan: Plan, tmp_path: Path) -> None:
    assert too_narrow(misses_of(one, plan, tmp_path)) == []


@contextmanager
def largest_alone() -> Iterator[None]:
    """Let counts show only their three largest cells, with the margin of any cell: it ignores the choice."""
    honest = Counts.released

    def chosen(self: Counts, counts: Integers, *given: Any) -> Release:
        release = honest(self, counts, *given)
        (table, *rest) = release.artefacts
        assert isinstance(table, TableArtefact)
        best = table.frames[0].nlargest(3, "count")
        object.__setattr__(
            release, "artefacts", (TableArtefact(table.name, (best,), table.dictionary), *rest)
        )
        return release

    with patch.object(Counts, "released", chosen):
        yield


def even_counts() -> Plan:
    """Return the example of counts with many cells that are nearly as large, of which noise decides."""
    (plan,) = [one for one in plans(method("statistics.counts")) if not one.step][:1]
    return replace(plan, parameters={"columns": ["medical_specialty", "age"], "extra_cells": "left_out"})


@pytest.mark.slow
@pytest.mark.guarantee
def test_a_margin_that_ignores_how_its_cell_was_chosen_is_caught(tmp_path: Path) -> None:
    counts = method("statistics.counts")
    assert too_narrow(misses_of(counts, even_counts(), tmp_path / "all", people=20)) == []
    with largest_alone():
        (wrong,) = too_narrow(misses_of(counts, even_counts(), tmp_path / "largest", people=20))
    assert wrong.startswith("counts.count: ")
