"""A study of several sites by files: one answer, and whatever is wrong with a file is named."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from importlib.resources import files
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import nbinom

from engine.errors import InputRefused
from engine.ledger import Holding, Ledger
from engine.methods.catalogue import method, methods
from engine.methods.exchanges.studies import trust_view
from engine.methods.protocol import MAIN
from engine.methods.shared import site_files
from engine.methods.shared.site_files import SHARE, Member, SiteFile, Study
from engine.methods.shared.sums import add_up
from engine.privacy import masks
from engine.privacy.noise import Noise
from engine.progress import SILENT
from engine.release import charge, signing, studies
from engine.release.check import check
from engine.release.examples import plans
from engine.release.plan import Plan
from engine.release.run import run, run_through
from engine.release.signing import SigningKey
from engine.texts import explain, text

SITES = ("North", "South", "Town")
PLAN = replace(plans(method("statistics.counts"))[0], parameters={"columns": ["gender"]})


def key(number: int) -> SigningKey:
    return SigningKey(f"h{number}", bytes([number]) * 32, "")


KEYS = {name: key(place) for place, name in enumerate(SITES, start=1)}
CENTRE = key(90)
ROSTER = [Member(name, one.public) for name, one in KEYS.items()]


def study(**changes: Any) -> bytes:
    plan = replace(PLAN, **changes)
    return studies.make_study(plan, ROSTER, "Centre", CENTRE)


STUDY = study()
FOUND = site_files.read_study(STUDY)


def share(
    name: str,
    *,
    of: Study = FOUND,
    signs: SigningKey | None = None,
    sums: Callable[[Any], Any] = lambda one: one,
    **changes: Any,
) -> bytes:
    """Return the share of a site: its numbers are its place, so that totals are known."""
    place = SITES.index(name) + 1
    numbers = [sums(np.full(size, place, dtype=np.int64)) for size in of.cells]
    head, told = of.share_of(Member(name, (signs or KEYS[name]).public), numbers)
    return site_files.written(SHARE, head | changes, (signs or KEYS[name]).sign, told)


def accepted(*contents: bytes, of: Study = FOUND, without: tuple[str, ...] = ()) -> Any:
    read = [site_files.read(one, SHARE, f"{place}.txt") for place, one in enumerate(contents, start=1)]
    return site_files.accept(of, read, without)


HONEST = {name: share(name) for name in SITES}


def test_honest_shares_are_taken_in_the_order_of_the_roster() -> None:
    told = accepted(*reversed(HONEST.values()))
    assert list(told) == list(SITES)
    assert [int(one[0][0]) for one in told.values()] == [1, 2, 3]
    assert list(accepted(HONEST["North"], HONEST["Town"], without=("South",))) == ["North", "Town"]


def test_a_study_without_a_title_is_called_by_its_letters() -> None:
    untitled = site_files.read_study(study(purpose=replace(PLAN.purpose, title=" ")))
    assert untitled.called == untitled.short and FOUND.called == FOUND.title != ""


def tampered(content: bytes) -> bytes:
    """Return a share with other numbers under the same head."""
    *lines, _ = content.decode().split("\n")
    numbers = bytearray(base64.b64decode("".join(lines[3:])))
    numbers[0] ^= 1
    return ("\n".join((*lines[:3], base64.b64encode(bytes(numbers)).decode())) + "\n").encode()


OTHER = site_files.read_study(study(parameters={"columns": ["gender"], "no_negatives": False}))
AGAIN = site_files.read_study(studies.make_study(PLAN, ROSTER, "Centre", CENTRE, before=FOUND))
FEWER = site_files.read_study(studies.make_study(PLAN, ROSTER[:2], "Centre", CENTRE, before=FOUND))
SWAPPED = site_files.read_study(
    studies.make_study(
        PLAN, [ROSTER[0], ROSTER[1], Member("Town", key(66).public)], "Centre", CENTRE, before=FOUND
    )
)
ATTACKS: dict[str, tuple[str, Callable[[], Any]]] = {
    "other numbers": ("sites.changed", lambda: accepted(tampered(HONEST["North"]))),
    "another level in the study": (
        "sites.changed",
        lambda: site_files.read_study(_other_head(STUDY, "epsilon")),
    ),
    "a newer form": (
        "sites.newer",
        lambda: accepted(HONEST["North"].replace(b"custos-share-1", b"custos-share-2", 1)),
    ),
    "no file of a study": ("sites.no_file", lambda: accepted(b"age,sex\n41,f\n")),
    "a study for a share": ("sites.kind", lambda: accepted(STUDY)),
    "a share for a study": ("sites.kind", lambda: site_files.read_study(HONEST["North"])),
    "renamed to another kind": (
        "sites.changed",
        lambda: site_files.read_study(HONEST["North"].replace(b"custos-share", b"custos-study", 1)),
    ),
    "the same file twice": ("sites.doubled", lambda: accepted(HONEST["North"], HONEST["North"])),
    "two shares of one site": (
        "sites.doubled",
        lambda: accepted(HONEST["North"], share("North", sums=lambda one: one + 7)),
    ),
    "an impostor": ("sites.stranger", lambda: accepted(share("North", signs=key(66)))),
    "one site in the name of another": (
        "sites.stranger",
        lambda: accepted(HONEST["North"], share("South", signs=KEYS["North"])),
    ),
    "a foreign study": (
        "sites.foreign",
        lambda: accepted(share("North", of=replace(OTHER, series="0" * 16))),
    ),
    "an earlier attempt": ("sites.old", lambda: accepted(HONEST["North"], of=AGAIN)),
    "a later attempt": ("sites.old", lambda: accepted(share("North", of=AGAIN))),
    "a smaller roster": ("sites.old", lambda: accepted(HONEST["North"], HONEST["South"], of=FEWER)),
    "a key put into the roster": ("sites.old", lambda: accepted(HONEST["North"], of=SWAPPED)),
    "another roster in the head": (
        "sites.other_roster",
        lambda: accepted(share("North", roster=FEWER.roster_digest)),
    ),
    "another round": ("sites.other_roster", lambda: accepted(share("North", round=2))),
    "another attempt in its words": ("sites.changed", lambda: accepted(share("North", attempt=2))),
    "another series in its words": ("sites.changed", lambda: accepted(share("North", series="0" * 16))),
    "a number of another kind": ("sites.changed", lambda: accepted(share("North", attempt=True))),
    "a word besides": ("sites.changed", lambda: accepted(share("North", further="x"))),
    "a key for masks where there are none": (
        "sites.changed",
        lambda: accepted(share("North", ephemeral="0" * 64)),
    ),
    "fewer numbers": ("sites.other_cells", lambda: accepted(share("North", sums=lambda one: one[:-1]))),
    "a site missing": ("sites.missing", lambda: accepted(HONEST["North"], HONEST["South"])),
    "one site alone": ("sites.too_few", lambda: accepted(HONEST["North"], without=("South", "Town"))),
    "a share of a site that is left out": (
        "sites.left_out",
        lambda: accepted(*HONEST.values(), without=("Town",)),
    ),
    "a site that nobody knows": ("sites.unknown", lambda: accepted(HONEST["North"], without=("West",))),
    "one key twice": (
        "sites.roster",
        lambda: studies.make_study(PLAN, [*ROSTER, Member("West", KEYS["North"].public)], "Centre", CENTRE),
    ),
    "a key of small order": (
        "sites.changed",
        lambda: site_files.read_card(_card("1", "01" + 31 * "00"), "c"),
    ),
}


def _other_head(content: bytes, word: str) -> bytes:
    """Return a file whose head says something else, with the signature of the honest one."""
    first, head, *rest = content.split(b"\n")
    told = base64.b64decode(head).replace(f'"{word}":0.5'.encode(), f'"{word}":9.5'.encode())
    assert told != base64.b64decode(head)
    return b"\n".join((first, base64.b64encode(told), *rest))


def _card(name: str, public: str) -> bytes:
    """Return a card under a key for which everything is signed, if anybody looked at signatures alone."""
    return site_files.written("card", site_files.card(name, public, 64 * "9"), lambda _: "00" * 64)


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_is_refused_by_its_name(attack: str) -> None:
    code, done = ATTACKS[attack]
    with pytest.raises(InputRefused) as refused:
        done()
    assert refused.value.code == code


CARD = site_files.written(
    "card", site_files.card("North", KEYS["North"].public, 64 * "9"), KEYS["North"].sign
)


@pytest.mark.parametrize(("kind", "content"), [("share", HONEST["North"]), ("study", STUDY), ("card", CARD)])
def test_one_flipped_bit_is_another_file_that_nobody_signed(kind: str, content: bytes) -> None:
    """Every byte in turn, and one of its bits."""
    lots = np.random.default_rng(1).integers(8, size=len(content))
    for place, bit in enumerate(lots.tolist()):
        changed = bytearray(content)
        changed[place] ^= 1 << bit
        with pytest.raises(InputRefused) as refused:
            site_files.read(bytes(changed), kind, "x")
        assert refused.value.code in ("sites.changed", "sites.no_file", "sites.newer", "sites.kind")
    assert site_files.read(content, kind, "x").kind == kind


def test_nothing_may_stand_before_or_behind() -> None:
    for changed in (
        HONEST["North"] + b"\n",
        b"\n" + HONEST["North"],
        HONEST["North"].replace(b"\n", b"\r\n"),
    ):
        with pytest.raises(InputRefused):
            site_files.read(changed, SHARE, "x")


@pytest.mark.parametrize(
    ("method_id", "place"), [("models.k_means", 0), ("statistics.quantiles", 0), ("models.linear", 0)]
)
def test_what_cannot_be_added_up_makes_no_study(method_id: str, place: int) -> None:
    with pytest.raises(InputRefused) as refused:
        studies.make_study(plans(method(method_id))[place], ROSTER, "Centre", CENTRE)
    assert refused.value.code == "sites.method"


SUMMABLE = [one for one in methods() if one.summable]
FITTING = {
    "datasets.traces": {"whole": 0},
    "models.linear": {"fit": "sums"},
    "models.logistic": {"fit": "sums"},
    "models.tree": {"depth": 2},
    "models.k_means": {"turns": 2},
    "models.additive": {"fit": "sums"},
}
"""Settings with which a method asks once or in few rounds that its example does not have."""


def fitting(one: Any) -> Plan:
    """Return the example of a method with settings that several sites can take."""
    plan = plans(one)[0]
    assert plan.budget is not None
    once = one.id not in ("models.tree", "models.k_means", "models.additive")
    budget = plan.budget if once else replace(plan.budget, delta=Fraction(0))
    return replace(plan, parameters={**plan.parameters, **FITTING.get(one.id, {})}, budget=budget)


@pytest.mark.parametrize("one", SUMMABLE, ids=lambda one: one.id)
def test_every_method_that_adds_up_makes_a_study(one: Any) -> None:
    found = site_files.read_study(studies.make_study(fitting(one), ROSTER, "Centre", CENTRE))
    assert found.method == one.id and min(found.cells) > 0


def test_a_score_of_a_model_hangs_on_the_model_of_one_site_and_makes_no_study() -> None:
    plan = plans(method("models.naive_bayes"))[0]
    scored = replace(plan, parameters={**plan.parameters, "held_out_percent": 20})
    assert not method(scored.method)(scored.request).problems
    with pytest.raises(InputRefused) as refused:
        studies.make_study(scored, ROSTER, "Centre", CENTRE)
    assert refused.value.code == "sites.method"


# --- from first file to bundle -----------------------------------------------------------------------------


@dataclass
class Site:
    """A site with a table and a ledger of its own."""

    name: str
    ledger: Ledger
    holding: Holding
    folder: Path
    plan: Plan

    @property
    def key(self) -> SigningKey:
        return signing.open_key(self.ledger, self.holding)

    @property
    def spent(self) -> Fraction:
        return self.ledger.status(self.holding.id, charge.make_composer(self.holding)).epsilon_spent

    def share(self, study: bytes, out: str, noise: Noise | None = None) -> bytes:
        plan = studies.plan_of_site(study, self.name, self.plan)
        door = lambda spend: noise or Noise(on_first_draw=spend)  # noqa: E731
        bundle = run_through(plan, self.folder / out, self.ledger, self.folder, "en", SILENT, door)
        return studies.sign_share(study, self.name, bundle.folder, self.key)


@pytest.fixture(scope="module")
def sites(tmp_path_factory: pytest.TempPathFactory) -> list[Site]:
    """Three sites that hold every third row of the sample."""
    path = files("resources") / "sample" / "diabetes_encounters.csv"
    heading, *rows = path.read_text(encoding="utf-8").splitlines()
    found = []
    for place, name in enumerate(SITES):
        folder = tmp_path_factory.mktemp(name)
        (folder / "people.csv").write_text("\n".join([heading, *rows[place:600:3]]) + "\n", encoding="utf-8")
        ledger = Ledger(folder / "ledger.sqlite")
        holding = ledger.create_holding(name, unit="person", neighbours="add_remove", epsilon=5)
        local = {"people": replace(PLAN.files["people"], path="people.csv")}
        plan = replace(PLAN, files=local, holding=name, holding_budget=None)
        found.append(Site(name, ledger, holding, folder, plan))
    return found


@pytest.fixture(scope="module")
def made(sites: list[Site]) -> tuple[bytes, list[bytes]]:
    cards = [studies.write_card(one.ledger, one.holding, one.name) for one in sites]
    roster = [site_files.read_card(one, "card") for one in cards]
    study = studies.make_study(PLAN, roster, "Centre", CENTRE)
    return study, [one.share(study, "share") for one in sites]


def test_a_study_from_cards_to_a_verified_result(
    made: tuple[bytes, list[bytes]], sites: list[Site], tmp_path: Path
) -> None:
    from engine.release.verify import verify

    study, contents = made
    paths = {}
    for place, content in enumerate(contents):
        (tmp_path / f"{place}.txt").write_bytes(content)
        paths[str(tmp_path / f"{place}.txt")] = tmp_path / f"{place}.txt"
    plan = replace(studies.plan_of_result(study, paths), holding="Studies")
    ledger = Ledger(tmp_path / "ledger.sqlite")
    bundle = run(plan, out=tmp_path / "result", ledger=ledger)
    assert all(not one.problems for one in verify(bundle.folder).checks)
    told = pd.read_csv(bundle.folder / "release" / "counts.csv", keep_default_na=False)
    added = sum(
        pd.read_csv(one.folder / "share" / "release" / "sums.csv")["value"].to_numpy() for one in sites
    )
    assert told["count"].tolist() == added.tolist()
    exact = pd.concat([pd.read_csv(one.folder / "people.csv") for one in sites]).drop_duplicates(
        "patient_nbr"
    )
    women = int((exact["gender"] == "Female").sum())
    assert abs(told["count"][0] - women) < 200  # a person in two of the sites counts in both
    assert told["within_95"][0] > check(sites[0].plan, base=sites[0].folder).forecast.errors[0].limit
    assert [one.spent for one in sites[:2]] == 2 * [Fraction(1, 2)]
    (holding,) = ledger.holdings()
    assert ledger.status(holding.id, charge.make_composer(holding)).epsilon_spent == 0


def test_share_and_result_call_those_who_are_protected_as_the_study_does(tmp_path: Path) -> None:
    """A site that has a word of its own keeps it; whoever puts shares together has read none of the rows."""
    of_farms = PLAN.with_schema(replace(PLAN.schema, protected="farm"))
    said = study(schemas=of_farms.schemas)
    silent = studies.plan_of_site(said, "North", PLAN)
    own = studies.plan_of_site(said, "North", of_farms.with_schema(replace(PLAN.schema, protected="Hof")))
    shares = {name: share(name, of=site_files.read_study(said)) for name in SITES}
    result = studies.plan_of_result(said, _laid(shares, tmp_path))
    for plan, one, several in ((silent, "farm", "farms"), (own, "Hof", "Hofs"), (result, "farm", "farms")):
        assert plan.schema.words.one == one
        assert {error.unit for error in check(plan).forecast.errors} == {several}
    assert MAIN not in studies.plan_of_result(STUDY, _laid(HONEST, tmp_path)).schemas


def test_a_result_is_released_by_its_coordinator_and_a_share_by_its_site(tmp_path: Path) -> None:
    """Page one of a result said “Released by: not stated”, although the study names who puts it together."""
    found = site_files.read_study(STUDY)
    result = studies.plan_of_result(STUDY, _laid(HONEST, tmp_path)).purpose
    assert result.organisation == found.coordinator.name != ""
    unsaid = replace(PLAN, purpose=replace(PLAN.purpose, organisation="", recipient=""))
    silent = studies.plan_of_site(STUDY, "North", unsaid).purpose
    assert (silent.organisation, silent.recipient) == ("North", found.coordinator.name)
    own = replace(PLAN, purpose=replace(PLAN.purpose, organisation="Clinic North", recipient="Archive"))
    kept = studies.plan_of_site(STUDY, "North", own).purpose
    assert (kept.organisation, kept.recipient) == ("Clinic North", "Archive")


def _laid(shares: dict[str, bytes], folder: Path) -> dict[str, Path]:
    """Write shares by the name of their site; return them as a plan names them."""
    for name, content in shares.items():
        (folder / f"{name}.txt").write_bytes(content)
    return {str(folder / f"{name}.txt"): folder / f"{name}.txt" for name in shares}


def test_the_same_bundle_is_the_very_same_file(made: tuple[bytes, list[bytes]], sites: list[Site]) -> None:
    study, contents = made
    one = sites[0]
    assert studies.sign_share(study, one.name, one.folder / "share", one.key) == contents[0]


@pytest.mark.guarantee
def test_noise_of_one_attempt_is_never_sent_for_another(
    made: tuple[bytes, list[bytes]], sites: list[Site]
) -> None:
    study, one = site_files.read_study(made[0]), sites[0]
    again = studies.make_study(PLAN, study.roster, "Centre", CENTRE, before=study)
    with pytest.raises(InputRefused) as refused:
        studies.sign_share(again, one.name, one.folder / "share", one.key)
    assert refused.value.code == "sites.bundle"


def test_a_new_attempt_is_paid_again(made: tuple[bytes, list[bytes]], sites: list[Site]) -> None:
    study, one = site_files.read_study(made[0]), sites[2]
    before = one.spent
    again = studies.make_study(PLAN, study.roster, "Centre", CENTRE, before=study)
    content = one.share(again, "again")
    assert one.spent == before + Fraction(1, 2)
    assert content != made[1][2]


@pytest.mark.guarantee
def test_another_register_cannot_sign(made: tuple[bytes, list[bytes]], sites: list[Site]) -> None:
    with pytest.raises(InputRefused) as refused:
        studies.sign_share(made[0], sites[0].name, sites[0].folder / "share", sites[1].key)
    assert refused.value.code == "sites.own_key"


def test_a_share_that_was_changed_on_disk_is_not_signed(
    made: tuple[bytes, list[bytes]], sites: list[Site], tmp_path: Path
) -> None:
    import shutil

    one = sites[0]
    shutil.copytree(one.folder / "share", tmp_path / "share")
    table = tmp_path / "share" / "release" / "sums.csv"
    table.write_text(table.read_text().replace("1,1,", "1,1,9", 1))
    with pytest.raises(InputRefused) as refused:
        studies.sign_share(made[0], one.name, tmp_path / "share", one.key)
    assert refused.value.code == "sites.bundle"


def _schema(plan: Plan, **columns: Any) -> Plan:
    """Return a plan whose columns are declared in another way."""
    schema = plan.schema
    changed = tuple(replace(one, **columns.get(one.name, {})) for one in schema.columns)
    return plan.with_schema(replace(schema, columns=changed))


def test_columns_that_are_declared_in_another_way_are_named(
    made: tuple[bytes, list[bytes]], sites: list[Site]
) -> None:
    one, study = sites[0], made[0]
    domain = replace(one.plan.schema.column("gender").domain, values=("Male", "Female"))
    cases = {
        "other_column": _schema(one.plan, gender={"domain": domain}),
        "other_cap": one.plan.with_schema(replace(one.plan.schema, rows_per_person=2)),
    }
    for code, plan in cases.items():
        with pytest.raises(InputRefused) as refused:
            check(studies.plan_of_site(study, one.name, plan), base=one.folder)
        assert refused.value.code == f"exchanges.share.{code}"
    with pytest.raises(InputRefused) as refused:
        check(studies.plan_of_site(study, "West", one.plan), base=one.folder)
    assert refused.value.code == "exchanges.share.no_such_site"


# --- several rounds ------------------------------------------------------------------------------------

TREE = plans(method("models.tree"))[0]
ROUNDS = replace(
    TREE,
    parameters={**TREE.parameters, "depth": 2},
    budget=replace(TREE.budget, epsilon=Fraction(2), delta=Fraction(0)),
)
"""A tree of two levels: a round for each, and one for its leaves."""


@pytest.fixture
def others(tmp_path: Path) -> list[Site]:
    """Three sites with registers that nobody spent from yet."""
    path = files("resources") / "sample" / "diabetes_encounters.csv"
    heading, *rows = path.read_text(encoding="utf-8").splitlines()
    found = []
    for place, name in enumerate(SITES):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "people.csv").write_text("\n".join([heading, *rows[place:900:3]]) + "\n", encoding="utf-8")
        ledger = Ledger(folder / "ledger.sqlite")
        holding = ledger.create_holding(name, unit="person", neighbours="add_remove", epsilon=5)
        local = {"people": replace(ROUNDS.files["people"], path="people.csv")}
        plan = replace(ROUNDS, files=local, holding=name, holding_budget=None)
        found.append(Site(name, ledger, holding, folder, plan))
    return found


def _read(contents: list[bytes]) -> list[SiteFile]:
    return [site_files.read(one, SHARE, f"{place}.txt") for place, one in enumerate(contents, start=1)]


def refusal(made: Callable[..., Any], *given: Any, **named: Any) -> str:
    """Return the code with which something is refused, and see that there are words for it."""
    with pytest.raises(InputRefused) as refused:
        made(*given, **named)
    assert all(str(one) for one in explain(refused.value))
    return refused.value.code


def test_a_study_of_three_rounds_is_paid_round_by_round_and_makes_one_tree(
    others: list[Site], tmp_path: Path
) -> None:
    from engine.release.verify import verify

    roster = [Member(one.name, one.key.public) for one in others]
    study = studies.make_study(ROUNDS, roster, "Centre", CENTRE)
    first, spent, sent = study, Fraction(0), list[list[bytes]]()
    for place in (1, 2, 3):
        found = site_files.read_study(study)
        assert (found.round, found.rounds, found.series) == (place, 3, site_files.read_study(first).series)
        assert found.is_last == (place == 3)
        paid = studies.level_of_round(found)
        spent += paid
        sent.append([one.share(study, f"round-{place}") for one in others])
        assert [one.spent for one in others] == pytest.approx([spent] * 3)
        if place == 3:
            break
        one_late = replace(found, attempt=found.attempt + 1)
        assert refusal(accepted, *sent[-1], of=one_late) == "sites.old"
        early = studies.plan_of_result(study, _laid(named(sent[-1]), tmp_path))
        assert refusal(check, early) == "sites.more_rounds"
        later = studies.next_round(study, _read(sent[-1]), CENTRE)
        told = site_files.read_study(later)
        totals = add_up([site_files.sums_of(found, one.numbers) for one in _read(sent[-1])])
        assert [one.tolist() for one in told.heard[len(found.heard) :]] == [one.tolist() for one in totals]
        for wrong in (sent[-1], [sent[-1][0]]):
            assert refusal(accepted, *wrong, of=told) == "sites.other_round"
        study = later
    assert spent <= ROUNDS.budget.epsilon and spent > Fraction(99, 100) * ROUNDS.budget.epsilon
    assert refusal(studies.next_round, study, _read(sent[-1]), CENTRE) == "sites.last_round"
    plan = replace(studies.plan_of_result(study, _laid(named(sent[-1]), tmp_path)), holding="Studies")
    bundle = run(plan, out=tmp_path / "result", ledger=Ledger(tmp_path / "ledger.sqlite"))
    assert all(not one.problems for one in verify(bundle.folder).checks)
    tree = json.loads((bundle.folder / "release" / "model.json").read_text(encoding="utf-8"))
    leaves = add_up([site_files.sums_of(site_files.read_study(study), one.numbers) for one in _read(sent[2])])
    assert sum(one["rows"] for one in tree["leaves"]) == pytest.approx(np.maximum(leaves[0], 0).sum(), abs=4)


def test_rounds_with_masks_and_a_site_that_falls_out(others: list[Site], tmp_path: Path) -> None:
    """Each round has a roster and masks of its own; who sent nothing has no part in the next."""
    groups = plans(method("models.k_means"))[0]
    groups = replace(
        groups,
        parameters={**groups.parameters, "turns": 1},
        budget=replace(groups.budget, epsilon=Fraction(2), delta=Fraction(0)),
    )
    roster = [
        site_files.read_card(studies.write_card(one.ledger, one.holding, one.name), "c") for one in others
    ]
    ledger = Ledger(tmp_path / "holder.sqlite")
    holding = ledger.create_holding("Holder", unit="person", neighbours="add_remove")
    holder = site_files.read_card(studies.write_card(ledger, holding, "Holder"), "card")
    study = studies.make_study(groups, roster, "Centre", CENTRE, holders=[holder])
    for one in others:
        one.plan = replace(one.plan, schemas=groups.schemas)
    shares = _read([one.share(study, "first") for one in others])
    listed = studies.write_roster(study, shares, CENTRE)
    mask = site_files.read(studies.write_mask(study, listed, "r", ledger, holding), "mask", "m")
    assert refusal(studies.next_round, study, shares, CENTRE) == "sites.missing"  # the holder's answer
    assert refusal(studies.next_round, study, shares, key(66), (), [mask]) == "sites.own_key"
    later = studies.next_round(study, shares, CENTRE, (), [mask])
    told = site_files.read_study(later)
    noise = float(groups.design.plan.division.scale("grid")) * sqrt(2 * 1.5 * told.heard[0].size)
    people = sum(pd.read_csv(one.folder / "people.csv")["patient_nbr"].nunique() for one in others)
    assert told.is_last and abs(int(told.heard[0].sum()) - people) < 6 * noise  # masks are 64 bits wide
    again = _read([one.share(later, "second") for one in others])
    assert refusal(site_files.add_masks, told, site_files.read(listed, "roster", "r"), holder, b"") == (
        "sites.foreign"
    )
    assert refusal(studies.next_round, later, again, CENTRE) == "sites.last_round"
    own = studies.make_study(groups, roster, "Centre", CENTRE)
    two = _read([one.share(own, "own") for one in others[:2]])
    fewer = site_files.read_study(studies.next_round(own, two, CENTRE, ["Town"]))
    assert [one.name for one in fewer.roster] == ["North", "South"]


def test_totals_that_a_study_carries_are_signed(others: list[Site]) -> None:
    roster = [Member(one.name, one.key.public) for one in others]
    study = studies.make_study(ROUNDS, roster, "Centre", CENTRE)
    found = site_files.read_study(study)
    heard = (np.arange(found.cells[0]),)
    later = replace(found, round=2, heard=heard)
    signed = site_files.written("study", later.head, CENTRE.sign, later.numbers)
    assert site_files.read_study(signed).heard[0].tolist() == heard[0].tolist()
    assert refusal(site_files.read_study, tampered(signed)) == "sites.changed"
    for wrong in ({"round": 4}, {"rounds": 4}, {"heard": [1]}, {"round": 1}):
        content = site_files.written("study", later.head | wrong, CENTRE.sign, later.numbers)
        assert refusal(site_files.read_study, content).startswith(("document.", "sites."))
    silent = site_files.written("study", {**found.head, "round": 2, "heard": []}, CENTRE.sign)
    assert refusal(site_files.read_study, silent).startswith("document.")


FORGED: dict[str, tuple[str, Callable[[Study], dict[str, Any]]]] = {
    "too few totals": ("sums.other_totals", lambda found: {"round": 3, "heard": (totals_of(found, 1),)}),
    "too many totals": (
        "sums.other_totals",
        lambda found: {"round": 2, "heard": (totals_of(found, 1), totals_of(found, 2))},
    ),
    "totals of other sums": (
        "sums.other_totals",
        lambda found: {"round": 2, "heard": (totals_of(found, 1)[1:],)},
    ),
    "other sums than the round has": (
        "exchanges.share.other_cells",
        lambda found: {"round": 2, "heard": (totals_of(found, 1),), "cells": (found.cells[0],)},
    ),
    "other sums of the first round": ("exchanges.share.other_cells", lambda found: {"cells": (1, 1)}),
}


def totals_of(found: Study, level: int) -> Any:
    return np.zeros(found.cells[0] << (level - 1), dtype=np.int64)


@pytest.mark.parametrize("case", list(FORGED))
def test_a_site_pays_nothing_for_a_round_that_its_coordinator_forged(case: str, others: list[Site]) -> None:
    """The sums of one round at the price of another, and shares that nobody could add up."""
    roster = [Member(one.name, one.key.public) for one in others]
    found = site_files.read_study(studies.make_study(ROUNDS, roster, "Centre", CENTRE))
    code, changes = FORGED[case]
    forged = replace(found, cells=(found.cells[0] * 2,))
    forged = replace(forged, **changes(found))
    study = site_files.written("study", forged.head, CENTRE.sign, forged.numbers)
    assert refusal(others[0].share, study, "out") == code
    assert others[0].spent == 0 and not (others[0].folder / "out").exists()


def named(contents: list[bytes]) -> dict[str, bytes]:
    return dict(zip(SITES, contents, strict=True))


# --- one noise, hidden by masks ------------------------------------------------------------------------


@dataclass
class Masked:
    """A study with two holders: its file, the shares that were sent, and the registers beside the sites."""

    study: bytes
    shares: list[SiteFile]
    centre: tuple[Ledger, Holding]
    holders: list[tuple[Ledger, Holding]]
    folder: Path

    @property
    def found(self) -> Study:
        return site_files.read_study(self.study)

    @property
    def key(self) -> SigningKey:
        return signing.open_key(*self.centre)

    def answer(self, roster: bytes, place: int = 0) -> bytes:
        return studies.write_mask(self.study, roster, "roster", *self.holders[place])


@pytest.fixture(scope="module")
def masked(sites: list[Site], tmp_path_factory: pytest.TempPathFactory) -> Masked:
    folder = tmp_path_factory.mktemp("masked")
    registers = []
    for name in ("Centre", "Holder 1", "Holder 2"):
        ledger = Ledger(folder / f"{name}.sqlite")
        registers.append((ledger, ledger.create_holding(name, unit="person", neighbours="add_remove")))
    cards = [studies.write_card(ledger, holding, holding.name) for ledger, holding in registers[1:]]
    roster = [
        site_files.read_card(studies.write_card(one.ledger, one.holding, one.name), "c") for one in sites
    ]
    study = studies.make_study(
        PLAN,
        roster,
        "Centre",
        signing.open_key(*registers[0]),
        holders=[site_files.read_card(one, "card") for one in cards],
    )
    shares = [site_files.read(one.share(study, "masked"), SHARE, one.name) for one in sites]
    return Masked(study, shares, registers[0], registers[1:], folder)


def test_masked_shares_give_one_answer_and_a_second_roster_is_never_opened(
    masked: Masked, sites: list[Site], tmp_path: Path
) -> None:
    roster = studies.write_roster(masked.study, masked.shares, masked.key)
    answers = [masked.answer(roster, place) for place in (0, 1)]
    assert masked.answer(roster) == answers[0]
    paths, told = {}, {}
    for place, one in enumerate(masked.shares):
        path = tmp_path / f"{place}.txt"
        path.write_bytes(_sent(one))
        paths[str(path)] = path
    for place, content in enumerate(answers):
        path = tmp_path / f"mask {place}.txt"
        path.write_bytes(content)
        told[str(path)] = path
    plan = replace(studies.plan_of_result(masked.study, paths, answers=told), holding="Studies")
    bundle = run(plan, out=tmp_path / "result", ledger=Ledger(tmp_path / "ledger.sqlite"))
    counted = pd.read_csv(bundle.folder / "release" / "counts.csv", keep_default_na=False)["count"]
    rows = pd.concat([pd.read_csv(one.folder / "people.csv") for one in sites])
    once = rows.groupby([place for place, one in enumerate(sites) for _ in range(200)])
    exact = sum(one.drop_duplicates("patient_nbr")["gender"].eq("Female").sum() for _, one in once)
    assert abs(counted[0] - exact) < 60  # one noise of scale 2, and half of one besides
    smaller = site_files.written(
        site_files.ROSTER,
        {**site_files.roster_of(masked.found, masked.shares), "heads": []},
        masked.key.sign,
    )
    other = site_files.roster_of(masked.found, masked.shares)
    reversed_ = site_files.written(
        site_files.ROSTER, {**other, "heads": list(reversed(other["heads"]))}, masked.key.sign
    )
    for content, code in ((smaller, "sites.too_few"), (reversed_, "sites.opened")):
        with pytest.raises(InputRefused) as refused:
            masked.answer(content)
        assert refused.value.code == code
    with pytest.raises(InputRefused) as refused:
        studies.plan_of_result(masked.study, paths, answers=dict(list(told.items())[:1]))
    assert refused.value.code == "sites.missing"
    with pytest.raises(InputRefused) as refused:
        studies.plan_of_result(masked.study, paths, answers={"a": told[str(tmp_path / "mask 0.txt")]} | told)
    assert refused.value.code == "sites.doubled"


def _sent(one: SiteFile) -> bytes:
    return site_files.written(SHARE, one.head, lambda _: one.signature, one.numbers)


def _forged(masked: Masked, **changes: Any) -> bytes:
    """Return a roster in which the head of one site is another one than it signed."""
    tree = site_files.roster_of(masked.found, masked.shares)
    heads = [dict(one) for one in tree["heads"]]
    heads[0] = {**heads[0], "head": {**heads[0]["head"], **changes}}
    return site_files.written(site_files.ROSTER, {**tree, "heads": heads}, masked.key.sign)


@pytest.mark.guarantee
def test_a_roster_that_isolates_a_site_is_refused(masked: Masked) -> None:
    """The coordinator puts in keys for masks of its own, or sites of its own, or one site three times."""
    tree = site_files.roster_of(masked.found, masked.shares)
    own = key(77)
    replaced = [
        {
            "head": {**one["head"], "key": own.public},
            "signature": own.sign(site_files._signed(SHARE, {**one["head"], "key": own.public})),
        }
        for one in tree["heads"][1:]
    ]
    cases = {
        "own mask keys": _forged(masked, ephemeral="05" * 32),
        "own sites": site_files.written(
            site_files.ROSTER, {**tree, "heads": [tree["heads"][0], *replaced]}, masked.key.sign
        ),
        "one site three times": site_files.written(
            site_files.ROSTER, {**tree, "heads": 3 * [tree["heads"][0]]}, masked.key.sign
        ),
    }
    for content in cases.values():
        with pytest.raises(InputRefused) as refused:
            masked.answer(content, 1)
        assert refused.value.code == "sites.forged"
    with pytest.raises(InputRefused) as refused:
        masked.answer(site_files.written(site_files.ROSTER, {**tree, "key": own.public}, own.sign), 1)
    assert refused.value.code == "sites.stranger"
    with pytest.raises(InputRefused) as refused:
        studies.write_mask(
            masked.study, site_files.written(site_files.ROSTER, tree, masked.key.sign), "r", *masked.centre
        )
    assert refused.value.code == "sites.no_holder"


def test_no_site_takes_the_key_of_another_sites_masks(masked: Masked, sites: list[Site]) -> None:
    """A mask that stands there twice is gone modulo 2, and what the third site sent shows its last bit."""
    tree = site_files.roster_of(masked.found, masked.shares)
    heads = [dict(one) for one in tree["heads"]]
    head = {**heads[1]["head"], "ephemeral": heads[2]["head"]["ephemeral"]}
    heads[1] = {"head": head, "signature": sites[1].key.sign(site_files._signed(SHARE, head))}
    roster = site_files.written(site_files.ROSTER, {**tree, "heads": heads}, masked.key.sign)
    with pytest.raises(InputRefused) as refused:
        masked.answer(roster, 1)
    assert refused.value.code == "sites.forged"


def test_a_key_for_masks_that_its_holder_did_not_sign_makes_no_study(masked: Masked) -> None:
    """The coordinator puts in a key of its own under a holder's name: it would read every site's sums."""
    own = masks.exchange_public(bytes([7]) * 32)
    for place in (0, 1):
        holders = [dict(one) for one in masked.found.head["holders"]]
        holders[place]["exchange"] = own
        forged = site_files.written(
            site_files.STUDY, {**masked.found.head, "holders": holders}, masked.key.sign
        )
        with pytest.raises(InputRefused) as refused:
            site_files.read_study(forged)
        assert refused.value.code == "sites.holder_key"
        assert refused.value.values["name"] == f"Holder {place + 1}"


@pytest.mark.guarantee
def test_of_two_rosters_that_come_at_once_one_is_answered(masked: Masked) -> None:
    tree = site_files.roster_of(masked.found, masked.shares)
    rosters = [
        site_files.written(site_files.ROSTER, {**tree, "heads": heads}, masked.key.sign)
        for heads in (tree["heads"], tree["heads"][::-1])
    ]
    ledger, holding = masked.holders[1]
    for number in range(5):
        for one in signing.place(ledger, holding).parent.glob(f"{holding.id}-opened*"):
            one.unlink()
        start, told = threading.Barrier(2), list[bytes | str]()

        def answer(roster: bytes, start: threading.Barrier = start, told: list[bytes | str] = told) -> None:
            own = Ledger(ledger.path)
            start.wait()
            try:
                told.append(studies.write_mask(masked.study, roster, "roster", own, holding))
            except InputRefused as refused:
                told.append(refused.code)

        threads = [threading.Thread(target=answer, args=(one,)) for one in rosters]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        assert told.count("sites.opened") == 1, (number, len(told))
    for one in signing.place(ledger, holding).parent.glob(f"{holding.id}-opened*"):
        one.unlink()


def test_a_study_says_how_masks_are_agreed_on_and_a_half_of_it_is_refused(
    masked: Masked, sites: list[Site]
) -> None:
    """Ciphertexts that are missing, swapped or of another share: only what the site itself signed counts."""
    assert masked.found.are_both == [True, True]
    note = studies.who_learns(masked.found).note
    assert note is not None and note.id.endswith("one.note_both") and "ML-KEM" in text(note.id, **note.values)
    tree = site_files.roster_of(masked.found, masked.shares)
    said = [one["head"]["ephemeral"] for one in tree["heads"]]
    first, *sealed = said[0].split(":")
    cases = {
        "X25519 alone": first,
        "one half missing": f"{first}:{sealed[0]}",
        "swapped": ":".join([first, *reversed(sealed)]),
        "of another share": ":".join([first, *said[1].split(":")[1:]]),
    }
    for case, changed in cases.items():
        with pytest.raises(InputRefused) as refused:
            masked.answer(_forged(masked, ephemeral=changed), 1)
        assert refused.value.code == "sites.forged", case
    for case in (
        "X25519 alone",
        "one half missing",
    ):  # signed by the site, too: the second holder has no mask
        head = {**tree["heads"][0]["head"], "ephemeral": cases[case]}
        signed = {"head": head, "signature": sites[0].key.sign(site_files._signed(SHARE, head))}
        roster = site_files.written(
            site_files.ROSTER, {**tree, "heads": [signed, *tree["heads"][1:]]}, masked.key.sign
        )
        with pytest.raises(InputRefused) as refused:
            masked.answer(roster, 1)
        assert refused.value.code == "sites.forged", case


def test_a_study_with_earlier_cards_goes_on_as_it_was(masked: Masked, sites: list[Site]) -> None:
    """Its holders agree by X25519 alone, with the very keys of their registers."""
    cards = []
    for one in masked.holders:
        own = signing.open_key(*one)
        exchange = masks.exchange_public(masks.exchange_private(own.private)[:32])
        told = site_files.card(one[1].name, own.public, exchange)
        cards.append(site_files.read_card(site_files.written(site_files.CARD, told, own.sign), "card"))
    study = studies.make_study(PLAN, masked.found.roster, "Centre", masked.key, holders=cards)
    found = site_files.read_study(study)
    assert found.are_both == [False, False]
    note = studies.who_learns(found).note
    assert note is not None and "ML-KEM" not in text(note.id, **note.values)
    shares = [site_files.read(one.share(study, "earlier"), SHARE, one.name) for one in sites]
    assert all(len(one.head["ephemeral"]) == 64 for one in shares)
    roster = studies.write_roster(study, shares, masked.key)
    answers = [
        site_files.read(studies.write_mask(study, roster, "r", *one), "mask", "m") for one in masked.holders
    ]
    totals = site_files.unmask(found, shares, answers)
    assert all((abs(one) < 2**20).all() for one in totals)


def test_a_site_whose_library_has_no_ml_kem_pays_nothing(
    masked: Masked, sites: list[Site], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(masks, "has_ml_kem", lambda: False)
    before = len(sites[0].ledger.entries())
    with pytest.raises(InputRefused) as refused:
        sites[0].share(masked.study, "without")
    assert refused.value.code == "sites.no_ml_kem"
    assert len(sites[0].ledger.entries()) == before


@pytest.mark.parametrize("ephemeral", ["00" * 32, "zz", 5])
def test_a_key_of_a_share_with_which_no_mask_is_agreed_is_refused_in_words(
    masked: Masked, sites: list[Site], ephemeral: Any
) -> None:
    tree = site_files.roster_of(masked.found, masked.shares)
    head = {**tree["heads"][0]["head"], "ephemeral": ephemeral}
    signed = {"head": head, "signature": sites[0].key.sign(site_files._signed(SHARE, head))}
    roster = site_files.written(
        site_files.ROSTER, {**tree, "heads": [signed, *tree["heads"][1:]]}, masked.key.sign
    )
    with pytest.raises(InputRefused) as refused:
        masked.answer(roster)
    assert refused.value.code == "sites.forged"


def test_what_a_site_sends_is_hidden_and_what_it_promises_is_the_noise_of_all(
    masked: Masked, sites: list[Site]
) -> None:
    numbers = np.frombuffer(masked.shares[0].numbers, dtype="<i8")
    assert (np.abs(numbers.astype(float)) > 2**40).all()  # less than one in ten million by chance
    design = check(studies.plan_of_site(masked.study, "North", sites[0].plan), base=sites[0].folder)
    loss = design.cost.loss
    assert loss is not None and loss.epsilon == Fraction(1, 2)
    assert [draw.sampler for draw in design.cost.drawn()] == ["laplace_share"]
    assert {"least_honest", "holders_apart"} <= set(design.cost.assumptions)
    side = nbinom.pmf(np.arange(400), 1 / 2, 1 - np.exp(-1 / 2))  # of half the noise of scale 2
    law = np.convolve(side, side[::-1])[390:410]
    worst = np.abs(np.diff(np.log(law))).max()
    assert design.alone == pytest.approx(worst, rel=1e-6)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("sites_", "holders", "least"), [(2, 1, None), (3, 4, None), (3, 1, 3), (3, 1, 1), (3, 0, None)]
)
def test_masks_need_three_sites_and_holders_apart(sites_: int, holders: int, least: int | None) -> None:
    cards = [Member(f"H{place}", key(40 + place).public, "09" + 31 * "00") for place in range(holders)]
    cards = cards or [Member("Centre", CENTRE.public, "09" + 31 * "00")]
    with pytest.raises(InputRefused) as refused:
        studies.make_study(PLAN, ROSTER[:sites_], "Centre", CENTRE, holders=cards, least=least)
    assert refused.value.code == "sites.holders"


def test_a_share_alone_has_the_level_that_was_worked_out_before() -> None:
    from engine.privacy.mechanisms.laplace_share import LaplaceShare, level_alone

    for parts, level in ((2, 1.68), (3, 2.08), (5, 2.60), (10, 3.30), (20, 3.99)):
        assert level_alone(LaplaceShare(Fraction(1), Fraction(1), parts=parts)) == pytest.approx(
            level, abs=0.01
        )
    for parts, level in ((2, 0.61), (3, 1.04), (5, 1.60), (10, 2.34), (20, 3.07)):
        assert level_alone(LaplaceShare(Fraction(10), Fraction(1), parts=parts)) == pytest.approx(
            level, abs=0.01
        )


def test_with_a_delta_the_shares_are_gaussian_and_say_what_one_alone_has(
    others: list[Site], masked: Masked
) -> None:
    assert PLAN.budget is not None
    gaussian = replace(
        PLAN,
        budget=replace(PLAN.budget, delta=Fraction(1, 10**6)),
        parameters={**PLAN.parameters, "noise": "gaussian"},
    )
    for one in others:
        name = f"{one.name} with δ"
        one.holding = one.ledger.create_holding(
            name, unit="person", neighbours="add_remove", epsilon=5, delta=Fraction(1, 1000)
        )
        one.plan = replace(PLAN, files=one.plan.files, holding=name, holding_budget=None)
    roster = [Member(one.name, one.key.public) for one in others]
    study = studies.make_study(gaussian, roster, "Centre", masked.key, holders=masked.found.holders)
    share = studies.plan_of_site(study, "North", others[0].plan).design
    assert share.cost.loss is not None and share.inner.cost.loss is not None
    ((drawn, times),) = share.cost.drawn().items()
    assert (drawn.sampler, drawn.shape, times) == ("gaussian_share", (2,), 1)
    whole = float(share.inner.cost.loss.epsilon)
    assert 1.2 * whole < share.alone < 3 * whole  # of half the variance, by concentrated privacy
    sent = [site_files.read(one.share(study, "gaussian"), SHARE, one.name) for one in others]
    listed = studies.write_roster(study, sent, masked.key)
    answers = [
        site_files.read(studies.write_mask(study, listed, "r", *one), "mask", "m") for one in masked.holders
    ]
    found = site_files.read_study(study)
    (total,) = site_files.unmask(found, sent, answers)
    rows = [pd.read_csv(one.folder / "people.csv").drop_duplicates("patient_nbr") for one in others]
    women = sum(int((one["gender"] == "Female").sum()) for one in rows)
    assert abs(int(total[0]) - women) < 6 * sqrt(1.5 * float(drawn.parameter))
    coarse = replace(gaussian, budget=replace(gaussian.budget, epsilon=Fraction(5)))
    many = [Member(f"Site {place}", key(place).public) for place in range(10, 40)]
    assert refusal(studies.make_study, coarse, many, "Centre", masked.key, holders=masked.found.holders) == (
        "sites.no_shares"
    )


def test_before_a_study_is_written_it_is_said_which_way_to_add_noise_pays() -> None:
    """Of N sites own noise has √N, or with limits of single draws a little less, one noise √(N / (N − 1))."""
    ways = {sites: studies.forecast_ways(PLAN, sites) for sites in (2, 5, 20)}
    verdicts = {sites: view.note.id.rpartition(".")[2] for sites, view in ways.items() if view.note}
    assert verdicts == {2: "two", 5: "pays", 20: "pays"}
    _, _, own, one = ways[20].rows[0]
    assert 3.2 < float(own) / float(one) < 4.4  # type: ignore[arg-type]
    assert ways[2].rows[0][-1] is None
    delta, narrow = Fraction(1, 10**6), {**PLAN.parameters, "noise": "gaussian"}
    fine = plans(method("models.pca"))[0]
    assert PLAN.budget is not None and fine.budget is not None
    fine = replace(fine, budget=replace(fine.budget, delta=delta))
    coarse = replace(PLAN, budget=replace(PLAN.budget, epsilon=Fraction(5), delta=delta), parameters=narrow)
    for plan, sites, verdict in ((fine, 5, "pays"), (coarse, 30, "no_shares")):
        found = studies.forecast_ways(plan, sites)
        assert found.note is not None and found.note.id.endswith(verdict)
    for plan, sites, code in (
        (PLAN, 1, "sites.roster"),
        (plans(method("models.k_means"))[0], 5, "sites.method"),
    ):
        with pytest.raises(InputRefused) as refused:
            studies.forecast_ways(plan, sites)
        assert refused.value.code == code


def test_who_learns_what_says_which_level_holds_if_they_work_together(masked: Masked) -> None:
    """All that stands before one site's sums is its share then: ε 1/2 of scale 2, halved among two sites."""
    levels = {row[0].id.rpartition(".")[2]: row[2] for row in studies.who_learns(masked.found).rows}
    alone = masked.found.noise_in(1)
    assert alone == Fraction(1, 2)
    assert levels["together"] == pytest.approx(1.04, abs=0.3) and levels["together"] > 0.5
    assert {one for name, one in levels.items() if name != "together"} == {0.5}
    own = studies.who_learns(FOUND).rows
    assert {row[2] for row in own} == {0.5}


