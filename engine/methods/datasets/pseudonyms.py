"""The rows as they are, with pseudonyms for people; what names them directly is left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from engine.errors import InputRefused
from engine.methods import option
from engine.methods.keeping import KEY_FILE, KeyKeeper, person_texts
from engine.methods.kinds import Changes
from engine.methods.parameters import Problem
from engine.methods.protocol import Context, DictionaryEntry, Family, Inside, Reference, Release, Rows, Spends
from engine.methods.shared.promise import promise_without_bound
from engine.methods.shared.rows import entry, leaving, written_cells
from engine.once import once
from engine.privacy.format_keeping import LONGEST, fits, numbers_for, pad_number
from engine.privacy.keys import lock_key, new_key, pseudonyms
from engine.privacy.promise import Promise
from engine.table.table import Table
from engine.views import Text

ID = "datasets.pseudonyms"
OWN, EARLIER, NONE = "own", "earlier", "none"
LETTERS, NUMBERS = "letters", "numbers"


class Pseudonyms(KeyKeeper):
    """Keyed pseudonyms and left-out columns.

    Notes
    -----
    Pseudonymous data are personal data (GDPR Art. 4(5), recital 26): who knows a few values of a person finds
    the row. The pseudonym is the truncated HMAC-SHA-256 of the key that names the person, with a key of 256
    random bits for this release alone, so that two releases cannot be joined by it, unless the custodian goes
    on with the key of an earlier one. Numbers of the same length are made by encryption that keeps the format
    (FF1). Without a key anybody could compute the pseudonyms of a list of all numbers, so there is none.
    """

    id = ID
    family = Family.DATASET
    promises = ("pseudonymous",)
    usual = True
    spends = Spends.NOTHING
    rows = Rows.REAL
    changes = (Changes.MASKED,)
    libraries = ("cryptography",)
    published = Reference(
        "Krawczyk, Bellare, Canetti: HMAC, RFC 2104 (1997)", "section 2", "doi:10.17487/RFC2104"
    )

    class Options(option.Options):
        columns: option.Names = option.columns(minimum=1, maximum=500)
        pseudonym: str = option.text(default="pseudonym")
        key: str = option.choice(OWN, EARLIER, NONE, default=OWN)
        form: str = option.choice(LETTERS, NUMBERS, default=LETTERS)

    options: Options

    @once
    def further_problems(self) -> list[Problem]:
        name = self.options.pseudonym
        if name in self.options.columns:
            return [Problem(f"{ID}.name_taken", {"column": name}, "pseudonym")]
        if self.options.key == NONE:
            return [Problem(f"{ID}.no_key", {}, "key")]
        return []

    @once
    def cost(self) -> Promise:
        return promise_without_bound(self.request, "pseudonymous")

    @once
    def uses_earlier_key(self) -> bool:
        return bool(self.options.key == EARLIER)

    def stand_ins(self, texts: Sequence[str], *, key: bytes) -> list[str]:
        if self.options.form == LETTERS:
            return pseudonyms(texts, key=key)
        if not all(map(fits, texts)) or len({pad_number(text) for text in texts}) < len(texts):
            raise InputRefused(f"{ID}.no_numbers", longest=LONGEST)
        return numbers_for(texts, key=key)

    def run(self, tables: Mapping[str, Table], context: Context) -> Release:
        table = next(iter(tables.values()))
        rows = table.rows()
        columns = [self.schema.column(name) for name in self.options.columns]
        cells = {column.name: written_cells(rows[column.name], column) for column in columns}
        entries = [entry(column, "as_it_is") for column in columns]
        inside = Inside()
        person = self.schema.person_key
        if person is not None:
            key = new_key() if context.key is None else context.key
            places = pd.factorize(rows[person.name])[0]
            stand_ins = self.stand_ins(person_texts(rows[person.name]), key=key)
            name = self.options.pseudonym
            cells = {name: np.array([*stand_ins, ""], dtype=object)[places].tolist(), **cells}
            meaning = "pseudonym" if context.key is None else "pseudonym_again"
            entries.insert(0, DictionaryEntry(name, Text(f"datasets.{meaning}"), "text"))
            inside = Inside(keys={KEY_FILE: lock_key(key, context.passphrase)})
        assert context.chance is not None  # nothing bounds the loss
        artefact = leaving("table", pd.DataFrame(cells, dtype="str"), tuple(entries), context.chance)
        return Release((artefact,), self.cost, inside=inside)
