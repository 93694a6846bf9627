"""Reports that came: which count and why others do not, of both versions."""

import itertools
import json
import re
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from engine.errors import InputRefused
from engine.methods.exchanges import reading
from engine.methods.exchanges.kit import ALL, ONE, Kit, Question
from engine.methods.exchanges.reading import check_digits, read_reports
from engine.methods.exchanges.told import Results
from engine.privacy.channels import Geometry, Option, Sets, Signs, Wave
from engine.report.words import word
from engine.table.reading.gathering import LARGEST, gather
from engine.views import TableView
from tests.engine.methods.exchanges.respondents import reports, written

EPSILON = Fraction(1)
YES = Question("?", "one_of", ("yes", "no"), Sets(3, 4, 2, 1, 1), Fraction(11, 10))
LONG = Question("?", "one_of", tuple(map(str, range(20))), Sets.at(20, 1, 5, EPSILON), EPSILON)
TICKS = Question("?", "several_of", tuple("abcdef"), Sets.at(8, 2, 2, EPSILON), EPSILON)
DRAWN = Question("?", "several_of", tuple("abc"), Option.at(3, EPSILON), EPSILON)
LIST = Question("?", "one_of", tuple(map(str, range(700))), Geometry.at(700, 3, 7, 1, EPSILON), EPSILON)
VALUE = Question("?", "number", tuple(map(str, range(11))), Wave.at(11, 4, EPSILON), EPSILON)
EACH = Question("?", "several_of", tuple("abcdefgh"), Signs.at(8, EPSILON), EPSILON)
KIT = Kit("Title", "", (YES, LONG, TICKS, DRAWN, LIST, VALUE, EACH), 100)
FIRST = Kit(
    "Title",
    "",
    (
        Question("?", "one_of", ("yes", "no"), Sets(3, 4, 2, 1, 1), Fraction(11, 10)),
        Question("?", "one_of", ("a", "b", "c"), Sets(4, 8, 3, 1, 1), Fraction(7, 10)),
    ),
    100,
    version=1,
)
# As the first version wrote it
FIRST_STATE = json.dumps({
    "title": "Title", "intro": "",
    "questions": [
        {"text": "?", "levels": ["yes", "no"], "true": 3, "other": 1, "epsilon": "11/10"},
        {"text": "?", "levels": ["a", "b", "c"], "true": 4, "other": 2, "epsilon": "7/10"},
    ],
    "respondents": 100,
}).encode()  # fmt: skip


SAID = (0, 1, 1, 0, 0, 1, 0, 1)


def report(kit=KIT, number=10, **changed):
    """Return a report with some numbers, one list a question."""
    numbers = [(1,), (0, 3, 7, 11, 19), (2, 7), (5,), (1092,), (18,), SAID]
    numbers = [changed.get(f"q{place}", one) for place, one in enumerate(numbers)]
    return written(kit, number, list(enumerate(numbers)))


def checked(text):
    return f"{text}-{check_digits(text)}"


ODD = {
    "empty": ("", "malformed"),
    "missing": (None, "malformed"),
    "not a number": (float("nan"), "malformed"),
    "words": ("I do not want to", "malformed"),
    "a formula": ("=1+1", "malformed"),
    "too long": (report()[:-5] + "0" * 5000 + "-0000", "impossible"),
    "a letter too few": (report()[:30] + report()[31:], "malformed"),
    "no hexadecimal digit": (report()[:-1] + "g", "malformed"),
    "digits of another script": (report()[:-1] + "١", "malformed"),
    "mistyped": (report()[:45] + "f" + report()[46:], "mistyped"),
    "another survey": (checked(report()[:-5].replace(KIT.id, "0" * 16)), "other_kit"),
    "an answer that is not there": (report(q0=(2,)), "impossible"),
    "a set in another order": (report(q1=(3, 0, 7, 11, 19)), "impossible"),
    "an answer twice": (report(q1=(3, 3, 7, 11, 19)), "impossible"),
    "no such tick": (report(q2=(2, 8)), "impossible"),
    "no such option": (report(q3=(6,)), "impossible"),
    "no such point": (report(q4=(1093,)), "impossible"),
    "a number beyond the range": (report(q5=(19,)), "impossible"),
    "neither yes nor no": (report(q6=(2, *SAID[1:])), "impossible"),
    "a report of the first version": (f"survey-{KIT.id}-{'a' * 16}-1-1", "impossible"),
}


@pytest.mark.parametrize("name", ODD)
def test_what_is_no_report_is_left_out_and_counted(name):
    cell, reason = ODD[name]
    found = read_reports([report(number=11), cell], KIT)
    assert found.reports == 1
    assert [one.tolist() for one in found.outcomes] == [
        [[1]], [[0, 3, 7, 11, 19]], [[2, 7]], [[5]], [[1092]], [[18]], [[*SAID]],
    ]  # fmt: skip
    assert {name for name, count in found.left_out.items() if count} == {reason}


