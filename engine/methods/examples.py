"""The worked examples that come with the program, as the methods tell them."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from engine import strict_json


def example_plans(method_id: str) -> tuple[Mapping[str, Any], ...]:
    """Return the plans of ``resources/examples/ID*.json``, by their names."""
    folder = files("resources") / "examples"
    named = sorted(entry.name for entry in folder.iterdir() if entry.name.startswith(f"{method_id}."))
    return tuple(strict_json.loads((folder / name).read_bytes()) for name in named)
