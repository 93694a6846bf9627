"""How answers are changed and shares estimated: by enumeration, by exact distributions, with odd reports."""

import itertools
import math
import re
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom

from engine.methods.exchanges.responses import (
    RANGE,
    Kit,
    Question,
    question_at,
    question_with,
    received,
    share,
)
from tests.engine.methods.exchanges.respondents import below, reported, reports

SETTINGS = [(2, "1/100"), (2, "1/2"), (2, "1"), (3, "1"), (4, "3/2"), (10, "1"), (20, "3"), (2, "10")]
YES = Question("?", ("yes", "no"), 3, 1, Fraction(11, 10))
THREE = Question("?", ("a", "b", "c"), 4, 2, Fraction(7, 10))


def question(k, epsilon):
    return question_at("?", tuple(str(level) for level in range(k)), Fraction(epsilon))


def probabilities(one):
    """Return the probability of every reported answer, by true answer."""
    k = range(len(one.levels))
    return [[Fraction(one.true if x == y else one.other, one.tickets) for y in k] for x in k]


@pytest.mark.parametrize(("k", "epsilon"), SETTINGS)
def test_the_loss_is_reached_and_never_above_the_declared_level(k, epsilon):
    one = question(k, epsilon)
    table = probabilities(one)
    assert all(sum(row) == 1 for row in table) and one.tickets <= RANGE
    ratio = max(
        row[y] / other[y] for row, other in itertools.permutations(table, 2) for y in range(len(table))
    )
    with localcontext() as context:
        context.prec = 60
        bound = (Decimal(Fraction(epsilon).numerator) / Decimal(Fraction(epsilon).denominator)).exp()
        assert Decimal(ratio.numerator) / Decimal(ratio.denominator) <= bound
    assert math.log(ratio) > float(Fraction(epsilon)) - 1e-6  # as little is changed as ε allows
    assert one.event.epsilon() <= Fraction(epsilon) == one.epsilon


def test_levels_add_up_over_the_questions_of_one_person():
    outputs = list(itertools.product(range(2), range(3)))
    tables = probabilities(YES), probabilities(THREE)
    joint = [[tables[0][a][y] * tables[1][b][z] for y, z in outputs] for a, b in outputs]
    worst = max(
        row[place] / other[place]
        for row, other in itertools.permutations(joint, 2)
        for place in range(len(outputs))
    )
    assert worst == Fraction(3) * 2  # both at once: e to the power of the sum


def test_every_ticket_is_one_and_all_come_alike():
    """The steps of the page, ticket by ticket: exactly the declared numbers lead to each answer."""
    for one in (YES, THREE, Question("?", tuple("abcd"), 5, 2, Fraction(1))):
        k = len(one.levels)
        for answer in range(k):
            said = [0] * k
            for ticket in range(one.tickets):
                other = (ticket - one.true) // one.other
                said[answer if ticket < one.true else other if other < answer else other + 1] += 1
            assert said == [one.true if level == answer else one.other for level in range(k)]


def test_rejection_leaves_every_number_as_likely():
    """Chi-square over 6 numbers from 60,000 words, 5 degrees of freedom: above 30.9 once in 100,000."""
    found = np.bincount(below(6, 60_000, np.random.default_rng(3)), minlength=6)
    assert ((found - 10_000) ** 2 / 10_000).sum() < 30.9
    assert RANGE // 6 * 6 % 6 == 0 and RANGE % 6 == 4  # without rejection four numbers came more often


@pytest.mark.parametrize("wanted", ["3/4", "0.9", "1/2"])
def test_a_declared_probability_is_kept_exactly(wanted):
    one = question_with("?", ("a", "b", "c"), Fraction(wanted))
    assert one.truth == Fraction(wanted) and one.epsilon >= one.event.epsilon()
    assert one.epsilon == pytest.approx(math.log(one.true / one.other), abs=1e-11)


@pytest.mark.parametrize("wanted", ["1/2", "1/3", "1", "0", "500000000000001/900000000000000"])
def test_a_probability_that_protects_nobody_or_tells_nothing_is_refused(wanted):
    assert question_with("?", ("yes", "no"), Fraction(wanted)) is None


@pytest.mark.parametrize(("k", "epsilon"), [(2, "1"), (4, "3/2"), (10, "1")])
def test_estimates_are_unbiased(k, epsilon):
    """Mean of 400 surveys of 300 people within 3 standard errors for every answer: 27 of 10,000 outside."""
    one, surveys, people = question(k, epsilon), 400, 300
    answers = np.arange(people) * k // people
    truth = np.bincount(answers, minlength=k) / people
    chance = np.random.default_rng(k)
    found = reported(np.tile(answers, surveys), one, chance).reshape(surveys, people)
    shares = np.array(
        [[float(share(one, int((row == level).sum()), people)) for level in range(k)] for row in found]
    )
    errors = [one.standard_error(Fraction(part), people) for part in truth]
    assert np.all(np.abs(shares.mean(axis=0) - truth) < 3 * np.array(errors) / surveys**0.5)
    assert shares.std(axis=0) == pytest.approx(errors, rel=0.15)
    assert shares.sum(axis=1) == pytest.approx(1)


