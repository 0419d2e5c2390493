"""Completes a word: words of a vocabulary that begin with it, the most common first. Pure: the
caller says which words exist and who may see them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from trivium.core.types import Spelled
from trivium.text.misspelling import MOST_COUNTED
from trivium.text.trigrams import WordList

SHORTEST = 2  # letters: one begins a tenth of all words
LOOKED_AT = 200  # of the most common words that begin so; each costs a look at the index


def complete(
    beginning: str,
    vocabulary: WordList,
    common: Callable[[Sequence[str]], Mapping[str, int]],
    holding: Callable[[tuple[str, ...], int], int],
    most: int,
    *,
    looked_at: int | None,
) -> tuple[Spelled, ...]:
    """Words that visible chunks hold, by how many do, then by spelling. `common` counts all chunks
    and only decides the order in which to look; `holding` counts, up to a bound, what the caller
    may see. Only the first `looked_at` words are counted; None counts as many as it takes: for
    callers who do not see everything, since hidden words could push theirs out of the first."""
    if len(beginning) < SHORTEST:
        return ()
    begun = vocabulary.beginning(beginning)
    counts = common(begun)
    words = [(counts.get(word, 0), word) for word in begun]
    words.sort(key=lambda pair: (-pair[0], pair[1]))
    completions: list[Spelled] = []
    for total, word in words[:looked_at]:
        if len(completions) >= most:
            last = completions[most - 1]
            if total < last.chunks:
                break  # nobody sees more of a word than there is
            if (-min(total, MOST_COUNTED), (word,)) > (-last.chunks, last.words):
                continue  # it would come behind even if all of it were seen: 50 ms became 12
        chunks = holding((word,), MOST_COUNTED)
        if chunks:
            completions.append(Spelled((word,), chunks))
            completions.sort(key=lambda spelled: (-spelled.chunks, spelled.words))
    return tuple(completions[:most])
