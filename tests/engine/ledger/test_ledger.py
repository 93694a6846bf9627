"""Holdings, budgets and states: what the ledger takes, what it refuses, and in which words."""

from __future__ import annotations

import json
import re
import tomllib
from decimal import Decimal
from fractions import Fraction
from importlib.resources import files
from pathlib import Path

import pytest

import engine.ledger
from engine import texts
from engine.errors import InputRefused
from engine.ledger import Ledger, default_path
from engine.ledger.fields import exact, write_at_least, write_at_most
from engine.ledger.values import GROUNDS

SUMS = {"release_sums_hash": "a" * 64, "internal_sums_hash": "B" * 64}


def refused(code):
    """Expect a refusal that has its sentences."""

    class Expecting:
        def __enter__(self):
            return self

        def __exit__(self, kind, error, traceback):
            assert isinstance(error, InputRefused), f"{code} was not raised"
            assert error.code == f"ledger.{code}"
            self.values = error.values
            self.what, self.do = texts.explain(error)
            return True

    return Expecting()


# Exact numbers


@pytest.mark.parametrize(
    "given, expected",
    [
        ("0.1", Fraction(1, 10)),
        (" 1/3 ", Fraction(1, 3)),
        ("1e-6", Fraction(1, 10**6)),
        (".5", Fraction(1, 2)),
        (2, Fraction(2)),
        (Fraction(7, 9), Fraction(7, 9)),
        (Decimal("0.30"), Fraction(3, 10)),
    ],
)
def test_exact_numbers_are_taken_as_they_are(given, expected):
    assert exact(given, "ledger.bad_epsilon") == expected


@pytest.mark.parametrize(
    "given",
    [
        0.5,
        float("nan"),
        float("inf"),
        "nan",
        "inf",
        "-1",
        -1,
        0,
        "0",
        "0.0",
        "1/0",
        "",
        "one",
        "1_0",
        "1e999999999",
        "9" * 5000,
        True,
        Decimal("NaN"),
        Decimal("Infinity"),
        Fraction(-1, 2),
        Fraction(1, 2**4000),
        [1],
    ],
)
def test_what_is_not_an_exact_positive_number_is_refused(ledger, given):
    with refused("bad_epsilon") as refusal:
        ledger.create_holding("Register", unit="row", neighbours="add_remove", epsilon=given)
    assert len(refusal.what) < 300
    assert ledger.holdings() == []


@pytest.mark.parametrize("given", [1, "1.5", "-1e-9", "nan", 0.0])
def test_delta_lies_between_zero_and_one(ledger, given):
    with refused("bad_delta"):
        ledger.create_holding("Register", unit="row", neighbours="add_remove", epsilon=1, delta=given)


def test_money_is_kept_and_must_be_positive(ledger):
    with refused("bad_money"):
        ledger.create_holding("Register", unit="row", neighbours="add_remove", epsilon=1, money=0)
    made = ledger.create_holding("Register", unit="row", neighbours="add_remove", epsilon=1, money="74434.41")
    assert made.money == Fraction(7443441, 100)
    with refused("bad_currency"):
        ledger.create_holding(
            "B", unit="row", neighbours="add_remove", epsilon=1, money=1, currency="EUR, free"
        )
    with refused("bad_currency"):
        ledger.change_budget(made.id, money=2, currency="€", reason="a reason")


def test_what_is_asked_is_rounded_up_and_what_is_left_down():
    third = Fraction(1, 3)
    assert Fraction(write_at_most(third)) < third < Fraction(write_at_least(third))
    assert write_at_most(Fraction(1, 2)) == write_at_least(Fraction(1, 2)) == "0.5"
    assert write_at_most(Fraction(1000)) == "1000"
    assert write_at_least(Fraction(1, 10**6)) == "0.000001" or write_at_least(Fraction(1, 10**6)) == "1e-6"


def test_a_refusal_never_shows_two_numbers_that_seem_to_fit(ledger, holding, reserve):
    reserve("0.7")
    with refused("over_budget") as refusal:
        reserve(Fraction(3, 10) + Fraction(1, 10**30))
    asked, left = Fraction(refusal.values["asked"]), Fraction(refusal.values["left"])
    assert asked > left
    assert refusal.values["left"] in refusal.what


# Holdings


def test_a_holding_is_found_by_id_and_by_name(ledger, holding):
    found = ledger.holding(holding)
    assert found == ledger.holding("  diabetes REGISTER ")
    assert (found.unit, found.neighbours, found.epsilon) == ("person", "add_remove", Fraction(1))
    assert found.delta == Fraction(1, 10**6)
    with refused("no_holding"):
        ledger.holding("Another")


def test_a_name_is_given_once_whatever_its_capitals(ledger, holding):
    with refused("name_taken"):
        ledger.create_holding("DIABETES register", unit="row", neighbours="add_remove", epsilon=1)


