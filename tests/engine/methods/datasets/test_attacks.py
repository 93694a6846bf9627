"""Attacks by somebody who knows the rule, against slow forms of the same and tables by hand."""

import numpy as np
import pandas as pd
import pytest

from engine.methods.datasets.ascending import make_ascending_groups
from engine.methods.datasets.attacks import given_away, refinement
from engine.methods.datasets.conditions import Condition, distinct
from engine.methods.datasets.full_domain import Lattice, search
from engine.methods.datasets.grouping import Grouping
from engine.methods.datasets.recoding import Ladder, Members
from engine.risk.encoding import encode_column
from engine.table.hierarchies import Hierarchy
from engine.table.schema import Column, Kind, Role
from tests.engine.methods.datasets.test_conditions import illnesses
from tests.engine.methods.datasets.test_recoding import FORMS, drawn, prepared

ILL = Column("ill", Role.SENSITIVE, Kind.CATEGORY)


def grouped(seed):
    table, person = drawn(seed)
    codes, members, ladders, number = prepared(table, person)
    grouping = Grouping(pd.DataFrame(), (), (), tuple(ladders), codes, number, members)
    return table, grouping, make_ascending_groups(codes, members, ladders, k=2)


def slowly(table, ladders, number, found, ill):
    """Somebody reads the released rows one after the other."""
    rows = list(zip(*table, strict=True))
    released, loss = [], []
    for place, row in enumerate(rows):
        steps = tuple(found.steps[:, found.group[number[place]]].tolist())
        reads = tuple(form.at([v], s)[0] for form, v, s in zip(FORMS, row, steps, strict=True))
        released.append((steps, reads))
        loss.append(
            sum(
                ladder.losses[s, ladder.place([v])[0]]
                for ladder, v, s in zip(ladders, row, steps, strict=True)
            )
        )
    right = known = 0
    fit, left = [], []
    for place, row in enumerate(rows):
        fits = [
            other
            for other, (steps, reads) in enumerate(released)
            if tuple(form.at([v], s)[0] for form, v, s in zip(FORMS, row, steps, strict=True)) == reads
        ]
        first = min(fits, key=lambda other: loss[other])
        ties = {released[other] for other in fits if abs(loss[other] - loss[first]) < 1e-12}
        guess = released[place] if released[place] in ties and len(ties) == 1 else released[first]
        best = [other for other in fits if released[other] == guess]
        is_right = guess == released[place]
        right += is_right
        known += is_right and len({ill[o] for o in best}) == 1 and len({ill[o] for o in fits}) > 1
        fit.append(len(fits))
        left.append(len(best))
        if len(ties) > 1:
            return None
    return right / len(rows), np.mean(fit), np.mean(left), known / len(rows)


@pytest.mark.parametrize("seed", range(40))
def test_refinement_is_what_a_reader_of_the_rows_finds(seed):
    table, grouping, found = grouped(seed)
    if found is None:
        return
    ill = illnesses(seed, len(grouping.number))
    expected = slowly(table, grouping.ladders, grouping.number, found, ill)
    if expected is None:  # two groups lose alike and both fit somebody: either may be guessed
        return
    got = refinement(grouping, found.group, found.steps, [encode_column(pd.Series(ill), ILL)])
    assert (got.right, got.fit, got.left, got.known) == pytest.approx(expected)


def test_a_coarse_group_beside_a_fine_one():
    """Four of 31 to 39 and two of all ages, one of them 35, who is looked for in the wrong group."""
    ladder = Ladder.of(["31", "35", "39", "62"], Hierarchy(bands=(10,)))
    number = np.array([0, 0, 2, 2, 1, 3])
    grouping = Grouping(
        pd.DataFrame(), (), (), (ladder,), np.arange(4)[:, None], number, Members(number, np.arange(6))
    )
    ill = encode_column(pd.Series(["a", "a", "a", "a", "b", "b"]), ILL)
    got = refinement(grouping, np.array([0, 1, 0, 1]), np.array([[1, 2]]), [ill])
    # five of six fit the fine group and the coarse one, six rows; who is 62 fits the coarse one alone
    assert got.right == pytest.approx(5 / 6) and got.fit == pytest.approx((5 * 6 + 2) / 6)
    assert got.left == pytest.approx((5 * 4 + 2) / 6)
    assert got.known == pytest.approx(4 / 6)  # all in the fine group have a, the coarse one has b


def test_who_was_merged_for_what_they_have_is_given_away():
    """Five in each town; all of the second have x: the towns read alike, and the rule says why."""
    town = Ladder.of(["a", "b"], Hierarchy(tree={"a": ("ab",), "b": ("ab",)}))
    number = np.repeat([0, 1], 5)
    ill = encode_column(pd.Series(["x", "y", "x", "y", "x", *["x"] * 5]), ILL)
    asked = [Condition.of(number, ill, [distinct(2)])]
    members = Members(number, np.arange(10))
    lattice = Lattice(np.array([[0], [1]]), members, [town], k=2, conditions=asked)
    assert search(lattice).steps == (1,) and given_away(lattice, (1,)) == 5
    # where size alone forbids the finer table, nothing is given away
    lattice = Lattice(np.array([[0], [1]]), members, [town], k=6, conditions=asked)
    assert search(lattice).steps == (1,) and given_away(lattice, (1,)) == 0
