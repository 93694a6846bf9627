"""What stands in the reports: nothing private outside, nothing unexplained, no verdict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace

import pytest

from engine import texts
from engine.privacy.promise import Promise, Unit
from engine.release.evidence import InternalEvidence
from engine.report import content, html, write_external, write_internal
from engine.report.document import Explanations, KeyValues, Numbers, Statement, explanations
from engine.report.words import is_number
from engine.views import NumberView, Text

PICKED = """roles kinds_of_column origins guarantees units neighbours bounds accountant noise mechanisms
composition numbers kinds limits explained footer words decisions.kinds"""
RARE = """cover.untitled columns.more_values columns.code_list columns.range columns.range_step
columns.described
at_risk.above_ln3 results.meaning table.findings price.none price.affordable price.set_aside
price.largest_error price.apart price.apart_note price.fine price.incident decisions.none
price.precedent price.no_year price.calibrated price.printed price.any_level
price.window_lower_upper price.window_lower price.window_upper
price.window_error price.window_money price.window_both
price.second_model_replace_one price.conclusion_stays price.conclusion_changes"""


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
    for name in ("price", "decisions"):
        heading = texts.text(f"report.sections.{name}")
        assert heading in private
        assert heading not in public


def test_both_reports_print_the_fixed_sentence(outside, inside, public_words, private_words):
    sentence = (
        "Columns, groups and ε were chosen by someone who could see the table; "
        "the guarantee covers the release given those choices."
    )
    for document, shown in ((outside, public_words), (inside, private_words)):
        (found,) = [part for part in document.parts() if isinstance(part, Statement) and not part.care]
        assert texts.text(found.text.id) == sentence
        assert sentence in shown


def test_the_fixed_sentence_is_printed_without_any_assumption(sample):
    bare = replace(sample.public, promise=replace(sample.public.promise, assumptions=()))
    assert (
        "chosen by someone who could see the table"
        in html.render(content.external(bare), evidence=b"{}").decode()
    )


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


def test_published_exact_and_certified_stand_side_by_side(outside):
    rows = [part.numbers for part in outside.parts() if isinstance(part, Numbers)]
    names = [[number.title.id.rpartition(".")[2] for number in row] for row in rows]
    assert ["published", "exact", "two_sided", "certified"] in names


def test_privacy_at_risk_is_that_of_the_evidence(sample, outside):
    found = sample.public.statement["at_risk"]
    shown = {
        number.title.id.rpartition(".")[2]: number.value
        for part in outside.parts()
        if isinstance(part, Numbers)
        for number in part.numbers
    }
    assert shown["exact"] == pytest.approx(found["exact"]["confidence"], rel=1e-3)
    assert shown["two_sided"] == pytest.approx(found["exact"]["confidence_two_sided"], rel=1e-3)
    assert shown["certified"] == pytest.approx(found["certified"]["delta"], rel=1e-3)


def test_a_large_level_brings_a_warning(sample):
    loud = {**sample.public.statement, "at_risk": {**sample.public.statement["at_risk"], "above_ln3": True}}
    document = content.external(replace(sample.public, statement=loud))
    assert [part for part in document.parts() if isinstance(part, Statement) and part.care]


def test_no_verdict_is_given(public_words, private_words):
    for text in (public_words.lower(), private_words.lower()):
        for word in ("compliant", "is safe", "fully anonymous", "is anonymised", "privacy score"):
            assert word not in text


def test_the_label_is_the_first_thing(inside):
    ids = {text.id for part in inside.cover for text in all_texts(part)}
    for name in (
        "unit",
        "recipient",
        "release_kind",
        "neighbours",
        "left",
        "groups",
        "money",
        "signature_custodian",
    ):
        assert f"report.cover.{name}" in ids, name


def test_an_unbounded_register_is_warned_about_inside_only(outside, inside):
    warning = "report.cover.unbounded"
    assert warning in {text.id for part in inside.cover for text in all_texts(part)}
    assert warning not in {text.id for text in all_texts(outside)}


def test_a_release_without_a_guarantee_says_so(sample):
    none = Promise("none", None, Unit.ROW, 1)
    statement = {"kind": "none", "sentence": {"id": "promises.none.statement", "values": {}}}
    document = content.external(replace(sample.public, promise=none, statement=statement))
    text = html.render(document, evidence=b"{}").decode()
    assert texts.text("promises.none.statement") in text
    assert texts.text("report.limits.no_guarantee") in text
    assert texts.text("report.limits.formal") not in text
    assert not [number for number in all_numbers(document) if number.title == Text("report.cover.epsilon")]


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
        "2020-01-01 to 2020-12-31",
        "code list yes_no",
        "(30 values)",
        "edges: 0 · 2.5",
    ):
        assert words in text, words


def test_both_writers_leave_two_files_each(sample, tmp_path):
    write_external(tmp_path, sample.public, b"{}")
    write_internal(tmp_path, sample.public, sample.kept, b"{}")
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "report-external.html",
        "report-external.pdf",
        "report-internal.html",
        "report-internal.pdf",
    ]


def test_every_text_of_the_report_is_used_or_named_by_a_list(outside, inside):
    """Words that nothing can print are mistakes; groups that are picked by a value are used as a whole."""
    picked = tuple(PICKED.split())
    used = {text.id for document in (outside, inside) for text in all_texts(document)}
    for text_id in texts.catalogue("en"):
        if not text_id.startswith("report."):
            continue
        name = text_id.removeprefix("report.")
        assert text_id in used or name in RARE.split() or name.startswith(picked), text_id
