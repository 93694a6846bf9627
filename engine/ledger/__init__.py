"""The ledger: what has left about whom, what it spent, and what is left. It stands alone.

Budget belongs to a *holding*, a register of people that the custodian names once. Every release is an entry:
*reserved* before the first noise, *spent* at the first noise call, *complete* with the hashes of its bundle.
Everything that happens is a row of a journal in which each row carries the SHA-256 of the row before it.
"""

from engine.ledger.book import Ledger, default_path
from engine.ledger.values import (
    NEIGHBOURS,
    STATES,
    UNITS,
    Compose,
    Entry,
    Head,
    Holding,
    Match,
    Preview,
    Status,
)

__all__ = [
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
    "Status",
    "default_path",
]
