"""All days of a person moved by one secret number of days."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pyarrow as pa

from engine.errors import InputRefused
from engine.methods import option
from engine.methods.datasets.masking.step import COLUMNS, ID, Before, MaskingStep, Options, Told, Wrong
from engine.methods.datasets.masking.working import Days, Form, Places, Texts, Working
from engine.table.cells import dates_of
from engine.table.patterns import PLACEHOLDER_DAYS

FEW_APART, FEW_TOGETHER = 5, 10
"""People with one day from which on it tells them: far from all other days; as a tenth of everybody."""
LOOKED_AT = 20_000
_WITHIN = r"(?<!\d)(\d{4}[-/.]?\d{2}[-/.]?\d{2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4})(?!\d)"
_SECONDS = (1, 86_400, 86_400_000)
"""In what a program counts time, by the day: days, seconds, thousandths of them."""


class ShiftDates(MaskingStep):
    """The named days of a person move by the same number of days, so that intervals stay exact.

    Notes
    -----
    The number is drawn once for each person, all from −most to +most equally likely, and kept nowhere.
    Whoever knows one true day of a person knows all others: a day that many share, as the end of a study
    or a day that stands for none, is known of all of them, and is refused.
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
            if _is_told(working.days(name), person, options["most_days"]):
                raise InputRefused(f"{ID}.shared_day", column=name)
            working.set(name, np.asarray(working.days(name) + offset))
        return Told()


def _is_told(days: Days, person: Places, most_days: int) -> bool:
    """Say whether so many people share a day that it can be told from what it was moved to."""
    filled = ~np.isnat(days)
    if not filled.any():
        return False
    pairs = np.unique(np.column_stack([days[filled].astype(np.int64), person[filled]]), axis=0)
    day, holders = np.unique(pairs[:, 0], return_counts=True)
    space = np.concatenate(([np.inf], np.diff(day), [np.inf]))
    apart = np.minimum(space[:-1], space[1:]) > 2 * most_days
    codes = np.array(PLACEHOLDER_DAYS, dtype="datetime64[D]").astype(np.int64)
    least = np.where(np.isin(day, codes), 2, FEW_APART)
    many = (holders >= FEW_TOGETHER) & (holders * 10 > len(np.unique(pairs[:, 1])))
    return bool((many | (apart & (holders >= least))).any())


def refuse_told_days(working: Working, moved: Sequence[str], true: Sequence[Days]) -> None:
    """Refuse rows in which another column tells days as they were, whatever it was declared.

    Parameters
    ----------
    working
        The rows as they are to leave.
    moved
        The columns whose days were moved.
    true
        What stood in each of them for the rows that are left.

    Raises
    ------
    InputRefused
        ``datasets.masking.told_day`` names the first such column.

    Notes
    -----
    A column tells days whose cells read as days and are as they were; whose cells contain, in a tenth of
    the rows, the day that was moved there; or whose numbers count on with the days.
    """
    for name in working.columns:
        if name in moved:
            continue
        texts = working.texts(name)
        if (_are_days(texts) and working.changed(name) <= 0.5) or any(
            _contain(texts, days) or _count_on(texts, days) for days in true
        ):
            raise InputRefused(f"{ID}.told_day", column=name)


def _read(texts: Sequence[str]) -> list[Days]:
    """Return what texts say as days, where day and month cannot be told apart in both ways."""
    cells = pa.array(texts, pa.string())
    return [dates_of(cells, order).astype("datetime64[D]") for order in ("dmy", "mdy")]


def _are_days(texts: Texts) -> bool:
    used = np.unique(texts.places[texts.places >= 0])[:LOOKED_AT]
    values = [texts.values[place] for place in used.tolist()]
    return bool(values) and any((~np.isnat(days)).sum() * 2 > len(values) for days in _read(values))


def _contain(texts: Texts, days: Days) -> bool:
    known = np.flatnonzero((texts.places >= 0) & ~np.isnat(days))[:LOOKED_AT]
    if len(known) < FEW_APART:
        return False
    used, places = np.unique(texts.places[known], return_inverse=True)
    values = pd.Series([texts.values[place] for place in used.tolist()], dtype="str")
    found = values.str.extractall(_WITHIN)[0].unstack() if len(values) else pd.DataFrame()
    told = np.zeros(len(known), dtype=bool)
    for column in found.columns:
        for read in _read(found[column].reindex(range(len(values))).fillna("").tolist()):
            told |= read[places] == days[known]
    return bool(told.sum() >= FEW_APART and told.sum() * 10 > len(known))


def _count_on(texts: Texts, days: Days) -> bool:
    numbers = np.append(pd.to_numeric(pd.Series(texts.values, dtype="object"), errors="coerce"), np.nan)
    held = numbers.astype(np.float64)[texts.places]
    known = np.flatnonzero(np.isfinite(held) & ~np.isnat(days))[:LOOKED_AT]
    day = days[known].astype(np.int64)
    if len(known) < FEW_TOGETHER or len(np.unique(day)) < FEW_APART:
        return False
    beyond = (np.floor(held[known] / seconds) - day for seconds in _SECONDS)
    return any(np.unique(one, return_counts=True)[1].max() * 2 > len(known) for one in beyond)
