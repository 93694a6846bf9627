"""One column given others by regression, its coefficients drawn from their posterior for every copy."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from engine.methods.datasets.synthesis.design import Design
from engine.methods.datasets.synthesis.variables import Amounts, Codes, Floats, Levels, Variable, values_of

if TYPE_CHECKING:
    from sklearn.linear_model import LogisticRegression

PRIOR_ROWS = 1.0
"""Precision of the prior of a standardised coefficient, as if so many rows had said 0."""
BLOCK = 4_000_000
"""Probabilities that are held at a time."""


@dataclass(frozen=True)
class Linear:
    """Least squares with normal residuals.

    Parameters
    ----------
    target, ranks
        What is drawn; where it is drawn by its rank, places between 0 and 1 and the amounts there.
    design
        None where there is nothing to predict from: then only a mean is fitted.
    coefficients
        Shape (columns,), the intercept first; as fitted, or as drawn for one copy.
    root
        Shape (columns, columns): the inverse of (X'X + prior) is root root'.
    residuals, freedom
        Sum of the squared residuals, and its degrees of freedom.
    deviation
        Standard deviation of the residuals.
    low, high
        What draws are set to beyond.
    """

    target: Amounts
    ranks: tuple[Floats, Floats] | None
    design: Design | None
    coefficients: Floats
    root: Floats
    residuals: float
    freedom: float
    deviation: float
    low: float
    high: float
    beyond: float = 0.0

    def redrawn(self, chance: np.random.Generator) -> Linear:
        """Return the model with parameters drawn from their posterior.

        Notes
        -----
        Gelman et al., Bayesian Data Analysis, 3rd edition, section 14.2: σ² is the sum of the squared
        residuals over a χ² variable with the degrees of freedom left, and the coefficients are normal around
        the fitted ones with the covariance σ² (X'X + prior)⁻¹.
        """
        deviation = float(np.sqrt(self.residuals / chance.chisquare(self.freedom)))
        moved = self.coefficients + deviation * self.root @ chance.standard_normal(len(self.root))
        return replace(self, coefficients=moved, deviation=deviation)

    def draw(self, predictors: list[Floats], n: int, chance: np.random.Generator) -> Floats:
        """Draw one amount for each of n rows."""
        middle = _with_intercept(self.design, predictors, n) @ self.coefficients
        drawn = middle + self.deviation * chance.standard_normal(n)
        if self.ranks is not None:
            from scipy.special import ndtr  # on first use: the list of methods is made without it

            drawn = np.interp(ndtr(drawn), *self.ranks)
        return self.target.placed(np.clip(drawn, self.low, self.high))


def linear(
    target: Amounts,
    predictors: list[Variable],
    rows: Codes,
    *,
    smallest: int,
    ties: np.random.Generator | None = None,
) -> Linear:
    """Fit an amount by least squares.

    Parameters
    ----------
    target
        Known in all of the rows.
    predictors
        What it depends on.
    rows
        Places of the training rows.
    smallest
        Levels of predictors with fewer rows are not told apart.
    ties
        Where it is given, normal scores of the ranks are regressed instead of the amounts, and draws return
        to amounts between the order statistics, so that heaps and skewness stay; it orders equal ranks.

    Notes
    -----
    Draws beyond the declared bounds are set to them. Where no bound is declared, it is the mean of the values
    of as many people at that end as a value needs to be shown: no one person's value becomes a limit.
    """
    values = target.values[rows]
    y = values if ties is None else _scores(values, ties)
    design = Design.fitted(predictors, rows, smallest=smallest) if predictors else None
    x = _with_intercept(design, [values_of(one)[rows] for one in predictors], len(rows))
    precision = np.full(x.shape[1], PRIOR_ROWS)
    precision[0] = 0.0  # the mean is not shrunk
    gram = x.T @ x
    inverse = np.linalg.inv(gram + np.diag(precision))
    coefficients = inverse @ (x.T @ y)
    fitted = x @ coefficients
    residuals = float(np.sum((y - fitted) ** 2))
    freedom = max(len(rows) - float(np.trace(inverse @ gram)), 1.0)
    deviation = float(np.sqrt(residuals / freedom))
    low, high = _limits(target, rows) if ties is None else (-np.inf, np.inf)
    root = np.linalg.cholesky((inverse + inverse.T) / 2).astype(np.float64)
    beyond = _share_beyond(fitted, deviation, low, high)
    ranks = None if ties is None else _ranks(target, rows)
    return Linear(target, ranks, design, coefficients, root, residuals, freedom, deviation, low, high, beyond)


@dataclass(frozen=True)
class Logistic:
    """Multinomial logistic regression.

    Parameters
    ----------
    seen, codes
        What it was fitted on, shape (rows, columns) and (rows,).
    """

    design: Design
    model: LogisticRegression
    seen: Floats
    codes: Codes
    beyond: float = 0.0

    def redrawn(self, chance: np.random.Generator) -> Logistic:
        """Return the model fitted again, from where it was, with exponential weights of the rows.

        Notes
        -----
        M. Newton and A. Raftery, Approximate Bayesian inference with the weighted likelihood bootstrap,
        J. R. Statistical Society B 56 (1994): such fits are draws from the posterior, to first order.
        """
        model = copy.copy(self.model)  # which starts where the fit ended
        model.fit(self.seen, self.codes, sample_weight=chance.standard_exponential(len(self.codes)))
        return replace(self, model=model)

    def draw(self, predictors: list[Floats], n: int, chance: np.random.Generator) -> Floats:
        """Draw one level for each of n rows."""
        classes = self.model.classes_
        found = np.empty(n)
        for rows in blocks(n, len(classes)):
            shares = self.model.predict_proba(self.design.matrix([own[rows] for own in predictors]))
            found[rows] = classes[draw_places(shares, chance)]
        return found


@dataclass(frozen=True)
class Shares:
    """Levels drawn with the frequencies that they have, whatever stands beside them."""

    counts: Floats
    beyond: float = 0.0

    def redrawn(self, chance: np.random.Generator) -> Shares:
        """Return the model with shares drawn from their posterior, Dirichlet with the counts."""
        return replace(self, counts=chance.standard_gamma(self.counts))

    def draw(self, predictors: list[Floats], n: int, chance: np.random.Generator) -> Floats:
        """Draw one level for each of n rows."""
        return chance.choice(len(self.counts), size=n, p=self.counts / self.counts.sum()).astype(np.float64)


def logistic(target: Levels, predictors: list[Variable], rows: Codes, *, smallest: int) -> Logistic | Shares:
    """Fit levels by multinomial logistic regression; as many as occur in the rows are told apart."""
    codes = target.codes[rows]
    counts = np.bincount(codes, minlength=target.size).astype(np.float64)
    if not predictors or (counts > 0).sum() < 2:
        return Shares(counts)
    from sklearn.linear_model import LogisticRegression  # on first use: it takes a second to load

    design = Design.fitted(predictors, rows, smallest=smallest)
    seen = design.matrix([values_of(one)[rows] for one in predictors])
    if not seen.shape[1]:
        return Shares(counts)
    model = LogisticRegression(C=1 / PRIOR_ROWS, max_iter=200, tol=1e-3, warm_start=True)
    return Logistic(design, model.fit(seen, codes), seen, codes)


def draw_places(shares: Floats, chance: np.random.Generator) -> Codes:
    """Draw a place for each row of shares, shape (rows, places)."""
    summed = np.cumsum(shares, axis=1)
    return np.asarray((summed < (chance.random(len(shares)) * summed[:, -1])[:, None]).sum(axis=1))


def blocks(n: int, width: int) -> list[slice]:
    """Return the rows in parts, so that few enough probabilities are held at a time."""
    step = max(BLOCK // max(width, 1), 1)
    return [slice(start, min(start + step, n)) for start in range(0, n, step)]


def _with_intercept(design: Design | None, predictors: list[Floats], n: int) -> Floats:
    one = np.ones((n, 1))
    return one if design is None else np.hstack([one, design.matrix(predictors)])


def _ranks(target: Amounts, rows: Codes) -> tuple[Floats, Floats]:
    """Return places from 0 to 1 and the amounts there; between rare ones nothing stands still."""
    values = target.values[rows]
    distinct, one, counts = np.unique(values, return_index=True, return_counts=True)
    after = np.cumsum(counts)
    begins, ends = after - counts + 0.5, after - 0.5
    middle = (begins + ends) / 2
    is_rare = target.is_rare[rows][one]
    begins, ends = np.where(is_rare, middle, begins), np.where(is_rare, middle, ends)
    places, first = np.unique(np.concatenate([begins, ends]), return_index=True)
    return places / len(values), np.concatenate([distinct, distinct])[first]


def _scores(values: Floats, ties: np.random.Generator) -> Floats:
    """Return the normal scores of the ranks; equal ones in any order, so that the scores are normal."""
    from scipy.special import ndtri  # on first use: the list of methods is made without it

    ranks = np.empty(len(values))
    ranks[np.lexsort((ties.random(len(values)), values))] = np.arange(len(values)) + 0.5
    return np.asarray(ndtri(ranks / len(values)))


def _limits(target: Amounts, rows: Codes) -> tuple[float, float]:
    """Return the declared bounds; for one that is not, the mean of the people at that end."""
    values = target.values[rows]
    people = rows if target.people is None else target.people[rows]
    order = np.argsort(values, kind="stable")
    found = []
    for declared, ends in ((target.low, order), (target.high, order[::-1])):
        if np.isfinite(declared):
            found.append(declared)
            continue
        _, first = np.unique(people[ends], return_index=True)  # of each person the value nearest to the end
        found.append(float(values[ends][np.sort(first)[: target.least_people]].mean()))
    return found[0], found[1]


def _share_beyond(fitted: Floats, deviation: float, low: float, high: float) -> float:
    """Return the share of draws for the training rows that are expected beyond the limits."""
    if not deviation:
        return 0.0
    from scipy.special import ndtr  # on first use: the list of methods is made without it

    return float(np.mean(ndtr((low - fitted) / deviation) + ndtr((fitted - high) / deviation)))
