"""Signatures: whoever forges one is found by the program, by the page and by Python alone."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from engine import ed25519, texts
from engine.__main__ import main
from engine.errors import InputRefused
from engine.ledger import Ledger
from engine.ledger.register import KeyChange
from engine.release import signature, signing
from engine.release.auditor import write_auditor
from engine.release.bundle import SUMS, write_sums
from engine.release.readme import describe_files
from engine.release.sheets import write_sheets
from engine.release.signature import SIGNATURE, dumps, fingerprint_of, in_groups, is_signed, message
from engine.release.verify import verify
from tests.engine.release.conftest import Runner, forge_sums

CERTIFIED = "SHA256SUMS.p7s"
L = 2**252 + 27742317777372353535851937790883648493
CHECKER: dict[str, Any] = {"__name__": "check_signature"}
exec((files("resources") / "readers" / "check_signature.py.txt").read_text(), CHECKER)


class Signed:
    """A release of a register whose key an earlier one named, and what an attacker has: another and a key."""

    def __init__(self, run: Runner, ledger: Ledger, folder: Path) -> None:
        run("first")
        (self.holding,) = ledger.holdings()
        self.known = signing.open_key(ledger, self.holding).fingerprint
        self.key = signing.renew(ledger, self.holding, reason="a new officer")
        self.release = run("bundle").folder / "release"
        self.other = run("other", seed=2).folder / "release"
        self.thief = signing.SigningKey(self.holding.id, os.urandom(32), "2026-01-01T00:00:00+00:00")
        self.tree = json.loads((self.release / SIGNATURE).read_bytes())

    def write(self, tree: Any) -> None:
        (self.release / SIGNATURE).write_bytes(dumps(tree))

    def resigned(self, **changes: Any) -> None:
        """Let the attacker sign what they like with their own key."""
        tree = {**self.tree, "key": self.thief.public, **changes}
        tree.pop("signature")
        self.write(tree | {"signature": self.thief.sign(message("bundle", tree))})


@pytest.fixture
def made(run: Runner, ledger: Ledger, folder: Path) -> Signed:
    return Signed(run, ledger, folder)


Forgery = Callable[[Signed], None]
FORGERIES: dict[str, Forgery] = {}


def forgery(function: Forgery) -> Forgery:
    FORGERIES[function.__name__] = function
    return function


def changed(name: str, value: Any) -> None:
    FORGERIES[f"{name}_is_{str(value)[:12]}"] = lambda made: made.write({**made.tree, name: value})


for one, other in {
    "version": 2,
    "register": "h0",
    "sums": "0" * 64,
    "head": {"sequence": 1, "hash": "0" * 64},
    "time": "2020-01-01T00:00:00+00:00",
    "key": "0" * 64,
    "earlier": [],
    "signature": "0" * 128,
}.items():
    changed(one, other)
changed("version", True)
changed("key", "01" + "00" * 31)
changed("key", "ed" + "ff" * 30 + "7f")
changed("signature", "")
changed("earlier", {})
changed("earlier", [{}])


@forgery
def s_beyond_the_order(made: Signed) -> None:
    found = bytes.fromhex(made.tree["signature"])
    larger = int.from_bytes(found[32:], "little") + L
    made.write({**made.tree, "signature": (found[:32] + larger.to_bytes(32, "little")).hex()})


@forgery
def capitals(made: Signed) -> None:
    made.write({**made.tree, "signature": made.tree["signature"].upper()})


@forgery
def another_order(made: Signed) -> None:
    made.write(dict(reversed(made.tree.items())))


@forgery
def a_member_more(made: Signed) -> None:
    made.write(made.tree | {"trusted": True})


@forgery
def a_member_less(made: Signed) -> None:
    made.write({name: value for name, value in made.tree.items() if name != "time"})


def written(change: Callable[[bytes], bytes]) -> Forgery:
    def forge(made: Signed) -> None:
        place = made.release / SIGNATURE
        place.write_bytes(change(place.read_bytes()))

    return forge


FORGERIES |= {
    "blanks": written(lambda content: content.replace(b": ", b":  ")),
    "no_last_line": written(bytes.rstrip),
    "line_ends": written(lambda content: content.replace(b"\n", b"\r\n")),
    "a_name_twice": written(lambda content: content.replace(b"{\n", b'{\n  "version": 1,\n', 1)),
    "a_mark_before": written(lambda content: b"\xef\xbb\xbf" + content),
    "a_whole_number_as_another": written(
        lambda content: content.replace(b'"version": 1,', b'"version": 1.0,')
    ),
    "nothing": written(lambda content: b""),
    "a_list": written(lambda content: b"[]\n"),
    "deep": written(lambda content: b"[" * 60_000),
    "not_utf_8": written(lambda content: b"\xff" + content),
}


@forgery
def stripped(made: Signed) -> None:
    (made.release / SIGNATURE).unlink()


@forgery
def of_another_release(made: Signed) -> None:
    shutil.copy(made.other / SIGNATURE, made.release / SIGNATURE)


@forgery
def with_another_key(made: Signed) -> None:
    made.resigned(earlier=[])


@forgery
def with_another_key_behind_the_known_ones(made: Signed) -> None:
    made.resigned()


def named_by(made: Signed, signed: str) -> None:
    line = {"key": made.key.public, "time": made.key.since, "signature": signed}
    made.resigned(earlier=[*made.tree["earlier"], line])


@forgery
def named_by_the_signature_of_a_bundle(made: Signed) -> None:
    named_by(made, made.tree["signature"])


@forgery
def named_by_a_revocation(made: Signed) -> None:
    named_by(made, made.key.revocation())


@forgery
def named_by_itself(made: Signed) -> None:
    said = signature.successor(made.holding.id, made.key.public, made.thief.public, made.key.since)
    named_by(made, made.thief.sign(said))


@forgery
def named_for_another_register(made: Signed) -> None:
    said = signature.successor("h1", made.key.public, made.thief.public, made.key.since)
    named_by(made, made.key.sign(said))


@forgery
def named_at_another_time(made: Signed) -> None:
    said = signature.successor(made.holding.id, made.key.public, made.thief.public, made.key.since)
    line = {"key": made.key.public, "time": "2020-01-01T00:00:00+00:00", "signature": made.key.sign(said)}
    made.resigned(earlier=[*made.tree["earlier"], line])


@forgery
def the_known_key_put_before_it(made: Signed) -> None:
    line = {"key": made.tree["earlier"][0]["key"], "time": made.key.since, "signature": "0" * 128}
    made.resigned(earlier=[line])


@forgery
def a_file_changed(made: Signed) -> None:
    place = made.release / "README.txt"
    place.write_bytes(place.read_bytes() + b"More.\n")


@forgery
def a_file_changed_with_its_sums(made: Signed) -> None:
    a_file_changed(made)
    write_sums(made.release)


@forgery
def a_file_changed_with_its_sums_and_a_signature_of_these(made: Signed) -> None:
    a_file_changed(made)
    made.resigned(sums=write_sums(made.release))


@forgery
def a_file_changed_and_no_signature(made: Signed) -> None:
    a_file_changed(made)
    forge_sums(made.release)


@pytest.fixture(scope="module")
def page(qapp: Any) -> Callable[[Path, str], bool]:
    """Say what verify.html says of a folder: whether it is signed with a key that somebody knows."""
    from tests.app.test_verify_page import array, opened_page, run

    engine = opened_page()

    def answer(folder: Path, known: str) -> bool:
        pairs = ",".join(
            f"[{json.dumps(path.name)}, {array(path.read_bytes())}]"
            for path in sorted(folder.iterdir())
            if path.name in ("README.txt", SUMS, SIGNATURE, CERTIFIED)
        )
        found = run(engine, f"compare(new Map([{pairs}]), {json.dumps(known)})")
        states = dict(found["rows"])
        is_right = states["README.txt"] == "same" and states.get(CERTIFIED, "beside") == "beside"
        return is_right and found["signature"][1] == "answer good"

    return answer


def everywhere(made: Signed, page: Callable[[Path, str], bool]) -> set[bool]:
    """Return what program, Python alone and page say to somebody who knows the first key."""
    problems = verify(made.release, fingerprints={made.known: "the sheet"}).problems
    return {not problems, not CHECKER["check"](str(made.release), made.known), page(made.release, made.known)}


@pytest.mark.parametrize(
    ("content", "is_one"),
    [
        (b"\x30\x03\x02\x01\x01", True),
        (b"\x30\x82\x01\x00" + bytes(256), True),
        (b"-----BEGIN PKCS7-----\nMAA=\n-----END PKCS7-----\n", True),
        (b"-----BEGIN CMS-----\nMAA=\n-----END CMS-----", True),
        (b"\x30\x03\x02\x01\x01patient;sex", False),
        (b"\x30\x85\x00\x00\x00\x00\x00", False),
        (b"\x30\x84\x00\x01\x00\x00" + bytes(65536), False),
        (b"-----BEGIN PKCS7-----\npatient;sex\n", False),
        (b"patient;sex\n1;f\n", False),
        (b"0", False),
        (b"", False),
    ],
)
def test_everywhere_a_signature_of_another_program_is_let_in_and_nothing_else_under_its_name(
    made: Signed, page: Callable[[Path, str], bool], content: bytes, is_one: bool
) -> None:
    (made.release / CERTIFIED).write_bytes(content)
    assert everywhere(made, page) == {is_one}


def test_python_alone_takes_a_fingerprint_however_it_was_written(made: Signed) -> None:
    checker = files("resources") / "readers" / "check_signature.py.txt"
    groups = in_groups(made.known).upper()
    for given in ([groups], groups.split(), [groups.replace(" ", "-")], [groups.replace(" ", ":")]):
        command = [sys.executable, str(checker), str(made.release), *given]
        said = subprocess.run(command, capture_output=True, text=True, check=False)
        assert said.stdout.startswith("Yes") and not said.returncode, (given, said)


def test_a_signature_is_genuine_everywhere_and_so_is_one_with_a_key_that_the_known_one_named(
    made: Signed, page: Callable[[Path, str], bool]
) -> None:
    assert everywhere(made, page) == {True}
    found = verify(made.release, fingerprints={made.known: "the sheet"})
    assert (found.known_as, found.known_by) == ("the sheet", made.known)
    assert found.signature is not None and found.signature.fingerprint == made.key.fingerprint
    nobody = verify(made.release)
    assert nobody.passed and not nobody.known_as and nobody.signature == found.signature


def test_there_are_thirty_forgeries() -> None:
    assert len(FORGERIES) >= 40


def test_no_forgery_is_believed(made: Signed, page: Callable[[Path, str], bool], tmp_path: Path) -> None:
    """All in one test: what takes long is the release."""
    believed = {}
    shutil.copytree(made.release, tmp_path / "kept")
    for name, forge in FORGERIES.items():
        shutil.rmtree(made.release)
        shutil.copytree(tmp_path / "kept", made.release)
        forge(made)
        if True in (found := everywhere(made, page)):
            believed[name] = found
    assert believed == {}


def test_without_a_known_key_a_forged_signature_is_none_and_a_ledger_names_the_right_key(
    made: Signed, ledger: Ledger
) -> None:
    assert verify(made.release.parent, ledger=ledger).known_as == "Register of stays"
    wanted = verify(made.release.parent, ledger=ledger, fingerprints={"0" * 40: "another sheet"})
    assert [one.code for one in wanted.problems] == ["bundle.signature_unknown"] and not wanted.known_as
    with_another_key(made)
    found = verify(made.release)
    assert found.passed and not found.known_as  # who knows no key cannot tell, and is told no name
    codes = [one.code for one in verify(made.release.parent, ledger=ledger).problems]
    assert codes == ["bundle.signature_unknown"]
    made.write({**made.tree, "time": "2020-01-01T00:00:00+00:00"})
    assert [one.code for one in verify(made.release).problems] == ["bundle.signature_wrong"]


@pytest.mark.guarantee
def test_a_ledger_says_that_a_signature_was_taken_away(made: Signed, ledger: Ledger) -> None:
    stripped(made)
    for place in (made.release, made.release.parent):
        assert verify(place).passed  # who has no ledger cannot tell it from an older release
        assert [one.code for one in verify(place, ledger=ledger).problems] == ["bundle.signature_gone"]
    assert verify(made.release.parent / "internal", ledger=ledger).passed  # which no signature is about


@pytest.mark.parametrize("y", sorted(ed25519._SMALL))
@pytest.mark.parametrize("sign", [0, 1])
def test_a_key_of_small_order_signs_nothing(y: int, sign: int) -> None:
    """Under such a key one signature is right for many messages."""
    key = (y | sign << 255).to_bytes(32, "little")
    for r in ed25519._SMALL:
        forged = r.to_bytes(32, "little") + bytes(32)
        for number in range(16):
            assert not is_signed(key.hex(), forged.hex(), b"%d" % number)
            assert not CHECKER["is_signed"](key, forged, b"%d" % number)


@pytest.mark.skipif(sys.platform == "win32", reason="links and pipes need rights of their own there")
@pytest.mark.parametrize("kind", ["folder", "link", "pipe", "nothing", "file", "odd name", "no time"])
def test_python_alone_says_in_a_sentence_what_is_no_release(kind: str, made: Signed, tmp_path: Path) -> None:
    place = made.release
    if kind == "folder":
        (place / "more").mkdir()
    elif kind == "link":
        (place / "more").symlink_to(place)
    elif kind == "pipe":
        os.mkfifo(place / "more")
    elif kind == "nothing":
        place = tmp_path / "nowhere"
    elif kind == "file":
        place = place / SIGNATURE
    elif kind == "odd name":
        place = tmp_path / "a\0b"
    else:  # a key that was named before, without the day
        del made.tree["earlier"][0]["time"]
        (place / SIGNATURE).write_bytes(CHECKER["text"](made.tree))
    wrong = CHECKER["check"](str(place), made.known)
    assert wrong.isascii() and len(wrong.split()) > 3


def test_python_alone_agrees_with_the_library() -> None:
    for number in range(8):
        key, said = Ed25519PrivateKey.generate(), bytes(number * 20)
        public, signed = key.public_key().public_bytes_raw(), key.sign(said)
        assert CHECKER["is_signed"](public, signed, said) and is_signed(public.hex(), signed.hex(), said)
        assert not CHECKER["is_signed"](public, signed, said + b" ")


def test_a_revoked_key_is_believed_with_the_ledger_alone(
    made: Signed, ledger: Ledger, tmp_path: Path
) -> None:
    code = made.key.revocation()
    (problem,) = verify(made.release, revocations=(code,)).problems
    assert problem.code == "bundle.signature_revoked" and all(texts.explain(problem))
    known = {made.known: "the sheet"}
    assert not verify(made.release, fingerprints=known, revocations=(code,)).passed
    assert verify(made.release.parent, ledger=ledger, revocations=(code,)).passed
    assert verify(made.release, revocations=(made.thief.revocation(), "0" * 128)).passed
    after = signing.renew(ledger, made.holding, reason="stolen", is_lost=True)
    assert after.earlier == ()


def test_a_key_is_its_owner_s_alone_and_opens_with_its_passphrase(
    run: Runner, ledger: Ledger, plan: Any
) -> None:
    run("first")
    (holding,) = ledger.holdings()
    place = signing.place(ledger, holding)
    if sys.platform != "win32":
        assert stat.S_IMODE(place.stat().st_mode) == 0o600
        assert stat.S_IMODE(place.parent.stat().st_mode) == 0o700
    key = signing.open_key(ledger, holding)
    assert repr(key.private) not in repr(key)
    signing.lock(ledger, holding, passphrase=None, new="four words and more")
    assert key.private.hex() not in place.read_text()
    assert signing.state(ledger, holding) == {"fingerprint": key.fingerprint, "there": True, "locked": True}
    for passphrase in (None, "three words"):
        with pytest.raises(InputRefused, match=r"signing\.passphrase"):
            signing.open_key(ledger, holding, passphrase)
    before = ledger.entries()
    with pytest.raises(InputRefused, match=r"signing\.passphrase"):
        run("second")
    assert ledger.entries() == before  # nothing was reserved
    assert signing.open_key(ledger, holding, "four words and more") == key


def test_a_key_that_a_killed_process_left_aside_does_not_stay_open_beside_a_locked_one(
    run: Runner, ledger: Ledger
) -> None:
    run("first")
    (holding,) = ledger.holdings()
    place = signing.place(ledger, holding)
    left = place.with_name(f".{place.name}.0123abcd")
    shutil.copy(place, left)
    being_written = place.with_name(f".{place.name}.ffffffff")
    being_written.touch()
    hours = time.time() - 3600
    os.utime(left, (hours, hours))
    signing.lock(ledger, holding, passphrase=None, new="four words and more")
    assert not left.exists() and being_written.exists()


def test_a_lost_or_changed_key_stops_the_release_and_no_other_is_made_in_silence(
    run: Runner, ledger: Ledger
) -> None:
    run("first")
    (holding,) = ledger.holdings()
    place = signing.place(ledger, holding)
    kept = place.read_bytes()
    other = signing.SigningKey(holding.id, os.urandom(32), "2026-01-01T00:00:00+00:00")
    wrong = {
        "signing.other": signing._content(other, None),
        "signing.damaged": kept.replace(json.loads(kept)["public"].encode(), b"0" * 64),
        "signing.lost": None,
    }
    for code, content in wrong.items():
        place.unlink() if content is None else place.write_bytes(content)
        with pytest.raises(InputRefused, match=code) as caught:
            run("second")
        assert all(texts.explain(caught.value))
    with pytest.raises(InputRefused, match=r"signing\.lost"):
        signing.renew(ledger, holding, reason="a new officer")
    made = signing.renew(ledger, holding, reason="the disk broke", is_lost=True)
    assert verify(run("second").folder, fingerprints={made.fingerprint: "sheet"}).passed
    assert not verify(
        run("third").folder, fingerprints={fingerprint_of(json.loads(kept)["public"]): ""}
    ).passed


def test_a_change_of_keys_that_broke_off_is_finished_or_undone(
    run: Runner, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("first")
    (holding,) = ledger.holdings()
    first = signing.open_key(ledger, holding)
    with monkeypatch.context() as patched:
        patched.setattr(KeyChange, "name", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            signing.renew(ledger, holding, reason="broke off before the ledger knew")
    assert signing.open_key(ledger, holding) == first
    named, replace = signing.NEXT, Path.replace
    with monkeypatch.context() as patched:
        patched.setattr(
            Path, "replace", lambda path, to: 1 / 0 if path.name.endswith(named) else replace(path, to)
        )
        with pytest.raises(ZeroDivisionError):
            signing.renew(ledger, holding, reason="broke off afterwards", is_lost=True)
    assert signing.open_key(ledger, holding) != first
    assert not list(signing.place(ledger, holding).parent.glob(f"*{named}"))


@pytest.mark.guarantee
@pytest.mark.parametrize("also", ["a release", "a renewal", "a lock", "a lost key"])
@pytest.mark.parametrize("moment", ["before the ledger knows", "after it"])
def test_whoever_comes_between_a_change_of_keys_leaves_a_key_that_the_ledger_names(
    also: str, moment: str, run: Runner, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another window works on the key at the moment at which the first has written, or named, its own."""
    run("first")
    (holding,) = ledger.holdings()
    other, passphrase = Ledger(ledger.path), "correct horse battery"
    comes: dict[str, Callable[[], object]] = {
        "a release": lambda: signing.open_key(other, holding),
        "a renewal": lambda: signing.renew(other, holding, reason="the other window"),
        "a lock": lambda: signing.lock(other, holding, passphrase=None, new=passphrase),
        "a lost key": lambda: signing.renew(other, holding, reason="the other window", is_lost=True),
    }
    told: list[str] = []
    is_after, settle, content = moment == "after it", signing._settle, signing._content

    def let_in() -> None:
        monkeypatch.undo()
        try:
            comes[also]()
        except InputRefused as error:
            told.append(error.code)

    calls = iter(range(9))

    def settles(*given: Any) -> None:  # a renewal calls it first, when it opens the key, and at its end
        if is_after and next(calls) == 2:
            let_in()
        settle(*given)

    def writes(*given: Any) -> bytes:
        made = content(*given)
        if not is_after:
            let_in()
        return made

    monkeypatch.setattr(signing, "_settle", settles)
    monkeypatch.setattr(signing, "_content", writes)
    try:
        signing.renew(ledger, holding, reason="the first window")
    except InputRefused as error:
        told.append(error.code)
    monkeypatch.undo()
    is_refused = not is_after and also != "a release"
    assert told == (["signing.meanwhile"] if is_refused else [])
    key = signing.open_key(ledger, holding, passphrase if also == "a lock" else None)
    prints = ledger.keys()[holding.id]
    assert key.fingerprint == prints[-1]
    assert len(set(prints)) == len(prints) == 1 + (not is_refused) + ("renew" in also or "lost" in also)
    assert not list(signing.place(ledger, holding).parent.glob(f"*{signing.NEXT}"))


