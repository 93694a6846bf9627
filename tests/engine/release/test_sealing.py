"""What stays as one encrypted file: opened by either secret, changed by nobody, lost at no step."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import stat
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine import policy, texts
from engine.__main__ import main
from engine.errors import EngineError, InputRefused, VerificationFailed
from engine.ledger import Ledger
from engine.privacy import keys
from engine.release import sealing
from engine.release.bundle import INTERNAL, KEY, SEALED, Bundle
from engine.release.plan import Plan
from engine.release.sealing import Sealer, seal, set_up, unseal
from engine.release.verify import verify
from tests.engine.release.conftest import Runner, folder, ledger, made, plain, plan, run, typeset

__all__ = ["folder", "ledger", "made", "plain", "plan", "run", "typeset"]

WORDS = "a long passphrase"


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stretch passphrases less: how long that takes is not what is tried here."""
    monkeypatch.setattr(keys, "_ARGON2", {"iterations": 1, "lanes": 1, "memory_cost": 64})


@pytest.fixture
def codes() -> list[str]:
    return []


@pytest.fixture
def sealer(made: Bundle, codes: list[str]) -> Sealer:
    return set_up(Ledger(made.folder.parent / "ledger.sqlite"), WORDS, codes.append)


@pytest.fixture
def bundle(made: Bundle) -> Path:
    """A bundle with a folder of keys and a file of several pieces."""
    (made.folder / KEY).mkdir()
    (made.folder / KEY / "key.json").write_text("a key")
    (made.folder / INTERNAL / "deep").mkdir()
    (made.folder / INTERNAL / "deep" / "rows.bin").write_bytes(os.urandom(2 * sealing.PIECE + 17))
    (made.folder / INTERNAL / "deep" / "empty").touch()
    return made.folder


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for name in (INTERNAL, KEY)
        for path in sorted((folder / name).rglob("*"))
        if path.is_file()
    }


def test_either_secret_opens_it_and_nothing_is_readable_meanwhile(
    bundle: Path, sealer: Sealer, codes: list[str]
) -> None:
    before = contents(bundle)
    for secret in (WORDS, codes[0], codes[0].lower().replace("-", " ")):
        seal(bundle, sealer)
        assert sealing.is_sealed(bundle) and sorted(path.name for path in bundle.iterdir()) == [
            SEALED,
            "release",
        ]
        sealed = (bundle / SEALED).read_bytes()
        assert stat.S_IMODE((bundle / SEALED).stat().st_mode) == 0o600
        for secret_part in (
            b"a key",
            b"evidence",
            b"patient",
            before["internal/deep/rows.bin"][:32],
            sealer.key,
        ):
            assert secret_part not in sealed
        unseal(bundle, secret)
        assert contents(bundle) == before and not (bundle / SEALED).exists()
        assert stat.S_IMODE((bundle / INTERNAL).stat().st_mode) == 0o700
        assert {stat.S_IMODE(one.stat().st_mode) for one in bundle.rglob("internal/*") if one.is_file()} == {
            0o600
        }


def test_a_sealed_bundle_verifies_opens_elsewhere_and_verifies_again(made: Bundle, sealer: Sealer) -> None:
    ledger = Ledger(made.folder.parent / "ledger.sqlite")
    seal(made.folder, sealer)
    assert verify(made.folder, ledger=ledger).passed
    elsewhere = made.folder.parent / "elsewhere"
    shutil.copytree(made.folder, elsewhere)
    shutil.rmtree(made.folder.parent / "ledger.sqlite-keys")
    unseal(elsewhere, WORDS)
    assert verify(elsewhere, ledger=ledger).passed


def test_another_secret_opens_nothing(bundle: Path, sealer: Sealer) -> None:
    seal(bundle, sealer)
    sealed = (bundle / SEALED).read_bytes()
    for wrong in ("", "another passphrase", WORDS + " ", "A" * 32):
        with pytest.raises(InputRefused, match=r"sealing\.secret"):
            unseal(bundle, wrong)
    assert (bundle / SEALED).read_bytes() == sealed and not (bundle / INTERNAL).exists()


def _cut(content: bytes, at: int) -> bytes:
    return content[:at]


