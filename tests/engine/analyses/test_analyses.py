"""Every analysis that is found: its words, its example, and whether its answer may leave."""

import json
import math
import re
import subprocess
import sys
from pathlib import Path

import pytest

from engine import texts
from engine.analyses.catalogue import analyses, analysis, ask, declaration, example
from engine.analyses.protocol import InternalAnswer
from engine.errors import InputRefused
from engine.languages import Written
from engine.methods.protocol import MAIN
from engine.report.words import word
from engine.table.reading.readers import read_table
from engine.views import CurveView, Text, TextView

ROOT = Path(__file__).resolve().parents[3]
IDS = [one.id for one in analyses()]


def asked(name, **changed):
    one = analysis(name)
    shown = example(one)
    tables, schemas = {}, {}
    if shown.table is not None:
        schemas = {MAIN: shown.schema}
        tables = {MAIN: read_table(shown.table, schema=shown.schema)}
    return ask(one, {**shown.values, **changed}, tables=tables, schemas=schemas)


def words_of(value):
    """Every `Text` in a view."""
    if isinstance(value, Text):
        yield value
    elif isinstance(value, tuple | list):
        for one in value:
            yield from words_of(one)
    elif hasattr(value, "__dataclass_fields__"):
        for name in value.__dataclass_fields__:
            yield from words_of(getattr(value, name))


def test_the_analyses_of_the_source_are_found():
    wanted = {"at_risk", "composition", "price", "pairs", "sampled_sensitivity", "direct", "ridge_example"}
    assert wanted <= set(IDS) and len(IDS) == len(set(IDS))


@pytest.mark.parametrize("name", IDS)
def test_declared_in_words(name):
    tree = declaration(analysis(name))
    assert tree["title"] and tree["summary"] and tree["published"]["place"]
    assert all(parameter["label"] and parameter["help"] for parameter in tree["parameters"])
    json.dumps(tree, default=str)
    own = [text_id for text_id in texts.catalogue() if text_id.startswith(f"analyses.{name}.parameters.")]
    declared = {parameter["name"] for parameter in tree["parameters"]}
    assert {text_id.split(".")[3] for text_id in own} == declared


@pytest.mark.parametrize("name", IDS)
def test_the_example_is_answered_in_words_and_figures(name):
    found = asked(name)
    assert isinstance(found.views[0], TextView) and found.views[0].paragraphs
    said = [word(text, "en") for view in found.views for text in words_of(view)]
    assert all(said)
    given = [one for view in found.views for text in words_of(view) for one in text.values.values()]
    cells = [one for view in found.views for row in getattr(view, "rows", ()) for one in row]
    written = [one for one in (*given, *cells) if isinstance(one, str) and re.fullmatch(r"-?\d+\.\d+", one)]
    assert all(isinstance(one, Written) for one in written), "a number is said as the language writes it"
    figures = json.loads(json.dumps(found.figures, allow_nan=False))
    assert figures
    for view in found.views:
        if isinstance(view, CurveView):
            numbers = [y for series in view.series for y in series.y]
            assert numbers and all(map(math.isfinite, numbers))


@pytest.mark.parametrize("name", [one.id for one in analyses() if one.sources])
def test_what_is_computed_from_own_rows_stays_by_its_type(name):
    chosen = any(one.name == "population" for one in analysis(name).parameters)
    own = asked(name, **({"population": "private"} if chosen else {}))
    assert isinstance(own, InternalAnswer) and own.figures["audience"] == "internal"
    assert "stays inside" in word(own.views[0].paragraphs[-1], "en")


@pytest.mark.parametrize(
    "name", [one.id for one in analyses() if any(p.name == "population" for p in one.parameters)]
)
def test_what_is_computed_from_a_public_table_may_leave(name):
    assert isinstance(asked(name, population="private"), InternalAnswer)
    public = asked(name, population="public")
    assert not public.stays and public.figures["audience"] == "public"


@pytest.mark.parametrize("name", [one.id for one in analyses() if not one.sources])
def test_an_analysis_without_a_source_takes_no_table(name):
    shown = example(analysis("direct"))
    table = read_table(shown.table, schema=shown.schema)
    with pytest.raises(InputRefused, match=r"analyses\.no_table"):
        ask(analysis(name), example(analysis(name)).values, tables={MAIN: table})


@pytest.mark.parametrize("name", IDS)
def test_wrong_values_are_refused_in_words(name):
    for given in ({"nonsense": 1}, {"epsilon": "many", "people": "x", "pairs": "x", "tolerance": "x"}):
        with pytest.raises(InputRefused) as refused:
            ask(analysis(name), given)
        assert all(texts.explain(refused.value))


def test_unknown():
    with pytest.raises(InputRefused, match=r"analyses\.unknown"):
        analysis("astrology")


def test_the_ridge_example_shows_what_its_source_shows():
    found = asked("ridge_example").figures
    moves = found["sensitivity"]
    # Typical neighbours move the coefficients far less than any bound allows.
    assert moves["sampled"] <= moves["largest"] < moves["bound"] < moves["published_bound"]
    assert moves["sampled"] < moves["bound"] / 5
    errors = found["error"]
    assert errors["bound"][0] > errors["bound"][-1] > found["error_without_noise"]
    assert abs(errors["sampled"][-1] - found["error_without_noise"]) < errors["bound"][-1] / 10


def test_measured_losses_agree_with_the_formula_for_worst_neighbours():
    """Everybody at one of the two bounds: half of the pairs are farthest neighbours, half are equal."""
    found = asked(
        "direct",
        query="proportion:gender=Male",
        population="simulated",
        records=50,
        scale=1 / 50,
        draws=20_000,
    ).figures
    low, high = found["one_sided"]["low"], found["one_sided"]["high"]
    # ½ · 1 + ½ · ½ e^{−(1−.6)/2}
    assert low - 0.01 < 0.5 + 0.25 * math.exp(-0.2) < high + 0.01


def test_the_generic_command(tmp_path):
    def run(*arguments):
        command = [sys.executable, "-m", "engine", "analyse", *arguments]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    listed = json.loads(run("--json").stdout)["analyses"]
    assert [one["id"] for one in listed] == IDS
    assert json.loads(run("pairs", "--json").stdout)["id"] == "pairs"
    one = run("at_risk", "--set", "epsilon0=1", "--set", "epsilon=0.6", "--json")
    assert json.loads(one.stdout)["exact"]["confidence"] == pytest.approx(0.409365, abs=5e-7)
    shown = example(analysis("direct"))
    (tmp_path / "s.json").write_text(json.dumps(shown.schema.to_json()))
    values = [f"--set={name}={json.dumps(value)}" for name, value in shown.values.items()]
    measured = run("direct", str(shown.table), "--schema", str(tmp_path / "s.json"), *values)
    assert measured.returncode == 0 and "stays inside" in measured.stdout
    refused = run("astrology", "--set", "x=1")
    assert refused.returncode == 2 and refused.stderr.count("\n") == 1


def test_the_list_of_analyses_is_made_without_what_single_ones_compute_with() -> None:
    code = (
        "import sys; from engine.analyses.catalogue import analyses; assert analyses();"
        "print([name for name in ('scipy', 'sklearn', 'highspy') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_a_mechanism_is_called_by_its_name():
    said = word(asked("at_risk").views[0].paragraphs[0], "en").replace("\u00a0", " ")
    assert said.startswith("Laplace, on whole numbers, at ε0 = 1: ") and "discrete-laplace" not in said
