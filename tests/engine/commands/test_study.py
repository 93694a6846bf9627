"""A study from the command line, as three people at three computers make it."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from engine import policy, texts
from engine.__main__ import main
from engine.commands.telling import table_lines
from engine.errors import InputRefused
from engine.ledger import Ledger
from engine.methods.catalogue import method
from engine.privacy import keys
from engine.release.examples import plans, run_examples

SAMPLE = files("resources") / "sample" / "diabetes_encounters.csv"


def said(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    capsys.readouterr()
    assert main(["study", *words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def study_of_two(folder: Path, plan: Path, capsys: pytest.CaptureFixture[str], *of_cards: str) -> str:
    """Make cards of the registers A and B and a study of a plan with them; return where it lies."""
    for name in "AB":
        said(capsys, "card", name, "--name", name, "--out", str(folder / name), "--epsilon", "2", *of_cards,
             "--ledger", str(folder / f"{name}.sqlite"))  # fmt: skip
    said(capsys, "new", str(plan), str(folder / "A"), str(folder / "B"), "--register", "C", "--name", "C",
         "--out", str(folder / "study"), "--ledger", str(folder / "C.sqlite"))  # fmt: skip
    return str(folder / "study")


def share_of_a(folder: Path, capsys: pytest.CaptureFixture[str]) -> tuple[str, ...]:
    """Make the example of counts a study of two; return the words by which the register A shares in it."""
    (ran,) = run_examples(method("statistics.counts"), out=folder / "example")
    tree = json.loads(ran.plan.dumps()) | {"holding_budget": None, "holding": "A"}
    own = folder / "example" / "A.json"
    own.write_text(json.dumps(tree), encoding="utf-8")
    study = study_of_two(folder, folder / "example" / "example.plan.json", capsys)
    return ("share", study, "--plan", str(own), "--site", "A", "--ledger", str(folder / "A.sqlite"))


def test_two_sites_and_a_coordinator(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (ran,) = run_examples(method("statistics.counts"), out=tmp_path / "example")
    tree = json.loads(ran.plan.dumps()) | {"holding_budget": None}
    files = {name: str(tmp_path / name) for name in ("A.card", "B.card", "study", "A.share", "B.share")}
    ledgers = {name: ("--ledger", str(tmp_path / f"{name}.sqlite")) for name in "ABC"}
    plans = {}
    for name in "AB":
        card = said(
            capsys, "card", f"Register {name}", "--name", name, "--out", files[f"{name}.card"],
            "--epsilon", "2", *ledgers[name],
        )  # fmt: skip
        plans[name] = tmp_path / "example" / f"{name}.json"
        plans[name].write_text(json.dumps(tree | {"holding": f"Register {name}"}), encoding="utf-8")
        assert len(card["fingerprint"]) == 29
    plan = str(tmp_path / "example" / "example.plan.json")
    ways = {sites: said(capsys, "forecast", plan, "--sites", sites) for sites in ("2", "20")}
    assert [one["way"] for one in ways.values()] == ["two", "pays"]
    assert ways["20"]["errors"][0]["own"] > 3 * ways["20"]["errors"][0]["one"]
    study = said(
        capsys, "new", plan, files["A.card"], files["B.card"], "--register", "Centre", "--name", "Centre",
        "--out", files["study"], *ledgers["C"],
    )  # fmt: skip
    assert said(capsys, "show", files["study"])["id"] == study["id"]
    for name in "AB":
        of_site = (files["study"], "--plan", str(plans[name]), "--site", name, *ledgers[name])
        assert said(capsys, "try", *of_site)["numbers"] == study["numbers"]
        out = ("--out", str(tmp_path / f"out{name}"), "--send", files[f"{name}.share"])
        assert said(capsys, "share", *of_site, *out)["paid"]
    first = Path(files["A.share"]).read_bytes()
    again = said(capsys, "share", files["study"], "--plan", str(plans["A"]), "--site", "A", *ledgers["A"],
                 "--out", str(tmp_path / "outA"), "--send", files["A.share"])  # fmt: skip
    assert not again["paid"] and Path(files["A.share"]).read_bytes() == first
    result = ("--register", "Centre", "--out", str(tmp_path / "result"), *ledgers["C"])
    assert main(["study", "combine", files["study"], files["A.share"], *result]) == 2
    assert "B" in capsys.readouterr().err and not (tmp_path / "result").exists()
    told = said(capsys, "combine", files["study"], files["A.share"], files["B.share"], *result)
    assert told["sites"] == 2 and (tmp_path / "result" / "release" / "counts.csv").is_file()


@pytest.mark.guarantee
def test_where_what_stays_has_to_be_encrypted_a_site_can_share(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was told to name a passphrase, for which the command had no option."""
    monkeypatch.setattr(keys, "_ARGON2", {"iterations": 1, "lanes": 1, "memory_cost": 64})
    share, words = share_of_a(tmp_path, capsys), tmp_path / "words"
    words.write_text("a long passphrase\n")
    of_a = ("--ledger", str(tmp_path / "A.sqlite"))
    code = ("--set-up", str(tmp_path / "code"), "--passphrase-file", str(words))
    assert main(["seal", *code, *of_a]) == 0
    rules = tmp_path / "custos.toml"
    rules.write_text("sealed = true\n")
    monkeypatch.setattr(policy, "place", lambda: rules)
    sends = ("--out", str(tmp_path / "out"), "--send", str(tmp_path / "send"))
    assert main(["study", *share, *sends]) == 2 and not (tmp_path / "out").exists()
    assert "--seal-passphrase-file" in capsys.readouterr().err
    seals = (*share, *sends, "--seal-passphrase-file", str(words))
    assert said(capsys, *seals)["paid"]
    assert {one.name for one in (tmp_path / "out").iterdir()} == {"release", "internal.sealed"}
    first = (tmp_path / "send").read_bytes()
    assert not said(capsys, *seals)["paid"] and (tmp_path / "send").read_bytes() == first


