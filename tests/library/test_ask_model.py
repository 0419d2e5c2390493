"""Answers written by a real small model behind llama.cpp, from real passages.

It has 135M parameters and doesn't follow rules well. We test that every part works with it, not
that it writes well.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.language_model import KEY, NAME

from trivium.config import load
from trivium.core.answers import AnswerKind, Done, Token, Turn
from trivium.library import Library
from trivium.store.embedded.backend import open_embedded
from trivium.testing.samples import TOY

WINDOW = 1000
TEXT = """# Port Amble

The harbour of Port Amble has twelve cranes. Divers raised a crown from its silt in spring.
"""


@contextmanager
def served(folder: Path, url: str, **settings: str) -> Iterator[Library]:
    given = {
        "generate.url": url,
        "generate.model": NAME,
        "generate.window": str(WINDOW),
        "generate.temperature": "0",
        "generate.seconds": "240",
    }
    given |= {name.replace("_", ".", 1): value for name, value in settings.items()}
    (folder / "port.md").write_text(TEXT)
    with Library(open_embedded(folder / "library"), TOY, load(given).settings) as opened:
        opened.add(folder / "port.md")
        yield opened


@pytest.fixture
def library(
    tmp_path: Path, language_model: str, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Library]:
    monkeypatch.setenv("TRIVIUM_GENERATE_KEY", KEY)
    with served(tmp_path, language_model) as opened:
        yield opened


def test_a_real_model_rewrites_guesses_and_answers(library: Library) -> None:
    said = [Turn("Where is the harbour with cranes?", "The harbour is in Port Amble.")]
    events = list(library.ask_stream("How many cranes has it?", history=said))
    done = events[-1]
    assert isinstance(done, Done)
    answer = done.answer
    shown = answer.kind in (AnswerKind.WRITTEN, AnswerKind.REFUSED) and answer.model == NAME
    assert shown or any(f"{NAME} wrote nothing" in note for note in answer.notes), answer.notes
    assert answer.text == "".join(e.text for e in events if isinstance(e, Token))
    assert answer.text.strip()
    assert answer.steps[0].name == "rewrite"
    # Of two calls together; what the server counts is no more than what was reckoned with.
    assert 0 < answer.usage.prompt < WINDOW
    assert 0 < answer.usage.answer < WINDOW // 2
    assert all(one.supported or one.why for one in answer.statements)


def test_a_real_model_meets_the_tools_or_plans_its_searches(library: Library) -> None:
    events = list(library.ask_stream("How many cranes has the harbour?", depth="deep"))
    done = events[-1]
    assert isinstance(done, Done)
    answer = done.answer
    assert answer.text.strip()
    assert answer.text == "".join(e.text for e in events if isinstance(e, Token))
    # It may call tools, plan in plain text or answer at once; never without a passage.
    assert answer.refused or answer.passages
    assert any(answer.statements) is (not answer.refused)
    assert answer.kind is not AnswerKind.EXTRACTED or all(s.supported for s in answer.statements)
    assert all(c.number in {p.number for p in answer.passages} for c in answer.citations)
    assert answer.usage.prompt > 0


def test_limits_hold_for_a_real_model(
    tmp_path: Path, language_model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One turn, and hardly any tokens: it ends, with a reason, and says nothing unread."""
    monkeypatch.setenv("TRIVIUM_GENERATE_KEY", KEY)
    with served(tmp_path, language_model, ask_steps="1", ask_tokens="1") as library:
        answer = library.ask("How many cranes has the harbour?", depth="deep")
    assert answer.text.strip()
    assert answer.refused or answer.passages
    assert answer.complete or any("Stopped searching" in note for note in answer.notes)
