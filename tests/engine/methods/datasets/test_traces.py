"""Invented histories: the chain behind them by hand, and how near what is drawn comes to it."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from engine import texts
from engine.methods.catalogue import method
from engine.methods.datasets.traces import Chain, choose, draw, shrink_to_mean, tilt_chances
from engine.methods.protocol import MAIN, Budget, Context
from engine.methods.shared.histories import DAY, HOUR, project_table
from engine.privacy.events import Neighbours
from engine.privacy.noise import Noise
from engine.table.schema import Column, Domain, Kind, Origin, Role, Schema
from engine.table.table import Table
from tests.noise_source import seeded_noise

WARDS = tuple("ABCDEFGH")
ENDS = Domain("2026-01-05T00:00", "2026-12-31T23:59")


def schema(cap: int = 3, wards: tuple[str, ...] = WARDS) -> Schema:
    declared = {"domain_origin": Origin.DECLARED}
    return Schema(
        (
            Column("who", Role.PERSON_KEY),
            Column("ward", Role.PLACE, Kind.CATEGORY, Domain(values=wards), **declared),
            Column("at", Role.TIME, Kind.MOMENT, ENDS, **declared),
        ),
        rows_per_person=cap,
    )


def rows(people: int, seed: int) -> pd.DataFrame:
    """Return histories of a chain in which every place goes to the next one or the one after, or ends."""
    chance = np.random.default_rng(seed)
    found = []
    for person in range(people):
        place, now = int(chance.integers(0, 3)), int(chance.integers(0, 300 * DAY))
        while True:
            at = np.datetime64("2026-01-05T00:00") + np.timedelta64(now, "m")
            found.append((str(person), WARDS[place], str(at)))
            if chance.random() < 0.35:
                break
            place = (place + 1 + int(chance.random() < 0.2)) % 8
            now += HOUR * int(chance.integers(2, 60))
    return pd.DataFrame(found, columns=["who", "ward", "at"], dtype="str")


def design(
    *,
    about: int = 4000,
    epsilon: Fraction = Fraction(1),
    cap: int = 3,
    delta: Fraction = Fraction(0),
    wards: tuple[str, ...] = WARDS,
    **further: object,
):
    traces = method("datasets.traces")
    given = {"place": "ward", "moment": "at", "about_people": about} | further
    return traces(traces.make_request({MAIN: schema(cap, wards)}, given, budget=Budget(epsilon, delta)))


def moves_of(frame: pd.DataFrame) -> np.ndarray:
    place = frame["ward"].map({ward: at for at, ward in enumerate(WARDS)}).fillna(8).astype(int).to_numpy()
    following = np.append(place[1:], 9)
    following[np.append(frame["who"].to_numpy()[1:] != frame["who"].to_numpy()[:-1], True)] = 9
    counts = np.bincount(place * 10 + following, minlength=90).astype(float)
    return counts / counts.sum()


@pytest.mark.parametrize(("epsilon", "most"), [(Fraction(1), 0.09), (Fraction(50), 0.06)])
def test_invented_moves_and_lengths_are_near_those_of_the_log(
    tmp_path: Path, epsilon: Fraction, most: float
) -> None:
    log = rows(4000, 1)
    made = design(epsilon=epsilon).run({}, Context(seeded_noise(5), None, tmp_path, whole={MAIN: Table(log)}))
    invented = made.artefacts[0].frame
    assert np.abs(moves_of(log) - moves_of(invented)).sum() / 2 < most
    lengths = [np.bincount(one.groupby("who").size(), minlength=60)[:60] for one in (log, invented)]
    shares = [one / one.sum() for one in lengths]
    assert np.abs(shares[0] - shares[1]).sum() / 2 < 0.06
    assert invented["at"].between("2026-01-05T00:00", "2026-12-31T23:59").all()
    at = invented.groupby("who")["at"]
    assert all(one.is_monotonic_increasing for _, one in list(at)[:200])


def test_too_small_a_log_is_refused_before_anything_is_spent() -> None:
    assert design(about=4000).problems == []
    (problem,) = design(about=150, epsilon=Fraction(1, 4)).problems
    assert problem.code == "datasets.traces.too_few"
    assert texts.sentences(problem.code, problem.values)
    shares = [design(about=about).judged(None).share for about in (1000, 4000, 40_000)]
    assert shares == sorted(shares) and shares[0] < shares[-1]


def test_every_problem_has_its_sentences() -> None:
    traces = method("datasets.traces")
    given = {"place": "ward", "moment": "at", "about_people": 4000}
    bare = Schema(tuple(one for one in schema().columns if one.name != "who"))
    no_ends = schema().with_column(Column("at", Role.TIME, Kind.MOMENT, Domain(), Origin.DECLARED))
    asked = [
        (bare, {}, "no_person_key"),
        (no_ends, {}, "no_bounds"),
        (schema(), {"stays": ["2026-01-05", "2026-01-06"]}, "not_hours"),
    ]
    for one, further, code in asked:
        found = traces(traces.make_request({MAIN: one}, given | further, budget=Budget(Fraction(1)))).problems
        assert f"datasets.traces.{code}" in [problem.code for problem in found]
        assert all(texts.sentences(problem.code, problem.values) for problem in found)


def test_the_nearest_table_without_negatives_is_nearest() -> None:
    chance = np.random.default_rng(2)
    for _ in range(20):
        table = chance.normal(1, 3, (3, 4))
        found = project_table(table)
        assert found.min() >= 0 and found.sum() == pytest.approx(max(table.sum(), 1))
        for _ in range(50):
            other = chance.dirichlet(np.ones(12)).reshape(3, 4) * found.sum()
            assert ((found - table) ** 2).sum() <= ((other - table) ** 2).sum() + 1e-9


def test_ends_are_tilted_to_what_is_wanted() -> None:
    leaving, counts = np.array([0.5, 0.1, 0.9]), np.array([10.0, 80.0, 0.0])
    for wanted in (0.01, 0.3, 0.95):
        assert counts @ tilt_chances(leaving, counts, wanted) == pytest.approx(90 * wanted)
    assert (tilt_chances(leaving, counts, 1.0) == 1).all()


def test_rows_without_people_are_drawn_towards_all() -> None:
    found = shrink_to_mean(np.array([[900.0, 100.0], [1.0, -2.0]]), 20.0)
    assert found[0, 0] == pytest.approx(0.9, abs=0.01) and found[1, 0] == pytest.approx(0.9, abs=0.05)
    assert found.sum(axis=1) == pytest.approx([1, 1])


def test_choices_have_their_chances() -> None:
    lots = (np.arange(1000) + 0.5) / 1000
    assert np.bincount(choose(np.tile([0.2, 0.0, 0.8], (1000, 1)), lots)).tolist() == [200, 0, 800]


def test_tables_of_noise_alone_give_histories_too() -> None:
    chance = np.random.default_rng(1)
    shapes = {"lengths": (5,), "starts": (3, 2), "hours": (3, 24), "moves": (3, 4), "stays": (3, 3)}
    for shift in (-1000, 0):
        noise = {name: chance.integers(-50, 50, shape) + shift for name, shape in shapes.items()}
        chain = Chain.of(noise, lambda name: 50.0)
        found = draw(chain, 30, Noise(), edges=np.array([60]), bounds=(0, 14 * DAY), slot=7 * DAY)
        assert len(set(found[0].tolist())) == 30 and np.bincount(found[0]).max() <= 5
        assert (found[3] >= found[2]).all() and found[2].min() >= 0 and found[3].max() < 14 * DAY


# --- whole orders --------------------------------------------------------------------------------------


def usual(people: int, seed: int) -> pd.DataFrame:
    """Return histories of which most come back to where they began, which no chain of last places knows."""
    chance, found = np.random.default_rng(seed), []
    ways = ("ABA", "CBC", "DEFD", "AB", "GHG")
    for person in range(people):
        way = ways[int(chance.choice(5, p=[0.35, 0.25, 0.2, 0.1, 0.1]))]
        now = int(chance.integers(0, 300 * DAY))
        for ward in way:
            at = np.datetime64("2026-01-05T00:00") + np.timedelta64(now, "m")
            found.append((str(person), ward, str(at)))
            now += HOUR * int(chance.integers(2, 60))
    return pd.DataFrame(found, columns=["who", "ward", "at"], dtype="str")


def orders_of(frame: pd.DataFrame) -> pd.Series:
    orders = frame.groupby("who", sort=False)["ward"].agg("".join)
    return orders.value_counts() / len(orders)


@pytest.mark.parametrize("delta", [Fraction(0), Fraction(1, 10**6)])
def test_usual_whole_orders_are_kept(tmp_path: Path, delta: Fraction) -> None:
    """The five orders come as often as they are; the chain alone mixes them."""
    log, found = usual(6000, 2), {}
    for whole in (0, 4):
        own = design(about=6000, delta=delta if whole else Fraction(0), whole=whole)
        assert own.problems == [] and (own.orders is not None) == bool(whole)
        release = own.run({}, Context(seeded_noise(5), None, tmp_path, whole={MAIN: Table(log)}))
        assert release.promise == own.cost and own.cost.kind == (
            "approximate_dp" if own.by_delta else "pure_dp"
        )
        invented = release.artefacts[0].frame
        found[whole] = orders_of(invented)
        assert abs(invented["who"].nunique() - 6000) < 400
        assert np.abs(moves_of(log) - moves_of(invented)).sum() / 2 < 0.1
        at = invented.groupby("who")["at"]
        assert all(one.is_monotonic_increasing for _, one in list(at)[:200])
    true = orders_of(log)
    off = {whole: true.sub(one.reindex(true.index, fill_value=0)).abs().sum() for whole, one in found.items()}
    assert off[4] < 0.1 < 0.3 < off[0]


def test_whole_orders_are_counted_where_people_are_many_and_cost_no_more_than_the_budget() -> None:
    for one in (design(about=6000), design(about=6000, delta=Fraction(1, 10**6)), design(about=500)):
        spent = sum(float(own.event.sensitivity / own.event.scale) for own in one.mechanisms.values())
        spent += 0.0 if one.orders is None else float(one.orders.event.sensitivity / one.orders.scale)
        assert spent == pytest.approx(1)
        assert len(one.forecast.errors) == len(one.mechanisms) + (one.orders is not None)
    assert design(about=500).orders is None and design(about=500).asks_once
    assert design(about=6000, whole=0).orders is None
    for further in ({"about": 500, "epsilon": Fraction(4)}, {"about": 6000, "whole": 0}):
        found = design(delta=Fraction(1, 10**6), **further).problems  # nothing would be spent of it
        assert [one.code for one in found] == ["budget.delta_unused"]
    assert design(about=6000).cost.kind == "pure_dp" and not design(about=6000).asks_once
    by_delta = design(about=6000, delta=Fraction(1, 10**6))
    assert by_delta.unforeseen.event.failure <= Fraction(1, 10**6)
    for one in (design(about=6000), by_delta):  # who is in a foreseen order is in no other
        paid = [leaf.stated() for leaf in one.cost.loss.events.together(Neighbours.ADD_REMOVE)]
        assert sum(pair[0] for pair in paid) == 1
        assert sum(pair[1] for pair in paid) <= one.request.budget.delta


def test_an_exchanged_person_can_be_in_two_orders_and_no_delta_is_spent() -> None:
    """One that is foreseen, and one that is not: both would have to be paid for."""
    traces, given = method("datasets.traces"), {"place": "ward", "moment": "at", "about_people": 60_000}
    for delta, codes in ((Fraction(0), []), (Fraction(1, 10**6), ["budget.delta_unused"])):
        budget = Budget(Fraction(1), delta, Neighbours.REPLACE_ONE)
        own = traces(traces.make_request({MAIN: schema()}, given, budget=budget))
        assert [one.code for one in own.problems] == codes
        assert own.orders.event.sensitivity == 2 and own.unforeseen is None


@pytest.mark.parametrize(
    ("about", "places", "cap", "epsilon", "counted"),
    [
        (20_000, 40, 4, Fraction(1, 2), False),  # moves would be off by .20 in place of .17
        (20_000, 40, 4, Fraction(1), True),
        (26_147, 20, 3, Fraction(1, 2), False),
        (26_147, 20, 3, Fraction(1), True),
        (6_000, 8, 3, Fraction(1, 2), False),
        (6_000, 8, 3, Fraction(1), True),  # few people for a threshold, but few moves
        (60_000, 15, 4, Fraction(1, 4), True),
    ],
)
def test_whole_orders_are_counted_where_moves_can_spare_a_fifth(
    about: int, places: int, cap: int, epsilon: Fraction, counted: bool
) -> None:
    """By the plan alone: people, places, cap and budget; those of the logs of `tests/published/traces.md`."""
    wards = tuple(f"W{place:02d}" for place in range(places))
    given = {"about": about, "wards": wards, "cap": cap, "epsilon": epsilon, "whole": 6}
    own = design(delta=Fraction(1, 10**6), **given)
    assert (own.orders is not None) == counted
    codes = [] if counted else ["budget.delta_unused"]
    assert [one.code for one in own.problems] == codes
    if not counted:  # nothing is spent for them
        moves = design(delta=Fraction(0), **given).mechanisms["moves"]
        assert moves == design(**(given | {"whole": 0})).mechanisms["moves"]
