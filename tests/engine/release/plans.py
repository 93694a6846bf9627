"""Plans nobody would write: good ones, changed at random places, as the text of a file."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from tests.engine.adversarial.requests import PARAMETERS, plan_for

SIZES = (0.001, 0.1, 0.5, 1, 2, 3, 7, 20, 1000, 10**6, 10**9, "1/3", "1e-5", 1e12, 10**15)
NUMBERS: tuple[Any, ...] = (
    *(0, 1, 2, 3, -1, 0.5, "1/3", "0.1", 1e-9, 1e-300, 1e300, "1e400", "1e-400", 10**15, 10**40, 10**400),
    *("1/0", "", "x", "nan", "inf", "-0", 1000, 10**6, 10**9, 1e6, 2**53 + 1, 700, 0.999999, "5e-324"),
)
WORDS: tuple[Any, ...] = (
    *("", " ", "x", "a\0b", "\ud7ff", "a" * 300, "a" * 70_000, "=1+1", "../x", "2020-01-01", "today", "None"),
    *("person", "sex", "visits", "score", "weight", "seen", "nobody", "count", "(other)", "people"),
)
OTHER: tuple[Any, ...] = (None, True, False, [], {}, [[]], [None], {"a": None}, [1, 2], ["f", "m"])
COLUMN = ("person", "sex", "visits", "score", "weight", "seen", "nobody", "band", "age")
MEANINGS = ("integer", "number", "category", "ordinal", "date", "text", "other", "sensitive", "person_key")
MEANT: dict[Any, tuple[Any, ...]] = {
    "role": (
        "direct_identifier",
        "not_recognised",
        "identifying",
        "sensitive",
        "other",
        "person_key",
        "weight",
        "dropped",
    ),
    "kind": ("category", "ordinal", "integer", "number", "date", "text"),
    "domain_origin": ("declared", "code_list", "copied"),
    "neighbours": ("add_remove", "replace_one"),
    "rows_per_person": (1, 2, 3, 1000, 10**6, 10**12),
    "people": (None, 1, 6, 10**9, 10**11, 10**12),
    "is": ("in", "not_in", "at_least", "at_most", "between", "missing", "not_missing", "equals"),
    "date_order": ("ymd", "dmy", "mdy"),
    "currency": ("", "EUR", "¥", "x" * 3000),
    "declared_sizes": ([], [1], [5, 20], [10**12], [10**400]),
}
STEPS: tuple[dict[str, Any], ...] = (
    {"step": "keep_rows_where", "column": "score", "is": "between", "minimum": 0, "maximum": 2},
    {"step": "keep_rows_where", "column": "sex", "is": "in", "values": ["f"]},
    {"step": "keep_rows_where", "column": "band", "is": "missing"},
    {"step": "keep_rows_where", "column": "seen", "is": "at_least", "value": "2020-01-01"},
    {"step": "drop_people", "file": "objected.csv"},
    {"step": "age_at", "column": "seen", "date": "2024-02-29", "to": "age", "minimum": 0, "maximum": 9},
    {"step": "bands", "column": "score", "edges": [-2, 0, 1, 3], "to": "band"},
    {"step": "bands", "column": "score", "edges": [-2, 0, 3]},
    {"step": "recode", "column": "sex", "map": {"f": "w", "m": "w"}, "others": "keep"},
    {"step": "recode", "column": "visits", "map": {"1": "2"}, "to": "again", "others": "missing"},
    {"step": "recode", "column": "person", "file": "words.csv", "to": "group"},
    {"step": "recode", "column": "person", "map": {"7": "8"}},
)


def a_plan(draw: random.Random) -> str:
    """Return a plan as the text of its file: a method's own, some steps, and up to five changes."""
    name = draw.choice(list(PARAMETERS))
    tree = json.loads(plan_for(name, cap=draw.choice((None, 1, 2, 2, 10))).dumps())
    if draw.random() < 0.6:
        tree["price"] |= {"people": 6, "compensation": 500}
    tree["preparation"] = [
        json.loads(json.dumps(draw.choice(STEPS))) for _ in range(draw.choice((0, 0, 1, 2, 4)))
    ]
    for _ in range(draw.choice((0, 1, 1, 2, 3, 5))):
        _change(tree, draw)
    return json.dumps(tree)


def _change(tree: Any, draw: random.Random) -> None:
    """Put something else at a random place, take it away or put something beside it."""
    inside, place = draw.choice([*_places(tree)])
    if draw.random() < 0.1:
        del inside[place]
    elif isinstance(inside, dict) and draw.random() < 0.05:
        inside[draw.choice(WORDS)] = _value(draw, None)
    else:
        meant = MEANT.get(place) if isinstance(place, str) else None
        inside[place] = deepcopy(draw.choice(meant)) if meant else _value(draw, inside[place])


def _places(tree: Any) -> Iterator[tuple[Any, Any]]:
    """Give every place of a tree, but not what says which form the plan has."""
    for place in list(tree) if isinstance(tree, dict) else range(len(tree)):
        if isinstance(tree[place], dict | list) and tree[place]:
            yield from _places(tree[place])
        if place not in ("version", "method", "method_version"):
            yield tree, place


def _value(draw: random.Random, old: Any) -> Any:
    """Return another value: mostly of the kind that stands there, for only these get past the first look."""
    if draw.random() < 0.1:
        kinds = [NUMBERS, WORDS, OTHER]
    elif isinstance(old, str):
        kinds = [WORDS, COLUMN, MEANINGS]
    else:
        kinds = [SIZES, SIZES, NUMBERS] if isinstance(old, int | float) else [OTHER, WORDS, NUMBERS]
    return deepcopy(draw.choice(draw.choice(kinds)))
