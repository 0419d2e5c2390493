"""What every backend must do, part by part, in one class: inherit it and give it `backend`."""

from trivium.testing.beside_contract import (
    ConversationsContract,
    FoldersContract,
    LeasesContract,
    QueriesContract,
    ShelfContract,
    SourcesContract,
    SpoolContract,
    TokensContract,
    UpkeepContract,
    ViewsContract,
)
from trivium.testing.documents_contract import DocumentsContract
from trivium.testing.jobs_contract import JobsContract
from trivium.testing.models_contract import ModelsContract
from trivium.testing.signals_contract import SignalsContract
from trivium.testing.writer_contract import (
    HistoryContract,
    NamesContract,
    OriginalsContract,
    WriterContract,
)


class BackendContract(
    DocumentsContract,
    WriterContract,
    NamesContract,
    HistoryContract,
    OriginalsContract,
    SignalsContract,
    ModelsContract,
    JobsContract,
    LeasesContract,
    SpoolContract,
    ShelfContract,
    UpkeepContract,
    ViewsContract,
    TokensContract,
    FoldersContract,
    SourcesContract,
    QueriesContract,
    ConversationsContract,
):
    """`backend` is empty, and allows 100 bytes of files that were sent in. See tests/contract for
    an example."""
