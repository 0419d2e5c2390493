"""Judged sets of both layouts, as they are found in the wild, and broken ones."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from trivium.core.errors import DatasetInvalid
from trivium.evaluate.corpus import Corpus
from trivium.evaluate.dataset import Files, load_dataset
from trivium.evaluate.topics import read_judgments, read_queries

TOPICS = """
<top>
<num> Number: 301
<title> International &amp; Organized Crime

<desc> Description:
Identify organizations that participate
in international criminal activity.

<narr> Narrative:
A relevant document must name it.
</top>

<top>
<num> Number: 302 </num>
<title> Poliomyelitis </title>
<desc> Is it under control? </desc>
</top>
"""
XML = """<?xml version="1.0"?>
<topics task="covid">
  <topic number="1"><query>coronavirus origin</query><question>what is the origin</question></topic>
</topics>
"""
TRECTEXT = """<DOC>
<DOCNO> FT911-1 </DOCNO>
<HEADLINE> FT  Survey
 (1) </HEADLINE>
<TEXT>
First paragraph &amp; more.

Second <P>paragraph</P>.
</TEXT>
<TEXT>Third.</TEXT>
</DOC>
<DOC>
<DOCNO>FT911-2</DOCNO>
<BODY>No text tag here.</BODY>
</DOC>
"""
TRECWEB = """<DOC>
<DOCNO>WTX001</DOCNO>
<DOCHDR>
http://example.org/ 127.0.0.1
Content-type: text/html
</DOCHDR>
<html><head><title>A page</title></head><body><p>Of the web.</p></body></html>
</DOC>
"""


def put(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def beir(folder: Path) -> Path:
    put(folder / "corpus.jsonl", '{"_id": "a", "title": "T", "text": "x"}\n')
    put(folder / "queries.jsonl", '{"_id": "q", "text": "x?"}\n{"_id": "r", "text": "y?"}\n')
    put(folder / "qrels.tsv", "query-id\tcorpus-id\tscore\nq\ta\t2\nr\ta\t0\n")
    return folder


def test_beir(tmp_path: Path) -> None:
    found = load_dataset(beir(tmp_path / "set"))
    assert found.name == "set"
    assert found.queries == {"q": "x?"}  # r has nothing relevant
    assert found.judgments == {"q": {"a": 2}}
    assert [item.uri for item in found.items()] == ["a"]


def test_qrels_in_a_folder_and_packed_files(tmp_path: Path) -> None:
    beir(tmp_path)
    (tmp_path / "qrels.tsv").unlink()
    put(tmp_path / "qrels" / "test.tsv", "query-id\tcorpus-id\tscore\nr\ta\t1\n")
    packed = gzip.compress((tmp_path / "corpus.jsonl").read_bytes())
    (tmp_path / "corpus.jsonl").unlink()
    (tmp_path / "corpus.jsonl.gz").write_bytes(packed)
    found = load_dataset(tmp_path)
    assert found.queries == {"r": "y?"}
    assert [item.uri for item in found.items()] == ["a"]


def test_trec(tmp_path: Path) -> None:
    put(tmp_path / "docs" / "ft91", TRECTEXT)
    put(tmp_path / "docs" / "wt", TRECWEB)
    put(tmp_path / "topics.301-302.txt", TOPICS)
    put(tmp_path / "qrels.trec7", "301 0 FT911-1 1\n301 0 FT911-2 0\n302 0 WTX001 2\n")
    found = load_dataset(tmp_path)
    assert found.queries == {"301": "International & Organized Crime", "302": "Poliomyelitis"}
    assert found.judgments["302"] == {"WTX001": 2}
    first, second, page = found.items()
    assert (first.uri, second.uri, page.uri) == ("FT911-1", "FT911-2", "WTX001")
    assert not callable(first.content)
    assert first.content.title == "FT Survey (1)"
    assert first.content.text.endswith("First paragraph & more.\n\nSecond  paragraph .\n\nThird.")
    assert not callable(second.content)
    assert second.content.text == "No text tag here."
    assert callable(page.content)
    assert b"<p>Of the web.</p>" in page.content()
    assert b"DOCHDR" not in page.content()


def test_parts_of_a_topic(tmp_path: Path) -> None:
    path = put(tmp_path / "topics", TOPICS)
    sentence = "Identify organizations that participate in international criminal activity."
    assert read_queries(path, "desc") == {"301": sentence, "302": "Is it under control?"}
    with pytest.raises(DatasetInvalid, match="topics, line 14: the topic 302 has no <narr>"):
        read_queries(path, "narr")
    assert read_queries(put(tmp_path / "x.xml", XML)) == {"1": "coronavirus origin"}
    assert read_queries(tmp_path / "x.xml", "desc") == {"1": "what is the origin"}


def test_columns_of_every_kind(tmp_path: Path) -> None:
    two = put(tmp_path / "two.tsv", "\ufeff7\tsome text\r\n8\tmore\r\n")
    four = put(tmp_path / "four.tsv", "D1\thttp://x\tTitle\tBody\n")
    headed = put(tmp_path / "headed.tsv", "docid\tabstract\ttitle\n1\tAbout\tName\n")
    found = [(d.id, d.title, d.text) for d in Corpus((two, four, headed)).documents()]
    assert found == [
        ("7", "", "some text"),
        ("8", "", "more"),
        ("D1", "Title", "Body"),
        ("1", "Name", "About"),
    ]
    assert read_queries(put(tmp_path / "q.tsv", "id\ttext\n12\thow  now\n")) == {"12": "how  now"}
    anserini = put(tmp_path / "a.json", json.dumps({"id": 3, "contents": "c"}))
    assert next(iter(Corpus((anserini,)).documents())).id == "3"


def test_judgments_of_every_kind(tmp_path: Path) -> None:
    text = "q 0 a 1\nq\tQ0\tb c\t-1\nq\td e\t1.0\nq 0 a 2\n"
    assert read_judgments(put(tmp_path / "qrels", text)) == {"q": {"a": 2, "b c": -1, "d e": 1}}


def test_old_collections_are_in_latin_1(tmp_path: Path) -> None:
    path = tmp_path / "old"
    path.write_bytes("<DOC>\n<DOCNO>1</DOCNO>\n<TEXT>caf\xe9</TEXT>\n</DOC>".encode("latin-1"))
    assert next(iter(Corpus((path,)).documents())).text == "café"


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("corpus.jsonl", '{"_id": "a", "text": "x"}\n{"_id": "b"', "line 2: it isn't JSON"),
        ("corpus.jsonl", '{"_id": "a", "text": "x"}\n\n["b"]\n', "line 3: expected an object"),
        ("corpus.jsonl", '{"_id": "a"}\n', "corpus.jsonl, line 1: no field `text`"),
        ("corpus.jsonl", '{"text": "x"}\n', "corpus.jsonl, line 1: no field `_id`"),
        ("corpus.jsonl", "only words\n", "JSON lines, tab-separated columns or <DOC>"),
        ("corpus.jsonl", "", "is empty"),
        ("corpus.jsonl", "<DOC>\n<DOCNO>1</DOCNO>\n", "corpus.jsonl, line 1: this <DOC> isn't"),
        ("corpus.jsonl", "<DOC>\n<TEXT>x</TEXT>\n</DOC>\n", "line 1: this <DOC> has no <DOCNO>"),
        ("corpus.jsonl", "1\ttext\n2\ta\tb\tc\td\n", "line 2: two to four columns"),
        ("queries.jsonl", "q\tx\nq\ty\n", "queries.jsonl, line 2: the query q appears twice"),
        ("queries.jsonl", '{"_id": "q"}', "queries.jsonl, line 1: no field `text`"),
        ("queries.jsonl", "1\tone\ntwo\n", "line 2: expected an id, a tab and a text"),
        ("queries.jsonl", "<nothing/>", "has no <top>"),
        ("queries.jsonl", "", "is empty"),
        ("qrels.tsv", "h\th\th\nq\ta\tmuch\n", "qrels.tsv, line 2: the judgment isn't a whole"),
        ("qrels.tsv", "q\ta\t1\nq\ta\n", "qrels.tsv, line 2: expected three columns"),
        ("qrels.tsv", "q\ta\t0\n", "None of the queries has a relevant document"),
        ("META.json", "{", "META.json"),
    ],
)  # fmt: skip
def test_a_broken_set_says_where(tmp_path: Path, name: str, text: str, told: str) -> None:
    put(beir(tmp_path) / name, text)
    with pytest.raises(DatasetInvalid) as caught:
        list(load_dataset(tmp_path).items())
    assert told in caught.value.message


def test_missing_parts_and_doubtful_ones(tmp_path: Path) -> None:
    with pytest.raises(DatasetInvalid, match="There is no folder"):
        load_dataset(tmp_path / "nowhere")
    with pytest.raises(DatasetInvalid, match="No corpus"):
        load_dataset(tmp_path)
    with pytest.raises(DatasetInvalid, match="No queries"):
        load_dataset(tmp_path, own_library=True)
    beir(tmp_path)
    (tmp_path / "qrels.tsv").rename(tmp_path / "qrels.one")
    put(tmp_path / "qrels.two", "q 0 a 1\n")
    with pytest.raises(DatasetInvalid, match=r"Several files .* qrels.one, qrels.two"):
        load_dataset(tmp_path)
    chosen = load_dataset(Files(tmp_path, qrels=tmp_path / "qrels.two"))
    assert chosen.judgments == {"q": {"a": 1}}


def test_not_text_at_all(tmp_path: Path) -> None:
    (beir(tmp_path) / "queries.jsonl").write_bytes(b'{"_id": "q", "text": "\xff"}')
    with pytest.raises(DatasetInvalid, match=r"queries\.jsonl, line 1: it isn't UTF-8"):
        load_dataset(tmp_path)
    (tmp_path / "queries.jsonl.gz").write_bytes(b"no gzip")
    with pytest.raises(DatasetInvalid, match="queries"):
        load_dataset(Files(tmp_path, queries=tmp_path / "queries.jsonl.gz"))


def test_a_corpus_of_other_bytes_is_another(tmp_path: Path) -> None:
    one, other = put(tmp_path / "a", "1\tx\n"), put(tmp_path / "b", "1\ty\n")
    assert Corpus((one,)).digest() != Corpus((other,)).digest()
    assert len(Corpus((one, other)).digest()) == 12
