"""Released bundles of several sites put together: by hand from their files, refused, and often right."""

from __future__ import annotations

import csv
import json
import math
import shutil
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine import texts
from engine.__main__ import main
from engine.analyses.catalogue import analysis, ask
from engine.analyses.meta_analysis import prediction, random_effects
from engine.analyses.pooled_bundles import shared_figures
from engine.analyses.saving import save_answer
from engine.errors import EngineError, InputRefused
from engine.evaluation.released_estimates import MOST_SHARES, WORDS, ReleasedBundle, read_figures
from engine.ledger import Ledger
from engine.methods.catalogue import method as find_method
from engine.methods.protocol import MAIN, Budget
from engine.methods.shared.cells import Extra, with_extra
from engine.methods.values import to_json
from engine.privacy.event_json import event_to_json
from engine.release import released_bundle
from engine.release.bundle import write_sums
from engine.release.charge import NEW_HOLDING
from engine.release.released_bundle import bundles_in, read_bundle, read_bundles
from engine.release.verify import verify
from engine.table.schema import Domain, Schema
from tests.noise_source import seeded_noise
from tests.site_releases import (
    COUNTS,
    LIFE,
    LINEAR,
    MEANS,
    NAMES,
    QUANTILES,
    columns,
    invent,
    release,
    release_each,
)

META = analysis("meta_analysis")
T5 = 2.570582  # Student's t with five degrees, 97.5 %
T4 = 2.776445


def pooled(bundles: Any, **values: Any) -> Any:
    """Return the answer about bundles."""
    return ask(META, {"source": "bundles", **values}, bundles=tuple(bundles))


def refused(bundles: Any, **values: Any) -> InputRefused:
    """Return why an answer about bundles is refused."""
    with pytest.raises(InputRefused) as found:
        pooled(bundles, **values)
    return found.value


