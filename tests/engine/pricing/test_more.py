"""The posterior model, several releases under one budget, and the precedents."""

import math
import shutil
from fractions import Fraction
from importlib.resources import as_file, files

import pytest

from engine.errors import InputRefused
from engine.pricing.anchors import CHECK, read_anchors
from engine.pricing.cost import Cost
from engine.pricing.posterior import PosteriorCost, compare, epsilon_for_posterior, posterior
from engine.pricing.releases import divide, together
from engine.pricing.statement import posterior_to_json
from engine.privacy.at_risk.mechanisms import discrete_laplace, gaussian
from engine.texts import explain

COST = Cost(people=100, compensation=Fraction(5500))


def test_posterior_by_hand():
    assert posterior(0.5, 1) == pytest.approx(0.7311, abs=5e-5)
    assert posterior(0.5, 1, known_in_table=True) == pytest.approx(0.8808, abs=5e-5)
    assert posterior(0.5, 1, known_in_table=True, neighbours="replace_one") == pytest.approx(0.7311, abs=5e-5)
    # A deployed level of 12 leaves 99.9994 % from 50 % and 99.9392 % from 1 %.
    assert posterior(0.5, 12) == pytest.approx(0.999994, abs=5e-7)
    assert posterior(0.01, 12) == pytest.approx(0.999392, abs=5e-7)
    assert posterior(0.01, 1000) == 1


@pytest.mark.parametrize("known", [False, True])
def test_posterior_and_back(known):
    reached = posterior(0.2, 0.7, known_in_table=known)
    assert epsilon_for_posterior(0.2, reached, known_in_table=known) == pytest.approx(0.7)
    assert epsilon_for_posterior(0.2, 0.1, known_in_table=known) == 0


@pytest.mark.parametrize("known", [False, True])
def test_posterior_price(known):
    owed = Cost(people=100, compensation=Fraction(5500), minimum=Fraction(500))
    model = PosteriorCost(owed, Fraction(1, 10), known_in_table=known)
    assert model.at(0) == owed.least and model.at(math.inf) == pytest.approx(owed.liability)
    by_hand = (posterior(0.1, 1.3, known_in_table=known) - 0.1) / 0.9
    assert model.at(1.3) == pytest.approx(owed.least + 500_000 * by_hand)
    assert model.epsilon_for(model.at(1.3)) == pytest.approx(1.3)
    assert model.epsilon_for(1) == 0 and math.isinf(model.epsilon_for(550_000))


def test_posterior_price_is_convex_only_below_one_half():
    model = PosteriorCost(COST, Fraction(1, 100))
    turn = math.log(99)
    below = [model.at(turn * i / 50) for i in range(51)]
    above = [model.at(turn * (1 + i / 50)) for i in range(51)]
    assert all(a + c >= 2 * b - 1e-6 for a, b, c in zip(below, below[1:], below[2:], strict=False))
    assert all(a + c <= 2 * b + 1e-6 for a, b, c in zip(above, above[1:], above[2:], strict=False))


def test_conclusion_names_both_models():
    sceptic = PosteriorCost(COST, Fraction(1, 1000))
    found = compare(sceptic, epsilon0=1, budget=220_000)
    assert found.first_allows and found.second_allows and not found.changes
    fearful = PosteriorCost(COST, Fraction(1, 2))
    assert compare(fearful, epsilon0=1, budget=220_000).changes
    tree = posterior_to_json(COST, 1.0, "0.5", neighbours="add_remove", budget="220000")
    assert tree["value"] == pytest.approx(0.8808, abs=5e-5) and tree["conclusion"]["changes"]
    unbounded = posterior_to_json(COST, math.inf, "0.5", neighbours="add_remove", budget=None)
    assert unbounded["presence"] == 1 and "conclusion" not in unbounded
    with pytest.raises(InputRefused) as refused:
        posterior(0.5, 1, neighbours="next_door")
    assert all(explain(refused.value))


