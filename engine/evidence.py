"""What a bundle says about itself. Two types decide what may leave: nothing private fits into the first.

`PublicEvidence` holds only what is declared, public, computed from the released artefact alone, or paid for.
`InternalEvidence` holds everything else that was computed from private rows, and never leaves.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from engine.privacy.promise import Promise
from engine.protected import Protected, words_for_protected
from engine.views import Text, View, from_json, to_json

VERSION = 1


@dataclass(frozen=True)
class PublicEvidence:
    """What the recipient and the auditor may read.

    Parameters
    ----------
    made_at
        ISO date and time with the offset.
    title, bundle_id
        What the release is called, and its random name.
    program
        ``name``, ``version``, ``python`` and ``libraries`` (name to version).
    method
        ``id``, ``version``, ``family`` and ``source`` (document, place, identifier).
    decided
        ``parameters`` (with defaults), ``columns`` (schema JSON of the columns that had a part),
        ``preparation`` (kinds of steps and the columns they name); where they hold: ``budget``,
        ``taken`` (settings that were not taken as they were filled in), ``declared_sizes``, ``bounds``,
        ``rows_per_person``, ``sample`` (share of the people), ``held_out``, ``candidates``, ``tried`` (how
        many settings were looked at on the rows), ``step``.
    purpose
        Title, request number, recipient, agreement, expiry, approver.
    promise
        What is promised, with its events.
    statement
        The privacy statement that the custodian chose, see `engine.pricing.statement`.
    artefacts
        One mapping each: ``file``, ``sha256``, ``media_type``, and for tables ``rows`` and ``columns``.
    dictionary
        The content of ``data-dictionary.json``.
    expected
        Errors that were forecast, one mapping each: ``quantity`` (text id), ``named`` (what the text is
        filled in with), ``of``, ``size``, ``median``, ``limit``, ``unit``.
    register
        ``epsilon``, ``delta``, ``epsilon_spent`` and ``releases`` of all releases about these people; empty
        where the custodian does not tell it outside.
    forecast, views, notes
        What was expected before, what the release looks like, what the method says about it.
    measures
        Id of a public measure → its figures, computed from the released artefacts alone.
    input_name
        HMAC-SHA-256 of input and ledger entry under a key that stays in the ledger: another in each release.
    ledger
        ``entry`` and the ``head`` of the chain (number and hash) when the release was reserved.
    counted
        How many rows were ``used``, ``held_out`` and ``left_out``, and in which band of `engine.views.BANDS`
        the share lies that a cap left out (``above_cap_band``, absent where it left out none): where rows
        leave and nothing bounds the loss; empty elsewhere.
    noise
        ``source`` and ``sampler``; empty where no noise was drawn.
    """

    made_at: str
    title: str
    bundle_id: str
    program: Mapping[str, Any]
    method: Mapping[str, Any]
    decided: Mapping[str, Any]
    purpose: Mapping[str, str]
    promise: Promise
    statement: Mapping[str, Any]
    artefacts: tuple[Mapping[str, Any], ...]
    dictionary: tuple[Mapping[str, Any], ...]
    input_name: str
    ledger: Mapping[str, Any]
    noise: Mapping[str, str]
    expected: tuple[Mapping[str, Any], ...] = ()
    register: Mapping[str, Any] = field(default_factory=dict)
    forecast: tuple[View, ...] = ()
    views: tuple[View, ...] = ()
    notes: tuple[Text, ...] = ()
    measures: Mapping[str, Any] = field(default_factory=dict)
    counted: Mapping[str, int] = field(default_factory=dict)

    @property
    def words(self) -> Protected:
        """The custodian's words for who is protected."""
        return words_of(self.decided)


def words_of(decided: Mapping[str, Any]) -> Protected:
    """Return the custodian's words for who is protected from what was decided."""
    return words_for_protected(decided.get("protected"), decided.get("protected_many"))


