"""Five classifiers against the invented rows, column by column and group by group. Inside; on demand."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from engine import arrays
from engine.evaluation.invented import Sides
from engine.evaluation.protocol import InternalMeasure, InternalMeasured, Need, Private
from engine.languages import Written
from engine.methods.protocol import Method, Rows
from engine.utility import scattered
from engine.utility.distances import Scale, classes_of
from engine.utility.games import CLASSIFIERS, Learnt, Within, advantages, counts_within, learnt
from engine.views import Cell, NumberView, TableView, Text

ID = "utility.synthetic_games"
WORDS = f"measures.{ID}"
LEAST_ROWS = 20
"""Rows that a sub-population has at least."""
MOST_TESTED, MOST_LINES = 5_000, 15
GAMES = ("made", "floor", "model", "filter", "apart")

Codes = arrays.Integers


class SyntheticGames(InternalMeasure):
    """What a game of distinguishing says of invented rows, how well columns are learnt, and who is counted.

    Notes
    -----
    Against people who had no part where some were kept apart, otherwise against those who were used: then
    rows that are near copies bring the advantage down, and the figure is a lower bound all the more. Where
    rows had to pass a test, the loss is told apart into that of the model (people against rows before the
    test) and that of the test (rows before it against those that leave).

    Source: V. Bindschaedler, "Privacy-preserving seedbased data synthesis" (2018), chapters 5, 8 and 9.
    """

    id = ID
    needs = frozenset({Need.USED, Need.HELD_OUT, Need.RELEASE})
    less_is_better = ("told", "within", "model_loss", "filtering_loss")
    more_is_better = ("agreed", "accuracy")
    on_demand = True

    def further_applies(self, subject: Method) -> bool:
        return subject.rows is Rows.SYNTHETIC

    def evaluate(self, context: Private) -> InternalMeasured:
        sides = Sides.of(context)
        if sides is None or len(sides.columns) < 2:
            return InternalMeasured()
        scales = [Scale.of(sides.used[column.name], column) for column in sides.columns]
        own, made = (classes_of(table, scales) for table in (sides.used, sides.copies[0]))
        real = own if sides.unused is None else classes_of(sides.unused, scales)
        inside = context.release.inside
        before = None if inside is None or inside.untested is None else classes_of(inside.untested, scales)
        context.progress.step(0.1, "run.evaluating")
        games = _games(_stack(real), _stack(made), None if before is None else _stack(before), own)
        context.progress.step(0.6, "run.evaluating")
        columns = _columns(scales, made, own, real)
        context.progress.step(0.9, "run.evaluating")
        names = [scale.column.name for scale in scales if scale.cuts is None]
        groups = [name for name in dict.fromkeys([*sides.known, *sides.outcomes]) if name in names]
        counted = counts_within(own, made, groups or names, least=LEAST_ROWS)
        figures = _figures(games, columns, counted)
        numbers = [
            NumberView(Text(f"{WORDS}.numbers.{name}.label"), value, Text(f"{WORDS}.numbers.{name}"))
            for name, value in figures.items()
        ]
        views = (_games_view(games), _columns_view(columns), _counted_view(counted, scales))
        return InternalMeasured((*numbers, *views), figures)


def _stack(classes: Mapping[str, Codes]) -> Codes:
    return np.column_stack(list(classes.values()))


def _games(
    real: Codes, made: Codes, before: Codes | None, own: Mapping[str, Codes]
) -> dict[str, dict[str, float] | None]:
    """Play every game that there are rows for; the floor is played between two halves of the people."""
    mixed = scattered.order(len(real))
    alone = {name: codes[scattered.order(len(codes), at)] for at, (name, codes) in enumerate(own.items())}
    found = {
        "made": advantages(real, made),
        "floor": advantages(real[mixed[::2]], real[mixed[1::2]]),
        "apart": advantages(real, _stack(alone)),
    }
    if before is not None:
        found |= {"model": advantages(real, before), "filter": advantages(before, made)}
    return {name: found[name] for name in GAMES if name in found}


def _columns(
    scales: list[Scale], made: Mapping[str, Codes], own: Mapping[str, Codes], real: Mapping[str, Codes]
) -> dict[str, Learnt]:
    """Learn every column from the others; tested on rows that the original did not teach from."""
    invented, original, test = map(_stack, (made, own, real))
    if real is own:
        mixed = scattered.order(len(original))
        test, original = original[mixed[::2]], original[mixed[1::2]]
    test = test[scattered.order(len(test))[:MOST_TESTED]]
    if not len(test) or not len(original):
        return {}
    return {scale.column.name: learnt(place, invented, original, test) for place, scale in enumerate(scales)}


def _figures(
    games: Mapping[str, dict[str, float] | None], columns: Mapping[str, Learnt], counted: list[Within]
) -> dict[str, float]:
    """Return the worst game, and means over columns and counts."""
    names = {"made": "told", "floor": "told_real", "model": "model_loss", "filter": "filtering_loss"}
    found = {
        names[name]: round(max(played.values()), 4)
        for name, played in games.items()
        if played is not None and name in names
    }
    if columns:
        found["accuracy"] = round(float(np.mean([one.made - one.original for one in columns.values()])), 4)
        found["agreed"] = round(float(np.mean([one.agreed for one in columns.values()])), 4)
    if counted:
        found["within"] = float(f"{np.mean([one.off for one in counted]):.4g}")
    return found


def _games_view(games: Mapping[str, dict[str, float] | None]) -> TableView:
    rows: list[tuple[Cell, ...]] = [
        (
            Text(f"{WORDS}.views.games.{name}"),
            *(None if one is None else round(one[name], 3) for one in games.values()),
        )
        for name in CLASSIFIERS
    ]
    headings = tuple(Text(f"{WORDS}.views.games.{name}") for name in ("classifier", *games))
    return _table("games", headings, rows)


def _columns_view(columns: Mapping[str, Learnt]) -> TableView:
    rows: list[tuple[Cell, ...]] = [
        (name, *(round(value, 3) for value in (one.made, one.original, one.most, one.agreed)))
        for name, one in sorted(columns.items(), key=lambda item: item[1].made - item[1].original)
    ]
    names = ("column", "made", "original", "most", "agreed")
    return _table("columns", tuple(Text(f"{WORDS}.views.columns.{name}") for name in names), rows)


def _counted_view(counted: list[Within], scales: list[Scale]) -> TableView:
    said = {scale.column.name: _labels(scale) for scale in scales}
    rows: list[tuple[Cell, ...]] = [
        (
            f"{one.group[0]} = {said[one.group[0]](one.group[1])}",
            f"{one.of[0]} = {said[one.of[0]](one.of[1])}",
            one.rows,
            round(one.original),
            None if one.made is None else round(one.made),
        )
        for one in sorted(counted, key=lambda one: -one.off)[:MOST_LINES]
    ]
    names = ("group", "of", "rows", "original", "made")
    return _table("counted", tuple(Text(f"{WORDS}.views.counted.{name}") for name in names), rows)


def _labels(scale: Scale) -> Callable[[int], str]:
    """Return what says the class of a column: a name, or from where to where."""
    if scale.cuts is None:
        names = list(scale.places or {})
        return lambda place: names[place] if place < len(names) else "–"
    edges = ["", *(f"{cut:.6g}" for cut in scale.cuts), ""]
    return lambda place: Written(f"{edges[place]} … {edges[place + 1]}") if place < len(edges) - 1 else "–"


def _table(name: str, headings: tuple[Text, ...], rows: list[tuple[Cell, ...]]) -> TableView:
    base = f"{WORDS}.views.{name}"
    return TableView(Text(f"{base}.title"), headings, tuple(rows), Text(f"{base}.note"))
