"""What a report says holds in each form that a release can take: of each fit, of few copies, of no sensitive
column, of a table whose values stayed as they were.
"""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from engine import texts
from engine.evaluation import released_rows
from engine.evaluation.protocol import Private
from engine.evaluation.risk_after import RiskAfter
from engine.evidence import read_public
from engine.methods.catalogue import method, methods
from engine.methods.datasets.imputation import programs
from engine.methods.datasets.synthesis.combined import Rule, estimates_view
from engine.methods.protocol import DictionaryEntry, Release, TableArtefact
from engine.privacy.promise import Promise, Unit
from engine.release.bundle import write_artefact
from engine.report.content.front import front
from engine.report.words import word
from engine.table.schema import Column, Kind, Role, Schema
from engine.table.table import Table
from engine.views import NumberView, Text
from tests.engine.methods import examples_run
from tests.engine.report.test_report_content import all_texts

LANGUAGES = ("en", "de", "fr")


def said(text_id: str, language: str = "en") -> str:
    return word(Text(text_id), language)


@pytest.mark.parametrize("method_id", ["models.additive", "models.linear", "models.logistic"])
def test_each_way_to_fit_cites_what_it_follows(method_id):
    """The functional mechanism asks sums once, and noisy gradients are no functional mechanism."""
    found = method(method_id)
    cited = {
        fit: found(found.make_request({"people": Schema(())}, {"fit": fit})).followed
        for fit in ("steps", "sums")
    }
    assert cited["steps"] != cited["sums"]
    assert "Functional mechanism" not in cited["steps"].document
    assert "Deep learning" not in cited["sums"].document


def test_no_other_method_has_ways_to_fit_that_all_cite_one_source():
    several = {
        one.id
        for one in methods()
        if any(parameter.name == "fit" and len(parameter.choices) > 1 for parameter in one.parameters)
    }
    assert several == {one.id for one in methods() if one.published_by_fit}


def test_who_is_alone_by_what_was_computed_of_the_row_is_counted():
    """Everybody has a number of their own, two of three share the label; pseudonyms are nothing known."""
    schema = Schema((Column("age", Role.IDENTIFYING, Kind.INTEGER), Column("ill", Role.OTHER, Kind.CATEGORY)))
    found = method("datasets.features")
    subject = found(found.make_request({"people": schema}, {}))
    meaning = Text("datasets.as_it_is")
    after = pd.DataFrame({"pseudonym": list("xyz"), "feature_1": ["1", "2", "3"], "ill": list("aab")})
    entries = (
        DictionaryEntry("pseudonym", meaning, "text"),
        DictionaryEntry("feature_1", meaning, "number"),
        DictionaryEntry("ill", meaning, "category"),
    )
    alone = {}
    for left_out in ("", "feature_1"):
        kept = [one for one in entries if one.name != left_out]
        frame = after[[one.name for one in kept]]
        release = Release(
            (TableArtefact("table", (frame,), tuple(kept), origins=np.arange(3)),),
            Promise("none", None, Unit.ROW, 1),
        )
        table, measure = Table(pd.DataFrame({"age": [1, 2, 3], "ill": list("aab")})), RiskAfter()
        context = Private(subject, table, schema, table, release).only(measure.needs)
        alone[left_out] = measure.evaluate(context).figures["alone_by_all"]
    assert alone == {"": 3, "feature_1": 1}


@pytest.mark.parametrize(("method_id", "above"), [("datasets.texts", True), ("statistics.counts", False)])
def test_numbers_above_a_threshold_are_not_said_to_be_one_for_each_declared_cell(method_id, above):
    """How many lines are usual follows from people; how many cells are declared does not."""
    evidence = read_public(examples_run.evidence(examples_run.ran(method(method_id))[0][1]))
    assert evidence.promise.clears is above
    card = next(
        one for one in evidence.views if isinstance(one, NumberView) and ".numbers.cells" in one.three.id
    )
    assert ("does not depend" in said(f"{card.three.id}.change")) is not above
    assert ("one for each declared cell" in said(f"{card.three.id}.what")) is not above
    told = {one.id for one in all_texts(list(front(evidence)))}
    assert ("report.front.numbers_above_what" in told) is above


@pytest.mark.parametrize("language", LANGUAGES)
def test_one_copy_of_replaced_values_gives_no_interval(tmp_path, language):
    frame = pd.DataFrame({"cost": [str(one) for one in range(20)]}, dtype="str")
    column = Column("cost", kind=Kind.NUMBER)
    alone = estimates_view([frame], [column], rows=20, rule=Rule.PARTIAL)
    assert alone.rows == (("cost", 9.5, None, None),)
    assert word(alone.note, language) != said(
        "methods.datasets.imputation.views.estimates.note_partial", language
    )
    both = estimates_view([frame, frame], [column], rows=20, rule=Rule.PARTIAL)
    assert None not in both.rows[0]


def test_the_program_for_one_copy_says_that_its_interval_is_not_known(tmp_path):
    frame = pd.DataFrame({"cost": [str(one) for one in range(20)]}, dtype="str")
    table = TableArtefact("table", (frame,), ())
    for artefact in (table, *programs(table.files, Rule.PARTIAL)):
        write_artefact(tmp_path, artefact, "en")
    done = subprocess.run(
        [sys.executable, "combine.py", "cost"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.split("\t")[1:] == ["9.5", "nan", "nan\n"]
    for name in ("combine.py", "combine.R"):
        assert "1 copies" not in (tmp_path / name).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("text_id", "condition"),
    [
        ("promises.k_anonymity.must_know", "where the dictionary says so"),
        ("promises.k_anonymity.must_know_complete", "where the dictionary says so"),
        ("promises.masked.must_know", "where that is possible"),
        ("promises.masked.can", "where that is possible"),
        ("methods.datasets.masking.record", "where something does"),
        ("measures.risk.linked_people.numbers.copies.change", "Without one"),
        ("measures.utility.synthetic_predictions.numbers.loss.what", "where none is marked as sensitive"),
        ("measures.risk.synthetic_copied.numbers.told.what", "where none is marked as sensitive"),
        ("measures.utility.synthetic_estimates.numbers.analyses.how", "where none is marked as sensitive"),
        ("statistics.dictionary.group", "where values have some"),
        ("grouping.views.minimality.note", "Where size alone did not forbid"),
    ],
)
def test_what_holds_of_some_releases_alone_says_of_which(text_id, condition):
    assert condition.lower() in texts.catalogue()[text_id].lower()


def test_a_declared_value_that_is_called_other_keeps_its_name_to_itself():
    """What was not declared is written ``(other)`` beside it: two bars of one name say nothing."""
    rows = pd.DataFrame({"gender": ["other", "(other)", "(other)"]}, dtype="str")
    shares = released_rows._shares(rows, 1, 0.0, {"gender": "(other)"}, "").views[0]
    for language in LANGUAGES:
        named = [word(one, language) for one in shares.labels]
        assert len(set(named)) == 2
        assert sum(")" in one for one in named) == 1
    rows = pd.DataFrame({"gender": ["other", "other", "girl"]}, dtype="str")
    alone = released_rows._shares(rows, 1, 0.0, {"gender": "other"}, "").views[0]
    assert [word(one, "de") for one in alone.labels] == ["gender: sonstige", "gender: girl"]
