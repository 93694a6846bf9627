"""Names of arrays by what they hold, for annotations; and the different values of one.

At run time the names are not looked up in numpy, so that a command that only reads declarations does not load
it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Anything = NDArray[Any]
    Bools = NDArray[np.bool_]
    Bytes = NDArray[np.uint8]
    Dates = NDArray[np.datetime64]
    Floats = NDArray[np.float64]
    HalfFloats = NDArray[np.float32]
    Integers = NDArray[np.int64]
    Objects = NDArray[np.object_]
    Whole = NDArray[np.integer]
    Words = NDArray[np.uint64]
else:
    Anything = Bools = Bytes = Dates = Floats = HalfFloats = Integers = Objects = Whole = Words = Any


_Kind = TypeVar("_Kind", bound="np.integer[Any]")


def distinct(values: NDArray[_Kind]) -> NDArray[_Kind]:
    """Return the different values of an array of whole numbers, shape (values,), in ascending order.

    Notes
    -----
    By sorting. ``numpy.unique`` looks for them by hash since 2.3, which takes about the same where few are
    different, and many times as long where most are: 1.6 s beside .09 s for 1.5 million numbers.

    Examples
    --------
    >>> import numpy as np
    >>> distinct(np.array([3, 1, 3])).tolist()
    [1, 3]
    """
    import numpy as np

    ordered = np.sort(values, axis=None)
    return ordered[np.append(True, ordered[1:] != ordered[:-1])] if ordered.size else ordered
