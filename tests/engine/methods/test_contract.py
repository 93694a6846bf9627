"""What every method of the catalogue keeps to, whatever it does: found, not listed."""

from __future__ import annotations

import ast
import inspect
import json
import sys
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from engine import texts
from engine.errors import InputRefused
from engine.evaluation.catalogue import choose_measures, measures
from engine.evaluation.protocol import Audience
from engine.evidence import words_of as protected_words_of
from engine.ledger import Ledger
from engine.methods.catalogue import methods
from engine.methods.parameters import Parameter, ParameterKind
from engine.methods.protocol import Method, Rows, Spends
from engine.methods.values import to_json
from engine.privacy.event_json import event_from_json, event_to_json, mechanism_kinds
from engine.privacy.promise import promise_kind, promise_kinds
from engine.release.check import check
from engine.release.examples import plans
from engine.release.verify import verify
from engine.report import external_document, internal_document, pdf
from engine.report.embedded import embedded_evidence
from tests.engine.methods.examples_run import evidence, ran, run_on_named_columns

EVERY = pytest.mark.parametrize("method", methods(), ids=lambda one: one.id)
PICKLES = tuple(bytes((0x80, version)) for version in range(2, 6))

# --- words ----------------------------------------------------------------------------------------


def words_of(base: str, parameter: Parameter) -> list[str]:
    found = [f"{base}.{name}" for name in ("label", "help")]
    found += [f"{base}.choices.{choice}" for choice in parameter.choices]
    return found + [
        f"{base}.fields.{part.name}.{word}" for part in parameter.fields for word in ("label", "help")
    ]


@EVERY
def test_texts_are_complete(method: Method) -> None:
    base = f"methods.{method.id}"
    wanted = [f"{base}.{name}" for name in ("title", "summary", "recipient_can", "recipient_cannot")]
    for parameter in method.parameters:
        wanted += words_of(f"{base}.parameters.{parameter.name}", parameter)
    for step in method.steps:
        wanted.append(f"{base}.steps.{step.name}.title")
        for parameter in step.parameters:
            wanted += words_of(f"{base}.steps.{step.name}.parameters.{parameter.name}", parameter)
    assert [name for name in wanted if not texts.has(name)] == []


@EVERY
def test_the_declaration_is_whole(method: Method) -> None:
    assert method.promises and all(promise_kind(kind).id == kind for kind in method.promises)
    assert method.published.document and method.version >= 1
    names = [source.name for source in method.sources]
    assert len(set(names)) == len(names)
    for step in ("", *(step.name for step in method.steps)):
        known = {source.name for source in (*method.sources, *method.reads(step))}
        for parameter in method.asks(step):
            assert parameter.source in known or parameter.kind not in (
                ParameterKind.COLUMN,
                ParameterKind.COLUMNS,
            )
    assert bool(method.changes) == (method.rows in (Rows.COARSER, Rows.REAL))
    bounded = [promise_kind(kind).bounded for kind in method.promises]
    assert method.spends is not Spends.CHOSEN or all(bounded)


@pytest.mark.parametrize("kind", promise_kinds(), ids=lambda one: one.id)
def test_every_kind_of_promise_has_its_words(kind: Any) -> None:
    names = ["name", "sentence", "recipient", "can", "cannot", "accounting"]
    names += [] if kind.bounded else ["statement"]
    names += [
        f"terms.{term}.{part}" for term in (*kind.terms, *kind.conditions) for part in ("label", "what")
    ]
    assert [name for name in names if not texts.has(f"promises.{kind.id}.{name}")] == []
    if not kind.bounded:
        for name in ("sentence", "statement", "recipient"):
            said = texts.catalogue()[f"promises.{kind.id}.{name}"].casefold()
            assert not {"noise", "ε", "sampler", "declared bound"} & {
                w for w in ("noise", "ε", "sampler", "declared bound") if w in said
            }


