"""Implicit privacy at risk, both sources together, and the direct measurement.

A. Dandekar, "Privacy risk of releasing data and models", NUS 2019, chapter 8: theorems 4 and 5, the figures
on the number of samples and on theorem 5, and the ridge illustration. What each picture shows, and which
figure of the chapter it is, stands in test_privacy_risk_thesis_8.py.

The ridge illustration cannot be repeated on its own data (an extract of the US census of 2000). Here it runs
on Adult (UCI id 2), whose income is only known as above or below 50,000: income is 0 or 1, which lies in
[0, 1] as the illustration asks. Its five attributes are age, education_num, capital_gain, capital_loss and
hours_per_week, as they stand in the file, each row then scaled to unit L2 norm. And on a simulated table of
170,000 × 5.
"""

import csv
import gzip
import math
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from engine.privacy.at_risk import laplace, mechanisms, published
from engine.privacy.direct import SimulatedLaplace
from engine.privacy.sampled_sensitivity import (
    RecordOrigin,
    RidgeQuery,
    Sides,
    TablePopulation,
    authors_eta,
    both_confidence,
    dkw_probability,
    implicit_confidence,
    plan_pairs,
    ridge_sensitivity_bounds,
    sampled_noise_scale,
    sampled_sensitivity,
    unit_rows,
)
from tests.engine.privacy.test_direct import between

ADULT = Path(__file__).parents[1] / "data" / "adult.csv.gz"
ATTRIBUTES = ("age", "education_num", "capital_gain", "capital_loss", "hours_per_week")
PENALTY = 0.01  # λ, per record
PAIRS = 15_000


def seeded(seed=1):
    return np.random.Generator(np.random.PCG64(seed))


# § 5.2


def test_5_2_probability_of_15000_pairs():
    assert dkw_probability(15_000, 0.01) == pytest.approx(0.9004, abs=5e-5)
    assert dkw_probability(15_000, 0.01) == 1 - 2 * math.exp(-2 * 0.01**2 * 15_000)
    assert plan_pairs(tolerance=0.01, probability=0.9004).pairs == pytest.approx(15_000, rel=1e-3)


def test_5_2_both_bounds_are_shown():
    found = implicit_confidence(15_000, quantile=0.9, tolerance=0.01)
    assert found.printed == pytest.approx(0.9 * 0.9004, abs=1e-4)
    assert found.corrected == pytest.approx(0.89)
    assert found.probability == pytest.approx(1 - math.exp(-3))
    assert found.corrected_two_sided_probability == pytest.approx(0.9004, abs=5e-5)


def test_5_2_figure_number_of_pairs(draw):
    shares = np.linspace(0.02, 0.98, 49)
    tolerances = (0.0001, 0.001, 0.01, 0.1)
    curves = {
        rho: np.array([plan_pairs(tolerance=rho, probability=a).pairs for a in shares]) for rho in tolerances
    }
    for fine, coarse in pairwise(tolerances):
        assert np.all(np.diff(curves[fine]) >= 0)
        # ρ² in the denominator; n is rounded up, by less than 1.
        assert np.all(curves[fine] <= 100 * curves[coarse])
        assert np.all(curves[fine] > 100 * (curves[coarse] - 1))
    for rho in tolerances:
        closed = np.ceil(np.log(2 / (1 - shares)) / (2 * rho**2))
        assert np.abs(curves[rho] - closed).max() <= 1

    def paint(axes):
        for rho in tolerances:
            axes.semilogy(shares, curves[rho], label=f"ρ = {rho}")
        axes.set_ylim(top=1e11)  # room for the legend

    draw(
        "figure_8_3_number_of_pairs",
        paint,
        xlabel="probability α over the pairs",
        ylabel="number of pairs n",
        title="Pairs needed (§ 5.2)",
    )


# § 5.3: ε₀ = 1, Δ_S = .15, one output, as in the authors' program; they take γ₂·α as α alone.

EPSILONS = np.linspace(0.02, 1.0, 50)


def confidences(pairs, rho):
    implicit = implicit_confidence(pairs, quantile=1.0, tolerance=rho)
    eta = authors_eta(0.01, 0.15)
    return np.array([both_confidence(e, epsilon0=1.0, implicit=implicit, eta=eta).printed for e in EPSILONS])


