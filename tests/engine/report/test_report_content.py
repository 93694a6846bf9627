"""What stands in the reports: nothing private outside, nothing unexplained, no verdict, no false sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from fractions import Fraction

import pytest

from engine import texts
from engine.evidence import InternalEvidence
from engine.methods import catalogue
from engine.methods.protocol import Budget, Expected
from engine.pricing.price import Price
from engine.pricing.statement import excess_probability, price_statement, privacy_statement
from engine.privacy.mechanisms.discrete_gaussian import DiscreteGaussian
from engine.privacy.promise import Loss, Neighbours, Promise, Status, Unit, promise_kind, promise_kinds
from engine.release import examples
from engine.release.preview import error_sentence
from engine.release.write import _expected
from engine.report import content, html
from engine.report.content.annex import annex
from engine.report.content.cover import accuracy
from engine.report.content.facts import PRINTED, declared_words, facts_of, own_words, rows_used
from engine.report.content.made import describe_making
from engine.report.content.private import decisions as private_decisions
from engine.report.content.promise import criteria
from engine.report.content.results import compact, results
from engine.report.document import (
    Callout,
    Explanations,
    Facts,
    Headline,
    KeyValues,
    Numbers,
    SideBySide,
    Signatures,
    explanations,
    unfold,
)
from engine.report.words import is_number
from engine.report.words import word as printed
from engine.table.schema import Column, Domain, Kind, Origin, Schema
from engine.views import NumberView, TableView, Text

PICKED = """cover.exact columns.intro annex.build roles kinds_of_column origins units neighbours bounds
table.held noise mechanisms composition numbers kinds explained footer words months decisions.kinds criteria
groups.motive groups.control done.steps rows findings front"""
RARE = """table.sample price.lawyer columns.code words.as_above front.without_asides
columns.one_row_each columns.names_people columns.names_people_changed
verify.key verify.key_locked verify.key_open
cover.exact_invented cover.exact_moment results.intro_invented_moments cover.exact_tested
cover.exact_cell cover.exact_range_cell results.intro_invented
cover.untitled cover.total_value cover.total_delta cover.total_less
cover.total_unbounded cover.total_counted cover.total_some
cover.left_delta cover.exact_range cover.review
words.same words.beside words.nothing_under words.thin_band
cover.exact_drawn cover.exact_drawn_range cover.exact_drawn_share cover.exact_drawn_share_range
cover.setting cover.contact cover.request_number
columns.more_values columns.code_list columns.range columns.range_step columns.described
at_risk.above_ln3 table.findings price.none price.affordable price.set_aside guarantee.delta
price.largest_error price.apart price.apart_note price.fine price.incident decisions.none decisions.within
decisions.over_money decisions.over_error decisions.second_model decisions.no_reason
decisions.ahead
price.precedent price.no_year price.calibrated price.printed price.any_level price.band price.within
price.above price.window_lower_upper price.window_lower price.window_upper price.window_error
price.window_money price.window_both price.window_open price.conclusion_open
price.none_unbounded words.shortened words.shortened_inside words.numbered front.untouched_bound_what
front.numbers_hidden_what front.total_axis price.second_model_replace_one price.conclusion_stays
price.conclusion_changes price.second_model results.intro_plain results.intro_model results.intro_nothing
results.intro_invented_rows results.intro_apart results.intro_curve results.file columns.of_source
results.intro_invented_untold
limits.no_guarantee limits.each_alone
annex.tested_unbounded done.tried done.forecast done.forecast_intro guarantee.posterior_value
done.forecast_elsewhere front.given front.given_what results.intro_yes_no
cover.exact_prediction cover.exact_range_prediction cover.groups_value_row
verify.withdrawn_how verify.withdrawal unchecked.row verify.key verify.key_locked verify.key_open
done.part done.record guarantee.bias_row limits.margins_row groups.alone_row groups.intro_row
groups.causes_row groups.people_row groups.causes_note_row"""
# Printed in reports of surveys, see their tests
LOCAL = """
cover.exact_survey cover.entered results.intro_local results.intro_local_kit results.inside_plain
guarantee.posterior_answer guarantee.truth guarantee.answers guarantee.changes
guarantee.changes_drawn guarantee.changes_drawn_note limits.stays_personal_local
limits.correctness_local limits.formal_local limits.machine_local limits.machine_shared limits.machine_paper
unchecked.page unchecked.form
unchecked.one_report"""
# Printed of some kinds of promises alone, see "each sentence, each promise" below
OF_SOME = """limits.stays_personal_too limits.no_dominance_row limits.adaptive cover.status
cover.guesses_worst cover.opened cover.share cover.status_statistical cover.status_personal
results.intro_rank
cover.exact_opened_delta guarantee.bias_visit verify.retention_how_unread"""
OF_NOISE = ("noise", "ε", "epsilon", "sampler", "declared bounds", "margin", "grid step")


@pytest.fixture(scope="module")
def outside(sample):
    return content.external(sample.public)


@pytest.fixture(scope="module")
def inside(sample):
    return content.internal(sample.public, sample.kept)


@pytest.fixture(scope="module")
def public_words(outside):
    return html.render(outside, evidence=b"{}").decode()


@pytest.fixture(scope="module")
def private_words(inside):
    return html.render(inside, evidence=b"{}").decode()


def all_texts(value) -> Iterator[Text]:
    if isinstance(value, Text):
        yield value
    if is_dataclass(value):
        for part in fields(value):
            yield from all_texts(getattr(value, part.name))
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from all_texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from all_texts(item)


def test_the_external_report_takes_public_evidence_and_nothing_else(sample):
    for other in (sample.kept, None, {}, "x"):
        with pytest.raises(TypeError):
            content.external(other)


def test_nothing_of_the_internal_evidence_stands_outside(sample, public_words, private_words):
    public, private = public_words, private_words
    for secret in (
        sample.secret,
        "101,766",
        "71,518",
        "diabetes_encounters.csv",
        "Diabetes register",
        "fcde2b2e",
    ):
        assert secret in private, secret
        assert secret not in public, secret
    for name in ("price", "decisions", "table"):
        heading = texts.text(f"report.sections.{name}")
        assert heading in private
        assert heading not in public


def test_both_reports_print_the_fixed_sentence(public_words, private_words):
    sentence = (
        "Columns, groups and ε were chosen by someone who could see the table; "
        "the guarantee covers the release given those choices."
    )
    for shown in (public_words, private_words):
        assert shown.count(sentence) == 1


def test_the_fixed_sentence_is_printed_without_any_assumption(sample):
    bare = replace(sample.public, promise=replace(sample.public.promise, assumptions=()))
    written = html.render(content.external(bare), evidence=b"{}").decode()
    assert "chosen by someone who could see the table" in written


def test_every_number_has_its_three_texts_and_they_are_printed(outside, inside):
    for document in (outside, inside):
        named = {item.three.id for item in explanations(tuple(document.parts()))}
        printed = {
            item.three.id
            for part in document.parts()
            if isinstance(part, Explanations)
            for item in part.items
        }
        assert named <= printed
        for part in document.parts():
            for row in part.rows if isinstance(part, KeyValues) else ():
                assert row.three is not None or not is_number(row.value), row
        for text_id in printed:
            for one in ("what", "how", "change"):
                assert texts.has(f"{text_id}.{one}"), text_id


def test_numbers_of_the_methods_own_views_are_explained(outside):
    printed = {i.three.id for part in outside.parts() if isinstance(part, Explanations) for i in part.items}
    assert {
        "methods.statistics.counts.numbers.count",
        "methods.statistics.counts.numbers.within_95",
    } <= printed


def at_risk_rows(document) -> dict:
    found = {}
    for part in document.parts():
        for row in part.rows if isinstance(part, KeyValues) else ():
            if isinstance(row.label, Text) and row.label.id.startswith("report.at_risk."):
                found[row.label.id.rpartition(".")[2]] = row.value
    return found


def test_the_exact_figures_come_before_the_published_one(outside):
    assert list(at_risk_rows(outside)) == ["exact", "two_sided", "certified", "published"]


def test_privacy_at_risk_is_that_of_the_evidence(sample, outside):
    found, shown = sample.public.statement["at_risk"], at_risk_rows(outside)
    assert shown["exact"] == pytest.approx(found["exact"]["confidence"], rel=1e-3)
    assert shown["two_sided"] == pytest.approx(found["exact"]["confidence_two_sided"], rel=1e-3)
    assert shown["certified"] >= found["certified"]["delta"]
    assert shown["certified"] == pytest.approx(found["certified"]["delta"], rel=1e-3)


def test_a_large_level_brings_a_warning(sample):
    loud = {**sample.public.statement, "at_risk": {**sample.public.statement["at_risk"], "above_ln3": True}}
    document = content.external(replace(sample.public, statement=loud))
    assert [part for part in document.parts() if isinstance(part, Callout) and part.care]


def test_it_is_said_why_no_rule_for_small_cells_was_applied(public_words, private_words):
    for words in (public_words, private_words):
        assert "No rule for small cells or for dominance was applied" in words


def test_no_verdict_is_given(public_words, private_words):
    for text in (public_words.lower(), private_words.lower()):
        for word in ("compliant", "is safe", "fully anonymous", "is anonymised", "privacy score"):
            assert word not in text


def test_the_first_page_says_who_what_why_and_until_when(sample, outside, inside):
    first, *_ = outside.cover
    assert isinstance(first, Callout) and first.large
    assert first.text.id == sample.public.statement["sentence"]["id"]
    names = ("organisation", "recipient", "use", "about", "agreement", "approver")
    more = ("expires", "accuracy", "left", "groups", "money", "unit", "release_kind", "signature_custodian")
    on_page = {text.id for part in inside.cover for text in all_texts(part)}
    assert {f"report.cover.{name}" for name in (*names, *more)} <= on_page
    on_page = {text.id for part in outside.cover for text in all_texts(part)}
    assert {f"report.cover.{name}" for name in names} <= on_page
    whole = {text.id for part in outside.parts() for text in all_texts(part)}
    assert {f"report.cover.{name}" for name in ("unit", "release_kind", "total")} <= whole


def test_page_one_of_what_leaves_is_the_report_in_short(sample, outside):
    kinds = [type(part) for part in outside.cover]
    assert kinds == [Callout, Callout, Headline, Facts, SideBySide, KeyValues, KeyValues]
    assert len(outside.cover[3].items) == 4
    for kind in promise_kinds():
        for _, how in kinds_of_releases():
            evidence = released(sample, kind.id, how) if _ == kind.id else None
            if evidence is not None:
                page = content.external(evidence).cover
                band = page[1]
                assert isinstance(band, Callout) and band.head.id == f"report.front.status_{kind.status}"
                assert band.text == own_words(evidence, "status")
                (found,) = (part for part in page if isinstance(part, Facts))
                assert len(found.items) == 4
                assert not any(isinstance(part, Signatures) for part in page)
    last = outside.sections[-1].parts[-1]
    assert isinstance(last, Signatures)


def test_the_sum_of_the_evidence_stands_on_page_one(sample):
    page = content.external(sample.public, "0123456789abcdef" * 4).cover
    assert any(
        row.value == "0123 4567 89ab cdef 0123 4567 89ab cdef"
        for part in page
        if isinstance(part, KeyValues)
        for row in part.rows
    )


def test_what_was_not_said_is_said_to_be_missing(sample):
    bare = html.render(content.external(replace(sample.public, purpose={})), evidence=b"{}").decode()
    assert bare.count(texts.text("report.words.not_stated")) >= 7


def test_an_unbounded_register_is_warned_about_inside_only(outside, inside):
    warning = "report.cover.unbounded"
    assert warning in {text.id for part in inside.cover for text in all_texts(part)}
    assert warning not in {text.id for text in all_texts(outside)}


def without_a_loss(sample, kind: str, terms=None):
    promise = Promise(kind, None, Unit.ROW, 1, terms or {})
    sentence = {"id": f"promises.{kind}.statement", "values": dict(promise.terms)}
    return replace(
        sample.public,
        promise=promise,
        statement={"kind": kind, "sentence": sentence},
        method={**sample.public.method, "id": "datasets.invented", "published": {}},
        decided={**sample.public.decided, "parameters": {}},
        dictionary=(),
        views=(),
        forecast=(),
        expected=(),
        notes=(),
        measures={},
    )


@pytest.mark.parametrize(("kind", "terms"), [("none", {}), ("k_anonymity", {"k": 5})])
def test_a_release_without_a_bounded_loss_never_speaks_of_noise(sample, kind, terms):
    evidence = without_a_loss(sample, kind, terms)
    bare = replace(sample.kept, price={}, views=())
    for document in (content.external(evidence), content.internal(evidence, bare)):
        text = html.render(document, evidence=b"{}").decode()
        body = text[text.index("<body>") :]
        assert texts.text(f"promises.{kind}.statement", **terms) in body
        assert texts.text("report.limits.no_guarantee") in body
        words = re.sub(r"<[^>]+>", " ", body)
        said = [
            words[place - 60 : place + 40] for word in OF_NOISE if (place := words.lower().find(word)) >= 0
        ]
        assert not said, (kind, said)


def all_numbers(document) -> list[NumberView]:
    return [number for part in document.parts() if isinstance(part, Numbers) for number in part.numbers]


def test_little_evidence_still_makes_reports(sample):
    kept = InternalEvidence(plan={}, input={})
    public = replace(
        sample.public, title="", purpose={}, dictionary=(), forecast=(), views=(), notes=(), decided={}
    )
    for document in (content.external(public), content.internal(public, kept)):
        assert texts.text("report.cover.untitled") in html.render(document, evidence=b"{}").decode()


def test_the_price_chapter_shows_every_form_side_by_side(private_words, sample):
    text = private_words
    for amount in (
        sample.kept.price["budget"],
        sample.kept.price["expected"],
        sample.kept.price["liability"],
    ):
        assert f"{round(amount):,}" in text
    for name in ("published", "exact", "exact_two_sided"):
        assert f"{round(sample.kept.price[name]['budget']):,}" in text
    for name in ("c_halved", "c_doubled"):
        assert f"{round(sample.kept.price[name]):,}" in text


def test_domains_of_every_form_are_written(sample):
    domains = (
        {"minimum": "0", "maximum": "120", "step": "1/2"},
        {"minimum": "2020-01-01", "maximum": "2020-12-31"},
        {"code_list": "yes_no"},
        {"values": [f"value {n}" for n in range(30)]},
        None,
    )
    columns = [
        {"name": f"c{n}", "role": "other", "kind": "number", "domain": domain, "domain_origin": "declared"}
        for n, domain in enumerate(domains)
    ]
    decided = {
        **sample.public.decided,
        "columns": columns,
        "parameters": {"odd": [{"column": "c1", "edges": [0, 2.5]}]},
    }
    text = html.render(content.external(replace(sample.public, decided=decided)), evidence=b"{}").decode()
    for words in (
        "0 to 120 in steps of 0.5",
        "1 January 2020 to 31 December 2020",
        "code list “Yes or no”: Yes\u00a0=\u00a0yes, No\u00a0=\u00a0no",
        "(30 values)",
        "edges: 0 · 2.5",
    ):
        assert words in text, words


def test_rows_are_called_rows(sample):
    """Where rows are protected, nothing promises anything about a person."""
    promise = replace(sample.public.promise, unit=Unit.ROW, rows_per_person=1)
    evidence = replace(sample.public, promise=promise, statement=privacy_statement(promise))
    text = html.render(content.external(evidence), evidence=b"{}").decode().replace("\u00a0", " ")
    assert "odds that a certain row is in the table" in text
    assert "With and without any one row" in text
    assert "a certain person is in the table" not in text
    assert "any one person" not in text
    assert "A person with k rows is protected by k times ε only." in text
    assert "above the cap" not in text and "by the cap" not in text


def test_rows_that_stand_alone_are_not_called_people_inside(sample):
    promise = replace(sample.public.promise, unit=Unit.ROW, rows_per_person=1)
    evidence = replace(sample.public, promise=promise, statement=privacy_statement(promise))
    text = html.render(content.internal(evidence, sample.kept), evidence=b"{}").decode()
    sizes = sample.kept.group_sizes
    assert f"{sizes['alone']:,} of {sizes['people']:,} rows differ from all others" in text
    assert "People who stand alone" not in text and "Rows that stand alone" in text
    each = replace(evidence, decided={**evidence.decided, "one_row_each": True})
    assert (
        "People who stand alone" in html.render(content.internal(each, sample.kept), evidence=b"{}").decode()
    )


def test_what_was_not_chosen_and_what_has_parts_is_written_for_people(sample):
    """Nothing chosen is a dash; a record has a line of its own with the labels of its parts."""
    method = {**sample.public.method, "id": "exchanges.survey"}
    questions = [
        {"text": "Do you smoke?", "levels": ["yes", "no"], "epsilon": 1, "truth": None},
        {"text": "How often?", "levels": ["never", "often"], "epsilon": None, "truth": "3/4"},
    ]
    decided = {**sample.public.decided, "parameters": {"questions": questions, "intro": "", "title": []}}
    evidence = replace(sample.public, method=method, decided=decided)
    text = html.render(content.external(evidence), evidence=b"{}").decode()
    label = texts.text("methods.exchanges.survey.parameters.questions.fields.text.label")
    assert f"{label}: Do you smoke?" in text and f"{label}: How often?" in text
    assert "levels:" not in text and "truth:" not in text


def test_a_condition_is_written_as_a_sentence_and_not_by_its_keys(sample):
    never = [
        {
            "one": {"column": "sex", "is": "in", "values": ["m"]},
            "other": {"column": "ward", "is": "not_in", "values": ["x y", "z"]},
        },
        {
            "one": {"column": "age", "is": "at_most", "value": 12},
            "other": {"column": "age", "is": "between", "minimum": 1, "maximum": 2},
        },
    ]
    method = {**sample.public.method, "id": "datasets.imputation"}
    decided = {**sample.public.decided, "parameters": {"never": never}}
    text = html.render(
        content.external(replace(sample.public, method=method, decided=decided)), evidence=b"{}"
    )
    for said in ("sex is m", "ward not in (&quot;x y&quot;, z)", "age at most 12", "age between 1 and 2"):
        assert said in text.decode() or said.replace("&quot;", '"') in text.decode(), said


def test_a_person_key_is_spoken_of_where_there_was_one(sample):
    said = texts.text("report.columns.key")
    columns = sample.public.decided["columns"]
    for role, is_said in (("person_key", True), ("identifying", False)):
        changed = [
            {**columns[0], "name": "number", "role": role},
            *[c for c in columns if c["role"] != "person_key"],
        ]
        evidence = replace(sample.public, decided={**sample.public.decided, "columns": changed})
        assert (said in html.render(content.external(evidence), evidence=b"{}").decode()) is is_said


def gaussian() -> Promise:
    event = DiscreteGaussian(Fraction("13.5926"), Fraction(3))
    loss = Loss(Fraction(1), Fraction(1, 10**6), Neighbours.ADD_REMOVE, event)
    return Promise("approximate_dp", loss, Unit.PERSON, 3)


def test_how_many_settings_were_looked_at_is_said_in_both_reports(sample):
    text = texts.text("report.done.tried", count=7)
    assert "7" in text
    looked = replace(sample.public, decided={**sample.public.decided, "tried": 7})
    for evidence, said in ((looked, True), (sample.public, False)):
        for report in (content.external(evidence), content.internal(evidence, sample.kept)):
            assert (text in html.render(report, evidence=b"{}").decode()) is said


def test_how_often_the_factor_is_exceeded_is_computed_and_never_taken_for_delta(sample):
    """Continuous noise of this ratio exceeds ε with 4.92e-6 and 2ε, for a value, with 8.16e-6."""
    promise = gaussian()
    assert promise.loss is not None
    found = excess_probability(promise.loss)
    assert 8.1e-6 < found < 1e-5
    evidence = replace(sample.public, promise=promise, statement=privacy_statement(promise))
    text = html.render(content.external(evidence), evidence=b"{}").decode().replace("\u00a0", " ")
    assert f"at most 1 in {texts.inverse(found)} for this release" in text
    assert "δ = 0.000001" in text
    assert "nothing is promised" not in text
    assert excess_probability(sample.public.promise.loss) == 0


def test_upper_bounds_are_rounded_up(public_words):
    text = public_words.replace("\u00a0", " ")
    assert "at most 62.3 % sure" in text
    assert "62.2" not in text
    assert texts.percent_up(0.5000001) == "50.1\u00a0%"
    assert texts.significant_up(8103.08) == "8,110"


def test_going_beyond_what_was_stated_is_a_decision_with_a_reason(sample):
    promise = gaussian()
    price = price_statement(promise, Price(people=4259, compensation=Fraction(500), budget=Fraction(400_000)))
    window = {"lower": 2, "upper": None, "reason": None}
    price["constants"]["largest_error"] = 10
    kept = replace(sample.kept, price=price | {"window": window}, plan={"decisions": []})
    text = html.render(content.internal(sample.public, kept), evidence=b"{}").decode()
    assert "are above the stated money of EUR 400,000." in text
    assert "the margin is larger than the stated 10" in text
    assert text.count(texts.text("report.decisions.no_reason")) >= 2
    reason = {"decision": "over_money", "reason": "The study cannot wait."}
    said = replace(kept, plan={"decisions": [reason]})
    assert (
        "The study cannot wait."
        in html.render(content.internal(sample.public, said), evidence=b"{}").decode()
    )


def test_a_candidate_that_was_taken_is_a_decision_and_says_where_settings_changed_since(sample):
    taken = {"decision": "candidate_taken", "reason": "B of 8.", "method": "m", "parameters": {"k": 3}}
    for k, end in ((3, ""), (4, "_before")):
        plan = {"method": "m", "parameters": {"k": k}, "decisions": [taken]}
        report = content.internal(sample.public, replace(sample.kept, plan=plan))
        text = html.render(report, evidence=b"{}").decode()
        assert "B of 8." in text
        said = [name for name in ("", "_before") if _said(f"candidate_taken{name}") in text]
        assert end in said and (end == "_before") == ("_before" in said)


def test_a_reason_that_was_given_before_anything_asked_for_it_is_not_printed_as_a_decision(sample):
    """Without a price the release was not above any stated money, and the report said that it was."""
    given = {"decision": "over_money", "reason": "In case."}
    for ahead in (True, False):
        plan = {"decisions": [given | ({"ahead": True} if ahead else {})]}
        kept = replace(sample.kept, price={}, plan=plan)
        rows = [row for part in private_decisions(kept, ()) for row in getattr(part, "rows", ())]
        [said] = [printed(row[0], "en") for row in rows if isinstance(row, tuple) and row[1] == "In case."]
        assert (said == _said("over_money")) is not ahead and said.endswith(_said("over_money"))


def _said(decision: str) -> str:
    return texts.text(f"report.decisions.kinds.{decision}")


def counts(margins) -> TableView:
    rows = tuple(
        (age, sex, again, 10 * n + k, margin)
        for n, (age, sex) in enumerate((a, s) for a in "abc" for s in "fm")
        for k, (again, margin) in enumerate(zip(("no", "yes"), margins, strict=True))
    )
    label = Text("methods.statistics.counts.numbers.within_95.label")
    count = Text("methods.statistics.counts.numbers.count.label")
    return TableView("t", ("age", "sex", "again", count, label), rows)


def test_a_long_table_goes_across_and_says_once_what_is_the_same():
    found = compact(counts((6, 6)))
    assert [printed(one, "en") for one in found.headings] == ["age", "sex", "again: no", "again: yes"]
    assert found.rows[0] == ("a", "f", 0, 1) and len(found.rows) == 6
    assert found.note is not None and found.note.id == "report.words.margin"


def test_a_column_with_few_values_goes_across_where_the_last_has_many():
    rows = tuple((sex, str(age), age) for sex in ("f", "m") for age in range(11))
    shown = compact(TableView("t", ("sex", "age", "count"), rows))
    assert [printed(one, "en") for one in shown.headings] == ["age", "sex: f", "sex: m"]
    assert shown.rows == tuple((str(age), age, age) for age in range(11))


def test_margins_that_differ_stand_beside_their_numbers():
    found = compact(counts((2.7833, 6)))
    assert found.rows[0] == ("a", "f", "0.0 ± 2.8", "1 ± 6")
    short = TableView("t", ("a", "n"), (("x", 1), ("y", 1)))
    assert compact(short) == short


def test_a_column_without_any_cell_is_named_and_not_shown():
    table = TableView("t", ("attack", "made", "unused"), (("by name", 0.5, None), ("by age", 0.1, None)))
    found = compact(table)
    assert found.headings == ("attack", "made") and found.rows == (("by name", 0.5), ("by age", 0.1))
    assert found.note == Text("report.words.nothing_under", {"names": ["unused"]})
    some = TableView("t", ("attack", "unused"), (("by name", None), ("by age", 0.1)))
    assert compact(some) == some


def test_a_long_label_is_said_once_and_referred_to_below():
    asked = "How often did you pass on your password?"
    table = TableView(
        "t", ("question", "answer"), ((asked, "never"), (asked, "once"), ("a", "x"), ("a", "y"))
    )
    shown = [[printed(cell, "en") for cell in row] for row in compact(table).rows]
    assert [row[0] for row in shown] == [asked, "as above", "a", "a"]


def test_margins_of_several_numbers_are_explained_in_one_sentence():
    margin = Text("methods.statistics.counts.numbers.within_95.label")
    rows = tuple((str(at), 10.0 * at, 1.0 + at, 20.0 * at, 2.0 + at) for at in range(3))
    shown = compact(TableView("t", ("row", "a", margin, "b", margin), rows))
    assert shown.note is not None and printed(shown.note, "en").count("±") == 1
    assert len(shown.headings) == 3


def test_no_number_is_lost_when_a_table_is_made_compact():
    table = counts((6, 6))
    cells = [cell for row in compact(table).rows for cell in row if is_number(cell)]
    assert sorted(cells) == sorted(row[3] for row in table.rows)


def test_years_stand_without_a_separator(sample):
    domain = {"minimum": "1984", "maximum": "1988", "step": "1"}
    column = {
        "name": "year",
        "role": "other",
        "kind": "integer",
        "domain": domain,
        "domain_origin": "declared",
    }
    decided = {**sample.public.decided, "columns": [column]}
    text = html.render(content.external(replace(sample.public, decided=decided)), evidence=b"{}").decode()
    assert "1984 to 1988 in steps of 1" in text


def test_nothing_is_printed_twice(outside):
    said: dict[str, int] = {}
    for part in outside.parts():
        for text in all_texts(part) if not isinstance(part, Explanations) else ():
            if texts.has(text.id) and texts.catalogue()[text.id].count(" ") >= 8:
                said[text.id] = said.get(text.id, 0) + 1
    assert not {name for name, times in said.items() if times > 1}


def test_every_text_of_the_report_is_used_or_named_by_a_list(outside, inside):
    """Words that nothing can print are mistakes; groups that are picked by a value are used as a whole."""
    picked = tuple(PICKED.split())
    used = {text.id for document in (outside, inside) for text in all_texts(document)}
    for text_id in texts.catalogue("en"):
        if not text_id.startswith("report."):
            continue
        name = text_id.removeprefix("report.")
        assert (
            text_id in used
            or name in (*RARE.split(), *LOCAL.split(), *OF_SOME.split())
            or name.startswith(picked)
        ), text_id


def test_who_would_gain_and_what_holds_back_stay_inside(sample) -> None:
    purpose = {"motive": "gain", "control": "none of the known", "threshold": "11: own policy"}
    kept = replace(sample.kept, plan={**sample.kept.plan, "purpose": purpose})
    inside = html.render(content.internal(sample.public, kept), evidence=b"{}").decode()
    assert texts.text("report.groups.motive_gain") in inside and "none of the known" in inside
    outside = html.render(content.external(sample.public), evidence=b"{}").decode()
    assert texts.text("report.groups.motive") not in outside


def test_what_a_recipient_does_after_a_withdrawal_is_printed_where_it_was_stated(sample) -> None:
    said = "Told by letter; every copy is deleted within ten days"
    purpose = {**sample.public.purpose, "withdrawal": said}
    with_it = html.render(content.external(replace(sample.public, purpose=purpose)), evidence=b"{}").decode()
    without = html.render(content.external(sample.public), evidence=b"{}").decode()
    assert said in with_it and texts.text("report.verify.withdrawal") not in without


def test_who_checked_stands_in_both_reports_and_whether_the_officer_was_heard_inside_alone(
    sample, private_words
) -> None:
    said = {"checker": "Ms Second, 2 March", "officer": "heard on 1 March"}
    public = replace(sample.public, purpose={**sample.public.purpose, "checker": said["checker"]})
    kept = replace(sample.kept, plan={**sample.kept.plan, "purpose": said})
    outside = html.render(content.external(public), evidence=b"{}").decode()
    inside = html.render(content.internal(public, kept), evidence=b"{}").decode()
    assert said["checker"] in outside and said["checker"] in inside
    assert said["officer"] in inside and said["officer"] not in outside
    for name in said:
        assert texts.text(f"report.cover.{name}") in private_words  # and that nothing was stated


def introduced(evidence, **changed):
    """Return the id of the first sentence of the results."""
    return results(replace(evidence, **changed))[0].id.rpartition(".")[2]


def test_margins_are_spoken_of_where_they_stand(sample):
    evidence = sample.public
    assert introduced(evidence) == "intro"
    bare = (TableView("t", ("group", "rows"), ((1, 5), (2, 7))),)
    assert introduced(evidence, views=bare) == "intro_apart"
    assert introduced(evidence, views=()) == "intro_nothing"
    rows = {**evidence.method, "family": "dataset"}
    assert introduced(evidence, views=bare, method=rows) == "intro_invented_rows"
    assert introduced(evidence, views=bare, method=rows, expected=()) == "intro_invented_untold"
    low = TableView("t", ("column", Text("methods.models.linear.views.headings.low")), (("a", 1.0),))
    assert introduced(evidence, views=(low,)) == "intro"
    model = {**evidence.method, "family": "model"}  # whose fit moves numbers too, and not the noise alone
    assert introduced(evidence, views=(low,), method=model) == "intro_model"


@pytest.mark.parametrize(
    ("method_id", "given", "said", "intro"),
    [
        ("datasets.marginals", {}, "Rows with one value of a column: the noise moves", "intro_invented"),
        ("datasets.network", {}, "Rows with one combination of a column and", "intro_invented"),
        ("datasets.gaussians", {}, "Error of a mean in one group", "intro_invented_moments"),
        ("datasets.seedbased", {"rows": 5}, "Share of the rows with one value of a column", "intro"),
    ],
)
def test_the_first_page_says_what_is_that_far_off(sample, method_id, given, said, intro):
    """A mean of a group is no count, a combination no value, and a share has more errors than noise."""
    domain = Domain(Fraction(0), Fraction(9))
    declared = [
        Column(name, kind=Kind.INTEGER, domain=domain, domain_origin=Origin.DECLARED)
        for name in ("age", "stays")
    ]
    values = {"columns": ["age", "stays"], "about_rows": 5000, **given}
    method = catalogue.method(method_id)
    delta = Fraction(1, 10**6) if method_id == "datasets.seedbased" else Fraction(0)
    budget = Budget(Fraction(2), delta)
    request = method.make_request({"people": Schema(tuple(declared))}, values, budget=budget)
    assert not method(request).problems
    expected = _expected(method(request).forecast)
    evidence = replace(sample.public, expected=expected, measures={})
    (line,) = accuracy(evidence)
    sentence = printed(line, "en")
    limit = texts.plainly(expected[0]["limit"], digits=3, up=True)  # what is said to be most is rounded up
    assert sentence.startswith(said) and texts.number(limit) in sentence
    assert ("comes on top" in sentence) == (method_id == "datasets.seedbased")
    if method_id == "datasets.seedbased":  # the distance of two shares is no share
        assert "in percentage points" in sentence and "%" not in sentence
    assert introduced(evidence) == intro


def test_of_invented_rows_it_is_not_said_that_none_is_like_one_of_the_table(sample):
    """Copies of what many have leave from some methods, and a drawn row may be somebody's by chance."""
    for family, ending in (("dataset", "singling_out_rows"), ("statistics", "singling_out")):
        method = {**sample.public.method, "family": family}
        table = criteria(replace(sample.public, method=method))[1]
        assert table.rows[0].value.id == f"promises.pure_dp.criteria.{ending}"


