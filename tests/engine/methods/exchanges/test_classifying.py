"""Classifiers from pairs: what is known of the truth, and nothing where it would gain nothing."""

from fractions import Fraction

import numpy as np
import pytest

from engine.methods.exchanges.classifying import LEAST_REPORTS, classifier, crossed_pairs
from engine.methods.exchanges.estimating import estimates
from engine.methods.exchanges.kit import Kit, Question
from engine.methods.exchanges.reading import Received
from engine.methods.exchanges.told import Results
from engine.privacy.channels import for_choice
from tests.engine.methods.exchanges.respondents import direct

TWO = Fraction(2)
PRIOR = np.array([0.7, 0.3])
# Of each question: a row each answer, a column each class
TABLES = [
    np.array([[0.8, 0.2], [0.2, 0.8]]),
    np.array([[0.5, 0.2], [0.3, 0.3], [0.2, 0.5]]),
    np.full((2, 2), 0.5),
]


def pair(place, answers):
    levels = tuple(f"a{answer}" for answer in range(answers))
    channel = for_choice(2 * answers, TWO).channel
    assert channel.layout[0] == 1  # of `direct`
    return Question(f"Question {place}", "pair", levels, channel, TWO, "Class?", ("no", "yes"))


KIT = Kit("T", "", tuple(pair(place, len(table)) for place, table in enumerate(TABLES)), 60_000, "one")


def received(people, seed=3):
    """Return reports: each person is asked one pair, and answers truly before lots are drawn."""
    rng = np.random.default_rng(seed)
    outcomes = []
    for question, table in zip(KIT.questions, TABLES, strict=True):
        of_class = rng.choice(2, size=people // 3, p=PRIOR)
        answers = np.array([rng.choice(len(table), p=table[:, one]) for one in of_class])
        outcomes.append(direct(2 * answers + of_class, question, rng)[:, None])
    return Received(people, tuple(outcomes), {}, np.arange(people))


def bayes(prior, tables):
    """Return the probability of every combination of answers, with every class."""
    return np.einsum("c,ac,bc,dc->abdc", prior, *tables)


def test_it_is_right_nearly_as_often_as_what_is_known_of_the_truth():
    made = Results(KIT, received(60_000)).classifier
    assert made.target == "Class?" and made.prior == pytest.approx(PRIOR, abs=0.03)
    truth = bayes(PRIOR, TABLES)
    guess = bayes(made.prior, [table for _, _, table in made.tables]).argmax(axis=-1)
    right = np.take_along_axis(truth, guess[..., None], axis=-1).sum()
    best = truth.max(axis=-1).sum()
    assert right > best - 0.01 > PRIOR.max()
    assert made.together == pytest.approx(best, abs=0.03) and made.majority == pytest.approx(0.7, abs=0.03)
    assert made.alone(0) == pytest.approx(0.8, abs=0.03)


def test_what_says_nothing_of_a_class_is_taken_for_saying_nothing():
    """Answers that are independent of the class: nearer to that than the cells as they were estimated."""
    moved, plain = [], []
    for seed in range(20):
        found = received(24_000, seed)
        pairs = [
            (question, estimates(question, outcomes))
            for question, outcomes in zip(KIT.questions, found.outcomes, strict=True)
        ]
        table = classifier(pairs).tables[2][2]
        moved.append(np.abs(table - 0.5).max())
        cells = np.array([one.share for one in pairs[2][1]]).reshape(2, 2)
        plain.append(np.abs(cells / cells.sum(axis=0) - 0.5).max())
    assert np.mean(moved) < 0.85 * np.mean(plain)


def test_probabilities_are_probabilities_whatever_came():
    for seed in range(5):
        outcomes = received(300, seed).outcomes
        made = classifier([(one, estimates(one, y)) for one, y in zip(KIT.questions, outcomes, strict=True)])
        assert made.prior.sum() == pytest.approx(1) and made.prior.min() > 0
        for _, _, table in made.tables:
            assert table.min() > 0 and table.sum(axis=0) == pytest.approx(1)


def test_it_is_made_only_where_it_gains():
    few, many = Results(KIT, received(LEAST_REPORTS - 2)), Results(KIT, received(LEAST_REPORTS + 1))
    assert few.is_too_small and few.classifier is None and many.classifier is not None
    assert [one.name for one in many.artefacts if hasattr(one, "frames")] == [
        "estimates",
        "classifier",
        "counts",
    ]
    assert "classifier" not in [one.name for one in few.artefacts]
    (view,) = [one for one in many.views if getattr(one.title, "id", "").endswith("classifier.title")]
    assert view.rows[0][1] == many.classifier.majority


def test_pairs_with_different_questions_make_none():
    other = Question("X", "pair", ("a", "b"), KIT.questions[0].channel, TWO, "Another?", ("no", "yes"))
    assert crossed_pairs(KIT.questions) == KIT.questions
    assert crossed_pairs((*KIT.questions, other)) == () and crossed_pairs(KIT.questions[:1]) == ()
