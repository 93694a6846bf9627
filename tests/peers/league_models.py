"""Private models of other libraries on the tables of the league: run by ``make.py``, prints JSON.

interpret's DP-EBM spends (ε, δ); diffprivlib is pure. All get the declared bounds, and nothing is tuned. Not
a test. ::

    python tests/peers/league_models.py [--seeds 2] [--epsilon 1] [--table visits]
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from league_tables import DELTA, Case, Measured, peers_measured, quality


def run_boosting(case: Case, epsilon: float, seed: int) -> Measured:
    """Measure DP-EBM of interpret."""
    from interpret.privacy import DPExplainableBoostingClassifier, DPExplainableBoostingRegressor

    train, test = case.parted(seed)
    numbers = [name for name in case.predictors if not isinstance(case.declared[name][0], str)]
    told: dict[str, Any] = {
        "feature_types": ["continuous" if name in numbers else "nominal" for name in case.predictors],
        "epsilon": epsilon,
        "delta": DELTA,
        "privacy_bounds": {name: [float(end) for end in case.declared[name]] for name in numbers},
        "n_jobs": 1,
        "random_state": seed,
    }
    x, z = train[case.predictors], test[case.predictors]
    started = time.process_time()
    if case.is_classes:
        fitted = DPExplainableBoostingClassifier(**told).fit(x, case.truth(train).astype(int))
        said = fitted.predict_proba(z)[:, 1]
    else:
        low, high = map(float, case.declared[case.target])
        told |= {"privacy_target_min": low, "privacy_target_max": high}
        said = DPExplainableBoostingRegressor(**told).fit(x, case.truth(train)).predict(z)
    taken = time.process_time() - started
    return quality(case, test, said, said if case.is_classes else None) | {"seconds": taken}


def run_linear(case: Case, epsilon: float, seed: int) -> Measured:
    """Measure diffprivlib's logistic regression of classes, its linear one of a number."""
    from diffprivlib.models import LinearRegression, LogisticRegression

    train, test = case.parted(seed)
    x, z = case.scaled(train), case.scaled(test)
    started = time.process_time()
    if case.is_classes:
        fitted = LogisticRegression(epsilon=epsilon, data_norm=float(np.sqrt(x.shape[1])), random_state=seed)
        said = fitted.fit(x, case.truth(train)).predict_proba(z)[:, 1]
    else:
        low, high = map(float, case.declared[case.target])
        fitted = LinearRegression(epsilon=epsilon, bounds_X=(0, 1), bounds_y=(low, high), random_state=seed)
        said = fitted.fit(x, case.truth(train)).predict(z)
    taken = time.process_time() - started
    return quality(case, test, said, said if case.is_classes else None) | {"seconds": taken}


def run_bayes(case: Case, epsilon: float, seed: int) -> Measured:
    """Measure diffprivlib's naive Bayes, with normal densities."""
    from diffprivlib.models import GaussianNB

    train, test = case.parted(seed)
    x, z = case.scaled(train), case.scaled(test)
    started = time.process_time()
    fitted = GaussianNB(epsilon=epsilon, bounds=(0, 1), random_state=seed).fit(x, case.truth(train))
    said = fitted.predict_proba(z)[:, 1]
    taken = time.process_time() - started
    return quality(case, test, said, said) | {"seconds": taken}


def ways_of(case: Case) -> dict[tuple[str, str], Any]:
    """Return what measures a table, by kind of noise and name."""
    found = {("δ 1e-6", "DP-EBM"): run_boosting, ("pure", "diffprivlib linear"): run_linear}
    return found | ({("pure", "diffprivlib naive Bayes"): run_bayes} if case.is_classes else {})


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    peers_measured(ways_of)
