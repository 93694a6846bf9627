"""A workbook that leaves: without the names, versions and times of whoever wrote it, the same every time."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING
from zipfile import ZIP_DEFLATED, BadZipFile, ZipFile, ZipInfo

if TYPE_CHECKING:
    from openpyxl import Workbook
    from openpyxl.cell import Cell

MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
_NO_DAY = (1980, 1, 1, 0, 0, 0)  # the first that the format of the file can say
_ABOUT = {
    "docProps/core.xml": b'<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/'
    b'metadata/core-properties"/>',
    "docProps/app.xml": b'<Properties xmlns="http://schemas.openxmlformats.org/officeDocument/2006/'
    b'extended-properties"/>',
}
_PARTS = frozenset(
    (
        *("[Content_Types].xml", "_rels/.rels", "xl/workbook.xml", "xl/_rels/workbook.xml.rels"),
        *("xl/styles.xml", "xl/theme/theme1.xml", "xl/sharedStrings.xml"),
        *("xl/worksheets/sheet1.xml", "xl/worksheets/sheet2.xml", *_ABOUT),
    )
)


def write_workbook(book: Workbook) -> bytes:
    """Return a workbook of at most two sheets as the bytes of its file."""
    buffer, made = BytesIO(), BytesIO()
    book.save(buffer)
    with ZipFile(buffer) as found, ZipFile(made, "w") as kept:
        for name in sorted(found.namelist()):
            one = ZipInfo(name, _NO_DAY)
            one.compress_type, one.create_system = ZIP_DEFLATED, 0
            kept.writestr(one, _ABOUT.get(name, found.read(name)))
    return made.getvalue()


def write_text(cell: Cell, text: str) -> None:
    """Write text that is no formula, whatever it begins with, without signs that no workbook can hold."""
    from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

    cell.value = ILLEGAL_CHARACTERS_RE.sub("", text)
    cell.data_type = "s"


def is_plain(content: bytes) -> bool:
    """Return whether a workbook says nothing of who wrote it and when, and has no part that runs or calls."""
    try:
        with ZipFile(BytesIO(content)) as book:
            parts = book.infolist()
            said = all(book.read(name) == own for name, own in _ABOUT.items())
    except (BadZipFile, KeyError):
        return False
    names, days = {one.filename for one in parts}, {one.date_time for one in parts}
    return said and names <= _PARTS and len(parts) == len(names) and days == {_NO_DAY}
