"""Sketches of texts, and what they say of how alike two are."""

import random

import pytest

from trivium.text import nearness
from trivium.text.nearness import groups, keys, near, similarity, sketch
from trivium.text.normalise import words

CHANCE = random.Random(20261115)
VOCABULARY = [f"word{n}" for n in range(5000)]


def text(length: int) -> list[str]:
    return CHANCE.choices(VOCABULARY, k=length)


def changed(words: list[str], count: int) -> list[str]:
    other = list(words)
    for at in CHANCE.sample(range(len(words)), count):
        other[at] = "another"
    return other


def share(a: list[str], b: list[str]) -> float:
    """Of three-word runs, counted in full."""
    one, two = ({tuple(w[i : i + 3]) for i in range(len(w) - 2)} for w in (a, b))
    return len(one & two) / len(one | two)


@pytest.mark.parametrize(("length", "changes"), [(60, 3), (400, 0), (2000, 40), (2000, 300)])
def test_similarity_is_the_share_of_common_runs(length: int, changes: int) -> None:
    words = text(length)
    other = changed(words, changes)
    found = similarity(sketch(" ".join(words)), sketch(" ".join(other)))
    assert found == pytest.approx(share(words, other), abs=1e-9 if length < 128 else 0.17)


def test_short_and_empty_texts() -> None:
    assert sketch("") == sketch("...") == b""
    assert similarity(b"", b"") == 0.0
    assert similarity(sketch("Amber bell"), sketch("amber BELL!")) == 1.0
    assert similarity(sketch("Amber bell"), sketch("Copper bell")) == 0.0
    assert len(sketch(" ".join(text(9000)))) == 512
    assert len(keys(sketch(" ".join(text(9000))))) == 8


def test_groups_are_led_by_the_first() -> None:
    one, two = text(600), text(600)
    texts = {1: one, 2: two, 3: changed(one, 10), 4: changed(two, 5), 5: text(600), 6: one}
    sketches = {name: sketch(" ".join(words)) for name, words in texts.items()}
    found = groups(sketches, 0.8)
    assert [[name for name, _ in group] for group in found] == [[1, 3, 6], [2, 4]]
    assert found[0][0][1] == found[0][2][1] == 1.0
    assert 0.8 <= found[0][1][1] < 1.0
    assert groups(sketches, 1.0) == [[(1, 1.0), (6, 1.0)]]
    assert groups({1: b"", 2: b""}, 0.1) == []


def test_near_names_the_first_other() -> None:
    words = text(600)
    sketches = {n: sketch(" ".join(changed(words, n))) for n in (1, 2, 3)}
    sketches[4] = sketch(" ".join(text(600)))
    assert near([3, 1, 4, 9], sketches, 0.8) == {3: 1, 1: 2}


def test_a_copy_is_found_among_many_with_the_same_sentence() -> None:
    footer, letters = text(30), [text(60) for _ in range(100)]
    sketches = {n: sketch(" ".join(letter + footer)) for n, letter in enumerate(letters, 1)}
    sketches[101] = sketch(" ".join(changed(letters[79], 1) + footer))
    assert near([101, 80, 5], sketches, 0.8) == {101: 80, 80: 101}
    assert [[name for name, _ in group] for group in groups(sketches, 0.8)] == [[80, 101]]
    share_of_the_footer = {n: s for n, s in sketches.items() if n <= 40}
    assert len(groups(share_of_the_footer, 0.15)) == 1


def test_a_long_text_is_read_in_windows_and_its_sketch_is_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given = "\n".join(" ".join(text(20)) for _ in range(2_000)) + "'s café " + "x" * 30
    longest = 0

    def seen(part: str) -> list[str]:
        nonlocal longest
        longest = max(longest, len(part))
        return words(part)

    monkeypatch.setattr(nearness, "words", seen)
    whole = sketch(given)
    assert longest <= nearness._WINDOW < len(given)
    monkeypatch.setattr(nearness, "_WINDOW", 1_000)
    longest = 0
    assert sketch(given) == whole
    assert longest <= 1_000
    assert sketch("y" * 100_000) != b""
