"""Print what pycanon measures on the ten tables, and how long its eight measures take on all of Adult.

Run by `make.py` in an environment of its own; not a test.
"""

import json
import time
import warnings

from pycanon import anonymity
from risk_tables import SEEDS, TIMED, adult, schema

MEASURES = {
    "k": lambda frame, columns, sensitive: anonymity.k_anonymity(frame, columns),
    "l": anonymity.l_diversity,
    "entropy_l": anonymity.entropy_l_diversity,
    "recursive": anonymity.recursive_c_l_diversity,
    "t": anonymity.t_closeness,
    "beta": anonymity.basic_beta_likeness,
    "delta": anonymity.delta_disclosure,
    "alpha_k": anonymity.alpha_k_anonymity,
}

UNTIMED = {"enhanced_beta": anonymity.enhanced_beta_likeness}
"""Measured on the ten tables too, beside the eight that are timed."""


def plain(value: object) -> object:
    """Return a figure as JSON knows it: numbers, lists, null for what is none."""
    if isinstance(value, tuple):
        return [plain(part) for part in value]
    number = float(value)  # type: ignore[arg-type]
    return None if number != number else number


def main() -> None:
    warnings.simplefilter("ignore")
    whole = adult()
    found = {}
    for seed in SEEDS:
        columns, sensitive, rows = schema(seed)
        frame = whole.iloc[rows].reset_index(drop=True)
        measured = {
            name: plain(measure(frame, columns, [sensitive]))
            for name, measure in (MEASURES | UNTIMED).items()
        }
        found[str(seed)] = {"columns": columns, "sensitive": sensitive, **measured}
    seconds = {}
    for name, measure in MEASURES.items():
        start = time.process_time()
        measure(whole, TIMED, ["income"])
        seconds[name] = round(time.process_time() - start, 3)
    bare = []
    texts = whole[TIMED].astype(str)
    for _ in range(7):
        start = time.process_time()
        texts.groupby(TIMED, sort=False).size()
        bare.append(time.process_time() - start)
    print(json.dumps({"tables": found, "seconds": seconds, "bare_seconds": round(min(bare), 5)}))


if __name__ == "__main__":
    main()
