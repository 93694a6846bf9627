"""How often 95 % intervals of combined copies hold the truth, where it is known.

    python tests/published/coverage.py [--tables 1000]

Each table has 400 rows: a group of four, and y = .68 (group − 1.5) + normal noise. Estimated are the mean of
y, 0, and its slope on the group, .68, from five copies. Fully synthetic: both columns. Partly: every y above
.8 is replaced by a draw from a model of just these rows, so that the mask reads the very column that it
replaces.
`synthesis.md` holds what was printed.
"""

from __future__ import annotations

import argparse
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from engine.methods.datasets.synthesis import chain
from engine.methods.datasets.synthesis.combined import Rule, combine_estimates
from engine.methods.datasets.synthesis.models import Synthesiser, learning
from engine.methods.datasets.synthesis.variables import Amounts, Levels

TRUE = {"mean": 0.0, "slope": 0.68}
KINDS = ["tree", "linear"]


def sample(n, chance):
    """Return groups of four, and y = .68 (group − 1.5) + normal noise; the true slope of y on the group."""
    group = chance.integers(0, 4, n)
    return group, 0.68 * (group - 1.5) + chance.normal(size=n)


def estimates(group, y):
    """Return the mean of y and its slope on the group, each with its variance."""
    n, x = len(y), group - group.mean()
    slope = (x @ y) / (x @ x)
    rest = y - y.mean() - slope * x
    return (y.mean(), slope), (y.var(ddof=1) / n, rest @ rest / (n - 2) / (x @ x))


def told_by_copies(n, chance, *, kind, training=None, copies=5):
    """Return the estimates of copies and their variances, shape (copies, 2); partial where training is given.

    What is replaced is every y above .8: the mask reads the very column that it replaces.
    """
    group, y = sample(n, chance)
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
            estimates(made["group"], made["y"] if training is None else np.where(above, made["y"], y))
        )
    return np.array([own[0] for own in told]), np.array([own[1] for own in told])


def shares(runs, *, kind, partial, seed, rules):
    """Return by rule and estimate how often its 95 % interval held the truth, and how often none existed."""
    chance = np.random.default_rng(seed)
    held = {(rule, name): 0 for rule in rules for name in TRUE}
    negative = dict(held)
    for _ in range(runs):
        q, u = told_by_copies(400, chance, kind=kind, training="inside" if partial else None)
        for rule, name in held:
            place = list(TRUE).index(name)
            told = combine_estimates(q[:, place], u[:, place], rule=rule, rows=400)
            held[rule, name] += told.low <= TRUE[name] <= told.high
            negative[rule, name] += bool(np.isnan(told.low))
    return (
        {key: count / runs for key, count in held.items()},
        {key: count / runs for key, count in negative.items()},
    )


def rule_for(kind, partial):
    """Return the rule that a release is combined by."""
    if partial:
        return Rule.PARTIAL
    return Rule.FULL_REDRAWN if Synthesiser(kind).is_proper else Rule.FULL


def main():
    """Print the table."""
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("--tables", type=int, default=1000)
    runs = asked.parse_args().tables
    print("| synthesis | model | rule | mean | slope | no interval: mean | slope |\n" + "|---" * 7 + "|")
    for partial in (True, False):
        for kind in KINDS:
            rules = [Rule.PARTIAL] if partial else [rule for rule in Rule if rule is not Rule.PARTIAL]
            told = shares(runs, kind=kind, partial=partial, seed=12, rules=rules)
            for rule in rules:
                cells = [f"{share[rule, name]:.3f}" for share in told for name in TRUE]
                print("| partial |" if partial else "| full |", " | ".join([kind, rule.value, *cells]), "|")


if __name__ == "__main__":
    main()
