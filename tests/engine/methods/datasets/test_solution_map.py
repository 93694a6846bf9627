"""The map of combinations against the definitions on the rows, and the combination that somebody takes."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from engine.errors import InputRefused
from engine.methods.datasets import coarser_rows as maps
from engine.methods.datasets.coarser_rows import solution_map
from engine.methods.datasets.full_domain import Lattice, search
from engine.methods.datasets.losses import Loss
from engine.methods.datasets.solution import _why_not
from tests.engine.methods.datasets.test_k_anonymity import made as released
from tests.engine.methods.datasets.test_recoding import ByHand, drawn, prepared

NAMES = ("t", "number", "sex")
GIVEN = {"columns": ["age", "town", "seen", "result"], "k": 5, "most_left_out": 0.1}


def mapped(seed: int, loss: Loss, *, k: int = 2, most: int = 2, least=(0, 0, 0), taken=None):
    table, person = drawn(seed)
    codes, members, ladders, _ = prepared(table, person)
    lattice = Lattice(codes, members, ladders, k=k, most_left_out=most, loss=loss)
    found = search(lattice)
    assert found is not None
    share = loss is Loss.CERTAINTY
    return ByHand(table, person), solution_map(lattice, found, NAMES, least=least, taken=taken, share=share)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("loss", [Loss.CERTAINTY, Loss.DISCERNIBILITY])
def test_every_combination_says_what_the_rows_say(seed: int, loss: Loss) -> None:
    by_hand, shown = mapped(seed, loss)
    assert len(shown.candidates) == shown.possible and shown.proven
    for one in shown.candidates:
        groups, _ = by_hand.groups(one.steps)
        kept = by_hand.kept(one.steps, 2)
        stays = {entry[-1] for text in kept for entry in groups[text]}
        owners = [{entry[-1] for entry in rows} for rows in groups.values()]
        alone = set().union(*(people for people in owners if len(people) == 1))
        assert one.left_out == len(by_hand.everybody - stays) and one.alone == len(alone), one.steps
        assert one.alone <= shown.people, "people, however many rows each has"
        assert one.holds == (bool(kept) and one.left_out <= 2)
        if one.holds:
            assert one.lost == pytest.approx(by_hand.losses(one.steps, 2, 2)[loss.value])
    best = shown.candidates[shown.best]
    assert best.holds and best.lost == min(one.lost for one in shown.candidates if one.holds)
    assert shown.taken == shown.best and best.changes == {"steps": dict(zip(NAMES, best.steps, strict=True))}


@pytest.mark.parametrize("least", [(0, 0, 0), (1, 0, 1)])
def test_rows_stand_as_they_are_and_as_they_read_on_each_step(least: tuple[int, ...]) -> None:
    by_hand, shown = mapped(3, Loss.CERTAINTY, least=least)
    cells = list(zip(*(own.rows[0] for own in shown.ladders), strict=True))
    known = {tuple(text) for text in by_hand.groups((0, 0, 0))[0]}
    assert 1 < len(cells) <= 10 and set(cells) <= known
    for one in shown.candidates:
        read = zip(
            *(own.rows[step + 1] for own, step in zip(shown.ladders, one.steps, strict=True)), strict=True
        )
        assert set(read) <= {tuple(text) for text in by_hand.groups(one.steps)[0]}


def test_steps_that_may_not_be_taken_are_not_in_the_map() -> None:
    _, shown = mapped(1, Loss.CERTAINTY, least=(1, 0, 1))
    assert {one.steps[0] for one in shown.candidates} == {1, 2, 3}
    assert {one.steps[2] for one in shown.candidates} == {1}
    assert len(shown.candidates) == shown.possible == 3 * 4


def test_of_very_many_those_around_the_best_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(maps, "MOST_DRAWN", 10)
    monkeypatch.setattr(maps, "MOST_BESIDE", 5)
    _, shown = mapped(1, Loss.CERTAINTY, taken=(3, 3, 1))
    assert shown.possible == 32 > len(shown.candidates)
    for place in (shown.best, shown.taken):
        around = {
            sum(abs(a - b) for a, b in zip(one.steps, shown.candidates[place].steps, strict=True))
            for one in shown.candidates
        }
        assert {0, 1} <= around


def test_the_very_steps_are_taken(tmp_path: Path) -> None:
    steps = {"age": 2, "town": 1, "seen": 4}
    release, _ = released({**GIVEN, "steps": steps}, tmp_path=tmp_path)
    frame = release.artefacts[0].frame
    assert set(frame["town"]) <= {"80**", "10**", "*", ""} and frame["seen"].str.len().max() == 4
    assert release.inside.figures["combinations_tried"] == 1
    free, _ = released(GIVEN, tmp_path=tmp_path)
    assert free.inside.figures["loss"] <= release.inside.figures["loss"]


def test_of_steps_taken_by_hand_nothing_is_said_about_the_others(tmp_path: Path) -> None:
    release, _ = released({**GIVEN, "steps": {"age": 2, "town": 1, "seen": 4}}, tmp_path=tmp_path)
    free, _ = released(GIVEN, tmp_path=tmp_path)
    assert "least_loss" not in release.inside.figures and "least_loss" in free.inside.figures


def test_one_step_finer_loses_more_only_where_it_does() -> None:
    table, person = drawn(1)
    codes, members, ladders, _ = prepared(table, person)
    lattice = Lattice(codes, members, ladders, k=2, most_left_out=2, loss=Loss.CERTAINTY)
    best, coarsest = search(lattice), tuple(size - 1 for size in lattice.shape)
    assert best is not None and lattice.look(coarsest).holds
    seen = set()
    for steps in product(*map(range, lattice.shape)):
        for place in (place for place, step in enumerate(steps) if step):
            here = lattice.look(steps)
            finer = lattice.look((*steps[:place], steps[place] - 1, *steps[place + 1 :]))
            if here.holds and finer.holds:
                said = _why_not(lattice, finer, here.loss)
                assert (said == "loses_less") == (finer.loss < here.loss)
                assert (said == "loses_more") == (finer.loss > here.loss)
                seen.add(said)
    assert "loses_less" in seen


def test_steps_that_do_not_hold_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputRefused) as refused:
        released({**GIVEN, "steps": {"age": 0}}, tmp_path=tmp_path)
    assert refused.value.code == "grouping.too_many_left_out"


def test_of_a_large_table_only_the_nearest_are_looked_at_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is one step away from the best one is told in words, so it is looked at in any case."""
    monkeypatch.setattr(maps, "SECONDS_DRAWN", -1.0)
    _, shown = mapped(3, Loss.CERTAINTY)
    best, shape = shown.candidates[shown.best].steps, [len(own.sizes) for own in shown.ladders]
    steps = {one.steps for one in shown.candidates}
    near = {
        (*best[:place], best[place] + by, *best[place + 1 :])
        for place in range(3)
        for by in (-1, 1)
        if 0 <= best[place] + by < shape[place]
    }
    assert steps == near | {best} and len(steps) < shown.possible
    assert min(one.lost for one in shown.candidates if one.holds) == shown.candidates[shown.best].lost
