"""Reports that the program makes itself: the same document as HTML and as PDF, for outside and for inside.

A report says what the evidence beside it says, and nothing else: it is made from the written bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.report.document import Document


def external_document(written: bytes) -> Document:
    """Return the report for the recipient that public evidence gives."""
    from hashlib import sha256

    from engine import strict_json
    from engine.evidence import read_public
    from engine.report import content

    return content.external(read_public(strict_json.loads(written)), sha256(written).hexdigest())


def internal_document(written: bytes) -> Document:
    """Return the report that stays, from internal evidence."""
    from engine import strict_json
    from engine.evidence import read_internal, read_public
    from engine.report import content

    tree = strict_json.loads(written)
    return content.internal(read_public(tree), read_internal(tree))
