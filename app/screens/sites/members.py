"""Who takes part in a study: a line each, with a tick for the fingerprint and what is waited for."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QLabel

from app import words
from app.parts.cards import Card
from app.parts.making import empty, make_button, make_grid, make_label, name_widget
from app.parts.prose import Heading, Prose, name_label
from app.theme import mono_font, text_font
from app.work.sites import COORDINATOR, HOLDER, Line

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
