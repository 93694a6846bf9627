"""Groups against a population: the exact search, what leaves, and what is refused."""

from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest

from engine.errors import InputRefused
from engine.methods.catalogue import method
from engine.methods.datasets import rollup
from engine.methods.datasets.full_domain import Lattice, search
from engine.methods.datasets.losses import Loss
from engine.methods.datasets.population import Asked, Population
from engine.methods.datasets.recoding import Ladder, Members
from engine.methods.protocol import Context
from engine.privacy.noise import Noise, ordinary_generator
from engine.table.hierarchies import Hierarchy
from engine.table.schema import Column, Kind, Role, Schema
from engine.table.table import Table
from engine.texts import explain
from tests.engine.methods.datasets.test_recoding import FORMS, VALUES, ByHand, drawn

ID = "datasets.presence"
CASES = {
    "presence": Asked(most_presence=Fraction(1, 2)),
    "groups": Asked(least=5),
    "risk": Asked(most_average=Fraction(1, 6)),
    "all": Asked(Fraction(2, 3), 4, Fraction(1, 4)),
}


def others(seed, table):
    """Return a population: most of the table's people and as many again."""
    chance = np.random.default_rng(3000 + seed)
    rows = list(zip(*table, strict=True))
    more = [
        tuple(values[place] for values, place in zip(VALUES, drawn_places, strict=True))
        for drawn_places in zip(
            *(chance.integers(0, len(values), 2 * len(rows)) for values in VALUES), strict=True
        )
    ]
    kept = [row for row in rows if chance.random() < 0.9]
    return [list(column) for column in zip(*kept, *more, strict=True)]


def both(table, person, theirs, their_person):
    ladders = [
        Ladder.of(sorted({*mine, *other}), form)
        for mine, other, form in zip(table, theirs, FORMS, strict=True)
    ]

    def placed(columns, who):
        codes = np.column_stack([one.place(column) for one, column in zip(ladders, columns, strict=True)])
        distinct, number = np.unique(codes, axis=0, return_inverse=True)
        pairs = np.unique(np.column_stack([number.reshape(-1), who]), axis=0)
        return distinct, Members(pairs[:, 0], pairs[:, 1])

    return ladders, *placed(table, person), *placed(theirs, their_person)


