"""A model as an ONNX file: a graph of standard operators, written and looked through byte by byte.

Notes
-----
The format is that of protocol buffers, of which it needs whole numbers and strings of bytes alone. The
library for it brings sockets into the program and 30 megabytes into its folder; what it reads from these
files, and what it would have written itself, is checked by the tests.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from engine import arrays

MEDIA_TYPE = "application/onnx"
PRODUCER = "Custos"
IR_VERSION, OPERATORS, ML_OPERATORS = 8, 17, 3
"""Version of the format, of its operators and of those of the domain ``ai.onnx.ml``."""
ML = "ai.onnx.ml"
DOUBLE, INT64, STRING = 11, 7, 8
_INT, _INTS, _STRINGS = 2, 7, 8  # kinds of attributes

USED = frozenset(
    (
        *("Add", "ArgMax", "ArgMin", "Cast", "Clip", "Concat", "Div", "Equal", "Gather", "GatherElements"),
        *("Greater", "GreaterOrEqual", "IsInf", "IsNaN", "LabelEncoder", "MatMul", "Mul", "Or", "ReduceSum"),
        *("Sigmoid", "Sin", "Softmax", "Squeeze", "Sub", "Unsqueeze", "Where"),
    )
)
ATTRIBUTES = frozenset(("axis", "default_int64", "keepdims", "keys_strings", "to", "values_int64s"))

Array = arrays.Anything


# --- writing ---------------------------------------------------------------------------------------


@dataclass
class Graph:
    """Operators in the order in which they are computed; every value has a name of its own.

    Examples
    --------
    >>> graph = Graph()
    >>> age = graph.input("age", DOUBLE)
    >>> graph.output("twice", graph.add("Mul", age, graph.constant(np.array(2.0))), DOUBLE, 1)
    >>> operators(graph.written())
    ['Mul']
    """

    _names: set[str] = field(default_factory=set)
    _nodes: list[bytes] = field(default_factory=list)
    _constants: list[bytes] = field(default_factory=list)
    _inputs: list[bytes] = field(default_factory=list)
    _outputs: list[bytes] = field(default_factory=list)

    def input(self, name: str, kind: int) -> str:
        """Ask for a column of the rows: shape (rows, 1)."""
        own = self._named(name)
        self._inputs.append(_value(own, kind, ("rows", 1)))
        return own

    def constant(self, values: Array | Sequence[str]) -> str:
        """Write numbers or texts down, and return their name."""
        own = self._named("constant")
        if isinstance(values, np.ndarray):
            kind, kept = (DOUBLE, "<f8") if values.dtype.kind == "f" else (INT64, "<i8")
            dims, data = values.shape, _bytes(9, values.astype(kept).tobytes())
        else:
            kind, dims = STRING, (len(values),)
            data = b"".join(_bytes(6, text.encode()) for text in values)
        before = b"".join(_number(1, one) for one in dims) + _number(2, kind)
        name = _bytes(8, own.encode())
        self._constants.append(before + (data + name if kind == STRING else name + data))
        return own

    def add(self, operator: str, *inputs: str, **attributes: int | Sequence[int] | Sequence[str]) -> str:
        """Compute a value from others, and return its name."""
        own = self._named("value")
        parts = [_bytes(1, one.encode()) for one in inputs] + [_bytes(2, own.encode())]
        parts += [_bytes(4, operator.encode())]
        parts += [_bytes(5, _attribute(name, value)) for name, value in sorted(attributes.items())]
        parts += [_bytes(7, ML.encode())] if operator == "LabelEncoder" else []
        self._nodes.append(b"".join(parts))
        return own

    def output(self, name: str, value: str, kind: int, width: int | None = None) -> None:
        """Give a value out: shape (rows,), or (rows, width)."""
        own = self._named(name)
        parts = [_bytes(1, value.encode()), _bytes(2, own.encode()), _bytes(4, b"Identity")]
        self._nodes.append(b"".join(parts))
        self._outputs.append(_value(own, kind, ("rows",) if width is None else ("rows", width)))

    def written(self) -> bytes:
        """Return the file."""
        graph = b"".join(
            (
                *(_bytes(1, one) for one in self._nodes),
                _bytes(2, b"model"),
                *(_bytes(5, one) for one in self._constants),
                *(_bytes(11, one) for one in self._inputs),
                *(_bytes(12, one) for one in self._outputs),
            )
        )
        sets = (("", OPERATORS), (ML, ML_OPERATORS))
        needs = [_bytes(8, _bytes(1, domain.encode()) + _number(2, version)) for domain, version in sets]
        return b"".join((_number(1, IR_VERSION), _bytes(2, PRODUCER.encode()), _bytes(7, graph), *needs))

    def _named(self, wish: str) -> str:
        own, place = wish, 1
        while own in self._names:
            place += 1
            own = f"{wish}_{place}"
        self._names.add(own)
        return own


def _varint(value: int) -> bytes:
    """Return a whole number in groups of seven bits, the lowest first; negative ones have 64 bits."""
    value %= 1 << 64
    groups = bytearray()
    while value > 0x7F:
        groups.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*groups, value))


def _number(place: int, value: int) -> bytes:
    return _varint(place << 3) + _varint(value)


def _bytes(place: int, content: bytes) -> bytes:
    return _varint(place << 3 | 2) + _varint(len(content)) + content


def _attribute(name: str, value: int | Sequence[int] | Sequence[str]) -> bytes:
    if isinstance(value, int):
        kind, content = _INT, _number(3, value)
    elif value and isinstance(value[0], str):
        kind, content = _STRINGS, b"".join(_bytes(9, str(one).encode()) for one in value)
    else:
        kind, content = _INTS, b"".join(_number(8, int(one)) for one in value)
    return _bytes(1, name.encode()) + content + _number(20, kind)


def _value(name: str, kind: int, shape: Sequence[str | int]) -> bytes:
    dims = b"".join(
        _bytes(1, _number(1, one) if isinstance(one, int) else _bytes(2, one.encode())) for one in shape
    )
    tensor = _number(1, kind) + _bytes(2, dims)
    return _bytes(1, name.encode()) + _bytes(2, _bytes(1, tensor))


# --- looking through -------------------------------------------------------------------------------


def is_plain(content: bytes) -> bool:
    """Return whether a file holds nothing but what this module writes; see `operators`."""
    try:
        return bool(operators(content))
    except (ValueError, KeyError, StopIteration):
        return False


def operators(content: bytes) -> list[str]:
    """Return the operators of a file that this module wrote, in order; `Identity` before an output not.

    Raises
    ------
    ValueError
        The file holds something else: another part of the format (a training step, a document, a place of
        other files), another operator or attribute, or another writer.
    """
    found: list[str] = []
    for place, value in _parts(content, {1, 2, 7, 8}):
        if place == 2 and value != PRODUCER.encode():
            raise ValueError("another program")
        if place == 7:
            found += _operators_of_graph(value)
    return found


def _operators_of_graph(graph: bytes) -> list[str]:
    found = []
    for place, value in _parts(graph, {1, 2, 5, 11, 12}):
        if place == 1:
            found += _operator(value)
        elif place == 5:
            list(_parts(value, {1, 2, 6, 8, 9}))  # neither a document nor a place of other files
        elif place in (11, 12):
            list(_parts(value, {1, 2}))
    return found


def _operator(node: bytes) -> list[str]:
    parts = list(_parts(node, {1, 2, 4, 5, 7}))
    name = next(value.decode() for place, value in parts if place == 4)
    for place, value in parts:
        if place == 5:
            inside = dict(_parts(value, {1, 3, 8, 9, 20}))
            if inside[1].decode() not in ATTRIBUTES:
                raise ValueError("another attribute")
    if name == "Identity":
        return []
    if name not in USED:
        raise ValueError("another operator")
    return [name]


def _parts(content: bytes, allowed: set[int]) -> Iterator[tuple[int, bytes]]:
    """Yield the parts of a message with their places; whole numbers as the bytes that wrote them."""
    at = 0
    while at < len(content):
        key, at = _read(content, at)
        place, kind = key >> 3, key & 7
        if place not in allowed or kind not in (0, 2):
            raise ValueError("another part")
        length, after = _read(content, at)
        end = after if kind == 0 else after + length
        if end > len(content):
            raise ValueError("cut off")
        yield place, content[at:end] if kind == 0 else content[after:end]
        at = end


def _read(content: bytes, at: int) -> tuple[int, int]:
    value, shift = 0, 0
    while at < len(content):
        value |= (content[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if not content[at - 1] & 0x80:
            return value, at
    raise ValueError("cut off")
