"""Sums, means and proportions: by hand, sensitivity by search, error by simulation, and the battery."""

import itertools
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from engine.methods.catalogue import method
from engine.methods.protocol import Budget
from engine.methods.shared.ratio import RatioNoise, ratio_and_margin, ratio_errors, whole_errors
from engine.methods.shared.sensitivity import means_sensitivity, sum_sensitivity
from engine.methods.shared.tables import marked_weak
from engine.methods.statistics.mean_forms import HALF_RANGE, finished_means
from engine.privacy.events import Sequential
from engine.table.schema import Column, Domain, Kind, Origin
from engine.table.table import Table
from engine.views import BarsView
from engine.views import is_weak as is_weak_cell
from tests.engine.battery.checks import failing
from tests.engine.battery.distributions import laplace_law
from tests.engine.battery.neighbours import added_rows, replaced_rows
from tests.engine.battery.subject import Subject
from tests.engine.methods.statistics.builders import (
    ADD_REMOVE,
    COLUMNS,
    LARGE,
    REPLACE_ONE,
    first,
    released,
    request,
    table,
)
from tests.noise_source import seeded_noise

ROWS = table(
    sex=["f", "f", "m", "x", None, "f", "m"],
    stay=[1.0, 4.5, 99.0, 2.0, 3.0, None, float("inf")],
    w=[1.0, 2.0, 5.0, 0.0, 1.0, 1.0, 1.0],
    ward=["a", "b", "b", "c", "a", None, "zz"],
)
X = Column(
    "x",
    kind=Kind.NUMBER,
    domain=Domain(Fraction(-2), Fraction(5), Fraction(1, 4)),
    domain_origin=Origin.DECLARED,
)
VALUES = np.array([0.3, 4.9, -7.0, 5.0, np.nan, np.inf, 2.0, 5.0])
STRATEGIES = ("two_sums", "perturb", "compose")


def numbers(parameters, name, *, epsilon=LARGE, rows=ROWS):
    frame = first(released("statistics.means", request(parameters, epsilon=epsilon), rows))
    return dict(zip(frame["sex"], frame[name], strict=True)) if "sex" in frame else frame[name].tolist()


# --- by hand, at a budget so large that the noise is nothing -----------------------------------------


SEPARATE = {"extra_cells": "separate"}


def test_sums_by_hand():
    found = numbers({"statistic": "sum", "value": "stay", "by": ["sex"]} | SEPARATE, "sum")
    assert found == {"f": 5.5, "m": 14.0, "(other)": 2.0, "(missing)": 3.0}
    assert numbers({"statistic": "sum", "value": "stay", "weight": "w"}, "sum") == [1 + 9 + 70 + 0 + 3]


@pytest.mark.parametrize(("low", "is_weak"), [(-2, False), (0, True)])
def test_a_sum_far_below_zero_carries_information_where_values_can_be_below_zero(low, is_weak):
    """The sum of a column of losses stood in brackets, however small its margin was."""
    values = pd.DataFrame({"group": ["a"], "sum": [-500.0], "within_95": [20.0]})
    marked = marked_weak(values, value="sum", taken=("group",), is_signed=low < 0)
    assert is_weak_cell(marked["sum"][0]) is is_weak
    column = replace(X, domain=replace(X.domain, minimum=Fraction(low)))
    asked = request({"statistic": "sum", "value": "x"}, epsilon=LARGE, columns=(column,))
    shown = released("statistics.means", asked, table(x=[low * 1.0] * 9)).views[0].rows[0]
    assert shown[0] == low * 9 and not is_weak_cell(shown[0])


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_means_by_hand(strategy):
    asked = {"statistic": "mean", "value": "stay", "by": ["sex"], "strategy": strategy} | SEPARATE
    found = numbers(asked, "mean")
    assert found == pytest.approx({"f": 2.75, "m": 14.0, "(other)": 2.0, "(missing)": 3.0}, rel=1e-9)
    found = numbers(asked | {"weight": "w"}, "mean")
    assert found == pytest.approx({"f": 10 / 3, "m": 14.0, "(other)": 7.0, "(missing)": 3.0}, rel=1e-8)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_proportions_by_hand(strategy):
    asked = {
        "statistic": "proportion",
        "answer": "ward",
        "counted": [{"value": "a"}, {"value": "c"}],
        "by": ["sex"],
        "strategy": strategy,
    } | SEPARATE
    found = numbers(asked, "proportion")
    assert found == pytest.approx({"f": 0.5, "m": 0.0, "(other)": 1.0, "(missing)": 1.0}, rel=1e-9)


