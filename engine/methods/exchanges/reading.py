"""Reports that came, in any order and among anything: which count, and why the others do not."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, reduce
from typing import Any

import numpy as np

from engine import arrays
from engine.methods.exchanges.kit import ALL, PLACES, Kit
from engine.methods.exchanges.paper import strip_code

LEFT_OUT = ("malformed", "mistyped", "other_kit", "impossible", "repeated", "contradicting")
NUMBER, CHECK = 16, 4  # hexadecimal digits: of the number of a report, and of its check
CHECKED_BELOW = 65_521  # a prime: one wrong letter, or two that changed places, always show
BLOCK = 2**13  # reports at once: as many as stay near the processor
END = ord("\n")
NO_DIGIT = 255
_FIRST = re.compile(r"survey-([0-9a-f]{16})-([0-9a-f]{16})((?:-[1-9][0-9]{0,2})+)")
_SECOND = re.compile(r"survey2-([0-9a-f]{16})-[0-9a-f]{16}-[0-9a-f]+-[0-9a-f]{4}")
_STRIP = re.compile(r"([0-9a-f]{4})((?:\s+[1-6])+)")

Array = arrays.Anything


@cache
def _digits() -> bytes:
    """Return what each byte is worth as a hexadecimal digit, `NO_DIGIT` for none."""
    return bytes("0123456789abcdef".find(chr(one)) % 256 for one in range(256))


@dataclass(frozen=True)
class Received:
    """The reports that count.

    Parameters
    ----------
    reports
        How many there are.
    outcomes
        What they say to each question: a row each report on it, with as many numbers as its channel writes.
    left_out
        How many others there were, by reason.
    """

    reports: int
    outcomes: tuple[Array, ...] = field(repr=False)
    left_out: Mapping[str, int]


def read_reports(cells: Iterable[object], kit: Kit, *, heading: str = "") -> Received:
    """Read the reports of a kit, whatever stands between them.

    Parameters
    ----------
    cells
        One report each, as the kit's page writes it; anything else is left out and counted.
    kit
        Whose reports they are.
    heading
        A cell that says this is the heading of a file that was appended, and no report.

    Notes
    -----
    A report that came twice counts once. Reports that share a number and say different things are all left
    out, since nobody can tell which one is right: the result does not depend on the order of the rows.
    """
    left_out: Counter[str] = Counter(dict.fromkeys(LEFT_OUT, 0))
    read = _strips if kit.device else _first if kit.version == 1 else _second
    numbers, said, outcomes, rows = read(cells, kit, left_out, heading)
    # The same number with another row of digits contradicts the first
    _, first, back, came = np.unique(numbers, return_index=True, return_inverse=True, return_counts=True)
    differ = np.zeros(len(first), dtype=bool)
    again = np.flatnonzero(came[back] > 1)
    np.logical_or.at(differ, back[again], (said[again] != said[first[back[again]]]).any(axis=1))
    left_out["contradicting"] = int(came[differ].sum())
    left_out["repeated"] = int((came[~differ] - 1).sum())
    counts = np.zeros(len(numbers), dtype=bool)
    counts[first[~differ]] = True
    if not counts.all():
        outcomes = [one[counts[row]] for one, row in zip(outcomes, rows, strict=True)]
    return Received(int(counts.sum()), tuple(outcomes), dict(left_out))


def check_digits(text: str) -> str:
    """Return the check of a report: its letters, weighed by their places, as the page works it out.

    Examples
    --------
    >>> check_digits("survey2") == check_digits("survye2")
    False
    """
    return f"{sum(place * ord(letter) for place, letter in enumerate(text, 1)) % CHECKED_BELOW:04x}"


Read = tuple[Array, Array, list[Array], list[Array]]
"""Numbers of reports, their digits, and for each question what is reported and by which of them."""


def _lines(cells: Iterable[object], heading: str) -> Iterator[str]:
    """Give every cell; one that swallowed lines after it, for a quote that nobody closed, line by line."""
    for cell in cells:
        for line in str(cell).splitlines() or [""]:
            text = line.strip().strip('"').strip()
            if not heading or text != heading:
                yield text


def _first(cells: Iterable[object], kit: Kit, left_out: Counter[str], heading: str) -> Read:
    """Read reports of the first version: one answer a question, counted from 1."""
    numbers, found = [], []
    for line in _lines(cells, heading):
        match = _FIRST.fullmatch(line)
        if match is None or match[1] != kit.id:
            left_out[_strange(line, kit)] += 1
            continue
        answers = [int(answer) for answer in match[3].split("-")[1:]]
        if len(answers) != len(kit.questions) or any(
            answer > len(question.levels) for answer, question in zip(answers, kit.questions, strict=True)
        ):
            left_out["impossible"] += 1
            continue
        numbers.append(int(match[2], 16))
        found.append(answers)
    said = np.array(found, dtype=np.int64).reshape(-1, len(kit.questions))
    outcomes = [said[:, [place]] - 1 for place in range(len(kit.questions))]
    return np.array(numbers, dtype=np.uint64), said, outcomes, [np.arange(len(said))] * len(outcomes)


def _strips(cells: Iterable[object], kit: Kit, left_out: Counter[str], heading: str) -> Read:
    """Read strips of paper as they are typed: the code of the form, and the number of each answer.

    A strip has no number of its own: what is typed twice counts twice.
    """
    found = []
    for line in _lines(cells, heading):
        match = _STRIP.fullmatch(line.lower())
        answers = [int(answer) for answer in match[2].split()] if match else []
        if match is None:
            left_out["malformed"] += 1
        elif match[1] != strip_code(kit):
            left_out["other_kit"] += 1
        elif len(answers) != len(kit.questions) or any(
            answer > len(question.levels) for answer, question in zip(answers, kit.questions, strict=True)
        ):
            left_out["impossible"] += 1
        else:
            found.append(answers)
    said = np.array(found, dtype=np.int64).reshape(-1, len(kit.questions))
    every = np.arange(len(said))
    return every, said, [said[:, [place]] - 1 for place in range(len(kit.questions))], [every] * said.shape[1]


def _strange(line: str, kit: Kit) -> str:
    """Return why a line that has not the form of this kit's reports is none of them."""
    for form in (_FIRST, _SECOND):
        match = form.fullmatch(line)
        if match is not None:
            return "other_kit" if match[1] != kit.id else "impossible"
    return "malformed"


