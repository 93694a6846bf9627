"""What is released of a register is not told by adding and subtracting tables, tried by brute force."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest

from engine.methods.shared.suppression.differencing import NotComparable, Told, exposed_cells
from engine.methods.shared.suppression.several import derived_cells

LABELS, THRESHOLD, TABLES = ("a", "b", "c"), 3, 5


def told(counts, *, threshold=THRESHOLD, off=0, hides=True, also=()):
    """Return a table of one column as it is published: small counts hidden, no totals."""
    frame = pd.DataFrame({"x": list(LABELS), "count": pd.array(counts, dtype="Int64")})
    hidden = [hides and 0 < count < threshold for count in counts]
    frame.loc[np.array(hidden) | np.isin(LABELS, also), "count"] = pd.NA
    return Told(frame, {"x": "(all)"}, 1.0, float(threshold), off)


def ask(tables, who, where, *, also=()):
    """Return what the last of the tables would give away beside the others, people of given cells in them."""
    who = np.array([who[-1], *who[:-1]])
    groups, places, sizes = np.unique(who.T, axis=0, return_inverse=True, return_counts=True)
    places = places.reshape(-1)

    def groups_in(cell):
        ((_, label),) = cell
        here = np.zeros(len(groups), dtype=bool)
        here[places[who[0] & (where == LABELS.index(label))]] = True
        return here

    return derived_cells([tables[-1], *tables[:-1]], groups, sizes, groups_in)


def counted(who, where):
    return [int((who & (where == place)).sum()) for place in range(len(LABELS))]


def combined(vectors):
    """Yield coefficients of -1, 0 and 1 of up to four of the tables, and their sum."""
    for many in range(1, 5):
        for chosen in combinations(range(len(vectors)), many):
            for signs in product((-1, 1), repeat=many):
                yield chosen, sum(sign * vectors[place] for sign, place in zip(signs, chosen, strict=True))


def is_in_span(vectors, wanted):
    return bool(vectors) and np.linalg.matrix_rank(np.array([*vectors, wanted])) == np.linalg.matrix_rank(
        np.array(vectors)
    )


def given_away(tables, who, where):
    """Return the cells that the last table gives away by three and more, at worst by hand.

    Of people outside the last table nobody knows the cell, so that they count wherever they are.
    """
    found = set()
    for place, label in enumerate(LABELS):
        numbers = [one.lines[frozenset({("x", label)})] for one in tables]
        matters = ~who[-1] | (where == place)
        for one, number in zip(who, numbers, strict=True):
            matters &= ~one if number == 0 else True
        vectors = [(one & matters).astype(int) for one in who]
        printed = [number for number, value in enumerate(numbers) if value is not None]
        here = [vectors[number] for number in printed]
        pairs = [w for chosen, w in combined(here) if len(chosen) <= 2]
        older = [vectors[number] for number in printed if number != len(who) - 1]
        hidden = [vectors[number] for number in range(len(who)) if number not in printed]
        for chosen, total in combined(here):
            is_new = len(who) - 1 in {printed[number] for number in chosen}
            if len(chosen) > 1 and any((total == one).all() and one.any() for one in hidden):
                is_last = (total == vectors[-1]).all() and len(who) - 1 not in printed
                if (is_last or (is_new and not is_in_span(older, total))) and not any(
                    (total == one).all() for one in here
                ):
                    found.add(label)
            is_union = len(chosen) > 2 and is_new and set(np.unique(total)) <= {0, 1}
            count = int((total * (where == place)).sum())
            is_old = is_in_span(older, total) or any((total == one).all() for one in pairs)
            if is_union and 0 < count < THRESHOLD and not is_old:
                found.add(label)
    return found


def chains(seed):
    """Return people's months and cells, and tables: months, unions, overlaps, in any order."""
    chance = np.random.default_rng(seed)
    months = chance.integers(2, 5)
    people = int(chance.integers(20, 80))
    comes = chance.random((months, people)) < chance.choice([0.1, 0.3])
    comes[chance.integers(0, months, people), np.arange(people)] = True
    where = chance.choice(len(LABELS), people, p=[0.5, 0.3, 0.2])
    who = []
    for _ in range(TABLES):
        chosen = chance.random(months) < 0.5
        chosen[chance.integers(months)] = True
        one = comes[chosen].any(axis=0)
        if chance.random() < 0.3:
            one = one & (chance.random(people) < 0.95)
        who.append(one)
    return who, where


