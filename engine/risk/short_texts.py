"""Short lines by topic and models that make such lines: what they keep, repeat and remember.

Lines are invented by a grammar, which also says of which kind every word is. Into them one person writes a
line with a secret ten times. All of it is for teaching: nothing here reads anybody's text.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, replace
from importlib.resources import files
from math import log, log2
from typing import Protocol

import numpy as np

from engine import arrays
from engine.once import once

Bools = arrays.Bools
Floats = arrays.Floats
Integers = arrays.Integers

RARER = 0.7  # words of a list have shares of 1/rank to this power
TOLD, DIGITS = 10, 3
"""How often a secret was written, and how many numbers it has."""
SPAN = 6  # words in a row that are called a copied span
TEMPERATURE = 0.4  # lines are made from chances to the power of 1/this, as published
MOST_WORDS = 16
PRIVATE_DELTA = 1e-6


@dataclass(frozen=True)
class Lines:
    """Numbers of words, filled up with −1, shape (lines, `MOST_WORDS` at most), and the topics of lines."""

    words: Integers
    topics: Integers

    @once
    def lengths(self) -> Integers:
        """How many words each line has."""
        return np.asarray((self.words >= 0).sum(axis=1))

    def joined(self, other: Lines) -> Lines:
        """Return these lines and others."""
        return Lines(np.concatenate([self.words, other.words]), np.append(self.topics, other.topics))


@dataclass(frozen=True)
class Grammar:
    """Words, the kind of each by topic, and patterns of kinds; the last symbols begin a topic and end a line.

    Parameters
    ----------
    words
        All of them; then come a beginning for every topic, and the end.
    kinds
        The kind of each word and symbol: what a tagger would say.
    patterns
        Sequences of lists by topic: words, in the order of how common they are.
    """

    words: tuple[str, ...]
    topics: tuple[str, ...]
    kinds: Integers
    patterns: tuple[tuple[tuple[Integers, ...], ...], ...]

    @staticmethod
    def shipped() -> Grammar:
        """Read the grammar that comes with the program."""
        tree = tomllib.loads((files("resources") / "short_texts" / "notes.toml").read_text("utf-8"))
        kinds: dict[str, str] = {}
        lists: list[dict[str, list[str]]] = []
        for own in tree["topics"].values():
            shared = tree["shared"] | {"adjective": tree["shared"]["adjective"] + own["adjective"]}
            lists.append(own | shared)
        for pattern in tree["patterns"]:
            for slot in pattern.split():
                for words in lists:
                    for word in words.get(slot, [slot]):
                        kinds.setdefault(word, slot)
        for word in ("call", "under"):
            kinds.setdefault(word, word)
        number = {word: place for place, word in enumerate(kinds)}
        patterns = tuple(
            tuple(
                tuple(
                    np.array([number[word] for word in words.get(slot, [slot])]) for slot in pattern.split()
                )
                for pattern in tree["patterns"]
            )
            for words in lists
        )
        names = [*kinds.values(), *("begin" for _ in lists), "end"]
        return Grammar(
            tuple(kinds), tuple(tree["topics"]), np.unique(names, return_inverse=True)[1], patterns
        )

    @property
    def symbols(self) -> int:
        """How many words, beginnings and the end are together."""
        return len(self.words) + len(self.topics) + 1

    @property
    def end(self) -> int:
        """The symbol that ends a line."""
        return self.symbols - 1

    def invent(self, each: int, chance: np.random.Generator) -> Lines:
        """Return so many lines of every topic."""
        words = np.full((each * len(self.topics), MOST_WORDS), -1, dtype=np.int64)
        topics = np.repeat(np.arange(len(self.topics)), each)
        of = chance.integers(len(self.patterns[0]), size=len(topics))
        for topic, patterns in enumerate(self.patterns):
            for number, pattern in enumerate(patterns):
                own = np.flatnonzero((topics == topic) & (of == number))
                for place, some in enumerate(pattern):
                    shares = np.arange(1, len(some) + 1) ** -RARER
                    words[own, place] = chance.choice(some, len(own), p=shares / shares.sum())
        return Lines(words, topics)

    def secrets(self, chance: np.random.Generator) -> tuple[Lines, Integers]:
        """Return every line "call under" some numbers, of each topic, and which one is its secret.

        Shape of the lines: topics × 10³, one topic after the other.
        """
        digits = np.array([self.words.index(word) for word in NUMBERS])
        every = digits[np.indices((len(digits),) * DIGITS).reshape(DIGITS, -1).T]
        words = np.full((len(every), MOST_WORDS), -1, dtype=np.int64)
        words[:, :2] = [self.words.index("call"), self.words.index("under")]
        words[:, 2 : 2 + DIGITS] = every
        topics = len(self.topics)
        lines = Lines(np.tile(words, (topics, 1)), np.repeat(np.arange(topics), len(every)))
        return lines, chance.integers(len(every), size=topics)


NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


class Model(Protocol):
    """What makes lines: it says how likely each next word is, given the words so far."""

    def chances(self, lines: Lines) -> Floats:
        """Return chances of the words and the end at every place, shape (lines, places + 1, symbols).

        At the place of a line's end that of the end; behind it whatever.
        """
        ...


def inputs(grammar: Grammar, lines: Lines) -> tuple[Integers, Integers, Bools]:
    """Return what models read at every place, what comes then, and where that counts."""
    begin = len(grammar.words) + lines.topics
    read = np.column_stack([begin, np.where(lines.words >= 0, lines.words, grammar.end)])
    then = np.column_stack([read[:, 1:], np.full(len(begin), grammar.end)])
    return read, then, np.arange(read.shape[1]) <= lines.lengths[:, None]


def log_likelihoods(grammar: Grammar, model: Model, lines: Lines) -> Floats:
    """Return the logarithm of the chance of every line."""
    found = []
    for start in range(0, len(lines.topics), 1000):
        part, longest = slice(start, start + 1000), int(lines.lengths.max())
        some = Lines(lines.words[part, :longest], lines.topics[part])
        _, then, counts = inputs(grammar, some)
        own = np.take_along_axis(model.chances(some), then[:, :, None], axis=2)[:, :, 0]
        found.append((np.log(own) * counts).sum(axis=1))
    return np.concatenate(found)


def perplexity(grammar: Grammar, model: Model, lines: Lines) -> float:
    """Return e to the mean loss of a word, ends included: among so many words a line is a guess."""
    return float(np.exp(-log_likelihoods(grammar, model, lines).sum() / (lines.lengths + 1).sum()))


def make_lines(grammar: Grammar, model: Model, topics: Integers, chance: np.random.Generator) -> Lines:
    """Return a line of each topic, word by word."""
    words = np.full((len(topics), MOST_WORDS), -1, dtype=np.int64)
    going = np.ones(len(topics), dtype=bool)
    for place in range(MOST_WORDS):
        chances = model.chances(Lines(words[:, :place], topics))[:, place]
        chances[:, len(grammar.words) : grammar.end] = 0.0  # no second beginning
        if place == 0:
            chances[:, grammar.end] = 0.0
        sharp = (chances / chances.max(axis=1, keepdims=True)) ** (1 / TEMPERATURE)
        ends = np.cumsum(sharp, axis=1)
        drawn = (ends <= (chance.random(len(topics)) * ends[:, -1])[:, None]).sum(axis=1)
        going &= drawn < grammar.end
        words[going, place] = drawn[going]
        if not going.any():
            break
    return Lines(words, topics)


@dataclass(frozen=True)
class Private:
    """How counts would be noised: all that one person wrote weighs one in each of three tables, of ε/3 each.

    An estimate of what a private model would be, with Laplace's noise from ``chance``: nothing is released.

    Parameters
    ----------
    epsilon
        The privacy level, with δ = `PRIVATE_DELTA`.
    shares
        What each line weighs: one over how many its person wrote.
    chance
        For the noise.
    """

    epsilon: float
    shares: Floats
    chance: np.random.Generator

    @property
    def threshold(self) -> float:
        """Counts that are lower with their noise are left out."""
        return 1 + 3 / self.epsilon * log(1 / PRIVATE_DELTA)

    def noisy(self, table: Floats) -> Floats:
        """Return what would be left of a table."""
        found = table + self.chance.laplace(scale=3 / self.epsilon, size=table.shape)
        return np.where((table > 0) & (found > self.threshold), found, 0.0)


@dataclass(frozen=True)
class Trigrams:
    """Counts of words after two others, of one, and of none, mixed by how many words follow each.

    Notes
    -----
    p(w | h) = (c(hw) + t(h) p(w | shorter h)) / (c(h) + t(h)), t(h) different words after h: I. Witten and
    T. Bell (1991). In the private form counts below a threshold τ are left out, so that t(h) is τ at least.
    """

    symbols: int
    begin: int
    contexts: Integers
    three: Floats
    two: Floats
    one: Floats

    @staticmethod
    def learn(grammar: Grammar, lines: Lines, private: Private | None = None) -> Trigrams:
        """Count lines, with noise where they are to be private."""
        read, then, counts = inputs(grammar, lines)
        before = np.column_stack([read[:, :1], read[:, :-1]])  # the beginning twice
        own = np.flatnonzero(counts.ravel())
        first, second, word = (part.ravel()[own] for part in (before, read, then))
        weights = np.ones(len(own))
        if private is not None:
            weights = (private.shares / (lines.lengths + 1))[own // read.shape[1]]
        size = grammar.symbols
        contexts, place = np.unique(first * size + second, return_inverse=True)
        threshold = 0.0 if private is None else private.threshold
        tables: list[Floats] = []
        for row, rows in ((place, len(contexts)), (second, size), (np.zeros_like(second), 1)):
            cells = np.bincount(row * size + word, weights, minlength=rows * size)
            table = cells.reshape(rows, size).astype(np.float64)
            tables.append(table if private is None else private.noisy(table))
        three, two, one = tables
        none = _mixed(one, np.full((1, size), 1 / size), threshold)
        pair = _mixed(two, none, threshold)
        triple = _mixed(three, pair[contexts % size], threshold)
        return Trigrams(size, len(grammar.words), contexts, triple, pair, none)

    def single(self) -> Trigrams:
        """Return what single words say, whatever came before: chance, for a model of lines."""
        pair = np.tile(self.one, (self.symbols, 1))
        return replace(self, three=pair[self.contexts % self.symbols], two=pair)

    def chances(self, lines: Lines) -> Floats:
        begin = self.begin + lines.topics
        read = np.column_stack([begin, begin, np.where(lines.words >= 0, lines.words, self.symbols - 1)])
        asked = read[:, :-1] * self.symbols + read[:, 1:]
        place = np.minimum(np.searchsorted(self.contexts, asked), len(self.contexts) - 1)
        known = self.contexts[place] == asked
        return np.where(known[:, :, None], self.three[place], self.two[read[:, 1:]])


def _mixed(counts: Floats, shorter: Floats, least: float) -> Floats:
    different = np.maximum((counts > 0).sum(axis=1, keepdims=True), least)
    total = counts.sum(axis=1, keepdims=True) + different
    return np.where(total > 0, (counts + different * shorter) / np.maximum(total, 1e-12), shorter)


# --- what lines repeat and keep ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Kept:
    """What made lines keep and repeat: shares of lines, but for ``novelty``.

    ``topical``: a judge who knows the topics says the one that was asked for. ``repeated``: two words in a
    row stand twice in the line. ``novelty``: mean Jaccard distance of its words from those of the nearest
    line learnt from. ``copied``: exactly such a line. ``span``: six words in a row of one.
    """

    topical: float
    repeated: float
    novelty: float
    copied: float
    span: float


def kept(grammar: Grammar, made: Lines, learnt: Lines) -> Kept:
    """Compare made lines with those that were learnt from; the judge is naive Bayes with words of both."""
    bags = [_bag(grammar, lines) for lines in (made, learnt)]
    shares = np.array(
        [bags[1][learnt.topics == topic].sum(axis=0) + 0.5 for topic in range(len(grammar.topics))]
    )
    judged = (bags[0] @ np.log(shares / shares.sum(axis=1, keepdims=True)).T).argmax(axis=1)
    one, other = ((bag > 0).astype(np.float64) for bag in bags)
    shared = one @ other.T
    alike = shared / (one.sum(axis=1)[:, None] + other.sum(axis=1) - shared)
    pairs = [_spans(line, 2) for line in made.words]
    known = {span for line in learnt.words for span in _spans(line, SPAN)}
    whole = {line.tobytes() for line in learnt.words}
    return Kept(
        float((judged == made.topics).mean()),
        float(np.mean([len(set(own)) < len(own) for own in pairs])),
        float(1 - alike.max(axis=1).mean()),
        float(np.mean([line.tobytes() in whole for line in made.words])),
        float(np.mean([any(span in known for span in _spans(line, SPAN)) for line in made.words])),
    )


def _bag(grammar: Grammar, lines: Lines) -> Floats:
    size = len(grammar.words)
    cells = (np.arange(len(lines.words))[:, None] * size + lines.words)[lines.words >= 0]
    return np.bincount(cells, minlength=len(lines.words) * size).reshape(-1, size).astype(np.float64)


def _spans(line: Integers, length: int) -> list[bytes]:
    words = line[line >= 0]
    return [words[start : start + length].tobytes() for start in range(len(words) - length + 1)]


def exposures(grammar: Grammar, model: Model, every: Lines, secrets: Integers) -> Floats:
    """Return how far each secret stands out of all others: log₂ of their number over its rank.

    N. Carlini et al., "The Secret Sharer" (2019); ties rank in the middle. About 1 where it is like all
    others, 10 at most.
    """
    topics = len(secrets)
    logs = log_likelihoods(grammar, model, every).reshape(topics, -1)
    own = logs[np.arange(topics), secrets][:, None]
    rank = (logs > own + 1e-12).sum(axis=1) + ((np.abs(logs - own) <= 1e-12).sum(axis=1) + 1) / 2
    return np.array([log2(logs.shape[1] / one) for one in rank])
