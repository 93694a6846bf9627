"""The rows as they are, with pseudonyms for people; what names them directly is left out."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from engine.methods.parameters import Parameter, ParameterKind, Problem
from engine.methods.protocol import (
    Context,
    DictionaryEntry,
    Family,
    Inside,
    Method,
    Reference,
    Release,
    Request,
    Rows,
    Spends,
    TableArtefact,
)
from engine.methods.shared.promise import unbounded
from engine.methods.shared.rows import entry, shuffled, written_cells
from engine.privacy.keys import locked, new_key, pseudonyms
from engine.privacy.promise import Promise
from engine.table.table import Table
from engine.views import Text

ID = "datasets.pseudonyms"
KEY_FILE = "pseudonym-key.json"


class Pseudonyms(Method):
    """Keyed pseudonyms and left-out columns.

    Notes
    -----
    Pseudonymous data are personal data (GDPR Art. 4(5), recital 26): who knows a few values of a person finds
    the row. The pseudonym is the truncated HMAC-SHA-256 of the key that names the person, with a key of 256
    random bits for this release alone, so that two releases cannot be joined by it.
    """

    id = ID
    family = Family.DATASET
    promises = ("none",)
    spends = Spends.NOTHING
    rows = Rows.REAL
    keeps_key = True
    libraries = ("cryptography",)
    published = Reference(
        "Krawczyk, Bellare, Canetti: HMAC, RFC 2104 (1997)", "section 2", "doi:10.17487/RFC2104"
    )
    parameters = (
        Parameter("columns", ParameterKind.COLUMNS, minimum=1, maximum=500),
        Parameter("pseudonym", ParameterKind.TEXT, default="pseudonym"),
    )

    def further_problems(self, request: Request) -> list[Problem]:
        name = request.values["pseudonym"]
        if name in request.values["columns"]:
            return [Problem(f"{ID}.name_taken", {"column": name}, "pseudonym")]
        return []

    def cost(self, request: Request) -> Promise:
        return unbounded(request, "none")

    def run(self, tables: Mapping[str, Table], request: Request, context: Context) -> Release:
        table = next(iter(tables.values()))
        rows = table.rows()
        columns = [request.schema.column(name) for name in request.values["columns"]]
        cells = {column.name: written_cells(rows[column.name], column) for column in columns}
        entries = [entry(column, "as_it_is") for column in columns]
        inside = Inside()
        key = request.schema.person_key
        if key is not None:
            secret = new_key()
            cells = {request.values["pseudonym"]: _stand_ins(rows[key.name], secret), **cells}
            entries.insert(
                0, DictionaryEntry(request.values["pseudonym"], Text("datasets.pseudonym"), "text")
            )
            inside = Inside(files={KEY_FILE: locked(secret, context.passphrase)})
        assert context.chance is not None  # nothing bounds the loss
        frame = shuffled(pd.DataFrame(cells, dtype="str"), context.chance)
        return Release((TableArtefact("table", (frame,), tuple(entries)),), self.cost(request), inside=inside)


def _stand_ins(keys: pd.Series, secret: bytes) -> list[str]:
    codes, uniques = pd.factorize(keys)
    texts = np.array([*pseudonyms([str(text) for text in uniques], key=secret), ""], dtype=object)
    return list(texts[codes])
