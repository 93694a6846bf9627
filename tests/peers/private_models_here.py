"""The models of this program on the same tables and splits as `private_models`, and fits without noise.

Not a test; `test_private_models` compares what both wrote. ::

    python tests/peers/private_models_here.py models    # writes private_models_here.json
    python tests/peers/private_models_here.py size      # writes private_models_size.json: time and memory
"""

from __future__ import annotations

import json
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1])]

from engine.methods.catalogue import method  # noqa: E402
from engine.methods.models.additive import FORMAT as ADDITIVE  # noqa: E402
from engine.methods.models.additive import scores as additive_scores  # noqa: E402
from engine.methods.models.linear_model import FORMAT as LINEAR  # noqa: E402
from engine.methods.models.linear_model import scores as linear_scores  # noqa: E402
from engine.methods.models.naive_bayes import log_odds  # noqa: E402
from engine.methods.protocol import MAIN, Budget, Context  # noqa: E402
from engine.privacy.noise import Noise  # noqa: E402
from engine.table.schema import Column, Domain, Kind, Origin, Role, Schema  # noqa: E402
from engine.table.table import Table  # noqa: E402
from tests.peers.model_tables import (  # noqa: E402
    DELTA,
    EDGES,
    EPSILON,
    GROUPED,
    GROUPS,
    Case,
    adult,
    cases,
    fit_quality,
    inertia,
    kept_variance,
    measured,
)

PACKAGES = ("numpy", "pandas", "scikit-learn", "pyarrow")


def schema_of(case: Case) -> Schema:
    """Declare bounds and values; of categories those that the source lists, which are those that occur."""
    bounds = case.bounds | ({} if case.ends is None else {case.target: case.ends})
    return Schema(tuple(_column(name, case.frame[name], bounds.get(name)) for name in case.frame.columns))


def _column(name: str, values: pd.Series, ends: Any) -> Column:
    if ends is not None:
        domain = Domain(*(Fraction(str(end)) for end in ends))
        kind = Kind.INTEGER if values.dtype.kind == "i" else Kind.NUMBER
    else:
        domain, kind = (
            Domain(values=tuple(sorted(one for one in values.unique() if one != "?"))),
            Kind.CATEGORY,
        )
    return Column(name, Role.OTHER, kind, domain=domain, domain_origin=Origin.DECLARED)


def release(
    name: str, case: Case, rows: pd.DataFrame, given: dict[str, Any], epsilon: float = EPSILON
) -> Any:
    """Return what a method releases of rows."""
    way, gaussian = method(f"models.{name}"), given["noise"] == "gaussian"
    budget = Budget(Fraction(str(epsilon)), Fraction(1, 10**6) if gaussian else Fraction(0))
    assert DELTA == 1e-6
    asked = {one.name for one in way.parameters}
    known = {"about_rows": len(rows), "target": case.target, "predictors": case.predictors}
    edges = {name: list(own) for name, own in EDGES.items() if name in case.bounds}
    known |= {"edges": edges} if edges else {}
    given = {name: value for name, value in (known | given).items() if name in asked}
    request = way.make_request({MAIN: schema_of(case)}, given, budget=budget)
    assert not way(request).problems, way(request).problems
    return way(request).run({MAIN: Table(rows)}, Context(Noise(), None, Path()))


def predicting(name: str, case: Case, noise: str) -> dict[str, float]:
    """Measure a model as `private_models` does its peers."""

    def run(seed: int) -> dict[str, float]:
        inside = case.inside(seed)
        found = release(name, case, case.frame[inside], {"noise": noise}).artefacts[0]
        return fit_quality(case, seed, scores(found.content, case.frame[~inside]))

    return measured(run, case.seeds)


def scores(model: Any, rows: pd.DataFrame) -> np.ndarray:
    """Return the scores of a released model."""
    if model["format"] == ADDITIVE:
        return additive_scores(model, rows)
    if model["format"] == LINEAR:
        return linear_scores(model, rows)
    odds = log_odds(model, rows)
    return np.asarray(odds[:, 1] - odds[:, 0])


