import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.text.trigrams import (
    KNOWN_THRESHOLD,
    MOST_KNOWN,
    MOST_SIMILAR,
    THRESHOLD,
    Vocabulary,
    _compare,
    trigrams,
    word_similarity,
)

WORDS = st.text(alphabet="abcdeé", min_size=1, max_size=12)


def test_trigrams_are_padded_as_by_pg_trgm() -> None:
    assert trigrams("cat") == ("  c", " ca", "cat", "at ")


@pytest.mark.parametrize(
    ("word", "text", "similarity"),
    [
        ("word", ("two", "words"), 0.8),  # the example of PostgreSQL's documentation
        ("battleaxe", ("battle", "axe"), 8 / 13),
        ("axe", ("battleaxe",), 0.5),
        ("sword", ("sword",), 1.0),
        ("sword", ("fog",), 0.0),
        ("rationaly", ("rational",), 0.8),
    ],
)
def test_word_similarity(word: str, text: tuple[str, ...], similarity: float) -> None:
    assert word_similarity(word, text) == pytest.approx(similarity)


@given(WORDS, st.lists(WORDS, min_size=1, max_size=2).map(tuple))
def test_word_similarity_is_the_best_of_all_runs(word: str, text: tuple[str, ...]) -> None:
    wanted = set(trigrams(word))
    run = [gram for part in text for gram in trigrams(part)]
    best = max(
        len(wanted & set(run[i:j])) / len(wanted | set(run[i:j]))
        for i in range(len(run))
        for j in range(i + 1, len(run) + 1)
    )
    assert word_similarity(word, text) == pytest.approx(best)


def vocabulary(*words: str) -> Vocabulary:
    found = Vocabulary()
    found.add(words)
    return found


@pytest.mark.parametrize(
    ("word", "known", "best"),
    [
        ("battleaxe", ("battle", "axe", "fog"), ("battle", "axe")),
        ("shortsord", ("short", "sword", "shore", "fog"), ("short", "sword")),
        ("crownn", ("crown", "crow", "brown"), ("crown",)),
        ("rationaly", ("rationalization", "rational", "ration"), ("rational",)),
        ("sword", ("shortsword", "sword", "words"), ("sword",)),
    ],
)
def test_the_most_alike_comes_first(word: str, known: tuple[str, ...], best: object) -> None:
    assert vocabulary(*known).similar(word)[0].words == best


def test_numbers_resemble_nothing() -> None:
    assert vocabulary("2020", "2021", "20201").similar("2022") == []
    assert [s.words for s in vocabulary("2020", "2021").similar("2020")] == [("2020",)]


def test_two_words_count_only_where_the_second_adds_something() -> None:
    found = vocabulary("battle", "axe", "ground").similar("battle")
    assert [s.words for s in found] == [("battle",)]


@given(st.lists(WORDS, max_size=30), st.lists(WORDS, max_size=30), WORDS)
def test_growing_in_steps_gives_the_same_answers(
    first: list[str], second: list[str], word: str
) -> None:
    grown = vocabulary(*first)
    grown.similar(word)
    grown.add(second)
    at_once = vocabulary(*first, *second)
    assert grown.similar(word) == at_once.similar(word)
    assert len(grown) == len({*first, *second})


@given(st.lists(WORDS, min_size=1, max_size=20), WORDS)
def test_everything_alike_enough_is_found(known: list[str], word: str) -> None:
    found = {s.words for s in vocabulary(*known).similar(word) if len(s.words) == 1}
    threshold = KNOWN_THRESHOLD if word in known else THRESHOLD
    alike = {(w,) for w in known if word_similarity(word, (w,)) >= threshold and len(w) > 1}
    if len(alike) < 5 and len(word) > 1:
        assert alike <= found | {(word,)}


@given(st.lists(WORDS, min_size=1, max_size=60), WORDS.filter(lambda word: len(word) > 1))
def test_leaving_out_what_cannot_be_among_the_most_alike_changes_nothing(
    known: list[str], word: str
) -> None:
    words = vocabulary(*known)
    threshold = KNOWN_THRESHOLD if word in words else THRESHOLD
    most = (MOST_KNOWN - 1) if word in words else MOST_SIMILAR
    promising = [w for w in words.alike(word, threshold) if w != word]
    compared = [_compare(word, (w,)) for w in promising]
    alike = [s for s in compared if s.similarity >= threshold]
    best = sorted(alike, key=lambda s: (-s.likeness, s.words))[:most]
    kept = sorted(words._single(word, threshold, most), key=lambda s: (-s.likeness, s.words))
    assert kept[:most] == best


def test_words_of_a_large_vocabulary_are_found_wherever_they_stand() -> None:
    known = [f"{'abcdefghij'[n % 10]}{n:05d}k" for n in range(10_000)]
    vocabulary = Vocabulary()
    vocabulary.add(known)
    for place in (0, 4_095, 4_096, 8_191, 8_192, 9_999):
        word = sorted(known)[place]
        assert vocabulary.similar(word + "k")[0].words == (word,)
