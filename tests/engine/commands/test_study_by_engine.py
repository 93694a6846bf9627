"""The worked example in which a federated engine carries the files of a study, with a stand-in for it."""

from __future__ import annotations

import base64
import importlib.util
import json
import sys
import types
from pathlib import Path
from typing import Any

import pytest

from engine.__main__ import main
from engine.ledger import Ledger
from engine.methods.catalogue import method
from engine.release.examples import run_examples


@pytest.fixture
def algorithm(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return the example as vantage6 would import it, with a decorator that changes nothing."""
    tools = types.ModuleType("vantage6.algorithm.tools.decorators")
    tools.algorithm_client = lambda function: function  # type: ignore[attr-defined]
    for name in ("vantage6", "vantage6.algorithm", "vantage6.algorithm.tools"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    monkeypatch.setitem(sys.modules, tools.__name__, tools)
    path = Path(__file__).parents[3] / "packaging" / "recipes" / "vantage6_share.py"
    spec = importlib.util.spec_from_file_location("vantage6_share", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_node_sends_the_file_that_its_site_would_and_pays_once(
    algorithm: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (ran,) = run_examples(method("statistics.counts"), out=tmp_path / "example")
    tree = json.loads(ran.plan.dumps()) | {"holding_budget": None}
    cards = []
    for place, name in enumerate(("A", "B")):
        own = tmp_path / "example" / str(place)
        own.mkdir()
        files = {key: {**one, "path": f"../{one['path']}"} for key, one in tree["files"].items()}
        (own / "plan.json").write_text(json.dumps(tree | {"files": files, "holding": name}), encoding="utf-8")
        site = {"name": name, "plan": "plan.json", "ledger": "ledger.sqlite"}
        (own / "site.json").write_text(json.dumps(site), encoding="utf-8")
        cards.append(str(own / "card"))
        ledger = str(own / "ledger.sqlite")
        said = ("card", name, "--name", name, "--epsilon", "1", "--ledger", ledger, "--out", cards[-1])
        assert main(["study", *said]) == 0
    plan, study = str(tmp_path / "example" / "example.plan.json"), tmp_path / "study"
    centre = ("--register", "Centre", "--ledger", str(tmp_path / "centre.sqlite"), "--name", "Centre")
    assert main(["study", "new", plan, *cards, *centre, "--out", str(study)]) == 0
    monkeypatch.setenv("CUSTOS_SITES", str(tmp_path / "example"))
    monkeypatch.setattr(algorithm.subprocess, "run", called)
    node = types.SimpleNamespace(organization_id=1)
    told = [algorithm.share(node, study=study.read_text(encoding="utf-8")) for _ in range(2)]
    assert told[0] == told[1] and told[0]["name"] == "B"
    sent = (tmp_path / "example" / "1" / "share.custos-share").read_bytes()
    assert base64.b64decode(told[0]["share"], validate=True) == sent
    (register,) = Ledger(Path(ledger)).holdings()
    assert len(Ledger(Path(ledger)).entries(register.id)) == 1
    with pytest.raises(RuntimeError, match="no share was made"):
        algorithm.share(node, study="no study")


def called(command: list[str], **options: Any) -> Any:
    """Run a command here instead of in a process of its own."""
    assert command[0] == "custos" and not options["check"]
    return types.SimpleNamespace(returncode=main(command[1:]))
