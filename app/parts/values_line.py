"""One line: how far the values of all rows are known, where the screens have a sample; Stop, or once more."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from app import words
from app.parts.making import add, make_button, make_row, name_widget
from app.parts.prose import Prose
from app.state.study import Study
from app.work.jobs import JobRunner
from app.work.values import KNOWN, READING, REFUSED, SLOT, start_values


class ValuesLine(QWidget):
    """Hidden where all rows are here."""

    def __init__(self, study: Study, runner: JobRunner, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._study, self._runner = study, runner
        self.said = name_widget(Prose(tone="quiet", pixels=12), "values-said")
        self.button = make_button("", "values-act", self._act, look="link")
        add(make_row(inside=self, margins=0), (self.said, 1), (self.button, 0, Qt.AlignmentFlag.AlignTop))
        self.hide()

    def show_values(self) -> None:
        """Show how it stands."""
        values = self._study.result(SLOT)
        self.setVisible(values is not None)
        if values is None:
            return
        said = {"share": values.percent, "known": values.known, "columns": values.columns}
        is_all = values.state == KNOWN and values.known == values.columns
        text = words.say(
            "app.window.values.known_all" if is_all else f"app.window.values.{values.state}", **said
        )
        if values.state == REFUSED and values.error is not None:
            text = f"{text} {words.explain(values.error)[0]}"
        self.said.say(text)
        self.button.setVisible(values.state != KNOWN)
        self.button.setText(words.say(f"app.window.values.{'stop' if values.state == READING else 'again'}"))

    def _act(self) -> None:
        if self._runner.busy(SLOT):
            self._runner.stop(SLOT)
        elif self._study.result("looked") is not None:
            start_values(self._study, self._runner)
