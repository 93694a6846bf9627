"""The method page: eight things, the ways to each, an example of what leaves, and the form."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QAbstractButton, QCheckBox, QComboBox, QFrame, QLabel, QPushButton, QWidget

from app import words
from app.frame.window import Window
from app.parts.form.column_picker import PickList
from app.screens.method.said import Tried, none_fits, ways
from app.screens.method.ways import Ways
from app.state.flow import path
from app.work.choosing import (
    QUESTIONS,
    Offer,
    offer,
    order_offers,
    ruled_out_by,
    search,
    things,
    told_aside,
)
from engine import texts
from engine.ledger import Ledger
from engine.methods.catalogue import method, methods
from engine.methods.kinds import Held
from engine.methods.protocol import Budget
from engine.privacy.promise import promise_kind
from engine.table.schema import Schema
from tests.app.fitting import faults
from tests.app.hands import Hands
from tests.app.walking import example_plan, sample_plan, settle, write


def pick(page: Any, method_id: str) -> None:
    """Select a way by its circle, among all."""
    if not page.lists_ways:
        page.all.click()
    page.findChild(QAbstractButton, f"method-{method_id}").click()


def answer(page: Any, question: str, given: str) -> None:
    """Answer one of the questions by its menu."""
    page.answers.answer(question, given)


def fitting(page: Any) -> list[str]:
    """Return the ids of the ways in the list that nothing rules out."""
    return [row.way.id for row in page.ways.rows if not row.way.against]


def shown(page: Any) -> list[str]:
    """Return the ids of the ways in the list."""
    return [row.way.id for row in page.ways.rows]


# --- without a window ------------------------------------------------------------------------------


REAL = Offer(method("datasets.pseudonyms"), error=0.0)  # rows as they are, without a promise
OFFERS = {one.id: Offer(one) for one in methods()}


@pytest.mark.parametrize("one", methods(), ids=lambda one: one.id)
def test_a_question_without_an_answer_rules_nothing_out(one: Any) -> None:
    assert ruled_out_by(OFFERS[one.id], {}) == ()


@pytest.mark.parametrize(
    ("question", "given", "fits"),
    [
        ("who", "anybody", False),
        ("who", "agreement", True),
        ("who", "house", True),
        ("rows", "none", False),
        ("rows", "coarser", False),
        ("rows", "real", True),
        ("how", "masked", True),
        ("how", "coarser", False),
        ("exact", "5", True),
        ("exact", "any", True),
    ],
)
def test_real_rows_without_a_promise_fit_where_they_may_leave(question: str, given: str, fits: bool) -> None:
    assert ruled_out_by(REAL, {question: given}) == (() if fits else (question,))


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("coarser", {"datasets.k_anonymity", "datasets.masking"}),
        ("masked", {"datasets.masking", "datasets.rule_hiding"}),
        ("grouped", {"datasets.microaggregation", "datasets.anatomy"}),
        ("perturbed", {"datasets.masking", "datasets.classifier_noise"}),
    ],
)
def test_what_becomes_of_values_is_chosen_in_words(given: str, wanted: set[str]) -> None:
    fit = {one.method.id for one in OFFERS.values() if not ruled_out_by(one, {"how": given})}
    assert wanted <= fit and not any(one.startswith(("statistics.", "models.")) for one in fit)


def declares(one: Offer, answers: dict[str, str]) -> bool:
    """Whether the declaration of a method satisfies answers, read from the questions' own words."""
    found, kinds = one.method, [promise_kind(kind) for kind in one.method.promises]
    leaves_of_people = {
        "none": found.rows == "none" or found.invented,
        "synthetic": found.rows in ("none", "synthetic"),
        "coarser": found.rows != "real",
        "real": True,
    }
    return all(
        {
            "who": lambda given: given != "anybody" or all(kind.bounded for kind in kinds),
            "rows": lambda given: leaves_of_people[given],
            "how": lambda given: given in found.changes,
            "exact": lambda given: given == "any" or (one.error is not None and one.error <= int(given)),
        }[question](given)
        for question, given in answers.items()
    )


def test_every_combination_of_answers_leaves_what_satisfies_it() -> None:
    """All of them: what a method declares decides, and the first of a thing is one that satisfies."""
    found = [
        replace(one, error=place % 30) if place % 3 else one for place, one in enumerate(OFFERS.values())
    ]
    for given in product(*(("", *answers) for answers in QUESTIONS.values())):
        answers = {name: one for name, one in zip(QUESTIONS, given, strict=True) if one}
        fit = [one for one in found if declares(one, answers)]
        assert [one for one in found if not ruled_out_by(one, answers)] == fit, answers
        for thing in things(found, answers, Schema(())):
            assert thing.default is None or thing.default in fit


def test_invented_tables_are_taken_where_no_row_of_a_person_may_leave(at: Any) -> None:
    page = at("method", method="", parameters={}, budget=None)
    answer(page, "rows", "none")
    page._open_ways(Held.INVENTED)
    assert set(fitting(page)) == {
        *("datasets.marginals", "datasets.network", "datasets.gaussians", "datasets.linked")
    }
    against = {row.way.id: row.way.against for row in page.ways.rows}
    assert "whole or in part" in against["datasets.imputation"], "its kept columns are people's"
    assert "whole or in part" in against["datasets.seedbased"], "what is kept of a seed is a person's"
    assert shown(page)[: len(fitting(page))] == fitting(page), "what does not fit stands last"


