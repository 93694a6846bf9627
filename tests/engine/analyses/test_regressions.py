"""Private regressions side by side: invented rows unless others are asked for; what rivals reckon with."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from engine.analyses import logistic_rivals
from engine.analyses import regression_rivals as rivals
from engine.analyses.catalogue import analysis, ask, example
from engine.analyses.regressions import IDEALISED, LEVELS, WITH_DELTA
from engine.errors import InputRefused
from engine.methods.models.monomials import Monomials
from engine.methods.protocol import MAIN
from engine.privacy.gaussian import gaussian_level
from engine.report.words import word
from engine.table.schema import Domain
from engine.views import CurveView
from tests.engine.analyses.test_analyses import asked

FUNCTIONAL = ("functional", "functional_trimmed", "functional_as_printed")
WAYS = (*FUNCTIONAL, "adaptive", "objective", "output", "histogram")


def rows(n=4000, seed=3):
    chance = np.random.default_rng(seed)
    inputs = chance.uniform(-1, 1, (n, 3))
    return np.clip(np.c_[inputs, inputs @ [0.4, -0.2, 0.1] + chance.normal(scale=0.1, size=n)], -1, 1)


def test_no_row_is_read_unless_it_is_asked_for():
    shown = example(analysis("regressions"))
    given = dict(shown.values)
    found = ask(analysis("regressions"), given, tables={}, schemas={MAIN: shown.schema})
    assert not found.stays and found.figures["population"] == "simulated"
    bands = {name: np.array(one) for name, one in found.figures["bands"].items()}
    assert set(bands) >= {"steps", "gaussian", *WAYS, "plain"} and set(IDEALISED) | set(WITH_DELTA) < set(
        bands
    )
    for one in bands.values():
        assert one.shape == (len(LEVELS), 3) and (np.diff(one, axis=1) >= 0).all() and np.isfinite(one).all()
    for name in ("steps", "gaussian", "functional", "adaptive", "objective"):
        assert bands[name][0, 1] > bands[name][-1, 1] > 0.9 * bands["plain"][-1, 1]
    pictures = [view for view in found.views if isinstance(view, CurveView)]
    assert len(pictures) == len(bands) - 1  # one of all together, none of what has no noise
    assert sum(view.band is not None for view in pictures) == len(bands) - 2
    assert bands["mean"][0] == pytest.approx(bands["mean"][-1]) and bands["mean"][0, 1] > bands["plain"][0, 1]
    assert "One number for all" in word(analysis("regressions").word("ways.mean"), "en")
    for name in IDEALISED:
        assert "idealised" in word(analysis("regressions").word(f"ways.{name}"), "en")


def test_each_form_of_the_functional_mechanism_has_a_line_that_says_whose_it_is():
    said = [word(analysis("regressions").word(f"ways.{name}"), "en") for name in FUNCTIONAL]
    assert "this program" in said[0] and all("authors" in one for one in said[1:])
    own, epsilon = rows(400), 0.5
    found = [getattr(rivals, name)(own, epsilon, 0.0, np.random.default_rng(2)) for name in FUNCTIONAL]
    assert all(np.abs(one - other).max() > 1e-3 for one, other in pairwise(found))


def test_the_ridge_is_four_deviations_and_directions_that_stay_below_zero_are_left_out():
    """By the printed steps: λ = 4 standard deviations of the noise; only positive eigenvalues are kept."""
    for seed in range(30):
        own = rows(30, seed)
        epsilon = 0.05
        noisy, deviation = rivals._noisy_products(own, epsilon, 0.0, np.random.default_rng(seed))
        gram, cross = Monomials((0, 0, 0)).matrix(noisy)
        lifted = gram + 4 * deviation * np.eye(4)
        found = rivals.functional_trimmed(own, epsilon, 0.0, np.random.default_rng(seed))
        values, vectors = np.linalg.eigh(lifted)
        gone = vectors[:, values <= 0]
        assert np.abs(gone.T @ found).max(initial=0) < 1e-9
        kept = vectors[:, values > 0]
        assert kept.T @ lifted @ found == pytest.approx(kept.T @ cross)


def test_own_rows_stay_inside_and_say_what_they_cost():
    found = asked("regressions", population="private", runs=3)
    said = " ".join(word(one, "en") for one in found.views[0].paragraphs)
    assert found.stays and "with sight of the rows" in said and found.figures["rows"] == 500


def test_a_stronger_effect_leaves_less_error(monkeypatch):
    drawn = iter([np.random.default_rng(seed) for seed in (1, 2)])
    monkeypatch.setattr("engine.analyses.catalogue.chance", lambda: next(drawn))
    weak, strong = (
        asked("regressions", effect=effect, runs=3).figures["bands"]["plain"] for effect in ("weak", "strong")
    )
    assert strong[0][1] < 0.8 * weak[0][1]


def test_what_cannot_be_compared_is_refused():
    shown = example(analysis("regressions"))
    with pytest.raises(InputRefused, match=r"queries\.no_table"):
        given = {**shown.values, "population": "private"}
        ask(analysis("regressions"), given, tables={}, schemas={MAIN: shown.schema})


@pytest.mark.parametrize("name", WAYS)
def test_a_rival_finds_the_line_when_there_is_hardly_any_noise(name):
    own, chance = rows(), np.random.default_rng(1)
    found = getattr(rivals, name)(own, 2000, 1e-6, chance)
    assert found == pytest.approx(rivals.plain(own, 1, 0, chance), abs=0.05 if name == "histogram" else 0.02)


@pytest.mark.parametrize("name", WAYS)
def test_a_rival_has_more_noise_at_a_smaller_level(name):
    own, plain = rows(), rivals.plain(rows(), 1, 0, None)

    def off(epsilon):
        found = [
            getattr(rivals, name)(own, epsilon, 1e-6, np.random.default_rng(seed)) - plain
            for seed in range(20)
        ]
        return np.median(np.abs(found))

    assert off(0.05) > 1.5 * off(2)


def test_the_answer_of_output_perturbation_moves_as_little_as_its_noise_reckons_with():
    """|w − w'| ≤ R B / λ for one row more: reached nearly by a row that fits worst, on few rows."""
    chance, zero, penalty = np.random.default_rng(5), np.zeros(4), 3.0
    bound, largest = 2 * rivals.CLIPPED / penalty, 0.0
    for _ in range(300):
        own = np.sign(chance.normal(size=(int(chance.integers(1, 6)), 4))) * chance.choice([0.3, 1])
        more = np.r_[own, [np.sign(chance.normal(size=4))]]
        moved = rivals._huber(more, penalty, zero) - rivals._huber(own, penalty, zero)
        largest = max(largest, float(np.linalg.norm(moved)))
    assert 0.3 * bound < largest <= bound + 1e-6


