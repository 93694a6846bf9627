"""What is paid for is what is drawn, nobody's row moves more, and nothing else steers a step."""

from dataclasses import replace
from fractions import Fraction
from math import prod

import numpy as np
import pytest

from engine.methods.datasets.marginal_model import rounds
from engine.methods.datasets.marginal_model.rounds import Candidate, learn
from engine.methods.datasets.marginal_model.sampling import rows_of
from engine.methods.datasets.marginal_model.schedule import Schedule
from engine.privacy.accounting import certified_delta
from engine.privacy.events import Neighbours
from engine.privacy.noise import Noise
from tests.noise_source import seeded_bytes, seeded_noise

SIZES = (3, 6, 2, 5, 4)
ORDERED = (0, 5, 0, 4, 0)
GAUSS, LAPLACE = Fraction(1, 10**6), Fraction(0)


def schedule(delta=GAUSS, epsilon=Fraction(2), moved=1, rows=3000, sizes=SIZES):
    return Schedule(tuple(sizes), epsilon, delta, moved, moved**2, rows)


def named(*tables, **options):
    return replace(schedule(**options), named=tables)


def some_rows(seed=1, n=3000):
    chance = np.random.default_rng(seed)
    first = chance.integers(0, 3, n)
    rows = [first, (first * 2 + chance.integers(0, 2, n)) % 6]
    rows += [chance.integers(0, size, n) for size in SIZES[2:]]
    return np.array(rows)


@pytest.mark.parametrize("delta", [GAUSS, LAPLACE])
@pytest.mark.parametrize("rows", [40, 3000, 10**6])
def test_the_parts_cost_no_more_than_the_whole(delta, rows):
    plan = schedule(delta, rows=rows, moved=3)
    leaves = plan.events.together(Neighbours.ADD_REMOVE)
    if delta:
        assert certified_delta(leaves, float(plan.epsilon)) <= float(delta)
    else:
        spent = sum(leaf.epsilon() for leaf in leaves)
        assert Fraction(999, 1000) * plan.epsilon < spent <= plan.epsilon


@pytest.mark.parametrize("delta", [GAUSS, LAPLACE])
@pytest.mark.parametrize("n", [0, 1, 3000])
def test_what_is_drawn_is_what_is_declared_whatever_the_rows_are(delta, n):
    plan, noise = schedule(delta), seeded_noise(4)
    learn(some_rows()[:, :n], plan, ordered=ORDERED, noise=noise)
    assert noise.counted == plan.events.drawn()


def test_a_model_without_room_for_any_pair_measures_single_columns_instead():
    plan = schedule(sizes=(300, 300, 2, 300))
    noise = seeded_noise(5)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Schedule, "most_cells", 100)
        learnt = learn(np.zeros((4, 50), dtype=np.int64), plan, ordered=(0, 0, 0, 0), noise=noise)
    assert noise.counted == plan.events.drawn()
    assert all(learnt.model.tree.shape(clique) for clique in learnt.model.tree.cliques)


@pytest.mark.parametrize("seed", range(20))
def test_a_row_moves_one_cell_and_every_score_by_one_at_most(seed):
    chance = np.random.default_rng(seed)
    rows = some_rows(seed, 200)
    more = np.column_stack([rows, [chance.integers(0, size) for size in SIZES]])
    plan = schedule()
    measured = learn(rows, plan, ordered=ORDERED, noise=seeded_noise(seed)).measured
    candidates = rounds._candidates(measured, plan, ORDERED)
    model = learn(rows, plan, ordered=ORDERED, noise=seeded_noise(seed)).model
    scores = []
    for table in (rows, more):
        counts = [candidate.count(table) for candidate in candidates]
        assert all(count.sum() == table.shape[1] for count in counts)
        scores.append(rounds._scores(model, candidates, counts, plan, seeded_noise(9)))
    moved = np.abs(scores[0] - scores[1])
    assert scores[0].dtype == np.int64 and moved.max() <= 1
    pairs = [np.abs(one.count(rows) - one.count(more)).sum() for one in candidates]
    assert set(pairs) == {1}


class Replayed(Noise):
    """A door whose noise makes every answer the same as in another run."""

    def __init__(self, answers):
        super().__init__(seeded_bytes(1))
        self.answers = list(answers)

    def exponential_choice(self, scores, *, rate):
        return self.answers.pop(0)