def test_where_two_answers_must_go_the_sentence_names_both() -> None:
    answers = {"rows": "none", "how": "grouped", "exact": "5"}
    found = [one for one in OFFERS.values() if one.method.family == "model"]
    assert all(ruled_out_by(one, answers) for one in found)
    sentence = none_fits(found, answers)
    assert "“Values of the rows may be”, “A group of 100 may be wrong by”" in sentence
    assert f"fit: {len(found)}." in sentence


def test_an_error_that_is_not_known_is_not_taken_for_small() -> None:
    for error, ruled in ((None, True), (19.0, False), (21.0, True)):
        assert bool(ruled_out_by(Offer(method("statistics.counts"), error), {"exact": "20"})) is ruled


def test_the_error_is_that_of_the_methods_own_example() -> None:
    found = offer(method("statistics.counts"))
    assert found.has_example and found.epsilon is not None and 0 < found.error < 100
    rows = offer(method("datasets.k_anonymity"))
    assert rows.error == 0 and rows.epsilon is None


def test_the_order_is_answers_then_promise_then_error() -> None:
    counts, coarse = method("statistics.counts"), method("datasets.k_anonymity")
    far, near, real = Offer(counts, 9.0), Offer(method("statistics.histogram"), 2.0), REAL
    found = order_offers([real, Offer(coarse, 0.0), far, near], {})
    assert [one.method.id for one in found] == [near.method.id, far.method.id, coarse.id, real.method.id]
    assert order_offers([far, Offer(coarse, 0.0)], {"how": "coarser"})[0].method is coarse


def test_the_search_finds_names_terms_and_publications() -> None:
    def found(wanted: str) -> set[str]:
        return {one.method.id for one in search(list(OFFERS.values()), wanted)}

    assert found("k-anonymity") >= {"datasets.k_anonymity"}
    assert found("Sweeney") >= {"datasets.k_anonymity"}
    assert found("differential PRIVACY") >= {"statistics.counts", "statistics.means"}
    assert "datasets.k_anonymity" not in found("differential privacy counts")
    assert found("xyzzy") == set()
    counted = [one.method.id for one in search(list(OFFERS.values()), "how many per ward")]
    assert counted[0] in ("statistics.counts", "statistics.histogram"), "“per” is no part of another name"
    assert found("xyzzy Sweeney") == found("Sweeney"), "a word that nobody knows rules nothing out"


@pytest.mark.parametrize(
    ("language", "wanted"),
    [
        ("en", "transfers"),
        ("de", "Verlegungen"),
        ("de", "Liegedauer"),
        ("fr", "mutations"),
        ("fr", "transferts"),
    ],
)
def test_moves_between_wards_are_found_by_the_words_of_wards(language: str, wanted: str) -> None:
    words.choose_language(language)
    try:
        assert "statistics.flows" in {one.method.id for one in search(list(OFFERS.values()), wanted)}
    finally:
        words.choose_language("en")


EVERYDAY = {
    Held.COARSER: ("the university wants rows", "anonymised extract for research"),
    Held.COUNTS: ("how many per ward", "monthly figures for the ministry", "dashboard of admissions"),
    Held.INVENTED: ("a test table for the new software", "training data for a course", "fake patients"),
    Held.AVERAGES: ("average length of stay", "mean cost by department"),
    Held.MODEL: ("predict readmission", "a formula for the risk of falling"),
    Held.ANSWERS: ("they phone with questions every week", "answer questions one by one"),
    Held.SURVEY: ("ask staff about violence", "questionnaire about drugs", "survey of employees"),
    Held.REAL: ("follow the same patient without names", "pseudonymised list for the registry"),
}


@pytest.mark.parametrize("held", list(EVERYDAY))
def test_an_everyday_wish_finds_what_is_meant_first(held: Held) -> None:
    for wish in EVERYDAY[held]:
        found = search(order_offers(list(OFFERS.values()), {}), wish)
        assert found and found[0].method.in_hands() is held, (wish, [one.method.id for one in found[:3]])


