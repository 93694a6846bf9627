"""Options: what a method asks, declared as typed attributes, and what was chosen, read by the same names.

A method declares ``class Options(option.Options)`` inside itself. Every attribute is one parameter: its name
is the parameter's, its annotation what the method gets, its value the declaration:

>>> from engine.methods import option
>>> class Asked(option.Options):
...     depth: int = option.integer(default=3, maximum=9)
...     noise: str = option.choice("laplace", "gaussian", default="laplace")
>>> [parameter.name for parameter in Asked.parameters]
['depth', 'noise']
>>> Asked({"depth": 4, "noise": "laplace"}).depth
4

Annotate what may be left empty with ``| None``; what hangs on another option is None where that does not
apply, which no annotation says. What is the same for several methods is a constant with a ``name``, or a base
class.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from fractions import Fraction
from typing import Any, ClassVar, NoReturn

from engine.methods.parameters import Parameter, ParameterKind

Names = tuple[str, ...]
Edges = tuple[Fraction | date, ...]
Records = tuple[Mapping[str, Any], ...]


class Options:
    """What was chosen for one release: checked, converted, completed; it cannot be changed.

    Parameters
    ----------
    values
        By parameter name, as `engine.methods.values.resolve` returns them. What had a problem is absent.
    """

    parameters: ClassVar[tuple[Parameter, ...]] = ()
    """The declarations: of the base classes from left to right, then its own (before, with ``own_first``)."""

    def __init_subclass__(cls, *, own_first: bool = False) -> None:
        own = {name: one for name, one in vars(cls).items() if isinstance(one, Parameter)}
        inherited = [one for base in cls.__bases__ for one in getattr(base, "parameters", ())]
        for name in own:
            delattr(cls, name)  # so that what is absent from an object is not found on its class
        theirs = {one.name: one for one in inherited}
        declared = {name: replace(one, name=name) for name, one in own.items()}
        cls.parameters = tuple((declared | theirs | declared if own_first else theirs | declared).values())

    def __init__(self, values: Mapping[str, Any]) -> None:
        vars(self).update(values)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"what was chosen is decided: {name} cannot be set")


def number(**declared: Any) -> Any:
    """Ask for an exact number, read as a Fraction; ``declared`` as in `Parameter`, here and below."""
    return _ask(ParameterKind.NUMBER, declared)


def integer(**declared: Any) -> Any:
    """Ask for a whole number."""
    return _ask(ParameterKind.INTEGER, declared)


def choice(*choices: str, **declared: Any) -> Any:
    """Ask for one of some choices."""
    return _ask(ParameterKind.CHOICE, {"choices": choices, **declared})


def boolean(**declared: Any) -> Any:
    """Ask for yes or no."""
    return _ask(ParameterKind.BOOLEAN, declared)


def text(**declared: Any) -> Any:
    """Ask for a text."""
    return _ask(ParameterKind.TEXT, declared)


def texts(**declared: Any) -> Any:
    """Ask for several texts."""
    return _ask(ParameterKind.TEXTS, declared)


def column(**declared: Any) -> Any:
    """Ask for the name of a column."""
    return _ask(ParameterKind.COLUMN, declared)


def columns(**declared: Any) -> Any:
    """Ask for the names of columns, in their order."""
    return _ask(ParameterKind.COLUMNS, declared)


def edges(**declared: Any) -> Any:
    """Ask for increasing numbers or days."""
    return _ask(ParameterKind.EDGES, declared)


def shares(**declared: Any) -> Any:
    """Ask for numbers that sum to 1."""
    return _ask(ParameterKind.SHARES, declared)


def condition(**declared: Any) -> Any:
    """Ask for a condition on one column."""
    return _ask(ParameterKind.CONDITION, declared)


def where(**declared: Any) -> Any:
    """Ask for conditions on several columns, in words."""
    return _ask(ParameterKind.WHERE, declared)


def records(*fields: Parameter, **declared: Any) -> Any:
    """Ask for a small table with the given fields."""
    return _ask(ParameterKind.RECORDS, {"fields": fields, **declared})


def _ask(kind: ParameterKind, declared: Mapping[str, Any]) -> Any:
    return Parameter(kind=kind, **{"name": "", **declared})
