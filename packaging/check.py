"""Set up and run the tests: ``python3 packaging/check.py``.

Without more words it runs what is quick, and the rest of each part that has changed since it last passed here
(``tests/tiers.py``). Nothing in it is held to a time.

``--all``
    Also style, types and import rules, and of the tests, which run beside them, all but the longest: what
    ``.ci/run`` runs.
``--before-release``
    Everything: all tests, the program packed, used, and installed in empty systems if debootstrap is there,
    a picture of every screen, hand-made faults that have to be found (``tests/mutants.py``), ratios of times.
``--ratios``
    Ratios of times alone, with nothing else running.
``--thorough``
    Ten times as many made-up examples, with any of these.

Anything else is passed on to pytest, which then runs what is asked for in one process.
"""

from __future__ import annotations

import os
import random
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import environment

STATIC = {
    "style": ("-m", "ruff", "check", "."),
    "format": ("-m", "ruff", "format", "--check", "."),
    "types": ("-m", "mypy"),
    "import rules": ("-c", "from importlinter.cli import lint_imports_command; lint_imports_command()"),
}
AGAIN = 3  # attempts at a ratio of times that misses its limit, each with twice the limit
FAILED_TESTS = 1  # pytest's exit status when tests ran and some failed
OWN = ("--all", "--before-release", "--ratios", "--thorough")
Step = tuple[str, Callable[[], int]]


def main() -> int:
    """Run what is asked for, all of it, and return the first exit status that is not 0."""
    asked = {argument for argument in sys.argv[1:] if argument in OWN}
    rest = [argument for argument in sys.argv[1:] if argument not in OWN]
    release = "--before-release" in asked
    python = environment.prepare(
        libraries=environment.DRAWING | (environment.python_library() if release else {}),
        tools=environment.TOOLS | (environment.BUILDING if release else {}),
        extras=("test", "build") if release else ("test",),
    )
    if python is None:
        return 1
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    # Tests start the program many times: it would be compiled anew each time.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    # All workers list the tests in the same order, another one in each run.
    os.environ.setdefault("PYTHONHASHSEED", str(random.randrange(1, 2**32)))
    if asked & {"--all", "--before-release"} != {"--all"} or rest:
        return report(run(steps(python, asked, rest)))
    with ThreadPoolExecutor(1) as aside:  # types take one core for long, while the tests list themselves
        static = aside.submit(lambda: report(run(static_steps(python))))
        status = report(run(steps(python, asked, rest)))
        if static.result():
            print("Not all of style, types and import rules is as it should be: said above", flush=True)
        return status or static.result()


def static_steps(python: Path) -> Iterator[Step]:
    """Yield what is checked without running the program."""
    for name, arguments in STATIC.items():
        yield name, lambda arguments=arguments: environment.run(python, *arguments)


def steps(python: Path, asked: Iterable[str], rest: list[str]) -> Iterator[Step]:
    """Yield the name of each step and what runs it; the tests come last, but for ratios of times."""
    release = "--before-release" in asked
    whole = release or "--all" in asked
    if release and not rest:
        yield from static_steps(python)
    if release and not rest:
        yield "hand-made faults", lambda: environment.run(python, "tests/mutants.py")
    if release or "--ratios" in asked:
        yield "ratios of times", lambda: benchmarks(python)
    if "--ratios" in asked and not whole:
        return
    tier = "release" if release else "all" if whole else "commit"
    examples = "thorough" if "--thorough" in asked else "commit" if tier == "commit" else "all"
    yield "tests", lambda: tests(python, tier, examples, rest)


def tests(python: Path, tier: str, examples: str, rest: list[str]) -> int:
    """Run the tests of a tier at once in several processes, or what is asked for in one."""
    os.environ.setdefault("CUSTOS_EXAMPLES", examples)
    workers = str(min(4, os.cpu_count() or 1))
    chosen = rest or ["--tier", tier, "-n", workers, "--dist", "worksteal", "--durations=25"]
    return environment.run(python, "-m", "pytest", "-m", "not benchmark", *chosen)


def run(wanted: Iterable[Step]) -> Iterator[tuple[str, float, int]]:
    """Run one step after the other; yield its name, how many seconds it took and its exit status."""
    for name, work in wanted:
        print(f"\n=== {name}", flush=True)
        start = time.monotonic()
        status = work()
        yield name, time.monotonic() - start, status


def report(done: Iterable[tuple[str, float, int]]) -> int:
    """Print how each step went and return the first exit status that is not 0.

    What came before is said before the next step starts, so that the last lines are those of the tests.
    """
    statuses = []
    for name, seconds, status in done:
        statuses.append(status)
        if name != "tests":
            print(f"{'failed' if status else 'ok':6}  {seconds:6.0f} s  {name}", flush=True)
    return next((status for status in statuses if status), 0)


def benchmarks(python: Path) -> int:
    """Measure the ratios of times with nothing else running, and return the exit status.

    What misses its limit is reported, and measured again three times at most: the computer may have had
    something else to do. Only what is beyond twice its limit each time fails.
    """
    command = ["-m", "pytest", "-s", "-v", "-m", "benchmark"]
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
