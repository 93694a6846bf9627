"""The exact answer behind a release: by hand, and that it can never become one."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from engine.evaluation.without_noise import WithoutNoise, exact_tables, has_exact_answer, is_choice
from engine.methods.protocol import Release
from engine.privacy.events import Parallel, Sequential
from engine.privacy.mechanisms import DiscreteLaplace, Exponential, RandomisedResponse
from engine.privacy.noise import Noise
from engine.privacy.promise import Loss, Neighbours, Promise, Unit
from tests.engine.evaluation.conftest import ROWS


def test_counts_by_hand(made):
    tables = exact_tables(made().subject, ROWS)
    assert tables["counts"]["count"].tolist() == [3, 1, 0, 2]
    assert tables["totals"]["total"].tolist() == [4, 2, 3, 3, 6]


def test_histogram_by_hand(made):
    counts = exact_tables(made("statistics.histogram", extra_cells="left_out").subject, ROWS)["counts"]
    assert counts["count"].tolist() == [0, 2, 2, 0, 0, 1, 1, 0]  # below, 0 to <5, 5 to 14, above


def test_means_by_hand(made):
    for strategy in ("perturb", "compose"):
        means = exact_tables(made("statistics.means", strategy=strategy).subject, ROWS)["means"]
        assert means["mean"].tolist() == pytest.approx([4.0, 8.25])


def test_medians_by_hand(made):
    subject = made("statistics.quantiles").subject
    first, last = (exact_tables(subject, ROWS, last=last)["quantiles"] for last in (False, True))
    assert first["value"].tolist() == [3.0, 2.5]  # of 1, 3, 5, 7 and of 2.5, 14
    assert last["value"].tolist() == [5.0, 14.0]


def test_what_a_method_does_after_the_noise_is_done_here_too(made):
    negative = made(no_negatives=True)
    assert (exact_tables(negative.subject, ROWS)["counts"]["count"] >= 0).all()


@pytest.mark.parametrize(
    "name", ["statistics.counts", "statistics.histogram", "statistics.means", "statistics.quantiles"]
)
def test_it_is_the_same_every_time_and_has_the_columns_of_the_release(made, name):
    context = made(name)
    first, second = exact_tables(context.subject, ROWS), exact_tables(context.subject, ROWS)
    assert set(first) == {artefact.name for artefact in context.release.artefacts}
    for artefact in context.release.artefacts:
        assert first[artefact.name].equals(second[artefact.name])
        assert list(first[artefact.name]) == list(artefact.frame)


def test_the_stand_in_is_no_door():
    assert not isinstance(WithoutNoise(), Noise)
    assert not issubclass(WithoutNoise, Noise)


def test_exact_tables_are_no_release(made):
    assert not isinstance(exact_tables(made().subject, ROWS), Release)


@pytest.mark.parametrize(
    "name", ["bernoulli", "bernoulli_exp_minus", "uniform_below", "random_keys", "shuffled"]
)
def test_there_is_no_exact_answer_behind_lots_and_coins(name):
    assert hasattr(Noise, name)
    assert not hasattr(WithoutNoise(), name)


@pytest.mark.parametrize(
    ("scores", "first", "last"),
    [([5], 0, 0), ([0, 0, 0], 0, 2), ([-3, -1, -1, -2], 1, 2), ([0, -1, 0], 0, 2)],
)
def test_of_the_best_the_first_or_the_last_is_chosen(scores, first, last):
    for wanted, asked in ((first, False), (last, True)):
        assert WithoutNoise(last=asked).exponential_choice(np.array(scores), rate=Fraction(0)) == wanted


def test_no_size_gives_nothing():
    assert WithoutNoise().discrete_laplace(3, 0).tolist() == []
    assert WithoutNoise().discrete_gaussian(3, 2).tolist() == [0, 0]


def promised(event):
    return Promise("pure_dp", Loss(Fraction(1), Fraction(0), Neighbours.ADD_REMOVE, event), Unit.ROW, 1)


def test_events_without_an_exact_answer_are_recognised_wherever_they_stand():
    laplace = DiscreteLaplace(Fraction(2), Fraction(1))
    response = RandomisedResponse(Fraction(3, 4), 2)
    assert has_exact_answer(promised(Sequential((laplace, Parallel((laplace,))))))
    assert not has_exact_answer(promised(Sequential((laplace, Parallel((laplace, response))))))
    assert not has_exact_answer(Promise("none", None, Unit.ROW, 1))
    choice = Exponential(Fraction(4), Fraction(1))
    assert is_choice(promised(Sequential((laplace, choice))))
    assert not is_choice(promised(laplace))
    assert not is_choice(Promise("none", None, Unit.ROW, 1))