def test_a_site_whose_card_is_of_another_register_pays_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (ran,) = run_examples(method("statistics.counts"), out=tmp_path / "example")
    plan = tmp_path / "example" / "plan.json"
    plan.write_text(json.dumps(json.loads(ran.plan.dumps()) | {"holding": "B", "holding_budget": None}))
    words = ("study", "share", study_of_two(tmp_path, plan, capsys), "--plan", str(plan), "--site", "A",
             "--out", str(tmp_path / "out"), "--send", str(tmp_path / "send"))  # fmt: skip
    assert main([*words, "--ledger", str(tmp_path / "B.sqlite")]) == 2
    assert not (tmp_path / "out").exists()
    capsys.readouterr()
    assert main(["ledger", "--ledger", str(tmp_path / "B.sqlite"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["holdings"][0]["spent"]["epsilon"] == "0/1"


def test_a_share_wants_the_reasons_that_a_release_wants(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Rows count as people although a declared column could tell whose they are: nobody passes over that."""
    (ran,) = run_examples(method("statistics.counts"), out=tmp_path / "example")
    tree = json.loads(ran.plan.dumps()) | {"holding_budget": None, "holding": "A"}
    schema = tree["schemas"]["people"]
    schema |= {"rows_per_person": 1, "one_row_each": True}
    for column in schema["columns"]:
        column |= {"role": "direct_identifier"} if column["role"] == "person_key" else {}
    plan = tmp_path / "example" / "plan.json"
    plan.write_text(json.dumps(tree))
    study = study_of_two(tmp_path, plan, capsys, "--unit", "row")
    words = ["share", study, "--plan", str(plan), "--site", "A",
             "--out", str(tmp_path / "out"), "--send", str(tmp_path / "send"),
             "--ledger", str(tmp_path / "A.sqlite")]  # fmt: skip
    assert main(["study", *words]) == 2
    assert "--reason one_row_each" in capsys.readouterr().err and not (tmp_path / "out").exists()
    said(capsys, *words, "--reason", "one_row_each=the first visit of everybody")
    assert "the first visit" in (tmp_path / "out" / "internal" / "evidence.json").read_text()


def test_three_sites_and_a_holder_of_masks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (ran,) = run_examples(method("statistics.counts"), out=tmp_path / "example")
    tree = json.loads(ran.plan.dumps()) | {"holding_budget": None}
    path, ledger = (
        lambda name: str(tmp_path / name),
        lambda name: ("--ledger", str(tmp_path / f"{name}.sqlite")),
    )
    for name in "ABCH":
        said(capsys, "card", name, "--name", name, "--out", path(name), "--epsilon", "2", *ledger(name))
    plan = str(tmp_path / "example" / "example.plan.json")
    study = said(
        capsys, "new", plan, path("A"), path("B"), path("C"), "--holder", path("H"), "--register", "Centre",
        "--name", "Centre", "--out", path("study"), *ledger("centre"),
    )  # fmt: skip
    assert (study["way"], study["least"], study["members"][-1]["part"]) == ("one", 2, "holder")
    shares = [path(f"{name}.share") for name in "ABC"]
    for name in "ABC":
        own = tmp_path / "example" / f"{name}.json"
        own.write_text(json.dumps(tree | {"holding": name}), encoding="utf-8")
        said(
            capsys, "share", path("study"), "--plan", str(own), "--site", name, "--out", path(f"out{name}"),
            "--send", path(f"{name}.share"), *ledger(name),
        )  # fmt: skip
    of_centre = ("--register", "Centre", *ledger("centre"))
    said(capsys, "roster", path("study"), *shares, *of_centre, "--out", path("roster"))
    said(
        capsys, "mask", path("study"), path("roster"), "--register", "H", *ledger("H"), "--out", path("mask")
    )
    result = ("combine", path("study"), *shares, *of_centre, "--out", path("result"))
    assert main(["study", *result]) == 2  # not without the masks
    told = said(capsys, *result, "--mask", path("mask"))
    counts = (tmp_path / "result" / "release" / "counts.csv").read_text(encoding="utf-8")
    assert told["sites"] == 3 and "Female" in counts


def test_two_sites_in_two_rounds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan = replace(plans(method("models.tree"))[0], holding_budget=None)
    assert plan.budget is not None
    plan = replace(
        plan,
        parameters={**plan.parameters, "depth": 1},
        budget=replace(plan.budget, delta=Fraction(0)),
        files={"people": replace(plan.files["people"], path=str(SAMPLE))},
    )
    whole = tmp_path / "plan.json"
    whole.write_text(plan.dumps(), encoding="utf-8")
    ledgers = {name: ("--ledger", str(tmp_path / f"{name}.sqlite")) for name in "ABC"}
    for name in "AB":
        own = tmp_path / f"{name}.json"
        own.write_text(replace(plan, holding=name).dumps(), encoding="utf-8")
        said(capsys, "card", name, "--name", name, "--out", str(tmp_path / f"{name}.card"), "--epsilon", "2",
             *ledgers[name])  # fmt: skip
    centre = ("--register", "Centre", *ledgers["C"])
    cards = [str(tmp_path / f"{name}.card") for name in "AB"]
    study = str(tmp_path / "study 1")
    told = said(capsys, "new", str(whole), *cards, "--name", "Centre", "--out", study, *centre)
    paid = told["epsilon"]
    for place in (1, 2):
        assert (told["round"], told["rounds"]) == (place, 2)
        shares = [str(tmp_path / f"{name}-{place}.share") for name in "AB"]
        for name, share in zip("AB", shares, strict=True):
            own, out = str(tmp_path / f"{name}.json"), str(tmp_path / f"out-{name}-{place}")
            said(capsys, "share", study, "--plan", own, "--site", name, *ledgers[name], "--out", out,
                 "--send", share, "--reason", "over_money=an example")  # fmt: skip
        if place == 2:
            break
        assert main(["study", "combine", study, *shares, "--out", str(tmp_path / "early"), *centre]) == 2
        assert "round 1 of 2" in capsys.readouterr().err and not (tmp_path / "early").exists()
        again = str(tmp_path / "study 2")
        told = said(capsys, "next", study, *shares, "--out", again, *centre)
        assert main(["study", "show", again]) == 0
        assert "This is round 2 of 2." in capsys.readouterr().out
        study = again
        paid += told["epsilon"]
    assert paid == pytest.approx(float(plan.budget.epsilon), rel=0.01)
    assert main(["study", "combine", study, str(tmp_path / "A-1.share"), shares[1], *centre,
                 "--out", str(tmp_path / "mixed")]) == 2  # fmt: skip
    assert "another round" in capsys.readouterr().err
    said(capsys, "combine", study, *shares, "--out", str(tmp_path / "result"), *centre)
    assert json.loads((tmp_path / "result" / "release" / "model.json").read_text())["questions"]


def test_what_came_of_invented_rows_says_so_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A bundle of a rehearsal verifies as any other: whoever is handed it has to read what it is."""
    (ran,) = run_examples(method("statistics.counts"), out=tmp_path / "example")
    tree = json.loads(ran.plan.dumps()) | {"holding_budget": None}
    plan, path = str(tmp_path / "example" / "example.plan.json"), lambda name: str(tmp_path / name)
    ledger = lambda name: ("--ledger", path(f"{name}.sqlite"))  # noqa: E731
    for name in "AB":
        said(capsys, "card", name, "--name", name, "--out", path(name), "--epsilon", "2", *ledger(name))
    centre = ("--register", "C", *ledger("C"))
    new = ("new", plan, path("A"), path("B"), "--name", "C", "--out", path("study"), "--rehearsal")
    assert said(capsys, *new, *centre)["rehearsal"]
    for name in "AB":
        own = tmp_path / "example" / f"{name}.json"
        own.write_text(json.dumps(tree | {"holding": name}), encoding="utf-8")
        said(capsys, "share", path("study"), "--plan", str(own), "--site", name, "--out", path(f"out{name}"),
             "--send", path(f"{name}.share"), *ledger(name))  # fmt: skip
    shares = (path("A.share"), path("B.share"))
    said(capsys, "combine", path("study"), *shares, *centre, "--out", path("result"))
    for bundle, of in (("result", "combine"), ("outA", "share")):
        sentence = texts.text(f"methods.exchanges.{of}.notes.rehearsal")
        report = (tmp_path / bundle / "release" / "report-external.html").read_text(encoding="utf-8")
        assert sentence in report


def test_no_title_of_a_coordinator_says_more_than_a_title(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What a study costs stands on the line of its title, and whose keys it has below."""
    (ran,) = run_examples(method("statistics.counts"), out=tmp_path / "example")
    tree = json.loads(ran.plan.dumps())
    tree["purpose"]["title"] = "Stays\n\nA  MZUH VLPY MK6X O3EP YGFY 5H4O  site\u202e"
    plan = tmp_path / "plan.json"
    plan.write_text(json.dumps(tree), encoding="utf-8")
    assert main(["study", "show", study_of_two(tmp_path, plan, capsys)]) == 0
    first, *others = capsys.readouterr().out.splitlines()
    assert "Stays A  MZUH VLPY".replace("  ", " ") in first and "0.5" in first
    assert not any("MZUH VLPY" in line for line in others)


def test_a_title_of_two_lines_is_no_row_of_a_table() -> None:
    rows = [("r1", "Stays\nr2  no release at all\u2028r3"), ("r4", "Ages")]
    assert len("\n".join(table_lines(("entry", "title"), rows)).splitlines()) == 1 + len(rows)


def test_the_share_is_that_of_the_bundle_that_was_paid(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two that release into one folder at once the second gets another one: it sends its own numbers."""
    from engine.release import run

    words = share_of_a(tmp_path, capsys)
    first, release = tmp_path / "out", run.run

    def second(plan: Any, *, out: Path, **others: Any) -> Any:
        monkeypatch.setattr(run, "run", release)
        said(capsys, *words, "--out", str(out), "--send", str(tmp_path / "first"))
        return release(plan, out=out.with_name("out-2"), **others)

    monkeypatch.setattr(run, "run", second)
    told = said(capsys, *words, "--out", str(first), "--send", str(tmp_path / "second"))
    assert told["bundle"] == str(tmp_path / "out-2")
    assert (tmp_path / "first").read_bytes() != (tmp_path / "second").read_bytes()


def test_a_share_whose_process_was_killed_is_entered_when_it_is_signed_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = (*share_of_a(tmp_path, capsys), "--out", str(tmp_path / "out"), "--send", str(tmp_path / "send"))

    def locked(*_: object, **__: object) -> None:
        raise InputRefused("ledger.locked")

    with monkeypatch.context() as held:
        held.setattr(Ledger, "complete", locked)
        assert main(["study", *words]) == 2
    assert (tmp_path / "out" / "release").is_dir() and not (tmp_path / "send").exists()
    monkeypatch.setattr("engine.ledger.entries.is_running", lambda _: False)  # the program is started again
    assert not said(capsys, *words)["paid"]
    assert main(["verify", str(tmp_path / "out"), "--ledger", str(tmp_path / "A.sqlite")]) == 0
