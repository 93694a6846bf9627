"""The frame: moving, notices, the right-hand side, saving, closing, small windows, nothing leaked."""

from __future__ import annotations

import html
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QFontInfo, QImage
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QLabel,
    QLineEdit,
    QPushButton,
    QRadioButton,
    QSlider,
    QStyle,
    QStyleOptionButton,
    QStyleOptionSlider,
    QWidget,
)

from app import log, words
from app.application import _excepthook
from app.frame.footer import Footer
from app.frame.window import PANEL_BELOW, SIDE_BELOW, Window
from app.parts.panel import Explanation, Part, three
from app.state import draft, files, flow
from app.state.settings import Settings
from app.theme import DARK, LIGHT, style_sheet, theme
from engine.errors import InputRefused
from engine.methods.protocol import MAIN
from engine.release.plan import Plan, Purpose
from engine.table.hierarchies import Hierarchy
from engine.table.schema import Column, Domain, Kind, Origin, Schema
from tests.app.conftest import watch_strays
from tests.app.walking import open_table, sample_plan, settle, write_people


def test_letters_are_drawn(qapp: QApplication) -> None:
    assert QFontInfo(qapp.font()).family() == "Inter"


def test_it_opens_at_the_start_and_goes_no_further_than_allowed(window: Window) -> None:
    assert window.step == "start"
    window.go("budget")
    assert window.step == "load"
    assert words.say("app.flow.no_file") in window.notice.words()


def test_next_and_back_by_keyboard(window: Window, qtbot: Any) -> None:
    qtbot.keyClick(window, Qt.Key.Key_Right, Qt.KeyboardModifier.AltModifier)
    qtbot.waitUntil(lambda: window.step == "load", timeout=2000)
    qtbot.keyClick(window, Qt.Key.Key_Left, Qt.KeyboardModifier.AltModifier)
    qtbot.waitUntil(lambda: window.step == "start", timeout=2000)


def test_next_says_what_is_missing_instead_of_going(window: Window, qtbot: Any) -> None:
    window.go("load")
    window.footer.next.click()
    assert window.step == "load"
    assert window.notice.words() == words.say("app.flow.no_file")
    assert window.footer.next.property("waiting") is True
    assert window.footer.next.toolTip() == words.say("app.flow.no_file")


def test_one_button_is_filled_at_the_start(window: Window, qtbot: Any, tmp_path: Path) -> None:
    start = window.page("start")
    assert not window.footer.next.isVisible() and start.table.property("look") == "primary"
    open_table(qtbot, window, write_people(tmp_path / "people.csv"))
    window.go("start")
    assert window.footer.next.isVisible() and start.table.property("look") == ""


def test_what_stands_beside_the_steps_is_offered_once(window: Window, qtbot: Any) -> None:
    for width in (1400, SIDE_BELOW - 40):
        window.resize(width, 800)
        for step in ("start", "load", *flow.BESIDE):
            window.go(step)
            qtbot.wait(10)
            for wanted in flow.BESIDE:
                ways = [
                    one.objectName()
                    for one in window.findChildren(QPushButton)
                    if one.isVisible() and one.objectName() in (wanted, f"step-{wanted}")
                ]
                if step == "start":
                    assert ways == [wanted], (width, step)
                else:
                    assert ways == ([f"step-{wanted}"] if width > SIDE_BELOW else []), (width, step)


def test_steps_show_what_is_done_and_speak_it(window: Window, qtbot: Any, tmp_path: Path) -> None:
    open_table(qtbot, window, write_people(tmp_path / "people.csv"))
    buttons = window.side.steps.buttons
    assert "start" not in buttons, "the start stands before the numbered steps"
    assert buttons["load"].number == 1 and buttons["load"].isChecked()
    assert buttons["columns"].isEnabled() and not buttons["risk"].isEnabled()
    assert buttons["load"].accessibleName() == words.say("app.window.step_current", number=1, name="Load")
    buttons["columns"].click()
    assert window.step == "columns"
    assert buttons["load"].accessibleName() == words.say("app.window.step_done", number=1, name="Load")
    window.side.links["start"].click()
    assert window.step == "start"


def test_every_step_has_a_name() -> None:
    for step in (*flow.STEPS, *flow.BESIDE):
        assert words.say(f"app.steps.{step}")


def test_errors_of_the_engine_are_two_sentences(window: Window) -> None:
    window.page("load").refuse(InputRefused("table.empty_file", file="people.csv"))
    shown = window.notice.words()
    assert "people.csv is empty" in shown and "Export the table again" in shown
    assert window.notice.accessibleName() == shown


