"""Directions from the sums of ten owners beside the book's: `ppml_book_directions.md` holds what was printed.

    python tests/published/ppml_book_directions.py FOLDER

J. M. Chang, D. Zhuang and G. D. Samaraweera, Privacy-Preserving Machine Learning, 2023, section 9.4, tables
9.1 to 9.3: discriminant components of ten owners, one direction, a support vector machine on it, weighted F1.
The folder has BreastCancer.csv, Ionosphere.csv and PimaIndiansDiabetes.csv (R package mlbench) and
GermanCredit.csv (R package caret), each with its class in a column ``label``. Australian and SensIT could not
be had.

    python tests/published/ppml_book_directions.py curves

The second prints the curves of section 9.3 over the number of features. The book's faces (Yale, Olivetti)
could not be had; scikit-learn's 1,797 digits have ten classes where Yale has fifteen, and whether a digit is
even stands for what is to be hidden.

Bounds are the ends of each column, as a codebook would state them. The book's coding of German credit is
another one, with 24 columns. Five divisions of four fifths and one fifth.
"""

from __future__ import annotations

import json
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from engine.methods.catalogue import method  # noqa: E402
from engine.methods.models.components import project  # noqa: E402
from engine.methods.models.directions import RIDGE  # noqa: E402
from engine.methods.protocol import Budget, Context  # noqa: E402
from engine.methods.shared.sums import add_up, put_in_place  # noqa: E402
from engine.privacy.events import Neighbours  # noqa: E402
from engine.privacy.mechanisms.integers import listening  # noqa: E402
from engine.risk import features as risk  # noqa: E402
from engine.table.schema import Column, Domain, Kind, Origin, Role, Schema  # noqa: E402
from engine.table.table import Table  # noqa: E402
from tests.noise_source import seeded_noise  # noqa: E402

OWNERS, DIVISIONS = 10, 5
BOOK = {"PimaIndiansDiabetes": 76.5, "BreastCancer": 96.9, "Ionosphere": 84.3, "GermanCredit": 72.7}


def schema_of(frame: pd.DataFrame) -> Schema:
    """Return the columns that vary with their ends, and the class."""
    columns = []
    for name in frame.columns.drop("label"):
        low, high = Fraction(float(frame[name].min())), Fraction(float(frame[name].max()))
        if low < high:
            columns.append(Column(name, Role.OTHER, Kind.NUMBER, Domain(low, high), Origin.DECLARED))
    levels = Domain(values=tuple(sorted(frame["label"].unique())))
    return Schema((*columns, Column("label", Role.OTHER, Kind.CATEGORY, levels, Origin.DECLARED)))


def design_of(schema: Schema, epsilon: Fraction) -> Any:
    """Return the design of one discriminant component."""
    kind = method("models.directions")
    names = [column.name for column in schema.columns if column.name != "label"]
    given = {"columns": names, "utility": "label", "components": 1}
    budget = Budget(epsilon, Fraction(1, 10**6), Neighbours.ADD_REMOVE)
    return kind(kind.make_request({"people": schema}, given, budget=budget))


def context(seed: int = 1) -> Context:
    return Context(seeded_noise(seed), None, Path())


def of_owners(design: Any, rows: pd.DataFrame) -> tuple[dict[str, Any], bool]:
    """Return the model from the exact sums of ten owners, and whether these are the sums of all rows."""

    def exact(frame: pd.DataFrame) -> list[Any]:
        heard: list[Any] = []

        def hear(values: Any, draws: Any) -> Any:
            heard.append(values.ravel())
            return values

        with listening(hear):
            design.run({"people": Table(frame)}, context())
        return heard

    totals = add_up([exact(rows.iloc[place::OWNERS]) for place in range(OWNERS)])
    is_equal = all((one == other).all() for one, other in zip(totals, exact(rows), strict=True))
    release = put_in_place(design, {"people": Table(rows)}, totals, context())
    return json.loads(release.artefacts[0].content), is_equal


def by_numpy(schema: Schema, rows: pd.DataFrame) -> np.ndarray:
    """Return the direction of the published form, in doubles, for columns between −1 and 1."""
    numbers, label = scaled(schema, rows), rows["label"].to_numpy()
    mean = numbers.mean(axis=0)
    between = sum(
        (label == one).mean() * np.outer(apart, apart)
        for one in np.unique(label)
        for apart in [numbers[label == one].mean(axis=0) - mean]
    )
    whole = np.cov(numbers.T, bias=True)
    whole = whole + RIDGE * np.linalg.eigvalsh(whole)[-1] * np.eye(len(whole))
    values, vectors = np.linalg.eig(np.linalg.solve(whole, between))
    return np.real(vectors[:, np.argmax(np.real(values))])


def scaled(schema: Schema, rows: pd.DataFrame) -> np.ndarray:
    """Return columns between −1 and 1, 0 where a number is missing."""
    found = []
    for column in schema.columns[:-1]:
        assert column.domain is not None
        low, high = float(column.domain.minimum or 0), float(column.domain.maximum or 0)
        found.append((2 * (rows[column.name] - low) / (high - low) - 1).fillna(0.0))
    return np.column_stack(found)


