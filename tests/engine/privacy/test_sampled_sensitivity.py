"""Populations, pairs, and what a private origin forbids."""

import math
import re
import tomllib
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom, spearmanr

import engine.privacy.sampled_sensitivity as sampled
from engine.errors import Cancelled, InputRefused
from engine.privacy.sampled_sensitivity import (
    InternalSampledSensitivity,
    RecordOrigin,
    SampledSensitivity,
    SimulatedPopulation,
    TablePopulation,
    fit_gaussian_copula,
    sampled_noise_scale,
    sampled_sensitivity,
)
from engine.progress import Progress

FALSE_ALARM = 1e-6


def seeded(seed=1):
    return np.random.Generator(np.random.PCG64(seed))


def refused(code, call, *arguments, **options):
    with pytest.raises(InputRefused) as caught:
        call(*arguments, **options)
    assert caught.value.code == f"sampled_sensitivity.{code}"


PUBLIC = TablePopulation(np.array([[0.0, 5.0], [1.0, 5.0], [4.0, 5.0]]), origin=RecordOrigin.PUBLIC)


def test_sum_moves_by_the_difference_of_the_two_records():
    sample = sampled_sensitivity(
        lambda rows: rows.sum(axis=0), PUBLIC, pairs=3_000, records=7, generator=seeded()
    )
    assert isinstance(sample, SampledSensitivity)
    assert set(np.round(sample.values, 9)) == {0.0, 1.0, 3.0, 4.0}
    # Nine equally likely pairs: three equal, two each at distance 1, 3 and 4.
    for value, share in [(0.5, 3 / 9), (1.5, 5 / 9), (3.5, 7 / 9)]:
        count = sample.distribution(value) * sample.pairs
        assert (
            binom.ppf(FALSE_ALARM / 2, 3_000, share) <= count <= binom.ppf(1 - FALSE_ALARM / 2, 3_000, share)
        )
    assert sample.quantile(1.0) == pytest.approx(4.0)
    assert (sample.records, sample.pairs, sample.origin) == (7, 3_000, RecordOrigin.PUBLIC)


def test_pairs_share_all_but_one_record():
    seen = []
    sampled_sensitivity(
        lambda rows: seen.append(rows.copy()) or 0.0, PUBLIC, pairs=5, records=4, generator=seeded()
    )
    assert len(seen) == 10 and all(rows.shape == (4, 2) for rows in seen)
    for second, first in zip(seen[::2], seen[1::2], strict=True):
        assert np.array_equal(first[:-1], second[:-1])


def test_a_query_that_sorts_its_data_set_in_place_changes_nothing():
    def careless(rows):
        rows.sort(axis=0)
        return np.median(rows, axis=0)

    options = {"pairs": 200, "records": 5}
    honest = sampled_sensitivity(lambda rows: np.median(rows, axis=0), PUBLIC, generator=seeded(), **options)
    assert np.array_equal(
        honest.values, sampled_sensitivity(careless, PUBLIC, generator=seeded(), **options).values
    )


def test_norms():
    table = TablePopulation(np.array([[0.0, 0.0], [3.0, 4.0]]), origin=RecordOrigin.PUBLIC)
    query = lambda rows: rows.sum(axis=0)  # noqa: E731
    for norm, largest in [(1, 7.0), (2, 5.0)]:
        sample = sampled_sensitivity(query, table, pairs=50, records=2, generator=seeded(), norm=norm)
        assert sample.quantile(1.0) == largest
    refused("norm", sampled_sensitivity, query, table, pairs=1, records=1, generator=seeded(), norm=3)


def test_rows_of_any_type_and_a_single_column():
    words = TablePopulation(np.array(["a", "b"], dtype=object), origin=RecordOrigin.PUBLIC)
    sample = sampled_sensitivity(
        lambda rows: np.sum(rows == "a"), words, pairs=200, records=3, generator=seeded()
    )
    assert set(sample.values) == {0.0, 1.0}


def test_one_record_in_all():
    one = TablePopulation(np.array([[2.0]]), origin=RecordOrigin.PUBLIC)
    sample = sampled_sensitivity(np.sum, one, pairs=3, records=1, generator=seeded())
    assert sample.values.tolist() == [0.0, 0.0, 0.0]
    refused("no_spread", sampled_noise_scale, sample, quantile=1.0, epsilon0=1.0)


def test_same_generator_same_sample_and_long_runs_are_told():
    told = []
    options = {"pairs": 40, "records": 20_000}
    first = sampled_sensitivity(
        np.mean, PUBLIC, generator=seeded(5), progress=Progress(lambda *step: told.append(step)), **options
    )
    assert np.array_equal(
        first.values, sampled_sensitivity(np.mean, PUBLIC, generator=seeded(5), **options).values
    )
    assert told[0] == (0.0, "sampled_sensitivity.pairs") and told[-1][0] == 1.0 and len(told) > 10
    with pytest.raises(Cancelled):
        sampled_sensitivity(
            np.mean, PUBLIC, generator=seeded(), progress=Progress(stopped=lambda: True), **options
        )


@pytest.mark.parametrize(
    ("code", "query", "pairs", "records"),
    [
        ("too_few_pairs", np.sum, 0, 3),
        ("too_few_records", np.sum, 3, 0),
        ("not_finite", lambda rows: np.nan, 3, 3),
        ("not_finite", lambda rows: [1.0, np.inf], 3, 3),
        ("answer_shape", lambda rows: "text", 3, 3),
        ("answer_shape", lambda rows: np.unique(rows), 50, 3),
    ],
)
def test_refusals_of_a_run(code, query, pairs, records):
    refused(code, sampled_sensitivity, query, PUBLIC, pairs=pairs, records=records, generator=seeded())


