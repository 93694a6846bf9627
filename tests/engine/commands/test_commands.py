"""The command line as an auditor uses it: exit status, JSON, one clear message, no traceback, no socket."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from engine.__main__ import main
from engine.ledger import Ledger
from engine.methods import catalogue
from engine.release.examples import plans

ROOT = Path(__file__).resolve().parents[3]
SAMPLE = ROOT / "resources" / "sample"
MUST_HAVE_TOOLS = os.environ.get("CI") == "true"


def answer(capsys: pytest.CaptureFixture[str], *arguments: str, status: int = 0) -> dict:
    assert main([*arguments, "--json"]) == status, capsys.readouterr().err
    return json.loads(capsys.readouterr().out)


def refusal(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(list(arguments)) == 2
    written = capsys.readouterr()
    assert written.out == ""
    assert "Traceback" not in written.err
    assert len(written.err.strip().splitlines()) == 1
    return written.err


def test_at_risk_answers_as_published_exact_and_certified(capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(capsys, "at-risk", "--epsilon0", "1", "--epsilon", "0.6")
    assert found["published"]["confidence"] == pytest.approx(0.713769, abs=1e-6)
    assert found["exact"]["confidence"] == pytest.approx(0.409365, abs=1e-6)
    assert found["exact"]["confidence_two_sided"] == pytest.approx(0.184701, abs=1e-6)
    assert found["certified"]["delta"] == pytest.approx(0.181269, abs=1e-6)


def test_at_risk_of_the_integer_mechanism(capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(
        capsys, "at-risk", "--epsilon0", "1", "--epsilon", "0.6", "--mechanism", "discrete-laplace"
    )
    assert found["exact"]["confidence"] == pytest.approx(0.268941, abs=1e-6)
    assert found["exact"]["confidence_two_sided"] == 0


def test_at_risk_finds_the_missing_one(capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(capsys, "at-risk", "--epsilon", "0.4", "--confidence", "0.6")
    assert found["published"]["epsilon0"] == pytest.approx(0.797323, abs=1e-6)


@pytest.mark.parametrize(
    "arguments",
    [
        ("--epsilon0", "1"),
        ("--epsilon0", "1", "--epsilon", "0.5", "--confidence", "0.5"),
        ("--epsilon0", "nan", "--epsilon", "0.5"),
        ("--epsilon0", "1", "--epsilon", "0"),
        ("--epsilon0", "1", "--epsilon", "-1"),
        ("--epsilon0", "inf", "--epsilon", "1"),
        ("--epsilon0", "1", "--confidence", "1.5"),
        ("--epsilon0", "1", "--epsilon", "0.5", "--dimensions", "0"),
    ],
)
def test_at_risk_refuses_in_words(capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]) -> None:
    refusal(capsys, "at-risk", *arguments)


def test_price_answers_in_every_form(capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(capsys, "price", "--people", "100", "--compensation", "5500", "--epsilon0", "0.5")
    assert found["published"]["budget"] == pytest.approx(74_434.41, abs=0.01)
    assert found["published"]["at_risk"]["epsilon"] == pytest.approx(0.274115, abs=1e-6)
    assert found["published"]["at_risk"]["budget"] == pytest.approx(37_805.86, abs=0.01)
    assert found["exact"]["at_risk"]["epsilon"] == pytest.approx(0.155622, abs=1e-6)
    assert found["exact_two_sided"]["at_risk"]["epsilon"] == pytest.approx(0.285839, abs=1e-6)
    assert found["expected"] == pytest.approx(63_894.00, abs=0.01)
    assert found["window"] is None


def test_price_gives_the_window_and_says_why_it_is_empty(capsys: pytest.CaptureFixture[str]) -> None:
    common = ("price", "--people", "100", "--compensation", "5500", "--epsilon0", "1")
    found = answer(capsys, *common, "--budget", "150000", "--max-error", "2")["window"]
    assert (found["lower"], found["upper"]) == (
        pytest.approx(0.180647, abs=1e-6),
        pytest.approx(0.723616, abs=1e-6),
    )
    assert not found["empty"]
    empty = answer(capsys, *common, "--budget", "100", "--max-error", "2")["window"]
    assert empty["empty"]
    assert empty["reason"] == "budget"


def test_the_catalogue_and_one_declaration(capsys: pytest.CaptureFixture[str]) -> None:
    ids = [one["id"] for one in answer(capsys, "methods")["methods"]]
    assert "statistics.counts" in ids
    for method_id in ids:
        declaration = answer(capsys, "methods", method_id)
        assert declaration["parameters"]
        assert all(parameter["label"] and parameter["help"] for parameter in declaration["parameters"])
    assert "statistics.counts" in refusal(capsys, "methods", "statistics.nothing")


def test_methods_say_what_they_promise_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["methods"]) == 0
    lines = capsys.readouterr().out.splitlines()[1:]
    assert len(lines) == len(catalogue.methods())
    assert not [line for line in lines if re.search(r"[a-z]_[a-z]", line.partition(" ")[2])]
    counts = next(line for line in lines if line.startswith("statistics.counts "))
    assert counts.endswith("Differential privacy, pure (ε); Differential privacy, approximate (ε, δ)")


def test_what_columns_mean_is_said_by_a_code_book_and_by_options(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    table, book, schema = (tmp_path / name for name in ("stays.csv", "book.csv", "schema.json"))
    table.write_text("sex,stay\n1,3\n2,4\n1,5\n")
    book.write_text("variable,description,unit\nstay,Nights in the ward,days\n")
    inspected = ("inspect", str(table), "--out", str(schema), "--code-book", str(book))
    answer(capsys, *inspected, "--labels", "sex=1 = woman; 2 = man", "--meaning", "sex=Sex at birth",
           "--unit", "stay=nights")  # fmt: skip
    sex, stay = json.loads(schema.read_text())["columns"]
    assert (sex["meaning"], sex["labels"]) == ("Sex at birth", {"1": "woman", "2": "man"})
    assert (stay["meaning"], stay["unit"]) == ("Nights in the ward", "nights")
    assert "has no column “sax”" in refusal(capsys, *inspected, "--unit", "sax=cm")
    assert "are no labels" in refusal(capsys, *inspected, "--labels", "sex=woman, man")


def test_from_a_file_to_a_verified_bundle(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    table, ledger = SAMPLE / "diabetes_encounters.csv", str(tmp_path / "ledger.sqlite")
    schema = tmp_path / "schema.json"
    answer(capsys, "inspect", str(table), "--out", str(schema))
    written = json.loads(schema.read_text())
    assert {"name", "role", "kind"} <= set(written["columns"][0])
    for column in written["columns"]:
        if column["name"] in ("gender", "readmitted"):
            column["domain_origin"] = "declared"
    schema.write_text(json.dumps(written))
    answer(
        capsys, "plan", "new", str(table), "--schema", str(schema), "--method", "statistics.counts",
        "--set", 'columns=["gender", "readmitted"]', "--epsilon", "1/2", "--holding", "Diabetes",
        "--holding-epsilon", "2", "--purpose", "title=By gender", "--out", str(tmp_path / "plan.json"),
    )  # fmt: skip
    checked = answer(capsys, "plan", "check", str(tmp_path / "plan.json"), "--ledger", ledger)
    assert checked["problems"] == []
    assert checked["promise"]["epsilon"] == "1/2"
    assert checked["promise"]["unit"] == "person"
    done = answer(
        capsys, "run", str(tmp_path / "plan.json"), "--out", str(tmp_path / "out"), "--ledger", ledger
    )
    assert (tmp_path / "out" / "release" / "counts.csv").is_file()
    assert answer(capsys, "verify", str(tmp_path / "out"), "--ledger", ledger)["passed"]
    listed = answer(capsys, "ledger", "--ledger", ledger)
    assert listed["holdings"][0]["spent"]["epsilon"] == "1/2"
    assert done["entry"] in json.dumps(listed)
    group_sizes = answer(capsys, "risk", str(table), "--schema", str(schema))["group_sizes"]
    assert group_sizes["people"] == 4259


def test_a_register_without_a_budget_gets_one_with_a_reason(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """One whose first release had no loss could spend nothing: only the window had a place for its budget."""
    ledger = str(tmp_path / "ledger.sqlite")
    Ledger(Path(ledger)).create_holding("Clinic", unit="person", neighbours="add_remove")
    change = ("ledger", "budget", "--ledger", ledger, "--register", "clinic")
    assert "--epsilon" in refusal(capsys, *change, "--reason", "decided in May")
    assert refusal(capsys, *change, "--epsilon", "2")  # why is wanted
    assert refusal(capsys, *change, "--epsilon", "two", "--reason", "decided in May")
    assert refusal(capsys, *change[:-1], "another", "--epsilon", "2", "--reason", "decided in May")
    (before,) = answer(capsys, "ledger", "--ledger", ledger)["holdings"]
    (now,) = answer(capsys, *change, "--epsilon", "2", "--reason", "decided in May")["holdings"]
    assert (before["budget"]["epsilon"], now["budget"]["epsilon"]) == (None, "2/1")
    (kept,) = answer(capsys, "ledger", "--ledger", ledger)["holdings"]
    assert kept == now


def test_a_copied_domain_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    table, schema = SAMPLE / "diabetes_encounters.csv", tmp_path / "schema.json"
    answer(capsys, "inspect", str(table), "--out", str(schema))
    written = json.loads(schema.read_text())
    for column in written["columns"]:
        if column["name"] == "race":
            column |= {"domain": {"values": ["Caucasian"]}, "domain_origin": "copied", "kind": "category"}
    schema.write_text(json.dumps(written))
    answer(
        capsys, "plan", "new", str(table), "--schema", str(schema), "--method", "statistics.counts",
        "--set", 'columns=["race"]', "--epsilon", "1", "--holding", "D", "--holding-epsilon", "2",
        "--out", str(tmp_path / "plan.json"),
    )  # fmt: skip
    said = refusal(
        capsys, "run", str(tmp_path / "plan.json"), "--out", str(tmp_path / "out"),
        "--ledger", str(tmp_path / "ledger.sqlite"),
    )  # fmt: skip
    assert "race" in said
    assert "copied" in said


@pytest.mark.parametrize(
    "arguments",
    [
        ("inspect", "nothing.csv"),
        ("risk", "nothing.csv", "--schema", "nothing.json"),
        ("run", "nothing.json", "--out", "out"),
        ("plan", "check", "nothing.json"),
        ("verify", "nowhere"),
        ("ledger", "--ledger", "nothing.sqlite"),
        ("verify", "nowhere", "--ledger", "nothing.sqlite"),
    ],
)
def test_what_is_not_there_is_said_in_one_line(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    arguments: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    before = list(tmp_path.iterdir())
    refusal(capsys, *arguments)
    assert list(tmp_path.iterdir()) == before


@pytest.mark.parametrize("epsilon", ["0", "-1", "nan", "inf", "1/0", "many"])
def test_a_budget_of_nothing_is_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, epsilon: str
) -> None:
    plan = json.loads((SAMPLE / "plan.json").read_text())
    plan["budget"]["epsilon"] = epsilon
    plan["files"]["people"]["path"] = str(SAMPLE / "diabetes_encounters.csv")
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    ledger = tmp_path / "ledger.sqlite"
    refusal(
        capsys, "run", str(tmp_path / "plan.json"), "--out", str(tmp_path / "out"), "--ledger", str(ledger)
    )
    assert not (tmp_path / "out").exists()


def sample(tmp_path: Path, *before: str) -> subprocess.CompletedProcess[str]:
    command = [
        *before, sys.executable, "-m", "engine", "run", str(SAMPLE / "plan.json"),
        "--out", str(tmp_path / "bundle"), "--ledger", str(tmp_path / "ledger.sqlite"),
    ]  # fmt: skip
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_the_sample_runs_without_any_network_interface(tmp_path: Path) -> None:
    if subprocess.run(["unshare", "-rn", "true"], capture_output=True, check=False).returncode != 0:
        assert not MUST_HAVE_TOOLS, "this machine cannot make a network namespace"
        pytest.skip("this machine cannot make a network namespace")
    done = sample(tmp_path, "unshare", "-rn")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "bundle" / "release" / "SHA256SUMS").is_file()


def test_a_run_loads_no_analysis(tmp_path: Path) -> None:
    code = (
        "import sys; from engine.__main__ import main;"
        f"assert main(['run', {str(SAMPLE / 'plan.json')!r}, '--out', {str(tmp_path / 'out')!r},"
        f" '--ledger', {str(tmp_path / 'ledger.sqlite')!r}, '--json']) == 0;"
        "print('\\n' + ' '.join(sorted(name for name in sys.modules if name.startswith('engine.'))))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = done.stdout.splitlines()[-1].split()
    assert {"engine.release.run", "engine.evaluation.evaluate", "engine.pricing.cost"} <= set(loaded)
    needless = ("engine.analyses", "engine.privacy.sampled_sensitivity", "engine.privacy.direct")
    needless += ("engine.risk.queries", "engine.risk.queries", "engine.risk.sampled_risk")
    assert [name for name in loaded if name.startswith(needless)] == []


def test_a_whole_run_opens_no_internet_socket(tmp_path: Path) -> None:
    if shutil.which("strace") is None:
        assert not MUST_HAVE_TOOLS, "strace is missing"
        pytest.skip("strace is missing")
    log = tmp_path / "trace"
    done = sample(tmp_path, "strace", "-f", "-qq", "-e", "trace=network", "-o", str(log))
    assert done.returncode == 0, done.stderr
    calls = log.read_text()
    assert "AF_INET" not in calls
    assert "connect(" not in calls


def test_the_trace_would_show_a_socket(tmp_path: Path) -> None:
    """The check above can fail: the same trace of a program that opens one does show it."""
    if shutil.which("strace") is None:
        assert not MUST_HAVE_TOOLS, "strace is missing"
        pytest.skip("strace is missing")
    log = tmp_path / "trace"
    code = "import socket; socket.socket(socket.AF_INET, socket.SOCK_STREAM).close()"
    command = ["strace", "-f", "-qq", "-e", "trace=network", "-o", str(log), sys.executable, "-c", code]
    subprocess.run(command, check=True)
    assert "AF_INET" in log.read_text()


def test_a_run_says_of_a_list_what_was_not_found(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    plan = json.loads((ROOT / "resources" / "sample" / "plan.json").read_text())
    plan["files"]["people"]["path"] = str(ROOT / "resources" / "sample" / "diabetes_encounters.csv")
    plan["preparation"] = [{"step": "drop_people", "file": "objected.csv"}]
    (tmp_path / "objected.csv").write_text("Zacharias,7\n")
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    given = ["run", str(tmp_path / "plan.json"), "--out", str(tmp_path / "out"), "--without-reason"]
    assert main([*given, "--ledger", str(tmp_path / "ledger.sqlite")]) == 0
    said = capsys.readouterr().out
    assert "1 entry of the list objected.csv" in said and "first of 2 columns" in said
    assert "Zacharias" not in said


def test_an_example_is_written_run_and_verified(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / "shown"
    answer(capsys, "example", "datasets.pseudonyms", "--out", str(out))
    assert answer(capsys, "plan", "check", str(out / "example.plan.json"))["problems"] == []
    ledger = str(out / "ledger.sqlite")
    assert answer(capsys, "verify", str(out / "example"), "--ledger", ledger)["passed"]
    assert "shown" in refusal(capsys, "example", "datasets.pseudonyms", "--out", str(out))


def test_stop_is_answered_while_the_words_are_still_coming_in(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(language: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("engine.__main__.make_parser", interrupted)
    assert main(["methods"]) == 2
    assert capsys.readouterr().err == "Stopped.\n"


@pytest.mark.parametrize(
    ("method", "change"),
    [
        ("datasets.classifier_noise", {"rho": "1e-999"}),
        ("datasets.presence", {"columns": ["no such column"]}),
    ],
)
def test_a_refused_plan_is_refused_in_its_own_words_only(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, method: str, change: dict
) -> None:
    tree = plans(catalogue.method(method))[0].to_json()
    tree["parameters"] |= change
    plan = tmp_path / "plan.json"
    plan.write_text(json.dumps(tree))
    found = answer(capsys, "plan", "check", str(plan), status=2)
    assert found["problems"] and all(one["what"] and one["do"] for one in found["problems"])


def test_links_that_lead_back_to_themselves_are_no_file(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "a.csv").symlink_to(tmp_path / "b.csv")
    (tmp_path / "b.csv").symlink_to(tmp_path / "a.csv")
    schema = tmp_path / "schema.json"
    schema.write_text('{"version": 1, "columns": []}')
    files = (str(tmp_path / "a.csv"), "--schema", str(schema))
    said = refusal(
        capsys, "plan", "new", "--method", "statistics.counts", *files, "--out", str(tmp_path / "plan.json")
    )
    assert "does not know" not in said


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_a_pipe_is_no_key(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "key")
    paths = ("--out", str(tmp_path / "out"), "--ledger", str(tmp_path / "ledger.sqlite"))
    said = refusal(capsys, "run", str(SAMPLE / "plan.json"), *paths, "--key", str(tmp_path / "key"))
    assert "key" in said


@pytest.mark.parametrize("encoding", ["rot13", "zlib_codec"])
def test_an_encoding_of_no_text_is_refused_in_words(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, encoding: str
) -> None:
    tree = json.loads((SAMPLE / "plan.json").read_text())
    tree["files"]["people"]["path"] = str(SAMPLE / "diabetes_encounters.csv")
    tree["files"]["people"]["options"]["encoding"] = encoding
    (tmp_path / "plan.json").write_text(json.dumps(tree))
    found = answer(capsys, "plan", "check", str(tmp_path / "plan.json"), status=2)
    assert [problem["code"] for problem in found["problems"]] == ["table.unknown_encoding"]
