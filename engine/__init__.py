"""Custos, the engine: what can leave the building about people, what it risks, what that risk costs.

The public face: `read_table`, `Schema`, `Plan`, `run`, `verify`. Importing it loads no heavy library.
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
    from engine.release.plan import Plan
    from engine.release.run import run
    from engine.release.verify import verify
    from engine.table.reading.readers import read_table
    from engine.table.schema import Schema

# Arrow's own pools keep what many small pieces leave behind; the system's gives it back to the machine.
os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")

__all__ = ["Plan", "Schema", "read_table", "run", "verify"]

_HOME = {
    "Plan": "engine.release.plan",
    "Schema": "engine.table.schema",
    "read_table": "engine.table.reading.readers",
    "run": "engine.release.run",
    "verify": "engine.release.verify",
}


def __getattr__(name: str) -> Any:
    """Load a public name on first use, so that a window can open before pandas is imported."""
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(name)