MEANT = {  # as somebody says it who knows none of the ways: any of these ways first is right
    "number of admissions per month by clinic": (
        "statistics.counts statistics.margins statistics.protected_table"
    ),
    "how many women were readmitted": "services.private_queries statistics.counts",
    "average length of stay": "statistics.means",
    "mean cost per case": "statistics.means",
    "total turnover per department": "statistics.means statistics.protected_table",
    "what is the typical age": "statistics.histogram statistics.means statistics.quantiles",
    "median age of patients": "statistics.quantiles",
    "upper quartile of waiting time": "statistics.quantiles",
    "k-anonymous table": "datasets.k_anonymity",
    "anonymise our patient list": "datasets.k_anonymity",
    "researcher needs the individual records": "datasets.k_anonymity datasets.pseudonyms",
    "replace names with codes": "datasets.pseudonyms",
    "remove names but keep everything else": "datasets.masking datasets.pseudonyms",
    "dummy data for a training course": "datasets.marginals",
    "test data for developers": "datasets.marginals",
    "fake patients": "datasets.marginals",
    "artificial dataset for students": "datasets.marginals",
    "predict who will come back": "models.additive models.logistic models.naive_bayes models.tree",
    "risk score for falls": "models.additive models.linear models.logistic models.tree",
    "which factors influence length of stay": "models.additive models.linear",
    "ask questionnaires with sensitive questions": "exchanges.survey",
    "employees answer anonymously about bullying": "exchanges.survey",
    "somebody will send new questions every week": "services.private_queries",
    "statistics office wants small numbers suppressed": "statistics.protected_table",
    "hide cells below five": "statistics.protected_table",
    "several hospitals together one figure": "exchanges.combine exchanges.share",
    "age distribution chart": "statistics.density statistics.histogram",
    "clusters of similar patients": "models.k_means",
    "open data portal": "datasets.marginals statistics.counts statistics.margins",
    "cross tabulation of sex and diagnosis": "statistics.counts statistics.margins",
    "headcount by department and year": "statistics.counts statistics.margins",
    "list of cases per municipality": "statistics.counts statistics.protected_table",
    "percentage of smokers": "statistics.counts statistics.means",
    "average salary": "statistics.means",
    "90th percentile of duration": "statistics.quantiles",
    "distribution of body weight": "statistics.density statistics.histogram",
    "anonymised copy of the register": "datasets.k_anonymity",
    "de-identified data for a PhD student": "datasets.k_anonymity datasets.pseudonyms",
    "postcode and birth year only roughly": "datasets.k_anonymity datasets.masking datasets.partition",
    "pseudonymised extract": "datasets.pseudonyms",
    "link with another register": "datasets.pseudonyms",
    "synthetic patients": "datasets.marginals",
    "demo data for a trade fair": "datasets.marginals",
    "sample file to build a dashboard": "datasets.marginals statistics.counts",
    "train an algorithm for sepsis": (
        "datasets.marginals models.additive models.linear models.logistic models.tree"
    ),
    "forecast of length of stay": "models.additive models.linear",
    "decision rules for triage": "models.tree",
    "journalist asks how many": "services.private_queries statistics.counts",
    "researchers ask again and again": "services.private_queries",
    "pupils questionnaire on bullying": "exchanges.survey",
    "three clinics compare their numbers": "exchanges.combine exchanges.share",
    "table for the annual report": "statistics.counts statistics.margins statistics.protected_table",
    "suppress small groups": "statistics.protected_table",
    "sum of costs by ward": "statistics.means",
    "types of clients": "models.k_means",
    "survival after surgery": "statistics.life_table",
    "time to readmission": "statistics.life_table",
}


LENGTH = "models.linear models.additive"
RETURN = "models.logistic models.additive models.tree models.naive_bayes"
STAYS = "statistics.means statistics.quantiles statistics.histogram statistics.life_table"
EIGHT = {  # as a records officer tells it: what they were asked for, and what is right
    "en": {
        "the university wants rows": "datasets.k_anonymity",
        "how many per ward": "statistics.counts",
        "a test table for the new software": "datasets.marginals",
        "a doctor wants a model that predicts length of stay": LENGTH,
        "the insurer asks how long people stay": STAYS,
        "the press wants a map of cases": "statistics.counts",
        "somebody phones every week with a new question": "services.private_queries",
        "hide the names before the registry gets the file": "datasets.pseudonyms",
        "students need practice data": "datasets.marginals",
        "which age groups come most often": "statistics.counts statistics.histogram",
        "the most frequent diagnoses": "statistics.counts",
        "patients moving from ward to ward": "statistics.flows",
        "waiting times before and after the reform": STAYS,
        "a copy of the table to try the new dashboard": "datasets.marginals",
        "which patients come back within thirty days": RETURN,
        "share of smokers among diabetics": "statistics.counts statistics.means",
    },
    "de": {
        "die Uni möchte Zeilen": "datasets.k_anonymity",
        "wie viele je Station": "statistics.counts",
        "Testdaten für die neue Software": "datasets.marginals",
        "ein Modell, das die Verweildauer vorhersagt": LENGTH,
        "wie lange bleiben die Leute": STAYS,
        "die Presse will eine Karte der Fälle": "statistics.counts",
        "jede Woche ruft jemand mit einer neuen Frage an": "services.private_queries",
        "Namen verbergen": "datasets.pseudonyms",
        "eine Kopie der Tabelle zum Üben": "datasets.marginals",
        "Mitarbeiter sollen ehrlich sagen, ob sie die Hände waschen": "exchanges.survey",
        "der Vorstand möchte eine Grafik der Altersverteilung": "statistics.histogram",
    },
    "fr": {
        "l’université veut des lignes": "datasets.k_anonymity",
        "combien par service": "statistics.counts",
        "un fichier de test pour le nouveau logiciel": "datasets.marginals",
        "un modèle qui prédit la durée de séjour": LENGTH,
        "combien de temps restent les gens": STAYS,
        "la presse veut une carte des cas": "statistics.counts",
        "chaque semaine quelqu’un appelle avec une nouvelle question": "services.private_queries",
        "cacher les noms": "datasets.pseudonyms",
        "une copie de la table pour s’exercer": "datasets.marginals",
        "qui revient dans les trente jours": RETURN,
        "le personnel doit dire franchement s’il se lave les mains": "exchanges.survey",
        "la direction veut un graphique des âges": "statistics.histogram",
    },
}
ASIDE = {
    "en": "which patients could be recognised",
    "de": "wer ist erkennbar",
    "fr": "qui peut être reconnu",
}