def test_the_parts_of_adaptive_statistics_move_as_little_as_their_noise_reckons_with():
    """One row more moves X'X by |x|² ≤ size in its upper half, X'y by |x|, its least eigenvalue by |x|²."""
    chance, size, most = np.random.default_rng(6), 4, [0.0, 0.0, 0.0]
    for _ in range(500):
        own = np.c_[np.ones(6), np.sign(chance.normal(size=(6, size - 1)))]
        row, target = own[-1], np.sign(chance.normal())
        upper = np.triu(np.outer(row, row))
        least = np.linalg.eigvalsh(own.T @ own)[0] - np.linalg.eigvalsh(own[:-1].T @ own[:-1])[0]
        parts = (np.linalg.norm(upper), np.linalg.norm(row * target), abs(least))
        most = [max(one, other) for one, other in zip(most, parts, strict=True)]
    assert most[0] <= size and most[1] == pytest.approx(size**0.5) and most[2] <= size
    # three queries of a third of μ² each
    assert 3 * (1 / (np.sqrt(3) / gaussian_level(1, 1e-6))) ** 2 == pytest.approx(
        gaussian_level(1, 1e-6) ** 2
    )


# --- a yes or no -------------------------------------------------------------------------------------

CLASS_WAYS = ("logistic", "additive", "taylor_gaussian", "taylor", "objective", "output")


def of_classes(**more):
    return asked("regressions", **({"response": "gender", "runs": 3, "records": 1000} | more))


def test_a_yes_or_no_is_compared_by_wrong_answers():
    found = of_classes(effect="strong")
    bands = {name: np.array(one) for name, one in found.figures["bands"].items()}
    assert found.figures["response"] == "classes" and set(bands) == {*CLASS_WAYS, "guess", "plain"}
    for one in bands.values():
        assert one.shape == (len(LEVELS), 3) and (np.diff(one, axis=1) >= 0).all()
        assert ((one >= 0) & (one <= 100)).all()
    assert bands["plain"][-1, 1] < bands["logistic"][-1, 1] + 3 < bands["guess"][-1, 1]
    assert "% wrong answers" in word(found.views[0].paragraphs[1], "en")
    pictures = [view for view in found.views if isinstance(view, CurveView)]
    assert len(pictures) == 1 + len(CLASS_WAYS)


