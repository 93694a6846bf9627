"""No file of a release says what is not so: found in the examples of every method, by what they promise."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import partial
from html import unescape
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from engine import texts
from engine.errors import InputRefused
from engine.evidence import read_public
from engine.methods.catalogue import methods
from engine.methods.kinds import Shape
from engine.methods.protocol import Method
from engine.numbers import exactly
from engine.privacy.promise import Promise, Unit
from engine.release import examples
from engine.release.preview import error_sentence, whose_rows
from engine.report.content.facts import has_margins
from engine.report.content.shared import side
from engine.table.missing_words import MISSING_WORDS
from tests.engine.methods.examples_run import evidence, ran, ran_by_row

EVERY = pytest.mark.parametrize("method", methods(), ids=lambda one: one.id)

# What the words speak of that is not there: nothing bounds the loss; or people changed their own answers.
FORBIDDEN = {
    "unbounded": r"nois[ey]|ε|epsilon|δ|sampler|seed was|declared bounds?\b|budget|spent"
    r"|margin|laplace|gaussian|every number that was computed|without protection|who is protected",
    "local": r"nois[ey]|sampler|seed was|declared bounds?\b|budget|spent|from people carries",
    "bounded": r"no formal guarantee",
}
# Without a person key nobody knows which rows are one person's.
OF_PERSONS = (
    r"every person, with|person key is right|rows used per person|rows of one person were|person's rows alone"
    r"|people stand alone \(unique|any one person|that a certain person is in the table"
)
DATA = {"text/csv"}  # the values of the table, which may be any words


def words(path: Path) -> str:
    """Return what a file says to people: of JSON the values that are no ids of texts, of HTML no marks."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".json":
        return "\n".join(said(json.loads(text)))
    if path.suffix == ".html":
        return unescape(re.sub(r"<style.*?</style>|<[^>]+>", "\n", text, flags=re.DOTALL))
    return text


def said(tree: Any) -> Iterator[str]:
    if isinstance(tree, dict):
        for value in tree.values():
            yield from said(value)
    elif isinstance(tree, list):
        for value in tree:
            yield from said(value)
    elif isinstance(tree, str) and not re.fullmatch(r"[a-z0-9_]+(\.[a-z0-9_]+)+", tree):
        yield tree


def spoken(folder: Path) -> Iterator[tuple[str, str]]:
    """Every line of words of a bundle, of what leaves and what stays, with the file it stands in."""
    tree = evidence(folder)
    data = {line["file"] for line in tree["artefacts"] if line["media_type"] in DATA}
    for part in ("release", "internal"):
        for path in sorted((folder / part).iterdir()):
            if path.suffix in (".txt", ".json", ".html") and path.name not in data:
                yield from ((f"{part}/{path.name}", line.strip()) for line in words(path).splitlines())


def false_lines(folder: Path, pattern: str) -> list[tuple[str, str]]:
    found = re.compile(pattern, re.IGNORECASE)
    return [(file, line[:200]) for file, line in spoken(folder) if found.search(line)]


def forbidden(tree: dict[str, Any]) -> str:
    """Return the words that a release may not say; noise that a plan adds to values may be called so."""
    pattern = FORBIDDEN[side(Promise.from_json(tree["promise"]))]
    adds = "noise" in json.dumps(tree["decided"]["parameters"])
    return pattern.removeprefix("nois[ey]|") if adds and tree["promise"]["epsilon"] is None else pattern


def plainly(line: str) -> str:
    """Return a line with plain blanks."""
    return line.replace("\u00a0", " ")


def own_words(method: Method) -> list[re.Pattern[str]]:
    """Return what a method says itself of noise or a level: one that adds noise without a bound has to."""
    pattern = re.compile(FORBIDDEN["unbounded"], re.IGNORECASE)
    every = [text for name, text in texts.catalogue().items() if name.startswith(f"methods.{method.id}.")]
    found = [text[:150] for text in every if pattern.search(text)]
    return [re.compile(".*".join(map(re.escape, re.split(r"\{[^}]*\}", text)))) for text in found]


