"""The door itself: when it opens, what it refuses, and that rounded numbers never decide."""

from fractions import Fraction

import numpy as np
import pytest

from engine import texts
from engine.errors import InputRefused
from engine.privacy.noise import Noise
from tests.noise_source import seeded_noise

REFUSED = [
    ("discrete_laplace", (0.5, 1), "exact"),
    ("discrete_laplace", (float("nan"), 1), "exact"),
    ("discrete_laplace", (float("inf"), 1), "exact"),
    ("discrete_laplace", (True, 1), "exact"),
    ("discrete_laplace", ("1", 1), "exact"),
    ("discrete_laplace", (0, 1), "scale"),
    ("discrete_laplace", (Fraction(-1, 2), 1), "scale"),
    ("discrete_laplace", (1, -1), "size"),
    ("discrete_laplace", (1, 1.0), "size"),
    ("discrete_gaussian", (np.float64(2), 1), "exact"),
    ("discrete_gaussian", (0, 1), "variance"),
    ("discrete_gaussian", (-1, 1), "variance"),
    ("bernoulli", (0.5, 1), "exact"),
    ("bernoulli", (Fraction(-1, 9), 1), "probability"),
    ("bernoulli", (2, 1), "probability"),
    ("bernoulli_exp_minus", (1.0, 1), "exact"),
    ("bernoulli_exp_minus", (-1, 1), "exponent"),
    ("bernoulli_exp_minus_each", (np.array([1.0]), 2), "exact"),
    ("bernoulli_exp_minus_each", (np.array([-1]), 2), "exponent"),
    ("bernoulli_exp_minus_each", (np.array([1]), 0), "exponent"),
    ("uniform_below", (2.0, 1), "exact"),
    ("uniform_below", (0, 1), "choices"),
    ("uniform_below", (2**62 + 1, 1), "choices"),
    ("uniform_below", (Fraction(1, 2), 1), "choices"),
    ("random_keys", (-1,), "size"),
    ("shuffled", (-1,), "size"),
]


@pytest.mark.parametrize(("method", "arguments", "code"), REFUSED)
def test_refuses_before_anything_is_drawn(method, arguments, code):
    noise = Noise(must_not_be_called, on_first_draw=must_not_be_called)
    with pytest.raises(InputRefused) as caught:
        getattr(noise, method)(*arguments)
    assert caught.value.code == f"noise.{code}"
    assert not noise.drawn
    assert all(texts.explain(caught.value))


@pytest.mark.parametrize(
    ("shape", "epsilon", "size", "code"),
    [
        ((10, 3), 0.5, 1, "exact"),
        ((10.0, 3), 1, 1, "exact"),
        ((10, 3), 0, 1, "scale"),
        ((10, 3), 1, -1, "size"),
        ((10, 11), 1, 1, "staircase"),
        ((10, 0), 1, 1, "staircase"),
        ((Fraction(21, 2), 3), 1, 1, "staircase"),
    ],
)
def test_refuses_a_staircase_before_anything_is_drawn(shape, epsilon, size, code):
    with pytest.raises(InputRefused) as caught:
        Noise(must_not_be_called).staircase(*shape, epsilon=epsilon, size=size)
    assert caught.value.code == f"noise.{code}"
    assert all(texts.explain(caught.value))


@pytest.mark.parametrize(
    ("squared", "dimension", "size", "code"),
    [
        (0.5, 2, 1, "exact"),
        (1, 2.0, 1, "exact"),
        (0, 2, 1, "scale"),
        (Fraction(1, 2**901), 2, 1, "scale"),
        (1, 0, 1, "dimension"),
        (1, 1001, 1, "dimension"),
        (1, Fraction(3, 2), 1, "dimension"),
        (1, 2, -1, "size"),
    ],
)
def test_refuses_a_vector_before_anything_is_drawn(squared, dimension, size, code):
    with pytest.raises(InputRefused) as caught:
        Noise(must_not_be_called).vector(squared, dimension, size=size)
    assert caught.value.code == f"noise.{code}"
    assert all(texts.explain(caught.value))


@pytest.mark.parametrize(
    ("scores", "rate", "code"),
    [([1.0], 1, "exact"), ([1], 0.5, "exact"), ([1], -1, "rate"), ([], 1, "choices"), ([[1]], 1, "choices")],
)
def test_refuses_a_choice_before_anything_is_drawn(scores, rate, code):
    array = (
        np.array(scores, dtype=np.int64) if not scores or code != "exact" or rate == 0.5 else np.array(scores)
    )
    with pytest.raises(InputRefused) as caught:
        Noise(must_not_be_called).exponential_choice(array, rate=rate)
    assert caught.value.code == f"noise.{code}"
    with pytest.raises(InputRefused) as caught:
        Noise(must_not_be_called).permute_and_flip(array, rate=rate)
    assert caught.value.code == f"noise.{code}"


def test_says_once_and_before_the_first_byte_that_the_budget_is_spent():
    story = []

    def source(count):
        story.append("bytes")
        return bytes(count)

    noise = Noise(source, on_first_draw=lambda: story.append("spent"))
    noise.random_keys(0)  # no lot, and no mechanism was asked: nothing spent
    assert story == [] and not noise.drawn
    noise.uniform_below(2, 1)
    noise.uniform_below(2, 1)
    assert story[0] == "spent" and story.count("spent") == 1 and noise.drawn


NONE = np.zeros(0, dtype=np.int64)


