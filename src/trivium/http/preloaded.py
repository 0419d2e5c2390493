"""Everything that a process of a server needs, imported once and forked from then on.

Each further process shares these pages: it keeps 126 MB to itself instead of 180 (a small library;
82 with the model's table of words, which is mapped), and starts without a second of imports.
Nothing here opens a library or starts a thread.
"""

import gc

import faiss  # noqa: F401
import onnxruntime  # noqa: F401
import tokenizers  # noqa: F401

import trivium.http.app
import trivium.http.serve
import trivium.models.local
import trivium.search.run  # noqa: F401

gc.collect()
gc.freeze()  # looking for circles would write to these pages, and copy them
