"""Write the reference values of another library, run in an environment of its own with pinned versions.

Not a test, and not run with them: the peers need older packages than the program. ::

    python tests/peers/make.py pycanon_risk

installs what `PEERS` pins into a temporary environment, runs ``pycanon_risk.py`` there and writes what it
prints, with versions and command, to ``pycanon_risk.json``, which is kept.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
PEERS = {
    "anjana_recoding": ("anjana==1.2.3", "pycanon==1.3.5", "numpy==2.0.2", "pandas==2.3.3"),
    "dpmm_tables": (
        "dpmm==0.1.9",
        "opendp==0.12.1",
        "numpy==1.26.4",
        "pandas==2.1.0",
        "scipy==1.17.1",
        "pyarrow==17.0.0",
    ),
    "league_models": (
        "interpret-core==0.6.10",
        "diffprivlib==0.6.6",
        "scikit-learn==1.5.2",
        "numpy==2.2.6",
        "pandas==2.3.3",
    ),
    "league_rows": ("dpmm==0.1.9", "opendp==0.12.1", "scikit-learn==1.5.0", "numpy==1.26.4", "pandas==2.1.0"),
    "private_models": (
        "interpret-core==0.6.10",
        "diffprivlib==0.6.6",
        "scikit-learn==1.5.2",
        "numpy==2.2.6",
        "pandas==2.3.3",
    ),
    "pycanon_risk": ("pycanon==1.3.6", "numpy==2.0.2", "pandas==2.3.3"),
}


def make(name: str) -> Path:
    """Run one peer and write its reference values; return the file."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = Path(folder) / ("Scripts" if sys.platform == "win32" else "bin") / "python"
        subprocess.run([python, "-m", "pip", "install", "--quiet", *PEERS[name]], check=True)
        done = subprocess.run(
            [python, str(HERE / f"{name}.py")], stdout=subprocess.PIPE, text=True, check=True, cwd=HERE
        )
    made = {
        "command": f"python tests/peers/make.py {name}",
        "python": sys.version.split()[0],
        "packages": list(PEERS[name]),
    }
    file = HERE / f"{name}.json"
    file.write_text(json.dumps({"made_with": made, **json.loads(done.stdout)}, indent=1) + "\n")
    return file


if __name__ == "__main__":
    for asked in sys.argv[1:] or PEERS:
        print(make(asked))
