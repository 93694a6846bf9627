"""A survey in which every answer is changed before it is given: the page to answer on, then the estimates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from engine.errors import InputRefused
from engine.methods import option
from engine.methods.exchanges.asking import (
    BEST,
    largest_error,
    make_kit,
    more_exact_kit,
    question_problems,
    robust_ways,
)
from engine.methods.exchanges.collected import collect_again, collections_of, with_collection
from engine.methods.exchanges.estimating import SAYS_NOTHING, people_needed
from engine.methods.exchanges.kit import (
    ALL,
    DATE,
    KINDS,
    LANGUAGES,
    MEAN,
    NUMBER,
    ONE,
    ONE_OF,
    PAIR,
    SCALE,
    SEVERAL,
    Kit,
)
from engine.methods.exchanges.kit_page import page
from engine.methods.exchanges.paper import DEVICES, DIE, form
from engine.methods.exchanges.reading import read_reports
from engine.methods.exchanges.told import (
    ID,
    WORDS,
    Results,
    describe_care,
    describe_forgery,
    describe_series,
    describe_times,
    expected_view,
    inside,
    kit_views,
    label,
    ways_views,
)
from engine.methods.filling import Judged
from engine.methods.parameters import Problem
from engine.methods.protocol import (
    Context,
    Expected,
    Family,
    FileArtefact,
    Forecast,
    Reference,
    Release,
    Service,
    Shape,
    Source,
    Spends,
    Step,
)
from engine.once import once
from engine.privacy.accuracy import NORMAL_MEDIAN, NORMAL_WITHIN
from engine.privacy.events import Sequential
from engine.privacy.promise import ONE_DRAWN, Loss, Neighbours, Promise, Unit
from engine.table.schema import Kind
from engine.table.table import Table
from engine.views import Text

COLLECT, REPORTS = "collect", "reports"
PAGE, PAPER = "page", "paper"
HALF = 0.5  # a share that is off by so much says nothing
LISTED = (ONE_OF, SEVERAL, PAIR, SCALE)
SPACED = (NUMBER, DATE, MEAN)


class Survey(Service):
    """Local differential privacy: a page that gives out changed answers, and unbiased estimates from reports.

    Notes
    -----
    Every question gets the channel of `engine.privacy.channels` with the smallest error by closed form. The
    lots are drawn by the browser of each respondent, so no register pays, and collecting is post-processing:
    it spends nothing further. ε adds up over what one person is asked, in all times that are declared: they
    are entered once, before the first. That somebody took part is not hidden.
    Each collection begins from the state that the last one left, and says when its reports are those of more
    times than were declared.
    Nobody can tell whether a report was made by the page as it is: a kit of which one made-up report in a
    hundred moves a question by more than five points is refused without a reason, which stands beside its
    results.
    """

    id = ID
    version = 4  # many ticks are told by as many signs as tell the most
    family = Family.EXCHANGE
    usual = True
    promises = ("local_dp",)
    spends = Spends.FOLLOWS
    published = Reference(
        "Warner: Randomized response (1965); Ye, Barg: Optimal schemes for distribution estimation (2018)",
        "section 2; section III",
        "doi:10.1109/TIT.2018.2809790",
    )
    sources = ()

    class Options(option.Options):
        title: str = option.text()
        intro: str | None = option.text(optional=True)
        questions: option.Records = option.records(
            option.text(name="text"),
            option.choice(*KINDS, name="kind", default=ONE_OF),
            option.texts(name="levels", minimum=2, when=("kind", LISTED)),
            option.integer(name="most", minimum=1, maximum=20, default=3, when=("kind", (SEVERAL,))),
            option.text(name="second_text", when=("kind", (PAIR,))),
            option.texts(name="second_levels", minimum=2, when=("kind", (PAIR,))),
            option.edges(name="range", minimum=2, maximum=2, when=("kind", SPACED)),
            option.number(name="step", default=1, minimum=Fraction(1, 10**6), when=("kind", SPACED)),
            option.number(name="epsilon", optional=True, minimum=Fraction(1, 100), maximum=10),
            option.number(name="truth", optional=True, minimum=0, maximum=1, when=("kind", (ONE_OF,))),
            minimum=1,
            maximum=50,
        )
        epsilon: Fraction | None = option.number(optional=True, minimum=Fraction(1, 10), maximum=20)
        asked: str = option.choice(BEST, ALL, ONE, default=BEST)
        form: str = option.choice(PAGE, PAPER, default=PAGE)
        device: str = option.choice(*DEVICES, default=DIE, when=("form", (PAPER,)))
        language: str = option.choice(*LANGUAGES, default=LANGUAGES[0])
        languages: bool = option.boolean(default=False)
        shared: bool = option.boolean(default=False, when=("form", (PAGE,)))
        waves: int = option.integer(default=1, minimum=1, maximum=100)
        respondents: int = option.integer(minimum=1, maximum=10**9)
        forged_reason: str | None = option.text(optional=True)

    options: Options
    steps = (
        Step(
            COLLECT,
            (Source(REPORTS, Shape.RECEIVED, many=True),),
            (option.column(name="report", column_kinds=(Kind.TEXT, Kind.CATEGORY), source=REPORTS),),
        ),
    )

    @once
    def further_problems(self) -> list[Problem]:
        if self.request.step:
            state = self.request.state or b""
            right = Kit.loads(state) is not None and collections_of(state) is not None
            return [] if right else [Problem(f"{ID}.no_kit")]
        found = list(question_problems(self.values, ID))
        if found or (self.options.forged_reason or "").strip():
            return found
        care = describe_care(self.kit, self.ways)
        return [] if care is None else [Problem(f"{ID}.forged_far", {"care": care}, "forged_reason")]

    @once
    def kit(self) -> Kit:
        """The kit that the options describe; in a step, the one that was given out."""
        if not self.request.step:
            return make_kit(self.values)
        kit = Kit.loads(self.request.state or b"")
        assert kit is not None  # `further_problems` looked
        return kit

    @once
    def cost(self) -> Promise:
        """Promise the same for a kit and for what is made of its reports: all declared times together."""
        events = Sequential(tuple(replace(one.event, count=self.kit.waves) for one in self.kit.told))
        loss = Loss(self.kit.total, Fraction(0), Neighbours.REPLACE_ONE, events)
        sent = "one_report" if self.kit.waves == 1 else "one_report_each_time"
        asked = () if self.kit.told == self.kit.questions else (ONE_DRAWN,)
        return Promise("local_dp", loss, Unit.PERSON, 1, assumptions=(self.drawn, sent, *asked))

    @property
    def drawn(self) -> str:
        """Name what has to be trusted where lots are drawn: each one's device, one for all, or throws."""
        if self.kit.device:
            return "respondents_throw"
        return "respondents_draw_shared" if self.kit.shared else "respondents_draw"

    @once
    def forecast(self) -> Forecast:
        """Say how exact the shares will be with as many reports as expected, not with those that came."""
        if self.request.step:
            return Forecast()
        limit = min(1.0, largest_error(self.kit))
        median = limit * NORMAL_MEDIAN / NORMAL_WITHIN
        expected = Expected(label("share"), "survey", None, median, limit)
        expectation = expected_view(self.kit, more_exact_kit(self.values, self.kit))
        return Forecast((expected,), views=(expectation, *ways_views(self.kit, self.ways)))

    def judged(self, people: int | None) -> Judged | None:
        """Judge by the answers that are expected, whoever is in a table."""
        if self.request.step:
            return None
        limit = self.forecast.errors[0].limit
        values = {"respondents": self.kit.respondents, "limit": 100 * limit}
        care = describe_care(self.kit, self.ways)
        return Judged(max(0.0, 1 - limit / HALF), Text(f"{WORDS}.judged", values), care)

    @once
    def ways(self) -> tuple[tuple[str, Kit], ...]:
        """Ways to ask in which made-up reports move less, where they move one by more than a few points."""
        return () if self.request.step else robust_ways(self.values, self.kit)

    def run(self, tables: Mapping[str, Table], context: Context) -> Release:
        kit = self.kit
        if kit.device:
            artefact = FileArtefact("survey.pdf", "application/pdf", form(kit), Text(f"{WORDS}.files.form"))
        else:
            artefact = FileArtefact("survey.html", "text/html", page(kit), Text(f"{WORDS}.files.kit"))
        sent = "send_shared" if kit.shared else "send_page" if kit.intro.strip() else "send_page_untold"
        names = ["send_form"] if kit.device else [sent, "collect_later"]
        names += ["drawn_question"] if kit.asked == ONE else []
        said = (Text(f"{WORDS}.notes.{name}") for name in names)
        notes = (*describe_series(kit), *said, describe_forgery(kit, "forged"))
        views = (*kit_views(kit), *ways_views(kit, self.ways))
        return Release((artefact,), self.cost, views, notes, state=kit.dumps())

    def step(self, step: str, tables: Mapping[str, Table], state: bytes, context: Context) -> Release:
        kit, column = self.kit, self.values["report"]
        found = read_reports(tables[REPORTS].rows()[column].tolist(), kit, heading=column)
        if not found.reports:
            raise InputRefused(f"{ID}.no_reports", **found.left_out)
        results = Results(kit, found)
        if not results.says_something:
            each = 1 if kit.asked == ALL else len(kit.questions)
            needed = min(people_needed(one, each, SAYS_NOTHING) for one in kit.questions)
            raise InputRefused(f"{ID}.too_few", reports=found.reports, needed=needed)
        names = ["unbiased", "margin", *(["classifier_small"] if results.is_too_small else [])]
        earlier = collections_of(state)
        assert earlier is not None  # `further_problems` looked
        collection = collect_again(earlier, kit, found)
        notes = (
            *(Text(f"{WORDS}.notes.{name}") for name in names),
            describe_forgery(kit, "honest"),
            *describe_times(kit, earlier, collection),
        )
        return Release(
            results.artefacts,
            self.cost,
            results.views,
            notes,
            inside=inside(kit, found, results),
            state=with_collection(state, collection),
        )
