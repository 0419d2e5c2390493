"""The control words of RTF that its reader must know by name. Knows nothing of groups."""

from __future__ import annotations

SKIPPED = frozenset(
    {"fonttbl", "colortbl", "pict", "object", "header", "headerl", "headerr", "headerf", "footer"}
    | {
        "footerl",
        "footerr",
        "footerf",
        "xe",
        "tc",
        "nonshppict",
        "themedata",
        "datastore",
        "fldinst",
    }
    | {
        "colorschememapping",
        "latentstyles",
        "listtable",
        "listoverridetable",
        "rsidtbl",
        "generator",
    }
    | {"mmathPr", "xmlnstbl", "wgrffmtfilter", "filetbl", "revtbl", "private", "template", "ftnsep"}
    | {
        "ftnsepc",
        "aftnsep",
        "aftnsepc",
        "docvar",
        "pntext",
        "pntxta",
        "pntxtb",
        "bkmkstart",
        "bkmkend",
    }
)
READ_ANYWAY = frozenset({"shptxt", "shpinst", "footnote", "shprslt", "title", "author"})
INFO = frozenset({"title", "author", "subject", "keywords"})
SIGNS = {
    "tab": "\t", "line": "\n", "emdash": "—", "endash": "–", "lquote": "‘", "rquote": "’",
    "ldblquote": "“", "rdblquote": "”", "bullet": "•", "emspace": " ", "enspace": " ",
}  # fmt: skip
CHARSETS = {
    0: "cp1252", 128: "cp932", 129: "cp949", 134: "gbk", 136: "big5", 161: "cp1253", 162: "cp1254",
    163: "cp1258", 177: "cp1255", 178: "cp1256", 186: "cp1257", 204: "cp1251", 222: "cp874",
    238: "cp1250",
}  # fmt: skip
