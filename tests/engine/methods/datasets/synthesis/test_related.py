"""What invented rows can show of relations: few columns without any are said to have one, and all say it."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from engine.methods.catalogue import method, methods
from engine.methods.datasets import gaussians
from engine.methods.datasets.bayes_network.learning import learn
from engine.methods.datasets.bayes_network.shares import Shares
from engine.methods.datasets.latent_model.moments import Moments
from engine.methods.datasets.marginal_model.agreement import GAUSSIAN, LAPLACE
from engine.methods.datasets.seeds.learning import COLUMNS, NOBODY
from engine.methods.datasets.synthesis.related import (
    CHANCE,
    MOST_NAMED,
    Relations,
    above_noise,
    describe_relations,
    draw_relations,
)
from engine.methods.kinds import Rows
from engine.methods.protocol import Budget, Context
from engine.privacy.promise import promise_kind
from engine.report.words import word
from engine.table.schema import Column, Kind, Role, Schema
from engine.table.table import Table
from engine.views import Text
from tests.engine.methods.datasets.test_gaussians import request_for
from tests.engine.methods.datasets.test_seedbased import declared
from tests.engine.methods.examples_run import evidence, ran
from tests.noise_source import seeded_noise

SIZES = (3, 4, 2, 5)
TIMES = 40


def independent(seed: int, n: int = 3000) -> np.ndarray:
    chance = np.random.default_rng(seed)
    shares = [np.arange(1, size + 1) ** 2.0 for size in SIZES]  # few people in most cells
    return np.array(
        [chance.choice(size, n, p=one / one.sum()) for size, one in zip(SIZES, shares, strict=True)]
    )


def dependent(seed: int, n: int = 3000) -> np.ndarray:
    rows = independent(seed, n)
    rows[1] = np.where(np.random.default_rng(seed).random(n) < 0.7, rows[0], rows[1])
    return rows


def of_network(rows: np.ndarray, epsilon: Fraction, seed: int) -> Relations:
    shares = Shares(SIZES, epsilon, 1)
    return learn(rows, shares, ordered=(0,) * 4, noise=seeded_noise(seed)).relations


def of_components(rows: np.ndarray, epsilon: Fraction, seed: int) -> Relations:
    plan = Moments(SIZES, epsilon, Fraction(1, 10**6), 2, rows.shape[1])
    return plan.learnt(rows, seeded_noise(seed)).relations


def of_bell_curves(rows: np.ndarray, epsilon: Fraction, seed: int) -> Relations:
    names = list("abcd")
    columns = tuple(
        declared(name, Kind.INTEGER, minimum=Fraction(0), maximum=Fraction(size))
        for name, size in zip(names, SIZES, strict=True)
    )
    given = {"columns": names, "label": None, "about_rows": rows.shape[1], "sets": [{"together": names}]}
    design = method(gaussians.ID)(request_for(given, Budget(epsilon), Schema(columns)))
    read = gaussians.Read.of(pd.DataFrame(rows.T, columns=names), design.columns, None)
    model = gaussians.learn(read, design.plan, noise=seeded_noise(seed))
    return gaussians._relations(model, is_gaussian=False)


KINDS = {"network": of_network, "components": of_components, "bell curves": of_bell_curves}


@pytest.mark.parametrize("kind", KINDS)
def test_columns_without_any_relation_are_called_related_in_at_most_5_of_100_tables(kind):
    found = [KINDS[kind](independent(seed), Fraction(1), seed) for seed in range(TIMES)]
    looked = sum(len(one.told) + len(one.drowned) for one in found)
    assert looked >= TIMES
    # 5 of 100 and three deviations of what that many tables may show
    assert sum(len(one.told) for one in found) <= CHANCE * looked + 3 * np.sqrt(CHANCE * looked)


@pytest.mark.parametrize("kind", KINDS)
def test_a_relation_is_told_where_the_noise_lets_it_and_drowned_where_it_does_not(kind):
    clear = KINDS[kind](dependent(1), Fraction(8), 1)
    assert any({0, 1} <= set(one) for one in clear.told)
    faint = KINDS[kind](dependent(1, 300), Fraction(1, 20), 1)
    assert not faint.told


@pytest.mark.parametrize("moments", [GAUSSIAN, LAPLACE])
def test_noise_and_chance_alone_stand_out_of_skewed_tables_in_at_most_5_of_100(moments):
    """Counts that are large in one line and one cell, where a product of noisy sums would be far off."""
    lines, cells = np.array([0.9, 0.05, 0.05]), np.array([0.88, 0.03, 0.03, 0.03, 0.03])
    told = 0
    for seed in range(200):
        chance = np.random.default_rng(seed)
        counts = chance.poisson(2000 * np.outer(lines, cells))
        noise = (
            chance.normal(0, 30, (3, 5)) if moments is GAUSSIAN else chance.laplace(0, 30 / 2**0.5, (3, 5))
        )
        told += above_noise(counts + noise, deviation=30.0, moments=moments) > 1
    assert told <= 10 + 3 * 10**0.5
    assert above_noise(np.diag([500.0, 500.0, 500.0]), deviation=30.0, moments=moments) > 1


def alike(seed, each):
    """Columns without a relation, of 500 people whose rows are all alike."""
    chance = np.random.default_rng(seed)
    return np.repeat(chance.integers(0, 4, (2, 500)), each, axis=1), chance


@pytest.mark.parametrize("moments", [GAUSSIAN, LAPLACE])
def test_rows_that_a_person_repeats_are_no_relation(moments):
    """Rows of one person were taken as rows of several: 77 of 100 tables without a relation told of one."""
    told = 0
    for seed in range(100):
        (one, other), chance = alike(seed, 5)
        counts = np.bincount(4 * one + other, minlength=16).reshape(4, 4)
        noise = chance.laplace(0, 3 / 2**0.5, (4, 4)) if moments is LAPLACE else chance.normal(0, 3, (4, 4))
        told += above_noise(counts + noise, deviation=3.0, moments=moments, each=5) > 1
    assert told <= 5 + 3 * 5**0.5


@pytest.mark.parametrize("name", ["datasets.marginals", "datasets.network", "datasets.gaussians"])
def test_every_way_knows_how_many_rows_of_a_person_may_be_alike(name):
    told = []
    for cap in (1, 8):
        schema = Schema(
            (
                Column("who", Role.PERSON_KEY, Kind.INTEGER),
                *(
                    declared(one, Kind.INTEGER, minimum=Fraction(0), maximum=Fraction(3))
                    for one in ("one", "other")
                ),
            ),
            rows_per_person=cap,
        )
        given = {"columns": ["one", "other"], "about_rows": 4000}
        request = method(name).make_request({"people": schema}, given, budget=Budget(Fraction(100 * cap)))
        times = []
        for seed in range(6):
            (one, other), _ = alike(seed, 8)
            frame = pd.DataFrame({"who": np.arange(500).repeat(8), "one": one, "other": other})
            context = Context(seeded_noise(seed), None, Path())
            views = method(name)(request).run({"people": Table(frame)}, context).views
            bars = next(one for one in views if one.title == Text("datasets.relations.views.title"))
            times.append(max(bars.values[place] for place in range(2) if isinstance(bars.labels[place], str)))
        told.append(max(times))
    assert told[1] < 1 < told[0]  # of eight alike each, what eight people would show is chance


def test_what_is_not_told_is_said_by_name_and_long_lists_are_cut():
    names = list("abcde")
    (none,) = describe_relations(Relations((), ((0, 1), (2, 3))), names)
    assert none.id.endswith(".none") and "a × b; c × d" in word(none, "en")
    (some,) = describe_relations(Relations(((0, 1),), ((2, 3),)), names)
    assert some.id.endswith(".some")
    (every,) = describe_relations(Relations(((0, 1),), ()), names)
    assert every.id.endswith(".all") and "cannot" not in word(every, "en")
    (many,) = describe_relations(Relations(((0, 1),) * (MOST_NAMED + 3), ()), names)
    assert "and 3 more" in word(many, "en")
    assert describe_relations(Relations(), names) == ()


def test_relations_are_drawn_beside_what_noise_alone_shows():
    found = Relations.of([((0, 1), 0.4), ((1, 2), 3.25), ((0, 2), 1.0)])
    assert found.told == ((1, 2),) and found.drowned == ((0, 1), (0, 2)), "at the limit nothing is told"
    (view,) = draw_relations(found, list("abc"))
    drawn = dict(zip((word(label, "en") for label in view.labels), view.values, strict=True))
    assert drawn == {"b × c": 3.25, "Noise and chance alone": 1.0, "a × c": 1.0, "a × b": 0.4}
    assert list(drawn).index("Noise and chance alone") == 1, "what is believed stands above it"
    many = Relations.of([((0, 1), 1 + at / 10) for at in range(MOST_NAMED + 5)])
    (cut,) = draw_relations(many, list("ab"))
    assert len(cut.labels) == MOST_NAMED + 1 and max(cut.values) == 1 + (MOST_NAMED + 4) / 10
    assert draw_relations(Relations(), []) == ()


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_said_and_what_is_drawn_of_a_relation_agree(kind):
    found = KINDS[kind](dependent(1), Fraction(8), 1)
    assert len(found.above) == len(found.told) + len(found.drowned) > 0
    assert all(times > 1 for times in found.above[: len(found.told)])
    assert all(times <= 1 for times in found.above[len(found.told) :])


def synthesisers():
    return [
        one
        for one in methods()
        if one.rows is Rows.SYNTHETIC and any(promise_kind(kind).bounded for kind in one.promises)
    ]


@pytest.mark.parametrize("synthesiser", synthesisers(), ids=lambda one: one.id)
def test_every_synthesiser_whose_tables_carry_noise_says_which_relations_its_rows_can_show(synthesiser):
    """Or which columns are drawn by themselves; a model that reads nobody has no noise to drown any in."""
    assert len(synthesisers()) >= 5
    for plan, folder in ran(synthesiser):
        told = evidence(folder)
        columns = [one for artefact in told["artefacts"] for one in artefact.get("columns", ())]
        notes = [one["id"] for one in (*told["notes"], *told["forecast"]) if "id" in one]
        reads = plan.parameters.get("model") not in (COLUMNS, NOBODY) and synthesiser.id != "datasets.codes"
        if len(columns) > 1 and reads:
            pairs = f"methods.{synthesiser.id}.views.pairs.title"  # of several tables: which were counted
            listed = any(view["title"].get("id") == pairs for view in told["views"])
            assert listed or any(note.startswith("datasets.relations.") for note in notes), notes
