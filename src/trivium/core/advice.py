"""Advice on errors for people in a browser and for programs elsewhere: no commands of a terminal.

An error's own `fix` is for a terminal. Where that doesn't help in a browser, the page shows this
instead, and so does HTTP if the `fix` is a command. Knows nothing of pages.
"""

from __future__ import annotations

import re

from trivium.core import errors
from trivium.core.errors import TriviumError

ON_PAGE: dict[type[TriviumError], str] = {
    errors.PathNotFound: "Check the spelling: the path must exist on the server's machine.",
    errors.FileLocked: "Upload it again with its password (on the page: under Locked files).",
    errors.FolderEmpty: "Check that its disk is connected. Its documents stay.",
    errors.DocumentNotFound: "It may have been removed. The list of documents has all you can see.",
    errors.NotEmbedded: "The document has no vectors. Add the file again once a model is set up.",
    errors.TokenRefused: "Ask the owner of this library for a new token.",
    errors.TokenNotFound: "You may have revoked it already: see the list of tokens.",
    errors.RequestInvalid: "Go back and correct it.",
    errors.RequestTooLarge: "Send fewer or smaller files at a time.",
    errors.NoSuchRoute: "Check the address, or go to Search.",
    errors.OriginalMissing: (
        "The library didn't keep the file itself. Add the file again to keep it."
    ),
    errors.ConversationNotFound: "It may have been deleted: see the list of conversations.",
    errors.SourceNotFound: "It is no longer watched. Reload the page.",
    errors.SourceExists: "Choose another name, or remove the old source first.",
    errors.SourceEmpty: "Check the account and the options. Its documents stay.",
    errors.SourcePaused: "Resume it first.",
    errors.EvaluationNotFound: "It may have been removed. Evaluate lists sets and their runs.",
    errors.JobNotFound: "It may have been cleared: see the list of jobs.",
    errors.AlertNotFound: "You may have deleted it already: see the list of alerts.",
    errors.DatasetInvalid: "Start a new set under another name.",
    errors.RunInvalid: "Choose another run, or run the set again.",
    errors.RateExceeded: "Wait a moment, then try again.",
    errors.DeadlinePassed: "Try fewer results, a shorter query or no reranking.",
    errors.JobInterrupted: "Try again.",
    errors.DocumentSetAside: "Try it again, or leave it out.",
    errors.ModelDamaged: "Ask the person who runs this server to download the model again.",
    errors.LibraryNotFound: "Ask the person who runs this server to check where the library is.",
    errors.LibraryTooNew: "Ask the person who runs this server to upgrade Trivium.",
    errors.LibraryDamaged: "Ask the person who runs this server to restore a backup.",
    errors.LibraryBusy: "Another process is changing the library. Try again in a moment.",
    errors.ModelChanged: (
        "Ask the person who runs this server to restart it, or to finish changing the model."
    ),
    errors.ReembedStopped: "Ask the person who runs this server to start the model change again.",
    errors.OriginalDamaged: ("Text and search are not affected. You can add the file again."),
    errors.IndexDamaged: (
        "No document is lost. Trivium rebuilds the index the next time you add a document."
    ),
    errors.DatabaseAway: (
        "The library's database doesn't answer. Documents already added are safe. Try again in a"
        " moment."
    ),
    errors.DatabaseRefused: "Ask the person who runs this server to correct the library's address.",
    errors.DiskFull: (
        "The server's disk is full. Documents already added are safe. Free some space and try"
        " again."
    ),
}


_COMMAND = re.compile(r"`trivium |(?:^|[\s`(])--\w|your shell|pip install")


def over_http(error: TriviumError) -> str:
    """What a program can do about the error that may run on any machine."""
    return advice(error) if _COMMAND.search(error.fix) else error.fix


def advice(error: TriviumError) -> str:
    """What a person in a browser can do about the error."""
    if error.on_page is not None:
        return error.on_page
    return ON_PAGE.get(type(error), error.fix)


def retold(text: str, name: str = "") -> str:
    """The same for an error stored as text, which ends with its fix. Below the name of its file it
    doesn't repeat that name."""
    for kind, on_page in ON_PAGE.items():
        if text.endswith(kind.fix):
            text = text.removesuffix(kind.fix) + on_page
            break
    if name and text.startswith(name):
        return "It" + text.removeprefix(name)
    return text.replace(f" {name}:", " it:", 1) if name else text
