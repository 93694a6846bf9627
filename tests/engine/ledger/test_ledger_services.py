"""Services and their visits, releases without a loss, registers without or with another budget."""

from __future__ import annotations

from fractions import Fraction

import pytest

from engine import texts
from engine.errors import InputRefused
from engine.ledger import Ledger, journal

from .conftest import add
from .test_ledger_processes import killed, start

SUMS = {"release_sums_hash": "a" * 64, "internal_sums_hash": "b" * 64}
STATES = [digit * 64 for digit in "0123456789"]


def refused(code, action):
    with pytest.raises(InputRefused) as caught:
        action()
    assert caught.value.code == f"ledger.{code}"
    return texts.explain(caught.value)


def done(ledger, entry, state_hash=None):
    ledger.spend(entry)
    ledger.complete(entry, **SUMS, state_hash=state_hash)
    return entry


@pytest.fixture
def desk(ledger, reserve):
    """A service that was opened with half of the register's ε."""
    return done(ledger, reserve("1/2", title="Desk"), STATES[0])


@pytest.fixture
def visit(reserve, desk):
    def call(epsilon, state=0, **others):
        return reserve(epsilon, **({"parent": desk, "state_hash": STATES[state]} | others))

    return call


# Releases without a loss


@pytest.mark.parametrize("loss, bounds_all", [("unbounded", False), ("none", True)])
def test_a_release_without_a_stated_loss_is_an_entry_and_never_over_budget(
    ledger, holding, reserve, loss, bounds_all
):
    done(ledger, reserve("1"))
    entry = done(ledger, reserve(None, loss=loss, unit=None, neighbours=None))
    status = ledger.status(holding)
    assert (status.epsilon_spent, status.releases, status.bounds_all) == (1, 2, bounds_all)
    assert (ledger.entry(entry).loss, ledger.entry(entry).state) == (loss, "complete")
    listed = ledger.to_json()["holdings"][0]["releases"][1]
    assert (listed["loss"], listed["unbounded"]) == (loss, not bounds_all)
    refused("cannot_be_spent", lambda: ledger.spend(entry))  # once, also without noise
    ledger.verify_chain()


@pytest.mark.parametrize(
    "epsilon, loss", [("1/2", "none"), ("1/2", "unbounded"), (None, "bounded"), (None, "x")]
)
def test_a_loss_that_does_not_fit_is_refused(ledger, reserve, epsilon, loss):
    refused("bad_loss", lambda: reserve(epsilon, loss=loss))


def test_what_a_kit_promises_to_others_is_not_paid_from_this_register(ledger, holding, reserve):
    promise = {"kind": "local_dp", "loss": {"epsilon": "2", "delta": "0", "neighbours": "replace_one"}}
    done(ledger, reserve(None, loss="none", guarantee_json=promise))
    assert ledger.status(holding).epsilon_spent == 0
    refused("guarantee_differs", lambda: reserve(None, guarantee_json=promise))  # not where rows are read
    refused("guarantee_differs", lambda: reserve("1", guarantee_json=promise))
    counted = {"epsilon": "1/1000", "delta": "0", "loss": {"epsilon": "1/2", "delta": "0"}}
    refused("guarantee_differs", lambda: reserve("1/2", guarantee_json=counted))


def test_a_register_without_a_budget_lists_releases_and_pays_for_none(ledger, reserve, asked):
    made = ledger.create_holding("Forms", unit="person", neighbours="add_remove")
    assert (made.epsilon, ledger.status("Forms").epsilon_left) == (None, None)
    named = {"plan_fingerprint": "p", "title": "t", "recipient": "r"}
    done(ledger, ledger.reserve("Forms", **named, **asked(None)))
    refused("no_budget", lambda: ledger.reserve("Forms", **named, **asked("0.1")))
    assert ledger.preview("Forms", **asked("0.1")).refusal.code == "ledger.no_budget"
    assert ledger.preview("Forms", **asked("0.1")).epsilon_after is None
    assert ledger.to_json()["holdings"][1]["budget"] == {"epsilon": None, "delta": "0/1"}
    ledger.change_budget("Forms", "The board decided", epsilon=1, unit="row", neighbours="replace_one")
    found = ledger.status("Forms")
    assert (found.epsilon_left, found.bounds_all, found.holding.unit) == (1, False, "row")


