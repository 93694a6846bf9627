"""Models of short lines: slopes by differences, figures by hand, and the order that was published."""

from __future__ import annotations

import numpy as np
import pytest

from engine.analyses.catalogue import analysis, ask
from engine.risk.recurrent import FORMS, SYNTACTIC, Net
from engine.risk.short_texts import (
    TOLD,
    Grammar,
    Lines,
    Private,
    Trigrams,
    exposures,
    inputs,
    kept,
    log_likelihoods,
    make_lines,
    perplexity,
)

GRAMMAR = Grammar.shipped()


def lines(*texts: str, topics: tuple[int, ...] | None = None) -> Lines:
    words = np.full((len(texts), 16), -1, dtype=np.int64)
    for row, text in enumerate(texts):
        found = [GRAMMAR.words.index(word) for word in text.split()]
        words[row, : len(found)] = found
    return Lines(words, np.array(topics or (0,) * len(texts)))


def test_the_grammar_makes_lines_of_its_topics_and_says_the_kind_of_every_word() -> None:
    made = GRAMMAR.invent(50, np.random.default_rng(1))
    assert made.words.shape == (200, 16) and 3 <= made.lengths.min() <= made.lengths.max() <= 10
    assert GRAMMAR.topics == ("heart", "bones", "lungs", "skin")
    assert len(GRAMMAR.kinds) == GRAMMAR.symbols == len(GRAMMAR.words) + 5
    kind = dict(zip(GRAMMAR.words, GRAMMAR.kinds, strict=False))
    assert kind["knee"] == kind["chest"] != kind["asthma"] == kind["eczema"] != kind["in"]


@pytest.mark.parametrize("form", FORMS)
def test_the_slopes_of_a_net_are_those_of_its_loss(form: str) -> None:
    chance = np.random.default_rng(2)
    some = GRAMMAR.invent(2, chance)
    net = Net.teach(GRAMMAR, some, form, epochs=1, chance=chance)
    _, slopes = net.loss(some)
    assert set(slopes) == set(net.weights) and ("kinds" in slopes) == (form == SYNTACTIC)
    for name, weights in net.weights.items():
        for _ in range(3):
            at = tuple(chance.integers(size) for size in weights.shape)
            kept_weight, losses = weights[at], []
            for step in (1e-5, -1e-5):
                weights[at] = kept_weight + step
                losses.append(net.loss(some)[0])
            weights[at] = kept_weight
            assert abs((losses[0] - losses[1]) / 2e-5 - slopes[name][at]) < 1e-8, name


def test_trigrams_by_hand() -> None:
    """After "mild pain" came "at" twice and "since" once; p(at) = (2 + 2 p₂(at)) / (3 + 2)."""
    model = Trigrams.learn(GRAMMAR, lines("mild pain at", "mild pain at", "mild pain since", "new pain at"))
    at, since = GRAMMAR.words.index("at"), GRAMMAR.words.index("since")
    asked = lines("mild pain", "old pain")
    found = model.chances(asked)[:, 2]
    one = model.one[0, at]
    two = (3 + 2 * one) / (4 + 2)
    assert np.isclose(found[0, at], (2 + 2 * two) / (3 + 2))
    assert np.isclose(found[1, at], two), "what was never seen together falls back on one word"
    assert found[0, since] > found[1, since] > model.one[0, since] / 2
    # of 16 symbols that came next, "at" came 3 times; 6 are different
    different = 6
    assert np.isclose(one, (3 + different / GRAMMAR.symbols) / (16 + different))


def test_chances_add_up_to_one_wherever_a_word_comes_next() -> None:
    chance = np.random.default_rng(3)
    learnt, asked = GRAMMAR.invent(20, chance), GRAMMAR.invent(3, chance)
    private = Private(1.0, np.ones(80), chance)
    models = [Trigrams.learn(GRAMMAR, learnt), Trigrams.learn(GRAMMAR, learnt, private)]
    models += [Net.teach(GRAMMAR, learnt, form, epochs=1, chance=chance) for form in FORMS]
    for model in models:
        found = model.chances(asked)
        _, then, counts = inputs(GRAMMAR, asked)
        assert np.allclose(found.sum(axis=2)[counts], 1)
        by_word = np.log(np.take_along_axis(found, then[:, :, None], axis=2)[:, :, 0])
        assert np.allclose(log_likelihoods(GRAMMAR, model, asked), (by_word * counts).sum(axis=1))