def test_an_unexpected_error_shows_and_logs_no_word_of_it(window: Window, tmp_path: Path) -> None:
    try:
        {}["Mrs Smith"]
    except KeyError as error:
        window.unexpected(error)
    assert "Smith" not in window.notice.words()
    written = (tmp_path / "data" / "problems.log").read_text()
    assert "KeyError" in written and "Smith" not in written
    assert Path(__file__).name in written


def test_the_hook_for_unforeseen_errors_says_nothing_of_it(
    window: Window, capsys: pytest.CaptureFixture[str], isolated_settings: Path
) -> None:
    try:
        raise ValueError("Mrs Smith, born 1941")
    except ValueError as error:
        _excepthook(ValueError, error, error.__traceback__)
    printed = capsys.readouterr()
    assert "Smith" not in printed.out + printed.err + window.notice.words()
    assert window.notice.words()
    logged = "".join(path.read_text() for path in isolated_settings.rglob("problems.log"))
    assert "ValueError" in logged and "Smith" not in logged


@pytest.mark.parametrize("debugging", [False, True])
def test_who_develops_the_program_sees_what_went_wrong_where_it_was_asked_for(
    window: Window, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, debugging: bool
) -> None:
    monkeypatch.setenv(log.DEBUG, "1" if debugging else "")
    try:
        raise ValueError("a broken slot")
    except ValueError as error:
        _excepthook(ValueError, error, error.__traceback__)
    printed = capsys.readouterr()
    assert ("ValueError: a broken slot" in printed.err and "test_window.py" in printed.err) is debugging
    assert printed.out == "" and "broken slot" not in window.notice.words()


@pytest.mark.at_once
def test_the_draft_holds_the_plan_and_no_cell(window: Window, qtbot: Any, tmp_path: Path) -> None:
    open_table(qtbot, window, write_people(tmp_path / "people.csv"))
    window.study.decide(purpose=Purpose(title="Stays"))
    window.save_draft()
    written = draft.path_of(tmp_path / "data").read_text()
    assert json.loads(written)["plan"]["purpose"]["title"] == "Stays"
    for cell in ("500007", "ward 1", "E12"):
        assert cell not in written
    assert "plan only, no rows" in window.footer.saved.text()


@pytest.mark.at_once
def test_no_cell_in_anything_that_is_written(window: Window, qtbot: Any, tmp_path: Path) -> None:
    open_table(qtbot, window, write_people(tmp_path / "people.csv"))
    window.go("columns")
    settle(qtbot, window)
    window.page("columns").accept.click()
    window.page("columns")._set_cap(1)
    window.go("risk")
    settle(qtbot, window)
    window.close()
    found = [path for path in tmp_path.rglob("*") if path.is_file() and path.name != "people.csv"]
    assert any(path.name == "draft.json" for path in found)
    assert any(path.name == "last-schema.json" for path in found)
    for path in found:
        content = path.read_bytes()
        for cell in (b"500007", b"ward 1", b"E12"):
            assert cell not in content, path.name


@pytest.mark.at_once
def test_what_was_copied_from_rows_is_in_no_draft(window: Window, tmp_path: Path) -> None:
    copied = Column(
        "town",
        kind=Kind.CATEGORY,
        domain=Domain(values=("Smallville",)),
        domain_origin=Origin.COPIED,
        missing=("?",),
        missing_origin=Origin.COPIED,
        labels={"Smallville": "a town", "9": "not asked"},
        hierarchy=Hierarchy(tree={"Smallville": ("north",)}),
    )
    window.study.decide(schemas={MAIN: Schema((copied,))})
    window.save_draft()
    written = draft.path_of(tmp_path / "data").read_text()
    assert "Smallville" not in written
    assert "not asked" in written and '"?"' in written, "what tells no cell stays"


MARKUP = "<img src='file:///etc/hostname'><b>bold</b>"


def tips_of_cells(view: QAbstractItemView) -> list[str]:
    """Return the tips of all cells of a table or list."""
    model = view.model()
    if model is None:
        return []
    places = [model.index(row, at) for row in range(model.rowCount()) for at in range(model.columnCount())]
    return [str(place.data(Qt.ItemDataRole.ToolTipRole) or "") for place in places]


