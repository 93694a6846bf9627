"""Whose rows are used is said before anything is read: how many of each person, and who is kept apart."""

import pytest

from engine import texts
from engine.commands.plan import check_lines
from engine.methods.catalogue import method
from engine.release import examples
from engine.release.preview import preview, preview_json, whose_rows


def said(method_id: str, people: int | None) -> str:
    found = method(method_id)
    plan = examples.plans(found)[0]
    return " ".join(texts.text(one.id, **one.values) for one in whose_rows(found(plan.request), people))


def test_of_1800_stays_of_1006_people_about_805_rows_are_foreseen():
    """One row of each, and a fifth of the people kept apart: nobody shall find out from the file."""
    words = said("datasets.imputation", 1006)
    assert "one row will be used" in words and "a fifth of the people" in words
    assert "With 1,006 people that is at most about 805 rows" in words


@pytest.mark.parametrize("method_id", ["statistics.counts", "datasets.k_anonymity", "models.additive"])
def test_a_cap_is_said_without_a_number_of_people_too(method_id):
    assert "one row will be used" in said(method_id, None) and "With " not in said(method_id, None)


def test_nothing_is_said_where_no_rows_of_people_are_read():
    assert said("exchanges.survey", 1000) == ""


def test_the_preview_says_it_in_both_forms():
    plan = examples.plans(method("datasets.imputation"))[0]
    found = preview(plan, None)
    assert [texts.text(one.id, **one.values) for one in found.rows] == preview_json(plan, None)["rows"] != []


@pytest.mark.parametrize("language", ["en", "de", "fr"])
def test_a_plan_that_is_checked_on_the_command_line_says_it_to_people(language):
    plan = examples.plans(method("datasets.imputation"))[0]
    answer = preview_json(plan, None, language=language)
    assert answer["rows"] and set(answer["rows"]) <= set(check_lines(answer, language))