def without_noise(case: Case) -> dict[str, dict[str, float]]:
    """Measure fits that protect nobody."""
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
    from sklearn.linear_model import LinearRegression, LogisticRegression

    rows = case.scaled()

    def fitted(model: Any, seed: int) -> Any:
        inside = case.inside(seed)
        return model.fit(rows[inside], case.truth[inside]), rows[~inside]

    def run(make: Any, of: str) -> dict[str, float]:
        def one(seed: int) -> dict[str, float]:
            model, away = fitted(make(seed), seed)
            return fit_quality(case, seed, getattr(model, of)(away))

        return measured(one, case.seeds)

    if case.ends is None:
        return {
            "logistic regression": run(lambda seed: LogisticRegression(max_iter=500), "decision_function"),
            "boosted trees": run(
                lambda seed: HistGradientBoostingClassifier(random_state=seed), "decision_function"
            ),
        }
    return {
        "least squares": run(lambda seed: LinearRegression(), "predict"),
        "boosted trees": run(lambda seed: HistGradientBoostingRegressor(random_state=seed), "predict"),
    }


def models() -> dict[str, Any]:
    """Measure every model on every table."""
    found: dict[str, Any] = {}
    for case in cases():
        own = found[case.name] = {}
        names = ("additive", "logistic", "naive_bayes") if case.ends is None else ("additive", "linear")
        for name in names:
            for noise in ("gaussian", "laplace"):
                own[f"{name}, {noise}"] = predicting(name, case, noise)
        own |= {f"without noise: {name}": one for name, one in without_noise(case).items()}
    case = adult()
    found["adult groups"] = {f"k-means, {noise}": groups(case, noise) for noise in ("gaussian", "laplace")}
    found["adult groups"]["without noise"] = exact_groups(case)
    numbers = replace(case, frame=case.frame[[*case.bounds, case.target]])
    for name, own in (("adult numbers", numbers), ("adult", case)):
        for epsilon in (0.1, 1.0):
            found[f"{name}, components, epsilon {epsilon}"] = {
                f"components, {noise}": components(own, noise, epsilon) for noise in ("gaussian", "laplace")
            }
    return found


def grouped_rows(case: Case) -> np.ndarray:
    """Return the columns that are grouped, between −1 and 1."""
    ends = np.array([case.low_high(name) for name in GROUPED])
    low, high = ends.T
    rows = case.frame[list(GROUPED)].to_numpy(float)
    return np.asarray(np.clip((2 * rows - low - high) / (high - low), -1, 1))


def groups(case: Case, noise: str) -> dict[str, float]:
    """Measure groups of three columns."""
    rows, ends = grouped_rows(case), np.array([case.low_high(name) for name in GROUPED])

    def run(seed: int) -> dict[str, float]:
        given = {"columns": GROUPED, "groups": GROUPS, "noise": noise}
        made = release("k_means", case, case.frame, given).artefacts[0]
        told = json.loads(made.content)
        centres = np.array([one["centres"] for one in told["columns"]]).T
        low, high = ends.T
        return {"inertia": inertia(rows, (2 * centres - low - high) / (high - low))}

    return measured(run)


def exact_groups(case: Case) -> dict[str, float]:
    """Measure groups without noise."""
    from sklearn.cluster import KMeans

    rows = grouped_rows(case)
    return measured(
        lambda seed: {"inertia": KMeans(GROUPS, n_init=4, random_state=seed).fit(rows).inertia_ / len(rows)}
    )


def components(case: Case, noise: str, epsilon: float) -> dict[str, float]:
    """Measure two components of all predictors."""
    rows = case.scaled()

    def run(seed: int) -> dict[str, float]:
        given = {"columns": case.predictors, "components": 2, "noise": noise}
        made = release("pca", case, case.frame, given, epsilon).artefacts[0]
        told = json.loads(made.content)
        return {"kept": kept_variance(rows, _directions(told, case))}

    return measured(run)


def _directions(told: Any, case: Case) -> np.ndarray:
    """Return the directions in the coordinates of `Case.scaled`, which knows no cell of other values."""
    parts = []
    for one in told["columns"]:
        weights = np.array(one["weights"])
        if one["kind"] == "levels":
            occurring = sorted(case.frame[one["name"]].unique())
            places = [one["levels"].index(name) if name != "?" else len(one["levels"]) for name in occurring]
            weights = weights[:, places]
        parts.append(weights)
    return np.hstack(parts)


# --- size --------------------------------------------------------------------------------------------

