"""What a report says holds where a setting is on and where it is off: of forms on paper, of one device for
all, of desks with a δ, of waves that were all kept, of histories beyond the longest that is told apart.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from engine import texts
from engine.evidence import read_public
from engine.ledger import Ledger
from engine.methods.catalogue import method
from engine.methods.exchanges.asking import make_kit
from engine.methods.exchanges.kit import posterior, rounded_up
from engine.methods.exchanges.paper import strip_code
from engine.methods.protocol import MAIN, Budget, Context
from engine.release.examples import plans
from engine.release.plan import FileReference
from engine.release.run import run
from engine.report import content
from engine.report.words import word
from engine.table.table import Table
from engine.texts import percent_up
from engine.views import Text
from tests.engine.methods.services.test_private_queries import Visitor, write_rows
from tests.engine.methods.services.test_private_queries import plan as desk_plan
from tests.engine.methods.statistics import test_density, test_flows
from tests.engine.report.test_report_content import all_texts
from tests.noise_source import seeded_noise

LANGUAGES = ("en", "de", "fr")
DESK = "services.private_queries"
OPENING, VISIT, _ = plans(method("exchanges.survey"))
YES_OR_NO = [
    {name: value for name, value in one.items() if name not in ("epsilon", "truth")}
    for one in OPENING.parameters["questions"]
]
PAPER: dict[str, object] = {"questions": YES_OR_NO, "form": "paper", "device": "twice"}
OF_A_PAGE = {
    "en": re.compile(r"browser|\bdevices?\b|random number of its own|as it left", re.IGNORECASE),
    "de": re.compile(r"Browser|Gerät|eigene Zufallszahl|wie sie hinausging"),
    "fr": re.compile(r"navigateur|appareil|nombre aléatoire à lui|telle qu’elle est sortie"),
}
"""What is true of a page alone."""
OF_EITHER = ("methods.exchanges.survey.summary", "report.verify.", "methods.exchanges.survey.parameters.")
"""Sentences that name both forms, or speak of the page that verifies."""


def texts_of(folder: Path) -> dict[str, Text]:
    """Return the sentences of the external report of a bundle, by their ids."""
    tree = json.loads((folder / "release" / "evidence.json").read_bytes())
    report = content.external(read_public(tree))
    return {one.id: one for one in _deep(list(all_texts(report)))}


def _deep(found: list[Text]) -> Iterator[Text]:
    for one in found:
        yield one
        yield from _deep([value for value in one.values.values() if isinstance(value, Text)])


def sentences(one: Text, language: str) -> list[str]:
    """Return a sentence in a language, or the three that explain a number."""
    names = [one.id] if texts.has(one.id) else [f"{one.id}.{part}" for part in ("what", "how", "change")]
    return [word(Text(name, one.values), language) for name in names]


def kit(folder: Path, given: Mapping[str, object]) -> dict[str, Text]:
    plan = replace(OPENING, parameters={**OPENING.parameters, **given})
    run(plan, out=folder / "kit", ledger=Ledger(folder / "l.sqlite"), base=folder)
    return texts_of(folder / "kit")


@pytest.mark.parametrize("asked", ["all", "one"])
def test_a_survey_on_paper_speaks_of_throws_and_of_no_browser(tmp_path: Path, asked: str) -> None:
    told = kit(tmp_path, PAPER | {"asked": asked, "forged_reason": "One strip each"})
    for language in LANGUAGES:
        own = [one for name, one in told.items() if not name.startswith(OF_EITHER)]
        assert [
            said for one in own for said in sentences(one, language) if OF_A_PAGE[language].search(said)
        ] == []
    assert {
        "assumptions.respondents_throw", "report.limits.machine_paper", "report.unchecked.form",
        "promises.local_dp.criteria.linking_paper", f"methods.exchanges.survey.views.kit.{asked}_paper",
    } <= set(told)  # fmt: skip
    assert {"assumptions.respondents_draw", "report.unchecked.page"}.isdisjoint(told)


@pytest.mark.parametrize(
    ("given", "sent", "trusted", "limit"),
    [
        ({}, "send_page", "respondents_draw", "machine_local"),
        ({"intro": None}, "send_page_untold", "respondents_draw", "machine_local"),
        ({"shared": True}, "send_shared", "respondents_draw_shared", "machine_shared"),
    ],
)
def test_a_page_says_on_whose_device_people_answer_and_how_reports_come_back(
    tmp_path: Path, given: Mapping[str, object], sent: str, trusted: str, limit: str
) -> None:
    told = kit(tmp_path, given)
    own = {
        name.rpartition(".")[2] for name in told if name.startswith(f"methods.{OPENING.method}.notes.send")
    }
    assert own == {sent}
    assert {name for name in told if name.startswith("assumptions.respondents")} == {f"assumptions.{trusted}"}
    assert {name for name in told if ".machine" in name} == {f"report.limits.{limit}"}
    assert "report.unchecked.page" in told and "promises.local_dp.criteria.linking" in told


@pytest.mark.parametrize("questions", [1, 2, 3])
def test_a_kit_and_its_report_round_how_sure_one_can_become_alike(questions: int) -> None:
    """Of coins each answer has the factor 3: the ε of all lies a hair above, and is no further tenth."""
    whole = questions * (Fraction(np.log(3)).limit_denominator(10**9) + Fraction(1, 10**12))
    sure = posterior(0.5, float(whole))
    assert percent_up(sure) == f"{rounded_up(100 * sure):.1f}\u00a0%"


@pytest.mark.parametrize("delta", [0, Fraction(1, 10**6)])
def test_a_desk_that_opens_states_a_margin_at_the_level_that_it_is_of(
    tmp_path: Path, delta: Fraction
) -> None:
    """With a δ squares of levels add up: a fifth of what was reserved is no level of five equal questions."""
    budget = Budget(Fraction(1, 2), Fraction(delta))
    write_rows(tmp_path)
    opened = desk_plan(budget=budget, holding_budget=Budget(Fraction(1), 10 * Fraction(delta)))
    run(opened, out=tmp_path / "desk", ledger=Ledger(tmp_path / "l.sqlite"), base=tmp_path)
    told = texts_of(tmp_path / "desk")
    assert ("report.cover.exact_opened" in told) is (delta == 0)
    assert ("report.cover.exact_opened_delta" in told) is (delta > 0)
    (left,) = (one for name, one in told.items() if ".notes.left" in name)
    assert left.values["left"] == left.values["reserved"]  # nothing was asked yet
    cited = json.loads((tmp_path / "desk/release/evidence.json").read_bytes())["method"]["published"]
    assert ("for δ = 0" in cited["place"]) is (delta == 0)
    assert {one for one in told if one.startswith("places.")} == {
        f"places.methods.{DESK}.approximate_dp" if delta else f"places.methods.{DESK}"
    }


def test_a_visit_says_the_cap_of_rows_alone_and_one_unit_of_answers_that_share_it(tmp_path: Path) -> None:
    """People are counted by all of their rows: no sentence says of their answers that rows were left out."""
    write_rows(tmp_path)
    visitor = Visitor(tmp_path)
    told = {}
    for name, of in (("people", ("people",)), ("mixed", ("rows", "people")), ("rows", ("rows",))):
        asked = [{"of": one, "where": f"age >= {20 + len(told)}", "epsilon": "1/50"} for one in of]
        visitor.ask(*asked)
        told[name] = texts_of(tmp_path / visitor.last)
    for found in told.values():
        assert f"methods.{DESK}.notes.capped" in found and "report.guarantee.bias_visit" in found
        assert {"statistics.notes.capped", "report.guarantee.bias"}.isdisjoint(found)
    assert [name for name, found in told.items() if "preview.unit" in found] == ["rows"]


@pytest.mark.parametrize(("epsilon", "all_kept"), [("1", True), ("1/1000", False)])
def test_waves_that_were_all_kept_leave_none_that_hold_more_noise(epsilon: str, all_kept: bool) -> None:
    """Of two humps two waves tell much and are both kept; at a thousandth of ε they hold noise alone."""
    own = test_density.design(way="cosines", delta="1/1000000", epsilon=epsilon, waves=2)
    rows = Table(test_density.frame(np.tile([0, 1, 9], 400)))
    release = own.run({MAIN: rows}, Context(seeded_noise(2), None, Path("unused")))
    (note,) = (one for one in release.notes if ".notes.kept" in one.id)
    assert note.id.endswith(".kept_all") is all_kept
    assert (note.values["kept"] == note.values["most"]) is all_kept


@pytest.mark.parametrize(("longest", "name"), [(2, "counted_open"), (20, "counted")])
def test_events_beyond_the_longest_history_are_not_said_to_be_counted(
    tmp_path: Path, longest: int, name: str
) -> None:
    """People have two or three events, and one is counted: half of what a table to two can tell, at most."""
    own = test_flows.design(budget=Budget(Fraction(10**6)), longest=longest)
    lengths = np.zeros(longest)
    lengths[1] = 400
    lengths[min(2, longest - 1)] += 400
    note = own._counted_note(lengths, 1)
    assert note.id.endswith(f".{name}")
    assert note.values["percent"] == (50 if longest == 2 else 40)


def test_of_questions_of_which_one_is_drawn_each_is_not_said_to_be_changed_alike(tmp_path: Path) -> None:
    """The annex has the one whose level counts; how often the loss stays within ε is that of all of them."""
    assert len({len(one["levels"]) for one in YES_OR_NO}) > 1
    drawn = kit(tmp_path / "one", {"questions": YES_OR_NO, "asked": "one", "epsilon": 3})
    every = kit(tmp_path / "all", {"questions": YES_OR_NO, "asked": "all", "epsilon": 3})
    assert {"report.guarantee.changes_drawn", "assumptions.one_question_drawn"} <= set(drawn)
    assert {"report.guarantee.changes", "report.at_risk.title", "report.numbers.exact"}.isdisjoint(drawn)
    assert {"report.guarantee.changes", "report.at_risk.title"} <= set(every)
    assert "assumptions.one_question_drawn" not in every


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_number_below_zero_is_told_as_it_is_shown(language: str) -> None:
    """What stands in brackets is no larger than its margin, one far below zero as well; a grid shows 0."""
    smaller = {"en": "no larger than", "de": "nicht größer als", "fr": "ne dépasse pas"}[language]
    flows = "methods.statistics.flows.views"
    said = {"shown": 5, "all": 30, "limit": 74.9}
    for name in ("statistics.notes.weak", f"{flows}.moves.note"):
        assert smaller in word(Text(name, said), language)
    below = {"en": "below zero", "de": "unter null", "fr": "au-dessous de zéro"}[language]
    for name in (
        f"{flows}.arrivals.note",
        f"{flows}.next.note",
        "measures.utility.small_groups.numbers.guesses.how",
    ):
        assert below in word(Text(name, said), language)


@pytest.mark.parametrize("language", LANGUAGES)
def test_how_a_number_was_made_is_said_of_each_way_that_can_be_chosen(language: str) -> None:
    """One sentence stands in the reports of all ways: it states none of them as the one that was taken."""
    condition = {"en": "Unless another way", "de": "Wo kein anderer Weg", "fr": "Si aucune autre voie"}
    for number in ("mean", "proportion"):
        said = word(Text(f"methods.statistics.means.numbers.{number}.how", {}), language)
        assert condition[language] in said
    chosen = {"en": "the notes say which", "de": "die Hinweise sagen", "fr": "les remarques disent"}
    said = word(Text("methods.statistics.quantiles.numbers.value.how", {}), language)
    assert chosen[language].casefold() in said.casefold()


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_constant_of_the_price_is_said_of_what_depends_on_the_level(language: str) -> None:
    """With a least sum 37 % of the whole liability is not what is owed at ε = c."""
    most, least = 80.0, 40.0
    owed = least + (most - least) * np.exp(-1)
    assert round(100 * (owed - least) / (most - least)) == 37 and round(100 * owed / most) == 68
    whole = {"en": "whole liability", "de": "ganzen Haftung", "fr": "toute la responsabilité"}
    said = word(Text("report.numbers.c.what", {}), language)
    assert "37" in said and whole[language] not in said


def test_a_belief_that_is_nearly_certain_is_drawn_and_told_as_no_certainty(tmp_path: Path) -> None:
    """Four times make ε = 12 together, and 99.9994 %: bar, number and sentence stay below 100."""
    levels = {"questions": [{**one, "epsilon": 3} for one in YES_OR_NO], "asked": "one", "waves": 4}
    plan = replace(OPENING, parameters={**OPENING.parameters, **levels, "forged_reason": "One strip each"})
    run(plan, out=tmp_path / "kit", ledger=Ledger(tmp_path / "l.sqlite"), base=tmp_path)
    page = (tmp_path / "kit/release/report-external.html").read_text()
    (drawn,) = re.findall(r'role="img" aria-label="([^"]*)"', page)
    assert re.search(r"99\.99\d+;", drawn) and "100" not in drawn
    assert re.search(r"at most: 99\.99\d+", page) and not re.search(r"at most: 100\b", page)


@pytest.mark.parametrize("read", [True, False])
def test_an_internal_folder_is_said_to_hold_exact_figures_where_rows_were_read(
    tmp_path: Path, read: bool
) -> None:
    """A kit of a survey is made before anybody answered: there is no exact figure that it could hold."""
    if read:
        write_rows(tmp_path)
        visitor = Visitor(tmp_path)
        visitor.ask({"where": "age >= 20", "epsilon": "1/50"})
        folder = tmp_path / visitor.last
    else:
        run(OPENING, out=tmp_path / "kit", ledger=Ledger(tmp_path / "l.sqlite"), base=tmp_path)
        folder = tmp_path / "kit"
    page = " ".join((folder / "internal" / "report-internal.html").read_text().split())
    assert ("It holds exact figures" in page) is read
    assert ("it holds no exact figures" in page) is not read


def test_strips_that_were_typed_in_are_told_as_strips(tmp_path: Path) -> None:
    """No page made them, the same one counts twice, and what was left out of them is an exact figure."""
    given = OPENING.parameters | PAPER | {"asked": "all", "forged_reason": "One strip each"}
    ledger = Ledger(tmp_path / "l.sqlite")
    opened = run(replace(OPENING, parameters=given), out=tmp_path / "kit", ledger=ledger, base=tmp_path)
    code = strip_code(make_kit(method(OPENING.method)(replace(OPENING, parameters=given).request).values))
    line = " ".join((code, *("1" for _ in YES_OR_NO)))
    (tmp_path / "strips.csv").write_text("\n".join(["report", *([line] * 400)]) + "\n")
    files = {"reports": FileReference("strips.csv", VISIT.files["reports"].options)}
    visit = replace(VISIT, files=files, continues=opened.entry, state="kit/internal/state")
    run(visit, out=tmp_path / "told", ledger=ledger, base=tmp_path)
    told = texts_of(tmp_path / "told")
    for language in LANGUAGES:
        own = [one for name, one in told.items() if not name.startswith(OF_EITHER)]
        said = [sentence for one in own for sentence in sentences(one, language)]
        assert [one for one in said if OF_A_PAGE[language].search(one)] == []
    page = (tmp_path / "told/release/report-external.html").read_text()
    assert "the page made it" not in page and "each counted once" not in page
    assert "It holds exact figures" in (tmp_path / "told/internal/report-internal.html").read_text()