def _second(cells: Iterable[object], kit: Kit, left_out: Counter[str], heading: str) -> Read:
    """Read reports of fixed length as arrays of letters: a million of them in a second or two."""
    begin = f"survey2-{kit.id}-"
    length = len(begin) + NUMBER + 1 + kit.length + 1 + CHECK
    waiting, blocks, every = list(cells), [], []
    for start in range(0, len(waiting), BLOCK):
        block = waiting[start : start + BLOCK]
        letters = _aligned(block, length)
        if letters is None:
            every += _typed(block, begin, length, kit, left_out, heading)
            continue
        ours = (letters[:, : len(begin)] == np.frombuffer(begin.encode(), np.uint8)).all(axis=1)
        if not ours.all():
            others = [block[place] for place in np.flatnonzero(~ours)]
            every += _typed(others, begin, length, kit, left_out, heading)
            letters = letters[ours]
        blocks.append(_block(letters, len(begin), kit, left_out))
    for start in range(0, max(len(every), not blocks), BLOCK):
        letters = _aligned(every[start : start + BLOCK], length)
        assert letters is not None  # each has that length
        blocks.append(_block(letters, len(begin), kit, left_out))
    numbers = np.concatenate([one[0] for one in blocks])
    said = np.concatenate([one[1] for one in blocks])
    starts = np.cumsum([0, *(len(one[0]) for one in blocks)])
    places = range(len(kit.questions))
    outcomes = [np.concatenate([one[2][place] for one in blocks]) for place in places]
    if kit.asked == ALL:
        return numbers, said, outcomes, [np.arange(len(numbers))] * len(places)
    rows = [
        np.concatenate([one[3][place] + start for one, start in zip(blocks, starts[:-1], strict=True)])
        for place in places
    ]
    return numbers, said, outcomes, rows


