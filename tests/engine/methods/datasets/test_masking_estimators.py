"""What a recipient corrects is right on average: 500 runs of each step, within three standard errors."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import engine.methods.datasets.masking.steps.noise as noise_steps
from engine.methods.datasets.masking.estimators import (
    AddedNoise,
    Shape,
    counts_before,
    of_noise,
    reconstruct_distribution,
)
from engine.methods.datasets.masking.steps.noise import CorrelatedNoise, MultiplicativeNoise, Noise
from engine.methods.datasets.masking.steps.pram import Pram, central_factor, epsilon_of, invariant, staying
from engine.methods.datasets.masking.working import Working
from engine.table.schema import Column, Domain, Kind, Origin, Role, Schema
from engine.table.table import Table
from tests.engine.methods.datasets.masked import generator, released

RUNS = 500
WARDS = ("a", "b", "c", "d")
WARD = Column("ward", Role.IDENTIFYING, Kind.CATEGORY, Domain(values=WARDS), Origin.DECLARED)
SIZE = Column("size", Role.OTHER, Kind.NUMBER)
WEIGHT = Column("weight", Role.OTHER, Kind.NUMBER)
AGE = Column("age", Role.OTHER, Kind.INTEGER)
TRUE = np.array([240.0, 120.0, 36.0, 4.0])


def runs(frame, columns, step, options, read):
    """Take a step 500 times and give what was read after each."""
    chance, found = generator(11), []
    table, schema = Table(frame), Schema(tuple(columns))
    for _ in range(RUNS):
        working = Working(table, schema, [column.name for column in columns], chance)
        found.append(read(working, step.apply(working, options)))
    return np.array(found)


def is_right_on_average(found, true):
    error = found.std(axis=0, ddof=1) / len(found) ** 0.5
    return bool((np.abs(found.mean(axis=0) - true) <= 3 * error + 1e-9).all())


@pytest.mark.parametrize("is_invariant", [False, True])
def test_counts_before_values_changed_at_random(is_invariant):
    frame = pd.DataFrame({"ward": np.repeat(WARDS, TRUE.astype(int))})
    options = {"step": "pram", "column": "ward", "stay": 0.7, "invariant": is_invariant}
    found = runs(frame, [WARD], Pram(), options, lambda working, told: told.public["counts_before"])
    assert is_right_on_average(found, TRUE)
    assert not is_right_on_average(
        found, TRUE + np.array([3.0, 0.0, 0.0, -3.0])
    )  # the runs would show a bias of three
    released_counts = runs(
        frame,
        [WARD],
        Pram(),
        options,
        lambda working, told: np.bincount(working.texts("ward").places, minlength=4),
    )
    assert is_right_on_average(released_counts, TRUE) is is_invariant


def test_the_stated_error_of_a_count_is_its_error():
    frame = pd.DataFrame({"ward": np.repeat(WARDS, TRUE.astype(int))})
    options = {"step": "pram", "column": "ward", "stay": 0.7, "invariant": False}
    found = runs(
        frame,
        [WARD],
        Pram(),
        options,
        lambda working, told: [told.public["counts_before"], told.public["standard_errors"]],
    )
    # The standard deviation of 500 normal values is known to 3.2 %; 15 % are more than four times that
    assert found[:, 0].std(axis=0) == pytest.approx(found[:, 1].mean(axis=0), rel=0.15)


def test_cross_tables_are_corrected_by_the_same_matrix():
    """A column that was not changed, against one that was: each of its rows is corrected by itself."""
    frame = pd.DataFrame({"ward": ["a"] * 90 + ["b"] * 60 + ["a"] * 20 + ["c"] * 80, "sex": "f"})
    frame.loc[150:, "sex"] = "m"
    options = {"step": "pram", "column": "ward", "stay": 0.8, "invariant": False}
    women = (frame["sex"] == "f").to_numpy()

    def read(working, told):
        counts = np.bincount(working.texts("ward").places[women], minlength=4).astype(float)
        return counts_before(counts, np.array(told.public["matrix"]))[0]

    sex = Column("sex", Role.IDENTIFYING, Kind.CATEGORY)
    assert is_right_on_average(runs(frame, [WARD, sex], Pram(), options, read), [90.0, 60.0, 0.0, 0.0])


def test_the_matrix_undone_is_no_change_and_the_invariant_one_keeps_counts():
    matrix = staying(5, 0.6)
    true = np.array([50.0, 0.0, 7.0, 1.0, 20.0])
    assert matrix.sum(axis=1) == pytest.approx(1) and np.diag(matrix) == pytest.approx(0.6)
    assert counts_before(matrix.T @ true, matrix)[0] == pytest.approx(true)
    both = invariant(matrix, true)
    assert both.sum(axis=1) == pytest.approx(1) and true @ both == pytest.approx(true)


@pytest.mark.parametrize("distribution", ["normal", "laplace", "uniform"])
@pytest.mark.parametrize("column", [SIZE, AGE])
def test_mean_and_variance_under_noise(distribution, column, monkeypatch):
    nothing = Shape(*(np.zeros(1) for _ in range(4)))
    monkeypatch.setattr(noise_steps, "reconstruct_distribution", lambda *given, **options: nothing)
    values = np.repeat([1.0, 4.0, 9.0, 30.0], [60, 80, 40, 20])
    frame = pd.DataFrame({column.name: values})
    options = {"step": "noise", "column": column.name, "distribution": distribution, "standard_deviation": 2}

    def read(working, told):
        noise = AddedNoise(distribution, 2.0, told.public["grid"])
        there = working.numbers(column.name)
        corrected = of_noise(there, noise)
        return corrected["mean"][1], there.var(ddof=1) - told.public["variance"]

    found = runs(frame, [column], Noise(), options, read)
    assert is_right_on_average(found, [values.mean(), values.var(ddof=1)])
    assert not is_right_on_average(found, [values.mean(), values.var(ddof=1) + 4])


def test_whole_numbers_stay_whole_and_their_noise_is_exactly_known():
    noise = AddedNoise("laplace", 0.5, 1.0)
    steps = np.arange(-400, 401)
    scale = 0.5 / 2**0.5
    below = stats.laplace(scale=scale).cdf
    assert noise.variance == pytest.approx(((below(steps + 0.5) - below(steps - 0.5)) * steps**2).sum())
    made = released(
        pd.DataFrame({"age": np.arange(500)}),
        [AGE],
        {"step": "noise", "column": "age", "standard_deviation": 3},
    )
    assert made.artefacts[0].frame["age"].str.fullmatch("-?[0-9]+").all()


def test_correlations_stay_under_correlated_noise_and_its_size_is_undone():
    chance = generator(2)
    size = chance.normal(50, 10, 400)
    frame = pd.DataFrame({"size": size, "weight": 2 * size + chance.normal(0, 5, 400)})
    true = np.cov(frame, rowvar=False)
    options = {"step": "correlated_noise", "columns": ("size", "weight"), "relative_variance": 0.5}

    def read(working, told):
        held = np.column_stack([working.numbers("size"), working.numbers("weight")])
        found = np.cov(held, rowvar=False) / told.public["covariance_times"]
        return [*held.mean(axis=0), found[0, 0], found[0, 1], found[1, 1]]

    found = runs(frame, [SIZE, WEIGHT], CorrelatedNoise(), options, read)
    assert is_right_on_average(found, [*frame.mean(), true[0, 0], true[0, 1], true[1, 1]])


def test_moments_under_multiplicative_noise():
    frame = pd.DataFrame({"size": np.repeat([0.0, 1.5, 40.0, 800.0], 100)})
    options = {"step": "multiplicative_noise", "column": "size", "relative_deviation": 0.3}

    def read(working, told):
        there = working.numbers("size")
        return there.mean(), (there**2).mean() / told.public["second_moment_times"]

    found = runs(frame, [SIZE], MultiplicativeNoise(), options, read)
    assert is_right_on_average(found, [frame["size"].mean(), (frame["size"] ** 2).mean()])


def test_the_same_value_of_a_person_is_changed_once():
    """Otherwise ten rows of a person would give the value away by their mean."""
    pid = np.repeat(np.arange(50), 10)
    frame = pd.DataFrame({"pid": pid, "born": 1900 + pid, "ward": np.array(WARDS)[pid % 4]})
    born = Column("born", Role.IDENTIFYING, Kind.INTEGER)
    schema = Schema((Column("pid", Role.PERSON_KEY), born, WARD), 10)
    working = Working(Table(frame), schema, ["born", "ward"], generator(3))
    Noise().apply(working, {"column": "born", "distribution": "normal", "standard_deviation": 9})
    Pram().apply(working, {"column": "ward", "stay": 0.5, "invariant": False})
    changed = pd.DataFrame({"born": working.numbers("born"), "ward": working.texts("ward").places})
    assert (changed.groupby(pid).nunique() == 1).all().all()
    assert (changed["born"].to_numpy() != frame["born"]).mean() > 0.8


# --- distributions found again --------------------------------------------------------------------------


@pytest.mark.parametrize("distribution", ["normal", "laplace", "uniform"])
def test_a_distribution_is_found_again(distribution):
    """Two heaps that noise blurs into one: released shares are far off, those found again are near."""
    chance = generator(7)
    true = np.concatenate([chance.uniform(10, 25, 10_000), chance.uniform(70, 80, 5_000)])
    noise = AddedNoise(distribution, 15.0, 1e-6)
    drawn = {
        "normal": chance.normal(0, 15, len(true)),
        "laplace": chance.laplace(0, 15 / 2**0.5, len(true)),
        "uniform": chance.uniform(-15 * 3**0.5, 15 * 3**0.5, len(true)),
    }[distribution]
    found = reconstruct_distribution(true + drawn, noise, (0.0, 100.0), chance=chance, bins=10)
    shares = np.histogram(true, found.edges)[0] / len(true)
    assert found.shares.sum() == pytest.approx(1)
    assert np.abs(found.shares - shares).sum() < 0.35 * np.abs(found.released - shares).sum()
    assert (found.errors > 0).any() and (found.errors < 0.05).all()


def test_narrow_noise_changes_nothing_and_one_value_is_found():
    chance = generator(1)
    values = np.repeat([5.5, 95.5], [30, 70])
    found = reconstruct_distribution(
        values, AddedNoise("normal", 1e-3, 1e-6), (0.0, 100.0), chance=chance, bins=10
    )
    assert found.shares == pytest.approx([0.3, *[0.0] * 8, 0.7], abs=1e-6)
    one = reconstruct_distribution(np.array([4.0]), AddedNoise("normal", 1.0, 0.1), (4.0, 4.0), chance=chance)
    assert one.shares.sum() == pytest.approx(1)


def test_the_recipient_gets_what_was_found_again():
    made = released(
        pd.DataFrame({"age": np.repeat([20, 60], 200)}),
        [AGE],
        {"step": "noise", "column": "age", "standard_deviation": 4},
    )
    found = json.loads(made.artefacts[1].content)["masked"][0]["found"]["reconstruction"]
    assert sum(found["shares"]) == pytest.approx(1, abs=1e-4) and len(found["edges"]) == 21
    assert len(made.views) == 2


@pytest.mark.parametrize(("people", "wanted"), [(1000, 11), (10_000, 34), (100_000, 108)])
def test_changed_values_say_their_level_and_what_central_noise_would_gain(people, wanted):
    """Yes or no at ε 1: standard deviations of counts by closed form, over that of two geometric noises."""
    odds = np.e
    matrix = staying(2, odds / (1 + odds))
    assert epsilon_of(matrix) == pytest.approx(1)
    error = np.full(2, np.sqrt(people * odds) / (odds - 1))
    assert central_factor(matrix, error) == pytest.approx(wanted, rel=0.03)
    assert epsilon_of(staying(4, 0.7)) == pytest.approx(np.log(0.7 / 0.1))


@pytest.mark.parametrize("is_invariant", [False, True])
def test_a_matrix_that_is_read_off_the_rows_states_no_level(is_invariant):
    frame = pd.DataFrame({"ward": np.repeat(WARDS, TRUE.astype(int))})
    working = Working(Table(frame), Schema((WARD,)), ["ward"], generator(1))
    told = Pram().apply(working, {"step": "pram", "column": "ward", "stay": 0.7, "invariant": is_invariant})
    said = told.views[0].note
    assert ("epsilon" in told.public) == (said.id.endswith(".level")) == (not is_invariant)
    if not is_invariant:
        assert told.public["epsilon"] >= np.log(0.7 / 0.1) > told.public["epsilon"] - 0.001
        assert told.public["factor"] > 5 and said.values == {
            name: told.public[name] for name in ("epsilon", "factor")
        }
