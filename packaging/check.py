"""Set up and run the tests: ``python3 packaging/check.py``.

``--all`` adds the style and type checks, the import rules and the slow tests. Anything else is passed on to
pytest.
"""

from __future__ import annotations

import os
import sys

import environment

STATIC = (
    ("-m", "ruff", "check", "."),
    ("-m", "ruff", "format", "--check", "."),
    ("-m", "mypy"),
    ("-c", "from importlinter.cli import lint_imports_command; lint_imports_command()"),
)


def main() -> int:
    """Run what is asked for and return the first exit status that is not 0."""
    rest = sys.argv[1:]
    everything = "--all" in rest
    rest = [argument for argument in rest if argument != "--all"]
    python = environment.prepare(
        libraries=environment.DRAWING,
        tools=environment.TOOLS,
        extras=("test", "build") if everything else ("test",),
    )
    if python is None:
        return 1
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    for arguments in STATIC if everything else ():
        status = environment.run(python, *arguments)
        if status != 0:
            return status
    marker = "not benchmark" if everything else "not slow and not benchmark"
    status = environment.run(python, "-m", "pytest", "-m", marker, *rest)
    if status != 0 or rest:
        return status
    # Ratios of times are measured with nothing else running.
    return environment.run(
        python, "-m", "pytest", "-s", "-m", "benchmark" if everything else "benchmark and not slow"
    )


if __name__ == "__main__":
    sys.exit(main())
