"""What to look at in a release, worst first, from its evidence."""

from __future__ import annotations

import copy

import pytest

from app import words
from app.screens.release.looking import points
from engine.methods.filling import Judged
from engine.release.verdict import Came, silent_cells
from engine.views import TableView, Text, weak

FACTS = {
    "public": {"method": {"family": "statistics"}, "measures": {}},
    "internal": {"input": {"rows": 10, "rows_used": 10}, "holding": {"name": "Register", "bounds_all": True}},
}


def facts(**internal):
    """Return facts of a release with nothing to look at, and some changes inside."""
    found = copy.deepcopy(FACTS)
    found["internal"] |= internal
    return found


def names(found):
    return [point.name for point in points(found)]


def test_nothing_stands_out():
    assert points(FACTS) == ()


def test_what_an_attack_read_stands_before_what_no_total_bounds():
    read = {"id": "app.release.point.nothing", "values": {}}
    unbounded = {"name": "Register", "bounds_all": False}
    found = points(facts(inside={"sentence": read}, holding=unbounded))
    assert [(one.tone, one.name) for one in found] == [("care", "attacked"), ("care", "unbounded")]
    assert found[0].values["said"] == words.say("app.release.point.nothing")


def shown(values):
    """Return a released table with some numbers in brackets."""
    return TableView("t", ("group", "count", "margin"), tuple(("a", value, 4) for value in values))


def test_numbers_without_information_are_worst_when_they_are_most():
    found = facts(input={"rows": 10, "rows_used": 8})
    few, most = shown([weak(1), 9, 8, 7]), shown([weak(1), weak(2), weak(0), 7])

    def came(*views):
        return [silent_cells(views, is_model=False)]

    assert [(one.tone, one.name) for one in points(found, came(few))] == [
        ("care", "weak"),
        ("quiet", "left_out"),
    ]
    first = points(found, came(few, most))[0]
    assert (first.tone, first.values) == ("wrong", {"guesses": 3, "cells": 4})
    assert names(FACTS) == []


def test_points_of_values_that_nobody_has_do_not_make_a_model_useless():
    """A table of a pair: of missing values, every number is in brackets in every release."""
    found = facts()
    found["public"]["method"]["family"] = "model"
    rows = (
        ("a", 1.5, weak(0.1), weak(2)),
        ("b", weak(0.2), 1.2, weak(3)),
        ("missing", *map(weak, (1, 2, 3))),
    )
    views = (TableView("t", ("x, by y", "c", "d", "missing"), rows), TableView("u", ("n",), ()))
    (point,) = points(found, [silent_cells(views, is_model=True)])
    assert (point.tone, point.name, point.values) == ("care", "weak", {"guesses": 7, "cells": 9})
    told = TableView("t", ("x, by y", "c"), (("a", 1.5), ("b", 1.2)))
    assert silent_cells((told,), is_model=True) is None


def test_effects_say_what_was_foreseen_where_the_noise_made_them_nothing():
    before = Judged(
        0.2, Text("methods.models.additive.judged.some", {"needed": 7, "rows": 4, "below": 47, "effects": 59})
    )
    found = points(facts(), [Came("effects", 47, 59, before)])
    assert [(one.tone, one.name) for one in found] == [("wrong", "effects"), ("wrong", "foreseen")]
    assert "47 of 59" in words.say("app.release.point.effects", **found[0].values)
    assert "47 of 59" in words.say("app.release.point.foreseen", **found[1].values)
    (point,) = points(facts(), [Came("effects", 47, 59)])
    assert point.tone == "care", "nobody foresaw it: there may be no effect"
    assert points(facts(), [Came("effects", 3, 59)])[0].tone == "quiet"


def test_a_model_that_does_not_agree_with_its_tables_is_named():
    def noted(name):
        found, values = facts(), {"tables": "sex × ward", "more": 0, "off": 12.0}
        found["public"]["notes"] = [{"id": f"methods.datasets.marginals.notes.{name}", "values": values}]
        return points(found)

    (point,) = noted("agrees_no_more")
    assert (point.tone, point.name) == ("care", "apart")
    assert "sex × ward" in words.say("app.release.point.apart", **point.values)
    assert noted("agrees_yes") == noted("agrees_nearly") == ()


def test_a_model_that_only_guesses_is_named():
    def scored(explained):
        return facts(measures={"utility.held_out_score": {"m": {"rows": 99, "explained": explained}}})

    assert [(one.tone, one.name) for one in points(scored(0.0))] == [("wrong", "guessing")]
    assert points(scored(0.015))[0].tone == "care" and points(scored(0.015))[0].values == {"rows": 99}
    assert names(scored(0.2)) == names(scored(None)) == []


@pytest.mark.parametrize(
    ("without_noise", "name", "tone"), [(3.27, "guessing_by_itself", "care"), (2.9, "guessing", "wrong")]
)
def test_noise_is_not_blamed_for_columns_that_say_little(without_noise: float, name: str, tone: str):
    """The preview told that noise would not hide the effects: the release says no other."""
    score = {"rows": 99, "explained": -0.01, "guess": 3.26, "error": 3.28, "without_noise": without_noise}
    (point,) = points(facts(measures={"utility.held_out_score": {"m": score}}))
    assert (point.name, point.tone) == (name, tone)
    said = words.say(f"app.release.point.{name}", **point.values)
    assert ("larger ε" in said) == (name == "guessing")


def test_rows_that_had_no_part_are_named():
    found = facts(input={"rows": 10, "rows_used": 6, "rows_without_key": 1})
    assert names(found) == ["without_key", "left_out"]
    assert points(found)[1].values == {"left": 3, "rows": 10}


def test_going_beyond_what_was_stated_stands_with_its_reason():
    price = {"constants": {"budget": 100, "largest_error": 5}, "epsilon": "1", "budget": 200.0}
    plan = {"decisions": [{"decision": "over_money", "reason": "agreed"}]}
    found = points(facts(price=price | {"window": {"lower": 2}}, plan=plan))
    assert [one.name for one in found] == ["beyond_over_money", "beyond_over_error_unsaid"]
    assert found[0].values == {"reason": "agreed"}


def test_numbers_further_off_than_they_say():
    measured = {"utility.released_error": {"a": {"cells": 20, "within": 10}}}
    assert names(facts(measures=measured)) == ["off"]
    measured["utility.released_error"]["a"]["within"] = 17  # one of about sixty releases has as few
    assert names(facts(measures=measured)) == []


def test_a_register_without_a_total_is_named():
    assert names(facts(holding={"name": "Register", "bounds_all": False})) == ["unbounded"]


def test_every_point_has_its_words():
    for name in (
        "weak",
        "effects",
        "foreseen",
        "off",
        "without_key",
        "left_out",
        "findings",
        "unbounded",
        "nothing",
    ):
        assert words.has(f"app.release.point.{name}")
    for name in ("over_money", "over_error", "second_model"):
        assert words.has(f"app.release.point.beyond_{name}")
        assert words.has(f"app.release.point.beyond_{name}_unsaid")
