"""The script of the page itself, run by Node where it is installed."""

import json
import re
import shutil
import subprocess
from fractions import Fraction

import numpy as np
import pytest

from engine.methods.exchanges.kit_page import page
from engine.methods.exchanges.responses import RANGE, Kit, question_at, received

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed"),
]
KIT = Kit(
    "Title",
    "",
    (question_at("One", ("yes", "no"), Fraction(1)), question_at("Two", tuple("abcd"), Fraction(3, 2))),
    100,
)
SCRIPTS = re.findall(r"<script>(.*?)</script>", page(KIT).decode(), re.DOTALL)
# As much of a browser as the page asks for; anything else that it reached for would fail.
BROWSER = """
const element = (more = {}) => Object.assign({ dataset: {}, textContent: "", hidden: false, disabled: false,
  children: [], focus() {}, append(one) { this.children.push(one); },
  addEventListener(kind, act) { this[kind] = act; } }, more);
const field = (levels) => { const inputs = levels.map(() => ({ checked: false, focus() {} }));
  return element({ inputs, querySelectorAll: (what) => what === "input" ? inputs
    : levels.map((level) => ({ textContent: level })) }); };
const parts = {}, saved = [];
const fields = LEVELS.map(field);
globalThis.document = { getElementById: (id) => parts[id] ??= element(), querySelectorAll: () => fields,
  createElement: () => element({ click() { saved.push(this.href); } }), execCommand: () => true };
document.getElementById("words").dataset = { kit: KIT, unanswered: "Question # has none", reported: "" };
globalThis.Blob = class { constructor(pieces) { this.text = pieces.join(""); } };
globalThis.URL = { createObjectURL: (blob) => blob.text, revokeObjectURL() {} };
globalThis.setTimeout = () => {};
for (const name of ["fetch", "XMLHttpRequest", "WebSocket", "localStorage"]) delete globalThis[name];
"""


def node(code):
    done = subprocess.run(["node", "-"], input=code, capture_output=True, text=True, timeout=60, check=True)
    return json.loads(done.stdout)


def drawing(words):
    """Return code that gives the page these 32-bit numbers to draw with."""
    return f"""const words = {json.dumps(words)}; let at = 0;
    Object.defineProperty(globalThis, "crypto", {{ value: {{
      getRandomValues: (drawn) => {{ for (const i of drawn.keys()) drawn[i] = words[at++]; return drawn; }},
    }} }});
    {SCRIPTS[0]}"""


def asked(one):
    """Return a question as the script is told it."""
    return {"true": one.true, "other": one.other, "answers": len(one.levels)}


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


@pytest.mark.parametrize("place", [0, 1])
def test_tickets_lead_to_the_answers_that_they_are_for(place):
    one = KIT.questions[place]
    k = len(one.levels)
    starts = [one.true + level * one.other for level in range(k - 1)]
    edges = [0, one.true - 1, *(start + more for start in starts for more in (0, one.other - 1))]
    for answer in range(k):
        others = [level for level in range(k) if level != answer]
        code = f"{json.dumps(edges)}.map(() => changed({answer}, {json.dumps(asked(one))}))"
        assert node(drawing(edges) + said(code)) == [answer] * 2 + [other for other in others for _ in (0, 1)]


def test_the_script_changes_as_often_as_it_says():
    """20,000 real draws: each answer within five standard deviations, 1 in 1.7 million outside."""
    one = KIT.questions[1]
    count = f"for (let i = 0; i < 20000; i++) n[changed(2, {json.dumps(asked(one))})]++;"
    found = np.array(node(f"{SCRIPTS[0]} const n = [0, 0, 0, 0]; {count} {said('n')}"))
    chances = np.array([float((1 - one.truth) / 3)] * 4)
    chances[2] = float(one.truth)
    assert (np.abs(found - 20_000 * chances) < 5 * np.sqrt(20_000 * chances * (1 - chances))).all()


def test_a_report_is_made_once_read_by_the_collection_and_nothing_else_is_kept():
    browser = BROWSER.replace("LEVELS", json.dumps([one.levels for one in KIT.questions]))
    told = {"id": KIT.id, "questions": [asked(one) for one in KIT.questions]}
    browser = browser.replace("KIT", json.dumps(json.dumps(told)))
    code = f"""{browser}{SCRIPTS[0]}{SCRIPTS[1]}
    const open = []; parts.make.click(); open.push(parts.problem.textContent);
    fields[0].inputs[1].checked = true; parts.make.click(); open.push(parts.problem.textContent);
    fields[1].inputs[2].checked = true; parts.make.click();
    const first = parts.report.textContent;
    const cleared = fields.every((one) => one.inputs.every((input) => !input.checked));
    fields[0].inputs[0].checked = fields[1].inputs[0].checked = true; parts.make.click();
    parts.save.click();
    const shown = parts.questions.hidden && !parts.made.hidden && fields.every((one) => one.disabled);
    const second = parts.report.textContent, lines = parts.reported.children.length;
    {said("{ open, first, second, saved, cleared, shown, lines }")}"""
    found = node(code)
    assert found["open"] == ["Question 1 has none", "Question 2 has none"]
    assert found["first"] == found["second"] and found["saved"] == [f"report\n{found['first']}\n"]
    assert found["cleared"] and found["shown"] and found["lines"] == 2
    assert received(found["saved"][0].splitlines(), KIT, heading="report").reports == 1


def test_without_safe_randomness_no_report_is_made():
    browser = BROWSER.replace("LEVELS", '[["a","b"]]').replace("KIT", "'{}'")
    code = f"{browser} delete globalThis.crypto; {SCRIPTS[0]}{SCRIPTS[1]}"
    assert node(code + said("[typeof crypto, parts.make.disabled]")) == ["undefined", True]
