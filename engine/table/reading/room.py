"""How much room a file may take once it is read: said before it is taken, whatever the file is."""

from __future__ import annotations

from pathlib import Path

from engine.errors import InputRefused
from engine.memory import physical

FREE = 1 << 29
"""Bytes that every file may take once it is unpacked."""
PER_BYTE = 64
"""Bytes that it may take beyond them for each byte that it has: honest tables stay far below."""
NUMBER, TEXT = 8, 8
"""Bytes that a cell takes at least: its number, or where its text begins."""


class Room:
    """What is left for the cells of one file; taking more than that is refused.

    Parameters
    ----------
    path
        The file.

    Notes
    -----
    Packed formats name a text once and refer to it a million times, and repeat a number without writing it
    again: a file of some kilobytes may hold more than any computer. So what is read is counted while it is
    still packed, or piece by piece, and never believed because the file says so itself.
    """

    def __init__(self, path: Path) -> None:
        self.file = path.name
        self.most = FREE + PER_BYTE * path.stat().st_size
        self.taken = 0

    @property
    def left(self) -> int:
        """Bytes that are left."""
        return self.most - self.taken

    def take(self, size: int, *, in_pieces: bool = False) -> None:
        """Count bytes that are about to be taken; ``in_pieces``: never all of them at once.

        Raises
        ------
        InputRefused
            ``table.unpacks_too_large``, or ``table.too_large`` where this computer has not so much memory.
        """
        self.refuse(size, in_pieces=in_pieces)
        self.taken += size

    def refuse(self, size: int, *, in_pieces: bool = False) -> None:
        """Refuse what would take so many bytes more; raises as `take`."""
        needed = self.taken + size
        if needed > self.most:
            raise InputRefused(
                "table.unpacks_too_large",
                file=self.file,
                size=-(-needed // 10**6),
                most=self.most // 10**6,
            )
        if not in_pieces:
            refuse_more_than_memory(self.file, needed)


def refuse_more_than_memory(file: str, needed: int) -> None:
    """Refuse what cannot fit into the memory of this computer, even with nothing else in it.

    Raises
    ------
    InputRefused
        ``table.too_large``.
    """
    if needed > physical():
        raise InputRefused("table.too_large", file=file)