@pytest.mark.parametrize("language", EIGHT)
def test_what_an_office_is_asked_for_is_found_in_its_language(language: str) -> None:
    words.choose_language(language)
    try:
        offered = order_offers([Offer(one) for one in methods()], {})
        first = {wish: search(offered, wish)[0].method.id for wish in EIGHT[language]}
        assert {wish: one for wish, one in first.items() if one not in EIGHT[language][wish].split()} == {}
        assert words.say("app.steps.risk") in told_aside(ASIDE[language]), "counted elsewhere, and free"
        assert not any(map(told_aside, EIGHT[language]))
    finally:
        words.choose_language("en")


@pytest.mark.parametrize("wish", MEANT)
def test_what_somebody_says_who_knows_none_of_the_ways_finds_one_that_is_right(wish: str) -> None:
    found = search(order_offers([Offer(one) for one in methods()], {}), wish)
    assert found and found[0].method.id in MEANT[wish].split(), [one.method.id for one in found[:3]]


def test_every_answer_has_its_words() -> None:
    for question, answers in QUESTIONS.items():
        assert words.say(f"app.method.ask.{question}.question")
        assert words.say(f"app.method.ask.{question}.chip")
        for given in answers:
            assert words.say(f"app.method.ask.{question}.{given}")
            ruled = [one for one in OFFERS.values() if ruled_out_by(one, {question: given})]
            if ruled:
                assert words.say(f"app.method.ask.{question}.against.{given}")


# --- choosing --------------------------------------------------------------------------------------


def test_all_ways_are_offered_and_each_says_promise_and_what_it_keeps(at: Any) -> None:
    page = at("method", method="", parameters={}, budget=None)
    page.all.click()
    assert sorted(shown(page)) == sorted(one.id for one in methods())
    for row in page.ways.rows:
        assert all((row.way.promise, row.way.slack, row.way.keeps, row.way.thing)), row.way.id
    assert not page.none.isVisible() and not page.card.isVisible()


def test_an_answer_puts_what_does_not_fit_last_with_the_reason_and_is_taken_back(at: Any) -> None:
    page = at("method", method="", parameters={}, budget=None)
    answer(page, "rows", "none")
    card = page.things.cards[Held.COARSER]
    assert card.use.isHidden() and "rows of people leave" in card.cost.plain()
    assert not page.things.cards[Held.COUNTS].use.isHidden()
    card.others.click()
    assert shown(page) and not fitting(page), "everything stays reachable"
    assert all("Rows of people leave" in row.way.against for row in page.ways.rows)
    page.to_things.click()
    page.answers.chips["rows"].click()
    assert page.answers.answers() == {} and not card.use.isHidden()


def test_where_no_way_fits_the_page_says_which_answer_to_give_up(at: Any) -> None:
    page = at("method", method="", parameters={}, budget=None)
    answer(page, "rows", "none")
    page._open_ways(Held.REAL)
    assert page.none.isVisible() and "Without the one to" in page.none.plain()


def test_searching_finds_a_way_by_a_term(at: Any, qtbot: Any) -> None:
    page = at("method", method="", parameters={}, budget=None)
    page.search.setFocus()
    qtbot.keyClicks(page.search, "anonymity")
    named = {one for one in shown(page) if not one.startswith("datasets.")}
    assert "datasets.k_anonymity" in shown(page) and named == set()
    assert page.search.hasFocus() and page.search.text() == "anonymity"
    page.search.setText("Sweeney")
    assert shown(page) == ["datasets.k_anonymity"]
    page.search.setText("xyzzy")
    assert shown(page) == [] or not page.ways.isVisible()
    assert page.title.text() == words.say("app.method.not_found")
    qtbot.keyClick(page.search, Qt.Key.Key_Escape)
    assert page.things.isVisible() and page.search.text() == ""


def test_a_model_that_would_hold_rows_is_refused_with_the_reason(at: Any, qtbot: Any) -> None:
    page = at("method", method="", parameters={}, budget=None)
    for wanted in ("Support vector machine", "nearest neighbours", "kernel ridge", "SVM"):
        page.search.setText(wanted)
        assert page.none.isVisible() and "hold rows of the table" in page.none.plain(), wanted
        assert "additive" in page.none.plain() and "answer desk" in page.none.plain()
    for wanted in ("", "logistic", "vector"):
        page.search.setText(wanted)
        assert not page.none.isVisible() or "hold rows" not in page.none.plain(), wanted


def test_a_way_is_selected_by_keys_explained_and_taken(at: Any, window: Window, qtbot: Any) -> None:
    page = at("method", method="", parameters={}, budget=None)
    page.all.click()
    first, second = page.ways.rows[:2]
    first.button.setFocus()
    qtbot.keyClick(first.button, Qt.Key.Key_Down)
    assert page.selected == second.way.id and second.button.hasFocus()
    assert window.study.plan.method == "", "looking decides nothing"
    explained = window.panel.shown()
    assert explained.title == second.way.title
    assert {part.heading for part in explained.parts} >= {
        words.say(f"app.method.{name}") for name in ("guarantee", "costs", "source")
    }
    assert window.footer.next.text() == words.say("app.method.use")
    qtbot.keyClick(second.button, Qt.Key.Key_Return)
    assert window.study.plan.method == second.way.id and page.card.isVisible()


