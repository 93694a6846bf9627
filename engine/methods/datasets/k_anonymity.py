"""The rows of people, made coarser until each agrees with k − 1 others in its identifying attributes."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from engine.methods.datasets.coarser_rows import COLUMNS, GROUPS, WHOLE_COLUMNS, CoarserRows
from engine.methods.datasets.grouping import ALL_COLUMNS, CONDITIONS, SEVERAL_ROWS, SMALLEST, promise
from engine.methods.once import once
from engine.methods.parameters import Parameter, ParameterKind
from engine.methods.protocol import Reference
from engine.privacy.promise import Promise

ID = "datasets.k_anonymity"
_OF_COLUMNS = ("recoding", (COLUMNS,))


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
    parameters = (
        ALL_COLUMNS,
        SMALLEST,
        SEVERAL_ROWS,
        Parameter("recoding", ParameterKind.CHOICE, default=COLUMNS, choices=(COLUMNS, GROUPS)),
        *(
            replace(one, when=_OF_COLUMNS) if one.name in ("most_left_out", "loss", "steps") else one
            for one in WHOLE_COLUMNS
        ),
        *CONDITIONS,
        Parameter(
            "average_risk",
            ParameterKind.NUMBER,
            optional=True,
            minimum=Fraction(1, 10_000),
            maximum=1,
            when=_OF_COLUMNS,
        ),
    )

    @once
    def cost(self) -> Promise:
        risk = self.values["average_risk"]
        return promise(self.request) if risk is None else promise(self.request, average_risk=risk)
