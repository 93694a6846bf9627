"""The answer desk: paid once, answered once, from what was reserved, whatever is asked and whatever dies."""

import html
import json
import math
import re
from dataclasses import replace
from fractions import Fraction
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from engine import texts
from engine.__main__ import main
from engine.errors import InputRefused
from engine.ledger import Ledger, journal
from engine.methods.catalogue import method
from engine.methods.protocol import MAIN, Budget, Context
from engine.methods.services.asked import COUNT, ID, SUM, level_for
from engine.methods.services.desk import Desk
from engine.methods.services.questions import Coded
from engine.methods.services.told import _says_nothing
from engine.privacy.accuracy import laplace_error
from engine.privacy.gaussian import concentrated_delta
from engine.privacy.promise import Neighbours
from engine.progress import SILENT
from engine.release.charge import make_composer
from engine.release.check import check
from engine.release.plan import FileReference, Plan, Price, Purpose
from engine.release.preview import preview, preview_json
from engine.release.run import run, run_through
from engine.release.verify import verify
from engine.table.schema import Column, Domain, Kind, Origin, Role, Schema
from engine.table.table import Table
from tests.engine.adversarial import test_neighbours
from tests.engine.battery.checks import failing
from tests.engine.battery.distributions import laplace_law
from tests.engine.battery.neighbours import coded_rows
from tests.engine.battery.subject import Subject
from tests.noise_source import seeded_noise

DESK = method(ID)
paid_for = test_neighbours.paid_for  # everything that is paid for, drawn or told by the clock, is fixed
OPTIONS = {
    "format": "text", "delimiter": ",", "encoding": "utf-8", "header": True, "skip_rows": 0, "decimal": ".",
    "thousands": "", "quote": '"', "escape": "", "line_ends": "\n", "date_order": "ymd", "width": 3,
}  # fmt: skip
SEX = Column("sex", Role.IDENTIFYING, Kind.CATEGORY, Domain(values=("f", "m")), Origin.DECLARED)
AGE = Column("age", Role.IDENTIFYING, Kind.INTEGER, Domain(Fraction(0), Fraction(120)), Origin.DECLARED)
PERSON = Column("person", Role.PERSON_KEY, Kind.TEXT)
ROWS = (*(f"p{n},{'fm'[n % 2]},{n}" for n in range(40)), "p0,x,", "p0,m,200")
F, OLD = {"where": "sex is f", "epsilon": "1/8"}, {"where": "age >= 30", "by": ["sex"], "epsilon": "1/8"}


def schema(cap=2):
    return Schema((PERSON, SEX, AGE), cap)


def plan(**changes):
    made = Plan(
        method=ID,
        method_version=DESK.version,
        files={MAIN: FileReference("people.csv", OPTIONS)},
        schemas={MAIN: schema()},
        parameters={"columns": ["sex", "age"], "questions": 5},
        budget=Budget(Fraction(1, 2)),
        purpose=Purpose(title="A desk", recipient="Nobody"),
        holding="Register",
        holding_budget=Budget(Fraction(1)),
    )
    return replace(made, **changes)


def write_rows(folder, rows=ROWS):
    (folder / "people.csv").write_text("person,sex,age\n" + "".join(f"{row}\n" for row in rows))


class Visitor:
    """A desk in a folder, with its ledger, and whoever asks there."""

    def __init__(self, folder, **changes):
        self.folder, self.last = folder, "open"
        self.ledger = Ledger(folder / "ledger.sqlite")
        self.opening = plan(**changes)
        self.entry = self.release(self.opening, "open")["ledger"]["entry"]

    def release(self, made, name):
        bundle = run(made, out=self.folder / name, ledger=self.ledger, base=self.folder)
        return json.loads((bundle.folder / "release" / "evidence.json").read_text())

    def visit(self, *questions, state=None, **changes):
        given = {"questions": [dict(question) for question in questions]}
        state = f"{state or self.last}/internal/state"
        made = replace(self.opening, budget=None, parameters=given, step="visit", continues=self.entry)
        return replace(made, state=state, **changes)

    def ask(self, *questions, name="", **changes):
        """Visit; return the evidence and the answers by question and value."""
        name = name or f"visit{sum(path.name.startswith('visit') for path in self.folder.iterdir()) + 1}"
        evidence = self.release(self.visit(*questions, **changes), name)
        self.last = name
        return evidence, self.answers(name)

    def answers(self, name):
        return pd.read_csv(self.folder / name / "release" / "answers.csv", keep_default_na=False)

    def refused(self, *questions, **changes):
        """Return the code with which a visit is refused, before the run as by it; nothing is entered."""
        made, before = self.visit(*questions, **changes), len(self.ledger.entries())
        known = preview(made, self.ledger, base=self.folder).refusal
        with pytest.raises(InputRefused) as found:
            run(made, out=self.folder / "refused", ledger=self.ledger, base=self.folder)
        assert len(self.ledger.entries()) == before and known.code == found.value.code
        assert not (self.folder / "refused").exists()
        return known.code.removeprefix(f"{ID}.")

    @property
    def service(self):
        return self.ledger.service(self.entry)


@pytest.fixture
def folder(tmp_path):
    write_rows(tmp_path)
    return tmp_path


@pytest.fixture(autouse=True)
def plain_reports(request, monkeypatch):
    """Leave the reports empty where a test does not look at them: they take most of the time."""
    looks = request.node.get_closest_marker("with_reports") is not None
    if not looks:
        for part in ("pdf", "html"):
            monkeypatch.setattr(f"engine.report.{part}.render", lambda *_, **__: b"")


