"""What an object works out once: everybody who asks gets the very same value, and nobody waits for a lock."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, Self, TypeVar, overload

T = TypeVar("T")


class once(cached_property[T]):
    """A property of a frozen object that is worked out at its first use and kept.

    Abstract where what it decorates is abstract.

    Notes
    -----
    Two threads that ask at the same moment may both work it out; both get what was kept first. The property
    of the standard library holds one lock for all objects of a class while it works something out (Python
    3.11): two threads whose properties ask for each other's wait for ever.

    Examples
    --------
    >>> class Square:
    ...     side = 3
    ...
    ...     @once
    ...     def area(self) -> int:
    ...         print("worked out")
    ...         return self.side**2
    >>> square = Square()
    >>> square.area, square.area
    worked out
    (9, 9)
    """

    def __init__(self, function: Callable[[Any], T]) -> None:
        super().__init__(function)
        self.__isabstractmethod__ = getattr(function, "__isabstractmethod__", False)

    @overload
    def __get__(self, instance: None, owner: type[Any] | None = None) -> Self: ...

    @overload
    def __get__(self, instance: object, owner: type[Any] | None = None) -> T: ...

    def __get__(self, instance: object | None, owner: type[Any] | None = None) -> Self | T:
        if instance is None:
            return self
        kept, name = vars(instance), str(self.attrname)
        if getattr(type(instance), name) is not self:  # of a class above, asked by the one that adds to it
            return self.func(instance)
        if name not in kept:
            kept.setdefault(name, self.func(instance))  # one step of the interpreter: the first stays
        found: T = kept[name]
        return found