@pytest.mark.parametrize(
    ("part", "name", "curves"),
    [
        ("a", "tolerance", {f"ρ = {rho}": (10_000, rho) for rho in (0.01, 0.012, 0.015, 0.02)}),
        ("b", "pairs", {f"n = {n}": (n, 0.01) for n in (10_000, 15_000, 20_000, 25_000)}),
    ],
)
def test_5_3_figures(draw, part, name, curves):
    found = {label: confidences(*given) for label, given in curves.items()}
    for label, (pairs, rho) in curves.items():
        by_hand = (1 - np.exp(-EPSILONS)) / (1 - math.exp(-(1 + 2 * 0.01 / 0.15)))
        assert np.allclose(found[label], by_hand * (1 - 2 * math.exp(-2 * rho**2 * pairs)), rtol=1e-12)
    stacked = np.array(list(found.values()))
    assert np.all(
        np.diff(stacked, axis=0) > 0
    )  # more pairs or a larger tolerance: a higher printed confidence
    assert np.all(np.diff(stacked, axis=1) > 0)

    def paint(axes):
        for label, values in found.items():
            axes.plot(1 - values, EPSILONS, label=label)

    draw(
        f"figure_8_4{part}_{name}",
        paint,
        xlabel="1 − confidence",
        ylabel="ε",
        title="Theorem 5 as printed (§ 5.3)",
    )


# § 5.4


def test_5_4_two_million_draws():
    """At ε₀ = 1, ε = .6: .4094 and .1848 measured, .4094 and .1847 exact, .7138 published."""
    losses = between(0.0, 1.0, SimulatedLaplace(1.0), draws=2_000_000, seed=5)
    one = losses.within(0.6, level=1 - 1e-6)
    two = losses.within(0.6, level=1 - 1e-6, two_sided=True)
    assert one.low <= mechanisms.laplace(epsilon0=1.0).confidence(0.6) <= one.high
    assert two.low <= mechanisms.laplace(epsilon0=1.0).confidence_two_sided(0.6) <= two.high
    assert one.share == pytest.approx(0.4094, abs=0.0018)
    assert two.share == pytest.approx(0.1848, abs=0.0015)
    assert published.confidence(0.6, epsilon0=1.0) > one.high + 0.3


# § 5.5


def adult():
    with gzip.open(ADULT, "rt", encoding="utf-8", newline="") as file:
        rows = [[row[name] for name in (*ATTRIBUTES, "income")] for row in csv.DictReader(file)]
    predictors = np.array([row[:-1] for row in rows], dtype=float)
    income = np.array([row[-1].startswith(">50K") for row in rows], dtype=float)
    return np.column_stack([unit_rows(predictors), income])


def simulated(rows=170_000, attributes=5):
    generator = seeded(170)
    predictors = unit_rows(np.abs(generator.normal(loc=0.7, size=(rows, attributes))))
    income = predictors @ np.array([0.5, 0.1, 0.3, -0.2, 0.2]) + 0.1 * generator.normal(size=rows)
    return np.column_stack([predictors, np.clip(income, 0.0, 1.0)])


TABLES = {"adult": (adult, RecordOrigin.PUBLIC), "simulated": (simulated, RecordOrigin.SIMULATED)}


def test_5_5_adult_is_prepared_as_it_says():
    table = adult()
    assert table.shape == (48_842, 6)
    assert np.allclose(np.linalg.norm(table[:, :-1], axis=1), 1.0)
    assert set(table[:, -1]) == {0.0, 1.0}
    assert table[:, -1].mean() == pytest.approx(11_687 / 48_842)


