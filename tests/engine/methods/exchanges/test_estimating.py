"""Estimates: exact distributions, coverage by enumeration, projection, means and distributions."""

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.stats import binom

from engine.methods.exchanges.estimating import (
    distribution,
    estimates,
    half_width,
    margin,
    margins,
    mean_of,
    of_population,
    people_needed,
    project_shares,
    standard_error,
)
from engine.methods.exchanges.kit import Question, labels
from engine.privacy.channels import (
    Bit,
    Geometry,
    Option,
    Sets,
    Shares,
    Signs,
    Wave,
    for_choice,
    for_number,
    for_ticks,
)
from tests.engine.methods.exchanges.respondents import drawn, outcomes

ONE = Fraction(1)


def choice(k, epsilon=ONE):
    channel = for_choice(k, Fraction(epsilon)).channel
    return Question("?", "one_of", tuple(map(str, range(k))), channel, Fraction(epsilon))


def number(m, epsilon=ONE, channel=None):
    channel = channel or for_number(m, Fraction(epsilon)).channel
    levels = labels("number", Fraction(0), ONE, m)
    return Question("?", "number", levels, channel, Fraction(epsilon))


def ticks(k, most, epsilon):
    channel = for_ticks(k, most, Fraction(epsilon)).channel
    return Question("?", "several_of", tuple(map(str, range(k))), channel, Fraction(epsilon))


def spread(channel, counts):
    """Return outcomes that come exactly as often as is expected of people with these answers, times a number.

    The estimates of expected counts are the true shares: by linearity, nothing is drawn.
    """
    expected = {}
    for truth, people in counts.items():
        for outcome in channel.outcomes():
            expected[outcome] = expected.get(outcome, 0) + people * channel.chance(truth, outcome)
    common = int(np.lcm.reduce([one.denominator for one in expected.values()]))
    return np.array([outcome for outcome, n in expected.items() for _ in range(int(n * common))])


SMALL = {
    "direct": (choice(2), Sets(3, 4, 2, 1, 1), {(0,): 1, (1,): 3}, [0.25, 0.75]),
    "set": (choice(4), Sets(3, 4, 4, 1, 2), {(0,): 1, (3,): 1}, [0.5, 0, 0, 0.5]),
    "geometry": (choice(6), Geometry(3, 4, 6, 2, 3, 1), {(2,): 1, (5,): 3}, [0, 0, 0.25, 0, 0, 0.75]),
    "ticks": (
        Question("?", "several_of", tuple("abc"), Sets.at(5, 2, 1, ONE), ONE),
        Sets(3, 4, 5, 2, 1),
        {(0, 1): 1, (1, 3): 2, (3, 4): 1},
        [0.25, 0.75, 0],
    ),
    "option": (
        Question("?", "several_of", tuple("abc"), Option.at(3, ONE), ONE),
        Option(3, 4, 3),
        {(0, 1, 2): 1, (1,): 2, (): 1},
        [0.25, 0.75, 0.25],
    ),
    "signs": (
        Question("?", "several_of", tuple("abc"), Signs.at(3, ONE), ONE),
        Signs(3, 4, 3, 2),
        {(0, 1, 2): 1, (1,): 2, (): 1},
        [0.25, 0.75, 0.25],
    ),
}


@pytest.mark.parametrize("name", SMALL)
def test_shares_of_what_is_expected_are_the_true_ones(name):
    question, channel, counts, wanted = SMALL[name]
    found = estimates(replace(question, channel=channel), spread(channel, counts))
    assert [one.share for one in found] == pytest.approx(wanted)
    assert [one.shown for one in found] == pytest.approx(wanted)


@pytest.mark.parametrize("channel", [Wave(3, 4, 5, 1), Bit(3, 4, 5)], ids=str)
def test_means_of_what_is_expected_are_the_true_ones(channel):
    question = replace(number(5, channel=channel), lowest=Fraction(10), step=Fraction(2))
    found = mean_of(question, spread(channel, {(0,): 1, (4,): 1, (3,): 2}))
    assert found.value == pytest.approx(10 + 2 * 2.5)


@pytest.mark.parametrize(("k", "wanted"), [
    (2, [6405, 1799, 663, 469]), (5, [15_905, 4702, 1137, 603]), (20, [22_533, 6266, 2201, 1270]),
])  # fmt: skip
def test_so_many_people_are_needed(k, wanted):
    """Worked out for ε ½, 1, 2 and 3; whole lots tell up to one person less."""
    found = [people_needed(choice(k, Fraction(e))) for e in ("1/2", 1, 2, 3)]
    assert all(0 <= one - other <= 1 for one, other in zip(wanted, found, strict=True))
    assert people_needed(choice(k), asked=7) == 7 * found[1]
    assert half_width(choice(k), found[1], 0.5) == pytest.approx(0.05, abs=1e-4)


