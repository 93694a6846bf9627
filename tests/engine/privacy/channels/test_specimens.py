"""Mechanisms of the literature: channels by enumeration, variances from the channels, the comparison."""

import math

import numpy as np
import pytest

from engine.analyses.catalogue import analysis
from engine.privacy.channels.choosing import bound
from engine.privacy.channels.specimens import (
    CHOICES,
    MANY,
    NUMBERS,
    PRINTED,
    TRUTH,
    _signs_estimate,
    _signs_matrix,
    hybrid_at,
    largest_log_ratio,
    piecewise_at,
    piecewise_density,
    printed_piecewise_density,
    signs_slope,
    slope,
)

EPSILONS = (0.5, 1.0, 3.0)
# n times the summed variance by the least that any mechanism has, as they were measured elsewhere
MEASURED = {
    (2, 1): {"direct": 1, "symmetric_unary": 3.56, "optimal_unary": 3.79, "summation": 7.05, "hadamard": 3.79,
             "geometry": 1.54, "set": 1},
    (5, 0.5): {"direct": 1.21, "symmetric_unary": 1.6, "optimal_unary": 1.59, "summation": 3.2,
               "thresholding": 1.79, "hashing": 1.63, "hadamard": 1.65, "geometry": 1.16, "set": 1},
    (100, 1): {"direct": 9.6, "symmetric_unary": 1.09, "optimal_unary": 1.03, "summation": 2.22,
               "thresholding": 1.34, "hashing": 1.03, "hadamard": 1.3, "geometry": 1.03, "set": 1},
    (1000, 2): {"direct": 34, "symmetric_unary": 1.28, "optimal_unary": 1, "summation": 2.77,
                "thresholding": 1.78, "hashing": 1.01, "hadamard": 2.39, "geometry": 1.01},
}  # fmt: skip


@pytest.mark.parametrize("one", [*CHOICES, *NUMBERS, *MANY], ids=lambda one: one.word)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_none_tells_more_than_it_states(one, epsilon):
    if one.matrix is None:
        assert "laplace" in one.word or one.word in ("summation", "split_mean")
        return
    for size in range(2, one.largest + 1):
        cells = one.matrix(size, epsilon)
        if "piecewise" not in one.word and "hybrid" not in one.word:  # which are densities
            assert cells.sum(axis=1) == pytest.approx(1)
        told = one.told(size, epsilon)
        assert told <= epsilon + 1e-9
        if one.word != "thresholding":  # which gives some of it away
            assert told > epsilon - 1e-6


@pytest.mark.parametrize(
    "word", ["direct", "symmetric_unary", "optimal_unary", "thresholding", "hadamard", "hashing"]
)
def test_variances_are_those_of_the_channel(word):
    """p and q read off the channel, of reports that support an answer."""
    one = next(one for one in CHOICES if one.word == word)
    k, epsilon = 3, 1.0
    cells = one.matrix(k, epsilon)
    if word in ("symmetric_unary", "optimal_unary", "thresholding"):
        supports = np.array(
            [[outcome >> (k - 1 - answer) & 1 for outcome in range(2**k)] for answer in range(k)]
        )
    else:  # what is likelier with an answer than without supports it
        supports = cells > (cells.min() + cells.max()) / 2
    named = cells @ supports.T
    p, q = named[0, 0], named[0, 1]
    assert named == pytest.approx(np.full((k, k), q) + (p - q) * np.eye(k))
    middle = q + (p - q) / k
    assert one.variance(k, epsilon) == pytest.approx(middle * (1 - middle) / (p - q) ** 2)


@pytest.mark.parametrize(("size", "epsilon"), MEASURED)
def test_choices_stand_as_they_were_measured(size, epsilon):
    found = {one.word: size * one.variance(size, epsilon) / bound(size, epsilon) for one in CHOICES}
    wanted = MEASURED[size, epsilon]
    assert {word: found[word] for word in wanted} == pytest.approx(wanted, rel=0.01)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_numbers_have_the_means_and_variances_of_their_densities(epsilon):
    edge = (math.exp(epsilon / 2) + 1) / (math.exp(epsilon / 2) - 1)
    width = 2 * edge / 200_001
    points = np.linspace(-edge + width / 2, edge - width / 2, 200_001)
    for x in (-1.0, 0.0, 0.4, 1.0):
        weights = piecewise_density(x, points, epsilon) * width
        assert weights.sum() == pytest.approx(1, abs=1e-4)
        assert (weights * points).sum() == pytest.approx(x, abs=1e-3)
        assert (weights * (points - x) ** 2).sum() == pytest.approx(piecewise_at(x, epsilon), rel=1e-3)
    assert hybrid_at(1, epsilon) <= max(piecewise_at(1, epsilon), slope(epsilon) ** 2)


