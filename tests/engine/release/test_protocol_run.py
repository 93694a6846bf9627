"""Ways of releasing that are no private statistic: without noise, with other tables, in visits, held out."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from engine import texts
from engine.errors import InputRefused
from engine.evaluation import catalogue as measures
from engine.evaluation.protocol import InternalMeasure, InternalMeasured, Need, Private
from engine.ledger import Ledger
from engine.methods import catalogue, option
from engine.methods.protocol import (
    Budget,
    Context,
    DictionaryEntry,
    Family,
    FileArtefact,
    Inside,
    Method,
    ModelArtefact,
    Reference,
    Release,
    Service,
    Shape,
    Source,
    Spends,
    Step,
    TableArtefact,
)
from engine.once import once
from engine.privacy.events import Sequential
from engine.privacy.mechanisms import LaplaceCounts, Stated
from engine.privacy.mechanisms.integers import listening, noisy
from engine.privacy.noise import Noise
from engine.privacy.promise import Loss, Neighbours, Promise, Unit
from engine.release import make as making
from engine.release.check import check
from engine.release.compare import compare
from engine.release.make import Split
from engine.release.plan import FileReference, Plan, Purpose
from engine.release.preview import preview
from engine.release.run import run, run_through
from engine.release.verify import verify
from engine.table.schema import Column, Domain, Kind, Origin, Role, Schema
from engine.table.table import Table
from engine.views import Text
from tests.noise_source import seeded_noise

PERSON = Column("person", Role.PERSON_KEY, Kind.TEXT)
SEX = Column("sex", Role.IDENTIFYING, Kind.CATEGORY, Domain(values=("f", "m")), Origin.DECLARED)
NOTE = Column("note", Role.OTHER, Kind.CATEGORY)
SCHEMA = Schema((PERSON, SEX, NOTE), 1)
OPTIONS = {
    "format": "text", "delimiter": ",", "encoding": "utf-8", "header": True, "skip_rows": 0, "decimal": ".",
    "thousands": "", "quote": '"', "escape": "", "line_ends": "\n", "date_order": "ymd", "width": 3,
}  # fmt: skip
MEANING = Text("promises.none.name")
ENTRY = (DictionaryEntry("sex", MEANING, "category"),)
NOTHING = Promise("none", None, Unit.PERSON, 1)


class Way(Method):
    """What the methods of these tests share."""

    family = Family.DATASET
    promises: tuple[str, ...] = ("none",)
    published = Reference("A test", "nowhere")


class Copies(Way):
    """Two shuffled copies of a column, without any guarantee."""

    id = "test.copies"
    spends = Spends.NOTHING
    held_out = True
    libraries = ("numpy",)

    class Options(option.Options):
        columns: option.Names = option.columns()
        copies: int = option.integer(default=2)

    options: Options

    @once
    def cost(self) -> Promise:
        return NOTHING

    def run(self, tables: Mapping[str, Table], context: Context) -> Release:
        assert context.chance is not None
        rows = tables["people"].rows()
        frames = tuple(
            pd.DataFrame({"sex": context.chance.permutation(rows["sex"].to_numpy())})
            for _ in range(self.options.copies)
        )
        inside = Inside(figures={"rows": len(rows)}, files={"key.txt": b"stays"})
        return Release((TableArtefact("copies", frames, ENTRY),), NOTHING, inside=inside)


class Follows(Way):
    """A bound that a theorem proves, from a parameter."""

    id = "test.follows"
    promises = ("pure_dp",)
    spends = Spends.FOLLOWS

    class Options(option.Options):
        level: Fraction = option.number(default="1/2")

    options: Options

    @once
    def cost(self) -> Promise:
        level = self.options.level
        event = Stated("test", level)
        return Promise("pure_dp", Loss(level, Fraction(0), Neighbours.ADD_REMOVE, event), Unit.PERSON, 1)

    def run(self, tables: Mapping[str, Table], context: Context) -> Release:
        assert context.chance is None and self.request.budget is None
        frame = pd.DataFrame({"sex": ["f", "m"]})
        return Release((TableArtefact("table", (frame,), ENTRY),), self.cost)


class Kit(Way):
    """Reads nothing."""

    id = "test.kit"
    sources = ()
    spends = Spends.NOTHING

    @once
    def cost(self) -> Promise:
        return replace(NOTHING, unit=Unit.ROW)

    def run(self, tables: Mapping[str, Table], context: Context) -> Release:
        assert not tables
        return Release((FileArtefact("kit.html", "text/html", b"<p>", MEANING),), self.cost)


class Joined(Way):
    """People beside a public table in several files."""

    id = "test.joined"
    spends = Spends.NOTHING
    sources = (
        Source(),
        Source("regions", Shape.PUBLIC, many=True),
        Source("more", Shape.PUBLIC, required=False),
    )

    class Options(option.Options):
        region: str = option.column(source="regions")

    options: Options

    @once
    def cost(self) -> Promise:
        return NOTHING

    def run(self, tables: Mapping[str, Table], context: Context) -> Release:
        assert set(tables) == {"people", "regions"}
        column = self.options.region
        frame = pd.DataFrame({"sex": tables["regions"].rows()[column].astype("str")})
        return Release((TableArtefact("regions", (frame,), ENTRY),), NOTHING)


class Desk(Way, Service):
    """Counts people of one sex: reserved once, asked in visits."""

    id = "test.desk"
    family = Family.SERVICE
    promises = ("pure_dp",)
    steps = (Step("ask", (Source(),), (option.text(name="sex"),)),)
    each = Fraction(1, 4)

    def one(self) -> LaplaceCounts:
        return LaplaceCounts(1, self.each)

    @once
    def cost(self) -> Promise:
        if not self.request.step:
            assert self.request.budget is not None
            questions = int(self.request.budget.epsilon / self.each)
            event = Sequential((self.one().event,) * questions)
            loss = Loss(self.request.budget.epsilon, Fraction(0), Neighbours.ADD_REMOVE, event)
        elif self.values.get("sex") in json.loads(self.request.state or b"{}"):
            loss = Loss(Fraction(0), Fraction(0), Neighbours.ADD_REMOVE, Sequential(()))
        else:
            loss = Loss(self.each, Fraction(0), Neighbours.ADD_REMOVE, self.one().event)
        return Promise("pure_dp", loss, Unit.PERSON, 1)

    @once
    def questions(self) -> tuple[str, ...]:
        cost = self.cost.loss
        return (self.values["sex"],) if self.request.step and cost is not None and cost.epsilon else ()

    def run(self, tables: Mapping[str, Table], context: Context) -> Release:
        return Release((), self.cost, state=b"{}")

    def step(self, step: str, tables: Mapping[str, Table], state: bytes, context: Context) -> Release:
        known, asked = json.loads(state), self.values["sex"]
        if asked not in known:
            exact = np.array([int((tables["people"].rows()["sex"] == asked).sum())])
            known[asked] = int(self.one().release(exact, context.noise)[0])
        frame = pd.DataFrame({"sex": [known[asked]]})
        artefact = TableArtefact("answer", (frame,), ENTRY)
        return Release((artefact,), self.cost, state=json.dumps(known).encode())


WAYS = (Copies, Follows, Kit, Joined, Desk)


@pytest.fixture(autouse=True)
def ways(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(catalogue, "methods", lambda: WAYS)
    monkeypatch.setattr(catalogue, "alone", lambda method_id: None)
    yield


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    lines = [f"p{i},{'fm'[i % 2]},n{i % 3}" for i in range(40)]
    (tmp_path / "people.csv").write_text("person,sex,note\n" + "\n".join(lines) + "\n")
    for name, regions in (("one", "a\nb\n"), ("two", "c\n")):
        (tmp_path / f"{name}.csv").write_text(f"region\n{regions}")
    return tmp_path


@pytest.fixture
def ledger(folder: Path) -> Ledger:
    return Ledger(folder / "ledger.sqlite")


def plan(way: type[Method], **changes: Any) -> Plan:
    made = Plan(
        method=way.id,
        files={"people": FileReference("people.csv", OPTIONS)},
        schemas={"people": SCHEMA},
        purpose=Purpose(title="A test", recipient="Nobody"),
        holding="Register",
    )
    return replace(made, **changes)


def released(made: Plan, folder: Path, ledger: Ledger, name: str = "out") -> dict[str, Any]:
    bundle = run(made, out=folder / name, ledger=ledger, base=folder)
    assert verify(bundle.folder, ledger=ledger).problems == ()
    return dict(json.loads((bundle.folder / "release" / "evidence.json").read_text()))


def test_a_release_without_noise_says_nothing_of_noise(folder: Path, ledger: Ledger) -> None:
    evidence = released(plan(Copies, parameters={"columns": ["sex", "note"]}), folder, ledger)
    assert evidence["noise"] == {}
    assert not {"budget", "bounds", "declared_sizes"} & set(evidence["decided"])
    assert evidence["decided"]["parameters"] == {"columns": ["sex", "note"], "copies": 2}
    names = {column["name"] for column in evidence["decided"]["columns"]}
    assert names == {"sex", "note", "person"}  # the undeclared one too
    assert evidence["decided"]["held_out"] == "1/5"
    assert [line["file"] for line in evidence["artefacts"]] == ["copies-1.csv", "copies-2.csv"]
    assert len(evidence["dictionary"]) == 1
    readme = (folder / "out" / "release" / "README.txt").read_text()
    assert not [word for word in ("noise", "ε", "margin", "sampler") if word in readme]
    (entry,) = ledger.entries()
    assert (entry.state, entry.loss, entry.epsilon) == ("complete", "unbounded", None)
    assert not ledger.status("Register").bounds_all
    inside = json.loads((folder / "out" / "internal" / "evidence.json").read_text())["internal"]
    assert inside["inside"]["rows"] + inside["input"]["rows_held_out"] == 40
    assert (folder / "out" / "internal" / "key.txt").read_bytes() == b"stays"
    assert not (folder / "out" / "release" / "key.txt").exists()


def test_a_level_that_follows_is_paid_without_a_budget(folder: Path, ledger: Ledger) -> None:
    asked = plan(Follows, holding_budget=Budget(Fraction(1)))
    evidence = released(asked, folder, ledger)
    assert evidence["noise"] == {} and "budget" not in evidence["decided"]
    assert evidence["decided"]["parameters"] == {"level": 0.5}
    assert ledger.status("Register").epsilon_left == Fraction(1, 2)
    more = replace(asked, parameters={"level": "3/4"})
    check(more)
    refused = preview(more, ledger).refusal  # known before it is run, in words
    assert refused is not None and refused.code == "ledger.over_budget"


def test_a_method_that_reads_nothing_needs_no_table(folder: Path, ledger: Ledger) -> None:
    evidence = released(plan(Kit, files={}, schemas={}), folder, ledger)
    assert evidence["input_name"] == "" and evidence["decided"]["columns"] == []
    (entry,) = ledger.entries()
    assert (entry.state, entry.loss) == ("complete", "none")
    assert ledger.status("Register").bounds_all


def test_every_declared_source_is_read(folder: Path, ledger: Ledger) -> None:
    public = Schema((Column("region", Role.OTHER, Kind.CATEGORY),))
    options = OPTIONS | {"width": 1}
    files = {
        "people": FileReference("people.csv", OPTIONS),
        "regions": FileReference("one.csv", options),
        "regions.2": FileReference("two.csv", options),
    }
    asked = plan(
        Joined, files=files, schemas={"people": SCHEMA, "regions": public}, parameters={"region": "region"}
    )
    evidence = released(asked, folder, ledger)
    assert (folder / "out" / "release" / "regions.csv").read_text() == "sex\na\nb\nc\n"
    named = {(column.get("source", "people"), column["name"]) for column in evidence["decided"]["columns"]}
    assert named == {("regions", "region"), ("people", "person")}
    with pytest.raises(InputRefused, match=r"plan\.no_schema"):
        check(replace(asked, schemas={"people": SCHEMA}))
    with pytest.raises(InputRefused, match=r"plan\.many_files"):
        check(replace(asked, files=files | {"people.2": files["people"]}))
    with pytest.raises(InputRefused, match=r"plan\.unknown_source"):
        check(replace(asked, preparation=({"step": "age_at", "source": "nobody"},)))
    with pytest.raises(InputRefused, match=r"plan\.unknown_source"):
        check(replace(asked, preparation=({"step": "age_at", "source": {"a": 1}},)))


# --- visits ---------------------------------------------------------------------------------------


def visit(opening: str, before: str, sex: str) -> Plan:
    asked = plan(Desk, parameters={"sex": sex}, step="ask", continues=opening)
    return replace(asked, state=f"{before}/internal/state")


def test_a_service_is_reserved_once_and_visited(folder: Path, ledger: Ledger) -> None:
    budget = Budget(Fraction(1, 2))
    opening = released(plan(Desk, budget=budget, holding_budget=Budget(Fraction(1))), folder, ledger, "open")
    entry = opening["ledger"]["entry"]
    assert ledger.status("Register").epsilon_left == Fraction(1, 2)
    first = released(visit(entry, "open", "f"), folder, ledger, "first")
    assert first["noise"] and first["decided"]["step"] == "ask"
    again = released(visit(entry, "first", "f"), folder, ledger, "again")
    assert again["noise"] == {} and again["promise"]["epsilon"] == "0"
    answers = {(folder / name / "release" / "answer.csv").read_text() for name in ("first", "again")}
    assert len(answers) == 1  # the same question, the same answer
    service = ledger.service(entry)
    assert (service.epsilon_spent, service.epsilon_left) == (Fraction(1, 4), Fraction(1, 4))
    assert ledger.status("Register").epsilon_left == Fraction(1, 2)
    state = (folder / "again" / "internal" / "state").read_bytes()
    assert service.state_hash == hashlib.sha256(state).hexdigest()
    with pytest.raises(InputRefused, match=r"ledger\.other_state"):
        run(visit(entry, "open", "m"), out=folder / "old", ledger=ledger, base=folder)
    released(visit(entry, "again", "m"), folder, ledger, "second")
    with pytest.raises(InputRefused, match=r"ledger\.over_reserved"):
        run(visit(entry, "second", "x"), out=folder / "third", ledger=ledger, base=folder)


# --- what a method may not do -----------------------------------------------------------------------


def lying(monkeypatch: pytest.MonkeyPatch, way: type[Method], release: Any) -> None:
    honest = way.run

    def other(self: Method, tables: Any, context: Context) -> Release:
        return release(honest(self, tables, context), context)  # type: ignore[no-any-return]

    monkeypatch.setattr(way, "run", other)


def drawing(release: Release, context: Context) -> Release:
    context.noise.discrete_laplace(Fraction(1), 1)
    return release


FRAME = pd.DataFrame({"sex": ["f"]})
LIES = {
    "noise that was not declared": (Follows, drawing),
    "another promise": (Follows, lambda one, context: replace(one, promise=NOTHING)),
    "a pickle": (Kit, lambda one, context: replace(
        one, artefacts=(FileArtefact("x.bin", "application/octet-stream", b"\x80\x05x", MEANING),))),
    "a name of the bundle": (Kit, lambda one, context: replace(
        one, artefacts=(FileArtefact("README.txt", "text/plain", b"x", MEANING),))),
    "a name twice": (Kit, lambda one, context: replace(one, artefacts=one.artefacts * 2)),
    "the page that checks": (Kit, lambda one, context: replace(
        one, artefacts=(FileArtefact("Verify.html", "text/html", b"x", MEANING),))),
    "a name twice but for capitals": (Kit, lambda one, context: replace(
        one, artefacts=(*one.artefacts, FileArtefact("KIT.html", "text/html", b"x", MEANING)))),
    "a seed in a file": (Kit, lambda one, context: replace(
        one, artefacts=(FileArtefact("x.json", "application/json", b'[{"Seed": 7}]', MEANING),))),
    "a seed in a model": (Kit, lambda one, context: replace(
        one, artefacts=(ModelArtefact("m", {"fit": {"random_state": 7}}, len, "sex", MEANING),))),
    "a graph of another program": (Kit, lambda one, context: replace(
        one, artefacts=(FileArtefact("m.onnx", "application/onnx", b"\x08\x08\x12\x05other", MEANING),))),
    "another folder": (Kit, lambda one, context: replace(
        one, artefacts=(FileArtefact("../x.html", "text/html", b"x", MEANING),))),
    "a row index": (Follows, lambda one, context: replace(
        one, artefacts=(TableArtefact("t", (FRAME.set_axis([7]),), ENTRY),))),
    "a column without its entry": (Follows, lambda one, context: replace(
        one, artefacts=(TableArtefact("t", (FRAME.assign(more=1),), ENTRY),))),
}  # fmt: skip


@pytest.mark.parametrize("lie", LIES)
def test_lies_release_nothing(
    lie: str, folder: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    way, release = LIES[lie]
    lying(monkeypatch, way, release)
    asked = plan(way, holding_budget=Budget(Fraction(1)))
    asked = replace(asked, files={}, schemas={}) if way is Kit else asked
    with pytest.raises(InputRefused, match=r"run\.(promise_differs|artefact)") as refused:
        run(asked, out=folder / "out", ledger=ledger, base=folder)
    part = {"noise that was not declared": "noise", "another promise": "promise"}.get(lie)
    assert refused.value.values.get("part") == part
    assert part is None or f"({part} differs)" in texts.explain(refused.value)[0]
    assert not (folder / "out").exists() and ledger.entries()[0].state == "failed"


def test_nothing_is_released_while_somebody_listens(folder: Path, ledger: Ledger) -> None:
    asked = plan(Follows, holding_budget=Budget(Fraction(1)))
    with listening(noisy), pytest.raises(AssertionError, match="without their noise"):
        run(asked, out=folder / "out", ledger=ledger, base=folder)
    assert not (folder / "out").exists()


def test_the_entry_is_spent_before_the_method_sees_a_row(
    folder: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []

    def spying(release: Release, context: Context) -> Release:
        seen.append(ledger.entries()[0].state)
        return release

    lying(monkeypatch, Copies, spying)
    released(plan(Copies, parameters={"columns": ["sex"]}), folder, ledger)
    assert seen == ["spent"]


# --- held out ---------------------------------------------------------------------------------------


def test_adding_a_person_moves_nobody_else(folder: Path, ledger: Ledger, monkeypatch: Any) -> None:
    """Whoever stood on one side stands there still, wherever the new row is put in."""
    lines = (folder / "people.csv").read_text().splitlines()
    sides: list[set[str]] = []
    honest = making.Split.apart

    def watching(self: Split, held: Any, noise: Noise) -> Any:
        kept, away = honest(self, held, noise)
        sides.append(set(away.rows()["person"]))
        return kept, away

    monkeypatch.setattr(making.Split, "apart", watching)
    for place in (1, 20, 41):
        changed = [*lines[:place], "new,f,n1", *lines[place:]]
        (folder / "people.csv").write_text("\n".join(changed) + "\n")
        asked = plan(Copies, parameters={"columns": ["sex"]}, holding=f"Register {place}")
        asked = replace(asked, decisions=({"decision": "new_holding", "reason": "a test"},))
        run_through(
            asked, folder / f"out{place}", ledger, folder, "en", making.SILENT,
            lambda spend: seeded_noise(7, on_first_draw=spend),
        )  # fmt: skip
    without = [side - {"new"} for side in sides]
    assert without[0] == without[1] == without[2] and 0 < len(without[0]) < 40
    assert len({"new" in side for side in sides}) == 1


def test_the_share_of_the_held_out_is_the_stated_one() -> None:
    """20,000 people, share 1/5: five standard deviations, so one failure in 1.7 million."""
    split = Split.drawn(seeded_noise(3))
    found = sum(split.is_held_out(f"person {i}") for i in range(20_000))
    assert abs(found - 4_000) < 5 * (20_000 * 0.2 * 0.8) ** 0.5


# --- candidates -------------------------------------------------------------------------------------


class Watched(InternalMeasure):
    """Says whom it was shown."""

    id = "test.watched"
    needs = frozenset({Need.HELD_OUT})

    def evaluate(self, context: Private) -> InternalMeasured:
        assert context.held_out is not None
        return InternalMeasured((), {"held_out": sorted(context.held_out.rows()["person"])})


def test_people_who_are_held_out_are_capped_as_those_who_are_used(
    folder: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three rows a person, of which one may be used: several of one person would pass for several people."""
    monkeypatch.setattr(measures, "measures", lambda: (Watched(),))
    head, *lines = (folder / "people.csv").read_text().splitlines()
    (folder / "people.csv").write_text("\n".join([head, *(3 * lines)]) + "\n")
    two = {"columns": ["sex"], "copies": 2}
    asked = plan(Copies, parameters=two, candidates=({"parameters": two | {"copies": 3}},))
    for found in compare(asked, base=folder):
        people = found.measured["test.watched"]["held_out"]
        assert people and len(people) == len(set(people))


