"""Of a table that memory does not hold a sample of people is kept, the same part of every table."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from engine import arrays
from engine.errors import InputRefused
from engine.ledger import Ledger, people, traces
from engine.ledger.people import MOST_KEPT, NONE, Digests, Gathered, below, halvings
from engine.progress import SILENT
from engine.release import charge, served
from engine.release.run import run_through
from engine.table.schema import Kind
from tests.engine.adversarial.requests import HEADER, plan_for
from tests.noise_source import seeded_noise

MADE = np.random.default_rng(11)
EVERY = arrays.distinct(MADE.integers(0, 2**64, 1_500_000, dtype=np.uint64))
SOME = MADE.permutation(EVERY)


def kept(digests: Digests, pieces: int = 5) -> Digests:
    """Return what is kept of people that come in pieces."""
    found = Gathered(most=MOST_KEPT)
    for piece in np.array_split(digests, pieces):
        found.add(piece)
    return found.found()


def fresh(folder: Path) -> Ledger:
    return Ledger(folder / "ledger.db")


def holding(ledger: Ledger, name: str) -> str:
    budget = {"epsilon": Fraction(5), "delta": Fraction(0)}
    return ledger.create_holding(name, unit="person", neighbours="add_remove", **budget).id


def test_the_same_part_is_kept_however_they_come() -> None:
    first = kept(SOME)
    assert MOST_KEPT / 2.1 < first.size <= MOST_KEPT
    assert (first == kept(MADE.permutation(SOME), 17)).all()
    assert (first == below(EVERY, halvings(first))).all() and halvings(first) == 3
    assert halvings(EVERY) == 0 and (kept(EVERY[:1000]) == EVERY[:1000]).all()


def test_shared_people_are_known_again_by_samples_of_other_sizes(tmp_path: Path) -> None:
    """30,000 of 600,000 are shared; the estimate errs by five standard errors once in 10⁶ times."""
    ledger = fresh(tmp_path)
    one = holding(ledger, "A")
    ledger.attach(one, "a" * 64, kept(SOME[:900_000]), ("x", "y"))
    found = ledger.match("b" * 64, kept(SOME[870_000:1_470_000]), ("u", "v"))
    assert [match.grounds for match in found] == [("people",)]
    assert abs(found[0].people_shared - 30_000) < 5 * (30_000 * 4) ** 0.5
    assert abs(found[0].people - 600_000) < 5 * (600_000 * 4) ** 0.5
    assert not ledger.match("c" * 64, kept(SOME[900_000:]), ("u", "v"))


def test_a_small_table_is_known_by_everybody_beside_a_large_one(tmp_path: Path) -> None:
    ledger = fresh(tmp_path)
    one = holding(ledger, "A")
    ledger.attach(one, "a" * 64, np.sort(SOME[:1000]), ("x", "y"))
    ledger.attach(one, "b" * 64, kept(SOME[1000:]), ("x", "y"))
    (found,) = ledger.match("c" * 64, np.sort(SOME[950:1050]), ("u", "v"))
    assert found.people_shared >= 50
    (again,) = ledger.match("b" * 64, kept(SOME[1000:]), ("x", "y"))
    assert again.same_table and again.people_shared == again.people


def test_the_chance_of_short_numbers_is_that_of_the_part() -> None:
    """Running numbers of two registers agree by coincidence, in a part as in all."""
    numbers = [str(one) for one in range(200_000, 500_000)]
    first, second = (people.digests(b"k", some) for some in (numbers[:180_000], numbers[120_000:]))
    for halved in (0, 3):
        a, b = below(first, halved), below(second, halved)
        shared = a[people.among(a, b)]
        assert people.chance_of_coincidence(a, b, shared, halved) == 1


def test_nobody_is_called_a_stranger_by_a_sample() -> None:
    table = traces.traces_of(b"k", "a" * 64, kept(SOME), (), NONE, NONE)
    known = traces.Known(1, "person", table.size, "b" * 64, frozenset(), kept(SOME[:900_000]), 0, NONE, NONE)
    assert traces.relate_tables([known], {"b" * 64}, 2, table, SOME[:10], "person").strangers is None
    whole = replace(known, people=np.sort(SOME[:100]), size=100)
    small = traces.traces_of(b"k", "a" * 64, SOME[90:110], (), NONE, NONE)
    strangers = traces.relate_tables([whole], {"b" * 64}, 2, small, SOME[90:110], "person").strangers
    assert strangers is not None and strangers.sum() == 10


def test_a_release_from_the_disk_keeps_a_sample_and_is_known_by_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(served, "most_memory", lambda: 0)
    monkeypatch.setattr(charge, "MOST_KEPT", 64)
    monkeypatch.setattr(people, "_FEWEST_OF_MANY", 16)
    ledger, seen = fresh(tmp_path), []
    attach = Ledger.attach

    def noted(self: Ledger, holding: str, fingerprint: str, digests: Digests, *more: object, **named: object):
        seen.append(digests.size)
        return attach(self, holding, fingerprint, digests, *more, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(Ledger, "attach", noted)

    def run(first: int, value: str, holding: str) -> None:
        rows = [f"a person with number {one},{value},1,1,1," for one in range(first, first + 600)]
        (tmp_path / "people.csv").write_text("\n".join([HEADER, *rows]) + "\n")
        plan = plan_for("counts", cap=1, holding=holding)
        schema = plan.schema.with_column(replace(plan.schema.columns[0], kind=Kind.TEXT, missing=()))
        plan = replace(plan, schemas={"people": schema})
        door = lambda spend: seeded_noise(1, on_first_draw=spend)  # noqa: E731
        run_through(plan, tmp_path / f"out{first}", ledger, tmp_path, "en", SILENT, door)

    run(0, "f", "First")
    assert 16 <= seen[0] <= 64
    with pytest.raises(InputRefused, match=r"ledger\.known_people") as refused:
        run(300, "m", "Second")
    assert 0 < int(str(refused.value.values["shared"])) <= 600
