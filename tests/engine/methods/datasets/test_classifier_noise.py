"""Noise for classifiers: the equations of the theorems, the classifier that stays, and what is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from scipy import integrate, optimize

from engine.errors import InputRefused
from engine.methods.catalogue import method
from engine.methods.datasets.classifier_noise import (
    ClassifierNoise,
    Scaled,
    bounded_shape,
    level_of,
    machine,
    normal_shape,
    unseen_noise,
)
from engine.methods.protocol import Context
from engine.privacy.noise import Noise
from engine.release.make import _names_a_seed
from engine.table.schema import Column, Domain, Kind, Origin, Role, Schema
from engine.table.table import Table
from tests.engine.methods.datasets.masked import generator

ID = "datasets.classifier_noise"


def clouds(n=50, seed=1, columns=2):
    """Return two normal clouds, one for each class."""
    chance = generator(seed)
    rows = np.vstack([chance.normal(0.4, 0.1, (n, columns)), chance.normal(0.6, 0.1, (n, columns))])
    return rows, np.repeat([-1.0, 1.0], n)


# --- shapes of noise ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("rho", "weight"), [(1.0, 1.0), (400.0, 1.0), (7.0, 3.0)])
def test_normal_noise_solves_its_equation_and_no_other_spread_is_better(rho, weight):
    shape = normal_shape(rho, weight)
    assert weight / shape.variance**2 == pytest.approx(rho)  # V⁻¹ W V⁻¹ = ρ I
    cost = lambda variance: weight / variance + rho * variance  # noqa: E731
    assert optimize.minimize_scalar(cost, bounds=(1e-6, 100), method="bounded").x == pytest.approx(
        shape.variance, rel=1e-3
    )


def test_laplace_noise_of_the_same_information_is_twice_as_wide():
    """Why the normal one is better: at an information of 1/b² Laplace noise has the variance 2 b²."""
    shape = normal_shape(400.0)
    assert 2 / shape.information == pytest.approx(2 * shape.variance)


def test_without_utility_the_bounded_density_is_a_squared_cosine():
    shape = bounded_shape(0.0, 2.0)
    at = np.linspace(-2, 2, 41)
    below = (at + 2) / 4 + np.sin(np.pi * at / 2) / (2 * np.pi)  # the integral of cos²(πn/4)/2
    assert np.interp(at, shape.ends, shape.chances) == pytest.approx(below, abs=1e-6)
    assert shape.information == pytest.approx(np.pi**2 / 4, rel=1e-5)


def test_far_ends_give_the_normal_noise():
    shape, free = bounded_shape(400.0, 6.0), normal_shape(400.0)
    assert shape.variance == pytest.approx(free.variance, rel=1e-3)
    assert shape.information == pytest.approx(free.information, rel=1e-3)


@pytest.mark.parametrize("rho", [0.0, 5.0, 60.0])
def test_no_other_bounded_density_costs_less(rho):
    """The cost w·I + ρ E n² of the ground state, against squared sums of its first sine waves."""
    shape, reach = bounded_shape(rho, 1.0), 1.0
    own = shape.information + rho * shape.variance
    at = np.linspace(-reach, reach, 4001)
    waves = np.array([np.cos(np.pi * at / 2), np.cos(3 * np.pi * at / 2)])
    for share in (0.0, 0.05, 0.2, -0.1):
        psi = waves[0] + share * waves[1]
        psi /= integrate.simpson(psi**2, x=at) ** 0.5
        cost = 4 * integrate.simpson(np.gradient(psi, at) ** 2, x=at) + rho * integrate.simpson(
            psi**2 * at**2, x=at
        )
        assert own <= cost + 1e-4


@pytest.mark.parametrize("shape", [normal_shape(25.0), bounded_shape(3.0, 0.5)], ids=["normal", "bounded"])
def test_what_is_drawn_has_the_stated_variance(shape):
    drawn = shape.draw(100_000, generator(4))
    assert drawn.mean() == pytest.approx(0, abs=5 * (shape.variance / 1e5) ** 0.5)
    assert drawn.var() == pytest.approx(shape.variance, rel=0.03)  # five standard errors are 2.3 %
    if len(shape.ends):
        assert np.abs(drawn).max() <= 0.5


def test_the_level_is_that_of_the_distance_of_two_rows():
    """One column of standard deviation 4.2247 and a range of 1: ε = 1 at δ = 1e-6 (Balle and Wang, 2018)."""
    shape = normal_shape(4.2247**-4)
    assert level_of([shape], rows=1, delta=1e-6) == pytest.approx(1.0, rel=1e-3)
    assert level_of([shape] * 4, rows=1, delta=1e-6) == pytest.approx(level_of([shape], rows=4, delta=1e-6))


# --- the classifier -------------------------------------------------------------------------------------


def primal(rows, classes, penalty, kappa, alpha, beta):
    slack = np.maximum(0, 1 - classes * (rows @ alpha + beta))
    return 0.5 * alpha @ alpha + 0.5 * kappa * beta**2 + penalty * slack.sum()


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("penalty", "kappa"), [(1.0, 1e-3), (50.0, 1.0)])
def test_the_classifier_is_the_one(seed, penalty, kappa):
    """Its primal cost is its dual one, which bounds every other's; and no small step is better."""
    rows, classes = clouds(30, seed, 3)
    found = machine(rows, classes, penalty=penalty, kappa=kappa)
    wide = np.column_stack([rows, np.full(len(rows), kappa**-0.5)]) * classes[:, None]
    weights = wide.T @ found.multipliers
    dual = found.multipliers.sum() - 0.5 * weights @ weights
    cost = primal(rows, classes, penalty, kappa, found.alpha, found.beta)
    assert found.exact and cost == pytest.approx(dual, rel=1e-9)
    assert found.multipliers.min() >= 0 and found.multipliers.max() <= penalty
    for step in generator(seed).normal(0, 1e-3, (20, 4)):
        assert primal(rows, classes, penalty, kappa, found.alpha + step[:3], found.beta + step[3]) >= cost