# Budgets that change


def test_a_budget_is_raised_and_lowered_with_a_reason_that_is_journalled(ledger, holding, reserve):
    done(ledger, reserve("3/4"))
    refused("no_reason", lambda: ledger.change_budget(holding, " ", epsilon=2))
    made = ledger.change_budget(holding, "Board decision 7", epsilon=2, money=40000, currency="EUR")
    assert (made.epsilon, made.money, made.currency) == (2, 40000, "EUR")
    event = ledger.journal()[-1]
    assert (event["kind"], event["details"]["reason"]) == ("budget_changed", "Board decision 7")
    assert event["details"]["before"] == {"epsilon": "1/1", "money": None, "currency": ""}
    assert event["changes"] == {"epsilon": "2/1", "money": "40000/1", "currency": "EUR"}
    assert ledger.status(holding).epsilon_left == Fraction(5, 4)
    assert ledger.change_budget(holding, "To what is spent", epsilon="3/4").epsilon == Fraction(3, 4)
    what, _ = refused("below_spent", lambda: ledger.change_budget(holding, "Less", epsilon="74/100"))
    assert "0.75" in what
    assert ledger.status(holding).epsilon_left == 0
    listed = ledger.to_json()["holdings"][0]["budget_changes"]
    assert [one["reason"] for one in listed] == ["Board decision 7", "To what is spent"]
    assert listed[1]["before"] == {"epsilon": "2/1"} and listed[1]["after"] == {"epsilon": "3/4"}
    ledger.verify_chain()


def test_a_change_that_changes_nothing_leaves_no_event(ledger, holding):
    before = ledger.head()
    assert ledger.change_budget(holding, "Nothing", epsilon="1.0").epsilon == 1
    assert ledger.head() == before


def test_a_delta_is_not_lowered_below_what_is_spent_and_the_accountant_is_asked_at_the_new_one(
    ledger, holding, reserve
):
    reserve("1/4", "1e-7")
    refused("below_spent", lambda: ledger.change_budget(holding, "Less", delta="1e-8"))
    asked_at = []

    def accountant(found):
        asked_at.append(found.delta)
        return lambda guarantees: (Fraction(2), Fraction(0))

    refused("below_spent", lambda: ledger.change_budget(holding, "x", delta="1e-7", accountant=accountant))
    assert asked_at == [Fraction(1, 10**7)]
    assert ledger.holding(holding).delta == Fraction(1, 10**6)


@pytest.mark.parametrize("change", [{"unit": "row"}, {"neighbours": "replace_one"}])
def test_the_kind_of_a_budget_that_was_spent_from_is_fixed(ledger, holding, reserve, change):
    entry = reserve("1/4")
    refused("kind_is_fixed", lambda: ledger.change_budget(holding, "Why not", **change))
    ledger.free(entry)
    ledger.change_budget(holding, "Nothing was spent", **change)


# Services


def test_a_visit_draws_from_what_was_reserved_and_not_from_the_register(ledger, holding, desk, visit):
    assert ledger.status(holding).epsilon_spent == Fraction(1, 2)
    done(ledger, visit("1/8"), STATES[1])
    done(ledger, visit("1/4", 1), STATES[2])
    found = ledger.service(desk)
    assert (found.epsilon_spent, found.epsilon_left) == (Fraction(3, 8), Fraction(1, 8))
    assert (found.state_hash, len(found.visits), found.underway) == (STATES[2], 2, None)
    assert ledger.status(holding).epsilon_spent == Fraction(1, 2)
    what, _ = refused("over_reserved", lambda: visit("1/7", 2))
    assert "Desk" in what
    done(ledger, visit("1/8", 2), STATES[3])
    assert ledger.service(desk).epsilon_left == 0
    ledger.verify_chain()


