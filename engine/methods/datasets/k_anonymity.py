"""The rows of people, made coarser until each agrees with k − 1 others in its identifying attributes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from engine.methods import option
from engine.methods.datasets.coarser_rows import COLUMNS, GROUPS, LOSS, MOST_LEFT_OUT, CoarserRows
from engine.methods.datasets.grouping import SEVERAL_ROWS, STEPS, Grouped, promise
from engine.methods.protocol import Reference
from engine.once import once
from engine.privacy.promise import Promise

ID = "datasets.k_anonymity"
_OF_COLUMNS = ("recoding", (COLUMNS,))


class _Recoding(Grouped):
    several_rows: str = SEVERAL_ROWS
    recoding: str = option.choice(COLUMNS, GROUPS, default=COLUMNS)


class KAnonymity(CoarserRows):
    """Recoding by hierarchies with little loss: of whole columns, or of each group as far as it needs.

    Notes
    -----
    Definition: L. Sweeney, k-anonymity (2002), definition 3; recoding of whole columns by hierarchies: P.
    Samarati (2001). Whole columns: the combination of steps with the least loss, exactly; people whose
    groups stay small are left out. Groups: nobody is left out and far less detail is lost, but a value then
    stands on several steps, and which groups were made depends on the rows (downcoding: A. Cohen, 2022).
    Sizes of groups count people: with several rows, either everybody who has a row in the group, or only
    who has the same set of rows, all of them recoded (compare M. Nergiz, C. Clifton, A. Nergiz:
    MultiRelational k-anonymity, 2009). The first bounds who knows one row of a person, the second who knows
    them all or can tell which rows go together; how many equal rows somebody has is not compared. It does
    not bound what somebody learns who knows more about a person than the identifying attributes; a
    sensitive value that a whole group shares is told about each of them; two such tables of the same
    people, or the knowledge that the least coarse one was chosen, can undo it.
    """

    id = ID
    version = 3
    promises = ("k_anonymity",)
    usual = True
    tries = ("columns", "k")
    published = Reference(
        "Sweeney: k-anonymity: a model for protecting privacy (2002)",
        "definition 3",
        "doi:10.1142/S0218488502001648",
    )

    class Options(_Recoding, CoarserRows.Options):
        most_left_out: Fraction = replace(MOST_LEFT_OUT, when=_OF_COLUMNS)
        loss: str = replace(LOSS, when=_OF_COLUMNS)
        steps: Mapping[str, int] = replace(STEPS, when=_OF_COLUMNS)
        average_risk: Fraction | None = option.number(
            optional=True, minimum=Fraction(1, 10_000), maximum=1, when=_OF_COLUMNS
        )

    options: Options

    @once
    def cost(self) -> Promise:
        risk = self.options.average_risk
        return promise(self.request) if risk is None else promise(self.request, average_risk=risk)
