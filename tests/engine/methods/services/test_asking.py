"""The page on which a recipient writes questions: its file is read, and known again or refused in words."""

import json
import re
import shutil
import subprocess

import pytest

from engine.methods.catalogue import method
from engine.methods.records import read_records
from engine.methods.services.asked import ID
from engine.methods.services.asking import desk_id, page, stamp
from engine.methods.services.desk import Desk
from engine.report.words import word
from tests.engine.methods.services.test_private_queries import F, request

DESK = method(ID)
ASKED = [
    {"kind": "count", "of": "rows", "where": "sex is f and age >= 60", "margin": "20"},
    {"kind": "mean", "where": 'sex is "f"', "value": "age", "margin": "5", "size": "300"},
    {"kind": "quantile", "value": "age", "quantile": "1/2", "by": ["sex"], "margin": "30"},
    {"kind": "share", "of": "rows", "where": "", "part": "ågé", "margin": "0.1"},
]


def opened():
    asked = request(F)
    return asked, Desk.loads(asked.state)


def written(desk, questions):
    """Return what the page writes, without the page."""
    return [{**one, "stamp": stamp(one, desk_id(desk))} for one in questions]


def visited(questions, asked=None):
    asked = asked or opened()[0]
    return DESK.make_request(
        dict(asked.schemas), {"questions": questions, "planned": True}, step="visit", state=asked.state
    )


def codes(request):
    return [one.code.removeprefix(f"{ID}.") for one in DESK(request).problems]


def test_the_page_asks_no_network_and_holds_declarations_only():
    found = page(opened()[1]).decode()
    assert "default-src 'none'" in found and not re.findall(
        r"(?:https?:)?//[a-z]|src=|@import|fetch\(", found
    )
    assert "0 – 120" in found and "f; m" in found and "{{" not in found


def test_what_it_writes_is_read_from_its_file_and_planned(tmp_path):
    _, desk = opened()
    file = tmp_path / "questions.json"
    file.write_text(json.dumps(written(desk, ASKED[:3])), encoding="utf-8")
    (parameter,) = [one for one in DESK.asks("visit") if one.name == "questions"]
    again = visited(read_records(file, parameter))
    assert codes(again) == []
    assert [one.query.kind for one in DESK(again).asked] == ["count", "mean", "quantile"]
    assert [float(one.margin) for one in DESK(again).asked] == [20, 5, 30]


def test_a_page_of_another_desk_and_what_was_changed_on_the_way_are_refused():
    _, desk = opened()
    questions = written(desk, ASKED[:3])
    other = [{**one, "stamp": stamp(one, "0" * 12)} for one in questions]
    assert codes(visited(other)) == ["other_page"]
    changes = ({"where": "sex is f"}, {"kind": "sum"}, {"quantile": "1/4"})
    for place, change in enumerate(changes):
        changed = [{**one, **change} if at == place else one for at, one in enumerate(questions)]
        assert codes(visited(changed)) == ["changed_question"]
    assert codes(visited([{**questions[2], "by": []}])) == ["changed_question"]
    # what it may cost is the custodian's, and without the mark a question is like any other
    assert codes(visited([{**questions[0], "margin": 40}])) == []
    assert codes(visited([{**questions[0], "where": "sex is m", "stamp": ""}])) == []


def test_the_same_question_in_other_words_is_told_and_paid_for_once():
    _, desk = opened()
    twice = [ASKED[0], {**ASKED[0], "where": "age at least 60 and sex = f"}]
    design = DESK(visited(written(desk, twice)))
    assert [bool(one.epsilon) for one in design.asked] == [True, False]
    said = [word(one, "en") for one in design.forecast.notes if one.id.endswith(".twice")]
    assert len(said) == 1 and "2" in said[0]


@pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed")
def test_the_script_of_the_page_writes_the_same_mark():
    _, desk = opened()
    (script,) = re.findall(r"<script>(.*?)</script>", page(desk).decode(), re.DOTALL)
    call = f"console.log(JSON.stringify({json.dumps(ASKED)}.map((one) => stamped(one, '{desk_id(desk)}'))))"
    told = subprocess.run(["node", "-e", script + call], capture_output=True, check=True, encoding="utf-8")
    assert json.loads(told.stdout) == written(desk, ASKED)
