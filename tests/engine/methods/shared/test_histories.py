"""How far one whole history moves every table, by brute force; presence and orders counted again by hand."""

from __future__ import annotations

import tracemalloc
from collections import Counter
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from engine.methods.shared import histories
from engine.methods.shared.cells import Extra, LevelAxis
from engine.methods.shared.histories import (
    DAY,
    GRID,
    HOUR,
    Histories,
    Weighing,
    bounds_of,
    cap_that_suits,
    invented_cells,
    part_of_time,
    project_table,
    sequence_of,
    sequences,
    threshold_for,
)
from engine.table.schema import Column, Domain, Kind, Origin, Role
from tests.noise_source import seeded_noise

WARDS = ("A", "B", "C")
KEY = Column("who", role=Role.PERSON_KEY)
WARD = Column("ward", kind=Kind.CATEGORY, domain=Domain(values=WARDS), domain_origin=Origin.DECLARED)
DAYS = Domain("2026-01-05T00:00", "2026-01-18T23:59")
AT = Column("at", kind=Kind.MOMENT, domain=DAYS, domain_origin=Origin.DECLARED)
LEFT = Column("left", kind=Kind.MOMENT, domain=DAYS, domain_origin=Origin.DECLARED)
AXIS = LevelAxis(WARD, Extra.TOGETHER)
EDGES = np.array([6 * HOUR, DAY])
LOW, HIGH = bounds_of(AT)


def log(people: int, *, seed: int, name: str = "p", most: int = 40) -> pd.DataFrame:
    """Return histories at random: doubles, unknown wards, moments out of the bounds, ends before starts."""
    chance = np.random.default_rng(seed)
    rows = []
    for person in range(people):
        for _ in range(int(chance.integers(1, most))):
            start = LOW + int(chance.integers(-DAY, HIGH - LOW + DAY))
            end = start + int(chance.integers(-HOUR, 4 * DAY))
            ward = str(chance.choice([*WARDS, "X", ""]))
            cells = [str(np.datetime64(one, "m")) for one in (start, end)]
            rows.append((f"{name}{person}", ward, *cells))
            rows += rows[-1:] * int(chance.random() < 0.1)
    return pd.DataFrame(rows, columns=["who", "ward", "at", "left"], dtype="str")


def tables(
    frame: pd.DataFrame, weighing: Weighing, *, left: Column | None = LEFT, gap: int | None = None
) -> dict[str, np.ndarray]:
    own = Histories.of(frame, KEY, AXIS, AT, left)
    own = own if gap is None else own.merged(gap)
    slots = {"low": LOW, "slot": 6 * HOUR, "slots": 56, "weighing": weighing}
    return {
        "lengths": own.length_counts(20),
        "moves": own.moves(4, weighing),
        "stays": own.stays(4, EDGES, weighing),
        "arrivals": own.arrivals(4, part_of_time(own.start, weekly=True), 7, weighing),
        "several": own.present(4, **slots, is_one=False),
        "one": own.present(4, **slots, is_one=True),
        "whole": own.whole(4, 3),
    }


@pytest.mark.parametrize("top", ["cap", "one"])
@pytest.mark.parametrize("left", [LEFT, None])
@pytest.mark.parametrize("gap", [None, 12 * HOUR])
def test_one_history_moves_no_table_by_more_than_is_paid_for(
    top: str, left: Column | None, gap: int | None
) -> None:
    others = log(6, seed=1)
    for seed in range(12):
        cap = 1 + seed % 7
        weighing = Weighing(cap, cap if top == "cap" else 1)
        one = log(1, seed=100 + seed, name="new", most=2 + 3 * seed)
        mixed = pd.concat([others, one]).sample(frac=1, random_state=seed).reset_index(drop=True)
        before, after = (
            tables(others, weighing, left=left, gap=gap),
            tables(mixed, weighing, left=left, gap=gap),
        )
        for name, exact in before.items():
            moved = np.abs(after[name] - exact).sum()
            most = 1 if name in ("lengths", "whole") else weighing.top * GRID
            assert moved <= most, name
            if name in ("several", "one"):
                squared = int(((after[name] - exact) ** 2).sum())
                assert squared * cap <= (weighing.top * GRID) ** 2


def test_weights_reach_what_is_paid_for_and_never_more() -> None:
    for cap in range(1, 61):
        lengths = np.arange(1, 2000)
        sums = lengths * Weighing(cap, cap).weights(lengths)
        assert sums.max() == cap * GRID and (sums[lengths >= cap] > 0.6 * cap * GRID).all()
        assert (lengths * Weighing(cap, 1).weights(lengths)).max() <= GRID


