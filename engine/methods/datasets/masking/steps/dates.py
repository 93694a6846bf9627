"""All days of a person moved by one secret number of days."""

from __future__ import annotations

import numpy as np

from engine.methods import option
from engine.methods.datasets.masking.step import COLUMNS, Before, MaskingStep, Options, Told, Wrong
from engine.methods.datasets.masking.working import Form, Working


class ShiftDates(MaskingStep):
    """The named days of a person move by the same number of days, so that intervals stay exact.

    Notes
    -----
    The number is drawn once for each person, all from −most to +most equally likely, and kept nowhere.
    Whoever knows one true day of a person knows all others.
    """

    id = "shift_dates"
    fields = (
        COLUMNS,
        option.integer(name="most_days", minimum=1, maximum=36_500),
        option.boolean(name="whole_weeks", default=False),
    )
    reads = (Form.DAYS,)

    def wrong(self, options: Options, before: Before) -> Wrong | None:
        if any(step["step"] == self.id for step in before.later):
            return Wrong("shifted_twice")
        if options["whole_weeks"] and options["most_days"] < 7:
            return Wrong("no_week")
        touched = {name for step in (*before.earlier, *before.later) for name in before.changes(step)}
        exact = [
            name
            for name, form in before.forms.items()
            if form is Form.DAYS and name not in options["columns"] and name not in touched
        ]
        return Wrong("exact_day", {"column": exact[0]}) if exact else None

    def apply(self, working: Working, options: Options) -> Told:
        person = working.people
        every = 7 if options["whole_weeks"] else 1
        most = options["most_days"] // every
        moved = working.chance.integers(-most, most + 1, int(person.max(initial=-1)) + 1) * every
        offset = moved[person].astype("timedelta64[D]")
        for name in options["columns"]:
            working.set(name, np.asarray(working.days(name) + offset))
        return Told()
