"""What every backend must do, part by part, in one class: inherit it and give it `backend`."""

from tests.contract.beside_contract import (
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
from tests.contract.documents_contract import DocumentsContract
from tests.contract.jobs_contract import JobsContract
from tests.contract.models_contract import ModelsContract
from tests.contract.signals_contract import SignalsContract
from tests.contract.writer_contract import (
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
