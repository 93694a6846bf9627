"""Print how time and memory grow with the rows: a whole run beside reading and grouping elsewhere.

    python tests/benchmarks/growth.py [--rows 10000 100000 1000000 10000000] [--only "a whole run" pandas]
        [--format parquet] [--more 4]

Each figure is of a process of its own: seconds of processor time, those of its imports included, and the
most memory that it held. What is not installed has no column. The other tools read the file with its dates
and count the rows by two columns; the run reads it, compares it with the ledger, caps every person's rows,
counts, measures, and writes bundle and reports.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROWS = (10**4, 10**5, 10**6, 10**7)

RUN = """
from fractions import Fraction
from engine.ledger import Ledger
from engine.methods.catalogue import method
from engine.methods.protocol import MAIN, Budget
from engine.release.plan import FileReference, Plan
from engine.release.reading import pin_reading
from engine.release.run import run
from engine.table.schema import Column, Domain, Kind, Origin, Role, Schema

def column(name, role, kind, domain=None):
    return Column(name, role, kind, domain, None if domain is None else Origin.DECLARED)

places = tuple(f"place {number}" for number in range(40))
schema = Schema((
    column("person", Role.PERSON_KEY, Kind.TEXT),
    column("age", Role.IDENTIFYING, Kind.INTEGER, Domain(Fraction(0), Fraction(99), Fraction(10))),
    column("sex", Role.IDENTIFYING, Kind.CATEGORY, Domain(values=("f", "m", "u"))),
    column("place", Role.IDENTIFYING, Kind.CATEGORY, Domain(values=places)),
    column("cost", Role.SENSITIVE, Kind.NUMBER, Domain(Fraction(0), Fraction(10000))),
    column("day", Role.OTHER, Kind.DATE),
))
counts = method("statistics.counts")
plan = Plan(
    method=counts.id, method_version=counts.version, files={MAIN: FileReference(path.name)},
    schemas={MAIN: schema}, parameters={"columns": ["sex", "place"]}, budget=Budget(Fraction(1)),
    holding="Register", holding_budget=Budget(Fraction(5)),
)
ledger, base = Ledger(folder / "ledger.db"), path.parent
run(pin_reading(plan, base=base), out=folder / "bundle", ledger=ledger, base=base)
"""

STORED = f"from engine.release import served\nserved.most_memory = lambda: 0\n{RUN}"
"""The same run with the rows coded on the disk, as a table that memory does not hold is."""

TASKS = {
    "a whole run": ("engine", RUN),
    "on the disk": ("engine", STORED),
    "reading alone": ("engine", "from engine import read_table\nread_table(path)"),
    "pandas": (
        "pandas",
        "import pandas\nread = pandas.read_csv(path, parse_dates=['day'])"
        " if path.suffix == '.csv' else pandas.read_parquet(path)\n"
        "read.groupby(['sex', 'place']).size()",
    ),
    "polars": (
        "polars",
        "import polars\nread = polars.read_csv(path, try_parse_dates=True)"
        " if path.suffix == '.csv' else polars.read_parquet(path)\n"
        "read.group_by('sex', 'place').len()",
    ),
    "duckdb": (
        "duckdb",
        "import duckdb\nduckdb.sql(f\"CREATE TABLE people AS FROM '{path}'\")\n"
        "duckdb.sql('SELECT sex, place, count(*) FROM people GROUP BY ALL').fetchall()",
    ),
}

MEASURED = """
import json, resource, sys, tempfile
from pathlib import Path
path = Path(sys.argv[1])
with tempfile.TemporaryDirectory() as kept:
    folder = Path(kept)
    exec(sys.argv[2])
used = resource.getrusage(resource.RUSAGE_SELF)
status = Path("/proc/self/status")
if status.exists():  # what Linux says of children counts their parent too
    most = next(int(line.split()[1]) * 1024 for line in status.read_text().splitlines() if "VmHWM" in line)
else:
    most = used.ru_maxrss
print(json.dumps([used.ru_utime + used.ru_stime, most / 1e6]))
"""


def written(rows: int, path: Path, more: int = 0) -> Path:
    """Write a table of people with six columns, CSV or Parquet; every person has two rows on average.

    ``more`` columns of numbers stand beside them that nobody declares or uses.
    """
    import numpy as np
    import pyarrow as pa
    from pyarrow import csv, parquet

    made = np.random.default_rng(7)
    days = np.datetime64("2000-01-01") + made.integers(0, 8000, rows)
    columns = {
        "person": pa.array([f"P{number:08d}" for number in made.integers(0, max(rows // 2, 1), rows)]),
        "age": made.integers(0, 100, rows),
        "sex": np.array(["f", "m", "u"])[made.integers(0, 3, rows)],
        "place": np.array([f"place {number}" for number in range(40)])[made.integers(0, 40, rows)],
        "cost": np.round(made.gamma(2, 500, rows), 2),
        "day": pa.array(days if path.suffix == ".parquet" else days.astype(str)),
        **{f"unused {place}": np.round(made.normal(size=rows), 9) for place in range(more)},
    }
    if path.suffix == ".parquet":
        parquet.write_table(pa.table(columns), path)
        return path
    csv.write_csv(pa.table(columns), path, csv.WriteOptions(quoting_style="none"))
    return path


def measured(task: str, path: Path) -> tuple[float, float]:
    """Return seconds of processor time and megabytes at most of a task in a process of its own."""
    command = [sys.executable, "-c", MEASURED, str(path), TASKS[task][1]]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    seconds, megabytes = json.loads(done.stdout.splitlines()[-1])
    return seconds, megabytes


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=list(ROWS))
    parser.add_argument("--only", nargs="+", choices=list(TASKS), default=list(TASKS))
    parser.add_argument("--format", choices=["csv", "parquet"], default="csv")
    parser.add_argument("--more", type=int, default=0, help="columns of numbers that nobody uses")
    asked = parser.parse_args()
    tasks = [task for task in asked.only if importlib.util.find_spec(TASKS[task][0]) is not None]
    print("| rows |" + "".join(f" {task}, s / MB |" for task in tasks))
    print("|---:|" + "---:|" * len(tasks))
    with tempfile.TemporaryDirectory() as folder:
        for rows in asked.rows:
            path = written(rows, Path(folder) / f"people.{asked.format}", asked.more)
            cells = (f" {seconds:.2f} / {size:.0f} |" for seconds, size in (measured(t, path) for t in tasks))
            print(f"| {rows:,} |" + "".join(cells), flush=True)


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    main()
