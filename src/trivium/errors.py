"""Every way Trivium can fail, as types with a stable code and a sentence that says what to do.

    TriviumError
     ├─ InputError                 the caller can mend it
     │   ├─ EmptyQuery             query.empty
     │   ├─ QueryTooLong           query.too_long
     │   ├─ BadSetting             setting.bad
     │   ├─ BadFilter              filter.bad
     │   ├─ BadValue               value.bad
     │   ├─ NumberTooLarge         number.too_large
     │   ├─ PathNotFound           path.not_found
     │   ├─ NameTooLong            name.too_long
     │   ├─ FolderEmpty            folder.empty
     │   ├─ DocumentNotFound       document.not_found
     │   ├─ NotEmbedded            document.not_embedded
     │   ├─ TokenRefused           token.refused
     │   ├─ TokenNotFound          token.not_found
     │   ├─ RightMissing           token.right_missing
     │   ├─ RequestInvalid         request.invalid
     │   ├─ RequestRefused         request.refused
     │   ├─ RequestTooLarge        request.too_large
     │   ├─ RequestTooSlow         request.too_slow
     │   ├─ NoSuchRoute            request.no_route
     │   ├─ DocumentExists         document.exists
     │   ├─ PageNotFound           page.not_found
     │   ├─ UrlRefused             url.refused
     │   ├─ UnsafeServing          serve.unsafe
     │   ├─ ExtraMissing           extra.missing
     │   ├─ OriginalMissing        document.original_missing
     │   ├─ ConversationNotFound   conversation.not_found
     │   ├─ JobNotFound            job.not_found
     │   ├─ AlertNotFound          alert.not_found
     │   ├─ SourceNotFound         source.not_found
     │   ├─ SourceExists           source.exists
     │   ├─ SourceEmpty            source.empty
     │   ├─ SourcePaused           source.paused
     │   ├─ EvaluationNotFound     evaluation.not_found
     │   ├─ TargetExists           backup.target_exists
     │   ├─ BackupDamaged          backup.damaged
     │   ├─ CopyFailed             copy.failed
     │   ├─ DatasetInvalid         dataset.invalid
     │   └─ RunInvalid             run.invalid
     ├─ ReadError                  one document could not be read; the batch goes on
     │   ├─ FileUnreadable         file.unreadable
     │   ├─ FileEmpty              file.empty
     │   ├─ FileTooLarge           file.too_large
     │   ├─ FormatUnknown          file.format_unknown
     │   ├─ FileLocked             file.locked
     │   ├─ FileTimeout            file.timeout
     │   ├─ FileDamaged            file.damaged
     │   ├─ UrlFailed              url.failed
     │   ├─ DocumentFailed         document.failed
     │   ├─ DocumentSetAside       document.set_aside
     │   └─ JobInterrupted         job.interrupted
     ├─ SourceError                a source can't be read now; its documents stay as they are
     │   ├─ SourceUnreachable      source.unreachable
     │   ├─ SourceRefused          source.refused
     │   └─ SourceNonsense         source.nonsense
     ├─ ModelError                 a model is missing or misbehaves
     │   ├─ ModelUnavailable       model.unavailable
     │   │   ├─ ModelUnreachable   model.unreachable
     │   │   ├─ ModelTimeout       model.timeout
     │   │   ├─ ModelBusy          model.busy
     │   │   ├─ ModelFailing       model.failing
     │   │   ├─ ModelRefused       model.refused
     │   │   ├─ ModelNonsense      model.nonsense
     │   │   ├─ ModelUnsupported   model.unsupported
     │   │   └─ DimensionMismatch  model.dimensions
     │   └─ ModelDamaged           model.damaged
     ├─ ServingError               the server cannot answer now; try again later
     │   ├─ ServerBusy             server.busy
     │   ├─ RateExceeded           server.rate_exceeded
     │   └─ DeadlinePassed         server.deadline
     └─ StoreError                 the library itself
         ├─ LibraryNotFound        library.not_found
         ├─ LibraryTooNew          library.too_new
         ├─ LibraryDamaged         library.damaged
         │   └─ IndexDamaged       library.index_damaged
         ├─ LibraryBusy            library.busy
         ├─ LibraryReadOnly        library.read_only
         ├─ ModelChanged           library.model_changed
         ├─ ReembedStopped         library.reembed_stopped
         ├─ OriginalDamaged        library.original_damaged
         ├─ DiskFull               library.disk_full
         ├─ ArchiveAway            archive.away
         ├─ ArchiveRefused         archive.refused
         └─ DatabaseError          database
             ├─ DatabaseAway       database.away
             ├─ DatabaseRefused    database.refused
             ├─ DatabaseSlow       database.slow
             └─ DatabaseUnsuitable database.unsuitable

Knows nothing of how errors are shown: shells print `str(error)` and `error.code`, pages `advice`.
"""

