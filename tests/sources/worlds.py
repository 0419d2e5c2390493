"""A world for random histories of each connector: its service, and what can happen there."""

from __future__ import annotations

from collections.abc import Callable

from tests.sources.grounds import Grounds
from tests.sources.worlds_of_files import (
    ExportPlace,
    MboxPlace,
    NotesPlace,
    ZoteroExportPlace,
    ZoteroFilePlace,
)
from tests.sources.worlds_of_services import (
    FeedPlace,
    GitHubPlace,
    ImapPlace,
    LinearPlace,
    NotionPlace,
    SitemapPlace,
    SlackPlace,
    TriliumPlace,
    ZoteroApiPlace,
)

from trivium.testing.sync_histories import CalledWorld, Life, ToyWorld, World


class ToyPlace(ToyWorld):
    def __init__(self, life: Life, _: Grounds) -> None:
        super().__init__(life)


SERVICES: dict[str, Callable[[Life, Grounds], CalledWorld]] = {
    "zotero-api": ZoteroApiPlace,
    "slack": SlackPlace,
    "github": GitHubPlace,
    "notion": NotionPlace,
    "linear": LinearPlace,
    "trilium": TriliumPlace,
    "imap": ImapPlace,
    "feed": FeedPlace,
    "sitemap": SitemapPlace,
}
WORLDS: dict[str, Callable[[Life, Grounds], World]] = {
    "toy": ToyPlace,
    "notes": NotesPlace,
    "mbox": MboxPlace,
    "slack-export": ExportPlace,
    "zotero-file": ZoteroFilePlace,
    "zotero-export": ZoteroExportPlace,
    **SERVICES,
}


def world_of(kind: str, life: Life, grounds: Grounds) -> World:
    return WORLDS[kind](life, grounds)
