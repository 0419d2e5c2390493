"""Makes extractions fit for every store: the only place where they are cleaned.

Removes NUL, halves of surrogate pairs and boxes that aren't finite, limits metadata, and adjusts
the elements' offsets. Knows nothing of formats.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from math import isfinite

from trivium.core.types import Box, Chunk, Element, Extraction, Metadata, Place
from trivium.text.values import clean_metadata, clean_text, is_clean, shortened_at

DROPPED = "dropped_metadata"  # metadata: names of fields whose values could not be kept

_NOWHERE = Place()


def cleaned(extraction: Extraction) -> Extraction:
    """Returns the same extraction if nothing is wrong with it, which is nearly always."""
    text = clean_text(extraction.text)
    chunked = extraction.chunked
    if chunked is not None and not (
        text is extraction.text and is_clean(chunked.summary) and all(map(_is_kept, chunked.chunks))
    ):
        raise ValueError("chunks of a text that is not clean")  # their reader cleaned it before
    gone = [] if text is extraction.text else shortened_at(extraction.text)
    return replace(
        extraction,
        text=text,
        elements=_elements(extraction.elements, gone),
        title=clean_text(extraction.title),
        media_type=clean_text(extraction.media_type),
        language=clean_text(extraction.language),
        metadata=cleaned_metadata(extraction.metadata),
        enclosed=tuple(
            enclosed
            if is_clean(enclosed.name)
            else replace(enclosed, name=clean_text(enclosed.name) or "file")
            for enclosed in extraction.enclosed
        ),
        reader=clean_text(extraction.reader),
    )


def cleaned_metadata(metadata: Metadata) -> Metadata:
    """With the names of the fields that lost something, if any did."""
    fields, lost = clean_metadata(metadata)
    if not lost:
        return fields
    before = fields.get(DROPPED, ())
    return {**fields, DROPPED: (*before, *lost) if isinstance(before, tuple) else lost}


def _elements(elements: tuple[Element, ...], gone: Sequence[int]) -> tuple[Element, ...]:
    if not gone and all(map(_is_kept, elements)):
        return elements
    return tuple(
        element for element in map(partial(_element, gone), elements) if element.start < element.end
    )


def _element(gone: Sequence[int], element: Element) -> Element:
    place = element.place
    return replace(
        element,
        start=element.start - bisect_left(gone, element.start),
        end=element.end - bisect_left(gone, element.end),
        headings=tuple(map(clean_text, element.headings)),
        header=clean_text(element.header),
        place=replace(
            place,
            boxes=tuple(box for box in place.boxes if _is_finite(box)),
            sheet=clean_text(place.sheet),
            authors=tuple(map(clean_text, place.authors)),
            time=clean_text(place.time),
            link=clean_text(place.link),
        ),
    )


def _is_kept(element: Element | Chunk) -> bool:
    """Whether there is nothing to clean. Runs for every element, so it is cheap."""
    place = element.place
    if not (is_clean(element.header) and all(map(is_clean, element.headings))):
        return False
    if place is _NOWHERE:
        return True
    texts = (place.sheet, place.time, place.link, *place.authors)
    return all(map(is_clean, texts)) and all(map(_is_finite, place.boxes))


def _is_finite(box: Box) -> bool:
    return isfinite(box.left + box.top + box.right + box.bottom)
