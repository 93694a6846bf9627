"""Errors and guesses by hand, and at their limits."""

import numpy as np
import pytest

from engine.utility.released_numbers import Distance, distance, no_better_than_a_guess, worst_first


def test_by_hand():
    released, exact = np.array([5.0, -2.0, 30.0]), np.array([4.0, 1.0, 24.0])
    found = distance(released, exact, limits=np.array([3.0, 3.0, 3.0]))
    assert found == Distance(cells=3, median=3.0, largest=6.0, within=2)  # 3 is at the limit: within
    assert found.share_within == pytest.approx(2 / 3)
    assert worst_first(released, exact, most=2).tolist() == [2, 1]
    assert worst_first(released, exact, most=9).tolist() == [2, 1, 0]


def test_nothing_to_compare_is_not_zero():
    empty = np.array([])
    assert distance(empty, empty, limits=empty) == Distance(0, None, None, 0)
    assert distance(empty, empty, limits=empty).share_within is None
    assert worst_first(empty, empty, most=5).size == 0
    assert no_better_than_a_guess(empty, empty).size == 0


def test_one_number():
    assert distance(np.array([7.0]), np.array([5.0])) == Distance(1, 2.0, 2.0, None)
    assert distance(np.array([7.0]), np.array([5.0])).share_within is None


def test_all_zero():
    zeros = np.zeros(4)
    assert distance(zeros, zeros, limits=zeros) == Distance(4, 0.0, 0.0, 4)
    assert no_better_than_a_guess(zeros, np.ones(4)).all()
    assert not no_better_than_a_guess(zeros, zeros).any()  # exact zeros are no guesses


def test_rounding_of_doubles_does_not_put_a_number_beyond_its_limit():
    released, exact = np.array([0.3]), np.array([0.1])
    assert distance(released, exact, limits=np.array([0.2])).within == 1
    assert distance(np.array([0.3001]), exact, limits=np.array([0.2])).within == 0


def test_the_sign_of_a_number_does_not_matter():
    values = np.array([-12.5, 12.5, -12.0, 12.0, -11.0, 0.0])
    # A number as large as its margin could be nothing: it is a guess too.
    assert no_better_than_a_guess(values, np.full(6, 12.0)).tolist() == [False, False, True, True, True, True]


def test_equal_errors_keep_their_order():
    assert worst_first(np.array([1.0, -1.0, 1.0]), np.zeros(3), most=3).tolist() == [0, 1, 2]


def test_a_count_whose_whole_margin_is_impossible_says_nothing() -> None:
    """Zero is the only number at or above zero that such a margin leaves, or none."""
    values, limits = np.array([-38.0, -3.0, 0.0, 6.0, 7.0, -1.0]), np.array([35.0, 6.0, 6.0, 6.0, 6.0, 0.0])
    found = no_better_than_a_guess(values, limits, is_counted=True).tolist()
    assert found == [True, True, True, True, False, False]
    assert not no_better_than_a_guess(values, limits)[0]  # of a sum that may lie below zero it is told
