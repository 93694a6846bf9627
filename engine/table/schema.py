"""What the custodian says about the columns: role, kind, domain, and where each domain came from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from fractions import Fraction
from typing import Any
from zoneinfo import ZoneInfo

from engine import strict_json
from engine.errors import InputRefused
from engine.numbers import exact, shortest_json
from engine.protected import Protected, words_for_protected
from engine.table.hierarchies import Hierarchy
from engine.table.patterns import is_day, is_moment

PEOPLE, RECORDS, DETAILS = LINKED = ("people", "records", "details")
"""What a table of a register may be: one row a person, what belongs to people, to one of these."""
VERSION = 1
ORIGINS = ("domain_origin", "missing_origin")
BOUNDS = ("minimum", "maximum", "step")
MOST_LETTERS = 300  # of what a column means
MOST_LETTERS_OF_A_WORD = 40
MEMBERS = frozenset(("version", "columns", "rows_per_person", "protected", "protected_many", "one_row_each"))
SAID_WORDS = ("protected", "protected_many")
COLUMN_MEMBERS = frozenset(
    ("name", "role", "kind", "domain", "domain_origin", "missing", "missing_origin", "labels", "hierarchy")
) | {"meaning", "unit"}


class Role(StrEnum):
    """What a column says about a person."""

    DIRECT_IDENTIFIER = "direct_identifier"
    IDENTIFYING = "identifying"
    SENSITIVE = "sensitive"
    OTHER = "other"
    PERSON_KEY = "person_key"
    WEIGHT = "weight"
    TIME = "time"
    PLACE = "place"
    DROPPED = "dropped"
    NOT_RECOGNISED = "not_recognised"
    """Nobody has said it yet: no release uses such a column."""


class Kind(StrEnum):
    """How the values of a column are to be read."""

    CATEGORY = "category"
    ORDINAL = "ordinal"
    INTEGER = "integer"
    NUMBER = "number"
    DATE = "date"
    MOMENT = "moment"
    TEXT = "text"


class Origin(StrEnum):
    """Where a domain came from. No differentially private method accepts a copied one."""

    DECLARED = "declared"
    CODE_LIST = "code_list"
    COPIED = "copied"


@dataclass(frozen=True)
class Domain:
    """The values a column may have, whatever the rows hold.

    Either ``values`` (in their order), or ``minimum`` and ``maximum`` with an optional ``step``, or the name
    of a ``code_list`` below ``resources/code_lists``. Bounds and step are exact fractions, dates and moments
    ISO text. The step of moments is in minutes; ``zone`` is the one in whose clock they are told apart.
    """

    minimum: Fraction | str | None = None
    maximum: Fraction | str | None = None
    step: Fraction | None = None
    values: tuple[str, ...] | None = None
    code_list: str | None = None
    zone: str = ""


@dataclass(frozen=True)
class Column:
    """One column as the custodian declared it."""

    name: str
    role: Role = Role.OTHER
    kind: Kind = Kind.TEXT
    domain: Domain | None = None
    domain_origin: Origin | None = None
    missing: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    missing_origin: Origin | None = None
    """`COPIED` where the missing codes were seen in the rows: such codes never leave with a release."""
    hierarchy: Hierarchy | None = None
    meaning: str = ""
    """What the column says, in a few words of the custodian; public: it leaves with a release."""
    unit: str = ""
    """What its numbers count, ``mg/dl`` for instance; public, too."""

    @property
    def is_declared(self) -> bool:
        """Whether the domain was declared or comes from a code list, not from the rows."""
        return self.domain is not None and self.domain_origin in (Origin.DECLARED, Origin.CODE_LIST)

    def without_copied(self) -> Column:
        """Return the column without what was or may have been copied from the rows.

        These are a copied domain and missing codes, and labels and trees of values that are not declared.
        """
        domain = (self.domain, self.domain_origin) if self.is_declared else (None, None)
        listed = domain[0].values if domain[0] is not None else ()
        by_list = domain[0] is not None and domain[0].code_list is not None
        tree = self.hierarchy.tree if self.hierarchy is not None else None
        tells = tree is not None and not set(tree) <= set(listed or ())
        labels = {value: label for value, label in self.labels.items() if by_list or value in (listed or ())}
        missing = () if self.missing_origin is Origin.COPIED else self.missing
        origin = self.missing_origin if missing else None
        return replace(
            self,
            domain=domain[0],
            domain_origin=domain[1],
            missing=missing,
            missing_origin=origin,
            labels=labels,
            hierarchy=None if tells else self.hierarchy,
        )


@dataclass(frozen=True)
class Schema:
    """All columns, and how many rows of one person a release may use (1 where every row is a person)."""

    columns: tuple[Column, ...] = ()
    rows_per_person: int = 1
    protected: str = ""
    """The custodian's word for who is protected: patient, household; empty where nobody said one."""
    one_row_each: bool = False
    """Whether the custodian says that every row is another person; only where there is no person key."""
    protected_many: str = ""
    """The custodian's word for several of them: patients, households; empty: by the rules of English."""

    def __contains__(self, name: str) -> bool:
        return any(column.name == name for column in self.columns)

    def column(self, name: str) -> Column:
        """Return a column by name; one that is not listed is ``other`` text without a domain."""
        for column in self.columns:
            if column.name == name:
                return column
        return Column(name)

    def with_role(self, *roles: Role) -> tuple[Column, ...]:
        """Return the columns that have one of the roles, in their order."""
        return tuple(column for column in self.columns if column.role in roles)

    @property
    def person_key(self) -> Column | None:
        """The column that says which rows belong to one person, or None where every row is a person."""
        return next(iter(self.with_role(Role.PERSON_KEY)), None)

    @property
    def words(self) -> Protected:
        """The words for who is protected."""
        return words_for_protected(self.protected, self.protected_many)

    def called_as(self, other: Schema) -> Schema:
        """Return a schema with another's words for who is protected."""
        return replace(self, protected=other.protected, protected_many=other.protected_many)

    def with_column(self, changed: Column) -> Schema:
        """Return a schema in which the column of the same name is replaced, or added at the end."""
        if changed.name not in self:
            return replace(self, columns=(*self.columns, changed))
        return replace(
            self, columns=tuple(changed if column.name == changed.name else column for column in self.columns)
        )

    def to_json(self) -> dict[str, Any]:
        """Return the schema as plain JSON values."""
        said = {
            "protected": self.protected,
            "protected_many": self.protected_many,
            "one_row_each": self.one_row_each,
        }
        return {
            "version": VERSION,
            "rows_per_person": self.rows_per_person,
            **{name: value for name, value in said.items() if value},
            "columns": [_column_to_json(column) for column in self.columns],
        }

    @staticmethod
    def from_json(tree: Mapping[str, Any], *, file: str = "schema") -> Schema:
        """Read a schema from JSON values.

        Raises
        ------
        InputRefused
            ``schema.*``: a newer version, an unknown name, role or kind, a column named twice, a bad domain.
            ``document.*``: a value of the wrong kind.
        """
        try:
            return _schema_from_json(tree, file)
        except strict_json.Wrong as error:
            raise error.refusal(file) from error

    @staticmethod
    def loads(written: str, *, file: str = "schema") -> Schema:
        """Read a schema from JSON text."""
        try:
            tree = strict_json.loads(written)
        except ValueError as error:
            raise InputRefused("schema.not_json", file=file) from error
        if not isinstance(tree, dict):
            raise InputRefused("schema.not_json", file=file)
        try:
            return Schema.from_json(tree, file=file)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise InputRefused("schema.bad_entry", file=file) from error


