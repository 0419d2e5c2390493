"""Reports outcomes of the mutated files: python -m tests.fuzz.report [MODULE:EXTRACTORS] [FILES]

For authors of extractors: bugs, crashes and slow files by name, the rest as counts.
"""

import sys
from collections import Counter
from pathlib import PurePath
from time import perf_counter

from tests.fuzz.mutations import corpus

from trivium.core.errors import ReadError
from trivium.extract.sandbox import Sandbox
from trivium.ingest.extractors import FACTORY

REVEALING = ("a fault in Trivium (", "crashed its reader", "of memory to read", "longer than")
SLOW = 1.0  # seconds


def main(extractors: str = FACTORY, files: str = "2000") -> None:
    counts: Counter[tuple[str, str]] = Counter()
    slow: list[str] = []
    started = perf_counter()
    with Sandbox(1, 10.0, 512 << 20, 64 << 20, extractors=extractors) as sandbox:
        for number, blob in enumerate(corpus(int(files))):
            begun = perf_counter()
            try:
                sandbox.read(blob)
                code = "read"
            except ReadError as error:
                code = error.code
                if any(words in error.message for words in REVEALING):
                    where = "".join(getattr(error, "__notes__", ())).strip().splitlines()[-4:-1]
                    print(f"{number} {error.message[:300]}", *where, sep="\n    ")
            counts[PurePath(blob.name).suffix[:6], code] += 1
            if (took := perf_counter() - begun) > SLOW:
                slow.append(f"{number} {blob.name[:40]} {code} {took:.1f} s")
    print(f"\n{files} files in {perf_counter() - started:.0f} s with one worker")
    for (suffix, code), count in sorted(counts.items()):
        print(f"{count:6} {suffix:8} {code}")
    print("slow:", *slow, sep="\n  ")


if __name__ == "__main__":
    main(*sys.argv[1:])
