"""Features in the place of rows: directions that tell a label, and what is read off the features."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from engine import arrays

Floats = arrays.Floats
Codes = arrays.Integers

COMPONENTS, TELLING, HIDING = "pca", "dca", "mdr"
KINDS = (COMPONENTS, TELLING, HIDING)
LINEAR, BOOSTED = "linear", "boosted"
ADVERSARIES = (LINEAR, BOOSTED)
"""Who reads a label: in straight lines, and by boosted trees, which read it anywhere."""
RIDGE = 0.02
"""Of the largest eigenvalue of the scatter below, which is added to all of them."""
BOOSTS, ROUNDS = 40, 500
_TIE = 1e-9


# --- directions -------------------------------------------------------------------------------------------


def scatter_between(rows: Floats, labels: Codes) -> Floats:
    """Return the scatter between the classes of a label, per row: Σ N_l μ_l μ_l' / N − μ μ'.

    Examples
    --------
    >>> scatter_between(np.array([[0.0], [2.0], [2.0], [4.0]]), np.array([0, 0, 1, 1])).round(9).tolist()
    [[1.0]]
    """
    _, codes = np.unique(labels, return_inverse=True)
    counts = np.bincount(codes)
    sums = np.zeros((len(counts), rows.shape[1]))
    np.add.at(sums, codes, rows)
    apart = (sums / counts[:, None] - rows.mean(axis=0)) * np.sqrt(counts / len(rows))[:, None]
    return np.asarray(apart.T @ apart)


def directions(
    rows: Floats,
    utility: Codes,
    hidden: Codes,
    *,
    kind: str,
    count: int,
    ridge: float = RIDGE,
    beside: float = 0.0,
) -> Floats:
    """Return directions of coordinates, one a row, of length 1, those first that are best by their kind.

    There are fewer where rows differ in fewer directions, but for principal components.

    Parameters
    ----------
    rows
        Shape (n, size).
    utility, hidden
        The label to tell, and the one to hide; each kind reads what it needs.
    kind
        ``"pca"``: of the largest scatter of all rows, S̄. ``"dca"``: of the largest S_BU + ρ′I beside
        S_W + ρI, the scatter within the classes of the utility label. ``"mdr"``: beside S_BP + ρI, that
        between the classes of the label to hide.
    ridge
        ρ, as a share of the largest eigenvalue of the scatter below.
    beside
        ρ′, as a share of ρ.

    Notes
    -----
    Source: J. M. Chang, D. Zhuang and G. D. Samaraweera, Privacy-Preserving Machine Learning, 2023, section
    9.2. The printed scatter between classes has N μ μ' inside the sum, which is corrected here; ρ′ is not
    printed, and is that of the programs to the book. With ρ′ = 0 the first directions, one fewer than there
    are classes, are those of S_BU beside S̄ + ρI, as printed: μ/(1 + μ) rises with μ. With another ρ′ they
    are nearly so, and beyond them its sign alone orders: above 0 the least scattered come first, which
    rebuild least of a row, below 0 the most scattered.
    """
    scatter = np.cov(rows.T, bias=True).reshape(rows.shape[1], -1)
    spread, vectors = np.linalg.eigh(scatter)
    if kind == COMPONENTS:
        return _facing(vectors[:, ::-1][:, :count].T)
    varying = vectors[:, spread > _TIE * max(float(spread[-1]), _TIE)]  # elsewhere all rows are the same
    rows, whole = rows @ varying, np.diag(spread[len(spread) - varying.shape[1] :])
    between = scatter_between(rows, utility)
    below = scatter_between(rows, hidden) if kind == HIDING else whole - between
    values, vectors = np.linalg.eigh(below)
    rho = max(ridge * float(values[-1]), 1e-12)
    root = vectors / np.sqrt(np.maximum(values, 0.0) + rho)
    above = between + beside * rho * np.eye(len(whole))
    ratios, turned = np.linalg.eigh(root.T @ above @ root)
    found = (varying @ root @ turned[:, np.argsort(-ratios, kind="stable")[:count]]).T
    return _facing(found / np.linalg.norm(found, axis=1, keepdims=True))


def _facing(found: Floats) -> Floats:
    """Return directions whose largest entry is above 0: either way round they are the same."""
    largest = np.abs(found).argmax(axis=1)
    return np.asarray(found * np.sign(found[np.arange(len(found)), largest])[:, None])


def waves(rows: Floats, count: int, chance: np.random.Generator) -> Callable[[Floats], Floats]:
    """Return what turns rows into so many random waves of them, whose products are a Gaussian kernel, about.

    Notes
    -----
    The published kernel forms keep the rows that they were learnt from within the model. These keep none:
    the waves are drawn, and their width is the median distance of a few rows. Source: A. Rahimi and B. Recht,
    Random features for large-scale kernel machines, 2007.
    """
    few = rows[np.unique(np.linspace(0, len(rows) - 1, 300).astype(np.int64))]
    apart = np.sqrt(((few[:, None] - few[None]) ** 2).sum(axis=2))
    width = float(np.median(apart[apart > 0])) if (apart > 0).any() else 1.0
    places = chance.normal(size=(rows.shape[1], count)) / width
    turns = chance.uniform(0, 2 * np.pi, size=count)
    return lambda some: np.asarray(np.sqrt(2 / count) * np.cos(some @ places + turns))


# --- what is read off features ----------------------------------------------------------------------------


@dataclass(frozen=True)
class LabelRead:
    """How well a label is read off features, on people who were not learnt from.

    Parameters
    ----------
    right
        Share of people whose label is guessed rightly.
    area
        Area under the ROC curve, of each class against the others, averaged by their size: .5 for not at all.
    """

    right: float
    area: float


def read_label(learnt: Floats, labels: Codes, others: Floats, truth: Codes) -> dict[str, LabelRead]:
    """Return how well each of `ADVERSARIES` reads a label off the features of others.

    Parameters
    ----------
    learnt, labels
        Features and label of people whom an adversary knows.
    others, truth
        Those of the people whose label is guessed.
    """
    from sklearn.ensemble import HistGradientBoostingClassifier  # on first use: it takes a second to load
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import roc_auc_score
    from threadpoolctl import threadpool_limits  # comes with scikit-learn

    classes = np.unique(labels)
    if len(classes) < 2:
        only = LabelRead(float(np.mean(truth == classes[0])), 0.5)
        return dict.fromkeys(ADVERSARIES, only)
    spread = learnt.std(axis=0)
    spread[spread < _TIE] = 1.0
    fits = {
        LINEAR: LogisticRegression(max_iter=ROUNDS),
        BOOSTED: HistGradientBoostingClassifier(max_iter=BOOSTS, early_stopping=False, random_state=0),
    }
    found = {}
    for name, model in fits.items():
        with threadpool_limits(1):  # for tables this small, threads cost more than they bring
            chances = model.fit(learnt / spread, labels).predict_proba(others / spread)
        areas, sizes = [], []
        for place, one in enumerate(classes):
            own = truth == one
            if own.any() and not own.all():
                areas.append(float(roc_auc_score(own, chances[:, place])))
                sizes.append(int(own.sum()))
        area = float(np.average(areas, weights=sizes)) if areas else 0.5
        found[name] = LabelRead(float(np.mean(classes[chances.argmax(axis=1)] == truth)), area)
    return found


def most_frequent(labels: Codes) -> float:
    """Return the share of the most frequent value: what a guess without any feature gets right.

    Examples
    --------
    >>> most_frequent(np.array([0, 1, 1, 1]))
    0.75
    """
    return float(np.unique(labels, return_counts=True)[1].max() / max(len(labels), 1))


def rebuilt(learnt: Floats, rows: Floats, features: Floats, truth: Floats) -> float:
    """Return the share of the spread of rows that is rebuilt from their features, in straight lines.

    Parameters
    ----------
    learnt, rows
        Features and coordinates of people whom an adversary knows.
    features, truth
        Those of the people who are rebuilt.
    """
    ones = np.column_stack([np.ones(len(learnt)), learnt])
    weights = np.linalg.lstsq(ones, rows, rcond=None)[0]
    left = truth - np.column_stack([np.ones(len(features)), features]) @ weights
    spread = float(((truth - rows.mean(axis=0)) ** 2).sum())
    return max(1 - float((left**2).sum()) / spread, 0.0) if spread else 0.0


def rebuilding_error(rows: Floats, along: Floats) -> float:
    """Return the mean distance of rows from what W (W'W)⁻¹ z gives back of them, as in the source.

    Parameters
    ----------
    rows
        Less their mean.
    along
        Directions, one a row, which need not stand at right angles.
    """
    back = rows @ along.T @ np.linalg.solve(along @ along.T, along)
    return float(np.linalg.norm(rows - back, axis=1).mean())


def alone(features: Floats) -> float:
    """Return the share of rows whose features nobody else's read alike.

    Examples
    --------
    >>> alone(np.array([[1.0], [2.0], [2.0], [3.0]]))
    0.5
    """
    _, place, counts = np.unique(features, axis=0, return_inverse=True, return_counts=True)
    return float(np.mean(counts[place.reshape(-1)] == 1))


@dataclass(frozen=True)
class AttributeRead:
    """How often one value of known people is read off their features by who knows all their other values.

    Parameters
    ----------
    blind
        Share that the most frequent value gets right.
    searched
        Share that is right where the row of the person is not known, and is looked for among all.
    known
        Share that is right where it is known which row is theirs.
    """

    blind: float
    searched: float
    known: float


def read_attribute(
    truth: Codes,
    weights: Floats,
    classes: Sequence[int],
    features: Floats,
    looked: Codes,
    of_value: Callable[[int], Floats],
) -> AttributeRead:
    """Try every value that somebody could have, and take the one whose features lie nearest.

    Parameters
    ----------
    truth
        The class of the true value of each person who is looked at.
    weights
        How frequent each value is.
    classes
        The class of each value: what is to be read. Of those that fit alike the most frequent is taken.
    features
        Of every row, as they leave.
    looked
        The rows of those who are looked at.
    of_value
        The features that they would have with this value, and their other values as they are.
    """
    from scipy.spatial import cKDTree  # on first use

    released = cKDTree(features)
    own, all_of = np.empty((2, len(looked), len(weights)))
    for value in range(len(weights)):
        would = of_value(value)
        own[:, value] = np.abs(would - features[looked]).max(axis=1)
        all_of[:, value] = released.query(would)[0]
    of_class = np.eye(max(classes) + 1)[list(classes)] * weights[:, None]
    guesses = []
    for apart in (own, all_of):
        fits = apart <= apart.min(axis=1, keepdims=True) + _TIE
        guesses.append(float(np.mean((fits @ of_class).argmax(axis=1) == truth)))
    known, searched = guesses
    return AttributeRead(float(np.mean(of_class.sum(axis=0).argmax() == truth)), searched, known)
