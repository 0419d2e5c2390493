"""A Zotero library: its web API, and the tables of its database that matter."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from hashlib import md5
from typing import Any

from tests.sources.endpoints import refused
from tests.sources.server import Asked, Reply


@dataclass
class Zotero:
    version: int = 5
    key: str = "good"
    items: dict[str, dict[str, Any]] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)
    places: dict[str, str] = field(default_factory=dict)  # as the program tells them: file:///...
    encloses: bool = True  # it tells them with the items, too

    def put(self, key: str, **data: Any) -> None:
        self.version += 1
        self.items[key] = {**self.items.get(key, {}), **data}

    def drop(self, key: str) -> None:
        self.version += 1
        del self.items[key]

    def answer(self, asked: Asked) -> Reply:
        headers = {"Last-Modified-Version": str(self.version)}
        path = asked.path.strip("/")
        if path.startswith("s3/"):  # where the website keeps files: signed, without a key
            assert "authorization" not in asked.headers
            return Reply(self.files[path.removeprefix("s3/")])
        if reply := refused("zotero", asked):
            return reply
        if asked.headers.get("zotero-api-version", "3") != "3":
            return Reply(b"API version not implemented", 501)
        if asked.headers.get("authorization", f"Bearer {self.key}") != f"Bearer {self.key}":
            return Reply(b"Invalid key", 403)
        if path == "users/0/collections":
            data = [{"key": "COL1", "data": {"name": "Reading"}}]
            return self._page(data, asked, headers)
        if found := re.fullmatch(r"users/0/items/(\w+)/file", path):
            return self._file(found[1], asked)
        if asked.headers.get("if-modified-since-version") == str(self.version):
            return Reply(b"", 304, headers)
        return self._page([self._row(key) for key in self.items], asked, headers)

    def _row(self, key: str) -> dict[str, Any]:
        data, links = dict(self.items[key]), {}
        if data.get("itemType") == "attachment":
            held = self.files.get(key)
            data["md5"] = None if held is None else md5(held).hexdigest()
            if key in self.places and self.encloses:
                links["enclosure"] = {"type": "application/pdf", "href": self.places[key]}
        row = {"key": key, "version": self.version, "library": {"type": "user"}, "links": links}
        return {**row, "data": data}

    def _file(self, key: str, asked: Asked) -> Reply:
        """The website sends people on to where it keeps files, the program to `file:`."""
        if key in self.places:
            return Reply(b"", 302, {"Location": self.places[key]})
        if key not in self.files:
            return Reply(b"Not Found", 404)
        host = asked.headers["host"].replace("127.0.0.1", "localhost")
        return Reply(b"", 302, {"Location": f"http://{host}/s3/{key}"})

    def _page(self, rows: list[Any], asked: Asked, headers: dict[str, str]) -> Reply:
        start, size = int(asked.params.get("start", 0)), 2
        more = {**headers, "Total-Results": str(len(rows))}
        return Reply(rows[start : start + size], headers=more)


SCHEMA = """
CREATE TABLE libraries (libraryID INTEGER PRIMARY KEY, type TEXT);
CREATE TABLE groups (groupID INTEGER PRIMARY KEY, libraryID INT, name TEXT);
CREATE TABLE itemTypes (itemTypeID INTEGER PRIMARY KEY, typeName TEXT);
CREATE TABLE items (itemID INTEGER PRIMARY KEY, itemTypeID INT, libraryID INT, key TEXT);
CREATE TABLE deletedItems (itemID INTEGER PRIMARY KEY);
CREATE TABLE fields (fieldID INTEGER PRIMARY KEY, fieldName TEXT);
CREATE TABLE itemDataValues (valueID INTEGER PRIMARY KEY, value);
CREATE TABLE itemData (itemID INT, fieldID INT, valueID INT);
CREATE TABLE creators (creatorID INTEGER PRIMARY KEY, firstName TEXT, lastName TEXT);
CREATE TABLE itemCreators (itemID INT, creatorID INT, creatorTypeID INT, orderIndex INT);
CREATE TABLE tags (tagID INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE itemTags (itemID INT, tagID INT, type INT);
CREATE TABLE collections (collectionID INTEGER PRIMARY KEY, collectionName TEXT);
CREATE TABLE collectionItems (collectionID INT, itemID INT);
CREATE TABLE itemAttachments (itemID INTEGER PRIMARY KEY, parentItemID INT, linkMode INT,
 contentType TEXT, path TEXT);
CREATE TABLE itemNotes (itemID INTEGER PRIMARY KEY, parentItemID INT, note TEXT);
CREATE TABLE itemAnnotations (itemID INTEGER PRIMARY KEY, parentItemID INT, text TEXT,
 comment TEXT, position TEXT);
INSERT INTO libraries VALUES (1, 'user'), (2, 'group'), (3, 'feed');
INSERT INTO groups VALUES (1, 2, 'Lab');
INSERT INTO itemTypes VALUES (1, 'journalArticle'), (2, 'attachment'), (3, 'note'),
 (4, 'annotation');
INSERT INTO items VALUES (1, 1, 1, 'PAPER1'), (2, 2, 1, 'FILE1'), (3, 3, 1, 'NOTE1'),
 (4, 4, 1, 'MARK1'), (5, 1, 2, 'PAPER2'), (6, 1, 3, 'NEWS1');
INSERT INTO fields VALUES (1, 'title'), (2, 'date'), (3, 'DOI'), (4, 'abstractNote'), (5, 'extra');
INSERT INTO itemDataValues VALUES (1, 'On fog'), (2, '2019-05-01'), (3, '10.1/x'),
 (4, 'Fog is wet.'), (5, 'On rain'), (6, 'Citation Key: ada2019');
INSERT INTO itemData VALUES (1, 1, 1), (1, 2, 2), (1, 3, 3), (1, 5, 6), (5, 1, 5), (5, 4, 4);
INSERT INTO creators VALUES (1, 'Ada', 'Byron'), (2, '', 'Bob');
INSERT INTO itemCreators VALUES (1, 1, 1, 0), (1, 2, 1, 1);
INSERT INTO tags VALUES (1, 'weather');
INSERT INTO itemTags VALUES (1, 1, 0);
INSERT INTO collections VALUES (1, 'Reading');
INSERT INTO collectionItems VALUES (1, 1);
INSERT INTO itemAttachments VALUES (2, 1, 0, 'application/pdf', 'storage:fog.pdf');
INSERT INTO itemNotes VALUES (3, 1, '<p>Read again.</p>');
INSERT INTO itemAnnotations VALUES (4, 2, 'wet', 'really?', '{"pageIndex": 11}');
"""
