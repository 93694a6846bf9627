"""Several sites by mouse: from the first file to verified bundles, at three computers, and in training."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QComboBox, QDialogButtonBox, QFileDialog, QLineEdit, QPushButton

from app import words
from app.frame.window import Window
from app.words.money import level
from app.work.sites import TRAINING
from engine.ledger import Ledger
from engine.methods.catalogue import method
from engine.release import charge, site_folder, studies
from engine.release.examples import plans
from tests.app.hands import Hands
from tests.app.walking import SAMPLE, sample_plan, settle

ROWS = 600


class Person:
    """Somebody at a computer of their own, with its ledger and folders."""

    def __init__(self, qtbot: Any, window: Window, home: Path, part: str) -> None:
        home.mkdir()
        self.home, self.qtbot, self.window, self.part = home, qtbot, window, part
        self.files = home / "study"
        self.files.mkdir()
        window.data, window.study.ledger_path = home / "data", home / "ledger.sqlite"
        self.hands = Hands(qtbot, window)
        self.hands.click("step-sites" if window.step != "start" else "sites")
        self.page = window.page("sites")
        self.hands.click(f"part-{part}")
        assert not window.study.ledger_path.exists(), "to look round makes no ledger"
        self.choose("choose-folder", self.files)
        assert self.page.step

    def choose(self, button: str, path: Path) -> None:
        """Press a button that asks for a file, write its name, and press Open or Save."""
        self.hands.click(button)
        (dialog,) = [one for one in self.page.findChildren(QFileDialog) if one.isVisible()]
        field = dialog.findChild(QLineEdit, "fileNameEdit")
        field.setText(str(path))
        box = dialog.findChild(QDialogButtonBox)
        opens = next(
            one for one in box.buttons() if box.buttonRole(one) == QDialogButtonBox.ButtonRole.AcceptRole
        )
        self.qtbot.mouseClick(opens, Qt.MouseButton.LeftButton)
        assert not dialog.isVisible(), path
        settle(self.qtbot, self.window)

    def next(self) -> None:
        """Press the button of the footer."""
        self.hands.click("next")
        assert not self.window.notice.isVisible(), self.window.notice.words()

    def says(self) -> str:
        return str(self.page.next_title.text())

    def sends(self, to: Path) -> Path:
        """Save a copy of the file that comes next, as on a stick."""
        place = to / self.page.standing.next.send.name
        self.choose("copy-file", place)
        return place

    def compare(self) -> None:
        """Tick every fingerprint."""
        for place, line in enumerate(self.page.standing.lines, start=1):
            if not line.is_own and not line.is_compared:
                box = self.hands.part(QCheckBox, f"compared-{place}")
                self.page.ensureWidgetVisible(box)
                self.hands.click(box)

    @property
    def spent(self) -> Fraction:
        ledger = Ledger(self.home / "ledger.sqlite", read_only=True)
        (holding,) = ledger.holdings()
        return ledger.status(holding.id, charge.make_composer(holding)).epsilon_spent


def verified(page: Any, hands: Hands) -> bool:
    """Press Verify and say whether the answer is yes."""
    top = page.verify.button.mapTo(page.viewport(), page.verify.button.rect().topLeft())
    inside = page.viewport().rect().contains(page.verify.button.rect().translated(top))
    assert inside, "where “Verify it here” is said, the button is in view"
    hands.click(page.verify.button)
    return bool(page.verify.answer.text().startswith("Yes"))


@pytest.fixture
def plan_file(tmp_path: Path) -> Path:
    """Return a saved plan that asks for counts by gender."""
    from dataclasses import replace

    from app.state.files import save_plan

    save_plan(replace(sample_plan(tmp_path), parameters={"columns": ["gender"]}), tmp_path / "counts.json")
    return tmp_path / "counts.json"


def silent_card(folder: Path) -> Path:
    """Return the card of a site that never answers."""
    ledger = Ledger(folder / "Town.sqlite")
    holding = ledger.create_holding("Town", unit="person", neighbours="add_remove", epsilon=2)
    (folder / "Town.custos").write_bytes(studies.write_card(ledger, holding, "Town"))
    return folder / "Town.custos"


def test_three_computers_go_from_first_file_to_verified_bundles(
    make_window: Callable[[], Window], qtbot: Any, tmp_path: Path, plan_file: Path
) -> None:
    heading, *rows = (SAMPLE / "diabetes_encounters.csv").read_text(encoding="utf-8").splitlines()
    stick = tmp_path / "stick"
    stick.mkdir()
    sites = []
    for place, name in enumerate(("North", "South")):
        one = Person(qtbot, make_window(), tmp_path / name, "site")
        (one.home / "people.csv").write_text("\n".join([heading, *rows[place:ROWS:2]]) + "\n")
        assert one.says() == words.say("app.sites.next.site.card.title")
        one.hands.type("sites-name", name)
        one.hands.type("sites-register", f"Patients {name}")
        one.hands.type("sites-epsilon", "2")
        one.next()
        sites.append((one, one.sends(stick)))

    centre = Person(qtbot, make_window(), tmp_path / "Centre", "coordinator")
    for card in (*(card for _, card in sites), silent_card(tmp_path)):
        centre.choose("read-file", card)
    assert centre.page.standing.next.id == "cards" and not centre.window.footer.next.isVisible()
    centre.compare()
    centre.hands.type("sites-name", "Centre")
    centre.choose("pick-file", plan_file)
    centre.hands.click("try-share")
    assert "1.4 times smaller among 3 sites" in centre.page.tried.plain(), centre.page.tried.plain()
    centre.next()
    study = centre.sends(stick)

    for one, _ in sites:
        before = one.hands.clicks
        one.choose("read-file", study)
        assert one.page.standing.next.id == "compare" and not one.window.footer.next.isVisible()
        one.hands.click("compared-1")  # who asks
        one.choose("pick-file", one.home / "people.csv")
        one.hands.click("try-share")
        assert one.page.tried.isVisible() and one.spent == 0
        assert words.say("app.sites.do.share", epsilon="0.50") == one.window.footer.next.text()
        one.next()
        assert one.spent == Fraction(1, 2)
        share = one.sends(stick)
        assert one.hands.clicks - before <= 8, "a site is done in eight clicks"
        centre.choose("read-file", share)
        assert verified(one.page, one.hands)

    assert centre.page.standing.next.names == ("Town",) and not centre.window.footer.next.isVisible()
    place = next(at for at, line in enumerate(centre.page.standing.lines, start=1) if line.name == "Town")
    button = centre.hands.part(QPushButton, f"leave_out-{place}")
    centre.page.ensureWidgetVisible(button)
    centre.hands.click(button)
    centre.next()
    assert centre.page.standing.next.id == "done" and verified(centre.page, centre.hands)
    assert centre.spent == 0
    result = centre.page.standing.files.bundle("coordinator", "")
    told = pd.read_csv(result / "release" / "counts.csv", keep_default_na=False)["count"].to_numpy()
    sums = [
        pd.read_csv(one.page.standing.files.bundle("site", name) / "release" / "sums.csv")["value"].to_numpy()
        for (one, _), name in zip(sites, ("North", "South"), strict=True)
    ]
    assert told.tolist() == sum(sums).tolist()  # type: ignore[union-attr]


@pytest.fixture
def training(window: Window, qtbot: Any) -> tuple[Any, Hands]:
    """Begin a training."""
    hands = Hands(qtbot, window)
    hands.click("sites")
    hands.click("training")
    return window.page("sites"), hands


def play(page: Any, hands: Hands, who: str) -> None:
    hands.pick("who", who)
    assert page.desk.who == who


def tick_all(page: Any, hands: Hands) -> None:
    for place, line in enumerate(page.standing.lines, start=1):
        if not line.is_own and not line.is_compared:
            box = hands.part(QCheckBox, f"compared-{place}")
            page.ensureWidgetVisible(box)
            hands.click(box)


def test_in_training_one_person_plays_all_parts_with_a_key_holder(
    training: tuple[Any, Hands], window: Window
) -> None:
    page, hands = training
    for who in ("North", "South", "Town", "Archive"):
        play(page, hands, who)
        hands.click("next")
    play(page, hands, "Centre")
    tick_all(page, hands)
    place = next(at for at, one in enumerate(page.standing.lines, start=1) if one.name == "Archive")
    button = hands.part(QPushButton, f"as_holder-{place}")
    page.ensureWidgetVisible(button)
    hands.click(button)
    hands.click("next")
    assert page.standing.files.study.rehearsal and len(page.standing.files.study.holders) == 1
    for who in ("North", "South", "Town"):
        play(page, hands, who)
        assert page.standing.next.id == "compare" and not window.footer.next.isVisible()
        tick_all(page, hands)
        window.footer.next.click()
        if who == "South":  # to look elsewhere meanwhile stops no share
            window.go("explore")
            window.go("sites")
        settle(hands.qtbot, window)
        assert page.standing.next.id == "sent", window.notice.words()
        assert words.say("app.sites.others_turn") in page.next_body.plain()
    play(page, hands, "Centre")
    hands.click("next")
    assert page.standing.next.id == "masks"
    play(page, hands, "Archive")
    tick_all(page, hands)
    hands.click("next")
    play(page, hands, "Centre")
    hands.click("next")
    assert page.standing.next.id == "done" and verified(page, hands)
    assert not window.study.ledger_path.exists() or not Ledger(window.study.ledger_path).holdings()


def test_a_study_of_two_rounds_asks_every_site_twice_and_says_what_each_round_costs(
    training: tuple[Any, Hands], window: Window, monkeypatch: pytest.MonkeyPatch
) -> None:
    page, hands = training
    tree = plans(method("models.tree"))[0]
    budget = replace(tree.budget, epsilon=Fraction(2), delta=Fraction(0))
    asked = replace(tree, parameters={**tree.parameters, "depth": 1}, budget=budget)
    monkeypatch.setattr("app.screens.sites.page.sample_study", lambda: asked)
    for who in ("North", "South"):
        play(page, hands, who)
        hands.click("next")
    play(page, hands, "Centre")
    tick_all(page, hands)
    hands.click("next")
    paid = []
    for round_ in (1, 2):
        assert (page.standing.files.study.round, page.standing.files.study.rounds) == (round_, 2)
        for who in ("North", "South"):
            play(page, hands, who)
            tick_all(page, hands)
            said = level(page.standing.epsilon, up=True)
            assert said in window.footer.next.text()
            assert f"round {round_} of 2" in page.next_body.plain() and "ε 2" in page.next_body.plain()
            assert not page.tried.plain(), "what was tried was of another round"
            hands.click("try-share")
            assert page.tried.plain()
            hands.click("next")
            assert page.standing.next.id == "sent", window.notice.words()
        paid.append(page.standing.epsilon)
        play(page, hands, "Centre")
        assert page.standing.next.id == ("round" if round_ == 1 else "result")
        hands.click("next")
    assert page.standing.next.id == "done" and verified(page, hands)
    assert Fraction(99, 50) < sum(paid) <= 2


def test_ticks_that_follow_each_other_at_once_are_all_kept(
    training: tuple[Any, Hands], window: Window
) -> None:
    page, hands = training
    for who in ("North", "South", "Town"):
        play(page, hands, who)
        hands.click("next")
    play(page, hands, "Centre")
    for line in page.standing.lines:
        page.members.ticked.emit(line.key, line.name, True)
    settle(hands.qtbot, window)
    assert len(page.standing.lines) == 3 and all(one.is_compared for one in page.standing.lines)


def test_a_wrong_file_is_refused_in_words_and_changes_nothing(
    make_window: Callable[[], Window], qtbot: Any, tmp_path: Path
) -> None:
    one = Person(qtbot, make_window(), tmp_path / "North", "site")
    wrong = tmp_path / "list.csv"
    wrong.write_text("age,sex\n41,f\n")
    one.choose("read-file", wrong)
    assert "list.csv" in one.window.notice.words() and not list(one.files.iterdir())
    one.hands.type("sites-name", "North")
    assert one.window.footer.next.property("waiting") is True  # no register is named
    one.hands.click("next")
    assert words.say("app.sites.waits.register") in one.window.notice.words()
    assert not list(one.files.iterdir())


def test_all_who_play_have_a_ledger_of_their_own(training: tuple[Any, Hands], window: Window) -> None:
    page, hands = training
    ledgers = set()
    for who, part in TRAINING.items():
        play(page, hands, who)
        assert page.desk.part == part
        turn = words.say("app.sites.others_turn")
        assert (turn in page.next_body.plain()) == (not window.footer.next.isVisible()), "who acts is said"
        ledgers.add(page.desk.ledger_path)
    assert len(ledgers) == len(TRAINING)
    choice = hands.part(QComboBox, "who")
    assert choice.count() == len(TRAINING)
    assert site_folder.PARTS == ("coordinator", "site", "holder")
