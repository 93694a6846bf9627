"""Words: every id that the engine names has its sentences, and no sentence asks for what it does not get."""

from __future__ import annotations

import ast
import inspect
import re
import string
import sys
from collections.abc import Collection, Iterator, Mapping
from fractions import Fraction
from pathlib import Path

import pytest

from engine import texts
from engine.errors import InputRefused
from engine.methods.catalogue import methods
from engine.methods.protocol import Method
from engine.views import Text

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


def put_together() -> Iterator[tuple[str, str]]:
    """Yield (module and line, id) of errors and texts of methods whose id is put together of known parts."""
    for one in methods():
        for part in one.__mro__:
            if not part.__module__.startswith("engine.methods.") or part.__module__ == Method.__module__:
                continue
            module = sys.modules[part.__module__]
            tree = ast.parse(inspect.getsource(part if part is not one else module))
            replaced = {name for name in vars(part) if is_replaced(one, part, name)}
            for node in said_in(tree, replaced if part is not one else set()):
                if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or not node.args:
                    continue
                id = joined(node.args[0], {**vars(module), "self.id": one.id})
                if node.func.id in (*ERRORS, "Text") and id is not None:
                    is_text = node.func.id == "Text"
                    yield f"{module.__name__}:{node.lineno}", id if is_text else f"{id}.what"
                    if not is_text:
                        yield f"{module.__name__}:{node.lineno}", f"{id}.do"


def is_replaced(one: type[Method], part: type, name: str) -> bool:
    """Say whether a method has a member of its own in place of an inherited one, and never asks for that."""
    nearer = one.__mro__[: one.__mro__.index(part)]
    asked = any(f"super().{name}" in inspect.getsource(kind) for kind in nearer if kind is not object)
    return any(name in vars(kind) for kind in nearer) and not asked


