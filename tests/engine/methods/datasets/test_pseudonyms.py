"""Pseudonyms: stable within a release, different in the next, the key inside and locked where wanted."""

import hashlib
import json
import shutil
from dataclasses import replace
from pathlib import Path
from unicodedata import normalize

import pandas as pd
import pytest

from engine import texts
from engine.__main__ import main
from engine.errors import InputRefused
from engine.evidence import read_internal
from engine.ledger import Ledger
from engine.methods.catalogue import method
from engine.methods.keeping import KEY_FILE
from engine.privacy.keys import FEWEST, lock_key, new_key, pseudonyms, unlock_key
from engine.release.examples import plans
from engine.release.pseudonyms import keeps_key, reidentify_person
from engine.release.run import run
from engine.release.verify import verify
from engine.table.schema import Column, Kind, Role, Schema

ID = "datasets.pseudonyms"
EXAMPLES = Path(__file__).parents[4] / "resources" / "examples"
SAMPLE = EXAMPLES.parent / "sample" / "diabetes_encounters.csv"


def release(tmp_path, name, passphrase=None, earlier_key=None, recipient=None, decisions=None, **parameters):
    plan = plans(method(ID))[0]
    plan = replace(plan, parameters={**plan.parameters, **parameters})
    if recipient is not None:
        plan = replace(plan, purpose=replace(plan.purpose, recipient=recipient))
    if decisions is not None:
        plan = replace(plan, **decisions)
    ledger = Ledger(tmp_path / "ledger.sqlite")
    secret = {"passphrase": passphrase, "earlier_key": earlier_key}
    run(plan, out=tmp_path / name, ledger=ledger, base=EXAMPLES, **secret)
    frame = pd.read_csv(tmp_path / name / "release" / "table.csv", dtype=str, keep_default_na=False)
    return frame, tmp_path / name


@pytest.mark.parametrize("passphrase", [None, "a long passphrase"])
def test_a_person_has_one_pseudonym_that_the_key_inside_gives(tmp_path, passphrase):
    frame, folder = release(tmp_path, "one", passphrase)
    original = pd.read_csv(SAMPLE, dtype=str, keep_default_na=False)
    assert len(frame) == len(original) and frame["pseudonym"].nunique() == original["patient_nbr"].nunique()
    key = unlock_key((folder / "key" / KEY_FILE).read_bytes(), passphrase)
    people = original["patient_nbr"].unique()
    stands_for = dict(zip(pseudonyms(list(people), key=key), people, strict=True))
    columns = ["age", "gender", "time_in_hospital", "diag_1", "readmitted"]
    back = frame.assign(patient_nbr=frame["pseudonym"].map(stands_for))[["patient_nbr", *columns]]
    assert sorted(map(tuple, back.to_numpy())) == sorted(
        map(tuple, original[["patient_nbr", *columns]].to_numpy())
    )
    assert back["patient_nbr"].tolist() != original["patient_nbr"].tolist()  # in another order


def test_nothing_joins_two_releases_and_no_key_leaves(tmp_path):
    first, one = release(tmp_path, "one", "secret words")
    second, two = release(tmp_path, "two")
    assert not set(first["pseudonym"]) & set(second["pseudonym"])
    for folder, passphrase in ((one, "secret words"), (two, None)):
        key = unlock_key((folder / "key" / KEY_FILE).read_bytes(), passphrase)
        inside = json.loads((folder / "key" / KEY_FILE).read_text())
        assert inside["locked"] is (passphrase is not None)
        for path in folder.rglob("*"):
            content = path.read_bytes() if path.is_file() else b""
            assert b"secret words" not in content
            if path.name != KEY_FILE:
                assert key not in content and key.hex().encode() not in content, path.name


def test_the_name_of_the_pseudonym_is_its_own():
    schema = Schema((Column("pid", Role.PERSON_KEY), Column("age", Role.IDENTIFYING, Kind.INTEGER)))
    found = method(ID)
    given = {"columns": ["age"], "pseudonym": "age"}
    problems = found(found.make_request({"people": schema}, given)).problems
    assert [problem.code for problem in problems] == [f"{ID}.name_taken"]


