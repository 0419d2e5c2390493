"""What the routes for the owner are asked, as types: tokens and sources."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StrictBool, model_validator

from trivium.access import Right
from trivium.http.requests import MOST_NAMES

_Label = Annotated[str, Field(min_length=1, max_length=200)]


class _Typed(BaseModel):
    model_config = ConfigDict(extra="forbid")


class TokenBody(_Typed):
    """What a new token may see and do. Without audiences: what is for `all`, nothing else."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {"name": "den", "audiences": ["player"], "collections": ["rules"], "expires": "30d"}
            ]
        },
    )

    name: str = Field("", max_length=200, description="Whose it is, for people.")
    audiences: list[_Label] = Field(
        [], max_length=MOST_NAMES, description="Labels its holder has beside `all`."
    )
    all_audiences: StrictBool = Field(
        False, description="Every label there is or will be; `audiences` is left out then."
    )
    collections: list[_Label] | None = Field(
        None, max_length=MOST_NAMES, description="The only ones it is for; null: every one."
    )
    rights: list[Right] = Field([Right.SEARCH], min_length=1, max_length=len(Right))
    expires: str = Field("", max_length=20, description="After 12h, 30d, 8w; empty: never.")

    @model_validator(mode="after")
    def _says_one_thing(self) -> TokenBody:
        if self.audiences and self.all_audiences:
            raise ValueError("`audiences` and `all_audiences` cannot be mixed")
        return self


class SourceBody(_Typed):
    """A folder of the server's machine, and what to say of the documents in it."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"path": "/home/ann/notes", "collection": "notes"}]},
    )

    path: str = Field(min_length=1, max_length=4000)
    collection: _Label = "default"
    category: _Label | None = None
    audience: _Label | None = Field(None, description="Null: as each document says.")
    ignore: list[Annotated[str, Field(max_length=1000)]] = Field(
        [], max_length=MOST_NAMES, description="Rules as in a .gitignore file."
    )