def test_rows_alone_are_named_where_nothing_else_is_shown(sample):
    plain = Promise("pseudonymous", None, Unit.PERSON, 2)
    file = {"file": "table.csv", "rows": 40, "columns": ["age", "ward"], "sha256": "0"}
    parts = results(replace(sample.public, promise=plain, views=(), artefacts=(file,)))
    (files,) = (part for part in parts if getattr(part, "items", ()) and "file" in part.items[0].values)
    assert [one.id for one in files.items] == ["report.results.file"]
    assert files.items[0].values == {"file": "table.csv", "rows": 40, "columns": ["age", "ward"]}


def test_steps_and_further_tables_are_written_for_people(sample):
    steps = [{"step": "keep_rows_where", "column": "age"}, {"step": "bands", "column": "stay", "to": "long"}]
    column = {"name": "ward", "role": "place", "kind": "category", "source": "population"}
    masks = [{"step": "code_ends_at_percentiles", "column": "stay", "invariant": False}]
    decided = {
        **sample.public.decided,
        "preparation": steps,
        "columns": [column],
        "parameters": {"steps": masks},
    }
    method = {**sample.public.method, "id": "datasets.masking"}
    evidence = replace(sample.public, decided=decided, method=method)
    text = html.render(content.external(evidence), evidence=b"{}").decode()
    assert "Keep rows where" in text and "Bands" in text and "ward (table “population”)" in text
    assert "Step: Cut off at percentiles" in text and "False" not in text
    assert "keep_rows_where" not in text and "code_ends" not in text


