"""The ledger: what has left about whom, what it spent, and what is left. It stands alone.

Budget belongs to a *holding*, a register of people that the custodian names once. Every release is an entry:
*reserved* before the first noise, *spent* at the first noise call (before the first byte where there is no
noise), *complete* with the hashes of its bundle. A service is opened by one entry that reserves its budget;
each visit is an entry of its own that draws from it. Everything that happens is a row of a
journal in which each row carries the SHA-256 of the row before it.
"""

from engine.ledger.book import Ledger, default_path
from engine.ledger.register import is_there
from engine.ledger.values import (
    LOSSES,
    NEIGHBOURS,
    STATES,
    UNITS,
    Compose,
    Entry,
    Head,
    Holding,
    Match,
    Preview,
    Service,
    Status,
)

__all__ = [
    "LOSSES",
    "NEIGHBOURS",
    "STATES",
    "UNITS",
    "Compose",
    "Entry",
    "Head",
    "Holding",
    "Ledger",
    "Match",
    "Preview",
    "Service",
    "Status",
    "default_path",
    "is_there",
]
