"""What a quantile and a list of thresholds lose, exactly, on neighbours in every column and several rows."""

from fractions import Fraction

import numpy as np
import pytest

from engine.methods.catalogue import method
from engine.methods.protocol import MAIN, Budget
from engine.methods.services.asked import ID, QUANTILE, Query
from engine.privacy.promise import Neighbours
from tests.engine.methods.services.test_kinds import EVERY_ROW, SCHEMA, neighbours, numbers, terms
from tests.engine.methods.services.test_private_queries import opened_state
from tests.engine.methods.statistics.test_rank_choices import one_way
from tests.engine.privacy.test_sparse_vector import worst

LEVEL = Fraction(1)
LISTED = (
    {"where": "sex is f", "threshold": 9},
    {"where": "ward is not a and age >= 0", "threshold": 4},
    {"where": "sex is f and age >= 1", "threshold": 3},
)


def pairs(query_numbers, cap, *, replace_one):
    """Return the numbers on neighbouring tables, each pair once."""
    others = [(f"o{place}", *row) for place, row in enumerate(EVERY_ROW[::5])]
    base = tuple(query_numbers(others))
    reached = {tuple(query_numbers([*others, *(("new", *row) for row in rows)])) for rows in neighbours(cap)}
    reached.add(base)
    if not replace_one:
        return [(base, one) for one in sorted(reached)]
    every = sorted(reached)
    some = every[:: max(1, len(every) // 12)]
    return [(one, other) for one in some for other in every]


@pytest.mark.parametrize("replace_one", [False, True])
@pytest.mark.parametrize("by", [(), ("sex",)])
def test_a_quantile_loses_no_more_than_its_level(by, replace_one):
    """The chance of every value of every group, by the exact law of the choice."""
    query, at = (
        Query(SCHEMA, QUANTILE, value="age", quantile=Fraction(1, 4), by=by),
        terms(replace_one=replace_one),
    )
    (root,) = query.choice(LEVEL, at)
    assert query.event(LEVEL, at).epsilon() == LEVEL
    known = {}

    def loss(first, second):
        if (first, second) not in known:
            known[first, second] = one_way(root, np.array(first), np.array(second), 1)
        return known[first, second]

    found = []
    for pair in pairs(lambda rows: numbers(query, rows), at.rows, replace_one=replace_one):
        groups = [
            [tuple(one) for one in np.array(side, dtype=int).reshape(query.groups, -1)] for side in pair
        ]
        for first, second in (groups, groups[::-1]):
            found.append(sum(map(loss, first, second)))
    assert 0.5 < max(found) <= 1 + 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("replace_one", [False, True])
@pytest.mark.parametrize("of", ["rows", "people"])
def test_a_list_of_thresholds_loses_no_more_than_its_level(of, replace_one):
    """Over every answer that the list can give, from the counts that rows of a person move together."""
    relation = Neighbours.REPLACE_ONE if replace_one else Neighbours.ADD_REMOVE
    desk = method(ID)
    given = {"columns": ["sex", "ward", "age"]}
    opening = desk.make_request({MAIN: SCHEMA}, given, budget=Budget(Fraction(9), neighbours=relation))
    asked = {"listed": [{**one, "of": of} for one in LISTED], "level": LEVEL, "most": 2}
    made = desk.make_request({MAIN: SCHEMA}, asked, step="screen", state=opened_state(opening))
    (listed,) = desk(made).new
    event = desk(made).event(listed)
    assert event.epsilon() == LEVEL == desk(made).cost.loss.epsilon
    sizes = {"most": listed.most, "threshold": event.threshold, "each": event.each}
    at = desk(made).terms
    assert (at.rows, at.replace_one) == (2, replace_one)
    less = np.array([one.threshold for one in listed.queries])

    def counts(rows):
        return [int(numbers(one, rows)[0]) for one in listed.queries]

    cap = 6 if of == "people" else at.rows
    found = {
        worst(np.array(one) - less, np.array(other) - less, **sizes)
        for one, other in pairs(counts, cap, replace_one=replace_one)
    }
    assert 0.2 < max(found) <= 1 + 1e-9
