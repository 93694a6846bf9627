"""The logical structure of a PDF: headings, paragraphs, lists, tables, figures, nested, for screen readers.

fpdf2 builds a flat list of marked contents. This builder keeps the tree: groups (a table, a row) hold other
groups or leaves (a heading, a cell), and every leaf knows the pieces of page content that belong to it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from fpdf.output import OutputProducer, PDFPage
from fpdf.structure_tree import StructElem, StructureTreeBuilder
from fpdf.syntax import PDFArray, PDFObject


class Element(StructElem):
    """A structure element with attributes of its own, for instance the scope of a heading cell."""

    def __init__(self, kind: str, parent: PDFObject, *, alt: str | None = None, scope: str = "") -> None:
        super().__init__(f"/{kind}", parent, [], alt=alt)
        self.a = f"<</O /Table /Scope /{scope}>>" if scope else None

    def place(self, page: int) -> None:
        """Remember the first page that the element stands on."""
        if self._page_number is None:
            self._page_number = page


class Tags(StructureTreeBuilder):
    """The tree of one document, filled in reading order."""

    def __init__(self) -> None:
        super().__init__()
        self._open: list[Any] = [self.doc_struct_elem]
        self._elements: list[Element] = []
        self._pieces: dict[int, int] = {}

    @contextmanager
    def group(self, kind: str, page: int) -> Iterator[None]:
        """Put everything that is written inside below an element of this kind."""
        self._open.append(self._add(kind, page))
        try:
            yield
        finally:
            self._open.pop()

    def leaf(self, kind: str, page: int, *, alt: str | None = None, scope: str = "") -> tuple[int, int]:
        """Add an element for one piece of content; return its number on the page and the page's own."""
        element = self._add(kind, page, alt=alt, scope=scope)
        piece = self._pieces.get(page, 0)
        self._pieces[page] = piece + 1
        element.k.append(piece)
        parents = self.spid_per_page_number.setdefault(page, len(self.spid_per_page_number))
        self.struct_tree_root.parent_tree.nums[parents].append(element)
        return piece, parents

    def _add(self, kind: str, page: int, *, alt: str | None = None, scope: str = "") -> Element:
        parent = self._open[-1]
        element = Element(kind, parent, alt=alt, scope=scope)
        element.place(page)
        parent.k.append(element)
        self._elements.append(element)
        return element

    def elements(self) -> tuple[Element, ...]:
        """Return every element below the document, in reading order."""
        return tuple(self._elements)

    def __iter__(self) -> Iterator[PDFObject]:
        yield self.struct_tree_root
        yield self.doc_struct_elem
        yield self.struct_tree_root.parent_tree
        yield from self._elements


class TaggedOutput(OutputProducer):
    """Writes the file; tells nested elements too which page they stand on."""

    def _add_structure_tree(self) -> PDFObject | None:
        root = super()._add_structure_tree()
        pages = [item for item in self.pdf_objs if isinstance(item, PDFPage)]
        tree = self.fpdf.struct_builder
        if isinstance(tree, Tags):
            for element in tree.elements():
                element.pg = pages[(element.page_number() or 1) - 1]  # type: ignore[assignment]
                element.k = PDFArray(element.k)
        return root
