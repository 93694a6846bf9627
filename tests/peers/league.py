"""Private models and invented rows on ten tables, beside those of other libraries where these are installed.

Not a test: a league that anybody runs, and that is run with each release. It needs scikit-learn, of which
three tables come; the other seven are generated, so that nothing is downloaded. Diffprivlib, interpret and
dpmm take part where they are installed, and are named where they are not. ::

    python tests/peers/league.py                     # writes league.md beside this file
    python tests/peers/league.py --seeds 2 --epsilon 1 --table visits --set cells=equal --print

Bounds and values are declared here, not read from rows. What was tuned by one of these tables stands in
`TUNED`; whoever tunes by another one says so there.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from importlib.metadata import PackageNotFoundError, version
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

os.environ.setdefault("OMP_NUM_THREADS", "1")  # processor time is compared, and other work is not disturbed
HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1])]

from engine.errors import EngineError  # noqa: E402
from engine.methods.catalogue import method  # noqa: E402
from engine.methods.protocol import MAIN, Budget, Context  # noqa: E402
from engine.privacy.noise import Noise  # noqa: E402
from engine.table.schema import Column, Domain, Kind, Origin, Role, Schema  # noqa: E402
from engine.table.table import Table  # noqa: E402
from tests.peers.private_models_here import scores  # noqa: E402

EPSILONS = ("0.1", "1", "4")
DELTA = Fraction(1, 10**6)
SEEDS = 4
CLASSES = {"additive": {}, "logistic": {}, "naive_bayes": {}}
NUMBERS = {"additive": {}, "linear": {"fit": "steps"}}
PEERS = ("diffprivlib", "interpret", "dpmm")
TUNED = (
    "Tables that were used for tuning: none, but that cells are searched only where an interval with a\n"
    "quarter of the rows would show (`LEAST_FOUND`): set after `friedman` had been seen to lose by a half."
)
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

    @property
    def schema(self) -> Schema:
        """Return what is declared."""
        return Schema(tuple(_column(name, self.frame[name], ends) for name, ends in self.declared.items()))

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


def _column(name: str, values: pd.Series, ends: Any) -> Column:
    if isinstance(ends[0], str):
        kind, domain = Kind.CATEGORY, Domain(values=tuple(ends))
    else:
        kind = Kind.INTEGER if values.dtype.kind == "i" else Kind.NUMBER
        domain = Domain(*(Fraction(str(end)) for end in ends))
    return Column(name, Role.OTHER, kind, domain=domain, domain_origin=Origin.DECLARED)


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


def design_of(
    case: Case, way_id: str, rows: int, given: dict[str, Any], epsilon: str, delta: Fraction
) -> Any:
    """Return the design of a release, with what it asks for and nothing tuned."""
    way = method(way_id)
    known = {"about_rows": rows, "target": case.target, "predictors": case.predictors}
    known |= {"columns": list(case.frame)} | given
    asked = {one.name for one in way.parameters}
    values = {name: value for name, value in known.items() if name in asked}
    budget = Budget(Fraction(epsilon), delta)
    return way(way.make_request({MAIN: case.schema}, values, budget=budget))


def model(case: Case, name: str, given: dict[str, Any], epsilon: str, delta: Fraction, seed: int) -> Measured:
    """Measure a model of this program."""
    train, test = case.parted(seed)
    started = time.process_time()
    design = design_of(case, f"models.{name}", len(train), given, epsilon, delta)
    if design.problems:
        return {"refused": 1.0}
    made = design.run({MAIN: Table(train)}, Context(Noise(), None, Path())).artefacts[0].content
    taken = time.process_time() - started
    return quality(case, test, scores(made, test), _chance(made, test)) | {"seconds": taken}


def _chance(made: Any, rows: pd.DataFrame) -> np.ndarray | None:
    from engine.methods.models import additive, naive_bayes

    if made["target"].get("kind") != "classes":
        return None
    if made["format"] == additive.FORMAT:
        return additive.probabilities(made, rows)
    if made["format"] == naive_bayes.FORMAT:
        return naive_bayes.probabilities(made, rows)[:, 1]
    return np.asarray(1 / (1 + np.exp(-scores(made, rows))))


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


def synthesis(case: Case, given: dict[str, Any], epsilon: str, delta: Fraction, seed: int) -> Measured:
    """Measure invented rows of this program: with a declared target unless ``given`` says otherwise."""
    train, test = case.parted(seed)
    started = time.process_time()
    design = design_of(case, "datasets.marginals", len(train), given, epsilon, delta)
    if design.problems:
        return {"refused": 1.0}
    made = design.run({MAIN: Table(train)}, Context(Noise(), None, Path())).artefacts[0].frame
    taken = time.process_time() - started
    return of_rows(case, train, test, made) | {"seconds": taken}


def of_rows(case: Case, train: pd.DataFrame, test: pd.DataFrame, made: pd.DataFrame) -> Measured:
    """Return how far invented rows are from the people, and what a model of them reaches on others."""
    made = made[list(case.declared)].copy()
    for name, ends in case.declared.items():
        if not isinstance(ends[0], str):
            made[name] = pd.to_numeric(made[name])
    told = {"alone": off(case, train, made, 1), "pairs": off(case, train, made, 2)}
    return told | {"quality": boosted(case, made, test)}


# --- peers -----------------------------------------------------------------------------------------------


def peers(case: Case) -> dict[str, Callable[[str, Fraction, int], Measured]]:
    """Return the models of other libraries that are installed, by name."""
    found: dict[str, Callable[[str, Fraction, int], Measured]] = {}
    if installed("diffprivlib"):
        found["diffprivlib"] = lambda epsilon, delta, seed: _diffprivlib(case, epsilon, seed)
    if installed("interpret"):
        found["DP-EBM"] = lambda epsilon, delta, seed: _boosting(case, epsilon, delta, seed)
    return found


def installed(name: str) -> str:
    """Return the version of a package, nothing where it is not there."""
    try:
        return version({"interpret": "interpret-core"}.get(name, name))
    except PackageNotFoundError:
        return ""


def _diffprivlib(case: Case, epsilon: str, seed: int) -> Measured:
    from diffprivlib.models import LinearRegression, LogisticRegression

    train, test = case.parted(seed)
    x, z = case.scaled(train), case.scaled(test)
    started = time.process_time()
    if case.is_classes:
        fitted = LogisticRegression(epsilon=float(epsilon), data_norm=float(np.sqrt(x.shape[1])))
        fitted.fit(x, case.truth(train))
        said = fitted.predict_proba(z)[:, 1]
    else:
        low, high = map(float, case.declared[case.target])
        fitted = LinearRegression(epsilon=float(epsilon), bounds_X=(0, 1), bounds_y=(low, high))
        said = fitted.fit(x, case.truth(train)).predict(z)
    taken = time.process_time() - started
    return quality(case, test, said, said if case.is_classes else None) | {"seconds": taken}


def _boosting(case: Case, epsilon: str, delta: Fraction, seed: int) -> Measured:
    from interpret.privacy import DPExplainableBoostingClassifier, DPExplainableBoostingRegressor

    train, test = case.parted(seed)
    bounds = {
        place: tuple(map(float, case.declared[name]))
        for place, name in enumerate(case.predictors)
        if not isinstance(case.declared[name][0], str)
    }
    told: dict[str, Any] = {
        "epsilon": float(epsilon),
        "delta": float(delta or DELTA),
        "privacy_bounds": bounds,
    }
    started = time.process_time()
    if case.is_classes:
        fitted = DPExplainableBoostingClassifier(random_state=seed, **told)
        said = fitted.fit(train[case.predictors], case.truth(train)).predict_proba(test[case.predictors])[
            :, 1
        ]
    else:
        ends = tuple(map(float, case.declared[case.target]))
        fitted = DPExplainableBoostingRegressor(random_state=seed, privacy_target_min=ends[0], **told)
        fitted.set_params(privacy_target_max=ends[1])
        said = fitted.fit(train[case.predictors], case.truth(train)).predict(test[case.predictors])
    taken = time.process_time() - started
    return quality(case, test, np.asarray(said), said if case.is_classes else None) | {"seconds": taken}


def tables_of_dpmm(case: Case, epsilon: str, delta: Fraction, seed: int) -> Measured:
    """Measure rows that MST of dpmm invents, on sixteen equal cells of each number."""
    from dpmm.models.mst import MSTGM

    train, test = case.parted(seed)
    cells, edges = {}, {}
    for name, ends in case.declared.items():
        if isinstance(ends[0], str):
            cells[name] = pd.Index(ends).get_indexer(train[name])
            edges[name] = len(ends)
        else:
            low, high = map(float, ends)
            cells[name] = np.clip(((train[name] - low) / (high - low) * GRID).astype(int), 0, GRID - 1)
            edges[name] = GRID
    started = time.process_time()
    model = MSTGM(epsilon=float(epsilon), delta=float(delta or DELTA))
    model.set_random_state(np.random.RandomState(seed))
    model.set_domain(edges)
    model.fit(pd.DataFrame(cells))
    codes = model.generate(n_records=len(train))
    taken, lots = time.process_time() - started, np.random.default_rng(seed)
    made = {}
    for name, ends in case.declared.items():
        if isinstance(ends[0], str):
            made[name] = np.array(ends, object)[codes[name]]
        else:
            low, high = map(float, ends)
            values = low + (codes[name].to_numpy() + lots.random(len(codes))) / GRID * (high - low)
            made[name] = np.rint(values) if train[name].dtype.kind == "i" else values
    return of_rows(case, train, test, pd.DataFrame(made)) | {"seconds": taken}


# --- the page --------------------------------------------------------------------------------------------


def said(found: Sequence[Measured], name: str, digits: int = 3) -> str:
    """Return mean and spread over seeds; how many were refused."""
    values = [one[name] for one in found if name in one]
    refused = sum("refused" in one for one in found)
    if not values:
        return "refused" if refused else ""
    told = f"{np.mean(values):.{digits}f} ± {np.std(values):.{digits}f}"
    return f"{told} ({refused} refused)" if refused else told


Line = tuple[str, str, str, str, list[Measured]]


def measured(options: argparse.Namespace) -> tuple[list[Line], list[Line]]:
    """Return lines of models and of invented rows: table, ε, noise, way, what was measured by seed."""
    models: list[Line] = []
    invented: list[Line] = []
    chosen = dict(one.split("=", 1) for one in options.set)
    for case in cases():
        if options.table and case.name not in options.table:
            continue
        for epsilon in options.epsilon:
            for kind, delta in (("δ 1e-6", DELTA), ("pure", Fraction(0))):
                where = (case.name, epsilon, kind)
                ways = CLASSES if case.is_classes else NUMBERS
                for name, own in ways.items() if options.what != "rows" else ():
                    runs = [
                        model(case, name, own | chosen, epsilon, delta, seed) for seed in range(options.seeds)
                    ]
                    models.append((*where, name, runs))
                for name, peer in peers(case).items() if options.what != "rows" else ():
                    if (name == "diffprivlib") == (kind == "pure"):
                        models.append((*where, name, _each(peer, epsilon, delta, options.seeds)))
                if case.invents and options.what != "models":
                    for target in (case.target, None):
                        given = {"target": target} | chosen
                        name = "marginals, target" if target else "marginals"
                        runs = [synthesis(case, given, epsilon, delta, seed) for seed in range(options.seeds)]
                        invented.append((*where, name, runs))
                    if installed("dpmm") and delta:
                        dpmm = lambda *given, case=case: tables_of_dpmm(case, *given)  # noqa: E731
                        invented.append((*where, "dpmm MST", _each(dpmm, epsilon, delta, options.seeds)))
                print(*where, file=sys.stderr, flush=True)
    return models, invented


def _each(peer: Callable[..., Measured], epsilon: str, delta: Fraction, seeds: int) -> list[Measured]:
    found = []
    for seed in range(seeds):
        try:
            found.append(peer(epsilon, delta, seed))
        except (ValueError, RuntimeError, TypeError, EngineError) as error:
            print(type(error).__name__, str(error)[:100], file=sys.stderr)
            found.append({"refused": 1.0})
    return found


def page(models: Sequence[Line], invented: Sequence[Line], options: argparse.Namespace) -> str:
    """Return the results as one page."""
    there = [f"{name} {found}" for name in PEERS if (found := installed(name))]
    away = [name for name in PEERS if not installed(name)]
    lines = [
        "# League of private models and invented rows",
        "",
        f"Written by `python tests/peers/league.py`: mean ± spread over {options.seeds} splits",
        "(four fifths are fitted on). Quality is the area under the curve for classes, R² for numbers, on",
        "held-out rows; bias is mean predicted − true, of numbers as a part of the mean. Beside bounds and",
        "values nothing is said but about how many rows there are.",
        "",
        TUNED,
        "",
        f"Beside it: {', '.join(there) or 'nobody'}. Not installed: {', '.join(away) or 'nobody'}."
        + (f" With {', '.join(options.set)}." if options.set else ""),
        "",
        "| table | ε | noise | model | quality | bias | CPU s |",
        "|---|---|---|---|---|---|---|",
    ]
    for *where, runs in models:
        told = (said(runs, "quality"), said(runs, "bias"), said(runs, "seconds", 2))
        lines.append(f"| {' | '.join((*where, *told))} |")
    lines += [
        "",
        "Invented rows: total variation distance of one and of two columns on a neutral grid (whole",
    ]
    lines += [
        "numbers of up to 64 values one each, else sixteenths of the people), and boosted trees trained on"
    ]
    lines += ["invented rows, tested on held-out people (people themselves in the first line).", ""]
    lines += [
        "| table | ε | noise | way | one | two | quality | CPU s |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for case in cases():
        if case.invents and any(one[0] == case.name for one in invented):
            runs = [{"quality": boosted(case, *case.parted(seed))} for seed in range(options.seeds)]
            lines.append(f"| {case.name} | | | people | | | {said(runs, 'quality')} | |")
    for *where, runs in invented:
        told = tuple(said(runs, name) for name in ("alone", "pairs", "quality"))
        lines.append(f"| {' | '.join((*where, *told, said(runs, 'seconds', 2)))} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure, and write the page."""
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    asked.add_argument("--seeds", type=int, default=SEEDS)
    asked.add_argument("--epsilon", nargs="+", default=list(EPSILONS))
    asked.add_argument("--table", nargs="+", default=[])
    asked.add_argument("--what", choices=("all", "models", "rows"), default="all")
    asked.add_argument("--set", nargs="*", default=[], help="NAME=VALUE of every method, to compare")
    asked.add_argument("--print", action="store_true", help="do not write the file")
    options = asked.parse_args()
    found = page(*measured(options), options)
    print(found)
    if not options.print:
        (HERE / "league.md").write_text(found, encoding="utf-8")


if __name__ == "__main__":
    main()
