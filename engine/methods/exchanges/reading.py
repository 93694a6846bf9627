"""Reports that came, in any order and among anything: which count, and why the others do not."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from engine import arrays
from engine.methods.exchanges.kit import ALL, PLACES, Kit
from engine.methods.exchanges.paper import strip_code

LEFT_OUT = ("malformed", "mistyped", "other_kit", "impossible", "repeated", "contradicting")
NUMBER, CHECK = 16, 4  # hexadecimal digits: of the number of a report, and of its check
CHECKED_BELOW = 65_521  # a prime: one wrong letter, or two that changed places, always show
BLOCK = 2**19  # letters at once: as many as stay near the processor
END = ord("\n")
_FIRST = re.compile(r"survey-([0-9a-f]{16})-([0-9a-f]{16})((?:-[1-9][0-9]{0,2})+)")
_SECOND = re.compile(r"survey2-([0-9a-f]{16})-[0-9a-f]{16}-[0-9a-f]+-[0-9a-f]{4}")
_STRIP = re.compile(r"([0-9a-f]{4})((?:\s+[1-6])+)")

Array = arrays.Anything


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
    numbers
        What tells them apart, whole numbers that were drawn with them; of strips only their places.
    """

    reports: int
    outcomes: tuple[Array, ...] = field(repr=False)
    left_out: Mapping[str, int]
    numbers: Array = field(repr=False)


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
    if _all_differ(numbers):
        return Received(len(numbers), tuple(outcomes), dict(left_out), numbers)
    # The same number with another row of digits contradicts the first
    _, first, back, came = np.unique(numbers, return_index=True, return_inverse=True, return_counts=True)
    differ = np.zeros(len(first), dtype=bool)
    again = np.flatnonzero(came[back] > 1)
    np.logical_or.at(differ, back[again], (said[again] != said[first[back[again]]]).any(axis=1))
    left_out["contradicting"] = int(came[differ].sum())
    left_out["repeated"] = int((came[~differ] - 1).sum())
    counts = np.zeros(len(numbers), dtype=bool)
    counts[first[~differ]] = True
    outcomes = [one[counts[row]] for one, row in zip(outcomes, rows, strict=True)]
    return Received(int(counts.sum()), tuple(outcomes), dict(left_out), numbers[counts])


def _all_differ(numbers: Array) -> bool:
    """Say whether no number is there twice."""
    ordered = np.sort(numbers)
    return not (ordered[1:] == ordered[:-1]).any()


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


@dataclass(frozen=True)
class _Form:
    """How a report of a kit is written: what each of its letters has to be, and where its numbers stand.

    Parameters
    ----------
    begin, length
        What every report begins with, and how many letters it has.
    base, limit, below
        For each letter of a row and its line end: what is taken from it, above what it is a letter of the
        alphabet, and below what it is then; of a letter that is always the same itself, none, and 1.
    weights
        Of each letter in the check.
    ends, masks, most
        For each number of a report on all questions: the place of its last digit; which bits of its last two
        digits are its own, then of the two before, and so on; and the largest that it can be.
    after
        Whether each number has to be larger than the one before it.
    """

    begin: str
    length: int
    base: Array
    limit: Array
    below: Array
    weights: Array
    ends: Array
    masks: Array
    most: Array
    after: Array


