"""Recordings on their way into a library: parts of one talk, a service that hears, going on after
somebody stopped it."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from email.parser import BytesParser
from http.server import BaseHTTPRequestHandler, HTTPServer
from io import BytesIO
from pathlib import Path
from threading import Thread
from time import monotonic, sleep

import numpy as np
import openai
import pytest
from openai.types.audio import TranscriptionVerbose
from tests.recordings.making import CLIP, RATE, encoded, samples

from trivium.config import Settings
from trivium.core.access import LOCAL_OWNER
from trivium.core.errors import FileUnreadable
from trivium.core.types import Extraction, Labels
from trivium.core.work import JobState, Task, TaskState
from trivium.ingest.outcomes import Dropped, Steps
from trivium.library import Library
from trivium.library.assembly import recordings_for, sandbox_for
from trivium.models.catalogue import named_for
from trivium.models.hub import carrier_folder
from trivium.operations.searching import Filters
from trivium.ports import Blob, Transcribed
from trivium.store.embedded.backend import open_embedded
from trivium.testing.samples import TOY

SRT = """1
00:00:01,000 --> 00:00:03,000
The quay is wet.

2
00:00:08,000 --> 00:00:09,000
Farewell.
"""


def test_video_sound_and_subtitles_of_one_name_are_one_document(
    library: Library, tmp_path: Path
) -> None:
    folder = tmp_path / "talks"
    folder.mkdir()
    (folder / "talk.srt").write_text(SRT)
    (alone,) = library.add(folder).outcomes
    assert alone.document is not None
    for ending in ("ogg", "mkv"):
        shutil.copy(CLIP, folder / f"talk.{ending}")
    report = library.add(folder)
    (document,) = library.documents.all()
    assert sorted(one.fate for one in report.outcomes) == ["added", "duplicate", "duplicate"]
    assert document.uri.endswith("talk.mkv")
    assert document.media_type.startswith("audio/")
    (folder / "talk.srt").write_text(SRT.replace("quay", "pier"))
    library.add(folder)
    assert "pier" in library.documents.text(document.id)
    (result,) = library.search("farewell", 1)
    assert result.at == 8.0
    assert result.found.chunk.place.seconds == (1.0, 9.0)
    for where, count in (("at:0:05..0:20", 1), ("at:9.5..20", 0), ("at:0:02", 1), ("at:*", 1)):
        assert len(library.search("farewell", 5, filters=Filters(where=where))) == count
        assert len(library.documents.all(where=where)) == count
    (place,) = library.quote("The pier is wet").places
    assert place.seconds == (1.0, 1.0)
    citation = library.ask("What is wet?").citations[0]
    assert citation.seconds == (1.0, 9.0)


def test_a_sound_of_another_length_is_no_part_of_the_video_of_its_name(
    library: Library, tmp_path: Path
) -> None:
    folder = tmp_path / "talks"
    folder.mkdir()
    short = encoded("wav", "pcm_s16le", samples()[:, : 3 * RATE])
    for name, data in (("talk.mkv", CLIP.read_bytes()), ("talk.wav", short)):
        (folder / name).write_bytes(data)
        (folder / name).with_suffix(".srt").write_text(SRT)
    library.add(folder)
    assert sorted(Path(one.uri).name for one in library.documents.all()) == ["talk.mkv", "talk.wav"]


def test_another_sound_of_the_same_name_and_length_is_another_document(
    library: Library, tmp_path: Path
) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    first, second = samples()[:, : 4 * RATE], samples()[:, 4 * RATE : 8 * RATE]
    (folder / "note.wav").write_bytes(encoded("wav", "pcm_s16le", first))
    (folder / "note.mp3").write_bytes(encoded("mp3", "libmp3lame", second))
    assert [one.fate for one in library.add(folder).outcomes] == ["added", "added"]
    for name, said in (("note.wav", "ledger"), ("note.mp3", "height")):
        (document,) = library.documents.all(where=f"source:{name}")
        assert said in library.documents.text(document.id)
    (folder / "note.mp3").write_bytes(encoded("mp3", "libmp3lame", first))
    library.add(folder)
    (document,) = library.documents.all()
    assert document.uri.endswith("note.wav")


@pytest.mark.parametrize("reason", ["mute", "damaged", "too large"])
def test_a_video_that_can_not_be_read_takes_no_sound_with_it(tmp_path: Path, reason: str) -> None:
    folder = tmp_path / "talks"
    folder.mkdir()
    sound = encoded("wav", "pcm_s16le", samples()[:, : 4 * RATE])
    picture = encoded("mp4", "aac", np.zeros((1, 0), np.int16), video="libx264")
    data = {
        "mute": picture,
        "damaged": b"\x00\x00\x00\x18ftypisom" + b"\x07" * 500,
        "too large": picture + bytes(len(sound)),
    }[reason]
    (folder / "talk.wav").write_bytes(sound)
    (folder / "talk.mp4").write_bytes(data)
    settings = Settings(read_max_bytes=len(sound), cache=tmp_path)
    with Library(open_embedded(tmp_path / "library"), TOY, settings) as library:
        report = library.add(folder)
        assert sorted(one.fate for one in report.outcomes) == ["added", "failed"]
        (document,) = library.documents.all()
        assert document.uri.endswith("talk.wav")


def test_the_same_name_in_another_folder_is_another_document(
    library: Library, tmp_path: Path
) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "talk.srt").write_text(SRT.replace("quay", folder))
    shutil.copy(CLIP, tmp_path / "one" / "talk.ogg")
    library.add([tmp_path / "one", tmp_path / "two"])
    uris = sorted(one.uri for one in library.documents.all())
    assert uris == [str(tmp_path / "one" / "talk.ogg"), str(tmp_path / "two" / "talk.srt")]


def test_a_reading_that_was_stopped_goes_on_where_it_was(tmp_path: Path) -> None:
    settings = Settings(cache=tmp_path)
    clip, heard = CLIP.read_bytes(), list[Transcribed]()

    def stop(told: Transcribed) -> None:
        heard.append(told)
        if told.piece:
            raise Dropped

    with sandbox_for(settings, 1) as box:
        read = recordings_for(settings, box.read_all, box.read_all)
        with pytest.raises(Dropped):
            read([Blob("a.ogg", clip, on_transcribed=stop)])
        (saved,) = (tmp_path / "transcripts").iterdir()
        told = saved.read_text()
        assert "ledger" in told
        # Words that only the saved file has show that it counts. Its last line was cut by a crash.
        saved.write_text(told.replace("ledger", "notebook") + '{"until": 9')
        pieces: list[str] = []
        got, other = read(
            [
                Blob("a.ogg", clip, on_transcribed=lambda told: pieces.append(told.piece)),
                Blob("a.txt", b"A note."),
            ]
        )
    assert isinstance(got, Extraction)
    assert isinstance(other, Extraction)
    assert "notebook" in got.text
    assert not any(pieces)  # nothing was heard again
    assert not list((tmp_path / "transcripts").iterdir())
    steps = Steps()
    for one in (*heard, Transcribed(heard[-1].total, heard[-1].total)):
        steps.hear(one.done, one.total)
    done, total, left = steps.heard.split()
    assert (done, total, left) == ("13", "13", "0")


@pytest.mark.parametrize("linked", [False, True])
def test_a_model_in_a_folder_of_your_own_hears(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, linked: bool
) -> None:
    """Readers are closed in, and start in a folder of theirs."""
    carrier = carrier_folder(named_for("tiny.en", "speech"))
    assert carrier is not None
    shutil.copytree(carrier, tmp_path / "files")
    if linked:
        (tmp_path / "own").mkdir()
        for file in (tmp_path / "files").iterdir():
            (tmp_path / "own" / file.name).symlink_to(file)
    else:
        (tmp_path / "files").rename(tmp_path / "own")
    monkeypatch.chdir(tmp_path)
    with sandbox_for(Settings(cache=tmp_path / "cache", audio_model="own"), 1) as box:
        (heard,) = box.read_all([Blob("a.ogg", CLIP.read_bytes())])
    assert isinstance(heard, Extraction)
    assert "ledger" in heard.text


@pytest.mark.parametrize("damaged", ["model.bin", "tokenizer.json", "config.json"])
def test_a_damaged_speech_model_is_named_and_stops_nothing_else(
    tmp_path: Path, damaged: str
) -> None:
    carrier, own = carrier_folder(named_for("tiny.en", "speech")), tmp_path / "own"
    assert carrier is not None
    shutil.copytree(carrier, own)
    os.truncate(own / damaged, (own / damaged).stat().st_size // 2)
    with sandbox_for(Settings(cache=tmp_path / "cache", audio_model=str(own)), 1) as box:
        failed, note = box.read_all(
            [Blob("a.ogg", CLIP.read_bytes()), Blob("a.txt", b"A note about oaks.")]
        )
    assert isinstance(failed, FileUnreadable)
    assert failed.message.startswith(f"Couldn't transcribe a.ogg: the speech model in {own} can't")
    assert "audio.model" in failed.fix
    assert isinstance(note, Extraction)


def test_progress_is_told_in_minutes() -> None:
    task = Task(1, 1, "u", "talk.mp4", 1, TaskState.WORKING, heard="720 5700 245")
    assert task.passages_done == "12 of 95 min · about 4 min left"


ANSWER = {
    "task": "transcribe",
    "language": "english",
    "duration": 12.7,
    "text": "The harbour is closed. Come back at noon.",
    "segments": [
        {
            "id": number, "seek": 0, "start": start, "end": start + 2, "text": text, "tokens": [1],
            "temperature": 0.0, "avg_logprob": -0.2, "compression_ratio": 1.1,
            "no_speech_prob": 0.01,
        }
        for number, (start, text) in enumerate(
            [(1.0, " The harbour is closed."), (4.0, " Come back at noon.")]
        )
    ],
    "words": [
        {"word": word, "start": start, "end": start + 0.2}
        for word, start in zip(
            ["The", "harbour", "is", "closed", "Come", "back", "at", "noon"],
            [1.0, 1.2, 1.8, 2.0, 4.0, 4.4, 4.6, 4.9],
            strict=True,
        )
    ],
}  # fmt: skip


class _Service(BaseHTTPRequestHandler):
    """Answers as OpenAI documents `POST /audio/transcriptions` with verbose_json; its shape is
    openai-python's `TranscriptionVerbose`. Refuses what the real one refuses: another path, a form
    without a file or a model, another key."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        head = f"Content-Type: {self.headers['Content-Type']}\r\n\r\n".encode()
        form = BytesParser().parsebytes(head + body)
        fields: dict[str, list[bytes]] = {}
        for part in form.get_payload():
            name = part.get_param("name", header="content-disposition")
            fields.setdefault(name, []).append(part.get_payload(decode=True))
        granular = fields.get("timestamp_granularities[]")
        status, told = 200, ANSWER
        if self.headers["Authorization"] != "Bearer sk-right":
            status, told = 401, {"error": {"message": "Incorrect API key provided."}}
        elif self.path != "/v1/audio/transcriptions" or fields.get("model") != [b"whisper-1"]:
            status, told = 404, {"error": {"message": "The model does not exist."}}
        elif fields.get("file") != [CLIP.read_bytes()] or granular != [b"word", b"segment"]:
            status, told = 400, {"error": {"message": "Invalid form."}}
        data = json.dumps(told).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def service() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), _Service) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/v1"
        server.shutdown()


