"""Names of arrays by what they hold, for annotations.

At run time they are not looked up in numpy, so that a command that only reads declarations does not load it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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
