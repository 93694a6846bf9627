"""Words: every id that the engine names has its sentences, and no sentence asks for what it does not get."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest

from engine import texts
from engine.errors import InputRefused

ROOT = Path(__file__).resolve().parents[2]
ERRORS = ("InputRefused", "VerificationFailed", "EngineError", "Problem")


def raised() -> Iterator[tuple[str, int, str, frozenset[str] | None]]:
    """Every (file, line, code, names of values) of an error or problem with a literal code."""
    for path in sorted((ROOT / "engine").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or not node.args:
                continue
            first = node.args[0]
            if node.func.id in ERRORS and isinstance(first, ast.Constant) and isinstance(first.value, str):
                known = all(keyword.arg is not None for keyword in node.keywords)
                names = frozenset(str(keyword.arg) for keyword in node.keywords) if known else None
                if node.func.id == "Problem":
                    names = None
                yield str(path.relative_to(ROOT)), node.lineno, first.value, names


def test_every_error_has_its_sentences_and_gives_what_they_ask_for() -> None:
    wrong = []
    for file, line, code, names in raised():
        base = f"errors.{code}"
        if not texts.has(f"{base}.what"):
            area, _, name = code.rpartition(".")
            base = f"methods.{area}.problems.{name}"
        for part in ("what", "do"):
            if not texts.has(f"{base}.{part}"):
                wrong.append(f"{file}:{line} {code}.{part} has no sentence")
            elif names is not None and not texts.placeholders(texts.catalogue()[f"{base}.{part}"]) <= names:
                wrong.append(f"{file}:{line} {code}.{part} asks for more than {sorted(names)}")
    assert not wrong, "\n".join(wrong)


def test_languages_have_the_same_ids_and_placeholders() -> None:
    assert differences(texts.catalogue("en"), texts.catalogue("en")) == []
    for language in texts.languages():
        assert differences(texts.catalogue("en"), texts.catalogue(language)) == [], language


def differences(first: dict[str, str], second: dict[str, str]) -> list[str]:
    """Ids that one language lacks, and ids whose placeholders differ."""
    found = sorted(first.keys() ^ second.keys())
    both = first.keys() & second.keys()
    return found + sorted(
        text_id
        for text_id in both
        if texts.placeholders(first[text_id]) != texts.placeholders(second[text_id])
    )


def test_the_comparison_of_languages_can_fail() -> None:
    assert differences({"a": "{x}", "b": ""}, {"a": "{y}"}) == ["b", "a"]


def test_numbers_are_written_for_people() -> None:
    assert texts.number(Fraction(1, 2)) == "0.5"
    assert texts.number(1_234_567) == "1,234,567"
    assert texts.number(float("inf")) == "∞"
    assert texts.number(float("-inf")) == "−∞"
    assert texts.number(float("nan")) == "not a number"
    assert texts.number(0.00001234) == "0.0000123"
    assert texts.number(1e-6) == "0.000001"
    assert texts.number(1e-15) == "1e-15"


def test_an_error_shows_no_value_in_its_own_text() -> None:
    error = InputRefused("table.something", file="a.csv", column="Mrs Smith")
    assert "Smith" not in str(error)
    assert "Smith" not in repr(error)
    assert str(error) == "table.something (column, file)"


def test_a_missing_placeholder_is_a_mistake_that_shows() -> None:
    with pytest.raises(KeyError):
        texts.text("errors.plan.newer_version.what", file="x")


def test_every_text_is_a_string_that_can_be_formatted() -> None:
    for text_id, sentence in texts.catalogue().items():
        assert isinstance(sentence, str), text_id
        texts.placeholders(sentence)


def test_every_stage_of_long_work_has_its_words() -> None:
    stages: dict[str, str] = {}
    for path in sorted((ROOT / "engine").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            is_step = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
            if is_step and node.func.attr == "step" and len(node.args) == 2:
                stage = node.args[1]
                if isinstance(stage, ast.Constant) and isinstance(stage.value, str):
                    stages[stage.value] = path.name
    assert stages
    assert not {stage: file for stage, file in stages.items() if not texts.has(f"stages.{stage}")}