class Beside(ByHand):
    """One combination of steps, with the population read row by row."""

    def __init__(self, table, person, theirs, their_person, asked):
        super().__init__(table, person)
        self.theirs, self.their_person, self.asked = theirs, their_person, asked

    def sizes(self, steps):
        reads = [form.at(column, step) for form, column, step in zip(FORMS, self.theirs, steps, strict=True)]
        people = {}
        for text, who in zip(zip(*reads, strict=True), self.their_person, strict=True):
            people.setdefault(text, set()).add(who)
        mine = {text: len({row[-1] for row in rows}) for text, rows in self.groups(steps)[0].items()}
        return mine, {text: len(people.get(text, ())) for text in mine}

    def kept(self, steps, k):
        mine, theirs = self.sizes(steps)
        return {
            text
            for text, count in mine.items()
            if count >= k
            and theirs[text]
            and Fraction(count, theirs[text]) <= self.asked.most_presence
            and theirs[text] >= self.asked.least
        }

    def too_risky(self, steps, kept):
        mine, theirs = self.sizes(steps)
        people = sum(mine[text] for text in kept)
        mean = sum(Fraction(mine[text], theirs[text]) for text in kept) / people if people else 0
        return mean > self.asked.most_average


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("name", CASES)
def test_the_search_against_a_population_is_exact(name, seed, monkeypatch):
    """Ten tables, in half of which people have several rows; with short numbers, and back to the rows."""
    monkeypatch.setattr(rollup, "_BITS", 0 if seed % 4 < 2 else rollup._BITS)
    table, person = drawn(seed)
    theirs = others(seed, table)
    their_person = np.arange(len(theirs[0])) // (1 + seed % 3)
    ladders, codes, members, far, their_members = both(table, person, theirs, their_person)
    population = Population(codes, far, their_members, ladders, CASES[name])
    hand = Beside(table, person, theirs, their_person, CASES[name])
    every = list(product(*(range(form.height + 1) for form in FORMS)))
    for k, most in ((2, 0), (3, len(set(person)) // 5)):
        by_hand = [found for steps in every if (found := hand.losses(steps, k, most)) is not None]
        for loss in (Loss.ENTROPY, Loss.DISCERNIBILITY, Loss.GROUP_SIZE):
            lattice = Lattice(
                codes, members, ladders, k=k, most_left_out=most, loss=loss, population=population
            )
            found = search(lattice)
            best = min((one[loss] for one in by_hand), default=None)
            assert (found is None) == (best is None), (k, most, loss)
            if found is not None:
                assert found.loss == pytest.approx(best, abs=1e-9) == found.least
                kept = lattice.groups(found.steps) >= 0
                assert members.left_out(kept) == found.left_out <= most


SCHEMA = Schema(
    (
        Column("age", Role.IDENTIFYING, Kind.INTEGER, hierarchy=Hierarchy(bands=(10, 50))),
        Column("sex", Role.IDENTIFYING, Kind.CATEGORY),
        Column("ill", Role.SENSITIVE, Kind.CATEGORY),
    )
)


def people(rows, seed):
    chance = np.random.default_rng(seed)
    ages, sexes = chance.integers(20, 80, rows).astype(str), chance.choice(["f", "m"], rows)
    return pd.DataFrame({"age": ages, "sex": sexes, "ill": chance.choice(["v", "w"], rows)})


def made(given, tmp_path, *, table=None, population=None):
    everybody = people(900, 3)
    table = everybody.iloc[:200] if table is None else table
    population = everybody.drop(columns="ill") if population is None else population
    found = method(ID)
    whole = {"columns": ["age", "sex", "ill"], "k": 3, "most_left_out": 0, **given}
    request = found.make_request({"people": SCHEMA, "population": Schema()}, whole)
    assert not found(request).problems, found(request).problems
    context = Context(Noise(), ordinary_generator(), tmp_path)
    tables = {"people": Table(table), "population": Table(population)}
    return found(request).run(tables, context), population


@pytest.mark.parametrize(
    "asked", [{"most_presence": "0.3"}, {"population_k": 40}, {"population_risk": "0.02"}]
)
def test_what_leaves_holds_against_the_population(asked, tmp_path):
    release, population = made(asked, tmp_path)
    frame = release.artefacts[0].frame
    step = next(
        one
        for one in range(4)
        if set(frame["age"]) <= set(SCHEMA.column("age").hierarchy.at(population["age"], one))
    )
    ages = SCHEMA.column("age").hierarchy.at(population["age"], step)
    sexes = population["sex"] if "*" not in set(frame["sex"]) else ["*"] * len(population)
    theirs = pd.Series(list(zip(ages, sexes, strict=True))).value_counts()
    mine = pd.Series(list(zip(frame["age"], frame["sex"], strict=True))).value_counts()
    shares = mine / theirs[mine.index]
    assert len(frame) == 200 and mine.min() >= 3
    told = release.inside.figures
    assert told["population_presence"] == pytest.approx(shares.max(), abs=1e-6)
    assert told["population_least"] == theirs[mine.index].min()
    assert told["population_average"] == pytest.approx((shares.sum()) / 200, abs=1e-6)
    name = next(iter(asked))
    assert name in release.promise.terms
    holds = {
        "most_presence": shares.max() <= 0.3,
        "population_k": theirs[mine.index].min() >= 40,
        "population_risk": shares.sum() / 200 <= 0.02,
    }
    assert holds[name] and step > 0


@pytest.mark.parametrize(
    ("given", "changes", "code"),
    [
        ({"most_presence": "0.1"}, {}, "grouping.population"),
        ({"population_k": 901}, {}, "grouping.population"),
        (
            {"population_k": 2},
            {"population": people(50, 1).drop(columns="sex")},
            "grouping.population_column",
        ),
        ({"population_k": 2}, {"table": people(2, 1)}, "grouping.too_few"),
        (
            {"population_k": 2},
            {"population": people(50, 1).drop(columns="ill").iloc[:0]},
            "grouping.population",
        ),
    ],
)
def test_what_no_table_fulfils_is_said(given, changes, code, tmp_path):
    with pytest.raises(InputRefused) as caught:
        made(given, tmp_path, **changes)
    assert caught.value.code == code and all(explain(caught.value))


def test_without_a_condition_the_other_method_is_named():
    found = method(ID)
    request = found.make_request({"people": SCHEMA, "population": Schema()}, {"columns": ["age"], "k": 3})
    assert [one.code for one in found(request).problems] == [f"{ID}.nothing_asked"]


@pytest.mark.parametrize("fraction", [0.05, 0.3])
def test_nobody_who_reads_like_another_is_alone_in_the_population(fraction):
    """Why population uniqueness is no condition of its own beside k: whoever stays has company there too."""
    from engine.risk.population_uniqueness import population_uniqueness

    everybody = people(2_000, 7).drop(columns="ill")
    drawn_rows = everybody.sample(frac=fraction, random_state=1)
    sizes = drawn_rows.value_counts()
    stay = sizes[sizes >= 2]
    assert everybody.value_counts()[stay.index].min() >= 2
    found = population_uniqueness(stay.value_counts().to_dict(), population=2_000)
    assert found.sample_uniqueness == found.high == 0
