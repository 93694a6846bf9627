"""The samplers follow their exact distributions: a million draws each, false alarms one in a million."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from engine.privacy.noise import Noise
from tests.engine.battery.distributions import (
    ALPHA,
    CheckFailed,
    check_all,
    check_pmf,
    check_residues,
    gaussian_law,
    laplace_law,
)
from tests.engine.flip import flip_probabilities
from tests.noise_source import seeded_bytes, seeded_noise

MILLION = 1_000_000
PI = Fraction(355, 113)
SCALES = [Fraction(1, 2), 1, PI, 1000, 2**40, Fraction(2**60 + 33, 2**59 + 1)]


@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_discrete_laplace(scale):
    check_all(seeded_noise(1).discrete_laplace(scale, MILLION), laplace_law(scale))


@pytest.mark.parametrize(
    "deviation", [pytest.param(one, marks=[pytest.mark.at_once] * (one == 1), id=str(one)) for one in SCALES]
)
def test_discrete_gaussian(deviation):
    variance = Fraction(deviation) ** 2
    check_all(seeded_noise(2).discrete_gaussian(variance, MILLION), gaussian_law(variance))


def test_the_tests_see_a_scale_that_is_one_in_a_hundred_off():
    with pytest.raises(CheckFailed):
        check_all(seeded_noise(3).discrete_laplace(1010, MILLION), laplace_law(1000))
    with pytest.raises(CheckFailed):
        check_all(seeded_noise(3).discrete_gaussian(1020, MILLION), gaussian_law(1000))


def test_the_tests_see_a_wrong_last_digit_and_a_wrong_sign_of_zero():
    draws = seeded_noise(4).discrete_laplace(1000, MILLION)
    with pytest.raises(CheckFailed):
        check_residues(draws // 2 * 2, laplace_law(1000))
    doubled = np.concatenate([draws := seeded_noise(5).discrete_laplace(1, MILLION), draws[draws == 0]])
    with pytest.raises(CheckFailed):
        check_pmf(doubled, laplace_law(1))


@pytest.mark.guarantee
@pytest.mark.parametrize("one_by_one", ["_one_laplace", "_one_gaussian"])
def test_the_path_for_any_scale_follows_the_same_distribution(one_by_one):
    noise = seeded_noise(6)
    if one_by_one == "_one_laplace":
        draws, law = [noise._one_laplace(PI) for _ in range(20_000)], laplace_law(PI)
    else:
        draws, law = [noise._one_gaussian(PI**2, 4) for _ in range(10_000)], gaussian_law(PI**2)
    check_pmf(np.array(draws), law)


def test_beyond_62_bits_draws_are_python_integers_and_do_not_wrap():
    scale = 2**80
    draws = seeded_noise(7).discrete_laplace(scale, 400)
    assert draws.dtype == object and all(type(draw) is int for draw in draws)
    mean = sum(abs(draw) for draw in draws) / 400 / scale  # |Z| / scale is exponential: mean 1, deviation 1
    assert abs(mean - 1) < 5 / 20
    assert any(abs(draw) > 2**63 for draw in draws)
    assert seeded_noise(7).discrete_gaussian(2**160, 3).dtype == object


@pytest.mark.parametrize(
    "p", [Fraction(1, 2), Fraction(1, 3), Fraction(1, 10**6), Fraction(10**30 + 1, 10**31)]
)
def test_bernoulli(p):
    assert_share(seeded_noise(8).bernoulli(p, MILLION), float(p))


def test_bernoulli_at_the_ends():
    noise = seeded_noise(9)
    assert not noise.bernoulli(0, 1000).any() and noise.bernoulli(1, 1000).all()
    assert noise.bernoulli_exp_minus(0, 1000).all()
    assert not noise.bernoulli_exp_minus(10**30, 1000).any()


@pytest.mark.parametrize(
    "gamma", [Fraction(1, 10**9), Fraction(1, 64), Fraction(2, 3), 1, Fraction(7, 2), 11]
)
def test_bernoulli_exp_minus(gamma):
    share = float(np.exp(-float(gamma)))
    assert_share(seeded_noise(10).bernoulli_exp_minus(gamma, MILLION), share)
    numerators = np.full(MILLION, Fraction(gamma).numerator)
    each = seeded_noise(11).bernoulli_exp_minus_each(numerators, Fraction(gamma).denominator)
    assert_share(each, share)


@pytest.mark.parametrize("n", [2, 3, 6, 1000, 3 * 2**30, 2**32, 2**33 + 1, 3 * 2**60])
def test_uniform_below_is_even_in_sixty_parts(n):
    drawn = seeded_noise(12).uniform_below(n, MILLION)
    assert drawn.min() >= 0 and int(drawn.max()) < n
    parts = min(n, 60)
    counts = np.bincount([int(x) * parts // n for x in drawn[:200_000].tolist()], minlength=parts)
    sizes = np.array([-(-(i + 1) * n // parts) - -(-i * n // parts) for i in range(parts)]) / n
    assert_counts(counts, sizes)


def test_shuffled_gives_every_order_equally_often():
    noise = seeded_noise(13)
    orders = [tuple(noise.shuffled(4).tolist()) for _ in range(24_000)]
    counts = np.array([orders.count(order) for order in sorted(set(orders))])
    assert counts.size == 24
    assert_counts(counts, np.full(24, 1 / 24))


def test_shuffled_draws_again_when_two_keys_are_equal():
    answers = [bytes(16), bytes(range(16)), b""]
    noise = Noise(lambda count: answers.pop(0))
    assert sorted(noise.shuffled(2).tolist()) == [0, 1]
    assert answers == [b""]


@pytest.mark.parametrize("rate", [0, Fraction(1, 7), 2])
def test_exponential_choice_by_hand(rate):
    scores = np.array([3, 0, 5, 5, -2])
    noise = seeded_noise(14)
    chosen = np.bincount([noise.exponential_choice(scores, rate=rate) for _ in range(20_000)], minlength=5)
    weights = np.exp(float(rate) * (scores - 5))
    assert_counts(chosen, weights / weights.sum())


@pytest.mark.parametrize("rate", [0, Fraction(1, 7), 2])
def test_permute_and_flip_by_hand(rate):
    scores = np.array([3, 0, 5, 5, -2])
    noise = seeded_noise(16)
    chosen = np.bincount([noise.permute_and_flip(scores, rate=rate) for _ in range(20_000)], minlength=5)
    assert_counts(chosen, flip_probabilities(scores, float(rate)))


def test_permute_and_flip_is_the_published_algorithm():
    """Candidates in every order, each accepted or not: the first accepted one."""
    scores, q = np.array([0, -1, -2, 0]), np.exp(-0.4 * np.array([0, 1, 2, 0]))
    expected = np.zeros(4)
    for order in itertools.permutations(range(4)):
        left = 1 / 24
        for candidate in order:
            expected[candidate] += left * q[candidate]
            left *= 1 - q[candidate]
    assert flip_probabilities(scores, 0.4) == pytest.approx(expected)


def test_permute_and_flip_tries_every_candidate_whatever_the_scores():
    """The same number of bytes, but for the last draw, so that the time says nothing about the scores."""
    drawn = []
    source = seeded_bytes(17)

    def counting(count):
        drawn.append(count)
        return source(count)

    for scores in (np.zeros(1000, dtype=int), -np.arange(1000), np.r_[0, np.full(999, -(10**6))]):
        drawn.clear()
        Noise(counting).permute_and_flip(scores, rate=1)
        assert drawn[0] == 4000 and sum(drawn[1:]) < 200
    assert Noise().permute_and_flip(np.array([1, 2, 3]), rate=10**400) == 2
    with pytest.raises(OverflowError):
        Noise().permute_and_flip(np.array([-(2**62), 2**62]), rate=1)


def test_exponential_choice_with_a_huge_rate_or_huge_scores_takes_the_best():
    noise = seeded_noise(15)
    assert noise.exponential_choice(np.array([1, 2, 3]), rate=10**400) == 2
    assert noise.exponential_choice(np.array([-(2**61), 2**60]), rate=1) == 1
    assert noise.exponential_choice(np.array([7]), rate=Fraction(1, 10**400)) == 0
    with pytest.raises(OverflowError):
        noise.exponential_choice(np.array([-(2**62), 2**62]), rate=1)


def assert_share(successes, share):
    from scipy.stats import binomtest

    assert binomtest(int(successes.sum()), successes.size, share).pvalue > ALPHA


def assert_counts(counts, shares):
    from scipy.stats import chi2

    used = shares * counts.sum() >= 5
    expected = shares[used] * counts.sum()
    assert counts[~used].sum() <= 60
    statistic = ((counts[used] - expected) ** 2 / expected).sum()
    assert chi2.sf(statistic, max(int(used.sum()) - 1, 1)) > ALPHA
