"""Whole orders of places: what is foreseen by brute force, what a person moves, what is taken out."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest

from engine.methods.datasets.whole_orders import LEAST_CHANCE, Foreseen, Orders
from engine.methods.shared.histories import GRID, Weighing, project_table, sequence_of, sequences

Tables = Mapping[str, np.ndarray]


def tables(places: int, seed: int, longest: int = 5) -> dict[str, np.ndarray]:
    """Return noisy tables: some counts are below zero."""
    chance = np.random.default_rng(seed)
    return {
        "starts": chance.integers(-3, 200, (places, 4)).astype(float),
        "moves": chance.integers(-300, 900, (places, places + 1)).astype(float),
        "lengths": chance.integers(-5, 400, longest).astype(float),
    }


def foreseen_by_hand(own: Tables, longest: int) -> dict[tuple[int, ...], float]:
    """Return the chance of every order of a chain, brought to the shares of lengths."""
    moves, first = project_table(own["moves"]), project_table(own["starts"].sum(axis=1))
    lengths = project_table(own["lengths"])
    found: dict[tuple[int, ...], float] = {}
    for length in range(1, longest + 1):
        alike = {}
        for order in product(range(len(first)), repeat=length):
            chance = first[order[0]] / first.sum()
            for one, other in pairwise([*order, len(first)]):
                chance *= moves[one, other] / moves[one].sum()
            alike[order] = chance
        total = sum(alike.values())
        found |= {order: one / total * lengths[length - 1] / lengths.sum() for order, one in alike.items()}
    return found


@pytest.mark.parametrize("seed", range(4))
def test_orders_are_foreseen_as_a_chain_and_lengths_have_them(seed: int) -> None:
    """Each needs the count that noise alone reaches with its share of what is allowed."""
    own, scale, places, longest = tables(4, seed), Fraction(5), 4, 3
    found = Foreseen.of(own, longest, scale, invented=2.0)
    wanted = foreseen_by_hand(own, longest)
    orders = [sequence_of(int(cell), places) for cell in found.cells]
    assert {order for order, one in wanted.items() if one > 100 * LEAST_CHANCE} <= set(orders)
    assert all(wanted[order] > 0 for order in orders) and len(set(orders)) == len(orders)
    alpha, total = np.exp(-1 / float(scale)), sum(wanted[order] for order in orders)
    for order, threshold in zip(orders, found.thresholds.tolist(), strict=True):
        share = min(1.0, 2.0 * wanted[order] / total)
        assert alpha**threshold / (1 + alpha) <= share * 1.0001 or threshold == 1
        assert threshold == 1 or alpha ** (threshold - 1) / (1 + alpha) > share * 0.99


@pytest.mark.parametrize("invented", [1.0, 5.0])
def test_noise_alone_makes_no_more_orders_than_are_allowed(invented: float) -> None:
    """On average, and not far fewer: rounding up to whole counts alone takes some away."""
    for seed, scale in product(range(3), (Fraction(2), Fraction(20))):
        found = Foreseen.of(tables(12, seed, 7), 4, scale, invented=invented)
        alpha = np.exp(-1 / float(scale))
        made = float((alpha ** found.thresholds.astype(float) / (1 + alpha)).sum())
        assert 0.5 * invented < made <= invented
        assert len(found.cells) > 100 and (np.diff(found.cells) > 0).all()


def test_a_likely_order_needs_fewer_people() -> None:
    own = tables(6, 1)
    wanted, found = foreseen_by_hand(own, 3), Foreseen.of(own, 3, Fraction(5), invented=1.0)
    chances = [wanted[sequence_of(int(cell), 6)] for cell in found.cells]
    by_chance = found.thresholds[np.argsort(chances)]
    assert (np.diff(by_chance) <= 0).all() and by_chance[0] > by_chance[-1] + 10


def test_tables_of_nothing_but_noise_foresee_something_that_can_be_kept() -> None:
    for shift in (-1000.0, 0.0):
        own = {name: one + shift for name, one in tables(3, 2).items()}
        found = Foreseen.of(own, 4, Fraction(1, 50), invented=1.0)
        assert (found.thresholds >= 1).all() and (found.cells < sequences(3, 4)).all()
        assert [len(part) for part in found.kept(found.thresholds - 1)] == [0, 0]
    nothing = Foreseen(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
    assert not nothing.has(np.array([1, 2])).any() and not len(nothing.counts(np.array([1]), np.array([3])))


def test_a_person_is_counted_in_one_order_foreseen_or_not() -> None:
    """So that both tables together move by one where a person comes or goes."""
    chance, places, longest = np.random.default_rng(3), 5, 3
    found = Foreseen.of(tables(places, 3), longest, Fraction(3), invented=1.0)
    found = Foreseen(found.cells[::2], found.thresholds[::2])
    people = chance.integers(0, sequences(places, longest), 300)

    def counted(cells: np.ndarray) -> np.ndarray:
        there, counts = np.unique(cells, return_counts=True)
        others = np.zeros(sequences(places, longest), dtype=np.int64)
        others[there[~found.has(there)]] = counts[~found.has(there)]
        return np.concatenate([found.counts(there, counts), others])

    whole = counted(people)
    assert whole.sum() == len(people)
    for gone in range(0, 300, 7):
        assert np.abs(whole - counted(np.delete(people, gone))).sum() == 1


def test_orders_that_are_kept_are_taken_out_of_the_other_tables() -> None:
    """Of exact tables nothing is left but what the others do, whose weights are those of counts."""
    weighing, places = Weighing(2, 2), 3
    plans = np.array([[0, 1, -1], [0, 1, -1], [2, 0, 1]])
    kept, lengths = Orders(plans, places), np.array([2, 2, 3])
    moves = np.zeros((places, places + 1))
    for plan, weight in zip(plans.tolist(), weighing.weights(lengths).tolist(), strict=True):
        own = [*(one for one in plan if one >= 0), places]
        for one, other in pairwise(own):
            moves[one, other] += weight
    others = np.full((places, places + 1), 7.0 * GRID)
    tables = {
        "lengths": np.array([5.0, 2, 1, 0]),
        "starts": np.array([[4.0, 0], [3, 3], [1, 1]]),
        "moves": moves + others,
        "hours": np.ones((places, 24)),
    }
    left = kept.taken_out(tables, weighing)
    assert (left["moves"] == others).all() and left["lengths"].tolist() == [5, 0, 0, 0]
    assert left["starts"].tolist() == [[2, 0], [3, 3], [0.5, 0.5]] and left["hours"] is tables["hours"]
    assert Orders(plans[:0], places).taken_out(tables, weighing) == tables


def test_no_more_people_go_through_orders_than_are_invented() -> None:
    cells, counts = np.array([0, 3, 11]), np.array([100, 10**9, 300])
    for total, people in ((400, 400), (4000, 400), (-5, 1)):
        kept = Orders.of(cells, counts, 3, total=total, people=people)
        assert kept.people <= people
    kept = Orders.of(cells, np.array([100, 200, 300]), 3, total=1200, people=600)
    assert np.unique(kept.plans, axis=0, return_counts=True)[1].tolist() == [50, 100, 150]
    assert Orders.of(cells[:0], counts[:0], 3, total=10, people=10).people == 0
