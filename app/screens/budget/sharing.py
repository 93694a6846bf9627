"""How many releases shall share a register: asked once, so that its budget lasts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from PySide6.QtCore import Signal

from app import words
from app.parts.cards import Card, row
from app.parts.exact_field import ExactField
from app.parts.making import add, make_button, make_label, name_widget
from app.parts.prose import Prose
from app.state.holdings import Holdings
from app.words.money import level
from engine.release.plan import Plan

MOST = 10_000


@dataclass(frozen=True)
class Shared:
    """A register and how many releases shall share it.

    Parameters
    ----------
    name
        Of the register.
    left
        What its releases may still spend.
    made
        How many there are already.
    wanted
        How many there shall be in all; None while nobody said.
    """

    name: str
    left: Fraction
    made: int
    wanted: int | None

    @property
    def share(self) -> Fraction | None:
        """What each release that is still to come may spend, if all spend the same, in thousandths.

        Examples
        --------
        >>> Shared("Register", Fraction(3, 2), 1, 4).share, Shared("Register", Fraction(2), 0, None).share
        (Fraction(1, 2), None)
        >>> Shared("Register", Fraction(1), 5, 4).share, Shared("Register", Fraction(1), 0, 3).share
        (Fraction(1, 1), Fraction(333, 1000))
        """
        if self.wanted is None:
            return None
        each = self.left / max(self.wanted - self.made, 1)
        short = Fraction(int(1000 * each), 1000)  # never more than there is
        return short or each


def shared(plan: Plan, registers: Holdings, wanted: Mapping[str, int]) -> Shared | None:
    """Return how the register of a plan is shared; None where it has no budget."""
    name = plan.holding.strip()
    status = registers.paying(plan)
    many = wanted.get(name.casefold())
    if status is not None:
        whole = status.holding.epsilon
        return None if whole is None else Shared(name, status.epsilon_left, status.releases, many)
    budget = plan.holding_budget
    return None if not name or budget is None else Shared(name, budget.epsilon, 0, many)


class SharingCard(Card):
    """``decided`` tells how many releases shall share the register, ``taken`` the level of one of them."""

    decided = Signal(int)
    taken = Signal(object)

    def __init__(self) -> None:
        super().__init__(words.say("app.budget.sharing.heading"))
        self.setObjectName("sharing")
        self.said = name_widget(Prose(), "sharing-said")
        label = words.say("app.budget.sharing.many")
        self.many = ExactField(label, smallest=1, largest=MOST, whole=True, width=70)
        self.many.setObjectName("sharing-many")
        self.many.decided.connect(lambda number: self.decided.emit(int(number or 0)))
        self.take = make_button("", "take-share", self._take)
        add(
            self.body,
            self.said,
            row(make_label(label, pixels=12, tone="quiet", buddy=self.many), self.many, self.take),
        )
        self._share: Fraction | None = None

    def show_shared(self, found: Shared | None, epsilon: Fraction | None) -> None:
        """Show how a register is shared; ``epsilon`` is what this release would spend."""
        self.setVisible(found is not None)
        if found is None:
            return
        self._share = found.share
        self.many.show_number(found.wanted)
        self.take.setVisible(self._share is not None and self._share > 0 and self._share != epsilon)
        values = {"holding": found.name, "left": level(found.left, down=True), "made": found.made}
        if self._share is None:
            self.said.set_tone("")
            self.said.say(words.say("app.budget.sharing.asked", **values))
            return
        written = level(self._share, down=True)
        self.take.setText(words.say("app.budget.sharing.take", epsilon=written))
        is_more = epsilon is not None and epsilon > self._share
        name = "more" if is_more else "each"
        values |= {"share": written, "wanted": found.wanted, "epsilon": level(epsilon or 0, up=True)}
        self.said.set_tone("care" if is_more else "")
        self.said.say(words.say(f"app.budget.sharing.{name}", **values))

    def _take(self) -> None:
        if self._share is not None:
            self.taken.emit(self._share)