@pytest.mark.parametrize("name", TABLES)
def test_5_5_sampled_sensitivity(draw, name):
    make, origin = TABLES[name]
    population = TablePopulation(make(), origin=origin)
    samples = {}
    for records in (500, 2_000, 8_000):
        query = RidgeQuery(PENALTY * records)
        samples[records] = sampled_sensitivity(
            query,
            population,
            pairs=PAIRS if records == 2_000 else 2_000,
            records=records,
            generator=seeded(records),
        )
    sample = samples[2_000]
    bounds = ridge_sensitivity_bounds(2_000, 5, penalty=PENALTY)
    assert sample.pairs == PAIRS
    # What the illustration shows: typical neighbours move the answer far less than the bound allows.
    assert sample.values[-1] < bounds.update < bounds.thesis
    assert sample.quantile(0.9) < bounds.thesis / 20
    assert 0.0 < sample.quantile(0.5) < sample.quantile(0.9) < sample.quantile(0.99)
    assert sample.distribution(sample.quantile(0.9)) == pytest.approx(0.9)
    # One record among four times as many moves the answer about a quarter as far.
    for few, many in [(500, 2_000), (2_000, 8_000)]:
        assert samples[few].quantile(0.9) / samples[many].quantile(0.9) == pytest.approx(4, rel=0.1)

    def paint(axes):
        for records, drawn in samples.items():
            axes.semilogx(
                np.maximum(drawn.values, 1e-7),
                np.arange(1, drawn.pairs + 1) / drawn.pairs,
                label=f"{records:,} records",
            )
        axes.axvline(
            bounds.thesis, color="black", linestyle="--", label="bound as in the thesis, 2,000 records"
        )
        axes.axvline(bounds.update, color="grey", linestyle=":", label="tighter bound, 2,000 records")
        axes.set_xlim(1e-5, 10)

    draw(
        f"figure_8_5_sampled_sensitivity_{name}",
        paint,
        xlabel="sampled sensitivity",
        ylabel="share of pairs",
        title=f"Ridge regression, {name}: sampled sensitivity (§ 5.5)",
    )


@pytest.mark.slow
@pytest.mark.parametrize(("name", "pairs"), [("adult", PAIRS), ("simulated", 3_000)])
def test_5_5_data_sets_as_large_as_the_training_part(name, pairs):
    """Pairs with as many records as the model is trained on: 39,073 and 136,000."""
    make, origin = TABLES[name]
    table = make()
    records = len(table) * 4 // 5
    sample = sampled_sensitivity(
        RidgeQuery(PENALTY * records),
        TablePopulation(table, origin=origin),
        pairs=pairs,
        records=records,
        generator=seeded(3),
    )
    bounds = ridge_sensitivity_bounds(records, 5, penalty=PENALTY)
    assert sample.pairs == pairs and sample.values[-1] < bounds.update
    assert sample.quantile(0.9) * records == pytest.approx(
        2_000
        * sampled_sensitivity(
            RidgeQuery(PENALTY * 2_000),
            TablePopulation(table, origin=origin),
            pairs=3_000,
            records=2_000,
            generator=seeded(4),
        ).quantile(0.9),
        rel=0.1,
    )


def errors(table, deltas, epsilons, runs=50, seed=9):
    """Return RMSE on the held-out fifth: without noise, and per noise scale Δ/ε; means over the runs."""
    generator = seeded(seed)
    plain = np.empty(runs)
    noisy = {name: np.empty((runs, len(epsilons))) for name in deltas}
    train = len(table) * 4 // 5
    for run in range(runs):
        order = generator.permutation(len(table))
        fitted, held = table[order[:train]], table[order[train:]]
        coefficients = RidgeQuery(PENALTY * train)(fitted)
        noise = generator.laplace(size=5)  # one draw, scaled: the curves differ by their scale alone

        def rmse(beta, held=held):
            return math.sqrt(np.mean((held[:, :-1] @ beta - held[:, -1]) ** 2))

        plain[run] = rmse(coefficients)
        for name, delta in deltas.items():
            noisy[name][run] = [rmse(coefficients + noise * delta / e) for e in epsilons]
    return plain.mean(), {name: values.mean(axis=0) for name, values in noisy.items()}