def test_a_long_name_stands_once_above_many_columns():
    stays = ("<1", "1 to <3", "3 to <7", ">14")
    rows = tuple((sex, stay, place) for sex in ("f", "m", "x") for place, stay in enumerate(stays))
    shown = compact(TableView("t", ("gender", "time_in_hospital", "count"), rows))
    headings = [printed(one, "en") for one in shown.headings]
    assert headings == ["gender", "time_in_hospital: <1", "1 to <3", "3 to <7", ">14"]
    brief = compact(TableView("t", ("gender", "stay", "count"), rows))
    assert [printed(one, "en") for one in brief.headings[1:3]] == ["stay: <1", "stay: 1 to <3"]


# --- each sentence, each promise ---------------------------------------------------------------------

OWNED = (
    "recipient",
    "must_know",
    "status",
    "criteria.singling_out",
    "criteria.linking",
    "criteria.inferring",
)
FORBIDDEN = {
    "noise": (r"(?<!standard )\bnoise\b|\bnoisy\b|\bmargins?\b", lambda facts: facts.noise or facts.opened),
    "cap": (r"\bthe cap\b", lambda facts: facts.cap),
    "slack": (r"not chosen after looking", lambda facts: facts.delta),
    "bound": (r"\bthe bound holds\b|\bbecomes at most\b", lambda facts: facts.bounded),
    "nothing bounds": (r"no formal guarantee|nothing bounds", lambda facts: not facts.bounded),
    "no row": (r"\bno row of the table leaves\.", lambda facts: not facts.rows),
    "invented": (r"\brows are invented\b", lambda facts: facts.rows and facts.bounded),
    "personal": (r"treat this release as personal data|stays personal data for the custodian",
                 lambda facts: facts.personal),
    "statistical": (r"a statistical result", lambda facts: facts.statistical),
    "judged": (r"whether the (result|rows|release) (is|are) anonymous depends", lambda facts: facts.bounded),
}  # fmt: skip
"""What a report may claim of some releases alone: the words, and of which."""
TERMS = {"k": 11, "columns": "age, gender", "sensitive": "readmitted", "l": 2, "threshold": 5, "largest": 3,
         "base": 5, "rule": "p = 10 %", "gamma": "2"}  # fmt: skip