def coverages(shares, people, parts):
    """Return how often both intervals cover, summed exactly over the counts: answered, population."""
    p, q = float(shares.own), float(shares.other)
    values = [(Fraction(c, people) - shares.other) / shares.gap for c in range(people + 1)]
    reach = [margin(standard_error(float(one), people, shares), people, shares) for one in values]
    wide = [of_population(c, people, shares) for c in range(people + 1)]
    answered, population = [], []
    for part in parts:
        having = round(people * part)
        chances = np.convolve(
            binom.pmf(np.arange(having + 1), having, p),
            binom.pmf(np.arange(people - having + 1), people - having, q),
        )
        errors = np.abs(np.array(values, dtype=float) - having / people)
        answered.append(float(chances[errors <= np.array(reach) + 1e-12].sum()))
        chances = binom.pmf(np.arange(people + 1), people, q + (p - q) * part)
        inside = [low <= part <= high for low, high in wide]
        population.append(float(chances[inside].sum()))
    return min(answered), min(population)


@pytest.mark.parametrize("people", [20, 60, 1000])
@pytest.mark.parametrize(("k", "epsilon"), [(2, "1/2"), (2, 1), (2, 3), (4, "3/2"), (10, 1), (20, 2)])
def test_both_intervals_cover_what_they_are_about(k, epsilon, people):
    shares = choice(k, Fraction(epsilon)).channel.shares()
    answered, population = coverages(shares, people, (0, 0.1, 0.3, 0.5, 0.8, 1))
    # 20 reports reach further than 25 points, which is not printed
    assert answered >= (0.94 if people > 20 else 0.93) and population >= 0.925


@pytest.mark.parametrize(("k", "most", "epsilon"), [(8, 3, 1), (12, 12, 1), (8, 3, 2)])
def test_both_intervals_cover_the_share_of_a_tick(k, most, epsilon):
    shares = ticks(k, most, Fraction(epsilon)).channel.shares()
    answered, population = coverages(shares, 1000, (0, 0.1, 0.3, 0.5, 0.8, 1))
    assert answered >= 0.94 and population >= 0.925


def test_the_margin_of_those_who_answered_is_not_that_of_the_population():
    """At ε 3 the lots alone cover the population's share six times in ten: why there are two."""
    shares = Shares(Fraction(953, 1000), Fraction(47, 1000))
    values = (np.arange(1001) / 1000 - 0.047) / 0.906
    reach = [margin(standard_error(one, 1000, shares), 1000, shares) for one in values]
    chances = binom.pmf(np.arange(1001), 1000, 0.5)
    assert 0.55 < chances[np.abs(values - 0.5) <= reach].sum() < 0.7


SIMULATED = {
    "direct": (choice(4), Sets.at(4, 1, 1, ONE), [(0,), (0,), (1,), (3,)]),
    "set": (choice(7), Sets.at(7, 1, 2, ONE), [(0,), (0,), (0,), (5,)]),
    "geometry": (choice(11), Geometry.at(11, 3, 3, 1, ONE), [(2,), (2,), (7,), (10,)]),
    "ticks": (
        Question("?", "several_of", tuple("abcd"), Sets.at(6, 2, 2, ONE), ONE),
        Sets.at(6, 2, 2, ONE),
        [(0, 1), (1, 4), (4, 5), (0, 3)],
    ),
    "signs": (
        Question("?", "several_of", tuple("abcd"), Signs.at(4, ONE), ONE),
        Signs.at(4, ONE),
        [(0, 1, 2), (1,), (), (0, 3)],
    ),
}


