"""For experts: the constant c, its calibration, minimum, δ, relation, fines, incident, a second model."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QGridLayout, QLabel, QWidget

from app import words
from app.parts.cards import Card, Rule
from app.parts.exact_field import ExactField, three_digits
from app.parts.making import add, make_button, make_choice, make_column, make_grid, make_label, name_widget
from app.parts.prose import Heading, Prose
from app.parts.roles import Role
from engine.pricing.statement import cost_of
from engine.privacy.promise import Neighbours
from engine.release.plan import Plan

PRICE_FIELDS = ("curvature", "minimum", "bound", "fine", "incident")
POSITIVE = ("curvature", "bound")
RANGES = ("curvature", "people", "compensation")


class BudgetFurther(Card):
    """Folded away until asked for. Every change has a signal of its own."""

    priced = Signal(str, object)  # field of Price, Fraction or None
    delta_decided = Signal(object)
    relation_decided = Signal(object)
    calibrated = Signal(object, object)  # ε and the accepted share
    uncertain = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.setObjectName("further-budget")
        self.body.setContentsMargins(16, 8, 16, 8)
        self.toggle = make_button(
            words.say("app.budget.further"), "further-toggle", look="link", checkable=True
        )
        self.toggle.toggled.connect(self._fold)
        self.body.addWidget(self.toggle, 0, Qt.AlignmentFlag.AlignLeft)
        self.part = QWidget()
        column = make_column(inside=self.part, spacing=14, margins=(0, 4, 0, 8))
        self.fields: dict[str, ExactField] = {}
        add(column, self._build_fields(), self._build_calibration())
        self.relation = make_choice("relation", words.say("app.budget.field.relation"), width=520)
        for one in Neighbours:
            self.relation.addItem(words.say(f"app.budget.relation.{one}"), one.value)
        self.relation.activated.connect(
            lambda place: self.relation_decided.emit(Neighbours(self.relation.itemData(place)))
        )
        related = make_column(_label("relation", self.relation), self.relation, spacing=4)
        self.band = name_widget(QCheckBox(words.say("app.budget.show_band")), "show-band")
        self.band.toggled.connect(self.uncertain.emit)
        add(column, related, self.band)
        self.ranges = self._build_ranges()
        self.band.toggled.connect(self.ranges.setVisible)
        self.note = Prose(words.say("app.budget.separate"), tone="quiet", pixels=12)
        self.second = SecondModel()
        add(column, self.ranges, self.note, self.second)
        self.body.addWidget(self.part)
        self.part.hide()

    def _build_fields(self) -> QGridLayout:
        grid = make_grid(across=16, down=4)
        names = ("curvature", "minimum", "bound", "delta", "fine", "incident")
        for place, name in enumerate(names):
            smallest = Fraction(1, 10**6) if name in POSITIVE else 0
            field = name_widget(
                ExactField(
                    words.say(f"app.budget.field.{name}"),
                    smallest=smallest,
                    largest=Fraction(1, 2) if name == "delta" else None,
                    money=name in ("fine", "incident", "minimum"),
                    width=120,
                ),
                f"field-{name}",
            )
            self.fields[name] = field
            line, side = 3 * (place // 3), place % 3
            grid.addWidget(_label(name, field), line, side)
            grid.addWidget(field, line + 1, side, Qt.AlignmentFlag.AlignLeft)
            grid.setColumnStretch(side, 1)
            if name == "delta":
                field.decided.connect(lambda value: self.delta_decided.emit(value or Fraction(0)))
            else:
                field.decided.connect(lambda value, name=name: self._price(name, value))
        grid.setRowMinimumHeight(2, 6)
        return grid

    def _build_calibration(self) -> QGridLayout:
        """c made from one point that can be defended: at this ε we accept this share of the liability."""
        grid = make_grid(across=8)
        self.at = ExactField(words.say("app.budget.calibrate_at"), smallest=Fraction(1, 1000), width=80)
        self.at.setObjectName("calibrate-at")
        self.share = ExactField(
            words.say("app.budget.calibrate_share"), smallest=Fraction(1, 1000), largest=100, width=80
        )
        self.share.setObjectName("calibrate-share")
        self._point: tuple[Fraction | None, Fraction | None] = (None, None)
        self.use = make_button(words.say("app.budget.calibrate"), "calibrate")
        self.use.clicked.connect(self._calibrate)
        grid.addWidget(Prose(words.say("app.budget.calibrate_at")), 0, 0)
        grid.addWidget(self.at, 0, 1)
        grid.addWidget(Prose(words.say("app.budget.calibrate_share")), 0, 2)
        grid.addWidget(self.share, 0, 3)
        grid.addWidget(self.use, 0, 4)
        grid.setColumnStretch(2, 1)
        return grid

    def _build_ranges(self) -> QWidget:
        """Smallest and largest value that are thought possible, for what is uncertain."""
        part = QWidget()
        grid = make_grid(part, across=8, down=4, margins=0)
        for line, name in enumerate(RANGES):
            grid.addWidget(Prose(words.say(f"app.budget.range.{name}")), line, 0)
            for side, end in enumerate(("low", "high")):
                spoken = words.say(f"app.budget.range.{end}", name=words.say(f"app.budget.range.{name}"))
                field = ExactField(spoken, smallest=Fraction(1, 10**6), money=name != "curvature", width=110)
                field.setObjectName(f"field-{name}_{end}")
                field.setPlaceholderText(words.say(f"app.budget.range.{end}_short"))
                place = f"{name}_{end}"
                field.decided.connect(lambda value, place=place: self.priced.emit(place, value))
                self.fields[place] = field
                grid.addWidget(field, line, 1 + side)
        grid.setColumnStretch(3, 1)
        part.hide()
        return part

    def show_plan(self, plan: Plan) -> None:
        """Show what was decided."""
        for name in (*PRICE_FIELDS, *(f"{name}_{end}" for name in RANGES for end in ("low", "high"))):
            self.fields[name].show_number(getattr(plan.price, name))
        cost = cost_of(plan.price) if plan.price.calibrated_share is not None else None
        if cost is not None:
            self.fields["curvature"].show_number(three_digits(float(cost.c)))
        self._show_point(plan.price.calibrated_epsilon, plan.price.calibrated_share)
        self.fields["delta"].show_number(plan.budget.delta if plan.budget is not None else None)
        relation = plan.budget.neighbours if plan.budget is not None else Neighbours.ADD_REMOVE
        self.relation.setCurrentIndex(self.relation.findData(Neighbours(relation).value))

    def _show_point(self, at: Fraction | None, share: Fraction | None) -> None:
        """Show the point that is defended, once: half of another one may be written already."""
        if (at, share) != self._point:
            self._point = (at, share)
            self.at.show_number(at)
            self.share.show_number(None if share is None else 100 * share)

    def unfold(self, field: str = "") -> None:
        """Open it, with the focus in a field."""
        self.toggle.setChecked(True)
        if field in self.fields:
            self.fields[field].setFocus()
        elif field == "calibrate":
            self.at.setFocus()

    def _fold(self, wanted: bool) -> None:
        self.part.setVisible(wanted)
        self.toggle.setText(words.say("app.budget.fewer" if wanted else "app.budget.further"))

    def _price(self, name: str, value: Fraction | None) -> None:
        defaults = {"curvature": Fraction(1), "minimum": Fraction(0)}
        self.priced.emit(name, defaults.get(name) if value is None else value)

    def _calibrate(self) -> None:
        at, share = self.at.number(), self.share.number()
        if at is not None and share is not None:
            self.calibrated.emit(at, share / 100)


class SecondModel(QWidget):
    """What another model of the price would decide. The keyboard reaches it, for its three texts."""

    SPOKEN_AS: ClassVar = Role.Grouping

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("second-model")
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        column = make_column(Rule(), 6, inside=self, spacing=4, margins=0)
        column.addWidget(Heading(words.say("app.budget.second.heading"), size="card"))
        self.prices = Prose()
        self.conclusion = Prose()
        add(column, self.prices, self.conclusion)
        self.hide()

    def show_model(self, prices: str, conclusion: str, tone: str = "") -> None:
        """Show both sentences; nothing while there is no price."""
        self.setVisible(bool(prices))
        self.prices.say(prices)
        self.conclusion.setVisible(bool(conclusion))
        self.conclusion.set_tone(tone)
        self.conclusion.say(conclusion)
        self.setAccessibleName(
            f"{words.say('app.budget.second.heading')}. {prices} {self.conclusion.plain()}"
        )


def _label(name: str, field: QWidget) -> QLabel:
    return make_label(words.say(f"app.budget.field.{name}"), pixels=12, tone="quiet", buddy=field)