def kinds_of_releases() -> Iterator[tuple[str, dict]]:
    """Give every kind of promise, and everything that releases of it may differ in."""
    for kind in promise_kinds():
        relations = [None] if not kind.bounded else ["replace_one"] if kind.local else list(Neighbours)
        tables = kind.status is Status.STATISTICAL
        families = (
            ["exchange"] if kind.local else ["statistics"] if tables else ["dataset", "statistics", "model"]
        )
        families = [one for one in families if one == "dataset" or kind.status is not Status.PERSONAL]
        families = ["dataset"] if kind.id == "plausible_deniability" else families
        for relation in relations:
            for family in families:
                for unit in Unit:
                    yield (
                        kind.id,
                        {"relation": relation, "family": family, "unit": unit, "noise": kind.bounded},
                    )
            if kind.bounded and not kind.local:
                yield (
                    kind.id,
                    {"relation": relation, "family": "dataset", "unit": Unit.PERSON, "noise": False},
                )


def released(sample, kind: str, how: dict):
    """Return public evidence of a release of a kind of promise."""
    declared = promise_kind(kind)
    loss = None
    if how["relation"] is not None:
        old = sample.public.promise.loss
        slack = Fraction(0) if kind in ("pure_dp", "local_dp") else Fraction(1, 10**6)
        loss = Loss(old.epsilon, slack, Neighbours(how["relation"]), old.events)
    terms = {name: TERMS[name] for name in declared.terms}
    assumptions = ("exact_integer_noise", "trusted_machine")
    promise = Promise(kind, loss, how["unit"], 1, terms, assumptions)
    noise = how["noise"] and not declared.local
    plain = (TableView("t", ("group", "rows"), ((1, 5), (2, 7))),)
    return replace(
        sample.public,
        promise=promise,
        statement=privacy_statement(promise, readings=False),
        method={**sample.public.method, "id": "datasets.invented", "family": how["family"], "published": {}},
        decided={
            name: part
            for name, part in sample.public.decided.items()
            if name not in ("parameters", "bounds", "rows_per_person") or (name == "bounds" and loss)
        }
        | {"parameters": {}},
        noise=sample.public.noise if noise else {},
        register={},
        dictionary=(),
        views=sample.public.views if noise and how["family"] == "statistics" else plain,
        forecast=(),
        expected=(),
        notes=(),
        measures=sample.public.measures if noise and how["family"] == "statistics" else {},
    )


