"""Small encoded tables for the tests of risk."""

import pandas as pd

from engine.risk.encoding import EncodedTable, encode
from engine.table.schema import Column, Kind, Role, Schema
from engine.table.table import Table


def schema_of(identifying, sensitive=(), kinds=None, **more):
    """Return a schema by names."""
    kinds = kinds or {}
    columns = [Column(name, Role.IDENTIFYING, kinds.get(name, Kind.CATEGORY), **more) for name in identifying]
    columns += [Column(name, Role.SENSITIVE, kinds.get(name, Kind.CATEGORY)) for name in sensitive]
    return Schema(tuple(columns))


def encoded(frame, identifying=None, sensitive=(), **more) -> EncodedTable:
    """Return a frame encoded; every column that is not sensitive identifies."""
    frame = pd.DataFrame(frame)
    names = [name for name in frame if name not in sensitive] if identifying is None else identifying
    return encode(Table(frame), schema_of(names, sensitive, **more))
