"""The survey from the page to the estimates: what the page is, what is refused, ledger and evidence."""

import io
import json
import math
import re
from dataclasses import replace
from fractions import Fraction
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from engine import texts
from engine.__main__ import main
from engine.errors import InputRefused
from engine.ledger import Ledger
from engine.methods.catalogue import method
from engine.methods.exchanges.asking import largest_error
from engine.methods.exchanges.collected import Collection, collect_again, collections_of
from engine.methods.exchanges.kit import ALL, LANGUAGES, ONE, Kit, Question
from engine.methods.exchanges.kit_page import page
from engine.methods.exchanges.paper import channel_of
from engine.methods.exchanges.reading import Received, read_reports
from engine.methods.exchanges.told import MOST_BARS, Results, inside, uneven
from engine.methods.protocol import Budget
from engine.privacy.channels import Sets, for_choice
from engine.privacy.promise import Promise
from engine.release.check import check
from engine.release.examples import plans
from engine.release.plan import FileReference
from engine.release.preview import preview, preview_json
from engine.release.run import run
from engine.release.verify import verify
from engine.report.content.results import compact
from engine.report.words import written_rows
from engine.table.reading.options import ReadOptions
from engine.table.schema import Column, Kind, Role, Schema
from engine.table.table import Table
from engine.views import BarsView, TableView
from tests.engine.methods.exchanges.respondents import reports, written

ID = "exchanges.survey"
SURVEY = method(ID)
OPENING, VISIT, WIDE = plans(SURVEY)
HOSTILE = [
    '</script><script>alert("x")</script>',
    '"><img src=x onerror=alert(1)>',
    "{{kit}} {{policy}} ${kit} <!--",
    "' onmouseover='alert(1)",
]
OUTSIDE = re.compile(
    r"https?:|//[a-z]|[^a-z]url\(|@import|\bfetch\b|XMLHttpRequest|WebSocket|sendBeacon|EventSource|importScripts"
    r"|localStorage|sessionStorage|indexedDB|cookie|Math\.random|\beval\b|innerHTML",
    re.IGNORECASE,
)  # URL.createObjectURL(…) of the report itself is no address


class Page(HTMLParser):
    """What stands in a page: tags with their attributes, and the text of each kind of element."""

    def __init__(self, content):
        super().__init__(convert_charrefs=True)
        self.tags, self.texts, self.open = [], {}, []
        self.feed(content.decode())

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.open.append(tag)

    def handle_endtag(self, tag):
        while self.open and self.open.pop() != tag:
            pass

    def handle_data(self, data):
        if self.open:
            self.texts.setdefault(self.open[-1], []).append(data)


def kit(*texts, title="Title", intro=""):
    channel = Sets.at(2, 1, 1, Fraction(1))
    asked = tuple(Question(text, "one_of", (text, "other"), channel, Fraction(1)) for text in texts)
    return Kit(title, intro, asked, 100)


def kit_of(plan):
    return Kit.loads(SURVEY(plan.request).run({}, None).state)


# --- the page ---------------------------------------------------------------------------------------


def test_the_page_is_whole_and_reaches_nothing():
    content = page(kit("Do you smoke?", intro="Please send it back.\n\nThank you."))
    found = Page(content)
    text = re.sub("'sha256-[^']*'", "", content.decode())  # which may hold any letters
    assert OUTSIDE.search(text) is None and "{{" not in text
    outside = {
        "src",
        "href",
        "action",
        "formaction",
        "data",
        "srcset",
        "poster",
        "background",
        "ping",
        "xmlns",
    }
    for tag, attributes in found.tags:
        assert not outside & set(attributes), tag
        assert not [name for name in attributes if name.startswith("on")]
        assert tag not in ("form", "link", "iframe", "object", "embed", "base", "img")
    policy = next(one["content"] for tag, one in found.tags if "http-equiv" in one)
    assert policy.startswith("default-src 'none'; script-src 'sha256-") and "unsafe" not in policy
    assert "form-action 'none'" in policy
    assert found.texts["p"][:2] == ["Please send it back.", "Thank you."]


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_texts_stay_texts(hostile):
    plain, found = Page(page(kit("Q"))), Page(page(kit(hostile, title=hostile, intro=hostile)))
    assert [tag for tag, _ in found.tags if tag != "p"] == [tag for tag, _ in plain.tags if tag != "p"]
    assert found.texts["script"] == plain.texts["script"]  # no text of a custodian is in a script
    assert found.texts["h1"] == [hostile] and found.texts["title"] == [hostile]
    assert found.texts["legend"] == [f"1. {hostile}"] and found.texts["span"][0] == hostile
    assert hostile in found.texts["p"]
    names = {name for _, attributes in found.tags for name in attributes}
    assert not [name for name in names if name.startswith("on") or "<" in name]


def test_the_policy_names_the_scripts_and_the_style_as_they_are():
    import base64
    import hashlib

    content = page(kit("Q")).decode()
    inline = re.findall(r"<(script|style)>(.*?)</\1>", content, re.DOTALL)
    assert [kind for kind, _ in inline] == ["style", "script", "script"]
    for kind, text in inline:
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert re.search(rf"{kind}-src [^;]*'sha256-{re.escape(digest)}'", content)


def test_the_page_draws_with_the_numbers_that_the_promise_is_about():
    made = kit_of(OPENING)
    found = Page(page(made))
    told = json.loads(next(one["data-kit"] for _, one in found.tags if "data-kit" in one))
    assert told["id"] == made.id
    events = check(OPENING).cost.loss.events.leaves()
    for one, (event, _) in zip(told["questions"], events, strict=True):
        channel = one["channel"]
        assert Fraction(channel["hit"], channel["tickets"]) == event.truth
        assert channel["universe"] == one["answers"] == event.answers and channel["size"] == 1


def test_everybody_can_use_the_page():
    content = page(kit("One", "Two"))
    found = Page(content)
    tags = [tag for tag, _ in found.tags]
    assert tags.count("fieldset") == tags.count("legend") == 2 and tags.count("label") == 4
    html = next(one for tag, one in found.tags if tag == "html")
    assert html["lang"] == "en"
    assert all(one.get("autocomplete") == "off" for tag, one in found.tags if tag == "input")
    assert all(one.get("type") == "button" for tag, one in found.tags if tag == "button")
    for part in ("prefers-color-scheme: dark", "@media print", 'role="alert"', 'role="status"', "noscript"):
        assert part in content.decode()


# --- what is refused --------------------------------------------------------------------------------

