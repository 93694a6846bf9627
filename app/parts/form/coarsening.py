"""How a column grows coarser, while somebody decides it: forms that fit, values with their groups. No Qt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from app import words
from engine.errors import InputRefused
from engine.numbers import shortest_json, surely
from engine.table.code_systems import code_systems
from engine.table.hierarchies import CALENDAR, MISSING, Hierarchy, in_order
from engine.table.schema import Column, Domain, Kind

MOST_SHOWN = 500  # values in the table; what is read from a file is kept whole
SAMPLES = {
    Kind.DATE: ("2026-01-15", "2026-05-02", "2026-11-30", "2027-08-07"),
    Kind.INTEGER: ("0", "1", "7", "12", "38", "64", "90"),
    Kind.NUMBER: ("0", "0.5", "3.2", "7.9", "38", "64.4"),
}
TREE, BANDS, PREFIX, PERIODS = "tree", "bands", "prefix", "calendar"
CUTS, SUFFIX, CODES, ORDER = "cuts", "suffix", "codes", "order"
SIZES = (2, 4)  # neighbours of an order that go together, to start from


def forms(column: Column) -> tuple[str, ...]:
    """Return the forms of hierarchy that fit a column, the likeliest first.

    Examples
    --------
    >>> forms(Column("age", kind=Kind.INTEGER))
    ('bands', 'cuts', 'tree', 'prefix', 'suffix')
    """
    if column.kind is Kind.DATE:
        return (PERIODS, TREE)
    if column.kind is Kind.NUMBER:
        return (BANDS, CUTS, TREE)
    if column.kind is Kind.INTEGER:
        return (BANDS, CUTS, TREE, PREFIX, SUFFIX)
    is_ordered = column.kind is Kind.ORDINAL and len(listed_values(column)) > SIZES[0]
    order = (ORDER,) if is_ordered else ()
    return (TREE, *order, PREFIX, SUFFIX, *(f"{CODES}:{name}" for name in code_systems()))


def start_hierarchy(form: str, column: Column) -> dict[str, Any] | None:
    """Return a hierarchy of a form to start from, made from what was declared; None for a tree.

    Examples
    --------
    >>> start_hierarchy("bands", Column("age", kind=Kind.INTEGER, domain=Domain(Fraction(0), Fraction(120))))
    {'bands': [10, 20, 40], 'start': 0}
    """
    if form == PERIODS:
        return {PERIODS: ["month", "year"]}
    if form in (PREFIX, SUFFIX):
        longest = max(map(len, listed_values(column)), default=4)
        return {form: list(range(min(longest - 1, 3), 0, -1)) or [1]}
    if form.startswith(f"{CODES}:"):
        return {CODES: form.removeprefix(f"{CODES}:")}
    if form == ORDER:
        values = listed_values(column)
        return in_order(values, [size for size in SIZES if size < len(values)]).to_json()
    if form == CUTS:
        domain = column.domain or Domain()
        low, high = domain.minimum, domain.maximum
        ends = Fraction(0), Fraction(100)
        if isinstance(low, Fraction) and isinstance(high, Fraction) and high > low:
            ends = low, high
        quarters = [ends[0] + (ends[1] - ends[0]) * part / 4 for part in (1, 2, 3)]
        return {CUTS: [[shortest_json(cut) for cut in quarters], [shortest_json(quarters[1])]]}
    if form != BANDS:
        return None
    domain = column.domain or Domain()
    low, high = (end if isinstance(end, Fraction) else None for end in (domain.minimum, domain.maximum))
    width = _round((high - low) / 12) if low is not None and high is not None and high > low else Fraction(5)
    return {
        BANDS: [shortest_json(width * factor) for factor in (1, 2, 4)],
        "start": shortest_json(low or Fraction(0)),
    }


def _round(width: Fraction) -> Fraction:
    """Return the nearest 1, 2 or 5 times a power of ten."""
    power = Fraction(1)
    while width >= 10 * power:
        power *= 10
    while width < power:
        power /= 10
    return min((power * factor for factor in (1, 2, 5, 10)), key=lambda one: abs(one - width))


def read_hierarchy(tree: Any, column: Column) -> tuple[Hierarchy | None, str]:
    """Return a hierarchy of a schema, and what is wrong with it in words."""
    if not tree:
        return None, ""
    try:
        return Hierarchy.from_json(tree, column=column.name), ""
    except InputRefused as error:
        return None, " ".join(words.explain(error))


def shown_values(column: Column, hierarchy: Hierarchy | None = None) -> tuple[str, ...]:
    """Return values to show steps with: the declared ones, those of a tree, else some that could occur."""
    listed = listed_values(column)
    if hierarchy is not None and hierarchy.tree is not None:
        return (*listed, *(value for value in hierarchy.tree if value not in set(listed)))
    if listed:
        return listed
    domain = column.domain or Domain()
    if isinstance(domain.minimum, Fraction) and isinstance(domain.maximum, Fraction):
        width = (domain.maximum - domain.minimum) / 8
        whole = column.kind is Kind.INTEGER
        ends = [domain.minimum + place * width for place in range(9)]
        return tuple(dict.fromkeys(str(shortest_json(Fraction(int(end)) if whole else end)) for end in ends))
    return SAMPLES.get(column.kind, ("A123", "A18", "B5", "Z"))


def steps_of(hierarchy: Hierarchy, values: Sequence[str]) -> list[list[str]]:
    """Return each value beside what it becomes on every step but the last, which is one for all."""
    levels = [hierarchy.at(values, step) for step in range(hierarchy.height)]
    return [list(row) for row in zip(*levels, strict=True)]


def summary(hierarchy: Hierarchy | None) -> str:
    """Return a hierarchy in a few words."""
    if hierarchy is None:
        return words.say("app.coarsening.summary.none")
    if hierarchy.tree is not None:
        groups = [
            len({path[step] for path in hierarchy.tree.values()}) for step in range(hierarchy.height - 1)
        ]
        return words.say("app.coarsening.summary.tree", groups=", ".join(map(str, groups)))
    if hierarchy.codes:
        return words.say("app.coarsening.summary.codes", name=code_systems()[hierarchy.codes].title)
    if hierarchy.cuts:
        steps = "; ".join(", ".join(str(shortest_json(cut)) for cut in step) for step in hierarchy.cuts)
        return words.say("app.coarsening.summary.cuts", steps=steps)
    parts: Iterable[Any] = (
        (shortest_json(width) for width in hierarchy.bands)
        if hierarchy.bands
        else hierarchy.prefix
        or hierarchy.suffix
        or [words.say(f"app.coarsening.periods.{word}") for word in hierarchy.calendar]
    )
    named = {BANDS: hierarchy.bands, PREFIX: hierarchy.prefix, SUFFIX: hierarchy.suffix}
    form = next((name for name, steps in named.items() if steps), PERIODS)
    return words.say(f"app.coarsening.summary.{form}", steps=", ".join(map(str, parts)))


# --- groups of values --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Groups:
    """Values with their group on every step; ``""`` where a value has none yet."""

    paths: Mapping[str, tuple[str, ...]]
    height: int = 1

    @staticmethod
    def of(values: Iterable[str], tree: Mapping[str, Sequence[str]] | None = None) -> Groups:
        """Return values with the groups of a tree, or without any."""
        height = max((len(path) for path in (tree or {}).values()), default=1)
        empty = ("",) * height
        paths = {value: tuple((tree or {}).get(value, empty)) for value in values if value != MISSING}
        return Groups({**paths, **{value: tuple(path) for value, path in (tree or {}).items()}}, height)

    def put(self, values: Iterable[str], step: int, group: str) -> Groups:
        """Return them with values in a group on a step; who shares a group shares everything above it.

        Examples
        --------
        >>> Groups.of(["a", "b", "c"]).put(["a", "b"], 0, "early").tree()
        {'tree': {'a': ['early'], 'b': ['early']}}
        """
        moved = set(values)
        if step:  # those of one group below go together
            below = {self.paths[value][step - 1] for value in moved} - {""}
            moved |= {value for value, path in self.paths.items() if path[step - 1] in below}
        others = [path for value, path in self.paths.items() if path[step] == group and value not in moved]
        above = others[0][step + 1 :] if others and group else None
        if above is None:
            found = {self.paths[value][step + 1 :] for value in moved}
            above = found.pop() if len(found) == 1 else ("",) * (self.height - step - 1)
        changed = {value: (*self.paths[value][:step], group, *above) for value in moved}
        return replace(self, paths={**self.paths, **changed})

    def members(self, step: int, group: str) -> tuple[str, ...]:
        """Return the values of a group on a step; of a value, step -1, the value itself."""
        if step < 0:
            return (group,) if group in self.paths else ()
        return tuple(value for value, path in self.paths.items() if path[step] == group)

    def renamed(self, step: int, group: str, name: str) -> Groups:
        """Return them with a group of another name; where another has that name, the two are one from now on.

        Without a name it is dissolved: its values have no group on that step.

        Examples
        --------
        >>> Groups.of("abc", {"a": ["x"], "b": ["y"], "c": ["y"]}).renamed(0, "y", "x").tree()
        {'tree': {'a': ['x'], 'b': ['x'], 'c': ['x']}}
        """
        return self.put(self.members(step, group), step, name)

    def higher(self) -> Groups:
        """Return them with one step more, on which nobody has a group yet."""
        return Groups({value: (*path, "") for value, path in self.paths.items()}, self.height + 1)

    def lower(self) -> Groups:
        """Return them without the last step."""
        if self.height == 1:
            return self
        return Groups({value: path[:-1] for value, path in self.paths.items()}, self.height - 1)

    @property
    def without(self) -> tuple[str, ...]:
        """The values that lack a group on some step."""
        return tuple(value for value, path in self.paths.items() if not all(path))

    def tree(self) -> dict[str, Any] | None:
        """Return the values that have all their groups, as a schema writes them; None for none."""
        whole = {value: list(path) for value, path in self.paths.items() if all(path)}
        return {TREE: whole} if whole else None


def listed_values(column: Column) -> tuple[str, ...]:
    """Return the declared values of a column; empty where none are declared."""
    from engine.table.fitting import list_declared  # on first use: it brings pandas along

    return list_declared(column)


def numbers(text: str) -> list[Any]:
    """Return numbers that are separated by commas or blanks; what is none stays a text, and is refused."""
    found: list[Any] = []
    for part in text.replace(";", " ").replace(",", " ").split():
        value = surely(part)
        found.append(part if value is None else shortest_json(value))
    return found


__all__ = [
    "CALENDAR",
    "Groups",
    "forms",
    "listed_values",
    "numbers",
    "read_hierarchy",
    "shown_values",
    "start_hierarchy",
    "steps_of",
    "summary",
]