@EVERY
def test_nothing_is_said_of_what_is_not_there(method: Method) -> None:
    for _, folder in ran(method):
        tree = evidence(folder)
        promise = Promise.from_json(tree["promise"])
        own = own_words(method) if promise.loss is None else []
        lines = false_lines(folder, forbidden(tree))
        assert [line for line in lines if not any(one.search(plainly(line[1])) for one in own)] == []
        if not tree["noise"]:
            assert false_lines(folder, r"\bsamplers? of|seed was stored") == []
        if promise.loss is None:
            assert not {"budget", "bounds", "declared_sizes"} & set(tree["decided"])
            inside = json.loads((folder / "internal" / "evidence.json").read_text())["internal"]
            assert inside["plan"]["budget"] is None and not inside["price"]


@EVERY
def test_without_a_person_key_no_person_is_said_to_be_protected(method: Method) -> None:
    if any(source.shape is Shape.EVENTS for source in method.reads()):
        with pytest.raises(InputRefused, match="no_person_key"):  # a history is all rows with the same key
            ran_by_row(method)
        return
    for _, folder in ran_by_row(method):
        promise = Promise.from_json(evidence(folder)["promise"])
        assert promise.unit is Unit.ROW
        assert false_lines(folder, OF_PERSONS) == []
        if promise.loss is not None:
            assert false_lines(folder, r"every row\b")


def test_the_words_are_read(tmp_path: Path) -> None:
    """A false sentence is found wherever it stands: this search can fail."""
    release, internal = tmp_path / "release", tmp_path / "internal"
    release.mkdir()
    internal.mkdir()
    (release / "evidence.json").write_text(json.dumps({"artefacts": [], "a": [{"b": "It carries Noise."}]}))
    (release / "README.txt").write_text("Every number\ncarries noise.")
    (internal / "report-internal.html").write_text(
        "<style>noise</style><p title='noise'>The noise&nbsp;of it</p>"
    )
    assert [file for file, _ in false_lines(tmp_path, FORBIDDEN["unbounded"])] == [
        "release/README.txt", "release/evidence.json", "internal/report-internal.html",
    ]  # fmt: skip


@EVERY
def test_every_text_is_told_in_words(method: Method) -> None:
    """A text may name other texts, in a note or in a heading: none of them stands as its id."""
    for _, folder in ran(method):
        assert false_lines(folder, r"\bText\(|\bvalues=\{") == []


@EVERY
def test_people_read_decimal_numbers(method: Method) -> None:
    """Exact fractions stand in what programs read; a person reads 0.146, not 36501/250000."""
    for _, folder in ran(method):
        fractions = re.compile(r"(?<![\d./:])\d+/(?!(?:19|20)\d\d\b)\d{4,}(?![\d/])")
        found = [
            (file, line[:200])
            for file, line in spoken(folder)
            if not file.endswith(".json") and fractions.search(line)
        ]
        assert not found


@EVERY
def test_no_margin_is_written_as_a_power_of_ten(method: Method) -> None:
    """A person reads 1,170, not 1.17e+03."""
    for _, folder in ran(method):
        assert false_lines(folder, r"\d(?:\.\d+)?e\+\d\d\b") == []


@EVERY
@pytest.mark.guarantee
def test_no_margin_is_denied_that_a_file_has(method: Method) -> None:
    for _, folder in ran(method):
        tables = evidence(folder)["dictionary"]
        names = {column["name"] for file in tables for column in file.get("columns", ())}
        if any(name.startswith("within_95") for name in names):
            assert false_lines(folder, r"No margin stands beside") == []


MOST_LISTED = 40


@EVERY
def test_the_dictionary_lists_what_columns_of_names_read(method: Method) -> None:
    """Labels can be written from the dictionary; a step of a hierarchy tells a recipient nothing."""
    for _, folder in ran(method):
        tree = evidence(folder)
        for file in (one for one in tree["dictionary"] if "columns" in one):
            for name in file.get("files", [file["file"]]):
                rows = pd.read_csv(folder / "release" / name, dtype=str, keep_default_na=False)
                for line in file["columns"]:
                    cells = {cell.removeprefix("'") for cell in rows[line["name"]]} - {""}
                    assert not re.search(r"\bsteps? \d+ (to \d+ )?of \d+", line["meaning"])
                    if line["kind"] in ("category", "ordinal") and len(cells) <= MOST_LISTED:
                        assert cells <= {one.removeprefix("'") for one in line.get("values", ())}, line[
                            "name"
                        ]
                    lost = {cell for cell in cells if cell in MISSING_WORDS}
                    assert lost <= set(line.get("not_missing", ()))
                    if line["kind"] in ("integer", "number"):
                        assert (
                            pd.to_numeric(rows[line["name"]].replace("", "nan"), errors="coerce")
                            .notna()
                            .any()
                        )
        readme = (folder / "release" / "README.txt").read_text(encoding="utf-8")
        mistaken = [
            line for file in tree["dictionary"] for line in file.get("columns", ()) if line.get("not_missing")
        ]
        assert ("read as missing" in readme) == bool(mistaken)


