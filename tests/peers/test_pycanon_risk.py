"""Measures of risk against the committed values of pycanon, where both define the same measure."""

import json
import math
from collections import Counter, defaultdict
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


def counted(whole, seed):
    """Return the rows of a schema, their groups, and the counts of its sensitive values in them."""
    columns, sensitive, rows = schema(seed)
    frame = whole.iloc[rows].reset_index(drop=True)
    kind = Kind.INTEGER if frame[sensitive].dtype.kind == "i" else Kind.CATEGORY
    marked = [Column(name, Role.IDENTIFYING) for name in columns]
    table = encode(Table(frame), Schema((*marked, Column(sensitive, Role.SENSITIVE, kind))))
    groups = group_rows(table)
    return frame, groups, sensitive_counts(groups, table.columns[sensitive])


def by_hand(frame, columns, sensitive):
    """Count the sensitive values of every group one row after the other."""
    found = defaultdict(Counter)
    for *key, value in frame[[*columns, sensitive]].itertuples(index=False, name=None):
        found[tuple(key)][value] += 1
    return list(found.values())


@pytest.mark.parametrize("seed", SEEDS)
def test_ten_random_schemas(whole, seed):
    expected = VALUES["tables"][str(seed)]
    assert (expected["columns"], expected["sensitive"]) == schema(seed)[:2]
    frame, groups, counts = counted(whole, seed)
    numeric = frame[expected["sensitive"]].dtype.kind == "i"
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


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("at_least", [2, 3, 5])
def test_recursive_diversity_by_its_definition(whole, seed, at_least):
    """The smallest c with r₁ ≤ c (r_l + … + r_m) in every group, r falling; none where r_l is missing."""
    frame, groups, counts = counted(whole, seed)
    expected = 0.0
    for values in by_hand(frame, *schema(seed)[:2]):
        falling = sorted(values.values(), reverse=True)
        rest = sum(falling[at_least - 1 :])
        expected = max(expected, falling[0] / rest if rest else math.inf)
    found = diversity(counts, groups, recursive=(at_least,)).recursive
    assert found == {at_least: pytest.approx(expected)}


@pytest.mark.parametrize("seed", SEEDS)
def test_the_other_recursive_figure_follows_from_the_same_counts(whole, seed):
    """It sorts in rising order, so that r₁ is the rarest value: another measure, of the same groups.

    Where a group has a single value it is not a number; here no c is large enough, which is an answer.
    """
    c, at_least = VALUES["tables"][str(seed)]["recursive"]
    frame, groups, counts = counted(whole, seed)
    found = diversity(counts, groups, recursive=(2,))
    assert found.distinct == at_least
    if c is None:
        assert found.recursive[2] == math.inf
        return
    rising = [sorted(values.values()) for values in by_hand(frame, *schema(seed)[:2])]
    assert c == max(r[0] // sum(r[int(at_least) - 1 :]) + 1 for r in rising)


@pytest.mark.parametrize("seed", SEEDS)
def test_enhanced_likeness(whole, seed):
    """Every value may gain at most min(β, −ln p); there one figure is made of the largest gain and all p."""
    frame, _, counts = counted(whole, seed)
    close = closeness(counts)
    _, sensitive, _ = schema(seed)
    shares = {value: count / len(frame) for value, count in Counter(frame[sensitive]).items()}
    theirs = max(min(close.beta, -math.log(share)) for share in shares.values())
    assert theirs == pytest.approx(VALUES["tables"][str(seed)]["enhanced_beta"])
    holds = all(
        count / sum(values.values()) / shares[value] - 1 <= -math.log(shares[value])
        for values in by_hand(frame, *schema(seed)[:2])
        for value, count in values.items()
    )
    assert close.within_logarithm == holds
