"""Print which steps anjana takes on Adult, and how many rows it leaves out.

Run by `make.py` in an environment of its own; not a test.
"""

import contextlib
import csv
import json
import sys
import time
from pathlib import Path

import pandas as pd
from anjana.anonymity import entropy_l_diversity, k_anonymity, l_diversity, t_closeness

DATA = Path(__file__).resolve().parents[1] / "data"
FILES = {
    "sex": "sex",
    "age": "age",
    "race": "race",
    "marital_status": "marital-status",
    "education": "education",
    "native_country": "native-country",
    "workclass": "workclass",
    "income": "salary-class",
}
SENSITIVE = "occupation"
LIMITS = (5,)
EVERY = 10  # of the complete rows: it is slow


def main() -> None:
    rows = pd.read_csv(DATA / "adult.csv.gz", dtype=str, nrows=32_561)
    rows = rows[(rows != "?").all(axis=1)].iloc[::EVERY].reset_index(drop=True)
    names = list(FILES)
    paths = {}
    for name, file in FILES.items():
        text = (DATA / "hierarchies" / f"adult_hierarchy_{file}.csv").read_text()
        paths[name] = {line[0]: line for line in csv.reader(text.splitlines(), delimiter=";") if line}
    hierarchies = {
        name: {
            step: rows[name].map(lambda value, held=held, step=step: held[value][step]).to_numpy()
            for step in range(len(next(iter(held.values()))))
        }
        for name, held in paths.items()
    }
    cases = {
        "k": lambda table, k, limit: k_anonymity(table, [], names, k, limit, hierarchies),
        "distinct": lambda table, k, limit: l_diversity(
            table, [], names, SENSITIVE, k, 3, limit, hierarchies
        ),
        "entropy": lambda table, k, limit: entropy_l_diversity(
            table, [], names, SENSITIVE, k, 3, limit, hierarchies
        ),
        "close": lambda table, k, limit: t_closeness(table, [], names, SENSITIVE, k, 0.2, limit, hierarchies),
    }
    found = []
    for name, make in cases.items():
        for k in (5, 10) if name == "k" else (5,):
            for limit in LIMITS:
                start = time.process_time()
                with contextlib.redirect_stdout(sys.stderr):
                    made = make(rows[[*names, SENSITIVE]].copy(), k, limit)
                took = time.process_time() - start
                answer = {"condition": name, "k": k, "limit": limit, "seconds": round(took, 2)}
                if len(made):
                    answer["steps"] = [
                        next(step for step, read in hierarchies[one].items() if set(made[one]) <= set(read))
                        for one in names
                    ]
                print(answer, file=sys.stderr, flush=True)
                found.append(answer | {"left_out": len(rows) - len(made)})
    print(json.dumps({"columns": names, "every": EVERY, "sensitive": SENSITIVE, "answers": found}))


main()
