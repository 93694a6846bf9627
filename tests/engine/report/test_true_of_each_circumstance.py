"""What a report says holds in the circumstances of a release: of rounded tables of one column, of columns
that were grouped apart, of values that are equally frequent, of methods that were set otherwise than usual.
"""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

from engine import texts
from engine.evaluation import released_rows
from engine.evidence import read_public
from engine.methods.catalogue import method
from engine.report.content.annex import _numbers_of_views
from engine.report.content.front import front
from engine.report.content.shared import of_form
from engine.report.findings import find_sentence
from engine.report.words import word
from engine.views import Text
from tests.engine.methods import examples_run
from tests.engine.methods.statistics.test_protected_table import PEOPLE, released, table
from tests.engine.report.test_report_content import all_texts

LANGUAGES = ("en", "de", "fr")
NUMBERS = "methods.statistics.protected_table.numbers"


@pytest.mark.parametrize(
    ("form", "name"),
    [
        ("hidden", "count"),
        ("controlled_rounding", "rounded"),
        ("random_rounding", "rounded"),
        ("cell_keys", "changed"),
    ],
)
def test_a_number_of_a_table_in_one_column_is_explained_as_it_was_made(form: str, name: str) -> None:
    given = {"columns": ["sex"], "form": form, "base": 5, "largest": 2, "variance": 1, "none_to": 0}
    needed = {"hidden": (), "cell_keys": ("largest", "variance", "none_to")}.get(form, ("base",))
    kept = {one: value for one, value in given.items() if one in ("columns", "form", *needed)}
    cap = 1 if form == "cell_keys" else None
    people = [str(one) for one in range(sum(PEOPLE.values()))] if cap else None
    views = released(kept, table(PEOPLE, people), cap).views
    assert views[0].headings[-1].id == f"{NUMBERS}.{name}.label"
    told = [one.three for one in _numbers_of_views(views)]
    explained = [one for one in told if one.id.startswith(f"{NUMBERS}.")]
    assert [one.id for one in explained] == [f"{NUMBERS}.{name}"]
    for language in LANGUAGES:
        for part in ("what", "how", "change"):
            assert "{" not in word(Text(f"{explained[0].id}.{part}", explained[0].values), language)


def _evidence(method_id: str, kind: str = "", **given: object):
    evidence = read_public(examples_run.evidence(examples_run.ran(method(method_id))[0][1]))
    promise = replace(evidence.promise, kind=kind) if kind else evidence.promise
    decided = evidence.decided | {"parameters": evidence.decided["parameters"] | given}
    return replace(evidence, promise=promise, decided=decided)


@pytest.mark.parametrize(
    ("method_id", "kind", "given", "never"),
    [
        ("datasets.microaggregation", "none", {"grouping": "ranking"}, "k − 1"),
        ("datasets.network", "", {"structure": "correlation"}, "up to three others"),
    ],
)
def test_what_a_method_does_is_said_of_the_form_that_was_chosen(method_id, kind, given, never) -> None:
    usual = of_form(_evidence(method_id), "summary")
    chosen = of_form(_evidence(method_id, kind, **given), "summary")
    assert never in word(usual, "en")
    assert never not in word(chosen, "en")
    assert all(word(chosen, language) != word(usual, language) for language in LANGUAGES)


@pytest.mark.parametrize(("values", "most"), [("aabbccdd", []), ("aaabbccd", [["group", "a"]])])
def test_no_value_is_most_frequent_where_others_are_as_frequent(values: str, most: list[list[str]]) -> None:
    rows = pd.DataFrame({"group": list(values)}, dtype="str")
    found = released_rows._shares(rows, 1, 0.0, {}, "")
    assert found.figures == {"most": most}
    if not most:
        finding = find_sentence(found.views[0])
        assert all("3" in word(finding, language) for language in LANGUAGES)  # three others are as frequent
    evidence = read_public(examples_run.evidence(examples_run.ran(method("datasets.features"))[0][1]))
    evidence = replace(evidence, views=found.views, measures={released_rows.ID: found.figures})
    told = {one.id for one in all_texts(list(front(evidence)))}
    assert ("report.front.most_found" in told) is bool(most)


