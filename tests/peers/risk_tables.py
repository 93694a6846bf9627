"""The ten tables on which a peer and the engine are compared: columns and rows of Adult by a fixed seed."""

import gzip
import random
from pathlib import Path

import pandas as pd

ADULT = Path(__file__).resolve().parents[1] / "data" / "adult.csv.gz"
SEEDS = range(10)
ROWS = 1500
TIMED = ["age", "workclass", "education", "marital_status", "occupation", "race", "sex", "native_country"]
"""The identifying columns on which measures are timed, on all of Adult; `income` is sensitive."""


def adult() -> pd.DataFrame:
    """Return all of Adult, cells without the blanks around them, a question mark as it stands."""
    return pd.read_csv(gzip.open(ADULT), skipinitialspace=True)


def schema(seed: int) -> tuple[list[str], str, list[int]]:
    """Return identifying columns, a sensitive column and places of rows.

    Every second schema has coarse columns alone, so that its groups hold many people and values.
    """
    drawn = random.Random(seed)
    rows = sorted(drawn.sample(range(48_842), ROWS))
    if seed % 2 == 0:
        wanted = drawn.sample(["race", "sex", "income"], drawn.randint(1, 2))
        return wanted, drawn.choice(["relationship", "marital_status", "education_num", "workclass"]), rows
    coarse = ["race", "sex", "income", "relationship", "marital_status", "workclass"]
    fine = ["age", "education", "education_num", "occupation", "hours_per_week", "native_country"]
    sensitive = drawn.choice(["occupation", "hours_per_week", "education_num", "relationship", "workclass"])
    wanted = [name for name in drawn.sample(coarse, drawn.randint(1, 3)) if name != sensitive]
    wanted += [name for name in drawn.sample(fine, drawn.randint(0, 2)) if name != sensitive]
    return wanted or ["sex"], sensitive, rows