def test_releases_of_one_project_can_be_joined_by_the_earlier_key_alone(tmp_path):
    first, one = release(tmp_path, "one", "secret words")
    kept = (one / "key" / KEY_FILE).read_bytes()
    again, two = release(tmp_path, "two", "secret words", kept, key="earlier")
    assert set(first["pseudonym"]) == set(again["pseudonym"])
    assert (two / "key" / KEY_FILE).exists()
    dictionary = (two / "release" / "data-dictionary.json").read_text()
    assert "in the earlier ones" in dictionary and "in no other" not in dictionary


def registered(holding, reason=""):
    """Return what another register takes for people whom the first one knows, and a reason for the key."""
    why = [("new_holding", "another project"), *([("key_elsewhere", reason)] if reason else [])]
    taken = tuple({"decision": name, "reason": text} for name, text in why)
    return {"decisions": {"holding": holding, "decisions": taken}}


@pytest.mark.parametrize("other_ledger", [False, True])
def test_a_key_of_another_register_needs_a_reason_that_is_journalled(tmp_path, other_ledger):
    first, one = release(tmp_path, "one", "secret words")
    kept = (one / "key" / KEY_FILE).read_bytes()
    place = tmp_path / "elsewhere" if other_ledger else tmp_path
    place.mkdir(exist_ok=True)
    ledger = Ledger(place / "ledger.sqlite")
    before = len(ledger.entries())
    earlier = {"passphrase": "secret words", "earlier_key": kept, "key": "earlier"}
    with pytest.raises(InputRefused, match=r"keys\.not_of_register") as refused:
        release(place, "two", **earlier, **registered("Another register"))
    assert len(ledger.entries()) == before and all(texts.explain(refused.value))
    again, two = release(place, "two", **earlier, **registered("Another register", "one study"))
    assert set(first["pseudonym"]) == set(again["pseudonym"])
    said = [event["details"] for event in ledger.journal() if event["kind"] == "decision"]
    entry = ledger.entries()[-1].id
    assert [(one["decision"], one["reason"], one["entry"]) for one in said] == [
        ("key_elsewhere", "one study", entry)
    ]
    inside = (two / "internal" / "evidence.json").read_text()
    assert "one study" in inside and "one study" not in (two / "release" / "evidence.json").read_text()
    release(place, "three", **earlier, **registered("Another register"))  # it is known from now on


def test_a_key_goes_to_another_recipient_for_a_reason_alone(tmp_path):
    _, one = release(tmp_path, "one", recipient="University")
    earlier = {"earlier_key": (one / "key" / KEY_FILE).read_bytes(), "key": "earlier"}
    release(tmp_path, "two", recipient=" university ", **earlier)
    with pytest.raises(InputRefused, match=r"keys\.other_recipient") as refused:
        release(tmp_path, "three", recipient="Insurer", **earlier)
    assert "University" in texts.explain(refused.value)[0]
    why = {"decisions": {"decisions": ({"decision": "key_elsewhere", "reason": "one study"},)}}
    release(tmp_path, "three", recipient="Insurer", **earlier, **why)
    release(tmp_path, "four", recipient="Insurer", **earlier)


def test_a_key_from_before_keys_were_noted_goes_on_with_a_reason(tmp_path, monkeypatch):
    with monkeypatch.context() as earlier_version:
        earlier_version.setattr(Ledger, "keep_pseudonym_key", lambda *_: None)
        _, one = release(tmp_path, "one")
    earlier = {"earlier_key": (one / "key" / KEY_FILE).read_bytes(), "key": "earlier"}
    with pytest.raises(InputRefused, match=r"keys\.not_of_register"):
        release(tmp_path, "two", **earlier)
    why = {"decisions": {"decisions": ({"decision": "key_elsewhere", "reason": "made in spring"},)}}
    release(tmp_path, "two", **earlier, **why)
    release(tmp_path, "three", **earlier)


