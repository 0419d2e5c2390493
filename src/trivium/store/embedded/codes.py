"""Two bits a dimension for every vector: a rough copy of them that faiss scans in no time.

Finds candidates and scores nothing. Knows neither files nor ids, only rows and their positions.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from trivium.types import Vector

BLOCK = 32  # rows in one block of faiss's layout
# The four values that lose least of a normal variable (Lloyd 1982), in standard deviations.
_LEVELS = np.array([-1.510, -0.4528, 0.4528, 1.510], dtype=np.float32)


def fit_levels(sample: NDArray[np.float16]) -> NDArray[np.float32]:
    """The four values of each dimension that its codes stand for."""
    rows = _widen(sample)
    spread = np.maximum(rows.std(axis=0), 1e-6)
    levels: NDArray[np.float32] = rows.mean(axis=0)[:, None] + spread[:, None] * _LEVELS
    return levels


class Codes:
    """Two bits a dimension for every row, scanned by faiss. Finds candidates, scores nothing."""

    def __init__(self, levels: NDArray[np.float32]) -> None:
        self._faiss: Any = import_module("faiss")  # 60 ms, so only libraries of some size pay
        self.file = f"codes-{self._faiss.__version__}"
        self.levels, self.block_bytes = levels, BLOCK * len(levels) // 4
        # faiss's fast scan takes 4-bit codes: each stands for two dimensions of four levels each.
        book = np.empty((len(levels) // 2, 16, 2), np.float32)
        book[:, :, 0] = levels[0::2][:, np.arange(16) % 4]
        book[:, :, 1] = levels[1::2][:, np.arange(16) // 4]
        # One inverted list, and all rows in it: the fast scan without lists takes no selector.
        whole = self._faiss.IndexFlatIP(len(levels))
        whole.add(np.zeros((1, len(levels)), np.float32))
        shape = len(levels), 1, len(book), 4, self._faiss.METRIC_INNER_PRODUCT
        self._index = self._faiss.IndexIVFPQFastScan(whole, *shape)
        whole.this.disown()
        self._index.own_fields, self._index.by_residual = True, False
        self._faiss.copy_array_to_vector(book.ravel(), self._index.pq.centroids)
        self._index.is_trained = True

    @property
    def count(self) -> int:
        return int(self._index.ntotal)

    def add(self, rows: NDArray[np.float16]) -> None:
        self._index.add(_widen(rows))

    def load(self, blocks: NDArray[np.uint8], number: int) -> None:
        """Take over this many saved blocks, as the first rows."""
        ids, pointer = np.arange(number * BLOCK), self._faiss.swig_ptr
        self._index.invlists.add_entries(0, len(ids), pointer(ids), pointer(blocks))
        self._index.ntotal = len(ids)

    def blocks(self, start: int, end: int) -> NDArray[np.uint8]:
        """The codes of these blocks, as `load` takes them."""
        codes = self._index.invlists.get_codes(0)
        held = self._faiss.rev_swig_ptr(codes, end * self.block_bytes)
        return np.asarray(held[start * self.block_bytes :])

    def scan(
        self, vector: Vector, number: int, allowed: NDArray[np.bool_] | None
    ) -> NDArray[np.int64]:
        """The positions, rising, of the rows that seem nearest."""
        options = None
        if allowed is not None:
            bits = np.packbits(allowed, bitorder="little")
            selector = self._faiss.IDSelectorBitmap(bits)
            options = self._faiss.SearchParametersIVF(sel=selector, nprobe=1)
        found = self._index.search(_widen(vector[None]), number, params=options)[1][0]
        return np.sort(found[found >= 0])


def _widen(rows: NDArray[Any]) -> NDArray[np.float32]:
    """The rows as faiss takes them: float32, and a multiple of four wide, so whole bytes."""
    wide = rows.astype(np.float32)
    return np.pad(wide, ((0, 0), (0, -rows.shape[1] % 4))) if rows.shape[1] % 4 else wide
