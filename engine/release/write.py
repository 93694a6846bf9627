"""From a finished release to the two kinds of evidence and the files of both folders."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from engine import bounded, texts
from engine.evaluation import group_sizes
from engine.evaluation.evaluate import Evaluation, figures, views
from engine.evidence import InternalEvidence, PublicEvidence, dumps, internal_json, public_json
from engine.ledger import Holding, Ledger
from engine.methods.protocol import MAIN, Forecast, Method, Release, Rows, TableArtefact
from engine.methods.values import to_json
from engine.privacy.keys import is_locked
from engine.privacy.promise import Unit
from engine.release import bundle, charge, each_row, naming
from engine.release.copies import COPIES, copy_table
from engine.release.foreseen import Foreseen, columns_told
from engine.release.make import HELD_OUT, Draft
from engine.release.package import fields_of
from engine.release.plan import STAYS, Plan
from engine.release.program import program
from engine.release.reading import PreparedTable, of_somebody
from engine.release.readme import describe_files
from engine.table.table import Held
from engine.views import Text, band_of
from engine.views import to_json as view_json

NOISE = {"source": "operating_system", "sampler": "canonne_kamath_steinke_2020"}


@dataclass(frozen=True)
class Made:
    """Everything about one release that is described: decided, prepared, used, made and paid."""

    plan: Plan
    design: Method
    foreseen: Foreseen
    prepared: Mapping[str, PreparedTable]
    draft: Draft
    ledger: Ledger
    holding: Holding
    entry: str
    language: str
    evaluated: Evaluation = field(default_factory=Evaluation)
    asked: Sequence[Mapping[str, Any]] = ()

    @property
    def release(self) -> Release:
        """What the method made."""
        return self.draft.release


def write_release(folder: Path, made: Made) -> PublicEvidence:
    """Write everything of ``release/`` but the sums, from the public evidence alone; return that evidence."""
    with texts.speaking(made.plan.schema.words):
        artefacts = tuple(
            line
            for artefact in made.release.artefacts
            for line in bundle.write_artefact(folder, artefact, made.language)
        )
        evidence = _with_copies(folder, _public(made, artefacts), made)
    _write(folder, dumps(public_json(evidence)), made.language)
    return evidence


def _with_copies(folder: Path, evidence: PublicEvidence, made: Made) -> PublicEvidence:
    """Write the copies of tables that were wished for; return the evidence with them, and what failed.

    A copy that its format cannot hold is left out and said: the release has been paid for.
    """
    wished = [ending for ending in made.plan.also if ending in COPIES]
    lines, entries, failed = [], [], []
    tables = [
        (name, entry)
        for entry in evidence.dictionary
        for name in bundle.files_of(entry)
        if "columns" in entry
    ]
    for ending in wished:
        for table, entry in tables:
            name = f"{Path(table).stem}.{ending}"
            try:
                content = bounded.read_bytes(folder / table)  # as much as whoever checks reads back
                copy = copy_table(content, fields_of(entry["columns"]), ending, title=evidence.title)
                bundle.refuse_uncheckable(name, len(copy))
            except Exception:  # whatever the writer of the format does not take
                failed.append(Text("bundle.not_copied", {"file": table, "ending": ending}))
                continue
            said = {"sha256": bundle.write(folder / name, copy), "media_type": COPIES[ending]}
            lines.append({"file": name, **said, "copy_of": table})
            entries.append(
                {"file": name, **bundle.meaning(Text("bundle.copy", {"of": table}), _languages(made))}
            )
    return replace(
        evidence,
        artefacts=(*evidence.artefacts, *lines),
        dictionary=(*evidence.dictionary, *entries),
        notes=(*evidence.notes, *failed),
    )


def write_internal(folder: Path, evidence: PublicEvidence, made: Made) -> None:
    """Write everything of ``internal/`` but the sums."""
    for name, content in _keep(made.release).items():
        bundle.write(folder / name, content)
    _write(folder, dumps(internal_json(evidence, _internal(made))), made.language)


def write_keys(folder: Path, made: Made) -> None:
    """Write what is kept apart, into a folder of its own; the internal evidence names it with its hash."""
    keys = made.release.inside.keys
    if keys:
        folder.mkdir(mode=0o700)
    for name, content in keys.items():
        bundle.write(folder / name, content)


def _write(folder: Path, written: bytes, language: str) -> None:
    """Write the evidence and everything that it says in words."""
    bundle.write(folder / "evidence.json", written)
    for name, content in describe_files(written, language=language).items():
        bundle.write(folder / name, content)


def _public(made: Made, artefacts: tuple[Mapping[str, Any], ...]) -> PublicEvidence:
    plan, method, release = made.plan, made.design, made.release
    head = made.ledger.head()
    decided = _decide(made)
    declared = {str(line["name"]): line for line in decided["columns"] if not line.get("source")}
    return PublicEvidence(
        made_at=datetime.now().astimezone().isoformat(timespec="seconds"),
        title=plan.purpose.title,
        bundle_id=secrets.token_hex(8),
        program=program(method.libraries, language=made.language),
        method={
            "id": method.id,
            "version": method.version,
            "family": method.family.value,
            "published": asdict(method.followed),
        },
        decided=decided,
        purpose={name: value for name, value in asdict(plan.purpose).items() if name not in STAYS},
        promise=made.foreseen.promise,
        statement=made.foreseen.statement,
        artefacts=artefacts,
        dictionary=tuple(
            bundle.dictionary_json(artefact, declared, languages=_languages(made))
            for artefact in release.artefacts
        ),
        input_name=_input_name(made),
        ledger={
            "entry": made.entry,
            "head": {"sequence": head.sequence, "hash": head.hash},
            "chain": made.ledger.chain(),
        },
        noise=NOISE if made.draft.drawn or made.foreseen.promise.drawn() else {},
        expected=_expected(made.foreseen.forecast),
        register=_register(made) if plan.purpose.states_total == "yes" else {},
        forecast=made.foreseen.forecast.views,
        views=(*release.views, *views(made.evaluated.public)),
        notes=(*release.notes, *naming.notes(plan, made.design), *each_row.notes(plan, made.design)),
        measures=figures(made.evaluated.public),
        counted=_count(made),
    )


def _languages(made: Made) -> tuple[str, ...]:
    """Return the languages of the papers."""
    return (made.language, *(one for one in made.plan.also if one in texts.languages()))


def _count(made: Made) -> dict[str, int]:
    """Return how many rows were used, kept apart and left out, where rows leave and nothing bounds the loss.

    Of a table of counts nothing is told: its total may be one of the numbers that are hidden.
    """
    request, release = made.design.request, made.release
    tables = [one for one in release.artefacts if isinstance(one, TableArtefact)]
    sources = [name for name in request.private if name in made.prepared]
    leaves = made.design.rows is not Rows.NONE
    if made.design.cost.loss is not None or not leaves or not tables or not sources:
        return {}
    used = sum(_count_used(made, name) for name in sources)
    held_out = sum(len(one) for one in made.draft.held_out.values())
    keyed = all(made.prepared[name].people is not None for name in sources)
    whole = sum(len(of_somebody(made.prepared[name])) for name in sources) if keyed else used + held_out
    found = {"used": used}
    if above := whole - used - held_out:
        found["above_cap_band"] = band_of(above, whole)[0]  # exact numbers stay inside, as in the report
    if made.draft.held_out:
        found["held_out"] = held_out
    is_invented = made.design.rows is Rows.SYNTHETIC  # of which none stands for a row that was used
    left = 0 if is_invented else max(used - len(tables[0].frame), 0)
    least = int(str(made.design.cost.terms.get("k", 1)))
    if 0 < left < least:  # with how many were used, whoever counts the rows would have the number
        del found["used"]
        return found | {"fewer_left_out_than": least}
    return found | {"left_out": left}


def _count_used(made: Made, name: str) -> int:
    """Return how many rows were used: all that are somebody's where each weighs, else those below the cap."""
    prepared = made.prepared[name]
    is_weighed = made.design.cost.weighs and prepared.people is not None  # shares of sites are nobody's rows
    return len(of_somebody(prepared) if is_weighed else made.draft.used[name])


