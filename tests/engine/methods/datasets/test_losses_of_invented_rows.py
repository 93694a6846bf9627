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
from engine.methods.datasets.bayes_network import shares as network_shares
from engine.methods.datasets.bayes_network import structure
from engine.methods.datasets.bayes_network.shares import Shares
from engine.methods.datasets.latent_model import teaching
from engine.methods.datasets.latent_model.moments import Moments
from engine.methods.datasets.marginal_model import rounds
from engine.methods.datasets.marginal_model.schedule import Schedule
from engine.methods.protocol import Budget, Context
from engine.privacy.mechanisms import LaplaceCounts
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
    )
)
GAUSSIAN = Budget(Fraction(2), Fraction(1, 10**6))


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
    "marginals, few rows": Subject("datasets.marginals", {"about_rows": 100}, Budget(Fraction(1, 4))),
    "network": Subject("datasets.network", {"about_rows": 2000}, Budget(Fraction(2))),
    "seeds, pairs": Subject(
        "datasets.seedbased", {"about_rows": 4000, "rows": 5, "model": "pairs"}, GAUSSIAN, True
    ),
    "seeds, network": Subject(
        "datasets.seedbased", {"about_rows": 4000, "rows": 5, "model": "network"}, GAUSSIAN, True
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
    rows.loc[0] = ["c", "AB", 0, 6]
    return rows


def request_for(subject, schema=SCHEMA, **given):
    found = method(subject.id).request(
        {"people": schema},
        {"columns": list(NAMES), "bins": 7} | subject.given | given,
        budget=subject.budget,
    )
    assert not method(subject.id).problems(found), method(subject.id).problems(found)
    return found


def releasing(subject, request_of=None):
    """Return what makes a release of a table, and from it all that leaves."""
    own = request_for(subject)

    def run(frame, noise):
        request = request_of(frame) if request_of else own
        release = method(subject.id).run({"people": Table(frame)}, request, Context(noise, None, Path()))
        return [one.frame.to_csv() for one in release.artefacts], release.views

    return run


def shares(subject, *, run=None, seed=0):
    """Return by kind of answer which part of its claim one person's row uses up."""
    claim = claimed(method(subject.id).cost(request_for(subject)).loss.events)
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


@pytest.mark.parametrize("name", SUBJECTS)
def test_one_person_tells_no_more_than_is_claimed_and_all_of_it(name):
    found = shares(SUBJECTS[name])
    assert max(found.values()) <= 1 + 1e-9
    for kind in {"laplace", "gaussian"} & set(found):
        assert found[kind] > 1 - 1e-6  # whoever is counted everywhere uses all of it


@pytest.mark.parametrize("name", ["marginals, normal noise", "marginals, Laplace", "network"])
def test_a_person_with_several_rows_tells_no_more_than_is_claimed(name):
    """Three rows alike count three times in the same cells, which is the most that three rows can do."""
    subject = SUBJECTS[name]
    schema = Schema((Column("pid", Role.PERSON_KEY), *SCHEMA.columns), rows_per_person=3)
    request = request_for(subject, schema)
    frame = pd.concat([people().iloc[[0, 0]], people()], ignore_index=True)
    run, without = releasing(subject, lambda _: request), np.arange(3)
    told = loss(run, frame, frame.iloc[3:].reset_index(drop=True), rows=len(frame), without=without)
    found = told.shares_of(claimed(method(subject.id).cost(request).loss.events))
    assert max(found.values()) <= 1 + 1e-9
    assert found["laplace" if "laplace" in found else "gaussian"] > 1 - 1e-6


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


def test_a_sensitivity_that_forgets_pairs_is_found():
    """A row adds a one for every column and every pair; columns alone were claimed."""
    with patch.object(Moments, "squared", property(lambda one: len(one.sizes))):
        assert shares(SUBJECTS["latent"])["gaussian"] > 2


def test_a_network_that_rows_of_people_teach_is_found():
    """Rows that the noisy tables invented may teach; people's own may not."""
    subject, honest = SUBJECTS["latent, autoencoder"], teaching.Teaching.learnt

    def by_rows(one, codes, noise, **options):
        found = honest(one, codes, noise, **options)
        return teaching.taught(codes.T, found.sizes, one.dimensions, noise)

    with patch.object(teaching.Teaching, "learnt", by_rows), pytest.raises(CheckFailed):
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
    "name", ["marginals, normal noise", "network", "seeds, network", "latent", "latent, autoencoder"]
)
def test_values_that_come_from_the_rows_are_found(name):
    subject = SUBJECTS[name]
    with pytest.raises(CheckFailed):
        shares(subject, run=releasing(subject, values_found(subject)))


@pytest.mark.parametrize("name", ["marginals, normal noise", "network"])
def test_a_table_as_long_as_the_original_is_found(name):
    subject = SUBJECTS[name]
    with pytest.raises(CheckFailed):
        shares(subject, run=releasing(subject, true_length(subject)))


def test_parents_that_have_room_by_the_true_number_of_rows_are_found():
    """The noisy number of rows decides which parents have room; the true one would tell."""
    subject, honest = SUBJECTS["network"], structure.structure

    def by_rows(rows, shares, *, total, **options):
        return honest(rows, shares, total=4.0 if rows.fine.shape[1] % 2 else total, **options)

    place = "engine.methods.datasets.bayes_network.learning.structure"
    with patch(place, by_rows), pytest.raises(CheckFailed):
        shares(subject)
