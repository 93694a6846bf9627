"""Keys and pseudonyms: by the standard's own example, locked and opened, and without collisions."""

import base64
import hashlib
import hmac
import subprocess
import sys

import pytest

from engine.errors import InputRefused
from engine.privacy.keys import LETTERS, lock_key, new_key, pseudonyms, unlock_key
from engine.texts import explain


def test_a_pseudonym_is_the_beginning_of_the_standards_mac():
    # RFC 4231, test case 2
    mac = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    assert hmac.new(b"Jefe", b"what do ya want for nothing?", hashlib.sha256).hexdigest() == mac
    expected = base64.b32encode(bytes.fromhex(mac)).decode()[:LETTERS]
    assert pseudonyms(["what do ya want for nothing?"], key=b"Jefe") == [expected]


def test_two_keys_give_nothing_in_common():
    people = [str(number) for number in range(2000)]
    assert not set(pseudonyms(people, key=new_key())) & set(pseudonyms(people, key=new_key()))


@pytest.mark.slow
def test_a_million_people_have_a_million_pseudonyms():
    assert len(set(pseudonyms([str(number) for number in range(10**6)], key=new_key()))) == 10**6


@pytest.mark.parametrize("passphrase", [None, "correct horse"])
def test_a_key_comes_back(passphrase):
    key = new_key()
    content = lock_key(key, passphrase)
    assert unlock_key(content, passphrase) == key
    assert (key.hex() in content.decode()) == (passphrase is None)
    assert content != lock_key(key, "correct horse")


@pytest.mark.parametrize("passphrase", [None, "", "wrong"])
def test_another_passphrase_opens_nothing(passphrase):
    with pytest.raises(InputRefused) as caught:
        unlock_key(lock_key(new_key(), "right"), passphrase, file="key.json")
    assert caught.value.code == "keys.passphrase" and all(explain(caught.value))


@pytest.mark.parametrize(
    "content",
    [b"", b"{}", b"[]", b'{"locked": false}', b"\xff", b'{"locked": true, "salt": 1}',
     b'{"locked": false, "key": ""}', b'{"locked": false, "key": "00"}', lock_key(b"short", "x")],
)  # fmt: skip
def test_what_is_no_key_is_refused_in_words(content):
    with pytest.raises(InputRefused) as caught:
        unlock_key(content, "x", file="key.json")
    assert caught.value.code == "keys.damaged" and all(explain(caught.value))


def test_threads_that_lock_at_once_do_not_wait_for_each_other():
    """In a process of its own: where they do, it never ends."""
    script = """
from threading import Thread
from engine.privacy.keys import lock_key
threads = [Thread(target=lock_key, args=(bytes(range(32)), "correct horse"), daemon=True) for _ in range(3)]
for thread in threads: thread.start()
for thread in threads: thread.join(20)
raise SystemExit(any(thread.is_alive() for thread in threads))
"""
    assert subprocess.run([sys.executable, "-c", script], check=False, timeout=120).returncode == 0