def test_visits_beyond_what_was_reserved_are_paid_by_the_register(ledger, holding, desk, visit):
    """A program that weighs nothing entered them: each alone would fit."""
    for place, (epsilon, total) in enumerate((("1/4", "1/2"), ("1/4", "1/2"), ("1/2", "1"), ("1/8", "9/8"))):
        entry = visit(epsilon, place, compose=lambda _: (Fraction(0), Fraction(0)))
        done(ledger, entry, STATES[place + 1])
        assert ledger.status(holding, add).epsilon_spent == Fraction(total)
        assert ledger.status(holding).epsilon_spent == Fraction(total)


def test_visits_whose_squares_add_up_are_not_more_than_was_reserved(ledger, holding, reserve):
    """Their sum is; the accountant says what they are together, and what is beyond it is paid."""

    def squares(guarantees):
        return sum((Fraction(one["epsilon"]) ** 2 for one in guarantees), Fraction(0)), Fraction(0)

    desk = done(ledger, reserve("1/4", "1e-6"), STATES[0])
    for place, paid in enumerate((0, 0, 0, 0, 1)):
        terms = {"parent": desk, "state_hash": STATES[place], "compose": lambda _: (Fraction(0), Fraction(0))}
        done(ledger, reserve("1/4", "1e-6", **terms), STATES[place + 1])
        assert ledger.status(holding, squares).epsilon_spent == Fraction(1 + paid, 16)


def test_the_preview_of_a_visit_says_what_the_reservation_would(ledger, holding, desk, asked):
    terms = {"parent": desk, "state_hash": STATES[0]}
    fits = ledger.preview(holding, **asked("1/2"), **terms)
    assert (fits.refusal, fits.epsilon_total) == (None, Fraction(1, 2))
    assert ledger.preview(holding, **asked("51/100"), **terms).refusal.code == "ledger.over_reserved"
    old = ledger.preview(holding, **asked("1/2"), parent=desk, state_hash=STATES[5])
    assert old.refusal.code == "ledger.other_state"


def test_an_old_copy_of_the_state_is_noticed(ledger, desk, visit):
    done(ledger, visit("1/8"), STATES[1])
    for state in (0, 2):
        refused("other_state", lambda state=state: visit("1/8", state))
    refused("other_state", lambda: visit("1/8", state_hash=None))
    assert len(ledger.service(desk).visits) == 1


def test_one_visit_at_a_time(ledger, desk, visit):
    first = visit("1/8")
    refused("visit_underway", lambda: visit("1/8"))
    ledger.free(first)
    second = visit("1/8")
    ledger.spend(second)
    refused("visit_underway", lambda: visit("1/8"))
    ledger.fail(second)
    third = visit("1/4")  # from the state before: the failed visit left none, and stays paid
    assert ledger.service(desk).epsilon_left == Fraction(1, 8)
    done(ledger, third, STATES[1])


def test_a_question_is_paid_for_once(ledger, desk, visit):
    failed = visit("1/8", questions=["how many are 40?"])
    ledger.spend(failed)
    ledger.fail(failed)  # it was never answered
    done(ledger, visit("1/8", questions=["how many are 40?", "how many are 41?"]), STATES[1])
    refused("paid_already", lambda: visit("1/8", 1, questions=["how many are 41?"]))
    again = done(ledger, visit(None, 1, loss="none"), STATES[1])  # given once more, for nothing
    assert ledger.service(desk).epsilon_spent == Fraction(1, 4)
    assert ledger.entry(again).counts and ledger.service(desk).state_hash == STATES[1]
    assert ledger.service(desk).visits[1].questions == (
        "how many are 40?",
        "how many are 41?",
    )


def test_a_visit_without_guarantee_ends_the_bound(ledger, holding, desk, visit):
    done(ledger, visit(None), STATES[1])
    assert not ledger.status(holding).bounds_all


