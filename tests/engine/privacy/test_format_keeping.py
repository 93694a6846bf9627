"""Numbers for numbers: the published samples, one to one, and as many digits."""

from __future__ import annotations

import numpy as np
import pytest

from engine.privacy.format_keeping import encrypt_numbers, fits, numbers_for

KEYS = {
    128: "2B7E151628AED2A6ABF7158809CF4F3C",
    192: "2B7E151628AED2A6ABF7158809CF4F3CEF4359D8D580AA4F",
    256: "2B7E151628AED2A6ABF7158809CF4F3CEF4359D8D580AA4F7F036D6F04FC6A94",
}


@pytest.mark.parametrize(("bits", "expected"), [(128, 2433477484), (192, 2830668132), (256, 6657667009)])
def test_the_published_samples(bits, expected):
    """NIST, FF1 samples 1, 4 and 7: the digits 0123456789 without a tweak."""
    number = np.array([123456789], dtype=np.uint64)
    assert encrypt_numbers(number, 10, bytes.fromhex(KEYS[bits])).tolist() == [expected]


@pytest.mark.parametrize("length", [6, 7, 11, 18])
def test_different_numbers_stay_different_and_keep_their_length(length):
    first = 10 ** (length - 1)
    texts = [str(first + step) for step in range(5000)] + [f"{step:0{length}d}" for step in range(5000)]
    found = numbers_for(texts, key=bytes(range(32)))
    assert {len(number) for number in found} == {length} and len({int(number) for number in found}) == 10_000
    assert [number[0] == "0" for number in found] == [text[0] == "0" for text in texts]
    assert numbers_for(texts[:3], key=bytes(range(32))) == found[:3] != numbers_for(texts[:3], key=bytes(32))


def test_all_numbers_of_a_length_are_reached():
    found = numbers_for([f"{number:06d}" for number in range(10**6)], key=bytes(32))
    assert len(set(found)) == 10**6


def test_lengths_may_be_mixed_and_order_is_kept():
    found = numbers_for(["1234567", "765432", "7654321"], key=bytes(32))
    assert [len(number) for number in found] == [7, 6, 7]
    assert found[1:2] == numbers_for(["765432"], key=bytes(32))


def test_short_numbers_get_six_digits_and_stay_different():
    found = numbers_for([str(number) for number in range(1000)], key=bytes(32))
    assert {len(number) for number in found} == {6} and len(set(found)) == 1000
    assert {number[0] for number in found} == {"0"}


@pytest.mark.parametrize("text", ["1", "123456", "0" * 18])
def test_numbers_fit(text):
    assert fits(text)


@pytest.mark.parametrize("text", ["", "1" * 19, "12345a", "１２３４５６", "-123456", "1.0"])
def test_other_texts_do_not_fit(text):
    assert not fits(text)
