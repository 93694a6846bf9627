"""Custos as a library: what can leave the building about people, what it risks, what that risk costs.

The names of `custos.engine`, which says what each is for. Importing it loads no heavy library.

Examples
--------
>>> import custos
>>> "run" in dir(custos), "verify" in dir(custos)
(True, True)
"""

from typing import TYPE_CHECKING, Any

from custos import engine as _engine
from custos.engine import __all__ as __all__
from custos.engine import __version__ as __version__

if TYPE_CHECKING:
    from custos.engine import *  # noqa: F403


def __getattr__(name: str) -> Any:
    """Load a public name on first use."""
    if name not in __all__:
        raise AttributeError(f"module 'custos' has no attribute {name!r}")
    return getattr(_engine, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
