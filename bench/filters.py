"""Filtered search: its time, and whether it finds the same as a scan of every row.

The vector signal is compared with a scan of all passing rows, which we compute here without the
store. The two word signals are compared with everything they match without a filter, filtered
afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from bench.build import Place
from bench.ours import Ours, exact_nearest
from bench.rows import DOCUMENT_CHUNKS, SHARDS, shard
from trivium.core.types import OWNER, Compare, Hit, Probe, Signal, Where

if TYPE_CHECKING:
    from numpy.typing import NDArray

SHARES = (0.001, 0.01, 0.1, 0.5)
_CHECKED = 20  # queries; at 1M chunks each costs seconds, since everything it matches is fetched


def filtered(ours: Ours, at: Place) -> dict[str, Any]:
    probes = ours.probes[ours.warm : ours.warm + _CHECKED]
    everything = {
        signal: [ours.store.signals.search(signal, probe, OWNER, at.chunks) for probe in probes]
        for signal in (Signal.KEYWORD, Signal.TRIGRAM)
    }
    found = {}
    for share in SHARES:
        where = Where(None, Compare("metadata.shard", "lt", share * SHARDS))
        passing = _passing(at, share)
        exact = {
            signal: [[h for h in hits if passing[h.chunk_id]][: ours.limit] for hits in lists]
            for signal, lists in everything.items()
        }
        exact[Signal.VECTOR] = [
            [Hit(i, score) for i, score in nearest]
            for nearest in exact_nearest(ours.store, probes, ours.limit, passing)
        ]
        found[f"{share:.1%}"] = {
            "chunks": int(np.count_nonzero(passing)),
            "hybrid_ms": asdict(ours.hybrid(ours.embedding, where)),
            "same_as_exact": {
                signal.value: _agreeing(ours, signal, probes, where, exact[signal])
                for signal in Signal
            },
            "checked": len(probes),
        }
    return found


def _agreeing(
    ours: Ours, signal: Signal, probes: Sequence[Probe], where: Where, exact: list[list[Hit]]
) -> int:
    """For how many queries the filtered list is exact, in ids and order."""
    return sum(
        [h.chunk_id for h in ours.store.signals.search(signal, probe, where, ours.limit)]
        == [h.chunk_id for h in true]
        for probe, true in zip(probes, exact, strict=True)
    )


def _passing(at: Place, share: float) -> NDArray[np.bool_]:
    """By chunk id, which the store gives out from 1 in the order of the rows."""
    documents = np.arange(at.chunks) // DOCUMENT_CHUNKS
    shards = np.array([shard(d) for d in range(int(documents[-1]) + 1)])
    return np.concatenate([[False], shards[documents] < share * SHARDS])
