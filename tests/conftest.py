"""What all tests share: the worked examples that the workers of one run made together are taken away."""

from __future__ import annotations

import shutil
from pathlib import Path
from tempfile import gettempdir

import pytest


def pytest_configure_node(node: object) -> None:
    """Remember the name of a run that has workers; called where they are started only."""
    config: pytest.Config = node.config  # type: ignore[attr-defined]
    config.stash[RUN] = node.workerinput["testrunuid"]  # type: ignore[attr-defined]


def pytest_unconfigure(config: pytest.Config) -> None:
    """Take the examples away when all workers are done."""
    if RUN in config.stash:
        shutil.rmtree(Path(gettempdir()) / f"custos-examples-{config.stash[RUN]}", ignore_errors=True)


RUN = pytest.StashKey[str]()
