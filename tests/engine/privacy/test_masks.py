"""Masks: nobody sees a number alone, and the total is exact."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from time import process_time

import numpy as np
import pytest

from engine.errors import InputRefused
from engine.privacy import masks
from tests.noise_source import seeded_bytes

SIZE, SITES, STUDY = 4_000, 5, "ab" * 32
HOLDERS = [masks.exchange_private(bytes([place]) * 32) for place in (1, 2)]
PUBLIC = [masks.exchange_public(one) for one in HOLDERS]
OLDER = [one.removeprefix("x25519-ml-kem-768:")[:64] for one in PUBLIC]
"""As cards have it that were written before there was ML-KEM."""


def both(draws: bytes, study: str = STUDY, holders: Sequence[str] = PUBLIC) -> tuple[list[np.ndarray], str]:
    """Return the masks of a site for all holders, and what it says so that these find them."""
    said, secrets = masks.agree(draws, holders)
    bound = {"study": study, "said": said, "size": SIZE}
    return [masks.mask(a, holder=b, **bound) for a, b in zip(secrets, holders, strict=True)], said  # type: ignore[arg-type]


def found(place: int, said: str, holders: Sequence[str] = PUBLIC) -> np.ndarray:
    """Return the mask that a holder finds from what a site said."""
    secret = masks.agreed(HOLDERS[place], said, holders[place], place)
    return masks.mask(secret, study=STUDY, said=said, holder=holders[place], size=SIZE)


@pytest.mark.parametrize("holders", [PUBLIC, OLDER, [PUBLIC[0], OLDER[1]]], ids=["both", "older", "mixed"])
def test_the_total_is_exact_and_a_holder_needs_no_share(holders: list[str]) -> None:
    draw = seeded_bytes(3)
    exact = [np.random.default_rng(place).integers(-(2**50), 2**50, SIZE) for place in range(SITES)]
    sent, keys = [], []
    for numbers in exact:
        own, said = both(draw(32), holders=holders)
        sent.append(masks.masked(numbers, own))
        keys.append(said)
    sums = [np.sum([found(place, one, holders) for one in keys], axis=0, dtype=np.uint64) for place in (0, 1)]
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


@pytest.mark.before_release
@pytest.mark.parametrize("holders", [1, 2])
def test_masks_and_sums_of_twenty_sites_with_a_million_cells_take_a_second(holders: int) -> None:
    """Processor time of all parties together, without the noise; the best of three, as others work beside."""
    size, cards = 10**6, PUBLIC[:holders]
    numbers = [np.random.default_rng(place).integers(-(2**40), 2**40, size) for place in range(20)]
    took = []
    for run in range(3):
        draw, began = seeded_bytes(run), process_time()
        sent, keys = [], []
        for own in numbers:
            said, secrets = masks.agree(draw(32), cards)
            pairs = zip(secrets, cards, strict=True)
            sent.append(
                masks.masked(
                    own, [masks.mask(a, study=STUDY, said=said, holder=b, size=size) for a, b in pairs]
                )
            )
            keys.append(said)
        sums = [np.zeros(size, dtype=np.uint64) for _ in cards]
        for place, card in enumerate(cards):
            for said in keys:
                secret = masks.agreed(HOLDERS[place], said, card, place)
                sums[place] += masks.mask(secret, study=STUDY, said=said, holder=card, size=size)
        total = masks.unmasked(sent, sums)
        took.append(process_time() - began)
        assert (total == sum(numbers)).all()
    assert min(took) < 1, took


def test_another_study_or_another_share_has_another_mask() -> None:
    one = seeded_bytes(5)(32)
    first, _ = both(one)
    assert not (first[0] == both(one, "cd" * 32)[0][0]).any()
    assert not (first[0] == first[1]).any()
    assert not (first[0] == both(seeded_bytes(6)(32))[0][0]).any()


def test_a_mask_hangs_on_either_secret_and_on_all_that_was_said() -> None:
    """One of both is enough: a mask is another one as soon as either half, or a ciphertext, is."""
    own, said = both(seeded_bytes(7)(32))
    assert all((found(place, said) == own[place]).all() for place in (0, 1))
    first, *sealed = said.split(":")
    other = both(seeded_bytes(8)(32))[1].split(":")
    flipped = f"{int(sealed[0][0], 16) ^ 1:x}{sealed[0][1:]}"
    changed = {
        "X25519 of another share": [other[0], *sealed],
        "ML-KEM of another share": [first, other[1], sealed[1]],
        "one bit": [first, flipped, sealed[1]],
        "swapped": [first, sealed[1], sealed[0]],
        "of the other holder alone": [first, sealed[0], other[2]],
    }
    for case, pieces in changed.items():
        assert not (found(0, ":".join(pieces)) == own[0]).any(), case
    secret = masks.agreed(HOLDERS[0], said, PUBLIC[0], 0)
    for half in (slice(None, 32), slice(32, None)):  # X25519 comes first
        known = bytearray(secret)
        known[half] = bytes(32)
        assert not (
            masks.mask(bytes(known), study=STUDY, said=said, holder=PUBLIC[0], size=SIZE) == own[0]
        ).any()


@pytest.mark.parametrize(
    "said",
    ["00" * 32, "09" + 31 * "00", "09" + 31 * "00" + ":", "09" + 31 * "00" + ":ab", "zz", ""],
    ids=["small order", "no half", "empty half", "short half", "no key", "nothing"],
)
def test_half_an_agreement_is_none(said: str) -> None:
    """A holder whose card has both keys takes no share that agreed on one of them alone."""
    with pytest.raises(ValueError):
        found(0, said)


def test_a_public_key_is_whole_and_shares_a_secret() -> None:
    assert all(masks.is_public(one) for one in (*PUBLIC, *OLDER))
    none = "x25519-ml-kem-768:"
    wrong = {
        "small order": "00" * 32,
        "small order beside ML-KEM": f"{none}{'00' * 32}{PUBLIC[0][-2368:]}",
        "half": PUBLIC[0][:-2],
        "one half": f"{none}{OLDER[0]}",
        "no name": PUBLIC[0].removeprefix(none),
        "beyond the modulus": f"{none}{OLDER[0]}{'ff' * 1184}",
        "more": f"{OLDER[0]}00",
    }
    assert not any(masks.is_public(one) for one in wrong.values())
    for one in ("00" * 32, f"{none}{OLDER[0]}"):
        with pytest.raises(ValueError):
            masks.agree(bytes(range(32)), [one])


def test_keys_of_earlier_cards_are_the_same_and_masks_too() -> None:
    """Figures of the version before ML-KEM: its cards, its studies and its shares stay readable."""
    assert OLDER[0] == "e3f4365469c96135fcc5be9aad0c1cdeabf4007731f892966e9d63e9f555f91c"
    assert masks.exchange_public(HOLDERS[0][:32]) == OLDER[0]
    said, secrets = masks.agree(bytes(range(32)), OLDER[:1])
    assert ":" not in said
    told = masks.mask(secrets[0], study=STUDY, said=said, holder=OLDER[0], size=2)
    assert told.tolist() == [11549483373437181055, 10060885743412997748]
    assert masks.agreed(HOLDERS[0], said, OLDER[0], 0) == secrets[0]


def test_without_ml_kem_in_the_library_cards_are_older_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.asymmetric.mlkem", None)
    monkeypatch.delattr("cryptography.hazmat.primitives.asymmetric.mlkem", raising=False)
    assert not masks.has_ml_kem() and masks.exchange_public(HOLDERS[0]) == OLDER[0]
    assert masks.is_public(PUBLIC[0])  # files that others wrote are still read
    for asked in (lambda: masks.agree(bytes(range(32)), PUBLIC), lambda: found(0, f"{OLDER[0]}:ab:ab")):
        with pytest.raises(InputRefused) as refused:
            asked()
        assert refused.value.code == "sites.no_ml_kem"
