"""Keeping settings to be compared: two links above a form."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QPushButton, QWidget

from app import words
from app.parts.making import add, make_button, make_row
from app.work.comparing import variants


class CandidateLinks(QWidget):
    """Two links; ``said`` tells how many candidates there are now."""

    said = Signal(str)

    def __init__(self, study: Any) -> None:
        super().__init__()
        self.study = study
        line = make_row(inside=self, spacing=20, margins=0)
        self.keep = self._link("keep", "keep-candidate", self._keep)
        self.usual = self._link("usual", "usual-candidates", self._keep_usual)
        add(line, self.keep, self.usual)

    def _link(self, text: str, name: str, act: Callable[[], None]) -> QPushButton:
        return make_button(words.say(f"app.method.{text}"), name, lambda: act(), look="link")

    def renew(self, method: Any) -> None:
        """Offer what a method has."""
        for link in (self.keep, self.usual):
            link.setEnabled(not self.study.problems())
        self.usual.setVisible(method is not None and bool(method.variants))

    def _keep(self) -> None:
        """Keep these settings beside those that are filled in from now on."""
        plan = self.study.plan
        self._add([{"method": plan.method, "parameters": dict(plan.parameters)}], "kept")

    def _keep_usual(self) -> None:
        """Put what the method proposes beside these settings."""
        self._add(variants(self.study.plan), "usual_kept")

    def _add(self, further: Any, said: str) -> None:
        kept = self.study.plan.candidates
        plan = replace(self.study.plan, candidates=kept)
        known = [(one.method, one.settings) for one in plan.candidate_plans()[1:]]
        tried = [(one, replace(plan, candidates=(), **one)) for one in further]
        new = [one for one, its in tried if (its.method, its.settings) not in known]
        if new:
            self.study.decide(candidates=(*kept, *new))
        self.said.emit(words.say(f"app.method.{said}", count=len(self.study.plan.candidates)))
