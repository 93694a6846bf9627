"""A score on held-out people that leaves with a model, paid for with a part of its privacy level."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from math import floor, sqrt
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from engine.methods import option
from engine.methods.budget import ManySums, is_replace_one, required_budget
from engine.methods.models.held_out_told import FULL, LIMIT, ROW, guess_of, score_as_json, score_errors
from engine.methods.protocol import MAIN, Budget, Context, Expected, Request
from engine.methods.shared.bounds import checked_bounds
from engine.methods.shared.column_cells import is_listed
from engine.methods.shared.division import Division, Query
from engine.methods.shared.margins import MARGINS, smallest_margin
from engine.methods.shared.promise import promise
from engine.once import once
from engine.privacy.events import Event, Neighbours, Sequential
from engine.privacy.gaussian import concentrated_budget, continuous_delta, gaussian_level
from engine.privacy.mechanisms import Integers
from engine.privacy.promise import Promise
from engine.table import coding
from engine.table.schema import Column

PERCENT = option.integer(name="held_out_percent", default=0, minimum=0, maximum=50, unit="%")
"""Part of the privacy level that the score gets: of ε for Laplace noise, of μ² for Gaussian noise."""
SCORE = "score"
COMPOSED = Fraction(1, 10**12)
"""Below this δ the accountant's composition is more rounding than answer."""
_CHUNK = 2**16

Predict: TypeAlias = "Callable[[Mapping[str, Any], pd.DataFrame], np.ndarray]"


def is_scored(request: Request) -> bool:
    """Say whether a score on held-out people was asked for."""
    return bool(request.values[PERCENT.name])


def fit_budget(request: Request) -> Budget:
    """Return what the fit itself may spend.

    Notes
    -----
    One person is either fitted on or held out, so that the loss of one release is the larger of the two and
    not their sum. The sum is reserved all the same: curves of noise of different kinds have no order that
    would hold together with other releases, and with the sum nothing depends on who was held out.
    """
    budget = required_budget(request)
    if not is_scored(request):
        return budget
    share = Fraction(request.values[PERCENT.name], 100)
    if budget.delta:
        epsilon = _remaining(budget.epsilon, budget.delta, share)
        if epsilon:
            return replace(budget, epsilon=epsilon)
    return replace(budget, epsilon=budget.epsilon * (1 - share), delta=budget.delta * (1 - share))


def _level(epsilon: Fraction, delta: Fraction) -> float:
    """Return μ of fit and score together; where δ is too small to be composed, what ρ = μ²/2 allows."""
    if delta > COMPOSED:
        return gaussian_level(float(epsilon), float(delta))
    return sqrt(2 * concentrated_budget(float(epsilon), float(delta)))


@lru_cache(maxsize=64)
def _remaining(epsilon: Fraction, delta: Fraction, share: Fraction) -> Fraction:
    """Return ε at which, with the same δ, Gaussian noise has what is left of μ²; 0 where there is none."""
    level = _level(epsilon, delta) * sqrt(1 - share)
    low, high = 0.0, float(epsilon)
    for _ in range(80):
        middle = (low + high) / 2
        kept = continuous_delta(scale=1.0, epsilon=middle, sensitivity=level) > float(delta)
        low, high = (middle, high) if kept else (low, middle)
    return Fraction(floor(low * 2**40), 2**40)


def query(request: Request) -> Query:
    """Return how far one person moves the sums of the score.

    Notes
    -----
    Classes: a row is in one of four cells. Numbers: it adds 1/2 for itself and a limited squared error, at
    most 1, of the model and of the guess; who is exchanged moves no sum further than who goes, since both add
    the same for themselves.
    """
    cap, share = request.rows_per_person, request.values[PERCENT.name] / 100
    if is_listed(_target(request)):
        moved = 2 if is_replace_one(request) else 1
        return Query(SCORE, moved * cap, moved * cap**2, share)
    return Query(SCORE, (ROW + 2 * FULL) * cap, (ROW**2 + 2 * FULL**2) * cap**2, share)


def score_division(request: Request, fit_events: Event) -> Division:
    """Return the noise of the score, beside a fit that spends its own part."""
    return _division(query(request), required_budget(request), fit_events)