def _flip(content: bytes, at: int) -> bytes:
    return content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]


def _swap(content: bytes, at: int) -> bytes:
    piece = sealing.PIECE + 16
    begin = len(content) - 2 * piece - (len(content) - at) % piece
    first, second = content[begin : begin + piece], content[begin + piece : begin + 2 * piece]
    return content[:begin] + second + first + content[begin + 2 * piece :]


@pytest.mark.parametrize("secret", ["passphrase", "code"])
def test_what_stays_of_another_bundle_of_the_same_ledger_is_not_opened(
    secret: str, folder: Path, run: Runner, made: Bundle, sealer: Sealer, codes: list[str]
) -> None:
    """Both open with the same secret: what they hold says whose it is."""
    other, words = run("other").folder, WORDS if secret == "passphrase" else codes[0]
    bundles = (made.folder, other)
    before = [contents(bundle) for bundle in bundles]
    for bundle in bundles:
        seal(bundle, sealer)
    sealed = [(bundle / SEALED).read_bytes() for bundle in bundles]
    for bundle, content in zip(bundles, reversed(sealed), strict=True):
        (bundle / SEALED).write_bytes(content)
        with pytest.raises(InputRefused, match=r"sealing\.other_bundle") as refused:
            unseal(bundle, words)
        assert all(texts.explain(refused.value)) and contents(bundle) == {}
        assert (bundle / SEALED).read_bytes() == content
    shutil.rmtree(other / "release")  # handed over: nothing says then whose it is
    unseal(other, words)
    (made.folder / SEALED).write_bytes(sealed[0])
    unseal(made.folder, words)
    assert [contents(made.folder), contents(other)] == [before[0], before[0]]


def test_what_a_killed_opening_left_readable_is_taken_away_with_the_next_release(
    run: Runner, made: Bundle, sealer: Sealer
) -> None:
    seal(made.folder, sealer)
    for name in (".custos-opening-1234", ".custos-closing-5678"):
        (made.folder / name / INTERNAL).mkdir(parents=True)
        (made.folder / name / INTERNAL / "evidence.json").write_text("open")
    assert not sealing.is_sealed(made.folder)
    with sealing._alone(made.folder):  # somebody works there
        run("two")
        assert not sealing.is_sealed(made.folder)
    run("three")
    assert sealing.is_sealed(made.folder) and unseal(made.folder, WORDS).is_dir()


@pytest.mark.parametrize("change", [_cut, _flip, _swap], ids=["cut", "flipped", "swapped"])
@pytest.mark.parametrize("share", [0.0, 0.0001, 0.2, 0.5, 0.9, 0.999999])
def test_a_file_that_was_changed_is_not_opened(
    change: Callable[[bytes, int], bytes], share: float, bundle: Path, sealer: Sealer
) -> None:
    seal(bundle, sealer)
    sealed = (bundle / SEALED).read_bytes()
    changed = change(sealed, int(share * len(sealed)))
    assert changed != sealed
    (bundle / SEALED).write_bytes(changed)
    with pytest.raises(EngineError):
        unseal(bundle, WORDS)
    assert not (bundle / INTERNAL).exists() and (bundle / SEALED).read_bytes() == changed


def test_a_cut_at_the_end_of_a_piece_is_noticed(bundle: Path, sealer: Sealer) -> None:
    seal(bundle, sealer)
    sealed = (bundle / SEALED).read_bytes()
    head = len(sealing._head(bundle / SEALED)[1]) + len(sealing._MAGIC) + 4
    for pieces in (1, 2):
        (bundle / SEALED).write_bytes(sealed[: head + pieces * (sealing.PIECE + 16)])
        with pytest.raises(InputRefused, match=r"sealing\.damaged"):
            unseal(bundle, WORDS)


def test_the_head_of_another_file_does_not_fit(bundle: Path, sealer: Sealer) -> None:
    seal(bundle, sealer)
    sealed = (bundle / SEALED).read_bytes()
    tree, head = sealing._head(bundle / SEALED)
    other = json.dumps(tree | {"salt": "0" * 32}, separators=(",", ":")).encode()
    assert len(other) == len(head)
    (bundle / SEALED).write_bytes(sealed.replace(head, other))
    with pytest.raises(InputRefused, match=r"sealing\.damaged"):
        unseal(bundle, WORDS)


