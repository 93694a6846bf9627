"""Answers of ``at-risk`` about drawn neighbours as sentences, from the texts of the chosen language."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from engine.texts import FALLBACK, number, text


def sampled_lines(answer: Mapping[str, Any], language: str = FALLBACK) -> list[str]:
    """Return the answer of ``at-risk`` about pairs, or that of the planner, as sentences.

    Examples
    --------
    >>> planned = {"planned": "pairs", "pairs": 14979, "tolerance": 0.01, "probability": 0.9, "sides": 2}
    >>> sampled_lines(planned)[0]  # doctest: +ELLIPSIS
    '14,979 pairs keep the sampled shares within 0.01 of the true ones, in either direction, ...0.9.'
    """

    def line(key: str, **values: Any) -> str:
        return text(f"commands.at_risk.{key}", language=language, **values)

    if "planned" in answer:
        name = "planned_one_sided" if answer["sides"] == 1 else "planned"
        return [line(name, **_numbers(answer, "tolerance", "probability"), pairs=f"{answer['pairs']:,}")]
    implicit = answer["implicit"]
    internal = answer["audience"] == "internal"
    name = "sampled_by" if answer["by"] else "sampled"
    lines = [
        line(
            name,
            query=answer["query"],
            by=", ".join(answer["by"]),
            pairs=f"{answer['pairs']:,}",
            records=f"{answer['records']:,}",
            population=line(f"population.{answer['population'].replace('-', '_')}"),
        )
    ]
    if answer.get("left_out"):
        lines.append(line("left_out", rows=f"{answer['left_out']:,}"))
    lines.append(line("quantile", **_numbers(implicit, "quantile", "sensitivity", "median", "largest")))
    if implicit["proved"] is not None:
        lines.append(line("proved", proved=_written(implicit["proved"]), norm=answer["norm"]))
    lines += _implicit(implicit, line)
    for name, found in answer.get("both", {}).items():
        lines.append(
            line(f"both_{name}", eta=_written(found["eta"]), **_confidences(found), **_asked(answer))
        )
    for name, found in answer.get("recalibrated", {}).items():
        lines.append(_recalibrated(name, found, answer, line))
    for name, found in answer.get("direct", {}).items():
        lines.append(_direct(name, found, answer, line))
    if "noise" in answer:
        name = "noise_none" if answer["noise"]["guarantee"] == "none" else "noise_known"
        lines.append(line(name, **_numbers(answer["noise"], "scale", "epsilon")))
    lines.append(line("stays_inside" if internal else "no_guarantee"))
    return lines


def _implicit(implicit: Mapping[str, Any], line: Callable[..., str]) -> list[str]:
    exact, order = implicit["exact"], implicit["order_statistic"]
    return [
        line("implicit_published", **_numbers(implicit["published"], "confidence", "alpha")),
        line("implicit_exact", **_numbers(exact, "confidence", "probability")),
        line("implicit_order", **_numbers(order, "confidence", "probability")),
    ]


def _recalibrated(
    name: str, found: Mapping[str, Any], answer: Mapping[str, Any], line: Callable[..., str]
) -> str:
    levels = {
        "published": found["published"]["epsilon0"],
        "exact": found["exact"]["epsilon0"],
        "two_sided": found["exact"]["epsilon0_two_sided"],
    }
    words = {key: line("no_level") if value is None else _written(value) for key, value in levels.items()}
    return line(f"recalibrated_{name}", **words, **_asked(answer))


def _direct(name: str, found: Mapping[str, Any], answer: Mapping[str, Any], line: Callable[..., str]) -> str:
    one, two = found["one_sided"], found["two_sided"]
    return line(
        f"direct_{name}",
        scale=_written(found["scale"]),
        draws=f"{found['draws']:,}",
        share=_written(one["share"]),
        at_least=_written(one["at_least"]),
        two_sided=_written(two["share"]),
        level=_written(one["level"]),
        **_asked(answer),
    )


def _confidences(found: Mapping[str, Any]) -> dict[str, str]:
    exact = found["exact"]
    return {
        "published": _written(found["published"]["confidence"]),
        "exact": _written(exact["confidence"]),
        "two_sided": _written(exact["confidence_two_sided"]),
        "probability": _written(exact["probability"]),
    }


def _asked(answer: Mapping[str, Any]) -> dict[str, str]:
    names = ("epsilon", "epsilon0", "confidence")
    return {f"asked_{name}": _written(answer[name]) for name in names if name in answer}


def _numbers(tree: Mapping[str, Any], *names: str) -> dict[str, str]:
    return {name: _written(tree[name]) for name in names}


def _written(value: float | None) -> str:
    return "∞" if value is None else number(value)
