"""At most so many rows of each person, chosen by lot among that person's rows alone."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import texts
from engine.errors import InputRefused
from engine.privacy.contribution import _smallest_keys, keep_rows, keep_same_rows
from engine.privacy.noise import Noise
from tests.engine.battery.distributions import ALPHA
from tests.examples import many
from tests.noise_source import seeded_noise

CODES = st.lists(st.integers(-1, 6), max_size=40).map(lambda codes: np.array(codes, dtype=np.int64))


@settings(max_examples=many(200), deadline=None, derandomize=True)
@given(CODES, st.integers(1, 5))
def test_each_person_keeps_as_many_as_the_cap_allows(codes, cap):
    kept = keep_rows(codes, cap=cap, noise=seeded_noise(1))
    assert kept.dtype == bool and kept.shape == codes.shape
    for person in set(codes.tolist()):
        rows = codes == person
        assert kept[rows].sum() == (0 if person < 0 else min(cap, rows.sum()))


@settings(max_examples=many(200), deadline=None, derandomize=True)
@given(CODES, st.integers(1, 3), st.integers(0, 6), st.integers(0, 2**32))
def test_taking_a_person_out_changes_nobody_elses_rows(codes, cap, person, seed):
    """Same keys for the rows that both tables have: the others keep exactly the same rows."""
    keys = seeded_noise(seed).random_keys(codes.size)
    stay = codes != person
    everybody, without = _smallest_keys(codes, keys, cap), _smallest_keys(codes[stay], keys[stay], cap)
    assert everybody[stay].tolist() == without.tolist()
    assert everybody[~stay].sum() <= cap


def test_every_choice_of_rows_is_equally_likely_wherever_the_rows_stand():
    from scipy.stats import chi2

    codes = np.array([1, 0, 1, 1, 0, 1, 2])  # person 1 has four rows, two may stay: six choices
    noise, runs = seeded_noise(2), 12_000
    seen = [tuple(np.flatnonzero(keep_rows(codes, cap=2, noise=noise) & (codes == 1))) for _ in range(runs)]
    counts = np.array([seen.count(choice) for choice in combinations((0, 2, 3, 5), 2)])
    assert counts.sum() == runs
    assert chi2.sf(((counts - runs / 6) ** 2 / (runs / 6)).sum(), 5) > ALPHA


def test_two_persons_are_chosen_independently():
    from scipy.stats import chi2

    codes = np.array([0, 1, 0, 1])
    noise, runs = seeded_noise(3), 8_000
    kept = np.array([keep_rows(codes, cap=1, noise=noise) for _ in range(runs)])
    counts = np.bincount(2 * kept[:, 0] + kept[:, 1], minlength=4)
    assert chi2.sf(((counts - runs / 4) ** 2 / (runs / 4)).sum(), 3) > ALPHA


def test_equal_keys_of_one_person_are_drawn_again():
    answers = [bytes(8 * 3), bytes(range(8 * 3))]
    kept = keep_rows(np.zeros(3, dtype=int), cap=1, noise=Noise(lambda count: answers.pop(0)))
    assert kept.sum() == 1 and answers == []


def test_draws_as_many_keys_as_there_are_rows_whatever_they_hold():
    asked = []

    def source(count):
        asked.append(count)
        return np.random.Generator(np.random.Philox(key=len(asked))).bytes(count)

    for codes in (np.full(50, -1), np.zeros(50, dtype=int), np.arange(50)):
        keep_rows(codes, cap=1, noise=Noise(source))
    assert asked == [400, 400, 400]


def test_codes_far_apart_and_an_empty_table():
    codes = np.array([10**15, 10**15, 5])
    assert keep_rows(codes, cap=1, noise=seeded_noise(4)).sum() == 2
    assert keep_rows(np.array([], dtype=int), cap=1, noise=seeded_noise(4)).shape == (0,)


@pytest.mark.parametrize("cap", [0, -1, 1.5, True, "2", None])
def test_refuses_a_cap_that_is_no_number_of_rows(cap):
    with pytest.raises(InputRefused) as caught:
        keep_rows(np.array([0]), cap=cap, noise=Noise())
    assert caught.value.code == "noise.cap" and all(texts.explain(caught.value))


@pytest.mark.parametrize("cap", [3, 2**63, 10**40])
def test_a_cap_above_the_number_of_rows_keeps_them_all(cap):
    codes = np.array([4, 4, -1, 4])
    assert keep_rows(codes, cap=cap, noise=seeded_noise(1)).tolist() == [True, True, False, True]


def test_codes_must_be_whole_numbers():
    with pytest.raises(TypeError):
        keep_rows(np.array([0.5]), cap=1, noise=Noise())


@pytest.mark.at_once
@pytest.mark.parametrize("cap", [1, 2])
def test_the_same_lots_fall_for_the_same_rows_and_others_for_another_register(cap: int) -> None:
    codes = np.array([0, 1, 0, 2, 0, 1, -1, 2, 2, 0] * 40)
    codes = np.where(codes < 0, -1, codes + 3 * (np.arange(400) // 10))
    names = [str(7 * place) for place in range(int(codes.max()) + 1)]
    kept, again, other = (
        keep_same_rows(codes, cap=cap, names=names, secret=secret) for secret in (b"a", b"a", b"b")
    )
    assert (kept == again).all() and (kept != other).any() and not kept[codes < 0].any()
    assert (np.bincount(codes[kept]) == cap).all()
    alone = codes == 0  # nobody else decides about a person's rows
    mine = keep_same_rows(codes[alone], cap=cap, names=names, secret=b"a")
    assert (mine == kept[alone]).all()
    first = [keep_same_rows(np.zeros(4, dtype=int), cap=1, names=(str(n),), secret=b"a") for n in range(2000)]
    assert (abs(np.sum(first, axis=0) - 500) < 120).all()  # each of four rows as often
