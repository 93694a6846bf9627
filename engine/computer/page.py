"""What the checks found, as one page for those who look after the computer."""

from __future__ import annotations

import json

from engine.computer.checks import Report
from engine.report import pdf
from engine.report.document import Callout, Document, KeyValues, Row
from engine.views import TableView, Text


def page(report: Report, *, language: str = "en") -> bytes:
    """Return the page as PDF, with everything as JSON inside."""
    rows = tuple(
        (
            Text(f"computer.names.{one.id}"),
            Text(f"computer.states.{one.state}"),
            Text(one.text_id, dict(one.values)),
        )
        for one in report.checks
    )
    headings = tuple(Text(f"computer.heads.{name}") for name in ("check", "result", "found"))
    about = (
        Row(Text("computer.page.version"), f"{report.program['name']} {report.program['version']}"),
        Row(Text("computer.page.digest"), str(report.program["words"]), code=True),
        Row(Text("computer.page.system"), report.system),
    )
    cover = (
        Callout(
            Text(f"computer.{'passed' if report.passed else 'failed'}"), care=not report.passed, large=True
        ),
        KeyValues("", about),
        TableView("", headings, rows),
    )
    document = Document(
        title=Text("computer.page.title"),
        subtitle=Text("computer.page.subtitle"),
        audience=Text("computer.page.audience"),
        stays=False,
        bundle_id="",
        made_at=report.made_at,
        cover=cover,
        sections=(),
        footer=Text("computer.page.footer", {"made_at": report.made_at}),
    )
    told = (json.dumps(report.to_json(), indent=2) + "\n").encode()
    return pdf.render(document, evidence=told, language=language)
