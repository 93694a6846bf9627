"""Channels cell by cell, as fractions: rows, odds, shares and means; and the choice between them."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from engine.privacy.channels import (
    RANGE,
    Bit,
    Geometry,
    Option,
    Sets,
    Signs,
    Wave,
    channel_from_json,
    channel_to_json,
    for_choice,
    for_mean,
    for_number,
    level,
)
from engine.privacy.channels.choosing import bound, mean_risk, risk

ONE = Fraction(1)
CHANNELS = [
    *(Sets.at(k, 1, d, Fraction(e)) for k, d, e in ((2, 1, "1/100"), (4, 1, 2), (7, 2, 1), (8, 3, "1/2"))),
    *(Sets.at(k + c, c, d, ONE) for k, c, d in ((4, 2, 1), (5, 2, 2), (4, 3, 2))),
    Sets(3, 4, 2, 1, 1),
    Option.at(4, ONE),
    *(Signs.at(m, Fraction(e)) for m, e in ((1, 1), (2, 1), (5, "1/2"), (6, 2))),
    *(Geometry.at(k, r, t, near, ONE) for k, r, t, near in ((7, 2, 3, 1), (11, 3, 3, 1), (9, 3, 3, 0))),
    *(Wave.at(m, w, ONE) for m, w in ((2, 0), (6, 2), (9, 5))),
    Bit.at(5, ONE),
]


def table(channel):
    """Return the exact probabilities: a row each true answer, a column each outcome."""
    outcomes = list(channel.outcomes())
    return [[channel.chance(truth, outcome) for outcome in outcomes] for truth in channel.truths()]


@pytest.mark.parametrize("channel", CHANNELS, ids=str)
def test_every_row_is_a_distribution_and_no_outcome_tells_more_than_the_odds(channel):
    rows = table(channel)
    assert channel.fits and all(sum(row) == 1 and min(row) > 0 for row in rows)
    assert max(max(column) / min(column) for column in zip(*rows, strict=True)) == channel.odds
    outcomes = list(channel.outcomes())
    for truth in channel.truths():
        if channel.kind != "bit":  # which is rounded first
            assert sum(channel.marks(truth, one) for one in outcomes) == channel.marked
    assert channel.marked + channel.unmarked == len(outcomes)


@pytest.mark.parametrize("epsilon", ["1/100", "1/2", "1", "3", "10"])
def test_lots_are_as_telling_as_epsilon_allows_and_never_more(epsilon):
    wanted = Fraction(epsilon)
    with localcontext() as context:
        context.prec = 60
        most = (Decimal(wanted.numerator) / Decimal(wanted.denominator)).exp()
        for channel in (Sets.at(2, 1, 1, wanted), Sets.at(10, 1, 3, wanted), Wave.at(20, 4, wanted)):
            odds = Decimal(channel.odds.numerator) / Decimal(channel.odds.denominator)
            assert odds <= most and level(channel) <= wanted and channel.tickets <= RANGE
            assert math.log(channel.odds) > float(wanted) - 1e-4 * float(wanted)


@pytest.mark.parametrize("channel", [one for one in CHANNELS if one.kind in ("sets", "geometry")], ids=str)
def test_shares_are_told_as_the_matrix_says(channel):
    own, other = channel.shares()
    outcomes = list(channel.outcomes())
    answers = channel.universe if channel.kind == "sets" else channel.answers
    for truth in channel.truths():
        for answer in range(answers):
            names = (
                [answer in one for one in outcomes]
                if channel.kind == "sets"
                else [channel.marks((answer,), one) for one in outcomes]
            )
            found = sum(
                channel.chance(truth, one) for one, named in zip(outcomes, names, strict=True) if named
            )
            assert found == (own if answer in truth else other)


@pytest.mark.parametrize("channel", [one for one in CHANNELS if one.kind in ("wave", "bit")], ids=str)
def test_means_and_variances_of_numbers_are_those_of_the_matrix(channel):
    y0, slope = channel.line()
    for (value,), variance in zip(channel.truths(), channel.variances(), strict=True):
        chances = [(one[0], channel.chance((value,), one)) for one in channel.outcomes()]
        mean = sum(y * chance for y, chance in chances)
        assert mean == y0 + slope * value
        assert float(sum(y * y * chance for y, chance in chances) - mean**2) == pytest.approx(variance)


def test_a_wave_that_is_written_as_floats_is_the_exact_one():
    wave = Wave.at(9, 3, ONE)
    assert np.allclose(wave.matrix(), np.array(table(wave), dtype=float), atol=1e-15)


@pytest.mark.parametrize("near", [0, 1])
def test_points_are_different_and_named_as_often_as_their_outcomes_came(near):
    channel = Geometry.at(12, 3, 3, near, ONE)
    assert len({channel.vector(place) for place in range(channel.points)}) == channel.points == 13
    reported = np.array([[0], [5], [5], [12]])
    slow = [sum(channel.marks((answer,), (int(one),)) for one in reported[:, 0]) for answer in range(12)]
    assert channel.named(reported).tolist() == slow


@pytest.mark.parametrize("epsilon", ["1/4", "1/2", "1", "2", "3", "4"])
def test_choices_come_near_the_least_error_that_any_channel_has(epsilon):
    """Closed forms, no draws: at most 1.035 times the bound of Ye and Barg."""
    lengths = [*range(2, 130, 3), 188, 189, 257, 500, 1000, 1024, 2500, 3200, 5000, 7777, 10_000]
    for answers in lengths:
        chosen = for_choice(answers, Fraction(epsilon))
        assert chosen.risk == risk(chosen.channel.shares(), answers)
        assert chosen.risk <= 1.035 * bound(answers, float(Fraction(epsilon))), answers
        assert level(chosen.channel) <= Fraction(epsilon)


@pytest.mark.parametrize(("epsilon", "most"), [("1/2", "5.7"), ("3/5", "5"), ("1", "3.5"), ("2", "2.5")])
def test_forged_reports_move_a_share_little_however_long_the_list_is(epsilon, most):
    """A report that names an answer instead of one that does not: (1 − q)/(p − q), whatever the length."""
    for answers in (2, 5, 10, 100, 1000, 10_000):
        own, other = for_choice(answers, Fraction(epsilon)).channel.shares()
        assert (1 - other) / (own - other) <= Fraction(most)


def test_lists_that_a_set_answers_are_moved_by_at_most_five_points_from_one_half_on():
    """Near what no set is robust at, at nearly the least error. Sets of more answers are too long."""
    for answers in range(2, 137):
        chosen = for_choice(answers, Fraction(1, 2))
        assert chosen.reason != "geometry" and chosen.channel.shares().moved <= 5
        assert chosen.risk <= 1.035 * bound(answers, 0.5)


def test_numbers_have_the_variances_that_were_worked_out():
    """Worst variance on −1 … 1 at 100 levels; below ε 1.2 one bit is better for a mean."""
    for epsilon, wanted in ((1, 5.07), (2, 1.09), (4, 0.16)):
        risks = [mean_risk(Wave.at(100, reach, Fraction(epsilon))) for reach in range(101)]
        chosen = for_number(100, Fraction(epsilon))
        assert round(min(risks), 2) == wanted
        assert chosen.risk <= 1.0201 * min(risks)  # the narrowest that costs no more
        assert all(one > 1.0199 * min(risks) for one in risks[: chosen.channel.reach])
    assert round(for_mean(100, ONE).risk, 2) == 4.68 and for_mean(100, ONE).reason == "bit"
    assert for_mean(100, Fraction(2)).reason == "wave"


@pytest.mark.parametrize("options", [1, 2, 5, 6])
def test_signs_tell_every_option_alike_whatever_else_was_ticked(options):
    channel = Signs.at(options, ONE)
    own, other = channel.shares()
    outcomes = list(channel.outcomes())
    for truth in channel.truths():
        for option in range(options):
            found = sum(channel.chance(truth, one) for one in outcomes if one[option])
            assert found == (own if option in truth else other)
    reported = np.array(outcomes)
    assert channel.named(reported).tolist() == [2 ** (options - 1)] * options


def test_ticks_have_the_variances_that_were_worked_out():
    """n times the variance of one option at ε 1, its share 0.3 (of 30: 0.1): all at once, or one drawn."""
    found = [
        (
            min(Sets.at(k + c, c, d, ONE).shares().variance(share, population=True) for d in range(1, 8)),
            k * Option.at(k, ONE).shares().variance(share, population=True),
        )
        for k, c, share in ((8, 3, 0.3), (30, 3, 0.1), (8, 8, 0.3))
    ]
    assert [(round(a, 1), round(b, 1)) for a, b in found] == [(7.5, 9.0), (10.6, 30.3), (14.5, 9.0)]


@pytest.mark.parametrize("channel", CHANNELS, ids=str)
def test_channels_are_read_back_and_what_protects_nobody_is_refused(channel):
    tree = channel_to_json(channel)
    assert channel_from_json(tree) == channel
    for wrong in ({"hit": channel.tickets}, {"hit": 0}, {"tickets": RANGE + 1}, {"kind": "x"}, {"hit": 1.5},
                  {"more": 1}):  # fmt: skip
        with pytest.raises(ValueError, match="channel"):
            channel_from_json(tree | wrong)


def test_only_sets_in_order_are_possible():
    channel = Sets.at(8, 1, 3, ONE)
    every = np.array(list(combinations(range(8), 3)))
    assert channel.possible(every).all()
    assert not channel.possible(np.array([[1, 1, 2], [3, 2, 5], [0, 7, 6]])).any()
