"""What an auditor gets of a bundle: everything that can be checked, and nothing that opens anything.

The folder *release* as it is, the custodian's evidence and report in a folder *auditor*, and what the ledger
says of the register. Keys, the state of a service and whatever else a method keeps are left where they are:
the evidence names each with its sum, so that the custodian can show it.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from engine import texts
from engine.bounded import SUMS as LARGEST_SUMS
from engine.bounded import read_bytes, sha256
from engine.errors import InputRefused
from engine.ledger import Ledger
from engine.release import bundle, sealing
from engine.release.charge import tell_register
from engine.release.papers import read_evidence
from engine.release.readme import fingerprint
from engine.release.verify import verify


def write_auditor(
    folder: Path, out: Path, *, ledger: Ledger | None = None, language: str = "en"
) -> dict[str, Any]:
    """Write the auditor's bundle of a bundle into a new folder.

    Returns
    -------
    dict
        ``folder``, how many ``files`` are in it, and ``withheld``: what was left where it is.

    Raises
    ------
    InputRefused
        ``bundle.no_bundle``, ``sealing.is_sealed``, and what `engine.release.bundle.check_target` refuses.
    VerificationFailed
        The bundle does not agree with itself.
    """
    if sealing.is_sealed(folder):
        raise InputRefused("sealing.is_sealed", folder=folder.name)
    evidence, kept = read_evidence(folder)
    if kept is None:
        name = f"{bundle.INTERNAL}/{bundle.EVIDENCE}"
        raise InputRefused("bundle.no_bundle", folder=folder.name, file=name)
    bundle.check_target(out)
    for problem in verify(folder, ledger=ledger).problems:
        raise problem
    own = bundle.OWN_FILES["internal"]
    leaves = [*(folder / bundle.RELEASE).iterdir()]
    stays = [path for path in (folder / bundle.INTERNAL).iterdir() if path.name in own]
    withheld = [str(one["file"]) for one in kept.files]
    withheld += [f"{bundle.KEY}/{one['file']}" for one in kept.keys]
    register = {} if ledger is None else tell_register(ledger, str(evidence.ledger["entry"]))
    with bundle.explain_disk_errors(out):
        for part, files in ((bundle.RELEASE, leaves), (bundle.AUDITOR, stays)):
            (out / part).mkdir(mode=0o700, parents=True)
            for file in sorted(files):
                shutil.copyfile(file, out / part / file.name)
        if register:
            bundle.write(out / bundle.REGISTER, bundle.json_bytes(register))
        words = _words(out, withheld, bool(register), language)
        bundle.write(out / bundle.AUDITOR_README, words.encode())
    count = len(leaves) + len(stays) + 1 + bool(register)
    return {"folder": str(out), "files": count, "withheld": withheld}


def _words(out: Path, withheld: list[str], has_register: bool, language: str) -> str:
    """Say what is in the folder, what is not, and how to check it."""

    def sentence(name: str, **values: Any) -> str:
        return texts.text(f"papers.auditor.{name}", language=language, **values)

    sums = out / bundle.RELEASE / bundle.SUMS
    lines = [sentence("heading"), "", sentence("release"), sentence("auditor")]
    lines += [sentence("register" if has_register else "no_register"), ""]
    lines.append(sentence("withheld" if withheld else "nothing_withheld"))
    lines += [f"  {name}" for name in withheld]
    lines += ["", sentence("check", fingerprint=fingerprint(read_bytes(sums, LARGEST_SUMS))), ""]
    lines += [sentence("confidential")]
    lines += ["", f"{sha256(out / bundle.REGISTER)}  {bundle.REGISTER}"] if has_register else []
    return "\n".join(lines) + "\n"
