"""Columns that name people: none leaves in rows of people as it stands without a reason.

Read from the rows, so for releases only that no bounded loss is promised of: there a refusal tells nobody
anything that the release would not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from itertools import groupby

import numpy as np
import pandas as pd

from engine.arrays import Floats
from engine.errors import InputRefused
from engine.methods.protocol import MAIN, Method, Release, TableArtefact
from engine.privacy.promise import Promise
from engine.release import reading
from engine.release.decisions import NAMES_PEOPLE, decision_about
from engine.release.each_row import counted_against
from engine.release.plan import Plan
from engine.release.reading import PreparedTable
from engine.table.preparation.steps import made_name
from engine.table.schema import Kind, Role
from engine.table.suggest.keys import may_be_key
from engine.table.suggest.profile import profile
from engine.table.suggest.suggest import suggest_from
from engine.table.table import Table
from engine.views import Text

FEWEST = 20
"""Different values from which on a column can tell people apart."""
NEARLY_ALL = 0.95
"""Share of the values of a column that one person alone has: a word that many share hides no number."""
MOST = 0.5
"""Share of the people who stand alone by a column that nobody recognises, from which on it names them."""
ALONE = 0.1
"""Share of the people who stand alone by the labels of a masked column, from which on these name them."""
_GAPLESS = 0.95
"""Share of values beside which the next number stands, from which on they are counted and not measured."""
_DIGITS = 5
"""Signs of a number of people at least, where nothing but its form speaks for it."""

STANDS = 0.5
"""Share of the cells of a masked column that still tell what they were, or of its different values that stand
in the table, from which on it leaves as it was."""
_LONGEST = 200
"""Characters of a cell in which values are looked for."""
_NUMBERING = ("coded", "perhaps_numbered")
"""Reasons for which cells that repeat may be the number of people, where no column tells whose a row is."""
_NUMBERED = (Kind.INTEGER, Kind.TEXT, Kind.CATEGORY)


class Why(StrEnum):
    """Why a column is taken to name people."""

    RECOGNISED = "recognised"
    EACH_ROW = "each_row"
    MOST_PEOPLE = "most_people"
    REPEATS = "repeats"


@dataclass(frozen=True)
class Naming:
    """A column that leaves and names people.

    Parameters
    ----------
    column
        Its name.
    why
        Whether it was recognised as an identifier, has a value of its own in nearly every row or for nearly
        everybody, has one for most people, or repeats like the number of people that nobody declared.
    """

    column: str
    why: Why


def is_asked(method: Method, promise: Promise) -> bool:
    """Say whether the question arises: rows of people leave, and nothing bounds what they tell."""
    return promise.loss is None and bool(method.rows.value != "none")


def naming(table: Table, design: Method, columns: Sequence[str] | None = None) -> tuple[Naming, ...]:
    """Find the columns that name people among those that leave as they stand.

    Parameters
    ----------
    table
        The custodian's table as it is prepared.
    design
        What is to be released.
    columns
        Those that are looked at; by default those that the design keeps.

    Returns
    -------
    tuple of Naming
        In the order of the columns.

    Notes
    -----
    A column names people that is recognised as an identifier by its name or the form of its cells, or whose
    values, twenty at least, are nearly all one person's alone: a person with several rows, or a row that was
    entered twice, is no other person. Columns that were made from one other are looked at as one, too: the
    parts of a number name whom the number names.

    Of a column that nobody recognises and that holds whole numbers or codes, more is asked. It names people
    by whom half of the people stand alone. So it does where no column tells whose a row is and its repeated
    values look like the key that was not declared: rows with the same value agree in what people have, or all
    its values have the form of one number, or of long codes that hardly repeat. Measured numbers are left:
    they repeat by chance, and so as often as they stand next to each other. It does not find a column of few
    values that somebody knows by heart.
    """
    found = []
    frame, key = table.rows(), design.schema.person_key
    people = None if key is None or key.name not in table.names else frame[key.name]

    @cache
    def keys() -> frozenset[str]:  # looks at the whole table: only where a column is left to be judged by it
        return frozenset(one.column for one in counted_against(table)) if people is None else frozenset()

    for name in design.keeps if columns is None else columns:
        if name not in table.names:
            continue
        looked = profile(table, name, frame[name])
        (suggested,) = suggest_from([looked])
        if suggested.role in (Role.DIRECT_IDENTIFIER, Role.PERSON_KEY):
            found.append(Naming(name, Why.RECOGNISED))
            continue
        if looked.unique:
            found.append(Naming(name, Why.EACH_ROW))
            continue
        cells = _fill(frame[name], looked.missing)
        holders = _count_holders(cells, people)
        if frame[name].nunique() >= FEWEST and _tell_apart(holders):
            found.append(Naming(name, Why.EACH_ROW))
        elif people is None and suggested.reason in _NUMBERING and len(holders) >= FEWEST:
            found.append(Naming(name, Why.REPEATS))
        elif suggested.role is Role.NOT_RECOGNISED and suggested.kind in _NUMBERED:
            share = _share_alone(holders)
            if len(holders) < FEWEST or _is_measured(holders.index, share):
                continue
            if share >= MOST:
                found.append(Naming(name, Why.MOST_PEOPLE))
            elif name in keys() or (
                people is None and may_be_key(suggested) and _are_of_one_form(holders.index)
            ):
                found.append(Naming(name, Why.REPEATS))
        elif name in keys():
            found.append(Naming(name, Why.REPEATS))
    alone = {one.column for one in found}
    for names in _parts(design, frame.columns if columns is None else columns):
        if alone & set(names):
            continue
        holders = _count_holders(_join(frame[names]), people)
        if len(holders) >= FEWEST and _tell_apart(holders):
            found += [Naming(name, Why.EACH_ROW) for name in names]
    return tuple(found)


def _parts(design: Method, columns: Iterable[str]) -> list[list[str]]:
    """Return the columns that leave as they stand and were made from one and the same, if several."""
    made = {made_name(step): str(step["column"]) for step in design.request.preparation if "to" in step}
    found: dict[str, list[str]] = {}
    for name in design.keeps:
        source = name
        for _ in made:
            source = made.get(source, source)
        if name in set(columns):
            found.setdefault(source, []).append(name)
    return [names for names in found.values() if len(names) > 1]


def _join(parts: pd.DataFrame) -> pd.Series:
    """Return what stands in several columns as one text; a row in which all are empty is left out."""
    texts = parts.astype("str")
    joint = texts.iloc[:, 0].str.cat(texts.iloc[:, 1:], sep="\0", na_rep="")
    return joint[parts.notna().any(axis=1)]


def _tell_apart(holders: pd.Series) -> bool:
    """Say whether nearly all values are one person's alone; of one row's where none is marked."""
    return bool((holders == 1).sum() >= NEARLY_ALL * len(holders))


def _fill(cells: pd.Series, missing: Iterable[str]) -> pd.Series:
    """Return the cells as text that are neither empty nor a missing code."""
    texts = cells.dropna().astype("str")
    return texts[~texts.isin(list(missing))]


def _count_holders(cells: pd.Series, people: pd.Series | None) -> pd.Series:
    """Return how many people have each value; how many rows where no column tells whose a row is."""
    person = cells.index if people is None else people[cells.index]
    return pd.DataFrame({"value": cells, "person": person}).drop_duplicates()["value"].value_counts()


def _share_alone(holders: pd.Series) -> float:
    """Return the share of people whose value nobody else has; who has several values counts once for each."""
    return float((holders == 1).sum() / holders.sum()) if len(holders) else 0.0


def _is_measured(values: Iterable[str], alone: float) -> bool:
    """Say whether values repeat by chance alone: at least as many have a neighbour, and there are gaps."""
    try:
        numbers = {int(re.sub(r"\.0$|[:./-]", "", value)) for value in values}
    except ValueError:
        return False
    beside = sum(number - 1 in numbers or number + 1 in numbers for number in numbers) / (len(numbers) or 1)
    return 1 - alone <= beside < _GAPLESS


def _are_of_one_form(values: Iterable[str]) -> bool:
    """Say whether all values are as long as each other and have digits, as numbers of people have."""
    whole = [value.removesuffix(".0") for value in values]
    if len({len(value) for value in whole}) != 1:
        return False
    coded = (value for value in whole if " " not in value and re.search(r"\d", value))
    return min((len(_plain(f"x{value}")) - 1 for value in coded), default=0) >= _DIGITS


def refuse_named(plan: Plan, design: Method, prepared: Mapping[str, PreparedTable]) -> None:
    """Refuse rows with a column that names people and no reason for it. Before anything is reserved.

    Raises
    ------
    InputRefused
        ``run.names_people`` names the first such column, and why.
    """
    if MAIN not in prepared or not is_asked(design, design.cost):
        return
    whole, left = prepared[MAIN].table, reading.filter_source(prepared[MAIN])
    found = (*naming(whole, design), *(naming(left, design) if len(left.rows()) < len(whole.rows()) else ()))
    _refuse_without_reason(plan, tuple(dict.fromkeys(found)))


def refuse_unchanged(
    plan: Plan,
    design: Method,
    prepared: Mapping[str, PreparedTable],
    used: Mapping[str, Table],
    release: Release,
) -> None:
    """Refuse rows in which a column that names people still tells whose they are, though a step changed it.

    A mask that changes next to nothing (rounding to one, noise far below a unit, a code without its last
    sign) is declared as a change; what it leaves is seen in the rows alone. So is a mask that gives a person
    another one's value, or one for a group (swaps, the most frequent value): most of what then stands in the
    column is to the letter what names somebody. So does a label for each value, whoever has it then: there
    are more than half as many as values, or a tenth of the people stand alone by one. Of a column that is
    recognised as an identifier a label, range or set with a value in it is no better, with zeros before it
    or signs within it either. Asked of the rows that were made, before they are written.

    Raises
    ------
    InputRefused
        As `refuse_named`.
    """
    if MAIN not in prepared or MAIN not in used or not is_asked(design, design.cost):
        return
    rows, key = used[MAIN].rows(), design.schema.person_key
    for artefact in release.artefacts:
        if not isinstance(artefact, TableArtefact) or artefact.origins is None:
            continue
        theirs = artefact.origins >= 0  # the others were invented
        before, after = rows.iloc[artefact.origins[theirs]], artefact.frame[theirs]
        people = before[key.name] if key is not None and key.name in before else None
        people = None if people is None else people.set_axis(after.index)
        masked = [name for name in after.columns if name in rows.columns and name not in design.keeps]
        stands, within = set(), set()
        for name in masked:
            values, own = _write(after[name]), _write(rows[name])
            is_text = (
                before[name].dtype.kind not in "biufM"
                or not np.isfinite(_numbers(after[name], is_day=before[name].dtype.kind == "M")).any()
            )
            renamed = len(values) / len(_write(before[name]) or own) if is_text and own else 0.0
            shares = (_share_unchanged(before[name], after[name]), _share_of(values, own), renamed)
            labels = _fill(after[name], ()) if is_text and len(own) >= FEWEST else after[name][:0]
            if max(shares) > STANDS or _share_alone(_count_holders(labels, people)) > ALONE:
                stands.add(name)
            elif is_text and _share_within(after[name], rows[name]) > STANDS:
                within.add(name)
        found = naming(prepared[MAIN].table, design, [name for name in masked if name in stands | within])
        kept = tuple(one for one in found if one.column in stands or one.why is Why.RECOGNISED)
        _refuse_without_reason(plan, kept)


def _share_unchanged(before: pd.Series, after: pd.Series) -> float:
    """Return the share of filled cells that still tell what they were.

    A number or a day does to which its own is nearer than any other one of the column; a text that only one
    text of the column became.
    """
    is_day = before.dtype.kind == "M"
    first, second = (_numbers(one, is_day=is_day) for one in (before, after))
    old, new = before.astype("str").to_numpy(), after.astype("str").to_numpy()
    if before.dtype.kind in "biufM" and np.isfinite(second).any():
        known = np.unique(first[np.isfinite(first)])
        at = np.searchsorted(known, second)
        low, high = known[np.clip(at - 1, 0, None)], known[np.clip(at, None, len(known) - 1)]
        own, other = np.abs(second - first), np.where(first == low, high, low)
        tells = (
            np.isin(first, known)
            & ((first == low) | (first == high))
            & ((own < np.abs(second - other)) | (own == 0))
        )
    else:
        pairs = pd.DataFrame({"old": old, "new": new})
        tells = (pairs.groupby("new")["old"].transform("nunique") == 1).to_numpy()
    filled = before.notna().to_numpy()
    return float(((old == new) | tells)[filled].mean()) if filled.any() else 0.0


def _numbers(cells: pd.Series, *, is_day: bool) -> Floats:
    if is_day:
        texts = cells if cells.dtype.kind == "M" else cells.astype("str")  # what is no day is none, quietly
        days = pd.to_datetime(texts, errors="coerce", format="ISO8601").to_numpy().astype("datetime64[D]")
        return np.where(np.isnat(days), np.nan, days.astype("int64"))
    return np.asarray(pd.to_numeric(cells.astype("str"), errors="coerce").to_numpy("float64"))


def _write(cells: pd.Series) -> set[str]:
    """Return the different values of the filled cells, numbers alike however they are written."""
    texts = cells.dropna().astype("str").unique()
    numbers = pd.to_numeric(pd.Series(texts, dtype="object"), errors="coerce")
    return {text if number != number else repr(number) for text, number in zip(texts, numbers, strict=True)}


def _share_within(after: pd.Series, rows: pd.Series) -> float:
    """Return the share of different texts in which a value of the column stands, or of values that stand so.

    Whichever is larger. A value begins and ends where digits, capitals or small letters do: 12 is not in 120.
    Zeros before a number and signs within it make no other one.
    """
    labels = [text[:_LONGEST] for text in after.dropna().astype("str").unique()]
    own = {_plain(value.removesuffix(".0")) for value in rows.dropna().astype("str").unique()} - {""}
    longest = max(map(len, own), default=0)
    inside, holding = set[str](), 0
    for label in labels:
        words = ["".join(signs) for kind, signs in groupby(label, _kind) if kind]
        stand = set[str]()
        for start in range(len(words)):
            joint = ""
            for word in words[start:]:
                joint += word
                plain = _plain(joint)
                if len(plain) > longest:
                    break
                if plain in own:
                    stand.add(plain)
        inside |= stand
        holding += bool(stand)
    return max(holding / len(labels), len(inside) / len(own)) if labels and own else 0.0


def _plain(text: str) -> str:
    """Return a text without signs between its letters and digits, and without zeros before its numbers."""
    return re.sub(r"(?<!\d)0+(?=\d)", "", "".join(sign for sign in text if _kind(sign)))


def _kind(sign: str) -> str:
    return "0" if sign.isdigit() else "A" if sign.isupper() else "a" if sign.isalpha() else ""


def _share_of(values: Iterable[str], own: set[str]) -> float:
    """Return the share of different values that are to the letter those of the table."""
    found = list(values)
    return sum(value in own for value in found) / len(found) if found else 0.0


def _refuse_without_reason(plan: Plan, found: tuple[Naming, ...]) -> None:
    without = [one for one in found if not reason_for(plan, one.column)]
    if without:
        first = without[0]
        raise InputRefused(
            f"run.names_people_{first.why.value}",
            column=first.column,
            count=len(without),
            decision=decision_about(first.column),
        )


def reason_for(plan: Plan, column: str) -> str:
    """Return why a column may leave that names people; nothing where no reason was given."""
    taken = (
        str(one.get("reason", ""))
        for one in plan.decisions
        if one.get("decision") == NAMES_PEOPLE and one.get("column") == column
    )
    return next(taken, "").strip()


def notes(plan: Plan, design: Method) -> tuple[Text, ...]:
    """Return what the recipient is told of the columns that leave for a reason although they name people."""
    if not is_asked(design, design.cost):
        return ()
    return tuple(
        Text(f"report.columns.names_people{'' if name in design.keeps else '_changed'}", {"column": name})
        for name in design.uses.get(MAIN, ())
        if reason_for(plan, name)
    )
