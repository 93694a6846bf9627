"""A table on a server: its address, then the tables that may be read. The password is written nowhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLabel, QLineEdit, QListWidget, QListWidgetItem, QWidget

from app import words
from app.parts.cards import Card
from app.parts.making import (
    STRETCH,
    add,
    ask_file,
    hidden,
    make_button,
    make_choice,
    make_column,
    make_field,
    make_grid,
    make_label,
    make_row,
    name_widget,
)
from app.parts.prose import Heading, Prose
from engine.table.dialects import DIALECTS, FIRST
from engine.table.dialects.dialect import Dialect

FIELDS = ("host", "port", "database", "user", "password", "ca")
MUST = ("host", "port", "database", "user")
ACROSS = 3
OWN_DATABASE = ("spark", "trino", "oracle")
"""Kinds of servers that call a database something else."""
NAME = Qt.ItemDataRole.UserRole


class ServerCard(Card):
    """``listed`` asks for the tables of a database, ``chosen`` tells one, ``left`` that none is wanted.

    The first two tell what `Address.of` reads, and the password.
    """

    listed = Signal(dict, str)
    chosen = Signal(dict, str)
    left = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(words.say("app.load.server.heading"), parent=parent)
        self.setObjectName("server")
        self._relation = ""  # of a plan that was opened: only its password is missing
        self.about = Prose(words.say("app.load.server.about"), tone="quiet")
        self.fields: dict[str, QLineEdit] = {}
        self.labels: dict[str, QLabel] = {}
        spoken = words.say("app.load.server.kind")
        self.kind = make_choice("server-kind", spoken, lambda place: self._kind_chosen())
        for one in DIALECTS.values():
            self.kind.addItem(one.name, one.kind)
        said = make_label(words.say("app.load.server.kind"), pixels=12, tone="quiet", buddy=self.kind)
        self.untried = hidden(Prose(tone="care"))
        grid = make_grid(across=16, down=4)
        for place, name in enumerate(FIELDS):
            field = make_field(f"server-{name}", secret=name == "password", most=300)
            field.setPlaceholderText(words.say(f"app.load.server.example.{name}"))
            field.textEdited.connect(lambda text: self._edited())
            field.returnPressed.connect(self._enter)
            label = make_label(words.say(f"app.load.server.{name}"), pixels=12, tone="quiet", buddy=field)
            field.setAccessibleName(label.text())
            self.labels[name] = label
            above, across = 2 * (place // ACROSS), place % ACROSS
            grid.addWidget(label, above, across)
            grid.addWidget(field, above + 1, across)
            grid.setColumnStretch(across, 1)
            self.fields[name] = field
        self.connect_to = make_button("", "server-connect", self._connect, look="primary")
        self.certificates = make_button(
            words.say("app.load.server.choose_ca"), "server-choose-ca", self._ask_ca, look="link"
        )
        self.back = make_button(words.say("app.load.server.back"), "server-back", self.left.emit, look="link")
        add(
            self.body,
            self.about,
            make_row(said, self.kind, STRETCH),
            self.untried,
            grid,
            make_row(self.connect_to, self.certificates, STRETCH, self.back),
        )
        self.found = hidden(QWidget())
        self.heading_found = Heading(size="card")
        self.relations = name_widget(
            QListWidget(), "server-relations", words.say("app.load.server.relations")
        )
        self.relations.setMinimumHeight(120)
        self.relations.setSpacing(4)
        self.relations.itemActivated.connect(lambda item: self._open())
        self.relations.currentItemChanged.connect(lambda now, before: self._enable())
        self.open_table = make_button(
            words.say("app.load.server.open"), "server-open", self._open, look="primary"
        )
        line = make_row(self.open_table, STRETCH)
        make_column(self.heading_found, self.relations, line, inside=self.found, spacing=8, margins=0)
        add(self.body, (self.found, 1000), STRETCH)
        self._kind_chosen()

    def show_address(self, address: Any) -> None:
        """Show where the table of a plan is; its password is asked for anew."""
        self.kind.setCurrentIndex(self.kind.findData(address.kind))
        self._kind_chosen()
        for name in ("host", "database", "user", "ca"):
            self.fields[name].setText(getattr(address, name))
        self.fields["port"].setText(str(address.port))
        self._relation = address.relation
        self.found.hide()
        self._enable()

    def show_relations(self, relations: Sequence[tuple[str, int]]) -> None:
        """Show the tables that the user may read."""
        self.relations.clear()
        for name, rows in relations:
            about = words.say("app.load.server.rows", rows=rows) if rows >= 0 else ""
            item = QListWidgetItem(f"{name}   {about}".rstrip())
            item.setData(NAME, name)
            self.relations.addItem(item)
        values = {"count": len(relations), "user": self.fields["user"].text()}
        self.heading_found.setText(words.say("app.load.server.found", **values))
        self.found.show()
        self.relations.setCurrentRow(0 if relations else -1)
        self.relations.setFocus(Qt.FocusReason.OtherFocusReason)
        self._enable()

    def forget_password(self) -> None:
        """Take the password out of its field."""
        self.fields["password"].clear()
        self._enable()

    @property
    def dialect(self) -> Dialect:
        """The kind of server that is chosen."""
        return DIALECTS[self.kind.currentData() or FIRST]

    def _kind_chosen(self) -> None:
        """Ask for what servers of a kind want; the port is the usual one until another is typed."""
        chosen, port = self.dialect, self.fields["port"].text().strip()
        if not port or port in {str(one.port) for one in DIALECTS.values()}:
            self.fields["port"].setText(str(chosen.port))
        database = f"database_{chosen.kind}" if chosen.kind in OWN_DATABASE else "database"
        asked = {"database": database, "password": "password" if chosen.needs_password else "password_open"}
        for name, text in asked.items():
            self.labels[name].setText(words.say(f"app.load.server.{text}"))
            self.fields[name].setAccessibleName(self.labels[name].text())
        self.untried.say("" if chosen.is_tried else words.say("app.load.server.untried", name=chosen.name))
        self.untried.setVisible(not chosen.is_tried)
        self._edited()

    def _edited(self) -> None:
        """Another address has other tables."""
        self.found.hide()
        self._enable()

    def _enable(self) -> None:
        must = (*MUST, "password") if self.dialect.needs_password else MUST
        written = all(self.fields[name].text().strip() for name in must)
        self.connect_to.setEnabled(written and self.fields["port"].text().strip().isdecimal())
        name = "open_again" if self._relation else "connect"
        self.connect_to.setText(words.say(f"app.load.server.{name}", relation=self._relation))
        self.open_table.setEnabled(self.relations.currentItem() is not None)

    def _address(self, relation: str) -> dict[str, Any]:
        """Return what stands in the fields, as in a file that names a server."""
        said: dict[str, Any] = {
            name: self.fields[name].text().strip() for name in ("host", "database", "user")
        }
        more = {"ca": self.fields["ca"].text().strip()} if self.fields["ca"].text().strip() else {}
        port = int(self.fields["port"].text())
        return {"kind": self.dialect.kind, **said, "port": port, "relation": relation, **more}

    def _enter(self) -> None:
        if self.connect_to.isEnabled():
            self._connect()

    def _connect(self) -> None:
        tells = self.chosen if self._relation else self.listed
        tells.emit(self._address(self._relation or "-"), self.fields["password"].text())

    def _open(self) -> None:
        item = self.relations.currentItem()
        if item is not None:
            self.chosen.emit(self._address(item.data(NAME)), self.fields["password"].text())

    def _ask_ca(self) -> None:
        ask_file(self, words.say("app.load.server.choose_ca"), self.fields["ca"].setText)