def test_only_answers_steer_what_is_asked_next(monkeypatch):
    """With the same released answers, a neighbour is asked the same questions, in the same shapes."""
    asked, answers = [], []
    measure = rounds._measure
    choose = Noise.exponential_choice

    def recorded(candidate, exact, plan, scale, noise):
        asked[-1].append((candidate.attributes, candidate.shape, scale))
        if len(asked) == 1:
            answers.append(measure(candidate, exact, plan, scale, noise))
            return answers[-1]
        return answers[len(asked[-1]) - 1]

    chosen = []

    def recorded_choice(self, scores, *, rate):
        chosen.append(choose(self, scores, rate=rate))
        return chosen[-1]

    monkeypatch.setattr(rounds, "_measure", recorded)
    monkeypatch.setattr(Noise, "exponential_choice", recorded_choice)
    rows = some_rows()
    asked.append([])
    learn(rows, schedule(), ordered=ORDERED, noise=seeded_noise(1))
    asked.append([])
    learn(rows[:, 1:], schedule(), ordered=ORDERED, noise=Replayed(chosen))
    assert asked[0] == asked[1]


@pytest.mark.parametrize("delta", [GAUSS, LAPLACE])
@pytest.mark.parametrize("lied", ["pair", "single", "rate"])
def test_less_noise_than_was_paid_for_is_found_by_the_accountant(delta, lied):
    plan, less = schedule(delta, moved=2, epsilon=Fraction(1)), schedule(delta, moved=2, epsilon=Fraction(1))
    half = {
        "pair": lambda: plan.pair / 2,
        "single": lambda: tuple(scale / 2 for scale in plan.single),
        "rate": lambda: plan.rate * 4,
    }
    less.__dict__[lied] = half[lied]()
    leaves = less.events.together(Neighbours.ADD_REMOVE)
    if delta:
        assert certified_delta(leaves, float(plan.epsilon)) > float(delta)
    else:
        assert sum(leaf.epsilon() for leaf in leaves) > plan.epsilon


def test_pairs_that_belong_together_are_found_and_kept():
    rows = some_rows()
    noise = seeded_noise(3)
    learnt = learn(rows, schedule(epsilon=Fraction(8)), ordered=ORDERED, noise=noise)
    assert (0, 1) in learnt.model.pairs
    drawn = rows_of(learnt.model, 3000, noise)
    true, made = (np.bincount(t[0] * 6 + t[1], minlength=18) / 3000 for t in (rows, drawn))
    assert np.abs(true - made).sum() / 2 < 0.05


def test_few_rows_get_single_columns_alone_and_it_is_known_beforehand():
    few = schedule(epsilon=Fraction(1, 10), rows=100)
    assert few.only_single and few.pairs == 0 and few.single_share == 1
    learnt = learn(some_rows(n=100), few, ordered=ORDERED, noise=seeded_noise(6))
    assert learnt.model.pairs == []


def test_candidates_are_tables_of_every_pair():
    plan = schedule(rows=1000)
    measured = learn(some_rows(), plan, ordered=ORDERED, noise=seeded_noise(1)).measured
    found = rounds._candidates(measured, plan, ORDERED)
    assert {one.attributes for one in found if len(one.attributes) == 2} == {
        (a, b) for a in range(5) for b in range(a + 1, 5)
    }
    assert Candidate((0,), (np.arange(3),)).shape == (3,)


@pytest.mark.parametrize("delta", [GAUSS, LAPLACE])
def test_where_no_pair_is_worth_its_noise_single_columns_are_measured_again(delta):
    """Columns that have nothing to do with each other, and few rows: as much is drawn as is paid for."""
    chance = np.random.default_rng(2)
    rows = np.array([chance.integers(0, size, 400) for size in SIZES])
    epsilons = (Fraction(k, 2) for k in range(1, 40))
    plan = next(p for e in epsilons if 30 < (p := schedule(delta, e, rows=400)).rows_per_deviation < 100)
    assert plan.is_thin and not plan.only_single
    again = []
    for seed in range(6):
        noise = seeded_noise(seed)
        measured = learn(rows, plan, ordered=ORDERED, noise=noise).measured
        assert noise.counted == plan.events.drawn() and len(measured) == len(SIZES) + plan.pairs
        again += [one for one in measured[len(SIZES) :] if len(one.attributes) == 1]
    assert again


@pytest.mark.parametrize("delta", [GAUSS, LAPLACE])
@pytest.mark.parametrize("place", [0, 1])
def test_first_tables_of_a_rare_target_stand_against_their_noise(delta, place):
    """With all 33 cells the noise on its 200 rows of the rarer class was three times as many."""
    chance = np.random.default_rng(4)
    seen = chance.integers(0, 33, 6000)
    rare = (chance.random(6000) < seen / 500).astype(np.int64)
    rows, sizes, ordered = [seen, chance.integers(0, 33, 6000)], [33, 33], [32, 32]
    rows.insert(place, rare), sizes.insert(place, 2), ordered.insert(place, 0)
    plan = replace(schedule(delta, epsilon=Fraction(3, 2), rows=6000, sizes=sizes), has_target=True)
    noise = seeded_noise(8)
    learnt = learn(np.array(rows), plan, ordered=ordered, noise=noise, target=place)
    assert noise.counted == plan.events.drawn()
    first = learnt.measured[3 : 3 + plan.star]
    assert all(place in one.attributes for one in first) and len(first) == 2
    for one in first:
        assert one.counts.shape[one.attributes.index(place)] == 2
        assert rounds.FEWEST_TELLING <= one.counts.size / 2 <= 12
        assert one.deviation * one.counts.size / 2 < 1.2 * rare.sum()


