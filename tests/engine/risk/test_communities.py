"""Communities of people: found where they are, invented traces and what their likeness does not see."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_matrix

from engine.analyses.catalogue import analysis, ask
from engine.errors import InputRefused
from engine.methods.protocol import MAIN
from engine.risk.communities import (
    AVERAGED,
    DRAWN,
    FORMS,
    WALKED,
    Communities,
    Transport,
    Visits,
    _choose,
    agreement,
    find_groups,
    invent,
    learn,
    likeness,
    share_places,
    utility,
)
from engine.table.schema import Column, Domain, Kind, Origin, Role, Schema
from engine.table.table import Table
from engine.views import GraphView
from tests.engine.risk.modularity import modularity


def town(each: int = 60, communities: int = 3, places: int = 60) -> tuple[Visits, np.ndarray]:
    """Return visits of communities with their own usual places, and the same hours for the first two."""
    chance = np.random.default_rng(4)
    truth = np.repeat(np.arange(communities), each)
    person = np.repeat(np.arange(len(truth)), 12)
    shares = np.arange(1, places + 1) ** -1.5
    orders = np.array([chance.permutation(places) for _ in range(communities)])
    place = orders[truth[person], chance.choice(places, len(person), p=shares / shares.sum())]
    hours = np.array([6, 6, 18])[truth[person]] + chance.integers(5, size=len(person))
    return Visits(person, place, hours), truth


def right(found: np.ndarray, truth: np.ndarray) -> float:
    """Return the share of people in the right community, under the best naming of communities."""
    table = np.zeros((found.max() + 1, truth.max() + 1))
    np.add.at(table, (found, truth), 1)
    return float(table[linear_sum_assignment(-table)].sum() / len(truth))


@pytest.mark.parametrize(
    ("form", "least", "most"), [("place", 0.95, 1), ("time", 0.5, 0.8), ("place_time", 0.97, 1)]
)
def test_communities_are_found_by_what_tells_them_apart(form: str, least: float, most: float) -> None:
    """By time alone two communities with the same hours cannot be: at best two thirds are right."""
    visits, truth = town()
    model = learn(visits, 3, form=form, sweeps=80, chance=np.random.default_rng(1))
    assert least <= right(model.chosen, truth) <= most
    for shares in (model.people, model.places, model.times):
        assert np.allclose(shares.sum(axis=1), 1)
    assert len(model.likelihood) == 80 and model.likelihood[-AVERAGED:].mean() > model.likelihood[0] - 1
    assert 1 <= model.split < 2


def test_what_did_not_settle_is_told_by_the_split() -> None:
    from dataclasses import replace

    visits, _ = town(each=10)
    model = learn(visits, 3, form="place", sweeps=AVERAGED, chance=np.random.default_rng(1))
    climbing = replace(model, likelihood=np.linspace(-9, -1, AVERAGED))
    assert climbing.split > 1.5 > model.split
    calm = replace(model, likelihood=np.tile([-1.0, -2.0], AVERAGED))
    assert calm.split == 1, "1 at best is what is said of it"
    assert (climbing.settling, calm.settling) == ("unsettled", "settled"), "what is said follows"


def test_draws_from_rows_of_shares_have_their_chances() -> None:
    shares = np.array([[0.2, 0.0, 0.8], [0.5, 0.5, 0.0]])
    rows = np.repeat([0, 1], 20_000)
    found = _choose(shares, rows, np.random.default_rng(2))
    for row in (0, 1):
        counts = np.bincount(found[rows == row], minlength=3) / 20_000
        assert np.abs(counts - shares[row]).max() < 0.015 and (counts[shares[row] == 0] == 0).all()


def test_invented_traces_keep_communities_and_can_be_copies() -> None:
    visits, _ = town()
    chance = np.random.default_rng(3)
    model = learn(visits, 3, form="place", sweeps=60, chance=chance)
    invented = invent(model, visits, DRAWN, chance)
    assert (np.bincount(invented.person) == 12).all()
    assert utility(model, invented, form="place") > 0.9
    found = likeness(invented, visits, chance=chance)
    assert found.largest.mean() > 3 * 0.2 - 0.2, "the closest is far closer than the pairs on average"
    # the measure of pairs calls exact copies of everybody safe: the copies say what they are
    copied = likeness(visits, visits, chance=chance)
    assert copied.copies.share == 1.0 and (copied.largest == 1.0).all()
    assert copied.unlike.share > 0.4


def test_moves_of_members_by_hand() -> None:
    """Two members of one community, one of another: whose moves they are, and where nobody went on."""
    visits = Visits(
        np.array([0, 1, 0, 1, 2, 0, 2]), np.array([0, 0, 1, 1, 0, 2, 2]), np.zeros(7, dtype=np.int64)
    )
    people = np.array([[0.9, 0.1], [0.45, 0.55], [0.1, 0.9]])
    model = Communities(people, np.full((2, 3), 1 / 3), np.ones((2, 1)), np.zeros(AVERAGED))
    transport = Transport.of(model, visits)
    assert transport.usual(0, 3) == [(0, 1, 2), (1, 2, 1)]  # the second is a member of both
    assert transport.usual(1, 3) == [(0, 1, 1), (0, 2, 1)]
    chance = np.random.default_rng(1)
    many = np.zeros(4_000, dtype=np.int64)
    assert set(transport.following(many, many, chance)) == {1}
    assert abs((transport.following(many + 1, many, chance) == 2).mean() - 0.5) < 0.04
    assert set(transport.following(many + 1, many + 1, chance)) == {-1}
    nobody = Transport.of(model, Visits(*(np.arange(3),) * 2, np.zeros(3, dtype=np.int64)))
    assert set(nobody.following(many, many, chance)) == {-1}


def test_walks_make_moves_that_members_made() -> None:
    visits, _ = town()
    chance = np.random.default_rng(3)
    model = learn(visits, 3, form="place", sweeps=60, chance=chance)
    invented = invent(model, visits, WALKED, chance)
    moves = set(zip(visits.place[:-1].tolist(), visits.place[1:].tolist(), strict=True))
    own = np.flatnonzero(np.diff(invented.person) == 0)
    pairs = zip(invented.place[own].tolist(), invented.place[own + 1].tolist(), strict=True)
    ended = {int(one) for one in visits.place[11::12]}  # only from there somebody may not have gone on
    assert all(pair in moves or pair[0] in ended for pair in pairs)
    assert (np.bincount(invented.person) == 12).all() and utility(model, invented, form="place") > 0.9


def test_people_are_joined_by_the_places_that_they_share() -> None:
    """By hand; how often somebody was at a place does not count."""
    visits = Visits(np.array([0, 0, 0, 1, 1, 2, 3]), np.array([0, 0, 1, 0, 1, 1, 2]), np.zeros(7, np.int64))
    found = share_places(visits, np.arange(4)).toarray()
    assert found.tolist() == [[0, 2, 1, 0], [2, 0, 1, 0], [1, 1, 0, 0], [0, 0, 0, 0]]
    assert share_places(visits, np.array([0, 2])).toarray().tolist() == [[0, 1], [1, 0]]
    groups = find_groups(share_places(visits, np.arange(4)), np.random.default_rng(1))
    assert agreement(groups, np.array([0, 0, 0, 1])) == 1.0, "who shares no place is alone"
    assert find_groups(share_places(visits, np.array([3])), np.random.default_rng(1)).tolist() == [0]


def test_modularity_by_its_definition_and_louvain_near_the_best_of_all_divisions() -> None:
    """By enumeration of all divisions of seven nodes: Σ (A_ij − k_i k_j / 2m) / 2m over pairs of a group."""
    chance, divisions = np.random.default_rng(6), [[0]]
    for _ in range(6):
        divisions = [[*one, group] for one in divisions for group in range(max(one) + 2)]
    assert len(divisions) == 877  # Bell's number
    for _ in range(12):
        weights = np.triu(chance.integers(0, 4, size=(7, 7)) * (chance.random((7, 7)) < 0.6), 1)
        weights = weights + weights.T
        degree, total = weights.sum(axis=1), weights.sum()
        left = (weights - np.outer(degree, degree) / total) / total
        graph = csr_matrix(weights.astype(float))
        every = [float(left[np.equal.outer(one, one)].sum()) for one in map(np.array, divisions)]
        found = find_groups(graph, chance)
        own = modularity(graph, found)
        assert own == pytest.approx(left[np.equal.outer(found, found)].sum(), abs=1e-12)
        assert 0.8 * max(every) - 1e-9 <= own <= max(every) + 1e-12


def test_louvain_finds_communities_and_how_many_there_are() -> None:
    visits, truth = town()
    graph = share_places(visits, np.arange(len(truth)))
    found = find_groups(graph, np.random.default_rng(2))
    assert right(found, truth) > 0.95 and 3 <= found.max() + 1 <= 5
    assert modularity(graph, found) >= modularity(graph, truth) - 1e-3
    for node in range(0, len(truth), 9):  # no node gains by moving alone
        for group in range(found.max() + 1):
            moved = found.copy()
            moved[node] = group
            assert modularity(graph, moved) <= modularity(graph, found) + 1e-9


def test_agreement_by_pairs() -> None:
    one, other = np.array([0, 0, 0, 1, 1, 2]), np.array([1, 1, 0, 0, 0, 2])
    both = sum((one[i] == one[j]) & (other[i] == other[j]) for i in range(6) for j in range(i))
    first, second = (sum(a[i] == a[j] for i in range(6) for j in range(i)) for a in (one, other))
    expected = first * second / 15
    assert agreement(one, other) == pytest.approx((both - expected) / ((first + second) / 2 - expected))
    assert agreement(one, 2 - one) == 1.0
    chance = np.random.default_rng(3)
    assert abs(agreement(chance.integers(4, size=4000), chance.integers(6, size=4000))) < 0.01


def test_jaccard_by_hand() -> None:
    real = Visits(np.array([0, 0, 1, 1, 1]), np.array([0, 1, 1, 2, 2]), np.zeros(5, dtype=np.int64))
    invented = Visits(np.array([0, 0, 1, 1, 1]), np.array([0, 1, 0, 0, 0]), np.zeros(5, dtype=np.int64))
    found = likeness(invented, real, chance=np.random.default_rng(1))
    # {0, 1} with {0, 1} and {1, 2}: 1 and 1/3; {0} with them: 1/2 and 0
    assert sorted(found.largest.tolist()) == [0.5, 1.0]
    assert (found.unlike.successes, found.unlike.attacks, found.copies.successes) == (1, 4, 1)
    assert found.alone == 1
    twice = Visits(np.array([0, 0, 1, 1]), np.array([0, 1, 1, 0]), np.zeros(4, dtype=np.int64))
    both = likeness(twice, twice, chance=np.random.default_rng(1))
    assert (both.copies.successes, both.alone) == (2, 0), "who is not alone with their places"


DECLARED = {"domain_origin": Origin.DECLARED}
SCHEMA = Schema(
    (
        Column("who", Role.PERSON_KEY),
        Column("ward", Role.PLACE, Kind.CATEGORY),
        Column("at", Role.TIME, Kind.MOMENT, Domain("2026-01-05T00:00", "2026-02-01T23:59"), **DECLARED),
        Column("day", Role.TIME, Kind.DATE),
    )
)


def log() -> Table:
    rows = [
        (
            str(one),
            "AB"[one % 2] + str(step % 3),
            f"2026-01-0{5 + step}T{8 + 10 * (one % 2):02d}:30",
            f"2026-01-0{5 + step}",
        )
        for one in range(40)
        for step in range(4)
    ]
    rows += [("40", None, "2026-01-05T08:30", "2026-01-05"), ("40", "A0", None, None)]
    return Table(pd.DataFrame(rows, columns=["who", "ward", "at", "day"], dtype="str"))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("moment", ["at", "day"])
def test_the_analysis_answers_for_moments_and_days(form: str, moment: str) -> None:
    values = {"place": "ward", "form": form, "communities": 2, "sweeps": 60}
    if form != "place":
        values["moment"] = moment
    answer = ask(analysis("communities"), values, tables={MAIN: log()}, schemas={MAIN: SCHEMA})
    assert answer.stays and sum(answer.figures["sizes"]) in (40, 41)
    if form == "place" or moment == "at":
        assert sorted(answer.figures["sizes"])[0] >= 19
    said = [one.id.rpartition(".")[2] for one in answer.views[0].paragraphs]
    assert said.index("blind") == said.index("unlike") + 1, "the published measure is never said alone"
    assert answer.figures["louvain"]["groups"] >= 2 and "louvain" in said
    if form == "place":
        assert answer.figures["louvain"]["alike"] > 0.9
        graphs = [one for one in answer.views if isinstance(one, GraphView)]
        # by hand: everybody goes from step 0 to 1 to 2 and back to 0, within the wards of their half
        assert len(graphs) == 2 and sorted(graphs[0].nodes)[0][0] == sorted(graphs[0].nodes)[-1][0]
        for one in graphs:
            named = {(one.nodes[a][1], one.nodes[b][1]): n for a, b, n in one.edges}
            assert named == {("0", "1"): 20.0, ("1", "2"): 20.0, ("2", "0"): 20.0}


def test_what_is_too_much_is_refused_before_it_begins() -> None:
    values = {"place": "ward", "form": "place", "communities": 2, "sweeps": 60}
    empty = Table(log().rows().iloc[:0])
    with pytest.raises(InputRefused, match=r"analyses\.communities_size"):
        ask(analysis("communities"), values, tables={MAIN: empty}, schemas={MAIN: SCHEMA})
