"""How much is left on real tables at ε = 1: medians over splits of 80/20, fixed seeds."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from engine.methods.models import additive_steps, class_tables, descent
from engine.methods.models.additive_schedule import Schedule
from engine.methods.models.class_tables import TablesPlan, shares
from engine.methods.models.descent import DescentPlan
from engine.methods.models.k_means import PER_SIDE as STEPS
from engine.methods.models.k_means import CentresPlan
from engine.methods.models.k_means import fit as grouped
from engine.methods.models.monomials import Monomials
from engine.methods.models.points import PER_SIDE, Points
from engine.methods.models.residuals import RESIDUAL_STEPS
from engine.methods.models.targets import Target
from engine.methods.shared.column_cells import cells_of
from engine.table.schema import Column, Domain, Kind, Origin
from engine.table.table import Table
from tests.noise_source import seeded_noise
from tests.peers.model_tables import ADULT, EDGES, WINE

pytestmark = pytest.mark.slow
DATA = Path(__file__).parents[3] / "data"
SMALL, ONE = Fraction(1, 10**6), Fraction(1)


def number(name, low, high, kind=Kind.NUMBER):
    domain = Domain(Fraction(low), Fraction(high))
    return Column(name, kind=kind, domain=domain, domain_origin=Origin.DECLARED)


@pytest.fixture(scope="module")
def adult():
    frame = pd.read_csv(DATA / "adult.csv.gz", skipinitialspace=True)
    frame.columns = [name.replace("-", "_") for name in frame.columns]
    return frame


def columns_of(frame):
    """Numbers with bounds, other columns with the values that the census lists."""
    found = []
    for name in frame.columns:
        if name in ADULT:
            found.append(number(name, *ADULT[name], Kind.INTEGER))
        else:
            values = tuple(sorted(value for value in frame[name].unique() if value != "?"))
            domain = Domain(values=values)
            found.append(Column(name, kind=Kind.CATEGORY, domain=domain, domain_origin=Origin.DECLARED))
    return found


def wine_rows():
    frame = pd.read_csv(DATA / "wine_white.csv.gz", sep=None, engine="python", compression="gzip")
    frame.columns = [name.replace("_", " ").lower() for name in frame.columns]
    return frame


def test_a_linear_model_of_wine():
    """Goal .22; least squares explains .26."""
    frame = wine_rows()
    points = Points.of(Table(frame), [number(name, *ends) for name, ends in WINE.items()])
    target = Target(number("quality", 0, 10)).steps(frame["quality"])
    plan = DescentPlan(points.widths, ONE, SMALL, 1, False, 3900, False)
    kept = []
    for seed in range(16):
        inside = np.random.default_rng(seed).random(len(frame)) < 0.8
        found = descent.fit(points.where(inside), target[inside], plan, noise=seeded_noise(seed))
        left = (target[~inside] - points.where(~inside).scores(found.solution.weights) * 8) / 2**15
        kept.append(1 - np.mean(left**2) / np.var(target[~inside] / 2**15))
    assert np.median(kept) >= 0.22


def test_an_additive_model_of_wine():
    """Goal .245."""
    frame = wine_rows()
    cells = [cells_of(number(name, *ends), bins=16) for name, ends in WINE.items()]
    codes = [one.codes(frame[one.column.name]) for one in cells]
    target = Target(number("quality", 0, 10)).steps(frame["quality"])
    plan = Schedule(tuple(one.size for one in cells), ONE, SMALL, 1, False, 3900, False).borne_out()
    kept = []
    for seed in range(16):
        inside = np.random.default_rng(seed).random(len(frame)) < 0.8
        found = additive_steps.fit(
            [one[inside] for one in codes],
            target[inside],
            plan,
            ordered=[one.ordered for one in cells],
            noise=seeded_noise(seed),
        )
        curves = zip(found.curves, codes, strict=True)
        scores = found.intercept + sum(curve.effects[one[~inside]] for curve, one in curves)
        truth = target[~inside] / RESIDUAL_STEPS
        kept.append(1 - np.mean((truth - scores) ** 2) / np.var(truth))
    assert np.median(kept) >= 0.245


def test_naive_bayes_of_adult_without_delta(adult):
    """Goal: area .90 at pure ε = 1."""
    from sklearn.metrics import roc_auc_score

    own = {name: tuple(map(Fraction, edges)) for name, edges in EDGES.items()}
    predictors = [
        cells_of(one, bins=16, edges=own.get(one.name)) for one in columns_of(adult) if one.name != "income"
    ]
    codes = [one.codes(adult[one.column.name]) for one in predictors]
    rich = adult["income"].str.startswith(">").to_numpy().astype(np.int64)
    inside = np.random.default_rng(0).random(len(adult)) < 0.8
    plan = TablesPlan(2, tuple(one.size for one in predictors), 0, ONE, Fraction(0), 1, False)
    rows = class_tables.Rows(rich[inside], [own[inside] for own in codes])
    found = class_tables.fit([rows], plan, noise=seeded_noise(1))
    score = sum(
        np.log(shares(one)[1] / shares(one)[0])[own] for one, own in zip(found.cells, codes, strict=True)
    )
    assert roc_auc_score(rich[~inside], score[~inside]) >= 0.90


def test_components_of_adult(adult):
    """Goal: .95 of the variance of as many best components at ε = .1; with two, five and ten of them."""
    from engine.methods.catalogue import method
    from engine.methods.protocol import MAIN, Budget
    from engine.table.schema import Schema

    columns = columns_of(adult)
    points = Points.of(Table(adult), columns)
    monomials = Monomials(points.widths, target=False)
    exact = monomials.sums(points.dense())
    whole = monomials.whole(exact / PER_SIDE**2)
    mean = whole[0, 1:] / whole[0, 0]
    best = whole[1:, 1:] / whole[0, 0] - np.outer(mean, mean)
    way, budget = method("models.pca"), Budget(ONE / 10, SMALL)
    given = {"columns": [one.name for one in columns], "components": 10, "noise": "gaussian"}
    request = way.make_request({MAIN: Schema(tuple(columns))}, given, budget=budget)
    assert not way(request).problems
    kept = []
    for seed in range(5):
        noisy = way(request).division.noisy("products", exact, seeded_noise(seed))
        directions = way(request).components(noisy).directions
        kept.append([np.trace(one @ best @ one.T) for one in (directions[:2], directions[:5], directions)])
    values = np.linalg.eigvalsh(best)[::-1]
    assert (np.median(kept, axis=0) >= [0.95 * values[:count].sum() for count in (2, 5, 10)]).all()


def test_eight_groups_of_adult(adult):
    """Goal: within 1.02 of the inertia without noise at ε = 1."""
    from sklearn.cluster import KMeans

    names = ("age", "education_num", "hours_per_week")
    rows = np.stack([_steps(adult[one], *ADULT[one]) for one in names], 1)
    best = KMeans(8, n_init=4, random_state=0).fit(rows).inertia_ / len(rows)
    plan = CentresPlan(3, 8, ONE, SMALL, 1, False, len(rows))
    found = [grouped(rows, plan, noise=seeded_noise(seed)).centres for seed in range(3)]
    worth = [((rows[:, None, :] - one) ** 2).sum(axis=2).min(axis=1).mean() / best for one in found]
    assert np.median(worth) <= 1.02


def _steps(values, low, high):
    scaled = np.clip((values.to_numpy(float) - (low + high) / 2) * 2 / (high - low), -1, 1)
    return np.trunc(scaled * STEPS).astype(np.int64)


def _additive_of_income(adult, epsilon, delta, seed=0):
    """Return accuracy and area under the curve on the fifth that is left out."""
    from sklearn.metrics import roc_auc_score

    own = {name: tuple(map(Fraction, edges)) for name, edges in EDGES.items()}
    cells = [
        cells_of(one, bins=16, edges=own.get(one.name)) for one in columns_of(adult) if one.name != "income"
    ]
    codes = [one.codes(adult[one.column.name]) for one in cells]
    rich = adult["income"].str.startswith(">").to_numpy().astype(np.int64)
    inside = np.random.default_rng(seed).random(len(adult)) < 0.8
    sizes = tuple(one.size for one in cells)
    plan = Schedule(sizes, epsilon, delta, 1, False, 39_000, True).borne_out()
    found = additive_steps.fit(
        [one[inside] for one in codes],
        rich[inside] * RESIDUAL_STEPS,
        plan,
        ordered=[one.ordered for one in cells],
        noise=seeded_noise(seed),
    )
    curves = zip(found.curves, codes, strict=True)
    scores = found.intercept + sum(curve.effects[one[~inside]] for curve, one in curves)
    return np.mean((scores > 0) == rich[~inside]), roc_auc_score(rich[~inside], scores)


def test_an_additive_model_of_income(adult):
    """Goals: .855 and .910 at ε = 1, .888 at a tenth, .895 without δ; non-private logistic .846 and .902."""
    accuracy, area = _additive_of_income(adult, ONE, SMALL)
    assert accuracy >= 0.855 and area >= 0.910
    assert _additive_of_income(adult, ONE / 10, SMALL)[1] >= 0.888
    assert _additive_of_income(adult, ONE, Fraction(0))[1] >= 0.895
