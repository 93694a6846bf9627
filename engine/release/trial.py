"""Settings tried on the custodian's rows before a release: nothing is reserved, spent, written or kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from engine.errors import EngineError
from engine.methods.catalogue import method as find_method
from engine.methods.parameters import ParameterKind
from engine.methods.protocol import Method, Request
from engine.methods.trying import Tried
from engine.privacy.noise import Noise
from engine.progress import SILENT, Progress
from engine.release.plan import Plan
from engine.table.declared import people_of
from engine.table.table import Table


@dataclass(frozen=True)
class Trial:
    """What settings gave.

    Parameters
    ----------
    plan
        The plan whose settings were tried: lines that were not finished are left out.
    answers
        Computed from private rows: for the custodian alone.
    lines
        How many lines of records were left out because they are not finished.
    drawn_anew
        Whether people have more rows than may leave: the release draws which, so that its figures are others.
    """

    plan: Plan
    answers: tuple[Tried, ...]
    lines: int = 0
    drawn_anew: bool = False


def can_be_tried(plan: Plan) -> tuple[Plan, int] | None:
    """Return a plan whose settings can be tried, and how many unfinished lines it does without; else None."""
    method = find_method(plan.method)
    if not method.tries:
        return None
    kept, cut = dict(plan.parameters), 0
    for one in method.parameters:
        records = kept.get(one.name)
        while one.kind is ParameterKind.RECORDS and records and _unfinished(method, plan, kept, one.name):
            records = list(records)[:-1]
            kept[one.name], cut = records, cut + 1
    found = replace(plan, parameters=kept)
    try:
        request = found.request
    except EngineError:
        return None
    ready = all(name in request.values for name in method.tries)
    wrong = {one.parameter for one in request.wrong}
    return (found, cut) if ready and wrong <= _spare(method) else None


def _spare(method: type[Method]) -> set[str | None]:
    """Return the parameters that may be absent: records that are chosen by looking."""
    return {
        one.name
        for one in method.parameters
        if one.kind is ParameterKind.RECORDS and one.name not in method.tries
    }


def _unfinished(method: type[Method], plan: Plan, given: Mapping[str, Any], name: str) -> bool:
    """Say whether a line of records is not filled in, or cannot be taken where it stands."""
    try:
        request = replace(plan, parameters=given).request
        without = replace(plan, parameters={**given, name: []}).request
    except EngineError:
        return False
    if any(one not in without.wrong for one in request.wrong):
        return True
    return any(one.parameter == name and "place" in one.values for one in method(request).problems)


def trial(plan: Plan, table: Table, *, progress: Progress = SILENT) -> Trial | None:
    """Try the settings of a plan on a prepared table.

    Parameters
    ----------
    plan
        As the window has it; lines of records that are not finished are left out from the end.
    table
        After the recorded steps and conditions.

    Returns
    -------
    Trial or None
        None while something that is needed is missing.

    Notes
    -----
    Of a person with more rows than may leave, the first ones are looked at. A release draws which; drawing
    here would change the figures from look to look.

    Raises
    ------
    EngineError
        As the release itself would be refused.
    """
    ready = can_be_tried(plan)
    if ready is None:
        return None
    found, cut = ready
    design = found.design
    if {one.parameter for one in design.problems} - _spare(type(design)):
        return None
    request = design.request
    name = request.private[0]
    rows = _first_rows(name, table, request)
    answers = design.tried({name: rows}, chance=Noise().internal_generator(), progress=progress)
    return Trial(found, answers, cut, drawn_anew=_draws(name, table, rows, request))


def _draws(source: str, table: Table, first: Table, request: Request) -> bool:
    """Say whether the first rows of every person are fewer than the rows that have a person."""
    key = request.schemas[source].person_key
    return key is not None and first.n_rows < int((people_of(table, key).places >= 0).sum())


def _first_rows(source: str, table: Table, request: Request) -> Table:
    """Return the first rows of every person, as many as may leave."""
    schema = request.schemas[source]
    key = schema.person_key
    if key is not None:
        people = people_of(table, key).places
        earlier = pd.Series(people).groupby(people).cumcount().to_numpy()
        table = table.with_rows(table.rows()[(people >= 0) & (earlier < schema.rows_per_person)])
    return table