def f1(train: np.ndarray, of_train: Any, test: np.ndarray, of_test: Any) -> float:
    """Return the weighted F1 of a support vector machine on one direction, in per cent."""
    from sklearn.metrics import f1_score
    from sklearn.svm import SVC

    unit = train.std() or 1.0
    fitted = SVC().fit(train[:, None] / unit, of_train)
    return 100 * float(f1_score(of_test, fitted.predict(test[:, None] / unit), average="weighted"))


def compared(frame: pd.DataFrame) -> dict[str, float]:
    """Return the F1 by every way, means of the divisions."""
    schema, found = schema_of(frame), dict[str, list[float]]()
    for division in range(DIVISIONS):
        order = np.random.default_rng(division).permutation(len(frame))
        train, test = (frame.iloc[part] for part in np.split(order, [int(0.8 * len(frame))]))

        def add(name: str, along: Any, train: Any = train, test: Any = test) -> None:
            score = f1(along(train), train["label"], along(test), test["label"])
            found.setdefault(name, []).append(score)

        shared, is_equal = of_owners(design_of(schema, Fraction(10**6)), train)
        assert is_equal
        add("owners", lambda rows, model=shared: project(model, rows)[:, 0])
        weights = by_numpy(schema, train)
        add("numpy", lambda rows, weights=weights: scaled(schema, rows) @ weights)
        for epsilon in (3, 1):
            design = design_of(schema, Fraction(epsilon))
            for seed in range(3):
                release = design.run({"people": Table(train)}, context(seed))
                model = json.loads(release.artefacts[0].content)
                add(f"ε = {epsilon}", lambda rows, model=model: project(model, rows)[:, 0])
    return {name: float(np.mean(scores)) for name, scores in found.items()}


def curves(counts: tuple[int, ...] = (2, 5, 9, 20, 40, 64), *, beside: float = 0.0) -> list[dict[str, float]]:
    """Return, for so many features of digits, what is read and what is rebuilt: means of the divisions."""
    from sklearn.datasets import load_digits

    rows, digit = load_digits(return_X_y=True)
    rows, even = rows / 8 - 1, digit % 2
    told: list[dict[str, list[float]]] = [{} for _ in counts]
    for division in range(DIVISIONS):
        train, test = np.split(np.random.default_rng(division).permutation(len(rows)), [int(0.8 * len(rows))])
        mean = rows[train].mean(axis=0)
        known, met = rows[train] - mean, rows[test] - mean
        for kind in risk.KINDS:
            along = risk.directions(
                known, digit[train], even[train], kind=kind, count=max(counts), beside=beside
            )
            for place, count in enumerate(counts):
                of_train, of_test = known @ along[:count].T, met @ along[:count].T
                hidden = risk.read_label(of_train, even[train], of_test, even[test])
                found = {
                    "right": right(of_train, digit[train], of_test, digit[test]),
                    "linear": hidden["linear"].area,
                    "boosted": hidden["boosted"].area,
                    "error": risk.rebuilding_error(met, along[:count]),
                }
                for name, value in found.items():
                    told[place].setdefault(f"{kind}_{name}", []).append(value)
    return [
        {"features": count, **{name: float(np.mean(values)) for name, values in one.items()}}
        for count, one in zip(counts, told, strict=True)
    ]


def right(train: np.ndarray, of_train: Any, test: np.ndarray, of_test: Any) -> float:
    """Return how many of 100 a support vector machine reads rightly."""
    from sklearn.svm import SVC

    return 100 * float(SVC(C=10).fit(train, of_train).score(test, of_test))


def print_curves() -> None:
    """Print the curves for each ρ′."""
    for beside in (0.0, -0.05, 0.05):
        names = [f"{kind}_{name}" for kind in risk.KINDS for name in ("right", "error", "linear", "boosted")]
        print(f"\nρ′ = {beside} ρ\n| features | " + " | ".join(names) + " |\n|" + "---|" * (len(names) + 1))
        for one in curves(beside=beside):
            cells = [f"{one[name]:.1f}" if "right" in name else f"{one[name]:.2f}" for name in names]
            print(f"| {one['features']} | " + " | ".join(cells) + " |")


if __name__ == "__main__" and sys.argv[1] == "curves":
    print_curves()
elif __name__ == "__main__":
    print("| table | owners' sums | numpy | book | one noise, ε = 3 | ε = 1 |\n|---|---|---|---|---|---|")
    for name, printed in BOOK.items():
        told = compared(pd.read_csv(Path(sys.argv[1]) / f"{name}.csv"))
        cells = [told["owners"], told["numpy"], printed, told["ε = 3"], told["ε = 1"]]
        print(f"| {name} | " + " | ".join(f"{cell:.1f}" for cell in cells) + " |")
