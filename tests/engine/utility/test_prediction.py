"""What is learnt from a table: at its limits."""

import numpy as np
import pytest

from engine.utility.prediction import measure_prediction, told_apart
from engine.utility.scattered import bootstrap_places, order


def people(rows, seed):
    chance = np.random.default_rng(seed)
    x = chance.normal(size=(rows, 2))
    return np.column_stack([x, x[:, 0] + 0.3 * chance.normal(size=rows)])


def test_what_depends_is_learnt_and_what_does_not_is_not():
    train, test = people(2000, 1), people(1000, 2)
    learnt = measure_prediction(train[:, :1], train[:, 2] > 0, test[:, :1], test[:, 2] > 0)
    nothing = measure_prediction(train[:, 1:2], train[:, 2] > 0, test[:, 1:2], test[:, 2] > 0)
    assert learnt.area > 0.95 and learnt.right > 0.85
    assert abs(nothing.area - 0.5) < 0.06  # three standard errors of an area of 500 and 500: .055


@pytest.mark.parametrize("same", [0, 1])
def test_one_outcome_alone_is_nothing_to_learn(same):
    x, one, two = np.zeros((4, 1)), np.full(4, bool(same)), np.array([True, False, True, False])
    assert measure_prediction(x, one, x, two) is None and measure_prediction(x, two, x, one) is None


def test_real_people_are_not_told_from_real_people_and_columns_apart_are():
    unused = people(1000, 3)
    real = told_apart(people(1000, 4), unused)
    broken = people(1000, 5)
    broken[:, 2] = broken[order(1000), 2]
    apart = told_apart(broken, unused)
    assert abs(real.area - 0.5) < 0.06 and apart.area > 0.8
    assert 0 <= real.error < apart.error <= 1
    assert told_apart(unused[:30], unused) is None


def test_a_cell_of_any_size_is_one_row_among_many():
    """A tree goes by the order of numbers: a cell that no 32 bits hold costs nobody the measure."""
    found = []
    for largest in (1e30, 1e308):
        train, test = people(2000, 1), people(1000, 2)
        train[::50, 1], test[::50, 1] = largest, -largest
        found.append(measure_prediction(train[:, :2], train[:, 2] > 0, test[:, :2], test[:, 2] > 0))
        assert 0 <= told_apart(train, test).area <= 1
    assert found[0].right == found[1].right and abs(found[0].area - found[1].area) < 0.01


def test_the_same_rows_learn_the_same_whatever_was_drawn_before():
    """Columns that split equally well are chosen between by a lot, which is the same one every time."""
    train, test = people(600, 1), people(300, 2)
    columns = [np.column_stack([one[:, 0], one[:, 0] + one[:, 1] / 9, -one[:, 0]]) for one in (train, test)]
    found = set()
    for seed in range(12):
        np.random.seed(seed)
        learnt = measure_prediction(columns[0], train[:, 2] > 0, columns[1], test[:, 2] > 0)
        found.add((learnt.right, learnt.area))
    assert len(found) == 1


def test_rows_are_mixed_without_a_pattern():
    """The sum of i · order(i) of 10,000: within four standard errors of what chance gives."""
    places = order(10_000)
    correlation = np.corrcoef(np.arange(10_000), places)[0, 1]
    assert abs(correlation) < 0.04
    assert (order(100) == order(100)).all() and (order(100, 1) != order(100, 2)).any()
    assert bootstrap_places(7).max() < 7
