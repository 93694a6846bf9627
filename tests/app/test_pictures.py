"""A picture of every screen, light and dark, at 100 % and 150 %.

They go to the folder that CUSTOS_PICTURES names, otherwise to the folder of the test. A screen is in as soon
as its file exists; `PREPARE` brings it into a state worth looking at, `MORE` adds further states.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from app.state import flow

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "resources" / "sample"
LOOKS = ("light", "dark")
SCALES = (1.0, 1.5)
SIZE = (1366, 768)  # pixels of the screen: larger letters leave less room


def there() -> list[str]:
    """Return the screens whose file exists."""
    steps = (*flow.path(flow.State()), *flow.BESIDE)
    return [step for step in steps if find_spec(f"app.screens.{step}.page") is not None]


@pytest.mark.before_release
@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("scale", SCALES)
def test_every_screen_has_a_picture(scale: float, look: str, tmp_path: Path) -> None:
    folder = Path(os.environ.get("CUSTOS_PICTURES") or tmp_path / "pictures")
    done = subprocess.run(
        [sys.executable, __file__, str(folder), str(scale), look, str(tmp_path / f"home{scale}")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        env={
            **os.environ,
            "QT_QPA_PLATFORM": "offscreen",
            "QT_SCALE_FACTOR": str(scale),
            "PYTHONPATH": str(ROOT),
            "XDG_DATA_HOME": str(tmp_path / f"home{scale}"),
            "XDG_CONFIG_HOME": str(tmp_path / f"home{scale}"),
            "HOME": str(tmp_path / f"home{scale}"),
        },
    )
    assert done.returncode == 0, done.stderr[-3000:]
    written = json.loads(done.stdout.splitlines()[-1])
    for step in there():
        picture = folder / name_of(step, look, scale)
        assert picture.name in written
        # A blank or a broken screen compresses to almost nothing.
        assert picture.stat().st_size > 15_000, picture.name


@pytest.mark.parametrize("look", LOOKS)
def test_names_of_pictures_differ(look: str) -> None:
    names = {name_of(step, look, scale) for step in there() for scale in SCALES}
    assert len(names) == len(there()) * len(SCALES)


def name_of(step: str, look: str, scale: float, state: str = "") -> str:
    """Return the file name of a picture."""
    place = f"{flow.STEPS.index(step):02d}" if step in flow.STEPS else "10"
    return f"{place}-{step}{'-' + state if state else ''}-{look}-{round(scale * 100)}.png"


# --- in the process that takes the pictures ---------------------------------------------------------


def settle(window: Any) -> None:
    """Let everything finish that was started."""
    from PySide6.QtWidgets import QApplication

    end = time.monotonic() + 30
    while time.monotonic() < end:
        QApplication.processEvents()
        if window.warm and not window.runner.busy():
            break
        time.sleep(0.005)
    for _ in range(50):  # what an answer adds is laid out in several turns
        QApplication.processEvents()
        body = window.page(window.step).widget()
        if body.height() >= body.heightForWidth(body.width()):
            break
    for _ in range(5):
        QApplication.processEvents()


def columns(window: Any) -> None:
    """Leave some columns undecided and one selected."""
    page = window.page("columns")
    for name in ("encounter_id", "race", "gender"):
        page.select(name)
        page._accept_selected()
    page.select("age")


def everything_decided(window: Any) -> None:
    """Decide all columns, declaring what the code book says."""
    from engine.table.schema import Role

    page = window.page("columns")
    page._show("all")
    page.table.clearSelection()
    page._accept()
    page.select("change")  # what nobody recognised has no suggestion
    page._set_role(Role.OTHER)
    page._set_cap(1)


def purpose(window: Any) -> None:
    """Fill in a request."""
    window.study.decide_part(
        "purpose",
        title="Readmission by age and gender",
        recipient="Institute of Health Services Research",
        request_number="2026-118",
        agreement="Data use agreement of 3 March 2026",
        approver="A. Keller, data protection",
        expires="2028-12-31",
        reason="Planning of discharge care for people with diabetes.",
    )


def sample_plan(window: Any) -> None:
    """Take over what the sample plan decided, so that every later screen has something to show."""
    from dataclasses import replace

    from app.state.files import open_plan

    plan = open_plan(SAMPLE / "plan.json")
    now = window.study.plan
    window.study.decide(
        **{
            name: getattr(plan, name)
            for name in ("method", "method_version", "parameters", "budget", "price", "holding")
        },
        holding_budget=plan.holding_budget,
        schemas=plan.schemas,
        purpose=replace(plan.purpose, title=plan.purpose.title or now.purpose.title),
    )
    window.study.replace_questions(frozenset())
    for step in ("risk", "purpose"):  # other columns are marked: who stands out is counted again
        window.go(step)
        settle(window)


def release(window: Any) -> None:
    """Press the button of the preview, which spends, and wait for the bundle."""
    window.study.target = window.data / "bundle"
    window.footer.next.click()
    settle(window)


# What to do on a screen before its picture, and after it before the next screen.
PREPARE: dict[str, Callable[[Any], None]] = {"columns": columns, "purpose": purpose}
AFTER: dict[str, Callable[[Any], None]] = {
    "columns": everything_decided,
    "purpose": sample_plan,
    "preview": release,
}
MORE: dict[str, dict[str, Callable[[Any], None]]] = {}


def domain(window: Any) -> None:
    """Open the editor of allowed values."""
    page = window.page("columns")
    page._show("all")
    page.select("medical_specialty")
    settle(window)
    page.values.edit()


def notice(window: Any) -> None:
    """Show an error of the engine."""
    from engine.errors import InputRefused

    window.page("load").refuse(InputRefused("table.excel_password", file="register.xlsx"))


def preparation(window: Any) -> None:
    """Open a form of the preparation."""
    window.clear_notice()
    page = window.page("load")
    page.preparation.add("bands")
    settle(window)
    page.verticalScrollBar().setValue(page.verticalScrollBar().maximum())


def empty(window: Any) -> None:
    """Show the load screen before there is a file."""
    window.go("load")


def further(window: Any) -> None:
    """Open the settings for experts."""
    page = window.page("budget")
    page.further.unfold()
    settle(window)
    page.verticalScrollBar().setValue(page.verticalScrollBar().maximum())


def chosen(window: Any) -> None:
    """Select a release."""
    window.page("releases").table.selectRow(0)


def choosing(window: Any) -> None:
    """Choose among the eight things, with a question answered."""
    page = window.page("method")
    page.another.click()
    settle(window)
    page.answers.answer("rows", "none")


def ways(window: Any) -> None:
    """Choose among the ways to one thing."""
    from engine.methods.kinds import Held

    window.page("method")._open_ways(Held.INVENTED)


def searching(window: Any) -> None:
    """Look for a way by a word."""
    window.page("method").search.setText("small cells")


def example(window: Any) -> None:
    """Look at what a recipient gets."""
    window.page("method")._ask_example("datasets.k_anonymity")


def asked(window: Any) -> None:
    """Ask an analysis with the values of its example."""
    page = window.page("explore")
    page.fill.click()
    window.footer.next.click()
    settle(window)


def answered(window: Any) -> None:
    """Show the answer of an analysis."""
    page = window.page("explore")
    page.verticalScrollBar().setValue(page.verticalScrollBar().maximum())


def trained(window: Any) -> None:
    """Play all parts up to the study, which the coordinator sends."""
    page = window.page("sites")
    page.training.setChecked(True)
    settle(window)
    for who in ("North", "South", "Town", "Centre"):
        page.who.setCurrentIndex(page.who.findData(who))
        page.who.activated.emit(page.who.currentIndex())
        settle(window)
        if who != "Centre":
            window.footer.next.click()
            settle(window)
    for line in page.standing.lines[:-1]:
        page._tick(line.key, line.name, True)
        settle(window)


def sent(window: Any) -> None:
    """Write the study, which then goes to all."""
    page = window.page("sites")
    page._tick(page.standing.lines[-1].key, page.standing.lines[-1].name, True)
    settle(window)
    window.footer.next.click()
    settle(window)


PREPARE["explore"] = asked
PREPARE["sites"] = trained
MORE = {
    "method": {"choosing": choosing, "ways": ways, "searching": searching, "example": example},
    "explore": {"answered": answered},
    "sites": {"sent": sent},
    "budget": {"further": further},
    "releases": {"chosen": chosen},
    "start": {"before-load": empty},
    "load": {"notice": notice, "preparation": preparation},
    "columns": {"domain": domain},
}


def without_noise(window: Any, method: str, picture: Callable[..., None]) -> None:
    """Show the steps of a way that spends nothing, from its method on."""
    from tests.app.walking import example_plan

    folder = window.data / method
    folder.mkdir()
    window.study.open_plan(example_plan(method, folder))
    steps = flow.path(window.study.state)
    for step in steps[: steps.index("method")]:
        window.go(step)
        settle(window)
    window.study.target = folder / "bundle"
    for step in steps[steps.index("method") :]:
        window.go(step)
        settle(window)
        if step == "release":
            picture(step, f"{method}-before")
            window.footer.next.click()
            settle(window)
        picture(step, method)


def take(folder: Path, scale: float, look: str, home: Path) -> list[str]:
    """Walk through all screens and write their pictures; to change the look costs as much as some screens."""
    from app.application import make_application
    from app.frame.window import Window
    from app.state.settings import Settings

    folder.mkdir(parents=True, exist_ok=True)
    make_application(["custos"], Settings(home), look=look)
    settings = Settings(home)
    settings.set(began=True)
    window = Window(settings=settings, data=home)
    window.study.ledger_path = home / "ledger.sqlite"
    window.resize(*(round(side / scale) for side in SIZE))
    window.show()
    settle(window)
    written: list[str] = []

    def picture(step: str, state: str = "") -> None:
        settle(window)
        name = name_of(step, look, scale, state)
        assert window.grab().save(str(folder / name))
        written.append(name)

    for step in there():
        if step == "load":
            window.open_file(str(SAMPLE / "diabetes_encounters.csv"))
            settle(window)
            window.page("load").options._accept("?", True)
        else:
            window.go(step)
        settle(window)
        if window.step != step:
            print(
                f"{step}: not reached, the window stays at {window.step}: {window.notice.words()}",
                file=sys.stderr,
            )
            raise SystemExit(1)
        PREPARE.get(step, lambda window: None)(window)
        picture(step)
        for state, prepare in MORE.get(step, {}).items():
            prepare(window)
            picture(step, state)
        AFTER.get(step, lambda window: None)(window)
        window.clear_notice()
        settle(window)
    for method in ("datasets.k_anonymity", "datasets.pseudonyms"):
        without_noise(window, method, picture)
    window.close()
    return written


if __name__ == "__main__":
    print(json.dumps(take(Path(sys.argv[1]), float(sys.argv[2]), sys.argv[3], Path(sys.argv[4]))))
