"""Invented tables that hang together: what one person moves, keys, and how near relations come."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from engine import texts
from engine.methods.catalogue import method
from engine.methods.datasets.linked import ABOUT, LATER
from engine.methods.datasets.marginal_model.rounds import count_cells, learn
from engine.methods.protocol import MAIN, Budget, Context
from engine.methods.shared.histories import GRID
from engine.privacy.accounting import total
from engine.table.schema import DETAILS, RECORDS, Column, Domain, Kind, Origin, Role, Schema
from engine.table.table import Table
from tests.noise_source import seeded_noise

WARDS, CODES = tuple("ABCDE"), tuple("uvwxyz")
DECLARED: Mapping[str, Any] = {"domain_origin": Origin.DECLARED}


def named(name: str, values: tuple[str, ...]) -> Column:
    return Column(name, Role.OTHER, Kind.CATEGORY, Domain(values=values), **DECLARED)


def schemas(caps: tuple[int, int, int] = (1, 2, 4)) -> dict[str, Schema]:
    key, stay = Column("who", Role.PERSON_KEY), Column("stay", Role.DIRECT_IDENTIFIER)
    day = Column("day", Role.TIME, Kind.DATE, Domain("2024-01-01", "2024-12-31"), **DECLARED)
    return {
        MAIN: Schema((key, named("sex", ("f", "m")), named("age", WARDS)), rows_per_person=caps[0]),
        RECORDS: Schema((key, stay, day, named("ward", WARDS)), rows_per_person=caps[1]),
        DETAILS: Schema((key, stay, named("code", CODES)), rows_per_person=caps[2]),
    }


GIVEN: Mapping[str, Any] = {
    "columns": ["sex", "age"],
    "about_people": 4000,
    "record_columns": ["day", "ward"],
    "about_records": 7000,
    "order": "day",
    "detail_columns": ["code"],
    "about_details": 14000,
    "record": "stay",
    "record_of": "stay",
    "bins": 6,
}


def design(
    epsilon: int = 1, *, caps: tuple[int, int, int] = (1, 2, 4), delta: Fraction | int = 0, **changes: Any
):
    linked = method("datasets.linked")
    given = {name: one for name, one in (GIVEN | changes).items() if one is not None}
    declared = schemas(caps)
    if not given.get("detail_columns"):
        declared.pop(DETAILS)
    return linked(linked.make_request(declared, given, budget=Budget(Fraction(epsilon), Fraction(delta))))


@cache
def register(people: int, seed: int) -> dict[str, pd.DataFrame]:
    """Return people whose first ward goes by age, whose next ward by the last, and codes by ward."""
    chance = np.random.default_rng(seed)
    sex, age = chance.integers(0, 2, people), chance.integers(0, 5, people)
    count = chance.poisson(0.8 + age / 4)
    rows, below = [], []
    for person in range(people):
        ward, day = age[person], int(chance.integers(0, 200))
        for _ in range(min(count[person], 9)):
            ward = (ward + int(chance.random() < 0.3)) % 5
            day = min(day + int(chance.integers(1, 20)), 364)
            rows.append((str(person), f"s{len(rows)}", str(np.datetime64("2024-01-01") + day), WARDS[ward]))
            for _ in range(int(chance.integers(1, 4))):
                below.append((str(person), rows[-1][1], CODES[(ward + int(chance.random() < 0.2)) % 6]))
            ward = (ward + 1) % 5
    everybody = {"who": map(str, range(people)), "sex": [*map("fm".__getitem__, sex)]}
    return {
        MAIN: pd.DataFrame(everybody | {"age": [WARDS[one] for one in age]}, dtype="str"),
        RECORDS: pd.DataFrame(rows, columns=["who", "stay", "day", "ward"], dtype="str"),
        DETAILS: pd.DataFrame(below, columns=["who", "stay", "code"], dtype="str"),
    }


def released(made, rows: Mapping[str, pd.DataFrame], folder: Path, seed: int = 5) -> dict[str, pd.DataFrame]:
    tables = {name: Table(frame) for name, frame in rows.items()}
    found = made.run(tables, Context(seeded_noise(seed), None, folder, whole=tables))
    return {one.name: one.frame for one in found.artefacts}


# --- what one person moves -----------------------------------------------------------------------------


def counts(made, rows: Mapping[str, pd.DataFrame]) -> dict[tuple[str, tuple[int, int]], np.ndarray]:
    """Return the exact tables of all pairs of columns of every model, by a sum of its own."""
    linked = made.read(rows)
    found = {}
    for name, part in made.parts.items():
        codes, weights = made.coded(name, linked)
        each = np.ones(codes.shape[1], dtype=np.int64) if weights is None else weights
        sizes = part.schedule.sizes
        for one in range(len(sizes)):
            for other in range(one, len(sizes)):
                table = np.zeros((sizes[one], sizes[other]), dtype=np.int64)
                np.add.at(table, (codes[one], codes[other]), each)
                found[name, (one, other)] = table
    return found


def history(chance: np.random.Generator, records: int) -> dict[str, pd.DataFrame]:
    """Return a person with so many records, some with numbers twice, and details that belong nowhere."""
    numbers = [f"s{chance.integers(0, max(1, records))}" for _ in range(records)]
    days = [str(np.datetime64("2024-01-01") + int(one)) for one in chance.integers(0, 364, records)]
    stays = {"who": "new", "stay": numbers, "day": days, "ward": chance.choice([*WARDS, "?"], records)}
    details = int(chance.integers(0, 4 * records + 1))
    owner = [f"s{one}" for one in chance.integers(0, records + 2, details)]
    below = {"who": "new", "stay": owner, "code": chance.choice([*CODES, ""], details)}
    return {
        MAIN: pd.DataFrame({"who": ["new"], "sex": ["f"], "age": ["C"]}, dtype="str"),
        RECORDS: pd.DataFrame(stays, dtype="str"),
        DETAILS: pd.DataFrame(below, dtype="str"),
    }


@pytest.mark.guarantee
@pytest.mark.parametrize("order", ["day", None])
def test_a_whole_history_moves_no_table_by_more_than_is_declared(order: str | None) -> None:
    """In L1, and in L2 squared, for random and for worst histories over all tables."""
    chance, before = np.random.default_rng(1), register(40, 2)
    made = design(order=order, epsilon=100)
    fixed = counts(made, before)
    for records in [0, 1, 2, 3, 8, 60, *chance.integers(0, 30, 10)]:
        person = history(chance, int(records))
        together = {
            name: pd.concat([frame, person[name]], ignore_index=True) for name, frame in before.items()
        }
        mixed = {name: frame.sample(frac=1, random_state=int(records)) for name, frame in together.items()}
        for (name, pair), table in counts(made, mixed).items():
            off = np.abs(table - fixed[name, pair])
            schedule = made.parts[name].schedule
            assert off.sum() <= schedule.moved, (name, records)
            assert (off**2).sum() <= schedule.squared


def test_the_most_that_a_history_moves_is_reached() -> None:
    """The declared step is no larger than it has to be: whoever has as many rows as the cap moves it."""
    made, nobody = design(), register(0, 1)
    person = history(np.random.default_rng(3), 12)
    person[DETAILS] = pd.DataFrame({"who": "new", "stay": person[RECORDS]["stay"], "code": "u"}, dtype="str")
    for name in (RECORDS, LATER, DETAILS):
        moved = [table.sum() for (part, _), table in counts(made, person).items() if part == name]
        assert max(moved) > 0.99 * made.parts[name].schedule.moved
        assert made.parts[name].schedule.moved == (1 if name == RECORDS else GRID)
    assert all(table.sum() == 0 for table in counts(made, nobody).values())


def test_the_order_of_records_is_counted_without_choosing_it() -> None:
    """It hangs on that of the record before: known, so that no choice is paid and chance cannot miss it."""
    later = design().parts[LATER].schedule
    assert later.firsts == ((2, 4),) and later.choices == later.pairs - 1
    assert design(record_columns=["ward"]).parts[LATER].schedule.firsts == ()


@pytest.mark.parametrize("delta", [0, Fraction(1, 10**6)])
def test_all_models_together_cost_no_more_than_the_budget(delta: Fraction | int) -> None:
    made = design(delta=delta)
    assert 0.9 < total([made.cost], delta=Fraction(delta)).epsilon <= 1  # it raises where less is claimed
    assert made.cost.kind == ("approximate_dp" if delta else "pure_dp")
    assert sum(part.schedule.share for part in made.parts.values()) == 1
    if not delta:
        spent = sum(
            part.schedule.moved
            * (sum(1 / one for one in part.schedule.single) + part.schedule.pairs / part.schedule.pair)
            + 2 * part.schedule.moved * part.schedule.rate * part.schedule.choices
            for part in made.parts.values()
        )
        assert 0.97 < spent <= 1


# --- what leaves ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("details", [True, False])
def test_every_row_has_a_parent_and_every_number_is_new(tmp_path: Path, details: bool) -> None:
    changes = (
        {} if details else {"detail_columns": None, "about_details": None, "record_of": None, "record": None}
    )
    rows = register(1500, 3)
    made = released(design(epsilon=8, **changes), rows, tmp_path)
    people, records = made[MAIN], made[RECORDS]
    assert people["who"].is_unique and set(records["who"]) <= set(people["who"])
    for _, days in records["day"].groupby(records["who"]):
        said = [day for day in days if day]
        assert said == sorted(said)
    if not details:
        assert list(made) == [MAIN, RECORDS] and list(records) == ["who", "day", "ward"]
        return
    below = made[DETAILS]
    whose = dict(zip(records["stay"], records["who"], strict=True))
    assert records["stay"].is_unique
    assert [whose[stay] for stay in below["stay"]] == list(below["who"])
    assert not set(records["stay"]) & set(rows[RECORDS]["stay"])


def relations(rows: Mapping[str, pd.DataFrame]) -> dict[str, pd.Series]:
    stays = rows[RECORDS].merge(rows[MAIN], on="who")
    stays = stays.sort_values(["who", "day"], kind="stable")
    stays["next"] = stays.groupby("who", sort=False)["ward"].shift(-1)
    below = rows[DETAILS].merge(stays, on=["who", "stay"])
    number = rows[RECORDS].groupby("who").size().reindex(rows[MAIN]["who"], fill_value=0).to_numpy()
    people = rows[MAIN].assign(number=number)
    firsts = stays.drop_duplicates("who")
    return {
        "age × number": people.groupby(["age", "number"]).size(),
        "age × first ward": firsts.groupby(["age", "ward"]).size(),
        "ward × next": stays.dropna(subset="next").groupby(["ward", "next"]).size(),
        "ward × code": below.groupby(["ward", "code"]).size(),
        "age × code": below.groupby(["age", "code"]).size(),
    }


def apart(one: pd.Series, other: pd.Series) -> float:
    both = pd.concat([one / one.sum(), other / other.sum()], axis=1).fillna(0.0)
    return float(both.diff(axis=1).iloc[:, 1].abs().sum() / 2)


@pytest.mark.parametrize(("epsilon", "most"), [(4, 0.15), (50, 0.09)])
def test_relations_across_tables_come_near_those_of_the_register(
    tmp_path: Path, epsilon: int, most: float
) -> None:
    rows = register(4000, 4)
    made = relations(released(design(epsilon), rows, tmp_path))
    floor, alone = relations(register(4000, 9)), {}
    for name, table in relations(rows).items():
        alone[name] = apart(table, _independent(table))
        assert apart(table, floor[name]) < 0.06  # another sample of the same people
        assert apart(table, made[name]) < most, name
    assert min(alone[name] for name in ("age × first ward", "ward × next", "ward × code")) > 0.4


MANY = tuple(f"c{place:02d}" for place in range(48))


@cache
def many_codes(people: int, seed: int) -> dict[str, pd.DataFrame]:
    """Return people with stays and many codes, which go by the ward and, as much, by the age."""
    rows, chance = register(people, seed), np.random.default_rng(seed)
    law = np.random.default_rng(3).gamma(0.3, size=(5, len(MANY))) + 1e-3
    by_age = np.random.default_rng(4).gamma(0.3, size=(5, len(MANY))) + 1e-3
    below = rows[DETAILS].drop(columns="code").merge(rows[RECORDS], on=["who", "stay"]).merge(rows[MAIN])
    ward, age = (below[name].map(WARDS.index).to_numpy() for name in ("ward", "age"))
    steps = (law[ward] * by_age[age]).cumsum(axis=1)
    place = (chance.random(len(below))[:, None] * steps[:, -1:] > steps).sum(axis=1)
    return rows | {DETAILS: below[["who", "stay"]].assign(code=np.array(MANY)[place]).astype("str")}


@pytest.mark.guarantee
def test_many_codes_hang_on_both_rows_above_them_where_noise_is_large(tmp_path: Path) -> None:
    """Of 240 cells neither relation is lost, nor put into few coarse cells: each is offered at its finest."""
    rows = many_codes(12_000, 4)
    declared = schemas((1, 1, 1))
    declared[DETAILS] = declared[DETAILS].with_column(named("code", MANY))
    linked = method("datasets.linked")
    sizes = {ABOUT[name]: len(frame) for name, frame in rows.items()}
    made = linked(linked.make_request(declared, GIVEN | sizes, budget=Budget(Fraction(1), Fraction(0))))
    found, true = relations(released(made, rows, tmp_path)), relations(rows)
    for name, most in (("ward × code", 0.18), ("age × code", 0.18)):
        assert apart(true[name], _independent(true[name])) > 0.3
        assert apart(true[name], found[name]) < most, name


def test_tables_with_few_rows_for_their_noise_leave_by_their_columns_alone(tmp_path: Path) -> None:
    rows = register(60, 3)
    made = design(**{ABOUT[name]: len(frame) for name, frame in rows.items()})
    alone = [name for name, part in made.parts.items() if part.schedule.given and not part.schedule.pairs]
    assert DETAILS in alone
    assert list(released(made, rows, tmp_path)) == list(rows)


def test_more_of_the_budget_goes_where_noise_has_more_cells() -> None:
    few, many = design(), design(bins=60)
    assert few.shares.keys() == few.parts.keys() and sum(many.shares.values()) == 1
    assert many.shares[LATER] > few.shares[LATER]  # days beside days
    for made in (few, many, design(about_people=10**6)):
        assert min(made.shares.values()) > Fraction(1, 2 * len(made.shares)) * Fraction(3, 5)


def test_every_pair_of_people_with_few_columns_is_counted_and_none_is_chosen() -> None:
    """By their cells, so that the largest has the least noise; with too many cells some are chosen."""
    people = design().parts[MAIN].schedule
    assert people.choices == 0 and people.firsts == ((0, 1), (0, 2), (1, 2))
    scales = [people.of_firsts[pair] for pair in sorted(people.firsts, key=lambda p: _cells(people.sizes, p))]
    assert scales == sorted(scales, reverse=True) and scales[0] > scales[-1]
    wide = design(most_records=200, caps=(1, 2, 4), columns=["sex", "age"])
    assert wide.parts[MAIN].schedule.choices == 0
    declared = schemas()
    for place in range(2):
        many = named(f"more{place}", tuple(f"v{one}" for one in range(40)))
        declared[MAIN] = Schema((*declared[MAIN].columns, many), rows_per_person=1)
    linked = method("datasets.linked")
    given = dict(GIVEN) | {"columns": ["sex", "age", "more0", "more1"]}
    large = linked(linked.make_request(declared, given, budget=Budget(Fraction(8)))).parts[MAIN].schedule
    assert large.firsts == () and large.choices == large.pairs > 0


def _cells(sizes: tuple[int, ...], pair: tuple[int, ...]) -> int:
    return sizes[pair[0]] * sizes[pair[1]]


TWELVE = tuple(f"a{place:02d}" for place in range(12))


@cache
def twelve_ages(people: int, seed: int) -> dict[str, pd.DataFrame]:
    """Return people of twelve ages, of whom older ones have more records, up to nine, and no details."""
    chance = np.random.default_rng(seed)
    age = chance.choice(12, people, p=np.random.default_rng(7).dirichlet(np.full(12, 5)))
    count = np.minimum(chance.poisson((0.8 + age / 5.5) * chance.gamma(4, 0.25, people)), 9)
    who, sex = np.arange(people).astype(str), np.array(["f", "m"])[chance.integers(0, 2, people)]
    stays = {"who": np.repeat(who, count), "day": "2024-05-01", "ward": WARDS[0]}
    records = pd.DataFrame(stays).assign(stay=np.arange(count.sum()).astype(str)).astype("str")
    return {
        MAIN: pd.DataFrame({"who": who, "sex": sex, "age": np.array(TWELVE)[age]}, dtype="str"),
        RECORDS: records,
        DETAILS: records[["who", "stay"]].assign(code=CODES[0]).head(0),
    }


@pytest.mark.guarantee
def test_how_many_records_people_have_hangs_on_their_age() -> None:
    """Off by about as much as another sample of the people; where pairs were chosen by half as much again."""
    rows, declared = twelve_ages(20_000, 3), schemas((1, 1, 1))
    declared[MAIN] = declared[MAIN].with_column(named("age", TWELVE))
    linked = method("datasets.linked")
    sizes = {"about_people": 20_000, "about_records": 36_000, "about_details": 76_000}
    made = linked(linked.make_request(declared, GIVEN | sizes, budget=Budget(Fraction(1))))
    part, off = made.parts[MAIN], []
    codes, other = (made.coded(MAIN, made.read(one))[0] for one in (rows, twelve_ages(20_000, 4)))
    shape = part.schedule.sizes[1:]
    true, sample = (count_cells(one, (1, 2), shape) / one.shape[1] for one in (codes, other))
    for seed in range(3):
        learnt = learn(codes, part.schedule, ordered=part.ordered, noise=seeded_noise(seed))
        shares = learnt.model.table((1, 2)).ravel() / learnt.model.total
        off.append(float(np.abs(shares - true).sum() / 2))
    assert np.mean(off) < 0.025 and np.abs(sample - true).sum() / 2 > 0.025
    wide = true.reshape(shape)
    assert np.abs(wide - np.outer(wide.sum(axis=1), wide.sum(axis=0))).sum() / 2 > 0.1


@pytest.mark.parametrize("epsilon", [1, 100])
def test_no_more_pairs_are_counted_than_there_are(epsilon: int) -> None:
    for made in (design(epsilon), design(epsilon, columns=["sex"], record_columns=["ward"])):
        for part in made.parts.values():
            drawn, given = part.schedule.drawn, part.schedule.given
            different = drawn * (drawn - 1) // 2 + drawn * given
            assert min(drawn, different) <= part.schedule.pairs <= different


def _independent(table: pd.Series) -> pd.Series:
    wide = table.unstack(fill_value=0)
    outer = np.outer(wide.sum(axis=1), wide.sum(axis=0)) / wide.to_numpy().sum()
    return pd.DataFrame(outer, index=wide.index, columns=wide.columns).stack()


def test_rows_without_a_parent_have_no_part(tmp_path: Path) -> None:
    rows = register(300, 5)
    extra = {
        MAIN: rows[MAIN],
        RECORDS: pd.concat([rows[RECORDS], rows[RECORDS].assign(who="nobody")]),
        DETAILS: pd.concat(
            [rows[DETAILS], rows[DETAILS].assign(stay="nowhere"), rows[DETAILS].assign(who="nobody")]
        ),
    }
    made = design(epsilon=100)
    assert all((counts(made, extra)[key] == table).all() for key, table in counts(made, rows).items())


# --- what is refused -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "caps", "code"),
    [
        ({}, (2, 2, 4), "one_row"),
        ({"record": None}, (1, 2, 4), "details_open"),
        ({"about_details": None}, (1, 2, 4), "details_open"),
        ({"about_people": 20, "about_records": 30}, (1, 2, 4), "too_few"),
    ],
)
def test_what_cannot_be_made_is_refused_on_declarations(
    changes: Mapping[str, Any], caps: tuple[int, int, int], code: str
) -> None:
    (problem,) = design(caps=caps, **changes).problems
    assert problem.code == f"datasets.linked.{code}"
    assert all(texts.sentences(problem.code, problem.values))


def test_a_third_table_that_nothing_leaves_of_needs_a_person_key_too() -> None:
    """Else a row would be what is protected."""
    linked, declared = method("datasets.linked"), schemas()
    declared[DETAILS] = declared[DETAILS].with_column(Column("who", Role.OTHER))
    given = {name: one for name, one in GIVEN.items() if "detail" not in name and "of" not in name}
    found = linked(linked.make_request(declared, given, budget=Budget(Fraction(1)))).problems
    assert [one.code for one in found] == ["datasets.linked.no_person_key"]


def test_a_table_without_a_person_key_and_columns_without_ends_are_refused() -> None:
    linked = method("datasets.linked")
    for name, change, code in (
        (RECORDS, Column("who", Role.OTHER), "no_person_key"),
        (RECORDS, Column("day", Role.TIME, Kind.DATE, Domain("2024-01-01"), **DECLARED), "no_bounds"),
        (DETAILS, named("stay", ("s1", "s2")), "key_leaves"),
        (MAIN, named("age", tuple(map(str, range(6000)))), "too_many_cells"),
    ):
        declared = schemas()
        declared[name] = declared[name].with_column(change)
        given = dict(GIVEN) | ({"detail_columns": ["code", "stay"]} if code == "key_leaves" else {})
        design = linked(linked.make_request(declared, given, budget=Budget(Fraction(1))))
        (problem,) = design.problems
        assert problem.code == f"datasets.linked.{code}"
        assert all(texts.sentences(problem.code, problem.values))
