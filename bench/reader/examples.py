"""Questions with passages, as tokens, to train the reader on (`bench.reader.train`).

    python -m bench.reader.examples REPOSITORIES --data ../shared/data --to FOLDER

Our own documents and questions (`bench/reader/documents`), and those of public repositories, each
in REPOSITORIES as owner+name; what is read from each, and under which licence:

- modestyachts/squadshifts-website, datasets/{new_wiki,amazon_reviews,reddit}_v1.0.json: 27,626
  questions, CC BY 4.0 (Miller et al. 2020)
- PhongNTDo/guide_train_MRC_transformers, train-v2.0.json: ten articles of SQuAD 2.0's training
  part, 4,719 questions, 348 of them unanswerable, CC BY-SA 4.0
- xinyadu/nqg, data/processed/{src,tgt}-test.txt: 11,877 sentences and questions of SQuAD 1.1's
  training part, CC BY-SA 4.0 (its dev files are what XQuAD was translated from: not read)
- emorynlp/selqa, ass/selqa-ass-{dev,test}.json: 2,375 questions, Apache-2.0
- emorynlp/FriendsQA, dat/friendsqa_{dev,tst}.json: 2,383 questions about dialogues, Apache-2.0
- wasiahmad/PolicyQA, data/{dev,test}.json: 7,961 questions about privacy policies, MIT
- NExTplusplus/TAT-QA, dataset_raw/tatqa_dataset_{dev,test_gold}.json: 703 questions about reports
  that a paragraph answers, CC BY 4.0
- deepset-ai/COVID-QA, data/question-answering/200423_covidQA.json: 1,380 questions, Apache-2.0
- uwnlp/qamr, data/readable/{dev,test}.tsv: questions about single sentences, MIT

Paragraphs that share eight words in a row with XQuAD or a sample library of `bench.answers` are
left out. Every answerable question also gets passages that don't answer it: the same one without
the sentences that say the answer, another one that shares words with the question, or the question
with a name, a figure or a comparison changed. A tenth, by article, is kept for judging.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from heapq import nlargest
from math import log
from pathlib import Path
from random import Random
from typing import Any, TypeAlias
from zlib import crc32

import numpy as np
from safetensors.numpy import load_file
from tokenizers import Tokenizer

from bench.harness import arguments
from bench.reader.documents import DOCUMENTS, HELD_OUT, documents, is_to_fit
from trivium.answer.candidates import name_of_file
from trivium.answer.reading import LANGUAGE, in_lines
from trivium.answer.reading import LONGEST as STRETCH
from trivium.models import weights
from trivium.models.layout import TOKENIZER, WEIGHTS

Array: TypeAlias = Any

SEED = 21
LONGEST, LONGEST_QUESTION = 320, 40  # tokens
KEPT_ARTICLES = 10  # every tenth
TITLED, TITLED_OWN = 0.6, 0.95  # of the passages with a title
NAMED = 0.35  # of our own questions say which document is meant
NEARBY = 0.3  # of the passages are cut to the sentences around the answer
UNASKED = 0.15  # of the questions lose their question mark
OVERLAP = 8  # words in a row that make a paragraph known
KEPT = {"qamr": 0.08, "policies": 0.25}  # of their questions: many are alike, nearly all answered
ALONE = ("amazon_reviews", "qamr", "policies")  # whose other passages may well answer, too
OWN = "own "
TIMES_OWN = 4
TITLES = ("new_wiki", "squad2")
OPPOSITES = {
    a: b
    for one, other in (
        ("first", "last"), ("most", "least"), ("before", "after"), ("highest", "lowest"),
        ("largest", "smallest"), ("more", "less"), ("oldest", "newest"), ("early", "late"),
        ("began", "ended"), ("start", "end"), ("increase", "decrease"), ("north", "south"),
        ("east", "west"), ("maximum", "minimum"), ("best", "worst"), ("male", "female"),
        ("buy", "sell"), ("over", "under"), ("before", "after"), ("open", "close"),
    )
    for a, b in ((one, other), (other, one))
}  # fmt: skip
BEGINS, ENDS = "\ue000", "\ue001"  # signs of no language, around an answer while text is changed
_WORD = re.compile(r"\w+")
_MARKDOWN = re.compile(r"(?m)^#+ +|\*\*|__|`|^[ |:-]*-{3}[ |:-]*\n|^\| *| *\|$")
_END = re.compile(r"(?<=[.!?])\s+(?=[\"'(A-Z0-9])|\s(?=• )")
_NAME = re.compile(r"(?<![.!?] )(?<!^)\b[A-Z][\w'&-]+(?: [A-Z][\w'&-]+)*")
_FIGURE = re.compile(r"\b\d[\d.,]*\b")
_BRACKETS = {"-lrb-": "(", "-rrb-": ")", "-lsb-": "[", "-rsb-": "]", "``": '"', "''": '"'}


@dataclass(frozen=True)
class Example:
    question: str
    passage: str
    spans: tuple[tuple[int, int], ...]  # of the answers, by character; empty: it has none
    source: str
    article: str
    title: str = ""
    whole: bool = False  # the spans are sentences that hold the answer, not answers


def squad(data: dict[str, Any], source: str) -> Iterator[Example]:
    for article in data["data"]:
        title = str(article.get("title") or source)
        shown = title.replace("_", " ") if source in TITLES else ""
        for at, paragraph in enumerate(article["paragraphs"]):
            group = f"{title}{at // 20}" if source == "reddit" else title
            for asked in paragraph["qas"]:
                spans = {
                    (one["answer_start"], one["answer_start"] + len(one["text"].rstrip()))
                    for one in asked["answers"]
                    if one["text"].strip()
                }
                yield Example(
                    asked["question"].strip(), paragraph["context"], tuple(sorted(spans)),
                    source, group, shown,
                )  # fmt: skip


def by_sentence(folder: Path) -> Iterator[Example]:
    """Neighbouring lines of one paragraph are put together again."""
    said, asked = (
        [_plain(line) for line in (folder / f"{name}-test.txt").read_text("utf-8").splitlines()]
        for name in ("src", "tgt")
    )
    order = list(dict.fromkeys(said))
    place = {sentence: at for at, sentence in enumerate(order)}
    for sentence, question in zip(said, asked, strict=True):
        first = place[sentence] // 5 * 5
        around = order[first : first + 5]
        start = sum(len(one) + 1 for one in around[: around.index(sentence)])
        yield Example(
            question, " ".join(around), ((start, start + len(sentence)),),
            "nqg", f"nqg{first // 250}", whole=True,
        )  # fmt: skip


def _plain(line: str) -> str:
    text = " ".join(_BRACKETS.get(word, word) for word in line.split())
    return re.sub(r" ([.,;:?!')])", r"\1", text)


def selqa(rows: Sequence[dict[str, Any]]) -> Iterator[Example]:
    for row in rows:
        sentences: list[str] = row["candidates"]
        answers: list[int] = row["answers"]
        first = max(0, min(answers) - 4) if answers else 0
        shown = sentences[first : first + 9]
        places, at = [], 0
        for number, sentence in enumerate(shown, first):
            if number in answers:
                places.append((at, at + len(sentence)))
            at += len(sentence) + 1
        title = f"{row['article']}, {row['section']}"
        yield Example(
            str(row["question"]), " ".join(shown), tuple(places),
            "selqa", str(row["article"]), title, whole=True,
        )  # fmt: skip


def dialogues(data: dict[str, Any]) -> Iterator[Example]:
    """Utterances as lines, each with its speakers; who is the answer, is the name before one."""
    for scene in data["data"]:
        for paragraph in scene["paragraphs"]:
            said, starts = "", []
            for each in paragraph["utterances:"]:
                starts.append((len(said), ", ".join(each["speakers"])))
                said += f"{starts[-1][1]}: {each['utterance']}\n"
            for asked in paragraph["qas"]:
                spans = set()
                for one in asked["answers"]:
                    start, speaker = starts[one["utterance_id"]]
                    text = one["answer_text"]
                    at = start if one["is_speaker"] else said.find(text, start + len(speaker))
                    spans |= {(at, at + len(text))} if said[at : at + len(text)] == text else set()
                if spans:
                    yield in_one_line(
                        asked["question"].strip(), said, tuple(sorted(spans)),
                        "friends", scene["title"], "",
                    )  # fmt: skip


def reports(data: Sequence[dict[str, Any]]) -> Iterator[Example]:
    """Those that a paragraph answers."""
    for page in data:
        texts = [one["text"] for one in page["paragraphs"]]
        for asked in page["questions"]:
            if asked["answer_from"] != "text" or asked["answer_type"] not in ("span", "multi-span"):
                continue
            answers = asked["answer"] if isinstance(asked["answer"], list) else [asked["answer"]]
            for text in texts:
                places = [(text.find(one), len(one)) for one in map(str, answers)]
                if all(at >= 0 for at, _ in places):
                    spans = tuple(sorted((at, at + size) for at, size in places))
                    yield Example(asked["question"], text, spans, "tatqa", page["table"]["uid"])
                    break


def of_sentences(text: str) -> Iterator[Example]:
    """Blocks of a sentence and its questions, each with one answer or more behind a tab."""
    for block in text.split("\n\n"):
        lines = block.strip().splitlines()
        if len(lines) < 3 or not lines[0].startswith("#Wiki"):
            continue
        for line in lines[2:]:
            asked, *answers = (part.strip() for part in line.split("\t"))
            question, _, first = asked.partition("?")
            spans = {
                (at, at + len(one))
                for one in (first.strip(), *answers)
                if one and (at := lines[1].find(one)) >= 0
            }
            if spans:
                yield Example(
                    f"{question}?", lines[1], tuple(sorted(spans)), "qamr", lines[0]
                )  # fmt: skip


def own(path: Path, random: Random) -> Iterator[Example]:
    """Our own: an answer's place is where its line or sentence has it. Some questions say which
    document is meant, by words of its name."""
    for document in documents(path):
        if document.language != LANGUAGE:
            continue
        name = name_of_file(document.name)
        lead = ", ".join(part for part in dict.fromkeys((name, document.title)) if part)
        for asked in document.questions:
            whole = asked.line or document.text
            start = document.text.find(whole)
            places = [(start + whole.find(one), len(one)) for one in asked.answers]
            question = asked.text
            if random.random() < NAMED:
                question = f"{question.rstrip('? ')} {_some_of(name, random)}"
            yield in_one_line(
                question, document.text, tuple(sorted((at, at + size) for at, size in places)),
                f"{OWN}{path.stem}", document.name, lead,
            )  # fmt: skip


def _some_of(name: str, random: Random) -> str:
    """Up to three words of a name, in a row."""
    said = name.split()
    first = random.randrange(len(said))
    few = " ".join(said[first : first + random.randint(1, 3)])
    return random.choice((few, f"in the {few}", f"({few})", f"for {few}"))


def in_one_line(
    question: str, text: str, spans: Sequence[tuple[int, int]], source: str, article: str,
    title: str,
) -> Example:  # fmt: skip
    """As the reader gets it: without the signs of Markdown, and with marks where lines end."""
    edges = sorted([(end, ENDS) for _, end in spans] + [(start, BEGINS) for start, _ in spans])
    marked, at = "", 0
    for edge, sign in edges:
        marked += text[at:edge] + sign
        at = edge
    shown, begun, moved = "", [], []
    for sign in in_lines(_MARKDOWN.sub("", marked + text[at:])):
        if sign == BEGINS:
            begun.append(len(shown))
        elif sign == ENDS:
            moved.append((begun.pop(0), len(shown.rstrip())))
        else:
            shown += sign
    return Example(question, shown, tuple(moved), source, article, title)


def pieces(text: str) -> list[tuple[int, int]]:
    """The sentences, by character."""
    ends = [match.start() for match in _END.finditer(text)]
    starts = [0, *(match.end() for match in _END.finditer(text))]
    return list(zip(starts, [*ends, len(text)], strict=True))


def around(one: Example, room: int, random: Random) -> Example:
    """The sentences around the answer, at most `room` characters."""
    whole = pieces(one.passage)
    span = random.choice(one.spans) if one.spans else nearest(one.question, one.passage, whole)
    first = last = max(at for at, (s, _) in enumerate(whole) if s <= max(span[0], whole[0][0]))
    while last + 1 < len(whole) and whole[last][1] < span[1]:
        last += 1
    left, right = first, last
    while whole[right][1] - whole[left][0] < room and (left > 0 or right + 1 < len(whole)):
        if left > 0 and (right + 1 == len(whole) or random.random() < 0.5):
            left -= 1
        else:
            right += 1
        if whole[right][1] - whole[left][0] > room and (left, right) != (first, last):
            break
    start, end = whole[left][0], whole[right][1]
    spans = tuple((s - start, e - start) for s, e in one.spans if start <= s and e <= end)
    return replace(one, passage=one.passage[start:end], spans=spans)


def nearest(question: str, text: str, some: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """The sentence that shares most words with a question."""
    asked = set(_WORD.findall(question.casefold()))
    return max(some, key=lambda p: len(asked & set(_WORD.findall(text[p[0] : p[1]].casefold()))))


def without(one: Example) -> Example | None:
    """The passage without the sentences that say the answer."""
    answers = {one.passage[s:e].casefold() for s, e in one.spans}
    kept = [
        one.passage[s:e]
        for s, e in pieces(one.passage)
        if not any(s <= a < e for a, _ in one.spans)
        and not any(answer in one.passage[s:e].casefold() for answer in answers)
    ]
    text = " ".join(kept)
    return replace(one, passage=text, spans=()) if len(text) > 120 else None


class Others:
    """Passages that share words with a question."""

    def __init__(self, examples: Sequence[Example]) -> None:
        self._texts = list(dict.fromkeys((one.passage, one.title) for one in examples))
        self._bags = [set(_WORD.findall(text.casefold())) for text, _ in self._texts]
        self._having: dict[str, list[int]] = defaultdict(list)
        for at, bag in enumerate(self._bags):
            for word in bag:
                self._having[word].append(at)

    def like(self, one: Example, random: Random) -> Example | None:
        scores: dict[int, float] = defaultdict(float)
        asked = set(_WORD.findall(one.question.casefold()))
        for word in asked:
            having = self._having.get(word, ())
            if len(having) < len(self._texts) / 100:
                weight = log(len(self._texts) / max(1, len(having)))
                for at in having:
                    scores[at] += weight
        answers = [one.passage[s:e].casefold() for s, e in one.spans]
        rare = {w for w in asked if 0 < len(self._having.get(w, ())) < len(self._texts) / 50}
        able = [
            at
            for at in nlargest(12, scores, key=lambda at: scores[at])
            if self._texts[at][0] != one.passage
            and not any(answer in self._texts[at][0].casefold() for answer in answers)
            and not rare <= self._bags[at]
        ]
        if not able:
            return None
        text, title = self._texts[random.choice(able[:4])]
        return replace(one, passage=text, title=title, spans=())


def changed(one: Example, names: Sequence[str], random: Random) -> Example | None:
    """The question with a name, a figure or a comparison changed, so that the passage doesn't
    answer it."""
    text = one.question
    ways = []
    for match in _NAME.finditer(text):
        others = [name for name in names if not set(name.split()) & set(match[0].split())]
        if others:
            ways.append((match.span(), random.choice(others)))
    for match in _FIGURE.finditer(text):
        figures = [f for f in _FIGURE.findall(one.passage) if len(f) == len(match[0])]
        other = [f for f in figures if f != match[0]] or [_other_figure(match[0], random)]
        ways.append((match.span(), random.choice(other)))
    for match in _WORD.finditer(text):
        if match[0].lower() in OPPOSITES:
            ways.append((match.span(), OPPOSITES[match[0].lower()]))
    if not ways:
        return None
    (start, end), new = random.choice(ways)
    return replace(one, question=text[:start] + new + text[end:], spans=())


def _other_figure(figure: str, random: Random) -> str:
    at = random.choice([i for i, c in enumerate(figure) if c.isdigit()])
    digit = random.choice([d for d in "123456789" if d != figure[at]])
    return figure[:at] + digit + figure[at + 1 :]


def thinned(every: Sequence[Example], random: Random) -> list[Example]:
    """At most so many of a source."""
    return [one for one in every if random.random() < KEPT.get(one.source, 1.0)]


def known(data: Path) -> set[tuple[str, ...]]:
    """Runs of words of the texts that must not be trained on."""
    texts = []
    for name in ("xquad_en",):
        rows = (data / "retrieval" / name / "corpus.jsonl").read_text("utf-8").splitlines()
        texts += [json.loads(row)["text"] for row in rows]
    for place in ("examples/documents", "bench/asked/documents"):
        texts += [path.read_text("utf-8") for path in Path(place).rglob("*.md")]
    return {run for text in texts for run in _runs(text)}


def _runs(text: str) -> Iterator[tuple[str, ...]]:
    words = _WORD.findall(text.casefold())
    return zip(*(words[at:] for at in range(OVERLAP)), strict=False)


def varied(every: Sequence[Example], random: Random) -> Iterator[Example]:
    """Every question as it is, and with passages that don't answer it."""
    groups: dict[str, list[Example]] = defaultdict(list)
    for one in every:
        groups[one.source].append(one)
    for source, some in groups.items():
        others = Others(some)
        names: dict[str, list[str]] = defaultdict(list)
        for one in some:
            names[one.article] += _NAME.findall(one.passage)
        for each in some:
            one = around(each, STRETCH, random) if len(each.passage) > STRETCH else each
            if not one.spans:
                yield one
                continue
            yield (
                around(one, random.randrange(60, 400), random) if random.random() < NEARBY else one
            )
            if random.random() < 0.45 and (cut := without(one)):
                yield cut
            wanted = source not in ALONE and random.random() < 0.5
            if wanted and (other := others.like(one, random)):
                yield around(other, random.randrange(200, STRETCH), random)
            if random.random() < 0.5 and (turned := changed(one, names[one.article], random)):
                yield turned


