"""A small recurrent net (LSTM) for short lines, in numpy: plain, told the topic, told kinds of words too."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from engine import arrays
from engine.progress import SILENT, Progress
from engine.risk.short_texts import Grammar, Lines, inputs

Floats = arrays.Floats
Integers = arrays.Integers
Weights = dict[str, Floats]

PLAIN, CONTEXTUAL, SYNTACTIC = "plain", "contextual", "syntactic"
FORMS = (PLAIN, CONTEXTUAL, SYNTACTIC)
EMBEDDED, HIDDEN, BATCH = 24, 48, 32
RATE, SHRINK = 5e-3, (0.9, 0.999)
DROPPED = 0.2  # of the cells whose output is read; published .5 with 512 of them


@dataclass(frozen=True)
class Net:
    """A net of one form with what it was taught.

    Notes
    -----
    S. Hochreiter and J. Schmidhuber (1997), with the forget gate of 2000. All forms begin a line with a
    symbol of its topic. The contextual form adds a vector of the topic to every gate at every word; the
    syntactic one also reads the kind of each word and says the next one's: A. Dandekar (2019), appendix B.
    """

    form: str
    grammar: Grammar
    weights: Mapping[str, Floats]

    @staticmethod
    def teach(
        grammar: Grammar,
        lines: Lines,
        form: str,
        *,
        epochs: int,
        chance: np.random.Generator,
        progress: Progress = SILENT,
    ) -> Net:
        """Teach a net so many times with all lines (Adam, batches of `BATCH`)."""
        kinds = int(grammar.kinds.max()) + 1
        shapes = {
            "words": (grammar.symbols, EMBEDDED),
            "enter": (EMBEDDED, 4 * HIDDEN),
            "stay": (HIDDEN, 4 * HIDDEN),
            "gates": (1, 4 * HIDDEN),
            "leave": (HIDDEN, grammar.symbols),
            "base": (1, grammar.symbols),
        }
        if form != PLAIN:
            shapes["topics"] = (len(grammar.topics), 4 * HIDDEN)
        if form == SYNTACTIC:
            shapes |= {"kinds": (kinds, EMBEDDED), "leave_kind": (HIDDEN, kinds), "base_kind": (1, kinds)}
        weights = {name: chance.normal(0, 0.1, shape) for name, shape in shapes.items()}
        net = Net(form, grammar, weights)
        first, second = ({name: np.zeros_like(one) for name, one in weights.items()} for _ in range(2))
        step = 0
        for epoch in range(epochs):
            order = chance.permutation(len(lines.topics))
            for start in range(0, len(order), BATCH):
                own = order[start : start + BATCH]
                _, slopes = net.loss(Lines(lines.words[own], lines.topics[own]), chance)
                step += 1
                for name, slope in slopes.items():
                    for kept, share, what in ((first, SHRINK[0], slope), (second, SHRINK[1], slope**2)):
                        kept[name] += (1 - share) * (what - kept[name])
                    mean, spread = (
                        first[name] / (1 - SHRINK[0] ** step),
                        second[name] / (1 - SHRINK[1] ** step),
                    )
                    weights[name] -= RATE * mean / (np.sqrt(spread) + 1e-8)
            progress.step((epoch + 1) / epochs, "risk.lines")
        return net

    def chances(self, lines: Lines) -> Floats:
        read, _, _ = inputs(self.grammar, lines)
        outputs, _ = self._forward(read, lines.topics)
        return softmax(outputs @ self.weights["leave"] + self.weights["base"])

    def loss(self, lines: Lines, chance: np.random.Generator | None = None) -> tuple[float, Weights]:
        """Return the mean loss of a place, and its slopes; with ``chance`` some cells are dropped."""
        read, then, counts = inputs(self.grammar, lines)
        longest = int(counts.sum(axis=1).max())
        read, then, counts = read[:, :longest], then[:, :longest], counts[:, :longest]
        outputs, passed = self._forward(read, lines.topics)
        kept = np.ones_like(outputs)
        if chance is not None:
            kept = (chance.random(outputs.shape) >= DROPPED) / (1 - DROPPED)
        seen, total = outputs * kept, counts.sum()
        slopes, found, back = Weights(), 0.0, np.zeros_like(outputs)
        heads = [("leave", "base", then)]
        if self.form == SYNTACTIC:
            heads.append(("leave_kind", "base_kind", self.grammar.kinds[then]))
        for leave, base, right in heads:
            chances = softmax(seen @ self.weights[leave] + self.weights[base])
            own = np.take_along_axis(chances, right[:, :, None], axis=2)
            found -= float((np.log(own[:, :, 0]) * counts).sum() / total)
            np.put_along_axis(chances, right[:, :, None], own - 1, axis=2)
            error = chances * (counts / total)[:, :, None]
            slopes[leave] = np.tensordot(seen, error, ((0, 1), (0, 1)))
            slopes[base] = error.sum(axis=(0, 1))[None, :]
            back += error @ self.weights[leave].T
        return found, slopes | self._backward(read, lines.topics, passed, outputs, back * kept)

    def _read(self, read: Integers) -> Floats:
        vectors = self.weights["words"][read]
        return (
            vectors + self.weights["kinds"][self.grammar.kinds[read]] if self.form == SYNTACTIC else vectors
        )

    def _forward(self, read: Integers, topics: Integers) -> tuple[Floats, list[tuple[Floats, ...]]]:
        """Return the outputs at every place, and what passed: gates, cell before and after."""
        enter = self._read(read) @ self.weights["enter"] + self.weights["gates"]
        if self.form != PLAIN:
            enter = enter + self.weights["topics"][topics][:, None]
        output, cell = np.zeros((len(read), HIDDEN)), np.zeros((len(read), HIDDEN))
        outputs: Floats = np.zeros((*read.shape, HIDDEN))
        passed: list[tuple[Floats, ...]] = []
        for place in range(read.shape[1]):
            sums = enter[:, place] + output @ self.weights["stay"]
            gates = 1 / (1 + np.exp(-sums[:, : 3 * HIDDEN]))
            new = np.tanh(sums[:, 3 * HIDDEN :])
            let_in, forget, let_out = np.split(gates, 3, axis=1)
            before, cell = cell, forget * cell + let_in * new
            output = let_out * np.tanh(cell)
            outputs[:, place] = output
            passed.append((let_in, forget, let_out, new, before, cell))
        return outputs, passed

    def _backward(
        self,
        read: Integers,
        topics: Integers,
        passed: list[tuple[Floats, ...]],
        outputs: Floats,
        back: Floats,
    ) -> Weights:
        """Return the slopes of everything before the outputs, by those of the outputs."""
        sums = np.zeros((*read.shape, 4 * HIDDEN))
        output = cell = np.zeros((len(read), HIDDEN))
        for place in reversed(range(read.shape[1])):
            let_in, forget, let_out, new, before, after = passed[place]
            bent = np.tanh(after)
            output = output + back[:, place]
            cell = cell + output * let_out * (1 - bent**2)
            slopes = (
                cell * new * let_in * (1 - let_in),
                cell * before * forget * (1 - forget),
                output * bent * let_out * (1 - let_out),
                cell * let_in * (1 - new**2),
            )
            sums[:, place] = np.concatenate(slopes, axis=1)
            output, cell = sums[:, place] @ self.weights["stay"].T, cell * forget
        earlier = np.concatenate([np.zeros_like(outputs[:, :1]), outputs[:, :-1]], axis=1)
        entered = sums @ self.weights["enter"].T
        both = ((0, 1), (0, 1))
        found = {
            "words": _added(entered, read, self.grammar.symbols),
            "enter": np.tensordot(self._read(read), sums, both),
            "stay": np.tensordot(earlier, sums, both),
            "gates": sums.sum(axis=(0, 1))[None, :],
        }
        if self.form != PLAIN:
            found["topics"] = _added(sums.sum(axis=1), topics, len(self.grammar.topics))
        if self.form == SYNTACTIC:
            found["kinds"] = _added(entered, self.grammar.kinds[read], len(self.weights["kinds"]))
        return found


def softmax(sums: Floats) -> Floats:
    """Return chances in proportion to e to the power of each, along the last axis."""
    powers = np.exp(sums - sums.max(axis=-1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True))


def _added(slopes: Floats, rows: Integers, size: int) -> Floats:
    """Return slopes summed by the row of a table that they are of."""
    ones = (rows.ravel()[None, :] == np.arange(size)[:, None]).astype(np.float64)
    return ones @ slopes.reshape(rows.size, -1)