@EVERY
def test_what_an_attacker_is_taken_to_know_is_said_where_a_promise_rests_on_it(method: Method) -> None:
    for _, folder in ran(method):
        tree = evidence(folder)
        known = {"k_anonymity": "marked_columns_known", "l_diversity": "buckets_alone_known"}
        needed = known.get(tree["promise"]["kind"])
        if needed:
            assert needed in tree["promise"]["assumptions"]
            said = words(folder / "release" / "report-external.html")
            start = texts.text(f"assumptions.{needed}").split("{")[0].split("knows of")[0]
            assert start in said


NAMES_OF_COLUMNS = {
    "readmission": "readmitted", "readmitted": "readmitted", "age": "age", "ages": "age", "sex": "gender",
    "gender": "gender", "diagnosis": "diag_1", "diagnoses": "diag_1|diagnosis", "test": "A1Cresult",
    "tests": "num_lab_procedures", "medication": "num_medications|change", "race": "race",
}  # fmt: skip
"""What words in titles of examples name, in the table that comes with the program."""


@EVERY
def test_the_title_of_an_example_names_no_column_that_has_no_part(method: Method) -> None:
    for plan in (one for one in examples.plans(method) if not one.step):
        used = {name for names in method(plan.request).uses.values() for name in names}
        used |= {str(step[part]) for step in plan.preparation for part in ("column", "to") if part in step}
        for word, columns in NAMES_OF_COLUMNS.items() if used else ():
            if re.search(rf"\b{word}\b", plan.purpose.title, re.IGNORECASE):
                assert set(columns.split("|")) & used, (plan.purpose.title, word)


@EVERY
def test_what_is_said_of_rows_before_holds_of_the_rows_that_are_used(method: Method) -> None:
    """A cap and people kept apart are said before, with a number that the release does not exceed."""
    for plan, folder in ran(method):
        request = plan.request
        said = [one.id.rpartition(".")[2] for one in whose_rows(method(request), 1006)]
        assert ("held_out" in said) == (method.held_out and bool(request.private))
        assert any(one.startswith("cap") for one in said) == (request.unit is Unit.PERSON)
        rows = json.loads((folder / "internal" / "evidence.json").read_text())["internal"]["input"]
        weighs = Promise.from_json(evidence(folder)["promise"]).weighs
        if request.unit is Unit.PERSON and "people" in rows and not rows.get("others") and not weighs:
            (told,) = (one for one in whose_rows(method(request), rows["people"]) if "rows" in one.values)
            spread = 5 * (rows["people"] * 0.16) ** 0.5 if method.held_out else 0
            assert rows["rows_used"] <= told.values["rows"] + spread
            if method.held_out:
                outside = words(folder / "release" / "report-external.html")
                assert "was kept apart to test" in outside or "were kept apart to test" in outside


@EVERY
def test_no_cap_is_said_to_leave_rows_out_where_all_rows_of_a_person_count(method: Method) -> None:
    """Nor that only so many rows of each had a part: long histories count less, and none is torn."""
    capped = r"rows above the cap|left out by (a|the) cap|where there were more|with at most \S+ rows"
    for plan, folder in ran(method):
        weighs = Promise.from_json(evidence(folder)["promise"]).weighs
        assert weighs == any(source.shape is Shape.EVENTS for source in method.reads())
        if weighs:
            assert false_lines(folder, rf"{capped}|rows used per|no more rows of one") == []
            (said,) = whose_rows(method(plan.request), 1006)
            is_bounded = Promise.from_json(evidence(folder)["promise"]).loss is not None
            assert said.id == f"preview.rows.cap_{'weighed' if is_bounded else 'whole'}"
            assert is_bounded or false_lines(folder, r"counts? less") == []
            inside = json.loads((folder / "internal" / "evidence.json").read_text())["internal"]
            assert inside["input"]["rows_used"] == inside["input"]["rows"]
            assert "utility.cap" not in inside["measures"]


