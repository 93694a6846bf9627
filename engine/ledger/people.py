"""Who a table is about, without their keys: keyed digests, and how many coincidence alone would share."""

from __future__ import annotations

import base64
import hashlib
import math
from collections.abc import Iterable
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from engine import arrays
from engine.errors import InputRefused, VerificationFailed

Digests = arrays.Words
NONE: Digests = np.zeros(0, dtype=np.uint64)

MOST_KEPT = 1 << 18
"""Digests that are kept of a table that memory does not hold."""
_FEWEST_OF_MANY = MOST_KEPT // 4  # as few are kept of many at least; so many are never all below a half

_SIZE_BITS = 5
_SIZES = 1 << _SIZE_BITS
_SIZE = np.uint64(_SIZES - 1)
_PIECE = 1 << 17  # keys at a time: what Python holds of them stays small
_SHORT = r"^[0-9]{1,9}$"
_PROBE_KEY, _PROBES = "0123456789abcdef", ("custos", "custoscustoscustos")  # a short text and a long one
_PROBE_HASHES = 0x07F5366BA3C08A5F, 0xB74DD4C61E11379F


def digests(key: bytes, people: Iterable[str] | Any) -> Digests:
    """Return the sorted, distinct digests of person keys: texts, or a `pyarrow.ChunkedArray` of texts.

    Notes
    -----
    SipHash-2-4 (Aumasson and Bernstein 2012) of the key's UTF-8 text under a key drawn from the ledger's, its
    bits then mixed one to one as pandas does. Of its 64 bits the lowest five give way to the size of the
    person key: 0 for what is no whole number of at most nine digits, else the number of its binary digits.
    By them `chance_of_coincidence` knows how easily short numbers coincide. Two registers of ten million
    people each share one digest by accident with probability below 2·10⁻⁴.
    """
    import pyarrow as pa

    is_arrow = isinstance(people, pa.ChunkedArray)
    return distinct(
        digest_of_each(key, people if is_arrow else pa.chunked_array([list(people)], pa.large_string()))
    )


def digest_of_each(key: bytes, texts: Any) -> Digests:
    """Return the digest of every person key of a `pyarrow.ChunkedArray`, in its order, see `digests`."""
    found = [
        hash_keyed(key, b"person", piece) & ~_SIZE | _sizes(piece)
        for chunk in texts.chunks
        for piece in (chunk.slice(start, _PIECE) for start in range(0, len(chunk), _PIECE))
    ]
    return np.concatenate([NONE, *found])


