"""Masks: nobody sees a number alone, and the total is exact."""

from __future__ import annotations

import numpy as np
import pytest

from engine.privacy import masks
from tests.noise_source import seeded_bytes

SIZE, SITES, STUDY = 4_000, 5, "ab" * 32
HOLDERS = [masks.exchange_private(bytes([place]) * 32) for place in (1, 2)]
PUBLIC = [masks.exchange_public(one) for one in HOLDERS]


def both(draws: bytes, study: str = STUDY) -> tuple[list[np.ndarray], str]:
    """Return the masks of a site for all holders, and its public key for this share."""
    ephemeral = masks.exchange_public(draws)
    bound = {"study": study, "ephemeral": ephemeral, "size": SIZE}
    return [masks.mask(draws, one, holder=one, **bound) for one in PUBLIC], ephemeral  # type: ignore[arg-type]


def test_the_total_is_exact_and_a_holder_needs_no_share() -> None:
    draw = seeded_bytes(3)
    exact = [np.random.default_rng(place).integers(-(2**50), 2**50, SIZE) for place in range(SITES)]
    sent, keys = [], []
    for numbers in exact:
        own, ephemeral = both(draw(32))
        sent.append(masks.masked(numbers, own))
        keys.append(ephemeral)
    sums = []
    for private, public in zip(HOLDERS, PUBLIC, strict=True):
        told = [
            masks.mask(private, one, study=STUDY, ephemeral=one, holder=public, size=SIZE) for one in keys
        ]
        sums.append(np.sum(told, axis=0, dtype=np.uint64))
    assert (masks.unmasked(sent, sums) == sum(exact)).all()
    assert not (masks.unmasked(sent, sums[:1]) == sum(exact)).any()  # one holder is not enough
    assert not (masks.unmasked(sent[:-1], sums) == sum(exact[:-1])).any()  # nor is another roster


def test_a_masked_share_looks_like_chance_whatever_it_hides() -> None:
    """Bits and bytes, at 1e-6."""
    own, _ = both(seeded_bytes(4)(32))
    sent = masks.masked(np.zeros(SIZE, dtype=np.int64), own)
    bits = np.unpackbits(sent.view(np.uint8))
    assert abs(bits.mean() - 0.5) < 4.9 * 0.5 / np.sqrt(bits.size)
    seen = np.bincount(sent.view(np.uint8), minlength=256)
    expected = sent.nbytes / 256
    assert ((seen - expected) ** 2 / expected).sum() < 255 + 4.9 * np.sqrt(2 * 255) + 30


def test_another_study_or_another_share_has_another_mask() -> None:
    one = seeded_bytes(5)(32)
    first, _ = both(one)
    assert not (first[0] == both(one, "cd" * 32)[0][0]).any()
    assert not (first[0] == first[1]).any()
    assert not (first[0] == both(seeded_bytes(6)(32))[0][0]).any()


def test_a_key_of_small_order_shares_no_secret() -> None:
    with pytest.raises(ValueError):
        masks.mask(HOLDERS[0], "00" * 32, study=STUDY, ephemeral="", holder="", size=1)
