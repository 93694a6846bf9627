"""Only `engine/privacy/noise.py` may make randomness: a walk over the engine's code refuses the rest."""

import ast
from pathlib import Path

import pytest

from engine.privacy.noise import Noise, ordinary_generator
from tests.noise_source import same_noise

ENGINE = Path(__file__).resolve().parents[2] / "engine"
DOOR = "privacy/noise.py"

MODULES = {"random", "secrets"}
PATHS = {"os.urandom", "os.getrandom", "uuid.uuid1", "uuid.uuid4"}
# Names that make randomness on whatever they are called: frozen distributions, frames, splits, matrices
METHODS = {"rvs", "default_rng", "RandomState", "train_test_split", "check_random_state", "SystemRandom"}
METHODS |= {
    "internal_generator",  # for analyses that stay inside: every place that asks for it is listed below
    "ordinary_generator",  # for releases without a bounded loss: they get it from the context
}
KEYWORDS = {"random_state", "seed"}
TYPES = {"Generator"}  # numpy.random.Generator may be named as the type of a parameter, never made

# Files that may use one of the names above, each with its reason. Nothing here may draw for a release.
INSIDE = "analyses that stay inside: Noise.internal_generator"
NAMES = "unguessable names of entries: never added to an answer"
ALLOWED: dict[str, dict[str, str]] = {
    DOOR: {
        "os.urandom": "the door itself",
        "numpy.random.Philox": INSIDE,
        "Generator()": INSIDE,
    },
    "analyses/catalogue.py": {"internal_generator": INSIDE},
    "evaluation/synthetic_shadows.py": {"internal_generator": INSIDE},
    "utility/games.py": {"random_state=": "which of two equal splits a judging tree takes: stays inside"},
    "utility/prediction.py": {"random_state=": "which of two equal splits a tree takes: the same"},
    "ledger/book.py": {"secrets.token_hex": NAMES},
    "ledger/register.py": {"secrets.token_hex": NAMES},
    "ledger/recognition.py": {"secrets.token_hex": NAMES},
    "ledger/remembered.py": {"secrets.token_hex": NAMES},
    "release/write.py": {"secrets.token_hex": NAMES},
    "release/make.py": {
        "engine.privacy.noise.ordinary_generator": "given to releases whose promise bounds no loss, only"
    },
    "release/trial.py": {"internal_generator": INSIDE},
    "release/working.py": {"secrets.token_hex": NAMES},
    "release/signing.py": {"secrets.token_hex": NAMES},
    "release/sealing.py": {"secrets.token_hex": NAMES},
    "release/seconded.py": {"secrets.token_hex": NAMES},
    "computer/checks.py": {"secrets.token_hex": NAMES},
    "privacy/keys.py": {"os.urandom": "keys of pseudonyms and their salt: never added to an answer"},
    "ledger/journal.py": {"os.urandom": "the first link of the journal's chain"},
    "ledger/people_key.py": {"os.urandom": "the nonce of an encryption: never added to an answer"},
    "methods/datasets/synthesis/partition.py": {
        "random_state=": "which of two equal splits a tree takes: draws nothing, and is no other every time"
    },
    "risk/features.py": {"random_state=": "which of two equal splits an attacking tree takes: stays inside"},
    "risk/communities.py": {"random_state=": "where a factorisation begins: stays inside"},
    "ledger/store.py": {"os.urandom": "the key of the digests, made once"},
}