@pytest.mark.parametrize(
    "asked",
    [
        lambda noise: noise.discrete_laplace(1, 0),
        lambda noise: noise.discrete_gaussian(1, 0),
        lambda noise: noise.laplace_share(1, 3, 0),
        lambda noise: noise.gaussian_share(9, 3, 0),
        lambda noise: noise.staircase(3, 1, epsilon=1, size=0),
        lambda noise: noise.vector(9, 2, size=0),
        lambda noise: noise.clear_counts(NONE, NONE, scale=1, threshold=9),
    ],
)
def test_whoever_asks_a_mechanism_spends_also_where_no_number_is_drawn(asked):
    """That no row is there is the rows' own: a release without a draw was made, and its entry never spent."""
    story = []
    noise = Noise(lambda count: bytes(count), on_first_draw=lambda: story.append("spent"))
    asked(noise)
    assert story == ["spent"] and noise.drawn
    shut = Noise(must_not_be_called, on_first_draw=full_disk)
    with pytest.raises(OSError, match="full"):
        asked(shut)
    assert not shut.counted


def test_draws_nothing_when_the_ledger_cannot_mark_the_budget_as_spent():
    noise = Noise(must_not_be_called, on_first_draw=full_disk)
    for _ in range(2):  # it stays shut
        with pytest.raises(OSError, match="full"):
            noise.discrete_laplace(1, 1)
    assert not noise.drawn


def test_a_source_that_runs_dry_is_an_error_and_not_short_noise():
    with pytest.raises(OSError, match="too few"):
        Noise(lambda count: b"").discrete_laplace(1, 5)


def test_two_doors_never_draw_the_same():
    assert (Noise().discrete_laplace(2**40, 20) != Noise().discrete_laplace(2**40, 20)).any()


@pytest.mark.parametrize("scale", [Fraction(1, 3), 5, 2**45])
def test_the_same_bytes_give_the_same_draws(scale):
    first, second = seeded_noise(5), seeded_noise(5)
    assert (first.discrete_laplace(scale, 999) == second.discrete_laplace(scale, 999)).all()
    assert (first.discrete_gaussian(scale, 999) == second.discrete_gaussian(scale, 999)).all()


@pytest.mark.parametrize("size", [0, 1, 7, 65_536, 65_537, 200_000])
def test_gives_as_many_as_asked_for(size):
    noise = seeded_noise(1)
    assert noise.discrete_laplace(3, size).shape == (size,)
    assert noise.discrete_gaussian(3, size).dtype == np.int64
    assert noise.bernoulli(Fraction(1, 3), size).shape == (size,)
    assert sorted(noise.shuffled(min(size, 1000)).tolist()) == list(range(min(size, 1000)))


def test_numpy_integers_are_whole_numbers_too():
    assert (
        seeded_noise(3).discrete_laplace(np.int64(4), np.int64(9)) == seeded_noise(3).discrete_laplace(4, 9)
    ).all()


@pytest.mark.parametrize("scale", [Fraction(1, 2**300), Fraction(1, 1000), Fraction(10**400, 10**400 + 1)])
def test_tiny_scales_and_huge_fractions_work(scale):
    noise = seeded_noise(4)
    if scale < Fraction(1, 2):
        assert not noise.discrete_laplace(scale, 500).any()
        assert not noise.discrete_gaussian(scale**2, 500).any()
    else:
        assert noise.discrete_laplace(scale, 500).any() and noise.discrete_gaussian(scale, 500).any()


def test_words_of_zeros_or_ones_only_are_refined_and_not_misread():
    """The ends of the range decide nothing at exp(−100) and at 1 − 2^-32: the bits after them do."""
    zeros = [bytes(4 * 8), *[b"\xff" * 8] * 8]
    assert not Noise(lambda count: zeros.pop(0)).bernoulli_exp_minus(100, 8).any()
    assert zeros == []
    ones = Noise(lambda count: b"\xff" * count)
    assert not ones.bernoulli(Fraction(2**32 - 1, 2**32), 8).any()
    assert not ones.bernoulli_exp_minus(Fraction(1, 2**30), 8).any()


def test_the_edge_word_is_decided_by_further_bits():
    """At p = 1/3 the word ⌊2^32/3⌋ decides nothing; the bits after it do."""
    edge = (2**32 // 3).to_bytes(4, "little")
    for following, success in ((bytes(8), True), (b"\xff" * 8, False)):
        answers = [edge, following]
        assert Noise(lambda count, left=answers: left.pop(0)).bernoulli(Fraction(1, 3), 1)[0] == success
        assert answers == []


def test_a_draw_too_large_for_62_bits_is_an_error_and_never_wraps(monkeypatch):
    noise = seeded_noise(1)
    monkeypatch.setattr(noise, "_geometric", lambda gamma, size: np.full(size, 2**20))
    with pytest.raises(OverflowError):
        noise.discrete_laplace(2**50, 1)


def must_not_be_called(*_):
    raise AssertionError("noise was drawn")


def full_disk():
    raise OSError("the disk is full")


def test_the_generator_for_analyses_is_never_that_of_a_release():
    drawn = [Noise().internal_generator().integers(2**62, size=4).tolist() for _ in range(2)]
    assert drawn[0] != drawn[1]
    spent = []
    release = Noise(on_first_draw=lambda: spent.append(True))
    with pytest.raises(RuntimeError):
        release.internal_generator()
    assert not spent and not release.drawn
    used = seeded_noise(1)
    used.random_keys(1)
    with pytest.raises(RuntimeError):
        used.internal_generator()
