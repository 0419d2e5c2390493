"""How much tokens may add and collections may hold, and how much they do. Knows nothing of who
asks how often: servers count searches."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from trivium.config import Settings
from trivium.core.access import AccessToken, Caller, Quota
from trivium.core.errors import BadSetting, QuotaExceeded
from trivium.core.types import Document
from trivium.ports import Backend, SenderUsage

_LIMITS = re.compile(r"(?:(\d+) documents?)?(?:, ?)?(?:(\d+) bytes)?")


@dataclass(frozen=True, slots=True)
class Use:
    documents: int = 0
    bytes: int = 0

    def and_(self, more: SenderUsage) -> Use:
        return Use(self.documents + more.documents, self.bytes + more.bytes)


class Quotas:
    def __init__(self, backend: Backend, settings: Settings) -> None:
        """Raises BadSetting."""
        s = settings
        self._backend = backend
        self._usual = Quota(s.quota_documents, s.quota_bytes, s.quota_searches)
        self.collections = read_collections(s.quota_collections)

    def of(self, caller: Caller) -> Quota:
        """A token's own limits, and where it has none those of the settings, which owners don't
        have."""
        return caller.quota if caller.is_owner else caller.quota.or_(self._usual)

    def used(self) -> tuple[dict[str, Use], dict[str, Use]]:
        """What each sender and each collection has."""
        senders: dict[str, Use] = {}
        collections: dict[str, Use] = {}
        for part in self._backend.documents.usage():
            senders[part.sender] = senders.get(part.sender, Use()).and_(part)
            collections[part.collection] = collections.get(part.collection, Use()).and_(part)
        return senders, collections

    def of_collections(self) -> dict[str, dict[str, int]]:
        """Use and limits of those that have limits."""
        used = self.used()[1] if self.collections else {}
        return {
            name: {
                **asdict(used.get(name, Use())),
                "most_documents": quota.documents,
                "most_bytes": quota.bytes,
            }
            for name, quota in self.collections.items()
        }

    def of_tokens(
        self, tokens: Sequence[AccessToken], searches: Mapping[str, int] | None = None
    ) -> list[tuple[AccessToken, Quota, dict[str, int]]]:
        """Each token's limits and use. `searches`: of callers, in the last minute."""
        senders, _ = self.used()
        rows = []
        for token in tokens:
            caller = token.caller
            use = asdict(senders.get(caller.id, Use()))
            use["searches"] = (searches or {}).get(caller.id, 0)
            rows.append((token, self.of(caller), use))
        return rows

    def check(
        self, caller: Caller, collection: str, size: int, before: Document | None, waiting: Use
    ) -> None:
        """Whether someone may add this many bytes: as a new document, or as a version of `before`.
        `waiting`: what they have sent that isn't added yet. Raises QuotaExceeded."""
        new = Use(0, size - before.size) if before else Use(1, size)
        self._check(self.of(caller), "You may", new, waiting, sender=caller.id)
        limit = self.collections.get(collection, Quota())
        who = f"The collection {collection} may"
        self._check(limit, who, new, waiting, collection=collection)

    def _check(self, quota: Quota, who: str, new: Use, waiting: Use, **of: str) -> None:
        if not (quota.documents or quota.bytes):
            return
        use = waiting.and_(SenderUsage("", "", new.documents, new.bytes))
        for part in self._backend.documents.usage(**of):
            use = use.and_(part)
        for name in ("documents", "bytes"):
            most, total = getattr(quota, name), getattr(use, name)
            if most and total > most and getattr(new, name) > 0:
                raise QuotaExceeded(f"{who} have {most:,} {name}, and this would make {total:,}.")


def read_collections(text: str) -> dict[str, Quota]:
    """`quota.collections`: one line for each, `NAME = 1000 documents, 5000000000 bytes`."""
    quotas = {}
    for line in filter(None, map(str.strip, text.replace(";", "\n").splitlines())):
        name, _, limit = line.rpartition(" = ")
        limits = _LIMITS.fullmatch(limit.strip())
        if not name.strip() or limits is None or not any(limits.groups()):
            raise BadSetting(
                f"`quota.collections` can't be read at {line[:80]!r}.",
                fix="Write `NAME = 1000 documents, 5000000000 bytes`, one line for each.",
            )
        quotas[name.strip()] = Quota(int(limits[1] or 0), int(limits[2] or 0))
    return quotas
