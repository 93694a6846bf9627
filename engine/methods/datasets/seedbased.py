"""Invented rows made from seeds, each released only where enough other people could have led to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from engine.methods import option
from engine.methods.datasets.seeds.foreseeing import passing_kept
from engine.methods.datasets.seeds.learning import KINDS, NOBODY, PAIRS, Learning
from engine.methods.datasets.seeds.method import (
    BINNED,
    LOT,
    MODEL_SHARE,
    RATIO,
    TESTS,
    WEIGHTED,
    SeedMethod,
    drawn_anew,
    level_of,
    model_rows,
)
from engine.methods.parameters import Problem
from engine.methods.protocol import Reference
from engine.methods.shared.column_cells import BINS, OWN_EDGES
from engine.once import once
from engine.views import Text

ID = "datasets.seedbased"
WORDS = f"methods.{ID}"


class Seedbased(SeedMethod):
    """A synthetic table whose rows were made from people's rows and passed a test of their crowd.

    Notes
    -----
    People are put by lot into two parts. From one a model is learnt with noise. Each row is made from a
    person of the other, a *seed*: some columns are kept and the others drawn from the model. It leaves only
    if enough other seeds could have led to it about as likely; how many are enough is blurred. V.
    Bindschaedler, "Privacy-preserving seedbased data synthesis" (2018), mechanism 3.1, with the crowd of
    bins (theorem 4.1) or the weighted one (corollary 4.1).

    The threshold follows from (ε, δ) of the whole table and the number of rows, which is fixed beforehand.
    It has to be well below the number of seeds: a few thousand people are enough for tens of rows at ε = 1.
    A row that does not pass is replaced by another try, which nobody sees; see `SeededRows` for its price.

    Of the models of the thesis, columns drawn anew from a network, from pairs, by themselves or evenly,
    copies (none is drawn, example 3.1) and mixtures with the model alone (example 3.6) are choices. The one
    that keeps how many ones a seed has (example 3.2) is for bits, and takes part in tests alone.

    How crowds near the threshold pass: by a lot between a floor and the threshold, or against a threshold
    with Laplace noise (test 4.2) or geometric noise (test 3.2). All three have the same bound for the same
    ε₀, t and chance at t; the lot lets every crowd from t on through at least as often, and none below it. A
    sharp threshold (test 4.1) bounds no loss, as the last person of a crowd decides whether a row leaves:
    how often it would have been passed is told inside. Rows are composed in the best way that there is;
    sequential and advanced composition are shown.
    """

    id = ID
    promises = ("approximate_dp", "plausible_deniability")
    published = Reference(
        "Bindschaedler: Privacy-preserving seedbased data synthesis (2018)",
        "mechanism 3.1, privacy tests 3.2 and 4.2",
        "hdl:2142/101478",
    )

    class Options(SeedMethod.Options):
        model: str = option.choice(*KINDS, default=PAIRS)
        model_share: Fraction = replace(
            MODEL_SHARE, when=("model", tuple(kind for kind in KINDS if kind != NOBODY))
        )
        fewest_drawn: int | None = option.integer(optional=True, minimum=0, maximum=100)
        most_drawn: int | None = option.integer(optional=True, minimum=0, maximum=100)
        anew_share: Fraction = option.number(default=0, minimum=Fraction(0), maximum=Fraction(19, 20))
        crowd: str = option.choice(WEIGHTED, BINNED, default=WEIGHTED)
        ratio: Fraction = replace(RATIO, when=("crowd", (BINNED,)))
        test: str = option.choice(*TESTS, default=LOT)
        bins: int = BINS
        edges: Mapping[str, option.Edges] = OWN_EDGES

    options: Options

    @once
    def own_problems(self) -> list[Problem]:
        columns = len(self.options.columns)
        fewest, most = drawn_anew(self)
        if 0 <= fewest <= most <= columns:
            return []
        told = {"fewest": fewest, "most": most, "columns": columns}
        return [Problem(f"{ID}.drawn", told, "fewest_drawn")]

    @once
    def learning(self) -> Learning:
        cells = self.cells
        return Learning(
            self.options.model,
            tuple(one.size for one in cells),
            tuple(one.ordered for one in cells),
            *level_of(self),
            model_rows(self),
            Fraction(self.options.anew_share),
        )

    def passing(self, crowd: float) -> tuple[float, float]:
        sizes = [one.size for one in self.cells]
        anew = float(self.options.anew_share)
        low, high = passing_kept(sizes, drawn_anew(self), crowd)
        return anew + (1 - anew) * low, anew + (1 - anew) * high

    @once
    def note(self) -> Text:
        if drawn_anew(self)[1] == 0 and not self.options.anew_share:
            return Text(f"{WORDS}.notes.copies")
        return Text(f"{WORDS}.notes.model_{self.options.model}")
