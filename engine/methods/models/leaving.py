"""What leaves with a model: its file and its card."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib.resources import files
from typing import Any

import numpy as np
import pandas as pd

from engine.methods.models.held_out_told import score_view
from engine.methods.models.limits import limit_card, limit_view
from engine.methods.models.points_sheet import as_sheet
from engine.methods.models.standard import as_operators
from engine.methods.protocol import Artefact, DocumentArtefact, FileArtefact, ModelArtefact, Release, Request
from engine.methods.shared import onnx_file, workbook_file
from engine.methods.shared.promise import cap_notes
from engine.privacy.promise import Promise, Unit
from engine.texts import plainly
from engine.views import NumberView, TableView, Text, View

READERS = files("resources") / "readers"
"""Programs that predict with any of these models, in Python and in R; they leave with each."""


def make_artefacts(
    model: Mapping[str, Any],
    request: Request,
    *,
    words: str,
    predict: Callable[[Mapping[str, Any], pd.DataFrame], np.ndarray],
    promise: Promise,
    card: Sequence[Text],
    views: tuple[View, ...],
) -> Release:
    """Make the artefacts from a finished model: nothing here has seen a row.

    Parameters
    ----------
    model
        JSON values: everything that predicts.
    words
        Where the texts of the method begin.
    predict
        From the model and rows to predictions.
    card
        What the card says before its tables.
    views
        For the reports; tables and numbers go to the card too.
    """
    target = str(model["target"]["name"])
    views = (*views, *limit_view(model), *score_view(model))
    title = Text(f"{words}.card.title", {"target": target})
    unscored = () if "held_out" in model else (Text("models.not_scored"),)
    shown = [view for view in views if isinstance(view, TableView | NumberView)]
    meaning = Text(f"{words}.artefacts.model", {"target": target})
    sheet = _sheet(model)
    artefacts: tuple[Artefact, ...] = (
        ModelArtefact("model", model, partial(predict, model), target, meaning),
        DocumentArtefact(
            "model-card",
            (title, *card, *unscored, *limit_card(model), *_loading(sheet), *shown),
            Text(f"{words}.artefacts.card"),
        ),
        *_readers(),
        _standard(model),
        *sheet,
    )
    return Release(artefacts, promise, views, (*cap_notes(request), *unscored))


def describe_model(
    model: Mapping[str, Any],
    request: Request,
    *,
    words: str,
    promise: Promise,
    card: Sequence[Text],
    views: tuple[View, ...],
) -> Release:
    """Make the artefacts from a finished model that predicts no column; see `make_artefacts`."""
    content = json.dumps(model, indent=2, ensure_ascii=False, allow_nan=False).encode()
    shown = [view for view in views if isinstance(view, TableView | NumberView)]
    title = Text(f"{words}.card.title")
    artefacts: tuple[Artefact, ...] = (
        FileArtefact("model.json", "application/json", content, Text(f"{words}.artefacts.model")),
        DocumentArtefact(
            "model-card", (title, *card, *_loading(()), *shown), Text(f"{words}.artefacts.card")
        ),
        *_readers(),
        _standard(model),
    )
    return Release(artefacts, promise, views, tuple(cap_notes(request)))


def _loading(sheet: tuple[FileArtefact, ...]) -> tuple[Text, ...]:
    """Return how the files are used, as a card says it."""
    names = ("load", "load_onnx", *(("load_sheet",) if sheet else ()))
    return tuple(Text(f"models.{name}") for name in names)


def _readers() -> Iterator[FileArtefact]:
    """Yield the programs that predict."""
    kinds = {"predict.py": ("text/x-python", "models.reader"), "predict.R": ("text/x-r", "models.reader_r")}
    for name, (media_type, meaning) in kinds.items():
        yield FileArtefact(name, media_type, (READERS / f"{name}.txt").read_bytes(), Text(meaning))


def _sheet(model: Mapping[str, Any]) -> tuple[FileArtefact, ...]:
    content = as_sheet(model)
    if content is None:
        return ()
    return (FileArtefact("model.xlsx", workbook_file.MEDIA_TYPE, content, Text("models.spreadsheet")),)


def _standard(model: Mapping[str, Any]) -> FileArtefact:
    return FileArtefact("model.onnx", onnx_file.MEDIA_TYPE, as_operators(model), Text("models.onnx"))


def privacy_text(request: Request, words: str) -> Text:
    """Return what a card says of the privacy level."""
    budget = request.budget
    assert budget is not None
    values = {
        "epsilon": plainly(float(budget.epsilon), up=True),
        "delta": plainly(float(budget.delta), up=True),
    }
    if request.unit is Unit.ROW:
        return Text(f"{words}.card.privacy_row", values)
    return Text(f"{words}.card.privacy", {**values, "rows": request.rows_per_person})


def number_views(told: Mapping[str, float], words: str) -> tuple[NumberView, ...]:
    """Return numbers with their texts, as a report shows them."""
    return tuple(
        NumberView(Text(f"{words}.numbers.{name}.label"), value, Text(f"{words}.numbers.{name}"))
        for name, value in told.items()
    )
