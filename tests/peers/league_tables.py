"""Ten tables for private models and invented rows, and how they are measured: see `league`.

Three come with scikit-learn; the other seven are generated, so that nothing is downloaded. This file needs
numpy, pandas and scikit-learn alone, of any age, as the other libraries need older ones than the program.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

os.environ.setdefault("OMP_NUM_THREADS", "1")  # processor time is compared, and other work is not disturbed

EPSILONS = ("0.1", "1", "4")
DELTA = 1e-6
SEEDS = 4
GRID = 16
"""Groups of a number, by people, on which invented rows are compared; up to `EACH` whole numbers one each."""
EACH = 64

Bounds = dict[str, tuple[Any, Any] | tuple[str, ...]]


@dataclass(frozen=True)
class Case:
    """A table, what is declared of it, and what is predicted: a class where values are declared for it."""

    name: str
    frame: pd.DataFrame
    declared: Bounds
    target: str
    invents: bool = False

    @property
    def is_classes(self) -> bool:
        """Whether one of two classes is predicted."""
        return isinstance(self.declared[self.target][0], str)

    @property
    def predictors(self) -> list[str]:
        """Return all other columns."""
        return [name for name in self.frame if name != self.target]

    def parted(self, seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Return four fifths of the rows, and the rest."""
        inside = np.random.default_rng([1, seed]).random(len(self.frame)) < 0.8
        return self.frame[inside].reset_index(drop=True), self.frame[~inside].reset_index(drop=True)

    def truth(self, rows: pd.DataFrame) -> np.ndarray:
        """Return what is predicted as numbers: 1 for the second class."""
        values = rows[self.target]
        return (
            (values == self.declared[self.target][1]).to_numpy(float)
            if self.is_classes
            else values.to_numpy(float)
        )

    def scaled(self, rows: pd.DataFrame) -> np.ndarray:
        """Return the predictors between 0 and 1 by what is declared, a column for each declared name."""
        parts = []
        for name in self.predictors:
            ends = self.declared[name]
            if isinstance(ends[0], str):
                parts += [(rows[name] == one).to_numpy(float) for one in ends]
            else:
                low, high = map(float, ends)
                parts.append(np.clip((rows[name].to_numpy(float) - low) / (high - low), 0, 1))
        return np.array(parts).T


# --- tables ----------------------------------------------------------------------------------------------


def cases() -> Iterator[Case]:
    """Yield the ten tables."""
    yield from _of_the_library()
    yield _visits()
    yield _survey("survey", "insured")
    yield _survey("survey, number", "contacts")
    yield _incomes()
    yield _friedman()
    yield _rings()
    yield _rare()


def _of_the_library() -> Iterator[Case]:
    from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits

    found = load_breast_cancer(as_frame=True)
    ends = ((0, 40), (0, 50), (0, 250), (0, 3000), (0, "0.2"), (0, "0.5"), (0, "0.6"), (0, "0.3"))
    names = list(found.data.columns[:8])
    frame = found.data[names].assign(kind=np.where(found.target == 1, "benign", "malignant"))
    yield Case(
        "tumours", frame, dict(zip(names, ends, strict=True)) | {"kind": ("benign", "malignant")}, "kind"
    )

    found = load_diabetes(as_frame=True, scaled=False)
    ends = ((18, 90), (1, 2), (10, 60), (40, 180), (50, 400), (0, 300), (0, 120), (0, 12), (2, 8), (40, 200))
    names = list(found.data.columns)
    frame = found.data.assign(progress=found.target)
    yield Case("progression", frame, dict(zip(names, ends, strict=True)) | {"progress": (0, 400)}, "progress")

    found = load_digits()
    pooled = found.images.reshape(-1, 4, 2, 4, 2).mean(axis=(2, 4)).reshape(-1, 16)
    names = [f"patch {place}" for place in range(16)]
    frame = pd.DataFrame(pooled, columns=names).assign(half=np.where(found.target < 5, "low", "high"))
    yield Case("digits", frame, dict.fromkeys(names, (0, 16)) | {"half": ("low", "high")}, "half")


def _classes(lots: np.random.Generator, odds: np.ndarray, names: tuple[str, str]) -> np.ndarray:
    return np.where(lots.random(len(odds)) < 1 / (1 + np.exp(-odds)), names[1], names[0])


def _visits() -> Case:
    """Counts of which nearly all are 0, within wide bounds."""
    lots, n = np.random.default_rng(11), 12_000
    ill = lots.gamma(0.5, 1.0, n)
    frame = pd.DataFrame(
        {
            "age": np.clip(lots.normal(48, 18, n), 0, 110).astype(int),
            "visits": np.minimum(lots.poisson(0.6 * ill), 60),
            "nights": np.minimum(lots.negative_binomial(0.15, 0.15 / (0.15 + ill)), 365),
            "bill": np.minimum(
                np.where(lots.random(n) < 0.7, 0, np.exp(lots.normal(5, 1.4, n))), 50_000
            ).round(),
            "region": lots.choice(["north", "south", "east", "west"], n, p=[0.4, 0.3, 0.2, 0.1]),
        }
    )
    odds = -2 + 0.8 * np.log1p(frame.nights) + 0.9 * (frame.visits > 0) + 0.5 * (frame.bill > 0)
    frame["again"] = _classes(lots, (odds + 0.01 * (frame.age - 48)).to_numpy(), ("no", "yes"))
    declared: Bounds = {"age": (0, 110), "visits": (0, 60), "nights": (0, 365), "bill": (0, 50_000)}
    declared |= {"region": ("north", "south", "east", "west"), "again": ("no", "yes")}
    return Case("visits", frame, declared, "again", invents=True)


