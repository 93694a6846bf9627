"""What somebody writes finer again who knows that every group was written no coarser than it had to be."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from engine import arrays
from engine.arrays import Whole
from engine.table.hierarchies import Hierarchy

Parts = tuple[tuple[str, frozenset[str]], tuple[str, frozenset[str]]]
_RANGE = re.compile(r"\[(.+), (.+)\]")


@dataclass(frozen=True)
class Downcoding:
    """What the attack finds in released rows.

    Parameters
    ----------
    rows, groups
        Released rows, and groups that read alike.
    open_groups
        Groups of which some cells are certain to be finer than they are written.
    finer
        Share of rows that can be written finer for certain: two of every such group.
    predicates
        Descriptions such as "of this group, and of the first half of its age", each true for somebody.
    alone
        How many of them describe exactly one person; None where the original rows are not known.
    """

    rows: int
    groups: int
    open_groups: int
    finer: float
    predicates: int
    alone: int | None


def downcoding(
    released: pd.DataFrame,
    hierarchies: Mapping[str, Hierarchy],
    values: Mapping[str, Sequence[str]],
    *,
    least: Mapping[str, int] | None = None,
    original: pd.DataFrame | None = None,
) -> Downcoding:
    """Write groups finer again.

    Parameters
    ----------
    released
        The identifying columns of the rows, as texts: values of a hierarchy, or ranges ``[31, 44]``.
    hierarchies
        By column; a column without one is written in ranges.
    values
        The values that a column can have, as far as somebody knows them.
    least
        The step of a column below which nothing was to leave, so that nothing is known of finer ones; else 0.
    original
        The same rows as they were, to count whom a description fits; private.

    Returns
    -------
    Downcoding
        Internal where ``original`` is given.

    Notes
    -----
    A. Cohen, Attacks on deidentification's defenses (2022), section 4: where each group is written with the
    lowest values that all its rows have, its rows differ on every finer step. Has a value two parts there,
    somebody is in either: two rows of the group can be written finer, and "in this group, of this part" is
    true for few people, sometimes for one (a predicate that singles out: Cohen and Nissim, 2020). Both ends
    of a range are somebody's. It holds where groups were made so, not where whole columns are coarse.

    Examples
    --------
    >>> tree = Hierarchy(tree={"a": ("ab",), "b": ("ab",), "c": ("cd",), "d": ("cd",)})
    >>> rows = pd.DataFrame({"town": ["ab", "ab", "*", "*", "*"]})
    >>> found = downcoding(rows, {"town": tree}, {"town": ["a", "b", "c", "d"]})
    >>> found.open_groups, found.finer, found.predicates
    (2, 0.8, 4)
    """
    names = list(released.columns)
    certain: dict[str, dict[str, Parts]] = {}
    for name in names:
        texts = released[name].unique().tolist()
        finest = (least or {}).get(name, 0)
        known = _parts(hierarchies[name], values[name], finest) if name in hierarchies else _ends(texts)
        certain[name] = {text: known[text] for text in texts if text in known}
    number = released.groupby(names, sort=False).ngroup().to_numpy()
    opened: set[int] = set()
    predicates = 0
    alone = 0 if original is not None else None
    for name in names:
        inside = released[name].isin(list(certain[name])).to_numpy()
        own = arrays.distinct(number[inside])
        opened |= set(own.tolist())
        predicates += 2 * len(own)
        if original is None or alone is None:
            continue
        alone += _alone(number, released[name], original[name], certain[name])
    groups = int(number.max()) + 1 if len(number) else 0
    share = 2 * len(opened) / len(released) if len(released) else 0.0
    return Downcoding(len(released), groups, len(opened), share, predicates, alone)


def _alone(number: Whole, released: pd.Series, original: pd.Series, certain: Mapping[str, Parts]) -> int:
    """Return how many parts of groups describe one row: counted by group, all texts at once."""
    reads, texts = pd.factorize(released)
    values, known = pd.factorize(original)
    row, found = np.where(values < 0, -1, reads * len(known) + values), 0
    opened = [(place, certain[text]) for place, text in enumerate(texts) if text in certain]
    for side in (0, 1):
        pairs = [(place, member) for place, parts in opened for member in parts[side][1]]
        own = known.get_indexer(pd.Index([member for _, member in pairs], dtype=known.dtype))
        described = np.array([place for place, _ in pairs], dtype=np.int64) * len(known) + own
        fits = np.isin(row, described[own >= 0])
        found += int((np.bincount(number[fits]) == 1).sum())
    return found


def _parts(hierarchy: Hierarchy, values: Sequence[str], finest: int) -> dict[str, Parts]:
    """Return the parts of every text of a hierarchy that has two, on the next finer step that splits it."""
    listed = list(dict.fromkeys(values))
    levels = [hierarchy.at(listed, step) for step in range(hierarchy.height + 1)]
    first: dict[str, int] = {}
    members: dict[str, set[frozenset[str]]] = {}
    for step, level in enumerate(levels):
        for text in dict.fromkeys(level):
            own = frozenset(value for value, read in zip(listed, level, strict=True) if read == text)
            first.setdefault(text, step)
            members.setdefault(text, set()).add(own)
    found: dict[str, Parts] = {}
    for text, spans in members.items():
        if len(spans) > 1:
            continue  # a text that means different things on different steps tells nothing for certain
        (own,) = spans
        for step in range(first[text] - 1, finest - 1, -1):
            below: dict[str, set[str]] = {}
            for value, read in zip(listed, levels[step], strict=True):
                if value in own:
                    below.setdefault(read, set()).add(value)
            if len(below) > 1:
                one, *others = ((read, frozenset(part)) for read, part in below.items())
                if len(others) == 1:
                    found[text] = (one, others[0])
                break
    return found


def _ends(texts: Sequence[str]) -> dict[str, Parts]:
    """Return both ends of every range."""
    found: dict[str, Parts] = {}
    for text in texts:
        match = _RANGE.fullmatch(text)
        if match is not None:
            low, high = match[1], match[2]
            found[text] = ((low, frozenset([low])), (high, frozenset([high])))
    return found
