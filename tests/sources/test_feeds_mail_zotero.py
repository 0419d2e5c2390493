"""Feeds, sitemaps, IMAP and Zotero keep the contract, each against a local server or file."""

import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from tests.sources.imap_server import Mail, serving_mail
from tests.sources.server import Server, serving
from tests.sources.web_server import Site
from tests.sources.zotero_server import SCHEMA, Zotero

from trivium.core.errors import SourceNonsense, SourceRefused
from trivium.core.types import Extraction
from trivium.ports import Failed, Put, SourceAsked, SyncSource, Wait
from trivium.sources.feed import FeedSource, Pages, SitemapSource
from trivium.sources.imap import Account, ImapSource, _decoded, _encoded, _ranges, _uids_of
from trivium.sources.service import Service
from trivium.sources.zotero import KIND, ZoteroApi, ZoteroFile, ZoteroSource
from trivium.sources.zotero_export import ZoteroExportSource
from trivium.testing.source_contract import SourceContract, everything

Edits = Sequence[Callable[[], object]]


def puts(source: SyncSource) -> dict[str, Put]:
    return {one.id: one for one in source.changes("") if isinstance(one, Put)}


# --- feeds and sitemaps


@pytest.fixture
def site() -> Iterator[Site]:
    made = Site()
    made.entries = {"a": "Fog.", "b": "Rain."}
    made.pages = {"one": ("2026-01-01", "One."), "two": ("", "Two."), "a": ("", "A.")}
    with serving(made.answer) as server:
        made.url = server.url
        yield made


class TestFeed(SourceContract):
    @pytest.fixture
    def source(self, site: Site) -> SyncSource:
        return FeedSource(f"{site.url}feed", Pages(private=True))

    @pytest.fixture
    def edits(self, site: Site, source: SyncSource) -> Edits:
        return (
            lambda: site.entries.update(c="Sun."),
            lambda: site.entries.update(a="Much fog."),
            lambda: site.entries.pop("b"),
        )

    def test_an_entry_is_told_with_all_that_is_known(self, site: Site, source: SyncSource) -> None:
        entry = puts(source)["a"]
        assert (entry.title, entry.audience) == ("T a", "all")
        assert dict(entry.metadata) == {
            "authors": ("Ada",), "date": "2026-01-01T10:00:00+00:00", "year": 2026,
            "link": f"{site.url}a", "feed": "News", "tags": ("x",),
        }  # fmt: skip
        assert not isinstance(entry.content, Extraction)
        assert b"<p>Fog.</p>" in entry.content()

    def test_pages_behind_entries_are_fetched_as_robots_allow(self, site: Site) -> None:
        source = FeedSource(f"{site.url}feed", Pages(private=True), whole=True)
        found = list(source.changes(""))
        (page,) = [one for one in found if isinstance(one, Put)]
        assert page.id == "a"
        assert not isinstance(page.content, Extraction)
        assert page.content() == b"<p>A.</p>"
        assert [one.id for one in found if isinstance(one, Failed)] == ["b"]  # there is no page
        site.robots = "User-agent: *\nDisallow: /"
        source = FeedSource(f"{site.url}feed", Pages(private=True), whole=True)
        assert not [one for one in source.changes("") if isinstance(one, Put | Failed)]

    def test_addresses_of_the_own_network_are_refused(self, site: Site) -> None:
        source = FeedSource(f"{site.url}feed", Pages())
        with pytest.raises(Exception, match="n't on the public internet"):
            list(source.changes(""))


class TestSitemap(SourceContract):
    @pytest.fixture
    def source(self, site: Site) -> SyncSource:
        return SitemapSource(f"{site.url}sitemap.xml", Pages(private=True))

    @pytest.fixture
    def edits(self, site: Site, source: SyncSource) -> Edits:
        return (
            lambda: site.pages.update(three=("", "Three.")),
            lambda: site.pages.update(one=("2026-01-02", "One again.")),
            lambda: site.pages.update(two=("", "Two again.")),
            lambda: site.pages.pop("one"),
        )

    def test_robots_and_their_pace_are_obeyed(self, site: Site) -> None:
        site.robots = "User-agent: *\nDisallow: /two\nCrawl-delay: 7"
        source = SitemapSource(f"{site.url}sitemap.xml", Pages(private=True))
        changes = list(source.changes(""))
        assert [one.id for one in changes if isinstance(one, Put)] == [
            f"{site.url}one",
            f"{site.url}a",
        ]
        assert [one.seconds for one in changes if isinstance(one, Wait)] == [7.0, 7.0]

    def test_another_page_is_no_sitemap(self, site: Site) -> None:
        with pytest.raises(SourceNonsense):
            list(SitemapSource(f"{site.url}feed", Pages(private=True)).changes(""))


# --- IMAP


@pytest.fixture
def mail() -> Iterator[tuple[Mail, int]]:
    made = Mail({"INBOX": {}, "Lists/Sch&APY-n": {}})
    for n in range(5):
        made.deliver("INBOX", f"Letter {n}")
    made.deliver("Lists/Sch&APY-n", "Hello")
    with serving_mail(made) as (_, port):
        yield made, port


