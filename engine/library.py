"""What people who program with Custos call: tables in memory, paths as text, results that show themselves.

The same engine as that of the window and of the command line: every function here says in its own words what
it passes on.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import singledispatch
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from engine import texts
from engine.ledger import Ledger, default_path
from engine.methods.protocol import MAIN
from engine.progress import SILENT, Progress
from engine.release.bundle import Bundle
from engine.release.plan import FileReference, Plan
from engine.release.verify import Verification
from engine.release.working import TABLES, unrecorded
from engine.report.theme import LIGHT
from engine.report.words import cell, note, number_columns, shorten_table, word, write_with_unit
from engine.table.coding import texts_of
from engine.table.reading.frames import cell_as_text, store_frame, store_series
from engine.table.reading.names import clean_names
from engine.table.reading.options import OWN_TEXT, ReadOptions
from engine.table.reading.readers import SUFFIXES
from engine.table.schema import Schema
from engine.table.table import Table
from engine.views import NumberView, TableView, Text, TextView, View

Place = str | os.PathLike[str]
Rows = pd.DataFrame | Place
"""A table: in memory, or the path of its file."""


def read_table(
    source: Rows,
    *,
    options: ReadOptions | None = None,
    schema: Schema | None = None,
    progress: Progress = SILENT,
) -> Table:
    """Return a table, to look at what it discloses.

    Parameters
    ----------
    source
        A DataFrame, or the path of a file of any known format.
    options, schema, progress
        See `engine.table.reading.readers.read_table`. A DataFrame is taken as it is.

    Raises
    ------
    InputRefused
        ``table.*``: names the file, what was found, and what to do.

    Examples
    --------
    >>> read_table(pd.DataFrame({"age": [30, 41], "sex": ["f", "m"]}))
    Table(source='DataFrame', rows=2, columns=['age', 'sex'])
    """
    from engine.table.reading.readers import read_table as read_file

    if isinstance(source, pd.DataFrame):
        how = options or ReadOptions()
        written = [str(name) for name in source.columns]
        names, about_names = clean_names(written, len(written), "DataFrame")
        plain = source.reset_index(drop=True).set_axis(list(names), axis=1)
        frame, findings = store_frame(plain, options=how, file="DataFrame")
        return Table(frame, source="DataFrame", options=how, findings=[*about_names, *findings])
    return read_file(source, options=options, schema=schema, progress=progress)


def run(
    plan: Plan | Place,
    tables: pd.DataFrame | Mapping[str, Rows] | None = None,
    *,
    out: Place,
    ledger: Ledger | Place | None = None,
    base: Place | None = None,
    language: str = "en",
    progress: Progress = SILENT,
    passphrase: str | None = None,
    known: Sequence[Place] = (),
    earlier_key: bytes | None = None,
    wants_reasons: bool = False,
    signing_passphrase: str | None = None,
) -> Bundle:
    """Make the release that a plan decides, and everything that proves it.

    Parameters
    ----------
    plan
        A plan, or the path of its file.
    tables
        A DataFrame for the people, or tables by the names under which the method reads them; each a DataFrame
        or the path of a file. What is not named is read from where the plan says. A DataFrame is written as
        CSV into a folder beside ``out`` that only its owner can read, and removed after the run, or where it
        was killed by one a day later into the same place: a release is proved by the digest of a file. It is
        read as it was written; of texts that are dates or stand for nothing, the plan says the order of day
        and month and which they are. A file is read as the plan says of the one in whose place it is: a text
        file or a sheet of which the plan says nothing is refused (``reading.options_open``), since what is
        found out in a run lets one row decide how the others are read.
    out
        Folder that becomes the bundle; absent or empty.
    ledger
        Pays for it: open, or the path of its file; without one, the ledger of this computer's user.
    base
        Folder that the plan's paths are relative to; without one, the folder of the plan's file.
    language, progress, passphrase, known, earlier_key, wants_reasons, signing_passphrase
        See `engine.release.run.run`.

    Returns
    -------
    Bundle
        The folder, its ledger entry and the hashes of both sum files.

    Raises
    ------
    InputRefused
        Whatever is wrong with plan, tables, folder or budget; before anything is spent where possible.
    """
    from engine.release.run import run as make

    folder = Path(base) if base is not None else Path() if isinstance(plan, Plan) else Path(plan).parent
    read = plan if isinstance(plan, Plan) else Plan.read(Path(plan))
    named = {MAIN: tables} if isinstance(tables, pd.DataFrame) else dict(tables or {})
    with _as_files(read, named, Path(out), folder) as complete:
        return make(
            complete,
            out=Path(out),
            ledger=_open(ledger),
            base=folder,
            language=language,
            progress=progress,
            passphrase=passphrase,
            known=tuple(map(Path, known)),
            earlier_key=earlier_key,
            wants_reasons=wants_reasons,
            signing_passphrase=signing_passphrase,
        )


_WRITTEN = replace(OWN_TEXT, delimiter=",", quote='"', multiline=True)
"""How a table in memory is written, and so how it is read again: no cell has a say in it."""


@contextmanager
def _as_files(plan: Plan, tables: Mapping[str, Rows], out: Path, base: Path) -> Iterator[Plan]:
    """Give a plan that reads these tables, each from a file; those in memory are files for a while."""
    if not tables:
        yield plan
        return
    out.absolute().parent.mkdir(parents=True, exist_ok=True)
    with unrecorded(TABLES, beside=out.absolute().parent) as folder:
        references = {}
        for name, table in tables.items():
            said = plan.files[name].options if name in plan.files else {}
            if isinstance(table, pd.DataFrame):
                options = ReadOptions.from_json(said, file=name)
                references[name] = _write_frame(table, folder / f"{name}.csv", declared=options)
            else:
                references[name] = _at(Path(table).absolute(), said, plan.files.get(name))
        yield replace(plan, files={**plan.files, **references})


def _write_frame(frame: pd.DataFrame, path: Path, *, declared: ReadOptions) -> FileReference:
    """Write a table in memory, and say of the file all that a reader would find out from its rows."""
    path.touch(mode=0o600)
    # halves of signs are written in letters: no cell decides whether there is a release
    _plain(frame).to_csv(path, index=False, lineterminator="\n", errors="backslashreplace")
    own = replace(
        _WRITTEN,
        date_order=declared.date_order or "ymd",
        missing=declared.missing,
        width=len(frame.columns),
    )
    return FileReference(str(path), own.to_json())


def _plain(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table with one line of names, every cell in a form that no other cell decides.

    Notes
    -----
    pandas writes a column of moments as days where all are midnight, and lengths of time likewise.
    """
    columns = [_cells_of(frame.iloc[:, place]) for place in range(frame.shape[1])]
    plain = pd.concat(columns, axis=1) if columns else frame
    return plain.set_axis([str(name) for name in frame.columns], axis=1)