def said_in(tree: ast.Module, replaced: Collection[str]) -> Iterator[ast.AST]:
    """Yield every node of a module or class but those of its members that are replaced."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if not isinstance(node, ast.FunctionDef) or node.name not in replaced:
            yield node
            waiting += ast.iter_child_nodes(node)


def joined(node: ast.expr, known: Mapping[str, object]) -> str | None:
    """Return an f-string whose parts are constants of its module or the id of its method; None otherwise."""
    if not isinstance(node, ast.JoinedStr):
        return None
    found = [
        known.get(ast.unparse(one.value))
        if isinstance(one, ast.FormattedValue)
        else getattr(one, "value", None)
        for one in node.values
    ]
    return "".join(map(str, found)) if all(isinstance(one, str) for one in found) else None


def test_every_text_whose_id_a_method_puts_together_has_its_words() -> None:
    made = list(put_together())
    assert len(made) > 200
    wrong = []
    for place, id in made:
        code, dot, part = id.rpartition(".")
        area, _, name = code.rpartition(".")
        if not any(map(texts.has, (id, f"errors.{id}", f"methods.{area}.problems.{name}{dot}{part}"))):
            wrong.append(f"{place} asks for the text {id}: write it in resources/texts/en (and de, fr)")
    assert not wrong, "\n".join(wrong)


def test_a_text_without_words_is_found() -> None:
    call = ast.parse('Text(f"methods.{self.id}.notes.{WHICH}")', mode="eval").body
    assert isinstance(call, ast.Call)
    assert joined(call.args[0], {"self.id": "a.way", "WHICH": "none"}) == "methods.a.way.notes.none"
    assert joined(call.args[0], {"self.id": "a.way"}) is None


def test_what_a_method_says_instead_of_its_base_is_looked_at_and_nothing_else() -> None:
    tree = ast.parse("class A:\n    def f(self): Text('f')\n    def g(self): Text('g')")
    assert "Text('g')" in {ast.unparse(node) for node in said_in(tree, {"f"})}
    assert "Text('f')" not in {ast.unparse(node) for node in said_in(tree, {"f"})}

    class Base(Method): ...

    class Own(Base):
        def run(self, tables: object, context: object) -> object: ...  # type: ignore[override]

        def step(self, context: object) -> object:  # type: ignore[override]
            return super().step(context)  # type: ignore[arg-type]

    assert [is_replaced(Own, Method, name) for name in ("run", "step", "cost")] == [True, False, False]


@pytest.mark.parametrize("one", methods(), ids=lambda one: one.id)
def test_every_way_says_what_it_keeps_and_what_each_of_its_numbers_is(one: type[Method]) -> None:
    assert texts.has(f"methods.{one.id}.keeps")
    base = f"methods.{one.id}.numbers."
    names = {id[len(base) :].split(".")[0] for id in texts.catalogue() if id.startswith(base)}
    wrong = [f"{base}{name}.{part}" for name in names for part in ("label", "what", "how", "change")]
    wrong = [id for id in wrong if not texts.has(id)]
    assert not wrong


def test_languages_have_the_same_ids_and_placeholders() -> None:
    assert differences(texts.catalogue("en"), texts.catalogue("en")) == []
    for language in texts.languages():
        wrong = differences(texts.catalogue("en"), texts.catalogue(language))
        assert not wrong, f"missing, too many or with other placeholders in {language}:\n" + "\n".join(wrong)


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


TYPED = re.compile(r"(?<![\w-])--[a-z]")
FOR_COMMANDS = ("commands.", "errors.commands.", "errors.update.", "manual.", "papers.", "signing.")
"""Said on a terminal, or to recipients who have no window."""
GIVEN_AS_COMMANDS = ("app.help.manual", "app.start.help.computer.part2.body")
"""Say on purpose how a command does the same."""


@pytest.mark.parametrize("language", texts.languages())
def test_no_text_of_the_window_names_an_option_of_the_command_line(language: str) -> None:
    seen = 0
    for name, written in texts.catalogue(language).items():
        if name.startswith(FOR_COMMANDS) or name in GIVEN_AS_COMMANDS:
            continue
        shown, _ = texts._pattern(name, language, in_window=True)
        assert not TYPED.search(shown), (name, shown)
        typed, _ = texts._pattern(name, language)
        assert "[[" not in shown + typed, name
        seen += written != typed
    assert seen > 40


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


# --- one and several --------------------------------------------------------------------------------

SEVERAL_BY_DECLARATION = frozenset(
    ("most", "k", "l", "limit", "largest", "longest", "expected", "enough", "needed", "margin", "place")
)
"""Limits of the program or of a promise, which are never 1, and the number of a step."""


def choices() -> Iterator[tuple[str, str, str, str]]:
    """Every (id, name, one, several) of a text whose words agree with a number before them."""
    for text_id, sentence in texts.catalogue().items():
        for _, name, form, _ in string.Formatter().parse(sentence):
            if name and form and texts.CHOICE in form and not form.startswith(texts.CHOICE):
                one, several = form.split(texts.CHOICE)
                yield text_id, name, one, several


def not_agreeing(catalogue: dict[str, str], nouns: frozenset[str]) -> list[str]:
    """Ids of texts that put a bare number before a noun in the plural, which reads "1 rows".

    "of {rows} rows" is a whole with its part before it, and "of 1 rows" is nobody's count.
    """
    nouns_after = "|".join(map(re.escape, sorted(nouns)))
    bare = re.compile(
        rf"(\b(?:of|to|of the) \**)?{{(\w+)}}\** (?:(?!and )[a-z]+ )?(?:{nouns_after})(?![\w|])"
    )
    found = []
    for text_id, sentence in catalogue.items():
        names = {name for before, name in bare.findall(sentence) if not before}
        found += [f"{text_id}: {name}" for name in sorted(names - SEVERAL_BY_DECLARATION)]
    return found


def test_a_number_and_what_it_counts_agree() -> None:
    nouns = frozenset(several for _, _, _, several in choices())
    assert len(nouns) > 20 and {"rows", "columns", "values", "{@people}"} <= nouns
    assert not_agreeing(dict(texts.catalogue()), nouns) == []


def test_a_bare_number_before_a_plural_is_noticed() -> None:
    nouns = frozenset(("rows", "{@people}"))
    wrong = {"a": "{n} rows", "b": "**{n}** {@people} leave", "c": "{left} of {n} rows", "d": "{n:row|rows}"}
    wrong["e"] = "{n} longer rows"
    assert not_agreeing(wrong, nouns) == ["a: n", "b: n", "e: n"]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0, "0 columns are"),
        (1, "1 column is"),
        (Fraction(1), "1 column is"),
        ("1", "1 column is"),
        (2, "2 columns are"),
        (1_001, "1,001 columns are"),
    ],
)
def test_words_agree_with_the_number_before_them(value: object, said: str) -> None:
    assert texts.text("app.columns.answer_for", count=value) == said


def test_those_who_are_protected_agree_with_their_number() -> None:
    assert texts.text("app.trying.map.people", count=1) == "1 person"
    assert texts.text("app.trying.map.people", count=3) == "3 people"


def test_no_text_makes_a_genitive_of_several_protected_by_a_letter() -> None:
    """Of a word that ends in an s already it would read “patients's”."""
    wrong = re.compile(r"\{@(people|People)\}['\u2019]s")
    assert [name for name, said in texts.catalogue().items() if wrong.search(said)] == []
    assert wrong.search("how close the {@people}'s values lie")


def test_a_number_beside_days_is_written_as_the_language_does() -> None:
    """A German report said that a column has values “0 bis 30,000”: to a German reader, thirty."""
    ends = {"low": texts.number(0.5), "high": texts.number(30_000)}
    assert texts.text("report.columns.range", language="en", **ends) == "0.5 to 30,000"
    assert texts.text("report.columns.range", language="de", **ends) == "0,5 bis 30.000"
    days = {"low": "2024-08-01", "high": "2025-05-31"}
    assert texts.text("report.columns.range", language="de", **days) == "1. August 2024 bis 31. Mai 2025"


