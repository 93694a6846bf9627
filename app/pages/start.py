"""Start: what will be asked, what stays here, and where to begin."""

from __future__ import annotations

from app.pages.base import Page


class StartPage(Page):
    """The first screen."""

    id = "start"

    def build(self) -> None:
        self.body.addStretch(1)


PAGE = StartPage
