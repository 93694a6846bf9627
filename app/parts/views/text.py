"""Paragraphs."""

from __future__ import annotations

from app import words
from app.parts.prose import Prose
from engine.views import TextView


class TextWidget(Prose):
    """All paragraphs of a text view."""

    def __init__(self, view: TextView, runner: object = None) -> None:
        super().__init__("\n\n".join(words.label(paragraph) for paragraph in view.paragraphs))
