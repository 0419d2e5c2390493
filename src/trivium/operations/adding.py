"""Adding: the labels of new documents, and where documents come from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from trivium.core.conditions import MetaScalar
from trivium.operations.declaring import Carried, like, option, requests
from trivium.operations.searching import MOST_NAMES, Name

Text = Annotated[str, Carried(str, min_length=1, max_length=200)]
_Line = Annotated[str, Carried(str, max_length=4000)]
_Values = MetaScalar | list[MetaScalar]


@dataclass(frozen=True, kw_only=True)
class LabelOptions:
    """Labels of documents that are added. Those you don't give come from each document."""

    collection: Text | None = option("Collection to add the documents to.")
    category: Text | None = option("Category of the documents, e.g. rulebook.")
    audience: Text | None = option("Who can see them: `all`, or a label such as dm-only.")


@dataclass(frozen=True, kw_only=True)
class AddOptions(LabelOptions):
    metadata: Annotated[
        Mapping[str, _Values] | None,
        Carried(dict[Name, _Values], or_none=True, max_length=MOST_NAMES),
    ] = option("Any other field. Numbers stay numbers.", metavar="KEY=VALUE")


@dataclass(frozen=True, kw_only=True)
class FolderOptions:
    ignore: Annotated[
        Sequence[str],
        Carried(list[Annotated[str, Carried(str, max_length=1000)]], max_length=MOST_NAMES),
    ] = option(
        "Ignore files that match a .gitignore rule. .triviumignore files apply too.",
        (),
        metavar="RULE",
    )


@dataclass(frozen=True, kw_only=True)
class AddFiles(FolderOptions, AddOptions):
    """Files and folders of this machine."""

    collection: Text = like(LabelOptions, "collection", "default")


@dataclass(frozen=True, kw_only=True)
class AddUrl(AddOptions):
    """A public web address to add, with labels."""

    __pydantic_config__ = requests({"url": "https://example.org/paper.pdf", "collection": "papers"})

    url: str = option("Its address.", required=True, min_length=1, max_length=2000)


@dataclass(frozen=True, kw_only=True)
class WatchFolder(LabelOptions, FolderOptions):
    """A folder on the server's machine, and labels for its documents."""

    __pydantic_config__ = requests({"path": "/home/ann/notes", "collection": "notes"})

    path: str = option("The folder.", required=True, min_length=1, max_length=4000)
    collection: Text = like(LabelOptions, "collection", "default")


@dataclass(frozen=True, kw_only=True)
class AddSync(LabelOptions):
    """A source to sync. A secret is sent as it is, or as `name:NAME` of one that the server's
    operator listed in `sync.secrets`. The server stores it and never shows it."""

    __pydantic_config__ = requests(
        {"name": "work", "kind": "slack", "secrets": {"token": "name:slack"}, "every": 600}
    )

    name: Annotated[
        str, Carried(str, min_length=1, max_length=64, pattern=r"^[a-z0-9][a-z0-9._-]*$")
    ] = option(
        "Name of the source. The terminal's default: the kind, or the folder's or file's name.",
        required=True,
    )
    kind: str = option(
        "Kind of the source, such as slack.", required=True, min_length=1, max_length=64
    )
    options: Mapping[Text, _Line] = option(
        "Options of its kind.", {}, flags=("--option",), metavar="KEY=VALUE", max_length=50
    )
    secrets: Mapping[Text, _Line] = option(
        "Each secret, or name:NAME of one in sync.secrets.", {}, max_length=10
    )
    collection: Text = like(LabelOptions, "collection", "default")
    audience: Text | None = option(
        "Who can see the items, if the source doesn't say. Default: `all` for public sources, and"
        " the source's name as a label for others."
    )
    every: int = option("Seconds between runs; 0: only on request.", 0, ge=0, le=31_536_000)


@dataclass(frozen=True, kw_only=True)
class RunSync:
    """How to run a source."""

    __pydantic_config__ = requests({"full": True})

    full: bool = option("Read everything again, not only what changed.", False)