def test_the_service_is_one_that_the_official_client_understands(service: str) -> None:
    with openai.OpenAI(api_key="sk-right", base_url=service, max_retries=0) as client:
        told = client.audio.transcriptions.create(
            file=CLIP,
            model="whisper-1",
            response_format="verbose_json",
            timestamp_granularities=["word", "segment"],
        )
    assert TranscriptionVerbose.model_validate(told.model_dump()).text == ANSWER["text"]


@pytest.mark.parametrize("key", ["sk-right", "sk-wrong"])
def test_a_service_may_transcribe(
    service: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    (tmp_path / "key").write_text(key)
    settings = Settings(
        audio_url=service, audio_model="whisper-1", audio_key_file=tmp_path / "key", cache=tmp_path
    )
    clip = tmp_path / "clip.ogg"
    shutil.copy(CLIP, clip)
    with Library(open_embedded(tmp_path / "library"), TOY, settings) as library:
        (outcome,) = library.add(clip).outcomes
        if key == "sk-wrong":
            assert outcome.error is not None
            assert outcome.error.code == "file.unreadable"
            assert "Couldn't transcribe clip.ogg" in outcome.error.message
            return
        (result,) = library.search("noon", 1)
    assert result.found.chunk.text == "The harbour is closed. Come back at noon."
    assert result.at == 4.9
    assert result.found.document.metadata["transcribed_by"] == "remote:whisper-1"
    assert result.found.document.language == "en"


class Talk:
    """A recording that is heard in two pieces, with a silence between. Where its first piece is
    saved lies a pipe at first: whoever hears the talk waits there until somebody reads it."""

    def __init__(self, folder: Path) -> None:
        sound = samples()
        parts = (sound[:, : 4 * RATE], np.zeros((1, 121 * RATE), np.int16), sound[:, 8 * RATE :])
        self.file = folder / "talk.wav"
        self.file.write_bytes(encoded("wav", "pcm_s16le", np.concatenate(parts, axis=1)))
        self.settings = Settings(cache=folder / "cache")
        digest = hashlib.sha256(self.file.read_bytes())
        digest.update(f"{self.settings.audio_model}:{self.settings.audio_language}".encode())
        self._saved = folder / "cache" / "transcripts" / f"{digest.hexdigest()}.jsonl"
        self._saved.parent.mkdir(parents=True)
        os.mkfifo(self._saved)

    @contextmanager
    def open(self) -> Iterator[None]:
        """Nobody who saves a piece waits for a reader."""
        pipe = os.open(self._saved, os.O_RDONLY | os.O_NONBLOCK)
        try:
            yield
        finally:
            os.close(pipe)

    def heard(self) -> str:
        """Its first piece, once it is heard."""
        data = b""

        def comes() -> bool:
            nonlocal data
            with suppress(BlockingIOError):  # somebody writes, and has written nothing yet
                data += os.read(pipe, 1 << 20)
            return data.endswith(b"\n")

        pipe = os.open(self._saved, os.O_RDONLY | os.O_NONBLOCK)
        try:
            until(comes)
        finally:
            os.close(pipe)
        return data.decode()

    def save(self, piece: str) -> None:
        """As a file; a word that nobody says shows that it counts."""
        assert "ledger" in piece
        self._saved.unlink()
        self._saved.write_text(piece.replace("ledger", "notebook"))

    def check(self, library: Library) -> None:
        (document,) = library.documents.all(where="source:talk.wav")
        text = library.documents.text(document.id)
        assert text.count("notebook") == 1
        assert "1972" in text
        assert "ledger" not in text
        assert not self._saved.exists()


def test_a_recording_goes_on_where_the_process_was_killed(tmp_path: Path) -> None:
    talk, place = Talk(tmp_path), tmp_path / "library"
    command = [sys.executable, "-m", "trivium.cli.main", "--library", str(place), "add"]
    environment = os.environ | {"TRIVIUM_CACHE": str(talk.settings.cache)}
    with subprocess.Popen([*command, str(talk.file)], env=environment) as process:
        try:
            piece = talk.heard()
        finally:
            process.kill()
    talk.save(piece)
    with Library(open_embedded(place), TOY, talk.settings) as library:
        library.jobs.work()
        talk.check(library)


def test_a_recording_waits_for_nobody_and_can_be_cancelled_and_resumed(tmp_path: Path) -> None:
    talk, note = Talk(tmp_path), tmp_path / "note.txt"
    note.write_text("A note.")
    with Library(open_embedded(tmp_path / "library"), TOY, talk.settings) as library:
        library.add(note)
        job = library.jobs.enqueue(library.folders.source([talk.file]), Labels())
        worker = Thread(target=library.jobs.work, args=[job.id], daemon=True)
        worker.start()
        until(lambda: bool(library.jobs.tasks(job.id)[0].heard))
        library.jobs.cancel(job.id)
        # Done beside the talk, however long that takes; and its worker looked at its queue since.
        # (It is known, so that it needs no process to read it: tests share one.)
        other = library.jobs.enqueue(library.folders.source([note]), Labels())
        until(lambda: library.jobs.get(other.id).state is JobState.DONE)
        # Another process may write meanwhile, and so may other threads of this one.
        elsewhere = open_embedded(tmp_path / "library")
        with closing(elsewhere), elsewhere.writer.writing(patience=60):
            pass
        library.documents.remove([str(note)])
        piece = talk.heard()
        worker.join()
        assert library.jobs.get(job.id).state is JobState.CANCELLED
        assert not library.documents.all()
        talk.save(piece)
        assert library.jobs.retry(job.id) == 1
        library.jobs.work(job.id)
        talk.check(library)


def test_uploads_that_are_done_are_dropped_while_a_recording_is_heard(tmp_path: Path) -> None:
    talk = Talk(tmp_path)
    with Library(open_embedded(tmp_path / "library"), TOY, talk.settings) as library:
        spool = library.backend.spool
        library.uploads.receive_later(LOCAL_OWNER, "note.txt", BytesIO(b"A note."))
        job = library.jobs.enqueue(library.folders.source([talk.file]), Labels())
        worker = Thread(target=library.jobs.work_next, daemon=True)
        worker.start()
        until(lambda: bool(library.jobs.tasks(job.id)[0].heard) and not spool.sizes())
        assert library.jobs.get(job.id).state is JobState.RUNNING
        library.jobs.cancel(job.id)
        with talk.open():  # both pieces may be saved before the worker sees that nobody wants them
            worker.join()


def until(holds: Callable[[], bool]) -> None:
    end = monotonic() + 120
    while not holds():
        assert monotonic() < end
        sleep(0.05)
