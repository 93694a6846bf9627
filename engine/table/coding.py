"""From the cells of a column to declared cells and numbers, whatever the rows hold.

A differentially private method must not learn a category or a bound from the rows, nor refuse because of
them: unknown levels go to the declared cell "other", missing ones to "missing", and a number that cannot be
read is missing. The set of cells follows from the declaration alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from engine import arrays
from engine.errors import InputRefused
from engine.numbers import nearest
from engine.table.cells import NumberSigns, cells_of, dates_of, numbers_of
from engine.table.code_lists import code_list
from engine.table.patterns import LONGEST
from engine.table.reading.options import ReadOptions
from engine.table.schema import Column, Domain, Kind

if TYPE_CHECKING:
    from engine.table.encoded import Encoded

OTHER = "other"
MISSING = "missing"
MOST_LEVELS = 100_000
NUMBERS = (Kind.INTEGER, Kind.NUMBER)
_SMALLEST_ALIKE, _LARGEST_ALIKE = 1e-4, 1e10  # in between Arrow and Python write a number alike
_LARGEST_WRITTEN = 10.0 ** (LONGEST - 2)
_SECOND_DAY, _LAST_DAY = "0001-01-02", "9999-12-31"  # of the calendar


def levels(column: Column) -> tuple[str, ...]:
    """Return the declared levels of a column in their declared order, without "other" and "missing".

    Parameters
    ----------
    column
        With declared values, a code list, or (kind integer or number) bounds and a step; an integer column
        has the step 1 unless another is declared.

    Returns
    -------
    tuple of str
        Levels as text. For bounds: minimum, minimum + step, … up to the maximum.

    Raises
    ------
    InputRefused
        ``table.no_levels``: the declaration names no levels; ``table.too_many_levels``: more than 100,000;
        ``table.unknown_code_list``.

    Examples
    --------
    >>> from engine.table.schema import Column, Domain, Kind, Origin
    >>> levels(Column("sex", kind=Kind.CATEGORY, domain=Domain(values=("f", "m"))))
    ('f', 'm')
    >>> bounds = Domain(minimum=Fraction(1), maximum=Fraction(3))
    >>> levels(Column("stay", kind=Kind.INTEGER, domain=bounds))
    ('1', '2', '3')
    """
    domain = column.domain
    if domain is None:
        raise InputRefused("table.no_levels", column=column.name)
    if domain.code_list is not None:
        return code_list(domain.code_list, column=column.name).codes
    if domain.values is not None:
        return domain.values
    grid = _grid(column)
    if grid is None:
        raise InputRefused("table.no_levels", column=column.name)
    start, step, count = grid
    if count > MOST_LEVELS:
        raise InputRefused("table.too_many_levels", column=column.name, count=count, most=MOST_LEVELS)
    return tuple(_text_of_fraction(start + step * index) for index in range(count))


def cells(column: Column) -> tuple[str, ...]:
    """Return the levels followed by the two cells that take everything else: other and missing.

    Notes
    -----
    A declared level may itself be called "other": the two last cells are known by place, not by name.

    Examples
    --------
    >>> from engine.table.schema import Column, Domain
    >>> cells(Column("sex", domain=Domain(values=("f", "m"))))
    ('f', 'm', 'other', 'missing')
    """
    return (*levels(column), OTHER, MISSING)


def written_other(column: Column) -> str:
    """Return how a value that was not declared is written in invented rows: as no declared one.

    Examples
    --------
    >>> written_other(Column("pain", domain=Domain(values=("back", "other"))))
    '(other)'
    """
    written, declared = OTHER, set(levels(column))
    while written in declared:
        written = f"({written})"
    return written


def codes(values: pd.Series, column: Column, known: Encoded | None = None) -> npt.NDArray[np.int64]:
    """Return for every row the place of its cell in `cells`.

    Parameters
    ----------
    values
        The column of a table, shape (n,), in any storage.
    column
        Its declaration.
    known
        The distinct cells of a text column, where they have been looked for.

    Returns
    -------
    array of int64, shape (n,)
        0 … L−1 for the L levels, L for a value that is no level, L+1 for a missing one.

    Notes
    -----
    Text is compared without the blanks around it, numbers as numbers (``1`` and ``1.0`` are the same level).
    Where the levels come from bounds, a number outside is clamped to the nearest bound and one between two
    levels goes to the lower. Infinity and NaN are missing.

    Examples
    --------
    >>> from engine.table.schema import Column, Domain
    >>> sex = Column("sex", domain=Domain(values=("f", "m")), missing=("?",))
    >>> codes(pd.Series(["m", "x", None, "?", " f "]), sex).tolist()
    [1, 2, 3, 3, 0]
    """
    declared = levels(column)
    if column.domain is not None and column.domain.values is None and column.domain.code_list is None:
        return _codes_on_grid(values, column, len(declared))
    place = {text_of(level): index for index, level in reversed(list(enumerate(declared)))}
    other, missing = len(declared), len(declared) + 1
    if pd.api.types.is_numeric_dtype(values.dtype):
        place = _by_number(place)
    found: arrays.Whole
    found, uniques = pd.factorize(values) if known is None else (known.places, known.distinct.to_pylist())
    mapped = np.empty(len(uniques) + 1, dtype=np.int64)
    mapped[-1] = missing  # factorize gives −1 for a missing cell
    for index, value in enumerate(filled_texts(uniques, column)):
        mapped[index] = place.get(value, other) if value else missing
    return np.asarray(mapped[found])


def numbers(values: pd.Series, column: Column) -> npt.NDArray[np.float64]:
    """Return a column as numbers; what is missing or cannot be read as a finite number is NaN.

    Parameters
    ----------
    values
        The column of a table, shape (n,).
    column
        Its declaration; the declared missing codes become NaN.

    Returns
    -------
    array of float64, shape (n,)
        Not clamped: the fixed-point sum does that.

    Examples
    --------
    >>> from engine.table.schema import Column, Kind
    >>> age = Column("age", kind=Kind.INTEGER, missing=("-9",))
    >>> numbers(pd.Series(["41", "-9", "old", None, " 7.5"]), age).tolist()
    [41.0, nan, nan, nan, 7.5]
    """
    if pd.api.types.is_numeric_dtype(values.dtype):
        read = values.to_numpy(dtype=np.float64, na_value=np.nan, copy=True)
    elif pd.api.types.is_datetime64_any_dtype(values.dtype):
        read = np.full(len(values), np.nan)
    else:
        found, uniques = pd.factorize(values)
        parsed = np.append(numbers_of(cells_of(uniques)), np.nan)
        read = parsed[found]
    read[np.isin(read, missing_numbers(column)) | ~np.isfinite(read)] = np.nan
    return np.asarray(read, dtype=np.float64)


def dates(values: pd.Series, column: Column) -> npt.NDArray[np.datetime64]:
    """Return a column as days; what is missing or not a date is NaT.

    Notes
    -----
    The reader has already turned dates into ISO form where their order was known; other text is NaT.

    Examples
    --------
    >>> from engine.table.schema import Column, Kind
    >>> dates(pd.Series(["2020-02-29", "soon"]), Column("seen", kind=Kind.DATE)).astype(str).tolist()
    ['2020-02-29', 'NaT']
    """
    if pd.api.types.is_datetime64_any_dtype(values.dtype):
        days = values.to_numpy().astype("datetime64[D]")
    elif pd.api.types.is_numeric_dtype(values.dtype):
        days = np.full(len(values), np.datetime64("NaT"), dtype="datetime64[D]")
    else:
        text = pc.utf8_trim_whitespace(cells_of(values.astype("str")))
        # In a column that nobody declared a date, 1.2.2020 could not be told from 2.1.2020: all or none.
        iso = pc.match_substring_regex(text, r"^\d{4}")
        days = dates_of(pc.if_else(iso, text, pa.scalar(None, text.type))).astype("datetime64[D]")
    if column.missing:
        days[np.isin(days, missing_days(column))] = np.datetime64("NaT")
    return np.asarray(days)


def moments(values: pd.Series, column: Column) -> npt.NDArray[np.datetime64]:
    """Return a column as moments in minutes; what is missing, no moment or out of the bounds is NaT.

    Notes
    -----
    A cell with an offset (``+01:00``, ``Z``) is told in the clock of the declared zone, in UTC where none is;
    one without is taken as it stands. A declared step cuts moments down to its multiples since midnight.

    Examples
    --------
    >>> from engine.table.schema import Column, Domain, Kind
    >>> hours = Domain("2020-01-01", "2020-12-31", step=Fraction(60), zone="Europe/Zurich")
    >>> seen = Column("seen", kind=Kind.MOMENT, domain=hours)
    >>> moments(pd.Series(["2020-07-01T10:59", "2020-07-01T10:59Z", "soon"]), seen).astype(str).tolist()
    ['2020-07-01T10:00', '2020-07-01T12:00', 'NaT']
    """
    domain = column.domain or Domain()
    if pd.api.types.is_datetime64_any_dtype(values.dtype):
        found = values.to_numpy().astype("datetime64[m]")
    elif pd.api.types.is_numeric_dtype(values.dtype):
        found = np.full(len(values), np.datetime64("NaT"), dtype="datetime64[m]")
    else:
        places, uniques = pd.factorize(values)
        text = pc.utf8_trim_whitespace(cells_of(pd.Series(uniques, dtype="str")))
        iso = pc.match_substring_regex(text, r"^\d{4}")
        read = dates_of(pc.if_else(iso, text, pa.scalar(None, text.type))).astype("datetime64[m]")
        if domain.zone:
            told = pc.match_substring_regex(text, r"\d(Z|[+-]\d{2}:?\d{2})$")
            offset = pc.fill_null(told, False).to_numpy(zero_copy_only=False)
            at = offset & (read >= np.datetime64(_SECOND_DAY)) & (read < np.datetime64(_LAST_DAY))
            read[offset & ~at] = np.datetime64("NaT")  # a clock elsewhere may stand outside the calendar
            clock = pd.DatetimeIndex(read[at].astype("datetime64[s]"), tz="UTC").tz_convert(domain.zone)
            read[at] = clock.tz_localize(None).to_numpy().astype("datetime64[m]")
        found = np.append(read, np.datetime64("NaT"))[places]
    if column.missing:
        codes = dates_of(pa.array(column.missing, pa.string())).astype("datetime64[m]")
        found = np.where(np.isin(found, codes[~np.isnat(codes)]), np.datetime64("NaT"), found)
    if domain.step:
        step = np.timedelta64(int(domain.step), "m")
        at = ~np.isnat(found)
        day = found[at].astype("datetime64[D]").astype("datetime64[m]")
        found[at] = day + (found[at] - day) // step * step
    out = np.zeros(len(found), dtype=bool)
    if domain.minimum is not None:
        out |= found < np.datetime64(str(domain.minimum).replace(" ", "T"), "m")
    if domain.maximum is not None:
        out |= found > np.datetime64(str(domain.maximum).replace(" ", "T"), "m")
    return np.asarray(np.where(out, np.datetime64("NaT"), found), dtype="datetime64[m]")


def missing_numbers(column: Column, options: ReadOptions = ReadOptions()) -> arrays.Floats:  # noqa: B008
    """Return the declared missing codes that are numbers, as the file writes them or with a decimal point."""
    said = pa.array(column.missing, pa.string())
    read = numbers_of(said, NumberSigns.of(options))
    read = np.where(np.isnan(read), numbers_of(said), read)
    return np.asarray(read[~np.isnan(read)])


def missing_days(column: Column, options: ReadOptions = ReadOptions()) -> arrays.Dates:  # noqa: B008
    """Return the declared missing codes that are days, as the file writes them or in ISO form."""
    read = dates_of(pa.array(column.missing, pa.string()), options.date_order).astype("datetime64[D]")
    return np.asarray(read[~np.isnat(read)])


def holds_code(
    values: pd.Series,
    column: Column,
    options: ReadOptions = ReadOptions(),  # noqa: B008
) -> npt.NDArray[np.bool_]:
    """Say of every cell whether it is a declared missing code, the code read like the cell.

    Parameters
    ----------
    values
        Cells in any storage, shape (n,).
    column
        Its declaration: kind and missing codes.
    options
        How the file writes numbers and days.

    Returns
    -------
    array of bool, shape (n,)
        Numbers and days by their value, all else to the letter without the blanks around it.

    Examples
    --------
    >>> age = Column("age", kind=Kind.INTEGER, missing=("999", "?"))
    >>> holds_code(pd.Series(["41", "999.00", " ?", None]), age).tolist()
    [False, True, True, False]
    """
    storage, found = values.dtype.kind, np.zeros(len(values), dtype=bool)
    if not column.missing or not len(values):
        return found
    if storage in "iuf":
        read = values.to_numpy(dtype=np.float64, na_value=np.nan)
        return np.asarray(np.isin(read, missing_numbers(column, options)))
    if storage == "M" and column.kind is Kind.DATE:
        return np.asarray(np.isin(values.to_numpy().astype("datetime64[D]"), missing_days(column, options)))
    cells = cells_of(pd.Series(texts_of(values), dtype="str") if storage == "M" else values.astype("str"))
    codes = pa.array([code.strip() for code in column.missing], cells.type)
    found |= pc.is_in(pc.utf8_trim_whitespace(cells), value_set=codes).to_numpy(zero_copy_only=False)
    if column.kind in NUMBERS:
        found |= np.isin(numbers_of(cells, NumberSigns.of(options)), missing_numbers(column, options))
    elif column.kind is Kind.DATE:
        days = dates_of(cells, options.date_order).astype("datetime64[D]")
        found |= np.isin(days, missing_days(column, options))
    return found


def text_of(value: object) -> str:
    """Return a cell as text in one form, so that 1, 1.0 and " 1 " name the same level or person.

    Examples
    --------
    >>> text_of(1.0), text_of(" 1 "), text_of("01"), text_of(0.5)
    ('1', '1', '01', '0.5')
    """
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, float | np.floating):
        number = float(value)
        # All digits of a very large one would be longer than a cell that is read as a number again.
        return str(int(number)) if abs(number) < _LARGEST_WRITTEN and number.is_integer() else repr(number)
    if isinstance(value, pd.Timestamp | np.datetime64):
        stamp = pd.Timestamp(value)
        return stamp.date().isoformat() if stamp == stamp.normalize() else stamp.isoformat()
    return str(value)


def texts_of(values: Iterable[object]) -> list[str]:
    """Return cells as text, see `text_of`."""
    if isinstance(values, np.ndarray | pd.Series | pd.Index) and values.dtype.kind == "f":
        return _float_texts(values.to_numpy() if not isinstance(values, np.ndarray) else values)
    if (
        isinstance(values, pd.Series | pd.Index)
        and isinstance(values.dtype, np.dtype)
        and values.dtype.kind == "M"
    ):
        return _moment_texts(values.to_numpy())
    listed = values.tolist() if hasattr(values, "tolist") else list(values)
    if listed and isinstance(listed[0], str):
        return [value.strip() if isinstance(value, str) else text_of(value) for value in listed]
    return [text_of(value) for value in listed]


def _float_texts(values: npt.NDArray[np.floating]) -> list[str]:
    """Do what `text_of` does to many numbers: Arrow writes those of a usual size with the same digits."""
    numbers = values.astype(np.float64)
    sizes = np.abs(numbers)
    plain = (sizes >= _SMALLEST_ALIKE) & (sizes < _LARGEST_ALIKE)
    written = pa.array(numbers).cast(pa.string())
    whole = plain & (numbers == np.floor(numbers))
    if whole.any():
        digits = pa.array(np.where(whole, numbers, 0).astype(np.int64)).cast(pa.string())
        written = pc.if_else(pa.array(whole), digits, written)
    texts: list[str] = written.to_pylist()
    for place in np.flatnonzero(~plain).tolist():
        texts[place] = text_of(numbers[place])
    return texts


def _moment_texts(values: npt.NDArray[np.datetime64]) -> list[str]:
    """Do what `text_of` does to many moments: numpy writes whole days alike, the years 1 to 9999 at least."""
    days = values.astype("datetime64[D]")
    years = days.astype("datetime64[Y]").astype(np.int64) + 1970
    plain = (days == values) & (years >= 1) & (years <= 9999)
    texts: list[str] = np.datetime_as_string(days).tolist()
    for place in np.flatnonzero(~plain).tolist():
        texts[place] = text_of(pd.Timestamp(values[place]))
    return texts


def filled_texts(values: Iterable[object], column: Column) -> list[str]:
    """Return cells of a column as text, nothing for what is missing: a declared code, a number without end.

    Examples
    --------
    >>> age = Column("age", kind=Kind.INTEGER, missing=("999", "?"))
    >>> filled_texts(pd.Series([41.0, 999.0]), age), filled_texts(["41", " 999.0", "?"], age)
    (['41', ''], ['41', '', ''])
    """
    cells = pd.Series(values)
    absent, texts = holds_code(cells, column), texts_of(cells)
    if cells.dtype.kind == "f":
        absent |= ~np.isfinite(cells.to_numpy(dtype=np.float64, na_value=np.nan))
    return ["" if gone else text for gone, text in zip(absent.tolist(), texts, strict=True)]


def _by_number(place: dict[str, int]) -> dict[str, int]:
    """Rewrite levels that are numbers as a numeric column writes them: "1.0" and "01" as "1"."""
    rewritten: dict[str, int] = {}
    for level, index in place.items():
        try:
            value = nearest(level)
            key = text_of(int(level) if level.lstrip("+-").isdigit() else value)
        except ValueError:
            key = level
        rewritten.setdefault(key, index)
    return rewritten


def _grid(column: Column) -> tuple[Fraction, Fraction, int] | None:
    domain = column.domain
    if domain is None or not isinstance(domain.minimum, Fraction) or not isinstance(domain.maximum, Fraction):
        return None
    step = domain.step
    if step is None and column.kind is Kind.INTEGER:
        step = Fraction(1)
    if step is None:
        return None
    return domain.minimum, step, (domain.maximum - domain.minimum) // step + 1


def _codes_on_grid(values: pd.Series, column: Column, count: int) -> npt.NDArray[np.int64]:
    grid = _grid(column)
    assert grid is not None  # levels() has refused otherwise
    start, step, _ = grid
    read = numbers(values, column)
    absent = np.isnan(read)
    # Half a millionth of a step: 0.3 on a grid of tenths must not fall to 0.2 by binary rounding.
    clamped = np.clip(np.where(absent, float(start), read), float(start), float(start + step * count))
    steps = np.floor((clamped - float(start)) / float(step) + 5e-7)
    found = np.clip(steps, 0, count - 1).astype(np.int64)
    found[absent] = count + 1
    return found


def _text_of_fraction(value: Fraction) -> str:
    if value.denominator == 1:
        return str(value.numerator)
    as_float = float(value)
    return repr(as_float) if Fraction(repr(as_float)) == value else str(value)
