"""Finds every analysis below ``engine/analyses`` by itself, and asks one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import engine.analyses as package
from engine import texts
from engine.analyses.protocol import Analysis, Answer, Context
from engine.discovery import instances
from engine.errors import InputRefused
from engine.methods.declaration import parameter_json
from engine.methods.values import resolve
from engine.privacy.noise import Noise
from engine.progress import SILENT, Progress
from engine.table.schema import Schema

if TYPE_CHECKING:
    import numpy as np

    from engine.evaluation.released_estimates import ReleasedBundle
    from engine.methods.parameters import Parameter
    from engine.table.table import Table


@cache
def analyses() -> tuple[Analysis, ...]:
    """Return one instance of every analysis, in the order of their ids.

    Examples
    --------
    >>> "at_risk" in [analysis.id for analysis in analyses()]
    True
    """
    return instances(package, Analysis)


def analysis(analysis_id: str) -> Analysis:
    """Return an analysis by its id.

    Raises
    ------
    InputRefused
        ``analyses.unknown``.
    """
    for candidate in analyses():
        if candidate.id == analysis_id:
            return candidate
    known = ", ".join(candidate.id for candidate in analyses())
    raise InputRefused("analyses.unknown", found=analysis_id, known=known)


def declaration(asked: Analysis, *, language: str = "en") -> dict[str, Any]:
    """Return everything that an analysis declares about itself, with its words."""
    base = f"analyses.{asked.id}"
    return {
        "id": asked.id,
        "version": asked.version,
        "title": texts.text(f"{base}.title", language=language),
        "summary": texts.text(f"{base}.summary", language=language),
        "published": asdict(asked.published),
        "sources": [asdict(source) for source in asked.sources],
        "parameters": [
            parameter_json(f"{base}.parameters.{parameter.name}", parameter, language)
            for parameter in asked.parameters
        ],
    }


@dataclass(frozen=True)
class Example:
    """An analysis filled in: its values, and the shipped table that it is asked about."""

    values: Mapping[str, Any]
    table: Path | None
    schema: Schema | None


def example(asked: Analysis) -> Example:
    """Return the example of an analysis.

    Examples
    --------
    >>> example(analysis("pairs")).values
    {'tolerance': 0.01, 'probability': 0.9}
    """
    resources = files("resources")
    tree = json.loads((resources / "examples" / "analyses" / f"{asked.id}.json").read_text("utf-8"))
    if "table" not in tree:
        return Example(tree["values"], None, None)
    return Example(tree["values"], Path(str(resources / tree["table"])), Schema.from_json(tree["schema"]))


def ask(
    asked: Analysis,
    given: Mapping[str, Any],
    *,
    tables: Mapping[str, Table] | None = None,
    schemas: Mapping[str, Schema] | None = None,
    bundles: tuple[ReleasedBundle, ...] = (),
    progress: Progress = SILENT,
) -> Answer:
    """Check and convert what was filled in, and return the answer of an analysis.

    Parameters
    ----------
    asked
        From `analysis`.
    given
        JSON values of its parameters by name.
    tables, schemas
        By source, for an analysis that reads a table.
    bundles
        From `engine.release.released_bundle.read_bundles`, for an analysis that reads releases.
    progress
        Told about long work.

    Raises
    ------
    InputRefused
        The first problem of a parameter, ``analyses.no_table`` for a table and ``analyses.no_bundle`` for a
        release that the analysis does not read, or what the analysis refuses.

    Examples
    --------
    >>> found = ask(analysis("at_risk"), {"epsilon0": 1, "epsilon": 0.6})
    >>> round(found.figures["exact"]["confidence"], 6), found.stays
    (0.409365, False)
    """
    declared = schemas or {}
    values = check_values(asked.parameters, given, declared)
    if tables and not asked.sources:
        raise InputRefused("analyses.no_table", analysis=asked.id)
    if bundles and not asked.reads_bundles:
        raise InputRefused("analyses.no_bundle", analysis=asked.id)
    return asked.run(values, tables or {}, Context(declared, chance(), progress, bundles))


def check_values(
    parameters: tuple[Parameter, ...], given: Mapping[str, Any], schemas: Mapping[str, Schema]
) -> dict[str, Any]:
    """Return the values of parameters; refuse with the first problem."""
    values, problems = resolve(parameters, given, schemas)
    for problem in problems:
        raise InputRefused(problem.code, **problem.values)
    return values


def chance() -> np.random.Generator:
    """Return what simulations draw from: figures about a mechanism, never the output of one."""
    return Noise().internal_generator()
