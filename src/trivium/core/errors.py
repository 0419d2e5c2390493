"""Every way Trivium can fail, as types with a stable code and a sentence that says what to do.

    TriviumError
     ├─ InputError                 the caller can fix it
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
     │   │   └─ SessionExpired     session.expired
     │   ├─ TokenNotFound          token.not_found
     │   ├─ RightMissing           token.right_missing
     │   ├─ SignInRefused          signin.refused
     │   ├─ QuotaExceeded          quota.exceeded
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
     ├─ ReadError                  one document couldn't be read; the batch continues
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
     ├─ ServingError               the server can't answer now; try again later
     │   ├─ ServerBusy             server.busy
     │   ├─ RateExceeded           server.rate_exceeded
     │   ├─ DeadlinePassed         server.deadline
     │   └─ SignInAway             signin.away
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
        """A `fix` given here is shown on the page too, unless you give `on_page`."""
        self.message = message
        self.on_page = fix if on_page is None else on_page  # None: the advice for this type
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
    fix = "Shorten the query. To search with a long text, add it as a document."


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
    fix = "Check that its disk is connected. --force removes all its documents."


class DocumentNotFound(InputError):
    code = "document.not_found"
    fix = "`trivium list` shows the documents in the library."


class NotEmbedded(InputError):
    code = "document.not_embedded"
    fix = (
        "The document has no vectors. Set up an embedding model, then `trivium add` the file again."
    )


class TokenRefused(InputError):
    code = "token.refused"
    fix = "Ask the owner of the library for a new token (`trivium token create`)."


class SessionExpired(TokenRefused):
    """The page renews a session that ended so."""

    code = "session.expired"
    fix = "Sign in again."


class TokenNotFound(InputError):
    code = "token.not_found"
    fix = "`trivium token list` shows the ids of your tokens."


class RightMissing(InputError):
    code = "token.right_missing"
    fix = "Ask the owner of the library for a token with this right."


class QuotaExceeded(InputError):
    code = "quota.exceeded"
    fix = "Remove documents, or ask the owner of the library for a higher limit."


class SignInRefused(InputError):
    code = "signin.refused"


class RequestInvalid(InputError):
    code = "request.invalid"
    fix = "See the API description at /openapi.json."


class RequestRefused(InputError):
    code = "request.refused"


class RequestTooLarge(InputError):
    code = "request.too_large"
    fix = "Send less, or add the file with `trivium add` on the server's machine."


class RequestTooSlow(InputError):
    code = "request.too_slow"
    fix = "Send the request again, faster."


class NoSuchRoute(InputError):
    code = "request.no_route"
    fix = "See the API description at /openapi.json for all routes."


class DocumentExists(InputError):
    code = "document.exists"
    fix = "Use another name, or ask the owner of the library."


class PageNotFound(InputError):
    code = "page.not_found"


class UrlRefused(InputError):
    code = "url.refused"
    fix = "Trivium only fetches public http and https addresses."


class UnsafeServing(InputError):
    code = "serve.unsafe"


class ExtraMissing(InputError):
    code = "extra.missing"


class OriginalMissing(InputError):
    code = "document.original_missing"
    fix = "Turn archive.keep on, then `trivium add` the file again after it has changed."


class ConversationNotFound(InputError):
    code = "conversation.not_found"
    fix = "`trivium conversations` lists saved conversations."


class SourceNotFound(InputError):
    code = "source.not_found"
    fix = "`GET /v1/sources` lists your sources."


class SourceExists(InputError):
    code = "source.exists"
    fix = "Choose another name with --name, or remove the old source first."


class SourceEmpty(InputError):
    code = "source.empty"
    fix = "Check the account and the options. --force removes the documents anyway."


class SourcePaused(InputError):
    code = "source.paused"
    fix = "Resume it with `trivium sync resume NAME`."


class SourceError(TriviumError):
    """A source can't be read now. Its documents stay as they are."""

    code = "source"


class SourceUnreachable(SourceError):
    code = "source.unreachable"
    fix = "Check the address and the network. The next run continues where this one stopped."


class SourceRefused(SourceError):
    code = "source.refused"
    fix = "Check the token and its permissions."


class SourceNonsense(SourceError):
    code = "source.nonsense"
    fix = "Check the address. If it is right, the service may have changed its API."


class EvaluationNotFound(InputError):
    code = "evaluation.not_found"
    fix = "`GET /v1/evaluations` lists judged sets and runs."


class JobNotFound(InputError):
    code = "job.not_found"
    fix = "`trivium jobs` lists your jobs."


class AlertNotFound(InputError):
    code = "alert.not_found"
    fix = "`trivium alert` lists your alerts."


class TargetExists(InputError):
    code = "backup.target_exists"
    fix = "Choose another place, or overwrite this one with --force."


class BackupDamaged(InputError):
    code = "backup.damaged"
    fix = "Nothing was changed. Use another backup."


class CopyFailed(InputError):
    """The copy of a library differs from the original."""

    code = "copy.failed"
    fix = "The source is unchanged. Run the same command again."


class DatasetInvalid(InputError):
    code = "dataset.invalid"
    fix = "docs/evaluating.md describes the layouts Trivium reads."