def test_who_learns_what_of_several_rounds_counts_them_all(others: list[Site]) -> None:
    """Before, the result of three rounds said the level of the last one, a third of what was spent."""
    roster = [Member(one.name, one.key.public) for one in others]
    first = site_files.read_study(studies.make_study(ROUNDS, roster, "Centre", CENTRE))
    shares = _read([one.share(site_files.written("study", first.head, CENTRE.sign), "1") for one in others])
    second = site_files.read_study(
        studies.next_round(site_files.written("study", first.head, CENTRE.sign), shares, CENTRE)
    )
    for study in (first, second):
        whole = [row[2] for row in studies.who_learns(study).rows]
        assert whole == pytest.approx(len(whole) * [float(ROUNDS.budget.epsilon)], rel=1e-2)
        told = [row[2] for row in trust_view(study).rows]
        assert told == pytest.approx(len(told) * [float(studies.level_of_round(study))], rel=1e-2)
        assert max(told) < min(whole)


SLOTS = {"noise": "gaussian", "slot": "gender"}


@pytest.mark.parametrize("one", SUMMABLE, ids=lambda one: one.id)
@pytest.mark.parametrize("slots", [False, True])
def test_a_share_reads_rows_as_the_method_of_its_study_does(one: Any, slots: bool) -> None:
    """Its noise is for rows that were drawn so: of a person with one row in a slot it has less."""
    plan = fitting(one)
    if slots:
        if one.id != "statistics.counts":
            return
        assert plan.budget is not None
        plan = replace(plan, budget=replace(plan.budget, delta=Fraction(1, 10**6)))
        plan = replace(
            plan.with_schema(replace(plan.schema, rows_per_person=3)),
            parameters={"columns": ["gender"], **SLOTS},
        )
    study = studies.make_study(plan, ROSTER, "Centre", CENTRE)
    share = studies.plan_of_site(study, "North", plan).design
    assert not share.problems
    assert (share.slot_of is None, share.counts_people) == (not slots, plan.design.counts_people)
    assert share.cost.loss is not None and plan.design.cost.loss is not None
    of_round = plan.design.rounds[0] if plan.design.rounds else plan.design.cost.loss.events
    assert share.cost.loss.events == of_round


