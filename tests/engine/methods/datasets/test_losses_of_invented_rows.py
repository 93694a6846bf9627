"""What the noisy answers behind invented rows tell about one person, beside what is claimed and promised."""

from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest

from engine.methods.catalogue import method
from engine.methods.datasets import marginals
from engine.methods.datasets.bayes_network import learning
from engine.methods.datasets.bayes_network import shares as network_shares
from engine.methods.datasets.bayes_network.correlation import CorrelationShares
from engine.methods.datasets.bayes_network.shares import Shares
from engine.methods.datasets.latent_model import teaching
from engine.methods.datasets.latent_model.moments import Moments
from engine.methods.datasets.marginal_model import rounds
from engine.methods.datasets.marginal_model.fitting import Measured
from engine.methods.datasets.marginal_model.schedule import CODES as CODES_PART
from engine.methods.datasets.marginal_model.schedule import FREQUENT, Schedule
from engine.methods.protocol import Budget, Context
from engine.privacy.mechanisms import LaplaceCounts
from engine.privacy.promise import Neighbours
from engine.table.hierarchies import Hierarchy
from engine.table.schema import Column, Domain, Kind, Role, Schema
from engine.table.table import Table
from tests.engine.battery.distributions import CheckFailed
from tests.engine.battery.loss import claimed, loss
from tests.engine.methods.datasets.test_seedbased import declared
from tests.noise_source import seeded_noise

ROWS = 2000
NAMES = ("ward", "blood", "born", "seen")
SCHEMA = Schema(
    (
        declared("ward", Kind.CATEGORY, values=("a", "b", "c")),
        declared("blood", Kind.CATEGORY, values=("0", "A", "B", "AB")),
        declared("born", Kind.INTEGER, minimum=Fraction(0), maximum=Fraction(6)),
        declared("seen", Kind.INTEGER, minimum=Fraction(0), maximum=Fraction(6)),
        replace(
            declared("code", Kind.CATEGORY, values=tuple(f"{code:03}" for code in range(300))),
            hierarchy=Hierarchy(prefix=(2,)),
        ),
        declared("owed", Kind.INTEGER, minimum=Fraction(0), maximum=Fraction(499)),
    )
)
CODES = {"columns": [*NAMES, "code"], "about_rows": 20_000}
AMOUNTS = {"columns": [*NAMES, "owed"], "about_rows": 20_000}
GAUSSIAN = Budget(Fraction(2), Fraction(1, 10**6))
NAMED = {"tables": "named", "named": [{"columns": ["ward", "born"]}, {"columns": ["seen", "ward", "blood"]}]}


@dataclass(frozen=True)
class Subject:
    """A method with a plan. ``apart``: it is learnt from some people only, by a coin for each of them."""

    id: str
    given: dict
    budget: Budget
    apart: bool = False