@pytest.fixture
def desk(folder):
    return Visitor(folder)


def together(evidence):
    """Return what the evidence says that the folder, the visit and the desk told."""
    return next(note["values"] for note in evidence["notes"] if note["id"].endswith(".notes.together"))


# --- paid once --------------------------------------------------------------------------------------


def test_a_question_is_paid_for_once_in_any_words(desk):
    assert desk.ledger.status("Register").epsilon_left == Fraction(1, 2)
    evidence, first = desk.ask(F, OLD)
    assert evidence["promise"]["epsilon"] == "1/4" and evidence["noise"]
    assert first["value"].tolist() == ["", "f", "m", "(other)", "(missing)"]
    words = (
        {"where": "sex = f"},
        {"where": "not (sex is m or sex is other or sex is missing)", "epsilon": 1},
        {"where": "not age < 30 and age is not missing", "by": ["sex"], "margin": 1},
    )
    evidence, again = desk.ask(*words)
    # Nothing was paid, and the folder holds what 1/4 paid for.
    assert evidence["promise"]["epsilon"] == "1/4" and evidence["noise"]
    assert together(evidence) == {"here": 0.25, "new": 0.0, "so_far": 0.25, "reserved": 0.5}
    counts = first["answer"].tolist()
    assert again["answer"].tolist() == [counts[0], *counts]
    assert any("less exactly" in texts.text(note["id"], **note["values"]) for note in evidence["notes"])
    evidence, third = desk.ask(
        {"where": "sex is m", "epsilon": "1/8"}, {"where": "sex is f"}, {"where": "sex=m"}
    )
    # The second of two that are the same is free; one answer of before lies in the folder too.
    assert evidence["promise"]["epsilon"] == "1/4"
    assert together(evidence) == {"here": 0.25, "new": 0.125, "so_far": 0.375, "reserved": 0.5}
    assert third["answer"].tolist()[1:] == [counts[0], third["answer"][0]]
    assert third["rests_on"].tolist() == [3, 1, 3]
    assert (desk.service.epsilon_spent, desk.service.epsilon_left) == (Fraction(3, 8), Fraction(1, 8))
    assert [entry.loss for entry in desk.ledger.entries()] == ["bounded", "bounded", "none", "bounded"]
    assert desk.ledger.status("Register").epsilon_left == Fraction(1, 2)


def test_the_check_of_a_visit_says_what_would_cost_less(desk):
    desk.ask({"by": ["sex"], "epsilon": "1/8"})

    def ways(*questions):
        return preview_json(desk.visit(*questions), desk.ledger, base=desk.folder)["cheaper"]

    said = ways({"where": "sex is f", "epsilon": "1/4"}, {"where": "age >= 3", "epsilon": "1/8"})
    assert "asked together as 1 table" in said[0]["what"] and said[0]["parameters"]["planned"] is True
    assert said[1]["epsilon"] == "1/8" and "what was answered before" in said[1]["what"]
    old = {"where": "age >= 3", "epsilon": "1/8"}
    (way,) = [one for one in ways({"by": ["sex"], **old}, old) if "from the other questions" in one["what"]]
    assert way["what"].endswith("It would take ε 1/8.")
    questions = way["parameters"]["questions"]
    assert questions[1] == {"kind": "count", "of": "rows", "where": "age >= 3"}
    assert together(desk.ask(*questions)[0])["new"] == 0.125


