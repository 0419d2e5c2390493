"""Noise in the last places of a cosine decides no rank."""

from trivium.core.types import Hit
from trivium.search.signals import settled


def test_equal_cosines_are_ordered_by_chunk_however_a_store_sums() -> None:
    one_store = [Hit(7, 0.50000012), Hit(3, 0.5), Hit(5, 0.4)]
    another = [Hit(3, 0.50000006), Hit(7, 0.49999994), Hit(5, 0.4)]
    assert settled(one_store) == settled(another) == [Hit(3, 0.5), Hit(7, 0.5), Hit(5, 0.4)]