@pytest.mark.parametrize("name", TABLES)
def test_5_5_error_against_confidence(draw, name):
    make, origin = TABLES[name]
    table = make()
    train = len(table) * 4 // 5
    sample = sampled_sensitivity(
        RidgeQuery(PENALTY * train),
        TablePopulation(table, origin=origin),
        pairs=300,
        records=train,
        generator=seeded(6),
    )
    bound = ridge_sensitivity_bounds(train, 5, penalty=PENALTY).thesis
    sampled_scale = sampled_noise_scale(sample, quantile=0.9, epsilon0=1.0).scale
    epsilons = np.linspace(0.1, 0.99, 10)
    confidence = published.confidences(epsilons, epsilon0=1.0)
    exact = np.array([mechanisms.laplace(epsilon0=1.0).confidence(e) for e in epsilons])
    if name == "simulated":
        table = table[:20_000]  # 50 runs of 20,000 rows tell as much; the noise is that of the whole table
    plain, found = errors(table, {"bound": bound, "sampled": sampled_scale}, epsilons)
    # The illustration as its authors' program draws it: along ε both confidence and accuracy rise.
    # It puts noise Δ/ε beside the confidence of noise Δ/ε₀ with ε₀ = 1; the test after this one does not.
    assert np.all(np.diff(confidence) > 0) and np.all(exact[epsilons > 0.4] < confidence[epsilons > 0.4])
    assert np.all(np.diff(found["bound"]) < 0)
    assert np.all(found["bound"] > plain)
    assert found["bound"][0] - plain > 5 * (found["bound"][-1] - plain) > 0
    # Noise scaled to the sampled sensitivity hardly shows. It also carries no guarantee of its own.
    assert abs(found["sampled"] - plain).max() < 0.01 * (found["bound"][0] - plain)

    def paint(axes):
        axes.plot(confidence, found["bound"], "o-", label="noise by the bound, published confidence")
        axes.plot(exact, found["bound"], "s--", label="noise by the bound, exact confidence")
        axes.plot(confidence, found["sampled"], "^-", label="noise by the sampled sensitivity (no guarantee)")
        axes.axhline(plain, color="black", linestyle=":", label="without noise")

    draw(
        f"figure_8_6_error_against_confidence_{name}",
        paint,
        xlabel="confidence at ε, ε₀ = 1",
        ylabel="RMSE, mean of 50 runs",
        title=f"Ridge regression, {name} (§ 5.5)",
    )


@pytest.mark.parametrize("name", TABLES)
def test_5_5_error_against_confidence_of_the_same_noise(draw, name):
    """Noise Δ/ε₀ for a fixed ε, ε₀ as large as the wished confidence allows: confidence costs accuracy."""
    table = TABLES[name][0]()
    train = len(table) * 4 // 5
    bound = ridge_sensitivity_bounds(train, 5, penalty=PENALTY).thesis
    epsilon, wished = 0.4, np.linspace(0.4, 0.99, 10)
    levels = {
        "published": np.array([published.epsilon0(epsilon, confidence=c) for c in wished]),
        "exact": np.array([laplace.epsilon0(epsilon, confidence=c).value for c in wished]),
        "pure": np.array([epsilon]),
    }
    if name == "simulated":
        table = table[:20_000]
    found = {form: errors(table, {form: bound}, level)[1][form] for form, level in levels.items()}
    assert np.all(np.diff(levels["published"]) < 0) and np.all(np.diff(found["published"]) > 0)
    assert found["published"][-1] < found["pure"][0]
    # From a confidence of one half on, the exact worst case allows no less noise than ε itself.
    assert np.allclose(found["exact"][wished >= 0.5], found["pure"][0], rtol=1e-9)
    assert np.all(found["exact"][wished < 0.5] < found["pure"][0])

    def paint(axes):
        axes.plot(wished, found["published"], "o-", label="ε₀ by theorem 3")
        axes.plot(wished, found["exact"], "s--", label="ε₀ by the exact worst case")
        axes.axhline(found["pure"][0], color="black", linestyle=":", label=f"noise of ε = {epsilon}")

    draw(
        f"beside_8_6_error_of_the_same_noise_{name}",
        paint,
        xlabel=f"confidence at ε = {epsilon}",
        ylabel="RMSE, mean of 50 runs",
        title=f"Ridge regression, {name} (§ 5.5)",
    )


def test_5_5_one_sided_pairs_plan():
    """With a known direction of error 11,513 pairs give what the printed form asks 14,979 for."""
    assert plan_pairs(tolerance=0.01, probability=0.9, sides=Sides.ONE).pairs == 11_513
    assert plan_pairs(tolerance=0.01, probability=0.9).pairs == 14_979
