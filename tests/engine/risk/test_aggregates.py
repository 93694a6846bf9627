"""What sums give away together: by hand, against the row space, and by carrying the attacks out."""

import numpy as np
import pytest

from engine.errors import InputRefused
from engine.risk.aggregates import differencing, reconstruct


def test_the_salary_of_one_by_subtraction():
    """Two totals that differ in one person: 156,000, to the unit."""
    salaries = np.array([48_000.0, 61_000, 72_500, 156_000, 55_000])
    everybody = np.ones(5, dtype=bool)
    others = everybody.copy()
    others[3] = False
    found = differencing(np.array([everybody, others]))
    assert [(one.people, one.nested) for one in found.pairs] == [(1, True)]
    piece = next(one for one in found.pieces if one.people == 1)
    assert piece.row == 3 and found.people_alone == 1
    assert piece.sum_from([salaries.sum(), salaries[others].sum()]) == pytest.approx(156_000)


def test_a_tracker_needs_more_than_pairs():
    """No two sets differ in fewer than ten people; four together single one out."""
    made = np.random.default_rng(0)
    group = made.permutation(np.repeat(np.arange(4), 25))
    one = 7
    a, b = np.isin(group, [0, 1]), np.isin(group, [1, 2])
    with_one = a | b
    with_one[one] = True
    group[one] = 3
    a[one] = b[one] = False
    masks = np.array([a, b, a & b, with_one])
    found = differencing(masks)
    assert all(pair.people >= 10 or {pair.first, pair.second} == {3} for pair in found.pairs)
    assert [piece.row for piece in found.pieces if piece.people == 1] == [one]
    secret = made.normal(size=100)
    piece = found.pieces[0]
    assert piece.sum_from([secret[mask].sum() for mask in masks]) == pytest.approx(secret[one])


@pytest.mark.parametrize("seed", range(5))
def test_pieces_are_those_whose_value_is_the_same_in_every_solution(seed):
    made = np.random.default_rng(seed)
    masks = made.random((6, 9)) < 0.5
    found = differencing(masks, fewest=100)
    # Free directions: what may be added to the rows' values without changing any sum
    _, sizes, turned = np.linalg.svd(masks.astype(float))
    free = turned[(sizes > 1e-9).sum() :]
    _, piece = np.unique(masks, axis=1, return_inverse=True)
    piece = piece.reshape(-1)
    expected = 0
    for each in range(piece.max() + 1):
        inside = piece == each
        if masks[:, inside].any() and np.allclose(free[:, inside].sum(axis=1), 0):
            expected += 1
    assert len(found.pieces) == expected


def test_rounding_leaves_doubt():
    masks = np.array([[True, True, True], [True, True, False]])
    assert differencing(masks, rounding=5).pieces[0].doubt == pytest.approx(5.0)
    assert differencing(masks).pieces[0].doubt == 0.0


def test_sets_that_give_nothing_away():
    halves = np.zeros((2, 60), dtype=bool)
    halves[0, :30] = halves[1, 30:] = True
    found = differencing(halves)
    assert found.pairs == () and found.pieces == ()


def test_counts_of_many_sets_give_a_secret_away_and_noise_keeps_it():
    made = np.random.default_rng(4)
    secret = made.random(120) < 0.4
    masks = made.random((360, 120)) < 0.5
    exact = masks.astype(int) @ secret
    found = reconstruct(masks, secret, exact)
    assert found.accuracy == 1.0 and found.baseline == max(secret.mean(), 1 - secret.mean())
    noisy = reconstruct(masks, secret, exact + made.laplace(0, 60, 360))
    assert noisy.advantage < 0.2 < found.advantage
    few = reconstruct(masks[:5], secret, exact[:5])
    assert few.advantage < 0.2


def test_what_is_refused():
    with pytest.raises(InputRefused, match=r"risk\.figures_and_sets"):
        reconstruct(np.ones((2, 3), dtype=bool), np.ones(3, dtype=bool), [1.0])
