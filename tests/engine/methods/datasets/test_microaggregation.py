"""Micro-aggregation: the groups of a plain MDAV, one column against its optimum, and what is written."""

import numpy as np
import pandas as pd
import pytest

from engine.errors import InputRefused
from engine.methods.catalogue import method
from engine.methods.datasets.microaggregation import Categories, Space, block_loss, mdav, squared_errors
from engine.methods.protocol import Context
from engine.privacy.noise import Noise, ordinary_generator
from engine.table.coding import text_of
from engine.table.hierarchies import Hierarchy
from engine.table.schema import Column, Domain, Kind, Role, Schema
from engine.table.table import Table

ID = "datasets.microaggregation"
TREE = np.array([[0, 1, 2, 3, 4], [0, 0, 1, 1, 2]])  # five categories, in three groups on the next step


def one_hot(space):
    """Return the same points plainly: half the squared distance of two unit vectors is 1."""
    parts = [space.numbers.T]
    for one in space.categories:
        for step in one.nodes:
            dense = np.eye(int(step.max()) + 1)[step[one.codes]]
            parts.append(dense * np.sqrt(one.weight / 2 / len(one.nodes)))
    return np.hstack(parts)


def plainly(points, k):
    """MDAV as the source writes it, on a list of rows."""
    left, groups = list(range(len(points))), []

    def farthest(point):
        return max(left, key=lambda row: (round(((points[row] - point) ** 2).sum(), 9), -row))

    def take(point):
        near = sorted(left, key=lambda row: (round(((points[row] - point) ** 2).sum(), 9), row))[:k]
        groups.append(near)
        for row in near:
            left.remove(row)

    while len(left) >= 3 * k:
        one = points[farthest(points[left].mean(axis=0))]
        other = points[farthest(one)]
        take(one)
        take(other)
    if len(left) >= 2 * k:
        take(points[farthest(points[left].mean(axis=0))])
    groups.append(left)
    return groups


def drawn(seed, rows):
    chance = np.random.default_rng(seed)
    return Space(
        chance.normal(size=(3, rows)), (Categories(chance.integers(0, 5, rows), TREE, float(1 + seed % 3)),)
    )


def errors(points, groups):
    return sum(((points[rows] - points[rows].mean(axis=0)) ** 2).sum() for rows in groups)


@pytest.mark.parametrize("rows", [7, 60, 301])
@pytest.mark.parametrize("k", [2, 3, 7])
@pytest.mark.parametrize("seed", range(3))
def test_the_groups_are_those_of_a_plain_form(rows, k, seed):
    space = drawn(seed, rows)
    group, points = mdav(space, k=k), one_hot(drawn(seed, rows))
    sizes = np.bincount(group)
    assert k <= sizes.min() and sizes.max() <= 2 * k - 1
    own = {frozenset(np.flatnonzero(group == one).tolist()) for one in range(len(sizes))}
    plain = plainly(points, k)
    assert own == {frozenset(rows) for rows in plain}
    inside, everybody = squared_errors(space, group)
    assert inside == pytest.approx(errors(points, plain))
    assert everybody == pytest.approx(errors(points, [list(range(rows))]))


def test_ties_are_taken_in_their_order():
    space = Space(np.repeat([[0.0, 1.0]], 30, axis=0).reshape(1, -1))
    assert mdav(space, k=4).tolist() == mdav(space, k=4).tolist()
    group, points = mdav(space, k=4), one_hot(space)
    assert squared_errors(space, group)[0] == pytest.approx(errors(points, plainly(points, 4)))


@pytest.mark.parametrize("seed", range(5))
def test_one_column_is_near_its_optimum(seed):
    """In one column the best groups are runs: a shortest path finds them."""
    values = np.sort(np.random.default_rng(seed).normal(size=120))
    k, best = 4, np.full(121, np.inf)
    best[0] = 0.0
    for end in range(k, 121):
        for start in range(max(0, end - 2 * k + 1), end - k + 1):
            run = values[start:end]
            best[end] = min(best[end], best[start] + ((run - run.mean()) ** 2).sum())
    found = squared_errors(Space(values[None, :]), mdav(Space(values[None, :]), k=k))[0]
    assert best[120] - 1e-9 <= found <= 2 * best[120]


def test_blocks_have_the_sizes_too(monkeypatch):
    monkeypatch.setattr("engine.methods.datasets.microaggregation.EXACT", 100)
    monkeypatch.setattr("engine.methods.datasets.microaggregation.BLOCK", 80)
    sizes = np.bincount(mdav(drawn(1, 500), k=6))
    assert sizes.sum() == 500 and sizes.min() >= 6 and sizes.max() <= 11


# --- the release ----------------------------------------------------------------------------------

SCHEMA = Schema(
    (
        Column("age", Role.IDENTIFYING, Kind.INTEGER),
        Column("pay", Role.IDENTIFYING, Kind.NUMBER),
        Column("seen", Role.TIME, Kind.DATE),
        Column("stage", Role.IDENTIFYING, Kind.ORDINAL, domain=Domain(values=("none", "early", "late"))),
        Column("town", Role.PLACE, Kind.CATEGORY, hierarchy=Hierarchy(prefix=(2,)), missing=("?",)),
        Column("ill", Role.SENSITIVE, Kind.CATEGORY),
    )
)
COLUMNS = [column.name for column in SCHEMA.columns]