def test_the_check_of_a_visit_from_the_command_line_accepts_what_the_run_does(desk, capsys):
    plan = desk.folder / "plan.json"
    plan.write_text(json.dumps(desk.visit(F).to_json()))
    assert main(["plan", "check", str(plan), "--ledger", str(desk.ledger.path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["problems"] == []


def test_what_the_desk_remembers_is_what_it_released(desk):
    _, answers = desk.ask(F, OLD)
    state = (desk.folder / desk.last / "internal" / "state").read_bytes()
    known = Desk.loads(state)
    assert [number for one in known.measured for number in one.numbers] == answers["answer"].tolist()
    assert known.dumps() == state and known.left == Fraction(1, 4)
    assert Desk.loads(re.sub(rb'"epsilon": "[^"]*"', b'"epsilon": "1e20000"', state)) is None  # fills memory
    assert Desk.loads(b"{}") is None and Desk.loads(None) is None and Desk.loads(b"[" * 10**5) is None
    assert not list((desk.folder / desk.last / "release").glob("state*"))


@pytest.mark.guarantee
def test_more_than_was_reserved_is_refused_before_anything_is_drawn(desk):
    assert desk.refused({"where": "sex is f", "epsilon": "2/3"}) == "over_reserve"
    desk.ask(F, {"where": "sex is m", "epsilon": "1/4"})
    assert desk.refused({"where": "", "epsilon": "126/1000"}) == "over_reserve"
    assert (
        desk.refused({"where": "", "epsilon": "1/16"}, {"where": "age > 1", "epsilon": "1/8"})
        == "over_reserve"
    )
    desk.ask({"where": "", "epsilon": "1/8"}, F)
    assert desk.service.epsilon_left == 0
    assert desk.refused({"where": "age > 1", "margin": 10**9}) == "over_reserve"
    # Nothing is left, and what was answered stays free.
    assert together(desk.ask(F)[0])["new"] == 0 and desk.service.epsilon_left == 0


@pytest.mark.guarantee
def test_no_more_questions_than_were_declared(desk):
    small = [{"where": f"age > {n}", "epsilon": "1/100"} for n in range(6)]
    assert desk.refused(*small) == "too_many_questions"
    desk.ask(*small[:4])
    assert desk.refused(*small) == "too_many_questions"
    desk.ask(*small[:5])


@pytest.mark.parametrize(
    ("question", "code"),
    [
        ({"where": "sex is f"}, "level_or_margin"),
        ({"where": "sex is f", "epsilon": 0.1, "margin": 5}, "level_or_margin"),
        ({"where": "sex is", "epsilon": 0.1}, "unfinished"),
        ({"where": "sex is f and sex is m", "epsilon": 0.1}, "nobody"),
        ({"where": "person is p1", "epsilon": 0.1}, "not_at_desk"),
        ({"where": "sex is f", "by": ["person"], "epsilon": 0.1}, "parameters.identifier"),
        ({"where": "sex is f", "epsilon": -1}, "parameters.too_small"),
    ],
)
def test_what_cannot_be_answered_is_refused(desk, question, code):
    assert desk.refused(question) == code


def test_a_bar_says_what_it_answers():
    """Not only the number of its question: people read the picture before the table."""
    asked = request(
        {"where": "", "epsilon": 1}, {**F, "by": ["sex"]}, {"where": "age > 7", "of": "people", "epsilon": 1},
        {"of": "people", "where": "", "epsilon": 1}, cap=2,
    )  # fmt: skip
    rows = pd.DataFrame({"person": ["a", "b"], "sex": ["f", "m"], "age": [30.0, 31]})
    bars = answered(asked, rows).views[1]
    said = [one if isinstance(one, str) else texts.text(one.id, **one.values) for one in bars.labels]
    assert said[:2] == ["1 · all rows", "2 · sex is f · f"]
    assert said[-2:] == ["3 · people: age above 7", "4 · all people"]
    at = [one.id.rpartition(".")[2] for one in answered(asked, rows).views[0].headings].index("where")
    cells = [row[at] for row in answered(asked, rows).views[0].rows]
    assert texts.text(cells[-1].id) == texts.text(cells[0].id) == "everybody" and all(cells)


@pytest.mark.parametrize(("cap", "note", "rests_on"), [(None, "note", "1; 2"), (2, "note_by_visit", "2")])
def test_the_table_says_from_which_visits_answers_follow(cap, note, rests_on):
    """Rows of a person are drawn anew in each visit, so that their numbers are not put together."""
    rows = pd.DataFrame({"person": list("abcd"), "sex": list("fmfm"), "age": [30.0, 31, 32, 33]})
    first = request({"by": ["sex"], "where": "", "epsilon": 1}, cap=cap)
    asked = {"questions": [{"where": "sex is f", "epsilon": 2}]}
    state = answered(first, rows).state
    again = answered(DESK.make_request(first.schemas, asked, step="visit", state=state), rows)
    said = again.views[0].note
    said = said.values.get("second", said)  # where brackets are explained first
    assert said.id.rpartition(".")[2] == note and again.artefacts[0].frame["rests_on"].tolist() == [rests_on]
    notes = {one.id.rpartition(".")[2] for one in again.notes}
    assert notes & {"combined", "combined_by_visit"} == {note.replace("note", "combined")}


def test_a_visit_without_counts_draws_the_answers_of_the_question_with_most_groups():
    """Page one of a visit that asked for sums alone drew what the promise bounds."""
    rows = pd.DataFrame({"sex": ["f", "m", "f"], "age": [30.0, 31, 40]})
    total = {"kind": "sum", "value": "age", "where": "", "epsilon": "1/9"}
    asked = request(
        total, {**total, "by": ["sex"]}, {"kind": "mean", "value": "age", "where": "", "epsilon": "1/9"}
    )
    _, bars = answered(asked, rows).views
    assert bars.axis.id.endswith("asked.sum") and len(bars.values) == len(bars.low) > 1
    assert {texts.text(one.id, **one.values)[0] for one in bars.labels} == {"2"}


@pytest.mark.parametrize(
    ("kind", "low", "number", "says_nothing"),
    [
        (COUNT, 0, -900.0, True),
        (COUNT, 0, 900.0, False),
        (SUM, 0, -900.0, True),
        (SUM, 0, 900.0, False),
        (SUM, -5, -900.0, False),
        (SUM, -5, 90.0, True),
    ],
)
def test_a_number_below_all_that_is_possible_carries_no_information(kind, low, number, says_nothing):
    """A sum of years read −4,618 ± 2,696, without brackets: no sum within its margin is possible."""
    query = SimpleNamespace(kind=kind, grid=SimpleNamespace(low=low))
    assert _says_nothing(query, number, 100.0) is says_nothing


def test_a_column_that_says_nothing_takes_no_room_from_the_margins():
    rows = pd.DataFrame({"sex": ["f", "m"], "age": [30.0, 31]})
    for asked, held in ((F, False), (OLD, True)):
        table = answered(request(asked), rows).views[0]
        named = [one.id.rpartition(".")[2] for one in table.headings]
        assert ("value" in named) is held and {len(row) for row in table.rows} == {len(named)}
        assert named[-3:] == ["answer", "within_95", "share"]


@pytest.mark.parametrize(
    "change", [{}, {"epsilon": "1/9", "margin": 5}, {"kind": "mean", "value": "age", "margin": 5}]
)
def test_what_is_wrong_with_one_of_many_questions_names_it(change):
    """The third of four, in a file of them, is found by its number."""
    asked = [F, OLD, {"where": "age > 7", **change}, {"where": "age > 8", "epsilon": "1/9"}]
    (problem,) = DESK(request(*asked)).problems
    assert texts.sentences(problem.code, problem.values)[0].startswith("Question 3 is ")


def test_columns_that_were_not_opened_are_not_answered(folder):
    desk = Visitor(folder, parameters={"columns": ["sex"]})
    assert desk.refused({"where": "age > 3", "epsilon": 0.1}) == "not_at_desk"
    assert desk.refused({"where": "", "by": ["age"], "epsilon": 0.1}) == "not_at_desk"


# --- people, and lists of thresholds ----------------------------------------------------------------

RICH = {"budget": Budget(Fraction(600)), "holding_budget": Budget(Fraction(650))}


def test_people_are_counted_once_by_all_of_their_rows(folder):
    """The cap is two rows, and somebody has forty: whichever are drawn, the person is there."""
    write_rows(folder, (*ROWS, *(f"p3,m,{50 + n}" for n in range(40))))
    desk = Visitor(folder, **RICH)
    people = [
        {"of": "people", "where": where, "epsilon": 100} for where in ("age >= 100", "age = 77", "sex is f")
    ]
    share = {"kind": "share", "of": "people", "where": "age >= 30", "part": "sex is m", "epsilon": 100}
    _, answers = desk.ask(*people, share, {"where": "age between 50 and 89", "epsilon": 100})
    # p0 (200 counts as 120), p3, 20 women of the first forty rows; ten of 30–39, p0 and p3: 5 + 2 are men
    assert answers["answer"].tolist()[:3] == [1, 1, 20]
    assert answers["answer"][3] == pytest.approx(7 / 12, abs=0.02)
    assert answers["answer"][4] <= 2  # of rows at most two of a person


def test_margins_of_what_counts_people_are_in_people(folder):
    desk = Visitor(folder, **RICH)
    evidence, _ = screened(desk, {"where": "sex is f", "of": "people", "threshold": 5})
    assert [one["unit"] for one in evidence["expected"]] == ["people"]
    evidence, _ = screened(
        desk, *({"where": "sex is f", "of": of, "threshold": 6} for of in ("people", "rows"))
    )
    assert evidence["expected"][0]["unit"].startswith("rows")
    evidence, _ = desk.ask(
        {"where": "age = 77", "of": "people", "epsilon": 1}, {"where": "age = 77", "epsilon": 1}
    )
    units = [one["unit"] for one in evidence["expected"]]
    assert units[0] == "people" and units[1].startswith("rows")


def screened(desk, *listed, most=1, level=100):
    """Compare a list in one visit; return the evidence and the answers."""
    given = {"listed": [dict(one) for one in listed], "most": most, "level": level}
    name = f"visit{len(desk.service.visits) + 1}"
    evidence = desk.release(replace(desk.visit(), step="screen", parameters=given), name)
    desk.last = name
    return evidence, desk.answers(name)["answer"].tolist()


def test_a_list_of_thresholds_ends_after_so_many_and_is_not_paid_for_twice(folder):
    desk = Visitor(folder, **RICH)
    listed = [{"where": "sex is f", "threshold": n} for n in (35, 30, 10, 5)]
    evidence, said = screened(desk, *listed)
    assert said[:3] == ["0.0", "0.0", "1.0"] and said[3] == ""  # not reached
    assert together(evidence)["new"] == 100 and evidence["promise"]["epsilon"] == "100"
    evidence, said = screened(desk, *listed[:3])
    assert said == [0.0, 0.0, 1.0] and together(evidence)["new"] == 0
    evidence, said = screened(desk, *listed, level=50)  # what was not reached is asked anew
    assert said == [0.0, 0.0, 1.0, 1.0] and together(evidence)["new"] == 50
    assert desk.service.epsilon_spent == 150
    paid = pd.read_csv(folder / desk.last / "release" / "paid.csv")
    assert sum(map(Fraction, paid["epsilon"].astype(str))) == Fraction(evidence["promise"]["epsilon"]) == 150
    evidence = desk.release(replace(desk.visit(), step="close", parameters={}, files={}), "closed")
    assert desk.answers("closed")["answer"].tolist() == [0.0, 0.0, 1.0, 1.0]


def test_a_desk_that_an_earlier_version_opened_is_gone_on_with(desk):
    """The state of the first version, as it lay in a register, with its answers."""
    state = desk.folder / "open" / "internal" / "state"
    tree = json.loads(state.read_text())
    first = {name: tree[name] for name in ("declared", "epsilon", "neighbours", "questions", "closed")}
    answers = [{"key": "k", "where": "sex is f", "by": None, "epsilon": "1/8", "counts": [23], "visit": 1}]
    loaded = Desk.loads(json.dumps({"version": 1, **first, "visits": 1, "answers": answers}).encode())
    assert loaded.left == Fraction(3, 8)
    asked = DESK.make_request(
        {MAIN: schema()},
        {"questions": [{"where": "sex = f"}, {"where": "age > 3", "epsilon": "1/4"}]},
        step="visit",
        state=json.dumps({"version": 1, **first, "visits": 1, "answers": answers}).encode(),
    )
    design = DESK(asked)
    assert not design.problems and design.takes_each == (0, Fraction(1, 4))
    release = answered(asked, pd.DataFrame({"person": ["p"], "sex": ["f"], "age": [5.0]}))
    assert release.artefacts[0].frame["answer"].tolist()[0] == 23
    assert Desk.loads(release.state).left == Fraction(1, 8)


# --- the same desk ----------------------------------------------------------------------------------


def test_an_old_state_is_noticed(desk):
    desk.ask(F)
    assert desk.refused(F, state="open") == "ledger.other_state"
    state = desk.folder / desk.last / "internal" / "state"
    changed = state.read_bytes().replace(b'"visits": 1', b'"visits": 2')
    assert changed != state.read_bytes()
    state.write_bytes(changed)
    assert desk.refused(OLD) == "ledger.other_state"
    state.write_bytes(b"{}")
    assert desk.refused(OLD) == "no_state"


@pytest.mark.guarantee
@pytest.mark.parametrize("rows", [ROWS[:-1], (*ROWS, "p90,f,1"), ("p0,m,0", *ROWS[1:])])
def test_another_table_is_refused_before_anything_is_entered(desk, rows):
    desk.ask(F)
    write_rows(desk.folder, rows)
    before = len(desk.ledger.entries())
    for question in (F, OLD):
        with pytest.raises(InputRefused, match=r"charge\.other_table"):
            run(desk.visit(question), out=desk.folder / "other", ledger=desk.ledger, base=desk.folder)
    assert len(desk.ledger.entries()) == before
    write_rows(desk.folder, ROWS[::-1])  # the same rows in another order
    assert together(desk.ask(F)[0])["new"] == 0


def test_another_meaning_is_refused(desk):
    wider = replace(SEX, domain=Domain(values=("f", "m", "x")))
    where = {"step": "keep_rows_where", "column": "age", "is": "at_least", "value": 3}
    for changes in (
        {"schemas": {MAIN: schema(3)}},
        {"schemas": {MAIN: Schema((PERSON, wider, AGE), 2)}},
        {"schemas": {MAIN: Schema((SEX, AGE))}},
        {"schemas": {MAIN: Schema((PERSON, AGE), 2)}},
        {"preparation": (where,)},
    ):
        assert desk.refused(F, **changes) == "other_meaning", changes
    assert desk.refused(F, budget=Budget(Fraction(1))) == "own_budget"


def test_a_desk_of_a_code_list_that_nobody_knows_costs_nothing(folder):
    unknown = replace(SEX, domain=Domain(code_list="nowhere"), domain_origin=Origin.CODE_LIST)
    made = plan(schemas={MAIN: Schema((PERSON, unknown, AGE), 2)})
    ledger = Ledger(folder / "ledger.sqlite")
    for refuse in (
        lambda: check(made, base=folder),
        lambda: run(made, out=folder / "refused", ledger=ledger, base=folder),
    ):
        with pytest.raises(InputRefused, match="unknown_code_list"):
            refuse()
    assert not ledger.entries() and not ledger.holdings()


def test_a_visit_makes_no_register(desk):
    known = len(desk.ledger.holdings())
    other = {"holding": "Another register", "decisions": ({"decision": "new_holding", "reason": "others"},)}
    assert desk.refused(F, **other) == "ledger.no_holding"
    assert desk.refused(**other, step="close", parameters={}, files={}) == "ledger.no_holding"
    assert len(desk.ledger.holdings()) == known


def test_the_price_is_that_of_the_desk_in_every_visit(folder):
    """Prices of visits do not add up: that of all that may be told bounds what each of them adds."""
    desk = Visitor(folder, price=Price(people=1000, compensation=Fraction(500), budget=Fraction(10**6)))

    def price(name):
        inside = json.loads((folder / name / "internal" / "evidence.json").read_text())["internal"]["price"]
        return {part: value for part, value in inside.items() if part != "window"}

    desk.ask(F)
    assert preview(desk.visit(F), desk.ledger, base=folder).refusal is None
    desk.ask(F)
    desk.release(replace(desk.visit(), step="close", parameters={}, files={}), "closed")
    assert price("open")["epsilon"] == 0.5
    assert price("open") == price("visit1") == price("visit2") == price("closed")


def test_a_folder_promises_what_all_answers_in_it_tell_together(desk):
    """By the recipient's own sum over the file: half sure becomes at most e^ε / (1 + e^ε)."""
    desk.ask(F)
    desk.ask(OLD, F)
    desk.release(replace(desk.visit(), step="close", parameters={}, files={}), "closed")
    for name, expected in {
        "visit1": Fraction(1, 8),
        "visit2": Fraction(1, 4),
        "closed": Fraction(1, 4),
    }.items():
        evidence = json.loads((desk.folder / name / "release" / "evidence.json").read_text())
        paid = pd.read_csv(desk.folder / name / "release" / "paid.csv")
        assert sum(map(Fraction, paid["epsilon"])) == expected == Fraction(evidence["promise"]["epsilon"])
        odds = math.exp(expected)
        assert evidence["statement"]["odds_factor"] == pytest.approx(odds)
        assert evidence["statement"]["posterior"]["presence"] == pytest.approx(odds / (1 + odds))
        (said,) = (note["values"] for note in evidence["notes"] if note["id"].endswith("notes.together"))
        added = 0.0 if name == "closed" else 0.125
        assert [said[one] for one in ("here", "new", "so_far")] == [float(expected), added, float(expected)]


def test_a_closed_desk_answers_nothing(desk):
    _, first = desk.ask(F, OLD)
    made = replace(desk.visit(), step="close", parameters={}, files={})
    evidence = desk.release(made, "closed")
    assert desk.answers("closed").equals(first)
    assert {"rows_capped", "questions_in_turn"} < set(evidence["promise"]["assumptions"])
    assert "row_is_person" not in evidence["promise"]["assumptions"]
    assert evidence["promise"]["epsilon"] == "1/4" and evidence["promise"]["unit"] == "person"
    desk.last = "closed"
    assert desk.refused(F) == "closed" and desk.refused(OLD) == "closed"
    assert desk.refused(F, state="visit1") == "ledger.other_state"
    assert desk.ledger.status("Register").epsilon_left == Fraction(1, 2)


def test_a_desk_that_nobody_asked_is_closed_too(desk):
    desk.release(replace(desk.visit(), step="close", parameters={}, files={}), "closed")
    assert len(desk.answers("closed")) == 0
    assert Desk.loads((desk.folder / "closed" / "internal" / "state").read_bytes()).closed


# --- noise and loss ---------------------------------------------------------------------------------


def request(
    *questions,
    cap=None,
    epsilon=Fraction(10**6),
    neighbours=Neighbours.ADD_REMOVE,
    columns=(SEX, AGE),
    delta=Fraction(0),
):
    """Return the request of a visit at a desk that was just opened."""
    schemas = {MAIN: Schema(columns) if cap is None else Schema((PERSON, *columns), cap)}
    given = {"columns": [column.name for column in columns]}
    opening = DESK.make_request(schemas, given, budget=Budget(epsilon, delta, neighbours))
    asked = {"questions": list(questions)}
    return DESK.make_request(schemas, asked, step="visit", state=opened_state(opening))


def opened_state(opening):
    """Return what a desk remembers when it was just opened."""
    return DESK(opening).run({}, Context(seeded_noise(1), None, Path("unused"))).state


def answered(asked, rows, seed=1):
    context = Context(seeded_noise(seed), None, Path("unused"))
    return DESK(asked).step("visit", {MAIN: Table(rows)}, asked.state, context)


def test_counts_by_hand():
    rows = pd.DataFrame({"sex": ["f", "m", " f", "x", None, "f"], "age": [30.0, 31, 99, 200, np.nan, -4]})
    asked = request(
        {"where": "sex is f and age >= 30", "epsilon": 10**5},
        {"where": "age >= 120 or age at most 0", "by": ["sex"], "epsilon": 10**5},
        {"where": "", "epsilon": 10**5},
    )
    frame = answered(asked, rows).artefacts[0].frame
    assert frame["answer"].tolist() == [2, 1, 0, 1, 0, 6] and (frame["within_95"] == 0).all()


@pytest.mark.parametrize(
    ("cap", "neighbours", "moved"),
    [(None, "add_remove", 1), (None, "replace_one", 2), (3, "add_remove", 3), (3, "replace_one", 6)],
)
def test_the_noise_of_every_answer_covers_all_rows_of_a_person(cap, neighbours, moved):
    asked = request(F, OLD, cap=cap, neighbours=Neighbours(neighbours))
    loss = DESK(asked).cost.loss
    assert (loss.epsilon, loss.neighbours) == (Fraction(1, 4), neighbours)
    assert [(event.sensitivity, event.scale) for event in loss.events.parts] == [(moved, 8 * moved)] * 2
    assert loss.events.epsilon() == loss.epsilon


@pytest.mark.parametrize("margin", [1, 7, 20, 1000])
@pytest.mark.parametrize("moved", [1, 6])
def test_a_margin_buys_the_smallest_level_that_keeps_it(margin, moved):
    level = level_for(margin, lambda level: laplace_error(moved / level, share=0.95))
    assert laplace_error(moved / level, share=0.95) <= margin
    assert laplace_error(moved / (level - Fraction(1, 10**6)), share=0.95) > margin


CODED = Column(
    "cell", kind=Kind.CATEGORY, domain=Domain(values=("0", "1", "2")), domain_origin=Origin.DECLARED
)
PEOPLE = np.array([0, 1, 1, 2, 2])


def subject(question, claim, cells, **options):
    """A desk with one question as the battery takes it."""
    asked = request(question | {"epsilon": str(claim)}, columns=(CODED,))
    (one,) = DESK(asked).asked
    noise_of = one.query.noise(one.epsilon, DESK(asked).terms)

    def release(data, noise):
        context = Context(noise, None, Path("unused"))
        frame = pd.DataFrame({"cell": data})
        return (
            DESK(asked)
            .step("visit", {MAIN: Table(frame)}, asked.state, context)
            .artefacts[0]
            .frame["answer"]
            .to_numpy(dtype=np.int64)
        )

    def answer(data):
        return one.query.numbers(Coded(pd.DataFrame({"cell": data})))

    single = {
        "law": laplace_law(1 / claim),
        "release_often": lambda data, noise, runs: noise_of.release(np.repeat(answer(data), runs), noise),
    }
    return Subject(
        release=release,
        query=answer,
        sensitivity=1,
        step=Fraction(1),
        pair=(PEOPLE, PEOPLE[:-1]),
        neighbours=coded_rows(4),
        **{"epsilon": claim if cells == 1 else None} | (single if cells == 1 else {}) | options,
    )


@pytest.mark.slow
@pytest.mark.guarantee
def test_battery():
    assert failing(subject({"where": "cell in (1, 2)"}, Fraction(1), 1)) == {}


@pytest.mark.slow
def test_battery_by_groups():
    assert failing(subject({"where": "not cell is 1", "by": ["cell"]}, Fraction(1), 5)) == {}


def test_battery_kills_a_share_that_counts_twice():
    mutant = subject(
        {"where": "cell in (1, 2)"}, Fraction(2), 1, epsilon=Fraction(1), law=laplace_law(Fraction(1))
    )
    assert {"noise", "audit"} <= set(failing(mutant, only=("noise", "audit")))


def test_levels_that_are_chosen_by_earlier_answers_add_up():
    """Exactly, over whole conversations in which the last answer decides what the next one may cost."""
    reserve, k = 1.0, 2

    def law(level, true, shown):
        q = math.exp(-level / k)
        return (1 - q) / (1 + q) * q ** abs(shown - true)

    def conversations(truths, left=reserve, said=()):
        level = left if len(said) == 2 else left * (0.7 if said and said[-1] % 2 else 0.25)
        for shown in range(-25, 26):
            chance = law(level, truths[len(said)], shown)
            if len(said) == 2:
                yield (*said, shown), chance
            else:
                for talk, further in conversations(truths, left - level, (*said, shown)):
                    yield talk, chance * further

    one, other = (dict(conversations(truths)) for truths in ((3, 1, 0), (5, 3, 2)))
    worst = max(abs(math.log(one[talk] / other[talk])) for talk in one)
    assert reserve * 0.9999 < worst <= reserve * (1 + 1e-9)


def test_what_the_visits_may_spend_is_what_the_accountant_adds_up(desk):
    for n in range(3):
        desk.ask({"where": f"age > {n}", "epsilon": f"1/{n + 8}"})
    spent = sum(Fraction(1, n + 8) for n in range(3))
    assert desk.service.epsilon_spent == spent
    assert desk.refused({"where": "age > 9", "epsilon": str(Fraction(1, 2) - spent + Fraction(1, 10**9))})
    desk.ask({"where": "age > 9", "epsilon": str(Fraction(1, 2) - spent)})
    assert desk.service.epsilon_left == 0


# --- a desk with a δ ----------------------------------------------------------------------------------

WITH_DELTA = {
    "budget": Budget(Fraction(1), Fraction(1, 10**6)),
    "holding_budget": Budget(Fraction(2), Fraction(1, 10**5)),
}


def promised(desk, name):
    tree = json.loads((desk.folder / name / "release" / "evidence.json").read_text())["promise"]
    return Fraction(tree["epsilon"]), Fraction(tree["delta"])


VISITS = ("visit1", "visit2", "visit3")


@pytest.mark.guarantee
def test_a_visit_that_says_it_paid_for_more_than_its_entry_spent_is_named(folder):
    """A changed program that enters small visits draws from what was reserved as often as it likes."""
    desk = Visitor(folder)
    desk.ask(F)
    desk.ask(F)  # answered before: nothing is paid, and the visit is one
    desk.ask(OLD, F)

    def named() -> list[str]:
        """Return the visits that the ledger does not bear out."""
        found = {name: verify(desk.folder / name, ledger=desk.ledger).problems for name in VISITS}
        return [name for name, all_ in found.items() if "bundle.entry_differs" in {one.code for one in all_}]

    assert named() == []
    entry = desk.ledger.entries()[-1]
    small = {**entry.guarantee, "epsilon": "1/1000"}
    with desk.ledger._transaction(write=True) as db:
        said = {"epsilon": "1/1000", "guarantee": json.dumps(small)}
        journal.change(db, "note", "entry", entry.id, said)
    assert named() == ["visit3"]


@pytest.mark.guarantee
def test_a_desk_with_a_delta_gives_all_of_what_was_reserved_and_no_more(folder):
    """Squares of levels add up to the 2ρ of the opening, and the ledger's own sum agrees to the last one."""
    desk = Visitor(folder, **WITH_DELTA)

    def state():
        return Desk.loads((desk.folder / desk.last / "internal" / "state").read_bytes())

    rho = float(state().reserved / 2)
    assert (
        concentrated_delta(rho=rho, epsilon=1.0) <= 1e-6 < concentrated_delta(rho=rho * 1.0001, epsilon=1.0)
    )
    first, second = state().level(state().reserved / 3), state().level(state().reserved / 6)
    desk.ask({"where": "sex is f", "epsilon": str(first)}, {"where": "age > 9", "epsilon": str(second)})
    last = state().level(state().left)
    assert last**2 == pytest.approx(float(state().reserved) / 2)
    assert promised(desk, "visit1")[0] < 1 and promised(desk, "visit1")[1] == Fraction(1, 10**6)
    too_much = {"where": "age > 30", "epsilon": str(last + Fraction(1, 10**9))}
    assert desk.refused(too_much) == "over_reserve_delta"
    desk.ask({"where": "age > 30", "epsilon": str(last)}, {"where": "sex is f"})
    assert desk.refused({"where": "age > 31", "epsilon": "1/1000"}) == "over_reserve_delta"
    # answers of two visits: levels were chosen on the way, so that only what was fixed before bounds them
    assert promised(desk, "visit2") == (1, Fraction(1, 10**6))
    # added up they are more than was reserved; the register pays no more than that for all of them
    register = desk.ledger.holdings()[0]
    assert sum(one.epsilon for one in desk.service.visits) > 1
    for compose in (make_composer(register), None):
        assert desk.ledger.status(register.id, compose).epsilon_spent == 1
    desk.release(replace(desk.visit(), step="close", parameters={}, files={}), "closed")
    assert promised(desk, "closed") == (1, Fraction(1, 10**6))


def test_the_events_of_a_desk_with_a_delta_are_what_its_levels_take():
    asked = request(F, OLD, {"kind": "quantile", "value": "age", "epsilon": "1/8"}, delta=Fraction(1, 10**6))
    loss = DESK(asked).cost.loss
    rho = sum(leaf.concentrated() for leaf, _ in loss.events.leaves())
    assert 2 * rho == 3 * Fraction(1, 64) == DESK(asked).terms.takes([Fraction(1, 8)] * 3)
    assert [leaf.word for leaf, _ in loss.events.leaves()] == [*["discrete_gaussian"] * 2, "permute_and_flip"]
    assert concentrated_delta(rho=float(rho), epsilon=float(loss.epsilon)) <= float(loss.delta)
    assert sum(DESK(asked).takes_each) == loss.epsilon


def test_the_opening_says_which_noise_is_less_for_so_many_questions():
    """Laplace noise up to eight questions of the same share, Gaussian noise from about nine on."""

    def said(questions, delta):
        given, budget = {"columns": ["sex"], "questions": questions}, Budget(Fraction(1), Fraction(delta))
        opening = DESK.make_request({MAIN: Schema((SEX,))}, given, budget=budget)
        notes = [one.id.rsplit(".", 1)[1] for one in DESK(opening).forecast.notes]
        return [one for one in notes if one.startswith("less_")]

    delta = Fraction(1, 10**6)
    assert said(4, delta) == ["less_without_delta"] and said(4, 0) == []
    assert said(100, delta) == [] and said(100, 0) == ["less_with_delta"]


# --- nothing but the answers leaves -----------------------------------------------------------------


def conversation(folder, rows):
    """Open a desk on some rows and visit it twice; return everything that left."""
    folder.mkdir()
    write_rows(folder, rows)
    ledger = Ledger(folder / "ledger.sqlite")
    asked = Visitor.__new__(Visitor)
    asked.folder, asked.ledger, asked.opening, asked.last = folder, ledger, plan(), "open"

    def door(spend):
        return seeded_noise(1, on_first_draw=spend)

    def release(made, name):
        run_through(made, folder / name, ledger, folder, "en", SILENT, door)

    release(asked.opening, "open")
    asked.entry = ledger.entries()[0].id
    release(asked.visit(F, OLD), "one")
    release(asked.visit(OLD, {"where": "age > 50 or sex is missing", "margin": 30}, state="one"), "two")
    return {
        f"{name}/{path.name}": path.read_bytes()
        for name in ("open", "one", "two")
        for path in (folder / name / "release").iterdir()
    } | {f"{name}/state": (folder / name / "internal" / "state").read_bytes() for name in ("one", "two")}


TABLES = {
    "no rows": (),
    "one more person": (*ROWS, "p90,f,33"),
    "a person with 2 rows": (*ROWS, "p90,f,33", "p90,f,34"),
    "a person with 1000 rows": (*ROWS, *("p90,m,77",) * 1000),
    "undeclared values": (*ROWS, "p90,oops,oops", ",,", "p91,=1+1,1e400", "p92,x"),
}


def test_nothing_but_the_noisy_counts_depends_on_the_rows(tmp_path, monkeypatch, paid_for):
    entries = count()  # the ids of several entries of one ledger, the same in every conversation
    monkeypatch.setattr("secrets.token_hex", lambda size: f"{next(entries):0{2 * size}x}")
    expected = conversation(tmp_path / "base", ROWS)
    assert {"one/answers.csv", "open/columns.csv", "two/evidence.json", "two/state"} < expected.keys()
    for place, (label, rows) in enumerate(TABLES.items()):
        entries = count()
        found = conversation(tmp_path / str(place), rows)
        different = {name for name in expected.keys() | found.keys() if expected.get(name) != found.get(name)}
        assert not different, label


@pytest.mark.parametrize(
    "first",
    [
        {"parameters": {"questions": [{"kind": "quantile", "value": "age", "epsilon": "1/8"}]}},
        {"step": "screen", "parameters": {"listed": [{"where": "sex is f", "threshold": 9}], "level": "1/8"}},
    ],
    ids=["quantile", "list"],
)
def test_a_desk_with_a_delta_goes_on_after_a_visit_of_pure_answers(first, folder):
    """What a pure answer states there follows from its square: no claim beyond what was drawn."""
    desk = Visitor(folder, **WITH_DELTA)
    desk.ask(**first)
    desk.ask(F)
    register = desk.ledger.holdings()[0]
    assert [visit.state for visit in desk.service.visits] == ["complete", "complete"]
    assert desk.ledger.status(register.id, make_composer(register)).epsilon_spent == 1


@pytest.mark.with_reports
@pytest.mark.parametrize("language", texts.languages())
def test_papers_of_a_closed_desk_promise_no_further_question(desk, language, monkeypatch):
    """What may still be done with it is said by its own step; what was asked is counted, and not answers."""
    monkeypatch.setattr("engine.report.pdf.render", lambda *_, **__: b"")
    desk.ask(F)
    made = replace(desk.visit(), step="close", parameters={}, files={})
    closed = run(made, out=desk.folder / "closed", ledger=desk.ledger, base=desk.folder, language=language)
    report = closed.folder / "release" / "report-external.html"
    said = " ".join(html.unescape(report.read_text(encoding="utf-8")).split())

    def word(name, **values):
        return " ".join(texts.text(f"methods.{ID}.{name}", language=language, **values).split())

    assert word("recipient_can") not in said and word("recipient_cannot") not in said
    assert word("recipient_can_close") in said and word("recipient_cannot_close") in said
    assert word("notes.closed", answers=1) in said


@pytest.mark.with_reports
def test_the_opening_does_not_speak_of_numbers_that_do_not_leave(tmp_path: Path) -> None:
    from engine.release.examples import run_examples

    opening, *visits = run_examples(method("services.private_queries"), out=tmp_path / "examples")
    said = (opening.bundle.folder / "release" / "report-external.html").read_text(encoding="utf-8")
    assert "No number about people leaves" in said and "Every number carries noise" not in said
    answers = (visits[0].bundle.folder / "release" / "report-external.html").read_text(encoding="utf-8")
    assert "Every number carries noise" in answers
