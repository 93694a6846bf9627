"""Each sentence and each promise: nothing that a release prints is false of what it promises.

Every kind of promise there is, every relation, family and unit that its releases can have, makes both reports
and README.txt. All that is printed there is looked through for claims; a claim says of which releases it is
true. A new kind of promise takes part by itself, and a new claim of a sentence is found by its words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from typing import Any

import pytest

from engine import texts
from engine.evidence import InternalEvidence, PublicEvidence, read_public
from engine.methods.catalogue import methods
from engine.methods.filling import Filling, Judged
from engine.methods.kinds import Family, Rows, Spends
from engine.methods.protocol import Method
from engine.pricing.statement import privacy_statement
from engine.privacy.promise import ONE_DRAWN, Promise, Unit, promise_kind, promise_kinds
from engine.release.check import check
from engine.release.plan import Plan
from engine.release.preview import error_sentence, whose_rows
from engine.release.readme import readme
from engine.report import content
from engine.report.content.facts import Facts, facts_of, own_words
from engine.report.content.front import front
from engine.report.content.promise import promise
from engine.report.document import Callout, KeyValues, Numbers
from engine.report.words import word
from engine.views import CurveView, Series, TableView, Text
from tests.engine.methods import examples_run
from tests.engine.report.test_report_content import (
    FORBIDDEN,
    all_texts,
    kinds_of_releases,
    released,
    with_margins,
)

Allowed = Callable[[Facts, str], bool]

HIDING = ("small_cells", "small_sums")
CLAIMS: Mapping[str, tuple[str, Allowed]] = {
    **{name: (words, lambda facts, kind, of=of: of(facts)) for name, (words, of) in FORBIDDEN.items()},
    "noise": (
        r"(?<!standard )\bnoise\b|\bnoisy\b|\bmargins?\b",
        lambda facts, kind: facts.noise or facts.opened or facts.local,
    ),
    "level": (r"ε|\bepsilon\b|\bprivacy level\b|\bprivacy budget\b", lambda facts, kind: facts.bounded),
    "spent": (r"\bspent\b|\bpaid for\b|\bspending\b", lambda facts, kind: facts.bounded and not facts.local),
    "kept apart": (r"(was|were) kept apart to test", lambda facts, kind: facts.held_out),
    "cap": (r"\bthe cap\b|where there were more", lambda facts, kind: facts.cap),
    "real rows": (r"\brows (are those )?of real\b", lambda facts, kind: facts.personal),
    "invented": (
        r"\brows are invented\b|\binvented row\b|\bis invented\b",
        lambda facts, kind: facts.rows and (facts.bounded or kind == "none"),
    ),
    "all invented": (
        r"^invented, in\b|\brows are invented\b",
        lambda facts, kind: facts.rows and facts.bounded,
    ),
    "answers": (r"\bpeople answered\b|\bwho answers?\b", lambda facts, kind: facts.local),
    "groups": (
        r"\brows agree\b|\brow agrees\b|\bgroups have at least\b|\bgroup of at least\b",
        lambda facts, kind: kind == "k_anonymity",
    ),
    "buckets": (r"\bbuckets?\b", lambda facts, kind: kind == "l_diversity"),
    "pseudonyms": (r"carry one pseudonym|other names", lambda facts, kind: kind == "pseudonymous"),
    "masked": (r"\bmasked\b|masking\.json", lambda facts, kind: kind == "masked"),
    "hidden": (r"\bhidden (cell|sum|count)s?\b", lambda facts, kind: kind in HIDING),
    "true numbers": (r"\bprinted numbers are true\b", lambda facts, kind: kind in HIDING),
    "seed": (r"\bcould have led to\b", lambda facts, kind: kind == "plausible_deniability"),
    "no key": (r"hold no key and no pseudonym", lambda facts, kind: facts.bounded),
}  # fmt: skip
"""What a sentence may claim of some releases alone: its words, and of which it is true."""

OF_ALL = frozenset(
    {
        "report.cover.unbounded",  # of the register, where another release bounded nothing
        "report.cover.status_statistical",
        "promises.approximate_dp.accounting",  # how levels are added up, whatever ran
        "methods.datasets.classifier_noise.notes.level",  # what such noise would be
        "methods.datasets.classifier_noise.notes.projection",  # its own noise, which bounds nothing
        "app.preview.help.shape.part1.body",  # it says itself of which releases what holds
        "app.preview.help.shape.part2.body",  # what a number in brackets means, where one stands
    }
)
"""Sentences with such words that are about something else than the release."""
DRAWN = CurveView("t", "x", "y", (Series("s", (0.0, 1.0), (0.25, 0.75)),))
OUTSIDE = ("limits.", "unchecked.", "criteria.", "guarantee.", "results.", "rows.", "cover.status")


def releases_of(sample, kind: str) -> Iterator[PublicEvidence]:
    """Give releases of a kind of promise, as they differ: with noise or without, a cap, people kept apart."""
    for name, how in kinds_of_releases():
        if name != kind:
            continue
        plain = released(sample, kind, how)
        yield plain
        if facts_of(plain).local:  # estimates, beside their margins
            yield replace(plain, views=(with_margins("count", (6.0,)),))
            assumed = (*plain.promise.assumptions, ONE_DRAWN)
            yield replace(plain, promise=replace(plain.promise, assumptions=assumed))
        if facts_of(plain).noise and how["family"] == "statistics":  # all that is told is drawn
            yield replace(plain, views=(DRAWN,))
            quantity = "methods.statistics.quantiles.numbers.within_95_rank.label"
            error = {"quantity": quantity, "of": "rank", "size": None, "median": 3.0, "limit": 12.0}
            yield replace(plain, expected=(error,))
        if facts_of(plain).noise and how["family"] == "dataset":
            for of in ("invented", "moment", "tested"):  # from noisy counts, from bell curves, and from seeds
                quantity = "methods.datasets.marginals.numbers.count.label"
                error = {"quantity": quantity, "of": of, "size": None, "median": 3.0, "limit": 12.0}
                yield replace(plain, expected=(error,))
        for cap in (1, 3):
            used = {**plain.decided, "rows_per_person": cap, "held_out": "1/5"}
            if plain.promise.loss is not None or how["family"] != "dataset":
                yield replace(plain, decided=used)
                yield replace(plain, decided=used, views=())
                bare = (TableView("t", ("group", "rows"), ((1, 5), (2, 7))),)
                yield replace(plain, decided=used, views=bare)
                if how["family"] == "statistics" and facts_of(plain).noise:  # a desk that answered yes or no
                    yield replace(plain, views=bare, method=plain.method | {"family": "service"})
                continue
            for above, left in (({}, 59), ({"above_cap_band": 1}, 59), ({"above_cap_band": 0}, 3), ({}, 0)):
                counted = {"used": 4259, "left_out": left, "held_out": 975}
                yield replace(plain, decided=used, counted=counted | above)


def kept_of(sample, evidence: PublicEvidence) -> InternalEvidence:
    """Return what stays of a release: a price and a level where some loss was bounded."""
    facts = facts_of(evidence)
    if facts.bounded and not facts.local:
        return sample.kept
    return replace(sample.kept, price={}, holding={"name": "Register"}, views=())


def printed(sample, evidence: PublicEvidence) -> Iterator[tuple[str, str]]:
    """Give every sentence of both reports and of README.txt with its id."""
    for document in (content.external(evidence), content.internal(evidence, kept_of(sample, evidence))):
        for part in (*document.cover, *(part for section in document.sections for part in section.parts)):
            for text in all_texts(part):
                if texts.has(text.id):
                    yield text.id, word(text, "en").replace("\u00a0", " ")
    for line in re.split(r"\n\s*\n", readme(evidence)):
        yield "README", " ".join(line.split())


@pytest.fixture(scope="session")
def printed_by(sample) -> Callable[[str], Sequence[tuple[PublicEvidence, Sequence[tuple[str, str]]]]]:
    """Give the releases of a kind of promise, and all that each prints: made once for all who look at it."""

    @cache
    def made(kind: str) -> Sequence[tuple[PublicEvidence, Sequence[tuple[str, str]]]]:
        return [(evidence, list(printed(sample, evidence))) for evidence in releases_of(sample, kind)]

    return made


@cache
def claims_of(sentence: str) -> Sequence[str]:
    """Return what a sentence claims; most sentences stand in many releases."""
    return [name for name, (words, _) in CLAIMS.items() if re.search(words, sentence, re.IGNORECASE)]


def false_of(evidence: PublicEvidence, sentences: Iterable[tuple[str, str]]) -> list[tuple[str, str, str]]:
    facts, kind = facts_of(evidence), evidence.promise.kind
    return [
        (name, text_id, sentence)
        for text_id, sentence in sentences
        if text_id not in OF_ALL
        for name in claims_of(sentence)
        if not CLAIMS[name][1](facts, kind)
    ]


@pytest.mark.guarantee
@pytest.mark.parametrize("kind", [one.id for one in promise_kinds()])
def test_no_sentence_of_a_release_is_false_of_its_promise(printed_by, kind):
    assert printed_by(kind)
    for evidence, sentences in printed_by(kind):
        assert not false_of(evidence, sentences), facts_of(evidence)


@pytest.mark.guarantee
@pytest.mark.parametrize("kind", [one.id for one in promise_kinds()])
def test_a_promise_says_how_many_rows_there_were_or_that_this_is_not_told(printed_by, kind):
    for evidence, sentences in printed_by(kind):
        said = " ".join(sentence for _, sentence in sentences)
        told = re.search(
            r"[Hh]ow many (rows were used|{@?people}|people there are)|made from [\d,]+ rows|left out", said
        )
        facts = facts_of(evidence)
        assert told or facts.local or facts.opened or not facts.read, evidence.promise.kind


@pytest.mark.parametrize("kind", [one.id for one in promise_kinds()])
def test_page_one_says_nothing_twice_and_does_not_send_to_itself(sample, kind):
    for evidence in releases_of(sample, kind):
        parts = content.external(evidence).cover
        for part in parts:
            sentences = [word(one, "en") for one in all_texts(part)]
            assert not [one for one in sentences if re.search(r"\b(page 1|first page)\b", one, re.IGNORECASE)]
        heads = [part for part in parts if isinstance(part, Callout) and part.head]
        assert heads
        for part in heads:
            both = (word(one, "en").lower().split()[:2] for one in (part.head, part.text))
            assert len(set(map(tuple, both))) == 2, word(part.text, "en")


@pytest.mark.parametrize("name", sorted(CLAIMS))
def test_every_claim_is_found_where_it_is_false(sample, name):
    """A sentence with the words of a claim in a release of which it is not true: no claim is idle."""
    words, allowed = CLAIMS[name]
    tried = [one for kind in promise_kinds() for one in releases_of(sample, kind.id)]
    wrong = next(one for one in tried if not allowed(facts_of(one), one.promise.kind))
    lying = next(
        text
        for text_id, text in texts.catalogue("en").items()
        if text_id.startswith(("report.", "promises.")) and re.search(words, plain(text), re.IGNORECASE)
    )
    note = Text("report.words.list", {"all": [plain(lying)]})
    lied = replace(wrong, notes=(note,))
    assert name in {claim for claim, _, _ in false_of(lied, printed(sample, lied))}


def plain(text: str) -> str:
    return re.sub(r"\{[^}]*\}", "people", text)


@pytest.mark.guarantee
def test_every_claiming_sentence_of_the_report_was_printed_for_some_promise(printed_by):
    """A sentence that none of these releases prints would be tried against no promise."""
    seen = {
        text_id
        for kind in promise_kinds()
        for _, sentences in printed_by(kind.id)
        for text_id, _ in sentences
    }
    claiming = {
        text_id
        for text_id, text in texts.catalogue("en").items()
        if text_id.startswith(tuple(f"report.{one}" for one in OUTSIDE)) and claims_of(plain(text))
    }
    assert len(claiming) > 25
    assert sorted(claiming - seen) == []


@pytest.mark.parametrize("group", ["verify_page", "bundle"])
def test_what_is_the_same_in_every_release_claims_nothing_of_a_promise(group):
    """README and the page that checks: words without a condition may hold of no promise in particular."""
    for text_id, text in texts.catalogue("en").items():
        if text_id.startswith(f"{group}."):
            assert claims_of(plain(text)) == [], text_id


def test_a_preview_speaks_of_noise_and_levels_only_where_errors_are_foreseen():
    for text_id, text in texts.catalogue("en").items():
        if text_id.startswith("preview.rows.") or text_id == "preview.unit":
            assert claims_of(plain(text)) == [], text_id


# --- what is said before a release --------------------------------------------------------------------------


@dataclass(frozen=True)
class Before:
    """A plan as the preview knows it, and what will hold of its release."""

    plan: Plan
    design: Method
    facts: Facts
    kind: str

    @property
    def pays(self) -> bool:
        """Whether the release takes a level from its register."""
        private = any(source.shape.is_private for source in self.design.sources)
        return private and self.design.spends is not Spends.NOTHING and self.facts.bounded

    @property
    def verdict(self) -> Filling | Judged | None:
        found = self.design.forecast.counted
        people = self.plan.people or 1006
        return self.design.judged(people) if found is None else found.filled_by(people)


PAGE = "app.preview."
SHOWN: Mapping[str, Callable[[Before], bool]] = {
    **dict.fromkeys(("before", "spends", "after", "three", "release_button"), lambda said: said.pays),
    **dict.fromkeys(("unspent", "made.spent", "begun.paid"), lambda said: said.pays),
    **dict.fromkeys(("entered", "entered_words", "made.free", "begun.free"), lambda said: not said.pays),
    **dict.fromkeys(("exact", "help.exact"), lambda said: bool(said.design.forecast.errors)),
    **dict.fromkeys(("verdict", "help.verdict"), lambda said: isinstance(said.verdict, Filling)),
    "help.judged": lambda said: isinstance(said.verdict, Judged),
    **dict.fromkeys(("shape.follows", "shape.tried"), lambda said: not said.facts.bounded),
    **dict.fromkeys(("shape.kept", "shape.invented"), lambda said: said.facts.bounded),
    **dict.fromkeys(("audit", "help.audit"), lambda said: said.design.family is Family.MODEL),
    **dict.fromkeys(("beyond.over", "help.reasons"), lambda said: said.pays),
}  # fmt: skip
"""Parts of the preview that are shown of some plans alone; every other sentence has to hold of all."""


def page_words(said: Before) -> Iterator[tuple[str, str]]:
    """Give every sentence that the preview may show of a plan, in the form that fits what is promised."""
    for text_id, text in texts.catalogue("en").items():
        name = text_id.removeprefix(PAGE)
        if not text_id.startswith(PAGE) or name.startswith("unbounded."):
            continue
        topic = re.match(r"help(\.[a-z]+)?(?=\.part|\.title)|folder(?=\.part)|", name)
        assert topic is not None
        base = f"{PAGE}unbounded.{topic[0] or name}"
        own = not said.facts.bounded or (not said.pays and name != "entered_words")
        if own and topic[0] and texts.has(f"{base}.part1.body"):
            continue  # all parts of what is explained come from one place: from there
        if all(holds(said) for part, holds in SHOWN.items() if name.startswith(part)):
            other = f"{PAGE}unbounded.{name}"
            taken = other if own and texts.has(other) else text_id
            yield taken, plain(texts.catalogue("en").get(taken, text))
    if not said.facts.bounded or not said.pays:
        yield from (
            (text_id, plain(text))
            for text_id, text in texts.catalogue("en").items()
            if text_id.startswith(f"{PAGE}unbounded.help.")
        )


def said_before(said: Before) -> Iterator[tuple[str, str]]:
    """Give what is printed of a plan before its release: forecast, verdict, whose rows, promise, the page."""
    plan, design = said.plan, said.design
    for error in design.forecast.errors:
        yield f"preview.errors.{error.of}", error_sentence(error)
    found = [*design.forecast.notes, *design.forecast.views, *whose_rows(design, plan.people or 1006)]
    if isinstance(said.verdict, Judged):
        found += [said.verdict.said, *([said.verdict.care] if said.verdict.care is not None else [])]
    found += [Text(f"assumptions.{one}") for one in design.stated.assumptions]
    sentence = privacy_statement(design.stated, readings=False)["sentence"]
    found.append(Text(sentence["id"], sentence["values"]))
    for text in all_texts(found):
        if texts.has(text.id):
            yield text.id, word(text, "en").replace("\u00a0", " ")
    yield from page_words(said)


def plans_before(method: type[Method]) -> Iterator[Before]:
    """Give the example plans of a method, with what holds of the releases that were made of them."""
    for plan, folder in examples_run.ran(method):
        made = read_public(examples_run.evidence(folder))
        yield Before(plan, check(plan, base=folder.parent), facts_of(made), made.promise.kind)


def false_before(said: Before, sentences: Iterator[tuple[str, str]]) -> list[tuple[str, str, str]]:
    return [
        (name, text_id, sentence)
        for text_id, sentence in sentences
        if text_id not in OF_ALL
        for name in claims_of(sentence)
        if not CLAIMS[name][1](said.facts, said.kind)
    ]


@pytest.mark.parametrize("method", methods(), ids=lambda one: one.id)
def test_no_sentence_before_a_release_is_false_of_what_it_will_promise(method):
    for said in plans_before(method):
        sentences = list(said_before(said))
        assert len(sentences) > 20
        assert not false_before(said, iter(sentences)), said.facts


@pytest.mark.parametrize("claim", ["spent", "level", "noise", "invented"])
def test_a_false_sentence_before_a_release_is_found(claim):
    (pseudonyms,) = (one for one in methods() if one.id == "datasets.pseudonyms")
    said = next(plans_before(pseudonyms))
    lie = {"spent": "The budget is spent.", "level": "It takes ε 1.", "noise": "Numbers carry noise."}
    sentence = lie.get(claim, "The rows are invented.")
    assert false_before(said, iter([("app.preview.new", sentence)]))


# --- what a recipient can do, by the form that was chosen -------------------------------------------------


def can(sample, method_id: str, kind: str, unit: Unit = Unit.PERSON, **parameters: Any) -> str:
    """Return what a recipient can and cannot do with a release of a method in one of its forms."""
    how = {"relation": None, "family": "dataset", "unit": unit, "noise": False}
    evidence = released(sample, kind, how)
    method = {**evidence.method, "id": method_id}
    decided = {**evidence.decided, "parameters": parameters}
    rows = [
        row
        for part in promise(replace(evidence, method=method, decided=decided))
        if isinstance(part, KeyValues)
        for row in part.rows
    ]
    named = {row.label.id.rpartition(".")[2]: row.value for row in rows if isinstance(row.label, Text)}
    return " ".join(word(named[name], "en") for name in ("can", "cannot"))


@pytest.mark.parametrize(
    "method", [one for one in methods() if len(one.promises) > 1], ids=lambda one: one.id
)
def test_a_method_with_several_promises_has_words_for_each_that_bounds_nothing(method):
    """What holds of one promise need not hold of another: true counts are none that were rounded by lot."""
    plain = [kind for kind in method.promises if not promise_kind(kind).bounded]
    for kind in plain[1:]:
        own = [f"methods.{method.id}.recipient_{name}_{kind}" for name in ("can", "cannot")]
        assert any(map(texts.has, own)), kind


def test_counts_that_were_rounded_are_not_called_true(sample):
    base = "statistics.protected_table"
    assert "true counts" in can(sample, base, "small_cells").lower()
    for kind in ("rounded", "cell_keys"):
        assert not re.search(r"true (counts|sums)|hidden", can(sample, base, kind), re.IGNORECASE), kind


@pytest.mark.parametrize("method_id", ["statistics.counts", "statistics.margins"])
def test_counts_that_were_set_to_zero_are_not_said_to_come_out_negative(sample, method_id):
    assert "negative" in can(sample, method_id, "pure_dp", no_negatives=False)
    told = can(sample, method_id, "pure_dp", no_negatives=True)
    assert "negative" not in told and "find the printed totals" not in told


def test_orders_of_places_that_do_not_leave_are_not_said_to_be_seen(sample):
    assert "whole orders" in can(sample, "statistics.flows", "pure_dp", whole=3)
    assert "orders" not in can(sample, "statistics.flows", "pure_dp", whole=0)


def test_rows_of_columns_grouped_one_by_one_can_be_singled_out(sample):
    said = {kind: can(sample, "datasets.microaggregation", kind) for kind in ("k_anonymity", "none")}
    assert "Single out one row" in said["k_anonymity"] and "Single out one row" not in said["none"]


@pytest.mark.parametrize("method_id", [one.id for one in methods() if "none" in one.promises])
def test_rows_that_stand_for_those_of_real_people_are_not_called_invented(sample, method_id):
    """What is said of single rows follows from what rows are, and not from there being no guarantee alone."""
    given = replace(sample.public, promise=Promise("none", None, Unit.PERSON, 1, assumptions=()))
    evidence = replace(given, method={**given.method, "id": method_id, "family": "dataset"})
    said = " ".join(
        word(own_words(evidence, name), "en")
        for name in ("status", "criteria.singling_out", "criteria.linking")
    )
    (rows,) = {one.rows for one in methods() if one.id == method_id}
    assert ("invented" in said) == (rows is Rows.SYNTHETIC)


def test_pseudonyms_join_only_what_was_made_with_the_same_key(sample):
    base = "datasets.pseudonyms"
    assert "join two releases" in can(sample, base, "pseudonymous", key="own")
    again = can(sample, base, "pseudonymous", key="earlier")
    assert "join two releases" not in again and "same key" in again
    bare = can(sample, base, "pseudonymous", unit=Unit.ROW, key="own")
    assert "follow one" not in bare and "No pseudonym" in bare


def test_a_level_is_printed_as_one_number_rounded_outwards(sample):
    old = sample.public.promise
    loss = replace(old.loss, epsilon=Fraction(61501, 250000))
    promised = replace(old, loss=loss)
    statement = privacy_statement(promised, readings=False)
    evidence = replace(sample.public, promise=promised, statement=statement)
    (cards,) = (part for part in promise(evidence) if isinstance(part, Numbers))
    sentence = next(text for part in front(evidence) for text in all_texts(part))
    assert cards.numbers[0].value == 0.2461 and "ε = 0.2461" in word(sentence, "en").replace("\u00a0", " ")


def test_the_page_that_checks_is_not_the_one_in_the_folder(sample):
    said = dict(printed(sample, sample.public))
    assert "not the one in the folder" in said["report.verify.browser_how"]
    assert "do not rely on the verify.html in it" in " ".join(readme(sample.public).split())