ROWS, COLUMNS = 10**6, 20
OURS: dict[str, tuple[str, dict[str, Any]]] = {
    "sums": ("linear", {"fit": "sums"}),
    "steps": ("linear", {"fit": "steps"}),
    "additive": ("additive", {}),
    "logistic": ("logistic", {}),
    "naive Bayes": ("naive_bayes", {}),
    "tree": ("tree", {}),
    "groups": ("k_means", {"groups": GROUPS}),
    "components": ("pca", {"components": 2}),
}
CLASSED = ("logistic", "naive_bayes", "tree")
SIZED = (*OURS, "Ridge", "boosted trees")


def sized(name: str) -> dict[str, float]:
    """Return CPU seconds and the most memory of one fit to a million rows, in a process of its own.

    A fit to some of the rows comes first, told of as many and at another level, so that it goes the same way
    with a plan of its own: the libraries that it loads are no part of either.
    """
    chance = np.random.default_rng(0)
    rows = np.clip(chance.normal(scale=0.3, size=(ROWS, COLUMNS)), -1, 1)
    target = np.clip(
        rows @ chance.normal(scale=0.2, size=COLUMNS) + chance.normal(scale=0.2, size=ROWS), -1, 1
    )
    names = [f"x{place}" for place in range(COLUMNS)]
    frame = pd.DataFrame(rows, columns=names, copy=False)
    frame["y"] = target
    frame["class"] = pd.Series(np.where(target > 0, ">", "<")).astype("str")
    if name in PEERS:
        peer = PEERS[name]
        peer(rows[:5000], target[:5000])
        return _spent(lambda: peer(rows, target))
    own = _of_the_program(name)
    own(frame.iloc[:5000].reset_index(drop=True))
    return _spent(lambda: own(frame))


def _spent(fit: Callable[[], object]) -> dict[str, float]:
    """Return the CPU seconds of a fit and the most memory that it had beside what there was."""
    Path("/proc/self/clear_refs").write_text("5")  # the most memory counts from here on (Linux)
    before = _most_kibibytes()
    start = time.process_time()
    fit()
    seconds = time.process_time() - start
    more = _most_kibibytes() - before
    return {"cpu_seconds": round(seconds, 2), "mebibytes_beyond_the_rows": round(more / 1024, 1)}


def _of_the_program(name: str) -> Callable[[pd.DataFrame], object]:
    """Return a fit of the program."""
    model, given = OURS[name]
    target = "class" if model in CLASSED else "y"

    def fit(frame: pd.DataFrame) -> object:
        names = [one for one in frame.columns if one not in ("y", "class")]
        columns = {"columns": names[: 6 if model == "k_means" else None]}
        ends = None if target == "class" else (-1.0, 1.0)
        case = Case("drawn", frame[[*names, target]], target, dict.fromkeys(names, (-1, 1)), ends)
        own = given | {"noise": "gaussian", "about_rows": ROWS}
        own |= columns if model in ("k_means", "pca") else {}
        return release(model, case, case.frame, own, EPSILON if len(frame) == ROWS else 2 * EPSILON)

    return fit


def _ridge(rows: np.ndarray, target: np.ndarray) -> object:
    from sklearn.linear_model import Ridge

    return Ridge().fit(rows, target)


def _boosted(rows: np.ndarray, target: np.ndarray) -> object:
    from sklearn.ensemble import HistGradientBoostingRegressor

    return HistGradientBoostingRegressor().fit(rows, target)


PEERS: dict[str, Callable[[np.ndarray, np.ndarray], object]] = {"Ridge": _ridge, "boosted trees": _boosted}


def _most_kibibytes() -> int:
    """Return the most memory that this process had since it was last asked to forget."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


def sizes() -> dict[str, Any]:
    """Measure each way in a process of its own."""
    found = {}
    for name in SIZED:
        command = [sys.executable, __file__, "one", name]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        found[name] = json.loads(done.stdout)
    return {f"{ROWS} rows, {COLUMNS} columns": found}


def main() -> None:
    if sys.argv[1] == "one":
        print(json.dumps(sized(sys.argv[2])))
        return
    what, file = {"models": (models, "here"), "size": (sizes, "size")}[sys.argv[1]]
    made = {"command": f"python tests/peers/private_models_here.py {sys.argv[1]}"}
    made |= {"python": platform.python_version()} | {one: version(one) for one in PACKAGES}
    text = json.dumps({"made_with": made, "measured": what()}, indent=1) + "\n"
    (HERE / f"private_models_{file}.json").write_text(text)


if __name__ == "__main__":
    main()
