"""How others are let in: access tokens are made, listed, revoked and recognised."""

from __future__ import annotations

from collections.abc import Iterable

from trivium.access import AccessToken, Caller, Right, caller_of, mint, token_id
from trivium.errors import TokenNotFound
from trivium.library.parts import Parts
from trivium.text.values import check_text


class Granting(Parts):
    def create_token(
        self,
        *,
        audiences: Iterable[str] | None,
        collections: Iterable[str] | None = None,
        rights: Iterable[Right | str] = (Right.SEARCH,),
        expires: str = "",
        name: str = "",
    ) -> tuple[AccessToken, str]:
        """A new token, and its text, which is shown here and never again.

        `audiences`: labels its holder has beside `all`; None is every one, as the owner has.
        `collections`: the only ones it is for; None is every one. `expires`: 12h, 30d, 8w.
        """
        audiences = None if audiences is None else tuple(audiences)
        collections = None if collections is None else tuple(collections)
        for label in (name, *(audiences or ()), *(collections or ())):
            check_text("token", label)
        kept, text = mint(
            name, audiences=audiences, collections=collections, rights=rights, expires=expires
        )
        self._store.keep_token(kept)
        return kept, text

    def tokens(self) -> list[AccessToken]:
        return self._store.access_tokens()

    def revoke_token(self, id_: str) -> None:
        """From the next request on it is refused, by every process."""
        if not self._store.forget_token(id_):
            raise TokenNotFound(f"There is no token {id_!r}.")

    def caller(self, token: str) -> Caller:
        """Whoever holds this token. Raises TokenRefused."""
        return caller_of(token, self._store.access_token(token_id(token)))