class RunInvalid(InputError):
    code = "run.invalid"
    fix = "Use a file written by `trivium eval --save` or `--run`."


class ReadError(TriviumError):
    code = "read"


class FileUnreadable(ReadError):
    code = "file.unreadable"
    fix = "Check the file's permissions."


class FileEmpty(ReadError):
    code = "file.empty"
    fix = "If you can read text in it, save it in another format and add that file."


class FileTooLarge(ReadError):
    code = "file.too_large"
    fix = "Split the file, or add only the part you need."


class FormatUnknown(ReadError):
    code = "file.format_unknown"
    fix = "Convert the file to text or Markdown first."


class FileLocked(ReadError):
    code = "file.locked"
    fix = "Add it with its password (`trivium add FILE --password`), or a copy without one."


class FileTimeout(ReadError):
    code = "file.timeout"
    fix = "Split the file, or convert it to a simpler format."


class FileDamaged(ReadError):
    code = "file.damaged"
    fix = "Open the file in its own program and save it again."


class DocumentFailed(ReadError):
    """A bug in Trivium, or in a library it uses, while adding one document."""

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
    fix = "Send fewer requests; Retry-After says when to try again."
    retry_after = 1.0  # seconds


class DeadlinePassed(ServingError):
    code = "server.deadline"
    fix = "Ask for fewer results, or raise serve.seconds."


class SignInAway(ServingError):
    code = "signin.away"
    fix = "Try again in a minute. If it stays, check `signin.issuer` and the provider."


class JobInterrupted(ReadError):
    code = "job.interrupted"
    fix = "Add it again."


class ModelError(TriviumError):
    code = "model"


class ModelUnavailable(ModelError):
    """The model doesn't answer now; callers that can continue without it do, and say so."""

    code = "model.unavailable"


class ModelUnreachable(ModelUnavailable):
    code = "model.unreachable"


class ModelTimeout(ModelUnavailable):
    code = "model.timeout"


class ModelBusy(ModelUnavailable):
    code = "model.busy"
    fix = "Try again later, or ask the provider for a higher limit."


class ModelFailing(ModelUnavailable):
    code = "model.failing"
    fix = "Try again later, and check the provider's log or status page."


class ModelRefused(ModelUnavailable):
    code = "model.refused"


class ModelNonsense(ModelUnavailable):
    code = "model.nonsense"


class ModelUnsupported(ModelUnavailable):
    """The model needs a part that Trivium lacks; without it the vectors would be wrong."""

    code = "model.unsupported"


class DimensionMismatch(ModelUnavailable):
    code = "model.dimensions"


class ModelDamaged(ModelError):
    code = "model.damaged"
    fix = "Delete the folder; Trivium downloads the model again."


class StoreError(TriviumError):
    code = "library"


class LibraryNotFound(StoreError):
    code = "library.not_found"
    fix = "`trivium add PATH` creates one."


class LibraryTooNew(StoreError):
    code = "library.too_new"
    fix = "Upgrade Trivium: run git pull and pip install . in your clone."


class LibraryDamaged(StoreError):
    code = "library.damaged"
    fix = "Run `trivium doctor` to see what is wrong, or restore the folder from a backup."


class IndexDamaged(LibraryDamaged):
    """An index is damaged. Nothing is lost: Trivium can rebuild it from the database."""

    code = "library.index_damaged"
    fix = "No document is lost: `trivium doctor --repair` rebuilds the index from the database."

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
    fix = "Restore the file in the archive from a backup. Text and search are not affected."


class DiskFull(StoreError):
    code = "library.disk_full"
    fix = "Free some space and run the same command again. Documents already added are safe."


class ArchiveAway(StoreError):
    code = "archive.away"
    fix = "Check that the object store is running and reachable, then try again."


class ArchiveRefused(StoreError):
    code = "archive.refused"
    fix = (
        "Check `archive.folder` and the key in the environment: it must allow read, write and list."
    )


class DatabaseError(StoreError):
    """The database server failed, not the library."""

    code = "database"


class DatabaseAway(DatabaseError):
    """The database server doesn't answer, or has just stopped answering."""

    code = "database.away"
    fix = "Check that the database server runs, then try again. Documents already added are safe."


class DatabaseRefused(DatabaseError):
    code = "database.refused"
    fix = "Check the user and password in the library's address."


class DatabaseSlow(DatabaseError):
    code = "database.slow"
    fix = "Try again, or ask for less at once."


class DatabaseUnsuitable(DatabaseError):
    """The database works, but can't hold a library as it is."""

    code = "database.unsuitable"


def install(extra: str) -> str:
    """How to install an extra. From the clone: Trivium isn't on a package index yet."""
    return f"In your clone of Trivium, run: pip install '.[{extra}]'"


def as_input_error(error: BaseException) -> InputError | None:
    """The typed error for a failure caused by the caller's input: a number too large for any
    database, a name too long for any file system. Every shell calls this before it reports an
    unexpected error as a bug, so no option or route can be forgotten."""
    if isinstance(error, OverflowError):
        return NumberTooLarge("A number is too large.")
    if isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG:
        return NameTooLong(f"The name {str(error.filename or '')[:60]!r}… is too long for a file.")
    return None