def test_a_class_of_a_few_rows_does_not_make_all_first_tables_coarse():
    with_few, without = (
        rounds._telling(np.array(one), 20.0, columns=5) for one in ([3000.0, 2500, 4], [3000.0, 2500])
    )
    assert with_few == without > 2 * rounds.FEWEST_TELLING


def test_a_row_moves_a_score_by_one_at_most():
    rows = some_rows(7, 200)
    more = np.column_stack([rows, [0, 1, 1, 0, 3]])
    plan = schedule()
    learnt = learn(rows, plan, ordered=ORDERED, noise=seeded_noise(7))
    candidates = rounds._candidates(learnt.measured, plan, ORDERED)
    less, later = (
        rounds._scores(learnt.model, candidates, [c.count(t) for c in candidates], plan, seeded_noise(9))
        for t in (rows, more)
    )
    assert np.abs(less - later).max() == 1


# --- named tables ---------------------------------------------------------------------------------

THREE = ((0, 1), (0, 2, 3), (1, 4))


@pytest.mark.parametrize("delta", [GAUSS, LAPLACE])
@pytest.mark.parametrize("tables", [(), THREE])
@pytest.mark.parametrize("rows", [40, 10**6])
def test_single_columns_and_named_tables_cost_the_whole_budget_and_no_more(delta, tables, rows):
    plan = named(*tables, delta=delta, rows=rows, moved=3)
    leaves = plan.events.together(Neighbours.ADD_REMOVE)
    if delta:
        assert certified_delta(leaves, float(plan.epsilon)) <= float(delta)
        spent = sum(one.count * float(one.sensitivity / one.scale) ** 2 / 2 for one in leaves)
        assert 0.999 * plan.budget < spent <= plan.budget
    else:
        assert Fraction(999, 1000) * plan.epsilon < sum(leaf.epsilon() for leaf in leaves) <= plan.epsilon


@pytest.mark.parametrize("delta", [GAUSS, LAPLACE])
@pytest.mark.parametrize("n", [0, 1, 3000])
def test_named_tables_are_measured_once_each_and_nothing_is_chosen(delta, n):
    plan, noise = named(*THREE, delta=delta), seeded_noise(4)
    learnt = learn(some_rows()[:, :n], plan, ordered=ORDERED, noise=noise)
    assert noise.counted == plan.events.drawn()
    assert [one.attributes for one in learnt.measured] == [(0,), (1,), (2,), (3,), (4,), *THREE]
    assert not plan.rounds and not any("exponential" in str(draw) for draw in noise.counted)


def test_the_noise_of_named_tables_makes_the_sum_of_all_errors_least():
    """Any other division of the same budget has a larger sum over all cells of the mean error of a cell."""
    for delta in (GAUSS, LAPLACE):
        plan, power = named(*THREE, delta=delta), 2 if delta else 1
        scales = np.array([float(scale) for scale in (*plan.single, *plan.together)])
        cells = np.array([*SIZES, *(prod(SIZES[one] for one in table) for table in THREE)])
        costs = scales**-power
        least = (cells * scales).sum()
        for seed in range(50):
            other = costs * np.random.default_rng(seed).uniform(0.7, 1.4, len(costs))
            other *= costs.sum() / other.sum()
            assert (cells * other ** (-1 / power)).sum() > least


def test_a_relation_of_three_columns_is_kept_where_it_is_named():
    """The third is the first plus the second, which no two of the three tell anything of."""
    chance = np.random.default_rng(8)
    rows = chance.integers(0, 2, (3, 4000))
    rows[2] = rows[0] ^ rows[1]
    plan = Schedule((2, 2, 2), Fraction(4), LAPLACE, 1, 1, 4000, named=((0, 1, 2),))
    noise = seeded_noise(8)
    learnt = learn(rows, plan, ordered=(0, 0, 0), noise=noise)
    drawn = rows_of(learnt.model, 4000, noise)
    assert np.mean(drawn[2] == drawn[0] ^ drawn[1]) > 0.99
    apart = learn(rows, replace(plan, named=((0, 1), (1, 2), (0, 2))), ordered=(0, 0, 0), noise=noise)
    drawn = rows_of(apart.model, 4000, noise)
    assert np.mean(drawn[2] == drawn[0] ^ drawn[1]) < 0.55