from __future__ import annotations

import errno


class TriviumError(Exception):
    """The root: catch this to catch everything Trivium raises on purpose."""

    code = "error"
    fix = ""

    def __init__(self, message: str, *, fix: str | None = None, on_page: str | None = None) -> None:
        """A `fix` given here holds in a browser too, unless an `on_page` says what holds there."""
        self.message = message
        self.on_page = fix if on_page is None else on_page  # None: as the kind of error has it
        self.fix = self.fix if fix is None else fix
        super().__init__(message)

    def __str__(self) -> str:
        return f"{self.message} {self.fix}".rstrip()


class InputError(TriviumError):
    code = "input"


class EmptyQuery(InputError):
    code = "query.empty"
    fix = "Type at least one word."


class QueryTooLong(InputError):
    code = "query.too_long"
    fix = "Shorten the query; long texts are better added as documents."


class BadSetting(InputError):
    code = "setting.bad"


class BadFilter(InputError):
    code = "filter.bad"


class BadValue(InputError):
    code = "value.bad"


class NumberTooLarge(InputError):
    code = "number.too_large"
    fix = "Use a smaller number."


class NameTooLong(InputError):
    code = "name.too_long"
    fix = "Use a shorter name."


class PathNotFound(InputError):
    code = "path.not_found"
    fix = "Check the spelling, or quote the pattern if your shell expanded it."


class FolderEmpty(InputError):
    code = "folder.empty"
    fix = "Is its disk there? --force removes all that came from it."


class DocumentNotFound(InputError):
    code = "document.not_found"
    fix = "`trivium list` shows what the library holds."


class NotEmbedded(InputError):
    code = "document.not_embedded"
    fix = "It was added without an embedding model: `trivium add` it again once there is one."


class TokenRefused(InputError):
    code = "token.refused"
    fix = "Ask the owner of the library for a new one (`trivium token create`)."


class TokenNotFound(InputError):
    code = "token.not_found"
    fix = "`trivium token list` shows their ids."


class RightMissing(InputError):
    code = "token.right_missing"
    fix = "Ask the owner of the library for a token that may do this."


class RequestInvalid(InputError):
    code = "request.invalid"
    fix = "The API's description (/openapi.json) says what it takes."


class RequestRefused(InputError):
    code = "request.refused"


class RequestTooLarge(InputError):
    code = "request.too_large"
    fix = "Send less, or add the file with `trivium add` on the server's machine."


class RequestTooSlow(InputError):
    code = "request.too_slow"
    fix = "Send it again, faster."


class NoSuchRoute(InputError):
    code = "request.no_route"
    fix = "The API's description (/openapi.json) lists what there is."


class DocumentExists(InputError):
    code = "document.exists"
    fix = "Give it another name, or ask the owner of the library."


class PageNotFound(InputError):
    code = "page.not_found"


class UrlRefused(InputError):
    code = "url.refused"
    fix = "Only public http and https addresses are fetched."


class UnsafeServing(InputError):
    code = "serve.unsafe"


class ExtraMissing(InputError):
    code = "extra.missing"


class OriginalMissing(InputError):
    code = "document.original_missing"
    fix = "`trivium add` its file again; if archive.keep was off, when the file has changed."


