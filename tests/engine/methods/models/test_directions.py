"""Directions that tell a label and hide another: the published ones without noise, and what is refused."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.linalg import eigh

from engine.methods.catalogue import method
from engine.methods.models.components import project
from engine.methods.models.directions import RIDGE
from engine.methods.protocol import Budget, Context
from engine.privacy.events import Neighbours
from engine.privacy.mechanisms.integers import listening
from engine.table.schema import Column, Domain, Kind, Origin, Role, Schema
from engine.table.table import Table
from tests.noise_source import seeded_noise

DIRECTIONS = method("models.directions")
NUMBERS = ("one", "two", "three")


def number(name: str) -> Column:
    return Column(name, Role.OTHER, Kind.NUMBER, Domain(Fraction(-4), Fraction(4)), Origin.DECLARED)


def label(name: str, *values: str) -> Column:
    return Column(name, Role.OTHER, Kind.CATEGORY, Domain(values=values), Origin.DECLARED)


SCHEMA = Schema(
    (*map(number, NUMBERS), label("state", "a", "b", "c"), label("sex", "f", "m"), label("x", "y"))
)


def people(n: int = 4000, seed: int = 1) -> pd.DataFrame:
    """The first number tells both labels, the second the state alone, the third nothing."""
    chance = np.random.default_rng(seed)
    state, sex = chance.integers(0, 3, n), chance.integers(0, 2, n)
    numbers = chance.normal(size=(n, 3)) * 0.5
    numbers[:, 0] += 0.9 * (state - 1) + 0.8 * (2 * sex - 1)
    numbers[:, 1] += 0.6 * (state - 1)
    frame = pd.DataFrame(np.rint(numbers.clip(-4, 4) * 256) / 256, columns=list(NUMBERS))
    return frame.assign(state=np.array(["a", "b", "c"])[state], sex=np.array(["f", "m"])[sex])


def design(epsilon: Any = 1, **given: Any) -> Any:
    parameters = {"columns": list(NUMBERS), "utility": "state", "components": 2} | given
    budget = Budget(Fraction(epsilon), Fraction(0), Neighbours.ADD_REMOVE)
    return DIRECTIONS(DIRECTIONS.make_request({"people": SCHEMA}, parameters, budget=budget))


def exactly(found: Any, frame: pd.DataFrame) -> dict[str, Any]:
    """Return the model from sums without noise."""
    context = Context(seeded_noise(1), None, Path())
    heard = []

    def hear(values: Any, draws: Any) -> Any:
        heard.append(values)
        return values

    with listening(hear):
        release = found.run({"people": Table(frame)}, context)
    assert len(heard) == 1
    return dict(json.loads(release.artefacts[0].content))


def between(frame: pd.DataFrame, name: str) -> Any:
    rows = frame[list(NUMBERS)].to_numpy() / 4
    apart = [
        (part[list(NUMBERS)].to_numpy().mean(axis=0) / 4 - rows.mean(axis=0), len(part) / len(frame))
        for _, part in frame.groupby(name)
    ]
    return sum(share * np.outer(one, one) for one, share in apart)


@pytest.mark.parametrize("kind", ["dca", "mdr"])
def test_with_little_noise_they_are_the_published_directions(kind: str) -> None:
    frame = people()
    model = exactly(design(10**7, kind=kind, hidden="sex" if kind == "mdr" else None), frame)
    rows = frame[list(NUMBERS)].to_numpy() / 4
    below = between(frame, "sex") if kind == "mdr" else np.cov(rows.T, bias=True)
    below = below + RIDGE * np.linalg.eigvalsh(below)[-1] * np.eye(3)
    _, vectors = eigh(between(frame, "state"), below)
    ours = np.array([one["weights"] for one in model["columns"]])[:, :, 0].T
    for found, wanted in zip(ours, vectors.T[::-1][:2], strict=True):
        assert abs(found @ wanted) / np.linalg.norm(wanted) > 0.9999
    along = project(model, frame)
    assert np.var(along, axis=0) == pytest.approx(model["variances"], rel=1e-3)
    shares = [
        pd.Series(along[:, 0]).groupby(frame[name]).transform("mean").var() / along[:, 0].var()
        for name in model["labels"]
    ]
    assert [one[0] for one in model["told_of_labels"]] == pytest.approx(shares, abs=2e-3)


def test_directions_that_hide_a_label_tell_less_of_it_and_still_the_other() -> None:
    frame = people()
    told, hidden = (
        project(exactly(design(10**7, kind=kind, hidden="sex" if kind == "mdr" else None), frame), frame)[
            :, 0
        ]
        for kind in ("dca", "mdr")
    )

    def share(along: Any, name: str) -> float:
        return float(pd.Series(along).groupby(frame[name]).transform("mean").var() / along.var())

    assert share(told, "sex") > 0.1 > 0.02 > share(hidden, "sex")
    assert share(hidden, "state") > 0.2


@pytest.mark.parametrize("epsilon", [1, 10])
def test_a_label_that_nothing_tells_is_marked_and_one_that_is_told_is_not(epsilon: int) -> None:
    frame = people(3000)
    shuffled = frame.assign(state=frame["state"].sample(frac=1, random_state=1).to_numpy())
    marked = []
    for one in (frame, shuffled):
        told = []
        for seed in range(15):
            context = Context(seeded_noise(seed), None, Path())
            release = design(epsilon, components=1).run({"people": Table(one)}, context)
            told.append(release.views[0].rows[0][-1] is not None)
        marked.append(np.mean(told))
    assert marked[0] == 0 and marked[1] > 0.7


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"utility": "state", "components": 3}, "too_many_directions"),
        ({"columns": [*NUMBERS, "state"]}, "label_twice"),
        ({"kind": "mdr", "hidden": "state"}, "label_twice"),
        ({"utility": "x", "components": 1}, "one_value"),
    ],
)
def test_what_cannot_work_is_said_from_declarations_alone(given: dict[str, Any], code: str) -> None:
    assert [problem.code for problem in design(**given).problems] == [f"models.directions.{code}"]
