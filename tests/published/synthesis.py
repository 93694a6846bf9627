"""The pattern of tables 4.2 to 4.5 of a thesis on synthetic data, measured on samples of Adult.

    python tests/published/synthesis.py [--repetitions 50] [--leaf 1]

A. Dandekar, Privacy risk of releasing data and models, National University of Singapore (2019), chapter 4.
The census that the thesis samples cannot be passed on: samples of Adult of the same size take its place,
hours of work that of incomes, and patterns are compared, not digits. `synthesis.md` holds what was printed.

Each sample has 3,163 rows and ten columns; five copies; hours are drawn first, then age. Partly synthetic:
hours above 45 and ages below 26 are replaced. Fully synthetic: the eight other columns are drawn by a
bootstrap of the sample's rows, hours and age for them. The intruder looks for people born in the United
States who work at least 80 hours, and knows their ages to within two years.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from engine.methods.datasets.synthesis import chain  # noqa: E402
from engine.methods.datasets.synthesis.combined import Rule, combine_estimates  # noqa: E402
from engine.methods.datasets.synthesis.models import Synthesiser, learning  # noqa: E402
from engine.methods.datasets.synthesis.variables import values_of, variable  # noqa: E402
from engine.table.schema import Column, Domain, Kind, Origin  # noqa: E402

ROWS, COPIES = 3_163, 5
DRAWN = ("hours_per_week", "age")
BESIDE = (
    *("workclass", "education", "marital_status", "occupation"),
    *("relationship", "race", "sex", "native_country"),
)
BOUNDS = {"hours_per_week": (1, 99), "age": (17, 90)}
TREES = 30
PRINTED = {  # partial overlaps, full overlaps, true and false match rate, seconds partial and full
    "linear": (0.98, 0.50, 0.52, 0.50, 0.06, 0.82, 0.040, 0.068),
    "tree": (0.94, 0.90, 0.55, 0.56, 0.18, 0.68, 0.048, 0.533),
    "forest": (0.95, 0.95, 0.54, 0.68, 0.35, 0.50, 3.350, 103.543),
    "network": (0.81, 0.90, 0.54, 0.75, 0.03, 0.92, 0.510, 55.26),
}
HEADINGS = (
    *("partial: hours", "age", "full: hours", "age", "true match", "false match"),
    *("expected match", "mean age, partial", "full", "seconds, partial", "full"),
)


@dataclass(frozen=True)
class Sample:
    """One sample, as variables, and the same rows as numbers."""

    variables: dict
    values: dict

    @property
    def targets(self):
        """Rows of the people whom the intruder looks for."""
        return np.flatnonzero(self.is_american & (self.values["hours_per_week"] >= 80))

    @property
    def is_american(self):
        """Which rows are of people born in the United States."""
        country = self.variables["native_country"]
        return country.codes == country.texts.index("United-States")


@cache
def people():
    """Return the whole of Adult."""
    return pd.read_csv(ROOT / "tests/data/adult.csv.gz")[[*DRAWN, *BESIDE]]


def sample(chance):
    """Draw a sample without repetition."""
    rows = people().iloc[chance.choice(len(people()), ROWS, replace=False)].reset_index(drop=True)
    found = {}
    for name in rows:
        column = Column(name, kind=Kind.CATEGORY)
        if name in BOUNDS:
            domain = Domain(*BOUNDS[name])
            column = Column(name, kind=Kind.INTEGER, domain=domain, domain_origin=Origin.DECLARED)
        found[name] = variable(rows[name], column, people=np.arange(ROWS), least_people=1)
    return Sample(found, {name: values_of(one) for name, one in found.items()})


def masks(own):
    """Return which rows of each column are replaced in a partly synthetic table."""
    return {"hours_per_week": own.values["hours_per_week"] > 45, "age": own.values["age"] < 26}


def synthetic(own, kind, chance, *, partial, leaf):
    """Return five copies."""
    learn = learning(Synthesiser(kind), smallest=leaf, chance=chance, trees=TREES)
    replaced = masks(own) if partial else None
    found = chain.fit(own.variables, DRAWN, smallest=leaf, learn=learn, given=BESIDE, inside=replaced)
    made = []
    for _ in range(COPIES):
        models = found.redrawn(chance)
        if partial:
            made.append(models.replace(own.values, replaced, chance))
        else:
            picked = chance.choice(ROWS, size=ROWS, p=chance.dirichlet(np.ones(ROWS)))
            known = {name: own.values[name][picked] for name in BESIDE}
            made.append(models.draw(ROWS, chance, known=known))
    return made


def overlap(first, second):
    """Return the mean share of two intervals that the other one covers: 0 where they do not meet."""
    both = min(first[1], second[1]) - max(first[0], second[0])
    return max(both, 0) * (1 / (first[1] - first[0]) + 1 / (second[1] - second[0])) / 2


def interval_overlap(own, copies, name, rule):
    """Return the overlap of the intervals of a column's mean."""
    values = own.values[name]
    half = 1.96 * values.std(ddof=1) / np.sqrt(ROWS)
    q = np.array([copy[name].mean() for copy in copies])
    u = np.array([copy[name].var(ddof=1) / ROWS for copy in copies])
    told = combine_estimates(q, u, rule=rule, rows=ROWS)
    return overlap((values.mean() - half, values.mean() + half), (told.low, told.high))


