"""Recognition on tables of health, survey and administration: one part to develop on, one never looked at.

What counts as the right answer is written down in ``tests/data/columns/README.md``. Only totals are printed,
so that running the test teaches nothing about single columns of the unseen part.
"""

import json
from collections import Counter
from pathlib import Path

import pytest

from engine.table.inspection import sentence
from engine.table.schema import Role
from engine.table.suggest.profile import Profile
from engine.table.suggest.suggest import suggest_from

COLUMNS = Path(__file__).parents[3] / "data" / "columns"
# Rightly suggested, at least.
RIGHT = {"develop": 0.75, "unseen": 0.75}
NAMING = {Role.DIRECT_IDENTIFIER, Role.PERSON_KEY}
KEPT = {*NAMING, Role.DROPPED, Role.NOT_RECOGNISED}
"""What a column that names somebody may be suggested as: it is known, left out, or asked."""


def tables(part):
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted((COLUMNS / part).glob("*.json"))]


def profile_of(column, rows):
    numeric, examples = column["storage"] != "text", tuple(column["examples"])
    return Profile(
        column["name"],
        column["storage"],
        rows,
        column["filled"],
        column["distinct"],
        values=tuple(sorted(examples)) if len(examples) >= column["distinct"] else None,
        sample=examples,
        numeric=numeric and column["filled"] > 0,
        whole=column["storage"] == "integer",
        low=column["low"] if numeric else None,
        high=column["high"] if numeric else None,
        longest=max(map(len, examples), default=0),
    )


def outcomes(part):
    """Return (true role, outcome) of every column; an outcome is right, asked, wrong or missed."""
    for table in tables(part):
        profiles = [profile_of(column, table["rows"]) for column in table["columns"]]
        for column, found in zip(table["columns"], suggest_from(profiles), strict=True):
            assert sentence(found)
            accepted = {Role(role) for role in column["roles"]}
            if found.role in accepted:
                outcome = "right"
            elif Role(column["roles"][0]) in NAMING and found.role not in KEPT:
                outcome = "missed"
            else:
                outcome = "asked" if found.role is Role.NOT_RECOGNISED else "wrong"
            yield (
                column["roles"][0],
                outcome,
                (table["title"], column["name"], found.role.value, found.reason),
            )


@pytest.mark.parametrize("part", RIGHT)
def test_columns_are_rightly_suggested_or_asked(part):
    counts = Counter((role, outcome) for role, outcome, _ in outcomes(part))
    total, by_outcome = sum(counts.values()), Counter()
    for (_, outcome), count in counts.items():
        by_outcome[outcome] += count
    for role in sorted({role for role, _ in counts}):
        print(part, role, {name: counts[role, name] for name in ("right", "asked", "wrong", "missed")})
    print(part, total, {name: f"{count / total:.1%}" for name, count in by_outcome.items()})
    assert by_outcome["missed"] == 0
    assert by_outcome["right"] + by_outcome["asked"] >= 0.95 * total
    assert by_outcome["right"] >= RIGHT[part] * total


def test_the_corpus_is_wide_enough():
    found = {part: tables(part) for part in RIGHT}
    everything = [table for part in RIGHT for table in found[part]]
    assert len(everything) >= 40 and len(found["unseen"]) >= 20
    assert sum(table["language"] != "en" for table in everything) >= 10
    naming = [
        table
        for table in everything
        if any(column["roles"][0] == "direct_identifier" for column in table["columns"])
    ]
    assert len(naming) >= 6
    titles = [table["title"] for table in everything]
    assert len(titles) == len(set(titles))
    for table in everything:
        assert table["source"] and table["licence"] and table["columns"]
        for column in table["columns"]:
            assert {Role(role) for role in column["roles"]} and len(column["examples"]) <= 8
            assert column["distinct"] <= column["filled"] <= table["rows"]
