"""Later steps of services and exchanges: they go on from what the last one left, and pay nothing twice."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QAbstractButton, QApplication, QComboBox, QLabel, QLineEdit

from app import words
from app.frame.window import Window
from app.parts.form.sentence_field import ClauseRow, ValuesButton
from app.parts.plot import MarginLine
from app.parts.prose import Prose
from app.parts.source_card import SourceCard
from app.parts.views.table import TableBody
from app.state import flow
from app.words.money import level
from app.words.money import money as written
from app.work.releasing import Watch, release
from app.work.visiting import WIDTHS, Opened, prices, visit
from engine.ledger import Ledger
from engine.methods.catalogue import method, methods
from engine.methods.protocol import Budget, Family
from engine.pricing.statement import cost_of
from engine.release import run
from engine.release.examples import plans
from engine.release.plan import Plan, Price
from engine.views import TableView, Text, amount
from tests.app.test_stop import Gate
from tests.app.walking import SAMPLE, example_plan, sample_plan, settle

HEADINGS = ("Answer", "Least exact answer")
MARGIN = Text("methods.services.private_queries.headings.within_95")


def opened(window: Window, qtbot: Any, method: str, folder: Path, **changes: Any) -> Any:
    """Make the example release of a method in the window and open its visit."""
    from dataclasses import replace

    window.study.open_plan(replace(example_plan(method, folder), **changes))
    window.study.target = folder / "out"
    for step in flow.path(window.study.state):
        if step == "release":
            break
        window.go(step)
        settle(qtbot, window)
    assert window.step == "preview", (window.step, window.notice.words())
    plan = window.study.plan
    made = release(
        window.study.plan_as_read, folder / "out", watch=Watch(), ledger_path=window.study.ledger_path
    )
    assert made.error is None, made.error
    window.study.store("bundle", made, plan)
    window.go("visit")
    settle(qtbot, window)
    assert window.step == "visit", (window.step, window.notice.words())
    return window.page("visit")


def assert_whole_on_top(page: Any) -> None:
    """Demand that the answer is the first thing on the page, and seen whole."""
    QApplication.processEvents()
    place = page.last.mapTo(page.viewport(), QPoint(0, 0)).y()
    assert page.last.isVisible() and page.last.y() + page.last.height() <= page.card.y()
    assert place >= 0 and place + page.last.height() <= page.viewport().height(), (place, page.last.height())


def go_on(window: Window, qtbot: Any) -> None:
    window.footer.next.click()
    settle(qtbot, window, timeout=60_000)


@pytest.mark.guarantee
def test_a_question_says_what_it_takes_and_costs_nothing_again(
    window: Window, qtbot: Any, tmp_path: Path
) -> None:
    page = opened(window, qtbot, "services.private_queries", tmp_path, holding_budget=Budget(Fraction(2)))
    assert not window.footer.next.text().startswith("Answer")
    assert window.footer.next.property("waiting") is True, "nothing to be done is nothing to press"
    assert window.footer.next.toolTip() == words.say("app.visit.waits")
    page._filled("questions", [{"where": "gender is Female", "epsilon": "1/10"}])
    assert window.footer.next.text() == "Answer, spend ε 0.10"
    assert window.footer.next.property("waiting") is False
    go_on(window, qtbot)
    assert len(page.answers) == 1, (window.notice.words(), page.wrong.plain())
    page._filled("questions", [{}])  # answered once: going on is the next thing to do
    assert window.footer.next.text() == words.say("app.window.next")
    assert window.footer.next.property("waiting") is False
    page._filled("questions", [{"where": "gender is Female", "epsilon": "1/10"}])
    assert (page.answers[0][1].bundle.folder / "release" / "evidence.json").is_file()
    assert "takes nothing" in page.takes.plain() and "nothing is spent" in window.footer.next.text()
    before = Ledger(window.study.ledger_path).entries()
    go_on(window, qtbot)
    assert len(page.answers) == 2
    after = Ledger(window.study.ledger_path).entries()
    assert len(after) == len(before) + 1 and after[-1].state == "complete"


@pytest.mark.guarantee
def test_reports_are_collected_without_a_table_of_people(window: Window, qtbot: Any, tmp_path: Path) -> None:
    page = opened(window, qtbot, "exchanges.survey", tmp_path)
    assert "load" not in flow.path(window.study.state)
    assert not page.wrong.isVisible() and not page.form.isVisible(), "only the file is asked for"
    card = page.findChild(SourceCard, "source-reports")
    assert card.isVisible() and not window.footer.next.text().startswith("Go on")
    card.chosen.emit(str(SAMPLE / "survey_reports.csv"))
    settle(qtbot, window)
    assert page.form.isVisible()
    combo = page.findChild(QComboBox, "report")
    combo.setCurrentIndex(0)
    combo.activated.emit(0)
    assert not page.wrong.plain(), page.wrong.plain()
    assert window.footer.next.text() == "Go on, nothing is spent"
    go_on(window, qtbot)
    assert len(page.answers) == 1, window.notice.words()
    assert (page.answers[0][1].bundle.folder / "release" / "estimates.csv").is_file()
    assert window.findChild(QAbstractButton, "step-load").isHidden()
    (left_out,) = (one for one in page.inside.views if one.title.id.endswith("left_out.title"))
    assert len(left_out.rows) == 6 and page.inside.isVisible() and page.stays.isVisible()


@pytest.mark.guarantee
def test_a_collection_is_not_spoken_of_as_an_answer_of_a_desk(
    window: Window, qtbot: Any, tmp_path: Path
) -> None:
    """Those who answered drew the lots; nothing was paid, and nothing is asked again."""
    page = opened(window, qtbot, "exchanges.survey", tmp_path)
    page.findChild(SourceCard, "source-reports").chosen.emit(str(SAMPLE / "survey_reports.csv"))
    settle(qtbot, window)
    choose(page.findChild(QComboBox, "report"), "report")
    go_on(window, qtbot)
    said = [part.body for topic in ("", "last") for part in page.explain(topic).parts]
    said += [one.plain() for one in (page.last.spent, page.last.said, page.takes)]
    said += [page.last.heading.text(), page.heading.text(), page.last.accessibleName()]
    assert page.last.isVisible() and all(said)
    of_a_desk = re.compile(
        r"drew noise|desk|asked again|paid for|question|answered so far|gets more exact", re.I
    )
    assert [one for one in said if of_a_desk.search(one)] == []
    assert "those who answered drew lots" in " ".join(said)


@pytest.mark.parametrize("id", [one.id for one in methods() if one.usual or one.family is Family.EXCHANGE])
def test_no_page_says_that_noise_is_drawn_here_where_it_is_drawn_elsewhere(window: Window, id: str) -> None:
    """Whoever reads rows of people draws; who reads reports or shares of sites does not."""
    window.study.open_plan(Plan(method=id, method_version=method(id).version))
    said = "\n".join(
        part.body for page in ("preview", "release", "visit") for part in window.page(page).explain("").parts
    )
    said += words.say(window.page("release")._text("subtitle"))
    of_ours = re.search(r"from the operating system|is drawn once|draw the noise|first noise", said)
    private = any(one.shape.is_private for one in method(id).sources)
    assert (of_ours is not None) == (private and window.study.is_bounded), of_ours


def test_a_visit_is_of_the_version_that_makes_it() -> None:
    """Whoever opened a survey with an earlier version goes on with its state."""
    found = method("exchanges.survey")
    plan = replace(plans(found)[0], method_version=1)
    made = visit(Opened(plan, "entry", Path("state")), "collect", {}, {}, name="Collected")
    assert made.method_version == found.version and made.step == "collect"


def test_reports_of_a_folder_are_gathered_into_one_table(window: Window, qtbot: Any, tmp_path: Path) -> None:
    page = opened(window, qtbot, "exchanges.survey", tmp_path)
    lines = (SAMPLE / "survey_reports.csv").read_text().splitlines()[1:]
    folder = tmp_path / "inbox"
    folder.mkdir()
    for number, line in enumerate(lines):
        (folder / f"survey-report ({number}).csv").write_text(f"report\n{line}\n")
    card = page.findChild(SourceCard, "source-reports")
    assert not card.folder.isHidden()
    card.chosen.emit(str(folder))
    settle(qtbot, window)
    gathered = (tmp_path / "inbox.gathered.csv").read_text().splitlines()
    assert gathered == ["report", *sorted(line for line in lines if line != "report")]
    assert page._plan.files["reports"].path.endswith("inbox.gathered.csv")


def choose(combo: QComboBox, data: str) -> None:
    """Choose from a list as a person does."""
    place = combo.findData(data) if combo.findData(data) >= 0 else combo.findText(data)
    assert place >= 0, (data, [combo.itemText(one) for one in range(combo.count())])
    combo.setCurrentIndex(place)
    combo.activated.emit(place)


def last(page: Any, kind: Any, name: str) -> Any:
    """Return the last visible widget of a name: the one that was added last."""
    QApplication.processEvents()
    return [one for one in page.findChildren(kind, name) if one.isVisible()][-1]


def tick(page: Any, *values: str) -> None:
    """Tick declared values in the list of the last line."""
    model = last(page, ValuesButton, "values").model
    for place in range(model.rowCount()):
        if model.item(place).text() in values:
            model.item(place).setCheckState(Qt.CheckState.Checked)


def note(page: Any, place: int = 0) -> str:
    while page.runner.busy():
        QApplication.processEvents()
    return last(page, Prose, f"note-{place}").plain()


def desk(window: Window, qtbot: Any, folder: Path) -> Any:
    return opened(window, qtbot, "services.private_queries", folder, holding_budget=Budget(Fraction(2)))


def ask_women(page: Any, qtbot: Any) -> None:
    """Ask how many women there are, by clicking."""
    last(page, QAbstractButton, "condition-add").click()
    choose(last(page, QComboBox, "clause-column"), "gender")
    tick(page, "Female")
    epsilon = last(page, QLineEdit, "epsilon")
    epsilon.setFocus()
    qtbot.keyClicks(epsilon, "0.1")


def test_a_question_is_built_from_what_was_declared(window: Window, qtbot: Any, tmp_path: Path) -> None:
    page = desk(window, qtbot, tmp_path)
    assert any(one.text() == words.say("app.conditions.everybody") for one in page.findChildren(QLabel))
    last(page, QAbstractButton, "condition-add").click()
    column = last(page, QComboBox, "clause-column")
    offered = {column.itemText(place) for place in range(column.count())}
    assert offered == {"gender", "age", "time_in_hospital", "readmitted"}  # what the desk was opened for
    assert not window.footer.next.text().startswith("Answer")  # a line that is not whole asks nothing
    choose(column, "gender")
    tick(page, "Female")
    last(page, QAbstractButton, "condition-and").click()
    choose(last(page, QComboBox, "clause-column"), "time_in_hospital")
    choose(last(page, QComboBox, "clause-operator"), "at_least")
    value = last(page, QLineEdit, "value-0")
    qtbot.keyClicks(value, "7")
    last(page, QAbstractButton, "condition-or").click()
    choose(last(page, QComboBox, "clause-column"), "age")
    tick(page, "[70-80)", "[80-90)")
    margin = last(page, QLineEdit, "margin")
    qtbot.keyClicks(margin, "20")
    where = page.given["visit"]["questions"][0]["where"]
    assert where == 'gender is Female and time_in_hospital at least 7 or age in ("[70-80)", "[80-90)")'
    assert note(page).startswith("Costs ε 0."), (note(page), page.wrong.plain())
    assert window.footer.next.text().startswith("Answer, spend ε 0.")
    assert page.bar.segments[0].kind == "next" and "would be left" in page.used.plain()


def test_a_line_that_is_being_filled_in_is_told_in_a_sentence_for_people(
    window: Window, qtbot: Any, tmp_path: Path
) -> None:
    page = desk(window, qtbot, tmp_path)

    def told() -> str:
        said = page.form.lines["questions"].problem
        assert not said.isHidden() and said.property("tone") == "quiet"
        shown = [one.plain() for one in page.findChildren(Prose) if one.isVisible()]
        assert not [one for one in shown if "understood" in one or "…" in one], shown
        return said.plain()

    unfinished = "A condition is not finished: a column, a comparison or a value is still missing."
    last(page, QAbstractButton, "condition-add").click()
    assert told().startswith(unfinished), "no column"
    choose(last(page, QComboBox, "clause-column"), "time_in_hospital")
    assert told().startswith(unfinished), "no value"
    choose(last(page, QComboBox, "clause-operator"), "between")
    qtbot.keyClicks(last(page, QLineEdit, "value-0"), "3")
    assert told().startswith(unfinished), "half of the values"
    last(page, QAbstractButton, "condition-and").click()
    choose(last(page, QComboBox, "clause-column"), "gender")
    tick(page, "Female")
    assert told().startswith(unfinished), "a gap before a whole line"


@pytest.mark.guarantee
def test_what_was_asked_before_is_said_before_anything_is_spent(
    window: Window, qtbot: Any, tmp_path: Path
) -> None:
    page = desk(window, qtbot, tmp_path)
    ask_women(page, qtbot)
    assert note(page).startswith("Costs ε 0.10. Right within ± ")
    go_on(window, qtbot)
    assert len(page.answers) == 1, (window.notice.words(), page.wrong.plain())
    assert note(page).startswith(words.say("app.visit.free") + " Right within ± ")
    assert [round(one.share, 9) for one in page.bar.segments] == [0.2, 0.8]  # ε 0.1 of 0.5, and the rest
    assert page._shown and "Female" in str(page._shown[0].rows)
    last(page, QAbstractButton, "add-questions").click()
    page._filled("questions", [{"where": "gender = Female"}, {"where": "gender = Male", "epsilon": 0.05}])
    assert note(page, 0).startswith(words.say("app.visit.free")) and note(page, 1).startswith(
        "Costs ε 0.05. "
    )


def test_a_desk_goes_on_in_another_session(
    make_window: Any, window: Window, qtbot: Any, tmp_path: Path
) -> None:
    page = desk(window, qtbot, tmp_path)
    ask_women(page, qtbot)
    go_on(window, qtbot)
    folder = page.opened_as.folder
    later = make_window()
    later.go("releases")
    settle(qtbot, later)
    releases = later.page("releases")
    asked: list[Any] = []
    releases._ask = asked.append  # the folder is asked for: nothing was to be remembered
    releases.table.selectRow(0)
    later.page("releases").findChild(QAbstractButton, "visit").click()
    assert asked == [releases._resume]
    releases._resume(str(folder))
    settle(qtbot, later)
    assert later.step == "visit", later.notice.words()
    assert flow.path(later.study.state) == ("start", "visit")
    again = later.page("visit")
    assert "Female" in str(again._shown[0].rows)  # what was answered is shown before anything is asked
    ask_women(again, qtbot)
    assert note(again).startswith(words.say("app.visit.free"))
    go_on(later, qtbot)
    assert len(again.answers) == 1, (later.notice.words(), again.wrong.plain())
    drawn = Ledger(later.study.ledger_path).service(again.opened_as.entry)
    assert len(drawn.visits) == 2 and drawn.epsilon_spent == Fraction(1, 10)


def test_an_old_state_and_a_table_that_moved_are_noticed(
    make_window: Any, window: Window, qtbot: Any, tmp_path: Path
) -> None:
    page = desk(window, qtbot, tmp_path)
    opening = page.first
    ask_women(page, qtbot)
    go_on(window, qtbot)
    folder = page.opened_as.folder
    later = make_window()
    later.go("releases")
    settle(qtbot, later)
    later.page("releases")._resume(str(opening))  # a visit has come after it
    settle(qtbot, later)
    assert later.step == "releases" and "older copy" in later.notice.words()
    later.page("releases")._resume(str(tmp_path))
    settle(qtbot, later)
    assert later.step == "releases" and "not a bundle" in later.notice.words()
    table = tmp_path / "diabetes_encounters.csv"
    table.rename(tmp_path / "moved.csv")
    later.page("releases")._resume(str(folder))
    settle(qtbot, later)
    again = later.page("visit")
    assert "people" in again.wrong.plain()
    again.findChild(SourceCard, "source-people").chosen.emit(str(tmp_path / "moved.csv"))
    settle(qtbot, later)
    ask_women(again, qtbot)
    assert note(again).startswith(words.say("app.visit.free")), again.wrong.plain()
    go_on(later, qtbot)
    assert len(again.answers) == 1, (later.notice.words(), again.wrong.plain())


def test_where_a_desk_lies_is_remembered_only_where_files_are(tmp_path: Path) -> None:
    from app.state.settings import Settings

    settings = Settings(tmp_path)
    settings.remember_desk("entry", "/somewhere")
    assert settings.desks() == {}
    settings.keep_list(True)
    settings.remember_desk("entry", "/somewhere")
    assert Settings(tmp_path).desks() == {"entry": "/somewhere"}
    settings.keep_list(False)
    assert "somewhere" not in settings.path.read_text()


def money(page: Any, epsilon: str) -> float:
    cost = cost_of(page._plan.price)
    assert cost is not None
    return cost.at(float(Fraction(epsilon)))


def test_money_stands_beside_every_level(window: Window, qtbot: Any, tmp_path: Path) -> None:
    price = Price(people=4259, compensation=Fraction(5000))
    page = opened(
        window, qtbot, "services.private_queries", tmp_path, holding_budget=Budget(Fraction(2)), price=price
    )
    ask_women(page, qtbot)
    go_on(window, qtbot)
    page._filled("questions", [{"where": "gender = Male", "epsilon": "1/4"}])
    note(page)
    wanted = money(page, "0.35") - money(page, "0.1")  # the price of the sum, not the sum of prices
    assert written(wanted, "EUR") in page.takes.plain(), page.takes.plain()
    used, whole, after = money(page, "0.1"), money(page, "0.5"), money(page, "0.5") - money(page, "0.35")
    for one in (used - money(page, "0"), whole - money(page, "0"), after):
        assert written(one, "EUR") in page.used.plain(), (one, page.used.plain())


def test_a_cheaper_way_is_said_and_taken(window: Window, qtbot: Any, tmp_path: Path) -> None:
    page = desk(window, qtbot, tmp_path)
    page._filled("questions", [{"by": ["gender"], "epsilon": "1/10"}])
    go_on(window, qtbot)
    page._filled(
        "questions", [{"where": "gender is Female", "epsilon": "3/20"}, {"where": "", "epsilon": "1/5"}]
    )
    note(page)
    said = ways_said(page)
    assert "2 questions can be asked together as 1 table" in said[0] and "instead of 0.35" in said[0]
    assert "Question 1 follows" in said[1] and "It takes ε 0.20 instead of 0.35, and €" in said[1]
    assert "Question 2 follows" in said[2] and "twice as wide" in said[3]
    assert page.cheaper.isVisible() and window.footer.next.text() == "Answer, spend ε 0.35"
    page.cheaper.findChild(QAbstractButton, "take-cheaper-1").click()
    note(page)
    assert window.footer.next.text() == "Answer, spend ε 0.20"
    wider = next(place for place, one in enumerate(ways_said(page)) if "twice as wide" in one)
    last(page, QAbstractButton, f"take-cheaper-{wider}").click()
    note(page)
    assert window.footer.next.text() == "Answer, spend ε 0.10"
    assert page.given["visit"]["questions"][1] == {"kind": "count", "of": "rows", "epsilon": 0.1}


def ways_said(page: Any) -> list[str]:
    """Return the cheaper ways as they stand on the page."""
    QApplication.processEvents()
    lines = [page.cheaper.findChildren(Prose, f"cheaper-{place}") for place in range(10)]
    return [found[-1].plain() for found in lines if found and found[-1].isVisible()]


def test_a_list_is_asked_together(window: Window, qtbot: Any, tmp_path: Path) -> None:
    """What it takes alone and in the plan is said, in money too, before it is pressed; the margins hold."""
    page = desk(window, qtbot, tmp_path)
    parts = ["gender is Female", "gender is Male", 'age is "[70-80)"', 'age is "[70-80)" and gender is Male']
    page._filled("questions", [{"where": where, "margin": 60} for where in parts])
    note(page)
    alone = window.footer.next.text()
    (way,) = [one for one in ways_said(page) if "together" in one]
    assert "4 questions" in way and "instead of" in way and "within ± 60" in note(page)
    assert float(re.search(r"within ± ([\d.]+), alone ± 60\.", way)[1]) <= 60
    page.cheaper.findChild(QAbstractButton, "take-cheaper-0").click()
    note(page)
    assert page.given["visit"]["planned"] is True and window.footer.next.text() != alone
    assert page.form.lines["planned"].field.value() is True
    go_on(window, qtbot)
    (table,) = [view for view in page._shown if hasattr(view, "rows")]
    assert len(table.rows) == 4 and all(row[4] <= 60 for row in table.rows)


def test_a_file_of_questions_shows_its_total_and_its_free_ones(
    window: Window, qtbot: Any, tmp_path: Path
) -> None:
    page = desk(window, qtbot, tmp_path)
    ask_women(page, qtbot)
    go_on(window, qtbot)
    ages = [f"[{10 * place}-{10 * place + 10})" for place in range(9)]
    lines = [f'"age is ""{one}"" and time_in_hospital at least 3",0.01' for one in ages]
    (tmp_path / "questions.csv").write_text("\n".join(["where,epsilon", "gender is Female,", *lines, ""]))
    page._filled("questions", None)
    page._show()
    field = page.form.lines["questions"].field
    field.read_file(str(tmp_path / "nothing.csv"))
    assert "nothing.csv" in field.wrong.plain() and field.wrong.isVisible()
    field.read_file(str(tmp_path / "questions.csv"))
    qtbot.waitUntil(lambda: page._prices.each != (), timeout=20_000)
    assert not field.wrong.isVisible() and field.table is not None
    assert page.takes.plain().startswith("10 lines; 1 of them cost nothing. It takes ε 0.09 ")
    model = field.table.model()
    assert field.table.verticalScrollBar().maximum() == field.table.horizontalScrollBar().maximum() == 0
    assert field.table.isVisible(), "all ten lines stand on the page itself"
    costs = [model.index(place, model.columnCount() - 1).data() for place in range(model.rowCount())]
    assert [one.partition(" Right")[0] for one in costs] == [words.say("app.visit.free")] + [
        "Costs ε 0.01."
    ] * 9
    assert all("Right within ± " in one for one in costs)
    (together,) = [one for one in ways_said(page) if "together" in one]
    assert "9 questions can be asked together as 1 table" in together
    assert "It takes ε 0.01 instead of 0.09, and €" in together
    window.footer.next.click()
    settle(qtbot, window, timeout=60_000)
    assert len(page.answers) == 2, (window.notice.words(), page.wrong.plain())
    assert len(page._shown[0].rows) == 10
    field.clear.click()
    assert not page.form.lines["questions"].field.records


def test_the_margin_is_seen_as_part_of_the_answer(window: Window, qtbot: Any, tmp_path: Path) -> None:
    page = desk(window, qtbot, tmp_path)
    page._filled(
        "questions",
        [{"where": "gender is Female", "epsilon": "1/10"}, {"where": "gender is other", "epsilon": "1/10"}],
    )
    go_on(window, qtbot)
    qtbot.waitUntil(lambda: page.findChild(TableBody) is not None, timeout=5000)
    table = page.findChild(TableBody)
    (column,) = {place for _, place in table.itemDelegate().shares}
    for place, row in enumerate(page._shown[0].rows):
        count, within = amount(row[column - 2]), row[column - 1]
        is_whole = within >= abs(count)  # as it nearly always is where nobody is counted
        said = words.say("views.whole") if is_whole else f"{round(100 * within / abs(count))}\u00a0%"
        assert table.model().index(place, column).data() == said


def test_nothing_is_wrong_before_something_was_filled_in_and_an_answer_comes_into_view(
    window: Window, qtbot: Any, tmp_path: Path
) -> None:
    page = opened(window, qtbot, "services.private_queries", tmp_path, holding_budget=Budget(Fraction(2)))
    red = [
        one.plain() for one in page.findChildren(Prose) if one.property("tone") == "wrong" and one.isVisible()
    ]
    assert not any(red), red
    page._filled("questions", [{"where": "gender is Female"}])  # no level, no margin
    red = [
        one.plain() for one in page.findChildren(Prose) if one.property("tone") == "wrong" and one.isVisible()
    ]
    assert any(red)
    window.resize(911, 512)
    page._filled("questions", [{"where": "gender is Female", "epsilon": "1/10"}])
    go_on(window, qtbot)
    qtbot.wait(400)
    assert len(page.answers) == 1
    assert_whole_on_top(page)


def test_a_question_is_one_sentence_in_the_order_it_is_read(
    window: Window, qtbot: Any, tmp_path: Path
) -> None:
    page = desk(window, qtbot, tmp_path)
    window.resize(1366, 768)
    ask_women(page, qtbot)
    settle(qtbot, window)
    qtbot.wait(50)
    parts = [
        *(last(page, kind, name) for kind, name in ((QComboBox, "kind"), (QAbstractButton, "of-rows"))),
        *(last(page, QComboBox, f"clause-{name}") for name in ("column", "operator")),
        *(last(page, kind, name) for kind, name in ((ValuesButton, "values"), (QLineEdit, "epsilon"))),
    ]
    places = [one.mapTo(page.widget(), QPoint(0, one.height() // 2)) for one in parts]
    read = [(round(place.y() / 20), place.x()) for place in places]
    assert read == sorted(read), "from left to right, line by line"
    assert places[-1].y() - places[0].y() <= 100, "not one field below the other"
    assert len({place.y() // 20 for place in places[2:5]}) == 1, "a condition stands in one line"
    right = max(one.mapTo(page.widget(), one.rect().bottomRight()).x() for one in parts)
    assert right < page.viewport().width()


@pytest.mark.guarantee
def test_the_last_answer_stands_with_its_question_and_large(
    window: Window, qtbot: Any, tmp_path: Path
) -> None:
    page = opened(window, qtbot, "services.private_queries", tmp_path, holding_budget=Budget(Fraction(2)))
    window.resize(1366, 768)
    assert not page.last.isVisible()
    page._filled("questions", [{"where": "gender is Female", "epsilon": "1/10"}])
    settle(qtbot, window)
    window.footer.next.click()
    if window.footer.asks:
        window.footer.commit.click()
    settle(qtbot, window, timeout=60_000)
    (view, *_) = page.answers[-1][1].bundle.views
    value, margin = view.rows[0][3:5]
    assert page.last.isVisible() and "gender is Female" in page.last.said.plain(), "one card says both"
    assert page.last.number.text() == f"{value:,}" and page.last.margin.text() == f"± {margin}"
    assert page.last.number.font().pixelSize() >= 50
    assert f"{value - margin:,}" in page.last.said.plain() and f"{value + margin:,}" in page.last.said.plain()
    assert page.last.spent.plain().startswith("spent ε 0.10 · €")
    go_on(window, qtbot)  # the same again
    assert "spent nothing" in page.last.spent.plain() and page.last.number.text() == f"{value:,}"
    headings = (words.say("app.visit.last.heading"), "value", MARGIN)
    page.last.show_answer([TableView("t", headings, (("a", 9, 6), ("b", 900, 6)))], HEADINGS, "")
    assert page.last.property("card") == "care" and "hardly anything" in page.last.said.plain()
    assert "1 more answer" in page.last.said.plain() and page.last.heading.text() == "Least exact answer"
    page.last.show_answer([], HEADINGS, "")
    assert not page.last.isVisible()


@pytest.mark.parametrize(
    ("rows", "number", "margin"),
    [
        ([("mean", 3.14, 2.14), ("count", 2307, 60)], "3.1", "± 2.1"),
        ([("share", 0.05, 0.04), ("count", 2307, 60), ("other", 900, 60)], "0.050", "± 0.040"),
        ([("count", 2307, 60)], "2,307", "± 60"),
    ],
)
def test_a_number_is_written_by_its_own_margin(
    window: Window, qtbot: Any, rows: Any, number: str, margin: str
) -> None:
    """Answers of one visit are of many kinds: a share beside counts is not 0 ± 0."""
    page = window.page("visit")
    headings = (words.say("app.visit.last.heading"), "value", MARGIN)
    page.last.show_answer([TableView("t", headings, tuple(rows))], HEADINGS, "")
    assert (page.last.number.text(), page.last.margin.text()) == (number, margin)
    assert page.last.heading.text() == HEADINGS[len(rows) > 1]


def test_lines_of_many_kinds_keep_their_margins() -> None:
    from app.parts.lines import lines

    rows = (("share", 0.05, 0.04), ("count", 2307, 60), ("other", 900, 60), ("near", 7, 55))
    found = lines(TableView("t", ("asked", "value", MARGIN), rows))
    assert [(one.written, one.margin) for one in found] == [
        ("0.050", "± 0.040"), ("2,307", "± 60"), ("900", "± 60"), ("7", "± 55"),
    ]  # fmt: skip


@pytest.mark.guarantee
def test_a_margin_is_pressed_with_its_price_and_the_answer_stands_on_top(
    window: Window, qtbot: Any, tmp_path: Path
) -> None:
    page = desk(window, qtbot, tmp_path)
    last(page, QAbstractButton, "condition-add").click()
    choose(last(page, QComboBox, "clause-column"), "gender")
    tick(page, "Female")
    settle(qtbot, window)
    pills = [last(page, QAbstractButton, f"within-{width}") for width in WIDTHS]
    assert not any(one.isChecked() for one in pills)
    prices = [Fraction(one.text().split("ε\u00a0")[1].split()[0]) for one in pills]
    assert prices == sorted(prices) and prices[0] < prices[-1], "nearer costs more"
    assert all("€" in one.text() for one in pills) or page._money(prices[0]) == ""
    pills[1].click()
    settle(qtbot, window)
    assert window.footer.next.text() == f"Answer, spend ε {level(prices[1])}", "as it was said"
    assert last(page, QAbstractButton, "within-15").isChecked()
    assert len([one for one in page.findChildren(ClauseRow) if one.isVisible()]) == 1, "a condition once"
    go_on(window, qtbot)
    assert len(page.answers) == 1, (window.notice.words(), page.wrong.plain())
    assert_whole_on_top(page)
    line = page.last.line
    assert line.written == page.last.number.text() and line.low < line.value < line.high
    first, end, _ = line.ends()
    assert first <= line.low and line.high <= end and line.high - line.low <= 30
    margin = float(page.last.margin.text().removeprefix("± "))
    assert margin == pytest.approx((line.high - line.low) / 2, abs=0.5) and margin <= 15
    settle(qtbot, window)
    assert page.widths.isHidden(), "asked again it is the same number, however exactly it is wanted"


def test_a_margin_of_one_question_is_not_taken_for_two(window: Window, qtbot: Any, tmp_path: Path) -> None:
    page = desk(window, qtbot, tmp_path)
    questions = [{"where": f"gender is {one}", "epsilon": "1/10"} for one in ("Female", "Male")]
    page._filled("questions", questions[:1])
    settle(qtbot, window)
    pill = last(page, QAbstractButton, f"within-{WIDTHS[0]}")
    page._filled("questions", questions)  # the prices of two are still being found
    pill.click()
    assert page.given[page.step]["questions"] == questions
    settle(qtbot, window)
    assert page.widths.isHidden()


@pytest.mark.parametrize(
    "low, high", [(88, 148), (-3, 9), (0.02, 0.05), (1_234_000, 1_236_000), (-80, -20), (0, 0)]
)
def test_a_line_of_numbers_holds_its_margin_and_has_few_marks(qtbot: Any, low: float, high: float) -> None:
    line = MarginLine()
    line.resize(480, line.HEIGHT)
    line.show_number((low + high) / 2, low, high, "x")
    first, end, step = line.ends()
    assert first <= low <= high <= end and 1 <= round((end - first) / step) <= 8
    assert 0 <= line.place(low) <= line.place(high) <= line.width()
    line.grab()


def test_closing_shows_no_old_number_as_its_answer(window: Window, qtbot: Any, tmp_path: Path) -> None:
    page = desk(window, qtbot, tmp_path)
    ask_women(page, qtbot)
    go_on(window, qtbot)
    assert page.last.isVisible()
    page._choose("close")
    settle(qtbot, window)
    go_on(window, qtbot)
    assert len(page.answers) == 2, (window.notice.words(), page.wrong.plain())
    assert not page.last.isVisible() and page._shown, "all answers stand below"
    said, tone = page.wrong.plain(), page.wrong.property("tone")
    assert said.startswith("This desk was closed for good.") and tone == "quiet", "it was wanted"
    assert not any(button.isVisible() for button in page.group.buttons()), "nothing is left to choose"
    assert not page.form.isVisible()


def test_an_answer_stays_in_view_when_its_prices_come_late(
    window: Window, qtbot: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = desk(window, qtbot, tmp_path)
    window.resize(911, 512)
    ask_women(page, qtbot)

    def late(*args: Any, **more: Any) -> Any:
        time.sleep(0.5)  # longer than the page waits for its tables
        return prices(*args, **more)

    monkeypatch.setattr("app.screens.visit.page.prices", late)
    go_on(window, qtbot)
    settle(qtbot, window)
    qtbot.wait(100)
    assert_whole_on_top(page)


@pytest.mark.parametrize("size", [(1366, 768), (911, 512), (1920, 1080)])
def test_an_answer_is_seen_whole_above_the_money_that_is_left(
    window: Window, qtbot: Any, tmp_path: Path, size: tuple[int, int]
) -> None:
    page = desk(window, qtbot, tmp_path)
    window.resize(*size)
    page._filled(
        "questions", [{"where": f"gender is {one}", "epsilon": "1/10"} for one in ("Female", "other")]
    )
    go_on(window, qtbot)
    assert len(page.answers) == 1 and page._plan.price is not None, "the strip of money stands below"
    qtbot.wait(300)
    assert_whole_on_top(page)


@pytest.mark.parametrize("epsilon", ["1/10", "0.2", "1/2", "0.099"])
def test_one_margin_has_one_price_and_a_level_is_no_fraction(
    window: Window, qtbot: Any, tmp_path: Path, epsilon: str
) -> None:
    page = opened(window, qtbot, "services.private_queries", tmp_path, holding_budget=Budget(Fraction(2)))
    page._filled("questions", [{"where": "gender is Female", "epsilon": epsilon}])
    said = note(page)
    settle(qtbot, window)
    written_level = last(page, QLineEdit, "epsilon").text()
    assert "/" not in written_level and Fraction(written_level) == Fraction(epsilon)
    margin = said.rpartition("± ")[2].rstrip(".")
    pills = {
        one.objectName().removeprefix("within-"): one
        for one in page.findChildren(QAbstractButton)
        if one.objectName().startswith("within-") and one.isVisible()
    }
    assert len(pills) == len(WIDTHS)
    same = pills.get(margin)
    assert same is None or (same.isChecked() and f"ε\u00a0{level(Fraction(epsilon))} " in f"{same.text()} ")
    assert [width for width, one in pills.items() if one.isChecked()] == ([margin] if same else [])


def test_a_margin_that_takes_less_than_its_level_is_offered(
    window: Window, qtbot: Any, tmp_path: Path
) -> None:
    page = desk(window, qtbot, tmp_path)
    page._filled("questions", [{"where": "gender is Female", "epsilon": "1/2"}])
    assert note(page).endswith("± 6.")
    (place,) = (at for at, one in enumerate(ways_said(page)) if one.startswith("Asked by its margin"))
    assert "instead of 0.50" in ways_said(page)[place]
    last(page, QAbstractButton, f"take-cheaper-{place}").click()
    assert page.given["visit"]["questions"][0]["margin"] == 6
    assert note(page).endswith("± 6.") and page._next < Fraction(1, 2)


@pytest.mark.guarantee
def test_an_answer_that_comes_once_another_plan_is_open_is_told_and_its_state_found_again(
    window: Window, qtbot: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was shown as one of the plan that was open by then, in words that this does not have."""
    window.settings.keep_list(True)
    page = opened(window, qtbot, "services.private_queries", tmp_path, holding_budget=Budget(Fraction(2)))
    page._filled("questions", [{"where": "gender is Female", "epsilon": "1/10"}])
    entry, title = page.opened_as.entry, page._plan.purpose.title
    with monkeypatch.context() as held:
        gate = Gate(held, run, "make", before=False)
        window.footer.next.click()
        qtbot.waitUntil(gate.reached.is_set, timeout=60_000)
        window.study.open_plan(sample_plan(tmp_path))
        gate.open.set()
        settle(qtbot, window, timeout=60_000)
    assert words.say("app.release.made_before", title=title) in window.notice.words()
    assert "0.10" in window.notice.words()
    kept = Path(window.settings.desks()[entry])
    assert Ledger(window.study.ledger_path).entries()[-1].state == "complete"
    assert (kept / "internal" / "state").is_file() and kept != tmp_path / "out"
