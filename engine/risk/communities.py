"""Communities of people by where and when they are: a topic model of traces, invented traces, their risk.

A trace is a bag of visits; each visit belongs to a community, which has its own places and times. Nothing
here is private: the model is learnt from the rows as they are, and what it invents can repeat them.
"""

from __future__ import annotations

from collections import Counter
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
SETTLED = 1.1  # split R̂: the usual limit
AVERAGED = 50  # sweeps at the end, whose mean is the answer
CLOSE = 0.2  # Jaccard similarity below which the source calls two traces unlike
MEMBER = 0.4  # share of a community from which somebody is a member of it
DRAWN, WALKED = "drawn", "walked"
INVENTED = (DRAWN, WALKED)
"""Each visit from the communities of a person, or a walk along the moves of one community: the source's."""
SEEN, COMPARED = 64, 500
JOINED = 1000
"""So many people at most, drawn by lot, are joined into a graph by the places that they share."""
MOST_WORK = 5 * 10**8
"""Visits × communities × sweeps."""


@dataclass(frozen=True)
class Visits:
    """Visits of people: a number of the person, of the place and of the part of the day or week.

    Those of a person stand in the order of their moments, where moves between places are asked for.
    """

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
        if within <= 0:
            return 1.0
        # of so few sweeps the estimate can fall a little below what it estimates
        return max(1.0, float(np.sqrt((half - 1) / half + between / (half * within))))

    @property
    def settling(self) -> str:
        """What the split says, as the end of an id: ``settled`` up to the usual limit, else ``unsettled``."""
        return "settled" if self.split <= SETTLED else "unsettled"


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
    # of what it does not tell apart by, a community has what its people have
    for told, what, found in ((of_place, place, sums[1]), (of_time, time, sums[2])):
        for community in range(0 if told else communities):
            found[community] = np.bincount(what, sums[0][person, community], minlength=found.shape[1])
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


def invent(model: Communities, visits: Visits, how: str, chance: np.random.Generator) -> Visits:
    """Return an invented trace for each person, with as many visits: drawn or walked, of `INVENTED`."""
    person = np.sort(visits.person, kind="stable")
    if how == DRAWN:
        of = _choose(model.people, person, chance)
        place = _choose(model.places, of, chance)
    else:
        of = model.chosen[person]
        place = _walked(model, Transport.of(model, visits), person, chance)
    return Visits(person, place, _choose(model.times, of, chance))


