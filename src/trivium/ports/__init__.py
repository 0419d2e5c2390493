"""Every part of Trivium that you can replace, and what a replacement must do. Protocols only, in
the order a document meets them: `ingest` (sources, readers, chunkers), `sync` (sources that a
library keeps in step with), `models`, `backend` (where a library is stored). `trivium.testing` has
the suites that an implementation must pass."""

from trivium.ports.backend import (
    AccessTokens as AccessTokens,
)
from trivium.ports.backend import (
    Alerts as Alerts,
)
from trivium.ports.backend import (
    Backend as Backend,
)
from trivium.ports.backend import (
    Blobs as Blobs,
)
from trivium.ports.backend import (
    Conversations as Conversations,
)
from trivium.ports.backend import (
    Documents as Documents,
)
from trivium.ports.backend import (
    Embed as Embed,
)
from trivium.ports.backend import (
    Hash as Hash,
)
from trivium.ports.backend import (
    Jobs as Jobs,
)
from trivium.ports.backend import (
    KeptSources as KeptSources,
)
from trivium.ports.backend import (
    Leases as Leases,
)
from trivium.ports.backend import (
    Meters as Meters,
)
from trivium.ports.backend import (
    Models as Models,
)
from trivium.ports.backend import (
    Nodes as Nodes,
)
from trivium.ports.backend import (
    Originals as Originals,
)
from trivium.ports.backend import (
    QueryLog as QueryLog,
)
from trivium.ports.backend import (
    Queue as Queue,
)
from trivium.ports.backend import (
    Shelf as Shelf,
)
from trivium.ports.backend import (
    Signals as Signals,
)
from trivium.ports.backend import (
    Spool as Spool,
)
from trivium.ports.backend import (
    Summarised as Summarised,
)
from trivium.ports.backend import (
    Unembedded as Unembedded,
)
from trivium.ports.backend import (
    Upkeep as Upkeep,
)
from trivium.ports.backend import (
    Usage as Usage,
)
from trivium.ports.backend import (
    Views as Views,
)
from trivium.ports.backend import (
    Waiting as Waiting,
)
from trivium.ports.backend import (
    WatchedFolders as WatchedFolders,
)
from trivium.ports.backend import (
    Writer as Writer,
)
from trivium.ports.backend import (
    worker_lease as worker_lease,
)
from trivium.ports.ingest import (
    HEARD as HEARD,
)
from trivium.ports.ingest import (
    Blob as Blob,
)
from trivium.ports.ingest import (
    Chunker as Chunker,
)
from trivium.ports.ingest import (
    Extractor as Extractor,
)
from trivium.ports.ingest import (
    FileChunker as FileChunker,
)
from trivium.ports.ingest import (
    LastingSource as LastingSource,
)
from trivium.ports.ingest import (
    Reader as Reader,
)
from trivium.ports.ingest import (
    Source as Source,
)
from trivium.ports.ingest import (
    SourceItem as SourceItem,
)
from trivium.ports.ingest import (
    Summariser as Summariser,
)
from trivium.ports.ingest import (
    Tokens as Tokens,
)
from trivium.ports.ingest import (
    Transcribed as Transcribed,
)
from trivium.ports.models import (
    LONGEST_PASSAGE as LONGEST_PASSAGE,
)
from trivium.ports.models import (
    CalledEmbedder as CalledEmbedder,
)
from trivium.ports.models import (
    CountingEmbedder as CountingEmbedder,
)
from trivium.ports.models import (
    Embedder as Embedder,
)
from trivium.ports.models import (
    FittedReranker as FittedReranker,
)
from trivium.ports.models import (
    Generated as Generated,
)
from trivium.ports.models import (
    Generator as Generator,
)
from trivium.ports.models import (
    Lexicon as Lexicon,
)
from trivium.ports.models import (
    Message as Message,
)
from trivium.ports.models import (
    NotingEmbedder as NotingEmbedder,
)
from trivium.ports.models import (
    Reranker as Reranker,
)
from trivium.ports.models import (
    TimedReranker as TimedReranker,
)
from trivium.ports.models import (
    TokenEmbedder as TokenEmbedder,
)
from trivium.ports.models import (
    ToolCall as ToolCall,
)
from trivium.ports.models import (
    ToolGenerator as ToolGenerator,
)
from trivium.ports.models import (
    ToolOffer as ToolOffer,
)
from trivium.ports.models import (
    WeighingReranker as WeighingReranker,
)
from trivium.ports.models import (
    model_name as model_name,
)
from trivium.ports.sync import (
    Change as Change,
)
from trivium.ports.sync import (
    Checkpoint as Checkpoint,
)
from trivium.ports.sync import (
    Failed as Failed,
)
from trivium.ports.sync import (
    Gone as Gone,
)
from trivium.ports.sync import (
    Only as Only,
)
from trivium.ports.sync import (
    Put as Put,
)
from trivium.ports.sync import (
    RetryingSource as RetryingSource,
)
from trivium.ports.sync import (
    SourceAsked as SourceAsked,
)
from trivium.ports.sync import (
    SourceKind as SourceKind,
)
from trivium.ports.sync import (
    SyncSource as SyncSource,
)
from trivium.ports.sync import (
    Wait as Wait,
)