def findings(source: str, path: str = "some/file.py") -> list[str]:
    """Return what a file does to make randomness, with its line, less what the file is allowed."""
    tree = ast.parse(source)
    imported = {
        name.asname or name.name.split(".")[0]: name.name if name.asname else name.name.split(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for name in node.names
    }
    found = []
    for node in ast.walk(tree):
        for name in _names(node, imported):
            if name not in ALLOWED.get(path, {}):
                found.append(f"{path}:{getattr(node, 'lineno', 0)} {name}")
    return found


def _names(node: ast.AST, imported: dict[str, str]) -> list[str]:
    if isinstance(node, ast.Import):
        return [name.name for name in node.names if _forbidden_module(name.name) and name.name != "secrets"]
    if isinstance(node, ast.ImportFrom):
        module = node.module or ""
        whole = [f"{module}.{name.name}" for name in node.names]
        return [
            name
            for name in whole
            if (_forbidden_module(module) and name.rsplit(".", 1)[1] not in TYPES)
            or name in PATHS
            or (_forbidden_module(name) and name != "numpy.random.Generator")
            or name.rsplit(".", 1)[1] in METHODS
        ]
    if isinstance(node, ast.Attribute):
        dotted = _dotted(node, imported)
        if dotted in PATHS or dotted.startswith("secrets.") or node.attr in METHODS:
            return [dotted or node.attr]
        if dotted.startswith(("numpy.random.", "np.random.")) and node.attr not in TYPES:
            return [dotted]
        return []
    if isinstance(node, ast.Call):
        named = [
            word.arg
            for word in node.keywords
            if word.arg in KEYWORDS and not _is_none(word.value) and not _is_chance(word.value)
        ]
        made = _dotted(node.func, imported).endswith("random.Generator") or _is_type_called(node)
        shuffled = isinstance(node.func, ast.Attribute) and node.func.attr == "sample" and _on_frame(node)
        return [f"{word}=" for word in named] + ["Generator()"] * made + [".sample()"] * shuffled
    return []


def _forbidden_module(name: str) -> bool:
    return name.split(".")[0] in MODULES or name in ("numpy.random", "scipy.stats.qmc")


def _dotted(node: ast.AST, imported: dict[str, str]) -> str:
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    return ".".join([imported.get(node.id, node.id), *reversed(parts)])


def _is_type_called(node: ast.Call) -> bool:
    return isinstance(node.func, ast.Name) and node.func.id == "Generator"


def _is_none(value: ast.AST) -> bool:
    return isinstance(value, ast.Constant) and value.value is None


def _is_chance(value: ast.AST) -> bool:
    """Whether it is the generator of the context: none is given where a loss is bounded."""
    return isinstance(value, ast.Attribute) and _dotted(value, {}) == "context.chance"


def _on_frame(node: ast.Call) -> bool:
    """Say whether ``.sample`` is called as pandas' is: with n= or frac= or one whole number."""
    words = {word.arg for word in node.keywords}
    return bool(words & {"n", "frac", "replace"})


def test_no_file_makes_randomness_of_its_own():
    paths = sorted(path.relative_to(ENGINE).as_posix() for path in ENGINE.rglob("*.py"))
    assert DOOR in paths and set(ALLOWED) <= set(paths)
    found = [line for path in paths for line in findings((ENGINE / path).read_text(encoding="utf-8"), path)]
    assert found == []


@pytest.mark.parametrize(
    "source",
    [
        "import random",
        "import secrets\nsecrets.randbelow(6)",
        "import secrets as s\ns.token_bytes(6)",
        "from random import shuffle",
        "from secrets import token_bytes",
        "import numpy as np\nnp.random.laplace()",
        "import numpy\nnumpy.random.seed(0)",
        "import numpy.random",
        "import numpy.random as nr",
        "from numpy import random",
        "from numpy.random import default_rng",
        "import numpy as np\ndef f(generator: np.random.Generator = np.random.default_rng()): ...",
        "import numpy as np\nnp.random.Generator(np.random.PCG64())",
        "from numpy.random import Generator\nGenerator(x)",
        "import os\nos.urandom(8)",
        "import os as o\no.urandom(8)",
        "from os import urandom",
        "import uuid\nuuid.uuid4()",
        "norm(0, 1).rvs(10)",
        "LogisticRegression(random_state=0)",
        "KMeans(random_state=seed)",
        "frame.sample(frac=1)",
        "from sklearn.model_selection import train_test_split",
        "maker(seed=3)",
    ],
)
def test_would_find(source):
    assert findings(source)


@pytest.mark.parametrize(
    "source",
    [
        "import numpy as np\ndef f(x, *, generator: np.random.Generator): return generator.normal()",
        "from numpy.random import Generator\ndef f(generator: Generator): ...",
        "LogisticRegression(random_state=None)",
        "noise.discrete_laplace(scale, 3)",
        "import os\nos.replace(a, b)",
    ],
)
def test_leaves_alone(source):
    assert findings(source) == []


def test_the_list_of_exceptions_is_not_idle():
    for path, names in ALLOWED.items():
        source = (ENGINE / path).read_text(encoding="utf-8")
        assert {line.split(" ", 1)[1] for line in findings(source, "elsewhere.py")} == set(names), path


def test_a_test_draws_what_it_always_draws() -> None:
    def drawn(name: str) -> list[int]:
        with same_noise(name):
            kept = ordinary_generator().integers(2**40, size=2).tolist()
            return [*Noise().random_keys(4).tolist(), *Noise().random_keys(4).tolist(), *kept]

    assert drawn("one") == drawn("one") != drawn("another")
    assert len(set(drawn("one"))) == 10  # doors that are opened one after the other draw on