def said_of(evidence) -> list[str]:
    """Return every sentence of the chapters that words of promises stand in, and of README.txt."""
    ids = ("promise", "criteria", "limits")
    document = content.external(evidence)
    chapters = [s for s in document.sections if s.heading.id.rpartition(".")[2] in ids]
    parts = [text for chapter in chapters for part in chapter.parts for text in all_texts(part)]
    cover = [text for part in document.cover for text in all_texts(part) if ".cover.status_" in text.id]
    owned = [own_words(evidence, name) for name in OWNED]
    return [printed(text, "en") for text in (*parts, *cover, *owned) if texts.has(text.id)]


def false_claims(evidence) -> list[tuple[str, str]]:
    facts = facts_of(evidence)
    return [
        (name, sentence)
        for sentence in said_of(evidence)
        for name, (words, allowed) in FORBIDDEN.items()
        if re.search(words, sentence.replace("\u00a0", " "), re.IGNORECASE) and not allowed(facts)
    ]


@pytest.mark.parametrize("kind", [one.id for one in promise_kinds()])
def test_each_kind_of_promise_owns_its_words(kind):
    for name in OWNED:
        assert texts.has(f"promises.{kind}.{name}"), name
    assert promise_kind(kind).status in Status


@pytest.mark.parametrize("kind", [one.id for one in promise_kinds()])
def test_no_sentence_claims_what_does_not_hold_of_the_release(sample, kind):
    tried = [how for name, how in kinds_of_releases() if name == kind]
    assert tried
    for how in tried:
        assert not false_claims(released(sample, kind, how)), how