def _sizes(texts: Any) -> Digests:
    """Return how many binary digits each short whole number has, 0 for all else."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from engine.short_texts import may_hold_numbers

    if not may_hold_numbers(texts):
        return np.zeros(len(texts), dtype=np.uint64)
    numbers = pc.if_else(pc.match_substring_regex(texts, _SHORT), texts, None).cast(pa.int64())
    values = pc.fill_null(numbers, -1).to_numpy(zero_copy_only=False)
    # frexp: the exponent of x in [2^(e-1), 2^e) is e, the number of binary digits; zero counts as one digit.
    digits = np.maximum(np.frexp(values.astype(np.float64))[1], 1)
    return np.where(values < 0, 0, digits).astype(np.uint64)


def hash_keyed(key: bytes, use: bytes, texts: Any) -> Digests:
    """Return the keyed hash of every text, in order; another ``use`` of the same key shares none of them."""
    import pyarrow as pa

    from engine.short_texts import hash_texts

    # 16 characters: 12 random bytes in base 64.
    secret = base64.b64encode(hashlib.sha256(use + b"\0" + key).digest()[:12]).decode()
    if _hash_probes() != set(_PROBE_HASHES):  # another hash than the one by which this file knows people
        raise VerificationFailed("ledger.other_hash")
    return hash_texts(texts if isinstance(texts, pa.Array) else pa.array(texts, pa.large_string()), secret)


@cache
def _hash_probes() -> frozenset[int]:
    """Return the hashes of the probes, as few and as many: each way is code of its own."""
    import pyarrow as pa

    from engine.short_texts import FEW, hash_texts

    return frozenset(
        one for times in (1, FEW) for one in hash_texts(pa.array(_PROBES * times), _PROBE_KEY).tolist()
    )


def check_digests(people: Any) -> Digests:
    """Return digests sorted and distinct; anything else is refused."""
    found = people if isinstance(people, np.ndarray) else np.array(list(people))
    if found.size == 0:
        return NONE
    if found.dtype != np.uint64 or found.ndim != 1:
        raise InputRefused("ledger.bad_digest")
    return distinct(found)


def distinct(values: Digests) -> Digests:
    """Return values sorted and distinct (sorting is ten times faster here than `numpy.unique`)."""
    if values.size and (values[1:] > values[:-1]).all():
        return values
    found = np.sort(values)
    return found[np.append(True, found[1:] != found[:-1])] if found.size else found


def halvings(kept: Digests) -> int:
    """Return n where of many digests those below 2^(64 − n) alone were kept; 0 where all were.

    Parameters
    ----------
    kept
        Sorted. Digests are uniform: as many as are kept of more than `MOST_KEPT` are never all below a half
        by chance, but with a probability below 2^−65536.

    Examples
    --------
    >>> some = np.arange(1 << 17, dtype=np.uint64)
    >>> halvings(some << np.uint64(45)), halvings(some << np.uint64(47)), halvings(some[:9])
    (2, 0, 0)
    """
    return 64 - int(kept[-1]).bit_length() if kept.size >= _FEWEST_OF_MANY else 0


def below(kept: Digests, halved: int) -> Digests:
    """Return the digests below 2^(64 − halved), a part of those that any smaller number of halvings keeps."""
    return kept[: np.searchsorted(kept, np.uint64((1 << (64 - halved)) - 1), side="right")]


class Gathered:
    """Digests that come some at a time, each kept once.

    Parameters
    ----------
    known
        Sorted and distinct.
    most
        How many are kept, where more come: half of all that there can be, then a quarter … None for all.

    Examples
    --------
    >>> found = Gathered(np.array([2], dtype=np.uint64))
    >>> found.add(np.array([1, 2], dtype=np.uint64))
    >>> found.found().tolist()
    [1, 2]
    """

    def __init__(self, known: Digests = NONE, most: int | None = None) -> None:
        self._known, self._more, self._size = known, list[Digests](), 0
        self._most, self._halved = most, 0

    def add(self, digests: Digests) -> None:
        """Add some."""
        self._more.append(digests)
        self._size += len(digests)
        if self._size > max(len(self._known), _PIECE):  # so that each is sorted a few times at most
            self.found()

    def found(self) -> Digests:
        """Return all, sorted and distinct."""
        if self._more:
            self._known = distinct(np.concatenate([self._known, *self._more]))
            self._more, self._size = [], 0
        self._known = below(self._known, self._halved)
        while self._most is not None and self._known.size > self._most:
            self._halved += 1
            self._known = below(self._known, self._halved)
        return self._known


def among(values: Digests, known: Digests) -> npt.NDArray[np.bool_]:
    """Say of each value whether it is among the known ones, which are sorted."""
    if known.size == 0:
        return np.zeros(values.size, dtype=bool)
    return np.asarray(known[np.minimum(np.searchsorted(known, values), known.size - 1)] == values)


def chance_of_coincidence(people: Digests, known: Digests, shared: Digests, halved: int = 0) -> float:
    """Return an upper limit of the probability that as many people would be shared by coincidence.

    Parameters
    ----------
    people, known, shared
        Digests of a table, of a register, and of those in both; each sorted and distinct.
    halved
        Where only those below 2^(64 − halved) are compared: of all numbers there are as many times fewer.

    Returns
    -------
    float
        1 where coincidence explains everything that is shared, 0 where it cannot.

    Notes
    -----
    Only short numbers coincide. Of the N numbers with a given number of binary digits, registers that hold a
    and b, drawn at random and without regard to each other, share a·b/N on average. Where either holds a
    quarter of them the numbers run (1, 2, 3, …), and so do those with one digit more, where the run ends:
    all that could be shared is then taken as expected. With E expected in all and k shared, P(X ≥ k) ≤ exp(k
    − E − k ln(k/E)) for k > E (Mitzenmacher and Upfal 2005, theorem 4.4; for draws without replacement
    Hoeffding 1963, theorem 4).
    """
    if not shared.size:
        return 1.0
    a, b, both = (_by_size(some) for some in (people, known, shared))
    if both[0]:
        return 0.0
    expected = _expected(a, b, halved)
    k = int(both.sum())
    if k <= expected:
        return 1.0
    return math.exp(k - expected - k * math.log(k / expected)) if expected else 0.0


def _expected(a: npt.NDArray[np.int64], b: npt.NDArray[np.int64], halved: int) -> float:
    room = 2.0 ** (
        np.maximum(np.arange(_SIZES) - 1, 1) - halved
    )  # 0 and 1 have one binary digit, 2 and 3 two …
    full = np.maximum(a, b) >= room / 4
    runs = full | np.append(False, full[:-1] & (np.arange(_SIZES - 1) > 0))
    return float(np.where(runs, np.minimum(a, b), a * (b / room))[1:].sum())


def _by_size(values: Digests) -> npt.NDArray[np.int64]:
    return np.bincount((values & _SIZE).astype(np.int64), minlength=_SIZES)
