"""No answer, citation, prompt or kept turn holds what its caller may not see."""

import tempfile
from dataclasses import asdict
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.library.chat import Chat, asked, dumped

from trivium.library import where
from trivium.operations.searching import Filters
from trivium.testing.samples import sample

AUDIENCES = ("all", "player", "dm-only")
_DOCUMENTS = st.lists(st.sampled_from(AUDIENCES), min_size=1, max_size=5)
_CALLERS = st.lists(st.frozensets(st.sampled_from(AUDIENCES)), min_size=1, max_size=4)


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(audiences=_DOCUMENTS, callers=_CALLERS, model=st.booleans())
def test_nothing_outside_the_callers_audience(
    audiences: list[str], callers: list[frozenset[str]], model: bool
) -> None:
    documents = [
        sample(f"{n}.md", f"Fog tells secret{n} of fog.", title=f"Title{n}", audience=audience)
        for n, audience in enumerate(audiences)
    ]
    chat = Chat()
    chat.answer = "Fog tells a secret [1][2][3][4][5]. It is fog [9]."
    chat.rewrite = "What does fog tell?"
    given_ = {} if model else {"generate_url": ""}
    with (
        tempfile.TemporaryDirectory() as folder,
        asked(Path(folder), chat, documents, **given_) as library,
    ):
        for held in callers:
            hidden = [n for n, a in enumerate(audiences) if a != "all" and a not in held]
            chat.prompts.clear()
            answer = library.ask(
                "What does fog tell?", filters=Filters(audiences=held), conversation="talk"
            )
            kept = library.conversations.get("talk", where(Filters(audiences=held)))
            told = dumped([asdict(answer), [asdict(turn) for turn in kept], chat.prompts])
            for n in hidden:
                assert f"secret{n}" not in told
                assert f"Title{n}" not in told
            cited = {n for one in answer.statements for n in one.citations}
            assert cited <= {one.number for one in answer.citations}