@pytest.mark.parametrize("end", ["withdraw", "fail", "leave"])
def test_only_an_open_service_is_visited(ledger, reserve, visit, desk, end):
    if end == "withdraw":
        ledger.withdraw(desk, "Closed")
        refused("not_open", lambda: visit("1/8"))
    other = reserve("1/8")
    if end == "fail":
        ledger.spend(other)
        ledger.fail(other)
    refused("not_open", lambda: reserve("1/16", parent=other))


def test_a_visit_is_no_service_and_another_register_opens_nothing(ledger, desk, visit, asked):
    first = done(ledger, visit("1/8"), STATES[1])
    refused("not_open", lambda: visit("1/16", parent=first))
    ledger.create_holding("Other", unit="person", neighbours="add_remove", epsilon=1)
    named = {"plan_fingerprint": "p", "title": "t", "recipient": "r", "parent": desk, "state_hash": STATES[1]}
    refused("not_open", lambda: ledger.reserve("Other", **named, **asked("1/16")))


def test_a_visit_counts_in_the_units_of_the_register(ledger, desk, visit):
    refused("unit_differs", lambda: visit("1/8", unit="row"))
    refused("neighbours_differ", lambda: visit("1/8", neighbours="replace_one"))


def test_a_collection_follows_its_kit(ledger, holding, reserve):
    kit = done(ledger, reserve(None, loss="none", title="Kit"))
    done(ledger, reserve(None, loss="none", parent=kit))
    done(ledger, reserve("1/4", parent=kit))  # the kit reserved nothing: the register pays
    assert ledger.status(holding).epsilon_spent == Fraction(1, 4)
    refused("over_budget", lambda: reserve("4/5", parent=kit))
    assert len(ledger.service(kit).visits) == 2
    ledger.verify_chain()


VISIT = """
    def visit(state):
        return ledger.reserve("Diabetes register", plan_fingerprint="p", title="Visit", recipient="R",
            guarantee_json={{"epsilon": "1/4", "delta": "0"}}, epsilon="1/4", delta="0", unit="person",
            neighbours="add_remove", compose=add, parent="{desk}", state_hash=state, questions=["q"],
            folder="/tmp/left-here")
    first = visit("0" * 64)
    print(first)
"""
SUMMED = 'release_sums_hash="a" * 64, internal_sums_hash="b" * 64, state_hash="1" * 64'


@pytest.mark.parametrize(
    "steps, ends, drawn, state",
    [
        ("die()", "freed", 0, 0),
        ("ledger.spend(first); die()", "failed", Fraction(1, 4), 0),
        (f"ledger.spend(first); ledger.complete(first, {SUMMED}); die()", None, Fraction(1, 4), 1),
    ],
)
def test_a_visit_that_is_killed_at_any_step(ledger, holding, desk, visit, path, steps, ends, drawn, state):
    first = killed(path, VISIT.format(desk=desk) + f"    {steps}\n")
    if ends is not None:
        refused("visit_underway", lambda: visit("1/4"))
        assert ledger.leftovers()[0].folder == "/tmp/left-here"
        assert ledger.resolve(first, "Power cut") == ends
    found = ledger.service(desk)
    assert (found.epsilon_spent, found.state_hash) == (drawn, STATES[state])
    assert ledger.status(holding).epsilon_spent == Fraction(1, 2)
    if state:
        refused("other_state", lambda: visit("1/4", 0, questions=["q"]))
        refused("paid_already", lambda: visit("1/4", 1, questions=["q"]))
    done(ledger, visit("1/4", state), STATES[2])
    refused("over_reserved", lambda: visit("1/3", 2))
    ledger.verify_chain()


