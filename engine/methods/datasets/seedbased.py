"""Invented rows made from seeds, each released only where enough other people could have led to it."""

from __future__ import annotations

from dataclasses import replace

from engine.methods.datasets.seeds.learning import KINDS, NOBODY, PAIRS, Learning
from engine.methods.datasets.seeds.method import (
    BINNED,
    FIRST,
    MODEL_SHARE,
    RATIO,
    WEIGHTED,
    SeedMethod,
    drawn_anew,
    level_of,
    model_rows,
)
from engine.methods.parameters import Parameter, ParameterKind, Problem
from engine.methods.protocol import Reference, Request
from engine.methods.shared.column_cells import BINS, OWN_EDGES
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

    Of the tests of the thesis one is here. A sharp threshold (privacy test 4.1) bounds no loss: the last
    person of a crowd decides whether a row leaves. A threshold with Laplace or geometric noise (tests 4.2 and
    3.2) has the same bound on the ratio as the lot between floor and threshold that is used here, but lets a
    row below the floor pass now and then, and stops one above the threshold: more δ and less use for the
    same ε. Rows are composed in the best way that there is; sequential and advanced composition are shown.
    """

    id = ID
    promises = ("approximate_dp", "plausible_deniability")
    published = Reference(
        "Bindschaedler: Privacy-preserving seedbased data synthesis (2018)",
        "mechanism 3.1, privacy tests 3.2 and 4.2",
        "hdl:2142/101478",
    )
    parameters = (
        *FIRST,
        Parameter("model", ParameterKind.CHOICE, default=PAIRS, choices=KINDS),
        replace(MODEL_SHARE, when=("model", tuple(kind for kind in KINDS if kind != NOBODY))),
        Parameter("fewest_drawn", ParameterKind.INTEGER, optional=True, minimum=0, maximum=100),
        Parameter("most_drawn", ParameterKind.INTEGER, optional=True, minimum=0, maximum=100),
        Parameter("crowd", ParameterKind.CHOICE, default=WEIGHTED, choices=(WEIGHTED, BINNED)),
        replace(RATIO, when=("crowd", (BINNED,))),
        BINS,
        OWN_EDGES,
    )

    def own_problems(self, request: Request) -> list[Problem]:
        columns = len(request.values["columns"])
        fewest, most = drawn_anew(request)
        if 0 <= fewest <= most <= columns:
            return []
        told = {"fewest": fewest, "most": most, "columns": columns}
        return [Problem(f"{ID}.drawn", told, "fewest_drawn")]

    def learning(self, request: Request) -> Learning:
        cells = self.cells(request)
        return Learning(
            request.values["model"],
            tuple(one.size for one in cells),
            tuple(one.ordered for one in cells),
            *level_of(request),
            model_rows(request),
        )

    def note(self, request: Request) -> Text:
        return Text(f"{WORDS}.notes.model_{request.values['model']}")
