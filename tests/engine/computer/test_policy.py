"""Rules of the computer forbid and never allow; what is not understood stops every release."""

from __future__ import annotations

import json
import os
import sys
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from engine import policy, texts
from engine.__main__ import main
from engine.computer import checks
from engine.computer.support import support
from engine.errors import InputRefused
from engine.ledger import Ledger, default_path
from engine.methods.protocol import Budget
from engine.privacy.promise import Neighbours
from engine.release import signing
from engine.release.check import check
from engine.release.plan import Plan
from engine.release.preview import preview
from tests.engine.release.conftest import Runner, folder, ledger, plan, run

__all__ = ["folder", "ledger", "plan", "run"]


@pytest.fixture
def rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "etc" / "custos.toml"
    path.parent.mkdir()
    monkeypatch.setattr(policy, "place", lambda: path)
    return path


def test_without_a_file_nothing_is_set_and_no_variable_of_a_user_leads_elsewhere(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    before = policy.place()
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_CONFIG_DIRS", "XDG_DATA_HOME", "ProgramData"):
        monkeypatch.setenv(name, str(tmp_path))
    assert policy.place() == before and before.is_absolute()


@pytest.mark.parametrize("written", ['"xx"', '"../de"', '""', "1", '["de"]', "true"])
def test_a_language_that_there_is_not_stops_everything(written: str, rules: Path) -> None:
    rules.write_text(f"language = {written}\n")
    with pytest.raises(InputRefused, match=r"policy\.wrong"):
        policy.policy()
    assert policy.language_set() == "", "and the reason is said in English"


def test_the_language_that_is_set_is_spoken_unless_a_line_names_one(
    rules: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rules.write_text('language = "de"\n')
    for more, said in (([], "Sprache für alle: de"), (["--language", "en"], "Everybody's language: de")):
        assert main(["policy", *more]) == 0
        assert said in capsys.readouterr().out


class Registry:
    """What the registry of Windows says of the folder of all users."""

    HKEY_LOCAL_MACHINE = "machine"

    def __init__(self, folder: str) -> None:
        self.values = {"SystemRoot": r"C:\WINDOWS", "ProgramData": folder}

    def OpenKey(self, root: str, key: str) -> AbstractContextManager[None]:
        assert root == self.HKEY_LOCAL_MACHINE and key.startswith("SOFTWARE")
        return nullcontext()

    def QueryValueEx(self, key: None, name: str) -> tuple[str, int]:
        return self.values[name], 2


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (r"%SystemDrive%\ProgramData", r"C:\ProgramData"),
        (r"%systemdrive%\ProgramData", r"C:\ProgramData"),
        (r"%SystemRoot%\Data", r"C:\WINDOWS\Data"),
        (r"D:\ProgramData", r"D:\ProgramData"),
    ],
)
def test_on_windows_the_registry_alone_says_where_the_rules_are(
    written: str, meant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("SystemDrive", "SYSTEMDRIVE", "systemdrive", "SystemRoot", "ProgramData"):
        monkeypatch.setenv(name, "Z:")
    monkeypatch.setitem(sys.modules, "winreg", Registry(written))
    monkeypatch.setattr(sys, "platform", "win32")
    assert policy.place() == Path(meant) / "Custos" / "custos.toml"
    monkeypatch.setitem(sys.modules, "winreg", Registry(r"%MINE%\ProgramData"))
    with pytest.raises(InputRefused, match=r"policy\.not_readable"):
        policy.policy()


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights of their own there")
@pytest.mark.parametrize(
    "kind", ["link", "loop", "folder", "pipe", "linked folder", "file as folder", "closed"]
)
def test_rules_that_cannot_be_looked_at_are_not_taken_for_none(
    kind: str, rules: Path, run: Runner, ledger: Ledger
) -> None:
    assert policy.policy() == policy.Policy()
    above = rules.parent
    if kind == "link":
        rules.symlink_to(above / "nowhere")
    elif kind == "loop":
        rules.symlink_to(rules)
    elif kind == "folder":
        rules.mkdir()
    elif kind == "pipe":
        os.mkfifo(rules)
    elif kind == "closed":
        if os.geteuid() == 0:
            pytest.skip("nothing is closed to the administrator")
        above.chmod(0)
    else:
        above.rmdir()
        if kind == "linked folder":
            above.symlink_to(above.parent / "nowhere")
        else:
            above.touch()
    try:
        with pytest.raises(InputRefused, match=r"policy\.not_readable"):
            run()
    finally:
        if kind == "closed":
            above.chmod(0o700)
    assert ledger.entries() == []


def test_neither_a_file_nor_its_folder_are_no_rules(rules: Path) -> None:
    rules.parent.rmdir()
    assert policy.policy() == policy.Policy()


def test_a_level_beyond_the_limit_is_refused_before_anything_is_spent(
    rules: Path, run: Runner, ledger: Ledger, plan: Plan, folder: Path
) -> None:
    rules.write_text('largest_epsilon = 0.1\ncontact = "it@hospital"\n')
    assert policy.policy().largest_epsilon == Fraction(1, 10)
    with pytest.raises(InputRefused, match=r"policy\.epsilon") as caught:
        run()
    assert ledger.entries() == []
    assert "it@hospital" in " ".join(texts.explain(caught.value))
    with pytest.raises(InputRefused, match=r"policy\.epsilon"):
        check(plan, base=folder)
    rules.write_text('largest_epsilon = "1/2"\n')
    run()
    rules.write_text("largest_epsilon = 1\n")
    run("second", seed=2)


@pytest.mark.parametrize(
    ("written", "code"),
    [
        ("largest_epsilon = ", "policy.not_readable"),
        ("\x00", "policy.not_readable"),
        ("contact = " + 9_000 * "[", "policy.not_readable"),
        ("largest_epsilon = true", "policy.wrong"),
        ("largest_epsilon = 0", "policy.wrong"),
        ("largest_epsilon = -1", "policy.wrong"),
        ("largest_epsilon = inf", "policy.wrong"),
        ("largest_epsilon = nan", "policy.wrong"),
        ('largest_epsilon = "much"', "policy.wrong"),
        ("largest_delta = 1", "policy.wrong"),
        ("largest_delta = -0.1", "policy.wrong"),
        ("largest_delta = false", "policy.wrong"),
        ("locked_keys = 1", "policy.wrong"),
        ('locked_keys = "no"', "policy.wrong"),
        ('registers = "relative/folder"', "policy.wrong"),
        ("registers = []", "policy.wrong"),
        ('two_persons_above = "1"', "policy.unknown"),
        ('encryption = "required"', "policy.unknown"),
        ("[more]\nlargest_epsilon = 1", "policy.unknown"),
    ],
)
def test_what_is_not_understood_stops_every_release(
    rules: Path, run: Runner, ledger: Ledger, written: str, code: str
) -> None:
    rules.write_text(written)
    with pytest.raises(InputRefused) as caught:
        run()
    assert caught.value.code == code and all(texts.explain(caught.value))
    assert ledger.entries() == []


def test_a_folder_for_all_ledgers_holds_that_of_whoever_names_none(
    rules: Path, run: Runner, ledger: Ledger, folder: Path
) -> None:
    rules.write_text(f'registers = "{(folder / "other").as_posix()}"\n')
    assert default_path() == folder / "other" / "ledger.sqlite"
    with pytest.raises(InputRefused, match=r"policy\.registers"):
        run()
    (folder / "other").mkdir()
    (folder / "other" / "up").symlink_to(folder)
    with pytest.raises(InputRefused, match=r"policy\.registers"):
        policy.refuse_place(folder / "other" / "up" / "ledger.sqlite")
    rules.write_text(f'registers = "{folder.as_posix()}"\n')
    run()


@pytest.mark.parametrize("is_known", [False, True])
def test_the_limit_is_about_what_the_register_counts(
    is_known: bool, rules: Path, run: Runner, ledger: Ledger, plan: Plan, folder: Path
) -> None:
    """A register of exchanges counts twice what a release that adds or leaves out a person states."""
    exchanged = Budget(Fraction(9), neighbours=Neighbours.REPLACE_ONE)
    if is_known:
        ledger.create_holding(plan.holding, unit="person", neighbours="replace_one", epsilon=9)
    rules.write_text('largest_epsilon = "1/2"\n')
    assert plan.budget == Budget(Fraction(1, 2))
    with pytest.raises(InputRefused, match=r"policy\.epsilon") as caught:
        run(holding_budget=exchanged)
    assert caught.value.values["epsilon"] == 1
    assert len(ledger.holdings()) == is_known and not ledger.entries()
    (problem,) = preview(replace(plan, holding_budget=exchanged), ledger, base=folder).problems
    assert problem.code == "policy.epsilon"
    run(holding_budget=exchanged, budget=Budget(Fraction(1, 4)))
    (entry,) = ledger.entries()
    assert entry.epsilon == Fraction(1, 2)


@pytest.mark.parametrize(("relation", "most"), [("add_remove", "1e-6"), ("replace_one", "3e-6")])
def test_the_limit_of_delta_is_about_what_the_register_counts(
    relation: str, most: str, rules: Path, run: Runner, ledger: Ledger, plan: Plan
) -> None:
    """Under exchange δ grows more than twofold."""
    spent = {
        "parameters": {**plan.parameters, "noise": "gaussian"},
        "budget": Budget(Fraction(1, 2), Fraction(1, 10**6)),
        "holding_budget": Budget(Fraction(9), Fraction(1, 10**4), Neighbours(relation)),
    }
    below = f"{Fraction(most) - Fraction(1, 10**6)}"
    rules.write_text(f'largest_delta = "{below}"\n' if relation == "replace_one" else "largest_delta = 0\n")
    with pytest.raises(InputRefused, match=r"policy\.delta") as caught:
        run(**spent)
    assert not ledger.entries() and all(texts.explain(caught.value))
    rules.write_text(f"largest_delta = {most}\n")
    run(**spent)
    assert Fraction(below) < ledger.entries()[0].delta <= Fraction(most)


def test_keys_have_to_be_locked_where_that_is_set(
    rules: Path, run: Runner, ledger: Ledger, plan: Plan
) -> None:
    rules.write_text("locked_keys = true\n")
    with pytest.raises(InputRefused, match=r"policy\.locked_keys"):
        run()
    assert ledger.entries() == []
    (holding,) = ledger.holdings()
    signing.lock(ledger, holding, passphrase=None, new="four words and more")
    with pytest.raises(InputRefused, match=r"signing\.passphrase"):
        run()
    with pytest.raises(InputRefused, match=r"policy\.locked_keys"):
        policy.refuse_open_key(is_locked=False)
    for opened in ("", None):  # nor is a locked one opened for good
        with pytest.raises(InputRefused, match=r"policy\.locked_keys"):
            signing.lock(ledger, holding, passphrase="four words and more", new=opened)
    with pytest.raises(InputRefused, match=r"policy\.locked_keys"):
        signing.renew(ledger, holding, reason="another", is_lost=True)
    assert signing.state(ledger, holding)["locked"]


def test_only_bounded_losses_leave_where_that_is_set(rules: Path) -> None:
    policy.refuse_level(None)
    rules.write_text("bounded_loss = true\n")
    with pytest.raises(InputRefused, match=r"policy\.bounded"):
        policy.refuse_level(None)
    policy.refuse_level(Fraction(10))


def test_the_sample_is_no_release_of_anybody_and_the_rules_are_not_for_it(rules: Path) -> None:
    """Else the strictest computer could not be checked."""
    rules.write_text('registers = "/nowhere"\nlargest_epsilon = 0.001\nlocked_keys = true\nreasons = true\n')
    assert checks.sample().state == checks.RIGHT
    with pytest.raises(InputRefused, match=r"policy\.epsilon"):
        policy.refuse_level(Fraction(1))


def test_the_command_says_what_is_set(rules: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["policy"]) == 0
    assert texts.text("policy.none") in capsys.readouterr().out
    rules.write_text(
        "largest_epsilon = 0.5\nlargest_delta = 0\nreasons = true\nbounded_loss = true\nlocked_keys = true\n"
    )
    assert main(["policy", "--json"]) == 0
    named = policy.policy().named()
    assert json.loads(capsys.readouterr().out)["set"] == named and named["largest_delta"] == "0"
    assert main(["policy"]) == 0
    said = capsys.readouterr().out
    for name, value in policy.policy().named().items():
        assert texts.text(f"policy.names.{name}", value=value) in said
    rules.write_text("x = 1\n")
    assert main(["policy"]) == 2


def test_a_support_file_holds_no_name_and_no_cell(
    run: Runner, ledger: Ledger, monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    run()
    empty = checks.Report("2026-01-01T00:00:00+00:00", {"name": "Custos"}, "Linux", ())
    monkeypatch.setattr("engine.computer.support.check_computer", lambda **_: empty)
    written = support(ledger=ledger.path)
    tree = json.loads(written)
    assert tree["ledger"]["complete"] == 1 and tree["ledger"]["registers"] == 1
    for secret in ("Register of stays", "Stays by", "University", "stays.csv", str(folder), "P1", "north"):
        assert secret.encode() not in written
