"""Which title identifies a document, and what to call a document that has none?

Pure. Knows words that could stand on a thousand documents; nothing of formats.
"""

from __future__ import annotations

import re

# "CHAPTER 1 – INTRODUCTION", "FORM 8-K": several files of one folder are called that.
_PART = re.compile(
    r"(?:(?:chapter|part|section|appendix|exhibit|form|item|kapitel|teil|anhang|chapitre)"
    r"\s+[\w.-]{1,8}[\s:.–—-]*)?"
    r"(?:introduction|overview|preface|(?:table of )?contents|einleitung|vorwort|inhalt)?",
    re.IGNORECASE,
)
# "25.pdf", "Microsoft Word - letter": a program wrote that, about some file.
_PROGRAM = re.compile(
    r"microsoft (?:word|powerpoint|excel) - .*|arxiv:.*|layout \d+"
    r"|.*\.(?:pdf|docx?|pptx?|xlsx?|xlsb|od[pst]|rtf|tex|dvi|indd|qxd|ps|eml|msg)"
    r"|\S*\.(?:txt|html?|md|csv|tsv|json)",
    re.IGNORECASE,
)
# "SUBTOTAL $863.91": a line of a receipt.
_PRICE = re.compile(r"[$€£]\s?-?\d[\d,]*\.\d\d\b|\b\d[\d.]*,\d\d\s?€")
# A title of only these words and numbers says nothing. Words that also name things ("Message", a
# spell) are left out.
_WORDS = (
    "test tests testing title untitled unnamed unknown undefined document documents doc docs file "
    "files new copy draft final version example examples sample samples demo dummy temp tmp foo "
    "bar baz blank empty none null default redacted removed subject no re fw fwd aw wg todo to do "
    "readme index main init changelog license licence legal information copyright disclaimer "
    "anonymous introduction overview preface table contents abstract summary acknowledgements "
    "img image images dsc photo picture pic screenshot scan scans scanned page pages slide slides "
    "sheet sheets worksheet workbook book presentation powerpoint microsoft office word excel "
    "attachment download export output of at am pm "
    "dokument unbenannt unbekannt ohne titel neu neues kopie entwurf beispiel einleitung vorwort "
    "inhalt inhaltsverzeichnis sans titre nouveau"
)
_SAY_NOTHING = frozenset(_WORDS.split())
_HASH = re.compile(r"(?<![^\W_])(?=[a-f]*\d)[0-9a-f-]{8,}(?![^\W_])", re.IGNORECASE)
_SCHEME = re.compile(r"^[a-z][a-z0-9+.-]+:", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+")


def identifies(title: str) -> bool:
    """Whether a title tells a document from others."""
    bare = title.strip()
    if _PART.fullmatch(bare) or _PROGRAM.fullmatch(bare) or _PRICE.search(bare):
        return False
    return _says_something(bare)


def first_title(*candidates: str) -> str:
    """The first candidate that identifies a document; empty if none does."""
    return next((one for one in candidates if identifies(one)), "")


def placed(title: str, uri: str) -> str:
    """The title; with its folder if it is only the name of a file that says nothing, and the folder
    says more: that of an upload is the hash of who sent it."""
    *folders, name = _parts(uri)
    is_bare = title in (name, _stem(name)) and not _says_something(_stem(name))
    return f"{folders[-1]}/{name}" if is_bare and any(map(_says_something, folders[-1:])) else title


def followed(title: str, old: str, new: str) -> str:
    """The title under a new uri: it changes if it was taken from the old one."""
    before, after = _parts(old)[-1], _parts(new)[-1]
    if title == before:
        return placed(after, new)
    if title in (_stem(before), "/".join(_parts(old)[-2:])):
        return placed(_stem(after), new)
    return title


def _says_something(text: str) -> bool:
    return not _SAY_NOTHING.issuperset(_WORD.findall(_HASH.sub(" ", text.casefold())))


def _parts(uri: str) -> list[str]:
    """Folders and the file's name; a file that holds others is their folder."""
    return [part for part in _SCHEME.sub("", uri).replace("!/", "/").split("/") if part] or [uri]


def _stem(name: str) -> str:
    stem, dot, _ = name.rpartition(".")
    return stem if dot and stem else name
