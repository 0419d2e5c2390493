"""Access tokens in a dictionary, for the memory store."""

from __future__ import annotations

from trivium.access import AccessToken


class MemoryTokens:
    def __init__(self) -> None:
        super().__init__()
        self._access_tokens: dict[str, AccessToken] = {}

    def keep_token(self, token: AccessToken) -> None:
        self._access_tokens[token.id] = token

    def access_token(self, id_: str) -> AccessToken | None:
        return self._access_tokens.get(id_)

    def access_tokens(self) -> list[AccessToken]:
        return sorted(self._access_tokens.values(), key=lambda t: (t.created_at, t.id))

    def forget_token(self, id_: str) -> bool:
        return self._access_tokens.pop(id_, None) is not None