@pytest.mark.with_reports
def test_the_sheets_hold_the_fingerprint_and_the_revocation_stays(
    run: Runner, ledger: Ledger, tmp_path: Path
) -> None:
    from pypdf import PdfReader

    run("first")
    (holding,) = ledger.holdings()
    key = signing.open_key(ledger, holding)
    paths = {path.name: path for path in write_sheets(key, holding.name, tmp_path / "sheets")}
    said = " ".join(page.extract_text() for page in PdfReader(paths["signing-key.pdf"]).pages)
    assert signature.in_groups(key.fingerprint) in " ".join(said.split()) and key.revocation() not in said
    kept = "".join(page.extract_text() for page in PdfReader(paths["revocation.pdf"]).pages)
    assert key.revocation() in "".join(kept.split())
    if sys.platform != "win32":
        assert stat.S_IMODE(paths["revocation.pdf"].stat().st_mode) == 0o600
    assert len(PdfReader(paths["signing-key.pdf"]).pages) == 1


@pytest.mark.parametrize("is_for_auditor", [False, True])
def test_what_no_signature_is_about_is_not_said_to_be_signed(
    is_for_auditor: bool, run: Runner, ledger: Ledger, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Reasons, risk and exact figures that somebody wrote anew fit their own sums: only the ledger tells."""
    bundle = run("first").folder
    known = signing.state(ledger, ledger.holdings()[0])["fingerprint"]
    if is_for_auditor:
        write_auditor(bundle, tmp_path / "auditor", ledger=ledger)
        bundle = tmp_path / "auditor"
    stays = bundle / ("auditor" if is_for_auditor else "internal")
    tree = json.loads((stays / "evidence.json").read_bytes())
    tree["internal"]["plan"]["decisions"] = [{"decision": "new_holding", "reason": "the board decided it"}]
    written = (json.dumps(tree, indent=2, ensure_ascii=False) + "\n").encode()
    listed = (stays / SUMS).read_text()
    for name, content in {**describe_files(written), "evidence.json": written}.items():
        before = hashlib.sha256((stays / name).read_bytes()).hexdigest()
        (stays / name).write_bytes(content)
        listed = listed.replace(before, hashlib.sha256(content).hexdigest())
    (stays / SUMS).write_text(listed)
    assert main(["verify", str(bundle), "--fingerprint", known]) == 0
    said = capsys.readouterr().out
    assert f"“{stays.name}” is not signed" in said and "The files are those" not in said
    assert main(["verify", str(bundle), "--fingerprint", known, "--ledger", str(ledger.path)]) == 1


def test_the_command_line_says_whose_key_it_is(
    run: Runner, ledger: Ledger, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    release = str(run("first").folder / "release")
    named = ["key", "Register of stays", "--ledger", str(ledger.path)]
    assert main([*named, "--json"]) == 0
    digits = json.loads(capsys.readouterr().out)["fingerprint"]
    assert main(["verify", release, "--fingerprint", f"the agreement={digits.upper()}"]) == 0
    said = capsys.readouterr().out
    assert "the key that you know as “the agreement”" in said and "trusted" not in said
    assert "those that were signed" in said and "was not checked" not in said
    assert main(["verify", release, "--fingerprint", "0" * 40]) == 1
    assert main(["verify", release, "--fingerprint", "0" * 39]) == 2
    assert main(["verify", release]) == 0
    assert signature.in_groups(digits) in capsys.readouterr().out
    (tmp_path / "words").write_text("four words and more\n")
    assert main([*named, "--lock", str(tmp_path / "words")]) == 0
    opens = ["--passphrase-file", str(tmp_path / "words")]
    assert main([*named, "--new", "a new officer"]) == 2
    assert main([*named, "--new", "a new officer", *opens]) == 0
    assert signing.open_key(ledger, ledger.holdings()[0], "four words and more").earlier