@dataclass(frozen=True)
class InternalEvidence:
    """What stays: computed from private rows, or about the custodian's own affairs.

    Parameters
    ----------
    plan
        The whole plan as JSON.
    input
        ``file`` (name only), ``sha256``, ``rows``, ``rows_used``, ``rows_without_key``, ``people``; ``held``
        says ``store`` where memory did not hold the rows.
    findings
        What reading noticed about the rows: code and counts, no content.
    group_sizes
        Risk before the release, by the identifying attributes; empty where it was not measured.
    measures
        Id of an internal measure → its figures.
    price
        The price of the risk in every form, with the constants that made it.
    holding
        Name, budget, spent before and after, and whether the total still bounds all that has left.
    views
        Drawn in the internal report only.
    inside
        Figures that the method itself says to the custodian alone.
    files
        One mapping each: ``file`` and ``sha256`` of what else stays, the state of a service for instance.
    keys
        One mapping each: ``file``, ``sha256`` and ``locked`` of the key folder, which is kept apart.
    """

    plan: Mapping[str, Any]
    input: Mapping[str, Any]
    findings: tuple[Mapping[str, Any], ...] = ()
    group_sizes: Mapping[str, Any] = field(default_factory=dict)
    price: Mapping[str, Any] = field(default_factory=dict)
    holding: Mapping[str, Any] = field(default_factory=dict)
    views: tuple[View, ...] = ()
    measures: Mapping[str, Any] = field(default_factory=dict)
    inside: Mapping[str, Any] = field(default_factory=dict)
    files: tuple[Mapping[str, Any], ...] = ()
    keys: tuple[Mapping[str, Any], ...] = ()


def public_json(evidence: PublicEvidence) -> dict[str, Any]:
    """Return the content of ``release/evidence.json``.

    Raises
    ------
    TypeError
        Anything but public evidence was given.
    """
    if not isinstance(evidence, PublicEvidence):
        raise TypeError("only public evidence may be written outside")
    tree = {part.name: to_json(getattr(evidence, part.name)) for part in fields(evidence)}
    return {"version": VERSION, "audience": "public"} | tree | {"promise": evidence.promise.to_json()}


def internal_json(evidence: PublicEvidence, private: InternalEvidence) -> dict[str, Any]:
    """Return the content of ``internal/evidence.json``: the public part and what stays."""
    tree = {part.name: to_json(getattr(private, part.name)) for part in fields(private)}
    return public_json(evidence) | {"audience": "internal", "internal": tree}


def read_public(tree: Mapping[str, Any]) -> PublicEvidence:
    """Return the public evidence that `public_json` or `internal_json` wrote.

    Raises
    ------
    KeyError, TypeError, ValueError, InputRefused
        The tree is none of ours, or of another version.
    """
    if tree["version"] != VERSION:
        raise ValueError("another version")
    tree = {"counted": {}} | dict(tree)  # evidence of earlier versions counts nothing
    found = {part.name: _read(part.name, tree[part.name]) for part in fields(PublicEvidence)}
    return PublicEvidence(**found)


def read_internal(tree: Mapping[str, Any]) -> InternalEvidence:
    """Return what stays, as `internal_json` wrote it; see `read_public`."""
    inner = tree["internal"]
    written = (part.name for part in fields(InternalEvidence) if part.name in inner or part.name != "keys")
    found = {name: _read(name, inner[name]) for name in written}  # earlier bundles kept no key apart
    return InternalEvidence(**found)


def _read(name: str, value: Any) -> Any:
    if name == "promise":
        return Promise.from_json(value)
    if name in ("views", "forecast", "notes"):
        return from_json(value)
    return tuple(value) if isinstance(value, list) else value


def dumps(tree: Any) -> bytes:
    """Return evidence as the bytes that are written and embedded: one form, so that hashes agree.

    A number that is none, or infinite, is null: no release that has been paid for is lost over it.
    """
    try:
        written = json.dumps(tree, indent=2, ensure_ascii=False, allow_nan=False, default=_plain)
    except ValueError:
        written = json.dumps(_finite(tree), indent=2, ensure_ascii=False, allow_nan=False, default=_plain)
    return (written + "\n").encode(errors="backslashreplace")


def _plain(value: Any) -> Any:
    """Return a number of another library as one of Python's; of anything else its kind."""
    value = value.item() if hasattr(value, "item") else type(value).__name__
    return value if not isinstance(value, float) or math.isfinite(value) else None


def _finite(tree: Any) -> Any:
    if isinstance(tree, Mapping):
        return {name: _finite(value) for name, value in tree.items()}
    if isinstance(tree, list | tuple):
        return [_finite(value) for value in tree]
    return None if isinstance(tree, float) and not math.isfinite(tree) else tree
