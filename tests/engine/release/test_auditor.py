"""The auditor's bundle: verified as the whole one is, and with nothing in it that opens anything."""

from __future__ import annotations

import base64
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.bounded import sha256
from engine.errors import EngineError, InputRefused
from engine.ledger import Ledger
from engine.methods.catalogue import method
from engine.release.auditor import write_auditor
from engine.release.bundle import Bundle, write_sums
from engine.release.examples import run_examples
from engine.release.readme import describe_files
from engine.release.verify import _is_as_told, verify
from tests.engine.release.conftest import Runner


@pytest.fixture(scope="module")
def kept_apart(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a release that has a key, and its ledger."""
    out = tmp_path_factory.mktemp("pseudonyms") / "examples"
    run_examples(method("datasets.pseudonyms"), out=out)
    return out


def secrets_of(folder: Path, bundle: Path) -> dict[str, bytes]:
    """Return every secret of a ledger and of a bundle, as bytes."""
    ledger = Ledger(folder / "ledger.sqlite")
    found = {"ledger": ledger._key()}
    found |= {one.name: ledger.register_key(one.id) for one in ledger.holdings()}
    for path in [*(folder / "ledger.sqlite-keys").iterdir(), *bundle.glob("key/*")]:
        for name, value in texts_in(json.loads(path.read_text())):
            if name not in ("public", "register") and len(value) >= 32:
                found[f"{path.name}: {name}"] = value.encode()
                if re.fullmatch("([0-9a-f]{2})+", value):
                    found[f"{path.name}: {name} in bytes"] = bytes.fromhex(value)
    return found


def texts_in(tree: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Give every text of a tree with the name of its field."""
    if isinstance(tree, dict):
        for below, one in tree.items():
            yield from texts_in(one, below)
    elif isinstance(tree, list):
        for one in tree:
            yield from texts_in(one, name)
    elif isinstance(tree, str):
        yield name, tree


def forms(secret: bytes) -> set[bytes]:
    """Return what a secret looks like in a file."""
    ways = {secret, secret.hex().encode(), secret.hex().upper().encode()}
    return ways | {base64.b64encode(secret).rstrip(b"="), base64.urlsafe_b64encode(secret).rstrip(b"=")}


def found_in(out: Path, secrets: dict[str, bytes]) -> set[str]:
    """Return the names of the secrets that stand in a folder."""
    written = b"\n".join(path.read_bytes() for path in sorted(out.rglob("*")) if path.is_file())
    return {name for name, one in secrets.items() if any(form in written for form in forms(one))}


def test_no_key_is_in_it_and_verify_accepts_it(kept_apart: Path, tmp_path: Path) -> None:
    whole, ledger = kept_apart / "example", Ledger(kept_apart / "ledger.sqlite")
    secrets = secrets_of(kept_apart, whole)
    assert found_in(whole / "key", secrets)  # what is looked for can be found
    answer = write_auditor(whole, tmp_path / "audit", ledger=ledger)
    assert answer["withheld"] == ["key/pseudonym-key.json"]
    assert len(secrets) >= 6  # of the ledger, the register, its signing key and the pseudonyms
    assert not found_in(tmp_path / "audit", secrets)
    said = (tmp_path / "audit" / "AUDITOR.txt").read_text(encoding="utf-8")
    assert "key/pseudonym-key.json" in said
    assert re.search(r"[0-9a-f]{64}  register\.json", said)
    checked = verify(tmp_path / "audit", ledger=ledger)
    assert not checked.problems
    assert checked.compared
    assert verify(tmp_path / "audit").passed
    listed = json.loads((tmp_path / "audit" / "register.json").read_text(encoding="utf-8"))["holdings"]
    assert [one["name"] for one in listed] == ["Diabetes register (sample)"]


def test_a_state_stays_and_is_named(made: Bundle, ledger: Ledger, tmp_path: Path) -> None:
    """What the evidence lists besides papers is left out, and missing there on purpose."""
    evidence = made.folder / "internal" / "evidence.json"
    tree = json.loads(evidence.read_text(encoding="utf-8"))
    (made.folder / "internal" / "state").write_bytes(b"what the desk remembers")
    tree["internal"]["files"] = [{"file": "state", "sha256": sha256(made.folder / "internal" / "state")}]
    written = (json.dumps(tree, indent=2, ensure_ascii=False) + "\n").encode()
    evidence.write_bytes(written)
    for name, content in describe_files(written).items():
        (made.folder / "internal" / name).write_bytes(content)
    write_sums(made.folder / "internal")
    assert verify(made.folder).passed
    assert write_auditor(made.folder, tmp_path / "audit")["withheld"] == ["state"]
    assert not (tmp_path / "audit" / "auditor" / "state").exists()
    assert verify(tmp_path / "audit").passed
    (made.folder / "internal" / "state").unlink()
    assert not verify(made.folder).passed  # in the custodian's own folder it must not be missing


@pytest.mark.parametrize(
    "change",
    [
        lambda out: (out / "auditor" / "report-internal.pdf").unlink(),
        lambda out: (out / "auditor" / "evidence.json").write_text("{}"),
        lambda out: (out / "register.json").write_text("{}"),
        lambda out: (out / "register.json").unlink(),
        lambda out: (out / "AUDITOR.txt").unlink(),
        lambda out: (out / "key").mkdir(),
        lambda out: (out / "more.txt").write_text("more"),
        lambda out: (out / "auditor" / "more.txt").write_text("more"),
    ],
)
def test_what_was_changed_in_it_is_found(made: Bundle, ledger: Ledger, tmp_path: Path, change) -> None:
    write_auditor(made.folder, tmp_path / "audit", ledger=ledger)
    assert verify(tmp_path / "audit", ledger=ledger).passed
    change(tmp_path / "audit")
    assert verify(tmp_path / "audit", ledger=ledger).problems


def tell_otherwise(audit: Path, register: dict[str, Any]) -> None:
    """Write another register into an auditor's bundle, with its sum where the words name it."""
    (audit / "register.json").write_text(json.dumps(register))
    words = audit / "AUDITOR.txt"
    line = f"{sha256(audit / 'register.json')}  register.json"
    words.write_text(re.sub(r"[0-9a-f]{64}  register\.json", line, words.read_text(encoding="utf-8")))


def leaves_of(tree: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Give the place of every value of a tree that holds no others."""
    below = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    inside = [found for name, one in below for found in leaves_of(one, (*place, name))]
    yield from inside or [place]


def test_a_register_that_was_told_otherwise_is_found_by_the_ledger(
    made: Bundle, ledger: Ledger, tmp_path: Path, run: Runner
) -> None:
    audit = tmp_path / "audit"
    write_auditor(made.folder, audit, ledger=ledger)
    told = json.loads((audit / "register.json").read_text(encoding="utf-8"))
    run("later", seed=2)
    ledger.change_budget(ledger.holdings()[0].id, epsilon=50, reason="another year")
    assert verify(audit, ledger=ledger).passed  # what was true then stays so, whatever came later
    tried = 0
    for place in leaves_of(told):
        forged = json.loads(json.dumps(told))
        holder = forged
        for name in place[:-1]:
            holder = holder[name]
        holder[place[-1]] = f"{holder[place[-1]]}1"
        if place[-1] in ("written", "expired"):  # hang on the day of writing
            continue
        tried += 1
        tell_otherwise(audit, forged)
        assert not _is_as_told(audit / "register.json", made.entry, ledger), place
    assert tried > 40
    tell_otherwise(audit, told | {"holdings": []})
    (problem,) = verify(audit, ledger=ledger).problems
    assert (problem.code, problem.values["file"]) == ("bundle.entry_differs", "register.json")
    tell_otherwise(audit, told)
    assert verify(audit, ledger=ledger).passed


def test_a_release_alone_and_a_place_inside_are_refused(made: Bundle, tmp_path: Path) -> None:
    alone = tmp_path / "alone"
    shutil.copytree(made.folder / "release", alone / "release")
    with pytest.raises(InputRefused, match="no_bundle"):
        write_auditor(alone, tmp_path / "audit")
    with pytest.raises(InputRefused, match=r"bundle\.inside"):
        write_auditor(made.folder, made.folder / "release" / "audit")
    (made.folder / "release" / "README.txt").write_text("other")
    with pytest.raises(EngineError):
        write_auditor(made.folder, tmp_path / "audit")
    assert not (tmp_path / "audit").exists()
