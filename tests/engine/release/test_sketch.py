"""Ways tried on invented people before one is chosen: from declarations alone, like compared with like."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from engine.methods.catalogue import method, methods
from engine.methods.kinds import Held, Shape
from engine.release.sketch import PEOPLE, fill_plan, sketch
from engine.table.schema import Column, Kind, Role, Schema

STAYS = Schema(
    (
        Column("number", Role.PERSON_KEY, Kind.INTEGER),
        Column("sex", Role.IDENTIFYING, Kind.CATEGORY),
        Column("ward", Role.PLACE, Kind.CATEGORY),
        Column("days", Role.OTHER, Kind.INTEGER),
        Column("weight", Role.OTHER, Kind.NUMBER),
        Column("born", Role.IDENTIFYING, Kind.DATE),
    )
)
ASK_FOR_MORE = 3
"""Ways of a thing that ask for more than columns, such as steps or a level of rarity."""


def test_most_ways_can_be_tried_on_columns_of_which_nothing_was_declared() -> None:
    found = {one.id: sketch(one, STAYS) for one in methods()}
    for held in set(Held) - {Held.SURVEY}:
        # a log of events has columns of its own
        of_one_table = [one for one in methods() if all(way.shape is not Shape.EVENTS for way in one.sources)]
        ways = [one for one in of_one_table if one.in_hands() is held]
        tried = [found[one.id] for one in ways if found[one.id] is not None]
        assert len(ways) - len(tried) <= ASK_FOR_MORE, (
            held,
            [one.id for one in ways if found[one.id] is None],
        )
        assert tried, held
        for one in tried:
            assert 0 < one.seconds < 60
            assert one.off is None or (one.of and 0 <= one.off <= PEOPLE), (held, one)


@pytest.mark.parametrize("name", ["datasets.marginals", "models.tree", "statistics.counts"])
def test_a_larger_level_is_less_wrong(name: str) -> None:
    """What is told of a way is not a constant: with next to no level it says next to nothing."""

    def off(epsilon: Fraction) -> float:
        found = [sketch(method(name), STAYS, epsilon=epsilon) for _ in range(5)]
        figures = [one.off for one in found if one is not None and one.off is not None]
        assert len(figures) == 5
        return sum(figures) / 5

    assert off(Fraction(20)) < 0.8 * off(Fraction(1, 50))


def test_no_column_that_names_people_is_tried() -> None:
    for one in methods():
        plan = fill_plan(one, STAYS, Fraction(1))
        if plan is not None:
            assert "number" not in plan.schema, one.id
            assert plan.budget is None or plan.budget.epsilon == 1


def test_a_table_without_columns_is_no_error() -> None:
    empty = replace(STAYS, columns=())
    found: list[Any] = [sketch(one, empty) for one in methods()]
    assert found == [None] * len(found)
