"""What the noisy sums of a score on held-out people say: shares, errors and intervals, for card and reports.

Nothing here has seen a row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log, sqrt
from typing import Any

import numpy as np

from engine.methods.models.invented import SPREAD
from engine.methods.models.targets import CLASSES
from engine.methods.protocol import POINTS, Expected
from engine.privacy.accuracy import NORMAL_MEDIAN, NORMAL_WITHIN
from engine.privacy.mechanisms import Integers
from engine.views import Cell, TableView, Text

WORDS = "models.held_out"
FULL, ROW = 2**12, 2**11
"""Steps of a limited squared error of 1, and of one row: rows are many, so that theirs may be rougher."""
LIMIT = 0.5
"""Errors of a number count up to this, half of the declared range being 1."""
HELD_OUT = 0.2
LAPLACE = log(20) / sqrt(2)
"""Deviations that Laplace noise stays within in 95 of 100 draws; sums of several draws stay within fewer."""

Interval = tuple[float, float, float]  # point, low, high


def guess_of(model: Mapping[str, Any]) -> Any:
    """Return what one would say of everybody, by the finished model alone: a class, or a number.

    The most frequent class by its own noisy counts; of scores that add up what an average row gets.
    """
    target = model["target"]
    if target.get("kind") != CLASSES:
        return min(max(float(model["intercept"]), target["minimum"]), target["maximum"])
    if "intercept" in model:
        return target["values"][int(model["intercept"] > 0)]
    if "leaves" in model:
        rows = [np.array(one["shares"]) * one["rows"] for one in model["leaves"]]
        return target["values"][int(np.argmax(np.sum(rows, axis=0)))]
    if "cosines" in model:
        return target["values"][int(model["cosines"][0] > 0)]
    return target["values"][int(np.argmax(model["shares"]))]


def score_as_json(
    noisy: Integers, model: Mapping[str, Any], *, deviation: float, rows_per_person: int, pure: bool
) -> dict[str, Any]:
    """Return a score as JSON values.

    Parameters
    ----------
    noisy
        As `engine.methods.models.held_out.score_sums` orders them.
    model
        The finished model.
    deviation
        Standard deviation of the noise of every sum, in its steps.
    rows_per_person
        The cap: rows of one person are not independent, so that people count and not rows.
    pure
        Whether the noise is of the Laplace kind.
    """
    sums, reach = noisy.astype(np.float64), LAPLACE if pure else NORMAL_WITHIN
    kind = {"guess": guess_of(model)}
    if model["target"].get("kind") == CLASSES:
        rows = max(float(sums.sum()), 1.0)
        right = {"right": sums[2] + sums[3], "guess_right": sums[1] + sums[3]}
        found = {
            name: interval_as_json(_share(float(one), rows, deviation, reach, rows_per_person))
            for name, one in right.items()
        }
        return kind | {"rows": round(rows), **found}
    target = model["target"]
    limit = LIMIT * (target["maximum"] - target["minimum"]) / 2
    rows = max(float(sums[0]) / ROW, 1.0)
    errors = {"error": sums[1] / FULL, "guess_error": sums[2] / FULL}
    noises = deviation / FULL, deviation / ROW
    found = {
        name: interval_as_json(_root(float(one), rows, noises, reach, rows_per_person, limit))
        for name, one in errors.items()
    }
    explained = _explain(
        float(errors["error"]), float(errors["guess_error"]), rows, noises[0], reach, rows_per_person
    )
    return kind | {"rows": round(rows), "limit": limit, **found, "explained": interval_as_json(explained)}


def interval_as_json(one: Interval) -> dict[str, float]:
    """Return a point and its interval as JSON values."""
    point, low, high = one
    return {"value": point, "low": low, "high": high}


def _share(right: float, rows: float, deviation: float, reach: float, cap: int) -> Interval:
    """Return a share of rows: of right + wrong, each the sum of two noisy cells.

    Notes
    -----
    The noise of right − share · rows has variance 2 σ²((1 − share)² + share²). Chance among people after
    Agresti and Coull (1998): two more who are right and two who are wrong.
    """
    share = min(max(right / rows, 0.0), 1.0)
    people = rows / cap
    middle = (share * people + 2) / (people + 4)
    chance = middle * (1 - middle) / (people + 4)
    noise = 2 * deviation**2 * ((1 - share) ** 2 + share**2) / rows**2
    within = _within(noise, chance, reach)
    return share, max(min(middle, share) - within, 0.0), min(max(middle, share) + within, 1.0)


def _root(
    squares: float, rows: float, noises: tuple[float, float], reach: float, cap: int, limit: float
) -> Interval:
    """Return a root mean square error in the units of the target.

    Notes
    -----
    A limited squared error q is between 0 and 1, so that its variance is at most mean · (1 − mean).
    """
    mean = min(max(squares / rows, 0.0), 1.0)
    noise = (noises[0] ** 2 + mean**2 * noises[1] ** 2) / rows**2
    within = _within(noise, mean * (1 - mean) * cap / rows, reach)
    low, high = max(mean - within, 0.0), min(mean + within, 1.0)
    return limit * sqrt(mean), limit * sqrt(low), limit * sqrt(high)


def _explain(own: float, guess: float, rows: float, noise: float, reach: float, cap: int) -> Interval:
    """Return 1 − Σ q of the model / Σ q of the guess.

    Notes
    -----
    Of a ratio r the variance is that of q − r q' over the mean of q' squared, to a first approximation; with
    q and q' between 0 and 1 at most mean of q + r² mean of q'.
    """
    guess = max(guess, noise, 1 / rows)
    ratio = min(max(own / guess, 0.0), 2.0)
    mean = guess / rows
    chance = (ratio * mean + ratio**2 * mean) * cap / (rows * mean**2)
    within = _within((1 + ratio**2) * (noise / guess) ** 2, chance, reach)
    return 1 - ratio, max(1 - ratio - within, -1.0), min(1 - ratio + within, 1.0)


def _within(noise: float, chance: float, reach: float) -> float:
    return sqrt(reach**2 * noise + NORMAL_WITHIN**2 * chance)


def score_errors(
    sizes: Sequence[int], *, deviation: float, is_classes: bool, cap: int, pure: bool
) -> tuple[Expected, ...]:
    """Return how far a score will be from what everybody would give, from declared sizes alone.

    Notes
    -----
    Classes: half of the answers right, and noise at its largest. Numbers: the invented people of
    `engine.methods.models.invented`, for whom the model says what the guess says.
    """
    return tuple(_expected(size, deviation, is_classes, cap, pure) for size in sizes)


def _expected(size: int, deviation: float, is_classes: bool, cap: int, pure: bool) -> Expected:
    rows = max(HELD_OUT * size, 1.0)
    if is_classes:
        noise, chance = 2 * deviation**2 / rows**2, 0.25 * cap / rows
    else:
        mean = min((SPREAD / LIMIT) ** 2, 1.0)
        noise, chance = 2 * (deviation / FULL / (mean * rows)) ** 2, 2 * cap / (rows * mean)
    median = 100 * NORMAL_MEDIAN * sqrt(noise + chance)
    limit = 100 * _within(noise, chance, LAPLACE if pure else NORMAL_WITHIN)
    name = "right" if is_classes else "explained"
    quantity = Text(f"{WORDS}.forecast.{name}")
    return Expected(quantity, "score", size, min(median, 100.0), min(limit, 100.0), POINTS)


def score_view(model: Mapping[str, Any]) -> tuple[TableView, ...]:
    """Return the score of a model as a table; none where none was asked for."""
    score, target = model.get("held_out"), model["target"]
    if score is None:
        return ()
    if target.get("kind") == CLASSES:
        kind, percent, names = "classes", 100.0, ("right", "guess_right")
    else:
        kind, percent, names = "number", 1.0, ("error", "guess_error")
    guess = score["guess"] if isinstance(score["guess"], str) else float(f"{score['guess']:.4g}")
    rows: list[tuple[Cell, ...]] = [
        (Text(f"{WORDS}.{name}", {"guess": guess}), *_cells(score[name], percent)) for name in names
    ]
    if "explained" in score:
        rows.append((Text(f"{WORDS}.explained"), *_cells(score["explained"], 100.0)))
    headings = tuple(Text(f"{WORDS}.headings.{name}") for name in ("what", "value", "low", "high"))
    said = {"rows": score["rows"], "limit": float(f"{score.get('limit', 0.0):.4g}")}
    title, note = Text(f"{WORDS}.title", {"target": target["name"]}), Text(f"{WORDS}.note_{kind}", said)
    return (TableView(title, headings, tuple(rows), note),)


def _cells(one: Mapping[str, float], unit: float) -> tuple[Cell, ...]:
    return tuple(float(f"{unit * one[name]:.3g}") for name in ("value", "low", "high"))
