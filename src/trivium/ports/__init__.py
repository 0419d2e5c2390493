"""Every seam of Trivium: what a part must do to take another's place.

Protocols only, in the order of a document's way: `reading` (sources, readers, chunkers), `models`,
`keeping` (stores, archives, queues), `beside` (what a store keeps beside documents).
`trivium.testing` holds the suites that an implementation must pass.
"""

from trivium.ports.beside import AccessTokens, ConversationStore, WatchedFolders
from trivium.ports.keeping import (
    Blobs,
    ModelStore,
    Queue,
    Store,
    Summarised,
    Unembedded,
    Waiting,
)
from trivium.ports.models import (
    LONGEST_PASSAGE,
    CalledEmbedder,
    Embedder,
    Generated,
    Generator,
    Lexicon,
    Message,
    Reranker,
    TokenEmbedder,
    WeighingReranker,
)
from trivium.ports.reading import (
    Blob,
    Chunker,
    Extractor,
    LargeChunker,
    LastingSource,
    Reader,
    Source,
    SourceItem,
    Summariser,
    Tokens,
)

__all__ = [
    "LONGEST_PASSAGE",
    "AccessTokens",
    "Blob",
    "Blobs",
    "CalledEmbedder",
    "Chunker",
    "ConversationStore",
    "Embedder",
    "Extractor",
    "Generated",
    "Generator",
    "LargeChunker",
    "LastingSource",
    "Lexicon",
    "Message",
    "ModelStore",
    "Queue",
    "Reader",
    "Reranker",
    "Source",
    "SourceItem",
    "Store",
    "Summarised",
    "Summariser",
    "TokenEmbedder",
    "Tokens",
    "Unembedded",
    "Waiting",
    "WatchedFolders",
    "WeighingReranker",
]