def _survey(name: str, target: str) -> Case:
    """Answers that go together, few rows, heaped whole numbers."""
    lots, n = np.random.default_rng(12), 3500
    class_ = lots.normal(0, 1, n)
    school = np.clip(np.where(lots.random(n) < 0.45, 12, 12 + 2.5 * class_ + lots.normal(0, 2, n)), 0, 20)
    frame = pd.DataFrame({"school": school.astype(int), "age": lots.integers(18, 91, n)})
    frame["children"] = np.minimum(lots.poisson(1.4, n), 15)
    frame["hours"] = np.clip(np.where(lots.random(n) < 0.5, 40, lots.normal(34, 14, n)), 0, 99).astype(int)
    frame["income"] = np.minimum(np.exp(10 + 0.5 * class_ + lots.normal(0, 0.5, n)), 400_000)
    frame["contacts"] = np.minimum(lots.negative_binomial(1, 1 / (1 + np.exp(1.2 + 0.5 * class_))), 120)
    frame["health"] = lots.choice(["good", "fair", "bad"], n, p=[0.6, 0.3, 0.1])
    frame["town"] = np.where(class_ + lots.normal(0, 1, n) > 0, "large", "small")
    odds = -0.3 + 0.9 * class_ + 0.03 * (frame.age - 50) - 0.8 * (frame.health == "bad")
    frame["insured"] = _classes(lots, odds.to_numpy(), ("no", "yes"))
    declared: Bounds = {"school": (0, 20), "age": (18, 90), "children": (0, 15), "hours": (0, 99)}
    declared |= {"income": (0, 400_000), "contacts": (0, 120), "health": ("good", "fair", "bad")}
    declared |= {"town": ("large", "small"), "insured": ("no", "yes")}
    return Case(name, frame, declared, target, invents=target == "insured")


def _incomes() -> Case:
    """A skewed number by skewed numbers."""
    lots, n = np.random.default_rng(13), 8000
    frame = pd.DataFrame(np.exp(lots.normal(0, 1.2, (n, 4))), columns=["rent", "debt", "assets", "loans"])
    frame["years"] = lots.integers(0, 50, n)
    frame["spent"] = 300 * np.log1p(frame.rent) + 15 * frame.years - 200 * (frame.debt > 2)
    frame["spent"] = np.clip(frame.spent + 400 + lots.normal(0, 200, n), 0, 4000)
    frame[["rent", "debt", "assets", "loans"]] = np.minimum(frame[["rent", "debt", "assets", "loans"]], 100)
    bounds: Bounds = dict.fromkeys(("rent", "debt", "assets", "loans"), (0, 100))
    return Case("spending", frame, bounds | {"years": (0, 50), "spent": (0, 4000)}, "spent")


def _friedman() -> Case:
    from sklearn.datasets import make_friedman1

    rows, target = make_friedman1(4000, n_features=8, noise=1.0, random_state=14)
    names = [f"x{place}" for place in range(8)]
    frame = pd.DataFrame(rows, columns=names).assign(y=target)
    return Case("friedman", frame, dict.fromkeys(names, (0, 1)) | {"y": (0, 40)}, "y")


def _rings() -> Case:
    from sklearn.datasets import make_hastie_10_2

    rows, target = make_hastie_10_2(6000, random_state=15)
    names = [f"x{place}" for place in range(10)]
    frame = pd.DataFrame(rows, columns=names).assign(far=np.where(target > 0, "yes", "no"))
    return Case("rings", frame, dict.fromkeys(names, (-5, 5)) | {"far": ("no", "yes")}, "far")


def _rare() -> Case:
    """One of 30 is of the second class; columns go together."""
    lots, n = np.random.default_rng(16), 9000
    common = lots.normal(0, 1, n)
    rows = common[:, None] * [0.9, 0.8, 0.7, 0.3, 0.0, 0.0] + lots.normal(0, 0.5, (n, 6))
    names = [f"score {place}" for place in range(6)]
    frame = pd.DataFrame(rows, columns=names)
    frame["event"] = _classes(lots, -4.3 + 1.3 * rows[:, 0] + 0.6 * rows[:, 4], ("no", "yes"))
    bounds = dict.fromkeys(names, (-6, 6)) | {"event": ("no", "yes")}
    return Case("rare", frame, bounds, "event", invents=True)


# --- measures --------------------------------------------------------------------------------------------

Measured = dict[str, float]


