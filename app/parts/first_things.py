"""What is asked once: how numbers are typed, where registers live, a passphrase, a check of this computer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QLocale, QStorageInfo, Signal
from PySide6.QtWidgets import QWidget

from app import words
from app.parts.cards import Card, Fold
from app.parts.computer_card import ComputerCard
from app.parts.making import (
    STRETCH,
    add,
    align_left,
    hidden,
    make_button,
    make_choice,
    make_column,
    make_row,
    name_widget,
)
from app.parts.prose import Heading, Prose
from app.parts.reading_numbers import read_as_at
from app.parts.sealing import SealingSetUp
from app.state.settings import Settings, data_folder
from engine.errors import EngineError
from engine.policy import language_set, policy

COPIED = ("onedrive", "dropbox", "google drive", "nextcloud", "icloud", "owncloud", "seafile")
"""How the folders begin that a program copies to other computers."""
FAR = ("nfs", "cifs", "smb", "fuse.sshfs", "9p", "afs", "webdav", "davfs")
"""How the names of file systems begin that lie on another computer."""
MARKS = {"comma": ",", "point": ".", "ask": ""}
NAMED = 190  # pixels of the words at the left
GIGABYTE = 10**9


class Numbers(QWidget):
    """How an amount is read that may be two: as where the person lives, or by asking."""

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        self._settings = settings
        self.choice = make_choice("numbers", words.say("app.start.first.numbers"), lambda place: self.keep())
        for name in MARKS:
            self.choice.addItem(words.say(f"app.start.first.marks.{name}"), name)
        self.said = name_widget(Prose(tone="quiet"), "numbers-said")
        make_column(align_left(self.choice), self.said, inside=self, spacing=6, margins=0)

    def show_kept(self, *, proposes: bool) -> None:
        """Show how numbers are read now; where nobody has said it yet, ``proposes`` shows it as at home."""
        home = "comma" if QLocale.system().decimalPoint() == "," else "point"
        name = self._settings.get("numbers", home if proposes else "ask")
        self.choice.setCurrentIndex(self.choice.findData(name if name in MARKS else "ask"))
        self._say()

    def keep(self) -> None:
        """Read numbers so from now on."""
        name = str(self.choice.currentData())
        self._settings.set(numbers=name)
        read_as_at(MARKS[name])
        self._say()

    def _say(self) -> None:
        self.said.say(words.say(f"app.start.first.meant.{self.choice.currentData()}"))


class Language(QWidget):
    """In which language the window speaks: ``chosen`` with its code."""

    chosen = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.choice = make_choice("language", words.say("app.start.first.language"), self._choose)
        for code in words.languages():
            self.choice.addItem(words.language_name(code), code)
        self.choice.setCurrentIndex(self.choice.findData(words.language()))
        self.said = name_widget(Prose(tone="quiet"), "language-said")
        make_column(align_left(self.choice), self.said, inside=self, spacing=6, margins=0)
        reviewed = words.language() != words.languages()[0]
        self.said.setVisible(reviewed)
        if reviewed:
            self.said.say(words.say("app.start.first.reviewed", by=words.reviewed_by()))

    def _choose(self, place: int) -> None:
        code = str(self.choice.itemData(place))
        if code != words.language():
            self.chosen.emit(code)


class Place(Prose):
    """Where the registers live, and whether that is a good place."""

    def __init__(self, ledger: Callable[[], Path | None]) -> None:
        super().__init__()
        self.setObjectName("registers-place")
        self._ledger = ledger

    def show_place(self) -> None:
        """A folder that is copied elsewhere, or lies on another computer, is no place for registers."""
        try:
            ledger = self._ledger()
            folder = ledger.parent if ledger is not None else policy().registers or data_folder()
        except EngineError:  # rules that cannot be read; said below
            self.hide()
            return
        copied = next((one for one in folder.parts if one.casefold().startswith(COPIED)), "")
        there = next((one for one in (folder, *folder.parents) if one.exists()), folder)
        disk = QStorageInfo(str(there))
        kind = disk.fileSystemType().toStdString().casefold()
        is_far = kind.startswith(FAR) or str(folder).startswith(("\\\\", "//"))
        self.set_tone("care" if copied or is_far else "")
        name = "copied" if copied else "far" if is_far else "live"
        free = max(disk.bytesAvailable(), 0) // GIGABYTE
        self.say(words.say(f"app.start.registers_{name}", folder=str(folder), copied=copied, free=free))
        self.show()


class FirstThings(QWidget):
    """Alone on the first screen until it is ``answered``; below the other cards afterwards, folded."""

    answered = Signal()

    def __init__(
        self,
        settings: Settings,
        computer: ComputerCard,
        sealing: SealingSetUp,
        ledger: Callable[[], Path | None],
    ) -> None:
        super().__init__()
        self._settings, self._sealing = settings, sealing
        self.language, self.numbers, self.place = Language(), Numbers(settings), Place(ledger)
        asks_language = len(words.languages()) > 1 and not language_set()
        languages = {"language": _card("language", self.language)} if asks_language else {}
        self.cards = {
            **languages,
            "numbers": _card("numbers", self.numbers),
            "registers": _card("registers", self.place),
            "passphrase": _card("passphrase", sealing),
            "check": _card("check", computer),
        }
        self.fold = Fold(words.say("app.start.first.again"), "first-again")
        make_column(*self.cards.values(), inside=self.fold.form, spacing=10, margins=0)
        self.take = make_button(words.say("app.start.first.take"), "first-take", self._take, look="primary")
        self.take.setAutoDefault(True)  # Enter takes all
        self.skip = make_button(words.say("app.start.first.skip"), "first-skip", self._skip, look="link")
        self.ends = hidden(name_widget(QWidget(), "first-ends"))
        make_row(self.take, self.skip, STRETCH, inside=self.ends, spacing=14, margins=0)
        make_column(self.fold, self.ends, inside=self, spacing=14, margins=0)

    @property
    def is_asked(self) -> bool:
        """Whether nobody has answered or passed it by on this computer."""
        return not self._settings.get("began", False)

    def show_first(self, *, alone: bool, unfolded: bool) -> None:
        """Show everything, ``alone`` with what ends it; otherwise behind a link."""
        self.place.show_place()
        self.numbers.show_kept(proposes=alone)
        if alone:
            self._sealing.later.hide()  # to take all leaves it open, too
        self.fold.line.setVisible(not alone)
        self.ends.setVisible(alone)
        if alone or unfolded:
            self.fold.form.show()
            self.fold.line.setChecked(True)

    def _take(self) -> None:
        self.numbers.keep()
        self._end(answered_sealing=True)

    def _skip(self) -> None:
        self._end()

    def _end(self, **values: bool) -> None:
        self._settings.set(began=True, **values)
        self.fold.line.setChecked(False)
        self.answered.emit()


def _card(name: str, inside: QWidget) -> Card:
    """A thing that is asked: what it is at the left, what is answered beside it."""
    card = Card()
    card.setObjectName(f"first-{name}")
    card.body.setContentsMargins(16, 12, 16, 12)
    said = QWidget()
    said.setFixedWidth(NAMED)
    make_column(
        Heading(words.say(f"app.start.first.{name}"), size="card"),
        Prose(words.say(f"app.start.first.{name}_why"), tone="quiet", pixels=12),
        STRETCH,
        inside=said,
        spacing=4,
        margins=0,
    )
    add(card.body, make_row(said, (inside, 1), spacing=20))
    return card
