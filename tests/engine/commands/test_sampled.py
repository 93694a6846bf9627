"""``at-risk`` about queries on a table, and the planner, as a person runs them."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest

from engine.__main__ import main
from engine.methods.protocol import MAIN, Budget
from engine.release.plan import FileReference, Plan
from engine.table.schema import Column, Domain, Kind, Origin, Schema

SCHEMA = Schema(
    (
        Column("sex", kind=Kind.CATEGORY, domain=Domain(values=("f", "m")), domain_origin=Origin.DECLARED),
        Column(
            "age",
            kind=Kind.INTEGER,
            domain=Domain(minimum=Fraction(0), maximum=Fraction(100)),
            domain_origin=Origin.DECLARED,
        ),
        Column(
            "stay",
            kind=Kind.NUMBER,
            domain=Domain(minimum=Fraction(0), maximum=Fraction(30)),
            domain_origin=Origin.DECLARED,
        ),
    )
)
QUICK = ("--pairs", "200", "--records", "20")


@pytest.fixture
def files(tmp_path):
    """A table, its schema and a plan about it; returns the options that name the first two."""
    generator = np.random.Generator(np.random.PCG64(3))
    rows = zip(
        generator.choice(["f", "m"], 50),
        generator.integers(0, 101, 50),
        generator.uniform(0, 30, 50).round(2),
        strict=True,
    )
    table = tmp_path / "stays.csv"
    table.write_text("sex,age,stay\n" + "".join(f"{s},{a},{t}\n" for s, a, t in rows) + "f,,1\n")
    (tmp_path / "s.json").write_text(json.dumps(SCHEMA.to_json()))
    plan = Plan(
        method="statistics.counts",
        files={MAIN: FileReference("stays.csv")},
        schemas={MAIN: SCHEMA},
        parameters={"columns": ["sex"]},
        budget=Budget(Fraction(1)),
    )
    (tmp_path / "plan.json").write_text(plan.dumps())
    return ["--table", str(table), "--schema", str(tmp_path / "s.json")]


def asked(capsys, *arguments):
    status = main(["at-risk", *arguments, "--json"])
    written = capsys.readouterr()
    assert status == 0 and not written.err
    return json.loads(written.out)


def said(capsys, *arguments):
    assert main(["at-risk", *arguments]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize(
    "query", ["count", "sum:stay", "mean:age", "proportion:sex=f", "quantile:0.5:age", "ridge:stay~age,stay"]
)
@pytest.mark.parametrize("population", ["private", "public", "simulated", "fitted", "fitted-public"])
def test_every_query_on_every_population(capsys, files, query, population):
    arguments = [*files, "--query", query, "--population", population, *QUICK]
    answer = asked(capsys, *arguments, "--epsilon", ".6", "--epsilon0", "1", "--tolerance", ".1")
    implicit = answer["implicit"]
    assert implicit["sensitivity"] <= implicit["largest"] <= implicit["proved"] * (1 + 1e-9)
    assert implicit["exact"]["confidence"] == pytest.approx(0.8)
    internal = population in ("private", "fitted")
    assert answer["audience"] == ("internal" if internal else "public")
    assert ("left_out" in answer) is internal
    lines = said(capsys, *arguments)
    assert ("stays inside" in lines) is internal
    if query == "count":
        assert implicit["proved"] == 0 and "direct" not in answer  # the number of records is public
        return
    assert answer["both"]["authors_heuristic"]["heuristic"] and not answer["both"]["known"]["heuristic"]
    assert ("noise" in answer) is not internal
    for measured in answer["direct"].values():
        assert measured["one_sided"]["at_least"] <= measured["one_sided"]["share"]


def test_every_number_is_said(capsys, files):
    about = [*files, "--query", "mean:stay", *QUICK, "--epsilon", ".6"]
    lines = said(capsys, *about, "--by", "sex", "--epsilon0", "1")
    wanted = ("theorem 4", "no valid bound", "theorem 5", "heuristic", "Measured", "proved", "stay by sex")
    assert all(words in lines for words in wanted)
    back = said(capsys, *about, "--confidence", ".9")
    assert "none: more pairs or a higher quantile are needed" in back
    gaussian = said(capsys, *about, "--mechanism", "gaussian", "--scale", "1")
    assert "stated scale" in gaussian and "L2 norm" in gaussian and "theorem 5" not in gaussian


def test_a_plans_method(capsys, files, tmp_path):
    answer = asked(capsys, "--plan", str(tmp_path / "plan.json"), "--pairs", "30", "--records", "10")
    assert answer["query"] == "statistics.counts" and answer["audience"] == "internal"
    assert answer["implicit"]["proved"] is None and answer["implicit"]["largest"] > 0
    simulated = asked(
        capsys, "--plan", str(tmp_path / "plan.json"), "--pairs", "30", "--records", "10",
        "--population", "simulated", "--distribution", 'sex={"f": 1}',
    )  # fmt: skip
    assert simulated["implicit"]["largest"] == 0  # everybody is in one cell


@pytest.mark.parametrize(
    ("given", "found"),
    [
        (["--tolerance", ".01", "--probability", ".9"], {"planned": "pairs", "pairs": 14_979}),
        (["--tolerance", ".01", "--probability", ".9", "--one-sided"], {"planned": "pairs", "pairs": 11_513}),
        (["--pairs", "15000", "--tolerance", ".01"], {"planned": "probability", "sides": 2}),
        (["--pairs", "15000", "--probability", ".9"], {"planned": "tolerance", "pairs": 15_000}),
    ],
)
def test_planner(capsys, given, found):
    answer = asked(capsys, "--plan-pairs", *given)
    assert {name: answer[name] for name in found} == found
    assert answer["pairs"] >= 11_513 and 0.89 < answer["probability"] < 0.91
    assert answer["tolerance"] == pytest.approx(0.01, rel=2e-3)
    assert "pairs keep the sampled shares" in said(capsys, "--plan-pairs", *given)


@pytest.mark.parametrize(
    "arguments",
    [
        ["--plan-pairs"],
        ["--plan-pairs", "--pairs", "10", "--probability", "2"],
        ["--query", "mean:age"],
        ["--query", "mean:age", "--schema", "absent.json"],
        ["--query", "mean:age", "--schema", "S"],
        ["--query", "mean:age", "--schema", "S", "--table", "absent.csv"],
        ["--query", "mean:height", "--schema", "S", "--population", "simulated"],
        ["--query", "mean:age", "--schema", "S", "--population", "simulated", "--pairs", "0"],
        ["--query", "mean:age", "--schema", "S", "--population", "simulated", "--records", "1.5"],
        ["--query", "mean:age", "--schema", "S", "--population", "simulated", "--quantile", "2"],
        ["--query", "mean:age", "--schema", "S", "--population", "simulated", "--tolerance", "0"],
        ["--query", "mean:age", "--schema", "S", "--population", "simulated", "--epsilon0", "1"],
        ["--query", "mean:age", "--schema", "S", "--population", "simulated", "--distribution", "age"],
        ["--query", "mean:age", "--schema", "S", "--population", "simulated", "--distribution", "age=7"],
        ["--query", "mean:age", "--schema", "S", "--population", "simulated", "--mechanism", "exponential"],
        ["--query", "mean:age", "--schema", "S", "--population", "simulated",
         "--epsilon", "1", "--epsilon0", "2", "--confidence", ".5"],
        ["--query", "ridge:age~stay", "--schema", "S", "--population", "simulated", "--penalty", "0"],
        ["--plan", "P", "--query", "count"],
        ["--plan", "P", "--epsilon", "1"],
        ["--plan", "P", "--population", "fitted"],
        ["--plan", "absent.json"],
    ],
)  # fmt: skip
def test_refuses_with_a_sentence(capsys, files, tmp_path, arguments):
    known = {"S": files[3], "P": str(tmp_path / "plan.json")}
    status = main(["at-risk", *(known.get(word, word) for word in arguments)])
    written = capsys.readouterr()
    assert status == 2 and not written.out
    assert written.err.count("\n") == 1 and "Traceback" not in written.err
