"""Set up and start Custos: ``python3 packaging/start.py`` opens the window.

``python3 packaging/start.py --sample FOLDER`` makes the sample release in FOLDER without a screen. Its ledger
is ``FOLDER-ledger.sqlite``, so that trying things out spends nothing of a real register of people.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

import environment


def main() -> int:
    """Do what the command line says and return the exit status."""
    parser = argparse.ArgumentParser(description="Set up and start Custos.")
    parser.add_argument(
        "--sample", metavar="FOLDER", help="make the sample release in FOLDER, without a screen"
    )
    parser.add_argument("--setup-only", action="store_true", help="install everything and stop")
    options, rest = parser.parse_known_args()
    libraries = {} if options.sample else environment.DRAWING | environment.WINDOW
    python = environment.prepare(libraries=libraries, tools={})
    if python is None:
        return 1
    if options.setup_only:
        return 0
    if options.sample:
        return sample(python, Path(options.sample).absolute())
    if not has_screen():
        print(
            "Everything is installed, but there is no screen here to open a window on (DISPLAY is not set).\n"
            "Without one: python3 packaging/start.py --sample FOLDER, or .venv/bin/python -m engine --help"
        )
        return 1
    return environment.run(python, "-m", "app", *rest)


def has_screen() -> bool:
    """Say whether a window can be opened. Qt itself only aborts, and blames a library that is there."""
    if not sys.platform.startswith(("linux", "freebsd")):
        return True
    return any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"))


def sample(python: Path, folder: Path) -> int:
    """Run the sample plan into its bundle and verify it."""
    ledger = folder.with_name(f"{folder.name}-ledger.sqlite")
    plan = environment.ROOT / "resources" / "sample" / "plan.json"
    status = environment.run(
        python, "-m", "engine", "run", str(plan), "--out", str(folder), "--ledger", str(ledger)
    )
    if status != 0:
        return status
    return environment.run(python, "-m", "engine", "verify", str(folder), "--ledger", str(ledger))


if __name__ == "__main__":
    sys.exit(main())
