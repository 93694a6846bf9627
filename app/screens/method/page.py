"""Method in two glances: what a recipient holds, the ways to it, and then the form of the chosen one."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QKeyEvent, QKeySequence, QResizeEvent, QShortcut
from PySide6.QtWidgets import QAbstractButton, QButtonGroup, QSizePolicy, QWidget

from app import words
from app.parts.cards import Card
from app.parts.form.declare_card import DeclareCard, DeclareHere
from app.parts.form.parameter_form import ParameterForm
from app.parts.making import (
    STRETCH,
    add,
    hidden,
    make_button,
    make_column,
    make_field,
    make_group,
    make_label,
    make_row,
    name_widget,
    turn,
)
from app.parts.panel import Explanation, Part, three
from app.parts.prose import Heading, Prose
from app.parts.trial.trial_card import TrialCard
from app.parts.trial.trying import MethodTrial
from app.parts.verdict_card import VerdictCard
from app.screens.base import Page, Pieces
from app.screens.method.answers import Answers
from app.screens.method.demand_card import DemandCard
from app.screens.method.demanding import MeasuresOnDemand
from app.screens.method.example_card import ExampleCard
from app.screens.method.judging import MethodVerdict
from app.screens.method.keeping import CandidateLinks
from app.screens.method.pictures import shown_columns
from app.screens.method.said import (
    Tried,
    card,
    explain_briefly,
    explain_off,
    explain_thing,
    explanation,
    none_fits,
    sorted_by,
    ways,
    what_is_the_same,
    why_first,
)
from app.screens.method.things import ThingNames, Things
from app.screens.method.ways import Way, WayRow, Ways
from app.state import flow
from app.state.flow import BUDGET
from app.words.columns import naming_words
from app.work import marking
from app.work.choosing import (
    QUESTIONS,
    Known,
    Offer,
    Thing,
    is_said,
    known_level,
    offers,
    order_offers,
    ruled_out_by,
    search,
    things,
    title,
    told_aside,
    try_way,
)
from app.work.deciding import kind_of_promise
from app.work.jobs import SHORT
from app.work.releasing import example
from engine.methods.kinds import Held
from engine.methods.protocol import MAIN, Spends
from engine.numbers import surely
from engine.views import Text

SIDE_BY_SIDE = 680  # width of the page from which the parts of a chosen way stand beside each other
NEAREST = 2  # ways that answer a wish before somebody asks for more
SAID = 4  # words from which somebody says a wish, not a name
SEARCH_WIDE, WISH_WIDE = 190, 900  # pixels of the field, empty and with a wish
SEARCH_BESIDE = 780  # width of the page from which it stands beside what ways are sorted by
TRIED_AT = Fraction(1)  # the level at which ways are tried before one was chosen
SLOT_KNOWN, SLOT_TRIED = "method.known", "method.tried"


class MethodPage(Page):
    """Choosing: eight things, then the ways to one of them; afterwards what the chosen way still needs."""

    id = "method"
    counts_rows = True

    def build(self) -> Pieces:
        self.offers: tuple[Offer, ...] = ()
        self.choosing = True
        self.selected = ""
        self._picked = False  # by a person
        self._by_search = False  # the second glance was opened by a word
        self._tells_all = False  # more than the nearest ways is shown of what was found
        self._tells_about = ""  # the way of which more than its promise is told beside a short answer
        self.held: Held | None = None  # the thing whose ways are in view
        self.lists_ways = False  # the second glance: of `held`, or of all
        self.by = "usual"
        self.found: tuple[Thing, ...] = ()
        self._known = Known()
        self._known_for: tuple[Any, ...] = ()
        self._tried = Tried({})
        self._tried_for: tuple[Any, ...] = ()
        self._shows_example = False
        self._kept: dict[str, dict[str, Any]] = {}  # what was filled in for ways that were left again
        self._examples: list[TemporaryDirectory[str]] = []
        self._build_choice()
        yield
        self._build_chosen()
        self._build_form()
        self.example = ExampleCard()
        self.example.closed.connect(self._close_example)
        self.example.failed.connect(
            lambda path: self.notify(
                words.say("app.report.cannot_open"), words.say("app.report.cannot_open_do", path=path)
            )
        )
        add(self.body, self.example, STRETCH)
        find = QShortcut(QKeySequence.StandardKey.Find, self)
        find.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        find.activated.connect(self._find)

    def _build_choice(self) -> None:
        self.choice = QWidget()
        self.answers = Answers("app.method.ask", QUESTIONS)
        self.answers.answered.connect(self._answered)
        for chip in self.answers.chips.values():
            self.topic(chip, "questions")
        self.search = make_field(
            "search",
            words.say("app.method.search"),
            placeholder=words.say("app.method.find"),
            width=SEARCH_WIDE,
        )
        self.search.setMinimumWidth(SEARCH_WIDE - 30)
        self.search.setClearButtonEnabled(True)
        self.search.textChanged.connect(lambda text: self._searched())
        self.topic(self.search, "search")
        top = Qt.AlignmentFlag.AlignTop
        self.to_things = make_button(
            words.say("app.method.ways.back"), "back-to-things", self._close_ways, look="link"
        )
        self._build_sorts()
        self._search_room = self.search.maximumWidth()
        line = make_row(
            (self.to_things, 0, top), (self.answers, 1), self.sorts, (self.search, 0, top), spacing=10
        )
        self.to_things.setMinimumHeight(36)
        self.things = Things()
        self.things.chosen.connect(lambda held: self._thing_chosen())
        self.things.used.connect(lambda held: self._use_thing(Held(held)))
        self.things.opened.connect(lambda held: self._open_ways(Held(held)))
        for held, one in self.things.cards.items():
            for widget in (one, one.use, one.others):
                self.topic(widget, f"thing.{held}")
        self.all = make_button("", "all-ways", lambda: self._open_ways(None), look="link")
        self.first = make_group(make_column(self.things, self._build_below(), spacing=6, margins=0))
        self.to_sites = self._link_to_sites("several-found")
        self.more = make_button("", "more-ways", self._tell_all, look="link")
        self.names = ThingNames()
        self.names.chosen.connect(lambda held: self._take_other(Held(held)))
        links = make_row(self.more, self.to_sites, STRETCH, spacing=16)
        parts = (*self._build_ways(), links, self.names)
        self.second = make_group(make_column(*parts, spacing=12, margins=0))
        # What can be held stands before ways that only single words of a wish have found.
        column = make_column(
            line, self.none, self.first, self.second, STRETCH, inside=self.choice, spacing=14, margins=0
        )
        column.setStretch(4, 1)
        self.body.addWidget(self.choice)

    def _build_below(self) -> QWidget:
        keys = make_label(words.say("app.method.things.keys"), pixels=12, tone="quiet")
        self.below = make_group(
            make_row(self.all, self._link_to_sites("several"), STRETCH, keys, spacing=16, margins=0)
        )
        return self.below

    def _link_to_sites(self, name: str) -> QWidget:
        """Return what leads to where several sites make one result together."""
        return make_button(words.say("app.method.several"), name, lambda: self.frame.go("sites"), look="link")

    def _build_sorts(self) -> None:
        self.sorted = QButtonGroup(self)
        self.sorts = make_group(make_row(spacing=8, margins=0))
        row = self.sorts.layout()
        assert row is not None
        row.addWidget(make_label(words.say("app.method.ways.by"), pixels=12, tone="quiet"))
        for name in ("usual", "off", "seconds"):
            chip = make_button(
                words.say(f"app.method.ways.by_{name}"), f"by-{name}", look="chip", checkable=True
            )
            chip.setProperty("by", name)
            chip.setChecked(name == "usual")
            self.topic(chip, "off")
            self.sorted.addButton(chip)
            row.addWidget(chip)
        self.sorted.buttonClicked.connect(lambda button: self._sort(button.property("by")))

    def _build_ways(self) -> tuple[QWidget, QWidget]:
        self.ways = Ways()
        self.topic(self.ways.head, "off")
        self.ways.chosen.connect(self._select)
        self.ways.used.connect(self._use)
        self.ways.made.connect(self._topics_of)
        self.none = name_widget(Prose(), "no-way")
        self.why = Card(words.say("app.method.ways.why"))
        self.why.setObjectName("why-first")
        self.why_words = Prose()
        self.why.body.addWidget(self.why_words)
        return self.ways, self.why

    def _build_chosen(self) -> None:
        """What the chosen way promises, and what the recipient can and cannot do."""
        self.another = make_button(
            words.say("app.method.another"), "another-way", self._choose_again, look="link"
        )
        self.candidates = CandidateLinks(self.study)
        self.candidates.said.connect(lambda said: self.notify(said, tone="accent"))
        for link in (self.candidates.keep, self.candidates.usual):
            self.topic(link, "keep")
        self.links = make_group(make_row(self.another, self.candidates, STRETCH, spacing=20, margins=0))
        self.body.addWidget(self.links)
        self.chosen = QWidget()
        self._chosen_row = make_row(inside=self.chosen, spacing=14, margins=0)
        self.says: dict[str, Prose] = {}
        for name in ("guarantee", "recipient_can", "recipient_cannot"):
            card = Card(words.say(f"app.method.{name}"))
            self.says[name] = Prose()
            add(card.body, self.says[name], STRETCH)
            self._chosen_row.addWidget(card, 1)

    def _build_form(self) -> None:
        self.card = Card()
        self.card.body.setSpacing(18)
        self.form = ParameterForm()
        self.form.changed.connect(lambda name, value: self.study.decide_parameters(**{name: value}))
        self.declare = DeclareCard()
        self.declaring = DeclareHere(self.form, self.declare, self.study, self._asks_to_declare)
        self.declare.changed.connect(self._declare_changed)
        for part in (self.declare, self.declare.known):
            self.topic(part, "declare")
        self.form.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        top = Qt.AlignmentFlag.AlignTop
        self._form_row = make_row(
            (make_column(self.form, STRETCH), 4), (self.declare, 5, top), spacing=20, margins=0
        )
        self.general = name_widget(Prose(tone="wrong"), "problem-general")
        self.naming = name_widget(Prose(tone="wrong"), "names-people")
        add(self.card.body, self._form_row, self.general, self.naming)
        self.sizes_part = QWidget()
        column = make_column(
            Heading(words.say("app.method.sizes"), size="card"), inside=self.sizes_part, spacing=6, margins=0
        )
        self.sizes = make_field("declared_sizes", words.say("app.method.sizes"), width=260)
        self.sizes.textEdited.connect(self._decide_sizes)
        self.topic(self.sizes, "sizes")
        self.sizes_wrong = hidden(Prose(words.say("app.method.sizes_wrong"), tone="wrong", pixels=12))
        add(column, self.sizes, self.sizes_wrong)
        self.card.body.addWidget(self.sizes_part)
        self.body.addWidget(self.card)
        card = VerdictCard()
        self.topic(card, "verdict")
        self.verdict = MethodVerdict(card, self.study, self.runner)
        tried = TrialCard()
        self.topic(tried, "trial")
        self.trial = MethodTrial(tried, self.id, self.study, self.runner)
        further = DemandCard()
        self.topic(further, "demand")
        self.demand = MeasuresOnDemand(further, self.study, self.runner)
        add(self.body, card, tried, further, self.chosen)

    def resizeEvent(self, event: QResizeEvent) -> None:
        wide = self.viewport().width() >= SIDE_BY_SIDE
        turn(self._chosen_row, wide)
        turn(self._form_row, wide)
        self._fold_search()
        super().resizeEvent(event)  # last: it lays out what stands beside each other now

    def _fold_search(self) -> None:
        """Let the field to search give way where what the ways are sorted by needs its room."""
        typed = bool(self.search.text().strip())
        room = WISH_WIDE if typed and self._is_brief() else SEARCH_WIDE
        self.search.setMaximumWidth(max(self._search_room, room))  # a wish is read whole
        needs = self.lists_ways and not typed and not self.answers.isVisibleTo(self.choice)
        self.search.setVisible(not needs or self.viewport().width() >= SEARCH_BESIDE)

    # --- showing -----------------------------------------------------------------------------------

    def opened(self) -> None:
        if not self.offers:
            self.work(offers, done=self._found, doing=words.say("app.method.finding"), stoppable=False)
        if self.choosing != (self.study.method is None):
            self.choosing = self.study.method is None
            self.enter()
            self.refresh_explanation()
            self.frame.update_frame()

    def prepare(self) -> None:
        if not self.offers:
            self.runner.start(offers, done=self._prepared, failed=lambda error: None, slot="method.ready")

    def _prepared(self, found: tuple[Offer, ...]) -> None:
        if self.offers:
            return  # asked for meanwhile
        self.offers = found
        self.ways.make_ready(ways(found, {}, {}, Tried({})))

    def _found(self, found: tuple[Offer, ...]) -> None:
        self.offers = found
        self.enter()
        self.frame.update_frame()
        first = self.first_focus()
        if self.search.hasFocus() and not self.search.text() and first is not None:
            first.setFocus(Qt.FocusReason.OtherFocusReason)

    def first_focus(self) -> QWidget | None:
        if not self.choosing:
            return next((one.list for one in self.form.pickers().values()), self.another)
        held = self.things.current
        return self.search if self.lists_ways or held is None else self.things.cards[held].first

    def enter(self) -> None:
        method = self.study.method
        if method is None:
            self.choosing = True
        picks, example = self.choosing and not self._shows_example, self._shows_example
        named = method is not None and not self.choosing
        self.title.setText(
            words.say("app.method.title") if not named or method is None else words.firm(title(method))
        )
        form = "subtitle_tried" if self.trial.applies else "subtitle_form"
        self.subtitle.say(words.say(f"app.method.{form if named else 'subtitle'}"))
        self.setAccessibleName(self.title.text())
        self.example.setVisible(example)
        self.choice.setVisible(picks and bool(self.offers))
        self.candidates.renew(method)
        for part in (self.links, self.chosen, self.card):
            part.setVisible(named and not example)
        if picks:
            self._show_choice()
        if named and method is not None and not example:
            self.verdict.show()
            self.trial.show()
            self.demand.show()
        else:
            self.verdict.card.hide()
            self.trial.hide()
            self.demand.hide()
        if named and method is not None:
            self._show_method(method)

    # --- choosing ----------------------------------------------------------------------------------

    def _show_choice(self) -> None:
        """Show the eight things, or the ways to one of them."""
        if not self.offers:
            return
        self._find_known()
        schema = self.study.plan.schema
        main = self.study.plan.files.get(MAIN)
        on_server = main is not None and main.names_server
        self.found = things(self.offers, self.answers.answers(), schema, on_server=on_server)
        self.first.setVisible(not self.lists_ways)
        self.second.setVisible(self.lists_ways)
        self.to_things.setVisible(self.lists_ways)
        if not self.lists_ways:
            self.subtitle.show()
            self.things.show_small(False)
            self.below.show()
            self.none.hide()
            self.sorts.hide()
            self.answers.show()
            self._fold_search()
        if self.lists_ways:
            self._show_ways()
        else:
            self._show_things()
        if self.isVisible():
            self.frame.update_frame()

    def _find_known(self) -> None:
        """Find what is known of level and money, where the engine may take its time."""
        plan = self.study.plan
        status = self.study.registers.paying(plan)
        left = None if status is None else status.epsilon_left
        if left is None and plan.holding_budget is not None:
            left = plan.holding_budget.epsilon
        asked = (plan.budget, plan.price, left)
        if asked != self._known_for:
            self._known_for = asked
            self.runner.start(known_level, plan, left, done=self._knows, slot=SLOT_KNOWN, lane=SHORT)

    def _knows(self, found: Known) -> None:
        self._known = found
        if self.choosing and not self.lists_ways and self.offers:
            self._show_things()

    def _show_things(self) -> None:
        self.all.setText(words.say("app.method.all", count=len(self.offers)))
        held = {one.held: one for one in self.found}
        current = self.things.current
        if current not in held:
            current = next((one.held for one in self.found if one.default is not None), None)
        said = [card(one, self._known, self.answers.answers()) for one in self.found]
        self.things.show_things(said, shown_columns(self.study.plan.schema), current)

    def _thing_chosen(self) -> None:
        self.frame.update_frame()
        QTimer.singleShot(0, self, self._form_ahead)

    def _thing(self, held: Held | None) -> Thing | None:
        return next((one for one in self.found if one.held is held), None)

    def _use_thing(self, held: Held) -> None:
        """Take the way of a thing that is taken at once."""
        thing = self._thing(held)
        if thing is not None and thing.default is not None:
            self.selected = thing.default.method.id
            self._use()

    def _take_other(self, held: Held) -> None:
        """Take the way of a thing that is named below others, or show its ways where none fits."""
        thing = self._thing(held)
        if thing is not None and thing.default is not None:
            self._use_thing(held)
        else:
            self._forget_search()
            self._open_ways(held)

    def _forget_search(self) -> None:
        self.search.blockSignals(True)
        self.search.clear()
        self.search.blockSignals(False)
        self._tells_all = False

    def _open_ways(self, held: Held | None) -> None:
        self.held, self.lists_ways, self.selected, self._picked = held, True, "", False
        self._by_search = False
        self._show_choice()
        self.verticalScrollBar().setValue(0)
        if self.ways.rows:
            self.ways.rows[0].button.setFocus(Qt.FocusReason.TabFocusReason)

    def _close_ways(self) -> None:
        self.runner.cancel(SLOT_TRIED)
        held, self.lists_ways, self.selected = self.held, False, ""
        self._by_search = False
        self._forget_search()
        self.enter()
        self.frame.update_frame()
        at = held or self.things.current
        if at is not None:
            self.things.focus(at)

    def _listed(self) -> list[Offer]:
        """Return the ways in view, best first: of a thing, of what was searched for, or all."""
        answers, wanted = self.answers.answers(), self.search.text()
        thing = self._thing(self.held)
        if wanted.strip():
            columns = [one.name for one in self.study.plan.schema.columns]
            return search(order_offers(self.offers, answers), wanted, columns)
        if thing is not None:
            by = self.by if self._tried.has_all(thing.ways) else "usual"
            return sorted_by(thing.ways, by, answers, thing.missing, self._tried.about(thing.ways))
        return [one for thing in self.found for one in thing.ways]

    def _show_ways(self) -> None:
        answers, wanted, thing = self.answers.answers(), self.search.text().strip(), self._thing(self.held)
        found = self._listed()
        brief = self._is_brief()
        count = len(found)
        if brief:
            found = found[:NEAREST]
        missing = {name: lack for one in self.found for name, lack in one.missing.items()}
        listed = thing is None or bool(wanted)
        tried = self._tried.about(found)
        by = self.by if tried.has_all(found) else "usual"
        shown = ways(
            found, answers, missing, tried, best="" if listed or len(found) < 2 else by, name_things=listed
        )
        fitting = [one for one in shown if not one.against]
        aside = told_aside(wanted)
        unsure = bool(wanted) and not aside and not self._is_surely_meant(found, wanted)
        if not self._picked or self.selected not in {one.id for one in shown}:
            before, self._picked = self.selected, False
            # Next takes no way that nobody asked for.
            self.selected = "" if unsure else next((one.id for one in fitting), "")
            if self.selected != before and self.isVisible():
                self.refresh_explanation(f"method.{self.selected}" if self.selected else "search")
        self.ways.show_ways(shown, self.selected, brief=brief)
        self.ways.setVisible(bool(shown) and not (brief and unsure))
        self.more.setVisible(brief and bool(shown))
        self.more.setText(words.say("app.method.more", count=count))
        self.names.setVisible(brief and not unsure)
        self.names.show_names(
            {one.held: words.say(f"app.method.things.{one.held}.title") for one in self.found}
        )
        self.to_sites.setVisible(brief)
        self._name_list(wanted, thing, shown)
        self.none.setVisible(bool(aside) or not fitting)
        if aside:
            self.none.say(aside)
        elif not found:
            self.none.hide()
        elif not fitting and any(ruled_out_by(one, answers) for one in found):
            self.none.say(none_fits(found, answers))
        else:
            self.none.hide()
        self.to_things.setVisible(not brief)
        self.first.setVisible(unsure)
        self.subtitle.setVisible(not brief)
        if unsure:
            self.title.setText(words.say(f"app.method.{'nearest' if found else 'not_found'}"))
            self.none.hide()
            self.things.show_small(True)
            self.below.hide()
            self._show_things()  # what can be held stays in view: one of them is meant
            for card_of in self.things.cards.values():
                card_of.mark(False)  # each by a press of its own, not by Next
        self.sorts.setVisible(not listed and len(shown) > 1)
        self.answers.setVisible(listed and (not brief or bool(answers)))
        self._fold_search()
        self.why.setVisible(not listed and len(fitting) > 1)
        if not listed:
            self.why_words.say(why_first(found, answers, missing, tried, by))
        self._try_ways()

    def _is_brief(self) -> bool:
        """Whether a wish is answered by the nearest ways alone, so that few words are read."""
        typed = bool(self.search.text().strip())
        return self.choosing and self.lists_ways and typed and not self._tells_all

    def _tell_all(self) -> None:
        """Show all that was found, with what differs between them."""
        self._tells_all = True
        self._show_choice()
        self.refresh_explanation(f"method.{self.selected}" if self.selected else "search")
        if self.ways.rows:
            self.ways.rows[0].button.setFocus(Qt.FocusReason.TabFocusReason)

    def _tell_about(self, name: str, kind: str = "method") -> None:
        self._tells_about = name
        self.refresh_explanation(f"{kind}.{name}")

    def _is_surely_meant(self, found: list[Offer], wanted: str) -> bool:
        """Whether a name was searched for, or what somebody says speaks of the first way found."""
        return bool(found) and (len(wanted.split()) < SAID or is_said(found[0].method, wanted))

    def _name_list(self, wanted: str, thing: Thing | None, shown: list[Way]) -> None:
        base, name = "app.method.ways", ""
        if wanted:
            name = words.say(f"{base}.title_found", wanted=wanted)
        elif thing is None:
            name = words.say(f"{base}.title_all", count=len(shown))
        else:
            said = words.say(f"app.method.things.{thing.held}.title")
            name = words.say(f"{base}.title{'' if len(shown) > 1 else '_one'}", thing=said, count=len(shown))
        brief = bool(wanted) and self._is_brief()
        self.title.setText(words.say(f"{base}.title_nearest") if brief else name)
        same = what_is_the_same(shown)
        which = "_all" if wanted or thing is None else "_one" if len(shown) == 1 else ""
        self.subtitle.say(words.say(f"{base}.subtitle{which}", same=same).strip())
        self.setAccessibleName(name)

    def _try_ways(self) -> None:
        """Try the next way in view on invented people, one after the other, where nobody waits for it."""
        asked = (self.study.plan.schema, self._level())
        if asked != self._tried_for:
            self._tried, self._tried_for = Tried({}), asked
        if self._thing(self.held) is None or self.search.text().strip():
            return  # what is told of things that are not alike cannot be compared
        waiting = [row.way.id for row in self.ways.rows if row.way.id not in self._tried.found]
        if not waiting or len(self.ways.rows) < 2 or self.runner.busy(SLOT_TRIED):
            return
        offer = next(one for one in self.offers if one.method.id == waiting[0])

        def done(found: Any) -> None:
            self._tried = Tried({**self._tried.found, offer.method.id: found})
            if self.choosing and self.lists_ways and asked == self._tried_for:
                self._show_ways()

        self.runner.start(
            try_way,
            offer.method,
            *asked,
            done=done,
            failed=lambda error: done(None),
            slot=SLOT_TRIED,
            after_drawing=True,
        )

    def _level(self) -> Fraction:
        return self._known.epsilon or TRIED_AT

    def _sort(self, by: str) -> None:
        self.by, self._picked = by, False
        self._show_choice()

    def _topics_of(self, row: WayRow) -> None:
        for widget in (row, row.button):  # what gets the pointer or the focus
            self.topic(widget, f"method.{row.way.id}")

    def _searched(self) -> None:
        """Show what is found; without a word again, what was there before."""
        wanted = bool(self.search.text().strip())
        self._tells_about = ""
        if not wanted:
            self._tells_all = False
        if wanted and not self.lists_ways:
            self.held, self.lists_ways, self._by_search = None, True, True
        elif not wanted and self._by_search:
            self.lists_ways = self._by_search = False
        if self.choosing:
            self.enter()
            if not wanted:
                self.refresh_explanation()  # of what can be held, no longer of what was found

    def _answered(self) -> None:
        self._picked = False
        self._show_choice()
        self.refresh_explanation("questions")

    def _select(self, method_id: str) -> None:
        self.selected, self._picked = method_id, True
        self.refresh_explanation(f"method.{method_id}")
        self.frame.update_frame()
        QTimer.singleShot(0, self, self._form_ahead)

    def _form_ahead(self) -> None:
        """Make the form of the selected way while its words are read: half of what it takes to open it."""
        thing = None if self.lists_ways else self._thing(self.things.current)
        ahead = self.selected if self.lists_ways else thing and thing.default and thing.default.method.id
        method = next((one.method for one in self.offers if one.method.id == ahead), None)
        if method is not None and self.choosing:
            self.form.make_ready(f"methods.{method.id}", self._asked(method), self.study.plan.schemas)

    def _find(self) -> None:
        if self.choosing:
            if not self.search.isVisible():
                self._close_ways()
            self.search.setFocus(Qt.FocusReason.ShortcutFocusReason)
            self.search.selectAll()

    def _choose_again(self) -> None:
        self.choosing, self.lists_ways, self.selected = True, False, ""
        if self.study.method is not None:
            self.things.current = self.study.method.in_hands()
        self.enter()
        self.frame.update_frame()
        first = self.first_focus()
        if first is not None:
            first.setFocus(Qt.FocusReason.OtherFocusReason)

    def _use(self) -> None:
        """Take the selected way; what was filled in for it before comes back."""
        method = next((one.method for one in self.offers if one.method.id == self.selected), None)
        if method is None:
            return
        self.choosing = False
        self.runner.cancel(SLOT_TRIED)
        plan, former = self.study.plan, self.study.method
        if former is None or former.id != method.id:
            if former is not None:
                self._kept[former.id] = dict(plan.parameters)
            kept = {parameter.name: parameter.kind for parameter in method.parameters}
            same = {
                parameter.name
                for parameter in (former.parameters if former is not None else ())
                if kept.get(parameter.name) == parameter.kind
            }
            values = {name: value for name, value in plan.parameters.items() if name in same}
            values = self._kept.get(method.id, values)
            if self.study.linked is not None:  # how the tables hang together was said when they were opened
                found, names = self.study.linked.parameters, {one.name for one in method.parameters}
                values = {name: column for name, column in found.items() if name in names} | values
            # What other people will read begins in the language that is spoken here.
            here = words.language()
            asked = [one for one in method.parameters if here in one.choices and one.default != here]
            values = {one.name: here for one in asked} | values
            taken = {"method": method.id, "method_version": method.version, "parameters": values}
            self.study.decide(**taken, measures=())  # those that were named are about the former one
        else:
            self.enter()  # else the study asked already
        self.verticalScrollBar().setValue(0)
        self.refresh_explanation(f"method.{method.id}")
        self.frame.update_frame()
        first = self.first_focus()
        if first is not None:
            first.setFocus(Qt.FocusReason.OtherFocusReason)

    def next_words(self) -> str:
        if self._shows_example:
            return words.say("app.method.example.back")
        if not self.choosing:
            waiting = len(self.declare.columns)
            return words.say("app.picker.declare_next", count=waiting) if waiting else ""
        if self.lists_ways:
            return words.say("app.method.use") if self.selected else ""
        thing = self._thing(self.things.current)
        if thing is None or thing.default is None:
            return ""
        return words.say(f"app.method.things.{thing.held}.use")

    def waits(self) -> Text | None:
        """Say what is missing to the declarations that Next would take."""
        if self.choosing or self._shows_example or not self.declare.columns or self.declare.is_ready:
            return None
        return Text(f"app.picker.{'waits_values' if self.declare.known.isChecked() else 'waits'}")

    def go_next(self) -> None:
        declares = not self.choosing and not self._shows_example and bool(self.declare.columns)
        if declares and not self.declare.declare():
            wanted = self.focusWidget()
            if wanted is not None:
                self.ensureWidgetVisible(wanted, 0, 60)
            return
        if self._shows_example:
            self._close_example()
        elif self.choosing and self.lists_ways and self.selected:
            self._use()
        elif self.choosing and not self.lists_ways and self.next_words():
            assert self.things.current is not None
            self._use_thing(self.things.current)
        elif (found := self.trial.why_not()) is not None:
            self.hold_back(found)
        else:
            self.frame.go_next()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Take what has a key: a digit chooses a thing, Enter takes it, O opens its ways, Esc goes back."""
        key, held = event.key(), self.things.current
        plain = not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        picks = self.choosing and not self._shows_example and bool(self.offers) and plain
        numbers = {Qt.Key.Key_0.value + number: held for number, held in enumerate(Held, start=1)}
        if picks and self.lists_ways and key == Qt.Key.Key_Escape:
            self._close_ways()
        elif picks and not self.lists_ways and key in numbers and self._thing(numbers[key]):
            self.things.focus(numbers[key])
        elif picks and not self.lists_ways and key == Qt.Key.Key_O and held is not None:
            self._open_ways(held)
        elif picks and key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            pressed = self.focusWidget()
            if isinstance(pressed, QAbstractButton):
                pressed.click()
            else:
                self.go_next()
        elif not self.choosing and self.declare.is_ready and key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.go_next()
        else:
            super().keyPressEvent(event)

    # --- an example --------------------------------------------------------------------------------

    def _ask_example(self, method_id: str) -> None:
        folder = TemporaryDirectory(prefix="custos-example-")
        self._examples.append(folder)
        self.work(
            example,
            method_id,
            Path(folder.name) / "example",
            language=words.language(),
            done=lambda found: self._show_example(method_id, *found),
            doing=words.say("app.method.example.making"),
        )

    def _show_example(self, method_id: str, folder: Path, files: list[tuple[str, int, str]]) -> None:
        method = next(one.method for one in self.offers if one.method.id == method_id)
        self.example.show_bundle(title(method), folder, files)
        self._shows_example = True
        self.enter()
        self.verticalScrollBar().setValue(0)
        self.frame.update_frame()
        self.example.buttons["report"].setFocus()

    def _close_example(self) -> None:
        self._shows_example = False
        self.enter()
        self.frame.update_frame()

    def leave(self) -> None:
        self._shows_example = False
        self.trial.look_at_taken()
        if self.study.plan.schema.columns and not self.study.open_questions:
            marking.keep_last_schema(self.study.plan.schema, folder=self.frame.data)  # declared here too

    # --- the form ----------------------------------------------------------------------------------

    def _show_method(self, method: Any) -> None:
        base = f"methods.{method.id}"
        kind = kind_of_promise(self.study.plan)
        self.says["guarantee"].say(words.say(f"promises.{kind}.sentence"))
        for name in ("recipient_can", "recipient_cannot"):
            self.says[name].say(words.say(f"{base}.{name}"))
        asked = self._asked(method)
        later = {one.name for one in method.parameters if one not in asked}
        problems = [one for one in self.study.problems() if one.parameter not in {BUDGET, *later}]
        plan = self.study.plan
        before = set(self.form.lines)
        self.form.show_form(base, asked, plan.parameters, plan.schemas, problems)
        if set(self.form.lines) != before or not self._topics_of_form():
            for name, line in self.form.lines.items():
                for widget in (line.part, *line.field.findChildren(QWidget)):
                    self.topic(widget, f"parameter.{name}")
        self.declaring.refresh()
        general = [problem for problem in problems if problem.parameter not in self.form.lines]
        self.general.setVisible(bool(general))
        self.general.say("\n\n".join(" ".join(words.explain(problem)) for problem in general))
        said = naming_words(plan, method, self.study.result("suggestions") or ())
        self.naming.setVisible(bool(said))
        self.naming.say(said)
        self.sizes_part.setVisible(method.spends is Spends.CHOSEN)
        self.card.setVisible(bool(asked or general) and not self._shows_example)
        if not self.sizes.hasFocus():
            self.sizes.setText(", ".join(f"{one}" for one in plan.declared_sizes))
            self.sizes_wrong.hide()

    def _asked(self, method: Any) -> tuple[Any, ...]:
        """Return what the form asks: about further tables, too, where they were opened with the first one."""
        return flow.asked_parameters(method, together=self.study.has_all_tables)

    def _topics_of_form(self) -> bool:
        return any(line.part in self._topics for line in self.form.lines.values())

    def _decide_sizes(self, text: str) -> None:
        parts = [part for part in text.replace(";", ",").split(",") if part.strip()]
        numbers = [surely(part) for part in parts]
        sizes = [int(one) for one in numbers if one is not None and one > 0 and one.denominator == 1]
        right = bool(parts) and len(sizes) == len(parts)
        self.sizes_wrong.setVisible(not right)
        if right:
            self.study.decide(declared_sizes=tuple(sizes))

    def _asks_to_declare(self) -> None:
        self.refresh_explanation("declare")

    def _declare_changed(self) -> None:
        if self.isVisible():
            self.frame.update_frame()

    def field_at(self, place: str) -> QWidget | None:
        kind, _, name = place.partition(":")
        return self.form.part(name) if kind == "parameter" else super().field_at(place)

    # --- the right-hand side -----------------------------------------------------------------------

    def explain(self, topic: str) -> Explanation:
        if topic == "verdict":
            return three("app.preview.help.verdict", words.say("app.preview.verdict.heading"))
        if topic == "trial":
            return three("app.trying.help", words.say("app.trying.heading"))
        if topic == "off":
            return explain_off(self._level())
        if self._is_brief() and topic in ("", "search"):
            topic = f"method.{self.selected}" if self.selected else "found"
        kind, _, name = topic.partition(".")
        if kind == "found":
            return Explanation(words.say("app.method.help.search.title"))
        if kind in ("", "thing") and not self.choosing and self.study.method is not None:
            kind, name = "method", self.study.method.id  # the cards are behind what was chosen
        if kind == "thing" and self.offers:
            thing = self._thing(Held(name))
            if thing is not None and self._is_brief() and name != self._tells_about:
                shown = thing.default or thing.ways[0]
                return explain_briefly(shown, lambda: self._tell_about(name, "thing"))
            if thing is not None:
                answers = self.answers.answers()
                return explain_thing(thing, answers, self._ask_example, self._open_ways)
        if kind == "parameter" and name in self.form.lines:
            return Explanation(self.form.labels()[name], (Part(body=self.form.help(name)),))
        if kind == "method":
            offer = next((one for one in self.offers if one.method.id == name), None)
            if offer is not None and self._is_brief() and name != self._tells_about:
                return explain_briefly(offer, lambda: self._tell_about(name))
            if offer is not None:
                return explanation(offer, lambda: self._ask_example(offer.method.id))
        if not topic and self.choosing and not self.lists_ways and self.things.current is not None:
            return self.explain(f"thing.{self.things.current}")
        return super().explain(topic)


PAGE = MethodPage
