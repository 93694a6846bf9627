"""Set up and run the tests: ``python3 packaging/check.py``.

``--all`` adds the style and type checks, the import rules and the slow tests. Anything else is passed on to
pytest, which then runs what is asked for in one process.
"""

from __future__ import annotations

import os
import random
import sys
from pathlib import Path

import environment

STATIC = (
    ("-m", "ruff", "check", "."),
    ("-m", "ruff", "format", "--check", "."),
    ("-m", "mypy"),
    ("-c", "from importlinter.cli import lint_imports_command; lint_imports_command()"),
)
AGAIN = 2  # further attempts at a ratio of times
FAILED_TESTS = 1  # pytest's exit status when tests ran and some failed


def main() -> int:
    """Run what is asked for and return the first exit status that is not 0."""
    rest = sys.argv[1:]
    everything = "--all" in rest
    rest = [argument for argument in rest if argument != "--all"]
    python = environment.prepare(
        libraries=environment.DRAWING | (environment.python_library() if everything else {}),
        tools=environment.TOOLS | (environment.BUILDING if everything else {}),
        extras=("test", "build") if everything else ("test",),
    )
    if python is None:
        return 1
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    for arguments in STATIC if everything else ():
        status = environment.run(python, *arguments)
        if status != 0:
            return status
    also_slow = "" if everything else " and not slow"
    # All workers list the tests in the same order, another one in each run.
    os.environ.setdefault("PYTHONHASHSEED", str(random.randrange(1, 2**32)))
    at_once = ("-n", str(min(4, os.cpu_count() or 1)), "--dist", "worksteal", "--durations=25")
    status = environment.run(python, "-m", "pytest", "-m", f"not benchmark{also_slow}", *(rest or at_once))
    if status != 0 or rest:
        return status
    return benchmarks(python, f"benchmark{also_slow}")


def benchmarks(python: Path, marker: str) -> int:
    """Measure the ratios of times with nothing else running, and return the exit status.

    What misses its limit is measured again, twice at most: the computer may have had something else to do.
    What is too slow misses its limit each time.
    """
    command = ["-m", "pytest", "-s", "-m", marker]
    status = environment.run(python, *command)
    for _ in range(AGAIN):
        if status != FAILED_TESTS:
            break
        print("\nMeasuring again what missed its limit", flush=True)
        status = environment.run(python, *command, "--last-failed", "--last-failed-no-failures=none")
    return status


if __name__ == "__main__":
    sys.exit(main())