QUESTION = {"text": "Q", "levels": ["a", "b"], "epsilon": 1}
NUMBER = {"text": "Q", "kind": "number", "range": [0, 10], "epsilon": 1}
DAY = {"text": "Q", "kind": "date", "range": ["2026-01-01", "2026-01-31"], "epsilon": 1}
WRONG = {
    "no question": ({"questions": []}, "parameters.unfilled"),
    "one level": ({"questions": [QUESTION | {"levels": ["a"]}]}, "parameters.too_small"),
    "a question twice": ({"questions": [QUESTION, QUESTION]}, f"{ID}.same_text"),
    "an unknown kind": ({"questions": [QUESTION | {"kind": "essay"}]}, "parameters.not_a_choice"),
    "a level twice over": ({"epsilon": 1}, f"{ID}.level_twice"),
    "no whole steps": ({"questions": [NUMBER | {"step": 3}]}, f"{ID}.uneven"),
    "no step at all": ({"questions": [NUMBER | {"step": 11}]}, f"{ID}.range"),
    "far too many uneven steps": (
        {"questions": [NUMBER | {"range": [0, 100], "step": "3/7"}]},
        f"{ID}.range",
    ),
    "the last day there is": (
        {"questions": [DAY | {"range": ["9999-01-01", "9999-12-31"], "step": 9}]},
        f"{ID}.range",
    ),
    "days for a number": ({"questions": [NUMBER | {"range": ["2026-01-01", "2026-01-02"]}]}, f"{ID}.range"),
    "half days": ({"questions": [DAY | {"step": "1/2"}]}, f"{ID}.range"),
    "numbers for days": ({"questions": [DAY | {"range": [1, 5]}]}, f"{ID}.range"),
    "too many values": ({"questions": [NUMBER | {"range": [0, 1000]}]}, f"{ID}.too_many"),
    "more ticks than answers": (
        {"questions": [QUESTION | {"kind": "several_of", "most": 3}]},
        f"{ID}.ticks",
    ),
    "half a pair": (
        {"questions": [QUESTION | {"kind": "pair", "second_text": " ", "second_levels": ["x", "y"]}]},
        f"{ID}.levels",
    ),
    "a level twice": ({"questions": [QUESTION | {"levels": ["a", " a"]}]}, f"{ID}.levels"),
    "an empty level": ({"questions": [QUESTION | {"levels": ["a", " "]}]}, f"{ID}.levels"),
    "no words": ({"questions": [QUESTION | {"text": " "}]}, f"{ID}.levels"),
    "two levels of privacy": ({"questions": [QUESTION | {"truth": "3/4"}]}, f"{ID}.level_open"),
    "none": ({"questions": [{"text": "Q", "levels": ["a", "b"]}]}, f"{ID}.level_open"),
    "a guess": ({"questions": [{"text": "Q", "levels": ["a", "b"], "truth": "1/2"}]}, f"{ID}.truth"),
    "the truth": ({"questions": [{"text": "Q", "levels": ["a", "b"], "truth": 1}]}, f"{ID}.truth"),
    "hardly any protection": ({"questions": [QUESTION | {"epsilon": 11}]}, "parameters.too_large"),
    "a long title": ({"title": "x" * 1001}, f"{ID}.too_long"),
    "nobody": ({"respondents": 0}, "parameters.too_small"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_kit_that_makes_no_sense_is_refused_in_words(name):
    changed, code = WRONG[name]
    with pytest.raises(InputRefused) as refused:
        check(replace(OPENING, parameters={**OPENING.parameters, **changed}))
    assert refused.value.code == code


@pytest.mark.parametrize(("question", "before", "after"), [
    (NUMBER | {"step": 3}, "9", "12"),
    (NUMBER | {"range": ["-1/2", 1], "step": "2/5"}, "0.7", "1.1"),
    (DAY | {"range": ["2020-01-01", "2025-12-31"], "step": 31}, "2025-12-10", "2026-01-10"),
])  # fmt: skip
def test_where_whole_steps_do_not_reach_the_highest_both_that_they_reach_are_said(question, before, after):
    """2,191 days have hardly a step that goes into them; with either of the two the question is taken."""
    with pytest.raises(InputRefused) as refused:
        check(replace(OPENING, parameters={**OPENING.parameters, "questions": [question]}))
    assert (refused.value.values["before"], refused.value.values["after"]) == (before, after)
    for end in (before, after):
        taken = question | {"range": [question["range"][0], end]}
        check(replace(OPENING, parameters={**OPENING.parameters, "questions": [taken]}))


# --- from the page to the estimates -----------------------------------------------------------------


@pytest.fixture
def ledger(tmp_path):
    return Ledger(tmp_path / "ledger.sqlite")


def opened(tmp_path, ledger, plan=OPENING):
    bundle = run(plan, out=tmp_path / "kit", ledger=ledger, base=tmp_path)
    assert verify(bundle.folder, ledger=ledger).problems == ()
    return bundle


def collecting(tmp_path, entry, lines, *, state="kit", heading="report"):
    (tmp_path / "reports.csv").write_text("\n".join([heading, *lines]) + "\n")
    files = {"reports": FileReference("reports.csv", VISIT.files["reports"].options)}
    return replace(VISIT, files=files, continues=entry, state=f"{state}/internal/state")


def collected(tmp_path, ledger, plan, name):
    bundle = run(plan, out=tmp_path / name, ledger=ledger, base=tmp_path)
    assert verify(bundle.folder, ledger=ledger).problems == ()
    return pd.read_csv(bundle.folder / "release" / "estimates.csv"), bundle


def test_estimates_come_back_within_their_margins_and_nothing_is_paid(tmp_path, ledger):
    ledger.create_holding("Staff survey", unit="person", neighbours="add_remove", epsilon="1/10")
    kit_bundle = opened(tmp_path, ledger)
    people, truth = 20_000, np.array([0.2, 0.8, 0.6, 0.2, 0.1, 0.1, 0.35, 0.65])
    answers = (
        np.repeat([0, 1], [4000, 16000]),
        np.repeat([0, 1, 2, 3], [12000, 4000, 2000, 2000]),
        np.repeat([0, 1], [7000, 13000]),
    )
    lines = reports(kit_of(OPENING), answers, 8)
    odd = ["report", lines[0], "nonsense", "", f"survey-{'0' * 16}-{'1' * 16}-1-1-1"]
    plan = collecting(tmp_path, kit_bundle.entry, [*lines, *odd])
    frame, bundle = collected(tmp_path, ledger, plan, "estimates")
    assert (frame["reports"] == people).all()
    assert (np.abs(frame["share"] - truth) < 3 * frame["standard_error"]).all()
    assert frame["within_95"].max() < 0.02
    inside = json.loads((bundle.folder / "internal" / "evidence.json").read_text())["internal"]["inside"]
    assert inside["left_out"]["repeated"] == inside["left_out"]["other_kit"] == 1
    status = ledger.status("Staff survey")
    assert status.epsilon_left == Fraction(1, 10) and status.bounds_all
    assert {(entry.state, entry.loss, entry.epsilon) for entry in ledger.entries()} == {
        ("complete", "none", None)
    }


def test_a_further_collection_goes_on_and_another_state_is_refused(tmp_path, ledger):
    entry = opened(tmp_path, ledger).entry
    lines = reports(kit_of(OPENING), (np.zeros(50, int), np.zeros(50, int), np.zeros(50, int)), 2)
    first, _ = collected(tmp_path, ledger, collecting(tmp_path, entry, lines[:30]), "one")
    plan = collecting(tmp_path, entry, lines, state="one")
    second, _ = collected(tmp_path, ledger, plan, "two")
    assert first["reports"][0] == 30 and second["reports"][0] == 50
    state = tmp_path / "two" / "internal" / "state"
    state.write_bytes(state.read_bytes().replace(b'"respondents": 500', b'"respondents": 501'))
    for changed, code in ((state.read_bytes(), "ledger.other_state"), (b"{}", f"{ID}.no_kit")):
        state.write_bytes(changed)
        with pytest.raises(InputRefused) as refused:
            run(replace(plan, state="two/internal/state"), out=tmp_path / "x", ledger=ledger, base=tmp_path)
        assert refused.value.code == code
    assert verify(tmp_path / "two", ledger=ledger).problems


@pytest.mark.parametrize(("same", "time"), [(100, 1), (95, 1), (94, 2), (0, 2)])
def test_a_time_goes_on_where_nearly_all_of_its_reports_come_again(same, time):
    earlier = Collection(1, 100, tuple(range(100)))
    found = Received(300, (), {}, np.arange(100 - same, 400 - same))
    assert collect_again((earlier,), kit_of(OPENING), found).time == time


def times_said(tmp_path, name):
    """Return what the evidence of a collection says of further times: the text's last word and its values."""
    evidence = json.loads((tmp_path / name / "release" / "evidence.json").read_text())
    notes = [one for one in evidence["notes"] if ".notes.collected" in one["id"]]
    return [(one["id"].rsplit(".", 1)[1], one["values"]) for one in notes]


def test_a_kit_that_is_collected_at_more_times_than_declared_says_so(tmp_path, ledger):
    """Nothing where the same reports come again with more; and nobody goes back to before the first."""
    entry = opened(tmp_path, ledger).entry
    kit = kit_of(OPENING)
    answers = [np.zeros(700, int)] * 3
    lines, others = reports(kit, answers, 2), reports(kit, answers, 3)
    collected(tmp_path, ledger, collecting(tmp_path, entry, lines[:600]), "one")
    collected(tmp_path, ledger, collecting(tmp_path, entry, lines, state="one"), "more")
    collected(tmp_path, ledger, collecting(tmp_path, entry, others, state="more"), "other")
    collected(tmp_path, ledger, collecting(tmp_path, entry, lines, state="other"), "back")
    assert [times_said(tmp_path, name) for name in ("one", "more", "back")] == [[], [], []]
    ((word, values),) = times_said(tmp_path, "other")
    assert word == "collected" and (values["time"], values["waves"], values["reports"]) == (2, 1, 700)
    assert Fraction(values["epsilon"]) >= 2 * kit.epsilon
    for state in ("kit", "one", "more"):
        with pytest.raises(InputRefused) as refused:
            collected(tmp_path, ledger, collecting(tmp_path, entry, others, state=state), "again")
        assert refused.value.code == "ledger.other_state"


@pytest.mark.parametrize("lines", [[], ["nonsense"], [f"survey-{'0' * 16}-{'1' * 16}-1-1-1"]])
def test_without_a_single_report_it_says_so(tmp_path, ledger, lines):
    entry = opened(tmp_path, ledger).entry
    with pytest.raises(InputRefused) as refused:
        collected(tmp_path, ledger, collecting(tmp_path, entry, lines), "none")
    assert refused.value.code == f"{ID}.no_reports"
    assert not (tmp_path / "none").exists()


def test_what_would_mean_nothing_is_refused_with_the_number_that_it_takes(tmp_path, ledger):
    entry = opened(tmp_path, ledger).entry
    lines = reports(kit_of(OPENING), [np.zeros(9, int)] * 3, 2)
    with pytest.raises(InputRefused) as refused:
        collected(tmp_path, ledger, collecting(tmp_path, entry, lines), "few")
    assert refused.value.code == f"{ID}.too_few"
    assert refused.value.values["reports"] == 9 < refused.value.values["needed"] < 90
    more = reports(kit_of(OPENING), [np.zeros(refused.value.values["needed"], int)] * 3, 3)
    frame, _ = collected(tmp_path, ledger, collecting(tmp_path, entry, more), "enough")
    assert frame["share"].notna().any()


ANSWERS = {"number": 12, "scale": 4, "date": 20, "mean": 30}  # places, of a survey in which all say the same


def test_every_kind_of_question_comes_back(tmp_path, ledger):
    """All answer alike: each share and mean within four standard errors of what was said."""
    design = check(WIDE)
    assert design.kit.asked == "one" and design.cost.loss.epsilon == 1
    entry = opened(tmp_path, ledger, WIDE).entry
    people = 14_000
    answers = [
        [(0, 4)] * people if one.kind == "several_of" else [ANSWERS.get(one.kind, 2)] * people
        for one in design.kit.questions
    ]
    frame, bundle = collected(
        tmp_path, ledger, collecting(tmp_path, entry, reports(design.kit, answers, 12)), "all"
    )
    means = pd.read_csv(bundle.folder / "release" / "means.csv")
    likely = pd.read_csv(bundle.folder / "release" / "distributions.csv")
    assert frame["reports"].groupby(frame["question"]).first().sum() + means["reports"].sum() == people
    for question in design.kit.questions:
        shares = frame[frame["question"] == question.text].set_index("answer")
        if question.kind in ANSWERS:
            place = ANSWERS[question.kind]
            mean = means[means["question"] == question.text].iloc[0]
            value = float(question.lowest + question.step * place)
            assert abs(mean["mean"] - value) < 4 * mean["standard_error"], question
            assert mean["low"] < mean["mean"] < mean["high"]
            made = likely[likely["question"] == question.text]
            assert made.empty == (question.kind == "mean")
            assert made.empty or made["likely"].sum() == pytest.approx(1)
            continue
        true = [0, 4] if question.kind == "several_of" else [2]
        truth = np.isin(np.arange(len(shares)), true).astype(float)
        assert (np.abs(shares["share"] - truth) < 4 * shares["standard_error"]).all(), question
        assert (shares["low"] <= truth + 1e-9).mean() > 0.8 and (shares["shown"] >= 0).all()


def test_reports_that_were_made_up_for_one_question_show():
    kit = check(WIDE).kit
    answers = [[0] * 7000 if one.kind != "several_of" else [(0,)] * 7000 for one in kit.questions]
    honest = reports(kit, answers, 7)
    assert max(map(abs, uneven(kit, read_reports(honest, kit)))) < 5
    forged = [written(kit, number, [(3, (0,))]) for number in range(400)]
    found = read_reports([*honest, *forged], kit)
    assert [place for place, one in enumerate(uneven(kit, found)) if one > 5] == [3]
    (_, table, _) = inside(kit, found, Results(kit, found)).views
    assert [row[2].id.rsplit(".", 1)[1] for row in table.rows].count("more") == 1
    assert uneven(kit_of(OPENING), read_reports([], kit_of(OPENING))) == ()


def test_columns_of_what_came_have_as_many_decimals_and_every_distribution_has_its_picture():
    """One yes or no, one of 40, two of 61 and 71 values: margins of .07 and .098 stand in one column."""
    kit = kit_of(
        replace(OPENING, parameters={**OPENING.parameters, "respondents": 300, "questions": [
            {"text": "Yes?", "levels": ["yes", "no"], "epsilon": "3/2"},
            {"text": "Place?", "levels": [f"place {one}" for one in range(40)], "epsilon": 2},
            {"text": "Hours?", "kind": "number", "range": [0, 60], "epsilon": "3/2"},
            {"text": "Day?", "kind": "date", "range": ["2020-01-01", "2025-12-10"], "step": 31, "epsilon": 2},
        ]})
    )  # fmt: skip
    chance = np.random.default_rng(7)
    answers = [chance.integers(most, size=300).tolist() for most in (2, 40, 61, 71)]
    results = Results(kit, read_reports(reports(kit, answers, 5), kit))
    shares, means = (one for one in results.views if isinstance(one, TableView))
    told = compact(shares)
    for column in (2, 3, 4):  # share and its margin, lowest, highest
        written = re.findall(r"\d+\.?\d*", " ".join(row[column] for row in told.rows))
        assert {len(one.partition(".")[2]) for one in written} == {3}
    (number, day), places = written_rows(means, "en"), [one.id.rsplit(".", 2)[1] for one in means.headings]
    value, limit = number[places.index("mean")], number[places.index("within_95")]
    mean = results.means[0][1]
    assert (value, limit) == (f"{mean.value:.1f}", f"{mean.margin:.1f}")
    assert (
        number[places.index("standard_error")] == f"{mean.error:.4g}"
        and day[places.index("mean")][:2] == "20"
    )
    bars = [one for one in results.views if isinstance(one, BarsView)]
    for (question, parts), picture in zip(results.spread, bars, strict=True):
        assert len(picture.labels) == len(picture.values) <= MOST_BARS
        assert math.fsum(picture.values) == pytest.approx(1)
        first = picture.labels[0].partition(" … ")
        assert first[0] == question.levels[0] and picture.labels[-1].endswith(question.levels[-1])
        assert picture.values[0] == pytest.approx(parts[: question.levels.index(first[2]) + 1].sum())


YES_OR_NO = [{"text": f"Question {place}?", "levels": ["yes", "no"]} for place in range(10)]
REASON = "Each person hands in one report, in sight."
WAYS = {
    "a few questions": (OPENING, {}, 0),
    "one of many that is drawn": (OPENING, {"questions": YES_OR_NO, "epsilon": 1}, 3),
    "everything at once": (WIDE, {}, 2),
    "everybody is asked all": (WIDE, {"asked": "all"}, 2),
    "a small level": (OPENING, {"questions": [QUESTION | {"levels": list("abc"), "epsilon": "1/4"}]}, 2),
    "so small that nothing helps": (OPENING, {"questions": YES_OR_NO, "epsilon": "1/10"}, 3),
    "on paper": (OPENING, {"questions": YES_OR_NO[:4], "form": "paper", "asked": "one", "device": "lie"}, 4),
}


@pytest.mark.parametrize("name", WAYS)
def test_what_made_up_reports_move_far_is_said_as_a_number_with_a_choice(name):
    """Before the kit is made, in amber; each way with its own figure, which is less, and in the report."""
    plan, changed, count = WAYS[name]
    plan = replace(plan, parameters={**plan.parameters, **changed, "forged_reason": REASON})
    design, kit = check(plan), kit_of(plan)
    release = SURVEY(plan.request).run({}, None)
    said = {one.id.rsplit(".", 1)[1]: one for one in release.notes}
    refused = SURVEY(replace(plan, parameters={**plan.parameters, "forged_reason": " "}).request).problems
    assert [one.code for one in refused] == [f"{ID}.forged_far"] * (count > 0)
    judged, far = design.judged(None), max(map(kit.moved_by_forged, kit.questions)) > 5
    sentences = preview_json(plan, None)["sentences"]
    assert far == any("One made-up report in 100" in one for one in sentences)
    assert far == (count > 0) == (judged.care is not None) == ("forged_far" in said)
    views = [one for one in (*design.forecast.views, *release.views) if one.title.id.endswith("ways.title")]
    assert len(views) == 2 * far and ("forged" in said) != far
    if not far:
        return
    chosen, *others = views[0].rows
    assert len(others) == count - 1 and views[0] == views[1]
    assert said["forged_far"].values["reason"] == REASON and refused[0].values["care"] == judged.care
    if others:
        values = judged.care.values
        assert values["less"] == min(one[2] for one in others) and values["now"] == 100 * chosen[3]
        assert (values["less"], values["limit"]) in [(one[2], 100 * one[3]) for one in others]
    assert chosen[2] == judged.care.values["points"] == said["forged_far"].values["points"]
    assert chosen[2] == math.ceil(10 * max(map(kit.moved_by_forged, kit.questions))) / 10
    assert all(one[2] < chosen[2] for one in others)
    for way, *_, moved, _ in others:
        assert way.id.rsplit(".", 1)[1] != "level" or moved <= 5


@pytest.mark.parametrize(
    ("level", "count", "asked"),
    [(2, 5, ALL), (3, 10, ALL), (1, 3, ONE), (1, 10, ONE)],
    ids=["all stay near", "many do", "both do", "neither does"],
)
def test_where_nobody_decides_made_up_reports_come_before_what_is_more_exact(level, count, asked):
    """Only where asking all helps: such a kit needs no reason, and what it costs is said with figures."""
    values = {**OPENING.parameters, "questions": YES_OR_NO[:count], "epsilon": level}
    ways = {way: {**values, "asked": way, "forged_reason": REASON} for way in (ALL, ONE)}
    kits = {way: kit_of(replace(OPENING, parameters=one)) for way, one in ways.items()}
    open_to_all = SURVEY(replace(OPENING, parameters=values).request)
    assert open_to_all.kit.asked == asked and open_to_all.kit.questions == kits[asked].questions
    assert bool(open_to_all.problems) == (kits[asked].moved > 5)
    errors = {way: largest_error(kit) for way, kit in kits.items()}
    assert errors[ONE] < errors[ALL]
    note = open_to_all.forecast.views[0].note
    if asked == ONE:
        assert note.id.endswith("expected.one") and (kits[ONE].moved > 5) == (kits[ALL].moved > 5)
        return
    assert kits[ALL].moved <= 5 < kits[ONE].moved and note.id.endswith("expected.robust")
    assert (note.values["now"], note.values["limit"]) == (100 * errors[ALL], 100 * errors[ONE])
    assert note.values["points"] == math.ceil(10 * kits[ONE].moved) / 10


def test_the_least_level_that_is_named_is_the_least():
    asked = [QUESTION | {"levels": list("abcdefgh"), "epsilon": None}]
    values = {**OPENING.parameters, "questions": asked, "epsilon": "1/4", "forged_reason": REASON}
    shown = check(replace(OPENING, parameters=values)).forecast.views[-1]
    way, level, moved, error = shown.rows[-1]
    assert way.id.endswith(".level") and moved <= 5
    at = {}
    for tenths in (round(10 * level) - 1, round(10 * level)):
        at[tenths] = check(replace(OPENING, parameters={**values, "epsilon": f"{tenths}/10"}))
    lower, taken = at.values()
    assert lower.kit.moved > 5 >= taken.kit.moved and taken.forecast.errors[0].limit == error


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_kit_that_made_up_reports_move_far_is_refused_in_words_without_a_reason(language):
    values = {**OPENING.parameters, "questions": YES_OR_NO, "epsilon": 1}
    with pytest.raises(InputRefused) as refused:
        check(replace(OPENING, parameters=values))
    assert refused.value.code == f"{ID}.forged_far"
    what, do = texts.explain(refused.value, language=language)
    label = texts.text("methods.exchanges.survey.parameters.forged_reason.label", language=language)
    assert re.search("15[.,]9", what) and label in do and "{" not in what + do


def test_the_reason_stands_in_the_evidence_and_beside_the_results(tmp_path, ledger):
    """Not on the page that people answer on, whose id it leaves as it is."""
    values = {**OPENING.parameters, "questions": YES_OR_NO[:5], "epsilon": 1, "forged_reason": REASON}
    plan = replace(OPENING, parameters={**values, "asked": "one"})
    kit_bundle = opened(tmp_path, ledger, plan)
    made = kit_of(plan)
    assert made.moved > 5 and made.id == replace(made, reason="").id
    assert REASON not in page(made).decode() and Kit.loads(made.dumps()).reason == REASON
    lines = reports(made, [np.zeros(3000, int)] * 5, 4)
    _, bundle = collected(tmp_path, ledger, collecting(tmp_path, kit_bundle.entry, lines), "far")
    for folder in (kit_bundle.folder, bundle.folder):
        assert REASON in (folder / "release" / "evidence.json").read_text()
        assert REASON in (folder / "release" / "report-external.html").read_text()


def test_kits_from_before_a_reason_was_asked_for_are_collected():
    tree = json.loads(kit_of(WIDE).dumps())
    del tree["reason"]
    assert Kit.loads(json.dumps(tree).encode()) == replace(kit_of(WIDE), reason="")


@pytest.mark.parametrize("waves", [1, 2])
def test_nobody_can_believe_more_of_one_person_than_is_said(waves):
    """Bayes over every report of the exact channel: an answer's posterior, also of one estimated as none."""
    plan = replace(OPENING, parameters={**OPENING.parameters, "waves": waves})
    kit = kit_of(plan)
    # In the second question nobody gives the last answer
    answered = [np.arange(400) % max(len(one.levels) - 1, 2) for one in kit.questions]
    found = read_reports(reports(kit, answered, 6), kit)
    results = Results(kit, found)
    view = inside(kit, found, results).views[-1]
    assert len(view.headings) == 3 + waves and view.title.id.endswith("believed.title")
    said = {(row[0], row[1]): row[2:] for row in view.rows}
    assert any(one.shown == 0 for _, answers in results.shares for one in answers)
    for question, answers in results.shares:
        for place, one in enumerate(answers):
            if (question.text, one.answer) not in said:
                continue
            rest = np.array(
                [0.0 if at == place else max(other.shown, 0.01) for at, other in enumerate(answers)]
            )
            shares = rest / rest.sum() * (1 - one.high)
            shares[place] = one.high  # as common as it may be
            before, after, *every = said[question.text, one.answer]
            worst = 0.0
            for outcome in question.channel.outcomes():
                chances = [float(question.channel.chance((v,), outcome)) for v in range(len(shares))]
                worst = max(worst, shares[place] * chances[place] / np.dot(shares, chances))
            assert one.shown <= one.high <= before <= one.high + 0.001 and 0 < worst <= after < 1
            assert not every or after < every[0] <= 1


def test_a_drawn_question_tells_as_much_as_the_most_telling_one():
    plan = replace(OPENING, parameters={**OPENING.parameters, "asked": "one", "forged_reason": REASON})
    kit = check(plan).kit
    levels = [one.epsilon for one in kit.questions]
    assert check(plan).cost.loss.epsilon == max(levels) > min(levels)
    assert check(plan).cost.loss.events.epsilon() == max(one.event.epsilon() for one in kit.questions)
    odds = math.exp(max(levels))
    assert kit.sure == math.ceil(1000 * odds / (1 + odds)) / 10


def test_a_series_says_the_sum_before_it_begins():
    plan = replace(OPENING, parameters={**OPENING.parameters, "waves": 3})
    release = SURVEY(plan.request).run({}, None)
    one, every = release.views[:2]
    kit = kit_of(plan)
    odds = math.exp(3 * kit.epsilon)
    assert 100 > every.value >= 100 * odds / (1 + odds) and every.value > one.value == kit.sure
    assert f"at most {every.value:g} % sure" in release.artefacts[0].content.decode()
    (said,) = (one for one in release.notes if one.id.endswith(".series"))
    assert dict(said.values) == {
        "waves": 3, "epsilon": texts.significant_up(3 * float(kit.epsilon)), "sure": every.value,
    }  # fmt: skip
    assert "one_report_each_time" in release.promise.assumptions
    once = SURVEY(OPENING.request).run({}, None)
    assert not [one for one in once.notes if one.id.endswith(".series")]
    assert "one_report" in once.promise.assumptions


def test_ledger_evidence_and_papers_hold_the_sum_of_all_declared_times_once(tmp_path, ledger):
    """Every collection is a visit of the one entry; times not declared are an entry of their own."""
    plan = replace(OPENING, parameters={**OPENING.parameters, "waves": 3})
    total = 3 * kit_of(plan).epsilon
    entry = opened(tmp_path, ledger, plan).entry
    state = "kit"
    for time, people in enumerate((60, 70, 80)):
        lines = reports(kit_of(plan), [np.zeros(people, int)] * 3, time)
        collected(tmp_path, ledger, collecting(tmp_path, entry, lines, state=state), f"time {time}")
        state = f"time {time}"
        assert not times_said(tmp_path, state)
    beyond = run(plan, out=tmp_path / "beyond", ledger=ledger, base=tmp_path)
    kept = ledger.entries()
    assert sorted(one.parent or "" for one in kept) == sorted(["", "", entry, entry, entry])
    assert {one.guarantee["epsilon"] for one in kept} == {str(total)}
    assert {one.id for one in kept if one.parent is None} == {entry, beyond.entry}
    leaves = Promise.from_json(kept[0].guarantee).loss.events
    assert 0 <= total - leaves.epsilon() < Fraction(1, 10**6)
    for folder in ("kit", "time 2"):
        evidence = json.loads((tmp_path / folder / "release" / "evidence.json").read_text())
        assert evidence["promise"]["epsilon"] == str(total)
        said = plain_text(tmp_path / folder / "release" / "report-external.html")
        assert f"declared times together (ε = {math.ceil(100 * total) / 100})" in said


@pytest.mark.parametrize("waves", [1, 2, 4])
def test_no_survey_makes_anybody_certain_where_it_does_not(waves):
    """However near: 99.9994 % of three reports at ε 4 is not said as 100."""
    asked = [{"text": "?", "levels": ["yes", "no"], "epsilon": 3}]
    kit = kit_of(replace(OPENING, parameters=OPENING.parameters | {"questions": asked, "waves": waves}))
    odds = math.exp(3 * waves)
    assert 100 * odds / (1 + odds) <= kit.sure_of_all < 100
    assert f"{kit.sure_of_all:g} %" in page(kit).decode() and "100 % sure" not in page(kit).decode()


def test_of_one_question_it_is_not_said_that_there_are_several():
    for count in (1, 2):
        plan = replace(
            OPENING, parameters={**OPENING.parameters, "questions": YES_OR_NO[:count], "epsilon": 1}
        )
        shown = page(kit_of(replace(plan, parameters={**plan.parameters, "asked": ALL}))).decode()
        assert ("You are asked one question.<" in shown) == (count == 1)
        assert ("counts for all of them together" in shown) == (count == 2)


@pytest.mark.parametrize(("epsilon", "said"), [("2", "is never proof"), ("3", "close to proof")])
def test_a_report_that_is_nearly_a_proof_is_not_called_none(epsilon, said):
    """Above 90 % in the page of every language, and on paper by the same word."""
    asked = [{"text": "?", "levels": ["yes", "no"], "epsilon": epsilon}]
    kit = kit_of(replace(OPENING, parameters=OPENING.parameters | {"questions": asked}))
    assert said in page(kit).decode()
    assert kit.whole == ("whole" if kit.sure <= 90 else "nearly")
    for language in LANGUAGES:
        words = texts.text(f"methods.{ID}.page.{kit.whole}", language=language, sure=kit.sure)
        assert str(kit.sure) in words.replace(",", ".")


def test_a_survey_of_the_first_version_is_collected_to_the_end():
    """Its state and reports, as they were written then."""
    asked = [("?", ("yes", "no"), 3, 1), ("Which?", ("a", "b", "c"), 4, 2)]
    tree = {
        "title": "Title", "intro": "", "respondents": 100,
        "questions": [
            {"text": text, "levels": levels, "true": true, "other": other, "epsilon": "6/5"}
            for text, levels, true, other in asked
        ],
    }  # fmt: skip
    state = json.dumps(tree).encode()
    kit = Kit.loads(state)
    lines = [f"survey-{kit.id}-{number:016x}-{1 + number % 2}-{1 + number % 3}" for number in range(600)]
    rows = Table(pd.DataFrame({"report": lines}, dtype="str"), source="reports.csv", options=ReadOptions())
    schemas = {"reports": Schema((Column("report", Role.OTHER, Kind.TEXT),))}
    design = SURVEY(SURVEY.make_request(schemas, {"report": "report"}, step="collect", state=state))
    assert design.problems == [] and design.cost.loss.epsilon == Fraction(12, 5)
    release = design.step("collect", {"reports": rows}, state, None)
    frame = release.artefacts[0].frame
    assert Kit.loads(release.state) == Kit.loads(state) and collections_of(state) == ()
    assert [one.reports for one in collections_of(release.state)] == [frame["reports"].max()]
    assert frame["given"].tolist() == [300, 300, 200, 200, 200]
    assert frame["share"].tolist() == pytest.approx([0.5, 0.5, 1 / 3, 1 / 3, 1 / 3])


def test_reports_come_in_several_files(tmp_path, ledger):
    entry = opened(tmp_path, ledger).entry
    lines = reports(kit_of(OPENING), (np.zeros(20, int), np.zeros(20, int), np.zeros(20, int)), 4)
    plan = collecting(tmp_path, entry, lines[:9])
    (tmp_path / "more.csv").write_text("report\n" + "\n".join(lines[9:]) + "\n")
    more = FileReference("more.csv", VISIT.files["reports"].options)
    frame, _ = collected(tmp_path, ledger, replace(plan, files=plan.files | {"reports.2": more}), "all")
    assert frame["reports"][0] == 20


def test_odd_lines_never_stop_a_collection(tmp_path, ledger):
    entry = opened(tmp_path, ledger).entry
    lines = reports(kit_of(OPENING), [np.zeros(90, int)] * 3, 6)
    odd = ["a,b,c", '"open', "x" * 100_000, "\u202esurvey-1", "survey-", "=cmd()", " , ", "ünï", '""']
    frame, bundle = collected(tmp_path, ledger, collecting(tmp_path, entry, [*odd, *lines, *odd]), "odd")
    assert frame["reports"][0] == 90, bundle


def test_the_kit_needs_no_table_no_budget_and_no_register_with_one(tmp_path, ledger):
    design = preview(OPENING, ledger).design
    assert design.sources_read == () and design.request.private == ()
    assert design.cost.loss.epsilon == sum(one.epsilon for one in kit_of(OPENING).questions)
    said = preview_json(OPENING, ledger, base=tmp_path)
    assert said["problems"] == [] and len(said["sentences"]) == 1
    assert "surveys" in said["sentences"][0]
    asked = replace(OPENING, holding="Small", holding_budget=Budget(Fraction(1, 100)))
    assert preview(asked, ledger).refusal is None
    opened(tmp_path, ledger, asked)
    assert ledger.status("Small").epsilon_left == Fraction(1, 100)


def test_on_paper_no_question_stands_where_its_true_answer_could_be_ticked():
    """No lots are drawn on paper: printed before the report is made, the page asks for nothing."""
    shown = SURVEY(OPENING.request).run({}, None).artefacts[0].content.decode()
    on_paper = re.search(r"@media print \{(.*?)\n\}", shown, re.DOTALL)[1]
    hidden = {
        part.strip()
        for rule in re.findall(r"([^{}]+)\{ display: none; \}", on_paper)
        for part in rule.split(",")
    }
    assert "#questions" in hidden
    questions = re.search(r'<section id="questions".*?</section>', shown, re.DOTALL)[0]
    assert shown.count("<input") == questions.count("<input") > 0
    assert shown.count("<fieldset") == questions.count("<fieldset")
    assert (
        ".paper { display: block; }" in on_paper
        and texts.text("methods.exchanges.survey.page.on_paper") in shown
    )


def test_the_page_says_what_a_whole_report_can_tell():
    """Over all questions: ε adds up, and half sure becomes at most e^ε / (1 + e^ε), rounded up."""
    kit = kit_of(OPENING)
    odds = math.exp(sum(one.event.epsilon() for one in kit.questions))
    said = math.ceil(1000 * odds / (1 + odds)) / 10
    shown = SURVEY(OPENING.request).run({}, None).artefacts[0].content.decode()
    assert f"at most {said:g} % sure of one of them" in shown and said > 97


@pytest.mark.parametrize("answers", [2, 10, 100])
def test_what_made_up_reports_can_do_is_said_as_large_as_it_is(answers):
    """One of 100 reports says, or does not say, what nobody or everybody truly answered: what is said."""
    levels = tuple(f"level {place}" for place in range(answers))
    channel = for_choice(answers, Fraction(1)).channel
    question = Question("Which?", "one_of", levels, channel, Fraction(1))
    own, other = channel.shares()
    up = 100 * ((99 * other + 1) / 100 - other) / (own - other)
    down = 100 * (own - 99 * own / 100) / (own - other)
    assert question.moved_by_forged == max(up, down)
    kit = Kit("Title", "", (question, question), 100, "one")
    assert kit.moved_by_forged(question) == 2 * question.moved_by_forged  # all of them on one question


def test_the_same_plan_makes_the_same_page():
    first, second = (SURVEY(OPENING.request).run({}, None).artefacts[0].content for _ in range(2))
    assert first == second
    assert Path("resources/sample/survey_reports.csv").read_text().count(kit_of(OPENING).id) == 486


# --- what is said -----------------------------------------------------------------------------------

# Sentences of the reports that are about a table of the custodian's, noise of ours, or a register that pays.
UNTRUE = [
    "assumptions.choices_made_with_sight",
    *(f"report.limits.{name}" for name in ("stays_personal", "correctness", "chosen", "margins", "machine")),
    *(f"report.unchecked.{name}" for name in ("noise", "bounds", "key", "cap", "ledger", "input")),
    *(f"report.guarantee.{name}" for name in ("bias", "sampler", "noise_source", "scale", "rows_per_person")),
    *(f"report.results.{name}" for name in ("intro", "inside")),
    *(f"report.cover.{name}" for name in ("holding", "total_silent")),
    *(f"report.{name}" for name in ("units.person_one", "composition.same", "neighbours.replace_one.person")),
    *(f"report.noise.{name}" for name in ("operating_system", "canonne_kamath_steinke_2020")),
    *(f"promises.pure_dp.criteria.{name}" for name in ("singling_out", "linking")),
    "report.table.people",
]  # fmt: skip
LOCAL = """cover.entered results.intro_local results.inside_plain guarantee.posterior_answer guarantee.changes
guarantee.truth guarantee.answers limits.stays_personal_local limits.correctness_local limits.formal_local
limits.machine_local unchecked.page unchecked.one_report units.local neighbours.local"""
WORDS_OF_TABLES = re.compile(
    r"in the table|original table|released numbers|every number carries|No row|paid for"
)


def plain_text(path):
    found = Page(path.read_bytes())
    return " ".join(
        " ".join(" ".join(parts).split()) for kind, parts in found.texts.items() if kind != "script"
    )


def test_no_sentence_speaks_of_a_table_of_people_or_of_noise_of_ours(tmp_path, ledger):
    ledger.create_holding("Staff survey", unit="person", neighbours="add_remove", epsilon="1/10")
    entry = opened(tmp_path, ledger).entry
    lines = reports(kit_of(OPENING), (np.zeros(90, int), np.zeros(90, int), np.zeros(90, int)), 2)
    collected(tmp_path, ledger, collecting(tmp_path, entry, [*lines, "odd"]), "estimates")
    printed = ""
    for folder in ("kit", "estimates"):
        for part, name in (("release", "report-external"), ("internal", "report-internal")):
            said = plain_text(tmp_path / folder / part / f"{name}.html")
            printed += said
            given = {"word": "person", "unit": "person", "presence": "62.3 %", "value": "73.2 %"}
            wrong = [one for one in UNTRUE if texts.text(one, **given) in said]
            assert wrong == [], (folder, part)
            assert WORDS_OF_TABLES.search(said) is None, (folder, part)
            assert "None" not in said and "nan" not in said.split()
            assert texts.text("report.columns.key") not in said
            truth = ("methods.exchanges.survey.numbers.truth.what", "report.numbers.truth.what")
            assert sum(said.count(texts.text(one, unit="person")) for one in truth) == 1
        readme = (tmp_path / folder / "release" / "README.txt").read_text()
        assert " ".join(texts.text("promises.local_dp.recipient").split()) in " ".join(readme.split())
        evidence = json.loads((tmp_path / folder / "release" / "evidence.json").read_text())
        assert evidence["noise"] == {} and evidence["promise"]["kind"] == "local_dp"
        assert not {"budget", "bounds", "declared_sizes", "rows_per_person"} & set(evidence["decided"])
    assert [one for one in LOCAL.split() if texts.text(f"report.{one}") not in printed] == []


def test_the_command_line_needs_no_table(tmp_path, capsys):
    given = [f"--set={name}={json.dumps(value)}" for name, value in OPENING.parameters.items()]
    plan, kit_folder, book = tmp_path / "plan.json", tmp_path / "kit", f"--ledger={tmp_path / 'l.sqlite'}"
    new = ["plan", "new", f"--method={ID}", "--holding=Staff", f"--out={plan}", *given]
    assert main(new) == 0
    assert main(["plan", "check", str(plan), book]) == 0
    assert "95 of 100" in capsys.readouterr().out
    assert main(["run", str(plan), f"--out={kit_folder}", book]) == 0
    assert main(["verify", str(kit_folder), book]) == 0
    assert Page((kit_folder / "release" / "survey.html").read_bytes()).texts["h1"] == [kit_of(OPENING).title]


def test_reports_are_collected_from_the_command_line_without_describing_them(tmp_path, capsys):
    """A folder of small files, gathered; nobody has to write down what a column of reports is."""
    book = f"--ledger={tmp_path / 'l.sqlite'}"
    opened(tmp_path, Ledger(tmp_path / "l.sqlite"))
    entry = Ledger(tmp_path / "l.sqlite").entries()[0].id
    (tmp_path / "inbox").mkdir()
    for number, line in enumerate(reports(kit_of(OPENING), [np.zeros(90, int)] * 3, 6)):
        (tmp_path / "inbox" / f"survey-report ({number}).csv").write_text(f"report\n{line}\n")
    gathered, plan = tmp_path / "reports.csv", tmp_path / "visit.json"
    assert main(["gather", str(tmp_path / "inbox"), f"--out={gathered}"]) == 0
    state, holding = tmp_path / "kit" / "internal" / "state", OPENING.holding
    new = ["plan", "new", f"--method={ID}", "--step=collect", f"--continues={entry}", f"--state={state}"]
    new += [f"--holding={holding}", f"--out={plan}"]
    assert main([*new, f"--table=reports={gathered}", '--set=report="report"']) == 0
    assert main(["plan", "check", str(plan), book]) == 0, capsys.readouterr().out
    assert main(["run", str(plan), f"--out={tmp_path / 'results'}", book]) == 0, capsys.readouterr().err
    frame = pd.read_csv(tmp_path / "results" / "release" / "estimates.csv")
    assert (frame["reports"] == 90).all()


# --- on paper ---------------------------------------------------------------------------------------


def paper(device="twice"):
    """Return the example on paper: without levels, which are those of the die."""
    asked = [
        {name: value for name, value in one.items() if name not in ("epsilon", "truth")}
        for one in OPENING.parameters["questions"]
    ]
    given = {**OPENING.parameters, "questions": asked, "form": "paper", "device": device}
    return replace(OPENING, parameters=given)


# What a person does with a throw: by the words of the form, throw by throw
THROWS = {
    "die": lambda truth, one, _: {1: 0, 6: 1}.get(one, truth),
    "lie": lambda truth, one, _: 1 - truth if one <= 2 else truth,
    "coins": lambda truth, one, two: truth if one % 2 else two % 2,
}


@pytest.mark.parametrize("device", THROWS)
def test_every_throw_leads_to_the_declared_channel(device):
    channel = channel_of(device, 2)
    for truth in (0, 1):
        said = [THROWS[device](truth, one, two) for one in range(1, 7) for two in range(1, 7)]
        for answer in (0, 1):
            assert Fraction(said.count(answer), 36) == channel.chance((truth,), (answer,))


@pytest.mark.parametrize("answers", range(2, 7))
def test_two_throws_lead_to_the_declared_channel(answers):
    """The second throw is repeated above the last answer, so that it is any answer alike."""
    channel = channel_of("twice", answers)
    for truth in range(answers):
        for answer in range(answers):
            found = Fraction(1, 2) * (answer == truth) + Fraction(1, 2) * Fraction(1, answers)
            assert found == channel.chance((truth,), (answer,))
    assert channel.odds == 1 + answers and channel_of("twice", 7) is None and channel_of("die", 3) is None


def test_a_form_is_printed_alike_and_its_strips_come_back(tmp_path, ledger):
    plan = paper()
    kit_bundle = opened(tmp_path, ledger, plan)
    content = (kit_bundle.folder / "release" / "survey.pdf").read_bytes()
    assert content == SURVEY(plan.request).run({}, None).artefacts[0].content and content[:5] == b"%PDF-"
    kit = kit_of(plan)
    assert float(check(plan).cost.loss.epsilon) == pytest.approx(math.log(3) * 2 + math.log(5))
    code = kit.id[:4]
    other = "0000" if code != "0000" else "1111"
    strips = [f"{code} 1 {place % 4 + 1} 2" for place in range(400)]
    odd = [f"{code} 3 1 1", f"{code} 1 1", f"{other} 1 1 1", "one", f" {code.upper()}  2 2 2 "]
    frame, bundle = collected(
        tmp_path, ledger, collecting(tmp_path, kit_bundle.entry, [*strips, *odd]), "all"
    )
    assert (frame["reports"] == 401).all() and frame["given"].tolist() == [400, 1, 100, 101, 100, 100, 0, 401]
    inside = json.loads((bundle.folder / "internal" / "evidence.json").read_text())["internal"]["inside"]
    assert {name: count for name, count in inside["left_out"].items() if count} == {
        "malformed": 1, "other_kit": 1, "impossible": 2,
    }  # fmt: skip


@pytest.mark.parametrize(("changed", "code"), [
    ({"device": "coins"}, f"{ID}.device"),
    ({"epsilon": 1}, f"{ID}.device_level"),
    ({"questions": [QUESTION]}, f"{ID}.device_level"),
    ({"questions": [{"text": "Q", "kind": "number", "range": [0, 5]}]}, f"{ID}.device"),
])  # fmt: skip
def test_what_no_die_can_do_is_refused(changed, code):
    with pytest.raises(InputRefused) as refused:
        check(replace(paper(), parameters={**paper().parameters, **changed}))
    assert refused.value.code == code


# --- languages --------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", LANGUAGES[1:])
def test_all_that_people_read_who_answer_is_said_in_every_language(language):
    spoken, beginning = texts.catalogue(language), "methods.exchanges.survey."
    read = {id for id in texts.catalogue("en") if id.startswith((f"{beginning}page.", f"{beginning}paper."))}
    assert read and read <= spoken.keys()
    for id in read:
        sentence, english = spoken[id], texts.catalogue("en")[id]
        assert texts.placeholders(sentence) == texts.placeholders(english), id
        assert [sentence.count(one) for one in "#%"] >= [english.count(one) for one in "#%"], id
        assert sentence != english or id.rsplit(".", 1)[1] in ("questions", "make"), id


def test_a_page_in_several_languages_says_everything_in_each():
    given = {**OPENING.parameters, "language": "de", "languages": True, "waves": 2}
    kit = kit_of(replace(OPENING, parameters=given))
    found = Page(page(kit))
    said = json.loads(next(one["data-said"] for _, one in found.tags if "data-said" in one))
    assert tuple(said) == kit.languages == ("de", "en", "fr")
    named = {one[name] for _, one in found.tags for name in ("data-say", "data-say-label") if name in one}
    assert named <= said["de"].keys() == said["en"].keys() == said["fr"].keys()
    assert {"whole", "waves", "total", *(f"chance_{place}" for place in range(3))} <= named
    assert not [one for words in said.values() for one in words.values() if "{" in one or "}" in one]
    html = next(one for tag, one in found.tags if tag == "html")
    assert html["lang"] == "de" and said["de"]["whole"] in found.texts["strong"]
    assert "97,4\u00a0%" in said["de"]["whole"] and "97.4 %" in said["en"]["whole"]
    assert [one["lang"] for tag, one in found.tags if tag == "button" and "lang" in one] == ["de", "en", "fr"]
    assert Kit.loads(kit.dumps()) == kit and kit.id != replace(kit, languages=("de",)).id
    assert Kit.loads(kit.dumps().replace(b'"fr"', b'"xx"')) is None


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(("level", "waves", "said"), [("1/8", 1, "0.125 53.2"), (4, 3, "98.3 99.9994 12")])
def test_numbers_on_a_page_have_the_signs_of_its_language_once(language, level, waves, said):
    """Also with three places and more: a comma for decimals is not one between thousands."""
    values = {"epsilon": level, "waves": waves, "language": language, "forged_reason": REASON}
    kit = kit_of(replace(OPENING, parameters={**OPENING.parameters, "questions": YES_OR_NO[:1], **values}))
    shown = Page(page(kit)).texts
    numbers = re.findall(r"\d+(?:[.,\u202f]\d+)*", " ".join(shown["p"] + shown["strong"] + shown["li"]))
    assert set(said.replace(".", "." if language == "en" else ",").split()) <= set(numbers)


@pytest.mark.parametrize("step", [Fraction(5, 2), Fraction(1, 4)], ids=["few answers", "many"])
def test_numbers_to_choose_from_have_the_signs_of_the_language(step):
    """The same kit in each; what people wrote themselves is left as it is."""
    asked = {"text": "?", "kind": "number", "range": [-5, 5], "step": step, "epsilon": 2}
    written = {"text": "Which?", "levels": ["1.5", "2.5"], "epsilon": 1}
    values = {**OPENING.parameters, "questions": [asked, written]}
    kit = kit_of(replace(OPENING, parameters=values))
    for language in LANGUAGES:
        shown = Page(page(replace(kit, languages=(language,)))).texts
        named = shown["span"] + shown.get("option", [])
        assert ("2.5" in kit.questions[0].levels) and {"1.5", "2.5", "-5"} <= {*named}
        assert ("-2,5" in named) == (language != "en") != ("-2.5" in named)


def test_a_kit_of_one_language_holds_no_others_and_its_number_is_what_it_was():
    plain = kit_of(OPENING)
    tree = json.loads(plain.dumps())
    del tree["languages"]  # as it was written before there were any
    assert Kit.loads(json.dumps(tree).encode()) == plain
    assert b"data-said=''" in page(plain)
    # Forty kilobytes and the questions, in three languages as well as in one
    for kit in (plain, replace(plain, languages=LANGUAGES)):
        content = page(kit).decode()
        assert len(re.sub(r"<fieldset.*</fieldset>", "", content, flags=re.DOTALL).encode()) < 40_000


def test_a_form_has_a_sheet_for_each_language():
    pikepdf = pytest.importorskip("pikepdf")
    plan = paper()
    sheets = []
    for languages in (False, True):
        given = {**plan.parameters, "languages": languages}
        content = SURVEY(replace(plan, parameters=given).request).run({}, None).artefacts[0].content
        with pikepdf.open(io.BytesIO(content)) as read:
            sheets.append(len(read.pages))
    assert sheets[1] == 3 * sheets[0]
