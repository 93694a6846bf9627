"""Three sites, a coordinator, and vantage6's own mock network between them: a study from card to result.

Run it with vantage6-algorithm-tools (tried with 4.15.2), from this folder:

    pip install vantage6-algorithm-tools
    CUSTOS="custos" python vantage6_mock.py FOLDER
"""

from __future__ import annotations

import base64
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

from vantage6.algorithm.tools.mock_client import MockAlgorithmClient

SITES = ("North", "South", "Town")
ROWS = 300
READ = {
    "format": "text",
    "delimiter": ",",
    "encoding": "utf-8",
    "header": True,
    "skip_rows": 0,
    "decimal": ".",
    "thousands": "",
    "quote": "",
    "escape": "",
    "line_ends": "\n",
    "multiline": False,
    "date_order": "ymd",
    "width": 2,
}


def custos(*words: str | Path) -> Any:
    """Return what a command of the program answers."""
    command = [*shlex.split(os.environ.get("CUSTOS", "custos")), *map(str, words), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)


def plan_of(file: str, holding: str) -> dict[str, Any]:
    """Return a plan that counts people by sex."""
    key = {"name": "id", "role": "person_key", "kind": "integer"}
    sex = {"name": "sex", "role": "other", "kind": "category", "domain": {"values": ["f", "m"]}}
    columns = [key, {**sex, "domain_origin": "declared"}]
    return {
        "version": 1,
        "method": "statistics.counts",
        "method_version": 1,
        "files": {"people": {"path": file, "options": READ}},
        "schemas": {"people": {"version": 1, "rows_per_person": 1, "columns": columns}},
        "parameters": {"columns": ["sex"]},
        "budget": {"epsilon": 1, "delta": 0, "neighbours": "add_remove"},
        "holding": holding,
        "purpose": {"title": "People by sex", "recipient": "The study"},
    }


def main(folder: Path) -> None:
    """Play all parts in a new folder, and print the total beside the exact one."""
    folder = folder.absolute()
    cards, exact = [], 0
    for number, name in enumerate(SITES):
        own = folder / str(number)
        own.mkdir(parents=True)
        lines = [f"{row},{'f' if row % (number + 2) else 'm'}" for row in range(ROWS)]
        exact += sum(line.endswith("f") for line in lines)
        (own / "people.csv").write_text("\n".join(("id,sex", *lines)) + "\n", encoding="utf-8")
        (own / "plan.json").write_text(json.dumps(plan_of("people.csv", name)), encoding="utf-8")
        site = {"name": name, "plan": "plan.json", "ledger": "ledger.sqlite"}
        (own / "site.json").write_text(json.dumps(site), encoding="utf-8")
        card, ledger = own / "site.card", own / "ledger.sqlite"
        custos("study", "card", name, "--name", name, "--epsilon", "1", "--ledger", ledger, "--out", card)
        cards.append(card)
    plan, study, centre = folder / "0" / "plan.json", folder / "the-study", folder / "centre.sqlite"
    register = ("--register", "Centre", "--ledger", centre)
    custos("study", "new", plan, *cards, "--name", "Centre", *register, "--out", study)

    os.environ["CUSTOS_SITES"] = str(folder)
    client = MockAlgorithmClient(datasets=[[] for _ in SITES], module="vantage6_share")
    asked = {"study": study.read_text(encoding="utf-8"), "organizations": list(range(len(SITES)))}
    task = client.task.create(input_={"method": "collect", "kwargs": asked}, organizations=[0])
    told = client.wait_for_results(task_id=task["id"])
    (collected,) = (json.loads(one) if isinstance(one, str) else one for one in told)

    shares = []
    for one in (json.loads(one) if isinstance(one, str) else one for one in collected):
        place = folder / f"{one['name']}.custos-share"
        place.write_bytes(base64.b64decode(one["share"], validate=True))
        shares.append(place)
    custos("study", "combine", study, *shares, *register, "--out", folder / "result")
    heading, first, *_ = (
        (folder / "result" / "release" / "counts.csv").read_text(encoding="utf-8").split("\n")
    )
    print(heading, first, f"exact: {exact}", sep="\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
