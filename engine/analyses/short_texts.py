"""Models that make short lines by topic: how well they speak, what they copy, and whose secrets they keep."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.analyses.protocol import Analysis, Answer, Context
from engine.analyses.shared import INTEGER, NUMBER, thesis
from engine.methods.parameters import Parameter
from engine.risk.recurrent import FORMS, Net
from engine.risk.short_texts import (
    TOLD,
    Grammar,
    Lines,
    Model,
    Private,
    Trigrams,
    exposures,
    kept,
    make_lines,
    perplexity,
)
from engine.views import Cell, TableView

if TYPE_CHECKING:
    from engine.table.table import Table

TRIGRAM, PRIVATE, OTHERS = "trigram", "private", "others"
REMEMBERED = 4
"""Exposure of a secret that is called remembered: among the first sixtieth or so."""
MADE = 100  # lines of every topic: made ones, and others that no model has seen


class ShortTexts(Analysis):
    """Trigrams and small recurrent nets on invented lines: perplexity, topics, novelty, copies and secrets.

    Notes
    -----
    A. Dandekar (2019), appendix B, on 180,000 headlines with nets of 512 cells: contextual nets are ahead of
    trigrams. Here the same order is seen with 48 cells in seconds, and that all of them remember what one
    person wrote ten times. Kinds of words come from the grammar, not from a tagger. Nothing of it is a way of
    releasing: `datasets.texts` lets whole lines out that many wrote.
    """

    id = "short_texts"
    published = thesis("appendix B")
    parameters = (
        Parameter("each", INTEGER, default=200, minimum=20, maximum=2000),
        Parameter("epochs", INTEGER, default=10, minimum=1, maximum=50),
        Parameter("epsilon", NUMBER, default=1, minimum=Fraction(1, 100), maximum=100),
    )

    def run(self, values: Mapping[str, Any], tables: Mapping[str, Table], context: Context) -> Answer:
        from threadpoolctl import threadpool_limits

        grammar, chance = Grammar.shipped(), context.chance
        lines, others = grammar.invent(values["each"], chance), grammar.invent(MADE, chance)
        every, secrets = grammar.secrets(chance)
        topics = len(grammar.topics)
        told = np.repeat(np.arange(topics) * (len(every.topics) // topics) + secrets, TOLD)
        learnt = lines.joined(Lines(every.words[told], every.topics[told]))
        shares = np.append(np.ones(len(lines.topics)), np.full(len(told), 1 / TOLD))
        private = Private(float(values["epsilon"]), shares, chance)
        with threadpool_limits(1):  # for tables this small, threads cost more than they bring
            trigrams = Trigrams.learn(grammar, learnt)
            models: dict[str, Model] = {TRIGRAM: trigrams, PRIVATE: Trigrams.learn(grammar, learnt, private)}
            for place, form in enumerate(FORMS):
                progress = context.progress.part(0.8 * place / len(FORMS), 0.8 * (place + 1) / len(FORMS))
                models[form] = Net.teach(
                    grammar, learnt, form, epochs=values["epochs"], chance=chance, progress=progress
                )
            figures: dict[str, dict[str, float]] = {OTHERS: vars(kept(grammar, others, learnt))}
            examples: dict[str, Lines] = {}
            by_chance = perplexity(grammar, trigrams.single(), others)
            for name, model in models.items():
                context.progress.step(0.9, "risk.lines")
                figures[name] = {
                    "perplexity": perplexity(grammar, model, others),
                    "exposure": float(exposures(grammar, model, every, secrets).mean()),
                }
                if name == PRIVATE and figures[name]["perplexity"] >= by_chance:
                    continue  # refused: it says no more than single words do
                examples[name] = make_lines(grammar, model, np.repeat(np.arange(topics), MADE), chance)
                figures[name] |= vars(kept(grammar, examples[name], learnt))
        return self._answer(values, grammar, figures, examples, by_chance, len(lines.topics))

    def _answer(
        self,
        values: Mapping[str, Any],
        grammar: Grammar,
        figures: Mapping[str, Mapping[str, float]],
        examples: Mapping[str, Lines],
        by_chance: float,
        lines: int,
    ) -> Answer:
        models = [name for name in figures if name != OTHERS]
        remembered = {f"{name}_exposure": round(figures[name]["exposure"], 1) for name in models}
        said = {name: round(figures[name]["perplexity"], 1) for name in models} | remembered
        said |= {"epsilon": float(values["epsilon"]), "chance": round(by_chance, 1)}
        private = "private" if PRIVATE in examples else "refused"
        open_ones = [figures[name]["exposure"] for name in models if name != PRIVATE]
        names = ("order", "remember" if min(open_ones) >= REMEMBERED else "exposed", private, "release")
        count = {"lines": lines, "topics": len(grammar.topics), "times": TOLD}
        text = [self.word("said", **count), *(self.word(name, **said) for name in names)]
        columns = ("perplexity", "topical", "repeated", "novelty", "copied", "span", "exposure")
        headings = (self.word("table.model"), *(self.word(f"table.{name}") for name in columns))
        rows: list[tuple[Cell, ...]] = [
            (self.word(f"model.{name}"), *(_cell(own.get(column), column) for column in columns))
            for name, own in figures.items()
        ]
        made: list[tuple[Cell, ...]] = [
            (
                self.word(f"model.{name}"),
                *(_written(grammar, own, topic) for topic in range(len(grammar.topics))),
            )
            for name, own in examples.items()
        ]
        return Answer(
            (
                self.sentences(text),
                TableView(self.word("table.title"), headings, tuple(rows), self.word("table.note")),
                TableView(
                    self.word("made.title"),
                    (self.word("table.model"), *(self.word(f"topic.{name}") for name in grammar.topics)),
                    tuple(made),
                    self.word("made.note"),
                ),
            ),
            {"models": figures, "chance": by_chance},
        )


def _cell(value: float | None, column: str) -> float | None:
    if value is None:
        return None
    if column in ("perplexity", "exposure"):
        return round(value, 1)
    return round(value, 2) if column == "novelty" else round(100 * value)


def _written(grammar: Grammar, lines: Lines, topic: int) -> str:
    """Return the first line of a topic in words."""
    line = lines.words[np.flatnonzero(lines.topics == topic)[0]]
    return " ".join(grammar.words[word] for word in line[line >= 0])
