"""The question who is protected: what the card shows, and what its answers decide. Orders engine calls."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from app import words
from app.screens.columns import figures as column_figures
from app.screens.columns.unit_card import EACH, KEY, NOBODY, UnitCard
from app.state.flow import ROWS_PER_PERSON, UNIT, denied_by
from app.state.study import Study
from app.work import marking
from app.work.jobs import JobRunner
from app.work.marking import question
from engine.protected import several
from engine.release.decisions import ONE_ROW_EACH, name_decision, reason_for
from engine.table.schema import Role, Schema
from engine.table.suggest.key_candidate import KeyCandidate

KEY_LIKE = (Role.PERSON_KEY, Role.DIRECT_IDENTIFIER, Role.NOT_RECOGNISED, Role.OTHER)


class UnitQuestion:
    """Keeps the card and the study at one."""

    def __init__(self, card: UnitCard, study: Study, runner: JobRunner) -> None:
        self.card, self.study, self.runner = card, study, runner
        self._asked_for: Any = None
        self._wanted = False  # a person asked for all of the question
        card.way_chosen.connect(self.choose_way)
        card.key_chosen.connect(self.choose_key)
        card.word_chosen.connect(self.choose_word)
        card.many_chosen.connect(self.choose_many)
        card.cap_chosen.connect(self.choose_cap)
        card.reason_given.connect(self.give_reason)
        card.change_wanted.connect(self._change)

    # --- showing -----------------------------------------------------------------------------------

    def _change(self) -> None:
        self._wanted = True

    def fold(self) -> None:
        """Fold the card where there is an answer, said or proposed: something else is looked at."""
        self._wanted = False
        self._fold()

    def _fold(self) -> None:
        """Keep an answer in one line with its proof; without one, or where it is denied, all is asked."""
        way = self._way(self.study.plan.schema)
        denied = way == EACH and bool(denied_by(self.study.plan, self._keys())) and not self._reason()
        self.card.unfold(self._wanted or not way or denied)

    def show(self) -> None:
        """Show what is said now; have the figures by cap made where they are missing."""
        schema, table = self.study.plan.schema, self.study.table
        if table is None:
            return
        way, key = self._way(schema), schema.person_key
        said = self._sentence(way)
        shown = key.name if key else "" if way else self._likely()
        self.card.show_answer(way, schema.words, shown, self._listed(schema), said)
        denied = denied_by(self.study.plan, self._keys())
        self.card.show_denied(self._denial(denied), self._reason())
        lines = self.study.result("caps") if key is not None else ()
        chosen = None if ROWS_PER_PERSON in self.study.open_questions else schema.rows_per_person
        self.card.show_caps(lines or (), rows=table.n_rows, cap=chosen)
        self.card.show_means(self._means(way, lines))
        self.card.ask_cap(lines if way == KEY and chosen is None and lines else ())
        self._fold()
        if key is not None and lines is None:
            self._compute()

    def _keys(self) -> tuple[KeyCandidate, ...]:
        return self.study.result("keys") or ()

    def _likely(self) -> str:
        """Return the only column whose numbers come again as those of people do; it is shown, not taken."""
        likely = [one.column for one in self._keys() if one.repeats]
        return likely[0] if len(likely) == 1 else ""

    def _reason(self) -> str:
        return reason_for(self.study.plan.decisions, ONE_ROW_EACH)

    def _listed(self, schema: Schema) -> dict[str, str]:
        """Return the columns that can be chosen: the likely ones with their counts, then all others."""
        ranked = {
            one.column: words.say(
                f"app.columns.unit.candidate{'' if one.repeats else '_once'}",
                column=one.column,
                numbers=one.people,
                rows=one.rows,
            )
            for one in self._keys()
        }
        table = self.study.table
        others = [name for name in table.names if schema.column(name).role in KEY_LIKE]
        return ranked | {name: name for name in others if name not in ranked}

    def _denial(self, denied: tuple[KeyCandidate, ...]) -> str:
        """Say which column denies that every row is another person, and by what counts."""
        if not denied:
            return ""
        first = denied[0]
        values = {"column": first.column, "numbers": first.people, "rows": first.rows}
        more = ", ".join(one.column for one in denied[1:])
        name = "denied_too" if more else "denied"
        return words.say(f"app.columns.unit.{name}", **values, others=more)

    def _way(self, schema: Schema) -> str:
        if schema.person_key is not None:
            return KEY
        if schema.one_row_each:
            return EACH
        return "" if UNIT in self.study.open_questions else NOBODY

    def _values(self) -> dict[str, Any]:
        schema = self.study.plan.schema
        key = schema.person_key
        return {
            "column": key.name if key is not None else "",
            "count": schema.rows_per_person,
        }

    def _sentence(self, way: str) -> str:
        """The answer in one sentence, for the folded card."""
        if way == KEY and ROWS_PER_PERSON in self.study.open_questions:
            return words.say("app.columns.unit.folded.no_cap", proof=self._proof(), **self._values())
        name = way or "open"
        if way == KEY and self.study.plan.schema.rows_per_person == 1:
            name = "key_one"
        return words.say(f"app.columns.unit.folded.{name}", proof=self._proof(), **self._values())

    def _proof(self) -> str:
        """Return how many people the key tells apart, on how many rows; nothing where nobody counted it."""
        key = self.study.plan.schema.person_key
        found = next((one for one in self._keys() if key is not None and one.column == key.name), None)
        if found is None:
            return ""
        return words.say("app.columns.unit.folded.proof", people=found.people, rows=found.rows)

    def _means(self, way: str, lines: Any) -> str:
        """What the answer means, in the counts of this table."""
        if way != KEY or not lines:
            name = (
                "key_waits" if way == KEY and lines is None else "key_once" if way == KEY else way or "open"
            )
            return words.say(f"app.columns.unit.means.{name}", **self._values())
        several = next((line.losing for line in lines if line.cap == 1), 0)
        return words.say("app.columns.unit.means.key", several=several, most=lines[-1].cap, **self._values())

    def _compute(self) -> None:
        plan = self.study.plan
        state = (plan.files, plan.preparation, plan.schema.person_key)
        if self._asked_for == state:
            return
        self._asked_for = state
        self.runner.start(
            column_figures.cap_lines,
            self.study.table,
            plan.schema,
            done=lambda found: self.study.store("caps", found, plan),
            failed=lambda error: None,  # the screen of risks reads the same rows, and says what is wrong
            slot="columns.caps",
            after_drawing=True,
        )

    # --- deciding ----------------------------------------------------------------------------------

    def _decide(self, schema: Schema) -> None:
        self.study.decide(schemas=self.study.plan.with_schema(schema).schemas)

    def choose_way(self, way: str) -> None:
        """Say that no column tells whose a row is: each row is another person, or nobody knows."""
        with self.study.together():
            former = self.study.plan.schema.person_key
            self._decide(marking.without_key(self.study.plan.schema, one_row_each=way == EACH))
            named = () if former is None else (question(former.name),)
            self._forget_reason()
            self.study.answer(UNIT, ROWS_PER_PERSON, *named)

    def choose_key(self, name: str) -> None:
        """Say which column tells whose a row is."""
        schema = self.study.plan.schema
        if schema.person_key is not None and schema.person_key.name == name:
            self.study.answer(question(name))
            return
        with self.study.together():
            self.study.ask(ROWS_PER_PERSON)
            self._decide(marking.with_roles(schema, [name], Role.PERSON_KEY))
            self._forget_reason()
            self.study.answer(UNIT, question(name))

    def give_reason(self, reason: str) -> None:
        """Say why every row is another person although a column denies it."""
        denied = denied_by(self.study.plan, self._keys())
        if not denied or reason == self._reason():
            return
        entry = {"decision": ONE_ROW_EACH, "column": denied[0].column, "reason": reason}
        others = tuple(one for one in self.study.plan.decisions if name_decision(one) != ONE_ROW_EACH)
        self.study.decide(decisions=(*others, entry) if reason else others)

    def _forget_reason(self) -> None:
        others = tuple(one for one in self.study.plan.decisions if name_decision(one) != ONE_ROW_EACH)
        self.study.decide(decisions=others)

    def choose_word(self, word: str) -> None:
        """Say what the people are called."""
        schema = self.study.plan.schema
        if word and word != schema.words.one:
            self._decide(replace(schema, protected=word, protected_many=""))

    def choose_many(self, word: str) -> None:
        """Say what several of them are called; the proposal is not written down."""
        schema = self.study.plan.schema
        one = schema.words.one
        said = "" if word == several(one) else word
        if word and word != schema.words.several:
            self._decide(replace(schema, protected=one, protected_many=said))

    def choose_cap(self, cap: int) -> None:
        """Say how many rows of each person count; that counts of the table were seen is written down."""
        schema, plan = self.study.plan.schema, self.study.plan
        key = schema.person_key
        if key is None:
            return
        entry = {
            "decision": "cap_by_counts",
            "column": key.name,
            "reason": words.say("app.columns.unit.seen"),
        }
        others = tuple(one for one in plan.decisions if one.get("decision") != entry["decision"])
        with self.study.together():
            self.study.decide(decisions=(*others, entry))
            self._decide(replace(schema, rows_per_person=cap))
            self.study.answer(ROWS_PER_PERSON, question(key.name))
