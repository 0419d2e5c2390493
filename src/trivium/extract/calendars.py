"""Reads calendars (ICS) and address cards (VCF): an entry for each event, task or person.

Both are lines of `NAME;PARAMETER=…:value` between BEGIN and END. Knows nothing of recurrence beyond
its rule's own words.
"""

from __future__ import annotations

import quopri
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

from trivium.core.types import Extraction, Place
from trivium.extract.composer import Composer, describe
from trivium.extract.sniff import binary_kind
from trivium.extract.text import decode
from trivium.ports import Blob, reads

_BEGINNING = re.compile(rb"(?:\xef\xbb\xbf)?\s*BEGIN:(VCALENDAR|VCARD)\s", re.IGNORECASE)
_FOLD = re.compile(r"\n[ \t]")
_SOFT_BREAK = re.compile(r"=\n")
_LINE = re.compile(r"(?:[\w-]+\.)?([\w-]+)((?:;(?:\"[^\"]*\"|[^:\";])*)*):(.*)", re.DOTALL)
_TIME = re.compile(r"(\d{4})-?(\d\d)-?(\d\d)(?:[T ]?(\d\d):?(\d\d):?(\d\d)?(Z?))?")
_NAMED = re.compile(r"CN=\"?([^\";:]+)", re.IGNORECASE)
_ESCAPED = re.compile(r"\\(.)")
_ENTRIES = frozenset({"VEVENT", "VTODO", "VJOURNAL", "VCARD"})
_IN_EVENT = (("LOCATION", "Where"), ("RRULE", "Repeats"), ("STATUS", "Status"), ("URL", "Link"))
_IN_CARD = (
    ("ORG", "Organisation"),
    ("TITLE", "Title"),
    ("ROLE", "Role"),
    ("EMAIL", "E-mail"),
    ("TEL", "Phone"),
    ("ADR", "Address"),
    ("BDAY", "Birthday"),
    ("URL", "Link"),
    ("CATEGORIES", "Categories"),
)


@dataclass(slots=True)
class _Entry:
    kind: str
    fields: dict[str, list[tuple[str, str]]] = field(default_factory=dict)  # parameters, value

    def values(self, name: str) -> list[str]:
        return [_plain(value) for _, value in self.fields.get(name, ())]

    def value(self, name: str) -> str:
        return next((value for value in self.values(name) if value), "")

    def time(self, name: str) -> str:
        """A day, or a day and time, in ISO 8601."""
        match = _TIME.match(self.value(name))
        if match is None:
            return ""
        year, month, day, hour, minute, second, zulu = match.groups()
        time = f"T{hour}:{minute}:{second or '00'}{zulu}" if hour else ""
        return f"{year}-{month}-{day}{time}"

    def people(self, name: str) -> list[str]:
        found = []
        for parameters, value in self.fields.get(name, ()):
            named = _NAMED.search(parameters)
            address = re.sub(r"(?i)^mailto:", "", value).strip()
            found.append(f"{named[1]} <{address}>" if named and address else address)
        return [person for person in found if person]


@reads(
    "calendar/2",
    lambda blob: bool(_BEGINNING.match(blob.data[:200])) and not binary_kind(blob.data),
)
def read_calendar(blob: Blob) -> Extraction:
    """Takes texts that begin as a calendar or an address card does."""
    out = Composer(blob.name)
    entries = list(_entries(decode(blob)))
    cards = [entry for entry in entries if entry.kind == "VCARD"]
    for entry in entries:
        (_card if entry.kind == "VCARD" else _event)(out, entry)
    dates = sorted(filter(None, (entry.time("DTSTART") for entry in entries)))
    fields: dict[str, object] = {
        "events": len(entries) - len(cards),
        "contacts": len(cards),
        "date": dates[0] if dates else "",
        "last": dates[-1] if len(dates) > 1 else "",
        "location": entries[0].value("LOCATION") if len(entries) == 1 else "",
        "authors": entries[0].people("ORGANIZER") if len(entries) == 1 else (),
    }
    return out.finish(
        blob,
        titles=(out.first_heading if len(entries) == 1 else "",),
        media_type="text/vcard" if cards else "text/calendar",
        metadata=describe(fields),
    )