def test_the_count_is_that_of_the_rows_with_a_value():
    found = numbers({"statistic": "mean", "value": "stay", "by": ["sex"]} | SEPARATE, "count")
    assert found == {"f": 2, "m": 1, "(other)": 1, "(missing)": 1}


def test_results_stay_in_the_declared_range():
    asked = {"statistic": "mean", "value": "stay", "by": ["sex"]}
    for strategy in STRATEGIES:
        for value in numbers(asked | {"strategy": strategy}, "mean", epsilon=Fraction(1, 100)).values():
            assert 0 <= value <= 14


def test_an_undeclared_step_is_a_power_of_ten():
    column = Column(
        "x", kind=Kind.NUMBER, domain=Domain(Fraction(0), Fraction(7)), domain_origin=Origin.DECLARED
    )
    asked = request({"statistic": "sum", "value": "x"}, columns=(column,))
    assert method("statistics.means")(asked).cost.loss.events.grid == Fraction(1, 100_000)


# --- the budget -------------------------------------------------------------------------------------


@pytest.mark.parametrize("shares", [["1/3", "2/3"], [0.9, 0.1], ["1/7", "6/7"]])
def test_any_split_spends_exactly_the_budget(shares):
    chosen = {"statistic": "mean", "value": "stay", "strategy": "perturb", "shares": shares}
    asked = request(chosen, epsilon=Fraction(1, 3))
    events = method("statistics.means")(asked).cost.loss.events
    assert isinstance(events, Sequential)
    losses = [part.sensitivity / part.scale for part in events.parts]
    assert losses == [Fraction(str(share)) / 3 for share in shares]


@pytest.mark.parametrize(
    ("cap", "neighbours", "factor"),
    [(None, ADD_REMOVE, 1), (None, REPLACE_ONE, 2), (3, ADD_REMOVE, 3), (3, REPLACE_ONE, 6)],
)
def test_sensitivities_of_sum_and_count(cap, neighbours, factor):
    chosen = {"statistic": "mean", "value": "stay", "strategy": "perturb"}
    asked = request(chosen, cap=cap, neighbours=neighbours)
    to_sum, to_count = method("statistics.means")(asked).form.parts
    assert to_sum.sensitivity * to_sum.grid == 7 * factor  # half of 0 … 14
    assert to_count.sensitivity == factor
    weighted = replace(asked, values=asked.values | {"weight": "w"})
    to_sum, to_count = method("statistics.means")(weighted).form.parts
    assert to_sum.sensitivity * to_sum.grid == 35 * factor
    assert to_count.sensitivity * to_count.grid == 5 * factor
    total = request({"statistic": "sum", "value": "stay", "by": ["sex"]}, cap=cap, neighbours=neighbours)
    (only,) = method("statistics.means")(total).form.parts
    assert only.sensitivity * only.grid == 14 * factor
    joint = request({"statistic": "mean", "value": "stay"}, cap=cap, neighbours=neighbours)
    (only,) = method("statistics.means")(joint).form.parts
    assert only.sensitivity * only.grid == 14 * factor  # of both sums together


@pytest.mark.parametrize(("low", "high"), [(0, 3), (-2, 1), (2, 3), (-3, -1)])
@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize("groups", [1, 2])
def test_sums_move_by_the_declared_at_most(low, high, rows, groups):
    """Every way to give one person's rows a group and a value, or no value; the bound is attained."""
    one = [(group, value) for group in range(groups) for value in (0, *range(low, high + 1))]
    reached = set()
    for mine in itertools.combinations_with_replacement(one, rows):
        reached.add(tuple(sum(value for at, value in mine if at == group) for group in range(groups)))
    exchanged = max(
        sum(abs(one - other) for one, other in zip(*pair, strict=True))
        for pair in itertools.product(reached, repeat=2)
    )
    added = max(sum(map(abs, sums)) for sums in reached)
    for replace_one, found in ((True, exchanged), (False, added)):
        assert found == sum_sensitivity(low, high, rows=rows, replace_one=replace_one, groups=groups)


# --- a number that everyone knows -----------------------------------------------------------------