def test_a_false_claim_is_found(sample):
    how = {"relation": None, "family": "dataset", "unit": Unit.ROW, "noise": False}
    evidence = released(sample, "masked", how)
    lying = replace(evidence, promise=replace(evidence.promise, kind="pure_dp"))
    lying = replace(lying, statement={**evidence.statement, "posterior": {"presence": 0.6, "value": 0.7}})
    assert {name for name, _ in false_claims(lying)} >= {"bound", "judged", "invented"}
    silent = {"relation": Neighbours.ADD_REMOVE, "family": "statistics", "unit": Unit.ROW, "noise": False}
    assert "noise" in {name for name, _ in false_claims(released(sample, "pure_dp", silent))}


@pytest.mark.parametrize("kind", [one.id for one in promise_kinds()])
def test_anonymous_stands_only_where_it_is_denied_or_left_open(kind):
    """Personal data are called anonymous in no sentence but one that says when alone they would be."""
    for text_id, text in texts.catalogue("en").items():
        if text_id.startswith(f"promises.{kind}."):
            for sentence in re.split(r"(?<=[.])\s", text):
                if "anonym" in sentence.lower().replace("k-anonymity", ""):
                    assert re.search(r"whether|only if|no proof", sentence, re.IGNORECASE), text_id


def test_words_about_what_is_learnt_are_not_shared_across_what_releases_are_in_law():
    found: dict[str, set[Status]] = {}
    for kind in promise_kinds():
        for name in ("must_know", "status", "criteria.singling_out", "criteria.inferring"):
            text = texts.catalogue("en")[f"promises.{kind.id}.{name}"]
            found.setdefault(text, set()).add(kind.status)
    assert not {text for text, statuses in found.items() if len(statuses) > 1}


