"""Means and proportions of real tables, of which only what decides the error is kept: size and total.

Adult and Diabetes 130-US hospitals (UCI, CC BY 4.0), Wine Quality (UCI, CC BY 4.0), !Kung San (N. Howell):
a heavy tail, proportions of 1, 24 and 50 of 100, groups of 181 to 48,842 rows.
"""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Query:
    """Declared bounds in steps, how many rows have a value, and the total of the values in steps."""

    low: int
    high: int
    size: int
    total: int

    @property
    def truth(self) -> float:
        return self.total / self.size

    def values(self) -> np.ndarray:
        """Return values with this size and total, as even as can be."""
        each, more = divmod(self.total, self.size)
        return np.repeat([each, each + 1], [self.size - more, more])


QUERIES = {
    "adult: age": Query(0, 100, 48842, 1887430),
    "adult: capital gain": Query(0, 100000, 48842, 52703821),
    "adult: income above 50,000": Query(0, 1, 48842, 11687),
    "adult: one race of 1 %": Query(0, 1, 48842, 470),
    "diabetes: days in hospital": Query(1, 14, 4999, 23289),
    "diabetes: days in hospital, one specialty": Query(1, 14, 181, 821),
    "diabetes: laboratory procedures": Query(0, 150, 4999, 239010),
    "diabetes: emergency visits before": Query(0, 100, 4999, 129),
    "diabetes: readmitted": Query(0, 1, 4999, 2521),
    "kung: weight": Query(0, 800, 544, 193730),
    "kung: height": Query(0, 2000, 544, 752148),
    "wine: residual sugar": Query(0, 700, 4898, 313013),
    "wine: alcohol": Query(50, 200, 4898, 514986),
    "wine: quality": Query(0, 10, 4898, 28790),
}
EPSILONS = ("1/10", "1")