def _schema_from_json(value: Any, file: str) -> Schema:
    tree = strict_json.read_named(value, "schema")
    version = tree.get("version", VERSION)
    if type(version) is not int or not 1 <= version <= VERSION:
        raise InputRefused("schema.newer_version", file=file, found=version, expected=VERSION)
    if unknown := set(tree) - MEMBERS:
        raise InputRefused("schema.unknown", file=file, found=_some(unknown), expected=_some(MEMBERS))
    rows = tree.get("rows_per_person", 1)
    if not isinstance(rows, int) or isinstance(rows, bool) or rows < 1:
        raise InputRefused("schema.rows_per_person", file=file)
    entries = tree.get("columns")
    if not isinstance(entries, list):
        raise InputRefused("schema.no_columns", file=file)
    columns = tuple(_column_from_json(entry, file) for entry in entries)
    _refuse_twice((column.name for column in columns), file)
    said, each = [tree.get(name, "") for name in SAID_WORDS], tree.get("one_row_each", False)
    if any(not isinstance(word, str) or len(word) > MOST_LETTERS_OF_A_WORD for word in said):
        raise InputRefused("schema.protected", file=file, most=MOST_LETTERS_OF_A_WORD)
    if not isinstance(each, bool):
        raise InputRefused("schema.one_row_each", file=file)
    one, many = (" ".join(word.split()) for word in said)
    return Schema(columns, rows, one, each, many)