def test_where_one_is_exchanged_for_another_presence_is_not_said_to_be_hidden(sample):
    for kind, how in kinds_of_releases():
        if how["relation"] == "replace_one" and not promise_kind(kind).local:
            said = " ".join(said_of(released(sample, kind, how)))
            assert "is in the table becomes" not in said, (kind, how)


def test_every_condition_names_a_fact_and_a_sentence():
    for name, words in PRINTED.items():
        assert texts.has(name if name.startswith("assumptions.") else f"report.{name}"), name
        assert {word.removeprefix("not ") for word in words} <= declared_words()


def test_a_cap_that_left_no_row_out_is_not_spoken_of(sample):
    how = {"relation": None, "family": "dataset", "unit": Unit.PERSON, "noise": False}
    evidence = released(sample, "pseudonymous", how)
    cap = texts.text("report.unchecked.cap")
    assert cap in said_of(evidence)
    assert cap not in said_of(replace(evidence, counted={"used": 9}))
    assert cap in said_of(replace(evidence, counted={"used": 9, "above_cap_band": 0}))


def test_whose_rows_were_used_is_said_and_how_many_where_nothing_bounds_the_loss(sample):
    how = {"relation": None, "family": "dataset", "unit": Unit.PERSON, "noise": False}
    counted = {"used": 4259, "above_cap_band": 1, "left_out": 59, "held_out": 975}
    plain = released(sample, "k_anonymity", how)
    decided = {**plain.decided, "rows_per_person": 1, "held_out": "1/5"}
    told = [printed(one, "en") for one in rows_used(replace(plain, decided=decided, counted=counted))]
    said = " ".join(told).replace("\u00a0", " ")
    for words in (
        "one row was used",
        "drawn by lot",
        "left out 5 to 15 % of the rows",
        "4,259 rows",
        "975 further rows",
        "59 of the rows",
        "1.4 %",
    ):
        assert words in said, words
    for other in (
        {**counted, "left_out": 10},
        {"above_cap_band": 1, "held_out": 975, "fewer_left_out_than": 11},
    ):
        few = " ".join(
            printed(one, "en") for one in rows_used(replace(plain, decided=decided, counted=other))
        )
        assert "Fewer than 11" in few and ("4,259" in few) is ("used" in other)
    private = " ".join(printed(one, "en") for one in rows_used(sample.public))
    assert private and not re.search(r"made from [0-9]|[0-9] of the rows", private)
    assert "not told" in printed(own_words(sample.public, "must_know"), "en")


# --- how exact, on the first page ------------------------------------------------------------------------


def with_margins(quantity: str, margins: tuple[float, ...]) -> TableView:
    heading = Text(f"methods.statistics.counts.numbers.{quantity}.label")
    within = Text("methods.statistics.counts.numbers.within_95.label")
    rows = tuple((str(place), 100, margin) for place, margin in enumerate(margins))
    return TableView("t", ("group", heading, within), rows)


def test_the_first_page_gives_each_kind_of_number_the_margins_that_stand_beside_it(sample):
    """A total is a sum of noisy counts and wider than one of them: no margin is said of both."""
    views = (with_margins("total", (10, 32, 18)), with_margins("count", (6, 6)))
    said = [printed(one, "en") for one in accuracy(replace(sample.public, views=views, measures={}))]
    assert said == [
        "Count: 95 of 100 lie within ± 6 rows of the exact ones.",
        "Total: 95 of 100 lie within their margins, ± 10 to ± 32 rows, of the exact ones.",
    ]