def is_kept(one: Example) -> bool:
    """Not trained on."""
    if one.source.startswith(OWN):
        return one.source.startswith(f"{OWN}{HELD_OUT}") or is_to_fit(one.article)
    return crc32(one.article.encode()) % KEPT_ARTICLES == 0


def encoded(every: Sequence[Example], tokenizer: Tokenizer, random: Random) -> dict[str, Array]:
    """Flat arrays: the tokens of `[CLS] question [SEP] title: passage [SEP]`, where the passage
    begins, and which tokens of it may begin and end an answer (1, 2, or 3: both)."""
    ids, marks, lengths, begins, labels, held, sources = [], [], [], [], [], [], []
    names = sorted({one.source for one in every})
    for one in every:
        question = one.question
        if random.random() < UNASKED:
            question = question.rstrip("?").strip()
        titled = TITLED_OWN if one.source.startswith(OWN) else TITLED
        lead = f"{one.title}: " if one.title and random.random() < titled else ""
        asked = tokenizer.encode(question, add_special_tokens=False).ids[:LONGEST_QUESTION]
        read = tokenizer.encode(lead + one.passage, add_special_tokens=False)
        room = LONGEST - 3 - len(asked)
        allowed = [0] * min(len(read.ids), room)
        for s, e in one.spans:
            inside = [
                at
                for at, (a, b) in enumerate(read.offsets[:room])
                if b > s + len(lead) and a < e + len(lead)
            ]
            for at in inside if one.whole else ():
                allowed[at] = 3
            if inside and not one.whole:
                allowed[inside[0]] |= 1
                allowed[inside[-1]] |= 2
        if one.spans and not any(allowed):
            continue
        row = [101, *asked, 102, *read.ids[:room], 102]
        ids += row
        marks += [0] * (len(asked) + 2) + allowed + [0]
        lengths.append(len(row))
        begins.append(len(asked) + 2)
        labels.append(bool(one.spans))
        held.append(is_kept(one))
        sources.append(names.index(one.source))
    return {
        "ids": np.array(ids, np.uint16),
        "marks": np.array(marks, np.uint8),
        "lengths": np.array(lengths, np.int32),
        "begins": np.array(begins, np.int32),
        "labels": np.array(labels),
        "held": np.array(held),
        "sources": np.array(sources, np.int8),
        "names": np.array(names),
    }


