"""The program's help: it has every page, way and promise, says nothing unfinished, and is found by words."""

from __future__ import annotations

import re
from dataclasses import fields

import pypdf
import pytest

from app.state.flow import BESIDE, STEPS
from engine import manual, texts
from engine.__main__ import main
from engine.methods.catalogue import methods
from engine.policy import Policy, place
from engine.privacy.promise import promise_kinds
from engine.report.words import word

ENTRIES = {entry.id: entry for chapter in manual.chapters() for entry in chapter.entries}


def said(entry: manual.Entry) -> list[str]:
    told = [part.body for part in entry.parts] + [one.what for one in entry.picture]
    return [word(text, "en") for text in told]


def test_every_page_way_and_promise_is_in_it_once() -> None:
    counted = [entry.id for chapter in manual.chapters() for entry in chapter.entries]
    assert len(counted) == len(ENTRIES)
    assert {f"page.{step}" for step in (*STEPS, *BESIDE)} <= ENTRIES.keys()
    assert {f"way.{method.id}" for method in methods()} <= ENTRIES.keys()
    assert {f"promise.{kind.id}" for kind in promise_kinds()} <= ENTRIES.keys()


def test_those_who_look_after_the_computer_find_every_rule_and_command() -> None:
    entry = ENTRIES["office"]
    whole = " ".join(said(entry))
    assert all(one.name in whole for one in fields(Policy)) and str(place()) in whole
    commands = set(re.findall(r"`custos ([a-z]+)", whole))
    assert commands >= {"check", "policy", "support", "update"}
    for command in commands:
        with pytest.raises(SystemExit) as shown:
            main([command, "--help"])
        assert shown.value.code == 0, command
    assert "office" in {one.id for one in manual.search("updates stick")}


def test_every_subject_says_something_and_no_place_is_left_unfilled() -> None:
    for name, entry in ENTRIES.items():
        sentences = said(entry)
        assert sentences and all(sentences), name
        assert not [one for one in (word(entry.title, "en"), *sentences) if re.search(r"[{}]", one)], name


@pytest.mark.parametrize("language", texts.languages())
def test_no_two_subjects_of_a_screen_have_one_title(language: str) -> None:
    for name in (*STEPS, *BESIDE):
        titles = [
            texts.text(one, language=language)
            for one in texts.catalogue()
            if re.fullmatch(rf"app\.{name}\.help\.(.+)\.title", one)
        ]
        assert len(titles) == len(set(titles)), (name, titles)


@pytest.mark.parametrize("method", methods(), ids=lambda method: method.id)
def test_a_way_says_what_it_promises_when_not_to_take_it_and_whence_it_is(method) -> None:
    entry = ENTRIES[f"way.{method.id}"]
    heads = [word(part.heading, "en") for part in entry.parts if part.heading]
    assert {"What it promises", "When not to take it", "Where it was published"} <= set(heads)
    whole = " ".join(said(entry))
    assert method.published.document.split(":")[0] in whole
    assert all(texts.text(f"promises.{kind}.sentence") in whole for kind in method.promises)
    assert len(entry.picture) == 3
    # who keeps single rows at home never says that they leave, and the other way round
    assert ("single rows: none leaves" in whole) == (method.rows.value == "none")


def test_of_sites_numbers_leave_and_a_result_costs_no_further_level() -> None:
    """A survey, a share and a result were drawn alike: answers of people, at the level of its settings."""
    drawn = {
        name: [word(one.value, "en") for one in ENTRIES[f"way.exchanges.{name}"].picture]
        for name in ("survey", "share", "combine")
    }
    assert drawn["survey"][1:] == ["The level of its settings", "Answers of people"]
    assert drawn["share"][1:] == ["The level of its settings", "Numbers for the coordinator"]
    assert drawn["combine"][1:] == ["No further level", "Numbers"]


def test_what_screens_say_without_values_is_all_in_it() -> None:
    """A sentence beside a page is left out only where it speaks of a single case."""
    whole = {part.body.id for entry in ENTRIES.values() for part in entry.parts}
    for step in (*STEPS, *BESIDE):
        prefix = f"app.{step}.help."
        for name, sentence in texts.catalogue().items():
            ending = name.rpartition(".")[2]
            if name.startswith(prefix) and ending in ("body", *manual.THREE):
                assert name in whole or texts.placeholders(sentence), name


def test_it_is_found_by_words_those_in_titles_first() -> None:
    assert manual.search("counts cross-tables")[0].id == "way.statistics.counts"
    assert manual.search("crosstab")[0].id == "way.statistics.counts", "by a word that only people use"
    assert manual.search("no such word at all, anywhere") == ()
    assert {entry.id for entry in manual.search("")} == ENTRIES.keys()


@pytest.mark.with_reports
def test_the_manual_is_written_by_the_command_line(tmp_path, capsys) -> None:
    path = tmp_path / "manual.pdf"
    assert main(["manual", "--out", str(path)]) == 0
    document = pypdf.PdfReader(path)
    text = "\n".join(page.extract_text() for page in document.pages)
    flat = re.sub(r"\s+", " ", text)
    ways = [word(entry.title, "en")[:25] for name, entry in ENTRIES.items() if name.startswith("way.")]
    assert [way for way in ways if way not in flat] == []
    assert len(document.outline) >= 5