def account(port: int, password: str = "secret") -> Account:
    return Account("127.0.0.1", "ada", password, port, encrypted=False)


class TestImap(SourceContract):
    @pytest.fixture
    def source(self, mail: tuple[Mail, int], monkeypatch: pytest.MonkeyPatch) -> SyncSource:
        monkeypatch.setattr("trivium.sources.imap._PAGE", 2)
        return ImapSource(account(mail[1]))

    @pytest.fixture
    def edits(self, mail: tuple[Mail, int], source: SyncSource) -> Edits:
        made = mail[0]

        def renumber() -> None:
            made.validity += 1

        return (
            lambda: made.deliver("INBOX", "New"),
            lambda: made.folders["INBOX"].pop(2),
            renumber,
            lambda: made.folders.pop("Lists/Sch&APY-n"),
        )

    def test_messages_are_private_and_know_their_folder(self, source: SyncSource) -> None:
        found = puts(source)
        assert sorted(found)[-1] == "Lists%2FSch&APY-n/7/6"
        letter = found["Lists%2FSch&APY-n/7/6"]
        assert (letter.metadata, letter.audience) == ({"mailbox": "Lists/Schön"}, None)

    def test_a_wrong_password_is_said(self, mail: tuple[Mail, int]) -> None:
        with pytest.raises(SourceRefused, match="refuses ada"):
            list(ImapSource(account(mail[1], "other")).changes(""))

    def test_only_the_folders_asked_for(self, mail: tuple[Mail, int]) -> None:
        found = puts(ImapSource(account(mail[1]), ["Lists/Schön"]))
        assert list(found) == ["Lists%2FSch&APY-n/7/6"]


def test_names_and_numbers_of_imap() -> None:
    for name in ("INBOX", "Schön & gut", "日本"):
        assert _decoded(_encoded(name)) == name
    assert _encoded("Schön & gut") == "Sch&APY-n &- gut"
    for uids in (set(), {1}, {1, 2, 3, 7, 9, 10}):
        assert _uids_of(_ranges(uids)) == uids
    assert _ranges({1, 2, 3, 7}) == "1-3,7"


# --- Zotero

ABOUT = {
    "authors": ("Ada Byron", "Bob"), "year": 2019, "date": "2019-05-01", "doi": "10.1/x",
    "keywords": ("weather",), "collections": ("Reading",), "kind": "journalArticle",
    "link": "zotero://select/library/items/PAPER1", "citation_key": "ada2019",
    "entry": "PAPER1",
}  # fmt: skip