@pytest.mark.parametrize("parts", [2, 5, 20])
def test_the_level_of_a_share_on_a_fine_grid_is_that_of_its_law(
    parts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beyond what can be listed: a closed form, never below what the law says, and near it."""
    from engine.privacy.mechanisms import laplace_share

    cases = [(Fraction(8000), moved) for moved in (1, 1000, 8000)]
    listed = [laplace_share._ratio(float(scale), moved, 1 / parts) for scale, moved in cases]
    monkeypatch.setattr(laplace_share, "_MOST_POINTS", 1)
    closed = [laplace_share._ratio(float(scale), moved, 1 / parts) for scale, moved in cases]
    assert all(one <= other for one, other in zip(listed, closed, strict=True))
    assert closed[1:] == pytest.approx(listed[1:], rel=1e-3)
    huge = laplace_share.LaplaceShare(Fraction(10**12), Fraction(10**12), parts=parts)
    once, spread = (laplace_share.level_alone(huge, cells) for cells in (1, 10))
    assert 0 < once < spread < 10 * once


def _with(head: Any, place: tuple[Any, ...], value: Any) -> Any:
    """Return a head with another value at a place."""
    if not place:
        return value
    inside = dict(head) if isinstance(head, dict) else list(head)
    inside[place[0]] = _with(inside[place[0]], place[1:], value)
    return inside


DOMAIN = ("schemas", MAIN, "columns")
WRITTEN = {
    "no parameters": (("parameters",), {}),
    "another parameter": (("parameters", "columns"), ["nobody"]),
    "a parameter of another kind": (("parameters", "columns"), 7),
    "a level beyond floating point": (("budget", "epsilon"), 10**400),
    "a level of nothing": (("budget", "epsilon"), 0),
    "less than nothing": (("budget", "epsilon"), -1),
    "a failure for sure": (("budget", "delta"), 1),
    "another relation": (("budget", "neighbours"), "replace_one"),
    "no sizes": (("sizes",), []),
    "no columns": ((*DOMAIN,), []),
    "another method": (("method",), "models.logistic"),
    "a method without sums": (("method",), "datasets.k_anonymity"),
    "a rows limit": (("schemas", MAIN, "rows_per_person"), 10**30),
}
WRITTEN |= {
    f"column {place} without values": ((*DOMAIN, place, "domain"), {"values": []})
    for place, column in enumerate(FOUND.head["schemas"][MAIN]["columns"])
    if "values" in column.get("domain", {})
}


@pytest.mark.parametrize("written", WRITTEN.values(), ids=list(WRITTEN))
def test_whatever_a_coordinator_signed_a_site_gets_an_answer_in_words(written: Any) -> None:
    """A study comes from elsewhere: one that nothing can be made of is refused, and ends no program."""
    signed = site_files.written(site_files.STUDY, _with(dict(FOUND.head), *written), CENTRE.sign)
    for ask in (
        lambda: studies.who_learns(site_files.read_study(signed)),
        lambda: studies.level_of_round(site_files.read_study(signed)),
        lambda: check(studies.plan_of_site(signed, "North", PLAN)),
    ):
        try:
            ask()
        except InputRefused as refusal:
            assert all(explain(refusal))
