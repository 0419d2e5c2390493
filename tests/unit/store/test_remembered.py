from trivium.store.postgres.occurrences import most_remembered

_GIGABYTE = 1 << 30


def test_a_small_library_keeps_forty_million_chunks_of_words() -> None:
    assert most_remembered(100_000, 64 * _GIGABYTE) == 40_000_000


def test_a_large_library_keeps_a_hundred_for_each_chunk() -> None:
    assert most_remembered(3_000_000, 64 * _GIGABYTE) == 300_000_000


def test_they_take_at_most_a_sixteenth_of_the_memory() -> None:
    assert most_remembered(10_000_000, 16 * _GIGABYTE) * 6 <= _GIGABYTE
    assert most_remembered(10_000_000, _GIGABYTE) == 40_000_000
