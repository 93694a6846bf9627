"""Is a uniform number below exp(−γ)? Answered exactly, with integers; draws nothing itself.

A uniform number U in [0, 1) is known by its first bits only: ``prefix`` says that U lies in
[prefix, prefix + 1) / 2^bits. Where those bits do not decide, the caller draws more of them
(`engine.privacy.noise`), so no outcome ever rests on a rounded number.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache, lru_cache

import numpy as np
import numpy.typing as npt

WORD_BITS = 32
CELLS = 64  # cells of the table per unit of γ
LARGEST = 24  # exp(-24) < 2^-32: beyond it only the word 0 can be below
MARGIN = 4096.0  # proven in `compare_words`
EXPONENT_ERROR = 2.0**-40  # how far a γ given as a float may be from the exact one


def exp_minus_bracket(gamma: Fraction, bits: int) -> tuple[int, int]:
    """Return integers around 2^bits · exp(−γ), which lies between them.

    Parameters
    ----------
    gamma
        Exact exponent, at least 0.
    bits
        How many binary digits; the pair differs by at most 2.

    Notes
    -----
    γ is halved until it is below 1/16, the alternating series is summed in integers of more digits than
    asked for, and the result is squared back; every rounding is directed outwards or covered by ``slack``.

    Examples
    --------
    >>> exp_minus_bracket(Fraction(1), 20)  # 2^20 / e = 385,749.7...
    (385749, 385750)
    """
    above, below = gamma.numerator, gamma.denominator
    if above == 0:
        return 1 << bits, 1 << bits
    if above >= bits * below:  # exp(-γ) <= exp(-bits) < 2^-bits
        return 0, 1
    halvings = (above // below).bit_length() + 4
    digits = bits + halvings + 32
    y = (above << digits) // (below << halvings)  # the halved γ lies in [y, y + 1] / 2^digits
    total = term = 1 << digits
    index = 0
    while term:
        index += 1
        term = term * y // (index << digits)
        total += term if index % 2 == 0 else -term
    # Each term is at most 2 too small (1 for its own floor, the rest from the term before, times y < 1/16),
    # the terms left out sum to less than 3, and e^-y falls by less than 1 between y and y + 1.
    slack = 2 * index + 4
    low, high = total - slack, total + slack
    for _ in range(halvings):
        low, high = low * low >> digits, -(-high * high >> digits)
    spare = digits - bits
    return low >> spare, -(-high >> spare)


def is_below(prefix: int, bits: int, gamma: Fraction) -> bool | None:
    """Say whether U < exp(−γ) for every U that starts with ``prefix``; None where more bits are needed.

    Examples
    --------
    >>> is_below(0, 1, Fraction(1)), is_below(1, 1, Fraction(1)), is_below(0, 0, Fraction(1))
    (None, False, None)
    """
    low, high = exp_minus_bracket(gamma, bits)
    if prefix < low:
        return True
    return False if prefix >= high else None


@lru_cache(maxsize=256)
def word_threshold(gamma: Fraction) -> int:
    """Return ⌊2^32 · exp(−γ)⌋: a smaller word is below exp(−γ), a larger one is not, itself undecided."""
    bits = WORD_BITS
    while True:
        low, high = exp_minus_bracket(gamma, bits)
        spare = bits - WORD_BITS
        # exp(-γ) is irrational unless γ = 0, so that the two sides agree after finitely many digits
        if low >> spare == (high - 1) >> spare or low == high:
            return low >> spare
        bits += 32


@cache
def _table() -> npt.NDArray[np.float64]:
    """Return 2^32 · exp(−i / 64) for i = 0 … 64 · 24, each within 2^-19 of the exact value."""
    digits = 128
    low, high = exp_minus_bracket(Fraction(1, CELLS), digits)
    lows, highs = [1 << digits], [1 << digits]
    for _ in range(CELLS * LARGEST):
        lows.append(lows[-1] * low >> digits)
        highs.append(-(-highs[-1] * high >> digits))
    # Brackets stay within 2^14 units of 2^-128; int / int is correctly rounded, by at most 2^-21.
    table = np.array([(a + b) / (1 << (digits - WORD_BITS + 1)) for a, b in zip(lows, highs, strict=True)])
    table.setflags(write=False)
    return table


def compare_words(
    words: npt.NDArray[np.uint32], gammas: npt.NDArray[np.floating]
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Compare uniform numbers, known by 32 bits each, with exp(−γ): all at once.

    Parameters
    ----------
    words
        First 32 bits of each uniform number, shape (n,).
    gammas
        Exponents, at least 0, within `EXPONENT_ERROR` of the exact ones (above `LARGEST` it is enough that
        the exact one is above `LARGEST` less that error), shape (n,).

    Returns
    -------
    below, unsure
        Two boolean arrays (n,). ``below`` is right wherever ``unsure`` is False; where it is True (about two
        in a million) `is_below` decides with the exact exponent.

    Notes
    -----
    Only +, −, · of IEEE doubles are used, never a library's exp, so that the bound can be proven. Let
    γ' = min(gammas, 24), i = ⌊64 γ'⌋, r = γ' − i/64 in [0, 1/64); i, i/64 and r are exact. Then

        middle = 2^32 e^(−i/64) (1 − r + r²/2)  and  0 <= middle − 2^32 e^−γ' <= 2^32 r³/6 <= 2^32 · 2^-20.58,

    rounding adds less than 2^32 · 2^-49, the exponent's own error less than 2^32 · 2^-40 · 1.01 (for an
    exponent above 24 both sides are below 0.17): together less than 2^12 = `MARGIN`. A word w stands for
    U in [w, w + 1) / 2^32, so w + 1 <= middle − MARGIN is below and w >= middle + MARGIN is not.
    """
    distance = words - _middle(gammas)
    below = distance < 0.0
    unsure = np.abs(distance) < MARGIN + 1.0
    return below, unsure


def word_brackets(gammas: npt.NDArray[np.floating]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return whole numbers around 2^32 exp(−γ), which lies between them, all at once: see `compare_words`.

    Examples
    --------
    >>> lower, upper = word_brackets(np.array([1.0]))
    >>> bool(lower[0] < 2**32 / np.e < upper[0]), int(upper[0] - lower[0]) < 10_000
    (True, True)
    """
    middle = _middle(gammas)
    lower = np.maximum(np.floor(middle - MARGIN), 0.0)
    return lower.astype(np.int64), np.ceil(middle + MARGIN).astype(np.int64)


def _middle(gammas: npt.NDArray[np.floating]) -> npt.NDArray[np.float64]:
    """Return numbers within `MARGIN` of 2^32 exp(−γ)."""
    clipped = np.minimum(gammas, float(LARGEST))
    cells = (clipped * CELLS).astype(np.intp)
    rest = clipped - cells * (1.0 / CELLS)
    return np.asarray(_table()[cells] * (1.0 - rest * (1.0 - 0.5 * rest)))
