"""Finds every measure below ``engine/evaluation`` by itself: adding a file adds the measure."""

from __future__ import annotations

from functools import cache

from engine import evaluation
from engine.discovery import instances
from engine.errors import InputRefused
from engine.evaluation.protocol import InternalMeasure, Measure, PublicMeasure
from engine.methods.protocol import Method


@cache
def measures() -> tuple[PublicMeasure | InternalMeasure, ...]:
    """Return one instance of every measure, in the order of their ids.

    Examples
    --------
    >>> "risk.group_sizes" in [measure.id for measure in measures()]
    True
    """
    return instances(evaluation, Measure)


def measure(measure_id: str) -> PublicMeasure | InternalMeasure:
    """Return a measure by its id.

    Raises
    ------
    InputRefused
        ``evaluation.unknown_measure``.
    """
    for candidate in measures():
        if candidate.id == measure_id:
            return candidate
    known = ", ".join(candidate.id for candidate in measures())
    raise InputRefused("evaluation.unknown_measure", measure=measure_id, known=known)


def choose_measures(ids: tuple[str, ...], subject: Method) -> tuple[PublicMeasure | InternalMeasure, ...]:
    """Return the measures that a plan names; where it names none all that apply and are not on demand.

    A plan that names measures on demand alone gets them beside all the others. Reads no row.

    Parameters
    ----------
    ids
        As in ``Plan.measures``.

    Raises
    ------
    InputRefused
        ``evaluation.unknown_measure``; ``evaluation.does_not_apply``: one was asked for that has nothing to
        say about this release.
    """
    wanted = {name: measure(name) for name in ids}
    for name, candidate in wanted.items():
        if not candidate.applies(subject):
            raise InputRefused("evaluation.does_not_apply", measure=name, method=subject.id)
    if all(one.on_demand for one in wanted.values()):
        wanted |= {one.id: one for one in measures() if one.applies(subject) and not one.on_demand}
    return tuple(sorted(wanted.values(), key=lambda one: one.id))
