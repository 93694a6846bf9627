"""A library that is imported on first use: not before, whole afterwards, never where nothing needs it."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip().splitlines()[-1]


@pytest.mark.parametrize("command", [["methods"], ["methods", "statistics.counts"], ["price", "--help"]])
def test_a_command_that_reads_declarations_loads_none_of_the_large_libraries(command):
    code = f"""
import sys
from engine.__main__ import main
try:
    main({command})
except SystemExit:
    pass
large = ("numpy._core", "pandas.core", "pyarrow.lib", "scipy", "sklearn")
print([name for name in large if name in sys.modules])
"""
    assert python(code) == "[]"


@pytest.mark.guarantee
def test_a_release_and_its_verification_load_nothing_that_only_others_need(tmp_path):
    """The sample took half as long again when each loaded every method, every text and an optimiser."""
    asked = """
import sys
from engine.__main__ import main
from engine import texts
from engine.methods import catalogue
try:
    assert not main({arguments})
except SystemExit as end:
    assert not end.code
large = ("pandas.core", "pyarrow.lib", "scipy.sparse", "scipy.optimize", "pypdf", "ssl",
         "engine.methods.statistics.counts")
print(catalogue.methods.cache_info().currsize, texts.catalogue.cache_info().currsize,
      *(name for name in large if name in sys.modules))
"""
    out, ledger = str(tmp_path / "out"), str(tmp_path / "ledger.sqlite")
    run = ["run", "resources/sample/plan.json", "--out", out, "--ledger", ledger]
    method = "engine.methods.statistics.counts"
    assert python(asked.format(arguments=run)) == f"0 0 pandas.core pyarrow.lib {method}"
    # What a PDF holds is read by a library that knows every PDF: it may come from anybody
    assert python(asked.format(arguments=["verify", out])) == f"0 0 pypdf {method}"


def test_on_first_use_everything_is_there_whoever_imported_it():
    code = """
import sys
from engine.later import import_later
for name in ("pandas", "pyarrow", "pyarrow.compute"):
    import_later(name)
import pyarrow.compute as pc, pyarrow as pa, pandas as pd, pandas
import_later("pandas")
assert "pandas.core" not in sys.modules and "pyarrow.lib" not in sys.modules
assert pc.sum(pa.array([1, 2])).as_py() == 3
frame = pd.DataFrame({"a": pa.array([1, 2])})
import pandas as again
assert isinstance(frame, again.DataFrame) and again.DataFrame is pd.DataFrame is pandas.DataFrame
from pandas.api.types import is_numeric_dtype
print(is_numeric_dtype(frame["a"]), sys.modules["pandas"].__version__ == pd.__version__)
"""
    assert python(code) == "True True"


def test_a_part_that_waits_is_found_on_the_library_that_came_first():
    code = """
import sys
from engine.later import import_later
for name in ("numpy", "numpy.typing"):
    import_later(name)
import numpy as np, numpy.typing as npt
assert "numpy._core" not in sys.modules
total = int(np.arange(4).sum())
import numpy
from numpy.typing import NDArray
print(total, NDArray is npt.NDArray is np.typing.NDArray is numpy.typing.NDArray, np.linalg.norm([3, 4]))
"""
    assert python(code) == "6 True 5.0"


def test_a_part_of_a_library_that_is_there_is_not_held_back():
    code = """
import numpy as np
from engine.later import import_later
import_later("numpy.typing")
import numpy.typing as npt
print(npt.NDArray is np.typing.NDArray)
"""
    assert python(code) == "True"


def test_what_is_not_installed_stays_absent():
    code = """
from engine.later import import_later
import_later("no_such_library_anywhere")
try:
    import no_such_library_anywhere
except ImportError:
    print("absent")
"""
    assert python(code) == "absent"
