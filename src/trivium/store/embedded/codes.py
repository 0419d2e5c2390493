"""Two bits per dimension of every vector: a rough copy that faiss scans at 16 ns a row.

Finds candidates with rough scores. Knows rows and positions, but no files and no ids.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from trivium.core.types import Vector

BLOCK = 32  # rows in one block of faiss's layout
# Of a half's bits, shifted to where a float32 has them, and what its smaller exponent is worth.
_SIGN_AND_SIZE = np.uint32(0x8FFFE000).view(np.int32)
_SCALE = np.float32(2.0**112)
# The four values that approximate a normal variable best (Lloyd 1982), in standard deviations.
_LEVELS = np.array([-1.510, -0.4528, 0.4528, 1.510], dtype=np.float32)


def fit_levels(sample: NDArray[np.float16]) -> NDArray[np.float32]:
    """The four values that the codes of each dimension stand for."""
    rows = widen(sample)
    spread = np.maximum(rows.std(axis=0), 1e-6)
    levels: NDArray[np.float32] = rows.mean(axis=0)[:, None] + spread[:, None] * _LEVELS
    return levels


def load_faiss() -> Any:
    """Importing faiss takes 60 ms, so small libraries never do."""
    return import_module("faiss")


def make_index(levels: NDArray[np.float32], quantizer: Any, lists: int) -> Any:
    """A faiss index of these codes with this many empty lists. It owns the quantizer, which chooses
    the list of a row."""
    faiss = load_faiss()
    # faiss's fast scan takes 4-bit codes: one for two dimensions with four levels each.
    book = np.empty((len(levels) // 2, 16, 2), np.float32)
    book[:, :, 0] = levels[0::2][:, np.arange(16) % 4]
    book[:, :, 1] = levels[1::2][:, np.arange(16) // 4]
    shape = len(levels), lists, len(book), 4, faiss.METRIC_INNER_PRODUCT
    index = faiss.IndexIVFPQFastScan(quantizer, *shape)
    quantizer.this.disown()
    index.own_fields, index.by_residual = True, False
    faiss.copy_array_to_vector(book.ravel(), index.pq.centroids)
    index.is_trained = True
    return index


def block_bytes(levels: NDArray[np.float32]) -> int:
    return BLOCK * len(levels) // 4


class Codes:
    """Two bits per dimension of every row; faiss scans all of them."""

    def __init__(self, levels: NDArray[np.float32]) -> None:
        self._faiss = load_faiss()
        self.levels, self.block_bytes = levels, block_bytes(levels)
        # One inverted list with all rows: without lists, the fast scan takes no selector.
        whole = self._faiss.IndexFlatIP(len(levels))
        whole.add(np.zeros((1, len(levels)), np.float32))
        self._index = make_index(levels, whole, 1)

    @property
    def count(self) -> int:
        return int(self._index.ntotal)

    def add(self, rows: NDArray[np.float16]) -> None:
        self._index.add(widen(rows))

    def load(self, blocks: NDArray[np.uint8], number: int) -> None:
        """Load this many saved blocks as the first rows."""
        ids, pointer = np.arange(number * BLOCK), self._faiss.swig_ptr
        self._index.invlists.add_entries(0, len(ids), pointer(ids), pointer(blocks))
        self._index.ntotal = len(ids)

    def blocks(self, start: int, end: int) -> NDArray[np.uint8]:
        """The codes of these blocks, as `load` takes them."""
        codes = self._index.invlists.get_codes(0)
        upto = self._faiss.rev_swig_ptr(codes, end * self.block_bytes)
        return np.asarray(upto[start * self.block_bytes :])

    def scan(
        self, vector: Vector, number: int, bits: NDArray[np.uint8] | None
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Positions and rough scores of the rows that seem nearest. `bits`: which rows to look at,
        eight to a byte; None: all of them."""
        options = None
        if bits is not None:
            selector = self._faiss.IDSelectorBitmap(bits)
            options = self._faiss.SearchParametersIVF(sel=selector, nprobe=1)
        scores, positions = self._index.search(widen(vector[None]), number, params=options)
        is_filled = positions[0] >= 0
        return positions[0][is_filled], scores[0][is_filled]


def widen(rows: NDArray[Any]) -> NDArray[np.float32]:
    """The rows as faiss takes them: float32, with a width that is a multiple of four, so that codes
    fill whole bytes."""
    wide = floats(rows) if rows.dtype == np.float16 else rows.astype(np.float32)
    return np.pad(wide, ((0, 0), (0, -rows.shape[1] % 4))) if rows.shape[1] % 4 else wide


def floats(rows: NDArray[np.float16]) -> NDArray[np.float32]:
    """The same finite numbers. By shifting their bits and scaling, as numpy does for a whole array
    at a time: on x86-64 it converts halves one by one, in twice the time."""
    bits = rows.view(np.int16).astype(np.int32)
    bits <<= 13
    bits &= _SIGN_AND_SIZE
    wide = bits.view(np.float32)
    wide *= _SCALE
    return wide
