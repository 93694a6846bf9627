"""How far estimated distributions lie from those of real columns: `answers_of_numbers.md` holds the tables.

    python tests/published/answers_of_numbers.py

Columns of two public tables, diabetes encounters and Adult, are what a thousand people would answer.
"""

from __future__ import annotations

import sys
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from engine.methods.exchanges import estimating  # noqa: E402
from engine.methods.exchanges.estimating import distribution  # noqa: E402
from engine.methods.exchanges.kit import NUMBER, Question  # noqa: E402
from engine.privacy.channels import Wave, for_number  # noqa: E402

PEOPLE, RUNS, LIKELIEST = 1_000, 20, 500
# What is asked for: a range as somebody would declare it who does not see the column
ENCOUNTERS = {
    "time_in_hospital": (1, 14),
    "num_lab_procedures": (1, 100),
    "num_medications": (1, 81),
    "number_inpatient": (0, 20),
    "number_diagnoses": (1, 16),
    "num_procedures": (0, 6),
}
ADULT = {"age": (17, 90), "hours_per_week": (1, 99), "education_num": (1, 16)}
COLUMNS = {**ENCOUNTERS, **ADULT}

Array = np.ndarray[Any, Any]


@cache
def column(name: str) -> Array:
    """Return what people would answer: steps above the lowest value, cut to the range."""
    file = "resources/sample/diabetes_encounters.csv" if name in ENCOUNTERS else "tests/data/adult.csv.gz"
    low, high = COLUMNS[name]
    return pd.read_csv(ROOT / file, usecols=[name])[name].to_numpy().clip(low, high) - low


def asked(name: str, epsilon: Fraction) -> Question:
    """Return the question about a column."""
    low, high = COLUMNS[name]
    levels = tuple(map(str, range(low, high + 1)))
    return Question(
        name, NUMBER, levels, for_number(len(levels), epsilon).channel, epsilon, lowest=Fraction(low)
    )


def told(truths: Array, channel: Wave, chance: np.random.Generator) -> Array:
    """Return what people report."""
    near = chance.integers(channel.tickets, size=len(truths)) < channel.hit
    within = truths + chance.integers(channel.marked, size=len(truths))
    far = chance.integers(channel.unmarked, size=len(truths))
    return np.where(near, within, np.where(far < truths, far, far + channel.marked))[:, None]


def averaged(question: Question, outcomes: Array) -> Array:
    """Return the distribution as Li et al. (2020), section 5.5: neighbours are averaged after each step."""
    channel = question.channel
    assert isinstance(channel, Wave)
    matrix = channel.matrix()
    part = np.bincount(outcomes[:, 0], minlength=channel.ends) / len(outcomes)
    shares = np.full(channel.levels, 1 / channel.levels)
    for _ in range(LIKELIEST):
        shares = shares * (matrix @ (part / (shares @ matrix)))
        padded = np.concatenate((shares[:1], shares, shares[-1:]))
        shares = (padded[:-2] + 2 * shares + padded[2:]) / 4
        shares /= shares.sum()
    return shares


def likeliest(question: Question, outcomes: Array) -> Array:
    """Return what comes of many more steps: nearly the likeliest distribution."""
    with patch.object(estimating, "steps", lambda _: LIKELIEST):
        return distribution(question, outcomes)


def distance(one: Array, other: Array) -> float:
    """Return the Wasserstein distance of two distributions on the same levels, as a part of their range."""
    return float(np.abs(np.cumsum(one - other)[:-1]).mean())


def distances(
    name: str, *, way: Any = distribution, epsilon: Fraction = Fraction(1), people: int = PEOPLE
) -> list[float]:
    """Return how far the estimated distribution lies from that of those who answered, for each draw."""
    question, found = asked(name, epsilon), []
    channel, levels = question.channel, len(question.levels)
    assert isinstance(channel, Wave)
    for seed in range(RUNS):
        chance = np.random.default_rng(seed)
        truths = chance.choice(column(name), people, replace=False)
        made = way(question, told(truths, channel, chance))
        found.append(distance(made, np.bincount(truths, minlength=levels) / people))
    return found


def main() -> None:
    """Print the rows of the tables."""
    for name in COLUMNS:
        means = [np.mean(distances(name, way=way)) for way in (distribution, likeliest, averaged)]
        print(f"| {name} | " + " | ".join(f"{100 * one:.1f}" for one in means) + " |", flush=True)
    for level in ("1/2", "1", "2", "4"):
        means = [
            np.mean([distances(name, way=way, epsilon=Fraction(level), people=people) for name in COLUMNS])
            for people in (PEOPLE, 4_500) for way in (distribution, likeliest, averaged)
        ]  # fmt: skip
        print(f"| {level} | " + " | ".join(f"{100 * one:.1f}" for one in means) + " |", flush=True)


if __name__ == "__main__":
    main()