SUBJECTS = {
    "marginals, normal noise": Subject(
        "datasets.marginals", {"about_rows": 20_000, "noise": "gaussian"}, GAUSSIAN
    ),
    "marginals, Laplace": Subject("datasets.marginals", {"about_rows": 20_000}, Budget(Fraction(2))),
    "marginals, with a target": Subject(
        "datasets.marginals", {"about_rows": 20_000, "target": "ward"}, Budget(Fraction(2))
    ),
    "marginals, codes": Subject("datasets.marginals", CODES | {"noise": "gaussian"}, GAUSSIAN),
    "marginals, codes, Laplace": Subject("datasets.marginals", CODES, Budget(Fraction(2))),
    "marginals, frequent values": Subject("datasets.marginals", AMOUNTS | {"noise": "gaussian"}, GAUSSIAN),
    "marginals, frequent values, Laplace": Subject("datasets.marginals", AMOUNTS, Budget(Fraction(2))),
    "marginals, frequent values of single columns": Subject(
        "datasets.marginals", AMOUNTS | {"tables": "single"}, Budget(Fraction(2))
    ),
    "marginals, frequent values, one exchanged for another": Subject(
        "datasets.marginals",
        AMOUNTS | {"tables": "single", "noise": "gaussian"},
        replace(GAUSSIAN, neighbours=Neighbours.REPLACE_ONE),
    ),
    "marginals, few rows": Subject("datasets.marginals", {"about_rows": 100}, Budget(Fraction(1, 4))),
    "marginals, named, normal noise": Subject(
        "datasets.marginals", {"about_rows": 20_000, "noise": "gaussian"} | NAMED, GAUSSIAN
    ),
    "marginals, named, Laplace": Subject(
        "datasets.marginals", {"about_rows": 20_000} | NAMED, Budget(Fraction(2))
    ),
    "marginals, named, one exchanged for another": Subject(
        "datasets.marginals",
        {"about_rows": 20_000} | NAMED,
        Budget(Fraction(2), Fraction(0), Neighbours.REPLACE_ONE),
    ),
    "marginals, named, one exchanged, normal noise": Subject(
        "datasets.marginals",
        {"about_rows": 20_000, "noise": "gaussian"} | NAMED,
        replace(GAUSSIAN, neighbours=Neighbours.REPLACE_ONE),
    ),
    "network": Subject("datasets.network", {"about_rows": 2000}, Budget(Fraction(2))),
    "network, by correlation": Subject(
        "datasets.network", {"about_rows": 2000, "structure": "correlation"}, Budget(Fraction(2))
    ),
    "seeds, pairs": Subject(
        "datasets.seedbased", {"about_rows": 4000, "rows": 5, "model": "pairs"}, GAUSSIAN, True
    ),
    "seeds, network": Subject(
        "datasets.seedbased", {"about_rows": 4000, "rows": 5, "model": "network"}, GAUSSIAN, True
    ),
    "seeds, network by correlation": Subject(
        "datasets.seedbased", {"about_rows": 4000, "rows": 5, "model": "correlation"}, GAUSSIAN, True
    ),
    "latent": Subject(
        "datasets.latent",
        {"about_rows": 4000, "rows": 5, "dimensions": 2, "model": "components"},
        GAUSSIAN,
        True,
    ),
    "latent, autoencoder": Subject(
        "datasets.latent", {"about_rows": 4000, "rows": 5, "dimensions": 2}, GAUSSIAN, True
    ),
}


@pytest.fixture(autouse=True)
def short_fits(monkeypatch):
    """How well a model fits plays no part."""
    for name, few in (("STEPS", 5), ("LAST_STEPS", 20), ("MODEL_ROWS", 4000)):
        monkeypatch.setattr(rounds, name, few)
    monkeypatch.setattr(teaching, "EPOCHS", 1)


def people():
    """Rows of which the first is like no other: alone in two columns, against what holds in the two others.

    Without it scores of some pairs fall and that of another rises, by as much as one row can move them.
    """
    chance = np.random.default_rng(2).random(ROWS)
    born, seen = np.where(chance < 0.05, 0, 3), np.where(chance > 0.95, 6, 3)
    rows = pd.DataFrame({"ward": "a", "blood": "A", "born": born, "seen": seen})
    rows["code"] = "123"
    rows["owed"] = np.where(chance < 0.7, 0, np.where(chance < 0.9, 250, 40))
    rows.loc[0] = ["c", "AB", 0, 6, "299", 499]
    return rows


def request_for(subject, schema=SCHEMA, **given):
    found = method(subject.id).make_request(
        {"people": schema},
        {"columns": list(NAMES), "bins": 7} | subject.given | given,
        budget=subject.budget,
    )
    assert not method(subject.id)(found).problems, method(subject.id)(found).problems
    return found


def releasing(subject, request_of=None):
    """Return what makes a release of a table, and from it all that leaves."""
    own = request_for(subject)

    def run(frame, noise):
        request = request_of(frame) if request_of else own
        release = method(subject.id)(request).run({"people": Table(frame)}, Context(noise, None, Path()))
        return [one.frame.to_csv() for one in release.artefacts], release.views

    return run