def coverages(one, people, shares):
    """Return how often the margin covers each true share: both binomial counts, summed exactly."""
    p, q = float(one.truth), one.other / one.tickets
    estimates = [share(one, given, people) for given in range(people + 1)]
    margins = [one.margin(one.standard_error(estimate, people), people) for estimate in estimates]
    found = []
    for part in shares:
        having = round(people * part)
        chances = np.convolve(
            binom.pmf(np.arange(having + 1), having, p),
            binom.pmf(np.arange(people - having + 1), people - having, q),
        )
        errors = np.abs(np.array(estimates, dtype=float) - having / people)
        found.append(float(chances[errors <= np.array(margins)].sum()))
    return found


@pytest.mark.parametrize(("k", "epsilon"), [(2, "1/2"), (2, "1"), (3, "1"), (4, "3/2"), (10, "1")])
def test_margins_cover_95_of_100(k, epsilon):
    found = coverages(question(k, epsilon), 2000, (0, 0.02, 0.1, 0.3, 0.5, 1))
    assert min(found) >= 0.945 and max(found) <= 0.96


def test_margins_of_small_surveys_stay_near():
    settings = ((2, "1"), (10, "1"), (5, "3"))
    found = [one for k, e in settings for one in coverages(question(k, e), 50, (0, 0.1, 0.3, 0.5))]
    assert min(found) > 0.93  # without the half report 0.90


KIT = Kit("Title", "", (YES, THREE), 100)
ONE = f"survey-{KIT.id}-{'a' * 16}"
TWO = f"survey-{KIT.id}-{'b' * 16}"
LEFT_OUT = {
    "empty": ("", "malformed"),
    "missing": (None, "malformed"),
    "not a number": (float("nan"), "malformed"),
    "words": ("I do not want to", "malformed"),
    "a formula": ("=1+1", "malformed"),
    "too long": (ONE + "-1" * 5000, "impossible"),
    "an answer too many": (ONE + "-1-1-1", "impossible"),
    "an answer too few": (ONE + "-1", "impossible"),
    "no such answer": (ONE + "-3-1", "impossible"),
    "answer zero": (ONE + "-0-1", "malformed"),
    "a huge answer": (ONE + "-99999999999999999999-1", "malformed"),
    "another survey": (f"survey-{'0' * 16}-{'a' * 16}-1-1", "other_kit"),
    "digits of another script": (ONE + "-١-١", "malformed"),
}


@pytest.mark.parametrize("name", LEFT_OUT)
def test_what_is_no_report_is_left_out_and_counted(name):
    cell, reason = LEFT_OUT[name]
    found = received([TWO + "-1-2", cell], KIT)
    assert found.reports == 1 and found.given == ((1, 0), (0, 1, 0))
    assert {name for name, count in found.left_out.items() if count} == {reason}


def test_reports_count_once_in_any_order():
    rows = [
        ONE + "-1-1",
        ONE + "-1-1",
        TWO + "-1-1",
        TWO + "-2-1",
        "report",
        f"  survey-{KIT.id}-{'c' * 16}-2-3 ",
    ]
    results = {str(received(order, KIT, heading="report")) for order in itertools.permutations(rows)}
    assert len(results) == 1
    found = received(rows, KIT, heading="report")
    assert (found.reports, found.given) == (2, ((1, 1), (1, 0, 1)))
    assert found.left_out == {
        "malformed": 0, "other_kit": 0, "impossible": 0, "repeated": 1, "contradicting": 2,
    }  # fmt: skip


def test_a_kit_is_read_back_and_every_change_names_another():
    assert Kit.loads(KIT.dumps()) == KIT
    others = [
        Kit("Titel", "", (YES, THREE), 100),
        Kit("Title", "x", (YES, THREE), 100),
        Kit("Title", "", (THREE, YES), 100),
        Kit("Title", "", (YES, Question("?", ("a", "b", "c"), 5, 2, Fraction(1))), 100),
    ]
    assert len({KIT.id, *(other.id for other in others)}) == 5
    assert Kit("Title", "", (YES, THREE), 7).id == KIT.id  # what is expected changes no report
    assert reports(KIT, (np.array([0]), np.array([1])), 1)[0].startswith(f"survey-{KIT.id}-")


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"null", KIT.dumps().replace(b'"true": 3', b'"true": 30'),
     KIT.dumps().replace(b'"true": 3', b'"true": 1'), KIT.dumps().replace(b'"title"', b'"name"'),
     re.sub(rb'"epsilon": "[^"]*"', b'"epsilon": "1e20000"', KIT.dumps())],
)  # fmt: skip
def test_what_is_no_kit_is_none(content):
    assert Kit.loads(content) is None