@pytest.mark.parametrize("word", sorted(mechanism_kinds()))
def test_every_event_has_its_word(word: str) -> None:
    assert texts.has(f"report.mechanisms.{word}")


# --- examples -------------------------------------------------------------------------------------


@pytest.mark.at_once
@pytest.mark.guarantee
@EVERY
def test_examples_are_verified_bundles(method: Method) -> None:
    assert ran(method)
    for plan, folder in ran(method):
        ledger = Ledger(folder.parent / "ledger.sqlite", read_only=True)
        assert verify(folder, ledger=ledger).problems == (), plan.purpose.title
        entry = ledger.entry(evidence(folder)["ledger"]["entry"])
        assert entry.state == "complete" and entry.plan == plan.fingerprint


@EVERY
def test_the_check_refuses_nothing_that_runs_and_prices_what_is_paid(method: Method) -> None:
    for plan in plans(method):
        if plan.step:
            continue
        design = check(plan)
        assert design.cost.kind in method.promises
        loss = design.cost.loss
        assert (loss is None) is not promise_kind(design.cost.kind).bounded
        if loss is not None:
            assert event_from_json(event_to_json(loss.events)) == loss.events
        if method.spends is Spends.CHOSEN:
            assert loss is not None and plan.budget is not None and loss.epsilon <= plan.budget.epsilon


@EVERY
def test_the_evidence_is_true(method: Method) -> None:
    for plan, folder in ran(method):
        tree = evidence(folder)
        request = check(plan, base=folder.parent).request
        decided = tree["decided"]
        # every value that was used stands there, defaults too, but for what hangs on one that was not set
        asked = method.asks(request.step)
        stay = {parameter.name for parameter in asked if parameter.inside}
        stay |= {one.name for one in asked if one.beside and request.values[one.beside] is None}
        used = {name: value for name, value in request.values.items() if value is not None}
        used = {name: value for name, value in used.items() if name not in stay}
        assert decided["parameters"] == json.loads(json.dumps(to_json(used)))
        # the columns that have a part, by the method's own word
        for source, columns in method(request).uses.items():
            named = {c["name"] for c in decided["columns"] if c.get("source", "people") == source}
            assert set(columns) <= named
        assert all("domain" not in c or c["domain_origin"] != "copied" for c in decided["columns"])
        loss = tree["promise"]["epsilon"] is not None
        assert bool(tree["noise"]) <= loss
        assert ("budget" in decided) <= (loss and method.spends is Spends.CHOSEN)
        assert ("bounds" in decided) <= loss
        assert set(method.libraries) <= set(tree["program"]["libraries"])
        assert "absent" not in {tree["program"]["libraries"][name] for name in method.libraries}


@EVERY
def test_the_ledger_says_what_no_promise_bounds(method: Method) -> None:
    for plan, folder in ran(method):
        ledger = Ledger(folder.parent / "ledger.sqlite", read_only=True)
        entry = ledger.entry(evidence(folder)["ledger"]["entry"])
        if evidence(folder)["promise"]["epsilon"] is None:
            assert entry.loss == "unbounded" and entry.epsilon is None, plan.purpose.title


@EVERY
def test_both_reports_were_made(method: Method) -> None:
    failed = texts.catalogue()["report.words.failed"].split("{")[0]
    for _, folder in ran(method):
        for place, name in (("release", "report-external"), ("internal", "report-internal")):
            assert failed not in (folder / place / f"{name}.html").read_text(encoding="utf-8")


@pytest.mark.with_reports
@EVERY
def test_both_reports_are_typeset(method: Method) -> None:
    for _, folder in ran(method):
        for place, document in (("release", external_document), ("internal", internal_document)):
            written = (folder / place / "evidence.json").read_bytes()
            with texts.speaking(protected_words_of(json.loads(written)["decided"])):
                report = pdf.render(document(written), evidence=written)
            assert embedded_evidence(report) == written


