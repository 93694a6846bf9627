"""Communities of people by where and when they are: a topic model of traces, invented traces, their risk.

A trace is a bag of visits; each visit belongs to a community, which has its own places and times. Nothing
here is private: the model is learnt from the rows as they are, and what it invents can repeat them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from engine import arrays
from engine.progress import SILENT, Progress
from engine.risk.copies import Rate

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Floats = arrays.Floats
Integers = arrays.Integers

FORMS = ("place", "time", "place_time")
OF_PEOPLE, OF_PLACES, OF_TIMES = 0.1, 0.01, 0.1
"""What Dirichlet priors add to every count: communities of a person, places and times of a community."""
MOST_STEPS = 200  # of the factorisation that it starts from
AVERAGED = 50  # sweeps at the end, whose mean is the answer
CLOSE = 0.2  # Jaccard similarity below which the source calls two traces unlike
SEEN, COMPARED = 64, 500


@dataclass(frozen=True)
class Visits:
    """Visits of people: a number of the person, of the place and of the part of the day or week."""

    person: Integers
    place: Integers
    time: Integers

    @property
    def sizes(self) -> tuple[int, int, int]:
        """How many people, places and times there are."""
        people, places, times = (int(one.max(initial=-1)) + 1 for one in (self.person, self.place, self.time))
        return people, places, times

    def of_places(self, rows: Integers | None = None) -> csr_matrix:
        """Return who was ever where, shape (people, places): ones."""
        from scipy.sparse import csr_matrix

        people, places, _ = self.sizes
        found = csr_matrix((np.ones(len(self.person)), (self.person, self.place)), shape=(people, places))
        found.data[:] = 1.0
        return found if rows is None else found[rows]


@dataclass(frozen=True)
class Communities:
    """A topic model: means over the last sweeps.

    Parameters
    ----------
    people
        Shares of the communities of each person, shape (people, communities).
    places, times
        Shares of the places and of the times of each community.
    likelihood
        Mean logarithm of the chance of a visit, after each sweep.
    """

    people: Floats
    places: Floats
    times: Floats
    likelihood: Floats

    @property
    def chosen(self) -> Integers:
        """The community of each person with the largest share."""
        return np.asarray(self.people.argmax(axis=1), dtype=np.int64)

    @property
    def split(self) -> float:
        """How far the halves of the averaged sweeps differ: the split R̂ of the likelihood, 1 at best.

        Notes
        -----
        A. Gelman, D. Rubin, "Inference from iterative simulation using multiple sequences" (1992), with the
        two halves of one sequence.
        """
        last = self.likelihood[-AVERAGED:]
        half = len(last) // 2
        halves = np.array([last[:half], last[-half:]])
        within = float(halves.var(axis=1, ddof=1).mean())
        between = float(half * halves.mean(axis=1).var(ddof=1))
        return float(np.sqrt((half - 1) / half + between / (half * within))) if within > 0 else 1.0


def learn(
    visits: Visits,
    communities: int,
    *,
    form: str,
    sweeps: int,
    chance: np.random.Generator,
    progress: Progress = SILENT,
) -> Communities:
    """Return the communities of visits: a factorisation to begin with, then Gibbs sampling.

    Parameters
    ----------
    form
        Of `FORMS`: what a community is told apart by.
    sweeps
        At least `AVERAGED`; the mean of the last ones is the answer.

    Notes
    -----
    Shares are drawn given the community of every visit, then all communities at once given the shares: the
    same posterior as with shares integrated out (T. Griffiths, M. Steyvers, 2004), and whole arrays at a
    time. Where it starts decides more than how long it runs.
    """
    people, places, times = visits.sizes
    of_place, of_time = form != "time", form != "place"
    person, place, time = visits.person, visits.place, visits.time
    begun = _start(visits, communities, of_place=of_place, chance=chance)
    theta, phi = begun
    psi = np.full((communities, times), 1.0 / times)
    if not of_place:
        psi, phi = phi, np.full((communities, places), 1.0 / places)
    sums = [np.zeros_like(one) for one in (theta, phi, psi)]
    likelihood = np.zeros(sweeps)
    for sweep in range(sweeps):
        weights = theta[person]
        if of_place:
            weights = weights * phi.T[place]
        if of_time:
            weights = weights * psi.T[time]
        ends = np.cumsum(weights, axis=1)
        likelihood[sweep] = float(np.log(np.maximum(ends[:, -1], 1e-300)).mean())
        of = (ends < (chance.random(len(person)) * ends[:, -1])[:, None]).sum(axis=1)
        of = np.minimum(of, communities - 1)
        theta = _drawn(person * communities + of, (people, communities), OF_PEOPLE, chance)
        if of_place:
            phi = _drawn(of * places + place, (communities, places), OF_PLACES, chance)
        if of_time:
            psi = _drawn(of * times + time, (communities, times), OF_TIMES, chance)
        if sweep >= sweeps - AVERAGED:
            for total, one in zip(sums, (theta, phi, psi), strict=True):
                total += one
        progress.step((sweep + 1) / sweeps, "risk.communities")
    # of what it does not tell apart by, a community has what everybody has
    if not of_place:
        sums[1][:] = np.bincount(place, minlength=places)
    if not of_time:
        sums[2][:] = np.bincount(time, minlength=times)
    means = [one / one.sum(axis=1, keepdims=True) for one in sums]
    return Communities(means[0], means[1], means[2], likelihood)


def _start(
    visits: Visits, communities: int, *, of_place: bool, chance: np.random.Generator
) -> tuple[Floats, Floats]:
    """Return shares of people and of places (or times) by non-negative factorisation of the counts."""
    import warnings

    from scipy.sparse import csr_matrix
    from sklearn.decomposition import NMF  # on first use: it takes a second to load

    people, places, times = visits.sizes
    second, size = (visits.place, places) if of_place else (visits.time, times)
    counts = csr_matrix((np.ones(len(second)), (visits.person, second)), shape=(people, size))
    few = min(communities, people, size)
    model = NMF(
        few,
        init="nndsvda",
        solver="mu",
        beta_loss="kullback-leibler",
        max_iter=MOST_STEPS,
        random_state=int(chance.integers(2**31)),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it could go on: the sweeps do
        first = model.fit_transform(counts)
    found = np.full((people, communities), 1e-3), np.full((communities, size), 1e-9)
    found[0][:, :few] += first * model.components_.sum(axis=1)
    found[1][:few] += model.components_
    shares = [one / one.sum(axis=1, keepdims=True) for one in found]
    return shares[0], shares[1]


def _drawn(cells: Integers, shape: tuple[int, int], prior: float, chance: np.random.Generator) -> Floats:
    """Draw shares of each row from a Dirichlet distribution, given counts and what the prior adds."""
    counts = np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape)
    drawn = np.maximum(chance.standard_gamma(counts + prior), 1e-300)
    return np.asarray(drawn / drawn.sum(axis=1, keepdims=True))


def invent(model: Communities, visits: Visits, chance: np.random.Generator) -> tuple[Visits, Integers]:
    """Return an invented trace for each person, with as many visits, and the community of every visit."""
    person = visits.person
    of = _choose(model.people, person, chance)
    return Visits(person, _choose(model.places, of, chance), _choose(model.times, of, chance)), of


def _choose(shares: Floats, rows: Integers, chance: np.random.Generator) -> Integers:
    """Draw a column for each of some rows of shares."""
    ends = np.cumsum(shares, axis=1)
    ends /= ends[:, -1:]
    lots = np.minimum(chance.random(len(rows)), 1 - 1e-12)
    # one search in all rows at once: each row's ends lie between its number and the next
    flat = (ends + np.arange(len(ends))[:, None]).ravel()
    found = np.searchsorted(flat, lots + rows, side="right") - rows * shares.shape[1]
    return np.clip(found, 0, shares.shape[1] - 1).astype(np.int64)


def utility(model: Communities, invented: Visits, *, form: str) -> float:
    """Return the share of invented traces whose likeliest community is the main one of their person."""
    logs = np.log(model.people.mean(axis=0) + 1e-300) + np.zeros((len(model.people), 1))
    for told, shares, what in (
        (form != "time", model.places, invented.place),
        (form != "place", model.times, invented.time),
    ):
        if told:
            for community in range(logs.shape[1]):
                own = np.log(shares[community] + 1e-12)[what]
                logs[:, community] += np.bincount(invented.person, own, minlength=len(logs))
    return float((logs.argmax(axis=1) == model.chosen).mean())


@dataclass(frozen=True)
class Likeness:
    """How alike invented and real traces are, as sets of places: Jaccard similarity.

    Parameters
    ----------
    unlike
        Of all pairs of an invented and a real trace, those below `CLOSE`: the published measure.
    largest
        Of each invented trace compared, the largest similarity to any real one, which that does not see.
    copies
        Invented traces with exactly the places of some real person.
    """

    unlike: Rate
    largest: Floats
    copies: Rate


def likeness(invented: Visits, real: Visits, *, chance: np.random.Generator) -> Likeness:
    """Compare invented traces, drawn by lot, with all real ones."""
    people, places, _ = real.sizes
    drawn = np.sort(chance.permutation(people)[:COMPARED])
    mine, theirs = invented.of_places(drawn), real.of_places()
    if mine.shape[1] < places:  # the last places were not invented
        mine.resize((mine.shape[0], places))
    sizes, own = np.asarray(theirs.sum(axis=1)).ravel(), np.asarray(mine.sum(axis=1)).ravel()
    unlike, largest = 0, []
    for start in range(0, len(drawn), SEEN):
        part = slice(start, start + SEEN)
        shared = (mine[part] @ theirs.T).toarray()
        alike = shared / (own[part][:, None] + sizes[None, :] - shared)
        unlike += int((alike < CLOSE).sum())
        largest.append(alike.max(axis=1))
    found = np.concatenate(largest)
    copies = Rate(int((found >= 1 - 1e-12).sum()), len(found))
    return Likeness(Rate(unlike, len(drawn) * people), found, copies)
