"""What to do about an error on a page: no command, no option, no address of the API.

An error's own `fix` is for a terminal or a program. Where that helps nobody in a browser, this is
said instead. Knows nothing of pages.
"""

from __future__ import annotations

from trivium import errors
from trivium.errors import TriviumError

ON_PAGE: dict[type[TriviumError], str] = {
    errors.PathNotFound: "Check its spelling: it is a path on the machine that serves this page.",
    errors.FolderEmpty: "Is its disk there? Its documents stay until you remove them.",
    errors.DocumentNotFound: "It may have been removed. Documents shows what there is for you.",
    errors.NotEmbedded: "The document has no vectors: add the file again once a model is set up.",
    errors.TokenRefused: "Ask whoever runs this library for a new token.",
    errors.TokenNotFound: "It may have been revoked already. Load the page again.",
    errors.RequestInvalid: "Go back and correct it.",
    errors.RequestTooLarge: "Send fewer or smaller files at a time.",
    errors.NoSuchRoute: "Check the address, or start from the search.",
    errors.OriginalMissing: (
        "The library did not keep the file itself. Add the file again to keep it."
    ),
    errors.ConversationNotFound: "It may have been forgotten. Ask lists those that are kept.",
    errors.SourceNotFound: "It is watched no more. Load the page again.",
    errors.SourceExists: "Choose another name, or remove the source of this name first.",
    errors.SourceEmpty: "Check the account and the options. Its documents stay.",
    errors.SourcePaused: "Resume it first.",
    errors.EvaluationNotFound: "It may have been removed. Evaluate lists sets and their runs.",
    errors.JobNotFound: "It may have been forgotten. Add lists the newest jobs.",
    errors.AlertNotFound: "You may have deleted it already. Reload the page.",
    errors.DatasetInvalid: "Begin another set under another name.",
    errors.RunInvalid: "Choose another run, or run the set again.",
    errors.RateExceeded: "Wait a moment, then try again.",
    errors.DeadlinePassed: "Ask for less: fewer results, shorter queries, no reranking.",
    errors.JobInterrupted: "Try it again.",
    errors.DocumentSetAside: "Try it again, or leave it out.",
    errors.ModelDamaged: "Whoever runs this server must have the model fetched again.",
    errors.LibraryNotFound: "Whoever runs this server must say where the library is.",
    errors.LibraryTooNew: "Whoever runs this server must upgrade Trivium.",
    errors.LibraryDamaged: "Whoever runs this server must restore the library from a backup.",
    errors.LibraryBusy: "Something else is changing the library. Try again in a moment.",
    errors.ModelChanged: (
        "Whoever runs this server must start it again, or finish changing the model."
    ),
    errors.ReembedStopped: "Whoever runs this server must begin the change of the model again.",
    errors.OriginalDamaged: (
        "The text and the search are not affected; the file can be added again."
    ),
    errors.IndexDamaged: (
        "No document is lost. Trivium rebuilds the index when it next adds a document."
    ),
    errors.DatabaseAway: (
        "The library's database does not answer. Nothing that was added is lost; try again in a"
        " moment."
    ),
    errors.DatabaseRefused: "Whoever runs this server must correct the library's address.",
    errors.DiskFull: (
        "The server's disk is full. Nothing that was added is lost; try again once there is space."
    ),
}


def advice(error: TriviumError) -> str:
    """What a person can do about it in a browser."""
    if error.on_page is not None:
        return error.on_page
    return ON_PAGE.get(type(error), error.fix)


def retold(text: str) -> str:
    """The same for an error that was kept as text: what it said to do is at the end of it."""
    for kind, told in ON_PAGE.items():
        if text.endswith(kind.fix):
            return text.removesuffix(kind.fix) + told
    return text
