"""The page in a real browser, the network off: by keyboard, on a narrow screen, printed, in each language."""

import base64
import json
import shutil
import subprocess
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction

import pandas as pd
import pytest

from engine.methods.exchanges.kit import LANGUAGES, Kit, Question
from engine.methods.exchanges.kit_page import page
from engine.methods.exchanges.reading import read_reports
from engine.privacy.channels import Geometry, Sets, Wave
from engine.table.reading.gathering import gather
from tests import browser
from tests.browser import DOWN, SPACE, TAB, needs_browser, opened_page, saved_file
from tests.engine.methods.exchanges.test_survey import OPENING, kit_of

pytestmark = [pytest.mark.slow, needs_browser]
driver = browser.driver
ONE = Fraction(1)
KIT = Kit(
    "Handling of records on the ward, and a long word: Aufenthaltsbestimmungsangelegenheiten",
    "Please send it back.",
    (
        Question("Yes or no?", "one_of", ("yes", "no"), Sets.at(2, 1, 1, ONE), ONE),
        Question("Which?", "several_of", tuple("abcd"), Sets.at(6, 2, 2, ONE), ONE),
        Question(
            "Place?", "one_of", tuple(f"place {one}" for one in range(50)), Geometry.at(50, 7, 3, 1, ONE), ONE
        ),
        Question("How many?", "number", tuple(str(one / 2) for one in range(21)), Wave.at(21, 7, ONE), ONE),
    ),
    100,
    languages=LANGUAGES,
)


@contextmanager
def opened(driver, kit, folder):
    """Open the page of a kit."""
    path = folder / "survey.html"
    path.write_bytes(page(kit))
    with opened_page(driver, path):
        yield driver


def test_somebody_answers_by_keyboard_on_a_narrow_screen_without_a_network(driver, tmp_path):
    with opened(driver, KIT, tmp_path):
        wide = "return [document.documentElement.scrollWidth, innerWidth]"
        assert driver.run(wide) == [320, 320]
        driver.walk_to("q0")
        driver.press(SPACE)
        driver.walk_to("q1")
        driver.press(SPACE, TAB, TAB, SPACE)
        for place in (2, 3):  # a long list and a number are lists to open and to type in
            driver.press(TAB)
            for _ in range(4):
                if driver.focused()[0] == "SELECT":
                    break
                driver.press(TAB)
            driver.press(DOWN, DOWN, DOWN)
            chosen = f"document.querySelectorAll('fieldset')[{place}].querySelector('select')"
            assert driver.run(f"return {chosen}.selectedIndex") == 3
        driver.walk_to("make")
        driver.press(SPACE)
        assert driver.focused()[1] == "made"
        report = driver.run("return document.getElementById('report').textContent")
        found = read_reports([report], KIT)
        assert found.reports == 1 and [len(one[0]) for one in found.outcomes] == [1, 2, 1, 1]
        assert (
            len(driver.run("return [...document.querySelectorAll('#reported li')].map(o => o.innerText)"))
            == 4
        )
        assert driver.run("return document.querySelectorAll('input:checked').length") == 0
        assert driver.run(wide) == [320, 320]
        assert driver.run("return getComputedStyle(document.getElementById('questions')).display") == "none"
        drawn = driver.run(
            "const c = document.querySelector('canvas'); const d = c.getContext('2d');"
            "return [c.width, c.getBoundingClientRect().width, d.getImageData(0, 0, 1, 1).data[0]]"
        )
        assert drawn[0] % 37 == 0 and 200 < drawn[1] <= 288 and drawn[2] == 255


