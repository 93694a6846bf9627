"""Rows from seeds of simulated discharges beside a thesis: all figures are in `seedbased_medical.md`."""

from functools import cache

import numpy as np
import pytest

from tests.noise_source import seeded_noise
from tests.published.seedbased import distances
from tests.published.seedbased_medical import (
    ALCOHOL,
    BIRTH,
    CANCERS,
    DIED,
    ELECTIVE,
    FEMALE,
    FOR_MEN,
    FOR_WOMEN,
    PRINTED,
    SIZES,
    drawn,
    models,
    parts,
    records,
    seedless,
)
from tests.published.seedbased_medical import test_of as of_table

COUNTED = [FEMALE, DIED, ELECTIVE, BIRTH]


@cache
def found():
    """Return a few of the rows in parts, and the two models."""
    own = parts(1, rows=150_000)
    return own, models(own, 1)


def test_simulated_stays_have_the_printed_shares():
    rows, group = records(200_000, 2), records(50_000, 3, kind=ALCOHOL)
    for codes, line in ((rows, "teach the models"), (group, "sub-population")):
        share = np.array(PRINTED["9.4"][line]) / 10_000
        off = np.abs(codes[COUNTED].mean(axis=1) - share)
        assert (off < 5 * np.sqrt(share * (1 - share) / codes.shape[1])).all()
    # few cancers, none that only the other sex can have
    assert rows.shape == (42, 200_000) and 0.05 < rows[CANCERS:].sum(axis=0).mean() < 0.2
    assert not rows[[CANCERS + one for one in FOR_WOMEN]][:, rows[FEMALE] == 0].any()
    assert not rows[[CANCERS + one for one in FOR_MEN]][:, rows[FEMALE] == 1].any()


def by_seeds(model, seeds):
    """Return rows of seeds before any test."""
    return model.made(np.ascontiguousarray(seeds.T), seeded_noise(2)).T


@pytest.mark.parametrize("name", ["PCA-5", "VAE-3"])
def test_rows_from_seeds_are_near_and_most_pass(name):
    """Table 9.1, with a few of the rows, learnt under protection."""
    own, learnt = found()
    near = distances(own.test, by_seeds(learnt[name], own.seeds[:, :20_000]), SIZES)
    assert near[0] < 0.008 and near[1] < 0.015
    passed, _, seen = drawn(learnt[name], own.seeds, of_table(300), 1)
    assert passed.shape == (42, 300) and seen.alone < 0.2 * 300  # most come from seeds


def test_rows_of_the_autoencoder_are_nearer_with_a_seed_than_without():
    """Section 9.3.3: with points that are drawn from a normal distribution they are further off."""
    own, learnt = found()
    seeds = own.seeds[:, :20_000]
    for model in learnt.values():
        with_seed = distances(own.test, by_seeds(model, seeds), SIZES)
        without = distances(own.test, seedless(model, seeds.shape[1], 3), SIZES)
        assert with_seed[1] < without[1]


def test_rows_keep_what_no_column_says():
    """Table 9.4: seeds are stays due to alcohol, of whom few are female and hardly one is a birth."""
    _, learnt = found()
    made = by_seeds(learnt["VAE-3"], records(20_000, 5, kind=ALCOHOL))
    female, _, elective, birth = made[COUNTED].mean(axis=1)
    assert abs(female - 0.28) < 0.1 and abs(elective - 0.1) < 0.07 and birth < 0.07