@EVERY
def test_numbers_agree_with_what_they_count(method: Method) -> None:
    """One row, one person: what is counted once has the word for one, before a release and in it."""
    slip = re.compile(r"(?<![\d.,/])1 (people|rows|pairs|groups|copies|columns|questions)\b")
    for plan, folder in ran(method):
        assert [line for line in spoken(folder) if slip.search(plainly(line[1]))] == []
        for error in plan.design.forecast.errors if not plan.step else ():
            assert not slip.search(error_sentence(error))


ADDRESSED = r"\byou\b|\byour\b"


@EVERY
def test_reports_do_not_speak_to_the_custodian_of_how_it_was_made(method: Method) -> None:
    """A recipient reads what a method is: the table is not theirs, and they chose nothing."""
    own = [name for name in texts.catalogue() if name.startswith(f"methods.{method.id}.summary")]
    assert own
    assert [name for name in own if re.search(ADDRESSED, texts.text(name), re.IGNORECASE)] == []


@EVERY
def test_what_was_done_is_said_of_the_form_that_was_chosen(method: Method) -> None:
    """Rounded counts hide no cell and none is said to be true; settings of a step have their own names."""
    for plan, folder in ran(method):
        said = plainly(words(folder / "release" / "report-external.html"))
        if evidence(folder)["promise"]["kind"] in ("rounded", "cell_keys"):
            assert not re.search(r"of true counts|cells are hidden|carry the same sign|none is exact", said)
        if plan.step:
            for name in plan.parameters:
                own = f"methods.{method.id}.steps.{plan.step}.parameters.{name}.label"
                opening = f"methods.{method.id}.parameters.{name}.label"
                if texts.has(own) and texts.has(opening) and texts.text(own) != texts.text(opening):
                    assert f"\n{texts.text(own)}\n" in said
                    assert f"\n{texts.text(opening)}\n" not in said


@EVERY
def test_the_first_words_to_a_recipient_are_not_said_twice(method: Method) -> None:
    """README.txt holds no sentence, and no beginning of one, a second time."""
    for _, folder in ran(method):
        text = " ".join((folder / "release" / "README.txt").read_text(encoding="utf-8").split())
        starts = [
            " ".join(one.split()[:5]) for one in re.split(r"(?<=[.;:])\s", text) if len(one.split()) > 5
        ]
        assert [one for one in starts if starts.count(one) > 1] == []


@EVERY
def test_a_bound_over_answers_that_have_not_left_is_said_to_be_over_them(method: Method) -> None:
    """What opens a service tells of nobody: its level is that of all later answers together."""
    told = texts.text("report.cover.opened")
    for plan, folder in ran(method):
        promise = Promise.from_json(evidence(folder)["promise"])
        later = bool(method.steps) and not plan.step and side(promise) == "bounded"
        said = words(folder / "release" / "report-external.html")
        assert (told in said) == later


# --- what stands in a report has something to do with this release ------------------------------------------


def report(folder: Path) -> str:
    return plainly(words(folder / "release" / "report-external.html"))


@EVERY
def test_a_sign_is_explained_only_where_it_stands(method: Method) -> None:
    for _, folder in ran(method):
        tables = [
            pd.read_csv(folder / "release" / line["file"], dtype=str, keep_default_na=False)
            for line in evidence(folder)["artefacts"]
            if line["media_type"] in DATA
        ]
        stands = any((table == "*").any(axis=None) for table in tables)
        explained = re.search(r"\* stands for any value|every value reads \*", report(folder))
        assert bool(explained) <= stands


@EVERY
def test_no_report_advises_another_method(method: Method) -> None:
    """Which way of releasing is better is a word to the custodian: the recipient has what was made."""
    others = [texts.text(f"methods.{one.id}.title") for one in methods() if one is not method]
    for _, folder in ran(method):
        assert [title for title in others if f"“{plainly(title)}”" in report(folder)] == []


def is_printed(method: Method, settings: str, name: str) -> bool:
    label = f"methods.{method.id}.parameters.{name}.label"
    return texts.has(label) and f"\n{plainly(texts.text(label))}\n" in settings