def test_own_classes_stay_inside():
    found = of_classes(population="private")
    assert found.stays and found.figures["rows"] > 300


def classes(n=4000, seed=3, slope=4.0):
    chance = np.random.default_rng(seed)
    inputs = chance.uniform(-1, 1, (n, 3))
    score = slope * inputs @ [0.6, -0.3, 0.1] + chance.logistic(size=n)
    return np.c_[inputs, np.where(score > 0, 1.0, -1.0)]


class Nothing:
    """Chance that gives no noise, and remembers the scales that it was asked for."""

    def __init__(self):
        self.scales = []

    def normal(self, *, scale=1.0, size):
        self.scales.append(scale)
        return np.zeros(size) if scale != 1.0 else np.ones(size)

    def laplace(self, *, scale, size):
        self.scales.append(scale)
        return np.zeros(size)

    def gamma(self, shape, scale):
        self.scales.append(scale)
        return 0.0


def test_without_noise_the_series_is_that_of_taylor():
    """(½ − y)x and xx'/8: the least is where a quarter of the products times w is Σ(y − ½)x."""
    given = classes(3000)
    found = logistic_rivals.functional(given, 1e9, 0.0, Nothing())(given[:, :-1])
    design = np.c_[np.ones(3000), given[:, :-1]]
    weights = np.linalg.solve(design.T @ design / 4, design.T @ given[:, -1] / 2)
    assert found == pytest.approx(design @ weights, rel=1e-6)


def test_without_a_penalty_the_least_is_that_of_logistic_regression():
    from sklearn.linear_model import LogisticRegression

    given = classes(2000)
    other = LogisticRegression(C=np.inf, tol=1e-10).fit(given[:, :-1], given[:, -1])
    found = logistic_rivals.plain(given, 1.0, 0.0, Nothing())(given[:, :-1])
    assert found == pytest.approx(other.decision_function(given[:, :-1]), abs=1e-4)


@pytest.mark.parametrize("columns", [1, 2, 3])
def test_one_row_moves_the_series_by_what_the_noise_reckons_with(columns):
    """All corners and many rows within: a²/8 + a/2 with the 1 among a columns, and a²/128 + a/4, reached."""
    chance = np.random.default_rng(columns)
    corners = np.array(np.meshgrid(*[(-1, 0, 1)] * columns)).reshape(columns, -1).T
    inside = chance.uniform(-1, 1, (500, columns))
    ones = np.r_[corners, inside]
    design = np.c_[np.ones(len(ones)), ones]
    upper = np.triu_indices(columns + 1)
    products = design[:, :, None] * design[:, None, :] / 8
    distinct = products[:, *upper] * np.where(upper[0] == upper[1], 1, 2)
    together = np.abs(distinct).sum(axis=1) + np.abs(design / 2).sum(axis=1)
    weighted = (products[:, *upper] ** 2 * np.where(upper[0] == upper[1], 0.5, 1)).sum(axis=1)
    squared = weighted + (design**2 / 4).sum(axis=1)
    asked_for = Nothing()
    given = np.c_[inside, np.ones(500)]
    logistic_rivals.functional(given, 1.0, 0.0, asked_for)
    logistic_rivals.functional(given, 1.0, 1e-6, asked_for)
    half, whole, root, _ = asked_for.scales
    assert together.max() == pytest.approx(whole) == pytest.approx(2 * half)
    assert np.sqrt(squared.max()) / gaussian_level(1.0, 1e-6) == pytest.approx(root)


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_what_the_perturbations_reckon_with(epsilon):
    """By the closed forms; and the answer of output perturbation moves no further than it says."""
    given, asked_for = classes(300), Nothing()
    logistic_rivals.objective(given, epsilon, 0.0, asked_for)
    assert asked_for.scales[-1] == pytest.approx(2 / (0.75 * epsilon))
    penalty = 5.0
    whole = logistic_rivals._least(given, penalty, np.zeros(4))
    for gone in range(0, 300, 23):
        other = logistic_rivals._least(np.delete(given, gone, axis=0), penalty, np.zeros(4))
        assert np.linalg.norm(whole - other) <= 2 / penalty


def test_other_than_two_values_are_refused():
    shown = example(analysis("regressions"))
    gender = replace(shown.schema.column("gender"), domain=Domain(values=("Female", "Male", "other")))
    others = (one for one in shown.schema.columns if one.name != "gender")
    schema = replace(shown.schema, columns=(gender, *others))
    with pytest.raises(InputRefused, match=r"queries\.two_values"):
        ask(analysis("regressions"), {**shown.values, "response": "gender"}, schemas={MAIN: schema})