def test_no_tip_draws_what_a_file_calls_its_columns(window: Window, qtbot: Any, tmp_path: Path) -> None:
    table = tmp_path / "people.csv"
    table.write_text(f'"{MARKUP}",age\n' + "north,30\nsouth,41\n" * 9)
    open_table(qtbot, window, table)
    tips = []
    for step in ("load", "columns"):
        window.go(step)
        settle(qtbot, window)
        tips += [one.toolTip() for one in window.findChildren(QWidget) if one.toolTip()]
        tips += [tip for view in window.findChildren(QAbstractItemView) for tip in tips_of_cells(view)]
    assert not [tip for tip in tips if "<img" in tip or "<b>" in tip]
    assert MARKUP in html.unescape("".join(tips)), "it is said as it is written"


def test_another_table_is_not_asked_for_the_columns_of_the_last_one(
    window: Window, qtbot: Any, tmp_path: Path
) -> None:
    open_table(qtbot, window, write_people(tmp_path / "people.csv"))
    window.go("columns")
    settle(qtbot, window)
    window.page("columns").select("ward")
    settle(qtbot, window)
    other = tmp_path / "others.csv"
    other.write_text("column 1,column 2\n" + f"{MARKUP},x\n" * 2)  # alike: both are selected at once
    open_table(qtbot, window, other)
    window.go("columns")
    settle(qtbot, window)
    assert not window.notice.words()


@pytest.mark.parametrize(
    "written", ["[" * 100_000, '{"a":' * 50_000, "[]", "null", '{"plan": {}, "plan": {}}']
)
def test_a_window_opens_beside_files_that_are_none(
    make_window: Callable[[], Window], qtbot: Any, tmp_path: Path, written: str
) -> None:
    for name in ("settings/settings", "data/draft", "data/last-schema", "data/last-purposes"):
        place = tmp_path / f"{name}.json"
        place.parent.mkdir(exist_ok=True)
        place.write_text(written)
    window = make_window()
    settle(qtbot, window)
    assert window.step == "start" and not window.page("start").draft.isVisible()
    open_table(qtbot, window, write_people(tmp_path / "people.csv"))
    window.go("columns")
    settle(qtbot, window)
    assert window.step == "columns"


def test_a_draft_comes_back(
    window: Window, make_window: Callable[[], Window], qtbot: Any, tmp_path: Path
) -> None:
    open_table(qtbot, window, write_people(tmp_path / "people.csv"))
    window.save_draft()
    again = make_window()
    button = again.page("start").draft
    assert button.isVisible()
    button.click()
    settle(qtbot, again)
    assert again.step == "load" and again.study.table is not None
    assert again.study.plan == window.study.plan
    assert again.study.open_questions == window.study.open_questions