def test_choosing_a_way_says_what_it_promises_and_what_is_missing(at: Any, window: Window) -> None:
    page = at("method", method="", parameters={}, budget=None)
    pick(page, "statistics.counts")
    window.footer.next.click()
    assert window.study.plan.method == "statistics.counts"
    for name in ("guarantee", "recipient_can", "recipient_cannot"):
        assert page.says[name].isVisible() and len(page.says[name].plain()) > 40
    assert page.form.lines["columns"].problem.plain() == words.say("app.method.undecided")
    window.footer.next.click()
    label = words.say("methods.statistics.counts.parameters.columns.label")
    assert window.step == "method" and window.notice.words().startswith(f"“{label}” still needs")
    page.form.pickers()["columns"].press(["gender"])
    assert window.study.plan.parameters == {"columns": ["gender"]}
    window.footer.next.click()
    assert window.step == "budget", "a budget that is missing is asked for on the next screen"


def test_another_way_keeps_what_it_shares_and_what_was_filled_in_comes_back(at: Any, window: Window) -> None:
    page = at("method")
    before = dict(window.study.plan.parameters)
    page.another.click()
    pick(page, "statistics.means")
    window.footer.next.click()
    assert window.study.plan.parameters == {"extra_cells": "left_out"}
    page.another.click()
    pick(page, "statistics.counts")
    window.footer.next.click()
    assert window.study.plan.parameters == before, "nothing that was filled in is lost"


def test_the_steps_change_with_the_way(at: Any, window: Window) -> None:
    page = at("method")
    steps = window.side.steps.buttons
    assert steps["budget"].isVisible() and not steps["terms"].isVisible()
    page.another.click()
    pick(page, "datasets.k_anonymity")
    window.footer.next.click()
    assert not steps["budget"].isVisible() and steps["terms"].isVisible()
    assert "k" not in page.form.lines, "the threshold is asked for with the terms"


def test_settings_are_kept_compared_and_one_is_chosen(at: Any, window: Window, qtbot: Any) -> None:
    page = at("method")
    before = dict(window.study.plan.parameters)
    assert "compare" not in path(window.study.state)
    page.candidates.keep.click()
    window.study.decide_parameters(columns=["gender"])
    window.go("compare")
    settle(qtbot, window)
    assert window.step == "compare", window.notice.words()
    compare = window.page("compare")
    assert len(compare.found) == 2 and window.footer.next.text() == "Go on with A"
    assert "2" in compare.tried.plain() and not Ledger(window.study.ledger_path).entries()
    compare.table.selectRow(1)
    assert window.footer.next.text() == "Go on with B"
    window.footer.next.click()
    settle(qtbot, window)
    assert window.step == "preview" and window.study.plan.parameters == before
    assert window.study.plan.candidates == (
        {"method": window.study.plan.method, "parameters": {**before, "columns": ["gender"]}},
    )


def test_group_sizes_are_declared_by_typing(at: Any, window: Window, qtbot: Any) -> None:
    page = at("method")
    write(qtbot, page.sizes, "10; 50")
    assert window.study.plan.declared_sizes == (10, 50)
    write(qtbot, page.sizes, "many")
    assert page.sizes_wrong.isVisible() and window.study.plan.declared_sizes == (10, 50)


def test_an_example_is_made_and_shown_without_spending(at: Any, window: Window, qtbot: Any) -> None:
    page = at("method", method="", parameters={}, budget=None)
    ledger = window.study.ledger_path
    entries = len(Ledger(ledger).entries()) if ledger.exists() else 0
    plan = replace(window.study.plan)
    page.things.focus(Held.COARSER)
    title = words.say("app.method.things.coarser.title")
    qtbot.waitUntil(lambda: title in [one.text() for one in window.panel.findChildren(QLabel)])
    see = words.say("app.method.example.see")
    next(one for one in window.panel.findChildren(QPushButton) if one.text() == see).click()
    settle(qtbot, window, timeout=60_000)
    assert page.example.isVisible(), window.notice.words()
    folder = page.example.folder
    assert (folder / "release" / "evidence.json").is_file()
    assert "k-anonymity" in page.example.name.text() or "coarser" in page.example.name.text()
    assert len(page.example.cover.toPlainText()) > 200
    assert (len(Ledger(ledger).entries()) if ledger.exists() else 0) == entries
    assert window.study.plan == plan and Path(plan.files["people"].path).exists()
    page.example.findChild(QPushButton, "example-back").click()
    assert page.choice.isVisible() and not page.example.isVisible()


def without_race(folder: Path) -> dict[str, Any]:
    """Return the sample with the values of one column not declared."""
    schema = sample_plan(folder).schema
    race = replace(schema.column("race"), domain=None, domain_origin=None)
    return {"schemas": {"people": schema.with_column(race)}, "parameters": {"columns": ["gender"]}}