def test_tables_are_those_counted_by_hand() -> None:
    rows = [
        ("1", "A", "2026-01-05T01:00", "2026-01-05T03:00"),
        ("2", "C", "2026-01-06T10:00", ""),
        ("1", "B", "2026-01-05T03:00", "2026-01-07T03:00"),
        ("2", "X", "2026-01-06T12:00", ""),
        ("1", "A", "2026-01-07T03:00", "2026-01-07T04:00"),
        ("3", "A", "2027-01-07T03:00", "2027-01-07T04:00"),  # out of the bounds: no event
    ]
    frame = pd.DataFrame(rows, columns=["who", "ward", "at", "left"], dtype="str")
    own = Histories.of(frame, KEY, AXIS, AT, LEFT)
    plain = Weighing(5, 5)
    moves = own.moves(4, plain).reshape(4, 5) // GRID
    assert {pair: moves[pair] for pair in zip(*np.nonzero(moves), strict=True)} == {
        (0, 1): 1, (1, 0): 1, (0, 4): 1, (2, 3): 1, (3, 4): 1
    }  # fmt: skip
    stays = own.stays(4, EDGES, plain).reshape(4, 4) // GRID
    assert stays.tolist() == [[2, 0, 0, 0], [0, 0, 1, 0], [1, 0, 0, 0], [0, 0, 0, 1]]
    whole = own.whole(4, 3)
    found = {sequence_of(int(cell), 4): int(whole[cell]) for cell in np.flatnonzero(whole)}
    assert found == {(0, 1, 0): 1, (2, 3): 1}
    assert own.length_counts(20)[:4].tolist() == [0, 1, 1, 0]
    day = {"low": LOW, "slot": DAY, "slots": 14, "weighing": Weighing(14, 14)}
    several = own.present(4, **day, is_one=False).reshape(4, 14) // GRID
    assert several[:, :3].tolist() == [[1, 0, 1], [1, 1, 1], [0, 1, 0], [0, 1, 0]]
    one = own.present(4, **day, is_one=True).reshape(4, 14) // GRID
    assert one[:, :3].tolist() == [[0, 0, 1], [1, 1, 0], [0, 0, 0], [0, 1, 0]]


@pytest.mark.parametrize("named", [1, 7, 60])
def test_presence_is_the_same_however_many_slots_are_looked_at_together(
    monkeypatch: pytest.MonkeyPatch, named: int
) -> None:
    frame = log(20, seed=5)
    for cap in (1, 3, 60):
        whole = tables(frame, Weighing(cap, cap))
        with monkeypatch.context() as patch:
            patch.setattr(histories, "MOST_NAMED", named)
            parts = tables(frame, Weighing(cap, cap))
        assert all(np.array_equal(whole[name], parts[name]) for name in ("several", "one"))


@pytest.mark.parametrize("is_one", [True, False])
def test_many_long_stays_of_one_person_take_little_memory(is_one: bool) -> None:
    rows, slots = 3_000, 8_000
    zeros = np.zeros(rows, dtype=np.int64)
    own = Histories(zeros, zeros, zeros, zeros + slots * HOUR, zeros == 0)
    tracemalloc.start()
    try:
        found = own.present(2, low=0, slot=HOUR, slots=slots, weighing=Weighing(3, 3), is_one=is_one)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found.sum() <= 3 * GRID and peak < 2**27


def test_the_order_of_rows_changes_nothing() -> None:
    frame = log(20, seed=4)
    longer = frame.assign(left=frame["left"].sample(frac=1, random_state=2).to_numpy())
    frame = pd.concat([frame, longer])  # at one moment and place, with another end
    mixed = frame.sample(frac=1, random_state=1).reset_index(drop=True)
    before, after = (tables(one, Weighing(3, 3)) for one in (frame, mixed))
    assert all(np.array_equal(before[name], after[name]) for name in before)


def test_of_two_places_reached_on_one_day_the_one_left_first_comes_first() -> None:
    """In a log of days: else who goes from C to A on one day would be counted from A to C."""
    day = Column("at", kind=Kind.DATE, domain=Domain("2026-01-05", "2026-01-18"))
    gone = Column("left", kind=Kind.DATE, domain=day.domain)
    rows = [
        ("1", "A", "2026-01-05", "2026-01-08"),
        ("1", "C", "2026-01-05", "2026-01-05"),
        ("2", "B", "2026-01-06", ""),  # nobody knows when: it is the last of the day
        ("2", "C", "2026-01-06", "2026-01-06"),
    ]
    frame = pd.DataFrame(rows, columns=["who", "ward", "at", "left"], dtype="str")
    for one in (frame, frame[::-1].reset_index(drop=True)):
        own = Histories.of(one, KEY, AXIS, day, gone)
        orders = {tuple(own.place[own.person == who]) for who in set(own.person)}
        assert orders == {(2, 0), (2, 1)}


