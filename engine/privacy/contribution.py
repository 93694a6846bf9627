"""How much one person can add: at most so many rows, chosen by lot among that person's own rows."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from engine.errors import InputRefused

if TYPE_CHECKING:
    from engine.privacy.noise import Noise

_FAR = 4  # times as many numbers as rows: beyond it, people are numbered anew


def keep_rows(person_codes: npt.NDArray[np.integer], *, cap: int, noise: Noise) -> npt.NDArray[np.bool_]:
    """Choose which rows stay so that no person keeps more than ``cap``.

    Run it on the whole table, before any filter or grouping: a filter that came first would let the rest of
    a person's rows decide which of them count.

    Parameters
    ----------
    person_codes
        Whole number of the person of each row, shape (n,); −1 where the person key is missing.
    cap
        Declared greatest number of rows of one person, at least 1.
    noise
        The noise door. One key is drawn for every row, whatever the rows hold.

    Returns
    -------
    ndarray of bool, shape (n,)
        True for the rows that stay. A row without a person key never stays: nobody could say whose it is, so
        that no cap would hold for the person behind it.

    Raises
    ------
    InputRefused
        ``noise.cap``: the cap is not a whole number of at least 1.

    Notes
    -----
    Each row gets an independent uniform key, and each person keeps the ``cap`` rows with the smallest keys: a
    uniform choice among that person's rows, in which no other row takes part. Persons are therefore chosen
    independently, and adding or removing one person leaves the joint distribution of everybody else's kept
    rows as it was; at most ``cap`` kept rows differ between neighbouring tables. Should keys that decide for
    one person be equal, all are drawn again: that conditions every person separately, they stay independent.

    It does not say which rows were kept to anyone: the mask is internal.

    Examples
    --------
    >>> from engine.privacy.noise import Noise
    >>> int(keep_rows(np.array([0, 0, 0, 1, -1]), cap=2, noise=Noise()).sum())
    3
    """
    codes = _check(person_codes, cap)
    while True:
        keys = noise.random_keys(codes.size)
        kept = _smallest_keys(codes, keys, min(cap, codes.size))  # any whole number may be declared
        if kept is not None:
            return kept


def keep_people(names: Iterable[str], *, share: Fraction, secret: bytes) -> npt.NDArray[np.bool_]:
    """Choose who is in a sample of whole people, by lots that fall alike under the same secret.

    Parameters
    ----------
    names
        The person key of every person.
    share
        Of the people, between 0 and 1.
    secret
        Decides the lots; nobody outside knows it.

    Returns
    -------
    ndarray of bool
        True for who is in it.

    Notes
    -----
    The lot of a person follows from the person key and the secret alone: adding or removing somebody moves
    nobody else, so that neighbouring tables have neighbouring samples, whatever the secret is. Who is in a
    smaller share is in every larger one.

    Examples
    --------
    >>> half, tenth = (keep_people("abcdefgh", share=Fraction(1, n), secret=b"k") for n in (2, 10))
    >>> (half | ~tenth).all().item(), half.tolist()
    (True, [True, True, True, True, False, True, True, False])
    """
    below = share * 2**64
    lots = (hashlib.blake2b(name.encode(), key=secret, digest_size=8).digest() for name in names)
    return np.array([int.from_bytes(lot, "big") < below for lot in lots], dtype=bool)


def keep_same_rows(
    person_codes: npt.NDArray[np.integer], *, cap: int, names: Sequence[str], secret: bytes
) -> npt.NDArray[np.bool_]:
    """Choose rows as `keep_rows` does, by lots that fall alike for the same rows under the same secret.

    For releases that nothing bounds and that are compared with each other: another draw for each would tell
    by a subtraction what rows the few have who have several.

    Parameters
    ----------
    person_codes, cap
        As of `keep_rows`; a code is a place in ``names``.
    names
        The person key of every person.
    secret
        Of the register; it stays inside.

    Returns
    -------
    ndarray of bool, shape (n,)
        True for the rows that stay. The lot of a row follows from its person and from which of the person's
        rows it is, in the order of the table.

    Examples
    --------
    >>> people = np.array([0, 1, 0, 0, -1])
    >>> kept = [keep_same_rows(people, cap=2, names=("7", "8"), secret=b"k").tolist() for _ in range(2)]
    >>> kept[0] == kept[1], sum(kept[0])
    (True, 3)
    """
    codes = _check(person_codes, cap)
    order = np.argsort(codes, kind="stable")
    ordered = codes[order]
    starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])[: ordered.size])
    sizes = np.diff(np.append(starts, ordered.size))
    number = np.arange(ordered.size) - np.repeat(starts, sizes)
    crowded = np.flatnonzero((np.repeat(sizes, sizes) > cap) & (ordered >= 0))
    keys, again = np.zeros(codes.size, dtype=np.uint64), 0
    while True:
        for place in crowded:
            lot = f"{again}\0{number[place]}\0{names[ordered[place]]}".encode()
            digest = hashlib.blake2b(lot, key=secret, digest_size=8).digest()
            keys[order[place]] = int.from_bytes(digest, "big")
        kept = _smallest_keys(codes, keys, min(cap, codes.size))
        if kept is not None:
            return kept
        again += 1


def _check(person_codes: npt.NDArray[np.integer], cap: int) -> npt.NDArray[np.integer]:
    if isinstance(cap, bool) or not isinstance(cap, int) or cap < 1:
        raise InputRefused("noise.cap")
    codes = np.asarray(person_codes)
    if codes.dtype.kind not in "iu" or codes.ndim != 1:
        raise TypeError("person codes are a row of whole numbers")
    return codes


def _smallest_keys(
    codes: npt.NDArray[np.integer], keys: npt.NDArray[np.uint64], cap: int
) -> npt.NDArray[np.bool_] | None:
    """Return the rows that stay; None where two keys of one person were equal."""
    kept = codes >= 0
    rows = np.flatnonzero(kept)
    if rows.size == 0:
        return kept
    if cap == 1 and int(codes.max()) < _FAR * codes.size + 1024:
        return _smallest_key(codes, keys)
    persons = _from_zero(codes[rows])
    crowded = np.bincount(persons)[persons] > cap
    rows, persons = rows[crowded], persons[crowded]  # the others keep every row
    # Person in the high bits, key in the rest: one sort puts each person's rows in the order of their keys
    room = 64 - int(persons.max(initial=0)).bit_length()
    packed = (persons.astype(np.uint64) << np.uint64(room)) | (keys[rows] >> np.uint64(64 - room))
    ordered = np.sort(packed)
    if (ordered[1:] == ordered[:-1]).any():
        return None
    owners = ordered >> np.uint64(room)
    starts = np.flatnonzero(np.append(True, owners[1:] != owners[:-1])[: owners.size])
    largest = np.zeros(int(persons.max(initial=0)) + 1, dtype=np.uint64)
    largest[owners[starts]] = ordered[starts + cap - 1]
    kept[rows] = packed <= largest[persons]
    return kept


def _smallest_key(
    codes: npt.NDArray[np.integer], keys: npt.NDArray[np.uint64]
) -> npt.NDArray[np.bool_] | None:
    """Return the row of each person with the smallest key; None where two of one person have it."""
    # Rows without a person have the last place, which is nobody's.
    smallest = np.full(int(codes.max()) + 2, np.iinfo(np.uint64).max, dtype=np.uint64)
    np.minimum.at(smallest, codes, keys)
    kept = keys == smallest[codes]
    kept &= codes >= 0
    return None if (np.bincount(codes[kept]) > 1).any() else kept


def _from_zero(codes: npt.NDArray[np.integer]) -> npt.NDArray[np.int64]:
    """Return the codes as they are, or renumbered where they are far apart."""
    if int(codes.max()) < _FAR * codes.size + 1024:
        return codes.astype(np.int64)
    return np.unique(codes, return_inverse=True)[1].astype(np.int64)
