"""One row of a person for each value of a column, kept by lot: a person is in one place at a time."""

from __future__ import annotations

from engine.methods.protocol import Method, SlotOf
from engine.methods.shared.cells import Extra, LevelAxis


class Slotted(Method):
    """A method with an optional parameter ``slot``, a column with declared values."""

    @property
    def slot(self) -> str | None:
        """The column of which a person has one row for each value, where that is asked for."""
        return self.request.values.get("slot")

    @property
    def slot_of(self) -> SlotOf | None:
        return None if self.slot is None else self.slots.codes

    @property
    def slots(self) -> LevelAxis:
        """The slots: what was not declared, or is missing, is in one of them."""
        assert self.slot is not None
        return LevelAxis(self.schema.column(self.slot), Extra.TOGETHER)
