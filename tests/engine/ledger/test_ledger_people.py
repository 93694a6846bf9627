"""Tables are recognised by content, people and columns; declaring one new needs a reason."""

from __future__ import annotations

import base64
import hashlib
import time
from fractions import Fraction

import numpy as np
import pytest

from engine import texts
from engine.errors import InputRefused, VerificationFailed
from engine.ledger import people


@pytest.fixture
def other(ledger, holding):
    return ledger.create_holding("Asthma register", unit="person", neighbours="add_remove", epsilon=1).id


def refused(code, action):
    with pytest.raises(InputRefused) as caught:
        action()
    assert caught.value.code == f"ledger.{code}"
    return caught.value.values, texts.explain(caught.value)


def siphash(key, text):
    """SipHash-2-4 by its definition (Aumasson and Bernstein 2012, section 2)."""
    full = (1 << 64) - 1

    def turn(word, bits):
        return (word << bits | word >> (64 - bits)) & full

    def rounds(count):
        nonlocal a, b, c, d
        for _ in range(count):
            a, c = (a + b) & full, (c + d) & full
            b, d = turn(b, 13) ^ a, turn(d, 16) ^ c
            a = turn(a, 32)
            c, a = (c + b) & full, (a + d) & full
            b, d = turn(b, 17) ^ c, turn(d, 21) ^ a
            c = turn(c, 32)

    low, high = (int.from_bytes(key[start : start + 8], "little") for start in (0, 8))
    a, b = low ^ 0x736F6D6570736575, high ^ 0x646F72616E646F6D
    c, d = low ^ 0x6C7967656E657261, high ^ 0x7465646279746573
    padded = text + bytes(7 - len(text) % 8) + bytes([len(text) % 256])
    for start in range(0, len(padded), 8):
        word = int.from_bytes(padded[start : start + 8], "little")
        d ^= word
        rounds(2)
        a ^= word
    c ^= 255
    rounds(4)
    return a ^ b ^ c ^ d


