"""A release of any site as others may put it together with theirs: verified first, then read."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from engine import strict_json
from engine.bounded import DOCUMENT, EVIDENCE, read_bytes
from engine.bounded import SUMS as LARGEST_SUMS
from engine.errors import EngineError, InputRefused
from engine.evaluation.released_estimates import Figures, ReleasedBundle, printable, read_figures
from engine.progress import SILENT, Progress
from engine.release.bundle import RELEASE, SUMS
from engine.release.signature import fingerprint_of
from engine.release.verify import Verification, verify
from engine.views import Text


def read_bundle(folder: Path) -> ReleasedBundle:
    """Return what a release tells of figures that can be pooled.

    Parameters
    ----------
    folder
        The bundle, or its ``release`` folder alone as a recipient has it.

    Raises
    ------
    InputRefused
        ``bundle.no_bundle``: there is none. ``analyses.bundle_wrong``: it is not what it says it is, with the
        first problem that was found. ``analyses.bundle_form``: its files agree with one another and are of
        no form that is known here.

    Notes
    -----
    Files that agree with one another may all have been written by somebody else: only a key that is known
    from elsewhere says whose they are, and `ReleasedBundle.keys` is what to compare.
    """
    found = verify(folder)
    for problem in found.problems:
        raise _wrong(folder, problem)
    place = folder / RELEASE if (folder / RELEASE / SUMS).is_file() else folder
    sums = read_bytes(place / SUMS, LARGEST_SUMS)
    if found.signature is not None and found.signature.sums != hashlib.sha256(sums).hexdigest():
        raise InputRefused("analyses.bundle_form", folder=folder.name)  # others since they were verified
    listed = {
        name: digest for digest, _, name in (line.partition("  ") for line in sums.decode().split("\n"))
    }

    def content(name: str, most: int = DOCUMENT) -> bytes:
        """Return a file that the verified sums name, as they name it: nothing came between."""
        if name not in listed:
            raise ValueError("a file that is not there")
        data = read_bytes(place / name, most)
        if hashlib.sha256(data).hexdigest() != listed[name]:
            raise InputRefused("analyses.bundle_form", folder=folder.name)
        return data

    try:
        evidence = strict_json.loads(content("evidence.json", EVIDENCE))
        return _told(folder, evidence, read_figures(evidence, content), sums, found)
    except (LookupError, ValueError, TypeError, AttributeError, ArithmeticError, OSError) as error:
        raise InputRefused("analyses.bundle_form", folder=folder.name) from error


def bundles_in(folder: Path) -> list[Path]:
    """Return a bundle as itself, and of a folder that holds bundles those at most two levels below.

    Raises
    ------
    InputRefused
        ``bundle.no_bundle``.
    """
    if _is_bundle(folder):
        return [folder]
    found: list[Path] = []
    for below in _folders(folder):
        found += [below] if _is_bundle(below) else filter(_is_bundle, _folders(below))
    if not found:
        raise InputRefused("bundle.no_bundle", folder=folder.name, file=f"{RELEASE}/{SUMS}")
    return found


def _is_bundle(folder: Path) -> bool:
    return (folder / RELEASE / SUMS).is_file() or (folder / SUMS).is_file()


def _folders(folder: Path) -> list[Path]:
    try:
        return sorted(one for one in folder.iterdir() if one.is_dir() and not one.is_symlink())
    except OSError:
        return []


def read_bundles(
    folders: Sequence[Path], *, beside: tuple[ReleasedBundle, ...] = (), progress: Progress = SILENT
) -> tuple[ReleasedBundle, ...]:
    """Return several releases in their order, see `read_bundle`.

    Parameters
    ----------
    folders
        Each a bundle or a folder with bundles, see `bundles_in`.
    beside
        Releases that were read before.
    progress
        Told which share of them is read.

    Raises
    ------
    InputRefused
        As `read_bundle` and `bundles_in`. ``analyses.bundle_twice``: the same release in two folders.
    """
    found: list[ReleasedBundle] = []
    every = [one for folder in folders for one in bundles_in(folder)]
    for place, folder in enumerate(every):
        progress.step(place / len(every), "run.reading")
        one = read_bundle(folder)
        for other in (*beside, *found):
            if one.sums == other.sums or one.bundle_id == other.bundle_id:
                raise InputRefused("analyses.bundle_twice", folder=one.folder, other=other.folder)
        found.append(one)
    return tuple(found)


def _wrong(folder: Path, problem: EngineError) -> InputRefused:
    what = Text(f"errors.{problem.code}.what", problem.values)
    return InputRefused("analyses.bundle_wrong", folder=folder.name, what=what)


def _told(folder: Path, evidence: Any, figures: Figures, sums: bytes, found: Verification) -> ReleasedBundle:
    purpose, named = evidence["purpose"], evidence["ledger"]
    signed = found.signature
    return ReleasedBundle(
        name=printable(purpose.get("organisation") or folder.name),
        folder=folder.name,
        bundle_id=str(evidence["bundle_id"]),
        sums=hashlib.sha256(sums).hexdigest(),
        chain=str(named.get("chain", "")),
        register="" if signed is None else signed.register,
        keys=() if signed is None else tuple(map(fingerprint_of, reversed(signed.keys))),
        title=printable(evidence["title"]),
        population=printable(purpose.get("population") or ""),
        period=printable(purpose.get("period") or ""),
        day=printable(evidence["made_at"])[:10],
        figures=figures,
    )
