"""How a library is asked: answers with citations, and the conversations that it keeps."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cache
from time import monotonic

from trivium.answer.likeness import WordVectors
from trivium.answer.passages import passage_of
from trivium.answer.suggest import candidates
from trivium.core.answers import (
    Answer,
    AnswerEvent,
    Conversation,
    Depth,
    Done,
    KeptTurn,
    Turn,
    whole,
)
from trivium.core.errors import BadSetting, ConversationNotFound, LibraryReadOnly
from trivium.core.results import Results
from trivium.core.types import OWNER, DocumentId, Where
from trivium.library.asking import Scope, one_of, request_for
from trivium.library.documents import Documents
from trivium.library.history import History
from trivium.library.model import CurrentModel
from trivium.library.searching import Searching
from trivium.library.toolbox import LibraryToolbox
from trivium.models.weights import NAME
from trivium.operations.searching import Filters, SearchOptions
from trivium.ports import Backend, model_name
from trivium.ports import Conversations as KeptConversations
from trivium.search.request import SearchRequest
from trivium.text.tokens import Cl100kTokens
from trivium.text.values import check_text

SUGGESTED = 4  # questions on an empty page
SECONDS = 8.0  # to look for them; asking one takes .1 to .4
_SAMPLED = 200  # passages that they are made from
_NO_CHANGE = 2**62  # after every change: only its number is wanted
LONGEST_NAME = 200  # characters of a conversation's name


@dataclass(frozen=True)
class Answering:
    _backend: Backend
    _model: CurrentModel
    _scope: Scope
    _searching: Searching
    _documents: Documents
    _history: History
    _words: WordVectors = field(default_factory=WordVectors)
    _suggested: dict[tuple[Where, int], tuple[str, ...]] = field(default_factory=dict)

    def questions(self, within: Where = OWNER, most: int = SUGGESTED) -> tuple[str, ...]:
        """Questions that this caller's documents answer, of different documents: each was asked,
        without a language model, and what it was made from answered it. Takes `SECONDS` at most,
        once for each state of the library."""
        key = (within, self._backend.documents.changed(_NO_CHANGE, within)[0])
        if key not in self._suggested:
            self._suggested.clear()
            self._suggested[key] = tuple(self._answered(within, most))
        return self._suggested[key]

    def _answered(self, within: Where, most: int) -> Iterator[str]:
        until = monotonic() + SECONDS
        _, ids = self._backend.signals.sample(_SAMPLED, within)
        chunks = self._backend.documents.chunks(ids, within)
        made = [candidate for chunk in chunks for candidate in candidates(passage_of(1, chunk))]
        seen: set[DocumentId] = set()
        # Figures first: a page of definitions would show less of what it can answer.
        for trial in sorted(made, key=lambda trial: not any(map(str.isdigit, trial.holds))):
            document = trial.passage.citation.document
            if document in seen:
                continue
            if monotonic() > until or len(seen) == most:
                return
            answer = whole(
                self.ask_stream(trial.question, within=within, depth=Depth.ONCE, quoted=True)
            )
            cited = {citation.document for citation in answer.citations}
            if not answer.refused and trial.holds in answer.text and document in cited:
                seen.add(document)
                yield trial.question

    def ask(
        self,
        question: str,
        *,
        history: Sequence[Turn] = (),
        limit: int | None = None,
        filters: Filters = Filters(),
        within: Where = OWNER,
        conversation: str | None = None,
        depth: Depth | str | None = None,
    ) -> Answer:
        """Answer a question from at most `limit` passages (None: the setting `ask.limit`); each
        statement cites its passages. `ask_stream` returns the same piece by piece."""
        return whole(
            self.ask_stream(
                question, history=history, limit=limit, filters=filters, within=within,
                conversation=conversation, depth=depth,
            )
        )  # fmt: skip

    def ask_stream(
        self,
        question: str,
        *,
        history: Sequence[Turn] = (),
        limit: int | None = None,
        filters: Filters = Filters(),
        within: Where = OWNER,
        conversation: str | None = None,
        depth: Depth | str | None = None,
        deep: bool = False,
        quoted: bool = False,
    ) -> Generator[AnswerEvent, None, None]:
        """Steps, pieces of text and citations as they come; the last event is `Done`.

        Searches with reranking, context and, if a language model is set up (`generate.url`), a
        generated answer (HyDE); `ask.rerank`, `ask.expand` and `ask.hyde` turn them off. The model
        writes from the passages alone; without one, or if it fails, the answer quotes the passages.
        It refuses if every match is weak (`search.floor`), or if the model says that the passages
        don't answer the question.

        `depth`: `once` searches once; `deep` searches as often as needed within `ask.steps`,
        `ask.seconds` and `ask.tokens`; `auto` goes deeper only if the first search finds nothing
        relevant; None: the setting `ask.depth`. A model that can call tools does so; one that can't
        plans its searches; without a model, rules split the question.

        `deep`: have a cross-encoder read the top results if there is one, as depth `deep` does.
        `quoted`: without the language model, even if there is one.

        `history`: earlier turns, for a question that refers to them. `conversation` names a saved
        one: its turns are the history, and this one is added. Filters apply to citations too.
        Invalid options raise here, not while events are read. Close the iterator to stop early.
        """
        self._model.follow()
        within = self._scope.within(within, filters)
        generator = None if quoted else self._model.generator
        options = SearchOptions(
            limit=self._model.settings.ask_limit if limit is None else limit,
            by=self._model.settings.ask_by,
            expand=self._model.settings.ask_expand,
            hyde=self._model.settings.ask_hyde and generator is not None,
            rerank=self._model.settings.ask_rerank,
        )
        model = self._model.embedder.fingerprint
        settings = self._model.settings
        chosen = one_of(Depth, "depth", settings.ask_depth if depth is None else depth)
        read = (deep or chosen is Depth.DEEP) and settings.ask_rerank
        first = replace(options, deep=True) if read and self._model.searcher.can_deepen else options
        request = request_for(
            settings, model, (question,), within, first, self._model.scale(within)
        )
        request.check()
        # Whoever only searches imports none of this.
        from trivium.answer.agent import Limits
        from trivium.answer.run import Answerer, Inquiry

        limits = Limits(settings.ask_steps, settings.ask_seconds, settings.ask_tokens)
        any_number = replace(options, limit=None)
        box = LibraryToolbox(self._searching, self._documents, self._history, within, any_number)
        answerer = Answerer(
            self._searched,
            self._backend,
            self._model.embedder,
            generator,
            _tokens().count,
            self._words,
            fitted=model_name(model) == NAME,
        )
        if conversation is None:
            return answerer.answer(Inquiry(question, tuple(history), request, chosen, box, limits))
        if history:
            raise BadSetting("You gave both `history` and `conversation`.", fix="Leave one out.")
        if not conversation.strip() or len(conversation) > LONGEST_NAME:
            raise BadSetting(
                f"`conversation` can't be {conversation[:LONGEST_NAME]!r}.",
                fix=f"Give a name of 1 to {LONGEST_NAME} characters.",
            )
        turns = tuple(
            saved.turn for saved in self._backend.conversations.turns(conversation, within.access)
        )
        events = answerer.answer(Inquiry(question, turns, request, chosen, box, limits))
        return self._keeping(conversation, within, events)

    def _searched(self, request: SearchRequest) -> Results:
        results = self._model.following(lambda: self._model.searcher.search(request))
        self._model.observe(results.timings_ms)
        return results

    def _keeping(
        self, conversation: str, within: Where, events: Generator[AnswerEvent, None, None]
    ) -> Generator[AnswerEvent, None, None]:
        """The same events; the final answer becomes a turn. If the caller stops early, nothing is
        saved."""
        with closing(events):
            for event in events:
                if isinstance(event, Done):
                    answer = replace(event.answer, conversation=conversation)
                    # All that was read, cited or not: a model may have used it.
                    used = frozenset(passage.document for passage in answer.passages)
                    turn = KeptTurn(answer.turn, within.audiences, used)
                    try:
                        self._backend.conversations.keep(conversation, turn)
                    except LibraryReadOnly as reason:  # the answer is there all the same
                        unsaved = f"This conversation isn't saved: {reason.message}"
                        answer = replace(event.answer, notes=(*answer.notes, unsaved))
                    yield Done(answer)
                else:
                    yield event


class Conversations:
    """Saved conversations."""

    def __init__(self, conversations: KeptConversations) -> None:
        self._conversations = conversations

    def all(self, within: Where = OWNER) -> list[Conversation]:
        """Saved conversations, by name, that the caller may see."""
        return self._conversations.all(within)

    def get(self, name: str, within: Where = OWNER) -> tuple[Turn, ...]:
        """The turns of a kept conversation that may be seen."""
        check_text("conversation", name)
        turns = tuple(saved.turn for saved in self._conversations.turns(name, within))
        if not turns:
            raise ConversationNotFound(f"No saved conversation {name}.")
        return turns

    def forget(self, name: str, within: Where = OWNER) -> int:
        """Delete the turns that the caller may see; returns how many."""
        self.get(name, within)
        return self._conversations.forget(name, within)


@cache
def _tokens() -> Cl100kTokens:
    return Cl100kTokens()
