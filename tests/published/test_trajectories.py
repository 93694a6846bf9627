"""Traces made from seeds on an invented log: what was published beside what is found here.

V. Bindschaedler, "Privacy-preserving seedbased data synthesis" (2018), table 7.1: Kullback–Leibler divergence
of visits from the seeds' day, 72 visits a day at 400 places of 30 people, 500 traces from each seed. The data
are not at hand: these are 1,000 people with one place of their own of each kind, 6 visits at 40 places; half
are seeds, each of one trace. Found here (one run):

| | published | as published, 5 kinds | tested, 5 kinds | tested, 2 kinds |
|---|---|---|---|---|
| traces from seeds | .384 | 1.20 | .20 | .07 |
| another day, other people | .037 | .03 | | .04 |
| places by lot | 1.191 | .06 | | |
| one place | 4.666 | 4.65 | | |
| places changed | | 100 % | 100 % | 100 % |
| other seeds in the crowd (median) | | unknown | 36 | 231 |
| pass for one trace, ε = 1, δ = 10⁻⁶ (crowd of 26) | | | 62 % | 100 % |
| pass for 50 traces (crowd of 945) | | | none | none |

With random factors of up to 4 the likeliest path prefers what most people do: few places are left. What
passes for more than one trace is nothing, and what passes for one has none of its seed's places. Here visits
are spread over all places, so that even places by lot are near: a small divergence alone says little.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from engine.analyses.trajectories import DELTA, _passing, drawn_with_crowds
from engine.methods.datasets.seeds.plan import plan_test
from engine.risk.trajectories import as_published, kept, learn_world

PEOPLE, PLACES, TIMES = 1_000, 40, 6


def invented(kinds: int, chance: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return traces of a chain of kinds, at the place of each kind that one has, and the parts of the day."""
    own = np.array(
        [[chance.choice(np.arange(kind, PLACES, kinds)) for kind in range(kinds)] for _ in range(PEOPLE)]
    )
    moves = chance.dirichlet(np.full(kinds, 0.7), size=kinds)
    order = np.zeros((PEOPLE, TIMES), dtype=np.int64)
    order[:, 0] = chance.integers(kinds, size=PEOPLE)
    for time in range(1, TIMES):
        ends = np.cumsum(moves[order[:, time - 1]], axis=1)
        order[:, time] = np.minimum((ends < chance.random(PEOPLE)[:, None]).sum(axis=1), kinds - 1)
    return np.take_along_axis(own, order, axis=1), order % 4


def test_crowds_and_usefulness_of_traces_from_seeds() -> None:
    chance = np.random.default_rng(3)
    crowds = {}
    for kinds in (5, 2):
        traces, parts = invented(kinds, chance)
        others, seeds = traces[:500], traces[500:]
        world = learn_world(others, parts[:500], places=PLACES, classes=kinds, chance=chance)
        made, crowds[kinds] = drawn_with_crowds(world, seeds, chance)
        changed = made != seeds
        floor, single = kept(seeds, others, PLACES), np.full_like(seeds, np.bincount(seeds.ravel()).argmax())
        assert changed.mean() > 0.9
        assert floor.visits < kept(seeds, made, PLACES).visits < kept(seeds, single, PLACES).visits
        assert (
            kept(seeds, as_published(world, seeds, chance), PLACES).visits > kept(seeds, made, PLACES).visits
        )
        one, many = (
            _passing(
                plan_test(n, epsilon=Fraction(1), delta=DELTA, ratio=Fraction(1)), crowds[kinds], changed
            )
            for n in (1, 50)
        )
        assert one.threshold == 26 and one.share > 0.4
        assert many.threshold == 945 and many.share < 1e-6, "more than there are seeds"
    assert np.median(crowds[2]) > 3 * np.median(crowds[5]), "fewer kinds make larger crowds"
