"""Models and counts of a book on Adult beside those of this program: `ppml_book_models.md` holds what came.

    python tests/published/ppml_book_models.py

J. M. Chang, D. Zhuang, G. D. Samaraweera, "Privacy-preserving machine learning" (2023), sections 2.2 and
3.2. As there: fitted on the 32,561 rows of the training file, tried on the 16,281 of the test file, five
columns of numbers. Their bounds are declared (the book takes them from the rows).
"""

from __future__ import annotations

import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from engine.methods.catalogue import method  # noqa: E402
from engine.methods.protocol import MAIN, Budget, Context, Request  # noqa: E402
from engine.table.table import Table  # noqa: E402
from tests.noise_source import seeded_noise  # noqa: E402
from tests.peers.model_tables import ADULT, EDGES, Case, adult  # noqa: E402
from tests.peers.private_models_here import schema_of, scores  # noqa: E402

FITTED, OLDER = 32_561, 50
COLUMNS = ("age", "education_num", "capital_gain", "capital_loss", "hours_per_week")
LEVELS = ("1", "1/100")
SMALL = Fraction(1, 10**6)
DRAWS = 21
BOOK = {
    ("naive Bayes (3.2.1)", "none"): 79.64,
    ("naive Bayes (3.2.1)", "1"): 78.59,
    ("naive Bayes (3.2.1)", "1/100"): 70.35,
    ("logistic regression (3.2.2)", "none"): 81.04,
    ("logistic regression (3.2.2)", "1"): 80.93,
    ("logistic regression (3.2.2)", "1/100"): 74.01,
}
WAYS: dict[str, tuple[str, dict[str, Any]]] = {
    "naive Bayes, normal densities, pure ε": ("naive_bayes", {"numbers": "normal", "noise": "laplace"}),
    "naive Bayes, declared bins, pure ε": ("naive_bayes", {"edges": EDGES, "noise": "laplace"}),
    "logistic, pure ε": ("logistic", {"noise": "laplace"}),
    "logistic, δ = 10⁻⁶": ("logistic", {"noise": "gaussian"}),
    "additive, pure ε": ("additive", {"edges": EDGES, "noise": "laplace"}),
    "additive, δ = 10⁻⁶": ("additive", {"edges": EDGES, "noise": "gaussian"}),
}


def table() -> Case:
    """Return the book's columns of Adult, training rows first, as the source has them."""
    case = adult()
    return Case(
        case.name, case.frame[[*COLUMNS, "income"]], "income", {one: ADULT[one] for one in COLUMNS}, None
    )


def majority(case: Case) -> float:
    """Return the share of the larger class of the test rows, in percent."""
    share = float(case.truth[FITTED:].mean())
    return 100 * max(share, 1 - share)


def asked(case: Case, way: str, level: str) -> Request:
    """Return the request for a model."""
    name, given = WAYS[way]
    of = method(f"models.{name}")
    known = {"target": case.target, "predictors": case.predictors, "about_rows": 32_000}
    known = {name: value for name, value in known.items() if name in {one.name for one in of.parameters}}
    given = given | ({"edges": {name: list(own) for name, own in EDGES.items()}} if "edges" in given else {})
    budget = Budget(Fraction(level), SMALL if given["noise"] == "gaussian" else Fraction(0))
    return of.make_request({MAIN: schema_of(case)}, known | given, budget=budget)


def accuracies(case: Case, way: str, level: str, draws: int = DRAWS) -> list[float] | None:
    """Return percent of right answers on the test rows for every draw of noise; None where it is refused."""
    of, request = method(f"models.{WAYS[way][0]}"), asked(case, way, level)
    problems = of(request).problems
    if problems:
        assert [one.code for one in problems] == [f"models.{WAYS[way][0]}.nothing_left"], problems
        return None
    rows, tried = Table(case.frame[:FITTED]), case.frame[FITTED:]
    found = []
    for draw in range(draws):
        model = of(request).run({MAIN: rows}, Context(seeded_noise(draw), None, Path())).artefacts[0].content
        found.append(100 * float(np.mean((scores(model, tried) > 0) == (case.truth[FITTED:] > 0))))
    return found


def without_noise(case: Case) -> dict[str, float]:
    """Return the same for the book's fits that protect nobody."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import GaussianNB
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MinMaxScaler

    rows, truth = case.frame[list(COLUMNS)].to_numpy(float), case.truth
    models = {
        "naive Bayes (3.2.1)": GaussianNB(),
        "logistic regression (3.2.2)": make_pipeline(MinMaxScaler(), LogisticRegression(solver="lbfgs")),
    }
    return {
        name: 100 * model.fit(rows[:FITTED], truth[:FITTED]).score(rows[FITTED:], truth[FITTED:])
        for name, model in models.items()
    }


def counted(level: str, draws: int = DRAWS) -> list[int]:
    """Return how many of the training rows are older than 50, with the noise of a count."""
    exact = int((adult().frame["age"][:FITTED] > OLDER).sum())
    scale = 1 / Fraction(level)
    return [exact + int(seeded_noise(draw).discrete_laplace(scale, 1)[0]) for draw in range(draws)]


def shown(values: list[float] | None, form: str) -> str:
    """Return the median and where 80 % of the draws are."""
    if values is None:
        return "refused"
    low, middle, high = (format(one, form) for one in np.quantile(values, (0.1, 0.5, 0.9)))
    return f"{middle} ({low} to {high})"


def main() -> None:
    """Print both tables."""
    case = table()
    print(f"Majority class of the test rows: {majority(case):.2f} %\n")
    print(f"| model | without noise | ε = 1 | ε = .01 |\n{'|---' * 4}|")
    for name in dict.fromkeys(name for name, _ in BOOK):
        print(f"| the book: {name} |", " | ".join(f"{BOOK[name, own]:.2f}" for own in ("none", *LEVELS)), "|")
    for name, found in without_noise(case).items():
        print(f"| made again: {name} | {found:.2f} | | |")
    for way in WAYS:
        cells = " | ".join(shown(accuracies(case, way, level), ".2f") for level in LEVELS)
        print(f"| ours: {way} | | {cells} |", flush=True)
    print(f"\n| people older than 50 | the book | ours |\n{'|---' * 3}|")
    for level, book in (("1/10", "6,472"), ("1/1000", "7,143")):
        print(f"| count, ε = {level} (2.2.2) | {book} | {shown(counted(level), ',.0f')} |")


if __name__ == "__main__":
    main()
