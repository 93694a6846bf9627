"""From a finished release to the two kinds of evidence and the files of both folders."""

from __future__ import annotations

import platform
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from engine import texts
from engine.evaluation import group_sizes
from engine.evaluation.evaluate import Evaluation, figures, views
from engine.ledger import Holding, Ledger
from engine.methods.protocol import Forecast, Method, Release, Request
from engine.privacy.promise import Promise
from engine.release import bundle, charge
from engine.release.evidence import InternalEvidence, PublicEvidence, dumps, internal_json, public_json
from engine.release.foreseen import Foreseen
from engine.release.plan import STAYS, Plan
from engine.release.reading import Held
from engine.release.readme import described
from engine.table.schema import Role, Schema
from engine.table.table import Table

LIBRARIES = ("numpy", "pandas", "pyarrow", "scipy", "dp-accounting", "typst", "fonttools")
PROGRAM = "Custos"
NOISE = {"source": "operating_system", "sampler": "canonne_kamath_steinke_2020"}


@dataclass(frozen=True)
class Checked:
    """A plan whose declarations hold together: its method, what the method sees, and what it costs."""

    method: Method
    request: Request
    promise: Promise


@dataclass(frozen=True)
class Made:
    """Everything about one release that is described: decided, held, used, made and paid."""

    plan: Plan
    checked: Checked
    foreseen: Foreseen
    held: Held
    used: Table
    release: Release
    ledger: Ledger
    holding: Holding
    entry: str
    language: str
    evaluated: Evaluation = field(default_factory=Evaluation)


def write_release(folder: Path, made: Made) -> PublicEvidence:
    """Write everything of ``release/`` but the sums, from the public evidence alone; return that evidence."""
    artefacts = tuple(
        line
        for artefact in made.release.artefacts
        for line in bundle.write_artefact(folder, artefact, made.language)
    )
    evidence = _public(made, artefacts)
    _write(folder, dumps(public_json(evidence)), made.language)
    return evidence


def write_internal(folder: Path, evidence: PublicEvidence, made: Made) -> None:
    """Write everything of ``internal/`` but the sums."""
    _write(folder, dumps(internal_json(evidence, _internal(made))), made.language)


def _write(folder: Path, written: bytes, language: str) -> None:
    """Write the evidence and everything that it says in words."""
    bundle.write(folder / "evidence.json", written)
    for name, content in described(written, language=language).items():
        bundle.write(folder / name, content)


def program() -> dict[str, Any]:
    """Return name and versions of the program and of what computes in it."""
    return {
        "name": PROGRAM,
        "version": _version("custos"),
        "python": platform.python_version(),
        "libraries": {name: _version(name) for name in LIBRARIES},
    }


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        from engine import __version__

        return __version__ if name == "custos" else "absent"


def _public(made: Made, artefacts: tuple[Mapping[str, Any], ...]) -> PublicEvidence:
    plan, method, release = made.plan, made.checked.method, made.release
    head = made.ledger.head()
    sentence = partial(texts.text, language=made.language)
    return PublicEvidence(
        made_at=datetime.now().astimezone().isoformat(timespec="seconds"),
        title=plan.purpose.title,
        bundle_id=secrets.token_hex(8),
        program=program(),
        method={
            "id": method.id,
            "version": method.version,
            "family": method.family.value,
            "published": asdict(method.published),
        },
        decided=_decided(plan, made.checked.request),
        purpose={name: value for name, value in asdict(plan.purpose).items() if name not in STAYS},
        promise=release.promise,
        statement=made.foreseen.statement,
        artefacts=artefacts,
        dictionary=tuple(bundle.dictionary_json(artefact, sentence) for artefact in release.artefacts),
        input_name=made.ledger.input_name(made.held.sha256, entry=made.entry),
        ledger={"entry": made.entry, "head": {"sequence": head.sequence, "hash": head.hash}},
        noise=NOISE,
        expected=_expected(made.foreseen.forecast),
        register=_register(made) if plan.purpose.states_total == "yes" else {},
        forecast=made.foreseen.forecast.views,
        views=(*release.views, *views(made.evaluated.public)),
        notes=release.notes,
        measures=figures(made.evaluated.public),
    )


def _decided(plan: Plan, request: Request) -> dict[str, Any]:
    """What was decided, as far as it may leave: declarations, kinds of steps, never a value from a list."""
    schema = request.schema
    used = [column for column in schema.columns if column.is_declared or column.role is Role.PERSON_KEY]
    named = _names(plan.parameters)
    return {
        "parameters": dict(plan.parameters),
        "columns": Schema(
            tuple(column.without_copied() for column in used if column.name in named)
        ).to_json()["columns"],
        "budget": plan.to_json()["budget"],
        "declared_sizes": list(plan.declared_sizes),
        "preparation": [
            {name: step[name] for name in ("step", "column", "to") if name in step}
            for step in plan.preparation
        ],
        "bounds": "declared",
        "rows_per_person": request.rows_per_person,
    }


def _names(value: Any) -> set[str]:
    """Every text in a tree of parameters: a column that was used is named by one of them."""
    if isinstance(value, str):
        return {value}
    if isinstance(value, Mapping):
        return set().union(*(_names(item) for item in value.values()))
    if isinstance(value, list | tuple):
        return set().union(*(_names(item) for item in value))
    return set()


def _internal(made: Made) -> InternalEvidence:
    plan, held = made.plan, made.held
    rows: dict[str, Any] = {
        "file": held.file,
        "sha256": held.sha256,
        "rows": held.rows_read,
        "rows_used": len(made.used),
    }
    people = held.people
    if people is not None:
        rows |= {"people": int(people.max(initial=-1)) + 1, "rows_without_key": int((people < 0).sum())}
    measured = figures(made.evaluated.internal)
    sizes = measured.get(group_sizes.ID, {})
    # The chapter about the table draws the group sizes from their figures, once they were counted.
    drawn = (group_sizes.ID,) if "alone" in sizes else ()
    return InternalEvidence(
        plan=plan.to_json(),
        input=rows,
        findings=tuple(finding.to_json() for finding in held.table.findings),
        group_sizes=sizes,
        price=made.foreseen.price,
        holding={"name": made.holding.name, **_register(made)},
        views=views(made.evaluated.internal, without=drawn),
        measures=measured,
    )


def _register(made: Made) -> dict[str, Any]:
    """Return what all releases about these people have spent: computed from the ledger, not from rows."""
    status = made.ledger.status(made.holding.id, charge.composer(made.holding))
    return {
        "epsilon": None if status.holding.epsilon is None else str(status.holding.epsilon),
        "delta": str(status.holding.delta),
        "epsilon_spent": str(status.epsilon_spent),
        "delta_spent": str(status.delta_spent),
        "releases": status.releases,
        "bounds_all": status.bounds_all,
    }


def _expected(forecast: Forecast) -> tuple[dict[str, Any], ...]:
    return tuple(
        {
            "quantity": one.quantity.id,
            "of": one.of,
            "size": one.size,
            "median": one.median,
            "limit": one.limit,
            "unit": one.unit,
        }
        for one in forecast.errors
    )