def test_a_library_finds_the_same_classifier():
    from sklearn.svm import LinearSVC

    rows, classes = clouds(40, 3)
    wide = np.column_stack([rows, np.full(len(rows), 10.0)])
    other = LinearSVC(loss="hinge", C=5.0, fit_intercept=False, tol=1e-10, max_iter=10**6).fit(wide, classes)
    found = machine(rows, classes, penalty=5.0, kappa=0.01)
    assert other.coef_[0][:-1] == pytest.approx(found.alpha, abs=1e-4)
    assert other.coef_[0][-1] * 10 == pytest.approx(found.beta, abs=1e-3)


@pytest.mark.parametrize("size", [1.0, 100.0, 1e4])
@pytest.mark.parametrize("columns", [2, 12])
def test_unseen_noise_leaves_the_classifier_and_only_its_projection(size, columns):
    rows, classes = clouds(60, 5, columns)
    found = machine(rows, classes, penalty=2.0, kappa=1e-3)
    noise = unseen_noise(found, classes, size=size, chance=generator(9))
    again = machine(rows + noise, classes, penalty=2.0, kappa=1e-3)
    assert found.exact and again.exact
    assert again.alpha == pytest.approx(found.alpha, abs=1e-6) and again.beta == pytest.approx(
        found.beta, abs=1e-6
    )
    assert (rows + noise) @ found.alpha == pytest.approx(rows @ found.alpha, abs=1e-8 * size)
    # Its variance is ϑ in all other directions: n p − n − p of them
    free = len(rows) * columns - len(rows) - columns
    assert (noise**2).sum() == pytest.approx(size * free, rel=6 * (2 / free) ** 0.5)


def test_separable_classes_and_rows_that_are_alike():
    rows = np.array([[0.0, 0.0], [0.0, 0.0], [1.0, 1.0], [1.0, 1.0]])
    classes = np.array([-1.0, -1.0, 1.0, 1.0])
    found = machine(rows, classes, penalty=1000.0, kappa=1e-6)
    assert found.exact and found.alpha == pytest.approx([1.0, 1.0], abs=1e-4)
    noise = unseen_noise(found, classes, size=100.0, chance=generator(2))
    assert machine(rows + noise, classes, penalty=1000.0, kappa=1e-6).alpha == pytest.approx(
        found.alpha, abs=1e-6
    )


# --- the method ------------------------------------------------------------------------------------------


def number(name, low=0, high=100):
    return Column(
        name, Role.OTHER, Kind.NUMBER, Domain(minimum=Fraction(low), maximum=Fraction(high)), Origin.DECLARED
    )


COLUMNS = (number("a"), number("b"))
LABEL = Column("ill", Role.SENSITIVE, Kind.CATEGORY, Domain(values=("no", "yes")), Origin.DECLARED)


THREE = Column("ill", Role.OTHER, Kind.CATEGORY, Domain(values=("a", "b", "c")), Origin.DECLARED)


def request(label=LABEL, columns=COLUMNS, **values):
    schema = Schema((*columns, label))
    given = {"columns": [c.name for c in columns], "label": label.name, **values}
    return method(ID).make_request({"people": schema}, given)


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (request(rho=4), []),
        (request(rho=0), ["rho"]),
        (request(form="bounded", rho=0, reach=1), []),
        (request(rho=4, weights={"a": 2}), []),
        (request(rho=4, weights={"ill": 2}), ["parameters.kind"]),
        (request(THREE, rho=4), ["two_classes"]),
        (request(form="same_classifier", size=4), []),
    ],
)  # fmt: skip
def test_it_is_checked_by_declarations(asked, expected):
    found = [problem.code.removeprefix(f"{ID}.") for problem in method(ID)(asked).problems]
    assert found == expected or (expected == ["parameters.kind"] and found)


