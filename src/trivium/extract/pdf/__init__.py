"""Turns PDF bytes into elements with pages and boxes. Knows nothing of chunks.

The way of a page: `document` opens the file, `glyphs` reads its words with position and font
(`characters` says what odd ones mean, `forms` adds what was filled in),
`running` takes out line numbers, running heads and page numbers (`counting` finds those that
float), `layout` puts what is left in reading order with the help of `columns`, `bands` and
`direction` (lines that run left), `tables` finds tables and `grid` their rows and names,
`paragraphs` rebuilds paragraphs, `headings` finds headings, `flow` joins what columns and pages
part, `front` knows title, authors and year, `assemble` makes text and elements; `compose` is
the recipe. Pages without usable text go to a reader of images on the way (`scans`).
"""

from trivium.extract.pdf.extractor import PdfExtractor

__all__ = ["PdfExtractor"]
