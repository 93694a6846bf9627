"""The page that checks a folder in any browser: its own SHA-256 and what it compares, run by Qt."""

from __future__ import annotations

import hashlib
import json
import random
import re
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from PySide6.QtQml import QJSEngine

from engine.release.readme import fingerprint, verify_page

STUB = """
var made = {addEventListener: null, getElementById: function (id) { return {}; }};
var document = made;
function TextDecoder() {}
TextDecoder.prototype.decode = function (bytes) {
  return Array.from(bytes, function (one) { return String.fromCharCode(one); }).join("");
};
"""


@pytest.fixture(scope="module")
def page() -> str:
    return verify_page().decode()


@pytest.fixture(scope="module")
def engine(qapp: Any) -> QJSEngine:
    return opened_page()


def opened_page() -> QJSEngine:
    """Return what the page computes with, without a browser."""
    page = verify_page().decode()
    (script,) = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    # Qt's engine knows no async functions; what they do is only to read files.
    script = re.sub(r"async function check\(.*?\n}\n", "", script, flags=re.DOTALL)
    found = QJSEngine()
    answer = found.evaluate(STUB + script)
    assert not answer.isError(), answer.toString()
    return found


def run(engine: QJSEngine, code: str) -> Any:
    answer = engine.evaluate(f"JSON.stringify({code})")
    assert not answer.isError(), answer.toString()
    return json.loads(answer.toString())


def array(content: bytes) -> str:
    return f"new Uint8Array({json.dumps(list(content))})"


def test_its_sums_are_those_of_sha_256(engine: QJSEngine) -> None:
    chance = random.Random(1)
    for length in (0, 1, 3, 55, 56, 57, 63, 64, 65, 119, 120, 128, 1000, 70_001):
        content = chance.randbytes(length)
        assert run(engine, f"sha256({array(content)})") == hashlib.sha256(content).hexdigest(), length


def test_its_signatures_are_those_of_ed25519(engine: QJSEngine) -> None:
    chance = random.Random(2)
    for length in (0, 111, 112, 239, 240):
        content = chance.randbytes(length)
        hexadecimal = f"Array.from(sha512({array(content)}))"
        assert bytes(run(engine, hexadecimal)) == hashlib.sha512(content).digest(), length
    key = Ed25519PrivateKey.generate()
    public, signed = key.public_key().public_bytes_raw(), bytearray(key.sign(b"said"))
    assert run(engine, f"isSigned({array(public)}, {array(signed)}, {array(b'said')})")
    assert not run(engine, f"isSigned({array(public)}, {array(signed)}, {array(b'Said')})")
    signed[40] ^= 1
    assert not run(engine, f"isSigned({array(public)}, {array(signed)}, {array(b'said')})")
    neutral = bytes([1, *bytes(31)])  # a key of small order, under which this is a signature of anything
    assert not run(engine, f"isSigned({array(neutral)}, {array(neutral + bytes(32))}, {array(b'said')})")


def compared(engine: QJSEngine, files: dict[str, bytes]) -> Any:
    pairs = ",".join(f"[{json.dumps(name)}, {array(content)}]" for name, content in files.items())
    return run(engine, f"compare(new Map([{pairs}]))")


def test_it_names_what_was_changed_added_or_taken_away(engine: QJSEngine) -> None:
    files = {"a.csv": b"a,b\n1,2\n", "README.txt": "für".encode(), "evidence.json": b"{}"}
    sums = "".join(f"{hashlib.sha256(c).hexdigest()}  {n}\n" for n, c in sorted(files.items())).encode()
    whole = {**files, "SHA256SUMS": sums}
    found = compared(engine, whole)
    assert {state for _, state in found["rows"]} == {"same"} and len(found["rows"]) == 3
    assert found["fingerprint"] == fingerprint(sums)
    odd = {**whole, "a.csv": b"a,b\n1,3\n", "more.csv": b""}
    del odd["evidence.json"]
    states = dict(compared(engine, odd)["rows"])
    assert states == {
        "a.csv": "changed",
        "more.csv": "unknown",
        "evidence.json": "missing",
        "README.txt": "same",
    }


def test_sums_that_are_none_are_said_to_be_so(engine: QJSEngine) -> None:
    assert "problem" in compared(engine, {"a.csv": b""})
    assert "problem" in compared(engine, {"SHA256SUMS": b"nonsense\n"})
    assert "problem" in compared(engine, {"SHA256SUMS": b"0" * 64 + b"  ../a\n"})


def test_it_fetches_nothing(page: str) -> None:
    assert "default-src 'none'" in page
    assert not re.search(r"https?:|src=|@import|fetch\(|XMLHttpRequest|WebSocket|url\(", page)
    assert "innerHTML" not in page
