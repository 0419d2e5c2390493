"""Access tokens: create, list, revoke, recognise."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime, timedelta

from trivium.core.access import AccessToken, Caller, Quota, Right, caller_of, mint, token_id
from trivium.core.errors import TokenNotFound, TokenRefused
from trivium.ports import AccessTokens
from trivium.text.values import check_text

_SESSIONS = 20  # of one person at a time
_RENEWED = timedelta(days=1)  # the page renews sessions that expired within the last day


class Tokens:
    def __init__(self, access_tokens: AccessTokens) -> None:
        self._tokens = access_tokens

    def create(
        self,
        *,
        audiences: Iterable[str] | None,
        collections: Iterable[str] | None = None,
        rights: Iterable[Right | str] = (Right.SEARCH,),
        expires: str = "",
        name: str = "",
        person: str = "",
        session: str = "",
        quota: Quota | None = None,
    ) -> tuple[AccessToken, str]:
        """Create a token; returns it with its secret text, which you can't get again.

        `audiences`: labels besides `all`; None: all labels, as the owner has. `collections`: only
        these; None: all. `expires`: 12h, 30d, 8w. `person`: whose session this is, by an id that
        stays the same; a person's sessions share conversations, uploads and quotas. `session`:
        the provider's id for it.
        """
        audiences = None if audiences is None else tuple(audiences)
        collections = None if collections is None else tuple(collections)
        for label in (name, *(audiences or ()), *(collections or ())):
            check_text("token", label)
        token, text = mint(
            name, audiences=audiences, collections=collections, rights=rights, expires=expires,
            person=person, session=session, quota=quota,
        )  # fmt: skip
        if person:
            self._end_old_sessions(person)
        self._tokens.keep(token)
        return token, text

    def _end_old_sessions(self, person: str) -> None:
        """Those that were over a day ago, of everyone, and the oldest of a person with many."""
        sessions = [token for token in self._tokens.all() if token.person]
        theirs = [
            session for session in sessions if session.person == person and not session.is_over()
        ]
        old = [session for session in sessions if session.is_over(datetime.now(UTC) - _RENEWED)]
        for token in old + theirs[: 1 - _SESSIONS]:
            self._tokens.forget(token.id)

    def all(self) -> list[AccessToken]:
        return self._tokens.all()

    def revoke(self, id_: str) -> None:
        """Revoke a token: every process refuses it from the next request on."""
        if not self._tokens.forget(id_):
            raise TokenNotFound(f"There is no token {id_!r}.")

    def end_session(self, token: str) -> bool:
        """Revoke a token that someone got by signing in, and say so; leave others as they are."""
        with suppress(TokenRefused):
            self.caller(token)
            stored = self._tokens.get(token_id(token))
            if stored is not None and stored.person:
                self._tokens.forget(stored.id)
                return True
        return False

    def end_sessions(self, person: str, session: str) -> int:
        """End those that the provider has ended: one session, or all of a person; one of the two
        may be empty. Also a person's sessions of which the provider gave no id."""
        ended = [
            token.id
            for token in self._tokens.all()
            if token.person
            and person in ("", token.person)
            and (session in ("", token.session) or (person and not token.session))
        ]
        return sum(map(self._tokens.forget, ended))

    def caller(self, token: str) -> Caller:
        """The caller with this token. Raises TokenRefused."""
        return caller_of(token, self._tokens.get(token_id(token)))
