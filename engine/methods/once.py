"""What a design works out once: the first who asks waits, everybody after gets the very same object."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, TypeVar

T = TypeVar("T")


class once(cached_property[T]):
    """A property of a frozen object that is worked out at its first use and kept.

    Abstract where what it decorates is abstract.

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