@pytest.mark.parametrize("d", [1, 2, 3, 4, 5])
def test_signs_are_stretched_to_the_right_mean(d):
    """E of one sign over the channel, times the slope of one bit and of the signs: the corner itself."""
    signs = next(one for one in MANY if one.word == "signs")
    cells = signs.matrix(d, 1.0)
    corners = np.array(np.meshgrid(*[[-1, 1]] * d, indexing="ij")).reshape(d, -1).T
    assert cells @ corners * signs_slope(d) * slope(1.0) == pytest.approx(corners)


def test_forms_in_print_tell_more_than_they_state():
    printed = {one.word: one for one in PRINTED}
    assert printed["two_coins"].told(math.log(4)) == pytest.approx(3.0445, abs=1e-4)  # p = 0.8, stated ln 4
    told = {word: one.told(1.0) for word, one in printed.items() if one.matrix is not None}
    assert all(one > 1.3 for one in told.values())
    assert told["shifted_direct"] == told["tails_alike"] == math.inf
    assert told["signs_in_both"] == pytest.approx(math.log(1 + math.e))
    found = [largest_log_ratio(_signs_matrix(d, 1.0, ties="outside")) for d in (2, 4, 6)]
    assert [round(one, 2) for one in found] == [2.1, 1.79, 1.65]


def test_what_forms_in_print_estimate_of_a_share_or_number_is_not_that():
    """By the mean of what they draw; a right one says what is true."""
    printed = {one.word: one for one in PRINTED if one.estimated is not None}
    at_one = {word: round(one.estimated(1.0), 3) for word, one in printed.items()}
    assert (at_one["threshold_text"], at_one["threshold_listing"]) == (1.184, 0.479)
    assert printed["drawn_twice"].estimated(5.0) == pytest.approx(0.875 * TRUTH)
    factors = [_signs_estimate(1.0, d=d, ties="outside") / TRUTH for d in (2, 4, 6)]
    assert [round(one, 2) for one in factors] == [4.16, 2.9, 2.44]
    assert at_one["signs_in_both"] == TRUTH  # only more is told
    edge = (math.exp(0.5) + 1) / (math.exp(0.5) - 1)
    points = (np.arange(400_000) + 0.5) / 400_000 * 2 * edge - edge
    for density, wanted in ((piecewise_density, TRUTH), (printed_piecewise_density, at_one["tails_alike"])):
        parts = density(TRUTH, points, 1.0) * 2 * edge / 400_000
        assert parts.sum() == pytest.approx(1, abs=1e-4)
        assert (parts * points).sum() == pytest.approx(wanted, abs=1e-3)
    assert printed_piecewise_density(0.99, np.array([edge - 1e-4]), 1.0)[0] > 7  # 0.074 may be


def test_one_drawn_number_is_never_worse_than_signs_of_all():
    drawn, signs = (next(one for one in MANY if one.word == word) for word in ("one_bit_sampling", "signs"))
    found = [signs.variance(d, 1.0) / drawn.variance(d, 1.0) for d in range(2, 21)]
    assert 1.33 < min(found) < 1.34 and max(found) == pytest.approx(2)


@pytest.mark.parametrize("question", ["choice", "number", "many"])
def test_they_are_compared_in_one_place(question):
    asked = analysis("local_mechanisms")
    values = {"question": question, "answers": 10 if question == "choice" else None, "epsilon": 1,
              "numbers": 4 if question == "many" else None}  # fmt: skip
    found = asked.run(values, {}, None)
    variances = found.figures["variances"]
    taken = {"choice": "set", "number": "mean", "many": "drawn_mean"}[question]
    assert variances[taken] <= 1.1 * min(variances.values())
    assert all(told is None or told <= 1 + 1e-6 for told in found.figures["told"].values())
    table = found.views[1]
    assert [row[1] for row in table.rows] == sorted(row[1] for row in table.rows)
    # Each form in print tells more than it states, nobody can say how much, or estimates something else
    told, estimated = (found.figures[name] for name in ("printed", "estimated"))
    wrong = {
        word for word, one in estimated.items()
        if told[word] is None or told[word] > 1.3 or (one is not None and abs(one - TRUTH) > 0.01)
    }  # fmt: skip
    assert set(told) - wrong == {"drawn_twice"}  # with one drawn number, below ε 5, nothing is drawn twice
    assert len(found.views[-1].rows) == len(PRINTED)
