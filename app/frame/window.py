"""The frame: steps on the left, page in the middle, "what this means" on the right, Back and Next below.

Pages are made on first use, from ``app/screens/ID/page.py``. The window listens to the study; after every
change the page in view is asked to `enter` again and the footer says when the plan was saved.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import fields
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from PySide6.QtCore import QLocale, Qt, QTimer
from PySide6.QtGui import (
    QCloseEvent,
    QCursor,
    QDragEnterEvent,
    QDropEvent,
    QKeySequence,
    QResizeEvent,
    QShortcut,
    QShowEvent,
)
from PySide6.QtWidgets import (
    QApplication,
    QBoxLayout,
    QLineEdit,
    QStackedWidget,
    QWidget,
)

from app import log, screens, words
from app.frame.footer import Footer
from app.frame.money_line import MoneyLine, money_words
from app.frame.notice import Notice
from app.frame.returning import Returning
from app.frame.screens import Screens, load
from app.frame.side import Side, takes_words
from app.frame.tabbing import step_focus
from app.frame.undoing import Undoing
from app.parts.exact_field import ExactField
from app.parts.language import use_language
from app.parts.making import add, make_column, make_row
from app.parts.panel import Explanation, Panel
from app.parts.point_panel import PointReading
from app.parts.reading_numbers import Reading
from app.screens.base import Page
from app.state import draft, files, flow, purposes
from app.state.settings import ZOOMS, Settings
from app.state.study import Study
from app.theme import theme
from app.work.deciding import promise_of
from app.work.jobs import SHORT, JobRunner
from app.work.registers import RegisterWatch, takes
from engine.errors import EngineError
from engine.methods.protocol import MAIN
from engine.policy import language_set
from engine.release.plan import FileReference, Plan
from engine.views import View
from engine.warm_up import warm_up

PANEL_BELOW, SIDE_BELOW = 1060, 860  # widths under which the panel folds away, and the steps are one line
LINE_BELOW = 600  # height under which the steps are one line, where the panel is folded away
WARM_AFTER, WARM_PAUSE = 150, 15  # milliseconds after the first picture, and between two screens
EDITS = frozenset({"open_questions", *(part.name for part in fields(Plan))})
SAVE_AFTER = 700  # milliseconds without an edit
COMMIT_KEY = "Ctrl+Shift+Return"  # of its own, so that no key that turns pages can be mistaken for it


class Window(QWidget):
    """The one window of the program."""

    def __init__(
        self,
        study: Study | None = None,
        settings: Settings | None = None,
        data: Path | None = None,
        *,
        reopen: Callable[[], object] | None = None,
    ) -> None:
        super().__init__()
        self.setObjectName("window")
        self.setWindowTitle(words.say("app.window.name"))
        self.setMinimumSize(660, 440)
        self.setAcceptDrops(True)
        self.study = study if study is not None else Study()
        self.settings = settings if settings is not None else Settings()
        self.data = data
        self._reopen = reopen  # have it opened again with what it shows; None where nobody would
        words.speak(self.study.plan.schema.words)
        self.runner = JobRunner(self)
        self.step = ""
        self._refreshing = self._again = self._panel_open = self._asked_to_close = False
        self.warm = False  # all screens are made
        self._pending: tuple[Page, str] | None = None
        self._topic_timer = self._single_shot(160, self._topic_now)
        self._save_timer = self._single_shot(SAVE_AFTER, self.save_draft)
        # All that one press changes is one edit.
        self._turn_timer = self._single_shot(0, self._end_turn)
        self._notice_is_new = False
        self._stopped_at = ""  # the last step in view: where the draft is opened again
        self.undoing = Undoing(self, self)
        self.returning = Returning(self, self.study, self.go)
        self._build()
        self._keys()
        self.study.listen(self._study_changed)
        self._register = RegisterWatch(self.study, self.runner, lambda found: self.side.show_register(found))
        self.go("start")

    # --- what pages may ask ------------------------------------------------------------------------

    def notify(self, what: str, do: str = "", *, tone: str = "wrong") -> None:
        """Show a notice above the page; the next edit takes it away."""
        self._notice_is_new = True
        self._turn_timer.start()
        self.notice.show_notice(what, do, tone=tone)

    def clear_notice(self) -> None:
        """Hide the notice."""
        self.notice.clear()

    def unexpected(self, error: BaseException) -> None:
        """Show a calm line for an error that nobody foresaw; log its place, never its text."""
        log.keep(error, folder=self.data)
        self.notify(words.say("app.window.unexpected.what"), words.say("app.window.unexpected.do"))

    def show_explanation(self, explanation: Explanation) -> None:
        """Show an explanation on the right."""
        self._topic_timer.stop()
        self.panel.show_explanation(explanation)

    def topic_soon(self, page: Page, topic: str, *, at_once: bool) -> None:
        """Explain a topic: at once for the keyboard, after a rest of the pointer."""
        self._pending = (page, topic)
        if at_once:
            self._topic_now()
        else:
            self._topic_timer.start()

    def open_file(self, path: str) -> None:
        """Open a plan where it stopped, a table at its first step, or a release: a folder or one file."""
        place = Path(path)
        if files.is_release(place.name) and not place.is_dir():
            self.go("releases")
            releases: Any = self.page("releases")
            releases.verify_file(place)
            return
        if place.is_dir() and not files.is_table(place):
            start: Any = self.page("start")
            start.open_release(place)
            return
        if not files.is_plan(place.name) or place.is_dir():
            self.study.open_plan(Plan(files={MAIN: FileReference(str(place))}))
            self.go("load")
            return
        try:
            plan = files.open_plan(place)
        except EngineError as error:
            self.notify(*words.explain(error))
            return
        self.settings.remember(str(place))
        self.study.open_plan(plan)
        self.returning.begin(flow.furthest(self.study.state))

    def open_files(self, paths: list[str]) -> None:
        """Open several tables of one register together."""
        self.study.open_plan(Plan())
        self.go("load")
        load: Any = self.page("load")
        load.open_paths(paths)

    def open_where_it_stopped(self, step: str) -> None:
        """Open the step on which the plan stopped, once what lies before it is read and counted again."""
        self.returning.begin(step or flow.furthest(self.study.state))

    def save_plan(self, path: str) -> None:
        """Write the plan where the person wants it."""
        try:
            files.save_plan(self.study.plan_as_read, Path(path))
        except EngineError as error:
            self.notify(*words.explain(error))
            return
        self.settings.remember(path)
        self.notify(words.say("app.window.plan_saved", file=Path(path).name), tone="accent")

    def page(self, step: str) -> Page:
        """Return the screen of a step, made on first use."""
        return self.screens.screen(step, in_view=step == self.step)

    def _make_page(self, page: type[Page]) -> Page:
        made = page(self.study, self.runner, self, self.stack)
        made.set_margin(self._margin())
        return made

    def go(self, step: str) -> None:
        """Open a step if the flow allows it; otherwise say what is missing first."""
        self.footer.take_back()
        state = self.study.state
        if not flow.reachable(step, state):
            furthest = flow.furthest(state)
            self._say_missing(flow.missing(furthest, state))
            if furthest == self.step:
                self._point_to_missing()
                return
            step = furthest
        elif step != self.step:
            self.clear_notice()
        if self.step:
            self._commit()
            self.page(self.step).leave()
        page = self.page(step)
        self.step = self.study.place = step
        self.returning.went_to(step)
        if step in flow.path(state) and step != flow.START and self.study.plan != Plan():
            self._stopped_at = self.returning.wanted or step
            self._save_timer.start()
        self.refresh()  # before it is in view: it is laid out once, as it will be seen
        self.stack.setCurrentWidget(page)
        page.verticalScrollBar().setValue(0)
        self.show_explanation(page.explain(""))
        page.opened()
        target = page.first_focus()
        if target is not None and self.isVisible():
            target.setFocus(Qt.FocusReason.TabFocusReason)
        elif self.isVisible():  # there is nothing to fill in: keys scroll, and no link of the frame is ringed
            page.setFocus(Qt.FocusReason.OtherFocusReason)
        self._point_to_missing()
        self.setWindowTitle(f"{page.title.text()} · {words.say('app.window.name')}")

    def go_to(self, step: str, place: str) -> None:
        """Open a step at one of its places; see `Page.point_to`."""
        self.go(step)
        if self.step == step:
            self.page(step).point_to(place)

    def go_next(self) -> None:
        """Open the following step, or say what is missing from this one."""
        unread = self._unread_field()
        if unread is not None:
            self.notify(
                words.say("app.window.unread", field=unread.accessibleName(), found=unread.text()[:40]),
                words.say("app.window.unread_do"),
                tone="care",
            )
            unread.setFocus(Qt.FocusReason.OtherFocusReason)
            return
        state = self.study.state
        missing, after = flow.missing(self.step, state), flow.following(self.step, state)
        if missing:
            self._say_missing(missing)
            self._point_to_missing()
        elif after is not None:
            self.go(after)

    def _unread_field(self) -> QLineEdit | None:
        """Return a field in view whose number was not taken: nothing written is dropped in silence."""
        self._commit()
        page = self.page(self.step)
        fields: list[QLineEdit] = [one for one in page.findChildren(ExactField) if one.property("wrong")]
        fields += [one.edit for one in page.findChildren(Reading) if one.is_open()]
        return next((one for one in fields if one.isVisible()), None)

    def _say_missing(self, missing: tuple[flow.Missing, ...]) -> None:
        self._notice_is_new = True
        if missing:
            self.notice.show_missing(missing)

    def _point_to_missing(self) -> None:
        """Lead to the first thing that the notice names, if it is on the page in view."""
        place = next((one.place for one in self.notice.missing if one.place), "")
        if place and self.isVisible():
            self.page(self.step).point_to(place)

    def go_back(self) -> None:
        """Open the step before."""
        before = flow.preceding(self.step, self.study.state)
        if before is not None:
            self.go(before)

    def update_frame(self) -> None:
        """Show where we are: steps, Back, Next, saved."""
        state = self.study.state
        steps = flow.path(state)
        reachable = {step for step in (*steps, *flow.BESIDE) if flow.reachable(step, state)}
        done = {step for step in steps if step in reachable and flow.complete(step, state)}
        self.side.update_steps(self.step, steps[1:], done, reachable)
        self._show_money(state)
        pays = flow.spends(self.study.method) and self.study.result("bundle") is None
        found = takes(self.study.plan, self.study.result("ledger") if pays else None)
        self.side.register.show_takes(found.share, takes_words(self.study.plan, found))
        page = self.page(self.step)
        self.footer.back.setVisible(flow.preceding(self.step, state) is not None)
        named = page.next_words()
        goes_on = flow.following(self.step, state) is not None and page.shows_next()
        self.footer.next.setVisible(goes_on or bool(named))
        missing = flow.missing(self.step, state)
        waits = page.waits()
        waiting = waits if named else next(iter(missing), waits)
        self.footer.show_next(named, waiting, page.other_words())
        self.notice.still_missing(missing)
        self.footer.show_history(*self.undoing.named(), gone=self.undoing.shows_made)
        if self.study.saved_at is not None:
            self.footer.say_saved(words.say("app.window.saved", time=f"{self.study.saved_at:%H:%M}"))

    def _show_money(self, state: flow.State) -> None:
        """Keep in view what was decided about money, once it was, where something is spent."""
        wanted = flow.shows_money(self.step, state)
        found = self.study.result("promised") if wanted else None
        if found is not None:
            self.money.show_money(self.study.plan, found)
            return
        self.money.hide()
        if wanted:
            plan = self.study.plan
            self.runner.start(
                promise_of,
                plan,
                readings=True,
                done=lambda value: self.study.store("promised", value, plan),
                failed=lambda error: None,  # the page says what is wrong with the plan
                slot="money",
                lane=SHORT,
                after_drawing=True,
            )

    def refresh(self) -> None:
        """Have the page in view and the frame show the study as it is."""
        if self._refreshing:
            self._again = True
            return
        self._refreshing = True
        try:
            for _ in range(3):  # a page that edits while it enters is asked again, but not without end
                self._again = False
                with self.study.by_itself():
                    self.page(self.step).enter()
                    self.page(self.step).show_part()
                if not self._again:
                    break
            self.update_frame()
        finally:
            self._refreshing = False

    def save_draft(self) -> None:
        """Keep the plan, without rows."""
        self._save_timer.stop()
        if self.study.is_reopened:
            return  # its bundle holds all of it
        try:
            draft.save(
                self.study.plan_with_trials,
                self.study.open_questions,
                folder=self.data,
                step=self._stopped_at,
            )
        except OSError:
            self.footer.say_saved(words.say("app.window.not_saved"))
            return
        self.study.saved_at = datetime.now()
        self.update_frame()

    # --- making the frame --------------------------------------------------------------------------

    def _build(self) -> None:
        self._row: QBoxLayout = make_row(inside=self, spacing=0, margins=0)
        self._fill()

    def _fill(self) -> None:
        """Make everything that has words."""
        self.side = Side()
        self.side.chosen.connect(self.go)
        self.side.look_chosen.connect(self._choose_look)
        self.side.language_chosen.connect(self.use_language)
        self.side.help_wanted.connect(self.show_help)
        self._middle = self._build_middle()
        add(self._row, self.side, (self._middle, 1))
        self.panel = Panel(self)
        self._row.addWidget(self.panel)

    def _build_middle(self) -> QWidget:
        middle = QWidget()
        column = make_column(inside=middle, spacing=0, margins=0)
        self.notice = Notice()
        self.notice.followed.connect(lambda place: self.page(self.step).point_to(place))
        notice_place = QWidget()
        self._notice_place = make_column(self.notice, inside=notice_place, margins=(32, 16, 32, 12))
        notice_place.hide()
        self.notice.shown.connect(notice_place.setVisible)
        self.stack = QStackedWidget()
        self.screens = Screens(self.stack, self._make_page)
        self.money = MoneyLine()
        self.money.change.clicked.connect(lambda checked=False: self.go(flow.pays_at(self.study.state)))
        self.footer = Footer()
        self.footer.back.clicked.connect(lambda checked=False: self.go_back())
        self.footer.undo.clicked.connect(lambda checked=False: self.undoing.undo())
        self.footer.redo.clicked.connect(lambda checked=False: self.undoing.redo())
        self.footer.next.clicked.connect(lambda checked=False: self._press_next())
        self.footer.other.clicked.connect(lambda checked=False: self._ask_first(self.page(self.step)))
        self.footer.why.toggled.connect(self._fold_panel)
        add(column, notice_place, (self.stack, 1), self.money, self.footer)
        return middle

    def _keys(self) -> None:
        for sequence, act in (
            ("Alt+Right", self._turn_page),
            ("Ctrl+Return", self._turn_page),
            (COMMIT_KEY, self._commit_by_key),
            ("Alt+Left", self.go_back),
            ("F1", self.show_help),
            ("F6", self._to_next),
            ("Ctrl+S", self.save_draft),
            ("Ctrl+Z", self.undoing.undo),
            ("Ctrl+Shift+Z", self.undoing.redo),
            ("Ctrl+Y", self.undoing.redo),
            ("Ctrl++", lambda: self._zoom(1)),
            ("Ctrl+=", lambda: self._zoom(1)),
            ("Ctrl+-", lambda: self._zoom(-1)),
            ("Ctrl+0", lambda: self._zoom(0)),
        ):
            key = QShortcut(QKeySequence(sequence), self)
            key.setAutoRepeat(sequence != COMMIT_KEY)
            key.activated.connect(act)

    def _zoom(self, turn: int) -> None:
        """Draw everything in another size; 0 is the usual one.

        The toolkit takes it once, before its first window: so the window is opened again, at the same place.
        While something is under way that would begin anew, it waits until somebody opens it.
        """
        now = ZOOMS.index(self.settings.get("zoom", 100))
        wanted = ZOOMS[min(max(now + turn, 0), len(ZOOMS) - 1) if turn else 0]
        drawn = float(os.environ.get("QT_SCALE_FACTOR", "1"))
        whole, least = self.screen().size() * drawn * 100, self.minimumSize()
        if turn > 0 and (wanted * least.width() > whole.width() or wanted * least.height() > whole.height()):
            self.notify(words.say("app.window.zoom_most", percent=ZOOMS[now]), tone="care")
            return
        self.settings.set(zoom=wanted)
        if wanted == round(100 * drawn):
            self.say_zoom()
        elif self._reopen is None or self.runner.busy(beside="warm"):
            said = words.say("app.window.zoom", percent=wanted), words.say("app.window.zoom_do")
            self.notify(*said, tone="accent")
        else:
            self._commit()
            self.save_draft()
            self._reopen()

    def say_zoom(self) -> None:
        """Say in which size everything is drawn."""
        percent = self.settings.get("zoom", 100)
        self.notify(words.say("app.window.zoom_now", percent=percent), tone="accent")

    # --- what happens ------------------------------------------------------------------------------

    def _turn_page(self) -> None:
        """Go on by a key that turns pages: what cannot be undone is not done by it, only said."""
        page = self.page(self.step)
        commits = page.commits()
        if commits:
            self.notify(
                words.say("app.window.commit.not_by_turning"),
                words.say("app.window.commit.not_by_turning_do", button=commits, key=spoken_key(COMMIT_KEY)),
                tone="care",
            )
        else:
            page.go_next()

    def _to_next(self) -> None:
        """Take the keyboard to what goes on, or says why it does not; from there back to the page."""
        footer, page = self.footer, self.page(self.step)
        aims = [
            one for one in (footer.next, footer.not_yet, footer.why) if one.isVisible() and one.isEnabled()
        ]
        back = not aims or self.focusWidget() in aims
        target = page.first_focus() if back else aims[0]
        if target is not None:
            target.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _press_next(self) -> None:
        """Do what Next says; before what cannot be undone, ask where the page wants it."""
        self._commit()
        page = self.page(self.step)
        if page.commits() and not page.other_words() and page.guard() is not None:
            self._ask_first(page)
        else:
            page.go_next()

    def _ask_first(self, page: Page) -> None:
        """Ask in the place of the buttons before what cannot be undone."""
        button = page.commits()
        asked = words.say("app.window.commit.asked", button=button), self._money_words()
        self.footer.ask(*(page.guard() or asked), button, page.commit, tone=page.guard_tone())

    def _commit_by_key(self) -> None:
        """Ask for what cannot be undone by its own key; once more, it is done."""
        page = self.page(self.step)
        if not page.commits():
            return
        if self.footer.asks:
            self.footer.commit.click()
        else:
            self._ask_first(page)

    def _money_words(self) -> str:
        """Return what is spent in money where that is known, or that nothing bounds what is told."""
        found = self.study.result("promised")
        said = money_words(self.study.plan, *found) if found is not None else ""
        if said or flow.spends(self.study.method):
            return said
        return words.say("app.window.commit.unbounded")

    def _commit(self) -> None:
        """Have the field that is being written say what it holds."""
        field = self.focusWidget()
        if field is not None and field is not self:
            field.clearFocus()

    def _end_turn(self) -> None:
        self.study.history.end_edit()
        self._notice_is_new = False

    def _study_changed(self, names: frozenset[str]) -> None:
        self._save_timer.start()
        self._turn_timer.start()
        if words.speak(self.study.plan.schema.words):
            self.screens.outdate()
            self.page(self.step).show_words()
            self._warm_soon()
        if names & EDITS:
            self.footer.take_back()  # it was about another plan
        if (
            not self._notice_is_new
            and not self.study.acts_alone
            and names & EDITS
            and not self.notice.missing
        ):
            self.clear_notice()  # it was about what has been changed since
        made = self.study.result("bundle") if "bundle" in names else None
        if made is not None:
            purposes.remember(self.study.plan.purpose, folder=self.data)
        if self.study.is_other_part and "schemas" in names:
            load: Any = self.page("load")
            load.read_again()
        self.refresh()
        self.returning.changed(by_person=bool(names & EDITS) and not self.study.acts_alone)

    def _topic_now(self) -> None:
        self._topic_timer.stop()
        if self._pending is not None and self._pending[0] is self.stack.currentWidget():
            page, topic = self._pending
            self.panel.show_explanation(page.explain(topic))
        self._pending = None

    def _choose_look(self, mode: str) -> None:
        theme.choose(mode)
        self.settings.set(theme=mode)

    def open_large(self, view: View, *, stays: bool, reading: PointReading | None = None) -> Any:
        """Open a picture large over the window, and return what shows it."""
        from app.parts.views.figure import open_large  # on first use: it brings the drawing along

        return open_large(view, self.runner, self, stays=stays, reading=reading)

    def use_language(self, code: str) -> None:
        """Speak another language from now on, everywhere, at the same place."""
        if code == words.language() or language_set():
            return
        if any(map(self.runner.busy, ("release", "sites"))):
            self.notify(words.say("app.window.busy_language"), tone="care")
            return
        step = self.step
        self._commit()
        self.page(step).leave()
        self.settings.set(language=code)
        use_language(code)
        self.setLocale(QLocale())  # which the fields for days inherit
        # What is put away is kept: the press that chose comes from one of its parts, and jobs report to them.
        self._former = [self.side, self._middle, self.panel]
        for part in self._former:
            self._row.removeWidget(part)
            part.hide()
            part.setParent(None)
        self.step = ""
        self._fill()
        for part in (self.side, self._middle, self.panel):
            part.show()
        self._arrange()
        self.go(step)
        self._register.tell()

    def _margin(self) -> int:
        return 20 if self.side.property("line") else 32

    def show_help(self) -> None:
        """Open the program's help at the page in view."""
        from app.frame.helping import HelpWindow

        self.help = HelpWindow(f"page.{self.step}", self)
        self.help.open()

    def _fold_panel(self, wanted: bool) -> None:
        self._panel_open = wanted
        self._arrange()

    def _arrange(self) -> None:
        """Fold the panel over the page, and the steps to one line, where there is little room."""
        folded = self.width() < PANEL_BELOW
        is_line = self.width() < SIDE_BELOW or (folded and self.height() < LINE_BELOW)
        if is_line != bool(self.side.property("line")):
            self.side.set_line(is_line)
            down, right = QBoxLayout.Direction.TopToBottom, QBoxLayout.Direction.LeftToRight
            self._row.setDirection(down if is_line else right)
        self.footer.why.setVisible(folded)
        if folded and self._row.indexOf(self.panel) >= 0:
            self._row.removeWidget(self.panel)
        elif not folded and self._row.indexOf(self.panel) < 0:
            self._row.addWidget(self.panel)
        self.panel.setVisible(not folded or self._panel_open)
        if folded:
            left = self.width() - self.panel.width()
            self.panel.setGeometry(left, 0, self.panel.width(), self.height() - self.footer.height())
            self.panel.raise_()
        margin = self._margin()
        self._notice_place.setContentsMargins(margin, 16, margin, 12)
        self.footer.set_margin(margin)
        self.footer.make_room()
        self.money.set_margin(margin)
        for page in self.screens.made.values():
            page.set_margin(margin)

    def _single_shot(self, milliseconds: int, act: object) -> QTimer:
        timer = QTimer(self)
        timer.setSingleShot(True)
        timer.setInterval(milliseconds)
        timer.timeout.connect(act)
        return timer

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        page = self.page(self.step)
        first = page.first_focus() if not self.warm or self.focusWidget() is None else None
        if first is not None:  # not the first of the steps, as the toolkit would have it
            first.setFocus(Qt.FocusReason.OtherFocusReason)
            self.show_explanation(page.explain(""))  # nobody has chosen a field yet
        if not self.warm:
            self._warm_soon()

    def _warm_soon(self) -> None:
        if not self.screens.wanted:
            self.screens.wanted = [
                step for step in flow.STEPS if find_spec(f"{screens.__name__}.{step}.page")
            ]
            QTimer.singleShot(WARM_AFTER, self._load_screens)

    def _load_screens(self) -> None:
        """Load what screens need where nobody waits for it; what fails here is said when one is opened."""
        self.runner.start(
            load,
            tuple(self.screens.wanted),
            done=lambda _: self._warm_up(),
            failed=lambda _: self._warm_up(),
            slot="warm",
        )

    def _warm_up(self) -> None:
        """Make one more piece of a screen while nobody waits, then load the engine in the background."""
        if self.screens.make_ahead(in_view=self.step):
            QTimer.singleShot(WARM_PAUSE, self._warm_up)
        else:
            self.warm = True
            self.runner.start(warm_up, slot="warm", done=lambda _: self._warmed())

    def _warmed(self) -> None:
        gc.freeze()  # what is loaded now stays: looking through it for garbage took 50 ms every now and then
        for page in list(self.screens.made.values()):
            page.prepare()

    def focusNextPrevChild(self, forward: bool) -> bool:
        return step_focus(self, forward=forward)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if self._taken(event) is not None:
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        act = self._taken(event)
        if act is not None:
            event.acceptProposedAction()
            act()

    def _taken(self, event: QDropEvent) -> Callable[[], None] | None:
        """Return what the screen in view does with what is dropped, or None where it wants none of it."""
        found, page = files.dropped_files(event.mimeData()), self.page(self.step)
        one, several = page.take_file(), page.take_files()
        if len(found) > 1 and any(files.is_plan(path) or files.is_release(path) for path in found):
            return None  # one plan or release at a time
        if len(found) == 1 and one is not None:
            return lambda: one(found[0])
        return (lambda: several(found)) if len(found) > 1 and several is not None else None

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def closeEvent(self, event: QCloseEvent) -> None:
        if any(map(self.runner.busy, ("release", "sites"))) and not self._asked_to_close:
            self._asked_to_close = True
            self.notify(
                words.say("app.window.busy_closing"), words.say("app.window.busy_closing_do"), tone="care"
            )
            event.ignore()
            return
        self._commit()
        if self._save_timer.isActive():
            self.save_draft()
        if not self.isMaximized():
            self.settings.set(width=self.width(), height=self.height())
        self.settings.set(maximised=self.isMaximized())
        QApplication.setOverrideCursor(QCursor(Qt.CursorShape.WaitCursor))
        with suppress(RuntimeError):
            self.runner.shutdown(5000)
        QApplication.restoreOverrideCursor()
        super().closeEvent(event)


def spoken_key(sequence: str) -> str:
    """Return a key as it is written on this system's keyboards."""
    return QKeySequence(sequence).toString(QKeySequence.SequenceFormat.NativeText)
