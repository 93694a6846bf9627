"""Tables attached to holdings: which register a table seems to belong to, and which one it is charged to."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from typing import Any

from engine.ledger import entries, holdings, journal, people, traces
from engine.ledger.fields import check_words
from engine.ledger.people import Digests
from engine.ledger.register import Register
from engine.ledger.values import Match


class Recognition(Register):
    """What of a ledger is about tables; see `engine.ledger.Ledger`."""

    def person_digests(self, keys: Iterable[str] | Any) -> Digests:
        """Return what the ledger keeps instead of person keys: sorted, distinct numbers of 64 bits.

        Parameters
        ----------
        keys
            One person key per row or per person, texts or a `pyarrow.ChunkedArray` of texts, always written
            the same way by the caller (``"7"`` and ``"7.0"`` are two people). Where no person key is marked:
            none.

        Notes
        -----
        A keyed hash under the ledger's random key, see `engine.ledger.people.digests`. Whoever has the
        ledger's file has the key, unless it is locked (`engine.ledger.people_key`), and can try out person
        keys: the file stays where the data are.
        """
        return people.digests(self._key(), keys)

    def kin(
        self,
        releases: Sequence[str],
        fingerprint: str,
        people_keys: Any,
        *,
        rows: Digests = people.NONE,
        contents: Digests = people.NONE,
        key: str = "",
        together: bool = False,
    ) -> tuple[list[traces.Kin], list[traces.Groups]]:
        """Return how a table relates to those of each of some earlier releases of one register.

        And, where all of them are looked at ``together``, who is in which of them, see `traces.shared`.

        Parameters
        ----------
        releases
            Their entries.
        fingerprint, rows, contents, key
            Of the table, as for `attach`.
        people_keys
            Its person keys, each once, a `pyarrow.ChunkedArray`; the answer is in their order.

        Raises
        ------
        VerificationFailed
            ``ledger.people_differ``: what was kept of the people of a register was changed.
        """
        own = self._key()
        each = people.digest_of_each(own, people_keys)
        table = traces.traces_of(own, fingerprint, each, (), rows, contents)
        with self._transaction() as db:
            found = [entries.find_entry(db, one) for one in releases]
            tables = traces.known_tables(db, self.path).get(found[0].holding, []) if found else []
        kin = [traces.relate_tables(tables, one.tables, one.number, table, each, key) for one in found]
        made = [(one.tables, one.number) for one in found]
        return kin, traces.shared(tables, made, table, each, key) if together else []

    def match(
        self,
        fingerprint: str,
        person_digests: Digests,
        columns: Sequence[str],
        *,
        rows: Digests = people.NONE,
        contents: Digests = people.NONE,
    ) -> list[Match]:
        """Return the holdings to which a table seems to belong, the strongest relation first.

        Parameters
        ----------
        fingerprint
            Order-free fingerprint of the table's content.
        person_digests
            From `person_digests`.
        columns
            Names of the columns, in any order.
        rows, contents
            Hashes of parts of rows and of columns that depend on no name and no order.

        Returns
        -------
        list of Match
            Only holdings that the table shares something with. The first is charged unless the custodian says
            with a reason that these are other people.

        Raises
        ------
        VerificationFailed
            ``ledger.people_differ``: what was kept of the people of a holding was changed.
        """
        table = traces.traces_of(self._key(), fingerprint, person_digests, columns, rows, contents)
        with self._transaction() as db:
            return traces.matches(holdings.all_holdings(db), traces.known_tables(db, self.path), table)

    def attach(
        self,
        holding: str,
        fingerprint: str,
        person_digests: Digests,
        columns: Sequence[str],
        *,
        rows: Digests = people.NONE,
        contents: Digests = people.NONE,
        key: str = "",
        reason: str = "",
        key_reason: str = "",
    ) -> list[Match]:
        """Charge a table to a holding from now on, and remember its people there.

        Parameters
        ----------
        holding
            Id or name.
        fingerprint, person_digests, columns, rows, contents
            As for `match`.
        key
            Name of the column that says which person a row is about, or empty.
        reason
            Why the table is not charged to the holding that it matches best; needed only then, journalled.
        key_reason
            Why another column than before names the people of this holding; needed only then, journalled.

        Returns
        -------
        list of Match
            What the table matched before it was attached.

        Raises
        ------
        InputRefused
            ``ledger.known_table``, ``ledger.known_people``, ``ledger.known_rows``, ``ledger.known_contents``,
            ``ledger.known_columns``, ``ledger.known_coincidence``: the table seems to belong to another
            holding, and no reason was given. ``ledger.key_changed``: the people of the holding were named by
            another column. ``staff.looser_rule``: another holding that knows them has a stricter rule.
        VerificationFailed
            ``ledger.people_differ``: what was kept of the people of a holding was changed.
        """
        table = traces.traces_of(self._key(), fingerprint, person_digests, columns, rows, contents)
        names = {"key": check_words(key, "column"), "why": check_words(reason, "reason")}
        why_key = check_words(key_reason, "reason")
        with self._transaction(write=True) as db:
            target, kept = holdings.find(db, holding), traces.known_tables(db, self.path)
            found = traces.matches(holdings.all_holdings(db), kept, table)
            declared_new = holdings.refuse_other(target, found, names["why"])
            if declared_new:
                holdings.refuse_looser(db.staff, target, found)
            key_changed = holdings.refuse_other_key(db, target, names["key"], why_key)
            own = next((match for match in found if match.holding.id == target.id), None)
            if own is None or not own.same_table or own.people_shared < own.people or key_changed:
                identity = f"t{secrets.token_hex(8)}"
                row = {
                    "number": journal.head(db).sequence + 1,
                    "holding": target.id,
                    "fingerprint": table.fingerprint,
                    "columns": journal.write_names(table.columns),
                    "key": names["key"],
                    "people": table.size,
                    "traces_hash": traces.keep(db, identity, table),
                    "reason": names["why"],
                    "created": journal.now(),
                }
                kind = "declared_new" if declared_new else "table_attached"
                details = {"key_reason": why_key} if key_changed else {}
                journal.change(db, kind, "attached", identity, row, **details)
            else:
                # One event either way: the head's number, named outside, must not say whether rows changed
                journal.note(db, "table_seen", holding=target.id)
            return found

    def person_key(self, holding: str) -> str:
        """Return the name of the column that last named the people of a holding, or nothing."""
        with self._transaction() as db:
            return holdings.person_key(db, holdings.find(db, holding).id)