def mixed(value):
    """The finaliser of SplitMix64, which pandas adds."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        value = ((value ^ value >> shift) * factor) % (1 << 64)
    return value ^ value >> 31


def test_the_hash_is_the_published_one():
    assert siphash(bytes(range(16)), bytes(range(15))) == 0xA129CA6149BE45E5  # their appendix A


def test_digests_are_keyed_distinct_sorted_and_short(ledger):
    keys = [
        "ben",
        "anna",
        "ben",
        "é" * 40,
        "0",
        "1",
        "255",
        "256",
        "00256",
        "999999999",
        "1000000000",
        "-7",
        "7 ",
    ]
    found = ledger.person_digests(keys)
    secret = base64.b64encode(hashlib.sha256(b"person\0" + ledger._key()).digest()[:12])
    digits = {"0": 1, "1": 1, "255": 8, "256": 9, "00256": 9, "999999999": 30}
    by_hand = {mixed(siphash(secret, key.encode())) & ~31 | digits.get(key, 0) for key in keys}
    assert found.tolist() == sorted(by_hand)
    assert len(by_hand) == len(keys) - 1


def test_another_hash_than_the_ledgers_is_noticed(ledger, monkeypatch):
    """A library that hashed otherwise would make all known people unknown, without a word."""
    monkeypatch.setattr(people, "_PROBE_HASHES", (people._PROBE_HASHES[0], 1))
    with pytest.raises(VerificationFailed) as caught:
        ledger.person_digests(["anna"])
    assert caught.value.code == "ledger.other_hash"
    texts.explain(caught.value)


def test_an_unknown_table_matches_nothing(ledger, holding):
    assert ledger.match("print", ledger.person_digests(["anna"]), ["age"]) == []


def test_a_table_is_recognised_by_people_in_another_order_with_other_columns(ledger, holding):
    ledger.attach(holding, "print", ledger.person_digests(["anna", "ben", "carl"]), ["age", "sex"])
    (match,) = ledger.match("later", ledger.person_digests(["dora", "carl", "ben", "emil"]), ["height"])
    assert (match.holding.id, match.same_table, match.same_columns) == (holding, False, False)
    assert (match.people, match.people_shared, match.share) == (4, 2, Fraction(1, 2))


def test_a_table_is_recognised_by_columns_and_by_content(ledger, holding):
    ledger.attach(holding, "print", [], ["age", "sex"])
    (match,) = ledger.match("later", [], ["sex", "age"])
    assert (match.same_table, match.same_columns, match.share) == (False, True, 0)
    (match,) = ledger.match("print", [], ["other"])
    assert (match.same_table, match.same_columns) == (True, False)
    assert ledger.match("later", [], []) == []


def test_the_strongest_relation_comes_first(ledger, holding, other):
    digests = ledger.person_digests(["anna", "ben", "carl"])
    ledger.attach(holding, "a", digests[:1], ["age"])
    ledger.attach(other, "b", digests[1:], ["height"])
    assert [match.holding.id for match in ledger.match("c", digests, ["age"])] == [other, holding]
    assert [match.holding.id for match in ledger.match("a", digests, ["age"])] == [holding, other]


def test_people_of_all_tables_of_a_holding_are_remembered(ledger, holding):
    ledger.attach(holding, "january", ledger.person_digests(["anna", "ben"]), ["age"])
    ledger.attach(holding, "february", ledger.person_digests(["ben", "carl"]), ["age"])
    (match,) = ledger.match("march", ledger.person_digests(["anna", "ben", "carl"]), ["x"])
    assert match.people_shared == 3
    ledger.verify_chain()


def test_attaching_twice_changes_nothing(ledger, holding):
    digests = ledger.person_digests(["anna"])
    ledger.attach(holding, "print", digests, ["age"])
    before, tables = ledger.head(), ledger.to_json()["holdings"][0]["tables"]
    ledger.attach(holding, "print", digests, ["age"])
    assert ledger.to_json()["holdings"][0]["tables"] == tables
    assert ledger.head().sequence == before.sequence + 1  # as many events as a changed table leaves


def test_people_who_were_left_out_of_the_same_table_before_are_remembered(ledger, holding):
    ledger.attach(holding, "print", ledger.person_digests(["anna"]), ["age"])
    ledger.attach(holding, "print", ledger.person_digests(["anna", "ben"]), ["age"])
    (match,) = ledger.match("later", ledger.person_digests(["ben"]), ["x"])
    assert match.people_shared == 1


def test_the_head_cannot_be_computed_from_what_an_event_says(ledger, holding):
    ledger.decide("looked", "to see")
    first, second = ledger.journal()[-2:]
    assert len({first["random"], second["random"]}) == 2 and len(second["random"]) == 32


def test_an_input_has_another_name_in_every_release(ledger):
    names = {ledger.input_name("0" * 64, entry=entry) for entry in ("", "r1", "r2")}
    assert len(names) == 3
    assert ledger.input_name("0" * 64, entry="r1") in names


@pytest.mark.parametrize(
    "fingerprint, people, columns, code",
    [
        ("print", [], ["x"], "known_table"),
        ("later", ["anna"], ["x"], "known_people"),
        ("later", ["dora"], ["sex", "age"], "known_columns"),
    ],
)
def test_declaring_known_people_new_needs_a_reason_that_is_journalled(
    ledger, holding, other, fingerprint, people, columns, code
):
    ledger.attach(holding, "print", ledger.person_digests(["anna", "ben"]), ["age", "sex"])
    given = (fingerprint, ledger.person_digests(people), columns)
    values, (what, _) = refused(code, lambda: ledger.attach(other, *given))
    assert values["known"] == "Diabetes register"
    assert "Diabetes register" in what
    refused(code, lambda: ledger.attach(other, *given, reason="   "))
    assert ledger.to_json()["holdings"][0]["tables"] == []
    ledger.attach(other, *given, reason="Children of the same clinic; other people")
    event = ledger.journal()[-1]
    assert event["kind"] == "declared_new"
    assert event["changes"]["reason"].startswith("Children")
    assert ledger.to_json()["holdings"][0]["tables"][0]["reason"].startswith("Children")
    ledger.verify_chain()


def test_the_matching_holding_itself_needs_no_reason(ledger, holding, other):
    ledger.attach(holding, "print", ledger.person_digests(["anna"]), ["age"])
    ledger.attach(holding, "later", ledger.person_digests(["anna", "ben"]), ["age"])
    assert [event["kind"] for event in ledger.journal()[-2:]] == ["table_attached", "table_attached"]


@pytest.mark.parametrize("own, others", [(1, 1), (300, 200), (200, 300), (300, 1), (1, 300)])
def test_people_of_another_holding_need_a_reason_however_many_more_are_its_own(
    ledger, holding, other, own, others
):
    keys = {one: [f"{one} {n:06}" for n in range(300)] for one in ("diabetes", "asthma")}
    ledger.attach(holding, "first", ledger.person_digests(keys["diabetes"]), ["age"])
    ledger.attach(other, "second", ledger.person_digests(keys["asthma"]), ["stay"])
    mixed = ledger.person_digests([*keys["asthma"][:own], *keys["diabetes"][:others]])
    given = ("third", mixed, ["stay"])
    values, _ = refused("known_people", lambda: ledger.attach(other, *given))
    assert (values["known"], values["shared"]) == ("Diabetes register", others)
    assert values["people"] == own + others
    ledger.attach(other, *given, reason="In care for both")
    assert ledger.journal()[-1]["kind"] == "declared_new"
    ledger.attach(other, "fourth", mixed, ["stay"])  # it knows them all by now
    assert ledger.journal()[-1]["kind"] == "table_attached"


@pytest.mark.parametrize("keys", [[], ["anna", "ben"]])
@pytest.mark.parametrize("more", [12, 100])
def test_rows_of_another_holding_need_a_reason_beside_more_of_its_own(ledger, holding, other, keys, more):
    rows = np.sort(np.random.default_rng(3).integers(0, 2**63, 9000, dtype=np.uint64))
    named = ledger.person_digests(keys)
    ledger.attach(holding, "first", [], ["age"], rows=rows[0::3])
    ledger.attach(other, "second", named, ["stay"], rows=rows[1::3])
    mixed = np.sort(np.concatenate([rows[1::3], rows[0::3][:more]]))
    values, _ = refused("known_rows", lambda: ledger.attach(other, "third", named, ["stay"], rows=mixed))
    assert values["rows_shared"] == more
    own = np.sort(np.concatenate([rows[1::3], rows[2::3]]))
    ledger.attach(other, "fourth", named, ["stay"], rows=own)
    assert ledger.journal()[-1]["kind"] == "table_attached"


def test_people_of_another_holding_need_a_reason_where_a_sample_is_kept(ledger, holding, other, monkeypatch):
    monkeypatch.setattr(people, "_FEWEST_OF_MANY", 200)
    keys = {one: [f"{one} {n:06}" for n in range(4000)] for one in ("diabetes", "asthma")}

    def sample(listed):
        some = people.Gathered(most=800)
        some.add(ledger.person_digests(listed))
        return some.found()

    ledger.attach(holding, "first", sample(keys["diabetes"]), ["age"])
    ledger.attach(other, "second", sample(keys["asthma"]), ["stay"])
    mixed = [*keys["asthma"], *keys["diabetes"][:1000]]
    for listed in (sample(mixed), ledger.person_digests(mixed)):
        given = ("third", listed, ["stay"])
        refused("known_people", lambda given=given: ledger.attach(other, *given))
    ledger.attach(other, "fourth", ledger.person_digests(keys["asthma"]), ["stay"])
    assert ledger.journal()[-1]["kind"] == "table_attached"


@pytest.mark.parametrize("digests", [[b"short"], ["x" * 16], [7], [0.5], np.zeros((2, 2), np.uint64)])
def test_what_is_no_digest_is_refused(ledger, holding, digests):
    refused("bad_digest", lambda: ledger.attach(holding, "print", digests, ["age"]))


def test_a_table_without_fingerprint_is_refused(ledger, holding):
    refused("no_fingerprint", lambda: ledger.attach(holding, " ", [], ["age"]))


def test_no_person_key_is_in_the_file(ledger, holding, path):
    ledger.attach(holding, "print", ledger.person_digests(["anna-1971-hospital"]), ["age"])
    assert b"anna-1971" not in path.read_bytes()


@pytest.mark.slow
def test_a_million_people(ledger, holding, path, capsys):
    times = {}

    def timed(name, action):
        start = time.perf_counter()
        result = action()
        times[name] = time.perf_counter() - start
        return result

    million = 1_000_000
    digests = timed("digests", lambda: ledger.person_digests(str(number) for number in range(million)))
    later = ledger.person_digests(str(number) for number in range(million // 2, million + million // 2))
    timed("attach", lambda: ledger.attach(holding, "print", digests, ["age"]))
    (match,) = timed("match", lambda: ledger.match("later", later, ["age"]))
    assert match.share == Fraction(1, 2)
    timed("verify", ledger.verify_chain)
    with capsys.disabled():
        print({name: round(taken, 2) for name, taken in times.items()}, path.stat().st_size)
    assert path.stat().st_size < 80 * million  # at most 80 bytes a person
