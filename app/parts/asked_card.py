"""What was asked of a server: where, as whom, how many bytes and rows, and every query as it was sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtWidgets import QPlainTextEdit, QWidget

from app import words
from app.parts.cards import Card, Fold
from app.parts.making import add, make_column, name_widget
from app.parts.prose import Prose
from app.theme import mono_font

HEIGHT = 220


class AskedCard(Card):
    """Hidden where nothing was asked. Person keys stand in no query that is shown."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(words.say("app.load.server.asked"), parent=parent)
        self.setObjectName("asked")
        self.said = name_widget(Prose(), "asked-said")
        self.fold = Fold(words.say("app.load.server.queries"), "asked-fold")
        self.queries = name_widget(QPlainTextEdit(), "asked-queries", words.say("app.load.server.queries"))
        self.queries.setReadOnly(True)
        self.queries.setFont(mono_font())
        self.queries.setFixedHeight(HEIGHT)
        self.queries.setTabChangesFocus(True)
        make_column(self.queries, inside=self.fold.form, margins=0)
        add(self.body, self.said, self.fold)
        self.hide()

    def show_asked(self, asked: Sequence[Mapping[str, Any]]) -> None:
        """Show what some connections were asked, see `Server.about`; hide where there was none."""
        self.setVisible(bool(asked))
        if not asked:
            return
        last = asked[-1]
        queries = [sql for one in asked for sql in (*one["opened"], *(two["sql"] for two in _told(one)))]
        self.said.say(
            words.say(
                "app.load.server.asked_said",
                address=last["address"],
                user=last["user"],
                connections=len(asked),
                queries=len(queries),
                sent=sum(one["sent"] for one in asked),
                received=sum(one["received"] for one in asked),
                rows=sum(two["rows"] for one in asked for two in _told(one)),
            )
        )
        self.queries.setPlainText("\n\n".join(f"{place}. {sql}" for place, sql in enumerate(queries, 1)))


def _told(one: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Return the queries of a connection that were answered with rows of the table."""
    found: Sequence[Mapping[str, Any]] = one.get("asked", ())
    return found
