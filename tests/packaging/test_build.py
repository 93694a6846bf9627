"""The program for people without Python: built, then used as they would, far from the source tree.

``CUSTOS_BUILT`` names a folder that was built or installed, such as ``/opt/custos``, which is tried then.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.metadata import packages_distributions
from importlib.util import find_spec
from pathlib import Path

import pyarrow.csv
import pyarrow.parquet
import pyreadstat
import pytest

from engine import texts
from engine.analyses.catalogue import analyses, example
from engine.methods.catalogue import methods

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "packaging"))
import licences  # noqa: E402

pytestmark = [
    pytest.mark.before_release,
    pytest.mark.skipif(find_spec("PyInstaller") is None, reason="the extra `build` is not installed"),
]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build in a folder whose name has a space and an umlaut, with the Python of the tests."""
    if given := os.environ.get("CUSTOS_BUILT"):
        return Path(given)
    folder = tmp_path_factory.mktemp("Größe und Platz")
    code = (
        "import sys; from pathlib import Path; import build; sys.exit(build.build(*map(Path, sys.argv[1:])))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, sys.executable, str(folder)],
        env=os.environ | {"PYTHONPATH": str(ROOT / "packaging")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    size = sum(path.stat().st_size for path in folder.rglob("*") if not path.is_symlink())
    print(f"built: {size / 1e6:.0f} MB")
    return folder / "custos"


def ran(built: Path, name: str, *arguments: str | Path, home: Path) -> subprocess.CompletedProcess[str]:
    """Run a frozen program as somebody whose home is empty, with nothing of this Python in reach."""
    environment = {
        "PATH": "/usr/bin:/bin",
        "HOME": str(home),
        "QT_QPA_PLATFORM": "offscreen",
        "LANG": "C.UTF-8",
    }
    return subprocess.run(
        [str(built / name), *map(str, arguments)],
        cwd=home,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def test_the_sample_from_the_frozen_command_line(built: Path, tmp_path: Path) -> None:
    plan = built / "_internal" / "resources" / "sample" / "plan.json"
    bundle, ledger = str(tmp_path / "bundle"), str(tmp_path / "ledger.sqlite")
    done = ran(built, "custos", "run", str(plan), "--out", bundle, "--ledger", ledger, home=tmp_path)
    assert done.returncode == 0, done.stderr
    for name in ("counts.csv", "report-external.pdf", "report-external.html", "evidence.json"):
        assert (tmp_path / "bundle" / "release" / name).stat().st_size > 0
    done = ran(built, "custos", "verify", bundle, "--ledger", ledger, home=tmp_path)
    assert done.returncode == 0, done.stderr
    evidence = (tmp_path / "bundle" / "release" / "evidence.json").read_text()
    assert "absent" not in evidence  # every library is named with its version


def test_nothing_in_it_depends_on_the_folder_in_which_it_was_built(built: Path) -> None:
    """Lists of what was installed hold sums of scripts that name their Python: two builds were not equal."""
    files = [path for path in built.rglob("*") if path.is_file() and not path.is_symlink()]
    of_installers = {"RECORD", "INSTALLER", "REQUESTED", "direct_url.json"}
    assert len(files) > 1000 and not [path for path in files if path.name in of_installers]
    here = {str(ROOT).encode(), sys.prefix.encode()} - {b"/usr"}
    assert not [path for path in files if any(one in path.read_bytes() for one in here)]


def test_the_frozen_command_line_finds_every_method(built: Path, tmp_path: Path) -> None:
    here = subprocess.run(
        [sys.executable, "-m", "engine", "methods"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert ran(built, "custos", "methods", home=tmp_path).stdout == here.stdout != ""


@pytest.mark.parametrize(("place", "method"), [*enumerate(one.id for one in methods())])
def test_every_method_runs_its_examples_and_writes_its_papers(
    built: Path, tmp_path: Path, place: int, method: str
) -> None:
    language = texts.languages()[place % len(texts.languages())]
    done = ran(built, "custos", "example", method, "--out", "made", "--language", language, home=tmp_path)
    assert done.returncode == 0, done.stderr
    bundles = sorted(path for path in (tmp_path / "made").glob("example*") if path.is_dir())
    for bundle in bundles:
        there = {path.name for path in (bundle / "release").iterdir()}
        assert {"report-external.pdf", "report-external.html", "verify.html", "evidence.json"} <= there
        assert "absent" not in (bundle / "release" / "evidence.json").read_text()
        done = ran(built, "custos", "verify", bundle, home=tmp_path)
        assert done.returncode == 0, done.stderr + done.stdout
    done = ran(built, "custos", "papers", bundles[0], "--out", "papers", home=tmp_path)
    assert done.returncode == 0 and list((tmp_path / "papers").rglob("*.docx")), done.stderr


@pytest.mark.parametrize("asked", analyses(), ids=lambda one: one.id)
def test_every_analysis_answers_its_example(built: Path, tmp_path: Path, asked: object) -> None:
    filled = example(asked)
    arguments = ["analyse", asked.id, *([filled.table] if filled.table else [])]
    if filled.schema is not None:
        (tmp_path / "schema.json").write_text(json.dumps(filled.schema.to_json()))
        arguments += ["--schema", "schema.json"]
    for name, value in filled.values.items():
        arguments += ["--set", f"{name}={json.dumps(value)}"]
    done = ran(built, "custos", *arguments, home=tmp_path)
    assert done.returncode == 0 and done.stdout, done.stderr


def test_every_kind_of_file_is_read_or_refused_in_words(built: Path, tmp_path: Path) -> None:
    table = pyarrow.csv.read_csv(ROOT / "resources" / "sample" / "survey_reports.csv").slice(0, 50)
    frame = table.to_pandas()
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.to_csv(tmp_path / "a.tsv", index=False, sep="\t")
    frame.to_excel(tmp_path / "a.xlsx", index=False)
    pyarrow.parquet.write_table(table, tmp_path / "a.parquet")
    pyreadstat.write_sav(frame, tmp_path / "a.sav")
    pyreadstat.write_sav(frame, tmp_path / "a.zsav", compress=True)
    pyreadstat.write_por(frame, tmp_path / "a.por")
    pyreadstat.write_dta(frame, tmp_path / "a.dta")
    pyreadstat.write_xport(frame, tmp_path / "a.xpt", file_format_version=8)
    for path in sorted(tmp_path.glob("a.*")):
        done = ran(built, "custos", "inspect", path.name, "--json", home=tmp_path)
        assert done.returncode == 0, (path.name, done.stderr)
        assert json.loads(done.stdout)["rows"] == 50, path.name
    refused = {
        "b.xls": bytes.fromhex("d0cf11e0a1b11ae1") + bytes(600),
        "b.ods": b"PK\x03\x04" + bytes(26) + b"mimetypeapplication/vnd.oasis.opendocument.spreadsheet",
        "b.sas7bdat": bytes(12) + bytes.fromhex("c2ea8160b31411cfbd92080009c7318c181f1011"),
        "b.duckdb": bytes(8) + b"DUCK" + bytes(100),
        "b.server": b'{"kind": "postgresql"}',
    }
    for name, content in refused.items():
        (tmp_path / name).write_bytes(content)
        done = ran(built, "custos", "inspect", name, home=tmp_path)
        assert done.returncode == 2 and name in done.stderr, (name, done.stderr)
        assert "pip " not in done.stderr or "Custos was installed with pip" in done.stderr, done.stderr


def test_every_other_command_of_the_frozen_program_answers(built: Path, tmp_path: Path) -> None:
    asked = (
        *(("completion", shell) for shell in ("bash", "zsh", "fish")),
        *(("manual", "--out", f"{one}.pdf", "--language", one) for one in texts.languages()),
        ("policy",),
        ("support", "--out", "support.json"),
        ("check", "--pdf", "check.pdf"),
        ("seal", "--help"),
    )
    for arguments in asked:
        done = ran(built, "custos", *arguments, home=tmp_path)
        assert done.returncode == 0, (arguments, done.stderr + done.stdout)
    done = ran(built, "custos-desktop", "--help", home=tmp_path)
    assert done.returncode == 0 and done.stdout.startswith("usage: custos-desktop ")


def test_every_module_is_inside_but_what_connects(built: Path) -> None:
    """Also those that nothing imports by its name: they are looked for in their folders."""
    from PyInstaller.archive.readers import CArchiveReader

    inside = set(CArchiveReader(str(built / "custos")).open_embedded_archive("PYZ.pyz").toc)
    ours = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for folder in ("engine", "app")
        for path in (ROOT / folder).rglob("*.py")
    }
    assert {name for name in ours - inside if not name.startswith("engine.connector")} == set()
    tops = {name.split(".")[0] for name in inside} | {path.name for path in (built / "_internal").iterdir()}
    owners = packages_distributions()
    packed = {licences.normal(owner) for top in tops for owner in owners.get(top, ())}
    listed = {licences.normal(one.metadata["Name"]) for one in licences.required()}
    assert packed <= listed  # or nobody would be told of its licence
    assert listed - packed == {"dm-tree", "mpmath", "wrapt"}  # of the accountant's models, which are not used
    drivers = ("pg8000", "grpc", "trino", "pytds", "oracledb")
    connecting = ("engine.connector", *drivers, "duckdb", "ftplib", "xmlrpc", "http.server", "requests")
    assert not [name for name in inside if name.startswith(connecting)]


def test_the_frozen_window_opens_and_stays(built: Path, tmp_path: Path) -> None:
    with pytest.raises(subprocess.TimeoutExpired) as caught:
        subprocess.run(
            [str(built / "custos-desktop")],
            env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "QT_QPA_PLATFORM": "offscreen"},
            capture_output=True,
            timeout=8,
            check=False,
        )
    said = (caught.value.stderr or b"").decode()
    assert "Traceback" not in said and "Error" not in said, said


def test_sums_name_every_file_and_hold(built: Path) -> None:
    done = subprocess.run(
        ["sha256sum", "--check", "--quiet", "SHA256SUMS"],
        cwd=built,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    named = {line.split("  ", 1)[1] for line in (built / "SHA256SUMS").read_text().splitlines()}
    there = {path.relative_to(built).as_posix() for path in built.rglob("*") if path.is_file()}
    assert there - named == {"SHA256SUMS"}


def test_no_library_that_reaches_a_network_is_inside(built: Path) -> None:
    names = {path.name for path in built.rglob("*")}
    for part in ("Qt6Network", "arrow_flight", "arrow_s3", "_s3fs", "_gcsfs", "Qt6WebEngine"):
        assert not [name for name in names if part in name and not name.endswith((".pyx", ".pxd", ".py"))]
    assert not [path for path in built.rglob("*") if path.is_symlink() and not path.exists()]