def matches(own, copies):
    """Return Reiter's true and false match rate, and the expected match risk, of people in the sample."""
    chances = []
    for target in own.targets:
        each = np.zeros(ROWS)
        for copy in copies:
            near = np.abs(copy["age"] - own.values["age"][target]) <= 2
            fits = own.is_american & (copy["hours_per_week"] >= 80) & near
            each += fits / max(fits.sum(), 1) / len(copies)
        chances.append(each)
    best = [np.flatnonzero(each == each.max()) if each.any() else np.empty(0, int) for each in chances]
    named = [
        (found[0] == target, len(found))
        for found, target in zip(best, own.targets, strict=True)
        if len(found)
    ]
    single = [right for right, many in named if many == 1]
    expected = [
        (target in found) / len(found) if len(found) else 0.0
        for found, target in zip(best, own.targets, strict=True)
    ]
    false = 1 - np.mean(single) if single else np.nan
    return np.sum(single) / len(chances), false, np.mean(expected)


def measured(own, kind, chance, leaf):
    """Return one line of figures."""
    rule = Rule.FULL_REDRAWN if Synthesiser(kind).is_proper else Rule.FULL
    began = time.process_time()
    partial = synthetic(own, kind, chance, partial=True, leaf=leaf)
    half = time.process_time()
    full = synthetic(own, kind, chance, partial=False, leaf=leaf)
    ended = time.process_time()
    true = own.values["age"].mean()
    return [
        *(interval_overlap(own, partial, name, Rule.PARTIAL) for name in DRAWN),
        *(interval_overlap(own, full, name, rule) for name in DRAWN),
        *matches(own, partial),
        *(np.mean([copy["age"].mean() for copy in copies]) / true for copies in (partial, full)),
        half - began,
        ended - half,
    ]


def repeated(repetitions, *, kinds=tuple(Synthesiser), leaf=1, seed=1):
    """Return by kind the figures of each repetition, and of the unaltered sample the match rates."""
    chance = np.random.default_rng(seed)
    found = {str(kind): [] for kind in kinds}
    unaltered = []
    for _ in range(repetitions):
        own = sample(chance)
        unaltered.append(matches(own, [own.values]))
        for kind in found:
            found[kind].append(measured(own, kind, chance, leaf))
    return {kind: np.array(lines) for kind, lines in found.items()}, np.array(unaltered)


def means(figures):
    """Return the mean of each column over the repetitions in which it exists, as text."""
    known = [column[~np.isnan(column)] for column in figures.T]
    return [f"{column.mean():.3f}" if len(column) else "none" for column in known]


def table(found, unaltered):
    """Return the means of all repetitions as Markdown, the printed figures below each line."""
    lines = ["| | " + " | ".join(HEADINGS) + " |", "|---" * (len(HEADINGS) + 1) + "|"]

    def line(name, cells):
        lines.append(f"| {name} | " + " | ".join(cells) + " |")

    for kind, figures in found.items():
        line(kind, means(figures))
        if kind in PRINTED:
            shown = [f"{value:.2f}" for value in PRINTED[kind][:6]]
            line("printed", [*shown, "", "", "", *(f"{value:.3f}" for value in PRINTED[kind][6:])])
    line("unaltered", ["", "", "", "", *means(unaltered)] + [""] * 4)
    return "\n".join(lines)


def main():
    """Print the table."""
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("--repetitions", type=int, default=50)
    asked.add_argument("--leaf", type=int, default=1)
    given = asked.parse_args()
    found, unaltered = repeated(given.repetitions, leaf=given.leaf)
    print(table(found, unaltered))
    for kind, figures in found.items():
        worst = np.abs(figures[:, 7:9] - 1).max(axis=0)
        print(f"{kind}: mean age off by at most {worst[0]:.2%} (partial), {worst[1]:.2%} (full)")


if __name__ == "__main__":
    main()
