"""Rules that must not be found: mining by hand, hiding with what it costs, and rules that stay inside."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from engine.ledger import Ledger
from engine.methods.catalogue import method
from engine.methods.datasets.rule_hiding import Baskets, Rule, RuleHiding, Thresholds, hidden, rules, splits
from engine.methods.protocol import Context
from engine.privacy.noise import Noise
from engine.release.examples import plans
from engine.release.run import run
from engine.table.schema import Column, Kind, Role, Schema
from engine.table.table import Table
from tests.engine.methods.datasets.masked import generator

ID = "datasets.rule_hiding"
EXAMPLES = Path(__file__).parents[4] / "resources" / "examples"


def by_trying(codes, least, longest):
    """Return frequent sets by counting every combination of values."""
    found = {}
    values = [sorted({int(v) for v in column if v >= 0}) for column in codes.T]
    items = [(at, v) for at, column in enumerate(values) for v in column]
    for size in range(1, longest + 1):
        for chosen in itertools.combinations(items, size):
            if len({at for at, _ in chosen}) < size:
                continue
            count = sum(all(row[at] == v for at, v in chosen) for row in codes)
            if count >= least:
                found[frozenset(chosen)] = count
    return found


def table(seed, rows=120, columns=4):
    chance = generator(seed)
    codes = chance.integers(0, 3, (rows, columns))
    codes[:, 1] = np.where(chance.random(rows) < 0.7, codes[:, 0], codes[:, 1])
    codes[chance.random(codes.shape) < 0.05] = -1
    return codes


@pytest.mark.parametrize("seed", range(5))
def test_frequent_sets_are_those_that_are_counted(seed):
    codes = table(seed)
    assert Baskets(codes).frequent(10, 3) == by_trying(codes, 10, 3)


def test_rules_by_hand():
    """Five baskets: who has a has b in three of four."""
    codes = np.array([[0, 0], [0, 0], [0, 0], [0, 1], [1, 1]])
    rule = Rule(frozenset({(0, 0)}), frozenset({(1, 0)}))
    found = rules(Baskets(codes).frequent(2, 2), 0.7)
    assert (found[rule].both, found[rule].when, found[rule].confidence) == (3, 4, 0.75)
    assert len(splits(frozenset({(0, 0), (1, 0), (2, 0)}))) == 6


@pytest.mark.parametrize("margin", [0.0, 0.2])
@pytest.mark.parametrize("seed", range(6))
def test_no_sensitive_rule_is_found_and_the_effects_are_counted(seed, margin):
    codes = table(seed, rows=300)
    limits = Thresholds(0.05, 0.5, 3, margin)
    least = limits.least_rows(300)
    every = rules(by_trying(codes, least, 3), 0.5)
    sensitive = sorted(every, key=lambda rule: (-every[rule].confidence, sorted(rule.both)))[:3]
    found = hidden(codes, sensitive, limits, chance=generator(seed))
    assert found.before == every and found.failures == () and found.absent == ()
    after = rules(by_trying(found.codes, least, 3), 0.5)
    assert found.after == after and not set(sensitive) & set(after)
    assert set(found.lost) == set(every) - set(after) - set(sensitive)
    assert set(found.ghosts) == set(after) - set(every)
    for rule in sensitive:
        one = Baskets(found.codes).found(rule)
        assert one.both < 0.05 * 300 * (1 - margin) or one.confidence < 0.5 * (1 - margin)
    changed = found.codes != codes
    assert (found.codes[changed] == -1).all() and 0 < changed.mean() < 0.2


def test_it_costs_fewer_rules_than_leaving_cells_out_anywhere():
    """Six tables, each against ten draws of rows that support the rule and lose the value it leads to."""
    limits, own, blunt = Thresholds(0.04, 0.45, 3, 0.0), [], []
    for seed in range(10, 16):
        codes = table(seed, rows=300)
        every = rules(by_trying(codes, limits.least_rows(300), 3), 0.45)
        rule = max(every, key=lambda one: (every[one].confidence, sorted(one.both)))
        found = hidden(codes, [rule], limits, chance=generator(1))
        own.append(len(found.lost) + len(found.ghosts))
        blunt += [_blunt(codes, rule, every, limits, generator(draw)) for draw in range(10)]
    assert np.mean(own) < 0.7 * np.mean(blunt)


def _blunt(codes, rule, every, limits, chance):
    """Return how many other rules come or go when rows are drawn instead of chosen."""
    codes = codes.copy()
    for row in chance.permutation(np.flatnonzero(_supports(codes, rule))):
        if limits.hides(Baskets(codes).found(rule), len(codes)):
            break
        codes[row, min(rule.then)[0]] = -1
    after = rules(by_trying(codes, limits.least_rows(len(codes)), 3), 0.45)
    return len((set(every) ^ set(after)) - {rule})


def _supports(codes, rule):
    return np.all([codes[:, column] == value for column, value in rule.both], axis=0)


@pytest.mark.parametrize("rows, margin, left", [(6, 0.0, 3), (4, 0.0, 3), (6, 0.5, 1), (2, 0.5, 1)])
def test_a_rule_becomes_rare_by_as_few_rows_as_that_takes(rows, margin, left):
    """Of twenty rows four make it found: three are left, or one where it has to be less than half of that."""
    codes = np.array([[0, 0]] * rows + [[1, 1]] * (20 - rows))
    rule = Rule(frozenset({(0, 0)}), frozenset({(1, 0)}))
    found = hidden(codes, [rule], Thresholds(0.2, 0.5, 2, margin), chance=generator(1))
    assert found.failures == found.absent == ()
    assert int((found.codes == 0).all(axis=1).sum()) == left


def test_a_rule_that_nobody_could_find_changes_nothing():
    codes = table(1)
    absent = Rule(frozenset({(0, 99)}), frozenset({(1, 0)}))
    found = hidden(codes, [absent], Thresholds(0.05, 0.5, 3, 0.0), chance=generator(1))
    assert found.absent == (absent,) and (found.codes == codes).all() and found.before == found.after


# --- the method ------------------------------------------------------------------------------------------

COLUMNS = tuple(Column(name, Role.OTHER, Kind.CATEGORY) for name in ("ward", "sex", "drug"))


def request(*pairs, **values):
    given = {"columns": ["ward", "sex", "drug"], "support": 0.1, "confidence": 0.6, **values}
    given["rules"] = [{"when": when, "then": then} for when, then in pairs]
    return method(ID).make_request({"people": Schema(COLUMNS)}, given)


@pytest.mark.parametrize(
    ("pair", "expected"),
    [
        (("ward is a", "drug is x"), []),
        (("ward is a and sex is f", "drug is x"), []),
        (("ward in (a, b)", "drug is x"), ["no_values"]),
        (("not ward is a", "drug is x"), ["no_values"]),
        (("ward is", "drug is x"), ["no_values"]),
        (("age is 4", "drug is x"), ["not_leaving"]),
        (("ward is a", "ward is b"), ["column_twice"]),
    ],
)
def test_rules_are_checked_by_their_form(pair, expected):
    found = [problem.code.removeprefix(f"{ID}.") for problem in method(ID)(request(pair)).problems]
    assert found == expected
    long = request(("ward is a and sex is f", "drug is x"), longest=2)
    assert [problem.code for problem in method(ID)(long).problems] == [f"{ID}.too_long"]


def test_rows_lose_cells_and_nothing_else():
    chance = generator(6)
    ward = chance.choice(["a", "b"], 400)
    drug = np.where((ward == "a") & (chance.random(400) < 0.9), "x", chance.choice(["y", "z"], 400))
    frame = pd.DataFrame({"ward": ward, "sex": chance.choice(["f", "m"], 400), "drug": drug})
    made = RuleHiding(request(("ward is a", "drug is x"))).run(
        {"people": Table(frame)}, Context(Noise(), chance, None)
    )
    found = made.artefacts[0].frame
    own = found[(found["ward"] == "a")]
    assert (own["drug"] == "x").sum() / len(own) < 0.6 or (own["drug"] == "x").sum() < 40
    assert len(found) == 400 and made.inside.figures["failures"] == 0
    assert int((found == "").to_numpy().sum()) == made.inside.figures["cells_left_out"]
    assert any("ward = a → drug = x" in str(row) for view in made.inside.views for row in view.rows)


def test_the_rules_stay_inside(tmp_path):
    ledger = Ledger(tmp_path / "ledger.sqlite")
    run(plans(method(ID))[0], out=tmp_path / "out", ledger=ledger, base=EXAMPLES)
    # Values of columns are told; what was asked about them is not
    told = ("insulin is", "race is", "readmitted is", "Rules to hide", "Lost rules", "Ghost rules")
    for path in (tmp_path / "out" / "release").iterdir():
        if path.suffix in (".json", ".html", ".txt"):
            content = path.read_text(encoding="utf-8")
            assert not [words for words in told if words in content], path.name
    decided = json.loads((tmp_path / "out" / "release" / "evidence.json").read_text())["decided"]
    assert "rules" not in decided["parameters"] and decided["parameters"]["support"] == 0.05
    inside = json.loads((tmp_path / "out" / "internal" / "evidence.json").read_text())["internal"]
    assert len(inside["plan"]["parameters"]["rules"]) == 2
    assert inside["inside"]["failures"] == 0 and inside["inside"]["absent"] == 0
