"""The kinds of servers that a table may lie on: how each writes what is asked of all.

A file each, with what differs between them. How each is connected to, and how a cell of each of its types is
asked for, stands in ``engine/connector``, in a file of the same name.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from engine.table.dialects.dialect import Dialect
from engine.table.dialects.oracle import Oracle
from engine.table.dialects.postgresql import Postgresql
from engine.table.dialects.spark import Spark
from engine.table.dialects.sqlserver import SqlServer
from engine.table.dialects.trino import Trino

DIALECTS: Mapping[str, Dialect] = MappingProxyType(
    {one.kind: one for one in (Postgresql(), Spark(), Trino(), SqlServer(), Oracle())}
)
"""By the kind that the file of a server names, in the order in which they are offered."""
FIRST = Postgresql.kind