def test_a_declared_number_divides_by_hand():
    """Seven rows, two without a value, which count as 7, the middle; 99 and infinity as 14."""
    chosen = {"value": "stay", "declared_number": 7}
    total = 1 + 4.5 + 14 + 2 + 3 + 7 + 7
    for statistic, wanted in (("mean", total / 7), ("sum", total)):
        asked = request(chosen | {"statistic": statistic}, neighbours=REPLACE_ONE, epsilon=LARGE)
        assert first(released("statistics.means", asked, ROWS))[statistic].tolist() == pytest.approx([wanted])
        assert "declared_number" in method("statistics.means")(asked).cost.assumptions
    counted = {"statistic": "proportion", "answer": "ward", "counted": [{"value": "a"}]}
    asked = request(counted | {"declared_number": 7}, neighbours=REPLACE_ONE, epsilon=LARGE)
    assert first(released("statistics.means", asked, ROWS))["proportion"].tolist() == pytest.approx([2.5 / 7])


def test_a_declared_number_is_never_looked_up():
    """The same noise and another declared number: the answer is divided by what was declared."""
    chosen = {"statistic": "mean", "value": "stay", "declared_number": 7}
    asked = request(chosen, neighbours=REPLACE_ONE, epsilon=LARGE)
    twice = replace(asked, values=asked.values | {"declared_number": 14})
    one, two = (first(released("statistics.means", each, ROWS))["mean"][0] - 7 for each in (asked, twice))
    assert two == pytest.approx(one / 2)


