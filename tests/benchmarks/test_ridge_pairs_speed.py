"""Sampled sensitivity of the ridge query against a loop that draws the same pairs and refits both models.

The loop is timed on some of the pairs and scaled linearly: every turn of it does the same work. Both sides
draw their pairs within the time that is taken. The best of several rounds counts on either side.
"""

import time

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from engine.privacy.sampled_sensitivity import RecordOrigin, RidgeQuery, TablePopulation, unit_rows
from engine.privacy.sampled_sensitivity.draws import record_chunks
from tests.ratios import slack

ROWS, ATTRIBUTES = 170_000, 5


def seeded(seed):
    return np.random.Generator(np.random.PCG64(seed))


@pytest.fixture(scope="module")
def population():
    generator = seeded(1)
    predictors = unit_rows(generator.normal(loc=0.5, size=(ROWS, ATTRIBUTES)))
    income = np.clip(predictors.mean(axis=1) + 0.1 * generator.normal(size=ROWS), 0.0, 1.0)
    return TablePopulation(np.column_stack([predictors, income]), origin=RecordOrigin.SIMULATED)


def by_refitting(population, penalty, *, pairs, records, first, seed):
    """Fit the first pairs of the draw with scikit-learn; return the answers and the seconds they took."""
    start = time.perf_counter()
    sides = []
    for chunk in record_chunks(population, pairs=pairs, records=records, generator=seeded(seed)):
        for drawn in chunk:
            one, other = drawn[:-1], np.concatenate([drawn[:-2], drawn[-1:]])
            sides.append(
                [
                    Ridge(alpha=penalty, fit_intercept=False).fit(rows[:, :-1], rows[:, -1]).coef_
                    for rows in (one, other)
                ]
            )
        if len(sides) >= first:
            break
    return np.array(sides)[:first], (time.perf_counter() - start) / len(sides)


def by_updates(population, penalty, *, pairs, records, seed):
    """Answer all pairs; return the answers and the seconds per pair."""
    start = time.perf_counter()
    answers = list(
        RidgeQuery(penalty).answer_pairs(population, pairs=pairs, records=records, generator=seeded(seed))
    )
    sides = np.stack([np.concatenate(side) for side in zip(*answers, strict=True)], axis=1)
    return sides, (time.perf_counter() - start) / pairs


@pytest.mark.benchmark
@pytest.mark.parametrize(
    ("records", "pairs", "first", "rounds", "at_least"),
    [(2_000, 15_000, 262, 24, 50), (170_000, 960, 6, 2, 10)],
)
def test_ridge_pairs(population, capsys, records, pairs, first, rounds, at_least):
    penalty = 0.01 * records
    fast, slow = [], []
    for seed in range(rounds):
        refitted, seconds = by_refitting(
            population, penalty, pairs=pairs, records=records, first=first, seed=seed
        )
        slow.append(seconds)
        answers, seconds = by_updates(population, penalty, pairs=pairs, records=records, seed=seed)
        fast.append(seconds)
        assert answers.shape == (pairs, 2, ATTRIBUTES)
        assert np.abs(answers[: len(refitted)] - refitted).max() < 1e-8
    ratio = min(slow) / min(fast)
    with capsys.disabled():
        print(
            f"\n{records:,} records: {min(slow) * 15_000:.2f} s refitted, {min(fast) * 15_000:.3f} s updated "
            f"for 15,000 pairs: {ratio:.1f} times"
        )
    assert ratio >= at_least / slack()