def test_empty_populations_are_refused():
    for shape in [(0, 3), (3, 0), (0,), (1, 1, 1)]:
        refused("empty_population", TablePopulation, np.zeros(shape), origin=RecordOrigin.PUBLIC)
    short = SimulatedPopulation(lambda generator, count: np.zeros((count - 1, 1)))
    refused("wrong_count", short.draw, 3, generator=seeded())


# What a private origin forbids


PRIVATE = TablePopulation(PUBLIC.rows, origin=RecordOrigin.PRIVATE)


def test_own_rows_make_an_internal_sample_that_sets_no_noise():
    sample = sampled_sensitivity(np.sum, PRIVATE, pairs=20, records=3, generator=seeded())
    assert isinstance(sample, InternalSampledSensitivity)
    assert not isinstance(sample, SampledSensitivity)
    refused("internal_sample", sampled_noise_scale, sample, quantile=0.9, epsilon0=1.0)
    refused("internal_sample", sampled_noise_scale, sample, quantile=0.9, epsilon0=1.0, known_sensitivity=9.0)


@pytest.mark.parametrize("origin", list(RecordOrigin))
def test_a_fit_to_private_rows_stays_private(origin):
    fitted = fit_gaussian_copula(PUBLIC.rows, origin=origin)
    assert fitted.origin is (RecordOrigin.PRIVATE if origin is RecordOrigin.PRIVATE else RecordOrigin.FITTED)
    sample = sampled_sensitivity(np.sum, fitted, pairs=20, records=3, generator=seeded())
    assert isinstance(sample, InternalSampledSensitivity) == (origin is RecordOrigin.PRIVATE)


def test_noise_from_a_public_sample_promises_nothing_without_a_proof():
    sample = SampledSensitivity(np.array([1.0, 2.0, 3.0, 4.0]), 5, 1, RecordOrigin.PUBLIC)
    estimate = sampled_noise_scale(sample, quantile=0.5, epsilon0=0.5)
    assert (estimate.scale, estimate.epsilon, estimate.kind) == (4.0, None, "none")
    proved = sampled_noise_scale(sample, quantile=0.5, epsilon0=0.5, known_sensitivity=8.0)
    assert (proved.scale, proved.epsilon, proved.kind) == (4.0, 2.0, "pure_dp")
    refused(
        "known_sensitivity", sampled_noise_scale, sample, quantile=0.5, epsilon0=1.0, known_sensitivity=3.9
    )
    refused("level", sampled_noise_scale, sample, quantile=0.5, epsilon0=0.0)
    refused("quantile_out_of_range", sampled_noise_scale, sample, quantile=0.0, epsilon0=1.0)
    l2 = SampledSensitivity(sample.values, 5, 2, RecordOrigin.PUBLIC)
    refused("norm", sampled_noise_scale, l2, quantile=0.5, epsilon0=1.0)


# Fitted populations


def test_copula_keeps_margins_and_rank_correlation():
    generator = seeded(3)
    scores = generator.standard_normal((4_000, 2)) @ np.array([[1.0, 0.9], [0.0, 0.5]])
    rows = np.column_stack([np.exp(scores[:, 0]), scores[:, 1] ** 3, generator.integers(0, 3, 4_000)])
    drawn = fit_gaussian_copula(rows, origin=RecordOrigin.PUBLIC).draw(20_000, generator=generator)
    for column in range(3):
        assert np.isin(drawn[:, column], rows[:, column]).all()
        # Two-sample Kolmogorov-Smirnov at 1e-6: both sides of DKW together.
        at = np.unique(rows[:, column])
        gap = np.abs(
            np.searchsorted(np.sort(rows[:, column]), at, side="right") / 4_000
            - np.searchsorted(np.sort(drawn[:, column]), at, side="right") / 20_000
        )
        assert gap.max() < math.sqrt(math.log(2 / FALSE_ALARM) / 2) * (4_000**-0.5 + 20_000**-0.5)
    assert spearmanr(drawn[:, 0], drawn[:, 1])[0] == pytest.approx(
        spearmanr(rows[:, 0], rows[:, 1])[0], abs=0.03
    )
    assert abs(spearmanr(drawn[:, 0], drawn[:, 2])[0]) < 0.06


def test_copula_of_odd_tables():
    constant = fit_gaussian_copula(np.array([[1.0, 7.0], [2.0, 7.0]]), origin=RecordOrigin.PUBLIC)
    assert set(constant.draw(50, generator=seeded())[:, 1]) == {7.0}
    twins = fit_gaussian_copula(np.array([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]]), origin=RecordOrigin.PUBLIC)
    drawn = twins.draw(200, generator=seeded())
    assert np.mean(drawn[:, 0] == drawn[:, 1]) > 0.99  # singular correlation: equal but for rounding
    refused("too_few_rows", fit_gaussian_copula, np.ones((1, 2)), origin=RecordOrigin.PUBLIC)
    refused("not_numbers", fit_gaussian_copula, np.array([[np.nan], [1.0]]), origin=RecordOrigin.PUBLIC)
    refused("not_numbers", fit_gaussian_copula, np.array([["x"], ["y"]]), origin=RecordOrigin.PUBLIC)


def test_every_refusal_has_its_sentence():
    root = Path(sampled.__file__).parents[3]
    for area, sources in [
        ("sampled_sensitivity", sorted(Path(sampled.__file__).parent.glob("*.py"))),
        ("direct", [root / "engine/privacy/direct.py"]),
    ]:
        text = tomllib.loads((root / f"resources/texts/en/errors/{area}.toml").read_text("utf-8"))
        used = set(re.findall(r"\{AREA\}\.(\w+)\"", "".join(path.read_text("utf-8") for path in sources)))
        assert used == set(text)
        assert all(set(entry) == {"what", "do"} for entry in text.values())
