"""Reads source code unchanged, split where a top-level definition begins.

Detects the language from the file's name or first line. Knows no grammar.
"""

from __future__ import annotations

import re
from pathlib import PurePath

from trivium.core.types import Element, Extraction
from trivium.extract.sniff import binary_kind
from trivium.extract.text import decode
from trivium.ports import Blob, reads

LANGUAGES = {
    ".py": "python", ".pyi": "python", ".js": "javascript", ".mjs": "javascript",
    ".jsx": "javascript", ".cjs": "javascript", ".ts": "typescript", ".tsx": "typescript",
    ".java": "java", ".c": "c", ".h": "c", ".cc": "c++", ".cpp": "c++", ".cxx": "c++",
    ".hpp": "c++", ".hh": "c++", ".cs": "c#", ".go": "go", ".rs": "rust", ".rb": "ruby",
    ".php": "php", ".swift": "swift", ".kt": "kotlin", ".kts": "kotlin", ".scala": "scala",
    ".m": "objective-c", ".r": "r", ".jl": "julia", ".lua": "lua", ".pl": "perl", ".pm": "perl",
    ".sh": "shell", ".bash": "shell", ".zsh": "shell", ".fish": "shell", ".ps1": "powershell",
    ".bat": "batch", ".sql": "sql", ".css": "css", ".scss": "css", ".less": "css", ".vue": "vue",
    ".svelte": "svelte", ".hs": "haskell", ".ml": "ocaml", ".ex": "elixir", ".exs": "elixir",
    ".erl": "erlang", ".clj": "clojure", ".lisp": "lisp", ".el": "lisp", ".dart": "dart",
    ".f90": "fortran", ".f": "fortran", ".pas": "pascal", ".asm": "assembly", ".s": "assembly",
    ".zig": "zig", ".nim": "nim", ".xsl": "xslt", ".xslt": "xslt", ".xsd": "xml schema",
    ".wsdl": "wsdl", ".xaml": "xaml", ".csproj": "msbuild",
    ".proto": "protobuf", ".yaml": "yaml",
    ".yml": "yaml", ".toml": "toml", ".ini": "ini", ".cfg": "ini", ".tf": "terraform",
    ".graphql": "graphql", ".cmake": "cmake", ".gradle": "groovy", ".groovy": "groovy",
    ".vb": "basic",
}  # fmt: skip
NAMES = {"makefile": "make", "dockerfile": "docker", "cmakelists.txt": "cmake", "rakefile": "ruby"}

_SHEBANG = re.compile(rb"#!\s*(?:\S*/env\s+(?:-S\s+)?|\S*/)([a-z]+)")
_SHELLS = frozenset({"sh", "bash", "zsh", "ksh", "dash", "fish"})
# A line at the margin after a blank one begins something, unless it only closes an open block.
_BLOCK = re.compile(r"\n[ \t]*\n+(?=[^\s}\])])")


@reads("code/1", lambda blob: bool(language_of(blob)) and not binary_kind(blob.data))
def read_code(blob: Blob) -> Extraction:
    """Takes texts named as source code, or that begin with an interpreter."""
    text = decode(blob)
    starts = [0, *(gap.end() for gap in _BLOCK.finditer(text))]
    ends = [*starts[1:], len(text)]
    elements = tuple(
        Element(
            kind="code", start=start, end=start + len(text[start:end].rstrip()), paragraph=number
        )
        for number, (start, end) in enumerate(zip(starts, ends, strict=True), start=1)
    )
    return Extraction(
        text=text,
        elements=elements,
        title=PurePath(blob.name).name,
        media_type="text/x-source",
        metadata={"code_language": language_of(blob)},
    )


def language_of(blob: Blob) -> str:
    """The programming language, empty when nothing says so."""
    path = PurePath(blob.name)
    language = LANGUAGES.get(path.suffix.lower()) or NAMES.get(path.name.lower())
    if language:
        return language
    match = _SHEBANG.match(blob.data[:200])
    if match is None:
        return ""
    name = match[1].decode("ascii")
    return "shell" if name in _SHELLS else {"node": "javascript"}.get(name, name)