@dataclass(frozen=True)
class Transport:
    """How often members of each community went from one place to the next: its transport graph.

    Parameters
    ----------
    moves
        Numbers of (community, from, to), the last running fastest, rising: those that somebody made.
    ends
        How often they were made, added up.
    places
        How many places there are.
    """

    moves: Integers
    ends: Integers
    places: int

    @staticmethod
    def of(model: Communities, visits: Visits) -> Transport:
        """Count the moves of the members of each community; somebody may be a member of two."""
        order = np.argsort(visits.person, kind="stable")
        person, place = visits.person[order], visits.place[order]
        stays = np.flatnonzero(person[1:] == person[:-1])
        member, community = np.nonzero(model.people >= MEMBER)
        places = model.places.shape[1]
        moves = place[stays] * places + place[stays + 1]
        found = [
            one * places**2 + moves[np.isin(person[stays], member[community == one])]
            for one in range(len(model.places))
        ]
        made, counts = np.unique(np.concatenate(found), return_counts=True)
        return Transport(made.astype(np.int64), np.cumsum(counts).astype(np.int64), places)

    def following(self, community: Integers, place: Integers, chance: np.random.Generator) -> Integers:
        """Draw where one goes next by how often members went there; −1 where none went on from there."""
        if not len(self.moves):
            return np.full(len(place), -1, dtype=np.int64)
        first = np.searchsorted(self.moves, (community * self.places + place) * self.places)
        last = np.searchsorted(self.moves, (community * self.places + place + 1) * self.places)
        ends = np.append(0, self.ends)
        lot = ends[first] + (chance.random(len(place)) * (ends[last] - ends[first])).astype(np.int64)
        found = np.searchsorted(self.ends, lot, side="right")
        moves = self.moves[np.minimum(found, len(self.moves) - 1)]
        return np.where(last > first, moves % self.places, -1)

    def own(self, community: int) -> Integers:
        """Return where the moves of a community stand."""
        return np.flatnonzero(self.moves // self.places**2 == community)

    def usual(self, community: int, most: int) -> list[tuple[int, int, int]]:
        """Return the most frequent moves of a community: from, to, how often."""
        own = self.own(community)
        counts = np.diff(self.ends, prepend=0)[own]
        first = np.argsort(-counts, kind="stable")[:most]
        moves = self.moves[own[first]] % self.places**2
        return list(
            zip(
                (moves // self.places).tolist(),
                (moves % self.places).tolist(),
                counts[first].tolist(),
                strict=True,
            )
        )


def share_places(visits: Visits, people: Integers) -> csr_matrix:
    """Return how many places each two of some people share: the weights of a graph without loops."""
    where = visits.of_places(people)
    shared = (where @ where.T).tocsr()
    shared.setdiag(0)
    shared.eliminate_zeros()
    return shared


def find_groups(weights: csr_matrix, chance: np.random.Generator) -> Integers:
    """Return the group of every node of a graph by Louvain's method, which finds out how many there are.

    Parameters
    ----------
    weights
        Of the edges, symmetric; without loops.
    chance
        In which order nodes are looked at.

    Notes
    -----
    V. Blondel, J.-L. Guillaume, R. Lambiotte, E. Lefebvre, "Fast unfolding of communities in large networks"
    (2008): nodes move to the neighbouring group that raises modularity the most, then groups are the nodes.
    """
    from scipy.sparse import csr_matrix

    found = np.arange(weights.shape[0], dtype=np.int64)
    while weights.nnz:
        _, group = np.unique(_moved(weights, chance), return_inverse=True)
        found = group[found]
        if group.max() + 1 == len(group):
            break
        of = csr_matrix((np.ones(len(group)), (np.arange(len(group)), group)))
        weights = (of.T @ weights @ of).tocsr()  # the diagonal holds each edge inside a group twice
    return found


def _moved(weights: csr_matrix, chance: np.random.Generator) -> Integers:
    """Return groups of nodes of which none would gain by moving alone."""
    of_node = np.asarray(weights.sum(axis=1)).ravel()
    group, of_group, total = np.arange(len(of_node)), of_node.copy(), float(of_node.sum())
    still = False
    while not still:
        still = True
        for node in chance.permutation(len(group)).tolist():
            near = slice(weights.indptr[node], weights.indptr[node + 1])
            others = weights.indices[near]
            edges = np.where(others == node, 0.0, weights.data[near])
            kinds, place = np.unique(np.append(group[others], group[node]), return_inverse=True)
            joined = np.bincount(place, np.append(edges, 0.0))
            of_group[group[node]] -= of_node[node]
            gain = joined - of_node[node] * of_group[kinds] / total
            best = int(gain.argmax())
            if gain[best] > gain[place[-1]] + 1e-9 * total:  # the last of them is where it is now
                group[node], still = kinds[best], False
            of_group[group[node]] += of_node[node]
    return group


def agreement(one: Integers, other: Integers) -> float:
    """Return how alike two divisions of people are: the adjusted Rand index, 0 by chance and 1 at best.

    Notes
    -----
    L. Hubert, P. Arabie, "Comparing partitions" (1985).
    """
    from sklearn.metrics import adjusted_rand_score  # on first use, as above

    return float(adjusted_rand_score(one, other))


def _walked(
    model: Communities, transport: Transport, person: Integers, chance: np.random.Generator
) -> Integers:
    """Walk along the moves of each person's main community; where nobody went on, draw a place of it."""
    lengths = np.bincount(person)
    starts = np.cumsum(lengths) - lengths
    place = np.zeros(len(person), dtype=np.int64)
    for step in range(int(lengths.max(initial=0))):
        own = np.flatnonzero(lengths > step)
        of = model.chosen[own]
        fresh = _choose(model.places, of, chance)
        if step:
            moved = transport.following(of, place[starts[own] + step - 1], chance)
            fresh = np.where(moved >= 0, moved, fresh)
        place[starts[own] + step] = fresh
    return place


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
        Of all invented traces, those with exactly the places of some real person.
    alone
        Those of them with the places of a person who is the only one with just these.
    """

    unlike: Rate
    largest: Floats
    copies: Rate
    alone: int


def likeness(invented: Visits, real: Visits, *, chance: np.random.Generator) -> Likeness:
    """Compare invented traces with all real ones: some, drawn by lot, by similarity, and all for copies."""
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
    owners = Counter(_sets(real))
    equal = [owners[one] for one in _sets(invented)]
    return Likeness(
        Rate(unlike, len(drawn) * people),
        np.concatenate(largest),
        Rate(sum(one > 0 for one in equal), len(equal)),
        sum(one == 1 for one in equal),
    )


def _sets(visits: Visits) -> list[bytes]:
    """Return the set of places of every person, as something that can be counted."""
    _, places, _ = visits.sizes
    pairs = arrays.distinct(visits.person * places + visits.place)
    starts = np.flatnonzero(np.diff(pairs // places)) + 1
    return [one.tobytes() for one in np.split(pairs % places, starts)]
