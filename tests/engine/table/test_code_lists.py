"""Code lists speak every language; a column that takes one is released in the words of its custodian."""

from __future__ import annotations

import pytest

from app.work import marking
from engine import texts
from engine.table.code_lists import WORDS, code_list, code_lists
from engine.table.schema import Column, Domain, Kind, Role
from engine.views import Text

OF_A_LANGUAGE = ("dutch", "french", "german", "italian", "polish", "portuguese", "spanish")
OTHERS = [one for one in texts.languages() if one != texts.FALLBACK]


def test_what_a_list_says_in_english_is_what_the_file_of_texts_says() -> None:
    said = {name: text for name, text in texts.catalogue().items() if name.startswith(f"{WORDS}.")}
    own = {f"{WORDS}.{name}.title": entry.title for name, entry in code_lists().items()}
    for name, entry in code_lists().items():
        own |= {f"{WORDS}.{name}.codes.{code}": label for code, label in entry.labels.items()}
    assert len(said) > 100
    assert said == {name: own.get(name) for name in said}


@pytest.mark.parametrize("language", OTHERS)
def test_every_list_of_english_words_says_them_in_every_language(language: str) -> None:
    for name, entry in code_lists().items():
        is_foreign = any(one in name for one in OF_A_LANGUAGE)
        has_words = any(any(map(str.isalpha, label)) for label in entry.labels.values())
        if is_foreign or not has_words or name == "icd10_chapters":
            continue
        assert entry.labels_in(language).keys() == entry.labels.keys(), name
        assert isinstance(entry.named(), Text), name


def test_a_list_that_is_taken_brings_the_words_of_the_language_and_takes_them_along() -> None:
    column = Column("sex", Role.IDENTIFYING, Kind.CATEGORY)
    listed = Domain(code_list="sex_iso_5218")
    taken = marking.declare_values(column, listed, language="de")
    assert taken.labels == code_list("sex_iso_5218").labels_in("de")
    assert taken.labels["2"] == "weiblich"
    assert not marking.declare_values(taken, None).labels
    assert not marking.declare_values(taken, listed).labels  # in English the list says them itself
    own = Column("sex", Role.IDENTIFYING, Kind.CATEGORY, labels={"1": "Mann"})
    assert marking.declare_values(own, listed, language="de").labels == {"1": "Mann"}