def _lines(text: str) -> Iterator[tuple[str, str, str]]:
    """Name, parameters and value of every line."""
    if "QUOTED-PRINTABLE" in text[:20_000].upper():
        text = _SOFT_BREAK.sub("", text)
    for line in _FOLD.sub("", text).split("\n"):
        if match := _LINE.match(line):
            value = match[3].strip()
            if "QUOTED-PRINTABLE" in match[2].upper():
                value = quopri.decodestring(value.encode()).decode("utf-8", "replace")
            yield match[1].upper(), match[2], value


def _entries(text: str) -> Iterator[_Entry]:
    """The events and people of a file; alarms and time zones within them are left out."""
    entry: _Entry | None = None
    inner = 0
    for name, parameters, value in _lines(text):
        if name == "BEGIN":
            inner += entry is not None
            if entry is None and value.upper() in _ENTRIES:
                entry = _Entry(value.upper())
        elif name == "END":
            if entry is not None and not inner:
                yield entry
                entry = None
            inner = max(0, inner - 1)
        elif entry is not None and not inner and name not in ("PHOTO", "LOGO", "KEY", "SOUND"):
            entry.fields.setdefault(name, []).append((parameters, value))
    if entry is not None:
        yield entry


def _event(out: Composer, entry: _Entry) -> None:
    start, end = entry.time("DTSTART") or entry.time("DUE"), entry.time("DTEND")
    organisers, guests = entry.people("ORGANIZER"), entry.people("ATTENDEE")
    place = Place(authors=tuple(organisers), time=start)
    out.heading(2, entry.value("SUMMARY") or f"Event {start}".strip(), place)
    lines = [f"When: {_when(start, end)}"] if start else []
    lines += [f"{name}: {entry.value(key)}" for key, name in _IN_EVENT if entry.value(key)]
    lines += [f"Organiser: {', '.join(organisers)}"] if organisers else []
    lines += [f"Who: {', '.join(guests)}"] if guests else []
    out.add("paragraph", "\n".join(lines), place=place)
    for part in (*entry.values("DESCRIPTION"), *entry.values("COMMENT")):
        out.add("paragraph", part, place=place)


def _card(out: Composer, entry: _Entry) -> None:
    family = [part for part in entry.value("N").split(";") if part.strip()]
    name = entry.value("FN") or " ".join(family[1::-1]) or entry.value("ORG")
    out.heading(2, name or next(iter(entry.values("EMAIL")), "Contact"))
    lines = []
    for key, label in _IN_CARD:
        values = [", ".join(filter(None, re.split(r"\s*;\s*", v))) for v in entry.values(key)]
        lines += [f"{label}: {value}" for value in values if value]
    out.add("paragraph", "\n".join(lines))
    for note in entry.values("NOTE"):
        out.add("paragraph", note)


def _when(start: str, end: str) -> str:
    """As people write it, and at the end in figures, since they search by both: `Friday 3 May 2024,
    14:00 to 15:30 UTC (2024-05-03)`."""
    (day, at), (last, until) = _spoken(start), _spoken(end)
    said = ", ".join(filter(None, (day, at)))
    if end and end != start:
        said += f" to {', '.join(filter(None, ('' if last == day and until else last, until)))}"
    return f"{said} ({start[:10]})"


def _spoken(time: str) -> tuple[str, str]:
    """The day and the time of day."""
    date, _, clock = time.partition("T")
    try:
        day = f"{datetime.fromisoformat(date):%A %-d %B %Y}" if date else ""
    except ValueError:  # the 31st of June
        day = date
    zone = " UTC" if clock.endswith("Z") else ""
    return day, clock.removesuffix("Z").removesuffix(":00") + zone


def _plain(value: str) -> str:
    return _ESCAPED.sub(lambda sign: "\n" if sign[1] in "nN" else sign[1], value).strip()
