"""A change after which a release that is being made could not be closed waits until it is over."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from engine.errors import EngineError, InputRefused, VerificationFailed
from engine.ledger import Ledger, is_there, staff
from engine.policy import keys_folder
from engine.release import sealing, seconded

pytestmark = pytest.mark.guarantee

WORDS = "a long passphrase"


def encrypt(ledger: Ledger) -> None:
    place = sealing.sealing_place(ledger.path)
    is_known = place.is_file()
    sealer = sealing.opened(ledger, WORDS) if is_known else sealing.set_up(ledger, WORDS, lambda code: None)
    sealer.encrypt(ledger)


def name_first(ledger: Ledger) -> None:
    (register,) = ledger.holdings()
    seconded.name_person(ledger, register, name="Ada", role="approve", passphrase=WORDS)
    staff.sign_out(ledger.path, register.id)


@pytest.mark.guarantee
@pytest.mark.parametrize("change", [encrypt, name_first])
@pytest.mark.parametrize("state", ["reserved", "spent"])
def test_a_change_waits_for_the_release_that_could_not_be_closed_after_it(
    ledger: Ledger, holding: str, reserve: Callable[..., str], change: Callable[[Ledger], None], state: str
) -> None:
    """Its noise was drawn, and no folder, or one that no ledger knew, was all that was left of it."""
    entry = reserve("1/2")
    if state == "spent":
        ledger.spend(entry)
    with pytest.raises(InputRefused, match=r"ledger\.underway") as refused:
        change(ledger)
    assert refused.value.values["entry"] == entry
    if state == "reserved":
        ledger.spend(entry)
    ledger.complete(entry, release_sums_hash="a" * 64, internal_sums_hash="b" * 64)
    change(ledger)


def test_of_a_ledger_that_is_gone_its_keys_tell(path: Path, tmp_path: Path) -> None:
    assert not is_there(path)
    keys_folder(path).mkdir()
    assert not is_there(path)
    (keys_folder(path) / "h1.json").write_text("{}")
    assert is_there(path)
    with pytest.raises(VerificationFailed, match=r"ledger\.removed_keys"):
        Ledger(path, read_only=True)
    with pytest.raises(EngineError):
        Ledger(path)