class ConversationNotFound(InputError):
    code = "conversation.not_found"
    fix = "`trivium conversations` lists those that are kept."


class SourceNotFound(InputError):
    code = "source.not_found"
    fix = "`GET /v1/sources` lists them."


class SourceExists(InputError):
    code = "source.exists"
    fix = "Give the new one another name with --name, or remove the old one first."


class SourceEmpty(InputError):
    code = "source.empty"
    fix = "Check the account and the options. --force removes the documents all the same."


class SourcePaused(InputError):
    code = "source.paused"
    fix = "`trivium sync resume NAME` lets it run again."


class SourceError(TriviumError):
    """A source can't be read now. What came from it stays as it is."""

    code = "source"


class SourceUnreachable(SourceError):
    code = "source.unreachable"
    fix = "Check the address and the network; the next run goes on where this one stopped."


class SourceRefused(SourceError):
    code = "source.refused"
    fix = "Check the token and what it may read."


class SourceNonsense(SourceError):
    code = "source.nonsense"
    fix = "Check the address; if it is right, the service may have changed its interface."


class EvaluationNotFound(InputError):
    code = "evaluation.not_found"
    fix = "`GET /v1/evaluations` lists sets and runs."


class JobNotFound(InputError):
    code = "job.not_found"
    fix = "`trivium jobs` lists them."


class AlertNotFound(InputError):
    code = "alert.not_found"
    fix = "`trivium alert` lists them."


class TargetExists(InputError):
    code = "backup.target_exists"
    fix = "Name another place, or overwrite it with --force."


class BackupDamaged(InputError):
    code = "backup.damaged"
    fix = "Take another backup; nothing was changed."


class CopyFailed(InputError):
    """What arrived in a copied library is not what was sent."""

    code = "copy.failed"
    fix = "Run the same command again; the source is unchanged."


class DatasetInvalid(InputError):
    code = "dataset.invalid"
    fix = "docs/evaluating.md describes the layouts that are read."


class RunInvalid(InputError):
    code = "run.invalid"
    fix = "`trivium eval --save` and `--run` write such files."


class ReadError(TriviumError):
    code = "read"


class FileUnreadable(ReadError):
    code = "file.unreadable"
    fix = "Check the file's permissions."


class FileEmpty(ReadError):
    code = "file.empty"
    fix = "There is nothing in it to search."


class FileTooLarge(ReadError):
    code = "file.too_large"
    fix = "Split it, or add only the part that matters."


class FormatUnknown(ReadError):
    code = "file.format_unknown"
    fix = "Convert it to text or Markdown first."


class FileLocked(ReadError):
    code = "file.locked"
    fix = "Save a copy without the password and add that."


class FileTimeout(ReadError):
    code = "file.timeout"
    fix = "Split it, or convert it to a simpler format."


class FileDamaged(ReadError):
    code = "file.damaged"
    fix = "Open it in its own program and save it again."


class DocumentFailed(ReadError):
    """A fault of ours, or of a library we use, while one document was added."""

    code = "document.failed"


class DocumentSetAside(ReadError):
    code = "document.set_aside"
    fix = "`trivium jobs retry` tries it again."


class UrlFailed(ReadError):
    code = "url.failed"
    fix = "Check the address in a browser."


class ServingError(TriviumError):
    code = "server"


class ServerBusy(ServingError):
    code = "server.busy"
    fix = "Try again in a moment."


class RateExceeded(ServingError):
    code = "server.rate_exceeded"
    fix = "Ask less often; Retry-After says when."
    retry_after = 1.0  # seconds


class DeadlinePassed(ServingError):
    code = "server.deadline"
    fix = "Ask for less, or raise serve.seconds."


class JobInterrupted(ReadError):
    code = "job.interrupted"
    fix = "Offer it again."


class ModelError(TriviumError):
    code = "model"


class ModelUnavailable(ModelError):
    """It gives nothing now; whoever can do without it goes on and says so."""

    code = "model.unavailable"


