"""Few tables without any relation are said to have one, and one that is there is told."""

from fractions import Fraction

import pytest

from engine.methods.datasets.marginal_model.rounds import learn
from engine.methods.datasets.marginal_model.schedule import Schedule
from engine.methods.datasets.marginal_model.shown import relations
from tests.engine.methods.datasets.marginal_model.test_agreement import (
    KINDS,
    SIZES,
    dependent_rows,
    independent_rows,
)
from tests.noise_source import seeded_noise

PAIRS = ((0, 1), (1, 2), (0, 3), (3, 4))


def found(kind, rows, seed, *, epsilon, about=5000):
    plan = Schedule(SIZES, Fraction(epsilon), KINDS[kind][0], 1, 1, about, PAIRS)
    learnt = learn(rows, plan, ordered=(0,) * 5, noise=seeded_noise(seed))
    return relations(learnt.model, learnt.measured, is_gaussian=plan.is_gaussian)


@pytest.mark.parametrize("kind", KINDS)
def test_columns_without_any_relation_are_called_related_in_at_most_5_of_100_tables(kind):
    told = [len(found(kind, independent_rows(seed), seed, epsilon=1).told) for seed in range(60)]
    assert sum(told) / (60 * len(PAIRS)) <= 0.05


@pytest.mark.parametrize("kind", KINDS)
def test_a_relation_that_is_there_is_told_where_the_noise_lets_it(kind):
    rows = dependent_rows()
    clear, drowned = (
        found(kind, rows, 1, epsilon=8),
        found(kind, rows[:, :60], 1, epsilon=Fraction(1, 10), about=60),
    )
    assert {(0, 1), (1, 2), (3, 4)} <= set(clear.told)
    assert drowned.told == () and set(drowned.drowned) == set(PAIRS)