def people(rows=200, seed=4):
    chance = np.random.default_rng(seed)
    pay = chance.normal(2000, 500, rows)
    pay[chance.random(rows) < 0.2] = np.nan
    return pd.DataFrame(
        {
            "age": chance.integers(1, 100, rows),
            "pay": pay,
            "seen": pd.to_datetime("2021-01-01") + pd.to_timedelta(chance.integers(0, 300, rows), "D"),
            "stage": chance.choice(["none", "early", "late"], rows),
            "town": chance.choice(["8010", "8020", "1010", "?"], rows),
            "ill": [f"person {place}" for place in range(rows)],
        }
    )


def made(rows, tmp_path, **given):
    found = method(ID)
    request = found.make_request({"people": SCHEMA}, {"columns": COLUMNS, **given})
    assert not found(request).problems, found(request).problems
    return found(request).run({"people": Table(rows)}, Context(Noise(), ordinary_generator(), tmp_path))


def test_what_blocks_cost_is_measured_and_said(monkeypatch):
    """Measured on a part, with as many blocks: no less than what all rows without blocks say."""
    chance = np.random.default_rng(4)
    space = Space(chance.normal(size=(4, 4)) @ chance.normal(size=(4, 4_000)))
    assert block_loss(space, k=3) is None
    whole = squared_errors(space, mdav(space, k=3))[0]
    monkeypatch.setattr("engine.methods.datasets.microaggregation.EXACT", 1_000)
    monkeypatch.setattr("engine.methods.datasets.microaggregation.BLOCK", 1_000)
    blocks = squared_errors(space, mdav(space, k=3))[0]
    assert 1 < blocks / whole < block_loss(space, k=3) < 1.3


def test_a_group_reads_its_mean_median_and_most_frequent_value(tmp_path):
    release, rows = made(people(), tmp_path, k=6), people()
    frame = release.artefacts[0].frame
    assert release.promise.kind == "k_anonymity" and frame["ill"].tolist() != rows["ill"].tolist()
    both = frame.merge(rows, on="ill", suffixes=("", "_true"))
    assert len(both) == len(rows)
    stages = ["none", "early", "late"]
    groups = both.groupby(["age", "pay", "seen", "stage", "town"])
    assert groups.size().min() >= 6 and release.inside.figures["largest_group"] <= 11
    for (age, pay, seen, stage, town), own in groups:
        if len(own) > 11:  # two groups that read alike
            continue
        assert int(age) == round(own["age_true"].mean())
        missing = own["pay_true"].isna()
        assert (
            pay == ""
            if missing.mean() > 0.5
            else float(pay) == pytest.approx(own["pay_true"].mean(), rel=1e-5)
        )
        days = own["seen_true"].dt.date
        mean = np.mean([day.toordinal() for day in days])
        assert abs(pd.Timestamp(seen).toordinal() - mean) <= 0.5
        ranks = sorted(stages.index(one) for one in own["stage_true"])
        assert stages.index(stage) == ranks[(len(ranks) - 1) // 2]
        counts = own["town_true"].replace("?", "").value_counts()
        assert counts[town] == counts.max()


MOMENTS = pd.to_datetime(["2021-01-01 08:15", "2021-01-02 09:00", "2021-03-01 23:45"]).tolist()


@pytest.mark.parametrize(
    ("kind", "cells"),
    [
        (Kind.MOMENT, MOMENTS),
        (Kind.TEXT, MOMENTS),
        (Kind.INTEGER, MOMENTS),
        (Kind.NUMBER, [False, False, True]),
        (Kind.NUMBER, [-np.inf, 1.5, np.inf]),
        (Kind.DATE, [1.5, 2.5, 40.5]),
    ],
)
def test_what_has_an_order_and_no_mean_reads_as_the_median(kind, cells, tmp_path):
    """Whatever a typed file holds: moments, and what a column of that kind should not hold."""
    rows = pd.DataFrame({"seen": cells, "ill": ["a", "b", "c"]})
    schema = Schema((Column("seen", Role.IDENTIFYING, kind), Column("ill", Role.SENSITIVE, Kind.CATEGORY)))
    request = method(ID).make_request({"people": schema}, {"columns": ["seen", "ill"], "k": 3})
    release = method(ID)(request).run(
        {"people": Table(rows)}, Context(Noise(), ordinary_generator(), tmp_path)
    )
    assert set(release.artefacts[0].frame["seen"]) == {text_of(cells[1])}


def test_ranking_promises_nothing_and_every_value_stands_for_k(tmp_path):
    release = made(people(), tmp_path, k=6, grouping="ranking")
    frame = release.artefacts[0].frame
    assert release.promise.kind == "none" and "k" not in release.promise.terms
    for name in COLUMNS[:-1]:
        assert frame[name].value_counts().min() >= 6, name
    together = made(people(), tmp_path, k=6).inside.figures["squared_loss"]
    assert release.inside.figures["squared_loss"] < together / 5


def test_the_loss_of_blocks_stands_inside(tmp_path, monkeypatch):
    monkeypatch.setattr("engine.methods.datasets.microaggregation.EXACT", 20)
    monkeypatch.setattr("engine.methods.datasets.microaggregation.BLOCK", 20)
    release = made(people(), tmp_path, k=3)
    assert release.inside.figures["block_loss"] > 0


def test_refused_in_words(tmp_path):
    with pytest.raises(InputRefused) as caught:
        made(people(5), tmp_path, k=6)
    assert caught.value.code == "grouping.too_few"
    several = Schema((*SCHEMA.columns, Column("pid", Role.PERSON_KEY)), rows_per_person=3)
    request = method(ID).make_request({"people": several}, {"columns": COLUMNS, "k": 5})
    assert method(ID)(request).problems[0].code == f"{ID}.several_rows"
