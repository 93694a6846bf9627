"""Lists from files: what is read by hand, and what is refused in words that name no cell."""

from pathlib import Path
from typing import Any

import pytest

from engine import texts
from engine.errors import InputRefused
from engine.methods.catalogue import method
from engine.methods.records import LARGEST_FILE, read_records

QUESTIONS = method("services.private_queries").asks("visit")[0]
WANTED = [{"where": "sex is f, or age >= 3", "epsilon": 0.1}, {"by": ["sex"], "margin": 20}]


@pytest.mark.parametrize(
    "text",
    [
        'where,by,epsilon,margin\n"sex is f, or age >= 3",,0.1,\n,sex,,20\n',
        "\ufeffWhere;Margin;By;Epsilon\r\nsex is f, or age >= 3;;;0.1\r\n\r\n;20;sex\r\n",
        "by\twhere\tepsilon\tmargin\n\tsex is f, or age >= 3\t0.1\n sex \t\t\t20",
        ' [{"where": "sex is f, or age >= 3", "epsilon": 0.1}, {"by": ["sex"], "margin": 20}]',
    ],
)
def test_the_same_list_in_several_forms(text: str, tmp_path: Path) -> None:
    place = tmp_path / "questions.csv"
    place.write_text(text, encoding="utf-8", newline="")
    assert read_records(place, QUESTIONS) == WANTED


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"where,epsilon\nsecret,\xff\n", "file_not_read"),
        (None, "file_not_read"),
        (b"", "file_field"),
        (b"question,epsilon\nsecret,1\n", "file_field"),
        (b"where,where\nsecret,1\n", "file_field"),
        (b"where,epsilon\n", "file_not_records"),
        (b"where,epsilon\nsecret, or not,1\n", "file_line"),
        (b'where,epsilon\n"secret,1\n', "file_not_records"),
        (b'{"where": "secret"}', "file_not_records"),
        (b'["secret"]', "file_not_records"),
        (b"[[[", "file_not_records"),
    ],
)
def test_what_is_no_list_is_refused_in_words(content: Any, code: str, tmp_path: Path) -> None:
    place = tmp_path / "questions.csv"
    if content is not None:
        place.write_bytes(content)
    with pytest.raises(InputRefused) as refused:
        read_records(place, QUESTIONS)
    assert refused.value.code == f"parameters.{code}"
    assert "secret" not in " ".join(texts.explain(refused.value))


def test_a_list_that_is_too_large_is_refused_unread(tmp_path: Path) -> None:
    place = tmp_path / "questions.csv"
    place.write_bytes(b"where\n" + b"secret\n" * (LARGEST_FILE // 7))
    with pytest.raises(InputRefused) as refused:
        read_records(place, QUESTIONS)
    assert refused.value.code == "document.too_large"


def test_what_is_no_number_stays_for_the_check(tmp_path: Path) -> None:
    place = tmp_path / "questions.csv"
    place.write_text("where,epsilon\nsex is f,soon\n")
    assert read_records(place, QUESTIONS) == [{"where": "sex is f", "epsilon": "soon"}]


def test_a_point_in_a_file_with_commas_stands_before_decimals(tmp_path: Path) -> None:
    place = tmp_path / "questions.csv"
    place.write_text("by,epsilon\nsex,1.125\n", encoding="utf-8")
    assert read_records(place, QUESTIONS) == [{"by": ["sex"], "epsilon": 1.125}]
    place.write_text("by;epsilon\nsex;1.125\n", encoding="utf-8")
    assert read_records(place, QUESTIONS) == [{"by": ["sex"], "epsilon": "1.125"}], (
        "may be two: refused later"
    )