def test_reports_are_read_as_people_and_scanners_type_them():
    good = report()
    typed = [good.upper(), f" {good[:20]} {good[20:40]}\t{good[40:]} ", f'"{report(number=11)}"\r']
    found = read_reports(typed, KIT)
    assert found.reports == 2 and found.left_out["repeated"] == 1


@pytest.mark.at_once
def test_any_one_letter_that_is_changed_shows():
    good = report()
    cells = [
        good[:place] + letter + good[place + 1 :]
        for place in range(len(good))
        for letter in map(chr, range(33, 127))
        if letter.lower() != good[place]
    ]
    found = read_reports(cells, KIT)
    assert found.reports == 0 and sum(found.left_out.values()) == len(cells)
    swapped = [good[:place] + good[place + 1] + good[place] + good[place + 2 :] for place in range(24, 40)]
    assert read_reports([one for one in swapped if one != good], KIT).reports == 0


@pytest.mark.parametrize("kit", [KIT, replace(KIT, asked=ONE), FIRST], ids=["all", "one", "first"])
def test_reports_count_once_in_any_order(kit):
    places = range(len(kit.questions)) if kit.asked == ALL else [0]
    first = {0: (1,), 1: (0, 3, 7, 11, 19) if kit.version > 1 else (1,)}
    rest = {2: (2, 7), 3: (5,), 4: (1092,), 5: (18,), 6: SAID}
    numbers = [(place, (first | rest)[place]) for place in places]
    other = [(0, (0,)), *numbers[1:]]
    rows = [written(kit, 1, numbers)] * 2 + [written(kit, 2, numbers), written(kit, 2, other), "report"]
    rows.append(f'  "{written(kit, 3, numbers)}" ')
    for order in itertools.permutations(rows):
        found = read_reports(order, kit, heading="report")
        assert found.reports == 2 and found.outcomes[0].tolist() == [[1], [1]]
        assert {name: count for name, count in found.left_out.items() if count} == {
            "repeated": 1,
            "contradicting": 2,
        }


@pytest.mark.parametrize(
    ("asked", "said"), [(ONE, "Of 8 reports 4 to 4 are about each"), (ALL, "Estimated from 8")]
)
def test_shares_of_drawn_questions_are_not_said_to_come_from_all_reports(asked, said):
    """Of 620 reports 145 to 165 were about a question, and “from 620 reports” stood below the shares."""
    kit = replace(FIRST, asked=asked, version=2)
    every = [[0, 1] * 4, [0, 1, 2, 0] * 2]
    found = read_reports(reports(kit, every, 3), kit)
    if asked == ONE:
        halves = tuple(np.zeros((4, 1), dtype=np.int64) for _ in kit.questions)
        found = replace(found, reports=8, outcomes=halves)
    table = next(one for one in Results(kit, found).views if isinstance(one, TableView))
    note = table.note.values.get("second", table.note)
    assert word(note, "en").startswith(said)


def test_a_drawn_question_has_reports_of_its_own_and_nothing_behind_them():
    kit = replace(KIT, asked=ONE)
    lines = [written(kit, number, [(number % 7, report_of)]) for number, report_of in enumerate(
        [(1,), (0, 3, 7, 11, 19), (2, 7), (5,), (1092,), (18,), SAID, (0,)]
    )]  # fmt: skip
    found = read_reports(lines, kit)
    assert found.reports == 8 and [len(one) for one in found.outcomes] == [2, 1, 1, 1, 1, 1, 1]
    assert found.outcomes[4].tolist() == [[1092]]
    behind = checked(lines[0][:-6] + "1")
    beyond = checked(f"survey2-{kit.id}-{8:016x}-{'07'.ljust(kit.length, '0')}")
    assert read_reports([behind, beyond], kit).left_out["impossible"] == 2


@pytest.mark.parametrize("kit", [KIT, replace(KIT, asked=ONE)], ids=["all", "one"])
def test_reports_say_the_same_alone_and_among_others(kit, monkeypatch):
    """Blocks of all sizes, with lines between that end in the middle, or add up to the length of others."""
    chance = np.random.default_rng(9)
    answers = [chance.integers(len(one.levels), size=30).tolist() for one in kit.questions]
    lines = reports(kit, answers, 8)
    cells = [*lines[3:], f"{lines[0]}0\n{lines[1]}", lines[2][:-1], "", None, f"x{lines[5]}", lines[5][1:]]
    cells += [f"{lines[6]}\n", f"\n{lines[7]}", lines[8].replace("-", "\n", 1)]
    cells += [lines[4][:at] + "x" + lines[4][at + 1 :] for at in range(0, 90, 7)]
    cells += [
        checked(lines[9][:at] + digit + lines[9][at + 1 : -5]) for at in range(42, 60) for digit in "0f"
    ]
    alone = [read_reports([cell], kit) for cell in cells]
    wanted = sum((Counter(one.left_out) for one in alone), Counter())
    for rows in (1, 2, 3, 7, 100):
        monkeypatch.setattr(reading, "BLOCK", rows * (len(lines[0]) + 1))
        for _ in range(3):
            chance.shuffle(cells)
            found = read_reports(cells, kit)
            came = Counter(found.left_out)
            again = came.pop("repeated", 0) + came.pop("contradicting", 0)
            assert +came == +wanted
            assert found.reports + again == sum(one.reports for one in alone)
            each = len(kit.questions) if kit.asked == ALL else 1
            assert sum(map(len, found.outcomes)) == found.reports * each


