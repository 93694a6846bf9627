"""Decisions that want a reason: refused on the command line without one, recorded and printed with one."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import pytest

from engine import texts
from engine.__main__ import main
from engine.errors import InputRefused
from engine.ledger import Ledger
from engine.release.reasons import KNOWN, with_reasons


@pytest.fixture
def beyond_the_money(plan, folder):
    """A plan whose modelled claims are above the stated money, as a file, and the arguments that run it."""
    dear = replace(plan, price=replace(plan.price, budget=Fraction(1)))
    (folder / "plan.json").write_text(dear.dumps())

    def arguments(*more):
        out = ["--out", str(folder / "out"), "--ledger", str(folder / "ledger.sqlite")]
        return ["run", str(folder / "plan.json"), *out, *more]

    return arguments


def test_without_a_reason_nothing_is_reserved(beyond_the_money, folder, capsys):
    assert main(beyond_the_money()) == 2
    said = capsys.readouterr().err
    assert "over_money" in said and "--reason over_money" in said and "--without-reason" in said
    assert Ledger(folder / "ledger.sqlite").entries() == [] and not (folder / "out").exists()


def test_a_reason_is_recorded_and_printed(beyond_the_money, folder):
    assert main(beyond_the_money("--reason", "over_money=The board decided so.")) == 0
    inside = json.loads((folder / "out" / "internal" / "evidence.json").read_text())["internal"]
    decision = inside["plan"]["decisions"][0]
    assert (decision["decision"], decision["reason"]) == ("over_money", "The board decided so.")
    report = (folder / "out" / "internal" / "report-internal.html").read_text()
    assert "The board decided so." in report and decision["at"]


def test_it_can_be_released_without_which_the_report_says(beyond_the_money, folder):
    assert main(beyond_the_money("--without-reason")) == 0
    report = (folder / "out" / "internal" / "report-internal.html").read_text()
    assert texts.text("report.decisions.no_reason") in report


@pytest.mark.parametrize("given", ["over_money", "=why", "nothing=why"])
def test_a_reason_for_nothing_is_refused(beyond_the_money, given, capsys):
    assert main(beyond_the_money("--reason", given)) == 2
    assert capsys.readouterr().err


def test_an_empty_reason_is_none(beyond_the_money, capsys):
    assert main(beyond_the_money("--reason", "over_money= ")) == 2
    assert "over_money" in capsys.readouterr().err


def test_a_later_reason_takes_the_place_of_an_earlier_one(plan):
    once = with_reasons(plan, {"over_money": "first", "over_error": "kept"})
    again = with_reasons(once, {"over_money": "second"})
    assert {one["decision"]: one["reason"] for one in again.decisions} == {
        "over_error": "kept",
        "over_money": "second",
    }
    assert all(one["ahead"] for one in again.decisions)
    with pytest.raises(InputRefused, match="unknown_decision") as caught:
        with_reasons(plan, {"other": "x"})
    texts.explain(caught.value)


@pytest.mark.parametrize("name", KNOWN)
def test_every_decision_has_its_words(name):
    assert texts.text(f"report.decisions.kinds.{name}")
