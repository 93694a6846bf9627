"""What is asked before a release is made, where it takes much or names people."""

from __future__ import annotations

from app import words
from app.state import flow
from app.state.study import Study
from app.words.money import level, money
from app.work.registers import MUCH, money_left, takes


def guard_words(study: Study, named: tuple[str, ...] = ()) -> tuple[str, str] | None:
    """Return title and sentence of the question; None where one press is enough.

    ``named`` are columns that name people and leave all the same.
    """
    if named:
        said = words.say("app.window.commit.named_more", columns=", ".join(named))
        return words.say("app.window.commit.named"), said
    preview = study.result("ledger")
    found = takes(study.plan, preview)
    if not flow.spends(study.method) or found.part <= MUCH or found.spends is None:
        return None
    title = words.say("app.window.commit.much", epsilon=level(found.spends, up=True))
    if found.share == "all":
        return title, words.say("app.window.commit.all_more")
    left = money_left(study.plan, found)
    values = {"share": f"{round(100 * found.part)}\u00a0%", "left": level(found.after or 0, down=True)}
    if left is None:
        return title, words.say("app.window.commit.much_more", **values)
    values["money"] = money(left, study.plan.price.currency)
    return title, words.say("app.window.commit.much_money", **values)
