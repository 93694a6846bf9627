"""Columns drawn given others, beside the joint distribution of the model written out cell by cell."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from engine.methods.datasets.marginal_model import given
from engine.methods.datasets.marginal_model.fitting import Model
from engine.methods.datasets.marginal_model.given import draw_given
from engine.methods.datasets.marginal_model.junction_tree import Attributes
from tests.noise_source import seeded_noise

SIZES = (3, 2, 4, 2, 3)
CHAIN = [(0, 1), (1, 2), (2, 3), (3, 4)]
LOOP = [(0, 1), (1, 2), (2, 3), (0, 3), (3, 4)]
APART = [(0, 1), (2, 3)]
DRAWS = 40_000


def model_of(pairs: list[Attributes]) -> Model:
    chance = np.random.default_rng(3)
    model = Model(SIZES, 1000.0)
    logs = {pair: chance.normal(0, 1, [SIZES[one] for one in pair]) for pair in pairs}
    model.potentials = logs | {(one,): np.zeros(SIZES[one]) for one in range(5)}
    model._grow()
    return model


def joint_of(pairs: list[Attributes]) -> np.ndarray:
    """Return all cells: by the potentials alone, no tree."""
    chance = np.random.default_rng(3)
    logs = {pair: chance.normal(0, 1, [SIZES[one] for one in pair]) for pair in pairs}
    cells = np.zeros(SIZES)
    for place in product(*map(range, SIZES)):
        cells[place] = np.exp(sum(table[place[a], place[b]] for (a, b), table in logs.items()))
    return cells / cells.sum()


@pytest.mark.parametrize("pairs", [CHAIN, LOOP, APART], ids=["chain", "loop", "apart"])
@pytest.mark.parametrize("known", [(), (0,), (0, 4), (1, 3), (0, 1, 2, 3)], ids=str)
def test_what_is_drawn_follows_the_joint_distribution(
    pairs: list[Attributes], known: Attributes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(given, "MOST_AT_ONCE", 50_000)  # several blocks
    model, joint = model_of(pairs), joint_of(pairs)
    cells = tuple(SIZES[one] - 1 for one in known)
    rows = np.zeros((5, DRAWS), dtype=np.int32)
    for one, cell in zip(known, cells, strict=True):
        rows[one] = cell
    draw_given(model, known, rows, seeded_noise(11))
    wanted = joint[tuple(cells[known.index(one)] if one in known else slice(None) for one in range(5))]
    wanted = wanted / wanted.sum()
    free = [one for one in range(5) if one not in known]
    found = np.zeros(wanted.shape)
    np.add.at(found, tuple(rows[one] for one in free), 1)
    assert all((rows[one] == cell).all() for one, cell in zip(known, cells, strict=True))
    off = np.abs(found / DRAWS - wanted)
    assert (off <= 5.5 * np.sqrt(wanted * (1 - wanted) / DRAWS) + 1e-6).all()  # 2e-8 a cell


def test_cells_that_the_model_never_has_draw_something() -> None:
    model = model_of(CHAIN)
    model.potentials[(0, 1)] = np.full((3, 2), -np.inf)
    model.potentials[(0, 1)][0, 0] = 0.0
    model._grow()
    rows = np.zeros((5, 100), dtype=np.int32)
    rows[0], rows[1] = 2, 1
    draw_given(model, (0, 1), rows, seeded_noise(1))
    assert all((rows[one] < SIZES[one]).all() for one in range(5))