class Killed(BaseException):
    """The process ended here."""


STEPS: tuple[tuple[Any, str], ...] = (
    *((os, name) for name in ("fsync", "open")),
    *((Path, name) for name in ("replace", "rename", "unlink", "mkdir")),
    (shutil, "rmtree"),
)


def killed_at(number: int, patch: pytest.MonkeyPatch) -> None:
    """End the process in place of, or in the midst of, one of the calls that change the disk."""
    left = [number]

    def wrapped(call: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*args: Any, **kwargs: Any) -> Any:
            left[0] -= 1
            if left[0] == 0:
                if call is shutil_rmtree:  # it had removed a part
                    for path in [path for path in Path(args[0]).rglob("*") if path.is_file()][:1]:
                        os.truncate(path, 0)
                raise Killed
            if left[0] < 0:
                raise Killed
            return call(*args, **kwargs)

        return counted

    shutil_rmtree = shutil.rmtree
    for owner, name in STEPS:
        patch.setattr(owner, name, wrapped(getattr(owner, name)))


@pytest.mark.parametrize("what", ["seal", "unseal"])
@pytest.mark.parametrize("then", ["seal", "unseal"])
def test_a_kill_at_any_step_loses_nothing(what: str, then: str, bundle: Path, sealer: Sealer) -> None:
    before, kills = contents(bundle), 0
    start = bundle.with_name("start")
    if what == "unseal":
        seal(bundle, sealer)
    bundle.rename(start)
    for number in range(1, 200):
        shutil.copytree(start, bundle)
        try:
            with pytest.MonkeyPatch.context() as patch:
                killed_at(number, patch)
                seal(bundle, sealer) if what == "seal" else unseal(bundle, WORDS)
            break
        except Killed:
            kills += 1
        if then == "seal":
            seal(bundle, sealer)
            assert sealing.is_sealed(bundle)
        if (bundle / SEALED).exists():
            unseal(bundle, WORDS)
        else:  # it lies open already, or still
            with pytest.raises(InputRefused, match=r"sealing\.nothing"):
                unseal(bundle, WORDS)
        assert contents(bundle) == before, number
        assert sorted(path.name for path in bundle.iterdir()) == [INTERNAL, KEY, "release"], number
        shutil.rmtree(bundle)
    assert kills > 8


def forked(work: Callable[[], Any]) -> int:
    """Do something in a process of its own, and return its number."""
    child = os.fork()
    if child == 0:
        try:
            work()
        except InputRefused:
            os._exit(2)
        except BaseException:
            os._exit(3)
        os._exit(0)
    return child


def still_there(bundle: Path, sealer: Sealer) -> dict[str, bytes]:
    """Return what stays in whatever form it is there."""
    if (bundle / SEALED).exists():
        return dict(sealing._read_all(bundle / SEALED, sealer.key))
    return contents(bundle)


