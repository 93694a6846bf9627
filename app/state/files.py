"""Plans on disk: paths in a plan are relative to it, in the window they are whole."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QMimeData

from app.state.settings import write_aside
from engine.errors import InputRefused
from engine.release.plan import Plan

PLAN = ".custos-plan"
"""What a plan is saved as: an ending that systems know it by. It is JSON, and ``.json`` is read as well."""


RELEASE = ".custos-release"
"""The ending of a release in one file, as `engine.release.one_file` has it, which brings pandas along."""


def is_plan(path: str) -> bool:
    """Say whether a file is called as a plan is."""
    return path.lower().endswith((PLAN, ".json"))


def is_release(path: str) -> bool:
    """Say whether a file is called as a release in one file is."""
    return path.lower().endswith(RELEASE)


def open_plan(path: Path) -> Plan:
    """Read a plan; its files are found relative to it.

    Raises
    ------
    InputRefused
        ``plan.*``, see `engine.release.plan.Plan.read`; ``at_risk.*`` and ``price.*``: amounts beyond all
        money, from which no screen could draw a curve.
    """
    from engine.pricing.statement import cost_of, refuse_amounts  # on first use: the start page needs neither

    plan = Plan.read(path)
    refuse_amounts(plan.price)
    cost_of(plan.price)
    return replace(
        plan,
        files={name: replace(file, path=str(path.parent / file.path)) for name, file in plan.files.items()},
        preparation=tuple(
            {**step, "file": str(path.parent / str(step["file"]))} if "file" in step else step
            for step in plan.preparation
        ),
    )


def save_plan(plan: Plan, path: Path) -> None:
    """Write a plan so that it can be moved together with its files.

    Raises
    ------
    InputRefused
        ``plan.not_writable``.
    """
    files = {name: replace(file, path=_relative(file.path, path.parent)) for name, file in plan.files.items()}
    steps = tuple(
        {**step, "file": _relative(str(step["file"]), path.parent)} if "file" in step else step
        for step in plan.preparation
    )
    try:
        write_aside(path, replace(plan, files=files, preparation=steps).dumps(), shared=True)
    except OSError as error:
        raise InputRefused("plan.not_writable", file=path.name, folder=str(path.parent)) from error


def dropped_file(data: QMimeData) -> str:
    """Return the path of the one file of this computer that is dropped, or nothing."""
    found = dropped_files(data)
    return found[0] if len(found) == 1 else ""


def dropped_files(data: QMimeData) -> list[str]:
    """Return the paths of all files that are dropped, each once; none where one is not of this computer."""
    found = list(dict.fromkeys(url.toLocalFile() for url in data.urls()))
    return found if all(found) else []


def is_table(folder: Path) -> bool:
    """Say whether a folder holds the files of a table, and not a release."""
    from engine.table.reading.readers import SUFFIXES  # on first use: they bring pandas along

    names = [one.name for one in folder.iterdir()]
    release = {"release", "internal", "evidence.json"}
    return release.isdisjoint(names) and any(Path(name).suffix.lower() in SUFFIXES for name in names)


def _relative(file: str, folder: Path) -> str:
    try:
        return Path(os.path.relpath(file, folder)).as_posix()
    except ValueError:  # another drive of Windows: no relative path leads there
        return file
