"""Measures of risk against the committed values of pycanon, where both define the same measure."""

import json
from pathlib import Path

import pytest

from engine.risk.encoding import encode
from engine.risk.groups import group_rows
from engine.risk.sensitive import closeness, diversity, sensitive_counts
from engine.table.schema import Column, Kind, Role, Schema
from engine.table.table import Table
from tests.peers.risk_tables import SEEDS, adult, schema

VALUES = json.loads(Path(__file__).with_name("pycanon_risk.json").read_text())


@pytest.fixture(scope="module")
def whole():
    return adult()


@pytest.mark.parametrize("seed", SEEDS)
def test_ten_random_schemas(whole, seed):
    columns, sensitive, rows = schema(seed)
    expected = VALUES["tables"][str(seed)]
    assert (expected["columns"], expected["sensitive"]) == (columns, sensitive)
    frame = whole.iloc[rows].reset_index(drop=True)
    numeric = frame[sensitive].dtype.kind == "i"
    marked = [Column(name, Role.IDENTIFYING) for name in columns]
    marked.append(Column(sensitive, Role.SENSITIVE, Kind.INTEGER if numeric else Kind.CATEGORY))
    table = encode(Table(frame), Schema(tuple(marked)))
    groups = group_rows(table)
    counts = sensitive_counts(groups, table.columns[sensitive])
    diverse, close = diversity(counts, groups), closeness(counts)
    assert groups.smallest == expected["k"]
    assert diverse.distinct == expected["l"]
    # There it is cut to a whole number, and 2 less the last digit of a float becomes 1
    assert expected["entropy_l"] in (int(diverse.entropy + 1e-9), int(diverse.entropy - 1e-9))
    assert close.distance == ("ordered" if numeric else "equal")
    assert close.t == pytest.approx(expected["t"])
    assert close.beta == pytest.approx(expected["beta"])
    assert close.delta == pytest.approx(expected["delta"])
    assert [diverse.worst_share, groups.smallest] == pytest.approx(expected["alpha_k"])


def test_where_the_other_answers_no_number_there_is_one_here(whole):
    """Its recursive diversity is not a number as soon as one group has a single value."""
    silent = [seed for seed in SEEDS if VALUES["tables"][str(seed)]["recursive"][0] is None]
    assert silent
    columns, sensitive, rows = schema(silent[0])
    marked = [Column(name, Role.IDENTIFYING) for name in columns] + [Column(sensitive, Role.SENSITIVE)]
    table = encode(Table(whole.iloc[rows].reset_index(drop=True)), Schema(tuple(marked)))
    groups = group_rows(table)
    found = diversity(sensitive_counts(groups, table.columns[sensitive]), groups, recursive=(2,))
    assert found.recursive[2] == float("inf")  # no c is large enough, which is an answer
