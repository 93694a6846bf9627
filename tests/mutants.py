"""Faults made by hand, in all parts of the program: each has to be found by the tests beside it.

``python tests/mutants.py`` copies the tree aside, makes one fault at a time in the copy and runs the tests
that are named for it, of the set that must find it (``tests/tiers.py``). First the same tests have to pass
without any. A fault whose text is no longer in its file has to be made anew: it tells nothing.

``--only WORD`` tries those whose title or file has the word; ``--workers N`` as many at a time (2).
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

ROOT = Path(__file__).resolve().parents[1]
LONGEST = 1800  # seconds: a fault that makes tests hang has to be made anew
PASSED, FAILED = 0, 1  # exit statuses of pytest
ASIDE = shutil.ignore_patterns(".git", ".venv", "__pycache__", ".*_cache", "build", "dist", "pictures")


@dataclass(frozen=True)
class Mutant:
    """A fault.

    Parameters
    ----------
    title
        What goes wrong.
    file
        Where, from the top of the tree.
    text, instead
        What stands there, exactly once, and what is put in its place.
    tests
        Where the tests are that have to find it.
    tier
        Of which set they are: ``commit`` where the quick ones find it, else ``all``.
    """

    title: str
    file: str
    text: str
    instead: str
    tests: tuple[str, ...]
    tier: str = "commit"


def of(file: str, *tests: str) -> tuple[str, tuple[str, ...]]:
    """Return a file with the tests beside it."""
    return file, tuple(f"tests/{test}" for test in tests)


def made(
    place: tuple[str, tuple[str, ...]], title: str, text: str, instead: str, tier: str = "commit"
) -> Mutant:
    """Return a fault in a file."""
    return Mutant(title, place[0], text, instead, place[1], tier)


ENTRIES = of(
    "engine/ledger/entries.py", "engine/ledger/test_ledger.py", "engine/ledger/test_ledger_states.py"
)
JOURNAL = of("engine/ledger/journal.py", "engine/ledger/test_ledger_journal.py")
NOISE = of(
    "engine/privacy/noise.py", "engine/privacy/test_noise.py", "engine/privacy/test_noise_distribution.py"
)
RUN = of("engine/release/run.py", "engine/release/test_run.py", "engine/release/test_not_lost.py")
VERIFY = of("engine/release/verify.py", "engine/release/test_verify.py")
ACCOUNTS = of("engine/privacy/accounting.py", "engine/privacy/test_accounting.py")
PRICE = of("engine/pricing/cost.py", "engine/pricing/test_cost.py", "engine/pricing/test_views.py")
GROUPS = of("engine/risk/group_sizes.py", "engine/risk/test_group_sizes.py")
MOVED = of("engine/methods/shared/sensitivity.py", "engine/methods/statistics/test_means.py")
FLOW = of("app/state/flow.py", "app/test_flow.py")
DRAFT = of("app/state/draft.py", "app/test_window.py", "app/test_written_aside.py", "app/test_history.py")
KITS = of(
    "engine/methods/exchanges/kit.py",
    "engine/methods/exchanges/test_survey.py",
    "engine/methods/exchanges/test_reading.py",
)
READ = of("engine/methods/exchanges/reading.py", "engine/methods/exchanges/test_reading.py")
CHANNELS = "engine/privacy/channels/test_channels.py"
CURVES = of("engine/report/drawing/curves.py", "engine/report/test_report_drawing.py")
NAMES = of("engine/report/drawing/names.py", "engine/report/test_report_drawing.py")

MUTANTS = (
    # --- ledger ---
    made(
        ENTRIES,
        "the ledger pays a little more than it has",
        "if epsilon > holding.epsilon:",
        "if epsilon > 2 * holding.epsilon:",
    ),
    made(
        ENTRIES,
        "the last of a budget cannot be spent",
        "if epsilon > holding.epsilon:",
        "if epsilon >= holding.epsilon:",
    ),
    made(
        ENTRIES,
        "the last of δ cannot be spent",
        "elif delta > holding.delta:",
        "elif delta >= holding.delta > 0:",
    ),
    made(
        of(
            "engine/ledger/holdings.py",
            "engine/ledger/test_ledger.py",
            "engine/ledger/test_ledger_services.py",
        ),
        "a budget can be set to less than was spent",
        "used > whole:",
        "used > 2 * whole:",
    ),
    made(
        of("engine/ledger/services.py", "engine/ledger/test_ledger_services.py"),
        "visits spend more than was reserved",
        "if total > whole:",
        "if total > 2 * whole:",
    ),
    made(
        JOURNAL,
        "a changed line of the journal is believed",
        'if row["hash"] != hash_row(previous, row["event"]):',
        "if False:",
    ),
    made(
        JOURNAL, "a line taken out of the journal is not missed", 'if row["sequence"] != expected or ', "if "
    ),
    made(
        JOURNAL,
        "tables that the journal does not confirm are believed",
        "    _compare(db, state, path)\n",
        "",
    ),
    # --- surveys ---
    made(
        of("engine/privacy/channels/channel.py", CHANNELS),
        "lots tell a hair more than ε",
        "while made.hit > 1 and made.odds > 1 and made.event.epsilon() > epsilon:",
        "while False:",
    ),
    made(
        of("engine/privacy/channels/channel.py", CHANNELS),
        "a drawn report may name an answer twice",
        "reported[:, place] < reported[:, place + 1]",
        "reported[:, place] <= reported[:, place + 1]",
    ),
    made(
        READ, "a report may name an answer twice", "said[:, 1:] > said[:, :-1]", "said[:, 1:] >= said[:, :-1]"
    ),
    made(READ, "what stands before a is a digit", " & ((digits > 9) == above)", ""),
    made(
        of("engine/methods/exchanges/collected.py", "engine/methods/exchanges/test_survey.py"),
        "reports of another time are those of the first",
        ">= SAME_TIME",
        ">= 0",
    ),
    made(
        of("engine/methods/exchanges/asking.py", "engine/methods/exchanges/test_survey.py"),
        "what is more exact comes before what made-up reports move",
        "key=lambda kit: (kit.moved > ROBUST, largest_error(kit))",
        "key=largest_error",
    ),
    made(KITS, "a drawn question tells as little as the least", "else max(levels)", "else min(levels)"),
    made(READ, "a mistyped report counts", "digits if checked.all() else digits[checked]", "digits"),
    made(
        of("engine/methods/exchanges/estimating.py", "engine/methods/exchanges/test_estimating.py"),
        "a share that can say nothing is printed",
        "return (self.high - self.low) / 2 <= SAYS_NOTHING\n",
        "return True\n",
    ),
    # --- noise and its accounts ---
    made(NOISE, "a coin falls a hair too often", "below = words < threshold", "below = words <= threshold"),
    made(NOISE, "zero counts twice in Laplace noise", "[~(negative & (magnitude == 0))]", ""),
    made(NOISE, "one draw at a time: zero counts twice", "if magnitude or not negative:", "if True:", "all"),
    made(NOISE, "half the exponent of Gaussian noise", "1 / (2 * variance)", "1 / (4 * variance)"),
    made(
        of(
            "engine/privacy/mechanisms/discrete_laplace.py",
            "engine/privacy/test_mechanisms.py",
            "engine/methods/statistics/test_counts.py",
        ),
        "half the scale",
        "return self.sensitivity / self.epsilon",
        "return self.sensitivity / (2 * self.epsilon)",
    ),
    made(
        of(
            "engine/privacy/mechanisms/permute_and_flip.py",
            "engine/privacy/test_mechanisms.py",
            "engine/privacy/test_exact_exponential.py",
            "engine/battery",
        ),
        "a choice at twice its rate",
        "return self.epsilon / (2 * self.sensitivity)",
        "return self.epsilon / self.sensitivity",
    ),
    made(
        of("engine/privacy/contribution.py", "engine/privacy/test_contribution.py"),
        "one row more than the cap",
        "starts + cap - 1",
        "np.minimum(starts + cap, ordered.size - 1)",
    ),
    made(
        of("engine/privacy/contribution.py", "engine/privacy/test_contribution.py"),
        "rows of nobody are kept",
        "    kept &= codes >= 0\n",
        "",
    ),
    made(
        of("engine/privacy/fixed_point.py", "engine/privacy/test_fixed_point.py"),
        "large sums overflow",
        "if grid.size * largest < LARGEST_SUM",
        "if True",
    ),
    made(
        ACCOUNTS,
        "a promise may claim less than its events cost",
        "holds = pure <= loss.epsilon",
        "holds = pure <= 2 * loss.epsilon",
    ),
    made(
        ACCOUNTS,
        "the δ of mechanisms is not added up",
        "sum((two for _, two in known), Fraction(0))",
        "Fraction(0)",
    ),
    made(
        ACCOUNTS,
        "the stricter of two neighbours is forgotten",
        "return Neighbours.REPLACE_ONE if Neighbours.REPLACE_ONE in used else Neighbours.ADD_REMOVE",
        "return Neighbours.ADD_REMOVE",
    ),
    # --- price ---
    made(
        PRICE,
        "money without end is a level without end too late",
        "if spare >= growth:",
        "if spare >= 2 * growth:",
    ),
    made(
        PRICE,
        "the least amount is not taken off",
        "spare = amount - self.people * self.minimum",
        "spare = amount",
    ),
    made(
        of("engine/pricing/posterior.py", "engine/pricing/test_views.py", "engine/pricing/test_more.py"),
        "the prior is forgotten",
        "gain = math.log(limit / (1 - limit)) - math.log(p / (1 - p))",
        "gain = math.log(limit / (1 - limit))",
    ),
    # --- risk ---
    made(GROUPS, "groups of k count as under k", "total[total < k]", "total[total <= k]"),
    made(
        of("engine/risk/thresholds.py", "engine/risk/test_thresholds.py"),
        "a probability is rounded to a smaller group",
        "max(2, ceil(1 / risk))",
        "max(2, int(1 / risk))",
    ),
    # --- methods ---
    made(MOVED, "an exchanged row moves sums by one row only", "else 2 * most)", "else most)"),
    made(
        MOVED, "means move by half where one is exchanged", "return 2 * n * min(m, g)", "return n * min(m, g)"
    ),
    made(
        of("engine/methods/shared/rank_choices.py", "engine/methods/statistics/test_rank_choices.py"),
        "scores of ranks are thought to lie closer",
        "return 2 * max(wanted, 1 - wanted)",
        "return max(wanted, 1 - wanted)",
    ),
    made(
        of(
            "engine/methods/datasets/partition.py",
            "engine/methods/datasets/test_partition.py",
            "engine/methods/datasets/test_k_anonymity.py",
        ),
        "groups of one fewer than k",
        "holds = np.bincount(number, self.weight[own], count) >= self.k",
        "holds = np.bincount(number, self.weight[own], count) >= self.k - 1",
    ),
    made(
        of("engine/methods/datasets/microaggregation.py", "engine/methods/datasets/test_microaggregation.py"),
        "the last group may be too small",
        "while left.count >= 3 * k:",
        "while left.count >= 2 * k + 1:",
    ),
    made(
        of("engine/methods/datasets/anatomy.py", "engine/methods/datasets/test_anatomy.py"),
        "a bucket has a value twice",
        "choice(np.flatnonzero(~has_it))",
        "choice(made)",
    ),
    made(
        of("engine/methods/datasets/rule_hiding.py", "engine/methods/datasets/test_rule_hiding.py"),
        "a rule stays just as frequent as it may not be",
        "rare = found.both < max(1.0,",
        "rare = found.both <= max(1.0,",
    ),
    made(
        of(
            "engine/privacy/mechanisms/seeded_rows.py",
            "engine/methods/datasets/seeds",
            "engine/methods/datasets/test_seedbased.py",
        ),
        "a small crowd passes as a large one",
        "max(self.threshold - size, 0)",
        "max(self.threshold - size - 3, 0)",
    ),
    made(
        of("engine/methods/services/private_queries.py", "engine/methods/services/test_private_queries.py"),
        "answers may cost more than is left",
        "    if desk.terms.takes(levels) > desk.left:\n",
        "    if desk.terms.takes(levels) > 2 * desk.left:\n",
        "all",
    ),
    made(
        of("engine/methods/services/combining.py", "engine/methods/services/test_combining.py"),
        "rows that were drawn in different visits are put together",
        "    return visit if terms.by_person else 0\n",
        "    return 0\n",
    ),
    made(
        of("engine/methods/services/asked.py", "engine/methods/services/test_kinds.py"),
        "a mean is noised as if it were half a range",
        "return terms.moved * (self.reach if self.kind == MEAN else 1)",
        "return terms.moved * (self.reach // 2 if self.kind == MEAN else 1)",
    ),
    made(
        of("engine/privacy/mechanisms/clear_counts.py", "engine/privacy/test_clear_counts.py"),
        "a cell of one person leaves more often than delta",
        "exp_minus_bracket((threshold - 1) / scale, _BITS)",
        "exp_minus_bracket(threshold / scale, _BITS)",
    ),
    made(
        of("engine/privacy/mechanisms/sparse_vector.py", "engine/privacy/test_sparse_vector.py"),
        "a list of thresholds pays for one answer above, however many there are",
        "turns * change / ((1 - first) * self.epsilon)",
        "change / ((1 - first) * self.epsilon)",
    ),
    made(
        of("engine/methods/services/planning.py", "engine/methods/services/test_planning.py"),
        "a planned question is less exact than alone",
        "levels * sqrt(float((found / allowed).max()))",
        "levels * 0.9 * sqrt(float((found / allowed).max()))",
    ),
    made(
        of("engine/methods/statistics/density.py", "engine/methods/statistics/test_density.py"),
        "the products of waves are taken as no longer than the waves of one column",
        "return ceil((rows * (FINE * sqrt(length**columns) + rounding)) ** 2)",
        "return ceil((rows * (FINE * sqrt(length) + rounding)) ** 2)",
        "all",
    ),
    made(
        of(
            "engine/methods/shared/rows.py",
            "engine/methods/datasets/test_nothing_else_leaves.py",
            "engine/methods/datasets/test_recoding.py",
            "engine/methods/datasets/test_masking.py",
        ),
        "rows leave in the order of the table",
        "    order = chance.permutation(len(frame))\n    rows",
        "    order = np.arange(len(frame))\n    rows",
    ),
    # --- release ---
    made(
        RUN,
        "noise is drawn before it is paid for",
        "            noise = _door(door, spend)",
        "            noise = _door(door, lambda: None)",
    ),
    made(
        RUN,
        "what saw noise is given back",
        '        elif state == "spent":\n            ledger.fail(entry)',
        "",
    ),
    made(RUN, "seeded noise makes a release", "if type(noise) is not Noise:", "if False:"),
    made(
        VERIFY,
        "a file too many is not seen",
        "if not is_beside_sums(part / file):",
        "if False:",
        "all",
    ),
    made(
        VERIFY,
        "a changed file is not seen by its sum",
        "elif _sha256(part / file) != recorded[file] and",
        "elif False and",
        "all",
    ),
    made(
        VERIFY,
        "both folders may tell of different releases",
        "    if kept == left:\n",
        "    if True:\n",
        "all",
    ),
    made(
        of("engine/release/naming.py", "engine/release/test_naming.py"),
        "a column of people's names leaves without a reason",
        "without = [one for one in found if not reason_for(plan, one.column)]",
        "without = []",
        "all",
    ),
    made(
        of(
            "engine/release/charge.py",
            "engine/release/test_run.py",
            "engine/release/test_protocol_run.py",
            "engine/release/test_known_people.py",
        ),
        "a new register is made for more than it has",
        "        if asked > whole:\n",
        "        if asked > 2 * whole:\n",
    ),
    # --- tables and reports ---
    made(
        of(
            "engine/table/reading/header.py",
            "engine/table/reading/test_formats.py",
            "engine/table/reading/test_odd_files.py",
        ),
        "values are read as names",
        "if numbers_over_numbers >= text_over_numbers:",
        "if False:",
    ),
    made(
        of("engine/table/cells.py", "engine/table/test_cells.py"),
        "infinite numbers are read",
        "np.where(np.isfinite(read), read, np.nan)",
        "read",
    ),
    made(
        of("engine/table/suggest/profile.py", "engine/table/suggest", "engine/release/test_naming.py"),
        "a number of its own in each row names nobody",
        "return self.filled >= 20 and self.distinct == self.filled",
        "return self.filled >= 20 and self.distinct > self.filled",
    ),
    made(
        CURVES,
        "a curve stands on its head",
        "    down = Scale(high, (canvas.height - 3.3 * size, 2.4 * size + above))",
        "    down = Scale(high, (2.4 * size + above, canvas.height - 3.3 * size))",
    ),
    made(
        NAMES,
        "names of points lie over each other",
        "    if meet(one.box, other.box):\n        return False\n",
        "",
    ),
    # --- window ---
    made(
        FLOW,
        "a new register cannot spend its last cent",
        "asked.epsilon > whole.epsilon",
        "asked.epsilon >= whole.epsilon",
    ),
    made(
        of("app/state/settings.py", "app/test_written_aside.py"),
        "a draft is written straight into its place",
        'aside = path.with_name(path.name + ".part")',
        "aside = path",
    ),
    made(
        of("app/screens/risk/cards.py", "app/test_group_histogram.py"),
        "all bars of the histogram are of one height",
        "QRectF(left, floor, width, room * people / top)",
        "QRectF(left, floor, width, room)",
    ),
    made(
        DRAFT,
        "copied cells stay in a draft",
        "labels={value: label for value, label in column.labels.items() if value not in copied},",
        "labels=column.labels,",
    ),
    made(
        of("app/state/study.py", "app/test_study.py"),
        "a stale result is kept and shown",
        "if plan is not self._plan and fingerprint(name, plan) != self._current(name):",
        "if False:",
    ),
    made(
        of("app/work/jobs.py", "app/test_jobs.py"),
        "cancelling is not heard",
        "        job.stopping.set()\n        handler = job",
        "        handler = job",
    ),
    made(
        of("app/state/history.py", "app/test_history.py"),
        "what was undone comes back",
        "        del self._moments[self._now + 1 :]\n",
        "",
    ),
    made(
        of(
            "app/log.py",
            "app/test_window.py",
            "app/test_unbounded.py",
            "engine/test_examples_in_docstrings.py",
        ),
        "the log quotes what an exception says",
        "lines = [type(error).__name__]",
        "lines = [repr(error)]",
    ),
)


def copied(folder: Path) -> Path:
    """Return a copy of the tree."""
    return Path(shutil.copytree(ROOT, folder / "tree", ignore=ASIDE, symlinks=True))


def tried(tree: Path, tier: str, tests: Sequence[str]) -> tuple[int | None, str]:
    """Run tests of a tier in a copy; return pytest's exit status (None: too long) and its words."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-m", "not benchmark"]
    try:
        done = subprocess.run(
            [*command, "--tier", tier, "--changed", "", *tests],
            cwd=tree,
            env={**os.environ, "QT_QPA_PLATFORM": "offscreen", "CUSTOS_EXAMPLES": tier},
            capture_output=True,
            text=True,
            timeout=LONGEST,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None, "took too long"
    return done.returncode, done.stdout[-1500:]


def judged(mutant: Mutant, tree: Path) -> str:
    """Make a fault in a copy and run its tests; return what is wrong, nothing if it was found."""
    place = tree / mutant.file
    source = place.read_text(encoding="utf-8")
    if source.count(mutant.text) != 1:
        return f"its text stands {source.count(mutant.text)} times in {mutant.file}"
    compiled = Path(importlib.util.cache_from_source(str(place)))
    try:
        compiled.unlink(missing_ok=True)
        place.write_text(source.replace(mutant.text, mutant.instead), encoding="utf-8")
        status, words = tried(tree, mutant.tier, mutant.tests)
    finally:
        place.write_text(source, encoding="utf-8")
        compiled.unlink(missing_ok=True)
    if status == FAILED:
        return ""
    return "was not found" if status == PASSED else f"could not be tried (status {status}): {words}"


def main() -> int:
    """Try all that was asked for; the exit status is 1 where one was not found or could not be tried."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--only", default="")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument(
        "--no-baseline", action="store_true", help="the tests have just passed without a fault"
    )
    asked = parser.parse_args()
    chosen = [one for one in MUTANTS if asked.only in one.title or asked.only in one.file]
    with tempfile.TemporaryDirectory() as folder:
        free: SimpleQueue[Path] = SimpleQueue()
        for worker in range(asked.workers):
            free.put(copied(Path(folder) / str(worker)))

        def whole(tier: str) -> tuple[int | None, str]:
            tree = free.get()
            tests = sorted({test for one in chosen if one.tier == tier for test in one.tests})
            found = tried(tree, tier, tests) if tests else (PASSED, "")
            free.put(tree)
            return found

        def one(mutant: Mutant) -> str:
            tree = free.get()
            found = judged(mutant, tree)
            free.put(tree)
            print(
                f"{'found' if not found else 'NOT OK':7} {mutant.title}{found and f': {found}'}", flush=True
            )
            return found

        with ThreadPoolExecutor(asked.workers) as pool:
            for status, words in pool.map(whole, () if asked.no_baseline else ("commit", "all")):
                if status != PASSED:
                    print(f"Without any fault the tests do not pass:\n{words}")
                    return 1
            wrong = [title for title in pool.map(one, chosen) if title]
    print(f"{len(chosen) - len(wrong)} of {len(chosen)} faults were found")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
