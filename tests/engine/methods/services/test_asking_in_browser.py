"""The page of questions in a real browser: by keyboard, on a narrow screen, no network; the desk answers."""

import base64
import os
from pathlib import Path

import pytest

from engine import texts
from engine.methods.catalogue import method
from engine.methods.records import read_records
from engine.methods.services.asked import ID
from engine.methods.services.asking import NAME, page
from tests import browser
from tests.browser import DOWN, SPACE, TAB, needs_browser, opened_page, saved_file
from tests.engine.methods.services.test_asking import opened
from tests.engine.methods.services.test_private_queries import Visitor, together, write_rows

pytestmark = [pytest.mark.slow, needs_browser]
driver = browser.driver
WIDE = "return [document.documentElement.scrollWidth, innerWidth]"


def look(driver, name):
    """Keep a picture of the page where it is asked for: ``CUSTOS_PICTURES`` names the folder."""
    folder = os.environ.get("CUSTOS_PICTURES")
    if folder:
        Path(folder, f"{name}.png").write_bytes(base64.b64decode(driver.ask("GET", "/screenshot")))


def filled(driver, **fields):
    """Type into fields in their order, and add the question; all with the keyboard."""
    for name, text in fields.items():
        driver.walk_to(name)
        driver.press(*text)
    driver.walk_to("add")
    driver.press(SPACE)


def listed(driver):
    return driver.run("return [...document.querySelectorAll('#list li')].map((one) => one.innerText)")


def problem(driver):
    return driver.run("return document.getElementById('problem').textContent")


def word(name, language="en"):
    return texts.text(f"methods.{ID}.page.{name}", language=language)


def test_a_recipient_writes_questions_by_keyboard_and_the_desk_answers_their_file(driver, tmp_path):
    write_rows(tmp_path)
    desk = Visitor(tmp_path)
    with opened_page(driver, tmp_path / "open" / "release" / NAME):
        assert driver.run(WIDE) == [320, 320]
        look(driver, "1-begin")
        filled(driver, where="sex is f")
        assert problem(driver) == word("number") and listed(driver) == []
        look(driver, "2-problem")
        filled(driver, margin="30")
        assert len(listed(driver)) == 1 and problem(driver) == ""
        assert "How many · Of: Rows · Condition: sex is f" in listed(driver)[0]
        filled(driver)
        assert problem(driver) == word("twice") and len(listed(driver)) == 1
        filled(driver, kind=DOWN * 2, value=DOWN)  # a mean, and not said of how many
        assert problem(driver) == word("no_size") and len(listed(driver)) == 1
        filled(driver, size="40")
        assert len(listed(driver)) == 2
        filled(driver, kind=DOWN, part="age >= 20")  # a share
        assert len(listed(driver)) == 3
        look(driver, "3-list")
        assert driver.run(WIDE) == [320, 320]
        driver.press(TAB, TAB, SPACE)  # the second is removed, and the keyboard stays in the list
        assert len(listed(driver)) == 2 and driver.focused()[::2] == ["BUTTON", word("remove")]
        driver.walk_to("save")
        look(driver, "4-save")
        path = saved_file(driver, tmp_path / "saved", "questions.json", lambda: driver.press(SPACE))
    (parameter,) = [one for one in method(ID).asks("visit") if one.name == "questions"]
    questions = read_records(path, parameter)
    assert [one["kind"] for one in questions] == ["count", "share"]
    evidence, answers = desk.ask(*questions)
    assert answers["kind"].tolist() == ["count", "share"] and together(evidence)["new"] > 0


def test_the_page_speaks_the_language_of_its_reader_and_keeps_what_was_written(driver, tmp_path):
    path = tmp_path / NAME
    path.write_bytes(page(opened()[1]))
    with opened_page(driver, path):
        filled(driver, where="sex is f", margin="30")
        filled(driver)
        for language in ("fr", "de", "en"):
            driver.run(f"document.querySelector('#languages [lang={language}]').click()")
            look(driver, f"5-{language}")
            assert problem(driver) == word("twice", language)
            shown = " ".join(driver.run("return document.body.innerText").split())
            for name in ("title", "intro", "where_help", "add", "then", "remove"):
                assert " ".join(word(name, language).split()) in shown, name
                others = {word(name, one) for one in texts.languages()} - {word(name, language)}
                assert not [one for one in others if one in shown], name
            assert len(listed(driver)) == 1 and driver.run(WIDE) == [320, 320]
            assert driver.run("return [document.documentElement.lang, document.title]") == [
                language,
                word("title", language),
            ]
