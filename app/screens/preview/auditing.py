"""The audit of a model's noise before anything is spent: asked for on the preview, of the plan in view."""

from __future__ import annotations

from typing import Any

from app import words
from app.parts.cards import Card, row
from app.parts.making import add, make_button, name_widget
from app.parts.prose import Prose
from app.state.study import Study
from engine.methods.protocol import Family
from engine.progress import SILENT, Progress
from engine.release.plan import Plan


def audit(plan: Plan, *, progress: Progress = SILENT) -> Any:
    """Return what the noise of a plan spends on rows made up from its declarations."""
    from engine.analyses.noise_audit import NoiseAudit  # on first use: it brings the methods along

    return NoiseAudit().of_plan(plan.design, progress=progress)


class AuditCard(Card):
    """A button, and afterwards the answer for the plan that it was asked about."""

    def __init__(self) -> None:
        super().__init__(words.say("app.preview.audit.heading"))
        self.setObjectName("audit")
        self.told = name_widget(Prose(), "audit-told")
        self.ask = make_button(words.say("app.preview.audit.ask"), "audit-ask", look="link")
        add(self.body, self.told, row(self.ask))
        self._of: Plan | None = None

    def show_study(self, study: Study) -> None:
        """Offer the audit where a model is made; an answer about another plan is taken away."""
        self.setVisible(study.method is not None and study.method.family is Family.MODEL)
        if study.plan != self._of:
            self._of = study.plan
            self.setProperty("card", "")
            self.told.say(words.say("app.preview.audit.what"))

    def show_answer(self, plan: Plan, answer: Any) -> None:
        """Show the sentences of an answer, unless the plan is another by now."""
        if plan == self._of:
            (sentences,) = answer.views
            self.setProperty("card", "care" if answer.figures["too_little_noise"] else "")
            self.told.say("\n\n".join(map(words.label, sentences.paragraphs)))