def base(model: Path, ids: Array) -> dict[str, Array]:
    """The model's weights in 16 bits, without the rows of words that no example has."""
    found = {
        name: values.astype(np.float16)
        for name, values in load_file(model / WEIGHTS).items()
        if values.dtype != np.int64 and "pooler" not in name
    }
    rows = found["embeddings.word_embeddings.weight"]
    rows[np.setdiff1d(np.arange(len(rows)), ids)] = 0
    return found


def gathered(repositories: Path) -> list[Example]:
    def opened(place: str) -> Any:
        return json.loads((repositories / place).read_text("utf-8"))

    every: list[Example] = []
    for name in ("new_wiki", "amazon_reviews", "reddit"):
        every += squad(opened(f"modestyachts+squadshifts-website/datasets/{name}_v1.0.json"), name)
    every += squad(opened("PhongNTDo+guide_train_MRC_transformers/train-v2.0.json"), "squad2")
    every += by_sentence(repositories / "xinyadu+nqg/data/processed")
    for part in ("dev", "test"):
        every += selqa(opened(f"emorynlp+selqa/ass/selqa-ass-{part}.json"))
        every += squad(opened(f"wasiahmad+PolicyQA/data/{part}.json"), "policies")
        readable = repositories / f"uwnlp+qamr/data/readable/{part}.tsv"
        every += of_sentences(readable.read_text("utf-8"))
    for part in ("dev", "tst"):
        every += dialogues(opened(f"emorynlp+FriendsQA/dat/friendsqa_{part}.json"))
    for part in ("dev", "test_gold"):
        every += reports(opened(f"NExTplusplus+TAT-QA/dataset_raw/tatqa_dataset_{part}.json"))
    answers = "deepset-ai+COVID-QA/data/question-answering/200423_covidQA.json"
    return every + list(squad(opened(answers), "covid"))


