"""Directions by other code, the corrected ρ and ρ′, and attacks beside what can be counted by hand."""

import numpy as np
import pytest
from scipy.linalg import eigh

from engine.risk import features as risk


@pytest.fixture(scope="module")
def table():
    chance = np.random.default_rng(7)
    utility, hidden = chance.integers(0, 3, 600), chance.integers(0, 2, 600)
    rows = chance.normal(size=(600, 6)) * [1, 2, 1, 0.5, 3, 1]
    rows[:, 0] += 1.5 * utility
    rows[:, 1] += utility == 1
    rows[:, 2] += 2 * hidden + 0.5 * utility
    return rows, utility, hidden


def between_by_hand(rows, labels):
    """Σ N_l μ_l μ_l' − N μ μ', row by row."""
    found = -len(rows) * np.outer(rows.mean(axis=0), rows.mean(axis=0))
    for one in np.unique(labels):
        mean = rows[labels == one].mean(axis=0)
        found += (labels == one).sum() * np.outer(mean, mean)
    return found / len(rows)


def alike(ours, theirs):
    """The cosine of each pair of directions."""
    return np.abs((ours * theirs.T).sum(axis=1)) / np.linalg.norm(theirs, axis=0)


@pytest.mark.parametrize("beside", [0.0, 0.1, -0.1])
@pytest.mark.parametrize("kind", ["dca", "mdr"])
def test_directions_are_those_of_the_pencil(table, kind, beside):
    rows, utility, hidden = table
    between, whole = between_by_hand(rows, utility), np.cov(rows.T, bias=True)
    below = between_by_hand(rows, hidden) if kind == "mdr" else whole - between
    rho = 0.02 * np.linalg.eigvalsh(below)[-1]
    _, vectors = eigh(between + beside * rho * np.eye(6), below + rho * np.eye(6))
    found = risk.directions(rows, utility, hidden, kind=kind, count=2, beside=beside)
    vectors = vectors[:, ::-1][:, :2]  # of all others several have the same ratio
    assert (alike(found, vectors) > 1 - 1e-9).all()


def test_the_first_directions_are_those_printed_for_no_second_ridge_alone(table):
    """S_BU beside S̄ + ρI, as in the source; the cosine with ρ′ = ±.1 ρ is below 1."""
    rows, utility, hidden = table
    between, whole = between_by_hand(rows, utility), np.cov(rows.T, bias=True)
    rho = 0.02 * np.linalg.eigvalsh(whole - between)[-1]
    printed = eigh(between, whole + rho * np.eye(6))[1][:, ::-1][:, :2]
    for beside, is_same in ((0.0, True), (0.1, False), (-0.1, False)):
        found = risk.directions(rows, utility, hidden, kind="dca", count=2, beside=beside)
        least = alike(found, printed).min()
        assert (least > 1 - 1e-12) == is_same and least > 0.98


def test_the_sign_of_the_second_ridge_orders_what_is_left(table):
    """Above 0 the least scattered directions come first, which rebuild least; its size does not matter."""
    rows, utility, hidden = table
    centred = rows - rows.mean(axis=0)
    error = {
        beside: risk.rebuilding_error(
            centred, risk.directions(rows, utility, hidden, kind="dca", count=4, beside=beside)
        )
        for beside in (-0.05, -0.001, 0.001, 0.05)
    }
    assert error[0.001] > 1.3 * error[-0.001]
    assert error[0.05] == pytest.approx(error[0.001], rel=0.02)
    assert error[-0.05] == pytest.approx(error[-0.001], rel=0.02)


def test_principal_components_rebuild_more_with_each_and_everything_in_the_end(table):
    rows, utility, hidden = table
    centred = rows - rows.mean(axis=0)
    along = risk.directions(rows, utility, hidden, kind="pca", count=6)
    errors = [risk.rebuilding_error(centred, along[:count]) for count in range(1, 7)]
    assert (np.diff(errors) < 0).all() and errors[-1] < 1e-9
    fitted = risk.rebuilt(centred @ along[:2].T, rows, centred @ along[:2].T, rows)
    values = np.linalg.eigvalsh(np.cov(rows.T, bias=True))
    assert fitted == pytest.approx(values[-2:].sum() / values.sum(), abs=1e-9)


def test_waves_multiply_like_a_gaussian_kernel():
    chance = np.random.default_rng(3)
    rows = chance.normal(size=(200, 3))
    made = risk.waves(rows, 4000, chance)(rows)
    apart = np.sqrt(((rows[:, None] - rows[None]) ** 2).sum(axis=2))
    width = np.median(apart[apart > 0])
    assert np.abs(made @ made.T - np.exp(-(apart**2) / (2 * width**2))).max() < 0.09  # 5 deviations


def test_a_label_that_only_bends_is_read_by_trees_alone():
    chance = np.random.default_rng(5)
    feature = chance.normal(size=(2000, 1))
    label = (np.abs(feature[:, 0]) > 0.67).astype(int)
    read = risk.read_label(feature[::2], label[::2], feature[1::2], label[1::2])
    assert read["boosted"].area > 0.95 and abs(read["linear"].area - 0.5) < 0.1
    only = risk.read_label(feature[:10], np.zeros(10, int), feature[10:20], label[10:20])
    assert only["linear"].area == 0.5


def by_hand(truth, weights, classes, features, looked, made):
    """Who is read, person by person and value by value."""
    right = {"known": 0, "searched": 0}
    for place, row in enumerate(looked):
        for name in right:
            apart = [
                np.abs(one[place] - features[row]).max()
                if name == "known"
                else min(np.linalg.norm(one[place] - other) for other in features)
                for one in made
            ]
            score = {}
            for value, far in enumerate(apart):
                if far <= min(apart) + 1e-9:
                    score[classes[value]] = score.get(classes[value], 0) + weights[value]
            right[name] += max(sorted(score), key=lambda one: score[one]) == truth[place]
    return {name: count / len(looked) for name, count in right.items()}


@pytest.mark.parametrize("digits", [9, 0])
def test_an_attribute_is_read_as_by_hand(digits):
    chance = np.random.default_rng(11)
    values, others = chance.integers(0, 3, 60), chance.normal(size=(60, 2))
    along = np.array([[0.9, 0.5, -0.2], [0.1, -0.6, 0.7]])

    def made(value):
        return np.round(np.column_stack([value * np.ones(60), others]) @ along.T, digits)

    features, looked = made(values), np.arange(0, 60, 2)
    weights = np.bincount(values) / 60
    of = [made(one)[looked] for one in range(3)]
    found = risk.read_attribute(values[looked], weights, [0, 1, 2], features, looked, lambda one: of[one])
    wanted = by_hand(values[looked], weights, [0, 1, 2], features, looked, of)
    assert (found.known, found.searched) == pytest.approx((wanted["known"], wanted["searched"]))
    assert found.blind == np.mean(values[looked] == weights.argmax())
    if digits:
        assert found.known == found.searched == 1.0 and risk.alone(features) == 1.0