@pytest.mark.parametrize("what", ["seal", "unseal"])
@pytest.mark.parametrize("beside", ["seal", "unseal"])
def test_one_at_a_time_works_on_a_bundle(
    what: str, beside: str, bundle: Path, sealer: Sealer, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, calls = (
        contents(bundle),
        {"seal": lambda: seal(bundle, sealer), "unseal": lambda: unseal(bundle, WORDS)},
    )
    seal(bundle, sealer)
    sealed = (bundle / SEALED).read_bytes()
    if what == "seal":
        unseal(bundle, WORDS)
        if beside == "unseal":
            (bundle / SEALED).write_bytes(sealed)  # killed before it was removed
    busy: list[str] = []

    def beside_it(call: Callable[..., Any]) -> Callable[..., Any]:
        def step(*args: Any, **more: Any) -> Any:
            if not busy:
                busy.append("")
                with pytest.raises(InputRefused) as caught:
                    calls[beside]()
                busy[0] = caught.value.code
            return call(*args, **more)

        return step

    for name in ("_put", "_remove", "_flush"):
        monkeypatch.setattr(sealing, name, beside_it(getattr(sealing, name)))
    calls[what]()
    assert busy == ["sealing.busy"]
    assert still_there(bundle, sealer) == before
    assert not list(bundle.glob(".custos-*"))


def test_the_sealed_file_stays_where_what_was_opened_is_not_whole(
    bundle: Path, sealer: Sealer, monkeypatch: pytest.MonkeyPatch
) -> None:
    seal(bundle, sealer)
    sealed, flush = (bundle / SEALED).read_bytes(), sealing._flush

    def lose(folder: Path) -> None:
        flush(folder)
        (folder / INTERNAL / "deep" / "rows.bin").unlink()

    monkeypatch.setattr(sealing, "_flush", lose)
    with pytest.raises(InputRefused, match=r"sealing\.both"):
        unseal(bundle, WORDS)
    assert (bundle / SEALED).read_bytes() == sealed


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs forks")
def test_two_processes_and_real_kills_lose_nothing(bundle: Path, sealer: Sealer) -> None:
    before, chance, killed = contents(bundle), random.Random(5), 0
    calls = (lambda: seal(bundle, sealer), lambda: unseal(bundle, WORDS))
    for number in range(40):
        children = [forked(calls[number % 2]), forked(calls[number // 2 % 2])]
        time.sleep(chance.uniform(0, 0.03))
        os.kill(children[number % 3 % 2], signal.SIGKILL)
        ends = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
        assert set(ends) <= {0, 2, -signal.SIGKILL}, ends
        killed += -signal.SIGKILL in ends
        assert still_there(bundle, sealer) == before, number
    assert killed >= 5
    seal(bundle, sealer)
    assert sealing.is_sealed(bundle) and still_there(bundle, sealer) == before
    assert sorted(path.name for path in bundle.iterdir()) == [SEALED, "release"]


@pytest.mark.parametrize("name", [INTERNAL, KEY, SEALED])
def test_a_link_is_not_taken_for_what_stays(name: str, bundle: Path, sealer: Sealer) -> None:
    if name == SEALED:
        seal(bundle, sealer)
    elsewhere = bundle.with_name("elsewhere")
    (bundle / name).rename(elsewhere)
    (bundle / name).symlink_to(elsewhere)
    for call in (lambda: seal(bundle, sealer), lambda: unseal(bundle, WORDS)):
        with pytest.raises(EngineError, match=r"bundle\.not_a_file|sealing\.nothing"):
            call()
        assert (bundle / name).is_symlink() and elsewhere.exists()
    if name != SEALED:
        assert not (bundle / SEALED).exists() and not sealing.is_sealed(bundle)


def test_keys_that_lie_open_beside_a_sealed_file_are_removed(bundle: Path, sealer: Sealer) -> None:
    copy = bundle.with_name("copy")
    shutil.copytree(bundle / KEY, copy)
    seal(bundle, sealer)
    shutil.copytree(copy, bundle / KEY)
    assert not sealing.is_sealed(bundle)
    seal(bundle, sealer)
    assert sealing.is_sealed(bundle) and not (bundle / KEY).exists()


@pytest.mark.parametrize("names", [("passphrase",), ("code",), ("passphrase", "code")])
def test_a_lock_that_stands_open_is_no_lock(names: tuple[str, ...], bundle: Path, sealer: Sealer) -> None:
    known = bytes(range(32))
    lock = json.loads(keys.lock_key(known, None))
    locks = sealer.locks | dict.fromkeys(names, lock)
    ledger = Ledger(bundle.parent / "ledger.sqlite")
    place = policy.sealing_place(ledger.path)
    place.chmod(0o600)
    place.write_text(json.dumps({"version": 1, **locks}))
    for secret in ("whatever is typed", WORDS):
        with pytest.raises(InputRefused, match=r"sealing\.damaged"):
            sealing.opened(ledger, secret)
    seal(bundle, Sealer(known, locks))
    with pytest.raises(InputRefused, match=r"sealing\.damaged"):
        unseal(bundle, "whatever is typed")


def test_what_differs_and_what_would_be_lost_is_not_removed(bundle: Path, sealer: Sealer) -> None:
    target = bundle.with_name("target")
    target.write_text("elsewhere")
    (bundle / INTERNAL / "link").symlink_to(target)
    with pytest.raises(VerificationFailed, match=r"bundle\.not_a_file"):
        seal(bundle, sealer)
    (bundle / INTERNAL / "link").unlink()
    copy = bundle.with_name("copy")
    shutil.copytree(bundle / INTERNAL, copy)
    seal(bundle, sealer)
    shutil.copytree(copy, bundle / INTERNAL)
    (bundle / INTERNAL / "note.txt").write_text("written after it was sealed")
    for call in (lambda: seal(bundle, sealer), lambda: unseal(bundle, WORDS)):
        with pytest.raises(InputRefused, match=r"sealing\.both"):
            call()
    assert (bundle / INTERNAL / "note.txt").is_file() and (bundle / SEALED).is_file()


def test_the_recovery_code_is_for_its_owner_alone_and_replaces_nothing(made: Bundle) -> None:
    from app.work.releasing import seal_what_stays

    ledger, code = Ledger(made.folder.parent / "ledger.sqlite"), made.folder.with_name("code.txt")
    words = made.folder.with_name("words")
    words.write_text(f"{WORDS}\n")
    command = ["seal", "--passphrase-file", str(words), "--set-up", str(code), "--ledger", str(ledger.path)]
    code.write_text("something of mine")
    assert main(command) == 2
    with pytest.raises(InputRefused, match=r"sealing\.code_there"):
        seal_what_stays(made.folder, WORDS, code=code, ledger_path=ledger.path)
    assert code.read_text() == "something of mine" and not policy.sealing_place(ledger.path).exists()
    code.unlink()
    assert main(command) == 0
    assert stat.S_IMODE(code.stat().st_mode) == 0o600 and policy.sealing_place(ledger.path).exists()


def test_it_is_set_up_once_and_the_code_is_written_first(made: Bundle) -> None:
    ledger = Ledger(made.folder.parent / "ledger.sqlite")
    with pytest.raises(InputRefused, match=r"sealing\.not_set_up"):
        sealing.opened(ledger, WORDS)
    with pytest.raises(InputRefused, match=r"sealing\.short"):
        set_up(ledger, "short", lambda code: None)

    def full(code: str) -> None:
        raise OSError("no room")

    with pytest.raises(OSError, match="no room"):
        set_up(ledger, WORDS, full)
    assert not policy.sealing_place(ledger.path).exists()
    made_now = set_up(ledger, WORDS, lambda code: None)
    assert sealing.opened(ledger, WORDS).key == made_now.key
    assert made_now.key.hex() not in policy.sealing_place(ledger.path).read_text()
    assert repr(made_now.key) not in repr(made_now)
    with pytest.raises(InputRefused, match=r"sealing\.exists"):
        set_up(ledger, WORDS, lambda code: None)


def test_of_two_that_set_it_up_at_once_one_is_refused(tmp_path: Path, codes: list[str]) -> None:
    """Its key is nowhere: what was locked with it would be lost, the key by which people are known too."""
    book, first = Ledger(tmp_path / "ledger.sqlite"), list[Sealer]()
    with pytest.raises(InputRefused, match=r"sealing\.exists"):
        set_up(book, WORDS, lambda _: first.append(set_up(book, "another long passphrase", codes.append)))
    assert [sealing.opened(book, words) for words in ("another long passphrase", codes[0])] == 2 * first


def test_another_passphrase_opens_what_was_sealed_before_and_after(
    bundle: Path, sealer: Sealer, codes: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    book, new = Ledger(bundle.parent / "ledger.sqlite"), "another, longer passphrase"
    before = contents(bundle)
    files = {name: bundle.with_name(name) for name in ("old", "new")}
    for name, written in zip(files, (WORDS, new), strict=True):
        files[name].write_text(f"{written}\n")
    seal(bundle, sealer)
    change = ["seal", "--ledger", str(book.path), "--passphrase-file", str(files["old"])]
    assert main([*change, "--new-passphrase-file", str(files["new"])]) == 0
    assert "until it is opened and encrypted again" in capsys.readouterr().out
    with pytest.raises(InputRefused, match=r"sealing\.secret"):
        sealing.opened(book, WORDS)
    assert sealing.opened(book, new).key == sealing.opened(book, codes[0]).key == sealer.key

    # What was sealed before carries the earlier lock; with the ledger the new one opens it.
    with pytest.raises(InputRefused, match=r"sealing\.secret"):
        unseal(bundle, new)
    assert (
        main(["unseal", str(bundle), "--passphrase-file", str(files["new"]), "--ledger", str(book.path)]) == 0
    )
    assert contents(bundle) == before
    seal(bundle, sealing.opened(book, new))
    with pytest.raises(InputRefused, match=r"sealing\.secret"):
        unseal(bundle, WORDS, ledger=book)
    unseal(bundle, new)
    assert contents(bundle) == before


def test_a_change_of_the_passphrase_that_breaks_off_leaves_the_earlier_one(
    made: Bundle, sealer: Sealer, codes: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    book = Ledger(made.folder.parent / "ledger.sqlite")
    for secret, new, code in (
        (WORDS, "short", r"sealing\.short"),
        ("not it", "long enough", r"sealing\.secret"),
    ):
        with pytest.raises(InputRefused, match=code):
            sealing.change(book, secret, new)
    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", lambda *named: (_ for _ in ()).throw(OSError("no room")))
        with pytest.raises(InputRefused, match=r"signing\.not_writable"):
            sealing.change(book, WORDS, "long enough")
    assert sealing.opened(book, WORDS).key == sealer.key
    sealing.change(book, codes[0], "long enough")  # forgotten, and the code at hand
    assert sealing.opened(book, "long enough").key == sealing.opened(book, codes[0]).key == sealer.key
    assert stat.S_IMODE(policy.sealing_place(book.path).stat().st_mode) == 0o600


def test_a_release_whose_encrypting_fails_is_told_of_all_the_same(
    plan: Plan,
    ledger: Ledger,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def full(*args: object) -> None:
        raise OSError(28, "No space left on device")

    (folder / "plan.json").write_text(replace(plan).dumps())
    (folder / "words").write_text(f"{WORDS}\n")
    set_up(ledger, WORDS, lambda code: None)
    seals = [
        "--without-reason",
        "--seal-passphrase-file",
        str(folder / "words"),
        "--ledger",
        str(ledger.path),
    ]
    release = ["run", str(folder / "plan.json"), "--out", str(folder / "out"), *seals]
    with monkeypatch.context() as disk:
        disk.setattr(sealing, "_write", full)
        assert main(release) == 2
    said = capsys.readouterr().out
    assert "Released into" in said and "not encrypted yet" in said and "No space left" in said
    assert [entry.state for entry in ledger.entries()] == ["complete"]
    assert not sealing.is_sealed(folder / "out") and verify(folder / "out", ledger=ledger).passed
    opens = ["--passphrase-file", str(folder / "words"), "--ledger", str(ledger.path)]
    assert main(["seal", str(folder / "out"), *opens]) == 0 and sealing.is_sealed(folder / "out")


def test_a_rule_of_the_computer_wants_it_and_the_command_line_does_it(
    plan: Plan, ledger: Ledger, run: Runner, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = folder / "custos.toml"
    rules.write_text("sealed = true\n")
    monkeypatch.setattr(policy, "place", lambda: rules)
    with pytest.raises(InputRefused, match=r"policy\.sealed"):
        run()
    assert ledger.entries() == []
    (folder / "plan.json").write_text(replace(plan).dumps())
    (folder / "words").write_text(f"{WORDS}\n")
    at, opens = ["--ledger", str(ledger.path)], ["--passphrase-file", str(folder / "words")]
    out, code = folder / "out", folder / "code.txt"
    release = ["run", str(folder / "plan.json"), "--out", str(out), "--without-reason", *at]
    assert main(release) == 2
    assert main([*release, "--seal-passphrase-file", str(folder / "words")]) == 2, "not set up"
    assert main(["seal", *opens, "--set-up", str(code), *at]) == 0
    assert main([*release, "--seal-passphrase-file", str(folder / "words")]) == 0
    assert sealing.is_sealed(out) and verify(out, ledger=ledger).passed
    assert main(["unseal", str(out), "--passphrase-file", str(code)]) == 0
    assert not sealing.is_sealed(out) and verify(out, ledger=ledger).passed
    assert main(["seal", str(out), *opens, *at]) == 0 and sealing.is_sealed(out)
