"""What a store keeps beside documents: who may ask, what was said, which folders are followed.

No index knows of any of it, so none of it needs `writing`: each call is whole by itself.
"""

from __future__ import annotations

from typing import Protocol

from trivium.access import AccessToken
from trivium.answers import Conversation, KeptTurn
from trivium.types import Where
from trivium.work import WatchedFolder


class AccessTokens(Protocol):
    """Keeps access tokens."""

    def keep_token(self, token: AccessToken) -> None: ...

    def access_token(self, id_: str) -> AccessToken | None: ...

    def access_tokens(self) -> list[AccessToken]:
        """In the order they were made."""
        ...

    def forget_token(self, id_: str) -> bool:
        """Whether there was one."""
        ...


class ConversationStore(Protocol):
    """Keeps what was asked and answered."""

    def keep_turn(self, conversation: str, kept: KeptTurn) -> None:
        """Add a turn; a conversation begins with its first. It goes when a document goes that it
        was made from."""
        ...

    def turns(self, conversation: str, where: Where) -> list[KeptTurn]:
        """In order: those all of whose audiences the caller holds, and all of whose documents pass
        `where`."""
        ...

    def conversations(self, where: Where) -> list[Conversation]:
        """By name: those with a turn that may be seen."""
        ...

    def forget_conversation(self, conversation: str, where: Where) -> int:
        """Remove the turns that may be seen; how many comes back."""
        ...


class WatchedFolders(Protocol):
    """Keeps the folders that a server follows."""

    def keep_folder(self, folder: WatchedFolder) -> None: ...

    def folders(self) -> list[WatchedFolder]:
        """In the order they were added."""
        ...

    def forget_folder(self, id_: str) -> bool:
        """Whether there was one. What came from it stays."""
        ...