def test_margins_keep_their_name_where_page_one_has_said_the_first_of_them(sample):
    views = (with_margins("total", (10, 32, 18)), with_margins("count", (6, 6)))
    document = content.external(replace(sample.public, views=views, measures={}))
    facts = next(part for part in document.cover if isinstance(part, Facts))
    exact = next(part for part in document.sections[0].parts if isinstance(part, KeyValues))
    said = [printed(fact.what, "en") for fact in facts.items]
    assert "Count: 95 of 100 lie within ± 6 rows of the exact ones." in said
    assert [(row.label, printed(row.value, "en")) for row in exact.rows] == [
        (
            Text("report.cover.accuracy"),
            "Total: 95 of 100 lie within their margins, ± 10 to ± 32 rows, of the exact ones.",
        )
    ]


def test_a_share_of_numbers_on_the_first_page_is_said_of_one_kind_where_there_are_several(sample):
    one = {"counts.count": {"cells": 33, "guesses": 12}}
    two = {**one, "totals.total": {"cells": 15, "guesses": 2}}
    measured = [replace(sample.public, measures={"utility.small_groups": figures}) for figures in (one, two)]
    alone, worst = (printed(accuracy(evidence)[-1], "en") for evidence in measured)
    assert alone.startswith("12 of 33 numbers are")
    assert worst.startswith("Of the kind of number that fares worst, 12 of 33 are")


def test_a_margin_of_one_has_the_word_for_one(sample):
    for unit, one, several in ((" people", "1 person", "2 people"), (" rows", "1 row", "2 rows")):
        error = Expected(Text(sample.public.expected[0]["quantity"]), "group", 5, 1.0, 2.0, unit)
        assert f"within {one} of" in error_sentence(error)
        assert f"within {several}." in error_sentence(error)


def test_what_is_counted_of_one_person_does_not_stand_within_the_margin(sample):
    unit = "rows, at most 3 of a person"
    expected = tuple({**one, "unit": unit} for one in sample.public.expected)
    said = [printed(one, "en") for one in accuracy(replace(sample.public, expected=expected, measures={}))]
    assert said == [
        "Count: 95 of 100 lie within ± 12 rows of the exact ones.",
        f"Counted are {unit}.",
    ]
    error = Expected(Text(expected[0]["quantity"]), "group", 5, 3.0, 9.0, unit)
    assert error_sentence(error).endswith(f"95 of 100 within 9 rows. Counted are {unit}.")


def test_an_opened_service_says_how_exact_answers_will_be_and_at_which_level(sample):
    decided = {**sample.public.decided, "parameters": {"questions": 10}}
    (line,) = accuracy(replace(sample.public, views=(), measures={}, decided=decided))
    said = printed(line, "en").replace("\u00a0", " ")
    assert said == "Counts will lie within ± 12 rows of the exact ones in 95 of 100 cases, at ε = 0.05 each."


def test_a_share_that_moves_is_off_by_percentage_points_in_every_way():
    """Per cent are of something that the name says; a difference of two shares is no part of a share."""
    found = {}
    for method in catalogue.methods():
        for plan in examples.plans(method):
            for error in method(plan.request).forecast.errors if not plan.step else ():
                found[(method.id, printed(error.quantity, "en"))] = error.unit.strip()
    assert len(found) > 15
    for (method_id, name), unit in found.items():
        if unit == "%":
            assert re.search(r"\brange\b|\bspread\b|, of 1$", name), (method_id, name)
        if re.search(r"\bshares?\b|\bright\b", name, re.IGNORECASE) and "Estimated" not in name:
            assert unit == "percentage points" or "percentage points" in name, (method_id, name)


# --- what had no part, and what is said twice --------------------------------------------------------------


def test_settings_that_had_no_part_are_left_out(sample):
    parameters = {
        **sample.public.decided["parameters"],
        "weights": {},
        "target": None,
        "note": "",
        "empty": [],
    }
    evidence = replace(sample.public, decided={**sample.public.decided, "parameters": parameters})
    settings = next(part for part in describe_making(evidence) if isinstance(part, KeyValues))
    assert all(row.value is not None for row in settings.rows)
    labels = [row.label for row in settings.rows]
    assert not {"weights", "target", "note", "empty"} & {one for one in labels if isinstance(one, str)}
    assert len(settings.rows) == len(sample.public.decided["parameters"]) + 2  # the method and its source


def test_what_hangs_on_a_condition_that_was_not_set_stays_out_of_the_evidence():
    named = {one.name: one for method in catalogue.methods() for one in method.parameters if one.beside}
    assert {one.beside for one in named.values()} == {"recursive_l", "t"}
    for method in catalogue.methods():
        names = {one.name for one in method.parameters}
        assert all(one.beside in names for one in method.parameters if one.beside)


@pytest.mark.parametrize("family", ["dataset", "model", "statistics"])
def test_columns_decide_what_the_release_is_made_of(sample, family):
    method = {**sample.public.method, "family": family}
    said = [
        printed(part, "en")
        for part in describe_making(replace(sample.public, method=method))
        if isinstance(part, Text)
    ]
    word = {"dataset": "rows", "model": "model", "statistics": "numbers"}[family]
    assert [one for one in said if one.startswith("These columns decide")] == [
        f"These columns decide what the {word} say{'s' if word == 'model' else ''}."
    ]


def test_nothing_is_explained_twice_in_the_same_words(sample):
    base = "measures.utility.small_groups.numbers.guesses"
    shown = TableView("t", ("file", Text(f"{base}.label")), (("counts.csv", 3),))
    card = NumberView(Text(f"{base}.label"), 3, Text(base))
    found = annex(replace(sample.public, views=(card,)), (shown,))
    (found,) = (part for part in unfold(found) if isinstance(part, Explanations))
    assert base in {item.three.id for item in found.items}
    sentences = [
        tuple(texts.catalogue("en")[f"{item.three.id}.{name}"] for name in ("what", "how", "change"))
        for item in found.items
    ]
    assert len(sentences) == len(set(sentences))


def test_the_program_is_named_with_the_digest_of_what_makes_its_words(sample, public_words):
    digest = "ab" * 32
    evidence = replace(sample.public, program={**sample.public.program, "words": digest})
    text = html.render(content.external(evidence), evidence=b"{}").decode()
    assert digest in text and "not published" in text and "public." not in text.split(digest)[1][:500]
    assert (
        texts.text("report.annex.build_unknown")
        in html.render(content.external(sample.public), evidence=b"{}").decode()
    )