def test_what_made_lines_keep_by_hand() -> None:
    learnt = lines("mild pain in the knee since two days", "new cough at night", topics=(1, 2))
    made = lines(
        "mild pain in the knee since four weeks",  # six words of the first: 6 of 10 words in common
        "new cough at night",  # a copy
        "cough at night cough at",  # a pair twice; of 3 words all among 4
        topics=(1, 2, 1),
    )
    found = kept(GRAMMAR, made, learnt)
    assert (found.topical, found.copied, found.span, found.repeated) == tuple(np.array([2, 1, 1, 1]) / 3)
    assert np.isclose(found.novelty, (1 - 6 / 10 + 0 + 1 - 3 / 4) / 3)


class Liking:
    """Likes some lines as much as it is told to."""

    def __init__(self, likes: dict[int, float]) -> None:
        self.likes = likes

    def chances(self, lines: Lines) -> np.ndarray:
        found = np.full((len(lines.words), lines.words.shape[1] + 1, GRAMMAR.symbols), 0.1)
        for row, word in enumerate(lines.words[:, 2]):
            found[row, 2, word] = self.likes.get(int(word), 0.1)
        return found


def test_exposure_by_hand() -> None:
    every, _ = GRAMMAR.secrets(np.random.default_rng(1))
    zero, one = GRAMMAR.words.index("zero"), GRAMMAR.words.index("one")
    secrets = np.zeros(4, dtype=np.int64)  # "call under zero zero zero"
    assert np.allclose(exposures(GRAMMAR, Liking({}), every, secrets), np.log2(1000 / 500.5))
    assert np.allclose(exposures(GRAMMAR, Liking({zero: 0.2}), every, secrets), np.log2(1000 / 50.5))
    assert np.allclose(
        exposures(GRAMMAR, Liking({zero: 0.2, one: 0.3}), every, secrets), np.log2(1000 / 150.5)
    )


def test_made_lines_are_of_words_alone_and_end() -> None:
    chance = np.random.default_rng(4)
    model = Trigrams.learn(GRAMMAR, GRAMMAR.invent(100, chance))
    made = make_lines(GRAMMAR, model, np.repeat(np.arange(4), 25), chance)
    assert made.words.max() < len(GRAMMAR.words) and made.lengths.min() >= 1
    inside = np.arange(16) < made.lengths[:, None]
    assert ((made.words >= 0) == inside).all()


def test_the_published_order_and_that_all_of_them_remember(monkeypatch) -> None:
    monkeypatch.setattr("engine.analyses.catalogue.chance", lambda: np.random.default_rng(5))
    answer = ask(analysis("short_texts"), {"each": 200, "epochs": 10})
    assert not answer.stays
    found = answer.figures["models"]
    assert found["contextual"]["perplexity"] < found["plain"]["perplexity"] < found["trigram"]["perplexity"]
    assert found["contextual"]["topical"] > found["trigram"]["topical"] + 0.2
    assert found["trigram"]["perplexity"] < answer.figures["chance"] < found["private"]["perplexity"]
    assert all(found[name]["exposure"] > 6 for name in ("trigram", "plain", "contextual", "syntactic"))
    said = [one.id.rpartition(".")[2] for one in answer.views[0].paragraphs]
    assert "refused" in said and "topical" not in found["private"] and found["private"]["exposure"] < 1.1


def test_a_private_form_of_many_lines_speaks_and_forgets_one_person() -> None:
    """With 2,000 lines of each topic at ε = 10; what one person wrote ten times is as good as not there."""
    chance = np.random.default_rng(6)
    learnt, others = GRAMMAR.invent(2000, chance), GRAMMAR.invent(100, chance)
    every, secrets = GRAMMAR.secrets(chance)
    told = np.repeat(np.arange(4) * 1000 + secrets, TOLD)
    both = learnt.joined(Lines(every.words[told], every.topics[told]))
    private = Private(10.0, np.append(np.ones(8000), np.full(len(told), 1 / TOLD)), chance)
    model, open_model = Trigrams.learn(GRAMMAR, both, private), Trigrams.learn(GRAMMAR, both)
    by_chance = perplexity(GRAMMAR, open_model.single(), others)
    assert perplexity(GRAMMAR, open_model, others) < perplexity(GRAMMAR, model, others) < by_chance / 2
    # numbers are as common as in the lines of others: no secret stands out by what one person wrote
    hidden, shown = (exposures(GRAMMAR, one, every, secrets) for one in (model, open_model))
    assert shown.min() > 7 and hidden.mean() < 3


def test_nothing_is_said_to_be_remembered_that_was_hardly_learnt(monkeypatch) -> None:
    monkeypatch.setattr("engine.analyses.catalogue.chance", lambda: np.random.default_rng(7))
    answer = ask(analysis("short_texts"), {"each": 20, "epochs": 1})
    lowest = min(answer.figures["models"][name]["exposure"] for name in FORMS)
    said = [one.id.rpartition(".")[2] for one in answer.views[0].paragraphs]
    assert lowest < 4 and "exposed" in said and "remember" not in said