@pytest.mark.parametrize("name", SIMULATED)
def test_closed_forms_are_what_simulation_finds_to_one_percent(name):
    """30,000 surveys of 40 people each, drawn by the exact channel: variances summed over the answers."""
    question, channel, truths = SIMULATED[name]
    question, rng, surveys, people = replace(question, channel=channel), np.random.default_rng(5), 30_000, 40
    outcomes_of = list(channel.outcomes())
    supports = np.array([channel.named(np.array([one])) for one in outcomes_of])[:, : len(question.answers)]
    named = np.zeros((surveys, len(question.answers)), dtype=np.int64)
    for truth in truths:
        chances = [float(channel.chance(truth, one)) for one in outcomes_of]
        named += rng.multinomial(people // len(truths), chances, size=surveys) @ supports
    shares = channel.shares()
    found = (named / people - float(shares.other)) / float(shares.gap)
    true = np.array([sum(place in one for one in truths) for place in range(len(question.answers))])
    wanted = sum(shares.variance(part, population=False) for part in true / len(truths)) / people
    assert found.var(axis=0).sum() == pytest.approx(wanted, rel=0.01)
    assert np.abs(found.mean(axis=0) - true / len(truths)).max() < 5 * np.sqrt(wanted / surveys)


@pytest.mark.parametrize("channel", [Wave.at(9, 3, ONE), Bit.at(9, ONE)], ids=str)
def test_the_closed_form_of_a_mean_is_what_simulation_finds_to_one_percent(channel):
    """30,000 surveys of 40 people each who say one of four values."""
    rng, surveys, each = np.random.default_rng(6), 30_000, 10
    said = np.array([one[0] for one in channel.outcomes()])
    sums, values = np.zeros(surveys), (0, 2, 3, 8)
    for value in values:
        chances = [float(channel.chance((value,), (one,))) for one in said]
        sums += rng.multinomial(each, chances, size=surveys) @ said
    y0, slope = (float(one) for one in channel.line())
    found = (sums / (4 * each) - y0) / slope
    wanted = channel.variances()[list(values)].mean() / slope**2 / (4 * each)
    assert found.var() == pytest.approx(wanted, rel=0.01)
    assert abs(found.mean() - np.mean(values)) < 5 * np.sqrt(wanted / surveys)


FORGEABLE = {
    "yes or no": choice(2),
    "ten answers": choice(10),
    "a hundred": choice(100),
    "a thousand": choice(1000),
    "at less than that": choice(10, Fraction(3, 5)),
    "a few ticks": ticks(4, 2, ONE),
    "ticks at more than that": ticks(8, 3, Fraction(2)),
    "many ticks": ticks(8, 3, ONE),
    "any number of ticks": ticks(12, 12, ONE),
    "ticks of thirty": ticks(30, 10, Fraction(2)),
    "a number": number(50),
    "a mean": number(50, channel=Bit.at(50, ONE)),
}


@pytest.mark.parametrize("name", FORGEABLE)
def test_one_made_up_report_in_a_hundred_moves_nothing_by_more_than_five_points(name):
    """The reports of 99 as they are expected, and one of those that say most for or against an answer."""
    question = FORGEABLE[name]
    channel, chance = question.channel, np.random.default_rng(3)
    if isinstance(channel, Wave | Bit):
        y0, slope = (float(one) for one in channel.line())
        expected = [y0 + slope * value for value in (0, channel.levels - 1)]
        moved = [abs(said - one) / slope / (channel.levels - 1)
                 for said in (0, channel.layout[1] - 1) for one in expected]  # fmt: skip
    else:
        own, other = (float(one) for one in channel.shares())
        ticked = channel.ticks if isinstance(channel, Sets) else 1
        lies = np.array([drawn(tuple(range(ticked)), channel, chance) for _ in range(200)])
        said = np.array([channel.named(lies[[place]])[0] for place in range(200)])
        moved = [abs(one - part) / (own - other) for one in set(said.tolist()) for part in (own, other)]
    assert max(moved) == pytest.approx(float(question.moved_by_forged)) and max(moved) <= 5


def test_more_ticks_than_that_are_moved_further_and_say_so():
    """None of the channels for them is as robust at such a level: the kit says by how much."""
    for k, most, epsilon in ((30, 3, ONE), (14, 14, ONE), (4, 2, ONE / 2), (8, 3, ONE / 4)):
        question = ticks(k, most, epsilon)
        sets = [Sets.at(k + most, most, d, epsilon).shares().moved for d in range(1, k)]
        others = k * Option.at(k, epsilon).shares().moved, Signs.at(k, epsilon).shares().moved
        assert min(*sets, *others) > 5 and 5 < question.moved_by_forged < 5 * k


@pytest.mark.parametrize("k", [2, 3, 5, 10])
def test_no_way_of_asking_is_more_robust_at_a_small_level(k):
    """By exact bounds: whoever makes up a part η of the reports hides a change of η/(1 − η)/gap of a share.

    gap is how far apart the reports to two answers are, at most; all subsets of answers are gone through,
    which are the extreme channels, and by symmetry the two answers stand for every two. Half of the change
    is an error that no estimate avoids: at ε ¼ above 5 points for more than two answers.
    """
    odds = math.exp(0.25)
    gaps = [(odds - 1) * math.comb(k - 2, d - 1) / (odds * math.comb(k - 1, d - 1) + math.comb(k - 1, d))
            for d in range(1, k)]  # fmt: skip
    least = 100 * 0.01 / 0.99 / max(gaps) / 2
    own, other = choice(k, Fraction(1, 4)).channel.shares()
    assert float(own - other) <= max(gaps) + 1e-9
    assert least <= float(choice(k, Fraction(1, 4)).moved_by_forged) <= 2 * least
    assert (least > 5) == (k > 2)


@pytest.mark.parametrize("epsilon", [0.25, 0.5, 1, 2])
@pytest.mark.parametrize("k", [2, 3, 4, 5])
def test_no_channel_tells_two_answers_further_apart_than_sets(k, epsilon):
    """By a linear program over every channel: its outcomes are mixtures of those that some answers mark.

    An estimate that is a mean over reports, right on average, is moved by (1 + 1/gap)/2 points at least.
    """
    odds = math.exp(epsilon)
    marks = np.array([one for one in itertools.product((0, 1), repeat=k) if 0 < sum(one) < k])
    likely = 1 + (odds - 1) * marks
    pairs = list(itertools.combinations(range(k), 2))
    apart = np.array([abs(likely[:, one] - likely[:, other]) / 2 for one, other in pairs])
    found = linprog(
        [*np.zeros(len(marks)), -1],
        A_ub=np.hstack([-apart, np.ones((len(pairs), 1))]),
        b_ub=np.zeros(len(pairs)),
        A_eq=np.hstack([likely.T, np.zeros((k, 1))]),
        b_eq=np.ones(k),
    )
    sets = [Sets.at(k, 1, size, Fraction(epsilon)).shares() for size in range(1, k)]
    assert -found.fun == pytest.approx(max(float(one.gap) for one in sets), rel=1e-6)
    assert min(float(one.moved) for one in sets) >= (1 - 1 / found.fun) / 2 - 1e-6


@pytest.mark.parametrize("epsilon", [0.25, 1, 2, 4])
@pytest.mark.parametrize("options", [1, 2, 3, 4])
def test_no_channel_for_ticks_is_moved_less_than_signs(options, epsilon):
    """By every set of outcomes: how far people with a tick and without are apart, whatever else is ticked.

    On average over the options, so that one at least is no further apart; signs reach it in all of them.
    """
    corners = np.array(list(itertools.product((-1, 1), repeat=options)))
    sets = (np.arange(2 ** len(corners))[:, None] >> np.arange(len(corners))) & 1
    apart = abs(sets @ corners).mean(axis=1) / len(corners)
    most = ((math.exp(epsilon) - 1) * apart / (1 + (math.exp(epsilon) - 1) * sets.mean(axis=1))).max()
    found = Signs.at(options, Fraction(epsilon)).shares()
    assert float(found.gap) == pytest.approx(most, rel=1e-6)
    assert float(found.moved) == pytest.approx((1 + 1 / most) / 2, rel=1e-6)


@pytest.mark.parametrize(("options", "epsilon"), [(5, 2), (13, 1), (30, 3), (40, Fraction(1, 2)), (128, 4)])
def test_as_many_signs_have_to_agree_as_tell_the_most(options, epsilon):
    every = (Signs(1, 2, options, least).lots(Fraction(epsilon)) for least in range(1, options + 1))
    assert Signs.at(options, Fraction(epsilon)).shares().gap == max(one.shares().gap for one in every)


def test_projected_shares_are_the_nearest_that_are_shares():
    rng = np.random.default_rng(3)
    for _ in range(50):
        raw = rng.normal(0.2, 0.4, size=5)
        raw += (1 - raw.sum()) / 5
        found = np.array(project_shares(raw.tolist()))
        assert found.min() >= 0 and found.sum() == pytest.approx(1)
        others = rng.dirichlet(np.ones(5), size=2000)
        assert ((others - raw) ** 2).sum(axis=1).min() >= ((found - raw) ** 2).sum() - 1e-12


def test_projection_brings_shares_nearer_to_the_truth():
    question, chance = choice(20), np.random.default_rng(8)
    truth = np.array([0.5, 0.3, 0.2, *[0.0] * 17])
    answers = chance.choice(20, size=2000, p=truth)
    found = estimates(question, np.array(outcomes(answers, question, chance)))
    raw = np.array([one.share for one in found]) - truth
    shown = np.array([one.shown for one in found]) - truth
    assert (shown**2).sum() < (raw**2).sum() / 1.5


def test_what_can_say_nothing_is_not_told():
    found = estimates(choice(2), np.zeros((10, 1), dtype=int))
    assert not any(one.says_something for one in found)
    found = estimates(choice(2), np.zeros((1000, 1), dtype=int))
    assert all(one.says_something for one in found)
    assert mean_of(number(11), np.empty((0, 1), dtype=int)) is None
    assert not mean_of(number(11), np.full((5, 1), 3)).says_something


def test_the_questions_of_a_pair_are_sums_of_its_cells():
    channel = Sets(3, 4, 6, 1, 1)
    question = Question("?", "pair", ("a", "b"), channel, 2 * ONE, "And?", ("x", "y", "z"))
    found = estimates(question, spread(channel, {(0,): 1, (4,): 3}))
    assert dict(margins(question, found)) == pytest.approx(
        {"a": 0.25, "b": 0.75, "x": 0.25, "y": 0.75, "z": 0}
    )


def test_a_pair_is_told_better_than_the_product_of_two_questions():
    """2 × 2 cells at ε 1, summed squared error by closed form: one eighth of that of two channels at ε/2."""
    pair = 4 * choice(4).channel.shares().variance(0.25, population=False)
    own, other = choice(2, Fraction(1, 2)).channel.shares()
    inverse = np.linalg.inv(np.array([[own, other], [other, own]], dtype=float))
    both = np.kron(inverse, inverse)
    channel = np.linalg.inv(both)
    product = 0.0
    for truth in range(4):
        chances = channel[:, truth]
        product += (both @ (np.diag(chances) - np.outer(chances, chances)) @ both.T).trace() / 4
    assert pair < product / 8


@pytest.mark.parametrize(("m", "most"), [(50, 0.04), (100, 0.04), (8, 0.045)])
def test_distributions_come_near(m, most):
    """Mean over 20 surveys of 1,000 people at ε 1 of the distance of the cumulated shares."""
    question, rng = number(m), np.random.default_rng(m)
    matrix, found = question.channel.matrix().cumsum(axis=1), []
    for _ in range(20):
        values = np.minimum((rng.beta(2, 5, size=1000) * m).astype(int), m - 1)
        reported = (rng.random(1000)[:, None] > matrix[values]).sum(axis=1)[:, None]
        made = distribution(question, reported)
        truth = np.bincount(values, minlength=m) / 1000
        assert made.min() >= 0 and made.sum() == pytest.approx(1)
        found.append(np.abs(np.cumsum(made) - np.cumsum(truth)).sum() / (m - 1))
    assert np.mean(found) <= most


@pytest.mark.parametrize("channel", [Wave.at(21, 7, ONE), Bit.at(21, ONE)], ids=str)
def test_means_come_with_their_errors(channel):
    """400 surveys: bias within 4 standard errors; both intervals cover 95 of 100 within 4 deviations."""
    question, rng = number(21, channel=channel), np.random.default_rng(2)
    table = np.array(
        [[float(channel.chance(truth, one)) for one in channel.outcomes()] for truth in channel.truths()]
    ).cumsum(axis=1)
    errors, answered, population = [], 0, 0
    for _ in range(400):
        values = np.minimum((rng.beta(2, 3, size=400) * 21).astype(int), 20)
        reported = (rng.random(400)[:, None] > table[values]).sum(axis=1)[:, None]
        made = mean_of(question, reported)
        errors.append(made.value - values.mean())
        answered += abs(errors[-1]) <= made.margin
        population += made.low <= TRUE_MEAN <= made.high
    assert abs(np.mean(errors)) < 4 * np.std(errors) / 20
    assert answered >= 380 - 4 * 4.4 and population >= 380 - 4 * 4.4
    assert np.std(errors) < 1.1 * made.error


TRUE_MEAN = float(
    np.minimum((np.random.default_rng(0).beta(2, 3, size=4_000_000) * 21).astype(int), 20).mean()
)


@pytest.mark.parametrize("outcome", ["all alike", "both ends", "all over"])
def test_of_those_who_answered_nothing_wider_is_said_than_of_all_whom_they_stand_for(outcome):
    question = number(61)
    ends = question.channel.layout[1] - 1
    said = {"all alike": [ends // 2], "both ends": [0, ends], "all over": list(range(ends + 1))}[outcome]
    found = mean_of(question, np.array(said * (900 // len(said))).reshape(-1, 1))
    assert 0 < found.margin <= (found.high - found.low) / 2 * (1 + 1e-12)
    assert found.error <= found.margin