def _cells_of(column: pd.Series) -> pd.Series:
    """Return a column as `read_table` shows it: moments in UTC, and what is true or false in one spelling."""
    kind = column.dtype
    if pd.api.types.is_datetime64_any_dtype(kind):
        moments = store_series(column, "", options=_WRITTEN).values
        cells = pd.Series(texts_of(moments), dtype="str")
    elif pd.api.types.is_timedelta64_dtype(kind):
        cells = pd.Series([str(one) for one in column], dtype="str")
    elif pd.api.types.is_bool_dtype(kind):
        cells = store_series(column, "", options=_WRITTEN).values
    elif pd.api.types.is_object_dtype(kind):
        written = (bool, np.bool_, bytes)
        each = [cell_as_text(one) if isinstance(one, written) else one for one in column]
        return pd.Series(each, index=column.index, dtype=object)
    else:
        return column
    return cells.set_axis(column.index).mask(column.isna())


def _at(path: Path, said: Mapping[str, Any], named: FileReference | None) -> FileReference:
    """Name a file that is read as the plan says of the one in whose place it is, where both are of a kind.

    What the plan does not say is not found out here: one row could decide how the others are read.
    """
    kinds = {SUFFIXES.get(Path(one).suffix.lower()) for one in (path, named.path if named else "")}
    return FileReference(str(path), said if len(kinds) == 1 else {})


def verify(
    folder: Place,
    *,
    ledger: Ledger | Place | None = None,
    fingerprints: Mapping[str, str] | None = None,
    revocations: Sequence[str] = (),
) -> Verification:
    """Check that a bundle is what was released; see `engine.release.verify.verify`.

    Parameters
    ----------
    folder
        The bundle, or the ``release`` folder alone as a recipient has it.
    ledger
        Open, or the path of its file, which is not changed; without one the chain is not checked, and the
        result says so.
    fingerprints, revocations
        Of signing keys that are known from elsewhere, with the names under which they are; codes of those
        that were revoked.
    """
    from engine.release.verify import verify as check

    if ledger is not None and not isinstance(ledger, Ledger):
        ledger = Ledger(Path(ledger), read_only=True)
    return check(Path(folder), ledger=ledger, fingerprints=fingerprints, revocations=tuple(revocations))


def list_methods(*, language: str = "en") -> pd.DataFrame:
    """Return the ways of releasing: id, family, kinds of promises and title of each.

    Examples
    --------
    >>> list_methods().loc["statistics.counts", "family"]
    'statistics'
    """
    from engine.methods.catalogue import methods as every_method

    lines = [
        {
            "id": one.id,
            "family": one.family.value,
            "promises": ", ".join(one.promises),
            "title": texts.text(f"methods.{one.id}.title", language=language),
        }
        for one in every_method()
    ]
    return pd.DataFrame(lines).set_index("id")


