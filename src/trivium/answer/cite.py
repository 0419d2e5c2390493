"""Reads a model's text as it comes: marks become citations, unknown ones are dropped and counted.

A mark may be written `[1]`, `[1, 3]`, `[2-4]`, `[^1]`, `[passage 1]` or `【1】`; it leaves as `[1]`
or `[1][3]`. Also keeps back the sign by which a model says that the passages do not hold it.
Knows passages only by their numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from dataclasses import dataclass, field

_OPENING = "[【"
_LONGEST_MARK = 40  # characters: anything longer isn't a mark
_NUMBERS = r"\d{1,3}(?:\s*(?:[,;&–-]|and|und)\s*\^?\d{1,3})*"
_NAMED = r"(?:(?:passages?|sources?|quellen?|abschnitte?|nos?\.?|n=)\s*)?"
_WRITTEN = re.compile(
    rf"\[\^?{_NAMED}(?P<square>{_NUMBERS})\]|【{_NAMED}(?P<thick>\d{{1,3}})[^】]*】", re.I
)
_MIGHT_BE = re.compile(r"\[\^?(?:[a-z.=]{0,10}\s*)?[\d\s,;&^–a-z-]*|【[^】]*", re.I)
_RANGE = re.compile(r"(\d+)\s*[–-]\s*(\d+)")
_LONGEST_RANGE = 20
_AROUND = " .:;,*`\"'[]()\n-–—"  # what models put around the refusal sign
MARK = re.compile(r"\[(\d{1,3})\]")  # as written here


@dataclass
class Marks:
    """Feed it pieces; its output can be shown. One for each answer."""

    known: Set[int]
    unknown: list[int] = field(default_factory=list)  # each once, in order
    cited: list[int] = field(default_factory=list)
    _pending: str = ""

    def feed(self, piece: str) -> str:
        """The part of the text so far that is certain."""
        self._pending += piece
        return self._take(at_end=False)

    def end(self) -> str:
        """The rest."""
        return self._take(at_end=True)

    def _take(self, *, at_end: bool) -> str:
        out = []
        while self._pending:
            at = next((i for i, c in enumerate(self._pending) if c in _OPENING), len(self._pending))
            # If a mark is dropped, the space before it would be left over: hold it until the mark
            # is known.
            keep = at if at_end or at < len(self._pending) else len(self._pending.rstrip(" "))
            if at and at == len(self._pending):
                out.append(self._pending[:keep])
                self._pending = self._pending[keep:]
                break
            text, rest = self._pending[:at], self._pending[at:]
            mark = _WRITTEN.match(rest)
            if mark is None:
                unfinished = _MIGHT_BE.fullmatch(rest) and len(rest) <= _LONGEST_MARK
                if unfinished and not at_end:
                    blank = len(text) - len(text.rstrip(" "))
                    out.append(text[: len(text) - blank])
                    self._pending = text[len(text) - blank :] + rest
                    break
                out.append(text + rest[0])
                self._pending = rest[1:]
                continue
            resolved = self._resolved(mark)
            out.append(text + resolved if resolved else text.rstrip(" "))
            self._pending = rest[mark.end() :]
        return "".join(out)

    def _resolved(self, mark: re.Match[str]) -> str:
        numbers = list(_numbers(mark["square"] or mark["thick"]))
        for number in numbers:
            listed = self.cited if number in self.known else self.unknown
            if number not in listed:
                listed.append(number)
        return "".join(f"[{number}]" for number in dict.fromkeys(numbers) if number in self.known)


def _numbers(text: str) -> Iterator[int]:
    for part in re.split(r"[,;&]|and|und", text):
        between = _RANGE.search(part)
        if between:
            first, last = int(between[1]), int(between[2])
            if first <= last <= first + _LONGEST_RANGE:
                yield from range(first, last + 1)
                continue
        yield from map(int, re.findall(r"\d+", part))


class Refusal:
    """Keeps the refusal sign out of the text, and says whether the text began with it."""

    def __init__(self, sign: str) -> None:
        self._sign = sign
        self._pending = ""  # may be the beginning of the sign
        self._has_text = False  # something besides the sign
        self._after = False  # the sign has just passed: drop its colon or full stop too
        self.refused = False

    def feed(self, piece: str) -> str:
        self._pending += piece
        before, sign, after = self._pending.partition(self._sign)
        if sign:
            self.refused |= not self._has_text and not before.strip(_AROUND)
            visible = self._shown("" if self.refused else before)
            self._pending, self._after = after, True
            return visible + self.feed("")
        if not self._has_text and self._sign.startswith(self._pending.lstrip(_AROUND)):
            return ""  # with the characters around it
        at = next(
            (i for i in range(len(self._pending)) if self._sign.startswith(self._pending[i:])), None
        )
        visible = self._pending[:at]
        self._pending = "" if at is None else self._pending[at:]
        return self._shown(visible)

    def end(self) -> str:
        """The rest that was held back and isn't the sign."""
        rest, self._pending = self._pending, ""
        return self._shown(rest)

    def _shown(self, text: str) -> str:
        if self._after:
            text = text.lstrip(_AROUND)
            self._after = not text
        self._has_text |= bool(text.strip(_AROUND))
        return text