def test_the_ledger_keeps_no_key(tmp_path):
    _, one = release(tmp_path, "one")
    key = unlock_key((one / "key" / KEY_FILE).read_bytes(), None)
    written = (tmp_path / "ledger.sqlite").read_bytes()
    assert key not in written and key.hex().encode() not in written
    assert hashlib.sha256(key).hexdigest().encode() not in written


@pytest.mark.parametrize("key", [bytes(32), b"\xff" * 32, b"ab" * 16, bytes(range(8)) * 4, b"short"])
def test_a_key_that_nobody_drew_is_refused(key):
    for content in (lock_key(key, None), lock_key(key, "secret words")):
        with pytest.raises(InputRefused, match=r"keys\.damaged"):
            unlock_key(content, "secret words")
    assert all(len(set(new_key())) >= FEWEST for _ in range(1000))


@pytest.mark.parametrize(
    ("key", "given", "passphrase", "code"),
    [
        ("earlier", False, "secret words", "keys.none_given"),
        ("own", True, "secret words", "keys.not_wanted"),
        ("earlier", True, "other words", "keys.passphrase"),
        ("earlier", True, None, "keys.passphrase"),
    ],
)
def test_a_key_that_is_lost_or_stays_locked_is_said_before_anything_is_reserved(
    tmp_path, key, given, passphrase, code
):
    _, one = release(tmp_path, "one", "secret words")
    kept = (one / "key" / KEY_FILE).read_bytes() if given else None
    before = len(Ledger(tmp_path / "ledger.sqlite").journal())
    with pytest.raises(InputRefused, match=code):
        release(tmp_path, "two", passphrase, kept, key=key)
    assert len(Ledger(tmp_path / "ledger.sqlite").journal()) == before
    assert not (tmp_path / "two").exists()


def test_a_hash_without_a_key_is_refused_with_the_reason():
    schema = Schema((Column("pid", Role.PERSON_KEY), Column("age", Role.IDENTIFYING, Kind.INTEGER)))
    found = method(ID)
    problems = found(found.make_request({"people": schema}, {"columns": ["age"], "key": "none"})).problems
    assert [problem.code for problem in problems] == [f"{ID}.no_key"]
    assert "anybody can compute" in texts.explain(problems[0])[0]


def test_numbers_of_the_same_length_stand_for_numbers(tmp_path):
    frame, _ = release(tmp_path, "one", form="numbers")
    original = pd.read_csv(SAMPLE, dtype=str)["patient_nbr"].drop_duplicates()
    found = frame["pseudonym"].drop_duplicates()
    assert len(found) == len(original) and found.str.fullmatch("[0-9]+").all()
    lengths = original.str.len().clip(lower=6).value_counts()
    assert found.str.len().value_counts().to_dict() == lengths.to_dict()
    # Some are the number of another one by chance; hardly anybody's is their own
    assert frame["pseudonym"].tolist() != pd.read_csv(SAMPLE, dtype=str)["patient_nbr"].tolist()


@pytest.mark.parametrize("numbers", [["1234567", "54321a"], ["54321", "054321"], ["1" * 19]])
def test_what_is_no_number_is_refused_and_no_value_is_told(numbers):
    request = method(ID).make_request({}, {"form": "numbers"})
    with pytest.raises(InputRefused, match="no_numbers") as refused:
        method(ID)(request).stand_ins(numbers, key=bytes(32))
    assert not [number for number in numbers if number in " ".join(texts.explain(refused.value))]


def test_a_million_people_have_a_million_pseudonyms():
    numbers = [str(number) for number in range(10**6)]
    key = new_key()
    found = pseudonyms(numbers, key=key)
    assert len(set(found)) == 10**6 and pseudonyms(numbers[:9], key=key) == found[:9]


