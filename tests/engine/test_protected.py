"""The words for who is protected, in the places of a text that mean them."""

from __future__ import annotations

import re

import pytest

from engine import languages, texts
from engine.protected import Protected, several, words_for_protected
from engine.table.schema import Schema

PLURALS = {
    "household": "households",
    "family": "families",
    "survey day": "survey days",
    "witness": "witnesses",
    "sick child": "sick children",
    "Haushalt": "Haushalte",
    "": "",
}


@pytest.mark.parametrize("word", PLURALS)
def test_several_are_proposed(word: str) -> None:
    assert several(word) == PLURALS[word]


def test_places_of_a_text() -> None:
    said = Protected("employee", "staff members")
    places = ("person", "people", "a person", "Person", "People", "A person")
    assert [said.said(place) for place in places] == [
        "employee",
        "staff members",
        "an employee",
        "Employee",
        "Staff members",
        "An employee",
    ]
    with pytest.raises(KeyError):
        said.said("persons")


def test_what_was_not_said_is_a_person() -> None:
    assert words_for_protected("") == words_for_protected(None) == Protected()
    assert Protected().several == "people"


def test_a_person_who_is_called_so_is_one_in_every_language() -> None:
    """A schema that says “person” made a French report of “people” and “une unité (person)”."""
    for words in (Protected("person"), Protected("person", "people"), Protected()):
        assert words.said("people", languages.find("fr")) == Protected().said("people", languages.find("fr"))
        assert words.said("person", languages.find("de")) == Protected().said("person", languages.find("de"))
    assert Protected("child").said("people", languages.find("fr")) == "children"


def test_words_hold_for_the_time_of_a_call_and_for_the_thread_that_says_them() -> None:
    name = "report.price.people"
    assert texts.text(name) == "People"
    with texts.speaking(Protected("farm")):
        assert texts.text(name) == "Farms"
    assert texts.text(name) == "People"


def test_every_place_in_every_text_is_known() -> None:
    places = {place for text in texts.catalogue().values() for place in re.findall(r"\{@([^}]*)\}", text)}
    assert places <= {"person", "people", "a person", "Person", "People", "A person"}


def test_the_word_for_several_is_kept_in_the_schema() -> None:
    kept = Schema.from_json(Schema(protected="foyer", protected_many="foyers aidés").to_json())
    assert kept.words == Protected("foyer", "foyers aidés")


SPEAK_OF_OTHERS = (
    *("methods.exchanges.survey.", "promises.local_dp.", "analyses.", "app.start."),
    *("report.units.local", "report.neighbours.local", "app.columns.unit.words."),
    *("errors.ledger.bad_unit.", "errors.schema.protected.", "errors.price.people_and_compensation."),
    *("errors.commands.sample_of_how_many.", "commands.options.sample"),  # an option is called so
    *("commands.options.approval", "commands.options.person", "commands.options.name_person"),
    *("commands.options.withdraw", "commands.options.second_person"),
    *("app.staff.", "errors.staff.", "signing.rule.", "policy.names.second_", "app.releases.help.people."),
    *("app.releases.state.prepared", "commands.prepare", "commands.heads.person"),
    *("errors.ledger.not_signed.", "errors.ledger.visit_underway.", "errors.run.ledger_older."),
    *("anchors.", "law."),  # what courts decided and what the law says, of whoever it was
    "commands.desktop.program",  # what the program is for
    "self_test.",  # what a server is asked about: invented rows
)
"""Of those who answer, of invented people, of what a file may say, and of who works with a register.

Not of those who are protected.
"""


def test_texts_leave_a_place_for_the_custodians_word() -> None:
    plain = {
        name
        for name, text in texts.catalogue().items()
        if re.search(r"\b(persons?|people|patients?)\b", re.sub(r"\{[^}]*\}", "", text), re.IGNORECASE)
    }
    plain -= {name for name in plain if name.endswith(".aliases")}  # words to find a method by, never shown
    assert not {name for name in plain if not name.startswith(SPEAK_OF_OTHERS) and "_local" not in name}