def shares(subject, *, run=None, seed=0):
    """Return by kind of answer which part of its claim one person's row uses up."""
    claim = claimed(method(subject.id)(request_for(subject)).cost.loss.events)
    frame, seed = people(), _seed(subject, seed)
    fewer = frame.iloc[1:].reset_index(drop=True)
    found = loss(run or releasing(subject), frame, fewer, rows=ROWS, without=np.array([0]), seed=seed)
    return found.shares_of(claim)


def _seed(subject, seed):
    """Return a seed with which the first person is among those that are learnt from."""
    if not subject.apart:
        return seed
    share = Fraction(request_for(subject).values["model_share"])
    return next(s for s in range(seed, 1000) if seeded_noise(s).bernoulli(share, ROWS)[0])


def used(name):
    """Return the least part of its claim that somebody uses up.

    Whoever is counted everywhere uses all of it. An entropy moves most by those who are alone in their cell,
    which nobody here is everywhere.
    """
    return 0.8 if name.endswith("by correlation") else 1 - 1e-6


@pytest.mark.parametrize("name", [one for one in SUBJECTS if "exchanged" not in one])
def test_one_person_tells_no_more_than_is_claimed_and_all_of_it(name):
    found = shares(SUBJECTS[name])
    assert max(found.values()) <= 1 + 1e-9
    for kind in {"laplace", "gaussian"} & set(found):
        assert found[kind] > used(name)


@pytest.mark.parametrize("name", [one for one in SUBJECTS if "exchanged" in one])
def test_one_person_exchanged_for_another_tells_no_more_than_is_claimed_and_all_of_it(name):
    """The first person becomes one who shares no value with them: every table moves in two cells."""
    subject, frame = SUBJECTS[name], people()
    claim = claimed(method(subject.id)(request_for(subject)).cost.loss.events)
    other = frame.copy()
    other.loc[0] = ["b", "B", 1, 5, "000", 130]
    found = loss(releasing(subject), frame, other, rows=ROWS).shares_of(claim)
    assert set(found) == {"gaussian" if subject.budget.delta else "laplace"}
    assert all(1 - 1e-6 < share <= 1 + 1e-9 for share in found.values())


SEVERAL = ("normal noise", "Laplace", "codes", "frequent values", "named, normal noise", "named, Laplace")


@pytest.mark.parametrize(
    "name", [*(f"marginals, {one}" for one in SEVERAL), "network", "network, by correlation"]
)
def test_a_person_with_several_rows_tells_no_more_than_is_claimed(name):
    """Three rows alike count three times in the same cells, which is the most that three rows can do."""
    subject = SUBJECTS[name]
    schema = Schema((Column("pid", Role.PERSON_KEY), *SCHEMA.columns), rows_per_person=3)
    request = request_for(subject, schema)
    frame = pd.concat([people().iloc[[0, 0]], people()], ignore_index=True)
    run, without = releasing(subject, lambda _: request), np.arange(3)
    told = loss(run, frame, frame.iloc[3:].reset_index(drop=True), rows=len(frame), without=without)
    found = told.shares_of(claimed(method(subject.id)(request).cost.loss.events))
    assert max(found.values()) <= 1 + 1e-9
    assert found["laplace" if "laplace" in found else "gaussian"] > used(name)


# --- mutants --------------------------------------------------------------------------------------


def replaced(owner, name, value):
    """Return a change of a cached property or of anything else that is looked up by name."""

    @contextmanager
    def change():
        new = value
        if isinstance(getattr(owner, name), cached_property):
            old = getattr(owner, name).func
            new = property(lambda one: value(old(one), one))
        with patch.object(owner, name, new):
            yield

    return change


def last_for_nothing(scales, cells):
    """Divide the budget over all tables but the last, which keeps its noise."""
    share = 1 - Fraction(np.sqrt(cells[-1]) / np.sqrt(cells).sum())
    return (*(scale * share for scale in scales[:-1]), scales[-1])


