"""The folder of a study: what lies in it, what comes next for whom, and what is not taken into it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.errors import InputRefused
from engine.ledger import Ledger
from engine.methods.catalogue import method
from engine.methods.shared import site_files
from engine.methods.shared.site_files import CARD, MASK, ROSTER, SHARE, Member, Study
from engine.privacy import masks
from engine.release import site_folder, studies
from engine.release.examples import plans
from engine.release.signing import SigningKey
from engine.release.site_folder import COORDINATOR, HOLDER, SITE, look, next_of, put, take, to_compare

NAMES = ("North", "South", "Town")


def key(number: int) -> SigningKey:
    return SigningKey(f"h{number}", bytes([number]) * 32, "")


KEYS = {name: key(place) for place, name in enumerate((*NAMES, "Holder", "Centre"), start=1)}
PLAN = replace(plans(method("statistics.counts"))[0], parameters={"columns": ["gender"]})
ROSTER_ = [Member(name, KEYS[name].public) for name in NAMES]
_CARD = site_files.card("Holder", KEYS["Holder"].public, masks.exchange_public(bytes(range(32))))
HOLDERS = [site_files.read_card(site_files.written(CARD, _CARD, KEYS["Holder"].sign), "card")]
OWN = studies.make_study(PLAN, ROSTER_, "Centre", KEYS["Centre"])
AGAIN = studies.make_study(PLAN, ROSTER_, "Centre", KEYS["Centre"], before=site_files.read_study(OWN))
ONE = studies.make_study(PLAN, ROSTER_, "Centre", KEYS["Centre"], holders=HOLDERS)


def share(study: bytes, name: str, value: int = 1, signs: SigningKey | None = None) -> bytes:
    found, signer = site_files.read_study(study), signs or KEYS[name]
    sums = [np.full(size, value, dtype=np.int64) for size in found.cells]
    head, told = found.share_of(Member(name, signer.public), sums)
    return site_files.written(SHARE, head, signer.sign, told)


def card(name: str) -> bytes:
    return site_files.written("card", site_files.card(name, KEYS[name].public, 64 * "9"), KEYS[name].sign)


def roster(study: bytes) -> bytes:
    head = {"study": site_files.read_study(study).id, "key": KEYS["Centre"].public, "heads": []}
    return site_files.written(ROSTER, head, KEYS["Centre"].sign)


def mask(study: bytes) -> bytes:
    found = site_files.read_study(study)
    total = np.zeros(sum(found.cells), dtype=np.uint64)
    head, told = site_files.mask_of(found, "0" * 64, HOLDERS[0], total)
    return site_files.written(MASK, head, KEYS["Holder"].sign, told)


def came(folder: Path, content: bytes, name: str = "mail.txt") -> Path:
    """Take a file that came under any name."""
    place = folder.with_name(name)
    place.write_bytes(content)
    return take(folder, place)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "study"


def ids(folder: Path, part: str, own: str, known: Any = (), without: Any = ()) -> str:
    return next_of(part, look(folder), KEYS[own].public, known, without).id


EVERY = tuple(one.public for one in KEYS.values())


def test_a_coordinator_is_led_from_cards_to_the_result(folder: Path) -> None:
    seen = [ids(folder, COORDINATOR, "Centre")]
    for name in NAMES:
        came(folder, card(name))
    seen += [ids(folder, COORDINATOR, "Centre"), ids(folder, COORDINATOR, "Centre", EVERY)]
    came(folder, ONE)
    for name in NAMES:
        seen.append(ids(folder, COORDINATOR, "Centre"))
        came(folder, share(ONE, name))
    for content in (roster(ONE), mask(ONE)):
        seen.append(ids(folder, COORDINATOR, "Centre"))
        came(folder, content)
    seen.append(ids(folder, COORDINATOR, "Centre"))
    (look(folder).bundle(COORDINATOR, "") / "release").mkdir(parents=True)
    seen.append(ids(folder, COORDINATOR, "Centre"))
    waits = ["shares"] * 3
    assert seen == ["few", "cards", "study", *waits, "roster", "masks", "result", "done"]
    assert not look(folder).refused


def test_nobody_is_waited_for_who_is_left_out(folder: Path) -> None:
    came(folder, OWN)
    for name in NAMES[:2]:
        came(folder, share(OWN, name))
    assert ids(folder, COORDINATOR, "Centre") == "shares"
    assert ids(folder, COORDINATOR, "Centre", without=("Town",)) == "result"


def test_a_site_and_a_holder_are_led_to_their_file(folder: Path) -> None:
    site, holder = [ids(folder, SITE, "North")], [ids(folder, HOLDER, "Holder")]
    came(folder, card("North"))
    came(folder, card("Holder"))
    site.append(ids(folder, SITE, "North"))
    holder.append(ids(folder, HOLDER, "Holder"))
    came(folder, ONE)
    site += [ids(folder, SITE, "North"), ids(folder, SITE, "North", EVERY), ids(folder, SITE, "Centre")]
    holder.append(ids(folder, HOLDER, "Holder", EVERY))
    came(folder, share(ONE, "North"))
    came(folder, roster(ONE))
    site.append(ids(folder, SITE, "North"))
    holder += [ids(folder, HOLDER, "Holder"), ids(folder, HOLDER, "Holder", EVERY)]
    came(folder, mask(ONE))
    holder.append(ids(folder, HOLDER, "Holder"))
    assert site == ["card", "wait_study", "compare", "share", "stranger", "sent"]
    assert holder == ["card", "wait_study", "wait_roster", "compare", "mask", "sent"]


REFUSED = {
    "no file of a study": ("sites.no_file", b"age,sex\n41,f\n"),
    "a share changed on its way": ("sites.changed", share(OWN, "North")[:-9] + b"AAAAAAA=\n"),
    "a share of another attempt": ("sites.old", share(AGAIN, "North")),
    "a share of another study": ("sites.foreign", share(ONE, "North")),
    "a share that somebody else signed": ("sites.stranger", share(OWN, "North", signs=KEYS["Holder"])),
    "a second share of a site": ("sites.doubled", share(OWN, "South", 9)),
    "another study": ("sites.other_study", ONE),
    "the roster of a study without holders, signed by a site": (
        "sites.stranger",
        site_files.written(
            ROSTER,
            {"study": site_files.read_study(OWN).id, "key": KEYS["North"].public, "heads": []},
            KEYS["North"].sign,
        ),
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_does_not_belong_there_is_not_taken(folder: Path, what: str) -> None:
    code, content = REFUSED[what]
    came(folder, OWN)
    came(folder, share(OWN, "South"))
    before = {one.name: one.read_bytes() for one in folder.iterdir()}
    with pytest.raises(InputRefused) as refused:
        came(folder, content, "wrong.txt")
    assert refused.value.code == code
    assert {one.name: one.read_bytes() for one in folder.iterdir()} == before


def test_a_share_before_its_study_is_refused(folder: Path) -> None:
    with pytest.raises(InputRefused) as refused:
        came(folder, share(OWN, "North"))
    assert refused.value.code == "sites.no_study"


def test_the_last_attempt_counts_and_shares_of_earlier_ones_do_not(folder: Path) -> None:
    came(folder, OWN)
    came(folder, share(OWN, "North"))
    came(folder, AGAIN)
    found = look(folder)
    assert found.study is not None and found.study.attempt == 2 and not found.shares and not found.refused


def test_what_was_put_there_by_hand_is_named_and_counts_for_nothing(folder: Path) -> None:
    came(folder, OWN)
    (folder / "broken.custos").write_bytes(share(OWN, "North")[:-5])
    (folder / "forged.custos").write_bytes(share(OWN, "South", signs=KEYS["Holder"]))
    found = look(folder)
    assert [one.values["file"] for one in found.refused] == ["broken.custos", "forged.custos"]
    assert not found.shares and ids(folder, COORDINATOR, "Centre") == "shares"


def test_the_same_file_may_come_twice(folder: Path) -> None:
    came(folder, OWN)
    assert came(folder, share(OWN, "North")) == came(folder, share(OWN, "North"))


def known(*names: str) -> tuple[str, ...]:
    return tuple(KEYS[name].public for name in names)


def names(study: bytes, part: str, own: str, *told: str) -> list[str]:
    found: Study = site_files.read_study(study)
    return [one.name for one in to_compare(found, part, KEYS[own].public, known(*told))]


def test_own_noise_needs_to_know_who_asks_and_shared_noise_enough_real_sites() -> None:
    assert names(OWN, SITE, "North") == ["Centre"]
    assert names(OWN, SITE, "North", "Centre") == []
    assert names(ONE, SITE, "North") == ["Centre", "Holder", "South", "Town"]
    assert names(ONE, SITE, "North", "Centre", "Holder", "South") == ["Town"]  # two others besides itself
    assert names(ONE, SITE, "North", "Centre", "Holder", "South", "Town") == []
    assert names(ONE, HOLDER, "Holder", "Centre", "North", "South") == ["Town"]  # one more than are one noise
    assert names(ONE, HOLDER, "Holder", "Centre", *NAMES) == []


def test_who_was_compared_is_kept_with_the_keys_and_taken_back(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.sqlite")
    member = ROSTER_[0]
    site_folder.note_compared(ledger, member.key, member.name, True)
    assert site_folder.compared(ledger) == {member.key: "North"}
    study = site_files.read_study(OWN)
    with pytest.raises(InputRefused) as refused:
        site_folder.refuse_uncompared(study, SITE, member.key, site_folder.compared(ledger))
    assert refused.value.code == "sites.compare" and refused.value.values["names"] == "Centre"
    site_folder.note_compared(ledger, member.key, member.name, False)
    assert site_folder.compared(ledger) == {}
    (tmp_path / "ledger.sqlite-keys" / "compared.json").write_text("[1", encoding="utf-8")
    with pytest.raises(InputRefused) as damaged:
        site_folder.compared(ledger)
    assert damaged.value.code == "sites.compared_damaged"


def test_a_name_cannot_leave_its_folder(folder: Path) -> None:
    assert put(folder, site_folder.plain_name("card", "../../x", "ab"), b"1").parent == folder
