"""Several sites: one study by files, as coordinator, as site, as key holder, or all of them in training.

The folder of the study is all there is: what lies in it says what comes next.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QButtonGroup, QCheckBox, QLabel, QLineEdit, QPushButton, QWidget

from app import words
from app.parts.cards import BehindLink, Card
from app.parts.making import (
    STRETCH,
    add,
    align_left,
    ask_file,
    empty,
    make_button,
    make_choice,
    make_column,
    make_field,
    make_grid,
    make_label,
    make_row,
    name_widget,
)
from app.parts.prose import Heading, Prose, name_label
from app.parts.signing_key import SigningSecret
from app.parts.verify_card import VerifyCard
from app.parts.view_stack import ViewStack
from app.parts.wrapping import Wrapping
from app.screens.base import Page
from app.state.files import open_plan
from app.state.settings import data_folder
from app.theme import mono_font, text_font
from app.words.money import level
from app.work.releasing import check_bundle
from app.work.sites import (
    BUDGET,
    COORDINATOR,
    HOLDER,
    PARTS,
    SITE,
    TRAINING,
    Desk,
    Line,
    Standing,
    compare_ways,
    invented_table,
    look,
    make_share,
    note_compared,
    put_together,
    sample_study,
    take_file,
    train,
    training_desk,
    try_share,
    write_card,
    write_mask,
    write_roster,
    write_round,
    write_study,
)
from engine.errors import EngineError
from engine.release.plan import Plan
from engine.views import Text

# --- Who takes part in a study, a line each -------------------------------------------------------------

ROW = 28  # pixels
HEADINGS = ("compared", "name", "part", "fingerprint", "state", "act")


class Members(Card):
    """``ticked`` tells a key, its name and whether it was compared; ``pressed`` whose link was pressed."""

    ticked = Signal(str, str, bool)
    pressed = Signal(str, str)

    def __init__(self) -> None:
        super().__init__(words.say("app.sites.members.heading"))
        self.setObjectName("members")
        self.grid = make_grid(across=14, down=8, margins=0)
        self.grid.setColumnStretch(3, 1)
        self.nobody = Prose(words.say("app.sites.members.nobody"), tone="quiet")
        self.body.addWidget(self.nobody)
        self.body.addLayout(self.grid)
        self.lines: tuple[Line, ...] = ()

    def show_lines(self, lines: Sequence[Line], acts: Sequence[str]) -> None:
        """Show other lines; ``acts`` is what the link of each line does, "" for none."""
        focus = self.focusWidget()
        name = focus.objectName() if focus is not None else ""
        self.lines = tuple(lines)
        empty(self.grid)
        self.nobody.setVisible(not lines)
        for column, heading in enumerate(HEADINGS[:-1] if lines else ()):
            said = make_label(words.say(f"app.sites.members.{heading}"), pixels=12, tone="quiet")
            self.grid.addWidget(said, 0, column)
        for place, (line, act) in enumerate(zip(lines, acts, strict=True), start=1):
            self._add(place, line, act)
        kept = self.findChild(QCheckBox, name) if name else None
        if kept is not None:
            kept.setFocus(Qt.FocusReason.OtherFocusReason)

    def _add(self, place: int, line: Line, act: str) -> None:
        top = Qt.AlignmentFlag.AlignVCenter
        if line.is_own:
            self.grid.addWidget(make_label(words.say("app.sites.members.own"), tone="quiet"), place, 0, top)
        else:
            box = QCheckBox()
            spoken = words.say("app.sites.members.box", name=line.name, fingerprint=line.fingerprint)
            name_widget(box, f"compared-{place}", spoken)
            box.setChecked(line.is_compared)
            box.toggled.connect(partial(self.ticked.emit, line.key, line.name))
            self.grid.addWidget(box, place, 0, top)
        name = name_label(line.name)
        name.setWordWrap(True)
        name.setMinimumWidth(70)
        name.setFont(text_font(13, 600))
        part = make_label(words.say(f"app.sites.part_{line.part}"))
        print_ = Heading(line.fingerprint, size="small")
        print_.setFont(mono_font(12))
        print_.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        state = Prose(words.say(f"app.sites.state.{line.state}") if line.state else "")
        state.set_tone("quiet" if line.state in ("card", "share", "mask", "later") else "care")
        parts: list[QLabel] = [name, part, print_, state]
        for column, one in enumerate(parts, start=1):
            self.grid.addWidget(one, place, column, top)
        self.grid.setColumnMinimumWidth(4, 96)
        self.grid.setRowMinimumHeight(place, ROW)
        if act:
            spoken = words.say(f"app.sites.act.{act}_name", name=line.name)
            button = make_button(
                words.say(f"app.sites.act.{act}"),
                f"{act}-{place}",
                partial(self.pressed.emit, act, line.key),
                look="link",
                spoken=spoken,
            )
            self.grid.addWidget(button, place, 5, Qt.AlignmentFlag.AlignLeft | top)


def act_of(line: Line, part: str, has_study: bool) -> str:
    """Return what the link of a line does for whoever sits there: a coordinator decides who does what."""
    if part != COORDINATOR:
        return ""
    if not has_study:
        return "as_site" if line.part == HOLDER else "as_holder"
    return {"asked": "leave_out", "left_out": "take_in"}.get(line.state if line.part == "site" else "", "")


OPEN, FILE, SHIPPED, INVENTED = "open", "file", "shipped", "invented"
STAGES = {
    COORDINATOR: ("cards", "study", "shares", "masks", "result"),
    SITE: ("card", "study", "share", "sent"),
    HOLDER: ("card", "study", "roster", "mask", "sent"),
}
AT = {
    "few": "cards",
    "wait_study": "study",
    "stranger": "study",
    "wait_roster": "roster",
    "roster": "masks",
    "round": "shares",
    "done": "",
    "sent": "",
}
"""The stage of what comes next, where it has another name; nothing once all is done."""
ACTS = ("card", "study", "share", "roster", "mask", "round", "result")
"""What comes next and is done here, by the button of the footer."""
OTHERS = frozenset({"few", "shares", "masks", "wait_study", "wait_roster", "sent"})
"""What comes next and is done by somebody else."""


def _played(who: str) -> str:
    """Return what somebody who is played in training calls themselves; nothing where nobody is."""
    return words.say(f"app.sites.played.{who.casefold()}") if who else ""


def _asked(standing: Standing) -> str:
    """Return what names the study of a folder; empty where there is none yet."""
    return "" if standing.files.study is None else standing.files.study.id


class SitesPage(Page):
    """Beside the steps. What is filled in lies in the fields, everything else in the folder."""

    id = "sites"

    def build(self) -> None:
        self.desk, self.standing = Desk(), None  # type: Desk, Standing | None
        self.folders: dict[str, Path] = {}  # by part
        self.holders: set[str] = set()  # keys of cards that a coordinator takes for those of holders
        self.without: set[str] = set()
        self.files: dict[str, Path] = {}  # chosen here: the plan of a study, the table of a site
        self.verify = VerifyCard()
        self.verify.button.clicked.connect(lambda checked=False: self._verify())
        parts = (self._build_parts(), self._build_next(), self._build_form())
        add(self.body, *parts, self.verify, self._build_members())
        self.trust = name_widget(BehindLink(words.say("app.sites.trust")), "trust")
        self.views = ViewStack(self.runner, lambda widget, place: self.topic(widget, "trust"), stays=False)
        self.trust.body.addWidget(self.views)
        add(self.body, self.trust, STRETCH)

    def _build_parts(self) -> QWidget:
        """Who somebody is, where the files lie, and training."""
        whole = QWidget()
        self.group, line = QButtonGroup(self), Wrapping(spacing=8)
        self.parts: dict[str, QPushButton] = {}
        for part in PARTS:
            said = words.say(f"app.sites.i_am.{part}")
            button = make_button(said, f"part-{part}", look="chip", checkable=True)
            button.clicked.connect(lambda checked=False, part=part: self._sit(part))
            self.group.addButton(button)
            line.addWidget(button)
            self.parts[part] = button
            self.topic(button, part)
        self.training = name_widget(QCheckBox(words.say("app.sites.training")), "training")
        self.training.toggled.connect(self._train)
        self.topic(self.training, "training")
        self.who = make_choice("who", words.say("app.sites.who"), lambda place: self._play(), width=420)
        for who, part in TRAINING.items():
            self.who.addItem(
                words.say("app.sites.plays", name=_played(who), part=words.say(f"app.sites.part_{part}")), who
            )
        line.addWidget(self.training)
        line.addWidget(self.who)
        self.where = name_widget(Prose(tone="quiet"), "where")
        said = words.say("app.sites.choose_folder")
        self.choose = make_button(said, "choose-folder", self._ask_folder)
        self.read = make_button(words.say("app.sites.read"), "read-file", self._ask_file)
        self.again = make_button(words.say("app.sites.again"), "look-again", self._look, look="link")
        for button in (self.choose, self.read, self.again):
            self.topic(button, "folder")
        folder = make_row(self.choose, self.read, self.again, (self.where, 1), spacing=8)
        make_column(line, folder, inside=whole, spacing=10, margins=0)
        return whole

    def _build_next(self) -> Card:
        self.next_card = name_widget(Card(words.say("app.sites.next.heading"), tone="accent"), "next-step")
        self.stages = name_widget(Prose(tone="quiet"), "stages")
        self.next_title = name_widget(Heading(size="side"), "next-title")
        self.next_body = name_widget(Prose(), "next-body")
        said = words.say("app.sites.copy")
        self.copy = make_button(said, "copy-file", self._ask_copy)
        self.topic(self.copy, "folder")
        self.wrong = name_widget(Prose(tone="wrong"), "wrong-files")
        add(self.next_card.body, self.stages, 2, self.next_title, self.next_body)
        add(self.next_card.body, align_left(self.copy), self.wrong)
        return self.next_card

    def _build_form(self) -> Card:
        self.form = Card()
        self.fields: dict[str, QLineEdit] = {}
        self.labels: dict[str, QWidget] = {}
        for name in ("name", "register", "epsilon"):
            said = words.say(f"app.sites.field.{name}")
            field = make_field(f"sites-{name}", said, most=100, width=420)
            field.textChanged.connect(lambda text: self.frame.update_frame())
            self._line(name, said, field)
            self.fields[name] = field
        self.unit = make_choice("sites-unit", words.say("app.sites.field.unit"), width=420)
        for unit in ("person", "row"):
            self.unit.addItem(words.say(f"app.sites.unit.{unit}"), unit)
        self._line("unit", words.say("app.sites.field.unit"), self.unit)
        self.plan = make_choice("plan-of-study", words.say("app.sites.field.plan"), self._chosen, width=420)
        self._line("plan", words.say("app.sites.field.plan"), self.plan)
        self.table = make_choice("table-of-site", words.say("app.sites.field.table"), self._chosen, width=420)
        self._line("table", words.say("app.sites.field.table"), self.table)
        self.pick = make_button(words.say("app.sites.pick"), "pick-file", self._ask_pick)
        self.picked = name_widget(Prose(tone="quiet"), "picked")
        self.attempt = make_button(words.say("app.sites.try"), "try-share", self._try, look="link")
        self.topic(self.attempt, "try")
        self.secret = SigningSecret()
        self.tried = name_widget(Prose(tone="accent"), "tried")
        add(self.form.body, make_row(self.pick, (self.picked, 1), spacing=10), align_left(self.attempt))
        add(self.form.body, self.tried, self.secret)
        return self.form

    def _line(self, name: str, said: str, field: QWidget) -> None:
        label = make_label(said, pixels=12, tone="quiet", buddy=field)
        add(self.form.body, label, field)
        self.topic(field, f"field.{name}")
        self.labels[name] = label

    def _build_members(self) -> Members:
        self.members = Members()
        self.members.ticked.connect(self._tick)
        self.members.pressed.connect(self._act)
        return self.members

    # --- where somebody sits -----------------------------------------------------------------------

    def opened(self) -> None:
        if self.standing is None:
            self._sit(self.desk.part)
        else:
            self._look()

    def _sit(self, part: str) -> None:
        """Take a seat outside training."""
        folder = self.folders.get(part) or self.frame.settings.sites_folder(part)
        self._take_seat(Desk(part, folder, self.study.ledger_path))

    def _take_seat(self, desk: Desk) -> None:
        self.desk, self.standing = desk, None
        self.files.clear()
        self.parts[desk.part].setChecked(True)
        self.tried.say("")
        self.verify.forget()
        register = _played(desk.who) or self.study.plan.holding
        texts = {"name": _played(desk.who), "register": register, "epsilon": str(BUDGET) if desk.who else ""}
        for name, field in self.fields.items():
            field.setText(texts[name])
        self._offer()
        self._look()

    def _train(self, on: bool) -> None:
        """Play all parts on this computer, or sit at one's own desk again."""
        self.holders, self.without = set(), set()
        if on:
            self.folders[""] = train(self.frame.data or data_folder())
            self.who.setCurrentIndex(0)
            self._play()
        else:
            self._sit(self.desk.part)

    def _play(self) -> None:
        self._take_seat(training_desk(self.folders[""], self.who.currentData()))

    def _ask_folder(self) -> None:
        ask_file(self, words.say("app.sites.choose_folder"), self.choose_folder, folder=True)

    def choose_folder(self, path: str) -> None:
        """Use a folder for the files of a study from now on."""
        self.folders[self.desk.part] = Path(path)
        self.frame.settings.remember_sites(self.desk.part, path)
        self.holders, self.without = set(), set()
        self._take_seat(replace(self.desk, folder=Path(path)))

    def _look(self) -> None:
        """See what lies in the folder now; before one is chosen there is nothing to see."""
        if self.desk.folder is None:
            self.enter()
            self.frame.update_frame()
            return
        self.work(
            look,
            self.desk,
            tuple(self.without),
            tuple(self.holders),
            done=self._looked,
            doing=words.say("app.sites.looking"),
            slot="sites-look",  # never in the place of a share that is being made
            stoppable=False,
        )

    def _looked(self, found: Standing) -> None:
        if self.desk.folder is None:  # somebody sits elsewhere by now
            return
        before, self.standing = self.standing, found
        if before is not None and _asked(before) != _asked(found):
            self.tried.say("")  # it was of another study, or of another round of it
        if found.files.study is not None and self.desk.who and found.next.id == "share":
            self._invent(found)
        self.views.show_views(found.views)
        self.enter()
        self.frame.update_frame()

    def _invent(self, found: Standing) -> None:
        try:
            self.files["table"] = invented_table(self.desk, found)
        except EngineError as error:
            self.refuse(error)

    # --- showing -----------------------------------------------------------------------------------

    @property
    def step(self) -> str:
        """The id of what comes next; empty until that is known."""
        return self.standing.next.id if self.standing is not None else ""

    def enter(self) -> None:
        plays, step = bool(self.desk.who), self.step
        for button in self.parts.values():
            button.setVisible(not plays)
        self.who.setVisible(plays)
        self.choose.setVisible(not plays)
        self.read.setEnabled(self.desk.folder is not None)
        self.read.setVisible(not plays)
        self.again.setVisible(self.desk.folder is not None and not plays)
        folder = self.desk.folder
        self.where.setVisible(not plays)
        name = "no_folder" if folder is None else "folder"
        self.where.say(words.say(f"app.sites.{name}", folder="" if folder is None else folder.name))
        for part in (self.next_card, self.members):
            part.setVisible(bool(step))
        self.trust.setVisible(self.standing is not None and bool(self.standing.views))
        self._show_form(step)
        self.verify.setVisible(self._made() is not None)
        if self.standing is not None and step:
            self._show_next(self.standing)
            has_study = self.standing.files.study is not None
            acts = [act_of(one, self.desk.part, has_study) for one in self.standing.lines]
            self.members.show_lines(self.standing.lines, acts)

    def _show_next(self, now: Standing) -> None:
        stages = [one for one in STAGES[self.desk.part] if one != "masks" or self._hides(now)]
        at = AT.get(now.next.id, now.next.id)
        if now.next.id == "compare":
            at = "share" if self.desk.part == SITE else "mask"
        place = stages.index(at) if at in stages else len(stages)
        names = [words.say(f"app.sites.stage.{one}") for one in stages]
        marked = [f"✓ {one}" for one in names[:place]]
        marked += [f"**{place + 1} {names[place]}**"] if place < len(names) else []
        marked += [f"{number} {one}" for number, one in enumerate(names[place + 1 :], start=place + 2)]
        self.stages.say("  ·  ".join(marked))
        base = f"app.sites.next.{self.desk.part}.{now.next.id}"
        sent = now.next.send
        values = {"file": "" if sent is None else sent.name, "names": ", ".join(now.next.names)}
        values["epsilon"] = "" if now.epsilon is None else level(now.epsilon, up=True)
        values["title"] = "" if now.files.study is None else now.files.study.called
        self.next_title.setText(words.say(f"{base}.title", **values))
        told = [words.say(f"{base}.body", **values)]
        study = now.files.study
        if now.next.id == "share" and study is not None and study.rounds > 1:
            whole = level(study.budget.epsilon, up=True)
            told.append(words.say("app.sites.rounds", round=study.round, rounds=study.rounds, epsilon=whole))
        if self.desk.who and now.next.id in OTHERS:
            told.append(words.say("app.sites.others_turn"))
        self.next_body.say("\n\n".join(told))
        self.copy.setVisible(sent is not None and not self.desk.who)
        said = [" ".join(words.explain(one)) for one in now.files.refused]
        self.wrong.say("\n\n".join(said))
        self.wrong.setVisible(bool(said))

    def _hides(self, now: Standing) -> bool:
        """Say whether anybody holds a key, or shall."""
        study = now.files.study
        return bool(self.holders) if study is None else bool(study.holders)

    def _show_form(self, step: str) -> None:
        part = self.desk.part
        asked = {
            "card": ("name", "register", "epsilon", "unit") if part == SITE else ("name",),
            "study": ("name", "plan"),
            "share": ("table",),
        }.get(step, ())
        choice = {"study": self.plan, "share": self.table}.get(step)
        fields = {**self.fields, "unit": self.unit, "plan": self.plan, "table": self.table}
        for name, field in fields.items():
            field.setVisible(name in asked)
            self.labels[name].setVisible(name in asked)
        picks = choice is not None and choice.currentData() == FILE
        self.pick.setVisible(picks)
        chosen = self.files.get("plan" if choice is self.plan else "table")
        self.picked.setVisible(picks and chosen is not None)
        self.picked.say("" if chosen is None else chosen.name)
        tries = step in ("study", "share")
        self.attempt.setText(words.say("app.sites.compare" if step == "study" else "app.sites.try"))
        self.attempt.setVisible(tries)
        self.tried.setVisible(tries and bool(self.tried.plain()))
        self.form.setVisible(bool(asked) or not self.secret.isHidden())

    def _offer(self) -> None:
        """Offer the plan and the table that are open, a file, and in training what is invented."""
        has_plan, has_table = bool(self.study.plan.method), self.study.table is not None
        plans = [*([SHIPPED] if self.desk.who else []), *([OPEN] if has_plan else []), FILE]
        tables = [INVENTED] if self.desk.who else [*([OPEN] if has_table else []), FILE]
        for choice, base, offered in ((self.plan, "plans", plans), (self.table, "tables", tables)):
            choice.clear()
            for name in offered:
                choice.addItem(words.say(f"app.sites.{base}.{name}"), name)

    def _chosen(self, place: int) -> None:
        self.tried.say("")
        self.enter()
        self.frame.update_frame()

    # --- files that come and go --------------------------------------------------------------------

    def take_file(self) -> Callable[[str], None] | None:
        return self.take if self.desk.folder is not None and not self.desk.who else None

    def _ask_file(self) -> None:
        ask_file(self, words.say("app.sites.read"), self.take)

    def take(self, path: str) -> None:
        """Take a file that came into the folder; what it is, it says itself."""
        self.clear_notice()
        self.work(
            take_file,
            self.desk,
            Path(path),
            done=lambda found: self._look(),
            doing=words.say("app.sites.looking"),
            slot=f"sites-take-{path}",
            stoppable=False,
        )

    def _ask_copy(self) -> None:
        if self.standing is not None and self.standing.next.send is not None:
            sent = self.standing.next.send
            ask_file(self, words.say("app.sites.copy"), partial(self.copy_to, sent), writes=sent.name)

    def copy_to(self, sent: Path, place: str) -> None:
        """Copy the file that is to be sent to where somebody wants it."""
        try:
            shutil.copyfile(sent, place)
        except OSError as error:
            values = {"file": Path(place).name, "reason": error.strerror or ""}
            self.notify(*words.explain(EngineError("commands.not_writable", **values)), tone="wrong")
            return
        self.notify(words.say("app.sites.copied", file=Path(place).name), tone="accent")

    def _ask_pick(self) -> None:
        ask_file(self, words.say("app.sites.pick"), self.pick_file)

    def pick_file(self, path: str) -> None:
        """Use a file as the plan of the study, or as the table of the site."""
        self.files["table" if self.step == "share" else "plan"] = Path(path)
        self.tried.say("")
        self.enter()
        self.frame.update_frame()

    def _tick(self, key: str, name: str, is_so: bool) -> None:
        self.work(
            note_compared,
            self.desk,
            key,
            name,
            is_so,
            done=lambda found: self._look(),
            doing=words.say("app.sites.looking"),
            slot=f"sites-{key}",  # each tick is kept, however fast they follow each other
            stoppable=False,
        )

    def _act(self, act: str, key: str) -> None:
        """Do what the link of a line says."""
        assert self.standing is not None
        name = next(one.name for one in self.standing.lines if one.key == key)
        {
            "as_holder": lambda: self.holders.add(key),
            "as_site": lambda: self.holders.discard(key),
            "leave_out": lambda: self.without.add(name),
            "take_in": lambda: self.without.discard(name),
        }[act]()
        self._look()

    # --- what comes next ---------------------------------------------------------------------------

    def next_words(self) -> str:
        if self.step not in ACTS:
            return ""
        epsilon = self.standing.epsilon if self.standing is not None else None
        said = "" if epsilon is None else level(epsilon, up=True)
        return words.say(f"app.sites.do.{self.step}", epsilon=said)

    def shows_next(self) -> bool:
        return False

    def commits(self) -> str:
        return self.next_words() if self.step in ("share", "mask") else ""

    def waits(self) -> Text | None:
        name = self._lacks()
        return Text(f"app.sites.waits.{name}") if name else None

    def _lacks(self) -> str:
        """Return the name of what is not said yet; empty where nothing is missing."""
        fields = {"card": ("name", "register") if self.desk.part == SITE else ("name",), "study": ("name",)}
        choices = {"study": ("plan", self.plan), "share": ("table", self.table)}
        name, choice = choices.get(self.step, ("", None))
        if choice is not None and choice.currentData() == FILE and name not in self.files:
            return name
        for name in fields.get(self.step, ()):
            if not self.fields[name].text().strip():
                return name
        return ""

    def go_next(self) -> None:
        now, step = self.standing, self.step
        if now is None or step not in ACTS or self.runner.busy(self.id):
            return
        lacking = self._lacks()
        if lacking:
            where = self.fields.get(lacking, self.pick)
            self.hold_back((words.say(f"app.sites.waits.{lacking}"), "", where))
            return
        self.clear_notice()
        passphrase = self.secret.taken()
        desk, without = self.desk, tuple(sorted(self.without))
        if step == "card":
            more = {"epsilon": self.fields["epsilon"].text(), "unit": self.unit.currentData()}
            register = self._said("register") if desk.part == SITE else self._own_register()
            more = more if desk.part == SITE else {}
            self._do(write_card, desk, self._said("name"), register, passphrase=passphrase, **more)
        elif step == "study":
            self._write_study(passphrase)
        elif step == "share":
            self._do(
                make_share,
                desk,
                now,
                self.files.get("table"),
                self._open_plan(),
                passphrase=passphrase,
                language=words.language(),
                done=self._shared,
            )
        elif step == "roster":
            self._do(write_roster, desk, now, without, passphrase=passphrase)
        elif step == "mask":
            self._do(write_mask, desk, now, passphrase=passphrase)
        elif step == "round":
            self._do(write_round, desk, now, without, passphrase=passphrase)
        else:
            self._do(
                put_together, desk, now, without, passphrase=passphrase, language=words.language(),
                done=self._shared,
            )  # fmt: skip

    def _said(self, name: str) -> str:
        return self.fields[name].text().strip()

    def _own_register(self) -> str:
        """Return the register whose key signs for whoever is no site: it pays nothing."""
        return words.say("app.sites.own_register")

    def _open_plan(self) -> Plan | None:
        """Return the plan whose table is open, where that is the one that is meant."""
        return self.study.plan_as_read if self.table.currentData() == OPEN else None

    def _chosen_plan(self) -> Plan | None:
        """Return the plan that says what is asked; None where it cannot be read, which is said."""
        chosen = self.plan.currentData()
        try:
            if chosen == SHIPPED:
                return sample_study()
            return self.study.plan if chosen == OPEN else open_plan(self.files["plan"])
        except EngineError as error:
            self.refuse(error)
            return None

    def _write_study(self, passphrase: str) -> None:
        if (plan := self._chosen_plan()) is None:
            return
        self._do(
            write_study,
            self.desk,
            plan,
            self._said("name"),
            self._own_register(),
            tuple(self.holders),
            rehearsal=bool(self.desk.who),
            passphrase=passphrase,
        )

    def _do(
        self,
        function: Callable[..., Any],
        *given: Any,
        done: Callable[[Any], None] | None = None,
        **more: Any,
    ) -> None:
        """Do what comes next, then see what lies in the folder."""

        def finished(found: Any) -> None:
            self.secret.hide()
            if done is not None:
                done(found)
            self._look()

        self.work(
            function, *given, done=finished, failed=self._failed, doing=words.say("app.sites.doing"), **more
        )

    def _failed(self, error: Exception) -> None:
        self.secret.ask_after(error if isinstance(error, EngineError) else None)
        self.form.setVisible(self.form.isVisible() or not self.secret.isHidden())
        self.refuse(error)

    def _shared(self, found: Any) -> None:
        """A bundle was made: the ledger has another entry."""
        self.verify.forget()

    def _try(self) -> None:
        lacks = self._lacks()
        if self.standing is None or self.runner.busy(self.id) or lacks in ("plan", "table"):
            return
        self.clear_notice()
        if self.step == "study":
            if (plan := self._chosen_plan()) is not None:
                self.work(
                    compare_ways,
                    self.desk,
                    plan,
                    tuple(self.holders),
                    done=lambda found: self._show_tried(words.label(found)),
                    doing=words.say("app.sites.doing"),
                    slot="sites-try",
                )
            return
        self.work(
            try_share,
            self.desk,
            self.standing,
            self.files.get("table"),
            self._open_plan(),
            done=lambda numbers: self._show_tried(words.say("app.sites.tried", numbers=numbers)),
            doing=words.say("app.sites.doing"),
            slot="sites-try",
        )

    def _show_tried(self, said: str) -> None:
        self.tried.say(said)
        self.enter()

    # --- the bundle --------------------------------------------------------------------------------

    def _made(self) -> Path | None:
        """Return the bundle of whoever sits here, once it is made."""
        now = self.standing
        if now is None or now.files.study is None or self.desk.part == HOLDER:
            return None
        is_made = now.files.is_made(self.desk.part, now.own_name)
        return now.files.bundle(self.desk.part, now.own_name) if is_made else None

    def _verify(self) -> None:
        folder, fingerprints = self._made(), self.verify.known()
        if folder is None or fingerprints is None:
            return
        self.work(
            check_bundle,
            folder,
            ledger_path=self.desk.ledger_path,
            fingerprints=fingerprints,
            done=self.verify.show_verification,
            doing=words.say("app.sites.doing"),
            slot="sites-verify",
        )


PAGE = SitesPage
