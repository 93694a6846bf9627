"""The script of the page itself, run by Node where it is installed: its lots are enumerated, cell by cell."""

import json
import re
import shutil
import subprocess
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import segno

from engine.methods.exchanges.kit import Kit, Question
from engine.methods.exchanges.kit_page import page, question_for_script
from engine.methods.exchanges.reading import read_reports
from engine.privacy.channels import RANGE, Bit, Geometry, Option, Sets, Signs, Wave, channel_to_json

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed"),
]
ONE = Fraction(1)
KIT = Kit(
    "Title",
    "",
    (
        Question("One", "one_of", ("yes", "no"), Sets.at(2, 1, 1, ONE), ONE),
        Question("Two", "several_of", tuple("abcd"), Sets.at(6, 2, 2, ONE), ONE),
        Question("Three", "pair", ("x", "y"), Sets.at(4, 1, 1, ONE), ONE, "And?", ("v", "w")),
        Question("Four", "number", tuple("01234"), Wave.at(5, 2, ONE), ONE),
    ),
    100,
)
SCRIPTS = re.findall(r"<script>(.*?)</script>", page(KIT).decode(), re.DOTALL)
CHANNELS = [
    Sets(7, 10, 2, 1, 1),
    Sets(7, 10, 5, 1, 1),
    Sets(7, 10, 5, 1, 2),
    Sets(7, 10, 6, 2, 2),
    Sets(7, 10, 7, 3, 2),
    Option(3, 4, 3),
    Signs(7, 10, 3, 2),
    Signs(7, 10, 4, 3),
    Geometry(7, 10, 7, 2, 3, 1),
    Geometry(9, 10, 4, 3, 2, 0),
    Wave(7, 10, 4, 2),
    Bit(3, 4, 5),
]
# Every way in which the draws of a lot and of one attempt can fall; what would be drawn again stops there.
ENUMERATE = """
function leaves(run) {
  const found = new Map(), again = new Map();
  const draws = [];
  let at = 0, attempt = 0;
  below = (range) => {
    if (at === draws.length) draws.push([0, range]);
    if (draws[at][1] !== range) throw new Error("another draw after the same ones");
    return draws[at++][0];
  };
  const real = outcome;
  outcome = (channel) => {
    if (attempt++ > 0) throw "again";
    return real(channel);
  };
  for (;;) {
    at = 0; attempt = 0;
    let key;
    try { key = JSON.stringify(run()); } catch (stopped) {
      if (stopped !== "again") throw stopped;
      key = null;
    }
    const ranges = draws.slice(0, at).map(([, range]) => range);
    const side = lotSide(draws);
    const share = JSON.stringify(ranges);
    found.set(JSON.stringify([side, key, share]), (found.get(JSON.stringify([side, key, share])) || 0) + 1);
    draws.length = at;
    while (draws.length && draws[draws.length - 1][0] + 1 === draws[draws.length - 1][1]) draws.pop();
    if (!draws.length) break;
    draws[draws.length - 1][0] += 1;
  }
  outcome = real;
  return Array.from(found);
}
"""
# As much of a browser as the page asks for; anything else that it reached for would fail.
BROWSER = """
const element = (more = {}) => Object.assign({ dataset: {}, textContent: "", hidden: false, disabled: false,
  children: [], focus() {}, append(one) { this.children.push(one); },
  replaceChildren() { this.children.length = 0; }, setAttribute() {}, removeAttribute() {},
  addEventListener(kind, act) { this[kind] = act; } }, more);
const list = (levels) => { const inputs = levels.map(() => ({ checked: false, focus() {} }));
  return element({ tagName: "DIV", inputs, querySelectorAll: (what) => what === "input" ? inputs
    : levels.map((level) => ({ textContent: level })) }); };
const field = (lists) => { const groups = lists.map(list);
  return element({ hidden: HIDDEN, groups, querySelectorAll: () => groups }); };
const parts = {}, saved = [];
const fields = LEVELS.map(field);
globalThis.document = { getElementById: (id) => parts[id] ??= element(), querySelectorAll: () => fields,
  querySelector: () => ({ getContext: () => ({ fillRect() {} }) }),
  createElement: () => element({ click() { saved.push(this.href); } }), execCommand: () => true };
document.getElementById("words").dataset = { kit: KIT, unanswered: "Question # has none", reported: "#",
  tooMany: "Question # takes %", filler: "none", saved: "it is saved" };
globalThis.Blob = class { constructor(pieces) { this.text = pieces.join(""); } };
globalThis.URL = { createObjectURL: (blob) => blob.text, revokeObjectURL() {} };
globalThis.setTimeout = () => {};
for (const name of ["fetch", "XMLHttpRequest", "WebSocket", "localStorage"]) delete globalThis[name];
"""


