"""Write `diffprivlib_means.json`: the errors of diffprivlib's mean, which divides by a public number of rows.

Not a test, and not run with them: diffprivlib needs older packages than the program. Made with

    python -m venv pinned && pinned/bin/pip install diffprivlib==0.6.6 scikit-learn==1.5.2 "numpy<2.3"
    pinned/bin/python tests/peers/diffprivlib_means.py
"""

import json
import sys
import warnings
from fractions import Fraction
from importlib.metadata import version
from pathlib import Path

import numpy as np
from mean_queries import EPSILONS, QUERIES

RUNS = 2000
RESULT = Path(__file__).with_suffix(".json")


def main() -> None:
    from diffprivlib.tools import mean

    warnings.simplefilter("ignore")
    found: dict[str, dict[str, float]] = {}
    for name, query in QUERIES.items():
        values, bounds = query.values().astype(float), (float(query.low), float(query.high))
        for epsilon in EPSILONS:
            exact = float(Fraction(epsilon))
            errors = [
                abs(mean(values, epsilon=exact, bounds=bounds, random_state=seed) - query.truth)
                for seed in range(RUNS)
            ]
            found.setdefault(name, {})[epsilon] = float(np.median(errors))
    made = {"python": sys.version.split()[0]}
    made |= {package: version(package) for package in ("diffprivlib", "scikit-learn", "numpy", "scipy")}
    RESULT.write_text(json.dumps({"made_with": made, "runs": RUNS, "median_error": found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
