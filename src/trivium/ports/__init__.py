"""Every part of Trivium that you can replace, and what a replacement must do. Protocols only, in
the order a document meets them: `ingest` (sources, readers, chunkers), `sync` (sources that a
library keeps in step with), `models`, and `backend` (where a library is stored) with its parts in
`documents`, `work`, `files` and `records`. The suites that an implementation must pass are in
`trivium.testing` (extractors and sources) and tests/contract."""

# ruff: noqa: I001 - one list for each module, where its sorting would make an import of each name

from trivium.ports.backend import (
    Backend as Backend,
    Hash as Hash,
    Meters as Meters,
    Nodes as Nodes,
    Upkeep as Upkeep,
    Views as Views,
)
from trivium.ports.documents import (
    Documents as Documents,
    Embed as Embed,
    Models as Models,
    Signals as Signals,
    Summarised as Summarised,
    Unembedded as Unembedded,
    SenderUsage as SenderUsage,
    Waiting as Waiting,
    Writer as Writer,
)
from trivium.ports.files import (
    Blobs as Blobs,
    Originals as Originals,
    Shelf as Shelf,
    Spool as Spool,
)
from trivium.ports.records import (
    AccessTokens as AccessTokens,
    Alerts as Alerts,
    Conversations as Conversations,
    KeptSources as KeptSources,
    QueryLog as QueryLog,
    WatchedFolders as WatchedFolders,
)
from trivium.ports.work import (
    Jobs as Jobs,
    Leases as Leases,
    Queue as Queue,
)
from trivium.ports.ingest import (
    HEARD as HEARD,
    Blob as Blob,
    ByWord as ByWord,
    Chunker as Chunker,
    Extractor as Extractor,
    FileChunker as FileChunker,
    LastingSource as LastingSource,
    Reader as Reader,
    Source as Source,
    SourceItem as SourceItem,
    Summariser as Summariser,
    Tokens as Tokens,
    Transcribed as Transcribed,
    reads as reads,
)
from trivium.ports.models import (
    LONGEST_PASSAGE as LONGEST_PASSAGE,
    CalledEmbedder as CalledEmbedder,
    CountingEmbedder as CountingEmbedder,
    Embedder as Embedder,
    FittedReranker as FittedReranker,
    Generated as Generated,
    Generator as Generator,
    Lexicon as Lexicon,
    Message as Message,
    NotingEmbedder as NotingEmbedder,
    Reading as Reading,
    ReadingEmbedder as ReadingEmbedder,
    Reranker as Reranker,
    TimedReranker as TimedReranker,
    TokenEmbedder as TokenEmbedder,
    ToolCall as ToolCall,
    ToolGenerator as ToolGenerator,
    ToolOffer as ToolOffer,
    WeighingReranker as WeighingReranker,
    model_name as model_name,
)
from trivium.ports.sync import (
    Change as Change,
    Checkpoint as Checkpoint,
    Failed as Failed,
    Gone as Gone,
    Only as Only,
    Put as Put,
    RetryingSource as RetryingSource,
    SourceAsked as SourceAsked,
    SourceKind as SourceKind,
    SyncSource as SyncSource,
    Wait as Wait,
)
