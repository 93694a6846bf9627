"""Custos, the engine: what can leave the building about people, what it risks, what that risk costs.

The public face; importing it loads no heavy library:

- `Plan`, `Schema`, `Budget`, `Purpose`: what is decided, and what is declared about a table
- `read_table`, `run`, `verify`: with DataFrames or files, see `engine.library`
- `Ledger`: what has left about whom, and what it spent
- `list_methods`: the ways of releasing
- `EngineError`: the base of whatever is refused; `explain` says it in words
"""

# Started with -m, Python looks for modules in the working folder first. That folder may come from anybody: a
# json.py in it would be executed. Nothing is imported above that Python does not carry inside itself.
import os
import sys

if sys.argv[:1] == ["-m"]:
    _here = os.path.realpath(os.getcwd())  # noqa: PTH109 - pathlib would come from there too
    _root = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))  # noqa: PTH120
    if _here != _root:
        sys.path[:] = [_place for _place in sys.path if os.path.realpath(_place) != _here]
        os.environ["PYTHONSAFEPATH"] = "1"  # for processes that this one starts

from importlib import import_module
from typing import TYPE_CHECKING, Any

from engine.version import __version__ as __version__

if TYPE_CHECKING:
    from engine.errors import EngineError
    from engine.ledger import Ledger
    from engine.library import list_methods, read_table, run, verify
    from engine.methods.protocol import Budget
    from engine.release.plan import Plan, Purpose
    from engine.table.schema import Schema
    from engine.texts import explain

# Arrow's own pools keep what many small pieces leave behind; the system's gives it back to the machine.
os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")

__all__ = [
    "Budget",
    "EngineError",
    "Ledger",
    "Plan",
    "Purpose",
    "Schema",
    "explain",
    "list_methods",
    "read_table",
    "run",
    "verify",
]

_HOME = {
    "Budget": "methods.protocol",
    "EngineError": "errors",
    "Ledger": "ledger",
    "Plan": "release.plan",
    "Purpose": "release.plan",
    "Schema": "table.schema",
    "explain": "texts",
    "list_methods": "library",
    "read_table": "library",
    "run": "library",
    "verify": "library",
}


def __getattr__(name: str) -> Any:
    """Load a public name on first use, so that a window can open before pandas is imported."""
    if name in _HOME:
        return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
