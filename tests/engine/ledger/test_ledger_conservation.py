"""Whatever is done in whatever order, what counts never exceeds the budget, and the chain holds."""

from __future__ import annotations

import tempfile
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule

from engine.errors import InputRefused
from engine.ledger import Ledger
from engine.ledger import entries as entries_of
from engine.ledger.fields import exact, write_fraction
from tests.examples import many

AMOUNTS = st.fractions(min_value=Fraction(1, 10**6), max_value=1, max_denominator=10**6)
DELTAS = st.sampled_from([Fraction(0), Fraction(1, 10**9), Fraction(1, 3 * 10**7)])
COUNTING = ("reserved", "spent", "complete", "failed", "withdrawn")


def add(guarantees):
    epsilon = sum((Fraction(one["epsilon"]) for one in guarantees), Fraction(0))
    return epsilon, sum((Fraction(one["delta"]) for one in guarantees), Fraction(0))


class Machine(RuleBasedStateMachine):
    """The ledger beside a model of it: a dict of states and exact sums."""

    releases = Bundle("releases")

    @initialize(epsilon=AMOUNTS)
    def begin(self, epsilon):
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "ledger.sqlite"
        self.ledger = Ledger(self.path)
        self.budget = (3 * epsilon, Fraction(1, 10**8))
        self.holding = self.ledger.create_holding(
            "Register", unit="row", neighbours="replace_one", epsilon=self.budget[0], delta=self.budget[1]
        ).id
        self.model = {}

    def counted(self):
        kept = [one for one in self.model.values() if one["state"] in COUNTING and one["cost"]]
        own = [one["cost"] for one in kept if not one.get("parent")]  # visits were paid when it was opened
        return sum((cost[0] for cost in own), Fraction(0)), sum((cost[1] for cost in own), Fraction(0))

    def drawn(self, opening):
        visits = [one for one in self.model.values() if one.get("parent") == opening]
        return sum((one["cost"][0] for one in visits if one["state"] in COUNTING), Fraction(0)), visits

    @rule(target=releases, epsilon=AMOUNTS, delta=DELTAS)
    def reserve(self, epsilon, delta):
        fits = all(
            spent + more <= budget
            for spent, more, budget in zip(self.counted(), (epsilon, delta), self.budget, strict=True)
        )
        try:
            entry = self._reserve(epsilon, delta)
        except InputRefused as error:
            assert error.code in ("ledger.over_budget", "ledger.over_delta")
            assert not fits
            return "none"
        assert fits
        self.model[entry] = {"state": "reserved", "cost": (epsilon, delta)}
        return entry

    @rule(target=releases, loss=st.sampled_from(["unbounded", "none"]))
    def reserve_without_a_stated_loss(self, loss):
        entry = self._reserve(None, None, loss=loss)
        self.model[entry] = {"state": "reserved", "cost": None, "loss": loss}
        return entry

    @rule(target=releases, opening=releases, epsilon=AMOUNTS)
    def visit(self, opening, epsilon):
        known = self.model.get(opening, {"state": "none", "cost": None})
        if not known["cost"]:
            return "none"
        spent, visits = self.drawn(opening)
        is_open = known["state"] == "complete" and not known.get("parent")
        is_free = not any(one["state"] in ("reserved", "spent") for one in visits)
        fits = spent + epsilon <= known["cost"][0]
        try:
            entry = self._reserve(epsilon, Fraction(0), parent=opening)
        except InputRefused as error:
            codes = {
                "ledger.not_open": is_open,
                "ledger.visit_underway": is_free,
                "ledger.over_reserved": fits,
            }
            assert not codes[error.code]
            return "none"
        assert is_open and is_free and fits
        self.model[entry] = {"state": "reserved", "cost": (epsilon, Fraction(0)), "parent": opening}
        return entry

    @rule(epsilon=AMOUNTS)
    def change_the_budget(self, epsilon):
        wanted = 4 * epsilon
        try:
            self.ledger.change_budget(self.holding, "The board decided", epsilon=wanted)
        except InputRefused as error:
            assert error.code == "ledger.below_spent" and self.counted()[0] > wanted
        else:
            assert self.counted()[0] <= wanted
            self.budget = (wanted, self.budget[1])

    def _reserve(self, epsilon, delta, **others):
        bounded = epsilon is not None
        return self.ledger.reserve(
            self.holding,
            plan_fingerprint="p",
            title="t",
            recipient="r",
            guarantee_json={"epsilon": str(epsilon), "delta": str(delta)} if bounded else {"epsilon": None},
            epsilon=epsilon,
            delta=delta,
            unit="row",
            neighbours="replace_one",
            compose=add,
            **others,
        )

    def step(self, entry, allowed, to, action):
        known = self.model.get(entry, {"state": "none"})
        if known["state"] in allowed:
            action()
            known["state"] = to
        else:
            with pytest.raises(InputRefused):
                action()

    @rule(entry=releases)
    def spend(self, entry):
        self.step(entry, {"reserved"}, "spent", lambda: self.ledger.spend(entry))

    @rule(entry=releases)
    def free(self, entry):
        self.step(entry, {"reserved"}, "freed", lambda: self.ledger.free(entry))

    @rule(entry=releases)
    def complete(self, entry):
        hashes = {"release_sums_hash": "0" * 64, "internal_sums_hash": "1" * 64}
        self.step(entry, {"spent"}, "complete", lambda: self.ledger.complete(entry, **hashes))

    @rule(entry=releases)
    def fail(self, entry):
        came_to_nothing = self.model.get(entry, {}).get("state") == "spent"
        self.step(entry, {"spent"}, "failed", lambda: self.ledger.fail(entry))
        if came_to_nothing:
            self.model[entry]["left"] = False

    @rule(entry=releases)
    def withdraw(self, entry):
        self.step(entry, {"complete"}, "withdrawn", lambda: self.ledger.withdraw(entry, "why"))

    @rule(entry=releases)
    def resolve_after_its_window_closed(self, entry):
        known = self.model.get(entry, {"state": "none"})
        to = "freed" if known["state"] == "reserved" else "failed"
        real, entries_of.is_running = entries_of.is_running, lambda process: False
        try:
            self.step(entry, {"reserved", "spent"}, to, lambda: self.ledger.resolve(entry, "why"))
        finally:
            entries_of.is_running = real

    @rule()
    def open_again(self):
        self.ledger = Ledger(self.path)

    @invariant()
    def conserved(self):
        status = self.ledger.status(self.holding, add)
        spent = (status.epsilon_spent, status.delta_spent)
        assert spent == self.counted()
        assert all(one <= budget for one, budget in zip(spent, self.budget, strict=True))
        assert status.epsilon_left + status.epsilon_spent == self.budget[0]
        assert {one.id: one.state for one in self.ledger.entries()} == {
            entry: one["state"] for entry, one in self.model.items()
        }
        unbounded = [
            one
            for one in self.model.values()
            if one.get("loss") == "unbounded" and one["state"] in COUNTING and one.get("left", True)
        ]
        assert status.bounds_all == (not unbounded)
        for entry, one in self.model.items():
            if one["cost"] and not one.get("parent"):
                assert self.ledger.service(entry).epsilon_spent == self.drawn(entry)[0] <= one["cost"][0]
        self.ledger.verify_chain()

    def teardown(self):
        if hasattr(self, "folder"):
            self.folder.cleanup()


TestConservation = Machine.TestCase
TestConservation.settings = settings(
    max_examples=many(25), stateful_step_count=25, deadline=None, derandomize=True, database=None
)


@given(st.fractions(min_value=Fraction(1, 10**300), max_value=10**300))
@settings(max_examples=many(200), deadline=None, derandomize=True, database=None)
def test_fractions_are_written_and_read_back_exactly(value):
    if value > 0:
        assert exact(write_fraction(value), "ledger.bad_epsilon") == value
