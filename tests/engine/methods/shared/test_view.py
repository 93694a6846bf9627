"""A method gets answers to what it declared, whoever holds the rows and however they are cut."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from engine.methods.catalogue import methods
from engine.methods.protocol import MAIN, Context, Method, Reads, Release, Service, TableArtefact
from engine.methods.shared.cells import Cells
from engine.methods.shared.quantity import Quantity
from engine.methods.shared.view import View
from engine.privacy.noise import Noise
from engine.release.check import check
from engine.release.examples import plans
from engine.release.make import make
from engine.release.plan import Plan
from engine.release.reading import cap_rows, read_all
from engine.table.table import Table, Tallied
from tests.noise_source import seeded_noise

EXAMPLES = Path("resources/examples")
CUTS = (0, 1, 1, 7, 500)


class Cut(View):
    """A view whose rows come in pieces of odd lengths; every second one tells alike rows as one."""

    def _pieces(self, names: Sequence[str]) -> Iterator[pd.DataFrame]:
        (frame,) = super()._pieces(names)
        ends = [*CUTS, len(frame)]
        for start, end in zip(ends, [*ends[1:], len(frame)], strict=True):
            yield frame.iloc[start:end].reset_index(drop=True)

    def _tallied(self, names: Sequence[str]) -> Iterator[Tallied]:
        for place, frame in enumerate(self._pieces(names)):
            if place % 2 == 0:
                yield frame, None
                continue
            alike = pd.Series(list(frame.astype("str").itertuples(index=False, name=None)), dtype=object)
            which, distinct = pd.factorize(alike)
            often = np.bincount(which, minlength=len(distinct))
            yield frame[~alike.duplicated()].reset_index(drop=True), often


def asking_less() -> list[tuple[type[Method], Plan]]:
    """Return an example of every way that needs no rows."""
    found = []
    for method in methods():
        if method.sources and not issubclass(method, Service):
            found += [(method, plan) for plan in plans(method)]
    asking = [(way, plan) for way, plan in found if check(plan, base=EXAMPLES).needs is not Reads.ROWS]
    return list({way.id: (way, plan) for way, plan in reversed(asking)}.values())  # the first of each


ASKING = asking_less()
NAMES = [way.id for way, _ in ASKING]


def contents(release: Release) -> list[object]:
    found: list[object] = []
    for one in release.artefacts:
        if isinstance(one, TableArtefact):
            found += [frame.to_csv(index=False) for frame in one.frames]
        else:
            found.append(getattr(one, "content", getattr(one, "parts", None)))
    return found


def test_many_ways_need_no_rows() -> None:
    declared = {way.id: check(plan, base=EXAMPLES).needs for way, plan in ASKING}
    assert set(declared.values()) == set(Reads) - {Reads.ROWS}
    assert len(declared) >= 13


@pytest.mark.parametrize(("way", "plan"), ASKING, ids=NAMES)
def test_pieces_give_the_same_release_to_the_byte(way: type[Method], plan: Plan, tmp_path: Path) -> None:
    design = check(plan, base=EXAMPLES)
    prepared = read_all(plan, design.sources_read, base=EXAMPLES, design=design)
    used = {name: cap_rows(one, seeded_noise(3)) for name, one in prepared.items()}
    told = []
    for kind in (View, Cut):
        shown = {name: kind(one, design.needs) for name, one in used.items()}
        told.append(contents(design.run(shown, Context(seeded_noise(5), None, tmp_path))))
    assert told[0] == told[1] and told[0]


@pytest.mark.parametrize(("way", "plan"), ASKING, ids=NAMES)
def test_who_asks_for_more_than_was_declared_gets_nothing(
    way: type[Method], plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every way of the catalogue, sabotaged: its run looks at the rows first."""
    design = check(plan, base=EXAMPLES)
    prepared = read_all(plan, design.sources_read, base=EXAMPLES, design=design)
    got: list[Table] = []

    class Curious(way):  # type: ignore[valid-type, misc]
        def run(self, tables: dict[str, Table], context: Context) -> Release:
            got.append(tables[MAIN])
            tables[MAIN].rows()
            raise AssertionError("it saw the rows")

    with pytest.raises(PermissionError, match=f"{design.needs} were declared, not rows"):
        make(Curious(design.request), prepared, Noise(), folder=tmp_path)
    assert type(got[0]) is View
    assert len(got[0].with_findings(()).with_rows(got[0].only(got[0].names)._frame)) == 0


@pytest.mark.parametrize("declared", Reads)
def test_each_answer_wants_its_own_declaration(declared: Reads) -> None:
    view = View(Table(pd.DataFrame({"x": [1.0, 2.0]})), declared)
    asked = {
        Reads.COUNTS: lambda: view.counts(Cells(())),
        Reads.SUMS: lambda: view.sums(Quantity(), Cells(())),
        Reads.COMBINATIONS: lambda: view.combinations([]),
        Reads.CODED: lambda: view.coded("x", np.int64, np.asarray),
        Reads.ROWS: lambda: (view.rows(), view.encoded("x")),
    }
    order = list(Reads)
    for need, ask in asked.items():
        if order.index(need) > order.index(declared):
            with pytest.raises(PermissionError):
                ask()
        elif need in (Reads.COUNTS, Reads.CODED):
            ask()
