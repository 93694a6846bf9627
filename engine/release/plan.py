"""Plan: everything the custodian decided, and nothing of the data. Frozen, small, JSON, versioned.

Every screen edits one plan; `engine.release.run` turns it into a bundle; the command line runs the same plan.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from engine import strict_json
from engine.bounded import read_text
from engine.errors import EngineError, InputRefused
from engine.methods.catalogue import method as find_method
from engine.methods.protocol import DECLARED_SIZES, MAIN, Budget, Method, Request, Spends
from engine.notebook import Shown
from engine.numbers import plain, shortest_json
from engine.pricing.price import Price
from engine.privacy.promise import Neighbours
from engine.release.copies import wishes
from engine.table.reading.options import SERVER_ENDING, ReadOptions
from engine.table.schema import Schema

VERSION = 1
MOST_SIZES = 100


@dataclass(frozen=True)
class FileReference:
    """A file of rows: its path (relative to the plan), how it is to be read, its digest where pinned.

    Of a folder the digest is that of its tables, see `engine.release.reading.digest_of`.
    """

    path: str
    options: Mapping[str, Any] = field(default_factory=dict)
    sha256: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        pinned = {"sha256": self.sha256} if self.sha256 else {}
        return {"path": self.path, "options": dict(self.options), **pinned}

    @property
    def names_server(self) -> bool:
        """Whether it names a table on a server instead of holding rows."""
        return self.path.lower().endswith(SERVER_ENDING)


@dataclass(frozen=True)
class Purpose:
    """Who asked, for whom, under what, until when, and who approved it. Dates are ISO text; all may be empty.

    Parameters
    ----------
    title, request_number, recipient, agreement, expires, approver
        What the release is called, who gets it under which agreement until when, who approved it.
    organisation, contact
        Who releases (the controller), and where questions go.
    use
        What the recipient may use it for.
    setting
        Where the recipient keeps it: published, under contract, in a secure room.
    population, period, inclusion
        About whom: which people, of which time, who was included.
    legal_basis, assessment
        The legal basis, and the number of an impact assessment or of an ethics vote.
    attackers
        Who might try to find a person, in the custodian's judgement.
    review
        When the release is looked at again.
    withdrawal
        How the recipient hears of a withdrawal, and what they then do.
    states_total
        ``"yes"`` where the total of ε over all releases may be told outside.
    checker
        The second person who checked the release (four eyes), and when.
    reason, motive, control, threshold, retention, officer
        Why it was released; who would gain from finding a person and what holds the recipient back, each by
        its id in `engine.risk.thresholds` or in words; which threshold was chosen and why; how long the
        internal folder is kept; when the data protection officer was heard, and the opinion: these stay
        inside.
    """

    title: str = ""
    request_number: str = ""
    recipient: str = ""
    agreement: str = ""
    expires: str = ""
    approver: str = ""
    reason: str = ""
    organisation: str = ""
    contact: str = ""
    use: str = ""
    setting: str = ""
    population: str = ""
    period: str = ""
    inclusion: str = ""
    legal_basis: str = ""
    assessment: str = ""
    attackers: str = ""
    review: str = ""
    states_total: str = ""
    threshold: str = ""
    retention: str = ""
    withdrawal: str = ""
    motive: str = ""
    control: str = ""
    checker: str = ""
    officer: str = ""


STAYS = ("reason", "motive", "control", "threshold", "retention", "officer")
"""What of the purpose is for the custodian alone."""


@dataclass(frozen=True)
class Plan(Shown):
    """One release, decided.

    Parameters
    ----------
    method, method_version
        Which way of releasing; a changed meaning has a new version and is refused.
    files, schemas
        By the name of the method's source (``"people"`` where there is one).
    preparation
        Recorded steps as JSON values, see `engine.table.preparation`; ``source`` names the table that a step
        is about, the people where it does not.
    parameters, declared_sizes, budget
        As in `Request`.
    purpose, price
        What was decided about people and money.
    holding
        Name of the register of people in the ledger that pays.
    holding_budget
        Asked for only when the holding does not exist yet.
    measures, decisions
        Ids of the measures to ask, all that apply where none is named but such on demand; journalled
        overrides with their reasons.
    candidates
        Plans that were compared with this one, each as the fields in which it differs (method, parameters).
    tried
        How many settings were looked at on the rows before these were decided.
    also
        What else is made beside the tables, see `engine.release.copies.wishes`.
    sample
        Share of the people who are in the release, each with all rows or with none, see
        `engine.release.reading.Sample`; None for everybody.
    continues, step, state
        A visit of a service or a round of an exchange: the ledger entry that opened it, the name of the step,
        and the path of the state file that the last visit left.
    """

    method: str = ""
    method_version: int = 1
    files: Mapping[str, FileReference] = field(default_factory=dict)
    schemas: Mapping[str, Schema] = field(default_factory=dict)
    preparation: tuple[Mapping[str, Any], ...] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)
    declared_sizes: tuple[int, ...] = DECLARED_SIZES
    budget: Budget | None = None
    purpose: Purpose = field(default_factory=Purpose)
    price: Price = field(default_factory=Price)
    holding: str = ""
    holding_budget: Budget | None = None
    measures: tuple[str, ...] = ()
    decisions: tuple[Mapping[str, Any], ...] = ()
    candidates: tuple[Mapping[str, Any], ...] = ()
    tried: int = 0
    also: tuple[str, ...] = ()
    sample: Fraction | None = None
    continues: str = ""
    step: str = ""
    state: str = ""

    @property
    def request(self) -> Request:
        """What the method gets to see: the declarations as the recorded steps leave them.

        Raises
        ------
        InputRefused
            ``preparation.*``: a step that could not be applied, whatever the rows. ``plan.unknown_method``.
        """
        return self.request_from(None)

    def request_from(self, state: bytes | None) -> Request:
        """Return what a step of a service gets to see, given what the last visit left; see `request`."""
        method = find_method(self.method)
        schemas = {name: self.prepared(name) for name in self.schemas}
        return method.make_request(
            schemas,
            self.parameters,
            budget=self.budget if method.spends is Spends.CHOSEN else None,
            sizes=self.declared_sizes,
            step=self.step,
            state=state,
            preparation=self.preparation,
        )

    @property
    def design(self) -> Method:
        """What the plan decides about its release, worked out once; raises as `request` does."""
        return find_method(self.method)(self.request)

    def candidate_plans(self) -> tuple[Plan, ...]:
        """Return the plan and those that were compared with it, each as a plan of its own and once.

        Settings are the same where the method and all values are, those that nobody filled in too.

        Raises
        ------
        InputRefused
            ``plan.bad_candidate``: a candidate differs in more than its method and parameters.
            ``plan.unknown_method``.
        """
        found = [replace(self, candidates=())]
        for candidate in self.candidates:
            parameters = candidate.get("parameters", self.parameters)
            if not set(candidate) <= {"method", "parameters"} or not isinstance(parameters, Mapping):
                raise InputRefused("plan.bad_candidate")
            method = find_method(str(candidate.get("method", self.method)))
            found.append(
                replace(
                    found[0],
                    method=method.id,
                    method_version=method.version,
                    parameters=dict(parameters),
                )
            )
        settings: list[tuple[str, object]] = []
        each = []
        for one in found:
            own = (one.method, one.settings)
            if own not in settings:
                settings.append(own)
                each.append(one)
        return tuple(each)

    @property
    def settings(self) -> Mapping[str, Any]:
        """What the method is told, with what nobody filled in; as it was written where it cannot be read."""
        try:
            request = self.request
        except EngineError:
            return self.parameters
        return self.parameters if request.wrong else request.values

    def files_of(self, source: str) -> tuple[FileReference, ...]:
        """Return the files of a source: ``source``, ``source.2``, ``source.3`` …"""
        return tuple(
            file for name, file in self.files.items() if name == source or name.startswith(f"{source}.")
        )

    def steps_of(self, source: str) -> tuple[Mapping[str, Any], ...]:
        """Return the recorded steps about a source, as `engine.table.preparation` understands them."""
        return tuple(
            {name: value for name, value in step.items() if name != "source"}
            for step in self.preparation
            if step.get("source", MAIN) == source
        )

    def prepared(self, source: str) -> Schema:
        """Return the schema of a source after the recorded steps; reads no row and no list."""
        from engine.table.declared import codes_read  # on first use: they bring pandas along
        from engine.table.preparation.steps import check, columns_of

        steps, schema = self.steps_of(source), self.schemas.get(source, Schema())
        schema = codes_read(schema, self._options(source))
        return check(steps, schema, columns=columns_of(steps, schema))

    def _options(self, source: str) -> ReadOptions:
        """Return how the file of a source is written; as usual where that is not said, or cannot be."""
        reference = self.files.get(source)
        try:
            return ReadOptions() if reference is None else ReadOptions.from_json(reference.options)
        except InputRefused:
            return ReadOptions()  # refused with the file

    @property
    def schema(self) -> Schema:
        """The schema of the people; empty while nothing has been marked."""
        return self.schemas.get(MAIN, Schema())

    @property
    def people(self) -> int | None:
        """How many people the table has, as declared: in the method's own parameter, or for the price."""
        declared = self.parameters.get("people") or self.price.people
        return declared if isinstance(declared, int) else None

    def with_schema(self, schema: Schema) -> Plan:
        """Return a plan with another schema of the people."""
        return replace(self, schemas={**self.schemas, MAIN: schema})

    def to_json(self) -> dict[str, Any]:
        """Return the plan as plain JSON values."""
        return {
            "version": VERSION,
            "method": self.method,
            "method_version": self.method_version,
            "files": {name: file.to_json() for name, file in self.files.items()},
            "schemas": {name: schema.to_json() for name, schema in self.schemas.items()},
            "preparation": [dict(step) for step in self.preparation],
            "parameters": dict(self.parameters),
            "declared_sizes": list(self.declared_sizes),
            "budget": _budget_to_json(self.budget),
            "purpose": {part.name: getattr(self.purpose, part.name) for part in fields(Purpose)},
            "price": {part.name: plain(getattr(self.price, part.name)) for part in fields(Price)},
            "holding": self.holding,
            "holding_budget": _budget_to_json(self.holding_budget),
            "measures": list(self.measures),
            "decisions": [dict(decision) for decision in self.decisions],
            "candidates": [dict(candidate) for candidate in self.candidates],
            "tried": self.tried,
            **({"also": list(self.also)} if self.also else {}),
            **({} if self.sample is None else {"sample": plain(self.sample)}),
            "continues": self.continues,
            "step": self.step,
            "state": self.state,
        }

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the plan's canonical JSON, in hexadecimal: changes with every decision."""
        canonical = json.dumps(self.to_json(), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return hashlib.sha256(canonical.encode()).hexdigest()

    def dumps(self) -> str:
        """Return the plan as JSON text for people to read."""
        return json.dumps(self.to_json(), indent=2, ensure_ascii=False) + "\n"

    @staticmethod
    def loads(text: str, *, file: str = "plan") -> Plan:
        """Read a plan from JSON text.

        Raises
        ------
        InputRefused
            ``plan.*``: not JSON, a newer version, an unknown field; ``document.*``: one of the wrong kind.
        """
        try:
            tree = strict_json.loads(text)
        except ValueError as error:
            raise InputRefused("plan.not_json", file=file) from error
        if not isinstance(tree, dict):
            raise InputRefused("plan.not_json", file=file)
        return _plan_from_json(tree, file)

    @staticmethod
    def read(path: Path) -> Plan:
        """Read a plan file; see `loads`."""
        try:
            return Plan.loads(read_text(path), file=path.name)
        except (OSError, UnicodeDecodeError) as error:
            raise InputRefused("plan.not_readable", file=path.name) from error


def _budget_to_json(budget: Budget | None) -> dict[str, Any] | None:
    if budget is None:
        return None
    return {
        "epsilon": shortest_json(budget.epsilon),
        "delta": shortest_json(budget.delta),
        "neighbours": budget.neighbours.value,
    }


def _budget_from_json(value: Any, field: str) -> Budget | None:
    if value is None:
        return None
    tree = strict_json.members(value, field, must=("epsilon",), may=("delta", "neighbours"))
    neighbours = tree.get("neighbours", Neighbours.ADD_REMOVE.value)
    return Budget(
        strict_json.number(tree["epsilon"], f"{field}.epsilon"),
        strict_json.number(tree.get("delta", 0), f"{field}.delta"),
        Neighbours(strict_json.word(neighbours, f"{field}.neighbours", [one.value for one in Neighbours])),
    )


def _price_from_json(value: Any, field: str) -> Price:
    """Read the price; a number that is null is not decided yet."""
    tree = strict_json.members(value, field, may=[part.name for part in fields(Price)])
    words = {
        name: strict_json.text(tree[name], f"{field}.{name}")
        for name in ("currency", "anchor")
        if name in tree
    }
    people = tree.get("people")
    if people is not None:
        strict_json.whole(people, f"{field}.people", least=1)
    numbers = {
        name: strict_json.number(one, f"{field}.{name}")
        for name, one in tree.items()
        if name not in ("currency", "anchor", "people") and one is not None
    }
    return Price(people=people, **words, **numbers)  # type: ignore[arg-type]


def _purpose_from_json(value: Any, field: str) -> Purpose:
    tree = strict_json.members(value, field, may=[part.name for part in fields(Purpose)])
    return Purpose(**{name: strict_json.text(one, f"{field}.{name}") for name, one in tree.items()})


def _file_from_json(value: Any, field: str) -> FileReference:
    tree = strict_json.members(value, field, must=("path",), may=("options", "sha256"))
    options = strict_json.read_named(tree.get("options", {}), f"{field}.options")
    digest = strict_json.text(tree.get("sha256", ""), f"{field}.sha256")
    return FileReference(strict_json.text(tree["path"], f"{field}.path"), dict(options), digest)


def _sizes(value: Any, field: str) -> tuple[int, ...]:
    sizes = strict_json.items(value, field, lambda size, place: strict_json.whole(size, place, least=1))
    if len(sizes) > MOST_SIZES:
        raise ValueError("more group sizes than anybody reads")
    return sizes


def _share(value: Any, field: str) -> Fraction | None:
    if value is None:
        return None
    share = strict_json.number(value, field)
    if not 0 < share < 1:
        raise ValueError("not a part of the people")
    return share


def _texts(value: Any, field: str) -> tuple[str, ...]:
    return strict_json.items(value, field, strict_json.text)


def _trees(value: Any, field: str) -> tuple[dict[str, Any], ...]:
    return strict_json.items(value, field, strict_json.read_named)


_READERS: dict[str, Callable[[Any, str], Any]] = {
    "method": strict_json.text,
    "method_version": lambda value, field: strict_json.whole(value, field, least=1),
    "files": lambda value, field: {
        name: _file_from_json(one, f"{field}.{name}")
        for name, one in strict_json.read_named(value, field).items()
    },
    "schemas": lambda value, field: {
        name: strict_json.read_named(one, f"{field}.{name}")
        for name, one in strict_json.read_named(value, field).items()
    },
    "preparation": _trees,
    "parameters": lambda value, field: dict(strict_json.read_named(value, field)),
    "declared_sizes": _sizes,
    "budget": _budget_from_json,
    "purpose": _purpose_from_json,
    "price": _price_from_json,
    "holding": strict_json.text,
    "holding_budget": _budget_from_json,
    "measures": _texts,
    "decisions": _trees,
    "candidates": _trees,
    "tried": lambda value, field: strict_json.whole(value, field, least=0),
    "also": lambda value, field: tuple(
        dict.fromkeys(
            strict_json.items(value, field, lambda one, place: strict_json.word(one, place, wishes()))
        )
    ),
    "sample": _share,
    "continues": strict_json.text,
    "step": strict_json.text,
    "state": strict_json.text,
}


def _plan_from_json(tree: Mapping[str, Any], file: str) -> Plan:
    version = tree.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise InputRefused("plan.no_version", file=file)
    if version > VERSION:
        raise InputRefused("plan.newer_version", file=file, found=version, expected=VERSION)
    unknown = sorted(set(tree) - set(_READERS) - {"version"})
    if unknown:
        raise InputRefused("plan.unknown_field", file=file, field=unknown[0])
    values = {}
    for name, value in tree.items():
        if name == "version":
            continue
        try:
            values[name] = _READERS[name](value, name)
        except strict_json.Wrong as error:
            raise error.refusal(file) from error
        except (AttributeError, KeyError, OverflowError, TypeError, ValueError, ZeroDivisionError) as error:
            raise InputRefused("plan.bad_field", file=file, field=name) from error
    if "schemas" in values:
        values["schemas"] = {
            name: Schema.from_json(tree, file=file) for name, tree in values["schemas"].items()
        }
    return Plan(**values)
