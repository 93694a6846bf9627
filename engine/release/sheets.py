"""What is printed about a signing key, and what recipients check with: none of it comes with a bundle."""

from __future__ import annotations

import json
from datetime import datetime
from importlib.resources import files
from pathlib import Path
from typing import Any

from engine.errors import InputRefused
from engine.release.bundle import PRIVATE, refuse_inside
from engine.release.program import PROGRAM
from engine.release.readme import verify_page
from engine.release.signature import in_groups
from engine.release.signing import SigningKey
from engine.report import pdf
from engine.report.document import Bullets, Callout, Document, KeyValues, Row, Section
from engine.views import Text

SHEET, REVOCATION, CHECK, PAGE = (
    "signing-key.pdf",
    "revocation.pdf",
    "check_signature.py",
    "verify.html",
)


def write_sheets(key: SigningKey, register: str, folder: Path, *, language: str = "en") -> tuple[Path, ...]:
    """Write the sheet with the fingerprint, the revocation, and a page and a program to check with.

    Returns
    -------
    tuple of Path
        The files. The revocation is for the custodian alone, who locks it away.

    Raises
    ------
    InputRefused
        ``bundle.inside``, ``bundle.not_writable``.
    """
    refuse_inside(folder / REVOCATION)
    contents = {
        SHEET: sheet(key, register, language=language),
        REVOCATION: revocation_sheet(key, register, language=language),
        CHECK: files("resources").joinpath("readers", f"{CHECK}.txt").read_bytes(),
        PAGE: verify_page(language=language),
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in contents.items():
            place = folder / name
            if name == REVOCATION:
                place.touch(mode=PRIVATE)
                place.chmod(PRIVATE)
            place.write_bytes(content)
    except OSError as error:
        raise InputRefused("bundle.not_writable", folder=folder.name, reason=error.strerror or "") from error
    return tuple(folder / name for name in contents)


def sheet(key: SigningKey, register: str, *, language: str = "en") -> bytes:
    """Return the page with the fingerprint, as PDF: for the agreement with a recipient, or a website."""
    told = {"register": register, "key": key.public, "fingerprint": key.fingerprint, "since": key.since}
    ways = tuple(Text(f"signing.sheet.{name}") for name in ("custos", "browser", "python"))
    rows = (
        Row(Text("signing.sheet.register"), register),
        Row(Text("signing.sheet.key"), key.public, code=True),
        Row(Text("signing.sheet.since"), key.since[:10]),
    )
    cover = (
        Callout(Text("signing.sheet.fingerprint", {"fingerprint": in_groups(key.fingerprint)}), large=True),
        Text("signing.sheet.use"),
        KeyValues("", rows),
        Callout(Text("signing.sheet.limits")),
    )
    sections = (Section(Text("signing.sheet.how"), (Bullets(ways),)),)
    return _page("sheet", register, cover, sections, told, stays=False, language=language)


def revocation_sheet(key: SigningKey, register: str, *, language: str = "en") -> bytes:
    """Return the page with the code that revokes the key, as PDF: it stays."""
    told = {"register": register, "key": key.public, "revocation": key.revocation()}
    rows = (
        Row(Text("signing.revocation.code"), told["revocation"], code=True),
        Row(Text("signing.sheet.key"), key.public, code=True),
    )
    cover = (
        Callout(Text("signing.revocation.use"), care=True),
        KeyValues("", rows),
        Text("signing.revocation.how"),
    )
    return _page("revocation", register, cover, (), told, stays=True, language=language)


def _page(
    name: str,
    register: str,
    cover: tuple[Any, ...],
    sections: tuple[Section, ...],
    told: dict[str, str],
    *,
    stays: bool,
    language: str,
) -> bytes:
    document = Document(
        title=Text(f"signing.{name}.title", {"register": register}),
        subtitle=Text(f"signing.{name}.subtitle", {"program": PROGRAM}),
        audience=Text(f"signing.{name}.audience"),
        stays=stays,
        bundle_id="",
        made_at=datetime.now().astimezone().isoformat(timespec="seconds"),
        cover=cover,
        sections=sections,
        footer=Text("signing.footer", {"register": register}),
    )
    return pdf.render(document, evidence=(json.dumps(told, indent=2) + "\n").encode(), language=language)