def _some(names: Iterable[str]) -> str:
    return ", ".join(sorted(str(name)[:MOST_LETTERS_OF_A_WORD] for name in names)[:20])


def _refuse_twice(names: Iterable[str], file: str) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise InputRefused("schema.column_twice", file=file, column=name)
        seen.add(name)


def _column_to_json(column: Column) -> dict[str, Any]:
    tree: dict[str, Any] = {"name": column.name, "role": column.role.value, "kind": column.kind.value}
    if column.domain is not None:
        tree["domain"] = _domain_to_json(column.domain)
        tree["domain_origin"] = (column.domain_origin or Origin.COPIED).value
    if column.missing:
        tree["missing"] = list(column.missing)
        if column.missing_origin is Origin.COPIED:
            tree["missing_origin"] = Origin.COPIED.value
    if column.labels:
        tree["labels"] = dict(column.labels)
    if column.hierarchy is not None:
        tree["hierarchy"] = column.hierarchy.to_json()
    for name in ("meaning", "unit"):
        if getattr(column, name):
            tree[name] = getattr(column, name)
    return tree


def _domain_to_json(domain: Domain) -> dict[str, Any]:
    if domain.code_list is not None:
        return {"code_list": domain.code_list}
    if domain.values is not None:
        return {"values": list(domain.values)}
    bounds = {"minimum": domain.minimum, "maximum": domain.maximum, "step": domain.step}
    bounds |= {"zone": domain.zone or None}
    return {
        name: shortest_json(value) if isinstance(value, Fraction) else value
        for name, value in bounds.items()
        if value is not None
    }


def _column_from_json(entry: Any, file: str) -> Column:
    if not isinstance(entry, dict) or not isinstance(entry.get("name"), str) or not entry["name"]:
        raise InputRefused("schema.column_without_name", file=file)
    name = entry["name"]
    if unknown := set(entry) - COLUMN_MEMBERS:
        found, expected = _some(unknown), _some(COLUMN_MEMBERS)
        raise InputRefused("schema.unknown_of_column", file=file, column=name, found=found, expected=expected)
    try:
        role, kind = Role(entry.get("role", "other")), Kind(entry.get("kind", "text"))
    except ValueError as error:
        raise InputRefused(
            "schema.unknown_word",
            file=file,
            column=name,
            roles=", ".join(Role),
            kinds=", ".join(Kind),
        ) from error
    domain = _domain_from_json(entry["domain"], kind, name, file) if entry.get("domain", {}) != {} else None
    origins = {
        part: Origin(
            strict_json.word(entry.get(part, "copied"), f"{name}.{part}", [one.value for one in Origin])
        )
        for part in ORIGINS
        if part in entry
    }
    origin = origins.get("domain_origin", Origin.COPIED) if domain is not None else None
    missing = strict_json.items(entry.get("missing", []), f"{name}.missing", strict_json.text)
    said = strict_json.read_named(entry.get("labels", {}), f"{name}.labels")
    labels = {code: strict_json.text(label, f"{name}.labels.{code}") for code, label in said.items()}
    copied = Origin.COPIED if missing and origins.get("missing_origin") is Origin.COPIED else None
    steps = strict_json.read_named(entry.get("hierarchy", {}), f"{name}.hierarchy")
    hierarchy = Hierarchy.from_json(steps, column=name, file=file) if "hierarchy" in entry else None
    lines = {part: _one_line(entry.get(part, ""), name, file) for part in ("meaning", "unit")}
    return Column(name, role, kind, domain, origin, missing, labels, copied, hierarchy, **lines)