@lru_cache(maxsize=64)
def _division(asked: Query, budget: Budget, fit_events: Event) -> Division:
    replace_one = budget.neighbours is Neighbours.REPLACE_ONE
    if not budget.delta:
        return Division((asked,), budget.epsilon, budget.delta, replace_one)
    found = Division((asked,), budget.epsilon, budget.delta, replace_one)

    def events_of(margin: float) -> Event:
        return Sequential((fit_events, replace(found, margin=margin).events))

    margins = (*MARGINS, 0.3, 0.6)
    margin = smallest_margin(events_of, budget.epsilon, budget.delta, budget.neighbours, margins)
    if margin is not None:
        return replace(found, margin=margin)
    # δ is smaller than what composition computes: what ρ leaves, which always holds. See `borne_out`.
    epsilon, delta = float(budget.epsilon), float(budget.delta)
    own = sum(float(leaf.concentrated() or 0) for leaf, _ in fit_events.leaves())
    always = sqrt(2 * max(concentrated_budget(epsilon, delta) - own, 1e-12)) * (1 - 1e-6)
    return replace(found, margin=1 - always / (sqrt(asked.share) * gaussian_level(epsilon, delta)))


class ScoredModel(ManySums):
    """A model with a target: its cost, and its score on held-out people where one was asked for.

    Notes
    -----
    Whoever derives from it offers `PERCENT`, and lets the fit spend `fit_budget`.
    """

    class Options(option.Options):
        noise: str
        held_out_percent: int

    options: Options

    @once
    @abstractmethod
    def fit_events(self) -> Event:
        """Return what the fit alone costs."""

    @once
    def cost(self) -> Promise:
        kind = "approximate_dp" if required_budget(self.paid).delta else "pure_dp"
        events = self.fit_events
        if is_scored(self.request):
            events = Sequential((events, score_division(self.paid, events).events))
        return promise(self.paid, events, kind=kind)

    @once
    def scores(self) -> bool:
        return is_scored(self.request)

    @once
    def score_errors(self) -> tuple[Expected, ...]:
        """Return how far the score will be off, for tables of the declared sizes; nothing without a score."""
        if not is_scored(self.request):
            return ()
        division = score_division(self.paid, self.fit_events)
        return score_errors(
            self.request.sizes,
            deviation=division.deviation(SCORE),
            is_classes=is_listed(_target(self.request)),
            cap=self.request.rows_per_person,
            pure=not division.is_gaussian,
        )

    def with_score(self, model: dict[str, Any], predict: Predict, context: Context | None) -> dict[str, Any]:
        """Return a finished model with its score on the held-out people, where one was asked for.

        Notes
        -----
        A prediction follows from the finished model and the row alone, whatever the other rows are.
        """
        if not is_scored(self.request):
            return model
        assert context is not None, "whoever asks for a score gives the people that it is of"
        division, target = score_division(self.paid, self.fit_events), _target(self.request)
        table = context.held_out.get(MAIN)
        exact = score_sums(model, predict, target, None if table is None else table.rows())
        noisy = division.noisy(SCORE, exact, context.noise)
        found = score_as_json(
            noisy,
            model,
            deviation=division.deviation(SCORE),
            rows_per_person=self.request.rows_per_person,
            pure=not division.is_gaussian,
        )
        return model | {"held_out": found | {"percent_of_budget": self.options.held_out_percent}}


def score_sums(
    model: Mapping[str, Any], predict: Predict, target: Column, frame: pd.DataFrame | None
) -> Integers:
    """Return the exact sums of a score in whole steps: the only part that sees held-out rows.

    Returns
    -------
    ndarray
        Classes, shape (4,): rows where model and guess are wrong, only the guess is right, only the model is,
        both are. Numbers, shape (3,): rows, and limited squared errors of model and guess.
    """
    is_classes, guess = is_listed(target), guess_of(model)
    found = np.zeros(4 if is_classes else 3, dtype=np.int64)
    for start in range(0, 0 if frame is None else len(frame), _CHUNK):
        assert frame is not None
        rows = frame.iloc[start : start + _CHUNK]
        of = _cells if is_classes else _errors
        found += of(rows[target.name], predict(model, rows), guess, target)
    return found


def _cells(values: pd.Series, predicted: np.ndarray, guess: Any, target: Column) -> Integers:
    levels = np.array(coding.levels(target), dtype=object)
    codes = coding.codes(values, target)
    known = codes < len(levels)
    truth = levels[codes[known]]
    cells = 2 * (predicted[known] == truth).astype(np.int64) + (truth == guess)
    return np.bincount(cells, minlength=4).astype(np.int64)


def _errors(values: pd.Series, predicted: np.ndarray, guess: Any, target: Column) -> Integers:
    bounds = checked_bounds(target)
    numbers = coding.numbers(values, target)
    known = ~np.isnan(numbers)
    truth = bounds.scaled(numbers[known])
    sums = [ROW * int(known.sum())]
    for said in (predicted[known].astype(np.float64), np.full(len(truth), float(guess))):
        off = np.clip((bounds.scaled(said) - truth) / LIMIT, -1.0, 1.0)
        sums.append(int(np.rint(off * off * FULL).astype(np.int64).sum()))
    return np.array(sums, dtype=np.int64)


def _target(request: Request) -> Column:
    return request.schema.column(request.values["target"])
