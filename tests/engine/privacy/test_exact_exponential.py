"""The brackets hold, the fast comparison agrees with the exact one, and its proven margin is not idle."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.privacy import exact_exponential
from engine.privacy.exact_exponential import (
    EXPONENT_ERROR,
    LARGEST,
    MARGIN,
    compare_words,
    exp_minus_bracket,
    is_below,
    word_threshold,
)
from tests.examples import many

EXPONENTS = st.fractions(min_value=0, max_value=60, max_denominator=10**20)


def digits_of(gamma, bits):
    with mpmath.workprec(bits + 200):
        return mpmath.mpf(2) ** bits * mpmath.exp(-mpmath.mpf(gamma.numerator) / gamma.denominator)


@settings(max_examples=many(300), deadline=None, derandomize=True)
@given(EXPONENTS, st.sampled_from([0, 1, 8, 32, 64, 96, 300]))
def test_the_bracket_holds_and_is_narrow(gamma, bits):
    low, high = exp_minus_bracket(gamma, bits)
    assert low <= digits_of(gamma, bits) <= high
    assert high - low <= 2


@pytest.mark.parametrize(
    "gamma", [Fraction(0), Fraction(1, 10**40), Fraction(10**40), Fraction(63), Fraction(64)]
)
def test_the_bracket_holds_at_the_ends(gamma):
    low, high = exp_minus_bracket(gamma, 64)
    assert low <= digits_of(gamma, 64) <= high


def test_the_bracket_around_one_over_e_by_hand():
    # e^-1 = 0.367879441171442..., times 2^32 = 1,580,030,168.7
    assert word_threshold(Fraction(1)) == 1_580_030_168
    assert word_threshold(Fraction(0)) == 2**32
    assert word_threshold(Fraction(1000)) == 0


@settings(max_examples=many(200), deadline=None, derandomize=True)
@given(EXPONENTS)
def test_the_threshold_is_the_whole_part(gamma):
    assert word_threshold(gamma) == int(mpmath.floor(digits_of(gamma, 32)))


@settings(max_examples=many(300), deadline=None, derandomize=True)
@given(EXPONENTS, st.integers(-3, 3), st.sampled_from([32, 96]))
def test_is_below_never_errs_near_the_edge(gamma, offset, bits):
    exact = digits_of(gamma, bits)
    prefix = int(mpmath.floor(exact)) + offset
    answer = is_below(prefix, bits, gamma) if 0 <= prefix < 2**bits else None
    if answer is True:
        assert prefix + 1 <= exact
    if answer is False:
        assert prefix >= exact


def test_the_fast_comparison_is_right_wherever_it_is_sure():
    compare_near_the_edge()


def test_without_its_margin_it_would_not_be(monkeypatch):
    monkeypatch.setattr(exact_exponential, "MARGIN", 500.0)
    with pytest.raises(AssertionError):
        compare_near_the_edge()


def compare_near_the_edge():
    """Take words within two margins of the edge, where a wrong bound would show."""
    generator = np.random.Generator(np.random.Philox(key=1))
    numerators = generator.integers(0, 26 * 10**9, 3000)
    gammas = [Fraction(int(n), 10**9) for n in numerators]
    for shift in (-2 * MARGIN, -MARGIN - 2, -MARGIN, -1, 0, 1, MARGIN, MARGIN + 2, 2 * MARGIN):
        exact = [digits_of(g, 32) for g in gammas]
        words = np.array([min(max(int(e + shift), 0), 2**32 - 1) for e in exact], dtype=np.uint32)
        for error in (-EXPONENT_ERROR, 0.0, EXPONENT_ERROR):
            floats = np.maximum(np.array([float(g) for g in gammas]) + error, 0.0)
            below, unsure = compare_words(words, floats)
            for word, edge, is_lower, is_open in zip(words.tolist(), exact, below, unsure, strict=True):
                if not is_open:
                    assert is_lower == (word + 1 <= edge) and (word + 1 <= edge or word >= edge)


def test_the_fast_comparison_is_hardly_ever_unsure():
    generator = np.random.Generator(np.random.Philox(key=2))
    words = generator.integers(0, 2**32, 1_000_000, dtype=np.uint32)
    _, unsure = compare_words(words, generator.uniform(0, 3, 1_000_000))
    assert unsure.sum() <= 20  # 1.9 expected


@pytest.mark.parametrize("gamma", [24.0, 25.0, 700.0, 1e300, float("inf")])
def test_far_exponents_leave_only_the_lowest_words_open(gamma):
    words = np.array([0, 1, 4000, 5000, 2**32 - 1], dtype=np.uint32)
    below, unsure = compare_words(words, np.full(5, gamma))
    assert not below[~unsure].any() and unsure.tolist() == [True, True, True, False, False]
    assert gamma >= LARGEST


def test_the_table_is_as_close_as_the_proof_says():
    table = exact_exponential._table()
    for cell in range(0, table.size, 7):
        exact = digits_of(Fraction(cell, exact_exponential.CELLS), 32)
        assert abs(mpmath.mpf(float(table[cell])) - exact) < mpmath.mpf(2) ** -19
    assert table.size == exact_exponential.CELLS * LARGEST + 1
