"""Which title identifies a document, and what to call a document that has none?

Pure. Knows words that could stand on a thousand documents; nothing of formats.
"""

from __future__ import annotations

import re

# "CHAPTER 1 – INTRODUCTION", "FORM 8-K": several files of one folder are called that.
_PART = re.compile(
    r"(?i)(?:(?:chapter|part|section|appendix|exhibit|form|item|kapitel|teil|anhang|chapitre)"
    r"\s+[\w.-]{1,8}[\s:.–—-]*)?"
    r"(?:introduction|overview|preface|(?:table of )?contents|einleitung|vorwort|inhalt)?"
)
# "25.pdf", "Microsoft Word - letter": a program wrote that, about some file.
_PROGRAM = re.compile(
    r"(?i)microsoft (?:word|powerpoint|excel) - .*|arxiv:.*|layout \d+"
    r"|.*\.(?:pdf|docx?|pptx?|xlsx?|xlsb|od[pst]|rtf|tex|dvi|indd|qxd|ps|eml|msg)"
    r"|\S*\.(?:txt|html?|md|csv|tsv|json)"
)
# "SUBTOTAL $863.91": a line of a receipt.
_PRICE = re.compile(r"[$€£]\s?-?\d[\d,]*\.\d\d\b|\b\d[\d.]*,\d\d\s?€")
# "Dear Ms Roe,", "To whom it may concern"; "Dear Evan Hansen" is a play.
_GREETING = re.compile(
    r"(?:dear|hi|hello|hey|good (?:morning|afternoon|evening)|greetings|sehr geehrte\w*|liebe[rs]?"
    r"|hallo|guten (?:tag|morgen)|ch[eè]re?s?|bonjour|madame|monsieur|estimad\w+|queridos?|hola"
    r"|gentil\w+|caro|cara|geachte|beste)\b(?:.{0,80}[,:!]|.{0,60}\b(?:sirs?|madam|m(?:r|rs|s|x)\.?|dr"
    r"|colleagues?|customers?|(?:share|stock)holders?|members?|friends?|all|everyone|team|readers?"
    r"|hiring manager|damen und herren|kolleg\w+|kund\w+|editor)\b.{0,40})"
    r"|to whom it may concern\W*",
    re.IGNORECASE,
)
# What stands over the name: lines of a press office, a court, a stenographer.
_OFFICE = re.compile(
    r"(?:for (?:immediate )?(?:release|publication)|(?:press|news|media) (?:release|statement)s?"
    r"|(?:media|investor|press)(?: relations)? contacts?|(?:presse|medien)mitteilung|embargoed"
    r"|communiqué de presse|comunicado de prensa|not for (?:distribution|publication)"
    r"|(?:strictly )?(?:private (?:and|&) )?confidential|internal use only)"
    r"(?:[\W\d]+|\b(?:on|until|at|dated?|am|pm|et|gmt|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov"
    r"|dec)\w*))*"
    r"|.*\b(?:court reporters?|(?:shorthand|stenographic) reporters?|official reporter|reported by"
    r"|reporting (?:compan(?:y|ies)|corp\w*|services?|inc|llc|associates|group))\b.*",
    re.IGNORECASE,
)
_COLUMN_WORDS = (
    "date time name names description amount amounts qty quantity price prices unit units total "
    "totals subtotal item items id code codes no nr number type status rate rates hours balance "
    "debit credit account address phone telephone email e-mail fax city state zip country notes "
    "comment comments remarks value values category source sum percent year month day per from to "
    "datum betrag menge preis einheit summe anzahl name nummer bezeichnung beschreibung"
)
_COLUMNS = frozenset(_COLUMN_WORDS.split())
# A title that a line's end has cut: "A Comparison of", "the Company and".
_CUT = re.compile(
    r"(?:[,;/&(–—-]|\b(?:the|an?|and|or|of|for|with|by|from|that|which|our|their|its|und|oder|der|die"
    r"|des|von|für|et|ou|du|des|pour))$"
)
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
    "spreadsheet attachment download export output of at am pm "
    "dokument unbenannt unbekannt ohne titel neu neues kopie entwurf beispiel einleitung vorwort "
    "inhalt inhaltsverzeichnis sans titre nouveau"
)
MIN_SENTENCE = 7  # words with a full stop behind them; a title with one is shorter
# An address, a field ("Source: …", "MIME-Version: 1.0"), markup, a command, a line of code.
_NOT_PROSE = re.compile(
    r"(?i)\w+://|(?:source|url|date|from|to|cc|re|fax|tel|phone|e-?mail|mime-version|page)\s*:"
    r"|[<{\\@#%;|=*+~^_$/]|\.[\w.]|\[\s|\d+ (?:import|def|class|from|return|if|for)\b"
)
_TWO_SENTENCES = re.compile(r"[a-z]{3}[.!?] [A-Z]")
_SAY_NOTHING = frozenset(_WORDS.split())
_HASH = re.compile(r"(?<![^\W_])(?=[a-f]*\d)[0-9a-f-]{8,}(?![^\W_])", re.IGNORECASE)
_SCHEME = re.compile(r"^[a-z][a-z0-9+.-]+:", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+")


def identifies(title: str) -> bool:
    """Whether a title tells a document from others."""
    bare = title.strip()
    if _PART.fullmatch(bare) or _PROGRAM.fullmatch(bare) or _PRICE.search(bare):
        return False
    if _GREETING.fullmatch(bare) or _OFFICE.fullmatch(bare) or _is_column_header(bare):
        return False
    return _says_something(bare)


def names(line: str) -> bool:
    """Whether a line of a document could be its title, if nobody says that it is: it identifies
    the document, and is no part of a sentence, figure, address or program."""
    words = line.split()
    if not identifies(line) or is_cut(line) or _NOT_PROSE.match(line):
        return False
    if words[0].islower() and words[0].strip(",;.").isalpha() and len(words) >= MIN_SENTENCE // 2:
        return False
    if len(words) >= 2 * MIN_SENTENCE and _TWO_SENTENCES.search(line):
        return False
    if len(words) >= MIN_SENTENCE and line.rstrip("”\"'’)").endswith((".", ";", ":")):
        return False
    return sum(_WORD.search(word) is not None for word in words) > len(words) / 2


def is_cut(line: str) -> bool:
    """Whether the line ends in the middle of a phrase."""
    return len(line.split()) > 1 and _CUT.search(line.rstrip()) is not None


def _is_column_header(title: str) -> bool:
    """Names of two columns or more: "Item | Qty | Price", "Date Description Amount"."""
    words = [word.casefold() for word in _WORD.findall(title)]
    return len(words) > 1 and _COLUMNS.issuperset(words)


def first_title(*candidates: str) -> str:
    """The first candidate that identifies a document; empty if none does."""
    return next((candidate for candidate in candidates if identifies(candidate)), "")


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


_FOLDERS = 2  # above a file that are named


def file_of(uri: str, folders: int = _FOLDERS) -> str:
    """Where a document comes from, in short: a file with its nearest folders, or a page."""
    scheme, _, rest = uri.partition("://")
    if rest and scheme in ("http", "https"):
        return rest.partition("#by-")[0]
    name = uri.removeprefix("upload:").replace("!/", "/")
    return "/".join(part for part in name.split("/")[-folders - 1 :] if part)
