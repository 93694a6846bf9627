"""How likely a person is found again, by three kinds of intruder.

The *prosecutor* knows that the person they look for is in the table; the *journalist* does
not, and wants to show that anybody can be found; the *marketer* links as many people as possible and bears
with errors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from engine import arrays
from engine.errors import InputRefused
from engine.risk.combinations import Numbers, dense, number_combinations, number_sets
from engine.risk.encoding import EncodedTable
from engine.risk.groups import Groups

Floats = arrays.Floats

THRESHOLDS = (0.05, 0.09, 0.2, 0.33)
"""Probabilities in use as limits; none of them is chosen here."""
_SERIES_FROM, _TERMS = 30, 60  # 1 / C(90, 60) is below 1e-23


@dataclass(frozen=True)
class Reidentification:
    """Probabilities to be found again. Internal: from private rows.

    Parameters
    ----------
    highest
        Of the person who is easiest to find.
    average
        Over all people.
    above
        Threshold → share of people whose probability is above it.
    """

    highest: float
    average: float
    above: Mapping[float, float]


def prosecutor(sizes: Numbers, *, thresholds: Sequence[float] = THRESHOLDS) -> Reidentification:
    """Return the risk against somebody who knows that the person is in the table.

    Parameters
    ----------
    sizes
        For every person, how many people they cannot be told apart from, themselves counted.
    thresholds
        Probabilities between 0 and 1.

    Returns
    -------
    Reidentification
        Each person is found with probability 1 / size.

    Notes
    -----
    Source: K. El Emam, Guide to the De-Identification of Personal Health Information, 2013, chapter 16. The
    average equals groups / people. It says nothing about what is learnt without finding the person: a group
    may share its sensitive value.

    Examples
    --------
    >>> prosecutor(np.array([1, 4, 4, 4, 4]), thresholds=(0.3,))
    Reidentification(highest=1.0, average=0.4, above={0.3: 0.2})
    """
    return _over_people(1.0 / sizes, sizes, thresholds)


def journalist(
    sizes: Numbers, population: Numbers, *, thresholds: Sequence[float] = THRESHOLDS
) -> Reidentification:
    """Return the risk against somebody who looks people up in the population that the table is a part of.

    Parameters
    ----------
    sizes
        For every person of the table, how many of the table they cannot be told apart from.
    population
        For every person of the table, how many of the population; at least as many.
    thresholds
        Probabilities between 0 and 1.

    Returns
    -------
    Reidentification
        ``average`` is the larger of the two forms of the source: over the people, and over the groups.

    Notes
    -----
    Source: as for `prosecutor`, chapter 16: highest 1 / min F; average max(J / Σ F, Σ f/F / n) over the
    groups J of the table with f people in the table and F in the population.
    """
    found = _over_people(1.0 / population, population, thresholds)
    each = 1.0 / sizes  # one group counts once
    by_group = float(each.sum() / (each * population).sum()) if len(sizes) else 0.0
    return Reidentification(found.highest, max(found.average, by_group), found.above)


def marketer(population: Numbers | Floats) -> float:
    """Return the share of people that somebody links rightly who links everybody.

    Parameters
    ----------
    population
        For every person of the table, how many they cannot be told apart from: of the population, or of the
        table itself if the intruder holds just these people.

    Examples
    --------
    >>> marketer(np.array([1, 2, 2, 10]))
    0.525
    """
    return float(np.mean(1.0 / population)) if len(population) else 0.0


def estimate_journalist_risk(
    sizes: Numbers, fraction: float | Floats, *, thresholds: Sequence[float] = THRESHOLDS
) -> Reidentification:
    """Return the journalist's risk where only the size of the population is known, or weights: an estimate.

    Parameters
    ----------
    sizes
        For every person, f: how many of the table they cannot be told apart from.
    fraction
        π, the share of the population that is in the table: one number, or for every person that of their
        group, f / Σ weights. In (0, 1].
    thresholds
        Probabilities between 0 and 1.

    Returns
    -------
    Reidentification
        With E[1/F | f] of every person.

    Notes
    -----
    Given f people in the sample, the number F in the population is taken as negative binomial, so that
    E[1/F | f] = (π/f) ₂F₁(1, 1; f+1; 1−π). For f = 1 that is π ln(1/π) / (1−π). The formula printed in
    the source, (π^f/f) ₂F₁(f, f; f+1; 1−π), is equal and loses all digits for large f.

    Source: R. Benedetti and L. Franconi, Statistical and technological solutions for controlled data
    dissemination, 1998; see M. Templ et al. 2015, section 3.2. An estimate under a model, not a bound.

    Examples
    --------
    >>> round(estimate_journalist_risk(np.array([1]), 0.1).highest, 6)
    0.255843
    """
    share = np.broadcast_to(np.asarray(fraction, dtype=np.float64), sizes.shape)
    if ((share <= 0) | (share > 1)).any():
        raise InputRefused("risk.fraction")
    pairs, place = np.unique(np.column_stack([sizes, share]), axis=0, return_inverse=True)
    f, pi = pairs[:, 0], pairs[:, 1]
    risk = (pi / f * _hypergeometric(f, 1.0 - pi))[place.reshape(-1)]
    return _over_people(risk, 1.0 / risk, thresholds)


def _hypergeometric(f: Floats, q: Floats) -> Floats:
    """Return ₂F₁(1, 1; f+1; q) = Σ q^k / C(f+k, k)."""
    from scipy.special import hyp2f1  # on first use: every release looks at the measures that import this

    found = hyp2f1(1.0, 1.0, f + 1.0, q)
    large = f > _SERIES_FROM  # scipy answers NaN for large f; there the series ends after a few terms
    term, total = np.ones(int(large.sum())), np.zeros(int(large.sum()))
    for k in range(_TERMS):
        total += term
        term *= (k + 1) * q[large] / (f[large] + k + 1)
    found[large] = total
    return np.asarray(found)


def population_sizes(table: EncodedTable, groups: Groups, population: EncodedTable) -> Numbers:
    """Return for every group of a table how many people of the population have the same values.

    Parameters
    ----------
    table, groups
        The table and its groups.
    population
        The population, encoded with the same columns.

    Returns
    -------
    array of int64, shape (groups,)
        0 where the population has nobody with these values.

    Notes
    -----
    Values are compared as text in one form, so that 1 and 1.0 agree; a missing value agrees with a missing
    one. Somebody with several rows has the set of all their combinations, as in `group_rows`.
    """
    coded, widths = [], []
    for name in groups.columns:
        own, other = table.columns[name], population.columns[name]
        places: dict[str, int] = {}
        for text in (*own.texts, *other.texts):
            places.setdefault(text, len(places))
        codes = [
            np.array([places[text] for text in one.texts], dtype=np.int64)[one.codes] for one in (own, other)
        ]
        coded.append(np.concatenate(codes))
        widths.append(len(places))
    number, _ = dense(*number_combinations(coded, widths, table.n_rows + population.n_rows))
    mine, theirs = _somebody(table), _somebody(population)
    if table.people is not None or population.people is not None:
        number = number_sets(number, np.concatenate([mine, table.n_people + theirs]))
    one = np.zeros(groups.count, dtype=np.int64)
    one[groups.number] = mine  # somebody of each group stands for it
    counts = np.bincount(number[table.n_people :], minlength=int(number.max(initial=-1)) + 1)
    return np.asarray(counts[number[one]])


def _somebody(table: EncodedTable) -> Numbers:
    """Return the number of the person of every row."""
    return np.arange(table.n_rows) if table.people is None else table.people


def _over_people(risk: Floats, sizes: Numbers | Floats, thresholds: Sequence[float]) -> Reidentification:
    for threshold in thresholds:
        if not 0 < threshold <= 1:
            raise InputRefused("risk.threshold")
    if not len(risk):
        return Reidentification(0.0, 0.0, dict.fromkeys(thresholds, 0.0))
    # 1 / size > threshold, without dividing: .2 is not above .2 for a group of five
    above = {each: float((sizes * each < 1.0).mean()) for each in thresholds}
    return Reidentification(float(risk.max()), float(risk.mean()), above)
