"""Accuracy of integer noise against its probabilities, summed one by one."""

import ast
import math
import re
from fractions import Fraction
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pytest

from engine.privacy import accuracy

ROOT = Path(__file__).parents[3]
SHARES = (0.5, 0.9, 0.95, 0.999)


def laplace_pmf(scale, reach):
    x = np.arange(-reach, reach + 1)
    q = math.exp(-1 / float(scale))
    return x, (1 - q) / (1 + q) * q ** np.abs(x)


def smallest(x, pmf, share):
    """The definition, by adding up: the smallest t with P(|X| <= t) >= share."""
    for t in range(int(x.max()) + 1):
        if pmf[np.abs(x) <= t].sum() >= share - 1e-12:
            return t
    raise AssertionError("out of reach")


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("scale", [Fraction(1, 5), Fraction(1), Fraction(7, 3), Fraction(40)])
def test_laplace_limit_is_the_smallest_that_holds(scale, share):
    x, pmf = laplace_pmf(scale, 2000)
    assert accuracy.laplace_error(scale, share=share) == smallest(x, pmf, share)


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("variance", [Fraction(1, 4), Fraction(1), Fraction(50, 3), Fraction(10_000)])
def test_gaussian_limit_is_the_smallest_that_holds(variance, share):
    x = np.arange(-3000, 3001)
    pmf = np.exp(-(x**2) / (2 * float(variance)))
    assert accuracy.gaussian_error(variance, share=share) == smallest(x, pmf / pmf.sum(), share)


@pytest.mark.parametrize("share", SHARES)
def test_wide_gaussians_agree_with_the_sum(share):
    sigma = 2500.5
    x = np.arange(0, 40_000)
    pmf = np.exp(-(x**2) / (2 * sigma**2))
    within = np.cumsum(pmf * np.where(x == 0, 1, 2)) / (2 * pmf.sum() - pmf[0])
    expected = int(np.searchsorted(within, share))
    assert accuracy.gaussian_error(Fraction(sigma) ** 2, share=share) == expected


@pytest.mark.parametrize("count", [2, 3, 7])
def test_sums_of_draws_by_convolution(count):
    scale, variance = Fraction(5), Fraction(30)
    x, laplace = laplace_pmf(scale, 300)
    gaussian = np.exp(-(x**2) / (2 * float(variance)))
    gaussian /= gaussian.sum()
    for pmf, found in (
        (laplace, accuracy.laplace_accuracy(scale, count=count)),
        (gaussian, accuracy.gaussian_accuracy(variance, count=count)),
    ):
        total = pmf
        for _ in range(count - 1):
            total = np.convolve(total, pmf)
        reach = np.arange(len(total)) - len(total) // 2
        assert found.median == smallest(reach, total, 0.5)
        assert found.limit == smallest(reach, total, 0.95)


def test_sums_of_wide_draws_scale_with_the_scale():
    narrow = accuracy.laplace_accuracy(Fraction(100), count=12)
    wide = accuracy.laplace_accuracy(Fraction(10**7), count=12)
    assert wide.limit / narrow.limit == pytest.approx(10**5, rel=2e-3)
    assert wide.median / narrow.median == pytest.approx(10**5, rel=2e-2)


def test_sums_of_many_draws_are_normal():
    found = accuracy.laplace_accuracy(Fraction(3), count=50_000)
    q = math.exp(-1 / 3)
    sigma = math.sqrt(50_000 * 2 * q / (1 - q) ** 2)
    assert found.limit / sigma == pytest.approx(1.959964, rel=3e-3)


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(9)])
def test_distribution_function(scale):
    x, pmf = laplace_pmf(scale, 500)
    limits = np.array([-20.5, -3, -0.5, 0, 0.5, 4, 30.0])
    expected = [pmf[x <= limit].sum() for limit in limits]
    assert accuracy.laplace_below(scale, limits) == pytest.approx(expected, abs=1e-12)
    assert accuracy.laplace_below(scale, np.array([-1e18, 1e18])).tolist() == [0, 1]


@pytest.mark.parametrize("scale", [Fraction(2), Fraction(500)])
def test_nodes_average_like_the_noise(scale):
    values, chances = accuracy.laplace_nodes(scale)
    assert chances.sum() == pytest.approx(1, abs=1e-8)
    x, pmf = laplace_pmf(scale, 30 * int(scale))
    for limit in (0, int(scale), 3 * int(scale)):
        exact = pmf[x <= limit].sum()
        assert chances[values <= limit].sum() == pytest.approx(exact, abs=2.6e-3)


def test_tiny_scales_make_no_error():
    assert accuracy.laplace_accuracy(Fraction(1, 10**6)) == accuracy.Accuracy(0, 0)


POINT = re.compile(r"(?<![\w.])(?:1\.96|1\.9599\d*|196\.0|0\.6745|0\.67448\d*|67\.45)(?![\d])")
RECIPIENTS = ROOT / "resources" / "recipients"


def test_the_points_of_the_normal_distribution_stand_in_one_place():
    """As 1.96, 1.959964 and exactly they stood in sixteen files: margins of the same noise differed."""
    normal = NormalDist()
    assert normal.inv_cdf(0.75) == pytest.approx(accuracy.NORMAL_MEDIAN, rel=1e-14)
    assert normal.inv_cdf(0.975) == pytest.approx(accuracy.NORMAL_WITHIN, rel=1e-14)
    found = {}
    for path in [*(ROOT / "engine").rglob("*.py"), *(ROOT / "app").rglob("*.py")]:
        if POINT.search(said := path.read_text("utf-8")):  # comments and docstrings may
            numbers = [repr(one.value) for one in ast.walk(ast.parse(said)) if isinstance(one, ast.Constant)]
            found[path.relative_to(ROOT).as_posix()] = [one for one in numbers if POINT.fullmatch(one)]
    assert [name for name, numbers in found.items() if numbers] == ["engine/privacy/accuracy.py"]


def test_programs_for_recipients_carry_the_same_point():
    """They run alone, so that each has its own."""
    own = {path.name: POINT.findall(path.read_text("utf-8")) for path in RECIPIENTS.iterdir()}
    assert {name for name, said in own.items() if said} == {
        "combine.py.txt",
        "estimate.py.txt",
        "estimate.R.txt",
    }
    assert {float(one) for said in own.values() for one in said} == {accuracy.NORMAL_WITHIN}
