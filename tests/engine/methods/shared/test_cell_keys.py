"""Cell keys: the same cell has the same change everywhere, right on average, and small counts never show."""

import numpy as np
import pytest
from scipy.optimize import minimize

from engine.methods.shared.suppression.additive import Additive
from engine.methods.shared.suppression.cell_keys import cell_keys, change_counts, person_keys, probabilities

SECRET = bytes(range(32))


@pytest.mark.parametrize("largest", [3, 5, 9])
@pytest.mark.parametrize("none_to", [0, 2])
@pytest.mark.parametrize("variance", [1.0, 2.5, 4.0])
def test_mean_variance_and_what_may_be_printed(largest, none_to, variance):
    for count in range(1, largest + none_to + 3):
        changes, shares = probabilities(count, largest=largest, variance=variance, none_to=none_to)
        assert (shares >= -1e-12).all() and shares.sum() == pytest.approx(1)
        assert changes @ shares == pytest.approx(0, abs=1e-7) and np.abs(changes).max() <= largest
        printed = count + changes
        assert (printed >= 0).all() and not ((printed > 0) & (printed <= none_to)).any()
        found = changes**2 @ shares
        assert found == pytest.approx(variance, abs=1e-6) or count <= largest + none_to
    assert found == pytest.approx(variance, abs=1e-6)


def test_where_nothing_is_free_the_nearest_variance_is_taken():
    """A one becomes 0, 3 or 4: the mean 0 leaves a variance between 2 and 3."""
    for variance, nearest in ((1.0, 2.0), (2.0, 2.0), (2.5, 2.5), (9.0, 3.0)):
        changes, shares = probabilities(1, largest=3, variance=variance, none_to=2)
        assert changes.tolist() == [-1, 2, 3] and changes**2 @ shares == pytest.approx(nearest, abs=1e-6)
    assert probabilities(0, largest=3, variance=2, none_to=2)[0].tolist() == [0]


def test_no_other_probabilities_have_more_entropy():
    changes, shares = probabilities(4, largest=5, variance=4.0, none_to=2)
    sums = [
        {"type": "eq", "fun": lambda p: p.sum() - 1},
        {"type": "eq", "fun": lambda p: changes @ p},
        {"type": "eq", "fun": lambda p: changes**2 @ p - 4},
    ]
    start, within = np.full(len(changes), 1 / len(changes)), [(1e-12, 1)] * len(changes)
    other = minimize(lambda p: (p * np.log(p)).sum(), start, bounds=within, constraints=sums)
    assert np.abs(other.x - shares).max() < 1e-3


def test_keys_add_up_and_are_the_same_in_every_table():
    chance = np.random.default_rng(1)
    person = chance.integers(0, 50, 300)
    keys = person_keys([str(one) for one in range(50)], secret=SECRET)[person]
    age, sex = chance.integers(0, 4, 300), chance.integers(0, 2, 300)
    both = cell_keys(Additive((4, 2)), 2 * age + sex, keys).reshape(5, 3)
    alone = cell_keys(Additive((4,)), age, keys)
    assert (both[:, 2] == alone).all()  # the totals of one table are the cells of the other
    assert both[0, 0] == int(keys[(age == 0) & (sex == 0)].astype(object).sum()) % 2**32
    assert (person_keys(["a"], secret=SECRET) != person_keys(["a"], secret=SECRET[::-1])).all()


def test_changes_are_right_on_average():
    """40,000 keys a count; mean within 5 standard errors of 0."""
    keys = person_keys([str(one) for one in range(40_000)], secret=SECRET)
    for count in (0, 1, 2, 3, 4, 7, 20):
        counts = np.full(len(keys), count)
        found = change_counts(counts, keys, largest=5, variance=4.0, none_to=2)
        change = found - count
        assert np.abs(change.mean()) <= 5 * change.std() / 200 and (found >= 0).all()
        assert not np.isin(found, (1, 2)).any() and np.abs(change).max() <= (5 if count else 0)
