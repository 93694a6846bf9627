"""A library that is imported when something of it is first used: for commands that only read declarations.

Importing numpy, pandas and Arrow would take .6 s beside the .3 s of ``python -m engine methods``, which uses
nothing of them.
Only the command line does this: a window imports in the background instead.
"""

from __future__ import annotations

import importlib
import sys
import types
from importlib.machinery import PathFinder
from importlib.util import find_spec
from typing import Any


class _Later(types.ModuleType):
    """Stands for a library until its first attribute is asked for; afterwards it has all of them."""

    def __getattr__(self, name: str) -> Any:
        own = self.__name__
        if sys.modules.get(own) is self:
            del sys.modules[own]
        library = importlib.import_module(own)
        for place, part in list(sys.modules.items()):  # parts that still wait are found on the library too
            if isinstance(part, _Later) and place.rpartition(".")[0] == own:
                setattr(library, place.rpartition(".")[2], part)
        self.__dict__.update(library.__dict__)
        return getattr(library, name)


def import_later(name: str) -> None:
    """Let a library be imported on first use, in this process; nothing happens if it is loaded or absent.

    Parameters
    ----------
    name
        Of a package whose contents are only used inside functions by those who import it first.
    """
    parent = sys.modules.get(name.rpartition(".")[0])
    if name in sys.modules or (parent is not None and not isinstance(parent, _Later)):
        return  # a part of a library that is there is found by it
    if isinstance(parent, _Later):  # without asking it: that would import it
        assert parent.__spec__ is not None
        spec = PathFinder.find_spec(name, parent.__spec__.submodule_search_locations)
    else:
        spec = find_spec(name)
    if spec is None:
        return
    stand_in = _Later(name)
    stand_in.__spec__ = spec  # the import system looks at it, and must not set off the import
    sys.modules[name] = stand_in
    if isinstance(parent, _Later):
        setattr(parent, name.rpartition(".")[2], stand_in)
