"""Access tokens: create, list, revoke, recognise."""

from __future__ import annotations

from collections.abc import Iterable

from trivium.core.access import AccessToken, Caller, Right, caller_of, mint, token_id
from trivium.core.errors import TokenNotFound
from trivium.ports import AccessTokens
from trivium.text.values import check_text


class Tokens:
    def __init__(self, kept: AccessTokens) -> None:
        self._kept = kept

    def create(
        self,
        *,
        audiences: Iterable[str] | None,
        collections: Iterable[str] | None = None,
        rights: Iterable[Right | str] = (Right.SEARCH,),
        expires: str = "",
        name: str = "",
    ) -> tuple[AccessToken, str]:
        """Create a token; returns it with its secret text, which you can't get again.

        `audiences`: labels besides `all`; None: all labels, as the owner has. `collections`: only
        these; None: all. `expires`: 12h, 30d, 8w.
        """
        audiences = None if audiences is None else tuple(audiences)
        collections = None if collections is None else tuple(collections)
        for label in (name, *(audiences or ()), *(collections or ())):
            check_text("token", label)
        kept, text = mint(
            name, audiences=audiences, collections=collections, rights=rights, expires=expires
        )
        self._kept.keep(kept)
        return kept, text

    def all(self) -> list[AccessToken]:
        return self._kept.all()

    def revoke(self, id_: str) -> None:
        """Revoke a token: every process refuses it from the next request on."""
        if not self._kept.forget(id_):
            raise TokenNotFound(f"There is no token {id_!r}.")

    def caller(self, token: str) -> Caller:
        """The caller with this token. Raises TokenRefused."""
        return caller_of(token, self._kept.get(token_id(token)))