def test_candidates_are_compared_alike_and_leave_nothing(
    folder: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measures, "measures", lambda: (Watched(),))
    two = {"columns": ["sex"], "copies": 2}
    others = (
        {"parameters": two | {"copies": 3}},
        {"method": Follows.id, "parameters": {}},
        {"method": Copies.id, "parameters": two | {"copies": 4}},
    )
    asked = plan(Copies, parameters=two, candidates=others)
    before = sorted(path.name for path in folder.iterdir())
    first, second, follows, third = compare(asked, base=folder)
    people = first.measured["test.watched"]["held_out"]
    assert people and second.measured == third.measured == {"test.watched": {"held_out": people}}
    assert follows.promise is not None and follows.promise.loss is not None and not follows.measured
    assert sorted(path.name for path in folder.iterdir()) == before and not ledger.entries()
    evidence = released(asked, folder, ledger)
    assert evidence["decided"]["candidates"] == 4
    wrong = replace(asked, candidates=({"holding": "Another"},))
    with pytest.raises(InputRefused, match=r"plan\.bad_candidate"):
        check(wrong)
    (refused, *_) = compare(replace(asked, parameters={"columns": ["nobody"]}, candidates=()), base=folder)
    assert refused.problem is not None and refused.problem.code == "parameters.no_such_column"