def _open(ledger: Ledger | Place | None) -> Ledger:
    if isinstance(ledger, Ledger):
        return ledger
    return Ledger(default_path() if ledger is None else Path(ledger))


# How a notebook shows results. Of a table never a cell, of a bundle never what stays inside: notebooks are
# handed on.


def html(shown: Any, *, language: str = "en") -> str:
    """Return a result as a piece of HTML: what a notebook shows where it is the last thing in a cell.

    Parameters
    ----------
    shown
        A view, a table, a plan, a bundle or a verification.

    Examples
    --------
    >>> html(Table(pd.DataFrame({"age": [30, 41]}), source="people.csv"))  # doctest: +ELLIPSIS
    '<h4>people.csv: rows 2, columns 1</h4><table>...'
    """
    views = [shown] if hasattr(shown, "kind") else _views(shown)
    return "".join(_of_view(view, language) for view in views)


@singledispatch
def _views(shown: Any) -> Sequence[View]:
    raise TypeError(f"{type(shown).__name__} has no form for notebooks")


@_views.register
def _(shown: Table) -> Sequence[View]:
    title = Text("library.table", {"file": shown.source, "rows": shown.n_rows, "columns": len(shown.names)})
    rows = tuple((name, Text(f"library.storage.{shown.storage[name]}")) for name in shown.names)
    return [TableView(title, (Text("library.column"), Text("library.stored")), rows)]


@_views.register
def _(shown: Plan) -> Sequence[View]:
    budget = shown.budget
    rows = [
        ("method", Text(f"methods.{shown.method}.title") if shown.method else None),
        ("epsilon", None if budget is None else float(budget.epsilon)),
        ("delta", None if budget is None else float(budget.delta)),
        ("holding", shown.holding or None),
        ("recipient", shown.purpose.recipient or None),
        ("fingerprint", shown.fingerprint),
    ]
    named = tuple((Text(f"library.plan.{name}"), value) for name, value in rows)
    return [TableView(Text("library.plan.title", {"title": shown.purpose.title}), ("", ""), named)]


@_views.register
def _(shown: Bundle) -> Sequence[View]:
    rows = ((Text("library.bundle.entry"), shown.entry), (Text("library.bundle.sums"), shown.release_sums))
    return [
        TableView(Text("library.bundle.title", {"folder": shown.folder.name}), ("", ""), rows),
        *shown.views,
    ]


@_views.register
def _(shown: Verification) -> Sequence[View]:
    title = f"library.verified.{'passed' if shown.passed else 'failed'}"
    rows = [
        (
            check.id,
            Text(f"library.verified.{'no' if check.problems else 'yes'}"),
            " ".join(texts.explain(problem)[0] for problem in check.problems),
        )
        for check in shown.checks
    ]
    heads = tuple(Text(f"library.verified.{name}") for name in ("check", "fits", "what"))
    return [TableView(Text(title, {"folder": shown.folder}), heads, tuple(rows))]


def _of_view(view: View, language: str) -> str:
    title = f"<h4>{escape(word(view.title, language))}</h4>"
    notes = "".join(f"<p>{escape(word(one, language))}</p>" for one in note(view))
    if isinstance(view, TextView):
        body = "".join(f"<p>{escape(word(one, language))}</p>" for one in view.paragraphs)
    elif isinstance(view, NumberView):
        body = f"<p><b>{escape(write_with_unit(view.value, view.unit, language))}</b></p>"
    elif isinstance(view, TableView):
        body, left_out = _grid(view, language)
        notes += left_out
    else:
        from engine.report import drawing

        axis = drawing.limits(view)
        body = "".join(
            drawing.draw(part, language=language, axis_limits=axis).svg() for part in drawing.split(view)
        )
        body = f'<div style="background:{LIGHT.surface}">{body}</div>'  # letters stay readable in the dark
    return title + body + notes


def _grid(view: TableView, language: str) -> tuple[str, str]:
    shown, cut = shorten_table(view)
    sides = ["right" if numeric else "left" for numeric in number_columns(shown)]

    def line(tag: str, cells: Sequence[str]) -> str:
        pairs = zip(sides, cells, strict=True)
        return "".join(f'<{tag} style="text-align:{side}">{escape(one)}</{tag}>' for side, one in pairs)

    head = line("th", [word(one, language) for one in shown.headings])
    rows = "".join(f"<tr>{line('td', [cell(one, language) for one in row])}</tr>" for row in shown.rows)
    return (
        f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>",
        "".join(f"<p>{escape(word(one, language))}</p>" for one in cut),
    )