@pytest.mark.parametrize(
    "changed, code",
    [
        ({"name": "  "}, "no_name"),
        ({"name": None}, "bad_text"),
        ({"name": "\ud800"}, "bad_text"),
        ({"name": "a\0b"}, "bad_text"),
        ({"name": "a" * 5000}, "bad_text"),
        ({"unit": "household"}, "bad_unit"),
        ({"neighbours": "none"}, "bad_neighbours"),
    ],
)
def test_a_holding_that_cannot_be_is_refused(ledger, changed, code):
    given = {"name": "Register", "unit": "row", "neighbours": "add_remove", "epsilon": 1} | changed
    with refused(code):
        ledger.create_holding(**given)
    assert ledger.holdings() == []


# Budget


def test_the_budget_can_be_spent_to_the_last_fraction_and_no_further(ledger, holding, reserve):
    for _ in range(10):  # ten floats of 0.1 would not make 1
        reserve("0.1")
    status = ledger.status(holding)
    assert (status.epsilon_spent, status.epsilon_left, status.releases) == (Fraction(1), 0, 10)
    with refused("over_budget") as refusal:
        reserve(Fraction(1, 10**50))
    assert refusal.values["left"] == "0"
    assert ledger.status(holding).releases == 10


def test_delta_has_its_own_budget(ledger, holding, reserve):
    reserve("0.1", "1e-6")
    with refused("over_delta") as refusal:
        reserve("0.1", "1e-9")
    assert refusal.values["asked"] == "1e-9"
    assert ledger.status(holding).delta_left == 0


def test_the_accountant_gets_what_counts_and_the_new_release_and_its_word_stands(ledger, holding, reserve):
    freed = reserve("0.3")
    ledger.free(freed)
    kept = reserve("0.4", title="kept")
    ledger.spend(kept)
    seen = []

    def largest(guarantees):
        seen.append([one["epsilon"] for one in guarantees])
        return max(Fraction(one["epsilon"]) for one in guarantees), Fraction(0)

    reserve("0.9", compose=largest)  # adding up would refuse 1.3
    assert seen[-1] == ["0.4", "0.9"]
    assert ledger.status(holding, largest).epsilon_spent == Fraction(9, 10)
    assert ledger.status(holding, largest).composed
    assert ledger.status(holding).epsilon_spent == Fraction(13, 10)
    assert ledger.status(holding).epsilon_left == 0


@pytest.mark.parametrize("total", [(0.5, Fraction(0)), (Fraction(1, 2), float("nan")), Fraction(1), None])
def test_a_total_that_is_not_exact_enters_nothing(ledger, holding, reserve, total):
    with refused("bad_total"):
        reserve("0.1", compose=lambda guarantees: total)
    assert ledger.entries() == []


def test_an_accountant_that_fails_leaves_nothing(ledger, holding, reserve):
    def broken(guarantees):
        raise InputRefused("ledger.bad_guarantee")

    with refused("bad_guarantee"):
        reserve("0.1", compose=broken)
    assert ledger.entries() == []
    assert [event["kind"] for event in ledger.journal()] == ["begun", "holding_made"]


def test_another_unit_or_neighbour_relation_is_refused(ledger, holding, reserve):
    with refused("unit_differs"):
        reserve("0.1", unit="row")
    with refused("neighbours_differ") as refusal:
        reserve("0.1", neighbours="replace_one")
    assert "twice" in refusal.do


@pytest.mark.parametrize("field, value", [("epsilon", "0.2"), ("delta", "1e-7"), ("unit", "row")])
def test_the_guarantee_must_state_what_is_entered(ledger, holding, reserve, asked, field, value):
    guarantee = asked("0.1")["guarantee_json"] | {field: value}
    with refused("guarantee_differs") as refusal:
        reserve("0.1", guarantee_json=guarantee)
    assert refusal.values["field"] == field


@pytest.mark.parametrize("guarantee", [{"scale": float("nan")}, {"scale": {1, 2}}, {"epsilon": 0.1}])
def test_a_guarantee_that_is_not_exact_json_is_refused(reserve, guarantee):
    with refused("bad_guarantee"):
        reserve("0.1", guarantee_json=guarantee)


def test_an_unbounded_guarantee_cannot_be_entered_as_bounded(reserve):
    with refused("guarantee_differs"):
        reserve("0.1", guarantee_json={"epsilon": None})
    with refused("guarantee_differs"):
        reserve(None, guarantee_json={"epsilon": "0.1"})


