"""The examples in the engine's docstrings say what the engine answers."""

import doctest
import importlib
from pathlib import Path

import pytest

import engine
from tests.engine.connector.drivers import missing_driver

ROOT = Path(engine.__file__).parent
WITH_EXAMPLES = sorted(
    ".".join(path.relative_to(ROOT.parent).with_suffix("").parts).removesuffix(".__init__")
    for path in ROOT.rglob("*.py")
    if ">>> " in path.read_text(encoding="utf-8")
)


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_examples(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if missing := missing_driver(name):
        pytest.skip(f"what connects to servers of this kind is not installed ({missing})")
    # For each docstring it looks whether any of thousands of files was changed since: none of them is.
    monkeypatch.setattr("linecache.checkcache", lambda filename=None: None)
    found = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert found.attempted and not found.failed
