"""One rule says whether a release can say something: before it is paid for, and when it was made."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from engine.methods.catalogue import method, methods
from engine.methods.filling import Filling, Judged, judged_by_margin, judged_by_need
from engine.methods.protocol import Budget, Spends
from engine.methods.shared.cells import Extra
from engine.release.examples import plans
from engine.release.mock import Mock, mock
from engine.release.plan import Plan
from engine.release.verdict import Came, came, remedies, silent_cells, silent_effects, verdict
from engine.views import TableView, Text, weak

# How much the components of rows that nobody knows say, nobody knows beforehand.
UNTOLD = {"models.directions", "models.pca", "statistics.density"}
BOUGHT = [one.id for one in methods() if one.spends is Spends.CHOSEN and plans(one)]


def example(method_id: str, **changes: Any) -> Plan:
    return replace(plans(method(method_id))[0], **changes)


def foreseen(plan: Plan, tried: Mock | None = None) -> Any:
    return verdict(plan, plan.design.forecast, tried)


def told(of: int, silent: int) -> TableView:
    rows = tuple((f"v{at}", 1.0, Text("m.views.nothing") if at < silent else None) for at in range(of))
    return TableView(Text("m.views.effects.title"), ("value", "adds", "note"), rows)


@pytest.mark.parametrize("name", BOUGHT)
def test_what_is_paid_for_has_a_verdict_before(name: str) -> None:
    found = foreseen(example(name))
    assert (found is None) == (name in UNTOLD)
    assert found is None or (isinstance(found, Filling | Judged) and not found.is_useless), name


@pytest.mark.parametrize("name", ["models.additive", "models.tree", "models.naive_bayes", "models.k_means"])
def test_a_smaller_level_says_less_until_it_says_nothing(name: str) -> None:
    plan = example(name)
    levels = [Fraction(1, part) for part in (1, 4, 16, 64, 256, 1024)]
    shares = [foreseen(replace(plan, budget=replace(plan.budget, epsilon=one))).share for one in levels]
    assert shares == sorted(shares, reverse=True)
    assert shares[0] > 0.9 and shares[-1] < 0.5


def test_a_verdict_is_the_same_whatever_the_rows_hold(tmp_path: Path) -> None:
    """No file is opened: the plans name none that exists."""
    for name in BOUGHT:
        plan = example(name)
        gone = replace(plan, files={key: replace(one, path="gone.csv") for key, one in plan.files.items()})
        assert foreseen(plan) == foreseen(gone)


def test_effects_need_rows_and_all_rows_are_shared_by_the_values_of_a_column() -> None:
    found = judged_by_need(7026.3, [12, 47], 4095, "methods.models.additive.judged")
    assert found.is_useless and found.share == 0
    assert found.said.values == {"rows": 4095, "needed": 7027, "effects": 59, "below": 59}
    assert judged_by_need(100, [2, 5], 500, "t").said.id == "t.all"
    assert judged_by_margin(60, 400, "t", groups=8).is_useless


def test_a_model_of_noise_is_known_before_it_is_paid_for_and_remedies_help() -> None:
    plan = example("models.additive")
    thin = replace(plan, budget=Budget(Fraction(1, 5)))
    found = foreseen(thin)
    assert isinstance(found, Judged) and found.is_useless
    better = remedies(thin)
    assert better and all(one.verdict.share > found.share for one in better)


def test_cells_that_stay_empty_are_foreseen() -> None:
    """Of the very people whom the preview shows: each number in brackets there counts."""
    plan = example("statistics.counts", budget=Budget(Fraction(1)))
    plan = replace(plan, price=replace(plan.price, people=60))
    tried = mock(plan)
    assert tried is not None and tried.people == 60
    shown = silent_cells(tried.views, is_model=False)
    assert shown is not None and shown.silent
    bound, found = foreseen(plan), foreseen(plan, tried)
    assert found.silent_tried == shown.silent
    assert found.share == pytest.approx(min(bound.share, 1 - shown.silent / found.cells))
    other = replace(tried, people=61)
    assert foreseen(plan, other) == bound, "other people say nothing of these"


def test_a_release_is_judged_by_the_share_that_judged_its_plan() -> None:
    counts = example("statistics.counts")

    def counted(silent: int) -> TableView:
        rows = tuple(("a", weak(0) if at < silent else 9) for at in range(12))
        return TableView("t", ("group", "count"), rows)

    assert came(counts, (counted(0),)) == ()
    for silent in (5, 6, 7):
        (found,) = came(counts, (counted(silent),))
        assert (found.what, found.silent, found.of) == ("cells", silent, 12)
        assert found.is_useless == replace(foreseen(counts), cells=12, silent_tried=silent).is_useless


def test_effects_that_are_none_make_a_model_useless_only_where_the_noise_did_it() -> None:
    plan = example("models.additive")
    thin = replace(plan, budget=Budget(Fraction(1, 5)))
    assert silent_effects((told(59, 47),)) == Came("effects", 47, 59)
    (enough,), (noise,) = came(plan, (told(59, 47),)), came(thin, (told(59, 47),))
    assert not enough.is_useless and noise.is_useless
    assert noise.before == foreseen(thin)
    assert came(plan, (told(59, 0),)) == ()


@pytest.mark.parametrize("mark", ["models.effects.empty", "models.effects.aside"])
def test_effects_of_values_that_hardly_anybody_may_have_are_not_told_from_nothing(mark: str) -> None:
    """They have no limits, or limits that leave zero by noise alone: before, they counted as told."""
    rows = tuple((f"v{at}", 1.0, Text(mark) if at < 28 else Text("m.views.nothing")) for at in range(36))
    found = silent_effects((TableView(Text("m.views.effects.title"), ("value", "adds", "note"), rows),))
    assert found == Came("effects", 36, 36)


def counted_by(extra: str, epsilon: Fraction, people: int, **more: Any) -> Plan:
    plan = example("statistics.counts", budget=Budget(epsilon))
    values = {**plan.parameters, "extra_cells": extra, **more}
    return replace(plan, parameters=values, price=replace(plan.price, people=people))


@pytest.mark.parametrize("totals", [False, True])
@pytest.mark.parametrize("extra", list(Extra))
def test_cells_that_exist_for_completeness_are_not_judged(extra: str, totals: bool) -> None:
    """Nothing is missing among invented people: the verdict is that without the cells for it."""
    plan, bare = (counted_by(one, Fraction(10), 9_000, totals=totals) for one in (extra, "left_out"))
    more, none = foreseen(plan, mock(plan)), foreseen(bare, mock(bare))
    assert plan.design.cells.size > bare.design.cells.size or extra == "left_out"
    assert more.cells == none.cells == bare.design.cells.size
    assert not more.is_useless and not none.is_useless
    assert more.share == none.share == 1


@pytest.mark.parametrize("extra", list(Extra))
def test_a_release_whose_declared_cells_are_mostly_empty_is_useless_with_or_without_others(
    extra: str,
) -> None:
    plan = counted_by(extra, Fraction(1, 100), 900)
    assert foreseen(plan).is_useless
    thin = counted_by(extra, Fraction(1), 20, totals=False)  # else the margins may be the emptiest column
    tried = mock(thin)
    assert tried is not None and foreseen(thin, tried).is_useless
    (found,) = came(thin, tried.views)
    assert found.is_useless and found.of == thin.design.cells.declared


@pytest.mark.parametrize(
    "name", [one for one in BOUGHT if "extra_cells" in {option.name for option in method(one).parameters}]
)
def test_every_way_with_such_cells_counts_only_what_was_declared(name: str) -> None:
    bare = example(name)
    made = []
    for extra in (Extra.LEFT_OUT, Extra.SEPARATE):
        plan = replace(bare, parameters={**bare.parameters, "extra_cells": extra.value})
        counted = plan.design.forecast.counted
        made.append((None if counted is None else counted.cells, plan.design.cells))
    assert made[0][0] == made[1][0] and made[0][1].declared == made[1][1].declared


def test_moves_that_nobody_makes_do_not_make_moves_between_places_noise() -> None:
    """Places are what people are spread over; most pairs of them stay empty, and their lines in brackets."""
    plan = example("statistics.flows")
    rows = tuple(("A", "B", weak(0) if at < 38 else 90) for at in range(40))
    tried = Mock((), (TableView("t", ("from", "to", "a week"), rows),), 1200)
    found = foreseen(replace(plan, price=replace(plan.price, people=1200)), tried)
    assert found.cells == 6 and found.silent_tried is None and not found.is_useless