@EVERY
def test_no_setting_is_printed_that_had_no_part(method: Method) -> None:
    """Intervals where no column was cut, rows of people who have one, a rule for sums where none leaves."""
    for _, folder in ran(method):
        decided, settings = evidence(folder)["decided"], report(folder)
        parameters, printed = decided["parameters"], partial(is_printed, method, settings)
        assert printed("several_rows") <= (decided.get("rows_per_person", 1) > 1)
        assert printed("rule") <= (parameters.get("of") is not None)
        many = [
            one
            for one in decided["columns"]
            if one["kind"] in ("integer", "number", "date")
            and one.get("domain")
            and "values" not in one["domain"]
        ]
        assert printed("bins") <= bool(many)
        for name, value in decided.get("taken", {}).items():
            assert (value is None) != printed(name)


def test_the_noise_that_was_taken_is_named() -> None:
    (bell,) = (one for one in methods() if one.id == "datasets.gaussians")
    for plan, folder in ran(bell):
        assert plan.parameters.get("noise", "fitting") == "fitting"
        kind = "gaussian" if evidence(folder)["promise"]["delta"] != "0" else "laplace"
        choices = f"methods.{bell.id}.parameters.noise.choices"
        assert texts.text(f"{choices}.{kind}") in report(folder)
        assert texts.text(f"{choices}.fitting") not in report(folder)


def test_a_table_is_called_by_its_form() -> None:
    (table,) = (one for one in methods() if one.id == "statistics.protected_table")
    for kind in table.promises:
        assert texts.has(f"methods.{table.id}.title_{kind}"), kind
    for _, folder in ran(table):
        kind = evidence(folder)["promise"]["kind"]
        assert texts.text(f"methods.{table.id}.title_{kind}") in report(folder)
        assert texts.text(f"methods.{table.id}.title") not in report(folder)


@EVERY
def test_margins_are_spoken_of_where_some_stand_beside_numbers(method: Method) -> None:
    for _, folder in ran(method):
        found = read_public(evidence(folder)).views
        if not any(map(has_margins, found)):
            assert not re.search(r"stands? beside (its|their) margins?", report(folder))


@EVERY
def test_a_level_of_an_only_release_is_one_number(method: Method) -> None:
    """What was spent is not told beside the level as another number."""
    for _, folder in ran(method):
        tree = evidence(folder)
        one = re.search(r"\nε = ([\d.]+) of [\d.]+ so far.*releases: 1\)", report(folder))
        if one and tree["promise"]["epsilon"] is not None and tree["statement"].get("epsilon"):
            assert float(one[1]) == texts.plainly(float(exactly(tree["statement"]["epsilon"]) or 0), up=True)


@EVERY
def test_numbers_have_no_sign_of_nothing_and_nobody_is_said_to_be_missing_who_is_not(method: Method) -> None:
    for _, folder in ran(method):
        assert not re.search(r"\n[-−]0\n", report(folder))
        if evidence(folder)["counted"].get("left_out") == 0:
            assert "may have been left out" not in report(folder)


@pytest.mark.parametrize("name", ["additive", "linear", "logistic"])
def test_how_many_effects_lie_outside_agrees_with_the_share_that_held(name: str) -> None:
    note = texts.text(f"methods.models.{name}.views.effects.note")
    held = re.search(r"On \w+ tables (\d+) to (\d+) of 100 held", note)
    page = (Path(__file__).parents[2] / "peers/league.md").read_text(encoding="utf-8")
    line = re.compile(rf"^\| .* \| {name} \| (\d+\.\d) \| [\d.]+ \|$", re.MULTILINE)
    found = [float(one) for one in line.findall(page)]
    assert held is not None and len(found) >= 7
    assert (round(min(found)), round(max(found))) == (int(held[1]), int(held[2]))
    (way,) = (one for one in methods() if one.id == f"models.{name}")
    for _, folder in ran(way):
        if said := re.search(
            r"Of these (\d+) effects (?:at most )?about (\d+) lies? outside", report(folder)
        ):
            count, outside = map(int, said.groups())
            assert outside == max(1, round(count / 20))


@EVERY
def test_an_error_on_the_first_page_says_of_what_or_in_what(method: Method) -> None:
    """A number alone tells nobody whether it is days or grams."""
    for _, folder in ran(method):
        for one in evidence(folder)["expected"]:
            alone = not one["unit"] and not one["named"]
            assert not (alone and one["of"] == "cell"), one
            assert one["size"] or one["of"] not in ("cell", "group", "prediction"), one  # "for 0 rows"