@pytest.mark.parametrize(
    ("text_id", "condition"),
    [
        ("methods.datasets.imputation.notes.totals", "rows that a cap left out are in neither"),
        ("methods.datasets.gaussians.recipient_can", "where a column of classes was chosen"),
        ("methods.datasets.gaussians.views.sets.note", "without a column of classes"),
        ("methods.datasets.linked.recipient_can", "where records have an order"),
        ("methods.datasets.linked.recipient_can", "up to the most that were kept"),
        ("methods.datasets.linked_imputation.recipient_can", "where records have an order"),
        ("methods.datasets.linked_imputation.recipient_can", "up to the most that were kept"),
        ("methods.datasets.communities.recipient_can", "by what they were to differ"),
        ("methods.datasets.traces.summary", "where it was given"),
        ("methods.datasets.traces.summary", "where these were counted"),
        ("methods.datasets.traces.recipient_cannot", "where these were counted"),
        ("methods.models.tree.recipient_can", "where the noise left any question"),
        ("methods.models.linear.card.not_for", "where one was set"),  # small steps take no penalty
        ("report.numbers.people.how", "before conditions"),  # of whom some may have no row left
        ("report.numbers.alone.how", "before conditions"),
        ("report.numbers.under.how", "before conditions"),
        ("report.numbers.alone_row.how", "before conditions"),
        ("report.numbers.under_row.how", "before conditions"),
        ("grouping.views.inside.note", "where two of them read alike"),
        ("measures.utility.linked_kept.numbers.mean.how", "by intervals"),
        ("measures.risk.synthetic_matching.views.cases.near", "used or kept apart"),
        ("measures.risk.linked_people.numbers.copies.what", "by intervals"),
    ],
)
def test_what_holds_of_some_settings_alone_says_of_which(text_id: str, condition: str) -> None:
    assert condition in texts.catalogue()[text_id].lower()


@pytest.mark.parametrize("details", [True, False])
def test_details_are_weighed_where_there_are_some(details: bool) -> None:
    plan = next(iter(examples_run.ran(method("datasets.linked"))))[0]
    of_details = ("detail_columns", "about_details", "record", "record_of", "most_details")
    given = {name: one for name, one in plan.parameters.items() if details or name not in of_details}
    schemas = {name: one for name, one in plan.schemas.items() if details or name != "details"}
    found = method("datasets.linked")
    design = found(replace(found.make_request(schemas, given), budget=plan.budget))
    ids = {one.id for one in design.forecast.notes}
    assert ("methods.datasets.linked.notes.weighed" in ids) is details
    assert ("methods.datasets.linked.notes.weighed_alone" in ids) is not details


@pytest.mark.parametrize("name", ["title", "recipient_can", "recipient_cannot"])
def test_groups_that_are_written_by_steps_are_not_said_to_be_ranges(name: str) -> None:
    steps = of_form(_evidence("datasets.partition", written="nodes"), name)
    assert "range" in word(of_form(_evidence("datasets.partition"), name), "en").lower()
    assert "range" not in word(steps, "en").lower()
    assert "Bereich" not in word(steps, "de") and "tranche" not in word(steps, "fr")


@pytest.mark.parametrize("named", ["row", "earlier"])
def test_a_name_that_reads_like_a_choice_chooses_nothing(named: str) -> None:
    """A column of pseudonyms called “row” had the report speak of rows without a key."""
    usual = of_form(_evidence("datasets.pseudonyms"), "recipient_can")
    assert of_form(_evidence("datasets.pseudonyms", pseudonym=named), "recipient_can") == usual
    assert of_form(_evidence("datasets.pseudonyms", key="earlier"), "recipient_can") != usual


def test_shares_of_one_of_several_tables_name_its_file() -> None:
    """80 % of the people of two tables were 80 % of “the released rows”."""
    for ran in ("datasets.linked", "datasets.linked_imputation"):
        title = Text(f"{released_rows.WORDS}.views.shares.title")
        view = next(one for one in _evidence(ran).views if one.title == title)
        assert all("people.csv" in word(view.note, language) for language in LANGUAGES)
    alone = released_rows._shares(pd.DataFrame({"a": list("xxy")}), 1, 0.0, {}, "").views[0]
    assert "the released rows" in word(alone.note, "en")
