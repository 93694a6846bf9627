"""What of the memory of a process stays behind it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(os.name == "nt", reason="no such limit")
@pytest.mark.parametrize("program", ["engine", "app"])
def test_a_program_that_ends_badly_leaves_no_file_of_its_memory(program: str, tmp_path: Path) -> None:
    """Cells, passphrases and open keys would be in it, where the system writes such a file."""
    window = "import app.application as a\n"
    window += "a.make_application = lambda *_, **__: 0\nm.open_window = lambda *_: 0\n"
    code = (
        "import resource\nresource.setrlimit(resource.RLIMIT_CORE, (4096, 4096))\n"
        f"import {program}.__main__ as m\n{window if program == 'app' else ''}"
        f"m.main({['methods'] if program == 'engine' else []})\n"
        "print('core', resource.getrlimit(resource.RLIMIT_CORE)[0])\n"
    )
    homes = dict.fromkeys(("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"), str(tmp_path))
    command = [sys.executable, "-c", code]
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, **homes}, capture_output=True, text=True, timeout=120
    )
    assert done.stdout.splitlines()[-1:] == ["core 0"], done.stderr[-2000:]
