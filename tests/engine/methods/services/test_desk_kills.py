"""Visits to a desk that are killed: nothing is answered twice with fresh noise, nothing is under-counted."""

import os
import random
import shutil
import time
from collections import Counter
from copy import copy
from dataclasses import replace
from fractions import Fraction

import pytest

from engine.ledger import Ledger, remembered
from engine.methods.services.desk import Desk
from engine.release.verify import verify
from tests.engine.methods.services.test_private_queries import OLD, F, Visitor, together, write_rows
from tests.engine.release.killed import Warm

RESERVED, TAKEN = Fraction(1, 2), Fraction(1, 4)
LISTED = {
    "listed": [{"where": "sex is f", "threshold": n} for n in (35, 19, 3)],
    "most": 3,  # all are reached, so that all are known afterwards
    "level": str(TAKEN),
}
KINDS = {
    "visit": {},
    "screen": {"step": "screen", "parameters": LISTED},
    "close": {"step": "close", "parameters": {}, "files": {}},
}
NEVER = 10_000
pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="needs forks"),
    pytest.mark.with_reports,
]


class Killer:
    """Visits copies of one desk and has the visits killed."""

    def __init__(self, place):
        self.place, self.number, self.warm = place, 0, Warm(place)
        (place / "desk").mkdir()
        write_rows(place / "desk")
        self.opened = Visitor(place / "desk")

    def made(self, desk, kind):
        """Return the plan of a visit of a kind."""
        return replace(desk.visit(F, OLD), **KINDS[kind])

    def copied(self, kind):
        """Return a copy of the desk, with an answered visit where it is to be closed."""
        self.number += 1
        folder = self.place / f"visit{self.number}"
        source = self.place / ("asked" if kind == "close" else "desk")
        if not source.exists():
            remembered.place().unlink(missing_ok=True)
            shutil.copytree(self.place / "desk", source)
            self.at(source, "open").ask(F, OLD, name="answered")
        shutil.copytree(source, folder)
        remembered.place().unlink(missing_ok=True)  # every visit begins from the same ledger again
        return self.at(folder, "answered" if kind == "close" else "open")

    def at(self, folder, last):
        """Return the desk as it is in a folder."""
        desk = copy(self.opened)
        desk.folder, desk.ledger, desk.last = folder, Ledger(folder / "ledger.sqlite"), last
        return desk

    def kill(self, kind, how, number):
        """Kill a visit at a touch of the disk or after so many seconds; do the same again, and look.

        Returns
        -------
        str
            ``nothing`` where nothing was paid, ``spent`` where it was and nothing is there, ``whole``.
        """
        desk = self.copied(kind)
        began = desk.last
        paid_before = desk.service.epsilon_spent
        costs = Fraction(0) if kind == "close" else TAKEN
        (desk.folder / "plan.json").write_text(self.made(desk, kind).dumps())
        assert self.warm.kill(desk.folder, how, number) in (0, -9)
        assert not list(desk.folder.glob(".custos-*")) and not list(self.warm.temporary.iterdir())
        desk = self.at(desk.folder, began)
        whole = (desk.folder / "bundle").exists()
        underway = desk.service.underway
        if not whole and underway is not None:
            assert desk.refused(F) == "ledger.visit_underway"  # nobody goes on before a person has looked
            desk.ledger.resolve(underway.id, "Power cut")
        lost = desk.service.epsilon_spent - paid_before
        assert lost in (0, costs) and (not whole or lost == costs)
        if whole:
            assert verify(desk.folder / "bundle", ledger=desk.ledger).problems == ()
        with pytest.MonkeyPatch.context() as patch:  # what is done again needs no papers
            for part in ("pdf", "html"):
                patch.setattr(f"engine.report.{part}.render", lambda *_, **__: b"")
            self.again(desk, kind, began, whole=whole, lost=lost)
        desk.ledger.verify_chain()
        assert desk.ledger.status("Register").epsilon_left == RESERVED  # what was reserved, and no more
        return "whole" if whole else "spent" if lost or underway is not None else "nothing"

    def again(self, desk, kind, began, *, whole, lost):
        """Do what was killed once more: the same answer, free, where it could have been seen."""
        if whole:
            desk.last = "bundle"
            assert desk.refused(F, state=began) == "ledger.other_state"
        if kind == "close":
            self.closed(desk, began, whole=whole)
            return
        evidence = desk.release(self.made(desk, kind), "again")
        assert together(evidence)["new"] == (0 if whole else float(TAKEN))
        if whole:
            assert desk.answers("again")["answer"].tolist() == desk.answers("bundle")["answer"].tolist()
        desk.last = "again"
        spent = desk.service.epsilon_spent
        assert spent == (lost if whole else lost + TAKEN) <= RESERVED
        rest = {"where": "sex is m", "epsilon": str(RESERVED - spent + Fraction(1, 100))}
        assert desk.refused(rest) in ("over_reserve", "ledger.over_reserved")

    def closed(self, desk, began, *, whole):
        """See that a desk is closed, or can be, with the answers that it gave, whatever was killed."""
        known = desk.answers(began)
        if not whole:
            evidence, told = desk.ask(F, OLD, name="asked")  # not closed: what was paid for stays free
            assert together(evidence)["new"] == 0 and told.equals(known)
            desk.release(self.made(desk, "close"), "bundle")
            desk.last = "bundle"
        assert desk.answers("bundle").equals(known)
        assert Desk.loads((desk.folder / "bundle" / "internal" / "state").read_bytes()).closed
        assert desk.refused(F) == "closed" and desk.service.epsilon_spent == TAKEN


@pytest.fixture
def killer(tmp_path):
    made = Killer(tmp_path)
    yield made
    made.warm.end()


@pytest.mark.parametrize(("kind", "between"), [("visit", 45), ("screen", 45), ("close", 45)])
def test_a_visit_that_is_killed_at_some_touch_of_the_disk(killer, kind, between):
    found = [killer.kill(kind, "at", touch) for touch in (1, between, NEVER)]
    assert found[0] == "nothing" and found[-1] == "whole" and "spent" in found


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_visit_that_is_killed_at_every_touch_of_the_disk(killer, kind):
    found = []
    while found[-2:] != ["whole", "whole"]:
        found.append(killer.kill(kind, "at", len(found) + 1))
    print(kind, len(found), Counter(found))
    assert set(found) == {"nothing", "spent", "whole"}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_visit_that_is_killed_at_any_moment(killer, kind):
    """Between touches, too: while something is worked out, written or typeset."""
    assert killer.kill(kind, "at", NEVER) == "whole"
    desk = killer.copied(kind)
    (desk.folder / "plan.json").write_text(killer.made(desk, kind).dumps())
    began = time.monotonic()
    assert killer.warm.kill(desk.folder, "at", NEVER) == 0
    whole, moments = time.monotonic() - began, random.Random(1)
    found = [killer.kill(kind, "after", round(moments.uniform(0.0, whole), 4)) for _ in range(20)]
    print(kind, round(whole, 2), Counter(found))
