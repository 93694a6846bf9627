"""Dates of typed formats, one cell at a time: what no calendar holds is a missing cell, never a refused file.

A library that turns a whole column into dates refuses all of it for one impossible day, or changes the unit
of all for one nanosecond. Here every cell is a whole number of ticks since a known day, checked by itself.
"""

from __future__ import annotations

import re
from datetime import date, datetime
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pandas as pd

from engine.table.reading.options import ROWS_NAMED, Finding

DAY = 86_400_000_000  # microseconds
_EPOCH = datetime(1970, 1, 1)


def _microseconds(moment: datetime) -> int:
    return (moment - _EPOCH).days * DAY + (moment - _EPOCH).seconds * 1_000_000 + moment.microsecond


FIRST, LAST = _microseconds(datetime(1, 1, 1)), _microseconds(datetime.max)

_SPSS_DATES = ("DATE", "ADATE", "EDATE", "JDATE", "SDATE", "QYR", "MOYR", "WKYR")
_SPSS_MOMENTS = ("DATETIME", "YMDHMS")
_SAS_DATES = (
    *("DATE", "DDMMYY", "MMDDYY", "YYMMDD", "E8601DA", "B8601DA", "IS8601DA", "NLDATE", "EURDFDD", "EURDFDE"),
    *("WEEKDATE", "WEEKDATX", "WORDDATE", "WORDDATX", "JULIAN", "MONYY", "YYMON", "MMYY", "YYMM", "MINGUO"),
)
_SAS_MOMENTS = ("DATETIME", "DATEAMPM", "MDYAMPM", "E8601DT", "B8601DT", "IS8601DT", "NLDATM", "DTDATE")
_TIMES = ("TIME", "DTIME", "MTIME", "TOD", "HHMM", "TIMEAMPM", "E8601TM", "B8601TM")
_SEPARATED = re.compile(r"(DDMMYY|MMDDYY|YYMMDD|YYMM|MMYY)[BCDNPS]")


def from_ticks(
    ticks: npt.NDArray[np.int64], absent: npt.NDArray[np.bool_], *, tick: Fraction, name: str, file: str
) -> tuple[pd.Series, list[Finding]]:
    """Return moments that are given as whole numbers of ticks since 1970.

    Parameters
    ----------
    ticks
        Shape (n,); what stands where ``absent`` is true does not matter.
    absent
        True where the cell is empty, shape (n,).
    tick
        Microseconds of one tick: 86,400,000,000 for days, 1/1000 for nanoseconds.
    name, file
        For the finding.

    Returns
    -------
    tuple
        datetime64[us], and a finding where cells lie outside the years 1 to 9999: these are missing.

    Examples
    --------
    >>> days = np.array([0, 10**9], dtype=np.int64)
    >>> from_ticks(days, np.zeros(2, bool), tick=Fraction(DAY), name="seen", file="")[0].isna().tolist()
    [False, True]
    """
    first = -(-FIRST * tick.denominator // tick.numerator)
    last = LAST * tick.denominator // tick.numerator
    outside = ~absent & ((ticks < first) | (ticks > last))
    kept = np.where(absent | outside, 0, ticks)
    moments = (kept * tick.numerator // tick.denominator).astype("datetime64[us]")
    moments[absent | outside] = np.datetime64("NaT")
    return pd.Series(moments), _outside(outside, name, file)


def from_numbers(
    numbers: npt.NDArray[np.float64], *, tick: int, epoch: date, name: str, file: str
) -> tuple[pd.Series, list[Finding]]:
    """Return moments that are given as numbers of ticks since a day of their own; see `from_ticks`.

    Parameters
    ----------
    numbers
        Shape (n,); NaN where the cell is empty.
    tick
        Microseconds of one tick.
    epoch
        The day that is 0.
    """
    start = _microseconds(datetime(epoch.year, epoch.month, epoch.day))
    absent = np.isnan(numbers)
    with np.errstate(over="ignore", invalid="ignore"):
        shifted = np.rint(np.where(absent, 0.0, numbers) * tick) + start
    far = ~np.isfinite(shifted) | (np.abs(shifted) > 2.0**62)
    ticks = np.where(far, 2**62, shifted).astype(np.int64)
    return from_ticks(ticks, absent, tick=Fraction(1), name=name, file=file)


def package_moment(kind: str, display: str | None) -> tuple[int, date] | None:
    """Return tick and first day of a column of a statistics package, or None where it holds no dates.

    Parameters
    ----------
    kind
        ``spss``, ``stata``, ``sas`` or ``sas_transport``.
    display
        The display format that the file declares for the column.

    Examples
    --------
    >>> package_moment("spss", "ADATE10"), package_moment("stata", "%td"), package_moment("sas", "BEST12")
    ((1000000, datetime.date(1582, 10, 14)), (86400000000, datetime.date(1960, 1, 1)), None)
    """
    word = (display or "").upper()
    if kind == "stata":
        if re.match(r"%-?(T?D)", word):
            return DAY, date(1960, 1, 1)
        return (1_000, date(1960, 1, 1)) if re.match(r"%-?TC", word) else None
    word = re.sub(r"[\d.]+$", "", word)
    if kind == "spss":
        return (1_000_000, date(1582, 10, 14)) if word in _SPSS_DATES + _SPSS_MOMENTS else None
    if word in _SAS_MOMENTS:
        return 1_000_000, date(1960, 1, 1)
    family = _SEPARATED.fullmatch(word)
    return (DAY, date(1960, 1, 1)) if (family[1] if family else word) in _SAS_DATES else None


def is_time_of_day(kind: str, display: str | None) -> bool:
    """Say whether a column of a statistics package holds seconds since midnight."""
    return kind != "stata" and re.sub(r"[\d.]+$", "", (display or "").upper()) in _TIMES


def clock(seconds: float) -> str:
    """Return seconds since midnight as text, hours beyond 24 as they are.

    Examples
    --------
    >>> clock(45_296.5), clock(90_000)
    ('12:34:56.5', '25:00:00')
    """
    sign, whole = ("-" if seconds < 0 else ""), abs(round(seconds * 1000))
    part = f".{whole % 1000:03}".rstrip("0") if whole % 1000 else ""
    whole //= 1000
    return f"{sign}{whole // 3600:02}:{whole // 60 % 60:02}:{whole % 60:02}{part}"


def _outside(outside: npt.NDArray[np.bool_], name: str, file: str) -> list[Finding]:
    places = np.flatnonzero(outside)
    if not len(places):
        return []
    rows = tuple(int(place) + 1 for place in places[:ROWS_NAMED])
    return [Finding("table.dates_outside", file, name, len(places), rows)]
