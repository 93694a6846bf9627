"""JSON from anywhere, read one way only: no name twice, no NaN, not too deep, text that can be written."""

from __future__ import annotations

import json
from typing import Any


def loads(text: str | bytes) -> Any:
    """Return the values of a JSON text.

    Raises
    ------
    ValueError
        Not JSON; a name twice in one object, of which two readers could take two; NaN or infinity; nested
        deeper than anything this program writes; half of a character that no file can hold.

    Examples
    --------
    >>> loads('{"epsilon": 0.1}')
    {'epsilon': 0.1}
    >>> loads('{"epsilon": 0.1, "epsilon": 10}')
    Traceback (most recent call last):
        ...
    ValueError: a name stands twice in one object
    """
    try:
        tree = json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_once)
        json.dumps(tree, ensure_ascii=False).encode()
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    return tree


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    tree = dict(pairs)
    if len(tree) != len(pairs):
        raise ValueError("a name stands twice in one object")
    return tree


def _refuse_constant(word: str) -> None:
    raise ValueError(f"{word} is not a number")
