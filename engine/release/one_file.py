"""A release as one file: what is handed over, the folder *release*, in a ZIP archive with its own ending.

A folder cannot be sent by mail, and no system opens one with a double click. The file holds what leaves and
nothing of what stays; without this program its ending is changed to ``.zip``.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import struct
import tempfile
import unicodedata
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from engine.errors import InputRefused
from engine.release.bundle import RELEASE, SUMS, check_target, explain_disk_errors, refuse_inside

ENDING = ".custos-release"
MOST_FILES = 2000
MOST_BYTES = 8 << 30
"""Of all files together, unpacked: beyond it a file of some megabytes could fill a disk."""
SPARE = 200 << 20  # bytes that stay free on the disk
FIRST_DAY = (1980, 1, 1, 0, 0, 0)  # what a ZIP archive without times says
_END = struct.Struct("<4s16xH")
_LOCAL = struct.Struct("<4s2xH18xHH")
_UNIX = 3
_KNOWN_FIELDS = frozenset((0x0001, 0x000A, 0x5455, 0x5855, 0x7855, 0x7875))
_IS_DESCRIBED, _DESCRIBED = 1 << 3, (12, 16, 20, 24)
"""Of a file that was packed before its size was known: how many bytes may say it behind the file."""
_NAME = re.compile(rf"{RELEASE}/([^/\\:\x00-\x1f]+)")
_BROKEN = (
    *(zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError),  # other ways of packing
    *(RuntimeError, ValueError, OverflowError, struct.error),  # a password; names and numbers that are none
)


def pack_release(folder: Path, file: Path) -> Path:
    """Write what leaves of a bundle as one file; the same release gives the same bytes.

    Parameters
    ----------
    folder
        A bundle, or its folder ``release`` alone.
    file
        Where to; a file that is there is replaced once the new one is whole.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    InputRefused
        ``bundle.no_bundle``; ``bundle.not_one_file``: a link or a folder lies in it; ``bundle.inside``: the
        place lies in a release; ``bundle.not_writable``.

    Notes
    -----
    Nothing is verified: `engine.release.verify.verify` does that, of the file as of the folder.
    """
    part = folder / RELEASE if (folder / RELEASE / SUMS).is_file() else folder
    if not (part / SUMS).is_file():
        raise InputRefused("bundle.no_bundle", folder=folder.name, file=f"{RELEASE}/{SUMS}")
    refuse_inside(file.absolute())
    paths = sorted(part.iterdir())
    if any(path.is_symlink() or not path.is_file() for path in paths):
        raise InputRefused("bundle.not_one_file", file=folder.name)
    with explain_disk_errors(file.parent):
        handle, name = tempfile.mkstemp(prefix=".custos-", dir=file.parent)
        try:
            with os.fdopen(handle, "wb") as target, zipfile.ZipFile(target, "w") as packed:
                for path in paths:
                    entry = zipfile.ZipInfo(f"{RELEASE}/{path.name}", FIRST_DAY)
                    entry.compress_type, entry.create_system = zipfile.ZIP_DEFLATED, 3
                    entry.external_attr, entry.file_size = 0o644 << 16, path.stat().st_size
                    with path.open("rb") as content, packed.open(entry, "w") as written:
                        shutil.copyfileobj(content, written, 1 << 20)
            Path(name).chmod(0o644)  # it is there to be handed over
            Path(name).replace(file)
        finally:
            Path(name).unlink(missing_ok=True)
    return file


def unpack_release(file: Path, folder: Path) -> Path:
    """Write the folder ``release`` of a file into a new folder.

    Parameters
    ----------
    file
        As `pack_release` wrote it, from anywhere.
    folder
        New, or empty.

    Returns
    -------
    Path
        The folder.

    Raises
    ------
    InputRefused
        ``bundle.not_one_file``: it is no such file, is damaged, or would write elsewhere; ``bundle.no_room``:
        there is no room for what it says to hold; what `engine.release.bundle.check_target` refuses.

    Notes
    -----
    Unpacked is not verified. Names lead into the folder alone, no link is made, and no file gets more bytes
    than the archive says beforehand.
    """
    check_target(folder)
    try:
        with zipfile.ZipFile(file) as packed:
            entries = packed.infolist()
            names = [match[1] for entry in entries if (match := _NAME.fullmatch(entry.filename))]
            _refuse_odd(file, entries, names)
            _refuse_further(file, packed)
            size = sum(entry.file_size for entry in entries)
            if size > min(MOST_BYTES, shutil.disk_usage(folder.absolute().parent).free - SPARE):
                raise InputRefused("bundle.no_room", file=file.name[:100], size=-(-size // 10**6))
            # beside it first: a process that is killed leaves no half of a release under its name
            with tempfile.TemporaryDirectory(prefix=".custos-", dir=folder.absolute().parent) as aside:
                whole = Path(aside) / RELEASE
                whole.mkdir()
                for entry, name in zip(entries, names, strict=True):
                    with packed.open(entry) as content, (whole / name).open("xb") as written:
                        shutil.copyfileobj(content, written, 1 << 20)
                folder.mkdir(exist_ok=True)
                whole.rename(folder / RELEASE)
    except _BROKEN as error:
        raise InputRefused("bundle.not_one_file", file=file.name[:100]) from error
    except OSError as error:  # of the file, or of the folder
        reason = error.strerror or type(error).__name__
        raise InputRefused("bundle.not_writable", folder=folder.name[:100], reason=reason) from error
    return folder


def _refuse_odd(file: Path, entries: list[zipfile.ZipInfo], names: list[str]) -> None:
    """Refuse an archive with anything but files of a folder ``release``, each once on every system."""
    alone = {unicodedata.normalize("NFC", name).casefold() for name in names}
    is_odd = len(names) != len(entries) or len(alone) != len(names) or len(names) > MOST_FILES
    # Windows takes a blank or a point off the end of a name: two names would be one file
    if is_odd or SUMS not in names or any(name.rstrip(" .") != name for name in names):
        raise InputRefused("bundle.not_one_file", file=file.name[:100])


def _refuse_further(file: Path, packed: zipfile.ZipFile) -> None:
    """Refuse an archive with anything but its files: another reader may take that for the release.

    Some read from the first file on and not from the list at the end, some take the name in a further field,
    and some make links where a file says that it is one.
    """
    entries = packed.infolist()
    with file.open("rb") as content:
        content.seek(-_END.size, os.SEEK_END)
        sign, comment = _END.unpack(content.read(_END.size))
        is_alone = sign == b"PK\x05\x06" and not comment and _lie_together(content, entries, packed.start_dir)
    if not is_alone or not all(map(_is_plain, entries)):
        raise InputRefused("bundle.not_one_file", file=file.name[:100])


def _is_plain(entry: zipfile.ZipInfo) -> bool:
    """Say whether an entry is a file, without words of its own, and is called the same by every reader."""
    kind = stat.S_IFMT(entry.external_attr >> 16) if entry.create_system == _UNIX else 0
    return not entry.comment and kind in (0, stat.S_IFREG) and _names_nothing(entry.extra)


def _names_nothing(extra: bytes) -> bool:
    """Say whether the further fields of an entry are of known kinds: times, owners and large sizes."""
    while extra:
        if len(extra) < 4:
            return False
        kind, size = struct.unpack("<HH", extra[:4])
        if kind not in _KNOWN_FIELDS or len(extra) < 4 + size:
            return False
        extra = extra[4 + size :]
    return True


def _lie_together(content: IO[bytes], entries: list[zipfile.ZipInfo], end: int) -> bool:
    """Say whether the files stand one behind the other from the first byte to the list of them."""
    by_place = sorted(entries, key=lambda entry: entry.header_offset)
    begins = [*(entry.header_offset for entry in by_place[1:]), end]
    at = 0
    for entry, following in zip(by_place, begins, strict=True):
        content.seek(at)
        sign, flags, name, further = _LOCAL.unpack(content.read(_LOCAL.size))
        content.seek(name, os.SEEK_CUR)
        is_one = entry.header_offset == at and sign == b"PK\x03\x04" and _names_nothing(content.read(further))
        behind = following - (at + _LOCAL.size + name + further + entry.compress_size)
        if not is_one or behind not in (_DESCRIBED if flags & _IS_DESCRIBED else (0,)):
            return False
        at = following
    return True


@contextmanager
def as_folder(place: Path) -> Iterator[Path]:
    """Give the folder of a release: itself, or for as long as it is used what one file holds.

    Raises
    ------
    InputRefused
        As `unpack_release`.
    """
    if not place.is_file():
        yield place
        return
    with tempfile.TemporaryDirectory(prefix="custos-release-") as folder:
        yield unpack_release(place, Path(folder) / (place.stem.strip(" .")[:100] or RELEASE))