def main() -> None:
    given = arguments(
        __doc__,
        repositories={"positional": True, "type": Path},
        data=Path,
        to=Path,
        few=(int, "only so many of the public ones"),
        own=(TIMES_OWN, "times each of our own, with other passages"),
    )
    every = gathered(given.repositories)
    seen = known(given.data)
    passages = {one.passage for one in every}
    bad = {text for text in passages if any(run in seen for run in _runs(text))}
    random = Random(SEED)
    fresh = thinned([one for one in every if one.passage not in bad], random)
    print(f"{len(every)} questions, {len(fresh)} used; {len(bad)} passages are known")
    if given.few:
        fresh = random.sample(fresh, given.few)
    rows = list(varied(fresh, random))
    for _ in range(given.own):
        paths = sorted(DOCUMENTS.glob("*.txt"))
        rows += varied([one for path in paths for one in own(path, random)], random)
    random.shuffle(rows)
    model = weights.locate_builtin(Path())
    tokenizer = Tokenizer.from_file(str(model / TOKENIZER))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    arrays = encoded(rows, tokenizer, random)
    given.to.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(given.to / "examples.npz", **arrays)
    np.savez_compressed(given.to / "model.npz", **base(model, arrays["ids"]))
    for at, name in enumerate(arrays["names"]):
        mine = arrays["sources"] == at
        print(
            name,
            mine.sum(),
            "answerable",
            arrays["labels"][mine].sum(),
            "held",
            arrays["held"][mine].sum(),
        )


if __name__ == "__main__":
    main()
