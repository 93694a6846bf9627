"""S. Srivastava, "Utility and privacy guarantees of differential privacy" (2016), chapters 3 and 5.

The published squared errors of the four ways (noise on the mean .1027; budget split 1.5/.5 .0459, .1/1.9
.1642, 1/1 .0738) are single draws with other sensitivities. What can be tested is the order over many draws.
"""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from engine.methods.catalogue import method
from engine.table.schema import Column, Domain, Kind, Origin
from tests.engine.methods.statistics.builders import LARGE, first, released, request, table
from tests.noise_source import seeded_noise

SUMS, COUNTS = (14.4, 27.7, 31.7, 30.0, 34.3, 28.1), (3, 5, 5, 4, 4, 3)
BUCKETS = tuple(f"{low}-{low + 1}" for low in range(4, 10))
GRADE = Column(
    "grade",
    kind=Kind.NUMBER,
    domain=Domain(Fraction(4), Fraction(10), Fraction(1, 10)),
    domain_origin=Origin.DECLARED,
)
BUCKET = Column("bucket", kind=Kind.ORDINAL, domain=Domain(values=BUCKETS), domain_origin=Origin.DECLARED)
EPSILON = Fraction(2)
SPLITS = {"3:1": ["3/4", "1/4"], "1:1": ["1/2", "1/2"], "1:19": ["1/20", "19/20"]}


def grades():
    """24 grades on tenths with the printed sums and counts, each in its bucket."""
    made, names = [], []
    for low, total, count in zip(range(4, 10), SUMS, COUNTS, strict=True):
        tenths = round(total * 10)
        share, more = divmod(tenths, count)
        values = [(share + (place < more)) / 10 for place in range(count)]
        assert sum(round(value * 10) for value in values) == tenths
        assert all(low <= value <= low + 1 for value in values)
        made += values
        names += [BUCKETS[low - 4]] * count
    return table(grade=made, bucket=names)


def asked(*, by=(), shares=None, epsilon=EPSILON):
    parameters = {"statistic": "mean", "value": "grade", "by": list(by), "extra_cells": "left_out"}
    parameters |= {"strategy": "compose"} if shares is None else {"strategy": "perturb", "shares": shares}
    return request(parameters, columns=(GRADE, BUCKET), epsilon=epsilon)


def squared_errors(one, truth, runs):
    rows = grades()
    noise, design = seeded_noise(24), method("statistics.means")(one)
    means = np.array([design.numbers(rows, noise)["value"] for _ in range(runs)])
    return ((means - truth) ** 2).mean(axis=1)


def test_the_data_have_the_printed_sums_and_counts():
    frame = first(
        released("statistics.means", asked(by=["bucket"], shares=["1/2", "1/2"], epsilon=LARGE), grades())
    )
    assert frame["count"].tolist() == list(COUNTS)
    assert (frame["mean"] * frame["count"]).tolist() == pytest.approx(SUMS)


@pytest.mark.parametrize("by", [(), ("bucket",)])
def test_order_of_the_strategies_over_many_draws(by):
    """Most of the budget on the sum is best, most on the count worst of the splits, as printed."""
    truth = np.divide(SUMS, COUNTS) if by else np.array([sum(SUMS) / sum(COUNTS)])
    runs = 300
    found = {
        name: squared_errors(asked(by=by, shares=shares), truth, runs) for name, shares in SPLITS.items()
    }
    found["compose"] = squared_errors(asked(by=by), truth, runs)
    medians = {name: float(np.median(errors)) for name, errors in found.items()}
    assert medians["3:1"] < medians["1:1"] < medians["1:19"]
    assert medians["3:1"] < medians["compose"]


def test_the_forecast_tells_good_from_bad():
    """It states the least favourable true mean, at the edge, where equal shares are best."""

    def limit(one):
        forecast = method("statistics.means")(replace(one, sizes=(24,))).forecast
        return forecast.errors[0].limit

    limits = {name: limit(asked(shares=shares)) for name, shares in SPLITS.items()}
    assert limits["1:1"] < limits["3:1"] < limits["1:19"]
    assert limits["3:1"] < limit(asked())


def test_a_noisy_ratio_is_not_right_on_average():
    """The source's E[noisy ratio] = ratio fails: away from the middle, small groups are pulled inwards."""
    high = table(grade=[10.0, 10.0, 10.0], bucket=["9-10"] * 3)
    noise, one = seeded_noise(5), asked(shares=["1/2", "1/2"])
    means = [method("statistics.means")(one).numbers(high, noise)["value"][0] for _ in range(300)]
    assert np.mean(means) < 9.7


def test_differencing_two_exact_averages_reveals_a_grade_and_two_noisy_ones_do_not():
    """Five students; the averages of five and of four give the fifth grade, 7.5."""
    students = [8.0, 6.5, 9.0, 5.0, 7.5]
    five, four = (table(grade=part, bucket=["7-8"] * len(part)) for part in (students, students[:4]))

    def attack(epsilon, noise):
        one = asked(shares=["3/4", "1/4"], epsilon=epsilon)
        means = [method("statistics.means")(one).numbers(each, noise)["value"][0] for each in (five, four)]
        return 5 * means[0] - 4 * means[1]

    assert attack(LARGE, seeded_noise(1)) == pytest.approx(7.5)
    noise = seeded_noise(2)
    guesses = np.array([attack(Fraction(1), noise) for _ in range(300)])
    # No better than naming a grade blindly: a window of one grade is a sixth of the range.
    assert (np.abs(guesses - 7.5) <= 0.5).mean() < 1 / 6