@pytest.mark.skipif(shutil.which("zbarimg") is None, reason="zbarimg is not installed")
@pytest.mark.guarantee
def test_a_scanner_reads_the_code_off_the_screen(driver, tmp_path):
    with opened(driver, kit_of(OPENING), tmp_path):
        driver.run("document.querySelectorAll('[data-group]').forEach(g => g.querySelector('input').click())")
        driver.run("document.getElementById('make').click()")
        report = driver.run("return document.getElementById('report').textContent")
        driver.run("document.getElementById('square').scrollIntoView({block: 'center'})")
        picture = tmp_path / "seen.png"
        picture.write_bytes(base64.b64decode(driver.ask("GET", "/screenshot")))
    done = subprocess.run(
        ["zbarimg", "--raw", "-q", str(picture)], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == report.upper()
    assert read_reports(done.stdout.splitlines(), kit_of(OPENING)).reports == 1


def test_the_language_changes_with_a_button_and_keeps_what_was_chosen(driver, tmp_path):
    with opened(driver, KIT, tmp_path):
        said = json.loads(driver.run("return document.getElementById('words').dataset.said"))
        driver.run("document.querySelector('input').click()")
        for language in ("fr", "de", "en"):
            driver.run(f"document.querySelector('#languages [lang={language}]').click()")
            shown = driver.run("return [document.documentElement.lang, document.body.innerText]")
            assert shown[0] == language
            for name in ("whole", "asked_all", "lots", "make", "chance_2"):
                assert " ".join(said[language][name].split()) in " ".join(shown[1].split()), name
            others = [words["whole"] for other, words in said.items() if other != language]
            assert not [one for one in others if one in shown[1]]
            assert driver.run("return document.querySelectorAll('input:checked').length") == 1
            driver.run("document.getElementById('make').click()")
            problem = driver.run("return document.getElementById('problem').textContent")
            assert problem == said[language]["unanswered"].replace("#", "3")
            pressed = driver.run("return document.querySelector('[aria-pressed=true]').lang")
            assert pressed == language
            numbers = driver.run("return document.querySelectorAll('select')[1].textContent")
            assert ("0.51.01.5" if language == "en" else "0,51,01,5") in numbers


def test_printed_before_and_after_no_true_answer_is_on_paper(driver, tmp_path):
    pikepdf = pytest.importorskip("pikepdf")

    def hidden():
        driver.command("Emulation.setEmulatedMedia", media="print")
        shown = driver.run(
            "const asked = [...document.querySelectorAll('input, select, fieldset')];"
            "return asked.filter(one => one.offsetParent).length"
        )
        text = driver.run("return document.body.innerText")
        driver.command("Emulation.setEmulatedMedia", media="")
        return shown, " ".join(text.split())

    with opened(driver, KIT, tmp_path):
        said = json.loads(driver.run("return document.getElementById('words').dataset.said"))["en"]
        shown, text = hidden()
        assert shown == 0 and said["on_paper"] in text and "Yes or no?" not in text
        driver.run(
            "for (const group of document.querySelectorAll('[data-group]')) {"
            " const input = group.querySelector('input');"
            " if (input) input.click(); else group.selectedIndex = 2; }"
        )
        driver.run("document.getElementById('make').click()")
        shown, text = hidden()
        report = driver.run("return document.getElementById('report').textContent")
        assert shown == 0 and report in text and said["on_paper"] not in text
        printed = base64.b64decode(driver.command("Page.printToPDF")["data"])
        (tmp_path / "printed.pdf").write_bytes(printed)
        with pikepdf.open(tmp_path / "printed.pdf") as read:
            assert len(read.pages) <= 2


@pytest.mark.parametrize("look", ["light", "dark"])
def test_paper_is_white_also_where_backgrounds_are_printed(driver, tmp_path, look):
    white = "rgb(255, 255, 255)"
    filled = (
        "return [...document.querySelectorAll('html, body, body *')].filter(one => one.offsetParent"
        " || one === document.body || one === document.documentElement)"
        ".map(one => getComputedStyle(one).backgroundColor)"
    )
    with opened(driver, KIT, tmp_path):
        features = [{"name": "prefers-color-scheme", "value": look}]
        driver.command("Emulation.setEmulatedMedia", media="", features=features)
        assert white not in driver.run("return [getComputedStyle(document.body).backgroundColor]")
        driver.command("Emulation.setEmulatedMedia", media="print", features=features)
        assert set(driver.run(filled)) <= {white, "rgba(0, 0, 0, 0)"}
        assert driver.run("return getComputedStyle(document.body).color") == "rgb(0, 0, 0)"
        driver.command("Emulation.setEmulatedMedia", media="", features=[])


def test_its_code_draws_as_often_as_it_says_in_the_browser(driver, tmp_path):
    """10,000 draws of the set and of the wave, by χ²; false alarm once in a million."""
    from scipy.stats import chi2

    with opened(driver, KIT, tmp_path):
        for place, truth in ((1, [0, 2]), (3, [5])):
            channel = KIT.questions[place].channel
            found = driver.run(
                "const kit = JSON.parse(document.getElementById('words').dataset.kit);"
                f"const n = {{}}, c = kit.questions[{place}].channel;"
                f"for (let i = 0; i < 10000; i++) {{ const y = changed({truth}, c);"
                " n[y] = (n[y] || 0) + 1; } return n;"
            )
            expected = {
                ",".join(map(str, one)): 10_000 * float(channel.chance(tuple(truth), one))
                for one in channel.outcomes()
            }
            assert found.keys() <= expected.keys()
            distance = sum((found.get(one, 0) - wanted) ** 2 / wanted for one, wanted in expected.items())
            assert distance < chi2.isf(1e-6, len(expected) - 1)


def saved(driver, folder, button):
    """Press a button that saves; return the file that arrives, whole, by the name that tells nothing."""
    return saved_file(
        driver,
        folder,
        "survey-report.csv",
        lambda: driver.run(f"document.getElementById('{button}').click()"),
    )


ANSWER = """for (const group of document.querySelectorAll('[data-group]')) {
  const input = group.querySelector('input');
  if (input) input.click(); else group.selectedIndex = 2; }
document.getElementById('make').click();
return document.getElementById('report').textContent"""


def test_the_report_that_is_saved_arrives_as_a_file_and_is_collected(driver, tmp_path):
    """The network is off; the file holds the report that is on the screen, and no time."""
    with opened(driver, KIT, tmp_path):
        report = driver.run(ANSWER)
        path = saved(driver, tmp_path / "saved", "save")
        assert driver.run("return document.getElementById('done').textContent")
    assert path.read_text() == f"report\n{report}\n"
    found = read_reports(pd.read_csv(path)["report"].tolist(), KIT, heading="report")
    assert found.reports == 1 and sum(found.left_out.values()) == 0
    assert [len(one) for one in found.outcomes] == [1] * len(KIT.questions)


def test_reports_of_many_on_one_device_arrive_in_one_file_sorted_by_their_numbers(driver, tmp_path):
    kit = replace(KIT, shared=True)
    with opened(driver, kit, tmp_path):
        made = []
        for _ in range(5):
            made.append(driver.run(ANSWER))
            driver.run("document.getElementById('next').click()")
        path = saved(driver, tmp_path / "saved", "all")
    assert path.read_text().splitlines() == ["report", *sorted(made)]
    gathered = gather(tmp_path / "saved")
    found = read_reports(pd.read_csv(gathered.path)["report"].tolist(), kit, heading="report")
    assert found.reports == 5 and sum(found.left_out.values()) == 0
