"""Directions of ten owners' sums on a table that scikit-learn has; those of the book: see the script."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from engine.methods.models.components import project
from tests.published.ppml_book_directions import by_numpy, curves, design_of, f1, of_owners, scaled, schema_of


def test_the_sums_of_ten_owners_give_the_direction_of_all_rows_and_what_it_predicts() -> None:
    cancer = load_breast_cancer(as_frame=True)
    frame = cancer.data.iloc[:, :10].assign(label=np.where(cancer.target == 1, "benign", "malignant"))
    frame.loc[::50, "mean area"] = np.nan
    train, test = frame.iloc[:400], frame.iloc[400:]
    schema = schema_of(frame)
    model, is_equal = of_owners(design_of(schema, Fraction(10**6)), train)
    assert is_equal
    weights = by_numpy(schema, train)
    ours = np.concatenate([one["weights"][0] for one in model["columns"]])
    assert abs(ours @ weights) / np.linalg.norm(ours) / np.linalg.norm(weights) > 0.999
    found, peer = (
        f1(along(train), train["label"], along(test), test["label"])
        for along in (lambda rows: project(model, rows)[:, 0], lambda rows: scaled(schema, rows) @ weights)
    )
    assert abs(found - peer) < 0.7 and found > 85  # a guess has less than 60


def test_the_curves_over_the_number_of_features_are_those_that_were_printed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One of the five divisions: shares within four points and areas within .08 of the means of all."""
    monkeypatch.setattr("tests.published.ppml_book_directions.DIVISIONS", 1)
    two, nine = curves((2, 9))
    printed = {"pca_right": 67.2, "dca_right": 66.4, "mdr_right": 64.6}
    assert {name: two[name] for name in printed} == pytest.approx(printed, abs=4)
    assert two["pca_error"] == pytest.approx(3.61, abs=0.05)
    assert two["mdr_linear"] == pytest.approx(0.5, abs=0.08) and two["mdr_boosted"] > 0.8
    assert nine["dca_right"] > 94 and nine["dca_error"] > 1.3 * nine["pca_error"]
    assert nine["pca_error"] < two["pca_error"]
