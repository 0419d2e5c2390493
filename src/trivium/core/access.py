"""Who asks, and what they may see: access tokens and callers.

A token is `trv_ID_SECRET`: a public id to find it by, and 256 random bits. Trivium keeps only the
secret's SHA-256. A slow hash such as bcrypt protects secrets that people choose; nobody can try
2^256 of them, and every request would pay for the hash. Knows nothing of stores or HTTP.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from trivium.core.errors import BadSetting, RightMissing, SessionExpired, TokenRefused
from trivium.core.types import EVERYONE, AllOf, Condition, Where

PREFIX = "trv"
_TOKEN = re.compile(rf"{PREFIX}_([0-9a-f]{{12}})_([A-Za-z0-9_-]{{43}})")
_SECRET_BYTES = 32
MOST_OF_QUOTA = 10**15  # of anything that a quota limits
_LABEL = re.compile(r"[^\x00-\x1f\x7f]{1,200}")  # of an audience or a collection
_PERIOD = re.compile(r"(\d{1,6})(m|h|d|w)")
_UNITS = {"m": 60, "h": 3600, "d": 86_400, "w": 604_800}


class Right(StrEnum):
    """What a token allows. No right includes another."""

    SEARCH = "search"  # search, read, suggest
    ADD = "add"  # add documents, and new versions and labels of its own
    MANAGE = "manage"  # remove and restore documents, look after jobs


@dataclass(frozen=True, slots=True)
class Quota:
    """How much a token may add and ask, or a collection may hold. 0: no limit."""

    documents: int = 0
    bytes: int = 0
    searches: int = 0  # a minute

    def __post_init__(self) -> None:
        for name in ("documents", "bytes", "searches"):
            if not 0 <= getattr(self, name) <= MOST_OF_QUOTA:
                raise BadSetting(
                    f"A limit of {name} can't be {getattr(self, name)}.",
                    fix=f"Give 0 (no limit) to {MOST_OF_QUOTA}.",
                )

    def or_(self, other: Quota) -> Quota:
        """With the other's limits where this one has none."""
        return Quota(
            self.documents or other.documents,
            self.bytes or other.bytes,
            self.searches or other.searches,
        )


@dataclass(frozen=True, slots=True)
class AccessToken:
    """The stored part of a token: enough to recognise it, too little to use it."""

    id: str
    name: str  # for people
    hash: str  # of the secret
    audiences: frozenset[str] | None  # None: all, which must be asked for by name
    collections: frozenset[str] | None  # None: every collection
    rights: frozenset[Right]
    created_at: str
    expires_at: str = ""  # ISO 8601; empty: never
    person: str = ""  # whose session it is, by an id; empty: a token for programs
    session: str = ""  # the provider's own id for it, hashed; empty: it gave none
    quota: Quota = Quota()

    @property
    def caller(self) -> Caller:
        """Who uses it. A person's conversations and uploads outlast a session."""
        id_ = self.person or self.id
        return Caller(id_, self.name, self.audiences, self.collections, self.rights, self.quota)

    def is_over(self, now: datetime | None = None) -> bool:
        return bool(self.expires_at) and self.expires_at <= _stamp(now or datetime.now(UTC))


@dataclass(frozen=True, slots=True)
class Caller:
    """Someone who asks. Only `within` decides what they may see."""

    id: str  # the token's, or a person's; empty: the owner at the local machine
    name: str
    audiences: frozenset[str] | None
    collections: frozenset[str] | None
    rights: frozenset[Right]
    quota: Quota = Quota()

    def within(self, condition: Condition | None = None) -> Where:
        """The filter for everything done for this caller."""
        return Where(self.audiences, condition or AllOf(), self.collections)

    @property
    def sees_all(self) -> bool:
        return self.audiences is None and self.collections is None

    @property
    def is_owner(self) -> bool:
        """Whether they may see and change everything."""
        return self.sees_all and Right.MANAGE in self.rights

    def require(self, right: Right) -> None:
        if right not in self.rights:
            raise RightMissing(f"This token has no right to {right}.")

    def conversation(self, name: str) -> str:
        """The library's name for a conversation of this caller. Each token has its own names, so
        nobody meets another's; callers who may see everything use the library's names."""
        return f"{self._own}{name}"

    def conversation_seen(self, called: str) -> str | None:
        """This caller's name for a conversation of the library; None: it isn't theirs."""
        return called.removeprefix(self._own) if called.startswith(self._own) else None

    @property
    def _own(self) -> str:
        return "" if self.sees_all else f"{self.id}/"

    def audience_for(self, audience: str | None) -> str | None:
        """The label for documents that this caller adds. Callers with labels add under one of their
        own, so that nothing becomes more public, or more private, than they are. The owner may
        leave it to the document (None)."""
        if self.audiences is None:
            return audience
        if audience is None:
            own = self.audiences - {EVERYONE}
            if len(own) > 1:
                raise BadSetting(
                    "This token has several audiences.", fix="Choose one of them as `audience`."
                )
            return next(iter(own), EVERYONE)
        if audience not in self.audiences | {EVERYONE}:
            raise RightMissing(f"This token doesn't have the audience {audience!r}.")
        return audience

    def collection_for(self, collection: str | None) -> str:
        """The collection that something is added to."""
        if self.collections is None:
            return collection or "default"
        if collection is None and len(self.collections) == 1:
            return next(iter(self.collections))
        if collection is None:
            raise BadSetting(
                "This token covers several collections.", fix="Choose one of them as `collection`."
            )
        if collection not in self.collections:
            raise RightMissing(f"This token doesn't cover the collection {collection!r}.")
        return collection