COUNTS_ROWS = ("counts", "margins", "histogram", "life_table", "means", "density", "quantiles")


@pytest.mark.parametrize("name", COUNTS_ROWS)
def test_what_counts_rows_where_people_have_several_is_not_said_to_count_people(name: str) -> None:
    """With four rows of a player, a life table spoke of the share of players, and of players who left."""
    said = texts.catalogue("en")
    base = f"methods.statistics.{name}"
    results = [
        f"{base}.recipient_can",
        *(one for one in said if re.match(rf"{base}\.(dictionary|notes)\.", one)),
    ]
    told = re.compile(r"(how many|share of|spread over|dense|values of) \{@people\}|\{@People\} who")
    assert [one for one in results if told.search(said[one])] == []
    assert told.search("See how many {@people} there are") and told.search("{@People} who left")


PART_OF = re.compile(r"\{\w+\} of \{\w+\}( \{@people\}| [a-z]+s)? (are|stand|differ|have|were|lie|hold)\b")


def test_what_is_said_of_some_of_many_agrees_with_how_many_they_are() -> None:
    """A report of three counts said that “1 of 3 numbers are no larger than their own margin”."""
    assert [name for name, said in texts.catalogue("en").items() if PART_OF.search(said)] == []
    assert PART_OF.search("{n} of {all} numbers are") and PART_OF.search("{n} of {all} {@people} stand alone")
    assert texts.text("report.cover.guesses", n=1, all=3).startswith("1 of 3 numbers is no larger than its")


ARTICLE = re.compile(r"\b[Aa]n? \{(@?person|unit)\}")


def test_the_article_before_who_is_protected_goes_by_their_word() -> None:
    """A custodian of employees read “of a employee”: it is {@a person}, or one {unit}."""
    found = {name for name, said in texts.catalogue("en").items() if ARTICLE.search(said)}
    assert not found
    assert ARTICLE.search("stands for a {@person}") and ARTICLE.search("of a {unit} known")


def test_no_text_says_one_of_several() -> None:
    """Every text whose words agree, with 1 for each of its numbers in turn."""
    for text_id, name, several in {(text_id, name, several) for text_id, name, _, several in choices()}:
        asked = texts.placeholders(texts.catalogue()[text_id])
        said = texts.text(text_id, **{**dict.fromkeys(asked, 7), name: 1})
        assert texts.CHOICE not in said, text_id
        assert not re.search(rf"\b1 {re.escape(several)}\b", said), text_id


def test_no_place_has_the_name_of_what_says_in_which_language() -> None:
    wrong = [id for id, pattern in texts.catalogue().items() if "language" in texts.placeholders(pattern)]
    assert not wrong, "`text` itself takes it"


def test_values_are_quoted_and_texts_within_texts_said_in_the_language():
    coarser = {"values": ("[0, 10)", "*")}
    for language, quoted in (
        ("en", "“[0, 10)”, “*”"),
        ("de", "„[0, 10)“, „*“"),
        ("fr", "«\u00a0[0, 10)\u00a0», «\u00a0*\u00a0»"),
    ):
        assert quoted in texts.text("datasets.coarser", language=language, **coarser)
        whole = {"first": Text("datasets.coarser", coarser), "second": 1234.5}
        said = texts.text("bundle.both", language=language, **whole)
        assert quoted in said and texts.number(1234.5, language=language) in said
    many = texts.text("datasets.coarser", values=[str(place) for place in range(texts.MOST_QUOTED + 3)])
    assert many.count("“") == texts.MOST_QUOTED and "” …" in many
    assert "“a”, “b”" in texts.text("datasets.coarser", values="“a”, “b”")  # as earlier evidence holds it


def test_numbers_with_a_decimal_comma_are_not_parted_by_one():
    listed = {"all": [0.25, 0.5]}
    assert texts.text("report.words.list", **listed) == "0.25, 0.5"
    assert texts.text("report.words.list", language="de", **listed) == "0,25; 0,5"
    assert texts.text("report.words.list", language="de", all=["a", "b"]) == "a, b"


@pytest.mark.parametrize("language", texts.languages())
def test_what_stands_before_the_first_heading_is_read_alone_as_with_the_rest(language):
    """A heading may stand in no sentence of several lines: then the beginning could not be read alone."""
    for beginning in texts._places(language):
        whole = texts._of_file(language, beginning)
        first = texts._first_of_file(language, beginning)
        assert first == {text_id: whole[text_id] for text_id in first}
        assert all("." in text_id.removeprefix(f"{beginning}.") for text_id in whole.keys() - first.keys())
