"""No condition loses more than anjana does with the same k, limit and hierarchies: a tenth of Adult."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from engine.methods.datasets.conditions import Condition, close, distinct, entropy
from engine.methods.datasets.full_domain import Lattice, search
from engine.methods.datasets.recoding import Ladder, Members
from engine.risk.encoding import encode_column
from engine.table.schema import Column, Kind, Role
from tests.engine.methods.datasets.adult import complete_rows, hierarchy

MADE = json.loads((Path(__file__).parent / "anjana_recoding.json").read_text())
DEMANDS = {
    "distinct": lambda column: distinct(3),
    "entropy": lambda column: entropy(3),
    "close": lambda column: close(column, 0.2, equal=True),
}


@pytest.mark.parametrize("answer", MADE["answers"], ids=lambda one: f"{one['condition']}-{one['k']}")
def test_the_exact_search_loses_no_more(answer):
    rows = complete_rows().iloc[:: MADE["every"]].reset_index(drop=True)
    ladders, codes = [], []
    for name in MADE["columns"]:
        found, values = pd.factorize(rows[name].to_numpy(dtype=object))
        ladders.append(Ladder.of(list(values), hierarchy(name)))
        codes.append(ladders[-1].place(list(values))[found])
    combinations, number = np.unique(np.column_stack(codes), axis=0, return_inverse=True)
    number = number.reshape(-1)
    name, asked = answer["condition"], []
    if name != "k":
        sensitive = Column(MADE["sensitive"], Role.SENSITIVE, Kind.CATEGORY)
        encoded = encode_column(rows[sensitive.name], sensitive)
        asked = [Condition.of(number, encoded, [DEMANDS[name](encoded)])]
    lattice = Lattice(
        combinations,
        Members(number, np.arange(len(number))),
        ladders,
        k=answer["k"],
        most_left_out=len(rows) * answer["limit"] // 100,
        conditions=asked,
    )
    best, theirs = search(lattice), lattice.look(tuple(answer["steps"]))
    assert best.loss == best.least and best.left_out <= lattice.most_left_out
    if name == "k":
        assert theirs.holds and theirs.left_out == answer["left_out"]
    if theirs.holds:
        assert best.loss < theirs.loss