MUTANTS = {
    "marginals, noise of pairs halved": (
        "marginals, normal noise",
        replaced(Schedule, "pair", lambda scale, _: scale / 2),
        "gaussian",
    ),
    "marginals, noise of columns halved": (
        "marginals, normal noise",
        replaced(Schedule, "single", lambda scales, _: tuple(scale / 2 for scale in scales)),
        "gaussian",
    ),
    "marginals, rho counted once for all pairs": (
        "marginals, normal noise",
        replaced(
            Schedule,
            "pair",
            lambda _, one: one._scale((1 - one.single_share) * one.budget * 0.9),
        ),
        "gaussian",
    ),
    "marginals, score said to move by one half": (
        "marginals, Laplace",
        replaced(Schedule, "rate", lambda rate, _: 2 * rate),
        "widest",
    ),
    "marginals, Laplace noise halved": (
        "marginals, Laplace",
        replaced(Schedule, "pair", lambda scale, _: scale / 2),
        "laplace",
    ),
    "marginals, noise of named tables halved": (
        "marginals, named, normal noise",
        replaced(Schedule, "together", lambda scales, _: tuple(scale / 2 for scale in scales)),
        "gaussian",
    ),
    "marginals, each named table given the whole budget": (
        "marginals, named, Laplace",
        replaced(Schedule, "together", lambda scales, one: tuple(one._scale(one.budget) for _ in scales)),
        "laplace",
    ),
    "marginals, a named table beside those that are paid for": (
        "marginals, named, Laplace",
        replaced(Schedule, "_beforehand", lambda scales, one: last_for_nothing(scales, one.cells)),
        "laplace",
    ),
    "marginals, noise of codes halved": (
        "marginals, codes",
        replaced(Schedule, "code", lambda scale, _: scale / 2),
        "gaussian",
    ),
    "marginals, table of codes not paid for": (
        "marginals, codes, Laplace",
        replaced(Schedule, "budget", lambda budget, one: budget * float(1 + CODES_PART * one.codes)),
        "laplace",
    ),
    "marginals, noise of values halved": (
        "marginals, frequent values",
        replaced(Schedule, "value", lambda scale, _: scale / 2),
        "gaussian",
    ),
    "network, noise halved": (
        "network",
        replaced(Shares, "tables", lambda one, _: LaplaceCounts(one.sensitivity, 2 * one.epsilon)),
        "laplace",
    ),
    "network, epsilon counted once for all tables": (
        "network",
        replaced(Shares, "tables", lambda one, own: LaplaceCounts(own.moved, one.epsilon)),
        "laplace",
    ),
    "network, entropies said to move by one half": (
        "network, by correlation",
        replaced(
            CorrelationShares, "entropies", lambda one, _: LaplaceCounts(one.sensitivity, 2 * one.epsilon)
        ),
        "laplace",
    ),
    "network, entropies not counted": (
        "network, by correlation",
        replaced(
            CorrelationShares, "entropies", lambda one, own: LaplaceCounts(own.unit.sensitivity, one.epsilon)
        ),
        "laplace",
    ),
    "network, tables counted as though entropies cost nothing": (
        "network, by correlation",
        replaced(Shares, "tables", lambda one, own: LaplaceCounts(one.sensitivity, own.epsilon)),
        "laplace",
    ),
    "network, score said to move by one": ("network", replaced(network_shares, "SCORE_MOVES", 1), "widest"),
    "seeds, noise of the model halved": (
        "seeds, pairs",
        replaced(Schedule, "single", lambda scales, _: tuple(scale / 2 for scale in scales)),
        "gaussian",
    ),
    "latent, noise of the tables that teach halved": (
        "latent, autoencoder",
        replaced(Schedule, "pair", lambda scale, _: scale / 2),
        "gaussian",
    ),
    "latent, tables that teach counted once": (
        "latent, autoencoder",
        replaced(Schedule, "pair", lambda _, one: one._scale((1 - one.single_share) * one.budget * 0.9)),
        "gaussian",
    ),
    "latent, noise halved": ("latent", replaced(Moments, "scale", lambda scale, _: scale / 2), "gaussian"),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_what_costs_more_than_it_claims_is_found(name):
    """The release is changed, its claim is not: what is found is more than what is claimed."""
    subject, change, kind = MUTANTS[name]
    honest = releasing(SUBJECTS[subject])

    def run(frame, noise):
        with change():
            return honest(frame, noise)

    assert shares(SUBJECTS[subject], run=run)[kind] > 1.05


@pytest.mark.parametrize(
    "name", ["marginals, frequent values, Laplace", "marginals, frequent values of single columns"]
)
def test_a_table_of_values_that_is_not_paid_for_is_found(name):
    """It costs a fortieth of everything else, and so much more is told than is claimed."""
    honest = releasing(SUBJECTS[name])
    free = replaced(Schedule, "budget", lambda budget, one: budget * float(1 + FREQUENT * one.frequent))

    def run(frame, noise):
        with free():
            return honest(frame, noise)

    assert shares(SUBJECTS[name], run=run)["laplace"] == pytest.approx(1 + float(FREQUENT), abs=2e-3)


@pytest.mark.parametrize("name", ["marginals, normal noise", "marginals, Laplace", "latent, autoencoder"])
def test_a_budget_a_hair_larger_is_found(name):
    """A thousandth more is spent than is claimed: a hair less noise, or a hair more of a choice."""
    subject, hair = SUBJECTS[name], Fraction(1999, 2000)
    honest = releasing(subject)
    single = replaced(Schedule, "single", lambda scales, _: tuple(scale * hair for scale in scales))
    pair = replaced(Schedule, "pair", lambda scale, _: scale * hair)
    rate = replaced(Schedule, "rate", lambda rate, _: rate / hair)

    def run(frame, noise):
        with single(), pair(), rate():
            return honest(frame, noise)

    found = shares(subject, run=run)
    laplace = name.endswith("Laplace")
    assert found["laplace" if laplace else "gaussian"] > (1.0004 if laplace else 1.0009)
    assert found["widest"] > 1.0004


def test_a_sensitivity_that_forgets_pairs_is_found():
    """A row adds a one for every column and every pair; columns alone were claimed."""
    with patch.object(Moments, "squared", property(lambda one: len(one.sizes))):
        assert shares(SUBJECTS["latent"])["gaussian"] > 2


def test_a_network_that_rows_of_people_teach_is_found():
    """Rows that the noisy tables invented may teach; people's own may not."""
    subject, honest = SUBJECTS["latent, autoencoder"], teaching.Teaching.learnt

    def by_rows(one, codes, noise, **options):
        found = honest(one, codes, noise, **options)
        return teaching.teach_autoencoder(codes.T, found.sizes, one.dimensions, noise)

    with patch.object(teaching.Teaching, "learnt", by_rows), pytest.raises(CheckFailed):
        shares(subject)


@pytest.mark.parametrize("name", ["marginals, named, normal noise", "marginals, named, Laplace"])
def test_one_number_for_all_cells_of_a_table_is_found(name):
    """Added to a whole column of counts it would be drawn once: differences of cells were then exact."""

    def one_for_all(candidate, exact, schedule, scale, noise):
        drawn = noise.discrete_gaussian if schedule.is_gaussian else noise.discrete_laplace
        one = drawn(scale**2 if schedule.is_gaussian else scale, 1)
        counts = rounds.add_noise(exact, np.repeat(one, exact.size)).astype(float)
        counts = counts.reshape(candidate.shape)
        return Measured(candidate.attributes, candidate.groups, counts, schedule.deviation(scale))

    with patch.object(rounds, "_measure", one_for_all), pytest.raises(CheckFailed, match="share one draw"):
        shares(SUBJECTS[name])


@pytest.mark.parametrize("name", ["marginals, named, normal noise", "marginals, named, Laplace"])
def test_noise_for_cells_alone_that_hold_somebody_is_found(name):
    """Where the first person is alone in a cell, their absence shows in how many numbers are drawn."""

    def only_full(candidate, exact, schedule, scale, noise):
        full, counts = exact > 0, np.zeros(exact.size)
        drawn = noise.discrete_gaussian if schedule.is_gaussian else noise.discrete_laplace
        size = int(full.sum())
        counts[full] = rounds.add_noise(exact[full], drawn(scale**2 if schedule.is_gaussian else scale, size))
        shape = counts.reshape(candidate.shape)
        return Measured(candidate.attributes, candidate.groups, shape, schedule.deviation(scale))

    subject = SUBJECTS[name]
    with patch.object(rounds, "_measure", only_full), pytest.raises(CheckFailed):
        shares(subject)


def values_found(subject):
    """Take the declared values of names from the rows, as one must not."""

    def request_of(frame):
        columns = tuple(
            replace(column, domain=Domain(values=tuple(sorted(set(frame[column.name])))))
            if column.kind is Kind.CATEGORY
            else column
            for column in SCHEMA.columns
        )
        return request_for(subject, replace(SCHEMA, columns=columns))

    return request_of


def true_length(subject):
    """Draw as many rows as there are, as one must not."""
    return lambda frame: request_for(subject, rows=len(frame))


@pytest.mark.parametrize(
    "name",
    [
        "marginals, normal noise",
        "network",
        "network, by correlation",
        "seeds, network",
        "latent",
        "latent, autoencoder",
    ],
)
def test_values_that_come_from_the_rows_are_found(name):
    subject = SUBJECTS[name]
    with pytest.raises(CheckFailed):
        shares(subject, run=releasing(subject, values_found(subject)))


def test_a_table_of_only_the_codes_that_occur_is_found():
    def by_rows(codes, size, schedule, noise):
        seen = np.unique(codes)
        few = rounds.code_table(np.searchsorted(seen, codes), len(seen), schedule, noise)
        counts = np.zeros(size)
        counts[seen] = few.counts
        return replace(few, counts=counts)

    with patch.object(marginals, "code_table", by_rows), pytest.raises(CheckFailed):
        shares(SUBJECTS["marginals, codes"])


def test_cells_found_in_the_true_counts_are_found():
    """Cells that are merged or told apart by exact counts tell of one row, whatever noise comes later."""

    def by_rows(codes, size, schedule, noise):
        noisy = rounds.value_table(codes, size, schedule, noise)
        exact = np.bincount(codes, minlength=size).astype(float)
        exact[:2] = exact.sum() % 2 * 10_000  # a value stands out or not by one row
        return replace(noisy, counts=exact)

    with patch.object(marginals, "value_table", by_rows), pytest.raises(CheckFailed):
        shares(SUBJECTS["marginals, frequent values"])


def test_a_table_of_only_the_values_that_occur_is_found():
    def by_rows(codes, size, schedule, noise):
        seen = np.unique(codes)
        few = rounds.value_table(np.searchsorted(seen, codes), len(seen), schedule, noise)
        counts = np.zeros(size)
        counts[seen] = few.counts
        return replace(few, counts=counts)

    with patch.object(marginals, "value_table", by_rows), pytest.raises(CheckFailed):
        shares(SUBJECTS["marginals, frequent values"])


@pytest.mark.parametrize("name", ["marginals, normal noise", "network", "network, by correlation"])
def test_a_table_as_long_as_the_original_is_found(name):
    subject = SUBJECTS[name]
    with pytest.raises(CheckFailed):
        shares(subject, run=releasing(subject, true_length(subject)))


@pytest.mark.parametrize(
    ("name", "finder"), [("network", "structure"), ("network, by correlation", "by_correlation")]
)
def test_parents_that_have_room_by_the_true_number_of_rows_are_found(name, finder):
    """The noisy number of rows decides which parents have room; the true one would tell."""
    subject, honest = SUBJECTS[name], getattr(learning, finder)

    def by_rows(rows, shares, *, total, **options):
        return honest(rows, shares, total=4.0 if rows.fine.shape[1] % 2 else total, **options)

    with patch.object(learning, finder, by_rows), pytest.raises(CheckFailed):
        shares(subject)
