"""Reports that came, in any order and among anything: which count, and why the others do not."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache

import numpy as np

from engine import arrays
from engine.methods.exchanges.kit import ALL, PLACES, Kit
from engine.methods.exchanges.paper import strip_code

LEFT_OUT = ("malformed", "mistyped", "other_kit", "impossible", "repeated", "contradicting")
NUMBER, CHECK = 16, 4  # hexadecimal digits: of the number of a report, and of its check
CHECKED_BELOW = 65_521  # a prime: one wrong letter, or two that changed places, always show
BLOCK = 2**16  # reports at once
NO_DIGIT = 255
MOST_EXACT = 480
"""Letters up to which the sum of a check is below 2²⁴, which is exact in single precision."""

_FIRST = re.compile(r"survey-([0-9a-f]{16})-([0-9a-f]{16})((?:-[1-9][0-9]{0,2})+)")
_SECOND = re.compile(r"survey2-([0-9a-f]{16})-[0-9a-f]{16}-[0-9a-f]+-[0-9a-f]{4}")
_STRIP = re.compile(r"([0-9a-f]{4})((?:\s+[1-6])+)")

Array = arrays.Anything


@cache
def _digits() -> Array:
    """Return what each byte is worth as a hexadecimal digit; made at first use, as declarations need none."""
    digits = np.full(256, NO_DIGIT, dtype=np.uint8)
    digits[[ord(one) for one in "0123456789abcdef"]] = np.arange(16)
    return digits


@cache
def _powers() -> Array:
    return np.uint64(16) ** np.arange(NUMBER - 1, -1, -1, dtype=np.uint64)


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
    kept = tuple(one[counts[row]] for one, row in zip(outcomes, rows, strict=True))
    return Received(int(counts.sum()), kept, dict(left_out))


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
    """Read reports of fixed length as arrays of letters: a million of them in seconds."""
    begin = f"survey2-{kit.id}-"
    length = len(begin) + NUMBER + 1 + kit.length + 1 + CHECK
    right: list[str] = []
    for cell in cells:
        if type(cell) is str and len(cell) == length and cell.startswith(begin):
            right.append(cell)
            continue
        for typed in _lines([cell], heading):
            line = "".join(typed.split()).lower()  # as people type it, or a scanner
            if len(line) == length and line.startswith(begin):
                right.append(line)
            else:
                left_out[_strange(line, kit)] += 1
    blocks = []
    for start in range(0, max(1, len(right)), BLOCK):
        # A letter of another script becomes a question mark, which is none of ours
        letters = np.array(
            [one.encode("ascii", "replace") for one in right[start : start + BLOCK]], f"S{length}"
        )
        blocks.append(_block(letters.view(np.uint8).reshape(-1, length), len(begin), kit, left_out))
    numbers = np.concatenate([one[0] for one in blocks])
    said = np.concatenate([one[1] for one in blocks])
    starts = np.cumsum([0, *(len(one[0]) for one in blocks)])
    places = range(len(kit.questions))
    outcomes = [np.concatenate([one[2][place] for one in blocks]) for place in places]
    rows = [
        np.concatenate([one[3][place] + start for one, start in zip(blocks, starts[:-1], strict=True)])
        for place in places
    ]
    return numbers, said, outcomes, rows


def _block(letters: Array, at: int, kit: Kit, left_out: Counter[str]) -> Read:
    """Read some reports, the numbers of which begin at a place."""
    length = letters.shape[1]
    body, tail = at + NUMBER + 1, length - CHECK
    digits = _digits()[letters]
    formed = (letters[:, [body - 1, tail - 1]] == ord("-")).all(axis=1)
    for low, high in ((at, body - 1), (body, tail - 1), (tail, length)):
        formed &= digits[:, low:high].max(axis=1) < NO_DIGIT
    sums = letters[:, : tail - 1].astype(np.float32) @ np.arange(1, tail, dtype=np.float32)
    sums = sums.astype(np.int64) if tail < MOST_EXACT else letters[:, : tail - 1] @ np.arange(1, tail)
    wanted = digits[:, tail:].astype(np.int64) @ (16 ** np.arange(CHECK - 1, -1, -1))
    checked = sums % CHECKED_BELOW == wanted
    left_out["malformed"] += int((~formed).sum())
    left_out["mistyped"] += int((formed & ~checked).sum())
    digits = digits[formed & checked]
    said = digits[:, body : tail - 1]
    possible, outcomes, rows = _report(said, kit)
    left_out["impossible"] += int((~possible).sum())
    new = np.cumsum(possible) - 1
    kept = [possible[row] for row in rows]
    return (
        digits[possible, at : body - 1].astype(np.uint64) @ _powers(),
        said[possible],
        [one[keep] for one, keep in zip(outcomes, kept, strict=True)],
        [new[row[keep]] for row, keep in zip(rows, kept, strict=True)],
    )


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
        right = (reported.max(axis=1) < question.channel.layout[1]) & question.channel.possible(reported)
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
