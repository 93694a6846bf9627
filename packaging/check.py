"""Set up and run the tests: ``python3 packaging/check.py``.

``--all`` adds the style and type checks, the import rules, the slow tests and the ratios of times. Anything
else is passed on to pytest, which then runs what is asked for in one process.
"""

from __future__ import annotations

import os
import random
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import environment

STATIC = {
    "style": ("-m", "ruff", "check", "."),
    "format": ("-m", "ruff", "format", "--check", "."),
    "types": ("-m", "mypy"),
    "import rules": ("-c", "from importlinter.cli import lint_imports_command; lint_imports_command()"),
}
AGAIN = 2  # further attempts at a ratio of times, each with twice its limit
FAILED_TESTS = 1  # pytest's exit status when tests ran and some failed


def main() -> int:
    """Run what is asked for, all of it, and return the first exit status that is not 0."""
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
    # All workers list the tests in the same order, another one in each run.
    os.environ.setdefault("PYTHONHASHSEED", str(random.randrange(1, 2**32)))
    return report(list(steps(python, everything, rest)))


def steps(python: Path, everything: bool, rest: list[str]) -> Iterator[tuple[str, float, int]]:
    """Run one step after the other; yield its name, how many seconds it took and its exit status."""

    def timed(name: str, work: Callable[[], int]) -> tuple[str, float, int]:
        print(f"\n=== {name}", flush=True)
        start = time.monotonic()
        status = work()
        return name, time.monotonic() - start, status

    for name, arguments in STATIC.items() if everything else ():
        yield timed(name, lambda arguments=arguments: environment.run(python, *arguments))
    also_slow = "" if everything else " and not slow"
    at_once = ("-n", str(min(4, os.cpu_count() or 1)), "--dist", "worksteal", "--durations=25")
    command = ("-m", "pytest", "-m", f"not benchmark{also_slow}", *(rest or at_once))
    yield timed("tests", lambda: environment.run(python, *command))
    if everything and not rest:
        yield timed("ratios of times", lambda: benchmarks(python))


def report(done: list[tuple[str, float, int]]) -> int:
    """Print how every step went and return the first exit status that is not 0."""
    print()
    for name, seconds, status in done:
        print(f"{'failed' if status else 'ok':6}  {seconds:6.0f} s  {name}")
    return next((status for _, _, status in done if status), 0)


def benchmarks(python: Path) -> int:
    """Measure the ratios of times with nothing else running, and return the exit status.

    What misses its limit is reported, and measured again, twice at most: the computer may have had something
    else to do. Only what is beyond twice its limit each time fails.
    """
    command = ["-m", "pytest", "-s", "-m", "benchmark"]
    status = environment.run(python, *command)
    os.environ["CUSTOS_RATIO_SLACK"] = "2"
    for _ in range(AGAIN):
        if status != FAILED_TESTS:
            break
        print("\nBeyond its limit, as reported above: measuring again with twice the limit", flush=True)
        status = environment.run(python, *command, "--last-failed", "--last-failed-no-failures=none")
    return status


if __name__ == "__main__":
    sys.exit(main())
