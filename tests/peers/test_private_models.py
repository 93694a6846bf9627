"""Private models beside those of other libraries, on the same splits and with the same declared bounds.

What both wrote is compared as it was written, see `private_models` and `private_models_here`; what takes
little time is measured again. The peers draw from generators of their own; medians of three splits each, of
twenty where tables are small.
"""

import json
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest

from tests.noise_source import seeded_noise
from tests.peers import private_models_here as here
from tests.peers.model_tables import adult, wine

PEERS, OURS, SIZE = (
    json.loads(Path(__file__).with_name(f"private_models{part}.json").read_text(encoding="utf-8"))["measured"]
    for part in ("", "_here", "_size")
)
BEST = {"interpret DP-EBM": "additive, gaussian", "diffprivlib logistic": "logistic, laplace"}
BEST |= {"diffprivlib naive Bayes": "naive_bayes, laplace", "diffprivlib linear": "linear, laplace"}
BEST |= {"diffprivlib k-means": "k-means, laplace", "diffprivlib PCA": "components, laplace"}
CASES = [(table, peer) for table, own in PEERS.items() for peer in own]
LESS = ("inertia",)


@pytest.fixture(autouse=True)
def the_same_noise(monkeypatch):
    seeds = count()
    monkeypatch.setattr(here, "Noise", lambda: seeded_noise(next(seeds)))


@pytest.mark.parametrize("table, peer", CASES)
def test_no_peer_is_better_at_the_same_guarantee(table, peer):
    """Laplace noise beside diffprivlib's pure releases, Gaussian noise beside DP-EBM's (ε, δ)."""
    theirs, ours = PEERS[table][peer], OURS[table][BEST[peer]]
    for name in set(theirs) - {"cpu_seconds"}:
        sign = -1 if name in LESS else 1
        assert sign * ours[name] >= sign * theirs[name] - 0.005, (name, ours, theirs)


GOALS = [
    ("adult income", "additive, gaussian", "accuracy", 0.855),
    ("adult income", "additive, gaussian", "area", 0.910),
    ("adult income", "additive, laplace", "area", 0.895),
    ("adult income", "naive_bayes, laplace", "area", 0.90),
    ("wine quality", "linear, gaussian", "R2", 0.22),
    ("wine quality", "additive, gaussian", "R2", 0.245),
    ("heights", "linear, gaussian", "R2", 0.82),
    ("heights", "additive, gaussian", "R2", 0.86),
]


@pytest.mark.parametrize("table, model, score, goal", GOALS)
def test_what_was_set_as_a_goal_was_measured(table, model, score, goal):
    assert OURS[table][model][score] >= goal


def test_a_million_rows_take_no_longer_and_little_memory():
    """Goals: an additive model half the time of boosted trees; sums at most once that of Ridge.

    The second is not reached by a whole release, in which what leaves is written too, 1.4 times Ridge's
    seconds; the sums alone are beside Ridge in `test_sums_take_about_as_long_as_ridge`. Sums and Ridge: the
    middle of three runs each, one thread.
    """
    (sized,) = SIZE.values()
    seconds = {name: one["cpu_seconds"] for name, one in sized.items()}
    assert seconds["additive"] <= seconds["boosted trees"] / 2
    assert seconds["Ridge"] < seconds["sums"] < 1.5 * seconds["Ridge"]
    ours = {name: one["mebibytes_beyond_the_rows"] for name, one in sized.items() if name in here.OURS}
    assert len(ours) == len(here.OURS) and max(ours.values()) < 100
    assert ours["additive"] < 60 and max(ours.values()) < sized["Ridge"]["mebibytes_beyond_the_rows"]


def test_naive_bayes_is_still_as_good():
    found = here.predicting("naive_bayes", adult(), "laplace")
    assert found["area"] > PEERS["adult income"]["diffprivlib naive Bayes"]["area"] + 0.05


@pytest.mark.slow
def test_wine_and_components_are_still_as_good():
    assert here.predicting("linear", wine(), "gaussian")["R2"] > 0.22
    assert here.predicting("additive", wine(), "gaussian")["R2"] > 0.245
    case = adult()
    numbers = replace(case, frame=case.frame[[*case.bounds, case.target]])
    theirs = PEERS["adult numbers, components, epsilon 1.0"]["diffprivlib PCA"]["kept"]
    assert here.components(numbers, "laplace", 1.0)["kept"] >= theirs - 0.01
