"""What is normal in a document: size and weight of its body text, the distance of its lines, the
words it uses. Everything else is recognised by differing from it.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise

from trivium.extract.pdf.characters import ACCENTED, ACCENTS, compose
from trivium.extract.pdf.marks import Line, Word, dominant

_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_BROKEN = re.compile(r"-([^\W\d_]+(?:-[^\W\d_]+)*)")  # backwards: looks only at the end
MAX_WORD = 100  # characters; of a paragraph only its end is looked at
_TYPEWRITER = re.compile(r"cour|mono|consol|typewriter|cmtt|menlo|terminal", re.I)
_HYPHENS = "-‐\u00ad"
# Ideographs, kana, and the signs and wide letters set among them: no blanks part their words.
_UNSPACED = re.compile(r"[\u2e80-\u303f\u3040-\u31ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]")


@dataclass(frozen=True, slots=True)
class Typography:
    size: float  # of body text
    bold: bool  # body text is bold
    typewriter: bool  # body text is set in a font of one width
    leadings: dict[float, float]  # distance of baselines by size
    words: Counter[str]  # casefolded, those broken at a line's end left out

    def leading(self, size: float) -> float:
        return self.leadings.get(size, 1.2 * size)


def measure(lines: list[Line]) -> Typography:
    """The habits of a document."""
    size = dominant((line.size, len(line.text)) for line in lines if len(line.cells) == 1)
    size = size or dominant((line.size, len(line.text)) for line in lines)
    body = [line for line in lines if line.size == size]
    letters = sum(len(line.text) for line in body) or 1
    typed = sum(len(line.text) for line in body if is_typewriter(line))
    steps: dict[float, Counter[float]] = {}
    for above, below in pairwise(lines):
        step = round(below.base - above.base)
        same = above.column is below.column and above.size == below.size
        if same and 0.8 * above.size < step < 3 * above.size:
            steps.setdefault(above.size, Counter())[step] += 1
    return Typography(
        size=size,
        bold=sum(len(line.text) for line in body if line.bold) > 0.5 * letters,
        typewriter=typed > 0.5 * letters,
        leadings={
            size: min(step for step, n in counts.items() if n >= 0.5 * max(counts.values())) + 0.5
            for size, counts in steps.items()
        },
        words=_vocabulary(lines),
    )


def is_typewriter(line: Line) -> bool:
    """Whether a line is set as code is."""
    return _TYPEWRITER.search(line.cells[0].words[0].style.font) is not None


def _vocabulary(lines: list[Line]) -> Counter[str]:
    texts: list[str] = []
    broken = False
    for line in lines:
        text = line.text
        if broken and (first := _WORD.search(text)):
            text = text[first.end() :]
        broken = line.text.endswith(tuple(_HYPHENS))
        if broken:
            text = text[: max([match.start() for match in _WORD.finditer(text)], default=0)]
        texts.append(text)
    words = Counter(_WORD.findall("\n".join(texts).casefold()))
    for word in [word for word in words if "-" in word]:
        for part in word.split("-"):
            words[part] += words[word]
    return words


def join_lines(lines: list[str], words: Counter[str]) -> str:
    """The text of a paragraph from its clean lines, words that a line's end broke put together."""
    text = ""
    for line in lines:
        if not text or not line:
            text += line
        elif text[-1] in _HYPHENS and len(text) > 1 and text[-2].isalnum() and line[0].isalnum():
            text = text[:-1] + ("-" if _keeps_hyphen(text, line, words) else "") + line
        elif text[-1] in "–—/" and not text[-2:-1].isspace():
            text += line  # a dash or slash without a space before it has none behind it
        elif _UNSPACED.match(text[-1]) and _UNSPACED.match(line):
            text += line
        else:
            text += " " + line
    return text


def _keeps_hyphen(text: str, line: str, words: Counter[str]) -> bool:
    """Whether the hyphen at the end of a line belongs to the word. The document's own use decides,
    then whether both halves are words of it."""
    if text[-1] == "\u00ad":
        return False
    before = _BROKEN.match(text[: -MAX_WORD - 1 : -1])
    after = _WORD.match(line)
    if before is None or after is None or line[0].isupper():
        return True
    first, second = before[1][::-1].casefold(), after[0].casefold()
    joined, parted = words[first + second], words[f"{first}-{second}"]
    if joined or parted:
        return parted > joined
    if "-" in first or first.endswith("ly"):  # state-of-the-|art, widely-|used
        return True
    return len(first) > 3 and len(second) > 3 and words[first] > 0 and words[second] > 0


def with_lost_letters(texts: list[str], words: Counter[str]) -> list[str]:
    """Texts with the letter that a font's ligature lost: "ef ect" where others say "effect"."""
    whole = {word for word in words if "ff" in word}
    often = Counter[str]()
    for word in whole:
        often[word[: word.index("ff") + 1]] += words[word]
    # Rarer than their words: "of" is no half of "office".
    lost = [half for half, times in often.items() if 0 < words[half] < times]
    if not lost:
        return texts

    def put_back(match: re.Match[str]) -> str:
        word = f"{match[1]}f{match[2]}"
        return word if word.casefold() in whole else match[0]

    broken = re.compile(rf"(?i)\b({'|'.join(map(re.escape, lost))}) ([^\W\d_]+)")
    return [broken.sub(put_back, text) for text in texts]


def settle_accents(words: list[Word]) -> list[Word]:
    """Accents that stand alone put on the letter they are printed over, if it begins a word."""
    settled: list[Word] = []
    accent: Word | None = None
    for word in words:
        if word.text in ACCENTS:
            accent = word
            continue
        if accent is not None and settled and abs(word.left - accent.left) < 0.4 * word.style.size:
            before = settled[-1]
            word.text = ACCENTED.sub(compose, accent.text + word.text)
            word.glued |= abs(word.left - before.right) < 0.1 * word.style.size
        accent = None
        settled.append(word)
    return settled
