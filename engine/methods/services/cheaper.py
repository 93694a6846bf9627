"""Cheaper ways to what a visit asks: together as few tables, not paid for where it follows, less exactly.

Everything here follows from declarations and from released numbers; no row is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from engine.methods.budget import SMALLEST
from engine.methods.protocol import Cheaper
from engine.methods.services.asked import ID, Asked, Terms, level_of
from engine.methods.services.combining import Follows, follow, widest
from engine.methods.services.desk import Desk, Measurement
from engine.methods.services.planning import Wanted, plan_for
from engine.methods.services.planning import is_planned as _is_planned
from engine.methods.services.told import rounded
from engine.numbers import plain
from engine.views import Text

MOST_SAID, MOST_LOOKED_AT = 4, 20
"""So many new questions are looked at, and no more than a few ways of a kind are said."""


def cheaper_ways(
    asked: Sequence[Asked],
    records: Sequence[Mapping[str, Any]],
    desk: Desk,
    terms: Terms,
    *,
    is_planned: bool,
) -> tuple[Cheaper, ...]:
    """Return how the questions of a visit could cost less: not paid for, or less exactly.

    Parameters
    ----------
    asked, records
        The questions of the visit, and how they were filled in.
    desk
        What was measured before.
    terms
        What holds for all questions of the desk.
    is_planned
        Whether they are asked together already: then there is no other way but to ask for less.
    """
    if is_planned:
        return ()
    return (
        *_together(asked, records, desk, terms),
        *_following(asked, records, desk, terms),
        *_wider(asked, records, terms),
    )


def _way(name: str, left: Sequence[Mapping[str, Any]], epsilon: Fraction, **values: Any) -> Cheaper:
    given = {
        "questions": [
            {key: _plain(value) for key, value in one.items() if value not in (None, ())} for one in left
        ]
    }
    return Cheaper(Text(f"methods.{ID}.cheaper.{name}", values), epsilon, given)


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else plain(value)


def _total(asked: Sequence[Asked], terms: Terms) -> Fraction:
    return terms.together(one.epsilon for one in asked)


def _together(
    asked: Sequence[Asked], records: Sequence[Mapping[str, Any]], desk: Desk, terms: Terms
) -> Iterator[Cheaper]:
    """Give the questions as few tables that make none of them less exact."""
    wanted = [Wanted(one.query, one.epsilon) for one in asked if one.epsilon and _is_planned(one.query)]
    plan = plan_for(wanted, terms, visit=desk.visits + 1)
    if plan:
        others = (one.epsilon for one in asked if not _is_planned(one.query))
        total = terms.together([*others, *(one.epsilon for one in plan)])
        values = {"questions": len(wanted), "tables": len(plan)}
        queries = [one.query for one in wanted]
        apart = tuple(Measurement((one.query,), one.alone, visit=desk.visits + 1) for one in wanted)
        each = (
            [widest(query, Follows({place: None}), apart, terms) for place, query in enumerate(queries)],
            [
                widest(query, how, (*desk.measured, *plan), terms)
                for query, how in zip(queries, follow(queries, (*desk.measured, *plan), terms), strict=True)
            ],
        )
        alone, within = (max((one for one in some if one is not None), default=None) for some in each)
        if alone is None or within is None:
            way = _way("together", records, total, **values)
        else:
            margins = {"alone": rounded(alone), "within": rounded(within)}
            way = _way("together_within", records, total, **values, **margins)
        yield replace(way, given={**(way.given or {}), "planned": True})


def _following(
    asked: Sequence[Asked], records: Sequence[Mapping[str, Any]], desk: Desk, terms: Terms
) -> Iterator[Cheaper]:
    """Give the questions that follow from what is known or from the others of the visit, one at a time."""
    new = [place for place, one in enumerate(asked) if one.epsilon]
    said = 0
    for place in new[:MOST_LOOKED_AT]:
        others = tuple(
            Measurement((asked[other].query,), asked[other].epsilon, visit=desk.visits + 1)
            for other in new
            if other != place
        )
        (how,) = follow([asked[place].query], (*desk.measured, *others), terms)
        if how is None or said == MOST_SAID:
            continue
        said += 1
        unpaid = {key: one for key, one in records[place].items() if key not in ("epsilon", "margin")}
        left = [*records[:place], unpaid, *records[place + 1 :]]
        is_known = max(how.places) < len(desk.measured)
        total = _total([*asked[:place], *asked[place + 1 :]], terms)
        yield _way("known" if is_known else "follows", left, total, question=place + 1)


def _wider(asked: Sequence[Asked], records: Sequence[Mapping[str, Any]], terms: Terms) -> Iterator[Cheaper]:
    """Give the same questions with half of their level, or with twice their margin."""
    less = [
        _less_exact(record, one.epsilon) if one.epsilon else record
        for one, record in zip(asked, records, strict=True)
    ]
    pairs = enumerate(zip(asked, less, strict=True), 1)
    levels = [level_of(record, one.query, terms, at) for at, (one, record) in pairs if one.epsilon]
    if terms.together(levels) < _total(asked, terms):
        yield _way("wider", less, terms.together(levels))


def _less_exact(record: Mapping[str, Any], epsilon: Fraction) -> dict[str, Any]:
    if record["margin"] is not None:
        return {**record, "margin": 2 * record["margin"]}
    return {**record, "epsilon": max(epsilon / 2, SMALLEST)}