@EVERY
def test_nothing_leaves_that_nobody_looked_at(method: Method) -> None:
    for _, folder in ran(method):
        tree = evidence(folder)
        files = {line["file"] for line in tree["artefacts"]}
        assert len(files) == len(tree["artefacts"])
        assert files | {line["file"] for line in tree["dictionary"]} <= {
            path.name for path in (folder / "release").iterdir()
        }
        for line in tree["artefacts"]:
            content = (folder / "release" / line["file"]).read_bytes()
            assert not content.startswith(PICKLES)
            if line["media_type"] == "text/csv":
                heading = content.splitlines()[0].decode().split(",")
                assert "" not in heading and "Unnamed: 0" not in heading
            if line["media_type"] == "application/json":
                assert "seed" not in content.decode().casefold()


# --- columns and libraries that have a part -------------------------------------------------------


@EVERY
def test_a_method_that_forgets_a_column_it_reads_is_found(method: Method, tmp_path: Path) -> None:
    """The examples run on named columns alone: without a column's name the run fails."""
    if not any(method.reads(plan.step) for plan in plans(method)):
        pytest.skip("reads no table")
    with patch.object(method, "uses", {}), pytest.raises(KeyError):
        run_on_named_columns(method, tmp_path)


@cache
def distributions() -> dict[str, list[str]]:
    """Return which distributions hold a top-level name: a second to find out, so once."""
    return dict(packages_distributions())


def outside_libraries(source: str) -> set[str]:
    """Return the distributions that a module imports, at its head or later."""
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.split(".")[0])
    known = distributions()
    outside = names - set(sys.stdlib_module_names) - {"engine"}
    return {known[name][0] if name in known else name for name in outside}


@EVERY
def test_every_library_that_computes_is_in_the_evidence(method: Method) -> None:
    family = method.__module__.rsplit(".", 1)[0]
    imported = ast.parse(inspect.getsource(sys.modules[method.__module__]))
    near = {n.module for n in ast.walk(imported) if isinstance(n, ast.ImportFrom) and n.module}
    near = {name for name in near if name.startswith(family) and name in sys.modules}
    found = set()
    for name in {method.__module__, *near}:
        found |= outside_libraries(inspect.getsource(sys.modules[name]))
    for _, folder in ran(method):
        assert found <= set(evidence(folder)["program"]["libraries"])


def test_a_library_that_nobody_named_is_found() -> None:
    late = "import json\nfrom engine import texts\ndef fit():\n    import pytest.x, numpy.linalg"
    assert outside_libraries(late) == {"pytest", "numpy"}


# --- measures -------------------------------------------------------------------------------------


@EVERY
def test_measures_answer_or_say_that_they_do_not_apply(method: Method) -> None:
    for plan, folder in ran(method):
        subject = check(plan, base=folder.parent)
        answered = choose_measures((), subject)
        for one in measures():
            assert (one in answered) == (one.applies(subject) and not one.on_demand)
            if one.applies(subject):
                beside = answered if one.on_demand else ()
                assert set(choose_measures((one.id,), subject)) == {one, *beside}
            else:
                with pytest.raises(InputRefused, match=r"evaluation\.does_not_apply"):
                    choose_measures((one.id,), subject)
        public = {one.id for one in answered if one.audience is Audience.PUBLIC}
        inner = {one.id for one in answered} - public
        tree = evidence(folder)
        assert set(tree["measures"]) == public
        inside = json.loads((folder / "internal" / "evidence.json").read_text())["internal"]["measures"]
        assert set(inside) <= inner and all("failed" not in figures for figures in inside.values())
        outside = "".join(
            path.read_text() for path in (folder / "release").iterdir() if path.suffix in (".json", ".html")
        )
        for one in inner:
            assert f"measures.{one}." not in outside
            assert texts.text(f"measures.{one}.title") not in outside


def test_every_measure_has_an_example_that_it_is_about() -> None:
    subjects = [check(plan) for method in methods() for plan in plans(method) if not plan.step]
    silent = [one.id for one in measures() if not any(one.applies(subject) for subject in subjects)]
    assert silent == []
