"""What holds of a release, and which sentences may be printed of it.

A sentence that is true of some releases alone says so in `PRINTED`: of which. A kind of promise owns what is
said of singling out, linking, inferring, of what a recipient has to know and of what it is in law. A text of
a kind may have further forms, ``NAME_rows`` for instance, for releases of which something more holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from itertools import combinations
from typing import Any

from engine import texts
from engine.evidence import PublicEvidence
from engine.methods import catalogue
from engine.methods.kinds import Family, Rows
from engine.numbers import exactly
from engine.privacy.promise import Status, Unit, promise_kind
from engine.report.content.shared import say, unit_word
from engine.texts import percent_up
from engine.utility.sampled import say_sample
from engine.views import BarsView, IntervalsView, Label, TableView, Text, View, say_band

CONDITIONS = ("distinct_l", "entropy_l", "recursive_l", "t", "beta")
"""Of k-anonymity: what is asked of the sensitive values of a group."""


@dataclass(frozen=True)
class Facts:
    """What holds of a release, each a word of the conditions in `PRINTED`.

    Parameters
    ----------
    bounded, local
        Whether a loss is bounded, and whether people protected their own answers.
    noise, delta
        Whether noise was drawn, and whether the bound can fail.
    statistical, personal
        What the release is in law, see `Status`.
    rows
        Whether rows leave, real or invented.
    read
        Whether rows of people were read.
    person, cap
        Whether a person is protected; whether rows above a cap may have been left out.
    held_out
        Whether people were kept apart.
    numbers, many
        Whether cells were counted among the released numbers, and whether they are more than ten.
    opened
        Whether nothing about people leaves yet.
    thrown, shared
        Whether answers are changed by throws, on paper; whether all answer on one device.
    visit
        Whether questions may count people, by all of their rows, beside rows below a cap.
    """

    bounded: bool
    local: bool
    noise: bool
    delta: bool
    statistical: bool
    personal: bool
    rows: bool
    read: bool
    person: bool
    cap: bool
    held_out: bool
    numbers: bool
    many: bool
    opened: bool
    thrown: bool
    shared: bool
    visit: bool


PRINTED: Mapping[str, tuple[str, ...]] = {
    "limits.stays_personal": ("not local", "not personal"),
    "limits.stays_personal_too": ("personal",),
    "limits.stays_personal_local": ("local",),
    "limits.correctness": ("not local",),
    "limits.correctness_local": ("local",),
    "limits.formal": ("bounded", "not local"),
    "limits.formal_local": ("local",),
    "limits.no_guarantee": ("not bounded",),
    "limits.chosen": ("bounded", "not local"),
    "limits.margins": ("noise", "cap", "not opened"),
    "limits.margins_row": ("noise", "not cap", "not opened"),
    "limits.each_alone": ("noise", "many"),
    "limits.no_dominance": ("noise", "numbers", "cap"),
    "limits.no_dominance_row": ("noise", "numbers", "not cap"),
    "limits.other_releases": (),
    "limits.adaptive": ("bounded", "not local", "delta"),
    "limits.machine": ("not local",),
    "limits.machine_local": ("local", "not thrown", "not shared"),
    "limits.machine_shared": ("shared",),
    "limits.machine_paper": ("thrown",),
    "limits.not_for": (),
    "unchecked.noise": ("noise",),
    "unchecked.bounds": ("bounded", "not local"),
    "unchecked.key": ("not local", "person"),
    "unchecked.cap": ("not local", "cap"),
    "unchecked.row": ("not local", "not person"),
    "unchecked.page": ("local", "not thrown"),
    "unchecked.form": ("thrown",),
    "unchecked.ledger": ("not local",),
    "unchecked.program": (),
    "unchecked.one_report": ("local",),
    "unchecked.input": ("not local",),
    "guarantee.bias": ("noise", "not opened", "cap", "not visit"),
    "guarantee.bias_visit": ("noise", "not opened", "cap", "visit"),
    "guarantee.bias_row": ("noise", "not opened", "not cap"),
    "assumptions.exact_integer_noise": ("noise",),
}
"""Of which releases a sentence is true: every word has to hold, ``not`` in front of it that it does not."""


def facts_of(evidence: PublicEvidence) -> Facts:
    """Return what holds of a release, from its evidence alone."""
    promise = evidence.promise
    kind, loss = promise_kind(promise.kind), promise.loss
    cells = counted_cells(evidence)
    read = "rows_per_person" in evidence.decided
    person = promise.unit is Unit.PERSON
    register = exactly(evidence.register.get("delta", 0))
    return Facts(
        bounded=loss is not None,
        local=kind.local,
        noise=loss is not None
        and (bool(evidence.noise) or OF_SITES in {_theorem(one) for one, _ in loss.events.leaves()}),
        delta=bool(register) or (loss is not None and bool(loss.delta)),
        statistical=kind.status is Status.STATISTICAL,
        personal=kind.status is Status.PERSONAL,
        rows=evidence.method["family"] == Family.DATASET,
        read=read,
        person=person,
        cap=person
        and not kind.local
        and not promise.weighs
        and (not evidence.counted or "above_cap_band" in evidence.counted),
        held_out="held_out" in evidence.decided,
        numbers=cells > 0,
        many=cells > 10,
        opened=not evidence.views and loss is not None,
        thrown="respondents_throw" in promise.assumptions,
        shared="respondents_draw_shared" in promise.assumptions,
        visit=evidence.method["family"] == Family.SERVICE,
    )


OF_SITES = "noise_of_sites"
"""The theorem of a release whose noise every site of a study drew before its sums left."""


def _theorem(event: object) -> str:
    return str(getattr(event, "theorem", ""))


def counted_cells(evidence: PublicEvidence) -> int:
    """Return how many released numbers have a margin beside them, of all kinds."""
    return sum(int(one["cells"]) for one in evidence.measures.get("utility.small_groups", {}).values())


def holds(name: str, facts: Facts) -> bool:
    """Say whether a sentence is true of a release; of every one where nothing is declared."""
    return all(
        getattr(facts, word.removeprefix("not ")) != word.startswith("not ") for word in PRINTED.get(name, ())
    )


def true_ones(names: Iterable[str], facts: Facts, **values: Any) -> Iterator[Text]:
    """Give the sentences among some that are true of a release, in their order."""
    return (say(name, **values) for name in names if holds(name, facts))


def declared_words() -> frozenset[str]:
    """Return the words that conditions may use."""
    return frozenset(part.name for part in fields(Facts))


# What a promise says in its own words


def own_words(evidence: PublicEvidence, name: str) -> Text:
    """Return a text of the kind of promise in the form that is truest of the release.

    Of the forms that exist the one with most endings that hold is taken: ``NAME_rows_replace_one`` before
    ``NAME_rows`` before ``NAME``.
    """
    base = f"promises.{evidence.promise.kind}.{name}"
    found = endings(evidence)
    forms = (several for size in range(len(found), -1, -1) for several in combinations(found, size))
    taken = next(text_id for form in forms if texts.has(text_id := "_".join((base, *form))))
    return Text(taken, own_values(evidence))


def endings(evidence: PublicEvidence) -> tuple[str, ...]:
    """Return the endings of further forms that hold of a release."""
    facts, loss = facts_of(evidence), evidence.promise.loss
    is_service = evidence.method["family"] == Family.SERVICE
    held = {
        "opened": facts.opened,
        "paper": facts.thrown,
        "rows": facts.rows,
        "apart": facts.bounded and not facts.rows and not any(map(has_margins, evidence.views)),
        "replace_one": loss is not None and loss.neighbours.value == "replace_one" and not facts.local,
        "all": not released_others(evidence),
        "complete": evidence.counted.get("left_out") == 0,
        "conditions": any(name in evidence.promise.terms for name in CONDITIONS),
        "each": _is_made_row_by_row(evidence),
        "visit": is_service and not facts.opened,
        "rank": not is_service and any(one["of"] == "rank" for one in evidence.expected),
    }
    return tuple(name for name, is_true in held.items() if is_true)


def _is_made_row_by_row(evidence: PublicEvidence) -> bool:
    """Say whether every row that leaves is somebody's, however it was changed."""
    found = catalogue.find(evidence.method["id"])
    return found is not None and found.rows in (Rows.REAL, Rows.COARSER)