def _one_line(text: Any, column: str, file: str) -> str:
    if not isinstance(text, str) or len(text) > MOST_LETTERS:
        raise InputRefused("schema.long_words", file=file, column=column, most=MOST_LETTERS)
    return " ".join(text.split())


def _days_from_json(tree: Mapping[str, Any], column: str, file: str) -> Domain:
    days = Domain(minimum=tree.get("minimum"), maximum=tree.get("maximum"))
    said = [day for day in (days.minimum, days.maximum) if day is not None]
    if not all(map(is_day, said)) or said != sorted(said):
        raise InputRefused("schema.bad_days", file=file, column=column)
    return days


def _moments_from_json(tree: Mapping[str, Any], column: str, file: str) -> Domain:
    ends = [tree.get(name) for name in ("minimum", "maximum")]
    said = [one for one in ends if one is not None]
    zone = tree.get("zone", "")
    try:
        step = None if tree.get("step") is None else exact(tree["step"])
        fits = all(map(is_moment, said)) and (zone == "" or ZoneInfo(zone).key == zone)
        fits = fits and (len(said) < 2 or read_moment(said[0]) < read_moment(said[1]))
        fits = fits and (step is None or (step >= 1 and step.denominator == 1))
    except (KeyError, OSError, TypeError, ValueError, OverflowError, ZeroDivisionError):
        fits = False
    if not fits:
        raise InputRefused("schema.bad_moments", file=file, column=column)
    return Domain(minimum=ends[0], maximum=ends[1], step=step, zone=zone)


def read_moment(moment: str) -> datetime:
    """Return a declared moment: a day, or a day with hour and minute, without a zone."""
    return datetime.fromisoformat(moment)


def _domain_from_json(value: Any, kind: Kind, column: str, file: str) -> Domain:
    field = f"{column}.domain"
    tree = strict_json.read_named(value, field)
    bounds_of = (*BOUNDS, "zone") if kind is Kind.MOMENT else BOUNDS
    form = next((one for one in (("code_list",), ("values",)) if one[0] in tree), bounds_of)
    strict_json.members(tree, field, may=form)
    if "code_list" in tree:
        return Domain(code_list=strict_json.text(tree["code_list"], f"{field}.code_list"))
    if "values" in tree:
        values = strict_json.items(tree["values"], f"{field}.values", strict_json.text)
        _refuse_twice(values, file)
        return Domain(values=values)
    if kind is Kind.DATE:
        return _days_from_json(tree, column, file)
    if kind is Kind.MOMENT:
        return _moments_from_json(tree, column, file)
    try:
        bounds = {
            name: exact(tree[name]) for name in ("minimum", "maximum", "step") if tree.get(name) is not None
        }
        as_floats = {name: float(value) for name, value in bounds.items()}  # as the cells are compared
    except (ValueError, OverflowError, ZeroDivisionError) as error:
        raise InputRefused("schema.bad_domain", file=file, column=column) from error
    lower, upper, step = (bounds.get(name) for name in ("minimum", "maximum", "step"))
    if (lower is not None and upper is not None and lower >= upper) or (
        step is not None and as_floats["step"] <= 0
    ):
        raise InputRefused("schema.bad_domain", file=file, column=column)
    return Domain(minimum=lower, maximum=upper, step=step)