def test_prices_of_releases_are_not_added():
    joint = together(COST, [(discrete_laplace(epsilon0=0.1), 5)], budget=70_000)
    assert joint.price == pytest.approx(COST.at(0.5)) and joint.price > 5 * COST.at(0.1) * 100
    assert joint.price_certified <= joint.price
    assert joint.left == pytest.approx(70_000 - joint.price_certified)
    unbounded = together(COST, [(gaussian(scale=10), 3)], delta=1e-5)
    assert math.isinf(unbounded.epsilon) and unbounded.price == COST.liability
    assert unbounded.price_certified < 0.2 * COST.liability and unbounded.left is None


def test_expected_joint_price_of_two_atoms_by_hand():
    joint = together(COST, [(discrete_laplace(epsilon0=0.5), 2)])
    q = math.exp(-0.5)
    assert joint.expected == pytest.approx((1 + q**2) / (1 + q) ** 2 * COST.at(1), rel=1e-9)


def test_division_of_a_budget():
    found = divide(COST, budget=150_000, releases=100, delta=1e-6)
    assert found.total == pytest.approx(COST.epsilon_for(150_000))
    assert found.each_by_sum == pytest.approx(found.total / 100)
    assert found.each_composed > 2 * found.each_by_sum
    joint = together(COST, [(discrete_laplace(epsilon0=repr(found.each_composed)), 100)], delta=1e-6)
    assert joint.epsilon_certified <= found.total * (1 + 1e-9)
    one = divide(COST, budget=150_000, releases=1)
    assert one.each_composed == one.total
    owed = Cost(people=1, compensation=Fraction(100), minimum=Fraction(50))
    with pytest.raises(InputRefused) as refused:
        divide(owed, budget=20, releases=2)
    assert all(explain(refused.value))


def test_every_precedent_is_dated_and_to_be_checked():
    found = read_anchors()
    assert {anchor.jurisdiction for anchor in found.anchors} == {"DE", "NL", "IE", "EU", "US"}
    names = [anchor.name for anchor in found.anchors]
    assert len(names) == len(set(names))
    for anchor in found.anchors:
        assert anchor.check == CHECK and anchor.source and anchor.case and anchor.read.year >= 2026
        assert (anchor.amount is None) == (anchor.quantity == "principle")
    for preset in found.presets:
        amounts = [found.named(name).amount for name in preset.anchors]
        assert preset.lowest == min(amounts) and preset.highest == max(amounts)
        assert all(found.named(name).quantity == "compensation" for name in preset.anchors)
    assert {anchor.name for anchor in found.of("NL")} == {"council_of_state_2020", "bravis_2022"}


def test_an_edited_copy_replaces_the_precedents(tmp_path):
    copy = tmp_path / "price_anchors.toml"
    with as_file(files("resources") / "price_anchors.toml") as shipped:
        shutil.copy(shipped, copy)
    assert read_anchors(copy) == read_anchors()
    copy.write_text(copy.read_text(encoding="utf-8").replace("amount = 100\n", "amount = 150.5\n"), "utf-8")
    assert read_anchors(copy).named("bgh_2024").amount == Fraction("150.5")
    assert read_anchors(tmp_path / "absent.toml") == read_anchors()


@pytest.mark.parametrize(
    "content",
    [
        b"\xff\xfe",
        b"anchor = 3",
        b"",
        b"[[anchor]]\nname = ",
        b'[[anchor]]\nname = "x"\n',
        b'[[anchor]]\nname="x"\njurisdiction="DE"\ncase="c"\nyear=2020\nquantity="gift"\n',
        b'[[anchor]]\nname="x"\njurisdiction="DE"\ncase="c"\nyear=2020\nquantity="compensation"\namount=-1\n',
        b'[[anchor]]\nname="x"\njurisdiction="DE"\ncase="c"\nyear=true\nquantity="compensation"\namount=1\n',
    ],
)
def test_broken_copies_are_named(tmp_path, content):
    copy = tmp_path / "mine.toml"
    copy.write_bytes(content)
    with pytest.raises(InputRefused) as refused:
        read_anchors(copy)
    assert "mine.toml" in explain(refused.value)[0]


def test_unknown_precedents_are_refused():
    with pytest.raises(InputRefused) as refused:
        read_anchors().named("nobody")
    assert all(explain(refused.value))