class ModelUnreachable(ModelUnavailable):
    code = "model.unreachable"


class ModelTimeout(ModelUnavailable):
    code = "model.timeout"


class ModelBusy(ModelUnavailable):
    code = "model.busy"
    fix = "Try again later, or ask its provider for a higher limit."


class ModelFailing(ModelUnavailable):
    code = "model.failing"
    fix = "Try again later; its own log or status page says more."


class ModelRefused(ModelUnavailable):
    code = "model.refused"


class ModelNonsense(ModelUnavailable):
    code = "model.nonsense"


class ModelUnsupported(ModelUnavailable):
    """It needs a part that Trivium doesn't have, and without it would give other vectors."""

    code = "model.unsupported"


class DimensionMismatch(ModelUnavailable):
    code = "model.dimensions"


class ModelDamaged(ModelError):
    code = "model.damaged"
    fix = "Delete the folder and let it be fetched again."


class StoreError(TriviumError):
    code = "library"


class LibraryNotFound(StoreError):
    code = "library.not_found"
    fix = "`trivium add PATH` makes one."


class LibraryTooNew(StoreError):
    code = "library.too_new"
    fix = "Upgrade Trivium: pip install --upgrade trivium."


class LibraryDamaged(StoreError):
    code = "library.damaged"
    fix = "Restore the folder from a backup; `trivium doctor` shows what is wrong."


class IndexDamaged(LibraryDamaged):
    """Files of one derived index. Nothing is lost: the index can be rebuilt from the database."""

    code = "library.index_damaged"
    fix = "`trivium doctor --repair` rebuilds it from the database; no document is lost."

    part = ""  # words or vectors

    @classmethod
    def of(cls, part: str, details: str) -> IndexDamaged:
        damage = cls(f"The index of {part} is damaged: {details}.")
        damage.part = part
        return damage


class LibraryBusy(StoreError):
    code = "library.busy"
    fix = "Wait for the other process to finish adding, or stop it."


class LibraryReadOnly(StoreError):
    code = "library.read_only"


class ModelChanged(StoreError):
    code = "library.model_changed"
    fix = "Open the library again, or run `trivium reembed`."


class ReembedStopped(StoreError):
    code = "library.reembed_stopped"
    fix = "Run `trivium reembed` with the model you want."


class OriginalDamaged(StoreError):
    code = "library.original_damaged"
    fix = "Restore the archive's file from a backup; the text and the search are not affected."


class DiskFull(StoreError):
    code = "library.disk_full"
    fix = "Free some space and run the same command again; nothing that was added is lost."


class ArchiveAway(StoreError):
    code = "archive.away"
    fix = "Check that the object store runs and can be reached, then try again."


class ArchiveRefused(StoreError):
    code = "archive.refused"
    fix = "Check `archive.folder` and the key in the environment; it needs to read, write and list."


class DatabaseError(StoreError):
    """The server of a library's database, not the library."""

    code = "database"


class DatabaseAway(DatabaseError):
    """The server of a library's database does not answer, or just stopped to."""

    code = "database.away"
    fix = "Check that the database server runs, then try again; nothing that was added is lost."


class DatabaseRefused(DatabaseError):
    code = "database.refused"
    fix = "Check the user and password in the library's address."


class DatabaseSlow(DatabaseError):
    code = "database.slow"
    fix = "Try again, or ask for less at once."


class DatabaseUnsuitable(DatabaseError):
    """The database is there, and can't hold a library as it is."""

    code = "database.unsuitable"


def as_input_error(error: BaseException) -> InputError | None:
    """The typed error for a failure that only the caller's own words cause: a number that no
    database holds, a name that no file system takes. Every shell asks this before it calls an
    unexpected error a fault of ours, so no option or route can be forgotten."""
    if isinstance(error, OverflowError):
        return NumberTooLarge("A number is too large.")
    if isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG:
        return NameTooLong(f"The name {str(error.filename or '')[:60]!r}… is too long for a file.")
    return None
