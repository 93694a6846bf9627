"""One vector of noise for sums asked for together, where that is less: chosen, drawn, accounted for."""

import itertools
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from engine.methods.models import descent
from engine.methods.models.descent import SUMS, DescentPlan
from engine.methods.models.points import PER_SIDE, Points
from engine.methods.models.residuals import RESIDUAL_STEPS
from engine.methods.shared import division
from engine.methods.shared.division import Division, Query
from engine.privacy.accounting import total
from engine.privacy.events import Neighbours
from engine.privacy.mechanisms import DiscreteLaplace, Vector
from engine.privacy.noise import Noise
from engine.privacy.promise import Loss, Promise, Unit
from tests.engine.battery.transcript import transcript
from tests.noise_source import seeded_noise

ASKED = Query("sums", 60, 600, 0.5, 4, together=6)
OTHERS = Query("others", 9, 81, 0.5)
WHOLE = Division((ASKED, OTHERS), Fraction(1), Fraction(0), False)


@pytest.mark.parametrize("together", [2, 5, 6, 10, 11, 12, 40])
@pytest.mark.parametrize("squared", [360, 600, 1800, 3600])
def test_of_both_kinds_of_noise_the_smaller_is_taken(together, squared):
    query = replace(ASKED, together=together, squared=squared)
    own = replace(WHOLE, queries=(query,)).deviation("sums")
    laplace = replace(WHOLE, queries=(replace(query, together=None),)).deviation("sums")
    vector = (together + 1) * squared < 2 * 60**2
    assert own < laplace if vector else own == laplace
    assert replace(WHOLE, queries=(query,)).word("sums") == ("vector" if vector else "discrete_laplace")


def test_a_vector_longer_than_any_that_is_drawn_and_gaussian_noise_stay_as_they_were():
    assert not replace(ASKED, together=1001, ones=10**6).is_vector
    gaussian = replace(WHOLE, delta=Fraction(1, 10**6))
    assert gaussian.word("sums") == "discrete_gaussian"
    assert gaussian.scale("sums") == replace(gaussian, queries=(replace(ASKED, together=None), OTHERS)).scale(
        "sums"
    )


@pytest.mark.parametrize("epsilon", ["1/100", "1", "30"])
@pytest.mark.parametrize("neighbours", list(Neighbours))
def test_the_parts_cost_no_more_than_the_whole_and_nearly_as_much(epsilon, neighbours):
    whole = replace(WHOLE, epsilon=Fraction(epsilon), replace_one=neighbours is Neighbours.REPLACE_ONE)
    leaves = whole.events.together(Neighbours.ADD_REMOVE)
    assert [type(leaf) for leaf in leaves] == [Vector, DiscreteLaplace]
    spent = sum(leaf.epsilon() for leaf in leaves)
    assert Fraction(99, 100) * whole.epsilon < spent <= whole.epsilon
    loss = Loss(whole.epsilon, Fraction(0), neighbours, whole.events)
    assert total([Promise("pure_dp", loss, Unit.ROW, 1)], delta=Fraction(0)).epsilon <= whole.epsilon


def test_what_is_drawn_is_what_is_declared():
    noise = seeded_noise(1)
    for _ in range(ASKED.count):
        assert WHOLE.noisy("sums", np.arange(6), noise).shape == (6,)
    WHOLE.noisy("others", np.arange(3), noise)
    assert noise.counted == WHOLE.events.drawn()


def test_the_deviation_is_that_of_what_is_drawn():
    noise = seeded_noise(2)
    drawn = np.array([WHOLE.noisy("sums", np.zeros(6, dtype=np.int64), noise) for _ in range(3_000)])
    assert drawn.std() == pytest.approx(WHOLE.deviation("sums"), rel=0.03)


# --- a model of numbers: every step gets one vector ------------------------------------------------------

NUMBERS = (0, 0, 0)


def plan(**more):
    given = {"epsilon": Fraction(1), "delta": Fraction(0), "rows_per_person": 1, "replace_one": False}
    return DescentPlan(NUMBERS, **(given | {"about_rows": 700, "is_classes": True} | more))


def spent(given):
    """Return the level that a fit spends on rows at one corner, one of which no fit can please."""
    corner = Points(np.full((2000, 3), PER_SIDE, np.int16), (), NUMBERS)
    target = np.append(np.zeros(1999), 1).astype(np.int64) * RESIDUAL_STEPS
    kept = np.arange(2000) < 1999
    found = transcript(
        lambda rows, noise: descent.fit(*rows, given, noise=noise),
        (corner, target),
        (corner.where(kept), target[kept]),
        module=division,
        runs=40,
    )
    assert sum(found.vectors) == given.turns
    return found.laplace_level


def test_the_transcript_spends_what_was_promised_and_no_more():
    given = plan()
    assert given.division.word(SUMS) == "vector"
    assert 0.97 * given.division.level < spent(given) < 1.03 * given.division.level


def test_noise_divided_by_eleven_tenths_is_caught(monkeypatch):
    given, scale = plan(), Division.scale
    monkeypatch.setattr(Division, "scale", lambda self, name: scale(self, name) * Fraction(10, 11))
    assert spent(given) > 1.05 * given.division.level


def test_half_the_sensitivity_is_caught(monkeypatch):
    given, vector = plan(), Noise.vector
    monkeypatch.setattr(
        Noise,
        "vector",
        lambda self, squared, dimension, *, size: vector(self, squared / 4, dimension, size=size),
    )
    assert spent(given) > 1.8 * given.division.level


def test_any_row_moves_a_step_within_its_squared_sensitivity():
    chance = np.random.default_rng(3)
    given = plan()
    table = Points(chance.integers(-PER_SIDE, PER_SIDE + 1, (300, 3)).astype(np.int16), (), NUMBERS)
    target = chance.integers(0, 2, 300) * RESIDUAL_STEPS
    query = next(query for query in given.division.queries if query.name == SUMS)
    for gone in itertools.islice(range(0, 300, 60), 5):
        kept = np.arange(300) != gone
        found = transcript(
            lambda rows, noise: descent.fit(*rows, given, noise=noise),
            (table, target),
            (table.where(kept), target[kept]),
            module=division,
            runs=1,
        )
        moved = [one for one, vector in zip(found.moved, found.vectors, strict=True) if vector]
        assert len(moved) == given.turns and all(one @ one <= query.squared for one in moved)