@pytest.mark.guarantee
def test_six_visitors_at_once_draw_no_more_than_was_reserved(ledger, holding, desk, path):
    """Each tries until the desk is free; of six quarters only two fit into the half that was reserved."""
    script = (
        VISIT.format(desk=desk).split("    first =")[0]
        + """
    answer = ""
    while answer not in ("ledger.over_reserved", "done"):
        try:
            state = ledger.service("{desk}").state_hash
            entry = visit(state)
            ledger.spend(entry)
            ledger.complete(entry, release_sums_hash="a" * 64, internal_sums_hash="b" * 64,
                            state_hash=os.urandom(32).hex())
            answer = "done"
        except EngineError as error:
            answer = error.code
    print(answer)
""".replace("{desk}", desk)
    )
    visitors = [
        start(path, script.replace('questions=["q"]', f'questions=["q{number}"]')) for number in range(6)
    ]
    answers = sorted(visitor.communicate(timeout=120)[0].strip() for visitor in visitors)
    assert answers == ["done", "done", *["ledger.over_reserved"] * 4]
    found = ledger.service(desk)
    assert (found.epsilon_left, len(found.visits)) == (0, 2)
    assert ledger.status(holding).epsilon_spent == Fraction(1, 2)
    ledger.verify_chain()


# What dead processes leave behind


def test_folders_of_the_dead_are_listed_until_they_are_swept(ledger, holding, reserve, path):
    alive = reserve("1/8", folder="/tmp/mine")
    dead = killed(
        path, 'one = reserve(ledger, "1/8", folder="/tmp/left"); ledger.spend(one); print(one); die()'
    )
    assert [(one.id, one.folder) for one in ledger.leftovers()] == [(dead, "/tmp/left")]
    ledger.resolve(dead, "Power cut")
    assert [one.id for one in ledger.leftovers()] == [dead]  # resolving an entry sweeps no folder
    ledger.swept(alive)  # its process lives: nothing to sweep
    ledger.swept(dead)
    assert ledger.leftovers() == []
    assert ledger.entry(alive).folder == "/tmp/mine"
    ledger.free(alive)
    assert ledger.entry(alive).folder == ""
    assert Ledger(path).verify_chain() == ledger.head()


@pytest.mark.parametrize("name", ["Überlebende", "zebra"])
def test_a_register_that_is_called_by_the_id_of_another_does_not_pay_for_it(ledger, reserve, name):
    """A budget anew for the same people, for whoever may make a register."""
    first = ledger.create_holding(name, unit="person", neighbours="add_remove", epsilon="1")
    ledger.create_holding(first.id, unit="person", neighbours="add_remove", epsilon="50")
    assert ledger.holding(first.id) == first
    assert ledger.status(first.id).holding == first
    assert ledger.holding(name.upper()) == first


def test_visits_that_together_take_more_than_was_reserved_pay_themselves(ledger, holding, desk, visit):
    """No program enters them: whoever writes the file can, where no rule of the register is about ε."""
    for number in range(1, 4):
        with ledger._transaction(write=True) as db:
            row = dict(db.execute("SELECT * FROM entry WHERE id = ?", (desk,)).fetchone())
            identity = f"r{number}"
            said = {"number": 90 + number, "parent": desk, "epsilon": "1/4", "state_hash": STATES[number]}
            changes = row | said | {"guarantee": row["guarantee"].replace('"1/2"', '"1/4"')}
            journal.change(
                db, "completed", "entry", identity, {k: v for k, v in changes.items() if k != "id"}
            )
        expected = Fraction(1, 2) if number < 3 else Fraction(3, 4)
        assert ledger.status(holding).epsilon_spent == expected, number
        assert ledger.status(holding, add).epsilon_spent == expected, number
    ledger.verify_chain()


@pytest.mark.parametrize(
    "name",
    [
        "Re\u0301gistre B",
        "R\u00e9gistre\u00a0B",
        "R\u00e9gistre \u200bB",
        "R\u00e9gi\u0455tre B",
        "R\u00c9GISTRE  B",
    ],
)
def test_a_register_that_looks_like_another_is_that_one(ledger, name):
    """A name from another system, or one made to be taken for it, would pay from a budget of its own."""
    first = ledger.create_holding("R\u00e9gistre B", unit="person", neighbours="add_remove", epsilon="1")
    refused(
        "name_taken",
        lambda: ledger.create_holding(name, unit="person", neighbours="add_remove", epsilon="1"),
    )
    assert ledger.holding(name).id == first.id