def node(code):
    done = subprocess.run(["node", "-"], input=code, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


def drawing(words):
    """Return code that gives the page these 32-bit numbers to draw with."""
    return f"""const words = {json.dumps(words)}; let at = 0;
    Object.defineProperty(globalThis, "crypto", {{ value: {{
      getRandomValues: (drawn) => {{ for (const i of drawn.keys()) drawn[i] = words[at++]; return drawn; }},
    }} }});
    {SCRIPTS[0]}"""


def said(code):
    """Return code that prints a value."""
    return f"console.log(JSON.stringify({code}));"


@pytest.mark.parametrize("count", [2, 3, 6, 1_000_003, 2**31 + 1, RANGE - 1, RANGE])
def test_numbers_are_drawn_again_exactly_where_they_would_be_too_likely(count):
    end = RANGE // count * count
    words = [0, 1, count - 1, min(count, RANGE - 1), end - 1, min(end, RANGE - 1), RANGE - 1, 5, 7, 0, 1]
    wanted = [word % count for word in words if word < end][:5]
    length = f"{{length: {len(wanted)}}}"
    assert node(drawing(words) + said(f"Array.from({length}, () => below({count}))")) == wanted


def enumerated(script, channel):
    """Return the exact channel of a page's script: of each true answer the probability of each outcome.

    All draws of a lot and one attempt are gone through. An attempt that failed is repeated with the same
    chances, whatever failed before, so that the outcomes of a side share its probability by their weights.
    """
    truths = [list(one) for one in channel.truths()]
    lots = 1 if channel.kind == "bit" else 0  # the rounding is drawn before the lot
    code = f"""{script}{ENUMERATE}
    const lotSide = (draws) => draws.slice(0, {lots} + 1).map(([value, range]) => [value, range]);
    const channel = {json.dumps(channel_to_json(channel))};
    {said(f"{json.dumps(truths)}.map((truth) => leaves(() => changed(truth, channel)))")}"""
    found = []
    for leaves in node(code):
        sides = {}
        for key, count in leaves:
            lot, outcome, ranges = json.loads(key)
            weight = Fraction(count)
            for size in json.loads(ranges)[lots + 1 :]:
                weight /= size
            side = sides.setdefault(json.dumps(lot), {})
            side[outcome] = side.get(outcome, 0) + weight
        row = {}
        for lot, side in sides.items():
            chance = Fraction(1)
            for _, size in json.loads(lot):
                chance /= size
            assert sum(side.values()) == 1
            right = {outcome: weight for outcome, weight in side.items() if outcome is not None}
            for outcome, weight in right.items():
                named = tuple(json.loads(outcome))
                row[named] = row.get(named, 0) + chance * weight / sum(right.values())
        found.append(row)
    return found


def wanted(channel):
    outcomes = list(channel.outcomes())
    return [{one: channel.chance(truth, one) for one in outcomes} for truth in channel.truths()]


@pytest.mark.parametrize("channel", CHANNELS, ids=str)
def test_the_script_draws_by_the_declared_channel_exactly(channel):
    assert enumerated(SCRIPTS[0], channel) == wanted(channel)


SLIPS = {
    "sent in the order drawn": (".sort((one, other) => one - other)", "", Sets(7, 10, 5, 1, 2)),
    "a lot that is too telling": (
        "below(channel.tickets) <", "below(channel.tickets) <=", Sets(7, 10, 5, 1, 2),
    ),
    "the pool holds what was drawn": (
        "const other = place + below(all - place)", "const other = below(all)", Sets(7, 10, 5, 1, 2),
    ),
    "what fits is never repeated": ("!== hit", "&& !hit", Sets(7, 10, 5, 1, 1)),
    "the true answer is always among them": ("!== hit", "=== false", Sets(7, 10, 5, 1, 2)),
    "near on one side alone": ("+ 2 * channel.reach;", "+ channel.reach;", Wave(7, 10, 4, 2)),
    "points off the plane": (
        "=== (channel.near === 1)", "!== (channel.near === 1)", Geometry(7, 10, 7, 2, 3, 1),
    ),
    "one option too few agrees": (">= channel.least", "> channel.least", Signs(7, 10, 3, 2)),
    "an end that is not rounded": ("below(channel.levels - 1) < truth", "0 < truth", Bit(3, 4, 5)),
}  # fmt: skip


@pytest.mark.parametrize("name", SLIPS)
def test_plausible_slips_are_noticed(name):
    was, slip, channel = SLIPS[name]
    assert was in SCRIPTS[0]
    assert enumerated(SCRIPTS[0].replace(was, slip), channel) != wanted(channel)


def test_attempts_begin_again_as_if_nothing_had_been_drawn():
    """After an attempt that failed every way of the next comes out as it would have come out first."""
    code = f"""{SCRIPTS[0]}
    const channel = {json.dumps(channel_to_json(Sets(7, 10, 4, 1, 2)))};
    const run = (draws) => {{ let at = 0; below = () => draws[at++]; const drawn = changed([1], channel);
      return [drawn, at]; }};
    const found = [];
    for (let a = 0; a < 12; a++) for (let b = 0; b < 12; b++) {{
      const pair = (one) => [Math.floor(one / 3), one % 3];
      const first = run([0, ...pair(a), 1, 0]), second = run([0, ...pair(b), 1, 0]);
      if (first[1] > 3 && second[1] === 3) found.push([run([0, ...pair(a), ...pair(b)]), second]);
    }}
    {said("found")}"""
    found = node(code)
    assert len(found) == 36
    assert all(long[0] == short[0] and long[1] == short[1] + 2 for long, short in found)


@pytest.mark.parametrize("channel", [Sets.at(10, 1, 3, ONE), Wave.at(11, 3, ONE)], ids=str)
def test_the_script_draws_as_often_as_it_says(channel):
    """20,000 real draws: each outcome within five standard deviations, 1 in 1.7 million outside."""
    told_channel = json.dumps(channel_to_json(channel))
    draw = f"const y = changed([2], {told_channel}); n[y] = (n[y] || 0) + 1;"
    count = f"const n = {{}}; for (let i = 0; i < 20000; i++) {{ {draw} }}"
    found = node(f"{SCRIPTS[0]}{count}{said('n')}")
    outcomes = list(channel.outcomes())
    seen = np.array([found.get(",".join(map(str, one)), 0) for one in outcomes])
    chances = np.array([float(channel.chance((2,), one)) for one in outcomes])
    assert (np.abs(seen - 20_000 * chances) < 5 * np.sqrt(20_000 * chances * (1 - chances)) + 1).all()


def browser(kit, levels, *, hidden):
    data = {
        "id": kit.id,
        "one": int(kit.asked == "one"),
        "digits": kit.length,
        "shared": kit.shared,
        "questions": [question_for_script(one) for one in kit.questions],
    }
    code = BROWSER.replace("LEVELS", json.dumps(levels)).replace("HIDDEN", "true" if hidden else "false")
    return code.replace("kit: KIT", f"kit: {json.dumps(json.dumps(data))}")


LEVELS = [[["yes", "no"]], [list("abcd")], [["x", "y"], ["v", "w"]], [list("01234")]]


def test_a_report_is_made_once_read_by_the_collection_and_nothing_else_is_kept():
    code = f"""{browser(KIT, LEVELS, hidden=False)}{SCRIPTS[0]}{SCRIPTS[1]}
    const open = [], press = () => {{ parts.make.click(); open.push(parts.problem.textContent); }};
    const tick = (field, group, place) => {{ fields[field].groups[group].inputs[place].checked = true; }};
    press(); tick(0, 0, 1); press();
    tick(2, 0, 0); press(); tick(2, 1, 1); tick(3, 0, 4);
    for (const place of [0, 1, 2]) tick(1, 0, place);
    press(); fields[1].groups[0].inputs[1].checked = false;
    parts.make.click();
    const first = parts.report.textContent;
    const inputs = fields.flatMap((one) => one.groups).flatMap((one) => one.inputs);
    const cleared = inputs.every((one) => !one.checked);
    for (const one of [0, 2, 3]) for (const group of fields[one].groups) group.inputs[0].checked = true;
    parts.make.click();
    parts.save.click();
    const done = parts.done.textContent;
    const shown = parts.questions.hidden && !parts.made.hidden && fields.every((one) => one.disabled);
    const second = parts.report.textContent, lines = parts.reported.children.length;
    {said("{ open, first, second, saved, cleared, shown, lines, done }")}"""
    found = node(code)
    assert found["open"] == [
        "Question 1 has none", "Question 3 has none", "Question 3 has none", "Question 2 takes 2",
    ]  # fmt: skip
    assert found["first"] == found["second"] and found["saved"] == [f"report\n{found['first']}\n"]
    assert found["done"] == "it is saved"
    assert found["cleared"] and found["shown"] and found["lines"] == 4
    read = read_reports(found["saved"][0].splitlines(), KIT, heading="report")
    assert read.reports == 1 and [one.shape for one in read.outcomes] == [(1, 1), (1, 2), (1, 1), (1, 1)]


def test_one_question_is_drawn_before_it_is_answered_and_alone_reported():
    kit = Kit("Title", "", KIT.questions, 100, "one")
    code = f"""{browser(kit, LEVELS, hidden=True)}{SCRIPTS[0]}{SCRIPTS[1]}
    const shown = fields.flatMap((one, place) => (one.hidden ? [] : [place]));
    for (const field of fields) for (const group of field.groups) group.inputs[0].checked = true;
    parts.make.click();
    {said("{ shown, report: parts.report.textContent, lines: parts.reported.children.length }")}"""
    seen = set()
    for _ in range(12):
        found = node(code)
        read = read_reports([found["report"]], kit)
        assert read.reports == 1 and found["lines"] == 1 and len(found["shown"]) == 1
        assert [len(one) for one in read.outcomes] == [int(place == found["shown"][0]) for place in range(4)]
        seen.add(found["shown"][0])
    assert len(seen) > 1  # all alike once in 4 million


def test_on_a_device_for_many_reports_are_kept_without_an_order():
    kit = replace(KIT, asked="one", shared=True)
    shown = page(kit).decode()
    assert '<p><button type="button" id="next" ' in shown
    assert '<p hidden><button type="button" id="save" ' in shown
    code = f"""{browser(kit, LEVELS, hidden=True)}{SCRIPTS[0]}{SCRIPTS[1]}
    const codes = [], clean = [], asked = [], part = document.getElementById;
    const inputs = fields.flatMap((one) => one.groups).flatMap((one) => one.inputs);
    for (let person = 0; person < 30; person++) {{
      clean.push(inputs.every((input) => !input.checked) && part("report").textContent === ""
        && part("reported").children.length === 0 && !part("questions").hidden);
      asked.push(fields.findIndex((one) => !one.hidden));
      for (const group of fields[asked[person]].groups) group.inputs[0].checked = true;
      part("make").click();
      codes.push(part("report").textContent);
      part("next").click();
    }}
    part("all").click();
    {said("{ codes, clean, asked, saved, count: parts.count.textContent }")}"""
    found = node(code)
    assert all(found["clean"]) and found["count"] == 30 and len(set(found["asked"])) > 1
    assert found["saved"] == ["report\n" + "\n".join(sorted(found["codes"])) + "\n"]
    assert sorted(found["codes"]) != found["codes"]  # in order once in 30 factorial
    assert read_reports(found["saved"][0].splitlines(), kit, heading="report").reports == 30


def test_the_code_for_a_scanner_is_the_one_of_the_library():
    """Every size that the page draws, full to the last letter, and the least that needs it.

    Left out is what ends on a whole byte with its terminator: the library then adds a byte of zeros, which
    the standard does not.
    """
    rng = np.random.default_rng(1)
    letters = np.array(list("0123456789ABCDEFSURVEY-"))
    lengths = [1, 2, *(one + more for one in SCANNED for more in (0, 1))]
    lengths = [one for one in lengths if (17 + 2 * (one > 262) + 11 * (one // 2) + 6 * (one % 2)) % 8]
    assert len(lengths) == 40
    said_by = ["".join(rng.choice(letters, size=one)) for one in lengths]
    *found, beyond = node(SCRIPTS[0] + said(f"{json.dumps(said_by)}.map(square)"))
    assert beyond is None
    for text, rows in zip(said_by, found, strict=False):
        made = segno.make(text, error="m", mask=0, boost_error=False, micro=False)
        assert rows == [list(map(int, row)) for row in made.matrix], len(text)


# How many letters each size of the code takes at most, by ISO/IEC 18004
SCANNED = (20, 38, 61, 90, 122, 154, 178, 221, 262, 311, 366, 419, 483, 528, 600, 656, 734, 816, 909, 970,
           1035, 1134, 1248, 1326, 1451)  # fmt: skip


def test_without_safe_randomness_no_report_is_made():
    code = f"{browser(KIT, LEVELS, hidden=False)} delete globalThis.crypto; {SCRIPTS[0]}{SCRIPTS[1]}"
    assert node(code + said("[typeof crypto, parts.make.disabled]")) == ["undefined", True]
