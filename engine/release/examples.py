"""Worked examples: plans over tables that come with the program, run without asking anybody for a budget."""

from __future__ import annotations

import json
import posixpath
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from engine import strict_json
from engine.errors import InputRefused
from engine.ledger import Ledger
from engine.methods.protocol import Method
from engine.policy import without_rules
from engine.progress import SILENT, Progress
from engine.release.bundle import INTERNAL, STATE, Bundle
from engine.release.plan import FileReference, Plan
from engine.release.run import run


@dataclass(frozen=True)
class Ran:
    """An example that was run: the plan as it was written, and its bundle."""

    plan: Plan
    bundle: Bundle


def plans(method: type[Method]) -> tuple[Plan, ...]:
    """Return the examples of a method as plans; their paths are relative to the folder of examples.

    Notes
    -----
    A field ``like`` names a plan of ``resources`` whose other fields hold too. The visits of a service come
    after the plan that opens it.
    """
    return tuple(_plan(tree, method) for tree in method.examples())


def _plan(tree: Mapping[str, Any], method: type[Method]) -> Plan:
    fields = {"method": method.id, "method_version": method.version}
    fields |= {name: value for name, value in tree.items() if name != "like"}
    if "like" in tree:
        path = str(tree["like"])
        whole = dict(strict_json.loads((files("resources") / path).read_bytes()))
        folder = Path(path).parent
        for file in whole.get("files", {}).values():
            file["path"] = (Path("..") / folder / file["path"]).as_posix()
        whole["purpose"] = whole.get("purpose", {}) | fields.pop("purpose", {})
        fields = whole | fields
    return Plan.loads(json.dumps({"version": 1} | fields), file=f"{method.id}.json")


def run_examples(
    method: type[Method], *, out: Path, language: str = "en", progress: Progress = SILENT
) -> tuple[Ran, ...]:
    """Run the examples of a method into a new folder that holds all they need.

    Parameters
    ----------
    method
        Of the catalogue.
    out
        Absent or empty. It gets, for each example, the plan and its bundle, the tables, and a ledger of its
        own: nothing is charged anywhere else.

    Raises
    ------
    InputRefused
        ``examples.none``: the method has no example; ``bundle.exists``; or what `run` refuses.
    """
    wanted = plans(method)
    if not wanted:
        raise InputRefused("examples.none", method=method.id)
    if out.exists() and any(out.iterdir()):
        raise InputRefused("bundle.exists", folder=out.name[:100])
    out.mkdir(parents=True, exist_ok=True)
    ledger = Ledger(out / "ledger.sqlite")
    ran: list[Ran] = []
    for place, plan in enumerate(wanted):
        local = _goes_on(_bring(plan, out), ran, out)
        name = "example" if place == 0 else f"example-{place + 1}"
        (out / f"{name}.plan.json").write_text(local.dumps(), encoding="utf-8")
        part = progress.part(place / len(wanted), (place + 1) / len(wanted))
        with without_rules():
            bundle = run(local, out=out / name, ledger=ledger, base=out, language=language, progress=part)
        ran.append(Ran(local, bundle))
    return tuple(ran)


def _bring(plan: Plan, out: Path) -> Plan:
    """Copy the tables of a plan beside it."""
    references = {}
    for name, reference in plan.files.items():
        place = out / Path(reference.path).name
        if not place.exists():
            path = posixpath.normpath(f"examples/{reference.path}")
            with as_file(files("resources") / path) as shipped:
                shutil.copyfile(shipped, place)
        references[name] = FileReference(place.name, reference.options)
    return replace(plan, files=references)


def _goes_on(plan: Plan, ran: list[Ran], out: Path) -> Plan:
    """Let a visit go on from what the example before it left."""
    if not plan.step or not ran:
        return plan
    opening = next(one for one in reversed(ran) if not one.plan.step)
    state = ran[-1].bundle.folder / INTERNAL / STATE
    left = state.relative_to(out).as_posix() if state.is_file() else ""
    return replace(plan, continues=opening.bundle.entry, state=left)
