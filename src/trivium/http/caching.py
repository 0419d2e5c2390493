"""ETags: a caller that has the text of an interpretation needn't fetch it again.

Made only for documents that the caller may see; a matching tag doesn't get around that.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from starlette.requests import Request

from trivium.core.types import Document


@dataclass(frozen=True, slots=True)
class Tag:
    value: str

    @property
    def headers(self) -> dict[str, str]:
        # For this caller alone, and asked again each time: access may end at any moment.
        return {"ETag": self.value, "Cache-Control": "private, no-cache"}


def tag(document: Document, *parts: object) -> Tag:
    named = (document.id, document.content_hash, document.updated_at, *parts)
    digest = hashlib.sha256("\0".join(map(str, named)).encode()).hexdigest()
    return Tag(f'"{digest[:32]}"')


def not_modified(request: Request, etag: Tag) -> bool:
    tags = request.headers.get("if-none-match", "")
    return tags.strip() == "*" or etag.value in [
        text.strip().removeprefix("W/") for text in tags.split(",")
    ]
