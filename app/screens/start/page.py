"""Start: what will be asked, what stays here, and where to begin."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QFileDialog, QLabel, QPushButton, QVBoxLayout, QWidget

from app import words
from app.parts.cards import Card, row
from app.parts.computer_card import ComputerCard
from app.parts.first_things import FirstThings
from app.parts.making import STRETCH, add, ask_file, empty, make_button, make_column, make_grid, name_widget
from app.parts.panel import Explanation, Part
from app.parts.prose import Heading, Prose
from app.parts.sealing import SealingSetUp, ask_secret
from app.screens.base import Page
from app.state import draft, flow
from app.state.files import PLAN, open_plan
from app.theme import polish
from app.words.money import written_day
from app.work.checking import check_computer, save_page
from app.work.sealing import change_seals, ledger_state, seals_known, seals_wanted, set_up_seals, use_ledger
from engine.errors import EngineError
from engine.release.plan import Plan

SAMPLE = "sample/plan.json"
MOST_RELEASES = 3
MOST_LETTERS = 28  # of a table's name on a button


def sample_path() -> Path:
    """Return where the plan of the sample is."""
    return Path(str(files("resources") / SAMPLE))


class StartPage(Page):
    """The first screen."""

    id = "start"

    def build(self) -> None:
        self.cards = QWidget()
        grid = make_grid(self.cards, across=16, down=16, margins=0)
        for column in (0, 1):
            grid.setColumnStretch(column, 1)
        self.table = self._button("open_table", self._ask_table, look="primary")
        self.sample = self._button("open_sample", self._open_sample)
        self.plan = self._button("open_plan", self._ask_plan)
        self.draft = self._button("open_draft", self._open_draft)
        self.save = self._button("save_plan", self._ask_where)
        self.without = self._button("without_table", self._without_table, look="link")
        self.releases = self._button("releases", lambda: self.frame.go("releases"))
        self.explore = self._button("explore", lambda: self.frame.go("explore"))
        self.sites = self._button("sites", lambda: self.frame.go("sites"))
        grid.addWidget(self._card("table", self.table, self.without), 0, 0)
        grid.addWidget(self._card("sample", self.sample), 0, 1)
        plans = self._card("plan", self.draft, self.plan, self.save, apart=(self.draft,))
        self.left = name_widget(Prose(tone="quiet", pixels=12), "left")
        plans.body.insertWidget(plans.body.indexOf(self.draft), self.left)
        self.earlier = make_column(spacing=0)
        plans.body.addLayout(self.earlier)
        grid.addWidget(plans, 1, 0)
        releases = self._card("releases", self.releases, self.explore, self.sites)
        self.made = make_column(spacing=0)
        releases.body.addLayout(self.made)
        grid.addWidget(releases, 1, 1)
        self.computer = ComputerCard(self._check_computer, self._ask_where_check)
        self.topic(self.computer.check, "computer")
        self.topic(self.computer.save, "computer")
        self.sealing = SealingSetUp()
        self.sealing.wanted.connect(self._choose_passphrase)
        self.sealing.declined.connect(lambda: self._answer_offer())
        self.sealing.ledger.connect(lambda: ask_secret(self, self._use_ledger))
        self.topic(self.sealing, "sealing")
        self.first = FirstThings(self.frame.settings, self.computer, self.sealing, self._ledger)
        self.first.answered.connect(self._begin)
        self.first.language.chosen.connect(self.frame.use_language)
        for name, card in self.first.cards.items():
            self.topic(card, f"first.{name}")
        self.topic(self.first.numbers.choice, "first.numbers")
        self.asked = self._asked()
        add(self.body, self.cards, self.asked, self.computer.rules, self.first, STRETCH)

    def _button(self, name: str, act: object, *, look: str = "") -> QPushButton:
        button = make_button(words.say(f"app.start.{name}"), name)
        if look:
            button.setProperty("look", look)
        button.clicked.connect(lambda checked=False: act())  # type: ignore[operator]
        return button

    def _card(self, name: str, *buttons: QPushButton, apart: tuple[QPushButton, ...] = ()) -> Card:
        """A card with its buttons; those with long words ``apart`` have a line of their own."""
        card = Card()
        card.body.setSpacing(6)
        card.body.addWidget(Heading(words.say(f"app.start.{name}_heading"), size="side"))
        add(card.body, Prose(words.say(f"app.start.{name}_body"), tone="quiet"), STRETCH, 6)
        for button in apart:
            card.body.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)
        beside = (one for one in buttons if one.property("look") != "link" and one not in apart)
        card.body.addLayout(row(*beside))
        for link in (one for one in buttons if one.property("look") == "link"):
            card.body.addWidget(link, 0, Qt.AlignmentFlag.AlignLeft)
        for button in buttons:
            self.topic(button, name)
        return card

    def _asked(self) -> QWidget:
        """The steps and the one question of each."""
        part = QWidget()
        column = make_column(
            Heading(words.say("app.start.asked_heading"), size="side"), inside=part, spacing=10, margins=0
        )
        grid = make_grid(across=16, down=7)
        grid.setColumnMinimumWidth(0, 84)
        grid.setColumnMinimumWidth(2, 84)
        grid.setColumnStretch(1, 1)
        grid.setColumnStretch(3, 1)
        steps = flow.path(flow.State())[1:]
        half = (len(steps) + 1) // 2
        for place, step in enumerate(steps):
            line, side = place % half, 2 * (place // half)
            name = QLabel(words.say(f"app.steps.{step}"))
            name.setAlignment(Qt.AlignmentFlag.AlignTop)
            question = Prose(words.say(f"app.start.asks.{step}"), tone="quiet")
            grid.addWidget(name, line, side)
            grid.addWidget(question, line, side + 1)
        column.addLayout(grid)
        return part

    def enter(self) -> None:
        self._show_rules()
        self._show_first()
        has_plan = bool(self.study.plan.files)
        self._show_drafts([] if has_plan else draft.drafts(folder=self.frame.data))
        self.save.setVisible(has_plan)
        _show_links(
            self.made,
            [(f"release-{place}", folder.name) for place, folder in enumerate(self._folders(), start=1)],
            self._reopen,
        )
        # One filled button a page: to begin, or to go on with what is open or was left.
        left = not has_plan and not self.draft.isHidden()
        for button, is_first in ((self.draft, left), (self.table, not left)):
            look = "primary" if is_first and not self.shows_next() else ""
            if (button.property("look") or "") != look:
                button.setProperty("look", look)
                polish(button)

    def _show_rules(self) -> None:
        """Show what the administrator has set below all that can be done, or above it where it stops all."""
        self.computer.show_rules()
        rules = self.computer.rules
        self.body.removeWidget(rules)
        before = self.body.indexOf(self.cards if self.computer.is_broken else self.first)
        self.body.insertWidget(before, rules)

    def shows_next(self) -> bool:
        return bool(self.study.plan.files) or self.study.without_table

    def _show_drafts(self, found: list[draft.Draft]) -> None:
        """Offer the last draft, and earlier ones of other tables, each by its table and time."""
        self.draft.setVisible(bool(found))
        if found:
            self.draft.setText(words.say("app.start.go_on", table=_short(_table(found[0]))))
            self.draft.setToolTip(_named(found[0]))
            self.draft.setAccessibleName(_named(found[0]))
            step = draft.step_of(folder=self.frame.data)
            time = written_day(found[0].saved_at.isoformat())
            name = words.say(f"app.steps.{step}") if step else ""
            self.left.say(words.say("app.start.left_at" if step else "app.start.left", time=time, step=name))
        self.left.setVisible(bool(found))
        links = [(f"draft-{one.number}", _named(one)) for one in found[1:]]
        _show_links(self.earlier, links, lambda place: self._open_draft(found[place].number))

    def _folders(self) -> tuple[Path, ...]:
        return self.frame.settings.bundles(MOST_RELEASES)

    def _reopen(self, place: int) -> None:
        self.open_release(self._folders()[place - 1])

    def open_release(self, folder: Path) -> None:
        """Show a release of an earlier day, from its folder."""
        from app.work.releasing import reopen  # on first use: it brings numpy along

        self.work(reopen, folder, done=self._reopened, doing=words.say("app.releases.reading"))

    def _reopened(self, found: tuple[Plan, Any]) -> None:
        self.study.reopen(*found)
        self.frame.go("report")

    def take_file(self) -> Callable[[str], None]:
        return self.frame.open_file

    def take_files(self) -> Callable[[list[str]], None]:
        return self.frame.open_files

    def first_focus(self) -> QWidget | None:
        if not self.first.ends.isHidden():
            return self.first.take
        return self.draft if self.draft.property("look") == "primary" else self.table

    def explain(self, topic: str) -> Explanation:
        if topic == "plan":
            return Explanation(
                words.say("app.start.plan_heading"),
                (
                    Part(body=words.say("app.start.help.plan")),
                    Part(widget=self._remembered()),
                ),
            )
        return super().explain(topic)

    def _remembered(self) -> QWidget:
        """The list of recent plans, off unless asked for."""
        part = QWidget()
        column = make_column(inside=part, margins=0)
        box = name_widget(QCheckBox(words.say("app.start.remember")), "remember")
        box.setChecked(self.frame.settings.get("remember_files", False))
        box.toggled.connect(self._keep_list)
        column.addWidget(box)
        for path in self.frame.settings.recent():
            button = QPushButton(Path(path).name)
            button.setProperty("look", "link")
            button.setToolTip(words.tip(path))
            button.clicked.connect(lambda checked=False, path=path: self.frame.open_file(path))
            column.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)
        return part

    def _keep_list(self, wanted: bool) -> None:
        self.frame.settings.keep_list(wanted)

    def _without_table(self) -> None:
        """Begin with the purpose, for what reads no table."""
        self.study.open_plan(Plan(), without_table=True)
        self.frame.go(flow.following(flow.START, self.study.state) or flow.START)

    def _open_sample(self) -> None:
        """Open the sample at its first step, with all that its plan declares: Next leads to the release."""
        self.study.open_plan(open_plan(sample_path()))
        self.frame.go("load")

    def _open_draft(self, number: int = 1) -> None:
        found = draft.load(folder=self.frame.data, number=number)
        if found is not None:
            step = draft.step_of(folder=self.frame.data, number=number)
            self.study.open_plan(*found)
            self.frame.open_where_it_stopped(step)

    def _ask_table(self) -> None:
        self._dialog("open_table", words.say("app.load.filter"), self.frame.open_file)

    def _ask_plan(self) -> None:
        self._dialog("open_plan", words.say("app.start.plan_filter"), self.frame.open_file)

    def _ask_where(self) -> None:
        self._dialog("save_plan", words.say("app.start.plan_filter"), self.frame.save_plan, save=PLAN[1:])

    def _ledger(self) -> Path | None:
        return self.study.ledger_path

    def _check_computer(self) -> None:
        self.work(
            check_computer,
            self.study.ledger_path,
            done=self.computer.show_report,
            doing=words.say("app.start.computer_doing"),
        )

    def _ask_where_check(self) -> None:
        self._dialog("computer_save", words.say("app.start.computer_filter"), self._save_check, save="pdf")

    def _save_check(self, path: str) -> None:
        self.work(
            save_page,
            self.computer.report,
            Path(path),
            language=words.language(),
            done=lambda name: self.notify(words.say("app.start.computer_saved", file=name), tone="accent"),
            doing=words.say("app.start.computer_saving"),
        )

    def _show_first(self) -> None:
        """Show alone what is asked once; afterwards where to begin, and the former behind a link."""
        asked = self.first.is_asked and not self.shows_next()
        for part in (self.cards, self.asked):
            part.setVisible(not asked)
        base = "app.start.first" if asked else "app.start"
        self.title.setText(words.say(f"{base}.title"))
        self.subtitle.say(words.say(f"{base}.subtitle"))
        self.first.show_first(alone=asked, unfolded=self._show_sealing())

    def _begin(self) -> None:
        self.enter()
        self.verticalScrollBar().setValue(0)
        target = self.first_focus()
        if target is not None:
            target.setFocus(Qt.FocusReason.OtherFocusReason)

    def _show_sealing(self) -> bool:
        """Show the offer to encrypt; say whether a passphrase is waited for, the first or that of the key."""
        try:
            known, wanted = seals_known(self.study.ledger_path), seals_wanted()
            ledger = ledger_state(self.study.ledger_path)
        except EngineError:  # rules that cannot be read; said by the card above
            known, wanted, ledger = False, True, ""
        answered = self.frame.settings.get("answered_sealing", False)
        self.sealing.show_state(is_set_up=known, is_wanted=wanted, is_answered=answered, ledger=ledger)
        return (wanted and not known) or ledger == "open"

    def _answer_offer(self) -> None:
        self.frame.settings.set(answered_sealing=True)
        self._show_sealing()

    def _choose_passphrase(self, old: str, new: str) -> None:
        if old:
            self._work_on_passphrase("changed", change_seals, old, new)
            return
        where = words.say("app.sealing.where_code")
        set_up = partial(self._work_on_passphrase, "chosen", set_up_seals, new)
        ask_file(self, where, lambda path: set_up(Path(path)), writes="recovery-code.txt")

    def _work_on_passphrase(self, said: str, function: Callable[..., str], *given: Any) -> None:
        def done(file: str) -> None:
            self.sealing.line.setChecked(False)
            self._answer_offer()
            self.notify(words.say(f"app.sealing.{said}", file=file), tone="accent")

        self.work(
            function,
            *given,
            ledger_path=self.study.ledger_path,
            done=done,
            doing=words.say("app.sealing.working"),
            stoppable=False,
        )

    def _use_ledger(self, secret: str) -> None:
        def done(what: str) -> None:
            self._show_sealing()
            self.notify(words.say(f"app.sealing.ledger.{what}_done"), tone="accent")

        self.work(
            use_ledger,
            secret,
            ledger_path=self.study.ledger_path,
            done=done,
            doing=words.say("app.sealing.working"),
            stoppable=False,
        )

    def _dialog(self, title: str, names: str, act: object, *, save: str = "") -> None:
        dialog = QFileDialog(self, words.say(f"app.start.{title}"), "", names)
        if save:
            dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
            dialog.setDefaultSuffix(save)
        else:
            dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(act)
        dialog.open()


def _show_links(column: QVBoxLayout, links: list[tuple[str, str]], follow: Callable[[int], None]) -> None:
    """Fill a column with links, each by its name and its words; ``follow`` gets the place, from 1."""
    empty(column)
    for place, (name, text) in enumerate(links, start=1):
        link = make_button(text, name, partial(follow, place), look="link")
        column.addWidget(link, 0, Qt.AlignmentFlag.AlignLeft)


def _table(one: draft.Draft) -> str:
    return one.table or words.say("app.start.draft_without")


def _short(name: str) -> str:
    """Return a name that a button has room for: its beginning and its end."""
    return name if len(name) <= MOST_LETTERS else f"{name[: MOST_LETTERS - 9]}…{name[-8:]}"


def _named(one: draft.Draft) -> str:
    return words.say("app.start.draft_of", table=_table(one), time=written_day(one.saved_at.isoformat()))


PAGE = StartPage