# --- who is behind a pseudonym --------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["letters", "numbers"])
def test_a_person_is_found_again_and_the_act_stays_in_the_ledger(tmp_path, form):
    frame, folder = release(tmp_path, "one", "secret words", form=form)
    ledger = Ledger(tmp_path / "ledger.sqlite")
    pseudonym = frame["pseudonym"][0]
    asked = {"table": SAMPLE, "pseudonym": pseudonym, "ledger": ledger}
    person = reidentify_person(
        folder, **asked, reason="a finding that needs treatment", passphrase="secret words"
    )
    rows = frame[frame["pseudonym"] == pseudonym]
    original = pd.read_csv(SAMPLE, dtype=str, keep_default_na=False)
    own = original[original["patient_nbr"] == person]
    assert sorted(rows["diag_1"]) == sorted(own["diag_1"]) and len(own)
    last = ledger.journal()[-1]
    assert last["kind"] == "decision" and last["details"]["decision"] == f"reidentified {pseudonym}"
    assert last["details"]["reason"] == "a finding that needs treatment"
    entry = json.loads((folder / "release" / "evidence.json").read_text())["ledger"]["entry"]
    assert last["details"]["entry"] == entry and person not in json.dumps(last)
    ledger.verify_chain()


def test_who_gives_no_reason_or_the_wrong_passphrase_learns_nothing(tmp_path):
    frame, folder = release(tmp_path, "one", "secret words")
    ledger = Ledger(tmp_path / "ledger.sqlite")
    asked = {"table": SAMPLE, "pseudonym": frame["pseudonym"][0], "ledger": ledger}
    before = len(ledger.journal())
    with pytest.raises(InputRefused, match="passphrase"):
        reidentify_person(folder, **asked, reason="treatment", passphrase="other words")
    with pytest.raises(InputRefused):
        reidentify_person(folder, **asked, reason=" ", passphrase="secret words")
    assert len(ledger.journal()) == before
    with pytest.raises(InputRefused, match="nobody"):
        reidentify_person(
            folder, **asked | {"pseudonym": "A" * 20}, reason="treatment", passphrase="secret words"
        )
    assert len(ledger.journal()) == before + 1  # that somebody looked is known all the same


def test_a_bundle_without_a_key_is_refused(tmp_path):
    ledger = Ledger(tmp_path / "ledger.sqlite")
    with pytest.raises(InputRefused, match="no_key"):
        reidentify_person(tmp_path, table=SAMPLE, pseudonym="A", reason="treatment", ledger=ledger)


def test_the_same_on_the_command_line(tmp_path, capsys):
    frame, folder = release(tmp_path, "one", "secret words")
    (tmp_path / "words").write_text("secret words\n")
    arguments = ["--table", str(SAMPLE), "--pseudonym", frame["pseudonym"][3], "--reason", "treatment"]
    arguments += ["--passphrase-file", str(tmp_path / "words"), "--ledger", str(tmp_path / "ledger.sqlite")]
    assert main(["reidentify", str(folder), *arguments]) == 0
    assert capsys.readouterr().out.strip() in set(pd.read_csv(SAMPLE, dtype=str)["patient_nbr"])


def edited(folder, change):
    """Return the problems that verifying finds in a copy that was changed, and in the folder itself none."""
    copy = folder.with_name(f"{folder.name}-copy")
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(folder, copy)
    change(copy)
    return [problem.code for problem in verify(copy).problems]


def test_the_key_lies_apart_and_is_verified_where_it_lies(tmp_path):
    _, folder = release(tmp_path, "one", "secret words")
    ledger = Ledger(tmp_path / "ledger.sqlite")
    assert verify(folder, ledger=ledger).passed
    assert {path.name for path in folder.iterdir()} == {"release", "internal", "key"}
    assert not (folder / "internal" / KEY_FILE).exists() and keeps_key(folder)
    key = folder / "key" / KEY_FILE
    assert edited(folder, lambda copy: shutil.rmtree(copy / "key")) == []  # kept elsewhere
    assert edited(folder, lambda copy: (copy / "key" / KEY_FILE).write_bytes(key.read_bytes() + b" ")) == [
        "bundle.changed"
    ]
    assert edited(folder, lambda copy: (copy / "key" / "more").write_text("x")) == ["bundle.not_recorded"]
    assert edited(folder, lambda copy: (copy / "key" / KEY_FILE).unlink()) == ["bundle.missing"]
    assert edited(folder, lambda copy: (copy / "key" / "folder").mkdir()) == ["bundle.not_a_file"]
    assert "bundle.not_recorded" in edited(folder, lambda copy: shutil.rmtree(copy / "internal"))
    shutil.copytree(folder / "release", tmp_path / "alone")
    (tmp_path / "alone" / "key").mkdir()
    assert not verify(tmp_path / "alone").passed