def _input_name(made: Made) -> str:
    """Name the input outside without telling anything about it; empty where none was read."""
    digests = sorted(one.sha256 for one in made.prepared.values())
    if not digests:
        return ""
    digest = digests[0] if len(digests) == 1 else hashlib.sha256("".join(digests).encode()).hexdigest()
    return made.ledger.input_name(digest, entry=made.entry)


def _decide(made: Made) -> dict[str, Any]:
    """What was decided, as far as it may leave: declarations, kinds of steps, never a value from a list.

    Only what holds for this release: a budget where one was chosen, bounds where some are declared, sizes
    where a forecast was made for them, people held out where some were.
    """
    plan, design = made.plan, made.design
    request = design.request
    asked = design.asks(request.step)
    stay = {parameter.name for parameter in asked if parameter.inside}
    stay |= {one.name for one in asked if one.beside and request.values.get(one.beside) is None}
    values = {name: one for name, one in request.values.items() if one is not None and name not in stay}
    has_rows = design.rows is not Rows.NONE and design.cost.loss is None
    leaving = {MAIN: _leaving(made)} if has_rows else {}
    columns = [
        line
        for source in design.sources_read
        for line in columns_told(plan, design, source.name, leaving=leaving.get(source.name))
    ]
    decided: dict[str, Any] = {
        "parameters": to_json(values),
        "columns": columns,
        "preparation": [
            {name: step[name] for name in ("step", "source", "column", "to") if name in step}
            for step in plan.preparation
        ],
    }
    if taken := {name: one for name, one in design.taken.items() if name in values}:
        decided["taken"] = to_json(taken)
    if request.budget is not None and design.cost.loss is not None:
        decided["budget"] = plan.to_json()["budget"]
    if any(error.size is not None for error in made.foreseen.forecast.errors):
        decided["declared_sizes"] = list(request.sizes)
    if design.cost.loss is not None and any("domain" in column for column in columns):
        decided["bounds"] = "declared"
    if plan.schema.protected:  # also where others read their rows
        decided["protected"] = plan.schema.protected
        decided["protected_many"] = plan.schema.words.several
    if request.private:
        decided["rows_per_person"] = request.rows_per_person
        if plan.schema.one_row_each and request.unit is Unit.ROW:
            decided["one_row_each"] = True
    if made.draft.held_out:
        decided["held_out"] = str(HELD_OUT)
    if (compared := len(plan.candidate_plans())) > 1:
        decided["candidates"] = compared
    if plan.tried:
        decided["tried"] = plan.tried
    if plan.sample is not None:
        decided["sample"] = str(plan.sample)
    if plan.also:
        decided["also"] = list(plan.also)
    if plan.step:
        decided["step"] = plan.step
    return decided


