"""Links of an intruder's file and of released tables: against comparing all pairs, and at both ends."""

import gzip
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from engine.errors import InputRefused
from engine.risk.linkage import link_by_score, link_exactly, match_release
from tests.engine.risk.tables import encoded

ADULT = Path(__file__).resolve().parents[2] / "data" / "adult.csv.gz"
NAMES = ["a", "b", "c"]


def rows(seed, count=150, width=6):
    made = np.random.default_rng(seed)
    return pd.DataFrame({name: made.integers(0, width, count) for name in NAMES})


@pytest.fixture(scope="module")
def adult():
    with gzip.open(ADULT) as file:
        frame = pd.read_csv(file, skipinitialspace=True).drop_duplicates()
    return frame.sample(3000, random_state=1).reset_index(drop=True)


@pytest.mark.parametrize("seed", range(4))
def test_exact_links_against_all_pairs(seed):
    made = np.random.default_rng(seed)
    frame = rows(seed)
    truth = made.integers(-1, 150, 60)
    known = frame.iloc[np.maximum(truth, 0)].reset_index(drop=True).astype(object)
    known = known.where(made.random(known.shape) > 0.3, None)
    found = link_exactly(encoded(frame), encoded(known), NAMES, truth=truth)
    left, right = known.to_numpy(), frame.to_numpy()
    agree = ((left[:, None] == right[None]) | known.isna().to_numpy()[:, None]).all(axis=2)
    assert found.candidates.tolist() == agree.sum(axis=1).tolist()
    alone = agree.sum(axis=1) == 1
    assert found.linked.tolist() == np.where(alone, agree.argmax(axis=1), -1).tolist()
    assert found.right == sum(alone[i] and agree[i].argmax() == truth[i] for i in range(60))
    there = truth >= 0
    assert found.expected == pytest.approx((1 / agree.sum(axis=1)[there]).sum())


def test_a_copy_links_everybody_and_a_repeated_row_nobody(adult):
    names = list(adult)
    table = encoded(adult)
    everybody = np.arange(len(adult))
    exact = link_exactly(table, table, names, truth=everybody)
    assert exact.found == exact.links == exact.right == len(adult)
    matched = match_release(table, [table], names)
    assert (matched.found, matched.true_rate, matched.false_rate, matched.expected_right) == (
        1.0,
        1.0,
        0.0,
        1.0,
    )
    repeated = encoded(adult.iloc[[0] * 50])
    assert link_exactly(repeated, repeated, names).links == 0
    assert link_by_score(repeated, repeated, names).links == 0
    same = match_release(repeated, [repeated], names)
    assert (same.true_rate, same.expected_right) == (0.0, pytest.approx(1 / 50))


def test_links_by_score_survive_errors(adult):
    """Some columns of every record are wrong: few exact links are left, most of the close ones are right."""
    made = np.random.default_rng(0)
    names = ["age", "education", "occupation", "native_country", "hours_per_week", "fnlwgt", "workclass"]
    wrong = adult.iloc[:200][names].copy()
    places = made.integers(0, len(names), 200)
    for place, name in enumerate(names):
        swap = places == place
        wrong.loc[swap, name] = adult[name].iloc[made.integers(0, len(adult), swap.sum())].to_numpy()
    table, known, truth = encoded(adult[names]), encoded(wrong), np.arange(200)
    exact = link_exactly(table, known, names, truth=truth)
    close = link_by_score(table, known, names, truth=truth)
    assert exact.right < 60
    assert close.right > 2 * exact.right and close.right > 0.8 * close.links


def test_the_score_by_hand():
    frame = pd.DataFrame({"a": [1, 1, 2, 2], "b": ["x", "y", "x", "z"]})
    known = pd.DataFrame({"a": [2], "b": ["z"]})
    found = link_by_score(encoded(frame), encoded(known), ["a", "b"], eccentricity=1.0)
    # Both values are weighted 1/ln 2: scores 0, 0, w, 2w with mean .75 w and deviation .829 w; margin w
    assert found.linked.tolist() == [3] and found.candidates.tolist() == [1]
    assert link_by_score(encoded(frame), encoded(known), ["a", "b"], eccentricity=1.21).links == 0


def test_numbers_that_are_near():
    frame = pd.DataFrame({"a": [10, 20, 30, 40, 50]})
    known = pd.DataFrame({"a": [21]})
    assert link_by_score(encoded(frame), encoded(known), ["a"]).links == 0
    near = link_by_score(encoded(frame), encoded(known), ["a"], tolerance={"a": 5.0})
    assert near.linked.tolist() == [1]


def test_a_table_without_rows_links_nobody():
    frame = rows(1)
    nobody = np.full(len(frame), -1)
    found = link_exactly(encoded(frame.head(0)), encoded(frame), NAMES, truth=nobody)
    assert (found.found, found.links, found.right, found.expected) == (0, 0, 0, 0.0)


def test_nothing_known_links_nobody():
    frame, blank = rows(1), pd.DataFrame({name: [None] for name in NAMES})
    assert link_exactly(encoded(frame), encoded(blank), NAMES).candidates.tolist() == [150]
    assert link_by_score(encoded(frame), encoded(blank), NAMES).links == 0


@pytest.mark.parametrize("tables", [1, 3])
def test_matching_of_released_tables_by_definition(tables):
    frame = rows(3, count=80, width=4)
    made = np.random.default_rng(8)
    released = []
    for _ in range(tables):
        changed = frame.copy()
        swap = made.random(80) < 0.4
        changed.loc[swap, "a"] = made.integers(0, 4, swap.sum())
        released.append(changed)
    found = match_release(encoded(frame), [encoded(one) for one in released], NAMES)
    agree = np.array([(frame.to_numpy()[:, None] == one.to_numpy()[None]).all(axis=2) for one in released])
    chance = (agree / np.maximum(agree.sum(axis=2, keepdims=True), 1)).mean(axis=0)
    likeliest = (chance > 0) & (chance > chance.max(axis=1, keepdims=True) - 1e-9)
    ways, hit = likeliest.sum(axis=1), np.diag(likeliest)
    assert found.found == pytest.approx((ways > 0).mean())
    assert found.expected_right == pytest.approx((hit / np.maximum(ways, 1)).mean())
    assert found.true_rate == pytest.approx(((ways == 1) & hit).mean())
    assert found.false_rate == pytest.approx(((ways == 1) & ~hit).sum() / (ways == 1).sum())


def test_what_is_refused():
    table = encoded(rows(1))
    with pytest.raises(InputRefused, match=r"risk\.nothing_to_compare"):
        link_exactly(table, table, [])
    with pytest.raises(InputRefused, match=r"risk\.not_compared"):
        link_exactly(table, encoded({"a": [1]}), ["a", "b"])
    with pytest.raises(InputRefused, match=r"risk\.other_rows"):
        match_release(table, [encoded(rows(1, count=9))], NAMES)