def quality(case: Case, rows: pd.DataFrame, said: np.ndarray, chance: np.ndarray | None = None) -> Measured:
    """Return the area under the curve of classes, R² of numbers; and how far the mean is off."""
    from sklearn.metrics import r2_score, roc_auc_score

    truth = case.truth(rows)
    if case.is_classes:
        found = {"quality": float(roc_auc_score(truth, said))}
        return found | ({} if chance is None else {"bias": float(chance.mean() - truth.mean())})
    low, high = map(float, case.declared[case.target])
    said = np.clip(said, low, high)
    return {
        "quality": float(r2_score(truth, said)),
        "bias": float((said.mean() - truth.mean()) / truth.mean()),
    }


def boosted(case: Case, train: pd.DataFrame, test: pd.DataFrame) -> float:
    """Return what boosted trees that are trained on rows reach on others."""
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
    from sklearn.metrics import r2_score, roc_auc_score

    truth = case.truth(test)
    if not case.is_classes:
        fitted = HistGradientBoostingRegressor(random_state=0).fit(case.scaled(train), case.truth(train))
        return float(r2_score(truth, fitted.predict(case.scaled(test))))
    if len(np.unique(case.truth(train))) < 2:
        return 0.5
    kind = HistGradientBoostingClassifier(random_state=0, max_iter=40)
    fitted = kind.fit(case.scaled(train), case.truth(train))
    return float(roc_auc_score(truth, fitted.predict_proba(case.scaled(test))[:, 1]))


def on_grid(case: Case, rows: pd.DataFrame, like: pd.DataFrame) -> dict[str, np.ndarray]:
    """Return the cell of every row: names, whole numbers of few values, else sixteenths of the people."""
    found = {}
    for name, ends in case.declared.items():
        if isinstance(ends[0], str):
            found[name] = pd.Index(ends).get_indexer(rows[name]) + 1
            continue
        values = pd.to_numeric(rows[name]).to_numpy(float)
        if like[name].dtype.kind == "i" and int(ends[1]) - int(ends[0]) < EACH:
            cell = np.clip(values, int(ends[0]), int(ends[1])) - int(ends[0])
        else:
            edges = np.unique(np.quantile(like[name], np.linspace(0, 1, GRID + 1)[1:-1]))
            cell = np.searchsorted(edges, values, side="right")
        found[name] = np.where(np.isnan(values), 0, cell + 1).astype(int)  # 0: missing
    return found


def off(case: Case, people: pd.DataFrame, made: pd.DataFrame, together: int) -> float:
    """Return the mean total variation distance of one or two columns on the grid."""
    ours, theirs = on_grid(case, people, people), on_grid(case, made, people)
    distances = []
    for names in combinations(case.declared, together):
        place, other = np.zeros(len(people), int), np.zeros(len(made), int)
        for name in names:
            size = max(ours[name].max(), theirs[name].max()) + 1
            place, other = place * size + ours[name], other * size + theirs[name]
        size = max(place.max(), other.max()) + 1
        shares = [np.bincount(one, minlength=size) / len(one) for one in (place, other)]
        distances.append(np.abs(shares[0] - shares[1]).sum() / 2)
    return float(np.mean(distances))


def of_rows(case: Case, train: pd.DataFrame, test: pd.DataFrame, made: pd.DataFrame) -> Measured:
    """Return how far invented rows are from the people, and what a model of them reaches on others."""
    made = made[list(case.declared)].copy()
    for name, ends in case.declared.items():
        if not isinstance(ends[0], str):
            made[name] = pd.to_numeric(made[name])
    told = {"alone": off(case, train, made, 1), "pairs": off(case, train, made, 2)}
    return told | {"quality": boosted(case, made, test)}


# --- peers -----------------------------------------------------------------------------------------------

Line = tuple[str, str, str, str, list[Measured]]
"""Table, ε, noise, way, and what was measured by seed."""


def asked_for() -> argparse.ArgumentParser:
    """Return what a script of the league can be asked for."""
    asked = argparse.ArgumentParser()
    asked.add_argument("--seeds", type=int, default=SEEDS)
    asked.add_argument("--epsilon", nargs="+", default=list(EPSILONS))
    asked.add_argument("--table", nargs="+", default=[])
    asked.add_argument("--way", nargs="+", default=[])
    return asked


def peers_measured(ways_of: Callable[[Case], dict[tuple[str, str], Any]]) -> None:
    """Measure the ways of another library on every table, and print lines as JSON."""
    options = asked_for().parse_args()
    lines: list[Line] = []
    for case in cases():
        if options.table and case.name not in options.table:
            continue
        for (noise, name), way in ways_of(case).items():
            if options.way and name not in options.way:
                continue
            for epsilon in options.epsilon:
                runs = []
                for seed in range(options.seeds):
                    try:
                        runs.append(way(case, float(epsilon), seed))
                    except (ValueError, RuntimeError, TypeError) as error:
                        print(type(error).__name__, str(error)[:200], file=sys.stderr)
                        runs.append({"refused": 1.0})
                lines.append((case.name, epsilon, noise, name, runs))
                print(case.name, epsilon, name, file=sys.stderr, flush=True)
    print(json.dumps({"lines": lines}))