def states(page: Any, parameter: str = "columns") -> dict[str, str]:
    """Return how each column stands in the list of a parameter."""
    return {one.name: one.state for one in page.form.pickers()[parameter].list.picks.lines}


def test_a_column_without_declared_values_is_declared_in_place(
    at: Any, window: Window, qtbot: Any, tmp_path: Path
) -> None:
    page, hands = at("method", **without_race(tmp_path)), Hands(qtbot, window)
    hands.tick("columns", "race")
    assert states(page)["race"] == "waiting" and states(page)["gender"] == "declared"
    assert window.study.plan.parameters["columns"] == ["gender"], "not before it is declared"
    assert page.declare.isVisible() and page.declare.columns == ("race",)
    assert not page.declare.known.isChecked(), "nobody says it for the person"
    page.declare.cells["race"].fields.values.setPlainText("Caucasian, AfricanAmerican, Other")
    hands.click("domain_declare")
    assert page.declare.wrong.isVisible() and not window.study.plan.schema.column("race").is_declared
    hands.click("domain_known")
    hands.click("domain_declare")
    plan = window.study.plan
    assert plan.parameters["columns"] == ["gender", "race"]
    assert plan.schema.column("race").domain.values == ("Caucasian", "AfricanAmerican", "Other")
    assert not page.declare.isVisible() and states(page)["race"] == "declared"
    window.undoing.undo()
    assert window.study.plan.parameters["columns"] == ["gender"], "one edit"
    assert not window.study.plan.schema.column("race").is_declared


def test_a_single_column_that_waits_to_be_declared_is_shown_as_chosen(
    at: Any, window: Window, qtbot: Any, tmp_path: Path
) -> None:
    schema = sample_plan(tmp_path).schema
    days = replace(schema.column("time_in_hospital"), domain=None, domain_origin=None)
    schemas = {"people": schema.with_column(days)}
    means = {"statistic": "mean", "by": ["gender"]}
    page = at("method", method="statistics.means", schemas=schemas, parameters=means)
    hands, combo = Hands(qtbot, window), page.form.lines["value"].field.combo
    before = combo.placeholderText()
    hands.pick("value", "time_in_hospital")
    assert combo.currentIndex() < 0 and combo.placeholderText() == "time_in_hospital · to declare"
    problem = page.form.lines["value"].problem
    assert problem.plain() == words.say("app.method.waits")
    hands.click("declare-cancel-time_in_hospital")
    assert combo.placeholderText() == before, "left out again"
    assert problem.plain() == words.say("app.method.undecided")


def test_what_is_written_into_narrow_fields_of_bounds_is_seen_whole(
    at: Any, window: Window, qtbot: Any, tmp_path: Path
) -> None:
    schema = sample_plan(tmp_path).schema
    names = [column.name for column in schema.columns if column.kind == "integer"][-2:]
    for name in names:
        schema = schema.with_column(replace(schema.column(name), domain=None, domain_origin=None))
    parameters = {"statistic": "mean", "by": ["gender"]}
    page = at("method", method="statistics.means", schemas={"people": schema}, parameters=parameters)
    for name in names:
        page.declaring.ask("value", name, name)
    settle(qtbot, window)
    bounds = [cell.fields.bounds for cell in page.declare.cells.values()]
    for width, text in ((1366, "1930"), (1366, "-123456.789"), (911, "1930")):
        window.resize(width, 600)
        for fields in bounds:
            fields["minimum"].setText(text)
        qtbot.waitUntil(lambda: not [one for one in faults(window) if "domain_" in one])


def bare(folder: Path) -> dict[str, Any]:
    """Return the sample with no column declared."""
    schema = sample_plan(folder).schema
    columns = tuple(replace(one, domain=None, domain_origin=None) for one in schema.columns)
    return {"schemas": {"people": replace(schema, columns=columns)}, "parameters": {}}


def test_several_lists_are_declared_side_by_side_in_one_go(
    at: Any, window: Window, qtbot: Any, tmp_path: Path
) -> None:
    """So many ticks as columns, one for the statement, one to go on."""
    page, hands = at("method", **bare(tmp_path)), Hands(qtbot, window)
    names = ["race", "gender", "age", "readmitted"]
    hands.tick("columns", "race")
    page.declare.cells["race"].fields.values.setPlainText("Caucasian · Other")
    hands.tick("columns", *names[1:])
    written = page.declare.cells["race"].fields.values.toPlainText()
    assert written == "Caucasian · Other", "the next column keeps a list that is not declared yet"
    for name in names[1:]:
        fields = page.declare.cells[name].fields
        if fields.is_empty:
            fields.values.setPlainText("a; b")
    assert window.footer.next.text() == words.say("app.picker.declare_next", count=4)
    assert window.footer.next.property("waiting") is True
    hands.click(window.footer.next)
    assert window.step == "method" and not window.study.plan.parameters.get("columns")
    hands.clicks -= 1  # that was only to see that it waits
    hands.click("domain_known")
    assert window.footer.next.property("waiting") is False
    hands.click(window.footer.next)
    assert window.study.plan.parameters["columns"] == names and hands.clicks == len(names) + 2
    assert window.step != "method", page.form.lines["columns"].problem.plain()
    window.undoing.undo()
    assert not window.study.plan.parameters.get("columns"), "one edit"