def rows_used(evidence: PublicEvidence, *, beside_notes: bool = True) -> Iterator[Text]:
    """Say whose rows were used, how many where that may be told, who was kept apart and who was left out.

    That the number is not told stands among what a recipient must know. What a note of the method says of
    the cap is not said again where the notes stand in the same paper.
    """
    facts, counted = facts_of(evidence), evidence.counted
    if not facts.read or facts.opened or facts.local:
        return
    if sample := evidence.decided.get("sample"):
        yield from say_sample(Fraction(sample))
    cap = int(evidence.decided["rows_per_person"])
    several = "" if facts.cap else "_all"
    noted = beside_notes and any("capped" in note.id for note in evidence.notes)
    told = evidence.promise.weighs or noted
    if facts.person and not told:
        yield say(f"rows.of_each{'_one' if cap == 1 else ''}{several}", cap=cap)
        if "above_cap_band" in counted:
            yield say("rows.capped", share=say_band(counted["above_cap_band"]))
    if "used" in counted:
        yield say("rows.used", used=counted["used"])
    if facts.held_out:
        yield say("rows.held_out_counted" if counted else "rows.held_out", rows=counted.get("held_out", 0))
    if hidden := counted.get("fewer_left_out_than"):
        yield say("rows.left_few", least=hidden)
    left, least = counted.get("left_out", 0), evidence.promise.terms.get("k", 1)
    if left:
        few = left < int(str(least))
        share = max(round(100 * left / counted["used"], 1), 0.1)
        yield say("rows.left_few" if few else "rows.left", least=least, left=left, share=share)


