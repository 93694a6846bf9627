"""Every language says what the English says: all of it, the same numbers, signs, terms, and no more."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from engine import languages, texts

sys.path.insert(0, str(Path(__file__).parent))
import translation

OTHERS = [one for one in texts.languages() if one != texts.FALLBACK]


@pytest.mark.parametrize("language", OTHERS)
def test_a_language_says_all_of_it_and_nothing_else(language: str) -> None:
    wrong = [f"{what}: {text_id}" for text_id, what in translation.differences(language)]
    said = "python tests/engine/languages/translation.py"
    assert not wrong, "\n".join(
        [
            f"{len(wrong)} texts of resources/texts/{language} are not those of the same file of en;",
            f"`{said} {language}` shows both sentences, `{said} {language} --note` when they are right:",
            *wrong[:200],
        ]
    )


@pytest.mark.parametrize("language", OTHERS)
def test_no_sentence_was_made_from_an_english_that_has_changed(language: str) -> None:
    assert not translation.outdated(language)


@pytest.mark.parametrize(
    ("check", "english", "right", "wrong"),
    [
        ("other_places", "Row {row:.3g}", "Zeile {row:.3g}", "Zeile {row}"),
        ("other_numbers", "1,000 or 0.5 in k2", "1.000 oder 0,5 in k2", "1.000 oder 0,6 in k2"),
        ("other_signs", "ε ≤ 1", "ε ≤ 1", "ε < 1"),
        ("other_shape", "**One**", "**Eins**", "Eins"),
        ("left_english", "Choose another folder", "Einen anderen Ordner wählen", "Choose another folder"),
        ("lost_no", "It is not paid", "Es wird nicht bezahlt", "Es wird bezahlt"),
        ("too_familiar", "Your table", "Ihre Tabelle", "Deine Tabelle"),
        ("foreign_marks", "“No”", "„Nein“", "“Nein”"),
        ("one_gender", "of {n} {@people}", "von {n} {@to people}", "von {n} {@people}"),
        (
            "one_gender",
            "With {n:{@person}|{@people}}",
            "Mit {n:{@person}|{@to people}}",
            "Mit {n:{@person}|{@people}}",
        ),
        (
            "one_gender",
            "among the {@people}",
            "unter den gezählten {@to people}",
            "unter den gezählten {@people}",
        ),
        ("one_gender", "Each {@person}", "Alle {@people}", "Jede {@person}".lower()),
        ("breaking_space", "Who?", "Qui\u00a0?", "Qui ?"),
        (
            "wrong_forms",
            "{n:row|rows} of {@a person}",
            "{n:Zeile|Zeilen} je {@person}",
            "{n:Zeile|} {@a person}",
        ),
        ("person_named", "about {@a person}", "über eine Einheit ({@person})", "über einen Menschen"),
        ("second_form", "the custodian says", "der Datenverwalter sagt", "die Datenverwaltung sagt"),
        (
            "second_form",
            "the custodian’s key",
            "der Schlüssel des Datenverwalters",
            "die Worte der Datenverwalter",
        ),
        (
            "one_of_many",
            "{n} of {all} rows are empty",
            "{n} von {all} Zeilen {n:|ist|sind} leer",
            "{n} von {all} Zeilen sind leer",
        ),
        (
            "one_of_many",
            "Empty {n} of {all} rows",
            "Leer {n:|ist|sind} {n} von {all} Zeilen",
            "Leer sind {n} von {all} Zeilen",
        ),
        ("misplaced_number", "{n:row|rows}", "{n:|ist|sind} {n:Zeile|Zeilen}", "{n:ist|sind} Zeilen"),
        ("misplaced_number", "{n:row|rows}", "{n:Zeile|Zeilen}", "{n:Zeile|Zeilen}, {n} davon"),
        ("other_terms", "This folder", "Dieser Ordner", "Dieses Verzeichnis"),
    ],
)
def test_each_check_finds_what_it_is_for(check: str, english: str, right: str, wrong: str) -> None:
    found = {one.__name__: one for one in translation.CHECKS}[check]
    language = "fr" if check == "breaking_space" else "de"
    assert not found(english, right, language)
    assert found(english, wrong, language)


def test_a_plural_after_a_number_that_may_be_one_is_found_in_french() -> None:
    assert translation.one_of_many("{n} of {all} rows", "{n} lignes sur {all}", "fr")
    assert not translation.one_of_many("{n} of {all} rows", "{n:ligne|lignes} sur {all}", "fr")


@pytest.mark.parametrize(
    "wrong",
    [
        *(
            "Les effectifs sont bruités",
            "un ensemble de données",
            "la réponse randomisée",
            "deuxième signature",
        ),
        *("la contre-fiche", "est consigné", "différentiellement privée", "Rédiger les papiers", "Le GDPR"),
        *("l’espèce de serveur", "Le coordinateur signe", "des données personnelles"),
    ],
)
def test_french_has_one_word_for_a_thing(wrong: str) -> None:
    assert translation.second_form("", wrong, "fr")


@pytest.mark.parametrize("wrong", ["une même {@person}", "{@people} écartées", "Les {@people} sont comptées"])
def test_french_fits_the_protected_in_both_genders(wrong: str) -> None:
    assert translation.one_gender("", wrong, "fr")


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("an zurückgehaltenen {@to people}", "an zurückgehaltenen {@people}"),
        ("wird an {@to people} geprüft", "wird an {@people} geprüft"),
        ("zwischen {a} und {b:{@person}|{@to people}}", "zwischen {a} und {b:{@person}|{@people}}"),
        ("über dieselben {@people}", "unter den gezählten {@people}"),
    ],
)
def test_german_puts_the_protected_into_the_dative_where_it_has_to(right: str, wrong: str) -> None:
    assert not translation.one_gender("", right, "de")
    assert translation.one_gender("", wrong, "de")


def test_every_check_is_tried_above() -> None:
    tried = test_each_check_finds_what_it_is_for.pytestmark[0].args[1]  # type: ignore[attr-defined]
    assert {one[0] for one in tried} == {one.__name__ for one in translation.CHECKS}


def test_every_term_of_the_glossary_is_used() -> None:
    english = texts.catalogue().values()
    assert not [term.pattern for term, _ in translation.glossary() if not any(map(term.search, english))]


def test_plurals_and_numbers_are_those_of_the_language() -> None:
    french, german = languages.find("fr"), languages.find("de")
    assert [french.plural_form(one) for one in ("0", "1", "1,5", "2", "1\u202f000")] == [0, 0, 0, 1, 1]
    assert [german.plural_form(one) for one in ("0", "1", "0,5", "1,5", "1.000")] == [1, 0, 1, 1, 1]
    assert texts.number(-1234.5, language="de") == "−1.234,5"
    assert texts.percent_up(0.9731, language="fr") == "97,4\u00a0%"


def test_what_a_language_lacks_is_said_as_english_writes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        texts, "_find", lambda text_id, language: "{n} of {@a person}" if language == "en" else None
    )
    assert texts.text("any", language="de", n=1234.5) == "1,234.5 of a person"