@pytest.mark.parametrize("kit", [KIT, replace(KIT, asked=ONE), FIRST], ids=["all", "one", "first"])
def test_what_people_report_is_read_back(kit):
    chance = np.random.default_rng(4)
    answers = [chance.integers(len(one.levels), size=40).tolist() for one in kit.questions]
    lines = reports(kit, answers, 5)
    found = read_reports(["odd", *lines], kit)
    assert found.reports == 40 and found.left_out["malformed"] == 1
    assert sum(len(one) for one in found.outcomes) == (40 if kit.asked == ONE else 40 * len(kit.questions))


def test_kits_of_the_first_version_stay_readable():
    kit = Kit.loads(FIRST_STATE)
    assert kit == FIRST and kit.version == 1
    # Worked out by the first version itself
    assert kit.id == "7fb695d6d47b4e08"
    found = read_reports([f"survey-{kit.id}-{'a' * 16}-2-3", f"survey-{kit.id}-{'b' * 16}-3-1"], kit)
    assert found.reports == 1 and [one.tolist() for one in found.outcomes] == [[[1]], [[2]]]
    assert found.left_out["impossible"] == 1


def test_a_kit_is_read_back_and_every_change_names_another():
    assert Kit.loads(KIT.dumps()) == KIT
    others = [
        replace(KIT, title="Titel"),
        replace(KIT, intro="x"),
        replace(KIT, asked=ONE),
        replace(KIT, waves=2),
        replace(KIT, questions=KIT.questions[::-1]),
        replace(KIT, questions=(replace(YES, channel=Sets(5, 7, 2, 1, 1)), *KIT.questions[1:])),
    ]
    assert len({KIT.id, *(other.id for other in others)}) == 7
    assert replace(KIT, respondents=7).id == KIT.id  # what is expected changes no report


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"null", KIT.dumps().replace(b'"hit": 3', b'"hit": 4'),
     KIT.dumps().replace(b'"hit": 3', b'"hit": 2'), KIT.dumps().replace(b'"title"', b'"name"'),
     KIT.dumps().replace(b'"universe": 20', b'"universe": 21'),
     KIT.dumps().replace(b'"version": 2', b'"version": 3'),
     KIT.dumps().replace(b'"asked": "all"', b'"asked": "some"'),
     FIRST_STATE.replace(b'"true": 3', b'"true": 30'), FIRST_STATE.replace(b'"true": 3', b'"true": 1'),
     re.sub(rb'"epsilon": "[^"]*"', b'"epsilon": "1e20000"', KIT.dumps())],
)  # fmt: skip
def test_what_is_no_kit_is_none(content):
    assert Kit.loads(content) is None


def test_a_folder_is_gathered_without_names_and_order(tmp_path):
    lines = [report(number=number) for number in range(30)]
    texts = {
        "survey-report (7).csv": f"report\n{lines[0]}\n",
        "b.txt": "\ufeff" + "\r\n".join(lines[1:]),
        "c": b'\xff\xfe, "\n',
        ".hidden": lines[0],
        "large.csv": "x" * (2**20 + 1),
    }
    folder = tmp_path / "inbox"
    (folder / "further").mkdir(parents=True)
    for name, text in texts.items():
        (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    (folder / "link.csv").symlink_to(folder / "b.txt")
    found = gather(folder)
    assert (found.files, found.odd, found.path) == (3, 1, tmp_path / "inbox.gathered.csv")
    cells = pd.read_csv(found.path)["report"].tolist()
    assert cells == sorted(cells) and read_reports(cells, KIT).reports == 30
    assert read_reports(cells, KIT).left_out["malformed"] == 2  # what is none, and the file that was not read
    with pytest.raises(InputRefused):
        gather(folder / "further")


def test_a_folder_holds_what_a_device_for_many_saved_and_what_was_saved_in_two_bytes_a_letter(tmp_path):
    lines = [report(number=number) for number in range(20_002)]
    folder = tmp_path / "inbox"
    folder.mkdir()
    (folder / "survey-report.csv").write_text("\n".join(["report", *lines[:-2]]))
    assert (folder / "survey-report.csv").stat().st_size > LARGEST
    for place, encoding in enumerate(("utf-16", "utf-16-be"), start=1):
        mark = "\ufeff" if encoding == "utf-16-be" else ""
        (folder / f"{place}.txt").write_bytes(f"{mark}report\r\n{lines[-place]}\r\n".encode(encoding))
    found = gather(folder)
    cells = pd.read_csv(found.path)["report"].tolist()
    assert (found.lines, found.odd) == (len(lines), 0)
    assert read_reports(cells, KIT).reports == len(lines)