def own_values(evidence: PublicEvidence) -> dict[str, Any]:
    """Return what the texts of a promise are filled in with: its terms and the statement's figures."""
    posterior = evidence.statement.get("posterior", {})
    kind = promise_kind(evidence.promise.kind)
    values: dict[str, Any] = dict.fromkeys((*kind.terms, *kind.conditions), say("words.not_stated"))
    values |= {name: _term(term) for name, term in evidence.promise.terms.items()}
    values |= {name: percent_up(posterior[name]) for name in ("presence", "value") if name in posterior}
    return values | {"unit": unit_word(evidence), "others": released_others(evidence)}


def _term(value: Any) -> Any:
    return value if isinstance(value, str | int) else exactly(value)


def released_others(evidence: PublicEvidence) -> list[Label]:
    """Return the released columns that the terms do not name as those by which rows agree."""
    named = str(evidence.promise.terms.get("columns", "")).split(", ")
    return [name for name in released_columns(evidence) if name not in named]


def released_columns(evidence: PublicEvidence) -> list[str]:
    """Return the columns of all files that leave, each once."""
    return list(dict.fromkeys(str(column) for one in evidence.artefacts for column in one.get("columns", ())))


def has_margins(view: View) -> bool:
    """Say whether something stands beside the numbers of a view that says how far off they are."""
    if isinstance(view, IntervalsView | BarsView):
        return bool(view.low)
    if not isinstance(view, TableView):
        return False
    named = [heading.id if isinstance(heading, Text) else "" for heading in view.headings]
    of_margins = [at for at, one in enumerate(named) if "within" in one or one.endswith(".low")]
    return any(row[at] is not None for row in view.rows for at in of_margins)
