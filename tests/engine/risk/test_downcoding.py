"""Groups written finer again: never wrongly, and as far as the rule allows."""

from itertools import combinations_with_replacement, product
from time import process_time

import numpy as np
import pandas as pd
import pytest

from engine.methods.datasets.ascending import make_ascending_groups
from engine.methods.datasets.recoding import Ladder, Members
from engine.risk.downcoding import _parts, downcoding
from engine.table.hierarchies import Hierarchy
from tests.engine.methods.datasets.test_recoding import FORMS, drawn, prepared
from tests.ratios import TIMED, slack

NAMES = ("t", "n", "s")
TREE = Hierarchy(tree={"a": ("ab",), "b": ("ab",), "c": ("cd",), "d": ("cd",)})
HIERARCHIES = dict(zip(NAMES, FORMS, strict=True))


def released_rows(seed, k):
    """Return the rows as they leave and as they were."""
    table, person = drawn(seed)
    codes, members, ladders, number = prepared(table, person)
    found = make_ascending_groups(codes, members, ladders, k=k)
    if found is None:
        return None
    steps = found.steps[:, found.group[number]]
    read = [
        [form.at([value], step)[0] for value, step in zip(column, own, strict=True)]
        for form, column, own in zip(FORMS, table, steps.tolist(), strict=True)
    ]
    return pd.DataFrame(dict(zip(NAMES, read, strict=True))), pd.DataFrame(
        dict(zip(NAMES, table, strict=True))
    )


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("k", [2, 4])
def test_every_description_is_true_for_somebody(seed, k):
    found = released_rows(seed, k)
    if found is None:
        return
    released, original = found
    values = {name: sorted(set(original[name])) for name in NAMES}
    predicates = alone = 0
    for name in NAMES:
        parts = _parts(HIERARCHIES[name], values[name], 0)
        for _, group in released.groupby(list(NAMES)):
            for _, members in parts.get(group[name].iloc[0], ()):
                count = int(original.loc[group.index, name].isin(list(members)).sum())
                assert count >= 1
                predicates, alone = predicates + 1, alone + (count == 1)
    attack = downcoding(released, HIERARCHIES, values, original=original)
    assert (attack.predicates, attack.alone) == (predicates, alone)
    assert attack.groups == len(released.drop_duplicates()) and attack.rows == len(released)


def release_of(values):
    """Return what some values read, sorted, in groups of two or more."""
    ladder = Ladder.of([*"abcd"], TREE)
    codes = np.arange(4)[:, None]
    own = ladder.place(list(values))
    kept = np.unique(own)
    members = Members(np.searchsorted(kept, own), np.arange(len(own)))
    found = make_ascending_groups(codes[kept], members, [ladder], k=2)
    steps = found.steps[0][found.group[members.combination]]
    return tuple(sorted(TREE.at([value], step)[0] for value, step in zip(values, steps, strict=True)))


def test_what_is_certain_is_what_all_tables_share_that_give_the_release():
    """All tables of four people in four towns: what each claims is true in every table that reads alike."""
    giving = {}
    for values in combinations_with_replacement("abcd", 4):
        giving.setdefault(release_of(values), []).append(values)
    parts = _parts(TREE, [*"abcd"], 0)
    open_, wrong = 0, 0
    for release, tables in giving.items():
        for text, (one, other) in parts.items():
            inside = release.count(text)
            for (_, members), values in product((one, other), tables):
                # Towns below the text; rows of other texts are towns of other groups
                open_ += inside > 0
                wrong += inside > 0 and not any(value in members for value in values)
    assert open_ > 20 and not wrong


def test_ranges_have_somebody_at_both_ends():
    released = pd.DataFrame({"age": ["[31, 44]"] * 3 + ["[50, 51]"] * 2 + ["60"] * 2})
    original = pd.DataFrame({"age": ["31", "40", "44", "50", "51", "60", "60"]})
    found = downcoding(released, {}, {}, original=original)
    assert (found.open_groups, found.predicates, found.alone) == (2, 4, 4)
    assert found.finer == pytest.approx(4 / 7)


def test_nothing_is_claimed_below_the_least_step_or_of_three_parts():
    ages = Hierarchy(bands=(10, 20))
    values = {"age": ["0", "10", "20", "30"]}
    released = pd.DataFrame({"age": ["[0, 20)"] * 2})
    assert downcoding(released, {"age": ages}, values).predicates == 2
    assert downcoding(released, {"age": ages}, values, least={"age": 2}).predicates == 0
    three = {"age": ["0", "1", "2"]}
    assert downcoding(pd.DataFrame({"age": ["[0, 10)"] * 3}), {"age": ages}, three).predicates == 0
    assert downcoding(released.iloc[:0], {"age": ages}, values).finer == 0


@TIMED
def test_many_groups_are_written_finer_in_the_time_of_few_looks_at_the_rows(timed):
    """4,000 groups of a range each, of which 3,000 differ: counted together, not text by text."""
    low = np.arange(4000) % 3000
    first, last = low.astype(str), (low + 7).astype(str)
    released = pd.DataFrame({"group": np.repeat(np.arange(4000).astype(str), 3)})
    released["age"] = np.repeat([f"[{one}, {other}]" for one, other in zip(first, last, strict=True)], 3)
    original = released.assign(age=np.stack([first, last, (low + 3).astype(str)]).T.ravel())
    started = process_time()
    found = downcoding(released, {}, {}, original=original)
    assert not timed or process_time() - started < 1 * slack()
    assert (found.open_groups, found.predicates, found.alone) == (4000, 8000, 8000)