def test_a_release_without_formal_guarantee_ends_the_bound(ledger, holding, reserve):
    reserve("1")
    assert ledger.status(holding).bounds_all
    entry = reserve(None)
    status = ledger.status(holding)
    assert not status.bounds_all
    assert (status.epsilon_spent, status.releases) == (Fraction(1), 2)
    ledger.free(entry)
    assert ledger.status(holding).bounds_all
    entry = reserve(None)
    ledger.spend(entry)
    assert not ledger.status(holding).bounds_all  # it is being written
    ledger.fail(entry)
    assert ledger.status(holding).bounds_all  # and came to nothing
    entry = reserve(None)
    ledger.spend(entry)
    ledger.complete(entry, **SUMS)
    ledger.withdraw(entry, "Asked back by the ethics board")
    assert not ledger.status(holding).bounds_all
    assert ledger.to_json()["holdings"][0]["bounds_all"] is False


def test_a_preview_says_what_reserve_would_say_and_reserves_nothing(ledger, holding, reserve, asked):
    reserve("0.75")
    fits = ledger.preview(holding, **asked("1/4"))
    assert (fits.refusal, fits.epsilon_total, fits.before.epsilon_left) == (None, 1, Fraction(1, 4))
    over = ledger.preview(holding, **asked("1/2"))
    with refused("over_budget") as refusal:
        reserve("1/2")
    assert over.refusal.code == "ledger.over_budget"
    assert over.refusal.values == refusal.values
    assert ledger.preview(holding, **asked("1/2", unit="row")).refusal.code == "ledger.unit_differs"
    assert ledger.preview(holding, **asked(None)).refusal is None
    assert len(ledger.entries(holding)) == 1


# Listing


def test_the_listing_says_what_left_and_keeps_the_secrets(ledger, holding, reserve):
    digests = ledger.person_digests(["anna", "ben"])
    ledger.attach(holding, "print", digests, ["age", "sex"])
    entry = reserve("1/3", tables=["print"])
    ledger.spend(entry)
    ledger.complete(entry, **SUMS)
    tree = ledger.to_json()
    text = json.dumps(tree)
    listed = tree["holdings"][0]
    assert listed["left"] == {"epsilon": "2/3", "delta": "1/1000000"}
    assert listed["releases"][0]["spent"] == {"epsilon": "1/3", "delta": "0/1"}
    assert listed["releases"][0]["internal_sums"] == "b" * 64
    assert listed["tables"][0]["people"] == 2
    assert tree["head"]["sequence"] == ledger.head().sequence
    assert not any(str(one) in text or f"{one:x}" in text for one in digests.tolist())
    assert ledger._key().hex() not in text


def test_the_listing_takes_the_accountant_of_each_holding(ledger, holding, reserve):
    reserve("0.25")
    reserve("0.5")

    def largest(guarantees):
        return max(Fraction(one["epsilon"]) for one in guarantees), Fraction(0)

    (listed,) = ledger.to_json({holding: largest})["holdings"]
    assert (listed["totals"], listed["spent"]["epsilon"]) == ("composed", "1/2")
    (listed,) = ledger.to_json({"another": largest})["holdings"]
    assert (listed["totals"], listed["spent"]["epsilon"]) == ("added", "3/4")


def test_an_entry_is_found_or_not(ledger, holding, reserve):
    entry = reserve("0.25")
    assert ledger.find(entry) == ledger.entry(entry)
    assert ledger.find("r0") is None


def test_a_release_reads_only_tables_of_its_holding(ledger, holding, reserve):
    with refused("not_attached"):
        reserve("0.1", tables=["unknown"])
    assert ledger.entries() == []


def test_the_default_file_lies_in_the_users_data_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    assert default_path().name == "ledger.sqlite"
    assert "custos" in default_path().parts


# Words


def test_every_code_has_both_sentences_and_every_sentence_a_code():
    source = "\n".join(
        file.read_text(encoding="utf-8") for file in Path(engine.ledger.__file__).parent.glob("*.py")
    )
    used = set(re.findall(r'"ledger\.([a-z_]+)"', source))
    used |= {f"{table}_differs" for table in ("holding", "attached", "entry")}
    used |= {f"cannot_be_{to}" for to in ("spent", "freed", "complete", "failed", "withdrawn", "resolved")}
    used |= {f"no_{name}" for name in re.findall(r'words\(\w+, "(\w+)", required=True\)', source)}
    used |= {f"known_{ground}" for ground in GROUNDS}
    used -= {"sqlite"}
    there = tomllib.loads((files("resources") / "texts/en/errors/ledger.toml").read_text(encoding="utf-8"))
    assert set(there) == used
    assert all(entry.keys() == {"what", "do"} for entry in there.values())


def test_a_second_object_sees_the_same_ledger(ledger, holding, reserve, path):
    entry = reserve("0.1")
    assert Ledger(path).entry(entry) == ledger.entry(entry)
    assert Ledger(path, read_only=True).status(holding) == ledger.status(holding)