def _leaving(made: Made) -> frozenset[str]:
    """Return the columns of the tables that leave."""
    tables = (one for one in made.release.artefacts if isinstance(one, TableArtefact))
    return frozenset(str(name) for table in tables for frame in table.frames for name in frame.columns)


def _internal(made: Made) -> InternalEvidence:
    plan = made.plan
    rows = _input(made)
    measured = figures(made.evaluated.internal)
    sizes = measured.get(group_sizes.ID, {})
    # The chapter about the table draws the group sizes from their figures, once they were counted.
    drawn = (group_sizes.ID,) if "alone" in sizes else ()
    return InternalEvidence(
        plan=plan.to_json(),
        input=rows,
        findings=tuple(finding.to_json() for one in made.prepared.values() for finding in one.table.findings),
        group_sizes=sizes,
        price=made.foreseen.price,
        holding={"name": made.holding.name, **_register(made)},
        views=(*made.release.inside.views, *views(made.evaluated.internal, without=drawn)),
        measures=measured,
        inside=made.release.inside.figures,
        files=tuple(
            {"file": name, "sha256": hashlib.sha256(content).hexdigest()}
            for name, content in _keep(made.release).items()
        ),
        keys=tuple(
            {"file": name, "sha256": hashlib.sha256(content).hexdigest(), "locked": is_locked(content)}
            for name, content in made.release.inside.keys.items()
        ),
    )


def _register(made: Made) -> dict[str, Any]:
    """Return what all releases about these people have spent: computed from the ledger, not from rows."""
    status = made.ledger.status(made.holding.id, charge.make_composer(made.holding))
    return {
        "epsilon": None if status.holding.epsilon is None else str(status.holding.epsilon),
        "delta": str(status.holding.delta),
        "epsilon_spent": str(status.epsilon_spent),
        "delta_spent": str(status.delta_spent),
        "releases": status.releases,
        "bounds_all": status.bounds_all,
    }


def _expected(forecast: Forecast) -> tuple[dict[str, Any], ...]:
    return tuple(
        {
            "quantity": one.quantity.id,
            "named": view_json(dict(one.quantity.values)),
            "of": one.of,
            "size": one.size,
            "median": one.median,
            "limit": one.limit,
            "unit": one.unit,
        }
        for one in forecast.errors
    )


def _keep(release: Release) -> dict[str, bytes]:
    """Return the files that stay: what the method keeps, and what a service has to remember."""
    state = {} if release.state is None else {bundle.STATE: release.state}
    return {**release.inside.files, **state}


def _input(made: Made) -> dict[str, Any]:
    """Return what was read: of the first private source, and of the others below ``others``."""
    found = {name: _one_input(made, name, one) for name, one in made.prepared.items()}
    main = next((name for name in made.design.request.private if name in found), None)
    first = found.pop(main) if main is not None else {}
    before = {"asked_before": list(made.asked)} if made.asked else {}
    return first | before | ({"others": found} if found else {})


def _one_input(made: Made, name: str, prepared: PreparedTable) -> dict[str, Any]:
    rows: dict[str, Any] = {
        "file": prepared.file,
        "sha256": prepared.sha256,
        "rows": prepared.rows_read,
        "rows_used": _count_used(made, name),
    }
    if name in made.draft.held_out:
        rows["rows_held_out"] = len(made.draft.held_out[name])
    people = prepared.count_people()
    return rows | people | (prepared.table.about if isinstance(prepared.table, Held) else {})
