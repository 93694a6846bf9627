"""Topic models of traces on data of the published size: what was published beside what is found here.

A. Dandekar, "Privacy risk of releasing data and models", NUS 2019, chapter 5: 1,000 people in each of ten
communities, 10,000 places, lengths of traces by a gamma distribution (6, 1.2), places by Zipf's law in every
community. Published: communities are found; more than 80 % of pairs of an invented and a real trace have a
Jaccard similarity below 0.2. The data are not at hand: these are drawn by the same law. Found here (one run,
exponent 1.2, 72,000 visits, 60 sweeps):

| | right community | topic utility | pairs below 0.2 | closest real (median) | copies | of one alone |
|---|---|---|---|---|---|---|
| by place, walked | .995 | .999 | 98.1 % | .46 | 1.5 % | 1.0 % |
| by place, each visit drawn | | .96 | 98.8 % | .38 | .3 % | .2 % |
| by time | .39 | | | | | |
| by place and time, walked | .997 | 1.000 | 98.3 % | .45 | 1.5 % | .9 % |
| by place and time, each visit drawn | | .96 | 98.7 % | .40 | .6 % | .3 % |

With exponent .8 places overlap more: .82 by place, .89 by both. Published traces walk along a graph of
transport of one community, here as an alternative to drawing each visit from the communities of one person.
The published measure holds, and is no protection: the closest real trace is far above 0.2, and some invented
ones are exactly somebody's. Beside it, published: Louvain's method finds far too many communities. On 1,000
of these people, joined by the places that they share, it finds 11, of which one is of one person, and .99 are
right: not too many. With exponent .8 it finds 21, of which 11 are of one person, and .79 are right. (networkx
finds as many, and the same modularity: .8777 and .690.)
"""

from __future__ import annotations

import numpy as np
import pytest

from engine.risk.communities import (
    INVENTED,
    JOINED,
    Visits,
    find_groups,
    invent,
    learn,
    likeness,
    share_places,
    utility,
)
from tests.engine.risk.modularity import modularity
from tests.engine.risk.test_communities import right

COMMUNITIES, EACH, PLACES = 10, 1_000, 10_000


def published_size(exponent: float, seed: int) -> tuple[Visits, np.ndarray]:
    chance = np.random.default_rng(seed)
    truth = np.repeat(np.arange(COMMUNITIES), EACH)
    lengths = np.maximum(1, np.rint(chance.gamma(6, 1.2, size=len(truth)))).astype(int)
    person = np.repeat(np.arange(len(truth)), lengths)
    shares = np.arange(1, PLACES + 1) ** -exponent
    orders = np.array([chance.permutation(PLACES) for _ in range(COMMUNITIES)])
    place = orders[truth[person], chance.choice(PLACES, len(person), p=shares / shares.sum())]
    hours = (truth[person] * 2 + 8 + np.rint(chance.normal(0, 3, len(person))).astype(int)) % 24
    return Visits(person, place, hours), truth


@pytest.mark.slow
@pytest.mark.parametrize(
    ("form", "least", "most"), [("place", 0.98, 1), ("time", 0.3, 0.55), ("place_time", 0.98, 1)]
)
def test_communities_of_the_published_size(form: str, least: float, most: float) -> None:
    visits, truth = published_size(1.2, 1)
    chance = np.random.default_rng(2)
    model = learn(visits, COMMUNITIES, form=form, sweeps=60, chance=chance)
    assert least <= right(model.chosen, truth) <= most
    if form == "time":
        return  # communities with overlapping hours cannot be told apart by them
    for how in INVENTED:
        invented = invent(model, visits, how, chance)
        assert utility(model, invented, form=form) > 0.9
        alike = likeness(invented, visits, chance=chance)
        assert alike.unlike.share > 0.8  # published
        assert np.median(alike.largest) > 0.3 and alike.largest.max() > 0.8  # what that does not say
        assert alike.copies.successes > 0


@pytest.mark.parametrize(
    ("exponent", "groups", "correct", "quality"), [(1.2, 11, 0.99, 0.8777), (0.8, 21, 0.79, 0.690)]
)
def test_louvain_on_data_of_the_published_law(
    exponent: float, groups: int, correct: float, quality: float
) -> None:
    visits, truth = published_size(exponent, 1)
    chance = np.random.default_rng(5)
    drawn = np.sort(chance.permutation(len(truth))[:JOINED])
    graph = share_places(visits, drawn)
    found = find_groups(graph, chance)
    assert abs(int(found.max()) + 1 - groups) <= 1
    assert modularity(graph, found) == pytest.approx(quality, abs=0.003)
    assert right(found, truth[drawn]) == pytest.approx(correct, abs=0.03)
