"""Codes from outside: moved within boxes, tested where they landed, as many as planned."""

from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from engine.methods.catalogue import method
from engine.methods.datasets.seeds.boxes import Boxes
from engine.methods.datasets.seeds.making import score
from engine.methods.protocol import Budget, Context
from engine.privacy.accounting import total
from engine.privacy.mechanisms import SeededRows
from engine.table.schema import Column, Kind, Role, Schema
from engine.table.table import Table
from tests.engine.methods.datasets.seeds.universe import beyond, is_of_definition, released
from tests.engine.methods.datasets.test_seedbased import HARD, declared
from tests.noise_source import seeded_noise

ID = "datasets.codes"
COLUMNS = tuple(
    declared(name, Kind.NUMBER, minimum=Fraction(-4), maximum=Fraction(4)) for name in ("z1", "z2")
)
BUDGET = Budget(Fraction(2), Fraction(1, 10**9))
GIVEN = {"columns": ["z1", "z2"], "about_rows": 6000, "rows": 20, "bins": 16, "reach": 2}


def request_for(given=None, budget=BUDGET, schema=None):
    return method(ID).make_request(
        {"people": schema or Schema(COLUMNS)}, GIVEN | (given or {}), budget=budget
    )


def codes(n=6000, seed=1):
    """Two clouds, and one person far off."""
    chance = np.random.default_rng(seed)
    z = chance.normal(size=(n, 2)) * 0.6 + chance.choice([-2, 2], n)[:, None]
    z[0] = 3.9, -3.9
    return pd.DataFrame(z, columns=["z1", "z2"])


def made(frame, given=None, **options):
    request = request_for(given, **options)
    assert not method(ID)(request).problems, method(ID)(request).problems
    noise = seeded_noise(5)
    release = method(ID)(request).run({"people": Table(frame)}, Context(noise, None, Path()))
    assert noise.counted == release.promise.drawn()
    return release


def test_codes_come_from_where_people_stand():
    release = made(codes(), {"rows": 300}, budget=Budget(Fraction(20), Fraction(1, 10**6)))
    z = release.artefacts[0].frame.astype(float)
    assert len(z) == 300 and z.abs().max().max() <= 4
    assert release.inside.figures["from_model_alone"] < 40
    assert (np.sign(z["z1"]) == np.sign(z["z2"])).mean() > 0.85
    assert total([release.promise], delta=Fraction(1, 10**6)).epsilon <= 20


@pytest.mark.parametrize("n", [0, 1, 7])
def test_whatever_the_rows_hold_as_many_come_out(n):
    frame = pd.DataFrame(
        {"z1": pd.Series(HARD[:n], dtype=float), "z2": pd.Series(HARD[:n][::-1], dtype=float)}
    )
    found = made(frame)
    assert len(found.artefacts[0].frame) == 20 and found.inside.figures["from_model_alone"] == 20


def test_missing_numbers_stay_missing_and_stand_near_none_but_missing_ones():
    frame = codes()
    frame.loc[:, "z2"] = np.nan
    release = made(frame, {"rows": 100}, budget=Budget(Fraction(20), Fraction(1, 10**6)))
    z = release.artefacts[0].frame
    assert (z["z2"] == "").sum() == 100 - release.inside.figures["from_model_alone"]


SIZES = (5, 4)  # the last of each is missing


def landed(model, seed):
    """Return every point that a seed may land on, each as likely."""
    steps = range(-model.reach, model.reach + 1)
    reaches = [
        [value + 2 * model.reach + 2] if value == size - 1 else [value + step for step in steps]
        for value, size in zip(seed, model.sizes, strict=True)
    ]
    return set(product(*reaches))


@pytest.mark.parametrize("seed", range(8))
def test_crowds_are_those_of_the_definition(seed):
    chance, model = np.random.default_rng(seed), Boxes(SIZES, 1)
    seeds = np.column_stack([chance.integers(0, size, 12) for size in SIZES])
    of = seeds[chance.integers(0, 12, 10)]
    rows = model.made(of, seeded_noise(seed))
    test = SeededRows(4, 1, Fraction(1, 2), Fraction(1), Fraction(1, 4), Fraction(0))
    for row, seeded, size in zip(rows, of, score(model.crowds(seeds)(rows, of), test), strict=True):
        assert tuple(row) in landed(model, seeded)
        p = [1 / 9 if tuple(row) in landed(model, one) else 0.0 for one in seeds.tolist()]
        own = next(place for place, one in enumerate(seeds) if (one == seeded).all())
        assert is_of_definition(size, test, p, own)


@pytest.mark.parametrize("least", [1, 3])
def test_one_more_person_moves_no_set_of_codes_beyond_the_claim(least):
    """Every point, both directions: by the definitions, not by the program."""
    test = SeededRows(3 * least, least, Fraction(1, 2), Fraction(1), Fraction(1, 4), Fraction(0))
    epsilon, delta = map(float, test.each())
    model, chance, found = Boxes(SIZES, 1), np.random.default_rng(least), []
    for _ in range(25):
        count = int(chance.integers(1, 9))
        seeds = np.column_stack([chance.choice(places, count) for places in ([0, 1, 4], [0, 3])])
        points = sorted(set().union(*(landed(model, one) for one in seeds.tolist())))
        inside = np.array([[point in landed(model, one) for point in points] for one in seeds.tolist()])
        p = inside / inside.sum(axis=1, keepdims=True)
        alone = np.full(len(points), 1 / len(points))
        more, fewer = released(seeds, p, alone, test), released(seeds[:-1], p[:-1], alone, test)
        found += [beyond(more, fewer, epsilon) - delta, beyond(fewer, more, epsilon) - delta]
    assert max(found) <= 1e-12


def test_what_leaves_was_moved_to_the_edge_after_the_test():
    model = Boxes(SIZES, 1)
    rows = np.array([[-1, 3], [4, 1], [9, 0], [2, 7]])
    assert model.finished(rows).tolist() == [[0, 2], [3, 1], [4, 0], [2, 3]]


@pytest.mark.parametrize(
    ("given", "options", "code"),
    [
        ({"rows": None}, {}, "parameters.unfilled"),
        ({}, {"budget": Budget(Fraction(1))}, "budget.delta_needed"),
        ({"columns": ["flat"]}, {}, "datasets.seedbased.no_edges"),
        ({"columns": ["word"]}, {}, "parameters.kind"),
        ({"rows": 5000}, {}, "datasets.seedbased.crowd"),
        (
            {},
            {"schema": Schema((Column("pid", Role.PERSON_KEY), *COLUMNS), rows_per_person=2)},
            "datasets.seedbased.several_rows",
        ),
    ],
)
def test_what_cannot_work_is_said_from_declarations_alone(given, options, code):
    further = (
        declared("flat", Kind.NUMBER, minimum=Fraction(1), maximum=Fraction(1)),
        declared("word", Kind.CATEGORY, values=("a", "b")),
    )
    options = {"schema": Schema((*COLUMNS, *further))} | options
    assert code in [problem.code for problem in method(ID)(request_for(given, **options)).problems]