def test_a_declared_number_moves_by_the_range_over_the_number():
    asked = request(
        {"statistic": "mean", "value": "x", "declared_number": 8}, columns=(X,), neighbours=REPLACE_ONE
    )
    one = method("statistics.means")
    form, quantity, cells = one(asked).form, one(asked).quantity, one(asked).cells
    (part,) = form.parts
    subject = Subject(
        release=lambda data, noise: np.zeros(1),
        epsilon=None,
        pair=(VALUES, np.append(VALUES[:-1], -2.0)),
        query=lambda data: quantity.centred(*quantity.sums(pd.DataFrame({"x": data}), cells)).astype(
            np.int64
        ),
        sensitivity=part.sensitivity,
        neighbours=replaced_rows(),
    )
    assert failing(subject, only=("sensitivity",)) == {}
    halved = replace(subject, sensitivity=part.sensitivity // 2)
    assert "sensitivity" in failing(halved, only=("sensitivity",))


@pytest.mark.parametrize(
    ("changes", "neighbours", "code"),
    [
        ({}, ADD_REMOVE, "number_is_protected"),
        ({"by": ["sex"]}, REPLACE_ONE, "number_of_everyone"),
        ({"weight": "w"}, REPLACE_ONE, "number_of_everyone"),
        ({"strategy": "compose"}, REPLACE_ONE, "number_of_everyone"),
        ({}, REPLACE_ONE, None),
    ],
)
def test_when_a_number_may_be_declared(changes, neighbours, code):
    chosen = {"statistic": "mean", "value": "stay", "declared_number": 100} | changes
    problems = method("statistics.means")(request(chosen, neighbours=neighbours)).problems
    assert [problem.code for problem in problems] == ([] if code is None else [f"statistics.means.{code}"])


# --- the sensitivity of finished means, by search ----------------------------------------------------


def means_of(group):
    """The finished mean of one group of (value, weight) rows, values 0 … 2."""
    sums = np.array([sum(value * weight for value, weight in group)])
    counts = np.array([sum(weight for _, weight in group)])
    return int(finished_means(sums, counts, low=0, reach=2)[0])


def largest_move(before, after, weights):
    """The largest move of one mean when a person's rows there change from ``before`` to ``after`` many."""
    rows = list(itertools.product((0, 2), weights))
    worst = 0
    for size in range(3):
        for others in itertools.combinations_with_replacement(rows, size):
            for old in itertools.combinations_with_replacement(rows, before):
                for new in itertools.combinations_with_replacement(rows, after):
                    worst = max(worst, abs(means_of((*others, *old)) - means_of((*others, *new))))
    return worst


def searched(groups, rows, replace_one, weights=(1,)):
    """Give a person's rows to the groups in every way; the groups move independently."""
    move = {
        (old, new): largest_move(old, new, weights)
        for old in range(rows + 1)
        for new in range(rows + 1)
        if replace_one or old == 0
    }
    worst = {(0, 0): 0}
    for _ in range(groups):
        step: dict[tuple[int, int], int] = {}
        for (old, new), so_far in worst.items():
            for (more_old, more_new), distance in move.items():
                key = (old + more_old, new + more_new)
                if max(key) <= rows:
                    step[key] = max(step.get(key, 0), so_far + distance)
        worst = step
    return max(worst.values())


@pytest.mark.parametrize("replace_one", [False, True])
@pytest.mark.parametrize(("groups", "rows"), [(1, 1), (2, 1), (1, 2), (2, 2), (3, 2), (1, 3), (2, 3)])
def test_finished_means_move_by_the_declared_at_most(groups, rows, replace_one):
    declared = means_sensitivity(half_range=HALF_RANGE, groups=groups, rows=rows, replace_one=replace_one)
    found = searched(groups, rows, replace_one)
    assert found <= declared
    assert declared - found <= groups  # attained, but for rounding where rows > groups > 1


@pytest.mark.parametrize("replace_one", [False, True])
def test_weighted_means_move_by_the_declared_at_most(replace_one):
    for groups, rows in ((1, 1), (2, 1), (1, 2)):
        declared = means_sensitivity(
            half_range=HALF_RANGE, groups=groups, rows=rows, replace_one=replace_one, weighted=True
        )
        found = searched(groups, rows, replace_one, weights=(1, 500))
        assert found <= declared
        assert found > 0.98 * declared / (1 if groups == 1 or not replace_one else 1.34)


def test_the_bound_comes_from_the_declared_range():
    """Grades from 4 to 10: a finished mean moves by 3 when one is added, by 6 when one is exchanged."""
    grade = Column("grade", kind=Kind.NUMBER, domain=Domain(Fraction(4), Fraction(10), Fraction(1, 10)))
    grade = replace(grade, domain_origin=Origin.DECLARED)
    asked = {"statistic": "mean", "value": "grade", "strategy": "compose"}
    for neighbours, most in ((ADD_REMOVE, 3), (REPLACE_ONE, 6)):
        (part,) = method("statistics.means")(
            request(asked, neighbours=neighbours, columns=(grade,))
        ).form.parts
        assert part.sensitivity * part.grid == most


# --- accuracy ---------------------------------------------------------------------------------------

NOISES = {  # by name: the noise, and the declared range in steps
    "two counts": (RatioNoise(Fraction(3)), 1),
    "two sums": (RatioNoise(Fraction(60)), 28),
    "two sums, fine": (RatioNoise(Fraction(10_000)), 10_000),
    "sum and count": (RatioNoise(Fraction(60), Fraction(5, 2), 28), 28),
    "sum and wide count": (RatioNoise(Fraction(840), Fraction(50), 28), 28),
}
RUNS = 40_000


def released_ratios(noise, reach, *, size, place, seed):
    """Draw the noise of many releases: true ratio, released ratios, released margins."""
    draws = seeded_noise(seed)
    above = round(place * size * reach)
    below = size * reach - above
    one = draws.discrete_laplace(noise.main, RUNS)
    two = draws.discrete_laplace(noise.count or noise.main, RUNS)
    if noise.count is None:
        noisy = above + one, below + two
    else:
        centred, total = above - below + one, reach * np.maximum(size + two, 1)
        noisy = (total + centred) / 2, (total - centred) / 2
    ratio, margin = ratio_and_margin(*(part.astype(float) for part in noisy), noise)
    return above / (size * reach), ratio, margin


@pytest.mark.parametrize("size", [4, 30, 1000])
@pytest.mark.parametrize("name", NOISES)
def test_the_margin_of_a_released_ratio_holds_wherever_the_mean_lies(name, size):
    """In at least 95 of 100 releases at every true mean, at the worst not above 96; false alarms 1e-6."""
    noise, reach = NOISES[name]
    found = []
    for step, place in enumerate((0.0, 0.004, 0.01, 0.03, 0.05, 0.1, 0.2, 0.35, 0.5, 0.8, 0.97)):
        truth, ratio, margin = released_ratios(noise, reach, size=size, place=place, seed=step)
        found.append((np.abs(ratio - truth) <= margin + 1e-9).sum())
    assert min(found) >= binom.ppf(1e-8, RUNS, 0.95)
    if size * reach > 50 * float(noise.main):  # groups that say anything
        assert min(found) <= binom.ppf(1 - 1e-8, RUNS, 0.96)


@pytest.mark.parametrize("size", [30, 1000])
@pytest.mark.parametrize("name", NOISES)
def test_the_forecast_of_a_ratio_is_met_at_the_worst_true_mean(name, size):
    """95 of 100 errors stay within the limit everywhere, and hardly more do just inside the range's end."""
    noise, reach = NOISES[name]
    (forecast,) = ratio_errors(noise, (size * reach,))
    total = size * reach
    few = name == "two counts"  # noise of a few whole steps cannot hit a share
    for which, share, more in (
        ("median", 0.5, 0.06 if few else 0.01),
        ("limit", 0.95, 0.015 if few else 0.01),
    ):
        stated = getattr(forecast, which)
        just_inside = min((np.floor(stated * total + 1e-6) + 1) / total, 0.5)
        held = []
        for seed, place in enumerate([just_inside, 0.0, 0.002, 0.02, 0.1, 0.25, 0.5]):
            truth, ratio, _ = released_ratios(noise, reach, size=size, place=place, seed=seed)
            held.append((np.abs(ratio - truth) <= stated * (1 + 1e-9)).sum())
        assert min(held) >= binom.ppf(1e-8, RUNS, share)
        if stated < 0.5:  # otherwise more than half the range is given up
            assert min(held) <= binom.ppf(1 - 1e-8, RUNS, share + more)


def test_a_forecast_needs_the_place_just_inside_the_end():
    """At the end itself only one side can be missed, so that the limit there is too small just inside."""
    noise, total = RatioNoise(Fraction(1000)), 100_000
    (forecast,) = ratio_errors(noise, (total,))
    at_the_end = np.log(10) * 1000 / total  # P(X > t) = ½ e^(−t/b) = 5 of 100
    assert forecast.limit == pytest.approx(np.log(20) * 1000 / total, rel=0.05)  # P(|X| > t) = e^(−t/b)
    assert forecast.limit > 1.25 * at_the_end


@pytest.mark.parametrize(("scale", "reach"), [(3, 100), (40, 100), (200, 100)])
def test_the_forecast_of_a_mean_noised_as_a_whole(scale, reach):
    error, draws = whole_errors(Fraction(scale), reach=reach), seeded_noise(3)
    noise = draws.discrete_laplace(Fraction(scale), RUNS)
    for stated, share, more in ((error.median, 0.5, 0.07), (error.limit, 0.95, 0.01)):
        held = [
            (np.abs(np.clip(truth + noise, 0, reach) - truth) <= stated * reach + 1e-9).sum()
            for truth in range(reach // 2 + 1)
        ]
        assert min(held) >= binom.ppf(1e-8, RUNS, share)
        assert stated in (0.5, 1.0) or min(held) <= binom.ppf(1 - 1e-8, RUNS, share + more)


@pytest.mark.parametrize("statistic", ["mean", "proportion"])
def test_the_count_of_two_sums_stays_within_its_limit(statistic):
    asked = {"statistic": "mean", "value": "stay"}
    if statistic == "proportion":
        asked = {"statistic": "proportion", "answer": "ward", "counted": [{"value": "a"}]}
    form = method("statistics.means")(request(asked)).form
    sums, counts = np.full(RUNS, 70), np.full(RUNS, 100)
    found = form.numbers(sums, counts, seeded_noise(9))
    off = np.abs(found["count"] - 100)
    limit = found["count_within_95"]
    assert (off <= limit).sum() >= binom.ppf(1e-6, RUNS, 0.95)
    assert (off <= limit - 1).sum() <= binom.ppf(1 - 1e-6, RUNS, 0.95)
    assert (off <= form.count_error[0]).sum() >= binom.ppf(1e-6, RUNS, 0.5)


def test_large_groups_are_more_exact_unless_the_finished_mean_is_noised():
    asked = request({"statistic": "mean", "value": "stay"})
    limits = [error.limit for error in method("statistics.means")(asked).forecast.errors if error.size]
    assert limits == sorted(limits, reverse=True)
    assert limits[-1] < 0.05
    composed = replace(asked, values=asked.values | {"strategy": "compose"})
    errors = method("statistics.means")(composed).forecast.errors
    assert len({error.limit for error in errors}) == 1
    assert errors[-1].limit > 14 / 2  # of the order of the range for a thousand people


# --- battery ----------------------------------------------------------------------------------------


def means_release(asked, name):
    design = method("statistics.means")(asked)  # what it decides, it decides before rows

    def release(data, noise):
        return design.numbers(Table(pd.DataFrame({"x": data})), noise)[name]

    return release


@pytest.mark.parametrize(
    ("neighbours", "pair", "strategy"),
    [
        (ADD_REMOVE, (VALUES, VALUES[:-1]), added_rows()),
        (REPLACE_ONE, (VALUES, np.append(VALUES[:-1], -2.0)), replaced_rows()),
    ],
)
@pytest.mark.guarantee
def test_battery_sum(neighbours, pair, strategy):
    asked = request({"statistic": "sum", "value": "x"}, columns=(X,), neighbours=neighbours)
    one = method("statistics.means")
    mechanism, quantity, cells = one(asked).form.parts[0], one(asked).quantity, one(asked).cells

    def answer(data):
        return quantity.sums(pd.DataFrame({"x": data}), cells)[0]

    def often(data, noise, runs):
        return mechanism.release(np.repeat(answer(data), runs), noise) * float(mechanism.grid)

    found = failing(
        Subject(
            release=means_release(asked, "value"),
            epsilon=Fraction(1),
            pair=pair,
            query=answer,
            sensitivity=mechanism.sensitivity,
            step=mechanism.grid,
            neighbours=strategy,
            law=laplace_law(mechanism.scale),
            release_often=often,
            rows_removed=None if neighbours is REPLACE_ONE else lambda data, rows: np.delete(data, rows),
        )
    )
    assert found == {}


@pytest.mark.parametrize("how", STRATEGIES)
@pytest.mark.guarantee
def test_battery_mean(how):
    asked = request({"statistic": "mean", "value": "x", "strategy": how}, columns=(X,), epsilon=Fraction(2))
    found = failing(
        Subject(
            release=means_release(asked, "value"),
            epsilon=Fraction(2),
            pair=(np.array([5.0, -2.0]), np.array([-2.0])),
            neighbours=added_rows(),
            audit_runs=1_200,
        )
    )
    assert found == {}


def test_sensitivity_of_the_parts_of_a_mean():
    """What is noised, before noise, on neighbours with hard values."""
    one = method("statistics.means")
    asked = {"statistic": "mean", "value": "x"}
    joint = one(request(asked, columns=(X,))).form
    split = one(request(asked | {"strategy": "perturb"}, columns=(X,))).form
    quantity, cells = joint.quantity, one(request(asked, columns=(X,))).cells

    def sums(data):
        return quantity.sums(pd.DataFrame({"x": data}), cells)

    def both(data):
        total, count = sums(data)
        return np.concatenate([total - quantity.low * count, quantity.high * count - total])

    queries = (both, lambda data: quantity.centred(*sums(data)).astype(np.int64), lambda data: sums(data)[1])
    for query, part in zip(queries, (*joint.parts, *split.parts), strict=True):
        subject = Subject(
            release=lambda data, noise: np.zeros(1),
            epsilon=None,
            pair=(VALUES, VALUES[:-1]),
            query=query,
            sensitivity=part.sensitivity,
            neighbours=added_rows(),
        )
        assert failing(subject, only=("sensitivity",)) == {}
        halved = replace(subject, sensitivity=part.sensitivity // 2)
        assert "sensitivity" in failing(halved, only=("sensitivity",))


def test_money_for_nothing_is_not_on_offer():
    asked = request({"statistic": "mean", "value": "stay"})
    assert [
        p.code for p in method("statistics.means")(replace(asked, budget=Budget(Fraction(0)))).problems
    ] == ["budget.not_positive"]


def test_the_unit_of_a_column_stands_at_its_axis_and_its_margins():
    columns = tuple(replace(one, unit="days") if one.name == "stay" else one for one in COLUMNS)
    for asked, unit in (
        ({"statistic": "mean", "value": "stay"}, "days"),
        ({"statistic": "sum", "value": "age"}, ""),
    ):
        given = request(asked | {"by": ["sex"]}, epsilon=LARGE, columns=columns)
        assert method("statistics.means")(given).forecast.errors[0].unit == unit
        shown = released(
            "statistics.means", given, ROWS.with_rows(ROWS.rows().assign(age=[1, 2, 3, 0, 1, 2, 3]))
        )
        axis = next(one.axis for one in shown.views if isinstance(one, BarsView))
        assert axis.values.get("unit", "") == unit
        units = {one.name: one.unit for one in shown.artefacts[0].dictionary}
        assert units["within_95"] == units[asked["statistic"]] == unit
        assert unit == "" or units["count"] == units["count_within_95"] != ""