def test_the_statement_is_made_again_for_a_further_column(
    at: Any, window: Window, qtbot: Any, tmp_path: Path
) -> None:
    page, hands = at("method", **bare(tmp_path)), Hands(qtbot, window)
    hands.tick("columns", "race")
    hands.click("domain_known")
    hands.tick("columns", "A1Cresult")
    assert not page.declare.known.isChecked()
    hands.tick("columns", "race")
    assert page.declare.columns == ("A1Cresult",) and states(page)["race"] == "free"
    hands.click("declare-cancel-A1Cresult")
    assert not page.declare.isVisible() and states(page)["A1Cresult"] == "free"


def test_columns_are_ticked_by_keys_and_enter_goes_on_only_with_the_statement(
    at: Any, window: Window, qtbot: Any, tmp_path: Path
) -> None:
    page = at("method", **bare(tmp_path))
    view = page.form.pickers()["columns"].list
    view.setFocus(Qt.FocusReason.TabFocusReason)
    first = [one.name for one in view.picks.lines[:3]]
    for _ in range(2):
        qtbot.keyClick(view, Qt.Key.Key_Down, Qt.KeyboardModifier.ShiftModifier)
    qtbot.keyClick(view, Qt.Key.Key_Space)
    assert page.declare.columns == tuple(first)
    qtbot.keyClick(view, Qt.Key.Key_Space)
    assert not page.declare.columns, "the other way round"
    qtbot.keyClick(view, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    may = {name for name, state in states(page).items() if state not in ("unfit", "out", "never")}
    assert set(page.declare.columns) == may and len(may) >= 5
    assert page.form.pickers()["columns"].count.property("tone") == "wrong", "at most four"
    page.declare.known.setChecked(True)
    qtbot.keyClick(view, Qt.Key.Key_Return)
    assert not window.study.plan.parameters.get("columns"), "values are missing"
    for cell in page.declare.cells.values():
        if cell.fields.is_empty and cell.fields.bounds:
            cell.fields.bounds["minimum"].setText("0")
            cell.fields.bounds["maximum"].setText("90")
        elif cell.fields.is_empty:
            cell.fields.values.setPlainText("a, b")
    page.declare.known.setChecked(False)
    qtbot.keyClick(view, Qt.Key.Key_Return)
    assert not window.study.plan.parameters.get("columns"), "the statement is missing"
    page.declare.known.setChecked(True)
    qtbot.keyClick(view, Qt.Key.Key_Return)
    assert set(window.study.plan.parameters["columns"]) == may


def test_values_taken_from_the_rows_are_declared_only_when_vouched_for(
    at: Any, window: Window, qtbot: Any, tmp_path: Path
) -> None:
    page, hands = at("method", **without_race(tmp_path)), Hands(qtbot, window)
    hands.tick("columns", "race")
    cell = page.declare.cells["race"]
    assert cell.fields.is_empty and cell.found is not None, "counts from rows are not offered"
    hands.click("domain_known")
    hands.click("domain_take")
    assert not page.declare.known.isChecked() and not cell.fields.is_empty
    hands.click("domain_declare")
    assert page.declare.wrong.isVisible() and not window.study.plan.schema.column("race").is_declared
    hands.click("domain_known")
    hands.click("domain_declare")
    assert window.study.plan.schema.column("race").is_declared
    assert [one["column"] for one in window.study.plan.decisions] == ["race"]


def test_a_column_that_nothing_mends_cannot_be_chosen_and_says_why(
    at: Any, window: Window, qtbot: Any
) -> None:
    page, hands = at("method", parameters={"columns": ["gender"]}), Hands(qtbot, window)
    assert states(page)["patient_nbr"] == "never"
    hands.tick("columns", "patient_nbr")
    assert window.study.plan.parameters["columns"] == ["gender"] and not page.declare.columns
    pick = next(one for one in page.form.pickers()["columns"].list.picks.lines if one.name == "patient_nbr")
    assert pick.why and pick.said == words.say("app.picker.state.never")


def test_the_order_of_the_columns_can_be_changed(at: Any, window: Window, qtbot: Any) -> None:
    page, hands = at("method", parameters={"columns": ["gender"]}), Hands(qtbot, window)
    hands.tick("columns", "age")
    assert window.study.plan.parameters["columns"] == ["gender", "age"]
    assert "gender, age" in page.form.pickers()["columns"].order.plain()
    hands.click("earlier-age")
    assert window.study.plan.parameters["columns"] == ["age", "gender"]


def test_what_would_say_nothing_is_said_before_a_level_is_chosen(
    at: Any, window: Window, qtbot: Any, tmp_path: Path
) -> None:
    """By all that the register could spend at most; with a remedy that is taken in place."""
    budget = Budget(Fraction(1, 200))
    page = at("method", budget=None, holding_budget=budget, parameters={"columns": ["gender", "age"]})
    page.choosing = False
    page.enter()
    settle(qtbot, window)
    card = page.verdict.card
    assert card.isVisible() and card.property("card") == "care"
    assert "ε 0.005" in card.sentence.plain() and "no information" in card.sentence.plain()
    without = next(
        one for one in card.findChildren(QAbstractButton) if one.objectName() == "remedy-without-age"
    )
    without.click()
    settle(qtbot, window)
    assert window.study.plan.parameters["columns"] == ["gender"]
    window.study.decide(holding_budget=Budget(Fraction(2)))
    settle(qtbot, window)
    assert not card.isVisible()


def test_no_way_is_wider_than_the_smallest_list(qtbot: Any) -> None:
    """A long name beside a long promise made the page wider than a window of 1366 pixels."""
    table = Ways()
    qtbot.addWidget(table)
    table.show_ways(ways(list(OFFERS.values()), {}, {}, Tried({})), "")
    table.resize(620, 900)
    table.show()
    qtbot.wait(5)
    for row in table.rows:
        assert row.minimumSizeHint().width() <= 580, (row.way.title, row.minimumSizeHint().width())


def test_the_promise_said_is_that_of_the_settings(window: Window, qtbot: Any, tmp_path: Path) -> None:
    plan = example_plan("statistics.protected_table", tmp_path)
    for form, kind in (("hidden", "small_cells"), ("random_rounding", "rounded"), ("cell_keys", "cell_keys")):
        window.study.open_plan(replace(plan, parameters={**plan.parameters, "form": form, "base": 5}))
        for step in ("load", "columns", "risk", "purpose", "method"):
            window.go(step)
            settle(qtbot, window)
        assert window.step == "method" and window.study.plan.parameters["form"] == form
        page = window.page("method")
        assert page.says["guarantee"].plain() == words.say(f"promises.{kind}.sentence"), (
            window.study.problems()
        )


def test_lines_of_a_record_are_told_apart(window: Window, qtbot: Any, tmp_path: Path) -> None:
    window.study.open_plan(example_plan("datasets.masking", tmp_path))
    for step in ("load", "columns", "risk", "purpose", "method"):
        window.go(step)
        settle(qtbot, window)
    field = window.page("method").form.lines["steps"].field
    boxes = [box for box in field.findChildren(QCheckBox) if box.isVisible()]
    assert boxes and all("line" not in box.text() and "line" in box.accessibleName() for box in boxes)
    rules = [one for one in field.findChildren(QFrame) if one.property("rule") == "true"]
    assert len(rules) == len(field.records) - 1
    for box in boxes:  # after what it belongs to, not before
        row = next(one for one in _around(box) if one.parentWidget() is field)
        first = row.findChildren(QComboBox)[0]
        assert box.mapTo(row, QPoint(0, 0)).y() >= first.mapTo(row, QPoint(0, 0)).y() - first.height()


def _around(part: QWidget) -> list[QWidget]:
    found = []
    while part is not None:
        found.append(part)
        part = part.parentWidget()
    return found


def test_a_pair_of_columns_is_named_by_choosing_both(window: Window, qtbot: Any, tmp_path: Path) -> None:
    window.study.open_plan(example_plan("models.additive", tmp_path))
    for step in ("load", "columns", "risk", "purpose", "method"):
        window.go(step)
        settle(qtbot, window)
    field = window.page("method").form.lines["pairs"].field
    assert field.value() is None and not window.study.problems()
    field.add.click()
    missing, unknown = "parameters.unfilled", "models.additive.pair_unknown"
    for name, wanted, code in (
        ("first", "gender", missing),
        ("second", "race", unknown),
        ("second", "age", None),
    ):
        combo = field.rows.itemAt(0).widget().findChild(QComboBox, name)
        place = combo.findData(wanted)
        combo.setCurrentIndex(place)
        combo.activated.emit(place)
        settle(qtbot, window)
        assert [one.code for one in window.study.problems()] == ([code] if code else [])
    assert window.study.plan.parameters["pairs"] == [{"first": "gender", "second": "age"}]


def test_a_plan_that_is_opened_explains_its_own_way(at: Any, window: Window) -> None:
    """Not the first of the cards, which are behind what was chosen."""
    page = at("method")
    assert not page.choosing and page.offers
    for topic in ("", "thing.counts"):
        assert page.explain(topic).title == page.title.text(), topic


def test_what_others_read_begins_in_the_language_that_is_spoken_here(
    at: Any, window: Window, qtbot: Any, request: pytest.FixtureRequest
) -> None:
    """The page on which people answer stood in English, whoever asked them."""
    request.addfinalizer(partial(words.choose_language, texts.FALLBACK))
    window.use_language("de")
    at("method", method="", parameters={}, budget=None)
    settle(qtbot, window)
    page = window.page("method")
    page.selected = "exchanges.survey"
    page._use()
    assert window.study.plan.parameters["language"] == "de"
    window.study.decide(parameters={**window.study.plan.parameters, "language": "fr"})
    page.selected = "statistics.counts"
    page._use()
    page.selected = "exchanges.survey"
    page._use()
    assert window.study.plan.parameters["language"] == "fr", "what was chosen stays"


@pytest.mark.parametrize("method", ["datasets.k_anonymity", "statistics.means", "models.additive"])
def test_a_list_of_columns_does_not_scroll_within_its_page(at: Any, method: str) -> None:
    page = at("method", method=method, parameters={})
    lists = [one for one in page.findChildren(PickList) if one.isVisible()]
    assert lists and [one.objectName() for one in lists if one.verticalScrollBar().maximum()] == []
