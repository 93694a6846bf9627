"""A ledger in a temporary folder, one holding with ε = 1, and an accountant that adds up."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from engine.ledger import Ledger


def add(guarantees):
    """Basic composition: both parts add up."""
    epsilon = sum((Fraction(one["epsilon"]) for one in guarantees), Fraction(0))
    return epsilon, sum((Fraction(one["delta"]) for one in guarantees), Fraction(0))


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "ledger.sqlite"


@pytest.fixture
def ledger(path) -> Ledger:
    return Ledger(path)


@pytest.fixture
def holding(ledger) -> str:
    return ledger.create_holding(
        "Diabetes register", unit="person", neighbours="add_remove", epsilon="1", delta="1e-6"
    ).id


@pytest.fixture
def asked():
    """Arguments of a release that spends ε (and δ); None for one without formal guarantee."""

    def make(epsilon, delta="0", **others):
        guarantee = {
            "kind": "none" if epsilon is None else "pure_dp",
            "epsilon": None if epsilon is None else str(epsilon),
            "delta": str(delta),
            "unit": "person",
            "neighbours": "add_remove",
        }
        return {
            "guarantee_json": guarantee | {name: others[name] for name in guarantee if name in others},
            "epsilon": epsilon,
            "delta": delta,
            "unit": "person",
            "neighbours": "add_remove",
            "compose": add,
        } | others

    return make


@pytest.fixture
def reserve(ledger, holding, asked):
    """Reserve a release in the holding of the fixture."""

    def call(epsilon, delta="0", *, of=None, **others):
        named = {"plan_fingerprint": "plan", "title": "Stays by age", "recipient": "University"}
        return (of or ledger).reserve(holding, **(named | asked(epsilon, delta, **others)))

    return call