def frame(n=200, seed=2):
    rows, classes = clouds(n // 2, seed)
    return pd.DataFrame(
        {"a": rows[:, 0] * 100, "b": rows[:, 1] * 100, "ill": np.where(classes > 0, "yes", "no")}
    )


def released(asked, table):
    context = Context(Noise(), generator(3), None)
    return ClassifierNoise(asked).run({"people": Table(table)}, context)


def test_rows_with_a_missing_value_stay_and_the_others_are_shuffled():
    table = frame()
    table.loc[5, "a"], table.loc[9, "ill"] = None, "unknown"
    made = released(request(rho=400), table)
    found = made.artefacts[0].frame
    assert len(found) == 198 and list(found) == ["a", "b", "ill"] and set(found["ill"]) == {"no", "yes"}
    assert made.inside.figures["left_out"] == 2
    assert found["ill"].tolist() != table["ill"].tolist()
    origins = made.artefacts[0].origins.tolist()
    assert sorted(origins) == [row for row in range(200) if row not in (5, 9)]
    assert found["ill"].tolist() == table["ill"].iloc[origins].tolist()
    apart = found["a"].astype(float).to_numpy() - table["a"].to_numpy()[origins]
    assert abs(apart.std() - 100 * 400**-0.25) < 3.5  # nothing but the noise is between the two


def test_the_released_table_gives_the_classifier_of_the_original_one():
    asked, table = request(form="same_classifier", size=100), frame()
    made = released(asked, table)
    found, figures = made.artefacts[0].frame, made.inside.figures
    rows = found[["a", "b"]].astype(float).to_numpy() / 100
    again = machine(rows, np.where(found["ill"] == "yes", 1.0, -1.0), penalty=1.0, kappa=1e-3)
    original = machine(
        table[["a", "b"]].to_numpy() / 100,
        np.where(table["ill"] == "yes", 1.0, -1.0),
        penalty=1.0,
        kappa=1e-3,
    )
    assert again.alpha == pytest.approx(original.alpha, abs=1e-6)
    assert again.beta == pytest.approx(original.beta, abs=1e-6)
    assert figures["moved"] < 1e-6 and figures["right_before"] == figures["right_after"] > 0.8
    assert [note.id for note in made.notes] == [f"methods.{ID}.notes.projection"]


def test_the_record_tells_bounds_and_noise_and_not_the_classifier():
    tree = json.loads(released(request(rho=4), frame()).artefacts[1].content)
    assert tree["columns"] == [{"name": name, "bounds": [0.0, 100.0]} for name in "ab"]
    assert tree["classes"] == ["no", "yes"]
    assert tree["variance_of_scaled"] == [0.5, 0.5]
    assert not {"alpha", "beta", "multipliers"} & set(tree)


def test_one_class_alone_is_refused():
    with pytest.raises(InputRefused, match="one_class"):
        released(request(rho=4), frame().assign(ill="no"))


@pytest.mark.slow
@pytest.mark.parametrize("rho", [1.0, 10.0, 1000.0])
def test_a_classifier_learns_more_under_normal_noise_than_under_laplace_noise(rho):
    """Breast Cancer Wisconsin, the same information about a value: 30 classifiers each, on the true rows."""
    from sklearn.datasets import load_breast_cancer

    held = load_breast_cancer()
    rows = (held.data - held.data.min(axis=0)) / np.ptp(held.data, axis=0)
    classes, chance = 2.0 * held.target - 1, generator(12)
    spread = normal_shape(rho).variance ** 0.5

    def right(noise):
        learnt = machine(rows + noise, classes, penalty=1.0, kappa=1e-3)
        return (learnt.classes(rows) == classes).mean()

    found = np.array(
        [
            (right(chance.normal(0, spread, rows.shape)), right(chance.laplace(0, spread, rows.shape)))
            for _ in range(30)
        ]
    )
    better = found[:, 0] - found[:, 1]
    assert better.mean() > 3 * better.std(ddof=1) / 30**0.5


def test_rounded_values_have_the_digits_that_were_meant():
    low, width = np.array([0.0, -3.0]), np.array([14.0, 0.07])
    empty = np.zeros(0, dtype=np.int64)
    found = Scaled(np.zeros((0, 2)), np.zeros(0), np.zeros(0, dtype=object), low, width, empty, 0)
    rows = np.random.default_rng(5).random((500, 2))
    written = found.written(rows, exact=False)
    for column, most in zip(written.T.tolist(), (5, 8), strict=True):
        assert max(len(repr(value).partition(".")[2]) for value in column) <= most
    assert np.abs(written - (low + rows * width)).max() <= 0.5e-5


def test_a_column_may_be_called_a_seed():
    seed, state = (
        replace(column, name=name) for column, name in zip(COLUMNS, ("seed", "random_state"), strict=True)
    )
    table = frame().rename(columns={"a": "seed", "b": "random_state"})
    record = released(request(columns=(seed, state), rho=4), table).artefacts[1]
    assert not _names_a_seed(json.loads(record.content))
