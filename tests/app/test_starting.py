"""The window is started as README.md says it: in a process of its own, with nothing behind the command."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CLOSED_SOON = """
import runpy, sys
from PySide6.QtCore import QTimer
from app import application

made = application.make_application

def make(*arguments, **options):
    found = made(*arguments, **options)
    def close():
        print("shown", sum(one.isVisible() for one in found.topLevelWidgets()))
        found.quit()

    QTimer.singleShot(500, close)
    return found

application.make_application = make
sys.argv = ["app", *sys.argv[1:]]
runpy.run_module("app", run_name="__main__")
"""


@pytest.mark.guarantee
@pytest.mark.parametrize("arguments", [[], ["--lang", "de"], ["--theme", "dark"]])
def test_the_window_opens(arguments: list[str], tmp_path: Path) -> None:
    homes = dict.fromkeys(("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"), str(tmp_path))
    done = subprocess.run(
        [sys.executable, "-c", CLOSED_SOON, *arguments],
        cwd=ROOT,
        env={**os.environ, **homes, "QT_QPA_PLATFORM": "offscreen"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.split() == ["shown", "1"]


def test_a_command_without_a_word_says_what_there_is() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "engine"], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 2 and "Traceback" not in done.stderr
    assert "COMMAND" in done.stderr and "usage" in done.stderr