def test_a_key_folder_beside_a_release_that_keeps_none_is_noticed(tmp_path):
    plan = plans(method("statistics.counts"))[0]
    ledger = Ledger(tmp_path / "ledger.sqlite")
    made = run(plan, out=tmp_path / "counts", ledger=ledger, base=EXAMPLES)
    (made.folder / "key").mkdir()
    assert [problem.code for problem in verify(made.folder).problems] == ["bundle.not_recorded"]


@pytest.mark.parametrize(("passphrase", "locked"), [("secret words", True), (None, False)])
def test_the_papers_for_inside_say_where_the_key_is_and_whether_it_is_locked(tmp_path, passphrase, locked):
    _, folder = release(tmp_path, "one", passphrase)
    inside = json.loads((folder / "internal" / "evidence.json").read_text())["internal"]
    assert [(line["file"], line["locked"]) for line in inside["keys"]] == [(KEY_FILE, locked)]
    assert inside["files"] == []
    report = (folder / "internal" / "report-internal.html").read_text()
    assert "The key folder" in report and ("not locked" in report) is not locked
    assert "The key folder" not in (folder / "release" / "report-external.html").read_text()


def test_a_key_in_the_folder_of_an_earlier_version_still_opens(tmp_path):
    frame, folder = release(tmp_path, "one")
    (folder / "key" / KEY_FILE).rename(folder / "internal" / KEY_FILE)
    (folder / "key").rmdir()
    found = reidentify_person(
        folder,
        table=SAMPLE,
        pseudonym=frame["pseudonym"][0],
        reason="a finding",
        ledger=Ledger(tmp_path / "ledger.sqlite"),
    )
    assert found.isdigit()


def test_evidence_of_an_earlier_version_without_a_key_folder_is_read(tmp_path):
    _, folder = release(tmp_path, "one")
    tree = json.loads((folder / "internal" / "evidence.json").read_text())
    del tree["internal"]["keys"]
    assert read_internal(tree).keys == ()


def test_without_a_passphrase_the_command_line_asks_for_a_reason(tmp_path, capsys):
    plan = EXAMPLES / f"{ID}.json"
    arguments = ["run", str(plan), "--out", str(tmp_path / "one"), "--ledger", str(tmp_path / "l.sqlite")]
    assert main(arguments) == 2
    said = capsys.readouterr().err
    assert "key_unlocked" in said and not (tmp_path / "one").exists()
    words = tmp_path / "words"
    words.write_text("secret words\n")
    assert main([*arguments, "--passphrase-file", str(words)]) == 0
    arguments[3] = str(tmp_path / "two")
    assert main([*arguments, "--reason", "key_unlocked=The folder lies in a safe."]) == 0
    report = (tmp_path / "two" / "internal" / "report-internal.html").read_text()
    assert "The folder lies in a safe." in report


def test_a_key_with_letters_and_accents_apart_is_found_in_an_earlier_bundle(tmp_path):
    table, shown = tmp_path / "people.csv", [f"Ren\u00e9 {place}" for place in range(30)]
    rows = [f"{normalize('NFD', name)},{20 + place % 5}" for place, name in enumerate(shown)]
    table.write_text("\n".join(["patient_nbr,age", *rows]) + "\n", encoding="utf-8")
    _, folder = release(tmp_path, "one")
    key = unlock_key((folder / "key" / KEY_FILE).read_bytes(), None)
    plan = json.loads((folder / "internal" / "evidence.json").read_text())["internal"]["plan"]
    assert plan["method"] == ID
    for form in ("NFD", "NFC"):  # as it was computed before, and as it is now
        [pseudonym] = pseudonyms([normalize(form, shown[7])], key=key)
        asked = {"table": table, "pseudonym": pseudonym, "ledger": Ledger(tmp_path / "ledger.sqlite")}
        assert reidentify_person(folder, **asked, reason="a finding") == shown[7]
