"""Sign a release with a certificate from a file or a card: its report (PAdES), its sums (detached CMS).

The program signs sums with a PKCS#12 file itself (``custos certify``). This does it with a card too
(PKCS#11), and signs the report inside the PDF, with pyHanko, which brings libraries of 78 MB along and is
installed apart from the program: ``pip install "pyhanko[pkcs11]"``. ``custos verify`` names what was signed
so, and refuses a report where anything else was appended.

    python sign_report.py RELEASE --p12 FILE --passphrase-file FILE
    python sign_report.py RELEASE --pkcs11 LIBRARY --token LABEL --certificate LABEL --passphrase-file FILE
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from io import BytesIO
from pathlib import Path
from typing import Any

from pyhanko.pdf_utils.incremental_writer import IncrementalPdfFileWriter
from pyhanko.sign import fields, signers

SUMS, SIGNED_SUMS = "SHA256SUMS", "SHA256SUMS.p7s"
DIGEST = "sha256"


def main(arguments: list[str] | None = None) -> int:
    """Do what the command line says and return the exit status."""
    parser = argparse.ArgumentParser(description="Sign a release with a certificate.")
    parser.add_argument("release", type=Path, help="the folder that is handed over")
    kind = parser.add_mutually_exclusive_group(required=True)
    kind.add_argument("--p12", type=Path, help="certificate and key in a PKCS#12 file")
    kind.add_argument("--pkcs11", metavar="LIBRARY", help="the library of a card or a token")
    parser.add_argument("--token", help="label of the token")
    parser.add_argument("--certificate", help="label of the certificate, and of its key, on the token")
    parser.add_argument(
        "--passphrase-file", type=Path, required=True, help="its first line: passphrase or PIN"
    )
    options = parser.parse_args(arguments)
    secret = options.passphrase_file.read_text(encoding="utf-8").split("\n")[0]
    reports = sorted(options.release.glob("report-external*.pdf"))
    if not reports or not (options.release / SUMS).is_file():
        print(f"{options.release} is no release: its report or its sums are not there.", file=sys.stderr)
        return 2
    signer = of_file(options.p12, secret) if options.p12 else of_card(options, secret)
    if signer is None:
        print("The certificate could not be opened with this passphrase.", file=sys.stderr)
        return 2
    sign(options.release, reports, signer)
    return 0


def of_file(path: Path, passphrase: str) -> Any:
    """Return what signs with the key of a PKCS#12 file; None where it does not open."""
    return signers.SimpleSigner.load_pkcs12(path, passphrase=passphrase.encode())


def of_card(options: argparse.Namespace, pin: str) -> Any:
    """Return what signs with a key that stays on its card."""
    from pyhanko.config.pkcs11 import TokenCriteria
    from pyhanko.sign.pkcs11 import PKCS11Signer, open_pkcs11_session

    token = TokenCriteria(label=options.token)
    session = open_pkcs11_session(options.pkcs11, token_criteria=token, user_pin=pin)
    return PKCS11Signer(
        session, cert_label=options.certificate, use_raw_mechanism=True
    )  # which all cards have


def sign(release: Path, reports: list[Path], signer: Any) -> None:
    """Sign reports and sums: everything is made before the first file is replaced."""
    made = {path: signed_report(path.read_bytes(), signer) for path in reports}
    sums = (release / SUMS).read_bytes()  # of the report as the program made it, which the signature keeps
    content = asyncio.run(signer.async_sign_general_data(sums, digest_algorithm=DIGEST, detached=True))
    made[release / SIGNED_SUMS] = content.dump()
    for path, signed in made.items():
        new = path.with_name(f".{path.name}.new")
        new.write_bytes(signed)
        new.replace(path)
        print(path.name)


def signed_report(report: bytes, signer: Any) -> bytes:
    """Return a report with a PAdES signature appended; what stands before it is not changed."""
    about = signers.PdfSignatureMetadata(
        field_name="Signature", subfilter=fields.SigSeedSubFilter.PADES, md_algorithm=DIGEST
    )
    written = IncrementalPdfFileWriter(BytesIO(report))
    signed = bytes(signers.sign_pdf(written, about, signer=signer).getvalue())
    assert signed.startswith(report)
    return signed


if __name__ == "__main__":
    sys.exit(main())
