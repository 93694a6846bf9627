"""Documents that are read back: none is read beyond the size that is stated for its kind.

Whatever a person, a bundle or an earlier run left may have been replaced by anything. What is larger than its
kind ever is, is refused with a sentence, and not one byte more than the limit is held in memory.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from pathlib import Path

from engine.errors import InputRefused

SUMS = 1 << 20
"""Bytes of a list of sums, a key, settings, and whatever else holds a line for each of a few things."""
DOCUMENT = 1 << 26
"""Bytes of plans, schemas, drafts, hierarchies, lists, and the state of a service."""
EVIDENCE = 1 << 25
"""Bytes of the evidence of a bundle: papers are made again from it, which takes a minute at this size."""
PAPER = 1 << 25
"""Bytes of a report or another paper of a bundle."""


class TooLarge(InputRefused, ValueError):
    """A document is larger than its kind may be; a ValueError too, for readers to which it is no document.

    Its code is ``document.too_large``, with ``file``, ``size`` and ``most`` (megabytes).
    """


def refuse_large(path: Path, most: int) -> None:
    """Refuse a file that is larger, without opening it.

    Raises
    ------
    TooLarge
        ``document.too_large``.
    OSError
        There is no such file.
    """
    _refuse(path, path.stat().st_size, most)


def read_bytes(path: Path, most: int = DOCUMENT) -> bytes:
    """Return the content of a plain file of at most so many bytes.

    Parameters
    ----------
    path
        The file, from anywhere.
    most
        The limit of its kind.

    Raises
    ------
    TooLarge
        ``document.too_large``: nothing was read.
    OSError
        It cannot be read, or is no plain file: a pipe would be waited for, a device never ends.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     place = Path(folder) / "plan.json"
    ...     _ = place.write_bytes(b"{}")
    ...     read_bytes(place), read_bytes(place, 1)
    Traceback (most recent call last):
        ...
    engine.bounded.TooLarge: document.too_large (file, most, size)
    """
    with open(path, "rb", opener=_open) as file:
        _refuse(path, os.fstat(file.fileno()).st_size, most)
        content = file.read(most + 1)
    _refuse(path, len(content), most)  # it grew meanwhile
    return content


def read_text(path: Path, most: int = DOCUMENT, *, encoding: str = "utf-8") -> str:
    """Return the text of a plain file of at most so many bytes; ends of lines are as in any text.

    Raises
    ------
    TooLarge, OSError
        As `read_bytes`.
    UnicodeDecodeError
        It is not in this encoding.
    """
    text = read_bytes(path, most).decode(encoding)
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def sha256(path: Path) -> str:
    """Return the SHA-256 of a plain file of any size in hexadecimal, piece by piece; raises OSError."""
    with open(path, "rb", opener=_open) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _open(path: str, flags: int) -> int:
    """Open a plain file and nothing else; without waiting for the other end of a pipe."""
    number = os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
    if not stat.S_ISREG(os.fstat(number).st_mode):
        os.close(number)
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL), path)
    return number


def _refuse(path: Path, size: int, most: int) -> None:
    if size > most:
        raise TooLarge(
            "document.too_large", file=path.name[:100], size=-(-size // 10**6), most=round(most / 10**6)
        )