class TestZoteroFile(SourceContract):
    @pytest.fixture
    def place(self, tmp_path: Path) -> Path:
        with sqlite3.connect(tmp_path / "zotero.sqlite") as db:
            db.executescript(SCHEMA)
        db.close()
        (tmp_path / "storage" / "FILE1").mkdir(parents=True)
        (tmp_path / "storage" / "FILE1" / "fog.pdf").write_bytes(b"%PDF fog")
        return tmp_path

    @pytest.fixture
    def source(self, place: Path) -> SyncSource:
        return ZoteroSource(ZoteroFile(place))

    @pytest.fixture
    def edits(self, place: Path, source: SyncSource) -> Edits:
        def do(statement: str) -> Callable[[], object]:
            def act() -> None:
                with sqlite3.connect(place / "zotero.sqlite") as db:
                    db.execute(statement)
                db.close()

            return act

        return (
            do("UPDATE itemDataValues SET value = 'On thick fog' WHERE valueID = 1"),
            do("INSERT INTO items VALUES (7, 1, 1, 'PAPER3')"),
            do("INSERT INTO deletedItems VALUES (3)"),
            do("UPDATE itemAnnotations SET comment = 'yes'"),
            do("INSERT INTO deletedItems VALUES (1)"),
        )

    def test_a_paper_is_one_item_with_its_file(self, source: SyncSource) -> None:
        found = puts(source)
        assert sorted(found) == ["PAPER1", "PAPER2"]
        paper = found["PAPER1"]
        assert not isinstance(paper.content, Extraction)
        assert (paper.content(), paper.title, paper.name) == (b"%PDF fog", "On fog", "fog.pdf")
        assert dict(paper.metadata) == ABOUT
        mark, note = paper.parts
        assert isinstance(mark.content, Extraction)
        assert mark.content.text == "wet\n\nreally?"
        assert mark.content.elements[0].place.pages == (12,)
        assert not isinstance(note.content, Extraction)
        assert b"Read again." in note.content()
        group = found["PAPER2"]
        assert isinstance(group.content, Extraction)
        assert (group.content.text, group.metadata["library"]) == ("Fog is wet.", "Lab")

    def test_a_library_that_did_not_change_is_not_read(
        self, source: SyncSource, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        cursor = [one for one in source.changes("") if hasattr(one, "cursor")][-1].cursor
        monkeypatch.setattr(ZoteroFile, "entries", None)
        assert len(list(source.changes(cursor))) == 1


@pytest.fixture
def zotero() -> Iterator[tuple[Zotero, Server]]:
    made = Zotero()
    made.put(
        "PAPER1",
        itemType="journalArticle",
        title="On fog",
        date="2019-05-01",
        DOI="10.1/x",
        creators=[{"firstName": "Ada", "lastName": "Byron"}, {"name": "Bob"}],
        tags=[{"tag": "weather"}],
        collections=["COL1"],
        extra="Citation Key: ada2019",
    )
    made.put(
        "FILE1",
        itemType="attachment",
        parentItem="PAPER1",
        filename="fog.pdf",
        md5="a",
        contentType="application/pdf",
        linkMode="imported_file",
    )
    made.put("NOTE1", itemType="note", parentItem="PAPER1", note="<p>Read again.</p>")
    made.put("PAPER2", itemType="book", title="On rain", abstractNote="Rain is wet.")
    made.put("GONE1", itemType="book", title="Old", deleted=1)  # fmt: skip
    made.files["FILE1"] = b"%PDF fog"
    with serving(made.answer) as server:
        yield made, server


class TestZoteroApi(SourceContract):
    @pytest.fixture
    def source(self, zotero: tuple[Zotero, Server]) -> SyncSource:
        return ZoteroSource(ZoteroApi(Service("Zotero", zotero[1].url)))

    @pytest.fixture
    def edits(self, zotero: tuple[Zotero, Server], source: SyncSource) -> Edits:
        made = zotero[0]
        return (
            lambda: made.put("PAPER2", title="On heavy rain"),
            lambda: made.put("NOTE2", itemType="note", parentItem="PAPER2", note="<p>Wet.</p>"),
            lambda: made.drop("NOTE1"),
            lambda: made.drop("PAPER2") or made.drop("NOTE2"),
        )

    def test_it_tells_the_same_as_the_file(self, source: SyncSource) -> None:
        paper = puts(source)["PAPER1"]
        assert not isinstance(paper.content, Extraction)
        assert paper.content() == b"%PDF fog"
        assert dict(paper.metadata) == ABOUT

    def test_a_second_look_is_one_request(self, zotero: tuple[Zotero, Server]) -> None:
        source = ZoteroSource(ZoteroApi(Service("Zotero", zotero[1].url)))
        cursor = [one for one in source.changes("") if hasattr(one, "cursor")][-1].cursor
        zotero[1].asked.clear()
        assert len(list(source.changes(cursor))) == 1
        assert len(zotero[1].asked) == 1
        assert everything(source)
        assert json.loads(cursor)["mark"] == str(zotero[0].version)


BIB = """@article{ada2019,
  title = {On fog}, author = {Byron, Ada and Bob}, date = {2019-05-01}, doi = {10.1/x},
  keywords = {weather}, file = {Full Text:files/fog.pdf:application/pdf}
}
@book{rain, title = {On rain}, abstract = {Rain is wet.}, file = {/etc/hostname.pdf}}
"""


class TestZoteroExport(SourceContract):
    @pytest.fixture
    def place(self, tmp_path: Path) -> Path:
        (tmp_path / "files").mkdir()
        (tmp_path / "files" / "fog.pdf").write_bytes(b"%PDF fog")
        (tmp_path / "library.bib").write_text(BIB)
        return tmp_path / "library.bib"

    @pytest.fixture
    def source(self, place: Path) -> SyncSource:
        made = KIND.make(SourceAsked({"path": str(place)}))
        assert isinstance(made, ZoteroExportSource)
        return made

    @pytest.fixture
    def edits(self, place: Path, source: SyncSource) -> Edits:
        def write(text: str) -> Callable[[], object]:
            return lambda: place.write_text(text)

        return (
            write(BIB.replace("Rain is wet", "Rain is very wet")),
            write(f"{BIB}@book{{new, title = {{New}}}}"),
            write(BIB.partition("@book")[0]),
        )

    def test_a_paper_is_one_item_with_its_file(self, source: SyncSource) -> None:
        found = puts(source)
        assert sorted(found) == ["ada2019", "rain"]
        paper = found["ada2019"]
        assert not isinstance(paper.content, Extraction)
        assert (paper.content(), paper.title) == (b"%PDF fog", "On fog")
        told = {name: paper.metadata[name] for name in ("authors", "year", "doi", "keywords")}
        assert told == {
            "authors": ("Ada Byron", "Bob"), "year": 2019, "doi": "10.1/x",
            "keywords": ("weather",),
        }  # fmt: skip
        rain = found["rain"].content
        assert isinstance(rain, Extraction)
        assert "Rain is wet." in rain.text

    def test_an_export_that_did_not_change_is_not_read(
        self, source: SyncSource, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        cursor = [one for one in source.changes("") if hasattr(one, "cursor")][-1].cursor
        monkeypatch.setattr(ZoteroExportSource, "_entries", None)
        assert len(list(source.changes(cursor))) == 1