def _form(kit: Kit) -> _Form:
    begin = f"survey2-{kit.id}-"
    sample = f"{begin}{'0' * NUMBER}-{'0' * kit.length}-{'0' * CHECK}\n"
    base = np.frombuffer(sample.encode(), np.uint8)
    free = np.ones(len(base), dtype=bool)
    free[[*range(len(begin)), len(begin) + NUMBER, -CHECK - 2, -1]] = False
    weights = np.arange(1, len(base) + 1)
    weights[-CHECK - 2 :] = 0
    # A sum of whole numbers below 2²⁴ is exact in four bytes
    exact = weights.sum() * 127 < 2**24
    ends, digits, most, after = [], [], [], []
    at = len(begin) + NUMBER + 1
    for question in kit.questions:
        count, below = question.channel.layout
        ends += [at + (place + 1) * question.digits - 1 for place in range(count)]
        digits += [question.digits] * count
        most += [below - 1] * count
        after += [False, *[question.channel.ordered] * (count - 1)]
        at += question.length
    pairs = range((max(digits) + 1) // 2)
    masks = [[16 ** min(max(one - 2 * pair, 0), 2) - 1 for one in digits] for pair in pairs]
    return _Form(
        begin,
        len(base) - 1,
        base,
        np.where(free, ord("9"), 255).astype(np.uint8),
        np.where(free, 16, 1).astype(np.uint8),
        weights.astype(np.float32 if exact else np.float64),
        np.array(ends),
        np.array(masks, dtype=np.uint8),
        np.array(most),
        np.array(after),
    )


def _second(cells: Iterable[object], kit: Kit, left_out: Counter[str], heading: str) -> Read:
    """Read reports of fixed length as arrays of letters: a million of them in half a second."""
    form = _form(kit)
    waiting, every = list(cells), []
    # Blocks of equal length, so that each operation goes through the processor's own memory
    size = max(1, BLOCK // (form.length + 1))
    blocks = []
    for start in range(0, len(waiting), size):
        block = waiting[start : start + size]
        letters = _aligned(block, form.length)
        if letters is None:
            near = [_is_near(cell, form) for cell in block]
            odd = [cell for cell, one in zip(block, near, strict=True) if not one]
            every += _typed(odd, form, kit, left_out, heading)
            block = [cell for cell, one in zip(block, near, strict=True) if one]
            letters = _aligned(block, form.length)
            assert letters is not None  # each has that length and no line end
        digits, formed = _told(letters, form)
        if not formed.all():
            if np.count_nonzero(letters == END) != len(letters):  # within a cell, too: rows are no cells
                every += _typed(block, form, kit, left_out, heading)
                continue
            odd = [block[place] for place in np.flatnonzero(~formed)]
            every += _typed(odd, form, kit, left_out, heading)
            letters, digits = letters[formed], digits[formed]
        blocks.append(_block(letters, digits, form, kit, left_out))
    for start in range(0, max(len(every), not blocks), size):
        letters = _aligned(every[start : start + size], form.length)
        assert letters is not None  # each has that length and no line end
        digits, formed = _told(letters, form)
        left_out["malformed"] += int((~formed).sum())
        blocks.append(_block(letters[formed], digits[formed], form, kit, left_out))
    numbers, said = (np.concatenate([one[place] for one in blocks]) for place in range(2))
    if kit.asked != ALL:
        return _drawn(numbers, said, kit, left_out)
    stops = np.cumsum([0, *(one.channel.layout[0] for one in kit.questions)])
    outcomes = [said[:, start:stop] for start, stop in pairwise(stops)]
    return numbers, said, outcomes, [np.arange(len(numbers))] * len(outcomes)


def _is_near(cell: object, form: _Form) -> bool:
    """Say whether a cell could be a report as a page wrote it: one line of its length and beginning."""
    if not isinstance(cell, str) or len(cell) != form.length:
        return False
    return cell.startswith(form.begin) and "\n" not in cell


def _aligned(cells: list[Any], length: int) -> Array | None:
    """Return the letters of cells that all have this length, a row each with its line end; else None.

    A letter of another script becomes a question mark, which is none of ours.
    """
    try:
        joined = np.frombuffer("\n".join([*cells, ""]).encode("ascii", "replace"), np.uint8)
    except TypeError:  # a cell that is no text
        return None
    if len(joined) != len(cells) * (length + 1):
        return None
    rows = joined.reshape(len(cells), length + 1)
    return rows if (rows[:, -1] == END).all() else None


def _typed(cells: list[Any], form: _Form, kit: Kit, left_out: Counter[str], heading: str) -> list[str]:
    """Return the reports among some cells, as people type them, or a scanner; count what is none."""
    found = []
    for typed in _lines(cells, heading):
        line = "".join(typed.split()).lower()
        if _is_near(line, form):
            found.append(line)
        else:
            left_out[_strange(line, kit)] += 1
    return found


def _told(letters: Array, form: _Form) -> tuple[Array, Array]:
    """Return what each letter is worth as a hexadecimal digit, and which rows are written as reports are."""
    digits = letters - form.base
    above = letters > form.limit
    digits -= above.view(np.uint8) * np.uint8(ord("a") - ord("9") - 1)
    # What stands between the digits and the letters would be a digit again
    right = (digits < form.below) & ((digits > 9) == above)
    return digits, np.ones(len(right), dtype=bool) if right.all() else right.all(axis=1)


def _block(
    letters: Array, digits: Array, form: _Form, kit: Kit, left_out: Counter[str]
) -> tuple[Array, Array]:
    """Return the numbers of some reports, and what they say: of a drawn question all digits."""
    sums = np.einsum("ij,j->i", letters.astype(form.weights.dtype), form.weights).astype(np.int64)
    tail = form.length - CHECK
    wanted = np.zeros(len(digits), dtype=np.int64)
    for place in range(tail, form.length):
        wanted = wanted * 16 + digits[:, place]
    checked = sums % CHECKED_BELOW == wanted
    left_out["mistyped"] += int((~checked).sum())
    digits = digits if checked.all() else digits[checked]
    at = len(form.begin)
    # Two words of eight digits below 16 each: into one, in which no other number is the same
    words = np.ascontiguousarray(digits[:, at : at + NUMBER]).view("<u8")
    numbers = words[:, 0] | words[:, 1] << np.uint64(4)
    if kit.asked != ALL:
        return numbers, digits[:, at + NUMBER + 1 : tail - 1]
    said = _values(digits, form)
    right = said <= form.most.astype(said.dtype)
    right[:, 1:] &= (said[:, 1:] > said[:, :-1]) | ~form.after[1:]
    possible = np.ones(len(right), dtype=bool) if right.all() else right.all(axis=1)
    left_out["impossible"] += int((~possible).sum())
    return (numbers, said) if possible.all() else (numbers[possible], said[possible])


def _values(digits: Array, form: _Form) -> Array:
    """Return the numbers that reports on all questions write."""
    pairs = digits.copy()
    pairs.ravel()[1:] |= digits.ravel()[:-1] * np.uint8(16)  # a letter further, each with the one before it
    found = pairs.take(form.ends, axis=1)
    found &= form.masks[0]
    for pair, mask in enumerate(form.masks[1:], 1):
        before = pairs.take(form.ends - 2 * pair, axis=1) & mask
        found = found + (before.astype(np.int32) << 8 * pair)
    return found


def _drawn(numbers: Array, said: Array, kit: Kit, left_out: Counter[str]) -> Read:
    """Return what reports on one drawn question say that their page can say."""
    drawn = said[:, 0].astype(np.int64) * 16 + said[:, 1]
    possible = drawn < len(kit.questions)
    found = []
    for place, question in enumerate(kit.questions):
        row = np.flatnonzero(drawn == place)
        end = PLACES + question.length
        part = said[row, PLACES:end]
        reported = part[:, :: question.digits].astype(np.int32)
        for digit in range(1, question.digits):
            reported = reported * 16 + part[:, digit :: question.digits]
        right = (reported < question.channel.layout[1]).all(axis=1) & question.channel.possible(reported)
        right &= ~said[row, end:].any(axis=1)
        possible[row] = right
        found.append((reported[right], row[right]))
    left_out["impossible"] += int((~possible).sum())
    new = np.cumsum(possible) - 1
    outcomes, rows = zip(*found, strict=True)
    return numbers[possible], said[possible], list(outcomes), [new[row] for row in rows]
