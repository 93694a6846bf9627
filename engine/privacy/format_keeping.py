"""Numbers for numbers of the same length: encryption that keeps the format, one number for each and back.

FF1 of NIST SP 800-38G (2016), section 5, for digits, with AES-256 and an empty tweak. Many numbers are
encrypted at once.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from engine import arrays

Words = arrays.Words
SHORTEST, LONGEST = 6, 18
"""Digits: below a million numbers the method is not safe (section 4), beyond 18 they leave 64 bits."""
_ROUNDS = 10
_BLOCK = 16


def numbers_for(texts: Sequence[str], *, key: bytes) -> list[str]:
    """Return for each number another one of as many digits, at least six; no two share one.

    Parameters
    ----------
    texts
        Digits alone, see `fits`; different also once short ones have zeros before them.
    key
        16 or 32 bytes. Who has it can turn every number back.

    Returns
    -------
    list of str
        A number of fewer than `SHORTEST` digits is taken as one of so many, with zeros before it. A number
        that begins with 0 stands for one that does, and others for others, so that numbers stay different
        where a program drops leading zeros.

    Notes
    -----
    Encryption is repeated until the first digit is of the same sort ("cycle walking": J. Black and
    P. Rogaway, 2002, section 3), which leaves it one to one.

    Examples
    --------
    >>> found = numbers_for(["8222157", "8222158"], key=bytes(32))
    >>> [len(number) for number in found], len(set(found))
    ([7, 7], 2)
    """
    found = np.empty(len(texts), dtype=object)
    given = np.array([pad_number(text) for text in texts], dtype=object)
    lengths = np.array([len(text) for text in given], dtype=np.int64)
    for length in np.unique(lengths).tolist():
        rows = np.flatnonzero(lengths == length)
        numbers = given[rows].astype(np.uint64)
        found[rows] = [f"{number:0{length}d}" for number in _walk(numbers, length, key).tolist()]
    return list(found)


def fits(text: str) -> bool:
    """Say whether a text is a number that `numbers_for` takes."""
    return text.isascii() and text.isdigit() and len(text) <= LONGEST


def pad_number(text: str) -> str:
    """Return a number with zeros before it up to the shortest length."""
    return text.zfill(SHORTEST)


def encrypt_numbers(numbers: Words, length: int, key: bytes) -> Words:
    """Encrypt numbers of a length by FF1 with an empty tweak: algorithm 7 of the standard.

    Examples
    --------
    >>> key = bytes.fromhex("2B7E151628AED2A6ABF7158809CF4F3C")
    >>> encrypt_numbers(np.array([123456789], dtype=np.uint64), 10, key).tolist()  # sample 1 of the standard
    [2433477484]
    """
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    left, right = length // 2, length - length // 2  # u, v
    width = (_bits(right) + 7) // 8  # b
    taken = 4 * ((width + 3) // 4) + 4  # d, at most 16: one block
    cipher = Cipher(algorithms.AES(key), modes.ECB()).encryptor()
    first = bytes([1, 2, 1, 0, 0, 10, 10, left % 256]) + length.to_bytes(4, "big") + bytes(4)
    begun = np.frombuffer(cipher.update(first), dtype=np.uint8)
    a, b = numbers // np.uint64(10**right), numbers % np.uint64(10**right)
    for turn in range(_ROUNDS):
        block = np.zeros((len(numbers), _BLOCK), dtype=np.uint8)
        block[:, -width - 1] = turn
        block[:, -8:][:, -width:] = b.astype(">u8").view(np.uint8).reshape(-1, 8)[:, -width:]
        drawn = np.frombuffer(cipher.update((block ^ begun).tobytes()), dtype=np.uint8)
        modulus = 10 ** (left if turn % 2 == 0 else right)
        a, b = b, (a + _modulo(drawn.reshape(-1, _BLOCK)[:, :taken], modulus)) % np.uint64(modulus)
    return np.asarray(a * np.uint64(10**right) + b)


def _bits(digits: int) -> int:
    return (10**digits - 1).bit_length()


def _modulo(block: npt.NDArray[np.uint8], modulus: int) -> Words:
    """Return the bytes of each row, as one large number, modulo something below 2^32."""
    found = np.zeros(len(block), dtype=np.uint64)
    for byte in block.T:
        found = (found * np.uint64(256) + byte) % np.uint64(modulus)
    return found


def _walk(numbers: Words, length: int, key: bytes) -> Words:
    smallest = np.uint64(10 ** (length - 1))  # of those that do not begin with 0
    found = encrypt_numbers(numbers, length, key)
    again = np.flatnonzero((found < smallest) != (numbers < smallest))
    while again.size:
        found[again] = encrypt_numbers(found[again], length, key)
        again = again[(found[again] < smallest) != (numbers[again] < smallest)]
    return found
