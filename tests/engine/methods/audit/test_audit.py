"""Every method of the catalogue keeps its promise as far as an audit can see, and no sabotaged copy does."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest

from engine.methods.catalogue import methods
from engine.methods.protocol import Method
from engine.privacy.mechanisms import SeededRows
from engine.privacy.promise import promise_kinds
from engine.release.examples import plans
from engine.release.plan import Plan
from tests.engine.battery.distributions import CheckFailed
from tests.engine.battery.replay import Recorder
from tests.engine.methods.audit import recount, replay, seeds
from tests.engine.methods.audit.audits import PEOPLE, audit_of, audited
from tests.engine.methods.audit.sabotage import RECOUNTED, Sabotage, sabotages
from tests.engine.methods.audit.tables import bench, neighbours

EVERY = pytest.mark.parametrize("method", methods(), ids=lambda one: one.id)
SABOTAGED = pytest.mark.parametrize(
    ("method", "sabotage"),
    [pytest.param(one, done, id=f"{one.id} {done.__name__}") for one in methods() for done in sabotages(one)],
)


@pytest.mark.guarantee
@EVERY
def test_a_method_keeps_its_promise(method: Method) -> None:
    assert list(audited(method)) == []


@pytest.mark.slow
@EVERY
def test_a_method_keeps_its_promise_with_other_caps_and_many_neighbours(method: Method) -> None:
    assert list(audited(method, many=True)) == []


@pytest.mark.guarantee
@SABOTAGED
def test_a_sabotaged_method_does_not(method: Method, sabotage: Sabotage) -> None:
    with sabotage(method):
        assert next(audited(method), None) is not None


NOISY = [
    (one, plan)
    for one in methods()
    for plan in plans(one)
    if not plan.step and audit_of(one, plan)[0] is replay.audit
]


@pytest.mark.parametrize(
    ("method", "plan"), NOISY, ids=lambda one: one.id if isinstance(one, type) else one.purpose.title
)
def test_a_smaller_claim_would_be_seen_by_what_is_drawn_alone(
    method: Method, plan: Plan, tmp_path: Path
) -> None:
    """Whatever is declared: neighbours reach two thirds of it, by sums, scores and noise as it was drawn."""
    made = bench(method, plan, tmp_path / "people", people=PEOPLE)
    tape, _ = replay.recorded(made, made.rows)
    found = [replay.replayed(made, one.rows, tape)[0] for one in neighbours(made) if one.apart == 1]
    promise = made.design.cost
    assert promise.loss is not None
    modest = replace(promise, loss=replace(promise.loss, epsilon=promise.loss.epsilon * Fraction(2, 3)))
    assert all(replay.within(one, promise, apart=1) for one in found)
    assert not all(replay.within(one, modest, apart=1) for one in found)


def test_a_sharp_threshold_of_crowds_is_seen(tmp_path: Path) -> None:
    """The last of a crowd decides then whether its row leaves."""
    chosen = next(one for one in methods() if one.id == "datasets.seedbased")
    made = bench(chosen, plans(chosen)[0], tmp_path / "people", people=PEOPLE)
    recorder = seeds._coins(Recorder(3))
    seen, _, _ = seeds._run(
        made, made.rows, recorder, replay.Hearing(lambda: recorder.calls), seeds._Making(None)
    )
    seeds.check_rows(seen)
    found = seeds.chances(seen)
    people = np.full(len(found.seeds), seeds.ALIKE)
    own = int(np.argmax(found.p.max(axis=1)))
    row = found.p[:, int(np.argmax(found.p[own]))]
    crowd = seeds.size_of_crowd(row, people, own, seen.test)
    sharp = replace(seen, test=replace(seen.test, threshold=crowd))
    with (
        patch.object(SeededRows, "chance", lambda self, size: float(size >= self.threshold)),
        patch.object(SeededRows, "each", lambda self: (Fraction(1, 10), Fraction(1, 10**6))),
        pytest.raises(CheckFailed, match="one seed moves"),
    ):
        seeds.check_rows(sharp)


def test_every_promise_without_noise_is_recounted_and_broken() -> None:
    kinds = {kind.id for kind in promise_kinds() if not kind.bounded}
    assert kinds == recount.KINDS.keys()
    made = {kind for method in methods() for kind in method.promises} & kinds
    assert made - RECOUNTED.keys() <= {"cell_keys"}  # of which no example is shipped
