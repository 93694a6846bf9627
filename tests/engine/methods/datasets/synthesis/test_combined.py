"""Combining rules: by hand, and their coverage where the truth is known."""

from fractions import Fraction

import numpy as np
import pytest

from engine.methods.datasets.synthesis import chain
from engine.methods.datasets.synthesis.combined import Rule, combined
from engine.methods.datasets.synthesis.models import Synthesiser, learning
from engine.methods.datasets.synthesis.variables import Amounts, Levels


def test_the_variances_are_those_of_the_sources():
    q, u = np.array([1.0, 2.0, 3.0]), np.array([0.3, 0.3, 0.3])  # b = 1
    assert combined(q, u, rule=Rule.PARTIAL, rows=10).variance == pytest.approx(0.3 + 1 / 3)
    assert combined(q, u, rule=Rule.FULL, rows=10).variance == pytest.approx(0.3 * (1 + 1 / 3))
    assert combined(q, u, rule=Rule.FULL, rows=10, released_rows=20).variance == pytest.approx(
        0.3 * (2 + 1 / 3)
    )
    assert combined(q, u, rule=Rule.POSTERIOR, rows=10).variance == pytest.approx(4 / 3 - 0.3)
    assert combined(q, u, rule=Rule.FULL_REDRAWN, rows=10).variance == pytest.approx(0.3 * (1 + 2 / 3))
    assert combined(q[:1], u[:1], rule=Rule.FULL, rows=10).variance == pytest.approx(0.6)


def test_a_negative_variance_has_no_interval_and_its_positive_form_has_one():
    q, u = np.array([1.0, 1.0]), np.array([0.5, 0.5])
    assert np.isnan(combined(q, u, rule=Rule.POSTERIOR, rows=10).low)
    assert combined(q, u, rule=Rule.POSTERIOR_POSITIVE, rows=10).variance == 0.5


TRUE = {"mean": 0.0, "slope": 0.68}
KINDS = ["tree", "linear"]


def _sample(n, chance):
    """Return groups of four, and y = .68 (group − 1.5) + normal noise; the true slope of y on the group."""
    group = chance.integers(0, 4, n)
    return group, 0.68 * (group - 1.5) + chance.normal(size=n)


def _estimates(group, y):
    """Return the mean of y and its slope on the group, each with its variance."""
    n, x = len(y), group - group.mean()
    slope = (x @ y) / (x @ x)
    rest = y - y.mean() - slope * x
    return (y.mean(), slope), (y.var(ddof=1) / n, rest @ rest / (n - 2) / (x @ x))


def _found(n, chance, *, kind, training=None, copies=5):
    """Return the estimates of copies and their variances, shape (copies, 2); partial where training is given.

    What is replaced is every y above .8: the mask reads the very column that it replaces.
    """
    group, y = _sample(n, chance)
    variables = {"group": Levels(group, ("a", "b", "c", "d")), "y": Amounts(y, Fraction(1, 1000))}
    learn = learning(Synthesiser(kind), smallest=10, chance=chance)
    above = y > 0.8
    if training is None:
        found = chain.fit(variables, ("group", "y"), smallest=10, learn=learn)
    else:
        rows = {"inside": above, "outside": ~above, "all": np.ones(n, dtype=bool)}[training]
        found = chain.fit(variables, ("y",), smallest=10, learn=learn, given=("group",), inside={"y": rows})
    told = []
    for _ in range(copies):
        known = None if training is None else {"group": group.astype(float)}
        made = found.redrawn(chance).draw(n, chance, known=known)
        told.append(
            _estimates(made["group"], made["y"] if training is None else np.where(above, made["y"], y))
        )
    return np.array([own[0] for own in told]), np.array([own[1] for own in told])


def _shares(runs, *, kind, partial, seed, rules):
    """Return by rule and estimate the share of runs in which its 95 % interval holds the truth."""
    chance = np.random.default_rng(seed)
    hits = dict.fromkeys(((rule, name) for rule in rules for name in TRUE), 0)
    for _ in range(runs):
        q, u = _found(400, chance, kind=kind, training="inside" if partial else None)
        for rule, name in hits:
            place = list(TRUE).index(name)
            told = combined(q[:, place], u[:, place], rule=rule, rows=400)
            hits[rule, name] += told.low <= TRUE[name] <= told.high
    return {key: count / runs for key, count in hits.items()}


def _rule(kind, partial):
    if partial:
        return Rule.PARTIAL
    return Rule.FULL_REDRAWN if Synthesiser(kind).is_proper else Rule.FULL


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("partial", [False, True], ids=["full", "partial"])
def test_intervals_cover_in_a_hundred_tables(kind, partial):
    """95 of 100, less 3 standard errors."""
    shares = _shares(100, kind=kind, partial=partial, seed=11, rules=[_rule(kind, partial)])
    assert min(shares.values()) >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / 100)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("partial", [False, True], ids=["full", "partial"])
def test_intervals_cover_in_a_thousand_tables(kind, partial):
    shares = _shares(1000, kind=kind, partial=partial, seed=12, rules=[_rule(kind, partial)])
    assert min(shares.values()) >= 0.925 and max(shares.values()) <= 0.985


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("training", "unbiased"), [("inside", True), ("outside", False), ("all", False)])
def test_a_mask_on_its_own_column_is_unbiased_only_where_its_rows_are_learnt_from(kind, training, unbiased):
    chance = np.random.default_rng(13)
    means = np.array([_found(400, chance, kind=kind, training=training)[0][:, 0].mean() for _ in range(60)])
    error = means.std(ddof=1) / np.sqrt(len(means))
    assert bool(abs(means.mean() - TRUE["mean"]) < 3 * error) is unbiased
