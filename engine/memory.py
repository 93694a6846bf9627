"""Memory that nothing uses any more, given back to the machine."""

from __future__ import annotations


def give_back() -> None:
    """Give back what is free: without a word it stays with the program, scattered among what is in use.

    Notes
    -----
    After each stage of a run that leaves much behind; a call takes some thousandths of a second, and some
    hundredths where much is free.
    """
    import pyarrow as pa

    pa.default_memory_pool().release_unused()