def _aligned(cells: list[Any], length: int) -> Array | None:
    """Return the letters of cells that all have this length, a row each; else None.

    A letter of another script becomes a question mark, which is none of ours.
    """
    try:
        joined = np.frombuffer("\n".join([*cells, ""]).encode("ascii", "replace"), np.uint8)
    except TypeError:  # a cell that is no text
        return None
    if len(joined) != len(cells) * (length + 1):
        return None
    rows = joined.reshape(len(cells), length + 1)
    # As many line ends as cells, each at its place: there is none within a cell, and none is longer
    right = (rows[:, -1] == END).all() and np.count_nonzero(joined == END) == len(cells)
    return rows[:, :-1] if right else None


def _typed(
    cells: list[Any], begin: str, length: int, kit: Kit, left_out: Counter[str], heading: str
) -> list[str]:
    """Return the reports among some cells, as people type them, or a scanner; count what is none."""
    found = []
    for typed in _lines(cells, heading):
        line = "".join(typed.split()).lower()
        if len(line) == length and line.startswith(begin):
            found.append(line)
        else:
            left_out[_strange(line, kit)] += 1
    return found


def _block(letters: Array, at: int, kit: Kit, left_out: Counter[str]) -> Read:
    """Read some reports, the numbers of which begin at a place."""
    length = letters.shape[1]
    body, tail = at + NUMBER + 1, length - CHECK
    digits = np.frombuffer(letters.tobytes().translate(_digits()), np.uint8).reshape(letters.shape)[:, at:]
    formed = _formed(letters, digits, at, (body - 1, tail - 1))
    sums = np.einsum("ij,j->i", letters[:, : tail - 1], np.arange(1, tail))
    wanted = digits[:, tail - at :].astype(np.int64) @ (16 ** np.arange(CHECK - 1, -1, -1))
    checked = sums % CHECKED_BELOW == wanted
    left_out["malformed"] += int((~formed).sum())
    left_out["mistyped"] += int((formed & ~checked).sum())
    kept = formed & checked
    digits = digits if kept.all() else digits[kept]
    said = digits[:, body - at : tail - 1 - at]
    possible, outcomes, rows = _report(said, kit)
    left_out["impossible"] += int((~possible).sum())
    numbers = digits[:, :NUMBER:2] << 4 | digits[:, 1:NUMBER:2]
    numbers = np.ascontiguousarray(numbers).view(">u8")[:, 0].astype(np.uint64)
    if possible.all():
        return numbers, said, outcomes, rows
    new = np.cumsum(possible) - 1
    keep = [possible[row] for row in rows]
    return (
        numbers[possible],
        said[possible],
        [one[right] for one, right in zip(outcomes, keep, strict=True)],
        [new[row[right]] for row, right in zip(rows, keep, strict=True)],
    )


def _formed(letters: Array, digits: Array, at: int, dashes: tuple[int, int]) -> Array:
    """Return which rows have a dash at two places, and behind their beginning digits everywhere else."""
    formed = (letters[:, list(dashes)] == ord("-")).all(axis=1)
    starts, ends = (at, *(one + 1 for one in dashes)), (*dashes, letters.shape[1])
    for start, end in zip(starts, ends, strict=True):
        part = digits[:, start - at : end - at]
        if part.max(initial=0) == NO_DIGIT:
            formed &= part.max(axis=1) < NO_DIGIT
    return np.asarray(formed)


def _report(said: Array, kit: Kit) -> tuple[Array, list[Array], list[Array]]:
    """Return which reports say what their page can say, and for each question what, and by which of them."""
    possible = np.ones(len(said), dtype=bool)
    outcomes, rows = [], []
    drawn = said[:, 0].astype(np.int64) * 16 + said[:, 1] if kit.asked != ALL else None
    start, every = 0 if drawn is None else PLACES, np.arange(len(said))
    for place, question in enumerate(kit.questions):
        row = every if drawn is None else np.flatnonzero(drawn == place)
        end = start + question.length
        part = said[row, start:end] if drawn is not None else said[:, start:end]
        reported = part[:, :: question.digits].astype(np.int32)
        for digit in range(1, question.digits):
            reported = reported * 16 + part[:, digit :: question.digits]
        largest = reduce(np.maximum, reported.T)  # column by column, which are few
        right = (largest < question.channel.layout[1]) & question.channel.possible(reported)
        if drawn is None:
            start = end
        else:
            right &= ~said[row, end:].any(axis=1)
        possible[row] &= right
        outcomes.append(reported)
        rows.append(row)
    if drawn is not None:
        possible &= drawn < len(kit.questions)
    return possible, outcomes, rows