def is_refused_beside(new, old, who, before, where):
    """Say whether a table is refused beside one other, of which it is known who is in both."""

    def strangers(cell):
        ((_, label),) = cell
        return int((who & ~before & (where == LABELS.index(label))).sum())

    try:
        return bool(exposed_cells(new, old, strangers))
    except NotComparable:
        return True


def release(who, where, *, compares):
    """Release one table after the other, those that are not refused; count what was given away and kept."""
    kept, tables, wrong = [], [], 0
    for one in who:
        new = told(counted(one, where))
        pairs = zip(tables, kept, strict=True)
        if any(is_refused_beside(new, old, one, before, where) for old, before in pairs):
            continue
        if compares and ask([*tables, new], [*kept, one], where):
            continue
        kept, tables = [*kept, one], [*tables, new]
        wrong += len(given_away(tables, np.array(kept), where))
    return wrong, len(tables)


def test_nothing_that_is_released_follows_by_subtraction():
    """Beside what pairs say already: without this comparison much more is told, and few more are refused."""
    done = [release(*chains(seed), compares=True) for seed in range(80, 180)]
    bare = [release(*chains(seed), compares=False) for seed in range(80, 180)]
    assert sum(wrong for wrong, _ in bare) > 10
    assert sum(wrong for wrong, _ in done) == 0
    assert sum(kept for _, kept in done) > 0.9 * sum(kept for _, kept in bare)


def test_twelve_months_are_released_and_the_year_gives_away_what_one_alone_hides():
    chance = np.random.default_rng(1)
    when, where = np.repeat(np.arange(12), 60), chance.choice(3, 720)
    where[when == 4] = chance.choice(2, 60)
    where[np.flatnonzero(when == 4)[0]] = 2
    who = [when == month for month in range(12)]
    tables = [told(counted(one, where)) for one in who]
    for last in range(3, 13):
        assert ask(tables[:last], who[:last], where) == []
    year = np.ones(720, dtype=bool)
    assert ask([*tables, told(counted(year, where))], [*who, year], where) == ["c"]
    where[np.flatnonzero(when == 7)] = 0
    where[np.flatnonzero(when == 7)[:2]] = 2  # two months hide it: the year says their sum alone
    tables[7] = told(counted(who[7], where))
    where_small = told(counted(year, where))
    assert ask([*tables, where_small], [*who, year], where) == []
    halves = when < 6
    assert ask([*tables, told(counted(halves, where))], [*who, halves], where) == ["c"]


def test_halves_of_sums_are_found_that_no_subtraction_gives():
    """A + B - C counts everybody of one month twice: half of it is the hidden count."""
    when, where = np.repeat(np.arange(3), 30), np.tile([0, 1, 2], 30)
    where[when == 0] = np.arange(30) % 2
    where[0] = 2
    who = [when == 0, when < 2, when != 1, when > 0]
    assert ask([told(counted(one, where)) for one in who], who, where) == ["c"]


@pytest.mark.parametrize("threshold", [0, THRESHOLD])
def test_sums_are_given_away_alike(threshold):
    when, where = np.repeat(np.arange(3), 30), np.tile([0, 1, 2], 30)
    who = [when == 0, when == 1, when == 2, when >= 0]
    sums = [told([100, 200, 300], threshold=threshold, also=("b",) if at == 1 else ()) for at in range(3)]
    sums.append(told([300, 600, 900], threshold=threshold))
    assert ask(sums, who, where) == ["b"]


def test_the_noise_of_rounded_numbers_adds_up():
    when, where = np.repeat(np.arange(3), 30), np.tile([0, 1, 2], 30)
    where[(when == 1)] = np.arange(30) % 2
    where[30] = 2
    who = [when == 0, when == 1, when == 2, when >= 0]
    counts = [counted(one, where) for one in who]
    far = [told(counts[0], threshold=0, off=10), told(counts[1]), told(counts[2]), told(counts[3])]
    assert ask(far, who, where) == []  # the hidden one can still be many
    near = [told(counts[0], threshold=0, off=2), *far[1:]]
    assert "c" in ask(near, who, where)


def test_few_who_came_back_do_not_hide_what_follows():
    """The year was released before the month that hides: of who is elsewhere nobody knows the cell.

    In the two other cells the months count one person more than the year: who came twice.
    """
    when, where = np.repeat(np.arange(3), 60), np.tile([0, 1, 2], 60)
    where[when == 1] = np.arange(60) % 2
    where[60] = 2
    who = [when == 0, when >= 0, when == 2, when == 1]
    who[2] = who[2].copy()
    who[2][[0, 1]] = True
    assert ask([told(counted(one, where)) for one in who], who, where) == ["a", "b", "c"]