@pytest.fixture(scope="module")
def means(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return release_each(tmp_path_factory.mktemp("means"), MEANS)


@pytest.fixture(scope="module")
def counts(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return release_each(tmp_path_factory.mktemp("counts"), COUNTS)


@pytest.fixture(scope="module")
def read_means(means: list[Path]) -> tuple[ReleasedBundle, ...]:
    return read_bundles(means)


@pytest.fixture(scope="module")
def read_counts(counts: list[Path]) -> tuple[ReleasedBundle, ...]:
    return read_bundles(counts)


def rows_of(folder: Path, file: str) -> list[dict[str, str]]:
    with (folder / "release" / file).open(newline="") as lines:
        return list(csv.DictReader(lines))


def laplace(scale: float) -> float:
    """Return the variance of discrete Laplace noise, added up term by term."""
    steps = np.arange(1, int(60 * scale) + 60)
    weights = np.exp(-steps / scale)
    return float(2 * (steps**2 * weights).sum() / (1 + 2 * weights.sum()))


def by_hand(values: list[float], variances: list[float]) -> dict[str, float]:
    """Return DerSimonian and Laird's mean with Hartung and Knapp's error, written out for six sites."""
    w = [1 / one for one in variances]
    fixed = sum(a * y for a, y in zip(w, values, strict=True)) / sum(w)
    q = sum(a * (y - fixed) ** 2 for a, y in zip(w, values, strict=True))
    tau = max(0.0, (q - (len(w) - 1)) / (sum(w) - sum(a * a for a in w) / sum(w)))
    v = [1 / (one + tau) for one in variances]
    mean = sum(a * y for a, y in zip(v, values, strict=True)) / sum(v)
    squares = sum(a * (y - mean) ** 2 for a, y in zip(v, values, strict=True))
    error = math.sqrt(squares / ((len(v) - 1) * sum(v)))
    return {"fixed": fixed, "q": q, "tau2": tau, "mean": mean, "error": error}


def compare(answer: Any, values: list[float], variances: list[float]) -> None:
    """Compare an answer about six sites with the same by hand."""
    expected, figures = by_hand(values, variances), answer.figures
    assert figures["fixed"]["estimate"] == pytest.approx(expected["fixed"], rel=1e-12)
    assert figures["heterogeneity"]["q"] == pytest.approx(expected["q"], rel=1e-9)
    assert figures["random"]["spread"] == pytest.approx(math.sqrt(expected["tau2"]), rel=1e-9, abs=1e-12)
    assert figures["random"]["estimate"] == pytest.approx(expected["mean"], rel=1e-12)
    assert figures["random"]["error"] == pytest.approx(expected["error"], rel=1e-9)
    assert figures["random"]["high"] == pytest.approx(expected["mean"] + T5 * expected["error"], rel=1e-6)
    reach = T4 * math.hypot(math.sqrt(expected["tau2"]), expected["error"])
    assert figures["prediction"][0] == pytest.approx(expected["mean"] - reach, rel=1e-6)


# --- by hand, from the files ----------------------------------------------------------------------------


@pytest.mark.guarantee
def test_means_are_recomputed_from_their_files(
    means: list[Path], read_means: tuple[ReleasedBundle, ...]
) -> None:
    values, variances = [], []
    for folder in means:
        row = next(one for one in rows_of(folder, "means.csv") if one["sex"] == "f")
        mean, people = float(row["mean"]), int(row["count"])
        # values from 0 to 30 at ε = 1: both sums together move by 30, so the scale is 30
        noise = laplace(30.0) * ((1 - mean / 30) ** 2 + (mean / 30) ** 2) / people**2
        values.append(mean)
        variances.append(6.0**2 / people + noise)
    answer = pooled(read_means, group="sex = f", deviation=6)
    compare(answer, values, variances)
    assert answer.figures["figure"] == {"kind": "mean", "column": "stay", "group": "sex = f"}
    assert {one["signature"] for one in answer.figures["bundles"]} == {"genuine"}
    assert [one["name"] for one in answer.figures["sites"]] == list(NAMES)


def test_shares_are_recomputed_from_their_files(
    counts: list[Path], read_counts: tuple[ReleasedBundle, ...]
) -> None:
    parts = []
    for folder in counts:
        cells = {(one["sex"], one["ended"]): int(one["count"]) for one in rows_of(folder, "counts.csv")}
        home, other = cells["f", "home"], cells["f", "other"]
        parts.append((home, home + other))
    common = sum(home for home, _ in parts) / sum(people for _, people in parts)
    values, variances = [], []
    for home, people in parts:
        p = home / people
        noise = laplace(1.0) * ((1 - p) ** 2 + p**2) / people**2  # one person moves one count by one
        values.append(p)
        variances.append(common * (1 - common) / people + noise)
    compare(pooled(read_counts, figure="share(ended, home)", group="sex = f"), values, variances)
    # everybody: two counts each way
    values, variances = [], []
    whole = []
    for folder in counts:
        cells = {(one["sex"], one["ended"]): int(one["count"]) for one in rows_of(folder, "counts.csv")}
        known = {key: n for key, n in cells.items() if "(missing)" not in key}
        home, people = sum(n for key, n in known.items() if key[1] == "home"), sum(known.values())
        whole.append((home, people))
    common = sum(home for home, _ in whole) / sum(people for _, people in whole)
    for home, people in whole:
        p = home / people
        values.append(p)
        variances.append(
            common * (1 - common) / people + laplace(1.0) * 2 * ((1 - p) ** 2 + p**2) / people**2
        )
    compare(pooled(read_counts, figure="share(ended, home)"), values, variances)


def test_survival_is_recomputed_from_its_files(tmp_path: Path) -> None:
    folders = release_each(tmp_path, LIFE)
    values, variances = [], []
    for folder in folders:
        rows = rows_of(folder, "life_table.csv")[:2]
        assert [one["stay"] for one in rows] == ["0 to <5", "5 to <10"]
        after, parts = 1.0, 0.0
        for row in rows:
            d, left = int(row["events"]), float(row["survival"])
            m = d / (1 - left / after)  # at risk, as the share tells it
            parts += d / (m * (m - d))
            after = left
        margin = float(rows[-1]["within_95"])
        values.append(after)
        variances.append(after**2 * parts + (margin / (math.log(20) / math.sqrt(2))) ** 2)
    compare(pooled(read_bundles(folders), figure="survival(stay, 5 to <10)"), values, variances)


def test_coefficients_take_the_error_by_chance_that_is_told(tmp_path: Path) -> None:
    folders = release_each(tmp_path, LINEAR)
    bundles = read_bundles(folders)
    figure = "coefficient(stay, age)"
    untold = refused(bundles, figure=figure)
    assert untold.code == "analyses.few_left" and untold.values["sites"] == 0
    told = [{"site": name, "error": 0.01 + 0.001 * place} for place, name in enumerate(NAMES)]
    values, variances = [], []
    for place, folder in enumerate(folders):
        model = json.loads((folder / "release" / "model.json").read_text())
        age = next(one for one in model["predictors"] if one["name"] == "age")
        values.append(age["coefficient"])
        variances.append((0.01 + 0.001 * place) ** 2 + (age["within_95"] / 1.96) ** 2)
    compare(pooled(bundles, figure=figure, told=told), values, variances)
    found = pooled(bundles, figure="coefficient(stay, sex, f)", told=told[:4])
    assert [one["name"] for one in found.figures["left_out"]] == list(NAMES[4:])
    assert {one["reason"] for one in found.figures["left_out"]} == {"error_untold"}
    assert refused(bundles, figure=figure, told=[{"site": "Nowhere", "error": 1}]).code == (
        "analyses.told_unknown"
    )


def test_quantiles_take_the_number_of_people_that_is_told(tmp_path: Path) -> None:
    folders = release_each(tmp_path, QUANTILES)
    bundles = read_bundles(folders)
    told = [{"site": name, "people": 800} for name in NAMES]
    values, variances = [], []
    for folder in folders:
        rows = {one["quantile"]: one for one in rows_of(folder, "quantiles.csv")}
        slope = (float(rows["3/4"]["value"]) - float(rows["1/4"]["value"])) / 0.5
        ranks = float(rows["1/2"]["within_95_rank"]) / 1.96
        values.append(float(rows["1/2"]["value"]))
        variances.append(slope**2 * 0.25 / 800 + (slope * ranks / 800) ** 2)
    compare(pooled(bundles, figure="quantile(stay, 1/2)", told=told), values, variances)
    outer = refused(bundles, figure="quantile(stay, 1/4)", told=told)
    reasons = {one.values["reason"].id.rpartition(".")[2] for one in outer.values["reasons"]}
    assert outer.code == "analyses.few_left" and reasons == {"no_neighbours"}


# --- what is refused or asked about ---------------------------------------------------------------------


def test_what_is_changed_is_named_and_refused(means: list[Path], tmp_path: Path) -> None:
    for file, change in (
        ("means.csv", lambda data: data.replace(b"f,", b"f,1", 1)),
        ("evidence.json", lambda data: data.replace(b'"epsilon": "1"', b'"epsilon": "9"', 1)),
        ("signature.json", lambda data: data.replace(b'"sequence": ', b'"sequence": 1', 1)),
    ):
        folder = tmp_path / file
        shutil.copytree(means[0], folder)
        place = folder / "release" / file
        before = place.read_bytes()
        place.write_bytes(change(before))
        assert place.read_bytes() != before
        with pytest.raises(InputRefused) as found:
            read_bundle(folder)
        assert found.value.code == "analyses.bundle_wrong" and found.value.values["folder"] == file
    with pytest.raises(InputRefused) as found:
        read_bundle(tmp_path)
    assert found.value.code == "bundle.no_bundle"


ODD = (
    "sex,mean\nf,3\n",
    "sex,mean,count\nf,nan,100\n",
    "sex,mean,count\nf,inf,100\n",
    "",
    "sex;mean\n\x00",
    "sex,mean,count\nf\n",
    "sex,mean,count\nf,3,many\n",
)


@pytest.mark.parametrize("place", range(len(ODD)))
def test_files_of_an_unknown_form_are_refused_in_words(
    means: list[Path],
    read_means: tuple[ReleasedBundle, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    place: int,
) -> None:
    """Whoever forges all of a release may write anything: no traceback, and nothing of it is used."""
    folder = tmp_path / "odd"
    shutil.copytree(means[0] / "release", folder)
    (folder / "means.csv").write_text(ODD[place])
    write_sums(folder)
    agrees = replace(verify(means[0]), signature=None)
    monkeypatch.setattr(released_bundle, "verify", lambda path: agrees)
    try:
        odd = read_bundle(folder)
    except InputRefused as error:
        assert error.code == "analyses.bundle_form" and ODD[place].startswith("sex;")
        return
    found = pooled([odd, *read_means[1:]], group="sex = f", deviation=6)
    assert [one["name"] for one in found.figures["left_out"]] == ["North"]
    assert found.figures["bundles"][0]["signature"] == "nobody"


def test_what_took_the_place_of_a_signed_release_since_it_was_verified_is_not_signed(
    means: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "other"
    shutil.copytree(means[0] / "release", folder)
    signed = verify(folder)
    table = folder / "means.csv"
    table.write_text(table.read_text() + "\n")
    write_sums(folder)
    monkeypatch.setattr(released_bundle, "verify", lambda path: signed)
    assert signed.signature is not None
    with pytest.raises(InputRefused, match=r"analyses\.bundle_form"):
        read_bundle(folder)


def test_the_same_release_counts_once(means: list[Path], tmp_path: Path) -> None:
    shutil.copytree(means[0] / "release", tmp_path / "again")
    with pytest.raises(InputRefused) as found:
        read_bundles([*means, tmp_path / "again"])
    assert found.value.code == "analyses.bundle_twice"
    one = read_bundle(means[0])
    assert refused([one, one]).code == "analyses.bundle_twice"


def test_the_same_people_count_once_and_one_house_is_asked_about(
    read_means: tuple[ReleasedBundle, ...], tmp_path: Path
) -> None:
    ledger = Ledger(tmp_path / "shared.sqlite")
    others = {"decisions": ({"decision": NEW_HOLDING, "reason": "Other people"},)}
    common = {"name": "Isle", "ledger": ledger, "table": invent(7)}
    first = read_bundle(release(tmp_path, MEANS, seed=7, **common))
    again = read_bundle(release(tmp_path, MEANS, seed=8, **common))
    other = read_bundle(
        release(tmp_path, MEANS, seed=9, register="Another", **(common | {"table": invent(9)}), **others)
    )
    values = {"group": "sex = f", "deviation": 6}
    assert refused([*read_means, first, again], **values).code == "analyses.same_people"
    assert refused([*read_means, first, again], apart=True, **values).code == "analyses.same_people"
    assert refused([*read_means, first, other], **values).code == "analyses.same_ledger"
    found = pooled([*read_means, first, other], apart=True, **values)
    assert len(found.figures["sites"]) == 8
    assert len({one["name"] for one in found.figures["sites"]}) == 8, "two sites of one name stay apart"
    moved = replace(again, chain="another")  # a ledger that went on in another place, with the key
    assert refused([*read_means, first, moved], **values).code == "analyses.same_people"
    unsigned = [replace(one, keys=(), register="") for one in (first, again)]
    assert refused([*read_means, *unsigned], **values).code == "analyses.same_ledger"


def test_other_units_are_refused_and_other_bounds_need_a_reason(
    read_means: tuple[ReleasedBundle, ...], tmp_path: Path
) -> None:
    stay = columns()[1]
    values = {"group": "sex = f", "deviation": 6}
    hours = replace(stay, unit="h")
    wrong = read_bundle(release(tmp_path, MEANS, seed=7, name="Isle", declared=columns(stay=hours)))
    found = refused([*read_means, wrong], reason="All the same", **values)
    assert found.code == "analyses.other_figure" and found.values["site"] == "Isle"
    longer = Domain(minimum=Fraction(0), maximum=Fraction(60), step=Fraction(1))
    wide = read_bundle(
        release(tmp_path, MEANS, seed=8, name="Cape", declared=columns(stay=replace(stay, domain=longer)))
    )
    found = refused([*read_means, wide], **values)
    assert found.code == "analyses.differences" and found.values["sites"] == ["Cape"]
    answer = pooled([*read_means, wide], reason="Nobody stays longer than 30 days", **values)
    assert answer.figures["differences"] == ["bounds"] and len(answer.figures["sites"]) == 7
    said = [one for one in answer.views[0].paragraphs if one.id.endswith("differ_in")]
    assert said and said[0].values["reason"] == "Nobody stays longer than 30 days"


def test_nothing_is_said_of_two_sites_or_without_what_no_file_tells(
    read_means: tuple[ReleasedBundle, ...], read_counts: tuple[ReleasedBundle, ...]
) -> None:
    assert refused(read_means[:2], group="sex = f", deviation=6).code == "analyses.few_sites"
    asked = refused(read_means, group="sex = f")
    assert asked.code == "analyses.deviation_wanted"
    largest = max(
        math.sqrt(one["estimate"] * (30 - one["estimate"]))
        for one in pooled(read_means, group="sex = f", deviation=6).figures["sites"]
    )
    assert asked.values["largest"] == pytest.approx(largest)
    assert refused(read_means, deviation=6).code == "analyses.which_group"
    assert refused(read_counts).code == "analyses.which_figure"
    assert refused(read_counts, figure="mean(stay)").code == "analyses.figure_unknown"
    mixed = refused([*read_means[:2], *read_counts[2:]], figure="mean(stay)", group="sex = f", deviation=6)
    assert mixed.code == "analyses.few_left" and mixed.values["sites"] == 2
    assert refused(()).code == "analyses.no_bundles"
    with pytest.raises(InputRefused) as found:
        ask(META, {"sites": [{"name": "A", "estimate": 1, "error": 1}]}, bundles=read_means)
    assert found.value.code == "analyses.typed_and_bundles"
    with pytest.raises(InputRefused) as found:
        ask(analysis("at_risk"), {"epsilon0": 1, "epsilon": 0.6}, bundles=read_means)
    assert found.value.code == "analyses.no_bundle"


def test_a_key_that_is_known_is_said_and_one_that_is_not_is_refused(
    read_means: tuple[ReleasedBundle, ...],
) -> None:
    keys = [" ".join((one.keys[0][:20].upper(), one.keys[0][20:])) for one in read_means]
    values = {"group": "sex = f", "deviation": 6}
    answer = pooled(read_means, keys=keys, **values)
    assert {one["signature"] for one in answer.figures["bundles"]} == {"known"}
    assert refused(read_means, keys=keys[1:], **values).code == "analyses.bundle_key"
    nobody = [replace(one, keys=()) for one in read_means]
    assert {one["signature"] for one in pooled(nobody, **values).figures["bundles"]} == {"nobody"}


def test_groups_that_noise_has_drowned_are_left_out_with_the_reason(
    counts: list[Path], read_counts: tuple[ReleasedBundle, ...]
) -> None:
    assert ("share(ended, home)", "sex = f") in read_counts[0].figures.estimates
    evidence = json.loads((counts[0] / "release" / "evidence.json").read_text())
    few = b"sex,ended,count,within_95\nf,home,4,3\nf,other,1,3\nm,home,400,3\nm,other,200,3\n"
    drowned = replace(read_counts[0], figures=read_figures(evidence, lambda name: few))
    found = pooled([drowned, *read_counts[1:]], figure="share(ended, home)", group="sex = f")
    assert found.figures["left_out"] == [{"name": "North", "reason": "drowned"}]


def test_bundles_are_found_in_a_folder_that_holds_them(means: list[Path], tmp_path: Path) -> None:
    assert set(bundles_in(means[0].parents[1])) == set(means)
    assert bundles_in(means[0]) == [means[0]] and bundles_in(means[0] / "release") == [means[0] / "release"]
    with pytest.raises(EngineError):
        bundles_in(tmp_path)
    names = {name for name, _ in shared_figures(read_bundles(means[:2])).items()}
    assert names == {"mean(stay)"}


def test_further_releases_of_a_site_are_no_obstacle(
    read_means: tuple[ReleasedBundle, ...], read_counts: tuple[ReleasedBundle, ...]
) -> None:
    """Sites release more than one thing from a register: what has the figure counts, the rest is named."""
    same = [
        replace(one, register=other.register, chain=other.chain, keys=other.keys)
        for one, other in zip(read_counts, read_means, strict=True)
    ]
    shared = shared_figures([*read_means, *same])
    assert {"mean(stay)", "share(ended, home)"} <= set(shared)
    found = pooled([*read_means, *same], figure="mean(stay)", group="sex = f", deviation=6).figures
    assert len(found["sites"]) == 6 and len(found["left_out"]) == 6
    assert {one["reason"] for one in found["left_out"]} == {"absent"}
    alone = pooled(read_means, group="sex = f", deviation=6).figures
    assert found["random"] == alone["random"]


# --- the noise that is claimed is the noise that is drawn, and intervals cover --------------------------

STRATEGIES = {
    "two_sums": {"strategy": "two_sums"},
    "perturb": {"strategy": "perturb", "shares": ["3/5", "2/5"]},
    "compose": {"strategy": "compose"},
    "proportion": {"statistic": "proportion", "value": None, "answer": "sex", "counted": [{"value": "f"}]},
}
LOW, HIGH = 0, 30


def means_of(strategy: str) -> tuple[Any, dict[str, Any]]:
    """Return the form of a mean without groups, and what evidence says of it.

    At ε = 1; a finished mean at 100, where its noise does not go beyond the bounds.
    """
    budget = Budget(Fraction(100 if strategy == "compose" else 1))
    given = {"statistic": "mean", "value": "stay", "by": [], **STRATEGIES[strategy]}
    way = find_method("statistics.means")
    schema = Schema(columns(), 1)
    design = way(way.make_request({MAIN: schema}, given, budget=budget))
    assert not design.problems
    parameters = to_json(design.request.values)
    evidence = {
        "method": {"id": way.id},
        "decided": {
            "parameters": parameters,
            "columns": schema.to_json()["columns"],
            "rows_per_person": 1,
            "preparation": [],
        },
        "promise": {"unit": "person", "events": event_to_json(design.cost.loss.events)},
    }
    return design.form, evidence


def as_file(numbers: Mapping[str, Any], place: int) -> bytes:
    """Return what a release of one group has in its file."""
    count = numbers.get("count")
    row = [float(numbers["value"][place]), 0 if count is None else int(count[place])]
    return f"mean,proportion,count\n{row[0]!r},{row[0]!r},{row[1]}\n".encode()


ODD_VALUES = (None, "", 0, -1, 1e308, "1e999", [], {}, True, "nan", [1, 2], {"a": 1})
NO_FORM = (LookupError, ValueError, TypeError, AttributeError, ArithmeticError)


def places_in(tree: Any, above: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return every place in JSON values."""
    parts = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    return [one for name, inner in parts for one in ((*above, name), *places_in(inner, (*above, name)))]


@pytest.mark.guarantee
@pytest.mark.parametrize("file", ["means.csv", "counts.csv"])
def test_whatever_evidence_says_the_answer_is_in_words(request: pytest.FixtureRequest, file: str) -> None:
    """Of four hundred forged releases, evidence or file, none ends in anything but an answer or a refusal."""
    name = file.removesuffix(".csv")
    folders, others = request.getfixturevalue(name), request.getfixturevalue(f"read_{name}")[1:]
    whole = json.loads((folders[0] / "release" / "evidence.json").read_text())
    told = {part: whole[part] for part in ("method", "decided", "promise")}
    data = (folders[0] / "release" / file).read_bytes()
    asked = {"group": "sex = f", "figure": "mean(stay)", "deviation": 6}
    if name == "counts":
        asked = {"group": "sex = f", "figure": "share(ended, home)"}
    lots, answered = np.random.default_rng(28), 0
    every = places_in(told)
    for _ in range(400):
        tree, line = json.loads(json.dumps(told)), bytearray(data)
        place = every[lots.integers(len(every))]
        inner = tree
        for step in place[:-1]:
            inner = inner[step]
        if lots.random() < 0.3:
            del inner[place[-1]]
        else:
            inner[place[-1]] = ODD_VALUES[lots.integers(len(ODD_VALUES))]
        if lots.random() < 0.5:
            at = int(lots.integers(len(line)))
            line[at : at + 1] = (b"", b",", b"\x00", b'"', b"\xff", b"1e400")[lots.integers(6)]
        try:
            figures = read_figures(tree, lambda one, line=bytes(line): line)
        except NO_FORM:
            continue
        try:
            pooled([bundle_of("odd", figures), *others], **asked)
            answered += 1
        except InputRefused as error:
            assert texts.explain(error)
    assert answered > 40


def test_a_forged_table_of_counts_neither_hangs_nor_speaks_to_the_terminal(counts: list[Path]) -> None:
    """Three columns of a thousand values each in a thousand rows make 10⁹ cells and as many groups."""
    evidence = json.loads((counts[0] / "release" / "evidence.json").read_text())
    evidence["decided"]["parameters"]["columns"] = ["sex", "ended", "age"]
    evidence["decided"]["columns"] = [{"name": name} for name in ("sex", "ended", "age")]
    lines = "\n".join(f"f{place},e{place}\x1b[2J,{place},{50 + place}" for place in range(1_000))
    found = read_figures(evidence, lambda name: f"sex,ended,age,count\n{lines}\n".encode())
    assert 0 < len(found.estimates) <= 3 * MOST_SHARES
    assert not [one for key in found.estimates for one in key if not one.isprintable()]
    assert found.estimate("share(age, 7)", "").people == sum(range(50, 1_050))


@pytest.mark.parametrize("extra", [one for one in Extra if one is not Extra.LEFT_OUT])
def test_missing_and_undeclared_values_are_in_no_share(extra: Extra) -> None:
    """However they are counted; a declared value that is called as they are is one."""
    schema = replace(columns()[3], domain=Domain(values=("f", "(missing)")))
    levels = with_extra(("f", "(missing)"), extra)
    assert len(levels) > 2
    data = "sex,count\n" + "".join(f"{level},100\n" for level in levels)
    evidence = {
        "method": {"id": "statistics.counts"},
        "decided": {
            "parameters": {"columns": ["sex"]},
            "columns": Schema((schema,), 1).to_json()["columns"],
            "rows_per_person": 1,
            "preparation": [],
        },
        "promise": {"unit": "person", "events": {"mechanism": "discrete_laplace", "scale": "1"}},
    }
    found = read_figures(evidence, lambda name: data.encode())
    assert {name for name, _ in found.estimates} == {"share(sex, f)", "share(sex, (missing))"}
    assert found.estimate("share(sex, f)", "").value == 0.5
    evidence["decided"]["columns"] = [{"name": "sex", "domain": {"code_list": "sex"}}]
    listed = "sex,count\n" + "".join(f"{level},100\n" for level in with_extra(("f", "m"), extra))
    found = read_figures(evidence, lambda name: listed.encode())
    assert {name for name, _ in found.estimates} == {"share(sex, f)", "share(sex, m)"}


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_noise_that_is_claimed_is_the_noise_that_is_drawn(strategy: str) -> None:
    """Of 4,000 draws the deviation is known within 4 of its errors: false alarms 6e-5."""
    form, evidence = means_of(strategy)
    is_mean = strategy != "proportion"
    draws, people, total = 4_000, 500, 4_100 if is_mean else 140
    name = "mean(stay)" if is_mean else "proportion(sex, f)"
    noisy = form.numbers(np.full(draws, total), np.full(draws, people), seeded_noise(28))
    drawn = float(np.std(noisy["value"] - total / people))
    claims = []
    for place in range(0, draws, 40):
        figures = read_figures(evidence, lambda file, place=place: as_file(noisy, place))
        claims.append(figures.estimate(name, "").noise)
    claimed = float(np.sqrt(np.mean(np.square(claims))))
    far = 4 * math.sqrt(5 / (4 * draws))  # of Laplace noise, whose fourth moment is 6 σ⁴
    assert abs(claimed / drawn - 1) < far + 0.02, (claimed, drawn)


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
def test_the_noise_of_a_share_is_that_of_its_counts(kind: str) -> None:
    """Shares among 500 people of four counts each, drawn 4,000 times: as above."""
    way, schema = find_method("statistics.counts"), Schema(columns(), 1)
    given = {"columns": ["sex", "ended"], "extra_cells": "left_out", "noise": kind}
    budget = Budget(Fraction(1, 2), Fraction(1, 10**6) if kind == "gaussian" else Fraction(0))
    design = way(way.make_request({MAIN: schema}, given, budget=budget))
    assert not design.problems
    evidence = {
        "method": {"id": way.id},
        "decided": {
            "parameters": to_json(design.request.values),
            "columns": schema.to_json()["columns"],
            "rows_per_person": 1,
            "preparation": [],
        },
        "promise": {"unit": "person", "events": event_to_json(design.cost.loss.events)},
    }
    draws, exact = 4_000, np.array([90, 160, 50, 200])
    noisy = design.mechanism.release(np.tile(exact, draws), seeded_noise(7)).reshape(draws, 4)
    shares, claims = noisy[:, [0, 2]].sum(axis=1) / noisy.sum(axis=1), []
    for cells in noisy[::40]:
        lines = zip((("f", "home"), ("f", "other"), ("m", "home"), ("m", "other")), cells, strict=True)
        data = "sex,ended,count\n" + "".join(f"{','.join(key)},{count}\n" for key, count in lines)
        figures = read_figures(evidence, lambda name, data=data: data.encode())
        one = figures.estimate("share(ended, home)", "")
        assert (one.fourth > 0) == (kind == "laplace")
        claims.append(one.noise)
    far = 4 * math.sqrt(5 / (4 * draws))
    assert abs(float(np.mean(claims)) / float(np.std(shares)) - 1) < far + 0.02


@pytest.mark.parametrize("spread", [0.0, 1.5])
def test_intervals_over_bundles_cover_as_often_as_they_say(spread: float) -> None:
    """Six sites of 60 to 400 people, a thousand times: .95 within 4 errors of .0069.

    Hartung and Knapp's intervals are known to be a little wide or narrow where errors of sites differ much.
    """
    form, evidence = means_of("two_sums")
    runs, sizes, sd, truth = 1_000, (60, 90, 130, 200, 300, 400), 5.0, 12.0
    lots = np.random.default_rng(28)
    noisy = []
    for place, people in enumerate(sizes):
        centres = truth + lots.normal(0, spread, runs)
        sums = np.rint(people * centres + lots.normal(0, sd * math.sqrt(people), runs)).astype(np.int64)
        noisy.append(form.numbers(sums, np.full(runs, people), seeded_noise(place)))
    inside = alarms = expected = 0
    for run in range(runs):
        bundles = []
        for place, numbers in enumerate(noisy):
            data = as_file(numbers, run)
            figures = read_figures(evidence, lambda name, data=data: data)
            bundles.append(bundle_of(str(place), figures))
        found = pooled(bundles, deviation=sd).figures
        inside += found["random"]["low"] <= truth <= found["random"]["high"]
        alarms += found["heterogeneity"]["chance"] < 0.05
        further = truth + lots.normal(0, spread)
        expected += found["prediction"][0] <= further <= found["prediction"][1]
    assert abs(inside / runs - 0.95) < 0.03, inside
    if not spread:
        assert 0.02 < alarms / runs < 0.08, alarms
    else:
        assert expected / runs > 0.90, expected


def bundle_of(name: str, figures: Any) -> ReleasedBundle:
    """Return a release of nobody else."""
    return ReleasedBundle(name, name, name, name, name, name, (), "", "", "", "2026-11-27", figures)


def test_prediction_by_hand() -> None:
    mixed = random_effects([1.0, 4.0, 7.0, 3.0, 5.0], [1.0] * 5)
    low, high = prediction(mixed, 5)
    assert high - mixed.estimate == pytest.approx(3.182446 * math.hypot(mixed.spread, mixed.error), rel=1e-6)
    assert low == pytest.approx(2 * mixed.estimate - high)


def test_an_answer_is_saved_as_a_report_and_as_a_table(
    read_means: tuple[ReleasedBundle, ...], tmp_path: Path
) -> None:
    given = {"source": "bundles", "group": "sex = f", "deviation": 6}
    answer = pooled(read_means, group="sex = f", deviation=6)
    for language, head in (("en", "Site"), ("de", "Standort"), ("fr", "Site")):
        path = tmp_path / f"{language}.csv"
        save_answer(META, given, answer, path, language=language, stays=answer.stays)
        lines = list(csv.reader(path.read_text("utf-8").splitlines()))
        assert lines[0][0] == head and [one[0] for one in lines[1:]] == list(NAMES)
        assert float(lines[1][2]) == answer.figures["sites"][0]["estimate"]
    with pytest.raises(InputRefused) as found:
        save_answer(META, given, answer, tmp_path / "a.docx", language="en", stays=False)
    assert found.value.code == "analyses.ending"


def test_the_command_line_reads_bundles_and_saves_the_table(
    means: list[Path],
    read_means: tuple[ReleasedBundle, ...],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    sites = means[0].parents[1]
    asked = ["analyse", "meta_analysis", "--bundle", str(sites), "--set", 'group="sex = f"']
    assert main([*asked, "--set", "deviation=6", "--save", str(tmp_path / "a.csv"), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    whole = pooled(read_means, group="sex = f", deviation=6).figures
    assert said["random"]["estimate"] == pytest.approx(whole["random"]["estimate"], rel=1e-12)
    assert said["random"]["error"] == pytest.approx(whole["random"]["error"], rel=1e-9)
    lines = (tmp_path / "a.csv").read_text("utf-8").splitlines()
    assert len(lines) == 7 and str(tmp_path) not in json.dumps(said)
    assert main([*asked, "--set", "deviation=6", "--bundle", str(means[0]), "--json"]) == 2
    capsys.readouterr()
    assert main(asked) == 2
    assert "standard deviation" in capsys.readouterr().err


def test_every_refusal_and_reason_is_said_in_three_languages() -> None:
    """What a person reads about bundles: no empty place, no id, in any language."""
    words = META.word
    reasons = [words(f"reasons.{one}") for one in REASONS]
    assert {f"{WORDS}.reasons.{one}" for one in REASONS} == {
        one for one in texts.catalogue("en") if one.startswith(f"{WORDS}.reasons.")
    }
    for language in ("en", "de", "fr"):
        for one in reasons:
            left = texts.text(f"{WORDS}.left", language=language, site="North", reason=one)
            assert "{" not in left and WORDS not in left
        error = InputRefused("analyses.differences", sites=["A"], other="B", what=[words("differences.unit")])
        what, do = texts.explain(error, language=language)
        assert texts.text(f"{WORDS}.differences.unit", language=language) in what and do


REASONS = (
    *("absent", "not_a_number", "weights", "drowned", "kept_positive", "other_noise", "no_neighbours"),
    *("ties", "error_untold", "people_untold"),
)
