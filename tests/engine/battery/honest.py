"""What the battery is tried on: one honest thing of each kind."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np

from engine.privacy.contribution import keep_rows
from engine.privacy.fixed_point import grid_bounds, grouped_sum, to_grid
from tests.engine.battery.distributions import gaussian_law, laplace_law
from tests.engine.battery.neighbours import added_rows, coded_rows
from tests.engine.battery.subject import Subject

CELLS, STEP, EPSILON, CAP = 4, Fraction(1, 4), Fraction(1), 2
GRID = {"minimum": -2, "maximum": 5, "step": STEP}
REACH = max(abs(bound) for bound in grid_bounds(**GRID))
PEOPLE = np.array([1, 3, 3, 0, 2, 3])
VALUES = np.array([0.3, 4.9, -7.0, 5.0, math.nan, math.inf, 2.0])


def counts(data):
    return np.bincount(data, minlength=CELLS)


def bounded_sum(data):
    grid, _ = to_grid(data, **GRID)
    return grouped_sum(grid, np.zeros(grid.size, dtype=int), 1)


def additive(query, scale, *, step=Fraction(1), draw="discrete_laplace"):
    """Return a release that adds integer noise, and the same many times over for the sum of its numbers."""

    def release(data, noise):
        answer = query(data)
        noisy = answer + getattr(noise, draw)(scale, answer.size)
        return noisy if step == 1 else np.array([float(int(k) * step) for k in noisy])

    def release_often(data, noise, runs):
        answer = query(data)
        noisy = sum(answer.tolist()) + getattr(noise, draw)(scale, runs)
        return noisy * float(step)

    return {"release": release, "release_often": release_often, "step": step}


def one_count(data):
    return counts(data)[3:]


COUNT = Subject(
    **additive(one_count, 1 / EPSILON),
    epsilon=EPSILON,
    pair=(PEOPLE, PEOPLE[:-1]),
    query=one_count,
    sensitivity=1,
    neighbours=coded_rows(CELLS),
    law=laplace_law(1 / EPSILON),
)
HISTOGRAM = replace(
    COUNT,
    **(additive(counts, 1 / EPSILON) | {"release_often": None}),
    query=counts,
    statistic=lambda released: released[3],
    audit_runs=8_000,
)
SUM = Subject(
    **additive(bounded_sum, REACH / EPSILON, step=STEP),
    epsilon=EPSILON,
    pair=(VALUES, np.append(VALUES, 5.0)),
    query=bounded_sum,
    sensitivity=REACH,
    neighbours=added_rows(),
    law=laplace_law(REACH / EPSILON),
)
GAUSSIAN = replace(
    COUNT, **additive(one_count, Fraction(30), draw="discrete_gaussian"), epsilon=None, law=gaussian_law(30)
)


def capped_sum(data, noise):
    kept = data[keep_rows(data[:, 0].astype(np.int64), cap=CAP, noise=noise)]
    return additive(lambda rows: bounded_sum(rows[:, 1]), CAP * REACH / EPSILON, step=STEP)["release"](
        kept, noise
    )


def rows_of_persons(data):
    return [np.flatnonzero(data[:, 0] == person) for person in np.unique(data[:, 0])]


EVENTS = np.array([[0, 5.0], [1, 1.0], [0, 5.0], [2, -1.0], [0, 5.0], [1, 4.0], [0, 5.0]])
PERSONS = Subject(
    release=capped_sum,
    epsilon=EPSILON,
    pair=(EVENTS, EVENTS[EVENTS[:, 0] != 0]),
    sensitivity=CAP * REACH,
    step=STEP,
    rows_of_units=rows_of_persons,
    audit_runs=6_000,
)


def randomised_response(data, noise):
    """Tell the truth with probability 3/4: ε = ln 3."""
    return np.where(noise.bernoulli(Fraction(3, 4), data.size), data, 1 - data)


RESPONSE = Subject(
    release=randomised_response,
    epsilon=Fraction(1_098_613, 10**6),
    pair=(np.array([1]), np.array([0])),
    release_often=lambda data, noise, runs: randomised_response(np.repeat(data, runs), noise),
)


def median_scores(data):
    """Score each declared place by how evenly it divides the rows; one row moves a score by at most 1."""
    places = np.arange(-2, 6)
    steps, missing = to_grid(data, minimum=-2, maximum=5, step=1)
    known = steps[~missing]
    return -np.abs((known[:, None] < places).sum(axis=0) - (known[:, None] > places).sum(axis=0))


def choosing(scores_of, rate):
    return lambda data, noise: np.array([noise.exponential_choice(scores_of(data), rate=rate)])


MEDIAN = Subject(
    release=choosing(median_scores, EPSILON / 2),
    epsilon=EPSILON,
    pair=(np.array([-2.0, 5.0]), np.array([-2.0, 5.0, 5.0])),
    sensitivity=1,
    neighbours=added_rows(),
    audit_runs=10_000,
)

HONEST = {
    "count": COUNT,
    "histogram": HISTOGRAM,
    "sum": SUM,
    "gaussian": GAUSSIAN,
    "persons": PERSONS,
    "response": RESPONSE,
    "median": MEDIAN,
}