def test_every_sequence_has_a_cell_of_its_own() -> None:
    assert Counter(len(sequence_of(cell, 3)) for cell in range(sequences(3, 4))) == {1: 3, 2: 9, 3: 27, 4: 81}
    assert len({sequence_of(cell, 3) for cell in range(sequences(3, 4))}) == 120


@pytest.mark.parametrize("scale", [Fraction(1), Fraction(7, 2), Fraction(40)])
def test_below_one_sequence_is_invented_on_average(scale: Fraction) -> None:
    """By the chances of every integer, added up; one step lower there would be one or more."""
    alpha = np.exp(-1 / float(scale))
    for cells in (10, 1000, 100_000):
        found = threshold_for(cells, scale)
        steps = np.arange(found, found + int(60 * scale))
        exact = cells * float(((1 - alpha) / (1 + alpha) * alpha**steps).sum())
        assert invented_cells(cells, scale, found) == pytest.approx(exact) and exact <= 1
        assert found == 1 or invented_cells(cells, scale, found - 1) > 1


def walks(people: int, mean: float, *, seed: int) -> Histories:
    """Return histories on ten places; where long ones are depends on how long they have lasted."""
    chance = np.random.default_rng(seed)
    lengths = np.minimum(chance.geometric(1 / mean, people), 40)
    person = np.repeat(np.arange(people), lengths)
    nth = np.arange(len(person)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    place = (chance.geometric(0.4, len(person)) + nth // 3) % 10
    return Histories(person, place, nth, nth + 1, np.ones(len(person), dtype=bool))


@pytest.mark.parametrize(("people", "mean"), [(400, 3.0), (5000, 1.3), (20_000, 6.0)])
def test_the_cap_that_is_read_off_is_nearly_the_best(people: int, mean: float) -> None:
    """Moves beside those without noise, for every cap: the chosen one is not far from the best."""
    own = walks(people, mean, seed=people)
    scale, noise = 2.5, seeded_noise(people)
    exact = own.moves(10, Weighing(40, 40)) / GRID
    off = {}
    for cap in range(1, 31, 2):
        weighed = own.moves(10, Weighing(cap, 1)) / GRID * cap
        found = [
            project_table(weighed + cap * noise.discrete_laplace(Fraction(5, 2) * GRID, 110) / GRID)
            for _ in range(3)
        ]
        off[cap] = np.mean([np.abs(one / one.sum() - exact / exact.sum()).sum() / 2 for one in found])
    lengths = own.length_counts(40) + noise.discrete_laplace(Fraction(10), 40)
    chosen = min(cap_that_suits(lengths, 110 * scale), 30)
    near = min(off, key=lambda cap: abs(cap - chosen))
    best = min(off.values())
    assert off[near] <= 1.35 * best + 0.01


def test_events_at_one_place_are_joined_as_by_hand() -> None:
    """Doubles, a stay within another, a return within the gap and one beyond it; never over another place."""
    hours = {
        "p": [
            ("A", 0, 4),
            ("A", 0, 4),
            ("A", 1, 2),
            ("A", 6, 7),
            ("A", 10, 11),
            ("B", 11, 12),
            ("A", 12, 13),
        ],
        "q": [("A", 12, 20), ("B", 13, 14)],
    }
    rows = [
        (who, ward, *(str(np.datetime64(LOW + HOUR * one, "m")) for one in (start, end)))
        for who, events in hours.items()
        for ward, start, end in events
    ]
    frame = pd.DataFrame(rows, columns=["who", "ward", "at", "left"], dtype="str")
    found = Histories.of(frame, KEY, AXIS, AT, LEFT).merged(2 * HOUR)
    read = [
        (int(person), WARDS[place], (start - LOW) // HOUR, (end - LOW) // HOUR)
        for person, place, start, end in zip(found.person, found.place, found.start, found.end, strict=True)
    ]
    assert [one[1:] for one in read if one[0] == read[0][0]] == [
        ("A", 0, 7),
        ("A", 10, 11),
        ("B", 11, 12),
        ("A", 12, 13),
    ]
    assert [one[1:] for one in read if one[0] != read[0][0]] == [("A", 12, 20), ("B", 13, 14)]
    assert found.known.all()
    # where no column says the leaving, a stay lasts until the next arrival: all at one place are one
    alone = Histories.of(frame, KEY, AXIS, AT, None).merged(0)
    assert [WARDS[place] for place in alone.place[:3]] == ["A", "B", "A"] and not alone.known[2]
    nobody = Histories.of(frame.iloc[:0], KEY, AXIS, AT, LEFT).merged(0)
    assert len(nobody.person) == 0
