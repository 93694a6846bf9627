"""Private models of other libraries on the tables of `model_tables`; see `make.py`. Prints JSON.

interpret's DP-EBM spends (ε, δ) like the Gaussian models of this program; diffprivlib is pure. Both get the
declared bounds. Not a test.
"""

import json
import warnings

import numpy as np
from model_tables import (
    DELTA,
    EPSILON,
    GROUPED,
    GROUPS,
    adult,
    cases,
    fit_quality,
    inertia,
    kept_variance,
    measured,
)


def boosting(case):
    from interpret.privacy import DPExplainableBoostingClassifier, DPExplainableBoostingRegressor

    rows = case.frame[case.predictors]
    kinds = ["continuous" if name in case.bounds else "nominal" for name in case.predictors]
    bounds = {name: list(case.low_high(name)) for name in case.bounds}
    given = {
        "feature_types": kinds,
        "epsilon": EPSILON,
        "delta": DELTA,
        "privacy_bounds": bounds,
        "n_jobs": 1,
    }

    def run(seed):
        inside = case.inside(seed)
        if case.ends is None:
            model = DPExplainableBoostingClassifier(random_state=seed, **given)
            model.fit(rows[inside], case.truth[inside].astype(int))
            share = np.clip(model.predict_proba(rows[~inside])[:, 1], 1e-12, 1 - 1e-12)
            return fit_quality(case, seed, np.log(share / (1 - share)))
        low, high = case.ends
        model = DPExplainableBoostingRegressor(
            random_state=seed, privacy_target_min=low, privacy_target_max=high, **given
        )
        model.fit(rows[inside], case.truth[inside])
        return fit_quality(case, seed, model.predict(rows[~inside]))

    return measured(run, case.seeds)


def logistic(case):
    from diffprivlib.models import LogisticRegression

    rows, norm = case.scaled(), np.sqrt(len(case.predictors))

    def run(seed):
        inside = case.inside(seed)
        model = LogisticRegression(epsilon=EPSILON, data_norm=norm, random_state=seed, max_iter=500)
        model.fit(rows[inside], case.truth[inside].astype(int))
        return fit_quality(case, seed, model.decision_function(rows[~inside]))

    return measured(run, case.seeds)


def bayes(case):
    from diffprivlib.models import GaussianNB

    names = list(case.bounds)
    rows = case.frame[names].to_numpy(float)
    ends = np.array([case.low_high(name) for name in names]).T

    def run(seed):
        inside = case.inside(seed)
        model = GaussianNB(epsilon=EPSILON, bounds=tuple(ends), random_state=seed)
        model.fit(rows[inside], case.truth[inside].astype(int))
        odds = model.predict_log_proba(rows[~inside])
        return fit_quality(case, seed, odds[:, 1] - odds[:, 0])

    return measured(run, case.seeds)


def linear(case):
    from diffprivlib.models import LinearRegression

    rows = case.scaled()

    def run(seed):
        inside = case.inside(seed)
        model = LinearRegression(epsilon=EPSILON, bounds_X=(-1, 1), bounds_y=case.ends, random_state=seed)
        model.fit(rows[inside], case.truth[inside])
        return fit_quality(case, seed, model.predict(rows[~inside]))

    return measured(run, case.seeds)


def groups(rows):
    from diffprivlib.models import KMeans

    def run(seed):
        model = KMeans(GROUPS, epsilon=EPSILON, bounds=(-1, 1), random_state=seed).fit(rows)
        return {"inertia": inertia(rows, model.cluster_centers_)}

    return measured(run)


def components(rows, norm, count, epsilon):
    from diffprivlib.models import PCA

    def run(seed):
        model = PCA(
            count, epsilon=epsilon, data_norm=norm, bounds=(-1, 1), random_state=seed, svd_solver="full"
        )
        return {"kept": kept_variance(rows, model.fit(rows).components_)}

    return measured(run)


def main():
    warnings.simplefilter("ignore")
    found = {}
    for case in cases():
        own = found[case.name] = {"interpret DP-EBM": boosting(case)}
        if case.ends is None:
            own["diffprivlib logistic"] = logistic(case)
            own["diffprivlib naive Bayes"] = bayes(case)
        else:
            own["diffprivlib linear"] = linear(case)
    case = adult()
    grouped = np.stack([_scaled(case, name) for name in GROUPED], axis=1)
    found["adult groups"] = {"diffprivlib k-means": groups(grouped)}
    # Of all 107 columns its exponential mechanism drew no component in twenty minutes: numbers alone.
    numbers = np.stack([_scaled(case, name) for name in case.bounds], axis=1)
    for epsilon in (0.1, 1.0):
        one = components(numbers, np.sqrt(len(case.bounds)), 2, epsilon)
        found[f"adult numbers, components, epsilon {epsilon}"] = {"diffprivlib PCA": one}
    print(json.dumps({"measured": found}))


def _scaled(case, name):
    low, high = case.low_high(name)
    return np.clip((2 * case.frame[name].to_numpy(float) - low - high) / (high - low), -1, 1)


if __name__ == "__main__":
    main()