LOCAL_OWNER = Caller("", "owner", None, None, frozenset(Right))


def mint(
    name: str,
    *,
    audiences: Iterable[str] | None,
    collections: Iterable[str] | None = None,
    rights: Iterable[Right | str] = (Right.SEARCH,),
    expires: str = "",
    person: str = "",
    session: str = "",
    quota: Quota | None = None,
    now: datetime | None = None,
) -> tuple[AccessToken, str]:
    """Create a token. Returns it with the text for its holder, which can't be shown again.

    `audiences`: labels besides `all`; None: all labels, now and in future. `expires`: a period such
    as 12h, 30d or 8w; empty: never.
    """
    moment = now or datetime.now(UTC)
    secret = secrets.token_urlsafe(_SECRET_BYTES)
    token = AccessToken(
        id=secrets.token_hex(6),
        name=_label("name", name) if name else "",
        hash=_hashed(secret),
        audiences=_labels("audience", audiences),
        collections=_labels("collection", collections),
        rights=frozenset(_right(right) for right in rights),
        created_at=_stamp(moment),
        expires_at=_stamp(moment + period(expires)) if expires else "",
        person=person,
        session=session,
        quota=quota or Quota(),
    )
    if not token.rights:
        raise BadSetting("The token needs a right.", fix=f"Choose from {', '.join(Right)}.")
    return token, f"{PREFIX}_{token.id}_{secret}"


def token_id(text: str) -> str:
    """The public part of a token. Raises TokenRefused for anything else."""
    match = _TOKEN.fullmatch(text)
    if match is None:
        raise TokenRefused("This isn't a token for this library.")
    return match[1]


def caller_of(text: str, token: AccessToken | None, now: datetime | None = None) -> Caller:
    """The caller with this token. Refuses unknown, revoked, expired and forged tokens alike, but
    tells the holder of an expired one's secret that it expired."""
    match = _TOKEN.fullmatch(text)
    # Compare even if there is nothing to compare with, so that timing doesn't reveal which ids
    # exist.
    right = hmac.compare_digest(
        _hashed(match[2] if match else ""), token.hash if token else _hashed("no such token")
    )
    if not match or not token or not right:
        raise TokenRefused("The token is unknown or was revoked.")
    if token.is_over(now):
        refused = SessionExpired if token.person else TokenRefused
        raise refused(f"The token expired at {token.expires_at}.")
    return token.caller


def _hashed(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def _stamp(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def period(text: str) -> timedelta:
    match = _PERIOD.fullmatch(text.strip())
    if match is None or not int(match[1]):
        raise BadSetting(
            f"`expires` can't be {text!r}.", fix="Give a period such as 12h, 30d or 8w."
        )
    return timedelta(seconds=int(match[1]) * _UNITS[match[2]])


def _labels(setting: str, labels: Iterable[str] | None) -> frozenset[str] | None:
    return None if labels is None else frozenset(_label(setting, label) for label in labels)


def _label(setting: str, text: str) -> str:
    if not _LABEL.fullmatch(text):
        raise BadSetting(
            f"`{setting}` can't be {text!r}.", fix="Give 1 to 200 printable characters."
        )
    return text


def _right(right: Right | str) -> Right:
    try:
        return Right(right)
    except ValueError as reason:
        raise BadSetting(
            f"`right` can't be {right!r}.", fix=f"Choose from {', '.join(Right)}."
        ) from reason
