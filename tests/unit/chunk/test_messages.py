"""Messages of one conversation are grouped up to the size, whole, with who, when and where."""

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.chunk.laws import check_cover

from trivium.chunk.messages import MessagesChunker
from trivium.core.types import Chunk, Element, Extraction, Kind, Place
from trivium.text.tokens import Cl100kTokens

TOKENS = Cl100kTokens()
SENTENCE = "The quick brown fox jumps over the lazy dog near the river bank. "

# A conversation, author and text; "heading" and "paragraph" stand for elements of those kinds.
Said = tuple[str, str, str]


def conversation(*said: Said) -> Extraction:
    """An extraction with a message for each, or a heading or paragraph by the author's name."""
    text = ""
    elements = []
    for number, (channel, author, words) in enumerate(said):
        text += "\n\n" if text else ""
        start, end = len(text), len(text) + len(words)
        text += words
        if author == "heading":
            elements.append(Element("heading", start, end, level=2))
            continue
        place = Place(authors=(author,), time=f"2024-01-01T00:{number:02}:00Z", link=f"#{number}")
        kind = "paragraph" if author == "paragraph" else "message"
        path = (channel,) if channel else ()
        elements.append(
            Element(
                kind,  # type: ignore[arg-type]
                start,
                end,
                path,
                paragraph=number + 1,
                place=Place() if kind == "paragraph" else place,
            )
        )
    return Extraction(text, tuple(elements), "Talk", "text/plain", kind=Kind.MESSAGES)


def check(extraction: Extraction, chunks: tuple[Chunk, ...], size: int, overlap: int) -> None:
    check_cover(extraction, chunks, TOKENS, size, overlap)


WORDS = st.sampled_from(
    ["fox", "jumps.", "Dr.", "naïve", "日本語。", "x" * 30, "line\nbreak", "\n\n"]
)
TEXT = st.lists(WORDS, min_size=1, max_size=30).map(" ".join).map(lambda t: t.strip() or "x")
SAID = st.tuples(
    st.sampled_from(["", "a", "b"]),
    st.sampled_from(["ann", "bob", "cy", "heading", "paragraph"]),
    TEXT,
)


@settings(deadline=None)
@given(st.lists(SAID, min_size=1, max_size=25), st.sampled_from([(400, 80), (64, 16), (16, 0)]))
def test_any_conversation(said: list[Said], sizes: tuple[int, int]) -> None:
    extraction = conversation(*said)
    chunks = MessagesChunker(TOKENS, *sizes, minimum=0).chunk(extraction)
    check(extraction, chunks, *sizes)


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from(["ann", "bob"]), TEXT), min_size=1)
)
def test_messages_alone_are_whole_and_never_mixed(said: list[Said]) -> None:
    extraction = conversation(*said)
    chunks = MessagesChunker(TOKENS, 64, 16, 0).chunk(extraction)
    for element in extraction.elements:
        inside = [c for c in chunks if c.start < element.end and element.start < c.end]
        if TOKENS.count(extraction.text[element.start : element.end]) <= 64:
            assert len(inside) == 1
    for chunk in chunks:
        touched = {
            e.headings for e in extraction.elements if e.start < chunk.end and chunk.start < e.end
        }
        assert len(touched) == 1


@settings(deadline=None)
@given(st.text(max_size=300), st.lists(st.integers(0, 300), max_size=8))
def test_any_text(text: str, cuts: list[int]) -> None:
    edges = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    elements = tuple(Element("message", a, b) for a, b in pairwise(edges))
    for given_elements in (elements, elements[1:], ()):
        extraction = Extraction(text, given_elements, "", "text/plain")
        check(extraction, MessagesChunker(TOKENS, 16, 4, 0).chunk(extraction), 16, 4)


def test_authors_are_named_once_and_time_and_link_are_the_first() -> None:
    [chunk] = MessagesChunker(TOKENS).chunk(
        conversation(("c", "ann", "Hello."), ("c", "bob", "Hi!"), ("c", "ann", "How are you?"))
    )
    assert chunk.text == "Hello.\n\nHi!\n\nHow are you?"
    assert chunk.place.authors == ("ann", "bob")
    assert (chunk.place.time, chunk.place.link) == ("2024-01-01T00:00:00Z", "#0")
    assert chunk.headings == ("Talk", "c")
    assert chunk.paragraph == 1


def test_conversations_stay_apart() -> None:
    extraction = conversation(("a", "ann", "One."), ("a", "bob", "Two."), ("b", "ann", "Three."))
    chunks = MessagesChunker(TOKENS).chunk(extraction)
    assert [chunk.text for chunk in chunks] == ["One.\n\nTwo.", "Three."]
    assert [chunk.headings for chunk in chunks] == [("Talk", "a"), ("Talk", "b")]


def test_a_heading_goes_with_the_first_message_under_it() -> None:
    extraction = conversation(
        ("", "heading", "a"), ("a", "ann", "One."), ("", "heading", "b"), ("b", "bob", "Two.")
    )
    chunks = MessagesChunker(TOKENS).chunk(extraction)
    assert [chunk.text for chunk in chunks] == ["a\n\nOne.", "b\n\nTwo."]


def test_groups_are_filled() -> None:
    said = [("c", "ann", SENTENCE.strip())] * 100  # 14 tokens each
    chunks = MessagesChunker(TOKENS).chunk(conversation(*said))
    assert all(chunk.tokens > 360 for chunk in chunks[:-1])
    assert sum(chunk.text.count("The quick") for chunk in chunks) == 100


def test_a_long_message_is_cut_and_keeps_its_author() -> None:
    extraction = conversation(
        ("c", "ann", "Before."), ("c", "bob", SENTENCE * 80), ("c", "cy", "After.")
    )
    chunks = MessagesChunker(TOKENS).chunk(extraction)
    check(extraction, chunks, 400, 80)
    assert [chunk.place.authors for chunk in chunks] == [
        ("ann",),
        *[("bob",)] * (len(chunks) - 2),
        ("cy",),
    ]
    assert len(chunks) > 4
    assert chunks[2].start < chunks[1].end  # the recursive chunker's overlap


class TenthTokens:
    """A token for every ten characters: two halves may count less than the whole."""

    name = "tenths"

    def count(self, text: str) -> int:
        return len(text) // 10


def test_the_size_holds_where_the_parts_count_less_than_the_whole() -> None:
    extraction = conversation(*[("c", "ann", "x" * 27)] * 50)  # with the gap 29: two tokens
    chunks = MessagesChunker(TenthTokens(), 20, 0, 0).chunk(extraction)
    assert all(chunk.tokens <= 20 for chunk in chunks)
    assert "\n\n".join(chunk.text for chunk in chunks) == extraction.text
    assert [chunk.index for chunk in chunks] == list(range(len(chunks)))


def test_what_is_no_message_is_not_lost() -> None:
    extraction = conversation(
        ("", "paragraph", "About this channel."), ("c", "ann", "Hi."), ("", "paragraph", "The end.")
    )
    chunks = MessagesChunker(TOKENS).chunk(extraction)
    assert [chunk.text for chunk in chunks] == ["About this channel.", "Hi.", "The end."]


def test_fingerprint_names_everything_that_decides() -> None:
    assert MessagesChunker(TOKENS, 300, 60, 30).fingerprint == (
        "MessagesChunker/2 size=300 overlap=60 minimum=30 tokens=cl100k_base"
    )