def test_a_folder_that_cannot_be_written_is_said_quietly(window: Window, monkeypatch: Any) -> None:
    def refuse(*args: object, **kwargs: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(draft, "write_aside", refuse)
    window.save_draft()
    assert window.footer.saved.text() == words.say("app.window.not_saved")


def test_recent_plans_are_remembered_only_when_asked_for(window: Window, tmp_path: Path) -> None:
    window.save_plan(str(tmp_path / "one.json"))
    assert window.settings.recent() == ()
    window.settings.keep_list(True)
    window.save_plan(str(tmp_path / "two.json"))
    assert window.settings.recent() == (str(tmp_path / "two.json"),)
    window.settings.keep_list(False)
    assert window.settings.recent() == () and "two.json" not in window.settings.path.read_text()


def test_settings_that_cannot_be_read_are_taken_as_empty(tmp_path: Path) -> None:
    (tmp_path / "settings.json").write_text("{broken")
    assert Settings(tmp_path).get("theme", "system") == "system"
    (tmp_path / "settings.json").write_text('{"theme": 7, "rows": ["x"]}')
    assert Settings(tmp_path).get("theme", "system") == "system"
    with pytest.raises(KeyError):
        Settings(tmp_path).set(rows="x")


@pytest.mark.parametrize("name", ["plan.json", "table.csv"])
def test_a_file_that_is_not_there_is_said(window: Window, qtbot: Any, tmp_path: Path, name: str) -> None:
    window.open_file(str(tmp_path / name))
    settle(qtbot, window)
    assert name in window.notice.words()


def test_a_plan_is_saved_with_relative_paths_and_found_again(
    window: Window, qtbot: Any, tmp_path: Path
) -> None:
    people = write_people(tmp_path / "people.csv")
    open_table(qtbot, window, people)
    window.save_plan(str(tmp_path / "plan.json"))
    tree = json.loads((tmp_path / "plan.json").read_text())
    assert tree["files"]["people"]["path"] == "people.csv"
    window.open_file(str(tmp_path / "plan.json"))
    settle(qtbot, window)
    assert window.study.plan.files["people"].path == str(people)
    assert window.study.table is not None


@pytest.mark.parametrize(
    ("price", "code"),
    [
        ({"people": 10**30, "compensation": 5}, "at_risk.too_large"),
        ({"people": 5, "compensation": "1e300"}, "at_risk.too_large"),
        ({"fine": "1e300"}, "at_risk.too_large"),
        ({"people": 5, "compensation": 5, "minimum": 9}, "price.minimum"),
    ],
)
def test_a_plan_with_amounts_beyond_all_money_is_refused_before_a_screen_draws_them(
    window: Window, tmp_path: Path, price: dict[str, Any], code: str
) -> None:
    tree = sample_plan(tmp_path).to_json()
    (tmp_path / "plan.json").write_text(json.dumps(tree | {"price": price}))
    before = window.study.plan
    window.open_file(str(tmp_path / "plan.json"))
    with pytest.raises(InputRefused) as refusal:
        files.open_plan(tmp_path / "plan.json")
    assert refusal.value.code == code
    assert words.explain(refusal.value)[0] in window.notice.words()
    assert window.study.plan == before


def test_the_right_hand_side_follows_the_focus(window: Window, qtbot: Any) -> None:
    page = window.page("start")
    page.releases.setFocus()
    assert window.panel.shown() == page.explain("releases")
    page.table.setFocus()
    assert window.panel.shown() == page.explain("table")


def test_the_pointer_explains_after_a_rest(window: Window, qtbot: Any) -> None:
    page = window.page("start")
    window.topic_soon(page, "sample", at_once=False)
    assert window.panel.shown() == page.explain("")
    qtbot.waitUntil(lambda: window.panel.shown() == page.explain("sample"), timeout=1000)


def test_a_link_of_an_explanation_is_followed(window: Window, qtbot: Any) -> None:
    followed = []
    part = Part("Heading", "Body", link="Change", follow=lambda: followed.append(1))
    window.show_explanation(Explanation("Title", (part,)))
    from PySide6.QtWidgets import QPushButton

    qtbot.wait(5)  # shown in the next turn of the event loop
    button = next(one for one in window.panel.findChildren(QPushButton) if one.text() == "Change")
    button.click()
    assert followed == [1]


def test_a_number_without_one_of_its_three_texts_is_an_error() -> None:
    with pytest.raises(KeyError):
        three("app.risk.help")


@pytest.mark.parametrize("width", [1366, PANEL_BELOW - 1, SIDE_BELOW - 1, 683])
def test_the_frame_folds_where_there_is_little_room(window: Window, qtbot: Any, width: int) -> None:
    window.resize(width, 600)
    qtbot.wait(20)
    assert window.width() == width
    folded = width < PANEL_BELOW
    assert window.panel.isVisible() is not folded
    assert window.footer.why.isVisible() is folded
    assert window.side.name.isVisible() is not (width < SIDE_BELOW)
    if folded:
        window.footer.why.click()
        assert window.panel.isVisible()
        window.resize(1366, 600)
        qtbot.wait(20)
        assert window.panel.isVisible() and not window.footer.why.isVisible()


def test_light_and_dark_follow_the_choice_and_are_kept(window: Window) -> None:
    window.side.look_chosen.emit("dark")
    assert theme.tokens() == DARK and window.settings.get("theme", "") == "dark"
    window.side.look_chosen.emit("light")
    assert theme.tokens() == LIGHT


def luminance(colour: str) -> float:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(first: str, second: str) -> float:
    high, low = sorted((luminance(first), luminance(second)), reverse=True)
    return (high + 0.05) / (low + 0.05)


CONTROL = re.compile(r"QPushButton|QLineEdit|QComboBox|QDateEdit|QSpinBox|QPlainTextEdit|::indicator")
NO_BORDER = ("disabled", "waiting", "QAbstractItemView")  # what cannot be pressed, and what pops up


@pytest.mark.parametrize("tokens", [LIGHT, DARK], ids=["light", "dark"])
def test_borders_of_controls_stand_out_from_where_they_lie(tokens: Any) -> None:
    """Three to one (WCAG 2.2, 1.4.11), whatever token a rule of the style sheet takes for it."""
    style = Path(__file__).resolve().parents[2] / "resources" / "style" / "window.qss"
    written = re.sub(r"/\*.*?\*/", "", style.read_text(encoding="utf-8"), flags=re.S)
    found = 0
    for selectors, rules in re.findall(r"([^{}]+)\{([^{}]*)\}", written):
        if not CONTROL.search(selectors) or any(word in selectors for word in NO_BORDER):
            continue
        for name in re.findall(r"border(?:-color)?: (?:\d+px solid )?@(\w+)", rules):
            found += 1
            for ground in ("background", "surface"):
                seen = contrast(getattr(tokens, name), getattr(tokens, ground))
                assert seen >= 3, (selectors.strip(), name, ground, seen)
    assert found > 10


@pytest.mark.parametrize("tokens", [LIGHT, DARK], ids=["light", "dark"])
def test_every_colour_of_the_style_sheet_is_a_token_and_text_can_be_read(tokens: Any) -> None:
    assert "@" not in style_sheet(tokens)

    pairs = [
        (ink, ground) for ink in ("text", "quiet") for ground in ("background", "surface", "accent_soft")
    ]
    pairs += [("accent", ground) for ground in ("background", "surface", "accent_soft")]
    pairs += [("care", "care_soft"), ("wrong", "wrong_soft"), ("wrong", "surface"), ("care", "surface")]
    pairs += [("on_accent", "accent"), ("surface", "text"), ("text", "care_soft"), ("text", "wrong_soft")]
    for ink, ground in pairs:
        found = contrast(getattr(tokens, ink), getattr(tokens, ground))
        assert found >= 4.5, (ink, ground, found)


@pytest.mark.parametrize("tokens", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("ratio", [4.0, 6.0])  # of 100 and 150 %, four times as fine
def test_what_one_of_many_is_chosen_with_is_round(qtbot: Any, tokens: Any, ratio: float) -> None:
    """Found in pictures: circles and handles were squares with round corners."""
    part = QWidget()
    qtbot.addWidget(part)
    radio, slider = QRadioButton(part), QSlider(Qt.Orientation.Horizontal, part)
    radio.setGeometry(10, 10, 40, 36)
    slider.setGeometry(10, 50, 120, 36)
    slider.setValue(50)
    part.resize(160, 100)
    part.setStyleSheet(style_sheet(tokens))
    for widget, on in ((radio, False), (radio, True), (slider, False)):
        radio.setChecked(on)
        picture = QImage(round(160 * ratio), round(100 * ratio), QImage.Format.Format_RGB32)
        picture.setDevicePixelRatio(ratio)
        part.render(picture)
        option = QStyleOptionButton() if widget is radio else QStyleOptionSlider()
        widget.initStyleOption(option)
        style, kind = widget.style(), QStyle.ComplexControl.CC_Slider
        place = (
            style.subElementRect(QStyle.SubElement.SE_RadioButtonIndicator, option, widget)
            if widget is radio
            else style.subControlRect(kind, option, QStyle.SubControl.SC_SliderHandle, widget)
        )
        place = place.translated(widget.pos())
        ground = picture.pixelColor(0, 0).name()
        corner = 0.244 * place.width()  # a circle leaves a little more of each corner free
        assert abs(place.width() - place.height()) <= 1
        for x in (place.left() + corner / 2, place.right() + 1 - corner / 2):
            for y in (place.top() + corner / 2, place.bottom() + 1 - corner / 2):
                seen = picture.pixelColor(int(x * ratio), int(y * ratio)).name()
                assert seen == ground, (type(widget).__name__, on, x, y)
        top = picture.pixelColor(int(place.center().x() * ratio + ratio / 2), int((place.top() + 1) * ratio))
        assert top.name() != ground, "the edge is drawn where the circle is"


def test_closing_while_a_table_is_read_ends_the_work(window: Window, qtbot: Any, tmp_path: Path) -> None:
    window.open_file(str(write_people(tmp_path / "people.csv", people=20_000)))
    window.close()
    assert not window.runner.busy()


def test_a_table_that_is_taken_back_while_it_is_read_is_read_no_further(
    window: Window, qtbot: Any, tmp_path: Path
) -> None:
    """It was looked for in the plan that stood there by then, which named none: something had gone wrong."""
    window.open_file(str(write_people(tmp_path / "people.csv", people=2_000)))
    window.study.open_plan(Plan())
    settle(qtbot, window)
    assert not window.study.plan.files and window.study.table is None
    assert words.say("app.window.unexpected.what") not in window.notice.words()


def test_closing_while_a_release_runs_is_asked_once(window: Window, qtbot: Any) -> None:
    def long(*, progress: Any) -> None:
        import time

        for _ in range(500):
            progress.step(0.5, "run.noise")
            time.sleep(0.01)

    window.runner.start(long, slot="release")
    window.close()
    assert window.isVisible() and words.say("app.window.busy_closing") in window.notice.words()
    window.close()
    assert not window.isVisible()


def test_nothing_heavy_is_imported_before_the_window_is_there(tmp_path: Path) -> None:
    import os
    import subprocess

    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from app.application import make_application\n"
        "from app.state.settings import Settings\n"
        "settings = Settings(Path(sys.argv[1]))\n"
        "application = make_application(['custos'], settings, look='light')\n"
        "from app.frame.window import Window\n"
        "window = Window(settings=settings, data=Path(sys.argv[1]))\n"
        "window.show(); application.processEvents()\n"
        "heavy = {'pandas', 'numpy', 'scipy', 'sklearn', 'matplotlib', 'pyarrow', 'dp_accounting'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)],
        capture_output=True,
        text=True,
        cwd=root,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen", "PYTHONPATH": str(root)},
        check=True,
    )
    assert done.stdout.strip() == "[]"


def test_the_log_names_places_only() -> None:
    try:
        int("Mrs Smith")
    except ValueError as error:
        found = log.report(error)
    assert "ValueError" in found and "Smith" not in found and "test_window.py" in found


def test_fields_keep_what_is_being_written_while_the_study_changes(window: Window, qtbot: Any) -> None:
    page = window.page("purpose")
    window.stack.setCurrentWidget(page)
    field = page.fields["title"]
    assert isinstance(field, QLineEdit)
    field.setFocus()
    qtbot.keyClicks(field, "Sta")
    page.enter()
    assert field.text() == "Sta"


def test_what_is_saved_gives_way_when_it_grows(qtbot: Any) -> None:
    footer = Footer()
    qtbot.addWidget(footer)
    footer.show()
    footer.say_saved("Saved")
    margins = footer.next.parentWidget().layout().contentsMargins()
    shown = (footer.back, footer.undo, footer.redo, footer.why, footer.next, footer.saved)
    needed = sum(one.sizeHint().width() + 16 for one in shown) + margins.left() + margins.right()
    footer.resize(needed, footer.height())
    qtbot.wait(1)
    assert footer.saved.isVisible()
    footer.say_saved("Saved 05:27 · plan only, no rows")
    assert not footer.saved.isVisible()


@pytest.mark.parametrize("way", [("show",), ("setVisible", True), ("setHidden", False)])
@pytest.mark.parametrize("kind", [QWidget, QLabel, QPushButton])
def test_a_widget_that_is_shown_before_it_has_a_parent_is_seen(
    qapp: QApplication, monkeypatch: pytest.MonkeyPatch, kind: type[QWidget], way: tuple[Any, ...]
) -> None:
    strays, parent = watch_strays(monkeypatch), QWidget()
    with_parent, alone = kind(parent), kind()
    getattr(with_parent, way[0])(*way[1:])
    assert strays == []
    getattr(alone, way[0])(*way[1:])
    assert strays and all(told.startswith(kind.__name__) for told in strays)
    alone.hide()


def test_the_help_opens_at_the_page_in_view_and_is_searched(window: Window, qtbot: Any) -> None:
    qtbot.keyClick(window, Qt.Key.Key_F1)
    found = window.help
    assert found.isVisible() and found.heading.text() == words.say("app.steps.start")
    found.search.setText("k-anonymity")
    assert found.subjects.rowCount() > 1 and "k-anonymity" in found.text.plain()
    found.search.setText("nothing-of-that-kind")
    assert not found.subjects.rowCount() and "nothing-of-that-kind" in found.text.plain()
    found.search.clear()
    for place in range(found.subjects.rowCount()):  # each subject is shown, and none is empty
        found.list.setCurrentIndex(found.subjects.index(place, 0))
        assert found.heading.text() and found.text.plain()
    found.close()
    window.side.help.click()
    assert window.help is not found and window.help.isVisible()
    window.help.close()


def test_the_folder_of_a_release_is_opened_as_a_file_is(released: Any, window: Window, qtbot: Any) -> None:
    folder = released.bundle.folder
    window.study.open_plan(Plan())
    window.go("start")
    window.open_file(str(folder / "release"))
    settle(qtbot, window)
    assert window.step == "start" and window.notice.isVisible(), (
        "what a recipient has is not reopened, and said"
    )
    window.open_file(str(folder))
    settle(qtbot, window)
    assert window.step == "report" and window.study.result("bundle").bundle.folder == folder
