"""What the bundle's specification takes from the program is there: seen without building."""

import ast
from importlib import import_module
from pathlib import Path

SPECIFICATION = Path(__file__).resolve().parents[2] / "packaging" / "custos.spec"


def test_every_name_it_imports_is_there() -> None:
    found = [
        (node.module, alias.name)
        for node in ast.walk(ast.parse(SPECIFICATION.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith(("engine", "app"))
        for alias in node.names
    ]
    assert found
    missing = [f"{module}.{name}" for module, name in found if not hasattr(import_module(module), name)]
    assert not missing
